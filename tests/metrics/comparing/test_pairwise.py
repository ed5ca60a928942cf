"""Systems against each other: by hand where differences are constant, and as against each baseline in turn."""

from __future__ import annotations

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.metrics.comparing.pairwise import compare_pairs
from nlgauge.metrics.comparing.table import compare_scores, resampling_notes

TOY = Signature("toy", (("metric", "toy"),))


def grid(**values):
    """Scores of several systems on the same items, one list per system."""
    keys = [(system, str(i)) for system, column in values.items() for i in range(len(column))]
    numbers = [value for column in values.values() for value in column]
    systems, items = zip(*keys, strict=True)
    return Scores(TOY, tuple(map(":".join, keys)), np.array(numbers), systems=systems, items=items)


def paired(scores, test="bootstrap", **options):
    """By the bootstrap, whose p-values of constant differences are told by hand."""
    return compare_pairs(scores, scores.systems, scores.items, test=test, **options)


APART = grid(low=[1.0, 2.0, 3.0, 4.0], high=[5.0, 6.0, 7.0, 8.0], same=[1.0, 2.0, 3.0, 4.0])


def test_constant_differences_by_hand():
    # every resample shows the same difference: no draw is as far from it as 0 is, p = 1 / (1000 + 1);
    # 'low' and 'same' are equal in every draw: p = 1. Holm: the two smallest of three times 3 and times 2, not falling
    found = paired(APART)
    assert found.systems == ("high", "low", "same")
    assert found.values.tolist() == [6.5, 2.5, 2.5]
    assert found.p[0].tolist() == pytest.approx([np.nan, 1 / 1001, 1 / 1001], nan_ok=True)
    assert found.p[1, 2] == found.p_adjusted[1, 2] == 1
    assert found.p_adjusted[0, 1:].tolist() == pytest.approx([3 / 1001, 3 / 1001])
    assert found.ranks == (1, 2, 2)
    assert (found.deltas[0, 1], found.deltas[1, 0], found.deltas[1, 2]) == (4, -4, 0)
    assert (found.delta_low[0, 1], found.delta_high[1, 0]) == (4, -4)


def test_randomisation_is_the_default_since_its_level_holds_for_few_items():
    # four differences of 4: all four signs are equal in 2 of 16 draws, so that p is near 1/8 and never significant,
    # where the bootstrap says 1 / 1001
    found = compare_pairs(APART, APART.systems, APART.items, adjust="none")
    assert found.test == "paired_randomisation"
    assert found.p[0, 1] == pytest.approx(1 / 8, abs=0.02)  # 10,000 draws: standard error 0.0033
    assert ng.compare({"a": ["x y", "z"], "b": ["x", "z"]}, ["x y", "z"], metrics="chrf").pairwise["chrf"].test == (
        "paired_randomisation"
    )


def test_where_lower_is_better_the_lowest_comes_first_and_differences_keep_their_direction():
    scores = Scores(TOY, APART.ids, APART.values, higher_is_better=False, systems=APART.systems, items=APART.items)
    found = paired(scores)
    assert found.systems == ("low", "same", "high")
    assert found.ranks == (1, 1, 2)
    assert found.deltas[0, 2] == -4


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_pair_has_the_p_that_either_system_has_as_the_baseline(test):
    rng = np.random.default_rng(0)
    scores = grid(**{name: rng.normal(shift, 1, 12) for name, shift in (("a", 0.0), ("b", 0.3), ("c", 0.8))})
    found = paired(scores, test=test, draws=200, adjust="none")
    for base in "abc":
        for row in compare_scores(scores, scores.systems, scores.items, baseline=base, test=test, draws=200)[1:]:
            i, j = found.systems.index(row.system), found.systems.index(base)
            assert found.p[i, j] == pytest.approx(row.p, abs=1 / 200)  # sums in another order may move one draw
            assert found.deltas[i, j] == pytest.approx(row.delta)
            assert found.delta_low[i, j] == pytest.approx(row.delta_low)


def test_a_baseline_without_a_name_is_a_system_or_refused():
    found = paired(grid(**{"a": [1.0, 2.0, 3.0], "": [2.0, 3.0, 5.0]}), baseline="")
    assert found.baseline == ""
    assert found.ranks == (None, None)
    with pytest.raises(InputError, match=r"^baseline '' is not among the systems"):
        paired(APART, baseline="")  # it was a ValueError


def test_against_a_baseline_only_its_pairs_are_tested():
    found = paired(APART, baseline="low")
    low = found.systems.index("low")
    assert not np.isnan(np.delete(found.p[low], low)).any()
    assert np.isnan(np.delete(np.delete(found.p, low, 0), low, 1)).all()
    assert found.ranks == (None, None, None)
    rows = {row["system"]: row for row in found.rows("toy")}
    assert rows["high"]["p_adjusted"] == pytest.approx(2 / 1001)  # two pairs, the smaller p times 2
    assert "p" not in rows["low"]


def test_many_pairs_get_enough_draws_and_few_draws_are_told():
    many = grid(**{name: [1.0, 2.0] for name in "abcdefg"})  # 21 pairs: 10 * 21 / 0.05 draws
    assert paired(many).draws == 4200
    assert paired(many, adjust="none").draws == 1000
    notes = list(paired(many, draws=100).notes())
    assert "with 100 draws no p of 21 pairs can fall below 0.05; take more draws" in notes
    assert "p: paired bootstrap of every pair, two-sided, 100 draws, seed 0; 21 pairs, adjusted after Holm" in notes
    assert any(note.startswith("intervals from 2 items are too narrow") for note in notes)


@pytest.mark.parametrize(
    ("n", "told"),
    [
        (3, "are too narrow: with 5, a 95 % interval holds the mean 82 % of the time, 70 % if"),
        (49, "are too narrow: with 20, a 95 % interval holds the mean 92 % of the time, 86 % if"),
        (60, "are too narrow: with 50, a 95 % interval holds the mean 94 % of the time, 89 % if"),
        (150, "if scores are skewed"),
        (200, None),
    ],
)
def test_few_items_are_told_where_simulated_intervals_cover_too_rarely(n, told):
    notes = [note for note in resampling_notes(n, None, 0) if note.startswith("intervals from")]
    assert len(notes) == (told is not None)
    assert all(told in note for note in notes)


def test_an_undefined_system_comes_last_and_has_no_rank():
    found = paired(grid(a=[np.nan, np.nan], b=[1.0, 1.0], c=[2.0, 2.0]))
    assert (found.systems, found.ranks, found.n_undefined) == (("c", "b", "a"), (1, 2, None), (0, 0, 2))


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
