"""Weights whose header lies: refused in one line, with the file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from nlgauge.core.errors import NlgaugeError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")


def sound(content):
    """The header of a file as an object, and the name of its first tensor."""
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    return header, next(name for name in header if name != "__metadata__"), content[8 + size :]


def packed(header, rest, size=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if size is None else size).to_bytes(8, "little") + text + rest


def changed(**fields):
    """A lie about the first tensor."""

    def lie(header, name, rest):
        return packed({**header, name: {**header[name], **fields}}, rest)

    return lie


LIES = {
    "no byte": lambda *_: b"",
    "a size beyond the file": lambda header, _, rest: packed(header, rest, 1 << 40),
    "a size of 2^63": lambda header, _, rest: packed(header, rest, 1 << 63),
    "a size of 0": lambda header, _, rest: packed(header, rest, 0),
    "no JSON": lambda _, __, rest: packed(b"{" * 20, rest),
    "a list": lambda _, __, rest: packed([1, 2], rest),
    "places beyond the file": changed(data_offsets=[0, 1 << 50]),
    "places below 0": changed(data_offsets=[-4, 0]),
    "an end before its beginning": changed(data_offsets=[8, 4]),
    "a shape of other bytes": changed(shape=[1 << 20, 1 << 20]),
    "a type that is not known": changed(dtype="F99"),
    "too few bytes": lambda header, _, rest: packed(header, rest[:-64]),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_header_that_lies_is_refused_in_one_line(tiny_model, tmp_path, lie):
    folder = tmp_path / "model"
    shutil.copytree(tiny_model("bert"), folder)
    weights = next(Path(folder).glob("*.safetensors"))
    weights.write_bytes(LIES[lie](*sound(weights.read_bytes())))
    with pytest.raises(NlgaugeError) as refused:
        metric(f"bertscore:model={quote(str(folder))}").score([Segment("1", "a", ("a",))], Runtime())
    assert "\n" not in str(refused.value)
    assert str(folder) in str(refused.value)
