"""MiniCheck and AlignScore beside the steps of their packages, on small networks with random weights.

The packages are in no index of packages: what they do is written here once more, with transformers and by the page of
code, on texts whose sentences are known.
"""

import itertools
import json
import shutil

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.spec import quote
from nlgauge.metrics.checkers import AlignScore, MiniCheck
from nlgauge.models import repository
from nlgauge.testing import check_metric

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SENTENCES = ["The cat sat on a mat.", "Heavy rain fell today.", "A dog lay on the rug.", "Good morning.", "Snow fell."]
SOURCES = [" ".join(SENTENCES), " ".join(SENTENCES[:2]), SENTENCES[2]]
HEADS = {"bin": 2, "tri": 3, "reg": 1}  # outputs of AlignScore's layers
CLAIMS = [["A dog sat.", "Rain fell."], ["The cat lay on a rug."], ["Not a dog."]]


def scored(metric, sources=SOURCES, claims=CLAIMS):
    (found,) = ng.score([" ".join(claim) for claim in claims], srcs=sources, metrics=metric).values()
    return found


def sentences_of(text):
    return [one for one in SENTENCES if one in text]


def packed(sentences, size, most):
    """The parts of MiniCheck's package: a part ends before the sentence with which it would be too long."""
    parts, part, used = [], [], 0
    for one in sentences:
        if used + size(one) > most:
            parts.append(" ".join(part))
            part, used = [one], size(one)
        else:
            part.append(one)
            used += size(one)
    return [one for one in [*parts, " ".join(part)] if one]


# --- MiniCheck


@pytest.fixture(scope="module")
def answerer(tiny_model, tmp_path_factory):
    """A small T5 with more pieces than its tokenizer has, so that there are two for its answers."""
    folder = tmp_path_factory.mktemp("minicheck") / "t5"
    shutil.copytree(tiny_model("t5"), folder, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
    shape = json.loads((tiny_model("t5") / "config.json").read_text())
    config = transformers.T5Config(**{**shape, "vocab_size": 256, "decoder_start_token_id": 0, "architectures": None})
    with torch.random.fork_rng():
        torch.manual_seed(4)
        model = transformers.T5ForConditionalGeneration(config)
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    return folder


def labelled(tiny_nli, kind):
    return tiny_nli(kind, ("LABEL_0", "LABEL_1"))


def supported(folder, kind, texts):
    """Of texts that are whole, the probability of the second answer of two."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    auto = transformers.AutoModelForSeq2SeqLM if kind == "t5" else transformers.AutoModelForSequenceClassification
    model, found = auto.from_pretrained(folder).eval(), []
    for source, claim in texts:
        end = tokenizer.eos_token or tokenizer.sep_token
        given = tokenizer(f"{'predict: ' if kind == 't5' else ''}{source}{end}{claim}", return_tensors="pt")
        with torch.inference_mode():
            if kind == "t5":
                first = model(**given, decoder_input_ids=torch.zeros(1, 1, dtype=torch.long)).logits[0, 0]
                logits = first[[3, 209]]
            else:
                logits = model(**given).logits[0]
        found.append(torch.softmax(logits.double(), 0)[1].item())
    return found


@pytest.mark.parametrize("kind", ["roberta", "deberta-v2", "t5"])
@pytest.mark.parametrize("claims", ["whole", "sentences"])
def test_minicheck_is_the_best_part_of_the_source(tiny_nli, answerer, monkeypatch, kind, claims):
    folder = answerer if kind == "t5" else labelled(tiny_nli, kind)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    most = 9 if kind == "t5" else 24
    monkeypatch.setattr("nlgauge.metrics.checkers._WORDS" if kind == "t5" else "nlgauge.metrics.checkers._PIECES", most)

    def size(sentence):
        return len(sentence.split() if kind == "t5" else tokenizer(sentence, add_special_tokens=False).input_ids)

    expected, counts = [], []
    for source, claim in zip(SOURCES, CLAIMS, strict=True):
        parts = packed(sentences_of(source), size, most)
        asked = claim if claims == "sentences" else [" ".join(claim)]
        pairs = supported(folder, kind, itertools.product(parts, asked))
        expected.append(np.reshape(pairs, (len(parts), len(asked))).max(axis=0).mean())
        counts.append(len(parts))
    found = scored(f"minicheck:model={quote(str(folder))},claims={claims}")
    assert max(counts) > 1
    assert found.values == pytest.approx(expected, abs=1e-6)  # float32, whose sums differ in the last bits
    assert len(set(np.round(found.values, 5))) == 3


def test_minicheck_reads_more_than_its_tokenizer_says(tiny_nli, answerer):
    for folder, most in (
        (answerer, 2048),
        (labelled(tiny_nli, "deberta-v2"), 2048),
        (labelled(tiny_nli, "roberta"), 48),
    ):
        about = folder / "tokenizer_config.json"
        assert json.loads(about.read_text())["model_max_length"] <= 512
        assert MiniCheck(model=str(folder)).limit == most
    assert MiniCheck(model=str(answerer), max_tokens=40).limit == 40
    long = scored(f"minicheck:model={quote(str(answerer))}", ["cat " * 600], [["A cat."]])
    assert not long.flags["truncated"].any()  # one sentence of 600 pieces


def test_minicheck_refuses_other_models_by_name(tiny_nli, tiny_model):
    for folder, message in (
        (tiny_nli("bert"), r"labels is 'unsupported,supported', expected entailment"),
        (tiny_nli("bert", ("LABEL_0",)), r"has 1 labels"),
        (tiny_nli("bert", ("supported", "unsupported")), r"calls its labels supported, unsupported, in this order"),
        (tiny_model("t5"), r"expected T5's vocabulary, as MiniCheck has it"),
    ):
        with pytest.raises(ng.InputError, match=message):
            scored(f"minicheck:model={quote(str(folder))}")
    right = tiny_nli("bert", ("supported", "unsupported"))
    assert 0 < scored(f"minicheck:model={quote(str(right))},labels=none").values[0] < 1


# --- AlignScore


@pytest.fixture(scope="module")
def roberta(tiny_model):
    """The configuration and the tokenizer of a small RoBERTa."""
    return tiny_model("roberta")


@pytest.fixture
def aligner(roberta, tmp_path, monkeypatch):
    """A checkpoint as Lightning writes those of AlignScore, and what is in it: an encoder and its layers."""
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "store"))
    monkeypatch.setattr(repository, "setup", lambda name: roberta)
    with torch.random.fork_rng():
        torch.manual_seed(6)
        encoder = transformers.RobertaModel(transformers.AutoConfig.from_pretrained(roberta))
        layers = {f"{name}_layer": torch.nn.Linear(encoder.config.hidden_size, n) for name, n in HEADS.items()}
        for parameter in encoder.parameters():
            parameter.data += 0.1 * torch.randn_like(parameter)
    state = {f"base_model.{name}": tensor for name, tensor in encoder.state_dict().items()}
    state["base_model.embeddings.position_ids"] = torch.arange(50)[None]  # as transformers kept them then
    state |= {f"{name}.{kind}": one for name, layer in layers.items() for kind, one in layer.state_dict().items()}
    path = tmp_path / "AlignScore-tiny.ckpt"

    def save(state):
        kept = {"hyper_parameters": {"model": "roberta-tiny"}, "epoch": 2, "pytorch-lightning_version": "1.7.7"}
        steps = [{"state": {0: {"step": 3, "exp_avg": torch.ones(4)}}, "param_groups": [{"lr": 1e-5, "params": [0]}]}]
        torch.save({"state_dict": state, "optimizer_states": steps, **kept}, path)
        return path

    save(state)
    return path, encoder.eval(), layers["tri_layer"], save, state


def aligned(roberta, encoder, layer, source, claims, most):
    """The number of AlignScore's package: sentences over parts of as many sentences each as give about `most` words."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(roberta)
    sentences = sentences_of(source)
    step = max(len(sentences) // (len(source.split()) // most + 1), 1)
    parts = [" ".join(sentences[i : i + step]) for i in range(0, len(sentences), step)]
    found = np.zeros((len(parts), len(claims)))
    for (i, part), (j, claim) in itertools.product(enumerate(parts), enumerate(claims)):
        with torch.inference_mode():
            logits = layer(encoder(**tokenizer(part, claim, return_tensors="pt")).pooler_output)[0]
        found[i, j] = torch.softmax(logits.double(), 0)[0]
    return found.max(axis=0).mean(), len(parts)


def test_alignscore_is_the_mean_of_the_best_parts(roberta, aligner, monkeypatch):
    path, encoder, layer, _, _ = aligner
    monkeypatch.setattr("nlgauge.metrics.checkers._ALIGNED", 4)
    sources = [" ".join(SENTENCES[2:]), *SOURCES[1:]]
    expected = [aligned(roberta, encoder, layer, *row, 4) for row in zip(sources, CLAIMS, strict=True)]
    assert [n for _, n in expected] == [3, 2, 1]
    found = scored(f"alignscore:model={quote(str(path))}", sources)
    assert found.values == pytest.approx([value for value, _ in expected], abs=1e-6)  # float32, see above
    assert not found.flags["truncated"].any()


def test_the_parts_of_a_source_have_as_many_sentences_each():
    # nine words and a limit of 4 make 9 // 4 + 1 = 3 parts of 4 // 3 = 1 sentence; below the limit there is one
    parts = AlignScore(model="nli").parts
    assert parts("One two. Three four. Five six. Seven eight.", None) == ["One two. Three four. Five six. Seven eight."]
    long = " ".join(["Word " * 99 + f"number {i}." for i in range(8)])  # 808 words: 3 parts of 8 // 3 = 2, so 4
    assert [part.count("number") for part in parts(long, None)] == [2, 2, 2, 2]


def test_a_checkpoint_is_made_once_and_any_nli_model_may_stand_in_its_place(aligner, tmp_path, tiny_nli):
    path, *_ = aligner
    first = str(scored(f"alignscore:model={quote(str(path))}").signature)
    (made,) = (tmp_path / "store" / "pickled").glob("alignscore-*")
    before = {file.name: file.stat().st_mtime_ns for file in made.iterdir()}
    assert str(scored(f"alignscore:model={quote(str(path))}").signature) == first
    assert {file.name: file.stat().st_mtime_ns for file in made.iterdir()} == before
    assert "labels:entailment,neutral,contradiction" in first
    assert 0 < scored(f"alignscore:model={quote(str(tiny_nli('bert')))}").values[0] < 1


def test_what_is_no_checkpoint_of_alignscore_is_refused(aligner):
    path, _, _, save, state = aligner
    save({name: tensor for name, tensor in state.items() if not name.startswith("tri")})
    with pytest.raises(ng.InputError, match=r"holds no tri_layer\.weight, as a checkpoint of AlignScore does"):
        scored(f"alignscore:model={quote(str(path))}")
    save({name: tensor for name, tensor in state.items() if "layer.2." not in name})
    with pytest.raises(ng.InputError, match=r"the weights hold no encoder\.layer\.2\."):  # which RoBERTa has
        scored(f"alignscore:model={quote(str(path))}")
    with pytest.raises(ng.InputError, match=r"model folder /no/such\.ckpt does not exist"):
        scored("alignscore:model=/no/such.ckpt")


# --- Both


def test_checkers_keep_the_contract_and_a_blank_side_is_worst(tiny_nli, answerer):
    two = labelled(tiny_nli, "bert")
    for name, metric in (
        (f"minicheck:model={quote(str(two))}", MiniCheck(model=str(two))),
        (f"minicheck:model={quote(str(answerer))}", MiniCheck(model=str(answerer), max_tokens=48)),
        (f"alignscore:model={quote(str(tiny_nli('bert')))}", AlignScore(model=str(tiny_nli("bert")))),
    ):
        check_metric(metric)
        blank = scored(name, ["A cat.", " "], [[" "], ["A cat."]])
        assert blank.values.tolist() == [0, 0]
        assert blank.flags["empty"].all()
