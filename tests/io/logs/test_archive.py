from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest
import zstandard

import nlgauge as ng
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.limits import Limits, limited
from nlgauge.io.logs.archive import Archive


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
    monkeypatch.setattr("nlgauge.io.logs.archive.RATIO_FROM", 1_000_000)
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
