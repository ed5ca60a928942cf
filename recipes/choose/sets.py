"""The rated public sets, each cut to some items, with one rating per output: for the shipped table and the study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pairs import MEAN, rating_of, sampled

import nlgauge as ng
from nlgauge.choosing.known import item_of
from nlgauge.core.segment import Dataset

# Of each set, at most, counted in sentences: of longer texts fewer are taken, 800 and 200 of SummEval.
OUTPUTS, SUMMARIES, FACTS = 480, 3200, 200
FEW = 800  # summaries for metrics that read their sources, counted likewise
DOCUMENTS, REFERENCES = 15, 3  # of SummEval in the study: of 100 documents, and of 11 references of each


@dataclass(frozen=True)
class Rated:
    """One set.

    Attributes:
        name: its family is what stands before the first `-`.
        task, language: of the outputs.
        dataset: some of its outputs, of eight systems at most.
        criterion: of the ratings.
        ratings: of these outputs, shape (n,).
        systems: the outputs of all systems, but for people's own, on the same items; None without systems.
        people: system -> the mean of all ratings of it in the whole set; empty without systems.
    """

    name: str
    task: str
    language: str
    dataset: Dataset
    criterion: str
    ratings: np.ndarray
    systems: Dataset | None
    people: dict[str, float]

    @property
    def family(self) -> str:
        """Sets of one family share texts, raters or systems."""
        return self.name.split("-")[0]


def rated_sets(data: Path, *, study: bool = False) -> Iterator[Rated]:
    """All sets, WMT15 and WMT16 by language pair.

    Args:
        data: the folder of the public sets.
        study: more summaries than for the shipped table: all systems of SummEval on some documents, with few
            references, and the whole of QAGS-CNN; and the checkpoints of MSLC. Without four sets in other languages.
    """
    for year in ("wmt15", "wmt16"):
        whole = ng.read(data / f"{year}-da-seg" / "segments.jsonl.gz")
        for pair in whole.groups:
            of_pair = Dataset(tuple(s for s in whole if s.group == pair), whole.name)
            yield _cut(f"{year}-{pair}", "mt", "en", of_pair, "da_z")
    for name, folder, language in (
        ("wmt21-zh-en", "wmt21-mqm-zh-en", "en"),
        ("ted-zh-en", "ted-mqm-zh-en", "en"),
        ("ted-en-de", "ted-mqm-en-de", "de"),
        ("wmt22-zh-en", "wmt22-gemba-zh-en", "en"),
    ):
        yield _cut(name, "mt", language, _read(data, folder), "mqm")
    abroad = (
        ("wmt16-en-ru", "wmt16-da-seg/segments_from_en.jsonl.gz", "da_z"),
        ("wmt21-en-de", "wmt21-mqm-en-de/segments.jsonl.gz", "mqm"),
        ("wmt24-en-cs", "wmt24-esa/segments_en-cs.jsonl.gz", "esa"),
        ("wmt24-en-zh", "wmt24-esa/segments_en-zh.jsonl.gz", "esa"),
    )
    for name, path, criterion in () if study else abroad:
        yield _cut(name, "mt", name.split("-")[-1], ng.read(data / path), criterion)
    yield _cut("wmt23-he-en", "mt", "en", ng.read(data / "wmt23-he-en-mtme"), "mqm")
    for name, folder in (("webnlg20", "webnlg2020-humaneval"), ("bagel", "bagel"), ("sfhot", "sfhot")):
        yield _cut(name, "d2t", "en", _read(data, folder), MEAN)
    summaries = _read(data, "summeval")
    if study:
        yield _cut("summeval", "as", "en", _few_references(summaries), MEAN, _documents)
        yield _cut("qags-cnn", "as", "en", _read(data, "qags-cnn"), "fact", lambda rated: rated)
    else:
        yield _cut("summeval", "as", "en", summaries, MEAN, _summaries)
        yield _cut("qags-cnn", "as", "en", _read(data, "qags-cnn"), "fact", _facts)
    if study:  # no people's ratings, so it has no place in the table
        yield _cut("wmt23-mslc", "mt", "en", _by_checkpoint(_read(data, "mslc23")), "order")


def _read(data: Path, folder: str) -> Dataset:
    return ng.read(data / folder / "segments.jsonl.gz")


def _outputs(rated: Dataset) -> Dataset:
    return sampled(rated, OUTPUTS)


def _summaries(rated: Dataset) -> Dataset:
    return sampled(rated, SUMMARIES)


def _facts(rated: Dataset) -> Dataset:
    return sampled(rated, FACTS)


def few(one: Rated) -> Rated:
    """Some summaries of a set, which is what metrics look at that take a second for each."""
    cut = sampled(one.dataset, FEW)
    return replace(one, dataset=cut, ratings=rating_of(cut, one.criterion))


def _documents(rated: Dataset) -> Dataset:
    """Every output for some documents, which are spread evenly over the set."""
    items = [*dict.fromkeys(item_of(s) for s in rated)]
    kept = {items[i] for i in np.linspace(0, len(items) - 1, DOCUMENTS).round().astype(int).tolist()}
    return Dataset(tuple(s for s in rated if item_of(s) in kept), rated.name)


def _cut(
    name: str,
    task: str,
    language: str,
    data: Dataset,
    criterion: str,
    some: Callable[[Dataset], Dataset] = _outputs,
) -> Rated:
    """A set cut by `some`, which takes the rated outputs."""
    kept = [s for s in data if s.human and s.hypothesis.strip() and not (s.system or "").startswith("ref")]
    kept = [s for s in kept if criterion == MEAN or s.human.get(criterion) is not None]
    rated = Dataset(tuple(kept), name)
    cut = some(rated)
    systems, people = _systems(rated, cut, criterion)
    return Rated(name, task, language, cut, criterion, rating_of(cut, criterion), systems, people)


def _systems(rated: Dataset, cut: Dataset, criterion: str) -> tuple[Dataset | None, dict[str, float]]:
    """All systems on the items that are looked at, and what people say of each in the whole set."""
    names = [*dict.fromkeys(s.system for s in rated if s.system is not None)]
    if len(names) < 3:
        return None, {}
    items = {item_of(s) for s in cut}
    ratings = rating_of(rated, criterion)
    of_system = np.array([s.system for s in rated])
    people = {name: float(np.nanmean(ratings[of_system == name])) for name in names}
    return Dataset(tuple(s for s in rated if item_of(s) in items), rated.name), people


def _few_references(summaries: Dataset) -> Dataset:
    return Dataset(tuple(replace(s, references=s.references[:REFERENCES]) for s in summaries), summaries.name)


def _by_checkpoint(whole: Dataset) -> Dataset:
    """A later checkpoint is better: what the authors of MSLC take for the truth, in place of ratings."""
    order = {name: float(i) for i, name in enumerate(sorted({s.system or "" for s in whole}))}
    return Dataset(tuple(replace(s, human={"order": order[s.system or ""]}) for s in whole), whole.name)


def of_families(names: Sequence[str], family: str) -> list[str]:
    """The names of the sets of a family."""
    return [name for name in names if name.split("-")[0] == family]
