"""Requests to an endpoint that speaks as OpenAI's chat completions: limited in time, size and number, and counted."""

from __future__ import annotations

import http.client
import io
import ipaddress
import json
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import unique

KEY = "NLGAUGE_JUDGE_KEY"  # the variable of the environment that holds the key
_MOST = 4_000_000  # bytes of an answer
_LONGEST_PAUSE = 60.0  # seconds
_LEAST_KEY = 4  # characters; a shorter one is no secret, and may stand in any answer
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


class _Until(io.RawIOBase):
    """What a socket receives until a moment: a timeout of the socket would begin anew with every byte."""

    def __init__(self, raw: Any, held: socket.socket, end: float) -> None:
        self._raw, self._held, self._end = raw, held, end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._held.settimeout(left)
        found: int | None = self._raw.readinto(buffer)
        return found

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    """An answer that has come, its head too, before a moment."""

    def __init__(self, sock: socket.socket, *more: Any, end: float, **named: Any) -> None:
        super().__init__(sock, *more, **named)
        self.fp = io.BufferedReader(_Until(self.fp.detach(), sock, end))


class _Ending:
    """Makes connections whose answers end at a moment, those of a proxy too."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self._end = end

    def _made_by(self, kind: Any) -> Any:
        def opened(host: str, **named: Any) -> Any:
            connection = kind(host, **named)
            connection.response_class = partial(_Response, end=self._end)
            return connection

        return opened


class _Plain(_Ending, urllib.request.HTTPHandler):
    """By HTTP."""

    def do_open(self, http_class: Any, req: urllib.request.Request, **options: Any) -> Any:
        return super().do_open(self._made_by(http_class), req, **options)


class _Secret(_Ending, urllib.request.HTTPSHandler):
    """By HTTPS."""

    def do_open(self, http_class: Any, req: urllib.request.Request, **options: Any) -> Any:
        return super().do_open(self._made_by(http_class), req, **options)


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
    if parts.scheme == "http" and not _is_here(host) and _key():
        raise SpecError(f"judge:url is http, which would show the key to all between here and {host}; expected https")


def _is_here(host: str) -> bool:
    """Whether a host is this machine, by its address or as `localhost`: no proxy is asked for it."""
    try:
        address = ipaddress.ip_address(host)
        return (getattr(address, "ipv4_mapped", None) or address).is_loopback
    except ValueError:
        return host == "localhost"


def _key() -> str:
    return os.environ.get(KEY, "").strip()


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint.

    Attributes:
        url: the address before `/chat/completions`.
        timeout: seconds in which the whole answer to a request has come.
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
        key = _key()
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url.rstrip('/')}/chat/completions", body, headers)
        end = time.monotonic() + self.timeout
        # A proxy for this machine would be another one, which reads the key: there is none.
        proxies: dict[str, str] | None = {} if _is_here(urlsplit(self.url).hostname or "") else None
        handlers = (_NoRedirect, urllib.request.ProxyHandler(proxies), _Plain(end), _Secret(end))
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=self.timeout) as response:
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
        return _content(content, key), "an answer of another form", None


def _seconds(value: str | None) -> float | None:
    try:
        found = float(value or "")
    except ValueError:
        return None
    return found if 0 <= found < float("inf") else None


def _content(content: bytes, key: str) -> tuple[str, tuple[int, int]] | None:
    """What the model said and the tokens that it took; the key is cut out, where an endpoint repeats it."""
    try:
        found = json.loads(content, object_pairs_hook=unique)
        text = found["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError, RecursionError):
        return None
    usage = found.get("usage")
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")] if type(usage) is dict else [0, 0]
    first, second = (one if type(one) is int and one >= 0 else 0 for one in counts)
    if type(text) is not str:
        return None
    return text.replace(key, f"[{KEY}]") if len(key) >= _LEAST_KEY else text, (first, second)
