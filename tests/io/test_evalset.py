"""Texts and ratings in several files, as one set."""

import hashlib
import io

import pytest

from nlgauge.io.evalset import read_preferences, read_set


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"id": "1", "hyp": "a"}\n{"id": "2", "hyp": "b"}\n')
    (tmp_path / "ratings.tsv").write_text("id\tfluency\n1\t3\n2\t5\n")
    (tmp_path / "scores.tsv").write_text("id\tmine\n1\t0.5\n2\t0.25\n")
    (tmp_path / "more.tsv").write_text("id\tmine\n1\t0.5\n2\t0.25\n")
    (tmp_path / "pairs.jsonl").write_text('{"better_id": "1", "worse_id": "2"}\n')
    return tmp_path


def test_ratings_of_a_table_of_their_own_are_joined(folder):
    dataset, inputs = read_set([str(folder / "data.jsonl")], judgements=str(folder / "ratings.tsv"))
    assert [segment.human for segment in dataset] == [{"fluency": 3.0}, {"fluency": 5.0}]
    assert [entry["path"].rpartition("/")[2] for entry in inputs] == ["data.jsonl", "ratings.tsv"]


def test_columns_name_those_of_either_file(folder):
    (folder / "data.csv").write_text("seg,system,out\n1,A,a\n2,A,b\n")
    (folder / "campaign.csv").write_text("item,system,who,q\n1,A,ann,1\n1,A,bob,2\n2,A,ann,5\n")
    data, ratings = str(folder / "data.csv"), str(folder / "campaign.csv")
    dataset, _ = read_set([data], {"seg": "item", "rater": "who", "hyp": "out"}, ratings)
    assert [segment.human for segment in dataset] == [{"q": [1.0, 2.0]}, {"q": [5.0]}]
    (folder / "data.csv").write_text("item,system,hyp\n1,A,a\n2,A,b\n")  # both files call it so
    assert [segment.human for segment in read_set([data], {"seg": "item", "rater": "who"}, ratings)[0]] == [
        {"q": [1.0, 2.0]},
        {"q": [5.0]},
    ]


def test_a_table_of_ratings_may_call_its_items_otherwise(folder):
    (folder / "data.csv").write_text("segment,system,out\n1,A,a\n2,A,b\n")
    (folder / "campaign.csv").write_text("item,system,who,q\n1,A,ann,1\n2,A,ann,5\n")
    data, ratings = str(folder / "data.csv"), str(folder / "campaign.csv")
    dataset, _ = read_set([data], {"seg": "segment", "rater": "who", "hyp": "out"}, ratings)
    assert [segment.human for segment in dataset] == [{"q": [1.0]}, {"q": [5.0]}]


@pytest.mark.parametrize(
    "content", [b"id\tfluency\n1\t3\n2\t5\n", b'{"id": "1", "fluency": 3}\n{"id": "2", "fluency": 5}\n']
)
def test_ratings_may_come_from_standard_input(folder, monkeypatch, content):
    """The header is looked at first, and the digest is that of what came."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    dataset, inputs = read_set([str(folder / "data.jsonl")], judgements="-")
    assert [segment.human for segment in dataset] == [{"fluency": 3.0}, {"fluency": 5.0}]
    assert inputs[1] == {"path": "-", "sha256": hashlib.sha256(content).hexdigest()}


def test_better_and_worse_pairs_are_read(folder):
    pairs, entry = read_preferences(str(folder / "pairs.jsonl"))
    assert entry["path"].endswith("pairs.jsonl")
    assert len(pairs) == 1
