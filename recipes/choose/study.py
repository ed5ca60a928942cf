"""How much agreement with people does the rule of `choose` lose against the best metric in hindsight?

    python recipes/choose/study.py evidence.jsonl [--tasks mt d2t]
    python recipes/choose/study.py

`evidence.py` makes the file; without it the public figures of the shipped table are all that the rule has. Of each set
the public figures of its own family (WMT16, TED, ...) are left out, and where weights are fitted, they are fitted to
the other families. Agreement is that on outputs, then that on systems.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sets import of_families

from nlgauge.choosing.evidence import (
    APART,
    ASPECTS,
    COPIES,
    DEFAULTS,
    ERRORS,
    HARMLESS,
    PUBLIC,
    TRIED,
    CriterionShare,
)
from nlgauge.choosing.rule import BY_TASK, stays, weights_of
from nlgauge.choosing.trials import TOGETHER, PublicSet, nearest, public_evidence, public_sets, trust_in
from nlgauge.stats.coefficients import spearman

LEARNT = ("wmt15", "rated")  # a head and the ratings that it has learnt from
FIXED = tuple("bleu chrf meteor ter bertscore cosine gauge nli-robust rated gauge-rated sescore".split())
KINDS = (PUBLIC, "errors", COPIES, HARMLESS, APART)
SHIPPED = (8.0, 2.0, 0.5, 0.5, 0.5)
GRID = ((0.0, 2.0, 8.0, 32.0), (0.0, 1.0, 2.0, 4.0), (0.0, 0.5, 2.0), (0.0, 0.5, 2.0), (0.0, 0.5, 2.0))
OUTPUTS, SYSTEMS = "outputs", "systems"
Chooser = Callable[["Set"], "str | None"]


@dataclass(frozen=True)
class Set:
    """One set.

    Attributes:
        name, family: of the set.
        candidates: the metrics that may be chosen.
        agreement: level -> metric -> the share of pairs of outputs, or of systems, that it orders as people do; of
            systems empty where the set has none. It holds metrics, too, that one may take always but `choose` does not.
        shares: metric -> kind of evidence -> share.
        task: of the set.
        trust: how far the public figures count.
        default: the metric that stays, since public figures tell none from it; None where there is no such metric.
    """

    name: str
    family: str
    candidates: Sequence[str]
    agreement: Mapping[str, Mapping[str, float]]
    shares: Mapping[str, Mapping[str, float]]
    task: str
    trust: float
    default: str | None

    def standing(self, spec: str, weights: Sequence[float]) -> float:
        """The weighted mean; a metric without evidence of a kind has the lowest of the others there."""
        known = [kind for kind in KINDS if any(kind in own for own in self.shares.values())]
        lowest = {kind: min(own[kind] for own in self.shares.values() if kind in own) for kind in known}
        trusted = (self.trust * weights[0], *weights[1:])
        pairs = [(w, kind) for w, kind in zip(trusted, KINDS, strict=True) if kind in known and w]
        total = sum(w for w, _ in pairs)
        return sum(w * self.shares[spec].get(kind, lowest[kind]) for w, kind in pairs) / total if total else 0.5

    def best(self, weights: Sequence[float]) -> str:
        """The candidate with the highest standing."""
        return max(self.candidates, key=lambda spec: self.standing(spec, weights))

    def by_rule(self) -> str:
        """What `choose` takes."""
        return self.default or self.best(SHIPPED)

    def always(self, name: str) -> str | None:
        """The metric of a name here, `gauge:task=as` for `gauge`; None if it cannot score the set, or has learnt it."""
        known = self.agreement[OUTPUTS]
        return next((spec for spec in (name, f"{name}:task=as") if spec in known), None)

    def regret(self, spec: str | None, level: str) -> float:
        """What the best candidate in hindsight has more; of None, a candidate at random. NaN without such a level."""
        known = self.agreement[level]
        if not known:
            return float("nan")
        own = [known[one] for one in self.candidates]
        return max(own) - (float(np.mean(own)) if spec is None else known[spec])


def read(path: Path, tasks: Collection[str] = ()) -> list[Set]:
    """The sets of the file, of all tasks or some."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        family = row["set"].split("-")[0]
        profile = PublicSet(**row["profile"])
        if tasks and profile.task not in tasks:
            continue
        near = nearest(profile, of_families([one.name for one in public_sets()], family))
        people = {spec: share[0] for spec, share in row["people"].items() if share and (family, spec) != LEARNT}
        systems = {spec: share[0] for spec, share in row["systems"].items() if spec in people}
        candidates = [spec for spec in row["candidates"] if spec in people]
        shares: dict[str, dict[str, float]] = {spec: {} for spec in candidates}
        weights = BY_TASK[profile.task]
        for spec in candidates:
            own = {kind: value for metric, kind, value, _ in row["evidence"] if metric == spec}
            errors = [(weights[a], own[ERRORS + a]) for a in ASPECTS if ERRORS + a in own]
            if errors:
                shares[spec]["errors"] = sum(w * v for w, v in errors) / sum(w for w, _ in errors)
            shares[spec] |= {kind: own[kind] for kind in (COPIES, HARMLESS, APART) if kind in own}
        public = publicly(candidates, near)
        for spec, share in public.items():
            shares[spec][PUBLIC] = share.value
        if any(shares.values()):  # else the rule has nothing to choose by
            agreed, kept = {OUTPUTS: people, SYSTEMS: systems}, kept_default(profile.task, candidates, public)
            found.append(Set(row["set"], family, candidates, agreed, shares, profile.task, trust_in(near), kept))
    return found


def publicly(candidates: Iterable[str], near: Sequence[PublicSet]) -> dict[str, CriterionShare]:
    """Metric -> its public figures; empty without sets."""
    own = {spec: public_evidence(spec, near) for spec in candidates} if near else {}
    return {spec: share for spec, share in own.items() if share is not None}


def kept_default(task: str, candidates: Collection[str], public: Mapping[str, CriterionShare]) -> str | None:
    """The default of a task, if public figures tell no better metric from it."""
    default = DEFAULTS.get(task)
    if default not in candidates:
        return None
    return default if stays(default, [*public.values()], [*candidates], {PUBLIC: 1.0}) else None


def from_table() -> list[Set]:
    """The English sets of the shipped table, with public figures as the only evidence.

    Most metrics do not read German, and `choose` leaves them out there. A set without another family of its task is
    left out, too, unless the task has a default.
    """
    found = []
    for one, known in public_sets().items():
        if one.language != "en":
            continue
        figures = {spec: share for spec, share in known.items() if "multilingual" not in spec}
        family = one.name.split("-")[0]
        near = nearest(one, of_families([other.name for other in public_sets()], family))
        public = publicly(figures, near)
        shares = {spec: {PUBLIC: own.value} for spec, own in public.items()}
        if DEFAULTS.get(one.task) in figures:
            shares = {spec: shares.get(spec, {}) for spec in figures if spec in TRIED[one.task]}
        people = {spec: figures[spec].value for spec in shares}
        if shares:
            agreed, kept = {OUTPUTS: people, SYSTEMS: {}}, kept_default(one.task, shares, public)
            found.append(Set(one.name, family, [*shares], agreed, shares, one.task, trust_in(near), kept))
    return found


def deviations() -> tuple[float, float]:
    """How much metrics differ on English sets, and how much one does from family to family, as `trials.py` has them.

    Both are of what a metric has more than the mean of the metrics that every set has, without the error of figures.
    """
    tables = [(one, known) for one, known in public_sets().items() if one.language == "en" and one.task != "as"]
    specs = [spec for spec in FIXED if all(spec in known for _, known in tables)]
    families = np.array([one.name.split("-")[0] for one, _ in tables])
    more = np.array([[known[spec].value for spec in specs] for _, known in tables])
    more -= more.mean(axis=1, keepdims=True)
    error = np.array([[known[spec].high - known[spec].low for spec in specs] for _, known in tables]) / (2 * 1.959964)
    names = [*dict.fromkeys(families.tolist())]
    each = np.array([more[families == name].mean(axis=0) for name in names])
    noise = np.array(
        [((1 - TOGETHER) * error[families == name] ** 2).mean(axis=0) / (families == name).sum() for name in names]
    )
    scatter = each.var(axis=0, ddof=1)
    between = max(0.0, float((scatter - noise.mean(axis=0)).mean()))
    spread = max(0.0, float(each.mean(axis=0).var(ddof=1) - scatter.mean() / len(names)))
    return spread**0.5, between**0.5


def fitted(sets: Sequence[Set], level: str) -> Callable[[Set], str]:
    """Weights fitted to all families but that of the set."""
    sets = [s for s in sets if s.agreement[level]]
    choices = [w for w in itertools.product(*GRID) if any(w)]
    losses = {w: np.array([s.regret(s.best(w), level) for s in sets]) for w in choices}
    families = np.array([s.family for s in sets])

    def chosen(one: Set) -> str:
        others = families != one.family
        return one.best(min(choices, key=lambda w: (by_family(losses[w][others], families[others]), w != SHIPPED)))

    return chosen


def fixed_elsewhere(sets: Sequence[Set], level: str) -> Callable[[Set], str | None]:
    """The one metric with the least regret on the other families of the task."""

    def chosen(one: Set) -> str | None:
        others = [s for s in sets if s.task == one.task and s.family != one.family and s.agreement[level]]
        losses = {}
        for name in FIXED:
            able = [(s.regret(s.always(name), level), s.family) for s in others if s.always(name)]
            if able and one.always(name):
                values, families = zip(*able, strict=True)
                losses[name] = by_family(np.array(values), np.array(families))
        return one.always(min(losses, key=lambda name: losses[name])) if losses else None

    return chosen


def by_family(values: np.ndarray, families: np.ndarray) -> float:
    """The mean over families of the mean over their sets."""
    return float(np.mean([values[families == family].mean() for family in dict.fromkeys(families.tolist())]))


def sign_flips(gaps: np.ndarray) -> float:
    """Two-sided p of the mean of differences of F families, over all 2^F signs."""
    signs = np.array([*itertools.product((1, -1), repeat=len(gaps))])
    return float((np.abs(signs @ gaps) >= abs(gaps.sum()) - 1e-12).mean())


def main() -> None:
    """Print the tables of the study in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("evidence", type=Path, nargs="?")
    parser.add_argument("--tasks", nargs="*", default=(), help="only sets of these tasks: mt, d2t, as")
    typed = parser.parse_args()
    path = typed.evidence
    sets = from_table() if path is None else read(path, typed.tasks)
    for level in (OUTPUTS, SYSTEMS):
        own = [s for s in sets if s.agreement[level]]
        if not own:
            continue
        print(f"\n{level}: {len(own)} sets of {len({s.family for s in own})} families\n")
        ways = choosers(own, level)
        if not any(
            len(known) > 1 for s in own for known in s.shares.values()
        ):  # there is one kind of evidence, so nothing can be left out or fitted
            ways = {
                name: way
                for name, way in ways.items()
                if not name.startswith(("the rule without", "weights", "public"))
            }
        table(own, ways, level)
        print("\n| set | the rule takes | which has | best | which has |\n|---|---|---:|---|---:|")
        for s in own:
            known = {spec: s.agreement[level][spec] for spec in s.candidates}
            best, taken = max(known, key=lambda spec: known[spec]), s.by_rule()
            print(f"| {s.name} | `{taken}` | {share(known[taken])} | `{best}` | {share(known[best])} |")
        print("\n| evidence | rho | interval | sets |\n|---|---:|---|---:|")
        for kind in KINDS:
            carried(own, kind, level)
    if path is None:
        spread, between = deviations()
        print(f"\ndeviation from metric to metric {share(spread)}, of one from family to family {share(between)}")
    if path is not None:
        signatures = [json.loads(line)["signatures"] for line in path.read_text(encoding="utf-8").splitlines()]
        gauge = sorted({one["gauge"] for one in signatures if "gauge" in one})
        print(*(["\nsignatures of `gauge`:", *gauge] if gauge else []), sep="\n")
    assert weights_of("mt", None)[PUBLIC] == SHIPPED[0]


def share(value: float) -> str:
    """A share as pages write it: .018."""
    return f"{value:.3f}".replace("0.", ".", 1)


def choosers(sets: Sequence[Set], level: str) -> dict[str, Chooser]:
    """The ways to choose that are compared; each gives a metric, or None for one at random."""
    zero = [tuple(0.0 if i == j else w for j, w in enumerate(SHIPPED)) for i in range(len(KINDS))]
    return {
        "the rule": Set.by_rule,
        **{f"always {name}": lambda s, name=name: s.always(name) for name in FIXED},
        "always the best of the other families of the task": fixed_elsewhere(sets, level),
        "any, at random": lambda s: None,
        **{f"the rule without {kind}": lambda s, w=w: s.best(w) for kind, w in zip(KINDS, zero, strict=True)},
        "public figures alone": lambda s: s.best((1.0, 0, 0, 0, 0)),
        "weights fitted to other families": fitted(sets, level),
    }


def table(sets: Sequence[Set], ways: Mapping[str, Chooser], level: str) -> None:
    """The mean regret of each way to choose over families, with an interval, beside that of the rule on the same sets.

    A metric that one takes always is compared on the sets that it can score. p is that of the difference.
    """
    rng = np.random.default_rng(0)
    print("| choice | families | regret | interval | the rule there | p |\n|---|---:|---:|---|---:|---:|")
    for name, way in ways.items():
        able = [s for s in sets if way(s) is not None or not name.startswith("always")]
        families = np.array([s.family for s in able])
        own, rule = (
            np.array([values[families == one].mean() for one in dict.fromkeys(families.tolist())])
            for values in (
                np.array([s.regret(way(s), level) for s in able]),
                np.array([s.regret(s.by_rule(), level) for s in able]),
            )
        )
        if not len(own):
            continue
        drawn = own[rng.integers(len(own), size=(4000, len(own)))].mean(axis=1)
        low, high = np.quantile(drawn, (0.025, 0.975))
        p = "" if name == "the rule" else f"{sign_flips(own - rule):.3f}".replace("0.", ".", 1)
        interval = f"{share(low)} to {share(high)}"
        print(f"| {name} | {len(own)} | {share(own.mean())} | {interval} | {share(rule.mean())} | {p} |")


def carried(sets: Iterable[Set], kind: str, level: str) -> None:
    """Spearman's rho over the metrics of a set between one kind of evidence and agreement with people, mean of sets."""
    values = []
    for s in sets:
        specs = [spec for spec in s.candidates if kind in s.shares[spec]]
        if len(specs) > 3:
            one, other = (
                np.array([of[spec] for spec in specs])
                for of in ({m: s.shares[m][kind] for m in specs}, s.agreement[level])
            )
            rho = float(spearman(one, other))
            values += [] if np.isnan(rho) else [(s.family, rho)]
    names = [*dict.fromkeys(family for family, _ in values)]
    if not names:
        return
    each = np.array([np.mean([rho for family, rho in values if family == name]) for name in names])
    drawn = each[np.random.default_rng(0).integers(len(each), size=(4000, len(each)))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    print(f"| `{kind}` | {each.mean():.2f} | {low:.2f} to {high:.2f} | {len(values)} |")


if __name__ == "__main__":
    main()
