"""Do criteria agree with each other, and metrics with each of them (figures 1 and 3 of Sai et al. 2021)?

    python recipes/studies/checklist/criteria.py DATA [--sets bagel,sfhot] [--stat pearson] [--cache FILE]

DATA: a folder with summeval, webnlg2020-humaneval, bagel and sfhot. Kendall's tau-b over all segments of a set (or
Pearson's r, which the paper's appendix has), with 95 % intervals; summaries are compared with their first reference. A
correlation below 0.3 counts as poor, one from 0.5 as good.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import nlgauge as ng
from nlgauge.metaeval.evaluate import criteria_rows

SETS = ("summeval", "webnlg2020-humaneval", "bagel", "sfhot")
METRICS = ("bleu", "chrf++", "rougeL", "meteor", "cider", "bertscore", "cosine")
POOR, GOOD = 0.3, 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(SETS), help="some of the sets, with commas")
    parser.add_argument("--stat", default="kendall_b", choices=("kendall_b", "pearson"))
    parser.add_argument("--cache", help="file that keeps the scores of models")
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    runtime = ng.Runtime(cache=given.cache, dtype=given.dtype)
    for name in given.sets.split(","):
        dataset = ng.read(given.data / name / "segments.jsonl.gz")
        if name == "summeval":
            dataset = replace(
                dataset, segments=tuple(replace(s, references=s.references[:1]) for s in dataset.segments)
            )
        found = ng.meta_evaluate(dataset, list(METRICS), "all", stats=[given.stat], runtime=runtime, draws=200)
        criteria = list(found.held.human)
        values = {(r["metric"], r["criterion"]): r["value"] for r in criteria_rows(found.held, given.stat, "segment")}
        print(f"\n{name}, criteria with each other:\n\n| | {' | '.join(criteria)} |\n|---|{'---:|' * len(criteria)}")
        for one in criteria:
            told = ["" if other == one else f"{values[f'human.{one}', other]:.3f}" for other in criteria]
            print(f"| {one} | {' | '.join(told)} |")
        pairs = [values[f"human.{one}", other] for i, one in enumerate(criteria) for other in criteria[:i]]
        count(f"{name}, pairs of criteria", pairs)
        print(f"\n{name}, metrics:\n\n| metric | {' | '.join(criteria)} |\n|---|{'---:|' * len(criteria)}")
        cells = []
        for metric in METRICS:
            rows = {r["criterion"]: r for r in found.rows if r["metric"] == metric and r["group"] == "mean"}
            cells += [rows[c]["value"] for c in criteria]
            shown = [f"{rows[c]['value']:.2f} [{rows[c]['low']:.2f}, {rows[c]['high']:.2f}]" for c in criteria]
            print(f"| {metric} | {' | '.join(shown)} |", flush=True)
        count(f"{name}, metrics with criteria", cells)


def count(what: str, values: list[float]) -> None:
    poor, good = sum(v < POOR for v in values), sum(v >= GOOD for v in values)
    print(f"\n{what}: {poor} of {len(values)} below {POOR:g}, {good} from {GOOD:g}", flush=True)


if __name__ == "__main__":
    main()
