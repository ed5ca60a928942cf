"""How bad an edit is, by what entails what: -1 where a text before and after still entail each other, else -5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.models.entailment import Entailment, NliModel, load_nli
from nlgauge.runtime.runtime import Runtime, margin

Kind = Literal["binary", "graded", "none"]
MINOR, MAJOR = -1.0, -5.0
THRESHOLD = 0.9  # Xu et al. (2022), section 3.3; for large models
JUDGE = "nli-robust"  # of the shipped ones the one that tells minor from major best, see CALIBRATED
# Small models are less sure of what is right. Head -> its SHA-256, the threshold found by `sh
# recipes/sescore/severities.sh DATA OUT`, and its balanced accuracy there.
CALIBRATED: Mapping[str, tuple[str, float, float]] = {
    "nli": ("578bee3d29eee162", 0.53, 0.732),
    "nli-robust": ("adbb6bfb0a8771f2", 0.29, 0.848),
}


@runtime_checkable
class Judge(Protocol):
    """Tells how far texts entail each other, as NLI models do."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Entailment:
        """Probabilities of entailment, neutrality and contradiction of (premise, hypothesis) pairs."""
        ...


@dataclass(frozen=True)
class Severity:
    """A judge, and how its probabilities become severities.

    Attributes:
        kind: `binary` is -1 or -5; `graded` is between them; `none` is -1 for every edit.
        judge: the judge; None where none is needed.
        name: the name of the judge.
        threshold: an edit is minor from this probability of entailment in both directions; with `graded`, the
            probability that gets -3.
        facts: what identifies the judge, for signatures.
        dtype: the precision of the judge. The lower it is, the wider the range around the threshold in which a pair is
            asked once more, alone.
    """

    kind: Kind
    judge: Judge | None = None
    name: str | None = None
    threshold: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    dtype: str = "float32"

    def rate(self, pairs: Sequence[tuple[str, str]], backward_first: Sequence[bool] | None = None) -> list[float]:
        """The severity of each edit.

        Args:
            pairs: (text before, text after) of n edits.
            backward_first: whether to ask first if the text after entails the one before, length n. A pair that fails
                one direction is not asked in the other, so this only affects the running time.

        References:
            Xu et al. (2022), section 3.3. The released code asks for more than the threshold, the paper for at least
            the threshold.
        """
        if self.judge is None or self.threshold is None:
            return [MINOR] * len(pairs)
        if self.kind == "graded":
            return [graded(p, self.threshold) for p in mutual(self.judge, pairs).tolist()]
        turned = backward_first or [False] * len(pairs)
        first = self._entailed([pair[::-1] if back else pair for pair, back in zip(pairs, turned, strict=True)])
        left = [i for i, entailed in enumerate(first) if entailed]
        second = self._entailed([pairs[i] if turned[i] else pairs[i][::-1] for i in left])
        minor = {i for i, entailed in zip(left, second, strict=True) if entailed}
        return [MINOR if i in minor else MAJOR for i in range(len(pairs))]

    def _entailed(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        assert self.judge is not None
        assert self.threshold is not None
        if not pairs:
            return []
        found = _entailment(self.judge, pairs).copy()
        # So close to the threshold the company of other pairs could turn a model's answer.
        close = np.flatnonzero(np.abs(found - self.threshold) < margin(self.dtype)).tolist()
        if close:
            found[close] = _alone(self.judge, [pairs[i] for i in close])
        minor: list[bool] = (found >= self.threshold).tolist()
        return minor


def severity(judge: str | Judge | None, kind: Kind, threshold: float | None, runtime: Runtime) -> Severity:
    """The severity rating for the values of options; a model is loaded only when it is asked.

    Args:
        judge: `nli`, `nli-robust`, a head, folder or hub id of an NLI model, an object with `judge(pairs)`, or None
            for severity none.
        kind: `binary`, `graded` or `none`.
        threshold: None takes the one calibrated for the judge; for unknown judges it takes the paper's 0.9.
        runtime: device, precision and models.

    Raises:
        SpecError: the kind is unknown or needs a judge, or the threshold is outside (0, 1].
        InputError: the model cannot be found.
    """
    if kind not in get_args(Kind):
        raise SpecError(f"severity is {kind!r}, expected one of {', '.join(get_args(Kind))}")
    if kind == "none":
        return Severity("none")
    if judge is None:
        raise SpecError(f"severity is {kind!r} and there is no judge; name an NLI model, or take severity none")
    if threshold is not None and not 0 < threshold <= 1:
        raise SpecError(f"threshold is {threshold}, expected above 0 and at most 1")
    if isinstance(judge, str):
        model = load_nli(judge, None, None, runtime.dtype, runtime)
        facts = {"dtype": runtime.dtype, "max_tokens": model.found.max_tokens(None), **model.found.facts()}
        own = threshold_of(judge) if threshold is None else threshold
        return Severity(kind, model, judge, own, facts, runtime.dtype)
    if not isinstance(judge, Judge):
        raise SpecError(
            f"judge is {type(judge).__name__}, expected the name of an NLI model or an object with judge(pairs)"
        )
    return Severity(
        kind, judge, getattr(judge, "name", type(judge).__name__), THRESHOLD if threshold is None else threshold
    )


def threshold_of(judge: str) -> float:
    """The threshold of a shipped judge, or the paper's 0.9 for any other; `calibrate` finds a better one."""
    return CALIBRATED[judge][1] if judge in CALIBRATED else THRESHOLD


def mutual(judge: Judge, pairs: Sequence[tuple[str, str]]) -> Array:
    """The smaller of the probabilities that each text of a pair entails the other, shape (n,)."""
    if not pairs:
        return np.zeros(0)
    both = _entailment(judge, [*pairs, *((after, before) for before, after in pairs)])
    return np.minimum(both[: len(pairs)], both[len(pairs) :])


def _entailment(judge: Judge, pairs: Sequence[tuple[str, str]]) -> Array:
    """Probabilities that the first text of each pair entails the second, shape (n,).

    NaN, to which models overflow in half precision, raises an error.
    """
    probabilities = judge.judge(pairs).probabilities[:, 0]
    if np.isnan(probabilities).any():
        raise InputError(
            f"the judge has no answer (NaN) for {np.isnan(probabilities).sum()} of {len(pairs)} pairs; try dtype"
            " float32, or another model"
        )
    return probabilities


def _alone(judge: Judge, pairs: Sequence[tuple[str, str]]) -> Array:
    """The same as `_entailment`, but with each pair in a call of its own, so that other pairs do not affect it."""
    if isinstance(judge, NliModel):
        return judge.judge(pairs, alone=True).probabilities[:, 0]
    return np.concatenate([_entailment(judge, [pair]) for pair in pairs])


def graded(probability: float, threshold: float) -> float:
    """From -5 where nothing entails over -3 at the threshold to -1 where all does, straight on both sides."""
    middle = (MINOR + MAJOR) / 2
    if probability < threshold:
        return MAJOR + (middle - MAJOR) * probability / threshold
    return middle + (MINOR - middle) * (probability - threshold) / (1 - threshold) if threshold < 1 else MINOR


@dataclass(frozen=True)
class Calibration:
    """How well a threshold tells minor from major edits.

    Attributes:
        threshold: the best threshold.
        balanced_accuracy: the mean of `minor` and `major`.
        minor, major: the share of the minor (major) pairs that are recognised as such, in [0, 1].
        n_minor, n_major: the number of minor (major) pairs.
    """

    threshold: float
    balanced_accuracy: float
    minor: float
    major: float
    n_minor: int
    n_major: int


def calibrate(
    judge: str | Judge, pairs: Sequence[tuple[str, str, bool]], runtime: Runtime | None = None
) -> Calibration:
    """The threshold of a judge that best tells minor from major edits, by balanced accuracy.

    Args:
        judge: as for `severity`.
        pairs: (text before, text after, whether the edit is minor).
        runtime: device, precision and models; None is the default runtime.

    Raises:
        InputError: there is no minor or no major pair.
    """
    return fit(mutual_of(judge, pairs, runtime), np.array([minor for _, _, minor in pairs], dtype=bool))


def mutual_of(judge: str | Judge, pairs: Sequence[tuple[str, str, bool]], runtime: Runtime | None = None) -> Array:
    """The verdicts of `mutual` on labelled pairs, shape (n,)."""
    asked = severity(judge, "graded", None, runtime or Runtime()).judge
    assert asked is not None
    return mutual(asked, [(before, after) for before, after, _ in pairs])


def fit(probabilities: Array, minor: Any) -> Calibration:
    """The threshold that best separates minor from major edits, halfway between two probabilities.

    Among equally good thresholds it is the lowest.

    Args:
        probabilities: shape (n,).
        minor: which edits are minor, shape (n,).

    Raises:
        InputError: there is no minor or no major edit.
    """
    minor = np.asarray(minor, dtype=bool)
    n_minor, n_major = int(minor.sum()), int((~minor).sum())
    if not n_minor or not n_major:
        raise InputError(
            f"{n_minor} minor and {n_major} major pairs, expected some of both; a threshold has to tell them apart"
        )
    order = np.argsort(probabilities, kind="stable")
    values, labels = probabilities[order], minor[order]
    cuts = np.flatnonzero(np.append(np.diff(values) > 0, False)) + 1  # with the first i called major
    cuts = np.concatenate([[0], cuts])
    found_major = np.concatenate([[0], np.cumsum(~labels)])[cuts] / n_major
    found_minor = 1 - np.concatenate([[0], np.cumsum(labels)])[cuts] / n_minor
    best = int(np.argmax(found_major + found_minor))
    cut = int(cuts[best])
    threshold = float((values[cut - 1] + values[cut]) / 2) if cut else float(values[0])
    if cut and threshold <= values[cut - 1]:  # two neighbours in floating point
        threshold = float(values[cut])
    share = (float(found_minor[best]), float(found_major[best]))
    return Calibration(threshold, sum(share) / 2, *share, n_minor, n_major)
