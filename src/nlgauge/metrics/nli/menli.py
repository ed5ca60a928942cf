"""NLI as a metric: how far the hypothesis and the reference (or source) entail each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, stripped
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.nli.model import NliMetric, Questions, anchors, empty_in, unknown_in
from nlgauge.metrics.nli.windows import premise_windows
from nlgauge.metrics.references import over_references
from nlgauge.metrics.unknown import known, nonfinite, unknown
from nlgauge.models.heads import HEADS
from nlgauge.runtime.runtime import Runtime

# formula -> weights of e, n and c, and the lowest and highest value of probabilities that sum to 1.
FORMULAS: dict[str, tuple[tuple[float, float, float], tuple[float, float]]] = {
    "e": ((1.0, 0.0, 0.0), (0.0, 1.0)),
    "-c": ((0.0, 0.0, -1.0), (-1.0, 0.0)),
    "e-n": ((1.0, -1.0, 0.0), (-1.0, 1.0)),
    "e-c": ((1.0, 0.0, -1.0), (-1.0, 1.0)),
    "e-n-2c": ((1.0, -1.0, -2.0), (-2.0, 1.0)),
}
Direction = Literal["forward", "backward", "both", "both-geometric", "both-smaller"]
_OF_THE_PAPER = {"rh": "forward", "hr": "backward", "avg": "both"}
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
_WHY = "a copy need not be best: a model may be surer of another sentence"


def pool(formula: str, e: Array, n: Array, c: Array) -> Array:
    """A formula of the three probabilities, each of shape (n,)."""
    weights, _ = FORMULAS[formula]
    return np.asarray(weights[0] * e + weights[1] * n + weights[2] * c + 0.0)  # + 0.0: no minus zero


def joined(direction: Direction, ways: Array, low: float) -> Array:
    """One value from the values of the directions.

    Args:
        direction: `both-geometric` takes the geometric mean of the distances from the formula's worst value, so that a
            text that fails in one direction cannot be saved by the other; `both-smaller` takes the smaller value; any
            other takes the mean.
        ways: values of a formula, shape (directions, n).
        low: the formula's worst value.
    """
    if direction == "both-geometric":  # rounding may leave a value a hair below the worst
        return np.asarray(low + np.sqrt(np.prod(np.maximum(ways - low, 0.0), axis=0)))
    return np.asarray(ways.min(axis=0) if direction == "both-smaller" else ways.mean(axis=0))


@dataclass(frozen=True, kw_only=True)
class Nli(NliMetric):
    """A formula of three probabilities: entailment (e), neutrality (n) and contradiction (c).

    They say how the hypothesis relates to its anchor, which is a reference or the source.

    Args:
        formula: `e`, `-c`, `e-n`, `e-c` or `e-n-2c`.
        direction: `forward` takes the anchor as the premise, `backward` the hypothesis; `both` first averages the
            probabilities of the two directions; `both-geometric` and `both-smaller` take the formula of each
            direction, and then the geometric mean of the distances from the worst value, or the smaller value. `rh`,
            `hr` and `avg` are the paper's words for the first three. None takes `both-geometric` for the heads that
            come with the package and `both` for any other model.
        anchor: what the hypothesis is compared with: `reference` or `source`.
        references: how to use several references: `mean`; `best` (the one with the best value); `first`; or `parts`.
            `parts` takes the highest e, n and c over the references, each on its own and in each direction, and then
            the mean of the directions and the formula, as the paper and its released code take the maximum.
        long: a pair beyond the limit is cut, the longer side first (`truncate`), or its premise is read in windows of
            whole sentences (`windows`). The window of which the model is surest, with the lowest n, then counts.

    References:
        Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference", section 4.3.

        Where this differs from the released code: labels are read from the model, never assumed by its name; e-n-2c
        exists; an empty side gets the formula's worst value; outer blanks of a text do not count. The geometric mean
        and the smaller value are ours.
    """

    formula: Literal["e", "-c", "e-n", "e-c", "e-n-2c"] = "e"
    direction: Direction | Literal["rh", "hr", "avg"] | None = None
    anchor: Literal["reference", "source"] = "reference"
    references: Literal["mean", "best", "first", "parts"] = "mean"
    long: Literal["truncate", "windows"] = "truncate"
    info: ClassVar = MetricInfo(
        "nli",
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"e": True, "n": None, "c": False},
        summary=f"entailment as a metric; {_WHY}",
        tasks={"mt", "as", "d2t"},
        paper='Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference"',
    )

    def __post_init__(self) -> None:
        checked(self)
        object.__setattr__(self, "direction", _OF_THE_PAPER.get(str(self.direction), self.direction))
        self._check_references()
        low, high = FORMULAS[self.formula][1]
        if self.references == "parts" and self.formula == "e-n-2c":
            low = -3.0  # the highest n and the highest c may come from two references
        needs = {"references"} if self.anchor == "reference" else {"source"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, range=(low, high)))

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the formula; parts `e`, `n`, `c`; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty side gives the formula's worst value (with e 0 and c 1; n 1 for e-n) and sets the flag `empty`. A
        segment with a text of which no piece is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks the anchor; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        if self.anchor == "source":
            return self._score_single(segments, runtime)
        if self.references != "parts":
            return over_references(segments, self.references, lambda single: self._score_single(single, runtime))
        found = [self._highest(segments, replace(self, direction=way), runtime) for way in self._ways]
        each = {name: np.stack([one.parts[name] for one in found]) for name in ("e", "n", "c")}
        flags = {name: np.any([one.flags[name] for one in found], axis=0) for name in found[0].flags}
        values, parts = self._value(each)
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        each = {"highest_in": "each direction"} if self.references == "parts" and len(self._ways) > 1 else {}
        return {**super().facts(runtime), "direction": self.joining, **each}

    @property
    def joining(self) -> Direction:
        """The direction, or how two are joined: as the option says, else what suits the model."""
        return cast(Direction | None, self.direction) or ("both-geometric" if self.model in HEADS else "both")

    @property
    def _ways(self) -> tuple[Direction, ...]:
        """The directions in which the model is asked."""
        one = self.joining
        return (one,) if one in ("forward", "backward") else ("forward", "backward")

    def _value(self, each: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
        """The values and the mean probabilities, from those of each direction, of shape (directions, n)."""
        parts = {name: np.asarray(column.mean(axis=0)) for name, column in each.items()}
        if self.joining not in ("both-geometric", "both-smaller"):
            return pool(self.formula, **parts), parts
        return joined(self.joining, pool(self.formula, **each), self.info.range[0]), parts

    def _highest(self, segments: Sequence[Segment], one_way: Nli, runtime: Runtime) -> Scores:
        """The highest probabilities over the references in one direction, each on its own, as parts."""
        # An empty reference beside others must not be the one with the highest c: undefined for now.
        scores = over_references(
            segments, "best_each", lambda single: one_way._score_single(single, runtime, (np.nan, np.nan, np.nan))
        )
        parts = {
            name: np.where(np.isnan(column) & scores.flags["empty"], w, column)
            for (name, column), w in zip(scores.parts.items(), self._worst, strict=True)
        }
        return replace(scores, parts=parts)

    @property
    def _worst(self) -> tuple[float, float, float]:
        """The probabilities e, n and c that an empty side gets."""
        return (0.0, 1.0, 0.0) if self.formula == "e-n" else (0.0, 0.0, 1.0)

    def _score_single(
        self, segments: Sequence[Segment], runtime: Runtime, unread: tuple[float, float, float] | None = None
    ) -> Scores:
        against = anchors(segments, self.anchor)
        texts = [(stripped(anchor), stripped(s.hypothesis)) for anchor, s in zip(against, segments, strict=True)]
        empty = np.array([not (anchor and hyp) for anchor, hyp in texts], dtype=np.bool_)
        probabilities = np.tile(unread or self._worst, (len(self._ways), len(segments), 1))  # (directions, n, 3)
        truncated, broken = np.zeros((2, len(segments)), dtype=np.bool_)
        shares = np.zeros(len(segments))
        asked = np.flatnonzero(~empty)
        if len(asked):
            forward = [texts[i] for i in asked]
            ways = [[(b, a) for a, b in forward] if way == "backward" else forward for way in self._ways]
            found = self._ask([pair for way in ways for pair in way], runtime)
            read = ~found.empty[: len(asked)]  # the same texts in every direction
            empty[asked], asked = ~read, asked[read]
            told = found.probabilities.reshape(len(ways), -1, 3)[:, read]
            probabilities[:, asked] = told
            broken[asked] = nonfinite(np.hstack(list(told)))
            truncated[asked] = found.truncated.reshape(len(ways), -1)[:, read].any(axis=0)
            shares[asked] = found.unknown[: len(read)][read]
        values, parts = self._value(
            {name: np.stack([known(way, shares) for way in probabilities[..., i]]) for i, name in enumerate("enc")}
        )
        flags = {"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)

    def _ask(self, pairs: list[tuple[str, str]], runtime: Runtime) -> Answers:
        model = self.loaded(runtime)
        questions = Questions()
        if self.long == "truncate":
            whole = model.tokenizer.read(text for pair in pairs for text in pair)
            questions.ask(0, pairs)
            found, cut = questions.judged(model, whole, runtime, "nli")
            return Answers(found, cut, unknown_in(pairs, whole, model), empty_in(pairs, whole))
        windows, contents = premise_windows(pairs, model.tokenizer)
        for i, (parts, (_, hypothesis)) in enumerate(zip(windows, pairs, strict=True)):
            questions.ask(i, [(part, hypothesis) for part in parts])
        found, cut = questions.judged(model, contents, runtime, "nli")
        owners = np.array(questions.owners)
        order = np.lexsort((found[:, 1], owners))  # by question, the surest window first
        surest = order[np.searchsorted(owners[order], np.arange(len(pairs)))]
        is_cut = np.bincount(owners, cut, len(pairs)) > 0
        return Answers(found[surest], is_cut, unknown_in(pairs, contents, model), empty_in(pairs, contents))


@dataclass(frozen=True)
class Answers:
    """A model's answers to n pairs.

    Attributes:
        probabilities: of entailment, neutrality and contradiction, shape (n, 3).
        truncated: whether text was cut, shape (n,).
        unknown: the highest share of unknown pieces in a text of the pair, shape (n,).
        empty: whether a text of the pair has no piece, shape (n,).
    """

    probabilities: Array
    truncated: Mask
    unknown: Array
    empty: Mask
