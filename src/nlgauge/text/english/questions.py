"""Questions of English: where they are, how each is built, its parts, and where an answer belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nlgauge.text.doc import FINITE, NOUNS, VERBS, Doc, Token
from nlgauge.text.english.verbs import DO, HAVE, MODALS, NOT
from nlgauge.text.lexicon import knows, lemma
from nlgauge.text.scripts import WordList

WH = frozenset({"who", "whom", "whose", "what", "which", "when", "where", "why", "how"})
PRONOUNS = frozenset({"who", "whom", "what", "which"})
ADVERBS = frozenset({"when", "where", "why", "how"})
BE = frozenset({"am", "is", "are", "was", "were", "'m", "'re"})
AUXILIARIES = BE | DO | HAVE | MODALS | {"'s", "'d"}
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
        following = place + 1
        while doc.tag(following) == "RB":
            following += 1
        return "has" if doc.tag(following) == "VBN" or doc.low(following) in ("got", "been") else "is"
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
    if tokens[place].tag not in ("JJ", "JJR", "RB", "RBR", "VBN") or is_auxiliary(tokens[place]):
        return place - 1
    if tokens[place].lower in NOT | _LINKS:
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
    if last is None and place > first:
        if tokens[place - 1].tag == "CD" or (place < end and is_auxiliary(tokens[place])):
            return place - 1  # "of the two"
        return None
    if last is not None and last + 2 < end and tokens[last + 1].lower == "of" and not is_auxiliary(tokens[last + 2]):
        return nouns_end(doc, last + 2, end) or last
    return last


def _inside_name(doc: Doc, place: int, end: int) -> bool:
    """Whether a token stands in a name that goes on: "the Costa Rican president", "Boeing 747 pilots"."""
    capital = doc.tag(place - 1) == "NNP" and doc.tokens[place].text[0].isupper()
    return capital and place + 1 < end and doc.tag(place + 1) in NOUNS


def _modifies(doc: Doc, first: int, place: int, end: int) -> bool:
    """Whether a token may stand before the noun of a phrase that began at `first`."""
    token = doc.tokens[place]
    if token.text in (",", "/"):
        return place > first and doc.tokens[place - 1].tag in ("JJ", "JJR")
    if token.tag in ("CC", "RB", "RBR"):  # "what very large and old trees"
        return token.lower not in NOT and place + 1 < end and doc.tokens[place + 1].tag in ("JJ", "JJR", "VBN", "NN")
    return token.tag in _MODIFIERS or token.lower == "other"


# --- Where the questions of a text are, and how each is built: its interrogative, the verb before the subject

_OPENING = frozenset({'"', "'", "“", "‘", "«", "(", "[", "``", "¿", "-", "–", "—", "*", "..."})
_LEADS = WordList("grammar", "leading in")
_FIXED = frozenset({("what", "if"), ("what", "about"), ("how", "about"), ("how", "come"), ("what", "for")})
_SUBJECTS = frozenset({"DT", "PDT", "PRP", "PRP$", "EX", "CD", "JJ", "JJS", "POS", "FW", *NOUNS})
_TAKEN_FOR_NOUNS = frozenset({"VB", "VBP", "VBG", "VBN"})  # a name or noun that the tagger took for a verb
_POINTING = frozenset({"this", "that", "these", "those", "there"})
_PARTING = frozenset({",", ":", ";", "-", "–", "—"})
_DOUBLE = frozenset({("according", "to"), ("out", "of"), ("because", "of"), ("up", "to")})


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
        end = sentence.last + 1
        if not marked and not tokens[sentence.last].is_punctuation and _unmarked(doc, sentence.first, end):
            yield _skip(doc, sentence.first, end), end, None


def _behind_quote(doc: Doc, first: int, mark: int) -> int:
    """Where the question that ends at `mark` begins: behind the quotation mark that is open there, if there is one."""
    opened: int | None = None
    for place in range(first, mark):
        text = doc.tokens[place].text
        if text in ("“", "``", "«"):
            opened = place
        elif text in ("”", "''", "»"):
            opened = None
        single = text in ("'", "‘", "’") and not doc.text[doc.tokens[place].end].isspace() and not doc.touches(place)
        if text == '"' or single:
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
        if behind < end and (is_auxiliary(tokens[behind]) or (tokens[behind].tag in FINITE and last > wh)):
            last, verb = behind - 1, behind
    if verb >= end or not (is_auxiliary(tokens[verb]) or tokens[verb].tag in VERBS):
        return Question(start, end, mark, opens, wh, last, at_start=opens == start, fixed=fixed)
    inverted = _inverts(doc, verb, end)
    return Question(start, end, mark, opens, wh, last, verb, inverted, opens == start, fixed)


def _verb(doc: Doc, place: int, end: int) -> int:
    """The place of the verb behind a question phrase, past adverbs and what stands between commas.

    Examples: "who actually won", "where, then, do".
    """
    tokens = doc.tokens
    while place < end and (tokens[place].tag in ("RB", "RBR", "UH") or tokens[place].text == ","):
        if tokens[place].lower in NOT:
            break
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
    if _inverts(doc, verb, end):
        return parted or word in ("what", "where", "why", "how")
    if word not in ("who", "what", "which") or not (is_auxiliary(tokens[verb]) or tokens[verb].tag in FINITE):
        return False
    if before.lower in ("so", "but", "then") or before.text == ":":
        return True
    introduces = word == "what" or tokens[first].tag in ("IN", "TO", "RB", "UH", "CC", "VBG")
    return parted and introduces and not any(t.tag in FINITE for t in tokens[first : wh - 1])


def _subordinate(doc: Doc, wh: int, end: int) -> bool:
    """Whether an adverb or "what" at the start opens a clause of the question: "When he left, did they stay?"."""
    tokens = doc.tokens
    after = phrase_end(doc, wh, end) + 1
    if after >= end or tokens[wh].lower not in ADVERBS | {"what"}:
        return False
    if is_auxiliary(tokens[after]) or tokens[after].text == ",":
        return False
    behind = [i for i in range(after + 1, end) if tokens[i - 1].text == ","]
    return any(tokens[i].lower in WH or _inverts(doc, i, end) for i in behind)


def _inverts(doc: Doc, place: int, end: int) -> bool:
    """Whether an auxiliary stands before its subject."""
    token = doc.tokens[place]
    return is_auxiliary(token) and has_subject(doc, after_not(doc, place, end), end, token.lower)


def _inversion(doc: Doc, first: int, end: int) -> int | None:
    """The auxiliary that opens a question to be answered by yes or no, at the start or behind what introduces it."""
    tokens = doc.tokens
    for i in range(first, end):
        before = tokens[i - 1]
        opens = i == first or before.tag == "CC" or before.text in _PARTING or before.lower in ("so", "then", "yet")
        if opens and is_auxiliary(tokens[i]) and tokens[i].text[0] not in "'’":
            after = after_not(doc, i, end)
            # "Is swimming fun?"
            begins = i == first and after < end and tokens[after].tag in ("JJ", "VB", "VBG", "FW", "UH")
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
        if place < end and tokens[place - 1].tag == "RB" and tokens[place].tag == "VBN":
            return place + 1 < end and tokens[place + 1].tag in NOUNS  # "is locally grown food healthy"
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
    if tokens[place].tag not in _SUBJECTS | (_TAKEN_FOR_NOUNS if auxiliary in DO else set()):
        return False
    if tokens[place].tag in ("JJ", "JJS") and auxiliary in BE | {"'s"}:  # "who is responsible for", "are many people"
        noun = place + 1
        while noun < end and tokens[noun].tag in ("JJ", "HYPH", "CD"):
            noun += 1
        return noun < end and tokens[noun].tag in NOUNS
    if auxiliary in DO and tokens[place].tag in _TAKEN_FOR_NOUNS:
        return place + 1 < end and tokens[place + 1].tag in VERBS | NOUNS
    return True


def _opening(doc: Doc, wh: int, first: int) -> tuple[int, int]:
    """Where the question phrase opens, with its preposition, and where the question begins behind its introduction."""
    tokens = doc.tokens
    opens = wh
    if wh > first and tokens[wh - 1].tag in ("IN", "TO") and tokens[wh - 1].lower not in ("than", "that", "if"):
        opens = wh - 1
        if opens > first and (tokens[opens - 1].lower, tokens[opens].lower) in _DOUBLE:
            opens -= 1
    introduced = opens > first and (tokens[opens - 1].text in _PARTING or tokens[opens - 1].tag == "CC")
    return opens, opens if introduced or opens == first else first


# --- The parts of a clause whose auxiliary stands before its subject

_ASKING = WordList("grammar", "participles of verbs with two objects")
PREDICATED = frozenset({"this", "that", "these", "those"})


@dataclass(frozen=True)
class InvertedClause:
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


def take_apart(doc: Doc, verb: int, end: int, *, whole: bool, thing: bool = False) -> InvertedClause | None:
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
    while subject < end and (tokens[subject].tag in ("RB", "UH") or tokens[subject].is_punctuation):
        if tokens[subject].lower == "there":
            break
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
    while (main is not None or last + 1 < end) and last > max(subject, base):
        if tokens[last].tag != "RB" and tokens[last].lower not in NOT:
            break
        last -= 1
    lacking = last < subject or tokens[last].lower in ("the", "a", "an")
    return None if lacking else InvertedClause(verb, aux_last, subject, last, main)


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
    joined = last + 2 < end and tokens[last + 1].tag == "CC"
    if joined and tokens[last + 2].tag in ("DT", "PRP", "PRP$", "JJ", "CD", *NOUNS):
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
    taken = [i for i in range(subject + 1, end) if tokens[i].text.islower() and tokens[i - 1].lower != "to"]
    taken = [i for i in taken if knows(tokens[i].lower, "verb")]
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


# --- Where a statement says what was asked: behind which word of the question the answer belongs

_CATENATIVE = WordList("grammar", "catenative")
_JOINING = frozenset("when if because although though while since until unless before after as whereas".split())


def answer_place(doc: Doc, question: Question, clause: InvertedClause, identity: bool, adverbial: bool) -> int | None:
    """The token behind which the answer is said; None where there is no telling."""
    tokens, end = doc.tokens, question.end
    start = clause.subject_last if clause.main is None else clause.main
    how = question.last > question.wh and tokens[question.wh].lower == "how"
    graded = how and tokens[question.wh + 1].tag in ("JJ", "JJR")
    if clause.main is None and (graded or not adverbial):
        if tokens[end - 1].tag in ("IN", "TO") and end - 1 > start:
            return end - 1
        return start if graded or identity or tokens[clause.subject].tag == "EX" else None
    if not adverbial and clause.main is not None:
        return _object_place(doc, clause.main, end)
    return _close(doc, start, end)


def _object_place(doc: Doc, main: int, end: int) -> int:
    tokens = doc.tokens
    for i in range(main + 1, end):  # a preposition without what it governs
        lone = i + 1 >= end or tokens[i + 1].tag in ("IN", ",", "WRB")
        if lone and tokens[i].tag in ("IN", "TO") and tokens[i].lower not in _JOINING:
            return i
    verb = main
    while verb + 1 < end:  # "hope to find", "keep doing"
        skip = 2 if tokens[verb + 1].tag == "TO" and verb + 2 < end and tokens[verb + 2].tag == "VB" else 1
        if tokens[verb].tag in VERBS and lemma(tokens[verb].lower, tokens[verb].tag) not in _CATENATIVE:
            break
        passive = tokens[verb].lower in ("be", "been", "being", "have") and tokens[verb + skip].tag == "VBN"
        if tokens[verb + skip].tag not in ("VB", "VBG") and not passive:
            break
        verb += skip
    if verb + 1 < end and tokens[verb + 1].tag == "RP":
        verb += 1
    if verb + 1 < end and _begins_phrase(doc, verb + 1, end):
        return _close(doc, verb, end)
    return verb


def _begins_phrase(doc: Doc, place: int, end: int) -> bool:
    token = doc.tokens[place]
    if token.lower in ("today", "tomorrow", "yesterday", "tonight"):
        return False
    return token.tag in ("DT", "PRP", "PRP$", "CD", "EX", *NOUNS) or (
        token.tag == "JJ" and nouns_end(doc, place, end) is not None
    )


def _close(doc: Doc, start: int, end: int) -> int:
    """The last token of the clause: before a comma or a clause of time, cause or condition."""
    tokens = doc.tokens
    for i in range(start + 1, end):
        joins = tokens[i].lower in _JOINING and tokens[i].tag in ("IN", "WRB")
        if tokens[i].text in (",", ";", ":") or (joins and any(t.tag in FINITE for t in tokens[i:end])):
            return i - 1
    return end - 1
