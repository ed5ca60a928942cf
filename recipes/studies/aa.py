"""Does `nlgauge gate --aa` state the rates that hold? Simulated judges, of which new runs are made.

    python recipes/studies/aa.py > docs/studies/gate_aa.tsv        # some seven minutes on one core

A judge scores the same texts in a few runs. What `--aa` states of these runs is held against new pairs of runs of the
same judge: how often the gate said FAIL and PASS of them, and what it would have said with the allowance that was
stated. There are 1,000 judges, of five kinds; the last kind has runs that are mild or severe as a whole.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nlgauge.core.segment import Segment
from nlgauge.gating import aa
from nlgauge.gating.outputs import Outputs, ScoredSide
from nlgauge.gating.verdicts import Rules, judge
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.gates import FAIL, PASS

Floats = npt.NDArray[np.float64]
Runs = Callable[[np.random.Generator, int], Floats]  # generator and runs -> scores, shape (runs, items)
SPEC = "human.judge"
JUDGES, STATED, NEW = 200, 100, 100  # of each kind; simulated pairs and new pairs of each judge


def noisy(rng: np.random.Generator, n: int) -> Runs:
    """Scores from 0 to 1 with the same noise for all items."""
    quality = rng.beta(4, 2, n)
    return lambda own, r: np.clip(quality + own.normal(0, 0.08, (r, n)), 0, 1)


def grades(rng: np.random.Generator, n: int) -> Runs:
    """Grades of 1 to 5; a third of the items are between two of them."""
    low, between = rng.integers(1, 5, n), np.where(rng.random(n) < 1 / 3, rng.random(n), 0)
    return lambda own, r: low + (own.random((r, n)) < between).astype(float)


def passing(rng: np.random.Generator, n: int) -> Runs:
    """Pass or fail, each item with a chance of its own."""
    chance = rng.beta(2, 1, n)
    return lambda own, r: (own.random((r, n)) < chance).astype(float)


def settled(rng: np.random.Generator, n: int) -> Runs:
    """Pass or fail; four items of five are always judged alike."""
    chance = np.where(rng.random(n) < 0.8, rng.random(n) < 0.7, rng.random(n))
    return lambda own, r: (own.random((r, n)) < chance).astype(float)


def moody(rng: np.random.Generator, n: int) -> Runs:
    """As `noisy`, but each run is milder or more severe as a whole."""
    plain = noisy(rng, n)
    return lambda own, r: np.clip(plain(own, r) + own.normal(0, 0.02, (r, 1)), 0, 1)


KINDS = (  # name, judge, runs, items, rules
    ("noise of .08, scores from 0 to 1", noisy, 2, 100, Rules(allow=0.02, scale=(0.0, 1.0))),
    ("grades of 1 to 5, a third in between", grades, 3, 100, Rules(allow=0, scale=(1.0, 5.0))),
    ("pass or fail, by chance", passing, 3, 200, Rules(allow=0.1)),
    ("pass or fail, four of five settled; items fixed", settled, 5, 200, Rules(allow=0.01, items="fixed")),
    ("noise of .08, and of .02 of whole runs", moody, 5, 100, Rules(allow=0.02, scale=(0.0, 1.0))),
)


def outputs(name: str, scores: Floats) -> Outputs:
    """A run of the judge, on texts that stay the same."""
    ids = map(str, range(len(scores)))
    return Outputs(
        name, {i: (Segment(i, "text", item=i, human={"judge": float(x)}),) for i, x in zip(ids, scores, strict=True)}
    )


def rates(runs: Runs, rng: np.random.Generator, n_runs: int, rules: Rules) -> list[float]:
    """FAIL and PASS, stated and true; true FAIL and PASS at the stated allowances; whether the note of Q came."""
    metrics = named([SPEC], None)
    at_hand = [outputs(f"run {i}", scores) for i, scores in enumerate(runs(rng, n_runs))]
    row = aa.aa_test(at_hand, metrics, rules, Runtime()).rows[0]
    new = [[ScoredSide(at_hand[0], {SPEC: [*x[:, None]]}, {SPEC: "judge"}) for x in runs(rng, 2)] for _ in range(NEW)]
    bounds = [
        judged[SPEC][2] for judged in judge(metrics, [(base, other) for base, other in new], rules, has_power=False)
    ]
    true = [float(np.mean([bound.verdict == verdict for bound in bounds])) for verdict in (FAIL, PASS)]
    failing = np.mean([bound.high < -row["allow_few_fail"] for bound in bounds])
    passes = math.nan
    if row["allow_most_pass"] is not None:
        passes = np.mean([bound.low > -row["allow_most_pass"] for bound in bounds])
    return [row["fail"], true[0], row["pass"], true[1], float(failing), float(passes), float(row["q_p"] <= 0.05)]


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    aa.SIMULATED = STATED
    stated = ("FAIL stated", "FAIL true", "PASS stated", "PASS true")
    print("judges", "runs", "items", "allow", *stated, "FAIL at its allowance", "PASS at its", "note of Q", sep="\t")
    for place, (name, made, n_runs, n, rules) in enumerate(KINDS):
        found = []
        for seed in range(JUDGES):
            rng = np.random.default_rng([place, seed])
            found.append(rates(made(rng, n), rng, n_runs, rules))
        print(name, n_runs, n, rules.allow, *(f"{one:.3f}" for one in np.nanmean(found, axis=0)), sep="\t", flush=True)


if __name__ == "__main__":
    main()
