"""Suites that others published, read by their names from the files of their authors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Suite
from nlgauge.io.files.files import InputFile, found_in
from nlgauge.io.files.lines import Faults
from nlgauge.io.suites import faithbench, originals
from nlgauge.io.suites.checkpoints import checkpoint_pairs
from nlgauge.io.suites.originals import Maker
from nlgauge.io.suites.rows import Cells, FrameRows, NamedRows, SuiteRows, pair_of

Placed = tuple[str, Pair]  # the place of a row in words, and its pair
Reader = Callable[[str | os.PathLike[str]], tuple[list[Placed], list[str], list[str]]]
_SHOWN = 5  # places that a note names


@dataclass(frozen=True, kw_only=True)
class Published:
    """One published suite.

    Attributes:
        about: what it is, and what its files hold.
        where: the public place of its files.
        files: patterns of its files in a folder.
        make: what makes a pair of a row; None if the suite is no list of pairs.
        read: what reads a suite that is no list of pairs: (place, pair) of each, notes, and files.
        fields: fields that a row of its authors has.
        n: rows of the complete suite; None if it is not known.
        references: `source` if its authors compare texts with the source, else `own`.
        quoted: whether cells of its TSV may be quoted.
    """

    about: str
    where: str
    files: tuple[str, ...] = ()
    make: Maker | None = None
    read: Reader | None = None
    fields: frozenset[str] = frozenset()
    n: int | None = None
    references: str = "own"
    quoted: bool = False


PUBLISHED: Mapping[str, Published] = {
    "hwtsc22": Published(
        about="HW-TSC's challenge set of WMT22, zh-en: TSV with good and incorrect translation, unquoted",
        where="https://github.com/HwTsc/Challenge-Set-for-MT-Metrics",
        files=("Challenge_Set*.TSV", "Challenge_Set*.tsv"),
        make=originals.hwtsc22,
        fields=frozenset({"good-translation", "incorrect-translation", "source.2"}),
        n=721,
    ),
    "bump": Published(
        about="BUMP: JSON lists with article, reference_summary and edited_summary",
        where="https://github.com/dataminr-ai/BUMP, folder data",
        files=("task*_dataset.json",),
        make=originals.bump,
        fields=frozenset({"article", "reference_summary", "edited_summary"}),
        n=889,
        references="source",
    ),
    "mslc": Published(
        about="MSLC 2023: outputs of one system at several checkpoints, with sources and references of WMT beside",
        where="https://github.com/nrc-cnrc/MSLC, folder 2023/data",
        read=checkpoint_pairs,
    ),
    "demetr": Published(
        about="DEMETR: a JSON list per kind with src_sent, eng_sent, mt_sent, pert_sent, pert_name, lang_tag",
        where="https://github.com/marzenakrp/demetr, folder dataset",
        files=tuple(f"{severity}_id*.json" for severity in ("base", "critical", "major", "minor")),
        make=originals.demetr,
        fields=frozenset({"mt_sent", "pert_sent"}),
    ),
    "aces": Published(
        about="ACES: JSON lines or TSV with good-translation, incorrect-translation, reference, phenomena, langpair",
        where="https://huggingface.co/datasets/nikitam/ACES",
        files=("challenge_set.jsonl",),
        make=originals.aces,
        fields=frozenset({"good-translation", "incorrect-translation"}),
        n=36476,
    ),
    "summedits": Published(
        about="SummEdits: JSON lists with doc, summary, original_summary, label, edit_types",
        where="https://github.com/salesforce/factualNLG, folder data/summedits",
        files=("summedits*.json",),
        make=originals.summedits,
        fields=frozenset({"doc", "summary", "label"}),
        n=6348,
        references="source",
    ),
    "fbi": Published(
        about="FBI: a TSV per kind of error with cdx, question, og, perturbed_gpt4, quoted as data frames are",
        where="https://huggingface.co/datasets/ai4bharat/FBI",
        files=("*.tsv",),
        make=originals.fbi,
        fields=frozenset({"question", "og", "perturbed_gpt4"}),
        n=2400,
        quoted=True,
    ),
    "llmbar": Published(
        about="LLMBar: a dataset.json per subset with input, output_1, output_2, label",
        where="https://github.com/princeton-nlp/LLMBar, folder Dataset/LLMBar",
        files=("Natural/dataset.json", "Adversarial/*/dataset.json"),
        make=originals.llmbar,
        fields=frozenset({"input", "output_1", "output_2", "label"}),
        n=419,
    ),
    "faithbench": Published(
        about="FaithBench: JSON of batches with samples: source, summary, annotations with labels",
        where="https://github.com/vectara/FaithBench, folder data_for_release",
        files=faithbench.FILES,
        read=faithbench.faithbench_pairs,
        references="source",
    ),
}
ALIASES: Mapping[str, str] = {"mslc23": "mslc"}


def name_of(suite: str | None) -> str | None:
    """The name of a published suite as `PUBLISHED` has it; None for anything else."""
    known = ALIASES.get(suite or "", suite)
    return known if known in PUBLISHED else None


def files_of(name: str, path: str | os.PathLike[str]) -> list[str]:
    """The files of a published suite: one file, or those in a folder.

    Raises:
        InputError: the folder holds no file of the suite.
    """
    if not os.path.isdir(path):
        return [os.fspath(path)]
    patterns = PUBLISHED[name].files
    found = found_in(path, [pattern + end for pattern in patterns for end in ("", ".gz")])
    if not found:
        raise InputError(
            f"{os.fspath(path)}: no file of {name} in this folder, expected {' or '.join(patterns)}; they are at"
            f" {PUBLISHED[name].where}"
        )
    return found


def read_published(name: str, path: Any, columns: Mapping[str, str] | None = None) -> tuple[Suite, list[str]]:
    """Read a published suite, complete or in part, from the files of its authors or from pairs in our own layout.

    Rows that repeat and rows with two equal texts are kept, as the authors keep them, and a note tells where they are.

    Args:
        name: one of `PUBLISHED`.
        path: a file, a folder, or a frame.
        columns: as in `read_suite`.

    Returns:
        The suite, and the files that were read.

    Raises:
        InputError: the folder holds no file of the suite, a row lacks a field, or no row makes a pair.
    """
    entry, notes = PUBLISHED[name], list[str]()
    if entry.read is not None:
        if columns or not isinstance(path, str | os.PathLike):
            raise InputError(f"{name} is read from a file or a folder, with its own names of fields")
        placed, more, files = entry.read(path)
        n_rows = len(placed)
    else:
        assert entry.make is not None
        is_path = isinstance(path, str | os.PathLike)
        files = files_of(name, path) if is_path else []
        rows: list[Any] = [SuiteRows(InputFile(f), quoted=entry.quoted) for f in files] or [FrameRows(path)]
        placed, more, n_rows = [], [], 0
        for part in rows:
            own, n = _read(name, part, columns, more)
            placed += own
            n_rows += n
    shown = os.fspath(path) if files else name
    if not placed:
        raise InputError(f"{shown}: no pair in it, read as {name}" + (f"; {more[0]}" if more else ""))
    if entry.n is not None and n_rows != entry.n:
        notes.append(f"{shown}: {n_rows} rows; {name} as published has {entry.n}")
    notes += [*more, *(_repeated(placed) if entry.make is not None else []), *_equal(placed)]
    return Suite(tuple(map(with_origin, (pair for _, pair in placed))), name, notes=tuple(notes), published=name), files


def with_origin(pair: Pair) -> Pair:
    """The pair of a published suite with its origin: the one that its authors name, else its source."""
    return replace(pair, cluster=pair.cluster or pair.source)


def _read(name: str, rows: Any, columns: Mapping[str, str] | None, notes: list[str]) -> tuple[list[Placed], int]:
    """The pairs of one file, and how many rows it has."""
    entry = PUBLISHED[name]
    first = next(iter(rows), None)
    if first is None:
        raise InputError(f"{rows.name} is empty: no pair in it")
    faults = Faults(rows.name)
    if isinstance(rows, SuiteRows):
        rows.refuse = faults.add
    renamed = NamedRows(rows, columns) if columns else rows
    fields = next(iter(renamed))[1].keys()
    is_ours = {"better", "worse"} <= fields
    if not is_ours and not entry.fields <= fields:
        lacking = ", ".join(map(repr, sorted(entry.fields - fields)))
        raise InputError(
            f"{first[0]}: no field {lacking}; fields found: {', '.join(map(repr, first[1]))}; expected {entry.about},"
            " or 'better' and 'worse'"
        )
    make = _ours if is_ours else entry.make
    assert make is not None
    placed, left, n = pairs_made(renamed, make, faults)
    faults.check()
    notes += [*rows.notes(), *left]
    return placed, n


def _ours(row: Cells, number: int, name: str) -> Pair | str:
    pair = pair_of(row, str(number))
    return replace(pair, cluster=pair.cluster or row.text("origin_id"))


def pairs_made(rows: Any, make: Maker, faults: Faults) -> tuple[list[Placed], list[str], int]:
    """The pairs that `make` makes of rows, notes on rows that make none, by the reason, and the number of rows."""
    placed: list[Placed] = []
    left: dict[str, int] = {}
    number = 0
    for number, (place, row) in enumerate(rows, start=1):
        with faults.row(place):
            made = make(row, number, rows.name)
            if isinstance(made, str):
                left[made] = left.get(made, 0) + 1
            else:
                placed.append((place, made))
    return placed, [f"{rows.name}: {n} rows left out, {why}" for why, n in left.items()], number


def _repeated(placed: Sequence[Placed]) -> list[str]:
    """A note on rows that repeat an earlier row."""
    first: dict[tuple[Any, ...], str] = {}
    repeated: list[str] = []
    for place, pair in placed:
        key = (pair.source, pair.references, pair.better, pair.worse, pair.setup)
        if key in first:
            repeated.append(f"{place} (as {_beside(first[key], place)})")
        first.setdefault(key, place)
    told = f"{_counted(len(repeated), 'repeats', 'repeat')} an earlier pair, and each counts: {_some(repeated)}"
    return [told] if repeated else []


def _equal(placed: Sequence[Placed]) -> list[str]:
    """A note on pairs whose two texts are equal."""
    equal = [place for place, pair in placed if pair.better == pair.worse]
    told = f"{_counted(len(equal), 'has', 'have')} two equal texts, which every metric ties: {_some(equal)}"
    return [told] if equal else []


def _beside(place: str, other: str) -> str:
    """A place beside another one: without the name of the file, where it is the same."""
    file = place[: len(place) - len(place.rpartition(":" if ", entry" not in place else ",")[2])]
    return place.removeprefix(file).strip() if other.startswith(file) else place


def _counted(n: int, one: str, several: str) -> str:
    return f"1 pair {one}" if n == 1 else f"{n} pairs {several}"


def _some(places: Sequence[str]) -> str:
    return ", ".join(places[:_SHOWN]) + (", ..." if len(places) > _SHOWN else "")
