"""From sums of log-probabilities to values and flags."""

import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.likelihood import BartScore, Fluency, Perplexity, judged
from nlgauge.models.filler import load_infill, pseudo_likelihoods
from nlgauge.models.generation import Generator, Likelihoods, n_pieces
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

torch = pytest.importorskip("torch")


def test_a_value_is_a_mean_and_what_has_none_is_flagged():
    sums = np.array([-6.0, 0.0, -2.0, -np.inf, -3.0])
    counts = np.array([3.0, 0.0, 2.0, 2.0, 2.0])
    empty = np.array([False, True, False, False, False])
    cut = np.array([True, True, False, False, False])
    shares = np.array([0.0, 1.0, 1.0, 0.0, 0.5])
    means, flags = judged(Likelihoods(sums, counts, cut, shares, empty), -9.0)
    assert means == pytest.approx([-2, -9, np.nan, np.nan, -1.5], nan_ok=True)
    assert {name: np.flatnonzero(column).tolist() for name, column in flags.items()} == {
        "empty": [1],
        "truncated": [0],
        "unknown": [2, 4],
        "nonfinite": [3],
    }


# --- BARTScore and PRISM with tiny models: directions, references, prompts, and the contract of a metric

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
    "options", [{"direction": "hypothesis-given-source"}, {"direction": R, "frame": "skip", "prompt": "rain {}"}]
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
    worst = -2 * math.log(n_pieces(metric.found()))
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


# --- Perplexity: worked by hand, against the loss of transformers, and for a corpus


def rows(*texts):
    return [Segment(str(n), text) for n, text in enumerate(texts)]


def test_it_is_the_exponential_of_the_loss_with_a_begin_token(tiny_causal):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_causal("gpt2")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    texts = ["the cat sat on the mat", "rain", "heavy rain fell today"]
    expected = []
    for text in texts:
        ids = torch.tensor([[0, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
        with torch.inference_mode():
            expected.append(math.exp(model(input_ids=ids, labels=ids).loss.item()))  # of every piece but the first
    found = Perplexity(model=str(folder)).score(rows(*texts), CPU)
    assert found.values == pytest.approx(expected, rel=1e-5)  # float32


def test_worked_by_hand(tiny_causal, monkeypatch):
    # Two pieces with probability 1/4 and 1/9 have the geometric mean 1/6; one with 1/2 has 1/2. Together three pieces
    # have the product 1/72.
    none = np.zeros(2, bool)
    said = Likelihoods(np.log([1 / 36, 1 / 2]), np.array([2.0, 1.0]), none, np.zeros(2), none)
    monkeypatch.setattr(Generator, "likelihoods", lambda self, pairs, advance: said)
    scores = Perplexity(model=str(tiny_causal("gpt2"))).score(rows("a", "b"), CPU)
    assert scores.values == pytest.approx([6, 2])
    assert scores.system == pytest.approx(72 ** (1 / 3))


def test_perplexity_it_keeps_the_contract_of_a_metric(tiny_causal):
    metric, other = (Perplexity(model=str(tiny_causal(kind))) for kind in ("gpt2", "llama"))
    segments = rows("the cat sat", "rain", "the cat sat on the mat " * 9, "not good")
    # An exponential turns 1e-6 into more.
    check_metric(metric, segments, CPU, tolerance=1e-5, alternatives={"model": other.model})


def test_an_empty_text_is_worst_and_one_piece_of_the_corpus(tiny_causal):
    metric = Perplexity(model=str(tiny_causal("gpt2")))
    size = n_pieces(metric.found())
    full, both = metric.score(rows("the cat"), CPU), metric.score(rows("the cat", ""), CPU)
    assert both.values[1] == pytest.approx(size**2)
    assert both.flags["empty"].tolist() == [False, True]
    surprise, pieces = full.segment_stats[0]
    assert both.system == pytest.approx(math.exp((surprise + 2 * math.log(size)) / (pieces + 1)))


def test_an_encoder_decoder_is_refused(tiny_denoiser):
    with pytest.raises(InputError, match="is an encoder-decoder, expected a causal language model"):
        Perplexity(model=str(tiny_denoiser("bart"))).score(rows("rain"), CPU)


# --- Fluency with the head that comes with the package: what it sees, and the contract of a metric


@pytest.fixture(scope="module")
def runtime():
    return Runtime(device="cpu")


def test_a_jumbled_sentence_fits_worse(runtime):
    texts = rows(
        "Heavy rain fell in the north today.", "Rain the in today heavy north fell.", "Heavy rain rain fell the."
    )
    good, jumbled, doubled = Fluency().score(texts, runtime).values
    assert good > jumbled + 1
    assert good > doubled + 0.5


def test_it_is_a_mean_over_pieces(runtime):
    text = "The cat sat on the mat."
    found = pseudo_likelihoods(load_infill("infill", runtime=runtime), [text])
    assert found.counts[0] == 7  # the cat sat on the mat .
    assert Fluency().score(rows(text, text), runtime).values == pytest.approx([found.sums[0] / 7] * 2, abs=1e-6)


def test_an_empty_text_is_worst(runtime):
    scores = Fluency().score(rows("", "rain rain rain cat"), runtime)
    assert scores.values[0] == -2 * math.log(30522) < scores.values[1]
    assert scores.flags["empty"].tolist() == [True, False]


def test_fluency_it_keeps_the_contract_of_a_metric(tiny_masked):
    metric = Fluency(model=str(tiny_masked("bert")))
    check_metric(
        metric,
        rows("the cat sat", "rain", "the cat sat on the mat " * 9, "not good"),
        CPU,
        alternatives={"model": "infill"},
    )


def test_models_that_cannot_be_asked_are_refused(tiny_denoiser, tiny_model):
    with pytest.raises(InputError, match="is an encoder-decoder, expected a masked language model"):
        Fluency(model=str(tiny_denoiser("bart"))).score(rows("rain"), CPU)
    with pytest.raises(InputError, match="expected a masked language model"):
        Fluency(model=str(tiny_model("bert"))).score(rows("rain"), CPU)
