"""Runs over several files add up to the run over all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from contextlib import suppress
from hashlib import sha256
from itertools import product

import numpy as np
import pytest

from nlgauge.cli.main import main
from nlgauge.core.errors import InputError
from nlgauge.io.spans import Inputs
from nlgauge.metrics.registry import named
from nlgauge.metrics.scoring.job import ComparisonOptions
from nlgauge.models import heads
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.parts import Scorer, segment_digests, stats_path, sums_path
from nlgauge.scale.plan import make_plan
from nlgauge.scale.run import progress_of, score_in_parts
from nlgauge.scale.total import total

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


def one_by_one(plan, folder, parts):
    """An engine that scores in this process."""
    scorer = Scorer(plan, folder)
    for part in parts:
        yield scorer.score(part)


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
    monkeypatch.setattr("nlgauge.scale.total._HELD", 17)  # of 17 segments those with even digests are compared
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
    assert main(["status", "one", "two"]) == 0
    told = capsys.readouterr().out
    assert told == "one: 5 of 5 parts, 13 of 13 segments: done\ntwo: 3 of 3 parts, 7 of 7 segments: done\n"
    assert main(["status", "one", "two", "--total", "--json", "all.json"]) == 0
    assert "chrf" in capsys.readouterr().out
    result = json.loads((tmp_path / "all.json").read_text())
    assert result["command"] == "nlgauge status one two --total"
    assert [row["n"] for row in result["rows"]] == [10, 10] * 3
    assert main(["status", "one", "--json", "all.json"]) == 2
    assert "--json is about what runs add up to; it goes with --total" in capsys.readouterr().err


EXTERNAL = 'external:module="{module}",python="{python}"'


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


def test_a_folder_starts_no_program_and_opens_no_model(scored, tmp_path, monkeypatch):
    """Numbers of a run need its sums alone: whatever its plan names is neither started nor read."""
    scored("run", ROWS, ["wer", "chrf"])
    (tmp_path / "evil.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').write('it ran')\ndef score(rows): return []\n"
    )
    spec = EXTERNAL.format(module=tmp_path / "evil.py", python=sys.executable)
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
    spec = EXTERNAL.format(module="/nowhere/evil.py", python="/nowhere/python")
    planted(tmp_path, tmp_path / "run", spec, low=0.0, high=7.0, notes=["by a program"])
    found = total([tmp_path / "run"])
    assert [row["value"] for row in found.rows] == [row["value"] for row in result.rows]
    assert found.metrics[0] == {**result.metrics[0], "spec": spec, "range": [0.0, 7.0]}
    assert found.metrics[1] == result.metrics[1]
    assert any("by a program" in note for note in found.notes)


def test_the_plan_of_an_earlier_version_is_told_what_to_do(scored, tmp_path):
    scored("run", ROWS, ["rougeL"])
    plan = planted(tmp_path, tmp_path / "run", "external:module=x")
    (tmp_path / "run" / "plan.json").write_text(json.dumps({**plan, "about": {}}))
    with pytest.raises(InputError, match=r"the plan does not say what is known of external:module=x, .* run the same"):
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
    None, True, -1, 0, 2**63, -4_000_000, 10**400, 1e308, "", "x", "a\nb", "guarded(" * 3000, [], {}, [[]],
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
    step = 1 if SLOW else max(1, len(places) * len(ODD) // 400)
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


@pytest.mark.parametrize("spec", ["guarded(" * 3000 + "chrf" + ")" * 3000, "1*(" * 300 + "1*chrf" + ")" * 300])
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
