"""Clauses: the finite verbs of a text with what stands around them, and which of them carry a main clause."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nlgauge.text.doc import Doc, Span
from nlgauge.text.english.verbs import ADVERBS, BE, NOMINATIVE, NOT, NOUNS, OPENERS, PREPOSITIONS, WH, Kind, Sentence
from nlgauge.text.wordlists import WordList

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
        if (
            first.kind != "imperative"
            or second.tag not in ("VBZ", "VBD")
            or second.rank > 0
            or self.low(second.verb - 1) in NOMINATIVE
        ):
            return False
        return not any(
            self.tokens[k].is_punctuation or self.tag(k) in ("CC", "IN") for k in range(first.verb + 1, second.verb)
        )

    def _scan(self, *, lenient: bool) -> list[Clause]:
        clauses: list[Clause] = []
        i = begin = self.first
        while i < self.end:
            kind, tag = self.finite(i, begin, lenient=lenient)
            if (
                kind is None
                or self._is_headed(i, kind)
                or i in self.doc.in_titles
                or (kind == "plain" and not clauses and self._joins_nouns(i))
            ):
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
        return self.tag(first.verb - 1) in NOUNS and not any(
            self.tokens[k].is_punctuation
            or self.tag(k) in WH | {"CC"}
            or self.low(k) in NOMINATIVE | OPENERS | PREPOSITIONS | {"that"}
            for k in between
        )

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
        return replace(
            clause,
            main=i,
            adverbs=tuple(range(k + 1, i)),
            negation=negation,
            last=last if negation is None else negation,
        )

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
        if (
            end is None
            or end + 1 >= self.end
            or self.tokens[end + 1].is_punctuation
            or self.tag(end + 1) in WH | {"IN", "CC", "TO", "POS"}
        ):
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

    # How far from the main clause

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
        if (
            clause.kind != "plain"
            or i == self.first
            or not self.tokens[i - 1].is_punctuation
            or self.low(i) not in _REPORTED
        ):
            return False
        return self.tag(i + 1) in NOUNS | {"DT", "PRP$"} or self.low(i + 1) in NOMINATIVE
