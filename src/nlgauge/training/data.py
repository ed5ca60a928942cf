"""Labelled pairs of sentences: read from JSON lines, split into pieces, grouped by length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.io.files import Faults, InputFile
from nlgauge.io.rows import JsonRows
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.tokens import Ids

LABELS = ("entailment", "neutral", "contradiction")
_WINDOW = 64  # the number of batches shuffled together before they are sorted by length


class LabelledPair(NamedTuple):
    """A premise, a hypothesis and the index of their label in `LABELS`."""

    premise: str
    hypothesis: str
    label: int


@dataclass(frozen=True)
class EncodedPairs:
    """Pairs as a network reads them.

    Attributes:
        ids: piece ids of each pair, special tokens included.
        types: token types in the same shapes; in BERT's families 0 for the premise's pieces and 1 for the
            hypothesis's.
        labels: shape (n,).
        n_cut: the number of pairs longer than the limit, whose longer side was cut.
    """

    ids: list[Ids]
    types: list[Ids]
    labels: Ids
    n_cut: int

    @property
    def lengths(self) -> Ids:
        """The number of pieces of each pair, shape (n,)."""
        return np.array([len(ids) for ids in self.ids], dtype=np.int64)


def read_pairs(file: InputFile) -> list[LabelledPair]:
    """The pairs of a JSON lines file, plain or gzip.

    The fields are `premise`, `hypothesis` and `label`; others are ignored.

    Raises:
        InputError: a field is missing or is not text, a label is not in `LABELS` (in any case), or there is no pair at
            all; the error names file and line.
    """
    rows, faults = JsonRows(file), Faults(file.name)
    rows.refuse = faults.add
    pairs = []
    for number, row in rows:
        with faults.row(rows.at(number)):
            premise, hypothesis, label = (_text(row, name) for name in ("premise", "hypothesis", "label"))
            folded = label.strip().lower()
            if folded not in LABELS:
                raise InputError(f"label is {label!r:.60}, expected {', '.join(LABELS[:-1])} or {LABELS[-1]}")
            pairs.append(LabelledPair(premise, hypothesis, LABELS.index(folded)))
    faults.check()
    if not pairs:
        raise InputError(
            f"{file.name} holds no pairs, expected one JSON object per line with premise, hypothesis and label"
        )
    return pairs


def _text(row: Any, name: str) -> str:
    value = row.get(name) if isinstance(row, dict) else None
    if not isinstance(value, str):
        found = f"{name} is {type(value).__name__}" if isinstance(row, dict) and name in row else f"no {name}"
        raise InputError(f"{found}, expected an object with the texts premise, hypothesis and label")
    return value


def encode_pairs(pairs: Sequence[LabelledPair], tokenizer: PairTokenizer) -> EncodedPairs:
    """The pieces of each pair, as they are read when the model is used."""
    contents = tokenizer.read(text for pair in pairs for text in pair[:2])
    joined = tokenizer.pairs([pair[:2] for pair in pairs], contents)
    rows = [joined.ids(i) for i in range(len(pairs))]
    labels = np.array([pair.label for pair in pairs], dtype=np.int64)
    return EncodedPairs([ids for ids, _ in rows], [types for _, types in rows], labels, int(joined.truncated.sum()))


def shuffled_batches(lengths: Ids, size: int, seed: int, epoch: int) -> list[Ids]:
    """Batches of one pass, in random order; each holds pairs of about equal length.

    The pairs are shuffled, sorted by length inside windows of some batches, and cut into batches, which are shuffled
    again. So hardly any time goes into padding, and the pairs that share a batch differ from pass to pass.

    Args:
        lengths: the number of pieces of each pair, shape (n,).
        size: the number of pairs in a batch.
        seed: together with the number of the pass it determines the order.
        epoch: the number of the pass, from 0.
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    window = size * _WINDOW
    batches = []
    for start in range(0, len(order), window):
        part = order[start : start + window]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[i : i + size] for i in range(0, len(part), size)]
    return [batches[i] for i in rng.permutation(len(batches))]
