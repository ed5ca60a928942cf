"""Runs over several files add up to the run over all of them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from tests.scoring.runs import files_of, one_by_one

from nlgauge.cli.main import main
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.files import Limits, limited
from nlgauge.io.read import open_data
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.models import heads
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring import workers as engine
from nlgauge.scoring import workers as pool
from nlgauge.scoring.job import ComparisonOptions, score_source
from nlgauge.scoring.looks import Looks
from nlgauge.scoring.parts import Scorer, make_plan, segment_digests, stats_path, sums_path
from nlgauge.scoring.workers import RESULT, estimate, progress_of, score_in_parts, total

pytest.importorskip("pyarrow")


METRICS = ["chrf", "ter", "wer"]
SLOW = "NLGAUGE_SLOW" in os.environ
ROWS = [
    {
        "id": f"i{i}",
        "system": "ab"[i % 2],
        "lp": "xy"[i // 2 % 3 == 0],
        "hyp": "" if i == 3 else f"the cat {i} sat on a mat {i // 5}",
        "refs": [f"a cat {i // 2} sat"],
    }
    for i in range(20)
]


@pytest.fixture
def scored(tmp_path):
    """Scores rows into a folder of a name; gives the result and the plan."""

    def score(name, rows, metrics=METRICS, **how):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        plan = make_plan(Inputs(str(path)), named(metrics), Runtime(), rows=3)
        return score_in_parts(plan, tmp_path / name, one_by_one, Runtime(), ComparisonOptions(**how)), plan

    return score


@pytest.fixture
def scored_texts(tmp_path):
    """Scores systems, a file each, against one file of references into a folder of a name."""
    (tmp_path / "ref.txt").write_text("a cat sat\nit rains\nthe end\n")
    for system in "abc":
        (tmp_path / f"{system}.txt").write_text(f"a cat {system}\nit rains\nthe end {system}\n")

    def score(name, systems, exclude=()):
        hypotheses = tuple(str(tmp_path / f"{system}.txt") for system in systems)
        inputs = Inputs(hypotheses=hypotheses, references=(str(tmp_path / "ref.txt"),), exclude=exclude)
        plan = make_plan(inputs, named(["chrf"]), Runtime(), rows=10)
        score_in_parts(plan, tmp_path / name, one_by_one, Runtime(), ComparisonOptions())

    return score


@pytest.mark.parametrize("how", [{}, {"by_group": True}, {"intervals": True}])
def test_two_runs_add_up_to_one(scored, tmp_path, how):
    """The files are of 13 and 7 rows, so that a mean of both results would be another number."""
    wanted, _ = scored("whole", ROWS, **how)
    scored("one", ROWS[:13])
    scored("two", ROWS[13:])
    found = total([tmp_path / "one", tmp_path / "two"], ComparisonOptions(**how))
    assert found.metrics == wanted.metrics
    for row, other in zip(found.rows, wanted.rows, strict=True):
        for name, value in other.items():
            assert row[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)
    assert [entry["path"] for entry in found.inputs] == [str(tmp_path / f"{name}.jsonl") for name in ("one", "two")]


def test_a_run_keeps_the_encoder_that_it_began_with(tiny_model, monkeypatch, tmp_path):
    monkeypatch.setitem(heads._IN_PLACE, "base", {"embedded": str(tiny_model("mpnet"))})
    (tmp_path / "data.jsonl").write_text("".join(json.dumps({**row, "lp": None}) + "\n" for row in ROWS[4:10]))
    inputs, runtime, found = Inputs(str(tmp_path / "data.jsonl")), Runtime(encoder="base"), {}
    for encoder in ("base", "embedded"):
        runtime = Runtime(encoder=encoder)
        plan = make_plan(inputs, named(["cosine"], encoder), runtime, rows=3)
        monkeypatch.setenv("NLGAUGE_ENCODER", "embedded")  # of another machine, where a part is scored
        found[encoder] = score_in_parts(plan, tmp_path / encoder, one_by_one, runtime, ComparisonOptions())
        added = total([tmp_path / encoder], ComparisonOptions())
        assert added.rows == found[encoder].rows
        assert [metric["signature"] for metric in added.metrics] == [plan.signatures["cosine"]]
    assert found["base"].rows != found["embedded"].rows
    with pytest.raises(InputError, match="have other metrics or signatures"):
        total([tmp_path / "base", tmp_path / "embedded"], ComparisonOptions())


def test_what_does_not_add_up_is_refused(scored, tmp_path):
    _, plan = scored("one", ROWS[:13])
    scored("same", ROWS[:13])
    scored("other", ROWS[13:], ["ter", "chrf", "wer"])
    scored("pooled", ROWS[:9], ["cider"])
    scored("pool", ROWS[9:], ["cider"])
    for name, said in (("other", "have other metrics or signatures"), ("same", "about the same files")):
        with pytest.raises(InputError, match=said):
            total([tmp_path / "one", tmp_path / name])
    with pytest.raises(InputError, match="about the same files"):
        total([tmp_path / "one"] * 2)
    with pytest.raises(InputError, match="pooled depends on all segments of a run"):
        total([tmp_path / "pooled", tmp_path / "pool"])
    sums_path(tmp_path / "one", plan.parts[1]).unlink()
    with pytest.raises(InputError, match=r"part-000001-[0-9a-f]{16} is not done"):
        total([tmp_path / "one"])


def test_a_system_of_the_same_files_is_counted_once(scored_texts, tmp_path):
    """Runs may share references, and files of which each leaves out what the other counts."""
    scored_texts("one", ["a", "b"])
    scored_texts("two", ["b", "c"])
    scored_texts("three", ["c"])
    found = total([tmp_path / "one", tmp_path / "three"])
    assert [(row["system"], row["n"]) for row in found.rows] == [("a", 3), ("b", 3), ("c", 3)]
    assert not [note for note in found.notes if "twice" in note]
    with pytest.raises(InputError, match=r"two and .*one are about the same files: both count system 'b'; name each"):
        total([tmp_path / "one", tmp_path / "two"])
    scored_texts("rest", ["b", "c"], exclude=("b",))
    assert [row["n"] for row in total([tmp_path / "one", tmp_path / "rest"]).rows] == [3, 3, 3]


def test_segments_that_stand_in_two_files_are_noted(scored, tmp_path, monkeypatch):
    """Rows 10 to 12 are in both files; row 13 has an id of the first and another text."""
    _, plan = scored("one", ROWS[:13])
    scored("two", [*ROWS[10:13], {**ROWS[5], "hyp": "another cat"}])
    (note,) = [note for note in total([tmp_path / "one", tmp_path / "two"]).notes if "twice" in note]
    said = "segments of {two} have the id, system and texts of segments of {one}; they count twice"
    said = said.format(one=tmp_path / "one", two=tmp_path / "two")
    assert note == f"3 of 4 {said}"
    monkeypatch.setattr("nlgauge.scoring.workers._HELD", 17)  # of 17 segments those with even digests are compared
    digests = np.concatenate([segment_digests(tmp_path / "one", part) for part in plan.parts])
    even = int((digests[10:] % 2 == 0).sum())
    assert [note for note in total([tmp_path / "one", tmp_path / "two"]).notes if "twice" in note] == (
        [f"about {2 * even} of 4 {said}"] if even else []
    )


def test_a_part_of_an_earlier_version_has_no_digests(scored, tmp_path):
    _, plan = scored("one", ROWS[:13])
    path = stats_path(tmp_path / "one", plan.parts[0])
    assert len(segment_digests(tmp_path / "one", plan.parts[0])) == 3
    with np.load(path) as stored:
        held = {name: stored[name] for name in stored if name != "digests"}
    np.savez(path, **held)
    assert segment_digests(tmp_path / "one", plan.parts[0]).tolist() == []


def test_one_run_of_a_pooled_metric_is_shown_again(scored, tmp_path):
    wanted, _ = scored("pooled", ROWS, ["cider", "nist"])
    found = total([tmp_path / "pooled"])
    assert (found.rows, found.metrics, found.notes) == (wanted.rows, wanted.metrics, wanted.notes)


def test_the_command_says_how_far_each_run_is_and_adds_up(scored, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scored("one", ROWS[:13])
    scored("two", ROWS[13:])
    assert main(["list", "runs", "one", "two"]) == 0
    told = capsys.readouterr().out
    assert told == "one: 5 of 5 parts, 13 of 13 segments: done\ntwo: 3 of 3 parts, 7 of 7 segments: done\n"
    assert main(["status", "one", "two", "--total", "--json", "all.json"]) == 0
    assert "chrf" in capsys.readouterr().out
    result = json.loads((tmp_path / "all.json").read_text())
    assert result["command"] == "nlgauge list runs one two --total"
    assert [row["n"] for row in result["rows"]] == [10, 10] * 3
    assert main(["status", "one", "--json", "all.json"]) == 2
    assert "--json is about what runs add up to; it goes with --total" in capsys.readouterr().err


EXTERNAL = 'spice:jar="{jar}"'


def sealed(sums):
    """Sums as a file holds them, with the seal that fits."""
    encoded = json.dumps(sums).encode()
    return b'{"seal":"%s","sums":%s}' % (sha256(encoded).hexdigest().encode(), encoded)


def planted(tmp_path, folder, spec, **about):
    """The plan of a run with its first metric called otherwise, and sums to fit."""
    plan = json.loads((folder / "plan.json").read_text())
    first = next(iter(plan["signatures"]))
    plan["signatures"] = {spec if name == first else name: text for name, text in plan["signatures"].items()}
    plan["about"] = {spec if name == first else name: {**told, **about} for name, told in plan["about"].items()}
    (folder / "plan.json").write_text(json.dumps(plan))
    for path in (folder / "sums").iterdir():
        sums = json.loads(path.read_text())["sums"]
        sums["metrics"] = {spec if name == first else name: told for name, told in sums["metrics"].items()}
        path.write_bytes(sealed(sums))
    return plan


@pytest.mark.parametrize("typed", [EXTERNAL, 'command:"{jar}"'])
def test_a_folder_starts_no_program_and_opens_no_model(scored, tmp_path, monkeypatch, typed):
    """Numbers of a run need its sums alone: whatever its plan names is neither started nor read."""
    scored("run", ROWS, ["wer", "chrf"])
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').write('it ran')\ndef score(rows): return []\n"
    )
    spec = typed.format(jar=tmp_path / "evil.py")
    planted(tmp_path, tmp_path / "run", spec, low=0.0, high=7.0)
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *args, **how: started.append(args))
    with pytest.raises(InputError, match="adds up by a rule of its own, which a folder cannot name"):
        total([tmp_path / "run"])  # wer adds up its edits, which no stand-in knows
    assert started == []
    assert not (tmp_path / "ran").exists()


def test_a_run_with_a_program_is_added_up_from_its_folder_alone(scored, tmp_path):
    # rougeL's corpus number is the mean, as that of a program is; chrf is made, as it ships
    result, _ = scored("run", ROWS, ["rougeL", "chrf"])
    spec = EXTERNAL.format(jar="/nowhere/evil.jar")
    planted(tmp_path, tmp_path / "run", spec, low=0.0, high=7.0, notes=["by a program"])
    found = total([tmp_path / "run"])
    assert [row["value"] for row in found.rows] == [row["value"] for row in result.rows]
    assert found.metrics[0] == {**result.metrics[0], "spec": spec, "range": [0.0, 7.0]}
    assert found.metrics[1] == result.metrics[1]
    assert any("by a program" in note for note in found.notes)


def test_the_plan_of_an_earlier_version_is_told_what_to_do(scored, tmp_path):
    scored("run", ROWS, ["rougeL"])
    plan = planted(tmp_path, tmp_path / "run", "spice:jar=x")
    (tmp_path / "run" / "plan.json").write_text(json.dumps({**plan, "about": {}}))
    with pytest.raises(InputError, match=r"the plan does not say what is known of spice:jar=x, .* run the same"):
        total([tmp_path / "run"])


def test_a_changed_number_is_noticed(scored, tmp_path):
    _, plan = scored("run", ROWS)
    path = sums_path(tmp_path / "run", plan.parts[0])
    changed = path.read_text().replace('"n":3', '"n":4')
    assert changed != path.read_text()
    path.write_text(changed)
    with pytest.raises(InputError, match=r"part-000000-.* is not done, or was changed meanwhile"):
        total([tmp_path / "run"])


def test_a_lost_plan_is_written_again_by_the_same_command(scored, tmp_path):
    scored("run", ROWS)
    whole = json.loads((tmp_path / "run" / "plan.json").read_bytes())
    (tmp_path / "run" / "plan.json").unlink()
    scored("run", ROWS)
    again = json.loads((tmp_path / "run" / "plan.json").read_bytes())
    assert {**again, "stamps": whole["stamps"]} == whole  # the input was written anew
    (tmp_path / "run" / "plan.json").unlink()
    with pytest.raises(InputError, match=r"holds 'result\.json' and no run"):
        scored("run", ROWS[:-1])  # another input


def values_of(tree):
    """Every (place, value) in a tree of JSON, the places as paths of keys."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield (key,), value
            yield from (((key, *path), inner) for path, inner in values_of(value))


def with_value(tree, path, value):
    """A copy of a tree with another value at a place."""
    if not path:
        return value
    copy = dict(tree) if isinstance(tree, dict) else list(tree)
    copy[path[0]] = with_value(tree[path[0]], path[1:], value)
    return copy


ODD = [
    None, True, -1, 0, 2**63, -4_000_000, 10**400, 1e308, "", "x", "a\nb", "1*(" * 3000, [], {}, [[]],
    [None], {"x": 1}, "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", ["plan.json", "sums"])
def test_forged_files_whose_digests_fit_are_one_line_or_a_result(scored, tmp_path, name):
    """Every value of plan and sums is replaced by odd ones, with the seals made anew: an error of ours, or numbers."""
    _, plan = scored("run", ROWS[:6], ["chrf", "wer"])
    folder = tmp_path / "run"
    path = folder / name if name == "plan.json" else sums_path(folder, plan.parts[0])
    whole = path.read_bytes()
    tree = json.loads(whole)
    places = [place for place, _ in values_of(tree if name == "plan.json" else tree["sums"])]
    step = 1 if SLOW else 1 + len(ODD) * max(1, len(places) // 150)  # no divisor of it: each odd value comes
    for number, (place, odd) in enumerate(product(places, ODD)):
        if number % step:
            continue
        if name == "plan.json":
            forged = json.dumps(with_value(tree, place, odd)).encode()
        else:
            forged = sealed(with_value(tree["sums"], place, odd))
        path.write_bytes(forged)
        for look in (lambda: total([folder]), lambda: progress_of(folder)):
            try:
                with warnings.catch_warnings(action="error"):
                    look()
            except InputError as error:
                assert "\n" not in str(error)  # noqa: PT017 (many are numbers)
    path.write_bytes(whole)
    assert total([folder]).rows


@pytest.mark.parametrize("spec", ["1*(" * 3000 + "1*chrf" + ")" * 3000, "1*(" * 300 + "1*chrf" + ")" * 300])
def test_a_specification_without_an_end_is_one_line(scored, tmp_path, spec):
    scored("run", ROWS[:6], ["wer"])
    planted(tmp_path, tmp_path / "run", spec)
    with suppress(InputError):
        assert total([tmp_path / "run"]).rows


def test_a_count_below_zero_is_no_count(scored, tmp_path):
    # a number of segments that makes the step between those that are compared 1 - 4,000,000 // 4,000,000 = 0
    scored("run", ROWS[:6], ["wer"])
    path = tmp_path / "run" / "plan.json"
    plan = json.loads(path.read_text())
    path.write_text(json.dumps({**plan, "summary": {**plan["summary"], "n": -4_000_000}}))
    with pytest.raises(InputError, match=r"plan\.json is no plan"):
        total([tmp_path / "run"])


def test_a_plan_that_has_lost_what_its_passes_found_is_one_line(scored, tmp_path):
    scored("run", ROWS[:6], ["cider"])
    path = tmp_path / "run" / "plan.json"
    plan = json.loads(path.read_text())
    assert plan["pools"]
    path.write_text(json.dumps({**plan, "pools": []}))
    with pytest.raises(InputError, match="a file is not what a run writes"):
        total([tmp_path / "run"])


def test_arrays_that_no_run_writes_are_one_line(scored, tmp_path):
    """A zip file that says of itself that it needs a later version, or packs by another method, at every byte."""
    _, plan = scored("run", ROWS[:6], ["wer"])
    folder, part = tmp_path / "run", plan.parts[0]
    whole, sums = stats_path(folder, part).read_bytes(), json.loads(sums_path(folder, part).read_bytes())["sums"]
    entry = whole.rfind(b"PK\x01\x02")  # of the last file: then version made by, version needed, flags, method
    for place in (entry + 4, entry + 6, entry + 8, entry + 10, len(whole) - 6):
        damaged = whole[:place] + b"\x5c" + whole[place + 1 :]
        stats_path(folder, part).write_bytes(damaged)
        told = {**sums, "sha256": {**sums["sha256"], "stats": sha256(damaged).hexdigest()}}
        sums_path(folder, part).write_bytes(sealed(told))
        for how in ({}, {"intervals": True}):
            with suppress(InputError):
                total([folder], ComparisonOptions(**how))


# --- Actors of Ray leave the bytes that processes leave. Ray is not installed for the tests: extra `ray`


@pytest.fixture
def plan(tmp_path):
    rows = [{"id": str(i), "hyp": f"a cat {i} sat", "refs": ["the cat sat"]} for i in range(9)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf", "cider"]), Runtime(), rows=2)


def test_without_ray_the_extra_is_named(plan, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"nlgauge\[ray\]"):
        list(engine.score_in_ray(plan, tmp_path, plan.parts, workers=1))


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
    assert sum(engine.score_in_ray(plan, tmp_path, plan.parts, workers=2, gpus=gpus)) == 9
    assert Path.cwd() == tmp_path  # where the command is: paths are as typed
    assert asked["num_gpus"] == (gpus or None)
    assert set(made) == {device}
    assert os.environ["OMP_NUM_THREADS"] == "4"


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
        scored = engine.score_in_ray(plan, folder, parts, workers=2)
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


# --- Processes may be killed at any time: each row is there once, and the bytes are those of an undisturbed run


def write(path, n):
    rows = ({"id": str(i), "hyp": f"a cat {i} sat on it", "refs": [f"the cat {i // 3} sat"]} for i in range(n))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_workers_score_what_is_left_and_leave_the_bytes_of_one_process(tmp_path):
    write(tmp_path / "data.jsonl", 9)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    score_in_parts(plan, tmp_path / "pool", partial(pool.score_in_pool, workers=1), Runtime())
    score_in_parts(plan, tmp_path / "one", one_by_one, Runtime())
    assert files_of(tmp_path / "pool") == files_of(tmp_path / "one")


def test_what_a_part_is_refused_for_reaches_the_one_who_started(tmp_path):
    write(tmp_path / "data.jsonl", 2)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    (tmp_path / "data.jsonl").write_text("")
    with pytest.raises(InputError, match="is not what it was when the plan was made"):
        score_in_parts(plan, tmp_path / "out", partial(pool.score_in_pool, workers=1), Runtime())


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
    assert list(pool.score_in_pool(plan, tmp_path, plan.parts, workers=1)) == [2, 2, 1]
    monkeypatch.setattr(pool, "_run", Dying(3))
    with pytest.raises(InputError, match="a worker was killed 3 times before it had scored a part"):
        list(pool.score_in_pool(plan, tmp_path, plan.parts, workers=1))


def test_a_part_that_gets_done_renews_the_lives_of_workers(tmp_path, monkeypatch):
    write(tmp_path / "data.jsonl", 5)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=1)

    def run(plan, folder, parts, *more):
        yield parts[0], 1
        raise pool.BrokenProcessPool

    monkeypatch.setattr(pool, "_run", run)  # five kills, and a part is done before each
    assert list(pool.score_in_pool(plan, tmp_path, plan.parts, workers=1)) == [1] * 5


def test_a_worker_has_as_many_threads_at_the_end_of_a_run_as_before(tmp_path, monkeypatch):
    """Sums in other threads may differ in their last bits, and the bytes of a part with them."""
    write(tmp_path / "data.jsonl", 5)
    plan = make_plan(Inputs(str(tmp_path / "data.jsonl")), named(["chrf"]), Runtime(), rows=2)
    monkeypatch.setattr(pool.os, "cpu_count", lambda: 8)
    for parts in (plan.parts, plan.parts[-1:]):
        run = Dying(0)
        monkeypatch.setattr(pool, "_run", run)
        list(pool.score_in_pool(plan, tmp_path, parts, workers=2))
        assert run.threads == 4


@pytest.mark.slow
def test_kills_of_workers_and_of_the_whole_run(tmp_path):
    write(tmp_path / "data.jsonl", 6000)
    words = ["score", "--engine", "pool:rows=100,workers=2", "data.jsonl", "-m", "chrf", "-q"]
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


# --- In parts or in one piece: the same numbers, every row once, whatever was killed on the way

RUN_METRICS = ["chrf", "bleu", "ter"]


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    rows = [
        {
            "id": f"i{i}",
            "system": "ab"[i % 2],
            "seg": str(i // 2),
            "lp": "xy"[i // 2 % 3 == 0],
            "hyp": "" if i == 3 else f"the cat {i} sat",
            "refs": [f"a cat {i // 2} sat"],
        }
        for i in range(12)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def run_plan(data):
    return make_plan(Inputs(str(data)), named(RUN_METRICS), Runtime(), rows=4)


@pytest.fixture
def run(tmp_path):
    """The folder of a run."""
    return tmp_path / "run"


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"by_group": True},
        {"intervals": True, "draws": 20, "by_group": True},
        {"test": "bootstrap", "draws": 20, "adjust": "holm"},
        {"test": "randomization", "draws": 20, "pairs": True},
    ],
)
def test_the_result_is_that_of_one_piece(data, run_plan, run, how):
    found = score_in_parts(run_plan, run, one_by_one, Runtime(), ComparisonOptions(**how))
    wanted = score_source(open_data(data), RUN_METRICS, ComparisonOptions(**how)).result()
    assert found.metrics == wanted.metrics
    assert sorted(found.notes) == sorted(wanted.notes)
    for row, other in zip(found.rows, wanted.rows, strict=True):
        for name, value in other.items():  # sums are added in another order
            assert row[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)
    assert json.loads((run / RESULT).read_text())["kind"] == "score"


def test_a_run_that_was_killed_goes_on_and_leaves_the_same_bytes(run_plan, tmp_path):
    def killed(plan, folder, parts):
        yield from one_by_one(plan, folder, parts[:1])
        raise KeyboardInterrupt

    def rest(plan, folder, parts):
        scored.extend(part.number for part in parts)
        yield from one_by_one(plan, folder, parts)

    scored = []
    with pytest.raises(KeyboardInterrupt):
        score_in_parts(run_plan, tmp_path / "out", killed, Runtime())
    assert progress_of(tmp_path / "out").parts_done == 1
    score_in_parts(run_plan, tmp_path / "out", rest, Runtime())
    assert scored == [1, 2]
    score_in_parts(run_plan, tmp_path / "whole", one_by_one, Runtime())
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_second_run_scores_nothing_and_may_test(run_plan, run):
    def none(plan, folder, parts):
        raise AssertionError("parts are scored again")

    first = score_in_parts(run_plan, run, one_by_one, Runtime())
    assert score_in_parts(run_plan, run, none, Runtime()).rows == first.rows
    tested = score_in_parts(run_plan, run, none, Runtime(), ComparisonOptions(test="bootstrap", draws=20))
    assert [row["p"] for row in tested.rows if row["baseline"]] != []


def test_a_folder_of_something_else_is_refused(run_plan, data, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"holds 'thesis\.tex' and no run"):
        score_in_parts(run_plan, tmp_path / "mine", one_by_one, Runtime())
    score_in_parts(run_plan, tmp_path / "out", one_by_one, Runtime())
    other = make_plan(Inputs(str(data)), named(["chrf"]), Runtime(), rows=4)
    with pytest.raises(InputError, match="holds a run of other files, metrics"):
        score_in_parts(other, tmp_path / "out", one_by_one, Runtime())
    with pytest.raises(InputError, match="cannot write"):
        score_in_parts(run_plan, tmp_path / "none" / "out", one_by_one, Runtime())


def test_without_pyarrow_nothing_begins(run_plan, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what makes `import pyarrow` fail
    with pytest.raises(MissingExtra, match=r"nlgauge\[parquet\]"):
        score_in_parts(run_plan, tmp_path / "new", None, Runtime())
    assert not (tmp_path / "new").exists()


def test_two_processes_do_not_work_on_one_run(run_plan, run):
    pytest.importorskip("fcntl")

    def twice(plan, folder, parts):
        assert progress_of(folder).running
        with pytest.raises(InputError, match="another process works on"):
            score_in_parts(plan, folder, one_by_one, Runtime())
        yield from one_by_one(plan, folder, parts)

    score_in_parts(run_plan, run, twice, Runtime())
    assert not progress_of(run).running


def test_who_asks_how_far_a_run_is_takes_it_from_nobody(run_plan, run):
    """Two may ask at once, and who may only read may ask."""
    fcntl = pytest.importorskip("fcntl")
    score_in_parts(run_plan, run, one_by_one, Runtime())
    with (run / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert not progress_of(run).running
    with (run / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert progress_of(run).running


def test_progress_counts_segments_of_all_systems(tmp_path):
    for name in ("one", "two", "ref"):
        (tmp_path / name).write_text("a text\n" * 5)
    inputs = Inputs(None, None, (str(tmp_path / "one"), str(tmp_path / "two")), (str(tmp_path / "ref"),))
    plan = make_plan(inputs, named(["chrf"]), Runtime(), rows=4)
    score_in_parts(plan, tmp_path / "out", one_by_one, Runtime())
    sums_path(tmp_path / "out", plan.parts[-1]).unlink()
    found = progress_of(tmp_path / "out")
    assert (found.n, found.n_done, found.parts_done) == (10, 8, 2)


def test_the_rate_is_that_of_the_last_parts(run_plan, run):
    score_in_parts(run_plan, run, one_by_one, Runtime())
    for seconds, part in zip((100, 102), run_plan.parts, strict=False):
        os.utime(sums_path(run, part), (seconds, seconds))
    sums_path(run, run_plan.parts[2]).unlink()
    found = progress_of(run)
    assert (found.n_done, found.rate, found.seconds_left) == (8, 2.0, 2.0)  # four segments in two seconds, four left
    sums_path(run, run_plan.parts[0]).unlink()
    assert progress_of(run).seconds_left is None


def test_the_rate_is_that_of_the_command_that_runs(run_plan, run):
    """A run that stood still for a night goes on as fast as before."""
    rates = []

    def scored(plan, folder, parts):
        for seconds, part in enumerate(parts, start=1):
            yield from one_by_one(plan, folder, [part])
            after = (run / "lock").stat().st_mtime + 2 * seconds
            os.utime(sums_path(folder, part), (after, after))
            rates.append(progress_of(folder).rate)

    score_in_parts(run_plan, run, one_by_one, Runtime())
    for part in run_plan.parts[:1]:
        os.utime(sums_path(run, part), (100, 100))
    for part in run_plan.parts[1:]:
        sums_path(run, part).unlink()
    score_in_parts(run_plan, run, scored, Runtime())
    assert rates == [None, pytest.approx(2.0)]  # four segments in two seconds


def test_texts_are_refused_before_anything_is_scored(data):
    with pytest.raises(InputError, match="guard"):
        make_plan(Inputs(str(data)), named(RUN_METRICS), Runtime(), rows=4, looks=Looks(guards="refuse"))
    data.write_text(json.dumps({"hyp": "\u732b\u304c\u5ea7\u3063\u305f", "refs": ["\u732b"]}) + "\n")
    with pytest.raises(InputError, match="look "):
        make_plan(Inputs(str(data)), named(RUN_METRICS), Runtime(), rows=4, looks=Looks("strict"))
    assert not make_plan(Inputs(str(data)), named(RUN_METRICS), Runtime(), rows=4, looks=Looks("off", "off")).guards


def test_a_dry_run_scores_a_sample_and_writes_nothing(run_plan, tmp_path):
    before = sorted(tmp_path.iterdir())
    found = estimate(run_plan, named(RUN_METRICS), Runtime())
    assert found.n == 12
    assert sorted(tmp_path.iterdir()) == before
    twice = replace(found, n=10, seconds=2.0, loading=1.0)
    assert twice.of(run_plan, workers=2) == pytest.approx(1.0 + 12 * 0.2 / 2)
    assert twice.of(run_plan, workers=16) == pytest.approx(1.0 + 12 * 0.2 / 3)  # there are three parts


def test_a_dry_run_finds_a_sample_among_systems_that_are_left_out(tmp_path):
    """Parts 0, 2 and 4 of six are looked at, and only part 1 has a segment of the other system."""
    rows = [{"id": str(i), "system": "rare" if i in (2, 3) else "s", "hyp": "a", "refs": ["b"]} for i in range(12)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    inputs = Inputs(str(tmp_path / "data.jsonl"), exclude=("s",))
    assert estimate(make_plan(inputs, named(["chrf"]), Runtime(), rows=2), named(["chrf"]), Runtime()).n == 2


def test_larger_limits_reach_the_parts(data, run):
    with limited(Limits(segment=12)), pytest.raises(InputError, match="a text of 13 characters"):
        make_plan(Inputs(str(data)), named(RUN_METRICS), Runtime(), rows=4)
    with limited(Limits(segment=10**8)):
        plan = make_plan(Inputs(str(data)), named(RUN_METRICS), Runtime(), rows=4)
    with limited(Limits(segment=12)):  # those of a worker are the defaults, which a test cannot reach
        assert score_in_parts(plan, run, one_by_one, Runtime()).rows


def test_flags_stand_in_the_order_of_one_piece(data, run):
    """The first part has texts that look tokenised, and only the next an empty one."""
    rows = [{"id": str(i), "hyp": "" if i == 3 else "a cat .", "refs": ["a cat ."]} for i in range(4)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = score_in_parts(make_plan(Inputs(str(data)), named(["bleu"]), Runtime(), rows=2), run, one_by_one, Runtime())
    wanted = score_source(open_data(data), ["bleu"]).result()
    assert list(found.metrics[0]["flags"]) == list(wanted.metrics[0]["flags"]) == ["empty", "tokenized"]
    assert found.notes == wanted.notes
