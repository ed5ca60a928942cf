"""The features of the tagger: of a word, of its neighbours and of the tags before it, as short strings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from nlgauge.text.tagging.brill import known_tags, noun_or_verb

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
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
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
        self.finite = tags[:1] and tags[0] in _FINITE
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
    features = [
        "b",
        f"w {lower}",
        f"h {shape}",
        f"k {known}",
        f"hk {shape} {known}",
        f"sk {lower[-3:]} {known}",
        f"p {lower[:1]}",
        f"q {lower[:3]}",
    ]
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
    return [
        f"a {auxiliary}",
        f"ak {auxiliary} {known}",
        f"as {auxiliary} {ending}",
        f"fa {finite:d} {known}",
        f"fs {finite:d} {ending}",
    ]


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
    return tag in _FINITE or (before and not word.borders)


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
