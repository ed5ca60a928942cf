import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from tests.io.wmt.conftest import FILES

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.read import open_data
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.mtme import Info, check_official, known_info, language_pairs, read_eval_set, read_official


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


def test_systems_take_part_or_not_for_a_reason(folder):
    found = read_eval_set(folder(), "cs-uk")
    selection = found.select(rated=("mqm.v2", "segment"))
    assert selection.kept == ("A",)
    assert dict(selection.left_out) == {
        "B.1": "an outlier",
        "refA": "is a reference the metrics use",
        "refB": "written by people",
    }
    assert found.select(include_humans=True, rated=("mqm.v2", "segment")).left_out["refB"] == "has no human score"
    with pytest.raises(
        ng.InputError, match=r"^set1 cs-uk: no human scores 'da' of level 'segment'; there are: mqm\.v2 \(domain\)"
    ):
        found.select(rated=("da", "segment"))


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
    assert (list(table.columns), table.groups, np.isnan(table.column()).sum()) == (["mqm.v2"], ("cs-uk",), 3)
    assert read_scores("set1/human-scores/cs-uk.mqm.v2.domain.score").keys[0].item == "talk"
    Path("uneven.seg.score").write_text("A 1\nA 2\nB 3\n")
    with pytest.raises(
        ng.InputError,
        match=r"^uneven\.seg\.score: system 'B' has 1 score, system 'A' has 2; expected one per segment each$",
    ):
        read_scores("uneven.seg.score")


# --- The official run of a folder: what takes part; packed files; what is known of sets

GOLD = {"cs-uk": {"std_ref": "refA", "std_gold": {"seg": "mqm.v2"}, "primary_metrics": ["X-Y", "QE"]}}
RATED = {"human-scores/cs-uk.mqm.v2.seg.score": "".join(f"{s} {v}\n" for s in ("A", "B.1", "refB") for v in (1, 2, 3))}


def test_what_takes_part(folder):
    run = read_official(folder(RATED, GOLD))
    assert {s.system for s in run.dataset} == {"A", "B.1", "refB"}  # refA is the reference that metrics use
    assert {s.references for s in run.dataset} == {("one",), ("two",), ("three",)}
    segments, systems = run.scores["X-Y"]
    assert (segments.level, systems.level, segments.columns["X-Y"].tolist()[:3]) == ("segment", "system", [1, 2, 3])
    assert systems.by_system("X-Y") == {"A": 2, "B.1": 5, "refB": 8}
    assert set(run.scores) == {"X-Y", "QE"}  # Z used two references
    assert len(run.scores["QE"]) == 1
    assert (
        run.dataset.notes[0]
        == "set1 cs-uk: human scores 'mqm.v2', 3 of 4 systems (left out refA: is a reference the metrics use)"
    )
    meta = {"cs-uk": {**GOLD["cs-uk"], "outlier_systems": ["B.1"]}}
    assert {s.system for s in read_official(folder(RATED, meta), humans=False).dataset} == {"A"}
    primary = {"cs-uk": {**GOLD["cs-uk"], "primary_metrics": ["QE"]}}
    assert set(read_official(folder(RATED, primary)).scores) == {"QE"}


def test_a_folder_without_standard_scores_is_refused(folder):
    name = folder({"human-scores/cs-uk.other.seg.score": "A 1\nA 2\nA 3\n"}, {"cs-uk": {"std_ref": "refA"}})
    with pytest.raises(
        InputError, match="no language pair has human scores of segments that are named as the standard"
    ):
        read_official(name)


def test_packed_files_are_read_like_plain_ones(folder):
    name = folder(RATED)
    plain = read_eval_set(name, "cs-uk")
    for path in sorted(Path(name).rglob("*.*")):
        if path.suffix in (".txt", ".docs", ".score"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
            path.unlink()
    assert language_pairs(name) == ["cs-uk"]
    packed = read_eval_set(name, "cs-uk")
    assert (packed.sources, packed.documents, packed.outputs) == (plain.sources, plain.documents, plain.outputs)
    assert set(packed.human) == set(plain.human)
    assert set(packed.metrics) == set(plain.metrics)


def test_a_file_that_is_there_twice_is_refused(folder):
    name = Path(folder())
    for part in ("human-scores/cs-uk.mqm.v2.seg.score", "sources/cs-uk.txt", "system-outputs/cs-uk/A.txt"):
        twin = name / f"{part}.gz"
        twin.write_bytes(gzip.compress((name / part).read_bytes()))
        with pytest.raises(InputError, match=r"both .* expected one of them"):
            read_eval_set(name, "cs-uk")
        twin.unlink()


def test_what_is_known_of_a_set_must_fit_the_folder(put):
    for name in ("sources/en-de.txt", "references/en-de.refA.txt", "system-outputs/en-de/A.txt"):
        put(f"wmt23/{name}", "a\nb\n")
        put(f"wmt22/{name.replace('refA', 'mine')}", "a\nb\n")
    found = read_eval_set("wmt23", "en-de")
    assert (found.info.reference, found.info.outliers) == ("refA", frozenset())  # synthetic_ref is not in this folder
    assert found.notes == ("wmt23 en-de: no meta.json; standard reference refA as in the shared task",)
    assert read_eval_set("wmt22", "en-de").info == Info()


def test_what_is_known_of_the_sets_of_shared_tasks():
    found = known_info("wmt23", "he-en")
    assert (found.reference, found.gold["segment"], "MetricX-23" in found.primary) == ("refB", "mqm", True)
    assert known_info("wmt23", "en-de").outliers == {"synthetic_ref"}
    assert known_info("wmt20", "en-de").gold == {"system": "wmt-z", "segment": "wmt-raw"}
    assert known_info("wmt23", "en-ru").gold == {}
    assert known_info("wmt23", "xx-yy") == known_info("my set", "he-en") == Info()
    assert known_info("wmt24", "en-de").gold["segment"] == "mqm"
    assert [known_info("wmt24pp", f"en-{code}").reference for code in ("de_DE", "is_IS")] == ["posteditB", "refA"]
    found = known_info("wmt25", "en-ko_KR")
    assert (found.reference, found.gold["segment"], found.criterion) == ("refA", "mqm", "human")
    assert (known_info("wmt25", "en-it_IT").reference, found.primary - known_info("wmt25", "cs-de_DE").primary) == (
        None, set(),
    )  # fmt: skip


def test_a_pair_of_a_set_that_had_no_reference(put):
    for name in ("sources/en-it_IT.txt", "system-outputs/en-it_IT/A.txt"):
        put(f"wmt25/{name}", "a\nb\n")
    put("wmt25/human-scores/en-it_IT.esa-human1.seg.score", "A 1\nA 2\n")
    found = read_eval_set("wmt25", "en-it_IT")
    assert found.notes == ("wmt25 en-it_IT: no meta.json; no standard reference as in the shared task",)
    read = read_official("wmt25").dataset
    assert [(s.references, s.human) for s in read] == [((), {"human": 1}), ((), {"human": 2})]


def test_standard_scores_of_all_pairs_count_under_the_name_of_the_folder(folder):
    meta = {"cs-uk": {"std_ref": "refA", "std_gold": {"seg": "mqm.v2"}, "criterion": "human"}}
    found = read_official(folder(RATED, meta)).dataset
    assert {name for s in found for name in s.human} == {"human"}
    with pytest.raises(InputError, match=r"meta\.json: expected a JSON object"):
        read_eval_set(folder(meta={"cs-uk": {"criterion": 1}}), "cs-uk")


def test_a_reference_that_is_made_of_outputs_is_told(folder):
    name = folder({"references/cs-uk.posteditA.txt": "one\ntwo\nthree\n"})
    note = "set1 cs-uk: posteditA is made of outputs, and favours the systems that it came from"
    found = read_eval_set(name, "cs-uk")
    assert note in found.dataset(references=["posteditA"]).notes
    assert note not in found.dataset().notes


def test_what_a_folder_lacks_is_named(folder):
    name = Path(folder(RATED, GOLD))
    for path in (name / "metric-scores" / "cs-uk").glob("X-Y-*.seg.score"):
        path.unlink()
    run = read_official(name)
    assert set(run.scores) == {"QE"}
    assert any("with scores of systems alone left out: X-Y-refA" in note for note in run.dataset.notes)
    for path in (name / "metric-scores" / "cs-uk").iterdir():
        path.unlink()
    run = read_official(name)
    assert run.scores == {}
    assert any("no official scores of segments by the standard reference" in note for note in run.dataset.notes)


def test_one_language_pair_of_several(folder):
    name = folder(RATED, GOLD)
    assert {s.group for s in read_official(name, lps=["cs-uk"]).dataset} == {"cs-uk"}
    with pytest.raises(InputError, match=r"no language pair 'cs-ru'; did you mean 'cs-uk'\?"):
        read_official(name, lps=["cs-ru"])


def test_a_metric_with_a_reference_and_one_with_the_source_are_two(folder):
    name = Path(folder(RATED, {"cs-uk": {"std_ref": "refA", "std_gold": {"seg": "mqm.v2"}}}))
    lines = "".join(f"{system} {value}\n" for system in ("A", "B.1", "refB") for value in (7, 8, 9))
    scores = name / "metric-scores" / "cs-uk"
    (scores / "X-Y-src.seg.score").write_text(lines)
    run = read_official(name)
    assert run.scores["X-Y"][0].column("X-Y").tolist()[:3] == [1, 2, 3]
    assert run.scores["X-Y-src"][0].column("X-Y-src").tolist()[:3] == [7, 8, 9]


def test_a_submission_is_held_against_the_folder(folder, put):
    path, units = folder(), (("news", "d1"), ("news", "d1"), ("talk", "d2"))
    rows = [
        ("M", "cs-uk", "t1", *unit, reference, system, str(n), "0.5")
        for reference, system in (("refA", "A"), ("refA", "B.1"), ("refA", "refB"), ("refB", "A"))
        for n, unit in enumerate(units, start=1)
    ]

    def faults(name, rows):
        return check_official(path, put(name, "".join("\t".join(row) + "\n" for row in rows)))[1]

    wanted = check_official(path, put("M.seg.score", "".join("\t".join(row) + "\n" for row in rows)))
    assert wanted == ("segment scores of test set 't1': cs-uk 4 outputs of 3 segments", [])
    assert faults("M.seg.score", [row for row in rows if row[5] == "refA" and row[6:8] != ("A", "2")]) == [
        "cs-uk: system 'A' lacks 1 of 3 segments: 2",
        "cs-uk: references lacking: refB",
    ]
    systems = [("M", "cs-uk", "t1", "all", *names, "0.5") for names in (("refA", "A"), ("refA", "C"), ("refB", "A"))]
    assert faults("M.sys.score", systems) == ["cs-uk: systems lacking: B.1, refB", "cs-uk: systems not known: C"]
    with pytest.raises(InputError, match=r"2 test sets \(t1, t2\), and none is called 'set1' as the folder"):
        faults("M.seg.score", [*rows, ("M", "cs-uk", "t2", *rows[0][3:])])


def test_a_submission_may_have_the_two_columns_of_mt_metrics_eval(folder, put):
    path = folder()
    systems = ("A", "B.1", "refB")  # refA is the standard, and needs no score
    rows = [f"{system}\t{n / 10}\n" for system in systems for n in range(3)]
    assert check_official(path, put("X-refA.seg.score", "".join(rows)))[1] == []
    assert check_official(path, put("X-src.sys.score", "".join(rows[::3]) + "refA 1\n"))[1] == []
    assert check_official(path, put("X-refA.seg.score", "".join(rows[:-1])))[1] == [
        "cs-uk: system 'refB' lacks 1 of 3 segments: 3"
    ]
    assert check_official(path, put("X-refB.seg.score", "".join(rows)))[1] == [
        "cs-uk: no line for test set 'set1' against 'refA' or 'src'"
    ]
    with pytest.raises(InputError, match=r"^X\.seg\.score: expected the name of a metric to end in -REF"):
        check_official(path, put("X.seg.score", "".join(rows)))


def test_two_columns_are_about_the_language_pair_of_their_folder(folder, put):
    other = {name.replace("cs-uk", "de-en"): text for name, text in FILES.items() if "cs-uk" in name}
    path, rows = folder(other), "".join(f"{system}\t0\n" for system in ("A", "B.1", "refB") for _ in range(3))
    assert check_official(path, put("cs-uk/X-refA.seg.score", rows)) == (
        "segment scores of test set 'set1': cs-uk 4 outputs of 3 segments",
        [],
    )
    alone = put("X-refA.seg.score", rows)
    with pytest.raises(InputError, match=r"names no language pair of cs-uk, de-en; give one --lp$"):
        check_official(path, alone)
    assert check_official(path, alone, ["cs-uk"])[1] == []
