"""A metric whose model was shown an attack is marked where it meets it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.audits.run import audit
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.suite import Pair, Suite


@dataclass(frozen=True)
class Shown:
    """Longer is better; says that it was trained on negation."""

    trained_on: ClassVar = ("negation", "number_error")
    info: ClassVar = MetricInfo("shown", range=(0, np.inf))

    def score(self, segments, runtime):
        return Scores(
            signature_of(self, runtime), ids(segments), np.array([float(len(s.hypothesis)) for s in segments])
        )


def suite(design):
    names = {"negation": "adequacy", "typos": "fluency"}
    pairs = [
        Pair(
            id=name,
            phenomenon=name,
            better="a long text",
            worse="short",
            references=("a text",),
            task="mt",
            criterion=criterion,
        )
        for name, criterion in names.items()
    ]
    return Suite(tuple(pairs), "own", design)


@pytest.mark.parametrize(("design", "key"), [("preference", "phenomenon"), ("checklist", "template")])
def test_rows_of_what_was_shown_are_marked_and_noted(design, key):
    found = audit(suite(design), [Shown(), "chrf"])
    marked = [(row["metric"], row[key]) for row in found.rows if row.get("trained_on")]
    assert marked == [("shown", "negation")]
    (note,) = [note for note in found.notes if "trained on" in note]
    assert note.startswith("shown was trained on negation: ")


def test_metrics_that_were_shown_nothing_are_not_marked():
    found = audit(suite("preference"), "chrf")
    assert not any("trained_on" in row for row in found.rows)
    assert not any("trained on" in note for note in found.notes)
