"""Models of the hub: a hub on loopback, whose every request is counted, and an empty cache."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.hub import GATED, pickled

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.models.locate import locate
from nlgauge.models.repository import held, names, needed, remove, snapshot

torch = pytest.importorskip("torch")
constants = pytest.importorskip("huggingface_hub.constants")


def score(model, **options):
    spec = f'bertscore:model="{model}"' + "".join(f",{key}={value}" for key, value in options.items())
    (scores,) = ng.score(["a cat sat here"], ["the cat sat there"], metrics=spec).values()
    return scores


@pytest.mark.parametrize(
    ("kind", "zipped", "shards"),
    [("bert", True, 0), ("roberta", False, 0), ("deberta", True, 2), ("distilbert", False, 3)],
)
def test_pickles_give_the_numbers_of_safetensors(hub, tiny_model, tmp_path, kind, zipped, shards):
    hub.put("owner/model", pickled(tiny_model(kind), tmp_path / "old", zipped, shards))
    found = score("owner/model")
    assert found.values == score(tiny_model(kind)).values  # the same bits
    assert "revision:" in str(found.signature)


def test_only_what_is_needed_is_downloaded_and_once(hub, tiny_model):
    others = [
        "onnx/model.onnx",
        "onnx/config.json",
        "tf_model.h5",
        "flax_model.msgpack",
        "model.fp16.safetensors",
        "pytorch_model.bin",
    ]
    hub.put("owner/model", tiny_model("roberta"), [*others, "README.md", "model.safetensors.index.json.bak"])
    first = score("owner/model")
    assert set(hub.files()) == {path.name for path in tiny_model("roberta").iterdir()} | {"README.md"}
    assert len(hub.files()) == len(set(hub.files()))
    hub.asked.clear()
    snapshot.cache_clear()
    assert score("owner/model").values == first.values
    assert hub.asked == []  # nothing at all


def test_a_run_of_the_command_says_that_it_fetches_and_the_next_asks_nothing(hub, tiny_nli, tmp_path):
    hub.put("owner/nli", pickled(tiny_nli("roberta"), tmp_path / "old"))
    texts = tmp_path / "texts"
    texts.write_text("a cat\n")
    command = [
        sys.executable,
        "-m",
        "nlgauge",
        "score",
        "-i",
        texts,
        "-r",
        texts,
        "-m",
        "nli:model=owner/nli",
        "--no-cache",
    ]
    run = {"env": {**os.environ, **hub.environment}, "capture_output": True, "text": True, "check": True}
    first = subprocess.run(command, **run)
    assert "fetching owner/nli from the hub, once: " in first.stderr
    assert "%|" not in first.stderr  # no bar where nobody watches
    hub.asked.clear()
    again = subprocess.run(command, **run)
    assert again.stdout == first.stdout
    assert "fetching" not in again.stderr
    assert hub.asked == []


def test_an_old_name_and_the_new_one_are_one_model(hub, tiny_model, monkeypatch):
    hub.put("FacebookAI/roberta-large", tiny_model("roberta"))
    old = snapshot("roberta-large")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert snapshot("FacebookAI/roberta-large") == old
    assert [list(names(one)) for one in ("roberta-large", "google-bert/bert-base-cased", "owner/bert-x")] == [
        ["roberta-large", "FacebookAI/roberta-large"],
        ["google-bert/bert-base-cased", "bert-base-cased"],
        ["owner/bert-x"],
    ]


def test_a_revision_is_fetched_and_known_by_name(hub, tiny_model, tmp_path):
    hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old"))
    hub.put("owner/model", tiny_model("bert"), revision="refs/pr/6")
    assert score("owner/model", revision="refs/pr/6").values == score("owner/model").values
    assert locate("owner/model", "refs/pr/6").identity != locate("owner/model").identity
    assert "pytorch_model.bin" in hub.files()
    assert "model.safetensors" in hub.files()


def test_a_snapshot_without_a_tokenizer_is_made_whole(hub, tiny_model):
    source = hub.put("owner/model", tiny_model("roberta"))
    from huggingface_hub import hf_hub_download

    for name in ("config.json", "model.safetensors"):  # as AutoModel.from_pretrained leaves it
        hf_hub_download("owner/model", name)
    folder = snapshot("owner/model").folder
    assert {path.name for path in folder.iterdir()} == {path.name for path in source.iterdir()}


def test_a_snapshot_whose_shard_is_missing_is_made_whole(hub, tiny_model, tmp_path):
    hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old", shards=2))
    from huggingface_hub import snapshot_download

    snapshot_download("owner/model", ignore_patterns=["*-00002-of-*"])
    assert score("owner/model").values == score(tiny_model("bert")).values


def test_a_connection_that_breaks_leaves_nothing_and_the_next_try_goes_on(hub, tiny_model, monkeypatch):
    hub.put("owner/model", tiny_model("bert"))
    hub.breaks.add("model.safetensors")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between the tries of the hub's client
    with pytest.raises(ng.InputError, match=r"'owner/model' is neither a folder .*cannot be fetched.* \[.+\]") as told:
        snapshot("owner/model")
    assert "\n" not in str(told.value)
    hub.breaks.clear()
    assert score("owner/model").values == score(tiny_model("bert")).values


@pytest.mark.parametrize(
    ("model", "revision", "message"),
    [
        (GATED, None, r"is gated: accept its terms on http://.*/gated/model, then run 'hf auth login'"),
        ("no/such", None, r"the hub has none of this name, or a private one"),
        ("owner/model", "v9", r"has no revision 'v9'; http://.*/owner/model/tree/main lists them"),
        ("owner/onnx", None, r"another kind of model: on the hub it has no config\.json with model\.safetensors or"),
    ],
)
def test_what_cannot_be_had_says_why(hub, tiny_model, tmp_path, model, revision, message):
    hub.put("owner/model", tiny_model("bert"))
    (tmp_path / "none").mkdir()
    hub.put("owner/onnx", tmp_path / "none", ["config.json", "onnx/model.onnx"])
    with pytest.raises(ng.InputError, match=message) as told:
        snapshot(model, revision)
    assert "\n" not in str(told.value)
    assert hub.files() == []  # nothing was downloaded for it


def test_no_room_is_said(hub, tiny_model, monkeypatch):
    hub.put("owner/model", tiny_model("bert"))

    def full(*given, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("huggingface_hub.snapshot_download", full)
    with pytest.raises(ng.InputError, match=r"no room in .*cache; HF_HOME names another folder"):
        snapshot("owner/model")


def test_models_are_listed_with_their_licence_and_removed(hub, tiny_model, tmp_path, capsys):
    source = hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old"))
    (source / "README.md").write_text("---\nlanguage: en\nlicense: apache-2.0\n---\nlicense: none of it\n")
    assert main(["fetch", "owner/model"]) == 0
    (one,) = held()
    assert (one.name, one.licence, len(one.commits)) == ("owner/model", "apache-2.0", 1)
    weights = (source / "pytorch_model.bin").stat().st_size
    assert one.size > 1.8 * weights  # as they came, and written again in a shorter form
    capsys.readouterr()
    assert main(["fetch", "--list"]) == 0
    assert (
        f"owner/model   {one.size / 1e6:.0f} MB; commit {one.commits[0][:12]}; licence apache-2.0"
        in capsys.readouterr().out
    )
    assert main(["fetch", "--remove", "owner/model"]) == 0
    assert "owner/model: removed from the hub's cache" in capsys.readouterr().out
    assert held() == []
    assert not list((tmp_path / "store" / "pickled").glob("owner*"))
    assert not remove("owner/model")


def test_the_files_of_a_repository_by_hand():
    files = ["config.json", "a/config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    files += ["model.safetensors.index.json", "tokenizer.json", "pytorch_model.bin", "README.md", "x.gguf"]
    assert needed(files) == ["config.json", "tokenizer.json", "README.md", "model.safetensors.index.json", *files[2:4]]
    assert needed(["config.json", "pytorch_model.bin", "vocab.txt"]) == [
        "config.json",
        "vocab.txt",
        "pytorch_model.bin",
    ]
    assert needed(["model.safetensors"]) == []  # without a configuration it is no model of transformers


@pytest.mark.parametrize("metric", ["comet", "bleurt", "metricx"])
def test_what_is_no_encoder_is_not_told_to_take_one(hub, monkeypatch, metric):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ng.InputError, match="run 'nlgauge fetch ") as told:
        ng.score(["a"], ["a"], srcs=["a"], metrics=metric)
    assert "embedded" not in str(told.value)


def test_checkpoints_of_comet_are_fetched_by_the_command_with_their_encoder(hub, tmp_path, monkeypatch, capsys):
    from tests.models import tiny_comet

    config = tiny_comet.save_encoder(tmp_path / "encoder")
    tiny_comet.save(tmp_path / "checkpoint", config, "xlm-roberta-large")
    hub.put("Unbabel/wmt22-comet-da", tmp_path / "checkpoint")
    hub.put("Unbabel/wmt22-comet-da", tmp_path / "checkpoint", revision="refs/pr/6")
    hub.put("FacebookAI/xlm-roberta-large", tmp_path / "encoder")
    for name in ("Unbabel/wmt22-comet-da", "Unbabel/wmt22-comet-da@refs/pr/6"):
        assert main(["fetch", name]) == 0
        assert capsys.readouterr().out.startswith(f"{name}: whole, in ")
        hub.asked.clear()
        ng.score(["a"], ["a"], srcs=["a"], metrics=f"comet:model={name}")
        assert hub.asked == []
    assert main(["fetch", "FacebookAI/xlm-roberta-large"]) == 2  # it has no weights here
    assert "on the hub it has no config.json with model.safetensors" in capsys.readouterr().err


def test_comet_is_fetched_by_its_name(hub, tmp_path, monkeypatch):
    from tests.models import tiny_comet

    config = tiny_comet.save_encoder(tmp_path / "encoder")
    tiny_comet.save(tmp_path / "checkpoint", config, "xlm-roberta-large")
    hub.put("Unbabel/wmt22-comet-da", tmp_path / "checkpoint", ["README.md", "other.bin"])
    hub.put("FacebookAI/xlm-roberta-large", tmp_path / "encoder", ["model.safetensors", "onnx/model.onnx"])
    hyps, refs, srcs = ([row[key] for row in tiny_comet.ROWS] for key in ("mt", "ref", "src"))
    (found,) = ng.score(hyps, refs, srcs=srcs, metrics="comet").values()
    golden = json.loads((Path(__file__).parent.parent / "golden" / "comet.json").read_text())
    assert found.values == pytest.approx(golden["regression_metric softmax"], abs=1e-5)  # as in test_comet.py
    assert set(hub.files()) == {
        *("hparams.yaml", "checkpoints/model.ckpt", "README.md"),
        *("config.json", "tokenizer.json", "tokenizer_config.json"),
    }
