"""Checkpoints of unbabel-comet and of AlignScore, written again as models in a form that is read. No torch."""

from __future__ import annotations

import json
import os
import re
import reprlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.models import repository
from nlgauge.models.heads import FORMAT, VERSION
from nlgauge.models.locate import digest_of
from nlgauge.models.pickled import Pickled, made_whole, part, part_of, read, values, write


def _copy_setup(encoder: str, target: Path) -> None:
    """Copy the configuration and the tokenizer of an encoder."""
    for path in sorted(repository.setup(encoder).iterdir()):
        if path.is_file() and not path.name.endswith((".bin", ".safetensors", ".md")):
            shutil.copyfile(path, target / path.name)


# --- unbabel-comet: an encoder, and a regressor on it

_FEATURES = {
    "regression_metric": "hyp,ref,hyp*ref,|hyp-ref|,hyp*src,|hyp-src|",
    "referenceless_regression_metric": "hyp,src,hyp*src,|hyp-src|",
}
# Settings that the regressor here has one form of; the first of each is what unbabel-comet takes where none is said.
_ONLY: Mapping[str, tuple[object, ...]] = {
    "pool": ("avg",),
    "layer_norm": (False, None),
    "activations": ("Tanh", "tanh"),
    "final_activation": (None,),
}
# The encoders that published checkpoints stand on. A checkpoint names its own, and opens no other.
_ENCODERS = re.compile(
    r"(FacebookAI/)?xlm-roberta-(base|large)|(google-bert/)?bert-base-multilingual-cased|microsoft/infoxlm-(base|large)"
)
_ENCODER, _HEAD, _SCALARS = "encoder.model.", "estimator.ff.", "layerwise_attention.scalar_parameters."
_UNUSED = ("position_ids", "pooler.")
_CUT = 4  # pieces below the positions of the encoder at which unbabel-comet cuts: two for padding, and two again
_SCALE = {True: ("0", "1"), False: ("-2", "2")}  # of models since WMT22, which learnt ratings from 0 to 1, and before


def comet_folder(model: str, head: str) -> Path | None:
    """The folder of a checkpoint of unbabel-comet as the package reads it; it is made once, and no pickle is run.

    Args:
        model: a folder with `hparams.yaml` and `checkpoints/model.ckpt`, or a name on the hub, OWNER/NAME[@REVISION].
        head: the name of the regressor's file there.

    Returns:
        None where the name stands for something else: it is no such folder, and has no owner.

    Raises:
        InputError: the checkpoint is not there, cannot be read, or is of a kind that is not computed here.
    """
    given, (repo, revision) = Path(os.path.expanduser(model)), repository.split(model)
    if os.path.isfile(given / repository.SETTINGS):
        files = (given / repository.SETTINGS, given / repository.CHECKPOINT)
        if not files[1].is_file():
            raise InputError(f"model folder {given} has {repository.SETTINGS} and no {repository.CHECKPOINT}")
        folder, name, origin = given, "-".join(("comet", *(digest_of(file)[:16] for file in files))), {}
    elif os.path.exists(given) or repo.startswith((".", "/", "~")) or repo.count("/") != 1:
        return None
    else:
        folder = repository.checkpoint(repo, revision, _settings)
        name, origin = f"{repo.replace('/', '--')}@{folder.name}", {"repository": repo, "commit": folder.name}
    target = repository.home("pickled") / name

    def make(beside: Path) -> None:
        try:
            _converted(model, folder, beside, head, origin)
        except (LookupError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            reason = f"{type(error).__name__}: {error}"[:160]
            raise InputError(f"model {model!r} in {folder} is no checkpoint of unbabel-comet ({reason})") from None

    made_whole(target, [head], make)
    return target


def _converted(model: str, folder: Path, target: Path, head: str, origin: Mapping[str, str]) -> None:
    """Write the encoder, its configuration and tokenizer, and the regressor of a checkpoint into a folder."""
    said = _settings(model, folder / repository.SETTINGS)
    found = read(folder / repository.CHECKPOINT)
    facts = {**origin, "sha256": digest_of(found.path)}
    _copy_setup(said["pretrained_model"], target)
    encoder = {name.removeprefix(_ENCODER): name for name in found.tensors if name.startswith(_ENCODER)}
    parts = [part(new, found, found.tensors[old]) for new, old in encoder.items() if not new.startswith(_UNUSED)]
    parts = [one for one in parts if not one.name.endswith(_UNUSED)]
    if not parts:
        raise InputError(f"model {model!r}: {found.path} holds no encoder, as a checkpoint of unbabel-comet has")
    write(target / "model.safetensors", parts, facts)
    config = json.loads((target / "config.json").read_text(encoding="utf-8"))
    own, metadata = _regressor(model, found, said, config)
    metadata |= {"encoder_sha256": digest_of(target / "model.safetensors"), **facts}
    write(target / head, [part_of(name, numbers.astype(np.float32)) for name, numbers in own.items()], metadata)


def _settings(model: str, path: Path) -> dict[str, Any]:
    """The settings of a checkpoint, as `hparams.yaml` has them; nothing of it is made but plain values.

    Raises:
        InputError: it cannot be read, or the model is of a kind that is not computed here.
    """
    try:
        import yaml  # comes with transformers
    except ImportError:
        raise MissingExtra(f"model {model!r}", "neural") from None
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise InputError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    if not isinstance(said, dict):
        raise InputError(f"{path} holds no settings of unbabel-comet")
    kind = said.get("class_identifier", "regression_metric")
    if not isinstance(kind, str) or kind not in _FEATURES:
        raise InputError(
            f"model {model!r} is a {_brief(kind)}, which is not computed here; expected {' or '.join(_FEATURES)}, as"
            " Unbabel/wmt22-comet-da and Unbabel/wmt20-comet-qe-da are"
        )
    for name, known in _ONLY.items():
        if said.get(name, known[0]) not in known:
            raise InputError(f"model {model!r}: {name} is {_brief(said[name])}, computed here is {known[0]}")
    if not isinstance(said.get("pretrained_model"), str) or not _ENCODERS.fullmatch(said["pretrained_model"]):
        raise InputError(
            f"model {model!r} stands on the encoder {_brief(said.get('pretrained_model'))!r}; published checkpoints"
            " that are read stand on XLM-R, InfoXLM or multilingual BERT"
        )
    return {**said, "class_identifier": kind}


def _brief(value: Any) -> str:
    """The start of a setting; a few lines of YAML can stand for a list whose text is of any length."""
    return (value if isinstance(value, str) else reprlib.repr(value))[:60]


def _regressor(
    model: str, found: Pickled, said: Mapping[str, Any], config: Mapping[str, Any]
) -> tuple[dict[str, npt.NDArray[np.float64]], dict[str, str]]:
    """The tensors and the metadata of the regressor: the mix of layers, and linear layers with Tanh between."""
    places = sorted({int(name.split(".")[2]) for name in found.tensors if re.fullmatch(_HEAD + r"\d+\.weight", name)})
    if not places:
        raise InputError(f"model {model!r}: {found.path} holds no {_HEAD}0.weight, as unbabel-comet's estimators do")
    own: dict[str, npt.NDArray[np.float64]] = {}
    for number, place in enumerate(places):
        layer = "out" if place == places[-1] else f"hidden.{number}"
        own |= {f"{layer}.{kind}": values(found, f"{_HEAD}{place}.{kind}") for kind in ("weight", "bias")}
    depth, layer = int(config["num_hidden_layers"]), said.get("layer", "mix")
    if layer == "mix":
        scalars = [name for name in found.tensors if name.startswith(_SCALARS)]
        if len(scalars) != depth + 1:
            raise InputError(f"model {model!r}: {len(scalars)} weights of layers for an encoder of {depth} layers")
        ordered = sorted(scalars, key=lambda name: int(name.rpartition(".")[2]))
        weights = np.concatenate([values(found, name).ravel() for name in ordered])
        if _brief(said.get("layer_transformation")).startswith("sparsemax"):
            weights = np.log(np.maximum(sparsemax(weights), 1e-30))  # the regressor takes the softmax of what is here
        own |= {"mix.weights": weights, "mix.scale": values(found, "layerwise_attention.gamma").reshape(())}
    elif not isinstance(layer, int) or not -depth - 1 <= layer <= depth:
        raise InputError(f"model {model!r}: layer is {_brief(layer)}, expected mix or one of {depth}")
    low, high = _SCALE[re.search(r"wmt(2[2-9]|[3-9]\d)", model) is not None]
    return own, {
        "format": FORMAT,
        "version": VERSION,
        "kind": "regressor",
        "encoder": ".",
        "encoder_from": str(said["pretrained_model"]),
        "features": _FEATURES[said["class_identifier"]],
        "layers": "mix" if layer == "mix" else str(layer % (depth + 1)),
        "widths": ",".join(str(own[f"hidden.{number}.bias"].size) for number in range(len(places) - 1)),
        "pooling": "mean of all tokens",
        "max_tokens": str(int(config["max_position_embeddings"]) - _CUT),
        "low": low,
        "high": high,
        "data": "ratings of WMT, as Unbabel's model card says",
        "criterion": "adequacy",
    }


def sparsemax(z: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The point of the simplex closest to z, shape (k,), some of which is 0.

    References:
        Martins and Astudillo (2016), "From Softmax to Sparsemax", algorithm 1.
    """
    falling, count = -np.sort(-z), 1 + np.arange(len(z))
    above = np.cumsum(falling) - 1
    support = int((count * falling > above).sum())  # the first ones, of which the sum exceeds 1 by least
    return np.asarray(np.maximum(z - above[support - 1] / support, 0))


# --- AlignScore: RoBERTa with three layers on its pooled vector, of which the one for three labels is read

ALIGNSCORE = "yzha/AlignScore"  # the repository, which has files alone
_LARGE = "AlignScore-large.ckpt"
_LABELS = {"0": "entailment", "1": "neutral", "2": "contradiction"}
_BODY, _OF_BASE = "base_model.", 12  # layers of RoBERTa-base
_CLASSIFIER = {  # name in the checkpoint -> in transformers' classifier, which computes the same of the first vector
    f"{old}.{kind}": f"classifier.{new}.{kind}"
    for old, new in (("base_model.pooler.dense", "dense"), ("tri_layer", "out_proj"))
    for kind in ("weight", "bias")
}


def alignscore_folder(model: str) -> Path | None:
    """The folder of a checkpoint of AlignScore as a classifier of transformers; it is made once, and no pickle is run.

    Args:
        model: a file `*.ckpt`; or on the hub OWNER/NAME/FILE.ckpt or `yzha/AlignScore`, with or without @REVISION.

    Returns:
        None where the name stands for something else.

    Raises:
        InputError: the checkpoint is not there, cannot be read, or is none of AlignScore.
    """
    given, (name, revision) = Path(os.path.expanduser(model)), repository.split(model)
    if name == ALIGNSCORE:
        name = f"{name}/{_LARGE}"
    if given.is_file() and given.suffix == ".ckpt":
        path, target, origin = given, repository.home("pickled") / f"alignscore-{digest_of(given)[:16]}", {}
    elif name.endswith(".ckpt") and name.count("/") == 2 and not name.startswith((".", "/", "~")):
        repo, _, file = name.rpartition("/")
        path = repository.single(repo, file, revision)
        commit = path.parent.name
        target = repository.home("pickled") / f"{repo.replace('/', '--')}@{commit}" / Path(file).stem
        origin = {"repository": repo, "commit": commit}
    else:
        return None
    made_whole(target, ["model.safetensors"], lambda beside: _classifier(model, read(path), beside, origin))
    return target


def _classifier(model: str, found: Pickled, target: Path, origin: Mapping[str, str]) -> None:
    """Write a checkpoint of AlignScore into a folder, with RoBERTa's configuration and tokenizer."""
    lacking = [name for name in _CLASSIFIER if name not in found.tensors]
    if lacking:
        raise InputError(f"model {model!r}: {found.path} holds no {lacking[0]}, as a checkpoint of AlignScore does")
    body = [name for name in found.tensors if name.startswith(_BODY) and not name.endswith("position_ids")]
    named = {**{name: f"roberta.{name.removeprefix(_BODY)}" for name in body}, **_CLASSIFIER}
    depth = len({name.split(".")[3] for name in body if name.startswith(f"{_BODY}encoder.layer.")})
    _copy_setup(f"FacebookAI/roberta-{'base' if depth <= _OF_BASE else 'large'}", target)
    config = json.loads((target / "config.json").read_text(encoding="utf-8"))
    config |= {"architectures": ["RobertaForSequenceClassification"], "id2label": _LABELS}
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    parts = [part(new, found, found.tensors[old]) for old, new in named.items()]
    write(target / "model.safetensors", parts, {**origin, "file": found.path.name, "sha256": digest_of(found.path)})
