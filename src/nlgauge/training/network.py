"""The regressor while it learns: an encoder, means of its layers, and a feed-forward network on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch

from nlgauge.models.encoder import combined
from nlgauge.models.regressor import text_vectors


class RegressorNetwork(torch.nn.Module):
    """See `nlgauge.models.regressor`, whose numbers these are.

    Args:
        encoder: of transformers; None where the means are known beforehand.
        layers: whose means are read.
        mixed: whether they are mixed under learnt weights, as COMET does, instead of standing side by side.
        features: see `nlgauge.models.encoder`.
        size: of a token's vector.
        widths: of the hidden layers.
        dropout: behind each of them.
    """

    def __init__(
        self,
        encoder: Any,
        layers: Sequence[int],
        mixed: bool,
        features: Sequence[str],
        size: int,
        widths: Sequence[int],
        dropout: float,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.layers, self.features, self.dropout = tuple(layers), tuple(features), dropout
        self.mix = Mix(len(layers)) if mixed else None
        sizes = [size * (1 if mixed else len(layers)) * len(features), *widths]
        self.hidden = torch.nn.ModuleList(torch.nn.Linear(i, o) for i, o in pairwise(sizes))
        self.out = torch.nn.Linear(sizes[-1], 1)

    def means(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Mean vectors of n texts, special tokens included, float32, shape (n, layers, d).

        Texts that are read alone have no types, as when the regressor is used: XLM and GPT-2 add a word for type 0.
        """
        inputs.pop("token_type_ids", None)
        if len(self.layers) == 1:
            states = [self.encoder(**inputs)[0]]
        else:
            layers_of = self.encoder(**inputs, output_hidden_states=True).hidden_states
            states = [layers_of[layer] for layer in self.layers]
        mask = inputs["attention_mask"]
        shares = (mask / mask.sum(1, keepdim=True))[:, None]  # (n, 1, T)
        with torch.autocast(mask.device.type, enabled=False):
            return torch.cat([shares @ layer.float() for layer in states], dim=1)

    def forward(self, means: torch.Tensor, rows: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Scores in units of the targets, float32, shape (n,).

        Args:
            means: of the distinct texts, shape (texts, layers, d).
            rows: `hyp`, `ref`, `src` -> the row of `means` where that text of each segment is, shape (n,).
        """
        mix = None if self.mix is None else (torch.softmax(self.mix.weights, dim=0), self.mix.scale)
        vectors = text_vectors(means, mix)
        states = combined(self.features, {name: vectors[row] for name, row in rows.items()})
        for layer in self.hidden:
            states = torch.nn.functional.dropout(torch.tanh(layer(states)), self.dropout, self.training)
        scores: torch.Tensor = self.out(states)[:, 0]
        return scores

    def own_tensors(self) -> dict[str, torch.Tensor]:
        """The weights on top of the encoder, by their names in a head file."""
        return {
            name: tensor.detach().float().cpu().contiguous()
            for name, tensor in self.state_dict().items()
            if not name.startswith("encoder.")
        }


class Mix(torch.nn.Module):
    """Learnt weights of layers, in equal parts at first."""

    def __init__(self, n_layers: int) -> None:
        super().__init__()
        self.weights = torch.nn.Parameter(torch.zeros(n_layers))
        self.scale = torch.nn.Parameter(torch.ones(1))
