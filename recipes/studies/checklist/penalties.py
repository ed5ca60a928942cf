"""People's penalties, worked back again from figure 4 of Sai et al. (2021) for templates that have several forms.

    python recipes/studies/checklist/penalties.py DATA [--limit 300]

DATA: a folder with checklist, wmt16-da-seg, summeval, webnlg2020-humaneval, answerability-qg and coco-val-refs. A drop
is the printed deviation plus the penalty, so each metric of overlap gives one estimate: our drop less the printed
deviation. The estimate is good where metrics that have little in common give about the same.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median

import nlgauge as ng
from nlgauge.perturbations.checklist import select_rows

METRICS = {  # column of the figure -> the metric
    "BLEU-1": "bleu:max_ngram_order=1,tokenize=none",
    "BLEU-4": "bleu:tokenize=none",
    "ROUGE_L": "rougeL:tokenizer=blanks",
    "ChrF++": "chrf++",
}
FORMS = {  # template -> its forms, the one of the checklist first; whether the released code joins tokens
    "drop_phrases": (("drop_phrases", "drop_phrases:length=any"), True),
    "drop_objects": (("drop_objects", "drop_objects:which=all"), True),
    "change_names": (("change_names",), False),
    "change_attributes": (("change_attributes", "change_attributes:which=all"), True),
    "antonyms": (("antonyms", "antonyms:which=all"), True),
    "hyponyms": (("hyponyms", "hyponyms:relation=sibling"), True),
}
TEXTS = {
    "mt": "wmt16-da-seg",
    "as": "summeval",
    "qg": "answerability-qg",
    "d2t": "webnlg2020-humaneval",
    "ic": "coco-val-refs",
}
LEAST = 20  # texts of a row that is shown


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--limit", type=int, default=300)
    given = parser.parse_args()
    published = json.loads((given.data / "checklist" / "deviation_published.json").read_text(encoding="utf-8"))
    print("| task | form | n | BLEU-1 | BLEU-4 | ROUGE_L | ChrF++ | median | shipped | bounds |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for task, folder in TEXTS.items():
        panel = published[task.upper()]
        dataset = ng.read(given.data / folder / "segments.jsonl.gz")
        deviations = dict(zip(panel["template_ids"], panel["templates"].values(), strict=True))
        for row in select_rows(task):
            if row.template in FORMS and row.template in deviations:
                printed = dict(zip(panel["columns"], deviations[row.template], strict=True))
                for line in estimates(dataset, task, row.template, printed, given.limit):
                    print(f"| {task} | {line} | {row.penalty:.2f} | {row.lower:.2f} to {row.upper:.2f} |", flush=True)


def estimates(dataset: ng.Dataset, task: str, template: str, printed: dict[str, float], limit: int) -> list[str]:
    """A line for each form: number of texts, the penalty that each metric gives, and their median."""
    specs, joins = FORMS[template]
    metrics = {column: spec for column, spec in METRICS.items() if column in printed}
    lines = []
    for spec in specs:
        suite = ng.suite(
            "checklist", dataset, task=task, perturbations=[spec], limit=limit, legacy_join=joins, scripts="off"
        )
        rows = {row["metric"]: row for row in ng.audit(suite, list(metrics.values())).rows}
        found = {column: rows[one]["drop"] - printed[column] for column, one in metrics.items()}
        n = min(row["n"] for row in rows.values())
        if n >= LEAST:
            cells = " | ".join(f"{found[column]:.2f}" if column in found else "" for column in METRICS)
            lines.append(f"{spec} | {n} | {cells} | {median(found.values()):.2f}")
    return lines


if __name__ == "__main__":
    main()
