from __future__ import annotations

import math

from nlgauge.metrics.judging.endpoint import Answer
from nlgauge.metrics.judging.spent import Spent


def test_nothing_asked_is_nothing_said():
    assert Spent().notes((1.0, 2.0)) == ()


def test_money_is_tokens_times_prices_of_a_million():
    # 3 requests: 2000 * 0.5 / 1e6 + 300 * 2 / 1e6 = 0.0016
    spent = Spent()
    spent.add(Answer("a", (1500, 200), requests=2))
    spent.add(Answer("b", (500, 100)))
    assert spent.notes((0.5, 2)) == (
        "3 requests, 2000 tokens read and 300 written, 0 answers kept before;"
        " they cost 0.0016, at 0.5 and 2 for a million tokens",
    )


def test_tokens_that_nobody_counts_are_not_taken_for_none():
    spent = Spent()
    spent.add(Answer("a"))
    spent.add(Answer(None, fault="status 500", requests=4))  # no answer, so nothing to count
    assert spent.notes(None) == (
        "5 requests, 0 tokens read and 0 written, 0 answers kept before;"
        " the endpoint does not count the tokens of 1 answers",
    )


def test_places_are_counted_over_both_orders():
    # the first pair flips (place 1 twice), the second does not, the third is half unread: 4 of 4 choices and one tie
    spent = Spent(kept=6, places=[(1.0, 1.0), (1.0, 2.0), (math.nan, 0.0)])
    assert spent.notes(None)[1] == "1 of 2 verdicts flip with the order, and the text shown first wins 75% of 4 choices"
    assert Spent(kept=2, places=[(math.nan, 1.0)]).notes(None)[1] == "the text shown first wins 100% of 1 choices"
    assert len(Spent(kept=2, places=[(math.nan, math.nan)]).notes(None)) == 1


def test_parts_of_a_run_are_joined():
    whole, part = Spent(), Spent(requests=1, read=2, written=3, uncounted=4, kept=5, places=[(1.0, 2.0)])
    whole.join(part)
    whole.join(part)
    assert whole == Spent(2, 4, 6, 8, 10, [(1.0, 2.0)] * 2)
