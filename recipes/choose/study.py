"""How much agreement with people does the rule of `choose` lose against the best metric in hindsight?

    python recipes/choose/study.py
    python recipes/choose/study.py agreement.jsonl

The rule has the public figures of the shipped table, of each set without those of its own family (WMT16, TED, ...).
With a file of `evidence.py` the sets are those there, with their systems. Agreement is that on outputs, then on
systems.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sets import of_families

from nlgauge.choosing.choose import standings
from nlgauge.choosing.known import DEFAULTS, TRIED
from nlgauge.choosing.public import TOGETHER, Figure, PublicSet, figure_of, nearest, public_sets
from nlgauge.stats.coefficients import spearman

LEARNT = ("wmt15", "rated")  # a head and the ratings that it has learnt from
FIXED = tuple("bleu chrf meteor ter bertscore cosine gauge nli-robust rated gauge-rated sescore".split())
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
        figures: metric -> how far it agrees with people on other sets.
        task: of the set.
        default: the metric that stays, since public figures tell none from it; None where there is no such metric.
    """

    name: str
    family: str
    candidates: Sequence[str]
    agreement: Mapping[str, Mapping[str, float]]
    figures: Mapping[str, Figure]
    task: str
    default: str | None

    def by_rule(self) -> str:
        """What `choose` takes."""
        return self.default or standings(self.figures, self.candidates)[0].metric

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


def read(path: Path) -> list[Set]:
    """The sets of the file."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        family = row["set"].split("-")[0]
        profile = PublicSet(**row["profile"])
        near = nearest(profile, of_families([one.name for one in public_sets()], family))
        people = {spec: share[0] for spec, share in row["people"].items() if share and (family, spec) != LEARNT}
        systems = {spec: share[0] for spec, share in row["systems"].items() if spec in people}
        candidates = [spec for spec in row["candidates"] if spec in people]
        figures = publicly(candidates, near)
        if figures:  # else the rule has nothing to choose by
            agreed, kept = {OUTPUTS: people, SYSTEMS: systems}, kept_default(profile.task, candidates, figures)
            found.append(Set(row["set"], family, candidates, agreed, figures, profile.task, kept))
    return found


def publicly(candidates: Iterable[str], near: Sequence[PublicSet]) -> dict[str, Figure]:
    """Metric -> its public figure; empty without sets."""
    own = {spec: figure_of(spec, near) for spec in candidates} if near else {}
    return {spec: figure for spec, figure in own.items() if figure is not None}


def kept_default(task: str, candidates: Sequence[str], public: Mapping[str, Figure]) -> str | None:
    """The default of a task, if public figures tell no better metric from it."""
    order = standings(public, candidates)
    own = next((one for one in order if one.metric == DEFAULTS.get(task)), None)
    return own.metric if own is not None and (own.lacking or not order[0].is_ahead(own)) else None


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
        able = [spec for spec in figures if spec in TRIED[one.task]] if DEFAULTS.get(one.task) in figures else [*public]
        if able:
            people = {spec: figures[spec].value for spec in able}
            agreed, kept = {OUTPUTS: people, SYSTEMS: {}}, kept_default(one.task, able, public)
            found.append(Set(one.name, family, able, agreed, public, one.task, kept))
    return found


def deviations() -> tuple[float, float]:
    """How much metrics differ on English sets, and how much one does from family to family, which `public.py` has.

    Both are of what a metric has more than the mean of the metrics that every set has, without the error of figures.
    """
    tables = [(one, known) for one, known in public_sets().items() if one.language == "en" and one.task != "as"]
    specs = [spec for spec in FIXED if all(spec in known for _, known in tables)]
    families = np.array([one.name.split("-")[0] for one, _ in tables])
    more = np.array([[known[spec].value for spec in specs] for _, known in tables])
    more -= more.mean(axis=1, keepdims=True)
    error = np.array([[known[spec].error for spec in specs] for _, known in tables])
    names = [*dict.fromkeys(families.tolist())]
    each = np.array([more[families == name].mean(axis=0) for name in names])
    noise = np.array(
        [((1 - TOGETHER) * error[families == name] ** 2).mean(axis=0) / (families == name).sum() for name in names]
    )
    scatter = each.var(axis=0, ddof=1)
    between = max(0.0, float((scatter - noise.mean(axis=0)).mean()))
    spread = max(0.0, float(each.mean(axis=0).var(ddof=1) - scatter.mean() / len(names)))
    return spread**0.5, between**0.5


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
    typed = parser.parse_args()
    path = typed.evidence
    sets = from_table() if path is None else read(path)
    for level in (OUTPUTS, SYSTEMS):
        own = [s for s in sets if s.agreement[level]]
        if not own:
            continue
        print(f"\n{level}: {len(own)} sets of {len({s.family for s in own})} families\n")
        ways = choosers(own, level)
        table(own, ways, level)
        print("\n| set | the rule takes | which has | best | which has |\n|---|---|---:|---|---:|")
        for s in own:
            known = {spec: s.agreement[level][spec] for spec in s.candidates}
            best, taken = max(known, key=lambda spec: known[spec]), s.by_rule()
            print(f"| {s.name} | `{taken}` | {share(known[taken])} | `{best}` | {share(known[best])} |")
        print("\n| evidence | rho | interval | sets |\n|---|---:|---|---:|")
        carried(own, level)
    if path is None:
        spread, between = deviations()
        print(f"\ndeviation from metric to metric {share(spread)}, of one from family to family {share(between)}")


def share(value: float) -> str:
    """A share as pages write it: .018."""
    return f"{value:.3f}".replace("0.", ".", 1)


def choosers(sets: Sequence[Set], level: str) -> dict[str, Chooser]:
    """The ways to choose that are compared; each gives a metric, or None for one at random."""
    return {
        "the rule": Set.by_rule,
        **{f"always {name}": lambda s, name=name: s.always(name) for name in FIXED},
        "always the best of the other families of the task": fixed_elsewhere(sets, level),
        "any, at random": lambda s: None,
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


def carried(sets: Iterable[Set], level: str) -> None:
    """Spearman's rho over the metrics of a set between public figures and agreement with people, mean of sets."""
    values = []
    for s in sets:
        specs = [spec for spec in s.candidates if spec in s.figures]
        if len(specs) > 3:
            one = np.array([s.figures[spec].value for spec in specs])
            other = np.array([s.agreement[level][spec] for spec in specs])
            rho = float(spearman(one, other))
            values += [] if np.isnan(rho) else [(s.family, rho)]
    names = [*dict.fromkeys(family for family, _ in values)]
    if not names:
        return
    each = np.array([np.mean([rho for family, rho in values if family == name]) for name in names])
    drawn = each[np.random.default_rng(0).integers(len(each), size=(4000, len(each)))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    print(f"| public figures | {each.mean():.2f} | {low:.2f} to {high:.2f} | {len(values)} |")


if __name__ == "__main__":
    main()
