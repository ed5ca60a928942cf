"""What cannot be done is refused before anything is scored: one line, exit 2, no score kept and no output touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.command import write

from nlgauge.cli.main import main

SYSTEMS = ("A", "B", "C", "D")
META = "meta d.jsonl -m chrf -m bleu"
SWEEP = "sweep d.jsonl --suite suite.jsonl -m chrf --with bleu"

CASES = {  # command -> a part of the line
    "score missing.jsonl -m chrf --significance bootstrap": "system 'B' lacks item '2', which 'A' has",
    "score missing.jsonl -m chrf --significance randomization --pairs": "system 'B' lacks item '2'",
    "score one.jsonl -m chrf --significance bootstrap": "resampling needs 2 items or more, got 1",
    "score one.jsonl -m chrf --significance bootstrap --pairs": "resampling needs 2 items or more, got 1",
    "score d.jsonl -m chrf --significance bootstrap:compat=nonsense": "compat is 'nonsense'",
    "score d.jsonl -m bertscore --significance bootstrap:compat=sacrebleu": "knows corpus BLEU, chrF and TER",
    "score d.jsonl -m chrf --significance bootstrap --baseline X": "baseline 'X' is not among the systems",
    "score d.jsonl -m chrf --significance bootstrap --adjust nonsense": "adjust is 'nonsense'",
    "score d.jsonl -m chrf --significance bootstrap --pairs --adjust nonsense": "adjust is 'nonsense'",
    "score d.jsonl -m chrf --confidence --seed -1": "seed is -1, expected 0 or more",
    "score d.jsonl -m chrf --device gpu": "--device is 'gpu', expected auto, cpu, cuda",
    "score d.jsonl -m chrf --fail-under chrf=nan": "--fail-under 'chrf=nan': expected SPEC=NUMBER",
    "score d.jsonl -m chrf --fail-under bleu=30": "'bleu' is not among the metrics scored",
    "score d.jsonl -m chrf --save-norm n.json": "no metric is a sum that is scaled over the pool",
    "score one.jsonl -m chrf -m cider": "cider needs at least two segments",
    "meta one.jsonl -m chrf -m cider --references first": "cider needs at least two segments of system 'A'",
    "score d.jsonl -m chrf -m bertscore:model=./no": "model folder ./no does not exist",
    f"{META} --averaging nonsense": "averaging is 'nonsense'",
    f"{META} --averaging sys --level system": "averaging 'sys' does not go with level 'system'",
    f"{META} --test williams --stat kendall_b": "williams compares two values of Pearson's r",
    f"{META} --test williams --level item": "williams compares two values of Pearson's r",
    f"{META} --test mcnemar": "mcnemar compares two preference accuracies, got pearson",
    f"{META} --test bootstrap --level system": "bootstrap draws or swaps segments",
    f"{META} --test item_swap": "item_swap needs a value for each item",
    f"{META} --test auto --power": "power is that of a test at level 'system'",
    f"{META} --compat nonsense": "compat is 'nonsense'",
    f"{META} --stat pearson:undefined=nonsense --level item": "pearson:undefined is 'nonsense'",
    f"{META} --missing nonsense": "missing is 'nonsense'",
    f"{META} --stat acc_eq_calibrated:folds=30 --level item": "30",
    f"{META} --stat acc_eq_calibrated:folds=1": "acc_eq_calibrated:folds is 1, expected 2 or more",
    f"{META} --seed -1": "seed is -1, expected 0 or more",
    f"{META} -m bertscore:model=./no": "model folder ./no does not exist",
    "meta two.jsonl -m chrf --level system": "needs 3 rated systems or more",
    "select d.jsonl -m chrf --hybrids 0": "the pool is 100 models, and there are 4 systems",
    "select d.jsonl -m chrf --hybrids 5 --pool 10": "the pool is 10 models, and there are 5 hybrids",
    f"{SWEEP} --stat nonsense": "unknown statistic 'nonsense'",
    f"{SWEEP} --level nonsense": "level is 'nonsense'",
    f"{SWEEP} -c nonsense": "no segment of d.jsonl is rated for 'nonsense'",
    f"{SWEEP} -m bertscore:model=./no": "model folder ./no does not exist",
    SWEEP.replace("d.jsonl", "d.jsonl two.jsonl", 1) + " --level system": "needs 3 rated systems or more",
    SWEEP.replace("bleu", "nli:anchor=source"): "no pair of suite.jsonl has that",
    "sweep two.jsonl --suite suite.jsonl -m nli --with pooling --level system": "needs 3 rated systems or more",
    "audit --suite suite.jsonl -m chrf -m nli:anchor=source": "no pair of suite.jsonl has that",
    "audit --suite suite.jsonl -m chrf -m bertscore:model=./no": "model folder ./no does not exist",
    "audit --suite suite.jsonl -m chrf --ties nonsense": "ties is 'nonsense'",
    "audit --suite suite.jsonl -m chrf --tolerance nan": "tolerance is nan",
    "train layers two.jsonl --level system": "needs 3 rated systems or more",
}
MODEL = ("--output",)  # a model, which may be a folder
WRITTEN = {  # a verb that would do -> the options that name its outputs
    "score d.jsonl -m chrf": ("--json", "--html", "--segments"),
    "meta d.jsonl -m chrf": ("--json", "--html", "--segments"),
    "select d.jsonl -m chrf --pool 2": ("--json", "--html", "--segments"),
    "audit --suite suite.jsonl -m chrf": ("--json", "--html", "--segments"),
    "sweep d.jsonl --suite suite.jsonl -m chrf --with bleu": ("--json", "--html"),
    "align --hyp a --ref b": ("--json", "--html"),
    "perturb d.jsonl -p negation": ("-o",),
    "synth texts.txt": ("-o", "--json", "--html"),
    "train nli d.jsonl": MODEL,
    "train infill texts.txt": MODEL,
    "train sescore d.jsonl": MODEL,
    "train regressor d.jsonl": MODEL,
    "train blend d.jsonl -m chrf": ("-o",),
    "train beer d.jsonl": ("-o",),
    "train baseline texts.txt": ("-o",),
    "train layers d.jsonl": ("--json", "--html"),
}

SOME = ("score d.jsonl -m chrf", "perturb d.jsonl -p negation", "train nli d.jsonl")  # a result, a file, a model


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    texts("d.jsonl")
    texts("two.jsonl", SYSTEMS[:2])
    texts("one.jsonl", n=1)
    texts("missing.jsonl", without="B-2")
    pair = {"id": "p", "better": "it is no cat", "worse": "it is a cat", "phenomenon": "negation", "setup": "ref"}
    Path("suite.jsonl").write_text(json.dumps({**pair, "refs": ["it is not a cat"]}) + "\n")
    Path("texts.txt").write_text("a cat\na dog\n")


def texts(name, systems=SYSTEMS, n=4, without=None):
    rows = [
        {
            "id": f"{system}-{item}",
            "system": system,
            "seg": str(item),
            "hyp": f"the cat {system} sat {'on ' * (item + place)}mat {item}",
            "refs": [f"the cat sat on the mat {item}"],
            "human": {"adequacy": (3 * item + 5 * place) % 7},
        }
        for place, system in enumerate(systems)
        for item in range(n)
    ]
    write(Path(name), [row for row in rows if row["id"] != without])


@pytest.fixture(autouse=True)
def nothing_is_scored(monkeypatch):
    """A spy on the one place that every verb scores through, and on what reads texts and models for training."""

    def scored(built, *_):
        raise AssertionError(f"{built.info.name} was asked for scores")

    monkeypatch.setattr("nlgauge.metrics.run._score", scored)
    monkeypatch.setattr("nlgauge.runtime.runtime.torch_device", lambda *_: pytest.fail("a model was loaded"))


def refused(capsys, command, *more):
    before = {name: Path(name).read_bytes() for name in os.listdir() if os.path.isfile(name)}
    code = main([*command.split(), *more])
    out, err = capsys.readouterr()
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert {name: Path(name).read_bytes() for name in os.listdir() if os.path.isfile(name)} == before
    assert not os.path.exists("cache/scores.sqlite")
    return err


@pytest.mark.parametrize("command", CASES)
def test_before_anything_is_scored(capsys, command):
    outputs = [] if command.startswith("train") else ["--json", "r.json"]
    Path("r.json").write_text("an earlier result")
    assert CASES[command] in refused(capsys, command, *outputs)


@pytest.mark.parametrize(
    ("command", "options", "place", "says"),
    [
        *((command, options, "nowhere/out", "there is no folder") for command, options in WRITTEN.items()),
        *((command, WRITTEN[command][:1], "kept", "the file is read-only (mode 444)") for command in SOME),
        *((command, WRITTEN[command][:1], "folder", "is a folder, expected a file") for command in SOME[:-1]),
    ],
)
def test_an_output_that_cannot_be_made(capsys, command, options, place, says):
    for option in options:
        path = place + {"--segments": ".tsv", "-o": ".jsonl", "--output": ".safetensors"}.get(option, "")
        if place == "kept":
            Path(path).write_text("kept")
            os.chmod(path, 0o444)
        elif place == "folder":
            os.mkdir(path)
        outputs = ["-o", "t.jsonl"] if command.startswith("synth") and option != "-o" else []
        assert says in refused(capsys, command, *outputs, option, path)


@pytest.mark.parametrize("outputs", ["--json x --html x", "--json d.jsonl", "--html ./d.jsonl", "--json - --html -"])
@pytest.mark.parametrize("command", ["score d.jsonl -m chrf", "meta d.jsonl -m chrf", "select d.jsonl -m chrf"])
def test_one_file_for_two_things(capsys, command, outputs):
    assert "would be written over" in refused(capsys, command, *outputs.split())
