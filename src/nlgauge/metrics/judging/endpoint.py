"""Requests to an endpoint that speaks as OpenAI's chat completions: limited in time, size and number, and counted."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from nlgauge.core.errors import InputError, SpecError

KEY = "NLGAUGE_JUDGE_KEY"  # the variable of the environment that holds the key
_MOST = 4_000_000  # bytes of an answer
_LONGEST_PAUSE = 60.0  # seconds
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        text: what the model said; None if nothing came.
        tokens: those of the prompt and of the answer, as the endpoint counts them; 0 where it does not.
        fault: why nothing came.
        requests: how often it was asked.
    """

    text: str | None
    tokens: tuple[int, int] = (0, 0)
    fault: str = ""
    requests: int = 1


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follow nothing: the key would go wherever an answer points."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def check_url(url: str) -> None:
    """Refuse a URL that is none, that holds a secret, or that would show the key to everybody on the way.

    Raises:
        SpecError: it is.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        parts, host = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not host:
        raise SpecError("judge:url is no address, expected one such as https://HOST/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise SpecError(f"judge:url holds more than an address; a key stands in the environment alone, as {KEY}")
    if parts.scheme == "http" and host not in _LOOPBACK and os.environ.get(KEY):
        raise SpecError(f"judge:url is http, which would show the key to all between here and {host}; expected https")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint.

    Attributes:
        url: the address before `/chat/completions`.
        timeout: seconds that one request may take.
        attempts: how often a request is made that fails with a reason that may pass.
        sleep: what waits between them.
    """

    url: str
    timeout: float
    attempts: int
    sleep: Callable[[float], object] = time.sleep

    def ask(self, model: str, prompt: str) -> Answer:
        """The answer of a model to one prompt, without sampling.

        Raises:
            InputError: the endpoint refuses the key or the request, so that asking on is of no use.
        """
        check_url(self.url)
        body = {"model": model, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
        fault = ""
        for attempt in range(1, self.attempts + 1):
            answer, fault, pause = self._once(json.dumps(body).encode())
            if answer is not None:
                return Answer(answer[0], answer[1], requests=attempt)
            if attempt < self.attempts:
                self.sleep(min(_LONGEST_PAUSE, 2.0 ** (attempt - 1) if pause is None else pause))
        return Answer(None, fault=fault, requests=self.attempts)

    def _once(self, body: bytes) -> tuple[tuple[str, tuple[int, int]] | None, str, float | None]:
        """The answer and its tokens; or why there is none, and the seconds to wait that the endpoint names."""
        headers = {"Content-Type": "application/json"}
        key = os.environ.get(KEY)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", body, headers)
        try:
            with urllib.request.build_opener(_NoRedirect).open(request, timeout=self.timeout) as response:
                content = response.read(_MOST + 1)
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in _AGAIN:
                    raise InputError(
                        f"{urlsplit(self.url).hostname} answers {error.code} to a request; check url, model and {KEY}"
                    ) from None
                return None, f"status {error.code}", _seconds(error.headers.get("Retry-After"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            return None, type(error).__name__, None  # never its message: it may repeat headers
        if len(content) > _MOST:
            return None, "an answer that is too large", None
        return _content(content), "an answer of another form", None


def _seconds(value: str | None) -> float | None:
    try:
        found = float(value or "")
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None


def _content(content: bytes) -> tuple[str, tuple[int, int]] | None:
    try:
        found = json.loads(content)
        text = found["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    usage = found.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if type(usage) is dict else [0, 0]
    first, second = (one if type(one) is int and one >= 0 else 0 for one in counts)
    return (text, (first, second)) if type(text) is str else None
