"""What metrics of other environments share, tried with packages that stand in for the real ones."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.adapter import Bleurt, External, Spice, SummacConv, UnbabelComet
from nlgauge.metrics.external.client import Client
from nlgauge.metrics.external.environments import Environment
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


@pytest.fixture
def bleurt(other_python, tmp_path):
    folder = tmp_path / "BLEURT-tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return Bleurt(model=str(folder), python=str(other_python))


def segments(*texts, references=("a b c d",)):
    return [Segment(str(i), text, references) for i, text in enumerate(texts)]


def test_texts_are_asked_once_and_come_back_in_order(bleurt, monkeypatch):
    asked = []
    plain = Client.ask

    def ask(self, request, about=()):
        asked.append(len(request.get("rows", ())))
        return plain(self, request, about)

    monkeypatch.setattr(Client, "ask", ask)
    monkeypatch.setattr("nlgauge.metrics.external.adapter._ROWS", 2)
    found = bleurt.score(segments("a b", "a b c d", "", "a b", "x", "a b c d"), Runtime())
    assert found.values.tolist() == [0.5, 1, 0, 0.5, 0, 1]  # 2 of 4 words, 4 of 4, none
    assert found.flags["empty"].tolist() == [False, False, True, False, False, False]
    assert [n for n in asked if n] == [2, 1]  # three distinct texts that are not blank, two at a time


def test_of_several_references_the_mean_or_the_best_counts(bleurt):
    several = segments("a b", references=("a b", "c d"))
    assert bleurt.score(several, Runtime()).values.tolist() == [0.5]
    best = Bleurt(model=bleurt.model, python=bleurt.python, references="best").score(several, Runtime())
    assert best.values.tolist() == [1]
    assert best.parts["reference"].tolist() == [0]


def test_odd_numbers_and_texts_that_were_cut_are_flagged(bleurt):
    found = bleurt.score(segments("undefined", "a " * 50, "a b"), Runtime())
    assert np.isnan(found.values).tolist() == [True, False, False]
    assert found.flags["nonfinite"].tolist() == [True, False, False]
    assert found.flags["truncated"].tolist() == [False, True, False]  # 50 words and 4 are more than 40


def test_the_signature_names_versions_and_weights_but_no_place(bleurt):
    text = str(signature_of(bleurt, Runtime()))
    assert "|bleurt-pytorch:9.2|torch:9.5|transformers:absent|" in text
    assert "|model:BLEURT-tiny|" in text
    assert "|weights:sha256:" in text
    assert bleurt.python not in text
    before = text.partition("weights:")[2]
    with open(f"{bleurt.model}/config.json", "w") as file:
        file.write("{ }")
    assert str(signature_of(bleurt, Runtime())).partition("weights:")[2] != before


def test_scores_are_kept_and_then_nothing_is_asked(bleurt, tmp_path, monkeypatch):
    with_cache = Runtime(cache=str(tmp_path / "scores.sqlite"))
    first = score_segments({"m": bleurt}, segments("a b", "x"), with_cache)["m"]
    monkeypatch.setattr(Bleurt, "_asked", None)
    again = score_segments({"m": bleurt}, segments("a b", "x"), with_cache)["m"]
    with_cache.cache.close()
    assert again.values.tolist() == first.values.tolist() == [0.5, 0]


def test_a_package_that_fails_or_ends_is_one_line_with_the_segments(bleurt):
    with pytest.raises(ng.InputError) as caught:
        bleurt.score(segments("a", "fail"), Runtime())
    assert str(caught.value) == (
        "bleurt: the worker failed on segments '0', '1': RuntimeError: this text cannot be read"
    )
    with pytest.raises(ng.InputError, match=r"ended twice on segments '0', '1'; exit status 3; it said: no memory"):
        bleurt.score(segments("a", "crash"), Runtime())


def test_an_environment_that_was_not_made_is_told_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_ENVIRONMENTS", str(tmp_path))
    with pytest.raises(ng.InputError) as caught:
        ng.score(["a"], ["b"], metrics="bleurt:model=x")
    assert str(caught.value) == (
        f"bleurt needs the environment 'bleurt', and there is none in {tmp_path}; run: nlgauge env bleurt"
    )
    Environment("bleurt").folder.mkdir()
    with pytest.raises(ng.InputError, match=r"'bleurt', and it is half made in .*; run: nlgauge env bleurt$"):
        ng.score(["a"], ["b"], metrics="bleurt:model=x")


def test_an_environment_without_the_package_is_told(tmp_path):
    import sys

    with pytest.raises(ng.InputError, match=r"^bleurt: .* has no package bleurt-pytorch; nlgauge env bleurt makes an"):
        ng.score(["a"], ["b"], metrics=[Bleurt(model=str(tmp_path), python=sys.executable)])


def test_a_model_that_is_nowhere_is_told(bleurt):
    with pytest.raises(ng.InputError, match=r"^bleurt: the worker failed: OSError: 'no/model' is no file here, and th"):
        ng.score(["a"], ["b"], metrics=[Bleurt(model="no/model", python=bleurt.python)])


@pytest.fixture
def bleurt_of_nli(other_python, nli_folder):
    return Bleurt(model=nli_folder, python=str(other_python))


def test_bleurt_keeps_the_contract_and_signs_every_option(bleurt_of_nli, tmp_path):
    check_metric(bleurt_of_nli)
    (tmp_path / "other").mkdir()
    assert check_options(bleurt_of_nli, alternatives={"model": str(tmp_path / "other")}) == ["python"]


@pytest.fixture
def comet(other_python, checkpoint):
    return UnbabelComet(model=checkpoint(), python=str(other_python))


def test_comet_keeps_the_contract_and_signs_every_option(comet, checkpoint):
    check_metric(comet)
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


def test_spice_the_contract_holds(other_python):
    check_metric(Spice(python=str(other_python)))


def test_all_references_are_held_against_it_together(other_python):
    found = Spice(python=str(other_python)).score([Segment("1", "a\nb", ("a", "b"))], Runtime())
    assert found.values.tolist() == [1]  # of the stand-in: both words are in one of the references
    assert {name: column.tolist() for name, column in found.parts.items()} == {"precision": [1], "recall": [1]}


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "conv.bin"
    path.write_bytes(b"weights")
    return str(path)


def test_summac_conv_the_contract_holds(other_python, weights):
    check_metric(SummacConv(model=weights, python=str(other_python)))


def test_an_nli_model_on_disk_is_taken_with_its_labels(other_python, weights, nli_folder):
    metric = SummacConv(model=weights, nli=nli_folder, python=str(other_python))
    assert metric.score([Segment("1", "a b", source="a b")], Runtime()).values.tolist() == [1]
    signature = str(signature_of(metric, Runtime()))
    assert "|nli:nli|" in signature
    assert "|nli_weights:sha256:" in signature


def test_an_nli_model_that_the_package_does_not_know_is_told(other_python, weights):
    with pytest.raises(ng.InputError, match=r"the worker failed: AssertionError: Unrecognized model name$"):
        SummacConv(model=weights, nli="mine", python=str(other_python)).score(
            [Segment("1", "a", source="a")], Runtime()
        )


MODULE = """
PACKAGES = ["torch"]
def score(rows):
    found = []
    for row in rows:
        others = {word for text in row.get("refs", [row.get("src", "")]) for word in text.split()}
        own = set(row["hyp"].split())
        found.append(None if "undefined" in own else len(own & others) / max(1, len(own | others)))
    return found
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MODULE)
    return str(path)


def test_own_keeps_the_contract_and_signs_every_option(module, other_python, tmp_path):
    check_metric(External(module=module, python=str(other_python), needs="references source"))
    other = tmp_path / "other.py"
    other.write_text(MODULE)
    assert check_options(External(module=module), alternatives={"module": str(other), "needs": "source"}) == ["python"]


def test_rows_hold_what_is_needed(module):
    metric = ng.metric(f'external:module="{module}",needs="source references"')
    assert metric.info.needs == {"references", "source"}
    assert metric.score([Segment("1", "a", ("a",), source="b")], Runtime()).values.tolist() == [1]


def test_a_program_with_a_folder_is_that_file_and_none_of_the_path(module, tmp_path, monkeypatch, other_python):
    (tmp_path / "bin").mkdir()
    for place, line in (("mine", f'exec "{other_python}" "$@"'), ("bin/mine", "exit 3")):
        (tmp_path / place).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / place).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    assert "|torch:9.5|" in str(signature_of(External(module=module, python="./mine"), Runtime()))
    with pytest.raises(ng.InputError, match="exit status 3"):
        signature_of(External(module=module, python="mine"), Runtime())


def test_the_file_and_the_packages_that_it_names_are_signed(module, other_python):
    text = str(signature_of(External(module=module, python=str(other_python)), Runtime()))
    assert "|module:mine.py|" in text
    assert "|sha256:sha256:" in text
    assert "|torch:9.5|" in text


def test_an_error_rate_gives_blank_texts_its_highest_value(module):
    metric = External(module=module, high=5.0, higher_is_better=False)
    found = metric.score([Segment("1", " ", ("a",)), Segment("2", "undefined", ("a",))], Runtime())
    assert found.values[0] == 5
    assert not found.higher_is_better
    assert found.flags["nonfinite"].tolist() == [False, True]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"needs": "reference"}, "external:needs names 'reference'; did you mean 'references'?"),
        ({"low": 1.0}, "external:low is 1, expected below high, which is 1"),
    ],
)
def test_options_that_cannot_be_are_refused(options, told):
    with pytest.raises(ng.SpecError) as caught:
        External(module="x.py", **options)
    assert str(caught.value) == told


def test_a_module_that_is_nowhere_is_told():
    with pytest.raises(ng.InputError, match=r"^external: the worker failed: ModuleNotFoundError: No module named 'non"):
        ng.score(["a"], ["b"], metrics="external:module=none_such")
