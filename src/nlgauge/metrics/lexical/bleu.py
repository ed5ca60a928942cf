"""BLEU: clipped n-gram precision with a brevity penalty, of a corpus and of its segments."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.metrics.base import check_needs, scores_of_stats
from nlgauge.metrics.lexical import sacre
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing, known_writings, writings

_SMOOTH_DEFAULTS = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}
_LOG_OF_ZERO = -9999999999.0  # what sacrebleu takes for it: exp of any mean with it in is 0
_MOST_ADDED = 1e9  # of add-k: precisions are 1 long before
_SPLITS = {"Han": "zh", "Kana": "ja-mecab"}  # script without blanks -> the tokenizer that knows it
_AT_BLANKS = ("13a", "intl", "none")
_OF_EAST_ASIA = ("zh", "ja-mecab")  # they split these two scripts, and no other
_TOKENIZED_END = " ."


@dataclass(frozen=True, kw_only=True)
class Bleu(BaseMetric):
    """BLEU as sacrebleu computes it; its options under its names.

    Args:
        lowercase: compare in lower case.
        tokenize: `none`, `zh`, `13a`, `intl`, `char`, or one that needs packages or files of its own: `ja-mecab`,
            `ko-mecab`, `spm`, `flores101`, `flores200`, `spBLEU-1K`. `auto` (or None) is `13a`, or what `trg_lang` asks
            for.
        smooth_method: what becomes of an order without a match: `exp`, `floor`, `add-k` or `none`.
        smooth_value: of `floor` (None: 0.1; at most 1, or a miss would count for more than a match) and `add-k` (None:
            1).
        max_ngram_order: longest n-gram counted.
        effective_order: leave out orders longer than the text. None does so for segments and not for the corpus, as
            sacrebleu's sentence_bleu and corpus_bleu do; true and false hold for both.
        trg_lang: language code; `zh`, `ja` and `ko` choose their own tokenizer where `tokenize` is `auto`.
        average: the corpus number is BLEU of the summed counts (`corpus`), or the mean of the segments' BLEU
            (`sentence`).

    References:
        Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"; Post (2018), "A Call
        for Clarity in Reporting BLEU Scores"; smoothing: Chen and Cherry (2014), methods 1 to 3. sacrebleu's `force`
        only silences a warning: here the lines that end in a tokenized period are counted by the flag `tokenized`.
    """

    lowercase: bool = False
    tokenize: Literal[
        "auto",
        "none",
        "zh",
        "13a",
        "intl",
        "char",
        "ja-mecab",
        "ko-mecab",
        "spm",
        "flores101",
        "flores200",
        "spBLEU-1K",
    ] = "auto"
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: Annotated[float, Range(least=0)] | None = None
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    effective_order: bool | None = None
    trg_lang: str | None = None
    average: Literal["corpus", "sentence"] = "corpus"
    info: ClassVar = MetricInfo(
        "bleu",
        range=(0.0, 100.0),
        summary="clipped n-gram precision with a brevity penalty",
        tasks=TASKS,
        paper='Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"',
    )

    def __post_init__(self) -> None:
        if self.tokenize is None:
            object.__setattr__(self, "tokenize", "auto")
        checked(self)
        object.__setattr__(self, "trg_lang", self.trg_lang or None)  # sacrebleu's default is an empty one
        if self.smooth_value is not None:
            if _SMOOTH_DEFAULTS[self.smooth_method] is None:
                raise SpecError(
                    f"bleu:smooth_value changes nothing under smooth_method={self.smooth_method}; choose floor or add-k"
                )
            most = 1.0 if self.smooth_method == "floor" else _MOST_ADDED
            if self.smooth_value > most:
                raise SpecError(
                    f"bleu:smooth_value is {self.smooth_value!r}, expected a number from 0 to {most:g} under"
                    f" {self.smooth_method}"
                )
            object.__setattr__(self, "smooth_value", float(self.smooth_value))  # 1 and 1.0 are one option

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, and sacrebleu's version.

        These are the tokenizer that the language chose, the smoothing value, and where the effective order holds.
        """
        return {
            "tokenize": self._scorer().tokenizer_signature,
            "trg_lang": None,  # it has done its work
            "smooth_value": self._smooth_value(),
            "effective_order": "segments" if self.effective_order is None else self.effective_order,
            "sacrebleu": version("sacrebleu"),
        }

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and the option that splits them."""
        if writing.spaced:
            return None
        tokenizer = self._scorer().tokenizer_signature
        if tokenizer not in _AT_BLANKS and not (writing.script not in _SPLITS and tokenizer.startswith(_OF_EAST_ASIA)):
            return None
        option = (
            f"tokenize={_SPLITS[writing.script]} or tokenize=char" if writing.script in _SPLITS else "tokenize=char"
        )
        return f"the tokenizer {tokenizer} splits words at blanks, of which they have few; take {option}"

    def unfit(self, segments: Sequence[Segment]) -> str | None:
        """Whether no text has as many words as the longest n-gram, so that the corpus number is 0 even for copies."""
        if self.effective_order or self.average == "sentence":
            return None
        words, order = self._scorer().tokenizer, self.max_ngram_order
        if any(len(words(s.hypothesis).split()) >= order for s in segments) or sacre.is_empty(segments).all():
            return None
        scripts = {*writings([s.hypothesis for s in segments]).tolist()}
        if any(self.unread(known_writings()[script]) for script in scripts):  # which has a note of its own
            return None
        return (
            f"no text has {order} words, so that the corpus number is 0 whatever the texts say; take"
            " effective_order=true, or chrf"
        )

    def peer_signature(self, references: Collection[int]) -> str | None:
        """sacrebleu's signature, where it names every option that was changed."""
        return (
            sacre.signature(self._scorer(), references)
            if self.average == "corpus" and self.max_ngram_order == 4
            else None
        )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 100; `stats` are (length, closest reference length, matched per order, produced per order).

        A blank side scores 0 and raises the flag `empty`; a hypothesis that ends in " ." raises `tokenized`, unless
        `tokenize=none`.
        """
        check_needs(self, segments)
        stats = sacre.statistics(self._scorer(), segments, 2 + 2 * self.max_ngram_order, runtime, "bleu")
        flags = {"empty": sacre.is_empty(segments)}
        if self.tokenize != "none":
            flags["tokenized"] = np.array([s.hypothesis.endswith(_TOKENIZED_END) for s in segments], dtype=np.bool_)
        values = self._bleu(stats, self.effective_order is not False)  # (n,)
        if self.average == "sentence":
            return Scores(signature_of(self, runtime), ids(segments), values, finish=mean_of_defined, flags=flags)
        return scores_of_stats(self, segments, runtime, stats, flags, values, self.corpus_parts)

    def corpus(self, totals: Array) -> Array:
        """BLEU of summed statistics: shape (..., 2 + 2 * max_ngram_order) to (...), in 0 to 100."""
        return self._bleu(totals, self.effective_order is True)

    def corpus_parts(self, totals: Array) -> dict[str, float]:
        """The parts of the corpus number, from summed statistics of shape (2 + 2 * max_ngram_order,).

        `bp` is the brevity penalty, `ratio` the length of the hypotheses over that of the closest references, and
        `precision1`, `precision2`, ... are the smoothed precisions of the orders, in percent.
        """
        precision, _, penalty = self._precisions(sacre.floats(totals))
        length, reference_length = float(totals[0]), float(totals[1])
        parts = {
            "bp": float(penalty) if length else 0.0,
            "ratio": length / reference_length if reference_length else math.nan,
            "length": length,
            "reference_length": reference_length,
        }
        matched = np.any(totals[2 : 2 + self.max_ngram_order])
        return parts | {f"precision{n}": float(p) if matched else 0.0 for n, p in enumerate(precision, start=1)}

    def _bleu(self, totals: Array, effective: bool) -> Array:
        totals = sacre.floats(totals)
        any_match = totals[..., 2 : 2 + self.max_ngram_order].any(axis=-1)
        precision, reached, penalty = self._precisions(totals)
        with np.errstate(divide="ignore"):
            logs = np.log(precision.astype(np.float64))
        logs = np.where(np.isneginf(logs), _LOG_OF_ZERO, logs)
        if effective:
            logs = np.where(reached, logs, 0.0)
            orders = np.maximum(reached.sum(axis=-1), 1)
        else:
            orders = self.max_ngram_order
        score = penalty * np.exp(logs.sum(axis=-1) / orders)
        return np.asarray(np.where(any_match, np.minimum(score, 100.0), 0.0))  # exp(log(100)) is a little more than 100

    def _precisions(self, totals: Array) -> tuple[Array, Mask, Array]:
        """Smoothed precisions in percent and the orders that any text reaches, each (..., order); the penalty (...)."""
        order = self.max_ngram_order
        length, reference_length = totals[..., 0].astype(np.float64), totals[..., 1].astype(np.float64)
        matched, produced = totals[..., 2 : 2 + order], totals[..., 2 + order : 2 + 2 * order]  # (..., order)
        value = self._smooth_value()
        if self.smooth_method == "add-k":
            added = np.concatenate([[0.0], np.full(order - 1, value)]).astype(totals.dtype)
            matched, produced = matched + added, produced + added
        reached = np.logical_and.accumulate(produced > 0, axis=-1)  # orders beyond the longest text stay at precision 0
        none = matched == 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            precision = 100.0 * matched / produced
            if self.smooth_method == "exp":
                halvings = np.exp2(np.cumsum(none & reached, axis=-1)).astype(totals.dtype)
                precision = np.where(none, 100.0 / (halvings * produced), precision)
            elif self.smooth_method == "floor":
                precision = np.where(none, 100.0 * float(value or 0) / produced, precision)
            penalty = np.where(length < reference_length, np.exp(1 - reference_length / length), 1.0)
        return np.where(reached, precision, 0.0), reached, penalty

    def _smooth_value(self) -> float | None:
        return _SMOOTH_DEFAULTS[self.smooth_method] if self.smooth_value is None else self.smooth_value

    def _scorer(self) -> Any:
        # The scorer only counts, and signs; smoothing and effective order are ours, in `_bleu`.
        tokenize = None if self.tokenize == "auto" else self.tokenize
        return sacre.bleu_scorer(
            tokenize,
            self.trg_lang,
            lowercase=self.lowercase,
            max_ngram_order=self.max_ngram_order,
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            effective_order=bool(self.effective_order),
        )
