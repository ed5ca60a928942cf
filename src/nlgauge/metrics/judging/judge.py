"""A language model behind an endpoint rates each text, or chooses between it and another one."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.judging.answers import READERS, read_place
from nlgauge.metrics.judging.endpoint import Endpoint, check_url
from nlgauge.metrics.judging.kept import Kept, prompt_key
from nlgauge.metrics.judging.spent import Spent
from nlgauge.runtime.runtime import Runtime

_PLACES: Mapping[str, tuple[str, ...]] = {
    "score": ("source", "hypothesis", "reference", "low", "high"),
    "mqm": ("source", "hypothesis", "reference", "low", "high"),
    "pair": ("source", "first", "second"),
}
_HAVING: Mapping[str, tuple[str, ...]] = {"score": ("hypothesis",), "mqm": ("hypothesis",), "pair": ("first", "second")}
_SCALES = {"score": (0.0, 100.0), "mqm": (-25.0, 0.0), "pair": (0.0, 1.0)}
_WON: Mapping[float, float] = {1.0: 1.0, 2.0: 0.0, 0.0: 0.5}  # the place that won -> what the text shown first gets
_MOST = 1_000_000  # characters of a prompt


@dataclass(frozen=True, kw_only=True)
class Judge(Checked, BaseMetric):
    """A language model behind an endpoint that speaks as OpenAI's rates each text, or holds it against the reference.

    It is asked only where a user types it, never because a file names it. The key stands in the environment alone, as
    `NLGAUGE_JUDGE_KEY`. An answer that is not of the form asked for gives no score and is counted, as is a request that
    gets none.

    Args:
        url: the address before `/chat/completions`, such as `https://HOST/v1`.
        model: the name of the model there.
        ask: `score` for a number from low to high, `mqm` for marked errors, minus 1 for a minor and 5 for a major one,
            or `pair` for the better one of the text and its reference, such as the text of another system, in both
            orders: 1 if the text wins, 0 if the reference does, 0.5 for a tie, and the mean of both.
        prompt: a file with the prompt, in which `{source}`, `{hypothesis}`, `{reference}`, `{low}` and `{high}` stand
            for texts and numbers, and `{source}`, `{first}` and `{second}` for those of a pair; None for the one that
            comes along.
        low: the lowest score, which a blank text gets; a pair has none but 0.
        high: the highest score; of `mqm` 0, and of a pair 1.
        answers: a file to which every answer is added, and from which it is taken the next time.
        timeout: seconds in which the whole answer to a request has come.
        attempts: how often a request is made that fails for a reason that may pass.
        price_in: the price of a million tokens of prompts, in any currency; with `price_out` notes tell the money.
        price_out: the price of a million tokens of answers.
    """

    url: str
    model: str
    ask: Literal["score", "mqm", "pair"] = "score"
    prompt: str | None = None
    low: float | None = None
    high: float | None = None
    answers: str | None = None
    timeout: float = 60.0
    attempts: int = 4
    price_in: float | None = None
    price_out: float | None = None
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
        if self.ask == "pair" and (self.low, self.high) != (None, None):
            raise SpecError("judge:low and high are those of ask=score and ask=mqm; a pair has 0, 0.5 and 1")
        low = usual[0] if self.low is None else float(self.low)
        high = usual[1] if self.high is None else float(self.high)
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise SpecError(f"judge:low is {low:g}, expected below high, which is {high:g}")
        if self.attempts < 1 or not 0 < self.timeout < math.inf:
            raise SpecError("judge:attempts and timeout are numbers above 0")
        prices = [price for price in (self.price_in, self.price_out) if price is not None]
        if len(prices) == 1 or not all(0 <= price < math.inf for price in prices):
            raise SpecError("judge:price_in and price_out are two numbers from 0, given together")
        text = self._template
        if not all(f"{{{name}}}" in text for name in _HAVING[self.ask]):
            wanted = " and ".join(f"{{{name}}}" for name in _HAVING[self.ask])
            raise SpecError(f"judge:prompt has no {wanted}, expected the place of each text that is judged")
        reads = {"references": "{reference}", "source": "{source}"}
        needs = {need for need, place in reads.items() if place in text}
        info = replace(type(self).info, needs=needs, range=(low, high))
        if self.ask == "pair":
            parts = {"shown_first": True, "shown_second": True}
            info = replace(info, needs=needs | {"references"}, flags=info.flags | {"flipped"}, parts=parts)
        object.__setattr__(self, "info", info)

    @cached_property
    def _template(self) -> str:
        if self.prompt is None:
            return files("nlgauge.data").joinpath("prompts", f"{self.ask}.txt").read_text(encoding="utf-8")
        try:
            with Path(self.prompt).open(encoding="utf-8") as file:
                text = file.read(_MOST + 1)
        except (OSError, ValueError) as error:
            raise InputError(f"judge:prompt: {self.prompt} cannot be read ({type(error).__name__})") from None
        if len(text) > _MOST:
            raise InputError(f"judge:prompt: {self.prompt} has more than {_MOST:,} characters")
        return text

    @property
    def prompt_sha256(self) -> str:
        """The digest of the prompt, as 64 hexadecimal digits; a judge card has the same."""
        return sha256(self._template.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def notes(self) -> tuple[str, ...]:
        """The cost of all that was asked so far, and how verdicts on pairs depend on the order."""
        return self._spent.notes(self._prices)

    @cached_property
    def _spent(self) -> Spent:
        return Spent()

    @property
    def _prices(self) -> tuple[float, float] | None:
        return None if self.price_in is None or self.price_out is None else (self.price_in, self.price_out)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The digest of the prompt and the scale; where answers are kept and what they cost changes no score."""
        low, high = self.info.range
        silent = dict.fromkeys(("answers", "price_in", "price_out"))
        return {"prompt": f"sha256:{self.prompt_sha256}", "low": low, "high": high, **silent}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """What the model says of each text; of several references it reads the first.

        A blank text, or a pair with a blank side, gets the lowest score unasked, with the flag `empty`; a pair of equal
        texts is a tie. Flags `unread` and `unanswered` stand for an answer of another form, and for none; these texts
        have no score, nor has a pair of which one order lacks its answer. `flipped` is a pair of which the verdict
        depends on the order.

        Raises:
            InputError: a segment lacks what the prompt reads, or the endpoint refuses the key or the request.
        """
        check_needs(self, segments)
        asking = _Asking(self)
        n, names = len(segments), sorted(self.info.flags)
        values, flags = np.full(n, np.nan), {name: np.zeros(n, dtype=np.bool_) for name in names}
        parts = {name: np.full(n, np.nan) for name in self.info.parts}
        for place, segment in enumerate(segments):
            other = segment.references[0] if self.ask == "pair" else None
            if is_blank(segment.hypothesis) or (other is not None and is_blank(other)):
                values[place], flags["empty"][place] = self.info.range[0], True
                continue
            if segment.hypothesis == other:
                values[place] = 0.5
                continue
            said = [asking.answer(prompt) for prompt in self._prompts(segment)]
            flags["unanswered"][place] = None in said
            read = [math.nan if text is None else self._read(text) for text in said]
            flags["unread"][place] = any(
                text is not None and math.isnan(one) for text, one in zip(said, read, strict=True)
            )
            if other is not None:
                asking.spent.places.append((read[0], read[1]))
                first, second = _WON.get(read[0], math.nan), 1 - _WON.get(read[1], math.nan)
                parts["shown_first"][place], parts["shown_second"][place] = first, second
                flags["flipped"][place] = abs(first - second) > 0
                values[place] = (first + second) / 2
            else:
                values[place] = read[0]
        self._spent.join(asking.spent)
        notes = tuple(f"judge: {note}" for note in asking.spent.notes(self._prices))
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags, notes=notes)

    def _read(self, text: str) -> float:
        """The number of an answer; of a pair the place that won."""
        return read_place(text) if self.ask == "pair" else READERS[self.ask](text, *self.info.range)

    def _prompts(self, segment: Segment) -> list[str]:
        """What is asked of a text: one prompt, or two that show a pair in both orders."""
        if self.ask != "pair":
            return [self.filled(segment)]
        texts = (segment.hypothesis, segment.references[0])
        return [
            self._filled({"source": segment.source or "", "first": a, "second": b}) for a, b in (texts, texts[::-1])
        ]

    def filled(self, segment: Segment) -> str:
        """The prompt for one text. What stands in a text is never taken for a place of the prompt."""
        low, high = self.info.range
        return self._filled(
            {
                "source": segment.source or "",
                "hypothesis": segment.hypothesis,
                "reference": segment.references[0] if segment.references else "",
                "low": f"{low:g}",
                "high": f"{high:g}",
            }
        )

    def _filled(self, texts: Mapping[str, str]) -> str:
        places = "|".join(_PLACES[self.ask])
        return re.sub(rf"\{{({places})\}}", lambda match: texts[match[1]], self._template)


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
