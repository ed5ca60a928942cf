"""A small server on loopback that answers as an endpoint does, or misbehaves: the one exception to "no sockets"."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Server:
    """What it does next stands in `plan`, one entry for each request; then it rates."""

    def __init__(self) -> None:
        self.plan: list[Any] = []
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.counts = True  # tokens, as most endpoints do

    def reply(self, prompt: str) -> str:
        """A rating that depends on the prompt alone: the share of words of the answer that stand in the input.

        Of two answers the one with the larger share wins.
        """
        texts = re.findall("<(input|answer(?: [AB])?)>\n(.*?)\n</", prompt, re.S)
        source, *answers = (set(text.split()) for _, text in texts)
        shares = [round(100 * len(source & answer) / max(1, len(answer)), 2) for answer in answers]
        if len(shares) == 1:
            return json.dumps({"score": shares[0]})
        return json.dumps({"verdict": "tie" if shares[0] == shares[1] else "AB"[shares[1] > shares[0]]})


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def drip(self, in_head: bool) -> None:
            """A byte now and then, for ever."""
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX: " + (b"" if in_head else b"\r\n\r\n"))
                while True:
                    self.wfile.write(b" ")
                    time.sleep(0.02)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.seen.append(asked)
            state.keys.append(self.headers.get("Authorization"))
            step = state.plan.pop(0) if state.plan else None
            said = step["say"] if isinstance(step, dict) else None
            said = state.reply(asked["messages"][0]["content"]) if step is None else said
            content = {"choices": [{"message": {"content": said}}]}
            if state.counts:
                content["usage"] = {"prompt_tokens": 7, "completion_tokens": 2}
            body = step if isinstance(step, bytes) else json.dumps(content).encode()
            if step == "slow":
                time.sleep(0.6)
            if step in ("head drips", "body drips"):
                return self.drip(step == "head drips")
            self.send_response(step if isinstance(step, int) else 200)
            if step == 302:
                self.send_header("Location", f"{state.url}/elsewhere")
            if step == 429:
                self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(body) + (50 if step == "half" else 0)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if step == "half" else body)

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.daemon_threads = True
    state.url = f"http://127.0.0.1:{found.server_port}/v1"  # type: ignore[attr-defined]
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield state
    found.shutdown()
    found.server_close()
