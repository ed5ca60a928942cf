from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.pack import make_folder, write_bytes


def test_a_name_in_gz_packs_and_any_other_does_not(tmp_path):
    write_bytes(tmp_path / "a.txt", b"text")
    write_bytes(tmp_path / "a.txt.gz", b"text")
    assert (tmp_path / "a.txt").read_bytes() == b"text"
    assert gzip.decompress((tmp_path / "a.txt.gz").read_bytes()) == b"text"


def test_the_same_content_gives_the_same_bytes_at_any_time_and_under_any_name(tmp_path, monkeypatch):
    write_bytes(tmp_path / "a.gz", b"text")
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_bytes(tmp_path / "b.gz", b"text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_nothing_is_left_where_a_file_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        write_bytes(tmp_path / "absent" / "a.txt", b"text")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_made_with_those_above_it_and_may_be_there_already(tmp_path):
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_file_in_the_way_of_a_folder_is_told_in_one_line(tmp_path):
    Path(tmp_path, "a").write_text("")
    with pytest.raises(InputError, match=r"^cannot make the folder .*a: File exists$"):
        make_folder(tmp_path / "a")
    with pytest.raises(InputError, match=r"^cannot make the folder .*b: Not a directory$"):
        make_folder(tmp_path / "a" / "b")
