"""A language model behind an endpoint rates each text."""

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
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.signing import signature_of
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.judging.answers import READERS
from nlgauge.metrics.judging.endpoint import Endpoint, check_url
from nlgauge.metrics.judging.kept import Kept, prompt_key
from nlgauge.runtime.runtime import Runtime

_PLACE = re.compile(r"\{(source|hypothesis|reference|low|high)\}")
_MOST = 1_000_000  # characters of a prompt


@dataclass(frozen=True, kw_only=True)
class Judge(Checked, BaseMetric):
    """A language model behind an endpoint that speaks as OpenAI's rates each text.

    It is asked only where a user types it, never because a file names it. The key stands in the environment alone, as
    `NLGAUGE_JUDGE_KEY`. An answer that is not of the form asked for gives no score and is counted, as is a request that
    gets none.

    Args:
        url: the address before `/chat/completions`, such as `https://HOST/v1`.
        model: the name of the model there.
        ask: `score` for a number from low to high, or `mqm` for marked errors, minus 1 for a minor and 5 for a major
            one.
        prompt: a file with the prompt, in which `{source}`, `{hypothesis}`, `{reference}`, `{low}` and `{high}` stand
            for texts and numbers; None for the one that comes along.
        low: the lowest score, which a blank text gets.
        high: the highest score; of `mqm` 0.
        answers: a file to which every answer is added, and from which it is taken the next time.
        timeout: seconds that one request may take.
        attempts: how often a request is made that fails for a reason that may pass.
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
        usual = {"score": (0.0, 100.0), "mqm": (-25.0, 0.0)}[self.ask]
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
        kept = Kept(self.answers)
        endpoint = Endpoint(url=self.url, timeout=self.timeout, attempts=self.attempts)
        low, high = self.info.range
        n = len(segments)
        values, flags = np.full(n, np.nan), {name: np.zeros(n, dtype=np.bool_) for name in sorted(self.info.flags)}
        requests, tokens, again = 0, [0, 0], 0
        for place, segment in enumerate(segments):
            if is_blank(segment.hypothesis):
                values[place], flags["empty"][place] = low, True
                continue
            prompt = self.filled(segment)
            key = prompt_key(self.url, self.model, prompt)
            text = kept.get(key)
            again += text is not None
            if text is None:
                answer = endpoint.ask(self.model, prompt)
                requests += answer.requests
                tokens = [have + new for have, new in zip(tokens, answer.tokens, strict=True)]
                text = answer.text
                if text is not None:
                    kept.add(key, text)
            if text is None:
                flags["unanswered"][place] = True
                continue
            values[place] = READERS[self.ask](text, low, high)
            flags["unread"][place] = math.isnan(values[place])
        cost = (
            f"judge: {requests} requests, {tokens[0]} tokens read and {tokens[1]} written, {again} answers kept before"
        )
        return Scores(signature_of(self, runtime), ids(segments), values, flags=flags, notes=(cost,))

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
        return _PLACE.sub(lambda match: texts[match[1]], self._template)
