from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.core.scores import MetricInfo
from nlgauge.runtime.cache import ScoreCache
from nlgauge.testing import SEGMENTS, check_metric


def broken(overlap, change, name="broken", **options):
    """The sound metric whose scores of a call are changed by a function of scores, segments and runtime."""

    @dataclass(frozen=True, kw_only=True)
    class Broken(overlap):
        info: ClassVar = MetricInfo(name, **options)

        def score(self, segments, runtime):
            return change(super().score(segments, runtime), segments, runtime)

    return Broken()


def times(scores, factors):
    return replace(scores, values=scores.values * np.asarray(factors, dtype=float))


def test_chance_is_caught(overlap, caught):
    rng = np.random.default_rng(0)
    caught(
        broken(overlap, lambda s, _, __: times(s, rng.uniform(0.9, 1.0, len(s)))),
        "scoring again changes the value of segment 'plain'",
    )


def test_memory_is_caught(overlap, caught):
    calls = []
    caught(
        broken(overlap, lambda s, _, __: times(s, [0.5 ** len(calls)] * len(s)) if not calls.append(1) else s),
        "scoring again changes the value",
    )


def test_a_value_that_depends_on_the_place_is_caught(overlap, caught):
    metric = broken(overlap, lambda s, _, __: times(s, 1 - np.arange(len(s)) / 100))
    caught(metric, "the order of the segments changes the value of segment 'plain'")


def test_a_value_that_depends_on_the_distance_from_the_middle_is_caught(overlap, caught):
    # backwards this metric would look sound
    metric = broken(overlap, lambda s, _, __: times(s, 1 - np.abs(np.arange(len(s)) - (len(s) - 1) / 2) / 100))
    caught(metric, "the order of the segments changes the value of segment 'plain'")


def test_a_value_that_depends_on_the_batch_is_caught(overlap, caught):
    metric = broken(overlap, lambda s, _, runtime: times(s, [0.9 if runtime.token_budget == 1 else 1] * len(s)))
    caught(metric, "a token budget of 1 changes the value of segment 'plain'")


def test_a_value_that_depends_on_the_company_is_caught_unless_declared(overlap, caught):
    def centred(scores, segments, runtime):
        return replace(scores, values=scores.values - scores.values.mean())

    sentence = "the company of the other segments changes the value .*by definition says so by pooled = True"
    caught(broken(overlap, centred, range=(-1.0, 1.0)), sentence)

    @dataclass(frozen=True, kw_only=True)
    class Declared(type(broken(overlap, centred, range=(-1.0, 1.0)))):
        pooled: ClassVar = True

    check_metric(Declared(), registered=False)


def test_a_pool_that_depends_on_the_order_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Pooled(overlap):
        pooled: ClassVar = True
        info: ClassVar = MetricInfo("pooled", range=(-1.0, 1.0))

        def score(self, segments, runtime):
            found = super().score(segments, runtime)
            return replace(found, values=found.values - found.values[0])  # the first of the call

    caught(Pooled(), "the order of the segments changes the value")


def test_a_second_occurrence_that_scores_otherwise_is_caught(overlap, caught):
    def deduplicated(scores, segments, runtime):
        texts = [(s.hypothesis, s.references) for s in segments]
        return times(scores, [text not in texts[:i] for i, text in enumerate(texts)])

    caught(broken(overlap, deduplicated), "changes the value of segment 'plain( again)?' from")


@pytest.mark.parametrize("kind", ["parts", "flags"])
def test_columns_that_come_and_go_are_caught(overlap, caught, kind):
    def change(scores, segments, runtime):
        column = np.ones(len(scores)) if kind == "parts" else np.ones(len(scores), dtype=bool)
        return replace(scores, **{kind: {**getattr(scores, kind), "extra": column}}) if len(scores) == 1 else scores

    # with one segment alone there is a column that its neighbours lack; to join them is already an error
    with pytest.raises((AssertionError, KeyError), match=f"changes which {kind} there are|extra"):
        check_metric(broken(overlap, change), registered=False)


def test_an_empty_list_without_the_parts_of_a_full_one_is_caught(overlap, caught):
    caught(
        broken(overlap, lambda s, _, __: s if len(s) else replace(s, parts={})),
        "an empty list of segments gives other parts than a full one",
    )


def test_an_empty_list_that_fails_is_not_let_pass(overlap):
    def fail(scores, segments, runtime):
        return scores if segments else 1 / 0

    with pytest.raises(ZeroDivisionError):
        check_metric(broken(overlap, fail), registered=False)


@pytest.mark.parametrize(
    ("field", "empty"),
    [("source", None), ("system", None), ("item", None), ("id", "bare"), ("context", ()), ("table", ())],
)
def test_reading_what_is_not_declared_is_caught(overlap, caught, field, empty):
    def change(scores, segments, runtime):
        there = [not str(s.id).startswith("bare") if field == "id" else getattr(s, field) != empty for s in segments]
        return times(scores, np.where(there, 1.0, 0.5))

    caught(
        broken(overlap, change),
        r"leaving out what info\.needs \(references\) does not name changes the value of segment 'plain'",
    )
    if field in ("source", "context", "table"):
        check_metric(broken(overlap, lambda s, segments, _: s, needs={"references", field}), registered=False)


@pytest.mark.parametrize(
    "change",
    [
        lambda segments: segments.reverse(),
        lambda segments: segments.pop(),
        lambda segments: segments.__setitem__(0, replace(segments[0], hypothesis="")),
        lambda segments: segments[0].context[0].__setitem__("text", ""),
    ],
)
def test_a_metric_that_changes_what_it_is_given_is_caught(overlap, caught, change):
    @dataclass(frozen=True, kw_only=True)
    class Careless(overlap):
        info: ClassVar = MetricInfo("careless")

        def score(self, segments, runtime):
            found = super().score(segments, runtime)
            if segments:
                change(segments)
            return found

    own = [replace(s, context=tuple(map(dict, s.context))) for s in SEGMENTS]  # ours are left as they are
    caught(Careless(), "score changes the segments it is given", segments=own)


class TestCache:
    def test_a_corpus_number_that_is_no_mean_is_lost_in_the_cache_and_caught(self, overlap, caught):
        def summed(scores, segments, runtime):
            lengths = np.array([len(s.hypothesis) + 1.0 for s in segments])
            return replace(
                scores,
                stats=np.stack([scores.values * lengths, lengths], axis=1),
                finish=lambda t: np.asarray(t[..., 0] / t[..., 1]),
            )

        caught(broken(overlap, summed, cached=True), "going through the score cache changes")

    def test_a_metric_that_forgets_its_flags_behind_the_cache_is_caught(self, overlap, caught, monkeypatch):
        get = ScoreCache.get
        monkeypatch.setattr(
            ScoreCache, "get", lambda self, *asked: {k: row * 0.99 for k, row in get(self, *asked).items()}
        )
        caught(
            broken(overlap, lambda s, _, __: s, cached=True),
            "coming back from the score cache changes the value of segment",
        )

    def test_without_a_model_the_cache_is_left_alone(self, overlap, monkeypatch):
        monkeypatch.setattr(ScoreCache, "put", lambda *_: pytest.fail("stored"))
        check_metric(overlap(), registered=False)
