"""Whether a text is in English, as far as templates for English must know: by script and by function words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache

from nlgauge.text.doc import Doc

# Frequent words of English, and of languages in Latin script that are no words of English or hardly ever.
_ENGLISH = """
the of and to a in is that it was for on are as with his they at be this from i have or by one had not but what all were when we there can an
your which their said if will each how do she he you him her its my no so up out about who been has more would after into than then them these
"""
_OTHERS = """
der die das und ist nicht ein eine einen dem den des von zu mit auf für sich auch wird im sind ich sie er wir
le la les un une du et est dans que qui pour pas sur avec ce cette au aux il elle ne nous vous je
el los las y es en por con una del al se su lo como más pero
di che è per non sono gli della nel alla o os uma não em ao na e à da
het een van niet dat op zijn te met voor ook og jeg ikke som på det till av är och att inte för
nie się jest w z że i ve bir bu için
"""
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
    ours = frozenset(_ENGLISH.split())
    return ours, frozenset(_OTHERS.split()) - ours
