"""FaithBench: faithful beside unfaithful summaries of one source, by the worst label of a summary."""

from __future__ import annotations

import json

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.suites.faithbench import faithbench_pairs


def sample(i, source, *labels):
    return {"sample_id": i, "source": source, "summary": f"s{i}", "annotations": [{"label": [*own]} for own in labels]}


SAMPLES = [
    sample(0, "A", ("Unwanted", "Unwanted.Intrinsic"), ("Benign",)),
    sample(1, "A"),
    sample(2, "A", ("Benign",)),  # the authors do not count it
    sample(3, "A", ("Questionable",)),
    sample(4, "A", ("Unwanted.Extrinsic",), ("Unwanted", "Unwanted.Intrinsic")),  # both kinds
    sample(5, "B"),
    sample(6, "C", ("Unwanted",)),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "batch_1.json").write_text(json.dumps({"samples": SAMPLES}, indent=1))
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "__MACOSX" / "batch_1.json").write_bytes(b"\0\5\26\7")
    (tmp_path / "._batch_1.json").write_bytes(b"\0\5\26\7")
    return tmp_path


def test_each_faithful_summary_stands_beside_each_unfaithful_one_of_its_source(folder):
    # of source A 1 and 2 are faithful, and 0, 3 and 4 are not: six pairs; B and C have one kind alone
    suite = ng.read_suite(folder, layout="faithbench")
    assert [(p.better, p.worse, p.phenomenon) for p in suite] == [
        ("s1", "s0", "unwanted_intrinsic"),
        ("s1", "s3", "questionable"),
        ("s1", "s4", "unwanted"),
        ("s2", "s0", "unwanted_intrinsic"),
        ("s2", "s3", "questionable"),
        ("s2", "s4", "unwanted"),
    ]
    assert {(p.source, p.cluster, p.task, p.references) for p in suite} == {("A", "A", "as", ())}
    assert suite.pairs[0].id == "batch_1.1>0"
    assert "2 sources have only faithful or only unfaithful summaries, and make no pair" in suite.notes


def test_a_list_of_samples_is_read_as_well(tmp_path):
    (tmp_path / "batch_2.json").write_text(json.dumps(SAMPLES))
    placed, _, files = faithbench_pairs(tmp_path / "batch_2.json")
    assert len(placed) == 6
    assert placed[0][0].endswith("batch_2.json, sample 1")
    assert files == [str(tmp_path / "batch_2.json")]


def test_texts_are_compared_with_the_source(folder):
    found = ng.audit(ng.read_suite(folder, layout="faithbench"), metrics=["rouge1"])
    assert found.result().rows  # `source` stands for the references that the pairs do not have


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "Input data was truncated"),
        (b'{"samples": 3}', "Expected `array`, got `int`"),
        (b'{"samples": [{"source": "a"}]}', "missing required field `summary`"),
        (
            b'{"samples": [{"source": "a", "summary": 3}]}',
            r"Expected `str`, got `int` - at `\$\.samples\[0\]\.summary`",
        ),
        (b'{"samples": [], "samples": []}', "samples"),
        (
            b'{"samples": [{"source": "a", "summary": "b", "annotations": [{"label": ["Bad"]}]}]}',
            "label 'Bad', expected",
        ),
        (b'{"samples": []}', "no pair in it, read as faithbench"),
        (b"\xff", "batch_1.json"),
        (b"[" * 100_000, "batch_1.json"),
    ],
)
def test_what_is_no_batch_is_refused_in_one_line(tmp_path, content, said):
    (tmp_path / "batch_1.json").write_bytes(content)
    with pytest.raises(InputError, match=said) as refused:
        ng.read_suite(tmp_path, layout="faithbench")
    assert "\n" not in str(refused.value)
    assert "batch_1.json" in str(refused.value) or str(tmp_path) in str(refused.value)


def test_a_folder_without_batches_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no file of faithbench in this folder, expected batch_\*\.json"):
        faithbench_pairs(tmp_path)
