"""`nlgauge select`: numbers of the library, hybrids of others, one line where it cannot be done."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.command import run, write

import nlgauge as ng
from nlgauge.cli.main import main


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


def result_of(tmp_path, *arguments):
    assert run("select", *arguments, "--json", tmp_path / "r.json", "-q") == 0
    return json.loads((tmp_path / "r.json").read_text())


def test_rows_are_the_numbers_of_the_library(data, tmp_path):
    path, scores = data
    result = result_of(tmp_path, path, "--scores", scores, "-c", "q", "--hybrids", 200, "--pool", 10, "--seed", 3)
    from nlgauge.io.scores import read_scores

    expected = ng.select_models(ng.read(path), criterion="q", scores=read_scores(scores), hybrids=200, pool=10, seed=3)
    assert result["kind"] == "select"
    assert [row["value"] for row in result["rows"]] == [row["value"] for row in expected.rows]
    assert [row["stat"] for row in result["rows"][:3]] == ["hits_at_1", "mrr", "diff"]


def test_the_table_has_a_line_a_metric_and_one_for_chance(data, capsys):
    path, scores = data
    assert run("select", path, "--scores", scores, "-c", "q", "--hybrids", 100, "--pool", 5, "--draws", 500) == 0
    out = capsys.readouterr().out
    assert "the best of 5 by each metric, judged by q: 100 models" in out
    assert "(any of the pool)" in out
    assert "hits_at_1 simulated" in out
    assert "100 hybrids of 4 systems on 6 items" in out


@pytest.mark.parametrize("form", ["markdown", "latex", "tsv", "json"])
def test_forms(data, capsys, form):
    path, scores = data
    assert run("select", path, "--scores", scores, "-c", "q", "--hybrids", 50, "--pool", 5, "-f", form) == 0
    assert "hits" in capsys.readouterr().out


def test_hybrids_of_others_are_read_by_name_by_number_and_from_numpy(data, tmp_path):
    path, scores = data
    draws = np.random.default_rng(1).integers(4, size=(30, 6))
    (tmp_path / "numbers.txt").write_text("\n".join(" ".join(map(str, row)) for row in draws) + "\n")
    (tmp_path / "names.txt").write_text("\n".join(" ".join(f"s{s}" for s in row) for row in draws) + "\n")
    np.save(tmp_path / "draws.npy", draws)
    values = [
        [
            row["value"]
            for row in result_of(
                tmp_path, path, "--scores", scores, "-c", "q", "--pool", 5, "--draw-matrix", tmp_path / name
            )["rows"]
        ]
        for name in ("numbers.txt", "names.txt", "draws.npy")
    ]
    assert values[0] == values[1] == values[2]


def test_a_page_and_segments_are_written(data, tmp_path):
    pytest.importorskip("jinja2")
    path, scores = data
    outputs = "--html", tmp_path / "r.html", "--segments", tmp_path / "s.jsonl"
    assert run("select", path, "--scores", scores, "-c", "q", "--hybrids", 50, "--pool", 5, *outputs) == 0
    assert "hits_at_1" in (tmp_path / "r.html").read_text()
    assert len((tmp_path / "s.jsonl").read_text().splitlines()) == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-c", "q", "--hybrids", 3], "the pool is 100 models, and there are 3 hybrids"),
        (["-c", "q", "--hybrids", 0], "the pool is 100 models, and there are 4 systems"),
        ([], "2 criteria (q, other)"),
        (["-c", "p"], "no segment"),
        (["-c", "q", "--among", "rate"], "among is 'rate'"),
    ],
)
def test_what_cannot_be_done_is_one_line(data, capsys, arguments, message):
    path, scores = data
    assert run("select", path, "--scores", scores, *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_ragged_matrix_is_refused_with_its_line(data, tmp_path, capsys):
    path, scores = data
    (tmp_path / "d.txt").write_text("0 1 2 3 0 1\n0 1\n")
    assert run("select", path, "--scores", scores, "-c", "q", "--draw-matrix", tmp_path / "d.txt") == 2
    assert "2 systems, expected 6 as in the first line" in capsys.readouterr().err


def test_a_file_that_is_no_array_is_refused(data, tmp_path, capsys):
    path, scores = data
    (tmp_path / "d.npy").write_bytes(b"nothing")
    assert run("select", path, "--scores", scores, "-c", "q", "--draw-matrix", tmp_path / "d.npy") == 2
    assert "no matrix of numpy" in capsys.readouterr().err


def test_a_seed_that_draws_nothing_is_refused(capsys):
    assert main(["select", "nowhere.jsonl", "-m", "chrf", "--hybrids", "0", "--pool", "2", "--seed", "1"]) == 2
    assert capsys.readouterr().err.startswith("nlgauge: --seed is about draws: name --hybrids or --draws as well")


@pytest.mark.parametrize("text", ["² 1\n", "9" * 30 + " 1\n", "A -\n"])
def test_hybrids_that_are_no_numbers_of_64_bits_are_names(tmp_path, text):
    from nlgauge.cli.select import read_draws

    (tmp_path / "draws.txt").write_text(text, encoding="utf-8")
    matrix, _ = read_draws(str(tmp_path / "draws.txt"))
    assert matrix.tolist() == [text.split()]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00\x04\x00{'a\n",
        b"\x93NUMPY\x01\x00\x03\x00[]\n",
        b"\x93NUMPY\x01\x00\x3b\x00{'descr': 1, 'fortran_order': False, 'shape': (2,), }      \n",
        b"PK\x05\x06" + bytes(18),
    ],
)
def test_a_damaged_matrix_is_told_in_one_line(tmp_path, content):
    from nlgauge.cli.select import read_draws

    path = tmp_path / "draws.npy"
    path.write_bytes(content)
    with pytest.raises(ng.InputError, match=r"draws\.npy: (no matrix of numpy \(.+\)|an archive)") as told:
        read_draws(str(path))
    assert "\n" not in str(told.value)
