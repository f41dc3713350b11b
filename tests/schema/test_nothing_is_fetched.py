"""A schema is a stranger's: what it refers to elsewhere is never asked for over the network."""

from __future__ import annotations

import contextlib
import socketserver
import threading
from typing import TYPE_CHECKING, Any

import pytest

from gateway_args import Parser, PartialStream, StreamDecoder, Tools, formats, grammar

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """An address, and what was asked there."""
    asked: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline().decode())
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as listening:
        threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_address[1]}/schema.json", asked
        listening.shutdown()


def schemas(address: str) -> list[dict[str, Any]]:
    return [
        {"$ref": address},
        {"$schema": address, "type": "object"},
        {"type": "object", "properties": {"a": {"$ref": address}}},
        {"type": "object", "properties": {"a": {"$id": address, "$ref": "other.json"}}},
        {"type": "object", "propertyNames": {"$ref": address}},
        {"type": "object", "properties": {"a": {"anyOf": [{"$ref": address}, {"type": "integer"}]}}},
    ]


@pytest.mark.parametrize("number", range(6))
def test_no_reference_is_fetched(number: int, server: tuple[str, list[str]]) -> None:
    address, asked = server
    schema = schemas(address)[number]
    with contextlib.suppress(ValueError):  # it cannot be compiled
        stream = StreamDecoder(schema)
        stream.push('{"a": 1}')
        stream.finish()
    with contextlib.suppress(ValueError):
        partial = PartialStream(schema)
        partial.feed('{"a": 1}')
        partial.finish()
    tools = Tools.of([{"type": "function", "function": {"name": "f", "parameters": schema}}])
    for name in ("qwen3_coder", "minimax_m3", "hermes"):
        grammar.lark(formats.load(name), tools, choice="required")
        parser = Parser(formats.load(name), tools)
        parser.feed("<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>")
        parser.finish("stop")
    assert asked == []
