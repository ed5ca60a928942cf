"""In which languages are the texts of a call? Counted by function words; the model is asked where these say little."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nlgauge.core.scores import FIRST
from nlgauge.text.scripts import ENGLISH, languages, leaning, names

FEW, SHARE = 5, 0.1  # texts of a group that look like a language, at least, and their share in it, to be told
_ASKED, _LITTLE = 10, 0.25  # undecided texts that the model is asked about; and the share decided that is enough
_SAMPLES, _EACH = 3, 8  # how often the model is asked, and about how many texts together
_CERTAIN = 0.99
_PAIR = re.compile(r"([a-z]{2,3})-([a-z]{2,3})")  # zh-en, as groups are called


@dataclass(frozen=True)
class Found:
    """The texts that look like one language.

    Attributes:
        n: how many there are.
        first: the ids of the first.
    """

    n: int
    first: list[str]


@dataclass
class _Group:
    n: int = 0
    told: Counter[str] = field(default_factory=Counter)
    first: dict[str | None, list[str]] = field(default_factory=dict)  # None: of those that are not decided
    undecided: int = 0
    sample: list[str] = field(default_factory=list)  # of those, first texts


@dataclass
class LanguageCounts:
    """Counts languages by group, whose name may say the language (`en-de`).

    Attributes:
        side: 0 for the first language of such a name, 1 for the second.
    """

    side: int = 1
    _groups: dict[str | None, _Group] = field(default_factory=dict)

    def pass_by(self, group: str | None) -> None:
        """Count a segment in another script than Latin, which tells enough."""
        self._groups.setdefault(group, _Group()).n += 1

    def add(self, name: str, group: str | None, texts: Sequence[str]) -> None:
        """Count a segment by its texts: it is in English only if none of them is in another language."""
        codes = [leaning(text) for text in texts]
        code = next((c for c in codes if c not in (None, ENGLISH)), ENGLISH if ENGLISH in codes else None)
        one = self._groups.setdefault(group, _Group())
        one.n += 1
        if code is not None:
            one.told[code] += 1
        else:
            one.undecided += 1
            if len(one.sample) < _SAMPLES * _EACH:
                one.sample.append(texts[0])
        first = one.first.setdefault(code, [])
        if len(first) < FIRST:
            first.append(name)

    def found(self) -> dict[str, Found]:
        """Code -> texts that look like that language, in the groups that have enough of them; most first."""
        total: dict[str, Found] = {}
        for group, one in self._groups.items():
            for code, n, first in self._of(group, one):
                before = total.get(code, Found(0, []))
                total[code] = Found(before.n + n, [*before.first, *first][:FIRST])
        return dict(sorted(total.items(), key=lambda entry: -entry[1].n))

    def _of(self, group: str | None, one: _Group) -> Iterator[tuple[str, int, list[str]]]:
        """Code, number and first ids of a group's texts in each language that it has enough of."""
        rest, named = self._rest(group, one)
        told = one.told + Counter({rest: one.undecided} if rest is not None else {})
        for code, n in told.items():
            if n >= max(1 if code == named else FEW, SHARE * one.n):
                yield code, n, [*one.first.get(code, ()), *(one.first.get(None, ()) if code == rest else ())]

    def _rest(self, group: str | None, one: _Group) -> tuple[str | None, str | None]:
        """The language of texts that are not decided, if something else tells it; and that which the group names."""
        named = self._named(group)
        if named is not None:
            return (named if not one.told or one.told.most_common(1)[0][0] == named else None), named
        is_open = one.undecided >= _ASKED and one.undecided > (1 - _LITTLE) * one.n
        return (_asked(one.sample) if is_open else None), None

    def _named(self, group: str | None) -> str | None:
        """The language that the name of a group says."""
        pair = _PAIR.fullmatch(group or "")
        known = pair is not None and names().keys() >= {*pair.groups()}
        return pair[1 + self.side] if pair is not None and known else None


def _asked(sample: Sequence[str]) -> str | None:
    """The language of some texts by the model, where it is certain of it each time it is asked."""
    parts = [" ".join(sample[start::_SAMPLES]) for start in range(_SAMPLES)]
    code, *others = (max(languages(part).items(), key=lambda entry: entry[1]) for part in parts)
    agreed = all(one[0] == code[0] and one[1] >= _CERTAIN for one in (code, *others))
    return code[0] if agreed and code[0] in names() else None
