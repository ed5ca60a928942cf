"""Whether a word takes "a" or "an", by its sound as far as spelling shows it."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from nlgauge.text.lexicon.lexicon import POSES, knows

_SILENT_H = re.compile(r"heir|honest|hono(?:u)?r|hour(?!i)|hors(?=[- ]?d)")
_CONSONANT_SOUND = re.compile(  # a vowel letter that is spoken with y or w before it
    r"""eu | ew(?:e|er)s?$ | one(?:s|self|ness)?(?![a-z]) | once(?![a-z]) | oui | ouag
    | u(?: ni(?!n|m|d(?!ir)|g|ss|r) | nanim | nes | s(?:e|age|abl|abil|i|u) | t(?:e[nr]|i|o|ah|es?$) | bi
    | k(?:$|u|r|[^a-z])
      | r(?:in|ol|ani|anus|al|u|e[at]|ic) | fo | ga[n'] | v[eu] | yghur | ighur | lyss )""",
    re.VERBOSE,
)
_LETTERS_WITH_VOWEL = frozenset("aefhilmnorsx")  # as they are called: eff, aitch, ell, em, en, ar, ess, ex
_SHORT_WORDS = frozenset(
    {"SIM", "ROM", "LAN", "HUD", "REM", "MOT", "RICO"}
)  # capitals of up to three letters that are read as a word
_LONG_LETTERS = frozenset(
    {"NAACP", "NCAA", "HTML", "HTTP", "HTTPS", "MDMA", "MEPS", "SUVS", "NGOS", "LEDS"}
)  # and longer ones read letter by letter
_EIGHT_OR_ELEVEN = re.compile(r"8|1[18](?:(?:,\d{3})+|(?:\d{3})*|\d\d)(?![\d,])|1[18],(?!\d{3})")


@lru_cache(1 << 14)
def article_before(word: str) -> Literal["a", "an"]:
    """The indefinite article for a word or phrase, chosen by its first sound.

    Args:
        word: the word or phrase after the article. Quotes, brackets and currency signs before it are ignored.

    Returns:
        "an" before a vowel sound (hour, MP, 8, 18). "a" before any other sound (university, one, European, NATO), and
        if the sound cannot be found.
    """
    match = re.search(r"[^\W_][\w.,'’&-]*", word)
    return "an" if match and _starts_with_vowel(match[0]) else "a"


def _starts_with_vowel(word: str) -> bool:
    if word[0].isdigit():
        return bool(_EIGHT_OR_ELEVEN.match(word))
    plain = "".join(c for c in unicodedata.normalize("NFD", word.replace("’", "'")) if not unicodedata.combining(c))
    letters = re.match(r"[A-Za-z]*", re.sub(r"(?<=\b[A-Za-z])\.(?=[A-Za-z]\b)", "", plain))
    run = letters[0] if letters else ""  # U.S. is US
    if not run:
        return False
    if _is_spelt(run):
        return run[0].lower() in _LETTERS_WITH_VOWEL
    lower = plain.lower()
    if _CONSONANT_SOUND.match(lower):
        return False
    return lower[0] in "aeiou" or bool(_SILENT_H.match(lower)) or bool(re.match(r"y[b-df-hj-np-tv-xz]", lower))


def _is_spelt(run: str) -> bool:
    """Whether letters are read one by one, by their names: MP, FBI, X-ray, mp3, but not NATO."""
    if len(run) == 1 or run.upper() in _LONG_LETTERS:
        return True
    if not re.search("[aeiouyAEIOUY]", run):
        return len(run) <= 5
    capitals = re.match("[A-Z]*", run)
    size = len(capitals[0]) if capitals else 0
    if size == 0:
        return run[1].isupper()  # mRNA
    if size == 1:
        return False
    if run[size:] not in ("", "s"):
        return True  # MPhil, FBIer
    return size <= 3 and run[:size] not in _SHORT_WORDS and not any(knows(run[:size], pos) for pos in POSES)
