from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.segment import Segment
from nlgauge.io.source import OPTIONAL, Tally, in_blocks

texts = st.text(max_size=6)
segments = st.lists(
    st.builds(Segment, texts, texts, st.lists(texts, max_size=2).map(tuple), st.none() | texts), max_size=20
)

FULL = Segment("full", "h", ("r",), "s", "A", "1", "de", {"x": 1.0}, ({"speaker": "A", "text": "t"},), (("a", 1),))


def tally_of(*counted):
    tally = Tally()
    for segment in counted:
        tally.add(segment)
    return tally


def blocks(*arguments, **options):
    return [[s.id for s in block] for block in in_blocks(*arguments, **options)]


def test_a_summary_says_what_some_have_and_whom_it_is_lacking_from():
    summary = tally_of(FULL, Segment("bare", "h"), Segment("later", "h", ("r",), system="B")).summary(
        [{"path": "f", "sha256": "0"}], ["a note"]
    )
    assert summary.n == 3
    assert summary.systems == {"A": 1, None: 1, "B": 1}
    assert summary.groups == {"de": 1, None: 2}
    assert summary.criteria == ("x",)
    assert summary.present == set(OPTIONAL)
    assert summary.lacking == dict.fromkeys(OPTIONAL, "bare")
    assert (summary.inputs, summary.notes) == (({"path": "f", "sha256": "0"},), ("a note",))


def test_the_first_segment_that_lacks_a_field_is_named():
    no_source, no_reference = Segment("no source", "h", ("r",)), Segment("no reference", "h", (), "s")
    summary = tally_of(no_source, no_reference, Segment("neither", "h")).summary([], [])
    assert summary.lacking["source"] == "no source"
    assert summary.lacking["references"] == "no reference"


def test_what_every_segment_has_is_not_lacking_and_what_none_has_is_not_present():
    summary = tally_of(FULL, FULL).summary([], [])
    assert summary.lacking == {}
    bare = tally_of(Segment("a", "h")).summary([], [])
    assert bare.present == set()
    assert tally_of(Segment("a", "h", ("",), "")).summary([], []).present == {
        "references",
        "source",
    }  # empty is not absent


def test_repeated_ids_are_found_by_their_hash():
    assert tally_of(*(Segment(name, "") for name in "abcab")).repeated() == {hash("a"), hash("b")}
    assert tally_of(*(Segment(name, "") for name in "abc")).repeated() == set()
    assert Tally().repeated() == set()


def test_blocks_end_at_their_size():
    assert blocks([Segment(name, "") for name in "abcde"], 2, 100) == [["a", "b"], ["c", "d"], ["e"]]
    assert blocks([], 2, 100) == []


def test_blocks_end_at_their_characters():
    # 3 + 2 + 1 characters, where hypothesis, references and source count
    long = Segment("b", "xxx", ("yy",), "z")
    assert blocks([Segment("a", "x"), long, Segment("c", "x"), long], 10, 6) == [["a", "b"], ["c", "b"]]


def test_a_text_longer_than_a_block_is_not_parted():
    assert blocks([Segment("a", "x" * 50), Segment("b", "x" * 50)], 10, 6) == [["a"], ["b"]]


def test_what_belongs_together_stays_together():
    assert blocks([Segment(name, "xxxxxx") for name in "abcdef"], 2, 6, together=3) == [
        ["a", "b", "c"],
        ["d", "e", "f"],
    ]


@given(segments, st.integers(1, 8), st.integers(1, 30), st.sampled_from([1, 2, 3]))
def test_blocks_hold_everything_in_order(all_segments, size, characters, together):
    made = list(in_blocks(all_segments, size, characters, together))
    assert [s for block in made for s in block] == all_segments
    assert all(made)
    assert all(len(block) % together == 0 for block in made[:-1])
    assert all(len(block) < size + together for block in made)


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_the_tally_grows_by_eight_bytes_a_segment(n):
    tally = tally_of(*(Segment(str(i), "h" * 100) for i in range(n)))
    assert tally.hashes.itemsize * len(tally.hashes) == 8 * n
    assert len(tally.shapes) <= 1
