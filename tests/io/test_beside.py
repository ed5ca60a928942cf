"""What stands beside a file of rows: the direction and signature of each metric."""

from __future__ import annotations

import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.tables import Origin
from nlgauge.io.beside import SUFFIX, read_beside, write_beside
from nlgauge.io.files.files import InputFile
from nlgauge.io.scores import read_scores

TER = {"spec": "ter", "signature": "metric:ter|nlgauge:1", "higher_is_better": False, "flags": {}}


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("id\tter\tmine\na\t10.0\t1\n")
    write_beside(path, [TER])
    return path


def test_direction_and_signature_come_back(rows):
    assert read_beside(InputFile(rows)) == ({"ter": Origin(False, "metric:ter|nlgauge:1")}, [])
    table = read_scores(rows)
    assert table.origins == {"ter": Origin(False, "metric:ter|nlgauge:1")}
    assert table.notes == ()


def test_the_fields_are_those_of_a_result_file(rows):
    about = json.loads((rows.parent / f"rows.tsv{SUFFIX}").read_text())
    assert about["metrics"] == [{key: TER[key] for key in ("spec", "signature", "higher_is_better")}]
    assert about["sha256"] == InputFile(rows).entry["sha256"]


def test_parts_have_directions_of_their_own_and_what_is_no_score_is_left_out(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("id\tnli\tnli.c\tnli.n\na\t0.9\t0.1\t0.2\n")
    write_beside(path, [{"spec": "nli", "signature": "s", "higher_is_better": True}], {"nli": {"c": False, "n": None}})
    table = read_scores(path)
    assert table.origins["nli.c"] == Origin(False, "s|part:c")
    assert list(table.columns) == ["nli", "nli.c"]
    assert table.notes[0].endswith("rows.tsv: column 'nli.n' left out: neither higher nor lower is better")
    assert list(read_scores(path, columns=["nli.n"]).columns) == ["nli.n"]  # but who names it gets it


def test_of_a_file_that_has_changed_the_direction_holds_and_the_signature_does_not(rows):
    rows.write_text("id\tter\na\t12.0\n")
    table = read_scores(rows)
    assert table.origins == {"ter": Origin(False)}
    assert table.notes[0].endswith("its directions are used, its signatures are not")


def test_without_it_nothing_is_known(tmp_path):
    path = tmp_path / "theirs.tsv"
    path.write_text("id\tter\na\t10.0\n")
    assert read_scores(path).origins == {}


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"sha256": "", "metrics": [{"spec": "ter", "signature": "", "higher_is_better": 0}]}']
)
def test_what_something_else_wrote_is_refused(rows, content):
    (rows.parent / f"rows.tsv{SUFFIX}").write_text(content)
    with pytest.raises(InputError, match=r"rows.tsv.meta.json is not what nlgauge writes beside .*; delete it"):
        read_scores(rows)


def test_beside_a_pipe_nothing_is_written(tmp_path):
    write_beside(tmp_path / "not_there.tsv", [TER])
    assert list(tmp_path.iterdir()) == []
