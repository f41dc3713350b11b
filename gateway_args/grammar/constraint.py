"""A constraint on the tokens that a model may write next, for whoever runs the decoding loop.

Over any vocabulary: what the JSON acceptor can continue (our own, in plain Python), or what a JSON Schema or a grammar
allows (llguidance's, the extra `guided`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, final

from ..errors import GatewayArgsError
from ..strict_json.acceptor import Acceptor
from .json_tokens import JsonState, json_tokens

if TYPE_CHECKING:
    import llguidance
    import tiktoken

    from . import LarkGrammar


class _Guide(Protocol):
    """What a constraint stands on."""

    def mask(self) -> bytes: ...
    def can_end(self) -> bool: ...
    def take(self, id: int) -> bool: ...
    def rollback(self, count: int) -> None: ...


@final
class TokenConstraint:
    """What tokens may come next, step by step.

    `constraint` is an `Acceptor` (any JSON value, from where it stands), a JSON Schema (a mapping), or what
    `grammar.lark` gave for the markers that are special tokens of this vocabulary. `eos` is the token that ends the
    output, allowed where `is_complete`. Masks of the JSON acceptor are kept by the vocabulary, so the first constraints
    over one cost more than the later ones.
    """

    __slots__ = ("_count", "_eos", "_guide", "_size", "_vocabulary", "unenforced")

    def __init__(
        self,
        encoding: tiktoken.Encoding,
        constraint: Acceptor | Mapping[str, Any] | LarkGrammar,
        *,
        eos: int | None = None,
    ) -> None:
        from . import LarkGrammar

        self._vocabulary = encoding
        self._size = encoding.n_vocab
        self._eos = eos
        self._count = 0
        self.unenforced: tuple[str, ...] = ()
        """Where more is allowed than the schema says."""
        match constraint:
            case Acceptor():
                self._guide: _Guide = _JsonGuide(encoding, constraint)
            case LarkGrammar():
                self._guide = _LarkGuide(encoding, constraint.text)
                self.unenforced = constraint.unenforced
            case Mapping():
                text, self.unenforced = _schema_grammar(constraint)
                self._guide = _LarkGuide(encoding, text)
            case _:
                raise TypeError(f"expected an Acceptor, a JSON Schema or a LarkGrammar, got {constraint!r}")

    @property
    def is_complete(self) -> bool:
        """Whether the output may end here."""
        return self._guide.can_end()

    def mask(self) -> bytes:
        """The tokens that may come next, a bit each: token `i` is bit `i % 8` of byte `i // 8`.

        The length is a multiple of four bytes, so the same bytes are a mask of 32-bit words in little-endian order.
        """
        mask = self._guide.mask()
        if self._eos is None:
            return mask
        at, bit = self._eos >> 3, 1 << (self._eos & 7)
        found = bytearray(mask.ljust((at // 4 + 1) * 4, b"\0"))
        found[at] = found[at] | bit if self.is_complete else found[at] & ~bit
        return bytes(found)

    def allowed(self) -> list[int]:
        """The ids of the tokens that may come next, in order."""
        bits = int.from_bytes(self.mask(), "little")
        return [at for at, digit in enumerate(reversed(f"{bits:b}")) if digit == "1"]

    def advance(self, id: int) -> None:
        """Takes the token that was chosen; `ValueError` when it may not come here, and nothing changes."""
        if id == self._eos and self.is_complete:
            return
        if not self._guide.take(id):
            raise ValueError(f"token {id} may not come here; allowed() lists those that may")
        self._count += 1

    def rollback(self, count: int) -> None:
        """Takes back the last tokens, as many as `count`."""
        if not 0 <= count <= self._count:
            raise ValueError(f"rollback: {count} tokens, but {self._count} were taken")
        self._guide.rollback(count)
        self._count -= count


class _JsonGuide:
    """The JSON acceptor over a vocabulary."""

    __slots__ = ("_states", "_tokens")

    def __init__(self, encoding: tiktoken.Encoding, acceptor: Acceptor) -> None:
        self._tokens = json_tokens(encoding)
        self._states: list[JsonState] = [self._tokens.start(acceptor)]

    def mask(self) -> bytes:
        return self._tokens.mask(self._states[-1])

    def can_end(self) -> bool:
        return self._states[-1].can_end

    def take(self, id: int) -> bool:
        state: JsonState | None = self._states[-1]
        data = self._tokens.bytes_of.get(id)
        if not data:
            return False
        for byte in data:
            state = state.after(byte) if state is not None else None
        if state is None:
            return False
        self._states.append(state)
        return True

    def rollback(self, count: int) -> None:
        if count:
            del self._states[-count:]


class _LarkGuide:
    """llguidance's matcher over a vocabulary."""

    __slots__ = ("_end", "_matcher")

    def __init__(self, encoding: tiktoken.Encoding, grammar: str) -> None:
        from ..errors import GrammarError

        self._end = encoding.n_vocab
        self._matcher = _matcher(encoding, grammar)
        if self._matcher.is_error():
            raise GrammarError(f"llguidance does not take the grammar: {self._matcher.get_error()}")

    def mask(self) -> bytes:
        mask = bytearray(self._matcher.compute_bitmask())
        mask[self._end >> 3] &= ~(1 << (self._end & 7))
        return bytes(mask)

    def can_end(self) -> bool:
        return self._matcher.is_accepting()

    def take(self, id: int) -> bool:
        known = 0 <= id < self._end
        return known and self._matcher.validate_tokens([id]) == 1 and self._matcher.consume_token(id)

    def rollback(self, count: int) -> None:
        if count:
            self._matcher.rollback(count)


def _matcher(encoding: tiktoken.Encoding, grammar: str) -> llguidance.LLMatcher:
    tokenizer = _tokenizer(encoding)
    from llguidance import LLMatcher

    return LLMatcher(tokenizer, grammar)


@lru_cache(maxsize=8)
def _tokenizer(encoding: tiktoken.Encoding) -> llguidance.LLTokenizer:
    try:
        from llguidance.tiktoken import lltokenizer_from_encoding
    except ImportError:
        raise GuidanceMissing(
            "constraints by schema or grammar stand on llguidance, which is not installed: "
            "pip install 'gateway-args[guided]'"
        ) from None
    # It needs a token that ends outputs: one that the vocabulary has not, since any other may be a marker.
    return lltokenizer_from_encoding(encoding, n_vocab=encoding.n_vocab + 1, eos_token=encoding.n_vocab)


class GuidanceMissing(GatewayArgsError, ImportError):
    """llguidance is not installed."""


def _schema_grammar(schema: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    from .lark_text import lark_of
    from .nodes import Json, Tree

    text, unenforced, _ = lark_of(Tree(Json(schema, "schema")), {})
    return text, unenforced
