"""`nlgauge score --engine` and `nlgauge status`: what is typed reaches the run, and what cannot be is refused."""

from __future__ import annotations

import json

import pytest

from nlgauge.cli import scale
from nlgauge.cli.main import main

pytest.importorskip("pyarrow")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(i), "system": "s", "hyp": f"a cat {i}", "refs": ["the cat"]} for i in range(5)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return "data.jsonl"


def test_the_command_prints_the_numbers_of_one_process(data, capsys):
    assert main(["score", data, "-m", "chrf", "--no-cache"]) == 0
    wanted = capsys.readouterr().out
    words = ["score", data, "-m", "chrf", "--engine", "pool", "-o", "out", "--workers", "1", "--fail-under", "chrf=99"]
    assert main(words) == 3  # the gate holds there, too
    assert capsys.readouterr().out == wanted
    assert main(["status", "out"]) == 0
    assert capsys.readouterr().out == "1 of 1 part, 5 of 5 segments: done\n"


def test_a_dry_run_counts_and_times(data, capsys):
    assert main(["score", data, "-m", "chrf", "--engine", "pool", "--dry-run", "--part-rows", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "segments   5 of 1 system, 5 distinct"
    assert lines[1] == "parts      3"
    assert [line.split()[0] for line in lines[2:]] == ["sample", "truncated", "time"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "pool"], "add -o FOLDER"),
        (["--engine", "spark", "-o", "out"], "expected pool or ray"),
        (["-o", "out"], "--output is about scoring in parts"),
        (["--dry-run"], "--dry-run is about scoring in parts"),
        (["--engine", "pool", "-o", "out", "-m", "embedded"], "-m embedded leaves out what the data lack"),
        (["--engine", "pool", "-o", "out", "--significance", "bootstrap"], "a test compares systems"),
        (["--engine", "pool", "-o", "out", "--segments", "a.tsv"], "--segments needs all segments in one process"),
        (["--engine", "pool", "-o", "out", "--exclude", "s"], "--exclude needs all segments in one process"),
        (["--engine", "pool", "-o", "out", "--ray-address", "h:1"], "goes with --engine ray"),
        (["--engine", "pool", "-o", "data.jsonl"], "cannot write data.jsonl"),
    ],
)
def test_what_does_not_go_together(data, words, said, capsys):
    assert main(["score", data, "-m", "chrf", *words]) == 2
    assert said in capsys.readouterr().err


def test_standard_input_cannot_be_read_in_parts(data, capsys):
    assert main(["score", "--hyp", "-", "--ref", data, "-m", "chrf", "--engine", "pool", "--dry-run"]) == 2
    assert "cannot be read in parts" in capsys.readouterr().err


def test_status_of_another_folder(data, tmp_path, capsys):
    assert main(["status", str(tmp_path)]) == 2
    assert "holds no plan.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "visible", "found"),
    [
        ("cpu", "0,1", []),
        ("cuda:1", "0,1", ["cuda:1"]),
        ("cuda", "0,1", ["cuda:0", "cuda:1"]),
        ("auto", "", []),
        ("auto", "-1", []),
        ("auto", "GPU-1", ["cuda:0"]),
    ],
)
def test_each_worker_has_a_device(device, visible, found, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert scale._devices(device) == found


@pytest.mark.parametrize(
    ("typed", "gpus", "shares"),
    [
        ({}, 2, (2, 1.0)),  # a worker for each GPU
        ({"gpus_per_worker": 0.5}, 2, (4, 0.5)),
        ({"workers": 8}, 2, (8, 0.25)),  # all that are asked for find a place
        ({"workers": 1}, 2, (1, 1.0)),
        ({"workers": 3, "gpus_per_worker": 0.1}, 1, (3, 0.1)),
        ({"workers": 3}, 0, (3, 0.0)),
        ({"workers": 4, "gpus_per_worker": 0.5, "address": "head:10001"}, 0, (4, 0.5)),  # GPUs of a cluster
    ],
)
def test_gpus_are_shared_among_workers(typed, gpus, shares):
    assert scale.InParts(engine="ray", **typed)._shares([f"cuda:{i}" for i in range(gpus)]) == shares


def test_a_share_of_no_gpu_is_refused(data, capsys):
    run = ["score", data, "-m", "chrf", "--engine", "pool", "--device", "cpu", "--dry-run", "--gpus-per-worker"]
    assert main([*run, "0.5"]) == 2
    assert "models run on none here" in capsys.readouterr().err
    assert main([*run[:-1], "--compile"]) == 2
    assert "--compile is for GPUs" in capsys.readouterr().err
    assert main([*run, "2"]) == 2
    assert "expected a share above 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(4.2, "4 s"), (61, "1 min 1 s"), (7260, "2 h 1 min"), (200_000, "2 days 7 h")],
)
def test_durations(seconds, shown):
    assert scale._time(seconds) == shown
