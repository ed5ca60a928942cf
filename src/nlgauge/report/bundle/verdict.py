"""What do the results come to? Sentences and one table, for the first screen of a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.kinds.score import digits_of, rank_of, system_name
from nlgauge.report.rows import SIGNIFICANT, Row, absent, by_keys, measured, number, p_of
from nlgauge.report.trust import Fact, Trust, faults_of, trust_of

_FEW = 20  # items: below this an interval is too narrow
_AHEAD, _BEHIND, _LEVEL = "ahead", "behind", "level"
_ODD = (  # flag, and what one metric or several do
    (
        "truncated",
        "cuts some texts, which are too long for its model",
        "cut some texts, which are too long for a model",
    ),
    ("undefined", "has no score for some texts", "have no score for some texts"),
)


@dataclass(frozen=True)
class Cell:
    """A number of the table.

    Attributes:
        text: the number.
        is_best: whether no system has a better one.
        against: `ahead` or `behind` where a test says so, `level` where it does not; empty without a test.
    """

    text: str
    is_best: bool
    against: str


@dataclass(frozen=True)
class Verdict:
    """The verdict on the scores of one result, with what is known of their metrics.

    Attributes:
        link: the part of the page with these scores.
        sentences: who is ahead, what agrees with people, what no metric sees, and what to be careful with.
        metrics: specification and direction of each column.
        lines: name of a system -> one cell for each metric.
        agreement: criterion of people -> what is known for each metric.
        missed: where each metric errs most in audits; empty where there is none.
        tested: whether systems were tested against a baseline.
    """

    link: str
    sentences: tuple[str, ...]
    metrics: tuple[tuple[str, bool], ...]
    lines: Mapping[str, Sequence[Cell | None]]
    agreement: Mapping[str, Sequence[Fact | None]]
    missed: Sequence[Sequence[Fact]]
    tested: bool


def verdict_of(link: str, scored: Result, others: Mapping[str, Result]) -> Verdict:
    """The verdict on the scores of one result.

    Args:
        link: the part of the page with these scores.
        scored: a result of kind `score`.
        others: anchor of its part of the page -> result, for all results of the page.
    """
    trust = trust_of(scored, others)
    specs = [metric["spec"] for metric in scored.metrics]
    lines, order = _lines(scored)
    criteria = dict.fromkeys(fact.about for known in trust.values() for fact in known.agreement)
    audited = any(known.audited for known in trust.values())
    sentences = (*order, *_people(trust, criteria), *_blind(scored, others, audited), *_careful(scored))
    return Verdict(
        link,
        sentences,
        tuple((metric["spec"], metric["higher_is_better"]) for metric in scored.metrics),
        lines,
        {one: [_first(trust[spec].agreement, one) for spec in specs] for one in criteria},
        [trust[spec].faults for spec in specs] if audited else [],
        any(row.get("p") is not None for row in measured(scored.rows)),
    )


def _first(facts: Sequence[Fact], about: str) -> Fact | None:
    return next((fact for fact in facts if fact.about == about), None)


def _lines(scored: Result) -> tuple[dict[str, list[Cell | None]], list[str]]:
    """The cells of each system, and what is said of their order."""
    up = {metric["spec"]: metric["higher_is_better"] for metric in scored.metrics}
    digits = {m["spec"]: digits_of(m, [r for r in scored.rows if r["metric"] == m["spec"]]) for m in scored.metrics}
    rows = measured(scored.rows)
    best: dict[tuple[Any, str], float] = {}
    for (group, spec), own in by_keys(({"group": None, **row} for row in rows), "group", "metric").items():
        values = [row["value"] for row in own if not absent(row["value"])]
        if len(values) > 1:
            best[group, spec] = (max if up[spec] else min)(values)
    lines: dict[str, list[Cell | None]] = {}
    for row in rows:
        group, spec = row.get("group"), row["metric"]
        name = system_name(row["system"]) if group is None else f"{group}: {system_name(row['system'])}"
        shown = Cell(
            number(row["value"], digits[spec]) + rank_of(row),
            row["value"] == best.get((group, spec)),
            _against(row, up[spec]),
        )
        lines.setdefault(name, [None] * len(up))[[*up].index(spec)] = shown
    if any("group" in row for row in rows):
        return lines, []  # groups differ, and the table shows how
    return lines, [*_order(lines, list(up), rows)]


def _against(row: Row, up: bool) -> str:
    """Where a system stands to the baseline."""
    if row.get("p") is None:
        return ""
    if not p_of(row) < SIGNIFICANT or not row.get("delta"):
        return _LEVEL
    return _AHEAD if (row["delta"] > 0) == up else _BEHIND


def _order(lines: Mapping[str, Sequence[Cell | None]], specs: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Who is ahead of whom, by which metrics, and whether a test says so."""
    if len(lines) < 2:
        return
    base = next((system_name(row["baseline"]) for row in rows if row.get("baseline") is not None), None)
    if base is not None:
        for system, cells in lines.items():
            said = [
                (words, [spec for spec, cell in zip(specs, cells, strict=True) if cell and cell.against == how])
                for how, words in ((_AHEAD, "clearly better than"), (_BEHIND, "clearly worse than"))
            ]
            level = [spec for spec, cell in zip(specs, cells, strict=True) if cell and cell.against == _LEVEL]
            parts = [f"{words} {base} by {_all_of(own, specs)}" for words, own in said if own]
            parts += [f"not told apart from {base} by {_all_of(level, specs, 'any of the')}"] if level else []
            if parts:
                yield f"{system} is {', and '.join(parts)}."
        return
    if any(row.get("rank") is not None for row in rows):
        first = {
            spec: [system_name(row["system"]) for row in rows if row["metric"] == spec and row.get("rank") == 1]
            for spec in specs
        }
        for systems in dict.fromkeys(map(tuple, first.values())):
            by = _all_of([spec for spec in specs if tuple(first[spec]) == systems], specs)
            own = "has" if len(systems) == 1 else "share"
            yield f"{_listed(systems)} {own} the first rank by {by}."
        return
    ahead = {spec: [s for s, cells in lines.items() if (c := cells[i]) and c.is_best] for i, spec in enumerate(specs)}
    for systems in dict.fromkeys(tuple(names) for names in ahead.values() if names):
        by = _all_of([spec for spec in specs if tuple(ahead[spec]) == systems], specs)
        yield f"{_listed(systems)} {'has' if len(systems) == 1 else 'have'} the best value by {by}."
    yield "No test was made, so the order may be chance; score with --significance randomization."


def _people(trust: Mapping[str, Trust], criteria: Mapping[str, None]) -> Iterator[str]:
    """Which metrics agree with people."""
    if not criteria:
        yield "How well these metrics agree with people is not known here: add a result of nlgauge meta."
    for one in criteria:
        known = {spec: fact for spec, own in trust.items() if (fact := _first(own.agreement, one)) is not None}
        clear = [spec for spec, fact in known.items() if fact.clear]
        rest = [spec for spec in known if spec not in clear]
        if not clear:
            yield f"With people's {one} no metric agrees more than chance does."
        else:
            others = f"; {_listed(rest)} may do so by chance" if rest else ""
            yield f"With people's {one} {_listed(clear)} {'agrees' if len(clear) == 1 else 'agree'}{others}."


def _blind(scored: Result, others: Mapping[str, Result], audited: bool) -> Iterator[str]:
    """The errors that all audited metrics miss."""
    if not audited:
        yield "Which errors they miss is not known here: add a result of nlgauge audit."
        return
    specs = {metric["spec"] for metric in scored.metrics}
    for other in others.values():
        if other.kind != "audit":
            continue
        own = by_keys((row for row in measured(other.rows) if row["metric"] in specs), "metric")
        missed = [{name for _, name, _, clear in faults_of(rows) if clear} for rows in own.values()]
        shared = [name for name in dict.fromkeys(_names(other.rows)) if missed and all(name in one for one in missed)]
        if not shared:
            continue
        whose, one = ("All", False) if len(own) > 1 else (next(spec for (spec,) in own), True)
        if "phenomenon" in other.rows[0]:
            yield f"{whose} {'prefers' if one else 'prefer'} the worse text where it has {_listed(shared)}."
        else:
            yield f"{whose} {'punishes' if one else 'punish'} these errors less than people do: {_listed(shared)}."


def _names(rows: Sequence[Row]) -> Iterator[str]:
    return (row["phenomenon"] if "phenomenon" in row else row["template"] for row in rows)


def _careful(scored: Result) -> Iterator[str]:
    """Reasons to doubt the numbers: few items, texts that guards distrust, texts that were cut or have no score."""
    rows = measured(scored.rows)
    items = min((row["n"] for row in rows), default=0)
    if any(not absent(row.get("low")) for row in rows) and items < _FEW:
        yield f"{items} items are few: intervals are too narrow, and only large differences show."
    flagged = {row["system"]: row.get("n_flagged", 0) for row in rows}
    if sum(flagged.values()):
        yield f"Guards distrust {sum(flagged.values())} outputs; see the column \u201cflagged\u201d."
    for flag, one, several in _ODD:
        specs = [metric["spec"] for metric in scored.metrics if metric.get("flags", {}).get(flag)]
        if specs:
            yield f"{_listed(specs)} {one if len(specs) == 1 else several}."


def _all_of(some: Sequence[str], specs: Sequence[str], every: str = "all") -> str:
    """Metrics in words: which, or `every` of several."""
    return f"{every} {len(specs)} metrics" if len(some) == len(specs) > 1 else _listed(some)


def _listed(names: Sequence[str]) -> str:
    """A list in words."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
