"""Scores of a metric as WMT and mt-metrics-eval want them, with a manifest that says what they are."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.io.files.lines import counted, ordinal
from nlgauge.io.files.pack import check_file_name, make_folder, write_bytes
from nlgauge.io.wmt.submissions import ALL, Submission, SubmissionRow, write_submission

MANIFEST = "manifest.json"
Grid = dict[str, list[int]]  # system -> places of its segments, in the order of the items


def export_scores(
    folder: str | os.PathLike[str],
    segments: Sequence[Segment],
    scores: Mapping[str, Scores],
    *,
    layout: Literal["wmt", "mtme"],
    reference: str,
    testset: str = "",
    documents: Mapping[tuple[str, str], tuple[str, str]] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write segment and system scores of metrics, and `manifest.json` beside them.

    Args:
        folder: where to; made where it is missing.
        segments: n segments with system, item and group (the language pair).
        scores: name of the metric as it will stand in the files -> its scores of these segments.
        layout: `wmt`: `METRIC.seg.score` and `METRIC.sys.score`; `mtme`: `metric-scores/LP/METRIC-REF.seg.score` and
            `.sys.score`.
        reference: the reference the metrics used, `src` for none, `all` for every one.
        testset: name of the test set, which `wmt` needs.
        documents: (language pair, item) -> domain and document, for `wmt`; `all` and the language pair if None.
        left_out: system -> why it was left out, for the manifest.

    Returns:
        The files written, the manifest last. System scores are the metric's own corpus numbers. Items that are whole
        numbers stand in their order, others as they come; `wmt` numbers the latter from 1. Where the items are not 1,
        2, ..., the manifest lists them.

    Raises:
        InputError: a segment has no system, item or group, a system lacks an item, a score is NaN, or the files cannot
            hold a name. The error names the segments.
    """
    folder = Path(folder)
    grids = _grids(segments)
    if layout == "wmt" and not testset:
        raise InputError("WMT's files name the test set in every line; give testset")
    for name, values in scores.items():
        _check(name, reference, values, segments)
    make_folder(folder)
    written: list[Path] = []
    for name, values in scores.items():
        if layout == "wmt":
            written += _wmt(folder, name, values, grids, reference, testset, documents or {})
        else:
            written += _mtme(folder, name, values, grids, reference)
    manifest = {
        "written_by": f"nlgauge {version('nlgauge')}",
        "layout": layout,
        "testset": testset or None,
        "reference": reference,
        **_contents(scores, grids, left_out or {}),
        "files": [
            {"path": path.relative_to(folder).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in written
        ],
    }
    path = folder / MANIFEST
    write_bytes(path, (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode())
    return [*written, path]


def _contents(
    scores: Mapping[str, Scores], grids: Mapping[str, tuple[list[str], Grid]], left_out: Mapping[str, str]
) -> dict[str, object]:
    """The extent of the files: metrics, and by language pair systems and items."""
    return {
        "metrics": [
            {"name": n, "signature": str(v.signature), "higher_is_better": v.higher_is_better}
            for n, v in scores.items()
        ],
        "systems": {lp: list(grid) for lp, (_, grid) in grids.items()},
        "left_out": dict(left_out),
        "n": {lp: len(items) for lp, (items, _) in grids.items()},
        "missing": 0,
        "items": {lp: items for lp, (items, _) in grids.items() if not _numbered(items)},
    }


def _grids(segments: Sequence[Segment]) -> dict[str, tuple[list[str], Grid]]:
    """Language pair -> its items in order, and the place of every system's segment of each."""
    places: dict[str, dict[str, dict[str, int]]] = {}
    for place, segment in enumerate(segments):
        for what in ("system", "item", "group"):
            if getattr(segment, what) is None:
                raise InputError(
                    f"segment {segment.id!r} has no {'language pair' if what == 'group' else what}, which the files"
                    " name"
                )
        own = places.setdefault(str(segment.group), {}).setdefault(str(segment.system), {})
        first = own.setdefault(str(segment.item), place)
        if first != place:
            raise InputError(
                f"segments {segments[first].id!r} and {segment.id!r} are both of system {segment.system!r} and item"
                f" {segment.item!r}"
            )
    grids: dict[str, tuple[list[str], Grid]] = {}
    for lp, systems in places.items():
        check_file_name(lp, "language pair", may_hold_blanks=True)
        items = list(dict.fromkeys(item for own in systems.values() for item in own))
        if all(_is_ordinal(item) for item in items):
            items.sort(key=int)
        for system, own in systems.items():
            lacking = [item for item in items if item not in own]
            if lacking:
                what = f"{counted(len(lacking), 'item')}, first {lacking[0]!r}"
                raise InputError(f"{lp}: system {system!r} lacks {what}; every system needs every item")
        grids[lp] = items, {system: [own[item] for item in items] for system, own in systems.items()}
    return grids


def _check(name: str, reference: str, values: Scores, segments: Sequence[Segment]) -> None:
    check_file_name(name, "metric name")
    check_file_name(reference, "reference")
    if values.ids != tuple(segment.id for segment in segments):
        raise InputError(
            f"scores of {name} are not those of the segments beside them ({len(values)} scores, {len(segments)}"
            " segments)"
        )
    missing = np.flatnonzero(~np.isfinite(values.values)).tolist()
    if missing:
        shown = ", ".join(values.ids[i] for i in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise InputError(
            f"{name} has no score for {counted(len(missing), 'segment')} ({shown}{more}); these files need one"
            " everywhere"
        )


def _wmt(
    folder: Path,
    name: str,
    values: Scores,
    grids: Mapping[str, tuple[list[str], Grid]],
    reference: str,
    testset: str,
    documents: Mapping[tuple[str, str], tuple[str, str]],
) -> list[Path]:
    rows: dict[str, list[SubmissionRow]] = {"segment": [], "system": []}
    for lp, (items, grid) in grids.items():
        numbers = [int(item) for item in items] if all(map(_is_ordinal, items)) else range(1, len(items) + 1)
        for system, places in grid.items():
            for item, number, place in zip(items, numbers, places, strict=True):
                domain, document = documents.get((lp, item), (ALL, lp))
                rows["segment"].append(
                    SubmissionRow(
                        name, lp, testset, system, float(values.values[place]), number, domain, document, reference
                    )
                )
            rows["system"].append(
                SubmissionRow(name, lp, testset, system, values.take(places).system, reference=reference)
            )
    paths = [folder / f"{name}.seg.score", folder / f"{name}.sys.score"]
    for path, (level, own) in zip(paths, rows.items(), strict=True):
        write_submission(path, Submission(level, tuple(own)))
    return paths


def _mtme(
    folder: Path, name: str, values: Scores, grids: Mapping[str, tuple[list[str], Grid]], reference: str
) -> list[Path]:
    paths: list[Path] = []
    for lp, (_, grid) in grids.items():
        within: dict[str, list[tuple[str, float]]] = {
            "seg": [(system, float(values.values[place])) for system, places in grid.items() for place in places],
            "sys": [(system, values.take(places).system) for system, places in grid.items()],
        }
        make_folder(folder / "metric-scores" / lp)
        for level, lines in within.items():
            paths.append(folder / "metric-scores" / lp / f"{name}-{reference}.{level}.score")
            write_bytes(
                paths[-1],
                "".join(f"{system}\t{_shown(score, paths[-1], system)}\n" for system, score in lines).encode(),
            )
    return paths


def _shown(score: float, path: Path, system: str) -> str:
    if not np.isfinite(score):
        raise InputError(f"{path}: no score for system {system!r}; these files need one everywhere")
    if any(c.isspace() for c in system):
        raise InputError(f"{path}: system {system!r} holds blanks, which the file cannot")
    return repr(score)


def _is_ordinal(item: str) -> bool:
    try:
        ordinal(item)
    except ValueError:
        return False
    return True


def _numbered(items: Sequence[Any]) -> bool:
    """Whether the items are the numbers from 1 on, so that no table of numbers is needed."""
    return list(items) == [str(n + 1) for n in range(len(items))]
