"""The units that a writer moves, in any script: words with clitics and hyphens, and single marks, with offsets."""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from nlgauge.text.tokenize import NO_BLANKS, letter_spans
from nlgauge.text.words import word_spans

_JOINS = frozenset("-‑/'’&@_+·\u00ad")  # between letters or digits, without blanks, these part no word
_BEFORE, _BEHIND = frozenset("$€£¥₹#@"), frozenset("%‰°")  # signs that belong to the number they touch
_UNSPACED = re.compile(f"[{NO_BLANKS}]")
_SIGNS = frozenset({"Mn", "Me", "Mc", "Cf"})  # the last: joiners, marks of direction, soft hyphens
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
        spans.extend(
            _cut(text, start, end) if not text.isascii() and _UNSPACED.search(text, start, end) else ((start, end),)
        )
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
    joined = (
        token in _JOINS
        and place + 1 < len(tokens)
        and tokens[place + 1][0] == tokens[place][1]
        and _spelt(text[start:end])
    )
    return 2 if joined and _spelt(text[slice(*tokens[place + 1])]) else 0


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
    if category in _SIGNS or char in _TONES or all(unicodedata.category(c) == "Cf" for c in before):
        return True
    return (before[-1] == _JOINER and category == "So") or (
        len(before) == 1 and before in _FLAG_LETTERS and char in _FLAG_LETTERS
    )


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
