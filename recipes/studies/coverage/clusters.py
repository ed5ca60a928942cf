"""Do the intervals of preference audits hold where several pairs come from one sentence? Real pairs, drawn by sentence.

    python recipes/studies/coverage/clusters.py DATA/xpaws-fr-adv/adversarial.jsonl.gz -m chrf -m bleu
    python recipes/studies/coverage/clusters.py DATA/wmt16-da-seg/segments.jsonl.gz --made -m chrf -m bleu

All pairs of the file are the population. 100 sentences are drawn from it with replacement, with all their pairs, and
audited. The share of samples is printed in which the 95 % interval holds the accuracy of the population, for each
phenomenon and for the means over phenomena. `apart` is the same with every pair as if it stood alone.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import replace

import numpy as np

import nlgauge as ng
from nlgauge.audits.preference import Sides, preference_rows
from nlgauge.core.suite import Suite

PHENOMENON = "a phenomenon (mean)"


def suite_of(path: str, made: bool, items: int) -> Suite:
    """The pairs of a file, or those that `nlgauge.suite` makes of the first items of a data set."""
    if not made:
        return ng.read_suite(path)
    first = {s.item: replace(s, group=None) for s in reversed(ng.read(path).segments)}
    return ng.suite("menli", ng.Dataset(tuple(list(first.values())[:items])), seed=0)


def shares(suite: Suite, sides: Sides, sentences: int, draws: int, apart: bool) -> dict[str, float]:
    """Row -> share of samples whose interval holds the population's accuracy."""
    pairs = [suite.pairs[place] for place in sides.places]
    truth = {(row.group, row.phenomenon): row.accuracy for row in preference_rows(suite, sides, distances=False)}
    places: dict[tuple[str, str], list[int]] = {}
    for i, pair in enumerate(pairs):
        places.setdefault(pair.origin, []).append(i)
    origins, rng = list(places.values()), np.random.default_rng(0)
    held: dict[str, list[bool]] = {}
    for _ in range(draws):
        drawn = [(k, i) for k, o in enumerate(rng.integers(len(origins), size=sentences)) for i in origins[o]]
        own = [replace(pairs[i], id=str(j), cluster=str(j if apart else k)) for j, (k, i) in enumerate(drawn)]
        where = [i for _, i in drawn]
        sample = replace(
            sides, places=tuple(range(len(own))), better=sides.better[where], worse=sides.worse[where], ids=(), flags={}
        )
        for row in preference_rows(Suite(tuple(own)), sample, distances=False):
            if row.group == suite.groups[0] or row.group == "all":
                name = row.phenomenon if row.n_phenomena is not None else PHENOMENON
                known = truth[row.group, row.phenomenon]
                if 0 < known < 1:  # what never fails is held by any interval
                    held.setdefault(name, []).append(row.low <= known <= row.high)
    return {name: float(np.mean(own)) for name, own in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("-m", "--metric", action="append", required=True)
    parser.add_argument("--made", action="store_true", help="make the pairs from texts, as nlgauge.suite does")
    parser.add_argument("--items", type=int, default=600)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--draws", type=int, default=1000)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    suite = suite_of(args.file, args.made, args.items)
    found = ng.audit(suite, args.metric)
    print(f"{len(suite)} pairs of {len({pair.origin for pair in suite})} sentences; {args.sentences} in a sample")
    print(f"{'metric':10} {'row':22} {'by sentence':>11} {'apart':>7}")
    for spec, sides in found.sides.items():
        whole, apart = (shares(suite, sides, args.sentences, args.draws, one) for one in (False, True))
        for name in whole:
            print(f"{spec:10} {name:22} {whole[name]:11.3f} {apart[name]:7.3f}")


if __name__ == "__main__":
    main()
