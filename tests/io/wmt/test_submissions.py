from __future__ import annotations

import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile, Limits, limited
from nlgauge.io.parallel import is_sgm, open_parallel
from nlgauge.io.scores import read_scores
from nlgauge.io.wmt.submissions import (
    LAYOUTS,
    Expected,
    Submission,
    SubmissionRow,
    check_submission,
    read_sgm,
    read_submission,
    write_submission,
)

XML = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="newstest2021">
  <doc id="d1" origlang="en">
    <src lang="en"><p><seg id="1">one</seg><seg id="2">two &lt; three</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">eins</seg><seg id="2">zwei</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">Eins</seg><seg id="2">Zwei</seg></p></ref>
    <hyp lang="de" system="X"><p><seg id="1">ein</seg><seg id="2">zwo</seg></p></hyp>
  </doc>
  <doc id="d2">
    <src lang="en"><p><seg id="1">four</seg></p></src>
    <ref lang="de" translator="A"><p><seg id="1">vier</seg></p></ref>
    <ref lang="de" translator="B"><p><seg id="1">Vier</seg></p></ref>
    <hyp lang="de" system="X"><p><seg id="1">fier</seg></p></hyp>
  </doc>
</dataset>
"""


@pytest.fixture
def read(put):
    return lambda content, role="hyp": read_sgm(InputFile(put("x.sgm", content)), role)


def listed(found):
    return {one.who: [text for _, text in one] for one in found}


def test_xml_of_wmt_holds_all_sides(read):
    assert listed(read(XML, "src")) == {"": ["one", "two < three", "four"]}
    assert listed(read(XML, "ref")) == {"A": ["eins", "zwei", "vier"], "B": ["Eins", "Zwei", "Vier"]}
    (found,) = read(XML)
    assert (found.who, found.count) == ("X", 3)
    assert found.keys == (("d1", "1"), ("d1", "2"), ("d2", "1"))


def test_sgm_of_several_systems_or_translators(read):
    sets = "".join(f'<DOC sysid="{name}" docid="d"><seg id=1>{name}</seg></DOC>' for name in "AB")
    assert listed(read(f"<refset setid='x'>{sets}</refset>", "ref")) == {"A": ["A"], "B": ["B"]}
    assert listed(read("<tstset sysid='C'><doc docid='d'><seg>c</seg></doc></tstset>")) == {"": ["c"]}
    assert listed(read(f"<refset setid='x'>{sets}</refset>", "hyp")) == {"A": ["A"], "B": ["B"]}  # the only set


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("a &amp; b &quot;c&quot; &#39;d&#x27;", "a & b \"c\" 'd'"),
        ("AT&T a < b > c &copy; &#xD800; &#9999999;", "AT&T a < b > c &copy; &#xD800; &#9999999;"),
        ("  a\n\tb ", "a b"),
        ("a\u00a0b", "a\u00a0b"),
        ("", ""),
        ("&amp;lt;", "&lt;"),  # once, not twice
        ("a <src> in a text", "a <src> in a text"),
        ("a<!-- b --> c", "a c"),
        ("a<!-- b\n</seg><seg> -->", "a"),
    ],
)
def test_the_text_between_marks(read, raw, text):
    assert listed(read(f"<tstset><doc docid='d'><seg id='1'>{raw}</seg></doc></tstset>")) == {"": [text]}


def test_what_closes_itself_is_empty(read):
    assert listed(read("<tstset><doc docid='d'><seg id='1'/><seg id='2'>b</seg><seg id='3' /></doc></tstset>")) == {
        "": ["", "b", ""]
    }
    assert listed(read(XML.replace("</doc>", "<ref translator='B'/></doc>"), "ref")) == listed(read(XML, "ref"))


def of_two(tag, name, first, second):
    """Documents of one and two segments; A has the first texts of all, B those of one document alone."""
    parts = [f"<{tag} {name}='A'><seg id='1'>{first}</seg></{tag}><{tag} {name}='B'><seg id='1'>b</seg></{tag}>"]
    parts += [f"<{tag} {name}='A'><seg id='1'>{second}</seg><seg id='2'>{second}</seg></{tag}>"]
    return "<dataset>" + "".join(f"<doc id='d{i}'>{part}</doc>" for i, part in enumerate(parts, 1)) + "</dataset>"


def test_a_translator_who_lacks_segments_is_left_out_and_a_system_is_refused(read):
    (texts,) = read(of_two("ref", "translator", "x", "y"), "ref")
    assert [text for _, text in texts] == ["x", "y", "y"]
    assert texts.notes()[1] == "x.sgm: 'B' lacks 2 of 3 segments, first '1' of document 'd2', and is left out"
    with pytest.raises(InputError, match=r"^x\.sgm: 'B' lacks 2 of 3 segments, .* or a file without 'B'$"):
        read(of_two("hyp", "system", "x", "y"))
    lacking = of_two("ref", "translator", "x", "y").replace("<ref translator='A'><seg id='1'>x</seg></ref>", "")
    with pytest.raises(InputError, match=r"^x\.sgm: 'B' lacks 2 of 3 segments"):  # and A the other one
        read(lacking, "ref")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("<tstset><doc><seg>a", r"^x\.sgm:1: a seg that is never closed"),
        ("<tstset></tstset>", r"^x\.sgm holds no seg, expected hypotheses$"),
        (XML.replace("hyp", "note"), r"^x\.sgm holds sources, references, expected hypotheses$"),
        ("<tstset><doc docid='d'><seg id='1'>a</seg>\n<seg id='1'>b</seg></doc></tstset>", "x.sgm:2: .* second time"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><tstset><seg>&b;</seg></tstset>", "defines entities"),
        ("<tstset><doc><seg><![CDATA[a]]></seg></doc></tstset>", "defines entities or holds CDATA"),
        (b"<tstset><doc><seg>\xe9</seg></doc></tstset>", "not UTF-8"),
    ],
)
def test_what_is_wrong_is_refused(read, content, says):
    with pytest.raises(InputError, match=says):
        read(content)


def test_entities_are_never_expanded(put):
    # a billion laughs: each is ten of the one before
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    put("x.sgm", f'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]>\n<dataset><doc>&l9;</doc></dataset>')
    with pytest.raises(InputError, match=r"^x\.sgm is XML, of which WMT's alone is read"):
        open_parallel(["x.sgm"])


def test_a_text_beyond_the_limit_is_refused(read):
    with limited(Limits(segment=5)), pytest.raises(InputError, match="a text of 6 characters"):
        read("<tstset><doc><seg>abcdef</seg></doc></tstset>")


@pytest.mark.parametrize(
    ("head", "yes"),
    [
        ("<tstset a='b'><seg id=1>", True),
        ("\ufeff\n<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE m>\n<mteval><refset><doc>", True),
        ("<REFSET>\n<DOC>", True),
        ("<srcsets><doc>", False),
        ("<dataset", False),
        ("a <tstset><doc>", False),
        ("<tstset>", False),
        ("<doc>", False),
    ],
)
def test_only_a_set_of_texts_begins_so(put, head, yes):
    assert is_sgm(InputFile(put("x", head))) is yes


SEG = {
    "2022": "BLEU\tcs-uk\tset1\tnews\td1\trefA\tS.1\t2\t0.5",
    "2020": "BLEU\tcs-uk\tset1\trefA\tS.1\t2\t0.5",
    "2017": "BLEU\tcs-uk\tset1\tS.1\t2\t0.5",
}
SYS = {
    "2022": "BLEU\tcs-uk\tset1\tall\trefA\tS.1\t30.5",
    "2020": "BLEU\tcs-uk\tset1\trefA\tS.1\t30.5",
    "2017": "BLEU\tcs-uk\tset1\tS.1\t30.5",
}


@pytest.mark.parametrize("layout", list(SEG))
@pytest.mark.parametrize("blank", ["\t", " "])
def test_segment_lines_of_every_year(put, layout, blank):
    submission = read_submission(put("m.seg.score", SEG[layout].replace("\t", blank) + "\n"))
    reference = "" if layout == "2017" else "refA"
    place = ("news", "d1") if layout == "2022" else ("all", "")
    assert submission.rows == (SubmissionRow("BLEU", "cs-uk", "set1", "S.1", 0.5, 2, *place, reference),)
    assert (submission.layout, submission.level) == (layout, "segment")


@pytest.mark.parametrize("layout", list(SYS))
def test_system_lines_of_every_year(put, layout):
    submission = read_submission(put("m.sys.score.gz", gzip.compress(SYS[layout].encode())))
    assert submission.rows == (
        SubmissionRow("BLEU", "cs-uk", "set1", "S.1", 30.5, reference="" if layout == "2017" else "refA"),
    )
    assert (submission.layout, submission.level) == (layout, "system")


def test_old_lines_with_two_words_about_the_metric(put):
    # as in the files of 2018: seven and eight columns, which are columns of other years if only counted
    seg = read_submission(
        put(
            "m.seg.score",
            SEG["2017"] + "\tnon-ensemble\thttps://example.org\n" + SEG["2017"].replace("\t2\t", "\t3\t") + "\tno\n",
        )
    )
    system = read_submission(put("m.sys.score", SYS["2017"] + "\tnon-ensemble\thttps://example.org\n"))
    assert [row.segment for row in seg.rows] == [2, 3]
    assert [row.score for row in (*seg.rows, *system.rows)] == [0.5, 0.5, 30.5]
    assert (seg.layout, system.layout) == ("2017", "2017")


def test_a_last_word_none_is_no_missing_score_of_a_later_year(put):
    # seven columns, as many as since 2022, where "none" in the last would be a score that is missing
    system = read_submission(put("m.sys.score", SYS["2017"] + "\tnon-ensemble\tnone\n"))
    assert [(row.system, row.score) for row in system.rows] == [("S.1", 30.5)]
    later = read_submission(put("n.sys.score", SYS["2022"].replace("30.5", "None") + "\n"))
    assert (later.layout, later.rows[0].system, math.isnan(later.rows[0].score)) == ("2022", "S.1", True)
    segment = read_submission(put("n.seg.score", SEG["2020"].replace("0.5", "None") + "\n"))
    assert (segment.layout, segment.rows[0].segment) == ("2020", 2)


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("m.score", "x", "m.score: the level cannot be told from the name, expected .seg.score or .sys.score"),
        (
            "m.seg.score",
            "",
            (
                "m.seg.score is empty: no line in it, expected METRIC LP TESTSET DOMAIN DOCUMENT REFERENCE SYSTEM"
                " SEGMENT SCORE"
            ),
        ),
        (
            "m.seg.score",
            "a b c\n",
            "m.seg.score:1: 3 columns, expected a score in the last of 9 since 2022; 7 since 2020; 6 since 2017",
        ),
        ("m.seg.score", SEG["2022"] + "\n" + SEG["2020"] + "\n", "m.seg.score:2: 7 columns, expected 9: METRIC LP"),
        (
            "m.seg.score",
            SEG["2022"].replace("\t2\t", "\t0\t") + "\n",
            "m.seg.score:1: segment '0', expected a whole number from 1",
        ),
        (
            "m.seg.score",
            SEG["2022"] + "\n" + SEG["2022"].replace("0.5", "0,5") + "\n",
            "m.seg.score:2: score '0,5', expected a number or None; write",
        ),
    ],
)
def test_bad_files_are_refused_by_line(put, name, content, says):
    with pytest.raises(ng.InputError) as error:
        read_submission(put(name, content))
    assert str(error.value).startswith(says)


def rows(systems=("A", "B"), n=2, lp="cs-uk", reference="refA", metric="BLEU", testset="set1"):
    return [
        SubmissionRow(metric, lp, testset, s, 10.0 * i + k, k, "news", f"d{k}", reference)
        for i, s in enumerate(systems)
        for k in range(1, n + 1)
    ]


def test_the_table_is_keyed_by_system_number_and_language_pair():
    table = Submission("segment", tuple(rows()), name="f").table()
    assert list(table.columns) == ["BLEU-refA"]
    segments = [
        ng.Segment("x", "t", system="B", item="2", group="cs-uk"),
        ng.Segment("y", "t", system="A", item="1", group="cs-uk"),
    ]
    assert table.of(segments).tolist() == [12, 1]
    with pytest.raises(
        ng.InputError, match=r"^f: two lines for system 'A', item '1', group 'cs-uk', metric 'BLEU', reference 'refA'$"
    ):
        Submission("segment", (*rows(n=1), *rows(["A"], n=1)), name="f").table()
    both = [
        SubmissionRow("M", "cs-uk", "set1", "A", 1.0, reference="refA"),
        SubmissionRow("M", "cs-uk", "set1", "A", 9.0, 0, "news", "", "refA"),
    ]
    table = Submission("system", tuple(both), name="f").table()
    assert table.by_system() == {"A": 1.0}
    assert table.notes == ("f: 1 line of single domains left out",)


def test_references_are_columns_and_what_is_not_asked_for_is_counted():
    submission = Submission(
        "segment",
        (*rows(), *rows(["A"], reference="refB"), *rows(["refA"]), *rows(["A"], testset="challenge")),
        name="f",
    )
    table = submission.table("set1")
    assert np.nan_to_num(table.column("BLEU-refB"), nan=-1).tolist() == [1, 2, -1, -1]
    assert table.notes == (
        "f: 2 lines of other test sets left out",
        "f: 2 lines that score a reference against itself left out",
    )
    with pytest.raises(ng.InputError, match=r"^f: 2 test sets \(set1, challenge\), expected the name of one$"):
        submission.table()
    with pytest.raises(ng.InputError, match=r"^f: no test set 'set2'; did you mean 'set1'\?$"):
        submission.table("set2")


words = st.text(st.sampled_from("abcXYZ019.-_"), min_size=1, max_size=6)
lines = st.builds(
    SubmissionRow,
    words,
    words,
    words,
    words,
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(1, 10**6),
    words,
    words,
    words,
)


@given(
    found=st.lists(lines, min_size=1, max_size=5),
    layout=st.sampled_from(list(LAYOUTS["segment"])),
    packed=st.booleans(),
)
def test_what_is_written_is_read_back(found, layout, packed, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"m.seg.score{'.gz' if packed else ''}"
    write_submission(path, Submission("segment", tuple(found), layout))
    back = read_submission(path)
    kept = LAYOUTS["segment"][layout]
    assert back.layout == layout
    assert [[getattr(row, name) for name in kept] for row in back.rows] == [
        [getattr(row, name) for name in kept] for row in found
    ]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (
            SubmissionRow("M", "cs-uk", "s", "A", math.nan, 3, reference="refA", document="d"),
            "m.seg.score: no score for system 'A', segment 3 (cs-uk)",
        ),
        (
            SubmissionRow("M x", "cs-uk", "s", "A", 1.0, 3, reference="refA", document="d"),
            "m.seg.score: metric 'M x' is empty or holds blanks",
        ),
        (
            SubmissionRow("M", "cs-uk", "s", "A", 1.0, 3, document="d"),
            "m.seg.score: reference '' is empty or holds blanks",
        ),
    ],
)
def test_what_the_columns_cannot_hold_is_not_written(put, tmp_path, row, says):
    put("other", "")
    with pytest.raises(ng.InputError) as error:
        write_submission("m.seg.score", Submission("segment", (row,)))
    assert str(error.value).startswith(says)
    assert not (tmp_path / "m.seg.score").exists()


WANTED = {
    "cs-uk": Expected(
        frozenset({"A", "B"}), 2, "refA", frozenset({"refA"}), frozenset({"news"}), frozenset({"d1", "d2"})
    )
}


def problems(found, level="segment", **options):
    return check_submission(Submission(level, tuple(found)), options.pop("wanted", WANTED), "set1", **options)


def test_a_complete_submission_has_no_problem():
    assert problems(rows()) == []
    assert (
        problems([*rows(), *rows(["refA"]), *rows(lp="de-en")]) == []
    )  # a reference against itself, and a pair nobody asked for
    assert problems([*rows(reference="src"), *rows(["refA"], reference="src")]) == []
    # where the organisers score the reference as a system too, a metric without references must as well, and no other
    # can
    wanted = {"cs-uk": Expected(frozenset({"A", "B", "refA"}), 2, "refA")}
    assert problems(rows(reference="src"), wanted=wanted) == ["cs-uk: systems lacking: refA"]
    assert problems(rows(), wanted=wanted) == []


def test_before_2020_no_reference_is_named_and_its_own_lines_are_passed_over_too():
    found = [row._replace(reference="") for row in (*rows(), *rows(["refA"])[:1])]
    assert check_submission(Submission("segment", tuple(found), "2017"), WANTED, "set1") == []
    assert Submission("segment", tuple(found[:4]), "2017").table().column("BLEU").tolist() == [1, 2, 11, 12]


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (rows()[:-1], ["cs-uk: system 'B' lacks 1 of 2 segments: 2"]),
        (rows(["A"]), ["cs-uk: systems lacking: B"]),
        (rows("ABCDEFGHI"), ["cs-uk: systems not known: C, D, E, F, G and 2 more"]),
        (rows(["A", "B", "C"]), ["cs-uk: systems not known: C"]),
        (
            rows(n=3),
            [
                "cs-uk: system 'A' has scores beyond the 2 segments expected: 3",
                "cs-uk: system 'B' has scores beyond the 2 segments expected: 3",
                "cs-uk: documents not known: d3",
            ],
        ),
        ([*rows(), rows()[0]], ["cs-uk: system 'A' has segment 1 twice"]),
        ([rows()[0]._replace(score=math.nan), *rows()[1:]], ["cs-uk: system 'A' has 1 line without a number"]),
        (
            [row._replace(domain="talk") for row in rows()],
            ["cs-uk: domains lacking: news", "cs-uk: domains not known: talk"],
        ),
        (
            [row._replace(document="d9") for row in rows()],
            ["cs-uk: documents lacking: d1, d2", "cs-uk: documents not known: d9"],
        ),
        ([*rows(), *rows(reference="refB")], ["cs-uk: references not known: refB"]),
        ([*rows(["A"]), *rows(["B"], metric="M2")], ["2 metric names (BLEU, M2), expected one in all language pairs"]),
        (rows(testset="set2"), ["cs-uk: no line for test set 'set1' against 'refA' or 'src'"]),
    ],
)
def test_each_problem_is_named(found, says):
    assert problems(found) == says


def test_references_in_some_language_pairs_only_is_a_problem():
    wanted = {**WANTED, "de-en": Expected(frozenset({"A", "B"}), 2, "refA")}
    assert problems([*rows(), *rows(lp="de-en")], wanted=wanted) == []
    assert problems([*rows(), *rows(lp="de-en", reference="src")], wanted=wanted) == [
        "reference 'src' beside others (src only in de-en); a metric uses references in all language pairs or in none"
    ]
    assert problems([*rows(), *rows(reference="src"), *rows(lp="de-en")], wanted=wanted)[0].startswith(
        "reference 'src' beside others (both in cs-uk)"
    )
    assert problems(rows(), wanted=wanted) == ["de-en: no line for test set 'set1' against 'refA' or 'src'"]


def test_system_scores_need_every_domain():
    wanted = {"cs-uk": Expected(frozenset({"A"}), 2, "refA", domains=frozenset({"all", "news"}))}
    whole = [SubmissionRow("M", "cs-uk", "set1", "A", 1.0, 0, domain, "", "refA") for domain in ("all", "news")]
    assert problems(whole, "system", wanted=wanted) == []
    assert problems(whole[:1], "system", wanted=wanted) == [
        "cs-uk: system 'A' lacks 1 of 2 domains: news",
        "cs-uk: domains lacking: news",
    ]


def test_scores_are_read_by_the_common_door_too(put):
    table = read_scores(put("m.seg.score", SEG["2022"] + "\n"))
    assert (table.level, [str(key) for key in table.keys]) == ("segment", ["system 'S.1', item '2', group 'cs-uk'"])
    assert table.column("BLEU-refA").tolist() == [0.5]
    with pytest.raises(ng.InputError, match=r"^m\.seg\.score holds scores and no texts; read it with read_scores$"):
        ng.read("m.seg.score")
