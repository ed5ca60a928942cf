"""A score cache that is damaged, locked or cannot be written: no wrong score is used without a word."""

from __future__ import annotations

import json
import os
import random
import shutil
import sqlite3
import subprocess
from contextlib import suppress

import pytest

pytest.importorskip("torch")

from nlgauge.cli.main import main
from nlgauge.core.spec import quote

TOLERANCE = 1e-6  # what is scored anew has other company in its batch, which moves the last bits of float32


@pytest.fixture(scope="module")
def kept(tmp_path_factory, tiny_model):
    """A folder with data and a cache that holds their scores, the words of the command, and its true values."""
    folder = tmp_path_factory.mktemp("kept")
    data = folder / "data.jsonl"
    rows = [
        {"id": str(i), "hyp": f"the cat sat on {'abcdef'[i % 6]} mat {i}", "refs": ["a cat sat"]} for i in range(60)
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["score", str(data), "-m", f"cosine:model={quote(str(tiny_model('bert')))}", "--dtype", "float32", "-q"]
    segments = folder / "rows.jsonl"
    assert main([*words, "--cache", str(folder / "cache"), "--segments", str(segments)]) == 0
    return folder, words, values(segments)


def values(path):
    return [list(json.loads(line).values())[3:] for line in path.read_text().splitlines()]


@pytest.fixture
def scored(kept, tmp_path, capsys):
    """A function that scores with a cache, and returns the exit code and standard error; values that come are right."""
    _, words, true = kept

    def run(cache, *more):
        segments = tmp_path / "rows.jsonl"
        segments.unlink(missing_ok=True)
        capsys.readouterr()
        code = main([*words, *(["--cache", str(cache)] if cache else []), "--segments", str(segments), *more])
        said = capsys.readouterr().err
        assert code in (0, 2)
        assert "Traceback" not in said
        if code == 0:
            assert values(segments) == [pytest.approx(row, abs=TOLERANCE) for row in true]
        else:
            assert said.count("\n") == 1
            assert not segments.exists()
        return code, said

    return run


@pytest.fixture
def cache(kept, tmp_path):
    """A copy of the folder with the cache."""
    return shutil.copytree(kept[0] / "cache", tmp_path / "cache")


def test_no_flipped_bit_is_used_in_silence(cache, kept, scored, amount, seed):
    whole, rng, codes = (cache / "scores.sqlite").read_bytes(), random.Random(f"{seed} flips"), []
    for _ in range(amount("FAULT_FLIPS", 200, 10)):
        shutil.rmtree(cache)
        cache.mkdir()
        place = rng.randrange(8 * len(whole))
        data = bytearray(whole)
        data[place // 8] ^= 1 << place % 8
        (cache / "scores.sqlite").write_bytes(data)
        try:
            codes.append(scored(cache)[0])
        except AssertionError as error:
            raise AssertionError(f"bit {place} of {8 * len(whole)}: {error}") from error
    assert 0 in codes


@pytest.mark.parametrize("share", [0, 0.1, 0.3, 0.5, 0.9, 0.9999])
def test_a_cache_that_is_cut_is_refused_or_scored_anew(cache, scored, share):
    file = cache / "scores.sqlite"
    os.truncate(file, int(share * file.stat().st_size))
    code, said = scored(cache)
    assert code == 0 or "cannot be used" in said


@pytest.mark.parametrize("content", [b"garbage " * 600, b"SQLite format 3\0" + bytes(5000)], ids=["", "head"])
def test_garbage_is_refused_and_left_as_it_is(cache, scored, content):
    (cache / "scores.sqlite").write_bytes(content)
    code, said = scored(cache)
    assert (code, "cannot be used" in said) == (2, True)
    assert (cache / "scores.sqlite").read_bytes() == content


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path, scored):
    (tmp_path / "folder" / "scores.sqlite").mkdir(parents=True)
    code, said = scored(tmp_path / "folder")
    assert (code, "cannot be used" in said) == (2, True)


def test_a_cache_of_another_schema_is_refused(cache, scored):
    with sqlite3.connect(cache / "scores.sqlite") as connection:
        connection.execute("ALTER TABLE scores RENAME COLUMN row TO line")
    connection.close()
    code, said = scored(cache)
    assert (code, "its tables are not those of a score cache" in said) == (2, True)


def test_a_cache_that_another_program_locks_is_refused(cache, scored, monkeypatch):
    patient = sqlite3.connect
    monkeypatch.setattr("sqlite3.connect", lambda path, timeout=0, **how: patient(path, timeout=0.05, **how))
    other = patient(cache / "scores.sqlite", isolation_level=None)
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    try:
        code, said = scored(cache)
    finally:
        other.close()
    assert (code, "database is locked" in said) == (2, True)


def test_a_cache_that_was_asked_for_and_cannot_be_made_is_refused(tmp_path, scored):
    (tmp_path / "file").write_text("")
    assert scored(tmp_path / "file" / "cache")[0] == 2


def test_the_users_own_cache_steps_aside_where_it_cannot_be_made(tmp_path, scored, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "file" / "cache"))
    assert scored(None)[0] == 0


def fill(folder):
    """Use up the room of a file system."""
    with open(folder / "filler", "wb", buffering=0) as filler, suppress(OSError):
        for _ in range(256):  # a megabyte, more than the disk has, should the mount not have held
            filler.write(b"." * 4096)


@pytest.mark.slow  # mounts a file system, as root alone can
@pytest.mark.parametrize("options", ["size=64k", "ro,size=1m"], ids=["full", "read-only"])
def test_the_users_own_cache_on_a_full_or_read_only_disk_costs_no_score(tmp_path, scored, monkeypatch, options):
    (tmp_path / "disk").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", tmp_path / "disk"]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "disk"))
    try:
        if "ro" not in options:
            fill(tmp_path / "disk")
        assert scored(None)[0] == 0
    finally:
        subprocess.run(["umount", "--lazy", tmp_path / "disk"], check=True)
