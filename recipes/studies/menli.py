"""MENLI's other tables: facts, data to text, systems, attacks, ranks, weights left out, and summaries.

    python recipes/studies/menli.py DATA [--only NAME] [--head NAME=FILE ...] [--cache FILE]

DATA: a folder with rank19, qags-cnn, bagel, summeval, wmt21-mqm-zh-en, wmt15-da-seg, wmt16-da-seg, xpaws-fr-adv and
xpaws-zh-adv. `--only` prints one of the tables: facts, text, systems, complex, attacks, ranks, weights or
summaries. `--head` adds a head of your own to all of them but ranks and summaries. Large sets are sampled: the first
100 items of WMT21, every third case of XPAWS, and every fifth segment of WMT15 and WMT16 for weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.core.spec import quote

HEADS = ("nli", "nli-robust")
UNTRAINED = ("chrf", "bertscore", "cosine")
RANKED = (
    *("bleu", "chrf", "chrf++", "meteor", "rouge1", "rougeL", "gleu", "ter", "bertscore", "moverscore", "cosine"),
    *("greedy", "embedding-average", "vector-extrema", "sescore", "rated"),
)
RARE = ("negation", "pronoun_error", "mismatch_adj", "mismatch_noun", "mismatch_verb")  # `nli` saw little like them
REFERENCES, ITEMS, CASES, SEGMENTS = 11, 100, 3, 5
Probabilities = dict[str, Array]
Heads = Mapping[str, str]  # name -> how its specifications begin


def asked(start: str, dataset: ng.Dataset, runtime: ng.Runtime) -> dict[str, Probabilities]:
    """Direction -> e, n and c of every segment, shape (n,)."""
    found = {}
    for direction in ("forward", "backward"):
        found[direction] = probabilities(f"{start}direction={direction}", dataset, runtime)
    return found


def probabilities(spec: str, dataset: ng.Dataset, runtime: ng.Runtime) -> Probabilities:
    return dict(scored(dataset, [spec], runtime)[spec].parts)


def facts(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """Rank19 (accuracy) and QAGS (Pearson), without references: the source entails or contradicts the text."""
    columns: dict[str, dict[str, Any]] = {}
    for name, asks in (("rank19", {"preset": "rank19"}), ("qags-cnn", {"preset": "qags"})):
        dataset = ng.read(data / name / "segments.jsonl.gz")
        with_source = replace(dataset, segments=tuple(replace(s, references=(s.source,)) for s in dataset.segments))
        scores = {metric: found.values for metric, found in scored(with_source, UNTRAINED, runtime).items()}
        for head, start in heads.items():
            p = probabilities(f"{start}anchor=source,direction=forward", dataset, runtime)
            scores |= {f"{head}, e": p["e"], f"{head}, -c": -p["c"], f"{head}, e-c": p["e"] - p["c"]}
        found = ng.meta_evaluate(dataset, scores=scores, criterion=None, **asks, test="none")
        columns[name] = {r["metric"]: cell(r) for r in found.rows}
    table("Facts, compared with the source", ["metric", "Rank19: accuracy", "QAGS: Pearson"])
    for metric in columns["rank19"]:
        line(metric, [columns["rank19"][metric], columns["qags-cnn"][metric]])


def text(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """BAGEL: Spearman over all outputs, by criterion; references are averaged."""
    bagel = ng.read(data / "bagel" / "segments.jsonl.gz")
    plain = {f"{m}:references=mean": m for m in ("bertscore", "cosine", "moverscore")}
    scores = {plain[m]: found.values for m, found in scored(bagel, list(plain), runtime).items()}
    for head, start in heads.items():
        p = asked(start, bagel, runtime)
        scores |= {f"{head} e {way}": found["e"] for way, found in p.items()}
        scores[f"{head} e both"] = (p["forward"]["e"] + p["backward"]["e"]) / 2
        scores[f"0.2 {head} + 0.8 bertscore"] = mixed(scores[f"{head} e both"], scores["bertscore"])
    by_criterion("BAGEL", bagel, scores, stats=["spearman"])


def systems(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """Eight systems of WMT21 (zh-en, MQM): Pearson, Kendall and pairwise accuracy of system means."""
    dataset = ng.read(data / "wmt21-mqm-zh-en" / "segments.jsonl.gz")
    items = set(list(dict.fromkeys(s.item for s in dataset.segments))[:ITEMS])
    kept = replace(dataset, segments=tuple(s for s in dataset.segments if s.item in items))
    scores = {metric: found.values for metric, found in scored(kept, UNTRAINED, runtime).items()}
    for head, spec in both(heads).items():
        scores[head] = scored(kept, [spec], runtime)[spec].values
        scores[f"0.2 {head} + 0.8 bertscore"] = mixed(scores[head], scores["bertscore"])
    stats = ["pearson", "kendall_b", "pairwise_accuracy"]
    found = ng.meta_evaluate(kept, scores=scores, criterion="mqm", level="system", stats=stats)
    by = {(r["metric"], r["stat"]): r for r in found.rows if r["group"] == "mean"}
    table(f"WMT21 zh-en, 8 systems, {ITEMS} items", ["metric", *stats])
    for metric in scores:
        line(metric, [cell(by[metric, stat]) for stat in stats])


def complex_attack(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """Number and negation at once, on references of WMT16; light paraphrases."""
    dataset = ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz")
    attacks = ("number_error", "negation", "number_and_negation")
    suite = ng.suite("menli", dataset, perturbations=attacks, limit=400)
    pairs = [p for p in suite.pairs if p.setup == "ref"]
    texts = {p.id.partition("/")[0] for p in pairs if p.phenomenon == attacks[2]}  # texts that all three apply to
    suite = replace(suite, pairs=tuple(p for p in pairs if p.id.partition("/")[0] in texts))
    metrics = {name: name for name in UNTRAINED} | both(heads)
    rows = {(r["metric"], r["phenomenon"]): r for r in ng.audit(suite, [*metrics.values()], runtime=runtime).rows}
    table("WMT16, accuracy", ["metric", *(f"{a} ({rows['chrf', a]['n']})" for a in attacks)])
    for name, metric in metrics.items():
        line(name, [cell(rows[metric, attack], "accuracy") for attack in attacks])


def sampled(data: Path, name: str) -> ng.Suite:
    """Every third case of a suite, of those that have a reference."""
    suite = ng.read_suite(data / name / "adversarial.jsonl.gz")
    pairs = [p for p in suite.pairs if p.setup == "ref"]
    return replace(suite, pairs=tuple(pairs[::CASES]))


def attacks(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """XPAWS-fr: accuracy with intervals, and how far texts of passed and of failed cases are from the reference."""
    metrics = {name: name for name in ("bleu", *UNTRAINED)} | both(heads)
    suite = sampled(data, "xpaws-fr-adv")
    rows = {(r["metric"], r["phenomenon"]): r for r in ng.audit(suite, [*metrics.values()], runtime=runtime).rows}
    rare = replace(suite, pairs=tuple(p for p in suite.pairs if p.phenomenon in RARE))
    of_rare = ng.audit(rare, [*metrics.values()], runtime=runtime).rows
    five = {r["metric"]: r for r in of_rare if r["phenomenon"] == "mean-all"}
    means = ("mean-adequacy", "mean-fluency", "mean-all")
    table(f"Every third case of XPAWS-fr, {len(suite.pairs)} pairs", ["metric", *means, "five rare in training"])
    for name, metric in metrics.items():
        cells = [cell(rows[metric, mean], "accuracy") for mean in means]
        line(name, [*cells, cell(five[metric], "accuracy")])
    phenomena = [name for metric, name in rows if metric == "bleu" and not name.startswith("mean-")]
    table("Edit distance of paraphrases, passed and failed", ["phenomenon", "faulty text", *metrics])
    for name in phenomena:
        own = [rows[metric, name] for metric in metrics.values()]
        ends = [f"{row['distance_passed']:.2f}, {row['distance_failed']:.2f}" for row in own]
        line(name, [f"{own[0]['distance_worse']:.2f}", *ends])


def ranks(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """Are metrics that agree with people also hard to fool? Ranks by WMT16 and by XPAWS-fr."""
    dataset, suite = ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz"), sampled(data, "xpaws-fr-adv")
    found = ng.meta_evaluate(dataset, list(RANKED), "da_z", intervals="none", runtime=runtime)
    standard = {r["metric"]: r["value"] for r in found.rows if r["group"] == "mean"}
    rows = ng.audit(suite, list(RANKED), runtime=runtime).rows
    accuracy = {(r["metric"], r["phenomenon"]): r["accuracy"] for r in rows}
    columns = {"WMT16: Pearson": standard} | {
        name: {m: accuracy[m, name] for m in RANKED} for name in ("mean-all", "mean-adequacy", "mean-fluency")
    }
    table("Rank among the metrics", ["metric", *(f"{name} (rank)" for name in columns)])
    for metric in sorted(RANKED, key=lambda m: -standard[m]):
        line(
            metric,
            [f"{own[metric]:.3f} ({1 + sum(v > own[metric] for v in own.values())})" for own in columns.values()],
        )
    values = [np.array([own[m] for m in RANKED]) for own in columns.values()]
    for name, other in zip(list(columns)[1:], values[1:], strict=True):
        tau = ng.correlation("kendall_b", values[0], other)
        print(f"\nKendall's tau-b of {len(RANKED)} metrics, WMT16 and {name}: {tau.value:.3f}")


def weights(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """What a weight costs that was chosen on the other sets, beside the best weight on the set itself."""
    rated = [ng.read(data / name / "segments.jsonl.gz") for name in ("wmt15-da-seg", "wmt16-da-seg")]
    sets = [replace(dataset, segments=dataset.segments[::SEGMENTS]) for dataset in rated]
    suites = [sampled(data, name) for name in ("xpaws-fr-adv", "xpaws-zh-adv")]
    names = {spec: name for name, spec in both(heads).items()}
    found = ng.sweep(sets, suites, ["chrf", "bertscore"], [*names], criterion="da_z", intervals="none", runtime=runtime)
    table("Weights left out", ["metric", "with", "set", "suite", "chosen on the others", "gains there"])
    rows = [r for r in found.rows if r["left_out"] and r["group"] == "mean"]
    for r in rows:
        gains = f"{100 * r['gain_correlation']:+.1f} % / {100 * r['gain_accuracy']:+.1f} %"
        held = [Path(str(r[name])).parent.name for name in ("dataset", "suite")]
        line(r["metric"], [names[r["with"]], *held, f"{r['weight']:g}", gains])


def summaries(data: Path, runtime: ng.Runtime, heads: Heads) -> None:
    """SummEval: Kendall's tau-b of 16 systems and by text; each reference is scored alone, then mean or maximum."""
    dataset = ng.read(data / "summeval" / "segments.jsonl.gz")
    alone = ng.Dataset(
        tuple(
            replace(s, id=f"{s.id}/{j}", references=(s.references[j],), source=None)
            for s in dataset.segments
            for j in range(REFERENCES)
        )
    )
    scores: dict[str, Array] = {}
    for metric, found in scored(alone, UNTRAINED, runtime).items():
        scores |= {f"{metric}, {name}": fold(found.values) for name, fold in FOLDS.items()}
    p = probabilities("nli:direction=backward", alone, runtime)
    for name, fold in FOLDS.items():
        e, c = fold(p["e"]), fold(p["c"])
        scores |= {f"nli e-c backward, {name}": e - c, f"nli e backward, {name}": e, f"nli -c backward, {name}": -c}
        scores[f"0.2 nli + 0.8 bertscore, {name}"] = mixed(e - c, scores[f"bertscore, {name}"])
    source = probabilities("nli:anchor=source,direction=forward", dataset, runtime)
    scores |= {"nli -c forward, source": -source["c"], "nli e-c forward, source": source["e"] - source["c"]}
    by_criterion("SummEval, 16 systems", dataset, scores, stats=["kendall_b"], level="system")
    by_criterion("SummEval, by text", dataset, scores, stats=["kendall_b"], level="item")


FOLDS: dict[str, Callable[[Array], Array]] = {
    "mean": lambda values: values.reshape(-1, REFERENCES).mean(axis=1),
    "max": lambda values: values.reshape(-1, REFERENCES).max(axis=1),
}


def scored(dataset: ng.Dataset, metrics: Sequence[str], runtime: ng.Runtime) -> Mapping[str, ng.Scores]:
    return ng.score(dataset, metrics=list(metrics), runtime=runtime)


def mixed(nli: Array, other: Array, weight: float = 0.2) -> Array:
    """The weighted sum, each scaled by its lowest and highest value."""
    scaled = [(values - values.min()) / (values.max() - values.min()) for values in (nli, other)]
    return weight * scaled[0] + (1 - weight) * scaled[1]


def by_criterion(title: str, dataset: ng.Dataset, scores: Mapping[str, Array], **asks: Any) -> None:
    """A table of correlations with each criterion, and their mean."""
    found = ng.meta_evaluate(dataset, scores=scores, criterion="all", draws=200, **asks)
    by = {(r["metric"], r["criterion"]): r for r in found.rows if r["group"] == "mean"}
    criteria = [c for c in dict.fromkeys(c for _, c in by) if c != "mean"]
    table(title, ["metric", *criteria, "mean"])
    for metric in scores:
        own = [by[metric, c] for c in criteria]
        line(metric, [*map(cell, own), f"{np.mean([r['value'] for r in own]):.3f}"])


def both(heads: Heads) -> Heads:
    """Name -> specification with the paper's mean of the directions."""
    return {name: f"{start}direction=both" for name, start in heads.items()}


def cell(row: Mapping[str, Any], value: str = "value") -> str:
    shown = f"{row[value]:.3f}"
    return shown if np.isnan(row["low"]) else f"{shown} [{row['low']:.2f}, {row['high']:.2f}]"


def table(title: str, columns: Sequence[str]) -> None:
    print(f"\n{title}:\n\n| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}")


def line(name: str, cells: Sequence[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


TABLES = {
    "facts": facts,
    "text": text,
    "systems": systems,
    "complex": complex_attack,
    "attacks": attacks,
    "ranks": ranks,
    "weights": weights,
    "summaries": summaries,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--head", action="append", default=[], metavar="NAME=FILE", help="a further NLI head")
    parser.add_argument("--cache", help="file that keeps the scores")
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    heads = {head: f"{head}:" for head in HEADS}
    heads |= {name: f"nli:model={quote(file)}," for name, _, file in (head.partition("=") for head in given.head)}
    for name, show in TABLES.items():
        if given.only in (None, name):
            show(given.data, ng.Runtime(cache=given.cache, dtype=given.dtype), heads)


if __name__ == "__main__":
    main()
