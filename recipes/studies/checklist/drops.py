"""Drops of metrics under the checklist's perturbations, beside those that Sai et al. (2021) published.

    python recipes/studies/checklist/drops.py TEXTS DEVIATIONS [--limit 1000]

TEXTS: references of machine translation, in any format that nlgauge reads. DEVIATIONS: figure 4 as JSON, {"MT":
    {"columns": [...],
"template_ids": [...], "templates": {label: [...]}}}. The published drop is the deviation plus the human penalty shipped
with nlgauge.
"""

import argparse
import json
from pathlib import Path

import nlgauge as ng
from nlgauge.perturbations.checklist import select_rows

COLUMNS = {"BLEU-1": "bleu:max_ngram_order=1,tokenize=none", "ROUGE_L": "rougeL:tokenizer=blanks", "ChrF++": "chrf++"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("texts")
    parser.add_argument("deviations")
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    published = json.loads(Path(args.deviations).read_text(encoding="utf-8"))["MT"]
    deviations = dict(zip(published["template_ids"], published["templates"].values(), strict=True))
    data = ng.read(args.texts)
    drops = {}
    for joined in (False, True):
        suite = ng.suite("checklist", data, task="mt", limit=args.limit, seed=args.seed, legacy_join=joined)
        for row in ng.audit(suite, list(COLUMNS.values())).rows:
            drops[joined, row["template"], row["metric"]] = row
    print("| template | penalty | n | " + " | ".join(f"{c} paper | spans | joined" for c in COLUMNS) + " |")
    print("|---|---:|---:|" + "---:|" * (3 * len(COLUMNS)))
    for row in select_rows("mt"):
        cells = []
        for column, spec in COLUMNS.items():
            theirs = deviations[row.template][published["columns"].index(column)] + row.penalty
            cells += [
                f"{theirs:.2f}",
                *(f"{drops[joined, row.template, spec]['drop']:.2f}" for joined in (False, True)),
            ]
        n = drops[False, row.template, spec]["n"]
        print(f"| {row.template} | {row.penalty:.2f} {row.certainty} | {n} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
