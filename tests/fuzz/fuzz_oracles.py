"""What must hold for any output, judged by code of its own: nothing here imports the package.

Events come as plain dicts (`as_plain`), so that what is judged is what a caller sees. JSON is judged by a small
pushdown machine and by `json.loads`; surrogates by the UTF-16 codec.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Plain = dict[str, Any]

WHY_DROPPED = {"marker", "layout", "envelope", "control", "implicit_close"}
_REASONS = dict.fromkeys(("eos", "eos_token", "stop_sequence", "tool_calls", "function_call"), "stop") | {
    "abort": "cancelled"
}
WHY_MALFORMED = {"arguments", "unterminated", "stray", "duplicate", "undeclared", "shape", "limit"}


def as_plain(events: Iterable[object]) -> list[Plain]:
    """The events as dicts: `kind` is the class's name, the rest its fields."""
    said = []
    for event in events:
        cls = type(event)
        fields = {name: getattr(event, name) for name in cls.__match_args__}  # type: ignore[attr-defined]
        said.append({"kind": cls.__name__, **fields})
    return said


def output_of(text: str) -> str:
    """The output as policy 13 has it: pairs joined, lone surrogates replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def text_of(event: Plain) -> str:
    """The output text that the event accounts for."""
    return str(event.get("source", event.get("text", "")))


def merged(events: Iterable[Plain]) -> list[Plain]:
    """Neighbours that differ only in how the output was cut, joined."""
    joined: list[Plain] = []
    for event in events:
        last = joined[-1] if joined else None
        same = last is not None and last["kind"] == event["kind"]
        if same and event["kind"] in ("Content", "Reasoning"):
            same = True
        elif same and event["kind"] in ("Dropped", "Malformed"):
            same = str(last["why"]) == str(event["why"])  # type: ignore[index]
        elif same and event["kind"] == "CallArguments":
            same = last["index"] == event["index"]  # type: ignore[index]
        else:
            same = False
        if same and last is not None:
            for key in ("text", "json", "source"):
                if key in event:
                    last[key] += event[key]
            if event["tokens"] is not None:
                last["tokens"] = (last["tokens"] or 0) + event["tokens"]
        else:
            joined.append(dict(event))
    return joined


def faults(events: list[Plain], output: str, tokens: int | None, reason: str) -> Iterator[str]:
    """Everything that is wrong with one run's events."""
    yield from conservation(events, output)
    yield from life(events, reason)
    yield from fragments(events)
    yield from counted(events, tokens)


def conservation(events: list[Plain], output: str) -> Iterator[str]:
    said = "".join(map(text_of, events))
    if said != output:
        at = next(
            (i for i, (a, b) in enumerate(zip(said, output, strict=False)) if a != b), min(len(said), len(output))
        )
        yield f"conservation: from {at} on the events have {said[at : at + 40]!r}, the output {output[at : at + 40]!r}"


def life(events: list[Plain], reason: str) -> Iterator[str]:
    reasoning, call, calls, complete = False, None, 0, 0
    for number, event in enumerate(events):
        kind = event["kind"]
        where = f"lifecycle: event {number} ({kind})"
        if kind in ("Content", "CallStart", "ReasoningStart") and (reasoning or call is not None):
            yield f"{where} inside reasoning or a call"
        if kind in ("Reasoning", "ReasoningEnd") and not reasoning:
            yield f"{where} outside of reasoning"
        if kind in ("CallArguments", "CallEnd") and (call is None or event["index"] != call):
            yield f"{where} for another call than the open one"
        if kind == "Dropped" and str(event["why"]) not in WHY_DROPPED:
            yield f"{where} with why={event['why']}"
        if kind == "Malformed" and str(event["why"]) not in WHY_MALFORMED:
            yield f"{where} with why={event['why']}"
        if kind in ("Content", "Reasoning", "Malformed") and not event["text"] and not event["tokens"]:
            yield f"{where} without text"
        if kind == "ReasoningStart":
            reasoning = True
        elif kind == "ReasoningEnd":
            reasoning = False
        elif kind == "CallStart":
            if event["index"] != calls or not event["name"] or not event["id"]:
                yield f"{where} with index {event['index']}, name {event['name']!r}, id {event['id']!r}"
            call, calls = event["index"], calls + 1
        elif kind == "CallEnd":
            call = None
            complete += event["complete"]
        elif kind == "Finish":
            if number != len(events) - 1 or reasoning or call is not None:
                yield f"{where} is not the last event, or something is open"
            ended = _REASONS.get(reason, reason)
            wanted = "tool_calls" if ended == "stop" and complete else ended
            if event["calls"] != calls or event["reason"] != wanted:
                yield f"{where} says {event['calls']} calls and {event['reason']}, expected {calls} and {wanted}"
    if not events or events[-1]["kind"] != "Finish":
        yield "lifecycle: no Finish at the end"


def fragments(events: list[Plain]) -> Iterator[str]:
    joined: dict[int, str] = {}
    for event in events:
        if event["kind"] == "CallStart":
            joined[event["index"]] = ""
        elif event["kind"] == "CallArguments":
            joined[event["index"]] = joined.get(event["index"], "") + event["json"]
        elif event["kind"] == "CallEnd":
            text = joined.get(event["index"], "")
            good = json_prefix(text)
            if good < len(text):
                yield f"strict prefix: call {event['index']}: no value continues {text[: good + 1][-30:]!r}"
            whole = is_whole(text)
            if event["complete"] and not whole:
                yield f"complete: call {event['index']} is complete with {text[-60:]!r}"
            if whole and not event["complete"] and text.strip(" \t\r\n")[-1:] not in "0123456789":
                yield f"complete: call {event['index']} is not complete with {text[-60:]!r}"


def counted(events: list[Plain], tokens: int | None) -> Iterator[str]:
    counts = [event["tokens"] for event in events if "tokens" in event]
    if tokens is None:
        if any(count is not None for count in counts):
            yield "tokens: counted in a stream without ids"
    elif any(count is None for count in counts) or sum(counts) != tokens:
        yield f"tokens: {counts} of {tokens}"


def is_whole(text: str) -> bool:
    """Whether a strict parser of another hand reads the text as one value."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.loads(text, parse_constant=refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


_SPACE = " \t\r\n"
_WORDS = ("true", "false", "null")
_NUMBER_NEXT = {  # what may follow in each place of a number
    "-": {"0": "zero", "1-9": "int"},
    "zero": {".": "point", "e": "exp"},
    "int": {"0-9": "int", ".": "point", "e": "exp"},
    "point": {"0-9": "frac"},
    "frac": {"0-9": "frac", "e": "exp"},
    "exp": {"+-": "sign", "0-9": "digits"},
    "sign": {"0-9": "digits"},
    "digits": {"0-9": "digits"},
}


def _number_step(place: str, char: str) -> str | None:
    for chars, target in _NUMBER_NEXT[place].items():
        if chars == "0-9" and char in "0123456789":
            return target
        if chars == "1-9" and char in "123456789":
            return target
        if chars == "e" and char in "eE":
            return target
        if chars in ("0", ".") and char == chars:
            return target
        if chars == "+-" and char in "+-":
            return target
    return None


def json_prefix(text: str) -> int:
    """How many characters of the text some JSON value (RFC 8259) can still continue."""
    stack: list[str] = []
    want = "value"  # value, first, key, colon, more, end
    at, size = 0, len(text)
    while at < size:
        char = text[at]
        if char in _SPACE:
            at += 1
        elif want in ("value", "first") and char in "{[":
            stack.append(char)
            want = "firstkey" if char == "{" else "first"
            at += 1
        elif want == "first" and char == "]":
            stack.pop()
            want = "more" if stack else "end"
            at += 1
        elif want in ("value", "first", "key", "firstkey") and char == '"':
            end, closed = _string(text, at + 1)
            if not closed:
                return end
            at = end
            want = "colon" if want in ("key", "firstkey") else "more" if stack else "end"
        elif want == "firstkey" and char == "}":
            stack.pop()
            want = "more" if stack else "end"
            at += 1
        elif want in ("value", "first") and (char == "-" or (char.isascii() and char.isdigit())):
            place = "-" if char == "-" else "zero" if char == "0" else "int"
            at += 1
            while at < size and (step := _number_step(place, text[at])) is not None:
                place = step
                at += 1
            if at < size and place not in ("zero", "int", "frac", "digits"):
                return at
            want = "more" if stack else "end"
        elif want in ("value", "first") and char in "tfn":
            word = next(word for word in _WORDS if word[0] == char)
            for letter in word:
                if at == size:
                    return size
                if text[at] != letter:
                    return at
                at += 1
            want = "more" if stack else "end"
        elif want == "colon" and char == ":":
            want = "value"
            at += 1
        elif want == "more" and char == ",":
            want = "key" if stack[-1] == "{" else "value"
            at += 1
        elif want == "more" and char == ("}" if stack[-1] == "{" else "]"):
            stack.pop()
            want = "more" if stack else "end"
            at += 1
        else:
            return at
    return size


def _string(text: str, at: int) -> tuple[int, bool]:
    """Reads on in a string: where it stopped, and whether it was closed there."""
    size = len(text)
    while at < size:
        char = text[at]
        if char == '"':
            return at + 1, True
        if char < " ":
            return at, False
        if char == "\\":
            at += 1
            if at == size:
                return size, False
            if text[at] == "u":
                for _ in range(4):
                    at += 1
                    if at == size:
                        return size, False
                    if text[at] not in "0123456789abcdefABCDEF":
                        return at, False
            elif text[at] not in '"\\/bfnrt':
                return at, False
        at += 1
    return size, False
