"""What a model's template writes the grammar allows: every canonical case of every corpus, token by token.

The tools are the case's own, with the properties in the order in which the case gives them and those that it does not
declare added by their values, since an object has its properties in the schema's order. An end-of-turn text at the end
may be the engine's stop token and no part of the output.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest
import walks

from gateway_args import Format, Parser, TokenDecoder, Tools, formats, grammar
from gateway_args.contract import corpus
from gateway_args.events import ReasoningStart

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gateway_args.contract.corpus import Case

# Cases that no grammar of these languages allows, and why.
BEYOND = {
    ("hyperclovax", "Text, then a call"): "a reply without the line break that tells it from the other messages",
    ("minicpm5", "CDATA holds every text"): "a value that holds the text that ends it",
    ("minimax_m3", "Declared types at every depth"): "members that the schema of the object does not declare",
}
NAMES = [name for name in formats.names() if any(state.calls for state in formats.load(name).states.values())]


def schema_by(value: Any) -> dict[str, Any]:
    match value:
        case bool():
            return {"type": "boolean"}
        case int():
            return {"type": "integer"}
        case float():
            return {"type": "number"}
        case None:
            return {"type": "null"}
        case str():
            return {"type": "string"}
        case list():
            return (
                {"type": "array", "items": union([schema_by(item) for item in value])} if value else {"type": "array"}
            )
    return {"type": "object", "properties": {key: schema_by(item) for key, item in value.items()}}


def union(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    apart = [schema for n, schema in enumerate(schemas) if schema not in schemas[:n]]
    return apart[0] if len(apart) == 1 else {"anyOf": apart}


def tools_of(case: Case) -> Tools:
    declared: dict[str, Any] = {}
    for tool in case.tools or ():
        function: Any = tool["function"]
        declared[function["name"]] = function.get("parameters", {})
    given: dict[str, dict[str, list[Any]]] = {name: {} for name in declared}
    for call in case.expect.calls:
        for key, value in json.loads(call.arguments).items():
            given.setdefault(call.name, {}).setdefault(key, []).append(value)
    tools = []
    for name, values in given.items():
        said = declared.get(name, {})
        properties = {}
        for key, found in values.items():
            schema = said.get("properties", {}).get(key)
            says_all = schema is not None and schema not in ({}, {"type": "object"}, {"type": "array"})
            properties[key] = schema if says_all else union([schema_by(value) for value in found])
        parameters = {**said, "type": "object", "properties": properties, "required": []}
        tools.append({"type": "function", "function": {"name": name, "parameters": parameters}})
    return Tools.of(tools)


def is_valid(case: Case, tools: Tools) -> bool:
    return all(
        jsonschema_rs.is_valid(walks.schema_of(tools, call.name), json.loads(call.arguments))
        for call in case.expect.calls
    )


def outputs_of(format: Format, case: Case) -> Iterator[str]:
    """The output as it stands, then without the texts that end its turn; a slash is never written with a backslash."""
    text = case.text.replace("\\/", "/")
    yield text
    ended = True
    while ended:
        ended = False
        for marker in format.turn_end:
            for end in (marker.text, marker.text + marker.after):
                if text.endswith(end):
                    text, ended = text.removesuffix(end), True
        yield text


def starts_in_thought(format: Format, tools: Tools, case: Case) -> bool:
    if not case.prompt:
        return case.start == "reasoning"
    parser = Parser(format, tools, prompt=case.prompt)
    return any(isinstance(event, ReasoningStart) for event in [*parser.feed("thus it is"), *parser.finish("stop")][:1])


def allowed(
    format: Format,
    case: Case,
    choice: str,
    *,
    parallel: bool = True,
    thoughts: str = "optional",
    markers: Mapping[str, int] | None = None,
) -> bool:
    tools = tools_of(case)
    reasoning = reasoning_of(format, tools, case, thoughts)
    made = grammar.lark(format, tools, choice=choice, parallel=parallel, reasoning=reasoning, markers=markers)
    return any(walks.allows(made.text, text, markers or {}) for text in outputs_of(format, case))


def canonical(name: str) -> Iterator[Case]:
    """The canonical cases of a table that a grammar allows."""
    for case in corpus.load(name).cases:
        if case.canonical and (name, case.name) not in BEYOND and is_valid(case, tools_of(case)):
            yield case


def declared(case: Case) -> Tools:
    """The case's tools; with the properties that its calls have where those are JSON."""
    try:
        return tools_of(case)
    except ValueError:
        return Tools.of([*case.tools] if case.tools else [])


@pytest.mark.every_table
@pytest.mark.parametrize("name", NAMES)
def test_what_is_allowed_of_the_other_cases_is_read_whole(name: str, request: pytest.FixtureRequest) -> None:
    format = formats.load(name)
    every = 1 if request.config.getoption("--full") else 8
    for case in corpus.load(name).cases[::every]:
        if case.canonical or case.prompt or case.start or case.undeclared != "call":
            continue
        tools = declared(case)
        try:
            made = grammar.lark(format, tools, reasoning="optional")
        except grammar.GrammarError:
            continue  # the case has a function whose name the format cannot write
        text = corpus.normalise(case.text)
        if walks.allows(made.text, text):
            reading = walks.reading_of(format, tools, walks.Walk(text, []), start=None, by_id=False)
            assert not walks.faults(reading, tools), case.name


@pytest.mark.every_table
@pytest.mark.parametrize("name", NAMES)
def test_every_canonical_case_is_allowed(name: str) -> None:
    format = formats.load(name)
    seen: list[Case] = []
    for case in corpus.load(name).cases:
        if not case.canonical or not is_valid(case, tools_of(case)):
            continue
        if (name, case.name) in BEYOND:
            assert not allowed(format, case, "auto"), f"{case.name}: allowed, take it out of the list"
            continue
        assert allowed(format, case, "auto"), case.name
        if case.expect.calls and not case.expect.content:
            assert allowed(format, case, "required"), f"{case.name}, when a call is required"
        seen.append(case)
    kinds = {kind for case in seen for kind in case.kinds}
    assert len(seen) >= 5
    if any(len(case.expect.calls) > 1 for case in corpus.load(name).cases if case.canonical):
        assert any(len(case.expect.calls) > 1 for case in seen)
    if "reasoning" in format.states and any(c.expect.reasoning for c in corpus.load(name).cases if c.canonical):
        assert any(case.expect.reasoning for case in seen)
    assert kinds


@pytest.mark.every_table
@pytest.mark.parametrize("name", NAMES)
def test_each_request_allows_the_canonical_cases_that_it_asks_for(name: str) -> None:
    """One function's calls when it is named, one call at most, no thoughts: what fits is allowed, no other is."""
    format = formats.load(name)
    named = alone = 0
    for case in canonical(name):
        functions = {call.name for call in case.expect.calls}
        if len(functions) == 1 and not case.expect.content:
            assert allowed(format, case, *functions), case.name
            named += 1
        for other in tools_of(case).names:
            if functions and functions != {other}:
                assert not allowed(format, case, other), f"{case.name}: {other} alone"
        assert allowed(format, case, "auto", parallel=False) == (len(case.expect.calls) < 2), case.name
        alone += len(case.expect.calls) == 1
        if not starts_in_thought(format, tools_of(case), case):
            assert allowed(format, case, "auto", thoughts="none") != holds_a_thought(format, case), case.name
    assert named
    assert alone


@pytest.mark.every_table
@pytest.mark.parametrize("name", NAMES)
def test_every_canonical_case_is_allowed_with_markers_as_special_tokens(name: str) -> None:
    format = formats.load(name)
    markers = TokenDecoder(walks.encoding()).markers(format)
    tried = 0
    for case in canonical(name):
        if not any(marker in value for value in strings_of(case) for marker in markers):
            assert allowed(format, case, "auto", markers=markers), case.name
            tried += 1
    assert tried >= 5


def holds_a_thought(format: Format, case: Case) -> bool:
    parser = Parser(format, tools_of(case), prompt=case.prompt)
    return any(isinstance(event, ReasoningStart) for event in [*parser.feed(case.text), *parser.finish("stop")])


def strings_of(case: Case) -> list[str]:
    """What is no markup in the case: a marker there is ordinary text."""
    return [case.expect.content, case.expect.reasoning, *(call.arguments for call in case.expect.calls)]


@pytest.mark.every_table
@pytest.mark.parametrize("name", NAMES)
def test_arguments_stand_in_the_schemas_order(name: str) -> None:
    format = formats.load(name)
    turned = 0
    for case in canonical(name):
        tools = tools_of(case)
        backwards = [reversed_properties(tool.name, tool.parameters) for tool in tools]
        if any(len(json.loads(call.arguments)) > 1 for call in case.expect.calls):
            others = Tools.of(backwards)
            made = grammar.lark(format, others, reasoning=reasoning_of(format, tools, case))
            for text in outputs_of(format, case):
                if walks.allows(made.text, text):  # the order is all that names them
                    reading = walks.reading_of(format, others, walks.Walk(text, []), start=case.start, by_id=False)
                    assert [c.arguments for c in reading.calls] != [c.arguments for c in case.expect.calls], case.name
            turned += 1
    assert turned


def reversed_properties(name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    properties = dict(reversed(parameters["properties"].items()))
    return {"type": "function", "function": {"name": name, "parameters": {**parameters, "properties": properties}}}


def reasoning_of(format: Format, tools: Tools, case: Case, thoughts: Any = "optional") -> Any:
    return "open" if starts_in_thought(format, tools, case) else thoughts
