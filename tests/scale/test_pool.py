"""Processes may be killed at any time: each row is there once, and the bytes are those of an undisturbed run."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from functools import partial

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale import pool
from nlgauge.scale.plan import make_plan
from nlgauge.scale.run import progress_of, score_in_parts

pytest.importorskip("pyarrow")


def write(path, n):
    rows = ({"id": str(i), "hyp": f"a cat {i} sat on it", "refs": [f"the cat {i // 3} sat"]} for i in range(n))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_workers_score_what_is_left_and_leave_the_bytes_of_one_process(tmp_path):
    write(tmp_path / "data.jsonl", 9)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    score_in_parts(plan, tmp_path / "pool", partial(pool.score_parts, workers=1), Runtime())
    one = lambda plan, folder, parts: (pool.Scorer(plan, folder).score(part) for part in parts)  # noqa: E731
    score_in_parts(plan, tmp_path / "one", one, Runtime())
    assert files_of(tmp_path / "pool") == files_of(tmp_path / "one")


def test_what_a_part_is_refused_for_reaches_the_one_who_started(tmp_path):
    write(tmp_path / "data.jsonl", 2)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    (tmp_path / "data.jsonl").write_text("")
    with pytest.raises(InputError, match="is not what it was when the plan was made"):
        score_in_parts(plan, tmp_path / "out", partial(pool.score_parts, workers=1), Runtime())


class Dying:
    """A pool whose workers are killed before anything is done."""

    def __init__(self, times):
        self.times = times

    def __call__(self, plan, folder, parts, workers, devices, threads):
        self.times -= 1
        self.threads = threads
        if self.times >= 0:
            raise pool.BrokenProcessPool
        return ((part, part.span.rows) for part in parts)


def test_workers_that_are_killed_twice_are_replaced_and_then_given_up(tmp_path, monkeypatch):
    write(tmp_path / "data.jsonl", 5)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    monkeypatch.setattr(pool, "_run", Dying(2))
    assert list(pool.score_parts(plan, tmp_path, plan.parts, workers=1)) == [2, 2, 1]
    monkeypatch.setattr(pool, "_run", Dying(3))
    with pytest.raises(InputError, match="a worker was killed 3 times before it had scored a part"):
        list(pool.score_parts(plan, tmp_path, plan.parts, workers=1))


def test_a_part_that_gets_done_renews_the_lives_of_workers(tmp_path, monkeypatch):
    write(tmp_path / "data.jsonl", 5)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=1)

    def run(plan, folder, parts, *more):
        yield parts[0], 1
        raise pool.BrokenProcessPool

    monkeypatch.setattr(pool, "_run", run)  # five kills, and a part is done before each
    assert list(pool.score_parts(plan, tmp_path, plan.parts, workers=1)) == [1] * 5


def test_a_worker_has_as_many_threads_at_the_end_of_a_run_as_before(tmp_path, monkeypatch):
    """Sums in other threads may differ in their last bits, and the bytes of a part with them."""
    write(tmp_path / "data.jsonl", 5)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    monkeypatch.setattr(pool.os, "cpu_count", lambda: 8)
    for parts in (plan.parts, plan.parts[-1:]):
        run = Dying(0)
        monkeypatch.setattr(pool, "_run", run)
        list(pool.score_parts(plan, tmp_path, parts, workers=2))
        assert run.threads == 4


@pytest.mark.slow
def test_kills_of_workers_and_of_the_whole_run(tmp_path):
    write(tmp_path / "data.jsonl", 6000)
    words = ["score", "--engine", "pool", "data.jsonl", "-m", "chrf", "--part-rows", "100", "--workers", "2", "-q"]
    command = [sys.executable, "-m", "nlgauge", *words, "-o"]
    subprocess.run([*command, "whole"], cwd=tmp_path, check=True)
    done, kills = 0, 0
    while kills < 5 and done < 60:
        run = subprocess.Popen([*command, "killed"], cwd=tmp_path, start_new_session=True)
        deadline = time.monotonic() + 120
        while run.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
            if (tmp_path / "killed" / "sums").is_dir() and progress_of(tmp_path / "killed").parts_done > done + 3:
                break
        kills += 1
        if kills % 2:
            run.kill()
        else:
            workers = subprocess.run(["pgrep", "-P", str(run.pid), "-f", "spawn_main"], capture_output=True, text=True)
            os.kill(int(workers.stdout.split()[0]), signal.SIGKILL)
            time.sleep(0.5)
            run.kill()
        run.wait()
        done = progress_of(tmp_path / "killed").parts_done
    assert kills == 5
    assert 0 < done < 60
    subprocess.run([*command, "killed"], cwd=tmp_path, check=True)
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
