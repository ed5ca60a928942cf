"""A small rule-based sentence splitter for any text with punctuation."""

from __future__ import annotations

import re

from nlgauge.text.wordlists import WordList

# Full stops of scripts without capitals, which end a sentence whatever follows: Chinese and Japanese, Devanagari,
# Ethiopic, Arabic, Urdu, Khmer, Burmese.
_FULL_STOPS = "\u3002\uff01\uff1f\uff61\u0964\u0965\u1362\u061f\u06d4\u17d4\u17d5\u104b"
_CLOSERS = "\"'”’»)\\]}」』）】〉》"
_OPENERS = "\"'“‘«([{「『（【〈《¿¡"
_MARK = re.compile(rf"\n|[{_FULL_STOPS}]+[{_CLOSERS}]*|(?<![.!?…])(?P<western>[.!?…]++)[{_CLOSERS}]*+(?=\s)")
_LAST_WORD = re.compile(r"[^\s" + re.escape(_OPENERS) + r"]*$")
_FIRST_WORD = re.compile(rf"[\s{re.escape(_OPENERS)}]*([\w'’]*)")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")

# Words whose period belongs to them: before anything, and before a number.
_UNENDING = WordList("sentences", "never at an end")
_NUMBERED = WordList("sentences", "before numbers")
# Words that begin sentences and hardly names: what makes "U.S. The" two sentences and "U.S. Army" none.
_STARTERS = WordList("sentences", "starting sentences")

_LONGEST = 24  # characters looked back for one of these; a bound keeps the work linear in the text


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, without the blanks around it, in order and without overlap. None is empty.

    A line feed ends a sentence. The full stops of scripts without capitals do so too, together with closing quotes and
    brackets after them. A period, question mark, exclamation mark or ellipsis ends a sentence before a blank, unless
    the next word begins in lower case. A single period does not end a sentence after a title (Dr.), after an initial or
    an abbreviation in capitals (J. Smith, U.S. Army), or after an abbreviation before its number (No. 5). So few rules
    are sometimes wrong. If this matters, put each sentence on its own line.
    """
    spans = []
    start = 0
    for mark in _MARK.finditer(text):
        if mark["western"] is None or _ends(text, start, mark):
            spans.append(_trim(text, start, mark.end()))
            start = mark.end()
    spans.append(_trim(text, start, len(text)))
    return [(start, end) for start, end in spans if start < end]


def split_sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _ends(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a sentence that began at `start` ends with this Western mark."""
    following = _FIRST_WORD.match(text, mark.end())
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    if mark["western"] != ".":
        return True
    match = _LAST_WORD.search(text, max(start, mark.start() - _LONGEST), mark.start())
    last = match[0] if match else ""
    if last.lower() in _UNENDING or (last.lower() in _NUMBERED and word[:1].isdigit()):
        return False
    initials = _INITIALS.fullmatch(last) is not None and last[-1].isupper() and last != "I"
    return not (initials and word[:1].isupper() and word not in _STARTERS)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end
