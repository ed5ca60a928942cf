"""A decision in words: the reasons in sentences, the command, and a paragraph for a paper."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nlgauge.choosing.decide import Decision, evidence_of, missed_kinds
from nlgauge.choosing.evidence import APART, CHANCE, COPIES, ERRORS, HARMLESS, OWN, PUBLIC, Evidence
from nlgauge.choosing.examples import Examples
from nlgauge.choosing.measure import Measured
from nlgauge.choosing.rule import FEWEST_PAIRS
from nlgauge.core.spec import version

_TASK = {"as": "summaries"}  # that has a default
_FEW_ITEMS = 100  # below, only large differences between systems are seen
_NAMED = 4


@dataclass(frozen=True)
class Reason:
    """One reason.

    Attributes:
        text: a sentence or two, which can be read alone.
        examples: names of the examples that show it.
    """

    text: str
    examples: tuple[str, ...] = ()


def reasons_of(found: Measured, decision: Decision, examples: Examples) -> tuple[Reason, ...]:
    """The reasons, the most important first."""
    return (
        _recommendation(found, decision, examples),
        *_agreement(found, decision, examples),
        *_errors(found, decision, examples),
        *map(Reason, _level(found, decision)),
        *_second(found, decision, examples),
        *_systems(found, decision, examples),
        *map(Reason, (*_texts(found), *_others(found, decision), *_cost(found, decision))),
    )


def _shown(*names: str | None) -> tuple[str, ...]:
    """The examples that there are, each once."""
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _recommendation(found: Measured, decision: Decision, examples: Examples) -> Reason:
    return Reason(_taken(found, decision), _shown(*map(examples.of, decision.chosen)))


def _taken(found: Measured, decision: Decision) -> str:
    first = decision.chosen[0]
    if len(found.left) == 1:
        return f"Take {first}: it is the only metric here that can score these texts."
    beside = f", with {decision.chosen[1]} beside it" if len(decision.chosen) > 1 else ""
    of = f"{len(found.left)} metrics that can score these texts"
    if decision.is_default:
        rated = "by your ratings or otherwise " if decision.by_ratings else ""
        default = f"the default for {_TASK.get(found.trials.task, found.trials.task)}, {first}{beside}"
        return f"No metric stands out {rated}of {of}: keep {default}."
    if decision.by_ratings and decision.open:
        n = len(decision.open)
        if n == len(found.left):
            return (
                f"Take {first}{beside}: your ratings cannot tell the {of} apart, and by the other evidence it stands"
                " highest."
            )
        return (
            f"Take {first}{beside}: your ratings cannot tell {n} of {of} from the best, and among these it stands"
            " highest by the other evidence."
        )
    if decision.by_ratings:
        return f"Take {first}{beside}: of {of} it agrees best with your ratings."
    if len(decision.standings) > 1 and not decision.level and found.sample.n_items > 1:
        return f"Take {first}{beside}: of {of} it stands highest, beyond chance."
    out = "; no metric stands out" if decision.level else ""
    return f"Take {first}{beside}: of {of} it stands highest{out}."


def _agreement(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    own = evidence_of(found, decision.chosen[0])
    first = decision.chosen[0]
    if OWN in own and decision.by_ratings:
        pairs = "two outputs for one input" if found.pairs is not None and found.pairs.within else "two outputs"
        rated = f"your ratings of {found.criterion}"
        yield Reason(
            f"{first} orders {pairs} as {rated} do in {_share(own[OWN])} of the pairs, of {own[OWN].n} outputs;"
            " chance is 0.5.",
            _shown(examples.of(first, OWN)),
        )
    elif found.n_rated and not decision.by_ratings:
        yield Reason(
            f"Your ratings of {found.criterion} hold {found.n_rated} pairs of outputs, too few to decide; rate more"
            f" (from {FEWEST_PAIRS} pairs on they decide)."
        )
    if decision.by_ratings and not decision.open:
        return
    if PUBLIC in own:
        names = ", ".join(one.name for one in found.sets)
        chance = ", which may be chance" if own[PUBLIC].low <= CHANCE else ""
        yield Reason(
            f"On the public sets nearest to your texts ({names}) {first} orders two outputs as people do in"
            f" {_share(own[PUBLIC])} of the pairs{chance}; that is other people's data, and chance is 0.5."
        )
    elif found.sets:
        yield Reason(
            f"No public figure tells how {first} agrees with people on texts like yours; it counts as the lowest here."
        )
    else:
        yield Reason(
            f"No public set with ratings is of the task {found.trials.task!r}, so the choice rests on errors made"
            " on purpose alone; rate some outputs if you can."
        )


def _errors(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    first = decision.chosen[0]
    if found.trials.errors is None:
        yield Reason("No errors could be made of these texts, so nothing is known of which errors a metric sees here.")
        return
    own = evidence_of(found, first)
    kinds = [(name.removeprefix(ERRORS), one) for name, one in own.items() if name.startswith(ERRORS)]
    if kinds:
        told = (f"{name} {one.value:.2f} of {one.n}{' (too few to count)' * one.is_few}" for name, one in kinds)
        yield Reason(
            f"Errors put into {found.trials.source} lower the score of {first}: {', '.join(told)}.",
            _shown(*(examples.of(first, ERRORS + name) for name, _ in kinds)),
        )
    missed = missed_kinds(found, first)
    if missed:
        more = f" and {len(missed) - _NAMED} more" if len(missed) > _NAMED else ""
        named = ", ".join(f"{name} ({n} of {total})" for name, n, total in missed[:_NAMED])
        yield Reason(
            f"{first} misses most errors of the kinds {named}{more}.",
            _shown(*(examples.of_phenomenon(first, name) for name, _, _ in missed[:_NAMED])),
        )
    if COPIES in own and own[COPIES].high < CHANCE:
        yield Reason(
            f"{first} prefers a copy of a reference with an error to a paraphrase without one:"
            f" it is right in {_share(own[COPIES])} of {own[COPIES].n} such pairs.",
            _shown(examples.of(first, COPIES)),
        )
    if HARMLESS in own and own[HARMLESS].high < 0.75:
        yield Reason(
            f"{first} minds harmless changes: they cost less than an error in the same text in only"
            f" {_share(own[HARMLESS])} of the cases.",
            _shown(examples.of(first, HARMLESS)),
        )
    cared = own.get(f"{ERRORS}{decision.care}")
    if decision.care is not None and (cared is None or cared.is_few):
        some = "No error" if cared is None else f"Only {cared.n} errors"
        yield Reason(f"{some} of {decision.care} could be made of these texts, so caring for it changes nothing.")


def _level(found: Measured, decision: Decision) -> Iterator[str]:
    first = decision.chosen[0]
    if decision.level:
        names = [name for name, _, _ in decision.level]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{first} cannot be told apart from {_and(names[:_NAMED])}{more}: chance may put any of them first."
    heads: dict[str, list[str]] = {}
    for spec in found.left:
        heads.setdefault(found.alike[spec][0], []).append(spec)
    for group in heads.values():
        if len(group) > 1:
            rho = min(found.alike[spec][1] for spec in group)
            yield f"{_and(group)} order these texts alike (rank correlation {rho:.2f} or more): one of them is enough."


def _second(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    first = decision.chosen[0]
    if decision.second is not None:
        seen = decision.second.seen
        yield Reason(
            f"{decision.second.metric} sees {round(seen.value * seen.n)} of the {seen.n} errors that {first} misses"
            f" ({seen.value:.2f}, {seen.low:.2f} to {seen.high:.2f}).",
            _shown(examples.beyond(first, decision.second.metric)),
        )
    elif len(found.left) > 1 and found.trials.errors is not None:
        if decision.n_missed:
            yield Reason(
                f"No second metric: none sees more than half of the {decision.n_missed} errors that {first} misses,"
                " beyond chance."
            )
        else:
            yield Reason(f"No second metric: {first} misses none of {decision.n_errors} errors.")


def _systems(found: Measured, decision: Decision, examples: Examples) -> Iterator[Reason]:
    systems = found.sample.whole.systems
    if len(systems) < 2:
        yield Reason("There is one system, so nothing is said of telling systems apart.")
        return
    own = evidence_of(found, decision.chosen[0]).get(APART)
    if own is None:
        why = "all outputs are copies of references" if found.sample.are_copies else "they share fewer than 4 items"
        yield Reason(f"The {len(systems)} systems cannot be compared: {why}.")
        return
    first, n = decision.chosen[0], found.sample.n_items
    compared = len(found.sample.dataset.systems)
    some = f"{compared} of your {len(systems)}" if compared < len(systems) else f"your {compared}"
    yield Reason(
        f"{first} gives differences between {some} systems the same sign on random halves of the items in"
        f" {_share(own)} of the draws.",
        _shown(examples.of(first, APART)),
    )
    if not math.isnan(own.detail["detectable"]):
        few = "Few items: with" if n < _FEW_ITEMS else "With"
        yield Reason(
            f"{few} {n} items a difference of {own.detail['detectable']:.3g} in {first} is found with 80 % power; the"
            f" widest between these systems is {own.detail['widest']:.3g}."
        )


def _texts(found: Measured) -> Iterator[str]:
    if found.sample.are_copies:
        yield (
            "Every output is a copy of a reference, which nearly every metric scores as perfect: errors were put into"
            " references instead. Check the file."
        )
    elif not found.sample.has_outputs:
        yield "There are no outputs, so errors were put into references; choose again when there are outputs."
    if not any(s.references for s in found.sample.segments):
        yield "There are no references: only metrics that need none were tried, and these agree with people less."
    if found.sample.n_items < 2:
        yield "There is one item: no interval says how others would score."


def _others(found: Measured, decision: Decision) -> Iterator[str]:
    for spec, why in found.out.items():
        yield f"{spec} is left out: {why}."
    for spec in decision.chosen:
        if spec in found.told:
            yield f"Of {spec} mind: {found.told[spec]}."


def _cost(found: Measured, decision: Decision) -> Iterator[str]:
    costs = [(spec, found.costs[spec].seconds) for spec in decision.chosen]
    told = ", ".join(f"{_seconds(seconds)} with {spec}" for spec, seconds in costs)
    yield f"1,000 outputs take, in processor time of this machine, {told}."


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s" if seconds >= 0.1 else "less than 0.1 s"


def _share(one: Evidence) -> str:
    interval = "" if math.isnan(one.low) else f" ({one.low:.2f} to {one.high:.2f})"
    return f"{one.value:.2f}{interval}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def command_of(found: Measured, decision: Decision, data: str) -> str:
    """The command that scores with the chosen metrics, and tests systems where there are several."""
    words = ["nlgauge", "score", data, *(word for spec in decision.chosen for word in ("-m", spec))]
    if found.grid is not None:
        words += ["--significance", "randomization"]
    return shlex.join(words)


def methods_of(found: Measured, decision: Decision) -> str:
    """A paragraph for a paper: metrics with signatures, how they were chosen, the test, n, and what they do not see."""
    signatures = {one["spec"]: one["signature"] for one in found.about}
    named = _and([f"{spec} (signature {signatures[spec]})" for spec in decision.chosen])
    whole = found.sample.whole
    systems = f" of {len(whole.systems)} systems" if len(whole.systems) > 1 else ""
    tried = len(found.metrics)
    texts = f"{len(whole)} outputs{systems} for {found.sample.n_items} items"
    known = {one.criterion for one in found.evidence}
    told = [
        *(["by agreement with people on public sets"] if PUBLIC in known else []),
        *(["by errors made in our texts"] if decision.n_errors else []),
    ]
    basis = (
        f"by agreement with ratings of {found.criterion}"
        if decision.by_ratings
        else _and(told or ["as the first that was named"])
    )
    n = len(found.sample.segments)
    looked = f", on {n} of these outputs" if n < len(whole) else ""
    parts = [
        f"We report {named} on {texts}.",
        f"The {'metrics were' if len(decision.chosen) > 1 else 'metric was'} chosen among {tried} {basis}{looked}"
        f" (nlgauge {version('nlgauge')}, choose).",
    ]
    if found.grid is not None:
        parts.append(
            "Differences between systems were tested with paired approximate randomisation (10,000 draws, α = 0.05)."
        )
    if decision.n_errors:
        parts.append(
            f"Of {decision.n_errors} errors put into our texts, {decision.chosen[0]} misses {decision.n_missed}"
        )
        missed = missed_kinds(found, decision.chosen[0])
        kinds = f", above all {_and([name for name, _, _ in missed[:_NAMED]])}" if missed else ""
        parts[-1] += f"{kinds}."
    return " ".join(parts)
