import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError

HYPS = {"good": ["the cat sat", "it rains now", "a dog ran"], "bad": ["mice", "sun", "birds"]}
REFS = ["the cat sat", "it rains now", "a dog ran"]


def test_texts_are_scored_and_compared():
    found = ng.compare(HYPS, REFS, metrics=["chrf", "ter"], test="bootstrap")
    assert found.ranks("chrf") == found.ranks("ter") == {"good": 1, "bad": 2}
    assert found.p("ter", "bad", "good") == pytest.approx(1 / 1001)
    assert found.scores["chrf"].by_system()["good"] == 100
    values = [(row["system"], row["metric"]) for row in found.rows if "against" not in row]
    assert values == [("good", "chrf"), ("bad", "chrf"), ("good", "ter"), ("bad", "ter")]
    (pair,) = [row for row in found.rows if row.get("against") and row["metric"] == "chrf"]
    assert (pair["system"], pair["against"], pair["test"], pair["seed"]) == ("good", "bad", "paired_bootstrap", 0)
    assert [metric["higher_is_better"] for metric in found.result().metrics] == [True, False]
    assert found.result().settings == {
        "test": "bootstrap",
        "draws": 1000,
        "seed": 0,
        "adjust": "holm",
        "confidence": 0.95,
    }
    assert repr(found) == "SystemComparison(6 rows)"


def test_texts_that_were_not_scored_as_they_stand_are_counted():
    with pytest.warns(ng.ScoreWarning, match="an empty side"):
        found = ng.compare({**HYPS, "bad": ["", "sun", "birds"]}, REFS, metrics="chrf")
    assert found.result().metrics[0]["flags"] == {"empty": 1}
    assert found.notes[0] == "chrf: 1 of 6 segments (bad:1) have an empty side; they get the worst value"


def test_the_comparison_is_written_in_every_form(tmp_path):
    found = ng.compare(HYPS, REFS, metrics=["chrf", "ter"])
    for name in ("r.json", "r.html", "r.md", "r.tex", "r.txt", "r.tsv", "r.csv"):
        found.write(tmp_path / name)
    text = (tmp_path / "r.txt").read_text(encoding="utf-8")
    assert "100.00" in text
    assert "p of chrf" in text
    assert "p of chrf" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "p of chrf" in found._repr_html_()


def test_print_shows_the_table_of_the_command_without_its_options():
    shown = str(ng.compare(HYPS, REFS, metrics=["chrf", "ter"]))
    assert shown.splitlines()[0].split() == ["system", "chrf", "ter", "↓", "n"]
    assert {line.split()[0] for line in shown.splitlines()[2 : 2 + len(HYPS)]} == set(HYPS)
    assert "p of chrf" not in shown
    assert "-v" not in shown


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": ["x", "y"]}, {}, "^'a' is the only system; a comparison needs at least two$"),
        ({"a": [], "b": []}, {}, "^no systems: there are no segments"),
        (["x", "y"], {}, "^segment '1' names no system; systems are compared item by item"),
        (HYPS, {"baseline": "goot"}, "^baseline 'goot' is not among the systems; did you mean 'good'"),
        (HYPS, {"adjust": "bonferroni"}, "^adjust is 'bonferroni'"),
        (HYPS, {"test": "t"}, "^test is 't', expected bootstrap or randomization"),
        (HYPS, {"alpha": 5}, "^alpha is 5, expected above 0 and below 1 \\(a share\\)$"),
    ],
)
def test_what_cannot_be_compared_is_refused(systems, options, message):
    refs = REFS if systems is HYPS else REFS[: 0 if "no systems" in message else 2]
    with pytest.raises(InputError, match=message):
        ng.compare(systems, refs, metrics="chrf", **options)


def test_what_judges_nothing_ranks_none():
    found = ng.compare({"a": ["x y", "z z"], "b": ["x y z w", "z"]}, ["x y", "z z"], metrics=["chrf", "length_ratio"])
    assert found.ranks("length_ratio") == {"b": None, "a": None}
    assert set(found.ranks("chrf").values()) == {1}
