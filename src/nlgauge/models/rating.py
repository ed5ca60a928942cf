"""Published models that rate a text by one number: classifiers with one output (BLEURT), and MetricX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models import repository
from nlgauge.models.entailment import PairTokenizer, pair_tokenizer
from nlgauge.models.locate import LazyModel, ModelFiles, locate
from nlgauge.models.regressor import Ratings, rate_pairs
from nlgauge.models.tokens import Ids, TextTokenizer
from nlgauge.runtime.runtime import Advance, Runtime, by_length, dtype_and_device

if TYPE_CHECKING:
    from nlgauge.models.networks import Classifier, RatingNetwork


def located(model: str, revision: str | None) -> ModelFiles:
    """As `locate`; no encoder can be taken instead."""
    try:
        return locate(model, revision)
    except InputError as error:
        raise InputError(str(error).replace(repository.INSTEAD, "")) from None


# --- Classifiers with one output


def locate_rater(model: str, revision: str | None) -> ModelFiles:
    """The files of a classifier with one output.

    Raises:
        InputError: there is no such model, or it has another number of outputs.
    """
    files = located(model, revision)
    labels = files.config.get("id2label")
    number = len(labels) if isinstance(labels, dict) else files.config.get("num_labels", 2)
    if number != 1:
        raise InputError(
            f"model {model!r} has {number} labels, expected one, as BLEURT and other models that rate pairs have; a"
            " model of entailment runs as nli:model=..."
        )
    return files


class PairRater(LazyModel[ModelFiles, PairTokenizer, "Classifier"]):
    """A classifier with one output, on pairs of texts."""

    def rate(self, pairs: Sequence[tuple[str, str]], advance: Advance) -> Ratings:
        """The outputs for n pairs, the text that another is held against first."""
        return rate_pairs(pairs, self.tokenizer, self.network, self.budget, advance, self.found.name)


def load_rater(files: ModelFiles, dtype: str, runtime: Runtime, max_tokens: int | None) -> PairRater:
    """Load a classifier with one output. A runtime holds one copy per precision."""

    def network() -> Classifier:
        kind, where = dtype_and_device(dtype, runtime.device, f"model {files.name!r}")
        from nlgauge.models.networks import classifier

        return classifier(files, kind, where)

    return PairRater(
        files,
        pair_tokenizer(files, max_tokens, runtime),
        lambda: runtime.once(("rater", files, dtype, runtime.device), network),
        runtime.token_budget,
    )


# --- MetricX: an mT5 whose first step says one number

Version = Literal["23", "24"]
_LIMITS: dict[Version, int] = {"23": 1024, "24": 1536}  # pieces of the input, with the end piece that is then left out
_TOKENIZER = "google/mt5-small"  # all sizes have one vocabulary; the repositories of MetricX have no tokenizer


def version_of(model: str) -> Version:
    """The version of a MetricX model, by its name."""
    return "23" if re.search(r"metricx[-_]?23", model.lower()) else "24"


def input_of(version: Version, hyp: str, ref: str | None, src: str | None) -> str:
    """The text that MetricX reads, as its released code writes it."""
    if version == "23":
        return f"candidate: {hyp}" + (f" reference: {ref}" if ref is not None else f" source: {src}")
    return f"source: {src} candidate: {hyp}" + (f" reference: {ref}" if ref is not None else "")


class MetricXModel(LazyModel[ModelFiles, TextTokenizer, "RatingNetwork"]):
    """A MetricX model, on texts as `input_of` writes them."""

    def rate(self, texts: Sequence[str], advance: Advance) -> Ratings:
        """Numbers of errors from 0 to 25 for n texts; equal texts are read once."""
        number = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        tokens = self.tokenizer.tokens(list(number))
        pieces = [one.ids[: len(one.ids) - len(self.tokenizer.suffix)] for one in tokens]
        values: Array = np.zeros(len(number))
        shares = self.tokenizer.unknown_shares(pieces)
        network = self.network
        from nlgauge.models.hub import side_by_side

        def work(batch: Ids) -> Array:
            return np.asarray(np.clip(network.first([pieces[int(i)] for i in batch]), 0, 25))

        batches = list(by_length(np.array(list(map(len, pieces))), self.budget or network.batch_tokens))
        for batch, found in zip(batches, side_by_side(work, batches, network.device), strict=True):
            values[batch] = found
            advance(len(batch))
        places = np.array([number[text] for text in texts], dtype=np.int64)
        cut = np.array([one.truncated for one in tokens], dtype=np.bool_)
        return Ratings(values[places], cut[places], shares[places], np.zeros(len(places), dtype=np.bool_))


def metricx_tokenizer(files: ModelFiles) -> ModelFiles:
    """The files of the tokenizer of a MetricX model: its own, or those of mT5."""
    if any(files.folder.glob("*.model")) or (files.folder / "tokenizer.json").is_file():
        return files
    return replace(files, name=_TOKENIZER, folder=repository.setup(_TOKENIZER))


def load_metricx(files: ModelFiles, version: Version, dtype: str, runtime: Runtime) -> MetricXModel:
    """Load a MetricX model. A runtime holds one copy per precision.

    Raises:
        InputError: it is no mT5.
    """
    if files.config.get("model_type") != "mt5":
        raise InputError(
            f"model {files.name!r} is of type {files.config.get('model_type')!r}, expected mt5, as MetricX is"
        )

    def network() -> RatingNetwork:
        kind, where = dtype_and_device(dtype, runtime.device, f"model {files.name!r}")
        from nlgauge.models import networks

        return networks.RatingNetwork(files, kind, where)

    read_by = metricx_tokenizer(files)
    limit = _LIMITS[version]
    return MetricXModel(
        files,
        runtime.once(("metricx tokenizer", read_by, limit), lambda: TextTokenizer(read_by, limit, space=False)),
        lambda: runtime.once(("metricx", files, dtype, runtime.device), network),
        runtime.token_budget,
    )
