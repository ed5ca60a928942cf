"""`nlgauge meta --plan`: a plan is a file that is written, rated and extended."""

import json

import pytest
from tests.cli.command import run, write

TEXTS = {
    "one": ["the cat sat on the mat", "it rains", "a red house", "dogs bark"],
    "two": ["a cat sat there", "it is raining", "a red house", "the dogs bark"],
    "three": ["a dog", "it rains a lot now", "red", "bark"],
}
REFERENCES = ["the cat sat on a mat", "it is raining", "the red house", "dogs bark"]
RATINGS = {"one": [5, 4, 4, 5], "two": [4, 5, 4, 4], "three": [1, 2, 2, 1]}


def rows():
    return [
        {
            "id": f"{system}-{i}",
            "system": system,
            "seg": str(i),
            "refs": [REFERENCES[i]],
            "hyp": text,
            "human": {"adequacy": RATINGS[system][i], "fluency": 3},
        }
        for system, texts in TEXTS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data.jsonl", rows())


def planned(tmp_path, *arguments):
    return run("meta", tmp_path / "data.jsonl", "-m", "chrf", "--plan", tmp_path / "plan.tsv", *arguments)


def test_a_plan_is_written_rated_and_extended(tmp_path, capsys):
    bare = [{**row, "human": {}} for row in rows()]
    write(tmp_path / "data.jsonl", bare)
    assert planned(tmp_path, "--budget", "50%") == 0
    assert "to rate next" in capsys.readouterr().out
    header, *first = (tmp_path / "plan.tsv").read_text().splitlines()
    assert header.split("\t") == ["seg", "order", "probability", "round", "before"]
    assert [line.split("\t")[1] for line in first] == ["1", "2"]
    items = {line.split("\t")[0] for line in first}
    write(tmp_path / "data.jsonl", [row if row["seg"] in items else {**row, "human": {}} for row in rows()])
    html, result = tmp_path / "page.html", tmp_path / "result.json"
    more = ["-c", "adequacy", "--json", str(result), "--html", str(html), "-q"]
    assert planned(tmp_path, *more, "--budget", "3") == 0
    found = json.loads(result.read_text())
    assert found["kind"] == "plan"
    assert [row["system"] for row in found["rows"] if row.get("rank") == 3] == ["three"]
    assert (tmp_path / "plan.tsv").read_text().splitlines()[3].split("\t")[3] == "2"  # the round of the third item
    assert "Plan of ratings" in html.read_text()
    before = (tmp_path / "plan.tsv").read_bytes()
    assert planned(tmp_path, "-c", "adequacy", "-q") == 0  # without a budget the file is only read
    assert (tmp_path / "plan.tsv").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--budget", "5"], "--budget is about a plan of ratings: name its --plan FILE"),
        (["--plan", "-", "--budget", "5"], "--plan keeps a plan for later runs, expected the name of a file"),
        (["--plan", "p.tsv", "--plan-method", "random"], "none are chosen without --budget"),
        (
            ["--plan", "p.tsv", "--budget", "many", "-c", "adequacy"],
            "the budget is many, expected 1 to 4, the number of items, or a share of them, as 25%",
        ),
        (
            ["--plan", "p.tsv", "--stat", "kendall_b"],
            "--stat is about the agreement of metrics, and --plan ranks systems",
        ),
        (["--plan", "p.tsv", "--test", "auto"], "--test is about the agreement"),
        (["--plan", "p.txt", "--budget", "2"], "cannot tell what to write"),
        (["--plan", "data.jsonl", "--budget", "2"], "would be written over the input"),
        (["--plan", "p.tsv", "--budget", "2", "-c", "adequacy", "-c", "fluency"], "2 criteria are named, expected one"),
    ],
)
def test_refusals_of_plans(data, tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert run("meta", "data.jsonl", "-m", "chrf", *arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "p.tsv").exists()
