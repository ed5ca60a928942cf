from __future__ import annotations

import hashlib
import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io import files
from nlgauge.io.fields import OF_ITEMS
from nlgauge.io.files import InputFile
from nlgauge.io.read import open_data, read
from nlgauge.io.segments import OPTIONAL, HeldSource, JoinedSource, SelectedSource, Tally, in_blocks

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
    summary = tally_of(FULL, FULL).summary([], [])
    assert summary.lacking == {}
    bare = tally_of(Segment("a", "h")).summary([], [])
    assert bare.present == set()
    assert tally_of(Segment("a", "h", ("",), "")).summary([], []).present == {
        "references",
        "source",
    }  # empty is not absent
    assert tally_of(*(Segment(name, "") for name in "abcab")).repeated() == {hash("a"), hash("b")}
    assert tally_of(*(Segment(name, "") for name in "abc")).repeated() == set()
    assert Tally().repeated() == set()


def test_blocks_end_at_their_size_and_at_their_characters():
    assert blocks([Segment(name, "") for name in "abcde"], 2, 100) == [["a", "b"], ["c", "d"], ["e"]]
    assert blocks([], 2, 100) == []
    # 3 + 2 + 1 characters, where hypothesis, references and source count
    long = Segment("b", "xxx", ("yy",), "z")
    assert blocks([Segment("a", "x"), long, Segment("c", "x"), long], 10, 6) == [["a", "b"], ["c", "b"]]
    assert blocks([Segment("a", "x" * 50), Segment("b", "x" * 50)], 10, 6) == [["a"], ["b"]]


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


def jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def grid(systems, items):
    return [
        {"id": f"{s}.{i}", "system": s, "seg": str(i), "lp": "xx-yy", "refs": ["r"], "hyp": f"{s} {i}"}
        for s in systems
        for i in range(items)
    ]


def test_the_summary_counts_in_order_of_appearance(put):
    rows = [
        *grid(["zeta", "alpha"], 2),
        {"id": "last", "hyp": "x", "src": "in", "task": "t", "human": {"f": 1}, "domain": 1},
    ]
    content = jsonl(rows)
    summary = open_data(put("a.jsonl", content)).check()
    assert summary.n == 5
    assert list(summary.systems.items()) == [("zeta", 2), ("alpha", 2), (None, 1)]
    assert list(summary.groups.items()) == [("xx-yy", 4), ("t", 1)]
    assert summary.criteria == ("f",)
    assert summary.present == {"references", "source", "system", "item", "group", "human"}
    assert summary.lacking == {
        "references": "last",
        "source": "zeta.0",
        "system": "last",
        "item": "last",
        "human": "zeta.0",
        "context": "zeta.0",
        "table": "zeta.0",
    }
    assert summary.inputs == ({"path": "a.jsonl", "sha256": hashlib.sha256(content.encode()).hexdigest()},)
    assert summary.notes == ("a.jsonl: fields ignored: 'domain'",)
    rows = [{"hyp": "x", **{f"f{i}": 0 for i in range(10)}}]
    assert open_data(put("a.jsonl", jsonl(rows))).check().notes == (
        "a.jsonl: fields ignored: 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7' and 2 more",
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            '{"hyp":"a","id":"q"}\n\n{"hyp":"b","id":"p"}\n{"hyp":"c","id":"q"}\n',
            "a.jsonl:4: duplicate id 'q', first at a.jsonl:1; ids must be unique",
        ),
        (
            '{"hyp":"a","id":"2"}\n{"hyp":"b"}\n',
            (
                "a.jsonl:2: duplicate id '2' (made from system and seg, or from the row number), first at a.jsonl:1;"
                " ids must be unique; where several people rate, name them: --columns rater=NAME; several criteria:"
                " --columns criterion=NAME"
            ),
        ),
        (
            jsonl([{"hyp": "a", "system": "A", "seg": 1, "lp": lp} for lp in ("de", "fr")]),
            (
                "a.jsonl:2: duplicate id 'A:1' (made from system and seg, or from the row number), first at a.jsonl:1;"
                " ids must be unique; a group (lp, task) is no part of it, so give each row an id"
            ),
        ),
        (
            jsonl([{"hyp": "a", "id": 7}, {"hyp": "a", "id": "7"}]),
            "a.jsonl:2: duplicate id '7', first at a.jsonl:1; ids must be unique",
        ),
        (  # an id names an item of both systems, and A has one twice
            jsonl([{"hyp": "a", "id": own[1], "system": own[0]} for own in ("A1", "A2", "B1", "B2", "A2")]),
            "a.jsonl:5: duplicate id '2' of system 'A', first at a.jsonl:2; each system has an id once",
        ),
    ],
)
def test_duplicate_ids_are_named_with_both_lines(put, content, says):
    with pytest.raises(InputError) as error:
        open_data(put("a.jsonl", content)).check()
    assert str(error.value) == says


def test_ids_of_items_may_be_many(put):
    rows = [{"hyp": "a", "id": i, "system": system} for system in "AB" for i in range(1001)]  # rows that are bad: 1,000
    assert open_data(put("a.jsonl", jsonl(rows))).check().notes == (OF_ITEMS.format("a.jsonl", "id"),)


def test_equal_hashes_are_no_duplicates(put, monkeypatch):
    # hashing in the module under test is replaced, so that every id collides; the rescan must clear them all
    monkeypatch.setattr("nlgauge.io.segments.hash", lambda text: 0, raising=False)
    assert open_data(put("a.jsonl", jsonl(grid(["s"], 5)))).check().n == 5
    put("a.jsonl", jsonl([*grid(["s"], 5), grid(["s"], 5)[3]]))
    with pytest.raises(InputError, match=r"^a\.jsonl:6: duplicate id 's\.3', first at a\.jsonl:4"):
        open_data("a.jsonl").check()


@pytest.mark.parametrize("content", ["", "\n \n", "\ufeff"])
def test_no_row_is_an_error(put, content):
    with pytest.raises(InputError, match=r"^a\.jsonl is empty: no row in it, expected at least one segment$"):
        open_data(put("a.jsonl", content)).check()


def test_blocks_cover_the_file_in_order_and_again(put):
    rows = grid(["a", "b"], 5)
    source = open_data(put("a.jsonl", jsonl(rows)))
    for _ in range(2):
        blocks = list(source.blocks(4))
        assert [len(b) for b in blocks] == [4, 4, 2]
        assert [s.id for b in blocks for s in b] == [row["id"] for row in rows]
    source = open_data(put("a.jsonl", jsonl([*grid(["s"], 5), {"hyp": 1}])))
    with pytest.raises(InputError, match=r"^a\.jsonl:6: "):
        source.blocks(2)


def test_standard_input_is_told_by_its_first_byte(put, feed):
    put("other", "")
    feed('{"id": "a", "hyp": "x"}\n')
    source = open_data("-")
    assert source.check().inputs[0]["path"] == "-"
    assert [s.id for b in source.blocks() for s in b] == ["a"]
    source.close()
    feed("\ufeffhyp\tid\nx\tb\n")
    assert [s.id for b in open_data("-").blocks() for s in b] == ["b"]
    feed('{"hyp": 1}')
    with pytest.raises(InputError, match=r"^<stdin>:1: field 'hyp' is a number"):
        open_data("-").check()
    feed("")
    with pytest.raises(InputError, match=r"^<stdin> is empty"):
        open_data("-").check()


def test_checking_holds_no_texts_and_no_ids(put, monkeypatch):
    # 9,000 more rows cost 8 bytes each, in an array that grows by steps and is sorted once in a copy: under 24.
    # An id of its own costs over 60, a segment over 400; what is read at a time is made small beside that.
    monkeypatch.setattr(files, "_CHUNK", 1 << 14)
    peaks = []
    for n in (1_000, 10_000):
        source = open_data(put(f"{n}.jsonl", jsonl({"id": f"segment number {i}", "hyp": "x" * 60} for i in range(n))))
        tracemalloc.start()
        source.check()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    small, large = peaks
    assert large - small < 9_000 * 24


def test_a_stream_holds_one_block(put, monkeypatch):
    # blocks of 500 from a file of 1,000 and of 5,000 rows: the same peak, but for the line number and the like
    monkeypatch.setattr(files, "_CHUNK", 1 << 14)
    peaks = []
    for n in (1_000, 5_000):
        source = open_data(put(f"{n}.jsonl", jsonl({"id": f"segment number {i}", "hyp": "x" * 60} for i in range(n))))
        source.check()
        tracemalloc.start()
        for _ in source.blocks(500):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    small, large = peaks
    assert large < 1.1 * small


SEGMENTS = (
    Segment("a", "1", ("r",), system="A", item="x"),
    Segment("b", "2", system="A", item="y"),
    Segment("c", "3", system="B", item="x"),
)


def test_what_was_read_whole_is_checked_and_streamed_like_any_input(put):
    source = HeldSource(Dataset(SEGMENTS, "set", ("a note",)), [InputFile(put("f", "content"))])
    summary = source.check()
    assert source.check() is summary
    assert (summary.n, summary.systems, summary.lacking["references"], summary.notes) == (
        3,
        {"A": 2, "B": 1},
        "b",
        ("a note",),
    )
    assert summary.inputs == ({"path": "f", "sha256": hashlib.sha256(b"content").hexdigest()},)
    assert [[s.id for s in block] for block in source.blocks(size=2)] == [["a", "b"], ["c"]]
    assert [s for block in source.blocks() for s in block] == list(SEGMENTS)
    with pytest.raises(InputError, match=r"^set is empty: no segment in it, expected at least one$"):
        HeldSource(Dataset((), "set"), [])


def test_closing_deletes_the_copy_of_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"content")))
    file = InputFile("-")
    source = HeldSource(Dataset(SEGMENTS, "set"), [file])
    source.check()
    source.close()
    with pytest.raises(ValueError, match="closed file"):
        file.open().read()


def joined(put, **rows):
    return JoinedSource([(name, open_data(put(f"{name}.jsonl", jsonl(own)))) for name, own in rows.items()])


def test_one_file_for_each_system_is_joined_by_item_or_id(put):
    source = joined(
        put, A=[{"id": "x", "hyp": "1", "refs": ["r", ""]}, {"id": "y", "hyp": "2"}], B=[{"id": "y", "hyp": "3"}]
    )
    assert [(s.id, s.system, s.item, s.n_blank) for block in source.blocks() for s in block] == [
        ("A:x", "A", "x", 1),
        ("A:y", "A", "y", 0),
        ("B:y", "B", "y", 0),
    ]
    assert dict(source.check().systems) == {"A": 2, "B": 1}
    assert [entry["path"] for entry in source.check().inputs] == ["A.jsonl", "B.jsonl"]


def test_names_in_the_files_go_before_those_of_the_files(put):
    source = joined(put, a=[{"system": "M", "seg": "1", "hyp": "h"}], b=[{"hyp": "i"}])
    assert [(s.id, s.system, s.item) for block in source.blocks() for s in block] == [
        ("M:1", "M", "1"),
        ("b:1", "b", "1"),
    ]
    with pytest.raises(InputError, match=r"^system 'M' is in two data files, 'a' and 'b', and has item '1' in both"):
        joined(put, a=[{"system": "M", "hyp": "h"}], b=[{"system": "M", "hyp": "i"}]).check()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"id": "a", "seg": "1"}, {"id": "b", "seg": "1"}),
        ({"id": "1"}, {"id": "b", "seg": "1", "lp": "de"}),  # without a group: that of any
        ({"id": "b", "seg": "1", "lp": "de"}, {"id": "1"}),
        ({"id": "a", "seg": "1"}, {"id": "a", "seg": "2"}),
    ],
)
def test_an_output_is_in_one_file_alone_whatever_its_id_and_group(put, one, other):
    rows = {name: [{"system": "M", "hyp": "h", **row}] for name, row in (("a", one), ("b", other))}
    with pytest.raises(InputError, match=r"^system 'M' is in two data files, 'a' and 'b', and has item '[12]' in both"):
        joined(put, **rows).check()


def test_files_with_other_items_of_the_same_systems_are_parts_of_one_set(put):
    source = joined(
        put,
        one=[{"system": system, "seg": "1", "hyp": "h"} for system in "AB"],
        two=[{"system": system, "seg": "2", "hyp": "h"} for system in "AB"],
    )
    assert ids(source) == ["A:1", "B:1", "A:2", "B:2"]
    assert dict(source.check().systems) == {"A": 2, "B": 2}
    told = "data files 'one' and 'two' have systems in common, and are taken for parts of one set"
    assert source.check().notes == (told,)
    languages = {lp: [{"system": system, "seg": "1", "lp": lp, "hyp": "h"} for system in "AB"] for lp in ("de", "fr")}
    assert ids(joined(put, **languages)) == ["de:A:1", "de:B:1", "fr:A:1", "fr:B:1"]


# --- Some of the segments: without systems, or only the items that all have

# a has items 1 to 3, b lacks 3, and c has item 1 of another group alone
WRITTEN = {"a": ["x1", "x2", "x3"], "b": ["x1", "x2"], "c": ["y1"]}
OUTPUTS = [
    Segment(f"{system}:{item}", "text", ("ref",), None, system, item[1], item[0])
    for system, items in WRITTEN.items()
    for item in items
]


def selected(*args, segments=OUTPUTS, **options):
    return SelectedSource(HeldSource(Dataset(tuple(segments), "data"), []), *args, **options)


def ids(source):
    return [segment.id for block in source.blocks() for segment in block]


def test_systems_are_left_out_with_a_note():
    source = selected(["c"])
    assert ids(source) == ["a:x1", "a:x2", "a:x3", "b:x1", "b:x2"]
    assert (source.check().n, dict(source.check().systems)) == (5, {"a": 3, "b": 2})
    assert source.check().notes == ("systems left out: c",)


def test_items_that_all_systems_have_in_the_same_group():
    source = selected(["c"], common=True)
    assert ids(source) == ["a:x1", "a:x2", "b:x1", "b:x2"]
    assert source.check().notes[1] == "2 of 3 items are those of all 2 systems; the others are left out"
    with pytest.raises(InputError, match="no segment is left: no item is common to all systems"):
        selected(common=True).check()


@pytest.mark.parametrize(
    ("segments", "exclude", "said"),
    [
        (OUTPUTS, ["bb"], "exclude names 'bb', which is not among the systems; did you mean 'b'"),
        (OUTPUTS, ["a", "b", "c"], "no segment is left: all are left out"),
        ([Segment("1", "text", ("ref",))], [], "segment '1' names no system; common items need both"),
        ([Segment("1", "text", ("ref",), None, "a")], [], "segment '1' names no item; common items need both"),
    ],
)
def test_what_leaves_nothing_or_cannot_be_told_is_refused(segments, exclude, said):
    with pytest.raises(InputError, match=said):
        selected(exclude, common=not exclude, segments=segments).check()


def test_an_id_that_each_system_has_is_the_item(put):
    rows = [{"doc": f"d{i}", "id": f"d{i}", "model": model, "hyp": "a"} for model in "xy" for i in range(2)]
    path = put("both.jsonl", jsonl(rows))
    expected = [(f"{system}:d{i}", system, f"d{i}") for system in "xy" for i in range(2)]
    for columns, name in (({"system": "model"}, "id"), ({"system": "model", "id": "doc"}, "doc")):
        source = open_data(path, columns=columns)
        assert [(s.id, s.system, s.item) for block in source.blocks() for s in block] == expected
        note = f"{path}: {name!r} repeats over systems, and is taken for the item (seg)"
        assert source.check().notes[-1] == note
        data = read(path, columns=columns)
        assert ([(s.id, s.system, s.item) for s in data], data.notes[-1]) == (expected, note)


@pytest.mark.parametrize(
    "another",
    [{"id": "d0", "model": "x", "hyp": "b"}, {"id": "d0", "hyp": "b"}, {"id": "d0", "model": "z", "seg": "1"}],
)
def test_an_id_that_one_system_has_twice_or_a_row_without_system_is_refused(put, another):
    rows = [*({"id": f"d{i}", "model": model, "hyp": "a"} for model in "xy" for i in range(2)), {"hyp": "", **another}]
    path = put("both.jsonl", jsonl(rows))
    with pytest.raises(InputError, match=r"duplicate id 'd0'"):
        open_data(path, columns={"system": "model"}).check()
