"""Recipes refuse what cannot be by name, and a run is told by all that makes its weights."""

from __future__ import annotations

import json

import pytest

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.files import InputFile
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")

from nlgauge.training.recipe import Recipe, Schedule, check_precision, recipe_facts, run_line, trainable


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": 1.5}, "rank is 1.5, expected a whole number"),
        ({"alpha": "32"}, "alpha is '32', expected a number"),
        ({"model": None}, "model is None, expected a text"),
        ({"schedule": 3}, "schedule is 3, expected Schedule"),
    ],
)
def test_a_field_of_another_type_is_refused_by_name(options, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        Recipe(**options)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_precisions_in_which_nothing_is_trained_are_refused(dtype):
    with pytest.raises(InputError, match=rf"^dtype is {dtype}, expected bfloat16 or float32"):
        check_precision(Runtime(dtype=dtype))
    check_precision(Runtime(dtype="bfloat16"))


def test_what_makes_the_weights_is_flat_and_says_encoder_and_precision(tiny_model):
    files = locate(str(tiny_model("bert")))
    facts = recipe_facts(Recipe(rank=4, schedule=Schedule(seed=9)), Runtime(dtype="bfloat16"), files)
    assert (facts["rank"], facts["seed"], facts["dtype"]) == (4, 9, "bfloat16")
    assert (facts["encoder"], facts["setup"]) == (files.identity, files.setup)
    assert "schedule" not in facts


def test_a_run_is_told_by_the_content_of_its_files(tiny_model, tmp_path):
    files = locate(str(tiny_model("bert")))
    for name, text in (("a", "one"), ("b", "one"), ("c", "two")):
        (tmp_path / name).write_text(text)
    one, same, other = (run_line([InputFile(str(tmp_path / n))], Recipe(), Runtime(), files) for n in "abc")
    assert one == same != other
    assert len(json.loads(one)["train"][0]) == 64  # SHA-256


def test_a_family_that_fails_in_a_precision_is_refused_before_it_is_read(tiny_model, monkeypatch):
    files = locate(str(tiny_model("deberta")))
    with pytest.raises(
        InputError, match=r"is of type 'deberta', which .* cannot train as a whole in bfloat16; use dtype"
    ):
        trainable(files, Runtime(dtype="bfloat16"), "full")
    monkeypatch.setattr("nlgauge.training.recipe.find_spec", lambda package: package)
    assert trainable(files, Runtime(dtype="bfloat16"), "lora") is files
    monkeypatch.setattr("nlgauge.training.recipe.find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"training with adapters \(method full needs none, .*nlgauge\[train\]"):
        trainable(files, Runtime(dtype="bfloat16"), "lora")
    assert trainable(files, Runtime(dtype="float32"), "full") is files
