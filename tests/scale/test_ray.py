"""Actors of Ray leave the bytes that processes leave. Ray is not installed for the tests: extra `ray`."""

from __future__ import annotations

import json
from functools import partial

import pytest

from nlgauge.core.errors import MissingExtra
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale import ray as engine
from nlgauge.scale.parts import Scorer
from nlgauge.scale.plan import make_plan
from nlgauge.scale.run import score_in_parts


@pytest.fixture
def plan(tmp_path):
    rows = [{"id": str(i), "hyp": f"a cat {i} sat", "refs": ["the cat sat"]} for i in range(9)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf", "cider"]), Runtime(), rows=2)


def test_without_ray_the_extra_is_named(plan, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[ray\]"):
        list(engine.score_parts(plan, tmp_path, plan.parts, workers=1))


@pytest.mark.slow
def test_actors_leave_the_bytes_of_one_process(plan, tmp_path):
    pytest.importorskip("ray")
    score_in_parts(plan, tmp_path / "ray", partial(engine.score_parts, workers=2), Runtime())
    one = lambda plan, folder, parts: (Scorer(plan, folder).score(part) for part in parts)  # noqa: E731
    score_in_parts(plan, tmp_path / "one", one, Runtime())
    both = [tmp_path / "ray", tmp_path / "one"]
    files = [{p.relative_to(f): p.read_bytes() for p in f.rglob("*") if p.is_file()} for f in both]
    assert files[0] == files[1]
