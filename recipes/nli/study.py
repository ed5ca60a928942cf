"""MENLI's claims at our scale.

Accuracy under attack, agreement with people, and what small weights of NLI add to other metrics.

    python recipes/nli/study.py DATA > tables.md

DATA: a folder with xpaws-fr-adv, xpaws-zh-adv, wmt15-da-seg and wmt16-da-seg. Every text is scored once by each metric;
`--cache FILE` keeps the scores, so that a stopped run goes on.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nlgauge as ng
from nlgauge.audits import ADEQUACY, FLUENCY

ALONE = ("bleu", "chrf", "rougeL", "bertscore")
UNTRAINED = "cosine"  # mean vectors of the same encoder
NLI = ("nli:direction=both", "nli-robust:direction=both")  # the paper's mean of the directions
COLUMNS = (*ALONE, UNTRAINED, *NLI)
SUITES = ("xpaws-fr-adv", "xpaws-zh-adv")
RATED = ("wmt15-da-seg", "wmt16-da-seg")
SHOWN = (0.0, 0.1, 0.2, 0.3, 0.5, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", help="file that keeps the scores")
    given = parser.parse_args()
    suites = [ng.read_suite(given.data / name / "adversarial.jsonl.gz") for name in SUITES]
    rated = [ng.read(given.data / name / "segments.jsonl.gz") for name in RATED]
    with tempfile.TemporaryDirectory() as folder:
        runtime = ng.Runtime(cache=given.cache or Path(folder, "scores.sqlite"))
        attacked(suites, runtime)
        agreement(rated, runtime)
        mixtures(rated, suites, runtime)


def attacked(suites: list[ng.Suite], runtime: ng.Runtime) -> None:
    accuracy: dict[tuple[str, str], list[float]] = {}
    for suite in suites:
        for row in ng.audit(suite, list(COLUMNS), runtime=runtime).rows:
            accuracy.setdefault((row["phenomenon"], row["metric"]), []).append(row["accuracy"])
    head("Accuracy, mean of XPAWS-fr and XPAWS-zh", ["phenomenon", *COLUMNS])
    for name in (*ADEQUACY, "mean-adequacy", *FLUENCY, "mean-fluency", "mean-all"):
        line(name, [sum(accuracy[name, metric]) / len(suites) for metric in COLUMNS])
    head("Means on each", ["suite", *COLUMNS])
    for name in ("mean-adequacy", "mean-all"):
        for i, suite in enumerate(SUITES):
            line(f"{suite.removesuffix('-adv')}, {name}", [accuracy[name, metric][i] for metric in COLUMNS])


def agreement(rated: list[ng.Dataset], runtime: ng.Runtime) -> None:
    head("Segment-level Pearson with people, mean over language pairs", ["data", *COLUMNS])
    for name, data in zip(RATED, rated, strict=True):
        found = ng.meta_evaluate(data, list(COLUMNS), "da_z", "segment", ["pearson"], intervals="none", runtime=runtime)
        means = {row["metric"]: row["value"] for row in found.rows if row["group"] == "mean"}
        line(name.removesuffix("-da-seg"), [means[metric] for metric in COLUMNS])


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
    print(f"\n{title}:\n\n| {' | '.join(map(short, columns))} |\n|---|{'---:|' * (len(columns) - 1)}")


def line(name: str, values: list[float]) -> None:
    print(f"| {name} | {' | '.join(f'{value:.3f}' for value in values)} |", flush=True)


if __name__ == "__main__":
    main()
