"""`formats check`: tables that would fail in use are refused, rows that nothing leads to are told with their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gateway_args import FormatError, Parser, formats
from gateway_args.formats import catalogue, lint

if TYPE_CHECKING:
    from pathlib import Path

SOUND = """summary = "An object in <call>"
turn_end = ["<end>"]

[markers]
call = { text = "<call>" }
call_end = { text = "</call>", token = true }

[states.content]
kind = "content"
on = { call = "call" }

[states.call]
kind = "call"
calls = ["object"]
on = { call_end = "content" }

[calls.object]
syntax = "json"
"""

TAGS = 'syntax = "tagged"\nheader = ["{name}>"]\nparameter = ["<p {name}>"]\nvalue_close = "</p>"'


def edited(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    text = SOUND
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def findings(path: Path) -> list[tuple[int | None, str]]:
    return [(found.line, found.problem.path) for found in lint.check(path)]


def test_a_sound_table_has_no_findings(tmp_path):
    assert findings(edited(tmp_path)) == []


@pytest.mark.parametrize("name", formats.names())
def test_every_table_that_ships_is_sound(name):
    assert lint.check(catalogue.current().file(name)) == []


BARE = ('on = { call = "call" }', 'on = { call = "call" }\ncalls = ["bare"]\nbare = "{where}"')

REFUSED = {
    "bare framed": (
        [
            (BARE[0], BARE[1].replace("{where}", "start")),
            ('syntax = "json"', 'syntax = "json"\n[calls.bare]\nsyntax = "framed"\nheader = ["{name}:"]'),
        ],
        (12, "states.content.bare"),
    ),
    "bare tagged": (
        [
            (BARE[0], BARE[1].replace("{where}", "whole")),
            ('syntax = "json"', f'syntax = "json"\n[calls.bare]\n{TAGS}'),
        ],
        (12, "states.content.bare"),
    ),
    "bare gemma": (
        [
            (BARE[0], BARE[1].replace("{where}", "anywhere")),
            ('syntax = "json"', 'syntax = "json"\n[calls.bare]\nsyntax = "gemma"\ndelimiter = "|"'),
        ],
        (12, "states.content.bare"),
    ),
    "bare header of white space": (
        [
            (BARE[0], BARE[1].replace("{where}", "start")),
            ('syntax = "json"', 'syntax = "json"\n[calls.bare]\nsyntax = "json"\nheader = ["{ws}x"]'),
        ],
        (12, "states.content.bare"),
    ),
    "empty delimiter": (
        [('syntax = "json"', 'syntax = "gemma"\ndelimiter = ""')],
        (19, "calls.object.delimiter"),
    ),
    "closer begins with the name": (
        [('syntax = "json"', TAGS.replace("</p>", "{name}>"))],
        (21, "calls.object.value_close"),
    ),
    "closer with an unknown place": (
        [('syntax = "json"', TAGS.replace("</p>", "</{nme}>"))],
        (21, "calls.object.value_close"),
    ),
    "turn_end twice": ([('turn_end = ["<end>"]', 'turn_end = ["<end>", "<end>"]')], (2, "turn_end[1]")),
    "long marker": ([('text = "<call>"', f'text = "<{"c" * 499}"')], (5, "markers.call.text")),
    "long turn end": ([('"<end>"', f'"{"e" * 500}"')], (2, "turn_end[0]")),
    "long closer": ([('syntax = "json"', TAGS.replace("</p>", "p" * 500))], (21, "calls.object.value_close")),
    "long parameter": ([('syntax = "json"', TAGS.replace("<p ", "p" * 500))], (20, "calls.object.parameter[0]")),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_table_that_would_fail_in_use_is_refused(tmp_path, case):
    edits, (line, place) = REFUSED[case]
    path = edited(tmp_path, *edits)
    with pytest.raises(FormatError) as caught:
        formats.read(path)
    assert str(caught.value).startswith(f"mine: {place}")
    (found,) = findings(path)
    assert (found[0], found[1].split(".text")[0]) == (line, place.split(".text")[0])


def test_more_single_tokens_than_the_text_has_room_for_are_refused(tmp_path):
    tokens = "\n".join(f'm{n} = {{ text = "<{n}>", token = true }}' for n in range(2048))
    path = edited(tmp_path, ("[markers]", f"[markers]\n{tokens}"))
    with pytest.raises(FormatError, match="mine: markers: more than 2048 markers that are one token"):
        formats.read(path)


def test_the_longest_marker_that_is_taken_compiles_and_is_read(tmp_path):
    text = "<" + "c" * 255
    path = edited(tmp_path, ('text = "<call>"', f'text = "{text}"'))
    parser = Parser(formats.read(path))
    for char in text + '{"name": "f", "arguments": {}}':
        parser.feed(char)
    assert parser.finish("stop")[-1].calls == 1


UNREACHED = {
    "a marker with no row": ([("[markers]", '[markers]\nother = { text = "<other>" }')], (5, "markers.other")),
    "a token with no row": (
        [("[markers]", '[markers]\nother = { text = "<other>", token = true }')],
        (5, "markers.other"),
    ),
    "a state that nothing reaches": (
        [("[calls.object]", '[states.idea]\nkind = "content"\n\n[calls.object]')],
        (17, "states.idea"),
    ),
    "states that only reach each other": (
        [
            ("[markers]", '[markers]\na = { text = "<a>" }'),
            ("[calls.object]", '[states.idea]\nkind = "content"\non = { a = "idea" }\n\n[calls.object]'),
        ],
        (18, "states.idea"),
    ),
    "a syntax in no state": (
        [("[calls.object]", '[calls.list]\nsyntax = "json"\nshape = "list"\n\n[calls.object]')],
        (17, "calls.list"),
    ),
    "a header twice": (
        [('syntax = "json"', 'syntax = "framed"\nheader = ["{name}:", "{name}:"]')],
        (19, "calls.object.header[1]"),
    ),
    "certain on a closer": ([('"</call>",', '"</call>", certain = true,')], (6, "markers.call_end.certain")),
    "a wrapper without rows": (
        [
            ("[markers]", '[markers]\nwrap = { text = "<wrap>" }'),
            ('on = { call = "call" }', 'on = { call = "call", wrap = "wrap" }\n[states.wrap]\nkind = "wrapper"'),
        ],
        (12, "states.wrap.on"),
    ),
}


@pytest.mark.parametrize("case", UNREACHED)
def test_what_no_output_reaches_is_found_but_loads(tmp_path, case):
    edits, finding = UNREACHED[case]
    path = edited(tmp_path, *edits)
    assert formats.read(path).name == "mine"
    assert finding in findings(path)


def test_lines_are_those_of_keys_in_every_way_to_write_them(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '"summary" = """one\nsumary = 1\n"""\nstates.content.kind = "contents"\n'
        '[states."call"]\nkind = "calls"\n[ markers . a ]\ntext = 1\n',
        encoding="utf-8",
    )
    assert findings(path) == [(4, "states.content.kind"), (6, "states.call.kind"), (8, "markers.a.text")]
