"""Drafts: what is written beside its final name, locked while its run lives; the next run removes what was killed."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nlgauge.core.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_SUFFIX = ".part"
_TRIES = 10


class Draft:
    """A new file or folder with a name of its own, locked until it is released.

    Drafts of the same final name that no run has locked any more are removed first: their runs were killed.

    Args:
        final: where the content will go; the draft lies in the same folder.
        is_folder: make a folder.

    Attributes:
        path: the path of the draft.
        handle: an open descriptor of it, which the caller closes if it is a file.

    Raises:
        OSError: nothing can be made there.
    """

    def __init__(self, final: str, is_folder: bool = False) -> None:
        clear(final)
        folder, name = os.path.split(final)

        prefix = f".{name[:40]}."
        for left in reversed(range(_TRIES)):
            if is_folder:
                self.path = tempfile.mkdtemp(prefix=prefix, suffix=_SUFFIX, dir=folder)
                self.handle = -1 if fcntl is None else os.open(self.path, os.O_RDONLY)
            else:
                self.handle, self.path = tempfile.mkstemp(prefix=prefix, suffix=_SUFFIX, dir=folder)
            if not left or fcntl is None or (_lock(self.handle) is not False and _is_there(self.handle, self.path)):
                break
            os.close(self.handle)  # another run took it for what a killed run left, before it was locked
        # The lock belongs to all copies of a descriptor: it outlives the closing of the first.
        self._held: int | None = None if fcntl is None else self.handle if is_folder else os.dup(self.handle)

    def release(self) -> None:
        """Give the lock back, after the draft was closed and has got its final name."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def discard(self) -> None:
        """Remove what was written."""
        with suppress(OSError):
            _remove(self.path)
        self.release()


def clear(final: str) -> None:
    """Remove the drafts of a final name whose runs were killed. What cannot be told or removed is left."""
    folder, name = os.path.split(final)
    pattern = re.compile(re.escape(f".{name[:40]}.") + r"[a-z0-9_]{8}" + re.escape(_SUFFIX))
    with suppress(OSError):
        for entry in filter(pattern.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                path = os.path.join(folder, entry)
                handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
                try:
                    if _lock(handle):
                        _remove(path)
                finally:
                    os.close(handle)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other runs from making the same output while the block runs.

    Raises:
        InputError: another run is making it.
    """
    folder, name = os.path.split(os.path.realpath(path))
    lock = os.path.join(folder, f".{name}.lock")
    handle = -1
    try:
        for left in reversed(range(_TRIES)):
            handle = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
            if _lock(handle) is False:
                os.close(handle)
                raise InputError(f"another run is making {os.fspath(path)}; wait for it, or name another output")
            if not left or _is_there(handle, lock):
                break
            os.close(handle)  # the run that had it ended meanwhile, and removed it
    except OSError:  # whoever writes there says why
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(lock)
        os.close(handle)


def _is_there(handle: int, path: str) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except OSError:
        return False


def _lock(handle: int) -> bool | None:
    """True if the lock is ours now, False if it is another's, None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove(path: str) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
