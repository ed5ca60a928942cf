"""A trained regressor as files: a head beside its encoder, or a folder with both."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from nlgauge.core.errors import InputError
from nlgauge.models.encoder import cut_layers
from nlgauge.models.heads import HERE
from nlgauge.models.hub import HubNetwork
from nlgauge.models.locate import ModelFiles, is_disentangled, locate
from nlgauge.models.packing import PackedBert
from nlgauge.models.regressor import KIND, WEIGHTS
from nlgauge.training.adapters import adapter_tensors
from nlgauge.training.classifier import HeadNetwork, with_dropout
from nlgauge.training.heads import head_metadata, new_folder, save_encoder, write_head
from nlgauge.training.network import RegressorNetwork
from nlgauge.training.recipe import Recipe

CONFIG = "regressor.json"
_SAME = 1e-3  # of a vector's length: float32 rounds to less


def whole_encoder(files: ModelFiles, dropout: float, layers: Sequence[int]) -> Any:
    """An encoder of any family to be written as a folder, without what stands above the highest of some layers.

    Raises:
        InputError: an encoder-decoder; or, of a family that is not BERT's, the last layer is left out, or a lower one
            is another in training than in use.
    """
    layer = max(layers)
    from transformers import AutoModel

    files.check()
    is_bert = PackedBert.reads(files.config)
    if files.config.get("is_encoder_decoder"):
        raise InputError(
            f"model {files.name!r} is an encoder-decoder, expected an encoder; use method frozen, or name another"
        )
    if layer != files.depth and not is_bert:
        raise InputError(
            f"layer is {layer}: of {files.name!r}, which is not of BERT's family, only the last layer ({files.depth})"
            " can be trained"
        )
    unpooled = {"add_pooling_layer": False} if is_bert and not is_disentangled(files.config) else {}
    encoder = with_dropout(AutoModel, files, dropout, **unpooled)
    if layer != files.depth:
        encoder.encoder.layer = encoder.encoder.layer[:layer]
        encoder.config.num_hidden_layers = layer
    if not is_bert and len(layers) > 1:
        _check_layers(files, encoder, layers)
    return encoder


def _check_layers(files: ModelFiles, encoder: Any, layers: Sequence[int]) -> None:
    """Refuse a family whose last norm stands behind a cut model, too, so that its lower layers are not learnt as such.

    Raises:
        InputError: for such a family (GPT-2, Llama), as some pieces show.
    """
    probe = np.arange(min(4, int(files.config.get("vocab_size", 4))), dtype=np.int64)
    training = encoder.training
    with torch.inference_mode():
        ids = torch.from_numpy(probe)[None]
        out = encoder.eval()(input_ids=ids, attention_mask=torch.ones_like(ids), output_hidden_states=True)
        with cut_layers(HubNetwork(files, torch.float32, torch.device("cpu")), layers) as forward:
            used = forward([probe])
    encoder.train(training)
    for layer, found in zip(layers, used, strict=True):
        if (found - out.hidden_states[layer][0]).norm() > _SAME * found.norm():
            raise InputError(
                f"layer is {layer}: of {files.name!r}, which norms what its last layer gives, only this one"
                f" ({files.depth}) can be trained; use method frozen, or leave the others out"
            )


def save_regressor(
    path: str,
    network: RegressorNetwork | HeadNetwork,
    files: ModelFiles,
    recipe: Recipe,
    dtype: str,
    about: Mapping[str, str],
) -> None:
    """Write a head (`.safetensors`) or a folder, whole or not at all.

    Args:
        path: where to.
        network: what was trained.
        files: of the encoder it began from.
        recipe: how the user named that encoder.
        dtype: the precision in which it was trained.
        about: joins the metadata, and wins over what the recipe says.
    """
    metadata = {**head_metadata(KIND, recipe, files, dtype), **about}
    if path.endswith(".safetensors"):
        adapters = {} if network.encoder is None else adapter_tensors(network.encoder)
        write_head(path, adapters | network.own_tensors(), metadata)
        return
    metadata.pop("encoder_revision", None)
    with new_folder(path) as folder:
        save_encoder(folder, network.encoder, files)
        metadata |= {
            "encoder": HERE,
            "encoder_sha256": locate(str(folder)).weights_digest,
            "encoder_from": recipe.model,
        }
        write_head(folder / WEIGHTS, network.own_tensors(), metadata)
        (folder / CONFIG).write_text(json.dumps(metadata, indent=2, sort_keys=True) + "\n", encoding="utf-8")
