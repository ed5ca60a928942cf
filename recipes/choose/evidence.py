"""Collect what `choose` measures on each rated public set, without its ratings, and how each metric agrees with people.

    python recipes/choose/evidence.py DATA -o evidence.jsonl [--cache FILE]

One line per set. It takes some 20 minutes of one core after `table.py` with the same cache; `study.py` reads it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from sets import rated_sets

import nlgauge as ng
from nlgauge.choosing.candidates import tried
from nlgauge.choosing.known import profile_of
from nlgauge.choosing.measure import measured
from nlgauge.choosing.people import agreement, rated_pairs
from nlgauge.choosing.sample import sampled
from nlgauge.choosing.trials import make_trials
from nlgauge.metrics.registry import metric, named
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.cache import ScoreCache


def main() -> None:
    """Write the evidence, set by set; sets that are in the file already are passed by."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("choose.sqlite"))
    typed = parser.parse_args()
    runtime = ng.Runtime(cache=ScoreCache(typed.cache))
    lines = typed.output.read_text(encoding="utf-8").splitlines() if typed.output.exists() else []
    done = {json.loads(line)["set"] for line in lines}
    for one in rated_sets(typed.data):
        if one.name in done:
            continue
        sample = sampled(one.dataset, limit=240)
        trials = make_trials(sample, one.task)
        names = tried(one.task, sample.segments)
        found = measured(sample, trials, named(names), None, 0, runtime)
        pairs = rated_pairs(one.dataset.segments, one.ratings)
        people = {}
        for spec in found.left:
            scores = score_segments({spec: metric(spec)}, one.dataset.segments, runtime)[spec]
            share = agreement(scores.values * (1 if scores.higher_is_better else -1), pairs)
            people[spec] = None if share is None else [share.value, share.low, share.high, share.n]
        profile = asdict(profile_of(sample, one.task, runtime, found.scores.get("chrf")))
        evidence = [[e.metric, e.criterion, e.value, e.n] for e in found.evidence if e.criterion != "public"]
        row = {"set": one.name, "profile": profile, "people": people, "evidence": evidence, "out": found.out}
        with typed.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(one.name, len(names), found.out, flush=True)


if __name__ == "__main__":
    main()
