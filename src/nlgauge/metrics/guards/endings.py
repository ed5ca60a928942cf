"""How does a text end, beside its references: without a mark, or with one that is set apart?"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator

from nlgauge.core.segment import Segment

HABITS = ("unmarked", "spaced")  # ways of writing: told of a system that keeps to them, and no text is distrusted
SHORTER = 0.9  # the share of the shortest reference's characters that a text has which is cut off, at most
FEW = 4  # words of such a text, at least

_FINAL = frozenset(".!?…。！？؟।॥։")
_CLOSERS = " \"'”’»“)]）】」』*|"  # what may stand after a final mark
_OPEN = frozenset(",،、，")  # marks after which a sentence goes on
_TOKENIZED = " ."


def habits(segment: Segment) -> Iterator[str]:
    """The names of `HABITS` that a text shows beside its references, if it has any."""
    references = segment.references
    if not references:
        return
    text, first = segment.hypothesis.rstrip(), references[0].rstrip()
    end, wanted = text[-2:], first[-2:]
    if end == wanted:
        return
    if is_bare(text) and all(map(_is_whole, references)) and (not segment.source or _is_whole(segment.source)):
        yield "unmarked"
    if end[-1:] == wanted[-1:] == ".":
        ends = [reference.rstrip()[-2:] for reference in references]
        if all(e[-1:] == "." and (e == _TOKENIZED) != (end == _TOKENIZED) for e in ends):
            yield "spaced"


def is_shorter(segment: Segment) -> bool:
    """Whether a text of a few words or more is shorter than all of its references, as one that is cut off is."""
    least = min(map(len, segment.references), default=0)
    return len(segment.hypothesis) <= SHORTER * least and len(segment.hypothesis.split()) >= FEW


def is_bare(text: str) -> bool:
    """Whether a text ends in a letter, digit or comma. Any other mark may be the end: `&quot;`, `-RRB-`, or a colon."""
    text = text.rstrip()
    if not text:
        return False
    if text[-1] == ";":
        text = html.unescape(text)
    last = text[-1]
    return last.isalnum() or last in _OPEN or unicodedata.category(last)[0] == "M"  # vowel signs of Hindi, Thai


def _is_whole(text: str) -> bool:
    """Whether a text ends in a final mark, maybe within quotation marks or brackets."""
    return text.rstrip(_CLOSERS)[-1:] in _FINAL
