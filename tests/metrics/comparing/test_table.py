import random
from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.metrics.comparing.grid import aligned
from nlgauge.metrics.comparing.table import compare_scores, intervals

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
    rows = compare_scores(
        scores,
        [s.system for s in dataset],
        [s.item for s in dataset],
        baseline="base",
        test=test,
        draws=120,
        compat="sacrebleu",
    )
    assert [row.p for row in rows] == [r.p_value for r in expected]  # None for the baseline in both
    # libm and NumPy may round a logarithm's last digit differently
    np.testing.assert_allclose([row.value for row in rows], [r.score for r in expected], rtol=1e-13)
    if kind == "bs":
        np.testing.assert_allclose([(row.low + row.high) / 2 for row in rows], [r.mean for r in expected], rtol=1e-12)
        np.testing.assert_allclose([(row.high - row.low) / 2 for row in rows], [r.ci for r in expected], rtol=1e-11)
    assert {row.seed for row in rows} == {12345}


@pytest.mark.parametrize("spec", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_the_default_finds_the_worse_system_and_not_the_copy(texts, spec, test):
    dataset = ng.Dataset.from_texts(*texts)
    scores = ng.score(dataset, metrics=[spec])[spec]
    rows = {
        r.system: r
        for r in compare_scores(
            scores, [s.system for s in dataset], [s.item for s in dataset], baseline="base", test=test, draws=999
        )
    }
    assert list(rows) == ["base", "close", "worse", "copy"]
    assert rows["copy"].p == 1.0
    assert rows["copy"].delta == 0.0
    assert rows["worse"].p == 0.001  # half the words wrong against three in ten, over 60 items: no draw comes near
    assert (rows["worse"].delta > 0) == (spec == "ter")  # the metric's own direction
    assert rows["worse"].delta_low < rows["worse"].delta < rows["worse"].delta_high


@pytest.mark.parametrize("test", ["bootstrap", "randomization", "randomisation"])
def test_rows_hold_what_was_observed(test):
    scores, systems, items, values = grid(3, 40)
    rows = compare_scores(scores, systems, items, baseline="system1", test=test, draws=200)
    assert [r.system for r in rows] == ["system1", *dict.fromkeys(s for s in systems if s != "system1")]
    for row in rows:
        own = values[int(row.system[-1])]
        assert row.value == pytest.approx(own.mean())
        assert row.low < row.value < row.high
        assert (row.n, row.n_undefined, row.baseline, row.level, row.compat) == (40, 0, "system1", 0.95, None)
        if row.system == "system1":
            assert (row.delta, row.p, row.delta_low, row.n_undefined_draws) == (None, None, None, None)
        else:
            assert row.delta == pytest.approx(own.mean() - values[1].mean())
            assert 0 < row.p <= 1


def test_pairs_are_made_by_item_and_not_by_place():
    # item by item the second system is exactly 0.1 better; by place the differences would be noise
    values = np.random.default_rng(0).normal(size=30) * 10
    scores = scores_of([*values, *(values[::-1] + 0.1)])
    items = [*map(str, range(30)), *map(str, range(29, -1, -1))]
    rows = compare_scores(scores, ["a"] * 30 + ["b"] * 30, items, baseline="a", draws=500)
    assert rows[1].p == pytest.approx(1 / 501)
    assert rows[1].delta_low == pytest.approx(0.1)
    assert rows[1].delta_high == pytest.approx(0.1)


def test_the_order_of_systems_is_theirs_and_changes_no_number():
    scores, systems, items, _ = grid(3, 20)
    rows = {r.system: r for r in compare_scores(scores, systems, items, baseline="system0", draws=300)}
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
    assert [r.system for r in turned] != list(rows)
    for row in turned:
        assert (row.value, row.p) == (rows[row.system].value, rows[row.system].p)
        assert row.low == pytest.approx(
            rows[row.system].low, rel=1e-12
        )  # a product may round its columns differently by place


def test_undefined_segments_are_counted_and_left_out():
    values = [1.0, 2.0, 3.0, 4.0, 2.0, 3.0, np.nan, 5.0]
    rows = compare_scores(scores_of(values), ["a"] * 4 + ["b"] * 4, list("wxyz") * 2, baseline="a", draws=100)
    assert [r.n_undefined for r in rows] == [0, 1]
    assert rows[1].value == pytest.approx(10 / 3)  # (2 + 3 + 5) / 3
    assert [r.n for r in rows] == [4, 4]


def test_seeds():
    scores, systems, items, _ = grid(2, 15)

    def p(**options):
        return compare_scores(scores, systems, items, baseline="system0", draws=100, **options)[1]

    assert p() == p(seed=0)
    assert {p(seed=seed).p for seed in range(6)} != {p().p}


def test_default_draws_are_those_of_sacrebleu():
    scores, systems, items, _ = grid(2, 5)
    assert compare_scores(scores, systems, items, baseline="system0", test="bootstrap")[0].draws == 1000
    assert compare_scores(scores, systems, items, baseline="system0")[0].test == "paired_randomisation"
    assert compare_scores(scores, systems, items, baseline="system0", test="randomization")[0].draws == 10000


@pytest.mark.parametrize(
    ("systems", "items", "says"),
    [
        (["a", "a", "b", None], ["1", "2", "1", "2"], "segment 's3' names no system"),
        (["a", "a", "b", "b"], ["1", "2", None, "2"], "segment 's2' names no item"),
        (["a", "a", "b", "b"], ["1", "2", "1", "1"], r"system 'b' has item '1' twice \(segments 's2' and 's3'\)"),
        (["a", "a", "b", "b"], ["1", "2", "1", "3"], "system 'b' lacks item '2', which 'a' has"),
        (["a", "a", "a", "b"], ["1", "2", "3", "1"], "system 'b' lacks item '2' and 1 more, which 'a' has"),
        (["a", "b", "b", "b"], ["1", "1", "2", "3"], "system 'a' lacks item '2' and 1 more, which 'b' has"),
        (["x", "x", "b", "b"], ["1", "2", "1", "2"], "baseline 'a' is not among the systems"),
        (["a", "a", "a", "a"], ["1", "2", "3", "4"], "'a' is the only system"),
        (["a", "a"], ["1", "2", "3", "4"], "4 segments but 2 systems"),
        (["a", "a", "b", "b"], ["1"], "4 segments but 1 items"),
    ],
)
def test_what_cannot_be_paired_is_named(systems, items, says):
    with pytest.raises(InputError, match=says):
        compare_scores(scores_of([1, 2, 3, 4]), systems, items, baseline="a")


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
    assert [(r.system, r.value, r.n) for r in rows] == [("a", 2.5, 4), ("b", 25.0, 4), ("c", 7.0, 1)]
    assert rows[0].low < 2.5 < rows[0].high
    assert rows[1].low == pytest.approx(10 * rows[0].low)  # the same draws, ten times the values
    assert np.isnan([rows[2].low, rows[2].high]).all()  # one segment says nothing of others
    alone = intervals(scores.take(np.arange(4)), draws=400)
    assert replace(alone[0], system="a") == rows[0]


def test_intervals_count_what_is_undefined():
    row = intervals(scores_of([5.0, np.nan]), draws=1000)[0]
    assert (row.n, row.n_undefined, row.low, row.high) == (2, 1, 5.0, 5.0)
    assert row.n_undefined_draws == pytest.approx(250, abs=70)  # a draw of two misses the first with chance 1/4; sd 14


def test_alignment_puts_the_baseline_first_and_follows_its_items():
    places = aligned(list("pqrs"), ["b", "a", "b", "a"], ["2", "1", "1", "2"], "a")
    assert {name: where.tolist() for name, where in places.items()} == {"a": [1, 3], "b": [2, 0]}
    assert list(places) == ["a", "b"]
