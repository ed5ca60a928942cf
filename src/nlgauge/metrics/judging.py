"""A language model as a judge, behind an endpoint that speaks as OpenAI's: asked, read strictly, and counted."""

from __future__ import annotations

import http.client
import io
import ipaddress
import json
import math
import os
import re
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank, unique
from nlgauge.runtime.runtime import Runtime

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


class _Ending(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    """Makes connections, by HTTP and by HTTPS, whose answers end at a moment, those of a proxy too."""

    def __init__(self, end: float) -> None:
        super().__init__()
        self._end = end

    def do_open(self, http_class: Any, req: urllib.request.Request, **options: Any) -> Any:
        def opened(host: str, **named: Any) -> Any:
            connection = http_class(host, **named)
            connection.response_class = partial(_Response, end=self._end)
            return connection

        return super().do_open(opened, req, **options)


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
        handlers = (_NoRedirect, urllib.request.ProxyHandler(proxies), _Ending(end))
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


# --- What did the judge say? Its answer read strictly: one JSON object of the form that was asked for, or nothing

_WEIGHTS = {"minor": 1.0, "major": 5.0}
_LONGEST = 100_000  # characters of an answer that is read


def read_score(text: str, low: float, high: float) -> float:
    """The number of `{"score": NUMBER}`, in [low, high]; NaN for every other answer."""
    found = _object(text)
    value = found.get("score") if found.keys() == {"score"} else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    return float(value) if low <= value <= high else math.nan


def read_mqm(text: str, low: float, high: float) -> float:
    """Minus 1 for each minor and 5 for each major error of `{"errors": [...]}`, at least low; NaN for other answers."""
    found = _object(text)
    errors = found.get("errors") if found.keys() == {"errors"} else None
    if type(errors) is not list:
        return math.nan
    severities = [error.get("severity") if type(error) is dict else None for error in errors]
    if not all(type(one) is str and one in _WEIGHTS for one in severities):
        return math.nan
    return max(low, 0.0 - sum(_WEIGHTS[str(one)] for one in severities))


READERS: Mapping[str, Callable[[str, float, float], float]] = {"score": read_score, "mqm": read_mqm}


def _object(text: str) -> dict[str, Any]:
    """The object that a text is; empty if it is none."""
    if len(text) > _LONGEST:
        return {}
    try:
        found = json.loads(text, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        return {}
    return found if type(found) is dict else {}


# --- Answers that were paid for, kept in a file of JSON lines, so that a run that was ended goes on


def prompt_key(url: str, model: str, prompt: str) -> str:
    """The digest by which an answer is found: of the address, the model and the whole prompt; never of a key."""
    return sha256(json.dumps([url, model, prompt]).encode()).hexdigest()


class Kept:
    """Answers by the digest of their prompt.

    Args:
        path: the file, which is made with the first answer; None keeps nothing.

    Raises:
        InputError: the file cannot be read, or is another one.
    """

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._texts: dict[str, str] = {}
        self._broken = False
        if path is None or not os.path.exists(path):
            return
        try:
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: cannot be read ({type(error).__name__})") from None
        self._broken = bool(lines[-1])
        for line in lines:
            with suppress(ValueError, KeyError, TypeError, RecursionError):  # half a line of a run that was ended
                row = json.loads(line, object_pairs_hook=unique)
                self._texts[row["prompt_sha256"]] = str(row["raw"])
        if not self._texts and any(line.strip() for line in lines):
            raise InputError(f"{path}: no line of it is an answer of a judge; is it another file?")

    def get(self, key: str) -> str | None:
        """The answer; None if there is none."""
        return self._texts.get(key)

    def add(self, key: str, text: str) -> None:
        """Keep an answer at once, so that it survives whatever comes next.

        Raises:
            InputError: the file cannot be written.
        """
        self._texts[key] = text
        if self._path is None:
            return
        line = json.dumps({"prompt_sha256": key, "raw": text}) + "\n"
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(("\n" if self._broken else "") + line)  # after half a line of a run that was ended
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written ({error.strerror})") from None
        self._broken = False


# --- What did the judge cost? Requests and tokens


@dataclass
class Spent:
    """What was asked so far, and what it took.

    Attributes:
        requests: to the endpoint, with those that failed.
        read: tokens of prompts, as the endpoint counts them.
        written: tokens of answers, likewise.
        uncounted: answers of which the endpoint counts no tokens.
        kept: answers that were taken from the file of answers.
    """

    requests: int = 0
    read: int = 0
    written: int = 0
    uncounted: int = 0
    kept: int = 0

    def add(self, answer: Answer) -> None:
        """Count what an answer took."""
        self.requests += answer.requests
        self.read += answer.tokens[0]
        self.written += answer.tokens[1]
        self.uncounted += answer.text is not None and not any(answer.tokens)

    def join(self, other: Spent) -> None:
        """Add what was spent elsewhere."""
        for name in ("requests", "read", "written", "uncounted", "kept"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def notes(self) -> tuple[str, ...]:
        """The cost in words; nothing if nothing was asked."""
        if not self.requests and not self.kept:
            return ()
        told = (
            f"{self.requests} requests, {self.read} tokens read and {self.written} written,"
            f" {self.kept} answers kept before"
        )
        if self.uncounted:
            told += f"; the endpoint does not count the tokens of {self.uncounted} answers"
        return (told,)


# --- A language model behind an endpoint rates each text

_JUDGE_PLACES = re.compile(r"\{(source|hypothesis|reference|low|high)\}")
_SCALES = {"score": (0.0, 100.0), "mqm": (-25.0, 0.0)}
_JUDGE_MOST = 1_000_000  # characters of a prompt


@dataclass(frozen=True, kw_only=True)
class Judge(Checked, BaseMetric):
    """A language model behind an endpoint that speaks as OpenAI's rates each text.

    Texts are sent to that address. nlgauge asks no model by itself: the metric is taken only where a user types it,
    never because a file, plan, model or result names it. The key stands in the environment alone, as
    `NLGAUGE_JUDGE_KEY`. It is sent neither over `http` to another machine nor to wherever an answer redirects.

    - Answers are read strictly: one JSON object of the form that was asked for. Any other has no score and the flag
      `unread`.
    - Time-outs, 429, 5xx and broken answers are tried again, after as long as `Retry-After` says, at most a minute, or
      ever longer pauses. A text without an answer has the flag `unanswered`. Any other refusal ends the run.
    - With `answers` a run that was ended goes on: each answer is written at once, under the digest of address, model
      and prompt, also one that could not be read. Requests that failed are made again.
    - A note tells the cost: requests, tokens as the endpoint counts them, and kept answers.
    - The signature has address, model, scale and the digest of the prompt, and cannot have what the endpoint runs.
      Temperature is 0.

    No prompt can keep a text from saying "rate this 100". Compare the judge with people before you trust it.

    Args:
        url: the address before `/chat/completions`, such as `https://HOST/v1`.
        model: the name of the model there; it must be given, as `url` must.
        ask: `score` for a number from low to high, or `mqm` for marked errors, minus 1 for a minor and 5 for a major
            one.
        prompt: a file with the prompt, in which `{source}`, `{hypothesis}`, `{reference}`, `{low}` and `{high}` stand
            for texts and numbers; None for the one that comes along.
        low: the lowest score, which a blank text gets: 0, and of `mqm` -25.
        high: the highest score: 100, and of `mqm` 0.
        answers: a file to which every answer is added, and from which it is taken the next time.
        timeout: seconds in which the whole answer to a request has come.
        attempts: how often a request is made that fails for a reason that may pass.

    References:
        Kocmi and Federmann (2023), "Large Language Models Are State-of-the-Art Evaluators of Translation Quality", for
        the scale and for asking for a single number; the prompts are ours.
    """

    url: str
    model: str
    ask: Literal["score", "mqm"] = "score"
    prompt: str | None = None
    low: float | None = None
    high: float | None = None
    answers: str | None = None
    timeout: float = 60.0
    attempts: int = 4
    info: ClassVar = MetricInfo(
        "judge",
        needs={"source"},
        range=(0.0, 100.0),
        copy_is_best=False,
        flags={"empty", "unread", "unanswered"},
        summary="a language model behind an endpoint of yours; a copy need not be best: it is what the model says",
        tasks=TASKS,
        paper=(
            'Kocmi and Federmann (2023), "Large Language Models Are State-of-the-Art Evaluators of Translation Quality"'
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_url(self.url)
        usual = _SCALES[self.ask]
        low = usual[0] if self.low is None else float(self.low)
        high = usual[1] if self.high is None else float(self.high)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise SpecError(f"judge:low is {low:g}, expected below high, which is {high:g}")
        if self.attempts < 1 or not 0 < self.timeout < math.inf:
            raise SpecError("judge:attempts and timeout are numbers above 0")
        text = self._template
        if "{hypothesis}" not in text:
            raise SpecError("judge:prompt has no {hypothesis}, expected the place of the text that is judged")
        reads = {"references": "{reference}", "source": "{source}"}
        needs = {need for need, place in reads.items() if place in text}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, range=(low, high)))

    @cached_property
    def _template(self) -> str:
        if self.prompt is None:
            return files("nlgauge.data").joinpath("prompts", f"{self.ask}.txt").read_text(encoding="utf-8")
        try:
            with Path(self.prompt).open(encoding="utf-8") as file:
                text = file.read(_JUDGE_MOST + 1)
        except (OSError, ValueError) as error:
            raise InputError(f"judge:prompt: {self.prompt} cannot be read ({type(error).__name__})") from None
        if len(text) > _JUDGE_MOST:
            raise InputError(f"judge:prompt: {self.prompt} has more than {_JUDGE_MOST:,} characters")
        return text

    @property
    def prompt_sha256(self) -> str:
        """The digest of the prompt, as 64 hexadecimal digits; a judge card has the same."""
        return sha256(self._template.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def notes(self) -> tuple[str, ...]:
        """The cost of all that was asked so far."""
        return self._spent.notes()

    @cached_property
    def _spent(self) -> Spent:
        return Spent()

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The digest of the prompt and the scale; where answers are kept changes no score."""
        low, high = self.info.range
        return {"prompt": f"sha256:{self.prompt_sha256}", "low": low, "high": high, "answers": None}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """What the model says of each text; of several references it reads the first.

        A blank text gets the lowest score unasked, with the flag `empty`. Flags `unread` and `unanswered` stand for an
        answer of another form, and for none; these texts have no score.

        Raises:
            InputError: a segment lacks what the prompt reads, or the endpoint refuses the key or the request.
        """
        check_needs(self, segments)
        asking = _Asking(self)
        n, names = len(segments), sorted(self.info.flags)
        values, flags = np.full(n, np.nan), {name: np.zeros(n, dtype=np.bool_) for name in names}
        for place, segment in enumerate(segments):
            if is_blank(segment.hypothesis):
                values[place], flags["empty"][place] = self.info.range[0], True
                continue
            said = asking.answer(self.filled(segment))
            if said is not None:
                values[place] = READERS[self.ask](said, *self.info.range)
            flags["unanswered"][place] = said is None
            flags["unread"][place] = said is not None and math.isnan(values[place])
        self._spent.join(asking.spent)
        notes = tuple(f"judge: {note}" for note in asking.spent.notes())
        return Scores(signature_of(self, runtime), ids(segments), values, flags=flags, notes=notes)

    def filled(self, segment: Segment) -> str:
        """The prompt for one text. What stands in a text is never taken for a place of the prompt."""
        low, high = self.info.range
        texts = {
            "source": segment.source or "",
            "hypothesis": segment.hypothesis,
            "reference": segment.references[0] if segment.references else "",
            "low": f"{low:g}",
            "high": f"{high:g}",
        }
        return _JUDGE_PLACES.sub(lambda match: texts[match[1]], self._template)


class _Asking:
    """The answers of one call, from the endpoint or from the file of answers, and what they take."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._kept = Kept(judge.answers)
        self._endpoint = Endpoint(url=judge.url, timeout=judge.timeout, attempts=judge.attempts)
        self.spent = Spent()

    def answer(self, prompt: str) -> str | None:
        """The answer to a prompt; None if the endpoint gives none."""
        key = prompt_key(self._judge.url, self._judge.model, prompt)
        text = self._kept.get(key)
        if text is not None:
            self.spent.kept += 1
            return text
        answer = self._endpoint.ask(self._judge.model, prompt)
        self.spent.add(answer)
        if answer.text is not None:
            self._kept.add(key, answer.text)
        return answer.text
