"""METEOR: words aligned as they are, by their stems and by synonyms; recall counts most, and fragments cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import check_needs, signature_of
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams import WordMetric, Words, measured
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.lexicon import POSES, WordNet, base_forms, knows, neighbours
from nlgauge.text.porter import stem
from nlgauge.text.scripts import Writing

Synonyms = Callable[[str], Set[str]]
_PARTS = ("precision", "recall", "penalty", "reference")


@dataclass(frozen=True, kw_only=True)
class Meteor(WordMetric):
    """METEOR as nltk computes it from the same words and the same WordNet.

    Words of both sides are aligned: equal ones, then those of one stem, then synonyms. Recall counts nine times as much
    as precision, and many fragments cost up to half. A copy gets 1 less the penalty of one fragment: 0.5 for one word,
    0.9995 for ten. nltk looks up stems, of which few are in a lexicon; `synonyms=words` finds more. Stems and synonyms
    are English; of other languages equal words alone match. With `wordnet=/usr/share/wordnet` (Debian's `wordnet-base`)
    numbers are nltk's to the last digit. METEOR 1.5 is `meteor15`: say which you report.

    The corpus number is the mean of the segments. A side without a word scores 0 (flag `empty` or `untokenized`).

    Args:
        alpha: weight of precision in the mean of precision and recall; recall has the rest, taken crosswise, so that
            0.9 counts recall nine times as much.
        beta: exponent of the share of fragments.
        gamma: the most that fragments can cost.
        synonyms: what synonyms are looked up for: `stems`, as nltk does, which knows few of them; `words`; or `none`.
        wordnet: folder with the files of WordNet. None takes the embedded lexicon, an extract of WordNet with the
            first senses of frequent words.

    References:
        Banerjee and Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with Human
        Judgments"; alpha, beta and gamma: Lavie and Agarwal (2007). Of several references the best counts.
    """

    lowercase: bool = True
    alpha: Annotated[float, Range(least=0, most=1)] = 0.9
    beta: Annotated[float, Range(least=0)] = 3.0
    gamma: Annotated[float, Range(least=0, most=1)] = 0.5
    synonyms: Literal["stems", "words", "none"] = "stems"
    wordnet: str | None = None
    info: ClassVar = MetricInfo(
        "meteor",
        parts={"penalty": False},
        summary="words aligned by form, stem and synonym, with a penalty for fragments",
        tasks={"mt", "as", "d2t", "ic", "qg"},
        paper=(
            'Banerjee and Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation with Improved Correlation with'
            ' Human Judgments"'
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.wordnet is not None and self.synonyms == "none":
            raise SpecError("meteor:wordnet changes nothing under synonyms=none; choose stems or words")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """Where synonyms come from."""
        source = (
            None if self.synonyms == "none" else "embedded" if self.wordnet is None else _opened(self.wordnet).digest
        )
        return {**super().facts(runtime), "wordnet": source}

    def unread(self, writing: Writing) -> str | None:
        """That other languages have other stems and synonyms."""
        told = writing.language is not None and not writing.may_be_english
        return super().unread(writing) or ("its stems and synonyms are English" if told else None)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; parts `precision`, `recall`, `penalty` and `reference`, the index of the best one.

        The corpus number is the mean. A side without words scores 0. It raises the flag `empty` if it is blank, and
        else `untokenized`.
        """
        check_needs(self, segments)
        synonyms = None if self.synonyms == "none" else _embedded if self.wordnet is None else _of_wordnet(self.wordnet)

        def best(hypothesis: Words, references: Sequence[Words]) -> tuple[float, ...]:
            singles = [self._single(hypothesis, reference, synonyms) for reference in references]
            place = max(range(len(singles)), key=lambda i: singles[i][0])
            return *singles[place], place

        rows, flags = measured(segments, 1 + len(_PARTS), runtime, "meteor", self.splitter(), list, best)
        parts = {name: np.ascontiguousarray(rows[:, i]) for i, name in enumerate(_PARTS, start=1)}
        return Scores(signature_of(self, runtime), ids(segments), rows[:, 0], parts, flags=flags)

    def _single(
        self, hypothesis: Words, reference: Words, synonyms: Synonyms | None
    ) -> tuple[float, float, float, float]:
        """Value, precision, recall and penalty."""
        pairs = aligned(hypothesis, reference, synonyms, of_stems=self.synonyms == "stems")
        if not pairs:
            return 0.0, 0.0, 0.0, 0.0
        precision, recall = len(pairs) / len(hypothesis), len(pairs) / len(reference)
        mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        penalty = self.gamma * (n_fragments(pairs) / len(pairs)) ** self.beta
        return (1 - penalty) * mean, precision, recall, penalty


def aligned(
    hypothesis: Words, reference: Words, synonyms: Synonyms | None, *, of_stems: bool = True
) -> list[tuple[int, int]]:
    """Pairs of places of words that match, in the order of the hypothesis.

    Equal words come first, then words with equal stems, then words of the reference that are synonyms of one of the
    hypothesis. In each stage the hypothesis is read from its end, and a word takes the last one that is free.

    Args:
        hypothesis: its words.
        reference: its words.
        synonyms: gives the synonyms of a word; None for a lexicon without any.
        of_stems: whether stems are looked up and compared in the last stage, as in nltk, and not words.
    """
    pairs: dict[int, int] = {}
    free = _places(reference, range(len(reference)))
    rest = _take(pairs, range(len(hypothesis) - 1, -1, -1), hypothesis, free)
    wanted = sorted([place for places in free.values() for place in places])
    if not rest or not wanted:
        return sorted(pairs.items())
    stems, theirs = (
        {place: _stem(words[place]) for place in places} for words, places in ((hypothesis, rest), (reference, wanted))
    )
    free = _places(theirs, wanted)
    rest = _take(pairs, rest, stems, free)
    if synonyms is not None and rest:
        if not of_stems:
            free = _places(reference, sorted([place for places in free.values() for place in places]))
        for i in rest:
            shared = free.keys() & synonyms(stems[i] if of_stems else hypothesis[i])
            if shared:
                last = max((free[word] for word in shared), key=lambda places: places[-1:])
                if last:
                    pairs[i] = last.pop()
    return sorted(pairs.items())


def n_fragments(pairs: Sequence[tuple[int, int]]) -> int:
    """How many runs of words that follow each other on both sides the pairs make up."""
    return 1 + sum([second != (first[0] + 1, first[1] + 1) for first, second in pairwise(pairs)])


def _places(words: Sequence[str] | Mapping[int, str], places: Sequence[int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place in places:
        word = words[place]
        if word in found:
            found[word].append(place)
        else:
            found[word] = [place]
    return found


def _take(
    pairs: dict[int, int], places: Sequence[int], words: Sequence[str] | Mapping[int, str], free: dict[str, list[int]]
) -> list[int]:
    """Pair each word with the last equal one that is free; the places of words that found none."""
    rest = []
    for i in places:
        known = free.get(words[i])
        if known:
            pairs[i] = known.pop()
        else:
            rest.append(i)
    return rest


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return stem(word.lower())


@lru_cache(maxsize=1 << 16)
def _embedded(word: str) -> frozenset[str]:
    """The synonyms of a word's base forms in the lexicon that comes with the package."""
    found: set[str] = set()
    for pos in POSES:
        for form in base_forms(word, pos, lambda form, pos=pos: knows(form, pos)):  # type: ignore[misc]
            found.update((form, *neighbours(form, pos, "synonym")))
    return frozenset(word for word in found if " " not in word)


@lru_cache(maxsize=4)
def _opened(folder: str) -> WordNet:
    return WordNet(folder)


@lru_cache(maxsize=4)
def _of_wordnet(folder: str) -> Synonyms:
    return lru_cache(maxsize=1 << 16)(_opened(folder).synonyms)
