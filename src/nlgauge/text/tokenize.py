"""Texts split, with offsets: words as metrics count them, tokens of English, sentences, units; shares of words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

from nlgauge.text.scripts import WordList

TokenizerName = Literal["rouge", "unicode", "blanks"]

# A blank for every byte that is no part of an ASCII word, a small letter for a capital.
BLANK_BUT_WORDS = bytes(ord(chr(b).lower()) if b < 0x80 and chr(b).isalnum() else 0x20 for b in range(256))

# Letters of scripts written without blanks between words: ideographs with their iteration marks, kana, bopomofo.
_SINGLE = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_LEADING = "\u0e40-\u0e44\u0ec0-\u0ec4"  # Thai and Lao vowels written before the consonant they follow in speech
_TRAILING = "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3"  # and those written after it without being marks
# Consonants and independent vowels of Thai, Lao, Burmese and Khmer.
_CLUSTERED = (
    "\u0e01-\u0e2f\u0e46\u0e81-\u0eaf\u0ebd\u0ec6\u0edc-\u0edf\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u17d7\u17dc"
)
_STACKERS = "\u1039\u17d2"  # Burmese and Khmer signs that write the next consonant below this one
# For a character class: letters of scripts that put no blank between words.
NO_BLANKS = _SINGLE + _LEADING + _TRAILING + _CLUSTERED

_PLANES_WITH_MARKS = range(0x20000)
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_ZERO_WIDTH_SPACE = "\u200b"


def rouge_words(text: str) -> list[str]:
    """Runs of a-z and 0-9 in the lower-cased text, as in rouge-score. A text in another script has no words."""
    # Six times as fast as a regular expression; what ASCII lacks is encoded as "?", and so becomes a blank too.
    return text.lower().encode("ascii", "replace").translate(BLANK_BUT_WORDS).decode("ascii").split()


def unicode_words(text: str) -> list[str]:
    """The words of a text in any script, with compatibility forms and case folded.

    A word is a run of letters, marks and digits that starts with a letter or digit. Scripts without blanks between
    words are split further: each Han character, kana and bopomofo letter is a token, and Thai, Lao, Burmese and Khmer
    are split into clusters of a consonant with the vowels and marks around it. Hangul is split at blanks. Punctuation,
    symbols and emoji are not tokens. Invisible format characters (joiners, soft hyphens, variation selectors) are
    dropped, except for the zero-width space, which separates words. The version of Unicode is that of the running
    Python and stands in the signature of metrics with `tokenizer=unicode`.

    References:
        Unicode Standard Annex 15 (NFKC) and chapter 3.13 (case folding), as the running Python's `unicodedata` has
        them.
    """
    if not text.isascii():  # before normalisation: a joiner between a letter and its mark keeps them apart
        text = _VARIATION.sub("", text.replace(_ZERO_WIDTH_SPACE, " "))
        text = "".join([c for c in text if c.isalnum() or unicodedata.category(c) != "Cf"])
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return _unicode_pattern().findall(text)


def letter_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of the words of `unicode_words` in the original text, in which nothing is folded or dropped."""
    return [match.span() for match in _unicode_pattern().finditer(text)]


def blank_words(text: str) -> list[str]:
    """The text split at blanks and otherwise unchanged, for texts that are already tokenised."""
    return text.split()


TOKENIZERS: dict[TokenizerName, Callable[[str], list[str]]] = {
    "rouge": rouge_words,
    "unicode": unicode_words,
    "blanks": blank_words,
}


@cache
def _unicode_pattern() -> re.Pattern[str]:
    marks = _marks()
    letter = rf"[^\W_{_SINGLE}{_CLUSTERED}{_LEADING}{_TRAILING}]"
    stacked = rf"(?:[{_STACKERS}][{_CLUSTERED}])"
    cluster = rf"[{_LEADING}]*[{_CLUSTERED}](?:{stacked}|[{marks}{_TRAILING}])*|[{_LEADING}{_TRAILING}][{marks}]*"
    return re.compile(rf"{letter}(?:{letter}|[{marks}])*|[{_SINGLE}][{marks}]*|{cluster}")


def _marks() -> str:
    """All combining marks as ranges of a character class; `re` has no name for them."""
    ranges: list[list[int]] = []
    for code in _PLANES_WITH_MARKS:
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


# --- A rule-based tokeniser of English that keeps offsets and follows the English treebanks

_CLITIC = r"['’](?:s|m|d|ll|re|ve)"
# Signs above, below and inside letters, which Python's \w leaves out; without them many scripts would fall to pieces.
_SIGNS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0971-\u0dff"
    r"\u0e31-\u0e4e\u0eb1-\u0ece\u0f71-\u0fbc\u102b-\u103e\u1056-\u109d\u17b4-\u17d3"
    r"\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff"
)
_W = rf"[\w{_SIGNS}]"
# Short forms that keep their period: wherever they stand; before a capital or a number; before a number alone, being
# words as well.
_ALWAYS = "mr|mrs|ms|dr|prof|sr|jr|messrs|mme|mlle|etc|vs|viz|cf|inc|corp|ltd|llc|bros|dept|assn|approx|blvd|govt|attn"
_TITLES = (
    "st|mt|ft|rev|hon|gen|col|maj|capt|cpt|lt|sgt|cmdr|adm|gov|sen|sens|rep|reps|pres|supt|co|"
    "ave|jan|feb|aug|sept|oct|nov|dec"
)
_NUMBERED = (
    "no|nos|nr|vol|pp|p|fig|figs|eq|sec|ch|art|ext|tel|par|para|mar|apr|jun|jul|sep|mon|tue|"
    "tues|wed|thu|thur|thurs|fri|sat|sun"
)
_PREFIXES = (
    "e|non|mid|pre|anti|re|post|co|pro|multi|ex|semi|neo|psycho|socio|micro|inter|intra|ultra|quasi|pseudo|bi|un"
)
_UNITS = (
    "am|pm|k|m|mm|bn|tn|kg|g|mg|lb|lbs|oz|km|cm|mi|ft|in|ml|l|mb|gb|tb|kb|hz|khz|mhz|ghz|w|kw|"
    "mw|mph|kph|hrs|hr|min|sec|px"
)
_DOMAINS = "com|org|net|edu|gov|co|info|io|uk|de|fr|ca|au|eu"

# Repeats that could start anywhere are bounded, so that the work stays linear in the text.
_ADDRESS = rf"""
          (?:(?:https?|ftp)://|www\.)[^\s<>"“”]*[^\s<>"“”.,;:!?'’)\]}}»]
        | [\w.+-]{{1,64}}@(?:[\w-]{{1,63}}\.){{1,8}}\w{{2,63}}
        | (?:[a-zA-Z0-9][a-zA-Z0-9-]{{0,62}}\.){{1,4}}(?i:{_DOMAINS})(?![\w@]|\.\w)
          (?:/[^\s<>"“”]*[^\s<>"“”.,;:!?'’)\]}}»])?
"""
ADDRESS = re.compile(rf"(?<!\w)(?:{_ADDRESS})", re.VERBOSE)  # of the web, or of mail
_TOKEN = re.compile(
    rf"""
      (?:(?<!\w)(?:
          {_ADDRESS}
        | @\w+ | \#[^\W\d_]\w*
        | [:;=]-?[)(DP](?!\S)
      ))
    | (?<!\w)(?:
          (?:\+?\d-)?\d{{3}}-\d{{3}}-\d{{4}}(?!\w) | \d{{3}}-\d{{4}}(?!\w)
          | \d{{1,2}}-\d{{1,2}}-\d{{2,4}}(?!\w) | \d{{4}}-\d\d-\d\d(?!\w)
        | \.?\d++(?>(?:[.,:/]\d++){{0,20}})(?:(?:st|nd|rd|th|s|(?<=0)['’]s)?(?!{_W}) | (?=(?i:{_UNITS})(?!{_W})))
        | ['’]\d\ds?(?!{_W})
      )
    | (?<!\w)(?:
          (?:[^\W\d_]\.){{2,40}}(?:[^\W\d_](?!{_W}))?(?!{_W}) | [^\W\d_]\.[^\W\d_](?![\w.]) | [A-Z]\.(?=\s+[^\W\d_]|-)
        | (?i:{_ALWAYS})\. | (?i:ph\.d\.?)(?!\w) | (?i:al)(?<=\bet\sal)\.
        | (?i:{_TITLES})\.(?=\s*[A-Z0-9]) | (?i:{_NUMBERED})\.(?=\s*\d)
        | (?i:US|[CARS]|HK|NZ)\$ | (?i:{_PREFIXES})-\w+ | [A-Z]{{1,3}}&[A-Z]{{1,3}}(?!\w)
        | w/o?(?!\w) | (?i:o['’]clock|ma['’]am)(?!\w)
        | ['’](?i:em|cause|til|tis|twas|n)(?!\w)
      )
    | (?P<word>{_W}+(?>(?:['’]{_W}+)*))
    | (?i:{_CLITIC}(?![\w'’]) | (?<=\s)n['’]t(?!\w))
    | [.…]+ | -{{2,}} | —+ | –+ | [!?]+ | \*+ | =+ | \++ | ~+ | \#{{2,}} | <{{2,}} | >{{2,}} | \$+ | `` | ''
    | \S
    """,
    re.VERBOSE,
)
# What ends a word and is a word of its own; a second one may stand before it (should|n't|'ve).
_ENDING = re.compile(rf"(?i:(?<=\w)n['’]t|{_CLITIC})$")
# Two words in one, by the length of the first.
_FUSED = {"cannot": 3, "gonna": 3, "wanna": 3, "gotta": 3, "gimme": 3, "lemme": 3, "dunno": 2, "'tis": 2, "'twas": 2}


def word_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each token, in order and without overlap. Each character but blanks lies in exactly one token.

    Words are split as in the English treebanks. Clitics are separate tokens with either apostrophe (do|n't, he|'s,
    dogs|'), and "cannot" is split (can|not). Punctuation, currency signs, percent signs and hyphens are separate tokens
    (well|-|known), except for a hyphen after a prefix (e-mail, non-profit). These are not split: numbers with points,
    commas, colons or slashes inside (1,500, 10:30, 1/2), abbreviations and initials with their period (U.S., Mr., J.),
    addresses, ellipses and runs of marks (!!). Text that is already split (do n't) gives the same tokens.
    """
    spans = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if match.lastgroup:
            token = match[0]
            cut = _FUSED.get(token.lower())
            if cut is not None:
                spans.append((start, start + cut))
                start += cut
            elif not token.isalpha():
                ends = []
                while ending := _ENDING.search(text, max(start, end - 3), end):
                    if ending.start() == start:
                        break
                    ends.append((ending.start(), end))
                    end = ending.start()
                spans.append((start, end))
                spans.extend(reversed(ends))
                continue
        spans.append((start, end))
    return spans


# --- A small rule-based sentence splitter for any text with punctuation

# Full stops of scripts without capitals, which end a sentence whatever follows: Chinese and Japanese, Devanagari,
# Ethiopic, Arabic, Urdu, Khmer, Burmese.
_FULL_STOPS = "\u3002\uff01\uff1f\uff61\u0964\u0965\u1362\u061f\u06d4\u17d4\u17d5\u104b"
_CLOSERS = "\"'”’»)\\]}」』）】〉》"
_OPENERS = "\"'“‘«([{「『（【〈《¿¡"
_MARK = re.compile(rf"\n|[{_FULL_STOPS}]+[{_CLOSERS}]*|(?<![.!?…])(?P<western>[.!?…]++)[{_CLOSERS}]*+(?=\s)")
_LAST_WORD = re.compile(r"[^\s" + re.escape(_OPENERS) + r"]*$")
_FIRST_WORD = re.compile(rf"(?:[^\S\n]|[{re.escape(_OPENERS)}])*([\w'’]*)")  # of the same line
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")

# Words whose period belongs to them: before anything, and before a number.
_UNENDING = WordList("sentences", "never at an end")
_SENTENCES_NUMBERED = WordList("sentences", "before numbers")
# Words that begin sentences and hardly names: what makes "U.S. The" two sentences and "U.S. Army" none.
_STARTERS = WordList("sentences", "starting sentences")

_LONGEST = 24  # characters looked back for one of these; a bound keeps the work linear in the text


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, without the blanks around it, in order and without overlap. None is empty.

    A line feed ends a sentence. The full stops of scripts without capitals do so too, together with closing quotes and
    brackets after them. A period, question mark, exclamation mark or ellipsis ends a sentence before a blank, unless
    the next word begins in lower case. A single period does not end a sentence after a title (Dr.), after an initial or
    an abbreviation in capitals (J. Smith, U.S. Army), or after an abbreviation before its number (No. 5). So few rules
    are sometimes wrong. If this matters, put each sentence on its own line.
    """
    spans = []
    start = 0
    for mark in _MARK.finditer(text):
        if mark["western"] is None or _ends(text, start, mark):
            spans.append(_trim(text, start, mark.end()))
            start = mark.end()
    spans.append(_trim(text, start, len(text)))
    return [(start, end) for start, end in spans if start < end]


def split_sentences(text: str) -> list[str]:
    """The sentences of a text."""
    return [text[start:end] for start, end in sentence_spans(text)]


def _ends(text: str, start: int, mark: re.Match[str]) -> bool:
    """Whether a sentence that began at `start` ends with this Western mark."""
    following = _FIRST_WORD.match(text, mark.end())
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    if mark["western"] != ".":
        return True
    match = _LAST_WORD.search(text, max(start, mark.start() - _LONGEST), mark.start())
    last = match[0] if match else ""
    if last.lower() in _UNENDING or (last.lower() in _SENTENCES_NUMBERED and word[:1].isdigit()):
        return False
    initials = _INITIALS.fullmatch(last) is not None and last[-1].isupper() and last != "I"
    return not (initials and word[:1].isupper() and word not in _STARTERS)


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return start, end


# --- The units that a writer moves, in any script: words with clitics and hyphens, and single marks, with offsets

_JOINS = frozenset("-‑/'’&@_+·\u00ad")  # between letters or digits, without blanks, these part no word
_BEFORE, _BEHIND = frozenset("$€£¥₹#@"), frozenset("%‰°")  # signs that belong to the number they touch
_UNSPACED = re.compile(f"[{NO_BLANKS}]")
_UNITS_SIGNS = frozenset({"Mn", "Me", "Mc", "Cf"})  # the last: joiners, marks of direction, soft hyphens
_TONES = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_JOINER = "\u200d"
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff]+")  # what it writes is borrowed, and a word from end to end


def unit_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each unit, in order. Every character that is not a blank lies in exactly one unit.

    A unit is a word between blanks without the marks around it ("isn't", "well-known", "U.S.", "$5"), or a mark. A run
    of equal marks is one unit. Text in scripts without blanks between words is split as far as possible without a
    dictionary: each Han character, each kana (but a run of katakana is one unit), and each cluster of Thai, Lao,
    Burmese and Khmer is a unit. An emoji is one unit with its joiners, skin tones and signs, and so is a flag with its
    two letters. Invisible characters belong to the unit that they touch.
    """
    spans: list[tuple[int, int]] = []
    tokens = word_spans(text)
    place = 0
    while place < len(tokens):
        start, end = tokens[place]
        place += 1
        if _spelt(text[start:end]) or text[start:end] in _BEFORE:
            while place < len(tokens) and tokens[place][0] == end:
                goes_on = _goes_on(text, start, end, tokens, place)
                if not goes_on:
                    break
                place += goes_on
                end = tokens[place - 1][1]
        unspaced = not text.isascii() and _UNSPACED.search(text, start, end)
        spans += _cut(text, start, end) if unspaced else [(start, end)]
    return spans if text.isascii() else _whole(text, spans)


def writes_no_blanks(char: str) -> bool:
    """Whether a character is a letter of a script without blanks between words."""
    return not char.isascii() and _UNSPACED.match(char) is not None


def _goes_on(text: str, start: int, end: int, tokens: list[tuple[int, int]], place: int) -> int:
    """How many of the tokens from `place` on, which touches what ends before it, belong to the same unit; 0, 1 or 2."""
    token = text[slice(*tokens[place])]
    if _spelt(token):
        return 1
    if token in _BEHIND and text[end - 1].isdigit():
        return 1
    if token not in _JOINS or place + 1 == len(tokens) or tokens[place + 1][0] != tokens[place][1]:
        return 0
    return 2 if _spelt(text[start:end]) and _spelt(text[slice(*tokens[place + 1])]) else 0


def _spelt(token: str) -> bool:
    return any(c.isalnum() for c in token)


def _whole(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Units with the signs, joiners and unseen characters that touch them."""
    whole: list[tuple[int, int]] = []
    for start, end in spans:
        if whole and whole[-1][1] == start and _clings(text[whole[-1][0] : start], text[start]):
            whole[-1] = (whole[-1][0], end)
        else:
            whole.append((start, end))
    return whole


def _clings(before: str, char: str) -> bool:
    """Whether a character belongs to the unit that it touches."""
    category = unicodedata.category(char)
    if category in _UNITS_SIGNS or char in _TONES or all(unicodedata.category(c) == "Cf" for c in before):
        return True
    flag = before in _FLAG_LETTERS and char in _FLAG_LETTERS
    return flag or (before[-1] == _JOINER and category == "So")


def _cut(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Cut a run of letters at script boundaries and between letters that stand alone.

    Characters that are no letters stay with the character before them.
    """
    pieces: list[tuple[int, int]] = []
    for first, last in letter_spans(text[start:end]):
        piece = (start + first, start + last)
        both_katakana = pieces and _KATAKANA.fullmatch(text, *piece) and _KATAKANA.fullmatch(text, *pieces[-1])
        if both_katakana or (pieces and not _UNSPACED.search(text, pieces[-1][0], piece[1])):
            pieces[-1] = (pieces[-1][0], piece[1])
        else:
            pieces.append(piece)
    edges = [start, *(first for first, _ in pieces[1:]), end]  # signs between two pieces go to the first
    return list(pairwise(edges))


# --- How much of a word stands in some other word, for many words at once


def best_shares(words: Sequence[str], others: Iterable[str]) -> list[float]:
    """For each word the greatest share of characters that it has in common with one of the others, 0 to 1.

    The share of two words of a and b characters, whose longest common substring has c, is 2 c / (a + b). No word is
    empty. Time grows with the characters of both sides together, even of hostile words.
    """
    known = set(others)
    automaton = None if known.issuperset(words) else _Automaton(sorted(known))
    found: dict[str, float] = {}
    for word in words:
        if word not in found:
            found[word] = 1.0 if automaton is None or word in known else automaton.best_share(word)
    return [found[word] for word in words]


class _Automaton:
    """All substrings of some words. A state stands for substrings with the same continuations, the longest of a length.

    References:
        Blumer et al. (1985), "The smallest automaton recognizing the subwords of a text".
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._length, self._link = [0], [-1]  # the link leads to the longest end that another state stands for
        for word in words:
            state = 0
            for char in word:
                state = self._add(state, char)
        self._shortest = [max(map(len, words), default=0)] * len(self._next)  # word that a state's substrings are in
        for word in words:
            state = 0
            for char in word:
                state = self._next[state][char]
                self._shortest[state] = min(self._shortest[state], len(word))
        by_length = sorted(range(1, len(self._next)), key=self._length.__getitem__)
        for state in reversed(by_length):
            link = self._link[state]
            self._shortest[link] = min(self._shortest[link], self._shortest[state])
        self._shorter = [0] * len(self._next)  # the longest end of which a shorter word has more than of the state
        for state in by_length:
            link = self._link[state]
            is_shorter = self._shortest[link] < self._shortest[state]
            self._shorter[state] = link if is_shorter else self._shorter[link]

    def best_share(self, word: str) -> float:
        """The greatest share of a word with one of those added."""
        state = length = 0
        best = 0.0
        for char in word:
            while state and char not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            state = self._next[state].get(char, 0)
            length = length + 1 if state else 0
            end, common = state, length
            while common and 2 * common / (len(word) + common) > best:  # as of a word that is all common
                best = max(best, 2 * common / (len(word) + self._shortest[end]))
                end = self._shorter[end]
                common = self._length[end]
        return best

    def _add(self, last: int, char: str) -> int:
        """The state of what `last` stands for and a character behind it."""
        if char in self._next[last]:
            return self._split(last, char)
        state = self._new({}, self._length[last] + 1, 0)
        while last >= 0 and char not in self._next[last]:
            self._next[last][char] = state
            last = self._link[last]
        if last >= 0:
            self._link[state] = self._split(last, char)
        return state

    def _split(self, before: int, char: str) -> int:
        """The state behind another, which may stand for longer substrings: then one of its own for the shorter."""
        behind = self._next[before][char]
        if self._length[behind] == self._length[before] + 1:
            return behind
        copy = self._new(self._next[behind].copy(), self._length[before] + 1, self._link[behind])
        self._link[behind] = copy
        while before >= 0 and self._next[before].get(char) == behind:
            self._next[before][char] = copy
            before = self._link[before]
        return copy

    def _new(self, following: dict[str, int], length: int, link: int) -> int:
        self._next.append(following)
        self._length.append(length)
        self._link.append(link)
        return len(self._next) - 1
