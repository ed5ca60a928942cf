"""Perturbations of who, what and how many a text names: other people and places, pronouns, other numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar, Literal

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.options import Checked, checked
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import Case, Change, Edit, Inapplicable, as_good, attack, worse
from nlgauge.perturbations.words import (
    MismatchVerb,
    draw,
    field_of,
    is_grammar,
    room_for_noun,
    single_words,
    words_of,
)
from nlgauge.text.doc import ADJECTIVES, ADVERBS, HYPHENS, NOUNS, PROPER, Doc, Span, Token
from nlgauge.text.english.clauses import modifies, with_hangers
from nlgauge.text.english.subjects import opening_subjects
from nlgauge.text.english.verbs import BE, is_loud
from nlgauge.text.lexicon import POSES, rank
from nlgauge.text.names import (
    Entity,
    Gender,
    Person,
    entities,
    first_names,
    gender_of,
    gender_of_title,
    is_first_name,
    is_last_name,
    last_names,
    name_words,
    places,
)
from nlgauge.text.numbers.changes import changed_numbers, spelled_numbers
from nlgauge.text.numbers.words import YearStyle
from nlgauge.text.scripts import WordList
from nlgauge.text.tagging import known_tags

# --- Other names for people and places: of the same gender, of the same kind, and never one that the text has already

_FIRST, _LAST = 150, 400  # how far down the lists of names, the most frequent first
_SHORTEST = 3  # letters; shorter ones are initials or words (Al, Ty, Jo)
# Names of which one bearer comes to mind, or the gender is in doubt.
_LEFT_OUT = frozenset({"Jesus", "Roosevelt", "Clinton", "Muhammad", "Angel", "Adolf"})
# Names that the census writes in another way than people do.
_MISSPELT = frozenset("Obrien Oconnor Oneal Oneil Oneill Odonnell Ohara Deleon Delacruz Dejesus".split())
COUNTRIES = WordList("words", "countries")
CITIES = WordList("words", "cities")
STATES = WordList("words", "states")


def basis(doc: Doc, person: Person) -> str:
    """The evidence of a person's gender: title, first name, mention (another mention of the same), or unknown."""
    if person.gender is None:
        return "unknown"
    if person.title is not None and gender_of_title(doc.tokens[person.title]) is not None:
        return "title"
    if person.given is not None and gender_of(doc.tokens[person.given].text) is not None:
        return "first name"
    return "mention"


def given_span(doc: Doc, person: Person) -> tuple[int, int] | None:
    """The tokens of the first name, with what hyphens tie to it (Anne-Marie)."""
    return None if person.given is None else (person.given, doc.tied(person.given, person.last))


def family_span(doc: Doc, person: Person) -> tuple[int, int] | None:
    """The tokens of the last name, with particles before it (van Beethoven) and what hyphens tie to it."""
    if person.family is None:
        return None
    given = given_span(doc, person)
    if given is not None and given[1] >= person.family:
        return None  # Anne-Marie-Dupont: hyphens tie both names, and the first has it all
    first = person.family
    floor = person.first if given is None else given[1] + 1
    while first > floor and (
        doc.tokens[first - 1].text.lower() in name_words("particle") or doc.tokens[first - 1].text in HYPHENS
    ):
        first -= 2 if doc.tokens[first - 1].text in HYPHENS else 1
    return max(first, floor), doc.tied(person.family, person.last)


def another_first_name(rng: random.Random, gender: Gender | None, taken: Collection[str]) -> str:
    """A frequent first name, of a gender where one is given, that is not among some (in small letters)."""
    return _drawn(rng, _frequent_first_names(gender), taken)


def another_last_name(rng: random.Random, taken: Collection[str]) -> str:
    """A frequent last name that is not among some (in small letters)."""
    return _drawn(rng, _frequent_last_names(), taken)


def another_place(rng: random.Random, place: str, taken: Collection[str]) -> str | None:
    """A country for a country, a state for a state, a city for a city; None for other places and what is not known."""
    kind = places().get(place) or places().get(f"The {place}")
    lists = {"country": COUNTRIES, "state": STATES, "capital": CITIES, "place": CITIES}
    if kind is None or (kind == "place" and place not in CITIES):
        return None
    free = [name for name in lists[kind] if name.lower() not in taken]
    return rng.choice(free) if free else None


def _drawn(rng: random.Random, names: Sequence[str], taken: Collection[str]) -> str:
    while (name := rng.choice(names)).lower() in taken:  # a text cannot name hundreds of people with frequent names
        if all(n.lower() in taken for n in names):
            return f"{name}son"
    return name


@cache
def _frequent_first_names(gender: Gender | None) -> list[str]:
    clear = [n for n in first_names(gender) if gender is not None or gender_of(n) is not None]
    return [n for n in clear if len(n) > _SHORTEST and not is_last_name(n) and n not in _LEFT_OUT][:_FIRST]


@cache
def _frequent_last_names() -> list[str]:
    """Without those that are words in small letters, or rarely: Hicks, but not Baker."""
    listed = [n for n in last_names() if len(n) > _SHORTEST and not is_first_name(n)]
    frequent = [n for n in listed if n not in _MISSPELT and all(rank(n, pos) is None for pos in POSES)][:_LAST]
    return [f"Mc{n[2:].capitalize()}" if n.startswith("Mc") else n for n in frequent]


# --- Perturbations of pronouns: the wrong ones, and pronouns where nouns told whom or what is meant

# Of each person: what takes the place of its forms. `her` and `his` have two readings and are looked up by them.
_OTHERS: Mapping[str, Mapping[str, str]] = {
    "they": {"they": "we", "them": "us", "their": "our", "theirs": "ours", "themselves": "ourselves"},
    "we": {"we": "they", "us": "them", "our": "their", "ours": "theirs", "ourselves": "themselves"},
    "he": {"he": "she", "him": "her", "his": "her", "his (alone)": "hers", "himself": "herself"},
    "she": {"she": "he", "her": "his", "her (object)": "him", "hers": "his", "herself": "himself"},
}
_PAIRS = ({"he", "she"}, {"him", "her"}, {"his", "her"}, {"his", "hers"})
_OWNED = tuple("NN NNS NNP NNPS JJ JJR JJS CD VBG VBN FW RBS HYPH".split())  # what may follow a possessive
_DAYS = frozenset("yesterday today tomorrow tonight monday tuesday wednesday thursday friday saturday sunday".split())
_TIMES = WordList("words", "times")
_OF_TIMES = frozenset("'s ’s at in as of with".split())  # behind a time that is hers
_BEFORE_NOUNS = ADJECTIVES | ADVERBS | {"VBN", "HYPH"}
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
            new, behind_but = pronoun, doc.tag(subject.span.first - 1) == "CC"
            if is_loud(sentence):
                new = pronoun.upper()
            elif (old[0].isupper() or old[0].isdigit()) and not behind_but:
                new = pronoun.capitalize()
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
    opens = doc.starts_sentence(token.index) and not token.text.isupper()
    if not token.text.islower() and token.tag[:3] != "PRP" and not opens:
        return None  # the US
    if (token.text == "US" and not is_loud(doc.text)) or _paired(doc, token):
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
    if doc.low(token.index - 1) == "of" and doc.tag(token.index - 2) == "NN" and at <= sentence.last:
        return doc.tag(at) in _OWNED and doc.tag(at) != "VBN"  # "a friend of his came"
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
    apart = (t for t in follow if t.lower not in _JOINTS and t.text not in _OPENING)
    noun = next((t for t in apart if t.tag not in _BEFORE_NOUNS), None)
    if noun is None or (noun.tag[:2] != "NN" and noun.tag not in ("CD", "VBG", "FW")):
        return doc.starts_sentence(token.index) or follow[0].lower == "own"  # not in "made her happy", "left her alone"
    if noun is follow[0] and not behind[:1].isalnum() and known_tags(noun.lower)[:1] == ("JJ",):
        return False  # "found her guilty."
    before = doc.low(token.index - 1)
    if before in _CAUSING and follow[0].lower in _DONE and behind not in _OF_TIMES:
        return False  # "made her cry"
    if token.tag == "PRP":  # an object, save where a bare noun for one thing would stand behind it
        return behind in ("'s", "’s") or (noun.tag == "NN" and noun is not follow[0] and before not in _GIVING)
    return True


def _paired(doc: Doc, token: Token) -> bool:
    """Whether the pronoun of the other gender stands beside it: "he or she", "his/her".

    To exchange both would change nothing.
    """
    return any(
        doc.low(token.index + step) in ("or", "/", "and") and {token.lower, doc.low(token.index + 2 * step)} in _PAIRS
        for step in (1, -1)
    )


# --- Perturbations of numbers: written out, which changes nothing, and changed, which makes a text wrong

Which = Literal["all", "one"]
Group = list[tuple[int, int, str]]


@dataclass(frozen=True, kw_only=True)
class NumbersToWords(Checked):
    """Write numbers out: amounts, percentages, units, ordinals, years, ranges.

    Dates in figures, times, telephone numbers, versions, designations, scores and labels are left in figures.

    Args:
        which: write `all` numbers in words, or `one`; dates in figures, times, scores and labels stay in figures.
        british_and: write "one hundred and twenty-seven" instead of "one hundred twenty-seven".
        money: $1.70 becomes "one dollar and seventy cents" with `cents`, and "one point seven dollars" with `point`.
        years: `words` writes years and decades in words; `leave` keeps their figures.
        year_style: 2005 becomes "two thousand five" with `thousand`, and "twenty oh five" with `pairs`.
    """

    which: Which = "all"
    british_and: bool = False
    money: Literal["cents", "point"] = "cents"
    years: Literal["words", "leave"] = "words"
    year_style: YearStyle = "thousand"
    info: ClassVar = as_good(
        "write numbers in words",
        (
            "A ticket for the 5 km ride costs $1.70.",
            "A ticket for the five-kilometre ride costs one dollar and seventy cents.",
        ),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per number, and one for "a" or "an" where it changes."""
        groups = spelled_numbers(
            case.text,
            tags={t.start: t.tag for t in case.doc.tokens},
            british_and=self.british_and,
            money=self.money,
            years=self.years,
            year_style=self.year_style,
        )
        return _change(case, rng, groups, self.which)


@dataclass(frozen=True, kw_only=True)
class ChangeNumbers(Checked):
    """Put other numbers of the same form in the place of numbers, in figures or in words.

    The new number has as many digits, and the same separators, decimals and zeros at the end. A percentage up to 100
    stays within 100, and a year stays in its century. Equal numbers stay equal. Times, telephone numbers, versions,
    designations and numbers in names are left as they are.

    Args:
        which: change `all` numbers, or `one`; times, telephone numbers, versions and numbers in names stay.
        skip_dates: leave years, decades, centuries and days of months as they are.
        in_words: change numbers in words, too.
        least: the smallest change, as a share of the number: 0.1 is a tenth. Dates are not bound by it.
        most: the largest change, as a share of the number; None sets no limit. Dates are not bound by it.
    """

    which: Which = "all"
    skip_dates: bool = False
    in_words: bool = True
    least: float = 0.0
    most: float | None = None
    info: ClassVar = worse(
        "change numbers and dates",
        ("The bridge of 1990 is 1,200 metres long.", "The bridge of 1920 is 5,100 metres long."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per number, and one for "a" or "an" where it changes."""
        band = None if self.most is None and self.least <= 0 else (self.least, 9.0 if self.most is None else self.most)
        groups = changed_numbers(case.text, rng, skip_dates=self.skip_dates, band=band, in_words=self.in_words)
        return _change(case, rng, groups, self.which)


@dataclass(frozen=True, kw_only=True)
class NumberError(ChangeNumbers):
    """Change numbers, all but dates. Args: as for `ChangeNumbers`."""

    skip_dates: bool = True
    info: ClassVar = attack(
        "change numbers, but leave dates alone",
        ("In 1990 it paid 25% to 19,000 people.", "In 1990 it paid 45% to 12,000 people."),
    )


def _change(case: Case, rng: random.Random, groups: Sequence[Group], which: Which) -> Change | Inapplicable:
    """The edits of all groups or of one, with old and new in the meta."""
    if not groups:
        return Inapplicable("no number")
    chosen = [rng.choice(groups)] if which == "one" else groups
    edits = [Edit(*edit) for group in chosen for edit in group]
    return Change(edits, {"numbers": [[case.text[group[-1][0] : group[-1][1]], group[-1][2]] for group in chosen]})


# --- Perturbations of who and what is named: another name, a wrong one, none

# Draws for a noun of the same field: 15 to 25 % of all nouns are of a frequent field, so that nine times in ten one of
# so many is.
_DRAWS = 12
_EMPTY = frozenset({"DT", "IN", "TO", "CC", "PRP", "PRP$", "MD", "WP", "WDT", "WRB", "POS"})  # tags of words of grammar
_NEEDY = frozenset(
    "the a an his her their its our my in at of from with by for to on between under against near about into"
    " like than called titled entitled named".split()
)
_NAMES_OPENING = frozenset({'"', "“", "``", "'", "‘", "("})
_ARTICLES = frozenset({"the", "a", "an"})
_NO_OBJECT = frozenset({"CC", "MD", "VBZ", "VBP", "VBD", "WDT", "PRP"})
_QUOTED = re.compile(r"(?<![\w])['‘\"“`]([^'‘’\"“”`\n]{1,60})['’\"”](?!\w)")
_ORDINAL = re.compile(r"[0-9]+(?:st|nd|rd|th)")
_NUMBERS = frozenset("Two Three Four Five Six Seven Eight Nine Ten Twelve First Second Third".split())
_EPITHETS = frozenset("Great Elder Younger Terrible Conqueror Bold Wise Magnificent First Second Third".split())
# Of more names than a few, this share of the words may go with them: of what is little but names ruins would be left.
_FEW, _MOST = 3, 0.4
_KINDS = ("name", "noun", "verb")
_NO_PERSON = Inapplicable("no person named")


@dataclass(frozen=True, kw_only=True)
class ChangeNames(Checked):
    """Give people other names of the same gender, wherever the text names them.

    Args:
        which: rename `all` people of the text, or `one`.
    """

    which: Literal["all", "one"] = "all"
    info: ClassVar = worse(
        "give people other names",
        ("Then Laura sang, and Laura’s dog barked.", "Then Helen sang, and Helen’s dog barked."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per part of a name."""
        people = case.language.persons(case.doc)
        if not people:
            return _NO_PERSON
        picked = people
        if self.which == "one":
            who = rng.choice(list(dict.fromkeys(p.who for p in people)))
            picked = [p for p in people if p.who == who]
        draft = Draft(case.doc)
        return draft.finish(names=_rename(case.doc, draft, picked, people, rng))


@dataclass(frozen=True, kw_only=True)
class WrongName:
    """Replace exactly one name by another of the same gender.

    It is a first name if its gender is known, else a last name.
    """

    info: ClassVar = attack(
        "replace one name by another", ("Then Laura Palmer spoke.", "Then Monica Palmer spoke."), name="name_error"
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit; the meta name the source of the gender."""
        doc = case.doc
        people = case.language.persons(doc)
        if not people:
            return _NO_PERSON
        person = rng.choice(people)
        taken = {t.lower for t in doc.tokens}
        given, family = given_span(doc, person), family_span(doc, person)
        if given is not None and person.gender is not None:
            span, new = given, another_first_name(rng, person.gender, taken)
        else:
            span, new = family or given or (person.first, person.last), another_last_name(rng, taken)
        draft = Draft(doc)
        draft.replace(*span, new)
        return draft.finish(
            name=doc.between(doc.span(*span)), replacement=new, gender=person.gender, basis=basis(doc, person)
        )


@dataclass(frozen=True, kw_only=True)
class DropNamedEntities(Checked):
    """Drop names of people, places, organisations and other things.

    What belongs to a name alone goes, too: the article or preposition before it, the commas around it.

    Args:
        which: drop `all` names, or `one`.
    """

    which: Literal["all", "one"] = "all"
    info: ClassVar = worse("drop names", ("The singer, Carla Bruni, arrived in Paris.", "The singer arrived."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Deletions."""
        doc, named = case.doc, _named(case.doc)
        if not named:
            return Inapplicable("no named entity")
        if self.which == "one":
            named = [rng.choice(named)]
        spans: list[Span] = []
        for entity in named:
            span = _in_whole(doc, entity)
            if spans and span.first <= spans[-1].last + 1:  # one name, of which a part is a person's
                before = spans.pop()
                span = doc.span(min(before.first, span.first), max(before.last, span.last))
            spans.append(span)
        gone = with_hangers(doc, spans)
        words = [t.index for t in doc.tokens if doc.word_at[t.index] is not None]
        lost = sum(i in gone for i in words)
        if all(i in gone or doc.tokens[i].tag in _EMPTY or doc.tokens[i].lower in BE for i in words):
            return Inapplicable("nothing would be left")
        if len(spans) > _FEW and lost > _MOST * len(words):
            return Inapplicable("too many names")
        if _dangles(doc, gone):
            return Inapplicable("would fall apart")
        draft = Draft(doc)
        for index in sorted(gone):
            draft.delete(index, index)
        draft.tidy()
        return draft.finish(names=[doc.between(span) for span in spans], labels=[e.label for e in named])


@dataclass(frozen=True, kw_only=True)
class PerturbEntities(Checked):
    """Ask about somebody or something else: another person or place, another noun, another verb.

    Args:
        kind: what is replaced: a `name`, a `noun` or a `verb`. `any` takes a name if there is one, else a noun, else a
            verb.
    """

    kind: Literal["any", "name", "noun", "verb"] = "any"
    info: ClassVar = worse(
        "replace a name, a noun or a verb by another", ("Where did Martha live?", "Where did Denise live?")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits of one name, or one word."""
        reason = Inapplicable("no entity")
        for kind in _KINDS if self.kind == "any" else (self.kind,):
            change = self._made(kind, case, rng)
            if isinstance(change, Change):
                return Change(change.edits, {"kind": kind, **change.meta})
            reason = change if self.kind != "any" else reason
        return reason

    @staticmethod
    def _made(kind: str, case: Case, rng: random.Random) -> Change | Inapplicable:
        if kind == "noun":
            return _another_noun(case, rng)
        return MismatchVerb()(case, rng) if kind == "verb" else _another_name(case, rng)


def _another_noun(case: Case, rng: random.Random) -> Change | Inapplicable:
    """One noun replaced by a frequent one.

    The new noun is of the same field of meaning (an artifact for an artifact) if such a noun is soon drawn.
    """
    doc, present = case.doc, words_of(case)
    tokens = [t for t in single_words(doc, "noun") if not is_grammar(case.language.lemma(t.lower, t.tag), "noun")]
    if not tokens:
        return Inapplicable("no noun")
    token = rng.choice([t for t in tokens if not _in_compound(doc, t)] or tokens)
    field, found = field_of(case, token), None
    for _ in range(_DRAWS):
        found = draw(case, token, "noun", room_for_noun(doc, token), rng, avoid=present)
        if found is None or field_of(case, replace(token, text=found)) == field:
            break
    if found is None:
        return Inapplicable("no word that fits")
    draft = Draft(doc)
    draft.replace(token.index, token.index, found)
    return draft.finish(word=token.text, replacement=found, tag=token.tag)


def _in_compound(doc: Doc, token: Token) -> bool:
    """Whether another noun stands beside a noun: `tennis shoes`."""
    return doc.tag(token.index - 1) in NOUNS or doc.tag(token.index + 1) in NOUNS


def _another_name(case: Case, rng: random.Random) -> Change | Inapplicable:
    """One person renamed wherever the text names them, or one place."""
    doc, taken = case.doc, {t.lower for t in case.doc.tokens}
    people = case.language.persons(doc)
    sites: list[int | tuple[Entity, str]] = list(dict.fromkeys(p.who for p in people))
    for entity in _named(doc):
        new = _instead(doc, entity, taken, rng)
        if new is not None:
            sites.append((entity, new))
    if not sites:
        return Inapplicable("no name")
    site, draft = rng.choice(sites), Draft(doc)
    if isinstance(site, int):
        return draft.finish(names=_rename(doc, draft, [p for p in people if p.who == site], people, rng))
    entity, new = site
    short = doc.text[entity.start : entity.end].isupper() and not doc.text.isupper()
    draft.replace(entity.first, entity.last, new, cased=not short)  # France for the UK
    before = entity.first - 1
    if doc.low(before) == "the" and not modifies(doc, doc.span(entity.first, entity.last)):
        draft.delete(before, before)  # the United States, but France
    return draft.finish(names=[{"name": doc.text[entity.start : entity.end], "replacement": new}])


def _named(doc: Doc) -> list[Entity]:
    """The names in a text; where every letter is large, capitals say nothing, and only lists of names count."""
    return [e for e in entities(doc.tokens, whole=True) if e.label in ("person", "place") or not doc.text.isupper()]


def _in_whole(doc: Doc, entity: Entity) -> Span:
    """A name with all that belongs to it, though not tagged so, and a quotation that it is the end of.

    What hyphens tie to it (`Paris-based`), a number (`Radio 3`, `the 11th Infantry`, `the 2010 Games`), a kind of place
    (`Adams county`), an epithet (`Constantine the Great`), and what it is part of (`Year of No Light`).
    """
    for quoted in _QUOTED.finditer(doc.text):
        if quoted.start(1) <= entity.start and quoted.end(1) == entity.end:
            inside = [t.index for t in doc.tokens if quoted.start() <= t.start < quoted.end()]
            return doc.span(inside[0], inside[-1])
    first, last = entity.first, entity.last
    tokens, sentence = doc.tokens, doc.sentences[doc.sentence_at[entity.first]]
    last = doc.tied(last, len(tokens) - 1)
    while first > 1 and tokens[first - 1].text in HYPHENS and doc.touches(first) and doc.touches(first - 1):
        first -= 2
    if doc.in_small_letters[doc.sentence_at[first]]:
        while first - 1 > sentence.first and _goes_along(doc, first - 1):
            first -= 1
        while last < sentence.last and _goes_along(doc, last + 1):
            last += 1
    if last + 2 <= sentence.last and tokens[last + 1].tag == "POS" and _goes_along(doc, last + 2):
        last += 2  # Victoria's Secret
    before = tokens[first - 1].text if first > sentence.first else ""
    opening = doc.tokens[first - 2] if before in ("of", "and") and first - 2 >= sentence.first else None
    if opening is not None and opening.tag == "NN" and opening.text[0].isupper() and doc.starts_sentence(first - 2):
        first -= 2  # Year of No Light
    elif before:
        heads = doc.starts_sentence(first - 1)
        named = before.istitle() and (is_first_name(before) or (heads and doc.tag(first - 1) == "NN"))
        counted = before.isdigit() and len(before) > 2 and doc.low(first - 2) in ("the", "of")
        if named or counted or _ORDINAL.fullmatch(before) or (before in _NUMBERS and not heads):
            first -= 1  # Man United, Will Hatton, the 2010 Games
    behind = list(tokens[last + 1 : min(last + 4, sentence.last + 1)])
    tags = [t.tag for t in behind]
    tied = len(behind) > 2 and doc.touches(last + 3) and behind[1].text in (*HYPHENS, "–", ":", "/")
    if behind and behind[0].text.isdigit() and not tied and tags[1:2] != ["NNS"]:
        return doc.span(first, last + 1)
    kind = behind[0].text if behind and behind[0].text.islower() else ""
    if kind in name_words("place-word") and doc.low(first - 1) not in _ARTICLES:
        return doc.span(first, last + 1)
    if len(behind) > 1 and behind[0].text == "the" and behind[1].text in _EPITHETS:
        return doc.span(first, last + 2)
    return doc.span(first, last)


def _goes_along(doc: Doc, index: int) -> bool:
    """Whether a word beside a name has a capital as part of it, whatever its tag: `Let It` before `Breed`."""
    word = doc.tokens[index].text
    return word.istitle() and word.isalpha() and word != "I" and word.lower() not in name_words("calendar")


def _dangles(doc: Doc, gone: Collection[int]) -> bool:
    """Whether an article, a preposition or a word such as `called` is left before nothing that it could go with."""
    for token in doc.tokens:
        after = token.index + 1
        while after < len(doc.tokens) and doc.tokens[after].text in _NAMES_OPENING:
            after += 1
        if token.index in gone or after not in gone or token.lower not in _NEEDY:
            continue
        sentence = doc.sentences[doc.sentence_at[token.index]]
        rest = (doc.tokens[i] for i in range(token.index + 1, sentence.last + 1) if i not in gone)
        behind = next(rest, None)
        if behind is None or behind.is_punctuation or behind.tag in _NO_OBJECT or behind.lower == "that":
            return True
    return False


def _instead(doc: Doc, entity: Entity, taken: set[str], rng: random.Random) -> str | None:
    """Another place for a place, and for a first name with one more that is sure to be nothing else, another person."""
    name = doc.text[entity.start : entity.end]
    if entity.label == "place":
        # A land before a noun has another form for nearly every name: US states, French states.
        kind = places().get(name) or places().get(f"The {name}")
        asked = doc.tag(entity.first - 1) in ("WDT", "CD", "PRP$")
        adjectival = asked or modifies(doc, doc.span(entity.first, entity.last))
        return None if adjectival and kind == "country" else another_place(rng, name, taken)
    given = doc.tokens[entity.first].text
    if entity.label == "other" and entity.last == entity.first + 1 and is_first_name(given):
        return f"{another_first_name(rng, gender_of(given), taken)} {another_last_name(rng, taken)}"
    return None


def _rename(
    doc: Doc, draft: Draft, people: Sequence[Person], all_people: Sequence[Person], rng: random.Random
) -> list[dict[str, str | None]]:
    """Other names for some mentions: one new name for one old one; what was changed."""
    taken = {t.lower for t in doc.tokens}
    given_names: dict[tuple[int, str], str] = {}
    family_names: dict[str, str] = {}  # of whoever bears it: brothers stay brothers
    told: dict[tuple[int, str], dict[str, str | None]] = {}
    for person in people:
        given, family = given_span(doc, person), family_span(doc, person)
        if given is None and family is None:
            family = person.first, person.last
        for span, first in ((given, True), (family, False)):
            if span is None:
                continue
            old = doc.between(doc.span(*span))
            if first:
                new = given_names.get((person.who, old.lower())) or another_first_name(rng, person.gender, taken)
                given_names[person.who, old.lower()] = new
            else:
                new = family_names.get(old.lower()) or another_last_name(rng, taken)
                family_names[old.lower()] = new
            taken.add(new.lower())
            draft.replace(*span, new)
            change = {"name": old, "replacement": new, "gender": person.gender, "basis": basis(doc, person)}
            told.setdefault((person.who, old), change)
    _rename_others(doc, draft, all_people, {str(t["name"]): str(t["replacement"]) for t in told.values()})
    return list(told.values())


def _rename_others(doc: Doc, draft: Draft, people: Sequence[Person], names: Mapping[str, str]) -> None:
    """The same names where they stand alone and no person was found.

    The finder of people was not sure of such a mention.
    """
    covered = {i for p in people for i in range(p.first, p.last + 1)}
    for token in doc.tokens:
        new = names.get(token.text)
        if new is None or token.index in covered:
            continue
        if not any(doc.tag(i) in PROPER and doc.low(i)[0].isalpha() for i in (token.index - 1, token.index + 1)):
            draft.replace(token.index, token.index, new)
