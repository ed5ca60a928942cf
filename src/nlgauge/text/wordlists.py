"""Word lists chosen by hand: sets of English words in the data folder, each read when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cache
from importlib.resources import files


class WordList(Set[str]):
    """The words of one section of a file in `data/language/wordlists`.

    Making such a set at the top of a module costs nothing, since its file is read when a word is first looked up.
    Iteration follows the order of the file. The union, intersection or difference with another set is a frozenset.

    Args:
        file: the name of the file, without its extension.
        section: the name in brackets at the head of the section.
    """

    __slots__ = ("_file", "_section", "_words")

    def __init__(self, file: str, section: str) -> None:
        self._file, self._section = file, section
        self._words: dict[str, None] | None = None

    def __contains__(self, word: object) -> bool:
        return word in (self._words if self._words is not None else self._read())

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return f"WordList({self._file!r}, {self._section!r})"

    def _read(self) -> dict[str, None]:
        if self._words is None:
            self._words = dict.fromkeys(_sections(self._file)[self._section])
        return self._words

    @classmethod
    def _from_iterable(cls, words: Iterator[str]) -> frozenset[str]:  # type: ignore[override]
        return frozenset(words)


@cache
def data_lines(name: str) -> tuple[str, ...]:
    """The lines of a text file in `data/language`, without blank ones and comments, which begin with `# `."""
    text = files("nlgauge").joinpath("data", "language", name).read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("# "))


@cache
def _sections(file: str) -> Mapping[str, list[str]]:
    """The words of each section, in order."""
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in data_lines(f"wordlists/{file}.txt"):
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), [])
        else:
            words += line.split()
    return sections
