"""Clauses of English: finite verbs with what stands around them; things that are named, and what hangs on a name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nlgauge.text.doc import ADJECTIVES, ADVERBS, COMMON, FINITE, HYPHENS, NOUNS, PROPER, WH, Doc, Span
from nlgauge.text.english.verbs import (
    BE,
    NOMINATIVE,
    NOT,
    OPENERS,
    PREPOSITIONS,
    Kind,
    Sentence,
    noun_phrases,
)
from nlgauge.text.languages import Language
from nlgauge.text.lexicon import rank, supersense
from nlgauge.text.scripts import WordList
from nlgauge.text.tagging import is_name_like

_MODIFIERS = ADJECTIVES | {"VBG", "VBN"}
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
    if token.text in HYPHENS and doc.touches(after):
        return True
    if token.tag in NOUNS:
        return token.lower not in _TIMES
    determined = doc.tag(span.first - 1) in ("DT", "JJ", "PRP$")
    return determined and token.tag in ("JJ", "VBN", "CD") and doc.tag(after + 1) in NOUNS


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
    while before >= 0 and before not in gone and tokens[before].tag in _MODIFIERS:
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
        elif doc.tokens[right].tag not in FINITE and (near_right or not _ends_clause(doc, left)):
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
    return doc.tokens[left].tag in (*NOUNS, "PRP", "RB", "JJ", "RP")


def _take_prepositions(doc: Doc, sentence: Span, gone: _Gone, kept: set[int]) -> None:
    """Prepositions before what is gone, unless the phrase goes on behind it."""
    tokens = doc.tokens
    gone.update([i for i in range(sentence.first, sentence.last) if tokens[i].text == "," and {i - 1, i + 1} <= gone])
    for at in range(sentence.last, sentence.first - 1, -1):
        token = tokens[at]
        opens_clause = token.lower in _CLAUSES and token.lower not in _BOTH
        if at in gone or at + 1 not in gone or token.tag not in ("IN", "TO") or opens_clause:
            continue
        end = at + 1
        while end + 1 in gone and end < sentence.last:
            end += 1
        follower = tokens[end + 1] if end < sentence.last else None
        double = at > sentence.first and tokens[at - 1].lower in _FIRST_WORDS.get(token.lower, ())
        if end in kept or (follower is not None and follower.tag in FINITE and token.lower in _BOTH and not double):
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
        if token.tag not in (*NOUNS, "JJ", "CD", "DT") and token.text != ",":
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
        elif right is not None and tokens[right - 1].text == "," and tokens[left].tag in NOUNS:
            commas = {i for i in range(left + 1, right) if tokens[i].text == ","}
            if tokens[right].tag in FINITE and all(i in gone or i in commas for i in range(left + 1, right)):
                gone.update(commas)  # the verb follows its subject but for what is gone


def _explanation(doc: Doc, sentence: Span, comma: int, right: int | None, gone: _Gone) -> Iterator[int]:
    """The comma behind a name at the head, and the one that closes what it opens, with the clause if it tells who."""
    tokens = doc.tokens
    yield comma
    kept = (i for i in range(comma + 1, sentence.last) if tokens[i].text == "," and i not in gone)
    close = next((i for i in kept if _verb_behind(doc, sentence, i)), None)
    if close is None or right is None:
        return
    if tokens[right].lower in _RELATIVE or tokens[right].tag in ("VBN", "VBG"):
        yield from range(comma, close + 1)
    elif not any(tokens[i].tag in FINITE for i in range(comma + 1, close)):
        yield close


def _verb_behind(doc: Doc, sentence: Span, comma: int) -> bool:
    """Whether a finite verb comes next, but for adverbs."""
    at = comma + 1
    while at < sentence.last and doc.tokens[at].tag == "RB":
        at += 1
    return doc.tokens[at].tag in FINITE


def _kept(doc: Doc, sentence: Span, at: int, step: int, gone: _Gone) -> int | None:
    """The next word that stays, to the left or to the right."""
    at += step
    passed = []
    while sentence.first <= at <= sentence.last and (at in gone or doc.tokens[at].is_punctuation):
        passed.append(at)
        at = gone.past.get((at, step), at + step)
    gone.past.update(((place, step), at) for place in passed)
    return at if sentence.first <= at <= sentence.last else None


# --- Which things a text names: the nouns that noun phrases are about, with what belongs to them

_DETERMINERS = frozenset({"DT", "PRP$", "CD", "PDT"})
_ANIMATE = frozenset({"noun.person", "noun.animal"})
_APOSTROPHES = ("'", "’")
PLACES = WordList("grammar", "parts and places")
PARTITIVES = WordList("grammar", "partitives")
_NO_THING = WordList("grammar", "no things")


@dataclass(frozen=True)
class Thing:
    """An object of the text.

    Attributes:
        start, end: the first and the last token of its phrase, with determiner and adjectives.
        first, last: the first and the last token of its noun, compounds whole.
        text: the noun, without the capital that only the head of a sentence gave it.
        base: the base form of its last word.
        plural, named: by its tag.
        determiner: the word that opens the phrase in small letters, if it is one, or an owner; else empty.
    """

    start: int
    end: int
    first: int
    last: int
    text: str
    base: str
    plural: bool
    named: bool
    determiner: str

    @property
    def bare(self) -> bool:
        """A singular without determiner, as of water, and of anything in a headline."""
        return not (self.plural or self.named or self.determiner)


def things(doc: Doc, language: Language) -> list[Thing]:
    """The things that the noun phrases of a text name, in order.

    Of `a group of people` these are the people, of `in front of a tree` the tree.
    """
    finite = {doc.sentence_at[t.index] for t in doc.tokens if t.tag in FINITE}
    phrases = [
        part
        for phrase in noun_phrases(doc)
        for part in _parted(doc, language, phrase.first, phrase.head, doc.sentence_at[phrase.first] in finite)
    ]
    return [thing for first, last in phrases if (thing := _thing(doc, language, first, last)) is not None]


def _thing(doc: Doc, language: Language, start: int, last: int) -> Thing | None:
    head = doc.tokens[last]
    if head.tag not in NOUNS or len(head.text) < 2 or not head.text[0].isalpha() or head.lower in _NO_THING:
        return None
    if is_outline(doc, last) or _modifies(doc, last):
        return None
    beside = PROPER if head.tag in PROPER else NOUNS  # Doctor Foster is Foster, a Berlin bus is a bus
    first = last
    while first > start and (
        doc.tokens[first - 1].tag in beside or (doc.tokens[first - 1].text in HYPHENS and doc.touches(first))
    ):
        first -= 1
    while doc.tokens[first].text in HYPHENS:
        first += 1
    whole = _whole_words(doc, first, last)
    if whole is None:
        return None
    first, start = whole, min(start, whole)
    opening = doc.tokens[start]
    owned = first > start and doc.tokens[first - 1].tag == "POS"
    determiner = opening.lower if start < first and (owned or opening.tag in _DETERMINERS) else ""
    base = language.lemma(head.lower, head.tag if head.tag in COMMON else "NN")
    plural, text = head.tag in ("NNS", "NNPS"), plain(doc, first, last)
    return Thing(start, last, first, last, text, base, plural, head.tag in PROPER, determiner)


def _whole_words(doc: Doc, first: int, last: int) -> int | None:
    """The first token of a noun, so that no hyphen or dot is left without its other side.

    `two-day meeting` is a meeting, `ex-wife` and `mother-in-law` are whole. None if the word goes on behind the noun:
    `sugar` in `sugar-free`.
    """
    place, opening = doc.word_at[last], doc.word_at[first]
    if place is None:
        return first
    word = doc.words[place]
    if any(not t.text.startswith(_APOSTROPHES) and t.tag != "POS" for t in doc.tokens[last + 1 : word.last + 1]):
        return None
    if opening is None:  # a mark that the tagger took for a noun
        return first
    begun = doc.words[opening]
    if not any(t.text[0].isalnum() for t in doc.tokens[begun.first : first]):
        return first
    return begun.first if opening == place else begun.last + 1


def is_outline(doc: Doc, at: int) -> bool:
    """Whether a noun counts, frames or places another thing, or stands in `at the top`.

    Examples: `group of`, `photo of`, `in front of`.
    """
    return doc.low(at) in PLACES or (doc.low(at) in PARTITIVES and doc.low(at + 1) == "of")


def plain(doc: Doc, first: int, last: int) -> str:
    """The text of some tokens, without the capital that only the head of a sentence gave the first."""
    text = doc.text[doc.tokens[first].start : doc.tokens[last].end]
    shouted = len(text) > 1 and text.isupper()
    if doc.starts_sentence(first) and not is_name_like(doc.tokens[first]) and not shouted:
        return text[:1].lower() + text[1:]
    return text


def _modifies(doc: Doc, at: int) -> bool:
    """Whether a noun goes with a participle before another noun: `snow covered slope`."""
    return doc.tag(at + 1) == "VBN" and doc.tag(at + 2) in NOUNS


def _parted(doc: Doc, language: Language, first: int, head: int, finite: bool) -> list[tuple[int, int]]:
    """A phrase, or the two phrases around a verb that the tagger took for a noun.

    Examples: `two dogs chase a cat`, `the horse drinks water`.

    `finite`: whether the sentence has a verb without it.
    """
    lemma = language.lemma
    for at in range(first + 1, head + 1):
        before, token = doc.tokens[at - 1], doc.tokens[at]
        if before.tag not in COMMON or token.tag not in COMMON or not token.text.islower():
            continue
        animate = supersense(lemma(before.lower, before.tag), "noun") in _ANIMATE
        as_verb = rank(lemma(token.lower, "VBZ" if token.tag == "NNS" else "VB"), "verb")
        as_noun = rank(lemma(token.lower, token.tag), "noun")
        if as_verb is None:
            continue
        agrees = (before.tag == "NNS") != (token.tag == "NNS")
        rather_verb = animate and (as_noun is None or as_verb < as_noun)
        if rather_verb or (agrees and not finite and (animate or before.tag == "NNS")):
            return [(first, at - 1), *([(at + 1, head)] if at < head else [])]
    return [(first, head)]


# --- Clauses: the finite verbs of a text with what stands around them, and which of them carry a main clause

_WITH_PARTICIPLE = frozenset("get be keep stay look feel have let make see remain".split())
_REPORTED = WordList("grammar", "reporting verbs")


@dataclass(frozen=True, slots=True)
class Clause:
    """One finite verb with what belongs to it; all numbers are places of tokens.

    Attributes:
        sentence: place of its sentence.
        verb: the finite verb: an auxiliary, or the main verb itself; of a command the base form.
        kind: `plain` is a main verb that needs do-support.
        tag: of the finite verb, mended where the tagger must have been wrong.
        begin: the first token behind the clause before it.
        last: the last token of the verb group.
        main: the last verb of the group; None after an auxiliary that stands alone.
        negation: `not` or `n't`; None where there is none.
        adverbs: between the finite verb and the next verb, or right before a plain one.
        subject: the last token of a subject that stands behind the verb; None where it stands before it, or its end is
            not known.
        inverted: whether the subject stands behind the verb.
        rank: 0 for a main clause, more for those that depend on others, 9 for tags and quoted speakers.
    """

    sentence: int
    verb: int
    kind: Kind
    tag: str
    begin: int
    last: int
    main: int | None = None
    negation: int | None = None
    adverbs: tuple[int, ...] = ()
    subject: int | None = None
    inverted: bool = False
    rank: int = 0


def find_clauses(doc: Doc) -> list[Clause]:
    """Every finite verb of a text and every command, in order."""
    clauses: list[Clause] = []
    for place, span in enumerate(doc.sentences):
        clauses += _Sentence(doc, place, span).clauses()
    return clauses


class _Sentence(Sentence):
    def __init__(self, doc: Doc, place: int, span: Span) -> None:
        super().__init__(doc, span)
        self.place = place

    def clauses(self) -> list[Clause]:
        """Clauses in order; where there are none, nouns may be verbs that the tagger did not see."""
        clauses = self._scan(lenient=False) or self._scan(lenient=True)
        if len(clauses) > 1 and self._is_title(*clauses[:2]):
            clauses[0] = replace(clauses[0], rank=2)
        return clauses

    def _is_title(self, first: Clause, second: Clause) -> bool:
        """Whether what looks like a command is rather a name: `Catch the Wind is a song`."""
        if first.kind != "imperative" or second.tag not in ("VBZ", "VBD") or second.rank > 0:
            return False
        between = self.tokens[first.verb + 1 : second.verb]
        parted = self.low(second.verb - 1) in NOMINATIVE or any(t.tag in ("CC", "IN") for t in between)
        return not parted and not any(t.is_punctuation for t in between)

    def _scan(self, *, lenient: bool) -> list[Clause]:
        clauses: list[Clause] = []
        i = begin = self.first
        while i < self.end:
            kind, tag = self.finite(i, begin, lenient=lenient)
            joins = kind == "plain" and not clauses and self._joins_nouns(i)
            if kind is None or joins or self._is_headed(i, kind) or i in self.doc.in_titles:
                i += 1
                continue
            clause = self._group(Clause(self.place, i, kind, tag, begin, i))
            if clauses and self._is_reduced(clauses[-1], clause):
                begin = clauses.pop().begin
                clause = replace(clause, begin=begin)
            clauses.append(replace(clause, rank=self._rank(clause)))
            i = begin = clause.last + 1
        return clauses

    def _is_headed(self, i: int, kind: Kind | None) -> bool:
        """Whether a participle makes a noun of what looks like a command: `Claim made by`, but `Get lost`."""
        return kind == "imperative" and self.tag(i + 1) in ("VBN", "VBD") and self.low(i) not in _WITH_PARTICIPLE

    def _joins_nouns(self, i: int) -> bool:
        """Whether `and` stands before what would be the first verb: nouns are joined, as in `a mirror and sinks`."""
        return self.tag(i - 1) == "CC" or (self.tag(i - 1) in ("JJ", "RB") and self.tag(i - 2) == "CC")

    def _is_reduced(self, first: Clause, second: Clause) -> bool:
        """Whether the first verb is a participle of the subject of the second: `the total paid out was £5`."""
        between = range(first.last + 1, second.verb)
        if first.kind != "plain" or first.tag != "VBD" or second.kind == "imperative" or second.inverted:
            return False
        if not between or self.tag(between[0]) not in ("RP", "IN", "TO") or self.low(first.verb) in _REPORTED:
            return False
        words = [self.tokens[k] for k in between]
        parted = any(t.is_punctuation or t.tag in WH | {"CC"} for t in words)
        opened = any(t.lower in NOMINATIVE | OPENERS | PREPOSITIONS | {"that"} for t in words)
        return self.tag(first.verb - 1) in NOUNS and not parted and not opened

    def _group(self, clause: Clause) -> Clause:
        """The clause with all that belongs to its verb."""
        i = clause.verb
        if clause.kind in ("plain", "imperative"):
            return self._single(clause)
        j, negation, adverbs = self._adverbs(i + 1, None)
        inverted = clause.tag != "VB" and self.tag(j) not in ("VB", "VBN", "VBG") and self.inversion(i)
        subject = self._inverted_subject(j, clause) if inverted else None
        if subject is not None:
            j, negation, adverbs = self._adverbs(subject + 1, negation)
        main, j = self._chain(j, clause.kind)
        last = max([i, *(k for k in (main, negation, subject) if k is not None)])
        return replace(
            clause, main=main, negation=negation, adverbs=tuple(adverbs), subject=subject, inverted=inverted, last=last
        )

    def _single(self, clause: Clause) -> Clause:
        """A main verb without an auxiliary, with the adverbs before it and a "not" behind it: `I know not`."""
        i, k = clause.verb, clause.verb - 1
        while k >= clause.begin and (self.tag(k) in ADVERBS or (self.low(k) == "no" and self.low(k + 1) == "longer")):
            k -= 1
        last = i + 1 if self.low(i) == "let" and self.low(i + 1) == "'s" else i
        negation = last + 1 if self.low(last + 1) in NOT and clause.kind == "imperative" else None
        last += negation is not None
        return replace(clause, main=i, adverbs=tuple(range(k + 1, i)), negation=negation, last=last)

    def _adverbs(self, j: int, negation: int | None) -> tuple[int, int | None, list[int]]:
        adverbs = []
        while j < self.end:
            if self.low(j) in NOT and negation is None:
                negation = j
            elif self.low(j) == "no" and self.low(j + 1) == "longer":
                adverbs += [j, j + 1]
                j += 1
            elif (self.tag(j) in ADVERBS and self.low(j) not in ("there", "here")) or self._is_had_better(j):
                adverbs.append(j)
            else:
                break
            j += 1
        return j, negation, adverbs

    def _is_had_better(self, j: int) -> bool:
        return self.low(j) == "better" and self.low(j - 1) in ("had", "'d")

    def _inverted_subject(self, j: int, clause: Clause) -> int | None:
        if self.is_pronoun(j):
            return j
        if clause.kind in ("do", "modal", "have"):
            verb = self.verb_after(j, ("VBN", "VBD") if clause.kind == "have" else ("VB", "VBP"))
            if verb is not None:
                while verb - 2 > j and self.tag(verb - 1) in ADVERBS:
                    verb -= 1
                return verb - 1
        end = self.subject_end(j)
        if end is None or end + 1 >= self.end or self.tokens[end + 1].is_punctuation:
            return None
        if self.tag(end + 1) in WH | {"IN", "CC", "TO", "POS"}:
            return None
        if clause.kind == "be" and self.tag(clause.verb - 1) in ("WP", "WDT") and self.tag(end + 1) != "VBG":
            return None  # "What is the score": a complement as likely as a subject
        return end

    def _chain(self, j: int, kind: Kind) -> tuple[int | None, int]:
        """The last verb of a group that goes on at a token, and what follows it."""
        main = None
        allowed = {"be": ("VBG", "VBN", "VBD"), "have": ("VBN", "VBD")}.get(kind, ("VB", "VBP"))
        while True:
            k = j
            while main is not None and self.tag(k) in ADVERBS and k < j + 3:
                k += 1
            if self.tag(k) not in allowed:
                return main, j
            main, j = k, k + 1
            if self.low(k) in ("be", "been", "being"):
                allowed = ("VBG", "VBN", "VBD")
            elif self.low(k) == "have":
                allowed = ("VBN",)
            else:
                return main, j

    def _rank(self, clause: Clause) -> int:
        if self._is_tag(clause) or self._quotes(clause):
            return 9
        head = clause.adverbs[0] if clause.kind == "plain" and clause.adverbs else clause.verb
        rank = max([0, *(self._depth(k, head, clause) for k in range(clause.begin, head))])
        if rank == 0 and self.low(head - 1) in NOMINATIVE and head - 2 >= clause.begin and self.tag(head - 2) in NOUNS:
            return 1  # "the house he built"
        lone = clause.kind in ("do", "have") and clause.main is None and not clause.inverted
        greets = self.question and self.low(self.first) == "how" and self.low(self.first + 1) in BE
        return max(rank, 3) if lone or greets else rank

    def _depth(self, k: int, head: int, clause: Clause) -> int:
        """How far a word before the verb puts the clause from the main one."""
        low, tag = self.low(k), self.tag(k)
        if tag in WH:
            return 0 if self.question and clause.begin == self.first and self._asks(k) else 2
        if tag in ("IN", "RB") and (low in OPENERS or low in PREPOSITIONS):
            comma = any(self.tokens[m].text in (",", ":", ";", "—", "–") for m in range(k + 1, head))
            return 0 if comma else 2 if low in OPENERS else 1
        return 0

    def _asks(self, k: int) -> bool:
        """Whether a question word asks, and does not open a clause behind a noun: `the man who`."""
        start = max([self.first, *(m + 1 for m in range(self.first, k) if self.tokens[m].text == ",")])
        return all(
            self.tokens[m].is_punctuation or self.tag(m) in ("CC", "UH", "IN", "RB", "TO") for m in range(start, k)
        )

    def _is_tag(self, clause: Clause) -> bool:
        """`isn't it?` behind a comma."""
        behind = clause.verb > self.first and self.tokens[clause.verb - 1].text == ","
        return behind and self.question and clause.inverted and clause.last + 2 >= self.end

    def _quotes(self, clause: Clause) -> bool:
        """`said Tom` behind what he said."""
        i = clause.verb
        quoted = i > self.first and self.tokens[i - 1].is_punctuation
        if clause.kind != "plain" or not quoted or self.low(i) not in _REPORTED:
            return False
        return self.tag(i + 1) in NOUNS | {"DT", "PRP$"} or self.low(i + 1) in NOMINATIVE
