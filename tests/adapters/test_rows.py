"""Rows scored one by one: the numbers of one call, reasons where there is none, and any number of threads."""

from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.adapters.rows import RowScorer
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.metrics.base import BaseMetric

HYPS = ["it rains", "a cat sat", "", "the dog " * 9]
REFS = [["it is raining", "rain falls"], ["the cat sat"], ["a dog"], ["the dog"]]


@pytest.fixture(scope="module")
def scorer():
    return RowScorer(["chrf", "bleu", "ter", "rougeL"])


def test_rows_have_the_scores_of_one_call(scorer):
    whole = ng.score(HYPS, REFS, metrics=["chrf", "bleu", "ter", "rougeL"])
    for i, (hyp, refs) in enumerate(zip(HYPS, REFS, strict=True)):
        row = scorer.score(hyp, refs)
        assert {spec: one.value for spec, one in row.items()} == {spec: s.values[i] for spec, s in whole.items()}
        for spec, one in row.items():
            assert one.signature == str(whole[spec].signature)
            assert one.parts == {name: part[i] for name, part in whole[spec].parts.items()}
            assert one.higher_is_better is whole[spec].higher_is_better
            assert set(one.flags) == {name for name, mask in whole[spec].flags.items() if mask[i]}


def test_a_row_says_in_words_what_is_odd_about_it(scorer):
    empty = scorer.score("", ["a dog"])["chrf"]
    assert (empty.value, empty.flags, empty.lacking) == (0.0, ("empty",), "")
    assert empty.notes == ("chrf: an empty side; it gets the worst value",)
    assert scorer.score(HYPS[3], ["the dog"])["ter"].notes == ("a hypothesis that says the same words again and again",)
    assert scorer.score("a cat", ["a dog"])["chrf"].notes == ()


def test_what_a_metric_lacks_is_its_reason_and_the_others_score():
    scorer = RowScorer(["chrf", "gruen"], where={"references": "column expected"})
    chrf, gruen = scorer.score("It rains today.").values()
    assert chrf.value is None
    assert chrf.lacking == "chrf needs references, and the row has none; expected it in column expected"
    assert (type(gruen.value), gruen.lacking) == (float, "")
    assert chrf.signature == RowScorer("chrf").score("a", ["a"])["chrf"].signature
    assert {one.lacking for one in scorer.without_text("no answer").values()} == {"no answer"}


@dataclass(frozen=True)
class Broken(BaseMetric):
    """A metric without a number for some texts, which loads a model."""

    info = MetricInfo("broken", needs=frozenset(), range=(-math.inf, math.inf))

    def score(self, segments, runtime):
        load = runtime.once("model of broken", lambda: LOADS.append(1) or BUSY)
        with load:
            values = [{"nan": math.nan, "inf": math.inf}.get(s.hypothesis, float(len(s.hypothesis))) for s in segments]
        return Scores(signature_of(self, runtime), tuple(s.id for s in segments), np.array(values))


class Busy:
    """Raises if two threads are in it at once, as a model might that keeps something between two steps."""

    def __init__(self):
        self.inside = threading.Lock()

    def __enter__(self):
        assert self.inside.acquire(blocking=False), "two rows are scored at once"
        threading.Event().wait(0.001)  # lets other threads run

    def __exit__(self, *_):
        self.inside.release()


LOADS: list[int] = []
BUSY = Busy()


@pytest.mark.parametrize("text", ["nan", "inf"])
def test_a_number_that_is_none_is_no_score(text):
    (one,) = RowScorer(Broken()).score(text).values()
    assert one.value is None
    assert one.lacking == f"the score by broken is {'undefined' if text == 'nan' else 'inf'}"


def test_many_threads_load_a_model_once_and_never_score_at_once():
    LOADS.clear()
    scorer = RowScorer(Broken())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: scorer.score("x" * n)["broken"].value, range(64)))
    assert found == list(range(64))
    assert LOADS == [1]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("bertscore:idf=true", "^bertscore:idf=true takes frequencies or a scale from all texts of a call, and here"),
        ("0.5*chrf+0.5*bleu", r"^0\.5\*chrf\+0\.5\*bleu takes frequencies or a scale"),
        ("parent", "^parent needs table, which a row does not hold"),
        ("chrff", "^unknown metric 'chrff'"),
        ([], "^no metric is named"),
    ],
)
def test_metrics_that_cannot_score_a_row_are_refused_at_once(spec, said):
    with pytest.raises(ng.SpecError, match=said):
        RowScorer(spec)


CHRF = RowScorer("chrf")


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=2))
def test_any_text_has_a_score_or_a_reason(text, references):
    (one,) = CHRF.score(text, references).values()
    assert (one.value is None) == bool(one.lacking) == (not references)
    assert one.value is None or 0 <= one.value <= 100
