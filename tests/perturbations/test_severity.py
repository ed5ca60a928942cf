"""Gaps and what fills them; words masked and others predicted."""

import random
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, MissingExtra, SpecError
from nlgauge.core.spec import quote
from nlgauge.models.heads import SHIPPED, find_head
from nlgauge.models.infill import Filler, Gap, Infill
from nlgauge.perturbations import severity as module
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.severity import (
    CALIBRATED,
    JUDGE,
    LexiconInfill,
    MaskAndPredict,
    Severity,
    calibrate,
    check_infill,
    fit,
    graded,
    infill,
    mutual,
    severity,
)
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.languages import language

TEXT = "The young woman bought three red boats in the harbour."
CONTENT = {"young", "woman", "bought", "red", "boats", "harbour"}


class Parrot:
    """Fills every gap with the words it was given, and remembers what it was asked."""

    def __init__(self, *words):
        self.words, self.calls = words, []

    def fill(self, gaps, k):
        self.calls.append((list(gaps), k))
        return [[Filler(w, -i) for i, w in enumerate(self.words)][:k] for _ in gaps]


def lexicon(seed=0):
    return LexiconInfill(language(), random.Random(seed))


def gap(text, word):
    start = text.index(word)
    return Gap(text, start, start + len(word))


def changed(made):
    old, new = made.original.split(), made.text.split()
    return {a.strip(".") for a, b in zip(old, new, strict=True) if a != b}


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("boats", {"rafts", "canoes", "ferries", "kayaks", "yachts"}),  # another kind, or a kind of it
        ("woman", {"man", "businesswoman", "housewife", "nun"}),
        ("bought", {"sold"}),  # the opposite
        ("young", {"old"}),
        ("harbour", set()),  # none of our own words, and so none at all
    ],
)
def test_the_lexicon_gives_our_own_words_in_the_form_of_the_masked_one(word, words):
    (found,) = lexicon().fill([gap(TEXT, word)], 9)
    assert {f.word for f in found} == words


def test_the_best_come_first_and_many_gaps_go_in_one_call():
    found = lexicon().fill([gap(TEXT, "boats"), gap(TEXT, "woman"), gap(TEXT, "the ")], 4)
    assert [len(f) for f in found] == [4, 4, 0]  # "the" is no word with a meaning of its own
    for fillers in found:
        scores = [f.score for f in fillers]
        assert scores == sorted(scores, reverse=True)


def test_nouns_stay_in_their_field_of_meaning():
    from nlgauge.text.lexicon import supersense

    (found,) = lexicon().fill([gap("A dog sleeps.", "dog")], 6)
    assert {supersense(f.word, "noun") for f in found} == {"noun.animal"}


def test_a_gap_outside_every_word_stays_open():
    assert lexicon().fill([Gap("", 0, 0), Gap("a  b", 2, 2)], 3) == [[], []]


@pytest.mark.parametrize("seed", range(4))
def test_only_words_that_carry_meaning_are_masked(seed):
    made = perturb("mask_and_predict", TEXT, seed=seed, count=3)[0]
    assert len(changed(made)) == 3
    assert changed(made) <= CONTENT
    assert [old for old, _ in made.meta["words"]] == [
        w.strip(".") for w in TEXT.split() if w.strip(".") in changed(made)
    ]


@pytest.mark.parametrize(
    ("options", "number"),
    [({}, 1), ({"fraction": 0.5}, 3), ({"fraction": 1.0}, 4), ({"count": 2}, 2), ({"count": 99}, 4)],
)
def test_how_many_words_is_an_option_and_those_that_have_none_stay(options, number):
    assert len(changed(perturb("mask_and_predict", TEXT, **options)[0])) == number


def test_a_model_is_asked_once_for_all_gaps_of_a_text():
    parrot = Parrot("boats", "lamp", "two words", "", "…")
    made = perturb(MaskAndPredict(count=6, infill=parrot), TEXT)[0]
    ((gaps, k),) = parrot.calls
    assert [text[a:b] for text, a, b in gaps] == ["young", "woman", "bought", "red", "boats", "harbour"]
    assert k > 1
    # neither the word itself, nor what is empty, no word or more than one
    assert made.meta["words"] == [["woman", "lamp"], ["harbour", "lamp"]]  # singular nouns, as "lamp" is


@pytest.mark.parametrize("word", ["lastest", "kind of", "quickly"])
def test_what_is_no_word_or_another_part_of_speech_is_not_taken(word):
    assert perturb(MaskAndPredict(infill=Parrot(word)), "A boat left the harbour.").reasons == ["no prediction"]


def test_a_word_without_a_prediction_leaves_its_turn_to_another():
    made = perturb("mask_and_predict", ["The harbour and the ridge were old."] * 9, ids=list("abcdefghi"))
    assert {m.meta["words"][0][0] for m in made} == {"old"}


def test_one_of_the_best_so_many_words_is_drawn():
    one = MaskAndPredict(infill=Parrot("lamp", "box"), count=1, top=1)
    assert {perturb(one, TEXT, seed=seed)[0].meta["words"][0][1] for seed in range(9)} == {"lamp"}


def test_a_model_without_an_answer_leaves_the_text():
    assert perturb(MaskAndPredict(infill=Parrot("…")), TEXT).reasons == ["no prediction"]
    assert perturb(MaskAndPredict(infill=Parrot()), TEXT).reasons == ["no prediction"]


@pytest.mark.parametrize("text", ["It was he.", "?!", "12 + 3", "Who is it?"])
def test_without_words_that_carry_meaning_nothing_is_done(text):
    assert perturb("mask_and_predict", text).reasons == ["no content word"]


def test_capitals_and_articles_follow():
    assert perturb(MaskAndPredict(infill=Parrot("apple"), count=1), "a boat")[0].text == "an apple"
    assert perturb(MaskAndPredict(infill=Parrot("lamps")), "BOATS!")[0].text == "LAMPS!"


def test_a_model_that_is_not_there_is_told_before_any_text_is_read(monkeypatch, tmp_path):
    with pytest.raises(
        MissingExtra if find_spec("torch") is None else InputError, match=r"none' is unavailable|none does not exist"
    ):
        perturb(f"mask_and_predict:infill={quote(str(tmp_path / 'none'))}", [])
    monkeypatch.setattr(module, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"unavailable.*pip install 'nlgauge\[neural\]'"):
        check_infill("some-model")


def test_a_model_is_asked_by_its_name(tiny_masked):
    folder = str(tiny_masked("bert"))
    made = perturb(f"mask_and_predict:infill={quote(str(folder))}", "the cat sat on the mat", count=2)[0]
    asked = infill(folder, language(), random.Random(0))
    assert asked is infill(folder, language(), random.Random(1))  # read once
    assert len(made.meta["words"]) == 2
    for old, new in made.meta["words"]:
        assert old in ("cat", "sat", "mat")
        assert new in {f.word for row in asked.fill([gap("the cat sat on the mat", old)], 11) for f in row}


def test_what_fills_gaps_is_a_lexicon_or_has_fill():
    assert isinstance(Parrot(), Infill)
    assert isinstance(infill("lexicon", language(), random.Random(0)), LexiconInfill)
    parrot = Parrot()
    assert infill(parrot, language(), random.Random(0)) is parrot
    with pytest.raises(SpecError, match=r"infill is int, expected 'lexicon', a model's name or an object with fill"):
        check_infill(3)


@pytest.mark.parametrize("options", [{"count": 0}, {"fraction": 0.0}, {"fraction": 1.5}, {"top": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(SpecError, match=r"expected .*1"):
        MaskAndPredict(**options)


# --- Severities by hand: which probabilities make which, what is asked, and which threshold tells pairs apart


class Table:
    """Entails what its table says, and remembers what it was asked."""

    name = "table"

    def __init__(self, table):
        self.table, self.asked = table, []

    def judge(self, pairs):
        self.asked.append(list(pairs))
        entail = np.array([self.table[pair] for pair in pairs])
        return SimpleNamespace(probabilities=np.column_stack([entail, 1 - entail, np.zeros(len(pairs))]))


# before, after: as sure both ways; only forward; only backward; neither
BOTH, FORWARD, BACKWARD, NEITHER = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
TABLE = {
    BOTH: 0.9, BOTH[::-1]: 0.95, FORWARD: 0.97, FORWARD[::-1]: 0.2, BACKWARD: 0.3, BACKWARD[::-1]: 0.99, NEITHER: 0.1,
    NEITHER[::-1]: 0.1,
}  # fmt: skip
PAIRS = [BOTH, FORWARD, BACKWARD, NEITHER]


def test_minor_is_what_entails_both_ways_with_at_least_the_threshold():
    assert severity(Table(TABLE), "binary", None, Runtime()).rate(PAIRS) == [-1, -5, -5, -5]  # 0.9 is enough
    assert severity(Table(TABLE), "binary", 0.91, Runtime()).rate(PAIRS) == [-5, -5, -5, -5]


def test_what_fails_one_way_is_not_asked_the_other():
    judge = Table(TABLE)
    found = severity(judge, "binary", 0.89, Runtime()).rate(PAIRS, [False, True, False, True])
    assert found == [-1, -5, -5, -5]
    assert judge.asked == [[BOTH, FORWARD[::-1], BACKWARD, NEITHER[::-1]], [BOTH[::-1]]]


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_the_order_of_the_questions_changes_no_severity(turned):
    assert severity(Table(TABLE), "binary", 0.9, Runtime()).rate(PAIRS, turned) == [-1, -5, -5, -5]


class Noisy:
    """Entails each pair with 0.5, but for noise of 1e-5 that hangs on all pairs of the call, as kernels have it."""

    def judge(self, pairs):
        entail = 0.5 + np.random.default_rng(list("|".join(map("|".join, pairs)).encode())).normal(0, 1e-5, len(pairs))
        entail.flags.writeable = False  # what a judge gives away stays as it is
        return SimpleNamespace(probabilities=np.column_stack([entail, 1 - entail, np.zeros(len(pairs))]))


def test_close_calls_fall_the_same_whatever_else_is_rated():
    pairs = [(f"a{i}", f"b{i}") for i in range(40)]
    judge = severity(Noisy(), "binary", 0.5, Runtime())
    whole = judge.rate(pairs)
    assert set(whole) == {-1, -5}
    assert judge.rate(pairs[::-1])[::-1] == whole
    for size in (1, 7):
        assert [worth for i in range(0, 40, size) for worth in judge.rate(pairs[i : i + size])] == whole
    assert judge.rate(pairs, [i % 2 == 0 for i in range(40)]) == whole


def test_a_judge_in_half_precision_is_asked_again_further_from_the_threshold():
    judge = Table(TABLE)
    for dtype, asked in (("float32", 2), ("bfloat16", 3)):
        judge.asked.clear()
        assert Severity("binary", judge, "table", 0.85, dtype=dtype).rate([FORWARD[::-1], BOTH]) == [-5, -1]
        assert len(judge.asked) == asked + (dtype == "bfloat16")


def test_graded_severities_follow_the_weaker_direction():
    # thresholds at 0.5: 0.9 -> -3 + 2 * 0.4 / 0.5; 0.2 -> -5 + 2 * 0.2 / 0.5; 0.3 and 0.1 likewise
    found = severity(Table(TABLE), "graded", 0.5, Runtime()).rate(PAIRS)
    assert found == pytest.approx([-1.4, -4.2, -3.8, -4.6])


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1))
def test_graded_severities_rise_with_entailment_within_their_bounds(one, other, threshold):
    low, high = sorted((one, other))
    assert -5 <= graded(low, threshold) <= graded(high, threshold) + 1e-12 <= -1 + 2e-12  # rounding of float64
    assert (graded(0, threshold), graded(1, threshold)) == (-5, -1)


def test_without_severities_every_edit_counts_one():
    assert severity(None, "none", None, Runtime()).rate(PAIRS) == [-1] * 4
    assert Severity("none").rate([]) == []


def test_the_weaker_of_both_directions_counts():
    assert mutual(Table(TABLE), PAIRS).tolist() == [0.9, 0.2, 0.3, 0.1]
    assert mutual(Table(TABLE), []).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nli", "strict", None), "severity is 'strict'"),
        ((None, "binary", None), "there is no judge"),
        ((Table({}), "binary", 0.0), "threshold is 0.0"),
        ((Table({}), "graded", 1.5), "threshold is 1.5"),
        ((7, "binary", None), "judge is int"),
    ],
)
def test_what_cannot_judge_is_refused(arguments, told):
    with pytest.raises(SpecError, match=told):
        severity(*arguments, Runtime())


def test_a_threshold_stands_half_way_between_the_pairs_it_parts():
    found = fit(np.array([0.1, 0.3, 0.6, 0.8]), [False, False, True, True])
    assert found.threshold == pytest.approx(0.45)
    assert (found.balanced_accuracy, found.minor, found.major, found.n_minor, found.n_major) == (1, 1, 1, 2, 2)


def test_balanced_accuracy_weighs_both_kinds_alike():
    # one minor pair at 0.2 among nine major ones up to 0.4, another at 0.9: a cut at 0.65 finds 1/2 and 9/9,
    # one below 0.2 finds 2/2 and 1/9 at best
    probabilities = np.array([0.2, 0.9, 0.1, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4])
    found = fit(probabilities, [True, True, *[False] * 9])
    assert found.threshold == pytest.approx(0.65)
    assert (found.minor, found.major, found.balanced_accuracy) == (0.5, 1, 0.75)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.25, 0.5, 0.75, 1.0]) | st.floats(1e-9, 1), st.booleans()), min_size=2, max_size=12
    )
)
def test_no_other_threshold_does_better(rows):
    values, labels = np.array([v for v, _ in rows]), np.array([m for _, m in rows])
    if labels.all() or not labels.any():
        with pytest.raises(InputError, match="some of both"):
            fit(values, labels)
        return
    found = fit(values, labels)

    def balanced(threshold):
        called = values >= threshold
        return (called[labels].mean() + (~called)[~labels].mean()) / 2

    assert balanced(found.threshold) == pytest.approx(found.balanced_accuracy)
    # every value is a cut; above the highest nothing is minor, which is worth one half
    assert found.balanced_accuracy >= max(balanced(t) for t in [*values, 2.0]) - 1e-12


def test_a_judge_is_calibrated_on_labelled_pairs():
    rows = [(*BOTH, True), (*FORWARD, False), (*BACKWARD, False), (*NEITHER, False)]
    assert calibrate(Table(TABLE), rows).threshold == pytest.approx(0.6)  # between 0.3 and 0.9


def test_the_judge_that_is_taken_tells_errors_best():
    assert max(CALIBRATED, key=lambda name: CALIBRATED[name][2]) == JUDGE


@pytest.mark.parametrize("name", sorted(CALIBRATED))
def test_a_threshold_is_of_the_weights_that_are_shipped(name):
    """Another head under the name needs another threshold: recipes/sescore/severities.sh."""
    pytest.importorskip("torch")
    assert find_head(name, "nli").identity.startswith(f"sha256:{CALIBRATED[name][0]}")


def test_every_shipped_judge_has_a_threshold():
    judges = {name for name, kind in SHIPPED.items() if kind == "nli"}
    assert judges == set(CALIBRATED)
