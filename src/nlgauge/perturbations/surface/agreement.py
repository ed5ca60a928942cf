"""Disagreement of subject and verb."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import Clause, find_clauses
from nlgauge.text.english.verbs import FINITE, NOUNS
from nlgauge.text.languages import Language
from nlgauge.text.scripts import WordList

_OTHER = {
    "is": "are", "are": "is", "am": "is", "was": "were", "were": "was", "has": "have", "have": "has", "does": "do",
    "do": "does",
}  # fmt: skip
# Subjects that some writers join with the singular and some with the plural.
_COLLECTIVE = WordList("surface", "collective")


@dataclass(frozen=True, kw_only=True)
class SubjectVerbDisagreement(Checked):
    """Put a verb into the number that its subject does not have: `He like tea`, `they does not`.

    Only forms that show number are touched: those of the present, was and were. Short forms such as he's have no
        counterpart.

    Args:
        which: change `one` verb, if possible one whose subject is clearly singular or plural, or `all`.
    """

    which: Literal["one", "all"] = "one"
    info: ClassVar = worse("break the agreement of subject and verb", ("He likes tea.", "He like tea."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One verb in the other number, or all."""
        doc = case.doc
        verbs = [(c, form) for c in find_clauses(doc) if (form := _other(doc, case.language, c)) is not None]
        if not verbs:
            return Inapplicable("no present-tense verb")
        certain = [(c, form) for c, form in verbs if not _doubtful(doc, c)]
        drawn = verbs if self.which == "all" else [rng.choice(certain or verbs)]
        draft = Draft(doc)
        for clause, form in drawn:
            draft.replace(clause.verb, clause.verb, form)
        return draft.finish(verbs=[doc.tokens[c.verb].text for c, _ in drawn])


def _other(doc: Doc, language: Language, clause: Clause) -> str | None:
    """The form of the other number; None where there is none, or where it would set right what is wrong."""
    token = doc.tokens[clause.verb]
    low = token.lower
    if (
        clause.kind in ("imperative", "modal")
        or clause.tag not in FINITE
        or (clause.kind == "do" and _is_command(doc, clause))
    ):
        return None
    if low == "were" and _subject(doc, clause).lower() in ("i", "he", "she", "it", "there"):
        return None  # "if I were"
    if low in _OTHER:
        return _OTHER[low]
    if clause.kind != "plain" or clause.tag == "VBD" or not token.text.isalpha():
        return None
    base = language.lemma(low, clause.tag)
    if clause.tag == "VBZ":
        return base if base != low and low.endswith("s") else None
    form = language.inflect(base, "VBZ") if base == low else None
    return form if form != low else None


def _is_command(doc: Doc, clause: Clause) -> bool:
    """Whether "do" forbids: `Don't go`."""
    start = clause.verb == doc.sentences[clause.sentence].first or doc.tokens[clause.verb - 1].is_punctuation
    return start and clause.negation is not None and not clause.inverted


def _subject(doc: Doc, clause: Clause) -> str:
    """The last word of the subject, as far as it stands beside the verb."""
    if clause.inverted:
        place = clause.subject
    else:
        place = clause.verb - 1
        while place >= clause.begin and (doc.tokens[place].tag in ("RB", "RBR", "RBS") or place in clause.adverbs):
            place -= 1
    return doc.tokens[place].lower if place is not None and place >= doc.sentences[clause.sentence].first else ""


def _doubtful(doc: Doc, clause: Clause) -> bool:
    """Whether both numbers may be right, or the subject cannot be seen."""
    if clause.rank == 9:
        return True
    subject = _subject(doc, clause)
    if doc.tokens[clause.verb].lower == "was" and any(
        t.lower in ("if", "though", "wish", "whether") for t in doc.tokens[clause.begin : clause.verb]
    ):
        return True
    before = [t for t in doc.tokens[clause.begin : clause.verb] if t.tag in NOUNS or t.lower in _COLLECTIVE]
    return subject in ("who", "which", "that") or any(t.lower in _COLLECTIVE for t in before)
