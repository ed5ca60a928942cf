"""Find where a text denies something, and take the denial away; inflection and "any" are then corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.choice import UNCOUNTED
from nlgauge.perturbations.words.vocabulary import MASS_NOUNS
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import Clause
from nlgauge.text.english.verbs import NOT, STEMS, be_for, is_question
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import article_before
from nlgauge.text.scripts import WordList

_POSITIVE = {"nobody": "somebody", "nothing": "something", "nowhere": "somewhere"}
_SOME = {"any": "some", "anyone": "someone", "anybody": "somebody", "anything": "something", "anywhere": "somewhere"}
_FINAL = {"yet": "already", "either": "too"}  # at the end of a clause
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_IN_SUBJECTS = _NOUNS | {"JJ", "RB", "DT", "PRP", "IN", "CD", "PRP$"}
_SHORT_SUBJECT = 3  # tokens between "no" and a verb of which it is the subject, where another verb stands before
_MODIFIERS = frozenset({"JJ", "JJR", "VBG", "VBN"})
# Behind "not" or "no" these make expressions that fall apart without it.
_NOT_ALONE = frozenset(["only", "just", "merely", "simply", "solely", "least", "exactly", "so"])
# Behind "no" these deny nothing, but after a verb: "no doubt he knows", "there is no doubt".
_NO_IDIOMS = frozenset("doubt matter wonder problem worries thanks surprise way idea means sense end such".split())
_MORE = frozenset(["more", "less", "fewer", "later", "sooner", "such"])
_STEMS = {**STEMS, "need": "need to"}
_QUANTITIES = frozenset(
    ["all", "every", "everyone", "everybody", "everything", "many", "much", "each", "one", "always"]
)
# Nouns without a plural, which "some" goes with and "a" does not.
_MASS = (WordList("clauses", "some not a"), MASS_NOUNS, UNCOUNTED)
_BEHIND_NOUNS = frozenset("left today tonight tomorrow yesterday".split())  # however they are tagged


@dataclass(frozen=True, slots=True)
class Denial:
    """One negation of a text.

    Attributes:
        token: the position of the negation.
        clause: the clause that it denies; None outside clauses.
        remove: removes it from a draft; None where the sentence would be broken without it.
    """

    token: int
    clause: Clause | None
    remove: Callable[[Draft], None] | None


def find_denials(doc: Doc, language: Language, clauses: Sequence[Clause]) -> list[Denial]:
    """Every negation of a text, in order."""
    return sorted(_Denials(doc, language, clauses).found(), key=lambda d: d.token)


class _Denials:
    def __init__(self, doc: Doc, language: Language, clauses: Sequence[Clause]) -> None:
        self.doc, self.language, self.clauses = doc, language, clauses
        self.tokens = doc.tokens

    def found(self) -> list[Denial]:
        denials = []
        for clause in self.clauses:
            if clause.negation is not None:
                denials.append(
                    Denial(
                        clause.negation,
                        clause,
                        partial(self._without_not, clause) if self._removable(clause.negation) else None,
                    )
                )
        taken = {d.token for d in denials}
        for token in self.tokens:
            if token.index not in taken and (remove := self._word(token.index)) is not _NO_DENIAL:
                denials.append(Denial(token.index, self._owner(token.index), remove))
        return denials

    def _low(self, i: int) -> str:
        return self.tokens[i].lower if 0 <= i < len(self.tokens) else ""

    def _tag(self, i: int) -> str:
        return self.tokens[i].tag if 0 <= i < len(self.tokens) else ""

    def _word(self, i: int) -> Callable[[Draft], None] | None:
        """How to take away a negation that belongs to no auxiliary.

        None if it must stay, `_NO_DENIAL` if the token is no negation.
        """
        low, after = self._low(i), self._low(i + 1)
        if low in NOT:
            return partial(self._deleted, i, i) if self._free_not(i) else None
        if low == "never":
            inverted = any(c.inverted and c.verb == i + 1 for c in self.clauses)
            return None if inverted or after in ("mind", "-", "ending", "before") else partial(self._deleted, i, i)
        if low == "no" and after == "longer":
            return partial(self._deleted, i, i + 1)
        if low in ("hardly", "barely", "scarcely", "neither", "nor", "rarely", "seldom"):
            return None
        if low in _POSITIVE:
            return None if after in ("but", "more", "less", "like") else partial(self._replaced, i, i, _POSITIVE[low])
        if low == "none" and after == "of":
            return partial(self._replaced, i, i, "some")
        if low == "no" and self._tag(i) != "UH":
            return self._no(i)
        return _NO_DENIAL

    def _no(self, i: int) -> Callable[[Draft], None] | None:
        after = self._low(i + 1)
        if after in ("less", "fewer") and self._low(i + 2) != "than":
            return None  # "expect no less"
        if after in ("one", "-") and (after == "one" or self._low(i + 2) == "one"):
            last = i + 1 if after == "one" else i + 2
            return None if self._low(last + 1) in ("but", "-") else partial(self._replaced, i, last, "someone")
        if self._tag(i + 1) not in _NOUNS | _MODIFIERS or self._tag(i - 1) in ("IN", "CC") or after in _MORE:
            return _NO_DENIAL
        if after in _NO_IDIOMS and not any(c.verb <= i - 1 <= c.last for c in self.clauses):
            return _NO_DENIAL
        head = i + 1
        while self._extends(head):
            head += 1
        while self._tag(head) in _MODIFIERS and head > i + 1:
            head -= 1
        if self._tag(head) not in _NOUNS or after == "good":
            return None
        if after == "other" and self._tag(head) == "NN":
            return partial(self._replaced, i, i + 1, "another")
        if self._tag(head) == "NN" and not any(self._low(head) in words for words in _MASS):
            return partial(self._replaced, i, i, article_before(self.tokens[i + 1].text))
        return partial(self._replaced, i, i, "some")

    def _extends(self, head: int) -> bool:
        """Whether a noun phrase goes on behind a word: not with what only stands behind nouns (bread left)."""
        within = _NOUNS | _MODIFIERS
        is_behind = self._low(head + 1) in _BEHIND_NOUNS and self._tag(head) in _NOUNS
        return self._tag(head + 1) in within and self._tag(head) in within and not is_behind

    def _free_not(self, i: int) -> bool:
        """Whether a "not" outside verb groups can go: `decided not to go`, `not wearing`, `Not all`."""
        if self._low(i) != "not" or not self._removable(i):
            return False
        if self.doc.starts_sentence(i):
            return self._low(i + 1) in _QUANTITIES
        before = self.tokens[i - 1]
        if before.is_punctuation or before.tag == "CC" or before.lower in ("if", "why", "or", "whether", "but"):
            return self._tag(i + 1) == "TO"
        return self._tag(i + 1) in ("TO", "VBG", "VBN", "VB", "JJ", "DT", "IN", "RB")

    def _removable(self, i: int) -> bool:
        """Whether the sentence stands without this "not": no `not only`, no `but` or `nor` that answers it."""
        if self._low(i) == "not" and (self._low(i + 1) in _NOT_ALONE or self._low(i + 2) == "mention"):
            return False
        return i == self.doc.sentences[self.doc.sentence_at[i]].last or self._unanswered[i + 1]

    @cached_property
    def _unanswered(self) -> list[bool]:
        """For each token whether, from it to the end of its part of the sentence, nothing answers a "not"."""
        unanswered = [True] * len(self.tokens)
        for sentence in self.doc.sentences:
            so_far = True
            for k in range(sentence.last, sentence.first - 1, -1):
                low = self._low(k)
                if low in ("nor", "neither") or (low == "but" and not self._clause_follows(k)):
                    so_far = False
                elif low in (";", ":", "."):
                    so_far = True
                unanswered[k] = so_far
        return unanswered

    def _clause_follows(self, k: int) -> bool:
        """Whether what follows a "but" has a verb of its own close by."""
        return any(
            rank < 2 for at in range(k + 1, k + 7) if (rank := self._ranks.get(at)) is not None
        ) and not self._verb_at(k + 1)

    @cached_property
    def _ranks(self) -> dict[int, int]:
        """The rank of each clause by its verb."""
        return {c.verb: c.rank for c in self.clauses}

    def _verb_at(self, k: int) -> bool:
        return k in self._ranks

    def _owner(self, i: int) -> Clause | None:
        """The clause that a word belongs to: as subject or adverb to the one behind it, else to the one before."""
        clauses = self._by_sentence.get(self.doc.sentence_at[i], [])
        inside = next((c for c in clauses if c.verb <= i <= c.last), None)
        if inside is not None:
            return inside  # "I have never felt that it is so"
        behind = next((c for c in clauses if c.verb > i), None)
        if behind is not None:
            between = range(i + 1, behind.verb)
            joined = all(self._tag(k) in _IN_SUBJECTS and self._low(k) != "that" for k in between)
            if joined and i >= behind.begin and (len(between) <= _SHORT_SUBJECT or all(c.verb > i for c in clauses)):
                return behind
        return next((c for c in reversed(clauses) if c.verb <= i or i <= c.last), behind)

    @cached_property
    def _by_sentence(self) -> dict[int, list[Clause]]:
        grouped: dict[int, list[Clause]] = {}
        for clause in self.clauses:
            grouped.setdefault(clause.sentence, []).append(clause)
        return grouped

    def _deleted(self, first: int, last: int, draft: Draft) -> None:
        draft.delete(first, last)
        self._some(last + 1, draft)

    def _replaced(self, first: int, last: int, new: str, draft: Draft) -> None:
        draft.replace(first, last, new)
        self._some(last + 1, draft)

    def _some(self, start: int, draft: Draft, verb: int | None = None) -> None:
        """From here, behind a negation that has gone, "any" becomes "some", "yet" "already"; "at all" goes with it.

        The token `verb` is left alone: it was tagged as the verb, whatever its letters, and has its own edit.
        """
        i = start
        while i < len(self.tokens) and self.doc.sentence_at[i] == self.doc.sentence_at[start]:
            low, after = self._low(i), self._low(i + 1)
            final = i + 1 >= len(self.tokens) or self.tokens[i + 1].is_punctuation or self._tag(i + 1) == "CC"
            if any(c.verb == i and c.begin >= start for c in self.clauses) or self.tokens[i].text in (";", ":", "."):
                return
            if i == verb:
                pass
            elif (low, after) in (("any", "more"), ("any", "longer"), ("at", "all")):
                draft.delete(i, i + 1)
                i += 1
            elif low == "anymore":
                draft.delete(i, i)
            elif low in _SOME or (low in _FINAL and (final or i == start)):
                draft.replace(i, i, _SOME.get(low) or _FINAL[low])
            i += 1

    def _without_not(self, clause: Clause, draft: Draft) -> None:
        verb, negation, main = clause.verb, clause.negation, clause.main
        assert negation is not None  # what the caller asked for
        low = self._low(verb)
        if clause.kind == "do" and main is not None and not clause.inverted:
            if self._is_command(clause):
                draft.delete(verb, negation)
                return self._some(negation + 1, draft)
            tag = {"did": "VBD", "does": "VBZ"}.get(low, "VBP")
            form = self.language.inflect(self._low(main), tag)
            if form and not self._coordinated(main):
                draft.delete(verb, verb)
                draft.delete(negation, negation)
                if form != self._low(main):
                    draft.replace(main, main, form)
                return self._some(negation + 1, draft, main)
        stem = _STEMS.get(low) or self._whole(clause)
        if stem and negation == verb + 1:
            draft.replace(verb, negation, stem)
        elif stem:
            draft.replace(verb, verb, stem)
            draft.delete(negation, negation)
        else:
            draft.delete(negation, negation)
        self._some(negation + 1, draft)

    def _whole(self, clause: Clause) -> str | None:
        """The verb of ain't and aren't once they are parted from their n't."""
        low, before, after = self._low(clause.verb), self._low(clause.verb - 1), self._low(clause.verb + 2)
        if low == "ai":
            subject = clause.verb + 2 if clause.inverted else clause.verb - 1
            return be_for(self._low(subject), self._tag(subject))
        return "am" if low == "are" and "i" in (before, after) and self._low(clause.verb + 1) == "n't" else None

    def _is_command(self, clause: Clause) -> bool:
        if clause.tag == "VB":
            return True
        before = clause.verb - 1
        opens = (
            clause.verb == self.doc.sentences[clause.sentence].first
            or self.tokens[before].is_punctuation
            or self._tag(before) in ("CC", "UH")
        )
        return self._low(clause.verb) == "do" and opens and not is_question(self.doc, clause.sentence)

    def _coordinated(self, main: int) -> bool:
        """Whether a second verb leans on the same auxiliary: `did not see or hear`."""
        end = self.doc.sentences[self.doc.sentence_at[main]].last
        return any(self._tag(k) == "CC" and self._tag(k + 1) == "VB" for k in range(main + 1, min(main + 8, end)))


def _NO_DENIAL(draft: Draft) -> None:  # noqa: N802 - a mark, told by identity
    """Stands for a token that denies nothing."""
