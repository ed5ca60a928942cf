"""A disk without room: what was there stays as it was, nothing half written is left, and the refusal is one line."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import contextmanager, suppress

import pytest

from nlgauge.cli.main import main

resource = pytest.importorskip("resource")  # not on Windows

OLD = b"an earlier output\n"
ROWS = [
    {"id": str(i), "system": "ab"[i % 2], "seg": str(i // 2), "hyp": f"the cat sat {i}", "refs": ["a cat sat on it"]}
    for i in range(40)
]
RATED = [{**row, "human": {"quality": i % 5}} for i, row in enumerate(ROWS)]
TRIPLES = [
    {"id": row["id"], "hyp": row["hyp"], "refs": row["refs"], "score": -float(i % 4)} for i, row in enumerate(ROWS)
]
INPUTS = {"data.jsonl": ROWS, "rated.jsonl": RATED, "triples.jsonl": TRIPLES}
WRITING = {  # the file that a command writes -> the command
    "out.json": "score data.jsonl -m chrf --json out.json",
    "out.html": "score data.jsonl -m chrf --html out.html",
    "out.tsv": "score data.jsonl -m chrf --segments out.tsv",
    "out.csv": "score data.jsonl -m chrf --segments out.csv",
    "rows.jsonl": "score data.jsonl -m chrf --segments rows.jsonl",
    "rows.jsonl.gz": "score data.jsonl -m chrf --segments rows.jsonl.gz",
    "rows.parquet": "score data.jsonl -m chrf --segments rows.parquet",
    "changed.jsonl": "perturb data.jsonl -p jumble_words -o changed.jsonl",
    "audit.json": "audit data.jsonl --task mt -m chrf --no-cache --json audit.json",
    "meta.json": "meta rated.jsonl -m chrf --no-cache --stat pearson --json meta.json",
}
TRAINING = "train sescore triples.jsonl --model {model} --rank 2 --epochs 1 --held-out 0 -q"
MODELS = {
    "made.jsonl": "synth texts.txt --severity none -o made.jsonl -q",
    "head.safetensors": f"{TRAINING} -o head.safetensors",
    "curve.tsv": f"{TRAINING} -o h.safetensors --curve curve.tsv",
}
KEPT = {"made.jsonl": "made.jsonl.part"}  # what a later run goes on from


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, rows in INPUTS.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "texts.txt").write_text("".join(f"The cat number {i} sat on a red mat.\n" for i in range(20)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def room(size):
    """No file can grow beyond `size` bytes: writing fails in the middle, as where the disk has no more room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def check_refused(folder, name, command, size, capsys):
    (folder / name).write_bytes(OLD)
    before = {path.name for path in folder.iterdir()}
    with room(size):
        code = main(command.split())
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith("nlgauge: cannot write "), said
    assert (folder / name).read_bytes() == OLD
    assert {path.name for path in folder.iterdir()} - {KEPT.get(name)} == before


@pytest.mark.parametrize("name", WRITING)
@pytest.mark.parametrize("size", [0, 20], ids=["none", "too little"])
def test_a_full_disk_leaves_the_old_output_and_nothing_else(folder, capsys, name, size):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    check_refused(folder, name, WRITING[name], size, capsys)


@pytest.mark.slow  # a model each
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("size", [0, 20], ids=["none", "too little"])
def test_a_full_disk_costs_no_model_and_no_synthesis_that_was_there(folder, capsys, tiny_model, name, size):
    check_refused(folder, name, MODELS[name].format(model=tiny_model("bert")), size, capsys)


@pytest.fixture
def full_disk(folder):
    """The same folder on a file system of 256 KB that is filled up to its last page."""
    mounted = folder / "disk"
    mounted.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", mounted], capture_output=True).returncode:
        pytest.skip("a file system cannot be mounted here")
    try:
        yield mounted
    finally:
        os.chdir("/")
        subprocess.run(["umount", mounted], check=True)


@pytest.mark.slow  # mounts a file system, as root alone can
@pytest.mark.parametrize("name", WRITING)
def test_a_disk_that_is_really_full_is_told_as_such(folder, full_disk, capsys, monkeypatch, name):
    for read in (*INPUTS, "texts.txt"):
        (full_disk / read).write_bytes((folder / read).read_bytes())
    (full_disk / name).write_bytes(OLD)
    with open(full_disk / "filler", "wb", buffering=0) as filler, suppress(OSError):
        for _ in range(256):  # a megabyte, more than the disk has, should the mount not have held
            filler.write(b"." * 4096)
    monkeypatch.chdir(full_disk)
    before = {path.name for path in full_disk.iterdir()}
    assert main(WRITING[name].split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("nlgauge: cannot write ")
    assert "No space left on device" in said
    assert said.count("\n") == 1
    assert (full_disk / name).read_bytes() == OLD
    assert {path.name for path in full_disk.iterdir()} == before
