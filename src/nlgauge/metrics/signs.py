"""What a step before scoring leaves in texts, and no person writes: signs in a text, and beginnings and ends of all."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from os.path import commonprefix
from unicodedata import is_normalized, normalize

from nlgauge.core.scores import FIRST, Note
from nlgauge.core.segment import Segment

# --- Did a step before scoring go wrong? Marks that it leaves in texts: of subwords, of entities, of a wrong decoding

FORMS = "forms"
OBJECTS = "objects"  # in hypotheses or references alone: where both have them they may be what is asked for
ONE_SIDED = ("turned", "compatible", "missing")  # likewise, see `Signs`
SIGN_MEANINGS: Mapping[str, str] = {
    FORMS: "letters with separate accents (NFD) beside texts whose letters hold them (NFC), which match nowhere",
    "subwords": "marks of subwords, such as '@@', '\u2581' or '##'; join the pieces first",
    "tokens": "special tokens of a model, such as '</s>', '<unk>', '<|im_end|>' or 'en_XX'",
    "thoughts": "a <think> block of a model",
    "entities": "entities of HTML, such as '&apos;' or '&#39;'; undo them first",
    "undecoded": "U+FFFD or half a surrogate pair, which stands for what could not be decoded",
    "misread": "UTF-8 that was read as Latin-1, such as '\u00c3\u00a9' or '\u00e2\u20ac\u2122'",
    "unseen": "marks without width, such as U+200B or a soft hyphen, which part words for most metrics",
    OBJECTS: "objects of JSON, as lines of a table; give the table as DATA, without --hyp and --ref",
    "printed": "a string as Python or JSON prints it, such as b'...' or '\\u00e9'",
    "control": "control characters, such as U+0000 or those that colour a terminal (ESC [32m)",
    "errors": "an error value of a spreadsheet, such as '#NAME?' or '#REF!', in place of a text",
    "missing": "a value that stands for no text, such as 'nan', 'None' or 'null', where the other side has none",
    "turned": "marks of direction or joiners, such as U+200F, where the other side has none; they match nowhere",
    "compatible": "compatibility forms of letters, such as full width or ligatures, where the other side has the"
    " letters; NFKC of Unicode makes them equal",
}

_ACCENTS = "\u0300-\u036f\u3099\u309a\u1161-\u11c2"  # that stand apart in NFD: of alphabets, kana and Hangul
_UNSEEN = "\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
_NO_BLANKS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese and Khmer put U+200B between words
_TURNS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # beside letters that are written from right to left
_RIGHT_TO_LEFT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"
# Letters and digits of full or half width, of Arabic and Hebrew as they are drawn, and ligatures.
_FORMS = "\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufb4f\ufb50-\ufd3d\ufe70-\ufefc"
_FORMS += "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9d\uffa0-\uffdc"
# What Latin-1 or Windows-1252 make of the second byte of UTF-8 and of those after it.
_LATER = "\x80-\xbf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013\u2014\u2018-\u201a\u201c-\u201e"
_LATER += "\u2020-\u2022\u2026\u2030\u2039\u203a\u20ac\u2122"
# Most texts beyond ASCII have nothing of this; one class comes first, which is found fast.
_ODD = f"\u0120\u2581\ufffd\ud800-\udfff{_UNSEEN}{_ACCENTS}{_FORMS}"
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
    (
        "tokens",
        "_",
        re.compile(r"\A\s*(?:[a-z]{2,3}_[A-Z][A-Za-z]{1,3}|__[a-z]{2,3}__)\s|\s[a-z]{2,3}_[A-Z]\w{1,3}\s*\Z"),
    ),
    ("tokens", ">", re.compile(r"\A\s*(?:>>\w{2,12}<<|<2\w{2,8}>)")),
    ("tokens", "[", re.compile(r"\[(?:UNK|PAD|CLS|SEP|MASK|/?INST)\]")),
    ("thoughts", "<", re.compile(r"(?i)</?think(?:ing)?>")),
    ("entities", "&", re.compile(r"&(?:#\d{2,6}|#[xX][0-9a-fA-F]{2,5}|[a-zA-Z]{2,8}\d?);")),
    (OBJECTS, "{", re.compile(r'(?s)^\s*\{\s*"[^"]*"\s*:.*\}\s*$')),
    ("printed", "b", re.compile(r"(?s)^\s*b(?:'.*'|\".*\")\s*$")),
    (
        "missing",
        "",
        re.compile(r"\A\s*(?:nan|NaN|NAN|None|null|NULL|NA|N/A|n/a|<NA>|NaT|undefined|\[object \w+\])\s*\Z"),
    ),
    ("errors", "#", re.compile(r"\A\s*#(?:NAME\?|(?:REF|VALUE|DIV/0|NUM|NULL|SPILL|CALC|ERROR)!|N/A)\s*\Z")),
    ("printed", "\\", re.compile(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|[.!?:,]\\n|\\n\\n")),
)
_BEYOND: tuple[_Rule, ...] = (
    ("subwords", "\u2581", re.compile("\u2581\\w")),
    ("subwords", "\u0120", re.compile(r"[a-z.,!?]\u0120|(?:^|\s)\u0120\w+\s+\u0120\w")),  # Maltese has it, too
    ("undecoded", "", re.compile("[\ufffd\ud800-\udfff]")),
    ("misread", "", re.compile(f"(?<![A-Z\u00c0-\u00de])[\u00c2\u00c3][{_LATER}]|\u00e2[\u20ac\x80]")),
    ("misread", "", re.compile(f"(?:[\u00d0\u00d1][{_LATER}]){{3}}|(?:[\u00e0-\u00ef][{_LATER}]{{2}}){{2}}")),
    ("unseen", "", re.compile(f"[\u00ad\u2060\ufeff]|(?<![{_NO_BLANKS}])\u200b(?![{_NO_BLANKS}])")),
    ("unseen", "", re.compile("[A-Za-z][\u200c\u200d]|[\u200c\u200d][A-Za-z]")),
    ("unseen", "", re.compile(rf"\A(?=[^{_RIGHT_TO_LEFT}]*\Z)[^{_TURNS}]*[{_TURNS}]")),
    ("turned", "", re.compile(rf"(?s)\A(?=.*[{_RIGHT_TO_LEFT}]).*[{_TURNS}]|[\u0600-\u0dff][\u200c\u200d]")),
    ("compatible", "", re.compile(f"[{_FORMS}]")),
)
_ALL = (*_ASCII, *_BEYOND)
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")
_FEWEST, _OTHERWISE = 0.05, 0.1  # see `Signs`


@dataclass
class Signs:
    """Counts segments with a text that shows such a sign, and tells each sign once.

    A step before scoring can leave marks in texts that no person writes. Each kind is told with the number of segments
    and the sides that show it. No text is distrusted for it. `forms` needs two sides, and `objects` counts in
    hypotheses or references alone. `turned`, `compatible` and `missing` are told of a side that has them in a twentieth
    of the segments (`missing`: or in three) where the other side has none.
    """

    _counts: Counter[str] = field(default_factory=Counter)  # of signs, and of one-sided signs by side
    _first: dict[str, list[str]] = field(default_factory=dict)
    _sides: dict[str, dict[str, None]] = field(default_factory=dict)
    _alike: Alike = field(default_factory=lambda: Alike())

    def add(self, segment: Segment) -> None:
        """Look at one segment."""
        found: dict[str, list[str]] = {}
        for side, texts in _sides(segment):
            for text in texts:
                for name in _shown(text):
                    found.setdefault(name, []).append(side)
        if len({"hypothesis", "reference"}.intersection(found.get(OBJECTS, ()))) != 1:
            found.pop(OBJECTS, None)
        for side in _decomposed(segment):
            found.setdefault(FORMS, []).append(side)
        self._alike.add(segment)
        for name in found.keys() & ONE_SIDED:
            known = {*found.pop(name)} - {"source"}
            if known:
                alone = len(known) == 1 and (segment.references or name == "missing")
                found[_key(name, *known if alone else ())] = [*known]
        for name, sides in found.items():
            self._counts[name] += 1
            self._sides.setdefault(name, {}).update(dict.fromkeys(sides))
            first = self._first.setdefault(name, [])
            if len(first) < FIRST:
                first.append(segment.id)

    def notes(self, n: int) -> Iterator[str]:
        """One note for each sign, of `n` segments, and one on each side that begins or ends alike."""
        for name, meaning in SIGN_MEANINGS.items():
            for key in [_key(name, side) for side in _SIDES] if name in ONE_SIDED else [name]:
                number = self._counts[key]
                if not number or (name in ONE_SIDED and not self._is_one_sided(name, number, n)):
                    continue
                who = ", ".join([*self._first[key], *(["..."] if number > FIRST else [])])
                where = " and ".join(side for side in _SIDES if side in self._sides[key])
                said = f"have {meaning} ({where})"
                some = f"{number} of {n} segments"
                yield Note.of(f"input: {some} ({who}) {said}", "input", f"{some} {said}")
        yield from self._alike.notes()

    def _is_one_sided(self, name: str, number: int, n: int) -> bool:
        """Whether one side alone shows a sign in enough of `n` segments: `number`, and hardly any otherwise."""
        every = sum(self._counts[key] for key in (_key(name), *(_key(name, side) for side in _SIDES)))
        least = min(FEWEST, _FEWEST * n) if name == "missing" else _FEWEST * n
        return number >= least and every - number <= _OTHERWISE * number


def signs(text: str) -> Iterator[str]:
    """The names of the signs that one text shows, of `SIGN_MEANINGS`; `forms` needs several texts, `ONE_SIDED` all."""
    return (name for name in _shown(text) if name not in ONE_SIDED)


def _shown(text: str) -> Iterator[str]:
    """As `signs`, and what is a sign only if one side alone shows it."""
    if not text.isprintable() and _CONTROL.search(text):
        yield "control"
    for name, part, looks in _ASCII if _has_nothing_odd(text) else _ALL:
        if part in text and looks.search(text):
            yield name


def _key(name: str, *side: str) -> str:
    return " ".join((name, *side))


def _has_nothing_odd(text: str) -> bool:
    return text.isascii() or _MAY_BE_ODD.search(text) is None


def _sides(segment: Segment) -> Iterable[tuple[str, tuple[str, ...]]]:
    yield "hypothesis", (segment.hypothesis,)
    yield "reference", segment.references
    if segment.source is not None:
        yield "source", (segment.source,)


def _decomposed(segment: Segment) -> list[str]:
    """The sides on which accents stand apart, if they do not on another side."""
    texts = [(side, text) for side, each in _sides(segment) for text in each if not text.isascii()]
    if len(texts) < 2 or all(_has_nothing_odd(text) for _, text in texts):
        return []
    apart = {side for side, text in texts if len(normalize("NFC", text)) < len(text)}
    joined = {s for s, text in texts if is_normalized("NFC", text) and len(normalize("NFD", text)) > len(text)}
    return [*apart] if joined - apart else []


# --- Do the outputs of a system begin or end alike, as no reference does? A tool or a model put something there

LOOKED_AT, NEARLY_ALL, HARDLY_ANY = 100, 0.9, 0.02  # texts of a side, and shares of them
FEWEST = 3  # texts whose ids, numbers or single mark are told; of several marks two are enough
_LONG, _SHOWN = 60, 30  # characters of a beginning or end that are looked at, and of one that is shown
_ID = re.compile(r"(?:[A-Za-z][\w.-]*\d[\w.-]*|\d+(?:[-_]\d+)+)")  # H-12, spk1-utt002, 1089-134686-0000
_NUMBER = re.compile(r"(?:\W?|[A-Z]\W?)(\d+)\W*")  # 1. or #1 or (1) or Q1:
_BRACKETS = "()[]{}<>|"
_IN_BRACKETS = re.compile(r"([\[(<{])[^\[\](){}<>]{1,40}([\])}>])")
# What is no mark: letters, digits, blanks and what stands within sentences; at the end final marks, too.
_PLAIN = re.compile(r"[^\W_]|[ \u00a0,]|(?<=\w)['\u2019-]")
_STOPS = ".!?;:\u2026\u3002\uff01\uff1f\u061f\u0964\u17d4"
_PLAIN_LAST = re.compile(rf"{_PLAIN.pattern}|[{_STOPS}]")
_QUOTES = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f", '"'))
_REFERENCES, _SOURCES = "references", "sources"
_Ends = tuple[str, str]  # the beginning of a text, and its end


class Alike:
    """Tells a system whose texts nearly all begin or end alike, where hardly any text of the other side does.

    Of each system the outputs for the first 100 inputs are looked at, and 100 references: their first and last 60
    characters, with digits, quotation marks and what stands in brackets folded, so that `[PASS]` and `[FAIL]` are
    alike. Nine tenths of them must share a beginning (or end) with a mark, such as `1.`, `"` or `Sure!`, and of the
    references at most a fiftieth. It is noted once, and no text is distrusted for it.
    """

    def __init__(self) -> None:
        self._of: dict[str, dict[int, _Ends]] = {_REFERENCES: {}, _SOURCES: {}}  # side -> hash -> a text

    def add(self, segment: Segment) -> None:
        """Look at one more segment."""
        outputs = "outputs" if segment.system is None else f"outputs of {segment.system}"
        known = segment.references, segment.source  # several outputs for one input are one
        texts = [(outputs, hash(known if any(known) else segment.id), segment.hypothesis)]
        texts += [(_REFERENCES, hash(text), text) for text in segment.references]
        texts += [(_SOURCES, hash(segment.source), segment.source or "")]
        for side, key, text in texts:
            kept = self._of.setdefault(side, {})
            if len(kept) < LOOKED_AT and (plain := text.strip()):
                kept.setdefault(key, (plain.rstrip(_STOPS)[:_LONG], plain[-_LONG:]))

    def notes(self) -> Iterator[str]:
        """A note on outputs, and one on references."""
        sides = {side: [*kept.values()] for side, kept in self._of.items()}
        references, sources = sides.pop(_REFERENCES), sides.pop(_SOURCES)
        known = (references, "reference") if references else (sources, "source")
        told = [f"{side} {ways}" for side, texts in sides.items() if (ways := _ways(texts, *known))]
        ways = _ways(references, [text for texts in sides.values() for text in texts], "output")
        for found in (told, [f"{_REFERENCES} {ways}"] if ways else []):
            if found:
                said = f"nearly all {'; '.join(found[:FIRST])}{'; ...' * (len(found) > FIRST)}"
                yield f"input: {said}; if a tool or a model put that there, cut it off, since it counts as text"


def _ways(texts: Sequence[_Ends], others: Sequence[_Ends], other: str) -> str:
    """How nearly all texts begin and end, in words; empty if they are not alike."""
    ways, unlike = [], ""
    least = max(FEWEST, NEARLY_ALL * len(texts))
    for place, verb in enumerate(("begin with", "end with")):
        ends = [text[place] for text in texts]
        tokens = [words[-place].strip(_BRACKETS) for words in map(str.split, ends) if len(words) > 1]
        numbers = [] if place else [int(match[1]) for token in tokens if (match := _NUMBER.fullmatch(token))]
        if len(set(filter(_ID.fullmatch, tokens))) >= least:
            ways.append(f"{verb} ids")
        elif 1 + sum(after == one + 1 for one, after in pairwise(numbers)) >= least:
            ways.append(f"{verb} numbers in running order")
        elif shared := _shared([_folded(text, place) for text in ends], _PLAIN_LAST if place else _PLAIN):
            likewise = sum(_folded(text[place], place).startswith(shared) for text in others)
            if others and likewise <= HARDLY_ANY * len(others) and not any(_shown(ends[0])):  # those are told already
                ways.append(f"{verb} {(shared[::-1] if place else shared)!r}")
                unlike = f", and hardly any {other} does"
    if not ways:
        return ""
    begin, end = texts[0]
    example = begin[:_SHOWN] if ways[0].startswith("begin") else end[-_SHOWN:]
    return f"{' and '.join(ways)}, as in {example!r}{unlike}"


def _folded(text: str, place: int) -> str:
    """A text in which digits, quotation marks and what stands in brackets are alike; its end is turned round."""
    plain = re.sub(r"\d+", "0", _IN_BRACKETS.sub("\\1\u2026\\2", text.translate(_QUOTES)))
    return plain[::-1] if place else plain


def _shared(texts: Sequence[str], plain: re.Pattern[str]) -> str:
    """The longest beginning of folded texts that nine tenths share, up to its last mark; empty if it has none."""
    ordered, most = sorted(texts), max(FEWEST - 1, math.ceil(NEARLY_ALL * len(texts)))
    shares = map(commonprefix, zip(ordered, ordered[most - 1 :], strict=False))
    best = max(shares, key=len, default="")
    marked = plain.sub("\0", best).rstrip("\0")
    return best[: len(marked)] if len(marked) - marked.count("\0") >= (1 if len(texts) >= FEWEST else 2) else ""
