"""Tests of systems: their names, the words that notes use for them, and how many draws they take by default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nlgauge.core.errors import InputError, nearest

if TYPE_CHECKING:
    from nlgauge.stats.significance import TestName

Test = Literal["bootstrap", "randomization", "randomisation", "paired_bootstrap", "paired_randomisation"]
INTERVAL_DRAWS = 1000
SACREBLEU_SEED = 12345  # what sacrebleu takes where SACREBLEU_SEED is not set


@dataclass(frozen=True)
class SystemTest:
    """A paired test of two systems.

    Attributes:
        name: its name in options and in the settings of a result file.
        run: the function of `nlgauge.stats.significance`; rows of result files have this name.
        words: its name in notes.
        draws: the number of draws where none is given; sacrebleu's default.
        fewest: the number of items below which it calls too much significant (docs/statistics/coverage.md).
    """

    name: Literal["bootstrap", "randomization"]
    run: TestName
    words: str
    draws: int
    fewest: int = 0


_BOOTSTRAP = SystemTest("bootstrap", "paired_bootstrap", "paired bootstrap", 1000, fewest=50)
_RANDOMIZATION = SystemTest("randomization", "paired_randomisation", "paired approximate randomisation", 10000)
_NAMES = {
    "bootstrap": _BOOTSTRAP,
    "paired_bootstrap": _BOOTSTRAP,
    "randomization": _RANDOMIZATION,
    "randomisation": _RANDOMIZATION,
    "paired_randomisation": _RANDOMIZATION,
}


def system_test(name: str) -> SystemTest:
    """The test of a name.

    Raises:
        InputError: the name is unknown.
    """
    if name not in _NAMES:
        raise InputError(f"test is {name!r}, expected bootstrap or randomization{nearest(name, _NAMES)}")
    return _NAMES[name]
