"""Checks that order, batches, repetition, company, unread fields and the score cache change no score."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from nlgauge.core.arrays import Counts
from nlgauge.core.scores import Scores, join
from nlgauge.core.segment import Segment
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.cache import ScoreCache
from nlgauge.testing.subject import ROUNDING, Subject

BUDGETS = (1, 64, 1 << 20)  # tokens at once: a text a batch, a few, all


def calls(subject: Subject) -> None:
    """Scoring again, in other orders, and in batches of another size: at once, and apart where that moves a score."""
    places = np.arange(len(subject.segments), dtype=np.int64)
    # backwards alone leaves the middle, and ends that are alike
    orders = places, np.roll(places, 1 + len(places) // 3), places[::-1]
    try:
        for order, budget in zip(orders, BUDGETS, strict=True):
            subject.same(subject.base, _ordered(subject, order, budget), "another order or token budget")
    except AssertionError:
        _apart(subject, orders)
        raise


def _apart(subject: Subject, orders: Sequence[Counts]) -> None:
    """Each change alone, so that the sentence names it."""
    subject.same(subject.base, subject.score(subject.segments), "scoring again")
    for order in orders[1:]:
        subject.same(subject.base, _ordered(subject, order), "the order of the segments")
    for budget in BUDGETS:
        subject.same(subject.base, _ordered(subject, orders[0], budget), f"a token budget of {budget}")


def _ordered(subject: Subject, order: Counts, budget: int | None = None) -> Scores:
    """Scores of the segments in another order, put back into their own."""
    runtime = subject.runtime if budget is None else replace(subject.runtime, token_budget=budget)
    return subject.score([subject.segments[i] for i in order], runtime).take(np.argsort(order))


def company(subject: Subject) -> None:
    """Each segment alone, every segment twice, and none at all."""
    alone = join([subject.score([segment]) for segment in subject.segments])
    try:
        subject.same(alone, subject.base, "the company of the other segments")
    except AssertionError as error:
        raise AssertionError(
            f"{error}; a metric whose scores depend on the call by definition says so by pooled = True"
        ) from None
    n = len(subject.segments)
    twice = subject.score([replace(s, id=f"{s.id} {time}") for time in ("once", "again") for s in subject.segments])
    for start in (0, n):
        subject.same(
            subject.base,
            replace(twice.take(np.arange(start, start + n)), ids=subject.base.ids),
            "having every segment twice",
        )
    nothing = subject.score([])
    subject.require(
        list(nothing.parts) == list(subject.base.parts), "an empty list of segments gives other parts than a full one"
    )


def undeclared(subject: Subject) -> None:
    """Leaving out everything that `info.needs` does not name: ids, systems, ratings, other texts."""
    needs = sorted(subject.metric.info.needs)
    bare = [
        Segment(f"bare {i}", s.hypothesis, **{need: getattr(s, need) for need in needs})
        for i, s in enumerate(subject.segments)
    ]
    found = replace(subject.score(bare), ids=subject.base.ids)
    subject.same(subject.base, found, f"leaving out what info.needs ({', '.join(needs) or 'nothing'}) does not name")


def cache(subject: Subject) -> None:
    """Into the score cache and out of it."""
    with tempfile.TemporaryDirectory() as folder:
        store = ScoreCache(Path(folder) / "scores.sqlite")
        runtime = replace(subject.runtime, cache=store)
        try:
            for change in ("going through the score cache", "coming back from the score cache"):
                found = score_segments({"metric": subject.metric}, subject.segments, runtime)["metric"]
                subject.same(subject.base, found, change)
                subject.require(
                    subject.near(found.system, subject.base.system, ROUNDING), f"{change} changes the corpus number"
                )
        finally:
            store.close()
