"""`nlgauge report`: one page of several results, and one line where a file is none."""

from __future__ import annotations

import io

import pytest

pytest.importorskip("jinja2")

from nlgauge.cli.main import main
from nlgauge.cli.report import _joined
from nlgauge.core.result import Result
from nlgauge.io.scores import write_beside
from nlgauge.report.bundle import bundle_html

METRIC = {"spec": "m", "signature": "metric:m", "higher_is_better": True, "flags": {}}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = {}
    for name in ("a.json", "b.json"):
        row = {"system": name, "metric": "m", "value": 1.0, "low": None, "high": None, "n": 1, "n_undefined": 0}
        results[name] = Result("score", [row], (), [METRIC], [])
        results[name].write(name)
    return results


def test_the_page_is_what_the_library_makes(files, tmp_path):
    assert main(["report", *files, "-o", "report.html", "--title", "Two"]) == 0
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == bundle_html(files, "Two")
    first = (tmp_path / "report.html").read_bytes()
    assert main(["report", *files, "-o", "report.html", "--title", "Two"]) == 0
    assert (tmp_path / "report.html").read_bytes() == first


def test_a_dash_prints_the_page(files, capfdbinary):
    assert main(["report", "a.json", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.decode() == bundle_html({"a.json": files["a.json"]})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("a.json a.json -o r.html", "a.json is given twice, expected each result once"),
        ("a.json c.json -o r.html", "c.json is the same as a.json, expected each result once"),
        ("a.json texts.txt -o r.html", "texts.txt is no result of nlgauge, expected what --json writes"),
        ("a.json missing.json -o r.html", "missing.json: no such file"),
        ("a.json -o a.json", "--output a.json would be written over the input a.json; name another file"),
        ("a.json", "Missing option '--output'"),
    ],
)
def test_what_cannot_be_shown_is_refused_and_leaves_nothing(files, tmp_path, capsys, typed, said):
    (tmp_path / "texts.txt").write_text("some text\n")
    (tmp_path / "c.json").write_bytes((tmp_path / "a.json").read_bytes())
    assert main(["report", *typed.split()]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "r.html").exists()


def test_rows_of_segments_come_with_their_ratings(files, tmp_path, capsys):
    (tmp_path / "rows.tsv").write_text("id\tseg\tsystem\tm\thuman.q\na\t1\ts\t0.5\t1\nb\t2\ts\t0.75\t2\n")
    (tmp_path / "d.jsonl").write_text('{"id": "a", "hyp": "x", "ref": "y"}\n')
    assert main("report a.json -o r.html --segments rows.tsv --data d.jsonl".split()) == 0
    assert "m and q" in (tmp_path / "r.html").read_text()
    assert main("report a.json -o r.html --data d.jsonl".split()) == 2
    assert "--data holds the texts of segments, and no segments are given" in capsys.readouterr().err


def test_rows_beside_a_result_are_taken_if_a_verb_wrote_them(files, tmp_path):
    rows = tmp_path / "a.tsv"
    rows.write_text("id\tseg\tsystem\tm\tn\na\t1\ts\t0.5\t1\nb\t2\ts\t0.75\t2\n")
    assert main("report a.json -o r.html".split()) == 0
    assert "#segments" not in (tmp_path / "r.html").read_text()
    write_beside(rows, [METRIC, {**METRIC, "spec": "n"}])
    assert main("report a.json -o r.html".split()) == 0
    assert "How scores correlate" in (tmp_path / "r.html").read_text()


def test_a_result_may_come_from_a_pipe(files, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "a.json").read_bytes())))
    assert main("report - b.json -o r.html".split()) == 0
    assert "a.json" in (tmp_path / "r.html").read_text()  # the name of its system


def test_ratings_of_a_table_of_their_own_stand_on_the_page(files, tmp_path, capsys):
    (tmp_path / "rows.tsv").write_text("id\tseg\tsystem\tm\nA:1\t1\tA\t0.5\nB:1\t1\tB\t0.75\n")
    (tmp_path / "ratings.csv").write_text("item,system,annotator,q\n1,A,ann,1\n1,A,bob,2\n1,B,ann,4\n")
    for system in "AB":
        (tmp_path / f"{system}.jsonl").write_text(f'{{"id": "1", "hyp": "text of {system}"}}\n')
    assert main("report a.json -o r.html --judgements ratings.csv".split()) == 2
    assert "--judgements holds ratings of segments, and no segments are given" in capsys.readouterr().err
    typed = "report a.json -o r.html --segments rows.tsv --judgements ratings.csv --data A.jsonl --data B.jsonl"
    assert main(typed.split()) == 0
    assert "m and q" in (tmp_path / "r.html").read_text()
    joined = _joined(["rows.tsv"], ["A.jsonl", "B.jsonl"], "ratings.csv")  # systems in several files, as score has them
    assert [segment.hypothesis for segment in joined.known] == ["text of A", "text of B"]
    assert joined.columns["human.q"].tolist() == [1.5, 4.0]


def test_texts_of_other_segments_are_refused(files, tmp_path, capsys):
    (tmp_path / "rows.tsv").write_text("id\tseg\tsystem\tm\na\t1\ts\t0.5\n")
    (tmp_path / "others.jsonl").write_text('{"id": "b", "hyp": "x"}\n')
    assert main("report a.json -o r.html --segments rows.tsv --data others.jsonl".split()) == 2
    assert (
        "no text is about a segment of rows.tsv, whose first is 'a'; the first here is 'b'" in capsys.readouterr().err
    )
    assert not (tmp_path / "r.html").exists()


def test_rows_of_an_audit_stand_beside_the_segments(files, tmp_path, capsys):
    (tmp_path / "rows.tsv").write_text("id\tseg\tsystem\tm\na\t1\ts\t0.5\nb\t2\ts\t0.75\n")
    pairs = "id\tphenomenon\tbetter\tworse\tm.better\tm.worse\tm.won\n"
    (tmp_path / "audit.tsv").write_text(f"{pairs}a/x\ttypos\tone\ttwo\t1\t2\t0\nz/x\ttypos\tone\ttwo\t1\t2\t0\n")
    assert main("report a.json -o r.html --segments rows.tsv --segments audit.tsv".split()) == 0
    assert "1 pairs of the audits are about other texts" in (tmp_path / "r.html").read_text()
    assert main("report a.json -o r.html --segments audit.tsv".split()) == 2
    assert "audit.tsv holds pairs of an audit alone, expected scores of segments, too" in capsys.readouterr().err
