"""How much agreement with people does the rule of `choose` lose against the best metric in hindsight?

    python recipes/choose/study.py evidence.jsonl

`evidence.py` makes the file. Of each set the public figures of its own family (WMT16, TED, ...) are left out, and where
weights are fitted, they are fitted to the other families.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from nlgauge.choosing.evidence import APART, ASPECTS, COPIES, ERRORS, HARMLESS, PUBLIC
from nlgauge.choosing.known import PublicSet, nearest, public_evidence, public_sets
from nlgauge.choosing.rule import BY_TASK, weights_of
from nlgauge.stats.correlation.coefficients import spearman

LEARNT = ("wmt15", "rated")  # a head and the ratings that it has learnt from
FALLBACK = "chrf"  # of a fixed choice that cannot score a set, as German
KINDS = (PUBLIC, "errors", COPIES, HARMLESS, APART)
SHIPPED = (8.0, 2.0, 0.5, 0.5, 0.5)
GRID = ((0.0, 2.0, 8.0, 32.0), (0.0, 1.0, 2.0, 4.0), (0.0, 0.5, 2.0), (0.0, 0.5, 2.0), (0.0, 0.5, 2.0))
Chooser = Callable[["Set"], str]


@dataclass(frozen=True)
class Set:
    """One set: its family, the share of pairs that each metric orders as people do, and the evidence by kind."""

    name: str
    family: str
    people: Mapping[str, float]
    shares: Mapping[str, Mapping[str, float]]  # metric -> kind -> share

    def standing(self, spec: str, weights: Sequence[float]) -> float:
        """The weighted mean; a metric without evidence of a kind has the lowest of the others there."""
        known = [kind for kind in KINDS if any(kind in own for own in self.shares.values())]
        lowest = {kind: min(own[kind] for own in self.shares.values() if kind in own) for kind in known}
        pairs = [(w, kind) for w, kind in zip(weights, KINDS, strict=True) if kind in known and w]
        total = sum(w for w, _ in pairs)
        return sum(w * self.shares[spec].get(kind, lowest[kind]) for w, kind in pairs) / total if total else 0.5

    def best(self, weights: Sequence[float]) -> str:
        """The metric with the highest standing."""
        return max(self.people, key=lambda spec: self.standing(spec, weights))

    def regret(self, spec: str | None) -> float:
        """What the best metric in hindsight has more; of None, a metric at random."""
        own = float(np.mean([*self.people.values()])) if spec is None else self.people[spec]
        return max(self.people.values()) - own


def read(path: Path) -> list[Set]:
    """The sets of the file."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        family = row["set"].split("-")[0]
        profile = PublicSet(**row["profile"])
        near = nearest(profile, of_family(family))
        people = {spec: share[0] for spec, share in row["people"].items() if share and (family, spec) != LEARNT}
        shares: dict[str, dict[str, float]] = {spec: {} for spec in people}
        weights = BY_TASK[profile.task]
        for spec in people:
            own = {kind: value for metric, kind, value, _ in row["evidence"] if metric == spec}
            errors = [(weights[a], own[ERRORS + a]) for a in ASPECTS if ERRORS + a in own]
            if errors:
                shares[spec]["errors"] = sum(w * v for w, v in errors) / sum(w for w, _ in errors)
            shares[spec] |= {kind: own[kind] for kind in (COPIES, HARMLESS, APART) if kind in own}
            public = public_evidence(spec, near)
            if public is not None:
                shares[spec][PUBLIC] = public.value
        found.append(Set(row["set"], family, people, shares))
    return found


def of_family(family: str) -> list[str]:
    """The names of the public sets of a family."""
    return [one.name for one in public_sets() if one.name.split("-")[0] == family]


def fitted(sets: Sequence[Set]) -> Callable[[Set], str]:
    """Weights fitted to all families but that of the set."""
    choices = [w for w in itertools.product(*GRID) if any(w)]
    losses = {w: np.array([s.regret(s.best(w)) for s in sets]) for w in choices}
    families = np.array([s.family for s in sets])

    def chosen(one: Set) -> str:
        others = families != one.family
        return one.best(min(choices, key=lambda w: (by_family(losses[w][others], families[others]), w != SHIPPED)))

    return chosen


def by_family(values: np.ndarray, families: np.ndarray) -> float:
    """The mean over families of the mean over their sets."""
    return float(np.mean([values[families == family].mean() for family in dict.fromkeys(families.tolist())]))


def sign_flips(gaps: np.ndarray) -> float:
    """Two-sided p of the mean of differences of F families, over all 2^F signs."""
    signs = np.array([*itertools.product((1, -1), repeat=len(gaps))])
    return float((np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-12).mean())


def main() -> None:
    """Print the tables of the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("evidence", type=Path)
    sets = read(parser.parse_args().evidence)
    often = [
        spec for spec in dict.fromkeys(m for s in sets for m in s.people) if sum(spec in s.people for s in sets) > 9
    ]
    zero = [tuple(0.0 if i == j else w for j, w in enumerate(SHIPPED)) for i in range(len(KINDS))]
    choosers: dict[str, Callable[[Set], str | None]] = {
        "the rule": lambda s: s.best(SHIPPED),
        "weights fitted to other families": fitted(sets),
        "errors made on purpose alone": lambda s: s.best((0.0, *SHIPPED[1:])),
        "public figures alone": lambda s: s.best((1.0, 0, 0, 0, 0)),
        **{f"the rule without {kind}": lambda s, w=w: s.best(w) for kind, w in zip(KINDS, zero, strict=True)},
        **{f"always {spec}": lambda s, spec=spec: spec if spec in s.people else FALLBACK for spec in often},
        "any, at random": lambda s: None,
    }
    table(sets, choosers)
    print()
    for s in sets:
        best = max(s.people, key=lambda spec: s.people[spec])
        own = s.best(SHIPPED)
        print(f"{s.name}\t{own} {s.people[own]:.3f}\tbest {best} {s.people[best]:.3f}\tregret {s.regret(own):.3f}")
    print()
    for kind in KINDS:
        carried(sets, kind)
    assert weights_of("mt", None)[PUBLIC] == SHIPPED[0]


def table(sets: Sequence[Set], choosers: Mapping[str, Callable[[Set], str | None]]) -> None:
    """Mean regret of each way to choose, over families, with an interval, and p against the rule."""
    families = np.array([s.family for s in sets])
    names = [*dict.fromkeys(families.tolist())]
    rng = np.random.default_rng(0)
    base: np.ndarray | None = None
    print(f"{len(sets)} sets of {len(names)} families")
    for name, choose in choosers.items():
        regret = np.array([s.regret(choose(s)) for s in sets])
        each = np.array([regret[families == family].mean() for family in names])
        base = each if base is None else base
        drawn = each[rng.integers(len(each), size=(4000, len(each)))].mean(axis=1)
        low, high = np.quantile(drawn, (0.025, 0.975))
        p = "" if name == "the rule" else f"{sign_flips(each - base):.3f}"
        print(f"{name}\t{each.mean():.4f}\t{low:.4f}\t{high:.4f}\t{p}")


def carried(sets: Iterable[Set], kind: str) -> None:
    """Spearman's rho over the metrics of a set between one kind of evidence and agreement with people, mean of sets."""
    values = []
    for s in sets:
        specs = [spec for spec in s.people if kind in s.shares[spec]]
        if len(specs) > 3:
            one, other = (
                np.array([of[spec] for spec in specs]) for of in ({m: s.shares[m][kind] for m in specs}, s.people)
            )
            rho = float(spearman(one, other))
            values += [] if np.isnan(rho) else [(s.family, rho)]
    names = [*dict.fromkeys(family for family, _ in values)]
    each = np.array([np.mean([rho for family, rho in values if family == name]) for name in names])
    drawn = each[np.random.default_rng(0).integers(len(each), size=(4000, len(each)))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    print(f"{kind}\trho {each.mean():.2f} ({low:.2f} to {high:.2f})\t{len(values)} sets of {len(each)} families")


if __name__ == "__main__":
    main()
