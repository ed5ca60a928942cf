"""`nlgauge train ruber`: from dialogues to a scorer that tells replies from replies to other queries."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

from tests.cli.command import write

import nlgauge as ng
from nlgauge.cli.main import main

DIALOGUES = [
    ("is it heavy rain", "rain fell today"),
    ("where is the cat", "the cat sat on the mat"),
    ("where is the dog", "a dog lay on the rug"),
    ("good morning", "good morning today"),
    ("is it snow", "heavy snow fell"),
    ("not today", "not good"),
]
HOW = "--widths 16 --epochs 60 --batch-size 6 --learning-rate 0.01 --held-out 0 --dropout 0 --dtype float32 --quiet"


@pytest.fixture
def dialogues(tmp_path):
    path = tmp_path / "dialogues.jsonl"
    rows = [
        {"hyp": reply, "src": query, "context": [{"speaker": "A", "text": "a"}, {"speaker": "B", "text": query}]}
        for query, reply in DIALOGUES
    ]
    return write(path, rows)


@pytest.mark.parametrize("anchor", [[], ["--anchor", "source"]])
def test_dialogues_become_a_scorer_of_replies(dialogues, tiny_model, tmp_path, anchor):
    out, encoder = tmp_path / "related.safetensors", str(tiny_model("bert"))
    words = ["train", "ruber", dialogues, "-o", out, "--model", encoder, "--negatives", "3", *HOW.split(), *anchor]
    assert main([str(word) for word in words]) == 0
    metric = ng.metric("ruber", model=str(out), encoder=encoder, norm="none", anchor="source", dtype="float32")
    segments = [
        ng.Segment(f"{i} {j}", reply, (DIALOGUES[i][1],), source=query)
        for i, (query, _) in enumerate(DIALOGUES)
        for j, (_, reply) in enumerate(DIALOGUES)
    ]
    related = metric.score(segments, ng.Runtime(device="cpu")).parts["unreferenced"].reshape(6, 6)
    assert (related.argmax(axis=1) == np.arange(6)).mean() > 0.5  # by chance 1 in 6


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--anchor", "source", "--turns", "2"], "--turns is about contexts, and --anchor source reads none"),
        (["--anchor", "reply"], "--anchor is 'reply', expected context or source"),
        (["--method", "none"], "--method is 'none'; known: frozen, full, lora"),
    ],
)
def test_what_cannot_begin_is_told_in_a_line(dialogues, tmp_path, capsys, words, message):
    out = tmp_path / "related.safetensors"
    assert main(["train", "ruber", str(dialogues), "-o", str(out), *words]) == 2
    assert message in capsys.readouterr().err
    assert not out.exists()
