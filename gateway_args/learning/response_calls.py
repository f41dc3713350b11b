"""The call syntax of a response template's field of calls: from what stands behind its opener, and its content."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import FormatError
from .regex_parts import Around, Boundary, Group, Literal, Row, Run, Space, Word
from .response_fields import Complaints

if TYPE_CHECKING:
    from .response_fields import Field, Places


class CallSyntax(Complaints):
    """Says a field's calls in one of our syntaxes."""

    def syntax(self, path: str, entry: Field, call: Places, text: str, behind: list[Row]) -> dict[str, Any]:
        """The call syntax behind an opener with this text."""
        content = entry.spec.get("content", "text")
        args = entry.spec.get("content_args", {})
        each = bool(entry.spec.get("transform_each", False))
        match content:
            case "json":
                return self._json(path, call, args, each, behind)
            case "python-call-list":
                self._no_header(path, behind)
                if call.name and (call.name, call.arguments) != (("name",), ("arguments",)):
                    self.fail(f"{path}.transform", "a call list's items have name and arguments")
                return {"syntax": "python"}
            case "xml-inline":
                return self._tagged(path, call, args, text, behind)
            case "kv-lines":
                return self._lines(path, call, args, behind)
        raise FormatError(f"{self.name}: {path}.content: {content}: no call syntax reads it")

    def _lines(self, path: str, call: Places, args: Mapping[str, Any], behind: list[Row]) -> dict[str, Any]:
        """The name from the opener's pattern, a line for each parameter."""
        if call.arguments != ("content",):
            self.fail(f"{path}.transform.function.arguments", "expected '{content}': the lines' keys and values")
        if not args.get("strip", True):
            self.fail(f"{path}.content_args.strip", "keys and values with the white space around them")
        self._value_parser(path, args)
        headers = self._headers(path, behind, (*call.name, *call.id))
        if not headers or not all("{name}" in header for header in headers):
            self.fail(f"{path}.transform.function.name", "the opener's pattern has no such group")
        syntax: dict[str, Any] = {"syntax": "lines", "header": [header.removesuffix("{ws}") for header in headers]}
        for key, argument, usual in (("separator", "kv_sep", ":"), ("line", "line_sep", "\n")):
            text = args.get(argument, usual)
            if not isinstance(text, str) or not (text if key == "line" else text.strip()):
                self.fail(f"{path}.content_args.{argument}", f"no text that parts one from the next: {text!r}")
            if text != usual:
                syntax[key] = text
        return syntax

    def _value_parser(self, path: str, args: Mapping[str, Any]) -> None:
        """What reads one value: as its text, which the schema types, or as JSON."""
        parser = args.get("value_parser")
        name = parser.get("name", "text") if isinstance(parser, Mapping) else parser
        if name not in (None, "json", "text"):
            self.fail(f"{path}.content_args.value_parser", "values are texts or JSON")

    def _json(self, path: str, call: Places, args: Mapping[str, Any], each: bool, behind: list[Row]) -> dict[str, Any]:
        root = () if each else ("content",)
        dialect = bool(args.get("unquoted_keys")) or bool(args.get("string_delims"))
        if call.arguments == ("content",) and not each:
            return self._framed(path, call, args, behind)
        if dialect:
            self.fail(f"{path}.content_args", "a dialect of JSON in the object that names the function")
        syntax: dict[str, Any] = {"syntax": "json"}
        if each:
            syntax["shape"] = "list"
        if call.whole:
            if call.whole != root:
                self.fail(f"{path}.transform.function", f"'{{{'.'.join(call.whole)}}}': a call inside an object")
            syntax |= {"name": ["name"], "arguments": ["arguments"]}
        else:
            for key in ("name", "arguments", "id"):
                where = getattr(call, key)
                if not where and key == "id":
                    continue
                if where[: len(root)] != root or len(where) != len(root) + 1:
                    self.fail(f"{path}.transform.function.{key}", f"'{{{'.'.join(where)}}}' is no key of the object")
                syntax[key] = [where[-1]]
        headers = self._headers(path, behind, ())
        if headers:
            syntax["header"] = headers
        return syntax

    def _framed(self, path: str, call: Places, args: Mapping[str, Any], behind: list[Row]) -> dict[str, Any]:
        """The name from the opener's pattern, the arguments as the field's text."""
        headers = self._headers(path, behind, (*call.name, *call.id))
        if not all("{name}" in header for header in headers) or not headers:
            self.fail(f"{path}.transform.function.name", "the opener's pattern has no such group")
        delimiters = args.get("string_delims") or []
        whole = [_is_whole(row, call.id) for row in behind]
        if call.id and not all(whole) and not all("{id}" in header for header in headers):
            self.fail(f"{path}.transform.id", "the opener's pattern has no such group")
        if not delimiters and not args.get("unquoted_keys"):
            return {"syntax": "framed", "header": headers, **({"header_is_id": True} if all(whole) else {})}
        if not args.get("unquoted_keys"):
            self.fail(f"{path}.content_args.string_delims", "other quotes without unquoted keys")
        if len(delimiters) > 1:
            self.fail(f"{path}.content_args.string_delims", "more than one kind of quotes")
        opens, closes = delimiters[0] if delimiters else ('"', '"')
        if opens != closes:
            self.fail(f"{path}.content_args.string_delims", "quotes that open and close with different texts")
        prefix, _, rest = headers[0].partition("{name}")
        if len(headers) > 1 or rest not in ("", "{ws}") or "{" in prefix.replace("{ws}", ""):
            self.fail(f"{path}.open_pattern", "more than a literal and the name before bare keys")
        return {"syntax": "gemma", "delimiter": opens, "prefix": prefix.replace("{ws}", "")}

    def _no_header(self, path: str, behind: list[Row]) -> None:
        if any(not isinstance(part, Space | Boundary) for row in behind for part in row):
            self.fail(f"{path}.open_pattern", "text between the opener and the list")

    def _headers(self, path: str, behind: list[Row], wanted: tuple[str, ...]) -> list[str]:
        """What stands behind the opener's text, as header patterns."""
        found = []
        for row in behind:
            header = self._pattern(f"{path}.open_pattern", row, wanted)
            header = header if header != "{ws}" else ""
            if header:
                found.append(header)
        return list(dict.fromkeys(found))

    def _pattern(self, path: str, row: Row, wanted: tuple[str, ...]) -> str:
        spec = ""
        for n, part in enumerate(row):
            match part:
                case Literal(text):
                    if "{" in text or "}" in text:
                        self.fail(path, "a brace in a header's text")
                    spec += text
                case Space():
                    spec += "{ws}"
                case Group(name):
                    place = "name" if wanted[:1] == (name,) else "id" if name in wanted[1:] else "skip"
                    spec += f"{{{place}}}"
                case Run(without):
                    spec += "{attributes}" if set(without) & set("<>") else "{any}"
                case Word():
                    spec += "{skip}"
                case Around():
                    pass
                case Boundary():
                    around = [part for part in row[max(0, n - 1) : n + 2] if isinstance(part, Run)]
                    if not around and spec and n + 1 < len(row) and not isinstance(row[n + 1], Space):
                        self.fail(path, "a word boundary that is not next to a run")
                case _:
                    self.fail(path, "the beginning of the output inside an opener")
        return spec

    def _tagged(self, path: str, call: Places, args: Mapping[str, Any], text: str, behind: list[Row]) -> dict[str, Any]:
        where = f"{path}.content_args.tag_pattern"
        if not isinstance(args.get("tag_pattern"), str):
            self.fail(where, "missing")
        if args.get("merge_duplicates"):
            self.fail(f"{path}.content_args.merge_duplicates", "one parameter given twice as a list")
        if call.arguments != ("content",):
            self.fail(f"{path}.transform.function.arguments", "expected '{content}': the tags' keys and values")
        self._value_parser(path, args)
        syntax: dict[str, Any] = {"syntax": "tagged"}
        headers = self._headers(path, behind, (*call.name, *call.id))
        if not headers or not all("{name}" in header for header in headers):
            self.fail(f"{path}.transform.function.name", "the opener's pattern has no such group")
        inner = _inner_tag(headers[0])
        if inner is not None and len(headers) == 1 and text.startswith("<"):
            opens, rest = inner
            tag = re.sub(r"\W+$", "", opens[1:])
            syntax["inner"] = (opens, f"</{tag}>")
            headers = [rest]
        syntax["header"] = [header.removesuffix("{ws}") for header in headers]
        rows = self.rows(where, args["tag_pattern"])
        if len(rows) > 8:
            self.fail(where, "more than eight alternatives")
        patterns, rests = [], []
        for row in rows:
            groups = [part.name for part in row if isinstance(part, Group)]
            if [name for name in groups if name in ("key", "value")] != ["key", "value"]:
                self.fail(where, f"expected the groups key and value in this order, got {', '.join(groups)}")
            at = next(n for n, part in enumerate(row) if part == Group("value"))
            patterns.append(row[:at])
            rests.append(row[at + 1 :])
        if len(set(rests)) > 1:
            self.fail(where, "several closers of a value")
        close, around = rests[0], False
        if close and isinstance(close[0], Space):
            close, around = close[1:], True
        if len(close) != 1 or not isinstance(close[0], Literal):
            self.fail(where, "a value's closer that is more than one literal text")
        syntax["value_close"] = close[0].text
        openers: list[str] = []
        for row in patterns:
            opener = self._pattern(where, row, ("key",)).removesuffix("{ws}")
            found = re.fullmatch(r"(.*\{name\}</[^{}<>]+>)(?:\{ws\})?(<[^{}<>]+>)", opener)
            if found is not None:
                opener, syntax["value_open"] = found[1], found[2]
            openers.append(opener)
        syntax["parameter"] = list(dict.fromkeys(openers))
        if around:
            syntax["around"] = "\n"
        syntax["between"] = "\n"
        return syntax


def _is_whole(row: Row, id: tuple[str, ...]) -> bool:
    """Whether the group of the call's id holds all of the opener's pattern but its last text."""
    rest = [part for part in row if not isinstance(part, Space | Boundary)]
    if len(id) != 1 or len(rest) < 3 or rest[0] != Around(id[0], ends=False):
        return False
    return rest[-2] == Around(id[0], ends=True) and isinstance(rest[-1], Literal)


def _inner_tag(header: str) -> tuple[str, str] | None:
    """A header that opens a tag of its own, such as `{ws}<function={name}>`: the tag's text, and the rest."""
    found = re.fullmatch(r"(?:\{ws\})?(<\w[^{}<>]*)(\{name\}.*)", header)
    return (found[1], found[2]) if found is not None else None
