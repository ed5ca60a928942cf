from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.export import eval_set, export_scores, write_eval_set, write_metric_scores
from nlgauge.io.wmt.mtme import EvalSet, Info, read_eval_set
from nlgauge.io.wmt.submissions import Expected, check_submission, read_submission

SEGMENTS = tuple(
    ng.Segment(f"{lp}:{system}:{item}", "t", ("r",), "s", system, item, lp)
    for lp in ("cs-uk", "de-en")
    for item in ("2", "1", "10")
    for system in ("A", "B")
)
VALUES = np.arange(12) / 7


def made(values=VALUES, segments=SEGMENTS):
    # squares are summed, so that the corpus number is not the mean of the segments
    stats = np.stack([values**2, np.ones(len(values))], axis=1)
    return Scores(
        Signature("m", ()),
        tuple(s.id for s in segments),
        values,
        stats=stats,
        finish=lambda t: t[..., 0] / t[..., 1],
        higher_is_better=False,
    )


def test_wmts_files_hold_every_score_in_full_and_the_metrics_own_system_score(put, tmp_path):
    put("other", "")
    export_scores("out", SEGMENTS, {"M": made()}, layout="wmt", reference="refA", testset="set1")
    table = read_scores("out/M.seg.score")
    assert table.of(SEGMENTS).tolist() == VALUES.tolist()
    segments, systems = read_submission("out/M.seg.score"), read_submission("out/M.sys.score")
    assert [row.segment for row in segments.rows][:3] == [1, 2, 10]
    by_system = systems.table().by_system(group="cs-uk")
    assert by_system["A"] == np.mean(VALUES[[0, 2, 4]] ** 2)
    want = Expected(frozenset(row.system for row in segments.rows), len({row.segment for row in segments.rows}), "refA")
    assert check_submission(systems, {"cs-uk": want}, "set1") == []


def test_the_other_layout_is_what_its_reader_takes(put):
    put("other", "")
    segments = SEGMENTS[:6]
    data = ng.Dataset(segments)
    evaluated = eval_set(data)
    write_eval_set("set1", evaluated)
    order = [
        s
        for item in evaluated.units("segment")
        for s in segments
        if s.item == sorted({x.item for x in segments}, key=lambda i: ["2", "1", "10"].index(i))[int(item) - 1]
    ]
    renumbered = [
        ng.Segment(s.id, "t", s.references, "s", s.system, str(i // 2 + 1), s.group) for i, s in enumerate(order)
    ]
    export_scores("set1", renumbered, {"M": made(VALUES[:6], renumbered)}, layout="mtme", reference="refA")
    found = read_eval_set("set1", "cs-uk")
    assert {s: v.tolist() for s, v in found.metrics["M-refA", "segment"].items()} == {
        "A": VALUES[[0, 2, 4]].tolist(),
        "B": VALUES[[1, 3, 5]].tolist(),
    }
    assert found.table("M-refA", "system").by_system()["B"] == np.mean(VALUES[[1, 3, 5]] ** 2)
    assert found.notes == ()


def test_the_manifest_says_what_the_files_are(put):
    put("other", "")
    written = export_scores("out", SEGMENTS, {"M": made()}, layout="mtme", reference="src")
    manifest = json.loads(Path("out/manifest.json").read_bytes())
    assert [path.name for path in written[:-1]] == ["M-src.seg.score", "M-src.sys.score"] * 2
    assert [(f["path"], f["sha256"]) for f in manifest["files"]] == [
        (path.relative_to("out").as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in written[:-1]
    ]
    assert manifest["metrics"] == [{"name": "M", "signature": str(made().signature), "higher_is_better": False}]
    assert (manifest["systems"], manifest["n"]) == (
        {"cs-uk": ["A", "B"], "de-en": ["A", "B"]},
        {"cs-uk": 3, "de-en": 3},
    )
    assert (manifest["layout"], manifest["testset"]) == ("mtme", None)
    assert manifest["items"] == {
        "cs-uk": ["1", "2", "10"],
        "de-en": ["1", "2", "10"],
    }  # not 1 to 3, so the numbers must be told


def test_documents_stand_in_wmts_lines(put):
    put("other", "")
    export_scores(
        "out",
        SEGMENTS[:2],
        {"M": made(VALUES[:2], SEGMENTS[:2])},
        layout="wmt",
        reference="src",
        testset="s",
        documents={("cs-uk", "2"): ("news", "d7")},
    )
    assert {
        (row.domain, row.document, row.reference, row.segment) for row in read_submission("out/M.seg.score").rows
    } == {("news", "d7", "src", 2)}


def changed(place, **changes):
    return tuple(replace(s, **changes) if i == place else s for i, s in enumerate(SEGMENTS))


@pytest.mark.parametrize(
    ("segments", "values", "options", "says"),
    [
        (
            SEGMENTS,
            np.where(np.arange(12) == 3, np.nan, 1.0),
            {},
            "M has no score for 1 segment (cs-uk:B:1); these files need one everywhere",
        ),
        (changed(1, system=None), VALUES, {}, "segment 'cs-uk:B:2' has no system, which the files name"),
        (changed(1, group=None), VALUES, {}, "segment 'cs-uk:B:2' has no language pair, which the files name"),
        (changed(1, item="1"), VALUES, {}, "segments 'cs-uk:B:2' and 'cs-uk:B:1' are both of system 'B' and item '1'"),
        (SEGMENTS[1:], VALUES[1:], {}, "cs-uk: system 'A' lacks 1 item, first '2'; every system needs every item"),
        (
            SEGMENTS[:1] + SEGMENTS[1:6:2],
            VALUES[:4],
            {},
            "cs-uk: system 'A' lacks 2 items, first '1'; every system needs every item",
        ),
        (SEGMENTS, VALUES, {"layout": "wmt"}, "WMT's files name the test set in every line; give testset"),
        (SEGMENTS, VALUES, {"name": "M:x y"}, "metric name 'M:x y', expected one without blanks, '/'"),
        (
            changed(1, system="B x")[:2],
            VALUES[:2],
            {},
            "out/metric-scores/cs-uk/M-refA.seg.score: system 'B x' holds blanks",
        ),
    ],
)
def test_what_the_files_cannot_hold_is_refused(put, segments, values, options, says):
    put("other", "")
    with pytest.raises(ng.InputError) as error:
        export_scores(
            "out",
            segments,
            {options.pop("name", "M"): made(values, segments)},
            **{"layout": "mtme", "reference": "refA", **options},
        )
    assert str(error.value).startswith(says)


def test_scores_of_other_segments_are_refused(put):
    put("other", "")
    with pytest.raises(
        ng.InputError, match=r"^scores of M are not those of the segments beside them \(12 scores, 2 segments\)$"
    ):
        export_scores("out", SEGMENTS[:2], {"M": made()}, layout="mtme", reference="refA")


@pytest.mark.parametrize("layout", ["wmt", "mtme"])
@pytest.mark.parametrize(
    ("lp", "name", "reference", "what"),
    [
        ("../../../evil", "M", "refA", "language pair"),
        ("cs-uk", "../../M", "refA", "metric name"),
        ("cs-uk", "M", "../refA", "reference"),
    ],
)
def test_a_name_from_the_data_leads_to_no_other_folder(put, tmp_path, layout, lp, name, reference, what):
    put("other", "")
    kept = sorted(tmp_path.rglob("*"))
    segments = (ng.Segment("1", "t", ("r",), "s", "A", "1", lp),)
    with pytest.raises(ng.InputError, match=f"{what} '.*becomes the name of a file"):
        export_scores(
            "in/ner/out", segments, {name: made(VALUES[:1], segments)}, layout=layout, reference=reference, testset="t"
        )
    assert sorted(tmp_path.rglob("*")) == kept


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
        ({"outputs": {"S 1": ("e", "f")}}, "s cs-uk: system name 'S 1', expected one without blanks, '/'"),
        ({"outputs": {"S/1": ("e", "f")}}, "s cs-uk: system name 'S/1', expected one without blanks, '/'"),
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
    found = eval_set(data)
    assert (found.sources, found.references, found.outputs) == (
        ("sy", "sx"),
        {"refA": ("ry", "rx"), "refB": ("qy", "qx")},
        {"A": ("Ay", "Ax"), "B": (None, "Bx")},
    )
    assert found.human["da", "segment"]["A"].tolist() == [1.5, 1.5]
    assert found.name == "a.jsonl"
    assert found.info.reference == "refA"
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
    found = eval_set(data, "data-to-text")
    write_eval_set(tmp_path / "webnlg", found)
    back = read_eval_set(tmp_path / "webnlg", "data-to-text").dataset("all")
    assert (len(back), len(back.systems), len(back.items)) == (2847, 16, 178)
    known = {(s.system, s.source, s.hypothesis): s for s in data}
    for segment in back:
        own = known[segment.system, segment.source, segment.hypothesis]
        assert segment.references == own.references
        assert segment.human == own.human


def test_mtme_write_a_name_from_the_data_leads_to_no_other_folder(put, tmp_path):
    put("other", "")
    kept = sorted(tmp_path.rglob("*"))
    rated = {("../../../x", "segment"): {"S": np.array([1.0, 2.0])}}
    for changes, what in (
        ({"lp": "../../../evil"}, "language pair"),
        ({"human": rated}, "name of human scores"),
        ({"outputs": {"..": ("e", "f")}}, "system name"),
    ):
        with pytest.raises(ng.InputError, match=f"{what} '.*becomes the name of a file"):
            write_eval_set("in/ner/set", simple(**changes))
    for evaluated, name in ((simple(), "../../../x-src"), (simple(lp="../.."), "M-src")):
        with pytest.raises(ng.InputError, match="becomes the name of a file"):
            write_metric_scores("in/ner/set", evaluated, name, "segment", {"S": np.array([1.0, 2.0])})
    assert sorted(tmp_path.rglob("*")) == kept
