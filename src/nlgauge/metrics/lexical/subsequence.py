"""Longest common subsequences: their length, and which tokens the union over sentences matches, by bit-parallel rows.

A row of the table of lengths is held as the bits where it steps up (Hyyrö 2004): 64 cells change in one word operation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq

from nlgauge.metrics.lexical.bags import Index, Numbered, bags, batches, gather, ranges

Words = npt.NDArray[np.uint64]

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
    hits[alone] = lcs_lengths(
        texts, hypotheses[alone], references[alone]
    )  # one sentence per side: nothing to unite, nothing to clip
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
    order = np.argsort(
        -sentences.lengths[pairs[1]], kind="stable"
    )  # longest first: pairs at work are always the first ones
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
