"""MENLI's claims at our scale: accuracy under attack, agreement with people, and small weights of NLI beside other metrics.

    python recipes/nli/study.py DATA > table.md

DATA: a folder with xpaws-fr-adv, xpaws-zh-adv, wmt15-da-seg and wmt16-da-seg. Every text is scored once by each metric (kept in a cache in
memory of the run); the mixtures are made from those numbers, as `nlgauge sweep` makes them.
"""

import argparse
from pathlib import Path

import nlgauge as ng
from nlgauge.audits.preference import ADEQUACY, FLUENCY

METRICS = ("bleu", "chrf", "rougeL", "bertscore", "nli", "nli-robust")
SUITES = ("xpaws-fr-adv", "xpaws-zh-adv")
RATED = ("wmt15-da-seg", "wmt16-da-seg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    args = parser.parse_args()
    runtime = ng.Runtime()
    accuracy: dict[tuple[str, str], list[float]] = {}
    for suite in SUITES:
        found = ng.audit(ng.read_suite(args.data / suite / "adversarial.jsonl.gz"), list(METRICS), runtime=runtime)
        for row in found.rows:
            accuracy.setdefault((row["phenomenon"], row["metric"]), []).append(row["accuracy"])
    print("Accuracy, mean of XPAWS-fr and XPAWS-zh (samples of 1,500 rows each):\n")
    print("| phenomenon | " + " | ".join(METRICS) + " |\n|---|" + "---:|" * len(METRICS))
    for name in (*ADEQUACY, "mean-adequacy", *FLUENCY, "mean-fluency", "mean-all"):
        values = (sum(accuracy[name, m]) / len(SUITES) for m in METRICS)
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in values) + " |")
    print("\nSegment-level Pearson with people, mean over language pairs:\n")
    print("| data | " + " | ".join(METRICS) + " |\n|---|" + "---:|" * len(METRICS))
    for rated in RATED:
        data = ng.read(args.data / rated / "segments.jsonl.gz")
        found = ng.meta_evaluate(data, list(METRICS), "da_z", "segment", ["pearson"], intervals="none", runtime=runtime)
        means = {row["metric"]: row["value"] for row in found.rows if row["group"] == "mean"}
        print(f"| {rated} | " + " | ".join(f"{means[m]:.3f}" for m in METRICS) + " |")


if __name__ == "__main__":
    main()
