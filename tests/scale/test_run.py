"""In parts or in one piece: the same numbers, every row once, whatever was killed on the way."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

import pytest

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.files import Limits, limited
from nlgauge.io.read import open_data
from nlgauge.io.spans import Inputs
from nlgauge.metrics.looks import Looks
from nlgauge.metrics.registry import named
from nlgauge.metrics.scoring.job import ComparisonOptions, score_source
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.parts import Scorer, rows_path, sums_of, sums_path
from nlgauge.scale.plan import PLAN, make_plan
from nlgauge.scale.run import RESULT, estimate, progress_of, score_in_parts

pytest.importorskip("pyarrow")
METRICS = ["chrf", "bleu", "ter"]


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
def plan(data):
    return make_plan(Inputs(str(data)), named(METRICS), Runtime(), rows=4)


@pytest.fixture
def run(tmp_path):
    """The folder of a run."""
    return tmp_path / "run"


def one_by_one(plan, folder, parts):
    """An engine that scores in this process."""
    scorer = Scorer(plan, folder)
    for part in parts:
        yield scorer.score(part)


def rows_of(folder):
    import pyarrow.parquet as parquet

    return [row for path in sorted((folder / "rows").iterdir()) for row in parquet.read_table(path).to_pylist()]


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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
def test_the_result_is_that_of_one_piece(data, plan, run, how):
    found = score_in_parts(plan, run, one_by_one, Runtime(), ComparisonOptions(**how))
    wanted = score_source(open_data(data), METRICS, ComparisonOptions(**how)).result()
    assert found.metrics == wanted.metrics
    assert sorted(found.notes) == sorted(wanted.notes)
    for row, other in zip(found.rows, wanted.rows, strict=True):
        for name, value in other.items():  # sums are added in another order
            assert row[name] == (pytest.approx(value, rel=1e-12) if isinstance(value, float) else value)
    assert json.loads((run / RESULT).read_text())["kind"] == "score"


def test_every_row_is_there_once_in_the_order_of_the_input(plan, tmp_path):
    score_in_parts(plan, tmp_path / "out", one_by_one, Runtime())
    assert [row["id"] for row in rows_of(tmp_path / "out")] == [f"i{i}" for i in range(12)]


def test_a_run_that_was_killed_goes_on_and_leaves_the_same_bytes(plan, tmp_path):
    def killed(plan, folder, parts):
        yield from one_by_one(plan, folder, parts[:1])
        raise KeyboardInterrupt

    def rest(plan, folder, parts):
        scored.extend(part.number for part in parts)
        yield from one_by_one(plan, folder, parts)

    scored = []
    with pytest.raises(KeyboardInterrupt):
        score_in_parts(plan, tmp_path / "out", killed, Runtime())
    assert progress_of(tmp_path / "out").parts_done == 1
    score_in_parts(plan, tmp_path / "out", rest, Runtime())
    assert scored == [1, 2]
    score_in_parts(plan, tmp_path / "whole", one_by_one, Runtime())
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_damaged_part_is_scored_again(plan, run):
    score_in_parts(plan, run, one_by_one, Runtime())
    before = files_of(run)
    rows_path(run, plan.parts[1]).write_bytes(b"PAR1")
    sums_path(run, plan.parts[2]).write_bytes(b"{")
    assert [sums_of(run, part) is None for part in plan.parts] == [False, True, True]
    score_in_parts(plan, run, one_by_one, Runtime())
    assert files_of(run) == before


def test_a_second_run_scores_nothing_and_may_test(plan, run):
    def none(plan, folder, parts):
        raise AssertionError("parts are scored again")

    first = score_in_parts(plan, run, one_by_one, Runtime())
    assert score_in_parts(plan, run, none, Runtime()).rows == first.rows
    tested = score_in_parts(plan, run, none, Runtime(), ComparisonOptions(test="bootstrap", draws=20))
    assert [row["p"] for row in tested.rows if row["baseline"]] != []


def test_a_folder_of_something_else_is_refused(plan, data, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match=r"holds 'thesis\.tex' and no run"):
        score_in_parts(plan, tmp_path / "mine", one_by_one, Runtime())
    score_in_parts(plan, tmp_path / "out", one_by_one, Runtime())
    other = make_plan(Inputs(str(data)), named(["chrf"]), Runtime(), rows=4)
    with pytest.raises(InputError, match="holds a run of other files, metrics"):
        score_in_parts(other, tmp_path / "out", one_by_one, Runtime())
    with pytest.raises(InputError, match="cannot write"):
        score_in_parts(plan, tmp_path / "none" / "out", one_by_one, Runtime())


def test_without_pyarrow_nothing_begins(plan, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what makes `import pyarrow` fail
    with pytest.raises(MissingExtra, match=r"nlgauge\[parquet\]"):
        score_in_parts(plan, tmp_path / "new", None, Runtime())
    assert not (tmp_path / "new").exists()


def test_two_processes_do_not_work_on_one_run(plan, run):
    pytest.importorskip("fcntl")

    def twice(plan, folder, parts):
        assert progress_of(folder).running
        with pytest.raises(InputError, match="another process works on"):
            score_in_parts(plan, folder, one_by_one, Runtime())
        yield from one_by_one(plan, folder, parts)

    score_in_parts(plan, run, twice, Runtime())
    assert not progress_of(run).running


def test_who_asks_how_far_a_run_is_takes_it_from_nobody(plan, run):
    """Two may ask at once, and who may only read may ask."""
    fcntl = pytest.importorskip("fcntl")
    score_in_parts(plan, run, one_by_one, Runtime())
    with (run / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_SH)
        assert not progress_of(run).running
    with (run / "lock").open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert progress_of(run).running


def test_a_part_that_vanishes_meanwhile_is_named(plan, run):
    def forgetful(plan, folder, parts):
        yield from one_by_one(plan, folder, parts)
        sums_path(folder, plan.parts[1]).unlink()

    with pytest.raises(InputError, match=r"part-000001-[0-9a-f]{16} is not done"):
        score_in_parts(plan, run, forgetful, Runtime())


def test_progress_counts_segments_of_all_systems(tmp_path):
    for name in ("one", "two", "ref"):
        (tmp_path / name).write_text("a text\n" * 5)
    inputs = Inputs(None, None, (str(tmp_path / "one"), str(tmp_path / "two")), (str(tmp_path / "ref"),))
    plan = make_plan(inputs, named(["chrf"]), Runtime(), rows=4)
    score_in_parts(plan, tmp_path / "out", one_by_one, Runtime())
    sums_path(tmp_path / "out", plan.parts[-1]).unlink()
    found = progress_of(tmp_path / "out")
    assert (found.n, found.n_done, found.parts_done) == (10, 8, 2)


def test_the_rate_is_that_of_the_last_parts(plan, run):
    score_in_parts(plan, run, one_by_one, Runtime())
    for seconds, part in zip((100, 102), plan.parts, strict=False):
        os.utime(sums_path(run, part), (seconds, seconds))
    sums_path(run, plan.parts[2]).unlink()
    found = progress_of(run)
    assert (found.n_done, found.rate, found.seconds_left) == (8, 2.0, 2.0)  # four segments in two seconds, four left
    sums_path(run, plan.parts[0]).unlink()
    assert progress_of(run).seconds_left is None


def test_the_rate_is_that_of_the_command_that_runs(plan, run):
    """A run that stood still for a night goes on as fast as before."""
    rates = []

    def scored(plan, folder, parts):
        for seconds, part in enumerate(parts, start=1):
            yield from one_by_one(plan, folder, [part])
            after = (run / "lock").stat().st_mtime + 2 * seconds
            os.utime(sums_path(folder, part), (after, after))
            rates.append(progress_of(folder).rate)

    score_in_parts(plan, run, one_by_one, Runtime())
    for part in plan.parts[:1]:
        os.utime(sums_path(run, part), (100, 100))
    for part in plan.parts[1:]:
        sums_path(run, part).unlink()
    score_in_parts(plan, run, scored, Runtime())
    assert rates == [None, pytest.approx(2.0)]  # four segments in two seconds


def test_texts_are_refused_before_anything_is_scored(data):
    with pytest.raises(InputError, match="guard"):
        make_plan(Inputs(str(data)), named(METRICS), Runtime(), rows=4, looks=Looks(guards="refuse"))
    data.write_text(json.dumps({"hyp": "\u732b\u304c\u5ea7\u3063\u305f", "refs": ["\u732b"]}) + "\n")
    with pytest.raises(InputError, match="look "):
        make_plan(Inputs(str(data)), named(METRICS), Runtime(), rows=4, looks=Looks("strict"))
    assert not make_plan(Inputs(str(data)), named(METRICS), Runtime(), rows=4, looks=Looks("off", "off")).guards


def test_a_dry_run_scores_a_sample_and_writes_nothing(plan, tmp_path):
    before = sorted(tmp_path.iterdir())
    found = estimate(plan, named(METRICS), Runtime())
    assert found.n == 12
    assert sorted(tmp_path.iterdir()) == before
    twice = replace(found, n=10, seconds=2.0, loading=1.0)
    assert twice.of(plan, workers=2) == pytest.approx(1.0 + 12 * 0.2 / 2)
    assert twice.of(plan, workers=16) == pytest.approx(1.0 + 12 * 0.2 / 3)  # there are three parts


def test_a_dry_run_finds_a_sample_among_systems_that_are_left_out(tmp_path):
    """Parts 0, 2 and 4 of six are looked at, and only part 1 has a segment of the other system."""
    rows = [{"id": str(i), "system": "rare" if i in (2, 3) else "s", "hyp": "a", "refs": ["b"]} for i in range(12)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    inputs = Inputs(str(tmp_path / "data.jsonl"), exclude=("s",))
    assert estimate(make_plan(inputs, named(["chrf"]), Runtime(), rows=2), named(["chrf"]), Runtime()).n == 2


def test_larger_limits_reach_the_parts(data, run):
    with limited(Limits(segment=12)), pytest.raises(InputError, match="a text of 13 characters"):
        make_plan(Inputs(str(data)), named(METRICS), Runtime(), rows=4)
    with limited(Limits(segment=10**8)):
        plan = make_plan(Inputs(str(data)), named(METRICS), Runtime(), rows=4)
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


def test_the_plan_lies_in_the_folder(plan, run):
    score_in_parts(plan, run, one_by_one, Runtime())
    assert json.loads((run / PLAN).read_text())["kind"] == "plan"
