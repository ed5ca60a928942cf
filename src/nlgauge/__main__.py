"""`nlgauge` and `python -m nlgauge`: what must hold before the command is imported, which takes its time."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from types import FrameType

_INTERRUPTED = 130


def run() -> None:
    """Run the command that was typed, and exit with its code."""
    _open_standard_streams()
    interrupts = signal.getsignal(signal.SIGINT)
    if interrupts is signal.default_int_handler:  # else it is ignored, as in the background of a shell
        signal.signal(signal.SIGINT, _leave)
    gc.disable()  # an import leaves no garbage, and looking for some is a tenth of the start; see `Verb.load`
    from nlgauge.cli.main import run as command

    signal.signal(signal.SIGINT, interrupts)
    command()


def _leave(number: int, frame: FrameType | None) -> None:
    """Say so and end at once: nothing is open yet, and an exception would come out of the middle of an import."""
    with suppress(OSError):
        os.write(2, b"nlgauge: interrupted; nothing was written\n")
    os._exit(_INTERRUPTED)


def _open_standard_streams() -> None:
    """Put nothing in the place of closed streams, or the first file that is opened takes the number of one."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - it stays open to the end


if __name__ == "__main__":
    run()
