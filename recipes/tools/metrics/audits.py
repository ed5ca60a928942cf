"""What each embedded metric sees least, measured: the table of audits in the reference.

    python recipes/tools/metrics/audits.py DATA/ud/pud.test.jsonl.gz [--cache FILE]

Audits every metric that runs as it is on 50 sentences of news and encyclopedia (UD English PUD), by the checklist of
machine translation, and writes what came out to `audits.tsv`, from which `reference.py` makes tables. A sentence is its
own reference and source. Metrics that read something that sentences do not have are in `ASIDE`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import nlgauge as ng
from nlgauge.metrics.registry import embedded_metrics

TEXTS = 50
LEAST = 10  # pairs of a row that is shown
SHOWN = 3  # errors
TABLE = Path(__file__).parent / "audits.tsv"
HEAD = ("metric", "underrated most", "second", "third", "harmless, costs most")
ASIDE = ("parent",)  # it reads tables, which plain sentences do not have
OPTIONS = {"bert-nli": "bert-nli:anchor=source"}  # plain sentences have no turns before them


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("--metrics", help="some of the metrics, with blanks; others keep their rows")
    parser.add_argument("--cache", help="file that keeps the scores of models")
    given = parser.parse_args()
    metrics = given.metrics.split() if given.metrics else [name for name in embedded_metrics() if name not in ASIDE]
    specs = {name: OPTIONS.get(name, name) for name in metrics}
    suite = ng.suite("checklist", sentences(given.texts), task="mt")
    rows = ng.audit(suite, list(specs.values()), runtime=ng.Runtime(cache=given.cache)).rows
    lines = {name: line(name, [row for row in rows if row["metric"] == spec]) for name, spec in specs.items()}
    with TABLE.open(encoding="utf-8") as file:
        known = {row[0]: row for row in csv.reader(file, delimiter="\t")}
    write({name: row for name, row in (known | lines).items() if name in {*embedded_metrics()} - {*ASIDE}})


def sentences(path: Path) -> ng.Dataset:
    """Every so manieth sentence."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(row)["text"] for row in file]
    texts = texts[:: len(texts) // TEXTS][:TEXTS]
    return ng.Dataset(tuple(ng.Segment(str(i), text, (text,), source=text) for i, text in enumerate(texts)))


def line(name: str, rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The row of a metric."""
    rows = [row for row in rows if row["n"] >= LEAST]
    errors = sorted((row for row in rows if row["expect"] == "lower"), key=lambda row: row["deviation"])
    same = sorted((row for row in rows if row["expect"] == "same"), key=lambda row: -row["drop"])
    return [name, *(f"{cell(row)} ({row['penalty']:.2f})" for row in errors[:SHOWN]), *map(cell, same[:1])]


def cell(row: Mapping[str, Any]) -> str:
    low, high = (row[end] + row["penalty"] for end in ("low", "high"))
    return f"{row['template'].replace('_', ' ')} {row['drop']:.2f} [{low:.2f}, {high:.2f}]"


def write(rows: Mapping[str, Sequence[str]]) -> None:
    """Write the table anew; metrics that were not measured now keep their rows."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([HEAD, *(rows[name] for name in sorted(rows))])


if __name__ == "__main__":
    main()
