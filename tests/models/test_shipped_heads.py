"""The NLI heads in the package: what their files say, what their cards promise, what they say of plain sentences."""

import gzip
import json
import os
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from nlgauge.models.entailment import LABELS, load_nli
from nlgauge.models.heads import find_head
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")
HEADS = ("nli", "nli-robust")
DATA = Path(os.environ.get("NLGAUGE_DATA", "absent"))
# Card's row -> file.
SETS = {
    "nli": {"SNLI test": "snli.test", "Breaking NLI": "breaking.test"},
    "nli-robust": {"snli.test": "snli.test", "breaking.test": "breaking.test"},
}
PLAIN = [
    ("A man is playing a guitar on the street.", "A man is playing an instrument.", "entailment"),
    ("Two children are running on the beach.", "Children are outside.", "entailment"),
    ("A woman is reading a book in the library.", "A woman is reading.", "entailment"),
    ("A man is playing a guitar on the street.", "Nobody is playing a guitar.", "contradiction"),
    ("Two children are running on the beach.", "The children are sleeping in bed.", "contradiction"),
    ("The dog is asleep.", "The dog is awake and runs around.", "contradiction"),
    ("A man is playing a guitar on the street.", "A man is playing his brother's favourite song.", "neutral"),
    ("Two children are running on the beach.", "The children are on holiday with their parents.", "neutral"),
]


@pytest.fixture(scope="module")
def runtime():
    return Runtime()


def card(name):
    return files("nlgauge.data").joinpath("heads", f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", HEADS)
def test_a_head_is_small_and_says_where_it_is_from(name):
    head = find_head(name, "nli")
    assert head.path.stat().st_size < 4_000_000
    assert head.items("labels") == LABELS
    assert head.get("recipe") == "recipes/nli"
    assert "CC BY-SA 4.0" in head.get("data")
    for phenomenon in head.items("trained_on_phenomena"):
        PERTURBATIONS.lookup(phenomenon)
        assert phenomenon in card(name)
    taught = {"number_error", "change_numbers", "name_error", "antonyms", "addition", "omission"}
    assert taught <= set(head.items("trained_on_phenomena"))  # edits of ConjNLI and HELP, which both learnt from


@pytest.mark.parametrize("name", HEADS)
def test_plain_sentences_get_their_label(name, runtime):
    judged = load_nli(name, None, None, "float32", runtime).judge([pair[:2] for pair in PLAIN])
    assert [LABELS[i] for i in judged.probabilities.argmax(1)] == [label for *_, label in PLAIN]


@pytest.mark.skipif(not (DATA / "nli").is_dir(), reason="NLGAUGE_DATA names no folder with nli/")
@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param(name, row, marks=[] if (name, row) == ("nli-robust", "snli.test") else [pytest.mark.slow])
        for name in HEADS
        for row in SETS[name]
    ],
)
def test_the_card_holds_on_a_sample(name, row, runtime):
    n = 200  # which a second or two allow
    with gzip.open(DATA / "nli" / f"{SETS[name][row]}.jsonl.gz", "rt", encoding="utf-8") as file:
        pairs = [json.loads(line) for line in file]
    pairs = [pairs[i] for i in np.random.default_rng(0).choice(len(pairs), n, replace=False)]
    promised = float(re.search(rf"^\| {row} \| [\d,]+ \| (0\.\d+) \|", card(name), re.MULTILINE).group(1))
    judged = load_nli(name, None, None, "float32", runtime).judge([(p["premise"], p["hypothesis"]) for p in pairs])
    found = np.mean([LABELS[i] == p["label"] for i, p in zip(judged.probabilities.argmax(1), pairs, strict=True)])
    # Three standard deviations of a share of n draws: one sample in 370 lies farther off.
    assert found == pytest.approx(promised, abs=3 * np.sqrt(promised * (1 - promised) / n))
