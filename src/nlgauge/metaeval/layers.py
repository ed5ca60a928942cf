"""Which layer of an encoder agrees best with people? BERTScore at every layer is compared with judgements."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.arrays import by_value
from nlgauge.core.errors import InputError
from nlgauge.core.result import Result, Row
from nlgauge.core.segment import Dataset
from nlgauge.metaeval.evaluate import MetaEvaluation, meta_evaluate
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.vectors import depth_of
from nlgauge.runtime.runtime import Runtime


@by_value
@dataclass(frozen=True)
class LayerStudy:
    """Agreement with people by layer; layer 0 (the embeddings) comes first.

    Attributes:
        values: the mean over groups at each layer, shape (layers,); NaN where no group has a defined value.
        found: the numbers behind the means, one per layer and group, as `meta_evaluate` returns them.
        model: the model, named as in specifications of `bertscore`.
    """

    values: np.ndarray[tuple[int], np.dtype[np.float64]]
    found: tuple[MetaEvaluation, ...]
    model: str = "embedded"

    @property
    def best(self) -> int:
        """The layer with the highest value; among equals the lowest layer, which is the fastest.

        Raises:
            InputError: no value is defined.
        """
        if np.isnan(self.values).all():
            raise InputError("no layer has a defined value; are the judgements or the texts all the same?")
        return int(np.nanargmax(self.values))

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file: see `layers_result`."""
        return layers_result([self], inputs)


def layers_result(studies: Sequence[LayerStudy], inputs: Sequence[Mapping[str, str]] = ()) -> Result:
    """The result file of several models: the rows of every layer, each with its `model` and `layer`.

    The rows whose group is `mean` are the curves of figure 3.
    """
    rows: list[dict[str, Any]] = []
    metrics: list[Mapping[str, Any]] = []
    notes: dict[str, None] = {}
    for study in studies:
        of = f" of {study.model}" if len(studies) > 1 else ""
        notes[f"best layer{of}: {study.best} of 0 to {len(study.values) - 1}"] = None
        for layer, one in enumerate(study.found):
            result = one.result()
            rows += [{**row, "model": study.model, "layer": layer} for row in result.rows]
            metrics += result.metrics
    notes |= dict.fromkeys(note for study in studies for one in study.found for note in one.notes)
    return Result("meta", rows, inputs, metrics, list(notes))


def layer_study(
    dataset: Dataset,
    model: str = "embedded",
    criterion: str | None = None,
    level: str = "segment",
    stat: str = "pearson",
    *,
    revision: str | None = None,
    idf: bool = False,
    runtime: Runtime | None = None,
    advance: Callable[[int, Row], None] = lambda layer, row: None,
) -> LayerStudy:
    """Compare BERTScore at every layer of a model with human judgements.

    Every layer is scored on its own, through the score cache of the runtime. A study that was interrupted therefore
    continues where it stopped.

    Args:
        dataset: texts with references and ratings.
        model: the model, named as in specifications of `bertscore`.
        criterion: what was rated; it may be left out where the data have one criterion.
        level: `segment`, `item` or `system`.
        stat: the name of a statistic; see `nlgauge list statistics`.
        revision: the revision of a model on the hub.
        idf: whether to weight word pieces by idf.
        runtime: device, precision and cache.
        advance: called with each layer and its row of the mean over groups when the layer is done.

    Raises:
        InputError: the data do not fit together; see `meta_evaluate`.

    References:
        Zhang et al. (2020), appendix B and figure 3: the layer is chosen by segment-level Pearson on WMT16 to English.
    """
    found = []
    values = []
    for layer in range(depth_of(model, revision) + 1):
        metric = BertScore(model=model, revision=revision, layer=layer, idf=idf)
        one = meta_evaluate(dataset, metric, criterion, level, stat, runtime=runtime)
        found.append(one)
        row = one.row(one.held.metrics[0])
        values.append(float(row["value"]))
        advance(layer, row)
    return LayerStudy(np.array(values), tuple(found), model)
