"""What stands in the place of a metric: a function or a model of the user's, or a column of ratings in the data."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import BaseMetric, check_needs, show, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.tables import Z, mean_of_ratings, single_ratings
from nlgauge.runtime.runtime import Runtime

_READS: Mapping[str, Callable[[Segment], Any]] = {
    "hypothesis": lambda s: s.hypothesis,
    "references": lambda s: [*s.references],
    "source": lambda s: s.source,
    "context": lambda s: [*s.context],
    "table": lambda s: [*s.table],
}
# Of a function that is given all segments at once: its argument -> what that has of each.
_READS_ALL = {"hypotheses": "hypothesis", "references": "references", "sources": "source", "contexts": "context"}
_READS_ALL["tables"] = "table"


def predicts(given: object) -> bool:
    """Whether it is a model, or a class of them, with `predict(samples)`, and no metric."""
    return callable(getattr(given, "predict", None)) and not hasattr(given, "info")


@dataclass(frozen=True)
class Plain:
    """A function or a model with the name under which it is signed.

    Attributes:
        call: the function. What it reads is named by its arguments, some of `hypothesis`, `references` (a list),
            `source`, `context` and `table` (lists); one with a default is read where a segment has it. Any other
            argument needs a default, which it keeps. A function of `hypotheses` gives a list with a number for each;
            its other arguments are `references`, `sources`, `contexts` and `tables`, each a list as long. In its place
            may stand an object with `predict(samples)`, or a class that is made without arguments when it first
            scores; a sample is a dictionary with `mt`, and with `src` and `ref` (the first) where there are any.
    """

    call: Any

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise SpecError(f"a function is called {self.name!r}, expected a name for its signature: define it by def")
        if predicts(self.call):
            return
        known = self._known
        unknown = [name for name, needed in self._parameters.items() if needed and name not in known]
        if unknown:
            raise SpecError(f"{self}: the argument {unknown[0]!r} has no default{nearest(unknown[0], known)}")
        if known is _READS and "hypothesis" not in self._parameters:
            raise SpecError(f"{self} has no argument 'hypothesis', expected def {self.name}(hypothesis, references)")

    def __str__(self) -> str:
        return f"{getattr(self.call, '__module__', None) or '?'}:{self.name}"

    @property
    def name(self) -> str:
        """The name of the metric."""
        return str(getattr(self.call, "__name__", type(self.call).__name__))

    @cached_property
    def _parameters(self) -> dict[str, bool]:
        """Argument that can be given by name -> whether it must be."""
        try:
            parameters = inspect.signature(self.call).parameters.values()
        except (TypeError, ValueError):  # some functions of C do not say
            return {}
        named = (p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        return {p.name: p.default is p.empty for p in named}

    @property
    def _known(self) -> Mapping[str, Any]:
        return _READS_ALL if "hypotheses" in self._parameters else _READS

    @cached_property
    def _read(self) -> Mapping[str, str]:
        """Argument -> the field of a segment that it is given."""
        return {name: _READS_ALL.get(name, name) for name in self._known if name in self._parameters}

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The fields of each segment that the function is given."""
        return ("hypothesis",) if predicts(self.call) else tuple(self._read.values())

    @cached_property
    def needs(self) -> frozenset[str]:
        """The fields that every segment must have besides the hypothesis."""
        needed = (field for name, field in self._read.items() if self._parameters[name])
        return frozenset(() if predicts(self.call) else needed) - {"hypothesis"}

    @cached_property
    def _model(self) -> Any:
        return self.call() if isinstance(self.call, type) else self.call

    def values(self, segments: Sequence[Segment]) -> list[float]:
        """A number for each segment.

        Raises:
            InputError: the function fails, or gives no numbers.
        """
        if predicts(self.call):
            names = {"src": "source", "mt": "hypothesis"}
            samples = [
                {**{key: getattr(s, name) for key, name in names.items() if getattr(s, name) is not None}}
                | ({"ref": s.references[0]} if s.references else {})
                for s in segments
            ]
            found = self._called(segments, lambda: self._model.predict(samples))
            found = found["scores"] if isinstance(found, Mapping) else getattr(found, "scores", found)
            # older models give the scores and their mean
            found = found[0] if isinstance(found, tuple) and found and np.ndim(found[0]) == 1 else found
        elif self._known is _READS_ALL:
            given = {name: [_READS[field](s) for s in segments] for name, field in self._read.items()}
            found = self._called(segments, lambda: self.call(**given))
        else:
            return [self._number(self._of_one(s), s) for s in segments]
        try:
            listed = list(found)
        except TypeError:
            listed = None
        if listed is None or len(listed) != len(segments):
            what = type(found).__name__ if listed is None else f"{len(listed)} numbers"
            raise InputError(f"{self} gives {what} for {len(segments)} segments, expected a number for each")
        return [self._number(value, s) for value, s in zip(listed, segments, strict=True)]

    def _of_one(self, segment: Segment) -> Any:
        given = {name: _READS[name](segment) for name in self.reads}
        return self._called([segment], lambda: self.call(**given))

    def _called(self, segments: Sequence[Segment], call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:  # whatever somebody's function does
            reason = (str(error).strip() or "no reason given").splitlines()[0]
            which = f"segment {segments[0].id!r}" if len(segments) == 1 else f"{len(segments)} segments"
            raise InputError(f"{self} fails on {which}: {type(error).__name__}: {reason}") from error

    def _number(self, value: Any, segment: Segment) -> float:
        try:
            number = float(value) if np.ndim(value) == 0 and not isinstance(value, (str, bytes)) else None
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None or math.isinf(number):
            raise InputError(
                f"{self} gives {value!r:.60} for segment {segment.id!r}, expected a number, or NaN where it"
                " is undefined"
            )
        return number

    @cached_property
    def digest(self) -> str:
        """Of the file that defines it, or of its own text where there is no file, as in a notebook."""
        try:
            made = type(self.call) if predicts(self.call) and not isinstance(self.call, type) else self.call
            file = inspect.getsourcefile(made)
            if file is not None and Path(file).is_file():
                return f"sha256:{sha256(Path(file).read_bytes()).hexdigest()[:16]}"
            return f"sha256:{sha256(inspect.getsource(made).encode()).hexdigest()[:16]}"
        except (TypeError, OSError):
            return "unknown"

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.call) or "a function").splitlines()[0]


@dataclass(frozen=True, kw_only=True)
class Function(BaseMetric):
    """A metric that a function or a model of the user's computes; the corpus number is the mean.

    Args:
        function: what computes it.
        higher_is_better: false for an error rate. None takes true, with a note.

    The signature holds the module and the name of the function, and the digest of its file; what it reads elsewhere is
    not signed. NaN is an undefined score.
    """

    function: Plain
    higher_is_better: bool | None = None
    info: ClassVar = MetricInfo(
        "function",
        needs=frozenset(),
        range=(-math.inf, math.inf),
        copy_is_best=False,  # not known
    )

    def __post_init__(self) -> None:
        checked(self, name=self.function.name)
        info = replace(type(self).info, name=self.function.name, needs=self.function.needs)
        up = self.higher_is_better is not False
        object.__setattr__(self, "info", replace(info, higher_is_better=up, summary=self.function.summary))

    @property
    def spec(self) -> str:
        """Its name, and the direction where it is given."""
        given = "" if self.higher_is_better is None else f":higher_is_better={show(self.higher_is_better)}"
        return f"{self.function.name}{given}"

    @property
    def notes(self) -> tuple[str, ...]:
        """That a direction was assumed."""
        assumed = "a higher value is taken as better; higher_is_better=false if not"
        return (assumed,) if self.higher_is_better is None else ()

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The digest of the file, and the direction."""
        return {"higher_is_better": self.info.higher_is_better, "file": self.function.digest}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment.

        Raises:
            InputError: a segment lacks what the function reads, or the function fails or gives no number for it.
        """
        check_needs(self, segments)
        values = np.array(self.function.values(segments) if segments else [], dtype=np.float64)  # (n,)
        flags = {"empty": np.array([self._is_empty(s) for s in segments], dtype=np.bool_)}  # (n,)
        signature = signature_of(self, runtime)
        return Scores(signature, ids(segments), values, flags=flags, higher_is_better=self.info.higher_is_better)

    def _is_empty(self, segment: Segment) -> bool:
        reads = self.function.reads
        return is_blank(segment.hypothesis) or ("references" in reads and any(map(is_blank, segment.references)))


# --- Scores that the data hold themselves, such as those of a log or of people, as metrics


RATINGS = "human."  # begins the name of a column of ratings, which stands in the place of a metric


@dataclass(frozen=True, kw_only=True)
class RatingColumn(BaseMetric):
    """A column of ratings in the data; of several ratings of a text the mean. Higher is taken to be better.

    Args:
        criterion: the column; `CRITERION.z` is without the severity of its raters, see `core.tables.z_by_rater`.
    """

    criterion: str

    @property
    def info(self) -> MetricInfo:
        """Facts; the scale is not known."""
        return MetricInfo(f"{RATINGS}{self.criterion}", needs=set(), range=(-math.inf, math.inf), copy_is_best=False)

    @property
    def spec(self) -> str:
        """The specification that `registry.named` takes."""
        return f"{RATINGS}{self.criterion}"

    @property
    def pooled(self) -> bool:
        """Severity is known from all that a rater rated."""
        return self.criterion.endswith(Z)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The ratings, NaN where a text has none.

        Raises:
            InputError: no text has one, one is no finite number, or severity is asked for and nobody says who rated.
        """
        given, notes = single_ratings(segments, self.criterion)
        values = np.array([mean_of_ratings(own) for own in given])  # (n,)
        if len(values) and np.isnan(values).all():
            known = dict.fromkeys(name for s in segments for name in s.human)
            has = nearest(self.criterion, known) if known else "; there are no ratings"
            has = f": {notes[0]}" if notes else has
            raise InputError(f"no text has a rating {self.criterion!r}{has}")
        signature = signature_of(self, runtime)
        return Scores(signature, ids(segments), values, notes=tuple(notes), ratings=tuple(given))
