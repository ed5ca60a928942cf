"""What is known of metrics on some texts: what is tried on few of them, and what `meta` says of ratings."""

from tests.choosing.made import Fixed, data

import nlgauge as ng
from nlgauge.choosing.known import Known, ask_people, try_out
from nlgauge.core.segment import Dataset, Segment
from nlgauge.runtime.runtime import Runtime


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
