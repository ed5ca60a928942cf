"""Which metrics are tried on which texts, what rules one out, and what `meta` says of ratings."""

import numpy as np
import pytest
from tests.choosing.made import Fixed, OnlyEnglish, data

import nlgauge as ng
from nlgauge.choosing.known import (
    BEST,
    BEST_UNREFERENCED,
    DEFAULTS,
    TRIED,
    UNREFERENCED,
    Known,
    ask_people,
    at_hand,
    sampled,
    settled_task,
    tried,
    try_out,
    unreadable,
    unusable,
)
from nlgauge.core.errors import SpecError
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.registry import metric
from nlgauge.models import repository
from nlgauge.runtime.runtime import Runtime


def test_metrics_that_are_tried_exist():
    for name in {name for names in TRIED.values() for name in names} | {*UNREFERENCED, *DEFAULTS.values()}:
        metric(name)
    for one in (one for table in (BEST, BEST_UNREFERENCED) for rows in table.values() for one in rows):
        assert "/" in one.model or one.model == "roberta-large"
    assert all(DEFAULTS[task] in names for task, names in TRIED.items())


def test_what_is_tried_fits_the_data():
    english = Segment("1", "It rains in the north and it is cold.", ("It rains.",), "The north of the land has rain.")
    german = Segment(
        "1", "It rains in the north and it is cold.", ("It rains.",), "Im Norden ist es kalt und es regnet."
    )
    assert "faithful" in tried("as", [english])
    assert "faithful" not in tried("as", [german])
    assert "parent" not in tried("d2t", [english])  # no table
    assert tried("as", [Segment("1", "It rains in the north.")]) == []


def test_large_models_are_named_where_they_are_in_the_cache(monkeypatch):
    """`roberta-large` has moved to an owner since; what is in the cache under either name is here."""
    both = [Segment("1", "It rains.", ("It rains.",), "Es regnet.")]
    bare = [Segment("1", "It rains.", (), "Es regnet.")]
    here = ["FacebookAI/roberta-large", "Unbabel/wmt22-comet-da", "Unbabel/wmt20-comet-qe-da"]
    monkeypatch.setattr(repository, "held", lambda: [repository.Held(name, (), 0, "") for name in here])
    assert at_hand("mt", both) == ["comet"]
    assert tried("mt", bare) == at_hand("mt", bare) == ["comet-qe"]  # of translations without references
    assert at_hand("as", both) == ["paper/bertscore:value=recall"]
    monkeypatch.setattr(repository, "held", list)
    assert at_hand("mt", both) == tried("mt", bare) == []


# --- Which outputs are looked at, and what they are


def items(n, systems=("a", "b"), text="x {}"):
    return [Segment(f"{s}{i}", text.format(i), ("y",), None, s, str(i)) for i in range(n) for s in systems]


def test_items_are_taken_whole_and_the_seed_decides_which():
    found = sampled(items(200), limit=100)
    assert len(found) == 100
    by_item = [s.item for s in found]
    assert all(by_item.count(item) == 2 for item in by_item)
    assert found == [s for s in items(200) if s in found]  # in their order
    assert found == sampled(items(200), limit=100) != sampled(items(200), limit=100, seed=1)
    assert sampled(items(10)) == items(10)


def test_of_long_texts_fewer_are_looked_at():
    long = [Segment(s.id, "word " * 99, ("y",), "word " * 100, s.system, s.item) for s in items(60)]  # 200 words each
    assert len(sampled(long, words=2_000)) == 10
    assert len(sampled(long, words=2)) == 2  # one item at least


def test_the_task_is_given_or_told_by_the_data_or_translation():
    assert settled_task(data(2), "data-to-text") == ("d2t", [])
    assert settled_task(data(2, group="summarization"), None) == ("as", [])
    assert settled_task(data(2, group="zh-en"), None) == ("mt", [])
    task, (note,) = settled_task(data(2, group=None), None)
    assert (task, note.startswith("the data name no task")) == ("mt", True)
    with pytest.raises(SpecError):
        settled_task(data(2), "verse")


# --- What rules a metric out

ROWS = [Segment(str(i), f"text {i}", ("ref",)) for i in range(10)]


def scores(values, **flags):
    return Scores(Signature("m", {}), ids(ROWS), np.asarray(values, dtype=float), flags=flags)


def test_most_texts_unread_rule_out_and_some_are_told():
    mixed = [Segment(str(i), "сегодня идёт дождь" if i < 2 else "it rains today", ()) for i in range(10)]
    only = {"only": OnlyEnglish()}
    out, told = unreadable(only, [Segment(s.id, s.hypothesis, ("it rains",)) for s in mixed])
    assert (out, told) == ({}, {"only": "it cannot read 2 of 10 outputs: it reads English"})
    out, _ = unreadable(only, [Segment(s.id, mixed[0].hypothesis, ("дождь идёт",)) for s in mixed])
    assert out == {"only": "it cannot read 10 of 10 outputs: it reads English"}


def test_what_a_metric_needs_must_be_there():
    out, _ = unreadable(
        {"chrf": ng.metric("chrf"), "fluency": ng.metric("fluency")}, data(3, references=False).segments
    )
    assert [*out] == ["chrf"]


@pytest.mark.parametrize(
    ("found", "out", "told"),
    [
        (scores(range(10)), "", ""),
        (scores([3.0] * 10), "it gives all 10 outputs the same score", ""),
        (scores([np.nan] * 6 + [1, 2, 3, 4]), "6 of 10 outputs have no score", ""),
        (scores([np.nan] * 2 + [*range(8)]), "", "2 of 10 outputs have no score"),
        (
            scores(range(10), truncated=np.arange(10) < 7),
            "7 of 10 outputs are read in part, since they are longer than its model reads",
            "",
        ),
    ],
)
def test_scores_of_no_use(found, out, told):
    assert unusable(found, ROWS) == (out, told)


def test_one_text_many_times_is_no_constant_metric():
    same = [Segment(str(i), "one text", ("ref",)) for i in range(10)]
    assert unusable(scores([3.0] * 10), same) == ("", "")


# --- What is tried on few of them, and what people say


def known(metrics, dataset=None, criterion=None):
    dataset = data() if dataset is None else dataset
    return Known(dataset, dataset, "mt", metrics, criterion, Runtime(), 0)


def rated(systems, n=8):
    """Outputs of which people rate the good above the fair above the poor."""
    place = {"good": 3.0, "fair": 2.0, "poor": 1.0}
    return Dataset(
        tuple(
            Segment(s.id, s.hypothesis, s.references, None, s.system, s.item, s.group, {"x": place[s.system] + i % 2})
            for i, s in enumerate(data(n, systems))
        ),
        "rated",
    )


def test_nothing_is_scored_before_it_is_tried():
    found = known(["chrf", "bleu", "rated", "readability"])
    assert (found.language, len(found.sets), found.about) == ("en", 3, [])
    assert {*found.figures} == {"chrf", "bleu", "rated"}
    assert found.left == ["chrf", "bleu", "rated"]  # readability describes texts, and judges none


def test_what_is_tried_is_tried_on_few_outputs_and_ruled_out_where_it_fails():
    found = known(["chrf", Fixed(how="fails"), Fixed(how="nan")])
    try_out(found, found.left)
    assert found.out == {
        "fixed:how=fails": "it failed: ZeroDivisionError: division by zero",
        "fixed:how=nan": "24 of 24 outputs have no score",  # of 36
    }
    assert [one["spec"] for one in found.about] == ["chrf", "fixed:how=nan"]


def test_outputs_for_one_input_are_compared_where_there_are_several():
    for systems, level, stat in ((("good", "fair", "poor"), "item", "kendall_b"), (("good",), "segment", "pearson")):
        dataset = rated(systems)
        found = known(["chrf", "bleu"], dataset, "x")
        ask_people(found, "chrf")
        assert {(row["level"], row["stat"]) for row in found.rated.values()} == {(level, stat)}
        meta = ng.meta_evaluate(dataset, ["chrf", "bleu"], "x", level, stat)
        assert {name: row["value"] for name, row in found.rated.items()} == {m: meta.value(m) for m in ("chrf", "bleu")}
        assert [*found.ahead] == ["bleu"]  # chrf is what the other is tested against


def test_ratings_that_meta_refuses_are_noted():
    found = known(["chrf", "bleu"], rated(("good",)), "y")
    ask_people(found, "chrf")
    assert (found.rated, found.ahead) == ({}, {})
    assert any(note.startswith("ratings of y decide nothing: ") for note in found.notes)
