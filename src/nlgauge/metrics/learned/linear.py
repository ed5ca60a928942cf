"""A linear model of named features in a JSON file: what `blend` and `beer` have learnt from ratings."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.segment import unique

FORMAT, VERSION = "nlgauge-linear", 1


@dataclass(frozen=True)
class Term:
    """One feature.

    Attributes:
        name: the name of the feature.
        weight: its weight, in units of the score for one standard deviation.
        mean: its mean in training.
        sd: its standard deviation in training.
    """

    name: str
    weight: float
    mean: float
    sd: float


@dataclass(frozen=True)
class LinearModel:
    """The intercept plus the weighted sum of standardised features.

    Attributes:
        kind: the metric that it is for: `blend` or `beer`.
        terms: the features.
        intercept: the score where every feature has its mean.
        about: what else the file says: criterion, data, number of ratings, ...
        digest: the identity of the file; empty for a model that was not read from one.
    """

    kind: str
    terms: tuple[Term, ...]
    intercept: float
    about: Mapping[str, Any] = field(default_factory=dict, hash=False)
    digest: str = ""

    @property
    def slopes(self) -> Array:
        """The change of the score for one unit of each feature, shape (k,)."""
        return np.array([term.weight / term.sd for term in self.terms])

    @property
    def origin(self) -> float:
        """The score where every feature is 0."""
        return self.intercept - sum(term.weight / term.sd * term.mean for term in self.terms)

    def text(self) -> str:
        """The content of a file."""
        rows = [asdict(term) for term in self.terms]
        content = {"format": FORMAT, "version": VERSION, "kind": self.kind, "intercept": self.intercept}
        return json.dumps({**content, "terms": rows, **self.about}, indent=1, ensure_ascii=False) + "\n"

    def facts(self) -> dict[str, str]:
        """The facts that identify the model, for a signature. Where the file lies changes no number."""
        return {"model": "file", "weights": self.digest, "trained": "human ratings"}


def read_linear(path: str, kind: str) -> LinearModel:
    """Read a model that `nlgauge train blend` or `train beer` wrote.

    Raises:
        InputError: there is no such file, it is damaged, or it is for another metric.
    """
    place = Path(os.path.expanduser(path))
    try:
        content = place.read_bytes()
    except OSError as error:
        raise InputError(f"{kind}: cannot read {path}: {error.strerror}; 'nlgauge train {kind}' writes one") from None
    try:
        found = json.loads(content, object_pairs_hook=unique)
        head = (found.pop("format"), found.pop("version"), found.pop("kind"))
        terms = tuple(Term(**row) for row in found.pop("terms"))
        intercept = _float(found.pop("intercept"))
        terms = tuple(replace(t, weight=_float(t.weight), mean=_float(t.mean), sd=_float(t.sd)) for t in terms)
        numbers = [intercept, *(n for term in terms for n in (term.weight, term.mean, term.sd))]
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise InputError(f"{kind}: {path} is no model, expected JSON as 'nlgauge train {kind}' writes it") from None
    if head != (FORMAT, VERSION, kind):
        shown = f"{_shown(head, ' '):.100}"
        raise InputError(f"{kind}: {path} is {shown}, expected {FORMAT} {VERSION} {kind}; name another file")
    names = [term.name for term in terms]
    if not terms or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InputError(f"{kind}: {path}: expected terms of different names, got {_shown(names, ', ') or 'none':.200}")
    if not all(map(math.isfinite, numbers)) or min(term.sd for term in terms) <= 0:
        raise InputError(f"{kind}: {path}: expected finite numbers, and each sd above 0; train the model again")
    return LinearModel(kind, terms, intercept, found, f"sha256:{sha256(content).hexdigest()[:16]}")


def _shown(values: Iterable[object], between: str) -> str:
    """Values of a file in one line."""
    return " ".join(between.join(map(str, values)).split())


def _float(value: object) -> float:
    """A number of a file; texts and booleans are none, though Python makes numbers of them."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError
    return float(value)
