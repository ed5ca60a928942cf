from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io.files.pack import check_file_name, make_folder, write_bytes


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


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../evil", "a/b", "/etc/x", "..\\x", "a\nb", "a\0b", "\x1b[2J", "\udc80"]
)
def test_a_name_that_leads_elsewhere_or_cannot_be_shown_is_no_file(name):
    for may_hold_blanks in (False, True):
        with pytest.raises(InputError, match=r"expected one without .*it becomes the name of a file") as refused:
            check_file_name(name, "criterion", may_hold_blanks=may_hold_blanks)
        assert "\n" not in str(refused.value)


def test_names_of_all_languages_are_files_and_blanks_are_where_they_may_be():
    for name in ("mqm.v2", "...", "Größe", "评分", "می‌خواهم", "bertscore:layer=3"):
        check_file_name(name, "criterion")
    check_file_name("overall quality", "criterion", may_hold_blanks=True)
    with pytest.raises(InputError, match="without blanks"):
        check_file_name("overall quality", "metric name")
