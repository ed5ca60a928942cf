"""`nlgauge align`: the same numbers as score, in every form."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

import nlgauge as ng
from nlgauge.cli.main import main

pytest.importorskip("torch")


HYP, REF = "The weather is freezing today.", "It is cold today."


def test_every_form_holds_the_metric_s_numbers(tmp_path, capsys):
    paths = {form: tmp_path / f"a.{form}" for form in ("svg", "html", "json")}
    assert (
        main(
            [
                "align",
                "--hyp",
                HYP,
                "--ref",
                REF,
                *(str(x) for form, path in paths.items() for x in (f"--{form}", path)),
            ]
        )
        == 0
    )
    value = ng.score([HYP], [REF], metrics=["bertscore"])["bertscore"].values[0]
    assert f"{value:.3f}" in capsys.readouterr().out
    ET.parse(paths["svg"])
    assert "freezing" in paths["html"].read_text()
    result = json.loads(paths["json"].read_text())
    assert result["kind"] == "align"
    assert {row["part"]: row["value"] for row in result["rows"][:3]}["f1"] == pytest.approx(
        value, abs=1e-6
    )  # encoded alone or in a batch
    words = [row for row in result["rows"] if row["side"] == "hypothesis"]
    assert [row["word"] for row in words] == ["The", "weather", "is", "freezing", "today", "."]
    assert sum(row["weight"] for row in words) == pytest.approx(1)
    assert words[4]["matched"] == "today"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["-m", "chrf"], "matches no tokens"),
        (["-m", "bertscore:idf=true"], "idf_file=PATH"),
        (["-m", "bertscore:layer=9"], "layers 0 to 6"),
        (["--svg", "no/such/folder/a.svg"], "cannot write"),
    ],
)
def test_refusals_are_one_line(capsys, arguments, expected):
    assert main(["align", "--hyp", HYP, "--ref", REF, *arguments]) == 2
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["--hyp", "--ref"])
def test_a_file_in_place_of_a_text_is_refused_with_what_to_write(tmp_path, capsys, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.txt").write_text("one text\n")
    other = "--ref" if option == "--hyp" else "--hyp"
    assert main(["align", option, "one.txt", other, "a text"]) == 2
    assert f'{option} one.txt is a file, expected the text itself; for its first line write {option} "$(head -n 1' in (
        capsys.readouterr().err
    )


def test_a_picture_on_standard_output_stands_there_alone(capsys):
    assert main(["align", "--hyp", HYP, "--ref", REF, "--svg", "-"]) == 0
    assert ET.fromstring(capsys.readouterr().out).tag.endswith("svg")


def test_quiet_prints_the_three_numbers_alone(capsys):
    assert main(["align", "--hyp", HYP, "--ref", REF, "-q"]) == 0
    parts = ng.score([HYP], [REF], metrics=["bertscore"])["bertscore"].parts
    expected = [parts[name][0] for name in ("precision", "recall", "f1")]
    assert [float(number) for number in capsys.readouterr().out.split()] == pytest.approx(expected, abs=1e-4)


# --- `nlgauge explain`: texts, files and data; every form; refusals in one line

EXPLAIN_HYP, EXPLAIN_REF = "The cat sat on the hat.", "The cat sat on the mat."
WORDS = ("--method", "words")


def test_marks_stand_in_the_terminal(capsys):
    assert main(["explain", "--hyp", EXPLAIN_HYP, "--ref", EXPLAIN_REF, *WORDS]) == 0
    out = capsys.readouterr().out
    assert "score -5\nThe cat sat on the [hat].\n" in out
    assert 'major  19-22  "hat"' in out
    assert "method:words" in out


def test_every_form_holds_the_spans(tmp_path, capsys):
    paths = {form: tmp_path / f"a.{form}" for form in ("html", "json")}
    rows = tmp_path / "rows.jsonl"
    typed = [str(x) for form, path in paths.items() for x in (f"--{form}", path)]
    assert main(["explain", "--hyp", EXPLAIN_HYP, "--ref", EXPLAIN_REF, *WORDS, *typed, "-o", str(rows)]) == 0
    about = {"category": None, "missing": False, "confidence": None}
    span = {"side": "hyp", "start": 19, "end": 22, "severity": "major", **about}
    result = json.loads(paths["json"].read_text())
    assert (result["kind"], result["rows"][0]["spans"]) == ("explain", [span])
    assert json.loads(rows.read_text())["spans"] == [span]
    assert ">hat</mark>" in paths["html"].read_text()
    assert capsys.readouterr().out


def test_json_on_standard_output_stands_there_alone(capsys):
    assert main(["explain", "--hyp", EXPLAIN_HYP, "--ref", EXPLAIN_REF, *WORDS, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["score"] == -5


def test_files_have_a_text_per_line(tmp_path, capsys):
    hyp, ref = tmp_path / "hyp.txt", tmp_path / "ref.txt"
    hyp.write_text(f"{EXPLAIN_HYP}\nAll is well.\n")
    ref.write_text(f"{EXPLAIN_REF}\nAll is well.\n")
    assert main(["explain", "--hyp", str(hyp), "--ref", str(ref), *WORDS]) == 0
    out = capsys.readouterr().out
    assert "[hat]" in out
    assert "2 texts: 1 without a mark" in out
    assert main(["explain", "--hyp", str(hyp), "--ref", EXPLAIN_REF, *WORDS]) == 2
    assert "expected only files or only texts" in capsys.readouterr().err


def test_data_files_are_read_as_by_other_verbs(tmp_path, capsys):
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": "x", "hyp": EXPLAIN_HYP, "refs": [EXPLAIN_REF]}) + "\n")
    assert main(["explain", str(data), *WORDS, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"][0]["id"] == "x"
    assert len(result["inputs"]) == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "nothing to explain"),
        (["--ref", EXPLAIN_REF], "nothing to explain"),
        (["--hyp", EXPLAIN_HYP], "segment '1' has nothing to be compared with"),
        (["data.jsonl", "--hyp", EXPLAIN_HYP], "leave one out"),
        (["--hyp", EXPLAIN_HYP, "--ref", EXPLAIN_REF, "--method", "magic"], "magic"),
        (["--hyp", EXPLAIN_HYP, "--ref", EXPLAIN_REF, "--html", "no/such/folder/a.html"], "cannot write"),
    ],
)
def test_explain_refusals_are_one_line(capsys, arguments, expected):
    assert main(["explain", *arguments]) == 2
    err = capsys.readouterr().err
    assert expected in err
    assert err.count("\n") == 1


def test_evidence_says_of_each_sentence_what_the_source_says(capsys, tmp_path):
    pytest.importorskip("torch")
    texts = ["--hyp", "The cat sat on the mat. Dogs came from Paris.", "--src", "The cat sat on the mat. It rained."]
    assert main(["explain", *texts, "--method", "evidence", "--json", str(tmp_path / "e.json"), "-q"]) == 0
    (row,) = json.loads((tmp_path / "e.json").read_text())["rows"]
    assert [(span["start"], span["end"], span["category"]) for span in row["spans"]] == [(24, 45, "unsupported")]
    assert [claim["reason"] for claim in row["claims"]] == [None, "not in the source: Paris"]
    assert row["claims"][0]["evidence"] == "The cat sat on the mat."
    out = capsys.readouterr().out
    assert "[Dogs came from Paris.]" in out
    assert "  24-45  not in the source: Paris\n        source: " in out
    assert main(["explain", *texts, "--method", "evidence", "--against", "ref"]) == 2
    assert "expected src" in capsys.readouterr().err


def test_evidence_stays_in_the_cache_and_takes_an_encoder(capsys, tmp_path, monkeypatch):
    texts = ["--hyp", "Dogs came from Paris.", "--src", "The cat sat on the mat. It rained.", "--method", "evidence"]
    kept = ["--cache", str(tmp_path)]
    assert main(["explain", *texts, *kept]) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr("nlgauge.metrics.faithful.Faithful._judged", None)  # no model is asked again
    assert main(["explain", *texts, *kept, "--encoder", "embedded"]) == 0
    assert capsys.readouterr().out == first
    assert main(["explain", *texts, *kept, "--no-cache"]) == 2
    assert "choose one" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"), [(("--encoder", "base"), "--encoder is about models that method evidence asks")]
)
def test_options_that_would_change_no_mark_are_refused(capsys, option, message):
    assert main(["explain", "--hyp", EXPLAIN_HYP, "--ref", EXPLAIN_REF, *option]) == 2
    assert message in capsys.readouterr().err
