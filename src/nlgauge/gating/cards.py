"""Judges in a gate: none may decide without a card that says how far it agrees with people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nlgauge.core.errors import InputError
from nlgauge.io.ratings import JudgeCard, Prompts, read_card
from nlgauge.metrics.base import Metric
from nlgauge.metrics.judging import Judge


def check_cards(metrics: Mapping[str, Metric], report_only: frozenset[str], cards: Sequence[str]) -> list[str]:
    """A note for each judge that decides, with what its card says.

    Args:
        metrics: specification -> metric.
        report_only: specifications of those that do not decide.
        cards: the files of the cards, `nlgauge.io.write_card`.

    Raises:
        InputError: a judge that decides has no card with its model and the digest of its prompt, or stands in another
            metric, where the card cannot be held against it; a card is of no judge here, or cannot be read.
    """
    known = {path: read_card(path) for path in cards}
    judges = {spec: one for spec, one in metrics.items() if isinstance(one, Judge)}
    for spec in metrics.keys() - judges.keys() - report_only:
        if re.search(r"\bjudge\b", spec):
            raise InputError(f"{spec!r}: a judge inside another metric has no card; name it alone, or --report-only")
    notes, used = [], set()
    for spec, judge in judges.items():
        fitting = [path for path, card in known.items() if _is_of(card, judge)]
        used.update(fitting)
        if spec in report_only:
            continue
        if not fitting:
            raise InputError(
                f"{spec!r} has no judge card, expected one with model {judge.model!r} and prompt_sha256"
                f" {judge.prompt_sha256!r}; or --report-only"
            )
        card = known[fitting[0]]
        notes.append(
            f"{spec}: kappa {card.kappa:.2f} with people on {card.n} items, the commonest label has"
            f" {card.base_rate:.0%} ({card.label_policy}; {card.date}; {fitting[0]}){_moved(card.prompts)}"
        )
    if spare := [path for path in known if path not in used]:
        card = known[spare[0]]
        raise InputError(f"{spare[0]}: a card of {card.model!r} with another prompt or model than any judge here")
    return notes


def _moved(prompts: Prompts | None) -> str:
    """What is known of other prompts; nothing where none were tried."""
    if prompts is None:
        return ""
    return (
        f"; under {prompts.tried} prompts the label of {prompts.dependent / prompts.n:.0%} of {prompts.n} items depends"
        f" on the prompt, kappa {prompts.kappa:.2f} between two"
    )


def _is_of(card: JudgeCard, judge: Judge) -> bool:
    return (card.model, card.prompt_sha256) == (judge.model, judge.prompt_sha256)
