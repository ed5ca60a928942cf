"""How a clause is denied: "not" at its place, with do-support and the question's word order."""

from __future__ import annotations

from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import Clause
from nlgauge.text.english.verbs import NOMINATIVE, WITH_NOT, apostrophe, is_loud, is_question
from nlgauge.text.languages import Language
from nlgauge.text.scripts import WordList

# Adverbs that stand before "not": they say what the speaker thinks of it, or join it to what came before.
_AHEAD = WordList("clauses", "before not")
# Before a verb without auxiliary these go behind "does not", and so do adverbs of manner in -ly; others stay ahead.
_BEHIND = WordList("clauses", "behind do not")
_TIMES = WordList("clauses", "ly but no manner")
_OPENS_PHRASE = frozenset({"DT", "PDT", "PRP$", "CD", "NN", "NNS", "NNP", "NNPS", "JJ"})
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
    if (
        clause.inverted
        and not is_question(doc, clause.sentence)
        and doc.tokens[clause.begin].lower in ("so", "neither", "nor")
    ):
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
    tokens, verb = draft.doc.tokens, clause.verb
    low, after = tokens[verb].lower, tokens[verb + 1] if verb + 1 < len(tokens) else None
    if (
        low == "let"
        and after is not None
        and after.lower in ("'s", "us")
        and tokens[verb + 2 : verb + 3]
        and tokens[verb + 2].tag == "VB"
    ):
        draft.insert_after(verb + 1, word.cased("not"))
    elif low == "do" and after is not None and after.tag == "VB":
        draft.insert_after(verb, word.cased("not"))
    else:
        first = clause.adverbs[0] if clause.adverbs and tokens[clause.adverbs[0]].lower == "always" else verb
        draft.replace(first, first, f"{word.with_not('do')} {tokens[first].text.lower()}")
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
    after = doc.tokens[verb + 1].tag if verb + 1 < len(doc.tokens) else ""
    return doc.tokens[verb - 1].tag == "WP" or after not in _OPENS_PHRASE


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
        ending = word.cased(whole[len(low) :])
        draft.insert_after(
            clause.verb, ending.upper() if verb.text.isupper() and len(verb.text) > 1 else ending, blank=False
        )
    else:
        draft.replace(clause.verb, clause.verb, word.cased(whole))
