"""`nlgauge select`: numbers of the library, hybrids of others, one line where it cannot be done."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.command import run, write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.metaeval.sweep import sweep


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for s in range(4):
        for i in range(6):
            z = float(rng.normal() + s)
            lines.append(
                {
                    "id": f"{s}.{i}",
                    "system": f"s{s}",
                    "seg": str(i),
                    "hyp": "x",
                    "ref": "y",
                    "human": {"q": z, "other": -z},
                }
            )
    path = tmp_path / "data.jsonl"
    write(path, lines)
    scores = tmp_path / "scores.tsv"
    scores.write_text("id\tm\n" + "".join(f"{line['id']}\t{line['human']['q'] + rng.normal()}\n" for line in lines))
    return path, scores


def scored(path):
    return "-m", f'scores:file="{path}",column=m'


def result_of(tmp_path, *arguments):
    assert run("select", *arguments, "--json", tmp_path / "r.json", "-q") == 0
    return json.loads((tmp_path / "r.json").read_text())


def test_rows_are_the_numbers_of_the_library(data, tmp_path):
    path, scores = data
    result = result_of(tmp_path, path, *scored(scores), "-c", "q", "--hybrids", 200, "--pool", 10, "--seed", 3)
    from nlgauge.io.scores import read_scores

    # the file as a table of scores gives the numbers of the file as a metric
    expected = ng.select_models(ng.read(path), criterion="q", scores=read_scores(scores), hybrids=200, pool=10, seed=3)
    assert result["kind"] == "select"
    assert [row["value"] for row in result["rows"]] == [row["value"] for row in expected.rows]
    assert [row["stat"] for row in result["rows"][:3]] == ["hits_at_1", "mrr", "diff"]


def test_the_table_has_a_line_a_metric_and_one_for_chance(data, capsys):
    path, scores = data
    assert run("select", path, *scored(scores), "-c", "q", "--hybrids", 100, "--pool", 5, "--draws", 500) == 0
    out = capsys.readouterr().out
    assert "the best of 5 by each metric, judged by q: 100 models" in out
    assert "(any of the pool)" in out
    assert "hits_at_1 simulated" in out
    assert "100 hybrids of 4 systems on 6 items" in out


def test_a_page_and_segments_are_written(data, tmp_path):
    pytest.importorskip("jinja2")
    path, scores = data
    outputs = "--html", tmp_path / "r.html", "--segments", tmp_path / "s.jsonl"
    assert run("select", path, *scored(scores), "-c", "q", "--hybrids", 50, "--pool", 5, *outputs) == 0
    assert "hits_at_1" in (tmp_path / "r.html").read_text()
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "2 criteria (q, other)"),
        (["-c", "p"], "no segment"),
        (["-c", "q", "-c", "other"], "2 criteria (q, other), expected one"),
        (["-c", "q", "--scores", "s.tsv"], "--scores is now a metric: -m scores:file=FILE,column=NAME"),
        (["-c", "q", "--among", "rate"], "--among is now always of rated outputs, and not typed"),
    ],
)
def test_what_cannot_be_done_is_one_line(data, capsys, arguments, message):
    path, scores = data
    assert run("select", path, *scored(scores), *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_seed_that_draws_nothing_is_refused(capsys):
    assert main(["select", "nowhere.jsonl", "-m", "chrf", "--hybrids", "0", "--pool", "2", "--seed", "1"]) == 2
    assert capsys.readouterr().err.startswith("nlgauge: --seed is about draws: name --hybrids or --draws as well")


# --- `nlgauge sweep`: numbers of the library, a page and a result that stand alone, one line where it cannot be done

WORDS = ["rain", "snow", "wind", "sun", "cloud", "storm", "fog", "hail"]


@pytest.fixture
def sweep_data(tmp_path):
    rng = np.random.default_rng(0)
    rows = []
    for i in range(12):
        ref = [str(w) for w in rng.permutation(WORDS)[:6]]
        wrong = i % 5
        hyp = " ".join(ref[: 6 - wrong] + ["x"] * wrong)
        rows.append({"id": str(i), "hyp": hyp, "ref": " ".join(ref), "human": {"q": float(-wrong + rng.normal())}})
    return write(tmp_path / "data.jsonl", rows)


@pytest.fixture
def suite(tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for i in range(8):
        ref = [str(w) for w in rng.permutation(WORDS)[:6]]
        turn = i % 4 + 1
        rows.append(
            {
                "id": str(i),
                "phenomenon": "negation",
                "ref": " ".join(ref),
                "better": " ".join(ref[turn:] + ref[:turn]),
                "worse": " ".join(["no"] * (i % 3 + 1) + ref[i % 3 + 1 :]),
            }
        )
    return write(tmp_path / "suite.jsonl", rows)


def test_the_numbers_are_those_of_the_library(sweep_data, suite, tmp_path):
    assert (
        run(
            "sweep",
            sweep_data,
            "--suite",
            suite,
            "-m",
            "chrf",
            "--with",
            "bleu",
            "--weights",
            "0:1:0.5",
            "--json",
            tmp_path / "r.json",
            "-q",
        )
        == 0
    )
    written = json.loads((tmp_path / "r.json").read_text())
    found = sweep(ng.read(sweep_data), ng.read_suite(suite), "chrf", "bleu", [0, 0.5, 1])
    assert written["kind"] == "sweep"
    assert [row["weight"] for row in written["rows"]] == [row["weight"] for row in found.rows]
    numbers = ("correlation", "accuracy", "gain")
    assert [[row[n] for n in numbers] for row in written["rows"]] == [
        [None if row[n] != row[n] else row[n] for n in numbers] for row in found.rows
    ]
    assert [entry["path"] for entry in written["inputs"]] == [str(sweep_data), str(suite)]
    assert [entry["spec"] for entry in written["metrics"]] == ["chrf", "bleu"]


def test_a_table_the_best_weight_signatures_and_notes(sweep_data, suite, capsys):
    assert run("sweep", sweep_data, "--suite", suite, "-m", "chrf", "--with", "bleu", "-f", "markdown") == 0
    shown = capsys.readouterr().out
    assert "accuracy under attack" in shown
    assert "chrf with bleu: " in shown
    assert "metric:chrf|" in shown
    assert "scores are scaled" in shown


def test_several_data_sets_suites_and_metrics(sweep_data, suite, tmp_path, capsys):
    more, other = tmp_path / "more.jsonl", tmp_path / "other.jsonl"
    more.write_text(sweep_data.read_text())
    other.write_text(suite.read_text())
    assert (
        run(
            "sweep",
            sweep_data,
            more,
            "--suite",
            suite,
            "--suite",
            other,
            "-m",
            "chrf",
            "-m",
            "ter",
            "--with",
            "bleu",
            "--with",
            "rougeL",
            "-q",
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "means over 2 data sets and 2 suites" in shown
    assert "mean of all with other metrics: " in shown


def test_a_page(sweep_data, suite, tmp_path):
    assert (
        run("sweep", sweep_data, "--suite", suite, "-m", "chrf", "--with", "bleu", "--html", tmp_path / "p.html", "-q")
        == 0
    )
    page = (tmp_path / "p.html").read_text()
    assert "<svg" in page
    assert "Gains by weight" in page


def test_ratings_from_a_table_of_their_own(sweep_data, suite, tmp_path, capsys):
    table = tmp_path / "ratings.tsv"
    table.write_text("id\tfluency\n" + "".join(f"{i}\t{i % 3}\n" for i in range(12)))
    arguments = ["--suite", suite, "-m", "chrf", "--with", "bleu", "--judgements", table, "-c", "fluency", "-q"]
    assert run("sweep", sweep_data, *arguments) == 0
    assert "pearson with fluency" in capsys.readouterr().out
    assert run("sweep", sweep_data, sweep_data, *arguments) == 2
    assert "--judgements goes with one data set" in capsys.readouterr().err


def test_pooling_strategies(sweep_data, suite, tmp_path, capsys, tiny_nli):
    spec = f'nli:model="{tiny_nli("bert")}"'
    arguments = ["-m", spec, "--with", "pooling", "--json", tmp_path / "r.json", "--html", tmp_path / "p.html", "-q"]
    assert run("sweep", sweep_data, "--suite", suite, *arguments) == 0
    shown = capsys.readouterr().out
    assert "how often each is the best of 1" in shown
    assert "chosen without the set" in shown
    assert len([row for row in json.loads((tmp_path / "r.json").read_text())["rows"] if row["table"] == "values"]) == 30
    page = (tmp_path / "p.html").read_text()
    assert "How often each strategy wins" in page
    assert "Chosen without the set" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["DATA", "--suite", "SUITE", "--with", "bleu"], "-m names what is to be made better"),
        (["DATA", "--suite", "SUITE", "-m", "chrf"], "expected --with SPEC"),
        (["DATA", "-m", "chrf", "--with", "bleu"], "expected --suite FILE"),
        (["DATA", "--suite", "menli", "-m", "chrf", "--with", "bleu"], "names a recipe"),
        (["DATA", "--suite", "none.jsonl", "-m", "chrf", "--with", "bleu"], "none.jsonl"),
        (["none.jsonl", "--suite", "SUITE", "-m", "chrf", "--with", "bleu"], "none.jsonl"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "blue"], "did you mean 'bleu'"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "chrf"], "nothing to be mixed with but itself"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu", "--weights", "0:2:1"], "expected from:to:step"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu", "--norm", "max"], "--norm is now always minmax"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu", "--stat", "pearsn"], "pearson"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu", "-c", "quality"], "quality"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu", "-f", "docx"], "docx"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu", "--json", "SUITE"], "would be written over"),
        (["DATA", "DATA", "--suite", "SUITE", "-m", "chrf", "--with", "bleu"], "is given twice"),
        (["DATA", "--suite", "SUITE", "-m", "chrf", "--with", "pooling"], "chrf is no nli metric"),
        (["DATA", "--suite", "SUITE", "--pooling"], "--pooling is now --with pooling, and -m names the nli metrics"),
        (["DATA", "-m", "nli", "--with", "pooling", "--weights", "0:1:0.1"], "and --with pooling mixes none"),
        (["DATA", "-m", "nli", "--with", "pooling", "--with", "bleu"], "pooling stands alone, got pooling, bleu"),
        ([], "DATA"),
    ],
)
def test_sweep_what_cannot_be_done_is_one_line(sweep_data, suite, capsys, arguments, message):
    assert run("sweep", *({"DATA": sweep_data, "SUITE": suite}.get(a, a) for a in arguments)) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["-m", "nli", "--with", "pooling", "--seed", "1"], "--seed is about mixing metrics, and")],
)
def test_options_without_effect_are_refused_before_anything_is_read(capsys, arguments, message):
    assert main(["sweep", "nowhere.jsonl", "--suite", "no.jsonl", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"nlgauge: {message}")
