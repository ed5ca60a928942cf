"""Perturbations of whole sentences: their order, one of them twice."""

from __future__ import annotations

import random
import unicodedata
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Edit, Inapplicable, worse
from nlgauge.text.doc import Doc

_FINAL = frozenset(".!?…。！？")
_AROUND = "\"'”’»)]」』 "  # quotes and brackets behind a final mark
_SIGNS = frozenset("%‰°€$£¥")  # read aloud as words
_UNSPACED = frozenset("。！？」』")


@dataclass(frozen=True, kw_only=True)
class ReorderSentences:
    """Change the order of the sentences; what stands between them stays."""

    info: ClassVar = worse(
        "change the order of the sentences",
        ("The bell rang. Everyone went in.", "Everyone went in. The bell rang."),
        needs=(),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit for each sentence whose place another takes."""
        doc = case.doc
        texts = [doc.between(s) for s in doc.sentences]
        bare = [_bare(t) for t in texts]
        if len(set(bare)) < 2:
            return Inapplicable("one sentence")
        order = list(range(len(texts)))
        while [bare[i] for i in order] == bare:
            rng.shuffle(order)
        edits = []
        for slot, i in zip(doc.sentences, order, strict=True):
            old = doc.between(slot)
            new = _ending_like(old, texts[i])
            if new != old:
                edits.append(Edit(slot.start, slot.end, new))
        return Change(edits, {"order": order})


@dataclass(frozen=True, kw_only=True)
class RepeatSentences(Checked):
    """Say one sentence twice; one of a single word only where there is no other.

    Args:
        place: where the repeated sentence goes: to the `end` of the text, `next` to itself, or behind `any` sentence at
            random.
    """

    place: Literal["end", "next", "any"] = "end"
    info: ClassVar = worse(
        "repeat a sentence",
        ("The bell rang. Everyone went in.", "The bell rang. Everyone went in. The bell rang."),
        needs=(),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One insertion behind a sentence."""
        doc = case.doc
        words = [len({*doc.word_at[s.first : s.last + 1]} - {None}) for s in doc.sentences]
        worded = [i for i, n in enumerate(words) if n > 1] or [i for i, n in enumerate(words) if n]
        if not worded:
            return Inapplicable("no sentence")
        picked = rng.choice(worded)
        behind = {"end": len(doc.sentences) - 1, "next": picked}.get(self.place)
        if behind is None:
            behind = rng.randrange(len(doc.sentences))
        before, repeated = doc.sentences[behind], doc.between(doc.sentences[picked])
        stop = "." if lacks_stop(doc.between(before)) else ""
        new = f"{stop}{_blank(doc, behind)}{repeated}"
        return Change([Edit(before.end, before.end, new)], {"sentence": picked, "behind": behind})


def lacks_stop(text: str) -> bool:
    """Whether a text ends in a word, behind which a new sentence needs a full stop; not in `Examples:` or an emoji."""
    last = text.rstrip(_AROUND)[-1:]
    return last in _SIGNS or unicodedata.category(last or " ")[0] in "LMN"


def _bare(sentence: str) -> str:
    """A sentence without its final mark and the quotes around that."""
    return sentence.rstrip("".join(_FINAL) + _AROUND)


def _ending_like(old: str, new: str) -> str:
    """A sentence as it is written in the place of another.

    It takes or loses a full stop if only one of the two has a final mark. Where one of them ends in another mark
    (`Examples:`), both stay as they are.
    """
    if any(_bare(text) == text and not lacks_stop(text) for text in (old, new)):
        return new
    if (_bare(old) != old) == (_bare(new) != new):
        return new
    if _bare(new) == new:
        return f"{new}."
    return new[:-1].rstrip() if new[-1] == "." else new


def _blank(doc: Doc, behind: int) -> str:
    """The characters between two sentences at this place.

    They are copied from behind or before the sentence; else they are a blank if the script has blanks.
    """
    for first in (behind, behind - 1):
        if 0 <= first < len(doc.sentences) - 1:
            return doc.text[doc.sentences[first].end : doc.sentences[first + 1].start]
    return "" if doc.between(doc.sentences[behind])[-1] in _UNSPACED else " "
