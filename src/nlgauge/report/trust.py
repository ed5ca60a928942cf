"""How far can a metric be trusted? What its notes and other results say of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nlgauge.core.result import Result
from nlgauge.core.scores import MEANINGS, TRAINED
from nlgauge.report.rows import (
    MEAN,
    MEAN_PREFIX,
    Row,
    absent,
    between,
    by_keys,
    is_of_people,
    measured,
    number,
    with_interval,
)

_MOST = 3  # failures that are named
CHANCE = 0.5  # of a preference between two texts
_MUCH = 0.1  # share of texts that a metric cannot read from which on its number says nothing
_SOME = r"((?:the sources of )?(\d+) of (\d+) [a-z ]+?) (?:\(.*\) )?"  # 577 of 600 segments (1, 2, ...)
_FOREIGN = re.compile(f"{_SOME}look ([^:]+): ([^;]+)")
_CUT = re.compile(f"{_SOME}have {MEANINGS['truncated']}")


@dataclass(frozen=True)
class Fact:
    """One thing that is known of a metric.

    Attributes:
        about: the criterion of people, or the error.
        short: the number, or the error in a word.
        text: what is known, with its number.
        clear: whether chance does not explain it, and nothing makes it doubtful.
        where: on which texts it was found.
        link: the part of the page that says more.
        doubt: why it may say nothing, see `doubts_of`; mostly empty.
    """

    about: str
    short: str
    text: str
    clear: bool
    where: str
    link: str
    doubt: str = ""


@dataclass(frozen=True)
class Trust:
    """The evidence on a metric.

    Attributes:
        agreement: correlations with people.
        faults: what it failed worst in audits.
        audited: whether an audit is about it.
        texts: how many texts it scored, and how many of them were cut, empty or undefined.
        doubt: why its scores say nothing, see `doubts_of`; mostly empty.
    """

    agreement: tuple[Fact, ...]
    faults: tuple[Fact, ...]
    audited: bool
    texts: str
    doubt: str = ""


def doubts_of(result: Result) -> dict[str, str]:
    """Metric -> why its numbers in a result say nothing; without those of which nothing is known.

    A tenth of the texts, or more, are in a language that it does not read, or too long for its model; or its agreement
    with people is asked for, and it was trained on ratings. The notes of a result say so, whichever verb made it.
    """
    found: dict[str, list[str]] = {}
    for note in result.notes:
        for spec, doubt in _doubts(result, note):
            found.setdefault(spec, []).append(doubt)
    return {m["spec"]: "; ".join(dict.fromkeys(found[m["spec"]])) for m in result.metrics if m["spec"] in found}


def is_doubt(result: Result, note: str) -> bool:
    """Whether a note of a result says that numbers in it say nothing."""
    return any(True for _ in _doubts(result, note))


def _doubts(result: Result, note: str) -> Iterator[tuple[str, str]]:
    """Specification and doubt of each metric that a note is about."""
    for spec in (metric["spec"] for metric in result.metrics):
        said = _behind(f"{spec}: ", note)
        if (found := _FOREIGN.match(said)) and int(found[2]) >= _MUCH * int(found[3]):
            yield spec, f"{found[1]} look {found[4]}, and {found[5]}"
        elif (found := _CUT.match(said)) and int(found[2]) >= _MUCH * int(found[3]):
            yield spec, f"{found[1]} are longer than its model reads"
        elif result.kind == "meta" and TRAINED in said:
            yield spec, f"it was {TRAINED}, perhaps on these"


def _behind(name: str, note: str) -> str:
    """What a note says of a metric; the name of a set may stand before that of the metric."""
    before, found, said = note.partition(name)
    return said if found and (not before or before.endswith(": ")) else ""


def trust_of(scored: Result, others: Mapping[str, Result]) -> dict[str, Trust]:
    """The evidence that some results hold on the metrics of another.

    Args:
        scored: a result of kind `score`.
        others: anchor of its part of the page -> result, for all results of the page.
    """
    doubts = doubts_of(scored)
    return {m["spec"]: _trust(m, scored, others, doubts.get(m["spec"], "")) for m in scored.metrics}


def _trust(metric: Mapping[str, Any], scored: Result, others: Mapping[str, Result], doubt: str) -> Trust:
    agreement: list[Fact] = []
    faults: list[tuple[float, Fact]] = []
    audited = False
    for link, other in others.items():
        own = next((m for m in other.metrics if m["signature"] == metric["signature"]), None)
        own = own or next((m for m in other.metrics if m["spec"] == metric["spec"]), None)
        if own is None or other.kind not in ("meta", "audit"):
            continue
        rows = [row for row in measured(other.rows) if row["metric"] == own["spec"]]
        where = _where(scored, other) + ("" if own["signature"] == metric["signature"] else ", by another signature")
        if other.kind == "meta":
            why = doubts_of(other).get(own["spec"], "")
            agreement += [
                Fact(about, short, f"{text}; {why}" if why else text, clear and not why, where, link, why)
                for about, short, text, clear in _agreements(rows)
            ]
        else:
            known = (row.get("accuracy", row.get("deviation")) for row in rows)
            audited = audited or not all(map(absent, known))
            faults += [
                (size, Fact(name, name, text, clear, where, link)) for size, name, text, clear in faults_of(rows)
            ]
    worst = sorted(faults, key=lambda fault: -fault[0])[:_MOST]
    return Trust(tuple(agreement), tuple(fact for _, fact in worst), audited, _texts(metric, scored), doubt)


def _where(scored: Result, other: Result) -> str:
    """Whether two results are about the same texts."""
    if {entry["sha256"] for entry in scored.inputs} & {entry["sha256"] for entry in other.inputs}:
        return "on these texts"
    names = ", ".join(entry["path"] for entry in other.inputs)
    return f"on other texts: {names}" if names else "on other texts"


def _agreements(rows: Sequence[Row]) -> list[tuple[str, str, str, bool]]:
    """The criterion, the number, the whole and whether it is beyond chance, for each criterion, level and statistic.

    The number is the mean of groups.
    """
    said = []
    for (criterion, level, stat), own in by_keys(
        (row for row in rows if not is_of_people(row)), "criterion", "level", "stat"
    ).items():
        mean = next((row for row in own if row["group"] == MEAN), None)
        if mean is None or criterion == MEAN:
            continue
        groups = [row for row in own if row["group"] != MEAN]
        n = f"n {groups[0]['n_used']}" if len(groups) == 1 else f"mean of {len(groups)} groups"
        value = with_interval(mean, number(mean["value"]), 3)
        chance = mean.get("chance")
        known = not absent(mean["low"]) and not absent(chance)
        by_luck = known and mean["low"] <= chance <= mean["high"]
        text = f"{stat} {value} with {criterion}, level {level}, {n}{'; may be chance' if by_luck else ''}"
        short = f"{stat} {with_interval(mean, number(mean['value'], 2), 2)}"
        said.append((criterion, short, text, known and mean["low"] > chance))
    return said


def faults_of(rows: Sequence[Row]) -> list[tuple[float, str, str, bool]]:
    """How bad at least, from 0 to 1; the error, what happened, and whether the metric misses it clearly.

    Faults are wrong preferences, and drops that are not people's. The end of the interval counts that is kinder to the
    metric, so that failures on few texts do not come first. An error is missed clearly if the metric is wrong in more
    than half of the pairs, or drops less than people do, beyond chance.
    """
    found = []
    for row in rows:
        if "phenomenon" in row:
            if not row["phenomenon"].startswith(MEAN_PREFIX) and not absent(row["accuracy"]) and row["accuracy"] < 1:
                about = f"right on {row['wins']} of {row['n']} pairs, {number(row['accuracy'], 2)}"
                interval = between(row["low"], row["high"], 2)
                where = "" if row["group"] is None else f", {row['group']}"
                most = row["accuracy"] if absent(row["high"]) else row["high"]
                text = f"{row['phenomenon']}{where}: {about}{f' ({interval})' if interval else ''}"
                found.append((1 - most, row["phenomenon"], text, not absent(row["high"]) and row["high"] < CHANCE))
        elif not absent(row["deviation"]):
            kind = "too little" if row["deviation"] < 0 else "too much"
            drops = f"drops by {number(row['drop'], 2)} and people by {number(row['penalty'], 2)}"
            ends = [row["deviation"]] if absent(row["low"]) else [row["low"], row["high"]]
            least = min(map(abs, ends)) if min(ends) * max(ends) > 0 else 0.0
            missed = row["expect"] == "lower" and least > 0 and row["deviation"] < 0
            found.append((least, row["template"], f"{row['template']}: {drops}, {kind} (n {row['n']})", missed))
    return found


def _texts(metric: Mapping[str, Any], scored: Result) -> str:
    """How many texts, and how many of them the metric flagged; a text with a flag is scored all the same."""
    rows = [row for row in measured(scored.rows) if row["metric"] == metric["spec"]]
    flags = {**metric.get("flags", {})}
    undefined = flags.pop("undefined", sum(row["n_undefined"] for row in rows))
    counts = {"empty": flags.pop("empty", 0), "truncated": flags.pop("truncated", 0), "undefined": undefined, **flags}
    return f"{sum(row['n'] for row in rows)} scored: " + ", ".join(f"{n} {name}" for name, n in counts.items())
