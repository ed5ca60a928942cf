from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import (
    Dataset,
    RepeatedKey,
    Segment,
    cells,
    check_keys,
    column,
    column_names,
    frame_texts,
    is_blank,
    is_frame,
    of_groups,
    plain,
    printed_list,
    select_systems,
    stripped,
    unique,
)

values = st.recursive(
    st.none() | st.integers(-5, 5) | st.text(st.sampled_from('a":,{} \\\n'), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "b", 'c":']), inner, max_size=3),
    max_leaves=8,
)


@given(value=values, separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :"), ("\t,", "\n:")]))
def test_an_object_with_each_key_once_is_taken_however_it_is_written(value, separators):
    check_keys(json.dumps(value, separators=separators), value)


@given(
    value=values, colon=st.sampled_from([":", " :", "\t: ", "\n:"]), place=st.sampled_from(["%s", "[%s]", '{"x":[%s]}'])
)
def test_a_key_that_stands_twice_is_found_wherever_it_is(value, colon, place):
    inner = json.dumps(value)
    text = place % f'{{"hyp"{colon}{inner},"n":{{}},"hyp"{colon}{inner}}}'
    with pytest.raises(RepeatedKey, match="field 'hyp' stands twice in one object"):
        check_keys(text, msgspec.json.decode(text))


def test_a_key_written_with_escapes_is_the_same_key():
    text = r'{"hyp":"a","h\u0079p":"b"}'
    with pytest.raises(RepeatedKey, match="'hyp'"):
        check_keys(text, json.loads(text))
    with pytest.raises(RepeatedKey, match="'hyp'"):
        json.loads(text, object_pairs_hook=unique)


# --- Tables of other libraries: told from texts, read column by column, refused where texts are wanted


class Table:
    """A table as other libraries make them: named columns, each of which turns itself into a list."""

    def __init__(self, **columns):
        self._columns = columns

    @property
    def columns(self):
        return list(self._columns)

    def __getitem__(self, name):
        return self._columns[name]


class Splits(dict):
    """What `datasets` calls a DatasetDict."""

    column_names = property(lambda self: {"test": ["hyp"]})


class Lazy:
    """A query that has not run: it knows its columns and has no cells."""

    columns = ("hyp",)


def test_a_frame_is_told_from_lists_columns_and_mappings():
    assert is_frame(Table(hyp=["a"]))
    assert not any(map(is_frame, (["a"], ("a",), "a", {"hyp": ["a"]}, np.array(["a"]), None, iter("a"))))


def test_frames_of_pandas_and_arrow_are_frames_and_their_columns_are_not():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    for frame in (pandas.DataFrame({"hyp": ["a", None]}), arrow.table({"hyp": ["a", None]})):
        assert is_frame(frame)
        assert not is_frame(frame["hyp"])
        assert (column_names(frame), column(frame, "hyp")) == (["hyp"], ["a", None])


def test_frames_of_polars_are_frames_and_their_columns_are_not():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"hyp": ["a", None], "refs": [["x"], ["y", "z"]]})
    assert is_frame(frame)
    assert not is_frame(frame["hyp"])
    assert (column(frame, "hyp"), column(frame, "refs")) == (["a", None], [["x"], ["y", "z"]])
    with pytest.raises(InputError, match=r"^LazyFrame gives no cells of column 'hyp'; collect it"):
        column(frame.lazy(), "hyp")


def test_data_sets_of_the_hub_are_frames():
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_dict({"hyp": ["a", "b"], "refs": [["x"], ["y", "z"]]})
    assert is_frame(data)
    assert (column(data, "hyp"), column(data, "refs")) == (["a", "b"], [["x"], ["y", "z"]])
    with pytest.raises(InputError, match=r"^DatasetDict holds several tables \('test'\), expected one"):
        column_names(datasets.DatasetDict({"test": data}))


def test_what_is_several_tables_or_not_in_memory_is_refused():
    with pytest.raises(InputError, match=r"^Splits holds several tables \('test'\), expected one; take one of them$"):
        column_names(Splits(test=Table(hyp=["a"])))
    with pytest.raises(InputError, match=r"^Lazy gives no cells of column 'hyp'; collect it into a table in memory"):
        column(Lazy(), "hyp")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"^DataFrame has two columns 'hyp', expected one; rename or drop the other$"):
        column_names(pandas.DataFrame([["a", "b"]], columns=["hyp", "hyp"]))


def test_cells_become_plain_values_and_what_is_missing_becomes_none():
    nested = [np.float64(0.5), np.array(["a", "b"], dtype=object), (1, float("nan")), {"x": np.int64(2)}, np.str_("t")]
    assert plain(nested) == [0.5, ["a", "b"], [1, None], {"x": 2}, "t"]
    assert type(plain(np.str_("t"))) is str
    pandas = pytest.importorskip("pandas")
    assert plain([pandas.NA, pandas.NaT, float("nan"), None]) == [None] * 4
    assert column(pandas.DataFrame({"n": pandas.array([1, None], dtype="Int64")}), "n") == [1, None]


def test_columns_and_arrays_of_texts_are_lists_of_texts():
    assert frame_texts(np.array(["a", "b"]), "hypotheses") == ["a", "b"]
    assert frame_texts((c for c in "ab"), "hypotheses") == ["a", "b"]
    assert frame_texts(np.array("ab"), "hypotheses") == ["ab"]  # an array of no dimension is one text, not its letters
    assert cells([["a"], ["b", "c"]]) == [["a"], ["b", "c"]]
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert frame_texts(pandas.Series(["a", "b"], index=[7, 7]), "hypotheses") == ["a", "b"]
    assert frame_texts(arrow.array(["a", "b"]), "hypotheses") == ["a", "b"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            Table(hyp=["a"], ref=["b"]),
            r"^hypotheses is a Table with columns 'hyp', 'ref', expected a list of texts; take one column, such as"
            r" frame\['hyp'\] \(nlgauge\.read takes a whole frame\)$",
        ),
        (["a", None], r"^hypotheses\[1\] is missing \(None or NaN\), expected a string$"),
        (["a", float("nan")], r"^hypotheses\[1\] is missing \(None or NaN\), expected a string$"),
        (["a", 1], r"^hypotheses\[1\] is int, expected a string$"),
        ("a", r"^hypotheses is one string, expected a list of strings; write \[hypotheses\] for a single text$"),
        (3, r"^hypotheses is int, expected a list of strings$"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(values, message):
    with pytest.raises(InputError, match=message):
        frame_texts(values, "hypotheses")


systems_of_texts = st.integers(0, 4).flatmap(
    lambda n: st.dictionaries(
        st.text(max_size=4), st.lists(st.text(max_size=5), min_size=n, max_size=n), min_size=1, max_size=4
    )
)


def test_references_are_a_tuple_however_they_came_and_one_string_is_refused():
    assert Segment("0", "a", ["b", "c"]).references == ("b", "c")
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
        Dataset((Segment("a", "x"), Segment("a", "x")))


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
    (segment,) = Dataset.from_texts(["a"])
    assert (segment.references, segment.source, segment.system) == ((), None, None)
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


ALL = ("A", "B", "refA", "refB", "bad")


def chosen(**options):
    return select_systems(ALL, references=["refA"], humans=["refA", "refB"], outliers=["bad"], **options)


def test_each_system_left_out_has_its_reason():
    selection = chosen(rated=["B", "bad"])
    assert selection.kept == ("B",)
    assert selection.left_out == {
        "A": "has no human score",
        "refA": "is a reference the metrics use",
        "refB": "written by people",
        "bad": "an outlier",
    }
    assert selection.note.startswith("1 of 5 systems (left out A: has no human score; refA: is a reference")
    assert chosen(include_humans=True).kept == ("A", "B", "refB")
    assert select_systems(["A"]).note == "1 of 1 systems"
    with pytest.raises(InputError, match=r"^outlier 'Bad2' is not among the systems; did you mean 'bad'\?$"):
        select_systems(ALL, outliers=["Bad2"])


def test_a_group_is_taken_alone():
    data = Dataset((Segment("1", "a", group="de-en"), Segment("2", "b", group="zh-en")))
    assert [s.id for s in of_groups(data, ["zh-en"])] == ["2"]
    with pytest.raises(InputError, match="no segment is of language pair or task 'zh-de'; did you mean 'zh-en'"):
        of_groups(data, ["zh-de"])
