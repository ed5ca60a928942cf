"""The table of segments that a reader filters and sorts: its data, packed, and the script that draws it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
from markupsafe import Markup

from nlgauge.core.arrays import Array
from nlgauge.core.marks import Alignment
from nlgauge.core.suite import ScoredPair
from nlgauge.report.alignment.sides import measures
from nlgauge.report.alignment.svg import similarity_scale
from nlgauge.report.bundle.segments import Segments
from nlgauge.report.colours import ink, shade
from nlgauge.report.labels import visible
from nlgauge.report.rows import FALLS, PEOPLE

_DARKEST = 0.75  # of shades behind numbers
_DIGITS = 6  # significant, of the scores on the page; the rows files have all


@dataclass(frozen=True)
class Explorer:
    """The data of the table of segments.

    Attributes:
        data: the segments as JSON, gzip and base64.
        script: the program, which is the same for all data.
        hash: the digest by which the policy of the page allows the script, and no other.
        n_strange: pairs of an audit that are about other texts.
    """

    data: Markup
    script: Markup
    hash: str
    n_strange: int


def explorer_of(segments: Segments) -> Explorer:
    """The table of some segments; the same segments give the same bytes."""
    packed = gzip.compress(
        json.dumps(_data(segments), separators=(",", ":"), allow_nan=False).encode("ascii"), 6, mtime=0
    )
    script = resources.files("nlgauge.report").joinpath("templates/explorer.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return Explorer(
        Markup(base64.b64encode(packed).decode("ascii")), Markup(script), f"sha256-{digest}", segments.n_strange
    )


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
        "buckets": [
            {"name": one.name, "labels": list(map(_shown, one.labels)), "places": one.places.tolist()}
            for one in segments.buckets
        ],
        "failures": [_failure(place, pair, list(segments.main), placed) for place, pair in segments.failures],
        "matches": {
            i: _matches(*segments.alignments[str(key.id)])
            for i, key in enumerate(segments.keys)
            if str(key.id) in segments.alignments
        },
        "shades": [(colour, ink(colour)) for colour in map(shade, np.linspace(0, _DARKEST, 21).tolist())],
        "texts": list(texts),
    }


def _failure(
    place: int, pair: ScoredPair, columns: Sequence[str], placed: Callable[[str | None], int]
) -> dict[str, object]:
    """A pair that metrics failed: its segment, its texts by their place, and the scores of both by each metric."""
    return {
        "of": place,
        "name": _shown(pair.phenomenon),
        "better": placed(pair.better or None),
        "worse": placed(pair.worse or None),
        "by": [[columns.index(spec), *_rounded(np.array(own[:2]))] for spec, own in pair.scores.items()],
    }


def _matches(reference: int, alignment: Alignment) -> dict[str, object]:
    """An alignment as the words of both sides with their weights and matches, and similarities; shares in per cent."""
    found = ", ".join(f"{name} {value}" for name, value in measures(alignment))
    scale = similarity_scale(alignment.similarities)
    return {
        "about": f"{found}; reference {reference}",
        "signature": _shown(str(alignment.signature)),
        "rows": list(map(_shown, alignment.hypothesis)),
        "columns": list(map(_shown, alignment.reference)),
        "best": [alignment.hypothesis_matches, alignment.reference_matches],
        "weights": [_percent(alignment.hypothesis_weights), _percent(alignment.reference_weights)],
        "cells": list(map(_percent, alignment.similarities)),
        "ends": _percent(np.array(scale)),
    }


def _percent(values: Array) -> list[int]:
    whole: list[int] = np.rint(100 * np.nan_to_num(values)).astype(int).tolist()
    return whole


def _label(name: str, segments: Segments) -> str:
    if name.startswith(PEOPLE):
        return f"{_shown(name.removeprefix(PEOPLE))} (people)"
    return _shown(name) + (f" {FALLS}" if name in segments.falling else "")


def _shown(name: str | None) -> str:
    return "" if name is None else visible(name)


def _rounded(values: Array) -> list[float | None]:
    return [float(f"{x:.{_DIGITS}g}") if math.isfinite(x) else None for x in values.tolist()]
