"""Q-metrics for questions: a metric mixed with how far what makes a question answerable was kept."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric, check_needs, signature_of, whole
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams import WordMetric, Words, measured
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing, data_lines

_QUESTION = frozenset("what which why who whom whose where when how".split())
_WITH_NEXT = frozenset(("what", "which"))  # the word after these says what is asked for
_COMPONENTS = ("relevant", "entities", "question", "stopwords")
_PARTS = ("answerability", *_COMPONENTS)
_INFO = MetricInfo(
    "qmetric",
    parts=dict.fromkeys(("base", *_PARTS), True),
    summary="a metric mixed with the answerability of a question",
    tasks={"qg"},
    paper='Nema and Khapra (2018), "Towards a Better Metric for Evaluating Question Generation Systems"',
)


@dataclass(frozen=True, kw_only=True)
class QMetric(BaseMetric):
    """delta times answerability, plus 1 - delta times another metric: QBLEU, QROUGE, QNIST and QMETEOR.

    A question without its question word, or without the name that it asks about, cannot be answered, though most words
    are there. Answerability is the weighted mean of an F score for four kinds of words: names (capital letter;
    `entities`), question words and the word after "what" and "which" (`question`), other content words (`relevant`),
    stop words (the rest). The value is `delta` of it and the rest of the base metric.

    Their BLEU is not smoothed and their list of stop words is another. Names in small letters are content words to it,
    and another question word costs at most 0.2. The corpus number is the mean of the segments; a side without a word
    has answerability 0 (flag `empty` or `untokenized`).

    Args:
        base: the other metric, a specification. If both ends of its range are finite, it is brought to 0 to 1.
        delta: weight of answerability.
        relevant: weight of content words that are no names.
        entities: weight of names: words with a capital letter, but for a stop word that begins the question ("Is").
        question: weight of question words; the word after "what" and "which" belongs to them. Stop words have what the
            three weights leave of 1.
        absent: what becomes of the weight of a kind of word that neither question has: `zero` lets it count as 0, as
            the authors' program does, so that even a copy may stay below 1; `share` gives it to the other kinds.
        tokenizer: how texts become words; `blanks` is for texts that are tokenised already.

    References:
        Nema and Khapra (2018), "Towards a Better Metric for Evaluating Question Generation Systems". Precision and
        recall of a kind of word are BLEU-1 in the two directions; weights and delta are those of the example of the
        authors' program, who fitted them to each data set.
    """

    base: str = "bleu4"
    delta: Annotated[float, Range(least=0, most=1)] = 0.7
    relevant: Annotated[float, Range(least=0, most=1)] = 0.1
    entities: Annotated[float, Range(least=0, most=1)] = 0.6
    question: Annotated[float, Range(least=0, most=1)] = 0.2
    absent: Literal["zero", "share"] = "zero"
    tokenizer: Literal["13a", "intl", "blanks"] = "13a"
    info: ClassVar = _INFO

    def __post_init__(self) -> None:
        checked(self)
        if self.relevant + self.entities + self.question > 1 + 1e-9:
            raise SpecError(
                f"qmetric:relevant, entities and question are {self.relevant}, {self.entities} and {self.question},"
                " expected a sum of at most 1; stop words have the rest"
            )
        about = self._base.info
        if about.needs != {"references"} or not about.higher_is_better:
            raise SpecError(
                f"qmetric:base is {self.base!r}, expected a metric of references whose higher values are better"
            )
        low, high = about.range
        ends = (0.0, 1.0) if self._is_bounded else (min(low, 0.0), max(high, 1.0))
        object.__setattr__(self, "info", replace(_INFO, range=ends, copy_is_best=about.copy_is_best))

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The base."""
        return (self._base,)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The signature of the base."""
        entries = signature_of(self._base, runtime).entries
        return {"base": "(" + "|".join(f"{key}:{value}" for key, value in entries if key != "nlgauge") + ")"}

    def unread(self, writing: Writing) -> str | None:
        """That other scripts and languages have other question words."""
        return None if writing.may_be_english else "its question words and stop words are English"

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1, or in the range of a base that has no end; the corpus number is their mean.

        Parts are `base`, `answerability`, and the F scores of its kinds of words. With several references each part
        takes the best of answerability, and the base follows its own rule. A side without words has answerability 0.
        It raises the flag `empty` if it is blank, and else `untokenized`. The flags of the base are set, too.
        """
        check_needs(self, segments)
        split = WordMetric(tokenizer=self.tokenizer).splitter()
        rows, flags = measured(
            segments, len(_PARTS), runtime, "qmetric", split, lambda refs: [*map(kinds, refs)], self._best
        )
        low, high = self._base.info.range
        scored = self._base.score(segments, runtime)
        base = (scored.values - low) / (high - low) if self._is_bounded else scored.values
        for name, flag in scored.flags.items():
            flags[name] = flags.get(name, False) | flag
        values = self.delta * rows[:, 0] + (1 - self.delta) * base
        parts = {"base": base, **{name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(_PARTS)}}
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)

    @cached_property
    def _base(self) -> BaseMetric:
        return whole(metric(self.base))

    @property
    def _is_bounded(self) -> bool:
        return all(map(math.isfinite, self._base.info.range))

    def _best(self, hypothesis: Words, references: Sequence[Mapping[str, Counter[str]]]) -> list[float]:
        ours = kinds(hypothesis)
        return max((self._single(ours, theirs) for theirs in references), key=lambda row: row[0])

    def _single(self, ours: Mapping[str, Counter[str]], theirs: Mapping[str, Counter[str]]) -> list[float]:
        """Answerability, then the F score of each kind of word."""
        weights = {"relevant": self.relevant, "entities": self.entities, "question": self.question}
        weights["stopwords"] = max(1 - sum(weights.values()), 0.0)
        found = {kind: _f1(ours[kind], theirs[kind]) for kind in _COMPONENTS}
        total = 1.0
        if self.absent == "share":
            total = sum(weights[kind] for kind in _COMPONENTS if ours[kind] or theirs[kind])
        answerability = sum(weights[kind] * found[kind] for kind in _COMPONENTS) / total if total else 0.0
        return [answerability, *found.values()]


def kinds(words: Words) -> dict[str, Counter[str]]:
    """The words of a question by kind, in small letters; a word can be of two kinds, punctuation is of none.

    `question` are question words, with the word after "what" and "which"; `entities` other words with a capital
    letter, but for a stop word that begins the text; `stopwords` those of the list; `relevant` the rest.
    """
    words = tuple(word for word in words if any(char.isalnum() for char in word))
    small = [word.lower() for word in words]
    asked = {i for i, word in enumerate(small) if word in _QUESTION}
    asked |= {i + 1 for i in asked if small[i] in _WITH_NEXT and i + 1 < len(words)}
    stop = {i for i, word in enumerate(small) if word in _stop_words()}
    named = {
        i
        for i, word in enumerate(words)
        if word[0].isupper() and small[i] not in _QUESTION and not (i == 0 and i in stop)
    }
    rest = set(range(len(words))) - asked - named - stop
    chosen = {"relevant": rest, "entities": named, "question": asked, "stopwords": stop}
    return {kind: Counter(small[i] for i in places) for kind, places in chosen.items()}


def _f1(ours: Counter[str], theirs: Counter[str]) -> float:
    """Of BLEU-1 in the two directions: clipped precision with a penalty for the shorter side."""
    matched, n_ours, n_theirs = (ours & theirs).total(), ours.total(), theirs.total()
    if not matched:
        return 0.0
    precision = matched / n_ours * min(1.0, math.exp(1 - n_theirs / n_ours))
    recall = matched / n_theirs * min(1.0, math.exp(1 - n_ours / n_theirs))
    return 2 * precision * recall / (precision + recall)


@cache
def _stop_words() -> frozenset[str]:
    return frozenset(word for line in data_lines("stopwords.txt") for word in line.split()) - _QUESTION
