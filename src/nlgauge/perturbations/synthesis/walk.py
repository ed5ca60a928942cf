"""One text on its way from stratum to stratum: what is proposed, refused, asked for and done."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from nlgauge.models.infill import Filler, Gap
from nlgauge.perturbations.base import Edit
from nlgauge.perturbations.spacing import is_mark
from nlgauge.perturbations.synthesis.draws import Draws, Operation
from nlgauge.perturbations.synthesis.stratum import Stratum

_TRIES = 500  # draws of one operation before another is taken; in 80 tokens a single free place is met with 0.99
_REFUSALS = 8  # of one operation by the filler before another is taken
_HALVES = frozenset('()[]{}<>«»“”„‘"`')
_LEAST: dict[Operation, int] = {"insert": 0, "delete": 1, "replace": 1, "swap": 2}  # tokens in a run


@dataclass(frozen=True)
class AppliedEdit:
    """An edit that was made.

    Attributes:
        text: what it led to.
        operation: which one.
        edit: in offsets of the text before.
        span: how many tokens came in (insert), went away (delete, replace), or how far the two are apart (swap).
        filler: the number of the filler that was asked for words; None where none was.
    """

    text: str
    operation: Operation
    edit: Edit
    span: int
    filler: int | None


class Walk:
    """The edits of one text, drawn one by one.

    `ask` goes on until words are needed and says for what; `answer` takes them. So the gaps of many texts can be filled
    together, while the draws of each are its own.

    Args:
        text: with two words or more.
        draws: the distributions.
        phrases: for each filler, whether it may give several words, so that a replacement may take away several. Of
            several fillers one is drawn for each insertion and replacement.
        rng: the draws of this text alone.

    Attributes:
        filler: the number of the filler that is asked for words.
        wanted: how many edits were drawn; fewer are made where no room is left.
        made: the edits so far.
    """

    def __init__(self, text: str, draws: Draws, phrases: Sequence[bool], rng: random.Random) -> None:
        self._draws, self._phrases, self._rng = draws, phrases, rng
        self.filler = 0
        self._stratum, self._text = Stratum(text), text
        self._refused: dict[Operation, int] = {}
        self._pending: tuple[Operation, int, int] | None = None
        self.wanted = draws.count(rng)
        self.made: list[AppliedEdit] = []

    @property
    def asked_for(self) -> int:
        """How many fillers an answer should hold: one may be what stands there already, others the marks beside it."""
        return self._draws.top_k + 3

    def ask(self) -> Gap | None:
        """The next gap to be filled, after all edits that need no words; None when the text is done."""
        while len(self.made) < self.wanted:
            proposal = self._propose()
            if proposal is None:
                return None
            operation, start, span = proposal
            if operation in ("insert", "replace"):
                self._pending = proposal
                return Gap(self._text, *self._stratum.place(start, span))
            edit = self._stratum.delete(start, span) if operation == "delete" else self._stratum.swap(start, span - 1)
            self._keep(operation, edit, span - (operation == "swap"), None)
        return None

    def answer(self, fillers: Sequence[Filler]) -> None:
        """Take one of the words that fit best; without any, `ask` draws something else.

        Rejected are fillers that repeat the text they would replace, have no visible character, put a mark next to the
        same mark, or are a bracket or a quote without its other half.
        """
        assert self._pending is not None
        (operation, start, span), self._pending = self._pending, None
        first, last = self._stratum.place(start, span)
        old = self._text[first:last].casefold()
        beside = self._stratum.beside(start, span)
        offered = [" ".join(filler.word.split()) for filler in fillers]
        seen = [word for word in offered if any(map(str.isprintable, word.replace(" ", "")))]
        marks = {word for word in seen if is_mark(word) and (word in beside or not _HALVES.isdisjoint(word))}
        fit = [word for word in seen if word.casefold() != old and word not in marks][: self._draws.top_k]
        if not fit:
            self._refused[operation] = self._refused.get(operation, 0) + 1
            return
        word = self._rng.choice(fit)
        before = len(self._stratum)
        edit = self._stratum.replace(start, span, word) if span else self._stratum.insert(start, word)
        self._keep(operation, edit, span or len(self._stratum) - before, self.filler)

    def _propose(self) -> tuple[Operation, int, int] | None:
        """An operation with the token it starts behind and the number of tokens it takes.

        It is drawn until the stratum accepts; None if the stratum accepts none.
        """
        among = [
            o
            for o in self._draws.operations
            if self._refused.get(o, 0) < _REFUSALS and self._stratum.has_room(_LEAST[o])
        ]
        while among:
            operation = self._rng.choice(among)
            if len(self._phrases) > 1 and operation in ("insert", "replace"):
                self.filler = self._rng.randrange(len(self._phrases))
            for _ in range(_TRIES):
                start, span = self._rng.randrange(len(self._stratum)), self._span(operation)
                if self._stratum.accepts(start, span) and self._leaves_sense(operation, start, span):
                    return operation, start, span
            among.remove(operation)
        return None

    def _span(self, operation: Operation) -> int:
        if operation == "insert":
            return 0
        if operation == "swap":
            return self._draws.distance(self._rng) + 1
        return self._draws.length(self._rng) if operation == "delete" or self._phrases[self.filler] else 1

    def _leaves_sense(self, operation: Operation, start: int, span: int) -> bool:
        """Whether two tokens that change places differ, and some word is left where words go away."""
        tokens = self._stratum.tokens
        if operation == "swap":
            return tokens[start] != tokens[start + span - 1]
        return operation != "delete" or not all(is_mark(t) for t in (*tokens[:start], *tokens[start + span :]))

    def _keep(self, operation: Operation, edit: Edit, span: int, filler: int | None) -> None:
        self._text = self._stratum.text
        self._refused.clear()
        self.made.append(AppliedEdit(self._text, operation, edit, span, filler))
