"""The shipped table of public sets, and those that are nearest, worked by hand."""

import math

import pytest
from tests.choosing.made import data

from nlgauge.choosing.known import TRIED, UNREFERENCED
from nlgauge.choosing.public import (
    TOGETHER,
    Figure,
    PublicSet,
    distance,
    figure_of,
    language_of,
    nearest,
    profile_of,
    public_sets,
)
from nlgauge.metrics.registry import on_encoder
from nlgauge.perturbations.checklist import TASKS
from nlgauge.runtime.runtime import Runtime


def test_the_table_holds_shares_of_metrics_that_are_tried():
    assert len(public_sets()) > 10
    for one, figures in public_sets().items():
        assert one.task in TASKS
        english = one.language == "en"
        abroad = () if english else ("bertscore:value=recall", "0.3*bertscore:value=recall + 0.7*cosine[norm=none]")
        known = {*TRIED[one.task], *UNREFERENCED, "summac", *abroad}
        elsewhere = {on_encoder(name, "multilingual") for name in known}
        larger = {on_encoder(name, "base") for name in known}
        assert {*figures} <= ({*known, *elsewhere, *larger} if english else elsewhere)  # those read no other
        assert english or not {*figures} & {"rated", "gauge", "gauge-rated", "sescore", "nli-robust"}
        assert all(0 < f.error < 0.1 < f.value < 1 and f.n > 20 for f in figures.values())


def test_a_set_is_near_by_language_length_and_closeness():
    own = PublicSet("", "mt", "en", 19.0, 50.0)
    assert distance(own, own) == 0
    assert distance(own, PublicSet("x", "mt", "en", 39.0, 50.0)) == 1  # twice as long
    assert distance(own, PublicSet("x", "mt", "en", 19.0, 30.0)) == 1
    assert math.isinf(distance(own, PublicSet("x", "mt", "de", 19.0, 50.0)))
    assert math.isinf(distance(own, PublicSet("x", "as", "en", 19.0, 50.0)))
    assert math.isinf(distance(own, PublicSet("x", "mt", "en", 19.0, math.nan)))  # without references
    assert [one.name for one in nearest(PublicSet("", "as", "en", 60.0, 40.0))] == ["summeval"]
    assert [one.name for one in nearest(PublicSet("", "as", "en", 60.0, math.nan))] == ["qags-cnn"]
    assert [one.task for one in nearest(own)] == ["mt"] * 3
    assert nearest(PublicSet("", "qg", "en", 9.0, 50.0)) == []
    assert nearest(PublicSet("", "mt", "hi", 19.0, 50.0)) == nearest(PublicSet("", "mt", "", 19.0, 50.0)) == []
    assert {one.language for one in nearest(PublicSet("", "mt", "de", 19.0, 50.0))} == {"de"}
    left = nearest(own, leave_out=[nearest(own)[0].name])
    assert nearest(own)[0] not in left


def test_a_figure_is_a_mean_of_the_sets_and_none_for_a_metric_of_ones_own():
    sets = nearest(PublicSet("", "mt", "en", 19.0, 50.0))
    found = figure_of("chrf", sets)
    values = [public_sets()[one]["chrf"].value for one in sets]
    assert min(values) < found.value < max(values)
    assert found.ends["low"] < found.value < found.ends["high"]
    assert figure_of("mine", sets) is None
    assert figure_of("chrf", []) is None


def test_a_figure_is_of_one_encoder_alone():
    sets = nearest(PublicSet("", "mt", "en", 19.0, 50.0))
    own, *others = (f"bertscore{model}" for model in ("", ":model=multilingual", ":model=base"))
    value = {name: figure_of(name, sets).value for name in (own, *others)}
    assert len({*value.values()}) == 3
    assert [figure_of(own, sets, encoder=name).value for name in ("multilingual", "base")] == [value[o] for o in others]
    assert figure_of("rated", sets, encoder="base").value == figure_of("rated:model=rated-base", sets).value
    assert figure_of("sescore", sets, encoder="base") is None
    # what stands on no encoder, and a head that stays with its own
    assert figure_of("chrf", sets, encoder="base").value == figure_of("chrf", sets).value
    assert figure_of("rated", sets, encoder="multilingual").value == figure_of("rated", sets).value
    assert figure_of("a-metric-of-mine", sets, encoder="multilingual") is None


@pytest.mark.parametrize(
    ("texts", "code"),
    [
        (["It rains in the north and it is cold.", "The train is late.", "Leeds"], "en"),
        (["Es regnet im Norden und es ist kalt.", "Der Zug hat Verspätung."], "de"),
        (["今天北京下了一场大雨", "他每天早上去市场买菜"], "zh"),
        (
            ["It rains in the north and it is cold.", "Es regnet im Norden und es ist kalt.", "Il pleut dans le nord"],
            "",
        ),
        (["", " "], ""),
        ([], ""),
    ],
)
def test_the_language_is_that_of_half_of_the_texts(texts, code):
    assert language_of(texts) == code
    assert language_of(texts[::-1]) == code


@pytest.fixture
def made_sets(monkeypatch):
    """Two sets of two metrics, whose errors are .01 and .03."""
    near, far = (PublicSet(name, "mt", "en", 19.0, 50.0) for name in ("near", "far"))
    table = {
        one: {m: Figure(m, value, error, 99) for m, value in figures.items()}
        for one, error, figures in ((near, 0.01, {"a": 0.6, "b": 0.5}), (far, 0.03, {"a": 0.5, "b": 0.6}))
    }
    monkeypatch.setattr("nlgauge.choosing.public.public_sets", lambda: table)
    return near, far


def test_a_set_with_a_narrow_interval_weighs_more(made_sets):
    # variances with that between sets: .01^2 + .006^2 = .000136 and .03^2 + .006^2 = .000936, so near has .87313
    found = figure_of("a", made_sets)
    assert found.value == pytest.approx(0.87313 * 0.6 + 0.12687 * 0.5, abs=1e-4)
    error = math.sqrt(0.87313**2 * 0.000136 + 0.12687**2 * 0.000936)
    assert found.ends["high"] - found.value == pytest.approx(1.96 * error, abs=1e-4)


def test_the_profile_of_texts():
    own = profile_of(data(6).segments, "mt", Runtime())
    assert own.language == "en"
    assert 5 < own.words < 15
    assert 0 < own.chrf < 100
    assert math.isnan(profile_of(data(6, references=False).segments, "mt", Runtime()).chrf)


def test_two_figures_are_told_apart_by_the_error_of_their_difference():
    # errors of .02 and .03 that go together: .0004 + .0009 - 2 * .58 * .0006 = .000604, a deviation of .02458
    one, other = Figure("a", 0.60, 0.02, 9), Figure("b", 0.55, 0.03, 9)
    assert TOGETHER == 0.58
    assert one.is_ahead(other)  # .05 is 2.03 deviations
    assert not Figure("a", 0.598, 0.02, 9).is_ahead(other)  # .048 is 1.95
    assert not other.is_ahead(one)
    assert not Figure("a").is_ahead(Figure("b"))  # of which nothing is known
