"""Whether a text is in English, as far as perturbations of English must know: by script and function words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

from nlgauge.text.doc import Doc
from nlgauge.text.wordlists import WordList

# Frequent words of English, and of languages in Latin script that are no words of English or hardly ever.
_ENGLISH = WordList("grammar", "frequent English")
_OTHERS = WordList("grammar", "frequent foreign")
_FEW, _SHARE = 4, 0.5


def is_english(doc: Doc) -> bool:
    """False for text mostly in other scripts than Latin, or with the function words of another language.

    Short texts in Latin script pass, and those without letters: a name, a headline or a number has no function words.
    """
    latin = other = 0
    for char in doc.text:
        if char.isalpha():
            if char.isascii() or unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN")):
                latin += 1
            else:
                other += 1
    if latin < _SHARE * (latin + other):
        return False
    return not _foreign([t.lower for t in doc.tokens])


def _foreign(words: Sequence[str]) -> bool:
    ours, theirs = _function_words()
    english = sum(w in ours for w in words)
    others = sum(w in theirs for w in words)
    return len(words) >= _FEW and others >= 2 and others > 2 * english


@cache
def _function_words() -> tuple[frozenset[str], frozenset[str]]:
    ours = frozenset(_ENGLISH)
    return ours, frozenset(_OTHERS) - ours
