"""Progress on a terminal: bars that stand below each other on stderr, and leave nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nlgauge.report.labels import visible
from nlgauge.runtime.runtime import Advance


class Bars:
    """Called as `bars(total, label)`, as often as wanted at one time; see `Runtime.progress`."""

    def __init__(self) -> None:
        self._display: Any = None
        self._open = 0
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self, total: int, label: str) -> Iterator[Advance]:
        """A bar with its count, its rate and the time left."""
        with self._lock:
            if not self._open:
                self._display = _display()
                self._display.start()
            self._open += 1
            display = self._display
        task = display.add_task(visible(label), total=total)
        try:
            yield lambda count: display.advance(task, count)
        finally:
            with self._lock:
                self._open -= 1
                display.remove_task(task)
                if not self._open:
                    display.stop()


def _display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many a second."""

        def render(self, task: Any) -> Text:
            """The rate of the last half minute; nothing before there is one."""
            return Text("" if not task.speed else f"{task.speed:,.{1 if task.speed < 10 else 0}f}/s")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        Rate(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )


bar = Bars()
