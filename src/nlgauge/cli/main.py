"""The command: which verbs there are, and what an error looks like."""

from __future__ import annotations

import errno
import io
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from types import FrameType
from typing import Any

import typer

from nlgauge.cli.terminal import check_read, echo, not_read, typed
from nlgauge.cli.verbs import VERBS, group_of, left_of
from nlgauge.core.errors import NlgaugeError
from nlgauge.core.scores import ScoreWarning
from nlgauge.report.labels import visible

INPUT, INTERRUPTED = 2, 130
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

app = group_of(
    VERBS,
    name="nlgauge",
    help="Score generated text, and find out how far the scores can be trusted.",
    epilog="To begin: of the documentation, the page 'index' has a first command for each task, and the page 'choosing'"
    " says which metric suits it.",
    add_completion=True,
)


def _version(asked: bool) -> None:
    if asked:
        from nlgauge.core.spec import version

        echo(f"nlgauge {version('nlgauge')}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", "-V", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 done, 2 the user's input (one line on stderr), 3 a failed gate, 130 interrupted, 143 or 129 ended by SIGTERM
        or SIGHUP. A bug raises.
    """
    try:
        command = _command(app)
        words = sys.argv[1:] if arguments is None else list(arguments)
        check_read(words)
        with warnings.catch_warnings(), typed(words):
            warnings.simplefilter("ignore", ScoreWarning)  # the notes below a result say the same
            code = command.main(args=words, prog_name="nlgauge", standalone_mode=False)
    except NlgaugeError as error:
        return _refuse(str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except _Ended as end:
        print(f"nlgauge: ended by {end.signal.name}; {_left(arguments)}", file=sys.stderr)
        return 128 + end.signal
    except (BrokenPipeError, SystemExit):  # the reader of our output went away, as `| head` does; typer exits then
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        with suppress(OSError):
            sys.stdout.close()  # or Python tries once more at its end, and says so
        return _refuse(f"cannot write: {error.strerror}; is the disk full?")
    except typer.Exit as stop:
        return stop.exit_code
    except UnicodeEncodeError as error:  # a name of a file, out of a file or an escape
        if sys.getfilesystemencoding() == "utf-8":
            raise
        return _refuse(str(not_read(error.object)))
    except Exception as error:
        message = getattr(error, "format_message", None)  # usage errors, whichever library typer takes them from
        if message is None:
            raise
        context = getattr(error, "ctx", None)
        is_bare = type(error).__name__ == "NoArgsIsHelpError"  # its message is the whole help
        told = "" if is_bare else message() + _given(error)
        return _refuse(told, context.command_path if context is not None else "nlgauge")
    if code == INTERRUPTED:  # typer may have caught the signal itself
        print(f"nlgauge: interrupted; {_left(arguments)}", file=sys.stderr)
    # typer's own 1 is a shell for which it has no completion; a bug raises
    return (INPUT if code == 1 else code) if isinstance(code, int) else 0


@cache  # a process may run many commands
def _command(group: typer.Typer) -> Any:
    return typer.main.get_command(group)


class _Ended(BaseException):
    """Somebody ended the process. As an exception it lets every open file clean up behind itself."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise _Ended(number)


def _left(arguments: Sequence[str] | None) -> str:
    return left_of(sys.argv[1:] if arguments is None else arguments)


def _given(error: Exception) -> str:
    """The value typed for an option, where typer's error says only what was expected."""
    told = getattr(error.__context__, "errors", None)
    return f", not {told()[0]['input']!r}" if told is not None else ""


def _refuse(message: str, command: str = "nlgauge") -> int:
    line = visible(" ".join(message.split()))
    help_hint = f"; see '{command} --help'" if command != "nlgauge" else ""
    line = line.removesuffix(".") if help_hint else line  # typer ends some messages as a sentence, and some not
    print(f"nlgauge: {line}{help_hint}" if line else f"nlgauge: what to do? see {command} --help", file=sys.stderr)
    return INPUT


def run() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # what a terminal or a pipe cannot show, as \\u escapes: never an error after hours
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # else nohup had it ignored
            signal.signal(number, _end)
    sys.exit(main())
