"""Labelled pairs: what is read and refused, and batches in which hardly anything is padding."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import locate
from nlgauge.training.data import LABELS, LabelledPair, encode_pairs, read_pairs, shuffled_batches


def read(tmp_path, *lines):
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return read_pairs(InputFile(str(path)))


def row(label="neutral", **fields):
    return json.dumps({"premise": "A cat sat.", "hypothesis": "A dog sat.", "label": label} | fields)


def test_labels_are_read_in_any_case_and_other_fields_ignored(tmp_path):
    found = read(tmp_path, row("Neutral"), row("CONTRADICTION", source="x"), row(" entailment "))
    assert [pair.label for pair in found] == [1, 2, 0]
    assert found[0] == LabelledPair("A cat sat.", "A dog sat.", LABELS.index("neutral"))


def test_packed_lines_are_read_as_they_are(tmp_path):
    path = tmp_path / "p.jsonl.gz"
    path.write_bytes(gzip.compress(f"{row()}\n\n{row('entailment')}\n".encode()))
    assert [pair.label for pair in read_pairs(InputFile(str(path)))] == [1, 0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (row("maybe"), r"p\.jsonl:2: label is 'maybe', expected entailment, neutral or contradiction"),
        (row(2), r"p\.jsonl:2: label is int"),
        (json.dumps({"premise": "a", "label": "neutral"}), r"p\.jsonl:2: no hypothesis"),
        (row(premise=None), r"p\.jsonl:2: premise is NoneType"),
        ('["a", "b"]', r"p\.jsonl:2: no premise"),
        ("{", r"p\.jsonl:2: not valid JSON"),
    ],
)
def test_what_is_no_labelled_pair_is_refused_with_its_line(tmp_path, line, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, row(), line)


def test_a_file_without_pairs_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no pairs"):
        read(tmp_path, "")


def test_a_pair_is_read_as_the_models_are_trained_to(tiny_model):
    files = locate(str(tiny_model("bert")))
    found = encode_pairs(
        [LabelledPair("the cat sat", "a cat", 0), LabelledPair("the cat " * 20, "a dog", 2)], PairTokenizer(files, 16)
    )
    words = json.loads((files.folder / "tokenizer.json").read_text())["model"]["vocab"]
    assert found.ids[0].tolist() == [words[w] for w in "[CLS] the cat sat [SEP] a cat [SEP]".split()]
    assert found.types[0].tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    assert found.lengths.tolist() == [8, 16]
    assert found.ids[1].tolist()[-3:] == [words[w] for w in "a dog [SEP]".split()]  # the longer side was cut
    assert found.n_cut == 1
    assert found.labels.tolist() == [0, 2]


@given(st.lists(st.integers(3, 60), min_size=1, max_size=300), st.integers(1, 40), st.integers(0, 3), st.integers(0, 2))
def test_a_pass_takes_each_pair_once(lengths, size, seed, epoch):
    batches = shuffled_batches(np.array(lengths), size, seed, epoch)
    assert sorted(np.concatenate(batches).tolist()) == list(range(len(lengths)))
    assert max(map(len, batches)) <= size
    assert len(batches) == -(-len(lengths) // size)


def test_little_goes_into_padding():
    lengths = np.random.default_rng(0).integers(8, 80, 20_000)
    batches = shuffled_batches(lengths, 32, 0, 0)
    padded = sum(len(b) * lengths[b].max() for b in batches)
    assert padded / lengths.sum() < 1.05  # in a random order the longest of 32 is almost twice as long as their mean


def test_the_order_is_made_by_seed_and_pass():
    lengths = np.arange(500) % 37
    first = shuffled_batches(lengths, 16, 1, 0)
    assert all(np.array_equal(a, b) for a, b in zip(first, shuffled_batches(lengths, 16, 1, 0), strict=True))
    for seed, epoch in ((1, 1), (2, 0)):
        assert not all(
            np.array_equal(a, b) for a, b in zip(first, shuffled_batches(lengths, 16, seed, epoch), strict=True)
        )
