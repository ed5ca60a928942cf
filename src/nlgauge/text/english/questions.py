"""Where the questions of a text are, and how each is built: its interrogative, the verb before the subject."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nlgauge.text.doc import Doc
from nlgauge.text.english.question_phrases import (
    ADVERBS,
    BE,
    DO,
    HAVE,
    NOT,
    NOUNS,
    VERBS,
    WH,
    after_not,
    is_auxiliary,
    nouns_end,
    phrase_end,
)
from nlgauge.text.wordlists import WordList

_OPENING = frozenset({'"', "'", "“", "‘", "«", "(", "[", "``", "¿", "-", "–", "—", "*", "..."})
_LEADS = WordList("grammar", "leading in")
_FIXED = frozenset({("what", "if"), ("what", "about"), ("how", "about"), ("how", "come"), ("what", "for")})
_SUBJECTS = ("DT", "PDT", "PRP", "PRP$", "EX", "CD", "JJ", "JJS", "POS", *NOUNS)
_FINITE = ("VBD", "VBP", "VBZ", "MD")
_POINTING = frozenset({"this", "that", "these", "those", "there"})
_PARTING = frozenset({",", ":", ";", "-", "–", "—"})


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        first, end: its first token, and the place behind its last, which is that of the mark; what introduces it
            ("And", "In 1905,") lies before `first`.
        mark: the place of the question mark; None where the text ends without one.
        opens, wh, last: the question phrase, its preposition included ("in what year"): first token, interrogative,
            last token; -1 where the question is answered by yes or no.
        verb: the auxiliary before the subject, or of a question about the subject its verb; -1 where there is none.
        inverted: whether a subject stands behind the auxiliary.
        at_start: whether the question begins with its question phrase.
        fixed: whether the interrogative belongs to a set phrase ("how about").
    """

    first: int
    end: int
    mark: int | None
    opens: int = -1
    wh: int = -1
    last: int = -1
    verb: int = -1
    inverted: bool = False
    at_start: bool = False
    fixed: bool = False


def questions(doc: Doc) -> list[Question]:
    """All questions of a text, in order.

    A question ends with a question mark, or is built as one and ends without any mark.
    """
    return [_built(doc, first, end, mark) for first, end, mark in _stretches(doc)]


def _stretches(doc: Doc) -> Iterator[tuple[int, int, int | None]]:
    tokens = doc.tokens
    for sentence in doc.sentences:
        first, marked = sentence.first, False
        for place in range(sentence.first, sentence.last + 1):
            if "?" in tokens[place].text and tokens[place].is_punctuation:
                start = _behind_quote(doc, first, place)
                if start < place:
                    yield start, place, place
                first, marked = place + 1, True
        if (
            not marked
            and not tokens[sentence.last].is_punctuation
            and _unmarked(doc, sentence.first, sentence.last + 1)
        ):
            yield _skip(doc, sentence.first, sentence.last + 1), sentence.last + 1, None


def _behind_quote(doc: Doc, first: int, mark: int) -> int:
    """Where the question that ends at `mark` begins: behind the quotation mark that is open there, if there is one."""
    opened: int | None = None
    for place in range(first, mark):
        text = doc.tokens[place].text
        if text in ("“", "``", "«"):
            opened = place
        elif text in ("”", "''", "»"):
            opened = None
        elif text == '"' or (
            text in ("'", "‘", "’") and not doc.text[doc.tokens[place].end].isspace() and not doc.touches(place)
        ):
            opened = place if opened is None else None
    return _skip(doc, first if opened is None else opened + 1, mark)


def _skip(doc: Doc, first: int, end: int) -> int:
    """Past opening marks."""
    while first < end and (doc.tokens[first].text in _OPENING or doc.tokens[first].is_punctuation):
        first += 1
    return first


def _unmarked(doc: Doc, first: int, end: int) -> bool:
    """Whether words without a mark behind them are built as a question: an auxiliary before its subject."""
    question = _built(doc, _skip(doc, first, end), end, None)
    if question.wh < 0:
        begins = question.verb == question.first and question.inverted
        return begins and doc.tokens[question.verb].lower not in HAVE and end - first > 2
    adverb = doc.tokens[question.wh].lower in ADVERBS and question.last == question.wh
    return question.at_start and question.verb >= 0 and (question.inverted or not adverb)


def _built(doc: Doc, first: int, end: int, mark: int | None) -> Question:
    tokens = doc.tokens
    leads = first
    while leads < end - 1 and tokens[leads].lower in _LEADS:
        leads = _skip(doc, leads + 1, end)
    if leads >= end or tokens[leads].lower in NOT:
        leads = first
    wh = _interrogative(doc, leads, end)
    if wh is None:
        start = _inversion(doc, leads, end)
        return Question(leads, end, mark) if start is None else Question(start, end, mark, verb=start, inverted=True)
    opens, start = _opening(doc, wh, leads)
    last = phrase_end(doc, wh, end)
    fixed = wh + 1 < end and (tokens[wh].lower, tokens[wh + 1].lower) in _FIXED and opens == wh
    verb = _verb(doc, last + 1, end)
    if verb < end and tokens[verb].tag in ("IN", "RB", "JJ") and not is_auxiliary(tokens[verb]):
        behind = _behind_phrases(doc, last + 1, end)  # "what city north of Boston was", "where in China is"
        if behind < end and (is_auxiliary(tokens[behind]) or (tokens[behind].tag in _FINITE and last > wh)):
            last, verb = behind - 1, behind
    if verb >= end or not (is_auxiliary(tokens[verb]) or tokens[verb].tag in VERBS):
        return Question(start, end, mark, opens, wh, last, at_start=opens == start, fixed=fixed)
    inverted = is_auxiliary(tokens[verb]) and has_subject(doc, after_not(doc, verb, end), end, tokens[verb].lower)
    return Question(start, end, mark, opens, wh, last, verb, inverted, opens == start, fixed)


def _verb(doc: Doc, place: int, end: int) -> int:
    """The place of the verb behind a question phrase, past adverbs and what stands between commas.

    Examples: "who actually won", "where, then, do".
    """
    tokens = doc.tokens
    while (
        place < end
        and (tokens[place].tag in ("RB", "RBR", "UH") or tokens[place].text == ",")
        and tokens[place].lower not in NOT
    ):
        place += 1
        if tokens[place - 1].text == "," and place < end and tokens[place].tag in ("RB", "IN", "UH"):
            while place < end and tokens[place].text != ",":
                place += 1
    return place


def _behind_phrases(doc: Doc, place: int, end: int) -> int:
    """The place behind phrases that begin with a preposition."""
    tokens = doc.tokens
    while place < end and tokens[place].tag in ("IN", "RB", "JJ", "TO") and not is_auxiliary(tokens[place]):
        phrase = nouns_end(doc, place + 1, end) if tokens[place].tag in ("IN", "TO") else place
        if phrase is None:
            return place + 2 if place + 1 < end and tokens[place + 1].tag in ("JJ", "PRP", "CD") else place
        place = phrase + 1
    return place


def _interrogative(doc: Doc, first: int, end: int) -> int | None:
    """The place of the word that asks; relative pronouns and conjunctions do not."""
    tokens = doc.tokens
    places = [i for i in range(first, end) if tokens[i].lower in WH]
    begins = [i for i in places if i <= first + 2 and all(t.tag in ("IN", "TO", "VBG", "RB") for t in tokens[first:i])]
    if begins and not _subordinate(doc, begins[0], end):
        return begins[0]
    if not places or is_auxiliary(tokens[first]):
        return None
    for i in places:
        if i > first and _asks_behind(doc, first, i, end):
            return i
    if _inversion(doc, first, end) is not None:
        return None
    for i in reversed(places):  # left in its place: "he appears in which film?"
        last = phrase_end(doc, i, end)
        governed = tokens[i - 1].tag in ("IN", "TO", "RB", *VERBS)
        if i > first and (last + 1 >= end or (governed and tokens[last + 1].tag == "IN")):
            return i
    return begins[0] if begins and not _subordinate(doc, begins[0], end) else None


def _asks_behind(doc: Doc, first: int, wh: int, end: int) -> bool:
    """Whether a word asks although words stand before it.

    Examples: "In 1905, where did he live?", "Other than tea what is sold?".
    """
    tokens = doc.tokens
    word, before = tokens[wh].lower, tokens[wh - 1]
    verb = _verb(doc, phrase_end(doc, wh, end) + 1, end)
    parted = before.text in _PARTING or before.tag == "CC"
    if verb >= end:
        return False
    if is_auxiliary(tokens[verb]) and has_subject(doc, after_not(doc, verb, end), end, tokens[verb].lower):
        return parted or word in ("what", "where", "why", "how")
    if word not in ("who", "what", "which") or not (is_auxiliary(tokens[verb]) or tokens[verb].tag in _FINITE):
        return False
    if before.lower in ("so", "but", "then") or before.text == ":":
        return True
    introduces = word == "what" or tokens[first].tag in ("IN", "TO", "RB", "UH", "CC", "VBG")
    return parted and introduces and not any(t.tag in _FINITE for t in tokens[first : wh - 1])


def _subordinate(doc: Doc, wh: int, end: int) -> bool:
    """Whether an adverb or "what" at the start opens a clause of the question: "When he left, did they stay?"."""
    tokens = doc.tokens
    after = phrase_end(doc, wh, end) + 1
    if (
        tokens[wh].lower not in ADVERBS | {"what"}
        or after >= end
        or is_auxiliary(tokens[after])
        or tokens[after].text == ","
    ):
        return False
    behind = (i for i in range(after + 1, end) if tokens[i - 1].text == ",")
    return any(
        tokens[i].lower in WH
        or (is_auxiliary(tokens[i]) and has_subject(doc, after_not(doc, i, end), end, tokens[i].lower))
        for i in behind
    )


def _inversion(doc: Doc, first: int, end: int) -> int | None:
    """The auxiliary that opens a question to be answered by yes or no, at the start or behind what introduces it."""
    tokens = doc.tokens
    for i in range(first, end):
        opens = (
            i == first
            or tokens[i - 1].text in _PARTING
            or tokens[i - 1].tag == "CC"
            or tokens[i - 1].lower in ("so", "then", "yet")
        )
        if opens and is_auxiliary(tokens[i]) and tokens[i].text[0] not in "'’":
            after = after_not(doc, i, end)
            begins = (
                i == first and after < end and tokens[after].tag in ("JJ", "VB", "VBG", "FW", "UH")
            )  # "Is swimming fun?"
            if (begins or has_subject(doc, after, end, tokens[i].lower)) and not (i > first and after == end - 1):
                return i
    return None


def has_subject(doc: Doc, place: int, end: int, auxiliary: str) -> bool:
    """Whether a subject may begin behind an auxiliary.

    Words that begin a noun phrase may, but not a verb that goes with the auxiliary.
    """
    tokens = doc.tokens
    while place < end and (tokens[place].tag in ("RB", "UH") or tokens[place].is_punctuation):
        place += 1
        if (
            place < end and tokens[place - 1].tag == "RB" and tokens[place].tag == "VBN"
        ):  # "is locally grown food healthy"
            return place + 1 < end and tokens[place + 1].tag in NOUNS
    if place >= end:
        return False
    if auxiliary in DO and place + 1 >= end and (tokens[place].tag == "PRP" or tokens[place].lower in _POINTING):
        return False  # "who did it?"
    if tokens[place].lower in _POINTING:
        return True
    if auxiliary in HAVE and not any(t.tag in ("VBN", "VBD") for t in tokens[place + 1 : end]):
        return False  # "which of them has the key?"
    if tokens[place].text[0].isupper() and not tokens[place].text.isupper():
        return True
    if tokens[place].tag not in _SUBJECTS + (("VBG", "VB", "VBP", "VBN", "FW") if auxiliary in DO else ("FW",)):
        return False
    if tokens[place].tag in ("JJ", "JJS") and auxiliary in BE | {"'s"}:  # "who is responsible for", "are many people"
        noun = place + 1
        while noun < end and tokens[noun].tag in ("JJ", "HYPH", "CD"):
            noun += 1
        return noun < end and tokens[noun].tag in NOUNS
    if auxiliary in DO and tokens[place].tag in (
        "VB",
        "VBP",
        "VBG",
        "VBN",
    ):  # a name or noun that the tagger took for a verb
        return place + 1 < end and tokens[place + 1].tag in (*VERBS, *NOUNS)
    return True


def _opening(doc: Doc, wh: int, first: int) -> tuple[int, int]:
    """Where the question phrase opens, with its preposition, and where the question begins behind its introduction."""
    tokens = doc.tokens
    opens = wh
    if wh > first and tokens[wh - 1].tag in ("IN", "TO") and tokens[wh - 1].lower not in ("than", "that", "if"):
        opens = wh - 1
        if opens > first and (tokens[opens].lower, tokens[opens - 1].lower) in (
            ("to", "according"),
            ("of", "out"),
            ("of", "because"),
            ("to", "up"),
        ):
            opens -= 1
    introduced = opens > first and (tokens[opens - 1].text in _PARTING or tokens[opens - 1].tag == "CC")
    return opens, opens if introduced or opens == first else first
