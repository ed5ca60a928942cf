"""BARTScore and PRISM with tiny models: directions, references, prompts, and the contract of a metric."""

import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.generation.bartscore import BartScore
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

torch = pytest.importorskip("torch")
CPU = Runtime(device="cpu")
ROW = Segment("1", "a cat lay on the rug", ("the cat sat on the mat", "rain"), source="snow fell")
P, R, F = "hypothesis-given-reference", "reference-given-hypothesis", "both"


@pytest.fixture(scope="module")
def score(tiny_denoiser):
    def made(segments, kind="bart", **options):
        return BartScore(model=str(tiny_denoiser(kind)), **options).score(segments, CPU)

    return made


def plain(folder, given, text):
    """The loss of transformers with its own tokenizer, one pair at a time, as in the released code."""
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id or 2
    with torch.inference_mode():
        read, asked = (tokenizer(side, return_tensors="pt")["input_ids"] for side in (given, text))
        out = model(input_ids=read, labels=asked)
    return -out.loss.item()


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_the_directions_are_those_of_the_paper(score, tiny_denoiser, kind):
    hyp, ref, src = ROW.hypothesis, ROW.references[0], ROW.source
    expected = [plain(tiny_denoiser(kind), *pair) for pair in ((ref, hyp), (hyp, ref), (src, hyp))]
    found = [
        score([ROW], kind, direction=P, references="first"),
        score([ROW], kind, direction=R, references="first"),
        score([ROW], kind, direction="hypothesis-given-source"),
    ]
    assert [s.values[0] for s in found] == pytest.approx(expected, abs=1e-5)  # float32
    both = score([ROW], kind, references="first")
    assert both.values[0] == pytest.approx((expected[0] + expected[1]) / 2, abs=1e-5)
    assert both.parts["hypothesis_given_reference"][0] == pytest.approx(expected[0], abs=1e-5)
    assert both.parts["reference_given_hypothesis"][0] == pytest.approx(expected[1], abs=1e-5)


def test_several_references_are_folded(score):
    each = [score([Segment("1", ROW.hypothesis, (r,))]).values[0] for r in ROW.references]
    assert score([ROW]).values[0] == pytest.approx(np.mean(each), abs=1e-6)  # float32
    assert score([ROW], references="best").values[0] == pytest.approx(max(each), abs=1e-6)
    uneven = [ROW, Segment("2", "rain", ("rain",))]
    assert len(score(uneven)) == 2


@pytest.mark.parametrize(
    "options", [{}, {"direction": "hypothesis-given-source"}, {"direction": R, "frame": "skip", "prompt": "rain {}"}]
)
def test_it_keeps_the_contract_of_a_metric(tiny_denoiser, options):
    metric = BartScore(model=str(tiny_denoiser("bart")), **options)
    segments = [
        Segment("1", "the cat sat", ("a cat sat", "rain"), source="rain fell", system="a", item="1"),
        Segment("2", "rain fell today", ("heavy rain fell",), source="rain", system="b", item="1"),
        Segment("3", "the cat sat on the mat " * 4, ("snow fell",), source="a dog", system="a", item="2"),
    ]
    check_metric(metric, segments, CPU, alternatives={"prompt": "{} not", "model": str(tiny_denoiser("mbart"))})


def test_a_causal_model_serves_too(tiny_causal):
    metric = BartScore(model=str(tiny_causal("gpt2")))
    scores = metric.score([ROW, Segment("2", "", ("rain",)), Segment("3", "rain", (" ",))], CPU)
    worst = -2 * math.log(metric.found().n_pieces)
    assert scores.values[1:].tolist() == [worst, worst] < [scores.values[0]] * 2
    assert scores.flags["empty"].tolist() == [False, True, True]


def test_an_empty_side_is_worst_and_asks_nothing(score, monkeypatch):
    from nlgauge.models.generation import Generator

    monkeypatch.setattr(Generator, "_network", lambda self: pytest.fail("the model is loaded for nothing"))
    scores = score([Segment("1", " \u200b", ("rain",)), Segment("2", "rain", ("",))])
    assert scores.flags["empty"].all()
    assert scores.values[0] == scores.values[1] < -10


def test_prism_leaves_out_what_stands_around_the_text(tiny_denoiser):
    folder = tiny_denoiser("bart")
    metric = ng.metric("prism", model=str(folder))
    assert (metric.direction, metric.frame) == ("both", "skip")
    counted, skipped = (ng.metric(name, model=str(folder)).score([ROW], CPU).values for name in ("bartscore", "prism"))
    assert counted != pytest.approx(skipped, abs=1e-3)


def test_presets_name_the_papers_model_and_take_ones_own(tiny_denoiser):
    own = ng.metric("paper/bartscore-fn", model=str(tiny_denoiser("bart")))
    assert own.info.needs == {"source"}
    for name, direction in (("p", P), ("r", R), ("fn", "hypothesis-given-source")):
        preset = ng.metric(f"paper/bartscore-{name}")
        assert (preset.model, preset.direction) == ("facebook/bart-large-cnn", direction)


def test_the_f_score_of_the_paper_asks_for_the_model_that_has_to_be_converted(tiny_denoiser):
    # MENLI's F is of the weights trained on ParaBank2; those of CNN/DM must not stand in for them
    with pytest.raises(SpecError, match=r"needs the option 'model'; write paper/bartscore-f:model=\.\.\.; .*bart\.pth"):
        ng.metric("paper/bartscore-f")
    folder = str(tiny_denoiser("bart"))
    assert ng.metric("paper/bartscore-f", model=str(folder)) == BartScore(model=folder, direction=F)


def test_options_that_change_nothing_are_refused():
    with pytest.raises(SpecError, match=r"expected a text with one \{\}"):
        BartScore(model="x", prompt="in other words")
    with pytest.raises(SpecError, match="references=best changes nothing under direction=hypothesis-given-source"):
        BartScore(model="x", direction="hypothesis-given-source", references="best")
    with pytest.raises(SpecError, match="source_language goes with direction=hypothesis-given-source"):
        BartScore(model="x", source_language="de")


def test_what_is_lacking_is_named(tiny_denoiser, tiny_masked):
    with pytest.raises(InputError, match="bartscore needs references; segment '1' has none"):
        BartScore(model=str(tiny_denoiser("bart"))).score([Segment("1", "rain")], CPU)
    with pytest.raises(InputError, match="expected a model that writes text"):
        BartScore(model=str(tiny_masked("bert"))).score([ROW], CPU)


def test_a_long_text_is_cut_and_flagged(score):
    assert score([Segment("1", "the cat " * 60, ("rain",)), ROW]).flags["truncated"].tolist() == [True, False]
