"""Agreement beside differences in a result: rows by hand, and notes on what is not known."""

from __future__ import annotations

import pytest

from nlgauge.core.result import Result
from nlgauge.metrics.comparing.agreement import with_agreement


def row(system, delta=None, metric="chrf", **more):
    return {
        "system": system,
        "metric": metric,
        "value": 50.0,
        "low": 49.0,
        "high": 51.0,
        "n": 500,
        "delta": delta,
    } | more


@pytest.fixture
def beside(table, chrf):
    """What becomes of rows."""
    ter = {"spec": "ter", "signature": "metric:ter", "higher_is_better": False}
    metrics = [{"spec": "chrf", "signature": chrf, "higher_is_better": True}, ter]
    return lambda *rows, **known: with_agreement(Result("score", rows, metrics=metrics), table, **known)


def test_rows_by_hand(beside):
    found = beside(
        row("a", baseline="a"), row("b", -1.0, baseline="a"), row("c", 3.0, baseline="a"), row("b", 2.0, "ter")
    )
    base, worse, far, other = found.rows
    assert "agreement" not in base
    assert [worse[f"agreement{end}"] for end in ("", "_low", "_high")] == pytest.approx([3 / 4, 2 / 3, 5 / 6])
    assert worse["agreement_seen"] == far["agreement_seen"] == 2.0
    assert [far[f"agreement{end}"] for end in ("", "_low", "_high")] == [None, None, None]
    assert "agreement" not in other
    assert any(note.startswith("people agree: share of pairs") and "mqm" in note for note in found.notes)
    assert "ter: t.json does not say how often people agree: it was fitted for chrf" in found.notes


def test_pairs_take_n_from_their_system(beside):
    few = beside(row("a", n=90), {**row("a", 1.0, against="b"), "n": 90})
    assert few.rows[1]["agreement"] is None
    assert any("not known for 90 segments, 100 are the fewest seen" in note for note in few.notes)
    pair = {key: value for key, value in row("a", 1.0, against="b").items() if key != "n"}
    assert beside(row("a"), pair).rows[1]["agreement"] == pytest.approx(0.75)


def test_other_numbers_of_references_are_noted(beside):
    found = beside(row("b", 1.0), references={"chrf": {4}})
    assert "agreement" not in found.rows[0]
    assert any("fitted with 1 reference per segment, here 4 references" in note for note in found.notes)


def test_more_segments_than_seen_are_noted(beside):
    found = beside({**row("b", 1.0), "n": 5000})
    assert found.rows[0]["agreement"] == pytest.approx(0.75)
    assert "chrf: pairs were seen over at most 1000 segments; over 5000 people may agree more often" in found.notes
