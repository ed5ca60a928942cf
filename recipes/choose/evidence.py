"""Collect what `choose` measures on each rated public set, without its ratings, and how each metric agrees with people.

    python recipes/choose/evidence.py DATA -o evidence.jsonl [--cache FILE]

One line per set. It takes some 20 minutes of one core after `table.py` with the same cache; `study.py` reads it.
Agreement is that on outputs, and where a set has systems that on systems, too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from sets import Rated, rated_sets

import nlgauge as ng
from nlgauge.choosing.evidence import tried, unreadable
from nlgauge.choosing.measure import measured
from nlgauge.choosing.trials import Grid, agreement, grid_of, make_trials, profile_of, rated_pairs, sampled
from nlgauge.core.scores import Scores
from nlgauge.metrics.registry import metric, named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.cache import ScoreCache
from nlgauge.stats import pairwise
from nlgauge.stats.draws import observed

# What one may take always, on summaries too, where `choose` does not.
FIXED = ("bleu", "nli-robust", "rated", "sescore")


def main() -> None:
    """Write the evidence, set by set; sets that are in the file already are passed by."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("choose.sqlite"))
    parser.add_argument("--sets", nargs="*", help="only these sets")
    parser.add_argument("--only", nargs="*", help="how these metrics agree with people, and no evidence: minutes")
    typed = parser.parse_args()
    runtime = ng.Runtime(cache=ScoreCache(typed.cache))
    lines = typed.output.read_text(encoding="utf-8").splitlines() if typed.output.exists() else []
    done = {json.loads(line)["set"] for line in lines}
    for one in rated_sets(typed.data, study=True):
        if one.name in done or (typed.sets and one.name not in typed.sets):
            continue
        sample = sampled(one.dataset, limit=240)
        if typed.only:
            out, _ = unreadable(named(typed.only), sample.segments)
            candidates, evidence, chrf = [spec for spec in typed.only if spec not in out], [], None
        else:
            trials, tasked = make_trials(sample, one.task), named(tried(one.task, sample.segments))
            found = measured(sample, trials, tasked, None, 0, runtime)
            out, candidates, chrf = found.out, found.left, found.scores.get("chrf")
            evidence = [[e.metric, e.criterion, e.value, e.n] for e in found.evidence if e.criterion != "public"]
        also = FIXED if one.name == "summeval" and not typed.only else ()
        scored = {spec: metric(spec) for spec in (*candidates, *also)}
        on = score_segments(scored, one.dataset.segments, runtime)
        people = {spec: on_outputs(one, scores) for spec, scores in on.items()}
        systems = {}
        if one.systems is not None:
            whole = score_segments(scored, one.systems.segments, runtime)
            systems = {spec: on_systems(one, scores) for spec, scores in whole.items()}
        row = {
            **{"set": one.name, "profile": asdict(profile_of(sample, one.task, runtime, chrf))},
            **{"candidates": candidates, "people": people, "systems": systems, "evidence": evidence, "out": out},
            "signatures": {spec: str(scores.signature) for spec, scores in on.items()},
        }
        with typed.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(one.name, *candidates, out, flush=True)


def on_outputs(one: Rated, scores: Scores) -> Sequence[float] | None:
    """The share of pairs of outputs that a metric orders as people do, its interval, and the number of outputs."""
    pairs = rated_pairs(one.dataset.segments, one.ratings)
    share = agreement(scores.values * (1 if scores.higher_is_better else -1), pairs)
    return None if share is None else [share.value, share.low, share.high, share.n]


def on_systems(one: Rated, scores: Scores) -> Sequence[float]:
    """The share of pairs of systems that the score of the sample orders as the mean of all ratings does, and pairs.

    Only items that every system answers count.
    """
    assert one.systems is not None
    grid = grid_of(one.systems.segments, len(one.systems))
    assert isinstance(grid, Grid)
    metric_says = observed(scores.segment_stats[grid.places], scores.finish) * (1 if scores.higher_is_better else -1)
    people_say = np.array([one.people[name or ""] for name in grid.systems])
    n = len(grid.systems)
    return [float(pairwise(metric_says, people_say, ties="half").value), n * (n - 1) // 2]


if __name__ == "__main__":
    main()
