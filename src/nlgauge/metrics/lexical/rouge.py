"""ROUGE: tokens numbered, longest common subsequences by bits, and the metric made of them and of n-grams."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric, Policy, check_needs, over_references, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.lexical.ngrams import Index, Numbered, bags, batches, clipped_overlap, gather, ranges
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.porter import stem
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import TOKENIZERS, TokenizerName, split_sentences

Words = npt.NDArray[np.uint64]


def number(texts: Sequence[str], tokenizer: TokenizerName, normal: Callable[[str], str] | None = None) -> Numbered:
    """Number the tokens of texts; `normal` (a stemmer) is asked once for each distinct token."""
    split = TOKENIZERS[tokenizer]
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__  # a new token gets the next number
    rows = [np.array([numbers[token] for token in split(text)], dtype=np.int64) for text in texts]
    flat = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    if normal is None:
        return Numbered(flat, starts, len(numbers))
    merged: dict[str, int] = {}
    renumbered = np.array([merged.setdefault(normal(token), len(merged)) for token in numbers], dtype=np.int64)
    return Numbered(renumbered[flat], starts, len(merged))


# --- Longest common subsequences: their length, and which tokens the union over sentences matches, by bit-parallel rows
# A row of the table of lengths is held as the bits where it steps up (Hyyrö 2004): 64 cells change in one word
# operation.

_WORD = 64
_CODE_POINTS = 0x110000
_CELLS = 1 << 20  # rows of the sentence pairs worked on at once, 16 bytes each
_ONE = np.uint64(1)
_FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


def lcs_lengths(texts: Numbered, hypotheses: Index, references: Index) -> Index:
    """Length of the longest common subsequence of each pair of texts, shape (p,)."""
    rows: list[str] | list[list[int]]
    bounds = list(zip(texts.starts.tolist(), texts.starts[1:].tolist(), strict=False))
    if texts.size < _CODE_POINTS:  # token numbers as characters: strings are what rapidfuzz reads fastest
        text = texts.tokens.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")
        rows = [text[start:end] for start, end in bounds]
    else:
        numbers = texts.tokens.tolist()
        rows = [numbers[start:end] for start, end in bounds]
    sides = ([rows[i] for i in side.tolist()] for side in (hypotheses, references))
    return np.fromiter(map(LCSseq.similarity, *sides), dtype=np.int64, count=len(hypotheses))


def union_hits(sentences: Numbered, first: Index, hypotheses: Index, references: Index) -> Index:
    """Tokens of a reference that some sentence of the hypothesis matches, none more often than the hypothesis has it.

    Args:
        sentences: the sentences of all texts.
        first: the first sentence of each text, and how many there are, shape (t + 1,).
        hypotheses: a text each, shape (p,).
        references: a text each, shape (p,).
    Returns:
        Shape (p,).
    References:
        Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries", section 3.2; the clipping is ROUGE-1.5.5's
        and rouge-score's.
    """
    hits = np.zeros(len(hypotheses), dtype=np.int64)
    texts = sentences.joined(first)
    spoken = np.concatenate([[0], np.cumsum(sentences.lengths > 0)])[first]
    alone = (np.diff(spoken) <= 1)[np.stack([hypotheses, references])].all(axis=0)
    # One sentence per side: nothing to unite, nothing to clip.
    hits[alone] = lcs_lengths(texts, hypotheses[alone], references[alone])
    many = np.flatnonzero(~alone)
    if not len(many):
        return hits
    counted = bags(texts, 1)
    for batch in batches((texts.lengths[references] + texts.lengths[hypotheses])[many], _CELLS):
        batch = many[batch]
        hypothesis, reference = hypotheses[batch], references[batch]
        spans = first[reference + 1] - first[reference]
        pair = np.repeat(np.arange(len(batch)), spans)
        group, places = union_matches(
            sentences, ranges(first[reference], spans), first[hypothesis][pair], first[hypothesis + 1][pair]
        )
        union = gather(pair[group], sentences.tokens[places], len(batch), sentences.size)
        pair, tokens = np.divmod(union.keys, max(sentences.size, 1))
        clipped = np.minimum(union.counts, counted.count(hypothesis[pair], tokens))
        hits[batch] = np.bincount(pair, weights=clipped, minlength=len(batch))
    return hits


def union_matches(sentences: Numbered, references: Index, first: Index, last: Index) -> tuple[Index, Index]:
    """Which tokens of a reference sentence some sentence of the hypothesis matches.

    Of the longest common subsequences of two sentences the one counts that is read off the table of lengths from its
    end: a match where the two tokens are equal, else one token less of the hypothesis where that keeps the length and
    one less of the reference does not, else one less of the reference.

    Args:
        sentences: all sentences.
        references: a sentence each, shape (g,).
        first: the first of the hypothesis' sentences, shape (g,); they are neighbours.
        last: one beyond the last, shape (g,).
    Returns:
        Group and place in `sentences.tokens` of each match, each once, both of shape (q,).
    """
    lengths = sentences.lengths
    long = lengths[references] > _WORD
    matches = [
        _long_matches(sentences, group, references[group], first[group], last[group])
        for group in np.flatnonzero(long).tolist()
    ]
    short = np.flatnonzero(~long)
    rows = sentences.starts[last] - sentences.starts[first]  # one per token of the hypothesis
    for batch in batches(rows[short], _CELLS):
        part = short[batch]
        groups, places = _short_matches(sentences, references[part], first[part], last[part])
        matches.append((part[groups], places))
    return np.concatenate([groups for groups, _ in matches]), np.concatenate([places for _, places in matches])


def _short_matches(sentences: Numbered, references: Index, first: Index, last: Index) -> tuple[Index, Index]:
    """`union_matches` for reference sentences of at most 64 tokens, all pairs of sentences side by side."""
    counts = last - first
    group = np.repeat(np.arange(len(references)), counts)
    pairs = (references[group], ranges(first, counts))
    # Longest first: pairs at work are always the first ones.
    order = np.argsort(-sentences.lengths[pairs[1]], kind="stable")
    masks = np.zeros(len(group), dtype=np.uint64)
    masks[order] = _matches(sentences, pairs[0][order], pairs[1][order])
    union = np.zeros(len(references), dtype=np.uint64)
    np.bitwise_or.at(union, group, masks)
    groups, bits = np.nonzero(
        np.unpackbits(union.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
    )
    return groups, sentences.starts[references[groups]] + bits


def _matches(sentences: Numbered, references: Index, hypotheses: Index) -> Words:
    """The matched tokens of each reference sentence as bits, shape (p,); pairs have the longest hypothesis first."""
    lengths = sentences.lengths[hypotheses]
    starts = sentences.starts[hypotheses]
    places = _Places(sentences, np.unique(references))
    row = np.full(len(references), _FULL)  # bit i is 0 where the length steps up at token i
    history: list[tuple[Words, Words]] = []
    for column in range(int(lengths[0]) if len(lengths) else 0):
        n = int(np.searchsorted(-lengths, -column))  # pairs longer than this
        here = places.of(references[:n], sentences.tokens[starts[:n] + column])
        common = row[:n] & here
        row[:n] = (row[:n] + common) | (row[:n] - common)
        history.append((here, row[:n].copy()))
    matched = np.zeros(len(references), dtype=np.uint64)
    left = (
        _ONE << (sentences.lengths[references].astype(np.uint64) & np.uint64(_WORD - 1))
    ) - _ONE  # tokens not yet passed, as low bits
    left[sentences.lengths[references] == _WORD] = _FULL
    for here, steps in reversed(history):
        n = len(here)
        stops = _up_to_highest((here | ~steps) & left[:n])
        top = stops ^ (stops >> _ONE)
        equal = top & here
        matched[:n] |= equal
        left[:n] = np.where(equal != 0, stops >> _ONE, stops)
    return matched


class _Places:
    """Where each token stands in each reference sentence, as bits."""

    def __init__(self, sentences: Numbered, references: Index) -> None:
        lengths = sentences.lengths[references]
        owner = np.repeat(references, lengths)
        tokens = sentences.tokens[ranges(sentences.starts[references], lengths)]
        bits = _ONE << ranges(np.zeros_like(lengths), lengths).astype(np.uint64)
        self.size = sentences.size
        keys = owner * self.size + tokens
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        heads = np.flatnonzero(np.diff(keys, prepend=-1))
        self.keys = keys[heads]
        self.bits = np.bitwise_or.reduceat(bits[order], heads) if len(heads) else bits

    def of(self, references: Index, tokens: Index) -> Words:
        wanted = references * self.size + tokens
        if not len(self.keys):
            return np.zeros(len(wanted), dtype=np.uint64)
        places = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[places] == wanted, self.bits[places], np.uint64(0))


def _up_to_highest(words: Words) -> Words:
    """All bits up to the highest one set."""
    for shift in (1, 2, 4, 8, 16, 32):
        words = words | (words >> np.uint64(shift))
    return words


def _long_matches(sentences: Numbered, group: int, reference: int, first: int, last: int) -> tuple[Index, Index]:
    """`union_matches` of one reference sentence of any length, in Python's whole numbers."""
    start, end = sentences.starts[reference : reference + 2].tolist()
    places: dict[int, int] = {}
    for i, token in enumerate(sentences.tokens[start:end].tolist()):
        places[token] = places.get(token, 0) | 1 << i
    union = 0
    for sentence in range(first, last):
        begin, stop = sentences.starts[sentence : sentence + 2].tolist()
        union |= _match_one(places, end - start, sentences.tokens[begin:stop].tolist())
    bits = np.frombuffer(union.to_bytes((end - start + 7) // 8, "little"), dtype=np.uint8)
    matched = start + np.flatnonzero(np.unpackbits(bits, bitorder="little"))
    return np.full(len(matched), group), matched


def _match_one(places: dict[int, int], length: int, hypothesis: Sequence[int]) -> int:
    full = left = (1 << length) - 1
    row = full
    history = []
    for token in hypothesis:
        here = places.get(token, 0)
        common = row & here
        row = ((row + common) | (row - common)) & full
        history.append((here, row))
    matched = 0
    for here, steps in reversed(history):
        stops = (here | ~steps) & left
        if not stops:
            break
        left = (1 << stops.bit_length()) - 1
        top = left ^ (left >> 1)
        if top & here:
            matched |= top
            left >>= 1
    return matched


# --- ROUGE: n-grams or longest common subsequences shared with the reference

_GOES_ON = re.compile(r"[.!?]\s+\w|[\u3002\uff01\uff1f]\s*\w")  # after the end of a sentence
_LONGER_THAN = 3  # letters a word must exceed to be stemmed, after rouge-score


@dataclass(frozen=True, kw_only=True)
class Rouge(BaseMetric):
    """ROUGE-N, ROUGE-L and ROUGE-Lsum; by default they equal those of rouge-score.

    Words (`rouge1`), pairs of words (`rouge2`, and so on to `variant=9`), or the longest common subsequence (`rougeL`;
    `rougeLsum` sentence by sentence) that hypothesis and reference share. Precision is the share of the hypothesis,
    recall that of the reference; the value is F1. The corpus number is the mean of the segments.

    `rougeLsum` expects one sentence a line, as rouge-score does: of texts of one line it is `rougeL`, and a note says
    so; `split=sentences` splits by our own rules, which are not nltk's. A side without a word scores 0, flagged `empty`
    if it is blank and `untokenized` if the tokenizer kept nothing of it: by default that is all but ASCII letters and
    digits, so that Chinese scores 0.

    Args:
        variant: `1` to `9` for n-grams, `L` for the longest common subsequence of the whole texts, `Lsum` for the
            union of those between sentences.
        use_stemmer: stem words of more than three letters a-z and digits (Porter's stemmer as in nltk).
        tokenizer: `rouge` keeps only a-z and 0-9, so other scripts score 0; `unicode` reads every script; `blanks`
            splits texts that are tokenised already, and alone keeps capitals (see `text.tokenize`).
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
        # Each distinct pair once, (p,).
        pairs, place = np.unique(references * n_texts + hypotheses, return_inverse=True)
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
