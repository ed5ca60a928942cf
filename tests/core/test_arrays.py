from __future__ import annotations

import copy
import dataclasses
import inspect
import pkgutil
import re
from importlib import import_module

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.arrays import by_value

PUBLIC = ["nlgauge", *(f"nlgauge.{room.name}" for room in pkgutil.iter_modules(ng.__path__) if room.ispkg)]


@by_value
@dataclasses.dataclass(frozen=True)
class Held:
    """Something with arrays."""

    values: object
    unseen: object = dataclasses.field(default=0, compare=False)


def test_equal_are_those_with_the_same_numbers():
    nan = np.array([1.0, np.nan])
    same = [(nan, nan.copy()), ({"a": nan}, {"a": nan.copy()}), ((nan, "x"), (nan.copy(), "x")), (np.nan, float("nan"))]
    for one, other in [*same, ("a", "a"), (None, None), (np.array(["a"]), np.array(["a"]))]:
        assert Held(one) == Held(other, unseen=1)
    for other in (nan[:1], nan[::-1], [1.0, 2.0], None, {"a": nan}, np.array(["a", "b"])):
        assert Held(nan) != Held(other)
    assert Held({"a": nan}) != Held({"b": nan})
    assert Held((nan,)) != Held((nan, nan))
    assert Held(1) != 1


@pytest.mark.parametrize("spec", ["chrf", "bleu", "0.5*chrf + 0.5*bleu[norm=none]"])
def test_scores_are_those_of_their_copy_and_no_others(spec):
    found = ng.score(["it rains", "a cat"], ["it is raining", "the cat"], metrics=spec)[spec]
    assert found == copy.deepcopy(found)
    assert found != found.take([0])


def test_every_public_class_with_arrays_is_compared_so():
    pytest.importorskip("torch")
    for room in PUBLIC:
        door = import_module(room)
        for name in getattr(door, "__all__", ()):
            kind = getattr(door, name)
            if inspect.isclass(kind) and dataclasses.is_dataclass(kind):
                types = " ".join(str(one.type) for one in dataclasses.fields(kind))
                has_arrays = re.search(r"\bArray|\bMask\b|Tensor|ndarray|NDArray", types)
                assert not has_arrays or kind.__eq__.__module__ == by_value.__module__, f"{name} lacks @by_value"
