"""Noun phrases that open a sentence as its subject, with their number and whom or what they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nlgauge.text.doc import FINITE, PROPER, Doc, Span, Token
from nlgauge.text.english.verbs import Phrase, counterpart, noun_phrases
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import gender as gender_of_noun
from nlgauge.text.lexicon import supersense
from nlgauge.text.names import Person, gender_of, is_first_name, is_last_name, is_word, name_words, places
from nlgauge.text.scripts import WordList

Pronoun = Literal["it", "they", "he", "she", "person"]
_CLOSED = WordList("grammar", "no person or thing")
_MANY = frozenset({"people", "police", "cattle", "folk"})
_AMOUNTS = frozenset("number lot lots majority couple handful dozens hundreds thousands millions plenty".split())
_SINGULAR = frozenset({"is", "was", "has", "does", "'s", "isn't"})
_PLURAL = frozenset({"are", "were", "have", "do", "'re", "'ve"})
_HAVE = frozenset({"have", "has", "had", "'ve"})
_MODALS = frozenset({"will", "would", "can", "could", "may", "might", "should", "must", "did"})
# Persons of whom the lexicon's first sense is another.
_PERSONS = frozenset({"acquaintance", "striker", "teen", "newcomer", "victim", "star"})
_NO_PERSONS = frozenset({"whale"})
_LIKE_PERSONS = ("er", "or", "ist", "phile", "eer")  # endings of nouns that the lexicon does not have
_OFFICES = frozenset("MP MEP PC CEO QC PM Dr Dr. Mr Mr. Mrs Mrs. Ms Ms. Sir".split())
_SUBORDINATING = frozenset("that if because although though while since until unless whether than as so".split())
_MASCULINE, _FEMININE = frozenset({"he", "him", "his", "himself"}), frozenset({"she", "her", "hers", "herself"})
_ORGANISED = WordList("grammar", "organisations and places")
_LONGEST = 40  # tokens that a subject may have


@dataclass(frozen=True)
class Subject:
    """The subject at the head of a sentence.

    Attributes:
        span: with determiner, adjectives and what hangs on it.
        verb: place of the finite verb behind it.
        pronoun: what can stand for it; `person` for he or she, where nothing tells which.
        who: the same for subjects that name the same person, as far as their last word tells.
    """

    span: Span
    verb: int
    pronoun: Pronoun
    who: str


def opening_subjects(doc: Doc, language: Language) -> list[Subject]:
    """The subjects that open the sentences of a text, in order; sentences that open with anything else have none."""
    phrases = {p.first: p for p in noun_phrases(doc)}
    people: dict[int, Person] | None = None  # by their tokens; not looked for before the first subject
    subjects = []
    for sentence in doc.sentences:
        first = sentence.first
        while first < sentence.last and (doc.tokens[first].is_punctuation or doc.tokens[first].tag == "CC"):
            first += 1
        phrase = phrases.get(first)
        if phrase is None or doc.tokens[phrase.head].lower in _CLOSED:
            continue
        reached = _verb_behind(doc, phrases, phrase, sentence.last)
        if reached is not None:
            verb, joined = reached
            last = verb - 1
            while doc.tokens[last].tag == "RB" and last > phrase.last:
                last -= 1
            if people is None:
                people = {i: person for person in language.persons(doc) for i in range(person.first, person.last + 1)}
            pronoun = _stands_for(doc, language, phrase, verb, joined, people)
            subjects.append(Subject(doc.span(first, last), verb, pronoun, doc.tokens[phrase.head].lower))
    pronouns = {s.who: s.pronoun for s in subjects if s.pronoun == "person"} | {
        s.who: s.pronoun for s in subjects if s.pronoun in ("he", "she")
    }
    return [
        replace(s, pronoun=pronouns.get(s.who, s.pronoun)) if s.pronoun in ("person", "it") else s for s in subjects
    ]


def _verb_behind(doc: Doc, phrases: dict[int, Phrase], phrase: Phrase, last: int) -> tuple[int, bool] | None:
    """The finite verb of a phrase that is its subject, and whether other subjects are joined to it by "and".

    Everything that depends on the subject is passed over.
    """
    tokens, at, joined = doc.tokens, phrase.last + 1, False
    while at <= min(last, phrase.first + _LONGEST):
        token = tokens[at]
        participle = token.tag == "VBD" and at < last and tokens[at + 1].lower in _SINGULAR | _PLURAL | _MODALS
        if token.tag in FINITE and not participle:  # in "the skills mentioned are" the first is one
            return at, joined
        following = phrases.get(at + 1)
        if token.tag == "VBN" and at == phrase.last + 1 and following is not None and _is_whole(doc, at, last):
            return at, joined
        if token.tag in ("IN", "TO") and token.lower not in _SUBORDINATING:
            if following is None and not (at < last and tokens[at + 1].tag in ("CD", "PRP")):
                return None
            at = following.last + 1 if following is not None else at + 2
        elif token.tag == "CC" or token.text == "&":
            if following is None:
                return None
            joined, at = joined or token.lower in ("and", "&"), following.last + 1
        elif token.text == ",":
            behind = _behind_commas(doc, phrases, at, last)
            if behind is None:
                return None
            at, listed = behind
            joined = joined or listed
        elif token.text == "(":
            close = next((i for i in range(at, last + 1) if tokens[i].text == ")"), None)
            if close is None:
                return None
            at = close + 1
        elif token.tag in ("VBN", "VBD", "VBG", "RB", "JJ"):  # "the man wearing a hat left"
            at = following.last + 1 if following is not None else at + 1
        elif token.tag in ("WDT", "WP") and token.lower in ("who", "which", "that"):
            relative = _behind_relative(doc, at, last)
            return None if relative is None else (relative, joined)
        else:
            return None
    return None


def _is_whole(doc: Doc, participle: int, last: int) -> bool:
    """Whether a participle before its object must be the verb of the sentence, since there is no other.

    Example: "Vaccines saved lives.".
    """
    tokens = doc.tokens
    if tokens[last].text not in (".", "!") or tokens[participle].lower in ("called", "named", "titled", "entitled"):
        return False
    return not any(t.tag in FINITE for t in tokens[participle + 1 : last])


def _behind_commas(doc: Doc, phrases: dict[int, Phrase], comma: int, last: int) -> tuple[int, bool] | None:
    """The place behind what stands between commas, or behind a list; whether it was a list."""
    tokens = doc.tokens
    at = comma
    while at < last and tokens[at].text == "," and (listed := phrases.get(at + 1)) is not None:
        at = listed.last + 1  # "Anna, Ben and Carla came"
    if at <= last and tokens[at].text == "," and at < last and tokens[at + 1].tag == "CC":
        at += 1
    end = phrases.get(at + 1) if comma < at < last and tokens[at].lower == "and" else None
    if end is not None and end.last < last and tokens[end.last + 1].tag in FINITE:
        return end.last + 1, True
    for close in range(comma + 1, min(last, comma + 25)):
        if tokens[close].text == ",":
            after = close + 2 if tokens[close + 1].tag == "RB" and close + 2 <= last else close + 1
            if tokens[after].tag in FINITE and tokens[comma + 1].tag not in ("CC", "RB"):
                return close + 1, False
            if tokens[close + 1].tag in ("PRP", "DT", "CC"):
                return None
    return None


def _behind_relative(doc: Doc, relative: int, last: int) -> int | None:
    """The second finite verb behind a relative pronoun; None where another clause begins before it."""
    tokens, verbs = doc.tokens, 0
    for at in range(relative + 1, last + 1):
        if tokens[at].tag == "VBD" and {t.lower for t in tokens[at - 2 : at]} & _HAVE:
            continue  # a participle
        joint = tokens[at].text in (",", ";", ":") or tokens[at].tag in ("CC", "WP", "WDT", "WRB")
        if tokens[at].tag in FINITE:
            verbs += 1
            if verbs == 2:
                return at if tokens[at - 1].tag not in ("PRP", "CC", "TO", "WP", "WDT", "EX", "IN") else None
        elif verbs and (joint or tokens[at].lower in _SUBORDINATING):
            return None
    return None


def _stands_for(
    doc: Doc, language: Language, phrase: Phrase, verb: int, joined: bool, people: Mapping[int, Person]
) -> Pronoun:
    tokens = doc.tokens
    head, finite, named = tokens[phrase.head], tokens[verb], people.get(phrase.head)
    alone = named is not None and not joined and head.tag == "NNP" and tokens[phrase.first].tag != "DT"
    if not alone and _is_plural(doc, phrase, head, finite, joined):
        return "they"
    if named is not None:
        return _by_gender(named.gender) or _told(doc, phrase, verb) or "person"
    plain = head.text[0].islower() or not (head.tag in PROPER or tokens[phrase.first].tag in PROPER)
    lemma = language.lemma(head.lower, "NN" if head.tag in PROPER else head.tag)
    determined = phrase.first == phrase.head or tokens[phrase.first].tag in ("DT", "PRP$")
    if not plain and not (_is_person(lemma) and determined):
        return _name(doc, phrase, verb)
    of = phrase.last + 1 < verb and tokens[phrase.last + 1].lower == "of"
    if not _is_person(lemma) and not (lemma == "head" and of):
        return "it"
    other = counterpart(head.lower)
    behind_comma = [i for i in range(phrase.last + 1, verb) if tokens[i - 1].text == ","]
    beside = next((p.gender for i in behind_comma if (p := people.get(i)) and p.first == i), None)
    gender = other.was if other is not None else gender_of_noun(lemma) or beside
    return _by_gender(gender) or _told(doc, phrase, verb) or "person"


def _is_person(lemma: str) -> bool:
    field = supersense(lemma, "noun")
    person = field == "noun.person" or lemma in _PERSONS or (field is None and lemma.endswith(_LIKE_PERSONS))
    return person and lemma not in _NO_PERSONS


def _is_plural(doc: Doc, phrase: Phrase, head: Token, finite: Token, joined: bool) -> bool:
    """By the verb where its form tells, else by the noun."""
    if finite.lower in _SINGULAR or (finite.tag == "VBZ" and finite.lower not in _PLURAL):
        return False
    if finite.lower in _PLURAL or finite.tag == "VBP":
        return True
    amount = head.lower in _AMOUNTS and phrase.last + 1 < len(doc.tokens) and doc.tokens[phrase.last + 1].lower == "of"
    return joined or amount or head.tag in ("NNS", "NNPS") or head.lower in _MANY


def _name(doc: Doc, phrase: Phrase, verb: int) -> Pronoun:
    """The gender and person of a name that the finder of persons does not vouch for.

    It is told by the words before it, by what is said, or by a known last name.
    """
    tokens, first = doc.tokens, phrase.head
    while first > phrase.first and tokens[first - 1].text[0].isupper():
        if tokens[first - 1].tag in ("DT", "PRP$", "POS"):
            break
        first -= 1
    words = [t.text for t in tokens[first : phrase.head + 1]]
    roles = [i for i, w in enumerate(words[:-1]) if w in _OFFICES or (_is_person(w.lower()) and not is_first_name(w))]
    before = tokens[first - 1] if first > phrase.first else None
    role = bool(roles) or (before is not None and before.tag == "NN" and _is_person(before.lower))
    words = words[roles[-1] + 1 :] if roles else words
    told = _told(doc, phrase, verb)
    if role and not any(w.lower() in _ORGANISED for w in words):
        return _by_gender(gender_of(words[0])) or told or "person"
    given = len(words) > 1 and is_first_name(words[0])
    alone = first == phrase.first and not any(w.lower() in _ORGANISED or w.isupper() for w in words)
    if not alone or " ".join(words) in places() or (not given and any(w in places() for w in words)):
        return "it"
    if _reads_like_a_person(words):
        return _by_gender(gender_of(words[0])) or told or "person"
    if told is not None:
        return told
    borne = len(words) == 1 and any(_reads_like_a_person(run) and run[-1] == words[0] for run in _names_in(doc))
    return "person" if borne else "it"


def _reads_like_a_person(words: Sequence[str]) -> bool:
    """Whether capitalised words read like a first and a last name, or a last name alone."""
    if len(words) == 1:
        given = is_first_name(words[0]) and words[0].lower() not in name_words("calendar")
        return given or (is_last_name(words[0]) and not is_word(words[0]))
    known = is_first_name(words[0]) or not any(is_word(w) or w in places() for w in words)
    return known and len(words) <= 3 and not any(w.lower() in _ORGANISED or w.isupper() for w in words)


def _names_in(doc: Doc) -> list[list[str]]:
    """Runs of two and more names."""
    runs: list[list[str]] = [[]]
    for token in doc.tokens:
        if token.tag in PROPER:
            runs[-1].append(token.text)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]


def _by_gender(gender: str | None) -> Pronoun | None:
    return {"m": "he", "f": "she"}.get(gender or "")  # type: ignore[return-value]


def _told(doc: Doc, phrase: Phrase, verb: int) -> Pronoun | None:
    """He or she by the first such pronoun behind the verb, or inside the subject; none in another person's sentence."""
    sentence = doc.sentences[doc.sentence_at[phrase.first]]
    for token in doc.tokens[phrase.last + 1 : sentence.last + 1]:
        if token.lower in _MASCULINE:
            return "he"
        if token.lower in _FEMININE:
            return "she"
        if token.index > verb and token.tag in PROPER:
            return None
    return None
