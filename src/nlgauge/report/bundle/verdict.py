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
_MOST = 5  # errors that a sentence names
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
        missed: where each metric errs most in audits, None for one that was not audited; empty where none was.
        doubts: metric -> why its numbers say nothing; it is in no sentence about systems.
        tested: whether systems were tested against a baseline.
    """

    link: str
    sentences: tuple[str, ...]
    metrics: tuple[tuple[str, bool], ...]
    lines: Mapping[str, Sequence[Cell | None]]
    agreement: Mapping[str, Sequence[Fact | None]]
    missed: Sequence[Sequence[Fact] | None]
    doubts: Mapping[str, str]
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
    doubts = {spec: known.doubt for spec, known in trust.items() if known.doubt}
    lines, order = _lines(scored, doubts)
    criteria = dict.fromkeys(fact.about for known in trust.values() for fact in known.agreement)
    audited = any(known.audited for known in trust.values())
    sentences = (
        *_with_doubts(order, doubts),
        *_people(trust, criteria),
        *_blind(scored, others, audited),
        *_careful(scored, doubts),
    )
    return Verdict(
        link,
        sentences,
        tuple((metric["spec"], metric["higher_is_better"]) for metric in scored.metrics),
        lines,
        {one: [_first(trust[spec].agreement, one) for spec in specs] for one in criteria},
        [trust[spec].faults if trust[spec].audited else None for spec in specs] if audited else [],
        doubts,
        any(row.get("p") is not None for row in measured(scored.rows)),
    )


def _first(facts: Sequence[Fact], about: str) -> Fact | None:
    return next((fact for fact in facts if fact.about == about), None)


def _with_doubts(order: Sequence[str], doubts: Mapping[str, str]) -> list[str]:
    """Sentences about the order of systems; the first says which metrics do not count in them."""
    if not doubts:
        return [*order]
    why = "; ".join(f"{spec} does not count: {doubt}" for spec, doubt in doubts.items())
    return [f"{order[0].removesuffix('.')}; {why}.", *order[1:]] if order else [f"{why}."]


def _lines(scored: Result, doubts: Mapping[str, str]) -> tuple[dict[str, list[Cell | None]], list[str]]:
    """The cells of each system, and what is said of their order; a metric in doubt has numbers and says nothing."""
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
            spec not in doubts and row["value"] == best.get((group, spec)),
            "" if spec in doubts else _against(row, up[spec]),
        )
        lines.setdefault(name, [None] * len(up))[[*up].index(spec)] = shown
    if any("group" in row for row in rows):
        return lines, []  # groups differ, and the table shows how
    return lines, [*_order(lines, list(up), [spec for spec in up if spec not in doubts], rows)]


def _against(row: Row, up: bool) -> str:
    """Where a system stands to the baseline."""
    if row.get("p") is None:
        return ""
    if not p_of(row) < SIGNIFICANT or not row.get("delta"):
        return _LEVEL
    return _AHEAD if (row["delta"] > 0) == up else _BEHIND


def _order(
    lines: Mapping[str, Sequence[Cell | None]], specs: Sequence[str], counted: Sequence[str], rows: Sequence[Row]
) -> Iterator[str]:
    """Who is ahead of whom, by which of the metrics that count, and whether a test says so."""
    if len(lines) < 2 or not counted:
        return
    base = next((system_name(row["baseline"]) for row in rows if row.get("baseline") is not None), None)
    if base is not None:
        alike: dict[tuple[str, str], list[str]] = {}
        for system, cells in lines.items():
            said = [
                (words, [spec for spec, cell in zip(specs, cells, strict=True) if cell and cell.against == how])
                for how, words in ((_AHEAD, "clearly better than"), (_BEHIND, "clearly worse than"))
            ]
            level = [spec for spec, cell in zip(specs, cells, strict=True) if cell and cell.against == _LEVEL]
            parts = [f"{words} {base} by {_all_of(own, counted)}" for words, own in said if own]
            if parts or level:
                rest = _all_of(level, counted, both=False) if level else ""
                alike.setdefault((", and ".join(parts), rest), []).append(system)
        for (clear, rest), systems in alike.items():
            if clear:
                tail = f"; no clear difference by {rest}" if rest else ""
                yield f"{_listed(systems)} {'is' if len(systems) == 1 else 'are'} {clear}{tail}."
            else:
                yield f"No clear difference between {base} and {_listed(systems, 'or')} by {rest}."
        return
    if any(row.get("rank") is not None for row in rows):
        first = {
            spec: [system_name(row["system"]) for row in rows if row["metric"] == spec and row.get("rank") == 1]
            for spec in counted
        }
        for named in dict.fromkeys(map(tuple, first.values())):
            by = _all_of([spec for spec in counted if tuple(first[spec]) == named], counted)
            own = "has" if len(named) == 1 else "share"
            yield f"{_listed(named)} {own} the first rank by {by}."
        return
    ahead = {spec: [s for s, cells in lines.items() if (c := cells[i]) and c.is_best] for i, spec in enumerate(specs)}
    for named in dict.fromkeys(tuple(names) for names in ahead.values() if names):
        by = _all_of([spec for spec in specs if tuple(ahead[spec]) == named], counted)
        yield f"{_listed(named)} {'has' if len(named) == 1 else 'have'} the best value by {by}."
    yield "No test was made, so the order may be chance; score with --significance randomization."


def _people(trust: Mapping[str, Trust], criteria: Mapping[str, None]) -> Iterator[str]:
    """Which metrics agree with people."""
    if not criteria:
        yield "How well these metrics agree with people is not known here: add a result of nlgauge meta."
    for one in criteria:
        known = {spec: fact for spec, own in trust.items() if (fact := _first(own.agreement, one)) is not None}
        clear = [spec for spec, fact in known.items() if fact.clear]
        odd = {spec: fact.doubt for spec, fact in known.items() if fact.doubt}
        rest = [spec for spec in known if spec not in clear and spec not in odd]
        others = f"; {_listed(rest)} may do so by chance" if clear and rest else ""
        others += "".join(f"; {spec} does not count: {why}" for spec, why in odd.items())
        agreed = f"{_listed(clear)} {'agrees' if len(clear) == 1 else 'agree'}"
        yield f"With people's {one} {agreed if clear else 'no metric agrees more than chance does'}{others}."


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
        audited_here, one = [spec for (spec,) in own], len(own) == 1
        whose = _listed(audited_here) if one or len(own) < len(specs) else "Both" if len(own) == 2 else "All"
        named = [name.replace("_", " ") for name in shared]
        errors = _listed(named[:_MOST] + ([f"{len(named) - _MOST} more"] if len(named) > _MOST else []))
        if "phenomenon" in other.rows[0]:
            yield f"{whose} {'prefers' if one else 'prefer'} the worse text where it has {errors}."
        else:
            yield f"{whose} {'punishes' if one else 'punish'} these errors less than people do: {errors}."


def _names(rows: Sequence[Row]) -> Iterator[str]:
    return (row["phenomenon"] if "phenomenon" in row else row["template"] for row in rows)


def _careful(scored: Result, doubts: Mapping[str, str]) -> Iterator[str]:
    """Reasons to doubt the numbers: few items, texts that guards distrust, texts that were cut or have no score."""
    rows = measured(scored.rows)
    items = min((row["n"] for row in rows), default=0)
    if any(not absent(row.get("low")) for row in rows) and items < _FEW:
        yield f"{items} items are few: intervals are too narrow, and only large differences show."
    flagged = {row["system"]: row.get("n_flagged", 0) for row in rows}
    if sum(flagged.values()):
        yield f"Guards distrust {sum(flagged.values())} outputs; see the column \u201cflagged\u201d."
    for flag, one, several in _ODD:
        specs = [m["spec"] for m in scored.metrics if m.get("flags", {}).get(flag) and m["spec"] not in doubts]
        if specs:
            yield f"{_listed(specs)} {one if len(specs) == 1 else several}."


def _all_of(some: Sequence[str], specs: Sequence[str], *, both: bool = True) -> str:
    """Metrics in words: which, or all of several; after a "no", where not `both`, any of them."""
    if len(some) < len(specs) or len(specs) == 1:
        return _listed(some)
    if len(specs) == 2:
        return "both metrics" if both else "either metric"
    return f"all {len(specs)} metrics" if both else f"any of the {len(specs)} metrics"


def _listed(names: Sequence[str], last: str = "and") -> str:
    """A list in words."""
    return f" {last} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
