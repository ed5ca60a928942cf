"""Which layer of a model to match: the best known one, or a stated rule."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import PurePath

from nlgauge.models.locate import NAMED, locate


def best_layer(model: str, depth: int) -> int:
    """The layer whose BERTScore agrees best with people where that was measured, else three quarters of the depth.

    Args:
        model: a name as in specifications. For a folder or a hub id with an owner, the last part is looked up too.
        depth: the number of layers above the embeddings.

    Returns:
        A layer from 1 to `depth` (0 for a model of embeddings only). For models that are not in the table it is
        floor(0.75 * depth): 9 of 12 layers and 18 of 24, as the paper found for BERT.

    References:
        Zhang et al. (2020), table 8; bert_score 0.3.13, `model2layers`, tuned on WMT16 to-English segments; `embedded`
        by `nlgauge train layers`' measure on the same data, `base` on WMT15.
    """
    table = _table()
    last = PurePath(model).name
    layer = table.get(model, None if last in NAMED else table.get(last))  # a folder may be called `base`, too
    return layer if layer is not None and layer <= depth else max(min(1, depth), depth * 3 // 4)


def depth_of(model: str, revision: str | None = None) -> int:
    """The number of layers of a model above its embeddings, from its configuration; nothing is loaded.

    Raises:
        InputError: the model is not there.
    """
    return locate(model, revision).depth


@cache
def _table() -> dict[str, int]:
    loaded: dict[str, int] = json.loads(files("nlgauge.data").joinpath("best_layers.json").read_text(encoding="utf-8"))[
        "layers"
    ]
    return loaded
