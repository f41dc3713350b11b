"""The kinds of cases that a corpus covers: a closed list.

Every corpus has a case of every kind, or says under `[no_kind]` why its format can have none; `ids` alone needs no
reason. Sound and broken cases are both kinds: a corpus of happy paths proves nothing.
"""

from __future__ import annotations

KINDS: dict[str, str] = {
    "plain": "text without a call; empty output; white space only",
    "single": "one call as the template writes it (canonical = true)",
    "parallel": "two and three calls as the template writes them; one wrapper, and two where the grammar has both",
    "same_twice": "the same function twice, the same arguments twice",
    "narration": "text before, after and between calls",
    "empty_arguments": "the template's form; white space inside it; the arguments left out",
    "scalars": "strings, integers past 2^53, floats, booleans, null; numbers cut at a delta's end",
    "nested": "objects and arrays, several levels, empty ones",
    "text_values": "unicode, escapes, quotes, backslashes, newlines, tabs, white space at the ends, HTML, code",
    "typing": "values against the schema: a string like a number, nullable, union, enum, undeclared parameter",
    "own_delimiters": "the format's own separators, brackets, closers and markers inside a value",
    "quoted_marker": "markers in prose, in a code fence, in a thought, in a tool result that the prompt holds",
    "long": "one value of several KB; many parameters",
    "name_edges": "a name that starts another, resembles a marker, has dots, dashes, digits; an undeclared one",
    "key_order": "arguments before the name, extra keys, aliases",
    "reasoning": "a thought before the call, an empty one, opened or closed by the prompt, never closed",
    "literal_junk": "truex, nope, a trailing comma, a wrong bracket, text after the value",
    "garbage": "a region with no readable body; a header without a name; the adjacent family's syntax",
    "recovery": "a broken call, then a sound one",
    "missing_closer": "closers of value, parameter, call and region left out, one by one",
    "stray_closer": "a closer with nothing open, alone and after prose",
    "truncated": "cut in the marker, the name, the arguments, the closer; with length and with stop",
    "duplicate": "a second name, arguments or parameter",
    "turn_end": "end-of-turn text after content, after a call, inside a call",
    "ids": "where the model writes ids, or ids have a shape",
    "prefill": "a prefill that ends inside a call; a call that the prompt left open, which is none",
    "control": "raw control characters, lone surrogates, U+2028, NUL, BOM",
}

OPTIONAL = frozenset({"ids"})
"""Kinds that a corpus may leave out without a reason."""
