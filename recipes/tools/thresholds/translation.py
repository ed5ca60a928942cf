"""What differences mean to people in translation into English: the table that `--thresholds shipped` reads.

    python recipes/tools/thresholds/translation.py DATA --kept scores/ -o src/nlgauge/data/thresholds/translation.json

DATA is a folder with the public sets, one folder per set: wmt23-he-en-mtme, ted-mqm-zh-en, wmt21-mqm-zh-en,
wmt22-gemba-zh-en; all have systems rated by MQM. People's translations are no systems here, and each set has one
reference per segment. Metrics that take long see a part of the items. Scores are kept in a folder, so that a run that
was interrupted goes on; `--metrics` scores some of the metrics and fits those.
"""

from __future__ import annotations

import argparse
import dataclasses
import pickle
import sys
from pathlib import Path

import numpy as np
from fit import table, write

import nlgauge as ng
from nlgauge.core.segment import Dataset
from nlgauge.io import open_data
from nlgauge.metaeval.evaluate import joined_scores, without_systems
from nlgauge.metaeval.joined import JoinedScores

ABOUT = "translation into English (WMT21 to WMT23 and TED)"
SETS = {  # file or folder, people among the systems
    "wmt23-he-en-mtme": ("wmt23-he-en-mtme", ["refA"]),
    "ted-mqm-zh-en": ("ted-mqm-zh-en/segments.jsonl.gz", ["ref-A", "ref-B"]),
    "wmt21-mqm-zh-en": ("wmt21-mqm-zh-en/segments.jsonl.gz", []),
    "wmt22-gemba-zh-en": ("wmt22-gemba-zh-en/segments.jsonl.gz", ["refB"]),
}
BATCHES = [  # metrics that are scored together, and on how many items of a set at most
    ("bleu chrf chrf++ gleu nist ribes meteor rouge1 rouge2 rougeL wer cer per cder wip character yisi0", None),
    ("ter eed", 300),
    ("bertscore cosine moverscore embedding-average greedy wmd", 200),
    ("rated", 200),
    ("sescore", 200),
    ("yisi1", 200),
    ("nli", 60),
]


def dataset(folder: Path, name: str, items: int | None) -> Dataset:
    """The systems of a set with one reference per segment, on some of the items, drawn by seed 0."""
    path, people = SETS[name]
    read = without_systems(ng.read(folder / path), people)
    kept = [dataclasses.replace(s, references=s.references[:1]) for s in read if s.human]
    every = list(dict.fromkeys(s.item for s in kept))
    if items is not None and items < len(every):
        chosen = {every[i] for i in np.random.default_rng(0).choice(len(every), items, replace=False)}
        kept = [s for s in kept if s.item in chosen]
    return Dataset(tuple(kept), name, ())


def scored(folder: Path, name: str, metrics: list[str], items: int | None, kept: Path) -> JoinedScores:
    """The scores of a set, from the folder where they are kept if they are there."""
    file = kept / f"{name}.{'_'.join(metrics)}.{items}.pickle"
    if not file.exists():
        held = joined_scores(dataset(folder, name, items), metrics, "mqm")
        # One language pair in several sets stays several sets: they are rated by other people, on other systems.
        file.write_bytes(pickle.dumps(held))
        print(f"{name}: {', '.join(metrics)}", file=sys.stderr, flush=True)
    return pickle.loads(file.read_bytes())


def files_read(folder: Path) -> list[dict[str, str]]:
    """The files of the sets with their digests, named as in the folder."""
    entries = []
    for path, _ in SETS.values():
        source = open_data(folder / path)
        entries += [{**entry, "path": str(Path(entry["path"]).relative_to(folder))} for entry in source.check().inputs]
        source.close()
    return entries


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--kept", type=Path, required=True, help="folder for scores")
    parser.add_argument("--metrics", nargs="*", help="some of the metrics")
    parser.add_argument("-o", "--output", type=Path, required=True)
    args = parser.parse_args()
    args.kept.mkdir(exist_ok=True, parents=True)
    tables = []
    for names, items in BATCHES:
        metrics = [name for name in names.split() if not args.metrics or name in args.metrics]
        if metrics:
            held = [scored(args.data, name, metrics, items, args.kept) for name in SETS]
            tables.append(table(held, about=ABOUT, inputs=files_read(args.data)))
    every = [one for found in tables for one in found["metrics"]]
    sets = [{**one, "group": f"{name} {one['group']}"} for name, one in zip(SETS, tables[0]["sets"], strict=True)]
    write(args.output, {**tables[0], "sets": sets, "metrics": every})


if __name__ == "__main__":
    main()
