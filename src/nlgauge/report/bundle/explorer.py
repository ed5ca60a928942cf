"""The table of segments that a reader filters and sorts: its data, packed, and the script that draws it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from dataclasses import dataclass
from importlib import resources

from markupsafe import Markup

from nlgauge.core.arrays import Array
from nlgauge.report.bundle.segments import Segments
from nlgauge.report.labels import visible
from nlgauge.report.rows import FALLS, PEOPLE

_DIGITS = 6  # significant, of the scores on the page; the rows files have all


@dataclass(frozen=True)
class Explorer:
    """What the table of segments is made of.

    Attributes:
        data: the segments as JSON, gzip and base64.
        script: the program, which is the same for all data.
        hash: the digest by which the policy of the page allows the script, and no other.
    """

    data: Markup
    script: Markup
    hash: str


def explorer_of(segments: Segments) -> Explorer:
    """The table of some segments; the same segments give the same bytes."""
    packed = gzip.compress(
        json.dumps(_data(segments), separators=(",", ":"), allow_nan=False).encode("ascii"), 6, mtime=0
    )
    script = resources.files("nlgauge.report").joinpath("templates/explorer.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return Explorer(Markup(base64.b64encode(packed).decode("ascii")), Markup(script), f"sha256-{digest}")


def _data(segments: Segments) -> dict[str, object]:
    """The segments as columns; texts stand once and are named by their place."""
    texts: dict[str, int] = {}

    def placed(text: str | None) -> int:
        return -1 if text is None else texts.setdefault(visible(text, "\n\t"), len(texts))

    known, systems = segments.known, list(map(_shown, segments.systems))
    names = list(dict.fromkeys(systems))
    return {
        "ids": [_shown(key.id) for key in segments.keys],
        "items": segments.items,
        "systems": names,
        "system": list(map({name: i for i, name in enumerate(names)}.__getitem__, systems)),
        "scores": [
            {"name": _label(name, segments), "falls": name in segments.falling, "values": _rounded(values)}
            for name, values in segments.main.items()
        ],
        "hyps": [placed(None if s is None else s.hypothesis) for s in known],
        "srcs": [placed(None if s is None else s.source) for s in known],
        "refs": [[] if s is None else list(map(placed, s.references)) for s in known],
        "texts": list(texts),
    }


def _label(name: str, segments: Segments) -> str:
    if name.startswith(PEOPLE):
        return f"{_shown(name.removeprefix(PEOPLE))} (people)"
    return _shown(name) + (f" {FALLS}" if name in segments.falling else "")


def _shown(name: str | None) -> str:
    return "" if name is None else visible(name)


def _rounded(values: Array) -> list[float | None]:
    return [float(f"{x:.{_DIGITS}g}") if math.isfinite(x) else None for x in values.tolist()]
