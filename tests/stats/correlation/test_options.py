"""What was asked for: choices that exclude each other or do not exist are refused, and the rest is settled."""

import math

import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.correlate import correlation
from nlgauge.stats.correlation.options import check_averaging, make_plan, prepare

NAN = math.nan


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("kendal_b", [1, 2], [1, 2]), {}, "unknown statistic 'kendal_b'; did you mean 'kendall_b'"),
        (("kendall", [1, 2], [1, 2]), {}, "unknown statistic 'kendall'; did you mean 'kendall_c' or 'kendall_b'"),
        (("hits_at_1", [1, 2], [1, 2]), {}, "hits_at_1 is about the choice of a system: see 'nlgauge select'"),
        (("pearson", [1, 2], [1, 2]), {"ties": "half"}, "pearson has no option 'ties'; it has none"),
        (
            ("acc_eq", [1, 2], [1, 2]),
            {"threshold": 3},
            "acc_eq has no option 'threshold'; it has epsilon, human_epsilon",
        ),
        (
            ("pearson", [1, 2], [1, 2]),
            {"avaraging": "item"},
            "correlation has no option 'avaraging'; did you mean 'averaging'",
        ),
        (("pearson", [1, 2], [1, 2]), {"averaging": "items"}, "averaging is 'items'; did you mean 'item'"),
        (("pearson", [1, 2], [1, 2], ["a", "a"]), {"averaging": "micro"}, "pearson is no ratio of pairs"),
        (
            ("pearson", [[1, 2]], [[1, 2]]),
            {"level": "system", "averaging": "item"},
            "level='system' leaves one coefficient",
        ),
        (("pearson", [1, 2], [1, 2]), {"level": "summary"}, "level is 'summary'"),
        (("pearson", [1, 2, 3], [1, 2]), {}, r"scores have shape \(3,\) and judgements \(2,\)"),
        (("pearson", 3, [1, 2]), {}, "expected those of one metric or more"),
        (("soft_pairwise_accuracy", [1, 2], [1, 2]), {}, "needs a grid of systems by items"),
        (("preference_accuracy", [1, 2], [1]), {}, r"better texts have shape \(2,\), of the worse \(1,\)"),
        (("preference_accuracy", [1, 2], [1, 2]), {"missing": "zero"}, "missing is 'zero'"),
        (("auc", [1, 2], [1, 2]), {}, "classes 0 and 1"),
        (
            ("pearson", [1, 2], [1, 2], ["a", "b"]),
            {"level": "system"},
            "pearson of systems is one coefficient and takes no groups",
        ),
        (("pairwise_accuracy", [[1, 2]], [[1, 2]]), {"averaging": "micro"}, "a grid holds one set of systems"),
        (
            ("pearson", [1, 2], [1, 2]),
            {"higher_is_better": [True, False]},
            "higher_is_better has 2 values for 1 metrics",
        ),
        (("acc_eq", [1, 2], [1, 2]), {"epsilon": NAN}, "epsilon is negative or NaN"),
        (("wmt_kendall_like", [1, 2], [1, 2]), {"threshold": NAN}, "threshold is nan"),
        (
            ("kendall_c", [1, 2], [1, 2]),
            {"compat": "nlpstats"},
            "compat='nlpstats' has no kendall_c; it has pearson, spearman, kendall_b",
        ),
        (("pearson", [1, 2], [1, 2]), {"compat": "mtme"}, "compat is 'mtme'"),
        (("pearson", [1, 2], [1, 2]), {"compat": "realsumm"}, "averages over items at segment level"),
        (("pearson", [[1, 2]], [[1, 2]]), {"compat": "nlpstats", "averaging": "sys"}, "has no averaging over systems"),
        (("pearson", [1, NAN], [1, 2]), {"compat": "nlpstats"}, "missing in the same places"),
    ],
)
def test_refusals(arguments, options, message):
    with pytest.raises(InputError, match=message):
        correlation(*arguments, **options)


@pytest.mark.parametrize(
    ("name", "axes", "groups", "options", "averaging"),
    [
        ("pearson", 1, None, {}, "none"),
        ("pearson", 2, None, {}, "item"),
        ("pearson", 1, ["a", "b"], {}, "item"),
        ("wmt_kendall_like", 1, ["a", "b"], {}, "micro"),
        ("pearson", 2, None, {"level": "system"}, "none"),
        ("pairwise_accuracy", 1, ["a", "b"], {}, "micro"),
        ("pearson", 2, None, {"averaging": "sys"}, "sys"),
    ],
)
def test_the_averaging_that_is_left_out_goes_by_statistic_level_and_groups(name, axes, groups, options, averaging):
    assert make_plan(name, axes, groups, options).averaging == averaging


def test_the_smallest_group_is_a_pair_of_entries_or_one_pair_of_texts():
    assert make_plan("pearson", 1, None, {}).smallest == 2
    assert make_plan("preference_accuracy", 1, None, {}).smallest == 1


def test_scores_of_an_error_rate_are_turned_and_judgements_are_not():
    _, x, z, up = prepare("pearson", [[1, 2], [1, 2]], [3, 4], None, {"higher_is_better": [True, False]})
    assert (x.tolist(), z.tolist(), up) == ([[1, 2], [-1, -2]], [3, 4], [True, False])
    _, better, worse, _ = prepare("preference_accuracy", [[1, 2]], [[0, 3]], None, {"higher_is_better": False})
    assert (better.tolist(), worse.tolist()) == ([[-1, -2]], [[0, -3]])


def test_only_ratios_of_pairs_are_pooled():
    check_averaging("rr_kendall", "micro")
    with pytest.raises(InputError, match="spearman is no ratio of pairs that could be pooled"):
        check_averaging("spearman", "micro")
