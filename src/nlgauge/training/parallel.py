"""Forward and backward passes side by side: each core takes a part of a batch and runs it from end to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

Part = Callable[[], torch.Tensor]


class Cores:
    """Threads of one core each, for graphs of autograd.

    `nlgauge.models.workers` says why not all cores work on every operation.

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
