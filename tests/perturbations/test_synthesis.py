"""What is drawn follows the distributions it is named after: chi-square of 20,000 proposals."""

import math
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.models.infill import Filler, Gap
from nlgauge.perturbations import synthesis as module
from nlgauge.perturbations.severity import mutual
from nlgauge.perturbations.synthesis import (
    OPERATIONS,
    Draws,
    Stratum,
    Syntheses,
    Synthesizer,
    Walk,
    run_synthesis,
    summary_rows,
    synthesize,
    unfit,
)
from nlgauge.runtime.runtime import Runtime

N = 20_000
SURE = 0.001  # one fixed seed in a thousand would fail by chance


def poisson(k, mean):
    return math.exp(-mean) * mean**k / math.factorial(k)


def agrees(drawn, shares):
    """Whether counts follow the shares; what is drawn and has no share goes to the last."""
    found = Counter(drawn)
    last = len(shares) - 1
    observed = [found[k] for k in list(shares)[:-1]]
    observed.append(len(drawn) - sum(observed))
    expected = [len(drawn) * share for share in shares.values()]
    assert len(expected) == last + 1
    return chisquare(observed, expected).pvalue > SURE


def test_edits_are_poisson_5_cut_to_1_to_5():
    rng, draws = random.Random(1), Draws()
    drawn = [draws.count(rng) for _ in range(N)]
    total = sum(poisson(k, 5) for k in range(1, 6))
    assert set(drawn) == {1, 2, 3, 4, 5}
    assert agrees(drawn, {k: poisson(k, 5) / total for k in range(1, 6)})
    # sum of k p(k) over sum of p(k), k = 1..5: 3.62; 4 standard errors of a mean of 20,000 draws with deviation 1.2
    assert sum(drawn) / N == pytest.approx(3.62, abs=0.035)


def test_lengths_are_poisson_of_which_0_is_drawn_again():
    rng, draws = random.Random(2), Draws()
    drawn = [draws.length(rng) for _ in range(N)]
    shares = {k: poisson(k, 1.5) / (1 - poisson(0, 1.5)) for k in range(1, 7)}
    assert min(drawn) == 1
    assert agrees(drawn, {**shares, 7: 1 - sum(shares.values())})


def test_distances_of_swaps_are_all_alike():
    rng, draws = random.Random(3), Draws()
    assert agrees([draws.distance(rng) for _ in range(N)], dict.fromkeys(range(1, 5), 0.25))


def test_a_draw_of_another_distribution_is_told_apart():
    rng, draws = random.Random(4), Draws(edits=4.5)
    drawn = [draws.count(rng) for _ in range(N)]
    total = sum(poisson(k, 5) for k in range(1, 6))
    assert not agrees(drawn, {k: poisson(k, 5) / total for k in range(1, 6)})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"operations": ("insert", "move")}, "operations has 'move'"),
        ({"operations": ()}, "operations is empty"),
        ({"operations": ("swap", "swap")}, "each once"),
        ({"edits": 0.0}, "edits is 0.0"),
        ({"edits": float("nan")}, "edits is nan"),
        ({"edits": 90.0}, "raise max_edits"),
        ({"span": -1.0}, "span is -1.0"),
        ({"max_edits": 0}, "max_edits is 0"),
        ({"swap_window": 0}, "swap_window is 0"),
        ({"top_k": 0}, "top_k is 0"),
        ({"max_edits": 1.5}, "max_edits is 1.5, expected a whole number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, told):
    with pytest.raises(SpecError, match=told):
        Draws(**options)


# --- One text, edit by edit: refusals are drawn again, and where no room is left the walk ends

TEXT = "The old ferry leaves the harbour at seven, and nobody waits."


def walk(text=TEXT, seed=0, phrases=False, **options):
    return Walk(text, Draws(**options), {"own": phrases}, random.Random(seed))


def finished(one, *words):
    """The walk with every gap filled by the same words, and the gaps."""
    gaps = []
    while (gap := one.ask()) is not None:
        gaps.append(gap)
        assert len(gaps) < 100
        one.answer([Filler(word, -i) for i, word in enumerate(words)])
    return gaps


def test_each_gap_stands_in_the_text_as_it_is_by_then():
    one = walk(operations=("insert", "replace"), seed=3)
    text = TEXT
    while (gap := one.ask()) is not None:
        assert gap.text == text
        one.answer([Filler("well", 0.0)])
        text = one.made[-1].text
    assert len(one.made) == one.wanted


def test_what_stands_there_is_no_replacement():
    one = walk(operations=("replace",), seed=1)
    gap = one.ask()
    old = gap.text[gap.start : gap.end]
    one.answer([Filler(old.upper(), 0.0), Filler(" ", -1.0), Filler("other", -2.0)])
    assert one.made[-1].edit.new == "other"


def test_no_mark_is_put_beside_its_like():
    walks = (walk("It rains, they say.", operations=("insert",), seed=seed) for seed in range(100))
    one = next(one for one in walks if (gap := one.ask()).text[gap.start] == ",")  # a place before the comma
    one.answer([Filler(",", 0.0), Filler(";", -1.0)])
    assert one.made[-1].text == "It rains;, they say."


@pytest.mark.parametrize("half", ["(", "]", "“", "``"])
def test_no_half_of_a_pair_of_marks_comes_in(half):
    one = walk(operations=("insert",), seed=1)
    one.ask()
    one.answer([Filler(half, 0.0), Filler("other", -1.0)])
    assert one.made[-1].edit.new.strip() == "other"


def test_one_of_the_top_k_is_drawn_and_all_of_them_alike():
    drawn = set()
    for seed in range(60):
        one = walk(operations=("insert",), seed=seed)
        one.ask()
        one.answer([Filler(f"w{i}", -i) for i in range(5)])
        drawn.add(one.made[-1].edit.new.strip())
    assert drawn == {"w0", "w1", "w2", "w3"}  # by chance one is missing in 4 * 0.75^60, once in seven million


def test_where_the_filler_has_nothing_something_else_is_done():
    one = walk(operations=("insert", "replace", "swap"), seed=2)
    assert finished(one)
    assert {made.operation for made in one.made} == {"swap"}


def test_where_nothing_can_be_done_the_walk_ends():
    one = walk(operations=("insert", "replace"))
    finished(one)
    assert (one.made, one.wanted > 0) == ([], True)


def test_a_masked_word_is_replaced_alone_and_a_phrase_takes_several():
    for phrases, longest in ((False, {1}), (True, {1, 2, 3})):
        spans = set()
        for seed in range(30):
            one = walk(operations=("replace",), seed=seed, phrases=phrases)
            finished(one, "so it was")
            spans |= {made.span for made in one.made}
        assert spans >= longest if phrases else spans == longest


def test_two_tokens_that_are_alike_do_not_change_places():
    one = walk("no no no no no", operations=("swap",))
    finished(one)
    assert one.made == []


def test_a_text_keeps_a_word():
    for seed in range(50):
        one = walk("Go on!", operations=("delete",), seed=seed)
        finished(one)
        assert any(c.isalpha() for c in (one.made[-1].text if one.made else "Go on!"))


@given(st.text(alphabet=st.sampled_from("ab ,.今\n"), min_size=3, max_size=40), st.integers(0, 10_000))
def test_edits_lead_from_each_text_to_the_next(text, seed):
    one = walk("x y " + text, seed=seed)
    finished(one, "new", "words here")
    now = "x y " + text
    assert len(one.made) <= one.wanted <= 5
    for made in one.made:
        assert now[: made.edit.start] + made.edit.new + now[made.edit.end :] == made.text != now
        assert made.model == ("own" if made.operation in ("insert", "replace") else None)
        now = made.text


def test_a_gap_for_an_insertion_is_a_place():
    one = walk(operations=("insert",))
    gap = one.ask()
    assert isinstance(gap, Gap)
    assert gap.start == gap.end


# --- The table of what may still be edited: worked by hand, and what holds after any edits of any text

TEN = "a b c d e f g h i j"
PHRASES = ("new", "two words", ",", "(so)", "今")
texts = st.text(alphabet=st.sampled_from('ab1 .,-"()今天\n'), max_size=40) | st.text(max_size=30)


def edited(text, seed, operations=OPERATIONS, tries=60):
    """A stratum after as many accepted edits as tries allow, with the texts before and the edits."""
    rng, draws, stratum, steps = random.Random(seed), Draws(), Stratum(text), []
    for _ in range(tries if len(stratum) else 0):
        operation = rng.choice(operations)
        start = rng.randrange(len(stratum)) if len(stratum) else 0
        span = {"insert": 0, "swap": draws.distance(rng) + 1}.get(operation, draws.length(rng))
        if not stratum.accepts(start, span):
            continue
        before = stratum.text
        if operation == "insert":
            edit = stratum.insert(start, rng.choice(PHRASES))
        elif operation == "replace":
            edit = stratum.replace(start, span, rng.choice(PHRASES))
        elif operation == "delete":
            edit = stratum.delete(start, span)
        else:
            edit = stratum.swap(start, span - 1)
        steps.append((before, edit))
    return stratum, steps


def test_before_the_first_edit_all_that_follows_is_free():
    assert Stratum(TEN).room == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_behind_an_insertion_the_rest_stays_free():
    stratum = Stratum(TEN)
    stratum.insert(3, "x y")  # behind c: what begins at or before c must end there, the new tokens are closed
    assert stratum.tokens == "a b c x y d e f g h i j".split()
    assert stratum.room == [3, 2, 1, 0, 0, 0, 6, 5, 4, 3, 2, 1, 0]


def test_what_is_deleted_leaves_the_table_with_its_tokens():
    stratum = Stratum(TEN)
    stratum.delete(4, 3)
    assert stratum.tokens == "a b c d h i j".split()
    assert stratum.room == [4, 3, 2, 1, 0, 2, 1, 0]


def test_a_replacement_is_closed_from_end_to_end():
    stratum = Stratum(TEN)
    stratum.replace(0, 2, "x y z")
    assert stratum.tokens == "x y z c d e f g h i j".split()
    assert stratum.room == [0, 0, 0, 0, 7, 6, 5, 4, 3, 2, 1, 0]


def test_between_two_tokens_that_changed_places_there_is_room_up_to_the_second():
    stratum = Stratum(TEN)
    stratum.swap(2, 4)  # c and g
    assert stratum.tokens == "a b g d e f c h i j".split()
    # behind d: e and f; behind e: f; behind f, g and c: nothing
    assert stratum.room == [2, 1, 0, 0, 2, 1, 0, 0, 2, 1, 0]
    #                       0  a  b  g  d  e  f  c  h  i  j


def test_a_run_is_accepted_up_to_the_next_edit_and_not_beyond():
    stratum = Stratum(TEN)
    stratum.delete(4, 1)
    assert [stratum.accepts(1, n) for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert stratum.accepts(1, 0)  # an insertion needs a place, no length
    assert not stratum.accepts(4, 0)
    assert not stratum.accepts(9, 0)  # nothing follows
    assert [stratum.has_room(n) for n in (0, 3, 4, 5)] == [True, True, True, False]


@given(texts)
def test_a_text_is_its_tokens_and_blanks(text):
    stratum = Stratum(text)
    assert stratum.text == text
    assert len(stratum.room) == len(stratum) + 1 == len(stratum.blanks)


@given(texts, st.integers(0, 1000))
def test_undone_in_reverse_the_edits_give_the_input_back(text, seed):
    stratum, steps = edited(text, seed)
    now = stratum.text
    for before, edit in reversed(steps):
        assert before[: edit.start] + edit.new + before[edit.end :] == now
        assert now[edit.start : edit.start + len(edit.new)] == edit.new
        now = now[: edit.start] + before[edit.start : edit.end] + now[edit.start + len(edit.new) :]
        assert now == before
    assert now == text


@given(st.integers(0, 40), st.integers(0, 100_000), st.sampled_from([*((o,) for o in OPERATIONS), OPERATIONS]))
def test_no_token_is_edited_twice_and_the_others_stay_in_order(length, seed, operations):
    """Every token bears its own name, so that it can be seen what became of it."""
    names = [f"w{i}" for i in range(length)]
    rng, draws, stratum = random.Random(seed), Draws(), Stratum(" ".join(names))
    touched: set[str] = set()
    for step in range(40 if length else 0):
        operation, start = rng.choice(operations), rng.randrange(len(stratum)) if len(stratum) else 0
        span = {"insert": 0, "swap": draws.distance(rng) + 1}.get(operation, draws.length(rng))
        if not stratum.accepts(start, span):
            continue
        run = stratum.tokens[start : start + span]
        ends = {run[0], run[-1]} if operation == "swap" else set(run)
        assert not ends & touched  # of a swap the tokens between may hold nothing that was edited either
        assert operation != "swap" or not set(run) & touched
        new = {f"n{step}a", f"n{step}b"} if operation in ("insert", "replace") else set()
        if operation == "insert":
            stratum.insert(start, f"n{step}a n{step}b")
        elif operation == "replace":
            stratum.replace(start, span, f"n{step}a n{step}b")
        elif operation == "delete":
            stratum.delete(start, span)
        else:
            stratum.swap(start, span - 1)
        touched |= ends | new
        assert len(stratum.room) == len(stratum) + 1
    left = [t for t in stratum.tokens if t not in touched]
    assert left == [name for name in names if name not in touched]


@given(texts, st.integers(0, 1000))
def test_the_place_of_a_run_is_where_its_tokens_stand(text, seed):
    stratum, _ = edited(text, seed, tries=5)
    for start in range(len(stratum)):
        for span in range(1, min(3, len(stratum) - start) + 1):
            first, last = stratum.place(start, span)
            inside = stratum.text[first:last]
            assert inside.startswith(stratum.tokens[start])
            assert inside.endswith(stratum.tokens[start + span - 1])
        first, last = stratum.place(start, 0)
        assert first == last
        assert stratum.text[first:].startswith(stratum.tokens[start])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_edit_says_no_more_than_it_changes(operation):
    stratum = Stratum("The old house stands there.")
    edits = {"insert": (1, "very"), "delete": (1, 1), "replace": (1, 1, "new"), "swap": (1, 1)}
    edit = getattr(stratum, operation)(*edits[operation])
    assert (
        edit
        == {"insert": (4, 4, "very "), "delete": (4, 8, ""), "replace": (4, 7, "new"), "swap": (4, 13, "house old")}[
            operation
        ]
    )


# --- Texts with errors: sums and ranges of severities, seeds, batches, and what is left alone

TEXTS = [
    "The old ferry leaves the harbour at seven, and nobody waits for it.",
    "Two engineers repaired the bridge (in the rain) before the market opened.",
    "今天下雨，路很滑，大家都回家了。",
    "Her brother never said that he would sell the house.",
    "Der Fluss ist im Winter zugefroren, aber niemand läuft darauf.",
]


class Words:
    """Fills each gap by what stands around it alone, as a model does; remembers how many gaps came at once."""

    name, phrases = "words", False

    def __init__(self):
        self.calls = []

    def fill(self, gaps, k):
        self.calls.append(len(gaps))
        return [
            [Filler(f"x{random.Random(f'{g.text}{g.start}{i}').randint(0, 999)}", -i) for i in range(k)] for g in gaps
        ]

    def facts(self):
        return {"weights": "none"}


class Coin:
    """Entails or not, by the texts alone."""

    def __init__(self):
        self.calls = []

    def judge(self, pairs):
        self.calls.append(len(pairs))
        entail = np.array([random.Random("|".join(pair)).random() for pair in pairs])
        return SimpleNamespace(probabilities=np.column_stack([entail, 1 - entail, np.zeros(len(pairs))]))


def made(texts=TEXTS, **options):
    return synthesize(texts, **{"infill": Words(), "judge": Coin(), "threshold": 0.5, **options})


def test_the_score_is_the_sum_of_the_severities():
    found = made(variants=20)
    assert len(found) == 100
    for one in found:
        assert one.score == sum(step.severity for step in one.steps)
        assert {step.severity for step in one.steps} <= {-1, -5}
        assert 1 <= len(one.steps) <= 5
        assert -25 <= one.score <= -1
        assert one.text == one.steps[-1].text
    assert {step.severity for one in found for step in one.steps} == {-1, -5}
    assert {step.operation for one in found for step in one.steps} == set(OPERATIONS)


def test_the_same_seed_makes_the_same_whatever_stands_beside():
    whole = made(variants=3)
    assert list(made(variants=3)) == list(whole)
    assert list(made(TEXTS[::-1], variants=3))[::-1] == [whole[3 * i + v] for i in range(5) for v in (2, 1, 0)]
    alone = [made(text, variants=3)[v] for text in TEXTS for v in range(3)]
    assert alone == list(whole)
    assert [one.text for one in made(variants=3, seed=1)] != [one.text for one in whole]


def test_variants_differ_and_the_first_are_those_of_fewer():
    many = made(TEXTS[0], variants=6)
    assert (
        len({one.text for one in many}) == 6
    )  # that two draws of several edits agree is no matter of chance to be met
    assert [one.variant for one in many] == list(range(6))
    assert list(made(TEXTS[0], variants=2)) == many[:2]


def test_with_an_id_it_is_the_id_that_makes_the_draws():
    one, other = made([TEXTS[0], TEXTS[0]], ids=["a", "b"])
    assert (one.id, other.id) == ("a", "b")
    assert one.text != other.text
    assert made([TEXTS[0]], ids=["b"])[0] == other


@pytest.mark.parametrize("infill", ["words", "lexicon"])
@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(4)), cut=st.integers(1, 3))
def test_portions_change_nothing(infill, order, cut):
    texts = [t for i, t in enumerate(TEXTS) if i != 2]
    maker = Synthesizer(infill=Words() if infill == "words" else infill, judge=None, severity="none")
    whole = list(maker(texts))
    shuffled = [texts[i] for i in order]
    assert [*maker(shuffled[:cut]), *maker(shuffled[cut:])] == [whole[i] for i in order]


def test_one_call_of_the_model_fills_a_gap_of_every_text():
    words, coin = Words(), Coin()
    found = synthesize(TEXTS * 20, ids=[str(i) for i in range(100)], infill=words, judge=coin, threshold=0.5)
    steps = [sum(step.model is not None for step in one.steps) for one in found]
    assert max(steps) <= len(words.calls) <= 5
    assert sum(words.calls) == sum(steps)
    assert words.calls[0] == sum(n > 0 for n in steps)
    assert len(coin.calls) == 2  # one direction of all edits, then the other of those that passed


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_can_be_had_alone(operation):
    found = made(operations=[operation], variants=3)
    assert {step.operation for one in found for step in one.steps} == {operation}
    assert {step.model for one in found for step in one.steps} == (
        {"words"} if operation in ("insert", "replace") else {None}
    )


def test_what_cannot_be_edited_with_sense_is_left_alone_with_the_reason():
    texts = ["", " \n ", "Rain.", "...", "12 000 3", "word " * 81, "x" * 4000, TEXTS[0]]
    found = made(texts, variants=2)
    assert [one is None for one in found] == [True] * 14 + [False] * 2
    reasons = ["empty", "empty", "one word", "no letters", "no letters", "too long", "too long", None]
    assert found.reasons == [reason for reason in reasons for _ in range(2)]
    assert found.skipped == Counter({"empty": 4, "no letters": 4, "too long": 4, "one word": 2})
    assert unfit("word " * 80) is None
    assert unfit("a b c d", max_words=3) == "too long"
    assert unfit("今天") is None


def test_a_filler_without_words_leaves_texts_alone_where_nothing_else_is_allowed():
    class Silent:
        def fill(self, gaps, k):
            return [[] for _ in gaps]

    assert made(infill=Silent(), operations=["insert"]).reasons == ["no edit fits"] * 5
    found = made(infill=Silent(), variants=4)
    assert {step.operation for one in found for step in one.steps} == {"delete", "swap"}


def test_where_there_is_no_room_fewer_edits_are_made_and_it_shows():
    found = [one for one in made("Go on!", variants=40) if one is not None]
    assert any(len(one.steps) < one.wanted for one in found)
    assert all(any(c.isalnum() for c in one.text) for one in found)


def test_without_a_judge_each_edit_counts_one():
    for one in made(judge=None, severity="none"):
        assert one.score == -len(one.steps)


def test_graded_severities_add_up():
    scores = [one.score for one in made(severity="graded", variants=4)]
    assert all(-25 <= score <= -1 for score in scores)
    assert any(score != round(score) for score in scores)


def test_the_signature_says_what_made_them():
    found = str(made(seed=3, operations=["swap", "insert"]).signature)
    for entry in (
        "operations:swap,insert",
        "edits:5.0",
        "max_edits:5",
        "span:1.5",
        "swap_window:4",
        "top_k:4",
        "infill:words",
        "infill_weights:none",
        "judge:Coin",
        "threshold:0.5",
        "severity:binary",
        "seed:3",
        "variants:1",
        "max_words:80",
    ):
        assert f"|{entry}|" in found
    bare = str(made(judge=None, severity="none").signature)
    assert "judge" not in bare
    assert "threshold" not in bare


def test_a_row_of_triples_holds_texts_score_and_steps():
    one = made(TEXTS[0], ids=["s7"])[0]
    row = one.as_row()
    assert (row["id"], row["hyp"], row["refs"], row["score"]) == ("s7", one.text, [TEXTS[0]], one.score)
    assert [step["text"] for step in row["steps"]] == [step.text for step in one.steps]
    assert set(row["steps"][0]) == {"operation", "start", "end", "new", "span", "model", "severity", "text"}
    assert "id" not in made(TEXTS[0])[0].as_row()


def test_the_lexicon_needs_no_model_and_keeps_capitals():
    found = ng.synthesize(
        "Dogs bought the old house.", infill="lexicon", severity="none", operations=["replace"], variants=30
    )
    heads = {one.text.split()[0] for one in found if one is not None} - {"Dogs"}
    assert heads
    assert all(head[0].isupper() for head in heads)


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"operations": ["insert", "move"]}, SpecError, "'move'"),
        ({"variants": 0}, SpecError, "variants is 0"),
        ({"max_words": 0}, SpecError, "max_words is 0"),
        ({"infill": 3}, SpecError, "infill is int"),
        ({"ids": ["a"]}, InputError, "5 texts but 1 ids"),
        ({"ids": "abcde"}, InputError, "ids is one string"),
        ({"texts": ["a b", None]}, InputError, r"texts\[1\] is missing"),
        ({"severity": "binary", "judge": None}, SpecError, "there is no judge"),
    ],
)
def test_what_makes_no_sense_is_refused(options, error, told):
    with pytest.raises(error, match=told):
        made(**options)


def test_a_single_operation_is_an_operation():
    assert {step.operation for step in made(TEXTS[0], operations="swap")[0].steps} == {"swap"}


@pytest.mark.parametrize("word", ["", " ", "\n", "\u200b", "\ufeff \u200d"])
def test_no_word_is_put_in_that_cannot_be_seen(word):
    unseen = SimpleNamespace(fill=lambda gaps, k: [[Filler(word, 0.0)] for _ in gaps])
    assert made(infill=unseen, operations=("insert", "replace")).reasons == ["no edit fits"] * len(TEXTS)


def test_gaps_that_nothing_was_said_of_are_refused():
    with pytest.raises(InputError, match="filled 0 of 1 gaps"):
        made(TEXTS[0], infill=SimpleNamespace(fill=lambda gaps, k: []), operations=("insert",))


@pytest.mark.parametrize("severity", ["binary", "graded"])
def test_a_judge_without_an_answer_is_no_judge_of_major_errors(severity):
    silent = SimpleNamespace(judge=lambda pairs: SimpleNamespace(probabilities=np.full((len(pairs), 3), np.nan)))
    with pytest.raises(InputError, match="the judge has no answer"):
        made(judge=silent, severity=severity)


def test_draws_are_options_of_the_maker():
    maker = Synthesizer(Draws(max_edits=1), infill=Words(), severity="none")
    assert {len(one.steps) for one in maker(TEXTS)} == {1}


ENGLISH = [t for i, t in enumerate(TEXTS) if i != 2]


@pytest.fixture
def threads():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


def portions(maker, texts):
    """What is made of the texts together, of one and the others in another order, and of each alone."""
    yield list(maker(texts))
    yield [*maker(texts[:1]), *maker(texts[:0:-1])[::-1]]
    yield [maker([text])[0] for text in texts]


PORTIONS = [
    ("float32", 2, (1,)),
    *(pytest.param(dtype, 4, (1, 2), marks=pytest.mark.slow) for dtype in ("float32", "bfloat16")),
]


def strata(one):
    return [one.original, *(step.text for step in one.steps)]


@pytest.mark.parametrize(("dtype", "n_texts", "cores"), PORTIONS)
def test_the_shipped_models_make_the_same_in_any_portion(threads, dtype, n_texts, cores):
    """Kernels may round otherwise in another batch, but close calls are settled by each text alone.

    Graded severities are no choices and agree up to rounding.
    """
    runtime = Runtime(device="cpu", dtype=dtype)
    maker = Synthesizer(severity="graded", seed=5, runtime=runtime)
    texts = ENGLISH[-n_texts:]
    pairs = [pair for one in maker(texts) for pair in pairwise(strata(one))]
    sure = sorted(mutual(maker.severity.judge, pairs).tolist())
    # The threshold stands where one of the edits does: whether that one is minor is as close a call as can be.
    binary = Synthesizer(severity="binary", threshold=sure[len(sure) // 2], seed=5, runtime=runtime)
    found, rated = [], []
    for n_cores in cores:
        threads(n_cores)
        found += portions(binary, texts)
        rated.append([made for text in texts for made in maker([text])] if n_cores == 1 else list(maker(texts)))
    assert all(one == found[0] for one in found)
    assert {step.model for one in found[0] for step in one.steps} >= {"infill"}
    assert {step.severity for one in found[0] for step in one.steps} == {-1, -5}
    for made in rated:
        assert [strata(one) for one in made] == [strata(one) for one in found[0]]
        # Probabilities move by some 1e-7 in float32, by the last of eight bits in bfloat16. Below the threshold 0.29
        # severities are 7 times as steep, and a score is the sum of up to five.
        close = {"float32": 1e-5, "bfloat16": 0.5}[dtype]
        assert [one.score for one in made] == pytest.approx([one.score for one in rated[0]], abs=close)


@pytest.mark.slow
def test_they_do_so_with_the_kernels_of_another_processor():
    """With these variables torch and oneDNN take the kernels of a processor without AVX-512, if they take x86 ones."""
    pytest.importorskip("torch")
    if os.environ.get("ONEDNN_MAX_CPU_ISA") == "AVX2":
        pytest.skip("all tests run with these kernels")
    which = f"{__file__}::test_the_shipped_models_make_the_same_in_any_portion[float32-2-cores0]"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", which]
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


class Phrases(Words):
    name, phrases = "phrases", True

    def fill(self, gaps, k):
        return [[Filler(f"some words{i}", -i) for i in range(k)] for _ in gaps]


def test_of_several_fillers_one_is_drawn_for_each_insertion_and_replacement():
    found = synthesize(
        TEXTS * 6, ids=[str(i) for i in range(30)], infill=[Words(), Phrases()], judge=None, severity="none"
    )
    steps = [step for one in found if one is not None for step in one.steps]
    asked = Counter(step.model for step in steps if step.operation in ("insert", "replace"))
    assert set(asked) == {"words", "phrases"}
    assert 0.3 < asked["words"] / asked.total() < 0.7  # a fair coin, some 40 times
    assert {step.model for step in steps if step.operation in ("delete", "swap")} == {None}
    assert all((step.model == "phrases") == step.edit.new.strip().startswith("some") for step in steps if step.model)
    # several words make room for several only where phrases were drawn
    assert {step.span for step in steps if step.operation == "replace" and step.model == "words"} == {1}
    assert max(step.span for step in steps if step.operation == "replace" and step.model == "phrases") > 1
    entries = dict(found.signature.entries)
    assert entries["infill"] == "words+phrases"


def test_fillers_of_one_name_and_no_filler_are_refused():
    with pytest.raises(SpecError, match="each named once"):
        synthesize(TEXTS[:1], infill=[Words(), Words()], judge=None, severity="none")
    with pytest.raises(SpecError, match="expected one model or several"):
        synthesize(TEXTS[:1], infill=[], judge=None, severity="none")


@pytest.mark.slow
def test_the_benchmark_finds_the_parts_that_it_times(tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text(f"{TEXTS[0]}\n{TEXTS[3]}\n" * 5, encoding="utf-8")
    script = Path(__file__).parents[2] / "benchmarks" / "synthesis.py"
    command = [sys.executable, str(script), "--texts", str(texts), "--sentences", "2", "--repeats", "1"]
    done = subprocess.run([*command, "--dtype", "float32"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()[2:]] == ["words", "severities", "edits"]


# --- Long runs: portions, what was left alone, and the summary, worked by hand

RUN_TEXTS = ["The old ferry leaves the harbour.", "", "Two engineers repaired the bridge.", "Rain."]


class Kept:
    """A journal in memory."""

    def __init__(self):
        self.taken, self.state, self.portions = 0, {}, []

    def add(self, taken, rows, state):
        self.taken, self.state = taken, dict(state)
        self.portions.append(list(rows))

    def rows(self):
        return (row for portion in self.portions for row in portion)


def maker(variants=1):
    draws = Draws(operations=("swap", "delete"))
    return Synthesizer(draws, infill="lexicon", judge=None, severity="none", seed=3, variants=variants)


def run(kept, variants=1, **options):
    ids = [str(i) for i in range(1, 5)]
    return run_synthesis(maker(variants), RUN_TEXTS, ids, kept, **options)


def test_triples_bear_the_ids_of_their_texts_and_what_is_left_alone_is_counted():
    kept = Kept()
    outcome = run(kept)
    assert [row["id"] for row in kept.rows()] == ["1", "3"]
    assert outcome.skipped == {"empty": 1, "one word": 1}
    assert outcome.left_alone == "left alone: 2 texts (empty 1, one word 1)"
    result = outcome.result([{"path": "p", "sha256": "s"}], ["read"])
    assert (result.kind, list(result.notes)) == ("synth", ["read", outcome.left_alone])
    assert result.rows[-1]["texts"] == 2
    assert result.metrics[0]["signature"] == str(outcome.signature)


def test_variants_bear_their_number_and_only_the_first_texts_are_taken():
    kept = Kept()
    outcome = run(kept, variants=2, limit=1)
    assert [row["id"] for row in kept.rows()] == ["1/0", "1/1"]
    assert outcome.left_alone == ""


def test_a_text_is_left_alone_only_if_all_its_variants_are():
    (made,) = maker()(RUN_TEXTS[:1])
    given = maker(variants=2)
    outcomes = Syntheses(["no edit fits", made, "no edit fits", "no edit fits"], given.signature)

    class Maker:
        variants, signature = 2, given.signature

        def __call__(self, texts):
            return outcomes

    kept = Kept()
    outcome = run_synthesis(Maker(), RUN_TEXTS[:2], ["1", "2"], kept)
    assert outcome.left_alone == "left alone: 1 text (no edit fits 1)"
    assert len(list(kept.rows())) == 1


def test_a_run_goes_on_where_it_was_to_the_same_triples(monkeypatch):
    whole, kept = Kept(), Kept()
    run(whole)
    monkeypatch.setattr(module, "PORTION", 1)
    run(kept, limit=2)
    outcome = run(kept)
    assert len(kept.portions) == 4
    assert list(kept.rows()) == list(whole.rows())
    assert outcome.skipped == {"empty": 1, "one word": 1}


def triple(*steps):
    severities = [{"operation": operation, "severity": severity} for operation, severity in steps]
    return {"score": sum(severity for _, severity in steps), "steps": severities}


def test_the_summary_has_a_row_per_operation_and_one_for_all():
    swap, every = summary_rows([triple(("swap", -1.0), ("swap", -5.0)), triple(("swap", -5.0))])
    assert (swap["operation"], swap["edits"], swap["share"]) == ("swap", 3, 1.0)
    assert swap["severity"] == pytest.approx(-11 / 3)
    assert swap["major"] == pytest.approx(2 / 3)
    assert math.isnan(swap["score"])
    assert (every["operation"], every["texts"], every["score"]) == ("all", 2, -5.5)  # -6 and -5


def test_only_severities_of_two_kinds_have_a_share_of_major_ones():
    def majors(*severities):
        return summary_rows([triple(*(("swap", severity) for severity in severities))])[0]["major"]

    assert majors(-1, -5, -5, -1) == 0.5
    assert majors(-1, -1) == 0
    assert math.isnan(majors(-1.5, -5))  # graded
    assert math.isnan(majors(-2.5))


def test_no_triples_have_one_row_without_numbers():
    (every,) = summary_rows([])
    assert (every["edits"], every["texts"]) == (0, 0)
    assert all(math.isnan(every[name]) for name in ("share", "severity", "major", "score"))
