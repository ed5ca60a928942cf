"""Outputs that should not be trusted, such as copies, loops and cut texts: the rules, and counts by system.

Every run that scores segments has guards (`score`, `meta`, `select`, `sweep` and their functions in Python). They count
and note such texts, and no score changes. `nlgauge audit` makes texts odd on purpose and has none.
"""

from __future__ import annotations

import html
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from operator import attrgetter
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Mask
from nlgauge.core.errors import InputError
from nlgauge.core.scores import FIRST, MEANINGS, Note, count_notes
from nlgauge.core.segment import Segment, is_blank, printed_list
from nlgauge.metrics.languages import language_pair
from nlgauge.metrics.signs import Signs
from nlgauge.text.scripts import languages, told_language, writings
from nlgauge.text.tokenize import NO_BLANKS

# --- Does a text say one phrase again and again, without anything between?


TURNS = 3  # how often a loop says its phrase, at least
LEAST = 9  # words of a loop, at least: a phrase of three words turns three times, one word nine times
LEAST_LETTERS = 18  # as `LEAST`, where no blanks set words apart
PART = 1 / 3  # the share of a text that a loop takes up, at least; less than that leaves a text that says something
LONGEST = 48  # letters of a word without an end ("mmmm...", "hahaha..."), at least

_GRAM = 4  # words that find their last occurrence together
_PERIOD = 16  # letters that turn in a word without an end, at most
_STAMMER = re.compile(r"([^\W\d_]{1,20}?)(?:\W*\1){3}")  # ha ha ha ha, noooo, 哈哈哈哈


def is_loop(words: Sequence[str], spaced: bool) -> bool:
    """Whether a third of a text or more is one phrase that turns three times or more, with nothing between.

    Repeats that are apart ("more and more ... more and more") are none, nor are lists whose entries differ.

    Args:
        words: of the text, in small letters; or its letters if no blanks set words apart.
        spaced: whether they are words.
    """
    return loop(words, spaced) >= PART


def loop(words: Sequence[str], spaced: bool) -> float:
    """The share that the longest loop of nine words or more takes up, or else the words without an end; 0 of neither.

    Args:
        words, spaced: as of `is_loop`.
    """
    if spaced and max(map(len, words), default=0) >= LONGEST:
        endless = sum(len(word) for word in words if _is_endless(word))
        if endless:
            return endless / sum(map(len, words))
    least = LEAST if spaced else LEAST_LETTERS
    again = least - least // TURNS  # two of three turns were said before
    if len(words) - len(set(words)) < again or len(words) - len(set(pairwise(words))) < again:
        return 0.0
    return _longest(words, least) / len(words)


def turns_itself(text: str) -> bool:
    """Whether a source or reference says a short word four times in a row, so that an output may go on with it."""
    return _STAMMER.search(text.lower()) is not None


def _longest(words: Sequence[str], least: int) -> int:
    """The number of words of the longest loop; 0 if there is none.

    In a loop of phrases of p words, every four words stand p words after they stood last. One pass over the words
    therefore finds loops, however long the phrase is, unless it holds the same four words twice.
    """
    last: dict[tuple[str, ...], int] = {}
    longest = period = run = 0
    said = -len(words)  # where a word stands that is no number: tables of zeros are no loops
    for start, gram in enumerate(zip(*(words[k:] for k in range(_GRAM)), strict=False)):
        end = start + _GRAM
        step = start - last.get(gram, start)
        run = run + 1 if step == period else 1
        period, last[gram] = step, start
        said = end if gram[-1][0].isalpha() else said
        length = period + run + _GRAM - 1
        if period and length >= max(least, TURNS * period, longest + 1) and end - said < length:
            longest = length
    return longest


def _is_endless(word: str) -> bool:
    """Whether a word ends in letters that turn for 48 letters or more."""
    if len(word) < LONGEST or not word[-_PERIOD:].isalpha():
        return False
    tail = word[-LONGEST:]
    return any(tail[period:] == tail[:-period] for period in range(1, _PERIOD + 1))


# --- How does a text end, beside its references: without a mark, or with one that is set apart?

SHORTER = 0.9  # the share of the shortest reference's characters that a text has which is cut off, at most
FEW = 4  # words of such a text, at least

_FINAL = frozenset(".!?…。！？؟।॥։")
_CLOSERS = " \"'”’»“)]）】」』*|"  # what may stand after a final mark
_OPEN = frozenset(",،、，")  # marks after which a sentence goes on
_TOKENIZED = " ."


def habits(segment: Segment) -> Iterator[str]:
    """The ways of writing that a text shows beside its references, if it has any: `unmarked`, `spaced`.

    They are told of a system that keeps to them, and no text is distrusted for them.
    """
    references = segment.references
    if not references:
        return
    text, first = segment.hypothesis.rstrip(), references[0].rstrip()
    end, wanted = text[-2:], first[-2:]
    if end == wanted:
        return
    if is_bare(text) and all(map(_is_whole, references)) and (not segment.source or _is_whole(segment.source)):
        yield "unmarked"
    if end[-1:] == wanted[-1:] == ".":
        ends = [reference.rstrip()[-2:] for reference in references]
        if all(e[-1:] == "." and (e == _TOKENIZED) != (end == _TOKENIZED) for e in ends):
            yield "spaced"


def is_shorter(segment: Segment) -> bool:
    """Whether a text of a few words or more is shorter than all of its references, as one that is cut off is."""
    least = min(map(len, segment.references), default=0)
    return len(segment.hypothesis) <= SHORTER * least and len(segment.hypothesis.split()) >= FEW


def is_bare(text: str) -> bool:
    """Whether a text ends in a letter, digit or comma. Any other mark may be the end: `&quot;`, `-RRB-`, or a colon."""
    text = text.rstrip()
    if not text:
        return False
    if text[-1] == ";":
        text = html.unescape(text)
    last = text[-1]
    return last.isalnum() or last in _OPEN or unicodedata.category(last)[0] == "M"  # vowel signs of Hindi, Thai


def _is_whole(text: str) -> bool:
    """Whether a text ends in a final mark, maybe within quotation marks or brackets."""
    return text.rstrip(_CLOSERS)[-1:] in _FINAL


# --- How does each system end its texts? What many of them show is told in one note, not held against each

USUAL = 0.5  # the share of its texts from which on a system's way of writing is no fault of one of them
TEXTS, SHARE = 5, 0.1  # texts that show a way of writing, at least, and the share of the system's texts, to be told

_WAYS_IN_WORDS: Mapping[str, str] = {
    "unmarked": "have no final mark where the references have one",
    "spaced": "end in ' .' where the references end in '.', or the other way round",
}


@dataclass
class _SystemWays:
    n: int = 0
    shown: Counter[str] = field(default_factory=Counter)  # of `habits`, and "unfinished"
    first: list[str] = field(default_factory=list)  # ids of unfinished texts


@dataclass
class Ways:
    """Counts how systems end their texts. What five texts show, and a tenth of a system's texts, is told.

    It is told once, whatever the number of texts, and no text is distrusted for it.

    - `unmarked`: texts have no final mark where all of their references, and the source if there is one, have one. If
      this is so of more than half of a system's texts, none of them is `unfinished`, either.
    - `spaced`: texts end in " ." where their references end in ".", or the other way round. One side is tokenised, so
      every mark is a mismatch.
    """

    _systems: dict[str | None, _SystemWays] = field(default_factory=dict)

    def add(self, segment: Segment, unfinished: bool) -> None:
        """Count one text, and whether it seems to be cut off."""
        ways = self._systems.setdefault(segment.system, _SystemWays())
        ways.n += 1
        for name in habits(segment):
            ways.shown[name] += 1
        if unfinished:
            ways.shown["unfinished"] += 1
            if len(ways.first) < FIRST:
                ways.first.append(segment.id)

    def is_usual(self, system: str | None) -> bool:
        """Whether more than half of a system's texts lack a final mark, so that none of them is `unfinished`."""
        ways = self._systems[system]
        return ways.n >= TEXTS and ways.shown["unmarked"] > USUAL * ways.n

    def first(self) -> list[str]:
        """The ids of the first texts that are unfinished."""
        return [i for system, ways in self._systems.items() if not self.is_usual(system) for i in ways.first][:FIRST]

    def notes(self) -> Iterator[Note]:
        """One note for each way of writing that some systems keep to."""
        for name, way in _WAYS_IN_WORDS.items():
            said = f"{way}, and none is distrusted for it"
            who = [
                f"{system}: " * (system is not None) + f"{n} of {self._systems[system].n}"
                for system, n in self._undistrusted(name)
            ]
            if not who:
                continue
            more = [f"and {len(who) - FIRST} systems more"] if len(who) > FIRST else []
            brief = who[0] if len(who) == 1 else f"{len(who)} systems"
            whole = f"input: texts ({', '.join([*who[:FIRST], *more])}) {said}"
            yield Note.of(whole, "input", f"texts ({brief}) {said}")

    def _undistrusted(self, name: str) -> Iterator[tuple[str | None, int]]:
        """Systems, and how many of their texts show a way of writing and are not distrusted for it, if many do."""
        for system, ways in self._systems.items():
            distrusted = ways.shown["unfinished"] if name == "unmarked" and not self.is_usual(system) else 0
            n = ways.shown[name] - distrusted
            if n >= max(TEXTS, SHARE * ways.n):
                yield system, n


# --- Which segments have a text that should not be trusted? Each rule looks at one segment alone

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
_RECORD = re.compile(r"\s\|\s|\w=\S|^\s*[\[{<]")  # what data looks like: a | b, a=b, {"a": 1}, <a>


class _TextWords(NamedTuple):
    """Words of a text in small letters, or its letters if no blanks set words apart."""

    words: Sequence[str]
    spaced: bool


class GuardRules:
    """Finds what is odd about one segment after the other; it remembers the words of references and sources.

    Guards of hypotheses:

    - `empty`: the hypothesis is blank where something was to be said: a system that failed. It has no note.
    - `unasked`: there is a hypothesis where there are source and references, and all of them are blank: a system that
      invents.
    - `copied`: the hypothesis is its source, and no reference is nearly that: text that was not translated, or columns
      that were mixed up. If source and references are in different languages, four fifths of the characters are enough.
    - `foreign`: the hypothesis is in another script or language than its references, and than a group such as `de-en`
      says: a system that answers in its own language.
    - `looping`: one phrase three times or more with nothing between, of nine words or more (18 letters where no blanks
      set words apart), and a third of the text or more: a model that did not stop, or that is hardly trained.
    - `unfinished`: a translation of four words or more ends in a letter, a digit or a comma, and has at most nine
      tenths of the characters of its shortest reference, while all of its references and its source end in a final
      mark: output cut off at a length.
    - `untranslated`: three words in a row, or two letters of another script, are those of the source, and no reference
      has them, if languages differ: words that the system did not know.

    Guards of references, which do not count as outputs that are distrusted:

    - `blank_reference`: a reference is blank, as in files that were filled up; beside others it is left out.
    - `doubled_reference`: a reference stands twice beside one hypothesis.
    - `printed_reference`: a reference is a list of texts, written as one (`['a', 'b']`): several references that became
      one text.

    The rules are slow to distrust. Names, numbers, dates, handles and addresses may stand in a text as they do in its
    source: `copied` wants two plain words, three for a near copy, and `untranslated` two of its three. A plain word has
    no capital, no digit, and no sign such as `@`, `#` or `/` beside it; where no blanks set words apart, two letters
    count as one word. What source or reference says again and again may be said again and again. In summaries a copied
    sentence is normal, and where source and references are in one language, as in correction and simplification, the
    whole source may be right.

    Whether languages differ is known from the group, or told by function words first and then by py3langid, which takes
    half a second and 100 MB to load. It must be sure of both languages (.7). Names tell no language: a text needs two
    plain words.
    """

    def __init__(self) -> None:
        self._words_known: dict[str | tuple[str, ...], frozenset[str]] = {}
        self._pairs_known: dict[tuple[str, tuple[str, ...], str | None], bool | None] = {}

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
        distinct = set(words)
        new = distinct - self._words_of(references) if references else distinct
        if segment.source is not None and text not in references:
            if self._is_copy(segment, new):
                yield "copied"
            elif references and self._is_untranslated(segment, words, new):
                yield "untranslated"
        if len(words) >= _SHORTEST and len(new) > (1 - SHARED) * len(distinct) and _is_foreign(segment):
            yield "foreign"
        if is_loop(words, spaced) and not _loops(_other_texts(segment)):
            yield "looping"
        if is_shorter(segment) and "unmarked" in habits(segment) and self._languages_differ(segment):
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
        kept = _size(_plain_words(text) & new & self._words_of(source), text)
        if kept < (KEPT if exact else KEPT_NEARLY):
            return False
        differ = self._languages_differ(segment)
        return differ is not False if exact else bool(differ)

    def _is_untranslated(self, segment: Segment, words: Sequence[str], new: set[str]) -> bool:
        """Whether words in a row, or letters of another script, are those of the source, and no reference has them."""
        source = segment.source or ""
        small = source.lower()
        # most texts have no words of the source, which need not be split then
        kept = new & self._words_of(source) if sum(w in small or w in source for w in new) >= PLAIN else set()
        if sum(map(str.isalpha, kept)) >= PLAIN and len(kept & (plain := _plain_words(segment.hypothesis))) >= PLAIN:
            for start in range(len(words) - RUN + 1):
                run = words[start : start + RUN]
                if kept.issuperset(run) and sum(word in plain for word in run) >= PLAIN:
                    return bool(self._languages_differ(segment))
        if segment.hypothesis.isascii() or source.isascii():
            return False
        letters = set(segment.hypothesis) & set(source) - set("".join(segment.references))
        letters = {char for char in letters if char >= _BEYOND_LATIN and char.isalpha()}
        found = sum(char in letters for char in segment.hypothesis) if letters else 0
        return found >= LETTERS and bool(self._languages_differ(segment))

    def _languages_differ(self, segment: Segment) -> bool | None:
        """Whether source and target are in different languages, by the language pair or else by the texts.

        None where neither tells: the source is a record, or a text is short or in a language that is not sure.
        """
        key = segment.source or "", segment.references, segment.group
        if key not in self._pairs_known:
            if len(self._pairs_known) >= _REMEMBERED:
                self._pairs_known.clear()
            self._pairs_known[key] = self._compare_languages(segment)
        return self._pairs_known[key]

    def _compare_languages(self, segment: Segment) -> bool | None:
        """As `_languages_differ`, worked out anew."""
        source = segment.source or ""
        if _RECORD.search(source):
            return None
        pair = language_pair(segment.group)
        if pair:
            return pair[0] != pair[1]
        words = self._words_of(segment.references)
        if len(words & self._words_of(source)) > SHARED * len(words):
            return False
        return _are_other(source, " ".join(segment.references))

    def _words_of(self, texts: str | tuple[str, ...]) -> frozenset[str]:
        """The words of one text, or of several together."""
        known = self._words_known.get(texts)
        if known is None:
            if len(self._words_known) >= _REMEMBERED:
                self._words_known.clear()
            each = (texts,) if isinstance(texts, str) else texts
            known = self._words_known[texts] = frozenset().union(*(_split(text).words for text in each))
        return known


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


def _split(text: str) -> _TextWords:
    if text.isascii() or 2 * len(_UNSPACED.findall(text)) < len(text):
        return _TextWords(_WORD.findall(text.lower()), True)
    return _TextWords([char for char in text if char.isalnum()], False)


def _plain_words(text: str) -> set[str]:
    """The words that are no names (capitals), numbers, handles or addresses; letters if no blanks set words apart."""
    words, spaced = _split(text)
    if not spaced:
        return {char for char in words if char.isalpha()}
    tokens = (token for token in text.split() if not _ADDRESS.search(token))
    return {w for token in tokens for w in _WORD.findall(token) if w.isalpha() and not w[0].isupper()}


def _size(words: set[str], text: str) -> int:
    """How many words there are, in a text of words or of letters."""
    return len(words) if _split(text).spaced else len(words) // _PER_WORD


def _other_texts(segment: Segment) -> Iterable[str]:
    """The references, the source and the turns: what an output may go on with."""
    return (*segment.references, segment.source or "", *(turn["text"] for turn in segment.context))


def _loops(texts: Iterable[str]) -> bool:
    """Whether one of the texts says something again and again, so that an output may, too."""
    return any(turns_itself(text) or is_loop(*_split(text)) for text in texts)


def _is_foreign(segment: Segment) -> bool:
    """Whether a text is in another language or script than its references, and than the pair says."""
    pair, text = language_pair(segment.group), segment.hypothesis
    if segment.references:
        other = _are_other(text, " ".join(segment.references))
        # a reference may be what is in another language
        return bool(other) and (not pair or languages(text)[pair[1]] < LIKELY)
    return bool(pair) and not _is_short(text) and languages(text)[pair[1]] < UNHEARD


def _is_short(text: str) -> bool:
    """Whether a text has fewer than three words, or hardly any but names: nothing tells its language."""
    return sum(map(str.isalpha, _split(text).words)) < _SHORTEST or _size(_plain_words(text), text) < PLAIN


def _are_other(text: str, known: str) -> bool | None:
    """Whether a text is in another script or language than a known one; None if either is not sure."""
    if _is_short(text) or _is_short(known):
        return None
    if not (text.isascii() and known.isascii()):
        # names keep their script
        ours, theirs = writings([" ".join(sorted(_plain_words(one))) for one in (text, known)]).tolist()
        if ours // 2 != theirs // 2:  # each script but Latin has two codes
            return True
    if _are_alike(text, known):
        return False  # as the model would say, which takes half a second and 100 MB to load
    (code, p), (known_code, known_p) = (
        max(languages(one).items(), key=lambda entry: entry[1]) for one in (text, known)
    )
    if p < SURE or known_p < SURE:
        return None
    return languages(text)[known_code] < LIKELY and languages(known)[code] < LIKELY


def _are_alike(text: str, known: str) -> bool:
    """Whether function words and letters say that a text is in the language of a known one; False if they do not tell.

    A text with other letters beyond ASCII may be half in another language: "What about the käännytyspäätöksen?"
    """
    code = told_language(text)
    return code is not None and code == told_language(known) and _beyond_ascii(text) <= _beyond_ascii(known)


def _beyond_ascii(text: str) -> set[str]:
    return set() if text.isascii() else {char for char in text.lower() if not char.isascii() and char.isalpha()}


# --- How many texts of each system should not be trusted? Counted block by block, noted, or refused

GuardCheck = Literal["note", "refuse", "off"]
OVER_ALL = ("repeated", "repeated_reference", "unfinished")  # guards that look at all segments together
GUARDS = (*OUTPUTS, "repeated", *REFERENCES, "repeated_reference")
N_FLAGGED, GUARD = "n_flagged", "guards."
FIELDS = N_FLAGGED, *(GUARD + name for name in GUARDS)  # of rows

_SILENT = frozenset(("empty",))  # every metric says so itself
_NOTHING = (hash(""), hash(()))  # of a text that is not there
_APART = 0x1E3779B97F4A7C15  # odd, so that hashes of systems differ
_FEWEST_INPUTS, _LEAST_SHARE = 5, 0.1  # for how many inputs one text is given, at least, and for which share of them
_DISTRUSTED, _CUT_OFF = 1, 2  # bits of a text: distrusted by a guard, and by `unfinished`
UNFINISHED = "unfinished"  # the guard that says nothing of a system that writes no final marks

Key = tuple[str | None, str | None]  # group, system


@dataclass
class GuardCounts:
    """Counts texts that guards distrust. It keeps 33 bytes per segment.

    Guards that look at all segments together:

    - `repeated`: a system gives one hypothesis for five different references or more (inputs, if there are no
      references), and for a tenth of all, where it is wrong: a system that always says the same.
    - `repeated_reference`: one reference, or list of them, is given for five inputs or more, and for a tenth of all:
      columns that were mixed up, or a stand-in.

    Notes begin with `input`; `-v` has the ids of the first ten segments. Beside each mean stands how many outputs of
    the system any guard distrusts: `flagged` in a table, `n_flagged` in `--json` and TSV, with a field for each guard,
    such as `guards.copied`; what no text has is left out.

    What is done with such texts, by `--guards` and in Python by `guards=`:

    - `note`, the default, counts and notes them;
    - `refuse` ends with the first such text, before anything is scored, and with exit code 2. A reference that stands
      twice, a way of writing and the sign of a broken step are no reasons;
    - `off` looks at nothing.
    """

    n: int = 0
    _earliest: dict[str, tuple[int, str]] = field(default_factory=dict)  # guard -> place and id of its first text
    _first: dict[str, list[str]] = field(default_factory=dict)
    _keys: dict[Key, int] = field(default_factory=dict)
    _counts: list[Counter[str]] = field(default_factory=list)  # of each key
    _places: array[int] = field(default_factory=lambda: array("q"))  # the key of each segment
    _flagged: bytearray = field(default_factory=bytearray)  # bits of each segment
    _texts: array[int] = field(default_factory=lambda: array("q"))  # hashes
    _references: array[int] = field(default_factory=lambda: array("q"))
    _inputs: array[int] = field(default_factory=lambda: array("q"))
    _rules: GuardRules = field(default_factory=GuardRules)
    _ways: Ways = field(default_factory=Ways)
    _signs: Signs = field(default_factory=Signs)

    def add(self, segments: Sequence[Segment]) -> None:
        """Count more segments."""
        self.n += len(segments)
        # what a reference says is right, however often it is said
        self._texts.extend(hash("" if s.hypothesis in s.references else s.hypothesis) for s in segments)
        self._references.extend(map(hash, map(attrgetter("references"), segments)))
        self._inputs.extend(map(hash, map(attrgetter("item", "source"), segments)))
        flags = self._rules.flags
        for s in segments:
            key = s.group, s.system
            place = self._keys.setdefault(key, len(self._keys))
            if place == len(self._counts):
                self._counts.append(Counter())
            self._places.append(place)
            names = list(flags(s))
            cut = UNFINISHED in names
            if cut:
                names.remove(UNFINISHED)
            self._ways.add(s, cut)
            self._signs.add(s)
            self._flagged.append(_CUT_OFF * cut | _DISTRUSTED * any(name in OUTPUTS for name in names))
            for name in names:
                self._counts[place][name] += 1
                self._earliest.setdefault(name, (len(self._flagged), f" {s.id!r}"))
                first = self._first.setdefault(name, [])
                if len(first) < FIRST:
                    first.append(s.id)

    def notes(self) -> list[str]:
        """One note per guard that distrusts a text, per way of writing that systems keep to, and per broken step."""
        counts = self.by_system()
        total = {name: sum(of[GUARD + name] for of in counts.values()) for name in GUARDS if name not in _SILENT}
        first = {**self._first, UNFINISHED: self._ways.first()}
        noted = count_notes("input", {name: n for name, n in total.items() if n}, self.n, first=first)
        return [*noted, *self._ways.notes(), *self._signs.notes(self.n)]

    def by_system(self, by_group: bool = False) -> dict[Key, Counter[str]]:
        """Group and system -> how many outputs any guard distrusts, and how many texts each guard does.

        The names are those of fields of a result's rows. The group is None unless groups are counted apart.
        """
        over_all = self.over_all()
        places = np.array(self._places, dtype=np.int64)
        distrusted = over_all["repeated"] | over_all[UNFINISHED] | (self._bits() & _DISTRUSTED > 0)
        counts: dict[Key, Counter[str]] = {}
        for key, place in self._keys.items():
            here = places == place
            counts[key] = Counter({N_FLAGGED: int(distrusted[here].sum())})
            counts[key].update({GUARD + name: number for name, number in self._counts[place].items()})
            counts[key].update(
                {GUARD + name: int(mask[here].sum()) for name, mask in over_all.items() if mask[here].any()}
            )
        return summed(counts, by_group)

    def over_all(self) -> dict[str, Mask]:
        """Guard of `OVER_ALL` -> whether it distrusts each segment, shape (n,)."""
        # copies are made one after the other, since a run in parts counts millions of segments
        masks = (
            self._given_often(self._texts_by_system(), self._right_answers()),
            self._given_often(np.array(self._references, dtype=np.int64), np.array(self._inputs, dtype=np.int64)),
            self._cut_off(),
        )
        return dict(zip(OVER_ALL, masks, strict=True))

    def refuse(self) -> None:
        """Refuse texts that a guard distrusts; a reference that stands twice beside one output is no reason.

        Raises:
            InputError: there is such a text; the error names the first.
        """
        earliest = {name: first for name, first in self._earliest.items() if name != "doubled_reference"}
        for name, mask in self.over_all().items():
            if mask.any():
                earliest[name] = int(mask.argmax()) + 1, ""
        if not earliest:
            return
        name = min(earliest, key=lambda name: earliest[name][0])
        place, known_as = earliest[name]
        system = list(self._keys)[self._places[place - 1]][1]
        raise InputError(
            f"{'' if system is None else f'system {system!r}, '}segment{known_as} (number {place} of {self.n}) has"
            f" {MEANINGS[name]} (guard {name}); mend it or leave it out, or take note in place of"
            " refuse"
        )

    def _bits(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(bytes(self._flagged), dtype=np.uint8)

    def _cut_off(self) -> Mask:
        """Whether each text seems to be cut off, where its system writes final marks, shape (n,)."""
        cut: Mask = self._bits() & _CUT_OFF > 0
        if cut.any():
            usual = np.array([self._ways.is_usual(system) for _, system in self._keys], dtype=np.bool_)
            cut &= ~usual[np.array(self._places, dtype=np.int64)]
        return cut

    def _right_answers(self) -> npt.NDArray[np.int64]:
        """A hash of the right answer to each input, shape (n,): of its references, or of itself where it has none."""
        inputs, references = (np.array(hashes, dtype=np.int64) for hashes in (self._inputs, self._references))
        return np.where(references == _NOTHING[1], inputs, references)

    def _texts_by_system(self) -> npt.NDArray[np.int64]:
        """A hash of each output and its system, shape (n,): one text of two systems is two."""
        texts = np.array(self._texts, dtype=np.int64)
        numbers: dict[str | None, int] = {}
        of_key = np.array([numbers.setdefault(system, len(numbers)) for _, system in self._keys], dtype=np.int64)
        if len(numbers) > 1:
            said = ~np.isin(texts, _NOTHING)
            texts[said] += of_key[np.array(self._places, dtype=np.int64)[said]] * _APART
        return texts

    def _given_often(self, hashes: npt.NDArray[np.int64], inputs: npt.NDArray[np.int64]) -> Mask:
        """True where the same text answers many different inputs; hashes of both, shape (n,)."""
        ordered = np.sort(hashes)
        if not (ordered[_FEWEST_INPUTS - 1 :] == ordered[: 1 - _FEWEST_INPUTS]).any():  # no text is there so often
            return np.zeros(len(hashes), dtype=np.bool_)
        texts, text = _numbered(hashes)
        distinct, number = _numbered(inputs)
        pairs = np.unique(text * len(distinct) + number)
        given_for = np.bincount(pairs // len(distinct), minlength=len(texts))
        often: Mask = (given_for >= max(_FEWEST_INPUTS, _LEAST_SHARE * len(distinct))) & ~np.isin(texts, _NOTHING)
        return often[text]


def summed(counts: Mapping[Key, Mapping[str, int]], by_group: bool) -> dict[Key, Counter[str]]:
    """The counts of each system, with its groups together unless they are kept apart."""
    total: dict[Key, Counter[str]] = {}
    for (group, system), counted in counts.items():
        total.setdefault((group if by_group else None, system), Counter()).update(counted)
    return total


def _numbered(hashes: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The distinct numbers, and the place of each number among them."""
    known, place = np.unique(hashes, return_inverse=True)
    return known, place.reshape(-1)
