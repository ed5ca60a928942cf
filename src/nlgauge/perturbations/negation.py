"""Negation: where a text denies something, how a denial is taken away, and how a clause is denied."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import Case, Change, Inapplicable, worse
from nlgauge.perturbations.words import MASS_NOUNS, UNCOUNTED
from nlgauge.text.doc import NOUNS, Doc
from nlgauge.text.english.clauses import Clause, find_clauses
from nlgauge.text.english.verbs import (
    NOMINATIVE,
    NOT,
    STEMS,
    WITH_NOT,
    apostrophe,
    be_for,
    contracts,
    is_loud,
    is_question,
)
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import article_before
from nlgauge.text.scripts import WordList

_POSITIVE = {"nobody": "somebody", "nothing": "something", "nowhere": "somewhere"}
_SOME = {"any": "some", "anyone": "someone", "anybody": "somebody", "anything": "something", "anywhere": "somewhere"}
_FINAL = {"yet": "already", "either": "too"}  # at the end of a clause
_IN_SUBJECTS = NOUNS | {"JJ", "RB", "DT", "PRP", "IN", "CD", "PRP$"}
_SHORT_SUBJECT = 3  # tokens between "no" and a verb of which it is the subject, where another verb stands before
_MODIFIERS = frozenset({"JJ", "JJR", "VBG", "VBN"})
# Behind "not" or "no" these make expressions that fall apart without it.
_NOT_ALONE = frozenset("only just merely simply solely least exactly so".split())
# Behind "no" these deny nothing, but after a verb: "no doubt he knows", "there is no doubt".
_NO_IDIOMS = frozenset("doubt matter wonder problem worries thanks surprise way idea means sense end such".split())
_MORE = frozenset("more less fewer later sooner such".split())
_STEMS = {**STEMS, "need": "need to"}
_QUANTITIES = frozenset("all every everyone everybody everything many much each one always".split())
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
    return _Denials(doc, language, clauses).found()


class _Denials:
    def __init__(self, doc: Doc, language: Language, clauses: Sequence[Clause]) -> None:
        self.doc, self.language, self.clauses = doc, language, clauses
        self.tokens, self._low, self._tag = doc.tokens, doc.low, doc.tag

    def found(self) -> list[Denial]:
        """The denials, in order."""
        denials = []
        for clause in self.clauses:
            if clause.negation is not None:
                remove = partial(self._without_not, clause) if self._removable(clause.negation) else None
                denials.append(Denial(clause.negation, clause, remove))
        taken = {d.token for d in denials}
        for i in range(len(self.tokens)):
            if i not in taken and (of_word := self._word(i)) is not _NO_DENIAL:
                denials.append(Denial(i, self._owner(i), of_word))
        return sorted(denials, key=lambda d: d.token)

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
        if self._tag(i + 1) not in NOUNS | _MODIFIERS or self._tag(i - 1) in ("IN", "CC") or after in _MORE:
            return _NO_DENIAL
        if after in _NO_IDIOMS and not any(c.verb <= i - 1 <= c.last for c in self.clauses):
            return _NO_DENIAL
        head = i + 1
        while self._extends(head):
            head += 1
        while self._tag(head) in _MODIFIERS and head > i + 1:
            head -= 1
        if self._tag(head) not in NOUNS or after == "good":
            return None
        if after == "other" and self._tag(head) == "NN":
            return partial(self._replaced, i, i + 1, "another")
        if self._tag(head) == "NN" and not any(self._low(head) in words for words in _MASS):
            return partial(self._replaced, i, i, article_before(self.tokens[i + 1].text))
        return partial(self._replaced, i, i, "some")

    def _extends(self, head: int) -> bool:
        """Whether a noun phrase goes on behind a word: not with what only stands behind nouns (bread left)."""
        within = NOUNS | _MODIFIERS
        is_behind = self._low(head + 1) in _BEHIND_NOUNS and self._tag(head) in NOUNS
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
        return k + 1 not in self._ranks and any(self._ranks.get(at, 9) < 2 for at in range(k + 2, k + 7))

    @cached_property
    def _ranks(self) -> dict[int, int]:
        """The rank of each clause by its verb."""
        return {c.verb: c.rank for c in self.clauses}

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
        first = clause.verb == self.doc.sentences[clause.sentence].first
        opens = first or self.tokens[before].is_punctuation or self._tag(before) in ("CC", "UH")
        return self._low(clause.verb) == "do" and opens and not is_question(self.doc, clause.sentence)

    def _coordinated(self, main: int) -> bool:
        """Whether a second verb leans on the same auxiliary: `did not see or hear`."""
        end = self.doc.sentences[self.doc.sentence_at[main]].last
        return any(self._tag(k) == "CC" and self._tag(k + 1) == "VB" for k in range(main + 1, min(main + 8, end)))


def _NO_DENIAL(draft: Draft) -> None:  # noqa: N802 - a mark, told by identity
    """Stands for a token that denies nothing."""


# --- How a clause is denied: "not" at its place, with do-support and the question's word order

# Adverbs that stand before "not": they say what the speaker thinks of it, or join it to what came before.
_AHEAD = WordList("clauses", "before not")
# Before a verb without auxiliary these go behind "does not", and so do adverbs of manner in -ly; others stay ahead.
_BEHIND = WordList("clauses", "behind do not")
_TIMES = WordList("clauses", "ly but no manner")
_OPENS_PHRASE = NOUNS | {"DT", "PDT", "PRP$", "CD", "JJ"}
_WITH_CLITIC = {"'ve": "haven't", "'ll": "won't"}


def deny(draft: Draft, language: Language, clause: Clause, *, short: bool) -> bool:
    """Add "not" to a clause that has none.

    Args:
        draft: collects the changes.
        language: inflects the verb.
        clause: a clause of the draft's text.
        short: write n't where the auxiliary has such a form.

    Returns:
        Whether it was possible; if not, the draft is unchanged.
    """
    doc = draft.doc
    word = _Words(doc, clause, short=short)
    if clause.kind == "plain":
        return _plain(draft, language, clause, word)
    if clause.kind == "imperative":
        return _command(draft, clause, word)
    agrees = clause.inverted and doc.low(clause.begin) in ("so", "neither", "nor")
    if agrees and not is_question(doc, clause.sentence):
        return False
    return _auxiliary(draft, clause, word)


class _Words:
    """The spelling of "not" and of the auxiliaries, in the letters and with the apostrophe of the text."""

    def __init__(self, doc: Doc, clause: Clause, *, short: bool) -> None:
        sentence = doc.sentences[clause.sentence]
        self.short = short
        self._loud = is_loud(doc.between(sentence))
        self._apostrophe = apostrophe(doc.text)

    def cased(self, words: str) -> str:
        words = words.replace("'", self._apostrophe)
        return words.upper() if self._loud else words

    def with_not(self, auxiliary: str) -> str:
        return self.cased(WITH_NOT[auxiliary] if self.short else f"{auxiliary} not")


def _plain(draft: Draft, language: Language, clause: Clause, word: _Words) -> bool:
    verb = draft.doc.tokens[clause.verb]
    base = language.lemma(verb.lower, clause.tag)
    if not base.isalpha() and not base.replace("-", "").isalpha():
        return False
    support = word.with_not({"VBZ": "does", "VBD": "did"}.get(clause.tag, "do"))
    behind = _movable(draft.doc, clause)
    if behind is None:
        draft.replace(clause.verb, clause.verb, f"{support} {word.cased(base)}")
    else:
        draft.insert_before(behind, support)
        draft.replace(clause.verb, clause.verb, word.cased(base))
    return True


def _movable(doc: Doc, clause: Clause) -> int | None:
    """The first of the adverbs right before a verb that "not" denies with it: `does not often go`."""
    first = None
    for k in reversed(clause.adverbs):
        low = doc.tokens[k].lower
        movable = low in _BEHIND or (low.endswith("ly") and low not in _AHEAD and low not in _TIMES)
        if not movable or doc.starts_sentence(k) or doc.tokens[k - 1].lower in ("too", "very", "so", "quite"):
            break
        first = k
    return first


def _command(draft: Draft, clause: Clause, word: _Words) -> bool:
    doc, verb = draft.doc, clause.verb
    if doc.low(verb) == "let" and doc.low(verb + 1) in ("'s", "us") and doc.tag(verb + 2) == "VB":
        draft.insert_after(verb + 1, word.cased("not"))
    elif doc.low(verb) == "do" and doc.tag(verb + 1) == "VB":
        draft.insert_after(verb, word.cased("not"))
    else:
        first = clause.adverbs[0] if clause.adverbs and doc.low(clause.adverbs[0]) == "always" else verb
        draft.replace(first, first, f"{word.with_not('do')} {doc.tokens[first].text.lower()}")
    return True


def _auxiliary(draft: Draft, clause: Clause, word: _Words) -> bool:
    tokens, verb = draft.doc.tokens, clause.verb
    low = tokens[verb].lower
    if clause.inverted:
        needs_short = clause.subject is None and not _asks_for_subject(draft.doc, clause)
        if (word.short or needs_short) and low in WITH_NOT:
            _attach(draft, clause, word)
        else:
            _not_after(draft, clause, verb if clause.subject is None else clause.subject, word)
        return True
    ahead = [k for k in clause.adverbs if tokens[k].lower in _AHEAD]
    if ahead and ahead[0] == verb + 1:
        _not_after(draft, clause, verb, word)
    elif word.short and low in WITH_NOT:
        _attach(draft, clause, word)
    elif word.short and (low in _WITH_CLITIC or low == "'d") and tokens[verb - 1].lower in NOMINATIVE:
        full = _WITH_CLITIC.get(low) or ("hadn't" if clause.kind == "have" else "wouldn't")
        draft.replace(verb, verb, f" {word.cased(full)}", cased=False)
    elif low == "can":
        draft.insert_after(verb, word.cased("not"), blank=False)
    else:
        draft.insert_after(verb, word.cased("not"))
    return True


def _asks_for_subject(doc: Doc, clause: Clause) -> bool:
    """Whether the question word before "be" may be its subject.

    It may in `What is the capital?` and in `What number is on the sign?`.
    """
    verb = clause.verb
    if clause.kind != "be" or verb == clause.begin:
        return False
    return doc.tag(verb - 1) == "WP" or doc.tag(verb + 1) not in _OPENS_PHRASE


def _not_after(draft: Draft, clause: Clause, place: int, word: _Words) -> None:
    """Put "not" after a token and the adverbs behind it that go before "not"."""
    while place + 1 in clause.adverbs and draft.doc.tokens[place + 1].lower in _AHEAD:
        place += 1
    draft.insert_after(place, word.cased("not"))


def _attach(draft: Draft, clause: Clause, word: _Words) -> None:
    """Make isn't of is, can't of can, won't of will."""
    verb = draft.doc.tokens[clause.verb]
    low, whole = verb.lower, WITH_NOT[verb.lower]
    if whole.startswith(low):
        ending, loud = word.cased(whole[len(low) :]), verb.text.isupper() and len(verb.text) > 1
        draft.insert_after(clause.verb, ending.upper() if loud else ending, blank=False)
    else:
        draft.replace(clause.verb, clause.verb, word.cased(whole))


# --- Negation: a clause made to say the opposite

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
        for token in doc.tokens:
            behind_noun = doc.tag(token.index - 1) in NOUNS | {"PRP"} and not doc.touches(token.index)
            if token.tag not in ("VBG", "VBN", "VBD") or not behind_noun:
                continue
            if token.tag == "VBG" or doc.tag(token.index + 1) not in NOUNS:  # not "a snow covered slope"
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
