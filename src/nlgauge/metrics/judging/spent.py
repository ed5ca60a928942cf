"""What did the judge cost, and does it favour a place? Requests, tokens, money, and verdicts in both orders."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from nlgauge.metrics.judging.endpoint import Answer
from nlgauge.stats.ratings import swap_consistency

_MILLION = 1_000_000


@dataclass
class Spent:
    """What was asked so far, and what it took.

    Attributes:
        requests: to the endpoint, with those that failed.
        read: tokens of prompts, as the endpoint counts them.
        written: tokens of answers, likewise.
        uncounted: answers of which the endpoint counts no tokens.
        kept: answers that were taken from the file of answers.
        places: of each pair of texts the place that won in both orders, 1, 2 or 0 for a tie; NaN where it was not read.
    """

    requests: int = 0
    read: int = 0
    written: int = 0
    uncounted: int = 0
    kept: int = 0
    places: list[tuple[float, float]] = field(default_factory=list)

    def add(self, answer: Answer) -> None:
        """Count what an answer took."""
        self.requests += answer.requests
        self.read += answer.tokens[0]
        self.written += answer.tokens[1]
        self.uncounted += answer.text is not None and not any(answer.tokens)

    def join(self, other: Spent) -> None:
        """Add what was spent elsewhere."""
        for name in ("requests", "read", "written", "uncounted", "kept"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.places += other.places

    def notes(self, prices: tuple[float, float] | None) -> tuple[str, ...]:
        """The cost in words, and how verdicts depend on the place; nothing if nothing was asked.

        Args:
            prices: of a million tokens of prompts and of answers; None if they are not known.
        """
        if not self.requests and not self.kept:
            return ()
        told = (
            f"{self.requests} requests, {self.read} tokens read and {self.written} written,"
            f" {self.kept} answers kept before"
        )
        if prices is not None:
            money = (self.read * prices[0] + self.written * prices[1]) / _MILLION
            told += f"; they cost {money:.4g}, at {prices[0]:g} and {prices[1]:g} for a million tokens"
        if self.uncounted:
            told += f"; the endpoint does not count the tokens of {self.uncounted} answers"
        return told, *self._on_places()

    def _on_places(self) -> tuple[str, ...]:
        if not self.places:
            return ()
        given, swapped = zip(*self.places, strict=True)
        found = swap_consistency(given, swapped)
        chosen = sum(place in (1, 2) for pair in self.places for place in pair)
        told = f"{found.flips * found.n:.0f} of {found.n} verdicts flip with the order" if found.n else ""
        if not math.isnan(found.first):
            told += f"{', and ' if told else ''}the text shown first wins {found.first:.0%} of {chosen} choices"
        return (told,) if told else ()
