"""Regressors as metrics: their common part, those that learnt from ratings, and SEScore."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, known, nonfinite, over_references, signature_of, unknown
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import TASKS, TRAINED, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import quote
from nlgauge.metrics.languages import unread_by_model
from nlgauge.models.encoder import feature_names
from nlgauge.models.locate import SHORT
from nlgauge.models.regressor import (
    Ratings,
    RegressorFiles,
    calibrate,
    is_here,
    load_regressor,
    locate_regressor,
)
from nlgauge.models.tokens import token_limit
from nlgauge.runtime.runtime import Advance, DType, Runtime
from nlgauge.text.scripts import Writing

_LEAST_TOKENS = 3  # special tokens and a piece


def from_ratings(data: str) -> str:
    """The note on a metric that has learnt from people's ratings."""
    return f"{TRAINED} ({data}); agreement with ratings of the same texts or systems says nothing about the metric"


def learned(
    name: str,
    data: str,
    tasks: frozenset[str] = TASKS,
    paper: str = "",
    needs: frozenset[str] = frozenset({"references"}),
) -> MetricInfo:
    """Declare a metric that a regressor learned from some data."""
    return MetricInfo(
        name,
        needs,
        range=(-math.inf, math.inf),
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        summary=f"learned from {data}; a copy need not be best: no bound holds what a network says",
        tasks=tasks,
        paper=paper,
    )


class _OfModel:
    """What names a regressor: its last option, with or without a default."""

    model: str


@dataclass(frozen=True, kw_only=True)
class RegressorMetric(_OfModel, Checked, BaseMetric):
    """Options of a metric that asks a regressor.

    Args:
        references: of several references the `mean` of the scores, or the `best`, if references are read.
        calibrated: bring what the network says to the scale of its training by the calibration in its file; no two
            texts change places. Refused where the file has none.
        rescale: bring the scale that the regressor was trained on to 0 and 1, as (25 + s) / 25 for SEScore's.
        max_tokens: most pieces of a text, or of a pair that is read in one sequence, of which the longer text is cut
            first; None takes what the regressor was trained with. What is cut is flagged `truncated`.
        dtype: precision of the encoder; None takes the runtime's. With other batches or company a score moves by up to
            1e-6 in float32.
    """

    references: Literal["mean", "best"] = "mean"
    calibrated: bool = False
    rescale: bool = False
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None
    info: ClassVar[MetricInfo]
    texts: ClassVar[tuple[str, ...] | None] = None  # what its regressor must read; None is anything
    trained: ClassVar[str | None] = None  # what every regressor under its name has learnt from, for the signature

    def files(self) -> RegressorFiles:
        """The regressor's files, its encoder checked.

        Raises:
            InputError: see `locate_regressor`; or the regressor reads other texts than the metric.
        """
        found = locate_regressor(self.model)
        if self.texts not in (None, found.texts):
            raise InputError(
                f"{self.info.name}: {self.model} reads {', '.join(found.texts)}, expected"
                f" {', '.join(self.texts or ())}; use regressor:model={quote(self.model)}"
            )
        return found

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = self.files()
        if self.calibrated and not files.calibration:
            raise SpecError(
                f"{self.info.name}: {self.model} has no calibration, which calibrated=true asks for; leave it out"
            )
        limit = files.max_tokens(self.max_tokens)
        return {
            "calibrated": self.calibrated or None,
            "dtype": runtime.precision(self.dtype),
            "max_tokens": limit,
            **files.facts(),
            **({} if is_here(self.model) else {"model": self.model}),  # by name, where it came from the hub
            "trained": self.trained,
        }

    @property
    def limit(self) -> int | None:
        """The limit that was asked for, else that of training, else the model's own."""
        files = self.files()
        return token_limit(files.head.encoder, files.max_tokens(self.max_tokens))

    def vectors_of(self, runtime: Runtime) -> Mapping[Hashable, Sequence[int]]:
        """The vectors that are read, so that metrics of one call share them."""
        files = self.files()
        layers = files.read_layers
        return {files.source(runtime.precision(self.dtype), runtime): layers} if layers else {}

    def _predicted(self, texts: Mapping[str, Sequence[str]], runtime: Runtime, advance: Advance) -> Ratings:
        """What the regressor says of n segments; see `nlgauge.models.regressor.LoadedRegressor.score`."""
        model = load_regressor(self.model, runtime.precision(self.dtype), runtime, self.max_tokens)
        return model.score(texts, advance)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the regressor was shown in training, as far as its file says."""
        return self.files().head.items("trained_on_phenomena")

    @property
    def notes(self) -> tuple[str, ...]:
        """That the regressor has learnt from people's ratings, and from which, if its file says so."""
        head = self.files().head
        criterion = head.get("criterion")
        return () if criterion is None else (from_ratings(head.get("data") or f"rated for {criterion}"),)

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(self.files().head.languages, writing)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values on the scale of the ratings (or 0 to 1 with `rescale`), without bounds.

        The part is `raw`, what the network says; the flags are `empty`, `truncated`, `unknown` and `nonfinite`. An
        empty side gets the lowest rating of training and sets the flag `empty`. A segment with a text of which no piece
        is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks what the regressor reads.
        """
        check_needs(self, segments)
        name, files = self.info.name, self.files()
        (low, high), points = files.range, files.calibration
        if self.rescale and not high > low:
            raise InputError(
                f"{name}: the regressor was trained on scores from {low:g} to {high:g}, nothing to rescale by; use"
                " rescale=false"
            )

        def single(segments: Sequence[Segment]) -> Scores:
            columns = {"hyp": [s.hypothesis for s in segments]} if "hyp" in files.texts else {}
            if "ref" in files.texts:
                columns["ref"] = [s.references[0] for s in segments]
            if "src" in files.texts:
                columns["src"] = [s.source or "" for s in segments]
            empty = ~np.array(
                [not any(map(is_blank, row)) for row in zip(*columns.values(), strict=True)], dtype=np.bool_
            )
            raw = np.full(len(segments), low)
            truncated, broken = np.zeros((2, len(segments)), dtype=np.bool_)
            shares = np.zeros(len(segments))
            asked = np.flatnonzero(~empty)
            if len(asked):
                texts_asked = {name: [texts[i] for i in asked] for name, texts in columns.items()}
                with runtime.progress(len({text for texts in texts_asked.values() for text in texts}), name) as advance:
                    found = self._predicted(texts_asked, runtime, advance)
                read = ~found.empty
                empty[asked], asked = found.empty, asked[read]
                values, shares[asked] = found.values[read], found.unknown[read]
                truncated[asked], broken[asked] = found.truncated[read], nonfinite(values)
                raw[asked] = known(values, shares[asked])
            return Scores(
                signature_of(self, runtime),
                ids(segments),
                raw,
                {"raw": raw},
                flags={"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken},
            )

        scores = over_references(segments, self.references, single) if "ref" in files.texts else single(segments)
        # After the fold, so that segments with several references do not change places either.
        values = calibrate(scores.values, points) if points and self.calibrated else scores.values
        return replace(scores, values=(values - low) / (high - low) if self.rescale else values)


# --- Regressors that learnt from ratings, as metrics: of any features, of those of RUSE and COMET, and the shipped one

_NEEDS = {"ref": "references", "src": "source"}
_RATINGS = "human ratings"
_OF_WMT = "human ratings of WMT, or yours"
_COMES_IN = (-0.5, 0.25)  # predictions of the first head of `rated` between which the second comes in
_READS_BOTH = {"rated": "rated-both", "rated-base": "rated-both-base"}  # which heads of the package go together
_RUSE = (
    'Shimanaka et al. (2018), "RUSE: Regressor Using Sentence Embeddings for Automatic Machine Translation Evaluation"'
)
_COMET = 'Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation"'


@dataclass(frozen=True, kw_only=True)
class Regressor(RegressorMetric):
    """The rating that a network predicts after training on ratings: COMET's or BLEURT's idea, on any encoder.

    `nlgauge train regressor ratings.jsonl -c adequacy -o mine.safetensors` trains it on any rated data that nlgauge
    reads. What a segment must have, the model says itself:

    - trained without further options it reads hypothesis and reference, as BLEURT and RUSE do, with the features `4h`:
      both mean vectors h and r, h·r and |h - r|;
    - `--method frozen` leaves the encoder as it is: such a model is also `ruse`;
    - `--source` adds the source, as COMET does (`comet`): h, r, h·s, h·r, |h - s| and |h - r|;
    - `--source --no-reference` reads the source alone (`comet-qe`): h, s, h·s and |h - s|;
    - `--features both` reads reference and hypothesis in one sequence, as an NLI model does;
    - `--method ridge --features 4h+match` is a weighted sum in place of a network. `match` are 19 numbers that say how
      the tokens of two texts match: of the best similarities of each side the mean, the minimum, the 10th, 25th and
      50th percentile and the shares below .5 and .7; F; how far tokens stand from their matches; and the logarithm of
      the ratio of the lengths, its size, and that of the length of the reference.

    Scores have the scale of the ratings, without bounds; higher is better if higher ratings were better. A blank text
    gets the lowest rating of training. Before you quote the agreement of such a metric with people, ask which ratings
    it learnt from: on the same texts or systems it shows nothing. The head holds the criterion and what its maker wrote
    about the data (`--data`), and a note under every result says so.

    Args:
        model: a head or folder that `nlgauge train regressor` (or `train sescore`) wrote. It says itself which texts
            it reads.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation", section 2; Shimanaka et al. (2018), "RUSE".
    """

    model: str
    info: ClassVar = learned("regressor", "your ratings")
    without: ClassVar[Mapping[str, str]] = {}  # option without a default -> what to do when it is not given

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.texts is None or is_here(self.model):  # else what it reads is said by its name alone
            needs = {_NEEDS[text] for text in self.files().texts if text != "hyp"}
            object.__setattr__(self, "info", replace(type(self).info, needs=needs))


@dataclass(frozen=True, kw_only=True)
class Ruse(Regressor):
    """RUSE: a network on sentence vectors of hypothesis and reference, whose encoder stays as it is.

    It computes the numbers of `regressor` and takes only a model with the features of its paper, so that a table can
    say what a model is; any other is refused in one line that says what it reads. With the embedded encoder layer 3 is
    far better than the last one.

    Args:
        model: a head that `nlgauge train regressor ratings.jsonl -c adequacy -o ruse.safetensors --method frozen
            --layer 3` wrote.

    References:
        Shimanaka et al. (2018), "RUSE: Regressor Using Sentence Embeddings for Automatic Machine Translation
        Evaluation": both vectors, their product and their absolute difference. The sentence vectors are
        means of token vectors of an encoder of today, in place of InferSent, Quick-Thought and USE.
    """

    texts: ClassVar = ("hyp", "ref")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned("ruse", "your ratings, on sentence vectors as they are", frozenset({"mt"}), _RUSE)
    without: ClassVar = {"model": "; 'nlgauge train regressor --method frozen' makes one"}

    def files(self) -> RegressorFiles:
        """The regressor's files.

        Raises:
            InputError: as for every regressor; or it has other features, or an encoder that learnt.
        """
        found = super().files()
        if found.features != feature_names() or found.head.get("method") != "frozen":
            raise InputError(
                f"ruse: {self.model} has the features {', '.join(found.features)} and was trained by method"
                f" {found.head.get('method')}, expected {', '.join(feature_names())} and frozen; use"
                f" regressor:model={quote(self.model)}"
            )
        return found


@dataclass(frozen=True, kw_only=True)
class Comet(Regressor):
    """COMET: the rating that a network predicts from source, hypothesis and reference.

    Unbabel's checkpoints run by name and need no package of theirs: `Unbabel/wmt22-comet-da` (about 0 to 1),
    `Unbabel/wmt20-comet-da` and others of its kind (z-scores, of which 0 is the mean). They are fetched once (2.3 GB)
    and read without running what their pickles say. Networks that read all texts in one sequence, such as CometKiwi and
    XCOMET, are not computed here.

    A copy of the reference need not be best. A blank text gets 0 from models since 2022, and -2 from earlier ones. A
    text that is longer than the encoder reads, 510 pieces, is cut and flagged `truncated`.

    Args:
        model: the name of a checkpoint on the hub, with or without @REVISION; its folder, with `hparams.yaml`; or a
            head or folder that `nlgauge train regressor ratings.jsonl -c adequacy -o comet.safetensors --source --model
            FacebookAI/xlm-roberta-base` wrote.

    References:
        Rei et al. (2020), "COMET: A Neural Framework for MT Evaluation", section 2.3; Rei et al. (2022), "COMET-22:
        Unbabel-IST 2022 Submission for the Metrics Shared Task".
    """

    model: str = "Unbabel/wmt22-comet-da"
    texts: ClassVar = ("hyp", "ref", "src")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned("comet", _OF_WMT, frozenset({"mt"}), _COMET, frozenset({"references", "source"}))


@dataclass(frozen=True, kw_only=True)
class CometQE(Regressor):
    """COMET-QE: the rating that a network predicts from source and hypothesis alone.

    Unbabel's `Unbabel/wmt20-comet-qe-da` runs by name, as the checkpoints of `comet` do; it gives z-scores.

    Args:
        model: the name of a checkpoint on the hub, with or without @REVISION; its folder, with `hparams.yaml`; or a
            head or folder that `nlgauge train regressor --source --no-reference` wrote.

    References:
        Rei et al. (2020), "Unbabel's Participation in the WMT20 Metrics Shared Task": the model without references.
    """

    model: str = "Unbabel/wmt20-comet-qe-da"
    texts: ClassVar = ("hyp", "src")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned(
        "comet-qe",
        _OF_WMT,
        frozenset({"mt"}),
        'Rei et al. (2020), "Unbabel\'s Participation in the WMT20 Metrics Shared Task"',
        frozenset({"source"}),
    )


@dataclass(frozen=True, kw_only=True)
class Rated(RegressorMetric):
    """The rating that people would give, predicted by two heads in the package that learnt from ratings of WMT15.

    They learnt from 2,000 translations into English with direct assessment. Do not quote its agreement with these
    ratings, or with others of the same systems.

    One head compares vectors of the two texts: a weighted sum of their mean vectors, the product and the difference of
    these, and 19 numbers on how tokens match (see `regressor`). The other reads both texts in one sequence, and was
    also taught texts with errors. The value is the mean of their predictions, weighted by `both`. Where the first
    predicts -0.5 or less the second is left out, and from 0.25 on it has its full weight.

    Ratings are standardised by rater: 0 is the mean of a rater, and 1 is one standard deviation above it. Training used
    -1.9 to 1.3, and a blank text gets the lowest rating of training. A copy need not be best. The part is `raw`.

    It is the first choice for English translations where single texts of many inputs are compared. Between outputs for
    one input, and for whole systems, it is level with `bertscore`. It hardly sees repeated words, lost agreement of
    subject and verb, and most antonyms; it misses half of the wrong names and negations, and many wrong numbers. It
    orders very poor outputs, as of early checkpoints, worse than `bertscore`: take `gauge` there. For texts that are no
    translations of news, train a `regressor` on ratings of your own.

    Args:
        model: the head that compares vectors; `rated` and `rated-base` come with the package, the second on the encoder
            `base`, which `--encoder base` takes, too. For a head of your own use `regressor`.
        both: the weight of the head that reads both texts in one sequence, `rated-both` or `rated-both-base`; 0 leaves
            it out, which saves most of the time. None takes a half where `model` ships, and 0 otherwise.

    References:
        Shimanaka et al. (2018), "RUSE": the features of the first head; the sentence vectors are those of `Ruse`.
        Sellam et al. (2020), "BLEURT: Learning Robust Metrics for Text Generation", for the second: a network that
        reads both texts, taught by synthesis first and by ratings then.
    """

    model: str = "rated"
    both: Annotated[float | None, Range(least=0, most=1, meaning="a weight")] = None
    texts: ClassVar = ("hyp", "ref")
    trained: ClassVar = _RATINGS
    info: ClassVar = learned("rated", "human ratings of WMT15", frozenset({"mt", "d2t"}), _RUSE)

    @property
    def weight(self) -> float:
        """The weight of the head that reads both texts in one sequence."""
        return self.both if self.both is not None else 0.5 if self.model in _READS_BOTH else 0.0

    def second(self) -> RegressorFiles | None:
        """The files of the head that reads both texts in one sequence; None if its weight is 0.

        Raises:
            InputError: `both` is above 0, and `model` is no head of the package.
        """
        if not self.weight:
            return None
        if self.model not in _READS_BOTH:
            raise InputError(
                f"{self.info.name}: both is {self.both:g}, and {self.model} goes with no second head; leave it out"
            )
        return locate_regressor(_READS_BOTH[self.model])

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the models."""
        second = self.second()
        own = {} if second is None else {"second": second.head.name, "second_head": second.head.identity[:SHORT]}
        return {**super().facts(runtime), "both": self.weight or None, **own}

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the heads were shown in training."""
        second = self.second()
        own = () if second is None else second.head.items("trained_on_phenomena")
        return tuple(dict.fromkeys((*super().trained_on, *own)))

    def _predicted(self, texts: Mapping[str, Sequence[str]], runtime: Runtime, advance: Advance) -> Ratings:
        second = self.second()
        if second is None:
            return super()._predicted(texts, runtime, advance)
        first = super()._predicted(texts, runtime, lambda count: None)
        model = load_regressor(second.head.name, runtime.precision(self.dtype), runtime, self.max_tokens)
        other = model.score(texts, advance)
        share = self.weight * np.clip((first.values - _COMES_IN[0]) / (_COMES_IN[1] - _COMES_IN[0]), 0, 1)
        return Ratings(
            first.values + share * (other.values - first.values),
            first.truncated | other.truncated,
            np.maximum(first.unknown, other.unknown),
            first.empty | other.empty,
        )


# --- SEScore: a regressor that learnt from synthesised errors, of the package and as in the paper

_PAPER = (
    'Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error Synthesis"'
)
_TASKS = frozenset({"mt", "d2t", "ic"})
_METHODS = ("full", "lora", "frozen")  # by which a network learns


@dataclass(frozen=True, kw_only=True)
class SEScore(RegressorMetric):
    """Minus the number of a text's errors, after SEScore's idea of learning from errors made on purpose.

    The head that comes with the package is not SEScore: it was taught no severities, it is a weighted sum and no
    network, and half a deviation of BERTScore's F is added. It learnt from sentences of Wikipedia with two translations
    each: errors in one, scored against the other. No human rating was used, so you can train your own from raw text
    (`nlgauge synth`, `nlgauge train sescore`).

    The head knows single English sentences. Where translations of many inputs are compared it is a little ahead of
    BERTScore with the same encoder; between outputs for one input, and for whole systems, it is level with it.

    It has learnt scores from -5, five errors, to 0, none, and its output has no bounds: a copy of the reference gets
    about 1.4 and need not be best, an unrelated text about -6. A blank side gets the lowest score of the scale in the
    head, -25. The part `raw` is the output without calibration.

    `calibrated=true` brings the output to the scale of severities, 0 without an error, -1 for a minor and -5 for a
    severe one, by a curve in the head. The groups overlap, so that one value proves nothing; with `sescore-base` minor
    and severe errors are as good as equal. In a checkout `recipes/sescore/calibrate.py` fits a curve for a head of
    yours.

    Args:
        model: `sescore` or `sescore-base` (they come with the package, the second on the encoder `base`, which
            `--encoder base` takes, too), or a head or folder that `nlgauge train sescore` wrote.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", for the idea; `paper/sescore` is their network.
    """

    model: str = "sescore"
    texts: ClassVar = ("hyp", "ref")
    info: ClassVar = learned(
        "sescore",
        "synthetic errors, yet not SEScore: no severities, no network, and half a deviation of BERTScore's F is added",
        _TASKS,
        _PAPER,
    )


@dataclass(frozen=True, kw_only=True)
class PaperSEScore(RegressorMetric):
    """SEScore as in its paper: a network with tanh on the product and the difference of the two texts' mean vectors.

    Section 3.4 of the paper has these features (`2h`); the authors' code has both vectors besides (`4h`, as COMET). No
    model comes with the package: the authors' are pickles. `nlgauge synth TEXTS --preset paper -o triples.jsonl` and
    `nlgauge train sescore triples.jsonl -o FOLDER --preset paper` make one with the paper's models of the hub
    (RoBERTa-large trained in full, on a GPU). Without `--preset` in the first command, and with `--model embedded` in
    the second, both run with the models of the package in minutes, and agree with people little more than `cosine`.

    Args:
        model: a folder or head that `nlgauge train sescore --preset paper` wrote, or `--features 2h` with options of
            your own; whether its triples had severities is not checked.

    References:
        Xu et al. (2022), "Not All Errors are Equal: Learning Text Generation Metrics using Stratified Error
        Synthesis", sections 3.3, 3.4 and 4.1, appendix B.1.
    """

    model: str
    texts: ClassVar = SEScore.texts
    info: ClassVar = learned("paper/sescore", "synthetic errors with severities, as in the paper", _TASKS, _PAPER)
    without: ClassVar = {
        "model": (
            "; 'nlgauge synth TEXTS --preset paper -o triples.jsonl && nlgauge train sescore triples.jsonl -o FOLDER"
            " --preset paper' makes one"
        )
    }

    def files(self) -> RegressorFiles:
        """The regressor's files.

        Raises:
            InputError: as for every regressor; or it has other features, or is no network.
        """
        found = super().files()
        if found.features != feature_names("2h") or found.head.get("method") not in _METHODS:
            raise InputError(
                f"{self.info.name}: {self.model} has the features {', '.join(found.features)} and was trained by method"
                f" {found.head.get('method')}, expected {', '.join(feature_names('2h'))} and a network; use"
                f" sescore:model={quote(self.model)}"
            )
        return found
