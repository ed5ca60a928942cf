"""`nlgauge train spans`: from pairs, triples and marked texts to a head that `explain` and `meta --spans` use."""

import json
from importlib.util import find_spec

import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

from nlgauge.cli.main import main

TEXTS = ["the cat sat on the mat", "a dog lay on a rug", "heavy rain fell today", "snow fell on the mat"]


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "examples.jsonl"
    rows = [{"hyp": text, "ref": text, "spans": []} for text in TEXTS]
    for text in TEXTS:
        first, second, *rest = text.split()
        step = {"start": len(first) + 1, "end": len(first) + 1 + len(second), "new": "not", "severity": -5}
        rows.append({"hyp": " ".join([first, "not", *rest]), "refs": [text], "steps": [step]})
        edits = [[0, len(first), "not"]]
        worse = " ".join(["not", second, *rest])
        rows.append({"better": text, "worse": worse, "refs": [text], "expect": "lower", "meta": {"edits": edits}})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def words(tiny_model, *more):
    return ["--model", str(tiny_model("bert")), "--rank", "2", "--batch-size", "4", *map(str, more)]


def test_a_head_is_trained_measured_and_used(examples, tiny_model, tmp_path, capsys):
    out = tmp_path / "head.safetensors"
    typed = words(tiny_model, "--epochs", 20, "--learning-rate", 0.01, "--dev", examples, "--test", examples)
    assert main(["train", "spans", str(examples), "-o", str(out), *typed, "--phenomena", "negation"]) == 0
    told = capsys.readouterr()
    assert told.err.startswith("12 examples, 0.33 of them without an error")
    assert "thresholds 0." in told.err
    header, dev, test = told.out.splitlines()
    assert header.split() == ["n", "one", "to", "one", "precision", "recall", "left", "clean"]
    assert dev == test
    n, f1, *_, name = dev.split()
    assert (n, name) == ("12", str(examples))
    assert float(f1) > 0.9  # "not" is an error wherever it stands
    assert sorted(path.name for path in tmp_path.iterdir()) == ["examples.jsonl", "head.safetensors"]
    asked = ["--hyp", "the not sat on the mat", "--ref", TEXTS[0], "--model", str(out)]
    assert main(["explain", *asked]) == 0
    assert "the [not] sat on the mat" in capsys.readouterr().out
    marked = tmp_path / "marked.jsonl"
    errors = [{"start": 4, "end": 7, "severity": "major"}]
    rows = [{"id": "1", "hyp": "the not sat on the mat", "refs": TEXTS[:1], "errors": errors}]
    rows.append({"id": "2", "hyp": TEXTS[1], "refs": TEXTS[1:2], "errors": []})
    marked.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["meta", str(marked), "--spans", f"mine={out}", "-f", "tsv", "-q"]) == 0
    assert "mine\tone_to_one_f1\t\t\t1.0" in capsys.readouterr().out


def test_a_share_of_marked_texts_needs_texts_without_errors(examples, tiny_model, tmp_path, capsys):
    out = tmp_path / "head.safetensors"
    typed = ["train", "spans", str(examples), "-o", str(out), *words(tiny_model)]
    assert main([*typed, "--most-marked", "0.1"]) == 2
    assert "name some by --dev" in capsys.readouterr().err
    assert main([*typed, "--dev", str(examples), "--most-marked", "2"]) == 2
    assert "--most-marked is 2, expected a share" in capsys.readouterr().err
    assert not out.exists()
    assert main([*typed, "--dev", str(examples), "--most-marked", "0.9"]) == 0
    assert "for whole texts" in capsys.readouterr().err


def test_a_checkpoint_of_other_examples_is_refused(examples, tiny_model, tmp_path, monkeypatch, capsys):
    from nlgauge.training import loop

    out = tmp_path / "head.safetensors"
    typed = ["train", "spans", str(examples), "-o", str(out), *words(tiny_model, "--epochs", 4)]
    monkeypatch.setattr(loop, "_STEPS_KEPT", 2)
    checkpoint = tmp_path / "head.safetensors.checkpoint"

    def stop(*_):
        if checkpoint.exists():
            raise KeyboardInterrupt

    monkeypatch.setattr("nlgauge.training.spans._batch", _stopping(stop))
    assert main(typed) == 130
    assert checkpoint.exists()
    assert not out.exists()
    assert "the same command goes on where this one stopped" in capsys.readouterr().err
    monkeypatch.undo()
    kept = examples.read_text()
    examples.write_text(kept.replace("rug", "mat"))
    assert main(typed) == 2
    assert "checkpoint" in capsys.readouterr().err
    examples.write_text(kept)
    assert main(typed) == 0
    stopped = out.read_bytes()
    assert main(typed) == 0
    assert out.read_bytes() == stopped  # as if it had not been stopped


def _stopping(stop):
    from nlgauge.training import spans

    batch = spans._batch

    def made(*arguments):
        stop()
        return batch(*arguments)

    return made


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["-o", "h.txt"], "expected a name that ends in .safetensors"),
        (["-o", "examples.jsonl"], "would be written over the input"),
        (["-o", "-"], "--output - is standard output"),
        (["-o", "h.safetensors", "--init", "none.safetensors"], "head file none.safetensors does not exist"),
        (["-o", "h.safetensors", "--dtype", "float16"], "expected bfloat16 or float32"),
        (["-o", "h.safetensors", "--dev", "none.jsonl"], "none.jsonl"),
        (["-o", "h.safetensors", "--dev", "bad.jsonl"], "bad.jsonl:1: fields are text; expected hyp with ref"),
        (["-o", "h.safetensors", "--phenomena", "negatio"], "did you mean 'negation'"),
    ],
)
def test_what_cannot_begin_says_why_in_a_line(examples, tiny_model, tmp_path, monkeypatch, capsys, more, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n')
    assert main(["train", "spans", "examples.jsonl", *more, *words(tiny_model), "-q"]) == 2
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("nlgauge:")]
    assert message in line
    assert {path.name for path in tmp_path.iterdir()} == {"examples.jsonl", "bad.jsonl"}
