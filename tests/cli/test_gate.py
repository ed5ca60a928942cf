"""`nlgauge gate`: exit codes, every form, baselines; refusals in one line."""

from __future__ import annotations

import json
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.command import refused, run, write
from tests.gating.sides import BASE, REFS, better, worse

from nlgauge.gating import aa
from nlgauge.io.results import result_fields


def rows(texts, n=60):
    return [{"id": str(i), "seg": str(i), "hyp": t, "refs": [r]} for i, (t, r) in
            enumerate(zip(texts[:n], REFS[:n], strict=True))]  # fmt: skip


@pytest.fixture
def base(tmp_path):
    return write(tmp_path / "base.jsonl", rows(BASE))


@pytest.fixture
def new(tmp_path):
    return write(tmp_path / "new.jsonl", rows(worse(0.9)))


def test_the_exit_code_is_the_verdict(tmp_path, base, new, capsys):
    good = write(tmp_path / "good.jsonl", rows(better(0.5)))
    assert run("gate", base, good, "-m", "chrf", "--allow", "1") == 0
    assert capsys.readouterr().out.startswith("PASS: the change may ship\n")
    assert run("gate", base, new, "-m", "chrf", "--allow", "1") == 3
    assert capsys.readouterr().out.startswith("FAIL: the change loses more than is allowed\n")
    few, fewer = write(tmp_path / "a.jsonl", rows(BASE, 12)), write(tmp_path / "b.jsonl", rows(worse(0.5), 12))
    unsure = ("gate", few, fewer, "-m", "chrf", "--allow", "2")
    assert run(*unsure) == 4
    assert "you have 12 items" in capsys.readouterr().out
    assert run(*unsure, "--inconclusive", "pass") == 0
    assert run(*unsure, "--inconclusive", "fail") == 3


def test_the_same_texts_pass(base, capsys):
    assert run("gate", base, base, "-m", "chrf", "--allow", "0") == 0
    assert "the texts are the same" in capsys.readouterr().out


def test_every_form_holds_the_verdict(tmp_path, base, new, capsys):
    paths = {form: tmp_path / f"gate.{form}" for form in ("json", "html", "junit", "markdown")}
    typed = [x for form, path in paths.items() for x in (f"--{form}", path)]
    assert run("gate", base, new, "-m", "chrf", "--allow", "1", *typed, "-q") == 3
    made = json.loads(paths["json"].read_text())
    assert (made["kind"], made["verdict"], made["rows"][0]["verdict"]) == ("gate", "FAIL", "FAIL")
    assert made["items"][0]["new_hyp"] != made["items"][0]["base_hyp"]
    assert "<mark>nth</mark>" in paths["html"].read_text()
    assert ElementTree.parse(paths["junit"]).getroot().get("failures") == "1"
    assert "FAIL: the change loses more than is allowed" in paths["markdown"].read_text()
    assert str(tmp_path) + "/gate.json" not in paths["json"].read_text()
    capsys.readouterr()
    assert run("report", paths["json"], "-o", tmp_path / "report.html") == 0
    assert "May this change ship?" in (tmp_path / "report.html").read_text()


def test_json_on_standard_output_stands_there_alone(base, new, capsys):
    assert run("gate", base, new, "-m", "chrf", "--allow", "1", "--json") == 3
    assert json.loads(capsys.readouterr().out)["verdict"] == "FAIL"


def test_drops_by_metric_and_reported_metrics(base, new, capsys):
    typed = ["-m", "chrf,ter", "--allow", "50", "--allow", "ter=40", "--report-only", "rouge1", "--json"]
    assert run("gate", base, new, *typed) == 0
    made = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["metric"], row["allow"], row["decides"]) for row in made] == [
        ("chrf", 50, True),
        ("ter", 40, True),
        ("rouge1", 50, False),
    ]


def test_a_baseline_is_kept_and_used(tmp_path, base, new, capsys):
    kept = tmp_path / "kept.json"
    assert run("gate", base, "-m", "chrf", "--save", kept) == 0
    assert capsys.readouterr().out == f"{kept}: 60 items by chrf\n"
    assert run("gate", kept, new, "-m", "chrf", "--allow", "1", "-q") == 3
    one = capsys.readouterr().out
    assert run("gate", base, new, "-m", "chrf", "--allow", "1", "-q", "--save", tmp_path / "next.json") == 3
    assert capsys.readouterr().out == one
    assert run("gate", tmp_path / "next.json", new, "-m", "chrf") == 0  # of NEW
    capsys.readouterr()
    assert "has no scores of ter" in refused(capsys, "gate", kept, new, "-m", "ter")
    assert run("gate", kept, new, "-m", "ter", "--allow", "90", "--rescore") == 0


def test_a_side_that_does_not_pass_replaces_no_baseline(tmp_path, base, new, capsys):
    kept = tmp_path / "kept.json"
    assert run("gate", base, "-m", "chrf", "--save", kept) == 0
    before = kept.read_text()
    assert run("gate", base, new, "-m", "chrf", "--allow", "1", "--save", kept) == 3
    assert f"{kept} stays as it was, since the verdict is FAIL" in capsys.readouterr().out
    assert kept.read_text() == before
    assert run("gate", base, write(tmp_path / "good.jsonl", rows(better(0.5))), "-m", "chrf", "--save", kept) == 0
    assert kept.read_text() != before


def test_sides_in_one_file(tmp_path, capsys):
    both = [
        {**row, "id": f"{s}{row['id']}", "system": s} for s, t in (("a", BASE), ("b", worse(0.9))) for row in rows(t)
    ]
    path = write(tmp_path / "both.jsonl", both)
    assert run("gate", path, path, "-m", "chrf", "--base-system", "a", "--new-system", "b") == 3
    capsys.readouterr()
    assert "holds 2 systems ('a', 'b'), expected one" in refused(capsys, "gate", path, path, "-m", "chrf")


def test_stored_verdicts_are_pass_rates(tmp_path, capsys):
    base, new = ([{**row, "id": f"{s}{row['id']}"} for row in rows(t)] for s, t in (("a", BASE), ("b", worse(0.9))))
    passed = ["id\tpassed", *(f"a{i}\t{int(i < 55)}" for i in range(60)), *(f"b{i}\t{int(i < 30)}" for i in range(60))]
    scores = write(tmp_path / "passed.tsv", passed)
    sides = write(tmp_path / "a.jsonl", base), write(tmp_path / "b.jsonl", new)
    spec = f"scores:file={scores},column=passed,higher_is_better=true"
    assert run("gate", *sides, "-m", spec, "--allow", "0.1", "--json") == 3
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["method"], row["delta"]) == ("tango", pytest.approx(-25 / 60))


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--allow", "much"], "--allow 'much': expected a drop"),
        (["--allow", "ter=1"], "'ter' is not among the metrics"),
        (["--allow", "1", "--allow", "2"], "--allow is given twice"),
        (["--scale", "much"], "--scale 'much': expected the lowest and the highest score"),
        (["--scale", "1"], "scale is (1.0,), expected"),
        (["--scale", "1:0"], "scale is (1.0, 0.0), expected the lowest and the highest score"),
        (["--scale", "0:1"], "scale: chrf has limits of its own"),
        (["--min-pass", "12/10"], "expected M/N"),
        (["--alpha", "5"], "alpha is 5"),
        (["--inconclusive", "maybe"], "--inconclusive is 'maybe'"),
        (["--report-only", "chrf"], "every metric is only reported"),
        (["--min-pass", "8/10"], "its scores are not all 0 or 1"),
        (["--sequential", "-m", "ter"], "the metric has none"),
        (["--save", "none/there.json"], "there is no folder"),
        (["--save", "kept"], "expected a name that ends in .json"),
    ],
)
def test_refusals(base, new, capsys, typed, message):
    assert message in refused(capsys, "gate", base, new, "-m", "chrf", *typed)


def test_sides_that_do_not_fit_are_refused(tmp_path, base, capsys):
    short = write(tmp_path / "short.jsonl", rows(BASE, 59))
    assert "short.jsonl lacks 1 of 60 items" in refused(capsys, "gate", base, short, "-m", "chrf")
    assert "NEW is missing" in refused(capsys, "gate", base, "-m", "chrf")
    empty = write(tmp_path / "empty.jsonl", [])
    assert "empty" in refused(capsys, "gate", base, empty, "-m", "chrf")
    assert "would be written over the input" in refused(capsys, "gate", base, short, "-m", "chrf", "--json", base)


def test_ratings_of_the_data_are_named(tmp_path, capsys):
    rated = write(tmp_path / "a.jsonl", [{**row, "human": {"includes": 1.0}} for row in rows(BASE)])
    assert "unknown metric 'includes'; the data has human.includes" in refused(
        capsys, "gate", rated, rated, "-m", "includes"
    )


def test_the_scale_of_ratings_is_named(tmp_path, capsys):
    def rated(name, fall):
        rows_of = [{**row, "human": {"quality": 4.0 + i % 2 - fall * (i % 3)}} for i, row in enumerate(rows(BASE))]
        return write(tmp_path / name, [{**row, "hyp": f"{row['hyp']} {name}"} for row in rows_of])

    sides = rated("a.jsonl", 0), rated("b.jsonl", 0.1)
    typed = ("-m", "human.quality", "--report-only", "chrf")
    assert run("gate", *sides, *typed, "--allow", ".25") == 4
    assert "its scale is not known, and is taken to be 0 to 5" in capsys.readouterr().out
    assert run("gate", *sides, *typed, "--allow", ".25", "--scale", "human.quality=3.7:5") == 0
    assert "its scale" not in capsys.readouterr().out
    assert run("gate", *sides, *typed, "--scale", "0:10", "--json") == 4
    assert json.loads(capsys.readouterr().out)["rows"][0]["allow"] == pytest.approx(0.1)


def test_logs_of_other_tools_are_judged_by_their_own_grades(tmp_path, capsys):
    def log(name, every):
        samples = [
            {
                "id": f"q{i}", "epoch": epoch, "input": f"Where is key {i}?", "target": "here",
                "output": {"completion": f"here {name}"},
                "scores": {"match": {"value": "C" if i % every else "I"}},
            }
            for i in range(60) for epoch in (1, 2)
        ]  # fmt: skip
        about = {"version": 2, "status": "success", "eval": {"task": "keys", "model": name}, "samples": samples}
        (tmp_path / f"{name}.json").write_text(json.dumps(about))
        return tmp_path / f"{name}.json"

    assert run("gate", log("old", 20), log("new", 2), "-m", "human.match", "--allow", ".05", "--json") == 3
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["n"], row["repeats"], row["delta"]) == (60, 2, pytest.approx(-0.45))


# --- Runs of one system


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three files of a judge that passes the same texts by chance."""
    monkeypatch.setattr(aa, "SIMULATED", 60)
    rng = random.Random(4)
    texts = [[{**row, "human": {"ok": float(rng.random() < 0.8)}} for row in rows(BASE)] for _ in range(3)]
    return [write(tmp_path / f"run{i}-ü<b>.jsonl", one) for i, one in enumerate(texts)]


def test_runs_of_one_system_are_judged_and_the_code_is_0(runs, capsys):
    assert run("gate", "--aa", *runs, "-m", "human.ok", "--allow", "0") == 0
    out = capsys.readouterr().out
    assert out.startswith("What the gate says though nothing changed (3 runs)\n\n- FAIL comes in fewer than one of")
    assert "--allow human.ok=0." in out
    assert "pass^3" in out
    assert run("gate", "--aa", "-m", "human.ok", *runs, "--allow", "0") == 0  # with the metric before them
    assert capsys.readouterr().out == out


def test_runs_in_every_form(tmp_path, runs, capsys):
    paths = {form: tmp_path / f"aa.{form}" for form in ("json", "html", "markdown")}
    typed = [x for form, path in paths.items() for x in (f"--{form}", path)]
    assert run("gate", "--aa", *runs, "-m", "human.ok", *typed, "-q") == 0
    made = json.loads(paths["json"].read_text())
    assert "verdict" not in made
    assert [row["metric"] for row in made["rows"]] == ["human.ok", "the whole gate"]
    assert [row["statistic"] for row in made["statistics"]] == ["pass^1", "pass^2", "pass^3"]
    fields = {field["field"] for field in result_fields() if field["kind"] == "gate"}
    assert {name for row in made["rows"] for name in row} <= fields
    page = paths["html"].read_text()
    assert "<h1>What the gate says though nothing changed</h1>" in page
    assert "<b>.jsonl" not in page
    assert "| pass^2 |" in paths["markdown"].read_text()
    for form in ("markdown", "latex", "csv", "tsv", "json"):
        assert run("gate", "--aa", *runs, "-m", "human.ok", "-f", form) == 0
        assert "human.ok" in capsys.readouterr().out
    assert run("report", paths["json"], "-o", tmp_path / "report.html") == 0
    assert "What the gate says though nothing changed" in (tmp_path / "report.html").read_text()


def test_what_does_not_go_with_runs_is_refused(tmp_path, runs, capsys):
    kept = tmp_path / "kept.json"
    for typed in (("--save", kept), ("--junit", tmp_path / "a.xml"), ("--inconclusive", "pass"), ("--rescore",)):
        assert "--aa gives none" in refused(capsys, "gate", "--aa", *runs, "-m", "human.ok", *typed)
    assert "got 3 files; runs of one system go with --aa" in refused(capsys, "gate", *runs, "-m", "human.ok")
    assert "two or more runs of one system as data, got 1" in refused(capsys, "gate", "--aa", runs[0], "-m", "human.ok")
    assert "the same bytes" in refused(capsys, "gate", "--aa", runs[0], runs[0], "-m", "human.ok")
    assert run("gate", runs[0], "-m", "human.ok", "--save", kept, "-q") == 0
    assert "got 1 and 1 baseline" in refused(capsys, "gate", "--aa", runs[1], kept, "-m", "human.ok")
    assert "no text has a rating 'other'; known: ok" in refused(capsys, "gate", "--aa", *runs, "-m", "human.other")


def test_ratings_in_a_table_of_their_own_name_the_side_by_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new"):
        rows = [json.dumps({"seg": str(i), "hyp": f"{name} {i}", "ref": "r"}) for i in range(40)]
        Path(f"{name}.jsonl").write_text("\n".join(rows), encoding="utf-8")
    ratings = [
        f"{i},{name},{who},{5 if name == 'old' else 1}" for name in ("old", "new") for i in range(40) for who in "ab"
    ]
    Path("r.csv").write_text("item,system,annotator,quality\n" + "\n".join(ratings), encoding="utf-8")
    typed = ("--judgements", "r.csv", "-m", "human.quality", "--scale", "1:5", "--json", "g.json", "-q")
    assert run("gate", "old.jsonl", "new.jsonl", *typed) == 3
    made = json.loads(Path("g.json").read_text(encoding="utf-8"))
    assert (made["rows"][0]["base"], made["rows"][0]["new"]) == (5, 1)
    assert [file["path"] for file in made["inputs"]] == ["old.jsonl", "r.csv", "new.jsonl"]
    assert run("gate", "--aa", "old.jsonl", "new.jsonl", *typed) == 0
    bare = [line.replace(",old,", ",").replace(",new,", ",") for line in ratings[:80]]
    Path("bare.csv").write_text("item,annotator,quality\n" + "\n".join(bare), encoding="utf-8")
    capsys.readouterr()
    said = refused(capsys, "gate", "old.jsonl", "new.jsonl", "--judgements", "bare.csv", "-m", "human.quality")
    assert "bare.csv does not say which side a rating is of; expected rows with a 'system'" in said
