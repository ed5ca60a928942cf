"""Situations with a known answer: the recommendation and its sentences are right in each."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from tests.choosing.made import Fixed, OnlyEnglish, ReferenceFree, Shortness, data, texts

import nlgauge as ng
from nlgauge.choosing.choose import standings
from nlgauge.choosing.public import Figure, PublicSet
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.models import repository


def choose(dataset, metrics, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ng.choose(dataset, metrics, **options)


def said(choice):
    return "\n".join(choice.sentences)


def out(choice):
    """Metric -> why it is left out."""
    rows = [row for row in choice.rows if row.get("criterion") == "standing"]
    return {row["metric"]: row["out"] for row in rows if row["out"] is not None}


def rated_as(rating, n=24):
    """Outputs with a rating each, by place and segment."""
    return Dataset(
        tuple(
            Segment(s.id, s.hypothesis, s.references, None, s.system, s.item, s.group, {"x": rating(i, s)})
            for i, s in enumerate(data(n))
        )
    )


def test_a_metric_that_cannot_read_the_script_is_left_out():
    words = "今天北京下了一场大雨"
    chinese = Dataset(tuple(Segment(str(i), words[: 3 + i], (words,), None, "a", str(i)) for i in range(8)))
    found = choose(chinese, ["chrf", OnlyEnglish()])
    assert found.metrics == ("chrf",)
    assert out(found) == {"only-english": "it cannot read 8 of 8 outputs: it reads English"}
    assert "only-english is left out: it cannot read 8 of 8 outputs" in said(found)
    assert "the only metric here" in said(found)


@pytest.fixture(scope="module")
def plain():
    """The choice between two metrics that are of use."""
    return choose(data(), ["chrf", "bleu"], data="my file.jsonl")


def test_without_references_only_metrics_that_need_none_are_tried():
    found = choose(data(12, references=False), ["chrf", ReferenceFree()])
    assert found.metrics == ("reference-free",)
    assert "There are no references" in said(found)
    assert out(found) == {"chrf": "chrf needs references; segment 'good-0' has none"}


def test_a_metric_of_the_users_own_has_no_public_figure_and_counts_as_the_lowest():
    found = choose(data(), ["bleu", "chrf", Fixed(how="length")])
    assert found.metrics[0] == "chrf"
    (row,) = [r for r in found.rows if r.get("criterion") == "standing" and r["metric"] == "fixed:how=length"]
    assert "public" in row["lacking"]


@pytest.mark.parametrize(
    ("dataset", "metrics", "options", "line"),
    [
        (Dataset(()), ["chrf"], {}, "no outputs to choose a metric for"),
        (data(4, references=False), ["chrf"], {}, "no metric can score these texts: chrf: chrf needs references"),
        (data(4), ["chrf"], {"criterion": "taste"}, "no segment of made.jsonl has a human rating"),
        (data(4, references=False), None, {}, "outputs without references, and no metric here that reads the rest"),
    ],
)
def test_bad_input_is_refused_in_one_line(dataset, metrics, options, line):
    with pytest.raises(InputError, match=line) as refused:
        choose(dataset, metrics, **options)
    assert "\n" not in str(refused.value)


def test_an_unknown_task_is_refused():
    with pytest.raises(SpecError, match="unknown task 'verse'"):
        choose(data(4), ["chrf"], task="verse")


def test_the_same_seed_gives_the_same_choice(plain):
    again = choose(data(), ["chrf", "bleu"], seed=0, data="my file.jsonl")
    np.testing.assert_equal([*again.rows], [*plain.rows])  # no row holds a time, which no two runs share


def test_metrics_of_no_use_are_left_out_and_the_rest_goes_on():
    """With ratings every metric is tried on a few outputs: 24 of 72."""
    hows = ("constant", "nan", "fails", "cut")
    place = {"good": 3.0, "fair": 2.0, "poor": 1.0}
    others = [Fixed(how=how) for how in hows]
    found = choose(rated_as(lambda i, s: place[s.system]), ["chrf", "bleu", "readability", *others])
    assert out(found) == {
        "readability": "it describes outputs, and judges none",
        "fixed": "it gives all 24 outputs the same score",
        "fixed:how=nan": "24 of 24 outputs have no score",
        "fixed:how=fails": "it failed: ZeroDivisionError: division by zero",
        "fixed:how=cut": "24 of 24 outputs are read in part, since they are longer than its model reads",
    }
    assert all(f"left out: {why}" in said(found) for why in out(found).values())
    assert {row["metric"] for row in found.rows if row.get("criterion") == "people"} == {"chrf", "bleu"}


def test_what_is_recommended_is_tried_and_what_follows_taken_where_it_fails(monkeypatch):
    known_of(monkeypatch, **{"fixed:how=fails": (0.9, 0.8, 1.0), "bleu": (0.6, 0.5, 0.7)})
    found = choose(data(), [Fixed(how="fails"), "bleu", Fixed(how="nan")])
    assert found.metrics == ("bleu",)
    assert [*out(found)] == ["fixed:how=fails"]  # the third is not tried, and nothing is said of it
    assert [one["spec"] for one in found.about] == ["bleu"]


def test_outputs_that_are_copies_are_told():
    refs, _ = texts(12)
    copies = Dataset(tuple(Segment(str(i), ref, (ref,), None, "a", str(i), "cs-en") for i, ref in enumerate(refs)))
    found = choose(copies, ["chrf", "bleu"])
    assert "Every output is blank, or a copy of a reference" in said(found)
    assert found.metrics[0] in ("chrf", "bleu")
    blank = Dataset(tuple(Segment(str(i), "", (ref,), None, None, str(i), "cs-en") for i, ref in enumerate(refs)))
    assert choose(blank, ["chrf", "bleu"]).metrics[0] in ("chrf", "bleu")


def test_of_several_systems_the_test_is_named():
    assert "--significance randomization" in choose(data(), ["chrf"]).command
    alone = choose(data(systems=("fair",)), ["chrf"])
    assert "--significance" not in alone.command
    assert "whole systems" not in said(alone)


def test_a_task_that_is_not_known_is_taken_for_translation_and_told():
    found = choose(data(4, group="poems"), ["chrf", "bleu"])
    assert any("'poems' is no task that is known" in note for note in found.notes)


def test_ratings_put_a_metric_that_is_ahead_in_the_place_of_the_first():
    """People here want few letters: a metric of the user's that counts them, turned, agrees always."""
    found = choose(rated_as(lambda i, s: -len(s.hypothesis)), ["chrf", "bleu", Shortness()], judgements="r.tsv")
    assert found.metrics[0] == "shortness"
    better = "of 3 metrics that can score these texts it agrees better with your ratings than chrf"
    assert better in found.sentences[0]
    assert "With your ratings of x shortness has kendall_b 1.00" in said(found)
    assert "nlgauge meta DATA --judgements r.tsv -m chrf -m shortness" in said(found)
    assert "by agreement with ratings of x" in found.methods
    assert "public sets nearest" not in said(found)
    rows = {r["metric"]: r for r in found.rows if r.get("criterion") == "people"}
    assert rows["shortness"]["value"] == 1.0
    assert rows["shortness"]["p"] < 0.05
    assert rows["chrf"]["p"] is None


def test_ratings_say_what_meta_says():
    place = {"good": 3.0, "fair": 2.0, "poor": 1.0}
    rated = rated_as(lambda i, s: place[s.system])
    found = choose(rated, ["chrf", "bleu"])
    meta = ng.meta_evaluate(rated, ["chrf", "bleu"], "x", "item", "kendall_b", baseline="chrf", seed=0)
    rows = {r["metric"]: r for r in found.rows if r.get("criterion") == "people"}
    for name in ("chrf", "bleu"):
        assert rows[name]["value"] == meta.value(name)
        assert rows[name]["low"] == meta.row(name)["low"]
    assert found.metrics[0] == "chrf"  # and none is ahead of it
    assert "with your ratings none is ahead of it" in found.sentences[0]


def test_ratings_with_which_no_metric_agrees_decide_nothing():
    """People's ratings here go up and down with nothing that is in the texts; of few ratings likewise."""
    for n in (24, 3):
        found = choose(rated_as(lambda i, s: i * 7 % 5, n), ["chrf", "bleu"])
        assert found.metrics[0] == "chrf"
        assert "agrees better with your ratings" not in said(found)


def test_ratings_that_meta_refuses_are_noted():
    found = choose(rated_as(lambda i, s: float(i), 1), ["chrf", "bleu"])
    assert found.metrics[0] == "chrf"
    same = choose(rated_as(lambda i, s: 1.0), ["chrf", "bleu"])
    assert same.metrics[0] == "chrf"
    assert "agrees better with your ratings" not in said(same)


def test_wrong_facts_are_looked_for_beside_the_first():
    found = choose(data(), ["chrf", "nli-robust"])
    assert found.metrics == ("chrf", "nli-robust")
    assert "nli-robust looks for wrong facts in near-copies of references" in said(found)
    assert "and nli-robust for wrong facts" in found.methods
    assert found.command.startswith("nlgauge score DATA -m chrf -m nli-robust")


def test_what_is_not_seen_is_asked_of_an_audit_which_makes_errors_in_english():
    assert "nlgauge audit DATA --task mt -m chrf" in said(choose(data(), ["chrf"]))
    german = Dataset(tuple(Segment(str(i), "Es regnet im Norden.", ("Im Norden regnet es.",)) for i in range(4)))
    assert "nlgauge audit" not in said(choose(german, ["chrf"]))


def test_a_default_stays_where_no_public_set_is_of_the_task(monkeypatch):
    monkeypatch.setattr("nlgauge.choosing.choose.DEFAULTS", {"qg": "bleu"})
    found = choose(data(), ["chrf", "bleu"], task="qg")
    assert found.metrics == ("bleu",)
    assert found.sentences[0].startswith(
        "Keep the default for questions, bleu: of 2 metrics that can score these texts"
    )
    assert "no public set with ratings is of questions" in said(found)
    assert "cannot be told apart" not in said(found)  # nothing is known of any


def test_large_models_in_the_cache_are_told(monkeypatch):
    monkeypatch.setattr(repository, "held", lambda: [repository.Held("Unbabel/wmt22-comet-da", (), 0, "")])
    rows = tuple(Segment(s.id, s.hypothesis, s.references, "Es regnet.", s.system, s.item) for s in data())
    told = said(choose(Dataset(rows), ["chrf"], task="mt"))
    assert "comet is in the cache: name it with -m; nlgauge fetch google/metricx-24-hybrid-large-v2p6 brings" in told


def test_the_best_that_is_published_stands_before_what_runs_without_a_network(monkeypatch):
    """Where nobody named metrics: captions, whose best is on the hub; of text from data none is known."""
    monkeypatch.setattr(repository, "held", list)
    first, second, *_ = choose(data(4), None, task="ic").sentences
    assert first.startswith("The best that is published for captions, by models of the hub, is paper/bertscore:")
    assert first.endswith("nlgauge fetch roberta-large brings what it takes (1.4 GB).")
    assert second.startswith("Without a network keep the default for captions, bertscore: of ")
    assert "The best that" not in said(choose(data(4), None, task="d2t"))


def test_the_command_and_the_paragraph_can_be_pasted(plain):
    assert plain.command.startswith("nlgauge score 'my file.jsonl' -m ")
    assert "(signature metric:" in plain.methods
    assert "paired approximate randomisation" in plain.methods
    assert "36 outputs of 3 systems for 12 items" in plain.methods


def test_where_people_tell_no_metric_from_it_the_default_of_summaries_stays():
    found = choose(data(4), ["chrf", "rouge1", "bertscore:value=recall"], task="as")
    assert found.metrics[0] == "bertscore:value=recall"
    assert "-m bertscore:value=recall" in found.command


# --- What is known of texts like these: by task, language, references and encoder


def known_of(monkeypatch, **figures):
    """One public set of translations into English, near to the texts of these tests."""
    figures_of = {name: Figure(name, own[0], (own[2] - own[1]) / 3.92, 99) for name, own in figures.items()}
    table = {PublicSet("far", "mt", "en", 10.0, 50.0): figures_of}
    for module in ("public", "choose"):
        monkeypatch.setattr(f"nlgauge.choosing.{module}.public_sets", lambda: table)


def test_what_public_sets_say_is_told_with_their_names(monkeypatch):
    known_of(monkeypatch, chrf=(0.62, 0.60, 0.64), bleu=(0.55, 0.53, 0.57))
    told = "On the public sets nearest to your texts (far) chrf orders two outputs as people do in 0.62"
    found = choose(data(), ["chrf", "bleu"])
    assert told in said(found)
    assert "which may be chance" not in said(found)
    assert found.sentences[0].endswith("it stands highest, beyond chance.")
    known_of(monkeypatch, chrf=(0.62, 0.45, 0.79), bleu=(0.55, 0.40, 0.70))
    assert "of the pairs, which may be chance; that is other" in said(choose(data(), ["chrf", "bleu"]))


def test_a_metric_without_a_public_figure_is_not_said_to_be_beyond_chance(monkeypatch):
    known_of(monkeypatch, ter=(0.55, 0.53, 0.57))
    found = choose(data(), ["chrf", "bleu"])
    assert "No public figure tells how chrf agrees with people on such texts" in said(found)
    assert "beyond chance" not in found.sentences[0]
    known_of(monkeypatch, chrf=(0.62, 0.60, 0.64))
    found = choose(data(), ["chrf", "bleu"])  # of bleu nothing is known, and it counts as the lowest
    assert "beyond chance" not in found.sentences[0]


FRENCH = [
    "Le train de Lyon est arrivé avec deux heures de retard.",
    "Il a plu toute la nuit dans le nord du pays.",
    "Les enfants jouent dans la cour de l'école.",
    "Nous avons vu un film très long hier soir.",
]


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        (FRENCH, "French"),
        (["मेरा भाई रोज सुबह बाजार जाता है", "आज शहर में बहुत तेज बारिश हुई", "वह किताब मेज पर रखी हुई थी"], "Hindi"),
        (
            ["昨日の夜は雨がたくさん降りました", "子供たちは公園で遊んでいます", "その本は机の上にありました"],
            "Japanese",
        ),
    ],
)
def test_of_a_language_without_public_sets_no_figure_is_shown(texts, language):
    """What metrics are worth in English says nothing of them there."""
    rows = [
        Segment(f"{name}{i}", text[cut:], (text,), None, name, str(i), "mt")
        for i, text in enumerate(texts * 3)
        for name, cut in (("a", 2), ("b", 5 + i % 3))
    ]
    found = choose(Dataset(tuple(rows)), ["cer", "chrf"], task="mt")
    assert found.metrics[0] == "chrf"  # cer is level with it or behind by errors
    assert ("Keep the default for" in found.sentences[0]) == (f"default for {language}, chrf" in found.sentences[0])
    assert f"no public set with ratings is of translations in {language}" in said(found)
    assert "beyond chance" not in found.sentences[0]
    assert not [row for row in found.rows if row.get("criterion") == "public"]


def test_without_references_the_lack_is_told_and_not_of_the_task():
    found = choose(data(12, references=False), [ReferenceFree(), Fixed(how="length")], task="mt")
    assert "no public set with ratings is of translations in English without references" in said(found)


# --- Standings by public figures, worked by hand


def figures(**values):
    return {name: Figure(name, value, 0.01, 9) for name, value in values.items()}


def test_what_is_lacking_counts_as_the_lowest_of_the_others():
    found = standings(figures(a=0.6, b=0.8), ["a", "b", "c"])
    assert [(one.metric, one.value, one.lacking) for one in found] == [
        ("b", 0.8, False),
        ("a", 0.6, False),
        ("c", 0.6, True),
    ]
    # the figures of metrics that are ruled out count for nothing
    assert [one.value for one in standings(figures(a=0.6, b=0.8, c=0.1), ["a", "d"])] == [0.6, 0.6]


def test_without_figures_metrics_stand_as_named_and_none_is_ahead():
    found = standings({}, ["b", "a"])
    assert [one.metric for one in found] == ["b", "a"]
    assert all(math.isnan(one.value) and one.lacking for one in found)
    assert not found[0].is_ahead(found[1])


def test_an_interval_stays_in_range():
    ends = Figure("a", 0.99, 0.02, 9).ends
    assert (ends["low"], ends["high"]) == (pytest.approx(0.9508, abs=1e-4), 1.0)  # 1.96 errors
