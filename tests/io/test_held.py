from __future__ import annotations

import hashlib
import io

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.files.files import InputFile
from nlgauge.io.held import HeldSource

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


def test_no_segment_is_refused():
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
