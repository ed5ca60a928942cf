"""Agreement of spans: small cases by hand, what must hold of any spans, and the floors that are known."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.spans import (
    character_counts,
    clean_counts,
    f1_of_totals,
    one_to_one_counts,
    precision_and_recall,
    share_of_totals,
    span_f1,
)

DATA = Path(os.environ.get("NLGAUGE_DATA", "absent"), "ted-mqm-zh-en", "segments.jsonl.gz")
PLACES = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8)).map(lambda pair: (pair[0], pair[0] + pair[1])), max_size=5
)
SEVERE = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 8), st.sampled_from(["minor", "major"])).map(
        lambda span: (span[0], span[0] + span[1], span[2])
    ),
    max_size=5,
)


def test_partial_credit_by_hand():
    # Gold 0-10 and 20-30. Predicted 5-10 lies whole in the first: 1 for precision, .5 for recall. Predicted 28-38 has
    # two of ten characters in common with the second: .2 and .2. A third finds no partner.
    counts = one_to_one_counts([[(0, 10), (20, 30)]], [[(5, 10), (28, 38), (50, 60)]])
    np.testing.assert_allclose(counts, [[1.2, 3, 0.7, 2]])
    assert precision_and_recall(counts) == pytest.approx((0.4, 0.35))
    assert f1_of_totals(counts.sum(axis=0)) == pytest.approx(2 * 0.4 * 0.35 / 0.75)


def test_a_span_is_matched_once():
    # Two predicted spans in one gold span: only one of them counts.
    np.testing.assert_allclose(one_to_one_counts([[(0, 10)]], [[(0, 5), (5, 10)]]), [[1.0, 2, 0.5, 1]])


def test_sums_run_over_segments_and_spans_without_length_do_not_count():
    counts = one_to_one_counts([[(0, 4)], [], [(3, 3)]], [[(0, 4)], [(0, 2)], []])
    np.testing.assert_allclose(counts, [[1, 1, 1, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
    assert precision_and_recall(counts) == (0.5, 1.0)


def test_nothing_marked_on_either_side_is_agreement():
    for gold, expected in (([], (1.0, 1.0, 1.0)), ([(0, 3)], (1.0, 0.0, 0.0))):
        counts = one_to_one_counts([gold], [[]])
        assert (*precision_and_recall(counts), f1_of_totals(counts.sum(axis=0))) == expected


def test_characters_by_hand():
    # Characters 0 to 3 are gold major; 2 to 5 predicted minor, 0 to 1 predicted major: one whole character (0), two
    # with the wrong severity (2, 3): credit 1 + .5 * 2 of 5 predicted and 4 gold characters.
    gold, said = [[(0, 4, "major")]], [[(2, 6, "minor"), (0, 1, "major")]]
    np.testing.assert_allclose(character_counts(gold, said), [[2.0, 5, 2.0, 4]])
    np.testing.assert_allclose(span_f1(gold, said), [4 / 9])


def test_spans_that_cover_a_character_twice_count_twice():
    np.testing.assert_allclose(
        character_counts([[(0, 2, "major"), (0, 2, "major")]], [[(0, 2, "major")]]), [[2, 2, 2, 4]]
    )


def test_critical_counts_as_major():
    np.testing.assert_allclose(character_counts([[(0, 2, "critical")]], [[(0, 2, "major")]]), [[2, 2, 2, 2]])


def test_f1_of_a_segment_is_one_where_both_are_empty_and_zero_where_one_is():
    np.testing.assert_allclose(span_f1([[], [(0, 2, "minor")], []], [[], [], [(0, 1, "major")]]), [1, 0, 0])


def test_lists_of_other_lengths_are_refused():
    with pytest.raises(InputError, match="2 segments of gold spans but 1"):
        one_to_one_counts([[], []], [[]])


@given(st.lists(st.tuples(PLACES, PLACES), min_size=1, max_size=4))
def test_credits_lie_in_bounds_and_turn_round(pairs):
    gold, said = [one for one, _ in pairs], [other for _, other in pairs]
    counts, turned = one_to_one_counts(gold, said), one_to_one_counts(said, gold)
    assert (counts[:, 0] <= counts[:, 1] + 1e-9).all()
    assert (counts[:, 2] <= counts[:, 3] + 1e-9).all()
    np.testing.assert_allclose(counts[:, 0] + counts[:, 2], turned[:, 0] + turned[:, 2], atol=1e-9)


@given(PLACES)
def test_disjoint_spans_agree_with_themselves(spans):
    disjoint = [(40 * i + start, 40 * i + end) for i, (start, end) in enumerate(spans)]
    assert f1_of_totals(one_to_one_counts([disjoint], [disjoint])[0]) == pytest.approx(1)


@given(SEVERE, SEVERE)
def test_characters_are_counted_alike_from_both_sides(gold, said):
    ((credit, marked, _, right),) = character_counts([gold], [said])
    ((other, turned, _, _),) = character_counts([said], [gold])
    assert credit == other
    assert credit <= min(marked, right)
    assert turned == right


@given(SEVERE, st.randoms())
def test_the_order_of_spans_changes_nothing(spans, random):
    mixed = random.sample(spans, len(spans))
    np.testing.assert_allclose(character_counts([spans], [mixed])[0, 0], character_counts([spans], [spans])[0, 0])
    places = [(start, end) for start, end, _ in spans]
    turned = [(start, end) for start, end, _ in mixed]
    np.testing.assert_allclose(one_to_one_counts([places], [turned]), one_to_one_counts([places], [places]), atol=1e-9)


@pytest.mark.skipif(not DATA.is_file(), reason="the MQM annotations of TED talks are not part of the product")
def test_one_span_over_everything_has_the_known_floor():
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    rows = [row for row in rows if not row["system"].startswith("ref")]
    gold = [[(e["start"], e["end"]) for e in row["errors"] if e.get("side") == "hyp"] for row in rows]
    whole = [[(0, len(row["hyp"]))] for row in rows]
    counts = one_to_one_counts(gold, whole)
    assert len(rows) == 6877
    assert f1_of_totals(counts.sum(axis=0)) == pytest.approx(0.161, abs=5e-4)
    assert precision_and_recall(counts) == pytest.approx((0.09, 0.67), abs=5e-3)


def test_counts_of_clean_texts_and_their_share():
    counts = clean_counts([[], [], [(0, 1)]], [[], [(0, 1)], []])
    assert counts.tolist() == [[1, 1], [0, 1], [0, 0]]
    np.testing.assert_array_equal(share_of_totals(np.array([[1, 2], [0, 0]])), [0.5, np.nan])
