"""Names of array types that all packages share, and what it means that two objects with arrays are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]  # of whatever precision a model computes in
Mask = npt.NDArray[np.bool_]
C = TypeVar("C")


def by_value(kind: type[C]) -> type[C]:
    """A class whose objects are equal if their fields are: arrays in all their entries, with NaN equal to NaN.

    It stands above `@dataclass`, whose own comparison asks an array for one truth value, which it has not.
    """
    kind.__eq__ = _equal  # type: ignore[method-assign]
    return kind


def _equal(one: Any, other: Any) -> Any:
    if type(one) is not type(other):
        return NotImplemented
    return all(_same(getattr(one, f.name), getattr(other, f.name)) for f in fields(one) if f.compare)


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if hasattr(one, "shape") or hasattr(other, "shape"):
        one, other = np.asarray(one), np.asarray(other)
        return np.array_equal(one, other, equal_nan=one.dtype.kind == other.dtype.kind == "f")
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other or (one != one and other != other))
