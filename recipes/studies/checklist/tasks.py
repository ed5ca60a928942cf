"""Drops of every metric of Sai et al. (2021), figure 4, that is here, beside the published ones, for six tasks.

    python recipes/studies/checklist/tasks.py DATA [--limit 50] [--tasks mt,as] [--cache FILE] [--html FOLDER]

DATA: a folder with checklist, wmt16-da-seg, summeval, answerability-qg, webnlg2020-humaneval and coco-val-refs. The
texts of dialogues are `examples/dialogue.jsonl`. Perturbed texts are joined as the released code does it. `--html`
writes the heat map of every task.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import nlgauge as ng
from nlgauge.audits import Audit
from nlgauge.perturbations.checklist import select_rows

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
TASKS = {  # task -> its panel, its texts, how many are drawn
    "mt": ("MT", "wmt16-da-seg/segments.jsonl.gz", 50),
    "as": ("AS", "summeval/segments.jsonl.gz", 20),  # long texts
    "qg": ("QG", "answerability-qg/segments.jsonl.gz", 50),
    "dg": ("DG", None, 50),
    "d2t": ("D2T", "webnlg2020-humaneval/segments.jsonl.gz", 50),
    "ic": ("IC", "coco-val-refs/segments.jsonl.gz", 50),
}
POOR = 0.3  # of people's scale: a cell that is off by so much or more
DIALOGUES = Path(__file__).parents[3] / "examples" / "dialogue.jsonl"
LEAST = 5  # texts of a row that is shown


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", default=",".join(TASKS), help="some of the tasks, with commas")
    parser.add_argument("--limit", type=int, help="texts of each task")
    parser.add_argument("--cache", help="file that keeps the scores of models")
    parser.add_argument("--html", type=Path, help="folder for the heat maps")
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    published = json.loads((given.data / "checklist" / "deviation_published.json").read_text(encoding="utf-8"))
    runtime = ng.Runtime(cache=given.cache, dtype=given.dtype)
    for task in given.tasks.split(","):
        panel, texts, limit = TASKS[task]
        dataset = ng.read(given.data / texts if texts else DIALOGUES)
        suite = ng.suite("checklist", dataset, task=task, limit=given.limit or limit, legacy_join=True)
        audit = show(task, published[panel], suite, runtime)
        if given.html:
            given.html.mkdir(parents=True, exist_ok=True)
            audit.write(given.html / f"{task}.html")


def show(task: str, panel: dict[str, Any], suite: ng.Suite, runtime: ng.Runtime) -> Audit:
    """A table with a row per template; cells are the published drop and ours. The last lines sum up."""
    columns = [name for name in panel["columns"] if name in METRICS]
    audit = ng.audit(suite, [METRICS[name] for name in columns], runtime=runtime)
    ours = {(row["criterion"], row["template"], row["metric"]): row for row in audit.rows}
    theirs = dict(zip(panel["template_ids"], panel["templates"].values(), strict=True))
    far: dict[str, list[float]] = {name: [] for name in columns}
    off: dict[str, list[tuple[float, float]]] = {name: [] for name in columns}
    print(f"\n{task}:\n\n| template | penalty | n | {' | '.join(columns)} |\n|---|---:|---:|{'---:|' * len(columns)}")
    for row in select_rows(task):
        found = [ours.get((row.criterion, row.template, METRICS[name])) for name in columns]
        n = max((one["n"] for one in found if one), default=0)
        if n < LEAST or row.template not in theirs or math.isnan(row.penalty):
            continue
        cells = []
        for name, one in zip(columns, found, strict=True):
            paper = theirs[row.template][panel["columns"].index(name)] + row.penalty
            far[name].append(abs(one["drop"] - paper) if one else math.nan)
            off[name].append((abs(paper - row.penalty), abs(one["drop"] - row.penalty) if one else math.nan))
            cells.append(f"{paper:.2f} / {one['drop']:.2f}" if one else f"{paper:.2f} / -")
        print(f"| {row.template} | {row.penalty:.2f} | {n} | {' | '.join(cells)} |")
    means = " | ".join(f"{sum(values) / len(values):.2f}" for values in far.values())
    poor = {name: [sum(cell[i] >= POOR for cell in cells) for i in (0, 1)] for name, cells in off.items()}
    print(f"| mean distance | | | {means} |")
    print(f"| poor cells | | | {' | '.join(f'{paper} / {own}' for paper, own in poor.values())} |")
    n = sum(map(len, off.values()))
    print(f"\n{n} cells; off by {POOR:g} or more: ", end="")
    print("paper {}, here {}".format(*(sum(pair[i] for pair in poor.values()) for i in (0, 1))), flush=True)
    return audit


if __name__ == "__main__":
    main()
