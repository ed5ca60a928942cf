import gzip
import json
import math
import os
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io import read_verdicts
from nlgauge.stats import cohen_kappa, prompt_sensitivity
from nlgauge.stats.draws import wilson
from nlgauge.stats.ratings import (
    Estimate,
    RatedItems,
    krippendorff,
    mad_outliers,
    rated_interval,
    split_half,
)

N = None
# The reliability data of Krippendorff (2011), section C: four observers, twelve units, gaps
PAPER = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
tables = st.tuples(st.integers(2, 4), st.integers(1, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def by_pairs(ratings, scale):
    """The definition: mean distance of the pairs inside units, over that of all pairs of paired ratings."""
    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    every = [r for unit in units for r in unit]
    counts = {v: every.count(v) for v in set(every)}

    def distance(a, b):
        if scale == "nominal":
            return float(a != b)
        if scale == "interval":
            return (a - b) ** 2
        if scale == "ratio":
            return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        low, high = min(a, b), max(a, b)
        return (
            (sum(n for v, n in counts.items() if low <= v <= high) - (counts[a] + counts[b]) / 2) ** 2
            if a != b
            else 0.0
        )

    n = len(every)
    if not n:
        return math.nan
    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / n
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected > 0 else math.nan


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_paper_s_own_example(scale, alpha):
    found = krippendorff(PAPER, scale)
    assert found.value == pytest.approx(alpha, abs=5e-4)  # printed to three digits
    assert (found.n_used, found.n_undefined, found.n_ratings) == (11, 1, 40)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
@given(table=tables)
def test_alpha_follows_its_definition(scale, table):
    assert krippendorff(table, scale).value == pytest.approx(by_pairs(table, scale), abs=1e-9, nan_ok=True)


def test_agreement_disagreement_and_nothing_to_agree_about():
    assert krippendorff([[1, 2, 3], [1, 2, 3]]).value == 1
    assert krippendorff([[1, 2], [2, 1]]).value < 0
    assert math.isnan(krippendorff([[2, 2], [2, 2]]).value)
    nothing = krippendorff([[1, N], [N, 2]])
    assert (math.isnan(nothing.value), nothing.n_used, nothing.n_undefined) == (True, 0, 2)


def test_an_interval_alpha_does_not_feel_an_offset():
    table = np.array([[1.0, 2, 3, 3], [1, 3, 3, 4]])
    assert krippendorff(table + 1e9).value == pytest.approx(krippendorff(table).value, abs=1e-12)


def test_all_splits_of_four_annotators():
    # three ways to halve four; the coefficient of the halves' means in each
    ratings = np.array([[1.0, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3]])
    values = []
    for other in (1, 2, 3):
        first = ratings[[0, other]].mean(axis=0)
        second = np.delete(ratings, [0, other], axis=0).mean(axis=0)
        values.append(scipy.stats.kendalltau(first, second)[0])
    found = split_half(ratings)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.draws, found.n_used, found.stat) == (3, 4, "kendall_b")
    assert found.full == pytest.approx(2 * np.mean(values) / (1 + np.mean(values)))


def test_all_splits_of_three_annotators_set_one_against_two():
    ratings = np.array([[1.0, 2, 3, 5], [1, 3, 2, 4], [3, 2, 1, 4]])
    values = [np.corrcoef(ratings[i], np.delete(ratings, i, axis=0).mean(axis=0))[0, 1] for i in range(3)]
    found = split_half(ratings, stat="pearson")
    assert (found.value, found.draws) == (pytest.approx(np.mean(values)), 3)


def test_drawn_splits_approach_all_splits():
    # ten annotators have 126 splits; 100 of them drawn: the mean has an sd of about a tenth of that of a split
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=30) + rng.normal(size=(10, 30))
    every, some = split_half(ratings, stat="pearson"), split_half(ratings, stat="pearson", draws=100)
    assert (every.draws, some.draws) == (126, 100)
    sd = (every.high - every.low) / 4
    assert some.value == pytest.approx(every.value, abs=5 * sd / 10)


def test_gaps_leave_a_unit_out_where_a_half_lacks_it():
    # unit 3 was rated by the first annotator alone
    ratings = [[1, 2, 3, 9], [1, 3, 2, N], [2, 1, 3, N], [1, 2, 4, N]]
    found = split_half(ratings, stat="pearson")
    assert (found.n_used, found.n_undefined) == (3, 1)
    assert found.value == pytest.approx(split_half([row[:3] for row in ratings], stat="pearson").value)


def test_splits_without_a_value_are_counted():
    found = split_half([[1, 1, 1], [2, 2, 2]])
    assert (math.isnan(found.value), found.n_undefined_draws, found.draws) == (True, 1, 1)


def test_refusals():
    with pytest.raises(InputError, match=r"ratings have shape \(3,\), expected \(annotators, units\)"):
        krippendorff([1, 2, 3])
    with pytest.raises(InputError, match="scale is 'ordnial'; did you mean 'ordinal'"):
        krippendorff(PAPER, "ordnial")
    with pytest.raises(InputError, match="no negative ratings"):
        krippendorff([[1, -1], [1, 1]], "ratio")
    with pytest.raises(InputError, match="acc_eq_calibrated is no coefficient of two vectors"):
        split_half(PAPER, stat="acc_eq_calibrated")


def test_combinations_cover_each_split_once():
    for n in (2, 3, 4, 5, 6):
        found = split_half(np.random.default_rng(n).normal(size=(n, 7)), stat="pearson")
        assert found.draws == len(
            {frozenset((frozenset(c), frozenset(range(n)) - set(c))) for c in combinations(range(n), n // 2)}
        )


NAN = math.nan
LLMBAR = Path(os.environ.get("NLGAUGE_DATA", "absent")) / "llmbar" / "verdicts.jsonl.gz"


def test_kappa_by_hand():
    # 6 of 8 agree; the judge says 1 in 5 of 8, people in 5 of 8: chance 25/64 + 9/64 = 34/64
    found = cohen_kappa([1, 1, 1, 1, 0, 0, 0, 1, NAN], [1, 1, 1, 1, 0, 0, 1, 0, 1])
    assert (found.agreement, found.chance, found.base_rate) == (0.75, 34 / 64, 5 / 8)
    assert found.value == pytest.approx((0.75 - 34 / 64) / (30 / 64))
    assert (found.n, found.n_undefined) == (8, 1)
    assert math.isnan(cohen_kappa([1, 1], [1, 1]).value)


def test_much_agreement_may_be_the_base_rate():
    found = cohen_kappa([1] * 10, [1] * 9 + [0])
    assert (found.agreement, found.base_rate, found.value) == (0.9, 0.9, 0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cohen_kappa([1], [1, 2]), "two lists of one length"),
        (lambda: cohen_kappa([NAN], [1]), "none of 1 units"),
    ],
)
def test_what_is_wrong_is_one_line(call, says):
    with pytest.raises(ng.InputError, match=says):
        call()


@pytest.mark.skipif(not LLMBAR.exists(), reason="needs $NLGAUGE_DATA/llmbar")
@pytest.mark.parametrize(("prompt", "accuracy"), [("Vanilla_NoRules", 0.7649), ("Swap", 0.8389)])
def test_accuracy_of_gpt4_on_llmbar(tmp_path, prompt, accuracy):
    """Of the published verdicts; winners are outputs there and places in verdict lines. An unread one is wrong."""
    lines, gold = [], {}
    with gzip.open(LLMBAR, "rt") as file:
        for row in map(json.loads, file):
            if (row["judge"], row["prompt"]) == ("GPT-4", prompt):
                shown = ["1", "2"] if row["order"] == "given" else ["2", "1"]
                verdict = {None: None, int(shown[0]): "first", int(shown[1]): "second"}[row["verdict"]]
                line = {"item": row["id"], "judge": "GPT-4", "first": shown[0], "second": shown[1], "verdict": verdict}
                lines.append(json.dumps(line) + "\n")
                gold[row["id"]] = str(row["gold"])
    (tmp_path / "v.jsonl").write_text("".join(lines))
    verdicts = read_verdicts(tmp_path / "v.jsonl")
    right = sum(pair.better.system == gold[pair.better.item] for pair in verdicts.preferences().pairs)
    assert right / len(verdicts.rows) == pytest.approx(accuracy, abs=5e-5)


def test_outliers_by_hand():
    # median 4, robust deviation 2.9652, the last 96 away
    assert mad_outliers([1, 2, 3, 4, 5, 6, 100]).tolist() == [False] * 6 + [True]


def test_the_threshold_itself_is_no_outlier():
    # median 0, robust deviation 1.4826, the last values exactly 2.5 of them, or a hair more
    far = 2.5 * 1.4826
    assert not mad_outliers([-1, 0, 1, far, -far]).any()
    assert mad_outliers([-1, 0, 1, 1.001 * far, -1.001 * far]).tolist() == [False] * 3 + [True] * 2


def test_half_of_the_scores_equal_makes_nobody_an_outlier():
    # the median absolute deviation is 0: divided by it, every other score would be infinitely far
    assert not mad_outliers([3, 3, 3, 3.1, 2.9]).any()


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=12), st.sampled_from([0.5, -2.0]), st.integers(-9, 9))
def test_scale_offset_and_direction_do_not_matter(values, scale, offset):
    assert mad_outliers(values).tolist() == mad_outliers([scale * v + offset for v in values]).tolist()


LABELS = st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 2.0])] * 3), min_size=3, max_size=12)


def test_two_prompts_by_hand():
    # three of four labels agree; chance is 1/2 * 1/4 + 1/2 * 3/4, five of eight labels are 0, one of four items depends
    found = prompt_sensitivity([[1, 1, 0, 0], [1, 0, 0, 0]], [1, 1, 0, 1])
    assert (found.agreement.value, found.chance, found.kappa.value) == (0.75, 0.5, 0.5)
    assert (found.base_rate, found.dependent.value, found.n, found.n_undefined) == (5 / 8, 1 / 4, 4, 0)
    assert (found.dependent.low, found.dependent.high) == wilson(1, 4)
    assert found.accuracy.tolist() == [0.75, 0.5]
    # the difference of accuracies is 1/4 with variance 1/16 of its mean: no more than four items make of equal prompts
    assert found.spread.value == pytest.approx(0, abs=1e-7)


def test_spread_is_that_beyond_noise_by_hand():
    # right under one prompt, wrong in 3 of 4 under the other: ((3/4)^2 - (1/4) / 4) / 2 = 1/4
    assert prompt_sensitivity([[1, 1, 0, 0], [0, 0, 0, 1]], [1, 1, 0, 0]).spread.value == pytest.approx(0.5)


def test_the_interval_of_agreement_is_students_for_two_prompts():
    # with all labels known agreement is a plain mean over items, of which the jackknife has the usual standard error
    labels = np.array([[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]], float)
    equal, found = labels[0] == labels[1], prompt_sensitivity(labels)
    half = 2.5705818 * equal.std(ddof=1) / math.sqrt(6)  # t with 5 degrees of freedom
    assert found.agreement.low == pytest.approx(equal.mean() - half)
    assert found.agreement.high == 1  # cut there


@given(LABELS)
def test_two_prompts_agree_as_two_raters_do(rows):
    table = np.array(rows).T[:2]
    found, kappa = prompt_sensitivity(table), cohen_kappa(table[0], table[1])
    assert found.agreement.value == pytest.approx(kappa.agreement)
    assert found.chance == pytest.approx(kappa.chance)
    assert found.kappa.value == pytest.approx(kappa.value, nan_ok=True)


@given(LABELS)
def test_the_order_of_prompts_and_items_does_not_count(rows):
    table, gold = np.array(rows).T, np.array(rows)[:, 0]
    one, other = prompt_sensitivity(table, gold), prompt_sensitivity(table[::-1, ::-1], gold[::-1])
    assert np.allclose(one.accuracy, other.accuracy[::-1])
    for name in ("agreement", "kappa", "dependent", "spread"):
        ends = [(found.value, found.low, found.high) for found in (getattr(one, name), getattr(other, name))]
        assert np.allclose(*ends, atol=1e-6, equal_nan=True)  # a root of what rounds to 0


def test_equal_labels_leave_what_so_few_items_cannot_say():
    found = prompt_sensitivity([[1, 0, 1, 0]] * 3)
    assert (found.agreement.value, found.kappa.value, found.dependent.value) == (1, 1, 0)
    assert found.agreement.low == pytest.approx(1 - wilson(0, 4)[1])
    assert found.kappa.low == pytest.approx((found.agreement.low - 0.5) / 0.5)
    assert math.isnan(found.spread.value)
    assert found.accuracy.shape == (0,)


def test_units_of_an_item_count_together():
    # the second item has both units under two prompts, of which one depends; the third is known under one prompt alone
    labels = [[1, 1, 1, 2, NAN], [1, 1, 1, 1, 2]]
    found = prompt_sensitivity(labels, items=["a", "a", "b", "b", "c"])
    assert (found.n, found.n_undefined, found.dependent.value, found.agreement.value) == (2, 1, 0.5, 0.75)
    assert prompt_sensitivity(labels, items=np.array([0, 0, 1, 1, 2])).dependent == found.dependent


def test_one_label_alone_has_no_kappa():
    found = prompt_sensitivity([[1, 1], [1, 1]])
    assert math.isnan(found.kappa.value)
    assert found.base_rate == 1


@pytest.mark.parametrize(("spread", "least"), [(0.0, 0.93), (0.08, 0.90)])
def test_intervals_cover(spread, least):
    """Prompts with accuracies that far apart, and labels that agree as often as they would by chance beyond that."""
    rng, draws, n, prompts = np.random.default_rng(5), 300, 120, 5
    truth = 0.7 + spread * np.array([-1, -0.5, 0, 0.5, 1]) / np.std([-1, -0.5, 0, 0.5, 1], ddof=1)
    agreement = np.mean([p * q + (1 - p) * (1 - q) for i, p in enumerate(truth) for q in truth[:i]])
    drawn = [prompt_sensitivity(rng.random((prompts, n)) < truth[:, None], np.ones(n)) for _ in range(draws)]
    covered = np.mean([
        (one.agreement.low <= agreement <= one.agreement.high, one.spread.low <= spread <= one.spread.high)
        for one in drawn
    ], axis=0)  # fmt: skip
    assert covered[0] >= 0.93  # .95 is announced, and 300 draws have a standard error of .013
    assert covered[1] >= least
    # what is cut off below 0 raises the mean a little; without the correction it would be .7 * .3 / 120 = .0018 above
    assert np.mean([one.spread.value**2 for one in drawn]) == pytest.approx(spread**2, abs=0.0009)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prompt_sensitivity([[1, 2]]), "two prompts or more"),
        (lambda: prompt_sensitivity([1, 2]), "two prompts or more"),
        (lambda: prompt_sensitivity([[1, 2], [1]]), "labels"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], [1]), "expected one length"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], 1), "expected one length"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], items=["a"]), "expected one length"),
        (lambda: prompt_sensitivity([[1, NAN], [1, 2]]), "1 items have labels under two prompts"),
        (lambda: prompt_sensitivity([[NAN, NAN], [1, 2]]), "0 items have labels under two prompts"),
        (lambda: prompt_sensitivity([[], []]), "0 items have labels"),
        (lambda: prompt_sensitivity([range(300), range(300)]), "300 different labels, expected at most 200"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], level=95), "level is 95"),
    ],
)
def test_prompts_what_is_wrong_is_one_line(call, says):
    with pytest.raises(ng.InputError, match=says):
        call()


@pytest.mark.skipif(not LLMBAR.exists(), reason="needs $NLGAUGE_DATA/llmbar")
def test_gpt4_on_llmbar():
    """The published verdicts of 15 prompts in both orders; `recipes/studies/judges.py` made the page of these."""
    verdicts, gold = {}, {}
    with gzip.open(LLMBAR, "rt") as file:
        for row in map(json.loads, file):
            if row["judge"] == "GPT-4":
                verdicts.setdefault(row["prompt"], {})[row["id"], row["order"]] = row["verdict"] or 0
                gold[row["id"]] = row["gold"]
    units = sorted({unit for of_prompt in verdicts.values() for unit in of_prompt})
    labels = [[of_prompt[unit] for unit in units] for of_prompt in verdicts.values()]
    found = prompt_sensitivity(labels, [gold[item] for item, _ in units], items=[item for item, _ in units])
    assert (len(labels), found.n, len(units)) == (15, 419, 838)
    assert dict(zip(verdicts, found.accuracy, strict=True))["Swap"] == pytest.approx(0.8389, abs=5e-5)  # as published
    shown = [found.agreement.value, found.kappa.value, found.dependent.value, found.spread.value]
    assert shown == pytest.approx([0.877, 0.755, 0.461, 0.030], abs=5e-4)


# --- The interval of a mean of ratings, over items and raters


def rated(table):
    """The ratings of a table (items, raters) with None where there is none."""
    cells = [(i, r, x) for i, row in enumerate(table) for r, x in enumerate(row) if x is not None]
    items, raters, values = zip(*cells, strict=True)
    return RatedItems(np.array(items), np.array(raters), np.array(values, dtype=float))


def test_an_interval_over_items_and_raters_by_hand():
    # Mean 4, each rating counts 1/4. By items the sums of what ratings add are -1 and 1: 2 * 2/1 = 4. Without a rater
    # the mean is 1 higher or lower: 2 * 1/2 = 1. Cells: (9 + 1 + 1 + 9) / 16 * 4/3 = 5/3. 4 + 1 - 5/3 is less than the
    # items alone have, which is taken: 4, error 2. Degrees of freedom: 4^2 / (1^2 / 1 + 3^2 / 1) = 1.6.
    found = rated_interval(rated([[1, 3], [5, 7]]))
    half = scipy.stats.t.ppf(0.975, 1.6) * 2
    assert (found.value, found.low, found.high) == pytest.approx((4, 4 - half, 4 + half))


def test_where_each_item_has_one_rater_the_raters_alone_count():
    # cells are items: their variances cancel, and what is left is that of the two raters' means, 2 and 6: the mean
    # moves by 2 without either, 2 * 4 / 2 = 4; what is not the raters' is 0, so there is 1 degree of freedom
    found = rated_interval(rated([[1, N], [3, N], [N, 5], [N, 7]]))
    assert found.high - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 1) * 2)


def test_an_item_counts_once_however_many_rated_it():
    assert rated_interval(rated([[0, 0, 0], [6, N, N]])).value == 3
    assert rated([[0, 0, 0], [6, N, N]]).weights.tolist() == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def test_severity_that_both_systems_met_is_no_part_of_their_difference():
    rng = np.random.default_rng(0)
    items, noise = rng.normal(size=(30, 1)), rng.normal(size=(2, 30, 3))
    plain = [rated(items + own) for own in noise]
    severe = [rated(items + own + [0, 5, -9]) for own in noise]
    one, other = rated_interval(*plain), rated_interval(*severe)
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    # alone each system is far less certain
    assert rated_interval(severe[0]).high - rated_interval(severe[0]).low > 10 * (one.high - one.low)


tables = st.lists(
    st.lists(st.none() | st.integers(0, 9), min_size=3, max_size=3).filter(lambda row: row != [N] * 3),
    min_size=2,
    max_size=8,
)


@given(tables, st.integers(-9, 9), st.integers(1, 5), st.randoms(use_true_random=False))
def test_an_interval_moves_with_the_scale_and_not_with_the_order(table, shift, stretch, random):
    found = rated_interval(rated(table))
    moved = rated_interval(rated([[None if x is None else stretch * x + shift for x in row] for row in table]))
    mixed = random.sample(table, len(table))
    near = {"abs": 1e-9, "nan_ok": True}  # numbers up to 1e3 in float64
    for end in ("value", "low", "high"):
        assert getattr(moved, end) == pytest.approx(stretch * getattr(found, end) + shift, rel=1e-6, **near)
        assert getattr(rated_interval(rated(mixed)), end) == pytest.approx(getattr(found, end), rel=1e-6, **near)
    opposite = rated_interval(rated(table), rated(mixed)), rated_interval(rated(mixed), rated(table))
    assert (opposite[0].low, opposite[0].high) == pytest.approx((-opposite[1].high, -opposite[1].low), rel=1e-6, **near)


@pytest.mark.parametrize("table", [[[1], [2]], [[1, 2, 3]], [[1, N], [2, N]]])
def test_of_one_rater_or_one_item_there_is_no_interval(table):
    found = rated_interval(rated(table))
    assert math.isnan(found.low + found.high)
    assert found.value > 0


def test_ratings_that_are_all_equal_leave_no_doubt():
    assert rated_interval(rated([[3, 3], [3, 3]])) == Estimate(3, 3, 3)
    assert math.isnan(RatedItems(np.empty(0, int), np.empty(0, int), np.empty(0)).value)
