"""All that WordNet's files say of a sense: its relations, field of meaning, frames, definition and frequency."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from nlgauge.text import lexicon

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_FILES = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}

# The lexicographers' files, in the order of their numbers (lexnames, section 5 of the manual); Debian's package leaves
# the table out.
SUPERSENSES = tuple(
    f"{pos}.{field}"
    for pos, fields in (
        ("adj", "all pert"),
        ("adv", "all"),
        (
            "noun",
            (
                "Tops act animal artifact attribute body cognition communication event feeling food group location"
                " motive object person phenomenon plant possession process quantity relation shape state substance time"
            ),
        ),
        (
            "verb",
            (
                "body change cognition communication competition consumption contact creation emotion motion perception"
                " possession social stative weather"
            ),
        ),
        ("adj", "ppl"),
    )
    for field in fields.split()
)


@dataclass(frozen=True)
class Pointer:
    """A relation from a synset, or from one of its words, to another."""

    kind: str
    target: tuple[str, int]
    from_word: int  # 1-based; 0 means the whole synset
    to_word: int


@dataclass(frozen=True, eq=False)  # one object per synset, so that it hashes fast
class Synset:
    """A synset: words with the same meaning."""

    key: tuple[str, int]  # file and offset
    supersense: str
    satellite: bool
    words: tuple[str, ...]
    pointers: tuple[Pointer, ...]
    frames: frozenset[int]  # of verbs: numbers of the sentence frames that all of its words fit into
    gloss: str

    def to(self, *kinds: str, word: int | None = None) -> Iterator[Pointer]:
        """The pointers of some kinds. With `word`, only those of that word (counted from 1)."""
        return (p for p in self.pointers if p.kind in kinds and (word is None or p.from_word == word))


class WordNet(lexicon.WordNet):
    """Reads `cntlist.rev` as well, if it exists (senseidx(5WN))."""

    def __init__(self, folder: str | Path) -> None:
        super().__init__(folder)
        self.synset = lru_cache(1 << 17)(self._synset)

    def senses(self, lemma: str, pos: str) -> list[Synset]:
        """The synsets of a lemma as noun, verb, adj or adv, with the most frequent sense first."""
        return [self.synset((pos, offset)) for offset in self.index[pos].get(lemma.lower().replace(" ", "_"), ())]

    def lemmas(self, pos: str) -> Iterator[str]:
        """All lemmas of a part of speech, with underscores."""
        return iter(self.index[pos])

    def count(self, lemma: str, pos: str, sense: int) -> int:
        """How often a sense (counted from 1) was tagged in the authors' texts; 0 if that is not known."""
        return self._counts.get((lemma.lower().replace(" ", "_"), PARTS[pos], sense), 0)

    @cached_property
    def _counts(self) -> dict[tuple[str, str, int], int]:
        path = self.folder / "cntlist.rev"
        counts: dict[tuple[str, str, int], int] = {}
        for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
            key, sense, count = line.split()
            lemma, _, rest = key.partition("%")
            counts[lemma, "nvara"[int(rest[0]) - 1], int(sense)] = int(count)
        return counts

    def _synset(self, key: tuple[str, int]) -> Synset:
        data, start = self.data[key[0]], key[1]
        head, _, gloss = data[start : data.index(b"\n", start)].decode().partition(" | ")
        fields = head.split()
        if int(fields[0]) != start:  # each line begins with its own offset
            raise ValueError
        size = int(fields[3], 16)
        at = 4 + 2 * size
        words = tuple(w.partition("(")[0] for w in fields[4:at:2])  # an adjective may carry its place: (p), (a), (ip)
        rest = at + 1 + 4 * int(fields[at])
        quads = (fields[i : i + 4] for i in range(at + 1, rest, 4))
        pointers = tuple(
            Pointer(kind, (_FILES[p], int(offset)), int(ends[:2], 16), int(ends[2:], 16))
            for kind, offset, p, ends in quads
        )
        numbered = zip(fields[rest + 2 :: 3], fields[rest + 3 :: 3], strict=False)
        frames = frozenset(int(n) for n, word in numbered if word == "00")
        return Synset(key, SUPERSENSES[int(fields[1])], fields[2] == "s", words, pointers, frames, gloss.strip())
