"""Named tokenizers, which split texts into the tokens that word metrics count."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Literal

TokenizerName = Literal["rouge", "unicode", "blanks"]

# A blank for every byte that is no part of an ASCII word, a small letter for a capital.
BLANK_BUT_WORDS = bytes(ord(chr(b).lower()) if b < 0x80 and chr(b).isalnum() else 0x20 for b in range(256))

# Letters of scripts written without blanks between words: ideographs with their iteration marks, kana, bopomofo.
_SINGLE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_LEADING = "\u0e40-\u0e44\u0ec0-\u0ec4"  # Thai and Lao vowels written before the consonant they follow in speech
_TRAILING = "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3"  # and those written after it without being marks
# Consonants and independent vowels of Thai, Lao, Burmese and Khmer.
_CLUSTERED = (
    "\u0e01-\u0e2f\u0e46\u0e81-\u0eaf\u0ebd\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u17d7\u17dc"
)
_STACKERS = "\u1039\u17d2"  # Burmese and Khmer signs that write the next consonant below this one
NO_BLANKS = (
    _SINGLE + _LEADING + _TRAILING + _CLUSTERED
)  # for a character class: letters of scripts that put no blank between words

_PLANES_WITH_MARKS = range(0x20000)
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_ZERO_WIDTH_SPACE = "\u200b"


def rouge_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 in the lower-cased text, as in rouge-score. A text in another script has no words."""
    # Six times as fast as a regular expression; what ASCII lacks is encoded as "?", and so becomes a blank too.
    return text.lower().encode("ascii", "replace").translate(BLANK_BUT_WORDS).decode("ascii").split()


def unicode_words(text: str) -> list[str]:
    """The words of a text in any script, with compatibility forms and case folded.

    A word is a run of letters, marks and digits that starts with a letter or digit. Scripts without blanks between
    words are split further: each Han character, kana and bopomofo letter is a token, and Thai, Lao, Burmese and Khmer
    are split into clusters of a consonant with the vowels and marks around it. Hangul is split at blanks. Punctuation,
    symbols and emoji are not tokens. Invisible format characters (joiners, soft hyphens, variation selectors) are
    dropped, except for the zero-width space, which separates words.

    References:
        Unicode Standard Annex 15 (NFKC) and chapter 3.13 (case folding), as the running Python's `unicodedata` has
        them.
    """
    if not text.isascii():  # before normalisation: a joiner between a letter and its mark keeps them apart
        text = _VARIATION.sub("", text.replace(_ZERO_WIDTH_SPACE, " "))
        text = "".join([c for c in text if c.isalnum() or unicodedata.category(c) != "Cf"])
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _unicode_pattern().findall(text)


def letter_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of the words of `unicode_words` in the original text, in which nothing is folded or dropped."""
    return [match.span() for match in _unicode_pattern().finditer(text)]


def blank_words(text: str) -> list[str]:
    """The text split at blanks and otherwise unchanged, for texts that are already tokenised."""
    return text.split()


TOKENIZERS: dict[TokenizerName, Callable[[str], list[str]]] = {
    "rouge": rouge_words,
    "unicode": unicode_words,
    "blanks": blank_words,
}


@cache
def _unicode_pattern() -> re.Pattern[str]:
    marks = _marks()
    letter = rf"[^\W_{_SINGLE}{_CLUSTERED}{_LEADING}{_TRAILING}]"
    stacked = rf"(?:[{_STACKERS}][{_CLUSTERED}])"
    cluster = rf"[{_LEADING}]*[{_CLUSTERED}](?:{stacked}|[{marks}{_TRAILING}])*|[{_LEADING}{_TRAILING}][{marks}]*"
    return re.compile(rf"{letter}(?:{letter}|[{marks}])*|[{_SINGLE}][{marks}]*|{cluster}")


def _marks() -> str:
    """All combining marks as ranges of a character class; `re` has no name for them."""
    ranges: list[list[int]] = []
    for code in _PLANES_WITH_MARKS:
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)
