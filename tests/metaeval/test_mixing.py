"""Two metrics as one: worked by hand, at both ends, and as sums of metrics are scored."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.metaeval.mixing import Attacked, judged_by, mixture, scaled, sum_of
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime

numbers = st.lists(st.integers(-1000, 1000), min_size=2, max_size=20).filter(lambda v: len(set(v)) > 1)


def pools(*parts):
    return [(f"pool {i}", np.array(part)) for i, part in enumerate(parts)]


def test_a_mixture_by_hand():
    # [0, 5, 10] becomes [0, .5, 1] and [3, 1, 2] becomes [1, 0, .5]; a quarter of the second: .75 * first + .25 *
    # second
    both = mixture(np.array([0.0, 5.0, 10.0]), np.array([3.0, 1.0, 2.0]), pools([0, 1, 2]), "minmax", ("a", "b"))
    assert both.at(0.25).tolist() == [0.25, 0.375, 0.875]


def test_each_pool_has_a_scale_of_its_own():
    values = np.array([0.0, 2.0, 100.0, 300.0])
    assert scaled(values, pools([0, 1], [2, 3]), "minmax", "a").tolist() == [0, 1, 0, 1]
    assert scaled(values, pools([0, 1], [2, 3]), "zscore", "a").tolist() == [-1, 1, -1, 1]
    assert scaled(values, pools([0, 1], [2, 3]), "none", "a").tolist() == values.tolist()


@given(one=numbers, seed=st.integers(0, 99))
def test_at_both_ends_a_metric_stands_alone_with_its_own_numbers(one, seed):
    one = np.array(one, dtype=float) / 7
    other = np.random.default_rng(seed).permutation(len(one)) / 3.0
    both = mixture(one, other, pools(range(len(one))), "minmax", ("a", "b"))
    assert both.at(0.0).tolist() == one.tolist()
    assert both.at(1.0).tolist() == other.tolist()


@given(one=numbers, shift=st.integers(-50, 50), factor=st.integers(1, 9), weight=st.floats(0.01, 0.99))
def test_another_unit_of_a_metric_changes_no_mixture(one, shift, factor, weight):
    one = np.array(one, dtype=float)
    other = np.arange(len(one), dtype=float)
    here = mixture(one, other, pools(range(len(one))), "minmax", ("a", "b")).at(weight)
    there = mixture(factor * one + shift, other, pools(range(len(one))), "minmax", ("a", "b")).at(weight)
    assert here == pytest.approx(there, abs=1e-12)  # sums of integers are exact; one division rounds


def test_a_metric_that_is_the_same_throughout_a_pool_is_refused_by_name():
    with pytest.raises(InputError, match="a is the same for all 2 texts of pool 1"):
        scaled(np.array([1.0, 2.0, 3.0, 3.0]), pools([0, 1], [2, 3]), "minmax", "a")


def test_what_is_undefined_stays_so():
    assert np.isnan(scaled(np.array([1.0, np.nan, 3.0]), pools([0, 1, 2]), "minmax", "a")).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("weight", "spec"), [(0.0, "chrf"), (1.0, "bleu"), (0.3, "0.7*chrf + 0.3*bleu"), (0.1, "0.9*chrf + 0.1*bleu")]
)
def test_the_specification_of_a_mixture_is_one_to_type(weight, spec):
    assert sum_of("chrf", "bleu", weight, "minmax") == spec
    ng.metric(spec)


def test_sums_within_sums_and_other_scales_are_written_so_that_they_read_back():
    text = sum_of("0.5*chrf + 0.5*bleu", "ter", 0.2, "zscore")
    assert text == "0.8*(0.5*chrf + 0.5*bleu) + 0.2*ter[norm=zscore]"
    ng.metric(text)


@pytest.fixture
def dataset():
    texts = [
        "the cat sat on the mat",
        "a dog lay down",
        "it rained all day",
        "the snow fell",
        "we went home late",
        "no one was there",
    ]
    hyps = ["the cat sat on a mat", "a dog lies", "rain all day long", "snow fell on us", "home we went", "nobody came"]
    return ng.Dataset(
        tuple(
            ng.Segment(str(i), hyp, (text,), group="ab"[i % 2], human={"q": float(i)})
            for i, (hyp, text) in enumerate(zip(hyps, texts, strict=True))
        ),
        "texts",
    )


@pytest.mark.parametrize("norm", ["minmax", "zscore", "none"])
@pytest.mark.parametrize("other", ["bleu", "ter"])  # ter falls with quality
def test_on_a_data_set_a_mixture_is_what_the_sum_of_metrics_scores_in_each_group(dataset, norm, other):
    held = judged_by(dataset, named(["chrf", other]), None, Runtime())
    spec = sum_of("chrf", other, 0.3, norm)
    direct = judged_by(dataset, named([spec]), None, Runtime())
    # the same products and sums in another order: a few units in the last place
    assert held.mixture("chrf", other, norm).at(0.3) == pytest.approx(direct.scores[spec].values, rel=1e-12)


@pytest.fixture
def suite(dataset):
    pairs = [
        ng.Pair(
            id=f"{s.id}.{p}", phenomenon=p, better=s.hypothesis, worse=worse, references=s.references, group=s.group
        )
        for s in dataset
        for p, worse in (("jumble_words", " ".join(sorted(s.hypothesis.split()))), ("negation", f"not {s.hypothesis}"))
    ]
    return ng.Suite(tuple(pairs), "attacks")


def test_on_a_suite_a_mixture_is_what_the_sum_of_metrics_says_of_both_sides(suite):
    mixed = Attacked(suite, named(["chrf", "bleu"]), Runtime()).mixed("chrf", "bleu", "minmax", [0.3])[0.3]
    spec = "0.7*chrf + 0.3*bleu"
    direct = Attacked(suite, named([spec]), Runtime()).alone(spec)
    assert mixed.better == pytest.approx(direct.better, rel=1e-12)
    assert mixed.worse == pytest.approx(direct.worse, rel=1e-12)
    assert mixed.places == direct.places


def test_every_metric_scores_a_suite_once(suite):
    calls = []

    @dataclass(frozen=True)
    class Counting:
        info: ClassVar = ng.metric("chrf").info

        def score(self, segments, runtime):
            calls.append(len(segments))
            return ng.metric("chrf").score(segments, runtime)

    attacked = Attacked(suite, {"counting": Counting(), "bleu": ng.metric("bleu"), "ter": ng.metric("ter")}, Runtime())
    for other in ("bleu", "ter"):
        attacked.mixed("counting", other, "none", [0.2, 0.5, 0.8])
    assert len(calls) == 1


def test_two_metrics_of_which_one_reads_the_source_get_the_pairs_that_have_both():
    pair = {"better": "a b", "worse": "b a", "references": ("a b c",)}
    suite = ng.Suite(
        (ng.Pair(id="0", phenomenon="p", source="s", **pair), ng.Pair(id="1", phenomenon="p", **pair)), "s"
    )

    @dataclass(frozen=True)
    class OfSource:
        info: ClassVar = ng.MetricInfo("of-source", needs={"source"})

        def score(self, segments, runtime):
            return ng.Scores(
                ng.Signature("of-source", ()), tuple(s.id for s in segments), np.arange(len(segments), dtype=float)
            )

    attacked = Attacked(suite, {"chrf": ng.metric("chrf"), "of-source": OfSource()}, Runtime())
    assert attacked.mixed("chrf", "of-source", "none", [0.5])[0.5].places == (0,)
