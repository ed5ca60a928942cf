"""Twelve situations with a known answer: the recommendation and its sentences are right in each."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.choosing.made import FailsLate, Fixed, OnlyEnglish, ReferenceFree, Shortness, data, texts

import nlgauge as ng
from nlgauge.choosing.trials import PublicSet
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.stats.draws import Share


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


def test_metrics_of_no_use_are_left_out_and_the_rest_goes_on(plain):
    """36 outputs, of which two are tried first: `fails-late` fails on more."""
    hows = ("constant", "nan", "fails", "cut")
    describing, others = "readability", [Fixed(how=how) for how in hows if how != "fails"]
    found = choose(data(), [Fixed(how="fails"), "chrf", FailsLate(), "bleu", describing, *others])
    assert out(found) == {
        "readability": "it describes outputs, and judges none",
        "fixed": "it gives all 36 outputs the same score",
        "fixed:how=nan": "36 of 36 outputs have no score",
        "fixed:how=fails": "it failed: ZeroDivisionError: division by zero",
        "fixed:how=cut": "36 of 36 outputs are read in part, since they are longer than its model reads",
        "fails-late": "it failed: MemoryError: too many texts",
    }
    assert all(f"is left out: {why}" in said(found) for why in out(found).values())
    ranked = [row["metric"] for row in found.rows if row.get("criterion") == "standing" and row["out"] is None]
    assert {*ranked} == {"chrf", "bleu"}
    assert found.metrics == plain.metrics  # what failed leaves no trace in the others


def test_of_two_that_are_the_same_one_is_enough():
    found = choose(data(), ["chrf", "chrf:whitespace=true", "bleu"])
    assert found.metrics[0].startswith("chrf")
    assert "chrf and chrf:whitespace=true order these texts alike" in said(found)
    assert "chrf:whitespace=true" not in found.metrics[1:]  # the second says something new, or there is none
    (row,) = [row for row in found.rows if row.get("alike")]
    assert (row["metric"], row["alike"]) == ("chrf:whitespace=true", "chrf")
    assert row["rho"] > 0.95


def test_outputs_that_are_copies_are_told_and_errors_go_into_references():
    refs, _ = texts(12)
    copies = Dataset(tuple(Segment(str(i), ref, (ref,), None, "a", str(i), "cs-en") for i, ref in enumerate(refs)))
    found = choose(copies, ["chrf", "bleu"])
    assert "Every output is a copy of a reference" in said(found)
    assert "Errors put into your references" in said(found)
    assert found.metrics[0] in ("chrf", "bleu")


def test_one_system_is_told_and_nothing_is_said_of_telling_apart():
    found = choose(data(systems=("fair",)), ["chrf", "bleu"])
    assert "There is one system" in said(found)
    assert "--significance" not in found.command
    assert not [row for row in found.rows if row.get("criterion") == "apart"]


def test_forty_items_are_few_and_the_smallest_difference_is_told():
    found = choose(data(40), ["chrf", "bleu"])
    assert "Few items: with 40 items a difference of" in said(found)
    (row,) = [row for row in found.rows if row.get("criterion") == "apart" and row["metric"] == "chrf"]
    assert 0 < row["detectable"] < row["widest"]  # the poor system is far off
    assert row["value"] > 0.9
    assert "--significance randomization" in found.command


def test_without_references_only_metrics_that_need_none_are_tried():
    found = choose(data(12, references=False), ["chrf", ReferenceFree()])
    assert found.metrics == ("reference-free",)
    assert "There are no references" in said(found)
    assert out(found) == {"chrf": "chrf needs references; segment 'good-0' has none"}


def test_references_alone_are_enough_for_errors():
    refs, _ = texts(12)
    alone = Dataset(
        tuple(
            Segment(str(i), "", (ref, ref.replace("people waited", "persons had to wait")), None, None, str(i), "cs-en")
            for i, ref in enumerate(refs)
        )
    )
    found = choose(alone, ["chrf", "bleu"])
    assert "There are no outputs, so errors were put into references" in said(found)
    assert found.metrics[0] in ("chrf", "bleu")


def test_a_task_without_a_checklist_takes_that_of_translation_and_says_so():
    found = choose(data(4, group="poems"), ["chrf", "bleu"])
    assert "there is no checklist of 'poems'" in found.notes[0]
    assert found.metrics[0] in ("chrf", "bleu")


def test_ratings_at_hand_decide():
    """People here want few letters: a metric of the user's that counts them, turned, agrees always."""
    rated = [
        Segment(s.id, s.hypothesis, s.references, None, s.system, s.item, s.group, {"brevity": -len(s.hypothesis)})
        for s in data(24)
    ]
    found = choose(Dataset(tuple(rated)), ["chrf", "bleu", Shortness()])
    assert found.metrics[0] == "shortness"
    assert "of 3 metrics that can score these texts it agrees best with your ratings" in said(found)
    assert "shortness orders two outputs for one input as your ratings of brevity do in 1.00" in said(found)
    assert "ratings of brevity" in found.methods
    assert "public" not in said(found)  # nothing is left open, so that nothing else counts
    (row,) = [r for r in found.rows if r.get("criterion") == "people" and r["metric"] == "shortness"]
    assert (row["value"], row["weight"]) == (1.0, 1.0)
    assert {row["weight"] for row in found.rows if row.get("criterion") in ("public", "copies", "apart")} == {0.0}


def test_ratings_that_tell_no_metric_apart_leave_all_of_them_open():
    """People rate the good, the fair and the poor output of each item so, and both metrics have them in this order."""
    place = {"good": 3.0, "fair": 2.0, "poor": 1.0}
    found = choose(rated_as(lambda i, s: place[s.system]), ["chrf", "bleu"])
    assert "your ratings cannot tell the 2 metrics that can score these texts apart" in found.sentences[0]
    assert any(one.startswith("On the public sets nearest to your texts") for one in found.sentences)


def test_ratings_with_which_no_metric_agrees_beyond_chance_decide_nothing():
    """People's ratings here go up and down with nothing that is in the texts."""
    found = choose(rated_as(lambda i, s: i * 7 % 5), ["chrf", "bleu"])
    assert "no metric is above chance with your ratings of x" in found.sentences[0]
    assert "agrees best" not in said(found)
    people = [row for row in found.rows if row.get("criterion") == "people"]
    assert [row["weight"] for row in people] == [0.0, 0.0]
    best = max(people, key=lambda row: row["value"])
    told = f"The best there, {best['metric']}, orders two outputs for one input as your ratings of x do in"
    assert f"{told} {best['value']:.2f} ({best['low']:.2f} to {best['high']:.2f}) of the pairs" in said(found)
    assert "too few to decide" not in said(found)


def test_few_ratings_do_not_decide():
    few = [
        Segment(s.id, s.hypothesis, s.references, None, s.system, s.item, s.group, {"x": i} if i < 4 else {})
        for i, s in enumerate(data(24))
    ]
    found = choose(Dataset(tuple(few)), ["chrf", "bleu"])
    assert "Your ratings of x hold 6 pairs of outputs, too few to decide" in said(found)
    assert [row["weight"] for row in found.rows if row.get("criterion") == "people"] == [0.0, 0.0]


def test_a_metric_of_the_users_own_has_no_public_figure_and_counts_as_the_lowest():
    found = choose(data(), ["bleu", "chrf", Fixed(how="length")])
    assert found.metrics[0] == "chrf"
    (row,) = [r for r in found.rows if r.get("criterion") == "standing" and r["metric"] == "fixed:how=length"]
    assert "public" in row["lacking"]


def test_scores_from_a_file_know_outputs_alone_and_stay(tmp_path):
    outputs = data(12)
    lines = [f"{s.id}\t{len(s.hypothesis) % 17}" for s in outputs]
    (tmp_path / "theirs.tsv").write_text("\n".join(["id\ttheirs", *lines]) + "\n", encoding="utf-8")
    spec = f'scores:file="{tmp_path / "theirs.tsv"}",column=theirs'
    found = choose(outputs, ["chrf", spec])
    assert out(found) == {}
    known = {row["criterion"] for row in found.rows if row.get("metric") == spec and "weight" in row}
    assert known == {"apart"}


def test_one_item_has_no_intervals_and_is_told():
    found = choose(data(1), ["chrf", "bleu"])
    assert "beyond chance" not in found.sentences[0]
    assert "alike" not in said(found)  # three outputs are ordered alike by chance
    assert "There is one item" in said(found)
    assert "cannot be compared" in said(found)


@pytest.mark.parametrize(
    ("dataset", "metrics", "options", "line"),
    [
        (Dataset(()), ["chrf"], {}, "no outputs to choose a metric for"),
        (data(4, references=False), ["chrf"], {}, "no metric can score these texts: chrf: chrf needs references"),
        (data(4), ["chrf"], {"criterion": "taste"}, "no output has a rating 'taste'; nothing is rated"),
        (data(4), ["chrf"], {"care": "beauty"}, "care is 'beauty'"),
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


def test_care_moves_the_weights():
    found = choose(data(12), ["chrf", "bleu"], care="fluency")
    weights = {row["criterion"]: row["weight"] for row in found.rows if "weight" in row}
    assert weights["errors.fluency"] == pytest.approx(0.7 * 8)
    assert sum(w for name, w in weights.items() if name.startswith("errors.")) == pytest.approx(8)


def test_the_command_and_the_paragraph_can_be_pasted(plain):
    assert plain.command.startswith("nlgauge score 'my file.jsonl' -m ")
    assert "(signature metric:" in plain.methods
    assert "paired approximate randomisation" in plain.methods
    assert "36 outputs of 3 systems for 12 items" in plain.methods


def test_where_people_tell_no_metric_from_it_the_default_of_summaries_stays():
    found = choose(data(4), ["chrf", "rouge1", "bertscore:value=recall"], task="as")
    assert found.metrics[0] == "bertscore:value=recall"
    assert "-m bertscore:value=recall" in found.command


def test_errors_alone_do_not_oust_a_default(monkeypatch):
    how = {"task": "qg", "seed": 0}  # no public set is of questions
    assert choose(data(12), [Fixed(how="length"), "chrf"], **how).metrics[0] == "chrf"
    monkeypatch.setattr("nlgauge.choosing.rule.DEFAULTS", {"qg": "fixed:how=length"})
    found = choose(data(12), [Fixed(how="length"), "chrf"], **how)
    assert found.metrics[0] == "fixed:how=length"
    assert found.sentences[0].startswith("Keep the default for qg, fixed:how=length")
    assert "of 2 metrics that can score these texts none is shown to agree better with people." in found.sentences[0]
    assert " chosen among 2 as the default for qg, since none is shown to agree better with people" in found.methods
    assert choose(data(12), [Fixed(how="length"), "chrf"], care="meaning", **how).metrics[0] == "chrf"


def test_the_paragraph_says_how_many_outputs_were_looked_at():
    found = choose(data(40), ["chrf", "bleu"], limit=90)
    assert "on 120 outputs of 3 systems" in found.methods
    assert "was chosen among 2" in found.methods
    assert ", on 90 of these outputs (nlgauge" in found.methods


# --- What is known of texts like these: by task, language, references and encoder


def known_of(monkeypatch, **figures):
    """One public set of translations into English, near to the texts of these tests."""
    table = {PublicSet("far", "mt", "en", 10.0, 50.0): {name: Share(*own, 99) for name, own in figures.items()}}
    for module in ("trials", "rule"):
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
    assert "No public figure tells how chrf agrees with people on texts like yours" in said(found)
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
