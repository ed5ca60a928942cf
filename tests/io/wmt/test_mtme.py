from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.io.read import open_data
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.evalset import EvalSet, Info
from nlgauge.io.wmt.mtme import language_pairs, read_eval_set
from nlgauge.io.wmt.mtme_write import eval_set, write_eval_set, write_metric_scores

FILES = {
    "sources/cs-uk.txt": "eins\nzwei\ndrei\n",
    "documents/cs-uk.docs": "news d1\nnews\td1\r\ntalk d2\n",
    "references/cs-uk.refA.txt": "one\ntwo\nthree\n",
    "references/cs-uk.refB.txt": "1\n[No translation supplied]\n3\n",
    "system-outputs/cs-uk/A.txt": "a1\na2\na3\n",
    "system-outputs/cs-uk/B.1.txt": "b1\n[No translation supplied] \nb3\n",
    "system-outputs/cs-uk/refB.txt": "1\n[No translation supplied]\n3\n",
    "system-outputs/cs-uk/refA.txt": "one\ntwo\nthree\n",
    "human-scores/cs-uk.mqm.v2.seg.score": "A\t-1\nA -2.5\nA\tNone\nB.1 0\nB.1 nan\nB.1\t\n",
    "human-scores/cs-uk.mqm.v2.sys.score": "A -1.75\nB.1 0\n",
    "human-scores/cs-uk.mqm.v2.domain.score": "talk A 3\nnews A 1\n",
    "metric-scores/cs-uk/X-Y-refA.seg.score": "".join(
        f"{s} {v}\n" for s, vs in {"A": (1, 2, 3), "B.1": (4, 5, 6), "refB": (7, 8, 9)}.items() for v in vs
    ),
    "metric-scores/cs-uk/X-Y-refA.sys.score": "A 2\nB.1 5\nrefB 8\n",
    "metric-scores/cs-uk/QE-src.seg.score": "".join(f"{s} {v}\n" for s in ("A", "B.1") for v in (1, "None", 3)),
    "metric-scores/cs-uk/Z-refA.refB.sys.score": "A 1\nB.1 2\n",
}
META = {
    "cs-uk": {
        "std_ref": "refA",
        "std_gold": {"seg": "mqm.v2", "sys": "mqm.v2"},
        "outlier_systems": ["B.1"],
        "primary_metrics": ["X-Y"],
    }
}


@pytest.fixture
def folder(put):
    def make(changes=(), meta=META):
        for name, content in {**FILES, **dict(changes)}.items():
            if content is not None:
                put(f"set1/{name}", content)
        if meta is not None:
            put("set1/meta.json", json.dumps(meta))
        return "set1"

    return make


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


def test_segments_are_made_item_by_item_with_their_judgements(folder):
    data = read_eval_set(folder(), "cs-uk").dataset()
    assert [s.id for s in data] == [
        "cs-uk:A:1",
        "cs-uk:B.1:1",
        "cs-uk:refB:1",
        "cs-uk:A:2",
        "cs-uk:A:3",
        "cs-uk:B.1:3",
        "cs-uk:refB:3",
    ]
    assert data.segments[0] == ng.Segment("cs-uk:A:1", "a1", ("one",), "eins", "A", "1", "cs-uk", {"mqm.v2": -1.0})
    assert [dict(s.human) for s in data if s.system == "A"] == [{"mqm.v2": -1.0}, {"mqm.v2": -2.5}, {}]
    assert "set1 cs-uk: 1 output left out (refA; references used: refA)" in data.notes
    assert "set1 cs-uk: 2 translations not supplied, without a segment" in data.notes


def test_references_are_chosen_by_name(folder):
    found = read_eval_set(folder(), "cs-uk")
    both = found.dataset(["refB", "refA"], systems=["A"])
    assert [s.references for s in both] == [("1", "one"), ("two",), ("3", "three")]
    assert "set1 cs-uk: 1 reference text not supplied" in both.notes
    assert found.using("all") == ("refA", "refB")
    with pytest.raises(ng.InputError, match=r"^set1 cs-uk: no reference 'refC'; did you mean"):
        found.dataset("refC")
    with pytest.raises(ng.InputError, match=r"^set1 cs-uk: no system 'B'; did you mean"):
        found.dataset(systems=["B"])


def test_without_a_standard_reference_one_of_several_must_be_chosen(folder):
    with pytest.raises(
        ng.InputError,
        match=(
            r"^set1 cs-uk: references refA, refB, and none is named as the standard; choose one, or name it in"
            r" meta\.json$"
        ),
    ):
        read_eval_set(folder(meta=None), "cs-uk").dataset()


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


def test_systems_take_part_or_not_for_a_reason(folder):
    found = read_eval_set(folder(), "cs-uk")
    selection = found.select(rated=("mqm.v2", "segment"))
    assert selection.kept == ("A",)
    assert dict(selection.left_out) == {
        "B.1": "an outlier",
        "refA": "is a reference the metrics use",
        "refB": "written by people",
    }
    assert (
        found.select(include_humans=True, include_outliers=True, rated=("mqm.v2", "segment")).left_out["refB"]
        == "has no human score"
    )
    with pytest.raises(
        ng.InputError, match=r"^set1 cs-uk: no human scores 'da' of level 'segment'; there are: mqm\.v2 \(domain\)"
    ):
        found.select(rated=("da", "segment"))


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


def same(one: EvalSet, two: EvalSet) -> None:
    for name in ("lp", "sources", "domains", "documents", "references", "outputs", "info"):
        assert getattr(one, name) == getattr(two, name), name
    for kind in ("human", "metrics"):
        assert set(getattr(one, kind)) == set(getattr(two, kind))
        for key, scores in getattr(one, kind).items():
            assert set(scores) == set(getattr(two, kind)[key])
            for system, values in scores.items():
                np.testing.assert_array_equal(values, getattr(two, kind)[key][system])


def test_what_is_written_is_read_back(folder):
    first = read_eval_set(folder({"metric-scores/cs-uk/QE-src.seg.score": None}), "cs-uk")
    written = write_eval_set("set2", first)
    same(read_eval_set("set2", "cs-uk"), first)
    assert len(written) == 15 == len([path for path in Path("set2").rglob("*") if path.is_file()])
    assert (
        Path("set2/human-scores/cs-uk.mqm.v2.seg.score").read_text()
        == "A\t-1.0\nA\t-2.5\nA\tNone\nB.1\t0.0\nB.1\tNone\nB.1\tNone\n"
    )


texts = st.text(st.sampled_from("ab \t\n\r\u2028é\u3000"), max_size=5)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.just(np.nan)


@given(data=st.data(), n=st.integers(1, 4))
def test_any_texts_and_numbers_survive(data, n, tmp_path_factory):
    folder = tmp_path_factory.mktemp("set")
    column = st.lists(texts, min_size=n, max_size=n).map(tuple)
    sparse = st.lists(texts | st.none(), min_size=n, max_size=n).map(tuple)
    scores = st.lists(numbers, min_size=n, max_size=n).map(np.array)
    first = EvalSet(
        folder.name,
        "cs-uk",
        data.draw(column),
        ("x",) * n,
        ("d",) * n,
        {"refA": data.draw(sparse)},
        {"S1": data.draw(sparse), "S.2": data.draw(sparse)},
        {("h", "segment"): {"S1": data.draw(scores)}},
        {("M-refA", "segment"): {s: np.nan_to_num(data.draw(scores)) for s in ("S.2", "S1")}},
        Info("refA"),
    )
    write_eval_set(folder, first)
    same(read_eval_set(folder, "cs-uk"), first)


def simple(**changes):
    return EvalSet(
        **{
            "name": "s",
            "lp": "cs-uk",
            "sources": ("a", "b"),
            "domains": ("x", "x"),
            "documents": ("d", "d"),
            "references": {"refA": ("c", "d")},
            "outputs": {"S": ("e", "f")},
            **changes,
        }
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"references": {"ref.A": ("c", "d")}}, "s cs-uk: reference name 'ref.A'"),
        ({"outputs": {"S 1": ("e", "f")}}, "s cs-uk: system name 'S 1', expected one without blanks and '/'"),
        ({"outputs": {"S/1": ("e", "f")}}, "s cs-uk: system name 'S/1', expected one without blanks and '/'"),
        ({"outputs": {"S": ("e",)}}, "s cs-uk: system 'S' has 1 text, the sources have 2"),
        ({"domains": ("x y", "x")}, "s cs-uk: domain name 'x y' holds blanks"),
        ({"documents": ("d",)}, "s cs-uk: 1 document for 2 segments"),
        ({"outputs": {"refA": ("e", "f")}}, "s cs-uk: system 'refA' bears the name of a reference and has other texts"),
        ({"sources": ("[No translation supplied]", "b")}, "sources/cs-uk: a text is '[No translation supplied]'"),
        (
            {"metrics": {("M-refA", "segment"): {"S": np.array([1, np.nan])}}},
            "metric-scores/cs-uk/M-refA.seg.score: system 'S' has no number for 1 segment, first 2",
        ),
        (
            {"metrics": {("M-refA", "segment"): {"S": np.array([1.0])}}},
            "metric-scores/cs-uk/M-refA.seg.score: system 'S' has scores of shape (1,), expected (2,)",
        ),
        ({"metrics": {("M-src", "system"): {}}}, "metric-scores/cs-uk/M-src.sys.score: no scores of system 'S'"),
        (
            {"metrics": {("M", "system"): {"S": np.array([1.0])}}},
            "metric-scores/cs-uk/M.sys.score: expected the name of a metric to end in -REF",
        ),
        (
            {"human": {("h", "system"): {"T": np.array([1.0])}}},
            "human-scores/cs-uk.h.sys.score: system 'T' has no output",
        ),
        (
            {"human": {("h", "system"): {"S": np.array([np.inf])}}},
            "human-scores/cs-uk.h.sys.score: system 'S' has no number for 1 system",
        ),
    ],
)
def test_what_the_layout_cannot_hold_is_not_written(put, changes, says):
    put("other", "")
    with pytest.raises(ng.InputError) as error:
        write_eval_set("out", simple(**changes))
    assert str(error.value).removeprefix("out/").startswith(says)


def test_what_is_there_already_is_not_contradicted(put):
    put("out/sources/cs-uk.jsonl", "{}\n")
    with pytest.raises(
        ng.InputError,
        match=r"^out/sources/cs-uk\.jsonl is there already and would stand beside the new \.txt; remove it first$",
    ):
        write_eval_set("out", simple())
    put("two/meta.json", "{")
    with pytest.raises(ng.InputError, match=r"^two/meta\.json: expected a JSON object, .*; it is not overwritten$"):
        write_eval_set("two", simple(info=Info("refA")))
    put("three/meta.json", '{"de-en": {"std_ref": "refB"}}')
    write_eval_set("three", simple(info=Info("refA")))
    assert {lp: entry["std_ref"] for lp, entry in json.loads(Path("three/meta.json").read_text()).items()} == {
        "de-en": "refB",
        "cs-uk": "refA",
    }
    put("four", "")
    with pytest.raises(ng.InputError, match=r"^cannot make the folder four/sources: "):
        write_eval_set("four", simple())


def test_scores_of_a_metric_alone(put):
    put("other", "")
    path = write_metric_scores("out", simple(), "My-metric-refA", "segment", {"S": np.array([0.1, 1 / 3])})
    assert path.read_text() == "S\t0.1\nS\t0.3333333333333333\n"
    table = read_scores(path)
    assert (list(table.columns), [str(key) for key in table.keys]) == (
        ["My-metric-refA"],
        ["system 'S', item '1', group 'cs-uk'", "system 'S', item '2', group 'cs-uk'"],
    )
    assert table.column().tolist() == [0.1, 1 / 3]


def test_a_file_of_human_scores_names_group_and_column(folder):
    table = read_scores(f"{folder()}/human-scores/cs-uk.mqm.v2.seg.score")
    assert (list(table.columns), table.groups, table.n_missing()) == (["mqm.v2"], ("cs-uk",), 3)
    assert read_scores("set1/human-scores/cs-uk.mqm.v2.domain.score").keys[0].item == "talk"
    Path("uneven.seg.score").write_text("A 1\nA 2\nB 3\n")
    with pytest.raises(
        ng.InputError,
        match=r"^uneven\.seg\.score: system 'B' has 1 score, system 'A' has 2; expected one a segment each$",
    ):
        read_scores("uneven.seg.score")


def test_any_dataset_can_be_a_test_set(put):
    put("other", "")
    data = ng.read(
        put(
            "a.jsonl",
            "".join(
                json.dumps(
                    {
                        "system": s,
                        "seg": i,
                        "lp": "cs-uk",
                        "src": f"s{i}",
                        "refs": [f"r{i}", f"q{i}"],
                        "hyp": f"{s}{i}",
                        "human": {"da": [1, 2]} if s == "A" else {},
                    }
                )
                + "\n"
                for s, i in [("A", "y"), ("A", "x"), ("B", "x")]
            ),
        )
    )
    found = eval_set(data, name="mine")
    assert (found.sources, found.references, found.outputs) == (
        ("sy", "sx"),
        {"refA": ("ry", "rx"), "refB": ("qy", "qx")},
        {"A": ("Ay", "Ax"), "B": (None, "Bx")},
    )
    assert found.human["da", "segment"]["A"].tolist() == [1.5, 1.5]
    assert (found.name, eval_set(data).name) == ("mine", "a.jsonl")
    renamed = eval_set(data, references=["old", "new"])
    assert (list(renamed.references), renamed.info.reference) == (["old", "new"], "old")
    with pytest.raises(ng.InputError, match=r"^a\.jsonl: language pairs cs-uk, expected the name of one$"):
        eval_set(data, "cs-en")
    assert set(found.human["da", "segment"]) == {"A"}
    write_eval_set("mine", found)
    back = read_eval_set("mine", "cs-uk").dataset("all")
    assert {(s.system, s.hypothesis, s.references) for s in back} == {
        (s.system, s.hypothesis, s.references) for s in data
    }


@pytest.mark.parametrize(
    ("segments", "says"),
    [
        ([ng.Segment("k", "h", ("r",), "s", "A", "1")], "the dataset: language pairs none, expected the name of one"),
        (
            [ng.Segment(i, "h", ("r",), "s", "A", i, i) for i in ("cs-uk", "de-en")],
            "the dataset: language pairs cs-uk, de-en, expected the name of one",
        ),
        ([ng.Segment("k", "h", ("r",), None, "A", "1", "cs-uk")], "segment 'k' has no source, which the layout needs"),
        ([ng.Segment("k", "h", ("r",), "s", None, "1", "cs-uk")], "segment 'k' has no system, which the layout needs"),
        ([ng.Segment("k", "h", ("r",), "s", "A", None, "cs-uk")], "segment 'k' has no item, which the layout needs"),
        (
            [ng.Segment(i, "h", ("r",), "s", "A", "1", "cs-uk") for i in "kl"],
            "segments 'k' and 'l' are both of system 'A' and item '1'",
        ),
        (
            [ng.Segment(i, "h", (i,), "s", i, "1", "cs-uk") for i in "kl"],
            "segment 'l' has another source or other references than the first of item '1'",
        ),
        (
            [ng.Segment("k", "h", tuple("abcde"), "s", "A", "1", "cs-uk")],
            "items have up to 5 references, 4 names given",
        ),
    ],
)
def test_a_dataset_that_is_no_test_set_is_refused(segments, says):
    with pytest.raises(ng.InputError) as error:
        eval_set(ng.Dataset(tuple(segments)))
    assert str(error.value) == says


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
def test_real_judgements_survive_the_layout(tmp_path):
    # 178 inputs and 16 systems, less the one output that is not there: the counts of the data's own page
    data = ng.read(Path(os.environ["NLGAUGE_DATA"], "webnlg2020-humaneval", "segments.jsonl.gz"))
    found = eval_set(data, "data-to-text", references=[f"ref{i}" for i in range(1, 30)])
    write_eval_set(tmp_path / "webnlg", found)
    back = read_eval_set(tmp_path / "webnlg", "data-to-text").dataset("all")
    assert (len(back), len(back.systems), len(back.items)) == (2847, 16, 178)
    known = {(s.system, s.source, s.hypothesis): s for s in data}
    for segment in back:
        own = known[segment.system, segment.source, segment.hypothesis]
        assert segment.references == own.references
        assert segment.human == own.human
