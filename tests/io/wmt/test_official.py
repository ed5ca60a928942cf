"""The official run of a folder: what takes part; packed files; what is known of sets."""

import gzip
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.wmt.evalset import Info
from nlgauge.io.wmt.mtme import known_info, language_pairs, read_eval_set
from nlgauge.io.wmt.official import check_official, read_official

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


def test_people_and_outliers_can_be_left_out(folder):
    meta = {"cs-uk": {**GOLD["cs-uk"], "outlier_systems": ["B.1"]}}
    assert {s.system for s in read_official(folder(RATED, meta), humans=False).dataset} == {"A"}


def test_only_primary_metrics_where_the_folder_names_them(folder):
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
