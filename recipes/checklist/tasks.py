"""Drops of every metric of Sai et al. (2021), figure 4, that is here, beside the published ones, for six tasks.

    python recipes/checklist/tasks.py DATA [--limit 50] [--tasks mt,as] [--cache FILE]

DATA: a folder with checklist, wmt16-da-seg, summeval, answerability-qg, webnlg2020-humaneval and coco-val-refs. The
texts of dialogues are `examples/dialogue.jsonl`. Perturbed texts are joined as the released code does it.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import nlgauge as ng
from nlgauge.perturbations import select_rows

METRICS = {  # column of the figure -> the metric
    "BLEU-1": "bleu:max_ngram_order=1,tokenize=none",
    "BLEU-3": "bleu:max_ngram_order=3,tokenize=none",
    "BLEU-4": "bleu:tokenize=none",
    "METEOR": "meteor",
    "ROUGE-1-R": "rouge1:tokenizer=blanks,value=recall",
    "ROUGE_L": "rougeL:tokenizer=blanks",
    "CIDEr": "cider:tokenizer=blanks",
    "ChrF++": "chrf++",
    "EAvg": "embedding-average",
    "GM": "greedy",
    "VE": "vector-extrema",
    "WMDo": "wmdo",
    "BERTScore": "bertscore",
    "MoverScore": "moverscore",
    "QBLEU-4": "qbleu4",
    "QROUGE_L": "qrouge",
}
TASKS = {  # task -> its panel, its texts
    "mt": ("MT", "wmt16-da-seg/segments.jsonl.gz"),
    "as": ("AS", "summeval/segments.jsonl.gz"),
    "qg": ("QG", "answerability-qg/segments.jsonl.gz"),
    "dg": ("DG", None),
    "d2t": ("D2T", "webnlg2020-humaneval/segments.jsonl.gz"),
    "ic": ("IC", "coco-val-refs/segments.jsonl.gz"),
}
DIALOGUES = Path(__file__).parents[2] / "examples" / "dialogue.jsonl"
LEAST = 5  # texts of a row that is shown


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", default=",".join(TASKS), help="some of the tasks, with commas")
    parser.add_argument("--limit", type=int, default=50)
    parser.add_argument("--cache", help="file that keeps the scores of models")
    given = parser.parse_args()
    published = json.loads((given.data / "checklist" / "deviation_published.json").read_text(encoding="utf-8"))
    runtime = ng.Runtime(cache=given.cache)
    for task in given.tasks.split(","):
        panel, texts = TASKS[task]
        dataset = ng.read(given.data / texts if texts else DIALOGUES)
        suite = ng.suite("checklist", dataset, task=task, limit=given.limit, legacy_join=True)
        show(task, published[panel], suite, runtime)


def show(task: str, panel: dict[str, Any], suite: ng.Suite, runtime: ng.Runtime) -> None:
    """A table with a row per template; cells are the published drop and ours."""
    columns = [name for name in panel["columns"] if name in METRICS]
    audit = ng.audit(suite, [METRICS[name] for name in columns], runtime=runtime)
    ours = {(row["criterion"], row["template"], row["metric"]): row for row in audit.rows}
    theirs = dict(zip(panel["template_ids"], panel["templates"].values(), strict=True))
    far: dict[str, list[float]] = {name: [] for name in columns}
    print(f"\n{task}:\n\n| template | penalty | n | {' | '.join(columns)} |\n|---|---:|---:|{'---:|' * len(columns)}")
    for row in select_rows(task):
        found = [ours.get((row.criterion, row.template, METRICS[name])) for name in columns]
        n = max((one["n"] for one in found if one), default=0)
        if n < LEAST or row.template not in theirs or math.isnan(row.penalty):
            continue
        cells = []
        for name, one in zip(columns, found, strict=True):
            paper = theirs[row.template][panel["columns"].index(name)] + row.penalty
            far[name].append(abs(one["drop"] - paper) if one else float("nan"))
            cells.append(f"{paper:.2f} / {one['drop']:.2f}" if one else f"{paper:.2f} / -")
        print(f"| {row.template} | {row.penalty:.2f} | {n} | {' | '.join(cells)} |")
    means = " | ".join(f"{sum(values) / len(values):.2f}" for values in far.values())
    print(f"| mean distance | | | {means} |", flush=True)


if __name__ == "__main__":
    main()
