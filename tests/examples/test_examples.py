"""The smaller examples, run as a reader would."""

from __future__ import annotations

import asyncio
import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import Content, adapters, contract

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from gateway_args import Event

EXAMPLES = Path(__file__).parents[2] / "examples"
TOOL = {
    "type": "function",
    "function": {"name": "get_tide", "parameters": {"type": "object", "properties": {"port": {"type": "string"}}}},
}
CALL = '<tool_call>\n{"name": "get_tide", "arguments": {"port": "Cork"}}\n</tool_call>'


@pytest.fixture(autouse=True)
def beside_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_a_log_is_read_again_line_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import reread_batch

    log = tmp_path / "log.jsonl"
    model = "Qwen/Qwen3-8B"
    lines: list[Any] = [
        {"model": model, "tools": [TOOL], "text": f"Let me look.\n{CALL}"},
        {"model": model, "tools": [TOOL], "text": CALL[:-20], "finish": "length"},
        {"model": model, "tools": [TOOL], "text": CALL.replace("get_tide", "get_wind")},
        {"model": "nobody/knows-this", "text": ""},
        {"text": "no model"},
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines) + "no JSON\n", encoding="utf-8")
    reread_batch.main(str(log))
    said = capsys.readouterr()
    first, *rest = [json.loads(line) for line in said.out.splitlines()]
    assert (first["content"], first["malformed"]) == ("Let me look.", [])
    assert first["calls"] == [{"name": "get_tide", "arguments": '{"port": "Cork"}', "verdict": "whole"}]
    assert [line["calls"][0]["verdict"] for line in rest[:2]] == ["cut or broken", "unknown tool"]
    assert ["error" in line for line in rest[2:]] == [True, True, True]
    assert said.err == "{'whole': 1, 'cut or broken': 1, 'unknown tool': 1, 'bad line': 3}\n"


def test_a_format_of_ones_own_reads_its_corpus(capsys: pytest.CaptureFixture[str]) -> None:
    import own_format

    report = own_format.check()
    assert report.ok, str(report)
    assert report.cases == 6
    own_format.main()
    assert """Cork. [('get_tide', '{"port": "Cork"}')]""" in capsys.readouterr().out


def test_a_parser_of_ones_own_keeps_the_contract_and_a_fault_in_it_is_seen() -> None:
    import own_parser

    report = own_parser.check()
    assert report.ok, str(report)

    class Swallows(own_parser.OwnParser):
        def feed(self, piece: str) -> Iterator[Event]:
            return (event for event in super().feed(piece) if event != Content("."))

    assert not contract.check(lambda case: Swallows(), contract.parse(own_parser.CORPUS)).ok


def chunk(text: str | None, finish: str | None = None, index: int = 0) -> SimpleNamespace:
    choice = SimpleNamespace(index=index, delta=SimpleNamespace(content=text), finish_reason=finish)
    return SimpleNamespace(id="chatcmpl-9", created=1, choices=[choice])


async def streamed(chunks: list[Any]) -> AsyncIterator[Any]:
    for each in chunks:
        yield each


def hooked(handler: Any, model: str, chunks: list[Any]) -> list[Any]:
    async def collect() -> list[Any]:
        data = {"model": model, "tools": [TOOL]}
        return [each async for each in handler.async_post_call_streaming_iterator_hook(None, streamed(chunks), data)]

    return asyncio.run(collect())


def test_the_proxy_hook_turns_text_into_tool_calls() -> None:
    from gateway_args.integrations.litellm import ToolCalls

    texts = [f"Hi.\n{CALL}"[at : at + 7] for at in range(0, len(CALL) + 4, 7)]
    usage = SimpleNamespace(choices=[], usage=1)
    engine = [chunk(None), *(chunk(text) for text in texts), chunk("", "stop"), usage]
    handler = ToolCalls({"my-qwen": "qwen3"}, make=dict)
    *said, last = hooked(handler, "my-qwen", engine)
    assert last is usage
    answer = adapters.fold("chat", said)["choices"][0]
    (call,) = answer["message"]["tool_calls"]
    assert call["function"] == {"name": "get_tide", "arguments": '{"port": "Cork"}'}
    assert (answer["message"]["content"], answer["finish_reason"]) == ("Hi.", "tool_calls")
    assert {each["id"] for each in said} == {"chatcmpl-9"}


def test_the_proxy_hook_keeps_choices_apart_ends_what_the_engine_left_open_and_passes_other_models() -> None:
    from gateway_args.integrations.litellm import ToolCalls

    handler = ToolCalls(make=dict)
    engine = [chunk("One ", index=0), chunk("Two ", index=1), chunk(CALL, "stop", index=1), chunk("and", index=0)]
    answers = adapters.fold("chat", hooked(handler, "Qwen/Qwen3-8B", engine))["choices"]
    assert [(each["message"]["content"], each["finish_reason"]) for each in answers][1] == ("Two ", "tool_calls")
    assert (answers[0]["message"]["content"], answers[0]["finish_reason"]) == ("One and", "length")
    assert hooked(handler, "nobody/knows-this", engine) == engine


def whole(content: str | None, finish: str = "stop", **fields: Any) -> SimpleNamespace:
    message = SimpleNamespace(role="assistant", content=content, **fields)
    choice = SimpleNamespace(index=0, message=message, finish_reason=finish)
    return SimpleNamespace(id="chatcmpl-9", created=1, choices=[choice])


def answered(handler: Any, model: str, response: Any) -> Any:
    data = {"model": model, "tools": [TOOL]}
    return asyncio.run(handler.async_post_call_success_hook(data, None, response))


def test_the_proxy_hook_reads_whole_answers() -> None:
    import litellm_hook

    answer = answered(litellm_hook.handler, "my-qwen", whole(f"<think>\nHm.\n</think>\n\nHi.\n{CALL}", audio=None))
    (choice,) = answer.choices
    assert choice.finish_reason == "tool_calls"
    assert (choice.message.content, choice.message.reasoning_content, choice.message.audio) == ("Hi.", "Hm.", None)
    (call,) = choice.message.tool_calls
    assert call["function"] == {"name": "get_tide", "arguments": '{"port": "Cork"}'}
    plain = whole(CALL)
    assert answered(litellm_hook.handler, "nobody/knows-this", plain).choices[0].message.content == CALL
    completion = SimpleNamespace(choices=[SimpleNamespace(text="a", finish_reason="stop")])
    assert answered(litellm_hook.handler, "my-qwen", completion) is completion
    assert answered(litellm_hook.handler, "my-qwen", whole(None, "length")).choices[0].finish_reason == "length"


@pytest.mark.filterwarnings("ignore")  # LiteLLM's own
def test_the_proxy_hook_gives_a_real_proxy_its_own_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would ask the network for prices
    pytest.importorskip("litellm", reason="needs LiteLLM: pip install litellm")
    from litellm.types.utils import ModelResponse, ModelResponseStream  # type: ignore[import-not-found, unused-ignore]

    import gateway_args.integrations.litellm as integration

    integration = importlib.reload(integration)  # another test may have imported it without LiteLLM
    handler = integration.ToolCalls()
    assert isinstance(handler, integration.Base)
    said = hooked(handler, "Qwen/Qwen3-8B", [chunk(CALL), chunk("", "stop")])
    assert all(isinstance(each, ModelResponseStream) for each in said)
    (start,) = [call for each in said for call in each.choices[0].delta.tool_calls or [] if call.function.name]
    assert start.function.name == "get_tide"
    assert said[-1].choices[0].finish_reason == "tool_calls"
    message = {"role": "assistant", "content": f"Hi.\n{CALL}"}
    response = ModelResponse(choices=[{"index": 0, "message": message, "finish_reason": "stop"}])
    (choice,) = answered(handler, "Qwen/Qwen3-8B", response).choices
    assert (choice.message.content, choice.finish_reason) == ("Hi.", "tool_calls")
    assert choice.message.tool_calls[0].function.arguments == '{"port": "Cork"}'
