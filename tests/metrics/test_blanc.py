"""BLANC-help: worked by hand with a model that copies, plain loops over logits, and the numbers of blanc 0.3.4."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics import blanc
from nlgauge.metrics.blanc import Blanc
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.metric import SEGMENTS

torch = pytest.importorskip("torch")


# Of blanc 0.3.4, with the shipped head for gaps and its encoder: python recipes/golden/blanc_help.py
GOLDEN = [
    ({}, [0.05, 0.05, 0.0, 0.04, 0.04, -0.08, 0.05, 0.0]),
    ({"measure": "improve"}, [0.05, 0.05, 0.0416666667, 0.0833333333, 0.0833333333, 0.0, 0.05, 0.0196078431]),
    ({"gap": 6}, [0.1, -0.05, 0.04, 0.08, 0.04, 0.0, 0.05, -0.0192307692]),
    ({"gap": 1}, [0.0, 0.0, 0.0, 0.12, 0.04, 0.0, 0.0, 0.0192307692]),
]
SLOW = bool(os.environ.get("NLGAUGE_SLOW"))
RECIPE = Path(__file__).parents[2] / "recipes" / "golden" / "blanc_help.py"


def score(segments, **options):
    return Blanc(**options).score(segments, Runtime(device="cpu"))


def summary(text, source, name="s"):
    return Segment(name, text, source=source)


@pytest.fixture
def copying(monkeypatch):
    """A model that finds a masked piece if, and only if, the piece also stands elsewhere in its sequence."""

    def say(model, clozes, budget=None, advance=lambda n: None):
        return [np.where(np.isin(answers, ids), 1.0, -1.0) for ids, _, answers in clozes]

    monkeypatch.setattr(blanc, "leads", say)


# Pieces of tiny models: words of a list, else letters: "boat" is b ##o ##a ##t.
SOURCE = "the heavy rain fell today"  # of four characters or more: heavy, rain, fell, today


@pytest.mark.parametrize(
    ("text", "value", "helped"),
    [
        ("heavy rain", 0.5, 0.5),  # two of four are gained, none is lost
        ("the cat sat", 0.0, 0.0),  # none of the four stands there; "the" is too short to be asked for
        ("today today", 0.25, 0.25),
        (SOURCE, 1.0, 1.0),
    ],
)
def test_words_gained_by_hand(copying, tiny_masked, text, value, helped):
    found = score([summary(text, SOURCE)], model=str(tiny_masked("bert")))
    assert found.values.tolist() == [value]
    assert {name: part.tolist() for name, part in found.parts.items()} == {"helped": [helped], "filled": [0.0]}


def test_words_that_both_find_count_below_the_line_alone(copying, tiny_masked):
    # rain fell rain fell: under gap 2 both places of "rain" are masked at once, under gap 3 one at a time (0 and 3, 1,
    # 2): then "rain" (2) is found from that at 0, "fell" (1) from that at 3 and so on, but 0 and 3 have their likes at
    # 2 and 1. So all four are found behind either text.
    double = "rain fell rain fell"
    model = str(tiny_masked("bert"))
    both = score([summary("rain", double)], model=model, gap=3)
    assert (both.values.tolist(), both.parts["filled"].tolist()) == ([0.0], [1.0])
    one = score([summary("rain", double)], model=model)
    assert (one.values.tolist(), one.parts["filled"].tolist()) == ([0.5], [0.0])  # the two of "rain" are gained


@pytest.mark.parametrize(("measure", "value"), [("relative", 0.0), ("improve", 1 / 3)])
def test_words_lost_count_against_a_summary(tiny_masked, monkeypatch, measure, value):
    # Of four masked words one is found by neither, one behind the summary alone, one behind the filler alone, one by
    # both: (1 - 1) / 4, and 1 / (1 + 1 + 1).
    def say(model, clozes, budget=None, advance=lambda n: None):
        rows = iter(([1.0, -1.0], [-1.0, -1.0], [1.0, -1.0], [1.0, 1.0]))  # masking by masking: summary, filler
        return [np.array(next(rows)) for _ in clozes]

    monkeypatch.setattr(blanc, "leads", say)
    assert score([summary("cat", SOURCE)], model=str(tiny_masked("bert")), measure=measure).values.tolist() == [value]


def test_short_words_and_pieces_of_words_are_masked_if_asked(tiny_masked, monkeypatch):
    asked = []

    def say(model, clozes, budget=None, advance=lambda n: None):
        names = [model.tokenizer.names(answers) for _, _, answers in clozes[::2]]
        asked.append(sorted(name for found in names for name in found))
        return [np.zeros(len(answers)) for _, _, answers in clozes]

    monkeypatch.setattr(blanc, "leads", say)
    model = str(tiny_masked("bert"))
    text = [summary("cat", "the boat fell on a mat")]  # the b ##o ##a ##t fell on a mat
    for options in ({}, {"normal": 3}, {"lead": 1}, {"followup": 1, "normal": 9}):
        score(text, model=model, **options)
    assert asked == [["fell"], ["fell", "mat", "the"], ["b", "fell"], ["##a", "##o", "##t"]]


def plainly(network, tokenizer, text, source, gap):
    """BLANC-help with loops: one sequence at a time, no batch, no shared filler."""
    cls, sep = tokenizer.cls_token, tokenizer.sep_token
    before = tokenizer.tokenize(text)
    counts = {(a, b): 0 for a in (False, True) for b in (False, True)}
    for sentence in blanc.split_sentences(source):
        pieces = tokenizer.tokenize(sentence)
        width = min(gap, len(pieces))
        for start in range(width):
            masked, answers = list(pieces), {}
            for i, piece in enumerate(pieces):
                following = pieces[i + 1] if i + 1 < len(pieces) else ""
                least = 2 if following.startswith("##") else 3
                if i % width == start and not piece.startswith("##") and len(piece) >= least and piece.isalpha():
                    masked[i], answers[i] = tokenizer.mask_token, piece
            right = []
            for lead in (before, ["."] * len(before)):
                ids = tokenizer.convert_tokens_to_ids([cls, *lead, *masked, sep])
                with torch.inference_mode():
                    logits = network(input_ids=torch.tensor([ids])).logits[0]
                told = {i: int(logits[1 + len(lead) + i].argmax()) for i in answers}
                right.append({i: tokenizer.convert_ids_to_tokens(piece) for i, piece in told.items()})
            for i, answer in answers.items():
                counts[right[0][i] == answer, right[1][i] == answer] += 1
    total = sum(counts.values())
    return (counts[True, False] - counts[False, True]) / total


def test_agrees_with_plain_loops(tiny_masked):
    from transformers import AutoModelForMaskedLM, AutoTokenizer

    model = str(tiny_masked("bert"))
    plain = AutoModelForMaskedLM.from_pretrained(model).eval(), AutoTokenizer.from_pretrained(model)
    source = "Heavy rain fell today. The cat sat on the mat. A good dog lay on the rug today. Snow fell."
    texts = ["heavy rain fell on the good dog", "snow today", "the mat", "the dog sat on the rug. good morning"]
    segments = [summary(text, source, str(i)) for i, text in enumerate(texts)]
    seen = set()
    for gap in (2, 5):
        found = score(segments, model=model, normal=3, gap=gap).values
        assert found == pytest.approx([plainly(*plain, text, source, gap) for text in texts], abs=1e-9)
        seen |= {*found.tolist()}
    assert len(seen) > 1  # a model that tells nothing apart would test nothing


def test_a_blank_side_gains_nothing_and_a_source_of_short_words_is_undefined(tiny_masked):
    segments = [
        summary("", SOURCE, "1"),
        summary("rain", " \u200b", "2"),
        summary("rain", "a cat", "3"),  # no word of four characters
        summary("rain", "...", "4"),
        summary("rain", "rain", "5"),  # one word of one piece is masked whole
    ]
    found = score(segments, model=str(tiny_masked("bert")))
    assert found.values.tolist()[:2] == [0.0, 0.0]
    assert np.isnan(found.values).tolist() == [False, False, True, True, False]
    assert found.flags["unmasked"].tolist() == [False, False, True, True, False]
    assert found.flags["empty"].tolist() == [True, True, False, False, False]


def test_what_does_not_fit_is_cut_as_the_package_cuts(tiny_masked):
    model = str(tiny_masked("bert"))
    metric = Blanc(model=model)
    exam = blanc.Exam(metric, blanc.masked_model(metric._found(), "float32", Runtime(), 12).tokenizer)
    assert exam.room == 10
    pieces = [np.arange(start, start + n) for start, n in ((0, 3), (3, 3), (6, 4))]  # a summary of ten pieces
    sentence = np.arange(100, 108)
    cut, before = exam._cut(sentence, pieces)
    assert cut.tolist() == [*range(100, 105)]  # half of the room is the sentence's
    assert before.tolist() == [0, 1, 2]  # the second sentence would be the sixth piece
    assert exam._cut(sentence[:4], pieces)[1].tolist() == [*range(6)]
    assert exam._cut(sentence, [np.arange(9)])[1].tolist() == [*range(4, 9)]  # the end of its only sentence
    assert exam._cut(sentence, pieces[:1])[0].tolist() == [*range(100, 107)]  # the sentence loses its end first
    assert exam._cut(sentence[:3], pieces[:2])[1].tolist() == [*range(6)]  # all of it fits


def test_a_cut_is_flagged_and_the_limit_is_an_option(tiny_masked):
    model = str(tiny_masked("bert"))
    text, source = "heavy rain " * 10, "heavy snow fell on the good cat today"
    assert score([summary(text, source)], model=model).flags["truncated"].tolist() == [False]
    assert score([summary(text, source)], model=model, max_tokens=12).flags["truncated"].tolist() == [True]


def test_portions_change_nothing(tiny_masked, monkeypatch):
    segments = [summary(text, SOURCE, text) for text in ("heavy rain", "snow", "the cat")]
    model = str(tiny_masked("bert"))
    whole = score(segments, model=model)
    monkeypatch.setattr(blanc, "_AT_ONCE", 1)
    assert score(segments, model=model).values.tolist() == whole.values.tolist()


def test_blanc_keeps_the_contract_of_a_metric(tiny_masked):
    metric = Blanc(model=str(tiny_masked("bert")), gap=1, measure="improve")
    check_metric(metric, SEGMENTS[:9], Runtime(device="cpu"))


def test_models_that_guess_no_single_words_are_refused(tiny_denoiser):
    segments = [summary("rain", SOURCE)]
    with pytest.raises(InputError, match=r"writes phrases, expected a masked language model like BERT$"):
        score(segments, model=str(tiny_denoiser("bart")))
    with pytest.raises(InputError, match=r"^the embedded encoder alone fills no gaps; 'infill' is the head"):
        score(segments, model="embedded")
    with pytest.raises(SpecError, match=r"^blanc:gap is 0, expected"):
        Blanc(gap=0)
    with pytest.raises(InputError, match=r"^blanc needs source; segment 'r' has none$"):
        score([Segment("r", "rain", ("rain",))])


@pytest.mark.skipif(not RECIPE.exists(), reason="the recipes are not beside the tests")
def test_agrees_with_the_authors_package():
    spec = importlib.util.spec_from_file_location("golden_blanc", RECIPE)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    segments = [summary(text, source, str(i)) for i, (source, text) in enumerate(recipe.PAIRS)]
    for setting, values in GOLDEN if SLOW else GOLDEN[:1]:
        assert score(segments, **setting).values == pytest.approx(values, abs=1e-9), setting  # counts over counts


def test_the_range_is_that_of_the_measure():
    assert Blanc().info.range == (-1, 1)
    assert Blanc(measure="improve").info.range == (0, 1)


def test_a_side_of_which_the_tokenizer_keeps_nothing_is_empty():
    # the embedded tokenizer drops U+FFFD, which stands for broken characters
    texts = [
        ("\ufffd", "Salmon sleep less."),
        ("Salmon sleep.", "\ufffd"),
        ("Salmon \ufffd sleep.", "Salmon sleep less."),
    ]
    found = score([summary(*text) for text in texts])
    assert found.flags["empty"].tolist() == [True, True, False]
    assert found.values[:2].tolist() == [0, 0]
    assert not found.flags["unmasked"].any()
