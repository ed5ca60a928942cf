from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.io.read import open_data
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.evalset import Info
from nlgauge.io.wmt.mtme import language_pairs, read_eval_set


def test_everything_of_a_language_pair(folder):
    found = read_eval_set(folder(), "cs-uk")
    assert (found.name, found.lp, found.sources) == ("set1", "cs-uk", ("eins", "zwei", "drei"))
    assert (found.domains, found.documents) == (("news", "news", "talk"), ("d1", "d1", "d2"))
    assert found.outputs["B.1"] == ("b1", None, "b3")
    assert found.references["refB"] == ("1", None, "3")
    assert found.people == ("refA", "refB")
    assert found.info == Info("refA", {"segment": "mqm.v2", "system": "mqm.v2"}, frozenset({"B.1"}), frozenset({"X-Y"}))
    assert set(found.human) == {("mqm.v2", "segment"), ("mqm.v2", "system"), ("mqm.v2", "domain")}
    assert np.nan_to_num(found.human["mqm.v2", "segment"]["A"], nan=9).tolist() == [-1, -2.5, 9]
    assert np.isnan(found.human["mqm.v2", "segment"]["B.1"]).tolist() == [False, True, True]
    assert found.human["mqm.v2", "domain"]["A"].tolist() == [1, 3]  # domains are sorted: news, talk
    assert set(found.metrics) == {
        ("X-Y-refA", "segment"),
        ("X-Y-refA", "system"),
        ("QE-src", "segment"),
        ("Z-refA.refB", "system"),
    }
    assert found.metrics["X-Y-refA", "segment"]["B.1"].tolist() == [4, 5, 6]


def test_what_is_missing_in_metrics_is_told_and_never_filled_in(folder):
    found = read_eval_set(folder(), "cs-uk")
    path = os.path.join("set1", "metric-scores", "cs-uk", "QE-src.seg.score")
    assert f"{path}: no scores of 2 systems (refA, refB)" in found.notes
    assert f"{path}: 2 scores missing, which a metric's file must not have" in found.notes
    assert set(found.metrics["QE-src", "segment"]) == {"A", "B.1"}
    assert not [
        note for note in found.notes if "X-Y" in note or "Z-ref" in note
    ]  # a metric need not score its own references


def test_a_folder_is_read_like_a_file(folder):
    name = folder({"sources/de-en.txt": "x\n", "references/de-en.refA.txt": "y\n", "system-outputs/de-en/A.txt": "z\n"})
    data = ng.read(name)
    assert data.groups == ("cs-uk", "de-en")
    assert [s.id for s in data][-1] == "de-en:A:1"
    source = open_data(name)
    summary = source.check()
    assert (summary.n, dict(summary.groups), summary.criteria) == (8, {"cs-uk": 7, "de-en": 1}, ("mqm.v2",))
    assert {os.path.basename(entry["path"]) for entry in summary.inputs} >= {
        "cs-uk.txt",
        "A.txt",
        "meta.json",
        "cs-uk.mqm.v2.seg.score",
    }
    assert all(len(entry["sha256"]) == 64 for entry in summary.inputs)
    assert [s for block in source.blocks(3) for s in block] == list(data)


def test_tables_join_the_segments(folder):
    found = read_eval_set(folder(), "cs-uk")
    data = found.dataset(systems=["B.1", "A"])
    assert found.table("X-Y-refA").of(data.segments).tolist() == [4, 1, 2, 6, 3]
    assert found.table("mqm.v2", "system").by_system() == {"A": -1.75, "B.1": 0}
    with pytest.raises(
        ng.InputError, match=r"^set1 cs-uk: no scores 'X-Y' of level 'segment'; did you mean 'X-Y-refA'\?$"
    ):
        found.table("X-Y")
    with pytest.raises(
        ng.InputError, match=r"^set1 cs-uk: no scores 'Z' of level 'system'; known: X-Y-refA, Z-refA\.refB, mqm\.v2$"
    ):
        found.table("Z", "system")


def test_only_the_metrics_asked_for_are_read(folder):
    name = folder({"metric-scores/cs-uk/Bad-refA.seg.score": "A x\n"})
    assert set(read_eval_set(name, "cs-uk", metrics=["X-Y"]).metrics) == {
        ("X-Y-refA", "segment"),
        ("X-Y-refA", "system"),
    }
    assert read_eval_set(name, "cs-uk", metrics=False).metrics == {}
    with pytest.raises(ng.InputError, match=r"no scores of metric 'W'$"):
        read_eval_set(name, "cs-uk", metrics=["W"])


def test_json_lines_stand_for_text(folder):
    name = folder(
        {
            "system-outputs/cs-uk/A.txt": None,
            "system-outputs/cs-uk/A.jsonl": (
                '{"hypothesis": "a\\n1"}\n{"hypothesis": null}\n{"hypothesis": "a3", "x": 1}\n'
            ),
        }
    )
    assert read_eval_set(name, "cs-uk").outputs["A"] == ("a\n1", None, "a3")


def test_without_documents_all_is_one_document(folder):
    found = read_eval_set(
        folder({"documents/cs-uk.docs": None, "human-scores/cs-uk.mqm.v2.domain.score": None}), "cs-uk"
    )
    assert (found.units("document"), found.units("domain")) == (("cs-uk",), ("all",))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"references/cs-uk.refA.txt": "one\n"},
            "references/cs-uk.refA.txt has 1 segment, the sources have 3; expected one for each",
        ),
        (
            {"system-outputs/cs-uk/A.txt": "a\nb\nc\nd\n"},
            "system-outputs/cs-uk/A.txt has 4 segments, the sources have 3",
        ),
        ({"documents/cs-uk.docs": "news d1\n"}, "documents/cs-uk.docs has 1 line, the sources have 3"),
        (
            {"documents/cs-uk.docs": "n d1\nn d2\nn d1\n"},
            "documents/cs-uk.docs:3: document 'd1' goes on after another one",
        ),
        ({"documents/cs-uk.docs": "n\nn d2\nn d1\n"}, "documents/cs-uk.docs:1: 1 word, expected DOMAIN DOCUMENT"),
        (
            {"references/cs-uk.ref-A.txt": "x\n"},
            "references/cs-uk.ref-A.txt: reference name 'ref-A', expected one without '.', '-'",
        ),
        ({"references/cs-uk.all.txt": "x\n"}, "references/cs-uk.all.txt: reference name 'all'"),
        (
            {"human-scores/cs-uk.mqm.v2.seg.score": "A 1\nA 2\n"},
            "human-scores/cs-uk.mqm.v2.seg.score: system 'A' has 2 scores, expected 3, one per segment",
        ),
        (
            {"human-scores/cs-uk.mqm.v2.sys.score": "A 1\nA 2\n"},
            "human-scores/cs-uk.mqm.v2.sys.score: system 'A' has 2 scores, expected 1, one per system",
        ),
        (
            {"human-scores/cs-uk.mqm.v2.sys.score": "C 1\n"},
            "human-scores/cs-uk.mqm.v2.sys.score:1: system 'C' has no output",
        ),
        (
            {"human-scores/cs-uk.mqm.v2.sys.score": "A 1,5\n"},
            "human-scores/cs-uk.mqm.v2.sys.score:1: score of system 'A' is '1,5', expected a number",
        ),
        (
            {"human-scores/cs-uk.mqm.v2.sys.score": "A B 1\n"},
            "human-scores/cs-uk.mqm.v2.sys.score:1: 3 words, expected SYSTEM SCORE",
        ),
        (
            {"human-scores/cs-uk.mqm.v2.domain.score": "x A 1\n"},
            "human-scores/cs-uk.mqm.v2.domain.score:1: domain 'x' is not among",
        ),
        (
            {"human-scores/cs-uk.mqm.v2.domain.score": "news A 1\ntalk A 2\nnews A 3\n"},
            "human-scores/cs-uk.mqm.v2.domain.score:3: system 'A' has domain 'news' twice",
        ),
        (
            {"human-scores/cs-uk.mqm.word.score": ""},
            "human-scores/cs-uk.mqm.word.score: expected a name NAME.LEVEL.score",
        ),
        (
            {"metric-scores/cs-uk/BLEU.seg.score": ""},
            "metric-scores/cs-uk/BLEU.seg.score: expected the name of a metric to end in -REF",
        ),
        (
            {"metric-scores/cs-uk/BLEU-refC.seg.score": ""},
            "metric-scores/cs-uk/BLEU-refC.seg.score: reference 'refC' is not among the references",
        ),
        ({"sources/cs-uk.jsonl": "{}\n"}, "sources: both cs-uk.txt and cs-uk.jsonl, expected one of them"),
        (
            {"system-outputs/cs-uk/A.jsonl": '{"hypothesis": ""}\n' * 3},
            "system-outputs/cs-uk: both a .txt and a .jsonl of 'A', expected one of them",
        ),
        (
            {"system-outputs/cs-uk/C.jsonl": '{"x": ""}\n'},
            "system-outputs/cs-uk/C.jsonl:1: expected an object with the text 'hypothesis'",
        ),
        ({"system-outputs/cs-uk/C.txt": ""}, "system-outputs/cs-uk/C.txt is empty, expected one segment per line"),
        (
            {"meta.json": '{"cs-uk": {"std_ref": ["refA"]}}'},
            "meta.json: expected a JSON object",
        ),
        (
            {"meta.json": '{"cs-uk": {"std_ref": "refA", "std_ref": "refB"}}'},
            "meta.json: field 'std_ref' stands twice in one object",
        ),
        (
            {"meta.json": '{"cs-uk": {"std_ref": "refC"}}'},
            "meta.json: standard reference 'refC' of cs-uk is not among the references",
        ),
        ({"meta.json": "[1]"}, "meta.json: expected a JSON object, language pair ->"),
    ],
)
def test_what_does_not_fit_is_refused_by_file_and_line(folder, changes, says):
    name = folder(changes, meta=None)
    with pytest.raises(ng.InputError) as error:
        read_eval_set(name, "cs-uk")
    assert str(error.value).startswith(f"set1/{says}")


def test_language_pairs_and_what_is_none(folder, put):
    assert language_pairs(folder()) == ["cs-uk"]
    with pytest.raises(ng.InputError, match=r"^set1: no language pair 'cs-en'; did you mean 'cs-uk'\?$"):
        read_eval_set("set1", "cs-en")
    put("other/x.txt", "")
    with pytest.raises(ng.InputError, match=r"^other: no sources/SRC-TGT\.txt in it"):
        language_pairs("other")


def test_a_file_of_human_scores_names_group_and_column(folder):
    table = read_scores(f"{folder()}/human-scores/cs-uk.mqm.v2.seg.score")
    assert (list(table.columns), table.groups, table.n_missing()) == (["mqm.v2"], ("cs-uk",), 3)
    assert read_scores("set1/human-scores/cs-uk.mqm.v2.domain.score").keys[0].item == "talk"
    Path("uneven.seg.score").write_text("A 1\nA 2\nB 3\n")
    with pytest.raises(
        ng.InputError,
        match=r"^uneven\.seg\.score: system 'B' has 1 score, system 'A' has 2; expected one per segment each$",
    ):
        read_scores("uneven.seg.score")
