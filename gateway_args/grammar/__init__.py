"""Guided decoding from a format's table: the constraint under which an engine writes calls that the parser reads.

`structural_tag` gives it as xgrammar's structural tag, `lark` as a grammar for llguidance, `suppress` the tag that
keeps a model from opening a call. What the constraint allows the parser reads with no malformed text and every call
complete, and what the model's template writes the constraint allows. What cannot be said exactly is a `GrammarError`.

`TokenConstraint` says which tokens may come next, for whoever runs the decoding loop.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import GrammarError
from ..formats.table import Format
from ..tools import Tool, Tools
from .calls import Calls
from .flow import Request, tree_of
from .nodes import NOTHING, Tree, shortest
from .well_formed import well_formed

__all__ = ["GrammarError", "LarkGrammar", "StructuralTag", "TokenConstraint", "lark", "structural_tag", "suppress"]

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .constraint import TokenConstraint

Reasoning = Literal["none", "optional", "open"]


@dataclass(frozen=True, slots=True)
class StructuralTag:
    """A structural tag: `value` is its JSON, `str()` that JSON's text."""

    value: Mapping[str, Any]
    unenforced: tuple[str, ...] = ()
    """Where it allows more than a tool's schema says: `add.port: pattern`. Empty: valid arguments are certain."""
    narrowed: tuple[str, ...] = ()
    """Where it allows less than a tool's schema says."""

    def __str__(self) -> str:
        return json.dumps(self.value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class LarkGrammar:
    """A Lark grammar for llguidance: `text`, and `str()`, is the grammar; the notes are a `StructuralTag`'s."""

    text: str
    unenforced: tuple[str, ...] = ()
    narrowed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


def structural_tag(
    format: Format,
    tools: Tools,
    *,
    choice: str = "auto",
    parallel: bool = True,
    strict: bool = False,
    reasoning: Reasoning = "none",
) -> StructuralTag:
    """The structural tag under which a model of this format calls these tools.

    `choice` is `"auto"` (text and calls), `"required"` (calls and no text) or a function's name; without `parallel`
    there is at most one call. `reasoning` says whether the output may hold thoughts: `"none"`, `"optional"`, or
    `"open"` when the prompt has opened one. With `strict` a schema that the target cannot enforce is a `GrammarError`.
    """
    from .tag_json import structural_tag_of

    tree = _tree(format, tools, choice, parallel, reasoning)
    inside = {format.markers[name] for state in format.states.values() if state.kind == "call" for name in state.on}
    tokens = tuple(sorted(marker.text for marker in (*inside, *format.turn_end) if marker.token))
    value, unenforced = structural_tag_of(tree, format.name, tokens)
    _kept(format, strict, unenforced)
    return StructuralTag(value, unenforced, tree.narrowed)


def lark(
    format: Format,
    tools: Tools,
    *,
    choice: str = "auto",
    parallel: bool = True,
    strict: bool = False,
    reasoning: Reasoning = "none",
    markers: Mapping[str, int] | None = None,
) -> LarkGrammar:
    """The same for llguidance; `markers` are the texts that its vocabulary has as special tokens, with their ids.

    (`TokenDecoder.markers(format)` gives them.) A marker that is not among them is spelled as text.
    """
    from .lark_text import lark_of

    tree = _tree(format, tools, choice, parallel, reasoning)
    text, unenforced, narrowed = lark_of(tree, markers or {})
    _kept(format, strict, unenforced)
    return LarkGrammar(text, unenforced, narrowed)


def suppress(format: Format) -> StructuralTag:
    """The tag that keeps a model from opening a call, for `tool_choice: "none"`.

    Excluded are the openers that stand in no ordinary text: special tokens, and texts that begin like a tag. A format
    whose calls have other openers too names them in `unenforced`; one that has no others is a `GrammarError`.
    """
    openers = {format.markers[name] for name in format.opener_names}
    texts = [
        format.markers[name].text
        for state in format.states.values()
        for name, target in state.on.items()
        if format.states[target].kind in ("content", "reasoning") and state.kind in ("content", "reasoning")
    ]
    barred = {
        marker.text
        for marker in openers
        if (marker.token or not (marker.text[0].isalnum() or marker.text[0] in " >*"))
        and not any(marker.text in text for text in texts)  # it begins messages too
    }
    rest = sorted(repr(marker.text) for marker in openers if not any(text in marker.text for text in barred))
    if any(state.kind == "content" and state.calls for state in format.states.values()):
        rest.append("calls without a marker")
    if not barred:
        listed = ", ".join(rest) or "nothing: it has no calls"
        raise GrammarError(f"{format.name}: no opener can be kept from ordinary text; calls begin with {listed}")
    text = {"type": "any_text", "excludes": list(shortest(barred))}
    return StructuralTag(
        {"type": "structural_tag", "format": text}, tuple(f"still possible: {opener}" for opener in rest)
    )


def __getattr__(name: str) -> Any:
    if name == "TokenConstraint":  # brings the acceptor's tables, which grammars do not need
        from .constraint import TokenConstraint

        return TokenConstraint
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _kept(format: Format, strict: bool, unenforced: tuple[str, ...]) -> None:
    if strict and unenforced:
        raise GrammarError(f"{format.name}: strict: the target does not enforce {', '.join(unenforced)}")


def _tree(format: Format, tools: Tools, choice: str, parallel: bool, reasoning: str) -> Tree:
    for value, kind, fix in ((format, Format, "formats.load(name)"), (tools, Tools, "Tools.of(tools)")):
        if not isinstance(value, kind):
            raise TypeError(f"expected a {kind.__name__}, got {value!r}; {fix} gives one")
    if reasoning not in ("none", "optional", "open"):
        raise ValueError(f"reasoning: expected 'none', 'optional' or 'open', got {reasoning!r}")
    if choice == "none":
        raise GrammarError(f"{format.name}: no call is wanted; suppress(format) gives the tag for that")
    if not any(state.calls for state in format.states.values()):
        raise GrammarError(f"{format.name}: the format has no calls")
    if choice not in ("auto", "required"):
        tool = tools.get(choice)
        if tool is None:
            raise GrammarError(f"choice: no tool named {choice!r}; there are {', '.join(tools.names) or 'none'}")
        tools = Tools({choice: tool})
    if choice != "auto" and not len(tools):
        raise GrammarError("choice: a call is required and there is no tool")
    if reasoning == "open" and "reasoning" not in format.states:
        raise GrammarError(f"{format.name}: reasoning is 'open', but the format has no thoughts")
    schemas = {tool.name: well_formed(tool.parameters, tool.name) for tool in tools}
    tools = Tools({tool.name: Tool(tool.name, schemas[tool.name][0]) for tool in tools})
    calls = Calls(format, tools)
    request = Request(choice == "auto", parallel, reasoning != "none", reasoning == "open")
    root = tree_of(format, calls, request)
    if root == NOTHING:
        raise GrammarError(f"{format.name}: no call of these tools can be written")
    values = calls.values
    unenforced = [*(note for _, notes in schemas.values() for note in notes), *values.unenforced]
    return Tree(root, values.rules, tuple(unenforced), tuple(values.narrowed))
