"""`Parser` turns one output, as it arrives, into events: normalised text and token ids in, the engine's events out.

One parser reads one generated choice. It is sans-IO, holds a bounded amount and is not shared by threads; `Format` and
`Tools` are. Its state can leave the process between any two deltas (`snapshot`, `restore`) or be forked (`copy`).
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict
from typing import TYPE_CHECKING, Final, final

from .engine import snapshot
from .engine.compiled import compiled
from .engine.engine import TEXT, Engine
from .engine.replay import replay
from .errors import LifecycleError
from .events import CallArguments, CallStart, Content, Event, Finish, IdKind
from .formats.table import Format
from .formats.turn import open_turn
from .limits import Limits
from .reading import Reading
from .sealing import reading, seal, unseal
from .surrogates import SURROGATE, joined
from .syntaxes.scanning import FIRST_PRIVATE
from .tokens.detokenizer import Delta
from .tools import Tools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


VERSION: Final = 3
"""Of the snapshots."""

_REASONS: Final = {
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "tool_calls": "stop",
    "function_call": "stop",
    "abort": "cancelled",
}
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def finish_reason(reason: str | None) -> str:
    """The engine's finish reason in this package's words; None, a stream that just stopped, is an error."""
    return "error" if reason is None else _REASONS.get(reason, reason)


@final
class Parser:
    """Reads one model output.

    `tools=None`: the request's tools are unknown, nothing is checked or typed; `Tools.of([])`: it had none, so call
    markers are content. `prompt` is the prompt's text, or its end: it says where the output starts and never makes a
    call, since parts of it are strangers' texts. `prefill` is what the model itself has already said in this turn and
    the output continues: a call open at its end goes on. `start` names the state to start in when no prompt is at hand
    ("reasoning"). `markers` maps marker texts to token ids (`TokenDecoder.markers`).
    `call_ids(index, name)` gives each call its id, once. `undeclared` says what a function is that the request does not
    declare: "call" or "malformed". `limits` bound what is held, in characters.

    `ValueError`: a start that is no text state of the format, another `undeclared`. `TypeError`: no `Format`, `Tools`,
    `Limits` or mapping where one is asked for. What the model writes raises nothing.
    """

    __slots__ = ("_before", "_call_ids", "_engine", "_finished", "_format", "_high", "_ids", "_markers", "_options")

    def __init__(
        self,
        format: Format,
        tools: Tools | None = None,
        *,
        prompt: str = "",
        prefill: str = "",
        start: str | None = None,
        markers: Mapping[str, int] | None = None,
        call_ids: Callable[[int, str], str] | None = None,
        undeclared: str = "call",
        limits: Limits = Limits(),  # noqa: B008  (immutable)
    ) -> None:
        if not isinstance(format, Format):
            raise TypeError(f"Parser: {format!r} is no Format; load one with formats.load or formats.for_model")
        if not isinstance(limits, Limits):
            raise TypeError(f"Parser: limits is {limits!r}; give a Limits(...)")
        if markers is not None and not hasattr(markers, "keys"):
            raise TypeError("Parser: markers is no mapping; give marker text -> token id, as TokenDecoder.markers does")
        if undeclared not in ("call", "malformed"):
            raise ValueError(f"Parser: undeclared is {undeclared!r}; it is 'call' or 'malformed'")
        if start is not None and start not in format.states:
            known = ", ".join(format.states)
            raise ValueError(f"Parser: start is {start!r}, no state of {format.name} (it has {known})")
        if start is not None and format.states[start].kind == "call":
            raise ValueError(f"Parser: start is {start!r}, a call's region; give the text that opens it as prefill")
        if tools is not None and not isinstance(tools, Tools):
            raise TypeError("Parser: tools is no Tools; make one with Tools.of(request['tools'])")
        self._format = format
        self._call_ids = call_ids
        self._options: tuple[str | None, str, Limits] = (start, undeclared, limits)
        self._markers = None if markers is None else dict(markers)
        for name, text in (("prompt", prompt), ("prefill", prefill)):
            if not isinstance(text, str):
                raise TypeError(f"Parser: {name} is {text!r}; expected its text, or leave it out")
        stretches, begun = open_turn(format, prompt)
        if not prompt and not prefill and start is None:
            begun = format.prompt_end
        # What stands before the output, until the first piece comes: the prompt's open turn, then the model's own text.
        self._before: tuple[tuple[str, ...], str] | None = (tuple(map(joined, stretches)), joined(begun + prefill))
        self._ids: dict[int, str] | None = None  # token id -> private character, once the stream is known to have ids
        self._high = ""  # a high surrogate whose other half may follow
        self._finished = False
        self._engine = self._make_engine(frozenset(), tools)

    def _make_engine(self, by_id: frozenset[str], tools: Tools | None) -> Engine:
        start, undeclared, limits = self._options
        with_calls = tools is None or bool(tools)
        form = compiled(self._format, by_id, with_calls)
        return Engine(form, start or form.start, tools, limits, undeclared == "malformed")

    def _events(self) -> list[Event]:
        """What the engine has said, with an id for each call that starts in it.

        A `call_ids` that raises leaves all of it for the next call.
        """
        account = self._engine.account
        while account.unnamed:
            event = account.unnamed[0]
            event.id, event.id_kind = self._id(event)
            del account.unnamed[0]
        out = account.out
        account.out = []
        return out

    def _id(self, call: CallStart) -> tuple[str, IdKind]:
        if self._call_ids is not None:
            make: Callable[[int, str], object] = self._call_ids
            given = make(call.index, call.name)
            if not isinstance(given, str) or not given:
                raise TypeError(
                    f"Parser: call_ids({call.index}, {call.name!r}) returned {given!r}; expected an id, a str"
                )
            return given, IdKind.GIVEN
        if self._format.ids == "alnum9":
            return call.id or _alnum9(call.index, call.name), IdKind.ALNUM9
        return call.id or f"call_{call.index}", IdKind.DEFAULT

    @property
    def tools(self) -> Tools | None:
        """The request's tools, None when they are unknown."""
        return self._engine.account.call.tools

    # --------------------------------------------------------------------------------- feeding

    def feed(self, piece: str | Delta) -> list[Event]:
        """Read on; the events that this piece settles, perhaps none.

        The first piece that is not empty decides whether the stream has tokens. `LifecycleError`: after `finish`, a
        piece of the other kind, or tokens that do not cover the text. What `call_ids` raises passes through; the piece
        has been read by then, and its events come with the next one, an empty one too, or with `finish` called again.
        """
        engine = self._engine
        account = engine.account
        if (
            account.hot_value is not None
            and isinstance(piece, str)
            and piece
            and not self._high
            and account.starts is None
            and account.run_on(piece)
        ):
            if account.unnamed:
                return self._events()
            out = account.out
            account.out = []
            return out
        if self._finished or account.final:
            raise LifecycleError("Parser.feed: the output is finished; make a parser for each output")
        if isinstance(piece, str):
            if account.starts is not None and piece:
                raise LifecycleError("Parser.feed: a piece without tokens in a stream that has them")
            if not (piece.isascii() or piece.isprintable()) or self._high:
                piece = self._normal(piece)
            if not piece:
                return self._events()
            if self._before is not None:
                self._begin(None)
                engine = self._engine
            if engine.mode == TEXT and engine.plain_text(piece):
                return [Content(piece)]
        else:
            if not isinstance(piece, Delta):
                kind = type(piece).__name__
                raise TypeError(f"Parser.feed: {kind} is neither str nor Delta (bytes: decode them incrementally)")
            if not piece.text and not piece.tokens:
                return self._events()
            _require_cover(piece)
            if self._before is not None:
                self._begin(piece)
                engine = self._engine
            account = engine.account
            if account.starts is None:
                raise LifecycleError("Parser.feed: a piece with tokens in a stream that began without them")
            piece = self._tokens(piece)
            if piece and account.hot_value is not None and account.run_on(piece):
                return self._events()
        engine.feed(piece)
        account = engine.account
        if account.unnamed:
            return self._events()
        out = account.out
        account.out = []
        return out

    def finish(self, reason: str | None) -> list[Event]:
        """The output is over; `reason` is the engine's. Exactly once: everything held is settled, `Finish` is last."""
        if self._finished:
            raise LifecycleError("Parser.finish: the output is finished already")
        if reason is not None and not isinstance(reason, str):
            raise TypeError(
                f"Parser.finish: {reason!r} is no finish reason; give the engine's, or None where it has none"
            )
        ending = finish_reason(reason)
        if not self._engine.account.final:
            if self._before is not None:
                self._begin(None)
            if self._high:
                self._high = ""
                self._engine.feed("\ufffd")
            self._engine.finish(ending == "stop")
        account = self._engine.account
        if ending == "stop" and account.complete:
            ending = "tool_calls"
        out = self._events()
        self._finished = True
        out.append(Finish(ending, account.calls, None if account.starts is None else account.reasoning_tokens))
        return out

    # ------------------------------------------------------------------------- text and tokens

    def _normal(self, text: str) -> str:
        """The text with surrogate pairs joined and lone ones replaced; a trailing high one waits."""
        text = self._high + text
        self._high = ""
        if SURROGATE.search(text) is None:
            return text
        if 0xD800 <= ord(text[-1]) < 0xDC00:
            self._high = text[-1]
            text = text[:-1]
        return joined(text)

    def _begin(self, delta: Delta | None) -> None:
        """The first piece is here: the kind of stream is known, what stands before the output can be replayed."""
        assert self._before is not None
        stretches, prefill = self._before
        self._before = None
        if delta is not None:
            texts = self._format.token_texts
            by_id = texts if self._markers is None else frozenset(text for text in texts if text in self._markers)
            self._engine = self._make_engine(by_id, self._engine.account.call.tools)
            self._by_id(by_id)
        engine = self._engine
        account = engine.account
        spell = engine.format.spell
        if delta is not None:
            account.zero = set()
        replay(engine, [spell(text) for text in stretches], spell(prefill))
        if delta is not None:
            account.starts = deque()
            account.controls = deque()
            for event in account.out:
                if isinstance(event, (CallStart, CallArguments)):
                    event.tokens = 0

    def _by_id(self, by_id: frozenset[str]) -> None:
        private = self._engine.format.private
        if self._markers is None:
            self._ids = {}
        else:
            self._ids = {self._markers[text]: private[text] for text in by_id}

    def _tokens(self, delta: Delta) -> str:
        """The delta's text as the engine reads it; where its tokens begin is noted for counting."""
        engine = self._engine
        account = engine.account
        starts, zero, controls, ids = account.starts, account.zero, account.controls, self._ids
        assert starts is not None
        assert zero is not None
        assert controls is not None
        assert ids is not None
        private = engine.format.private
        by_text = self._markers is None
        spelled = engine.format.texts
        text = delta.text
        base = account.offset(len(account.text))
        pieces: list[str] = []
        at = 0
        size = 0
        for token in delta.tokens:
            covered = text[at : token.end]
            at = token.end
            char = private.get(covered) if by_text else ids.get(token.id)
            if char is None:
                if not covered and not self._high:
                    controls.append(base + size)
                    continue
                starts.append(base + size)
                if self._high or SURROGATE.search(covered) is not None:
                    covered = self._normal(covered)
                pieces.append(covered)
                size += len(covered)
                continue
            marker = spelled[ord(char) - FIRST_PRIVATE]
            if (
                self._high and covered and 0xDC00 <= ord(covered[0]) < 0xE000
            ):  # the other half of the text before the marker
                pieces.append(joined(self._high + covered[0]))
                self._high = ""
                covered = covered[1:]
                size += 1
            head, found, tail = covered.partition(marker)
            if not found:
                head, tail = "", covered
            if self._high and not head:  # half a pair, which the marker leaves alone
                self._high = ""
                pieces.append("\ufffd")
                size += 1
            starts.append(base + size)
            if head:
                head = self._normal(head)
                if self._high:
                    head += "\ufffd"
                    self._high = ""
                pieces.append(head)
                size += len(head)
            if not found:
                zero.add(base + size)
            tail = self._normal(tail)
            pieces.append(char + tail)
            size += 1 + len(tail)
        return "".join(pieces)

    # -------------------------------------------------------------------------------- the state

    def snapshot(self) -> bytes:
        """The whole state between two deltas: small, versioned, no pickle. Tools and `call_ids` are given again."""
        start, undeclared, limits = self._options
        state = {
            "format": self._format.digest,
            "options": [start, undeclared, asdict(limits)],
            "markers": self._markers,
            "before": self._before,
            "by_id": None if self._ids is None else sorted(self._engine.format.texts),
            "high": ord(self._high) if self._high else 0,
            "finished": self._finished,
        }
        return seal("Parser", VERSION, state | snapshot.save(self._engine))

    @classmethod
    def restore(
        cls,
        data: bytes,
        format: Format,
        tools: Tools | None = None,
        *,
        call_ids: Callable[[int, str], str] | None = None,
    ) -> Parser:
        """The parser that gave this snapshot. `LifecycleError`: another table or version, or no snapshot at all."""
        state = unseal("Parser", VERSION, data)
        with reading("Parser"):
            if state["format"] != format.digest:
                raise LifecycleError(
                    f"Parser.restore: the snapshot was made with another table than this {format.name}, or another "
                    "version of it; restore with the same table"
                )
            start, undeclared, limits = state["options"]
            markers, by_id, high, finished = (state[key] for key in ("markers", "by_id", "high", "finished"))
            if markers is not None and any(type(id) is not int for id in markers.values()):
                raise TypeError("markers")
            parser = cls(
                format,
                tools,
                start=start,
                markers=markers,
                call_ids=call_ids,
                undeclared=undeclared,
                limits=Limits(**limits),
            )
            match state["before"]:
                case None:
                    parser._before = None
                case [[*stretches], str(prefill)] if all(isinstance(text, str) for text in stretches):
                    parser._before = (tuple(stretches), prefill)
                case _:
                    raise TypeError("before")
            if by_id is not None:
                if not isinstance(by_id, list) or not format.token_texts.issuperset(by_id):
                    raise ValueError("by_id")
                parser._engine = parser._make_engine(frozenset(by_id), tools)
                parser._by_id(frozenset(by_id))
            if type(high) is not int or not (high == 0 or 0xD800 <= high < 0xDC00) or type(finished) is not bool:
                raise ValueError("high, finished")
            parser._high = chr(high) if high else ""
            parser._finished = finished
            snapshot.load(parser._engine, state, tools, with_ids=by_id is not None)
            return parser

    def copy(self) -> Parser:
        """A parser in the same state that goes its own way."""
        return Parser.restore(self.snapshot(), self._format, self._engine.account.call.tools, call_ids=self._call_ids)


def _require_cover(delta: Delta) -> None:
    """`LifecycleError` when the tokens do not cover the text in order; a delta that is refused changes nothing."""
    size = len(delta.text)
    at = 0
    for token in delta.tokens:
        if token.start != at or token.end < at or token.end > size:
            raise LifecycleError(
                f"Parser.feed: token {token.id} covers characters {token.start} to {token.end} of {size}, "
                f"but the tokens before it end at {at}; tokens must cover the text in order"
            )
        at = token.end
    if at != size:
        raise LifecycleError(f"Parser.feed: the tokens end at character {at} of {size}; tokens must cover the text")


def _alnum9(index: int, name: str) -> str:
    """Nine letters and digits that stand for this call in this output."""
    import hashlib

    number = int.from_bytes(hashlib.sha256(f"{index}:{name}".encode()).digest()[:8], "big")
    digits = []
    for _ in range(9):
        number, digit = divmod(number, len(_ALPHABET))
        digits.append(_ALPHABET[digit])
    return "".join(digits)


def read(
    format: Format,
    pieces: Iterable[str | Delta],
    tools: Tools | None = None,
    *,
    prompt: str = "",
    prefill: str = "",
    start: str | None = None,
    finish: str | None = "stop",
    markers: Mapping[str, int] | None = None,
    call_ids: Callable[[int, str], str] | None = None,
    undeclared: str = "call",
    limits: Limits = Limits(),  # noqa: B008  (immutable)
) -> Reading:
    """The reading of a whole output, from its pieces and the engine's finish reason."""
    parser = Parser(
        format,
        tools,
        prompt=prompt,
        prefill=prefill,
        start=start,
        markers=markers,
        call_ids=call_ids,
        undeclared=undeclared,
        limits=limits,
    )
    reading = Reading()
    for piece in pieces:
        for event in parser.feed(piece):
            reading.add(event)
    for event in parser.finish(finish):
        reading.add(event)
    return reading
