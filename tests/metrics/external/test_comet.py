from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.comet import UnbabelComet
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


@pytest.fixture
def comet(other_python, checkpoint):
    return UnbabelComet(model=checkpoint(), python=str(other_python))


def test_the_contract_holds(comet):
    check_metric(comet)


def test_every_option_is_signed(comet, checkpoint):
    other = checkpoint("referenceless_regression_metric", "other")
    assert check_options(comet, alternatives={"model": other}) == ["python"]


def test_what_is_read_is_what_the_checkpoint_says(other_python, checkpoint):
    free = checkpoint("referenceless_regression_metric", "free")
    segment = Segment("1", "a b", ("c d",), source="a b")
    for model in (free, free.rpartition("/checkpoints")[0]):
        metric = UnbabelComet(model=model, python=str(other_python))
        assert metric.info.needs == {"source"}
        assert metric.score([segment], Runtime()).values.tolist() == [1]  # of the source, not the reference
    forced = UnbabelComet(model=free, python=str(other_python), reference_free=False)
    assert forced.info.needs == {"source", "references"}
    wrong = UnbabelComet(model=checkpoint(), python=str(other_python), reference_free=True)
    with pytest.raises(ng.InputError, match=r"ValueError: the checkpoint needs references, and reference_free is true"):
        wrong.score([segment], Runtime())


@pytest.mark.parametrize(
    ("settings", "is_free"),
    [
        ("class_identifier: unified_metric\ninput_segments:\n- mt\n- src\n", True),
        ("class_identifier: unified_metric\ninput_segments: [mt, src]\nother: ref\n", True),
        ("class_identifier: unified_metric\ninput_segments:\n  - mt\n  - src\n  - ref\n", False),
        ("class_identifier: regression_metric\n", False),
    ],
)
def test_settings_are_read_in_either_form(checkpoint, settings, is_free):
    model = checkpoint()
    with open(model.replace("checkpoints/model.ckpt", "hparams.yaml"), "w") as file:
        file.write(settings)
    assert ("references" not in UnbabelComet(model=model).info.needs) == is_free


@pytest.mark.parametrize(
    ("name", "is_free"),
    [
        ("Unbabel/wmt22-comet-da", False),
        ("Unbabel/wmt20-comet-qe-da", True),
        ("Unbabel/wmt22-cometkiwi-da", True),
        ("Unbabel/XCOMET-XL", False),
        ("me/qearly", False),
    ],
)
def test_names_of_the_hub_say_what_is_read(name, is_free):
    assert ("references" not in UnbabelComet(model=name).info.needs) == is_free


def test_a_blank_text_gets_the_value_that_is_given(comet, other_python):
    lower = UnbabelComet(model=comet.model, python=str(other_python), blank=-2)
    found = lower.score([Segment("1", "", ("c d",), source="a b")], Runtime())
    assert found.values.tolist() == [-2]
