"""Words that cannot stay when names go: prepositions without an object, articles without a noun, lone commas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nlgauge.text.doc import Doc, Span

_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_FINITE = frozenset({"VBZ", "VBP", "VBD", "MD"})
_ADJECTIVES = frozenset({"JJ", "JJR", "JJS", "VBG", "VBN"})
_CONJUNCTIONS = frozenset({"and", "or", "but", "nor", "&", "plus"})
_CLAUSES = frozenset("while because if that although though since whether until unless when where so".split())
_BOTH = frozenset({"after", "before", "since", "until", "than", "as"})  # before a name, or before a clause with it
_TIMES = frozenset({"today", "yesterday", "tomorrow", "tonight"})
_RELATIVE = frozenset({"who", "which", "whose", "where", "whom"})
_MARKS = frozenset({"'", "’", "'s", "’s"})
_FIRST_WORDS = {  # the first word of prepositions of two
    "to": frozenset("according due next thanks close prior contrary related compared up back".split()),
    "of": frozenset("because out instead ahead outside inside regardless".split()),
    "as": frozenset("such known".split()),
    "with": frozenset("along together compared".split()),
    "from": frozenset("away apart".split()),
    "for": frozenset("except".split()),
}


class _Gone(set[int]):
    """Tokens that go. They only become more, so that the way past them is remembered."""

    def __init__(self, places: Iterable[int]) -> None:
        super().__init__(places)
        self.past: dict[tuple[int, int], int] = {}  # a place and a step -> where to look next


def with_hangers(doc: Doc, spans: Sequence[Span]) -> set[int]:
    """The tokens of some names, with those that cannot stay without them.

    Gone are articles and adjectives before a name, possessive marks and ages behind it, prepositions of which it was
    the object, `and` between two that go or at an end of what stays, commas that only set the name off, and at the head
    of a sentence the clause that tells who it is (`Anna, who sings, ...`). A name before a noun that goes with it (`the
    Berlin office`) leaves the article there.
    """
    gone = _Gone(i for span in spans for i in range(span.first, span.last + 1))
    kept: set[int] = set()  # last tokens of gaps behind which their phrase goes on
    for span in spans:
        _take_bound(doc, span, gone, kept)
    for sentence in doc.sentences:
        if gone.isdisjoint(range(sentence.first, sentence.last + 1)):
            continue
        _take_joints(doc, sentence, gone, kept)
        _take_prepositions(doc, sentence, gone, kept)
        _take_commas(doc, sentence, gone)
    return gone


def modifies(doc: Doc, span: Span) -> bool:
    """Whether a name stands before the noun that it goes with: `the Berlin office`, `a new Shell petrol station`."""
    tokens, after = doc.tokens, span.last + 1
    if after >= len(tokens) or doc.sentence_at[after] != doc.sentence_at[span.last]:
        return False
    token = tokens[after]
    if token.text in ("-", "‑") and doc.touches(after):
        return True
    if token.tag in _NOUNS:
        return token.lower not in _TIMES
    determined = span.first > 0 and tokens[span.first - 1].tag in ("DT", "JJ", "PRP$")
    return (
        determined and token.tag in ("JJ", "VBN", "CD") and after + 1 < len(tokens) and tokens[after + 1].tag in _NOUNS
    )


def _take_bound(doc: Doc, span: Span, gone: _Gone, kept: set[int]) -> None:
    """Articles, adjectives, possessive marks and ages of one name."""
    tokens, after = doc.tokens, span.last + 1
    if after < len(tokens) and tokens[after].text in _MARKS and (tokens[after].tag == "POS" or doc.touches(after)):
        gone.add(after)
        kept.add(after)
        return
    if modifies(doc, span):
        kept.add(span.last)
        return
    before = span.first - 1
    while before >= 0 and before not in gone and tokens[before].tag in _ADJECTIVES:
        start = _word_start(doc, before)  # of "the 36-year-old Ada" that of "36"
        if not start or tokens[start - 1].tag not in ("DT", "JJ"):
            break
        gone.update(range(start, before + 1))
        before = start - 1
    if before >= 0 and tokens[before].tag in ("DT", "PDT", "JJ"):
        gone.update(range(_word_start(doc, before), before + 1))
    behind = [t.text for t in tokens[after : after + 3]]
    if len(behind) == 3 and (behind[0], behind[2]) in ((",", ","), ("(", ")")) and tokens[after + 1].tag == "CD":
        gone.update((after, after + 1, after + 2) if behind[0] == "(" else (after, after + 1))


def _word_start(doc: Doc, at: int) -> int:
    """The first token of the word that a token belongs to."""
    place = doc.word_at[at]
    return at if place is None else doc.words[place].first


def _take_joints(doc: Doc, sentence: Span, gone: _Gone, kept: set[int]) -> None:
    """`and` between two that go, at the head or the end of what stays, and where only one of two is left."""
    for at in range(sentence.first, sentence.last + 1):
        if doc.tokens[at].lower not in _CONJUNCTIONS or at in gone:
            continue
        near_left = at - 1 in gone or (at > 1 and doc.tokens[at - 1].text == "," and at - 2 in gone)
        near_right = at + 1 in gone
        if not (near_left or near_right) or (near_right and not near_left and _goes_on(sentence, at + 1, gone, kept)):
            continue
        left, right = _kept(doc, sentence, at, -1, gone), _kept(doc, sentence, at, 1, gone)
        if right is None or (near_left and (near_right or left is None)):
            gone.add(at)
        elif left is None or (doc.tokens[at - 1].text == "," and doc.tokens[left].tag in ("IN", "TO")):
            continue  # more than the object of the preposition is joined
        elif doc.tokens[right].tag not in _FINITE and (near_right or not _ends_clause(doc, left)):
            gone.add(at)
            if near_left:
                kept.add(at)  # the other of the two takes the place


def _goes_on(sentence: Span, at: int, gone: _Gone, kept: set[int]) -> bool:
    """Whether a phrase goes on behind a gap: of `and Rome's mayor` the mayor stays, and so does `and`."""
    while at + 1 in gone and at < sentence.last:
        at += 1
    return at in kept


def _ends_clause(doc: Doc, left: int) -> bool:
    """Whether what stands before the gap needs nothing behind it, so that `and` goes on from there."""
    return doc.tokens[left].tag in (*_NOUNS, "PRP", "RB", "JJ", "RP")


def _take_prepositions(doc: Doc, sentence: Span, gone: _Gone, kept: set[int]) -> None:
    """Prepositions before what is gone, unless the phrase goes on behind it."""
    tokens = doc.tokens
    gone.update([i for i in range(sentence.first, sentence.last) if tokens[i].text == "," and {i - 1, i + 1} <= gone])
    for at in range(sentence.last, sentence.first - 1, -1):
        token = tokens[at]
        if (
            at in gone
            or at + 1 not in gone
            or token.tag not in ("IN", "TO")
            or (token.lower in _CLAUSES and token.lower not in _BOTH)
        ):
            continue
        end = at + 1
        while end + 1 in gone and end < sentence.last:
            end += 1
        follower = tokens[end + 1] if end < sentence.last else None
        double = at > sentence.first and tokens[at - 1].lower in _FIRST_WORDS.get(token.lower, ())
        if end in kept or (follower is not None and follower.tag in _FINITE and token.lower in _BOTH and not double):
            continue
        if follower is not None and follower.text == "," and _list_goes_on(doc, sentence, end + 1):
            gone.add(end + 1)
            continue
        gone.update((at - 1, at) if double else (at,))


def _list_goes_on(doc: Doc, sentence: Span, comma: int) -> bool:
    """Whether more of a list stays behind a comma: `in Rome, other towns and villages`."""
    for token in doc.tokens[comma + 1 : sentence.last + 1]:
        if token.lower in _CONJUNCTIONS:
            return token.index > comma + 1
        if token.tag not in (*_NOUNS, "JJ", "CD", "DT") and token.text != ",":
            return False
    return False


def _take_commas(doc: Doc, sentence: Span, gone: _Gone) -> None:
    """Commas that set off what is gone: between a subject and its verb, and around what explained it."""
    tokens = doc.tokens
    for at in range(sentence.first, sentence.last + 1):
        if tokens[at].text != "," or at in gone or not {at - 1, at + 1} & gone:
            continue
        left, right = _kept(doc, sentence, at, -1, gone), _kept(doc, sentence, at, 1, gone)
        if left is None:
            gone.update(_explanation(doc, sentence, at, right, gone))
        elif (
            right is not None
            and tokens[right - 1].text == ","
            and tokens[left].tag in _NOUNS
            and _joins(doc, left, right, gone)
        ):
            gone.update(i for i in range(left + 1, right) if tokens[i].text == ",")


def _explanation(doc: Doc, sentence: Span, comma: int, right: int | None, gone: _Gone) -> Iterator[int]:
    """The comma behind a name at the head, and the one that closes what it opens, with the clause if it tells who."""
    tokens = doc.tokens
    yield comma
    closing = (
        i
        for i in range(comma + 1, sentence.last)
        if tokens[i].text == "," and i not in gone and _verb_behind(doc, sentence, i)
    )
    close = next(closing, None)
    if close is None or right is None:
        return
    if tokens[right].lower in _RELATIVE or tokens[right].tag in ("VBN", "VBG"):
        yield from range(comma, close + 1)
    elif not any(tokens[i].tag in _FINITE for i in range(comma + 1, close)):
        yield close


def _verb_behind(doc: Doc, sentence: Span, comma: int) -> bool:
    """Whether a finite verb comes next, but for adverbs."""
    at = comma + 1
    while at < sentence.last and doc.tokens[at].tag == "RB":
        at += 1
    return doc.tokens[at].tag in _FINITE


def _joins(doc: Doc, left: int, right: int, gone: _Gone) -> bool:
    """Whether a verb follows its subject but for what is gone."""
    return doc.tokens[right].tag in _FINITE and all(
        i in gone or doc.tokens[i].text == "," for i in range(left + 1, right)
    )


def _kept(doc: Doc, sentence: Span, at: int, step: int, gone: _Gone) -> int | None:
    """The next word that stays, to the left or to the right."""
    at += step
    passed = []
    while sentence.first <= at <= sentence.last and (at in gone or doc.tokens[at].is_punctuation):
        passed.append(at)
        at = gone.past.get((at, step), at + step)
    gone.past.update(((place, step), at) for place in passed)
    return at if sentence.first <= at <= sentence.last else None
