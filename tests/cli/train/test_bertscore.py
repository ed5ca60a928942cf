"""`nlgauge train baseline`: baselines that rescaling reads."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("torch")

from tests.cli.command import write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.spec import quote

SENTENCES = [
    "The cat sleeps.",
    "Taxes rise in May.",
    "Bring the blue chair.",
    "Nobody won the race.",
    "Rivers run to the sea.",
    "She repaired the radio.",
]


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("\n".join([*SENTENCES, "word " * 40, ""]) + "\n")
    return path


def test_a_measured_baseline_rescales(texts, tmp_path, capsys):
    out = tmp_path / "b.csv"
    assert main(["train", "baseline", str(texts), "-o", str(out), "--pairs", "20"]) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "LAYER,P,R,F"
    assert [line.split(",")[0] for line in lines[1:]] == [str(i) for i in range(7)]
    raw, spread = f"bertscore:layer=3,baseline={quote(str(out))},rescale=true", "bertscore:layer=3"
    scores = ng.score(["A cat naps."], ["The cat sleeps."], metrics=[raw, spread])
    bound = float(lines[4].split(",")[3])
    assert scores[raw].values[0] == pytest.approx(
        (scores[spread].values[0] - bound) / (1 - bound), abs=1e-6
    )  # float32 vectors


def test_the_seed_makes_the_pairs(texts, tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        main(["train", "baseline", str(texts), "-o", str(tmp_path / name), "--pairs", "5", "--seed", seed, "-q"])
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text()
    assert (tmp_path / "a").read_text() != (tmp_path / "c").read_text()


def test_too_few_sentences(tmp_path, capsys):
    (tmp_path / "one.txt").write_text("Only this.\nOnly this.\n")
    assert main(["train", "baseline", str(tmp_path / "one.txt"), "-o", str(tmp_path / "b.csv")]) == 2
    assert "at least two different sentences" in capsys.readouterr().err
    assert not (tmp_path / "b.csv").exists()


def test_layers_come_with_intervals_as_a_table_and_as_a_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    data = tmp_path / "rated.jsonl"
    rows = [
        {"id": str(i), "hyp": text, "ref": SENTENCES[0], "human": {"quality": rating}}
        for i, (text, rating) in enumerate(zip(SENTENCES, (5, 2, 1, 3, 2, 4), strict=False))
    ]
    write(data, rows)
    assert main(["train", "layers", str(data), "--html", str(tmp_path / "layers.html"), "-w", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r" +0  -?0\.\d\d \[-?\d\.\d\d, -?\d\.\d\d\]", lines[1])
    assert lines[-1].startswith("best: bertscore:layer=")
    assert "bertscore:layer=6" in (tmp_path / "layers.html").read_text()
    assert main(["train", "layers", str(data), "-f", "markdown", "-q"]) == 0
    assert capsys.readouterr().out.count("| bertscore:layer=") == 7


def test_layers_of_several_models_are_one_picture(tmp_path, capsys, monkeypatch, tiny_model):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    data, told, page = tmp_path / "rated.jsonl", tmp_path / "layers.json", tmp_path / "layers.html"
    rows = [
        {"id": str(i), "hyp": text, "ref": SENTENCES[0], "human": {"quality": rating}}
        for i, (text, rating) in enumerate(zip(SENTENCES, (5, 2, 1, 3, 2, 4), strict=False))
    ]
    write(data, rows)
    tiny = str(tiny_model("bert"))
    asked = ["train", "layers", str(data), "--model", "embedded", "--model", tiny, "--json", str(told)]
    assert main([*asked, "--html", str(page)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "embedded"
    assert tiny in lines
    assert [line.startswith("best: bertscore:") for line in lines[-2:]] == [True, True]
    result = json.loads(told.read_text())
    assert {(row["model"], row["layer"]) for row in result["rows"]} == {
        *(("embedded", layer) for layer in range(7)),
        *((tiny, layer) for layer in range(4)),
    }
    assert sum(f"best layer of {model}" in note for note in result["notes"] for model in ("embedded", tiny)) == 2
    html = page.read_text()
    assert html.count("pearson by layer") == 1  # one picture, with two curves of seven and four points
    assert html.count("<title>embedded, layer ") == 7
    assert html.count("<title>") == 1 + 7 + 4
    assert main([*asked, "--revision", "main"]) == 2
    assert "--revision is of one model" in capsys.readouterr().err
