"""Perturbation of spelling: one word with one slip of the keyboard, or misspelt as people often do."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Inapplicable, worse
from nlgauge.perturbations.draft import Draft, with_case_of
from nlgauge.text.doc import Doc, Span
from nlgauge.text.scripts import data_lines
from nlgauge.text.tagging import known_tags

Kind = Literal["any", "swap", "delete", "insert", "substitute", "common"]

_LEAST = 4  # letters
_FAR = 100  # letters of a word among which the slip is; what is longer is no word
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # each key of a row lies below and between two of the row above
_SLIPS: Sequence[Kind] = ("swap", "delete", "insert", "substitute")


@dataclass(frozen=True, kw_only=True)
class Typos(Checked):
    """Misspell one word of four letters or more; its first letter stays.

    The misspelling is no word of the language if that can be had.

    Args:
        kind: `swap` exchanges two letters, `delete` drops one, `insert` adds one, `substitute` replaces one by its
            neighbour on the keyboard, and `any` does one of these. `common` takes a word that people often misspell,
            with their spelling.
    """

    kind: Kind = "any"
    info: ClassVar = worse("misspell one word", ("Every window was open.", "Evry window was open."), needs=())

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One word takes the place of another."""
        doc = case.doc
        words = [w for w in doc.words if _is_plain(doc.between(w))]
        if self.kind == "common":
            words = [w for w in words if doc.between(w).lower() in _misspellings()]
            if not words:
                return Inapplicable("no word that is often misspelt")
        elif not words:
            return Inapplicable("no word of four letters")
        rng.shuffle(words)
        loud = doc.text.isupper()
        words.sort(key=lambda w: _is_name(doc, w, loud))  # stable: a name is misspelt only where there is nothing else
        kinds = [self.kind] if self.kind != "any" else rng.sample(_SLIPS, len(_SLIPS))
        for unknown in (True, False):
            for word in words:
                old = doc.between(word)
                for kind in kinds:
                    forms = [
                        f for f in _forms(old, kind) if f.lower() != old.lower() and not (unknown and known_tags(f))
                    ]
                    if forms:
                        new = rng.choice(forms)
                        draft = Draft(doc)
                        draft.replace(word.first, word.last, new, cased=False)
                        return draft.finish(capitals=False, articles=False, kind=kind, word=old, typo=new)
        return Inapplicable("no word that can be misspelt")


def _is_plain(word: str) -> bool:
    """Whether a word is all letters of a script with capitals, and these stand where they do in plain words."""
    small = word.lower()
    cased = len(word) >= _LEAST and word.isalpha() and len(small) == len(word) and small != word.upper()
    return cased and all(c.islower() for c in small) and word in (small, small[0].upper() + small[1:], word.upper())


def _is_name(doc: Doc, word: Span, loud: bool) -> bool:
    token = doc.tokens[word.first]
    return token.tag in ("NNP", "NNPS") or (token.text.isupper() and not loud)


def _forms(word: str, kind: Kind) -> list[str]:
    """The typos of a word, its first letter kept; with doubles, and the word itself may be among them."""
    inner = range(1, min(len(word), _FAR))
    if kind == "swap":
        return [word[: i - 1] + word[i] + word[i - 1] + word[i + 1 :] for i in inner if i > 1]
    if kind == "delete":
        return [word[:i] + word[i + 1 :] for i in inner]
    if kind == "insert":  # a letter twice, or the key beside it as well
        letters = word if word.isupper() else word.lower()
        return [
            word[: i + 1] + new + word[i + 1 :]
            for i, letter in enumerate(letters[:_FAR])
            for new in (letter, *_near(letter))
        ]
    if kind == "substitute":
        return [word[:i] + new + word[i + 1 :] for i in inner for new in _near(word[i])]
    return [with_case_of(word, new) for new in _misspellings().get(word.lower(), ())]


def _near(letter: str) -> tuple[str, ...]:
    """The keys beside a letter, in its case."""
    near = _keyboard().get(letter.lower(), ())
    return tuple(n.upper() for n in near) if letter.isupper() else near


@cache
def _keyboard() -> Mapping[str, tuple[str, ...]]:
    near: dict[str, tuple[str, ...]] = {}
    for r, row in enumerate(_ROWS):
        for c, letter in enumerate(row):
            places = [(r, c - 1), (r, c + 1), (r - 1, c), (r - 1, c + 1), (r + 1, c - 1), (r + 1, c)]
            near[letter] = tuple(_ROWS[i][j] for i, j in places if 0 <= i < len(_ROWS) and 0 <= j < len(_ROWS[i]))
    return near


@cache
def _misspellings() -> Mapping[str, tuple[str, ...]]:
    return {right: tuple(wrong) for right, *wrong in map(str.split, data_lines("misspellings.txt"))}
