"""`guarded(metric)`: a metric in which outputs that guards distrust score as the worst."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.metric import scores_parts, signature_of, spec_of, whole
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.metrics.base import is_pooled
from nlgauge.metrics.guards.endings import HABITS, habits
from nlgauge.metrics.guards.rules import OUTPUTS, VERSION, Rules, is_spoilt
from nlgauge.metrics.wrapped import WrappedMetric
from nlgauge.runtime.runtime import Runtime

GUARDED = "guarded"
_SIGN = "\u25a1"
_LETTER, _MARK = re.compile(r"\w"), re.compile(rf"[^\w\s{_SIGN}]")
_SURE = "empty+unasked+copied+foreign+looping"  # guards of texts that are no answer; the others find faults of a part
_NAMES = (*OUTPUTS, *HABITS)
_TELLING = frozenset(("copied", "foreign", "unfinished", "untranslated"))  # guards that ask for languages


@dataclass(frozen=True)
class Guarded(WrappedMetric):
    """A metric in which an output that a guard distrusts gets the score of an empty text, or its own if that is worse.

    Where corpus numbers come from counts, such as BLEU's, the text is not emptied: signs that match nothing stand in
    for its letters, so that its length counts and the number can only get worse. Of a perplexity, each of its pieces
    gets the value of an empty text. All other segments keep their scores to the last bit.

    Attributes:
        metric: the metric inside.
        guards: the guards that count, joined by "+".
    """

    guards: str = _SURE

    def __post_init__(self) -> None:
        for name in self._names:
            if name not in _NAMES:
                raise SpecError(f"{GUARDED}:guards names {name!r}{nearest(name, _NAMES)}")
        if self.metric.info.name == "scores":
            raise SpecError(f"{GUARDED}(scores): scores that are read from a file say nothing of an empty text")
        if is_pooled(self.metric) and not scores_parts(self.metric):
            raise SpecError(
                f"{GUARDED}({spec_of(self.metric)}): its scores depend on all texts of the call, so that an empty text"
                f" would move the others; of a sum, guard the terms, as in 0.5*{GUARDED}(bleu) + 0.5*{GUARDED}(chrf)"
            )

    @property
    def info(self) -> MetricInfo:
        """The info of the metric inside, under the name of the wrapper."""
        return replace(self.metric.info, name=GUARDED, cached=False)

    @property
    def spec(self) -> str:
        """The specification that rebuilds the metric."""
        return f"{GUARDED}({spec_of(self.metric)})" + ("" if self.guards == _SURE else f":guards={self.guards}")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The signature of the metric inside, the version of the rules, and what tells languages."""
        entries = signature_of(self.metric, runtime).entries
        inside = "(" + "|".join(f"{key}:{value}" for key, value in entries if key != "nlgauge") + ")"
        telling = {"py3langid": version("py3langid")} if _TELLING & {*self._names} else {}
        return {"metric": inside, "pool": None, "rules": VERSION, **telling}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The scores of the metric inside; the flag `guarded` is set where a guard distrusts the output."""
        found = self._inside(segments, runtime)
        rules, names = Rules(), {*self._names}
        guarded = np.array(
            [is_spoilt(s, names.intersection(chain(rules.flags(s), habits(s)))) for s in segments], dtype=np.bool_
        )
        if guarded.any():
            recounts = self.metric.info.cached  # its statistics are made from values and parts
            stand_in = _masked if found.stats is not None and not recounts else lambda text: ""
            odd = [s for s, is_odd in zip(segments, guarded, strict=True) if is_odd]
            emptied = [replace(s, hypothesis=stand_in(s.hypothesis)) for s in odd]
            own, found = found, _worse(found, self._emptied(emptied, segments, runtime), guarded)
            if found.stats is not None and recounts:  # of the worst value, but over the pieces that the text has
                found = whole(self.metric).counted(replace(found, parts=own.parts))
        return replace(found, signature=signature_of(self, runtime), flags={**found.flags, GUARDED: guarded})

    @property
    def _names(self) -> list[str]:
        return self.guards.split("+")

    def _emptied(self, emptied: Sequence[Segment], segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The scores of empty texts. What a metric takes from all texts, it takes from the true ones."""
        if not is_pooled(self.metric):
            return self._inside(emptied, runtime)
        return whole(self.metric).scorer(segments, runtime)(emptied)


def _masked(text: str) -> str:
    """A text of the same length that has nothing in common with another; marks are words of their own."""
    return _MARK.sub(f" {_SIGN} ", _LETTER.sub(_SIGN, text))


def _worse(own: Scores, emptied: Scores, guarded: Mask) -> Scores:
    """Scores with those of empty texts where a text is guarded, unless its own is worse still."""
    places = np.flatnonzero(guarded)
    sign = 1.0 if own.higher_is_better else -1.0
    worse = ~(sign * own.values[places] <= sign * emptied.values)  # also where the own value is undefined
    taken, chosen = places[worse], np.flatnonzero(worse)

    def merged(column: Array, other: Array) -> Array:
        column = np.array(column)
        column[taken] = other[chosen]
        return column

    stats = None
    if own.stats is not None and emptied.stats is not None:
        stats = merged(own.stats, emptied.stats)
    parts = {name: merged(column, emptied.parts[name]) for name, column in own.parts.items()}
    return replace(own, values=merged(own.values, emptied.values), parts=parts, stats=stats)
