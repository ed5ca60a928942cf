"""`nlgauge explain`: texts, files and data; every form; refusals in one line."""

from __future__ import annotations

import json

import pytest

from nlgauge.cli.main import main

HYP, REF = "The cat sat on the hat.", "The cat sat on the mat."
WORDS = ("--method", "words")


def test_marks_stand_in_the_terminal(capsys):
    assert main(["explain", "--hyp", HYP, "--ref", REF, *WORDS]) == 0
    out = capsys.readouterr().out
    assert "score -5\nThe cat sat on the [hat].\n" in out
    assert 'major  19-22  "hat"' in out
    assert "method:words" in out


def test_quietly_there_is_no_signature(capsys):
    assert main(["explain", "--hyp", HYP, "--ref", REF, *WORDS, "-q"]) == 0
    assert "method:words" not in capsys.readouterr().out


def test_every_form_holds_the_spans(tmp_path, capsys):
    paths = {form: tmp_path / f"a.{form}" for form in ("html", "json")}
    rows = tmp_path / "rows.jsonl"
    typed = [str(x) for form, path in paths.items() for x in (f"--{form}", path)]
    assert main(["explain", "--hyp", HYP, "--ref", REF, *WORDS, *typed, "-o", str(rows)]) == 0
    about = {"category": None, "missing": False, "confidence": None}
    span = {"side": "hyp", "start": 19, "end": 22, "severity": "major", **about}
    result = json.loads(paths["json"].read_text())
    assert (result["kind"], result["rows"][0]["spans"]) == ("explain", [span])
    assert json.loads(rows.read_text())["spans"] == [span]
    assert ">hat</mark>" in paths["html"].read_text()
    assert capsys.readouterr().out


def test_json_on_standard_output_stands_there_alone(capsys):
    assert main(["explain", "--hyp", HYP, "--ref", REF, *WORDS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["score"] == -5


def test_files_have_a_text_per_line(tmp_path, capsys):
    hyp, ref = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    hyp.write_text(f"{HYP}\nAll is well.\n")
    ref.write_text(f"{REF}\nAll is well.\n")
    assert main(["explain", "--hyp", str(hyp), "--ref", str(ref), *WORDS]) == 0
    out = capsys.readouterr().out
    assert "[hat]" in out
    assert "2 texts: 1 without a mark" in out
    assert main(["explain", "--hyp", str(hyp), "--ref", REF, *WORDS]) == 2
    assert "expected only files or only texts" in capsys.readouterr().err


def test_data_files_are_read_as_by_other_verbs(tmp_path, capsys):
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": "x", "hyp": HYP, "refs": [REF]}) + "\n")
    assert main(["explain", str(data), *WORDS, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"][0]["id"] == "x"
    assert len(result["inputs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "nothing to explain"),
        (["--ref", REF], "nothing to explain"),
        (["--hyp", HYP], "segment '1' has nothing to be compared with"),
        (["data.jsonl", "--hyp", HYP], "leave one out"),
        (["--hyp", HYP, "--ref", REF, "--method", "magic"], "magic"),
        (["--hyp", HYP, "--ref", REF, "--html", "no/such/folder/a.html"], "cannot write"),
        (["--hyp", HYP, "--ref", REF, "--method", "spans", "--model", "no.safetensors"], "does not exist"),
    ],
)
def test_refusals_are_one_line(capsys, arguments, expected):
    assert main(["explain", *arguments]) == 2
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


def test_evidence_says_of_each_sentence_what_the_source_says(capsys, tmp_path):
    pytest.importorskip("torch")
    texts = ["--hyp", "The cat sat on the mat. Dogs came from Paris.", "--src", "The cat sat on the mat. It rained."]
    assert main(["explain", *texts, "--method", "evidence", "--json", str(tmp_path / "e.json")]) == 0
    (row,) = json.loads((tmp_path / "e.json").read_text())["rows"]
    assert [(span["start"], span["end"], span["category"]) for span in row["spans"]] == [(24, 45, "unsupported")]
    assert [claim["reason"] for claim in row["claims"]] == [None, "not in the source: Paris"]
    assert row["claims"][0]["evidence"] == "The cat sat on the mat."
    capsys.readouterr()
    assert main(["explain", *texts, "--method", "evidence", "-q"]) == 0
    out = capsys.readouterr().out
    assert "[Dogs came from Paris.]" in out
    assert "  24-45  not in the source: Paris\n        source: " in out
    assert main(["explain", *texts, "--method", "evidence", "--against", "ref"]) == 2
    assert "expected src" in capsys.readouterr().err
