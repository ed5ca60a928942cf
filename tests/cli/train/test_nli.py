"""`nlgauge train nli`: NLI heads."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from nlgauge.cli.main import main

PAIRS = ['{"premise": "A cat sleeps.", "hypothesis": "An animal rests.", "label": "entailment"}',
         '{"premise": "A cat sleeps.", "hypothesis": "A cat runs.", "label": "Contradiction"}']  # fmt: skip


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(PAIRS) + "\n")
    return path


def test_an_nli_head_is_trained_evaluated_and_named(pairs, tiny_model, tmp_path, capsys):
    pytest.importorskip("peft")
    out = tmp_path / "head.safetensors"
    words = [
        "--model",
        str(tiny_model("bert")),
        "--rank",
        "2",
        "--max-tokens",
        "40",
        "--phenomena",
        "negation, typos",
        "--test",
        str(pairs),
    ]
    assert main(["train", "nli", str(pairs), str(pairs), "-o", str(out), *words]) == 0
    told = capsys.readouterr()
    assert "4 pairs" in told.err  # a file named twice counts twice
    assert told.out.splitlines()[0].split() == ["n", "accuracy", "two-way", "entail", "neutral", "contra"]
    assert told.out.splitlines()[1].split()[0] == "2"
    from nlgauge.models.entailment import locate_nli

    assert locate_nli(str(out)).trained_on == ("negation", "typos")


@pytest.mark.parametrize(
    ("label", "words", "message"),
    [
        ("perhaps", [], "pairs.jsonl:3: label is 'perhaps'"),
        ("neutral", ["--phenomena", "negatio"], "did you mean 'negation'"),
        ("neutral", ["--method", "lore"], "method is 'lore'; did you mean 'lora'"),
        ("neutral", ["--method", "full", "--alpha", "8"], "--alpha is about adapters, and --method full trains none"),
        ("neutral", ["--revision", "main"], "has no revisions; leave revision out"),
        ("neutral", ["--dtype", "float16"], "dtype is float16"),
    ],
)
def test_nli_training_that_cannot_begin_says_why_in_a_line(pairs, tiny_model, tmp_path, capsys, label, words, message):
    pairs.write_text(pairs.read_text() + PAIRS[0].replace("entailment", label) + "\n")
    assert (
        main(
            [
                "train",
                "nli",
                str(pairs),
                "-o",
                str(tmp_path / "h.safetensors"),
                "--model",
                str(tiny_model("bert")),
                *words,
            ]
        )
        == 2
    )
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
    assert [p.name for p in tmp_path.iterdir()] == ["pairs.jsonl"]
