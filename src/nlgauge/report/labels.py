"""How a word of any text is shown: made safe, measured, shortened."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable

ELLIPSIS = "…"
_JOINER, _EMOJI_FORM = "\u200d", "\ufe0f"
_REPLACED = {**dict.fromkeys("\n\v\f\r\x85\u2028\u2029", "↵"), "\t": "⇥"}
_STEERS_DIRECTION = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Control characters, line ends of Unicode, marks of direction, halves of surrogate pairs and non-characters: what an
# outlet obeys or cannot hold.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
# Advance widths in em, on the generous side (those of DejaVu Sans, wider than Arial), so that a label is never larger
# than its room.
_ADVANCES = {
    **dict.fromkeys("ijl.,:;'|!I", 0.36),
    **dict.fromkeys('frt()[]{}/\\-"`* ', 0.42),
    **dict.fromkeys("mMWw@%&—…", 1.0),
}


def clean(text: str) -> str:
    """A word that XML accepts, that does not control a terminal, and that can be seen.

    Line ends become "↵" and tabs "⇥". Other control characters, lone surrogates, non-characters, and marks that would
    turn the direction of the text around them become U+FFFD. A word of blanks becomes "␣". Everything else stays.
    """
    shown = text if text.isascii() and text.isprintable() else "".join(_shown(char) for char in text)
    if shown and unicodedata.category(shown[0]).startswith("M"):
        shown = "◌" + shown  # a mark with nothing to stand on
    return shown if columns(shown.strip()) else "␣"


def visible(text: str, kept: str = "") -> str:
    """Text in which what would control a terminal or turn a line is shown as a mark, as in `clean`.

    Args:
        kept: characters that stay, such as the line ends of several lines.
    """
    return _UNSEEN.sub(lambda found: found[0] if found[0] in kept else _shown(found[0]), text)


def _shown(char: str) -> str:
    if char in _REPLACED:
        return _REPLACED[char]
    forbidden = unicodedata.category(char) in ("Cc", "Cs") or char in "\ufffe\uffff" or char in _STEERS_DIRECTION
    return "\ufffd" if forbidden else char


def columns(text: str) -> int:
    """Width in terminal cells: 2 for East Asian wide characters and emoji, 0 for marks, 1 otherwise."""
    return sum(map(_cluster_columns, clusters(text)))


def ems(text: str) -> float:
    """Width in a proportional typeface, in units of its size; an upper estimate, since no font is at hand."""
    return sum(map(_cluster_ems, clusters(text)))


def shorten(text: str, limit: float, measure: Callable[[str], float] = columns) -> str:
    """The text if it measures at most `limit`, otherwise as much of its beginning as fits before an ellipsis.

    Letters stay with their accents, and emoji made of several characters stay whole.
    """
    if measure(text) <= limit:
        return text
    room, kept = limit - measure(ELLIPSIS), ""
    for cluster in clusters(text):
        if measure(kept + cluster) > room:
            break
        kept += cluster
    return kept.rstrip() + ELLIPSIS


def reads_right_to_left(text: str) -> bool:
    """Whether some character belongs to a right-to-left script."""
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def clusters(text: str) -> list[str]:
    """The text in pieces that must not be cut: a character with the marks, joiners and modifiers that follow it."""
    if text.isascii():
        return list(text)
    found: list[str] = []
    for char in text:
        if found and (_follows(char) or found[-1].endswith(_JOINER) or _makes_flag(found[-1], char)):
            found[-1] += char
        else:
            found.append(char)
    return found


def _follows(char: str) -> bool:
    is_skin_tone = "\U0001f3fb" <= char <= "\U0001f3ff"
    return unicodedata.category(char) in ("Mn", "Me", "Mc", "Cf") or is_skin_tone or "\u1160" <= char <= "\u11ff"


def _makes_flag(before: str, char: str) -> bool:
    return len(before) == 1 and all("\U0001f1e6" <= c <= "\U0001f1ff" for c in (before, char))


def _cluster_columns(cluster: str) -> int:
    if _EMOJI_FORM in cluster:
        return 2
    return min(2, sum(map(_char_columns, cluster)))


def _char_columns(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _cluster_ems(cluster: str) -> float:
    if _EMOJI_FORM in cluster or cluster[0] >= "\U0001f000":
        return 1.4
    if _cluster_columns(cluster) != 1:
        return 1.0 if _cluster_columns(cluster) else 0.0
    return _ADVANCES.get(cluster[0], 0.78 if cluster[0].isupper() else 0.66)


def number(value: float, places: int = 2) -> str:
    """A similarity or a share without the zero before the point: ".87", "−.05", "1.00"; "–" where it is undefined."""
    if math.isnan(value):
        return "–"
    digits = f"{abs(value):.{places}f}"
    sign = "−" if value < 0 and float(digits) else ""
    return sign + digits.removeprefix("0")


def fold(signature: str, width: int) -> list[str]:
    """A signature in lines of at most `width` columns, broken after "|" where that is possible."""
    lines = [""]
    for entry in clean(signature).replace("|", "|\n").split("\n"):
        if columns(lines[-1] + entry) > width and lines[-1]:
            lines.append("")
        write_behind(lines, entry, width)
    return lines


def write_behind(lines: list[str], word: str, width: int) -> None:
    """Write a word behind the last line; where that would be wider than `width` columns, it goes on in a new one."""
    for cluster in clusters(word):
        if columns(lines[-1] + cluster) > width:
            lines.append("")
        lines[-1] += cluster
