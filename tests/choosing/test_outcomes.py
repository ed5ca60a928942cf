"""Evidence of scores that are told, worked by hand."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.audits.preference import Sides
from nlgauge.choosing.outcomes import copy_evidence, error_evidence, seen_beyond
from nlgauge.core.suite import Pair, Suite


def suite(*pairs):
    """Pairs of (text, aspect)."""
    return Suite(
        tuple(
            Pair(
                **{"id": str(i), "phenomenon": "p", "better": text, "worse": f"{text}!", "criterion": aspect},
                references=(f"ref {text}",),
                expect="same" if aspect == "same" else "lower",
            )
            for i, (text, aspect) in enumerate(pairs)
        )
    )


def sides(spec, better, worse):
    return Sides(
        spec, ng.metric("chrf"), spec, tuple(range(len(better))), np.array(better, float), np.array(worse, float)
    )


MADE = suite(("a", "facts"), ("a", "same"), ("b", "facts"), ("b", "fluency"), ("b", "same"))


def test_errors_are_seen_where_the_score_falls_and_harmless_changes_cost_less():
    #             falls by 4, by 1, ties, by 2, by 3
    scored = sides("told", [9, 9, 9, 9, 9], [5, 8, 9, 7, 6])
    found = {one.criterion: one for one in error_evidence(MADE, scored, "your outputs")}
    assert found["errors.facts"].value == 0.5  # a tie is not seen
    assert found["errors.fluency"].value == 1
    # in a 1 < 4; in b 3 > 0 and 3 > 2
    assert (found["harmless"].value, found["harmless"].n) == (pytest.approx(1 / 3), 3)
    assert "errors.meaning" not in found


def test_near_copies_count_likewise():
    (one,) = copy_evidence(suite(("a", "x"), ("b", "x")), sides("told", [1, 2], [2, 1]))
    assert (one.criterion, one.value, one.n) == ("copies", 0.5, 2)


def test_a_second_metric_is_asked_about_what_the_first_misses():
    first, second = sides("one", [9] * 5, [9, 9, 9, 1, 9]), sides("two", [9] * 5, [1, 1, 9, 1, 1])
    outcome, origins = seen_beyond(MADE, first, second)
    assert outcome.tolist() == [1, 0]  # the two errors of facts
    assert origins == [("text", "ref a"), ("text", "ref b")]
