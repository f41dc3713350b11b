"""Literals: JSON and Python values as text, against json.loads and ast.literal_eval; typing, against a validator."""

from __future__ import annotations

import ast
import json
import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway_args.schema.value_types import ValueType
from gateway_args.strict_json.literals import json_string, json_string_fragment, read_json, read_python
from gateway_args.syntaxes.values.typed_text import as_json

DEPTH = 32


def refuse(word: str) -> Any:
    raise ValueError(word)


def strict(text: str) -> Any:
    """What strict JSON says; `json.loads` alone takes NaN and Infinity."""
    return json.loads(text, parse_constant=refuse)


def json_of(text: str) -> str | None:
    value = read_json(text, DEPTH)
    return value and value.json


def python_of(text: str) -> str | None:
    value = read_python(text, DEPTH)
    return value and value.json


def plain(value: Any) -> Any:
    """A Python value as JSON has it; raises ValueError where JSON has none."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            if not all(isinstance(key, str) for key in value):
                raise ValueError("a key that is no string")
            return {plain(key): plain(item) for key, item in value.items()}
        case _:
            raise ValueError(type(value).__name__)


class Words(ast.NodeTransformer):
    """JSON's three words as Python's."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        words = {"true": True, "false": False, "null": None}
        return ast.copy_location(ast.Constant(words[node.id]), node) if node.id in words else node


def literal(text: str) -> Any:
    """What Python says, JSON's words included; raises for what is no literal with a JSON value."""
    tree = ast.parse(text.strip(" \t\n\r\f"), mode="eval")
    return plain(ast.literal_eval(Words().visit(tree)))


# JSON --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0", "-0", "12", "9007199254740993", "1" * 40, "1e-07", "1.50", "-1.5E+3", "1e999", "true", "false", "null",
        '""',
        '"a\\u00e9\\ud83d\\ude00\\n\\/"', '"é🌤\u2028\x7f"', "[]", "{}", '{"a":  [1,\n2 , {}]}', '{"a": 1, "a": 2}',
    ],
)  # fmt: skip
def test_json_is_kept_exactly_as_written(text: str) -> None:
    assert json_of(text) == text
    assert json_of(f" \n\t\r{text}\r\n ") == text


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "01", "+1", "1.", ".5", "1e", "-", "0x1", "1_0", "truex", "True", "NaN", "Infinity", "-Infinity",
        "'a'",
        '"a', '"\\x41"', '"\\u12g4"', '"a" "b"', "[1,]", "[,]", "[1 2]", "[", "]", "[}", "{]", '{"a"}', '{"a":}',
        '{"a":1,}',
        "{1: 2}", '{"a" 1}', "(1)", "1 2", "1,", ",", ":", '{"a":1}}', "\ufeff1", "\u00a01", "\f1", "// 1", "[1]]",
        '{"a":1 "b":2}',
    ],
)  # fmt: skip
def test_what_is_not_json_is_not_read_as_json(text: str) -> None:
    with pytest.raises(ValueError):
        strict(text)
    assert json_of(text) is None


def test_a_raw_control_character_in_a_json_string_comes_out_escaped() -> None:
    text = '{"a\tb": "line\nline\x00\\n", "c":\n1}'
    written = json_of(text)
    assert written == '{"a\\tb": "line\\nline\\u0000\\n", "c":\n1}'
    assert strict(written) == json.loads(text, strict=False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values, st.booleans(), st.sampled_from([None, 0, 2]))
def test_what_json_dumps_writes_is_kept(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert json_of(text) == text


json_like = st.lists(
    st.sampled_from(
        [*'[]{},: \n"01-.e+é\t\x01', '"a"', '"\\', "\\n", "\\u00e9", "\\ud800", "true", "null", '"k":', "[1]", "{}"],
    ),
    max_size=9,
).map("".join)


@given(json_like)
def test_a_text_is_read_as_json_exactly_when_json_loads_reads_it(text: str) -> None:
    try:
        expected = json.loads(text, strict=False, parse_constant=refuse)
    except ValueError:
        assert json_of(text) is None
    else:
        written = json_of(text)
        assert written is not None
        assert repr(strict(written)) == repr(expected)


# Python ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("True", "true"), ("False", "false"), ("None", "null"), ("true", "true"), ("null", "null"),
        ("1_000", "1000"), ("0x1F", "31"), ("-0b101", "-5"), ("0o17", "15"), ("0X_ff", "255"), ("00", "0"), ("+7", "7"),
        ("9007199254740993", "9007199254740993"), ("9" * 40, "9" * 40),
        ("1e-07", "1e-07"), ("1.", "1.0"), (".5", "0.5"), ("-.5E+3", "-0.5e+3"), ("1.e5", "1.0e5"), ("01.5", "1.5"),
        ("1.50", "1.50"),
        ("1_0.0_1", "10.01"), ("1_0e1_0", "10e10"),
        ("'it''s'", '"its"'), ("'a' \"b\"", '"ab"'), ("['a'\n'b']", '["ab"]'), ("('a'\n'b')", '"ab"'),
        ("'say \"hi\"'", '"say \\"hi\\""'), ("'''a'b''c\n'''", '"a\'b\'\'c\\n"'), ('"""a"b""c"""', '"a\\"b\\"\\"c"'),
        ("''''a'''", '"\'a"'), ("''", '""'), ("''''''", '""'), ("u'a'", '"a"'), ("R'\\d\\''", '"\\\\d\\\\\'"'),
        ("'\\x41\\101\\u00e9\\U0001f324\\N{BULLET}\\0'", '"AAé🌤•\\u0000"'),
        ("'a\\\nb\\\r\nc'", '"abc"'), ("'\\d \\/ \\\\'", '"\\\\d \\\\/ \\\\"'),
        ("'\\ud83c\\udf24'", '"🌤"'), ("'\\ud83c.'", '"\ufffd."'),
        ("[1, 2]", "[1, 2]"), ("[1 ,2, ]", "[1 ,2 ]"), ("()", "[]"), ("(1,)", "[1]"), ("(1, 'a',)", '[1, "a"]'),
        ("(1)", "1"),
        ("((1), (2,))", "[1, [2]]"), ("{}", "{}"), ("{'a': {'b': (None, 0x10)},}", '{"a": {"b": [null, 16]}}'),
        ("{'a' 'b': 1, \"c\":true}", '{"ab": 1, "c":true}'), ("[\f1\f]", "[ 1 ]"),
    ],
)  # fmt: skip
def test_python_literals_become_json(text: str, written: str) -> None:
    assert python_of(text) == written
    assert python_of(f"\n {text} \n") == written


@pytest.mark.parametrize(
    "text",
    [
        "", "x", "TRUE", "nan", "inf", "b'a'", "rb'a'", "f'a'", "ur'a'", "'a", "'''a'", "'\\x4'", "'\\u12'",
        "'\\N{no such}'",
        "'\\N'", "'\\U00110000'", "'a'\n'b'", "007", "1__0", "1_", "_1", "0x", "0b2", "0o8", "1j", "1+2j", "--1",
        "- 1", "1 + 1",
        "{1}", "{1, 2}", "{1: 2}", "{None: 1}", "{('a'): 1}", "{'a'}", "{'a': 1 'b': 2}", "[,]", "(,)", "[1,,]",
        "[1 2]", "1, 2",
        "(1]", "[1)", "{'a': 1]", "[", "(", "]", "f(1)", "[x for x in y]", "a.b", "...", "1 # one", "('a') 'b'",
        "'a' ('b')",
        "['a': 1]", "{'a', 1}", "{,}", "set()", "lambda: 1", "1if", "truex", "'a'1", "1'a'", "{'a': }",
        "'\\N{KEYCAP DIGIT ONE}'",
    ],
)  # fmt: skip
def test_what_is_no_literal_is_not_read_as_python(text: str) -> None:
    assert python_of(text) is None


python_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(python_values)
def test_what_repr_writes_reads_back_equal(value: Any) -> None:
    written = python_of(repr(value))
    assert written is not None
    assert repr(strict(written)) == repr(plain(value))


python_like = st.lists(
    st.sampled_from(
        [
            *(
                "'a'",
                "'k':",
                "'''",
                '"""',
                '"b"',
                "\\x41",
                "\\'",
                "\\u00e9",
                "\\777",
                "0x",
                "True",
                "null",
                "[1]",
                "()",
            ),
            *"[]{}(),: \n'\"\\rub01_-+.eé",
        ]
    ),
    max_size=8,
).map("".join)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@given(python_like)
def test_a_text_that_is_read_is_what_literal_eval_reads(text: str) -> None:
    written = python_of(text)
    if written is None or "\n" in text:  # a raw line break is taken in every string, which Python does not
        assert written is None or strict(written) is not Ellipsis
        return
    assert repr(strict(written)) == repr(literal(text))


# Every way to write a literal: quotings, prefixes and escapes, layout, brackets around a value, trailing commas.
spaces = st.sampled_from(["", " ", "\n", "\t\f "])
strings = st.lists(
    st.tuples(
        st.sampled_from(["", "r", "R", "u", "U"]),
        st.sampled_from(["'", '"', "'''", '"""']),
        st.lists(
            st.sampled_from(
                ["a", "é", "\\\\", "\\'", '\\"', "\\n", "\\x41", "\\u00e9", "\\ud83c\\udf24", "\\d", "\\7", "\\\n"]
            ),
            max_size=3,
        ).map("".join),
    ).map(lambda parts: parts[0] + parts[1] + parts[2] + parts[1]),
    min_size=1,
    max_size=3,
).map(" ".join)
numbers = st.sampled_from(
    ["0", "-1", "+2", "1_000", "0x1F", "-0b11", "0o17", "00", "1.", ".5", "-1.e5", "01.50", "1E-07"]
)


def bracketed(form: str, parts: list[tuple[str, str]], comma: str, space: str) -> str:
    if form == "{}":
        listed = [f"{key}{space}:{space}{part}" for key, part in parts]
    else:
        listed = [part for _, part in parts]
    inside = f"{space},{space}".join(listed) + (comma if listed else "")
    return form[0] + space + inside + space + form[1]


literals = st.recursive(
    strings | numbers | st.sampled_from(["True", "False", "None", "true", "false", "null"]),
    lambda inner: st.builds(
        bracketed,
        st.sampled_from(["[]", "()", "{}"]),
        st.lists(st.tuples(strings, inner), max_size=3),
        st.sampled_from(["", ","]),
        spaces,
    ),
    max_leaves=8,
)


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@given(literals)
def test_every_way_to_write_a_literal_is_read_as_literal_eval_reads_it(text: str) -> None:
    written = python_of(text)
    assert written is not None
    assert repr(strict(written)) == repr(literal(text))


def test_a_raw_line_break_is_taken_in_any_string() -> None:
    assert python_of("{'code': 'a\nb\tc'}") == '{"code": "a\\nb\\tc"}'


@pytest.mark.parametrize("read", [read_json, read_python])
def test_a_value_nested_deeper_than_allowed_says_its_type_alone(read: Any) -> None:
    at, beyond = read("[" * DEPTH + "]" * DEPTH, DEPTH), read("[" * (DEPTH + 1) + "]" * (DEPTH + 1), DEPTH)
    assert at.json == "[" * DEPTH + "]" * DEPTH
    assert (beyond.kind, beyond.json) == ("array", None)
    deep = read('{"a":' * 100_000, DEPTH)
    assert (deep.kind, deep.json) == ("object", None)


@pytest.mark.parametrize(
    "unit",
    [
        "'a' ",
        "[1, ",
        "1, ",
        "(",
        "'\\",
        "\\",
        "'''",
        '"',
        '"a" ',
        "9",
        "1_",
        "0x",
        "{'a':",
        " ",
        "\n",
        "e",
        "-",
        "''' '",
        "\\N{",
        "[],",
    ],
)
def test_hostile_text_costs_in_proportion_to_its_length(unit: str) -> None:
    def cost(times: int) -> float:
        texts = [prefix + unit * times for prefix in ("", "[", "'", '"')]
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            for text in texts:
                as_json(text, None, python=True)
            best = min(best, time.process_time() - start)
        return best

    # Eight times the text: about 8 when linear, 64 when quadratic. The constant takes the noise of what costs nothing.
    assert cost(40_000) < 24 * cost(5_000) + 0.02


# Typing ------------------------------------------------------------------------------------------------------------


def typed(text: str, schema: object, *, python: bool = False) -> str | None:
    return as_json(text, ValueType(schema), python=python)


@pytest.mark.parametrize(
    "text", ['"x"', "007", " a ", "", "true", "[1]", "Null", " null", "null\n", "1e5", "{}", "\n", "'x'", "é\u2028"]
)
@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": ["string", "null"]}, {"enum": ["a", "b"]}])
def test_a_string_is_the_text_exactly(text: str, schema: object) -> None:
    written = typed(text, schema, python=True)
    assert written is not None
    assert strict(written) == text


def test_null_and_none_are_null_only_where_the_type_and_the_table_say_so() -> None:
    nullable, string = {"type": ["string", "null"]}, {"type": "string"}
    assert typed("null", nullable) == "null"
    assert typed("null", string) == '"null"'
    assert typed("None", nullable, python=True) == "null"
    assert typed("None", nullable) == '"None"'
    assert typed("None", string, python=True) == '"None"'


@pytest.mark.parametrize(
    ("text", "schema", "written"),
    [
        ("9007199254740993", {"type": "integer"}, "9007199254740993"),
        ("-" + "7" * 40, {"type": "integer"}, "-" + "7" * 40),
        (" 5\n", {"type": "integer"}, "5"),
        ("1.0", {"type": "integer"}, "1.0"),
        ("1.50e1", {"type": "integer"}, "1.50e1"),
        ("120e-1", {"type": "integer"}, "120e-1"),
        ("1.5", {"type": "integer"}, '"1.5"'),
        ("15e-2", {"type": "integer"}, '"15e-2"'),
        ("1.55e1", {"type": "integer"}, '"1.55e1"'),
        ("1e-99999999999999999999", {"type": "integer"}, '"1e-99999999999999999999"'),
        ("1e99999999999999999999", {"type": "integer"}, "1e99999999999999999999"),
        ("0.0e-5", {"type": "integer"}, "0.0e-5"),
        ("007", {"type": "integer"}, '"007"'),
        ("", {"type": "integer"}, '""'),
        ("3", {"type": "number"}, "3"),
        (".5", {"type": "number"}, "0.5"),
        ("nan", {"type": "number"}, '"nan"'),
        ("True", {"type": "boolean"}, "true"),
        ("false", {"type": "boolean"}, "false"),
        ("TRUE", {"type": "boolean"}, '"TRUE"'),
        ("1", {"type": "boolean"}, '"1"'),
        ("None", {"type": ["integer", "null"]}, "null"),
        ("{'a': True, 'b': (1, None)}", {"type": "object"}, '{"a": true, "b": [1, null]}'),
        ('{"a": nope}', {"type": "object"}, '"{\\"a\\": nope}"'),
        ("[1]", {"type": "object"}, '"[1]"'),
        ("(1, 2)", {"type": "array"}, "[1, 2]"),
        ('["a\nb"]', {"type": "array"}, '["a\\nb"]'),
        ('"x"', {"type": "integer"}, '"\\"x\\""'),
        # a union with string
        ("5", {"type": ["string", "integer"]}, "5"),
        ("5.5", {"type": ["string", "integer"]}, '"5.5"'),
        ("five", {"type": ["string", "integer"]}, '"five"'),
        (" five ", {"type": ["string", "integer"]}, '" five "'),
        ('"5"', {"type": ["string", "integer"]}, '"\\"5\\""'),
        ("True", {"anyOf": [{"type": "string"}, {"type": "boolean"}]}, "true"),
        ("null", {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}, "null"),
        ("{'a': 1}", {"oneOf": [{"type": "string"}, {"type": "object"}]}, '{"a": 1}'),
        # an enumeration
        ("1", {"enum": [1, "1"]}, "1"),
        ("1", {"enum": ["1", 2]}, '"1"'),
        ("2", {"enum": ["1", 2]}, "2"),
        ("3", {"enum": ["1", 2]}, "3"),
        ("true", {"enum": ["true", False]}, '"true"'),
        ("1.0", {"enum": ["x", 1]}, "1.0"),
        # no type
        ("5", {}, "5"),
        ('"x"', {}, '"x"'),
        ("'x'", {}, '"x"'),
        ("None", {}, "null"),
        ("007", {}, '"007"'),
        ("x y", {}, '"x y"'),
        ("1, 2", {}, '"1, 2"'),
    ],
)  # fmt: skip
def test_a_value_is_typed_by_its_schema(text: str, schema: object, written: str) -> None:
    assert typed(text, schema) == written


@pytest.mark.parametrize("text", ["+353", "0x1F", "1_000", "007", "0b1", "1.", ".5", "00", "+1.5"])
@pytest.mark.parametrize("other", ["integer", "number", ["integer", "null"]])
def test_a_number_as_only_python_spells_it_is_a_string_where_one_may_stand(text: str, other: Any) -> None:
    union = {"anyOf": [{"type": "string"}, {"type": other}]}
    for python in (False, True):
        assert typed(text, union, python=python) == json.dumps(text)
    number = {"type": ["number", "null"]}
    assert typed(text, number, python=False) == typed(text, number, python=True)
    assert typed("353", union, python=False) == "353"


def test_no_type_at_all_is_read_as_an_untyped_one() -> None:
    for text in ("5", "'x'", "x", "{'a': 1}", ""):
        assert as_json(text, None, python=False) == typed(text, {})


def test_a_value_too_deep_for_a_type_that_would_take_it_is_none() -> None:
    deep = "[" * 5 + "]" * 5
    assert as_json(deep, None, python=True, max_depth=4) is None
    assert as_json(deep, ValueType({"type": ["array", "string"]}), python=True, max_depth=4) is None
    assert as_json(deep, ValueType({"type": "array"}), python=True, max_depth=5) == deep
    assert as_json(deep, ValueType({"type": "object"}), python=True, max_depth=4) == json.dumps(deep)
    assert as_json(deep, ValueType({"type": "string"}), python=True, max_depth=4) == json.dumps(deep)


types = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
members = st.sampled_from(["1", 1, 2, 0.5, "true", True, None, "null", "x"])
schemas = st.one_of(
    types.map(lambda kind: {"type": kind}),
    st.lists(types, min_size=1, max_size=6, unique=True).map(lambda kinds: {"type": kinds}),
    st.lists(types, min_size=1, max_size=3).map(lambda kinds: {"anyOf": [{"type": kind} for kind in kinds]}),
    st.lists(members, min_size=1, unique_by=json.dumps).map(lambda values: {"enum": values}),
    members.map(lambda value: {"const": value}),
)
texts = st.one_of(
    python_values.map(repr),
    json_values.map(json.dumps),
    st.sampled_from(
        ["1", "2", "1.0", "0.5", "true", "True", "null", "x", "007", "1e2", "{", "[1,", "TRUE", '"x"', "'x'"]
    ),
)


@given(texts, schemas)
def test_the_value_is_the_first_reading_that_the_validator_admits(text: str, schema: Any) -> None:
    written = typed(text, schema, python=True)
    assert written is not None
    reading: Any = text
    for read in (strict, literal):
        try:
            reading = read(text)
            break
        except (ValueError, SyntaxError):
            continue
    fits = jsonschema_rs.validator_for(schema).is_valid
    if not isinstance(reading, str) and fits(reading):
        assert repr(strict(written)) == repr(reading)
    elif fits(text):
        assert strict(written) == text
    else:
        assert repr(strict(written)) in (repr(text), repr(reading))


@given(st.text() | python_like, schemas | st.just({}), st.booleans())
def test_whatever_the_text_the_answer_is_strict_json(text: str, schema: Any, python: bool) -> None:
    written = typed(text, schema, python=python)
    assert written is None or strict(written) is not Ellipsis


# Strings -----------------------------------------------------------------------------------------------------------


@given(st.text(), st.integers(0, 20))
def test_a_string_in_fragments_is_the_string(text: str, cut: int) -> None:
    written = json_string(text)
    assert strict(written) == text
    assert '"' + json_string_fragment(text[:cut]) + json_string_fragment(text[cut:]) + '"' == written


def test_only_quotes_backslashes_and_control_characters_are_escaped() -> None:
    controls = "".join(map(chr, range(32)))
    assert strict(f'"{json_string_fragment(controls)}"') == controls
    assert json_string_fragment('"\\\n\t') == '\\"\\\\\\n\\t'
    rest = "é🌤\u2028\u2029\x7f\ufeff/<>&'\ud800"
    assert json_string_fragment(rest) == rest
