"""`nlgauge train infill`: from raw sentences to a head that perturbations use by its name."""

from importlib.util import find_spec

import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.spec import quote

SENTENCES = [
    "the cat sat on the mat",
    "a dog lay on a rug",
    "heavy rain fell today",
    "snow fell on the mat",
    "the dog sat not today",
]


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "raw.txt"
    path.write_text("\n".join([*SENTENCES * 4, "cat", ""]) + "\n")
    return path


def test_an_infill_head_is_trained_evaluated_and_used(texts, tiny_model, tmp_path, capsys):
    out = tmp_path / "h.safetensors"
    words = [
        "--model",
        str(tiny_model("bert")),
        "--rank",
        "2",
        "--batch-size",
        "4",
        "--epochs",
        "2",
        "--dev",
        str(texts),
        "--name",
        "x",
    ]
    assert main(["train", "infill", str(texts), "-o", str(out), *words]) == 0
    told = capsys.readouterr()
    header, row = told.out.splitlines()
    assert header.split() == ["n", "top-1", "top-5", "loss"]
    assert row.endswith(str(texts))
    assert told.err.startswith(
        "20 texts, 7.2 tokens each, 0 cut, 1 too short"
    )  # 6, 6, 4, 5 and 5 words, and two special tokens
    assert "pass 2: raw.txt top-1" in told.err
    made = ng.perturb(f"mask_and_predict:infill={quote(str(out))}", ["the cat sat on the mat"])[0]
    assert made.text != "the cat sat on the mat"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-o", "h.txt"], "end its name in .safetensors"),
        (["-o", "raw.txt"], "would be written over the input"),
        (["-o", "h.safetensors", "--mask", "0"], "--mask is 0.0, expected above 0 and at most 1"),
        (["-o", "h.safetensors", "--dtype", "float16"], "expected bfloat16 or float32"),
        (["-o", "h.safetensors", "--dev", "none.txt"], "none.txt"),
    ],
)
def test_what_cannot_begin_says_why_in_a_line(texts, tiny_model, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["train", "infill", "raw.txt", *words, "--model", str(tiny_model("bert"))]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("nlgauge:")]
    assert message in line
