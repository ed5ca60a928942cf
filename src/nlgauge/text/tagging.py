"""Parts of speech of English: a lexicon of words with their tags, and the tagger, a perceptron over features."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nlgauge.text.doc import FINITE, PROPER, Token


def known_tags(word: str) -> tuple[str, ...]:
    """The Penn Treebank tags of a word in the lexicon; none for a word that it does not have.

    The word is looked up as written, in lower case and with a capital, in this order. So "May" is a name and a modal
    verb, and "london" is a name.
    """
    table = _table()
    word = word.replace("’", "'")
    lower = word.lower()
    return tuple(dict.fromkeys(table[form] for form in (word, lower, lower.capitalize()) if form in table))


def keeps_capital(word: str) -> bool:
    """Whether the lexicon has a word with a capital but not in small letters: `German`, `Monday`."""
    table = _table()
    return word[:1].isupper() and word in table and word.lower() not in table


def noun_or_verb(word: str) -> str:
    """Other parts of speech of a word in lower case, as far as the lexicon has forms of it: letters of a few kinds.

    v: the base form of a verb (bark, for there is "barked"); n: a singular noun; Z: the -s form of a verb; S: a plural.
    """
    if not word.isalpha() or len(word) < 2:
        return ""
    if word.endswith("s") and len(word) > 3 and not word.endswith("ss"):
        bases = [word[:-1]]
        if word.endswith("es"):
            bases.append(word[:-2])
        if word.endswith("ies"):
            bases.append(word[:-3] + "y")
        kinds = "Z" * any(map(_is_verb, bases)) + "S" * any(map(_is_noun, bases))
        if kinds:
            return kinds
    return "v" * _is_verb(word) + "n" * _is_noun(word)


def _is_verb(base: str) -> bool:
    forms = [base + "ed", base + "ing", base + base[-1] + "ing"]
    if base.endswith("e"):
        forms += [base + "d", base[:-1] + "ing"]
    elif base.endswith("y"):
        forms.append(base[:-1] + "ied")
    return any(_table().get(form, "").startswith("VB") for form in forms)


def _is_noun(base: str) -> bool:
    table = _table()
    plurals = [base + "s", base + "es", base[:-1] + "ies" if base.endswith("y") else base]
    return table.get(base) == "NN" or any(table.get(form) == "NNS" for form in plurals)


@cache
def words_by_tag() -> Mapping[str, tuple[str, ...]]:
    """The words of the lexicon under each Penn Treebank tag, in alphabetical order.

    A word is listed only under its most likely tag. Some words come from chat and are rude.
    """
    packed = resources.files("nlgauge.data").joinpath("language", "brill.txt.gz").read_bytes()
    lines = gzip.decompress(packed).decode().splitlines()
    return MappingProxyType({tag: tuple(words) for tag, *words in map(str.split, lines)})


@cache
def _table() -> dict[str, str]:
    return {word: tag for tag, words in words_by_tag().items() for word in words}


def is_name_like(token: Token) -> bool:
    """Whether a token keeps its capital inside a sentence: a proper noun, `I`, an acronym, `German`, `SpaceX`."""
    text = token.text
    inside = text.isupper() or any(one.isalpha() and other.isupper() for one, other in pairwise(text))
    return token.tag in PROPER or text == "I" or (len(text) > 1 and inside) or keeps_capital(text)


# --- The features of the tagger: of a word, of its neighbours and of the tags before it, as short strings

_DIGIT = re.compile(r"\d")
_FOLDED = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "--", "…": "..."})
_SHAPES = (re.compile(r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]+"), "X"), (re.compile(r"[^\W\d_X]+"), "x"), (re.compile(r"\d+"), "0")
# Words that tell the form of a verb further on, by what they ask for.
_AUXILIARIES = {
    word: kind
    for kind, words in {
        "have": "have has had having 've",
        "be": "be am is are was were been being 'm 're get gets got getting",
        "do": "do does did",
        "modal": "can could may might must shall should will would ca wo sha 'll",
        "to": "to",
    }.items()
    for word in words.split()
} | {"'s": "'s", "'d": "'d", "let": "let", "lets": "let", "n't": ""}
_BREAKS = frozenset('.,;:!?()"') | {"--", "...", "and", "but", "or", "that", "which", "who", "because", "if"}
_BORDERS = frozenset(
    "that which who whom whose because if when while where as although though since unless until after before what how"
    " why whether".split()
) | {"and", "but", "or", ",", ";", ":"}
_REACH = 5  # words between an auxiliary and its verb, at most


class Word:
    """A word of a sentence, folded: apostrophes and quotes straight, digits alike."""

    __slots__ = ("borders", "finite", "form", "known", "lower", "shape")

    def __init__(self, text: str, case: str) -> None:
        self.form = text.translate(_FOLDED)
        self.lower = _DIGIT.sub("0", self.form.lower())[:32]
        shape = self.form
        for pattern, letter in _SHAPES:
            shape = pattern.sub(letter, shape)
        self.shape = case + shape[:6]
        # In capitals throughout, and in titles, the spelling of a single word says little.
        tags = known_tags(self.form.lower() if case in "UT" else self.form) if text != EDGE else (EDGE,)
        self.known = "|".join(tags) or "?"
        if uses := noun_or_verb(self.form.lower()):
            self.known += "/" + uses
        self.finite = tags[:1] and tags[0] in FINITE
        self.borders = self.lower in _BORDERS


EDGE = "<s>"  # what stands for words and tags beyond the ends of a sentence


def sentence_case(words: Sequence[str]) -> str:
    """How a sentence is written, as one letter.

    U: in capitals throughout; L: without capitals; T: with a capital on each longer word; N: as usual.
    """
    cased = [word for word in words if word.lower() != word.upper()]
    if all(word.islower() for word in cased):
        return "L"
    if len(cased) > 1 and not any(word != word.upper() and word not in ("n't", "n’t") for word in cased):
        return "U"
    longer = [word for word in cased[1:] if len(word) > 3]
    return "T" if len(longer) > 2 and all(word[0].isupper() for word in longer) else "N"


def own(word: Word) -> list[str]:
    """Features of the word itself."""
    lower, known, shape = word.lower, word.known, word.shape
    features = ["b", f"w {lower}", f"h {shape}", f"k {known}", f"hk {shape} {known}"]
    features += [f"sk {lower[-3:]} {known}", f"p {lower[:1]}", f"q {lower[:3]}"]
    features += [f"{size} {lower[-size:]}" for size in (1, 2, 3, 4)]
    if word.form != lower:
        features.append(f"c {word.form}")
    return features


def before(word: Word) -> list[str]:
    """Features of a word for the tag of the next."""
    return [f"w- {word.lower}", f"s- {word.lower[-3:]}", f"k- {word.known}", f"h- {word.shape}"]


def before2(word: Word) -> list[str]:
    """Features of a word for the tag of the next but one."""
    return [f"w-- {word.lower}", f"k-- {word.known}"]


def after(word: Word) -> list[str]:
    """Features of a word for the tag before it."""
    return [f"w+ {word.lower}", f"s+ {word.lower[-3:]}", f"k+ {word.known}", f"h+ {word.shape}"]


def after2(word: Word) -> list[str]:
    """Features of a word for the last tag but one before it."""
    return [f"w++ {word.lower}", f"k++ {word.known}"]


def kinds_around(known0: str, known: str, known1: str) -> list[str]:
    """Features of what is known of a word and of the words beside it."""
    return [f"kk {known0} {known}", f"kk+ {known} {known1}", f"k-k+ {known0} {known1}"]


def in_clause(auxiliary: str, finite: bool, known: str, ending: str) -> list[str]:
    """Features of a word in its clause.

    They tell the auxiliary it may hang on, whether a finite verb is behind it, and its last two letters.
    """
    hung = [f"a {auxiliary}", f"ak {auxiliary} {known}", f"as {auxiliary} {ending}"]
    return [*hung, f"fa {finite:d} {known}", f"fs {finite:d} {ending}"]


def of_clitic(clitic: str, head: str, known: str) -> list[str]:
    """Features of 's or 'd and the word it hangs on."""
    return [f"cw {clitic} {head}", f"ck {clitic} {known}", f"cs {clitic} {head[-2:]}"]


def of_first(shape: str, known: str) -> list[str]:
    """Features of the first word of a sentence."""
    return [f"fh {shape}", f"fk {known}"]


Feature: TypeAlias = Callable[..., list[str]]


def around(words: Sequence[Word], edge: Word) -> Iterator[tuple[list[str], list[tuple[Feature, tuple[object, ...]]]]]:
    """For each word the features of it and its neighbours together.

    Returns:
        Features that hardly recur, and questions that do: what to call, and with what.
    """
    padded = [edge, edge, *words, edge, edge]
    for place, (auxiliary, finite) in enumerate(zip(_auxiliaries(words), _finite_behind(words), strict=True)):
        last, previous, word, following, next_but_one = padded[place : place + 5]
        lower, known, known0, known1 = word.lower, word.known, previous.known, following.known
        names = [f"ww {previous.lower} {lower}", f"ww+ {lower} {following.lower}", f"k--k- {last.known} {known0}"]
        names += [f"k+k++ {known1} {next_but_one.known}", f"hh {previous.shape} {word.shape} {following.shape}"]
        asked: list[tuple[Feature, tuple[object, ...]]] = [
            (kinds_around, (known0, known, known1)),
            (in_clause, (auxiliary, finite, known, lower[-2:])),
        ]
        if lower in ("'s", "'d"):
            head = next_but_one if known1.startswith("RB") else following
            asked.append((of_clitic, (lower, head.lower, head.known)))
        if place == 0:
            asked.append((of_first, (word.shape, known)))
        yield names, asked


def tags(second: str, first: str) -> list[str]:
    """Features of the two tags before a word."""
    return [f"t {first}", f"tt {second} {first}"]


def tag_and_word(first: str, lower: str) -> str:
    """The feature of a word and the tag before it."""
    return f"tw {first} {lower}"


def tag_and_kind(first: str, shape: str, known: str, ending: str, finite: bool) -> list[str]:
    """Features of what a word is like, the tag before it, and whether its clause has a finite verb already."""
    return [f"th {first} {shape}", f"tk {first} {known}", f"v {finite:d} {known}", f"vs {finite:d} {ending}"]


def has_finite(before: bool, word: Word, tag: str) -> bool:
    """Whether a clause has a finite verb up to a word with a tag, given whether it had one before."""
    return tag in FINITE or (before and not word.borders)


def _finite_behind(words: Sequence[Word]) -> list[bool]:
    """For each word whether one behind it in its clause is likeliest a finite verb."""
    behind = []
    finite = False
    for word in reversed(words):
        behind.append(finite)
        finite = word.finite or (finite and not word.borders)
    return behind[::-1]


def _auxiliaries(words: Sequence[Word]) -> list[str]:
    """For each word the kind of auxiliary it may hang on.

    That is the last one before it in its clause, at most five words back.
    """
    kinds = []
    kind, age = "", 0
    for word in words:
        age += 1
        kinds.append(kind if age <= _REACH + 1 else "")
        auxiliary = _AUXILIARIES.get(word.lower)
        if auxiliary:
            kind, age = auxiliary, 0
        elif word.lower in _BREAKS:
            kind = ""
    return kinds


# --- The part-of-speech tagger: a perceptron that reads the words of a sentence from left to right

Sums: TypeAlias = NDArray[np.int16]  # some fifty weights below 100 are added up

_LONGEST = 1_000  # words whose scores are held at once
_MOST = 30_000  # words whose sums are kept, some 100 MB; beyond, all are forgotten and begun anew


def tag(words: Sequence[str]) -> list[str]:
    """Penn Treebank tags of the words of one sentence, as the English Web Treebank gives them.

    Beside the usual tags there are HYPH (a hyphen), NFP (odd marks) and ADD (addresses). Of the words of two treebanks
    that it did not learn from 95 % get the right tag, in lower case and in capitals 94.5 % and more
    (`recipes/tools/tagger/measure.py`). Frequent mistakes: common nouns in names (the Ministry of Justice), a past
    tense that could be a participle, and nouns that could be verbs in short headlines.

    Args:
        words: tokens as `word_spans` splits them, with either apostrophe and with any capitals.

    Returns:
        One tag per word, in order. The same words always get the same tags. A sentence of more than 1,000 words is read
        in pieces.
    """
    tagger = _tagger()
    return [tags for first in range(0, len(words), _LONGEST) for tags in tagger.tag(words[first : first + _LONGEST])]


@cache
def _tagger() -> Tagger:
    return Tagger(gzip.decompress(resources.files("nlgauge.data").joinpath("language", "tagger.json.gz").read_bytes()))


class _Known(NamedTuple):
    """A word, and sums of weights.

    These are of its own features and of words at four places beside it, shape (5, tags), and behind tags.
    """

    word: Word
    sums: Sums
    behind: dict[tuple[int, bool], Sums]


class Tagger:
    """Weights of features, and sums of weights for words that were tagged before.

    Scores that do not depend on earlier tags are summed for all words of a sentence at once. Weights are integers, so
    that neither the machine nor the texts tagged before can change a tag.
    """

    def __init__(self, packed: bytes) -> None:
        """Read JSON: tags, features, the number of weights of each feature, and tag and value of each weight."""
        model = json.loads(packed)
        self.tags: list[str] = model["tags"]
        self._rows = {name: row for row, name in enumerate(model["features"], 1)}
        self._weights = np.zeros((len(self._rows) + 1, len(self.tags)), np.int16)  # row 0: features without weights
        self._weights[np.repeat(np.arange(1, len(self._rows) + 1), model["counts"]), model["places"]] = model["weights"]
        edges = [EDGE, *self.tags]
        histories = [[self._total(tags(second, first)) for first in edges] for second in edges]
        self._histories = np.array(histories)  # (tags + 1, tags + 1, tags)
        self._words: dict[tuple[str, str], _Known] = {}
        self._sums: dict[tuple[Feature, tuple[object, ...]], Sums] = {}

    def tag(self, words: Sequence[str]) -> list[str]:
        """Tags of the words of one sentence."""
        if len(self._words) > _MOST or len(self._sums) > 4 * _MOST:
            self._words.clear()
            self._sums.clear()
        case = sentence_case(words)
        edge = self._word(EDGE, case)
        known = [edge, edge, *(self._word(word, case) for word in words), edge, edge]
        second = first = 0  # places among the tags, from 1; 0 is the edge
        finite = False
        places = []
        for word, score in zip(known[2:-2], self._apart_from_tags(known), strict=True):
            behind = word.behind.get((first, finite))
            if behind is None:
                previous = self.tags[first - 1] if first else EDGE
                behind = word.behind[first, finite] = self._behind(previous, word.word, finite)
            score += behind
            score += self._histories[second, first]
            second, first = first, int(score.argmax()) + 1
            places.append(first)
            finite = has_finite(finite, word.word, self.tags[first - 1])
        return [self.tags[place - 1] for place in places]

    def _apart_from_tags(self, known: Sequence[_Known]) -> Sums:
        """Scores of each tag for each word but two at either end, shape (n, tags), without what earlier tags say."""
        row_of, weights = self._rows.get, self._weights
        collected: list[Sums] = []
        starts = []
        for names, asked in around([each.word for each in known[2:-2]], known[0].word):
            starts.append(len(collected))
            for question in asked:
                collected.append(self._answer(question))
            for name in names:
                row = row_of(name)
                if row is not None:
                    collected.append(weights[row])
        sums = np.array([each.sums for each in known])  # (n + 4, 5, tags)
        total: Sums = np.add.reduceat(np.array(collected), starts, axis=0)
        for place, shift in enumerate((2, 1, 0, 3, 4)):  # the word itself, those before it, those behind it
            total += sums[shift : shift + len(starts), place]
        return total

    def _word(self, text: str, case: str) -> _Known:
        entry = self._words.get((text, case))
        if entry is None:
            word = Word(text, case)
            said = [of(word) for of in (own, before, before2, after, after2)]
            rows = [self._rows.get(name, 0) for names in said for name in names]
            starts = np.cumsum([0, *map(len, said[:-1])])
            entry = self._words[text, case] = _Known(word, np.add.reduceat(self._weights[rows], starts, axis=0), {})
        return entry

    def _behind(self, first: str, word: Word, finite: bool) -> Sums:
        """Sum of weights for a word behind a tag."""
        row = self._rows.get(tag_and_word(first, word.lower))
        answer = self._answer((tag_and_kind, (first, word.shape, word.known, word.lower[-2:], finite)))
        return answer if row is None else answer + self._weights[row]

    def _answer(self, question: tuple[Feature, tuple[object, ...]]) -> Sums:
        answer = self._sums.get(question)
        if answer is None:
            of, about = question
            answer = self._sums[question] = self._total(of(*about))
        return answer

    def _total(self, names: Sequence[str]) -> Sums:
        """Sum of the weights of features, for each tag; not to be written to."""
        rows = [row for name in names if (row := self._rows.get(name)) is not None]
        total: Sums = (
            self._weights[rows].sum(axis=0, dtype=np.int16) if len(rows) > 1 else self._weights[rows[0] if rows else 0]
        )
        return total
