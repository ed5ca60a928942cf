"""Looks at the texts of every score, whatever the metrics: what they find is noted, counted by system, or refused.

A new look is a class with the methods of `Look`, a field of `Looks` that says what becomes of what is found, and a line
in `Looks.over`; every verb and function that scores has it then.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Protocol

from nlgauge.core.errors import InputError
from nlgauge.core.inputs import SameInputs
from nlgauge.core.metric import BaseMetric, MetricLike, said
from nlgauge.core.options import Typed, checked
from nlgauge.core.result import Row
from nlgauge.core.scores import FIRST, Note, first_few
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards import FIELDS, GuardCheck, GuardCounts, Key
from nlgauge.metrics.languages import LanguageCheck, UnreadScripts, beyond_english
from nlgauge.metrics.registry import expanded, is_placed, named
from nlgauge.models.fetch import MULTILINGUAL
from nlgauge.runtime.runtime import AUTO, ENCODER_BY, ENCODERS, Runtime

Language = Annotated[LanguageCheck, Typed("Note text in languages a metric does not read, or refuse it.")]


class Look(Protocol):
    """One thing that is looked for."""

    def add(self, segments: Sequence[Segment]) -> None:
        """Look at more segments."""
        ...

    def notes(self) -> Sequence[str]:
        """A note on each thing found so far."""
        ...

    def refuse(self) -> None:
        """Raise an InputError if something was found that is reason enough; nothing is, by default."""
        return

    def by_system(self, by_group: bool = False) -> Mapping[Key, Counter[str]]:
        """Group and system -> field of rows -> how many texts; the group is None where groups count together."""
        return {}


class UnfitTexts(Look):
    """Systems whose texts are such that a metric's number says little of them, as the metric says by `unfit`."""

    def __init__(self, metrics: Mapping[str, BaseMetric]) -> None:
        self._metrics = metrics
        self._reasons: dict[str, dict[str | None, str | None]] = {spec: {} for spec in metrics}

    def add(self, segments: Sequence[Segment]) -> None:
        """Look at more segments; one block of a system that is fit is enough."""
        if not self._metrics:
            return
        by_system: dict[str | None, list[Segment]] = {}
        for segment in segments:
            by_system.setdefault(segment.system, []).append(segment)
        for spec, reasons in self._reasons.items():
            for system, texts in by_system.items():
                if reasons.get(system, "") is not None:  # unfit so far, or new
                    told = (unfit(texts) for unfit in said(self._metrics[spec], "unfit"))
                    reasons[system] = next((reason for reason in told if reason is not None), None)

    def notes(self) -> list[str]:
        """One note per metric and reason, with the systems if they are not all."""
        return [
            Note.of(f"{spec}: {(note := _with_reason(reason, reasons) + reason)}", spec, note)
            for spec, reasons in self._reasons.items()
            for reason in dict.fromkeys(reasons.values())
            if reason is not None
        ]


def _with_reason(reason: str, reasons: Mapping[str | None, str | None]) -> str:
    """The systems with this reason, as the beginning of a note; empty if all systems have it."""
    systems = [str(system) for system, why in reasons.items() if why == reason]
    if len(systems) == len(reasons):
        return ""
    return f"of {', '.join(systems[:FIRST])}{', ...' if len(systems) > FIRST else ''}: "


# See `FavouredSystem`. Ordinary systems had 15 % of such outputs at most (WMT15, 16, 21, 23, TED, SummEval, WebNLG).
NEAR, SHARE, AHEAD = 95, 0.25, 2
LEAST, MOST = 20, 100  # outputs of a system that are looked at
_SHORT, _LONG = 20, 500  # characters: shorter references are met by chance, and of longer texts the start is read


@dataclass
class FavouredSystem(Look):
    """Tells whether references come from one system: they are its outputs, or these with few changes.

    Such references, as of WMT26 and WMT24++, favour the system that they came from in every metric that reads them. A
    system of a group is told if 25 % of its first outputs or more (20 to 100) have 95 % of the characters of a
    reference in order, and no other has more than half of that share. References of fewer than 20 characters do
    not count.
    """

    _of: dict[str | None, dict[str | None, list[tuple[str, list[str]]]]] = field(default_factory=dict)

    def add(self, segments: Sequence[Segment]) -> None:
        """Look at more segments."""
        for segment in segments:
            kept = self._of.setdefault(segment.group, {}).setdefault(segment.system, [])
            if len(kept) < MOST and (long := [one for one in segment.references if len(one) >= _SHORT]):
                kept.append((segment.hypothesis[:_LONG], [one[:_LONG] for one in long]))

    def notes(self) -> list[str]:
        """A note on the systems that are favoured, if some are."""
        told = [found for group, systems in self._of.items() if (found := self._favoured(group, systems))]
        more = f", and {len(told) - FIRST} more" if len(told) > FIRST else ""
        words = "are nearly a reference; references that were made from a system favour it, so compare it by a metric"
        return [f"input: {', '.join(told[:FIRST])}{more} {words} that reads the source alone"] if told else []

    def _favoured(self, group: str | None, systems: Mapping[str | None, list[tuple[str, list[str]]]]) -> str | None:
        enough = {str(system): texts for system, texts in systems.items() if len(texts) >= LEAST}
        if len(enough) < 2:
            return None
        from rapidfuzz import fuzz  # it takes a while to load, and one system alone is the usual case

        near = {
            system: sum(
                any(fuzz.ratio(text, one, score_cutoff=NEAR) for one in references) for text, references in texts
            )
            for system, texts in enough.items()
        }
        *_, (second, _), (first, system) = sorted((near[one] / len(enough[one]), one) for one in enough)
        place = "" if group is None else f" ({group})"
        is_ahead = first >= max(SHARE, AHEAD * second)
        return f"{near[system]} of {len(enough[system])} outputs of {system}{place}" if is_ahead else None


class Looking:
    """The looks at the segments of one run, in which all blocks are given to `add`.

    Args:
        looks: everything that is looked for.
        refusing: those of the looks that refuse what they find.
    """

    def __init__(self, looks: Sequence[Look] = (), refusing: Sequence[Look] = ()) -> None:
        self._looks, self._refusing = looks, refusing
        self._is_done = False

    def ahead(self, blocks: Iterable[Sequence[Segment]]) -> None:
        """Look at all blocks before anything is scored, if a text may be refused; `add` looks at nothing then.

        Raises:
            InputError: a text is refused.
        """
        if self._refusing:
            for block in blocks:
                self.add(block)
            self.refuse()
            self._is_done = True

    def add(self, segments: Sequence[Segment]) -> None:
        """Look at more segments."""
        for look in () if self._is_done else self._looks:
            look.add(segments)

    def refuse(self) -> None:
        """Refuse texts where this is asked for."""
        for look in self._refusing:
            look.refuse()

    def notes(self) -> list[str]:
        """Everything that was found."""
        return [note for look in self._looks for note in look.notes()]

    def by_system(self, by_group: bool = False) -> dict[Key, Counter[str]]:
        """The numbers of `Look.by_system`, of all looks."""
        total: dict[Key, Counter[str]] = {}
        for look in self._looks:
            for key, counts in look.by_system(by_group).items():
                total.setdefault(key, Counter()).update(counts)
        return total


# --- Which encoder reads the texts? `auto` is settled by them, once for a run

_OPEN = "no language is known of the texts; if they are not English take --encoder multilingual"


def by_texts(
    runtime: Runtime, metrics: MetricLike | Sequence[MetricLike], blocks: Iterable[Sequence[Segment]]
) -> tuple[Runtime, list[str]]:
    """The runtime with an encoder that reads the texts in the place of `auto`, and a note that says why.

    It is one for all groups, so that a number over several groups is of one metric: that for English (`base` if the
    variable NLGAUGE_ENCODER names it), or `multilingual` if a tenth of the texts of a language pair, or of all others,
    are in another language, as the name of the pair, their script or their words say it. Where nothing says it, as of
    names, or of Hindi in Latin letters, the note says so.

    Args:
        runtime: returned as it is, without a note, if it names its encoder.
        metrics: of which those count that name no model; without any there is no note.
        blocks: all segments, which are read only where something is to be chosen.

    Raises:
        SpecError: an option of such a metric is wrong.
    """
    if runtime.encoder != AUTO:
        return runtime, []
    english = "base" if os.environ.get(ENCODER_BY) == "base" else ENCODERS[0]
    placed = list(dict.fromkeys(one for one in expanded(metrics)[0] if isinstance(one, str) and is_placed(one)))
    if not placed:
        return replace(runtime, encoder=english), []
    needs = frozenset[str]().union(*(one.info.needs for one in named(placed).values()))
    seen, looks_english = beyond_english(needs, blocks)
    chosen, why = (
        (MULTILINGUAL, first_few(seen)) if seen else (english, "the texts look English" if looks_english else _OPEN)
    )
    return replace(runtime, encoder=chosen), [f"encoder auto took {chosen}: {why}"]


@dataclass(frozen=True)
class Looks:
    """The treatment of texts that a look finds.

    Attributes:
        language: texts in languages that a metric does not read: `note`, `strict` to refuse them, or `off`.
        guards: texts that guards distrust: `note`, `refuse` or `off`.
    """

    language: Language = "note"
    guards: Annotated[GuardCheck, Typed("Count outputs such as copies and loops, or refuse them.")] = "note"

    def __post_init__(self) -> None:
        checked(self, name="", error=InputError)

    def over(self, metrics: Mapping[str, BaseMetric], of: str = "segments", is_paired: bool = False) -> Looking:
        """The looks at a run.

        Args:
            metrics: specification -> metric, or another reader of texts that says by `unread` what it cannot read.
            of: what the segments are called.
            is_paired: whether outputs for one item are compared, so that they must be for the same input.
        """
        makers: list[tuple[str, Callable[[], Look]]] = [
            (self.language, partial(UnreadScripts, metrics, of)),
            ("off" if self.guards == "off" else "note", partial(UnfitTexts, metrics)),
            (self.guards, GuardCounts),
            ("off" if self.guards == "off" else "note", FavouredSystem),
            ("refuse" if is_paired else "off" if self.guards == "off" else "note", partial(SameInputs, is_paired)),
        ]
        looks = [(treatment, make()) for treatment, make in makers if treatment != "off"]
        refusing = [look for treatment, look in looks if treatment in ("strict", "refuse")]
        return Looking([look for _, look in looks], refusing)

    def seen(
        self,
        metrics: Mapping[str, BaseMetric],
        segments: Sequence[Segment],
        of: str = "segments",
        is_paired: bool = False,
    ) -> Looking:
        """The looks at segments that are all there is."""
        looking = self.over(metrics, of, is_paired)
        looking.add(segments)
        looking.refuse()
        return looking


def beside(rows: Iterable[Row], counts: Mapping[Key, Mapping[str, int]]) -> list[Row]:
    """The rows of a result, with counts of their group and system beside each value; what no text has is left out."""
    names = [name for name in FIELDS if any(counted.get(name) for counted in counts.values())]
    if not names:
        return list(rows)
    return [
        row if "against" in row else {**row, **{n: counts[row.get("group"), row["system"]].get(n, 0) for n in names}}
        for row in rows
    ]
