"""What metrics of other environments share, tried with packages that stand in for the real ones."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.bleurt import Bleurt
from nlgauge.metrics.external.client import Client
from nlgauge.metrics.external.environments import Environment
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.runtime import Runtime


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
