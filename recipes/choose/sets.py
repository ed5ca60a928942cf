"""The rated public sets, each cut to some items, with one rating per output: for the shipped table and the study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nlgauge as ng
from nlgauge.choosing.people import MEAN, rating_of
from nlgauge.choosing.sample import sampled
from nlgauge.core.segment import Dataset

ITEMS, OUTPUTS = 300, 480  # of each set, at most


@dataclass(frozen=True)
class Rated:
    """One set: its name, task, language of the outputs, some of its outputs, and their ratings."""

    name: str
    task: str
    language: str
    dataset: Dataset
    ratings: np.ndarray


def rated_sets(data: Path) -> Iterator[Rated]:
    """All sets, WMT15 and WMT16 by language pair."""
    for year in ("wmt15", "wmt16"):
        whole = ng.read(data / f"{year}-da-seg" / "segments.jsonl.gz")
        for pair in whole.groups:
            yield _cut(f"{year}-{pair}", "mt", "en", whole, "da_z", [pair])
    for name, folder, language in (
        ("wmt21-zh-en", "wmt21-mqm-zh-en", "en"),
        ("ted-zh-en", "ted-mqm-zh-en", "en"),
        ("ted-en-de", "ted-mqm-en-de", "de"),
        ("wmt22-zh-en", "wmt22-gemba-zh-en", "en"),
    ):
        yield _cut(name, "mt", language, ng.read(data / folder / "segments.jsonl.gz"), "mqm")
    yield _cut("wmt23-he-en", "mt", "en", ng.read(data / "wmt23-he-en-mtme"), "mqm")
    for name, folder in (("webnlg20", "webnlg2020-humaneval"), ("bagel", "bagel"), ("sfhot", "sfhot")):
        yield _cut(name, "d2t", "en", ng.read(data / folder / "segments.jsonl.gz"), MEAN)
    yield _cut("summeval", "as", "en", ng.read(data / "summeval" / "segments.jsonl.gz"), MEAN)
    yield _cut("qags-cnn", "as", "en", ng.read(data / "qags-cnn" / "segments.jsonl.gz"), "fact")


def _cut(name: str, task: str, language: str, whole: Dataset, criterion: str, groups: Sequence[str] = ()) -> Rated:
    kept = [s for s in whole if s.human and (not groups or s.group in groups) and s.hypothesis.strip()]
    kept = [s for s in kept if criterion == MEAN or s.human.get(criterion) is not None]
    limit = 200 if task == "as" else OUTPUTS
    cut = sampled(Dataset(tuple(kept), name), limit=min(limit, OUTPUTS), seed=0).dataset
    return Rated(name, task, language, cut, rating_of(cut, criterion))
