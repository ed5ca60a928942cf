"""BLEURT and MetricX against the forward passes of transformers, on small networks with random weights."""

import json
import shutil

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.spec import quote
from nlgauge.metrics.learned.published import Bleurt, Hhem, MetricX, MetricXQE
from nlgauge.testing import check_metric
from nlgauge.testing.metric import SEGMENTS

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

HYPS = ["the cat sat here", "rain in the north tonight", "a dog"]
REFS = ["a cat sat there", "heavy rain tonight", "a dog"]
SRCS = ["eine Katze", "Regen heute", "ein Hund"]


def scored(metric, hyps=HYPS, refs=REFS, srcs=SRCS):
    (found,) = ng.score(hyps, refs, srcs=srcs, metrics=metric).values()
    return found


# --- Classifiers with one output


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_a_rating_is_the_output_of_transformers_classifier(tiny_nli, kind):
    folder = tiny_nli(kind, ("LABEL_0",))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        expected = [
            model(**tokenizer(ref, hyp, return_tensors="pt")).logits.item() for hyp, ref in zip(HYPS, REFS, strict=True)
        ]
    found = scored(f"bleurt:model={quote(str(folder))}")
    assert found.values == pytest.approx(expected, abs=1e-6)  # float32, whose sums differ in the last bits
    by_source = scored(f"bleurt:model={quote(str(folder))},anchor=source,activation=sigmoid", refs=SRCS)
    plain = scored(f"bleurt:model={quote(str(folder))}", refs=SRCS)
    assert by_source.values == pytest.approx(torch.sigmoid(torch.tensor(plain.values)).numpy(), abs=1e-6)


def test_hhem_is_the_sigmoid_of_the_output_for_source_and_text(tiny_nli):
    folder, source = tiny_nli("deberta-v2", ("LABEL_0",)), "heavy rain fell today. " * 9  # 48 pieces are read
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        given = [tokenizer(source, hyp, truncation=True, return_tensors="pt") for hyp in HYPS]
        expected = [torch.sigmoid(model(**one).logits).item() for one in given]
    assert given[0].input_ids.shape[1] == 48
    found = scored(f"hhem:model={quote(str(folder))}", srcs=[source] * 3)
    assert found.values == pytest.approx(expected, abs=1e-6)  # float32, see above
    assert scored(f"hhem:model={quote(str(folder))}", hyps=["", "a", "a"]).values[0] == 0


def test_several_references_are_folded_and_a_blank_text_is_worst(tiny_nli):
    metric = f"bleurt:model={quote(str(tiny_nli('bert', ('LABEL_0',))))}"
    apart = [scored(metric, HYPS[:1], [ref], SRCS[:1]).values[0] for ref in REFS[:2]]
    assert scored(metric, HYPS[:1], [REFS[:2]], SRCS[:1]).values == pytest.approx([sum(apart) / 2])
    assert scored(f"{metric},references=best", HYPS[:1], [REFS[:2]], SRCS[:1]).values == pytest.approx([max(apart)])
    blank = scored(metric, ["", "a"], ["a", " "], SRCS[:2])
    assert blank.values.tolist() == [-2, -2]
    assert blank.flags["empty"].all()


def test_a_network_with_other_outputs_is_refused(tiny_nli):
    with pytest.raises(ng.InputError, match=r"has 3 labels, expected one, .*runs as nli:model="):
        scored(f"bleurt:model={quote(str(tiny_nli('bert')))}")


def test_published_metrics_keep_the_contract(tiny_nli, metricx):
    for metric in (
        Bleurt(model=str(tiny_nli("bert", ("LABEL_0",)))),
        Hhem(model=str(tiny_nli("bert", ("LABEL_0",)))),
        MetricX(model=str(metricx)),
        MetricXQE(model=str(metricx)),
    ):
        check_metric(metric, SEGMENTS[:10])


# --- MetricX


@pytest.fixture(scope="module")
def metricx(tmp_path_factory, tiny_model):
    """A small mT5 with the tokenizer of the tiny T5."""
    folder = tmp_path_factory.mktemp("metricx") / "metricx-24-tiny"
    shutil.copytree(tiny_model("t5"), folder, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
    size = json.loads((tiny_model("t5") / "config.json").read_text())["vocab_size"]
    config = transformers.MT5Config(
        vocab_size=size, d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = transformers.MT5ForConditionalGeneration(config)
        model.lm_head.weight = torch.nn.Parameter(torch.randn_like(model.lm_head.weight))  # not tied, as MetricX's
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    about = json.loads((folder / "tokenizer_config.json").read_text())
    del about["model_max_length"]  # as mT5's tokenizer, which has no limit
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder


def logits_of(folder, texts):
    """The logits of the first step, shape (texts, V)."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.MT5ForConditionalGeneration.from_pretrained(folder).eval()
    start, found = torch.zeros(1, 1, dtype=torch.long), []
    for text in texts:
        ids = torch.tensor([tokenizer(text).input_ids[:-1]])  # without the end piece
        with torch.inference_mode():
            found.append(model(input_ids=ids, decoder_input_ids=start).logits[0, 0].numpy())
    return np.array(found)


@pytest.mark.parametrize(
    ("metric", "options", "text"),
    [
        ("metricx", "", "source: {src} candidate: {hyp} reference: {ref}"),
        ("metricx", ",version=23", "candidate: {hyp} reference: {ref}"),
        ("metricx-qe", "", "source: {src} candidate: {hyp}"),
        ("metricx-qe", ",version=23", "candidate: {hyp} source: {src}"),
    ],
)
def test_a_rating_is_the_first_logit_of_transformers_mt5(metricx, monkeypatch, metric, options, text):
    texts = [text.format(hyp=hyp, ref=ref, src=src) for hyp, ref, src in zip(HYPS, REFS, SRCS, strict=True)]
    logits = logits_of(metricx, texts)
    # the piece whose ratings differ most and need not be cut off stands for <extra_id_10>
    inside = (logits > 0).all(axis=0) & (logits < 25).all(axis=0)
    piece = int(np.argmax(np.where(inside, np.ptp(logits, axis=0), -1)))
    monkeypatch.setattr("nlgauge.models.networks._RATING", piece)
    found = scored(f"{metric}:model={quote(str(metricx))}{options}")
    assert len(set(found.values)) == 3
    assert found.values == pytest.approx(logits[:, piece], abs=1e-5)  # float32, whose sums differ in the last bits
    assert not found.higher_is_better


def test_another_model_is_refused_and_a_blank_hypothesis_is_worst(tiny_model, metricx):
    with pytest.raises(ng.InputError, match="is of type 't5', expected mt5, as MetricX is"):
        scored(f"metricx:model={quote(str(tiny_model('t5')))}")
    assert scored(f"metricx:model={quote(str(metricx))}", ["", "a", "a"]).values[0] == 25
