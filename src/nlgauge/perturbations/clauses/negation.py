"""Negation: a clause made to say the opposite."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.clauses.affirmation import Denial, find_denials
from nlgauge.perturbations.clauses.denial import deny
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import Clause, find_clauses
from nlgauge.text.english.verbs import NOUNS, contracts, is_loud, is_question

_LEAST = 9  # rank of clauses that are none of their own: tags, quoted speakers


@dataclass(frozen=True, kw_only=True)
class Negation(Checked):
    """Negate a clause, or take a negation away.

    Of several sentences one is drawn; of the clauses of a sentence the main one comes first.

    Args:
        mode: `add` negates a clause, `remove` takes a negation away, and `flip` does either, as the clause needs.
        contracted: write n't instead of "not" where such a form exists. With None this follows the text.
    """

    mode: Literal["flip", "add", "remove"] = "flip"
    contracted: bool | None = None
    info: ClassVar = worse("negate a clause, or take its negation away", ("He likes tea.", "He does not like tea."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One clause denied or affirmed."""
        doc = case.doc
        clauses = find_clauses(doc)
        denials = find_denials(doc, case.language, clauses)
        if self.mode == "remove":
            removable = [d for d in denials if d.remove is not None]
            return _affirmed(doc, rng.choice(removable)) if removable else Inapplicable("no negation")
        denied: dict[int, list[Denial]] = {}
        for denial in denials:
            if denial.clause is not None:
                denied.setdefault(denial.clause.verb, []).append(denial)
        for clause in _in_turn(doc, clauses, rng):
            change = self._clause(case, clause, denied.get(clause.verb, []))
            if isinstance(change, Change):
                return change
        if not any(c.rank < _LEAST for c in clauses):
            return self._phrase(doc, denials)
        return Inapplicable("already negated" if denials else "no finite verb")

    def _clause(self, case: Case, clause: Clause, denials: Sequence[Denial]) -> Change | Inapplicable:
        if not denials:
            draft = Draft(case.doc)
            short = contracts(case.doc) if self.contracted is None else self.contracted
            if deny(draft, case.language, clause, short=short):
                return draft.finish(mode="add", verb=case.doc.tokens[clause.verb].text)
        elif self.mode == "flip" and denials[0].remove is not None and len(denials) == 1:
            return _affirmed(case.doc, denials[0])
        return Inapplicable("already negated")

    def _phrase(self, doc: Doc, denials: Sequence[Denial]) -> Change | Inapplicable:
        """Without a finite verb: a participle behind its noun, `a man not riding a horse`."""
        removable = [d for d in denials if d.remove is not None]
        if removable and self.mode == "flip":
            return _affirmed(doc, removable[0])
        for token in doc.tokens[1:]:
            before = doc.tokens[token.index - 1]
            if token.tag not in ("VBG", "VBN", "VBD") or before.tag not in NOUNS | {"PRP"} or doc.touches(token.index):
                continue
            after = doc.tokens[token.index + 1].tag if token.index + 1 < len(doc.tokens) else ""
            if token.tag == "VBG" or after not in NOUNS:  # not "a snow covered slope"
                draft = Draft(doc)
                draft.insert_before(token.index, "NOT" if is_loud(doc.text) else "not")
                return draft.finish(mode="add", verb=token.text)
        return Inapplicable("no finite verb")


def _in_turn(doc: Doc, clauses: Sequence[Clause], rng: random.Random) -> list[Clause]:
    """Clauses in the order in which they are tried.

    Main clauses of statements come first, in the order drawn, then those of questions, then dependent clauses.
    """
    places = list(dict.fromkeys(c.sentence for c in clauses))
    rng.shuffle(places)
    turn = {place: i for i, place in enumerate(places)}
    usable = [c for c in clauses if c.rank < _LEAST]
    return sorted(usable, key=lambda c: (c.rank, is_question(doc, c.sentence), turn[c.sentence], c.verb))


def _affirmed(doc: Doc, denial: Denial) -> Change | Inapplicable:
    draft = Draft(doc)
    assert denial.remove is not None  # the caller chose among those
    denial.remove(draft)
    return draft.finish(mode="remove", negation=doc.tokens[denial.token].text)
