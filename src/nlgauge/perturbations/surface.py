"""Perturbations of the surface: agreement, short forms, punctuation, order, stop words, spelling."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.draft import Draft, with_case_of
from nlgauge.perturbations.perturb import Case, Change, Edit, Inapplicable, as_good, worse
from nlgauge.text.doc import ADVERBS, FINITE, NOUNS, PROPER, TENSED, WH, Doc, Span
from nlgauge.text.english.clauses import Clause, find_clauses
from nlgauge.text.english.questions import questions
from nlgauge.text.english.verbs import (
    BEHIND_VERBS,
    INTRANSITIVE,
    NOT,
    STEMS,
    WITH_NOT,
    apostrophe,
    be_for,
)
from nlgauge.text.languages import Language
from nlgauge.text.scripts import WordList, data_lines
from nlgauge.text.tagging import is_name_like, known_tags

_OTHER = {
    "is": "are", "are": "is", "am": "is", "was": "were", "were": "was", "has": "have", "have": "has", "does": "do",
    "do": "does",
}  # fmt: skip
# Subjects that some writers join with the singular and some with the plural.
_COLLECTIVE = WordList("surface", "collective")


@dataclass(frozen=True, kw_only=True)
class SubjectVerbDisagreement(Checked):
    """Put a verb into the number that its subject does not have: `He like tea`, `they does not`.

    Only forms that show number are touched: those of the present, was and were. Short forms such as he's have no
        counterpart.

    Args:
        which: change `one` verb, if possible one whose subject is clearly singular or plural, or `all`.
    """

    which: Literal["one", "all"] = "one"
    info: ClassVar = worse("break the agreement of subject and verb", ("He likes tea.", "He like tea."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One verb in the other number, or all."""
        doc = case.doc
        verbs = [(c, form) for c in find_clauses(doc) if (form := _other(doc, case.language, c)) is not None]
        if not verbs:
            return Inapplicable("no present-tense verb")
        certain = [(c, form) for c, form in verbs if not _doubtful(doc, c)]
        drawn = verbs if self.which == "all" else [rng.choice(certain or verbs)]
        draft = Draft(doc)
        for clause, form in drawn:
            draft.replace(clause.verb, clause.verb, form)
        return draft.finish(verbs=[doc.tokens[c.verb].text for c, _ in drawn])


def _other(doc: Doc, language: Language, clause: Clause) -> str | None:
    """The form of the other number; None where there is none, or where it would set right what is wrong."""
    token = doc.tokens[clause.verb]
    low = token.lower
    if clause.kind in ("imperative", "modal") or clause.tag not in TENSED:
        return None
    if clause.kind == "do" and _is_command(doc, clause):
        return None
    if low == "were" and _subject(doc, clause).lower() in ("i", "he", "she", "it", "there"):
        return None  # "if I were"
    if low in _OTHER:
        return _OTHER[low]
    if clause.kind != "plain" or clause.tag == "VBD" or not token.text.isalpha():
        return None
    base = language.lemma(low, clause.tag)
    if clause.tag == "VBZ":
        return base if base != low and low.endswith("s") else None
    form = language.inflect(base, "VBZ") if base == low else None
    return form if form != low else None


def _is_command(doc: Doc, clause: Clause) -> bool:
    """Whether "do" forbids: `Don't go`."""
    start = clause.verb == doc.sentences[clause.sentence].first or doc.tokens[clause.verb - 1].is_punctuation
    return start and clause.negation is not None and not clause.inverted


def _subject(doc: Doc, clause: Clause) -> str:
    """The last word of the subject, as far as it stands beside the verb."""
    if clause.inverted:
        place = clause.subject
    else:
        place = clause.verb - 1
        while place >= clause.begin and (doc.tag(place) in ADVERBS or place in clause.adverbs):
            place -= 1
    return doc.low(place) if place is not None and place >= doc.sentences[clause.sentence].first else ""


def _doubtful(doc: Doc, clause: Clause) -> bool:
    """Whether both numbers may be right, or the subject cannot be seen."""
    before = {t.lower for t in doc.tokens[clause.begin : clause.verb]}
    if doc.low(clause.verb) == "was" and not before.isdisjoint(("if", "though", "wish", "whether")):
        return True
    relative = _subject(doc, clause) in ("who", "which", "that")
    return clause.rank == 9 or relative or any(word in _COLLECTIVE for word in before)


# --- Short forms written out, and full forms made short: neither should change what a text says

# What may lean on which pronouns.
_HOSTS = {
    "am": ("'m", frozenset({"i"})),
    "are": ("'re", frozenset({"you", "we", "they"})),
    "is": ("'s", frozenset({"he", "she", "it", "that", "there", "here", "who", "what", "where", "how"})),
    "has": ("'s", frozenset({"he", "she", "it", "that", "there", "who"})),
    "have": ("'ve", frozenset({"i", "you", "we", "they"})),
    "had": ("'d", frozenset({"i", "you", "he", "she", "we", "they"})),
    "would": ("'d", frozenset({"i", "you", "he", "she", "it", "we", "they"})),
    "will": ("'ll", frozenset({"i", "you", "he", "she", "it", "we", "they", "that", "there"})),
}  # fmt: skip
_FULL = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will"}
_NO_PASSIVE = frozenset({"bark", "happen", "occur", "appear", "remain", "exist"})
_STRESSING = frozenset("too also always never still really certainly indeed either now then".split())
_VERBAL_HOSTS = WordList("surface", "hosts of verbs")
_GONE = WordList("surface", "perfect")
_NAMED = frozenset({"called", "named", "nicknamed", "titled", "entitled"})  # it is called a lift
_DAYS = frozenset({"today", "tomorrow", "tonight", "now"})
_OBJECTS = NOUNS | {"DT", "PRP", "PRP$", "CD", "JJ"}
_PREDICATES = frozenset({"DT", "IN", "PRP$", "TO", "CD", "VBN", "EX", "WRB", "WP", "JJR"})


@dataclass(frozen=True, kw_only=True)
class _Rewriting(Checked):
    """Other forms for auxiliaries and "not".

    Args:
        which: change `all` places, or `one`.
    """

    which: Literal["all", "one"] = "all"
    reason: ClassVar[str]  # where there is no such form

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per form, two where a question parts its "not" from the verb."""
        places = list(self.forms(case.doc))
        if not places:
            return Inapplicable(self.reason)
        chosen = places if self.which == "all" else [rng.choice(places)]
        return Change(sorted(edit for edits in chosen for edit in edits), {"places": len(chosen)})

    def forms(self, doc: Doc) -> Iterator[list[Edit]]:
        """The edits of each place that has another form."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Contractions(_Rewriting):
    """Make full forms short: `we are` to `we're`, `is not` to `isn't`, `will you not` to `won't you`.

    Not where the verb must stay full: at the end of a clause or before punctuation (`yes, we are`), where it is a main
        verb (`I have two`).
    """

    reason: ClassVar[str] = "nothing to contract"
    info: ClassVar = as_good('contract auxiliaries and "not"', ("We are not late.", "We aren't late."))

    def forms(self, doc: Doc) -> Iterator[list[Edit]]:
        """See `_Rewriting.forms`."""
        mark = apostrophe(doc.text)
        for clause in find_clauses(doc):
            edits = _with_not(doc, clause, mark) or _leaning(doc, clause, mark)
            if edits:
                yield edits
            elif clause.kind == "imperative" and _is_lets(doc, clause.verb):
                yield [_joined(doc, clause.verb, clause.verb + 1, f"{mark}s")]


@dataclass(frozen=True, kw_only=True)
class Expansions(_Rewriting):
    """Write short forms out: `weren't` to `were not`, `he's gone` to `he has gone`; possessives stay."""

    reason: ClassVar[str] = "no contraction"
    info: ClassVar = as_good("write contractions out", ("They weren't late.", "They were not late."))

    def forms(self, doc: Doc) -> Iterator[list[Edit]]:
        """See `_Rewriting.forms`."""
        asked = {c.verb: c for c in find_clauses(doc) if c.inverted}
        for token in doc.tokens:
            i, low = token.index, token.lower
            if i == 0 or doc.sentence_at[i] != doc.sentence_at[i - 1]:
                continue
            if low == "n't":
                yield _not(doc, i, asked.get(i - 1))
            elif low in ("'s", "'d", *_FULL):
                full = _FULL.get(low) or (_s(doc, i) if low == "'s" else _d(doc, i, asked.get(i)))
                if full:
                    yield [_written_out(doc, i, full)]


def _is_lets(doc: Doc, place: int) -> bool:
    said = doc.low(place) == "let" and doc.low(place + 1) == "us" and doc.tag(place + 2) == "VB"
    return said and not doc.touches(place + 1)


def _with_not(doc: Doc, clause: Clause, mark: str) -> list[Edit] | None:
    """Isn't of is not; of a question also "will you not"."""
    if clause.negation is None or clause.kind in ("plain", "imperative"):
        return None
    verb, negation = doc.tokens[clause.verb], doc.tokens[clause.negation]
    owns = clause.kind == "have" and clause.main is None and not clause.inverted
    if verb.lower not in WITH_NOT or negation.lower != "not" or owns:
        return None
    whole = WITH_NOT[verb.lower].replace("'", mark)
    loud = verb.text.isupper() and len(verb.text) > 1
    start = verb.start if not whole.startswith(verb.lower) else verb.end
    new = whole if start == verb.start else whole[len(verb.text) :]
    new = new.upper() if loud else new.capitalize() if start == verb.start and verb.text[0].isupper() else new
    if clause.negation == clause.verb + 1:
        return [Edit(start, negation.end, new)] if _plain_gap(doc, verb.end, negation.start) else None
    if clause.subject is None or clause.negation != clause.subject + 1:
        return None
    gap = doc.tokens[clause.subject].end
    return [Edit(start, verb.end, new), Edit(gap, negation.end, "")] if _plain_gap(doc, gap, negation.start) else None


def _leaning(doc: Doc, clause: Clause, mark: str) -> list[Edit] | None:
    """We're of we are."""
    tokens, i = doc.tokens, clause.verb
    short, hosts = _HOSTS.get(tokens[i].lower, ("", frozenset()))
    if doc.low(i - 1) not in hosts or i + 1 >= len(tokens) or tokens[i + 1].is_punctuation:
        return None
    if doc.low(i + 1) == "n't" or (clause.inverted and not _asks_short(doc, clause)):
        return None
    alone = clause.kind != "be" and clause.main is None and doc.low(i + 1) != "better"
    if alone or clause.kind not in ("be", "have", "modal"):
        return None
    if _is_stranded(doc, clause) or not _goes_on(doc, i) or not _plain_gap(doc, tokens[i - 1].end, tokens[i].start):
        return None
    return [_joined(doc, i - 1, i, short.replace("'", mark))]


def _asks_short(doc: Doc, clause: Clause) -> bool:
    """Whether the verb may lean on a question word: `what's that`, `what's he doing`, but not `what is it?`"""
    tokens, i = doc.tokens, clause.verb
    if tokens[i].lower != "is" or tokens[i - 1].lower not in ("who", "what", "where"):
        return False
    return tokens[i + 1].tag != "PRP" or (i + 2 < len(tokens) and not tokens[i + 2].is_punctuation)


def _is_stranded(doc: Doc, clause: Clause) -> bool:
    """Whether what the verb is about stands before it, so that it bears stress: `where we are now`, `than I am`."""
    tokens, host = doc.tokens, clause.verb - 1
    before = tokens[max(host - 2, doc.sentences[clause.sentence].first) : host]
    if not before or clause.main is not None:
        return False
    opens = before[-1].tag in WH or before[-1].lower in ("than", "as", "so")
    opens |= before[0].tag == "WRB" and before[-1].tag == "JJ"
    return opens and tokens[clause.verb + 1].tag not in ("JJ", "DT", "VBG", "VBN")


def _goes_on(doc: Doc, verb: int) -> bool:
    """Whether what the verb says comes next: not so in `he is and always was kind`, `she is too.`"""
    j = _next(doc, verb, skip=lambda k: doc.tokens[k].lower in _STRESSING)
    return j >= 0 and doc.tokens[j].tag != "CC" and not (j > verb + 1 and doc.tokens[j].is_punctuation)


def _joined(doc: Doc, host: int, verb: int, short: str) -> Edit:
    word, after = doc.tokens[verb].text, doc.tokens[host]
    loud = word.isupper() and len(word) > 1 and (after.text.isupper() or after.text.lower() == "i")
    return Edit(after.end, doc.tokens[verb].end, short.upper() if loud else short)


def _plain_gap(doc: Doc, start: int, end: int) -> bool:
    """Whether only blanks of one line part two words."""
    gap = doc.text[start:end]
    return not gap.strip() and "\n" not in gap


def _not(doc: Doc, i: int, clause: Clause | None) -> list[Edit]:
    """Not for n't, behind the subject where it asks."""
    verb, negation = doc.tokens[i - 1], doc.tokens[i]
    low, blank = verb.lower, "" if doc.text[verb.end : negation.start].strip(" ") or negation.start > verb.end else " "
    loud = negation.text.isupper()
    behind = clause.subject if clause is not None and clause.subject is not None and clause.subject > i else None
    full = STEMS.get(low)
    if low == "ai":
        subject = doc.tokens[behind if behind is not None else max(i - 2, 0)]
        full = be_for(subject.text, subject.tag)
    if low == "are" and behind is not None and doc.tokens[behind].lower == "i":
        full = "am"
    edits: list[Edit] = []
    if full is not None:
        full = full.upper() if loud else full.capitalize() if verb.text[0].isupper() else full
        if low == "ca" and behind is None:
            return [Edit(verb.start, negation.end, f"{full}{'NOT' if loud else 'not'}")]
        edits.append(Edit(verb.start, verb.end, full))
    word = "NOT" if loud else "not"
    if behind is None:
        edits.append(Edit(negation.start, negation.end, f"{blank}{word}"))
    else:
        end = doc.tokens[behind].end
        edits += [Edit(verb.end, negation.end, ""), Edit(end, end, f" {word}")]
    return _merged(edits)


def _merged(edits: list[Edit]) -> list[Edit]:
    """Edits that touch made one."""
    if len(edits) > 1 and edits[0].end == edits[1].start:
        return [Edit(edits[0].start, edits[1].end, edits[0].new + edits[1].new), *edits[2:]]
    return edits


def _written_out(doc: Doc, i: int, full: str) -> Edit:
    token, before = doc.tokens[i], doc.tokens[i - 1]
    loud = token.text.isupper() and (before.text.isupper() or before.lower == "i")
    return Edit(token.start, token.end, (" " if doc.touches(i) else "") + (full.upper() if loud else full))


def _next(doc: Doc, i: int, *, skip: Callable[[int], bool]) -> int:
    """The first token of the same sentence behind a place that is not skipped; -1 where the sentence ends first."""
    j = i + 1
    while j < len(doc.tokens) and doc.sentence_at[j] == doc.sentence_at[i] and skip(j):
        j += 1
    return j if j < len(doc.tokens) and doc.sentence_at[j] == doc.sentence_at[i] else -1


def _d(doc: Doc, i: int, clause: Clause | None) -> str | None:
    """Had, would or did."""
    tokens = doc.tokens
    if not doc.touches(i) and tokens[i - 1].tag not in ("PRP", "EX", *WH):
        return None
    subject = clause.subject if clause is not None and clause.subject is not None else i

    def is_adverb(k: int) -> bool:
        return (doc.tag(k) in ADVERBS and doc.low(k) not in ("better", "rather")) or doc.low(k) in NOT

    j = _next(doc, subject, skip=is_adverb)
    if j < 0:
        return None
    low, tag = tokens[j].lower, tokens[j].tag
    if subject != i:
        return "did" if tag in ("VB", "VBP") else None
    if low == "better" or tag in ("VBN", "VBD"):
        return "had"
    return "would" if tag in ("VB", "VBP", "RB", "'ve") or low in ("'ve", "rather", "sooner", "like", "love") else None


def _s(doc: Doc, i: int) -> str | None:
    """Is, has or us; None for a possessive, and where it may be one."""
    tokens, host = doc.tokens, doc.tokens[i - 1]
    if host.lower == "let":
        return "us"
    j = _next(doc, i, skip=lambda k: tokens[k].tag in ADVERBS or tokens[k].lower in NOT)
    if j < 0:
        return "is" if host.lower in _VERBAL_HOSTS and doc.tag(i + 1) in ADVERBS else None
    after = tokens[j]
    if host.lower not in _VERBAL_HOSTS:
        verb = tokens[i].tag == "VBZ" or tokens[i + 1].lower in BEHIND_VERBS
        if not verb or host.tag not in NOUNS | {"EX", "DT", "PRP"} or (after.is_punctuation and j == i + 1):
            return None
        noun_follows = doc.tag(j + 1) in NOUNS and doc.low(j + 1) not in _DAYS
        alone = after.tag == "JJ" and tokens[i].tag == "VBZ" and _stands_alone(doc, j)
        predicate = after.tag in _PREDICATES or after.lower in _GONE or (after.tag == "VBG" and not noun_follows)
        if not (predicate or j > i + 1 or alone):
            return None
    elif host.lower in ("that", "who", "which") and after.tag in ("VBN", "VBD") and _is_intransitive(after.lower):
        return "has"
    elif (host.lower in ("that", "who", "which") and _may_be_either(doc, j)) or (
        tokens[i].tag == "POS" and host.tag not in ("PRP", "EX", *WH)
    ):
        return None
    return "has" if _is_perfect(doc, i, j) else "is"


def _stands_alone(doc: Doc, i: int) -> bool:
    """Whether an adjective has no noun of its own: `happy.`, `happy with it`, `tired and hungry.`"""
    j = _next(doc, i, skip=lambda k: doc.tokens[k].tag == "CC" or doc.tokens[k].tag in ("JJ", "RB"))
    return j < 0 or doc.tokens[j].is_punctuation or doc.tokens[j].tag in ("IN", "TO") or doc.tokens[j].lower in _DAYS


def _may_be_either(doc: Doc, j: int) -> bool:
    """Whether a participle in -ed that nothing hangs on leaves open what 's is: `the dog that's barked`."""
    behind = doc.tokens[j + 1] if j + 1 < len(doc.tokens) else None
    ends = behind is None or behind.is_punctuation or behind.tag in FINITE | {"RB", "CC"}
    return doc.tag(j) in ("VBN", "VBD") and doc.low(j).endswith("ed") and ends


def _is_intransitive(participle: str) -> bool:
    """Whether a participle in -ed is of a verb without a passive."""
    bases = (participle[:-n] for n in (1, 2, 3))
    return participle.endswith("ed") and any(base in INTRANSITIVE or base in _NO_PASSIVE for base in bases)


def _is_perfect(doc: Doc, i: int, j: int) -> bool:
    """Whether a participle behind 's makes it "has": `he's gone`, `she's seen it`, but `it's made of wood`."""
    tokens = doc.tokens
    low, tag = tokens[j].lower, tokens[j].tag
    if low in ("been", "got", "gone", "become") or (low == "had" and tag in ("VBN", "VBD")):
        return True
    if tag not in ("VBN", "VBD"):
        return False
    if low in _GONE or any(t.lower in _GONE for t in tokens[i + 1 : j]):
        return True
    if low in _NAMED and doc.tag(j + 1) != "PRP":
        return False
    return doc.tag(j + 1) in _OBJECTS and not tokens[j + 1].is_punctuation


# --- Perturbations of the surface: punctuation and the order of words

_MARKS = (",", ";", ":")
_NEVER_BEFORE_COMMA = frozenset({"DT", "PRP$", "IN", "TO", "MD"})


@dataclass(frozen=True, kw_only=True)
class RemovePunctuation(Checked):
    """Take punctuation away, or put a comma where none belongs.

    Args:
        mode: `remove` removes every mark outside words and numbers; `misplace` puts a comma behind a word where none
            belongs, and takes one of the text away, if it has any.
    """

    mode: Literal["remove", "misplace"] = "remove"
    info: ClassVar = worse("remove punctuation, or misplace a mark", ("Well, I can try.", "Well I can try"), needs=())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Edits at marks outside words and numbers."""
        doc = case.doc
        marks = [t.index for t in doc.tokens if t.is_punctuation and doc.word_at[t.index] is None]
        if self.mode == "remove":
            draft = Draft(doc)
            for index in marks:
                draft.delete(index, index)
            return draft.finish(removed=len(marks)) if marks else Inapplicable("no punctuation")
        return self._misplaced(doc, marks, rng)

    def _misplaced(self, doc: Doc, marks: list[int], rng: random.Random) -> Change | Inapplicable:
        movable = [i for i in marks if doc.tokens[i].text in _MARKS]
        mark = rng.choice(movable) if movable else None
        behind = [w.last for w in doc.words if w.last + 1 < len(doc.tokens) and doc.word_at[w.last + 1] is not None]
        behind = [i for i in behind if mark is None or not mark - 2 <= i <= mark]
        if not behind:
            return Inapplicable("too short")
        wrong = [i for i in behind if doc.tokens[i].tag in _NEVER_BEFORE_COMMA]
        draft, place = Draft(doc), rng.choice(wrong or behind)
        if mark is not None:
            draft.delete(mark, mark)
        draft.insert_after(place, ",", blank=False)
        return draft.finish(mark=None if mark is None else doc.tokens[mark].text, behind=doc.tokens[place].text)


@dataclass(frozen=True, kw_only=True)
class JumbleWords(Checked):
    """Shuffle the words; punctuation stays where it stands.

    Args:
        recase: give the new first word of a sentence a capital, and take it from the old one.
        keep_punctuation: leave punctuation marks where they are; if false, they are shuffled with the words.
    """

    recase: bool = True
    keep_punctuation: bool = True
    info: ClassVar = worse("shuffle the order of the words", ("The bus came late.", "Late bus the came."), needs=())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Another order of the words, one edit per place that changes."""
        doc = case.doc
        slots = list(doc.words)
        if not self.keep_punctuation:
            slots += [doc.span(t.index, t.index) for t in doc.tokens if doc.word_at[t.index] is None]
            slots.sort(key=lambda s: s.first)
        words = [doc.between(s) for s in slots]
        folded = [w.casefold() for w in words]
        if len(set(folded)) < 2:
            return Inapplicable("too short")
        order = list(range(len(words)))
        while [folded[i] for i in order] == folded:
            rng.shuffle(order)
        if self.recase:
            words = [self._plain(doc, slot.first, word) for slot, word in zip(slots, words, strict=True)]
        draft = Draft(doc)
        for slot, i in zip(slots, order, strict=True):
            if words[i] != doc.between(slot):
                draft.replace(slot.first, slot.last, words[i], cased=False)
        return draft.finish(capitals=self.recase, articles=False)

    @staticmethod
    def _plain(doc: Doc, index: int, word: str) -> str:
        """The word without the capital that only its place at the head of a sentence gave it."""
        head = doc.starts_sentence(index) and not is_name_like(doc.tokens[index]) and not word[1:].isupper()
        return word[:1].lower() + word[1:] if head else word


# --- Perturbations of whole sentences: their order, one of them twice

_FINAL = frozenset(".!?…。！？")
_AROUND = "\"'”’»)]」』 "  # quotes and brackets behind a final mark
_SIGNS = frozenset("%‰°€$£¥")  # read aloud as words
_UNSPACED = frozenset("。！？」』")


@dataclass(frozen=True, kw_only=True)
class ReorderSentences:
    """Change the order of the sentences; what stands between them stays."""

    info: ClassVar = worse(
        "change the order of the sentences",
        ("The bell rang. Everyone went in.", "Everyone went in. The bell rang."),
        needs=(),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit for each sentence whose place another takes."""
        doc = case.doc
        texts = [doc.between(s) for s in doc.sentences]
        bare = [_bare(t) for t in texts]
        if len(set(bare)) < 2:
            return Inapplicable("one sentence")
        order = list(range(len(texts)))
        while [bare[i] for i in order] == bare:
            rng.shuffle(order)
        edits = []
        for slot, i in zip(doc.sentences, order, strict=True):
            old = doc.between(slot)
            new = _ending_like(old, texts[i])
            if new != old:
                edits.append(Edit(slot.start, slot.end, new))
        return Change(edits, {"order": order})


@dataclass(frozen=True, kw_only=True)
class RepeatSentences(Checked):
    """Say one sentence twice; one of a single word only where there is no other.

    Args:
        place: where the repeated sentence goes: to the `end` of the text, `next` to itself, or behind `any` sentence at
            random.
    """

    place: Literal["end", "next", "any"] = "end"
    info: ClassVar = worse(
        "repeat a sentence",
        ("The bell rang. Everyone went in.", "The bell rang. Everyone went in. The bell rang."),
        needs=(),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion behind a sentence."""
        doc = case.doc
        words = [len({*doc.word_at[s.first : s.last + 1]} - {None}) for s in doc.sentences]
        worded = [i for i, n in enumerate(words) if n > 1] or [i for i, n in enumerate(words) if n]
        if not worded:
            return Inapplicable("no sentence")
        picked = rng.choice(worded)
        behind = {"end": len(doc.sentences) - 1, "next": picked}.get(self.place)
        if behind is None:
            behind = rng.randrange(len(doc.sentences))
        before, repeated = doc.sentences[behind], doc.between(doc.sentences[picked])
        stop = "." if lacks_stop(doc.between(before)) else ""
        new = f"{stop}{_blank(doc, behind)}{repeated}"
        return Change([Edit(before.end, before.end, new)], {"sentence": picked, "behind": behind})


def lacks_stop(text: str) -> bool:
    """Whether a text ends in a word, behind which a new sentence needs a full stop; not in `Examples:` or an emoji."""
    last = text.rstrip(_AROUND)[-1:]
    return last in _SIGNS or unicodedata.category(last or " ")[0] in "LMN"


def _bare(sentence: str) -> str:
    """A sentence without its final mark and the quotes around that."""
    return sentence.rstrip("".join(_FINAL) + _AROUND)


def _ending_like(old: str, new: str) -> str:
    """A sentence as it is written in the place of another.

    It takes or loses a full stop if only one of the two has a final mark. Where one of them ends in another mark
    (`Examples:`), both stay as they are.
    """
    if any(_bare(text) == text and not lacks_stop(text) for text in (old, new)):
        return new
    if (_bare(old) != old) == (_bare(new) != new):
        return new
    if _bare(new) == new:
        return f"{new}."
    return new[:-1].rstrip() if new[-1] == "." else new


def _blank(doc: Doc, behind: int) -> str:
    """The characters between two sentences at this place.

    They are copied from behind or before the sentence; else they are a blank if the script has blanks.
    """
    for first in (behind, behind - 1):
        if 0 <= first < len(doc.sentences) - 1:
            return doc.text[doc.sentences[first].end : doc.sentences[first + 1].start]
    return "" if doc.between(doc.sentences[behind])[-1] in _UNSPACED else " "


# --- Perturbations that part stop words from the words that carry the content

_CLITICS = frozenset({"n't", "'s", "'re", "'ve", "'ll", "'d", "'m"})
_ALSO_NAMES = frozenset({"may", "will", "us", "it", "who", "i", "a", "no"})  # May, Will, WHO, Henry I, vitamin A, Dr No
_ALSO_ACRONYMS = frozenset({"us", "it", "who"})


@dataclass(frozen=True, kw_only=True)
class DropStopwords(Checked):
    """Leave the words that carry content alone.

    Args:
        keep_question_word: keep the word that asks, whether or not the question ends in a mark.
    """

    keep_question_word: bool = False
    info: ClassVar = worse("drop all stop words", ("The boats are in the old harbour.", "Boats old harbour."))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Every stop word goes, with its clitics and with marks left without words."""
        doc = case.doc
        stopped = stopwords(doc)
        if self.keep_question_word:
            asking = {question.wh for question in questions(doc)}  # with a mark at the end or without
            stopped = [s and word.first not in asking for s, word in zip(stopped, doc.words, strict=True)]
        if not any(stopped):
            return Inapplicable("no stop word")
        if all(stopped):
            return Inapplicable("only stop words")
        draft = Draft(doc)
        for word, stop in zip(doc.words, stopped, strict=True):
            if stop:
                draft.delete(word.first, word.last)
        draft.tidy()
        return draft.finish(dropped=sum(stopped))


@dataclass(frozen=True, kw_only=True)
class KeepOnlyStopwords(Checked):
    """Drop the words that carry content.

    Args:
        keep_punctuation: leave punctuation marks where they are.
    """

    keep_punctuation: bool = False
    info: ClassVar = worse("keep only the stop words", ("The boats are in the old harbour.", "The are in the"))

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """Every other word goes."""
        doc = case.doc
        stopped = stopwords(doc)
        if not any(stopped):
            return Inapplicable("no stop word")
        if all(stopped):
            return Inapplicable("only stop words")
        draft, places = Draft(doc), doc.word_at
        for token in doc.tokens:
            place = places[token.index]
            if not (self.keep_punctuation if place is None else stopped[place]):
                draft.delete(token.index, token.index)
        return draft.finish(articles=False, stops=False, dropped=len(stopped) - sum(stopped))


def stopwords(doc: Doc) -> list[bool]:
    """For each word of a text whether it is a stop word; a clitic that stands alone goes with the word before it."""
    table, mixed = _table(), not doc.text.isupper()
    flags: list[bool] = []
    for word in doc.words:
        tokens = doc.tokens[word.first : word.last + 1]
        head, lower = tokens[0], doc.between(word).lower().replace("’", "'")
        if lower in _CLITICS:
            stop = bool(flags) and flags[-1]
        elif lower in table:
            named = head.tag in PROPER and lower in _ALSO_NAMES and head.text[0].isupper()
            stop = not named and not (mixed and lower in _ALSO_ACRONYMS and head.text.isupper())
        else:  # he'll, couldn't've; and/or
            first, *rest = (t.lower for t in tokens)
            stop = first in table and all(p in _CLITICS or p == "/" or (p in table and "/" in rest) for p in rest)
        flags.append(stop)
    return flags


@cache
def _table() -> frozenset[str]:
    return frozenset(word for line in data_lines("stopwords.txt") for word in line.split())


# --- Perturbation of spelling: one word with one slip of the keyboard, or misspelt as people often do

Kind = Literal["any", "swap", "delete", "insert", "substitute", "common"]

_LEAST = 4  # letters
_FAR = 100  # letters of a word among which the slip is; what is longer is no word
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # each key of a row lies below and between two of the row above
_SLIPS: Sequence[Kind] = ("swap", "delete", "insert", "substitute")


@dataclass(frozen=True, kw_only=True)
class Typos(Checked):
    """Misspell one word of four letters or more; its first letter stays.

    The misspelling is no word of the language if that can be had.

    Args:
        kind: `swap` exchanges two letters, `delete` drops one, `insert` adds one, `substitute` replaces one by its
            neighbour on the keyboard, and `any` does one of these. `common` takes a word that people often misspell,
            with their spelling.
    """

    kind: Kind = "any"
    info: ClassVar = worse("misspell one word", ("Every window was open.", "Evry window was open."), needs=())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One word takes the place of another."""
        doc = case.doc
        words = [w for w in doc.words if _is_plain(doc.between(w))]
        if self.kind == "common":
            words = [w for w in words if doc.between(w).lower() in _misspellings()]
            if not words:
                return Inapplicable("no word that is often misspelt")
        elif not words:
            return Inapplicable("no word of four letters")
        rng.shuffle(words)
        loud = doc.text.isupper()
        words.sort(key=lambda w: _is_name(doc, w, loud))  # stable: a name is misspelt only where there is nothing else
        kinds = [self.kind] if self.kind != "any" else rng.sample(_SLIPS, len(_SLIPS))
        for unknown in (True, False):
            for word in words:
                old = doc.between(word)
                for kind in kinds:
                    forms = [f for f in _forms(old, kind) if f.lower() != old.lower()]
                    forms = [f for f in forms if not (unknown and known_tags(f))]
                    if forms:
                        new = rng.choice(forms)
                        draft = Draft(doc)
                        draft.replace(word.first, word.last, new, cased=False)
                        return draft.finish(capitals=False, articles=False, kind=kind, word=old, typo=new)
        return Inapplicable("no word that can be misspelt")


def _is_plain(word: str) -> bool:
    """Whether a word is all letters of a script with capitals, and these stand where they do in plain words."""
    small = word.lower()
    cased = len(word) >= _LEAST and word.isalpha() and len(small) == len(word) and small != word.upper()
    return cased and all(c.islower() for c in small) and word in (small, small[0].upper() + small[1:], word.upper())


def _is_name(doc: Doc, word: Span, loud: bool) -> bool:
    token = doc.tokens[word.first]
    return token.tag in PROPER or (token.text.isupper() and not loud)


def _forms(word: str, kind: Kind) -> list[str]:
    """The typos of a word, its first letter kept; with doubles, and the word itself may be among them."""
    inner = range(1, min(len(word), _FAR))
    if kind == "swap":
        return [word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :] for i in inner if i > 1]
    if kind == "delete":
        return [word[:i] + word[i + 1 :] for i in inner]
    if kind == "insert":  # a letter twice, or the key beside it as well
        letters = word if word.isupper() else word.lower()
        return [
            word[: i + 1] + new + word[i + 1 :]
            for i, letter in enumerate(letters[:_FAR])
            for new in (letter, *_near(letter))
        ]
    if kind == "substitute":
        return [word[:i] + new + word[i + 1 :] for i in inner for new in _near(word[i])]
    return [with_case_of(word, new) for new in _misspellings().get(word.lower(), ())]


def _near(letter: str) -> tuple[str, ...]:
    """The keys beside a letter, in its case."""
    near = _keyboard().get(letter.lower(), ())
    return tuple(n.upper() for n in near) if letter.isupper() else near


@cache
def _keyboard() -> Mapping[str, tuple[str, ...]]:
    near: dict[str, tuple[str, ...]] = {}
    for r, row in enumerate(_ROWS):
        for c, letter in enumerate(row):
            places = [(r, c - 1), (r, c + 1), (r - 1, c), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c)]
            near[letter] = tuple(_ROWS[i][j] for i, j in places if 0 <= i < len(_ROWS) and 0 <= j < len(_ROWS[i]))
    return near


@cache
def _misspellings() -> Mapping[str, tuple[str, ...]]:
    return {right: tuple(wrong) for right, *wrong in map(str.split, data_lines("misspellings.txt"))}
