from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
import random
import threading
import zlib
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile, entries
from nlgauge.io.files.limits import Limits, limited

TEXT = b"one\ntwo\n"


def content(file):
    return b"".join(file.chunks())


def test_plain_and_gzip_give_the_same_content(put):
    assert content(InputFile(put("a.txt", TEXT))) == TEXT
    assert content(InputFile(put("a.txt.gz", gzip.compress(TEXT)))) == TEXT


@pytest.mark.parametrize("pack", [gzip, bz2, lzma])
def test_packed_data_are_known_by_their_content(put, pack):
    long = random.Random(0).randbytes(3 << 20)  # more than is unpacked at once
    assert content(InputFile(put("a.txt", pack.compress(TEXT) + pack.compress(long)))) == TEXT + long
    assert content(InputFile(put("b.txt", pack.compress(b"")))) == b""


@pytest.mark.parametrize(("end", "pack", "what"), [(".gz", gzip, "gzip"), (".bz2", bz2, "bzip2"), (".xz", lzma, "xz")])
def test_packed_data_that_are_wrong_are_refused(put, end, pack, what):
    packed = pack.compress(random.Random(0).randbytes(5000))
    damaged = bytearray(packed)
    damaged[2500] ^= 1
    for wrong in (packed[:-6], packed[:300], bytes(damaged), packed + b"junk"):
        with pytest.raises(InputError, match=rf"^a\{end}: damaged {what} data"):
            content(InputFile(put(f"a{end}", wrong)))
    with pytest.raises(InputError, match=rf"^a\{end} is named \{end} but holds no {what} data$"):
        content(InputFile(put(f"a{end}", "BZh is how a text may begin")))
    assert content(InputFile(put("a.txt", "BZh is how a text may begin"))) == b"BZh is how a text may begin"


@pytest.mark.parametrize("pack", [gzip, bz2, lzma])
def test_a_small_file_that_unpacks_to_much_is_refused(put, pack, monkeypatch):
    monkeypatch.setattr("nlgauge.io.files.files.RATIO_FROM", 1 << 20)
    packed = pack.compress(bytes(3 << 20))
    with pytest.raises(InputError, match=r"unpacked it is [0-9,]+ times larger, expected at most 200"):
        content(InputFile(put("a.txt", packed)))
    with limited(Limits(file=1 << 21, ratio=10**9)), pytest.raises(InputError, match=r"at least .* bytes unpacked"):
        content(InputFile(put("a.txt", packed)))


def test_xz_that_wants_much_memory_is_refused(put):
    # a dictionary of 1 GB, which is taken before the first byte is unpacked
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 4096, "preset": 0}]
    packed = bytearray(lzma.compress(TEXT, filters=filters, check=lzma.CHECK_NONE))
    header = packed[12 : 12 + (packed[12] + 1) * 4]
    place = bytes(header).index(b"\x21\x01") + 2  # LZMA2, one byte of properties: the size
    header[place] = 37  # 2^30 bytes by section 5.3.1 of the format
    header[-4:] = zlib.crc32(bytes(header[:-4])).to_bytes(4, "little")
    packed[12 : 12 + len(header)] = header
    with pytest.raises(InputError, match=r"^a\.xz: damaged xz data \(Memory usage limit exceeded\)$"):
        content(InputFile(put("a.xz", bytes(packed))))


def test_digest_is_that_of_the_bytes_on_disk(put):
    packed = gzip.compress(TEXT)
    file = InputFile(put("a.gz", packed))
    assert file.sha256 is None
    content(file)
    assert file.entry == {"path": "a.gz", "sha256": hashlib.sha256(packed).hexdigest()}
    assert InputFile("a.gz").entry == file.entry  # also without a pass before


def test_standard_input_serves_everybody_who_reads_it(feed):
    """It can be read once; its copy has the content for whoever comes next, and its digest is known after `close`."""
    feed(TEXT)
    assert InputFile("-").head(3) == b"one"
    second = InputFile("-")
    assert content(second) == TEXT
    second.close()
    assert InputFile("-").entry == {"path": "-", "sha256": hashlib.sha256(TEXT).hexdigest()}
    feed(b"other\n")
    assert content(InputFile("-")) == b"other\n"


def test_the_digest_of_a_pipe_outlives_the_one_that_read_it(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    content(InputFile(path))
    writer.join()
    assert InputFile(path).entry["sha256"] == hashlib.sha256(TEXT).hexdigest()  # does not wait for another writer


def test_a_pass_that_stops_early_leaves_no_digest(put):
    file = InputFile(put("a.txt", b"x" * (3 << 20)))
    next(file.chunks())
    assert file.sha256 is None


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: None, "data.txt: no such file"),
        (lambda: os.mkdir("data.txt"), "data.txt is a folder, expected a file"),
        (lambda: Path("dato.txt").touch(), "data.txt: no such file; did you mean 'dato.txt'?"),
        (lambda: os.symlink("gone", "data.txt"), "data.txt: no such file; it is a link to gone, which is not there"),
    ],
)
def test_what_is_no_file_is_refused_at_once(put, make, says):
    put("other.txt", "x")
    make()
    with pytest.raises(InputError) as error:
        InputFile("data.txt")
    assert str(error.value) == says


def test_a_folder_that_is_missing_is_named(put):
    with pytest.raises(InputError, match=r"^no/such/data\.txt: no such file; there is no folder no/such$"):
        InputFile("no/such/data.txt")


@pytest.mark.parametrize("path", ["", "file.txt/below", "nul\0byte"])
def test_odd_paths_are_one_line(put, path):
    put("file.txt", "x")
    with pytest.raises(InputError) as error:
        InputFile(path)
    assert "\n" not in str(error.value)


def test_standard_input_can_be_read_twice(put, feed):
    feed(TEXT)
    file = InputFile("-")
    assert content(file) == content(file) == TEXT
    assert file.entry == {"path": "-", "sha256": hashlib.sha256(TEXT).hexdigest()}


def test_gzip_on_standard_input(feed):
    feed(gzip.compress(TEXT))
    assert content(InputFile("-")) == TEXT


def test_two_passes_at_once_do_not_disturb_each_other(feed):
    feed(bytes(range(256)) * 20_000)  # 5 MB: several chunks
    file = InputFile("-")
    both = list(zip(file.chunks(), file.chunks(), strict=True))
    assert all(one == other for one, other in both)
    assert b"".join(one for one, _ in both) == bytes(range(256)) * 20_000


def test_standard_input_leaves_no_file(feed, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    feed(TEXT)
    file = InputFile("-")
    content(file)
    on_posix = os.name == "posix"
    assert not on_posix or list(tmp_path.iterdir()) == []  # it has no name there, even while in use
    file.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_can_be_read_twice(put):
    put("other", "")
    os.mkfifo("pipe")

    def fill():
        with open("pipe", "wb") as pipe:
            pipe.write(TEXT)

    writer = threading.Thread(target=fill)
    writer.start()
    file = InputFile("pipe")
    assert content(file) == content(file) == TEXT
    writer.join()


def test_a_file_that_changes_between_passes_is_refused(put):
    file = InputFile(put("a.txt", TEXT))
    content(file)
    put("a.txt", TEXT + b"three\n")
    with pytest.raises(InputError, match=r"^a\.txt changed while it was being read"):
        content(file)


def test_seeking_in_a_copy(feed):
    feed(b"0123456789")
    with InputFile("-").open() as raw:
        assert raw.seek(-3, os.SEEK_END) == 7
        assert raw.read() == b"789"
        assert raw.seek(2) == 2
        assert raw.read(1) == b"2"
        assert raw.seek(1, os.SEEK_CUR) == 4
        assert raw.read(1) == b"4"


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that opens and cannot be read")
def test_a_file_that_opens_and_cannot_be_read_is_told_in_one_line():
    # what a disk or a network share that fails answers too
    with pytest.raises(InputError, match=r"^/proc/self/mem: cannot be read \(Input/output error\)$"):
        content(InputFile("/proc/self/mem"))
    with pytest.raises(InputError, match=r"^/proc/self/mem: cannot be read \(Input/output error\)$"):
        _ = InputFile("/proc/self/mem").entry


class TestEntries:
    def test_what_lies_in_a_folder_comes_by_name(self, put):
        for name in ("f/b.txt", "f/a.txt", "f/a.score", "f/.hidden"):
            put(name, "")
        assert [path.name for path in entries("f")] == [".hidden", "a.score", "a.txt", "b.txt"]
        assert [str(path) for path in entries("f", "a.*")] == [os.path.join("f", "a.score"), os.path.join("f", "a.txt")]

    def test_a_folder_that_is_not_there_holds_nothing(self, put):
        put("file", "")
        assert entries("absent") == entries("file") == []

    def test_a_folder_that_may_not_be_read_is_no_empty_one(self, put, monkeypatch):
        put("f/a.txt", "")

        def forbid(_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.listdir", forbid)  # as root everything may be read
        with pytest.raises(InputError, match=r"^f: cannot be read \(Permission denied\)$"):
            entries("f")
