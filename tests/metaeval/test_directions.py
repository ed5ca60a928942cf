"""Which way stored scores run: given, recorded beside the file, or guessed with a note."""

from __future__ import annotations

import numpy as np

from nlgauge.core.scores import Scores
from nlgauge.core.signature import Signature
from nlgauge.core.tables import Key, Origin, ScoreTable
from nlgauge.metaeval.directions import directions


def table(**columns):
    return ScoreTable((Key("a"), Key("b")), {name: np.array(values) for name, values in columns.items()})


def test_each_column_has_its_direction_and_guesses_are_said_together():
    scores = table(ter=[30.0, 10.0], mine=[1.0, 2.0], yours=[1.0, 2.0], comet=[0.5, 0.7])
    up, notes = directions(dict.fromkeys(scores.columns, scores), {})
    assert up == {"ter": False, "mine": True, "yours": True, "comet": True}
    assert notes == [
        "ter: taken to fall with quality, as the name says; --higher-is-better NAME changes that (in Python"
        " higher_is_better)",
        "mine, yours: taken to rise with quality; --lower-is-better NAME changes that (in Python lower_is_better)",
    ]


def test_what_is_given_or_recorded_is_not_guessed():
    scores = ScoreTable((Key("a"),), {"ter": [3.0], "mine": [1.0]}, origins={"mine": Origin(False)})
    assert directions(dict.fromkeys(scores.columns, scores), {"ter": True}) == ({"ter": True, "mine": False}, [])


def test_numbers_of_python_and_scores_that_know_it_themselves():
    own = Scores(Signature("m", ()), ("a",), np.array([1.0]), higher_is_better=False)
    up, notes = directions({"m": own, "wer": {"a": 0.3, "b": None}, "bleu": [3, 4]}, {})
    assert up == {"m": False, "wer": False, "bleu": True}
    assert len(notes) == 1
    assert notes[0].startswith("wer: taken to fall")
