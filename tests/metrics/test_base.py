from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import (
    Metric,
    check_needs,
    cut_words,
    described,
    is_pooled,
    leave_out,
    notes_of,
    part_directions,
    trained_on,
    way_out,
)


@dataclass(frozen=True)
class Needy:
    info: ClassVar = MetricInfo("needy", needs={"references", "source", "context", "table"})

    def score(self, segments, runtime):
        raise NotImplementedError


@dataclass(frozen=True)
class Chatty(Needy):
    pooled: ClassVar = True
    trained_on: ClassVar = ("typos",)
    notes: ClassVar = ("read with care",)


FULL = Segment("full", "h", ("r",), "s", context=({"speaker": "A", "text": "t"},), table=(("a", 1),))


def test_a_class_with_info_and_score_is_a_metric():
    assert isinstance(Needy(), Metric)
    assert not isinstance("bleu", Metric)


def test_members_that_a_metric_may_leave_out_are_read_as_nothing():
    assert (is_pooled(Needy()), trained_on(Needy()), notes_of(Needy())) == (False, (), ())
    assert (is_pooled(Chatty()), trained_on(Chatty()), notes_of(Chatty())) == (True, ("typos",), ("read with care",))


@pytest.mark.parametrize(("need", "absent"), [("references", ()), ("source", None), ("context", ()), ("table", ())])
def test_a_segment_without_what_is_needed_is_named(need, absent):
    lacking = replace(FULL, id="lacking", **{need: absent})
    check_needs(Needy(), [FULL, FULL])
    with pytest.raises(InputError, match=rf"^needy needs {need}; segment 'lacking' has none$"):
        check_needs(Needy(), [FULL, lacking])


@pytest.mark.parametrize("spec", ["bertscore:idf=true", "fluency", "gruen", "chrf"])
def test_texts_in_the_place_of_segments_are_told_where_texts_go(spec):
    with pytest.raises(InputError, match=rf"got str; for texts write nlgauge.score\(hyps, refs, metrics='{spec}'\)$"):
        ng.metric(spec).score(["a b"], ["a c"])


def test_metrics_that_may_lack_something_are_left_out_and_named():
    # one segment without records: parent has nothing to read, and cider no frequencies
    segments = [Segment("1", "a b", ("a b",))]
    metrics = {name: ng.metric(name) for name in ("parent", "bleu", "cider")}
    kept, notes = leave_out(metrics, {"parent", "bleu", "cider"}, segments)
    assert list(kept) == ["bleu"]
    assert notes == ["embedded metrics left out: parent needs table, cider needs at least two segments, found 1"]
    assert leave_out(metrics, (), segments) == (metrics, [])


def test_an_empty_source_or_reference_is_there():
    check_needs(Needy(), [Segment("a", "", ("",), "", context=({},), table=(0,))])


def test_a_result_describes_a_metric_by_its_signature_scale_and_counts():
    metric = ng.metric("ter")
    entry = described("ter", metric, signature_of(metric), {"empty": 1})
    assert entry == {
        "spec": "ter",
        "signature": str(signature_of(metric)),
        "higher_is_better": False,
        "range": [0, None],  # no error rate is too high, and JSON has no infinity
        "flags": {"empty": 1},
    }


def test_parts_run_as_the_metric_unless_it_says_otherwise():
    names = ["precision", "f1", "reference", "mine"]
    assert part_directions(Needy(), names) == {"precision": True, "f1": True, "reference": None}
    assert part_directions(ng.metric("nli"), ["e", "n", "c"]) == {"e": True, "n": None, "c": False}
    assert part_directions(ng.metric("0.5*chrf + 0.5*ter"), ["chrf", "ter"]) == {"chrf": True, "ter": False}


def test_an_error_about_a_need_ends_in_what_to_do_instead():
    metric = ng.metric("parent")
    assert way_out(metric, "table") == "; if its source holds the records, take parent:records=source"
    assert way_out(metric, "references") == way_out(ng.metric("bleu"), "references") == ""


@pytest.mark.parametrize(
    ("spec", "limit", "windows"),
    [
        ("bertscore", 512, True),
        ("bertscore:max_tokens=64", 64, True),
        ("nli", 256, True),  # the limit of its training, below the 512 of its encoder
        ("cosine", 512, False),
        ("rated", 256, False),
        ("guarded(bertscore:max_tokens=64)", 64, True),
        ("0.5*bertscore + 0.5*nli", 256, True),
        ("bleu", None, False),
    ],
)
def test_a_note_on_cut_texts_names_the_limit_and_a_way_out_that_the_metric_has(spec, limit, windows):
    words = cut_words(ng.metric(spec))
    assert (f"of {limit} tokens" in words) == (limit is not None)
    assert ("long=windows" in words) == windows


def test_the_limit_is_where_a_text_is_cut():
    at, beyond = (ng.score(["a " * n], ["a"], metrics="bertscore")["bertscore"] for n in (510, 511))  # and two special
    assert not at.flags["truncated"][0]
    with pytest.warns(ng.ScoreWarning, match="cut to its limit of 512 tokens"):
        ng.score(["a " * 511], ["a"], metrics="bertscore")
    assert beyond.flags["truncated"][0]
