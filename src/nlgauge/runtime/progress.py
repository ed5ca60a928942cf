"""One progress bar per metric, whatever the metric itself shows while it works through its parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from nlgauge.runtime.runtime import Advance, Runtime, silent


@dataclass(frozen=True)
class Bar:
    """The bar of one metric; None advances nothing."""

    advance: Advance | None

    def done(self, count: float) -> None:
        """Count what needs no work."""
        if self.advance is not None and count > 0:
            self.advance(count)

    @contextmanager
    def part(self, runtime: Runtime, size: float, stages: int = 1) -> Iterator[Runtime]:
        """A runtime for one part of the work, whose own bars move this one.

        Args:
            runtime: the runtime of the whole.
            size: how much of the bar the part is.
            stages: how many bars the part opens itself, such as one per term of a sum. What it shows beyond that does
                not go past its end.
        """
        if self.advance is None:
            yield runtime
            return
        left = size

        def move(count: float) -> None:
            nonlocal left
            count = min(count, left)
            left -= count
            self.done(count)

        @contextmanager
        def inside(total: int, label: str) -> Iterator[Advance]:
            yield lambda count: move(size * count / (stages * max(total, 1)))

        yield replace(runtime, progress=inside)
        move(left)


@contextmanager
def bars(labels: Mapping[str, str], n: int, runtime: Runtime) -> Iterator[dict[str, Bar]]:
    """A bar over n segments for each name, under its label; none where nobody looks."""
    if runtime.progress is silent:
        yield dict.fromkeys(labels, Bar(None))
        return
    with ExitStack() as stack:
        yield {name: Bar(stack.enter_context(runtime.progress(n, label))) for name, label in labels.items()}
