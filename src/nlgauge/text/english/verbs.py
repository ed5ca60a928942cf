"""Words of English grammar: short forms, phrases, finite verbs, nouns of either gender; is a text English at all?"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple

from nlgauge.text.doc import ADVERBS, COMMON, FINITE, NOUNS, TENSED, WH, Doc, Span, Token
from nlgauge.text.lexicon import inflect
from nlgauge.text.scripts import WordList, data_lines

# Auxiliaries that take n't, with the whole they make.
WITH_NOT = {
    "is": "isn't", "are": "aren't", "was": "wasn't", "were": "weren't", "do": "don't", "does": "doesn't",
    "did": "didn't", "have": "haven't", "has": "hasn't", "had": "hadn't", "can": "can't", "could": "couldn't",
    "will": "won't", "would": "wouldn't", "should": "shouldn't", "must": "mustn't", "need": "needn't",
    "shall": "shan't",
}  # fmt: skip
STEMS = {"wo": "will", "ca": "can", "sha": "shall"}  # what the tokeniser leaves of won't, can't and shan't
_CLITICS = frozenset({"n't", "'re", "'ve", "'ll", "'m", "'d"})


def contracts(doc: Doc) -> bool:
    """Whether a text has short forms of its own."""
    return any(t.lower in _CLITICS or (t.lower == "'s" and t.tag in ("VBZ", "PRP")) for t in doc.tokens)


def apostrophe(text: str) -> str:
    """The apostrophe that a text writes: ’ where it has more of these than of the plain one."""
    return "’" if text.count("’") > text.count("'") else "'"


def is_loud(text: str) -> bool:
    """Whether a text is in capitals throughout, more than one letter of it."""
    letters = [c for c in text if c.isalpha()]
    return len(letters) > 3 and all(c.isupper() for c in letters)


def be_for(subject: str, tag: str) -> str:
    """The present form of "be" that agrees with a subject, given the last word of the subject and its tag."""
    low = subject.lower()
    if low == "i":
        return "am"
    return "are" if low in ("we", "you", "they", "these", "those", "who") or tag in ("NNS", "NNPS") else "is"


# --- Whether a text is in English, as far as perturbations of English must know: by script and function words

# Frequent words of English, and of languages in Latin script that are no words of English or hardly ever.
_ENGLISH = WordList("grammar", "frequent English")
_OTHERS = WordList("grammar", "frequent foreign")
_FEW, _SHARE = 4, 0.5


def is_english(doc: Doc) -> bool:
    """False for text mostly in other scripts than Latin, or with the function words of another language.

    Short texts in Latin script pass, and those without letters: a name, a headline or a number has no function words.
    """
    latin = other = 0
    for char in doc.text:
        if char.isalpha():
            if char.isascii() or unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN")):
                latin += 1
            else:
                other += 1
    if latin < _SHARE * (latin + other):
        return False
    words = [t.lower for t in doc.tokens]
    english = sum(w in _ENGLISH for w in words)
    others = sum(w in _OTHERS and w not in _ENGLISH for w in words)
    return len(words) < _FEW or others < 2 or others <= 2 * english


# --- Simple phrases of English by tags: noun phrases with their heads, prepositional phrases

# One letter per token; phrases are regular expressions over these letters.
_CODES = {
    "DT": "D", "PRP$": "D", "PDT": "P", "JJ": "A", "JJR": "A", "JJS": "A", "VBN": "V", "VBG": "V", "CD": "C", "$": "$",
    "NN": "N", "NNS": "L", "NNP": "M", "NNPS": "M", "POS": "S", "IN": "I", "TO": "I", "CC": "K", ",": ",", "PRP": "p",
    "RB": "r",
}  # fmt: skip
_DEGREES = frozenset("very so too quite rather really most more less least extremely highly fairly pretty".split())
_OTHER, _DEGREE, _OF, _NOUN_CODES = "x", "R", "O", "NML"
_JOINING = ("-", "‑", "&")
# Runs of words that only look like phrases.
_CONJUNCTIONS = frozenset("because although though if while whereas that whether unless lest when so".split())
_ASIDES = {
    tuple(words.split())
    for words in ("of course", "for example", "for instance", "in fact", "at last", "at least", "at first")
}

# Bounds keep the work linear in the text; participles are modifiers only behind a determiner, a number or an adjective.
_ADJECTIVES = r"R?A(?>(?:[,K]?R?A){0,6})"
_MODIFIERS = rf"(?>(?:{_ADJECTIVES}|R?V|\$?C{{1,4}}+){{0,4}})"
_NOUNS = (  # a plural and a name are two phrases
    r"(?:M{1,20}(?:C(?:,C)?)?(?![NML])|(?:[NM]|L(?!M)){0,20}L(?=M)|[NML]{1,20})"
)
_PLAIN = rf"(?:P?Dr?{_MODIFIERS}|{_ADJECTIVES}{_MODIFIERS}|\$?C{{1,4}}{_MODIFIERS}|){_NOUNS}"
_OWNED = rf"{_MODIFIERS}{_NOUNS}"
_NP = rf"(?:{_PLAIN}(?:S{_OWNED}){{0,3}}|\$C{{1,4}})"
_NOUN_PHRASE = re.compile(_NP)
_PREPOSITIONAL = re.compile(rf"(?:I{{1,4}}|O)(?:{_NP}|C{{1,4}}|p)(?:O{_NP}){{0,4}}")


@dataclass(frozen=True, slots=True)
class Phrase(Span):
    """A run of tokens about one of them.

    Attributes:
        head: place of its main token: of a noun phrase the last noun, of a prepositional phrase the preposition.
    """

    head: int


def noun_phrases(doc: Doc) -> list[Phrase]:
    """Noun phrases that hold no other but as owners (`the committee's old chairman`), in order and not overlapping.

    A phrase runs from its determiner, number or adjective to its last noun; compounds joined by hyphens count as one
    word. Pronouns and numbers alone are none; sums of money are.
    """
    return list(_found(doc, _NOUN_PHRASE))


def prepositional_phrases(doc: Doc) -> list[Phrase]:
    """A preposition with the noun phrase, number or pronoun behind it and whatever hangs on that by `of`, in order."""
    return [Phrase(p.first, p.last, p.start, p.end, p.first) for p in _found(doc, _PREPOSITIONAL)]


def _found(doc: Doc, pattern: re.Pattern[str]) -> Iterator[Phrase]:
    for sentence in doc.sentences:
        tokens = doc.tokens[sentence.first : sentence.last + 1]
        codes = _codes(doc, tokens)
        for match in pattern.finditer(codes):
            first, last = sentence.first + match.start(), sentence.first + match.end() - 1
            nouns = [i for i in range(match.start(), match.end()) if codes[i] in _NOUN_CODES]
            span = doc.span(first, last)
            yield Phrase(first, last, span.start, span.end, sentence.first + nouns[-1] if nouns else last)


def _codes(doc: Doc, tokens: tuple[Token, ...]) -> str:
    codes = [_code(t) for t in tokens]
    at = 0
    while at < len(tokens):  # the parts of a compound all count as its last: well-known, co-worker
        end = at
        while end + 2 < len(tokens) and tokens[end + 1].text in _JOINING:
            if not all(doc.touches(t.index) for t in tokens[end + 1 : end + 3]):
                break
            end += 2
        if end > at:
            kind = codes[end] if codes[end] in _NOUN_CODES else "A" if codes[end] in "AVC" else _OTHER
            codes[at : end + 1] = [kind] * (end + 1 - at)
        elif tokens[at].text == "&" and 0 < at < len(tokens) - 1 and codes[at - 1] == _code(tokens[at + 1]) == "M":
            codes[at] = "M"
        at = end + 1
    lower, prepositions = [t.lower for t in tokens], _prepositions()
    for i, word in enumerate(codes):
        if word in "IO" and tuple(lower[i : i + 2]) in _ASIDES:
            codes[i : i + 2] = [_OTHER] * 2
        for words in prepositions.get(lower[i], ()):
            if lower[i : i + len(words)] == words:
                codes[i : i + len(words)] = ["I"] * len(words)
    return "".join(codes)


def _code(token: Token) -> str:
    if token.lower == "of":
        return _OF
    if token.lower in _CONJUNCTIONS:
        return _OTHER
    if token.lower in _DEGREES:
        return _DEGREE
    return _CODES.get(token.tag, _OTHER)


@cache
def _prepositions() -> Mapping[str, Sequence[list[str]]]:
    """Prepositions of several words, by their first word."""
    by_first: dict[str, list[list[str]]] = {}
    for words in map(str.split, data_lines("prepositions.txt")):
        by_first.setdefault(words[0], []).append(words)
    return by_first


# --- Which words of a sentence are finite verbs, and where their subjects stand; tags are corrected by neighbours

Kind = Literal["be", "have", "do", "modal", "plain", "imperative"]

BE = frozenset({"am", "is", "are", "was", "were", "'m", "'re", "ai"})
HAVE = frozenset({"have", "has", "had", "'ve"})
DO = frozenset({"do", "does", "did"})
NOT = frozenset({"not", "n't"})
NOMINATIVE = frozenset({"i", "he", "she", "we", "they", "you", "it", "there"})
BEHIND_VERBS = frozenset({"a", "an", "the", "not", "been"})  # never behind the 's of a possessive

MODALS = frozenset("wo ca sha 'll can could will would shall should may might must".split())
_RARE_MODALS = frozenset({"need", "dare", "ought"})
_TENSE = {"was": "VBD", "were": "VBD", "is": "VBZ", "did": "VBD", "had": "VBD", "does": "VBZ", "has": "VBZ"}
_IN_PHRASES = frozenset({"DT", "PDT", "PRP$", "CD", "JJ", "JJR", "JJS", "POS", *NOUNS})
_PRONOUNS = frozenset(f"{some}{one}" for some in ("some", "any", "every", "no") for one in ("one", "body", "thing"))
_DETERMINERS_ALONE = frozenset("this that these those all both each some any neither either another".split())
# Words that open a subordinate clause; unless a comma parts them from the verb, as in "although tired, he ran".
OPENERS = WordList("grammar", "subordinators")
PREPOSITIONS = frozenset("after before as than like so except given provided".split())
_PARTICLES = frozenset("down up along past over around by off through across in on out".split())
_TURNING = frozenset("never nor neither rarely seldom hardly scarcely".split())  # before a subject behind its verb
_NO_COMMANDS = frozenset("thank thanks excuse pardon sorry please welcome hello hi congratulations bless".split())
_BEFORE_COMMANDS = WordList("grammar", "before commands")
# Said of things in pictures: behind a noun and without an object these are participles, even where past tense would do.
_PLACED = WordList("grammar", "placed")
_PLURAL = frozenset("several many multiple various numerous few these those both some all most".split())
_COLLECTIVE = WordList("grammar", "collective")
INTRANSITIVE = WordList("words", "intransitive")
_WITH_GERUND = WordList("grammar", "before gerunds")
_OF_CANS = frozenset("trash garbage tin beer soda watering rubbish".split())
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
        if low in MODALS | _RARE_MODALS and (tag == "MD" or after == "n't" or (low in _RARE_MODALS and after == "not")):
            # "a garbage can on a pavement"
            noun = self.tag(i - 1) == "NN" and self.tag(i + 1) in ("IN", "CC", "NN", "NNS")
            noun = noun or (low == "can" and before in _OF_CANS and self.tag(i + 1) != "VB")
            return (None, tag) if noun and low in ("can", "will", "might", "must") else ("modal", "MD")
        if low == "'d":
            had = tag == "VBD" or after == "better" or self.participle_after(i)
            return ("have" if had else "modal"), "VBD" if had else "MD"
        if tag in ("TO", "RP") or before == "to" or after in ("na", "ta"):
            return None, tag
        if self._commands(i, begin):
            return ("do" if low == "do" and after in NOT else "imperative"), "VB"
        tag = self._mended(i, lenient=lenient)
        if tag not in TENSED or not self._plausible(i):
            return None, tag
        if low in HAVE:
            return ("have" if self._auxiliary_have(i) else "plain"), tag
        if low in DO:
            return ("do" if self._auxiliary_do(i) else "plain"), tag
        return "plain", tag

    def _mended(self, i: int, *, lenient: bool) -> str:
        """The tag of a token, set right where its neighbours speak against it."""
        low, tag, before = self.low(i), self.tag(i), self.low(i - 1)
        if low in ("has", "does", "had", "did") and tag in TENSED | {"VBN", "VB", "NNS", "NN"}:
            return _TENSE[low]
        intransitive = self.tag(i + 1) in ("IN", "RB", "RP", "TO", "JJ", "CC", "")
        if tag == "VBD" and low in _PLACED and self.tag(i - 1) in NOUNS and intransitive:
            return "VBN"  # "a car parked beside a wall"
        beside = before in ("he", "she", "we", "they", "i") or self.low(i + 1) in ("me", "him", "us", "them")
        if tag == "VBN" and beside:
            return "VBD"
        if tag == "VB" and before in ("i", "we", "they") and self.low(i - 2) not in _WITH_BASE_VERB:
            return "VBP"
        many = i - 1 == self.first and self.tag(i - 1) in ("NNS", "VBZ")
        if lenient and many and tag in ("NN", "VB") and self._two_words():
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
        if self.tag(i) == "VBD" and after in COMMON and (self._governs(i - 1) or self._is_modifier(i)):
            return False  # "by lit candles", "a pink stuffed bear"
        if self.tag(i) != "VBD" and (low in _PARTICLES or self._governs(i - 1)):
            return False  # "going down tracks"
        if self._disagrees(i) or (self.question and self.tag(i) == "VBP" and self.tag(i + 1) in FINITE):
            return False
        counted = low in ("many", "much") and self.low(i - 2) == "how" and self.tag(i + 1) in NOUNS
        if self.low(i) in HAVE | DO:
            return True
        if counted:
            return False  # "how many stop lights"
        short = self.tag(i + 1) in ("NN", "VB") and self._two_words()
        return i > self.first or (self.tag(i) != "VBP" and not short)

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
        if self.tag(i - 1) == "CD":
            return self.tag(i - 2) == "IN"
        return self.tag(i - 1) == "JJ" and self.low(i - 2) in ("a", "an")

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
        if asked in ("what", "how", "when", "where", "why") or self._opens(i):
            return True
        if self.verb_after(i + 1, ("VB", "VBP")) is not None:
            return True
        end = self.subject_end(i + 1)  # "which films did Ann direct", but "who did the work"
        if end is None or end + 1 >= self.end or self.tokens[end + 1].is_punctuation:
            return False
        return self.tag(end + 1) not in ("IN", "CC", "TO")

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
        if begin != self.first or self.question or tag not in ("VB", "VBP"):
            return False
        if low in _NO_COMMANDS or not self._opens(i):
            return False
        after = self.low(i + 1)
        if self.tag(i + 1) == "VBG" and low not in _WITH_GERUND:
            return False
        subject = after in NOMINATIVE - {"it"} or (tag == "VBP" and after not in NOT | {"a", "the", "some", "it"})
        if low in HAVE | DO and subject:
            return False
        return self.tag(i + 1) not in FINITE and after not in ("-", ":") and (after != "'s" or low == "let")

    def inversion(self, i: int) -> bool:
        """Whether no subject stands before the verb, so that it must follow: `Is he`, `where did`, `what time does`."""
        j = i + 2 if self.low(i + 1) in NOT else i + 1
        pronoun = self.is_pronoun(j)
        if pronoun and (self.low(j) not in ("it", "you") or self.low(i) in MODALS or self.low(i - 1) in _TURNING):
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
            if self.tag(k) in FINITE:
                break
            k -= 1
        return True

    def verb_after(self, j: int, tags: Sequence[str]) -> int | None:
        """The verb behind a subject that begins at a token, however long; None where another clause comes first."""
        for k in range(j + 1, min(j + _LONGEST_SUBJECT, self.end)):
            if self.tag(k) in tags and self.low(k - 1) != "to" and self.low(k) not in BE:
                return k
            if (self.tokens[k].is_punctuation and self.tokens[k].text not in "-'\"“”’,") or self.tag(k) in FINITE | WH:
                return None
        return None

    def subject_end(self, j: int) -> int | None:
        """The last token of a plain noun phrase or a pronoun that begins at a token."""
        alone = self.low(j) in _DETERMINERS_ALONE and self.tag(j + 1) not in _IN_PHRASES
        if alone or self.low(j) in _PRONOUNS or self.is_pronoun(j):
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


# --- Nouns of one gender and their counterparts, in the number and case of the text; he and she alike

TITLES = frozenset({"mr", "mrs", "ms", "miss", "mr.", "mrs.", "ms."})
ADDRESS = WordList("grammar", "address")
_GENDER_PRONOUNS = {"he": "she", "she": "he", "him": "her", "himself": "herself", "herself": "himself", "hers": "his"}


class Counterpart(NamedTuple):
    """The noun of the other gender.

    Attributes:
        word: in the same number.
        was: the gender of the noun that it replaces.
        plural: the number of both.
        field: person or animal.
    """

    word: str
    was: Literal["f", "m"]
    plural: bool
    field: str


def counterpart(word: str) -> Counterpart | None:
    """The noun of the other gender for a noun in small letters, singular or plural; None where it has none."""
    return _table().get(word)


def pronoun_of_other_gender(doc: Doc, token: Token) -> str | None:
    """she for he, and so on; None for any other word. `his` and `her` go by whether a noun follows them."""
    if token.lower == "his":
        return "her" if _owns(doc, token) else "hers"
    if token.lower == "her":
        return "his" if _owns(doc, token) else "him"
    return _GENDER_PRONOUNS.get(token.lower)


def possessive_mark(word: str, plural: bool, mark: str) -> str:
    """The mark of a noun in the genitive, in the apostrophe of the mark that stood there."""
    return mark[0] if plural and word.endswith("s") else f"{mark[0]}s"


def _owns(doc: Doc, token: Token) -> bool:
    """Whether what is owned stands behind the pronoun.

    The tag decides, and where it does not, the word behind.
    """
    if token.tag in ("PRP", "PRP$"):
        return token.tag == "PRP$"
    return doc.tag(token.index + 1)[:2] in ("NN", "JJ", "CD")


@cache
def _table() -> Mapping[str, Counterpart]:
    table: dict[str, Counterpart] = {}
    for line in data_lines("gender.tsv"):
        female, male, way, field = line.split("\t")
        for one, other, was, closed in ((female, male, "f", "<"), (male, female, "m", ">")):
            if way != closed:
                table.setdefault(one, Counterpart(other, was, False, field))  # type: ignore[arg-type]
                many, others = inflect(one, "NNS"), inflect(other, "NNS")
                if many and others and not one.endswith("."):
                    table.setdefault(many, Counterpart(others, was, True, field))  # type: ignore[arg-type]
    return table
