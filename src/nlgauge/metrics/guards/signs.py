"""Did a step before scoring go wrong? Marks that it leaves in texts: of subwords, of entities, of a wrong decoding."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from unicodedata import is_normalized, normalize

from nlgauge.core.scores import FIRST, Note
from nlgauge.core.segment import Segment

FORMS = "forms"
OBJECTS = "objects"  # in hypotheses or references alone: where both have them they may be what is asked for
MEANINGS: Mapping[str, str] = {
    FORMS: "letters with separate accents (NFD) beside texts whose letters hold them (NFC), which match nowhere",
    "subwords": "marks of subwords, such as '@@', '\u2581' or '##'; join the pieces first",
    "tokens": "special tokens of a model, such as '</s>', '<unk>' or '<|im_end|>'",
    "thoughts": "a <think> block of a model",
    "entities": "entities of HTML, such as '&apos;' or '&#39;'; undo them first",
    "undecoded": "U+FFFD, which stands for bytes that could not be decoded",
    "misread": "UTF-8 that was read as Latin-1, such as '\u00c3\u00a9' or '\u00e2\u20ac\u2122'",
    "unseen": "marks without width, such as U+200B or a soft hyphen, which part words for most metrics",
    OBJECTS: "objects of JSON, as lines of a table; give the table as DATA, without --hyp and --ref",
    "printed": "a string as Python or JSON prints it, such as b'...' or '\\u00e9'",
}

_ACCENTS = "\u0300-\u036f\u3099\u309a\u1161-\u11c2"  # that stand apart in NFD: of alphabets, kana and Hangul
_UNSEEN = "\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_NO_BLANKS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese and Khmer put U+200B between words
_TURNS = "\u200e\u200f\u202a-\u202e\u2066-\u2069"  # they belong beside letters that are written from right to left
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# What Latin-1 or Windows-1252 make of the second byte of UTF-8 and of those after it.
_LATER = "\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201a\u201c-\u201e"
_LATER += "\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122"
# Most texts beyond ASCII have nothing of this; one class comes first, which is found fast.
_ODD = f"\u0120\u2581\ufffd{_UNSEEN}{_ACCENTS}"
_LEADS = "\u00c2\u00c3\u00d0\u00d1\u00e2"
_MAY_BE_ODD = re.compile(f"[{_ODD}{_LEADS}{_LATER}](?:(?<=[{_ODD}])|(?<=[{_LEADS}{_LATER}])[{_LATER}])")
_SIDES = ("hypothesis", "reference", "source")
_Rule = tuple[str, str, re.Pattern[str]]  # name, what must stand in the text, and what it must look like
_ASCII: tuple[_Rule, ...] = (
    ("subwords", "@", re.compile(r"\S@@(?:\s|$)|(?:^|\s)@@\S|\s@[-/.,]@\s")),
    ("subwords", " ##", re.compile(r"\w ##[^\W\d_A-Z]")),
    (
        "tokens",
        "<",
        re.compile(r"(?i)</?s>|<(?:unk|pad|bos|eos|mask|sep|cls|extra_id_\d+|0x[0-9a-f]{2}|\w+_of_turn)>|<\|\w+\|>"),
    ),
    ("tokens", "[", re.compile(r"\[(?:UNK|PAD|CLS|SEP|MASK|/?INST)\]")),
    ("thoughts", "<", re.compile(r"(?i)</?think(?:ing)?>")),
    ("entities", "&", re.compile(r"&(?:#\d{2,6}|#[xX][0-9a-fA-F]{2,5}|[a-zA-Z]{2,8}\d?);")),
    (OBJECTS, "{", re.compile(r'(?s)^\s*\{\s*"[^"]*"\s*:.*\}\s*$')),
    ("printed", "b", re.compile(r"(?s)^\s*b(?:'.*'|\".*\")\s*$")),
    ("printed", "\\", re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|[.!?:,]\\n|\\n\\n")),
)
_BEYOND: tuple[_Rule, ...] = (
    ("subwords", "\u2581", re.compile("\u2581\\w")),
    ("subwords", "\u0120", re.compile(r"[a-z.,!?]\u0120|(?:^|\s)\u0120\w+\s+\u0120\w")),  # Maltese has it, too
    ("undecoded", "\ufffd", re.compile("\ufffd")),
    ("misread", "", re.compile(f"(?<![A-Z\u00c0-\u00de])[\u00c2\u00c3][{_LATER}]|\u00e2[\u20ac\x80]")),
    ("misread", "", re.compile(f"(?:[\u00d0\u00d1][{_LATER}]){{3}}|(?:[\u00e0-\u00ef][{_LATER}]{{2}}){{2}}")),
    ("unseen", "", re.compile(f"[\u00ad\u2060\ufeff]|(?<![{_NO_BLANKS}])\u200b(?![{_NO_BLANKS}])")),
    ("unseen", "", re.compile("[A-Za-z][\u200c\u200d]|[\u200c\u200d][A-Za-z]")),
    ("unseen", "", re.compile(rf"\A(?=[^{_RIGHT_TO_LEFT}]*\Z)[^{_TURNS}]*[{_TURNS}]")),
)
_ALL = (*_ASCII, *_BEYOND)


@dataclass
class Signs:
    """Counts segments with a text that shows such a sign, and tells each sign once."""

    _counts: dict[str, int] = field(default_factory=dict)
    _first: dict[str, list[str]] = field(default_factory=dict)
    _sides: dict[str, dict[str, None]] = field(default_factory=dict)

    def add(self, segment: Segment) -> None:
        """Look at one segment."""
        found: dict[str, list[str]] = {}
        for side, texts in _sides(segment):
            for text in texts:
                for name in signs(text):
                    found.setdefault(name, []).append(side)
        if len({"hypothesis", "reference"}.intersection(found.get(OBJECTS, ()))) != 1:
            found.pop(OBJECTS, None)
        for side in _decomposed(segment):
            found.setdefault(FORMS, []).append(side)
        for name, sides in found.items():
            self._counts[name] = self._counts.get(name, 0) + 1
            self._sides.setdefault(name, {}).update(dict.fromkeys(sides))
            first = self._first.setdefault(name, [])
            if len(first) < FIRST:
                first.append(segment.id)

    def notes(self, n: int) -> Iterator[Note]:
        """One note for each sign, of `n` segments."""
        for name, meaning in MEANINGS.items():
            number = self._counts.get(name, 0)
            if number:
                who = ", ".join([*self._first[name], *(["..."] if number > FIRST else [])])
                where = " and ".join(
                    side for side in ("hypothesis", "reference", "source") if side in self._sides[name]
                )
                said = f"have {meaning} ({where})"
                some = f"{number} of {n} segments"
                yield Note.of(f"input: {some} ({who}) {said}", "input", f"{some} {said}")


def signs(text: str) -> Iterator[str]:
    """The names of the signs that one text shows, of `MEANINGS`; `forms` needs several texts."""
    for name, part, looks in _ASCII if _is_plain(text) else _ALL:
        if part in text and looks.search(text):
            yield name


def _is_plain(text: str) -> bool:
    return text.isascii() or _MAY_BE_ODD.search(text) is None


def _sides(segment: Segment) -> Iterable[tuple[str, tuple[str, ...]]]:
    yield "hypothesis", (segment.hypothesis,)
    yield "reference", segment.references
    if segment.source is not None:
        yield "source", (segment.source,)


def _decomposed(segment: Segment) -> list[str]:
    """The sides on which accents stand apart, if they do not on another side."""
    texts = [(side, text) for side, each in _sides(segment) for text in each if not text.isascii()]
    if len(texts) < 2 or all(_is_plain(text) for _, text in texts):
        return []
    apart = {side for side, text in texts if len(normalize("NFC", text)) < len(text)}
    whole = {s for s, text in texts if is_normalized("NFC", text) and len(normalize("NFD", text)) > len(text)}
    return [*apart] if whole - apart else []
