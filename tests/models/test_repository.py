"""Models of the hub: a hub on loopback, whose every request is counted, and an empty cache."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.hub import GATED, pickled

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.metrics.embedding import vectors
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.metrics.registry import metric
from nlgauge.models.locate import locate
from nlgauge.models.repository import held, names, needed, remove, snapshot
from nlgauge.perturbations.synthesis import Draws, Synthesizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.recipe import InfillRecipe

torch = pytest.importorskip("torch")
constants = pytest.importorskip("huggingface_hub.constants")
safetensors = pytest.importorskip("safetensors.torch")


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


def test_a_run_of_the_command_says_that_it_fetches_and_the_next_asks_nothing(hub, tiny_nli, tmp_path, capsys):
    hub.put("owner/nli", pickled(tiny_nli("roberta"), tmp_path / "old"))
    texts = tmp_path / "texts"
    texts.write_text("a cat\n")
    words = ["score", "-i", str(texts), "-r", str(texts), "-m", "nli:model=owner/nli", "--no-cache"]
    run = {"env": {**os.environ, **hub.environment}, "capture_output": True, "text": True, "check": True}
    first = subprocess.run([sys.executable, "-m", "nlgauge", *words], **run)
    assert "fetching owner/nli from the hub, once: " in first.stderr
    assert "%|" not in first.stderr  # no bar where nobody watches
    hub.asked.clear()
    assert main(words) == 0
    again = capsys.readouterr()
    assert again.out == first.stdout
    assert "fetching" not in again.err
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


def test_a_revision_may_stand_behind_the_name(hub, tiny_model, tmp_path):
    hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old"))
    hub.put("owner/model", tiny_model("bert"), revision="refs/pr/6")
    typed, beside = score("owner/model@refs/pr/6"), score("owner/model", revision="refs/pr/6")
    assert dict(typed.signature.entries)["revision"] == dict(beside.signature.entries)["revision"]
    commit = dict(typed.signature.entries)["revision"]
    assert locate(f"owner/model@{commit}") == replace(locate("owner/model", commit), name=f"owner/model@{commit}")
    recipe = InfillRecipe(model="owner/model@refs/pr/6")  # as it is recorded in what is trained
    assert (recipe.model, recipe.revision) == ("owner/model", "refs/pr/6")
    for model, revision in (("owner/model@main", "refs/pr/6"), ("owner/model@", None)):
        with pytest.raises(ng.InputError, match=r"expected one revision, as NAME@REVISION or by the option revision"):
            locate(model, revision)
    with pytest.raises(ng.InputError, match="the embedded model has no revisions"):
        locate("embedded@main")


def test_a_judge_and_a_filler_of_a_revision_are_signed(hub, tiny_model, tiny_nli):
    hub.put("owner/nli", tiny_nli("roberta"))
    hub.put("owner/nli", tiny_nli("roberta"), revision="refs/pr/1")
    hub.put("owner/bart", tiny_model("bart"))
    hub.put("owner/bart", tiny_model("bart"), revision="refs/pr/1")
    commits = [hub.commit(name, "refs/pr/1") for name in ("owner/bart", "owner/nli")]
    maker = Synthesizer(Draws(), infill="owner/bart@refs/pr/1", judge="owner/nli@refs/pr/1", runtime=Runtime())
    signed = dict(maker.signature.entries)
    assert [signed["infill_revision"], signed["judge_revision"]] == commits


# What a folder is: the tiny model stands for one whose layer is known, as layer 1 and a baseline of two rows


@pytest.fixture
def known(monkeypatch):
    monkeypatch.setitem(vectors.layers_table(), "owner/model", 1)
    monkeypatch.setitem(vectors._bundled(), ("en", "owner/model"), vectors.Baseline({1: (0.1, 0.1, 0.1)}, "en/theirs"))


def test_folders_that_came_from_a_known_model_give_its_numbers(hub, tiny_model, tmp_path, known):
    hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old"))
    asked = score("owner/model", rescale="true")
    cached = next((tmp_path / "cache").glob("models--owner--model/snapshots/*"))
    copied = shutil.copytree(cached, tmp_path / "of the cache")  # what links lead to
    made = shutil.copytree(snapshot("owner/model")[0], tmp_path / "of what was written again")
    for folder, why in (
        (cached, "as its path says"),
        (copied, "whose weights in the hub's cache are the same"),
        (made, "of which its weights were written"),
    ):
        found = score(folder, rescale="true")
        assert found.values == asked.values
        assert {("layer", "1"), ("like", "owner/model"), ("baseline", "en/theirs")} <= set(found.signature.entries)
        (note,) = metric(f'bertscore:model="{folder}",rescale=true').notes
        assert note == (f"{folder} is taken as owner/model, {why}: layer 1 and its baseline; like=NAME takes another")
        assert metric(f'bertscore:model="{folder}",layer=2').notes == ()  # the number depends on no name
        assert score(folder, like="roberta-base").values == score("owner/model", layer=2).values  # 10 of 2: a guess


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        ({}, True),
        ({"_name_or_path": "FacebookAI/roberta-large"}, True),
        ({"hidden_size": 768}, False),
        ({"vocab_size": 50266}, False),
        ({"num_hidden_layers": 12}, False),
        ({"architectures": ["RobertaForSequenceClassification"]}, False),  # trained further, for labels
        ({"_name_or_path": "/home/user/roberta-large"}, False),
        ({"_name_or_path": None}, False),
    ],
)
def test_a_configuration_is_believed_where_sizes_agree(tmp_path, said, taken):
    config = {"model_type": "roberta", "num_hidden_layers": 24, "hidden_size": 1024, "vocab_size": 50265}
    config |= {"_name_or_path": "roberta-large", "architectures": ["RobertaModel"]}
    (tmp_path / "config.json").write_text(json.dumps(config | said))
    safetensors.save_file({"a": torch.zeros(1)}, tmp_path / "model.safetensors")
    files = locate(str(tmp_path))
    name, why = files.taken_as
    assert (name, bool(why)) == (("roberta-large", True) if taken else (str(tmp_path), False))
    assert best_layer(name, 24) == (17 if taken else 18)


@pytest.mark.parametrize("said", ["owner/model\nnote: all is well", "a/b/c", "", "x" * 200])
def test_a_record_that_is_no_name_is_not_repeated(tiny_model, tmp_path, said):
    folder = shutil.copytree(tiny_model("bert"), tmp_path / "copy")
    weights = safetensors.load_file(folder / "model.safetensors")
    safetensors.save_file(weights, folder / "model.safetensors", {"format": "pt", "repository": said})
    assert locate(str(folder)).taken_as == (str(folder), "")


def test_a_preset_of_a_language_takes_a_folder_that_is_named(tiny_model):
    folder = tiny_model("bert")
    built = metric(f'paper/bertscore-zh:model="{folder}",layer=1,like=bert-base-chinese')
    assert built.known_as == "bert-base-chinese"
    with pytest.raises(ng.SpecError, match="language=zh chooses the bundled baseline and changes nothing"):
        metric(f'paper/bertscore-zh:model="{folder}"')


def test_a_snapshot_without_a_tokenizer_is_made_whole(hub, tiny_model):
    source = hub.put("owner/model", tiny_model("roberta"))
    from huggingface_hub import hf_hub_download

    for name in ("config.json", "model.safetensors"):  # as AutoModel.from_pretrained leaves it
        hf_hub_download("owner/model", name)
    folder = snapshot("owner/model")[0]
    assert {path.name for path in folder.iterdir()} == {path.name for path in source.iterdir()}


def test_a_snapshot_whose_shard_is_missing_is_made_whole(hub, tiny_model, tmp_path):
    hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old", shards=2))
    from huggingface_hub import snapshot_download

    snapshot_download("owner/model", ignore_patterns=["*-00002-of-*"])
    assert score("owner/model").values == score(tiny_model("bert")).values


def test_a_connection_that_breaks_goes_on_where_it_broke(hub, tiny_model, tmp_path, monkeypatch):
    # in a snapshot that is not whole: one shard is there, the other comes in two parts
    hub.put("owner/model", pickled(tiny_model("bert"), tmp_path / "old", shards=2))
    from huggingface_hub import snapshot_download

    snapshot_download("owner/model", ignore_patterns=["*-00002-of-*"])
    hub.forget()
    hub.breaks.add("pytorch_model-00002-of-00002.bin")
    hub.breaks_once = True
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)  # the client writes whole blocks; its own have 10 MB
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between the tries of the hub's client
    assert score("owner/model").values == score(tiny_model("bert")).values
    assert hub.files() == ["pytorch_model-00002-of-00002.bin"] * 2
    size = (hub.root / "owner--model" / "pytorch_model-00002-of-00002.bin").stat().st_size
    assert sum(n for _, n in hub.sent) == size + size // 2 % 1000  # only what had begun a block came twice


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
        assert main(["fetch", name]) == 0  # what is there is left as it is
        assert capsys.readouterr().out.startswith(f"{name}: whole, in ")
        assert hub.asked == []
    with pytest.raises(ng.InputError, match=r"da' is a checkpoint of unbabel-comet, which comet and comet-qe read$"):
        snapshot("Unbabel/wmt22-comet-da")
    assert main(["fetch", "FacebookAI/xlm-roberta-large"]) == 2  # it has no weights here
    assert "on the hub it has no config.json with model.safetensors" in capsys.readouterr().err


def test_a_checkpoint_that_is_not_read_is_refused_by_its_settings(hub, tmp_path):
    from tests.models import tiny_comet

    tiny_comet.save(tmp_path / "kiwi", tiny_comet.save_encoder(tmp_path / "encoder"), "xlm-roberta-large")
    settings = tmp_path / "kiwi" / "hparams.yaml"
    settings.write_text(settings.read_text().replace("regression_metric", "unified_metric"))
    hub.put("Unbabel/wmt22-cometkiwi-da", tmp_path / "kiwi", ["README.md"])
    for metric_of in ("comet", "comet-qe"):
        with pytest.raises(ng.InputError, match=r"-da' is a unified_metric, which is not computed here; expected regr"):
            ng.score(["a"], ["a"], srcs=["a"], metrics=f"{metric_of}:model=Unbabel/wmt22-cometkiwi-da")
    assert set(hub.files()) == {"hparams.yaml"}


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
