"""One statistic in one group: its averaging, its options, and which entries it pairs."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.measure import Measure, averaging_of, check_options, measure, pairs_of_frame


def frame(x, z, items=None, systems=None, pairs=None):
    x = np.atleast_2d(np.array(x, dtype=float))
    names = tuple(map(str, range(x.shape[1])))
    return Frame(None, x, np.array(z, dtype=float), names, items and tuple(items), systems and tuple(systems), pairs)


def value(data, stat, level="segment", averaging=None, up=True, **options):
    (one,) = measure(data, Measure(stat, level, averaging_of(stat, level, averaging), [up], options))
    return one.value


@pytest.mark.parametrize(
    ("stat", "level", "expected"),
    [
        ("pearson", "segment", "none"),
        ("pearson", "item", "item"),
        ("pearson", "system", "none"),
        ("wmt_kendall_like", "segment", "micro"),
        ("wmt_kendall_like", "item", "item"),
        ("rr_kendall", "segment", "none"),
        ("acc_eq", "item", "item"),
        ("pairwise_accuracy", "system", "none"),
    ],
)
def test_a_level_has_its_own_averaging(stat, level, expected):
    assert averaging_of(stat, level, None) == expected


@pytest.mark.parametrize(
    ("stat", "level", "averaging", "message"),
    [
        ("pairwise_accuracy", "segment", None, "compares systems; choose level='system'"),
        ("pearson", "system", "item", "averaging 'item' does not go with level 'system'"),
        ("pearson", "item", "none", "averaging 'none' does not go with level 'item'"),
        ("pearson", "segment", "micro", "no ratio of pairs"),
        ("pearson", "segment", "itme", "averaging is 'itme'; did you mean 'item'"),
        ("perason", "segment", None, "unknown statistic 'perason'; did you mean 'pearson'"),
    ],
)
def test_what_does_not_go_together_is_refused(stat, level, averaging, message):
    with pytest.raises(InputError, match=message):
        averaging_of(stat, level, averaging)


def test_an_error_rate_is_turned_round_and_a_bad_metric_is_not():
    data = frame([4, 3, 2, 1], [1, 2, 3, 4])
    assert value(data, "pearson", up=False) == pytest.approx(1)
    assert value(data, "pearson") == pytest.approx(-1)


def test_pairs_are_made_inside_items_only():
    # item 1: people 1 < 5, metric agrees; item 2: people 9 > 2, metric disagrees; pairs across items would be four more
    data = frame([1, 2, 3, 4], [1, 5, 9, 2], items="1122")
    assert value(data, "wmt_kendall_like", threshold=1) == 0
    assert value(data, "rr_kendall") == 0
    assert value(data, "preference_accuracy") == 0.5


def test_the_threshold_says_from_which_difference_on_people_tell_outputs_apart():
    # differences 4 and 7: with 5 only the pair that the metric gets wrong is left
    data = frame([1, 2, 3, 4], [1, 5, 9, 2], items="1122")
    assert value(data, "rr_kendall", threshold=5) == -1
    assert value(data, "preference_accuracy", threshold=4) == 0.5


@pytest.mark.parametrize(("ties", "expected"), [("loss", 1 / 3), ("half", 0.5), ("exclude", 0.5), ("zero", 1 / 3)])
def test_a_tie_counts_as_it_is_told(ties, expected):
    # one item, people 1 < 2 < 3: the metric wins (1,3), loses (2,3) and ties (1,2): of three pairs one is won
    data = frame([1, 1, 2], [1, 3, 2], items="111")
    assert value(data, "preference_accuracy", ties=ties) == pytest.approx(expected)


def test_pairs_that_people_gave_need_no_items():
    data = frame([1, 2, 3], [0, 0, 0], pairs=np.array([[1, 0], [0, 2], [2, 1]]))
    better, worse = pairs_of_frame(data, None)
    assert (better.tolist(), worse.tolist()) == ([1, 0, 2], [0, 2, 1])
    assert value(data, "preference_accuracy") == pytest.approx(2 / 3)


def test_a_mean_over_items_weighs_items_not_pairs():
    # item 1 has three pairs, all won; item 2 has one, lost
    data = frame([1, 2, 3, 2, 1], [1, 2, 3, 1, 2], items="11122")
    assert value(data, "preference_accuracy", level="item") == pytest.approx(0.5)
    assert value(data, "preference_accuracy", averaging="micro") == pytest.approx(0.75)


def test_systems_can_be_averaged_over_as_well():
    # system a follows people, system b goes against them
    data = frame([1, 2, 3, 3, 2, 1], [1, 2, 3, 1, 2, 3], items="123123", systems="aaabbb")
    assert value(data, "pearson", averaging="sys") == pytest.approx(0)


def test_pairs_have_no_mean_over_systems():
    with pytest.raises(InputError, match="compares outputs of two systems"):
        value(frame([1, 2], [1, 2], items="11", systems="ab"), "rr_kendall", averaging="sys")


def test_soft_accuracy_reads_segments_of_systems():
    data = frame([1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 2, 3], items="123123", systems="aaabbb")
    (one,) = measure(data, Measure("soft_pairwise_accuracy", "system", "none", [True], {"draws": 10}))
    assert one.value == 1
    assert one.n_pairs == 1


def test_options_reach_the_statistic_that_has_them():
    # differences of scores 1, 1, 2: all but the last are ties within 1, as people's are
    data = frame([1, 2, 3], [5, 5, 5], items="111")
    assert value(data, "acc_eq", level="item") == 0
    assert value(data, "acc_eq", level="item", epsilon=1) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("names", "options", "tested", "message"),
    [
        (["pearson"], {"treshold": 1}, False, "has no option 'treshold'; did you mean 'threshold'"),
        (["pearson", "auc"], {"threshold": 1}, False, "pearson and auc take no threshold"),
        (["pearson"], {"alternative": "greater"}, False, "take no alternative"),
    ],
)
def test_an_option_nobody_takes_is_refused(names, options, tested, message):
    with pytest.raises(InputError, match=message):
        check_options(names, options, tested)


def test_options_of_tests_and_intervals_go_with_any_statistic():
    check_options(
        ["pearson"],
        {"draws": 10, "seed": 1, "alternative": "two-sided", "threshold": None, "undefined": "zero"},
        tested=True,
    )


def test_chance_of_preferences_is_averaged_as_the_value_is():
    # the only pair of item a is tied, none of the three of item b: (0 + 1/2) / 2 by item, 3/4 of 1/2 of all pairs
    data = frame([1, 1, 1, 2, 3], [1, 2, 1, 2, 3], "aabbb")

    def guess(averaging, **options):
        return measure(data, Measure("preference_accuracy", "item", averaging, [True], options))[0].chance

    assert [guess("item"), guess("none")] == [0.25, 0.375]
    assert [guess("item", ties=ties) for ties in ("half", "exclude")] == [0.5, 0.5]


def test_a_threshold_beside_pairs_that_people_gave_is_refused():
    data = frame([1, 2, 3], [0, 0, 0], pairs=np.array([[1, 0]]))
    assert value(data, "rr_kendall") == 1
    with pytest.raises(InputError, match="threshold changes nothing: people gave the pairs"):
        value(data, "rr_kendall", threshold=25.0)
