"""Rows of an audit come back as they were written, in every format; rows of another kind are none."""

import json

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, ScoredPair, Suite
from nlgauge.io.scored_pairs import read_scored_pairs
from nlgauge.io.write import writing

PAIRS = (
    Pair(
        id="a/negation", phenomenon="negation", better="the cat sat", worse="the cat not sat", references=("the cat",)
    ),
    Pair(id="b", phenomenon="typos", better='a, "b"', worse="=c", references=("a",)),
    Pair(id="c", phenomenon="typos", better="x", worse="y", source="z", setup="src"),
)


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "jsonl.gz", "parquet"])
def test_what_audit_writes_is_read(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    found = ng.audit(Suite(PAIRS), "chrf")
    with writing(tmp_path / f"rows.{ending}") as write:
        write(found.pair_columns())
    first, second, third = read_scored_pairs(tmp_path / f"rows.{ending}")
    better, worse = (float(side[0]) for side in (found.sides["chrf"].better, found.sides["chrf"].worse))
    assert first == ScoredPair(
        "a/negation", "negation", "the cat sat", "the cat not sat", {"chrf": (better, worse, 1.0)}
    )
    assert (second.better, second.worse) == ('a, "b"', "=c")
    assert third.scores == {}  # made for metrics without references


@pytest.mark.parametrize("name", ["rows.tsv", "BLEU.seg.score"])
def test_other_rows_are_none(tmp_path, name):
    (tmp_path / name).write_text("id\tm\tm.won\na\t1\t1\n")
    assert read_scored_pairs(tmp_path / name) is None


def test_rows_without_texts_have_empty_ones(tmp_path):
    (tmp_path / "r.tsv").write_text("id\tphenomenon\tm.better\tm.worse\tm.won\na\ttypos\t1\t0.5\t1\n")
    assert read_scored_pairs(tmp_path / "r.tsv") == [ScoredPair("a", "typos", "", "", {"m": (1.0, 0.5, 1.0)})]


def test_a_score_that_is_no_number_is_refused_with_its_line(tmp_path):
    (tmp_path / "r.tsv").write_text("id\tphenomenon\tm.better\tm.worse\tm.won\na\ttypos\tone\t0.5\t1\n")
    with pytest.raises(InputError, match=r"r\.tsv:2: a score of m is 'one'"):
        read_scored_pairs(tmp_path / "r.tsv")
    row = {"id": "a", "phenomenon": "typos", "m.better": 10**400, "m.worse": 0, "m.won": 1}
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match=r"r\.jsonl:1: a score of m is "):
        read_scored_pairs(tmp_path / "r.jsonl")
