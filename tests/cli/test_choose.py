"""`nlgauge choose`: every form, files, ratings in a table of their own, and refusals in one line."""

from __future__ import annotations

import json

import pytest
from tests.choosing.made import data
from tests.cli.command import refused, run, write

from nlgauge.io.results import read_result
from nlgauge.report.pages import page

METRICS = ("-m", "chrf,bleu", "--no-cache")


@pytest.fixture
def made(tmp_path):
    rows = (
        {"id": s.id, "hyp": s.hypothesis, "refs": [*s.references], "system": s.system, "seg": s.item, "lp": "cs-en"}
        for s in data(4)
    )
    return write(tmp_path / "made.jsonl", rows)


def test_the_recommendation_stands_first_then_the_command_and_the_table(made, capsys):
    assert run("choose", made, *METRICS) == 0
    out = capsys.readouterr().out
    assert out.startswith("Take ")
    assert f"\n\nnlgauge score {made} -m " in out
    places = [out.index(part) for part in ("Take ", "nlgauge score", "agreement with people")]
    assert places == sorted(places)
    assert "We report" not in out
    assert run("choose", made, *METRICS, "-v") == 0
    out = capsys.readouterr().out
    assert "We report" in out
    assert "metric:chrf" in out


def test_every_form_holds_it(made, tmp_path, capsys):
    paths = [tmp_path / name for name in ("a.json", "a.html")]
    assert run("choose", made, *METRICS, "--json", paths[0], "--html", paths[1], "-q") == 0
    capsys.readouterr()
    result = json.loads(paths[0].read_text())
    assert result["kind"] == "choose"
    reasons = [row["text"] for row in result["rows"] if row.get("said") == "reason"]
    assert reasons[0].startswith("Take ")
    assert "Which metric for these texts?" in paths[1].read_text()
    assert reasons[0] in paths[1].read_text()
    assert reasons[0] in page(read_result(paths[0]))  # from the rows alone
    assert run("report", paths[0], "-o", tmp_path / "r.html") == 0
    assert "Which metric for these texts?" in (tmp_path / "r.html").read_text()
    assert run("choose", made, *METRICS, "-f", "markdown", "-q") == 0
    assert "| metric |" in capsys.readouterr().out


def test_ratings_come_from_a_table_of_their_own(made, tmp_path, capsys):
    ratings = write(tmp_path / "r.tsv", ["id\ttaste", *(f"{s.id}\t{len(s.hypothesis)}" for s in data(12))])
    assert run("choose", made, *METRICS, "--judgements", ratings, "-c", "taste", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["metric"] for row in rows if row.get("criterion") == "people"} == {"chrf", "bleu"}
    assert any(f"--judgements {ratings} -m" in row["text"] for row in rows if row.get("said") == "reason")


def test_several_files_are_one_set_and_stand_in_the_commands(made, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "made.jsonl").read_text().splitlines()]
    names = [f"{system}.jsonl" for system in dict.fromkeys(row["system"] for row in rows)]
    for name in names:
        write(tmp_path / name, [row for row in rows if f"{row['system']}.jsonl" == name])
    assert len(names) > 1
    assert run("choose", *names, *METRICS, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [entry["path"] for entry in result["inputs"]] == names
    (command,) = (row["text"] for row in result["rows"] if row.get("said") == "command")
    assert command.startswith(f"nlgauge score {' '.join(names)} -m ")


def test_refusals_are_one_line(made, tmp_path, capsys):
    bare = write(tmp_path / "bare.jsonl", [{"hyp": "one"}, {"hyp": "two"}])
    assert "no metric can score these texts: chrf: chrf needs references" in refused(
        capsys, "choose", bare, "-m", "chrf"
    )
    assert "'chrff'" in refused(capsys, "choose", made, "-m", "chrff")
    assert "unknown task" in refused(capsys, "choose", made, *METRICS, "--task", "verse")
    assert "has a human rating" in refused(capsys, "choose", made, *METRICS, "-c", "taste")
