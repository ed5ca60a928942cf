from __future__ import annotations

import gzip
import hashlib
import os
import random
import threading
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile, entries

TEXT = b"one\ntwo\n"


def content(file):
    return b"".join(file.chunks())


def test_plain_and_gzip_give_the_same_content(put):
    assert content(InputFile(put("a.txt", TEXT))) == TEXT
    assert content(InputFile(put("a.txt.gz", gzip.compress(TEXT)))) == TEXT


def test_gzip_is_known_by_its_content_and_may_have_several_members(put):
    # what `cat a.gz b.gz` gives is one gzip file by RFC 1952
    assert content(InputFile(put("a.txt", gzip.compress(TEXT) + gzip.compress(b"three\n")))) == TEXT + b"three\n"


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


def test_damaged_gzip(put):
    # random bytes do not compress, so that a changed byte is caught by the checksum and not by the code table
    packed = bytearray(gzip.compress(random.Random(0).randbytes(5000)))
    packed[2500] ^= 1
    with pytest.raises(InputError, match=r"^a\.gz: damaged gzip data \(CRC check failed"):
        content(InputFile(put("a.gz", bytes(packed))))


def test_gzip_that_ends_too_early(put):
    with pytest.raises(InputError, match=r"^a\.gz: damaged gzip data \(Compressed file ended"):
        content(InputFile(put("a.gz", gzip.compress(TEXT)[:-6])))


def test_garbage_after_gzip(put):
    with pytest.raises(InputError, match=r"^a\.gz: damaged gzip data"):
        content(InputFile(put("a.gz", gzip.compress(TEXT) + b"junk")))


def test_named_gz_but_plain(put):
    with pytest.raises(InputError, match=r"^a\.gz is named \.gz but holds no gzip data$"):
        content(InputFile(put("a.gz", TEXT)))


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
