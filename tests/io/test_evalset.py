"""Texts and ratings in several files, as one set."""

import hashlib
import io

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.evalset import read_preferences, read_set
from nlgauge.metaeval.joined import chosen_criteria


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"id": "1", "hyp": "a"}\n{"id": "2", "hyp": "b"}\n')
    (tmp_path / "ratings.tsv").write_text("id\tfluency\n1\t3\n2\t5\n")
    (tmp_path / "pairs.jsonl").write_text('{"better_id": "1", "worse_id": "2"}\n')
    return tmp_path


def test_ratings_of_a_table_of_their_own_are_joined(folder):
    dataset, inputs = read_set([str(folder / "data.jsonl")], judgements=str(folder / "ratings.tsv"))
    assert [segment.human for segment in dataset] == [{"fluency": 3.0}, {"fluency": 5.0}]
    assert [entry["path"].rpartition("/")[2] for entry in inputs] == ["data.jsonl", "ratings.tsv"]


def test_columns_name_those_of_either_file(folder):
    (folder / "data.csv").write_text("seg,system,out\n1,A,a\n2,A,b\n")
    (folder / "campaign.csv").write_text("item,system,who,q\n1,A,ann,1\n1,A,bob,2\n2,A,ann,5\n")
    data, ratings = str(folder / "data.csv"), str(folder / "campaign.csv")
    dataset, _ = read_set([data], {"seg": "item", "rater": "who", "hyp": "out"}, ratings)
    assert [segment.human for segment in dataset] == [{"q": [1.0, 2.0]}, {"q": [5.0]}]
    (folder / "data.csv").write_text("item,system,hyp\n1,A,a\n2,A,b\n")  # both files call it so
    assert [segment.human for segment in read_set([data], {"seg": "item", "rater": "who"}, ratings)[0]] == [
        {"q": [1.0, 2.0]},
        {"q": [5.0]},
    ]


def test_a_table_of_ratings_may_call_its_items_otherwise(folder):
    (folder / "data.csv").write_text("segment,system,out\n1,A,a\n2,A,b\n")
    (folder / "campaign.csv").write_text("item,system,who,q\n1,A,ann,1\n2,A,ann,5\n")
    data, ratings = str(folder / "data.csv"), str(folder / "campaign.csv")
    dataset, _ = read_set([data], {"seg": "segment", "rater": "who", "hyp": "out"}, ratings)
    assert [segment.human for segment in dataset] == [{"q": [1.0]}, {"q": [5.0]}]


@pytest.mark.parametrize(
    "content", [b"id\tfluency\n1\t3\n2\t5\n", b'{"id": "1", "fluency": 3}\n{"id": "2", "fluency": 5}\n']
)
def test_ratings_may_come_from_standard_input(folder, monkeypatch, content):
    """The header is looked at first, and the digest is that of what came."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    dataset, inputs = read_set([str(folder / "data.jsonl")], judgements="-")
    assert [segment.human for segment in dataset] == [{"fluency": 3.0}, {"fluency": 5.0}]
    assert inputs[1] == {"path": "-", "sha256": hashlib.sha256(content).hexdigest()}


# Item 1 of A was rated 2 and 4, and of B 1; item 2 of A 5, and of B 3. What a table may call its columns:
RATINGS = {
    "item,system,annotator,q": ["{0},{1},{2},{3}"],
    "segment_id,model,rater,q": ["{0},{1},{2},{3}"],
    "id,system,worker_id,q": ["{0},{1},{2},{3}"],  # an id that repeats over systems
    "id,segment,system,rater,q": ["r{4},{0},{1},{2},{3}"],  # an id of the rating
    "segment,system,annotator,aspect,score": ["{0},{1},{2},q,{3}", "{0},{1},{2},other,1"],
}
SAID = [("1", "A", "ann", 2), ("1", "A", "bob", 4), ("2", "A", "ann", 5), ("1", "B", "ann", 1), ("2", "B", "bob", 3)]
EXPECTED = {("A", "1"): [2.0, 4.0], ("A", "2"): [5.0], ("B", "1"): [1.0], ("B", "2"): [3.0]}


@pytest.fixture
def outputs(put):
    """The outputs of two systems: in one file, and in one for each."""
    texts = [("1", "A", "a1"), ("2", "A", "a2"), ("1", "B", "b1"), ("2", "B", "b2")]
    put("both.csv", "segment,system,output\n" + "".join(f"{item},{system},{text}\n" for item, system, text in texts))
    put("ids.csv", "id,system,output\n" + "".join(f"{item},{system},{text}\n" for item, system, text in texts))
    for own in "AB":
        rows = [f"{item},{text}\n" for item, system, text in texts if system == own]
        put(f"{own}.csv", "id,output\n" + "".join(rows))
    return {"one": ["both.csv"], "ids": ["ids.csv"], "each": ["A.csv", "B.csv"]}


@pytest.mark.parametrize("header", RATINGS)
@pytest.mark.parametrize("how", ["one", "ids", "each"])
def test_columns_of_ratings_are_guessed_whatever_the_texts_call_theirs(outputs, put, how, header):
    rows = [form.format(*said, n) for n, said in enumerate(SAID) for form in RATINGS[header]]
    put("r.csv", "\n".join([header, *rows]))
    dataset, inputs = read_set(outputs[how], judgements="r.csv")
    assert {(s.system, s.item): s.human["q"] for s in dataset} == EXPECTED
    assert [entry["path"] for entry in inputs] == [*outputs[how], "r.csv"]
    guessed = [note for note in dataset.notes if note.startswith("r.csv: taken by their names")]
    assert len(guessed) == (header != "id,segment,system,rater,q" or 1)


@pytest.mark.parametrize("more", ["", ",id"])
@pytest.mark.parametrize("named", ["model,item", "system,segment"])
def test_texts_and_ratings_may_call_systems_and_items_alike(put, named, more):
    rows = [f"{key}{more and ',' + key[::2]},text\n" for key in ("A,1", "A,2", "B,1")]
    put("t.csv", f"{named}{more},output\n" + "".join(rows))
    put("r.csv", f"{named},q\nA,1,2\nA,2,5\nB,1,1\n")
    assert [s.human for s in read_set(["t.csv"], judgements="r.csv")[0]] == [{"q": 2.0}, {"q": 5.0}, {"q": 1.0}]


def test_a_rating_has_no_other_name_where_a_column_says_what_was_rated(outputs, put):
    put("r.csv", "item,system,aspect,score\n1,A,fluency,2\n")
    with pytest.raises(
        InputError, match=r"^r.csv: the column 'aspect' says what was rated; leave out human.q for 'score'$"
    ):
        read_set(["both.csv"], {"human.q": "score"}, "r.csv")


def test_a_rating_may_have_another_name_and_is_then_the_only_one(outputs, put):
    put("r.csv", "item,system,seconds,grade\n1,A,9,2\n2,A,8,5\n")
    dataset, _ = read_set(["both.csv"], {"human.q": "grade", "hyp": "output"}, "r.csv")
    assert [s.human for s in dataset] == [{"q": 2.0}, {"q": 5.0}, {}, {}]
    put("r.csv", "item,system,seconds,grade\n1,A,9,good\n2,A,8,bad\n")
    with pytest.raises(InputError, match=r"^r.csv:2: column 'grade' is 'good', expected a number"):
        read_set(["both.csv"], {"human.q": "grade"}, "r.csv")
    dataset, _ = read_set(["both.csv"], judgements="r.csv")
    with pytest.raises(InputError, match=r"rated for 'grade'; r.csv: column 'grade' left out: 'good'.* in r.csv:2$"):
        chosen_criteria(dataset, "grade")


def test_a_file_without_systems_is_the_one_of_its_name(outputs, put):
    put("r.csv", "item,system,q\n1,A,2\n2,A,5\n1,B,1\n")
    dataset, _ = read_set(["A.csv"], judgements="r.csv")
    assert [(s.id, s.system, s.item, s.human) for s in dataset] == [
        ("A:1", "A", "1", {"q": 2.0}),
        ("A:2", "A", "2", {"q": 5.0}),
    ]


def test_ratings_by_the_ids_of_single_files_fit_several(put):
    for own in "AB":
        put(f"{own}.csv", f"id,hyp\n{own}1,a\n{own}2,b\n")
    put("r.csv", "id,q\nA1,1\nA2,2\nB1,3\nB2,4\n")
    assert [s.human["q"] for s in read_set(["A.csv", "B.csv"], judgements="r.csv")[0]] == [1, 2, 3, 4]


def test_a_file_of_several_that_is_not_there_is_named(outputs):
    with pytest.raises(InputError, match=r"^2 data files are given \(A.csv, C.csv\), and there is no 'C.csv'; is it"):
        read_set(["A.csv", "C.csv"])


def test_better_and_worse_pairs_are_read(folder):
    pairs, entry = read_preferences(str(folder / "pairs.jsonl"))
    assert entry["path"].endswith("pairs.jsonl")
    assert len(pairs) == 1


def test_each_rater_may_have_a_column(outputs, put):
    put("r.csv", "item,system,ann,ben,said\n1,A,2,4,x\n2,A,5,,y\n1,B,,,z\n")
    columns = {"ann": "human.q", "ben": "human.q"}
    dataset, _ = read_set(["A.csv", "B.csv"], columns, judgements="r.csv")
    assert [(s.human, s.raters) for s in dataset][:3] == [
        ({"q": [2.0, 4.0]}, {"q": ("ann", "ben")}),
        ({"q": [5.0]}, {"q": ("ann",)}),
        ({}, {}),  # nobody rated it
    ]
    put("r.csv", "item,system,rater,ann,ben\n1,A,x,2,4\n")
    with pytest.raises(InputError, match=r"^r\.csv: a column says who rated; name one column for human\.q, or leave"):
        read_set(["A.csv", "B.csv"], columns, judgements="r.csv")


@pytest.mark.parametrize("header", ["Item;System;Rater;Q", "Segment ID;Model;Annotator;Q", "ID;SYSTEM;Annotator ID;Q"])
def test_a_spreadsheet_has_capitals_and_blanks_in_its_names(outputs, put, header):
    put("r.csv", "\ufeff" + header + "\r\n1;A;ann;2\r\n1;A;ben;4\r\n2;A;ann;5\r\n1;B;ann;1\r\n")
    dataset, _ = read_set(["A.csv", "B.csv"], judgements="r.csv")
    rated = {(s.system, s.item): (s.human["Q"], s.raters["Q"]) for s in dataset if s.human}
    assert rated == {
        ("A", "1"): ([2.0, 4.0], ("ann", "ben")),
        ("A", "2"): ([5.0], ("ann",)),
        ("B", "1"): ([1.0], ("ann",)),
    }


def test_the_id_of_a_spreadsheet_is_that_of_texts_and_rows_without_one_join_by_number_with_a_note(put):
    put("A.csv", "ID;hyp\n7;a\n3;b\n")
    put("B.csv", "ID;hyp\n3;c\n7;d\n")
    put(
        "r.csv",
        "item,system,rater,q\n3,A,ann ,1\n3,A, ann,2\n7,A,ann,5\n3,B,ann,3\n7,B,,4\n".replace("3,A, ann,2\n", ""),
    )
    dataset, _ = read_set(["A.csv", "B.csv"], judgements="r.csv")
    assert [(s.system, s.hypothesis, s.human, s.raters) for s in dataset] == [
        ("A", "a", {"q": [5.0]}, {"q": ("ann",)}),
        ("A", "b", {"q": [1.0]}, {"q": ("ann",)}),  # of "ann ", too
        ("B", "c", {"q": [3.0]}, {"q": ("ann",)}),
        ("B", "d", {"q": [4.0]}, {}),
    ]
    assert any(note == "r.csv: 4 ratings of 4 segments by 1 rater; a number is their mean" for note in dataset.notes)
    assert "r.csv: 1 row of no rater who is named" in dataset.notes
    put("A.csv", "hyp\na\nb\n")
    put("r.csv", "item,system,q\n1,A,1\n2,A,2\n1,C,2\n")
    dataset, _ = read_set(["A.csv", "B.csv"], {"hyp": "hyp"}, judgements="r.csv")
    assert dataset.notes[:2] == (
        "r.csv: no rating is of system 'B', and those of 'C' fit no text; are they the same?",
        "A.csv and 1 more: no row names its item, so that ratings join by the numbers of rows; --columns seg=NAME",
    )


def test_a_column_that_the_table_of_ratings_lacks_is_said_of_the_table(outputs, put):
    put("r.csv", "item,system,q\n1,A,2\n")
    with pytest.raises(
        InputError, match=r"^r\.csv: no column 'Ann', which --columns names as human\.q; columns found: 'item'"
    ):
        read_set(["A.csv", "B.csv"], {"Ann": "human.q"}, judgements="r.csv")
