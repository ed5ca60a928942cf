"""`nlgauge train`: baselines that rescaling reads, and NLI heads."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import nlgauge as ng
from nlgauge.cli.main import main

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
    raw, spread = f"bertscore:layer=3,baseline={out},rescale=true", "bertscore:layer=3"
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
