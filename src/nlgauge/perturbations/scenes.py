"""Perturbations of captions and dialogues: things, attributes, people and gender; replies that say nothing."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import ClassVar, Literal, NamedTuple

from nlgauge.core.options import Checked
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.negation import Negation
from nlgauge.perturbations.perturb import Case, Change, Inapplicable, Turn, apply_edits, worse
from nlgauge.perturbations.words import (
    after_measure,
    field_of,
    in_name,
    modified_noun,
    single_words,
    stands_alone,
    words_of,
)
from nlgauge.text.doc import ADJECTIVES, COMMON, FINITE, HYPHENS, NOUNS, PROPER, Doc, Token
from nlgauge.text.english.clauses import PARTITIVES, PLACES, Thing, find_clauses, plain, things
from nlgauge.text.english.verbs import (
    ADDRESS,
    TITLES,
    Counterpart,
    counterpart,
    is_english,
    is_loud,
    is_question,
    possessive_mark,
    pronoun_of_other_gender,
)
from nlgauge.text.lexicon import OwnWord, article_before, in_set_phrase, neighbours, own_words, rank, read_own_word
from nlgauge.text.scripts import WordList, data_lines

_ATTRIBUTIVE = ADJECTIVES | {"VBN", "VBG"}
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
_ANY = "*"
_Person = tuple[Token, Counterpart]
_Site = tuple[Token, str, Sequence[str]]  # a word of the text, its kind, and what may take its place


class Attribute(NamedTuple):
    """A word for what can be seen of a thing.

    Attributes:
        kind: colour, size, age, material, pattern, shape, number, state, look or place.
        others: what may take its place, each as good as the next.
    """

    kind: str
    others: Sequence[OwnWord]

    def fitting(self, field: str | None) -> list[str]:
        """The other words that can be said of a noun of a field of meaning."""
        return [other.word for other in self.others if other.fits(field)]


def attribute(word: str) -> Attribute | None:
    """The entry of a base form in small letters; None where it is no attribute of ours."""
    return _attribute_table().get(word)


@cache
def _attribute_table() -> Mapping[str, Attribute]:
    table: dict[str, Attribute] = {}
    sets: dict[str, list[str]] = {}
    for line in data_lines("attributes.tsv"):
        kind, word, cell = line.split("\t")
        words = cell.split(" ")
        if word == _ANY:
            sets[kind] = words
            table.update((w, Attribute(kind, [OwnWord(o, frozenset()) for o in words if o != w])) for w in words)
            continue
        if words[0] == _ANY:
            less = {w[1:] for w in words[1:]}
            words = [w for w in sets[kind] if w not in less and w != word]
        table[word] = Attribute(kind, [read_own_word(w) for w in words])
    return table


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
        old, new, kinds = list[str](), list[str](), list[str]()
        for token, kind, others in sites if self.which == "all" else [rng.choice(sites)]:
            words = [w for w in others if w not in used]
            if not words:
                continue
            word = rng.choice(words)
            used.add(word)
            draft.replace(token.index, token.index, word)
            old.append(token.text)
            new.append(word)
            kinds.append(kind)
        return draft.finish(words=old, replacements=new, kinds=kinds) if new else Inapplicable("no attribute")


def _attributes(case: Case) -> Iterator[_Site]:
    """Words of our sets that say something of a thing."""
    doc, present = case.doc, words_of(case)
    for token in doc.tokens:
        if token.tag not in _ATTRIBUTIVE and token.tag not in COMMON:
            continue
        base = token.lower if token.tag not in ("JJR", "JJS") else case.language.lemma(token.lower, token.tag)
        entry = attribute(base)
        if entry is None or not stands_alone(doc, token) or in_name(doc, token):
            continue
        if not _says_something(doc, token, entry.kind):
            continue
        noun = modified_noun(doc, token)
        words = entry.fitting(field_of(case, noun))
        if noun is not None and noun.lower in _HAIR and entry.kind == "colour":
            words = [w for w in words if w in _OF_HAIR]
        forms = [_form(case, token, word) for word in words]
        fitting = [form for form in forms if form and form not in present]
        if fitting:
            yield token, entry.kind, fitting


def _form(case: Case, token: Token, word: str) -> str | None:
    """A word as it is compared where the token is; None where that takes more than one word."""
    graded = token.tag in ("JJR", "JJS")
    form = case.language.inflect(word, token.tag) if graded else word
    return form if form and " " not in form and not (graded and word == "little") else None  # less is no size


def _says_something(doc: Doc, token: Token, kind: str) -> bool:
    """Whether the word is used as an attribute.

    It is not in `a glass of wine` (glass), `eats an orange` (orange) and `hot dog` (hot).
    """
    at = token.index
    before, after = doc.low(at - 1), doc.tag(at + 1)
    if in_set_phrase(token.lower, doc.low(at + 1)):
        return False
    if token.tag in COMMON:  # a noun before a noun, or a colour worn: a woman in red
        modifies = after in COMMON and stands_alone(doc, doc.tokens[at + 1]) and doc.tag(at - 1) not in COMMON
        worn = kind == "colour" and before == "in" and token.tag == "NN"
        return (modifies and kind in ("material", "colour", "pattern")) or worn
    if kind == "number" and (before in _FEW.get(token.lower, ()) or doc.low(at + 1) == "of"):
        return False
    if token.tag in ("VBN", "VBG"):  # a participle: only before its noun
        return after in COMMON
    if after == "VBN" and token.tag == "JJ" and kind != "colour":
        return False  # old fashioned, narrow gauged
    in_pictures = kind == "colour" and _in_black_and_white(doc, at)
    return not in_pictures and not _is_fruit(doc, at) and not after_measure(doc, token)


def _is_fruit(doc: Doc, at: int) -> bool:
    """Whether `orange` has an article and no noun to give a colour to."""
    if doc.low(at) != "orange" or doc.tag(at - 1) != "DT":
        return False
    if at + 2 < len(doc.tokens) and (doc.tag(at + 1) == "CC" or doc.low(at + 1) == ","):
        return attribute(doc.low(at + 2)) is None
    return doc.tag(at + 1) not in (*COMMON, "JJ", "VBG")


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
        if noun is None or after_measure(doc, token) or in_set_phrase(token.lower, doc.low(token.index + 1)):
            continue
        base = case.language.lemma(token.lower, token.tag)
        if attribute(base) is not None:  # one of ours that is used for something else
            continue
        ours = own_words(base, "adj", "antonym")
        opposites = [word.word for word in ours or () if word.fits(field_of(case, noun))]
        if not opposites:
            sure = neighbours(base, "adj", "antonym")
            opposites = [w for w in case.language.related(base, "adj", "antonym") if sure.get(w)]
        opposites, kind = [w for w in opposites if _plain_opposite(base, w)][:1], "opposite"
        if not opposites:
            kind, opposites = _of_its_kind(case.language.related(base, "adj", "sibling"))
        forms = [_form(case, token, word) for word in opposites]
        words = [f for f in forms if f and f.lower() not in present]
        if words:
            yield token, kind, words


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
        changed = [(t, c.word) for t, c in picked]
        if self.pronouns and (alone or not gendered):
            changed += [(t, p) for t in doc.tokens if (p := _pronoun(doc, t)) is not None]
        if not changed:
            return Inapplicable("no gendered noun" if not self.pronouns else "no gendered word")
        draft = Draft(doc)
        for token, word in changed:
            draft.replace(token.index, token.index, word)
        for token, other in picked:
            _mend_mark(draft, token, other)
        return draft.finish(words=[t.text for t, _ in changed], replacements=[word for _, word in changed])


def _gendered(doc: Doc, token: Token) -> Counterpart | None:
    other = counterpart(token.lower)
    if other is None:
        return None
    at, capital = token.index, token.text[0].isupper()
    name = doc.tokens[at + 1].text if doc.tag(at + 1) in PROPER else ""
    if token.lower in TITLES:
        return other if capital and name and not name.islower() else None
    if token.tag[:2] not in ("NN", "JJ"):
        return None
    if doc.low(at + 1) in HYPHENS and doc.touches(at + 1):  # man-made, but mother-in-law
        return other if doc.low(at + 2) == "in" else None
    if at > 1 and doc.low(at - 1) in HYPHENS and doc.touches(at) and len(doc.tokens[at - 2].text) == 1:
        return None  # X-men
    if capital and not token.text.isupper() and name[:1].isupper():
        return None  # King Charles
    if in_name(doc, token):
        return other if token.lower in ADDRESS and token.text.istitle() else None
    return None if in_set_phrase(token.lower, doc.low(at + 1)) else other


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
    shared = "/" in (doc.low(token.index - 1), doc.low(token.index + 1))  # he/she
    return None if shared else pronoun_of_other_gender(doc, token)


def _mend_mark(draft: Draft, token: Token, other: Counterpart) -> None:
    """ladies' becomes gentlemen's."""
    doc, at = draft.doc, token.index + 1
    if doc.tag(at) == "POS" and doc.touches(at) and doc.tokens[at].text[0] in "'’":
        mark = possessive_mark(other.word, other.plural, doc.tokens[at].text)
        if mark.lower() != doc.low(at).replace("'", mark[0]):
            draft.replace(at, at, mark)


# --- Responses that do not answer: turns said again, contradicted, not heard, or dull

SORRY = (
    "I'm sorry, can you repeat?",
    "Sorry, could you repeat that?",
    "I'm sorry, I did not hear you. Can you repeat that?",
    "Sorry, what did you say? Please repeat it.",
    "I'm sorry, could you repeat what you just said?",
    "Sorry, I missed that. Could you repeat it, please?",
)
GENERIC = ("Yes.", "Ok.", "Thank you.", "Bye.", "I see.", "Sure.", "Alright.", "I don't know.")
_NO_OWN_TURN = Inapplicable("no earlier turn of the speaker")


@dataclass(frozen=True, kw_only=True)
class NegatePreviousUtterance(Checked):
    """Say the opposite of what the same speaker said before, in place of the response.

    An earlier turn of the speaker is drawn among those that can be negated; it takes the place of the response,
    negated.

    Args:
        contracted: write n't instead of "not". With None this follows the turn that is negated.
    """

    contracted: bool | None = None
    info: ClassVar = worse(
        "contradict an earlier turn of the same speaker",
        ("Then I will take the bus.", "I do not like trains."),
        needs=("english", "context"),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced."""
        turns = _own_turns(case)
        if not turns:
            return _NO_OWN_TURN
        negation = Negation(contracted=self.contracted)
        drawn = [(place, turn, case.language.analyse(turn.text)) for place, turn in rng.sample(turns, len(turns))]
        for place, turn, doc in sorted(drawn, key=lambda d: not _states(d[2])):
            change = negation(Case(doc, case.language), rng) if is_english(doc) else None
            if isinstance(change, Change):
                new = apply_edits(turn.text, change.edits).strip()
                if not _alike(new, case.text):
                    return case.replaced(new, turn=place, said=turn.text, **change.meta)
        return Inapplicable("no turn to negate")


@dataclass(frozen=True, kw_only=True)
class RepeatOwnUtterance:
    """Repeat an earlier turn of the same speaker in place of the response."""

    info: ClassVar = worse(
        "repeat an earlier turn of the same speaker",
        ("Then I will take the bus.", "I like trains."),
        needs=("context",),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced by a turn drawn among the speaker's own."""
        turns = _own_turns(case)
        if not turns:
            return _NO_OWN_TURN
        others = [(place, turn) for place, turn in turns if not _alike(turn.text, case.text)]
        if not others:
            return Inapplicable("unchanged")
        place, turn = rng.choice(others)
        return case.replaced(turn.text.strip(), turn=place)


@dataclass(frozen=True, kw_only=True)
class RepeatLastSpeaker:
    """Repeat what the other speaker said last in place of the response."""

    info: ClassVar = worse(
        "repeat the other speaker's last turn", ("Then I will take the bus.", "The train is late."), needs=("context",)
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced by the latest turn that is not the speaker's own."""
        for place in reversed(range(len(case.context))):
            turn = case.context[place]
            if turn.speaker != case.speaker and turn.text.strip():
                if _alike(turn.text, case.text):
                    return Inapplicable("unchanged")
                return case.replaced(turn.text.strip(), turn=place)
        return Inapplicable("no turn of another speaker")


@dataclass(frozen=True, kw_only=True)
class _Reply(Checked):
    """Replace the response by one of several replies.

    Args:
        replies: the replies to draw from: a list, or one string with `|` between them.
    """

    replies: str | Sequence[str]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The whole response replaced."""
        listed = self.replies.split("|") if isinstance(self.replies, str) else self.replies
        others = [reply.strip() for reply in listed if reply.strip() and not _alike(reply, case.text)]
        return case.replaced(rng.choice(others)) if others else Inapplicable("unchanged")


@dataclass(frozen=True, kw_only=True)
class SorryRepeat(_Reply):
    """Replace the response by a request to repeat."""

    replies: str | Sequence[str] = SORRY
    info: ClassVar = worse(
        "ask the other speaker to repeat, as if not listening", ("I will take the bus.", "I'm sorry, can you repeat?")
    )


@dataclass(frozen=True, kw_only=True)
class GenericResponse(_Reply):
    """Replace the response by a dull reply that fits everywhere."""

    replies: str | Sequence[str] = GENERIC
    info: ClassVar = worse("give a dull reply that fits everywhere", ("I will take the bus.", "Ok."))


def _own_turns(case: Case) -> list[tuple[int, Turn]]:
    """Earlier turns of the one who speaks, with their places in the context."""
    return [
        (place, turn) for place, turn in enumerate(case.context) if turn.speaker == case.speaker and turn.text.strip()
    ]


def _states(doc: Doc) -> bool:
    """Whether a text has a clause that is no question."""
    return any(c.rank == 0 and not is_question(doc, c.sentence) for c in find_clauses(doc))


def _alike(one: str, other: str) -> bool:
    """Whether two texts have the same letters and figures in the same order."""
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum()) or text.strip()


# --- Perturbations of which things a caption names: swapped, dropped, named again

_IN_LISTS = NOUNS | {"DT", "JJ", "CD", "PRP$", "CC", ",", "VBN"}
_SYMMETRIC = frozenset({"and", "or", ",", "&", "next", "to", "beside", "besides", "near", "with", "alongside"})
_CLAUSES = WordList("scenes", "opening clauses")
_FIRST_HALVES = WordList("scenes", "first halves")
_CLITICS = frozenset({"'s", "'ll", "'d", "'re", "'ve"})
_NEAR = 12  # a thing is swapped with one of so many behind it, which keeps the work linear in the text
_NO_PLURAL_THE = frozenset({"", "a", "an", "some", "any", "many", "several", "few", "no"})


@dataclass(frozen=True, kw_only=True)
class SwapObjects(Checked):
    """Swap two things: a man in front of a tree becomes a tree in front of a man.

    Things of the same number go first, so that verbs still agree; where none are, a noun takes the number of the place
    it comes to (`number: adapted` in the meta). Things that `a` cannot stand before (water) take their whole phrase
    along.

    Args:
        unit: `head` swaps two nouns (a compound as a whole), and leaves determiners and adjectives where they are;
            `phrase` swaps determiners and adjectives, too.
    """

    unit: Literal["head", "phrase"] = "head"
    info: ClassVar = worse("swap two objects", ("a man in front of a tree", "a tree in front of a man"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Two edits, and articles where they must fit."""
        doc = case.doc
        objects = things(case.doc, case.language)
        if len(objects) < 2:
            return Inapplicable("fewer than two objects")
        near = [(a, b) for i, a in enumerate(objects) for b in objects[i + 1 : i + 1 + _NEAR]]
        pairs = [(a, b) for a, b in near if a.base.lower() != b.base.lower() and a.text.lower() != b.text.lower()]
        pairs = [(a, b) for a, b in pairs if not _listed(doc, a, b)]
        if not pairs:
            return Inapplicable("no two distinct objects")
        strains = [_strain(doc, a, b) for a, b in pairs]
        least = min(strains)
        a, b = rng.choice([pair for pair, strain in zip(pairs, strains, strict=True) if strain == least])
        whole = self.unit == "phrase" or not _can_stand_for(doc, a, b)
        draft = Draft(doc)
        for old, new in ((a, b), (b, a)):
            text = plain(doc, new.start, new.end) if whole else _in_number(case, new, old.plural)
            draft.replace(old.start if whole else old.first, old.last, _stopped(doc, old, text), cased=False)
        number = "same" if a.plural == b.plural else "differs" if whole else "adapted"
        return draft.finish(objects=[a.text, b.text], unit="phrase" if whole else "head", number=number)


@dataclass(frozen=True, kw_only=True)
class DropObjects(Checked):
    """Drop the things that a caption names.

    Args:
        which: `nouns` drops the nouns alone, as the paper does: what is said of them stays. `all` drops every object
            with its determiner and adjectives; verbs, prepositions and pronouns stay. One object stays if nothing else
            would be left. `one` drops a single object with the preposition before it, and leaves a sentence that can be
            read.
    """

    which: Literal["nouns", "all", "one"] = "nouns"
    info: ClassVar = worse("drop objects", ("A small child playing with a red ball.", "A small playing with a red."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Deletions, with what they leave dangling."""
        doc, objects = case.doc, things(case.doc, case.language)
        if not objects:
            return Inapplicable("no object")
        if self.which == "one":
            picked = [rng.choice(_droppable(doc, objects))]
            gone = _with_bonds(doc, picked[0])
        else:
            picked = objects
            gone = self._tokens(doc, picked)
        if _nothing_left(doc, gone) and len(objects) > 1:
            kept = rng.choice(objects)
            picked = [t for t in objects if t is not kept]
            gone = self._tokens(doc, picked)
        gone |= {t.last + 1 for t in picked if _has_clitic(doc, t)}
        if _nothing_left(doc, gone):
            return Inapplicable("nothing would be left")
        draft = Draft(doc)
        for index in sorted(gone):
            draft.delete(index, index)
        draft.tidy()
        return draft.finish(articles=self.which != "nouns", objects=[t.text for t in picked])

    def _tokens(self, doc: Doc, picked: Sequence[Thing]) -> set[int]:
        """The tokens of things: their nouns, or their phrases with the words that only join or count them."""
        if self.which == "nouns":
            return {i for t in picked for i in range(t.first, t.last + 1)}
        return _with_joints(doc, {i for t in picked for i in range(t.start, t.end + 1)})


@dataclass(frozen=True, kw_only=True)
class RepeatObject:
    """Name one of the things again at the end: a lady riding a horse and a lady."""

    info: ClassVar = worse("mention an object twice", ("A lady riding a horse.", "A lady riding a horse and a lady."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion before the final mark of the sentence."""
        doc, objects = case.doc, things(case.doc, case.language)
        if not objects:
            return Inapplicable("no object")
        objects = [t for t in objects if not t.named] or objects
        ends = {t.last: doc.sentences[doc.sentence_at[t.last]].last + 1 for t in objects}
        early = [t for t in objects if any(place is not None for place in doc.word_at[t.last + 1 : ends[t.last]])]
        solid = [t for t in early if not t.bare or doc.starts_sentence(t.start)] or [t for t in objects if not t.bare]
        thing = rng.choice(solid or early or objects)
        words, joint, draft = _again(doc, thing), " and ", Draft(doc)
        if is_loud(doc.text):
            words, joint = words.upper(), joint.upper()
        draft.append(doc.sentences[doc.sentence_at[thing.last]], words, joint=joint)
        return draft.finish(object=thing.text)


def _again(doc: Doc, thing: Thing) -> str:
    """The thing as it is named once more: a lady, dogs, the dogs, Anna."""
    if thing.named:
        return thing.text
    if thing.plural:
        counted = thing.determiner[:1].isdigit() or doc.tag(thing.start) == "CD"
        return thing.text if counted or thing.determiner in _NO_PLURAL_THE else f"the {thing.text}"
    if thing.bare and not doc.starts_sentence(thing.start):
        return thing.text  # water, and whatever else goes without an article here
    return f"{article_before(thing.text)} {thing.text}"


def _listed(doc: Doc, a: Thing, b: Thing) -> bool:
    """Whether two things stand in one list, where their order says nothing."""
    between = doc.tokens[a.last + 1 : b.first]
    return any(t.tag == "CC" or t.text == "," for t in between) and all(t.tag in _IN_LISTS for t in between)


def _strain(doc: Doc, a: Thing, b: Thing) -> int:
    """How much a swap asks of the reader's grammar, and how little it may say: 0 is best."""
    idle = all(t.lower in _SYMMETRIC for t in doc.tokens[a.last + 1 : b.start])
    return (
        2 * (a.plural != b.plural)
        + 3 * (a.named != b.named)
        + 2 * (not _can_stand_for(doc, a, b))
        + (doc.sentence_at[a.first] != doc.sentence_at[b.first])
        + idle
    )


def _can_stand_for(doc: Doc, a: Thing, b: Thing) -> bool:
    """Whether either noun fits behind the other's determiner."""
    if a.named or b.named:
        return a.named and b.named and bool(a.determiner) == bool(b.determiner)
    if a.plural and b.plural:
        return True
    loose = [t.bare and not _elided(doc, t) for t in (a, b)]
    return loose[0] == loose[1]


def _elided(doc: Doc, thing: Thing) -> bool:
    """Whether a noun that could have an article goes without one.

    It does at the start of a caption, and behind a noun that has one (`a man and woman`).
    """
    return doc.starts_sentence(thing.start) or doc.tag(thing.start - 1) == "CC"


def _in_number(case: Case, thing: Thing, plural: bool) -> str:
    """The noun of a thing in the number of the place where it goes."""
    text = plain(case.doc, thing.first, thing.last)
    if thing.plural == plural or thing.named:
        return text
    head = case.doc.tokens[thing.last]
    form = case.language.inflect(thing.base, "NNS" if plural else "NN") or thing.base
    return text[: len(text) - len(head.text)] + (form.upper() if len(head.text) > 1 and head.text.isupper() else form)


def _stopped(doc: Doc, place: Thing, new: str) -> str:
    """`new` with one full stop, or none, as its place has: `U.S.` may go before a full stop, or go from the end."""
    after = place.last + 1
    if new[-1] == "." and doc.low(after) == "." and doc.touches(after):
        return new[:-1]
    ends = place.last == doc.sentences[doc.sentence_at[place.last]].last and doc.tokens[place.last].text[-1] == "."
    return f"{new}." if ends and new[-1] != "." else new


def _droppable(doc: Doc, objects: Sequence[Thing]) -> Sequence[Thing]:
    """The things that a sentence can best do without.

    Those behind a preposition or in a list go first, then those that no verb needs, then any.
    """
    calm = [t for t in objects if doc.tag(t.end + 1) not in FINITE | {"POS", "CC"} and not _heads_list(doc, t)]
    loose = [t for t in calm if _preposition(doc, t) is not None and not _counted(doc, t)]
    second = [t for t in calm if doc.tag(t.start - 1) == "CC"]
    idle = [t for t in calm if t.start > 0 and doc.tag(t.start - 1) != "CC"]
    idle = [t for t in idle if doc.tag(t.end + 1) not in ("WDT", "WP", "VBG", "VBN")]
    return loose + second or idle or calm or list(objects)


def _heads_list(doc: Doc, thing: Thing) -> bool:
    """Whether more things follow behind a comma."""
    return doc.low(thing.end + 1) == "," and doc.tag(thing.end + 2) in _IN_LISTS


def _preposition(doc: Doc, thing: Thing) -> int | None:
    """The place where the preposition before a thing begins: of `in front of a tree` that of `in`."""
    at = thing.start - 1
    if doc.tag(at) not in ("IN", "TO") or doc.low(at) in _CLAUSES:
        return None
    if doc.low(at) in ("of", "to", "from") and doc.low(at - 1) in _FIRST_HALVES:
        return at - 1
    if doc.low(at) == "of" and doc.low(at - 1) in PLACES:
        place = at - 2
        while doc.tag(place) in ("DT", "JJ"):
            place -= 1
        if doc.tag(place) == "IN":
            return place
    return at


def _counted(doc: Doc, thing: Thing) -> bool:
    """Whether the noun before `of` counts the thing, as in `a group of people`."""
    return doc.low(thing.start - 1) == "of" and doc.low(thing.start - 2) in PARTITIVES


def _with_bonds(doc: Doc, thing: Thing) -> set[int]:
    """The tokens of a thing, with its preposition, what counts it, or the conjunction before it."""
    gone = set(range(thing.start, thing.end + 1))
    if _counted(doc, thing):
        return _with_joints(doc, gone)
    start = _preposition(doc, thing)
    if start is not None:
        gone |= set(range(start, thing.start))
    elif doc.tag(thing.start - 1) == "CC" and doc.tag(thing.end + 1) != "CC":
        gone.add(thing.start - 1)
    return _with_joints(doc, gone)


def _with_joints(doc: Doc, gone: set[int]) -> set[int]:
    """Tokens to delete, with the words that only join or count them.

    These are `of` with its `a group`, and `and` between two deleted things or at an end.
    """
    tokens, gone = doc.tokens, set(gone)
    for at in sorted(gone, reverse=True):
        if at - 1 in gone or doc.low(at - 1) != "of":
            continue
        if doc.low(at - 2) in PARTITIVES:
            gone |= {at - 1, at - 2}
            start = at - 3
            while doc.tag(start) in ("DT", "JJ", "CD", "CC") and start not in gone:
                gone.add(start)
                start -= 1
        elif at - 2 in gone:
            gone.add(at - 1)
    for sentence in doc.sentences:
        joints = {i for i in range(sentence.first, sentence.last + 1) if tokens[i].tag == "CC" and i not in gone}
        gone |= {i for i in joints if {i - 1, i + 1} <= gone}
        stay = [i for i in range(sentence.first, sentence.last + 1) if i not in gone and not tokens[i].is_punctuation]
        for end, beside in ((stay[:1], -1), (stay[-1:], 1)):
            gone |= {i for i in end if i in joints and i + beside in gone}
    return gone


def _has_clitic(doc: Doc, thing: Thing) -> bool:
    """Whether a short form leans on a thing, and cannot stand without it: `the dog's asleep`."""
    return doc.low(thing.last + 1) in _CLITICS and doc.touches(thing.last + 1)


def _nothing_left(doc: Doc, gone: set[int]) -> bool:
    """Whether no word but conjunctions and articles would remain."""
    return all(t.index in gone or doc.word_at[t.index] is None or t.tag in ("CC", "DT") for t in doc.tokens)
