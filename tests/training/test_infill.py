"""A masked language model of a language that a tiny encoder can learn: what it learnt is what it fills gaps with."""

import itertools
from importlib.util import find_spec

import numpy as np
import pytest
from tests.training.conftest import killed_after

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.filler import load_infill
from nlgauge.models.infill import Gap
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.heads import head_metadata, write_head
from nlgauge.training.infill import head_tensors, infill_network, train_infill
from nlgauge.training.recipe import InfillRecipe, Schedule

FAST = Schedule(epochs=60, batch_size=8, learning_rate=0.01, seed=3)
SHORT = Schedule(epochs=2, batch_size=4, learning_rate=0.01, seed=3)


@pytest.fixture
def texts_file(tmp_path):
    """Whoever sat was on a mat, whoever lay on a rug; the noun says nothing."""
    rows = [
        f"the {noun} {verb} on the {place}"
        for noun, (verb, place) in itertools.product(("cat", "dog", "rain", "snow"), (("sat", "mat"), ("lay", "rug")))
    ]
    (tmp_path / "texts.txt").write_text("".join(f"{row}\n" for row in rows * 3))
    return tmp_path / "texts.txt"


def recipe(tiny_model, schedule=SHORT, kind="bert", **options):
    return InfillRecipe(model=str(tiny_model(kind)), rank=4, alpha=8.0, max_tokens=20, schedule=schedule, **options)


def train(path, output, how, dtype="float32", **options):
    return train_infill(
        [InputFile(str(path))], str(output), how, options.pop("runtime", Runtime(dtype=dtype)), **options
    )


def test_a_head_learns_what_goes_with_what_and_fills_gaps(tiny_model, texts_file, tmp_path):
    out = tmp_path / "h.safetensors"
    (found,) = train(
        texts_file, out, recipe(tiny_model, FAST), dev=[InputFile(str(texts_file))], about={"name": "tiny", "data": "é"}
    )
    assert found.n == 24  # one word of six in each of 24 texts, all with letters
    assert found.top5 > 0.9
    model = load_infill(str(out))
    for verb, place, other in (("sat", "mat", "rug"), ("lay", "rug", "mat")):
        text = f"the dog {verb} on the {other}"
        (row,) = model.fill([Gap(text, len(text) - 3, len(text))], 2)
        assert row[0].word == place
        assert row[0].score > -0.7  # more likely than not
    assert sorted(p.name for p in tmp_path.iterdir()) == ["h.safetensors", "texts.txt"]  # no checkpoint is left


def test_a_head_says_when_it_is_used_what_it_said_in_training(tiny_model, tmp_path):
    files, how = locate(str(tiny_model("bert"))), recipe(tiny_model)
    network = infill_network(files, how, np.zeros(files.config["vocab_size"], dtype=np.int64), narrow=False).eval()
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(4)
        for parameter in network.parameters():
            if parameter.requires_grad:  # float16 keeps what is rounded to it
                parameter.copy_((parameter + 0.1 * torch.randn_like(parameter)).half())
        ids = torch.tensor([[2, 7, 4, 9, 3]])
        said = network(
            torch.tensor([2]), input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=torch.zeros_like(ids)
        )
    about = head_metadata("infill", how, files, "float32")
    write_head(
        tmp_path / "h.safetensors", head_tensors(network, np.zeros((2, files.config["vocab_size"]), dtype=bool)), about
    )
    found = load_infill(str(tmp_path / "h.safetensors")).network.at([ids[0].numpy()], [2])
    assert torch.allclose(
        torch.log_softmax(said, dim=1), found, atol=1e-4
    )  # float32; the adapters are merged before, not added after


def test_a_head_says_what_it_is_and_is_small(tiny_model, texts_file, tmp_path):
    out = tmp_path / "h.safetensors"
    train(texts_file, out, recipe(tiny_model), about={"name": "tiny", "data": "é"})
    with safe_open(str(out), framework="pt") as file:
        about = file.metadata()
    expected = {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "infill",
        "name": "tiny",
        "data": "é",
        "rank": "4",
        "max_tokens": "20",
        "dtype": "float32",
        "encoder": str(tiny_model("bert")),
    }
    assert {key: about[key] for key in expected} == expected
    tensors = load_file(out)
    assert {str(tensor.dtype) for name, tensor in tensors.items() if name != "capital"} == {"torch.float16"}
    assert {name for name in tensors if ".lora_" not in name} == {
        "dense.weight",
        "dense.bias",
        "norm.weight",
        "norm.bias",
        "bias",
        "capital",
    }
    assert (
        len([name for name in tensors if ".lora_" in name]) == 36
    )  # two for six linear layers in each of three blocks


@pytest.mark.slow
def test_bfloat16_and_shown_words_learn_too(tiny_model, texts_file, tmp_path):
    (found,) = train(
        texts_file,
        tmp_path / "h.safetensors",
        recipe(tiny_model, FAST, shown=0.2, share=0.3),
        "bfloat16",
        dev=[InputFile(str(texts_file))],
    )
    assert found.top5 > 0.9


def test_a_run_that_was_killed_goes_on_to_the_same_weights(tiny_model, texts_file, tmp_path, monkeypatch):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 4)
    how = recipe(tiny_model, dropout=0.1, shown=0.2)
    whole, killed = tmp_path / "whole.safetensors", tmp_path / "killed.safetensors"
    train(texts_file, whole, how)
    with pytest.raises(KeyboardInterrupt):
        train(texts_file, killed, how, runtime=Runtime(progress=lambda total, label: killed_after(7)))
    assert not killed.exists()
    train(texts_file, killed, how)
    assert whole.read_bytes() == killed.read_bytes()


def test_it_begins_with_how_often_words_occur(tiny_model, texts_file, tmp_path):
    train(texts_file, tmp_path / "h.safetensors", recipe(tiny_model, Schedule(batch_size=24, learning_rate=1e-9)))
    bias = load_file(tmp_path / "h.safetensors")["bias"].float()
    # "the" occurs 48 times, what never occurs 0 times: log(49) above it; float16 keeps three digits
    assert (bias.max() - bias.min()).item() == pytest.approx(np.log(49), abs=0.01)


@pytest.mark.parametrize(
    ("output", "options", "dtype", "message"),
    [
        ("h.safetensors", {}, "float16", "dtype is float16, expected bfloat16 or float32"),
        ("folder", {}, "float32", "end its name in .safetensors"),
        (
            "h.safetensors",
            {"share": 0.0},
            "float32",
            r"share is 0.0, expected above 0 and at most 1 \(the masked share of the words\)",
        ),
        ("h.safetensors", {"shown": 1.0}, "float32", "shown is 1.0"),
        ("h.safetensors", {"dropout": -0.1}, "float32", "dropout is -0.1"),
        ("missing/h.safetensors", {}, "float32", "there is no folder"),
        (
            "h.safetensors",
            {"kind": "distilbert"},
            "float32",
            "a head is made for BERT encoders, .* choose another encoder",
        ),
    ],
)
def test_what_cannot_be_trained_or_written_is_refused(
    tiny_model, texts_file, tmp_path, monkeypatch, output, options, dtype, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        train(texts_file, output, recipe(tiny_model, **options), dtype)
