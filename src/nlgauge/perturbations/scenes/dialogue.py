"""Responses that do not answer: turns said again, contradicted, not heard, or dull."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, Turn, apply_edits, worse
from nlgauge.perturbations.clauses.negation import Negation
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import find_clauses
from nlgauge.text.english.verbs import is_english, is_question

SORRY = (
    "I'm sorry, can you repeat?",
    "Sorry, could you repeat that?",
    "I'm sorry, I did not hear you. Can you repeat that?",
    "Sorry, what did you say? Please repeat it.",
    "I'm sorry, could you repeat what you just said?",
    "Sorry, I missed that. Could you repeat it, please?",
)
GENERIC = ("Yes.", "Ok.", "Thank you.", "Bye.", "I see.", "Sure.", "Alright.", "I don't know.")
_NO_OWN_TURN = Inapplicable("no earlier turn of the speaker")


@dataclass(frozen=True, kw_only=True)
class NegatePreviousUtterance(Checked):
    """Say the opposite of what the same speaker said before, in place of the response.

    An earlier turn of the speaker is drawn among those that can be negated; it takes the place of the response,
    negated.

    Args:
        contracted: write n't instead of "not". With None this follows the turn that is negated.
    """

    contracted: bool | None = None
    info: ClassVar = worse(
        "contradict an earlier turn of the same speaker",
        ("Then I will take the bus.", "I do not like trains."),
        needs=("english", "context"),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced."""
        turns = _own_turns(case)
        if not turns:
            return _NO_OWN_TURN
        negation = Negation(contracted=self.contracted)
        drawn = [(place, turn, case.language.analyse(turn.text)) for place, turn in rng.sample(turns, len(turns))]
        for place, turn, doc in sorted(drawn, key=lambda d: not _states(d[2])):
            change = negation(Case(doc, case.language), rng) if is_english(doc) else None
            if isinstance(change, Change):
                new = apply_edits(turn.text, change.edits).strip()
                if not _alike(new, case.text):
                    return case.replaced(new, turn=place, said=turn.text, **change.meta)
        return Inapplicable("no turn to negate")


@dataclass(frozen=True, kw_only=True)
class RepeatOwnUtterance:
    """Repeat an earlier turn of the same speaker in place of the response."""

    info: ClassVar = worse(
        "repeat an earlier turn of the same speaker",
        ("Then I will take the bus.", "I like trains."),
        needs=("context",),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced by a turn drawn among the speaker's own."""
        turns = _own_turns(case)
        if not turns:
            return _NO_OWN_TURN
        others = [(place, turn) for place, turn in turns if not _alike(turn.text, case.text)]
        if not others:
            return Inapplicable("unchanged")
        place, turn = rng.choice(others)
        return case.replaced(turn.text.strip(), turn=place)


@dataclass(frozen=True, kw_only=True)
class RepeatLastSpeaker:
    """Repeat what the other speaker said last in place of the response."""

    info: ClassVar = worse(
        "repeat the other speaker's last turn", ("Then I will take the bus.", "The train is late."), needs=("context",)
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced by the latest turn that is not the speaker's own."""
        for place in reversed(range(len(case.context))):
            turn = case.context[place]
            if turn.speaker != case.speaker and turn.text.strip():
                if _alike(turn.text, case.text):
                    return Inapplicable("unchanged")
                return case.replaced(turn.text.strip(), turn=place)
        return Inapplicable("no turn of another speaker")


@dataclass(frozen=True, kw_only=True)
class _Reply(Checked):
    """Replace the response by one of several replies.

    Args:
        replies: the replies to draw from: a list, or one string with `|` between them.
    """

    replies: str | Sequence[str]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced."""
        listed = self.replies.split("|") if isinstance(self.replies, str) else self.replies
        others = [reply.strip() for reply in listed if reply.strip() and not _alike(reply, case.text)]
        return case.replaced(rng.choice(others)) if others else Inapplicable("unchanged")


@dataclass(frozen=True, kw_only=True)
class SorryRepeat(_Reply):
    """Replace the response by a request to repeat."""

    replies: str | Sequence[str] = SORRY
    info: ClassVar = worse(
        "ask the other speaker to repeat, as if not listening", ("I will take the bus.", "I'm sorry, can you repeat?")
    )


@dataclass(frozen=True, kw_only=True)
class GenericResponse(_Reply):
    """Replace the response by a dull reply that fits everywhere."""

    replies: str | Sequence[str] = GENERIC
    info: ClassVar = worse("give a dull reply that fits everywhere", ("I will take the bus.", "Ok."))


def _own_turns(case: Case) -> list[tuple[int, Turn]]:
    """Earlier turns of the one who speaks, with their places in the context."""
    return [
        (place, turn) for place, turn in enumerate(case.context) if turn.speaker == case.speaker and turn.text.strip()
    ]


def _states(doc: Doc) -> bool:
    """Whether a text has a clause that is no question."""
    return any(c.rank == 0 and not is_question(doc, c.sentence) for c in find_clauses(doc))


def _alike(one: str, other: str) -> bool:
    """Whether two texts have the same letters and figures in the same order."""
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum()) or text.strip()
