"""Models of the papers by their names: one command from an empty cache gets what it needs, and the next asks nothing.

The models are small and random, and lie on the hub as their repositories do: as safetensors, as a pickle of today's or
of the older format, or in shards, beside files that nobody needs.
"""

import json
import shutil

import numpy as np
import pytest
from tests.models import tiny_comet
from tests.models.hub import MOVED, pickled

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.metrics.registry import METRICS, SUMS, encoder_for
from nlgauge.models.names import remove

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("sentencepiece")

NLI_D, NLI_R = "microsoft/deberta-large-mnli", "ynie/roberta-large-snli_mnli_fever_anli_R1_R2_R3-nli"
XNLI_D, BART = "MoritzLaurer/mDeBERTa-v3-base-mnli-xnli", "facebook/bart-large-cnn"
ROBERTA, XLMR = "FacebookAI/roberta-large", "FacebookAI/xlm-roberta-large"
METRICX, MT5 = "google/metricx-24-hybrid-large-v2p6", "google/mt5-small"
BLEURT = "Elron/bleurt-large-512"
MINICHECK, ALIGNSCORE = "lytang/MiniCheck-Flan-T5-Large", "yzha/AlignScore"
HHEM, HHEM_1 = "vectara/hallucination_evaluation_model", "hhem-1.0-open"
COMET, COMET_QE = "Unbabel/wmt22-comet-da", "Unbabel/wmt20-comet-qe-da"
MBART, JUDGE = "facebook/mbart-large-50", "FacebookAI/roberta-large-mnli"
UNNEEDED = (
    "onnx/config.json", "onnx/model.onnx", "tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.gguf",
    "model.fp16.safetensors",
)  # fmt: skip
ROWS = [
    {"id": f"{i}", "src": src, "hyp": hyp, "refs": [ref]}
    for i, (src, hyp, ref) in enumerate(
        [
            ("the cat sat", "the cat sat on the mat", "a cat lay on the rug"),
            ("rain fell today", "rain not snow", "heavy rain fell today"),
            ("good morning", "good morning today", "good morning"),
        ]
    )
]


@pytest.fixture(scope="module")
def deep(tiny_model, tmp_path_factory):
    """A function from a kind to a folder with an encoder of 18 layers, of which BERTScore reads up to the 17th."""
    made = {}

    def make(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp("deep") / kind
            shutil.copytree(tiny_model(kind), folder)
            config = transformers.AutoConfig.from_pretrained(folder, num_hidden_layers=18)
            with torch.random.fork_rng():
                torch.manual_seed(5)
                transformers.AutoModel.from_config(config).save_pretrained(folder)
            made[kind] = folder
        return made[kind]

    return make


@pytest.fixture(scope="module")
def metricx(tmp_path_factory):
    """Two folders: a small mT5 as MetricX has it, without a tokenizer, and the tokenizer of mT5, as SentencePiece."""
    import sentencepiece

    place = tmp_path_factory.mktemp("metricx")
    folder, tokenizer = place / "metricx", place / "mt5"
    tokenizer.mkdir()
    with (tokenizer / "spiece.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([text for row in ROWS for text in (row["src"], row["hyp"], *row["refs"])] * 5),
            model_writer=file, vocab_size=48, hard_vocab_limit=False, minloglevel=2,
            pad_id=0, eos_id=1, unk_id=2, bos_id=-1,
        )  # fmt: skip
    about = {"tokenizer_class": "T5Tokenizer", "extra_ids": 0, "eos_token": "</s>", "pad_token": "<pad>"}
    (tokenizer / "tokenizer_config.json").write_text(json.dumps({**about, "unk_token": "<unk>"}))
    config = transformers.MT5Config(
        vocab_size=64, d_model=16, d_kv=4, d_ff=24, num_layers=2, num_heads=4, decoder_start_token_id=0
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = transformers.MT5ForConditionalGeneration(config)
        for parameter in model.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
        model.lm_head.weight = torch.nn.Parameter(40 * torch.randn_like(model.lm_head.weight))  # not tied
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    shutil.copy(folder / "config.json", tokenizer)
    return folder, tokenizer


@pytest.fixture(scope="module")
def answerer(tiny_model, tmp_path_factory):
    """A small T5 with more pieces than its tokenizer has, so that there are two for its answers."""
    folder = tmp_path_factory.mktemp("minicheck") / "t5"
    shutil.copytree(tiny_model("t5"), folder, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
    transformers.T5ForConditionalGeneration(
        transformers.T5Config(vocab_size=256, d_model=16, d_kv=4, d_ff=24, num_layers=2, decoder_start_token_id=0)
    ).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def aligner(deep, tmp_path_factory):
    """A folder with a checkpoint of AlignScore on the small RoBERTa, as Lightning writes it."""
    folder = tmp_path_factory.mktemp("alignscore")
    model = transformers.RobertaModel(transformers.AutoConfig.from_pretrained(deep("roberta")))
    layers = {"bin": torch.nn.Linear(32, 2), "tri": torch.nn.Linear(32, 3), "reg": torch.nn.Linear(32, 1)}
    state = {f"base_model.{name}": tensor for name, tensor in model.state_dict().items()}
    state |= {f"{name}_layer.{kind}": one for name, layer in layers.items() for kind, one in layer.state_dict().items()}
    torch.save({"state_dict": state, "pytorch-lightning_version": "1.7.7"}, folder / "AlignScore-large.ckpt")
    return folder


@pytest.fixture
def lies(
    hub, deep, tiny_nli, tiny_denoiser, tiny_masked, many_languages, metricx, answerer, aligner, tmp_path, monkeypatch
):
    """A function that puts models on the hub by their names; the files that are needed of each and their bytes."""
    monkeypatch.setattr("nlgauge.models.networks._RATING", 50)  # of a vocabulary of 64
    at = tmp_path / "made"

    def checkpoint(name, kind):
        config = tiny_comet.save_encoder(at / "xlmr")
        tiny_comet.save(at / name, config, "xlm-roberta-large", kind)
        return at / name

    def setup_of(folder):
        return shutil.copytree(folder, at / "setup", ignore=shutil.ignore_patterns("*.safetensors"))

    def older(folder):
        return pickled(folder, at / "older", zipped=False)

    def newer(folder):
        return pickled(folder, at / "newer")

    makers = {
        ROBERTA: lambda: deep("roberta"),
        "allenai/scibert_scivocab_uncased": lambda: newer(deep("bert")),
        "dbmdz/bert-base-turkish-cased": lambda: older(deep("bert")),
        "google-bert/bert-base-chinese": lambda: deep("bert"),
        "google-bert/bert-base-multilingual-cased": lambda: deep("bert"),
        NLI_D: lambda: older(tiny_nli("deberta")),
        NLI_R: lambda: newer(tiny_nli("roberta")),
        XNLI_D: lambda: tiny_nli("deberta-v2"),
        BART: lambda: tiny_denoiser("bart"),
        BLEURT: lambda: newer(tiny_nli("bert", ("LABEL_0",))),
        MINICHECK: lambda: answerer,
        ALIGNSCORE: lambda: aligner,
        HHEM: lambda: tiny_nli("deberta-v2", ("LABEL_0",)),
        METRICX: lambda: pickled(metricx[0], at / "metricx", shards=2),
        COMET: lambda: checkpoint("da", "regression_metric"),
        COMET_QE: lambda: checkpoint("qe", "referenceless_regression_metric"),
        MBART: lambda: older(many_languages),
        JUDGE: lambda: tiny_nli("roberta"),
        XLMR: lambda: tiny_masked("xlm-roberta"),
    }
    of_setup = {
        MT5: lambda: metricx[1],
        XLMR: lambda: at / "xlmr",
        ROBERTA: lambda: setup_of(deep("roberta")),
    }  # no weights of theirs are read

    def put(names, setups=()):
        needed = {}
        for name in (*names, *setups):
            source = (of_setup if name in setups else makers)[name]()
            inside = {str(path.relative_to(source)): path for path in source.rglob("*") if path.is_file()}
            needed |= {(name, file): path.stat().st_size for file, path in inside.items()}
            weights = ["pytorch_model.bin"] if name in setups or "model.safetensors" in inside else []
            hub.put(name, source, [*UNNEEDED, *weights, *(["AlignScore-base.ckpt"] if name == ALIGNSCORE else [])])
            if name == HHEM:  # on main is another model
                hub.put(name, source, revision=HHEM_1)
                (hub.commits(name)["main"] / "config.json").write_text('{"model_type": "HHEMv2Config"}')
        return sorted((file, size) for (_, file), size in needed.items())

    return put


def run(*words):
    assert main([str(word) for word in words]) == 0


def scored(metric, tmp_path):
    """The scores of a metric by the command, each number as it is written."""
    data, out = tmp_path / "data.jsonl", tmp_path / "scores.tsv"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    out.unlink(missing_ok=True)
    run("score", data, "-m", metric, "--no-cache", "--segments", out, "-q")
    return out.read_text()


BY_START = {  # how names begin -> the models that are scored with
    "paper/bertscore": [ROBERTA],
    "paper/menli-r": [NLI_R, ROBERTA],
    "paper/menli-d": [NLI_D, ROBERTA],
    "paper/nli-r": [NLI_R],
    "paper/nli-d": [NLI_D],
    "paper/xnli-d": [XNLI_D],
    "paper/bartscore": [BART],
    "bleurt": [BLEURT],
    "comet-qe": [COMET_QE],
    "comet": [COMET],
    "metricx": [METRICX],
    "minicheck": [MINICHECK],
    "alignscore": [ALIGNSCORE],
    "hhem": [HHEM],
}


def needs(name):
    """The models that a metric is scored with, and those of which it reads the tokenizer alone."""
    if name.startswith("paper/bertscore-"):
        model = encoder_for(name.removeprefix("paper/bertscore-"))[0]
        return [MOVED.get(model, model)], []
    models = next(found for start, found in BY_START.items() if name.startswith(start))
    setups = {"comet": [XLMR], "comet-qe": [XLMR], "metricx": [MT5], "metricx-qe": [MT5], "alignscore": [ROBERTA]}
    return models, setups.get(name, [])


# Those whose weights the authors published in no form that is read: they need a model of the user's.
OWN = {"paper/bartscore-f", "paper/sescore", "paper/xnli-r"}
BY_NAME = [name for name in (*METRICS.names(), *SUMS) if name.startswith("paper/") and name not in OWN]


OF_OTHERS = ("comet", "comet-qe", "bleurt", "metricx", "metricx-qe", "minicheck", "alignscore", "hhem")


@pytest.mark.parametrize("name", [*BY_NAME, *OF_OTHERS])
def test_a_metric_runs_by_its_name(hub, lies, tmp_path, name):
    needed = lies(*needs(name))
    first = scored(name, tmp_path)
    assert sorted(hub.sent) == needed  # each file once, and no other
    hub.forget()
    assert scored(name, tmp_path) == first
    assert hub.asked == []


def test_a_checkpoint_of_alignscore_is_fetched_removed_and_named_by_its_file(hub, lies, tmp_path):
    lies([ALIGNSCORE], [ROBERTA])
    (made,) = ng.fetch(ALIGNSCORE)
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= {path.name for path in made.iterdir()}
    hub.forget()
    first = scored("alignscore", tmp_path)
    same = scored(f"alignscore:model={ALIGNSCORE}/AlignScore-large.ckpt@main", tmp_path)
    assert [line.split() for line in same.splitlines()[1:]] == [line.split() for line in first.splitlines()[1:]]
    assert hub.asked == []
    assert remove(ALIGNSCORE)
    assert not made.exists()


@pytest.mark.parametrize("part", ["d", "r"])
def test_menli_is_its_sum_of_the_parts(hub, lies, tmp_path, part):
    lies([NLI_D if part == "d" else NLI_R, ROBERTA])
    hyps, refs = [row["hyp"] for row in ROWS], [row["refs"] for row in ROWS]
    names = (f"paper/nli-{part}", "paper/bertscore:idf=true", f"paper/menli-{part}")
    entails, matches, found = (np.array(ng.score(hyps, refs, metrics=name)[name].values) for name in names)
    unit = [(values - values.min()) / (values.max() - values.min()) for values in (entails, matches)]
    assert found == pytest.approx(0.2 * unit[0] + 0.8 * unit[1], abs=1e-12)  # float64


def test_the_papers_synthesis_and_training_run_by_name(hub, lies, tmp_path):
    needed = lies([MBART, XLMR, JUDGE])
    texts, triples = tmp_path / "texts.txt", tmp_path / "triples.jsonl"
    texts.write_text("".join(f"{row['refs'][0]}\n" for row in ROWS))
    synth = ("synth", texts, "-o", triples, "--preset", "paper", "-q")
    run(*synth)
    assert sorted(hub.sent) == needed
    first = triples.read_text()
    triples.unlink()
    hub.forget()
    run(*synth)
    assert triples.read_text() == first
    assert hub.asked == []
    needed = lies([ROBERTA])
    train = ("train", "sescore", triples, "--preset", "paper", "--widths", "8,4", "--held-out", "0", "-q")
    run(*train, "-o", tmp_path / "one")
    assert sorted(hub.sent) == needed
    hub.forget()
    run(*train, "-o", tmp_path / "two")
    assert hub.asked == []
    run("score", triples, "-m", f'paper/sescore:model="{tmp_path / "one"}"', "--no-cache", "-q")
