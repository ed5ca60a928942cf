"""BERTScore of one pair of texts, word by word: similarities, matches and weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.marks import Alignment
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import MetricLike
from nlgauge.metrics.embedding.bertscore import BertScore, piece_weights
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime


def align(hyp: str, ref: str, metric: MetricLike = "bertscore", runtime: Runtime | None = None) -> Alignment:
    """Align a hypothesis with a reference.

    The pieces of a word are joined. Two words are as similar as the best pair of their pieces, and a word has the
    weight of its pieces together. Precision, recall and F are the metric's own, computed from pieces, so they may
    differ from what the words in the picture add up to. Special tokens can be matched but have no weight; they are
    left out of the picture.

    Args:
        hyp: the hypothesis.
        ref: one reference.
        metric: a `bertscore` specification or metric.
        runtime: device and precision; None is the default runtime.

    Returns:
        An `Alignment` of n hypothesis words and m reference words.

    Raises:
        InputError: a text is not a string, or is longer than the model reads at once, or the model computes no
            finite vectors for it.
        SpecError: the metric does not match tokens, or takes idf from the call (one reference is not a corpus).
    """
    for name, text in (("hyp", hyp), ("ref", ref)):
        if not isinstance(text, str):
            raise InputError(f"{name} is {type(text).__name__}, expected a string")
    runtime = runtime or Runtime()
    built = _matching(metric, runtime.encoder)
    scores = built.score([Segment("align", hyp, (ref,))], runtime)
    encoder = built.encoder(runtime)
    if scores.flags["truncated"][0]:
        most = f"{encoder.tokenizer.max_tokens} pieces that model {built.model!r} reads at once"
        raise InputError(f"a text is longer than the {most}; align shorter texts, or use long=windows")
    if scores.flags["nonfinite"][0]:
        raise InputError(f"model {built.model!r} computes NaN or infinity for these texts; try dtype=float32")
    tokens = encoder.tokenizer.tokens([hyp, ref], built.long)
    table = built.table(encoder, (), runtime)
    sides = [
        _Side(*encoder.tokenizer.words(text), piece_weights(encoder, t.ids, table))
        for text, t in zip((hyp, ref), tokens, strict=True)
    ]
    if all(side.labels for side in sides):
        from nlgauge.models.matching import similarities

        pieces = similarities(encoder.encode(tokens, built.depth(encoder)), 0, 1)
    else:
        pieces = np.zeros((len(tokens[0].ids), len(tokens[1].ids)))
    parts = {name: float(column[0]) for name, column in scores.parts.items()}
    return Alignment(
        tuple(sides[0].labels),
        tuple(sides[1].labels),
        _best_pieces(pieces, sides[0].words, sides[1].words, (len(sides[0].labels), len(sides[1].labels))),
        sides[0].shares(),
        sides[1].shares(),
        parts["precision"],
        parts["recall"],
        parts["f1"],
        scores.signature,
    )


def _matching(metric: MetricLike, encoder: str | None) -> BertScore:
    """The metric, if it matches tokens and needs no references but the one given."""
    (built,) = named(metric, encoder).values()
    if not isinstance(built, BertScore):
        raise SpecError(
            f"align shows what a token matching metric saw; {built.info.name!r} matches no tokens, use bertscore"
        )
    if built.idf:
        raise SpecError(
            "idf=true needs many references and align has one; take frequencies from a file: bertscore:idf_file=PATH"
        )
    return built


class _Side:
    """The words of a text, and the word and weight of each of its pieces."""

    def __init__(self, labels: list[str], words: Sequence[int | None], weights: npt.NDArray[np.float32]) -> None:
        self.labels, self.words, self.weights = labels, words, weights

    def shares(self) -> Array:
        """The share of each word in the mean, shape (words,); all 0 where nothing has any weight."""
        shares = np.zeros(len(self.labels))
        for word, weight in zip(self.words, self.weights, strict=True):
            if word is not None:
                shares[word] += weight
        total = float(self.weights.sum())
        return shares / total if total > 0 else shares


def _best_pieces(
    pieces: Array, rows: Sequence[int | None], columns: Sequence[int | None], shape: tuple[int, int]
) -> Array:
    """The best similarity among the pieces of each pair of words, shape (n, m)."""
    best = np.full(shape, -np.inf)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if row is not None and column is not None:
                best[row, column] = max(best[row, column], pieces[i, j])
    return best
