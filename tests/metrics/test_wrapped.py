"""A metric inside another keeps its name, its company and its numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, signature_of, spec_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.wrapped import (
    Combination,
    CompanionMetric,
    ReferencePolicyMetric,
    bounds_identity,
    bounds_key,
    check_bounds,
    read_bounds,
    save_bounds,
    zero_and_width,
)
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric


@dataclass(frozen=True)
class Shared(BaseMetric):
    """Letters of the hypothesis that its only reference has; `seen` is every list of ids it was asked to score."""

    seen: list = field(init=False, default_factory=list, compare=False)
    info: ClassVar = MetricInfo("shared", range=(0.0, np.inf), cached=True)
    pooled: ClassVar = True

    def score(self, segments, runtime):
        self.seen.append([s.id for s in segments])
        values = np.array([float(len(set(s.hypothesis) & set(s.references[0]))) for s in segments])
        return Scores(signature_of(self, runtime), ids(segments), values)


SEGMENTS = [Segment("a", "xyz", ("x", "xy"), "xyz"), Segment("b", "pq", ("q",), "")]


@pytest.mark.parametrize(
    ("policy", "values"),
    # "xyz" shares 1 letter with "x", 2 with "xy" and 3 with its source; "pq" shares 1 with "q" and none with nothing
    [("best", [2, 1]), ("best_each", [2, 1]), ("mean", [1.5, 1]), ("first", [1, 1]), ("source", [3, 0])],
)
def test_references_are_folded_by_the_policy_given_which_the_signature_names(policy, values):
    wrapped = ReferencePolicyMetric(Shared(), policy)
    scores = wrapped.score(SEGMENTS, Runtime())
    assert scores.values.tolist() == values
    assert scores.ids == ("a", "b")
    assert f"|references_folded:{policy}|nlgauge:" in str(scores.signature)
    assert scores.signature.spec == spec_of(wrapped) == "shared"


def test_a_segment_that_stands_there_once_for_each_reference_has_an_id_each_time():
    shared = Shared()
    ReferencePolicyMetric(shared, "mean").score(SEGMENTS, Runtime())
    assert shared.seen == [["0", "1", "2"]]


def test_a_source_that_stands_for_the_reference_is_what_is_needed():
    assert ReferencePolicyMetric(Shared(), "source").info.needs == {"source"}
    assert ReferencePolicyMetric(Shared(), "mean").info.needs == {"references"}


def test_a_companion_needs_what_either_needs_and_scores_as_it_would_alone():
    wrapped = CompanionMetric(Shared(), frozenset({"references", "source"}))
    assert wrapped.info.needs == {"references", "source"}
    alone, together = (metric.score(SEGMENTS, Runtime()) for metric in (Shared(), wrapped))
    assert str(alone.signature) == str(together.signature)
    np.testing.assert_array_equal(alone.values, together.values)


def test_zero_and_width_worked_by_hand():
    values = np.array([0.0, 2.0, np.nan, 4.0])
    assert zero_and_width(values, "minmax", "m") == (0.0, 4.0)
    assert zero_and_width(values, "zscore", "m") == pytest.approx((2.0, (8 / 3) ** 0.5))  # mean, and one deviation


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0], [np.nan, 1.0], [np.nan], []])
def test_a_pool_of_one_value_has_no_scale(values):
    with pytest.raises(InputError, match=rf"^m is the same for all {len(values)} segments of the call"):
        zero_and_width(np.array(values), "minmax", "m")


def test_what_is_saved_is_read_back(tmp_path):
    path = str(tmp_path / "bounds.json")
    scale = {"ter": (-80.0, -10.0), "1*bleu + 1*ter": (0.25, 1.5)}
    save_bounds(path, [Scores(Signature("s", ()), (), np.zeros(0), scale={k: v}) for k, v in scale.items()])
    assert {key: read_bounds(path, key) for key in scale} == scale
    with open(path, "rb") as file:
        assert bounds_identity(path) == f"sha256:{sha256(file.read()).hexdigest()[:16]}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"other": [0, 1]}, r'expected \{"bounds": \{"given": \[low, high\]\}\} with two numbers'),
        ({"given": [0]}, r'expected \{"bounds"'),
        ({"given": ["a", "b"]}, r'expected \{"bounds"'),
        ("not json", r'expected \{"bounds"'),
        ("[]", r'expected \{"bounds"'),
        ("3", r'expected \{"bounds"'),
        ({"given": [1, 1]}, r"bounds of given are 1 and 1, expected two finite numbers, the lower first$"),
        ({"given": [2, 1]}, r"bounds of given are 2 and 1, expected two finite numbers, the lower first$"),
        ('{"bounds": {"given": [NaN, 1]}}', r"expected two finite numbers, the lower first$"),
    ],
)
def test_a_bounds_file_that_is_none_is_refused_with_what_it_should_hold(tmp_path, content, message):
    path = tmp_path / "bounds.json"
    path.write_text(content if isinstance(content, str) else json.dumps({"bounds": content}))
    with pytest.raises(InputError, match=message) as error:
        read_bounds(str(path), "given")
    assert "bounds.json: " in str(error.value)


def test_a_bounds_file_that_is_missing_is_named():
    with pytest.raises(InputError, match=r"^cannot read bounds absent\.json: No such file or directory$"):
        read_bounds("absent.json", "given")


def test_a_term_is_named_by_what_it_is_not_by_how_its_own_terms_are_scaled():
    inner = {
        norm: ng.metric(f"1*(1*bleu + 1*ter[norm={norm}])").terms[0][1]
        for norm in ("minmax", "zscore", 'file("x.json")', "none")
    }
    assert (
        bounds_key(inner["minmax"])
        == bounds_key(inner["zscore"])
        == bounds_key(inner['file("x.json")'])
        == "1*bleu + 1*ter"
    )
    assert bounds_key(inner["none"]) == "1*bleu + 1*ter[norm=none]"


@dataclass(frozen=True)
class Given:
    """Values that stand in the hypothesis, separated by blanks: the one at `place`; "nan" is undefined and flagged."""

    place: int = 0
    higher: bool = True
    info: ClassVar = MetricInfo("given", needs=(), range=(-np.inf, np.inf))

    def __post_init__(self):
        object.__setattr__(
            self, "info", MetricInfo("given", needs=(), range=(-np.inf, np.inf), higher_is_better=self.higher)
        )

    def score(self, segments, runtime):
        values = np.array([float(s.hypothesis.split()[self.place]) for s in segments])
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            flags={"undefined": np.isnan(values), f"low{self.place}": values < 0},
            higher_is_better=self.higher,
        )


def combined(columns, weights, norm="minmax", higher=None):
    """The sum over columns of numbers, one column a metric."""
    segments = [Segment(f"s{i}", " ".join(map(str, row))) for i, row in enumerate(zip(*columns, strict=True))]
    terms = tuple((w, Given(k, higher is None or higher[k])) for k, w in enumerate(weights))
    return Combination(terms, norm).score(segments, Runtime())


@pytest.fixture
def bounds(tmp_path):
    def write(content):
        path = tmp_path / "bounds.json"
        path.write_text(content if isinstance(content, str) else json.dumps({"bounds": content}))
        return f'file("{path}")'

    return write


def test_minmax_worked_by_hand():
    # (0, 5, 10) becomes (0, 0.5, 1) and (3, 1, 2) becomes (1, 0, 0.5): 0.25 * first + 0.75 * second
    found = combined([[0, 5, 10], [3, 1, 2]], [0.25, 0.75])
    assert found.values == pytest.approx([0.75, 0.125, 0.625], rel=1e-15)


def test_none_adds_the_values_as_they_are():
    assert combined([[0, 5], [3, -1]], [2, -1], "none").values.tolist() == [-3, 11]


def test_kept_bounds_scale_by_what_another_pool_was(bounds):
    norm = bounds({"given": [0, 10], "given:place=1": [-1, 1]})
    # 5 of 0 to 10 is 0.5, 20 is 2: outside the bounds is not cut; -1 of -1 to 1 is 0
    assert combined([[5, 20], [-1, -1]], [1, 1], norm).values.tolist() == [0.5, 2.0]


def test_a_sum_over_the_pool_needs_the_numbers_of_all_segments_first():
    assert [ng.metric(f"0.5*bleu + 0.5*chrf[norm={norm}]").rounds for norm in ("minmax", "zscore")] == [1, 1]
    assert ng.metric("0.5*bleu + 0.5*chrf[norm=none]").rounds == 0


def test_where_less_is_better_the_sign_is_turned_first(bounds):
    assert combined([[0, 5, 10]], [1], higher=[False]).values.tolist() == [1, 0.5, 0]
    assert combined([[0, 5, 10]], [1], "none", higher=[False]).values.tolist() == [0, -5, -10]
    assert combined([[0, 5, 10]], [1], bounds({"given:higher=false": [-10, 0]}), higher=[False]).values.tolist() == [
        1,
        0.5,
        0,
    ]


def test_the_undefined_stays_so_and_out_of_the_scale():
    found = combined([[0, np.nan, 10], [3, 1, 2]], [1, 1])
    np.testing.assert_array_equal(found.values, [1, np.nan, 1.5])  # 0 + 1, undefined, 1 + 0.5
    assert found.n_undefined == 1


def test_parts_are_the_terms_own_values_and_flags_are_up_where_any_is():
    found = combined([[-1, 5, np.nan], [3, -1, 2]], [1, 1], "none")
    assert list(found.parts) == ["given", "given:place=1"]
    np.testing.assert_array_equal(found.parts["given"], [-1, 5, np.nan])
    assert {name: flag.tolist() for name, flag in found.flags.items()} == {
        "undefined": [False, False, True],
        "low0": [True, False, False],
        "low1": [False, True, False],
    }


def test_a_sum_within_a_sum_is_scaled_like_any_metric():
    hyps, refs = ["a cat sat", "a dog", "the bird flew off"], ["a cat sat", "the dog", "a bird flew away"]
    found = ng.score(hyps, refs, metrics=["0.5*(1*bleu + 2*chrf[norm=none]) + 0.5*ter", "bleu", "chrf", "ter"])
    (spec, outer), *parts = found.items()
    bleu, chrf, ter = (scores.values for _, scores in parts)

    def scaled(values):
        return (values - values.min()) / (values.max() - values.min())

    assert outer.values == pytest.approx(0.5 * scaled(bleu + 2 * chrf) + 0.5 * scaled(-ter), rel=1e-12)
    assert list(outer.parts) == ["1*bleu + 2*chrf[norm=none]", "ter"]
    assert spec_of(ng.metric(spec)) == "0.5*(1*bleu + 2*chrf[norm=none]) + 0.5*ter"


def test_a_norm_that_is_none_of_the_known_is_refused_with_the_nearest():
    with pytest.raises(SpecError, match=r"^norm is 'minmx'; did you mean 'minmax'"):
        Combination(((1.0, Given()),), "minmx")


def test_a_metric_twice_in_one_sum_is_refused():
    with pytest.raises(SpecError, match=r"^metric 'bleu' stands twice in one sum; add up its weights$"):
        ng.metric("0.5*bleu + 0.5*bleu")
    assert ng.metric("0.5*chrf + 0.5*chrf++")  # other options, another metric


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), "0.5", None])
def test_a_weight_that_is_no_number_is_refused(weight):
    with pytest.raises(SpecError, match=r"the weight of chrf is .*, expected a finite number"):
        Combination(((weight, ng.metric("chrf")), (0.5, ng.metric("bleu"))))


def test_the_sum_needs_what_any_of_its_terms_needs():
    built = ng.metric("0.5*bleu + 0.5*chrf")
    assert built.info.needs == {"references"}
    with pytest.raises(InputError, match=r"^combination needs references; segment '1' has none$"):
        ng.score(["a"], metrics=["0.5*bleu + 0.5*chrf"])


@pytest.mark.parametrize(("weights", "best"), [((1, 1), True), ((1, -1), False)])
def test_a_negative_weight_makes_a_copy_no_longer_best(weights, best):
    assert ng.metric(f"{weights[0]}*bleu + {weights[1]}*chrf").info.copy_is_best is best


@pytest.mark.parametrize(
    ("spec", "pooled"),
    [
        ("1*bleu", True),
        ("1*bleu[norm=zscore]", True),
        ("1*bleu[norm=none]", False),
        ("1*(1*bleu[norm=none])[norm=none]", False),
        ("1*(1*bleu)[norm=none]", True),  # the pool of the inner sum
    ],
)
def test_a_scale_over_the_call_is_said_in_the_signature(spec, pooled):
    built = ng.metric(spec)
    assert built.pooled is pooled
    assert (dict(signature_of(built, Runtime()).entries).get("pool") == "call") is pooled


def test_the_signature_holds_weights_and_the_terms_own_signatures():
    built = ng.metric("0.30000000000000004*bleu + 0.7*chrf++[norm=none]")
    entries = dict(signature_of(built, Runtime()).entries)
    bleu, chrf = (signature_of(ng.metric(spec), Runtime()) for spec in ("bleu", "chrf++"))
    assert entries["terms"] == f"0.30000000000000004*({bleu}) + 0.7*({chrf})"
    assert entries["norm"] == "none"


def test_a_change_in_the_bounds_file_changes_the_signature(bounds):
    first = str(signature_of(Combination(((1.0, Given()),), bounds({"given": [0, 1]})), Runtime()))
    second = str(signature_of(Combination(((1.0, Given()),), bounds({"given": [0, 2]})), Runtime()))
    assert first != second
    assert first.split("bounds:")[0] == second.split("bounds:")[0]


@pytest.mark.parametrize(
    "spec",
    [
        "0.3*bleu + 0.7*ter[norm=zscore]",
        "1*(1*bleu + 1*chrf) + 1*rouge1",
    ],
)
def test_a_sum_keeps_the_contract_of_a_metric(spec):
    check_metric(
        ng.metric(spec),
        alternatives={"terms": ng.metric("1*bleu").terms, "norm": "none" if "none" not in spec else "minmax"},
    )


HYPS, REFS = ["a cat sat", "a dog", "the bird flew off"], ["a cat sat", "the dog", "a bird flew away"]


@pytest.mark.parametrize("norm", ["minmax", "zscore"])
@pytest.mark.parametrize(
    "spec",
    ["0.3*bleu + 0.7*ter{}", "0.5*(1*bleu + 2*chrf{}) + 0.5*ter{}", "0.5*(1*bleu + 2*chrf[norm=none]) + 0.5*ter{}"],
)
def test_with_kept_bounds_a_segment_alone_scores_as_in_its_pool(tmp_path, spec, norm):
    path = tmp_path / "bounds.json"
    pooled = ng.metric(spec.replace("{}", f"[norm={norm}]"))
    whole = ng.score(HYPS, REFS, metrics=pooled)
    save_bounds(str(path), whole.values())
    kept = ng.metric(spec.replace("{}", f'[norm=file("{path}")]'))
    assert not kept.pooled
    (together,) = whole.values()
    for i in range(3):
        (alone,) = ng.score(HYPS[i : i + 1], REFS[i : i + 1], metrics=kept).values()
        assert alone.values[0] == pytest.approx(
            together.values[i], abs=1e-12
        )  # differences of float64 numbers up to 100


def test_bounds_are_what_became_0_and_1_error_rates_turned_round(tmp_path):
    save_bounds(str(tmp_path / "b.json"), [combined([[0, 2, 4], [3, 1, 2]], [1, 1], higher=[True, False])])
    assert json.loads((tmp_path / "b.json").read_text()) == {
        "bounds": {"given": [0, 4], "given:place=1,higher=false": [-3, -1]}
    }
    save_bounds(str(tmp_path / "b.json"), [combined([[0, 2, 4]], [1], "zscore")])
    assert json.loads((tmp_path / "b.json").read_text())["bounds"]["given"] == pytest.approx(
        [2, 2 + (8 / 3) ** 0.5]
    )  # mean, and one deviation above


@pytest.mark.parametrize(
    ("specs", "message"),
    [
        (
            ["bleu"],
            (
                r"^no metric is a sum that is scaled over the pool \(norm minmax or zscore\), so there are no bounds to"
                r" keep$"
            ),
        ),
        (["1*bleu[norm=none]"], "^no metric is a sum"),
        (
            ["1*bleu + 1*ter", "1*ter[norm=zscore]"],
            r"^ter is scaled by minmax in one sum and by zscore in another; keep their bounds in two files",
        ),
        (["1*ter + 1*(1*ter + 1*bleu[norm=zscore])"], r"^ter is scaled by minmax in one sum and by zscore in another"),
    ],
)
def test_bounds_that_cannot_be_kept_are_refused_before_scoring(specs, message):
    with pytest.raises(InputError, match=message):
        check_bounds([ng.metric(spec) for spec in specs])
    check_bounds([ng.metric("1*bleu + 1*ter"), ng.metric("0.5*ter + 0.5*(1*bleu + 1*ter)"), ng.metric("chrf")])


def test_one_segment_is_refused_with_the_way_out():
    with pytest.raises(
        InputError,
        match=r"^bleu is the same for all 1 segments .* add \[norm=none\] or \[norm=file\(.*\)\] to the sum \(--save-n",
    ):
        ng.score(HYPS[:1], REFS[:1], metrics="0.5*bleu + 0.5*chrf")


def test_weights_need_not_add_up_to_1_but_it_is_noted():
    assert ng.metric("0.3*bleu + 0.7*chrf").notes == ()
    assert ng.metric("0.1*bleu + 0.2*chrf + 0.7*ter").notes == ()  # 0.1 + 0.2 + 0.7 is 1 but for rounding
    assert ng.metric("2*bleu + 1*chrf[norm=none]").notes == ()  # there the values say nothing of 0 to 1
    (note,) = ng.metric("0.3*bleu + 0.6*chrf").notes
    assert note.startswith("the weights add up to 0.9, not to 1")
    found = ng.score(HYPS, REFS, metrics="3*bleu + 6*chrf")["3*bleu + 6*chrf"]
    assert found.values == pytest.approx(
        10 * ng.score(HYPS, REFS, metrics="0.3*bleu + 0.6*chrf")["0.3*bleu + 0.6*chrf"].values
    )


def test_scores_of_a_file_take_part_and_what_it_lacks_stays_undefined(tmp_path):
    path = tmp_path / "comet.tsv"
    path.write_text("id\tcomet\n1\t1.0\n3\t3.0\n", encoding="utf-8")
    spec = f'0.25*scores:file="{path}",column=comet + 0.75*bleu'
    found = ng.score(HYPS, REFS, metrics=[spec, "bleu"])
    bleu = found["bleu"].values
    scaled = (bleu - bleu.min()) / (bleu.max() - bleu.min())
    np.testing.assert_allclose(found[spec].values, [0.75 * scaled[0], np.nan, 0.25 + 0.75 * scaled[2]])
    assert found[spec].n_undefined == 1


def test_a_metric_under_two_names_is_one_metric():
    with pytest.raises(SpecError, match=r"^metric 'nli' stands twice in one sum; add up its weights$"):
        ng.metric("0.5*nli + 0.5*nli:model=nli")
    with pytest.raises(SpecError, match=r"stands twice"):
        ng.metric("0.2*rouge1 + 0.3*bleu + 0.5*rouge:variant=1")
