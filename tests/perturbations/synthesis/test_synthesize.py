"""Texts with errors: sums and ranges of severities, seeds, batches, and what is left alone."""

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

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.models.infill import Filler
from nlgauge.perturbations.synthesis.draws import OPERATIONS
from nlgauge.perturbations.synthesis.severity import mutual
from nlgauge.perturbations.synthesis.synthesize import Draws, Synthesizer, synthesize, unfit
from nlgauge.runtime.runtime import Runtime

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


def test_the_strata_follow_from_the_edits_and_back():
    for one in made(variants=5):
        assert one.strata[0] == one.original
        for before, after, step in zip(one.strata, one.strata[1:], one.steps, strict=False):
            start, end, new = step.edit
            assert before[:start] + new + before[end:] == after
            assert after[:start] + before[start:end] + after[start + len(new) :] == before


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
    assert [step["text"] for step in row["steps"]] == list(one.strata[1:])
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


@pytest.mark.parametrize(("dtype", "n_texts", "cores"), PORTIONS)
def test_the_shipped_models_make_the_same_in_any_portion(threads, dtype, n_texts, cores):
    """Kernels may round otherwise in another batch, but close calls are settled by each text alone.

    Graded severities are no choices and agree up to rounding.
    """
    runtime = Runtime(device="cpu", dtype=dtype)
    maker = Synthesizer(severity="graded", seed=5, runtime=runtime)
    texts = ENGLISH[-n_texts:]
    pairs = [pair for one in maker(texts) for pair in pairwise(one.strata)]
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
        assert [one.strata for one in made] == [one.strata for one in found[0]]
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
    script = Path(__file__).parents[3] / "benchmarks" / "synthesis.py"
    command = [sys.executable, str(script), "--texts", str(texts), "--sentences", "2", "--repeats", "1"]
    done = subprocess.run([*command, "--dtype", "float32"], capture_output=True, text=True, check=True)
    assert [line.split()[0] for line in done.stdout.splitlines()[2:]] == ["words", "severities", "edits"]
