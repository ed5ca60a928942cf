"""Short forms written out, and full forms made short: neither should change what a text says."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Edit, Inapplicable, as_good
from nlgauge.text.doc import Doc
from nlgauge.text.english.clauses import Clause, find_clauses
from nlgauge.text.english.verbs import (
    ADVERBS,
    BEHIND_VERBS,
    INTRANSITIVE,
    NOT,
    NOUNS,
    STEMS,
    WH,
    WITH_NOT,
    apostrophe,
    be_for,
)
from nlgauge.text.scripts import WordList

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
_OBJECTS = frozenset({"DT", "PRP", "PRP$", "CD", "NN", "NNS", "NNP", "NNPS", "JJ"})
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
        return _short_forms(doc)


@dataclass(frozen=True, kw_only=True)
class Expansions(_Rewriting):
    """Write short forms out: `weren't` to `were not`, `he's gone` to `he has gone`; possessives stay."""

    reason: ClassVar[str] = "no contraction"
    info: ClassVar = as_good("write contractions out", ("They weren't late.", "They were not late."))

    def forms(self, doc: Doc) -> Iterator[list[Edit]]:
        """See `_Rewriting.forms`."""
        return _full_forms(doc)


def _short_forms(doc: Doc) -> Iterator[list[Edit]]:
    mark = apostrophe(doc.text)
    for clause in find_clauses(doc):
        edits = _with_not(doc, clause, mark) or _leaning(doc, clause, mark)
        if edits:
            yield edits
        elif clause.kind == "imperative" and _is_lets(doc, clause.verb):
            yield [_joined(doc, clause.verb, clause.verb + 1, f"{mark}s")]


def _is_lets(doc: Doc, place: int) -> bool:
    tokens = doc.tokens
    if place + 2 >= len(tokens) or doc.touches(place + 1):
        return False
    return tokens[place].lower == "let" and tokens[place + 1].lower == "us" and tokens[place + 2].tag == "VB"


def _with_not(doc: Doc, clause: Clause, mark: str) -> list[Edit] | None:
    """Isn't of is not; of a question also "will you not"."""
    if clause.negation is None or clause.kind in ("plain", "imperative"):
        return None
    verb, negation = doc.tokens[clause.verb], doc.tokens[clause.negation]
    if (
        verb.lower not in WITH_NOT
        or negation.lower != "not"
        or (clause.kind == "have" and clause.main is None and not clause.inverted)
    ):
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
    if i == 0 or tokens[i - 1].lower not in hosts or i + 1 >= len(tokens) or tokens[i + 1].is_punctuation:
        return None
    if tokens[i + 1].lower == "n't":
        return None
    if clause.inverted and not _asks_short(doc, clause):
        return None
    if clause.kind not in ("be", "have", "modal") or (
        clause.kind != "be" and clause.main is None and tokens[i + 1].lower != "better"
    ):
        return None
    if _is_stranded(doc, clause) or not _goes_on(doc, i):
        return None
    return (
        [_joined(doc, i - 1, i, short.replace("'", mark))]
        if _plain_gap(doc, tokens[i - 1].end, tokens[i].start)
        else None
    )


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
    opens = (
        before[-1].tag in WH
        or before[-1].lower in ("than", "as", "so")
        or (before[0].tag == "WRB" and before[-1].tag == "JJ")
    )
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


def _full_forms(doc: Doc) -> Iterator[list[Edit]]:
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
    j = _next(
        doc,
        subject,
        skip=lambda k: (
            (tokens[k].tag in ADVERBS and tokens[k].lower not in ("better", "rather")) or tokens[k].lower in NOT
        ),
    )
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
        return "is" if host.lower in _VERBAL_HOSTS and i + 1 < len(tokens) and tokens[i + 1].tag in ADVERBS else None
    after = tokens[j]
    if host.lower not in _VERBAL_HOSTS:
        verb = tokens[i].tag == "VBZ" or tokens[i + 1].lower in BEHIND_VERBS
        if not verb or host.tag not in NOUNS | {"EX", "DT", "PRP"} or (after.is_punctuation and j == i + 1):
            return None
        noun_follows = j + 1 < len(tokens) and tokens[j + 1].tag in NOUNS and tokens[j + 1].lower not in _DAYS
        alone = after.tag == "JJ" and tokens[i].tag == "VBZ" and _stands_alone(doc, j)
        if not (
            after.tag in _PREDICATES
            or j > i + 1
            or (after.tag == "VBG" and not noun_follows)
            or after.lower in _GONE
            or alone
        ):
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
    token = doc.tokens[j]
    behind = doc.tokens[j + 1] if j + 1 < len(doc.tokens) else None
    ends = behind is None or behind.is_punctuation or behind.tag in ("RB", "CC", "VBZ", "VBP", "VBD", "MD")
    return token.tag in ("VBN", "VBD") and token.lower.endswith("ed") and ends


def _is_intransitive(participle: str) -> bool:
    """Whether a participle in -ed is of a verb without a passive."""
    return participle.endswith("ed") and any(
        base in INTRANSITIVE or base in _NO_PASSIVE for base in (participle[:-n] for n in (1, 2, 3))
    )


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
    if low in _NAMED and tokens[j + 1 : j + 2] and tokens[j + 1].tag != "PRP":
        return False
    return j + 1 < len(tokens) and tokens[j + 1].tag in _OBJECTS and not tokens[j + 1].is_punctuation
