"""`nlgauge train blend` and `train beer`: from rated texts to a metric, and what cannot begin told in a line."""

import json

import pytest
from tests.cli.command import run, write

import nlgauge as ng

REFERENCE = "the cat sat on the mat while rain fell"


@pytest.fixture
def rated(tmp_path):
    path = tmp_path / "rated.jsonl"
    words = REFERENCE.split()
    rows = [
        {"id": f"{i}.{k}", "seg": f"{i}", "hyp": " ".join(words[k + i % 2 :]), "refs": [REFERENCE], "human": {"da": -k}}
        for i in range(4)
        for k in range(4)
    ]
    return write(path, rows)


@pytest.fixture(autouse=True)
def no_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))


def test_ratings_become_a_blend(rated, tmp_path, capsys):
    out = tmp_path / "blend.json"
    assert run("train", "blend", rated, "-m", "chrf,ter", "-o", out, "-c", "da", "--data", "made up") == 0
    told = capsys.readouterr().out
    assert told.startswith("metric  weight")
    assert "16 segments; strength " in told
    assert json.loads(out.read_text())["data"] == "made up"
    assert run("meta", rated, "-m", f'blend:model="{out}"', "-c", "da", "--no-cache") == 0
    assert "trained on human ratings (made up); agreement with ratings of the same texts" in capsys.readouterr().out
    assert run("train", "blend", rated, "-m", "chrf", "-o", out, "-q") == 0
    assert capsys.readouterr().out == ""


def test_ratings_become_a_ranker_of_several_files(rated, tmp_path, capsys):
    out, again = tmp_path / "beer.json", tmp_path / "again.jsonl"
    again.write_text(rated.read_text())  # the same names of inputs, which stay apart
    assert run("train", "beer", rated, again, "-o", out) == 0
    assert capsys.readouterr().out == "48 pairs; 100.0 % of them in the right order\n"
    (scores,) = ng.score([REFERENCE, "the dog"], [REFERENCE] * 2, metrics=[f'beer:model="{out}"']).values()
    assert scores.values[0] > scores.values[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train blend rated.jsonl -m chrff -o x.json", "unknown metric 'chrff'"),
        ("train blend rated.jsonl -m chrf -o x.json -c fluency", "is rated for 'fluency'"),
        ("train blend rated.jsonl -m chrf -o rated.jsonl", "would be written over the input"),
        ("train blend rated.jsonl -m comet -o x.json", "comet needs the option 'model'"),
        ("train beer rated.jsonl -o no/x.json", "no/x.json"),
        ("train beer rated.jsonl -o x.json --within pair", "--within"),
    ],
)
def test_what_cannot_begin_is_told_in_a_line(rated, words, message, monkeypatch, capsys):
    monkeypatch.chdir(rated.parent)
    assert run(*words.split()) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert not (rated.parent / "x.json").exists()


def test_files_rated_for_different_criteria_are_all_named(rated, tmp_path):
    out, other = tmp_path / "beer.json", tmp_path / "other.jsonl"
    other.write_text(rated.read_text().replace('"da"', '"fluency"'))
    assert run("train", "beer", rated, other, "-o", out, "-q") == 0
    assert json.loads(out.read_text())["criterion"] == "da, fluency"
