"""Replace numbers of a text by others of the same form, with as many digits, separators, decimals and final zeros."""

from __future__ import annotations

import random
import re
from collections import ChainMap
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass

from nlgauge.text.lexicon.articles import article_before
from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.forms import (
    Digits,
    choices,
    digits_of,
    edit_to,
    number_class,
    redrawn,
    worth,
    written,
    zeros_around,
)
from nlgauge.text.numbers.number import DATED, OPAQUE, Number
from nlgauge.text.numbers.repairs import Edit, with_article
from nlgauge.text.numbers.tables import neighbours

_TRIES = 64
_JOINED = re.compile(
    r"\s*(?:[-–—:/]|to|and|or|but|in(?: every)?|(?:out )?of(?: the| its| his| her| their| all)?)\s*", re.IGNORECASE
)
_NOUN = re.compile(r"[ \u00a0]([a-z]+)")
_AN = re.compile(r"(?i)(?<![\w'’.-])an?[ \u00a0]\W?$")


@dataclass(frozen=True, kw_only=True)
class Changing:
    """Which numbers are changed, and by how much.

    Attributes:
        skip_dates: leave years, decades, centuries, days of months and dates in figures unchanged.
        band: the smallest and the largest relative change, such as (0.1, 0.5) for a tenth to a half. It does not apply
            to dates. None allows any change.
        in_words: also change numbers that are written in words.
    """

    skip_dates: bool = False
    band: tuple[float, float] | None = None
    in_words: bool = True


def changed_numbers(text: str, rng: random.Random, changing: Changing | None = None) -> list[list[Edit]]:
    """The edits that change each number, one list per number: the number itself, and "a" or "an" before it.

    Equal numbers stay equal, and the numbers of a pair keep their order (10-12, from 1990 to 1995, 2-1). A percentage
    up to 100 stays at most 100, a year stays in its century, and no number becomes 1. Times, telephone numbers,
    versions, designations, numbers in names, and 1 before a counted noun are left alone, and so is a number if there is
    no other number of its form.

    Args:
        text: an English text.
        rng: the generator that draws the numbers.
        changing: which numbers are changed, and by how much.
    """
    drawer = _Drawer(text, rng, changing or Changing())
    groups = []
    for run in drawer.runs():
        for number, new in drawer.drawn(run):
            edit = edit_to(number, new)
            if edit is not None:
                groups.append(with_article(text, edit, number.outer_start))
    return groups


class _Drawer:
    """New digits for the numbers of one text."""

    def __init__(self, text: str, rng: random.Random, changing: Changing) -> None:
        self.text, self.rng, self.changing = text, rng, changing
        self.known: dict[tuple[str, Digits], Digits] = {}

    def runs(self) -> Iterator[list[Number]]:
        """The numbers that can be changed. The numbers of a pair are kept together."""
        run: list[Number] = []
        for number in filter(self._can_change, find_numbers(self.text)):
            if run and not (
                _family(run[-1]) == _family(number)
                and _JOINED.fullmatch(self.text[run[-1].outer_end : number.outer_start])
            ):
                yield run
                run = []
            run.append(number)
        if run:
            yield run

    def drawn(self, run: Sequence[Number]) -> list[tuple[Number, Digits]]:
        """New digits for each number of a run, in the same order of size as before if that is possible."""
        for ordered in (True,) * _TRIES + (False,):
            known = ChainMap[tuple[str, Digits], Digits]({}, self.known)
            out: list[tuple[Number, Digits]] = []
            for number in run:
                new = self._draw(number, known, out[-1] if out and ordered else None)
                if new is None and ordered and len(run) > 1:
                    break
                if new is not None:
                    out.append((number, new))
            else:
                self.known.update(known.maps[0])
                return out
        return []

    def _can_change(self, number: Number) -> bool:
        if number.kind == "date":
            return not self.changing.skip_dates and digits_of(number) != ""
        if (
            number.kind in OPAQUE
            or (number.kind in DATED and self.changing.skip_dates)
            or (number.words and not self.changing.in_words)
        ):
            return False
        if number.value == 1 and number.kind == "cardinal" and number.scale == 1:
            counted = _NOUN.match(self.text, number.outer_end)
            return not counted or counted[1] in neighbours("function")
        return True

    def _draw(
        self, number: Number, known: MutableMapping[tuple[str, Digits], Digits], before: tuple[Number, Digits] | None
    ) -> Digits | None:
        old = digits_of(number)
        key = (number_class(number), old)

        def fits(new: Digits) -> bool:
            return new != old and self._fits(number, new) and (before is None or _keeps_order(before, number, new))

        if key in known:
            return known[key] if fits(known[key]) else self._first(number, fits)
        new = self._first(number, fits)
        if new is not None:
            known[key] = new
        return new

    def _first(self, number: Number, fits: Callable[[Digits], bool]) -> Digits | None:
        """The first draw that fits. A draw for which "a" or "an" stays correct is preferred."""
        article = _AN.search(self.text, max(0, number.outer_start - 5), number.outer_start)
        wanted = article_before(written(number, digits_of(number)))
        second_best = None
        for new in self._candidates(number):
            if fits(new):
                if not article or article_before(written(number, new)) == wanted:
                    return new
                second_best = second_best or new
        return second_best

    def _candidates(self, number: Number) -> Iterator[Digits]:
        old = digits_of(number)
        few = choices(number)
        if few is not None:
            yield from self.rng.sample(few, len(few))
            return
        for _ in range(_TRIES):
            yield redrawn(old, self.rng) if self.changing.band is None else self._near(old, self.changing.band)
        significant = len(old.strip("0"))
        if 0 < significant <= 3:  # few enough to try them all
            head, tail = len(old) - len(old.lstrip("0")), len(old) - len(old.rstrip("0"))
            values = range(10 ** (significant - 1), 10**significant)
            yield from ("0" * head + str(v) + "0" * tail for v in self.rng.sample(values, len(values)) if v % 10)

    def _near(self, old: Digits, band: tuple[float, float]) -> Digits:
        """A number within the band, rounded to the zeros that the old one ends with."""
        zeros = len(old) - len(old.rstrip("0"))
        moved = int(old) * (1 + self.rng.choice((-1, 1)) * self.rng.uniform(*band))
        return str(max(0, round(moved / 10**zeros)) * 10**zeros).zfill(len(old))

    def _fits(self, number: Number, new: Digits) -> bool:
        old = digits_of(number)
        if number.kind in DATED or number.kind in ("fraction", "ages"):
            return True
        if len(new) != len(old) and number.kind != "percent":
            return False
        if len(new) == len(old) and (old.strip("0") and (zeros_around(new) != zeros_around(old))):
            return False
        value = worth(number, new)
        if value == 1 and number.kind in ("cardinal", "mixed", "measure"):
            return False
        if number.kind == "percent" and number.scale == 1 and (number.value or 0) <= 100 < value:
            return False
        if self.changing.band is None or not number.value:
            return True
        least, most = self.changing.band
        return least <= float(abs(value - number.value) / number.value) <= most


def _family(number: Number) -> str:
    """The kind of numbers with which a number can be compared. Any two quantities can be compared."""
    return number_class(number).rstrip("0123456789")


def _keeps_order(before: tuple[Number, Digits], number: Number, new: Digits) -> bool:
    """Whether a number's relation to the one before it (less, equal or greater) is unchanged."""
    if number.kind in ("fraction", "date"):
        return True
    other, other_new = before
    old_pair = other.amount or 0, number.amount or 0
    new_pair = worth(other, other_new) * other.scale, worth(number, new) * number.scale
    if other.sign or number.sign:
        return True
    return (old_pair[0] < old_pair[1], old_pair[0] > old_pair[1]) == (
        new_pair[0] < new_pair[1],
        new_pair[0] > new_pair[1],
    )
