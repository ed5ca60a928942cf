"""Perturbations of numbers: written out, which changes nothing, and changed, which makes a text wrong."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from nlgauge.core.options import Checked
from nlgauge.perturbations.base import Case, Change, Edit, Inapplicable, as_good, attack, worse
from nlgauge.text.numbers.changes import Changing, Spelling, changed_numbers, spelled_numbers
from nlgauge.text.numbers.words import YearStyle

Which = Literal["all", "one"]
Group = list[tuple[int, int, str]]


@dataclass(frozen=True, kw_only=True)
class NumbersToWords(Checked):
    """Write numbers out: amounts, percentages, units, ordinals, years, ranges.

    Dates in figures, times, telephone numbers, versions, designations, scores and labels are left in figures.

    Args:
        which: write `all` numbers in words, or `one`.
        british_and: write "one hundred and twenty-seven" instead of "one hundred twenty-seven".
        money: $1.70 becomes "one dollar and seventy cents" with `cents`, and "one point seven dollars" with `point`.
        years: `words` writes years and decades in words; `leave` keeps their figures.
        year_style: 2005 becomes "two thousand five" with `thousand`, and "twenty oh five" with `pairs`.
    """

    which: Which = "all"
    british_and: bool = False
    money: Literal["cents", "point"] = "cents"
    years: Literal["words", "leave"] = "words"
    year_style: YearStyle = "thousand"
    info: ClassVar = as_good(
        "write numbers in words",
        (
            "A ticket for the 5 km ride costs $1.70.",
            "A ticket for the five-kilometre ride costs one dollar and seventy cents.",
        ),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per number, and one for "a" or "an" where it changes."""
        spelling = Spelling(
            british_and=self.british_and, money=self.money, years=self.years, year_style=self.year_style
        )
        return _change(
            case, rng, spelled_numbers(case.text, spelling, tags={t.start: t.tag for t in case.doc.tokens}), self.which
        )


@dataclass(frozen=True, kw_only=True)
class ChangeNumbers(Checked):
    """Put other numbers of the same form in the place of numbers, in figures or in words.

    The new number has as many digits, and the same separators, decimals and zeros at the end. A percentage up to 100
    stays within 100, and a year stays in its century. Equal numbers stay equal. Times, telephone numbers, versions,
    designations and numbers in names are left as they are.

    Args:
        which: change `all` numbers, or `one`.
        skip_dates: leave years, decades, centuries and days of months as they are.
        in_words: change numbers in words, too.
        least: the smallest change, as a share of the number: 0.1 is a tenth. Dates are not bound by it.
        most: the largest change, as a share of the number; None sets no limit. Dates are not bound by it.
    """

    which: Which = "all"
    skip_dates: bool = False
    in_words: bool = True
    least: float = 0.0
    most: float | None = None
    info: ClassVar = worse(
        "change numbers and dates",
        ("The bridge of 1990 is 1,200 metres long.", "The bridge of 1920 is 5,100 metres long."),
    )

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """One edit per number, and one for "a" or "an" where it changes."""
        band = None if self.most is None and self.least <= 0 else (self.least, 9.0 if self.most is None else self.most)
        changing = Changing(skip_dates=self.skip_dates, band=band, in_words=self.in_words)
        return _change(case, rng, changed_numbers(case.text, rng, changing), self.which)


@dataclass(frozen=True, kw_only=True)
class NumberError(ChangeNumbers):
    """Change numbers, all but dates. Args: as for `ChangeNumbers`."""

    skip_dates: bool = True
    info: ClassVar = attack(
        "change numbers, but leave dates alone",
        ("In 1990 it paid 25% to 19,000 people.", "In 1990 it paid 45% to 12,000 people."),
    )


def _change(case: Case, rng: random.Random, groups: Sequence[Group], which: Which) -> Change | Inapplicable:
    """The edits of all groups or of one, with old and new in the meta."""
    if not groups:
        return Inapplicable("no number")
    chosen = [rng.choice(groups)] if which == "one" else groups
    edits = [Edit(*edit) for group in chosen for edit in group]
    return Change(edits, {"numbers": [[case.text[group[-1][0] : group[-1][1]], group[-1][2]] for group in chosen]})
