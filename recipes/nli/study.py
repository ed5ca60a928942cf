"""MENLI's claims at our scale.

Accuracy under attack, agreement with people, and what small weights of NLI add to other metrics.

    python recipes/nli/study.py DATA [--head NAME=FILE ...] [--only COLUMN ...] > tables.md

DATA: a folder with xpaws-fr-adv, xpaws-zh-adv, wmt15-da-seg and wmt16-da-seg. Every text is scored once by each metric;
`--cache FILE` keeps the scores, so that a stopped run goes on. `--head` adds a head of your own to the columns of
accuracy and agreement. `--only` prints these tables alone, for the columns named.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import nlgauge as ng
from nlgauge.audits.preference import ADEQUACY, FLUENCY
from nlgauge.core.spec import quote

ALONE = ("bleu", "chrf", "rougeL", "bertscore")
UNTRAINED = "cosine"  # mean vectors of the same encoder
NLI = ("nli:direction=both", "nli-robust:direction=both")  # the paper's mean of the directions
Columns = Mapping[str, str]  # name -> specification
SUITES = ("xpaws-fr-adv", "xpaws-zh-adv")
RATED = ("wmt15-da-seg", "wmt16-da-seg")
SHOWN = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", help="file that keeps the scores")
    parser.add_argument("--head", action="append", default=[], metavar="NAME=FILE", help="a further NLI head")
    parser.add_argument("--only", nargs="+", metavar="COLUMN", help="names of columns")
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    columns = {short(spec): spec for spec in (*ALONE, UNTRAINED, *NLI)}
    heads = (head.partition("=") for head in given.head)
    columns |= {name: f"nli:model={quote(file)},direction=both" for name, _, file in heads}
    columns = {name: columns[name] for name in given.only or columns}
    suites = [ng.read_suite(given.data / name / "adversarial.jsonl.gz") for name in SUITES]
    rated = [ng.read(given.data / name / "segments.jsonl.gz") for name in RATED]
    with tempfile.TemporaryDirectory() as folder:
        runtime = ng.Runtime(cache=given.cache or Path(folder, "scores.sqlite"), dtype=given.dtype)
        attacked(suites, columns, runtime)
        agreement(rated, columns, runtime)
        if not given.only:
            mixtures(rated, suites, runtime)


def attacked(suites: list[ng.Suite], columns: Columns, runtime: ng.Runtime) -> None:
    found = [
        {(r["phenomenon"], r["metric"]): r for r in ng.audit(s, [*columns.values()], runtime=runtime).rows}
        for s in suites
    ]
    means, asked = ("mean-adequacy", "mean-fluency", "mean-all"), [*columns.values()]

    def mean(name: str, metric: str, value: str = "accuracy") -> float:
        return sum(rows[name, metric][value] for rows in found) / len(found)

    head("Accuracy, mean of XPAWS-fr and XPAWS-zh", ["phenomenon", *columns])
    for name in (*ADEQUACY, means[0], *FLUENCY, *means[1:]):
        line(name, [mean(name, metric) for metric in asked])
    # Both suites attack the same sentences: their errors do not average out.
    widths = {name: [mean(name, m, "high") - mean(name, m, "low") for m in asked] for name, _ in found[0]}
    rest = [width for name, width in widths.items() if name not in (*means, "number_error")]
    print(f"\n95 % intervals: means {about(widths[name] for name in means)}, ", end="")
    print(f"numbers {about([widths['number_error']])}, other phenomena {about(rest)}")
    head("Means on each", ["suite", *columns])
    for name in ("mean-adequacy", "mean-all"):
        for suite, rows in zip(SUITES, found, strict=True):
            line(f"{suite.removesuffix('-adv')}, {name}", [rows[name, metric]["accuracy"] for metric in asked])


def agreement(rated: list[ng.Dataset], columns: Columns, runtime: ng.Runtime) -> None:
    head("Segment-level Pearson with people, mean over language pairs", ["data", *columns])
    widths = []
    for name, data in zip(RATED, rated, strict=True):
        found = ng.meta_evaluate(data, [*columns.values()], "da_z", "segment", ["pearson"], runtime=runtime)
        means = {row["metric"]: row for row in found.rows if row["group"] == "mean"}
        line(name.removesuffix("-da-seg"), [means[metric]["value"] for metric in columns.values()])
        widths.append([means[metric]["high"] - means[metric]["low"] for metric in columns.values()])
    print(f"\n95 % intervals: {about(widths)}")


def about(widths: Iterable[Sequence[float]]) -> str:
    """Half of the narrowest and of the widest interval."""
    halves = [width / 2 for row in widths for width in row]
    low, high = f"{min(halves):.3f}", f"{max(halves):.3f}"
    return f"±{low}" if low == high else f"±{low} to ±{high}"


def mixtures(rated: list[ng.Dataset], suites: list[ng.Suite], runtime: ng.Runtime) -> None:
    found = ng.sweep(
        rated,
        suites,
        list(ALONE),
        list(NLI),
        criterion="da_z",
        level="segment",
        stats=["pearson"],
        intervals="none",
        runtime=runtime,
    )
    head(
        "Pearson (mean of WMT15 and WMT16) / accuracy (mean-all, mean of both suites) by weight of the NLI metric",
        ["metric", "with", *(f"{w:g}" for w in SHOWN), "best weight", "gains there"],
    )
    for metric in ALONE:
        for partner in NLI:
            where = {
                "metric": metric,
                "with": partner,
                "dataset": "mean",
                "suite": "mean",
                "group": "mean",
                "phenomenon": "mean-all",
            }
            rows = {row["weight"]: row for row in found.rows if all(row[key] == value for key, value in where.items())}
            best = found.best(metric, partner)
            shown = " | ".join(f"{rows[w]['correlation']:.3f} / {rows[w]['accuracy']:.3f}" for w in SHOWN)
            gains = f"{100 * best['gain_correlation']:+.1f} % / {100 * best['gain_accuracy']:+.1f} %"
            print(f"| {metric} | {short(partner)} | {shown} | {best['weight']:g} | {gains} |")


def short(spec: str) -> str:
    return spec.partition(":")[0]


def head(title: str, columns: list[str]) -> None:
    print(f"\n{title}:\n\n| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}")


def line(name: str, values: list[float]) -> None:
    print(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |", flush=True)


if __name__ == "__main__":
    main()
