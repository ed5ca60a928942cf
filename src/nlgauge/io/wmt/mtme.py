"""The folder layout of mt-metrics-eval: texts, human scores and metric scores of one test set, by language pair."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, RepeatedKey, unique
from nlgauge.io.files.files import InputFile, entries
from nlgauge.io.files.lines import Faults, Lines, counted, number
from nlgauge.io.jsonl import JsonRows
from nlgauge.io.source import HeldSource
from nlgauge.io.wmt.evalset import META, EvalSet, Info, Scores, Texts

NO_TRANSLATION = "[No translation supplied]"
LEVELS = {"seg": "segment", "doc": "document", "domain": "domain", "sys": "system"}  # theirs -> ours
RESERVED = ("all", "src")  # as names of references they mean "every one" and "none"


def language_pairs(folder: str | os.PathLike[str]) -> list[str]:
    """The language pairs of a test set, sorted.

    Raises:
        InputError: the folder has no `sources/*.txt` or `sources/*.jsonl`.
    """
    sources = Path(folder) / "sources"
    found = (_unpacked(path) for path in entries(sources))
    names = sorted({path.stem for path in found if path.suffix in (".txt", ".jsonl")})
    if not names:
        raise InputError(
            f"{folder}: no sources/SRC-TGT.txt in it, expected the folder of one test set in mt-metrics-eval's layout"
        )
    return names


def read_eval_set(folder: str | os.PathLike[str], lp: str, metrics: bool | Sequence[str] = True) -> EvalSet:
    """Read one language pair of a test set.

    Args:
        folder: the folder of the test set, with `sources`, `documents`, `references`, `system-outputs`, `human-scores`
            and `metric-scores`. The last four may be absent. Without `documents` all segments are one document.
        lp: the language pair.
        metrics: whether to read scores of metrics, or the names of those to read (with or without `-REF`).

    Raises:
        InputError: a file has another length than the sources, a file of scores names an unknown system or has a wrong
            number of scores for a system, or a line has another form. The error names the file, line or system.
    """
    folder = Path(folder)
    if lp not in language_pairs(folder):
        raise InputError(f"{folder}: no language pair {lp!r}{nearest(lp, language_pairs(folder))}")
    reader = _Reader(folder, lp)
    bare = reader.texts_of_set()
    human = reader.human_scores(bare)
    scores = {} if metrics is False else reader.metric_scores(bare, None if metrics is True else set(metrics))
    return replace(bare, human=human, metrics=scores, files=tuple(reader.files), notes=tuple(reader.notes))


def is_mtme(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is that of a test set."""
    return os.path.isdir(Path(folder) / "sources")


def open_mtme(folder: str | os.PathLike[str]) -> HeldSource:
    """All language pairs of a test set as segments, each with its standard references."""
    sets = [read_eval_set(folder, lp, metrics=False) for lp in language_pairs(folder)]
    parts = [one.dataset() for one in sets]
    data = Dataset(
        tuple(s for part in parts for s in part), str(folder), tuple(note for part in parts for note in part.notes)
    )
    return HeldSource(data, [file for one in sets for file in one.files])


def parse_name(file_name: str, where: str) -> tuple[str, str]:
    """Name and level from `NAME.LEVEL.score`, where the name may hold dots."""
    name, _, rest = file_name.removesuffix(".score").rpartition(".")
    if not name or rest not in LEVELS:
        raise InputError(f"{where}: expected a name NAME.LEVEL.score with the level one of {', '.join(LEVELS)}")
    return name, LEVELS[rest]


def references_of(metric: str, references: Mapping[str, object] | None, where: str) -> tuple[str, tuple[str, ...]]:
    """The base name of a metric and the references it used, from `BASE-REF`, split at the last dash."""
    base, _, used = metric.rpartition("-")
    if not base or not used:
        raise InputError(
            f"{where}: expected the name of a metric to end in -REF: the references joined by dots, or -src, or -all"
        )
    if used == "src":
        return base, ()
    names = tuple(references or ()) if used == "all" else tuple(used.split("."))
    for name in names:
        if references is not None and name not in references:
            raise InputError(f"{where}: reference {name!r} is not among the references{nearest(name, references)}")
    return base, names


def check_reference(name: str, where: str) -> None:
    """Refuse a name of a reference that file names could not be taken apart with."""
    if not name or any(c in ".-/" or c.isspace() for c in name) or name in RESERVED:
        raise InputError(
            f"{where}: reference name {name!r}, expected one without '.', '-', '/' and blanks, and not"
            f" {' or '.join(RESERVED)}"
        )


def _unpacked(path: Path) -> Path:
    """The path without the ending of a packed file."""
    return path.with_suffix("") if path.suffix == ".gz" else path


def _once(name: str, known: Mapping[str, object], path: Path) -> None:
    if name in known:
        raise InputError(f"{path.parent}: both a .txt and a .jsonl of {name!r}, expected one of them")


def known_info(name: str, lp: str) -> Info:
    """The facts of a language pair of WMT19 to WMT23 whose folder says nothing; empty for other sets."""
    known = _known_sets().get(name, {})
    pair = known.get("pairs", {}).get(lp)
    if pair is None:
        return Info()
    entry = {**known, **pair}
    gold = entry["gold"]
    levels = dict.fromkeys(LEVELS.values(), gold) if isinstance(gold, str) else gold
    return Info(
        entry["reference"],
        {level: name for level, name in levels.items() if name},
        frozenset(entry.get("outliers", ())),
        frozenset(entry["primary"]),
    )


@cache
def _known_sets() -> dict[str, Any]:
    return tomllib.loads(resources.files("nlgauge.data").joinpath("wmt_sets.toml").read_text(encoding="utf-8"))


def _scores_in(folder: Path, pattern: str) -> list[Path]:
    """The files of scores in a folder, packed or not; each name once."""
    found: dict[str, Path] = {}
    for path in [*entries(folder, f"{pattern}.score"), *entries(folder, f"{pattern}.score.gz")]:
        name = _unpacked(path).name
        if name in found:
            raise InputError(f"{folder}: both {name} and {path.name}, expected one of them")
        found[name] = path
    return [found[name] for name in sorted(found)]


class _Reader:
    """Reads the files of one language pair, and records them with notes on what is missing in them."""

    def __init__(self, folder: Path, lp: str) -> None:
        self.folder, self.lp = folder, lp
        self.files: list[InputFile] = []
        self.notes: list[str] = []

    def texts_of_set(self) -> EvalSet:
        """The test set as far as it is text: sources, documents, references and outputs."""
        sources = self.texts(*self.found(self.folder / "sources", f"{self.lp}."), "source")
        n = len(sources)
        docs = [path for path in entries(self.folder / "documents") if _unpacked(path).name == f"{self.lp}.docs"]
        if docs:
            domains, documents = self.documents(docs[0], n)
        else:
            domains, documents = ("all",) * n, (self.lp,) * n
        references: dict[str, Texts] = {}
        for path in entries(self.folder / "references", f"{self.lp}.*"):
            bare = _unpacked(path)
            name = bare.stem.removeprefix(f"{self.lp}.")
            check_reference(name, str(path))
            if bare.suffix in (".txt", ".jsonl"):
                _once(name, references, path)
                references[name] = self.texts(path, "target", n)
        outputs: dict[str, Texts] = {}
        for path in entries(self.folder / "system-outputs" / self.lp):
            if _unpacked(path).suffix in (".txt", ".jsonl"):
                name = _unpacked(path).stem
                _once(name, outputs, path)
                outputs[name] = self.texts(path, "hypothesis", n)
        info = self.info(references, outputs)
        return EvalSet(self.folder.name, self.lp, sources, domains, documents, references, outputs, {}, {}, info)

    def human_scores(self, evaluated: EvalSet) -> dict[tuple[str, str], Scores]:
        """Human scores by name and level."""
        by_name: dict[tuple[str, str], Scores] = {}
        for path in _scores_in(self.folder / "human-scores", f"{self.lp}.*"):
            name, level = parse_name(_unpacked(path).name.removeprefix(f"{self.lp}."), str(path))
            by_name[name, level] = self.scores(path, level, evaluated)
        return by_name

    def metric_scores(self, evaluated: EvalSet, wanted: set[str] | None) -> dict[tuple[str, str], Scores]:
        """Scores of metrics by name and level; all of them if `wanted` is None."""
        folder = self.folder / "metric-scores" / self.lp
        by_name: dict[tuple[str, str], Scores] = {}
        for path in _scores_in(folder, "*"):
            name, level = parse_name(_unpacked(path).name, str(path))
            base, used = references_of(name, evaluated.references, str(path))
            if wanted is None or wanted & {name, base}:
                by_name[name, level] = self.scores(path, level, evaluated, used)
        unread = (wanted or set()) - {part for name, _ in by_name for part in (name, name.rpartition("-")[0])}
        if unread:
            raise InputError(f"{folder}: no scores of metric {sorted(unread)[0]!r}")
        return by_name

    def found(self, folder: Path, stem: str) -> tuple[Path]:
        """The file `.txt` or `.jsonl` of a stem, packed or not. If several exist it is not clear which one counts."""
        endings = ("txt", "jsonl", "txt.gz", "jsonl.gz")
        paths = [folder / f"{stem}{ending}" for ending in endings if (folder / f"{stem}{ending}").exists()]
        if len(paths) != 1:
            raise InputError(f"{folder}: both {paths[0].name} and {paths[1].name}, expected one of them")
        return (paths[0],)

    def texts(self, path: Path, name: str, n: int | None = None) -> Texts:
        """One text per line, or the field `name` of one JSON object per line."""
        file = self._file(path)
        texts: list[str | None] = []
        is_json = _unpacked(path).suffix == ".jsonl"
        rows: Any = JsonRows(file) if is_json else Lines(file, texts=True)
        for place, row in rows:
            text = row
            if is_json:
                if type(row) is not dict or type(row.get(name, 0)) not in (str, type(None)):
                    raise InputError(f"{rows.at(place)}: expected an object with the text {name!r}, a string or null")
                text = row[name]
            # they drop blanks at the end of every line before they compare
            texts.append(None if text is None or text.rstrip() == NO_TRANSLATION else text)
        if not texts:
            raise InputError(f"{path} is empty, expected one segment per line")
        if n is not None and len(texts) != n:
            raise InputError(
                f"{path} has {counted(len(texts), 'segment')}, the sources have {n}; expected one for each"
            )
        self.notes += rows.notes()
        return tuple(texts)

    def documents(self, path: Path, n: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Domain and document of each segment."""
        lines = Lines(self._file(path))
        domains: list[str] = []
        documents: list[str] = []
        ended: set[str] = set()
        for place, line in lines.filled():
            cells = line.split()
            if len(cells) != 2:
                raise InputError(f"{lines.at(place)}: {counted(len(cells), 'word')}, expected DOMAIN DOCUMENT")
            if documents and documents[-1] != cells[1]:
                ended.add(documents[-1])
            if cells[1] in ended:
                raise InputError(
                    f"{lines.at(place)}: document {cells[1]!r} goes on after another one, expected its segments"
                    " together"
                )
            domains.append(cells[0])
            documents.append(cells[1])
        if len(domains) != n:
            raise InputError(f"{path} has {counted(len(domains), 'line')}, the sources have {n}; expected one for each")
        return tuple(domains), tuple(documents)

    def info(self, references: Mapping[str, object], outputs: Mapping[str, object]) -> Info:
        """The entry of the language pair in the side file, or what is known of a set of this name; else empty."""
        path = self.folder / META
        if not path.exists():
            known = known_info(self.folder.resolve().name, self.lp)
            if known.reference not in references:  # a set of that name, but not that one
                return Info()
            self.notes.append(
                f"{self.folder.name} {self.lp}: no {META}; standard reference {known.reference} as in the shared task"
            )
            return replace(known, outliers=known.outliers & outputs.keys())
        try:
            entry = json.loads(b"".join(self._file(path).chunks()), object_pairs_hook=unique)
            of_pair = entry.get(self.lp, {})
            gold = {LEVELS[level]: str(name) for level, name in of_pair.get("std_gold", {}).items()}
            reference = of_pair.get("std_ref")
            if not isinstance(reference, str | None):
                raise TypeError
            info = Info(
                reference,
                gold,
                frozenset(of_pair.get("outlier_systems", ())),
                frozenset(of_pair.get("primary_metrics", ())),
            )
        except RepeatedKey as error:
            raise InputError(f"{path}: {error}") from None
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            raise InputError(
                f"{path}: expected a JSON object, language pair -> {{std_ref, std_gold: {{sys, domain, doc, seg}},"
                " outlier_systems, primary_metrics}"
            ) from None
        if info.reference is not None and info.reference not in references:
            near = nearest(str(info.reference), references)
            raise InputError(
                f"{path}: standard reference {info.reference!r} of {self.lp} is not among the references{near}"
            )
        return info

    def scores(self, path: Path, level: str, evaluated: EvalSet, used: tuple[str, ...] | None = None) -> Scores:
        """One file of scores; `used` holds the references of a metric, None stands for human scores."""
        units = evaluated.units(level)
        order = {unit: place for place, unit in enumerate(units)} if level == "domain" else None
        found: dict[str, list[float]] = {}
        seen: set[tuple[str, str | None]] = set()
        for where, domain, system, score in score_lines(self._file(path), level == "domain"):
            if system not in found:
                if system not in evaluated.outputs:
                    raise InputError(f"{where()}: system {system!r} has no output{nearest(system, evaluated.outputs)}")
                found[system] = [np.nan] * len(units) if order is not None else []
            if order is None:
                found[system].append(score)
            elif domain not in order:
                raise InputError(
                    f"{where()}: domain {domain!r} is not among the documents'"
                    f" domains{nearest(str(domain), set(evaluated.domains))}"
                )
            elif (system, domain) in seen:
                raise InputError(f"{where()}: system {system!r} has domain {domain!r} twice, expected once")
            else:
                seen.add((system, domain))
                found[system][order[domain]] = score
        for system, values in found.items():
            if len(values) != len(units):
                raise InputError(
                    f"{path}: system {system!r} has {counted(len(values), 'score')}, expected {len(units)}, one per"
                    f" {level}"
                )
        if used is not None:
            lacking = [system for system in evaluated.outputs if system not in found and system not in used]
            if lacking:
                self.notes.append(f"{path}: no scores of {counted(len(lacking), 'system')} ({', '.join(lacking)})")
            missing = sum(value != value for values in found.values() for value in values)
            if missing:
                self.notes.append(f"{path}: {counted(missing, 'score')} missing, which a metric's file must not have")
        return {system: np.array(values) for system, values in found.items()}

    def _file(self, path: Path) -> InputFile:
        self.files.append(InputFile(path))
        return self.files[-1]


def score_lines(file: InputFile, domain: bool = False) -> Iterator[tuple[Callable[[], str], str | None, str, float]]:
    """The lines of a file of scores, `SYSTEM SCORE` or `DOMAIN SYSTEM SCORE`: place, domain, system and score.

    The place is a function, because it is needed only for errors. A missing score is NaN.

    Raises:
        InputError: a line has another number of words, or no number.
    """
    lines, faults = Lines(file), Faults(file.name)
    width = 3 if domain else 2
    for place, line in lines.filled():
        # Between tabs a name may hold blanks, and an empty score stands for none.
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) != width:
            cells = line.split()
        if len(cells) != width:
            reason = f"{counted(len(cells), 'word')}, expected {'DOMAIN ' if domain else ''}SYSTEM SCORE"
            faults.add(lines.at(place), reason)
            continue
        try:
            score = number(cells[-1])
        except ValueError as error:
            faults.add(lines.at(place), f"score of system {cells[-2]!r} is {error}")
            continue
        yield partial(lines.at, place), cells[0] if domain else None, cells[-2], score
    faults.check()
