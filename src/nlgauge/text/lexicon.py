"""The lexicon of English: related words, their frequency and meaning, forms and articles; and WordNet's own files."""

from __future__ import annotations

import lzma
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Literal, NamedTuple

from nlgauge.core.errors import InputError
from nlgauge.text.scripts import WordList, data_lines

Pos = Literal["noun", "verb", "adj", "adv"]
Relation = Literal["synonym", "antonym", "hyponym", "hypernym", "sibling", "similar"]

POSES: tuple[Pos, ...] = ("noun", "verb", "adj", "adv")
RELATIONS: tuple[Relation, ...] = ("synonym", "antonym", "hyponym", "hypernym", "sibling", "similar")
_LETTERS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}


def related(lemma: str, pos: Pos, relation: Relation) -> list[str]:
    """Related words, best first. Words of the first sense and frequent words come before others.

    Args:
        lemma: a base form. Capitals are ignored.
        relation: synonym, antonym, hyponym (a kind of it), hypernym (what it is a kind of), sibling (another kind of
            the same) or similar (for adjectives: near in meaning).

    Returns:
        Single words in small letters that a reader would know, without slurs and crude words, the less certain ones
        last; [] if none is known.

    Raises:
        InputError: there is no such part of speech or relation.
    """
    return [word for word in neighbours(lemma, pos, relation) if " " not in word]


def neighbours(lemma: str, pos: Pos, relation: Relation) -> dict[str, bool]:
    """Like `related`, with words that are written with a blank (fire engine), and whether each word is sure.

    It is not if it belongs to a later sense, or is related only through a near synonym of an adjective.
    """
    if relation not in RELATIONS:
        raise InputError(f"no relation {relation!r}, expected one of {', '.join(RELATIONS)}")
    row = _row(lemma, pos)
    words = row[3 + RELATIONS.index(relation)].split(" ") if row else []
    return {word.lstrip("?").replace("_", " "): not word.startswith("?") for word in words if word}


def knows(lemma: str, pos: Pos) -> bool:
    """Whether the lexicon has the lemma with this part of speech."""
    return bool(_row(lemma, pos))


def supersense(lemma: str, pos: Pos) -> str | None:
    """The supersense of the first sense, such as noun.person or verb.motion; None for an unknown word."""
    row = _row(lemma, pos)
    return f"{pos}.{row[1]}" if row else None


def gender(lemma: str) -> Literal["f", "m"] | None:
    """f for nouns for women (actress), m for nouns for men (uncle), else None."""
    flag = _flags(lemma)[0]
    return "f" if flag == "f" else "m" if flag == "m" else None


def countable(lemma: str) -> bool | None:
    """Whether a noun has a plural and takes "a": true of chair, false of furniture.

    None if too little is known, and for words that are not nouns.
    """
    return {"c": True, "u": False}.get(_flags(lemma)[1])


def rank(lemma: str, pos: Pos) -> int | None:
    """The frequency rank of a lemma, from 0, over all parts of speech together; None for an unknown word."""
    row = _row(lemma, pos)
    return int(row[0]) if row else None


def lemmas(pos: Pos) -> Iterator[str]:
    """All lemmas of a part of speech, the most frequent first."""
    letter = _LETTERS[pos]
    return (lemma for lemma, p in _table() if p == letter)


def _flags(lemma: str) -> str:
    """Gender and countability of a noun."""
    row = _row(lemma, "noun")
    return row[2] if row else "--"


def _row(lemma: str, pos: str) -> list[str]:
    """Rank, supersense, flags and the words of each relation; [] if the lemma is not known."""
    if pos not in _LETTERS:
        raise InputError(f"no part of speech {pos!r}, expected one of {', '.join(POSES)}")
    entry = _table().get((lemma.lower(), _LETTERS[pos]))
    return [str(entry[0]), *entry[1].split("\t")] if entry else []


@cache
def _table() -> dict[tuple[str, str], tuple[int, str]]:
    """(lemma, letter) -> rank and the rest of its line, which is parsed only when it is needed."""
    packed = files("nlgauge").joinpath("data/language/lexicon.tsv.xz").read_bytes()
    table = {}
    for place, line in enumerate(lzma.decompress(packed).decode("ascii").splitlines()):
        lemma, letter, rest = line.split("\t", 2)
        table[lemma, letter] = (place, rest)
    return table


# --- Related words chosen by hand for frequent words, and set phrases of adjective and noun. They precede the lexicon

_NONE = "-"


class OwnWord(NamedTuple):
    """A word that may take the place of another.

    Attributes:
        word: in its base form.
        fields: the supersenses of the nouns with which it may be used; empty for any noun.
        barred: the nouns must not be of these fields, rather than be of one of them.
    """

    word: str
    fields: frozenset[str]
    barred: bool = False

    def fits(self, field: str | None) -> bool:
        """Whether it can be said of a noun of a field of meaning."""
        return not self.fields or (field in self.fields) != self.barred


def own_words(lemma: str, pos: str, relation: str) -> Sequence[OwnWord] | None:
    """Words chosen by hand, best first. [] if no word is suitable; None if the lexicon is to be used."""
    return _thesaurus_table().get((lemma, pos, relation))


def in_set_phrase(adjective: str, noun: str) -> bool:
    """Whether adjective and noun are one expression, in which another adjective would mean something else.

    Examples: `high school`, `real estate`.
    """
    nouns = _set_phrases().get(adjective)
    return nouns is not None and (
        noun in nouns or noun.removesuffix("s") in nouns or (noun.endswith("ies") and f"{noun[:-3]}y" in nouns)
    )


@cache
def _thesaurus_table() -> Mapping[tuple[str, str, str], Sequence[OwnWord]]:
    table: dict[tuple[str, str, str], Sequence[OwnWord]] = {}
    pos = relation = ""
    for line in data_lines("thesaurus.txt"):
        if line.startswith("["):
            pos, relation = line.strip("[]").split(" ")
            continue
        for entry in line.split("; "):
            lemma, words = entry.split(": ")
            table[lemma, pos, relation] = () if words == _NONE else tuple(map(read_own_word, words.split(" ")))
    return table


def read_own_word(written: str) -> OwnWord:
    """A word as files have it: `big@person+animal`, or with `!` before fields that are barred."""
    word, _, fields = written.partition("@")
    barred = fields.startswith("!")
    return OwnWord(word, frozenset(fields.lstrip("!").split("+")) if fields else frozenset(), barred)


@cache
def _set_phrases() -> Mapping[str, frozenset[str]]:
    rows = (line.split("\t") for line in data_lines("set_phrases.tsv"))
    return {adjective: frozenset(nouns.split(" ")) for adjective, nouns in rows}


# --- Whether a word takes "a" or "an", by its sound as far as spelling shows it

_SILENT_H = re.compile(r"heir|honest|hono(?:u)?r|hour(?!i)|hors(?=[- ]?d)")
_CONSONANT_SOUND = re.compile(  # a vowel letter that is spoken with y or w before it
    r"""eu | ew(?:e|er)s?$ | one(?:s|self|ness)?(?![a-z]) | once(?![a-z]) | oui | ouag
    | u(?: ni(?!n|m|d(?!ir)|g|ss|r) | nanim | nes | s(?:e|age|abl|abil|i|u) | t(?:e[nr]|i|o|ah|es?$) | bi
    | k(?:$|u|r|[^a-z])
      | r(?:in|ol|ani|anus|al|u|e[at]|ic) | fo | ga[n'] | v[eu] | yghur | ighur | lyss )""",
    re.VERBOSE,
)
_LETTERS_WITH_VOWEL = frozenset("aefhilmnorsx")  # as they are called: eff, aitch, ell, em, en, ar, ess, ex
# Short capitals that are read as a word, and longer ones that are read letter by letter.
_SHORT_WORDS = frozenset("SIM ROM LAN HUD REM MOT RICO".split())
_LONG_LETTERS = frozenset("NAACP NCAA HTML HTTP HTTPS MDMA MEPS SUVS NGOS LEDS".split())
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


# --- Convert a base form to the form for a Penn Treebank tag, and back

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
    "ox": "oxen", "person": "people", "staff": "staff", "money": "money", "passer-by": "passers-by",
    "passerby": "passersby",
}  # fmt: skip
_ONE_AND_MANY = WordList("forms", "one form")
_COUNTED_ENDS = ("ion", "ment", "ness", "nce", "ity", "ism", "age", "ise", "er", "or")
_MODALS = {"can": "could", "may": "might", "shall": "should", "will": "would"}
_CLITICS = {  # (word, first letter of its tag) -> what it stands for
    ("ca", "M"): "can", ("wo", "M"): "will", ("sha", "M"): "shall", ("'ll", "M"): "will", ("'d", "M"): "would",
    ("n't", "R"): "not", ("'d", "V"): "have", ("'ve", "V"): "have",
    **dict.fromkeys(((form, "V") for form in "'s 'm 're ai am are is was were been being".split()), "be"),
}  # fmt: skip
_GRADES = {  # base form -> comparative, superlative
    "good": ("better", "best"), "well": ("better", "best"), "bad": ("worse", "worst"), "badly": ("worse", "worst"),
    "ill": ("worse", "worst"), "many": ("more", "most"), "much": ("more", "most"), "little": ("less", "least"),
    "few": ("fewer", "fewest"), "far": ("further", "furthest"),
    **{w: (w, w) for w in "more most less least better best worse worst further lesser latter former".split()},
}  # fmt: skip
_GRADED_BASES = {  # form -> base form of an adjective, of an adverb; more, most, less and least stay as they are
    "worse": ("bad", "badly"), "worst": ("bad", "badly"), "better": ("good", "well"), "best": ("good", "well"),
    **{form: (form, form) for form in "more most less least further lesser".split()},
    "farther": ("far", "far"), "farthest": ("far", "far"), "furthest": ("far", "far"), "elder": ("old", "old"),
    "eldest": ("old", "old"), "later": ("late", "late"), "latest": ("late", "late"), "freer": ("free", "free"),
    "freest": ("free", "free"),
}  # fmt: skip

_ENDINGS_WITH_ER = ("y", "le", "ow")  # words of two syllables that end so take -er, and these few more
_WITH_ER = frozenset({"quiet", "clever", "gentle", "hollow", "mellow", "tender", "slender", "sober", "bitter", "cruel"})
_WITHOUT_ER = WordList("forms", "never graded")
_PREFIXES = ("re", "co", "over", "under", "out", "mis", "un", "fore", "with", "pre", "up", "inter", "counter")


def inflect(lemma: str, tag: str) -> str | None:
    """The form of a lemma for a tag.

    Irregular forms come from lemminflect, others from rules. Of the forms in two treebanks 98 % and more come out, by
    tag (`NLGAUGE_DATA=... pytest tests/text/test_lexicon.py -k treebanks`).

    Args:
        lemma: a base form. If it has several words, the last one is inflected for nouns and the first for verbs.
        tag: a Penn Treebank tag of a noun, verb, adjective, adverb or modal.

    Returns:
        The form, with the capitals of the lemma. Comparatives and superlatives are built with "more" and "most" if the
        word does not take -er and -est. None for other tags, and for a lemma without letters.
    """
    if tag not in _TAGS or not any(c.isalpha() for c in lemma):
        return None
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
    if tag == "VBG" and lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if tag == "VBG":
        return (lemma[:-1] if re.search(r"[^eoy]e$", lemma) else _doubled(lemma)) + "ing"
    return _stem_before_e(lemma) + "ed"


def _stem_before_e(lemma: str) -> str:
    """What stands before -ed, -er and -est: without its own e, with i for y, or with its last letter twice."""
    if lemma.endswith("e"):
        return lemma[:-1]
    return lemma[:-1] + "i" if re.search("[^aeiou]y$", lemma) else _doubled(lemma)


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
    return _stem_before_e(lemma) + ("er", "est")[place]


def _takes_er(lemma: str, tag: str) -> bool:
    if "-" in lemma or " " in lemma or lemma in _WITHOUT_ER:
        return False
    if tag[0] == "R" and lemma.endswith("ly") and lemma not in ("early", "likely"):
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
    if short := _CLITICS.get((word, tag[:1])):
        return short
    if word in _GRADED_BASES and tag in ("JJR", "JJS", "RBR", "RBS"):
        return _GRADED_BASES[word][tag[0] == "R"]
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


# --- WordNet as its authors ship it: synonyms from a folder of dict files

# Endings of inflected words and what stands in their place in the base form (morphy, section 7 of the manual).
_ENDINGS = {
    "noun": "s- ses-s ves-f xes-x zes-z ches-ch shes-sh men-man ies-y",
    "verb": "s- ies-y es-e es- ed-e ed- ing-e ing-",
    "adj": "er- est- er-e est-e",
    "adv": "",
}
ENDINGS = {
    part: tuple((ending, base) for ending, _, base in (rule.partition("-") for rule in rules.split()))
    for part, rules in _ENDINGS.items()
}


class WordNet:
    """Reads `index.*` and `data.*`, and the irregular forms of `*.exc` if they exist.

    Args:
        folder: the folder with the files of WordNet 3.0 (or 3.1, 2.1). Debian's wordnet-base puts them into
            /usr/share/wordnet.

    Raises:
        InputError: a file is missing, or damaged.

    References:
        wndb(5WN) of WordNet 3.0 for the formats.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        needed = [name for part in POSES for name in (f"index.{part}", f"data.{part}")]
        lacking = [name for name in needed if not os.path.isfile(self.folder / name)]
        if lacking:
            raise InputError(
                f"{self.folder} has no {lacking[0]}; expected the dict folder of WordNet (index.noun, data.noun, ...)"
            )

    def synonyms(self, word: str) -> frozenset[str]:
        """The words of all senses of all base forms of a word, without those that are written with a blank.

        They are spelt as in WordNet, with capitals. nltk's `synsets(word)` has the same senses.
        """
        found: set[str] = set()
        for pos in POSES:
            index = self.index[pos]
            for form in base_forms(word.lower(), pos, index.__contains__, self._exceptions[pos]):
                for offset in index[form]:
                    found.update(self._words(pos, offset))
        return frozenset(word for word in found if "_" not in word)

    @cached_property
    def digest(self) -> str:
        """The digest of the files, for a signature."""
        files = sorted(path for path in self.folder.glob("*.*") if path.stem in ("index", "data", *POSES))
        total = sha256()
        for path in files:
            total.update(path.name.encode() + path.read_bytes())
        return "sha256:" + total.hexdigest()[:16]

    @cached_property
    def index(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """Part of speech -> lemma -> offsets of its synsets, in the order of senses."""
        index: dict[str, dict[str, tuple[int, ...]]] = {}
        for name in POSES:
            entries = index[name] = {}
            for line in (self.folder / f"index.{name}").read_text("utf-8", "replace").splitlines():
                if line.startswith(" "):
                    continue
                fields = line.split()
                try:
                    entries[fields[0]] = tuple(map(int, fields[-int(fields[2]) :]))
                except (ValueError, IndexError):
                    raise InputError(
                        f"{self.folder / f'index.{name}'} has a line {line[:60]!r}, expected a lemma of WordNet with"
                        " the offsets of its senses"
                    ) from None
        return index

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        """Part of speech -> irregular form -> its base forms; empty without the files `noun.exc` and so on."""
        tables: dict[str, dict[str, list[str]]] = {}
        for pos in POSES:
            path = self.folder / f"{pos}.exc"
            lines = path.read_text("utf-8").splitlines() if path.is_file() else []
            tables[pos] = {fields[0]: fields[1:] for fields in map(str.split, lines) if fields}
        return tables

    @cached_property
    def data(self) -> dict[str, bytes]:
        """Part of speech -> the lines of its synsets, each of which begins with its own offset."""
        return {name: (self.folder / f"data.{name}").read_bytes() for name in POSES}

    def _words(self, pos: str, offset: int) -> list[str]:
        data = self.data[pos]
        try:
            fields = data[offset : data.index(b"\n", offset)].decode().split()
            if int(fields[0]) != offset:
                raise ValueError
            size = int(fields[3], 16)
        except (ValueError, IndexError):
            raise InputError(
                f"{self.folder / f'data.{pos}'} has no synset at offset {offset}, to which another file leads; are all"
                " files of one release of WordNet?"
            ) from None
        return [w.partition("(")[0] for w in fields[4 : 4 + 2 * size : 2]]  # an adjective may carry its place: (p)


def base_forms(
    word: str, pos: str, knows: Callable[[str], bool], irregular: Mapping[str, Iterable[str]] | None = None
) -> list[str]:
    """The known forms that a word may be an inflection of, the word itself among them.

    Args:
        word: in small letters.
        pos: noun, verb, adj or adv.
        knows: whether a form is known.
        irregular: irregular forms -> their base forms; endings are not looked at for these.
    """
    if irregular and word in irregular:
        forms = [word, *irregular[word]]
    else:
        forms = [word, *(word.removesuffix(old) + new for old, new in ENDINGS[pos] if word.endswith(old))]
    return [form for form in dict.fromkeys(forms) if knows(form)]
