"""Where the finite verbs of a text are, what stands around them, and which of them carry a main clause; by tags alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from nlgauge.text.doc import Doc, Span

Kind = Literal["be", "have", "do", "modal", "plain", "imperative"]

BE = frozenset({"am", "is", "are", "was", "were", "'m", "'re", "ai"})
HAVE = frozenset({"have", "has", "had", "'ve"})
DO = frozenset({"do", "does", "did"})
NOT = frozenset({"not", "n't"})
NOMINATIVE = frozenset({"i", "he", "she", "we", "they", "you", "it", "there"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
FINITE = frozenset({"VBZ", "VBP", "VBD"})
WH = frozenset({"WDT", "WP", "WP$", "WRB"})
ADVERBS = frozenset({"RB", "RBR", "RBS"})
BEHIND_VERBS = frozenset({"a", "an", "the", "not", "been"})  # never behind the 's of a possessive

_MODALS = frozenset({"wo", "ca", "sha", "'ll", "can", "could", "will", "would", "shall", "should", "may", "might", "must"})
_RARE_MODALS = frozenset({"need", "dare", "ought"})
_TENSE = {"was": "VBD", "were": "VBD", "is": "VBZ", "did": "VBD", "had": "VBD", "does": "VBZ", "has": "VBZ"}
_IN_PHRASES = frozenset({"DT", "PDT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS", *NOUNS})
_PRONOUNS = frozenset(f"{some}{one}" for some in ("some", "any", "every", "no") for one in ("one", "body", "thing"))
_DETERMINERS_ALONE = frozenset("this that these those all both each some any neither either another".split())
# Words that open a subordinate clause; unless a comma parts them from the verb, as in "although tired, he ran".
_OPENERS = frozenset("because although though if unless whether while whereas until till since once that lest wherever whenever whichever".split())
_PREPOSITIONS = frozenset("after before as than like so except given provided".split())
_REPORTED = frozenset(
    "said says say told tells added adds asked asks explained explains noted notes wrote writes replied replies answered answers warned warns "
    "cried shouted whispered claimed claims stated states announced insisted insists argued argues admitted commented concluded".split()
)
_PARTICLES = frozenset(["down", "up", "along", "past", "over", "around", "by", "off", "through", "across", "in", "on", "out"])
_TURNING = frozenset(["never", "nor", "neither", "rarely", "seldom", "hardly", "scarcely"])  # before a subject behind its verb
_NO_COMMANDS = frozenset("thank thanks excuse pardon sorry please welcome hello hi congratulations bless".split())
_BEFORE_COMMANDS = frozenset("please well now then so just and but or ok okay oh also always never first next finally yes no not kindly".split())
_WITH_BASE_VERB = frozenset("let make help see hear watch have".split())
_LONGEST_SUBJECT = 14  # tokens between an auxiliary and its verb


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
        subject: the last token of a subject that stands behind the verb; None where it stands before it, or its end is not known.
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
    found: list[Clause] = []
    for place, span in enumerate(doc.sentences):
        found += _Sentence(doc, place, span).clauses()
    return found


def is_question(doc: Doc, sentence: int) -> bool:
    """Whether a sentence ends with a question mark, quotes and brackets left out of account."""
    span = doc.sentences[sentence]
    for i in range(span.last, span.first - 1, -1):
        if not doc.tokens[i].is_punctuation:
            return False
        if "?" in doc.tokens[i].text:
            return True
    return False


class _Sentence:
    def __init__(self, doc: Doc, place: int, span: Span) -> None:
        self.doc, self.place = doc, place
        self.tokens = doc.tokens
        self.first, self.end = span.first, span.last + 1
        self.question = is_question(doc, place)

    def clauses(self) -> list[Clause]:
        """Clauses in order; where there are none, nouns may be verbs that the tagger did not see."""
        return self._scan(lenient=False) or self._scan(lenient=True)

    def _scan(self, *, lenient: bool) -> list[Clause]:
        found: list[Clause] = []
        i = begin = self.first
        while i < self.end:
            kind, tag = self._finite(i, begin, lenient=lenient)
            if kind is None:
                i += 1
                continue
            clause = self._group(Clause(self.place, i, kind, tag, begin, i))
            found.append(replace(clause, rank=self._rank(clause)))
            i = begin = clause.last + 1
        return found

    def _low(self, i: int) -> str:
        return self.tokens[i].lower if self.first <= i < self.end else ""

    def _tag(self, i: int) -> str:
        return self.tokens[i].tag if self.first <= i < self.end else ""

    # Which tokens are finite verbs

    def _finite(self, i: int, begin: int, *, lenient: bool) -> tuple[Kind | None, str]:
        """What kind of finite verb a token is, with its tag; no kind where it is none."""
        low, tag, before, after = self._low(i), self._tag(i), self._low(i - 1), self._low(i + 1)
        if low == "'s":
            if not (tag == "VBZ" or (tag == "POS" and (before in NOMINATIVE or after in BEHIND_VERBS))):
                return None, tag
            return ("have" if self._participle_after(i, ("been", "got", "had")) else "be"), "VBZ"
        if low in BE and not (low == "am" and self._tag(i - 1) == "CD"):
            return "be", _TENSE.get(low, "VBP")
        if after == "n't" and low in DO | HAVE:
            return ("do" if low in DO else "have"), _TENSE.get(low, "VBP")
        if (low in _MODALS and (tag == "MD" or after == "n't")) or (tag == "MD" and low in _RARE_MODALS):
            return "modal", "MD"
        if low == "'d":
            had = tag == "VBD" or after == "better" or self._participle_after(i)
            return ("have" if had else "modal"), "VBD" if had else "MD"
        if tag in ("TO", "RP") or before == "to" or after in ("na", "ta"):
            return None, tag
        if self._commands(i, begin):
            return ("do" if low == "do" and after in NOT else "imperative"), "VB"
        tag = self._mended(i, lenient=lenient)
        if tag not in FINITE or not self._plausible(i):
            return None, tag
        if low in HAVE:
            return ("have" if self._auxiliary_have(i) else "plain"), tag
        if low in DO:
            return ("do" if self._auxiliary_do(i) else "plain"), tag
        return "plain", tag

    def _mended(self, i: int, *, lenient: bool) -> str:
        """The tag of a token, set right where its neighbours speak against it."""
        low, tag, before = self._low(i), self._tag(i), self._low(i - 1)
        if low in ("has", "does", "had", "did") and tag in FINITE | {"VBN", "VB", "NNS", "NN"}:
            return _TENSE[low]
        if tag == "VBN" and (before in ("he", "she", "we", "they", "i") or self._low(i + 1) in ("me", "him", "us", "them")):
            return "VBD"
        if tag == "VB" and before in ("i", "we", "they") and self._low(i - 2) not in _WITH_BASE_VERB:
            return "VBP"
        if lenient and i - 1 == self.first and self._two_words() and self._tag(i - 1) in ("NNS", "VBZ") and tag in ("NN", "VB"):
            return "VBP"
        if lenient and self._tag(i - 1) in NOUNS | {"PRP"} and self._tag(i + 1) in ("DT", "PRP$", "PRP", "CD"):
            if tag == "NNS" and low.endswith("s") and self._tag(i - 1) != "NNS":
                return "VBZ"
            if self._tag(i - 1) in ("NNS", "PRP") and (tag in ("NN", "VB") or low == "like"):
                return "VBP"
        return tag

    def _plausible(self, i: int) -> bool:
        """Whether a finite verb can stand here: not between a determiner and its noun."""
        tag, low = self._tag(i - 1), self._low(i - 1)
        if tag in ("PRP$", "POS", "TO") or (tag == "DT" and low not in _DETERMINERS_ALONE):
            return False
        if self._tag(i) != "VBD" and (low in _PARTICLES or (tag == "IN" and low not in _OPENERS | _PREPOSITIONS)):
            return False  # "going down tracks"
        if low in ("many", "much") and self._low(i - 2) == "how" and self._tag(i + 1) in NOUNS:
            return False  # "how many stop lights"
        if i == self.first:
            return self._low(i) in DO | HAVE or (self._tag(i) != "VBP" and not (self._two_words() and self._tag(i + 1) in ("NN", "VB")))
        return True

    def _two_words(self) -> bool:
        """Whether the sentence is no more than two words: "Dogs bark", which is easily taken for a verb and its object."""
        return sum(not t.is_punctuation for t in self.tokens[self.first : self.end]) == 2

    def _participle_after(self, i: int, forms: Iterable[str] = ()) -> bool:
        j = i + 1
        while self._tag(j) in ADVERBS or self._low(j) in NOT:
            j += 1
        return self._low(j) in forms if forms else self._tag(j) in ("VBN", "VBD")

    def _auxiliary_have(self, i: int) -> bool:
        if self._participle_after(i) or self._low(i + 1) == "better" or self._stands_alone(i):
            return True
        if not self._inversion(i) or self._tag(i - 1) in ("WP", "WDT"):
            return False
        return self._opens(i) or self._verb_after(i + 1, ("VBN", "VBD")) is not None

    def _auxiliary_do(self, i: int) -> bool:
        j = i + 1
        while self._tag(j) in ADVERBS:
            j += 1
        if self._tag(j) == "VB" or self._stands_alone(i):
            return True
        if not self._inversion(i):
            return False
        asked = next((self._low(k) for k in range(i - 1, self.first - 1, -1) if self._tag(k) in WH), "")
        if self._opens(i) or asked in ("what", "how", "when", "where", "why") or self._verb_after(i + 1, ("VB", "VBP")) is not None:
            return True
        end = self._subject_end(i + 1)  # "which films did Ann direct", but "who did the work"
        return end is not None and end + 1 < self.end and not self.tokens[end + 1].is_punctuation and self._tag(end + 1) not in ("IN", "CC", "TO")

    def _opens(self, i: int) -> bool:
        """Whether nothing but marks and little words stands before a token."""
        return all(self.tokens[k].is_punctuation or self._low(k) in _BEFORE_COMMANDS or self._tag(k) in ("CC", "UH") for k in range(self.first, i))

    def _stands_alone(self, i: int) -> bool:
        """Whether an auxiliary answers for a verb: `Yes, I do.`"""
        j = i + 1
        while self._low(j) in NOT or self._low(j) in ("too", "so", "also"):
            j += 1
        return j >= self.end or (self.tokens[j].is_punctuation and self.tokens[j].text not in ("(", "“", "-", "‘"))

    def _commands(self, i: int, begin: int) -> bool:
        """Whether a base form opens a command."""
        low, tag = self._low(i), self._tag(i)
        if begin != self.first or self.question or tag not in ("VB", "VBP") or low in _NO_COMMANDS or not self._opens(i):
            return False
        after = self._low(i + 1)
        if low in HAVE | DO and (after in NOMINATIVE - {"it"} or (tag == "VBP" and after not in NOT | {"a", "the", "some", "it"})):
            return False
        return self._tag(i + 1) not in FINITE | {"MD"} and after not in ("-", ":") and (after != "'s" or low == "let")

    # What stands around them

    def _inversion(self, i: int) -> bool:
        """Whether no subject stands before the verb, so that it must follow: `Is he`, `where did`, `what time does`."""
        j = i + 2 if self._low(i + 1) in NOT else i + 1
        pronoun = self._is_pronoun(j)
        if pronoun and (self._low(j) not in ("it", "you") or self._low(i) in _MODALS or self._low(i - 1) in _TURNING):
            return True
        return (self.question or (pronoun and i == self.first)) and not self._has_subject(i)

    def _is_pronoun(self, i: int) -> bool:
        """Whether a token is a pronoun that can be a subject; "there" may be an adverb."""
        return self._low(i) in NOMINATIVE and (self._low(i) != "there" or self._tag(i) == "EX")

    def _has_subject(self, i: int) -> bool:
        """Whether a noun or pronoun stands before the verb as its subject, and not as part of a question phrase."""
        k = i - 1
        while self._tag(k) in ADVERBS:
            k -= 1
        if k < self.first or self.tokens[k].is_punctuation or self._tag(k) in WH | {"CC", "UH"}:
            return False
        while k >= self.first and not self.tokens[k].is_punctuation and self._tag(k) != "CC":
            if self._tag(k) in WH:
                return False
            if self._tag(k) in FINITE | {"MD"}:
                break
            k -= 1
        return True

    def _verb_after(self, j: int, tags: Sequence[str]) -> int | None:
        """The verb behind a subject that begins at a token, however long; None where another clause comes first."""
        for k in range(j + 1, min(j + _LONGEST_SUBJECT, self.end)):
            if self._tag(k) in tags and self._low(k - 1) != "to" and self._low(k) not in BE:
                return k
            if (self.tokens[k].is_punctuation and self.tokens[k].text not in "-'\"“”’,") or self._tag(k) in FINITE | WH | {"MD"}:
                return None
        return None

    def _subject_end(self, j: int) -> int | None:
        """The last token of a plain noun phrase or a pronoun that begins at a token."""
        if self._is_pronoun(j) or self._low(j) in _PRONOUNS or (self._low(j) in _DETERMINERS_ALONE and self._tag(j + 1) not in _IN_PHRASES):
            return j
        k, noun = j, None
        while self._tag(k) in _IN_PHRASES:
            if k > j and self._tag(k) in ("DT", "PRP$", "PDT") and self._tag(k - 1) != "PDT":
                break
            name_ends = self._tag(k) == "NN" and self._tag(k - 1) == "NNP" and self._tag(j) == "NNP"
            if noun is not None and (self._tag(k) in ("JJ", "JJR", "JJS", "CD") or name_ends):
                break
            noun = k if self._tag(k) in NOUNS else None if self._tag(k) == "POS" else noun
            k += 1
        return noun

    def _group(self, clause: Clause) -> Clause:
        """The clause with all that belongs to its verb."""
        i = clause.verb
        if clause.kind in ("plain", "imperative"):
            return self._single(clause)
        j, negation, adverbs = self._adverbs(i + 1, None)
        inverted = clause.tag != "VB" and self._tag(j) not in ("VB", "VBN", "VBG") and self._inversion(i)
        subject = self._inverted_subject(j, clause) if inverted else None
        if subject is not None:
            j, negation, adverbs = self._adverbs(subject + 1, negation)
        main, j = self._chain(j, clause.kind)
        last = max([i, *(k for k in (main, negation, subject) if k is not None)])
        return replace(clause, main=main, negation=negation, adverbs=tuple(adverbs), subject=subject, inverted=inverted, last=last)

    def _single(self, clause: Clause) -> Clause:
        """A main verb without auxiliary, with the adverbs before it and a "not" behind it: `I know not`, `let's not`."""
        i, k = clause.verb, clause.verb - 1
        while k >= clause.begin and (self._tag(k) in ADVERBS or (self._low(k) == "no" and self._low(k + 1) == "longer")):
            k -= 1
        last = i + 1 if self._low(i) == "let" and self._low(i + 1) == "'s" else i
        negation = last + 1 if self._low(last + 1) in NOT and clause.kind == "imperative" else None
        return replace(clause, main=i, adverbs=tuple(range(k + 1, i)), negation=negation, last=last if negation is None else negation)

    def _adverbs(self, j: int, negation: int | None) -> tuple[int, int | None, list[int]]:
        adverbs = []
        while j < self.end:
            if self._low(j) in NOT and negation is None:
                negation = j
            elif self._low(j) == "no" and self._low(j + 1) == "longer":
                adverbs += [j, j + 1]
                j += 1
            elif self._tag(j) in ADVERBS and self._low(j) not in ("there", "here"):
                adverbs.append(j)
            else:
                break
            j += 1
        return j, negation, adverbs

    def _inverted_subject(self, j: int, clause: Clause) -> int | None:
        if self._is_pronoun(j):
            return j
        if clause.kind in ("do", "modal", "have"):
            verb = self._verb_after(j, ("VBN", "VBD") if clause.kind == "have" else ("VB", "VBP"))
            if verb is not None:
                while verb - 2 > j and self._tag(verb - 1) in ADVERBS:
                    verb -= 1
                return verb - 1
        end = self._subject_end(j)
        if end is None or end + 1 >= self.end or self.tokens[end + 1].is_punctuation or self._tag(end + 1) in WH | {"IN", "CC", "TO", "POS"}:
            return None
        if clause.kind == "be" and self._tag(clause.verb - 1) in ("WP", "WDT") and self._tag(end + 1) != "VBG":
            return None  # "What is the score": a complement as likely as a subject
        return end

    def _chain(self, j: int, kind: Kind) -> tuple[int | None, int]:
        """The last verb of a group that goes on at a token, and what follows it."""
        main = None
        allowed = {"be": ("VBG", "VBN", "VBD"), "have": ("VBN", "VBD")}.get(kind, ("VB", "VBP"))
        while True:
            k = j
            while main is not None and self._tag(k) in ADVERBS and k < j + 3:
                k += 1
            if self._tag(k) not in allowed:
                return main, j
            main, j = k, k + 1
            if self._low(k) in ("be", "been", "being"):
                allowed = ("VBG", "VBN", "VBD")
            elif self._low(k) == "have":
                allowed = ("VBN",)
            else:
                return main, j

    # How far from the main clause

    def _rank(self, clause: Clause) -> int:
        if self._is_tag(clause) or self._quotes(clause):
            return 9
        head = clause.adverbs[0] if clause.kind == "plain" and clause.adverbs else clause.verb
        rank = max([0, *(self._depth(k, head, clause) for k in range(clause.begin, head))])
        if rank == 0 and self._low(head - 1) in NOMINATIVE and head - 2 >= clause.begin and self._tag(head - 2) in NOUNS:
            return 1  # "the house he built"
        lone = clause.kind in ("do", "have") and clause.main is None and not clause.inverted
        greets = self.question and self._low(self.first) == "how" and self._low(self.first + 1) in BE
        return max(rank, 3) if lone or greets else rank

    def _depth(self, k: int, head: int, clause: Clause) -> int:
        """How far a word before the verb puts the clause from the main one."""
        low, tag = self._low(k), self._tag(k)
        if tag in WH:
            return 0 if self.question and clause.begin == self.first and self._asks(k) else 2
        if tag in ("IN", "RB") and low in _OPENERS | _PREPOSITIONS:
            comma = any(self.tokens[m].text in (",", ":", ";", "—", "–") for m in range(k + 1, head))
            return 0 if comma else 2 if low in _OPENERS else 1
        return 0

    def _asks(self, k: int) -> bool:
        """Whether a question word asks, and does not open a clause behind a noun: `the man who`."""
        start = max([self.first, *(m + 1 for m in range(self.first, k) if self.tokens[m].text == ",")])
        return all(self.tokens[m].is_punctuation or self._tag(m) in ("CC", "UH", "IN", "RB", "TO") for m in range(start, k))

    def _is_tag(self, clause: Clause) -> bool:
        """`isn't it?` behind a comma."""
        behind = clause.verb > self.first and self.tokens[clause.verb - 1].text == ","
        return behind and self.question and clause.inverted and clause.last + 2 >= self.end

    def _quotes(self, clause: Clause) -> bool:
        """`said Tom` behind what he said."""
        i = clause.verb
        if clause.kind != "plain" or i == self.first or not self.tokens[i - 1].is_punctuation or self._low(i) not in _REPORTED:
            return False
        return self._tag(i + 1) in NOUNS | {"DT", "PRP$"} or self._low(i + 1) in NOMINATIVE
