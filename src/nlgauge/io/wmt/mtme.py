"""A test set in one language pair, read from mt-metrics-eval's layout, and the official run of its metrics task."""

from __future__ import annotations

import json
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, RepeatedKey, Segment, Selection, select_systems, unique
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files import Faults, InputFile, Lines, counted, entries, number_in, unpacked_name
from nlgauge.io.rows import JsonRows
from nlgauge.io.segments import HeldSource
from nlgauge.io.wmt.submissions import (
    ALL,
    SOURCE,
    Expected,
    Submission,
    SubmissionRow,
    check_submission,
    level_of,
    read_submission,
)

META = "meta.json"
Texts = tuple[str | None, ...]
BySystem = Mapping[str, Array]  # system -> one number a unit of the level


@dataclass(frozen=True)
class Info:
    """Facts that the files leave open; read from `meta.json` beside them.

    Attributes:
        reference: the standard reference.
        gold: level -> name of the standard human scores.
        outliers, primary: systems and metrics.
        criterion: the one name under which the standard scores of all pairs count, as in WMT25, where people rated some
            pairs by MQM and the others by ESA; None where each has its own, and one kind is chosen.
    """

    reference: str | None = None
    gold: Mapping[str, str] = field(default_factory=dict)
    outliers: frozenset[str] = frozenset()
    primary: frozenset[str] = frozenset()
    criterion: str | None = None


@dataclass(frozen=True)
class EvalSet:
    """A test set in one language pair: N segments, and what systems, people and metrics made of them.

    Attributes:
        name, lp: of the test set and the language pair.
        sources: length N.
        domains, documents: of each segment, length N; segments of a document stand together.
        references, outputs: name -> texts, length N; None where nothing was supplied. An output that bears the name of
            a reference is that reference, scored like a system.
        human, metrics: (name, level) -> scores; a metric's name ends in `-REF`, the references it used. NaN where
            missing; a system may be missing altogether.
        info: standard reference, standard scores, outliers.
        files: what was read.
        notes: what is missing, with counts.
    """

    name: str
    lp: str
    sources: Texts
    domains: tuple[str, ...]
    documents: tuple[str, ...]
    references: Mapping[str, Texts]
    outputs: Mapping[str, Texts]
    human: Mapping[tuple[str, str], BySystem] = field(default_factory=dict)
    metrics: Mapping[tuple[str, str], BySystem] = field(default_factory=dict)
    info: Info = Info()
    files: tuple[InputFile, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """Outputs that people wrote: those that bear the name of a reference."""
        return tuple(name for name in self.outputs if name in self.references)

    def units(self, level: str) -> tuple[str | None, ...]:
        """The subjects of the scores of a level, in order: segment numbers from 1, documents, domains, or None."""
        units: dict[str, tuple[str | None, ...]] = {
            "segment": tuple(str(n + 1) for n in range(len(self.sources))),
            "document": tuple(dict.fromkeys(self.documents)),
            "domain": tuple(sorted(set(self.domains))),
            "system": (None,),
        }
        if level not in units:
            raise InputError(f"level {level!r} is unknown{nearest(level, units)}")
        return units[level]

    def table(self, name: str, level: str = "segment") -> ScoreTable:
        """The scores of one metric or of one kind of human judgement.

        Raises:
            InputError: there are no such scores at this level.
        """
        scores = self.human.get((name, level), self.metrics.get((name, level)))
        if scores is None:
            known = [known for known, at in (*self.human, *self.metrics) if at == level]
            raise InputError(f"{self.name} {self.lp}: no scores {name!r} of level {level!r}{nearest(name, known)}")
        units = self.units(level)
        keys = tuple(Key(None, system, unit, self.lp) for system in scores for unit in units)
        values = np.concatenate([scores[system] for system in scores]) if scores else np.empty(0)
        return ScoreTable(keys, {name: values}, level, f"{self.name}/{self.lp}")

    def using(self, references: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """The names of the references to use: those given (`all` is all of them), or the standard one, or the only one.

        Raises:
            InputError: a name is unknown, or there are several references and none is the standard.
        """
        if references == "all":
            return tuple(self.references)
        if references is not None:
            chosen = (references,) if isinstance(references, str) else tuple(references)
            for name in chosen:
                if name not in self.references:
                    raise InputError(f"{self.name} {self.lp}: no reference {name!r}{nearest(name, self.references)}")
            return chosen
        if self.info.reference is not None:
            return (self.info.reference,)
        if len(self.references) > 1:
            found = ", ".join(self.references)
            raise InputError(
                f"{self.name} {self.lp}: references {found}, and none is named as the standard; choose one, or name it"
                f" in {META}"
            )
        return tuple(self.references)

    def select(
        self,
        references: str | Sequence[str] | None = None,
        rated: tuple[str, str] | None = None,
        include_humans: bool = False,
    ) -> Selection:
        """Select the systems on which metrics that use these references are compared; see `select_systems`.

        Args:
            references: as for `using`.
            rated: name and level of human scores. Systems without any such score are left out.
            include_humans: keep outputs written by people.
        """
        with_scores = (
            None if rated is None else {s for s, values in self._human(*rated).items() if not np.isnan(values).all()}
        )
        return select_systems(
            tuple(self.outputs),
            references=self.using(references),
            humans=self.people,
            outliers=self.info.outliers,
            rated=with_scores,
            include_humans=include_humans,
        )

    def dataset(self, references: str | Sequence[str] | None = None, systems: Sequence[str] | None = None) -> Dataset:
        """The outputs as segments, item by item, with every human score of level `segment` as a criterion.

        Args:
            references: as for `using`.
            systems: the outputs to take. If None, all except the references that are used.

        Returns:
            The item is the number of the segment from 1, the group is the language pair, and the id is
            `LP:SYSTEM:NUMBER`. Outputs that were not supplied have no segment, and references that were not supplied
            are left out. The notes count both.

        Raises:
            InputError: a system or a reference is unknown.
        """
        used = self.using(references)
        chosen = [name for name in self.outputs if name not in used] if systems is None else list(systems)
        for name in chosen:
            if name not in self.outputs:
                raise InputError(f"{self.name} {self.lp}: no system {name!r}{nearest(name, self.outputs)}")
        criteria = {name: scores for (name, level), scores in self.human.items() if level == "segment"}
        segments: list[Segment] = []
        absent = 0
        for place, source in enumerate(self.sources):
            texts = tuple(text for text in (self.references[name][place] for name in used) if text is not None)
            for system in chosen:
                hypothesis = self.outputs[system][place]
                if hypothesis is None:
                    absent += 1
                    continue
                ratings = {name: float(scores[system][place]) for name, scores in criteria.items() if system in scores}
                human = {name: rating for name, rating in ratings.items() if rating == rating}
                segments.append(
                    Segment(
                        f"{self.lp}:{system}:{place + 1}",
                        hypothesis,
                        texts,
                        source,
                        system,
                        str(place + 1),
                        self.lp,
                        human,
                    )
                )
        where = f"{self.name} {self.lp}"
        notes = list(self.notes)
        left = [name for name in self.outputs if name not in chosen]
        if left:
            notes.append(
                f"{where}: {counted(len(left), 'output')} left out ({', '.join(left)}; references used:"
                f" {', '.join(used) or 'none'})"
            )
        if absent:
            notes.append(f"{where}: {counted(absent, 'translation')} not supplied, without a segment")
        lacking = sum(text is None for name in used for text in self.references[name])
        if lacking:
            notes.append(f"{where}: {counted(lacking, 'reference text')} not supplied")
        if made := [name for name in used if name.startswith("postedit")]:
            notes.append(f"{where}: {', '.join(made)} is made of outputs, and favours the systems that it came from")
        return Dataset(tuple(segments), where, tuple(notes))

    def _human(self, name: str, level: str) -> BySystem:
        if (name, level) not in self.human:
            known = ", ".join(f"{n} ({at})" for n, at in self.human) or "none"
            raise InputError(f"{self.name} {self.lp}: no human scores {name!r} of level {level!r}; there are: {known}")
        return self.human[name, level]


# --- The folder layout of mt-metrics-eval: texts, human scores and metric scores of one test set, by language pair

NO_TRANSLATION = "[No translation supplied]"
LEVELS = {"seg": "segment", "doc": "document", "domain": "domain", "sys": "system"}  # theirs -> ours
THEIRS = {ours: theirs for theirs, ours in LEVELS.items()}
RESERVED = ("all", "src")  # as names of references they mean "every one" and "none"


def language_pairs(folder: str | os.PathLike[str]) -> list[str]:
    """The language pairs of a test set, sorted; a folder without `sources/*.txt` or `sources/*.jsonl` is refused."""
    sources = Path(folder) / "sources"
    found = (_unpacked(path) for path in entries(sources))
    names = sorted({path.stem for path in found if path.suffix in (".txt", ".jsonl")})
    if not names:
        raise InputError(
            f"{folder}: no sources/SRC-TGT.txt in it, expected the folder of one test set in mt-metrics-eval's layout"
        )
    return names


def read_eval_set(folder: str | os.PathLike[str], lp: str, metrics: bool | Sequence[str] = True) -> EvalSet:
    """Read one language pair of a test set in mt-metrics-eval's layout.

    `nlgauge.read(folder)` and every verb read all language pairs, each with its standard reference. `[No translation
    supplied]` means that there is no text: no segment is made for it, and such lines are counted. Scores that a metric
    lacks stay missing. `metadata/`, and ratings in a file of their own together with their texts, are not read.

    The files are lines of text, or `.jsonl` where a text has line breaks:

    - `sources/LP.txt` (`.jsonl`: `source`), `references/LP.NAME.txt` (`target`), `system-outputs/LP/NAME.txt`
      (`hypothesis`). A reference is not named `all` or `src`, and has no `.`, `-` or blank in its name. An output with
      the name of a reference was written by people.
    - `documents/LP.docs`: DOMAIN DOCUMENT on each line; segments of a document stand together.
    - `human-scores/LP.NAME.LEVEL.score`: SYSTEM SCORE in blocks, in the order of the sources; LEVEL is `seg`, `doc`,
      `domain` (three columns) or `sys`; a system can be missing. `.seg.rating` has marked errors.
    - `metric-scores/LP/NAME-REF.LEVEL.score`, split at the last dash; REF is `refA`, `refA.refB`, `src` or `all`.
    - `meta.json`, our own, which need not be there for the sets of WMT19 to WMT25:
      `{"en-de": {"std_ref": "refA", "std_gold": {"seg": "mqm"}, "outlier_systems": [], "primary_metrics": []}}`. Where
      the standard scores have other names from pair to pair, `"criterion": "human"` lets them count as one.

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


def score_path(folder: str | os.PathLike[str], lp: str, name: str, level: str) -> Path:
    """The file of the scores of a metric, whose name ends in `-REF`."""
    return Path(folder) / "metric-scores" / lp / f"{name}.{THEIRS.get(level, level)}.score"


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


def known_info(name: str, lp: str) -> Info:
    """The facts of a language pair of WMT19 to WMT25 whose folder says nothing; empty for other sets."""
    known = _known_sets().get(name, {})
    pair = known.get("pairs", {}).get(lp)
    if pair is None:
        return Info()
    entry = {**known, **pair}
    gold = entry["gold"]
    levels = dict.fromkeys(LEVELS.values(), gold) if isinstance(gold, str) else gold
    return Info(
        entry["reference"] or None,
        {level: name for level, name in levels.items() if name},
        frozenset(entry.get("outliers", ())),
        frozenset(entry["primary"]),
        entry.get("criterion"),
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
        sources = self.texts(self.found(self.folder / "sources", f"{self.lp}."), "source")
        n = len(sources)
        docs = [path for path in entries(self.folder / "documents") if _unpacked(path).name == f"{self.lp}.docs"]
        if docs:
            domains, documents = self.documents(docs[0], n)
        else:
            domains, documents = ("all",) * n, (self.lp,) * n
        references = self.texts_in(self.folder / "references", f"{self.lp}.", "target", n)
        outputs = self.texts_in(self.folder / "system-outputs" / self.lp, "", "hypothesis", n)
        info = self.info(references, outputs)
        return EvalSet(self.folder.name, self.lp, sources, domains, documents, references, outputs, {}, {}, info)

    def human_scores(self, evaluated: EvalSet) -> dict[tuple[str, str], BySystem]:
        """Human scores by name and level."""
        by_name: dict[tuple[str, str], BySystem] = {}
        for path in _scores_in(self.folder / "human-scores", f"{self.lp}.*"):
            name, level = parse_name(_unpacked(path).name.removeprefix(f"{self.lp}."), str(path))
            by_name[name, level] = self.scores(path, level, evaluated)
        return by_name

    def metric_scores(self, evaluated: EvalSet, wanted: set[str] | None) -> dict[tuple[str, str], BySystem]:
        """Scores of metrics by name and level; all of them if `wanted` is None."""
        folder = self.folder / "metric-scores" / self.lp
        by_name: dict[tuple[str, str], BySystem] = {}
        for path in _scores_in(folder, "*"):
            name, level = parse_name(_unpacked(path).name, str(path))
            base, used = references_of(name, evaluated.references, str(path))
            if wanted is None or wanted & {name, base}:
                by_name[name, level] = self.scores(path, level, evaluated, used)
        unread = (wanted or set()) - {part for name, _ in by_name for part in (name, name.rpartition("-")[0])}
        if unread:
            raise InputError(f"{folder}: no scores of metric {sorted(unread)[0]!r}")
        return by_name

    def texts_in(self, folder: Path, before: str, field: str, n: int) -> dict[str, Texts]:
        """The texts of all files of a folder whose names begin so: `NAME.txt` or `NAME.jsonl` behind it -> its texts.

        What stands behind a language pair is a reference.
        """
        found: dict[str, Texts] = {}
        for path in entries(folder, f"{before}*"):
            bare = _unpacked(path)
            name = bare.stem.removeprefix(before)
            if before:
                check_reference(name, str(path))
            if bare.suffix in (".txt", ".jsonl"):
                if name in found:
                    raise InputError(f"{folder}: both a .txt and a .jsonl of {name!r}, expected one of them")
                found[name] = self.texts(path, field, n)
        return found

    def found(self, folder: Path, stem: str) -> Path:
        """The file `.txt` or `.jsonl` of a stem, packed or not. If several exist it is not clear which one counts."""
        endings = ("txt", "jsonl", "txt.gz", "jsonl.gz")
        paths = [folder / f"{stem}{ending}" for ending in endings if (folder / f"{stem}{ending}").exists()]
        if len(paths) != 1:
            raise InputError(f"{folder}: both {paths[0].name} and {paths[1].name}, expected one of them")
        return paths[0]

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
            if known == Info() or (known.reference and known.reference not in references):
                return Info()  # a set of that name, but not that one
            standard = f"standard reference {known.reference}" if known.reference else "no standard reference"
            self.notes.append(f"{self.folder.name} {self.lp}: no {META}; {standard} as in the shared task")
            return replace(known, outliers=known.outliers & outputs.keys())
        try:
            entry = json.loads(b"".join(self._file(path).chunks()), object_pairs_hook=unique)
            of_pair = entry.get(self.lp, {})
            gold = {LEVELS[level]: str(name) for level, name in of_pair.get("std_gold", {}).items()}
            reference, criterion = of_pair.get("std_ref"), of_pair.get("criterion")
            if not isinstance(reference, str | None) or not isinstance(criterion, str | None):
                raise TypeError
            info = Info(
                reference,
                gold,
                frozenset(of_pair.get("outlier_systems", ())),
                frozenset(of_pair.get("primary_metrics", ())),
                criterion,
            )
        except RepeatedKey as error:
            raise InputError(f"{path}: {error}") from None
        except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
            raise InputError(
                f"{path}: expected a JSON object, language pair -> {{std_ref, std_gold: {{sys, domain, doc, seg}},"
                " outlier_systems, primary_metrics, criterion}"
            ) from None
        if info.reference is not None and info.reference not in references:
            near = nearest(str(info.reference), references)
            raise InputError(
                f"{path}: standard reference {info.reference!r} of {self.lp} is not among the references{near}"
            )
        return info

    def scores(self, path: Path, level: str, evaluated: EvalSet, used: tuple[str, ...] | None = None) -> BySystem:
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
            score = number_in(cells[-1])
        except ValueError as error:
            faults.add(lines.at(place), f"score of system {cells[-2]!r} is {error}")
            continue
        yield partial(lines.at, place), cells[0] if domain else None, cells[-2], score
    faults.check()


# --- The official run of a metrics task: the systems that took part, the reference, and the scores of its metrics

_SHOWN = 6  # names in a note before "..."


@dataclass(frozen=True)
class OfficialRun:
    """A metrics task as its organisers ran it.

    Attributes:
        dataset: outputs of the systems that took part, with the standard reference and the standard human scores.
        scores: official metric -> the table of segment scores and, if the folder has system scores of it, their table.
            In all of them higher is better.
        files: what was read.
    """

    dataset: Dataset
    scores: Mapping[str, tuple[ScoreTable, ...]]
    files: tuple[InputFile, ...]


def read_official(folder: str | os.PathLike[str], humans: bool = True, lps: Sequence[str] | None = None) -> OfficialRun:
    """Read the official run of a metrics task from a folder in mt-metrics-eval's layout.

    Language pairs without standard human scores of segments are left out, systems without any such score, outliers, and
    the outputs that are the reference itself. A metric takes part if it was a primary submission or a baseline (all
    metrics if the folder does not say), used the standard reference or none, and scored every language pair. One that
    scored both with the reference and with the source alone takes part twice, as `NAME` and `NAME-src`.

    Args:
        folder: the folder of a test set. Its `meta.json` names standard reference, standard human scores, outliers and
            primary metrics; for the sets of WMT19 to WMT25 these facts are known.
        humans: whether outputs that people wrote count as systems, beside the reference that the metrics use.
        lps: the language pairs to read, None for all.
    """
    runs: list[tuple[EvalSet, str]] = []
    for lp in _chosen(folder, lps):
        one = read_eval_set(folder, lp)
        gold = one.info.gold.get("segment") or _only_gold(one)
        if gold and (gold, "segment") in one.human:
            name = one.info.criterion or gold
            standard = {(name, level): scores for (own, level), scores in one.human.items() if own == gold}
            runs.append((replace(one, human=standard), gold))
    if not runs:
        raise InputError(
            f"{folder}: no language pair has human scores of segments that are named as the standard; where there are"
            " several, name one in meta.json (std_gold), or in Python as eval_set(..., info=...)"
        )
    datasets, kept, notes = [], [], []
    for one, gold in runs:
        selection = one.select(rated=(one.info.criterion or gold, "segment"), include_humans=humans)
        notes.append(f"{one.name} {one.lp}: human scores {gold!r}, {selection.note}")
        datasets.append(one.dataset(systems=selection.kept))
        kept.append(selection.kept)
    sets = [one for one, _ in runs]
    taking_part = [_metrics(one) for one in sets]
    names = [name for name in taking_part[0] if all(name in other for other in taking_part)]
    lacking = sorted({name for found in taking_part for name in found} - set(names))
    if lacking:
        shown = ", ".join(lacking[:_SHOWN]) + (", ..." if len(lacking) > _SHOWN else "")
        notes.append(
            f"{counted(len(lacking), 'official metric')} without scores of every language pair left out: {shown}"
        )
    alone = sorted({name for one in sets for name, level in one.metrics if level == "system"} - _of_segments(sets))
    if alone:
        notes.append(f"{counted(len(alone), 'metric')} with scores of systems alone left out: {', '.join(alone)}")
    if not names:
        notes.append(f"{folder}: no official scores of segments by the standard reference, or by none")
    data = Dataset(
        tuple(segment for part in datasets for segment in part),
        str(folder),
        tuple(dict.fromkeys([*notes, *(note for part in datasets for note in part.notes if "left out" not in note)])),
    )
    in_full = list(zip(sets, kept, taking_part, strict=True))
    segments = _table(in_full, names, "segment")
    with_systems = [n for n in names if all((found[n], "system") in one.metrics for one, _, found in in_full)]
    systems = _table(in_full, with_systems, "system")
    scores = {name: (segments, systems) if name in with_systems else (segments,) for name in names}
    return OfficialRun(data, scores, tuple(file for one in sets for file in one.files))


def check_official(
    folder: str | os.PathLike[str], path: str, lps: Sequence[str] | None = None
) -> tuple[str, list[str]]:
    """Whether a submission fits a test set, by the files of the folder; see `check_submission`.

    A file of mt-metrics-eval's two columns, SYSTEM SCORE, is about one language pair: that of the folder in which it
    lies, or the only one of `lps` or of the test set.

    Args:
        folder: the folder of a test set.
        path: the submission, `NAME.seg.score` or `NAME.sys.score`; `NAME-REF` where it has two columns.
        lps: the language pairs that it must have, None for all.

    Returns:
        What was expected, in words, and the reasons for which the organisers would refuse the file.
    """
    chosen = _chosen(folder, lps)
    words = next(Lines(InputFile(path)).filled(), (0, ""))[1]
    if len(words.split("\t") if "\t" in words else words.split()) == 2:
        chosen = [lp for lp in chosen if lp == Path(path).absolute().parent.name] or chosen
        if len(chosen) > 1:
            raise InputError(
                f"{os.fspath(path)}: SYSTEM SCORE names no language pair of {', '.join(chosen)}; give one --lp"
            )
        sets = [read_eval_set(folder, chosen[0], metrics=False)]
        submission = _of_two_columns(InputFile(path), sets[0])
    else:
        submission = read_submission(path)
        sets = [read_eval_set(folder, lp, metrics=False) for lp in chosen]
    named = sets[0].name if sets[0].name in submission.testsets else submission.testsets[0]
    if len(submission.testsets) > 1 and named != sets[0].name:
        raise InputError(
            f"{path}: {len(submission.testsets)} test sets ({', '.join(submission.testsets)}), and none is called"
            f" {sets[0].name!r} as the folder"
        )
    wanted = {one.lp: _expected(one, submission) for one in sets}
    told = ", ".join(
        f"{lp} {counted(len(want.systems), 'output')} of {counted(want.n, 'segment')}" for lp, want in wanted.items()
    )
    return f"{submission.level} scores of test set {named!r}: {told}", check_submission(submission, wanted, named)


def _of_two_columns(file: InputFile, one: EvalSet) -> Submission:
    """The scores of a file SYSTEM SCORE, whose name has the metric and its reference, as lines of a submission."""
    level = level_of(file.path)
    metric, used = references_of(Path(unpacked_name(file.path)).name[: -len(".seg.score")], one.references, file.name)
    standard = next(iter(one.using()), "")
    reference = SOURCE if not used else "" if standard in used else used[0]
    times, rows = Counter[str](), list[SubmissionRow]()
    for _, _, system, score in score_lines(file):
        times[system] += 1
        segment = times[system] if level == "segment" else 0
        rows.append(SubmissionRow(metric, one.lp, one.name, system, score, segment, reference=reference))
    return Submission(level, tuple(rows), "2020", file.name)


def _expected(one: EvalSet, submission: Submission) -> Expected:
    """What a submission must hold of a language pair."""
    is_told = set(one.domains) != {ALL}
    domains = set(one.domains) if is_told else set()
    if submission.level == "system":  # single domains are scored by all who score one
        domains = domains | {ALL} if any(row.domain != ALL for row in submission.rows) else {ALL}
    return Expected(
        systems=frozenset(one.outputs),
        n=len(one.sources),
        reference=next(iter(one.using()), ""),
        references=frozenset(one.references),
        domains=frozenset(domains),
        documents=frozenset(one.documents) if is_told else frozenset(),
    )


def _of_segments(sets: Sequence[EvalSet]) -> set[str]:
    """The metrics, with their references, that have scores of segments."""
    return {name for one in sets for name, level in one.metrics if level == "segment"}


def _chosen(folder: str | os.PathLike[str], lps: Sequence[str] | None) -> Sequence[str]:
    """The language pairs to read, in the order of the folder."""
    known = language_pairs(folder)
    for lp in lps or ():
        if lp not in known:
            raise InputError(f"{folder}: no language pair {lp!r}{nearest(lp, known)}")
    return [lp for lp in known if not lps or lp in lps]


def _only_gold(one: EvalSet) -> str | None:
    """The human scores of segments where there is one kind and nobody names the standard."""
    found = [name for name, level in one.human if level == "segment"]
    return found[0] if len(found) == 1 and not one.info.gold else None


def _metrics(one: EvalSet) -> dict[str, str]:
    """The metrics that took part: their base names, and their names with the reference that they used.

    Of a metric that scored both with the reference and with the source alone, the latter is named `BASE-src`.
    """
    with_reference: dict[str, str] = {}
    with_source: dict[str, str] = {}
    for name, level in sorted(one.metrics):  # `-all` of one reference comes before the name of that reference
        base, references = references_of(name, one.references, f"{one.name} {one.lp}")
        if level != "segment" or (one.info.primary and base not in one.info.primary):
            continue
        if references == one.using():
            with_reference[base] = name
        elif references == ():
            with_source[base] = name
    alone = {f"{base}-src" if base in with_reference else base: name for base, name in with_source.items()}
    return dict(sorted({**with_reference, **alone}.items()))


def _table(
    sets: Sequence[tuple[EvalSet, Sequence[str], Mapping[str, str]]], names: Sequence[str], level: str
) -> ScoreTable:
    """The scores of several metrics at a level; NaN where a metric did not score a system."""
    keys: list[Key] = []
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for one, systems, called in sets:
        units = one.units(level)
        keys += [Key(None, system, unit, one.lp) for system in systems for unit in units]
        for name in names:
            scores = one.metrics[called[name], level]
            parts[name] += [scores.get(system, np.full(len(units), np.nan)) for system in systems]
    return ScoreTable(tuple(keys), {name: np.concatenate(values) for name, values in parts.items()}, level)
