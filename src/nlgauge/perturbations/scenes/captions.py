"""Perturbations of what a caption says of things and people: their attributes, their gender."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.words.attributes import attribute
from nlgauge.perturbations.words.choice import (
    after_measure,
    field_of,
    in_name,
    modified_noun,
    single_words,
    stands_alone,
    words_of,
)
from nlgauge.text.doc import Doc, Token
from nlgauge.text.english.verbs import (
    ADDRESS,
    TITLES,
    Counterpart,
    counterpart,
    possessive_mark,
    pronoun_of_other_gender,
)
from nlgauge.text.lexicon import in_set_phrase, neighbours, own_words, rank
from nlgauge.text.scripts import WordList

_NOUNS = frozenset({"NN", "NNS"})
_ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "VBN", "VBG"})
_FREQUENT = 8000  # opposites are of the first this many lemmas of the lexicon: readers know them
_PREFIXES = ("un", "in", "im", "ir", "il", "dis")
_OF_A_KIND = 3  # siblings of one kind, before a word counts as of that kind
_HAIR = frozenset({"hair", "haired", "beard", "mustache", "moustache", "fur"})
_OF_HAIR = frozenset({"black", "brown", "white", "red"})
_PICTURES = frozenset(
    {"photo", "photograph", "picture", "pictures", "photos", "image", "film", "movie", "print", "shot", "view"}
)
_NOT_SEEN = WordList("scenes", "not seen")
_SETS = frozenset({"colour", "pattern", "material", "shape"})  # kinds whose siblings in the lexicon exclude each other
_FEW = {
    "many": ("a", "great", "so", "too", "how", "as"),
    "few": ("a", "quite", "very", "the", "last", "next", "first", "past"),
}


_BESIDE = frozenset({",", "&", "with", "beside", "near", "alongside", "next"})
_BETWEEN = frozenset({"CC", "DT", "CD", "JJ", "PRP$", "TO", "VBG"})


_Person = tuple[Token, Counterpart]


class _Site(NamedTuple):
    token: Token
    kind: str
    words: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class ChangeAttributes(Checked):
    """Give a thing another colour, size, age, material or look.

    Words of our own sets go first (red becomes green, small becomes large); where a text has none, an adjective is
    replaced by its opposite from the lexicon, or by one that is surely of its kind.

    Args:
        which: change `one` attribute, or `all` that are in our own sets of words.
    """

    which: Literal["one", "all"] = "one"
    info: ClassVar = worse(
        "replace an attribute by another of its kind", ("a dog with a red ball", "a dog with a green ball")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per attribute."""
        sites = list(_attributes(case)) or list(_adjectives(case))
        if not sites:
            return Inapplicable("no attribute")
        draft, used = Draft(case.doc), set(words_of(case))
        picked, new = [], []
        for site in sites if self.which == "all" else [rng.choice(sites)]:
            words = [w for w in site.words if w not in used]
            if not words:
                continue
            word = rng.choice(words)
            used.add(word)
            draft.replace(site.token.index, site.token.index, word)
            picked.append(site)
            new.append(word)
        words_were, kinds = [s.token.text for s in picked], [s.kind for s in picked]
        return draft.finish(words=words_were, replacements=new, kinds=kinds) if picked else Inapplicable("no attribute")


def _attributes(case: Case) -> Iterator[_Site]:
    """Words of our sets that say something of a thing."""
    doc, present = case.doc, words_of(case)
    for token in doc.tokens:
        if token.tag not in _ADJECTIVES and token.tag not in _NOUNS:
            continue
        base = token.lower if token.tag not in ("JJR", "JJS") else case.language.lemma(token.lower, token.tag)
        entry = attribute(base)
        if (
            entry is None
            or not stands_alone(doc, token)
            or in_name(doc, token)
            or not _says_something(doc, token, entry.kind)
        ):
            continue
        noun = modified_noun(doc, token)
        words = entry.fitting(field_of(case, noun))
        if noun is not None and noun.lower in _HAIR and entry.kind == "colour":
            words = [w for w in words if w in _OF_HAIR]
        forms = [_form(case, token, word) for word in words]
        fitting = [form for form in forms if form and form not in present]
        if fitting:
            yield _Site(token, entry.kind, fitting)


def _form(case: Case, token: Token, word: str) -> str | None:
    """A word as it is compared where the token is; None where that takes more than one word."""
    graded = token.tag in ("JJR", "JJS")
    form = case.language.inflect(word, token.tag) if graded else word
    return form if form and " " not in form and not (graded and word == "little") else None  # less is no size


def _says_something(doc: Doc, token: Token, kind: str) -> bool:
    """Whether the word is used as an attribute.

    It is not in `a glass of wine` (glass), `eats an orange` (orange) and `hot dog` (hot).
    """
    tokens, at = doc.tokens, token.index
    before = tokens[at - 1].lower if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if after is not None and in_set_phrase(token.lower, after.lower):
        return False
    if token.tag in _NOUNS:  # a noun before a noun, or a colour worn: a woman in red
        modifies = (
            after is not None
            and after.tag in _NOUNS
            and stands_alone(doc, after)
            and not (at and tokens[at - 1].tag in _NOUNS)
        )
        worn = kind == "colour" and before == "in" and token.tag == "NN"
        return (modifies and kind in ("material", "colour", "pattern")) or worn
    if kind == "number" and (before in _FEW.get(token.lower, ()) or (after is not None and after.lower == "of")):
        return False
    if token.tag in ("VBN", "VBG"):  # a participle: only before its noun
        return after is not None and after.tag in _NOUNS
    if (
        after is not None and after.tag == "VBN" and token.tag == "JJ" and kind != "colour"
    ):  # old fashioned, narrow gauged
        return False
    return (
        not _is_fruit(doc, at)
        and not after_measure(doc, token)
        and not (kind == "colour" and _in_black_and_white(doc, at))
    )


def _is_fruit(doc: Doc, at: int) -> bool:
    """Whether `orange` has an article and no noun to give a colour to."""
    if doc.tokens[at].lower != "orange" or not at or doc.tokens[at - 1].tag != "DT":
        return False
    behind = doc.tokens[at + 1 : at + 3]
    if len(behind) == 2 and (behind[0].tag == "CC" or behind[0].text == ","):
        return attribute(behind[1].lower) is None
    return not behind or behind[0].tag not in (*_NOUNS, "JJ", "VBG")


def _in_black_and_white(doc: Doc, at: int) -> bool:
    """Whether a colour is half of `black and white`, said of pictures."""
    words = [t.lower for t in doc.tokens[max(0, at - 2) : at + 5]]
    text = " ".join(words)
    return ("black and white" in text or "black white" in text) and any(w in _PICTURES for w in words)


def _adjectives(case: Case) -> Iterator[_Site]:
    """Other adjectives before a noun, with their opposites, or else with frequent ones of the same kind."""
    doc, present = case.doc, words_of(case)
    for token in single_words(doc, "adj"):
        if token.tag[:2] != "JJ" or token.lower in _NOT_SEEN:
            continue
        noun = modified_noun(doc, token)
        after = doc.tokens[token.index + 1] if token.index + 1 < len(doc.tokens) else None
        if noun is None or after_measure(doc, token) or (after is not None and in_set_phrase(token.lower, after.lower)):
            continue
        base = case.language.lemma(token.lower, token.tag)
        if attribute(base) is not None:  # one of ours that is used for something else
            continue
        ours = own_words(base, "adj", "antonym")
        opposites = [w for w, fields in ours if not fields or field_of(case, noun) in fields] if ours else []
        if not opposites:
            sure = {n.word for n in neighbours(base, "adj", "antonym") if n.sure}
            opposites = [w for w in case.language.related(base, "adj", "antonym") if w in sure]
        opposites, kind = [w for w in opposites if _plain_opposite(base, w)][:1], "opposite"
        if not opposites:
            kind, opposites = _of_its_kind(case.language.related(base, "adj", "sibling"))
        forms = [_form(case, token, word) for word in opposites]
        words = [f for f in forms if f and f.lower() not in present]
        if words:
            yield _Site(token, kind, words)


def _plain_opposite(base: str, word: str) -> bool:
    """Whether readers know the opposite: a frequent word, or the same with un- or its like."""
    longer, shorter = (word, base) if len(word) > len(base) else (base, word)
    return longer in {f"{prefix}{shorter}" for prefix in _PREFIXES} or (rank(word, "adj") or _FREQUENT) < _FREQUENT


def _of_its_kind(siblings: Sequence[str]) -> tuple[str, list[str]]:
    """Siblings that our sets know to be of one kind: the siblings of greenish are colours.

    Other siblings mean nearly the same as the word itself.
    """
    kinds = Counter(entry.kind for word in siblings if (entry := attribute(word)) is not None and entry.kind in _SETS)
    kind, count = kinds.most_common(1)[0] if kinds else ("", 0)
    if count < _OF_A_KIND:
        return kind, []
    return kind, [w for w in siblings if (entry := attribute(w)) is not None and entry.kind == kind]


@dataclass(frozen=True, kw_only=True)
class ChangeGender(Checked):
    """Turn women into men and men into women, girls into boys, her mother into her father.

    Animals change only where no person does. A man and a woman side by side (`a man and a woman`) would only change
    places: they stay as they are where somebody else changes, else one of the two changes.

    Args:
        which: change `all` nouns that have a gender, or `one`.
        pronouns: change he, him and his, too.
    """

    which: Literal["all", "one"] = "all"
    pronouns: bool = False
    info: ClassVar = worse(
        "replace nouns of one gender by those of the other", ("two girls on a bus", "two boys on a bus")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per noun and per pronoun."""
        doc = case.doc
        gendered = [(t, c) for t in doc.tokens if (c := _gendered(doc, t)) is not None]
        gendered = [f for f in gendered if f[1].field == "person"] or gendered
        couples = _couples(doc, gendered)
        beside = {t.index for couple in couples for t, _ in couple}
        alone = [f for f in gendered if f[0].index not in beside]
        picked = alone or ([rng.choice(couples[0])] if couples else [])
        if self.which == "one" and picked:
            picked = [rng.choice(picked)]
        pronouns = (
            [(t, p) for t in doc.tokens if (p := _pronoun(doc, t)) is not None]
            if self.pronouns and (alone or not gendered)
            else []
        )
        if not picked and not pronouns:
            return Inapplicable("no gendered noun" if not self.pronouns else "no gendered word")
        draft = Draft(doc)
        for token, other in picked:
            draft.replace(token.index, token.index, other.word)
            _mend_mark(draft, token, other)
        for token, word in pronouns:
            draft.replace(token.index, token.index, word)
        words = [t.text for t, _ in picked] + [t.text for t, _ in pronouns]
        return draft.finish(words=words, replacements=[c.word for _, c in picked] + [p for _, p in pronouns])


def _gendered(doc: Doc, token: Token) -> Counterpart | None:
    other = counterpart(token.lower)
    if other is None:
        return None
    tokens, at = doc.tokens, token.index
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    if token.lower in TITLES:
        named = after is not None and after.tag in ("NNP", "NNPS") and not after.text.islower()
        return other if named and token.text[0].isupper() else None
    if token.tag[:2] not in ("NN", "JJ"):
        return None
    if after is not None and after.text in ("-", "‑") and doc.touches(at + 1):  # man-made, but mother-in-law
        return other if at + 2 < len(tokens) and tokens[at + 2].lower == "in" else None
    if at > 1 and tokens[at - 1].text in ("-", "‑") and doc.touches(at) and len(tokens[at - 2].text) == 1:
        return None  # X-men
    if (
        after is not None
        and after.tag in ("NNP", "NNPS")
        and after.text[0].isupper()
        and token.text[0].isupper()
        and not token.text.isupper()
    ):
        return None  # King Charles
    if in_name(doc, token):
        return other if token.lower in ADDRESS and token.text.istitle() else None
    return None if after is not None and in_set_phrase(token.lower, after.lower) else other


def _couples(doc: Doc, gendered: Sequence[_Person]) -> list[tuple[_Person, _Person]]:
    """Pairs of neighbours that are each other's counterpart and do the same thing.

    Examples are `a man and a woman` and `a boy standing next to a girl`.
    """
    couples = []
    for left, right in pairwise(gendered):
        between = doc.tokens[left[0].index + 1 : right[0].index]
        joined = any(t.tag == "CC" or t.lower in _BESIDE for t in between) and all(
            t.tag in _BETWEEN or t.lower in _BESIDE for t in between
        )
        if joined and left[1].was != right[1].was and left[1].word == right[0].lower:
            couples.append((left, right))
    return couples


def _pronoun(doc: Doc, token: Token) -> str | None:
    if any(0 <= i < len(doc.tokens) and doc.tokens[i].text == "/" for i in (token.index - 1, token.index + 1)):
        return None  # he/she
    return pronoun_of_other_gender(doc, token)


def _mend_mark(draft: Draft, token: Token, other: Counterpart) -> None:
    """ladies' becomes gentlemen's."""
    tokens, at = draft.doc.tokens, token.index + 1
    if at < len(tokens) and tokens[at].tag == "POS" and draft.doc.touches(at) and tokens[at].text[0] in "'’":
        mark = possessive_mark(other.word, other.plural, tokens[at].text)
        if mark.lower() != tokens[at].lower.replace("'", mark[0]):
            draft.replace(at, at, mark)
