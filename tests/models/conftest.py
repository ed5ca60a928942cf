"""A hub; copies of models in which something is changed; vectors by our networks, and by transformers alone."""

import json
import shutil

import pytest


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """A hub on loopback that holds nothing yet, and an empty cache."""
    from tests.models.hub import serving

    with serving(tmp_path, monkeypatch) as served:
        yield served


def changed(folder, to, config=None, rename=lambda key: key, keep=lambda key: True, more=None):
    """A copy of a model with other entries in its configuration, and tensors renamed, left out, replaced or added."""
    from safetensors.torch import load_file, save_file

    shutil.copytree(folder, to)
    weights = {rename(key): tensor for key, tensor in load_file(to / "model.safetensors").items() if keep(key)}
    save_file({**weights, **(more or {})}, to / "model.safetensors", metadata={"format": "pt"})
    path = to / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **(config or {})}), encoding="utf-8")
    return to


def encoder(folder, dtype=None):
    """The encoder of a model as transformers loads it."""
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder, **({} if dtype is None else {"dtype": dtype})).eval()
    return model.get_encoder() if model.config.is_encoder_decoder else model


def states(model, texts):
    """Hidden states by transformers, one text at a time: layer -> rows of all texts."""
    import torch

    with torch.inference_mode():
        found = [model(input_ids=torch.from_numpy(ids)[None], output_hidden_states=True).hidden_states for ids in texts]
    return [torch.cat([layers[n][0] for layers in found]) for n in range(len(found[0]))]


def forward(network, texts, layer):
    """Hidden states of our network after a layer, rows of all texts one after another."""
    import torch

    with torch.inference_mode(), network.cut(layer) as run:
        return run(texts)
