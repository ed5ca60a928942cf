"""Actors of Ray leave the bytes that processes leave. Ray is not installed for the tests: extra `ray`."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from nlgauge.core.errors import MissingExtra
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale import ray as engine
from nlgauge.scale.parts import Scorer
from nlgauge.scale.plan import make_plan
from nlgauge.scale.run import progress_of, score_in_parts


def made(path, n, rows):
    """A plan of `n` pairs in parts of `rows`."""
    pairs = [{"id": str(i), "hyp": f"a cat {i} sat", "refs": [f"the cat {i // 3} sat"]} for i in range(n)]
    (path / "data.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return make_plan(Inputs(str(path / "data.jsonl")), named(["chrf", "cider"]), Runtime(), rows=rows)


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def one_by_one(plan, folder, parts):
    """An engine that scores in this process."""
    return (Scorer(plan, folder).score(part) for part in parts)


def test_without_ray_the_extra_is_named(tmp_path, monkeypatch):
    plan = made(tmp_path, 9, rows=2)
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[ray\]"):
        list(engine.score_parts(plan, tmp_path, plan.parts, workers=1))


def actors(pid):
    """The processes of Ray's actors below a process."""
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            if b"ray::MapWorker" in Path(f"/proc/{child}/cmdline").read_bytes():
                yield child
            yield from actors(child)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="processes are found in /proc")
def test_actors_are_killed_and_the_bytes_are_those_of_one_process(tmp_path):
    pytest.importorskip("ray")
    plan = made(tmp_path, 3000, rows=100)
    killed = []

    def disturbed(plan, folder, parts):
        scored = engine.score_parts(plan, folder, parts, workers=2)
        yield next(scored)
        killed.append(next(actors(os.getpid())))
        os.kill(killed[-1], signal.SIGKILL)
        assert progress_of(folder).parts_done < len(plan.parts)
        yield from scored

    result = score_in_parts(plan, tmp_path / "ray", disturbed, Runtime())
    score_in_parts(plan, tmp_path / "one", one_by_one, Runtime())
    assert len(killed) == 2  # in the pass for cider, and when parts are scored
    assert [row["n"] for row in result.rows] == [3000, 3000]
    assert files_of(tmp_path / "ray") == files_of(tmp_path / "one")
