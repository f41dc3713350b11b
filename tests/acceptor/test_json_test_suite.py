"""JSONTestSuite: every sound file is whole, every broken one refused or never whole, but five named ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway_args.strict_json.acceptor import scan

if TYPE_CHECKING:
    from pathlib import Path

# Bare numbers at the root, which only the end of the text ends.
NEVER_WHOLE = {"y_structure_lonely_int.json", "y_structure_lonely_negative_real.json"}
# A raw control character in a string, accepted by decision.
ACCEPTED = {
    "n_string_unescaped_ctrl_char.json",
    "n_string_unescaped_newline.json",
    "n_string_unescaped_tab.json",
}


def read(suites: Path, kind: str) -> dict[str, str]:
    """The files of a kind that are text, by name."""
    found = {}
    for path in sorted((suites / "JSONTestSuite" / "test_parsing").glob(f"{kind}_*.json")):
        try:
            found[path.name] = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            continue
    return found


def test_every_sound_file_is_whole_but_the_two_bare_root_numbers(suites: Path) -> None:
    files = read(suites, "y")
    assert len(files) > 90
    not_whole = {name for name, text in files.items() if scan(text).complete != len(text.rstrip(" \t\n\r"))}
    assert not_whole == NEVER_WHOLE
    assert all(scan(files[name]).valid == len(files[name].rstrip(" \t\n\r")) for name in NEVER_WHOLE)


def test_every_broken_file_is_refused_or_never_whole_but_three_with_a_raw_control_character(suites: Path) -> None:
    files = read(suites, "n")
    assert len(files) > 170
    whole = {name for name, text in files.items() if scan(text).complete == len(text.rstrip(" \t\n\r"))}
    assert whole == ACCEPTED
