"""A block of BERT over packed tokens, in torch's own operations, which `torch.compile` can fuse."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.nn import functional

from nlgauge.models.packing.disentangled import Positions
from nlgauge.models.packing.lengths import Attention

Pair = tuple[torch.Tensor, torch.Tensor]  # weight and bias


@dataclass(frozen=True)
class Block:
    """The weights of a block.

    Attributes:
        epsilon: of the layer norms.
        compiled: whether what follows attention is compiled; all blocks share the compiled code.
        positions: what DeBERTa has for distances.
    """

    epsilon: float
    compiled: bool
    query_key_value: Pair
    attention_out: Pair
    attention_norm: Pair
    up: Pair
    down: Pair
    norm: Pair
    positions: Positions | None = None

    @classmethod
    def read(
        cls,
        tensor: Callable[[str], torch.Tensor],
        epsilon: float,
        compiled: bool,
        positions: Positions | None = None,
    ) -> Block:
        """Read the weights by their BERT names."""

        def pair(name: str) -> Pair:
            return tensor(f"{name}.weight"), tensor(f"{name}.bias")

        three = [pair(f"attention.self.{part}") for part in ("query", "key", "value")]
        return cls(
            epsilon,
            compiled,
            (torch.cat([w for w, _ in three]), torch.cat([b for _, b in three])),
            pair("attention.output.dense"),
            pair("attention.output.LayerNorm"),
            pair("intermediate.dense"),
            pair("output.dense"),
            pair("output.LayerNorm"),
            positions,
        )

    def __call__(self, states: torch.Tensor, attend: Attention) -> torch.Tensor:
        """The states after the block, shape (rows, d), of those before it."""
        mixed = attend(functional.linear(states, *self.query_key_value), self.positions)
        finish = compiled_finish() if self.compiled else finished
        found: torch.Tensor = finish(
            states, mixed, self.attention_out, self.attention_norm, self.up, self.down, self.norm, self.epsilon
        )
        return found


def finished(
    states: torch.Tensor, mixed: torch.Tensor, out: Pair, first: Pair, up: Pair, down: Pair, last: Pair, epsilon: float
) -> torch.Tensor:
    """A block after its attention. The weights are arguments, so that it is compiled once for all blocks."""
    width = (states.shape[1],)
    states = functional.layer_norm(functional.linear(mixed, *out) + states, width, *first, epsilon)
    risen = functional.gelu(functional.linear(states, *up))
    return functional.layer_norm(functional.linear(risen, *down) + states, width, *last, epsilon)


@cache
def compiled_finish() -> Callable[..., Any]:
    """`finished`, compiled when it first runs, for any number of rows."""
    return torch.compile(finished, dynamic=True)
