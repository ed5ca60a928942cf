"""Collect how some metrics agree with people on each rated public set, on outputs and on systems.

    python recipes/choose/evidence.py DATA -o agreement.jsonl --only bleu chrf ... [--sets NAME ...] [--cache FILE]

One line per set; `study.py` reads it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from pairs import agreement, rated_pairs, sampled
from sets import Rated, rated_sets

import nlgauge as ng
from nlgauge.choosing.known import item_of, unreadable
from nlgauge.choosing.public import profile_of
from nlgauge.core.scores import Scores
from nlgauge.metrics.registry import metric, named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.cache import ScoreCache
from nlgauge.stats import pairwise
from nlgauge.stats.draws import observed


def main() -> None:
    """Write the evidence, set by set; sets that are in the file already are passed by."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("choose.sqlite"))
    parser.add_argument("--sets", nargs="*", help="only these sets")
    parser.add_argument("--only", nargs="+", required=True, help="the metrics")
    typed = parser.parse_args()
    runtime = ng.Runtime(cache=ScoreCache(typed.cache))
    lines = typed.output.read_text(encoding="utf-8").splitlines() if typed.output.exists() else []
    done = {json.loads(line)["set"] for line in lines}
    for one in rated_sets(typed.data, study=True):
        if one.name in done or (typed.sets and one.name not in typed.sets):
            continue
        sample = sampled(one.dataset, 240)
        out, _ = unreadable(named(typed.only), sample.segments)
        candidates = [spec for spec in typed.only if spec not in out]
        scored = {spec: metric(spec) for spec in candidates}
        on = score_segments(scored, one.dataset.segments, runtime)
        people = {spec: on_outputs(one, scores) for spec, scores in on.items()}
        systems = {}
        if one.systems is not None:
            whole = score_segments(scored, one.systems.segments, runtime)
            systems = {spec: on_systems(one, scores) for spec, scores in whole.items()}
        row = {
            **{"set": one.name, "profile": asdict(profile_of(sample.segments, one.task, runtime))},
            **{"candidates": candidates, "people": people, "systems": systems},
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
    names = [name or "" for name in one.systems.systems]
    answers: dict[tuple[str | None, str], dict[str, int]] = {}
    for place, s in enumerate(one.systems):
        answers.setdefault(item_of(s), {}).setdefault(s.system or "", place)
    whole = [row for row in answers.values() if len(row) == len(names)]
    places = np.array([[row[name] for row in whole] for name in names])
    metric_says = observed(scores.segment_stats[places], scores.finish) * (1 if scores.higher_is_better else -1)
    people_say = np.array([one.people[name] for name in names])
    n = len(names)
    return [float(pairwise(metric_says, people_say, ties="half").value), n * (n - 1) // 2]


if __name__ == "__main__":
    main()
