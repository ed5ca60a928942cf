"""Perturbations of pronouns: the wrong ones, and pronouns where nouns told whom or what is meant."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.options import Checked, checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, attack, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.text.doc import Doc, Token
from nlgauge.text.english.subjects import opening_subjects
from nlgauge.text.english.verbs import is_loud
from nlgauge.text.scripts import WordList
from nlgauge.text.tagging import known_tags

# Of each person: what takes the place of its forms. `her` and `his` have two readings and are looked up by them.
_OTHERS: Mapping[str, Mapping[str, str]] = {
    "they": {"they": "we", "them": "us", "their": "our", "theirs": "ours", "themselves": "ourselves"},
    "we": {"we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves"},
    "he": {"he": "she", "him": "her", "his": "her", "his (alone)": "hers", "himself": "herself"},
    "she": {"she": "he", "her": "his", "her (object)": "him", "hers": "his", "herself": "himself"},
}
_OWNED = tuple("NN NNS NNP NNPS JJ JJR JJS CD VBG VBN FW RBS HYPH".split())  # what may follow a possessive
_DAYS = frozenset("yesterday today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday".split())
_TIMES = WordList("words", "times")
_OF_TIMES = frozenset("'s ’s at in as of with".split())  # behind a time that is hers
_BEFORE_NOUNS = frozenset({"JJ", "JJR", "JJS", "RB", "RBR", "RBS", "VBN", "HYPH"})
_JOINTS = frozenset({"and", "or", "but", ",", "-"})
_CAUSING = frozenset("make makes made making let lets letting help helps helped helping".split())
_DONE = WordList("words", "made to do")
_GIVING = WordList("words", "giving")
_OPENING = frozenset({'"', "“", "‘", "'", "``", "«"})


@dataclass(frozen=True, kw_only=True)
class PronounError:
    """Exchange pronouns for those of another person: they and we, he and she, with all their forms.

    The number stays, so that every verb still agrees; I, you and it stay as they are.

    Args:
        pronouns: which pronouns are exchanged, out of `they`, `we`, `he` and `she`, separated by blanks.
        mode: exchange `all` of them, or `one`.
    """

    pronouns: str = "they we he she"
    mode: Literal["all", "one"] = "all"
    info: ClassVar = attack(
        "exchange pronouns for those of another person", ("She lost her keys.", "He lost his keys.")
    )

    def __post_init__(self) -> None:
        checked(self)
        chosen = self.pronouns.split()
        for word in chosen:
            if word not in _OTHERS:
                raise SpecError(f"pronoun_error:pronouns has {word!r}{nearest(word, _OTHERS)}")
        if not chosen:
            raise SpecError(f"pronoun_error:pronouns is empty, expected some of {', '.join(_OTHERS)}")

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit for each pronoun that is exchanged."""
        doc = case.doc
        table = {form: other for person in self.pronouns.split() for form, other in _OTHERS[person].items()}
        places = [(t, table[form]) for t in doc.tokens if (form := _form(doc, t)) in table]
        if not places:
            return Inapplicable("no pronoun")
        if self.mode == "one":
            places = [rng.choice(places)]
        draft = Draft(doc)
        for token, new in places:
            draft.replace(token.index, token.index, new)
        return draft.finish(pronouns=[[t.text, new] for t, new in places])


@dataclass(frozen=True, kw_only=True)
class NounsToPronouns(Checked):
    """Put pronouns in the place of the noun phrases that open sentences, so that nobody can tell who is meant.

    The pronoun has the number of the verb and of the noun, and the gender of a person where name, noun or text tell;
    else it is drawn.

    Args:
        mode: change `all` sentences that begin with their subject, or `one`.
    """

    mode: Literal["all", "one"] = "all"
    info: ClassVar = worse(
        "replace subjects at the start of sentences by pronouns",
        ("The old bridge was closed. Drivers were angry.", "It was closed. They were angry."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit for each sentence."""
        doc, subjects = case.doc, opening_subjects(case.doc, case.language)
        if not subjects:
            return Inapplicable("no noun at the start")
        if self.mode == "one":
            subjects = [rng.choice(subjects)]
        draft, replaced, drawn = Draft(doc), [], dict[str, str]()
        for subject in subjects:
            pronoun: str = subject.pronoun
            if pronoun == "person":
                pronoun = drawn.setdefault(subject.who, rng.choice(("he", "she")))
            old = doc.between(subject.span)
            sentence = doc.between(doc.sentences[doc.sentence_at[subject.span.first]])
            new = (
                pronoun.upper()
                if is_loud(sentence)
                else pronoun.capitalize()
                if old[0].isupper() or old[0].isdigit()
                else pronoun
            )
            if doc.tokens[subject.span.first - 1].tag == "CC" and subject.span.first > 0 and not is_loud(sentence):
                new = pronoun  # behind "But"
            draft.replace(subject.span.first, subject.span.last, new, cased=False)
            replaced.append([old, new])
        return draft.finish(replaced=replaced)


def _form(doc: Doc, token: Token) -> str | None:
    """The key of a pronoun in the table.

    None if the word is no such pronoun, or both persons are named ("he or she").
    """
    word = token.lower
    if not any(word in forms for forms in _OTHERS.values()):
        return None
    if (
        not token.text.islower()
        and token.tag[:3] != "PRP"
        and not (doc.starts_sentence(token.index) and not token.text.isupper())
    ):
        return None  # the US
    if token.text == "US" and not is_loud(doc.text):
        return None
    if _paired(doc, token):
        return None
    if word == "his":
        return "his" if _owns(doc, token) else "his (alone)"
    if word == "her":
        return "her" if _her_owns(doc, token) else "her (object)"
    return word


def _owns(doc: Doc, token: Token) -> bool:
    """Whether something that is owned follows: a noun, or what stands before one."""
    at = token.index + 1
    sentence = doc.sentences[doc.sentence_at[token.index]]
    if (
        token.index > 1
        and doc.tokens[token.index - 1].lower == "of"
        and doc.tokens[token.index - 2].tag == "NN"
        and at <= sentence.last
    ):
        return doc.tokens[at].tag in _OWNED and doc.tokens[at].tag != "VBN"  # "a friend of his came"
    while at < sentence.last and (doc.tokens[at].text in _OPENING or doc.tokens[at].tag == "RB"):
        at += 1
    return at <= sentence.last and doc.tokens[at].tag in _OWNED


def _her_owns(doc: Doc, token: Token) -> bool:
    """Whether her is the owner of what follows, and not the object with a time, an adjective or a verb behind it."""
    if not _owns(doc, token):
        return False
    sentence = doc.sentences[doc.sentence_at[token.index]]
    follow = doc.tokens[token.index + 1 : sentence.last + 1]
    size = 2 if follow[0].lower in ("last", "next") and len(follow) > 1 else 1
    behind = follow[size].lower if len(follow) > size else ""
    if follow[size - 1].lower in (_TIMES if size == 2 else _DAYS) and behind not in _OF_TIMES:
        return False  # "saw her last week", but "her last year at school"
    noun = next(
        (t for t in follow if t.tag not in _BEFORE_NOUNS and t.lower not in _JOINTS and t.text not in _OPENING), None
    )
    if noun is None or (noun.tag[:2] != "NN" and noun.tag not in ("CD", "VBG", "FW")):
        return doc.starts_sentence(token.index) or follow[0].lower == "own"  # not in "made her happy", "left her alone"
    if noun is follow[0] and not behind[:1].isalnum() and known_tags(noun.lower)[:1] == ("JJ",):
        return False  # "found her guilty."
    before = doc.tokens[token.index - 1].lower if token.index else ""
    if before in _CAUSING and follow[0].lower in _DONE and behind not in _OF_TIMES:
        return False  # "made her cry"
    if (
        token.tag == "PRP"
    ):  # the tagger sees an object: believed, save where a bare noun for one thing would stand behind it
        return behind in ("'s", "’s") or (noun.tag == "NN" and noun is not follow[0] and before not in _GIVING)
    return True


def _paired(doc: Doc, token: Token) -> bool:
    """Whether the pronoun of the other gender stands beside it: "he or she", "his/her".

    To exchange both would change nothing.
    """
    for step in (1, -1):
        joint, other = token.index + step, token.index + 2 * step
        if 0 <= joint < len(doc.tokens) and 0 <= other < len(doc.tokens):
            pair = {token.lower, doc.tokens[other].lower}
            if doc.tokens[joint].lower in ("or", "/", "and") and pair in (
                {"he", "she"},
                {"him", "her"},
                {"his", "her"},
                {"his", "hers"},
            ):
                return True
    return False
