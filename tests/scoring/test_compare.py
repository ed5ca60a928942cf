import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.scoring.compare import ComparisonOptions, Totals
from nlgauge.scoring.systems import intervals, system_test

TOY = Signature("toy", (("metric", "toy"),))
cells = st.lists(
    st.tuples(st.sampled_from(["A", "B", None]), st.sampled_from(["de", "fi", None]), st.integers(-9, 9) | st.none()),
    min_size=1,
    max_size=12,
)


def ratio(totals):
    return totals[..., 0] / totals[..., 1]


def segments_of(rows):
    return [Segment(f"s{i}", "", system=system, group=group, item=str(i)) for i, (system, group, _) in enumerate(rows)]


def scores_of(segments, values, **options):
    values = np.array([np.nan if v is None else float(v) for v in values])
    return Scores(TOY, ids(segments), values, flags={"low": values < 0, "high": values > 5}, **options)


def added(rows, cuts=(), **options):
    totals = Totals(**options)
    segments, values = segments_of(rows), [v for _, _, v in rows]
    edges = [0, *sorted(cuts), len(rows)]
    for start, end in pairwise(edges):
        totals.add(segments[start:end], scores_of(segments[start:end], values[start:end]))
    return totals


ROWS = [("B", "de", 1), ("A", "de", 2), ("B", "fi", 3), ("B", "de", None), ("A", "fi", -4)]


def test_a_row_a_system_in_order_of_appearance():
    # B: (1 + 3) / 2, one of three undefined; A: (2 - 4) / 2
    assert list(added(ROWS).rows()) == [((None, "B"), 2.0, 3, 1), ((None, "A"), -1.0, 2, 0)]


def test_by_group_each_group_of_a_system_has_its_own_row():
    assert list(added(ROWS, by_group=True).rows()) == [
        (("de", "B"), 1.0, 2, 1),
        (("de", "A"), 2.0, 1, 0),
        (("fi", "B"), 3.0, 1, 0),
        (("fi", "A"), -4.0, 1, 0),
    ]


def test_flags_are_counted_over_all_systems():
    assert added([*ROWS, ("C", None, 9)]).counts == {"low": 1, "high": 1, "undefined": 1}


def test_a_flag_that_never_is_up_is_left_out():
    assert added([("A", None, 1)]).counts == {}


def test_statistics_are_summed_and_finished_by_the_metric():
    totals, segments = Totals(), segments_of([("A", None, 0)] * 4)
    stats = np.array([[1.0, 2.0], [5.0, 1.0], [0.0, 4.0], [3.0, 2.0]])
    for part in (slice(0, 1), slice(1, 4)):
        block = segments[part]
        totals.add(block, scores_of(block, [0] * len(block), stats=stats[part], finish=ratio))
    assert list(totals.rows()) == [((None, "A"), 1.0, 4, 0)]  # 9 / 9, which no mean of 0.5, 5, 0 and 1.5 is
    assert totals.signature is TOY


def test_a_system_without_any_defined_value_is_undefined():
    ((_, value, n, undefined),) = added([("A", None, None), ("A", None, None)]).rows()
    assert np.isnan(value)
    assert (n, undefined) == (2, 2)


@given(cells, st.data(), st.booleans())
def test_blocks_are_the_whole(rows, data, by_group):
    cuts = data.draw(st.lists(st.integers(1, max(1, len(rows) - 1)), max_size=3, unique=True)) if len(rows) > 1 else ()
    whole, blocks = added(rows, by_group=by_group, keep=True), added(rows, cuts, by_group=by_group, keep=True)
    assert repr(list(whole.rows())) == repr(
        list(blocks.rows())
    )  # whole numbers, so the sums are exact; repr tells NaN from NaN
    assert whole.counts == blocks.counts
    one, other = whole.kept(), blocks.kept()
    assert list(one) == list(other)
    for group in one:
        assert one[group][:2] == other[group][:2]
        assert one[group][2].ids == other[group][2].ids
        np.testing.assert_array_equal(one[group][2].segment_stats, other[group][2].segment_stats)


def test_what_is_kept_has_system_and_item_of_every_segment_by_group():
    kept = added(ROWS, (2,), by_group=True, keep=True).kept()
    assert {group: (systems, items, scores.ids) for group, (systems, items, scores) in kept.items()} == {
        "de": (["B", "A", "B"], ["0", "1", "3"], ("s0", "s1", "s3")),
        "fi": (["B", "A"], ["2", "4"], ("s2", "s4")),
    }
    assert list(added(ROWS, keep=True).kept()) == [None]


def test_statistics_that_are_kept_stand_in_memory_once():
    """They are most of what comparing millions of segments holds."""
    totals, stats = Totals(keep=True), np.ones((1000, 18))
    segments = [Segment(str(i), "", system="A", item=str(i)) for i in range(len(stats))]
    scores = Scores(TOY, ids(segments), np.zeros(len(stats)), stats=stats)
    totals.add(segments, scores)
    tracemalloc.start()
    try:
        for _ in range(9):
            totals.add(segments, scores)
        found = totals.kept()[None][2]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert np.array_equal(found.stats, np.ones((10_000, 18)))
    assert peak < 1.5 * found.stats.nbytes


def test_intervals_of_one_system_copy_no_statistics():
    stats = np.ones((20_000, 18))
    scores = Scores(TOY, ("",) * len(stats), np.zeros(len(stats)), stats=stats, finish=ratio)
    tracemalloc.start()
    try:
        intervals(scores, draws=1)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1.5 * stats.nbytes


# --- The names of the tests of systems


@pytest.mark.parametrize(
    ("name", "test", "draws"),
    [
        ("bootstrap", "bootstrap", 1000),
        ("paired_bootstrap", "bootstrap", 1000),
        ("randomization", "randomization", 10000),
        ("randomisation", "randomization", 10000),
        ("paired_randomisation", "randomization", 10000),
    ],
)
def test_a_test_has_several_names_and_sacrebleus_draws(name, test, draws):
    assert (system_test(name).name, system_test(name).draws) == (test, draws)


def test_an_unknown_test_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="test is 'boostrap', expected bootstrap or randomization; did you mean 'boot"):
        system_test("boostrap")


# --- How systems are to be compared: one test under every name, and options that change nothing


def test_every_name_of_a_test_is_one_test_in_a_result_file():
    for name in ("randomization", "randomisation", "paired_randomisation"):
        found = ComparisonOptions(test=name)
        assert found == ComparisonOptions(test="randomization")
        assert found.settings == {
            "test": "randomization", "draws": 10000, "seed": 0, "adjust": "none", "confidence": 0.95
        }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"intervals": True}, {"test": None, "draws": 1000, "seed": 0, "adjust": None}),
        ({"test": "bootstrap", "pairs": True}, {"test": "bootstrap", "draws": 1000, "seed": 0, "adjust": "holm"}),
        ({"test": "bootstrap", "compat": "sacrebleu"}, {"draws": 1000, "seed": 12345}),
        ({"test": "bootstrap", "compat": "sacrebleu", "seed": 3, "draws": 7}, {"draws": 7, "seed": 3}),
    ],
)
def test_what_is_not_given_is_settled_by_the_test(options, settings):
    found = ComparisonOptions(**options).settings
    assert {name: found[name] for name in settings} == settings
    assert bool(found) == bool(settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t-test"}, "test is 't-test', expected bootstrap or randomization"),
        ({"test": "bootstrap", "adjust": "bonferroni"}, "adjust is 'bonferroni'"),
        ({"test": "bootstrap", "draws": 0}, "draws is 0, expected 1 or more"),
        ({"intervals": True, "compat": "nonsense"}, "compat is 'nonsense'"),
    ],
)
def test_words_and_numbers_that_are_not_known_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        ComparisonOptions(**options)
