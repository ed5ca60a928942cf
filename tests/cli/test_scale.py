"""`nlgauge score --engine` and `nlgauge list runs`: what is typed reaches the run, and what cannot be is refused."""

from __future__ import annotations

import json
import sys
from types import SimpleNamespace

import pytest
from tests.cli.command import write

from nlgauge.cli import scale
from nlgauge.cli.main import main
from nlgauge.core.spec import quote
from nlgauge.scoring.workers import Progress

pytest.importorskip("pyarrow")


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"id": str(i), "system": "s", "hyp": f"a cat {i}", "refs": ["the cat"]} for i in range(5)]
    write(tmp_path / "data.jsonl", rows)
    return "data.jsonl"


@pytest.mark.usefixtures("pool_here")
def test_the_command_prints_the_numbers_of_one_process(data, tmp_path, capsys):
    assert main(["score", data, "-m", "chrf", "--no-cache"]) == 0
    wanted = capsys.readouterr().out
    words = ["score", data, "-m", "chrf", "--engine", "pool:workers=1", "-o", "out", "--fail-under", "chrf=99"]
    assert main(words) == 3  # the gate holds there, too
    assert capsys.readouterr().out == wanted
    assert main(["list", "runs", "out"]) == 0
    assert capsys.readouterr().out == "1 of 1 part, 5 of 5 segments: done\n"
    next((tmp_path / "out" / "sums").iterdir()).unlink()  # what lost a part is not done
    assert main(["list", "runs", "out"]) == 0
    assert capsys.readouterr().out == "0 of 1 part, 0 of 5 segments: stopped; run its command again\n"


def test_a_dry_run_counts_and_times(data, capsys):
    assert main(["score", data, "-m", "chrf", "--engine", "pool:rows=2,dry_run=true"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [
        "segments   5 of 1 system, 5 distinct",
        "texts      7 distinct, with about 17 words",  # five of three words, one of two, and no source
        "parts      3",
    ]
    assert [line.split()[0] for line in lines[3:]] == ["sample", "truncated", "time"]


def test_a_dry_run_says_what_would_be_cut(data, tiny_model, capsys, monkeypatch):
    pytest.importorskip("torch")
    spec = f"bertscore:model={quote(str(tiny_model('bert')))},max_tokens=4,idf=true"
    words = ["score", data, "-m", spec, "--engine", "pool:workers=1,dry_run=true"]
    monkeypatch.setattr("nlgauge.scoring.workers.DryRun.of", lambda *args: 7200.0)
    assert main(words) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert lines["texts"].endswith("tokens of the model")
    assert lines["parts"] == "parts      1, gone through 2 times"
    assert lines["truncated"] == "truncated  5 of the sample: about 5 segments"
    assert lines["time"] == "time       about 2 h 0 min with 1 worker"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "pool"], "add -o FOLDER"),
        (["--engine", "spark", "-o", "out"], "expected pool or ray"),
        (["-o", "out"], "--output is about scoring in parts"),
        (["--engine", "pool", "-o", "out", "-m", "embedded"], "-m embedded leaves out what the data lack"),
        (["--engine", "pool", "-o", "out", "--significance", "bootstrap"], "a test compares systems"),
        (["--engine", "pool", "-o", "out", "--common"], "--common is not known in parts"),
        (["--engine", "pool", "-o", "out", "--cache", "c"], "--cache is not known in parts"),
        (["--engine", "pool", "-o", "out", "--exclude", "s"], "no segment is left: all are left out"),
        (["--engine", "pool:address=h:1", "-o", "out"], "names a cluster of Ray; it goes with ray"),
        (["--engine", "pool:worker=1", "-o", "out"], "--engine pool has no option 'worker'; did you mean 'workers'?"),
        (["--engine", "pool:rows=0", "-o", "out"], "rows is 0, expected 1 or more"),
        (["--engine", "pool", "-o", "out", "--workers", "2"], "--workers is now an option of the engine"),
        (["--engine", "pool", "-o", "data.jsonl"], "cannot write data.jsonl"),
    ],
)
def test_what_does_not_go_together(data, words, said, capsys):
    assert main(["score", data, "-m", "chrf", *words]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.usefixtures("pool_here")
def test_rows_are_those_of_one_process_but_for_systems_left_out(data, capsys):
    rows = [{"id": f"{s}{i}", "system": s, "hyp": f"a {s} {i}", "refs": ["the b 1"]} for i in range(3) for s in "abc"]
    with open(data, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    words = ["score", data, "-m", "chrf", "bleu", "--exclude", "c", "--guards", "off", "-v"]
    assert main([*words, "--no-cache", "--segments", "one.tsv"]) == 0
    wanted = capsys.readouterr().out
    words += ["--engine", "pool:workers=1,rows=4", "-o", "out", "--segments", "parts.tsv"]
    assert main(words) == 0
    assert capsys.readouterr().out == wanted
    for name in ("{}.tsv", "{}.tsv.meta.json"):
        with open(name.format("one")) as one, open(name.format("parts")) as parts:
            assert one.read() == parts.read()


def test_standard_input_cannot_be_read_in_parts(data, capsys):
    assert main(["score", "--hyp", "-", "--ref", data, "-m", "chrf", "--engine", "pool:dry_run=true"]) == 2
    assert "cannot be read in parts" in capsys.readouterr().err


def test_a_list_of_runs_says_pass_rate_and_time_left(capsys, monkeypatch):
    monkeypatch.setattr("nlgauge.scoring.workers.progress_of", lambda folder: Progress(4, 2, 40, 20, True, 0.25, 2, 1))
    assert main(["list", "runs", "out"]) == 0
    told = "2 of 4 parts, 20 of 40 segments: running, 0.2 segments a second, about 1 min 20 s left\n"
    assert capsys.readouterr().out == f"pass 1 of 2 before the scores: {told}"


def test_status_is_another_name_of_it(data, tmp_path, capsys):
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
        ({"gpus": 0.5}, 2, (4, 0.5)),
        ({"workers": 8}, 2, (8, 0.25)),  # all that are asked for find a place
        ({"workers": 1}, 2, (1, 1.0)),
        ({"workers": 3, "gpus": 0.1}, 1, (3, 0.1)),
        ({"workers": 3}, 0, (3, 0.0)),
        ({"workers": 4, "gpus": 0.5, "address": "head:10001"}, 0, (4, 0.5)),  # GPUs of a cluster
    ],
)
def test_gpus_are_shared_among_workers(typed, gpus, shares):
    assert scale.Workers(**typed).shares([f"cuda:{i}" for i in range(gpus)]) == shares


def test_a_share_of_no_gpu_is_refused(data, capsys):
    run = ["score", data, "-m", "chrf", "--device", "cpu", "-o", "out", "--engine"]
    assert main([*run, "pool:gpus=0.5"]) == 2
    assert "models run on none here" in capsys.readouterr().err
    assert main([*run, "ray:gpus=2"]) == 2
    assert "gpus is 2.0, expected above 0 and at most 1 (a share of a GPU)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "shown"), [(4.2, "4 s"), (61, "1 min 1 s"), (7260, "2 h 1 min"), (200_000, "2 days 7 h")]
)
def test_durations(seconds, shown):
    assert scale._time(seconds) == shown


@pytest.mark.parametrize("absent", ["ray", "ray.data"])
def test_an_engine_that_is_not_installed_is_refused_before_anything_is_read(tmp_path, monkeypatch, capsys, absent):
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace())
    monkeypatch.setitem(sys.modules, absent, None)
    (tmp_path / "d.jsonl").write_text("no JSON\n")
    assert main(["score", str(tmp_path / "d.jsonl"), "--engine", "ray", "-o", str(tmp_path / "out")]) == 2
    assert "pip install 'nlgauge[ray]'" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
