"""How far a question phrase reaches ("who else", "how many of the films"), and the auxiliaries behind it."""

from __future__ import annotations

from nlgauge.text.doc import Doc, Token

WH = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})
PRONOUNS = frozenset({"who", "whom", "what", "which"})
ADVERBS = frozenset({"when", "where", "why", "how"})
BE = frozenset({"am", "is", "are", "was", "were", "'m", "'re"})
DO = frozenset({"do", "does", "did"})
HAVE = frozenset({"have", "has", "had", "'ve"})
MODALS = frozenset(
    {"can", "could", "will", "would", "shall", "should", "may", "might", "must", "ca", "wo", "sha", "'ll"}
)
AUXILIARIES = BE | DO | HAVE | MODALS | {"'s", "'d"}
NOT = frozenset({"n't", "not"})
NOUNS = ("NN", "NNS", "NNP", "NNPS")
VERBS = ("VB", "VBD", "VBP", "VBZ", "VBN", "VBG")
_FULL = {"'re": "are", "'m": "am", "'ve": "have", "'d": "did", "'ll": "will", "ca": "can", "wo": "will", "sha": "shall"}
_MODIFIERS = ("JJ", "JJR", "JJS", "RBS", "CD", "HYPH", "POS", "VBN", "VBG", "FW", "AFX")
_LINKS = frozenset({"then", "therefore", "thus", "indeed", "ever", "else", "exactly", "on", "come", "about", "so"})


def is_auxiliary(token: Token) -> bool:
    """Whether a token may stand before the subject; possessive 's may not."""
    return token.lower in AUXILIARIES and token.tag != "POS"


def full_form(doc: Doc, place: int) -> str:
    """An auxiliary in small letters and in full: "is" or "has" for 's."""
    word = doc.tokens[place].lower
    if word == "'s":
        following = next((t for t in doc.tokens[place + 1 :] if t.tag != "RB"), None)
        return (
            "has" if following is not None and (following.tag == "VBN" or following.lower in ("got", "been")) else "is"
        )
    return _FULL.get(word, word)


def after_not(doc: Doc, place: int, end: int) -> int:
    """The place behind an auxiliary and the n't that hangs on it."""
    return place + 2 if place + 1 < end and doc.tokens[place + 1].lower == "n't" else place + 1


def phrase_end(doc: Doc, wh: int, end: int) -> int:
    """The last token of the question phrase: "who else", "how many of the films", "what kind of tree", "how old"."""
    tokens, word, place = doc.tokens, doc.tokens[wh].lower, wh + 1
    if place >= end:
        return wh
    if tokens[place].lower in ("else", "exactly"):
        return place
    if tokens[place].tag == "CC" and place + 1 < end and word in ADVERBS and tokens[place + 1].lower in ADVERBS:
        return place + 1  # "where and when"
    if tokens[place].lower == "of" and word in ("who", "which"):
        return place + 1 if place + 1 < end and tokens[place + 1].tag == "PRP" else nouns_end(doc, place + 1, end) or wh
    if word == "how":
        return _degree_end(doc, place, end)
    if word in ("what", "which", "whose"):
        if tokens[place].lower == "means":  # "by what means"
            return place
        if word == "which" and tokens[place].lower in ("one", "ones"):
            of = place + 2 < end and tokens[place + 1].lower == "of"
            return (nouns_end(doc, place + 2, end) or place + 2) if of else place
        return nouns_end(doc, place, end) or wh
    return wh


def _degree_end(doc: Doc, place: int, end: int) -> int:
    """Of "how" with what it grades."""
    tokens = doc.tokens
    if tokens[place].lower in ("many", "much", "few", "little"):
        after = place + 1
        while after < end and tokens[after].lower in ("more", "other", "different"):
            after += 1
        if after < end and tokens[after].lower == "of":
            return nouns_end(doc, after + 1, end) or after - 1
        return nouns_end(doc, after, end) or after - 1
    graded = (
        tokens[place].tag in ("JJ", "JJR", "RB", "RBR", "VBN")
        and tokens[place].lower not in NOT | _LINKS
        and not is_auxiliary(tokens[place])
    )
    if not graded:
        return place - 1
    if place + 2 < end and tokens[place + 1].lower in ("a", "an"):
        return nouns_end(doc, place + 1, end) or place
    return place


def nouns_end(doc: Doc, place: int, end: int) -> int | None:
    """The last token of a noun phrase that begins at `place`, with what hangs on it by `of`.

    None if no noun phrase begins there.
    """
    tokens = doc.tokens
    while place < end and tokens[place].tag in ("DT", "PDT", "PRP$"):
        place += 1
    last, first = None, place
    while place < end and not is_auxiliary(tokens[place]):
        token, before = tokens[place], tokens[place - 1].tag
        if token.tag in NOUNS or (token.tag == "POS" and last is not None):
            last = place
        elif token.text not in ("-", "&") and token.tag != "HYPH":
            goes_on = last is None or before in ("POS", "HYPH", "JJ", "CD") or _inside_name(doc, place, end)
            if not goes_on or not _modifies(doc, first, place, end):
                break
        place += 1
    if (
        last is None
        and place > first
        and (tokens[place - 1].tag == "CD" or (place < end and is_auxiliary(tokens[place])))
    ):  # "of the two"
        return place - 1
    if last is not None and last + 2 < end and tokens[last + 1].lower == "of" and not is_auxiliary(tokens[last + 2]):
        return nouns_end(doc, last + 2, end) or last
    return last


def _inside_name(doc: Doc, place: int, end: int) -> bool:
    """Whether a token stands in a name that goes on: "the Costa Rican president", "Boeing 747 pilots"."""
    tokens = doc.tokens
    return (
        tokens[place - 1].tag == "NNP"
        and tokens[place].text[0].isupper()
        and place + 1 < end
        and tokens[place + 1].tag in NOUNS
    )


def _modifies(doc: Doc, first: int, place: int, end: int) -> bool:
    """Whether a token may stand before the noun of a phrase that began at `first`."""
    token = doc.tokens[place]
    if token.text in (",", "/"):
        return place > first and doc.tokens[place - 1].tag in ("JJ", "JJR")
    if token.tag in ("CC", "RB", "RBR"):  # "what very large and old trees"
        return token.lower not in NOT and place + 1 < end and doc.tokens[place + 1].tag in ("JJ", "JJR", "VBN", "NN")
    return token.tag in _MODIFIERS or token.lower == "other"
