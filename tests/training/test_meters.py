"""Metrics in training loops: the numbers of one call, in parts and in processes; and BERTScore with a gradient."""

import copy
import pickle
import sys

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import BertScore, piece_weights
from nlgauge.models.encoder import load_encoder
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import numbers_of
from nlgauge.training.meters import as_compute_metrics, as_torchmetrics, match_tokens

torch = pytest.importorskip("torch")


class Words:
    """A tokenizer whose ids are places in a list; ids below 2 are special."""

    words = ("<pad>", "</s>", "a", "the", "cat", "dog", "sat", " ")
    pad_token_id = 0

    def batch_decode(self, ids, skip_special_tokens):
        return [" ".join(self.words[i] for i in row if i > 1 or not skip_special_tokens) for row in ids.tolist()]


def found_by(predictions, labels, inputs=None):
    """What a trainer hands over."""
    transformers = pytest.importorskip("transformers")
    return transformers.EvalPrediction(predictions, np.array(labels), inputs)


LABELS = [[2, 4, 6, 1], [3, 5, 1, -100]]  # a cat sat, the dog


def test_ids_of_a_trainer_are_the_texts_that_they_stand_for():
    compute = as_compute_metrics(Words(), ["chrf:word_order=2", "bleu"])
    generated = np.array([[0, 3, 4, 6, 1], [7, 2, 5, 1, -100]])  # blanks at the ends of a text do not count
    whole = ng.score(["the cat sat", "a dog"], ["a cat sat", "the dog"], metrics=["chrf:word_order=2", "bleu"])
    found = compute(found_by(generated, LABELS))
    assert found == {spec: scores.system for spec, scores in whole.items()}
    assert {type(value) for value in found.values()} == {float}
    seen = []

    def looks(hypothesis, references):
        seen.append((hypothesis, *references))
        return 1.0

    as_compute_metrics(Words(), ng.metric(looks))(found_by(generated, [[7, 2, 4, 6, 7], [3, 5, 1, -100, -100]]))
    assert seen == [("the cat sat", "a cat sat"), ("a dog", "the dog")]
    several = [["a cat sat", "the cat sat"], ["a dog"]]
    assert as_compute_metrics(Words(), "chrf", references=several)(found_by(generated, LABELS))["chrf"] == 100


def test_of_logits_the_best_token_counts_where_there_is_a_label():
    best = np.array([[2, 5, 6, 1], [3, 5, 1, 6]])  # the last place has no label: what is there is no text
    logits = np.eye(8, dtype=np.float32)[best]
    for predictions in (logits, (logits, "states of the encoder")):
        found = as_compute_metrics(Words(), "chrf")(found_by(predictions, LABELS))
        assert (
            found["chrf"] == ng.score(["a dog sat", "the dog"], ["a cat sat", "the dog"], metrics="chrf")["chrf"].system
        )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_logits_may_be_tensors_of_any_precision(dtype):
    best = torch.tensor([[2, 5, 6, 1], [3, 5, 1, 6]])
    logits = torch.nn.functional.one_hot(best, 8).to(dtype).requires_grad_()
    found = as_compute_metrics(Words(), "exact_match")(found_by(logits, LABELS))
    assert found == {"exact_match": 0.5}  # "a dog sat" is another text, "the dog" the same


SPECS = ["exact_match", "ter", "chrf", "bleu", "wer", "token_f1"]


@pytest.mark.parametrize("shape", [(0, 4), (0, 0), (0, 4, 8)])
def test_a_set_without_items_has_no_score(shape):
    transformers, tokenizers = pytest.importorskip("transformers"), pytest.importorskip("tokenizers")
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<pad>": 0, "<unk>": 1}, unk_token="<unk>"))
    real = transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", unk_token="<unk>")
    for tokenizer in (real, Words()):
        found = as_compute_metrics(tokenizer, SPECS)(
            found_by(
                np.zeros(shape, float if len(shape) == 3 else int), np.zeros(shape[:2], int), np.zeros((0, 2), int)
            )
        )
        assert found.keys() == set(SPECS)
        assert np.isnan(list(found.values())).all()


def test_what_a_trainer_is_given_can_be_sent_to_another_process():
    compute = pickle.loads(pickle.dumps(as_compute_metrics(Words(), SPECS, references=[["a cat sat"], ["a dog"]])))
    assert compute(found_by(np.array(LABELS), LABELS))["exact_match"] == 1.0  # of an article nothing counts


def test_inputs_of_a_trainer_are_sources_and_a_processor_holds_a_tokenizer():
    sources = []

    def looks(hypothesis, source):
        sources.append(source)
        return 1.0

    class Processor:
        tokenizer = Words()

    inputs = np.array([[3, 5, 1], [2, 4, -100]])
    compute = as_compute_metrics(Processor(), ng.metric(looks))
    assert list(compute(found_by(np.array(LABELS), LABELS, inputs)).values()) == [1.0]
    assert sources == ["the dog", "a cat"]


@pytest.mark.parametrize(
    ("predictions", "said"),
    [
        (
            np.zeros((2, 3), np.float32),
            r"^predictions have shape \(2, 3\) and type float32, expected ids of shape \(n, tok",
        ),
        (np.zeros((2, 5, 8), np.float32), r"^predictions have shape \(2, 5, 8\) and type float32, expected ids"),
        ([np.zeros((1, 4), int)] * 2, "^predictions and labels come in lists, expected arrays; leave eval_do_concat_b"),
        (np.zeros((1, 4), int), "^1 hypotheses but 2 entries of references"),
    ],
)
def test_what_is_no_text_is_refused(predictions, said):
    with pytest.raises(ng.InputError, match=said):
        as_compute_metrics(Words(), "chrf")(found_by(predictions, LABELS))


def test_a_tokenizer_without_padding_and_an_unknown_metric_are_refused_at_once():
    bare = Words()
    bare.pad_token_id = None
    with pytest.raises(
        ng.InputError, match=r"no token for padding.*; set tokenizer\.pad_token = tokenizer\.eos_token$"
    ):
        as_compute_metrics(bare, "chrf")
    with pytest.raises(ng.SpecError, match="unknown metric"):
        as_compute_metrics(Words(), "blue")


@pytest.mark.parametrize("generate", [True, False])
def test_a_trainer_logs_the_numbers_of_its_texts(tiny_denoiser, tmp_path, generate):
    pytest.importorskip("accelerate")
    transformers = pytest.importorskip("transformers")
    folder = tiny_denoiser("t5")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    model.config.decoder_start_token_id = model.generation_config.decoder_start_token_id  # as that of T5 has it
    sources, targets = ["the cat sat", "rain fell on the mat"], ["the dog sat", "snow"]
    rows = [dict(tokenizer(src), labels=tokenizer(ref)["input_ids"]) for src, ref in zip(sources, targets, strict=True)]
    seen = []

    def looks(hypothesis, references, source):
        seen.append((source, *references, hypothesis))
        return float(len(hypothesis))

    arguments = transformers.Seq2SeqTrainingArguments(
        str(tmp_path), max_steps=1, use_cpu=True, report_to=[], disable_tqdm=True, per_device_eval_batch_size=1,
        eval_strategy="steps", eval_steps=1, save_strategy="no", predict_with_generate=generate,
        generation_max_length=6, include_for_metrics=["inputs"],
    )  # fmt: skip
    trainer = transformers.Seq2SeqTrainer(
        model, arguments, transformers.DataCollatorForSeq2Seq(tokenizer, model), rows, rows,
        processing_class=tokenizer, compute_metrics=as_compute_metrics(tokenizer, ["chrf", ng.metric(looks)]),
    )  # fmt: skip
    trainer.train()
    assert [one[:2] for one in seen] == list(zip(sources, targets, strict=True))
    hyps = [one[2] for one in seen]
    assert trainer.state.log_history[0]["eval_chrf"] == ng.score(hyps, targets, metrics="chrf")["chrf"].system
    if generate:
        ids = [model.generate(torch.tensor([row["input_ids"]]), max_length=6)[0] for row in rows]
        assert hyps == [tokenizer.decode(x, skip_special_tokens=True).strip() for x in ids]


HYPS = ["it rains", "a cat\r\nsat \u2028 \ud800", "the dog"]
REFS = [["it is raining"], ["the cat sat", "a cat"], ["a dog"]]


@pytest.fixture
def whole():
    pytest.importorskip("torchmetrics")
    return numbers_of(ng.score(HYPS, REFS, metrics=["chrf", "bleu"]))


def test_batches_give_the_numbers_of_one_call(whole):
    meter = as_torchmetrics(["chrf", "bleu"])
    other = meter.clone()
    assert meter(HYPS[:1], REFS[:1]) == numbers_of(ng.score(HYPS[:1], REFS[:1], metrics=["chrf", "bleu"]))
    assert other.texts == []  # a copy has texts of its own
    meter.update(HYPS[1:], REFS[1:])
    assert meter.to("cpu").compute() == whole
    meter.reset()
    meter.update(HYPS, REFS, ["", "x", *[""] * (len(HYPS) - 2)])  # an empty source is a source
    assert meter.compute() == whole


def test_texts_of_several_processes_are_scored_together(whole):
    meters = [as_torchmetrics(["chrf", "bleu"]) for _ in range(2)]
    meters[0].update(HYPS[:1], REFS[:1])
    meters[1].update(HYPS[1:], REFS[1:])
    # what torchmetrics makes of the states of all processes
    meters[0].texts = torch.cat([part for meter in meters for part in meter.texts])
    assert meters[0].compute() == whole


def test_it_goes_to_other_processes_and_is_copied_with_its_texts(whole):
    meter = as_torchmetrics(["chrf", "bleu"], ng.Runtime())
    meter.update(HYPS, REFS)
    assert pickle.loads(pickle.dumps(meter)).compute() == copy.deepcopy(meter).compute() == whole
    assert pickle.loads(pickle.dumps(meter["chrf"])).compute() == whole["chrf"]


def test_torchmetrics_computes_with_one_number(whole):
    from torchmetrics import MetricCollection
    from torchmetrics.wrappers import MinMaxMetric

    several, one = as_torchmetrics(["bleu", "chrf"]), as_torchmetrics("chrf")
    found = several["chrf"] * 3
    found.update(HYPS, REFS)
    assert found.compute().item() == 3 * whole["chrf"]
    assert MinMaxMetric(several["chrf"])(HYPS, REFS)["max"].item() == whole["chrf"]
    assert MetricCollection([as_torchmetrics("bleu"), one])(HYPS, REFS) == whole
    with pytest.raises(ng.InputError, match="no number 'chfr'; did you mean 'chrf'"):
        several["chfr"](HYPS, REFS)


def test_an_unknown_metric_and_a_missing_package_are_told_at_once(whole, monkeypatch):
    with pytest.raises(ng.SpecError, match="unknown metric"):
        as_torchmetrics("blue")
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    with pytest.raises(ng.InputError, match=r"torchmetrics is not installed; run: pip install torchmetrics$"):
        as_torchmetrics("wer")  # of which there was none before


PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("rain", "the rain fell today and the snow did not"),
    ("the dog fell", "the dog fell"),
]


def test_two_tokens_against_two_by_hand():
    # cosines of (1, 0) and (0, 2) with (3, 4) and (0, 1): .6 and 0, .8 and 1. Best of the hypothesis .6 and 1, of the
    # reference .8 and 1; weights 1 and 3 give P = (.6 + 3) / 4 = .9, and R = .9 as well; F = .9
    vectors = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]), torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])
    ones = torch.ones(1, 2, dtype=torch.bool)
    found = match_tokens(*vectors, torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0, 1.0]]), ones, ones)
    assert [round(float(v), 6) for v in (found.precision, found.recall, found.f1)] == [0.9, 0.9, 0.9]


def padded(encoder, texts, layer):
    """Vectors, weights and mask of texts, padded by noise that must not count."""
    tokens = encoder.tokenizer.tokens(texts)
    vectors = encoder.encode(tokens, layer)
    width = max(len(t.ids) for t in tokens)
    rows = torch.randn(len(texts), width, vectors.matrix.shape[1], generator=torch.Generator().manual_seed(0))
    weights, mask = torch.ones(len(texts), width), torch.zeros(len(texts), width, dtype=torch.bool)
    for i, (token, start, length) in enumerate(zip(tokens, vectors.starts, vectors.lengths, strict=True)):
        rows[i, :length] = 3 * vectors.matrix[start : start + length]  # of any length
        weights[i, :length] = torch.from_numpy(piece_weights(encoder, token.ids, None))
        mask[i, :length] = True
    return rows, weights, mask


def test_values_are_those_of_the_metric(tiny_model):
    model, runtime = str(tiny_model("bert")), Runtime()
    metric = BertScore(model=model, layer=1)
    scores = metric.score([Segment(str(i), hyp, (ref,)) for i, (hyp, ref) in enumerate(PAIRS)], runtime)
    encoder = load_encoder(model, None, "float32", runtime)
    hypotheses, references = (padded(encoder, list(texts), 1) for texts in zip(*PAIRS, strict=True))
    found = match_tokens(*(part for pair in zip(hypotheses, references, strict=True) for part in pair))
    for name in ("precision", "recall", "f1"):  # float32: the order of additions differs
        np.testing.assert_allclose(getattr(found, name).numpy(), scores.parts[name], atol=1e-6)


def test_the_gradient_is_that_of_finite_differences():
    generator = torch.Generator().manual_seed(1)
    hyp, ref = (torch.randn(2, n, 3, generator=generator, dtype=torch.float64) for n in (3, 4))
    mask = torch.tensor([[True, True, False], [True, True, True]]), torch.ones(2, 4, dtype=torch.bool)
    weights = torch.rand(2, 3, generator=generator, dtype=torch.float64), torch.ones(2, 4, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x: match_tokens(x, ref, *weights, *mask).f1, hyp.requires_grad_(), eps=1e-6, atol=1e-5
    )


def test_a_text_learns_to_match():
    generator = torch.Generator().manual_seed(2)
    ref, hyp = torch.randn(1, 3, 8, generator=generator), torch.randn(1, 3, 8, generator=generator).requires_grad_()
    weights, mask = torch.ones(1, 3), torch.ones(1, 3, dtype=torch.bool)
    optimizer = torch.optim.Adam([hyp], 0.1)
    for _ in range(60):
        optimizer.zero_grad()
        loss = 1 - match_tokens(hyp, ref, weights, weights, mask, mask).f1.mean()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.05


def test_what_weighs_nothing_gives_0_and_what_does_not_fit_is_refused():
    vectors, mask = torch.ones(1, 2, 2, requires_grad=True), torch.ones(1, 2, dtype=torch.bool)
    found = match_tokens(vectors, vectors, torch.zeros(1, 2), torch.ones(1, 2), mask, mask)
    assert tuple(x.item() for x in (found.precision, found.recall, found.f1)) == (0.0, pytest.approx(1.0), 0.0)
    found.f1.sum().backward()
    assert torch.isfinite(vectors.grad).all()
    with pytest.raises(InputError, match="as many texts and dimensions"):
        match_tokens(vectors, torch.ones(2, 2, 2), torch.ones(1, 2), torch.ones(2, 2), mask, mask.expand(2, 2))
    with pytest.raises(InputError, match="has no token"):
        match_tokens(vectors, vectors, torch.ones(1, 2), torch.ones(1, 2), ~mask, mask)
    with pytest.raises(InputError, match=r"expected \(n, tokens, d\)"):
        match_tokens(vectors, vectors, torch.ones(1, 3), torch.ones(1, 2), mask, mask)
