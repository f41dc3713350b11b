"""The example in docs/embedding.md is one program, and prints what the guide says that it prints."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GUIDE = Path(__file__).parents[2] / "docs" / "embedding.md"
BLOCKS = re.compile(r"^```(python|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_the_guides_example_runs_and_prints_what_the_guide_says(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    blocks = BLOCKS.findall(GUIDE.read_text(encoding="utf-8"))
    assert {kind for kind, _ in blocks} == {"python", "text"}
    for kind, body in blocks:
        if kind == "python":
            assert capsys.readouterr().out == ""  # the block before printed and the guide did not show it
            exec(compile(body, str(GUIDE), "exec", dont_inherit=True), names)
        else:
            assert capsys.readouterr().out == body


def guide() -> dict[str, Any]:
    """The names that the guide's program defines."""
    names: dict[str, Any] = {"__name__": "guide"}
    for kind, body in BLOCKS.findall(GUIDE.read_text(encoding="utf-8")):
        if kind == "python":
            exec(compile(body, str(GUIDE), "exec", dont_inherit=True), names)
    return names


async def half_an_answer(names: dict[str, Any], failure: BaseException) -> AsyncIterator[Any]:
    yield names["Step"](0, "The tide ")
    raise failure


@pytest.mark.parametrize("failure", [ConnectionError("engine"), asyncio.CancelledError()])
def test_the_guides_gateway_tells_a_client_of_a_lost_engine_and_stops_for_one_that_hung_up(
    failure: BaseException,
) -> None:
    names = guide()
    sent: list[bytes] = []

    async def send(data: bytes) -> None:
        sent.append(data)

    request = names["adapters"].request("chat", {**names["BODY"], "n": 1})
    answer = names["answer"](request, "", half_an_answer(names, failure), send)
    if isinstance(failure, ConnectionError):
        asyncio.run(answer)
        assert b'{"error":{' in b"".join(sent)
        assert sent[-1].endswith(b"data: [DONE]\n\n")
    else:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(answer)
        assert b"[DONE]" not in b"".join(sent)
