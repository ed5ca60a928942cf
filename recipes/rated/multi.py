"""Trial: would a head like `rated` on the encoder `multilingual` order texts in a language that it did not learn from?

    PYTHONPATH=recipes/sescore:recipes/studies python recipes/rated/multi.py DATA [--keep FOLDER] > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, ted-mqm-en-de, wmt21-mqm-en-de and wmt24-esa. Learnt from are the sets
whose licence lets a head learn: WMT15 (into English), WMT16 en-ru, and MQM of the TED talks and of newstest2021 into
German, whose ratings and features have the mean of their input taken off (`by_item.py`). The language that tests a head
is left out of what it learns from; Czech and Chinese are in none.

Pearson over all outputs, and Kendall's tau-b between the outputs for one input. * and - are above and below
`bertscore:model=multilingual` (p < 0.05, two-sided, after Holm over the rows; the tests of `--test auto`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from by_item import Set, fitted, free_of, of_experts
from fits import F, Reader, Test

import nlgauge as ng
from nlgauge.core import Array
from nlgauge.models.encoder import MATCHED

LAYERS = (6, 7)  # of the vectors, and of `match`: as for `rated`, one below that of `bertscore`
SETS = {  # name -> file, criterion, language of the outputs
    "WMT15": ("wmt15-da-seg/segments.jsonl.gz", "da_z", "en"),
    "WMT16": ("wmt16-da-seg/segments.jsonl.gz", "da_z", "en"),
    "en-ru": ("wmt16-da-seg/segments_from_en.jsonl.gz", "da_z", "ru"),
    "TED en-de": ("ted-mqm-en-de/segments.jsonl.gz", "mqm", "de"),
    "WMT21 en-de": ("wmt21-mqm-en-de/segments.jsonl.gz", "mqm", "de"),
    "en-cs": ("wmt24-esa/segments_en-cs.jsonl.gz", "esa", "cs"),
    "en-zh": ("wmt24-esa/segments_en-zh.jsonl.gz", "esa", "zh"),
}
TESTED = ("WMT16", "en-ru", "TED en-de", "WMT21 en-de", "en-cs", "en-zh")
STRENGTHS = (3.2, 10.0, 30.0, 100.0)
PEOPLE = ("refA", "refB")


def read(data: Path, reader: Reader) -> dict[str, Set]:
    """Each set with the features of its outputs beside their first reference; outputs of people are left out."""
    found = {}
    for name, (file, criterion, _) in SETS.items():
        segments = [
            replace(s, references=s.references[:1])
            for s in ng.read(data / file)
            if criterion in s.human and str(s.system).replace("-", "") not in PEOPLE
        ]
        features = reader.segments(segments).astype(np.float64)
        numbers: dict[object, int] = {}
        found[name] = Set(
            ng.Dataset(tuple(segments), name),
            np.array([s.human[criterion] for s in segments]),
            {"4h+match": features, "match": features[:, -len(MATCHED) :]},
            np.array([numbers.setdefault(s.item, len(numbers)) for s in segments]),
        )
    return found


def head(sets: Mapping[str, Set], kind: str, strength: float, learnt: Sequence[str]) -> Callable[[str], Array]:
    """The scores of a set by a head that learnt from sets in other languages; ratings by several people as they are."""

    def scores(name: str) -> Array:
        own = [
            of_experts(sets[one], kind) if SETS[one][1] == "mqm" else (sets[one].features(kind), sets[one].ratings)
            for one in learnt
            if SETS[one][2] != SETS[name][2] or one == "WMT15"
        ]
        return np.asarray(sets[name].features(kind) @ fitted(own, strength, free_of(sets["WMT15"], kind)))

    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps features for the next run")
    given = parser.parse_args()
    sets = read(given.data, Reader(ng.Runtime(dtype="float32", device="cpu"), given.keep, "multilingual", LAYERS))
    heads: dict[str, Callable[[str], Array]] = {"bertscore": lambda name: sets[name].blocks["match"][:, F]}
    for strength in STRENGTHS:
        heads[f"WMT15: match, {strength:g}"] = head(sets, "match", strength, ("WMT15",))
        heads[f"WMT15: 4h+match, {strength:g}"] = head(sets, "4h+match", strength, ("WMT15",))
        heads[f"WMT15, en-ru: 4h+match, {strength:g}"] = head(sets, "4h+match", strength, ("WMT15", "en-ru"))
        every = ("WMT15", "en-ru", "TED en-de", "WMT21 en-de")
        heads[f"all: match, {strength:g}"] = head(sets, "match", strength, every)
        heads[f"all: 4h+match, {strength:g}"] = head(sets, "4h+match", strength, every)
    columns = []
    for name in TESTED:
        one, criterion = sets[name], SETS[name][1]
        hows = [("Pearson", {"stats": "pearson"})]
        if one.items.max() + 1 < len(one.items):
            hows.append(("by item", {"level": "item", "stats": "kendall_b"}))
        for title, how in hows:
            test = Test(name, one.dataset, one.features("match"), [criterion], how)
            values, told = test.measure({own: scores(name) for own, scores in heads.items()}, "bertscore")
            cells = {own: f"{values[own]:.3f}{'*' * told[own][0]}{'-' * told[own][1]}" for own in heads}
            columns.append((f"{name}, {title}", cells))
    print(f"| learnt from | {' | '.join(title for title, _ in columns)} |\n|---|{'---:|' * len(columns)}")
    for own in heads:
        print(f"| {own} | {' | '.join(cells[own] for _, cells in columns)} |", flush=True)


if __name__ == "__main__":
    main()
