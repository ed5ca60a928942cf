"""Porter's stemmer of English, with the deviations that are the default in nltk.

ROUGE scores depend on these deviations, which nltk adds to the paper:
a table of irregular words; words of one or two letters are not changed; "ies" and "ied" keep the e in four-letter words
(dies, died); y becomes i after any consonant that is not the first letter (fly, but not enjoy); "alli" is replaced
first and the rest is tried again; "bli", "fulli" and "logi" are suffixes, too; a stem of a vowel and a consonant counts
as ending in cvc.
"""

from __future__ import annotations

from functools import lru_cache

_IRREGULAR = {
    "skies": "sky", "sky": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news", "innings": "inning",
    "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning", "canning": "canning",
    "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
    "fulli": "ful", "logi": "log",
}  # fmt: skip
_STEP_3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_ENDS_2, _ENDS_3 = tuple(_STEP_2), tuple(_STEP_3)
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip
_SHAPES = str.maketrans({chr(i): "v" if chr(i) in "aeiou" else "c" for i in range(128)})


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case word. A word that is not English is treated as if it were.

    References:
        Porter (1980), "An algorithm for suffix stripping", steps 1a to 5b. Equal to
        `nltk.stem.porter.PorterStemmer().stem(word)`.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    word = _final_y(word)
    word = _double_suffix(word)
    word = _replace(word, _STEP_3, _ENDS_3)
    word = _single_suffix(word)
    return _tidy(word)


def _plural(word: str) -> str:
    """Step 1a."""
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b."""
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _shape(word[: -len(suffix)]):
            return _mend(word[: -len(suffix)])
    return word


def _mend(word: str) -> str:
    """The second half of step 1b: what is left after -ed or -ing."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-1:] == word[-2:-1] and _shape(word)[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _ends_cvc(word) else word


def _final_y(word: str) -> str:
    """Step 1c."""
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c" else word


def _double_suffix(word: str) -> str:
    """Step 2."""
    while word.endswith("alli") and _measure(word[:-4]) > 0:
        word = word[:-2]
    if word.endswith("logi"):  # its l counts with the stem, so that "geo" is long enough
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace(word, _STEP_2, _ENDS_2)


def _single_suffix(word: str) -> str:
    """Step 4."""
    if word.endswith(_STEP_4):
        suffix = _longest(word, _STEP_4)
        rest = word[: -len(suffix)]
        if _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st"):
            return rest
    return word


def _tidy(word: str) -> str:
    """Steps 5a and 5b."""
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_cvc(rest)):
            word = rest
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _replace(word: str, table: dict[str, str], suffixes: tuple[str, ...]) -> str:
    """Replace the longest suffix of the table if the part before it has a vowel followed by a consonant."""
    if not word.endswith(suffixes):
        return word
    suffix = _longest(word, suffixes)
    return word[: -len(suffix)] + table[suffix] if _measure(word[: -len(suffix)]) > 0 else word


def _longest(word: str, suffixes: tuple[str, ...]) -> str:
    """The longest suffix in which the word ends. It must end in one of them."""
    return max((suffix for suffix in suffixes if word.endswith(suffix)), key=len)


def _measure(stem: str) -> int:
    """How often a run of vowels is followed by consonants: m in the paper."""
    return _shape(stem).count("vc")


def _ends_cvc(stem: str) -> bool:
    """Condition *o: the stem ends in consonant, vowel, consonant (not w, x, y), or is just a vowel and a consonant."""
    shape = _shape(stem)
    return (shape.endswith("cvc") and stem[-1] not in "wxy") or shape == "vc"


def _shape(stem: str) -> str:
    """The word as letters c and v for consonants and vowels; y is a vowel after a consonant."""
    if "y" not in stem and stem.isascii():
        return stem.translate(_SHAPES)
    shape, last = [], "v"
    for letter in stem:
        last = "v" if letter in "aeiou" or (letter == "y" and last == "c") else "c"
        shape.append(last)
    return "".join(shape)
