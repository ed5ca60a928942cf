"""A trained regressor as files: a head beside its encoder, or a folder with both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.models.heads import HERE
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.packed import PackedBert
from nlgauge.models.regressor import KIND, WEIGHTS
from nlgauge.training.adapters import adapter_tensors
from nlgauge.training.classifier import with_dropout
from nlgauge.training.heads import head_metadata, new_folder, save_encoder, write_head
from nlgauge.training.network import RegressorNetwork
from nlgauge.training.recipe import Recipe

CONFIG = "regressor.json"


def whole_encoder(files: ModelFiles, dropout: float, layer: int) -> Any:
    """An encoder of any family to be written as a folder, without what stands above a layer.

    Raises:
        InputError: an encoder-decoder; or a lower layer of a family that is not BERT's.
    """
    from transformers import AutoModel

    files.check_embedded()
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
    encoder = with_dropout(AutoModel, files, dropout, **({"add_pooling_layer": False} if is_bert else {}))
    if layer != files.depth:
        encoder.encoder.layer = encoder.encoder.layer[:layer]
        encoder.config.num_hidden_layers = layer
    return encoder


def save_regressor(
    path: str, network: RegressorNetwork, files: ModelFiles, recipe: Recipe, about: Mapping[str, str]
) -> None:
    """Write a head (`.safetensors`) or a folder, whole or not at all.

    Args:
        path: where to.
        network: what was trained.
        files: of the encoder it began from.
        recipe: how the user named that encoder.
        about: joins the metadata, and wins over what the recipe says.
    """
    metadata = {**head_metadata(KIND, recipe, files), **about}
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
