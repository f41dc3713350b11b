"""Early refusal: the stream decoder beside the builder says from which character on no valid value goes on so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from ..decoder import Refused, StreamDecoder, StreamLimits

if TYPE_CHECKING:
    from ..limits import Limits

_UNBOUNDED = 1 << 62  # the builder has the bound on the text


@final
class Early:
    """The decoder's verdict on the text so far."""

    __slots__ = ("_decoder",)

    def __init__(self, type: Any, strict: bool, limits: Limits) -> None:
        room = _UNBOUNDED if limits.max_arguments is None else limits.max_arguments * 4
        bounds = StreamLimits(max_bytes=max(1, room), max_depth=min(255, max(1, limits.max_depth)), max_strings=None)
        self._decoder: StreamDecoder[Any] = StreamDecoder(type, limits=bounds, strict=strict)

    def feed(self, text: str) -> tuple[int, str]:
        """How many of these characters are sound, and what is wrong with the next one, if anything is."""
        data = text.encode("utf-8", "surrogatepass")
        before = self._decoder.offset
        outcome = self._decoder.push(data)
        if isinstance(outcome, Refused):
            return len(data[: outcome.at_byte - before].decode("utf-8", "ignore")), outcome.message
        return len(text), ""
