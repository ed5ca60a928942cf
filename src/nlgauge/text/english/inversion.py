"""The parts of a clause whose auxiliary stands before its subject."""

from __future__ import annotations

from dataclasses import dataclass

from nlgauge.text.doc import Doc
from nlgauge.text.english.question_phrases import BE, HAVE, NOT, NOUNS, VERBS, full_form, is_auxiliary, nouns_end
from nlgauge.text.lexicon.lexicon import knows
from nlgauge.text.wordlists import WordList

_ASKING = WordList("grammar", "participles of verbs with two objects")
PREDICATED = frozenset({"this", "that", "these", "those"})


@dataclass(frozen=True)
class Clause:
    """The parts of an inverted clause.

    Attributes:
        aux, aux_last: the auxiliary, with the n't or "not" behind it.
        subject, subject_last: the subject.
        main: the main verb; None where the auxiliary is the only verb.
    """

    aux: int
    aux_last: int
    subject: int
    subject_last: int
    main: int | None


def take_apart(doc: Doc, verb: int, end: int, *, whole: bool, thing: bool = False) -> Clause | None:
    """The parts of a clause with its auxiliary in front.

    Args:
        doc: the text.
        verb: the auxiliary.
        end: the place behind the last token of the clause.
        thing: whether a person or thing is asked for, so that a participle with an object belongs to the subject ("who
            is the man holding the book?").
        whole: whether a noun phrase behind "be" may run to the end, as what is asked stands elsewhere ("where is the
            old town hall?").

    Returns:
        None where no subject is found, or "do" and modals have no verb.
    """
    tokens, aux = doc.tokens, doc.tokens[verb].lower
    subject = verb + 1
    while subject < end and tokens[subject].lower in NOT:
        subject += 1
    aux_last = subject - 1
    while (
        subject < end
        and (tokens[subject].tag in ("RB", "UH") or tokens[subject].is_punctuation)
        and tokens[subject].lower != "there"
    ):
        if tokens[subject].text == "," or subject + 1 >= end:
            return None
        subject += 1
    if subject >= end or (is_auxiliary(tokens[subject]) and tokens[subject].tag in VERBS):
        return None
    base = _base_end(doc, subject, end)
    if aux in BE or (aux == "'s" and full_form(doc, verb) == "is"):
        last, main = _be_parts(doc, subject, base, end, whole, thing)
    else:
        main = _main_verb(doc, subject, base, end, aux)
        if main is None:
            return None
        last = main - 1
    if tokens[base].tag in ("PRP", "EX") and base < last:
        last = base
    while (
        (main is not None or last + 1 < end)
        and last > subject
        and (tokens[last].tag == "RB" or tokens[last].lower in NOT)
        and last > base
    ):
        last -= 1
    lacking = last < subject or tokens[last].lower in ("the", "a", "an")
    return None if lacking else Clause(verb, aux_last, subject, last, main)


def _base_end(doc: Doc, first: int, end: int) -> int:
    """The last token of the noun phrase that begins a clause, others joined by "and" included."""
    tokens = doc.tokens
    token = tokens[first]
    if token.tag in ("PRP", "EX") or token.lower == "there":
        last = first
    elif token.tag == "DT" and first + 1 < end and tokens[first + 1].lower == "of":
        last = nouns_end(doc, first + 2, end) or first
    elif token.lower in PREDICATED and (
        first + 1 >= end or tokens[first + 1].tag in ("DT", "PRP$", "IN", "PRP", "VB", "RB", "PDT")
    ):
        last = first
    else:
        last = nouns_end(doc, first, end) or first
        while tokens[last].tag in ("POS", "JJ") and last > first and last + 1 < end and tokens[last + 1].tag == "JJ":
            last += 1  # a noun that the tagger took for an adjective: "her chief rival"
    if (
        last + 2 < end
        and tokens[last + 1].tag == "CC"
        and tokens[last + 2].tag in ("DT", "PRP", "PRP$", "JJ", "CD", *NOUNS)
    ):
        return _base_end(doc, last + 2, end)
    return last


def _main_verb(doc: Doc, subject: int, base: int, end: int, aux: str) -> int | None:
    """The verb that goes with "do", "have" or a modal."""
    tokens = doc.tokens
    wanted = ("VBN", "VBD") if aux in HAVE or aux == "'s" else ("VB",)
    candidates = [i for i in range(base + 1, end) if tokens[i - 1].lower != "to"]
    small = [i for i in candidates if tokens[i].text[0].islower()]  # "did Spencer Treat win"
    verb = next((i for i in small if tokens[i].tag in wanted), None)
    capital = next((i for i in candidates if tokens[i].tag in wanted), None)
    if verb is not None or aux in HAVE or aux == "'s":
        return verb if verb is not None else capital
    # A verb that the tagger took for something else: "did John Smith star in", "what films did she direct".
    taken = [
        i
        for i in range(subject + 1, end)
        if tokens[i].text.islower() and knows(tokens[i].lower, "verb") and tokens[i - 1].lower != "to"
    ]
    if taken and taken[-1] == end - 1 and tokens[end - 1].tag not in NOUNS:
        return end - 1
    for i in taken:
        following = tokens[i + 1] if i + 1 < end else None
        governs = following is not None and (following.tag in ("TO", "DT") or following.text[0].isupper())
        if tokens[i - 1].text[0].isupper() or tokens[i - 1].tag == "PRP" or governs or i in (base + 1, end - 1):
            return i
    if base in taken and tokens[base - 1].tag in (*NOUNS, "PRP"):
        return base
    return next((i for i in small if tokens[i].tag in ("VBP", "VBD", "VBN", "VBG")), capital)


def _takes_what_is_asked(doc: Doc, base: int, participle: int, end: int) -> bool:
    """Whether a participle asks for the thing: "what is it called?", "what was he paid for this?".

    It does not in "who is the man seen here?".
    """
    tokens = doc.tokens
    stranded = participle == end - 1 or tokens[end - 1].tag in ("IN", "TO")
    return stranded or tokens[base].tag == "PRP" or tokens[participle].lower in _ASKING


def _be_parts(doc: Doc, subject: int, base: int, end: int, whole: bool, thing: bool) -> tuple[int, int | None]:
    """The last token of the subject of "be", and the participle that goes with it."""
    tokens = doc.tokens
    at = base + 1
    if tokens[subject].tag == "EX" or tokens[subject].lower == "there":
        return subject, None
    if tokens[base].tag == "PRP" and at + 1 < end and tokens[at].lower == "to" and tokens[at + 1].tag == "VB":
        return base, at + 1  # "what are we to do?"
    while at < end:
        if tokens[at].tag in ("VBG", "VBN", "JJ", "JJR") or tokens[at].lower in NOT:
            participle = tokens[at].tag in ("VBG", "VBN")
            if thing and tokens[at].tag == "VBG" and at + 1 < end and tokens[at + 1].tag in ("DT", "PRP$", "NNP"):
                break
            if thing and tokens[at].tag == "VBN" and not _takes_what_is_asked(doc, base, at, end):
                break
            return at - 1, at if participle else None
        if tokens[at].tag == "RB" and at + 1 < end:
            at += 1
            continue
        if tokens[at].tag not in ("IN", "TO") or at + 1 >= end:
            break
        phrase = nouns_end(doc, at + 1, end)
        if phrase is None and tokens[at + 1].tag not in ("PRP", "DT", "CD"):
            break
        at = (phrase or at + 1) + 1
    if whole:
        return (end - 1, None) if tokens[end - 1].tag not in ("IN", "TO", "RP") or end - 1 == base else (base, None)
    if base < end - 1:
        return base, None
    if tokens[subject].lower in PREDICATED:
        return subject, None
    first_noun = next((i for i in range(subject, end) if tokens[i].tag in NOUNS), base)
    return (first_noun, None) if first_noun < end - 1 else (end - 1, None)  # "Is coal fuel?"
