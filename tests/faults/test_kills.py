"""Runs that are killed, ended or interrupted, and runs beside others: the same numbers, and no file is left."""

from __future__ import annotations

import json
import math
import os
import random
import signal
import sqlite3
import subprocess

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
ENDINGS = ("SIGKILL", "SIGTERM", "SIGKILL", "SIGHUP", "SIGKILL", "SIGINT")  # half of them give no time to clean up
RUNS = 4 if os.environ.get("NLGAUGE_SLOW") else 2  # at the same time
TOLERANCE = 1e-6  # a run that goes on makes batches of other companies, which moves the last bits of float32


def check_same(files, others, exact):
    """Fail unless two runs wrote the same files with the same numbers."""
    assert files.keys() == others.keys()
    for name, content in files.items():
        if exact:
            assert content == others[name], name
        elif name.endswith(".json"):
            check_close(json.loads(content), json.loads(others[name]), name)
        elif name.endswith(".tsv"):
            check_close(cells(content), cells(others[name]), name)


def cells(content):
    """The cells of a table, numbers as numbers."""
    lines = [line.split("\t") for line in content.decode().splitlines()]
    return [[float(cell) if cell.replace(".", "").isdigit() else cell for cell in line] for line in lines]


def check_close(one, other, where):
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            check_close(one[key], other[key], f"{where} {key}")
    elif isinstance(one, list):
        assert len(one) == len(other), where
        for i, (left, right) in enumerate(zip(one, other, strict=True)):
            check_close(left, right, f"{where} {i}")
    elif isinstance(one, float) and isinstance(other, float):
        assert math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE), where
    else:
        assert one == other, where


def disturb(process, ending, moment):
    """Send the signal after a time, unless the run has ended before; what it said on standard error."""
    try:
        _, said = process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.Signals[ending])
        _, said = process.communicate(timeout=120)
    return said


def check_disturbed(run, verb, ending, moment, folder_of, start, finished):
    folder, old = folder_of(verb), run.old
    with start(verb, folder) as process:
        said = disturb(process, ending, moment)
    assert "Traceback" not in said
    if ending != "SIGKILL":
        # before the command is there to clean up, a signal ends it as it ends any process
        number = signal.Signals[ending]
        assert process.returncode in (0, 128 + number, -number)
        assert process.returncode != 128 + number or said.count("\n") <= 1, said
    for name in run.outputs:  # whole, or as it was
        left = (folder / name).read_bytes()
        assert left == old or left[-1:] == run.files[name][-1:], name
    after = finished(verb, folder)
    assert after.code == 0, after.stderr
    check_same(after.files, run.files, run.exact)


@pytest.mark.parametrize(
    "verb",
    ["lexical", *(pytest.param(verb, marks=pytest.mark.slow) for verb in ("score", "audit", "meta", "synth", "train"))],
)
def test_a_run_that_is_killed_or_ended_loses_no_number_and_leaves_no_file(
    verb, undisturbed, folder_of, start, finished, amount, seed
):
    run, rng = undisturbed(verb), random.Random(f"{seed} {verb}")
    for i in range(amount("FAULT_KILLS", 20, 1)):
        ending, moment = ENDINGS[i % len(ENDINGS)], rng.uniform(0.1, 1) * run.seconds
        try:
            check_disturbed(run, verb, ending, moment, folder_of, start, finished)
        except AssertionError as error:
            raise AssertionError(
                f"{verb}, kill {i}: {ending} after {moment:.3f} s of {run.seconds:.3f}: {error}"
            ) from error


def ended(verb, folder, start):
    """Start runs of a command in one folder; how each ended, and what it said on standard error."""
    processes = [start(verb, folder) for _ in range(RUNS)]
    said = [process.communicate(timeout=300)[1] for process in processes]
    return [process.returncode for process in processes], said


@pytest.mark.parametrize("verb", ["lexical", pytest.param("score", marks=pytest.mark.slow)])
def test_runs_on_one_cache_and_one_output_all_end_whole(verb, undisturbed, folder_of, start, listed):
    run, folder = undisturbed(verb), folder_of(verb)
    codes, said = ended(verb, folder, start)
    assert codes == [0] * RUNS, said
    check_same(listed(folder), run.files, run.exact)
    for cache in folder.rglob("*.sqlite"):
        assert sqlite3.connect(cache).execute("pragma integrity_check").fetchall() == [("ok",)]


@pytest.mark.slow
def test_of_runs_that_make_one_output_the_others_are_refused(undisturbed, folder_of, start, listed):
    verb = "synth"  # of training: tests/training/test_loop.py
    run, folder = undisturbed(verb), folder_of(verb)
    codes, said = ended(verb, folder, start)
    assert 0 in codes
    assert set(codes) <= {0, 2}  # a run that begins when another has ended writes the same once more
    assert all(line.count("\n") == 1 for code, line in zip(codes, said, strict=True) if code == 2), said
    check_same(listed(folder), run.files, run.exact)
