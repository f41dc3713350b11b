"""A test server on loopback that answers a POST with bytes laid down for the request's `model`."""

from __future__ import annotations

import json
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE = 7  # bytes a write: frames arrive cut, also inside of characters


class Server:
    """`url` to talk to; `answers` is model name -> (content type, body)."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: dict[str, tuple[str, bytes]] = {}

    def stream(self, model: str, data: bytes) -> str:
        self.answers[model] = ("text/event-stream; charset=utf-8", data)
        return model

    def whole(self, model: str, data: bytes) -> str:
        self.answers[model] = ("application/json", data)
        return model


@contextmanager
def serving() -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            kind, body = server.answers[request["model"]]
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("transfer-encoding", "chunked")
            self.send_header("connection", "close")
            self.end_headers()
            with suppress(ConnectionError):  # a client may hang up at `[DONE]`
                for at in range(0, len(body), SLICE):
                    piece = body[at : at + SLICE]
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = Server(f"http://127.0.0.1:{http.server_address[1]}")
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
