"""What a source says to each sentence of a text: its support, the best evidence, and names and numbers without any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nlgauge.core.spec import Signature
from nlgauge.metrics.nli.grounds import Mention

SUPPORTED = 0.5  # from here on a sentence counts as supported, where nothing else is said


@dataclass(frozen=True, slots=True)
class Quote:
    """A part of a text.

    Attributes:
        start: its first character.
        end: the one after its last.
        text: as written.
    """

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Claim:
    """A sentence of a text beside its source.

    Attributes:
        sentence: where it stands in the text.
        support: as in the metric, in [0, 1].
        contradiction: the probability that `evidence` contradicts it, and what the telling window says, by its weight.
        evidence: the sentence of the source that supports it best; if none does, the one that says most of it, be it
            the contrary.
        lacking: its names and numbers that the source lacks, with their places in the text.
    """

    sentence: Quote
    support: float
    contradiction: float
    evidence: Quote
    lacking: tuple[Mention, ...]

    @property
    def reason(self) -> str:
        """Why the sentence is not supported, in words."""
        if self.lacking:
            return "not in the source: " + ", ".join(mention.text for mention in self.lacking)
        return "contradicted by the source" if self.contradiction > SUPPORTED else "not said by the source"


@dataclass(frozen=True)
class Evidence:
    """The sentences of a text beside its source.

    Attributes:
        value: the score of the text; 0 if one of the two texts is empty.
        claims: its sentences, in order.
        signature: what produced the numbers.
    """

    value: float
    claims: tuple[Claim, ...]
    signature: Signature

    def unsupported(self, below: float = SUPPORTED) -> tuple[Claim, ...]:
        """The sentences whose support is below a bound, the least supported first."""
        return tuple(sorted((c for c in self.claims if c.support < below), key=lambda c: round(c.support, 5)))

    def rows(self, below: float = SUPPORTED) -> list[dict[str, Any]]:
        """One row per sentence, for tables and JSON; the reason is None from the bound on."""
        return [
            {
                "start": claim.sentence.start,
                "end": claim.sentence.end,
                "sentence": claim.sentence.text,
                "support": claim.support,
                "contradiction": claim.contradiction,
                "evidence": claim.evidence.text,
                "lacking": [mention.text for mention in claim.lacking],
                "reason": claim.reason if claim.support < below else None,
            }
            for claim in self.claims
        ]

    def lines(self, below: float = SUPPORTED) -> Iterator[str]:
        """The evidence as text: the support and the sentence, and below it what speaks for it or is missing."""
        for claim in self.claims:
            yield f"{claim.support:.2f}  {claim.sentence.text}"
            if claim.support < below:
                yield f"      {claim.reason}"
            yield f"      evidence: {claim.evidence.text}"

    def __str__(self) -> str:
        return "\n".join([f"{self.value:.3f}", *self.lines()])
