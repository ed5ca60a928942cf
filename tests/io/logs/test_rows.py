from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib

import pytest
import zstandard

import nlgauge as ng
from nlgauge.io.files import InputFile, Limits, limited
from nlgauge.io.logs.rows import (
    Archive,
    Log,
    LogLines,
    Sample,
    asked,
    document,
    inner,
    item_of,
    message,
    name_of,
    parsed,
    score,
    text,
    texts,
)


@pytest.fixture
def log(put):
    return Log(InputFile(put("a.json", "{}")))


def test_groups_are_part_of_ids_where_there_are_several(log):
    log.add(Sample(item="1", hypothesis="a", group="x"))
    log.add(Sample(item="1", hypothesis="b", group="y", system="s"))
    assert [s.id for s in log.source().data] == ["x:1", "y:s:1"]


def test_a_score_that_some_samples_lack_is_undefined_there(log):
    log.add(Sample(item="1", hypothesis="a", scores={"m": 1.0, "n": math.nan}))
    log.add(Sample(item="2", hypothesis="a", scores={}))
    data = log.source(["read"]).data
    assert data.notes == ("a.json: read", "a.json: 1 of 2 scores 'm' undefined", "a.json: 2 of 2 scores 'n' undefined")


def test_an_empty_reference_is_none(log):
    log.add(Sample(item="1", hypothesis="a", references=("",)))
    log.add(Sample(item="2", hypothesis="a", references=("", "b", " ")))
    data = log.source().data
    assert [s.references for s in data] == [(), ("b",)]
    with pytest.raises(ng.InputError, match="needs references; segment '1' has none"):
        ng.score(data, metrics="chrf")


def test_a_log_of_failures_is_refused(log):
    log.add(Sample(item="1", hypothesis=None))
    with pytest.raises(ng.InputError, match=r"^a.json: all 1 sample failed"):
        log.source()


def test_a_number_and_a_text_of_the_same_digits_are_two_items(log):
    for item, said in ((1, "a"), ("1", "b"), (2, "c")):
        log.add(Sample(item=item, hypothesis=said, repeat=1))
    data = log.source().data
    assert [(s.item, s.hypothesis) for s in data] == [("1", "a"), ('"1"', "b"), ("2", "c")]
    assert data.notes == (
        "a.json: 1 items have a number that is also the name of another item, which stands in quotes",
    )


def test_an_item_that_is_called_as_a_run_of_another_stands_in_quotes(log):
    for item, repeat in (("q", 1), ("q", 2), ("q#2", 1), ("q#3", 1)):
        log.add(Sample(item=item, hypothesis="a", repeat=repeat))
    data = log.source().data
    assert [(s.id, s.item) for s in data] == [("q", "q"), ("q#2", "q"), ('"q#2"', '"q#2"'), ("q#3", "q#3")]
    assert "a.json: 1 items are called as a run of another item is, and stand in quotes" in data.notes


def test_of_scores_with_one_name_none_is_lost(log):
    log.add(Sample(item="1", hypothesis="a", scores=log.scores([("m", 1.0), ("n", 2.0), ("m", 0.0)])))
    data = log.source().data
    assert data.segments[0].human == {"m": 1.0, "n": 2.0, "m#2": 0.0}
    assert data.notes == ("a.json: several scores are called 'm'; the second is 'm#2', and so on",)


def test_answers_of_two_rows_about_one_item_are_all_runs(log):
    for said in ("a", "b", "c", "d"):  # two rows with two answers each
        log.add(Sample(item="1", hypothesis=said))
    assert [s.id for s in log.source().data] == ["1", "1#2", "1#3", "1#4"]


def test_nan_is_read_and_a_field_twice_is_refused(put):
    assert math.isnan(document(InputFile(put("a.json", '{"x": NaN}')))["x"])
    for content in ('{"x": 1, "x": 2}', '{"x": NaN, "x": 2}'):
        with pytest.raises(ng.InputError, match="stands twice"):
            document(InputFile(put("a.json", content)))
    with pytest.raises(ng.InputError, match=r"nested too deeply|levels deep"):
        document(InputFile(put("a.json", "[" * 5000 + "]" * 5000)))
    with pytest.raises(ng.InputError, match="not UTF-8"):
        document(InputFile(put("a.json", b'{"x": "\xff"}')))


def test_lines_are_objects(put):
    rows = LogLines(InputFile(put("a.jsonl", '{"x": 1}\n\n{"x": 2}\n')))
    assert [(where, row["x"]) for where, row in rows] == [("a.jsonl:1", 1), ("a.jsonl:3", 2)]
    assert rows.notes() == ["a.jsonl: 1 blank line skipped"]
    with pytest.raises(ng.InputError, match=r"a.jsonl:1: not an object"):
        list(LogLines(InputFile(put("a.jsonl", "3\n"))))


def test_values_of_another_kind_are_absent():
    assert inner({"a": {"b": 1}}, "a", "b") == 1
    assert inner({"a": 3}, "a", "b") is inner(None, "a") is None
    assert (text("x"), text(3), name_of(3), name_of(True), texts(["a", 1]), texts("b")) == (
        "x",
        None,
        "3",
        None,
        ("a",),
        ("b",),
    )
    assert (score(True), score(2)) == (1.0, 2.0)
    assert all(math.isnan(score(value)) for value in (None, "1", math.inf, 10**400))
    assert (message("a"), message([{"text": "a"}, {"text": "b"}, 3]), message([])) == ("a", "a\nb", None)


def test_items_are_named_by_their_texts():
    assert (item_of("short"), item_of(""), item_of("a", "b") == item_of("a", "c")) == ("short", "-", False)
    assert len(item_of("word " * 99)) < 60


def test_columns_may_be_in_either_direction():
    assert asked({"hyp": "x"}, ("hyp",), "f") == asked({"x": "hyp"}, ("hyp",), "f") == {"hyp": "x"}
    with pytest.raises(ng.InputError, match="f: columns name the field 'y', expected one of hyp"):
        asked({"x": "y"}, ("hyp",), "f")


@pytest.mark.parametrize("more", ["1", "NaN"])
def test_half_of_a_surrogate_pair_is_a_replacement_character(put, more):
    file = InputFile(put("a", "x"))
    assert parsed(f'{{"a": "\\ud800", "b": {more}}}', file, "a")["a"] == "\ufffd"
    assert parsed('{"a": "\\ud83d\\ude00"}', file, "a") == {"a": "\U0001f600"}


def zstandard_zip(members, damage=False):
    """A zip archive whose members are each two frames of Zstandard; Python below 3.14 does not write them itself."""
    body, entries = b"", b""
    for name, content in members.items():
        half = len(content) // 2
        packed = b"".join(zstandard.ZstdCompressor().compress(part) for part in (content[:half], content[half:]))
        packed = packed[: len(packed) // 2] if damage else packed
        sizes = struct.pack("<III", zlib.crc32(content), len(packed), len(content))
        about = struct.pack("<HHHHH", 63, 0, 93, 0, 33) + sizes + struct.pack("<HH", len(name), 0)
        entries += b"PK\x01\x02" + struct.pack("<H", 63) + about + struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        entries += name.encode()
        body += b"PK\x03\x04" + about + name.encode() + packed
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(members), len(members), len(entries), len(body), 0)
    return body + entries + end


def plain_zip(members, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("pack", [plain_zip, zstandard_zip])
def test_members_are_unpacked_over_all_frames(put, pack):
    archive = Archive(InputFile(put("a.eval", pack({"x": b"one two " * 999, "y": b"three"}))))
    assert (archive.names, archive.read("x"), archive.read("y")) == (["x", "y"], b"one two " * 999, b"three")
    archive.close()


@pytest.mark.parametrize("pack", [plain_zip, zstandard_zip])
def test_a_bomb_is_refused_before_memory_is_gone(put, pack):
    path = put("a.eval", pack({"x": bytes(3_000_000)}))
    with limited(Limits(array=2_000_000)), pytest.raises(ng.InputError, match="expected at most 2,000,000"):
        Archive(InputFile(path)).read("x")


def test_many_large_members_together_are_refused(put, monkeypatch):
    monkeypatch.setattr("nlgauge.io.logs.rows.RATIO_FROM", 1_000_000)
    archive = Archive(InputFile(put("a.eval", plain_zip({str(n): bytes(400_000) for n in range(3)}))))
    assert [len(archive.read(name)) for name in "01"] == [400_000] * 2
    with pytest.raises(ng.InputError, match="times larger, expected at most 200"):
        archive.read("2")
    archive.close()


def test_damage_is_one_line(put):
    with pytest.raises(ng.InputError, match=r"^a.eval, x: damaged"):
        Archive(InputFile(put("a.eval", zstandard_zip({"x": b"one two three"}, damage=True)))).read("x")
    with pytest.raises(ng.InputError, match=r"^b.eval: damaged zip archive"):
        Archive(InputFile(put("b.eval", plain_zip({"x": b"one"})[:-30])))


@pytest.mark.parametrize(("method", "name"), [(zipfile.ZIP_LZMA, "lzma"), (zipfile.ZIP_BZIP2, "bzip2")])
def test_other_methods_are_refused_also_damaged(put, method, name):
    packed = plain_zip({"x": b"one two three"}, method)
    for content in (packed, packed[:40] + b"\xff" * 6 + packed[46:]):
        with pytest.raises(ng.InputError, match=rf"^a.eval, x: is packed with {name}, expected Deflate or Zstandard"):
            Archive(InputFile(put("a.eval", content))).read("x")


@pytest.mark.parametrize("pack", [plain_zip, zstandard_zip])
def test_a_member_is_what_its_entry_says(put, pack):
    text = b"one two three"
    packed = pack({"x": text})
    sizes = struct.pack("<I", len(text))  # behind the packed size, in the entry and before the member
    for old, new in (
        (struct.pack("<I", zlib.crc32(text)), b"1234"),
        *([(sizes + b"\1\0", struct.pack("<I", 14) + b"\1\0")] if pack is zstandard_zip else []),
    ):
        assert packed.count(old) == 2
        with pytest.raises(ng.InputError, match=r"^a.eval, x: damaged .*(checksum|Bad CRC-32)"):
            Archive(InputFile(put("a.eval", packed.replace(old, new)))).read("x")
