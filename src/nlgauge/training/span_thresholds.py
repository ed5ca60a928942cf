"""From which probability on a head marks: fixed on texts with known errors, and how well it then agrees with them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from safetensors import safe_open

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.models.spans import Judged, load_spans
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.explaining import Thresholds, Worded, marked_spans, thresholds
from nlgauge.stats.draws import wilson
from nlgauge.stats.spans import clean_counts, one_to_one_counts, share_of_totals, span_agreement
from nlgauge.training.heads import write_head
from nlgauge.training.span_examples import SpanExample

_WORDS = np.round(np.arange(0.06, 0.95, 0.03), 2)
_MISSING = np.round(np.arange(0.3, 0.96, 0.05), 2)
_NEVER = 0.999  # above what a head says of a gap: nothing is missing
_MOST = 0.01  # of texts without errors in which something may be called missing
_BOTH_SIDES = 0.9  # an interval that leaves out .05 above
_STEPS = 1000  # thresholds of texts are thousandths
_DIGITS = 6  # of an F; the last bits of a probability differ between processors, and no threshold may hang on them


@dataclass(frozen=True)
class SpanScore:
    """How well a head's marks agree with known errors.

    Attributes:
        name: of the texts.
        n: how many there are.
        f1, precision, recall: one to one, as `nlgauge.stats.one_to_one_counts` counts.
        left_clean: of the texts without errors, the share without a mark; NaN where there are none.
    """

    name: str
    n: int
    f1: float
    precision: float
    recall: float
    left_clean: float


class _Held:
    """Examples with what a head says of their words."""

    def __init__(self, head: str, examples: Sequence[SpanExample], runtime: Runtime) -> None:
        examples = [one for one in examples if one.spans is not None]
        if not examples:
            raise InputError("no example has known places of errors, expected one or more")
        self.model = load_spans(head, runtime.dtype, runtime)
        self.pairs = [(Worded.of(one.text), Worded.of(one.other)) for one in examples]
        self.judged: list[Judged] = self.model.judge([(a.words, b.words) for a, b in self.pairs])
        self.known = [one.spans or () for one in examples]

    def marks(self, limits: Thresholds) -> list[tuple[ErrorSpan, ...]]:
        return [
            marked_spans(text, [other], judged, limits)
            for (text, other), judged in zip(self.pairs, self.judged, strict=True)
        ]

    def score(self, name: str, limits: Thresholds) -> SpanScore:
        marks = self.marks(limits)
        found = span_agreement(one_to_one_counts(_places(self.known), _places(marks)))
        clean = float(share_of_totals(clean_counts(self.known, marks).sum(axis=0)))
        return SpanScore(name, len(marks), found.f1, float(found.precision), float(found.recall), clean)


def fix_thresholds(
    head: str | os.PathLike[str],
    examples: Sequence[SpanExample],
    runtime: Runtime,
    *,
    most_marked: float | None = None,
) -> Thresholds:
    """Choose the thresholds of a head on texts with known errors, and write them into its file.

    That of words has the highest one-to-one F, in the mean with its neighbours on a grid. That of what is missing is
    the lowest at which at most 1 % of the texts without errors lack something; it is .5 where there are no such texts.

    Args:
        head: the file.
        examples: texts that the head did not learn from.
        runtime: device and precision.
        most_marked: the largest share of texts without errors that may get a mark, in (0, 1). It fixes the threshold of
            whole texts: the lowest at which, with 95 % confidence, no larger share of such texts passes for faulty. If
            None, words of all texts are marked.

    Raises:
        InputError: there are no examples, too few without errors for `most_marked`, or the file is no such head or
            cannot be written.
    """
    if not examples:
        raise InputError("no examples to fix thresholds on, expected one or more")
    path = os.fspath(head)
    held = _Held(path, examples, runtime)
    right = [one.text for one, known in zip(held.judged, held.known, strict=True) if not known]
    text = 0.0 if most_marked is None else threshold_of_texts(right, most_marked)
    scores = np.array([held.score("", Thresholds(float(t), _NEVER, text)).f1 for t in _WORDS])
    around = np.convolve(np.pad(scores, 1, mode="edge"), np.ones(3) / 3, mode="valid").round(_DIGITS)
    words = float(_WORDS[len(around) - 1 - int(np.argmax(around[::-1]))])  # of equal ones the highest marks least
    clean = [one.missing.max() for one, known in zip(held.judged, held.known, strict=True) if not known]
    shares = [float(np.mean(np.array(clean) > t)) for t in _MISSING] if clean else []
    missing = next((float(t) for t, share in zip(_MISSING, shares, strict=False) if share <= _MOST), _NEVER)
    limits = Thresholds(words, missing if clean else 0.5, text)
    write_thresholds(path, limits)
    return limits


def threshold_of_texts(right: Sequence[float], most_marked: float) -> float:
    """The lowest threshold of whole texts at which, with 95 % confidence, few enough right texts pass for faulty.

    Args:
        right: of texts without errors, the probability of an error.
        most_marked: the largest share of them that may pass, in (0, 1).

    Raises:
        InputError: the share is out of range, or so few texts cannot show it.
    """
    if not 0 < most_marked < 1:
        raise InputError(f"most_marked is {most_marked!r}, expected a share between 0 and 1")
    n = len(right)
    allowed = [k for k in range(n) if wilson(k, n, _BOTH_SIDES)[1] <= most_marked]
    if not allowed:
        raise InputError(
            f"{n} texts without errors cannot show that at most {most_marked:g} of such texts get a mark; give more"
        )
    text = float(np.ceil(np.sort(right)[::-1][allowed[-1]] * _STEPS + 1) / _STEPS)
    return min(text, 1 - 1 / _STEPS)


def write_thresholds(head: str | os.PathLike[str], limits: Thresholds) -> None:
    """Write thresholds into the file of a head, in place of those that it has."""
    path = os.fspath(head)
    with safe_open(path, framework="pt") as file:
        about = file.metadata() or {}
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # no mapping
    about = {name: value for name, value in about.items() if name != "threshold_text"}
    fixed = {"threshold": limits.words, "threshold_missing": limits.missing}
    fixed |= {"threshold_text": limits.text} if limits.text else {}
    write_head(path, tensors, {**about, **{name: f"{value:g}" for name, value in fixed.items()}})


def score_spans(
    head: str | os.PathLike[str], examples: Sequence[SpanExample], runtime: Runtime, name: str = ""
) -> SpanScore:
    """How well the marks of a head agree with known errors, at its own thresholds.

    Args:
        head: the file.
        examples: texts with known errors.
        runtime: device and precision.
        name: what the examples are called.
    """
    held = _Held(os.fspath(head), examples, runtime)
    return held.score(name, thresholds(held.model))


def _places(spans: Sequence[Sequence[ErrorSpan]]) -> list[list[tuple[int, int]]]:
    return [[(span.start, span.end) for span in own if not span.missing] for own in spans]
