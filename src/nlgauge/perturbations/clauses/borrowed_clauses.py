"""Short clauses found in other texts, ready to be said after a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from nlgauge.text.doc import Doc, Span
from nlgauge.text.tagging import is_name_like

_FINITE = frozenset({"VBD", "VBP", "VBZ", "MD"})
_SUBJECTS = frozenset({"DT", "PRP", "PRP$", "NN", "NNS", "NNP", "NNPS", "JJ", "CD", "EX", "PDT"})
_HEADS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "EX", "DT", "CD"})
_PARTING = frozenset(
    {"because", "although", "though", "while", "whereas", "when", "after", "before", "but", "unless", "since"}
)
_OPEN_ENDS = frozenset({"IN", "DT", "CC", "TO", "PRP$", "POS", *_FINITE})
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of another text.

    Attributes:
        text: without its final mark, its first letter small unless a name begins it.
        finite: whether it has a subject and a finite verb; else it is a phrase, as captions are.
    """

    text: str
    finite: bool


def clause(doc: Doc, sentence: Span, most: int) -> Clause | None:
    """The beginning of a sentence as a clause of three to `most` words.

    There is none for questions, exclamations, headlines and sentences with marks inside the clause. What follows a
    comma, or a word such as "because" or "but", is left out where a whole clause comes before it.
    """
    tokens = doc.tokens[sentence.first : sentence.last + 1]
    if tokens[-1].text[0] in "?!" or tokens[0].tag not in _SUBJECTS:
        return None
    last = next((t.index - 1 for t in tokens if t.index > sentence.first and _parts(doc, t.index)), sentence.last)
    while last > sentence.first and doc.word_at[last] is None:
        last -= 1
    inside = doc.tokens[sentence.first : last + 1]
    span = doc.span(sentence.first, last)
    words = len({*doc.word_at[sentence.first : last + 1]} - {None})
    if not _FEWEST <= words <= most or any(doc.word_at[t.index] is None for t in inside):
        return None
    verb = next((i for i, t in enumerate(inside) if t.tag in _FINITE), None)
    finite = verb is not None and 0 < verb < len(inside) - 1 and any(t.tag in _HEADS for t in inside[:verb])
    if not finite and (verb is not None or last < sentence.last - 1 or not any(t.tag in ("NN", "NNS") for t in inside)):
        return None
    text = doc.between(span)
    if sum(t.text[0].isupper() for t in inside) > max(3, len(inside) / 2) or inside[-1].tag in _OPEN_ENDS:
        return None
    return Clause(text if is_name_like(inside[0]) else text[0].lower() + text[1:], finite)


def _parts(doc: Doc, index: int) -> bool:
    return doc.tokens[index].lower in _PARTING or doc.tokens[index].text in (",", ";", "–", "—", "--")
