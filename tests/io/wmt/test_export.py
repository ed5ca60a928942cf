from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.scores import Scores
from nlgauge.core.spec import Signature
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.export import export_scores
from nlgauge.io.wmt.mtme import read_eval_set
from nlgauge.io.wmt.mtme_write import eval_set, write_eval_set
from nlgauge.io.wmt.submissions import check_submission, expected, read_submission

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
    assert check_submission(systems, {"cs-uk": expected(segments, "set1", {"cs-uk": "refA"})["cs-uk"]}, "set1") == []


def test_the_other_layout_is_what_its_reader_takes(put):
    put("other", "")
    segments = SEGMENTS[:6]
    data = ng.Dataset(segments)
    evaluated = eval_set(data, name="set1")
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
    written = export_scores(
        "out", SEGMENTS, {"M": made()}, layout="mtme", reference="src", left_out={"refA": "is a reference"}
    )
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
    assert (manifest["left_out"], manifest["missing"], manifest["layout"]) == ({"refA": "is a reference"}, 0, "mtme")
    assert manifest["testset"] is None
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
