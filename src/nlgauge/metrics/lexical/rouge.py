"""ROUGE: n-grams or longest common subsequences shared with the reference."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.lexical.bags import Index, bags, clipped_overlap
from nlgauge.metrics.lexical.subsequence import lcs_lengths, union_hits
from nlgauge.metrics.lexical.vocabulary import number
from nlgauge.metrics.references import Policy, over_references
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.porter import stem
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import TokenizerName, split_sentences

_GOES_ON = re.compile(r"[.!?]\s+\w|[\u3002\uff01\uff1f]\s*\w")  # after the end of a sentence
_LONGER_THAN = 3  # letters a word must exceed to be stemmed, after rouge-score


@dataclass(frozen=True, kw_only=True)
class Rouge(BaseMetric):
    """ROUGE-N, ROUGE-L and ROUGE-Lsum; by default they equal those of rouge-score.

    Args:
        variant: `1` to `9` for n-grams, `L` for the longest common subsequence of the whole texts, `Lsum` for the
            union of those between sentences.
        use_stemmer: stem words of more than three letters a-z and digits (Porter's stemmer as in nltk).
        tokenizer: `rouge` keeps only a-z and 0-9, so other scripts score 0; `unicode` reads every script; `blanks`
            splits texts that are tokenised already (see `text.tokenize`).
        split: what a sentence is for `Lsum`: a line (`lines`, rouge-score's default), or a sentence found by rules
            (`sentences`).
        references: how to use several references; `best` is rouge-score's score_multi.
        value: which of the three is the metric's value, and decides the best reference.

    References:
        Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", sections 2 to 3. The numbers are those of
        rouge-score 0.1.2, which clips the union of Lsum by the counts of each token, as ROUGE-1.5.5 did.
    """

    variant: Literal["1", "2", "3", "4", "5", "6", "7", "8", "9", "L", "Lsum"] = "L"
    use_stemmer: bool = False
    tokenizer: TokenizerName = "rouge"
    split: Literal["lines", "sentences"] = "lines"
    references: Policy = "best"
    value: Literal["f1", "precision", "recall"] = "f1"
    info: ClassVar = MetricInfo(
        "rouge",
        summary="n-grams or common subsequences shared with the reference",
        tasks=TASKS,
        paper='Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.split != "lines" and self.variant != "Lsum":
            raise SpecError(f"rouge:split changes nothing under variant={self.variant}; only Lsum reads sentences")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The splitter of sentences, for `Lsum`; the version of Unicode, for the tokenizer of every script."""
        return {
            "split": self.split if self.variant == "Lsum" else None,
            "unicode": unicodedata.unidata_version if self.tokenizer == "unicode" else None,
        }

    def unread(self, writing: Writing) -> str | None:
        """The loss of the tokenizer on a text that is not Latin, and the tokenizer without it."""
        if self.tokenizer == "rouge":
            if writing.may_be_english:
                return None
            split = ", or tokenizer=blanks for text that is split already" if writing.spaced else ""
            return f"the tokenizer rouge keeps only a-z and 0-9; take tokenizer=unicode{split}"
        if self.tokenizer == "blanks" and not writing.spaced:
            return "the tokenizer blanks splits words at blanks, of which they have few; take tokenizer=unicode"
        return None

    def unfit(self, segments: Sequence[Segment]) -> str | None:
        """Whether texts of several sentences have no line breaks, so that `Lsum` takes each for one sentence."""
        if self.variant != "Lsum" or self.split != "lines":
            return None
        texts = [text for s in segments for text in (s.hypothesis, *s.references)]
        if any("\n" in text for text in texts) or not any(map(_GOES_ON.search, texts)):
            return None
        return "no text has a line break, so that this is rougeL; take split=sentences"

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; parts `precision`, `recall`, `f1`.

        A side without any token scores 0. It raises the flag `empty` if it is blank, and else the flag `untokenized`.
        """
        check_needs(self, segments)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        numbers: dict[str, int] = {}
        hypotheses = np.array([numbers.setdefault(s.hypothesis, len(numbers)) for s in segments], dtype=np.int64)
        references = np.array([numbers.setdefault(s.references[0], len(numbers)) for s in segments], dtype=np.int64)
        n_texts = max(len(numbers), 1)
        pairs, place = np.unique(
            references * n_texts + hypotheses, return_inverse=True
        )  # each distinct pair once, (p,)
        reference, hypothesis = np.divmod(pairs, n_texts)
        blank = np.array(list(map(is_blank, numbers)), dtype=np.bool_)  # (t,)
        texts = ["" if is_empty else text for text, is_empty in zip(numbers, blank, strict=True)]
        hits, tokens = self._hits(texts, hypothesis, reference)
        total = np.maximum(tokens - self._order + 1, 1)  # n-grams of each text, (t,)
        precision, recall = hits / total[hypothesis], hits / total[reference]
        with np.errstate(invalid="ignore"):
            f1 = np.where(hits > 0, 2 * precision * recall / (precision + recall), 0.0)
        parts = {name: column[place] for name, column in (("precision", precision), ("recall", recall), ("f1", f1))}
        lost = (tokens == 0) & ~blank
        sides = {"empty": blank, "untokenized": lost}
        flags = {name: (flag[hypothesis] | flag[reference])[place] for name, flag in sides.items()}
        return Scores(signature_of(self, runtime), ids(segments), parts[self.value], parts, flags=flags)

    def _hits(self, texts: list[str], hypotheses: Index, references: Index) -> tuple[Index, Index]:
        """Matches of each pair, shape (p,), and tokens of each text, shape (t,)."""
        normal = _stem_long_word if self.use_stemmer else None
        if self.variant == "Lsum":
            split = split_sentences if self.split == "sentences" else _lines
            listed = [split(text) for text in texts]
            first = np.cumsum([0, *map(len, listed)])
            numbered = number([sentence for sentences in listed for sentence in sentences], self.tokenizer, normal)
            return union_hits(numbered, first, hypotheses, references), numbered.joined(first).lengths
        numbered = number(texts, self.tokenizer, normal)
        if self.variant == "L":
            return lcs_lengths(numbered, hypotheses, references), numbered.lengths
        return clipped_overlap(bags(numbered, self._order), hypotheses, references), numbered.lengths

    @property
    def _order(self) -> int:
        return int(self.variant) if self.variant.isdigit() else 1


def _lines(text: str) -> list[str]:
    return text.split("\n")  # not splitlines: a carriage return or U+2028 ends no line


def _stem_long_word(token: str) -> str:
    return stem(token) if len(token) > _LONGER_THAN and token.isascii() else token
