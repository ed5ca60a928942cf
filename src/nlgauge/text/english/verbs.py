"""Which words of a sentence are finite verbs, and where their subjects stand; tags are corrected by neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from nlgauge.text.doc import Doc, Span
from nlgauge.text.wordlists import WordList

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

_MODALS = frozenset(
    {"wo", "ca", "sha", "'ll", "can", "could", "will", "would", "shall", "should", "may", "might", "must"}
)
_RARE_MODALS = frozenset({"need", "dare", "ought"})
_TENSE = {"was": "VBD", "were": "VBD", "is": "VBZ", "did": "VBD", "had": "VBD", "does": "VBZ", "has": "VBZ"}
_IN_PHRASES = frozenset({"DT", "PDT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS", *NOUNS})
_PRONOUNS = frozenset(f"{some}{one}" for some in ("some", "any", "every", "no") for one in ("one", "body", "thing"))
_DETERMINERS_ALONE = frozenset("this that these those all both each some any neither either another".split())
# Words that open a subordinate clause; unless a comma parts them from the verb, as in "although tired, he ran".
OPENERS = WordList("grammar", "subordinators")
PREPOSITIONS = frozenset("after before as than like so except given provided".split())
_PARTICLES = frozenset(
    ["down", "up", "along", "past", "over", "around", "by", "off", "through", "across", "in", "on", "out"]
)
_TURNING = frozenset(
    ["never", "nor", "neither", "rarely", "seldom", "hardly", "scarcely"]
)  # before a subject behind its verb
_NO_COMMANDS = frozenset("thank thanks excuse pardon sorry please welcome hello hi congratulations bless".split())
_BEFORE_COMMANDS = WordList("grammar", "before commands")
# Said of things in pictures: behind a noun and without an object these are participles, even where past tense would do.
_PLACED = WordList("grammar", "placed")
_PLURAL = frozenset("several many multiple various numerous few these those both some all most".split())
_COLLECTIVE = WordList("grammar", "collective")
INTRANSITIVE = WordList("words", "intransitive")
_WITH_GERUND = WordList("grammar", "before gerunds")
_COVERS = frozenset("grass snow ice dust dirt mud tree sand moss".split())  # "a snow covered slope"
_WITH_BASE_VERB = frozenset("let make help see hear watch have".split())
_LONGEST_SUBJECT = 14  # tokens between an auxiliary and its verb


def is_question(doc: Doc, sentence: int) -> bool:
    """Whether a sentence ends with a question mark, quotes and brackets left out of account."""
    span = doc.sentences[sentence]
    for i in range(span.last, span.first - 1, -1):
        if not doc.tokens[i].is_punctuation:
            return False
        if "?" in doc.tokens[i].text:
            return True
    return False


class Sentence:
    """One sentence of a text; all numbers are places of tokens of the text."""

    def __init__(self, doc: Doc, span: Span) -> None:
        self.doc, self.tokens = doc, doc.tokens
        self.first, self.end = span.first, span.last + 1
        self.question = is_question(doc, doc.sentence_at[span.first])

    def low(self, i: int) -> str:
        """A token in small letters; nothing outside the sentence."""
        return self.tokens[i].lower if self.first <= i < self.end else ""

    def tag(self, i: int) -> str:
        """The tag of a token; nothing outside the sentence."""
        return self.tokens[i].tag if self.first <= i < self.end else ""

    def finite(self, i: int, begin: int, *, lenient: bool) -> tuple[Kind | None, str]:
        """The kind of a finite verb, with its tag; no kind for other words."""
        low, tag, before, after = self.low(i), self.tag(i), self.low(i - 1), self.low(i + 1)
        if low == "'s":
            if not (tag == "VBZ" or (tag == "POS" and (before in NOMINATIVE or after in BEHIND_VERBS))):
                return None, tag
            return ("have" if self.participle_after(i, ("been", "got", "had")) else "be"), "VBZ"
        if low in BE and not (low == "am" and self.tag(i - 1) == "CD"):
            return "be", _TENSE.get(low, "VBP")
        if after == "n't" and low in DO | HAVE:
            return ("do" if low in DO else "have"), _TENSE.get(low, "VBP")
        if (low in _MODALS and (tag == "MD" or after == "n't")) or (
            low in _RARE_MODALS and (tag == "MD" or after in NOT)
        ):
            noun = self.tag(i - 1) == "NN" and self.tag(i + 1) in (
                "IN",
                "CC",
                "NN",
                "NNS",
            )  # "a garbage can on a pavement"
            noun = noun or (
                low == "can"
                and before in ("trash", "garbage", "tin", "beer", "soda", "watering", "rubbish")
                and self.tag(i + 1) != "VB"
            )
            return (None, tag) if noun and low in ("can", "will", "might", "must") else ("modal", "MD")
        if low == "'d":
            had = tag == "VBD" or after == "better" or self.participle_after(i)
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
        low, tag, before = self.low(i), self.tag(i), self.low(i - 1)
        if low in ("has", "does", "had", "did") and tag in FINITE | {"VBN", "VB", "NNS", "NN"}:
            return _TENSE[low]
        if (
            tag == "VBD"
            and low in _PLACED
            and self.tag(i - 1) in NOUNS
            and self.tag(i + 1) in ("IN", "RB", "RP", "TO", "JJ", "CC", "")
        ):
            return "VBN"  # "a car parked beside a wall"
        if tag == "VBN" and (
            before in ("he", "she", "we", "they", "i") or self.low(i + 1) in ("me", "him", "us", "them")
        ):
            return "VBD"
        if tag == "VB" and before in ("i", "we", "they") and self.low(i - 2) not in _WITH_BASE_VERB:
            return "VBP"
        if (
            lenient
            and i - 1 == self.first
            and self._two_words()
            and self.tag(i - 1) in ("NNS", "VBZ")
            and tag in ("NN", "VB")
        ):
            return "VBP"
        if lenient and self.tag(i - 1) in NOUNS | {"PRP"} and self.tag(i + 1) in ("DT", "PRP$", "PRP", "CD"):
            if tag == "NNS" and low.endswith("s") and self.tag(i - 1) != "NNS":
                return "VBZ"
            if self.tag(i - 1) in ("NNS", "PRP") and (tag in ("NN", "VB") or low == "like"):
                return "VBP"
        return tag

    def _plausible(self, i: int) -> bool:
        """Whether a finite verb can stand here: not between a determiner and its noun."""
        tag, low, after = self.tag(i - 1), self.low(i - 1), self.tag(i + 1)
        if tag in ("PRP$", "POS", "TO") or (tag == "DT" and low not in _DETERMINERS_ALONE):
            return False
        if self.tag(i) == "VBD" and after in ("NN", "NNS") and (self._governs(i - 1) or self._is_modifier(i)):
            return False  # "by lit candles", "a pink stuffed bear"
        if self.tag(i) != "VBD" and (low in _PARTICLES or self._governs(i - 1)):
            return False  # "going down tracks"
        if self._disagrees(i) or (self.question and self.tag(i) == "VBP" and self.tag(i + 1) in FINITE | {"MD"}):
            return False
        if (
            low in ("many", "much")
            and self.low(i - 2) == "how"
            and self.tag(i + 1) in NOUNS
            and self.low(i) not in HAVE | DO
        ):
            return False  # "how many stop lights"
        if i == self.first:
            return self.low(i) in DO | HAVE or (
                self.tag(i) != "VBP" and not (self._two_words() and self.tag(i + 1) in ("NN", "VB"))
            )
        return True

    def _governs(self, i: int) -> bool:
        """Whether a token is a preposition that a noun must follow, and opens no clause."""
        return self.tag(i) == "IN" and self.low(i) not in OPENERS and self.low(i) not in PREPOSITIONS

    def _disagrees(self, i: int) -> bool:
        """Whether a word tagged as a verb of the present is rather a noun behind a noun.

        Examples: `a bathroom sink`, `several street signs`.
        """
        if self.tag(i) == "VBZ" and self.tag(i - 1) == "CD" and self.tag(i - 2) == "IN":
            return self.low(i - 1).isalpha() and self.low(i - 1) != "one"  # "with two sinks"
        if self.tag(i) == "VBP" and self.tag(i - 1) == "NNS":
            return self.low(i - 2) in ("a", "an")  # "in a cooks outfit"
        if self.tag(i - 1) != "NN" or self.tag(i) not in ("VBZ", "VBP"):
            return False
        k = i - 1
        while self.tag(k - 1) in ("NN", "JJ", "VBN", "VBG"):
            k -= 1
        opening = self.low(k - 1) if self.tag(k - 1) in ("CD", "DT") else self.low(k)
        if self.tag(i) == "VBZ":
            bare = self.tag(k - 1) == "IN" and self.tag(i + 1) not in ("DT", "CD", "PRP", "PRP$", "$")
            return bare or opening in _PLURAL or (self.tag(k - 1) == "CD" and opening not in ("one", "1"))
        start = next((m for m in range(k, self.first - 1, -1) if self.tokens[m].text in (",", ";", ":")), self.first)
        return not any(self._counts_many(m) for m in range(start, i))

    def _counts_many(self, m: int) -> bool:
        """Whether a word can make a subject plural; an "and" between adjectives does not."""
        if self.tag(m) == "CC":
            return not self.tag(m - 1) == self.tag(m + 1) == "JJ"
        return self.tag(m) in ("NNS", "NNPS", "CD") or self.low(m) in _COLLECTIVE or self.low(m) in _PLURAL

    def _is_modifier(self, i: int) -> bool:
        """Whether the word right before a participle makes it a modifier: `a pink stuffed`, `snow covered`."""
        if self.low(i) == "covered" and self.low(i - 1) in _COVERS:
            return True
        return (self.tag(i - 1) == "JJ" and self.low(i - 2) in ("a", "an")) or (
            self.tag(i - 1) == "CD" and self.tag(i - 2) == "IN"
        )

    def _two_words(self) -> bool:
        """Whether the sentence has only two words: "Dogs bark" is easily taken for a verb and its object."""
        return sum(not t.is_punctuation for t in self.tokens[self.first : self.end]) == 2

    def participle_after(self, i: int, forms: Iterable[str] = ()) -> bool:
        """Whether a participle, or one of these forms, follows a token and the adverbs behind it."""
        j = i + 1
        while self.tag(j) in ADVERBS or self.low(j) in NOT:
            j += 1
        return self.low(j) in forms if forms else self.tag(j) in ("VBN", "VBD")

    def _auxiliary_have(self, i: int) -> bool:
        if self.participle_after(i) or self.low(i + 1) == "better" or self._stands_alone(i):
            return True
        if not self.inversion(i) or self.tag(i - 1) in ("WP", "WDT"):
            return False
        return self._opens(i) or self.verb_after(i + 1, ("VBN", "VBD")) is not None

    def _auxiliary_do(self, i: int) -> bool:
        j = i + 1
        while self.tag(j) in ADVERBS:
            j += 1
        if self.tag(j) == "VB" or self._stands_alone(i):
            return True
        if not self.inversion(i):
            return False
        asked = next((self.low(k) for k in range(i - 1, self.first - 1, -1) if self.tag(k) in WH), "")
        if (
            self._opens(i)
            or asked in ("what", "how", "when", "where", "why")
            or self.verb_after(i + 1, ("VB", "VBP")) is not None
        ):
            return True
        end = self.subject_end(i + 1)  # "which films did Ann direct", but "who did the work"
        return (
            end is not None
            and end + 1 < self.end
            and not self.tokens[end + 1].is_punctuation
            and self.tag(end + 1) not in ("IN", "CC", "TO")
        )

    def _opens(self, i: int) -> bool:
        """Whether nothing but marks and little words stands before a token."""
        return all(
            self.tokens[k].is_punctuation or self.low(k) in _BEFORE_COMMANDS or self.tag(k) in ("CC", "UH")
            for k in range(self.first, i)
        )

    def _stands_alone(self, i: int) -> bool:
        """Whether an auxiliary answers for a verb: `Yes, I do.`"""
        j = i + 1
        while self.low(j) in NOT or self.low(j) in ("too", "so", "also"):
            j += 1
        return j >= self.end or (self.tokens[j].is_punctuation and self.tokens[j].text not in ("(", "“", "-", "‘"))

    def _commands(self, i: int, begin: int) -> bool:
        """Whether a base form opens a command."""
        low, tag = self.low(i), self.tag(i)
        if (
            begin != self.first
            or self.question
            or tag not in ("VB", "VBP")
            or low in _NO_COMMANDS
            or not self._opens(i)
        ):
            return False
        after = self.low(i + 1)
        if self.tag(i + 1) == "VBG" and low not in _WITH_GERUND:
            return False
        if low in HAVE | DO and (
            after in NOMINATIVE - {"it"} or (tag == "VBP" and after not in NOT | {"a", "the", "some", "it"})
        ):
            return False
        return self.tag(i + 1) not in FINITE | {"MD"} and after not in ("-", ":") and (after != "'s" or low == "let")

    def inversion(self, i: int) -> bool:
        """Whether no subject stands before the verb, so that it must follow: `Is he`, `where did`, `what time does`."""
        j = i + 2 if self.low(i + 1) in NOT else i + 1
        pronoun = self.is_pronoun(j)
        if pronoun and (self.low(j) not in ("it", "you") or self.low(i) in _MODALS or self.low(i - 1) in _TURNING):
            return True
        return (self.question or (pronoun and i == self.first)) and not self._has_subject(i)

    def is_pronoun(self, i: int) -> bool:
        """Whether a token is a pronoun that can be a subject; "there" may be an adverb."""
        if self.low(i) != "there":
            return self.low(i) in NOMINATIVE
        return self.tag(i) == "EX" and i + 1 < self.end and self.low(i - 2) not in NOMINATIVE

    def _has_subject(self, i: int) -> bool:
        """Whether a noun or pronoun stands before the verb as its subject, and not as part of a question phrase."""
        k = i - 1
        while self.tag(k) in ADVERBS:
            k -= 1
        if k < self.first or self.tokens[k].is_punctuation or self.tag(k) in WH | {"CC", "UH"}:
            return False
        while k >= self.first and not self.tokens[k].is_punctuation and self.tag(k) != "CC":
            if self.tag(k) in WH:
                return False
            if self.tag(k) in FINITE | {"MD"}:
                break
            k -= 1
        return True

    def verb_after(self, j: int, tags: Sequence[str]) -> int | None:
        """The verb behind a subject that begins at a token, however long; None where another clause comes first."""
        for k in range(j + 1, min(j + _LONGEST_SUBJECT, self.end)):
            if self.tag(k) in tags and self.low(k - 1) != "to" and self.low(k) not in BE:
                return k
            if (self.tokens[k].is_punctuation and self.tokens[k].text not in "-'\"“”’,") or self.tag(
                k
            ) in FINITE | WH | {"MD"}:
                return None
        return None

    def subject_end(self, j: int) -> int | None:
        """The last token of a plain noun phrase or a pronoun that begins at a token."""
        if (
            self.is_pronoun(j)
            or self.low(j) in _PRONOUNS
            or (self.low(j) in _DETERMINERS_ALONE and self.tag(j + 1) not in _IN_PHRASES)
        ):
            return j
        k, noun = j, None
        while self.tag(k) in _IN_PHRASES:
            if k > j and self.tag(k) in ("DT", "PRP$", "PDT") and self.tag(k - 1) != "PDT":
                break
            name_ends = self.tag(k) == "NN" and self.tag(k - 1) == "NNP" and self.tag(j) == "NNP"
            if noun is not None and (self.tag(k) in ("JJ", "JJR", "JJS", "CD") or name_ends):
                break
            noun = k if self.tag(k) in NOUNS else None if self.tag(k) == "POS" else noun
            k += 1
        return noun
