"""Names of files that no file can have: each is refused in one line, whichever option or specification holds it."""

from __future__ import annotations

import json

import pytest

from nlgauge.cli.main import main

LONG = "x" * 300  # a name has at most 255 bytes on the file systems of today
COMMANDS = [
    "score {} -m chrf", "score --hyp {} --ref {} -m chrf", "score d.jsonl -m chrf --json {}",
    "score d.jsonl -m chrf --html {}", "score d.jsonl -m chrf --segments {}.tsv",
    "score d.jsonl -m chrf --thresholds {}", "score d.jsonl -m chrf --engine pool -o {}", "list runs {}",
    "list runs {} --total", "report {} -o x.html", "meta {} -m chrf", "meta d.jsonl --scores {}",
    "meta d.jsonl -m chrf --pairs {}", "audit {} -m chrf", "audit --suite {} -m chrf",
    "synth {} -o y.jsonl", "synth d.txt -o {}", "perturb {} -o x",
    "fetch {}", "train nli {} -o x", "train blend d.jsonl -m chrf -o {}",
    "train sescore d.jsonl --model {} -o x", "train ruber {} -o x",
]  # fmt: skip
SPECS = [
    "comet:model={}", "comet-qe:model={}", "bleurt:model={}", "metricx:model={}", "meteor15:jar={}", "spice:jar={}",
    "blend:model={}",
    "beer:model={}", "ruber:model={}", "nli:model={}", "nli:model={}.safetensors", "bertscore:model={}",
    "bertscore:model=/a/{}", "bertscore:idf_file={}", "bertscore:baseline={},rescale=true", "greedy:vectors={}",
    "moverscore:stopwords={}", "meteor:wordnet={}", "bartscore:model={}", "scores:file={},column=x", "{}", "{}:f",
]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    row = {"id": "1", "system": "a", "seg": "1", "hyp": "a cat", "refs": ["a cat sat"], "human": {"q": 1}}
    (tmp_path / "d.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "d.txt").write_text("A cat sat.\n")


@pytest.mark.parametrize("command", [*COMMANDS, *(f"score d.jsonl -m {spec}" for spec in SPECS)])
def test_a_name_that_is_too_long_for_a_file_is_one_line(command, capsys):
    if "nli" in command or "sescore" in command or "model" in command or "synth" in command:
        pytest.importorskip("torch")
    code = main(command.replace("{}", LONG).split())
    said = capsys.readouterr().err
    assert (code, said.count("\n")) == (2, 1), said
    assert said.startswith("nlgauge: ")
