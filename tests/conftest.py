"""Tiny models of many families, made from a configuration: random weights, real shapes, nothing fetched."""

import functools
import gc
import json
import os
import re
import shutil
import sys
from ast import literal_eval
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

SLOW = bool(os.environ.get("NLGAUGE_SLOW"))

# Compiled files are kept whatever the environment says: to compile tests and package takes 15 seconds in each process
# that collects, and seconds in each of the many that tests start.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A first example may load a model, and other work may share the machine: no time limit for one example. By day a few
# examples find a plain mistake in minutes of work on the whole suite; the nightly run tries more.
settings.register_profile("nlgauge", deadline=None, max_examples=200 if SLOW else 15)
settings.load_profile("nlgauge")
if not SLOW:  # else Hypothesis reads all modules for constants to draw: seconds in each process, again where more come
    providers._get_local_constants = lambda: providers._local_constants

# What is installed is looked through for plug-ins once for each search path: a hundred packages take as long as many a
# test, and each text file that is opened asks for them. Tests of plug-ins put a function of their own in its place.
_look_through = metadata.entry_points


@functools.cache
def _installed(path, **asked):
    return _look_through(**asked)


metadata.entry_points = lambda **asked: _installed(tuple(sys.path), **asked)

gc.disable()  # what collecting tests makes stays; `pytest_collection_finish` turns it on


def pytest_collection_finish():
    """What is there now stays: looking through it for circles, again and again, took a seventh of all time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)  # objects made and not yet freed, where Python has 700
    gc.enable()


def pytest_collection_modifyitems(items):
    """Tests marked slow run with NLGAUGE_SLOW=1 alone."""
    for item in items:
        if not SLOW and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow; set NLGAUGE_SLOW=1"))


def pytest_make_parametrize_id(config, val, argname):
    """Packed content is named by its kind: gzip holds the time, and workers that run side by side compare names."""
    return "gzip" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.fixture
def pool_here(monkeypatch):
    """The engine `pool` scores in this process.

    To start a worker takes a second; tests/scoring/test_workers.py starts those that show that workers do the same.
    """
    from nlgauge.scoring import workers

    def run(plan, folder, parts, *more):
        scorer = workers.Scorer(plan, folder)
        yield from ((part, scorer.score(part)) for part in parts)

    monkeypatch.setattr(workers, "_run", run)


@pytest.fixture
def cases(request):
    """The cases of a test, from the table beside its file (`test_x.tsv`), under `## ` and the name of the test.

    A line has a case: a text, or a tuple of cells with tabs between them. Escapes are those of Python, `""` is the
    empty text. Lines and last cells that begin with `# ` say why.
    """
    table = request.path.with_suffix(".tsv").read_text(encoding="utf-8")
    _, _, section = f"\n{table}".partition(f"\n## {request.function.__name__}\n")
    lines = [line for line in section.partition("\n\n")[0].split("\n") if line and not line.startswith("# ")]
    found = [tuple(map(_text, (cell for cell in line.split("\t") if not cell.startswith("# ")))) for line in lines]
    assert found, f"{request.path.stem}.tsv has no cases of {request.function.__name__}"
    return [case[0] if len(case) == 1 else case for case in found]


def _text(cell):
    escapes = re.compile(r"\\(?:[nrt\\]|x\w\w|u\w{4}|U\w{8})")
    return "" if cell == '""' else escapes.sub(lambda found: literal_eval(f"'{found[0]}'"), cell)


@pytest.fixture(scope="session", autouse=True)
def embedded_models():
    """What is loaded of the embedded encoder and the shipped heads is kept for all runtimes of a process.

    Each runtime took half a second to load it anew. Other models are held as a user's runtime holds them, which
    tests/runtime/test_runtime.py tests.
    """
    from nlgauge.models import heads
    from nlgauge.models.locate import NAME, ModelFiles, digest_of
    from nlgauge.runtime.runtime import Runtime

    folder = Path(heads.__file__).parents[1] / "data" / "heads"
    shipped = {f"sha256:{digest_of(path)}" for path in folder.glob(f"*{heads.SUFFIX}")}
    of_a_runtime, all_runtimes = Runtime.once, Runtime()

    def once(self, key, load):
        parts = key if isinstance(key, tuple) else ()
        encoders = {part.name for part in parts if isinstance(part, ModelFiles)}
        of_heads = {part for part in parts if isinstance(part, str) and part.startswith("sha256:")}
        if encoders == {NAME} and of_heads <= shipped:
            return of_a_runtime(all_runtimes, (self.device, self.dtype, *parts), load)
        return of_a_runtime(self, key, load)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runtime, "once", once)
        yield


WORDS = (
    "the", "a", "cat", "dog", "sat", "lay", "on", "mat", "rug", "rain", "snow", "fell", "heavy", "today", "not",
    "good", "morning",
)  # fmt: skip
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
POSITIONS = 48  # longest text a tiny model reads, special tokens included
SHAPE = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_heads": 4, "num_layers": 3, "num_decoder_layers": 2}
HALF = {"layers": 3, "attention_heads": 4, "ffn_dim": 48}
BART = {"d_model": 32} | {f"{side}_{key}": n for side in ("encoder", "decoder") for key, n in HALF.items()}
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
ROTARY = {"max_position_embeddings": POSITIONS, "local_attention": 8, "pad_token_id": 0}
ROTARY |= {"bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3}

# kind -> (model type, tokenizer, configuration)
KINDS = {
    "bert": ("bert", "pieces", {**SHAPE, "max_position_embeddings": POSITIONS}),
    "roberta": ("roberta", "bytes", {**SHAPE, "max_position_embeddings": POSITIONS + 2, "pad_token_id": 1}),
    "xlm-roberta": ("xlm-roberta", "sentence", {**SHAPE, "max_position_embeddings": POSITIONS + 2, "pad_token_id": 1}),
    "distilbert": (
        "distilbert",
        "pieces",
        {"dim": 32, "n_layers": 3, "n_heads": 4, "hidden_dim": 48, "max_position_embeddings": POSITIONS},
    ),
    "albert": ("albert", "pieces", {**SHAPE, "embedding_size": 16, "max_position_embeddings": POSITIONS}),
    "albert, two groups": (
        "albert",
        "pieces",
        {
            **SHAPE,
            "num_hidden_layers": 4,
            "num_hidden_groups": 2,
            "embedding_size": 16,
            "max_position_embeddings": POSITIONS,
        },
    ),
    "electra": ("electra", "pieces", {**SHAPE, "embedding_size": 16, "max_position_embeddings": POSITIONS}),
    "mpnet": ("mpnet", "pieces", {**SHAPE, "max_position_embeddings": POSITIONS + 2, "pad_token_id": 1}),
    "deberta": ("deberta", "bytes", {**SHAPE, **RELATIVE}),
    "deberta-v2": (
        "deberta-v2",
        "sentence",
        {**SHAPE, **RELATIVE, "norm_rel_ebd": "layer_norm", "position_buckets": 16},
    ),
    "modernbert": ("modernbert", "pieces", {**SHAPE, **ROTARY}),
    "xlnet": ("xlnet", "sentence", {"d_model": 32, "n_layer": 3, "n_head": 4, "d_inner": 48}),
    "xlm": ("xlm", "pieces", {"emb_dim": 32, "n_layers": 3, "n_heads": 4, "max_position_embeddings": POSITIONS}),
    "bart": ("bart", "bytes", {**BART, "max_position_embeddings": POSITIONS}),
    "mbart": ("mbart", "sentence", {**BART, "max_position_embeddings": POSITIONS}),
    "t5": ("t5", "closed sentence", T5),
    "t5, bytes": ("t5", "byt5", T5),
    "gpt2": ("gpt2", "bytes", {"n_embd": 32, "n_layer": 3, "n_head": 4, "n_positions": POSITIONS}),
    "llama": ("llama", "sentence", {**SHAPE, "max_position_embeddings": POSITIONS, "bos_token_id": 0}),
}


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A function from a kind of `KINDS` to a folder with config.json, model.safetensors and a tokenizer, made once a
    session.
    """
    pytest.importorskip("torch")
    made = {}

    def make(kind):
        if kind not in made:
            made[kind] = _save(kind, tmp_path_factory.mktemp("tiny") / re.sub(r"\W+", "-", kind))
        return made[kind]

    return make


def _save(kind, folder):
    import torch
    from transformers import AutoConfig, AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    model_type, tokenizer, shape = KINDS[kind]
    vocabulary = _save_tokenizer(tokenizer, folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = AutoModel.from_config(AutoConfig.for_model(model_type, vocab_size=vocabulary, **shape))
        # Biases start at 0 and norms at 1, so that one put in another's place would not show.
        for parameter in model.parameters():
            parameter.data += torch.randn_like(parameter) * (0.2 if parameter.dim() == 1 else 0.05)
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_nli(tiny_model, tmp_path_factory):
    """A function from a kind of `KINDS` and the names of the outputs to a folder with a sequence classifier of random
    weights.
    """
    made = {}

    def make(kind, labels=("entailment", "neutral", "contradiction")):
        if (kind, labels) not in made:
            made[kind, labels] = _save_classifier(
                tiny_model(kind), labels, tmp_path_factory.mktemp("nli") / re.sub(r"\W+", "-", kind)
            )
        return made[kind, labels]

    return make


def _save_classifier(source, labels, folder):
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification

    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
    named = {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = AutoModelForSequenceClassification.from_config(
            AutoConfig.from_pretrained(source, num_labels=len(labels), **named)
        )
        for parameter in model.parameters():
            parameter.data += torch.randn_like(parameter) * 0.2
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_masked(tiny_model, tmp_path_factory):
    """A function from a kind of `KINDS` to a folder with a masked language model of random weights."""
    made = {}

    def make(kind):
        if kind not in made:
            made[kind] = _save_masked(tiny_model(kind), tmp_path_factory.mktemp("masked") / re.sub(r"\W+", "-", kind))
        return made[kind]

    return make


@pytest.fixture(scope="session")
def tiny_denoiser(tiny_model, tmp_path_factory):
    """A function from a kind of `KINDS` to a folder with an encoder-decoder of random weights that knows masks or
    sentinels.
    """
    made = {}

    def make(kind):
        if kind not in made:
            made[kind] = _save_denoiser(
                tiny_model(kind), tmp_path_factory.mktemp("denoiser") / re.sub(r"\W+", "-", kind)
            )
        return made[kind]

    return make


@pytest.fixture(scope="session")
def many_languages(tiny_model, tmp_path_factory):
    """A folder with a tiny mBART-50 of random weights: texts are marked as en_XX or de_DE."""
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("many") / "source"
    shutil.copytree(tiny_model("mbart"), folder)
    codes = {"src_lang": "en_XX", "additional_special_tokens": ["en_XX", "de_DE"]}
    told = {"tokenizer_class": "MBart50Tokenizer", "bos_token": "<s>", "eos_token": "</s>", **codes}
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **told}), encoding="utf-8")
    ids = {"vocab_size": len(AutoTokenizer.from_pretrained(folder)), "decoder_start_token_id": 2}
    return _save_generator("AutoModelForSeq2SeqLM", folder, folder.with_name("mbart-50"), **ids)


@pytest.fixture(scope="session")
def tiny_causal(tiny_model, tmp_path_factory):
    """A function from a kind of `KINDS` to a folder with a causal language model of random weights.

    GPT-2's tokenizer puts nothing around a text.
    """
    made = {}

    def make(kind):
        if kind not in made:
            folder = tmp_path_factory.mktemp("causal") / re.sub(r"\W+", "-", kind)
            made[kind] = _save_generator(
                "AutoModelForCausalLM", tiny_model(kind), folder, bos_token_id=0, eos_token_id=2
            )
            if kind == "gpt2":
                path = folder / "tokenizer.json"
                bare = {**json.loads(path.read_text(encoding="utf-8")), "post_processor": None}
                path.write_text(json.dumps(bare), encoding="utf-8")
        return made[kind]

    return make


def _save_masked(source, folder):
    return _save_generator("AutoModelForMaskedLM", source, folder)


def _save_denoiser(source, folder):
    if source.name == "t5":  # as T5 has them; byte-level ones have theirs already
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(source)
        tokenizer.add_special_tokens({"additional_special_tokens": ["<extra_id_0>", "<extra_id_1>"]})
        ids = {"vocab_size": len(tokenizer), "decoder_start_token_id": 1, "pad_token_id": 1, "eos_token_id": 2}
        _save_generator("AutoModelForSeq2SeqLM", source, folder, **ids)
        tokenizer.save_pretrained(folder)
        return folder
    ids = (
        {"decoder_start_token_id": 0}
        if source.name == "t5-bytes"
        else {"decoder_start_token_id": 2, "forced_eos_token_id": None}
    )
    return _save_generator("AutoModelForSeq2SeqLM", source, folder, **ids)


def _save_generator(kind, source, folder, **options):
    import torch
    import transformers

    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("config.json", "*.safetensors"))
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = getattr(transformers, kind).from_config(transformers.AutoConfig.from_pretrained(source, **options))
        for parameter in model.parameters():
            parameter.data += torch.randn_like(parameter) * 0.2
    if "decoder_start_token_id" in options:
        model.generation_config.decoder_start_token_id = options["decoder_start_token_id"]
    model.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_head(tiny_model, tmp_path_factory):
    """A function from changes of the metadata to a head of random weights over a tiny BERT."""

    def make(drop=(), hidden=False, outputs=3, **changes):
        path = tmp_path_factory.mktemp("head") / "tiny.safetensors"
        return _save_head(tiny_model("bert"), path, drop, hidden, outputs, changes)

    return make


def _save_head(encoder, path, drop, hidden, outputs, changes):
    import hashlib

    import torch
    from safetensors.torch import save_file

    random = torch.Generator().manual_seed(2)

    def tensor(*shape):
        return torch.randn(shape, generator=random) * 0.3

    width, inner, rank, n_features = SHAPE["hidden_size"], SHAPE["intermediate_size"], 2, 2 * SHAPE["hidden_size"]
    tensors = {}
    for layer in range(SHAPE["num_hidden_layers"]):
        within = {f"attention.self.{part}": (width, width) for part in ("query", "key", "value")}
        within |= {
            "attention.output.dense": (width, width),
            "intermediate.dense": (width, inner),
            "output.dense": (inner, width),
        }
        for name, (d_in, d_out) in within.items():
            tensors[f"encoder.layer.{layer}.{name}.lora_a"] = tensor(rank, d_in).half()
            tensors[f"encoder.layer.{layer}.{name}.lora_b"] = tensor(d_out, rank).half()
    if hidden:
        tensors |= {"hidden.weight": tensor(n_features, n_features).half(), "hidden.bias": tensor(n_features).half()}
    tensors |= {"classifier.weight": tensor(outputs, n_features).half(), "classifier.bias": tensor(outputs).half()}
    metadata = {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "nli",
        "name": "tiny",
        "encoder": str(encoder),
        "rank": str(rank),
        "max_tokens": "32",
        "encoder_sha256": hashlib.sha256((encoder / "model.safetensors").read_bytes()).hexdigest(),
        "labels": "entailment,neutral,contradiction",
        "features": "cls,mean",
        "trained_on_phenomena": "negation, number_error",
        **changes,
    }
    save_file(
        {key: value for key, value in tensors.items() if key not in drop},
        path,
        {k: v for k, v in metadata.items() if v is not None},
    )
    return path


@pytest.fixture(scope="session")
def tiny_regressor(tiny_model, tmp_path_factory):
    """A function from features, layers and metadata to a regressor of random weights over a tiny BERT."""

    def make(features="hyp,ref,hyp*ref,|hyp-ref|", layers="3", adapted=True, drop=(), family="bert", **changes):
        path = tmp_path_factory.mktemp("regressor") / "tiny.safetensors"
        return _save_regressor(tiny_model(family), path, features, layers, adapted, drop, changes)

    return make


def _save_regressor(encoder, path, features, layers, adapted, drop, changes):
    import hashlib

    import torch
    from safetensors.torch import save_file

    random = torch.Generator().manual_seed(4)

    def tensor(*shape):
        return torch.randn(shape, generator=random) * 0.3

    width, n_layers = SHAPE["hidden_size"], len(layers.split(","))
    d_in = width * n_layers * len(features.split(","))
    tensors = {
        "hidden.0.weight": tensor(8, d_in),
        "hidden.0.bias": tensor(8),
        "hidden.1.weight": tensor(6, 8),
        "hidden.1.bias": tensor(6),
    }
    tensors |= {"out.weight": 3 * tensor(1, 6), "out.bias": tensor(1)}
    if adapted:
        tensors["encoder.layer.1.output.dense.lora_a"] = tensor(2, SHAPE["intermediate_size"]).half()
        tensors["encoder.layer.1.output.dense.lora_b"] = tensor(width, 2).half()
    if layers == "mix":
        tensors |= {"mix.weights": tensor(SHAPE["num_hidden_layers"] + 1), "mix.scale": 1 + tensor(1)}
    metadata = {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "regressor",
        "name": "tiny",
        "encoder": str(encoder),
        "max_tokens": "32",
        "encoder_sha256": hashlib.sha256((encoder / "model.safetensors").read_bytes()).hexdigest(),
        "features": features,
        "layers": layers,
        "widths": "8,6",
        "low": "-25",
        "high": "0",
        **changes,
    }
    save_file(
        {key: value for key, value in tensors.items() if key not in drop},
        path,
        {k: v for k, v in metadata.items() if v is not None},
    )
    return path


def _save_tokenizer(kind, folder):
    """Write tokenizer.json and tokenizer_config.json; the number of pieces."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    folder.mkdir()
    if kind == "byt5":
        from transformers import ByT5Tokenizer

        tokenizer = ByT5Tokenizer()
        tokenizer.save_pretrained(folder)
        return len(tokenizer)
    if kind == "pieces":
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        pieces = dict.fromkeys([*special, *WORDS, *LETTERS, *(f"##{c}" for c in LETTERS), *".,!?'0123456789今天雨"])
        backend = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
        backend.normalizer = normalizers.BertNormalizer()
        backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        first, last = "[CLS]", "[SEP]"
    else:
        special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
        first, last = "<s>", "</s>"
        if kind == "bytes":
            alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
            merges = [("Ġ", "c"), ("a", "t"), ("Ġc", "at"), ("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("c", "at")]
            pieces = dict.fromkeys([*special, *alphabet, *("".join(merge) for merge in merges)])
            backend = Tokenizer(models.BPE({piece: i for i, piece in enumerate(pieces)}, merges))
            backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
            backend.decoder = decoders.ByteLevel()
        else:
            pieces = dict.fromkeys([*special, *(f"▁{word}" for word in WORDS), "▁", *LETTERS, *".,!?'0123456789今天雨"])
            backend = Tokenizer(
                models.Unigram([(piece, -float(len(pieces) if len(piece) == 1 else 1)) for piece in pieces], unk_id=3)
            )
            backend.pre_tokenizer = pre_tokenizers.Metaspace()
            backend.decoder = decoders.Metaspace()
    frame = {"cls_token": first, "sep_token": last}
    pair = f"{first} $A {last} $B:1 {last}:1" if kind == "pieces" else f"{first} $A {last} {last} $B {last}"
    if kind == "closed sentence":  # T5's: an end, which is no separator, and nothing before
        first, frame, pair = "", {"eos_token": last}, f"$A {last} $B {last}"
    special_ids = [(token, list(pieces).index(token)) for token in (first, last) if token]
    backend.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}".strip(), pair=pair, special_tokens=special_ids
    )
    backend.add_special_tokens(special)
    backend.save(str(folder / "tokenizer.json"))
    names = {
        f"{token.strip('<>[]').lower()}_token": token
        for token in special
        if token.strip("<>[]").lower() in ("pad", "unk", "mask")
    }
    inputs = [
        "input_ids",
        *(["token_type_ids"] if kind == "pieces" else []),
        "attention_mask",
    ]  # else transformers leaves types out
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": POSITIONS,
        "model_input_names": inputs,
        **frame,
        **names,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return len(pieces)
