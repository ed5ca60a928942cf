"""Perturbations of what is said beside the main point: words left out, said twice, or brought in from other texts."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Literal

from nlgauge.core.errors import SpecError
from nlgauge.core.options import Checked, checked
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import (
    Case,
    Change,
    Edit,
    Inapplicable,
    Perturbation,
    as_good,
    attack,
    worse,
)
from nlgauge.perturbations.surface import lacks_stop
from nlgauge.perturbations.words import LINKING, after_measure, in_name
from nlgauge.text.doc import ADJECTIVES, ADVERBS, COMMON, FINITE, HYPHENS, NOUNS, PROPER, Doc, Span, Token
from nlgauge.text.english.verbs import is_english, is_loud, noun_phrases, prepositional_phrases
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import supersense
from nlgauge.text.scripts import WordList, data_lines
from nlgauge.text.tagging import is_name_like

_FEWEST = 4  # words of a text from which some can be left out
_LONGEST = 0.2  # share of the words that a span has at most
_TRIES = 50  # runs looked at for one with whole brackets and quotes, before a single word is taken
_QUOTES = frozenset('"“‘«`')
_TWINS = {"(": ")", "[": "]", "{": "}", "“": "”", "«": "»"}


@dataclass(frozen=True, kw_only=True)
class DropPhrases(Checked):
    """Leave out one run of words inside a sentence.

    Args:
        mode: `span` leaves out a run of words; `phrase` leaves out a noun phrase or a prepositional phrase of up to a
            fifth of the words, if there is one.
        length: of a run: a `fifth` of the words, as the code of the paper does, by which people's penalty was
            recovered; or `any` number of words up to a fifth.
    """

    mode: Literal["span", "phrase"] = "span"
    length: Literal["fifth", "any"] = "fifth"
    info: ClassVar = worse(
        "leave out a run of words",
        (
            "We stood in the rain at the door of the inn until it was opened at last.",
            "We stood at the door of the inn until it was opened at last.",
        ),
        needs=(),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One run goes, with a comma that would be left dangling."""
        doc = case.doc
        n = len(doc.words)
        if n < _FEWEST:
            return Inapplicable("too short")
        if self.mode == "phrase" and not is_english(doc):
            return Inapplicable("language")
        most = max(1, int(_LONGEST * n))
        count = max(1, round(_LONGEST * n)) if self.length == "fifth" else rng.randint(1, most)
        picked = _run(doc, count, rng) if self.mode == "span" else _phrase(doc, most, rng)
        if picked is None:
            return Inapplicable("too short" if self.mode == "span" else "no phrase")
        draft = Draft(doc)
        draft.delete(picked.first, picked.last, pauses=True)
        draft.tidy()
        return draft.finish(dropped=doc.between(picked))


@dataclass(frozen=True, kw_only=True)
class Omission:
    """Leave out a share of the words.

    Args:
        fraction: the smallest and the largest share of the words: `(0.01, 0.20)`, `0.01-0.20` or `0.1`.
        mode: `contiguous` leaves out one run of words inside a sentence; `scattered` leaves out single words.

    Raises:
        SpecError: shares that are none, or in the wrong order.
    """

    fraction: tuple[float, float] | float | str = (0.01, 0.20)
    mode: Literal["contiguous", "scattered"] = "contiguous"
    info: ClassVar = attack(
        "leave out 1 to 20 % of the words",
        ("We waited in the rain for the last bus.", "We waited in the rain for the bus."),
        needs=(),
    )

    def __post_init__(self) -> None:
        """Read the share as a pair."""
        object.__setattr__(self, "fraction", _shares(self.fraction))
        checked(self)

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Words go, with marks that would be left without any."""
        doc = case.doc
        n = len(doc.words)
        low, high = _shares(self.fraction)
        most = math.floor(high * n + 1e-9)  # a share such as 0.2 of 5 is no less than 1
        if most < 1 or n < 2:
            return Inapplicable("too short")
        count = rng.randint(min(max(1, math.ceil(low * n - 1e-9)), most), most)
        run = _run(doc, count, rng) if self.mode == "contiguous" else None
        gone = _scattered(doc, count, rng) if self.mode == "scattered" else [run] if run is not None else []
        if not gone:
            return Inapplicable("too short")
        draft = Draft(doc)
        for span in gone:
            draft.delete(span.first, span.last, pauses=self.mode == "contiguous")
        draft.tidy()
        return draft.finish(dropped=[doc.between(span) for span in gone])


@dataclass(frozen=True, kw_only=True)
class RepeatPhrases(Checked):
    """Say one phrase of a sentence again at its end.

    Args:
        joint: what joins the repeated phrase: a `comma`, `and`, or `any` of the two at random.
    """

    joint: Literal["comma", "and", "any"] = "comma"
    info: ClassVar = worse(
        "repeat a phrase at the end of its sentence",
        ("The bus stops at the mill.", "The bus stops at the mill, the bus."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion before the final mark of a sentence."""
        doc = case.doc
        phrases = _repeatable(doc)
        if not phrases:
            return Inapplicable("no phrase")
        phrase = rng.choice(phrases)
        joint = rng.choice(("comma", "and")) if self.joint == "any" else self.joint
        text = _inside_a_sentence(doc, phrase)
        draft = Draft(doc)
        draft.append(doc.sentences[doc.sentence_at[phrase.first]], text, joint=", " if joint == "comma" else " and ")
        return draft.finish(articles=False, repeated=text)


def _run(doc: Doc, length: int, rng: random.Random) -> Span | None:
    """A run of at most `length` words inside a sentence that has more, with brackets and quotes whole.

    None if no sentence has two words.
    """
    words, sizes = doc.words, _sizes(doc)
    places = [doc.sentence_at[w.first] for w in words]
    for count in (min(length, max(sizes, default=0) - 1), 1):
        roomy = (i for i in range(len(words) - count + 1) if 0 < count < sizes[places[i]])
        starts = [i for i in roomy if places[i] == places[i + count - 1]]
        for i in rng.sample(starts, min(len(starts), _TRIES)):
            span = doc.span(words[i].first, words[i + count - 1].last)
            if count == 1 or _is_balanced(doc, span):
                return span
    return None


def _phrase(doc: Doc, most: int, rng: random.Random) -> Span | None:
    """A phrase that is not all of its sentence: of at most so many words, or else one of the shortest."""
    sizes, words = _sizes(doc), dict[Span, int]()
    behind_prepositions = prepositional_phrases(doc)
    covered = {i for p in behind_prepositions for i in range(p.first, p.last + 1)}
    for phrase in [*behind_prepositions, *(p for p in noun_phrases(doc) if p.first not in covered)]:
        count = len({*doc.word_at[phrase.first : phrase.last + 1]} - {None})
        if count < sizes[doc.sentence_at[phrase.first]] and _is_whole(doc, phrase) and _is_balanced(doc, phrase):
            words[phrase] = count
    if not words:
        return None
    limit = max(most, min(words.values()))
    return rng.choice([phrase for phrase, count in words.items() if count <= limit])


def _scattered(doc: Doc, count: int, rng: random.Random) -> list[Span]:
    """Words here and there, of no sentence all."""
    left = _sizes(doc)
    gone: list[Span] = []
    for word in rng.sample(doc.words, len(doc.words)):
        place = doc.sentence_at[word.first]
        if len(gone) < count and left[place] > 1:
            gone.append(word)
            left[place] -= 1
    return sorted(gone, key=lambda w: w.first)


def _sizes(doc: Doc) -> list[int]:
    """How many words each sentence has."""
    sizes = [0] * len(doc.sentences)
    for word in doc.words:
        sizes[doc.sentence_at[word.first]] += 1
    return sizes


def _is_balanced(doc: Doc, span: Span) -> bool:
    """Whether no bracket or quote in a span lacks its twin."""
    marks = [t.text for t in doc.tokens[span.first : span.last + 1]]
    paired = all(marks.count(a) == marks.count(b) for a, b in _TWINS.items())
    return paired and marks.count('"') % 2 == 0


def _is_whole(doc: Doc, span: Span) -> bool:
    """Whether a span begins and ends with a word."""
    first, last = doc.word_at[span.first], doc.word_at[span.last]
    if first is None or last is None:
        return False
    return doc.words[first].first == span.first and doc.words[last].last == span.last


def _repeatable(doc: Doc) -> Sequence[Span]:
    """Noun phrases that can be said again.

    Those of several words that do not end their sentence go first. Without any noun phrase, a subject with its verb is
    taken (`I am`).
    """
    phrases = [p for p in noun_phrases(doc) if _is_whole(doc, p)]
    last_words = {doc.sentence_at[w.first]: w.last for w in doc.words}
    early = [p for p in phrases if p.last < last_words.get(doc.sentence_at[p.first], -1)]
    several = [p for p in early if len({*doc.word_at[p.first : p.last + 1]} - {None}) > 1]
    if phrases:
        return several or early or phrases
    pairs = zip(doc.tokens, doc.tokens[1:], strict=False)
    return [doc.span(a.index, b.index) for a, b in pairs if a.tag == "PRP" and b.tag in FINITE]


def _inside_a_sentence(doc: Doc, phrase: Span) -> str:
    """The phrase without the capital that only the head of a sentence gave it."""
    text, first = doc.between(phrase), doc.tokens[phrase.first]
    quoted = first.index > 0 and doc.tokens[first.index - 1].text in _QUOTES
    keeps = is_name_like(first) or (text.isupper() and len(text) > 1)
    return text if keeps or not (quoted or doc.starts_sentence(first.index)) else text[0].lower() + text[1:]


def _shares(fraction: tuple[float, float] | float | str) -> tuple[float, float]:
    try:
        parts = fraction.split("-") if isinstance(fraction, str) else fraction
        shares = [float(part) for part in (parts if isinstance(parts, Sequence) else [parts])]
    except (TypeError, ValueError):
        shares = []
    if not 1 <= len(shares) <= 2 or not 0 <= shares[0] <= shares[-1] < 1:
        raise SpecError(
            f"omission:fraction is {fraction!r}, expected one or two shares of the words below 1, as in 0.01-0.20"
        )
    return shares[0], shares[-1]


# --- Adjectives left out before nouns: what a noun is said to be like

_Run = tuple[int, int]  # an adjective with the adverb that grades it and the comma or "and" that goes with it
_Part = tuple[int, int, str]  # first and last token, kind: adjective, participle, grade, link
# Tagged as adjectives, but they say which and how many; without them the sentence says nothing or is none.
_KEPT = WordList("words", "kept adjectives")
_PRONOUNS = WordList("words", "modified pronouns")
_OPENERS = frozenset({"DT", "PRP$", "POS", "PDT", "WP$", "CD"})  # what a noun phrase begins with
_SET = frozenset(
    {("great", "deal"), ("good", "deal"), ("long", "time"), ("short", "time"), ("long", "way"), ("good", "bit")}
    | {("little", "bit")}
)
_CLAUSAL = WordList("words", "clausal adjectives")
_BEINGS = frozenset(
    {"noun.person", "noun.animal", "noun.artifact", "noun.plant", "noun.body", "noun.location", "noun.group"}
)
_GRADES = WordList("words", "grading adverbs")


@dataclass(frozen=True, kw_only=True)
class DropAdjectives(Checked):
    """Leave out adjectives that stand before a noun, with what grades them: `a very old red car` becomes `a car`.

    Adjectives behind a verb stay (`the car is old`), so do names (`the White House`) and words that say which or how
    many (`other`, `many`, `first`).

    Args:
        which: drop `all` adjectives of the text, those before one noun (`chain`), or `one`.
    """

    which: Literal["all", "chain", "one"] = "all"
    info: ClassVar = worse("drop adjectives before nouns", ("She owns an old red car.", "She owns a car."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One deletion per adjective; "a" and "an" fit what follows."""
        chains = list(_chains(case))
        if not chains:
            return Inapplicable("no adjective before a noun")
        if self.which == "chain":
            chains = [rng.choice(chains)]
        runs = [run for chain in chains for run in chain]
        if self.which == "one":
            runs = [rng.choice(runs)]
        draft = Draft(case.doc)
        for first, last in runs:
            draft.delete(first, last)
        return draft.finish(dropped=[case.doc.between(case.doc.span(*run)) for run in runs])


def _chains(case: Case) -> Iterator[list[_Run]]:
    """The adjectives before each noun that can be left out."""
    at = 0
    while at < len(case.doc.tokens):
        chain, at = _chain(case, at)
        if chain:
            yield chain


def _chain(case: Case, start: int) -> tuple[list[_Run], int]:
    """The words that can go between the first adjective and its noun, and the place where the next may begin.

    Where no such noun comes, none comes from any place up to the one that parts them either.
    """
    doc = case.doc
    tokens, end = doc.tokens, doc.sentences[doc.sentence_at[start]].last
    parts: list[_Part] = []
    at = start
    while at <= end and (tokens[at].tag not in NOUNS or _compound_end(doc, at, end) is not None):
        part = _part(doc, at, end)
        if part is None:
            return [], at + 1
        parts.append(part)
        at = part[1] + 1
    if at > end or not parts or tokens[at].lower in _PRONOUNS:
        return [], at + 1
    return list(_droppable(case, start, parts, tokens[at])), at + 1


def _part(doc: Doc, at: int, end: int) -> _Part | None:
    token = doc.tokens[at]
    last = _compound_end(doc, at, end)
    if last is not None:
        return at, last, "adjective"
    if _in_compound(doc, at, end):
        return None
    if token.tag in ADJECTIVES and any(map(str.isalpha, token.text)):
        return at, at, "adjective"
    if token.tag in ("VBN", "VBG"):
        return at, at, "participle"
    if token.tag in ADVERBS and token.lower not in ("not", "n't", "n’t"):
        return at, at, "grade"
    if token.text == "," or token.lower in ("and", "but", "or"):
        return at, at, "link"
    return None


def _in_compound(doc: Doc, at: int, end: int) -> bool:
    """Whether a hyphen ties the word to the one before or behind it."""
    tied_before = doc.touches(at) and doc.tokens[at - 1].text in HYPHENS
    return tied_before or (at < end and doc.tokens[at + 1].text in HYPHENS and doc.touches(at + 1))


def _compound_end(doc: Doc, at: int, end: int) -> int | None:
    """The last token of a compound adjective that begins here, None if none does.

    Examples are `well-known`, `long-term` and `18-year-old`.
    """
    tokens, last = doc.tokens, doc.tied(at, end)
    if last == at or (doc.touches(at) and tokens[at - 1].text in HYPHENS):
        return None
    describes = tokens[at].tag in ("JJ", "RB", "JJR", "RBR") or tokens[last].tag in ("JJ", "VBN", "VBD")
    return last if describes and tokens[at].lower not in _KEPT and not tokens[at].text[:1].isupper() else None


def _droppable(case: Case, start: int, parts: list[_Part], noun: Token) -> Iterator[_Run]:
    """Runs of tokens that can go: adjectives with their grades and links, none before a word that says which."""
    doc = case.doc
    before = "" if doc.touches(start) else doc.tag(start - 1)
    opened = before in _OPENERS
    linked = not opened and _follows_link(doc, start)
    if linked and noun.tag in PROPER:
        return  # "I am glad John came"
    if linked:
        # "The sky was blue, white clouds came": what stands before a comma belongs to the verb.
        cut = max((i for i, p in enumerate(parts) if p[2] == "link"), default=-1)
        parts = parts[cut + 1 :]
        verb_behind = doc.tag(noun.index + 1)[:1] in ("V", "M")
        if verb_behind and any(doc.tokens[p[0]].lower in _CLAUSAL for p in parts):
            return
    counted = start if before == "CD" else None
    kept = (i for i, p in enumerate(parts) if p[2] == "adjective" and _is_kept(case, p, noun, p[0] == counted))
    last_kept = max(kept, default=-1)
    if any(p[2] == "link" for p in parts[: last_kept + 2]) and last_kept >= 0:
        return  # "the first and best": one half alone would not stand
    opened = opened or last_kept >= 0
    segment: list[_Part] = []
    for part in parts[last_kept + 1 :]:
        if part[2] != "participle":
            segment.append(part)
            continue
        if opened:
            yield from _whole(doc, segment, opened, go_on=True)
        segment = []
    yield from _whole(doc, segment, opened, go_on=False)


def _whole(doc: Doc, parts: list[_Part], opened: bool, *, go_on: bool) -> Iterator[_Run]:
    """Runs of adjectives; those joined by a comma or "and" go together.

    `go_on` says that a participle follows, which another link may join.
    """
    at = next((i for i, part in enumerate(parts) if part[2] != "link"), len(parts))
    while at + 1 < len(parts) and parts[at][2] == "grade" and not opened and doc.low(parts[at][0]) not in _GRADES:
        at += 1  # "He always wears old coats": the adverb belongs to the verb
    parts = parts[at:]
    tail = parts[-1] if go_on and parts and parts[-1][2] == "link" else None
    parts = parts[:-1] if tail else parts
    if not parts or parts[-1][2] != "adjective" or any(a[2] == b[2] == "link" for a, b in pairwise(parts)):
        return
    first = 0
    for i, part in enumerate(parts):
        joined = i + 1 < len(parts) and parts[i + 1][2] == "link"
        if part[2] == "adjective" and not joined:
            yield parts[first][0], tail[1] if tail and i + 1 == len(parts) else part[1]
            first = i + 1


def _is_kept(case: Case, part: _Part, noun: Token, counted: bool) -> bool:
    """Whether a word before a noun says which or how many, belongs to a name or makes one expression with its noun."""
    doc, token = case.doc, case.doc.tokens[part[0]]
    lower = token.lower
    if lower in _KEPT or (lower[0].isdigit() and part[0] == part[1]) or (lower, noun.lower) in _SET:
        return True
    if lower == "little":  # "a little girl", but "a little water"
        return supersense(case.language.lemma(noun.lower, noun.tag), "noun") not in _BEINGS
    if (counted and part[0] != part[1]) or after_measure(doc, token):
        return True  # "a 5 metre-long boat"
    if not token.text[0].isupper() or noun.text[:1].islower():
        return False  # "American people" say where from
    return in_name(doc, token) or (in_name(doc, noun) and not noun.text.isupper())


def _follows_link(doc: Doc, start: int) -> bool:
    """Whether a verb that takes adjectives stands before: they may belong to it and not to a noun."""
    at = start - 1
    while doc.tag(at) in ADVERBS:
        at -= 1
    return doc.low(at) in LINKING


# --- Short clauses found in other texts, ready to be said after a sentence

_SUBJECTS = NOUNS | {"DT", "PRP", "PRP$", "JJ", "CD", "EX", "PDT"}
_HEADS = NOUNS | {"PRP", "EX", "DT", "CD"}
_PARTING = frozenset(
    {"because", "although", "though", "while", "whereas", "when", "after", "before", "but", "unless", "since"}
)
_OPEN_ENDS = frozenset({"IN", "DT", "CC", "TO", "PRP$", "POS", *FINITE})
_SHORTEST = 3  # words of a clause


@lru_cache(maxsize=1 << 17)  # far more than analyses are kept: each text of a pool is looked at some forty times
def _clauses(language: Language, text: str, most: int) -> tuple[tuple[str, bool], ...]:
    doc = language.analyse(text)
    return tuple(found for sentence in doc.sentences if (found := clause(doc, sentence, most)) is not None)


def clause(doc: Doc, sentence: Span, most: int) -> tuple[str, bool] | None:
    """The beginning of a sentence as a clause of three to `most` words, and whether it is finite.

    The clause has no final mark, and its first letter is small unless a name begins it. It is finite if it has a
    subject and a finite verb; else it is a phrase, as captions are.

    There is none for questions, exclamations, headlines and sentences with marks inside the clause. What follows a
    comma, or a word such as "because" or "but", is left out where a whole clause comes before it.
    """
    tokens = doc.tokens[sentence.first : sentence.last + 1]
    if tokens[-1].text[0] in "?!" or tokens[0].tag not in _SUBJECTS:
        return None
    last = next((t.index - 1 for t in tokens if t.index > sentence.first and _parts(doc, t.index)), sentence.last)
    while last > sentence.first and doc.word_at[last] is None:
        last -= 1
    inside = doc.tokens[sentence.first : last + 1]
    span = doc.span(sentence.first, last)
    words = len({*doc.word_at[sentence.first : last + 1]} - {None})
    if not _SHORTEST <= words <= most or any(doc.word_at[t.index] is None for t in inside):
        return None
    verb = next((i for i, t in enumerate(inside) if t.tag in FINITE), None)
    finite = verb is not None and 0 < verb < len(inside) - 1 and any(t.tag in _HEADS for t in inside[:verb])
    if not finite and (verb is not None or last < sentence.last - 1 or not any(t.tag in COMMON for t in inside)):
        return None
    text = doc.between(span)
    if sum(t.text[0].isupper() for t in inside) > max(3, len(inside) / 2) or inside[-1].tag in _OPEN_ENDS:
        return None
    return text if is_name_like(inside[0]) else text[0].lower() + text[1:], finite


def _parts(doc: Doc, index: int) -> bool:
    return doc.tokens[index].lower in _PARTING or doc.tokens[index].text in (",", ";", "–", "—", "--")


# --- Two errors in one text


@dataclass(frozen=True, kw_only=True)
class NumberAndNegation(Checked):
    """Change the numbers of a text and negate it.

    Args:
        mode: what the negation does: `flip`, `add` or `remove`.
        skip_dates: leave years and dates as they are, as `number_error` does.
    """

    mode: Literal["flip", "add", "remove"] = "flip"
    skip_dates: bool = True
    info: ClassVar = attack(
        "change the numbers and negate a clause", ("The train has 8 coaches.", "The train does not have 5 coaches.")
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Edits of both; inapplicable where either is."""
        from nlgauge.perturbations.names import NumberError
        from nlgauge.perturbations.negation import Negation

        parts: Sequence[Perturbation] = NumberError(skip_dates=self.skip_dates), Negation(mode=self.mode)
        edits: list[Edit] = []
        meta: dict[str, object] = {}
        for part in parts:
            change = part(case, rng)
            if isinstance(change, Inapplicable):
                return change
            edits += [edit for edit in change.edits if edit not in edits]  # both may mend the same article
            meta[part.info.name] = dict(change.meta)
        edits.sort()
        if any(a.end > b.start or (a.start == b.start and a.end == b.end) for a, b in pairwise(edits)):
            return Inapplicable("edits overlap")
        return Change(edits, meta)


# --- Perturbations that bring in other texts: a clause more, nonsense, another text altogether, another reference

_LOOKED_AT = 40  # texts of the pool looked at
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
        wanted = any(t.tag in FINITE for t in doc.tokens)
        spare: tuple[str, str] | None = None
        for source in _others(case, rng):
            found = _clauses(case.language, source, self.most_words)  # type: ignore[arg-type]  # no hash is promised
            clauses = [(text, finite) for text, finite in found if text.casefold() not in case.text.casefold()]
            fitting = [(text, finite) for text, finite in clauses if finite == wanted]
            if fitting:
                spare = rng.choice(fitting)[0], source
                break
            if clauses and spare is None:
                spare = rng.choice(clauses)[0], source
        if spare is None:
            return Inapplicable("no clause in the pool")
        text, source = spare
        added = text.upper() if loud else text
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
        unsaid = [s for s in data_lines("nonsense.txt") if s not in text]
        new = picked.strip() if picked is not None else rng.choice(unsaid)
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
        for most in (_LOOKED_AT, len(case.pool)):  # nearly always one of the first is another
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


def _others(case: Case, rng: random.Random, most: int = _LOOKED_AT) -> Sequence[str]:
    """Some texts of the pool that are not the text, in random order."""
    text = _plain(case.text)
    return [t for t in rng.sample(case.pool, min(most, len(case.pool))) if _plain(t) and _plain(t) != text]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
