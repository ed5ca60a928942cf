"""NLI models: labelled pairs read; heads and folders trained, stopped and gone on with; how often they are right."""

import gzip
import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.torch import load_file
from tests.training.conftest import killed_after

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.entailment import LABELS, PairTokenizer, load_nli
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.nli import (
    LabelledPair,
    accuracy,
    encode_pairs,
    read_pairs,
    train_nli,
)
from nlgauge.training.recipe import NliRecipe, Schedule

torch = pytest.importorskip("torch")


def read(tmp_path, *lines):
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return read_pairs(InputFile(str(path)))


def row(label="neutral", **fields):
    return json.dumps({"premise": "A cat sat.", "hypothesis": "A dog sat.", "label": label} | fields)


def test_labels_are_read_in_any_case_and_other_fields_ignored(tmp_path):
    found = read(tmp_path, row("Neutral"), row("CONTRADICTION", source="x"), row(" entailment "))
    assert [pair.label for pair in found] == [1, 2, 0]
    assert found[0] == LabelledPair("A cat sat.", "A dog sat.", LABELS.index("neutral"))
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress(f"{row()}\n\n{row('entailment')}\n".encode()))
    assert [pair.label for pair in read_pairs(InputFile(str(path)))] == [1, 0]
    with pytest.raises(InputError, match="holds no pairs"):
        read(tmp_path, "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("maybe"), r"p\.jsonl:2: label is 'maybe', expected entailment, neutral or contradiction"),
        (row(2), r"p\.jsonl:2: label is int"),
        (json.dumps({"premise": "a", "label": "neutral"}), r"p\.jsonl:2: no hypothesis"),
        (row(premise=None), r"p\.jsonl:2: premise is NoneType"),
        ('["a", "b"]', r"p\.jsonl:2: no premise"),
        ("{", r"p\.jsonl:2: not valid JSON"),
    ],
)
def test_what_is_no_labelled_pair_is_refused_with_its_line(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, row(), line)


def test_a_pair_is_read_as_the_models_are_trained_to(tiny_model):
    files = locate(str(tiny_model("bert")))
    found = encode_pairs(
        [LabelledPair("the cat sat", "a cat", 0), LabelledPair("the cat " * 20, "a dog", 2)], PairTokenizer(files, 16)
    )
    words = json.loads((files.folder / "tokenizer.json").read_text())["model"]["vocab"]
    assert found.ids[0].tolist() == [words[w] for w in "[CLS] the cat sat [SEP] a cat [SEP]".split()]
    assert found.types[0].tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert found.lengths.tolist() == [8, 16]
    assert found.ids[1].tolist()[-3:] == [words[w] for w in "a dog [SEP]".split()]  # the longer side was cut
    assert found.n_cut == 1
    assert found.labels.tolist() == [0, 2]


FAST = Schedule(epochs=30, batch_size=16, learning_rate=0.01, seed=3)
SHORT = Schedule(epochs=3, batch_size=16, learning_rate=0.01, seed=3)


def recipe(tiny_model, kind="bert", schedule=SHORT, **options):
    return NliRecipe(model=str(tiny_model(kind)), rank=4, alpha=8.0, max_tokens=40, schedule=schedule, **options)


def train(path, output, how, dtype="float32", **options):
    pytest.importorskip("peft")
    return train_nli([InputFile(str(path))], str(output), how, options.pop("runtime", Runtime(dtype=dtype)), **options)


def judged(model, path):
    pairs = [json.loads(line) for line in path.read_text().splitlines()]
    found = load_nli(str(model), None, None, "float32", Runtime()).judge(
        [(p["premise"], p["hypothesis"]) for p in pairs]
    )
    return found.probabilities, np.array([LABELS.index(p["label"]) for p in pairs])


@pytest.mark.parametrize("kind", ["bert", pytest.param("mpnet", marks=pytest.mark.slow)])
def test_a_head_learns_and_says_the_same_when_it_is_used(tiny_model, pairs_file, tmp_path, kind):
    out = tmp_path / "head.safetensors"
    (found,) = train(
        pairs_file,
        out,
        recipe(tiny_model, kind, schedule=FAST),
        test=[InputFile(str(pairs_file))],
        about={"name": "tiny"},
    )
    assert found.accuracy > 0.9  # a third by chance
    probabilities, labels = judged(out, pairs_file)
    assert accuracy("", probabilities, labels).accuracy == found.accuracy
    assert sorted(p.name for p in tmp_path.iterdir()) == ["head.safetensors", "pairs.jsonl"]  # no checkpoint is left
    with safe_open(str(out), framework="pt") as file:
        about = file.metadata()
    expected = {
        "format": "nlgauge-head",
        "version": "1",
        "kind": "nli",
        "name": "tiny",
        "rank": "4",
        "labels": "entailment,neutral,contradiction",
        "features": "cls,mean",
        "max_tokens": "40",
        "dtype": "float32",
        "trained_on_phenomena": "",
    }
    assert {key: about[key] for key in expected} == expected


@pytest.mark.slow
def test_bfloat16_learns_too(tiny_model, pairs_file, tmp_path):
    (found,) = train(
        pairs_file,
        tmp_path / "h.safetensors",
        recipe(tiny_model, schedule=FAST),
        "bfloat16",
        test=[InputFile(str(pairs_file))],
    )
    assert found.accuracy > 0.8


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        ("distilbert", "lora"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in (("bert", "full"), ("xlm-roberta", "full"), ("xlm-roberta", "lora"))
        ),
    ],
)
def test_any_encoder_becomes_a_folder_that_is_read_like_any_checkpoint(tiny_model, pairs_file, tmp_path, kind, method):
    from transformers import AutoModelForSequenceClassification

    out = tmp_path / "model"
    (found,) = train(pairs_file, out, recipe(tiny_model, kind, FAST, method=method), test=[InputFile(str(pairs_file))])
    assert found.accuracy > 0.6
    probabilities, labels = judged(out, pairs_file)
    # Merged, a weight is rounded once more: a pair that stands between two labels may fall to the other.
    assert accuracy("", probabilities, labels).accuracy == pytest.approx(found.accuracy, abs=1 / len(labels) + 1e-9)
    model = AutoModelForSequenceClassification.from_pretrained(out)
    assert model.config.id2label == dict(enumerate(LABELS))
    assert not [name for name, _ in model.named_parameters() if "lora" in name]


@pytest.mark.parametrize(
    ("kind", "output", "dtype"),
    [
        ("bert", "h.safetensors", "bfloat16"),
        pytest.param("xlm-roberta", "folder", "float32", marks=pytest.mark.slow),
    ],
)
def test_a_run_that_was_killed_goes_on_to_the_same_weights(
    tiny_model, pairs_file, tmp_path, monkeypatch, kind, output, dtype
):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 2)
    how = recipe(tiny_model, kind, Schedule(epochs=1, batch_size=16, learning_rate=0.01, seed=3), dropout=0.1)
    for name in ("whole", "killed"):
        (tmp_path / name).mkdir()
    train(pairs_file, tmp_path / "whole" / output, how, dtype)
    target = tmp_path / "killed" / output
    with pytest.raises(KeyboardInterrupt):
        train(pairs_file, target, how, runtime=Runtime(dtype=dtype, progress=lambda total, label: killed_after(3)))
    assert [p.name for p in target.parent.iterdir()] == [f"{output}.checkpoint"]  # nothing under the final name
    train(pairs_file, target, how, dtype)
    weights = [
        load_file(path if path.is_file() else path / "model.safetensors")
        for path in (tmp_path / "whole" / output, target)
    ]
    assert weights[0].keys() == weights[1].keys()
    assert all(weights[0][key].equal(weights[1][key]) for key in weights[0])


def test_a_checkpoint_of_other_data_is_refused(tiny_model, pairs_file, tmp_path, monkeypatch):
    monkeypatch.setattr("nlgauge.training.loop._STEPS_KEPT", 1)
    out = tmp_path / "h.safetensors"
    with pytest.raises(KeyboardInterrupt):
        train(pairs_file, out, recipe(tiny_model), runtime=Runtime(progress=lambda total, label: killed_after(3)))
    pairs_file.write_text(pairs_file.read_text() * 2)
    with pytest.raises(InputError, match=r"of another run \(train differ\)"):
        train(pairs_file, out, recipe(tiny_model))


def test_the_seed_makes_the_weights(tiny_model, pairs_file, tmp_path):
    heads = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train(
            pairs_file,
            tmp_path / f"{name}.safetensors",
            recipe(tiny_model, schedule=Schedule(batch_size=16, seed=seed)),
        )
        heads.append((tmp_path / f"{name}.safetensors").read_bytes())
    assert heads[0] == heads[1] != heads[2]


def test_a_head_goes_on_from_another(tiny_model, pairs_file, tmp_path):
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    train(pairs_file, first, recipe(tiny_model, schedule=SHORT))
    still = Schedule(batch_size=16, learning_rate=1e-9)
    train(pairs_file, second, recipe(tiny_model, schedule=still, init=str(first)))
    before, after = judged(first, pairs_file)[0], judged(second, pairs_file)[0]
    assert np.abs(before - after).max() < 1e-4


def test_accuracy_by_hand():
    # said e, n, c, c; true e, c, c, n
    found = accuracy("x", np.eye(3)[[0, 1, 2, 2]], np.array([0, 2, 2, 1]))
    assert (found.n, found.accuracy, found.two_way) == (4, 0.5, 1.0)
    assert found.recall == (1.0, 0.0, 0.5)
    assert np.isnan(accuracy("x", np.eye(3)[[0]], np.array([0])).recall[1])


@pytest.mark.parametrize(
    ("output", "options", "dtype", "message"),
    [
        ("h.safetensors", {"method": "full"}, "float32", "a head holds adapters"),
        ("h.safetensors", {}, "float16", "dtype is float16, expected bfloat16 or float32"),
        ("h.safetensors", {"dropout": 1.0}, "float32", "dropout is 1.0"),
        ("folder", {"init": "h.safetensors"}, "float32", "goes with a head to write"),
        ("missing/h.safetensors", {}, "float32", "there is no folder"),
        (".", {}, "float32", "is there already"),
        ("h.safetensors", {"init": "pairs.jsonl"}, "float32", "no safetensors file"),
    ],
)
def test_what_cannot_be_trained_or_written_is_refused_first(
    tiny_model, pairs_file, tmp_path, monkeypatch, output, options, dtype, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        train(pairs_file, output, recipe(tiny_model, **options), dtype)


def test_a_head_is_made_for_two_families(tiny_model, pairs_file, tmp_path):
    with pytest.raises(
        InputError, match=r"a head is made for encoders of type bert or mpnet, .* is 'xlm-roberta'; name a folder"
    ):
        train(pairs_file, tmp_path / "h.safetensors", recipe(tiny_model, "xlm-roberta"))
