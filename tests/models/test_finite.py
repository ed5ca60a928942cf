"""Weights that are no numbers are refused when they are loaded, wherever they come from."""

from __future__ import annotations

import json
import math
import shutil

import pytest

import nlgauge as ng
from nlgauge.core.spec import quote
from nlgauge.models.heads import find_head

torch = pytest.importorskip("torch")
files = pytest.importorskip("safetensors.torch")


def poison(path, value):
    """Put a value into the first tensor of floats of a file; its name."""
    with open(path, "rb") as file:
        about = json.loads(file.read(int.from_bytes(file.read(8), "little"))).get("__metadata__")
    tensors = files.load_file(path)
    name = next(name for name, tensor in sorted(tensors.items()) if tensor.is_floating_point())
    tensors[name].flatten()[0] = value
    files.save_file(tensors, path, about)
    return name


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_a_model_with_a_weight_that_is_no_number_is_refused(tiny_model, tmp_path, kind, value):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model(kind), folder)
    name = poison(folder / "model.safetensors", value)
    with pytest.raises(ng.InputError) as told:
        ng.score(["a b"], ["a c"], metrics=f"bertscore:model={quote(str(folder))}")
    assert "hold NaN or infinity, expected finite numbers; load or train it again" in str(told.value)
    assert name.rpartition(".")[2] in str(told.value)
    assert str(folder) in str(told.value)


def test_a_head_with_a_weight_that_is_no_number_is_refused(tiny_head):
    path = tiny_head()
    name = poison(path, math.nan)
    with pytest.raises(ng.InputError) as told:
        find_head(str(path), "nli").tensors()
    assert f"tiny.safetensors: the weights {name} hold NaN or infinity" in str(told.value)
