from __future__ import annotations

import tracemalloc
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.comparing.table import intervals
from nlgauge.metrics.scoring.totals import Totals

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
