"""Actors of Ray leave the bytes that processes leave. Ray is not installed for the tests: extra `ray`."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from nlgauge.core.errors import MissingExtra
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale import ray as engine
from nlgauge.scale.parts import Scorer
from nlgauge.scale.plan import make_plan
from nlgauge.scale.run import progress_of, score_in_parts


@pytest.fixture
def plan(tmp_path):
    rows = [{"id": str(i), "hyp": f"a cat {i} sat", "refs": ["the cat sat"]} for i in range(9)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf", "cider"]), Runtime(), rows=2)


def test_without_ray_the_extra_is_named(plan, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[ray\]"):
        list(engine.score_parts(plan, tmp_path, plan.parts, workers=1))


@pytest.mark.parametrize(("gpus", "device"), [(0.5, "cuda"), (0.0, None)])
def test_an_actor_takes_its_share_of_a_gpu_and_of_the_processors(plan, tmp_path, monkeypatch, gpus, device):
    """Ray is stood in for: what is checked is what it is asked for, and what an actor does with what it gets."""
    asked, made = {}, []

    class Rows:
        def map_batches(self, actor, **how):
            asked.update(how)
            os.chdir("/")  # an actor of a cluster starts elsewhere
            self.actor = actor()
            return self

        def iter_rows(self):
            yield from ({"n": n} for part in plan.parts for n in self.actor({"number": [part.number]})["n"])

    class Stand(Scorer):
        def score(self, part):
            made.append(self.device)
            return part.span.rows

    fake = SimpleNamespace(
        from_items=lambda *_, **how: Rows(), ActorPoolStrategy=lambda size: size, DataContext=MagicMock()
    )
    ray = SimpleNamespace(
        data=fake, init=lambda **how: None, shutdown=lambda: None, exceptions=SimpleNamespace(RayTaskError=OSError)
    )
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.data", fake)
    monkeypatch.setattr(engine, "Scorer", Stand)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)
    assert sum(engine.score_parts(plan, tmp_path, plan.parts, workers=2, gpus=gpus)) == 9
    assert Path.cwd() == tmp_path  # where the command is: paths are as typed
    assert asked["num_gpus"] == (gpus or None)
    assert set(made) == {device}
    assert os.environ["OMP_NUM_THREADS"] == "4"


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
    rows = [{"id": str(i), "hyp": f"a cat {i} sat", "refs": [f"the cat {i // 3} sat"]} for i in range(3000)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf", "cider"]), Runtime(), rows=100)
    killed = []

    def disturbed(plan, folder, parts):
        scored = engine.score_parts(plan, folder, parts, workers=2)
        yield next(scored)
        killed.append(next(actors(os.getpid())))
        os.kill(killed[-1], signal.SIGKILL)
        assert progress_of(folder).parts_done < len(plan.parts)
        yield from scored

    result = score_in_parts(plan, tmp_path / "ray", disturbed, Runtime())
    one = lambda plan, folder, parts: (Scorer(plan, folder).score(part) for part in parts)  # noqa: E731
    score_in_parts(plan, tmp_path / "one", one, Runtime())
    assert len(killed) == 2  # in the pass for cider, and when parts are scored
    assert [row["n"] for row in result.rows] == [3000, 3000]
    assert files_of(tmp_path / "ray") == files_of(tmp_path / "one")
