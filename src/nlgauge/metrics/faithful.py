"""Is every sentence of a text supported by its source? By entailment, by what is copied, by names and numbers."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from rapidfuzz.distance import LCSseq

from nlgauge.core.arrays import Array
from nlgauge.core.metric import check_needs, known, nonfinite, signature_of, unknown
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import Signature
from nlgauge.metrics.nli import NliMetric, Questions, unknown_in
from nlgauge.models.entailment import NliModel
from nlgauge.models.tokens import Ids
from nlgauge.runtime.cache import ScoreCache, text_key
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.languages import language
from nlgauge.text.names import entities, name_words
from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.said import Said, Saying, sayings_of, values_of
from nlgauge.text.porter import stem
from nlgauge.text.tokenize import letter_spans, sentence_spans, unicode_words
from nlgauge.text.worded import NEGATIONS, is_function

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_OWNER = re.compile(r"['’]s?$")
_RUN = 3  # words
_NEAR = 0.7  # of a sentence's words, in order, from which on it is a copy
_DISORDER = 0.35  # of a sentence's words that stand in a passage out of order
_TOGETHER = 0.6  # of a sentence's pairs of neighbours, below which these are no clauses that changed places
_APART = 3  # words that neighbours may be apart; by which what was exchanged may be longer
_DENIALS = NEGATIONS | {"t"}  # of don|t, as letters alone are
_NO_DENIALS = frozenset({"not only", "not just", "not merely", "t only", "t just", "nothing but", "none but"})
_COUPLE = re.compile(r"\b([A-Z]\w+(?: [A-Z]\w+)*) (and|or) ([A-Z]\w+(?: [A-Z]\w+)*)")  # in either order the same
_TO_SCALE = re.compile(r"([0-9][0-9.,]*)((?:-|–| (?:to|and|or) )[$€£]?[0-9][0-9.,]*)( ?(?:[mbtr]+illion|bn|m)\b)")
_NAMES = ("May", "US")  # with small letters they are function words
_TIMES = frozenset(map(stem, ("second", "minute", "hour", "day", "week", "month", "year")))
_GAIN = 2  # words by which two sentences must have more than one
_STEM = 4  # letters that two forms of a name share at least: Spain, Spanish
_ENDING = 4  # letters by which a form may be longer: America, American
_ACRONYM = 5  # letters of the longest one that is looked for among initials
_SMALL = frozenset({"of", "the", "and", "for", "in"})  # left out of an acronym
_TITLES = ("title", "title-m", "title-f", "no-name", "particle", "suffix", "calendar")
_KEPT = 4096  # sentences whose names and numbers are remembered


@dataclass(frozen=True, slots=True)
class Mention:
    """A name or a number of a text.

    Attributes:
        start: its first character.
        end: the one after its last.
        text: as written.
        kind: what it is; of what a copy has otherwise also `negation`, and `order`, of the whole sentence.
    """

    start: int
    end: int
    text: str
    kind: Literal["name", "number", "negation", "order"]


@dataclass(frozen=True, slots=True)
class Copied:
    """What a sentence copies from its source.

    Attributes:
        share: how much of it, 0 to 1.
        flaws: what the copy has otherwise than the passage that it is nearest to, in order.
    """

    share: float
    flaws: tuple[Mention, ...] = ()


class _Word(NamedTuple):
    start: int
    end: int
    text: str
    stem: str


class Grounds:
    """The words and numbers of a source, found when they are first asked for.

    A name has ground if each of its words is a word of the source in whatever case, without its possessive ending; or
    begins like one (Spanish, Spain); or is made of initials of neighbouring words with capitals (UN), or they of its
    own. Titles and days need none. A number has ground if the source has its value, in digits or in words, with the
    same scale (million).
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._known: dict[int, frozenset[tuple[str, ...]]] = {}  # length of runs of words -> those of the source

    def lacks(self, sentence: str) -> tuple[Mention, ...]:
        """Names and numbers of a sentence without ground, in order. Its names are looked for as in English text."""
        return tuple(
            mention
            for mention, what in _mentions(sentence)
            if not (what.is_among(self._values) if isinstance(what, Saying) else self._has_name(what))
        )

    def copied(self, sentence: str) -> Copied:
        """What a sentence copies, by stems, and what it has otherwise.

        The share is the mean of two: of the runs of three words of the sentence those that stand in the source, and of
        its words those that stand in the nearest passage, one or two sentences of the source, in the same order. From
        0.7 of the second on the sentence is a copy, and has a flaw where it denies what the passage does not, or the
        reverse; where a number, a name or a word of the passage stands in the place of another one. Of a sentence
        whose words stand there in disorder the order is the flaw. Names are told by capitals. A sentence without
        words counts as copied, and two names with "and" between them say the same in either order.
        """
        found = self._copied(sentence)
        turned = self._copied(_COUPLE.sub(r"\3 \2 \1", sentence)) if found.flaws else found
        return found if turned.flaws or turned.share < found.share else turned

    def _copied(self, sentence: str) -> Copied:
        words = _words(sentence)
        if not words:
            return Copied(1.0)
        length = min(_RUN, len(words))
        runs = _runs(words, length)
        share = sum(run in self._runs(length) for run in runs) / len(runs)
        start, end, shared = self._nearest(Counter(word.stem for word in words))
        passage = [word for words in self._sentences[start:end] for word in words]
        own, other = ([word.stem for word in some] for some in (words, passage))
        same = [(a + k, b + k) for a, b, n in LCSseq.editops(own, other).as_matching_blocks() for k in range(n)]
        in_order = len(same) / len(words)
        share = (share + in_order) / 2
        if shared / len(words) - in_order > _DISORDER and _side_by_side(own, other) < _TOGETHER:
            return Copied(share, (Mention(0, len(sentence), sentence, "order"),))
        if in_order < _NEAR:
            return Copied(share)
        return Copied(share, tuple(_exchanged(sentence, words, self._source, passage, same)))

    def _nearest(self, own: Counter[str]) -> tuple[int, int, int]:
        """The sentence that shares most words, or two neighbours if they share three more: first, end, words."""
        counts = self._counts
        shared = [(own & one).total() for one in counts]
        best = max(range(len(counts)), key=lambda i: shared[i], default=0)
        start, end, most = best, best + 1, shared[best] if counts else 0
        for i in range(len(counts) - 1):
            if shared[i] + shared[i + 1] > most + _GAIN and (both := (own & (counts[i] + counts[i + 1])).total()) > (
                most + _GAIN
            ):
                start, end, most = i, i + 2, both
        return start, end, most

    @cached_property
    def _sentences(self) -> list[list[_Word]]:
        """The words of each sentence, with their places in the source."""
        spans = sentence_spans(self._source)
        return [[w._replace(start=w.start + a, end=w.end + a) for w in _words(self._source[a:b])] for a, b in spans]

    @cached_property
    def _counts(self) -> list[Counter[str]]:
        return [Counter(word.stem for word in words) for words in self._sentences]

    def _runs(self, length: int) -> frozenset[tuple[str, ...]]:
        if length not in self._known:
            self._known[length] = frozenset(_runs([word for words in self._sentences for word in words], length))
        return self._known[length]

    def _has_name(self, words: tuple[str, ...]) -> bool:
        initials = [word[0].upper() for word in words if word not in _SMALL]
        acronym = r"\b" + r"\.?".join(initials) + r"\b"  # US or U.S., for United States
        return all(map(self._has_word, words)) or (len(initials) > 1 and bool(re.search(acronym, self._source)))

    def _has_word(self, word: str) -> bool:
        return (
            word in self._words
            or (len(word) > _STEM and word[: max(_STEM, len(word) - _ENDING)] in self._stems)
            or (2 <= len(word) <= _ACRONYM and word in self._initials)
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(_folded_words(self._source))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(word[:i] for word in self._words for i in range(_STEM, len(word) + 1))

    @cached_property
    def _initials(self) -> str:
        """First letters of words with capitals; a blank where other words stand."""
        words = (word for word in _WORD.findall(self._source) if word not in _SMALL)
        return "".join(_fold(word[0]) if word[0].isupper() else " " for word in words)

    @cached_property
    def _values(self) -> Said:
        said = values_of(_TO_SCALE.sub(r"\1\3\2\3", self._source))  # 3 to 4 million are 3 million to 4 million
        return said | {abs(one) for one in said if not isinstance(one, str)}


@lru_cache(maxsize=_KEPT)
def _mentions(sentence: str) -> tuple[tuple[Mention, tuple[str, ...] | Saying], ...]:
    """Numbers of a sentence, and its names with their words, in order."""
    found: list[tuple[Mention, tuple[str, ...] | Saying]] = []
    for number in find_numbers(sentence):
        said = sayings_of(sentence, number)
        start, end = number.outer_start, max(number.outer_end, said[-1].end)
        scaled = {abs(one) for beside in said[1:] for one in beside.says if not isinstance(one, str)}
        what = replace(said[0], asks=tuple(means | scaled for means in said[0].asks))
        found.append((Mention(start, end, sentence[start:end], "number"), what))
    taken = [(mention.start, mention.end) for mention, _ in found]
    for name in entities(language().analyse(sentence).tokens):
        text = sentence[name.start : name.end]
        words = tuple(word for word in _folded_words(text, capitals=True) if not _is_title(word))
        if words and not any(start < name.end and name.start < end for start, end in taken):
            found.append((Mention(name.start, name.end, text, "name"), words))
    return tuple(sorted(found, key=lambda pair: pair[0].start))


def _folded_words(text: str, *, capitals: bool = False) -> list[str]:
    """Words without case, marks and possessive endings; with `capitals` those alone that begin with one."""
    words = (_OWNER.sub("", word) for word in _WORD.findall(text))
    return [_fold(word) for word in words if word and (word[0].isupper() or not capitals)]


@lru_cache(maxsize=_KEPT)
def _words(text: str) -> tuple[_Word, ...]:
    found = ((start, end, text[start:end]) for start, end in letter_spans(text))
    return tuple(_Word(start, end, word, stem(word.casefold())) for start, end, word in found if word != "n")  # do n't


def _runs(words: Sequence[_Word], length: int) -> list[tuple[str, ...]]:
    return [tuple(word.stem for word in words[i : i + length]) for i in range(len(words) - length + 1)]


def _side_by_side(own: Sequence[str], other: Sequence[str]) -> float:
    """The share of pairs of neighbours that another text has, too, with at most two words between."""
    near = {(other[i], later) for i in range(len(other)) for later in other[i + 1 : i + 1 + _APART]}
    pairs = list(pairwise(own))
    return sum(pair in near for pair in pairs) / len(pairs) if pairs else 1.0


def _exchanged(
    sentence: str, own: Sequence[_Word], source: str, other: Sequence[_Word], same: Sequence[tuple[int, int]]
) -> Iterator[Mention]:
    """What stands in a sentence in the place of something else of a passage, or denies it; or what is denied there.

    Args:
        sentence: the sentence, and `own` its words.
        own: see there.
        source: the source, and `other` the words of the passage.
        other: see there.
        same: the places of words that both have, in order.
    """
    numbers = [(mention, what) for mention, what in _mentions(sentence) if isinstance(what, Saying)]
    free = Counter(word.stem for word in other) - Counter(other[at].stem for _, at in same)
    for (a, b), (c, d) in pairwise([(-1, -1), *same, (len(own), len(other))]):
        here, there = own[a + 1 : c], other[b + 1 : d]
        is_near = len(there) <= len(here) + _APART
        if b < 0 or d == len(other):  # before the first word and behind the last one the passage may say more
            there = there if is_near else ()
        denies, denied = map(_denials, (here, there))
        if denies and not denied:
            yield Mention(denies[0].start, denies[0].end, denies[0].text, "negation")
        elif denied and not denies and is_near:
            beside = own[min(c, len(own) - 1)]
            yield Mention(beside.start, beside.end, beside.text, "negation")
        if not (here and there and is_near):
            continue
        inside = [mention for mention, _ in numbers if any(mention.start <= word.start < mention.end for word in here)]
        begun = a >= 0 and any(mention.start <= own[a].start for mention in inside)  # with a word that both have
        values = values_of(source[other[b].start if begun else there[0].start : there[-1].end])
        if inside and values and not all(what.is_among(values) for mention, what in numbers if mention in inside):
            yield inside[0]
            continue
        plain = [word for word in here if not any(mention.start <= word.start < mention.end for mention in inside)]
        new, old = ([w for w in some if w.text in _NAMES or not is_function(w.text.lower())] for some in (plain, there))
        named = [word for word in new if word.start and word.text[0].isupper()]
        moved = [word for word in new if free[word.stem] or {word.stem, there[0].stem} <= _TIMES] if old else []
        known = Grounds(source[there[0].start : there[-1].end])
        has_name = any(w.text[0].isupper() for w in old) and not known._has_name(tuple(_fold(w.text) for w in named))
        if moved or (named and has_name):
            word = (moved or named)[0]
            yield Mention(word.start, word.end, word.text, "name")


def _denials(words: Sequence[_Word]) -> list[_Word]:
    pairs = pairwise([*words, _Word(0, 0, "", "")])
    return [a for a, b in pairs if a.text.lower() in _DENIALS and f"{a.text} {b.text}".lower() not in _NO_DENIALS]


def _stems(text: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in unicode_words(text))


def _fold(word: str) -> str:
    letters = unicodedata.normalize("NFKD", word.replace(".", "")).casefold()
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _is_title(word: str) -> bool:
    return any(word in name_words(kind) for kind in _TITLES)


# --- Which passages of a source may support a sentence? Those nearest in words

Span = tuple[int, int]  # first character, and the one after the last


class Nearness:
    """How many words, and how rare ones, each passage of a source shares with a sentence.

    Args:
        passages: their texts.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self._words = [frozenset(_stems(passage)) for passage in passages]
        counts = Counter(word for words in self._words for word in words)
        self._weights = {word: math.log(1 + len(passages) / count) for word, count in counts.items()}

    def nearest(self, sentence: str, top: int) -> list[int]:
        """Places of the passages nearest to a sentence, in the order of the source; all if none shares a word with it.

        The weight of a word is log(1 + passages / passages with the word). Of passages that share as much the earlier
        ones are taken.
        """
        words = {*_stems(sentence)} & self._weights.keys()
        if len(self._words) <= top or not words:
            return list(range(len(self._words)))
        # Rounded, so that the order does not hang on the last bits of a logarithm.
        shared = [round(math.fsum(self._weights[word] for word in words & own), 9) for own in self._words]
        return sorted(sorted(range(len(shared)), key=lambda place: -shared[place])[:top])


# --- What a source says to each sentence of a text: its support, the best evidence, and names and numbers without any

LINE = 0.25  # a sentence with less is marked; no line holds beyond the texts that it was found on
_LIKELY = 0.5  # a probability from which on a model says so
_REASONS = {
    "order": "words of the source in disorder",
    "negation": "denied in one of the two alone, at {}",
    "number": "another number in the source than {}",
    "name": "another word in the source than {}",
}


@dataclass(frozen=True, slots=True)
class Quote:
    """A part of a text.

    Attributes:
        start: its first character.
        end: the one after its last.
        text: as written.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Claim:
    """A sentence of a text beside its source.

    Attributes:
        sentence: where it stands in the text.
        support: as in the metric, in [0, 1].
        contradiction: the mean of the probabilities that `evidence` contradicts it, and that two sentences do; None
            where a model has two labels, and so does not tell the contrary from what is not said, or nothing is asked.
        evidence: the sentence of the source that supports it best; if none does, the one that says most of it, be it
            the contrary.
        lacking: its names and numbers that the source lacks, with their places in the text.
        flaws: what it has otherwise than the passage that it copies, with the places.
    """

    sentence: Quote
    support: float
    contradiction: float | None
    evidence: Quote
    lacking: tuple[Mention, ...]
    flaws: tuple[Mention, ...] = ()

    @property
    def reason(self) -> str:
        """Why the sentence is not supported, in words."""
        if self.lacking:
            return "not in the source: " + ", ".join(mention.text for mention in self.lacking)
        if self.flaws:
            first = self.flaws[0]
            return _REASONS[first.kind].format(first.text)
        if self.contradiction is None:
            return "not supported by the source"
        return "contradicted by the source" if self.contradiction > _LIKELY else "not said by the source"


@dataclass(frozen=True)
class Evidence:
    """The sentences of a text beside its source.

    Attributes:
        value: the score of the text; 0 if one of the two texts is empty.
        claims: its sentences, in order.
        signature: what produced the numbers.
    """

    value: float
    claims: tuple[Claim, ...]
    signature: Signature

    def unsupported(self, below: float = LINE) -> tuple[Claim, ...]:
        """The sentences whose support is below a bound, the least supported first."""
        return tuple(sorted((c for c in self.claims if c.support < below), key=lambda c: round(c.support, 5)))

    def rows(self, below: float = LINE) -> list[dict[str, Any]]:
        """One row per sentence, for tables and JSON; the reason is None from the bound on."""
        return [
            {
                "start": claim.sentence.start,
                "end": claim.sentence.end,
                "sentence": claim.sentence.text,
                "support": claim.support,
                "contradiction": claim.contradiction,
                "evidence": claim.evidence.text,
                "lacking": [mention.text for mention in claim.lacking],
                "reason": claim.reason if claim.support < below else None,
            }
            for claim in self.claims
        ]

    def lines(self, below: float = LINE) -> Iterator[str]:
        """The evidence as text: the support and the sentence, and below it what speaks for it or is missing."""
        for claim in self.claims:
            yield f"{claim.support:.2f}  {claim.sentence.text}"
            if claim.support < below:
                yield f"      {claim.reason}"
            yield f"      evidence: {claim.evidence.text}"

    def __str__(self) -> str:
        return "\n".join([f"{self.value:.3f}", *self.lines()])


# --- Is every sentence of a text supported by its source? And if not, which one, and why?

_SHARE = 2 / 3  # of the model's room that two sentences may take: the rest is the claim's
_ALIKE = 1e-5  # supports that differ by less are equal: the last digits hang on the processor


@dataclass(frozen=True, kw_only=True)
class Faithful(NliMetric):
    """The support of each sentence of a text by its source: half the mean over the sentences, half the least.

    The source is read twice, by single sentences and by two that stand side by side. Of each the highest probability
    of entailment is taken, and of the two the mean. What the sentence copies from the source, in order, counts besides.
    If a name or a number of it stands nowhere in the source, all this is multiplied by `cap`. A sentence that is
    nearly a copy of a passage is compared with it word by word: where another number or name stands there, where one of
    the two alone denies, or where the words are in disorder, all is multiplied by `cap` twice. The parts are `mean` and
    `least`, of the supports of sentences, and `lacking`, the number of names and numbers that the source lacks. A side
    without a letter or a digit gets 0 (flag `empty`). `nlgauge explain --method evidence`, in Python `evidence`, shows
    the sentence of the source that decides, and what is lacking.

    It favours right copies over right rewordings: do not compare systems that copy with systems that reword. It judges
    facts alone.

    Each sentence is judged without the others, so a pronoun lacks what it stands for, and what follows in two steps can
    be called contradicted. A name has support if each of its words stands in the source, in any case or ending
    ("Spanish" by "Spain") or as initials (UN); names are found by capitals, in English. A number, a date or a time has
    it if the source says the same, in digits or words. So one that follows from others (an age from two years) is
    lacking, and a right one in the wrong place is left to the model where the sentence is no copy.

    Args:
        top: how many sentences, and how many pairs of them, are read for each sentence: those that share most words
            with it, of which rare ones count more; 0 reads all, and all are read where none shares a word.
        copied: the weight of what is copied: the mean of the share of the sentence's runs of three words that stand in
            the source, and of its words that stand in one passage in the same order, by their stems; the models have
            the rest.
        cap: the factor for a sentence with a name or a number that the source lacks, and, twice, for a copy with a
            flaw; 1 leaves both as they are.
        least: the weight of the least supported sentence in the value; the mean of all sentences has the rest.

    References:
        Laban et al. (2022), "SummaC", section 3.2.1, takes the maximum over the source and the mean over the summary,
        both by sentences. Tang et al. (2024), "MiniCheck", sections 3 and 5, read long sources in parts of whole
        sentences. The rest is ours: the two readings, the choice of passages, what is copied and its flaws, names and
        numbers, and the weight of the least supported sentence.
    """

    model: str = "nli-robust"
    top: Annotated[int, Range(least=0)] = 3
    copied: Annotated[float, Range(least=0, most=1, meaning="a weight")] = 0.4
    cap: Annotated[float, Range(least=0, most=1, meaning="a factor")] = 0.1
    least: Annotated[float, Range(least=0, most=1, meaning="a weight")] = 0.5
    info: ClassVar = MetricInfo(
        "faithful",
        needs={"source"},
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"mean": True, "least": True, "lacking": None},
        summary="support of each sentence by the source; a copy need not be best: a model may be surer of another one",
        tasks={"as"},
        paper='Tang et al. (2024), "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents"; Laban et al.'
        ' (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization"',
    )
    lacking: ClassVar = {"source": "; the text that it was made from stands in the field src, or in the file of --src"}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in [0, 1]; parts `mean` and `least` of the sentences' supports, and `lacking`.

        `lacking` is the number of names and numbers that the source lacks. The flags are `empty`, `truncated`,
        `unknown` and `nonfinite`. An empty side gives 0 and sets the flag `empty`. A segment with a text of which no
        piece is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks its source; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        model = self.loaded(runtime)
        texts = [(segment.hypothesis, segment.source or "") for segment in segments]
        read = _read(dict.fromkeys(text for pair in texts for text in pair), model)
        mean, least, lacking, shares = np.zeros((4, len(segments)))
        empty = np.array([not all(read[text].spans for text in pair) for pair in texts], dtype=np.bool_)
        truncated = np.zeros(len(segments), dtype=np.bool_)
        asked = np.flatnonzero(~empty).tolist()
        found = self._judged([texts[i] for i in asked], read, model, runtime)
        for i, claims in zip(asked, found, strict=True):
            supports = np.array([claim.support for claim in claims])
            mean[i], least[i] = supports.mean(), supports.min()
            lacking[i] = sum(len(claim.lacking) for claim in claims)
            truncated[i] = any(claim.truncated for claim in claims)
        if asked:
            whole = {text: np.concatenate(one.pieces) for text, one in read.items() if one.spans}
            shares[asked] = unknown_in([texts[i] for i in asked], whole, model)
        value = (1 - self.least) * mean + self.least * least
        broken = nonfinite(value)
        value, mean, least = (known(column, shares) for column in (value, mean, least))
        parts = {"mean": mean, "least": least, "lacking": lacking}
        flags = {"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), value, parts, flags=flags)

    def _judged(
        self, pairs: Sequence[tuple[str, str]], read: Mapping[str, _Sentences], model: NliModel, runtime: Runtime
    ) -> list[list[_Judged]]:
        """The sentences of each hypothesis, judged against its source. Neither of the two is empty."""
        sources = dict.fromkeys(source for _, source in pairs)
        claims = list(dict.fromkeys((claim, source) for hyp, source in pairs for claim in read[hyp].texts))
        single = {source: _Passages(source, read[source].spans) for source in sources}
        double = {source: _Passages(source, _neighbours(read[source], model)) for source in sources}
        near, around = (_asked(claims, passages, self.top, model, runtime) for passages in (single, double))
        grounds = {source: Grounds(source) for source in sources}
        judged: dict[tuple[str, str], _Judged] = {}
        for (claim, source), one, two in zip(claims, near, around, strict=True):
            lacking, copied = grounds[source].lacks(claim), grounds[source].copied(claim)
            entailed = (one.entailed + two.entailed) / 2
            support = (1 - self.copied) * entailed + self.copied * copied.share
            support *= (self.cap if lacking else 1.0) * (self.cap**2 if copied.flaws else 1.0)
            judged[claim, source] = _Judged(support, lacking, one.truncated or two.truncated, one, two)
        return [[judged[claim, source] for claim in read[hyp].texts] for hyp, source in pairs]


def _neighbours(read: _Sentences, model: NliModel) -> Sequence[Span]:
    """Two sentences each that stand side by side and fit into the model; single ones where there are none."""
    room, sizes = model.tokenizer.room, [len(pieces) for pieces in read.pieces]
    most = math.inf if room is None else room * _SHARE
    places = [i for i, size in enumerate(map(sum, pairwise(sizes))) if size <= most]
    return [(read.spans[i][0], read.spans[i + 1][1]) for i in places] or read.spans


_COLUMNS = ("value", "support", "contradiction", "start", "end")  # of a sentence in the cache; the last two: evidence


def evidence(hypothesis: str, source: str, runtime: Runtime | None = None, metric: Faithful | None = None) -> Evidence:
    """The support of each sentence of a text, with the sentence of the source that supports it best.

    Args:
        hypothesis: the text.
        source: what it was made from.
        runtime: None is the default runtime. Its cache keeps what the models say.
        metric: None is `Faithful()`.

    Raises:
        InputError: the model cannot be read or is not an NLI model.
    """
    metric, runtime = metric or Faithful(), runtime or Runtime()
    segment, signature = Segment("", hypothesis, source=source), signature_of(metric, runtime)
    model = metric.loaded(runtime)
    read = _read([hypothesis, source], model)
    spans = read[hypothesis].spans
    cache = runtime.cache() if callable(runtime.cache) else runtime.cache
    text, kept = text_key(segment, metric.info.needs), f"evidence:{signature}"
    keys = [text + place.to_bytes(4, "big") for place in range(len(spans))]
    held = cache.get(kept, keys) if isinstance(cache, ScoreCache) else {}
    rows = np.array([held[key] for key in keys if key in held])
    if not read[source].spans:  # it bears out nothing
        rows = np.array([(0.0, 0.0, math.nan, 0, 0)] * len(spans))
    elif len(rows) < len(spans):
        (judged,) = metric._judged([(hypothesis, source)], read, model, runtime)
        value = metric.score([segment], runtime).values[0]
        rows = np.array([(value, one.support, *_told(one)) for one in judged])
        if isinstance(cache, ScoreCache):
            cache.put(kept, _COLUMNS, keys, rows)
    claims, grounds = [], Grounds(source)
    for (start, end), (_, support, denied, first, after) in zip(spans, rows.tolist(), strict=True):
        sentence = Quote(start, end, hypothesis[start:end])
        quote = Quote(int(first), int(after), source[int(first) : int(after)])
        lacking = tuple(_moved(mention, start) for mention in grounds.lacks(sentence.text))
        flaws = tuple(_moved(mention, start) for mention in grounds.copied(sentence.text).flaws)
        claims.append(Claim(sentence, support, None if math.isnan(denied) else denied, quote, lacking, flaws))
    return Evidence(float(rows[0, 0]) if claims else 0.0, tuple(claims), signature)


def _moved(mention: Mention, by: int) -> Mention:
    return replace(mention, start=mention.start + by, end=mention.end + by)


def _told(one: _Judged) -> tuple[float, int, int]:
    """The probability that a sentence is contradicted, and where the sentence of the source stands that tells most."""
    near, around = one.near.probabilities, one.around.probabilities  # the latter show what a pronoun stands for
    best = _telling(near)
    return float(near[best, 2] + around[_telling(around), 2]) / 2, *one.near.passages[best]


def _telling(probabilities: Array) -> int:
    """The sentence that supports a claim; if none does, the one that says most of it, be it the contrary.

    Args:
        probabilities: of entailment, neutrality and contradiction by each sentence, shape (sentences, 3). With two
            labels it stays the sentence that supports most.
    """
    entailed, neutral = probabilities[:, 0], probabilities[:, 1]
    telling = entailed if entailed.max() >= _LIKELY or np.isnan(neutral).any() else -neutral
    return int(np.argmax(telling >= telling.max() - _ALIKE))  # the first of those that are alike


class _Passages:
    """Parts of a source, and how near they are to a sentence."""

    def __init__(self, source: str, spans: Sequence[Span]) -> None:
        self.spans, self.texts = spans, [source[start:end] for start, end in spans]
        self._nearness = Nearness(self.texts)

    def near(self, claim: str, top: int) -> Sequence[int]:
        """Places of the passages to read for a claim."""
        return self._nearness.nearest(claim, top or len(self.spans))


@dataclass(frozen=True)
class _Answer:
    """What a model says of a claim beside some passages.

    Attributes:
        probabilities: of entailment, neutrality and contradiction by each passage, shape (passages, 3).
        passages: where they stand in the source.
        truncated: whether a pair was cut.
    """

    probabilities: Array
    passages: tuple[Span, ...]
    truncated: bool

    @property
    def entailed(self) -> float:
        """The highest probability of entailment."""
        return float(self.probabilities[:, 0].max())


@dataclass(frozen=True)
class _Judged:
    """A sentence of a hypothesis beside its source.

    Attributes:
        support: how far the models and the copied words support it, less what names and numbers take off.
        lacking: names and numbers that the source lacks.
        truncated: whether a pair was cut.
        near: what single sentences of the source say.
        around: what two sentences side by side say.
    """

    support: float
    lacking: tuple[Mention, ...]
    truncated: bool
    near: _Answer
    around: _Answer


def _asked(
    claims: Sequence[tuple[str, str]], passages: Mapping[str, _Passages], top: int, model: NliModel, runtime: Runtime
) -> list[_Answer]:
    """What a model says of each claim (a sentence and its source) beside the nearest passages of the source."""
    questions, asked = Questions(), []
    for owner, (claim, source) in enumerate(claims):
        own = passages[source]
        near = own.near(claim, top)
        asked.append(tuple(own.spans[place] for place in near))
        questions.ask(owner, [(own.texts[place], claim) for place in near])
    contents = model.tokenizer.read(text for pair in questions.pairs for text in pair)
    probabilities, cut = questions.judged(model, contents, runtime, "faithful")
    ends = np.cumsum([len(spans) for spans in asked])
    rows = [slice(end - len(spans), end) for spans, end in zip(asked, ends.tolist(), strict=True)]
    return [_Answer(probabilities[row], spans, bool(cut[row].any())) for row, spans in zip(rows, asked, strict=True)]


@dataclass(frozen=True)
class _Sentences:
    """The sentences of a text with a letter or a digit, of which the tokenizer keeps something.

    Attributes:
        texts: the sentences.
        spans: where they stand.
        pieces: what the model reads of each.
    """

    texts: tuple[str, ...]
    spans: tuple[Span, ...]
    pieces: tuple[Ids, ...]


def _read(texts: Iterable[str], model: NliModel) -> dict[str, _Sentences]:
    """The sentences of each text. A blank text has none."""
    spans = {text: [] if is_blank(text) else sentence_spans(text) for text in texts}
    pieces = model.tokenizer.read(text[start:end] for text, found in spans.items() for start, end in found)
    read = {}
    for text, found in spans.items():
        # What the tokenizer keeps nothing of, as BERT's of U+FFFD, is no sentence.
        kept = [(a, b) for a, b in found if len(pieces[text[a:b]]) and any(map(str.isalnum, text[a:b]))]
        sentences = tuple(text[start:end] for start, end in kept)
        read[text] = _Sentences(sentences, tuple(kept), tuple(pieces[sentence] for sentence in sentences))
    return read
