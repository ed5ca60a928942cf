"""Test sets and scores of a metric as mt-metrics-eval and WMT want them, with a manifest that says what they are."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment, unique
from nlgauge.core.spec import version
from nlgauge.io.files import check_file_name, counted, make_folder, ordinal, write_bytes
from nlgauge.io.wmt.mtme import (
    META,
    NO_TRANSLATION,
    THEIRS,
    BySystem,
    EvalSet,
    Info,
    Texts,
    check_reference,
    references_of,
    score_path,
)
from nlgauge.io.wmt.submissions import ALL, Submission, SubmissionRow, write_submission

MANIFEST = "manifest.json"
# Of the first, second, ... reference of every item: refA to refZ, then refAA and so on.
_NAMES = [f"ref{first}{second}" for first in ("", *ascii_uppercase) for second in ascii_uppercase]
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
) -> list[Path]:
    """Write segment and system scores of metrics, and `manifest.json` beside them.

    Every digit is written. The manifest holds the signatures and directions of the metrics, the systems, and the files
    with their SHA-256. A score that is NaN is refused, since neither layout has a place for it.
    System scores are the metrics' own corpus numbers.

    Args:
        folder: where to; made where it is missing.
        segments: n segments with system, item and group (the language pair).
        scores: name of the metric as it will stand in the files -> its scores of these segments.
        layout: `wmt`: `METRIC.seg.score` and `METRIC.sys.score`; `mtme`: `metric-scores/LP/METRIC-REF.seg.score` and
            `.sys.score`.
        reference: the reference the metrics used, `src` for none, `all` for every one.
        testset: name of the test set, which `wmt` needs.
        documents: (language pair, item) -> domain and document, for `wmt`; `all` and the language pair if None.

    Returns:
        The files written, the manifest last.

    Raises:
        InputError: a segment has no system, item or group, a system lacks an item, a score is NaN, or the files cannot
            hold a name. The error names the segments.
    """
    folder = Path(folder)
    grids = _grids(segments)
    if layout == "wmt" and not testset:
        raise InputError("WMT's files name the test set in every line; give testset")
    for name, values in scores.items():
        _check_scores(name, reference, values, segments)
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
        "metrics": [
            {"name": n, "signature": str(v.signature), "higher_is_better": v.higher_is_better}
            for n, v in scores.items()
        ],
        "systems": {lp: list(grid) for lp, (_, grid) in grids.items()},
        "n": {lp: len(items) for lp, (items, _) in grids.items()},
        "items": {lp: items for lp, (items, _) in grids.items() if not _numbered(items)},
        "files": [
            {"path": path.relative_to(folder).as_posix(), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in written
        ],
    }
    path = folder / MANIFEST
    write_bytes(path, (json.dumps(manifest, ensure_ascii=False, indent=1) + "\n").encode())
    return [*written, path]


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
            raise _second(segments[first], segment)
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


def _second(first: Segment, segment: Segment) -> InputError:
    return InputError(
        f"segments {first.id!r} and {segment.id!r} are both of system {segment.system!r} and item {segment.item!r}"
    )


def _check_scores(name: str, reference: str, values: Scores, segments: Sequence[Segment]) -> None:
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
            "segment": [(system, float(values.values[place])) for system, places in grid.items() for place in places],
            "system": [(system, values.take(places).system) for system, places in grid.items()],
        }
        make_folder(folder / "metric-scores" / lp)
        for level, rows in within.items():
            path = score_path(folder, lp, f"{name}-{reference}", level)
            paths.append(_lines(path, [f"{system}\t{_shown(score, path, system)}" for system, score in rows]))
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


# --- mt-metrics-eval's folder layout, written: a whole test set, or the scores of one metric


def write_eval_set(folder: str | os.PathLike[str], evaluated: EvalSet) -> list[Path]:
    """Write one language pair of a test set; other language pairs in the folder stay as they are.

    Args:
        folder: of the test set; made where it is missing.
        evaluated: what to write. Texts with line breaks go into `.jsonl`, which the layout has had since 2024.

    Returns:
        The files written.

    Raises:
        InputError: a name that the layout cannot hold, texts or scores of unequal number, a metric with missing scores,
            a text that reads as "none was supplied".
    """
    folder, lp = Path(folder), evaluated.lp
    _check_set(evaluated)
    documents = [
        f"{domain} {document}" for domain, document in zip(evaluated.domains, evaluated.documents, strict=True)
    ]
    written = [
        _texts(folder / "sources" / lp, evaluated.sources, "source"),
        _lines(folder / "documents" / f"{lp}.docs", documents),
    ]
    for name, texts in evaluated.references.items():
        written.append(_texts(folder / "references" / f"{lp}.{name}", texts, "target"))
    for name, texts in evaluated.outputs.items():
        written.append(_texts(folder / "system-outputs" / lp / name, texts, "hypothesis"))
    for (name, level), scores in evaluated.human.items():
        written.append(
            _scores(
                folder / "human-scores" / f"{lp}.{name}.{THEIRS[level]}.score", scores, evaluated, level, may_miss=True
            )
        )
    for (name, level), scores in evaluated.metrics.items():
        written.append(write_metric_scores(folder, evaluated, name, level, scores))
    info = evaluated.info
    if info != Info():
        path = folder / META
        known = _known(path)
        known[lp] = {
            "std_ref": info.reference,
            "std_gold": {THEIRS[level]: name for level, name in info.gold.items()},
            "outlier_systems": sorted(info.outliers),
            "primary_metrics": sorted(info.primary),
            **({"criterion": info.criterion} if info.criterion else {}),
        }
        write_bytes(path, (json.dumps(known, ensure_ascii=False, indent=1) + "\n").encode())
        written.append(path)
    return written


def write_metric_scores(
    folder: str | os.PathLike[str], evaluated: EvalSet, name: str, level: str, scores: BySystem
) -> Path:
    """Write `metric-scores/LP/NAME-REF.LEVEL.score`: every score in full, systems in the order of the outputs.

    Args:
        folder: of the test set.
        evaluated: the test set whose outputs were scored; all but the references used must have scores.
        name: with the references used, `BLEU-refA`, `COMET-src`.
        level: `segment`, `document`, `domain` or `system`.
        scores: system -> one number a unit of the level.
    """
    check_file_name(evaluated.lp, "language pair", may_hold_blanks=True)
    check_file_name(name, "metric name", may_hold_blanks=True)
    path = score_path(folder, evaluated.lp, name, level)
    _, used = references_of(name, evaluated.references, str(path))
    lacking = [system for system in evaluated.outputs if system not in scores and system not in used]
    if lacking:
        raise InputError(
            f"{path}: no scores of system {lacking[0]!r}; a metric scores every output but the references it uses"
        )
    return _scores(path, scores, evaluated, level, may_miss=False)


def eval_set(dataset: Dataset, lp: str | None = None, info: Info | None = None) -> EvalSet:
    """A test set from the segments of one group.

    Args:
        dataset: segments with system and item; segments of one item share source and references.
        lp: which group; the only one if None.
        info: what else is known; the first reference is the standard if None.

    Returns:
        Items in order of first appearance, numbered anew; references are `refA`, `refB` and so on. An output that a
        system lacks was not supplied. Criteria with a single rating each, or the mean of a list of ratings, are human
        scores of level `segment`.

    Raises:
        InputError: there are several groups and none is named, a segment has no source, system or item, two segments
            are of one system and item, or the segments of an item differ in source or references.
    """
    groups = [group for group in dataset.groups if group is not None]
    if lp is None and len(groups) == 1:
        lp = groups[0]
    if lp is None or lp not in groups:
        raise InputError(
            f"{dataset.name or 'the dataset'}: language pairs {', '.join(groups) or 'none'}, expected the name of one"
        )
    segments = [segment for segment in dataset if segment.group == lp]
    sources, targets, outputs = _by_item(segments)
    most = max(len(texts) for texts in targets)
    names = _NAMES[:most]
    n = len(sources)
    return EvalSet(
        dataset.name,
        lp,
        tuple(sources),
        ("all",) * n,
        (lp,) * n,
        {ref: tuple(texts[i] if i < len(texts) else None for texts in targets) for i, ref in enumerate(names)},
        {
            system: tuple(segments[at[item]].hypothesis if item in at else None for item in range(n))
            for system, at in outputs.items()
        },
        _ratings(segments, outputs, n),
        {},
        Info(names[0] if names else None) if info is None else info,
    )


def _by_item(segments: Sequence[Segment]) -> tuple[list[str], list[tuple[str, ...]], dict[str, dict[int, int]]]:
    """Sources and references of the items, and for each system: number of the item -> place of its segment."""
    places: dict[str, int] = {}
    sources: list[str] = []
    targets: list[tuple[str, ...]] = []
    outputs: dict[str, dict[int, int]] = {}
    for at, segment in enumerate(segments):
        if segment.system is None or segment.item is None or segment.source is None:
            what = next(what for what in ("system", "item", "source") if getattr(segment, what) is None)
            raise InputError(f"segment {segment.id!r} has no {what}, which the layout needs")
        place = places.setdefault(segment.item, len(sources))
        if place == len(sources):
            sources.append(segment.source)
            targets.append(segment.references)
        elif (sources[place], targets[place]) != (segment.source, segment.references):
            raise InputError(
                f"segment {segment.id!r} has another source or other references than the first of item {segment.item!r}"
            )
        first = outputs.setdefault(segment.system, {}).setdefault(place, at)
        if first != at:
            raise _second(segments[first], segment)
    return sources, targets, outputs


def _ratings(
    segments: Sequence[Segment], outputs: Mapping[str, Mapping[int, int]], n: int
) -> dict[tuple[str, str], BySystem]:
    """Criterion and level -> system -> its ratings, shape (n,); of a list of ratings, their mean."""
    human: dict[tuple[str, str], BySystem] = {}
    for criterion in dict.fromkeys(criterion for segment in segments for criterion in segment.human):
        by_system: dict[str, Array] = {}
        for system, at_place in outputs.items():
            values = np.full(n, np.nan)
            for place, at in at_place.items():
                rating = segments[at].human.get(criterion, np.nan)
                values[place] = np.mean(rating) if isinstance(rating, list) else rating
            if not np.isnan(values).all():
                by_system[system] = values
        human[criterion, "segment"] = by_system
    return human


def _check_set(evaluated: EvalSet) -> None:
    n = len(evaluated.sources)
    where = f"{evaluated.name} {evaluated.lp}"
    check_file_name(evaluated.lp, f"{evaluated.name}: language pair", may_hold_blanks=True)
    for name in evaluated.references:
        check_reference(name, where)
    for name in evaluated.outputs:
        check_file_name(name, f"{where}: system name")
    for name, _ in evaluated.human:
        check_file_name(name, f"{where}: name of human scores", may_hold_blanks=True)
    for what, several in (("reference", evaluated.references), ("system", evaluated.outputs)):
        for name, texts in several.items():
            if len(texts) != n:
                raise InputError(f"{where}: {what} {name!r} has {counted(len(texts), 'text')}, the sources have {n}")
    for what, names in (("domain", evaluated.domains), ("document", evaluated.documents)):
        bad = [name for name in names if not name or any(c.isspace() for c in name)]
        if bad or len(names) != n:
            raise InputError(
                f"{where}:"
                f" {f'{what} name {bad[0]!r} holds blanks' if bad else f'{counted(len(names), what)} for {n} segments'}"
            )
    for name in evaluated.people:
        if evaluated.outputs[name] != evaluated.references[name]:
            raise InputError(
                f"{where}: system {name!r} bears the name of a reference and has other texts; rename one of them"
            )


def _known(path: Path) -> dict[str, object]:
    """The entries of the side file for other language pairs."""
    if not path.exists():
        return {}
    try:
        known = json.loads(path.read_bytes(), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        known = None
    if type(known) is not dict:
        raise InputError(f"{path}: expected a JSON object, language pair -> what is known of it; it is not overwritten")
    return known


def _texts(stem: Path, texts: Texts, field: str) -> Path:
    held = [text for text in texts if text is not None]
    if any(text.rstrip() == NO_TRANSLATION for text in held):
        raise InputError(f"{stem}: a text is {NO_TRANSLATION!r}, which means that there is none")
    lines = any("\n" in text or "\r" in text for text in held)
    other = Path(f"{stem}.txt" if lines else f"{stem}.jsonl")
    if other.exists():
        raise InputError(
            f"{other} is there already and would stand beside the new {'.jsonl' if lines else '.txt'}; remove it first"
        )
    if lines:
        return _lines(Path(f"{stem}.jsonl"), [json.dumps({field: text}, ensure_ascii=False) for text in texts])
    return _lines(Path(f"{stem}.txt"), [NO_TRANSLATION if text is None else text for text in texts])


def _scores(path: Path, scores: BySystem, evaluated: EvalSet, level: str, may_miss: bool) -> Path:
    units = evaluated.units(level)
    unknown = [system for system in scores if system not in evaluated.outputs]
    if unknown:
        raise InputError(f"{path}: system {unknown[0]!r} has no output")
    lines = []
    for system in (system for system in evaluated.outputs if system in scores):
        values = np.asarray(scores[system], dtype=np.float64)
        if values.shape != (len(units),):
            raise InputError(
                f"{path}: system {system!r} has scores of shape {values.shape}, expected ({len(units)},), one"
                f" per {level}"
            )
        missing = np.flatnonzero(~np.isfinite(values)).tolist()
        if missing and (not may_miss or np.isinf(values).any()):
            raise InputError(
                f"{path}: system {system!r} has no number for {counted(len(missing), level)}, first"
                f" {units[missing[0]] or 'the whole set'}; a metric's file has one everywhere"
            )
        for unit, value in zip(units, values.tolist(), strict=True):
            shown = "None" if value != value else repr(value)
            lines.append(f"{unit}\t{system}\t{shown}" if level == "domain" else f"{system}\t{shown}")
    return _lines(path, lines)


def _lines(path: Path, lines: Sequence[str]) -> Path:
    make_folder(path.parent)
    write_bytes(path, "".join(f"{line}\n" for line in lines).encode())
    return path
