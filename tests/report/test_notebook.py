"""What a notebook shows: the numbers of the result, and nothing of the user's taken for markup."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from nlgauge.core.result import Result
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, Suite
from nlgauge.report.notebook import result_html, scores_html, suite_html

EVIL = "<script>&"
SIGNATURE = Signature("toy", (("metric", "toy"), ("path", EVIL)))


def cells(html):
    """Every cell of every table; the whole must be well-formed."""
    root = ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")
    assert not root.findall(".//script")
    return ["".join(cell.itertext()) for cell in root.iter() if cell.tag in ("td", "th")]


def test_scores_are_a_line_per_system():
    scores = Scores(SIGNATURE, ("1", "2", "3"), np.array([0.5, 1.0, 0.25]), systems=(EVIL, EVIL, "b"))
    assert cells(scores_html(scores)) == ["system", "toy", "n", EVIL, "0.7500", "2", "b", "0.2500", "1"]
    assert "&lt;script&gt;" in scores_html(scores)


def test_scores_without_systems_are_one_line_with_counts_of_flags_below():
    flags = {"empty": np.array([True, False])}
    html = scores_html(Scores(SIGNATURE, ("1", "2"), np.array([np.nan, 50.0]), flags=flags))
    assert cells(html) == ["system", "toy", "n", "-", "50.00", "2"]
    assert "toy: 1 of 2 segments (1) have an empty side; they get the worst value<br>toy: 1 of 2 segments (1)" in html


def test_a_result_has_its_tables_signatures_and_notes():
    row = {"system": EVIL, "metric": "bleu", "value": 31.25, "low": 30.0, "high": 32.5, "n": 7, "n_undefined": 0}
    metric = {"spec": "bleu", "signature": "metric:bleu", "higher_is_better": True}
    html = result_html(Result("score", [row], (), [metric], ["a <note>"]))
    assert cells(html)[:2] == ["system", "bleu"]
    assert EVIL in cells(html)
    assert "bleu = metric:bleu<br>note: a &lt;note&gt;" in html


@pytest.mark.parametrize("kind", ["align", "synth"])
def test_rows_without_tables_of_their_own_are_shown_as_they_are(kind):
    html = result_html(Result(kind, [{"word": EVIL, "weight": 1 / 3, "match": None}] * 21))
    assert cells(html)[:6] == ["word", "weight", "match", EVIL, "0.3333", ""]
    assert "the first 20 of 21 rows" in html


def test_a_suite_shows_the_first_pair_of_each_phenomenon():
    pairs = [Pair(id=str(i), phenomenon=p, better=f"b{i}", worse=EVIL) for i, p in enumerate(["x", "y", "x"])]
    header = ["phenomenon", "better, of the first pair", "worse", "pairs"]
    assert cells(suite_html(Suite(tuple(pairs)))) == [*header, "x", "b0", EVIL, "2", "y", "b1", EVIL, "1"]
