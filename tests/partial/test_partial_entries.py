"""What users reported of partial values, one test each."""

from __future__ import annotations

import sys
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

from gateway_args import Parser, Tools, formats
from gateway_args.errors import DecodeError
from gateway_args.partial import Partial, PartialStream, decode, partials


def _last(format_: Any, text: str, reason: str, type_: Any, tools: Tools | None = None) -> Any:
    parser = Parser(format_, tools=tools)
    events = [*parser.feed(text), *parser.finish(reason)]
    return list(partials(events, {"f": type_}))[-1]


@pytest.mark.parametrize("reason", ["length", "cancelled", "stop"])
@pytest.mark.parametrize("text", ["12", "1", '{"a": 1', "[1, 2"])
def test_a_forced_output_that_was_cut_has_no_value(text: str, reason: str) -> None:
    last = _last(formats.forced("f"), text, reason, Any)
    assert last.partial.value is None
    assert isinstance(last.error, DecodeError)
    assert last.partial.snapshot is not None


def test_a_forced_output_that_is_whole_has_its_value() -> None:
    last = _last(formats.forced("f"), '{"a": 1}', "length", Any)
    assert (last.partial.value, last.error) == ({"a": 1}, None)


@pytest.mark.parametrize(
    ("arguments", "complete"), [('{"a": 1}', True), ('{"a": 1,}', False), ('{"a": 1', False), ('{"a": 1}}}', True)]
)
def test_a_call_has_a_value_exactly_when_it_completed(arguments: str, complete: bool) -> None:
    text = f'<tool_call>\n{{"name": "f", "arguments": {arguments}'
    last = _last(formats.load("hermes"), text, "length", dict[str, int])
    assert (last.partial.value is not None, last.error is None) == (complete, complete)


@pytest.mark.parametrize("size", [1, 3, 100])
@pytest.mark.parametrize("text", ['{"a": 1} tail', '{"a": 1}}', '{"a": 1}\n\n{"b": 2}', "[1] x", '"s" 1', "12 x"])
def test_no_value_is_shown_of_a_text_that_is_known_to_be_malformed(text: str, size: int) -> None:
    stream: PartialStream[Any] = PartialStream(Any)
    for at in range(0, len(text), size):
        view = stream.feed(text[at : at + size])
        if view is not None and view.malformed is not None:
            assert view.value is None
            assert view.get(()) is None
            whole = view.narrow(())
            assert whole is None or whole.value is None
    assert stream.partial.malformed is not None
    assert stream.partial.value is None
    with pytest.raises(DecodeError):
        stream.finish()
    assert stream.partial.value is None


class Underscored(TypedDict):
    _partial: str
    _view: int


def test_no_field_is_shadowed_by_what_shows_it() -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("_partial", "_view", "fields")}}
    view = PartialStream(schema).feed('{"_partial": "a", "_view": "b", "fields": "c", ')
    assert view is not None
    assert (view.fields._partial, view.fields["_partial"], view.fields._view, view.fields.fields) == (
        "a",
        "a",
        "b",
        "c",
    )
    assert dir(view.fields) == ["_partial", "_view", "fields"]
    assert repr(view.fields) == "Fields(_partial='a', _view='b', fields='c')"
    typed = PartialStream(Underscored).feed('{"_partial": "a", "_view": 1, ')
    assert typed is not None
    assert (typed.fields["_partial"], typed.fields["_view"]) == ("a", 1)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "objekt"}, r"^schema: \$\.type: expected one of object, array, .*, got \"objekt\"$"),
        ({"properties": {"a b": {"type": 5}}}, r'^schema: \$\.properties\["a b"\]\.type: expected one of'),
        ({"required": "a"}, r"^schema: \$\.required: "),
        ({"minLength": -1}, r"^schema: \$\.minLength: "),
        ({"properties": {"a": object()}}, r"^schema: expected JSON"),
    ],
)
def test_a_schema_that_is_none_is_one_line_with_its_place(schema: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        PartialStream(schema)
    assert "\n" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_what_is_no_type_is_told_with_its_name() -> None:
    with pytest.raises(TypeError, match=r"expected a type that pydantic knows, got .*sys"):
        PartialStream(sys)
    with pytest.raises(TypeError, match="expected a type that pydantic knows"):
        list(partials([], {"f": sys}))


class Tree(TypedDict, total=False):
    name: str
    children: list[Tree]
    left: Tree | None


class Owner(TypedDict):
    pet: Pet
    by_name: dict[str, Pet]


class Pet(TypedDict):
    name: str
    owners: list[Owner]


def test_a_recursive_typed_dict_of_the_standard_library_is_read() -> None:
    text = '{"name": "r", "children": [{"name": "a", "left": null}, {"name": "b", "children": [{"name": "c"}, {"na'
    view = PartialStream(Tree).feed(text)
    assert view is not None
    assert view.fields["children"] == [{"name": "a", "left": None}]
    inner: Partial[Any] | None = view.narrow(("children", 1))
    assert inner is not None
    assert inner.fields["children"] == [{"name": "c"}]
    assert decode(Tree, '{"left": {"children": []}}') == {"left": {"children": []}}
    with pytest.raises(DecodeError, match=r"\$\.children\[0\]\.name"):
        decode(Tree, '{"children": [{"name": 5}]}')
    assert decode(Owner, '{"pet": {"name": "x", "owners": []}, "by_name": {}}')["pet"]["name"] == "x"
    with pytest.raises(DecodeError, match="Field required"):
        decode(Owner, '{"pet": {"name": "x"}, "by_name": {}}')


class Item(BaseModel):
    n: int


def test_what_the_stream_decoder_refuses_is_refused() -> None:
    for text in ('{"n": "2"}', '{"n": true}', '{"n": 2.0}'):
        with pytest.raises(DecodeError):
            decode(Item, text)


def test_values_nested_deeper_than_a_checker_can_follow_are_refused_and_no_crash() -> None:
    from gateway_args.limits import Limits

    limits = Limits(max_depth=2_000)
    text = '{"a": ' + "[" * 1_500 + "]" * 1_500 + "}"
    with pytest.raises(DecodeError, match="too deep"):
        decode({"properties": {"a": {"items": {"items": {}}}}}, text, limits=limits)  # type: ignore[arg-type]


def test_the_old_name_of_a_problem_works_and_warns() -> None:
    import gateway_args.partial as module

    with pytest.warns(DeprecationWarning, match="use Problem"):
        assert module.Fault is module.Problem  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        _ = module.Fualt  # type: ignore[attr-defined]
