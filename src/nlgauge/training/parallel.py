"""Forward and backward passes side by side: each core takes a part of a batch and runs it from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch

from nlgauge.models.tokens import Ids

Part = Callable[[], torch.Tensor]
_PARTS = 4  # of a batch; fixed, so that sums do not depend on how many cores there are


class Cores:
    """Threads of one core each, for graphs of autograd.

    `nlgauge.models.hub` says why not all cores work on every operation.

    Args:
        pool: None runs everything in the calling thread.
    """

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def together(self, parts: Sequence[Part], parameters: Sequence[torch.Tensor]) -> torch.Tensor:
        """The results of the parts, one after the other along the first axis.

        Gradients flow to the parameters, and are the same whichever thread computes them.

        Args:
            parts: each must draw nothing at random, since the order in which threads draw is not fixed.
            parameters: that the parts use and that learn.
        """
        if self._pool is None or len(parts) == 1:
            return torch.cat([part() for part in parts])
        run: Callable[..., torch.Tensor] = _Together.apply
        return run(self._pool, parts, *parameters)

    def of_sequences(
        self,
        work: Callable[[Ids], torch.Tensor],
        lengths: Ids,
        parameters: Sequence[torch.Tensor],
        device: torch.device,
    ) -> torch.Tensor:
        """What `work` gives for the positions of n sequences, in their order, along the first axis.

        On a processor it is called for a few parts of as many tokens, shortest first: little padding, and work for
        several cores.

        Args:
            work: gives a row for each position; see `together`.
            lengths: the number of pieces of each sequence, shape (n,).
            parameters: that `work` uses and that learn.
            device: where they are.
        """
        order = np.argsort(lengths, kind="stable")
        tokens = np.cumsum(lengths[order])
        parts = (
            np.split(order, np.searchsorted(tokens, tokens[-1] * np.arange(1, _PARTS) / _PARTS))
            if device.type == "cpu"
            else [order]
        )
        found = self.together([partial(work, part) for part in parts if len(part)], parameters)
        return found[torch.from_numpy(np.argsort(order, kind="stable")).to(device)]


@contextmanager
def cores(device: torch.device) -> Iterator[Cores]:
    """As many threads as torch may use, on a processor.

    While the context lasts, torch itself uses one core in each of them and one here.
    """
    threads = torch.get_num_threads()
    if device.type != "cpu" or threads == 1:
        yield Cores(None)
        return
    pool = ThreadPoolExecutor(threads, "nlgauge", lambda: torch.set_num_threads(1))
    torch.set_num_threads(1)
    try:
        yield Cores(pool)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


class _Together(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pool: ThreadPoolExecutor, parts: Sequence[Part], *parameters: torch.Tensor) -> torch.Tensor:
        def run(part: Part) -> torch.Tensor:
            with torch.set_grad_enabled(any(p.requires_grad for p in parameters)):
                return part()

        ctx.pool, ctx.parameters = pool, parameters
        ctx.outcomes = list(pool.map(run, parts))
        return torch.cat([outcome.detach() for outcome in ctx.outcomes])

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        parts = gradient.split([len(outcome) for outcome in ctx.outcomes])

        def run(pair: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
            gradients: tuple[torch.Tensor | None, ...] = torch.autograd.grad(
                pair[0], ctx.parameters, pair[1], allow_unused=True
            )
            return gradients

        sums: list[torch.Tensor | None] = [None] * len(ctx.parameters)
        # In the order of the parts, whichever ends first, since a sum in another order may differ in its last digits.
        for found in ctx.pool.map(run, zip(ctx.outcomes, parts, strict=True)):
            sums = [
                total if one is None else one if total is None else total.add_(one)
                for total, one in zip(sums, found, strict=True)
            ]
        ctx.outcomes = None
        return None, None, *sums
