"""Perturbations that bring in other texts: a clause more, nonsense, another text altogether, another reference."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Edit, Inapplicable, as_good, worse
from nlgauge.perturbations.clauses.borrowed_clauses import Clause, clause
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.surface.sentences import lacks_stop
from nlgauge.text.doc import Doc
from nlgauge.text.english.verbs import is_loud
from nlgauge.text.scripts import data_lines

_TRIES = 40  # texts of the pool looked at
_FEWEST = 4  # words of a reply that makes no sense after another; "Yes." does
_FINAL = frozenset(".!?…。！？")
_CLOSING = "\"'”’»)]」』"
_UNSPACED = frozenset("。！？")


@dataclass(frozen=True, kw_only=True)
class AddExtraText(Checked):
    """Add what another text of the pool says, as a clause at the end.

    Args:
        most_words: the largest number of words in the clause.
    """

    most_words: int = 12
    info: ClassVar = worse(
        "add a clause of another text at the end",
        ("The old bridge was closed.", "The old bridge was closed, and the soup was cold."),
        needs=("english", "pool"),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion before the final mark of the last sentence that is no question."""
        doc, loud = case.doc, is_loud(case.text)
        if not doc.words:
            return Inapplicable("no word")
        wanted = _has_verb(doc)
        spare: tuple[Clause, str] | None = None
        for source in _others(case, rng):
            other = case.language.analyse(source)
            clauses = [c for s in other.sentences if (c := clause(other, s, self.most_words)) is not None]
            clauses = [c for c in clauses if c.text.casefold() not in case.text.casefold()]
            fitting = [c for c in clauses if c.finite == wanted]
            if fitting:
                spare = rng.choice(fitting), source
                break
            if clauses and spare is None:
                spare = rng.choice(clauses), source
        if spare is None:
            return Inapplicable("no clause in the pool")
        found_clause, source = spare
        added = found_clause.text.upper() if loud else found_clause.text
        asked = [doc.tokens[s.last].text[0] in "?？" for s in doc.sentences]
        last = max((i for i, question in enumerate(asked) if not question), default=len(asked) - 1)
        draft = Draft(doc)
        draft.append(doc.sentences[last], added, joint=", AND " if loud else ", and ")
        return draft.finish(articles=False, added=added, source=source)


@dataclass(frozen=True, kw_only=True)
class AddNonsense(Checked):
    """Go on with a sentence that makes no sense here.

    Args:
        source: where the sentence comes from: our own `list`, other texts of the `pool`, or `any` of the two at random.
    """

    source: Literal["any", "list", "pool"] = "any"
    info: ClassVar = worse(
        "append a sentence that makes no sense",
        ("I would love to come.", "I would love to come. Seven spoons are taller than last Tuesday."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion at the end."""
        shipped = self.source == "list" or (self.source == "any" and (not case.pool or rng.random() < 0.5))
        said = {case.text.strip(), *(t.text.strip() for t in case.context)}
        texts = (t for t in _others(case, rng) if len(t.split()) >= _FEWEST and t.strip() not in said)
        picked = None if shipped else next(texts, None)
        if picked is None and self.source == "pool":
            return Inapplicable("no other text of four words in the pool" if case.pool else "no pool")
        text = case.text.rstrip()
        new = (
            picked.strip()
            if picked is not None
            else rng.choice([s for s in data_lines("nonsense.txt") if s not in text])
        )
        stop = "." if lacks_stop(text) else ""
        edit = Edit(len(text), len(text), f"{stop}{'' if text[-1] in _UNSPACED else ' '}{new}")
        return Change([edit], {"added": new, "from": "list" if picked is None else "pool"})


@dataclass(frozen=True, kw_only=True)
class RandomText:
    """Put another text of the pool in the place of the text."""

    info: ClassVar = worse(
        "replace the text by another text of the pool",
        ("A dog sleeps on a sofa.", "Two boats lie in a harbour."),
        needs=("pool",),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit, of everything; references of the text and turns of its dialogue are no other texts."""
        seen = {_plain(t) for t in (*case.references, *(turn.text for turn in case.context))}
        for most in (_TRIES, len(case.pool)):  # nearly always one of the first is another
            for other in _others(case, rng, most):
                if _plain(other) not in seen:
                    return case.replaced(other)
        return Inapplicable("no other text in the pool")


@dataclass(frozen=True, kw_only=True)
class AlternativeReferences:
    """Put another reference in the place of the text."""

    info: ClassVar = as_good(
        "replace the text by another of its references",
        ("A dog sleeps on a sofa.", "On the couch lies a sleeping dog."),
        needs=("references",),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit, of everything."""
        others = [r for r in case.references if _plain(r) and _plain(r) != _plain(case.text)]
        if not others:
            return Inapplicable("no other reference")
        other = rng.choice(others)
        return case.replaced(other, reference=case.references.index(other))


def _others(case: Case, rng: random.Random, most: int = _TRIES) -> Sequence[str]:
    """Some texts of the pool that are not the text, in random order."""
    text = _plain(case.text)
    return [t for t in rng.sample(case.pool, min(most, len(case.pool))) if _plain(t) and _plain(t) != text]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _has_verb(doc: Doc) -> bool:
    return any(t.tag in ("VBD", "VBP", "VBZ", "MD") for t in doc.tokens)
