import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.scoring.systems import (
    aligned,
    by_system,
    compare_pairs,
    compare_scores,
    intervals,
    n_raters,
    resampling_notes,
)
from nlgauge.stats.ratings import RatedItems, rated_interval


def places(found):
    return {name: where.tolist() for name, where in found.items()}


def test_places_of_each_system_in_order_of_first_appearance():
    assert places(by_system("abcd", ["B", None, "B", "A"])) == {"B": [0, 2], None: [1], "A": [3]}
    assert list(by_system("abcd", ["B", None, "B", "A"])) == ["B", None, "A"]
    assert by_system("", []) == {}


def test_systems_are_laid_beside_the_baselines_items():
    #          B answers 2 then 1, A answers 1 then 2: A's order counts
    found = aligned("wxyz", ["B", "B", "A", "A"], ["2", "1", "1", "2"], "A")
    assert places(found) == {"A": [2, 3], "B": [1, 0]}
    assert list(found) == ["A", "B"]


@given(st.integers(2, 4), st.integers(1, 5), st.randoms(use_true_random=False))
def test_column_by_column_all_answer_one_item(n_systems, n_items, random):
    cells = [(f"sys{s}", f"item{i}") for s in range(n_systems) for i in range(n_items)]
    random.shuffle(cells)
    systems, items = zip(*cells, strict=True)
    found = aligned([f"id{k}" for k in range(len(cells))], systems, items, "sys1")
    assert next(iter(found)) == "sys1"
    assert sorted(k for where in found.values() for k in where.tolist()) == list(range(len(cells)))
    for name, where in found.items():
        assert [systems[k] for k in where] == [name] * n_items
        assert [items[k] for k in where] == [items[k] for k in found["sys1"]]


@pytest.mark.parametrize(
    ("systems", "items", "baseline", "message"),
    [
        (["A", None], ["1", "1"], "A", r"^segment 'y' names no system; systems are compared item by item"),
        (["A", "B"], ["1", None], "A", r"^segment 'y' names no item; .* item by item, .*--columns seg=NAME"),
        (
            ["A", "A", "B"],
            ["1", "1", "1"],
            "A",
            r"^system 'A' has item '1' twice \(segments 'x' and 'y'\), expected once; are several groups",
        ),
        (["A", "B"], ["1", "1"], "a", r"^baseline 'a' is not among the systems; did you mean 'A'\?$"),
        ([], [], "A", r"^no systems: there are no segments; a comparison needs at least two systems with texts$"),
        (["A", "A"], ["1", "2"], "A", r"^'A' is the only system; a comparison needs at least two$"),
        (
            ["A", "A", "A", "B"],
            ["1", "2", "3", "1"],
            "A",
            r"^system 'B' lacks item '2' and 1 more, which 'A' has; compare systems on the same",
        ),
        (
            ["A", "B", "B"],
            ["1", "1", "2"],
            "A",
            r"^system 'A' lacks item '2', which 'B' has; compare systems on the same items \(",
        ),
        (["A", "B"], ["1"], "A", r"^2 segments but 1 items; give one item per segment$"),
    ],
)
def test_what_makes_no_grid_is_refused_by_name(systems, items, baseline, message):
    with pytest.raises(InputError, match=message):
        aligned("xyzw"[: len(systems)], systems, items, baseline)


def test_as_many_systems_as_segments():
    with pytest.raises(InputError, match=r"^3 segments but 2 systems; give one system per segment$"):
        by_system("abc", ["A", "B"])


SIGNATURE = Signature("made-up", (("metric", "made-up"),))
WORDS = (
    "the",
    "a",
    "cat",
    "dog",
    "bird",
    "sat",
    "ran",
    "flew",
    "on",
    "over",
    "under",
    "mat",
    "roof",
    "hill",
    "red",
    "blue",
    "old",
    "quick",
)


def scores_of(values):
    return Scores(SIGNATURE, tuple(f"s{i}" for i in range(len(values))), np.array(values, dtype=float))


def grid(n_systems, n, seed=0, shift=0.0):
    """Scores of `n_systems` systems over n items in a shuffled order, with their system and item names."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n) + rng.normal(size=(n_systems, n)) + shift * np.arange(n_systems)[:, None]
    order = rng.permutation(n_systems * n)
    systems = [f"system{i // n}" for i in order]
    items = [f"item{i % n}" for i in order]
    return scores_of(values.ravel()[order]), systems, items, values


@pytest.fixture(scope="module")
def texts():
    rng = random.Random(4)
    references = [[rng.choice(WORDS) for _ in range(rng.randrange(5, 14))] for _ in range(60)]

    def garbled(share):
        return [
            " ".join(rng.choice(WORDS) if rng.random() < share else word for word in reference)
            for reference in references
        ]

    systems = {"base": garbled(0.3), "close": garbled(0.32), "worse": garbled(0.5)}
    return {**systems, "copy": systems["base"]}, [" ".join(r) for r in references]


@pytest.mark.skipif(int(np.__version__.split(".")[0]) < 2, reason="NumPy 1 widens what sacrebleu computes in float32")
@pytest.mark.parametrize(("spec", "theirs"), [("bleu", "BLEU"), ("chrf", "CHRF"), ("chrf++", "CHRF"), ("ter", "TER")])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_compat_repeats_sacrebleu_from_text_to_p(monkeypatch, texts, spec, theirs, test):
    sacrebleu = pytest.importorskip("sacrebleu")
    significance = pytest.importorskip("sacrebleu.significance")
    monkeypatch.delenv("SACREBLEU_SEED", raising=False)
    hypotheses, references = texts
    peer = getattr(sacrebleu, theirs)(**({"word_order": 2} if spec == "chrf++" else {}))
    kind = {"bootstrap": "bs", "randomization": "ar"}[test]
    _, table = significance.PairedTest(
        list(hypotheses.items()), {"m": peer}, [references], test_type=kind, n_samples=120
    )()
    expected = next(rows for name, rows in table.items() if name != "System")
    dataset = ng.Dataset.from_texts(hypotheses, references)
    scores = ng.score(dataset, metrics=[spec])[spec]
    of_each = [s.system for s in dataset], [s.item for s in dataset]
    how = {"baseline": "base", "test": test, "draws": 120, "compat": "sacrebleu"}
    rows = compare_scores(scores, *of_each, **how)
    assert str(rows) == str(compare_scores(scores, *of_each, **how, seed=12345))  # str tells NaN from NaN
    assert [row["p"] for row in rows.values()] == [r.p_value for r in expected]  # None for the baseline in both
    # libm and NumPy may round a logarithm's last digit differently
    own = scores.by_system()
    np.testing.assert_allclose([own[name] for name in rows], [r.score for r in expected], rtol=1e-13)
    if kind == "bs":
        low, high = (np.array([row[end] for row in rows.values()]) for end in ("low", "high"))
        np.testing.assert_allclose((low + high) / 2, [r.mean for r in expected], rtol=1e-12)
        np.testing.assert_allclose((high - low) / 2, [r.ci for r in expected], rtol=1e-11)


@pytest.mark.parametrize("spec", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_default_finds_the_worse_system_and_not_the_copy(texts, spec, test):
    dataset = ng.Dataset.from_texts(*texts)
    scores = ng.score(dataset, metrics=[spec])[spec]
    rows = compare_scores(
        scores, [s.system for s in dataset], [s.item for s in dataset], baseline="base", test=test, draws=999
    )
    assert list(rows) == ["base", "close", "worse", "copy"]
    assert (rows["copy"]["p"], rows["copy"]["delta"]) == (1.0, 0.0)
    worse = rows["worse"]
    assert worse["p"] == 0.001  # half the words wrong against three in ten, over 60 items: no draw comes near
    assert (worse["delta"] > 0) == (spec == "ter")  # the metric's own direction
    assert worse["delta_low"] < worse["delta"] < worse["delta_high"]


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "randomisation"])
def test_rows_hold_what_was_observed(test):
    scores, systems, items, values = grid(3, 40)
    rows = compare_scores(scores, systems, items, baseline="system1", test=test, draws=200)
    assert list(rows) == ["system1", *dict.fromkeys(s for s in systems if s != "system1")]
    for name, row in rows.items():
        own = values[int(name[-1])]
        assert row["low"] < own.mean() < row["high"]
        assert row["baseline"] == "system1"
        if name == "system1":
            assert {row[key] for key in ("delta", "delta_low", "delta_high", "p")} == {None}
        else:
            assert row["delta"] == pytest.approx(own.mean() - values[1].mean())
            assert 0 < row["p"] <= 1


def test_pairs_are_made_by_item_and_not_by_place():
    # item by item the second system is exactly 0.1 better; by place the differences would be noise
    values = np.random.default_rng(0).normal(size=30) * 10
    scores = scores_of([*values, *(values[::-1] + 0.1)])
    items = [*map(str, range(30)), *map(str, range(29, -1, -1))]
    row = compare_scores(scores, ["a"] * 30 + ["b"] * 30, items, baseline="a", draws=500)["b"]
    assert row["p"] == pytest.approx(1 / 501)
    assert (row["delta_low"], row["delta_high"]) == (pytest.approx(0.1), pytest.approx(0.1))


def test_the_order_of_systems_is_theirs_and_changes_no_number():
    scores, systems, items, _ = grid(3, 20)
    rows = compare_scores(scores, systems, items, baseline="system0", draws=300)
    # the baseline's items set the order: keep its segments where they are and turn the others
    own = [i for i, s in enumerate(systems) if s == "system0"]
    index = own + [i for i in range(60) if i not in own][::-1]
    turned = compare_scores(
        scores.take(np.array(index)),
        [systems[i] for i in index],
        [items[i] for i in index],
        baseline="system0",
        draws=300,
    )
    assert list(turned) != list(rows)
    for name, row in turned.items():
        assert row["p"] == rows[name]["p"]
        assert row["low"] == pytest.approx(rows[name]["low"], rel=1e-12)  # a product may round its columns by place


def test_undefined_segments_are_left_out():
    values = [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, np.nan, 5.0]
    rows = compare_scores(scores_of(values), ["a"] * 4 + ["b"] * 4, list("wxyz") * 2, baseline="a", draws=100)
    assert rows["b"]["delta"] == pytest.approx(10 / 3 - 2.5)  # (2 + 3 + 5) / 3, and (1 + 2 + 3 + 4) / 4


def test_seeds():
    scores, systems, items, _ = grid(2, 15)

    def p(**options):
        return compare_scores(scores, systems, items, baseline="system0", draws=100, **options)["system1"]["p"]

    assert p() == p(seed=0)
    assert {p(seed=seed) for seed in range(6)} != {p()}


def test_default_draws_are_those_of_sacrebleu():
    scores, systems, items, _ = grid(2, 5)
    for how, draws in (({"test": "bootstrap"}, 1000), ({"test": "randomization"}, 10000), ({}, 10000)):
        found = compare_scores(scores, systems, items, baseline="system0", **how)
        assert found == compare_scores(scores, systems, items, baseline="system0", **how, draws=draws)


def test_what_else_is_refused():
    scores, systems, items, _ = grid(2, 5)
    with pytest.raises(InputError, match="did you mean 'bootstrap'"):
        compare_scores(scores, systems, items, baseline="system0", test="bootstap")
    with pytest.raises(InputError, match="knows corpus BLEU, chrF and TER, got made-up"):
        compare_scores(scores, systems, items, baseline="system0", compat="sacrebleu")
    with pytest.raises(InputError, match="compat is 'moses'"):
        compare_scores(scores, systems, items, baseline="system0", compat="moses")
    with pytest.raises(InputError, match="2 items or more, got 1"):
        compare_scores(scores_of([1, 2]), ["a", "b"], ["1", "1"], baseline="a")
    sentence = replace(scores, signature=Signature("bleu:average=sentence", (("metric", "bleu"),)))
    with pytest.raises(InputError, match="average=sentence"):
        compare_scores(sentence, systems, items, baseline="system0", compat="sacrebleu")


def test_intervals_of_systems_with_items_of_their_own():
    scores = scores_of([1.0, 2, 3, 4, 10, 20, 30, 40, 7])
    rows = intervals(scores, ["a"] * 4 + ["b"] * 4 + ["c"], draws=400)
    assert list(rows) == ["a", "b", "c"]
    assert rows["a"]["low"] < 2.5 < rows["a"]["high"]
    assert rows["b"]["low"] == pytest.approx(10 * rows["a"]["low"])  # the same draws, ten times the values
    assert np.isnan([*rows["c"].values()]).all()  # one segment says nothing of others
    assert intervals(scores.take(np.arange(4)), draws=400) == {None: rows["a"]}


def test_what_is_undefined_moves_no_end():
    assert intervals(scores_of([5.0, np.nan]), draws=1000) == {None: {"low": 5.0, "high": 5.0}}


# --- Systems against each other: by hand where differences are constant, and as against each baseline in turn

TOY = Signature("toy", (("metric", "toy"),))


def pairwise_grid(**values):
    """Scores of several systems on the same items, one list per system."""
    keys = [(system, str(i)) for system, column in values.items() for i in range(len(column))]
    numbers = [value for column in values.values() for value in column]
    systems, items = zip(*keys, strict=True)
    return Scores(TOY, tuple(map(":".join, keys)), np.array(numbers), systems=systems, items=items)


def paired(scores, test="bootstrap", **options):
    """By the bootstrap, whose p-values of constant differences are told by hand."""
    return compare_pairs(scores, scores.systems, scores.items, test=test, **options)


APART = pairwise_grid(low=[1.0, 2.0, 3.0, 4.0], high=[5.0, 6.0, 7.0, 8.0], same=[1.0, 2.0, 3.0, 4.0])


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
    scores = pairwise_grid(**{name: rng.normal(shift, 1, 12) for name, shift in (("a", 0.0), ("b", 0.3), ("c", 0.8))})
    found = paired(scores, test=test, draws=200, adjust="none")
    for base in "abc":
        rows = compare_scores(scores, scores.systems, scores.items, baseline=base, test=test, draws=200)
        for name in rows.keys() - {base}:
            i, j, row = found.systems.index(name), found.systems.index(base), rows[name]
            assert found.p[i, j] == pytest.approx(row["p"], abs=1 / 200)  # sums in another order may move one draw
            assert found.deltas[i, j] == pytest.approx(row["delta"])
            assert found.delta_low[i, j] == pytest.approx(row["delta_low"])


def test_a_baseline_without_a_name_is_a_system_or_refused():
    found = paired(pairwise_grid(**{"a": [1.0, 2.0, 3.0], "": [2.0, 3.0, 5.0]}), baseline="")
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
    many = pairwise_grid(**{name: [1.0, 2.0] for name in "abcdefg"})  # 21 pairs: 10 * 21 / 0.05 draws
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
    found = paired(pairwise_grid(a=[np.nan, np.nan], b=[1.0, 1.0], c=[2.0, 2.0]))
    assert (found.systems, found.ranks, found.n_undefined) == (("c", "b", "a"), (1, 2, None), (0, 0, 2))


# --- People's ratings: intervals over items and raters, and pairs on the items that both have ratings for


def rated(table, names="abcdef"):
    """Scores of systems from a table [system][item][rater], None where there is no rating."""
    cells = [(s, i, row) for s, rows in enumerate(table) for i, row in enumerate(rows)]
    ratings = [tuple((names and names[r], float(x)) for r, x in enumerate(row) if x is not None) for _, _, row in cells]
    return Scores(
        Signature("human.q", ()),
        tuple(f"{s}.{i}" for s, i, _ in cells),
        np.array([np.mean([x for _, x in own]) if own else np.nan for own in ratings]),
        systems=tuple(f"s{s}" for s, _, _ in cells),
        items=tuple(str(i) for _, i, _ in cells),
        ratings=tuple(ratings),
    )


def draw(n_items, n_raters, *effects, seed=0):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n_items, 1))
    return [(effect + items + rng.normal(size=(n_items, n_raters))).tolist() for effect in effects]


def test_intervals_of_ratings_are_over_items_and_raters_where_raters_are_named():
    table = draw(20, 3, 0.0, 1.0)
    named, nameless = rated(table), rated(table, names=None)
    ends = intervals(named, named.systems)
    for s, rows in enumerate(table):
        codes = np.repeat(np.arange(20), 3), np.tile(np.arange(3), 20)
        own = rated_interval(RatedItems(*codes, np.array(rows).ravel()))
        assert ends[f"s{s}"] == pytest.approx({"low": own.low, "high": own.high})
    assert intervals(nameless, nameless.systems) == intervals(replace(nameless, ratings=()), nameless.systems)
    found = compare_pairs(named, named.systems, named.items, draws=99)
    assert found.systems == ("s1", "s0")
    assert (found.low[1], found.high[1]) == pytest.approx(tuple(ends["s0"].values()))
    assert (found.delta_low[0, 1], found.delta_high[0, 1]) == (-found.delta_high[1, 0], -found.delta_low[1, 0])
    assert found.raters == (3, 3)
    beside = compare_scores(named, named.systems, named.items, baseline="s0", draws=99)["s1"]
    assert (beside["delta_low"], beside["delta_high"]) == (found.delta_low[0, 1], found.delta_high[0, 1])
    assert found.delta_low[0, 1] < found.deltas[0, 1] < found.delta_high[0, 1]


def test_one_rater_says_nothing_of_others_so_the_interval_is_over_items():
    one = rated(draw(20, 1, 0.0, 1.0))
    assert intervals(one, one.systems) == intervals(replace(one, ratings=()), one.systems)
    found = compare_pairs(one, one.systems, one.items, draws=99)
    assert "one rater for a system: [low, high] is over items alone, and says nothing of other raters" in found.notes()
    assert "[low, high]: 95 % percentile bootstrap over items, seed 0" in found.notes()


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_two_systems_are_compared_on_the_items_that_both_have_ratings_for(test):
    table = draw(12, 2, 0.0, 0.5, 1.0)
    table[0][3] = table[0][4] = table[1][5] = [None, None]
    whole = rated(table)
    found = compare_pairs(whole, whole.systems, whole.items, test=test, draws=499)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        kept = [i for i in range(12) if table[one][i][0] is not None and table[other][i][0] is not None]
        alone = rated([[table[s][i] for i in kept] for s in (one, other)])
        pair = compare_scores(alone, alone.systems, alone.items, baseline="s0", test=test, draws=499)["s1"]
        i, j = found.systems.index(f"s{other}"), found.systems.index(f"s{one}")
        assert found.deltas[i, j] == pytest.approx(pair["delta"])
        assert found.p[i, j] == pair["p"]  # the same coins, and ties count with a slack
        assert found.delta_low[i, j] == pytest.approx(pair["delta_low"])
        base = compare_scores(whole, whole.systems, whole.items, baseline=f"s{one}", test=test, draws=499)
        assert base[f"s{other}"]["p"] == pair["p"]
    # a number of a system is over all its own items
    assert found.values[found.systems.index("s1")] == pytest.approx(np.nanmean(whole.values[12:24]))
    assert any("two systems, the items that both have ratings for" in note for note in found.notes())


def test_gaps_in_ratings_without_names_give_intervals_over_items():
    table = draw(12, 2, 0.0, 0.5)
    table[0][3] = [None, None]
    scores = rated(table, names=None)
    found = compare_pairs(scores, scores.systems, scores.items, draws=99)
    ends = intervals(scores, scores.systems)
    assert {"low": found.low[1], "high": found.high[1]} == ends["s0"]
    assert found.raters == (0, 0)
    assert next(found.notes()).startswith("nobody says who rated: [low, high] of ratings is over items alone")


def test_a_pair_without_two_common_items_is_not_compared_and_none_at_all_is_refused():
    table = draw(6, 2, 0.0, 1.0, 3.0)
    for i in range(6):
        table[i % 2][i] = [None, None]  # s0 and s1 share no item
    scores = rated(table)
    found = compare_pairs(scores, scores.systems, scores.items, draws=99)
    i, j = found.systems.index("s0"), found.systems.index("s1")
    assert np.isnan(found.p[i, j])
    assert np.isnan(found.deltas[i, j])
    assert not np.isnan(found.p[i, found.systems.index("s2")])
    two = rated(table[:2])
    with pytest.raises(InputError, match=r"^human\.q: no two systems have ratings of the same two items or more"):
        compare_pairs(two, two.systems, two.items, draws=99)
    with pytest.raises(InputError, match=r"rate the same items, or leave the test out$"):
        compare_scores(two, two.systems, two.items, baseline="s0", draws=99)


def test_ratings_that_name_nobody_are_of_one_rater():
    some = [[[1, 3, 2], [2, 5, 1], [4, 4, 5]], [[2, 2, 4], [1, 3, 3], [5, 3, 4]]]
    half, whole = rated(some, names=["a", None, None]), rated(some, names=["a", "b", "b"])
    assert intervals(half, half.systems) == intervals(whole, whole.systems)
    assert n_raters(half) == 1


@pytest.mark.parametrize(
    ("raters", "test", "told"),
    [
        ([3, 3], None, ["over items and raters (3 for a system), by jackknife and Student's t; few raters"]),
        ([7, 9], None, ["over items and raters (7 to 9 for a system), by jackknife and Student's t"]),
        (
            [0, 0],
            "bootstrap",
            ["nobody says who rated: [low, high] of ratings", "p of ratings: other items", "bootstrap over items"],
        ),
        ([2, 0], None, ["(0 to 2 for a system)", "nobody says who rated some systems", "bootstrap over items"]),
        ([2, 1], None, ["(1 to 2 for a system)", "one rater for a system", "bootstrap over items"]),
        ([], None, ["bootstrap over items"]),
    ],
)
def test_notes_say_what_intervals_of_ratings_are_over(raters, test, told):
    found = list(resampling_notes(200, test, 0, raters))
    assert len(found) == len(told)
    for note, part in zip(found, told, strict=True):
        assert part in note
