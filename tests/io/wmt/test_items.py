import json

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.io.read import read
from nlgauge.io.wmt.items import check_answers, language_pair, write_answers

ID = "official_###_eng_Latn_###_deu_Latn_###_edu_###_DOC_###_{}"
REF = {"text": "eine Katze", "type": "postedit"}


def item(n, **more):
    return {"item_id": ID.format(n), "src": "a cat", "ref": REF, "hyps": {"GPT 5": "ein Kater", "B": "Katze"}, **more}


@pytest.fixture
def jsonl(put):
    return lambda name, *rows: str(put(name, "".join(json.dumps(row) + "\n" for row in rows)))


# --- Items with the outputs of all systems


@pytest.mark.parametrize(
    ("name", "is_item", "pair"),
    [
        (ID.format(0), True, "eng_Latn-deu_Latn"),
        ("eng_Latn_###_zho_Hant_TW_###_edu_###_DOC_###_0", True, "eng_Latn-zho_Hant_TW"),  # without the set
        ("challenge_###_en_###_de_DE_###_x_###_y_###_0", True, "en-de_DE"),
        # of documents the domain stands before the languages, and `edu` looks like one
        ("WMT26_###_edu_###_ces_Latn_###_deu_Latn_###_edu00733", False, "ces_Latn-deu_Latn"),
        ("en-sr_Cyrl_RS_#_news_#_d.1_#_0", False, "en-sr_Cyrl_RS"),
        ("social_###_1163_###_0", True, None),
        ("7", False, None),
    ],
)
def test_an_item_names_its_languages(name, is_item, pair):
    assert language_pair(name, is_item) == pair


def test_one_row_has_all_systems(jsonl):
    found = read(jsonl("i.jsonl", item(0), item(1, ref=None, resources={})))
    assert [(s.id, s.hypothesis) for s in found][:2] == [
        (f"GPT 5:{ID.format(0)}", "ein Kater"),
        (f"B:{ID.format(0)}", "Katze"),
    ]
    first, last = found.segments[0], found.segments[-1]
    assert (first.system, first.item, first.group) == ("GPT 5", ID.format(0), "eng_Latn-deu_Latn")
    assert (first.source, first.references, last.references) == ("a cat", ("eine Katze",), ())
    assert any("of 1 references 1 'postedit' were made from outputs, and favour the systems" in n for n in found.notes)
    assert any("fields ignored: 'resources'" in note for note in found.notes)


def test_references_of_people_have_no_note(jsonl):
    found = read(jsonl("i.jsonl", item(0, ref={"text": "eine Katze", "type": "human"})))
    assert not [note for note in found.notes if "favour" in note]


def test_what_was_not_supplied_or_failed_is_counted(jsonl):
    found = read(jsonl("i.jsonl", item(0, hyps={"A": "x", "B": None, "C": "FAILED"}), item(1, item_id="e_###_1")))
    assert [s.system for s in found] == ["A", "C", "GPT 5", "B"]
    for said in (
        "1 outputs were not supplied and have no segment",
        "1 outputs say 'FAILED', as where a system failed, and are scored as that text",
        "1 items have a name without languages, and no group",
    ):
        assert any(said in note for note in found.notes)


def test_ratings_of_wmt25(jsonl):
    """`refA` is one of `tgt_text` and was rated, too; two rounds are two ratings, and the control file has a list."""
    row = {
        "doc_id": "cs-de_DE_#_news_#_d_#_0",
        "src_text": "kocka",
        "tgt_text": {"refA": "Katze", "A": "Kater", "B": "Hund", "C": "Maus"},
        "scores": {
            "A": {"human1": 90, "errors1": [], "annotator1": "x", "human2": 100},
            "B": [{"human": 10, "annotator": "x"}, {"score": 30, "annotator": "y"}],
            "refA": {"human1": 5},
        },
        "video": None,
    }
    found = {
        s.system: s for s in read(jsonl("w.jsonl", row, {**row, "doc_id": "cs-de_DE_#_news_#_d_#_1", "scores": {}}))
    }
    assert {name: s.references for name, s in found.items()} == dict.fromkeys("ABC", ("Katze",))
    rated = {s.system: s.human for s in read(jsonl("v.jsonl", row))}
    assert rated == {"A": {"esa": [90, 100]}, "B": {"esa": [10, 30]}, "C": {}}
    assert (
        read("v.jsonl").notes[0]
        == "v.jsonl: 1 ratings are of outputs without a text, or of the reference, and are left out"
    )


def test_the_outputs_of_one_system(jsonl):
    row = {"doc_id": "W_###_edu_###_ces_Latn_###_deu_Latn_###_a", "hypothesis": "x"}
    ours, references = {"system": "S", "paragraphs_match": True}, {"direction": "a---b", "hypothesis_segmented": ["x"]}
    for more in ({}, {"metadata": {"n": 1}}, ours, {"paragraphs_match": True}, {**references, "metadata": {}}):
        (found,) = read(jsonl("S.jsonl", {**row, **more}))
        assert (found.item, found.group, found.system) == (row["doc_id"], "ces_Latn-deu_Latn", more.get("system"))
    (own,) = read(jsonl("T.jsonl", {**row, "reference": "y"}))  # a table of somebody's own
    assert (own.references, own.group) == (("y",), None)
    (named,) = read("S.jsonl", columns={"hyp": "hypothesis", "seg": "doc_id"})
    assert (named.item, named.group) == (row["doc_id"], None)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([], "not an object, expected an item with its outputs"),
        (item(1, item_id=7), "field 'item_id' is 7, expected the name of the item"),
        (item(1, hyps=["x"]), r"field 'hyps' is \['x'\], expected an object"),
        (item(1, hyps={}), "field 'hyps' is {}, expected an object"),
        (item(1, hyps={"A": 5}), r"field 'hyp' is a number \(5\), expected a string"),
        (item(1, src=5), r"field 'src' is a number"),
        (item(1, ref={"text": 5}), "a reference is 5, expected a text"),
        (item(0), "duplicate id"),
    ],
)
def test_a_damaged_item_has_one_line(jsonl, row, reason):
    with pytest.raises(InputError, match=rf"i.jsonl:2: {reason}") as refused:
        read(jsonl("i.jsonl", item(0), row))
    assert "\n" not in str(refused.value)


# --- The folder of a general task

DOC = "W_###_edu_###_ces_Latn_###_deu_Latn_###_{}"


@pytest.fixture
def general(put, jsonl):
    def make(**systems):
        refs = {"refA": {"ref": "r"}, "refPE": "p"}
        jsonl("data/w-genmt.jsonl", *({"doc_id": DOC.format(n), "src_text": f"s{n}", "refs": refs} for n in "ab"))
        for name, rows in systems.items():
            jsonl(f"data/systems/{name}.jsonl", *rows)
        return "data"

    return make


def test_documents_meet_their_sources(general):
    rows = [{"doc_id": DOC.format(n), "hypothesis": f"h{n}", "metadata": {}} for n in "abc"]
    found = read(general(A=rows, B=rows[:1]))
    assert [(s.system, s.item, s.source, s.references, s.hypothesis) for s in found] == [
        ("A", DOC.format("a"), "sa", ("r", "p"), "ha"),
        ("A", DOC.format("b"), "sb", ("r", "p"), "hb"),
        ("B", DOC.format("a"), "sa", ("r", "p"), "ha"),
    ]
    assert {s.group for s in found} == {"ces_Latn-deu_Latn"}
    told = " ".join(found.notes)
    assert "A.jsonl: 1 document without a source, left out" in told
    assert "B.jsonl: 1 document lacking" in told
    assert "of 4 references 2 'postedit'" in told


def test_damaged_folders_have_one_line(general, jsonl):
    row = {"doc_id": DOC.format("a"), "hypothesis": "h"}
    with pytest.raises(InputError, match=r"A.jsonl:2: document .* stands twice, expected once"):
        read(general(A=[row, row]))
    with pytest.raises(InputError, match=r"A.jsonl:1: field 'hyp' is null"):
        read(general(A=[{**row, "hypothesis": None}]))
    jsonl("data/v-genmt.jsonl", {"doc_id": "x", "src_text": "y"})
    with pytest.raises(InputError, match=r"v-genmt\.jsonl, w-genmt\.jsonl, expected one file of sources"):
        read("data")


# --- Answers to the evaluation tasks of WMT26

OUTPUTS = [
    Segment(f"{s}{n}", text, system=s, item=f"i{n}") for n in (0, 1) for s, text in (("A", "ein Kater"), ("B", "Kat"))
]
SOUND = {
    "errors": [{"start": 0, "end": 3, "severity": "minor", "category": None}],
    "omission": None,
    "instruction_fault": "major",
}


def scores(*values):
    return Scores(Signature("m", (("m", ""),)), tuple(s.id for s in OUTPUTS), np.array(values))


def test_answers_are_written_as_the_tasks_have_them(tmp_path):
    spans = [
        [
            ErrorSpan(4, 9, "major", category="accuracy/addition"),
            ErrorSpan(0, 3, "minor"),
            ErrorSpan(0, 1, "major", "src"),
        ],
        [ErrorSpan(3, 3, "minor", missing=True), ErrorSpan(3, 3, "major", missing=True)],
        [ErrorSpan(9, 9, "minor", category="instruction fault", missing=True)],
        [],
    ]
    path = tmp_path / "a.jsonl"
    write_answers(
        path, OUTPUTS, spans=spans, scores=scores(50, 0, 100.0, 12.5), error_free=[False, np.int64(0), True, np.True_]
    )
    first, second = map(json.loads, path.read_text().splitlines())
    assert first == {
        "item_id": "i0",
        "task1_pred": {
            "A": {
                "errors": [
                    {"start": 0, "end": 3, "severity": "minor", "category": None},
                    {"start": 4, "end": 9, "severity": "major", "category": "accuracy/addition"},
                ],
                "omission": None,
                "instruction_fault": None,
            },
            "B": {"errors": [], "omission": "major", "instruction_fault": None},
        },
        "task2_pred": {"A": 50.0, "B": 0.0},
        "task3_pred": {"A": 0, "B": 0},
    }
    assert second["task1_pred"]["A"] == {"errors": [], "omission": None, "instruction_fault": "minor"}
    assert second["task3_pred"] == {"A": 1, "B": 1}
    assert check_answers(path, OUTPUTS) == ("task1_pred, task2_pred, task3_pred for 4 outputs of 2 items", [])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "no answers, expected spans, scores or error_free"),
        ({"scores": scores(1, 2, 101, 3)}, r"item 'i1', task2_pred, 'A': 101.0, expected a number from 0 to 100"),
        ({"scores": scores(1, float("nan"), 1, 3)}, r"item 'i0', task2_pred, 'B': nan, expected a number"),
        (
            {"spans": [[], [ErrorSpan(1, 4, "minor")], [], []]},
            "item 'i0', task1_pred, 'B': .* in a text of 3 characters",
        ),
        ({"error_free": [True]}, "task3_pred: 1 answers, expected 4"),
        ({"error_free": [True, 0.5, True, True]}, "task3_pred, 'B': 0.5, expected 1"),
    ],
)
def test_answers_that_are_not_allowed_are_not_written(tmp_path, given, reason):
    with pytest.raises(InputError, match=reason):
        write_answers(tmp_path / "a.jsonl", OUTPUTS, **given)
    assert not (tmp_path / "a.jsonl").exists()


def test_scores_of_other_segments_are_refused(tmp_path):
    with pytest.raises(InputError, match="not those of the 2 segments beside them"):
        write_answers(tmp_path / "a.jsonl", OUTPUTS[:2], scores=scores(1, 2, 3, 4))
    with pytest.raises(InputError, match="segment 'x' names no system, which answers name"):
        write_answers(tmp_path / "a.jsonl", [Segment("x", "y", item="i")], error_free=[True])
    pairs = [Segment(lp, lp, item="i", system="A", group=lp) for lp in ("en-de", "en-cs")]
    with pytest.raises(InputError, match="item 'i' of system 'A' has two texts; name one --lp"):
        write_answers(tmp_path / "a.jsonl", pairs, error_free=[True, True])
    twice = [Segment(name, "x", item="i", system="A") for name in "ab"]
    with pytest.raises(InputError, match=r"^task3_pred: item 'i' of system 'A' has two answers, expected one"):
        write_answers(tmp_path / "a.jsonl", twice, error_free=[True, False])
    assert not (tmp_path / "a.jsonl").exists()


def faults(jsonl, *rows):
    return check_answers(jsonl("answers.jsonl", *rows), OUTPUTS)[1]


def whole(task, *values):
    """Sound answers, but for those given for the first output."""
    for value in values:
        yield {"item_id": "i0", task: {"A": value, "B": values[0]}}


@pytest.mark.parametrize(
    ("task", "value", "fault"),
    [
        ("task2_pred", True, "True, expected a number from 0 to 100"),
        ("task2_pred", None, "None, expected a number"),
        ("task2_pred", "50", "'50', expected a number"),
        ("task2_pred", -1, "-1, expected a number"),
        ("task3_pred", True, "True, expected 1 (error-free) or 0"),
        ("task3_pred", 2, "2, expected 1"),
        ("task1_pred", [], "[], expected an object with the list 'errors', and omission and instruction_fault"),
        ("task1_pred", {"errors": []}, "omission is 'missing', expected null, minor or major"),
        ("task1_pred", {**SOUND, "omission": True}, "omission is True, expected null, minor or major"),
        ("task1_pred", {**SOUND, "instruction_fault": "critical"}, "instruction_fault is 'critical', expected"),
        ("task1_pred", {**SOUND, "errors": [5]}, "errors[0] is 5, expected an object"),
        ("task1_pred", {**SOUND, "errors": [{**SOUND["errors"][0], "end": 0}]}, "errors[0] goes from 0 to 0 in"),
        ("task1_pred", {**SOUND, "errors": [{**SOUND["errors"][0], "end": 10}]}, "errors[0] goes from 0 to 10 in"),
        ("task1_pred", {**SOUND, "errors": [{**SOUND["errors"][0], "start": 1.0}]}, "errors[0] goes from 1.0 to 3"),
        ("task1_pred", {**SOUND, "errors": [{**SOUND["errors"][0], "severity": "critical"}]}, "severity 'critical'"),
        ("task1_pred", {**SOUND, "errors": [{**SOUND["errors"][0], "category": 5}]}, "category 5, expected"),
    ],
)  # fmt: skip
def test_each_fault_has_a_line(jsonl, task, value, fault):
    other = {"task1_pred": SOUND, "task2_pred": 50, "task3_pred": 0}[task]
    other = {**other, "errors": []} if task == "task1_pred" else other
    found = faults(
        jsonl, {"item_id": "i0", task: {"A": value, "B": other}}, {"item_id": "i1", task: {"A": other, "B": other}}
    )
    assert len(found) == 1
    assert found[0].startswith(f"line 1: {task}, 'A': ")
    assert fault in found[0]


def test_faults_of_lines_and_of_the_whole(jsonl):
    assert faults(
        jsonl,
        {"item_id": "i0", "task2_pred": {"A": 1, "C": 2}},
        {"item_id": "i0", "task2_pred": {"B": 1}},
        {"item_id": "i9", "task2_pred": {}},
        {"task2_pred": {}},
        {"item_id": "i1"},
        {"item_id": "i1", "task3_pred": []},
    ) == [
        "line 1: task2_pred, 'C': is no system of the item",
        "line 2: item 'i0' for the second time, first in line 1",
        "line 3: item 'i9' is not among the items",
        "line 4: expected an object with 'item_id' and answers",
        "line 5: no answer, expected one of task1_pred, task2_pred, task3_pred",
        "line 6: task3_pred is [], expected an object, system -> answer",
        "line 6: item 'i1' for the second time, first in line 5",
        "task2_pred lacks 2 of 4 outputs, first 'i1' of 'A'",
    ]


def test_broken_lines_and_many_faults(put, jsonl):
    put("broken.jsonl", '{"item_id": "i0", "task2_pred": {"A": 1, "B": NaN}}\n{"item_id"\n')
    found = check_answers("broken.jsonl", OUTPUTS)[1]
    assert len(found) == 2
    assert [fault[:22] for fault in found] == ["line 1: not valid JSON", "line 2: not valid JSON"]
    put("none.jsonl", "")
    assert check_answers("none.jsonl", OUTPUTS)[1] == ["no answers, expected a line for each item"]
    found = faults(jsonl, *({"item_id": f"x{n}"} for n in range(150)))
    assert (len(found), found[-1]) == (101, "and 50 faults more")
    with pytest.raises(InputError, match=r"nothing\.jsonl"):
        check_answers("nothing.jsonl", OUTPUTS)
