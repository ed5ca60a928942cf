"""`nlgauge align`: the same numbers as score, in every form."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("torch")

import nlgauge as ng
from nlgauge.cli.main import main

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


def test_an_empty_text_is_shown_not_refused(capsys):
    assert main(["align", "--hyp", "", "--ref", REF]) == 0
    assert "0.000" in capsys.readouterr().out


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


def test_a_seed_that_draws_nothing_is_refused(capsys):
    assert main(["align", "--hyp", HYP, "--ref", REF, "--seed", "3"]) == 2
    assert capsys.readouterr().err.startswith("nlgauge: --seed is about draws, and an alignment draws nothing")
