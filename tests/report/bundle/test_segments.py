"""Rows of several files joined by id."""

from dataclasses import replace

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import ScoredPair
from nlgauge.core.tables import Key, Origin, ScoreTable
from nlgauge.report.bundle.page import bundle_html
from nlgauge.report.bundle.segments import segments_of


def table(name, ids, **columns):
    origins = {"ter": Origin(False), "m": Origin(True)}
    keys = tuple(Key(i, "system", i) for i in ids)
    return ScoreTable(keys, {k: np.array(v, float) for k, v in columns.items()}, "segment", name, (), origins)


def test_columns_are_joined_by_id():
    tables = [table("x", "ab", m=[1, 2]), table("y", "bc", m=[2, 3], ter=[5, 6])]
    found = segments_of(tables, [Dataset((Segment("a", "text"),), "d")])
    assert [key.id for key in found.keys] == ["a", "b", "c"]
    assert np.array_equal(found.columns["m"], [1, 2, 3])
    assert np.array_equal(found.columns["ter"], [np.nan, 5, 6], equal_nan=True)
    assert found.falling == {"ter"}
    assert found.texts["a"].hypothesis == "text"


def test_parts_of_metrics_are_no_scores_of_their_own():
    found = segments_of([table("x", "ab", **{"m": [1, 2], "m.precision": [1, 2], "0.3*m": [1, 2], "human.q": [1, 2]})])
    assert list(found.main) == ["m", "0.3*m", "human.q"]


def test_other_values_under_one_name_are_refused():
    with pytest.raises(InputError, match=r"^y: column 'm' has other values than in a file before; leave one out$"):
        segments_of([table("x", "ab", m=[1, 2]), table("y", "bc", m=[9, 3])])


def test_an_id_that_stands_for_two_segments_is_refused():
    """Ids made from row numbers are the same in every file."""
    other = ScoreTable((Key("a", "other"),), {"ter": np.ones(1)}, "segment", "y", (), {})
    with pytest.raises(InputError, match=r"^y: segment 'a' is of system 'other', and of 'system' in a file before"):
        segments_of([table("x", "ab", m=[1, 2]), other])
    texts = [Dataset((Segment("a", text),), name) for text, name in (("one", "d"), ("two", "e"))]
    with pytest.raises(InputError, match=r"^e: segment 'a' has other texts than in a file before"):
        segments_of([table("x", "ab", m=[1, 2])], texts)
    rated = Dataset((Segment("a", "one", human={"q": 1}),), "f")  # other ratings of the same texts
    assert segments_of([table("x", "ab", m=[1, 2])], [texts[0], rated]).texts["a"].hypothesis == "one"


def test_rows_without_ids_are_refused():
    odd = ScoreTable((Key(None, "s"),), {"m": np.ones(1)}, "system", "x", (), {})
    with pytest.raises(InputError, match=r"^x: its rows have no ids, expected what --segments writes$"):
        segments_of([odd])


def test_the_page_has_a_section_of_them(made):
    found = segments_of([table("x", "ab", m=[1, 2], ter=[4, 3], **{"human.q": [1, 5]})])
    whole = bundle_html({"a.json": made()["score"]}, segments=found)
    assert '<a href="#segments">Segments</a>' in whole
    assert "How scores correlate" in whole
    assert "m and q" in whole


def test_systems_items_and_groups_come_from_rows_and_texts():
    keys = (Key("a", "s", "1", "de-en"), Key("b", None, "2"), Key("c"))
    rows = ScoreTable(keys, {"m": np.ones(3)}, "segment", "r", (), {})
    text = Segment("b", "text", ("reference",), system="t", item="9", group="g")
    found = segments_of([rows], [Dataset((text,), "d")])
    assert found.known == [None, text, None]
    assert found.systems == ["s", "t", None]
    assert found.items == ["de-en\n1", "g\n9", "id\nc"]  # de-en and fr-en may both have an item 1
    assert found.groups == ["de-en", "g", None]
    assert [one.name for one in found.buckets] == ["group"]


def test_the_page_draws_buckets_quarters_and_systems(made):
    keys = tuple(Key(f"{s}{i}", s, str(i)) for s in "xy" for i in range(12))
    rows = ScoreTable(keys, {"m": np.arange(24.0)}, "segment", "r", (), {"m": Origin(True)})
    texts = [Segment(str(key.id), "text", ("word " * int(key.item) + key.item,)) for key in keys]
    whole = bundle_html({"a.json": made()["score"]}, segments=segments_of([rows], [Dataset(tuple(texts), "d")]))
    for title in ("By length of the reference", "System against system", "In quarters"):
        assert f"<h3>{title}</h3>" in whole
    assert "m: y and x" in whole


def test_pairs_belong_to_the_segment_whose_id_begins_theirs():
    rows = table("x", ["a", "a/b", "c"], m=[1, 2, 3])
    pairs = [
        ScoredPair("a/negation/ref", "negation", "x", "y", {"m": (1.0, 2.0, 0.0), "other": (1.0, 2.0, 0.0)}),
        ScoredPair("a/b/typos", "typos", "x", "y", {"m": (1.0, 1.0, 0.5)}),
        ScoredPair("c/typos", "typos", "x", "y", {"m": (2.0, 1.0, 1.0)}),  # won
        ScoredPair("d/typos", "typos", "x", "y", {"m": (1.0, 2.0, 0.0)}),
        ScoredPair("c/jumble", "jumble", "x", "y", {"other": (1.0, 2.0, 0.0)}),  # a metric that has no column
    ]
    found = replace(segments_of([rows]), pairs=pairs)
    assert [(place, one.phenomenon, [*one.scores]) for place, one in found.failures] == [
        (0, "negation", ["m"]), (1, "typos", ["m"]),
    ]  # fmt: skip
    assert found.n_strange == 1


def test_items_whose_scores_are_furthest_apart_are_those_of_the_widest_spread_of_places():
    # places by m: a 1/8, b 3/8, c 5/8, d 7/8; by ter, lower is better: a 7/8, b 5/8, c 3/8, d 1/8
    keys = tuple(Key(i, "s", i) for i in "abcd")
    columns = {"m": np.arange(4.0), "ter": np.arange(4.0), "human.q": np.array([9.0, 1, 1, 1])}
    rows = ScoreTable(keys, columns, "segment", "x", (), {"ter": Origin(False)})
    found = segments_of([rows])
    assert found.furthest(2) == [0, 3]
    assert found.furthest(9) == [0, 1, 2, 3]


def test_an_item_is_aligned_with_all_its_systems():
    keys = tuple(Key(f"{s}{i}", s, str(i)) for s in "xy" for i in range(3))
    rows = ScoreTable(keys, {"m": np.array([1.0, 5, 3, 1, 0, 2])}, "segment", "x", (), {})
    assert segments_of([rows]).furthest(1) == [1, 4]


def test_a_pair_of_other_texts_that_is_numbered_as_a_segment_is_not_about_it():
    pairs = [ScoredPair(i, "pair", "x", "y", {"m": (1.0, 2.0, 0.0)}) for i in "12"]
    found = replace(segments_of([table("x", "12", m=[1, 2])]), pairs=pairs)
    assert found.failures == []
    assert found.n_strange == 2
