"""GRUEN's redundancy and focus: do the sentences of a text repeat each other, and do neighbours belong together?"""

from __future__ import annotations

import string
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations, pairwise
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from rapidfuzz.distance import Levenshtein

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric, check_needs, signature_of
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.embedding.transport import Wmd
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import split_sentences

_STEP = 0.1  # what a sign of redundancy costs, and a break of the focus
_FEWEST_WORDS = 5  # of the longer sentence, from which on two that differ are compared
_MOST = 1000  # sentences: half a million pairs
_CLOSE = 1e-4  # distances this near to the border are computed once more, alone
_OF_FOCUS = ("far", "model", "revision", "layer", "dtype")
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True, kw_only=True)
class Gruen(Checked, BaseMetric):
    """1 minus 0.1 for each sign that two sentences say the same, and for a break between neighbours; at least 0.

    It reads the hypothesis alone. GRUEN's grammaticality and structure are not included, so a value is no GRUEN score;
    every run says so in a note. The parts `redundancy` and `focus` are 0 or less.

    Redundancy compares all pairs of sentences. One within the other is four signs. Else, if the longer one has five
    words or more, each of these is a sign: a common substring of more than 0.8 of the characters of the shorter one;
    one of more than 0.8 of its words; fewer edits than 0.6 of the characters of the longer one; more than 0.8 of the
    words of the shorter one in both. Focus is one break at most. Sentences of one word do not count.

    A text of one sentence gets 1, and most texts 1 or a few tenths less, so ties are many. An empty text gets 0 (flag
    `empty`); one of more than 1,000 sentences has no score (flag `too_long`). On SummEval, by document, tau-b with
    coherence is 0.236 (ROUGE-1 against references 0.127), with relevance 0.136 (0.205): `nlgauge meta DATA -m gruen -m
    rouge1 -c all --level item --stat kendall_b`.

    Args:
        parts: what is summed: `redundancy`, which needs no model and no extra; `focus`; or both (`redundancy+focus`).
        far: the word mover's distance beyond which two neighbouring sentences are a break of the focus. It was set on
            100 articles of SummEval: of 300 pairs of neighbours 8 % are farther apart than 1.3, of 300 pairs of
            sentences from two articles 65 %.
        model: `embedded`, `base`, a folder, or an id of the Hugging Face hub; its token vectors are those of the
            distance.
        revision: branch, tag or commit of a hub model.
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        dtype: the precision of the encoder; None takes the runtime's.

    References:
        Zhu and Bhat (2020), "GRUEN for Evaluating Linguistic Quality of Generated Text", section 3.

        GRUEN also has a grade of grammaticality (a language model and a classifier of acceptable sentences), and the
        paper one of structure and coherence. They are not here: the sum begins at 1, as if both were perfect. Where
        this differs from the released code besides: sentences come from our splitter; the longest common substring is
        exact (difflib leaves out frequent characters of long sentences); the distance of focus is that of contextual
        unit vectors, not of spaCy's static ones, and a far neighbour is a break, as the paper says (in the code a near
        one is); a blank text gets 0 (theirs up to 0.625).
    """

    parts: Literal["redundancy", "focus", "redundancy+focus"] = "redundancy+focus"
    far: Annotated[float, Range(least=0, most=2)] = 1.3
    model: str = "embedded"
    revision: str | None = None
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    dtype: DType | None = None
    info: ClassVar = MetricInfo(
        "gruen",
        needs=frozenset(),
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite", "too_long"},
        parts={"redundancy": True, "focus": True},
        summary="redundancy and focus alone of GRUEN: sentences that repeat each other, and breaks between neighbours",
        tasks={"as", "d2t", "dg"},
        paper='Zhu and Bhat (2020), "GRUEN for Evaluating Linguistic Quality of Generated Text"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if "focus" in self.parts:
            return
        for option in _OF_FOCUS:
            if getattr(self, option) != type(self).__dataclass_fields__[option].default:
                raise SpecError(f"gruen:{option} is about focus and changes nothing under parts={self.parts}")
        object.__setattr__(self, "info", replace(self.info, cached=False))  # no model makes the scores

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on the parts of GRUEN that are left out."""
        return (f"{self.parts.replace('+', ' and ')} alone, without GRUEN's grammaticality and structure",)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        if "focus" not in self.parts:
            return dict.fromkeys(_OF_FOCUS)
        return dict(self._distance().facts(runtime))

    @property
    def limit(self) -> int | None:
        """That of the encoder of focus."""
        return self._distance().limit if "focus" in self.parts else None

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors that are read, so that metrics of one call share them."""
        return self._distance().vectors_of(runtime) if "focus" in self.parts else {}

    def unread(self, writing: Writing) -> str | None:
        """Whether the text has no blanks between words, or the model reads another language, and what to do."""
        if not writing.spaced:
            return "gruen splits words at blanks, of which they have few; split the words first"
        return self._distance().unread(writing) if "focus" in self.parts else None

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from 0 to 1; parts `redundancy` and `focus`, 0 or less; those that `parts` leaves out are NaN.

        The flags are `empty`, `truncated`, `unknown`, `nonfinite` and `too_long`. A blank text gets 0 and sets the flag
        `empty`. A text of one sentence has nothing to repeat and gets 1. One of more than 1,000 sentences is NaN.

        Raises:
            InputError: the model cannot be read.
        """
        check_needs(self, segments)
        sentences = {s.hypothesis: _sentences(s.hypothesis) for s in segments}
        long = {text for text, found in sentences.items() if len(found) > _MOST}
        texts = [text for text in sentences if text not in long]
        columns = {name: np.full(len(texts), np.nan) for name in ("redundancy", "focus")}
        flags = {name: np.zeros(len(texts), dtype=np.bool_) for name in ("truncated", "unknown", "nonfinite")}
        if "redundancy" in self.parts:
            columns["redundancy"] = np.array([-_STEP * signs_of_redundancy(sentences[text]) for text in texts]) + 0.0
        if "focus" in self.parts:
            columns["focus"] = self._focus([sentences[text] for text in texts], flags, runtime)
        summed = sum((columns[name] for name in self.parts.split("+")), np.ones(len(texts)))
        columns["value"] = np.clip(summed, 0.0, 1.0)
        place = {text: i for i, text in enumerate(texts)}
        empty = np.array([is_blank(s.hypothesis) for s in segments], dtype=np.bool_)
        where = np.array([place.get(s.hypothesis, len(texts)) for s in segments], dtype=np.int64)
        found = {name: np.append(column, np.nan)[where] for name, column in columns.items()}
        values = np.where(empty, 0.0, found.pop("value"))
        marked = {name: np.append(flag, False)[where] for name, flag in flags.items()}
        marked |= {"empty": empty, "too_long": np.array([s.hypothesis in long for s in segments], dtype=np.bool_)}
        return Scores(signature_of(self, runtime), ids(segments), values, found, flags=marked)

    def _focus(self, texts: Sequence[Sequence[str]], flags: Mapping[str, Mask], runtime: Runtime) -> Array:
        """The grade of focus of each text, shape (n,): 0, or less if some neighbours are far apart. Sets flags."""
        grades = np.zeros(len(texts))
        pairs = [(i, Segment("", second, (first,))) for i, text in enumerate(texts) for first, second in pairwise(text)]
        if not pairs:
            return grades
        distance, neighbours = self._distance(), [pair for _, pair in pairs]
        owners = np.array([i for i, _ in pairs])
        scores = distance.score(neighbours, runtime)
        values = scores.values.copy()
        for close in np.flatnonzero(np.abs(values - self.far) < _CLOSE).tolist():
            values[close] = distance.score([neighbours[close]], runtime).values[0]
        for name, flag in flags.items():
            np.logical_or.at(flag, owners, scores.flags[name])
        grades[owners[values > self.far]] = -_STEP
        grades[owners[np.isnan(values)]] = np.nan
        return grades

    def _distance(self) -> Wmd:
        return Wmd(model=self.model, revision=self.revision, layer=self.layer, dtype=self.dtype, long="windows")


def _sentences(text: str) -> list[str]:
    """The sentences of more than one word, with single blanks."""
    found = [] if is_blank(text) else split_sentences(text)
    return [" ".join(one.split()) for one in found if len(one.translate(_WITHOUT_MARKS).split()) > 1]


def signs_of_redundancy(sentences: Sequence[str]) -> int:
    """How many signs of redundancy all pairs of sentences have together, each pair up to four."""
    signs = cache(_signs)
    return sum(signs(first, second) for first, second in combinations(sentences, 2))


def _signs(first: str, second: str) -> int:
    """The signs that two sentences say the same: four if one is in the other.

    Else, if the longer one has five words or more: a common substring of more than 0.8 of the characters of the shorter
    one; of more than 0.8 of its words; fewer edits than 0.6 of the characters of the longer one; more than 0.8 of the
    words of the shorter one in common.
    """
    if first in second or second in first:
        return 4
    words, others = first.split(), second.split()
    if max(len(words), len(others)) < _FEWEST_WORDS:
        return 0
    known, shorter = set(others), min(len(first), len(second))
    fewer = min(len(words), len(others))
    common = [word for word in words if word in known]
    edits = Levenshtein.distance(first, second)
    signs = int(edits < 0.6 * max(len(first), len(second))) + int(len(common) > 0.8 * fewer)
    # A common substring is whole common words, and a part of a word at each end.
    reach = sum(len(word) + 1 for word in common) + 2 * max(map(len, words)) + 1
    if reach <= 0.8 * shorter and len(common) + 2 <= 0.8 * fewer:
        return signs
    longest = longest_common_substring(first, second)
    return signs + int(len(longest) > 0.8 * shorter) + int(len(longest.split()) > 0.8 * fewer)


def longest_common_substring(first: str, second: str) -> str:
    """The longest text that stands in both, the first of them in `first`."""
    other = np.array(list(map(ord, second)), dtype=np.int64)
    runs = np.zeros(len(second) + 1, dtype=np.int64)  # common characters that end at a place of both
    length = end = 0
    for place, char in enumerate(first, 1):
        runs[1:] = np.where(other == ord(char), runs[:-1] + 1, 0)
        longest = int(runs.max())
        if longest > length:
            length, end = longest, place
    return first[end - length : end]
