"""Tables of other libraries: told from texts, read column by column, refused where texts are wanted."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.frames import cells, column, column_names, is_frame, plain, texts


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


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match=r"^DataFrame has two columns 'hyp', expected one; rename or drop the other$"):
        column_names(pandas.DataFrame([["a", "b"]], columns=["hyp", "hyp"]))


def test_cells_become_plain_values_and_what_is_missing_becomes_none():
    nested = [np.float64(0.5), np.array(["a", "b"], dtype=object), (1, float("nan")), {"x": np.int64(2)}, np.str_("t")]
    assert plain(nested) == [0.5, ["a", "b"], [1, None], {"x": 2}, "t"]
    assert type(plain(np.str_("t"))) is str


def test_what_pandas_calls_missing_is_missing():
    pandas = pytest.importorskip("pandas")
    assert plain([pandas.NA, pandas.NaT, float("nan"), None]) == [None] * 4
    assert column(pandas.DataFrame({"n": pandas.array([1, None], dtype="Int64")}), "n") == [1, None]


def test_columns_and_arrays_of_texts_are_lists_of_texts():
    assert texts(np.array(["a", "b"]), "hypotheses") == ["a", "b"]
    assert texts((c for c in "ab"), "hypotheses") == ["a", "b"]
    assert texts(np.array("ab"), "hypotheses") == ["ab"]  # an array of no dimension is one text, not its letters
    assert cells([["a"], ["b", "c"]]) == [["a"], ["b", "c"]]


def test_columns_of_other_libraries_are_lists_of_texts():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    assert texts(pandas.Series(["a", "b"], index=[7, 7]), "hypotheses") == ["a", "b"]
    assert texts(arrow.array(["a", "b"]), "hypotheses") == ["a", "b"]


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
        texts(values, "hypotheses")
