from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment, check_ids, is_blank, printed_list, stripped

systems_of_texts = st.integers(0, 4).flatmap(
    lambda n: st.dictionaries(
        st.text(max_size=4), st.lists(st.text(max_size=5), min_size=n, max_size=n), min_size=1, max_size=4
    )
)


def test_references_are_a_tuple_however_they_came():
    assert Segment("0", "a", ["b", "c"]).references == ("b", "c")


def test_one_string_of_references_is_refused_and_not_taken_apart_into_letters():
    with pytest.raises(
        InputError, match=r"^segment 'x': references is one string, expected a tuple of strings; write \(text,\)"
    ):
        Segment("x", "a", "b")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (("a", "", "b", "\u200b"), ("a", "b")),
        (("", "a"), ("a",)),
        (("", " ", "\t"), ("",)),
        (("",), ("",)),
        ((), ()),
    ],
)
def test_blank_texts_beside_others_are_no_references(given, kept):
    segment = Segment("a", "x", given)
    assert segment.references == kept
    assert segment.n_blank == len(given) - len(kept)
    assert segment == Segment("a", "x", kept)  # how many were left out is no part of what it is


def test_two_segments_of_one_id_are_refused_by_name():
    with pytest.raises(InputError, match=r"^duplicate id 'b' in d.jsonl; ids must be unique, one per segment$"):
        Dataset((Segment("a", ""), Segment("b", ""), Segment("b", "")), "d.jsonl")
    with pytest.raises(InputError, match=r"^duplicate id 'a'; ids"):
        check_ids(iter([Segment("a", "x"), Segment("a", "x")]))


def test_systems_groups_and_items_come_in_order_of_first_appearance():
    dataset = Dataset(
        [
            Segment("1", "", system="B", group="de-en", item="7"),
            Segment("2", "", system=None, group="de-en", item="3"),
            Segment("3", "", system="A", group=None, item="7"),
            Segment("4", "", system="B", group="fi-en", item=None),
        ]
    )
    assert dataset.systems == ("B", None, "A")
    assert dataset.groups == ("de-en", None, "fi-en")
    assert dataset.items == ("7", "3", None)
    assert len(dataset) == 4
    assert [s.id for s in dataset] == ["1", "2", "3", "4"]


def test_a_dataset_is_shown_in_one_line():
    assert repr(Dataset.from_texts(["a", "b"])) == "Dataset(2 segments)"
    assert repr(Dataset((Segment("1", "x", system="s"),), "d.tsv")) == "Dataset('d.tsv', 1 segments of 1 systems)"


def test_lists_become_segments_that_name_their_item():
    dataset = Dataset.from_texts(["a", "b"], ["x", ["y", "z"]], ["s", "t"])
    assert dataset.segments == (
        Segment("1", "a", ("x",), "s", item="1"),  # the ids of lines of parallel files
        Segment("2", "b", ("y", "z"), "t", item="2"),
    )


def test_what_is_not_given_is_absent_and_not_empty():
    (segment,) = Dataset.from_texts(["a"])
    assert (segment.references, segment.source, segment.system) == ((), None, None)


def test_several_systems_answer_the_same_items():
    dataset = Dataset.from_texts({"B": ["b0", "b1"], "A": ["a0", "a1"]}, ["x", "y"])
    assert [(s.id, s.system, s.item, s.hypothesis, s.references) for s in dataset] == [
        ("B:1", "B", "1", "b0", ("x",)),
        ("B:2", "B", "2", "b1", ("y",)),
        ("A:1", "A", "1", "a0", ("x",)),
        ("A:2", "A", "2", "a1", ("y",)),
    ]


@given(systems_of_texts)
def test_ids_are_unique_whatever_the_systems_are_called(systems):
    # a system may be called "1" beside one called "1:1"; making the dataset would refuse a repeated id
    dataset = Dataset.from_texts(systems)
    assert len({s.id for s in dataset}) == len(dataset) == sum(map(len, systems.values()))


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        (("a",), r"^hypotheses is one string, expected a list of strings; write \[hypotheses\] for a single text$"),
        ((None,), r"^hypotheses is NoneType, expected a list of strings$"),
        ((["a", 1],), r"^hypotheses\[1\] is int, expected a string$"),
        (({},), r"^hypotheses is an empty mapping, expected at least one system$"),
        (({"A": "a"},), r"^hypotheses of system 'A' is one string"),
        (
            ({"A": ["a", "b"], "B": ["c"]},),
            r"^system 'B' has 1 hypotheses, the first system has 2; every system needs one an item$",
        ),
        ((["a"], "x"), r"^references is one string, expected a list with one entry per item$"),
        ((["a"], 3), r"^references is int, expected a list with one entry per item$"),
        ((["a"], [3]), r"^references\[0\] is int, expected a string or a list of strings$"),
        ((["a"], [["x", None]]), r"^references\[0\] holds an entry that is missing \(None or NaN\), expected strings$"),
        ((["a", "b"], ["x"]), r"^2 hypotheses but 1 entries of references, expected \[item\]\[reference\]$"),
        ((["a", "b"], None, ["s"]), r"^2 hypotheses but 1 sources; give one source an item$"),
        ((["a"], None, "s"), r"^sources is one string"),
    ],
)
def test_wrong_lists_are_refused_with_what_is_wrong(given_, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_texts(*given_)


def test_references_turned_by_ninety_degrees_are_told_how_to_turn_back():
    # two hypotheses and three streams of two references: sacrebleu's order of axes
    turned = [["x0", "x1"], ["y0", "y1"], ["z0", "z1"]]
    with pytest.raises(InputError, match=r"these look like \[reference\]\[item\]: pass list\(zip\(\*references\)\)$"):
        Dataset.from_texts(["a", "b"], turned)
    assert Dataset.from_texts(["a", "b"], list(zip(*turned, strict=True))).segments[1].references == ("x1", "y1", "z1")


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\u200b", "\ufeff", "\u200b \u00a0\u3000", "\0\x1b", "\u3164", "\u2800", "\ufe0f", "\U000e0041"],
)
def test_a_text_without_a_visible_character_is_blank(text):
    assert is_blank(text)
    assert stripped(text) == ""


# a mark alone has ink, and a filler is followed by some
@pytest.mark.parametrize("text", ["a", ".", "雨", "\u0301", "☃", "\u200ba", "\ufffd", "0", "\u1160a"])
def test_one_visible_character_is_a_text(text):
    assert not is_blank(text)
    assert stripped(f" {text}\n") == text


def test_the_columns_of_a_data_set_are_the_fields_that_some_segment_has():
    data = Dataset.from_texts({"s": ["a"], "t": ["b"]}, [["x", "y"]])
    assert data.as_columns() == {
        "id": ["s:1", "t:1"],
        "system": ["s", "t"],
        "seg": ["1", "1"],
        "refs": [["x", "y"]] * 2,
        "hyp": ["a", "b"],
    }
    assert Dataset(()).as_columns() == {"id": [], "hyp": []}


@given(texts=st.lists(st.text(max_size=6), max_size=4))
def test_a_list_that_python_wrote_as_a_text_is_read_back(texts):
    assert printed_list(str(texts)) == tuple(texts)
    assert printed_list(str(tuple(texts))) == (tuple(texts) or None)  # () is no list, but a pair of brackets


def test_an_array_of_numpy_and_a_list_of_json_are_lists_too():
    assert printed_list("['a b' \"it's\"\n 'c']") == ("a b", "it's", "c")
    assert printed_list('["caf\\u00e9", "b"]') == ("café", "b")


@pytest.mark.parametrize(
    "text",
    ["", "[a]", "['a']'", "['a' + 'b']", "[1, 2]", "('a')", "['a\\']", "['\\ud800']", "['\\d']", "['a\0']", "['a"],
)
def test_other_texts_are_no_lists(text):
    assert printed_list(text) is None
