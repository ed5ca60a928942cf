"""Do our rules find the same metrics blind as errors that people planted?

For each kind of error of a published suite that one of our perturbations also makes, the perturbation is applied to
the suite's own good texts. Both sets of pairs are given to METRICS, and the rankings of the metrics by failures
(lost or tied pairs) are compared: Kendall's tau-b between the two rankings, its 95 % interval over resampled pairs, and
the tau that two halves of the suite's own pairs have on average, which is about as much as any rule could reach.

    python recipes/studies/suites.py hwtsc22 FILE_OR_FOLDER [--cache FILE] [--examples 3] [-o TABLE.tsv]
    python recipes/studies/suites.py bump FILE_OR_FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import nlgauge as ng
from nlgauge.stats.coefficients import kendall_b

NGRAMS = ("bleu", "chrf", "chrf++", "wordf", "gleu", "rouge1", "rouge2", "rougeL", "meteor", "ribes")
METRICS = {"hwtsc22": (*NGRAMS, "ter", "wer", "eed", "cosine", "bertscore"), "bump": NGRAMS}
RULES = {  # phenomenon of the suite -> perturbations that make such an error
    "hwtsc22": {
        "number_error": ("number_error", "change_numbers"),
        "date_time": ("change_numbers",),
        "name_error": ("name_error", "perturb_entities:kind=name", "drop_named_entities"),
        "negation": ("negation", "negation:mode=remove", "negation:mode=add"),
    },
    "bump": {
        "extrinsic_entity": ("perturb_entities:kind=name", "mismatch_noun"),
        "intrinsic_entity": ("perturb_entities:kind=name", "swap_objects"),
        "extrinsic_predicate": ("mismatch_verb", "antonyms"),
        "intrinsic_predicate": ("mismatch_verb", "negation"),
        "extrinsic_circumstance": ("change_numbers",),
        "intrinsic_circumstance": ("change_numbers",),
        "coreference": ("pronoun_error", "change_gender"),
    },
}
DRAWS, LEAST = 200, 20  # resamples of pairs; pairs below which nothing is said


def failures(suite: ng.Suite, metrics: Sequence[str], runtime: ng.Runtime) -> np.ndarray:
    """Whether each metric fails on each pair, shape (metrics, pairs)."""
    found = ng.audit(suite, metrics=list(metrics), design="preference", runtime=runtime)
    return np.array([~(sides.margin > 0) for sides in found.sides.values()])


def damaged(suite: ng.Suite, rule: str) -> ng.Suite | None:
    """The good texts of a suite beside the same texts after a perturbation; None if it applies to too few."""
    made = ng.perturb(rule, [pair.better for pair in suite], seed=0)
    pairs = [replace(pair, worse=new.text) for pair, new in zip(suite, made, strict=True) if new is not None]
    return replace(suite, pairs=tuple(pairs)) if len(pairs) >= LEAST else None


def tau(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Agreement of two rankings by failures, each from outcomes of shape (metrics, pairs)."""
    return float(kendall_b(ours.mean(axis=1), theirs.mean(axis=1)))


def interval(ours: np.ndarray, theirs: np.ndarray, rng: np.random.Generator) -> tuple[float, float]:
    """The middle 95 % of tau over resampled pairs."""
    taus = []
    for _ in range(DRAWS):
        a, b = (x[:, rng.integers(x.shape[1], size=x.shape[1])] for x in (ours, theirs))
        taus.append(tau(a, b))
    low, high = np.nanpercentile(taus, [2.5, 97.5])
    return float(low), float(high)


def ceiling(theirs: np.ndarray, rng: np.random.Generator) -> float:
    """The mean tau of random halves of the suite's own pairs."""
    n = theirs.shape[1]
    halves = (rng.permutation(n) for _ in range(DRAWS))
    return float(np.nanmean([tau(theirs[:, half[: n // 2]], theirs[:, half[n // 2 :]]) for half in halves]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=list(RULES))
    parser.add_argument("data")
    parser.add_argument("-m", "--metric", action="append", help="in place of METRICS")
    parser.add_argument("--only", choices=sorted({name for rules in RULES.values() for name in rules}), help="one kind")
    parser.add_argument("--cache", help="file of kept scores")
    parser.add_argument("--examples", type=int, default=0, help="show so many damaged texts of each rule")
    parser.add_argument("-o", "--output", help="write shares of failures as TSV")
    options = parser.parse_args()
    metrics = options.metric or METRICS[options.suite]
    runtime = ng.Runtime(cache=options.cache) if options.cache else ng.Runtime()
    rng = np.random.default_rng(0)
    whole = ng.read_suite(options.data, layout=options.suite)
    lines = [("phenomenon", "rule", "n theirs", "n ours", *metrics)]
    print(
        "| phenomenon | rule | pairs, theirs | ours | failures, theirs | ours | tau | 95 % interval | tau of halves |"
    )
    print("|---|---|---:|---:|---:|---:|---:|---|---:|")
    for phenomenon, rules in RULES[options.suite].items():
        if options.only not in (None, phenomenon):
            continue
        part = replace(whole, pairs=tuple(pair for pair in whole if pair.phenomenon == phenomenon))
        theirs = failures(part, metrics, runtime)
        top = ceiling(theirs, rng)
        lines.append((phenomenon, "", len(part), "", *theirs.mean(axis=1)))
        for rule in rules:
            made = damaged(part, rule)
            if made is None:
                print(f"| {phenomenon} | {rule} | {len(part)} | under {LEAST} | | | | | |", flush=True)
                continue
            ours = failures(made, metrics, runtime)
            low, high = interval(ours, theirs, rng)
            print(
                f"| {phenomenon} | `{rule}` | {len(part)} | {len(made)} | {theirs.mean():.2f} | {ours.mean():.2f}"
                f" | {tau(ours, theirs):.2f} | [{low:.2f}, {high:.2f}] | {top:.2f} |",
                flush=True,
            )
            lines.append((phenomenon, rule, len(part), len(made), *ours.mean(axis=1)))
            for pair in made.pairs[: options.examples]:
                print(f"  {pair.better}\n  {pair.worse}\n")
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            for line in lines:
                file.write("\t".join(f"{x:.3f}" if isinstance(x, float) else str(x) for x in line) + "\n")


if __name__ == "__main__":
    main()
