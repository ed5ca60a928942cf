"""The ends of the scale: a copy of the reference, blank texts, unrelated texts, and segments that lack a need."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.testing.subject import ROUNDING, Subject

_FOREIGN = (
    "λόγος ήλιος θάλασσα βουνό",
    "снег хлеб ветер улица",
    "მთა წყალი ხიდი ბაღი",
)  # of one of them a text holds no letter
_TOKEN = re.compile(r"[\u2e80-\U0010ffff]|\w+|[^\w\s]")  # whatever a tokeniser may count as a word
_BLANKS = ("", " \n\t")


def copies(subject: Subject) -> None:
    """For each reference alone: no hypothesis beats its copy; for one at least, the copy beats unrelated text."""
    hypotheses = list(dict.fromkeys(s.hypothesis for s in subject.segments))
    references = {r: s for s in _plain(subject) for r in s.references if r.strip()}
    texts = [[reference, unrelated(reference), *hypotheses] for reference in references]
    asked = [
        replace(s, id=f"{n} {i}", references=(row[0],), hypothesis=text)
        for n, (s, row) in enumerate(zip(references.values(), texts, strict=True))
        for i, text in enumerate(row)
    ]
    found = subject.score(asked)
    values = subject.sign * found.values.reshape(len(references), -1)  # (references, 2 + hypotheses)
    unknown = np.asarray(found.flags.get("unknown", np.zeros(len(asked)))).reshape(values.shape)
    for row, names, unread in zip(values, texts, unknown, strict=True):
        what = f"a copy of {_short(names[0])}"
        subject.require(not np.isnan(row[0]) or bool(unread[0]), f"{what} scores NaN, and has no flag 'unknown'")
        for i in np.flatnonzero(~(np.isnan(row) | (row <= row[0]) | subject.near(row, row[0], ROUNDING))):
            better = f"{_short(names[i])} does better with {subject.sign * row[i]}"
            subject.require(
                False, f"{what} scores {subject.sign * row[0]}, and {better}; if that is meant, say copy_is_best=False"
            )
    told = ~subject.near(values[:, 0], values[:, 1], ROUNDING)
    subject.require(
        told.any(), "a copy of a reference never scores better than text that has nothing in common with it"
    )


def blanks(subject: Subject) -> None:
    """A blank side raises `empty`, and scores no better than unrelated text (or than any, without references).

    Unrelated text of which a model knows no piece is undefined, and no bound.
    """
    cases = _blank_cases(subject)
    unlike = [other for _, other in cases if other is not None]
    both = [replace(s, hypothesis="", references=("",)) for s in subject.segments[:1] if subject.reads_references]
    asked = [*(blank for blank, _ in cases), *unlike, *both, *subject.segments]
    found = subject.score([replace(s, id=f"asked {i}") for i, s in enumerate(asked)])
    subject.require("empty" in found.flags, "no flag 'empty' marks blank hypotheses and references")
    values = subject.sign * found.values
    worst_seen = float(np.nanmin(values[len(asked) - len(subject.segments) :]))
    others = iter(values[len(cases) : len(cases) + len(unlike)])
    for (blank, other), value, flag in zip(cases, values, found.flags["empty"], strict=False):
        what = f"segment {blank.id!r} with a blank {'reference' if blank.hypothesis.strip() else 'hypothesis'}"
        subject.require(flag, f"{what} does not raise the flag 'empty'")
        bound = worst_seen if other is None else next(others)
        against = "the worst of the other hypotheses" if other is None else "text that has nothing in common with it"
        holds = value <= bound or np.isnan(bound) or subject.near(value, bound, ROUNDING)
        holds = holds or subject.sign * value == subject.metric.info.blank
        subject.require(holds, f"{what} scores {subject.sign * value}, {against} {subject.sign * bound}")
    subject.within_range(found.values, [f"segment {s.id!r} or a variant of it" for s in asked])


def needs(subject: Subject) -> None:
    """A segment without what `info.needs` names is refused, and the refusal names it."""
    for need in sorted(subject.metric.info.needs):
        absent: dict[str, Any] = {need: None if need == "source" else ()}
        lacking = replace(subject.segments[-1], id=f"without {need}", **absent)
        try:
            subject.metric.score([*subject.segments, lacking], subject.runtime)
        except InputError as error:
            subject.require(
                lacking.id in str(error),
                f"a segment without {need} is refused, but {str(error)!r} does not name {lacking.id!r}",
            )
        else:
            subject.require(
                False,
                f"info.needs names {need}, but a segment without any is scored; see nlgauge.metrics.check_needs",
            )


def unrelated(text: str) -> str:
    """As many words as `text` has, in a script of which it holds no letter.

    Raises:
        InputError: the text mixes the three scripts that words are taken from.
    """
    return _foreign(text, len(text.split()))


def _foreign(text: str, n_words: int) -> str:
    letters = set(text.lower())
    for words in _FOREIGN:
        if not letters & (set(words) - {" "}):
            return " ".join(islice(cycle(words.split()), max(1, n_words)))
    raise InputError(
        f"{_short(text)} mixes Greek, Cyrillic and Georgian, so that no text is certain to be unrelated; leave it out"
        " of the segments"
    )


def _blank_cases(subject: Subject) -> list[tuple[Segment, Segment | None]]:
    """Segments with a blank side, each with the one it may not beat."""
    cases: list[tuple[Segment, Segment | None]] = []
    for s in _plain(subject)[:4]:
        if not subject.reads_references:
            cases += [(replace(s, hypothesis=blank), None) for blank in _BLANKS]
            continue
        # The unrelated text is never longer than the reference in tokens or characters, nor shorter than the
        # hypothesis: else an error rate passes 100 %.
        reference = s.references[0]
        hypothesis = s.hypothesis if s.hypothesis.strip() else reference
        like, longer = unrelated(reference)[: len(reference)], _foreign(hypothesis, len(_TOKEN.findall(hypothesis)))
        s = replace(s, hypothesis=hypothesis, references=(reference,))
        cases += [(replace(s, hypothesis=blank), replace(s, hypothesis=like)) for blank in _BLANKS]
        cases += [(replace(s, references=(blank,)), replace(s, references=(longer,))) for blank in _BLANKS]
    return cases


def _plain(subject: Subject) -> list[Segment]:
    """Segments whose first reference (where the metric reads any) is not blank."""
    if not subject.reads_references:
        return subject.segments
    found = [s for s in subject.segments if s.references and s.references[0].strip()]
    subject.require(found, "the segments hold no reference that is not blank, so a copy cannot be tried")
    return found


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
