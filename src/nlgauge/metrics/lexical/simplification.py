"""Metrics of simpler texts: SARI, grades of readability, and the ratio of lengths."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.metric import BaseMetric, check_needs, scores_of_stats, signature_of
from nlgauge.core.options import Checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank, stripped
from nlgauge.metrics.lexical.ngrams import Gram, WordMetric, grams, ratio
from nlgauge.metrics.lexical.sacrebleu import is_empty
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import ADDRESS, split_sentences

# --- SARI: which n-grams of the source were kept and deleted, and which were added, as in the references

_ORDERS = range(1, 5)
_OPERATIONS = 3  # add, keep, delete
_Counted = tuple[Counter[Gram], Counter[Gram], Counter[Gram]]  # of source, hypothesis and all references


@dataclass(frozen=True, kw_only=True)
class Sari(WordMetric):
    """SARI: are n-grams added, kept and deleted as in the references? For simpler or corrected versions of a source.

    The mean of three scores over n-grams of 1 to 4 words, times 100. All references count together. A copy of the
    reference need not get 100. A blank hypothesis or reference gets 0 (flag `empty`).

    `easse` sums the counts of all segments, each n-gram as often as it occurs, and takes the mean of F1 by order; the
    number of a segment is the same of its own counts. `paper` takes F1 of the mean precision and the mean recall over
    orders, as the paper writes it. `released` is the code of the authors: the mean over sentences, F1 by order,
    precision alone for deletions, and every different n-gram counts once, however often it occurs.

    Args:
        variant: `easse`, `paper` or `released`.

    References:
        Xu et al. (2016), "Optimizing Statistical Machine Translation for Text Simplification"; and for `easse`
        Alva-Manchego et al. (2019), "EASSE: Easier Automatic Sentence Simplification Evaluation", `corpus_sari`, of
        which `paper` is `use_paper_version=True`. `released` with `tokenizer=blanks` is the authors' SARI.py times 100,
        except for a blank side.
    """

    lowercase: bool = True
    variant: Literal["easse", "paper", "released"] = "easse"
    info: ClassVar = MetricInfo(
        "sari",
        needs={"source", "references"},
        range=(0.0, 100.0),
        copy_is_best=False,
        summary="n-grams added, kept and deleted as in the references; what nobody does counts 0, also in a copy",
        tasks={"as"},
        paper='Xu et al. (2016), "Optimizing Statistical Machine Translation for Text Simplification"',
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 100; `stats` are 36 counts, if not `released`: by order and operation, right, made, wanted."""
        check_needs(self, segments)
        split, empty = cache(self.splitter()), is_empty(segments)
        counted = ([self._counts(segment, split, order) for order in _ORDERS] for segment in segments)
        many = [len(segment.references) for segment in segments]
        if self.variant == "released":
            values = np.array([100 * _released(c, n) for c, n in zip(counted, many, strict=True)])
            found = Scores(signature_of(self, runtime), ids(segments), values.reshape(-1), flags={"empty": empty})
        else:
            rows = [[_operations(one, n) for one in c] for c, n in zip(counted, many, strict=True)]
            stats = np.array(rows, dtype=np.float64).reshape(len(segments), -1 if rows else 36)  # (n, 36)
            found = scores_of_stats(self, segments, runtime, stats, {"empty": empty})
        return replace(found, values=np.where(empty, 0.0, found.values))

    def corpus(self, totals: Array) -> Array:
        """SARI of summed counts: shape (..., 36) to (...)."""
        counts = np.asarray(totals, dtype=np.float64).reshape(*np.shape(totals)[:-1], len(_ORDERS), _OPERATIONS, 3)
        right, made, wanted = np.moveaxis(counts, -1, 0)  # (..., 4, 3) each
        shares = [right / np.maximum(of, 1) for of in (made, wanted)]  # precision and recall by order
        if self.variant == "paper":
            shares = [share.mean(axis=-2, keepdims=True) for share in shares]
        return np.asarray(100 * _f1(*shares).mean(axis=(-2, -1)))

    @staticmethod
    def _counts(segment: Segment, split: Any, order: int) -> _Counted:
        references: Counter[Gram] = Counter()
        for reference in segment.references:
            references.update(grams(split(reference), order))
        return grams(split(segment.source), order), grams(split(segment.hypothesis), order), references


def _operations(counted: _Counted, n_references: int) -> list[tuple[int, int, int]]:
    """What was added, kept and deleted rightly, by the hypothesis, and by the references.

    Source and hypothesis count once for each reference. Added n-grams count once, however often they occur.
    """
    source, hypothesis, references = counted
    added, wanted = hypothesis.keys() - source.keys(), references.keys() - source.keys()
    rows = [(len(added & wanted), len(added), len(wanted))]
    for kept in (True, False):
        right = made = asked = 0
        for gram, n in source.items():
            own = min(n, hypothesis[gram]) * n_references
            theirs = min(n * n_references, references[gram])
            if not kept:
                own, theirs = n * n_references - own, n * n_references - theirs
            right, made, asked = right + min(own, theirs), made + own, asked + theirs
        rows.append((right, made, asked))
    return rows


def _released(by_order: Sequence[_Counted], n_references: int) -> float:
    """SARI of a sentence as in the authors' SARI.py, in [0, 1]."""
    total = 0.0
    for source, hypothesis, references in by_order:
        added, wanted = hypothesis.keys() - source.keys(), references.keys() - source.keys()
        right = len(added & wanted)
        total += _f1(right / max(len(added), 1), right / max(len(wanted), 1))
        own, theirs, gone = [], [], []  # shares that are right: of what was kept, of what was to be kept, of deletions
        for gram, n in source.items():
            whole, kept = n * n_references, min(n, hypothesis[gram]) * n_references
            asked = min(whole, references[gram])
            if kept:
                own.append(min(kept, asked) / kept)
            if asked:
                theirs.append(min(kept, asked) / asked)
            if whole > kept:
                gone.append(max(whole - kept - references[gram], 0) / (whole - kept))
        total += _f1(math.fsum(own) / max(len(own), 1), math.fsum(theirs) / max(len(theirs), 1))
        total += math.fsum(gone) / max(len(gone), 1)
    return total / (len(by_order) * _OPERATIONS)


def _f1(precision: Any, recall: Any) -> Any:
    both = precision + recall
    return np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1.0), 0.0)


# --- Readability: the school grade for which an English text is written

_LETTERS = re.compile(r"[a-z]+")
_VOWELS = re.compile(r"[aeiouy]+")
# An e is silent at the end and before some endings, and so are -es and -ed, but after l as in "table" and "tables" and
# after sounds that need the vowel, as in "boxes" and "added".
_SILENT = re.compile(
    r"(?<![aeiouy])(?<![^aeiouy]l)e(?:$|(?=(?:ly|ment|ful|less|self|selves)s?$))"
    r"|(?<![aeiouytd])ed$|(?<![aeiouycsxzgh])(?<![^aeiouy]l)es$"
)
# Vowels side by side that are two syllables, as in "radio" but not "nation"; and -sm and -thm.
_TWO = re.compile(
    r"(?<![ctsgx])(?<!ll)i[aou]|[aeou]ing|[^aeiou]ier|iet|(?<![qg])u[aou](?!r)|eo(?!us|pl|n$)|[st]hm$|sm$"
)
_NOT = re.compile(r"(?<=[ds])n['’]t\b")
_GLUED = re.compile(r"(?<=[a-z\d]{2})([.!?][\"'’”)]*)(?=[A-Z][a-z])")  # the end of a sentence before the next: left.She
_WEIGHTS = {"fkgl": (0.39, 11.8, -15.59), "ari": (0.5, 4.71, -21.43)}


@dataclass(frozen=True, kw_only=True)
class Readability(Checked, BaseMetric):
    """The grade of an American school for which a text is written, by the length of its sentences and words.

    It says how hard a text is to read, and not how good it is: nonsense in short words has a low grade, and simpler
    is better only where it was asked for. Grades of single sentences mean little. They are for English; other
    languages have formulas of their own.

    A word is a piece between blanks with a letter or digit; sentences are split by rule, also where the blank between
    them is missing, and an address counts as the word `link`. The number of a system comes from the words, sentences
    and syllables of all its texts. A text without a word has no grade (flag `wordless`).

    Syllables are counted by a rule for spelling, which agrees with the CMU dictionary on 97 % of words.

    Args:
        formula: `fkgl` is the Flesch-Kincaid grade level, 0.39 words a sentence + 11.8 syllables a word - 15.59. `ari`
            is the Automated Readability Index, 0.5 words a sentence + 4.71 letters and digits a word - 21.43.

    References:
        Kincaid et al. (1975), "Derivation of New Readability Formulas for Navy Enlisted Personnel", for both formulas;
        Smith and Senter (1967), "Automated Readability Index", for `ari`.
    """

    formula: Literal["fkgl", "ari"] = "fkgl"
    notes: ClassVar = ("it says how hard outputs are to read, not how good they are",)
    info: ClassVar = MetricInfo(
        "readability",
        needs=frozenset(),
        range=(-math.inf, math.inf),
        higher_is_better=False,
        judges=False,
        copy_is_best=False,
        blank=math.nan,
        summary="school grade of an English text, by its sentences and words; lower is easier to read, not better",
        tasks=TASKS,
        paper='Kincaid et al. (1975), "Derivation of New Readability Formulas for Navy Enlisted Personnel"',
    )

    def unread(self, writing: Writing) -> str | None:
        """Whether the text is in another language, for which the weights are not meant."""
        return None if writing.may_be_english else "its formulas are for English"

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Grades; `stats` are (words, sentences, syllables or characters)."""
        check_needs(self, segments)
        count = cache(self._count)
        stats = np.array([count(segment.hypothesis) for segment in segments], dtype=np.float64).reshape(-1, 3)
        wordless = stats[:, 0] == 0
        return scores_of_stats(self, segments, runtime, stats, {"wordless": wordless})

    def corpus(self, totals: Array) -> Array:
        """The grade of summed counts: shape (..., 3) to (...); NaN without a word."""
        words, sentences, parts = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
        by_sentence, by_word, shift = _WEIGHTS[self.formula]
        grade = by_sentence * words / np.maximum(sentences, 1) + by_word * parts / np.maximum(words, 1) + shift
        return np.asarray(np.where(words > 0, grade, np.nan))

    def _count(self, text: str) -> tuple[int, int, int]:
        plain = _GLUED.sub(r"\1 ", ADDRESS.sub("link", stripped(text)))
        sentences = [words for sentence in split_sentences(plain) if (words := _words(sentence))]
        every = [word for words in sentences for word in words]
        if self.formula == "ari":
            return len(every), len(sentences), sum(map(str.isalnum, "".join(every)))
        return len(every), len(sentences), sum(map(syllables, every))


def _words(text: str) -> list[str]:
    return [word for word in text.split() if any(map(str.isalnum, word))]


def syllables(word: str) -> int:
    """About how many syllables an English word has, by its spelling; 1 at least, as figures have."""
    whole = _NOT.sub("nit", word.lower()).replace("'", "").replace("’", "")
    plain = "".join(c for c in unicodedata.normalize("NFKD", whole) if not unicodedata.combining(c))
    parts = [max(_of_letters(part), 1) for part in _LETTERS.findall(plain)]
    return max(sum(parts), 1)


def _of_letters(word: str) -> int:
    return len(_VOWELS.findall(word)) + len(_TWO.findall(word)) - len(_SILENT.findall(word))


# --- The ratio of lengths


@dataclass(frozen=True, kw_only=True)
class LengthRatio(WordMetric):
    """Words of the hypothesis over those of the reference: 1 is as long, above 1 is longer.

    Neither end is better. The number of a system is the ratio of sums. Of several references the one closest in length
    counts, the shorter of two as close. A blank hypothesis gets 0 (flag `empty`); without a word in the reference there
    is no ratio (flag `wordless`).

    References:
        Papineni et al. (2002), "BLEU", section 2.2.2, where it makes the brevity penalty.
    """

    notes: ClassVar = ("1 is as long as the reference, and neither more nor less is better",)
    info: ClassVar = MetricInfo(
        "length_ratio",
        range=(0.0, math.inf),
        judges=False,
        copy_is_best=False,
        blank=math.nan,
        summary="words of the hypothesis over those of the reference; 1 is as long, and neither end is better",
        tasks=TASKS,
        paper='Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"',
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of 0 and more; `stats` are (words of the hypothesis, words of the reference)."""
        check_needs(self, segments)
        split = self.splitter()
        n_words = cache(lambda text: len(split(text)))
        stats = np.array([self._lengths(segment, n_words) for segment in segments], dtype=np.float64).reshape(-1, 2)
        wordless = stats[:, 1] == 0
        stats[wordless] = 0.0
        empty = np.array([is_blank(s.hypothesis) for s in segments], dtype=np.bool_) & ~wordless
        return scores_of_stats(self, segments, runtime, stats, {"empty": empty, "wordless": wordless})

    def corpus(self, totals: Array) -> Array:
        """The ratio of summed lengths: shape (..., 2) to (...); NaN without a reference."""
        return ratio(totals)

    @staticmethod
    def _lengths(segment: Segment, n_words: Any) -> tuple[int, int]:
        own, theirs = n_words(segment.hypothesis), map(n_words, segment.references)
        return own, min((n for n in theirs if n), key=lambda n: (abs(n - own), n), default=0)
