"""Which segments have a text that should not be trusted? Each rule looks at one segment alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from nlgauge.core.segment import Segment, is_blank, printed_list
from nlgauge.metrics.guards.endings import habits, is_shorter
from nlgauge.metrics.guards.loops import MOST, is_loop, loop, turns_itself
from nlgauge.text.scripts import languages, names, told_language, writings
from nlgauge.text.tokenize import NO_BLANKS

VERSION = 2  # stands in signatures: it changes whenever a rule flags other texts
OUTPUTS = ("empty", "unasked", "copied", "foreign", "looping", "unfinished", "untranslated")  # guards of hypotheses
REFERENCES = ("blank_reference", "doubled_reference", "printed_reference")

# What must be there before a text is distrusted.
# How seldom good outputs have it: recipes/studies/guards/measure.py.
NEAR = 80  # percent of characters that a near copy shares with its source, and that no reference shares with it
KEPT, KEPT_NEARLY = 2, 3  # plain words of the source that a copy has, and a near copy, and no reference
RUN, PLAIN = 3, 2  # words of the source in a row that no reference has, and how many of them are plain
LETTERS = 2  # letters of the source's script that no reference has
SHARED = 1 / 3  # share of words that references have from which on a text is in their language
SURE, LIKELY = 0.7, 0.05  # the least probability of a language that is told, and of one that it may be, too
UNHEARD = 0.001  # the most probability of the pair's language in a text without references that is in another

_SHORTEST = 3  # words of a text whose language is told
_START = 500  # characters of long texts that are held against each other
_REMEMBERED = 4096  # lists of references, and sources, whose words are remembered
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(f"[{NO_BLANKS}]")
_BEYOND_LATIN = "\u0370"  # the first letter that is not Latin
_PER_WORD = 2  # letters of such a script that count as one word
_ADDRESS = re.compile(r"[@#/\\_\d]|\w\.\w")  # handles, tags, paths, addresses, numbers and dates
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")  # zh-en, as groups are called
_RECORD = re.compile(r"\s\|\s|\w=\S|^\s*[\[{<]")  # what data looks like: a | b, a=b, {"a": 1}, <a>


class _Words(NamedTuple):
    """Words of a text in small letters, or its letters if no blanks set words apart."""

    words: Sequence[str]
    spaced: bool


class Rules:
    """Finds what is odd about one segment after the other; it remembers the words of references and sources."""

    def __init__(self) -> None:
        self._known: dict[str | tuple[str, ...], frozenset[str]] = {}
        self._differing: dict[tuple[str, tuple[str, ...], str | None], bool | None] = {}

    def flags(self, segment: Segment) -> Iterator[str]:
        """The names of the guards that distrust the segment, of `OUTPUTS` and `REFERENCES`."""
        references = segment.references
        if len(references) > 1 and len(set(references)) < len(references):
            yield "doubled_reference"
        if segment.n_blank or any(_is_empty(reference) for reference in references):
            yield "blank_reference"
        if any(printed_list(reference) is not None for reference in references):
            yield "printed_reference"
        text = segment.hypothesis
        asked = _is_asked(segment)
        if _is_empty(text):
            if asked:
                yield "empty"
            return
        if not asked:
            yield "unasked"
        if text[:1].isspace() or text[-1:].isspace():
            text = text.strip()
            segment = replace(segment, hypothesis=text)
        words, spaced = _split(text)
        own = set(words)
        new = own - self._of(references) if references else own
        if segment.source is not None and text not in references:
            if self._is_copy(segment, new):
                yield "copied"
            elif references and self._is_untranslated(segment, words, new):
                yield "untranslated"
        if len(words) >= _SHORTEST and len(new) > (1 - SHARED) * len(own) and _is_foreign(segment):
            yield "foreign"
        if is_loop(words, spaced) and not _loops(_sides(segment)):
            yield "looping"
        if is_shorter(segment) and "unmarked" in habits(segment) and self._differ(segment):
            yield "unfinished"

    def _is_copy(self, segment: Segment, new: set[str]) -> bool:
        """Whether a text is its source, or nearly that in another language, and no reference is."""
        text, source = segment.hypothesis, (segment.source or "").strip()
        exact = text == source
        if not exact and not _is_near(text, source):
            return False
        if any(_is_near(reference, source) for reference in segment.references):
            return False
        if exact and _RECORD.search(source):
            return sum(map(str.isalpha, new)) >= KEPT
        kept = _size(_plain(text) & new & self._of(source), text)
        if kept < (KEPT if exact else KEPT_NEARLY):
            return False
        differ = self._differ(segment)
        return differ is not False if exact else bool(differ)

    def _is_untranslated(self, segment: Segment, words: Sequence[str], new: set[str]) -> bool:
        """Whether words in a row, or letters of another script, are those of the source, and no reference has them."""
        source = segment.source or ""
        small = source.lower()
        # most texts have no words of the source, which need not be split then
        kept = new & self._of(source) if sum(w in small or w in source for w in new) >= PLAIN else set()
        if sum(map(str.isalpha, kept)) >= PLAIN and len(kept & (plain := _plain(segment.hypothesis))) >= PLAIN:
            for start in range(len(words) - RUN + 1):
                run = words[start : start + RUN]
                if kept.issuperset(run) and sum(word in plain for word in run) >= PLAIN:
                    return bool(self._differ(segment))
        if segment.hypothesis.isascii() or source.isascii():
            return False
        letters = set(segment.hypothesis) & set(source) - set("".join(segment.references))
        letters = {char for char in letters if char >= _BEYOND_LATIN and char.isalpha()}
        found = sum(char in letters for char in segment.hypothesis) if letters else 0
        return found >= LETTERS and bool(self._differ(segment))

    def _differ(self, segment: Segment) -> bool | None:
        """Whether source and target are in different languages, by the language pair or else by the texts.

        None where neither tells: the source is a record, or a text is short or in a language that is not sure.
        """
        key = segment.source or "", segment.references, segment.group
        if key not in self._differing:
            if len(self._differing) >= _REMEMBERED:
                self._differing.clear()
            self._differing[key] = self._look(segment)
        return self._differing[key]

    def _look(self, segment: Segment) -> bool | None:
        source = segment.source or ""
        if _RECORD.search(source):
            return None
        pair = _pair(segment)
        if pair is not None:
            return pair[0] != pair[1]
        words = self._of(segment.references)
        if len(words & self._of(source)) > SHARED * len(words):
            return False
        return _are_other(source, " ".join(segment.references))

    def _of(self, texts: str | tuple[str, ...]) -> frozenset[str]:
        """The words of one text, or of several together."""
        known = self._known.get(texts)
        if known is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            each = (texts,) if isinstance(texts, str) else texts
            known = self._known[texts] = frozenset().union(*(_split(text).words for text in each))
        return known


def is_spoilt(segment: Segment, guards: Iterable[str]) -> bool:
    """Whether one of the guards that distrust a text is reason enough to give it the worst score.

    A loop is where two thirds of the text or more only say again what was just said: what else is there is an answer.
    """
    return any(name != "looping" or loop(*_split(segment.hypothesis)).again >= MOST for name in guards)


def _is_near(text: str, source: str) -> bool:
    """Whether the beginnings of two texts share four fifths of their characters."""
    return _ratio()(text[:_START], source[:_START], score_cutoff=NEAR) > 0


@cache
def _ratio() -> Callable[..., float]:
    from rapidfuzz import fuzz  # it takes a while to load, and many texts have no source

    return fuzz.ratio


def _is_empty(text: str) -> bool:
    return not text[:1].isalnum() and is_blank(text)


def _is_asked(segment: Segment) -> bool:
    """Whether anything was to be said: not where there are references and a source, and all of them are blank."""
    source, references = segment.source, segment.references
    if source is None or not references or not _is_empty(source):
        return True
    return not all(map(_is_empty, references)) or bool(segment.context or segment.table)


def _split(text: str) -> _Words:
    if text.isascii() or 2 * len(_UNSPACED.findall(text)) < len(text):
        return _Words(_WORD.findall(text.lower()), True)
    return _Words([char for char in text if char.isalnum()], False)


def _plain(text: str) -> set[str]:
    """The words that are no names (capitals), numbers, handles or addresses; letters if no blanks set words apart."""
    words, spaced = _split(text)
    if not spaced:
        return {char for char in words if char.isalpha()}
    tokens = (token for token in text.split() if not _ADDRESS.search(token))
    return {w for token in tokens for w in _WORD.findall(token) if w.isalpha() and not w[0].isupper()}


def _size(words: set[str], text: str) -> int:
    """How many words there are, in a text of words or of letters."""
    return len(words) if _split(text).spaced else len(words) // _PER_WORD


def _sides(segment: Segment) -> Iterable[str]:
    return (*segment.references, segment.source or "", *(turn["text"] for turn in segment.context))


def _loops(texts: Iterable[str]) -> bool:
    """Whether one of the texts says something again and again, so that an output may, too."""
    return any(turns_itself(text) or is_loop(*_split(text)) for text in texts)


def _pair(segment: Segment) -> tuple[str, str] | None:
    """The languages of source and target, if the group names them."""
    pair = _PAIR.fullmatch(segment.group or "")
    return (pair[1], pair[2]) if pair is not None and names().keys() >= {*pair.groups()} else None


def _is_foreign(segment: Segment) -> bool:
    """Whether a text is in another language or script than its references, and than the pair says."""
    pair, text = _pair(segment), segment.hypothesis
    if segment.references:
        other = _are_other(text, " ".join(segment.references))
        # a reference may be what is in another language
        return bool(other) and (pair is None or languages(text)[pair[1]] < LIKELY)
    return pair is not None and not _is_short(text) and languages(text)[pair[1]] < UNHEARD


def _is_short(text: str) -> bool:
    """Whether a text has fewer than three words, or hardly any but names: nothing tells its language."""
    return sum(map(str.isalpha, _split(text).words)) < _SHORTEST or _size(_plain(text), text) < PLAIN


def _are_other(text: str, known: str) -> bool | None:
    """Whether a text is in another script or language than a known one; None if either is not sure."""
    if _is_short(text) or _is_short(known):
        return None
    if not (text.isascii() and known.isascii()):
        # names keep their script
        ours, theirs = writings([" ".join(sorted(_plain(one))) for one in (text, known)]).tolist()
        if ours // 2 != theirs // 2:  # each script but Latin has two codes
            return True
    if _are_alike(text, known):
        return False  # as the model would say, which takes half a second and 100 MB to load
    own, expected = (max(languages(one).items(), key=lambda entry: entry[1]) for one in (text, known))
    if own[1] < SURE or expected[1] < SURE:
        return None
    return languages(text)[expected[0]] < LIKELY and languages(known)[own[0]] < LIKELY


def _are_alike(text: str, known: str) -> bool:
    """Whether function words and letters say that a text is in the language of a known one; False if they do not tell.

    A text with other letters beyond ASCII may be half in another language: "What about the käännytyspäätöksen?"
    """
    code = told_language(text)
    return code is not None and code == told_language(known) and _beyond_ascii(text) <= _beyond_ascii(known)


def _beyond_ascii(text: str) -> set[str]:
    return set() if text.isascii() else {char for char in text.lower() if not char.isascii() and char.isalpha()}
