"""What training loops can use: metrics for transformers' trainers and torchmetrics, and BERTScore with a gradient."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np
import torch

from nlgauge.core.arrays import by_value
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import MetricLike
from nlgauge.core.segment import Dataset
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import Accumulator, numbers_of, score

# --- Metrics as `compute_metrics` of the trainers of transformers, which hand over the ids of a whole evaluation

_IGNORED = -100  # the label that has no loss, and the padding of everything that a trainer gathers


def as_compute_metrics(
    tokenizer: Any,
    metrics: MetricLike | Sequence[MetricLike],
    *,
    references: Sequence[Sequence[str]] | None = None,
    runtime: Runtime | None = None,
) -> Callable[[Any], dict[str, float]]:
    """Metrics as `compute_metrics` of transformers' `Trainer` and `Seq2SeqTrainer`.

        arguments = Seq2SeqTrainingArguments(..., predict_with_generate=True, metric_for_best_model="chrf")
        Seq2SeqTrainer(model, arguments, ..., compute_metrics=as_compute_metrics(tokenizer, ["chrf", "bleu"]))

    The trainer logs corpus-level scores as `eval_chrf` and `eval_bleu`. For error rates, such as `ter`, its arguments
    need `greater_is_better=False`. Metrics that read a source need `include_for_metrics=["inputs"]`.

    With `predict_with_generate=True` the texts are generated. Otherwise predictions are logits, and the most probable
    token is taken at each place that has a label. **Such a text was not generated**: the model saw the reference up to
    each token, so that scores are too high. Logits must be those of an encoder-decoder; a decoder alone predicts the
    token after each place. `batch_eval_metrics` must stay False: texts are scored together.

    Args:
        tokenizer: of the model, or a processor that holds one; its special tokens are left out, and so is white space
            at both ends of a text.
        metrics: specifications or metric objects.
        references: `[item][reference]`, where the evaluation set has several; by default the labels. They have the
            order of the set.
        runtime: device, precision and cache, as in `score`.

    Returns:
        A function from an `EvalPrediction` to the number of each metric, by specification as typed; an undefined score,
        as that of a set without items, is NaN. It raises InputError where predictions are neither ids nor logits, such
        as those of a classifier.

    Raises:
        InputError: the tokenizer has no token for padding.
        SpecError: a metric or option is unknown.
    """
    decoder = tokenizer if hasattr(tokenizer, "pad_token_id") else tokenizer.tokenizer
    if decoder.pad_token_id is None:
        raise InputError(
            "the tokenizer has no token for padding, which takes the place of -100; set tokenizer.pad_token ="
            " tokenizer.eos_token"
        )
    runtime = runtime or Runtime()
    named(metrics, runtime.encoder)  # refuses what it does not know

    return partial(_computed, decoder, metrics, references, runtime)  # of a name, so that it can be pickled


def _computed(
    decoder: Any,
    metrics: MetricLike | Sequence[MetricLike],
    references: Sequence[Sequence[str]] | None,
    runtime: Runtime,
    found: Any,
) -> dict[str, float]:
    """The corpus-level score of each metric for an `EvalPrediction`."""
    predicted, labels = _array(found.predictions), _array(found.label_ids)
    if predicted.ndim == 3 and predicted.dtype.kind == "f" and predicted.shape[:2] == labels.shape:
        predicted = np.where(labels == _IGNORED, _IGNORED, predicted.argmax(axis=2))
    refs = _texts(decoder, labels, "labels") if references is None else references
    inputs = getattr(found, "inputs", None)
    srcs = None if inputs is None else _texts(decoder, _array(inputs), "inputs")
    scores = score(_texts(decoder, predicted, "predictions"), refs, srcs, metrics, runtime=runtime)
    return {spec: own.system for spec, own in scores.items()}


def _texts(decoder: Any, ids: Any, what: str) -> list[str]:
    if ids.ndim != 2 or ids.dtype.kind not in "iu":
        raise InputError(
            f"{what} have shape {ids.shape} and type {ids.dtype}, expected ids of shape (n, tokens); does the model"
            " write texts?"
        )
    if not len(ids):  # of which some tokenizers make one empty text
        return []
    decoded = decoder.batch_decode(np.where(ids == _IGNORED, decoder.pad_token_id, ids), skip_special_tokens=True)
    return [text.strip() for text in decoded]


def _array(given: Any) -> Any:
    """The first of what a model returns: ids or logits."""
    first = given[0] if isinstance(given, tuple) else given
    if isinstance(first, list):
        raise InputError("predictions and labels come in lists, expected arrays; leave eval_do_concat_batches at True")
    if isinstance(first, torch.Tensor):
        first = first.detach().cpu()
        first = first.float() if first.dtype == torch.bfloat16 else first  # which numpy has not
    return np.asarray(first)


# --- Metrics as one metric of torchmetrics


def as_torchmetrics(metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> Any:
    """Metrics as one `torchmetrics.Metric`: `update(preds, target, sources=None)`, `compute()` and `reset()`.

    Texts are its state, packed as bytes, so that those of all processes of a distributed run are scored together.
    `compute` returns the numbers of `numbers_of`, for `log_dict` of Lightning. A call of the metric itself scores the
    batch and keeps its texts. What takes one number, such as arithmetic or `MinMaxMetric`, is given `meter["chrf"]`.
    `BootStrapper` resamples tensors and takes no texts.

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `score`.

    Raises:
        InputError: torchmetrics is not installed.
        SpecError: a metric or option is unknown.
    """
    names = Accumulator(metrics, runtime).names  # refuses what it does not know
    try:
        return _kind("_".join(["Meter", *(re.sub(r"\W+", "_", name) for name in names)]))(metrics, runtime)
    except ImportError:
        raise InputError(
            "as_torchmetrics makes a torchmetrics.Metric, and torchmetrics is not installed; run: pip install"
            " torchmetrics"
        ) from None


@cache
def _kind(name: str) -> Any:
    """The class of a meter, by whose name a `MetricCollection` calls it; torchmetrics is imported when one is made."""
    base: Any = import_module("torchmetrics").Metric
    composed: Any = import_module("torchmetrics.metric").CompositionalMetric

    class Meter(base):  # type: ignore[misc]  # of no known type: torchmetrics may not be installed
        """The metric."""

        full_state_update = False

        def __init__(self, metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None) -> None:
            super().__init__()
            self._metrics, self._runtime = metrics, runtime or Runtime()
            self.add_state("texts", [], dist_reduce_fx="cat")

        def __reduce__(self) -> tuple[Any, ...]:
            """How a copy or another process makes it again: its class is not found by name."""
            return _unmade, (name,), self.__getstate__()

        def __getitem__(self, key: str) -> Any:
            """One of the numbers, as a metric of torchmetrics."""
            taken = partial(_number, key)
            taken.__name__ = key  # type: ignore[attr-defined]  # which torchmetrics shows
            return composed(taken, self, None)

        def update(
            self,
            preds: Sequence[str],
            target: Sequence[str] | Sequence[Sequence[str]] | None = None,
            sources: Sequence[str] | None = None,
        ) -> None:
            """Add a batch of texts."""
            self.texts.append(_packed(preds, target, sources))

        def compute(self) -> dict[str, float]:
            """The corpus-level scores of all texts."""
            meter = Accumulator(self._metrics, self._runtime)
            parts = self.texts if isinstance(self.texts, list) else [self.texts]
            for line in b"".join(bytes(part.cpu().numpy()) for part in parts).splitlines():
                row = json.loads(line)
                source = None if row["src"] is None else [row["src"]]
                meter.update([row["hyp"]], [row["refs"]] if row["refs"] else None, source)
            return numbers_of(meter.compute())

    Meter.__name__ = Meter.__qualname__ = name
    return Meter


def _unmade(name: str) -> Any:
    kind = _kind(name)
    return kind.__new__(kind)


def _number(name: str, numbers: Mapping[str, float]) -> torch.Tensor:
    if name not in numbers:
        raise InputError(f"the meter has no number {name!r}{nearest(name, numbers)}")
    return torch.tensor(numbers[name], dtype=torch.float64)


def _packed(
    preds: Sequence[str], target: Sequence[str] | Sequence[Sequence[str]] | None, sources: Sequence[str] | None
) -> torch.Tensor:
    """Texts as bytes: one line of JSON each, so that parts may be put one behind the other."""
    rows = [
        {"hyp": s.hypothesis, "refs": s.references, "src": s.source}
        for s in Dataset.from_texts(preds, target, sources).segments
    ]
    return torch.tensor(list("".join(json.dumps(row) + "\n" for row in rows).encode("ascii")), dtype=torch.uint8)


# --- BERTScore of token vectors that a gradient passes through, so that a model can be trained towards it


@by_value
@dataclass(frozen=True)
class Matched:
    """Precision, recall and F of n pairs of texts, tensors of shape (n,), in cosine units."""

    precision: torch.Tensor
    recall: torch.Tensor
    f1: torch.Tensor


def match_tokens(
    hypotheses: torch.Tensor,
    references: torch.Tensor,
    hypothesis_weights: torch.Tensor,
    reference_weights: torch.Tensor,
    hypothesis_mask: torch.Tensor,
    reference_mask: torch.Tensor,
) -> Matched:
    """BERTScore from token vectors; every step has a gradient, so `1 - f1` is a loss.

    The values are those of the metric `bertscore` for the same vectors and weights. Of several equal best matches the
    gradient goes to one.

    Args:
        hypotheses: token vectors of any length, shape (n, H, d), padded; for generated texts they may be mixtures of
            embeddings, weighted by the probabilities of words.
        references: shape (n, R, d).
        hypothesis_weights: what each token counts, shape (n, H): 1 or its idf, and 0 for special tokens, which can be
            matched but count nothing.
        reference_weights: shape (n, R).
        hypothesis_mask: True for tokens and False for padding, shape (n, H).
        reference_mask: shape (n, R).

    Returns:
        Precision, recall and F. A side that weighs nothing gives 0; F is 0 where precision and recall have opposite
        signs.

    Raises:
        InputError: shapes do not fit, or a text has no token.

    References:
        Zhang et al. (2020), "BERTScore", sections 3 and 7 (a differentiable score for training).
    """
    import torch

    _check(hypotheses, hypothesis_weights, hypothesis_mask, "hypotheses")
    _check(references, reference_weights, reference_mask, "references")
    if hypotheses.shape[::2] != references.shape[::2]:
        raise InputError(
            f"hypotheses have shape {tuple(hypotheses.shape)} and references {tuple(references.shape)}, expected as"
            " many texts and dimensions"
        )
    left, right = (torch.nn.functional.normalize(side, dim=-1) for side in (hypotheses, references))
    cosines = left @ right.transpose(1, 2)  # (n, H, R)
    both = hypothesis_mask[:, :, None] & reference_mask[:, None, :]
    cosines = cosines.masked_fill(~both, -2.0)  # below any cosine, and finite, so that padding has a gradient of 0
    precision = _mean(cosines.amax(dim=2), hypothesis_weights * hypothesis_mask)
    recall = _mean(cosines.amax(dim=1), reference_weights * reference_mask)
    agree = precision * recall > 0
    total = torch.where(agree, precision + recall, torch.ones_like(precision))
    f1 = torch.where(agree, 2 * precision * recall / total, torch.zeros_like(precision))
    return Matched(precision, recall, f1)


def _check(vectors: torch.Tensor, weights: torch.Tensor, mask: torch.Tensor, what: str) -> None:
    if vectors.ndim != 3 or weights.shape != vectors.shape[:2] or mask.shape != vectors.shape[:2]:
        raise InputError(
            f"{what} have vectors {tuple(vectors.shape)}, weights {tuple(weights.shape)} and mask"
            f" {tuple(mask.shape)}, expected (n, tokens, d) and twice (n, tokens)"
        )
    if not bool(mask.any(dim=1).all()):
        raise InputError(f"one of the {what} has no token")


def _mean(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean along the last axis; 0 where nothing weighs."""
    import torch

    total = weights.sum(dim=1)
    return (values * weights).sum(dim=1) / torch.where(total > 0, total, torch.ones_like(total))
