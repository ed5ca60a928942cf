"""Checkpoints of unbabel-comet, read without the package: its own scores, by recipes/golden/unbabel_comet.py."""

import json
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.models import locate, repository
from nlgauge.models.checkpoints import sparsemax

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models import tiny_comet

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "comet.json").read_text())
COLUMNS = {name: [row[name] for row in tiny_comet.ROWS] for name in ("mt", "ref", "src")}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A function that writes a checkpoint and returns its folder; XLM-R's configuration is at hand."""
    config = tiny_comet.save_encoder(tmp_path / "encoder")
    monkeypatch.setenv("NLGAUGE_MODELS", str(tmp_path / "store"))
    monkeypatch.setattr(repository, "setup", lambda name: tmp_path / "encoder")

    def make(*given, **changed):
        tiny_comet.save(tmp_path / "checkpoint", config, "xlm-roberta-large", *given, **changed)
        return tmp_path / "checkpoint"

    return make


def scored(folder, kind):
    given = {"srcs": COLUMNS["src"]}
    if kind == "regression_metric":
        given["refs"] = COLUMNS["ref"]
    name = "comet" if kind == "regression_metric" else "comet-qe"
    return ng.score(COLUMNS["mt"], **given, metrics=f'{name}:model="{folder}"')


@pytest.mark.parametrize("mix", ["softmax", "sparsemax"])
@pytest.mark.parametrize("kind", tiny_comet.KINDS)
def test_the_scores_are_those_of_the_package(made, kind, mix):
    (scores,) = scored(made(kind, mix), kind).values()
    # float32 on both sides, whose sums differ in the last bits from processor to processor
    assert scores.values == pytest.approx(GOLDEN[f"{kind} {mix}"], abs=1e-5)
    assert scores.flags["truncated"].tolist() == [False, False, True]


def test_it_is_made_once_and_pinned_by_its_weights(made, tmp_path):
    folder = made()
    first = str(scored(folder, "regression_metric").popitem()[1].signature)
    (twin,) = (tmp_path / "store" / "pickled").glob("comet-*")
    before = {path.name: path.stat().st_mtime_ns for path in twin.iterdir()}
    assert str(scored(folder, "regression_metric").popitem()[1].signature) == first
    assert {path.name: path.stat().st_mtime_ns for path in twin.iterdir()} == before
    assert {"config.json", "model.safetensors", "regressor.safetensors", "tokenizer.json"} <= before.keys()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"class_identifier": "unified_metric"}, "is a unified_metric, which is not computed here"),
        ({"class_identifier": ["a"]}, "which is not computed here"),
        ({"pool": "cls"}, "pool is cls, computed here is avg"),
        ({"activations": "ReLU"}, "activations is ReLU, computed here is Tanh"),
        ({"final_activation": "Sigmoid"}, "final_activation is Sigmoid"),
        ({"layer": 9}, "layer is 9, expected mix or one of 3"),
        ({"pretrained_model": "someone/else"}, "stands on the encoder 'someone/else'"),
        ({"pretrained_model": "/etc"}, "stands on the encoder '/etc'"),
    ],
)
def test_what_is_not_computed_is_refused_by_name(made, changed, message):
    with pytest.raises(ng.InputError, match=message):
        scored(made(**changed), "regression_metric")


@pytest.mark.parametrize("content", ["", "[1]", "a: !!python/object/apply:os.system ['touch ran']", "a: [", "\udcff"])
def test_settings_that_are_none_are_refused_and_start_nothing(made, tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    folder = made()
    (folder / "hparams.yaml").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ng.InputError, match=r"hparams\.yaml"):
        scored(folder, "regression_metric")
    assert not (tmp_path / "ran").exists()


def test_settings_that_stand_for_a_list_without_end_are_refused_at_once(made):
    folder = made()
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]  # 2 ** 60 texts
    (folder / "hparams.yaml").write_text("\n".join([*lines, "pretrained_model: *a59"]))
    with pytest.raises(ng.InputError, match="stands on the encoder"):
        scored(folder, "regression_metric")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"estimator.ff.3.bias": None}, r"is no checkpoint of unbabel-comet \(KeyError: 'estimator.ff.3.bias'\)"),
        ({"layerwise_attention.gamma": None}, "is no checkpoint of unbabel-comet"),
        ({"layerwise_attention.gamma": (2,)}, "is no checkpoint of unbabel-comet"),
        (
            {"layerwise_attention.scalar_parameters.0": None, "layerwise_attention.scalar_parameters.x": (1,)},
            "is no ch",
        ),
        (
            {"estimator.ff.6.weight": (2, 8), "estimator.ff.6.bias": (2,)},
            "its last layer gives 2 numbers, expected one",
        ),
    ],
)
def test_tensors_that_do_not_fit_are_refused(made, changed, message):
    torch = pytest.importorskip("torch")
    folder = made()
    checkpoint = torch.load(folder / "checkpoints/model.ckpt", weights_only=True)
    for name, shape in changed.items():
        checkpoint["state_dict"].pop(name, None)
        if shape is not None:
            checkpoint["state_dict"][name] = torch.ones(shape)
    torch.save(checkpoint, folder / "checkpoints/model.ckpt")
    with pytest.raises(ng.InputError, match=message):
        scored(folder, "regression_metric")


def test_a_single_layer_is_read(made):
    (by_mix,) = scored(made(), "regression_metric").values()
    (last,) = scored(made(layer=-1), "regression_metric").values()
    assert not np.allclose(by_mix.values, last.values)


def test_sparsemax_by_hand():
    # sorted 3, 2.5, 0: two are in the support, (3 + 2.5 - 1) / 2 = 2.25 is taken off
    assert sparsemax(np.array([3, 0, 2.5])) == pytest.approx([0.75, 0, 0.25])
    assert sparsemax(np.array([5.0, 0])) == pytest.approx([1, 0])
    assert sparsemax(np.array([1.0, 1, 1, 1])) == pytest.approx([0.25] * 4)


def test_a_checkpoint_in_a_folder_is_read_through_once(made, monkeypatch):
    folder, read, digest = made(), [], locate.digest
    monkeypatch.setattr(locate, "digest", lambda path: (read.append(path.name), digest(path))[1])
    for _ in range(2):
        scored(folder, "regression_metric")
    assert read.count("model.ckpt") == 1  # 2 GB, which take seconds
