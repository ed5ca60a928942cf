"""Convert a base form to the form for a Penn Treebank tag, and back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from nlgauge.text.lexicon.lexicon import Pos, knows
from nlgauge.text.wordlists import WordList

_KEPT = 1 << 16  # words remembered: texts repeat themselves
_POS: dict[str, Pos] = {"NN": "noun", "VB": "verb", "JJ": "adj", "RB": "adv"}
_UPOS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
_TAGS = frozenset({*_POS, "NNS", "NNP", "NNPS", "VBP", "VBZ", "VBD", "VBN", "VBG", "JJR", "JJS", "RBR", "RBS", "MD"})

_VERBS = {  # lemma -> its forms where the library has none, wrong ones, or the rarer one first
    "be": {"VBP": "are", "VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"},
    "have": {"VBZ": "has", "VBD": "had", "VBN": "had", "VBG": "having"},
    "do": {"VBZ": "does", "VBD": "did", "VBN": "done", "VBG": "doing"},
    "lie": {"VBD": "lay", "VBN": "lain", "VBG": "lying"},
    "get": {"VBN": "got"},
    "light": {"VBN": "lit"},
    "spell": {"VBN": "spelled"},
    "wake": {"VBN": "woken"},
    "quit": {"VBD": "quit", "VBN": "quit"},
    "can": {"VBZ": "cans", "VBN": "canned", "VBG": "canning"},  # to put into cans
    "ski": {"VBN": "skied"},
}
_NOUNS = {
    "ox": "oxen",
    "person": "people",
    "staff": "staff",
    "money": "money",
    "passer-by": "passers-by",
    "passerby": "passersby",
}
_ONE_AND_MANY = WordList("forms", "one form")
_COUNTED_ENDS = ("ion", "ment", "ness", "nce", "ity", "ism", "age", "ise", "er", "or")
_MODALS = {"can": "could", "may": "might", "shall": "should", "will": "would"}
_CLITICS = {  # (word, first letter of its tag) -> what it stands for
    ("ca", "M"): "can",
    ("wo", "M"): "will",
    ("sha", "M"): "shall",
    ("'ll", "M"): "will",
    ("'d", "M"): "would",
    ("n't", "R"): "not",
    ("'d", "V"): "have",
    ("'s", "V"): "be",
    ("'m", "V"): "be",
    ("'re", "V"): "be",
    ("'ve", "V"): "have",
    ("ai", "V"): "be",
    **{(form, "V"): "be" for form in ("am", "are", "is", "was", "were", "been", "being")},
}
_GRADES = {  # base form -> comparative, superlative
    "good": ("better", "best"),
    "well": ("better", "best"),
    "bad": ("worse", "worst"),
    "badly": ("worse", "worst"),
    "ill": ("worse", "worst"),
    "many": ("more", "most"),
    "much": ("more", "most"),
    "little": ("less", "least"),
    "few": ("fewer", "fewest"),
    "far": ("further", "furthest"),
    **{
        word: (word, word)
        for word in "more most less least better best worse worst further lesser latter former".split()
    },
}
_GRADED_BASES = {  # (form, first letter of its tag) -> base form; more, most, less and least stay as they are
    ("worse", "J"): "bad",
    ("worst", "J"): "bad",
    ("worse", "R"): "badly",
    ("worst", "R"): "badly",
    ("better", "J"): "good",
    ("best", "J"): "good",
    ("better", "R"): "well",
    ("best", "R"): "well",
    **{(form, pos): form for form in ("more", "most", "less", "least", "further", "lesser") for pos in "JR"},
    **{
        (form, pos): base
        for form, base in (
            ("farther", "far"),
            ("farthest", "far"),
            ("furthest", "far"),
            ("elder", "old"),
            ("eldest", "old"),
            ("later", "late"),
            ("latest", "late"),
            ("freer", "free"),
            ("freest", "free"),
        )
        for pos in "JR"
    },
}

_ENDINGS_WITH_ER = ("y", "le", "ow")  # words of two syllables that end so take -er, and these few more
_WITH_ER = frozenset({"quiet", "clever", "gentle", "hollow", "mellow", "tender", "slender", "sober", "bitter", "cruel"})
_WITHOUT_ER = WordList("forms", "never graded")
_PREFIXES = ("re", "co", "over", "under", "out", "mis", "un", "fore", "with", "pre", "up", "inter", "counter")


def inflect(lemma: str, tag: str, *, plural: bool = False, first: bool = False) -> str | None:
    """The form of a lemma for a tag.

    Args:
        lemma: a base form. If it has several words, the last one is inflected for nouns and the first for verbs.
        tag: a Penn Treebank tag of a noun, verb, adjective, adverb or modal.
        plural: for "be" (VBD): were instead of was.
        first: for "be" (VBP): am instead of are.

    Returns:
        The form, with the capitals of the lemma. Comparatives and superlatives are built with "more" and "most" if the
        word does not take -er and -est. None for other tags, and for a lemma without letters.
    """
    if tag not in _TAGS or not any(c.isalpha() for c in lemma):
        return None
    if lemma.lower() == "be":
        form = "were" if plural and tag == "VBD" else "am" if first and tag == "VBP" else _form("be", tag)
    else:
        form = _form(lemma.lower(), tag)
    return _with_capitals_of(lemma, form) if form is not None else None


def lemma(word: str, tag: str) -> str:
    """The base form of a word with a tag, in small letters.

    Proper nouns, also plural ones (NNPS), are returned unchanged. Contractions are replaced by the words that they
    stand for: n't by not, 'll by will, 's as a verb by be, 'd as a verb in the past by have.
    """
    return word if tag.startswith("NNP") else _lemma(word.lower().replace("’", "'"), tag)


@lru_cache(_KEPT)
def _form(lemma: str, tag: str) -> str | None:
    pos = _POS.get(tag[:2])
    if tag == "MD":
        return lemma
    if (lemma in _MODALS and tag == "VBD" and lemma != "will") or lemma in _MODALS.values():
        return _MODALS.get(lemma, lemma)
    if pos is None or tag in ("NN", "NNP", "VB", "JJ", "RB"):
        return lemma
    head, blank, tail = lemma.partition(" ") if pos == "verb" else ("", "", lemma)
    if pos == "verb":
        return _verb(head, tag) + blank + tail
    if pos == "noun":
        before, blank, last = lemma.rpartition(" ")
        named = tag == "NNPS" and last.endswith("y")  # the Kennedys
        return before + blank + (f"{last}s" if named else _plural(last))
    return _graded(lemma, tag)


def _verb(lemma: str, tag: str) -> str:
    if tag == "VBP":
        return "are" if lemma == "be" else lemma
    if tag in _VERBS.get(lemma, ()):
        return _VERBS[lemma][tag]
    listed = _listed(lemma, tag) or _listed_end(lemma, tag)
    if listed:
        return listed
    if tag == "VBZ":
        return _with_s(lemma)
    if tag == "VBG":
        return (
            lemma[:-2] + "y"
            if lemma.endswith("ie")
            else lemma[:-1]
            if re.search(r"[^eoy]e$", lemma)
            else _doubled(lemma)
        ) + "ing"
    return (
        lemma + "d"
        if lemma.endswith("e")
        else lemma[:-1] + "ied"
        if re.search("[^aeiou]y$", lemma)
        else _doubled(lemma) + "ed"
    )


def _plural(lemma: str) -> str:
    if lemma in _ONE_AND_MANY or lemma in _NOUNS:
        return _NOUNS.get(lemma, lemma)
    if "-in-" in lemma or "-of-" in lemma:  # mothers-in-law
        head, hyphen, rest = lemma.partition("-")
        return _plural(head) + hyphen + rest
    listed = _listed(lemma, "NNS")
    if listed == lemma and lemma.endswith(_COUNTED_ENDS):
        return _with_s(lemma)  # "congratulation", which the library takes for its own plural
    if not listed and (lemma.endswith("ics") or (lemma.endswith("s") and _lemma(lemma, "NNS") != lemma)):
        return lemma  # thanks, emissions, politics: a plural as it is
    if not listed and lemma.endswith("man") and len(lemma) > 4 and not lemma.endswith(("human", "german", "roman")):
        return lemma[:-2] + "en"
    return listed or _listed_end(lemma, "NNS") or _with_s(lemma)


def _graded(lemma: str, tag: str) -> str:
    place = 0 if tag[2] == "R" else 1
    if lemma in _GRADES:
        return _GRADES[lemma][place]
    if not _takes_er(lemma, tag):
        return f"{('more', 'most')[place]} {lemma}"
    listed = None if lemma.endswith("ee") else _listed(lemma, tag)  # the library's "freeer"
    if listed:
        return listed
    stem = (
        lemma[:-1] if lemma.endswith("e") else lemma[:-1] + "i" if re.search("[^aeiou]y$", lemma) else _doubled(lemma)
    )
    return stem + ("er", "est")[place]


def _takes_er(lemma: str, tag: str) -> bool:
    if (
        "-" in lemma
        or " " in lemma
        or lemma in _WITHOUT_ER
        or (tag[0] == "R" and lemma.endswith("ly") and lemma not in ("early", "likely"))
    ):
        return False
    syllables = len(re.findall(r"[aeiouy]+", re.sub(r"(?<=[^aeiouyl])e$", "", lemma)))
    if syllables <= 1:
        return not (len(lemma) > 4 and lemma.endswith("ed"))  # a participle, as "used", "paved"
    ends_so = lemma.endswith(_ENDINGS_WITH_ER) and not lemma.endswith(("able", "ible"))
    return lemma in _WITH_ER or (ends_so and syllables == 2 + lemma.startswith("un"))


def _with_s(word: str) -> str:
    if re.search(r"(?:s|x|z|ch|sh)$", word):
        return word + "es"
    if re.search(r"[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


def _doubled(word: str) -> str:
    """The word with its last consonant doubled if a single stressed short vowel stands before it.

    This is a rule for words of one syllable.
    """
    return word + word[-1] if re.fullmatch(r"[^aeiou]*(?:qu)?[aeiou][bdfgklmnprtvz]", word) else word


def _listed(lemma: str, tag: str) -> str | None:
    """The form in the library's table. The library's guesses for words that it does not list are not used."""
    from lemminflect import getInflection

    forms = getInflection(lemma, tag, inflect_oov=False)
    return forms[0] if forms else None


def _listed_end(lemma: str, tag: str) -> str | None:
    """The form of a compound by its last part, if that is listed: well-wisher, overpay, superhero."""
    prefix, hyphen, last = lemma.rpartition("-")
    if hyphen:
        form = _verb(last, tag) if tag[0] == "V" else _plural(last)
        return f"{prefix}-{form}" if last else None
    forms = ((lemma[:cut], _listed(lemma[cut:], tag)) for cut in _cuts(lemma, tag))
    return next((before + form for before, form in forms if form), None)


def _cuts(word: str, tag: str) -> list[int]:
    """The positions at which a compound may be split. Verbs after a prefix come first."""
    prefixes = [len(p) for p in _PREFIXES if tag[0] == "V" and word.startswith(p) and len(word) > len(p) + 2]
    return prefixes + list(range(3, len(word) - 3))


@lru_cache(_KEPT)
def _lemma(word: str, tag: str) -> str:
    short = _CLITICS.get((word, tag[:1])) or _GRADED_BASES.get((word, tag[:1]) if tag[2:] in ("R", "S") else ("", ""))
    if short:
        return short
    if tag not in ("NNS", "VBZ", "VBD", "VBN", "VBG", "JJR", "JJS", "RBR", "RBS") or word[:1].isdigit():
        return word
    if tag == "NNS" and (word in _ONE_AND_MANY or word == "leaves"):
        return "leaf" if word == "leaves" else word
    pos = _POS[tag[:2]]
    from lemminflect import getLemma

    found = getLemma(word, _UPOS[pos], lemmatize_oov=False)
    if found:
        return str(found[0])
    prefix, hyphen, last = word.rpartition("-")
    if hyphen and last:
        return f"{prefix}-{_lemma(last, tag)}"
    if tag == "NNS" and word.endswith("'s"):
        return word[:-2]
    guesses = [g for g in _guesses(word, tag) if len(g) > 1]
    known = next((g for g in guesses if knows(g, pos)), None)
    if known is None and tag[0] in "NV":
        ends = ((word[:cut], getLemma(word[cut:], _UPOS[pos], lemmatize_oov=False)) for cut in _cuts(word, tag))
        known = next((before + end[0] for before, end in ends if end and end[0] != word[len(before) :]), None)
    return known or (guesses[0] if guesses else word)


def _guesses(word: str, tag: str) -> Iterator[str]:
    """Base forms by rule, the likeliest first."""
    if tag in ("NNS", "VBZ"):
        if word.endswith("ies") and len(word) > 4:
            yield word[:-3] + "y"
        if re.search(r"(?:s|x|z|ch|sh)es$", word):
            yield word[:-2]
        if word.endswith("s") and not word.endswith("ss"):
            yield word[:-1]
        return
    for ending in {"VBD": ("ed",), "VBN": ("ed",), "VBG": ("ing",)}.get(tag, ("er", "est")):
        if word.endswith(ending):
            stem = word[: -len(ending)]
            if re.search(r"[^aeiou]i$", stem):
                yield stem[:-1] + "y"
            if re.search(r"([bdfgklmnprtvz])\1$", stem) and not stem.endswith(("ll", "ss")):
                yield stem[:-1]
            if re.search(
                r"(?:^[^aeiou]+[aeiou][bcdfgklmnprtvz]|[^aeiou]l|[aeiou][cgsvz]"
                r"|[^aeiou][aeiou]t|[aiou]r|[rnl][cgsv]|u)$",
                stem,
            ):
                yield stem + "e"
            yield stem
            yield stem + "e"


def _with_capitals_of(model: str, word: str) -> str:
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word
