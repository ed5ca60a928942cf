"""BERTScore with the embedded encoder beside the tables of its paper: precision, recall and F, with and without idf.

    python recipes/studies/bertscore.py DATA --cache FOLDER > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, wmt21-mqm-zh-en, xpaws-fr-adv, xpaws-zh-adv and summeval. `--only NAME`
prints one of the tables: segments, selection, robustness or summaries. All take some six minutes of processor time;
with NLGAUGE_ENCODER=base in the environment and `--dtype bfloat16` eight, on a processor with matrix units.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import nlgauge as ng
from nlgauge.audits.preference import ADEQUACY
from nlgauge.core.arrays import Array
from nlgauge.metaeval.select import select_models
from nlgauge.stats.draws import mean_interval

PARTS = {"precision": "P", "recall": "R", "f1": "F"}
LEXICAL = ("bleu", "meteor", "rougeL", "chrf++")
SELECTED = 100  # items of the set on which systems are chosen: 8 outputs each


def parts(
    segments: Sequence[ng.Segment], runtime: ng.Runtime, of: Sequence[str] = ("bertscore", "bertscore:idf=true")
) -> dict[str, Array]:
    """P, R and F of each segment, shape (n,) each; idf is taken from the references of one group."""
    specs = {spec: " idf" if "idf" in spec else "" for spec in of}
    groups = np.array([str(s.group) for s in segments])
    found = {
        f"{short}{behind}": np.full(len(segments), np.nan) for behind in specs.values() for short in PARTS.values()
    }
    for group in dict.fromkeys(groups):
        at = np.flatnonzero(groups == group)
        of_group = ng.Dataset(tuple(segments[i] for i in at), str(group))
        for spec, scores in ng.score(of_group, metrics=list(specs), runtime=runtime).items():
            for name, short in PARTS.items():
                found[f"{short}{specs[spec]}"][at] = scores.parts[name]
    return found


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|---|{'---:|' * (len(head) - 1)}")
    print("\n".join(f"| {' | '.join(row)} |" for row in rows), end="\n\n")


def segments(data: Path, runtime: ng.Runtime) -> None:
    """Segments: Pearson by language pair and its mean; how many pairs Williams' test calls better and worse than F."""
    for name in ("wmt15-da-seg", "wmt16-da-seg"):
        dataset = ng.read(data / name / "segments.jsonl.gz")
        scores = parts(dataset.segments, runtime)
        scores["chrf"] = ng.metric("chrf").score(dataset.segments, runtime).values
        found = ng.meta_evaluate(dataset, scores=scores, criterion="da_z", test="williams", intervals="none")
        values = [row for row in found.rows if row.get("against") is None]
        groups = [g for g in dict.fromkeys(row["group"] for row in values) if g != "mean"]
        tests = [row for row in found.rows if row.get("against") is not None and row["group"] in groups]
        rows = []
        for metric in scores:
            own = {row["group"]: row["value"] for row in values if row["metric"] == metric}
            won, lost = (sum(_is(row, *pair) for row in tests) for pair in ((metric, "F"), ("F", metric)))
            rows.append([metric, *(f"{own[g]:.3f}" for g in groups), f"{np.mean([own[g] for g in groups]):.3f}"])
            rows[-1].append("" if metric == "F" else f"{won}, {lost}")
        print(f"{name}:\n", flush=True)
        table(["metric", *groups, "mean", "better, worse than F"], rows)


def _is(row: Mapping[str, object], metric: str, against: str) -> bool:
    return (row["metric"], row["against"]) == (metric, against) and float(str(row["p"])) < 0.05


def selection(data: Path, runtime: ng.Runtime) -> None:
    """Tables 2 and 3: 1,000 hybrids of eight systems, pools of 100; and Pearson over all hybrids.

    The items are cut into blocks; a number is the mean of the blocks, with Student's interval.
    """
    dataset = ng.read(data / "wmt21-mqm-zh-en" / "segments.jsonl.gz")
    items = list(dict.fromkeys(s.item for s in dataset.segments))
    blocks = [set(items[at : at + SELECTED]) for at in range(0, len(items) - SELECTED + 1, SELECTED)]
    stats = ("hits_at_1", "mrr", "diff", "pearson")
    values: dict[tuple[str, str], list[float]] = {}
    for block in blocks:
        kept = replace(dataset, segments=tuple(s for s in dataset.segments if s.item in block))
        scores = parts(kept.segments, runtime)
        scores["chrf"] = ng.metric("chrf").score(kept.segments, runtime).values
        found = select_models(kept, [], "mqm", hybrids=1000, pool=100, stats=stats, scores=scores)
        for row in found.rows:
            if row["group"] == "mean":
                values.setdefault((row["metric"], row["stat"]), []).append(row["value"])
    means = {key: mean_interval(np.array(own)) for key, own in values.items()}
    print(f"wmt21-mqm-zh-en, {len(blocks)} times {SELECTED} items, {len(kept.segments)} outputs each:\n")
    table(["metric", *stats], [[m, *(ends(*means[m, s]) for s in stats)] for m in scores])


def robustness(data: Path, runtime: ng.Runtime) -> None:
    """Table 6: are texts that say the same apart from near-copies that do not? The area under the ROC curve."""
    columns: dict[str, dict[str, str]] = {}
    for name in ("xpaws-fr-adv", "xpaws-zh-adv"):
        pairs = [p for p in ng.read_suite(data / name / "adversarial.jsonl.gz").pairs if p.setup == "ref"]
        for kind, of in (("meaning", [p for p in pairs if p.phenomenon in ADEQUACY]), ("all", pairs)):
            labelled = labels(of, name)
            scores = parts(labelled.segments, runtime)
            scores |= {m: ng.metric(m).score(labelled.segments, runtime).values for m in LEXICAL}
            found = ng.meta_evaluate(labelled, scores=scores, criterion="same", stats=["auc"])
            n = sum(s.human["same"] for s in labelled.segments)
            column = f"{name.removesuffix('-adv')}, {kind} ({n:.0f} and {len(labelled.segments) - n:.0f})"
            columns[column] = {r["metric"]: ends(r["value"], r["low"], r["high"]) for r in found.rows}
    print("Area under the ROC curve:\n")
    table(["metric", *columns], [[m, *(of[m] for of in columns.values())] for m in scores])


def labels(pairs: Sequence[ng.Pair], name: str) -> ng.Dataset:
    """Every text of the pairs once, with 1 for a paraphrase of its reference and 0 for a text with an error."""
    texts = {(p.references[0], text): same for p in pairs for text, same in ((p.better, 1.0), (p.worse, 0.0))}
    rows = [
        ng.Segment(str(i), text, (reference,), item=reference, human={"same": same})
        for i, ((reference, text), same) in enumerate(texts.items())
    ]
    return ng.Dataset(tuple(rows), name)


def ends(value: float, low: float, high: float) -> str:
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def summaries(data: Path, runtime: ng.Runtime) -> None:
    """P, R and F of summaries against their first reference: Kendall's tau-b by text, and of systems."""
    dataset = ng.read(data / "summeval" / "segments.jsonl.gz")
    kept = replace(dataset, segments=tuple(replace(s, references=s.references[:1]) for s in dataset.segments))
    scores = parts(kept.segments, runtime, ("bertscore",))
    for level in ("item", "system"):
        found = ng.meta_evaluate(
            kept, scores=scores, criterion="all", level=level, stats=["kendall_b"], test="auto", intervals="none"
        )
        rows = [row for row in found.rows if row["group"] == "mean"]
        by = {(row["metric"], row["criterion"]): f"{row['value']:.3f}" for row in rows if row.get("against") is None}
        criteria = list(dict.fromkeys(criterion for _, criterion in by))
        p = {r["criterion"]: f"{r['p']:.3f}" for r in found.rows if (r["metric"], r.get("against")) == ("R", "F")}
        print(f"summeval, Kendall's tau-b, level {level}:\n")
        shown = [[m, *(by[m, c] for c in criteria)] for m in scores]
        table(["metric", *criteria], [*shown, ["p of R over F", *(p.get(c, "") for c in criteria)]])


TABLES = {"segments": segments, "selection": selection, "robustness": robustness, "summaries": summaries}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--cache", type=Path, help="folder of a score cache")
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    cache = None if given.cache is None else given.cache / "scores.sqlite"
    runtime = ng.Runtime(cache=cache, dtype=given.dtype)
    for name, show in TABLES.items():
        if given.only in (None, name):
            show(given.data, runtime)


if __name__ == "__main__":
    main()
