"""WordNet as its authors ship it. Senses and relations are read from a folder of dict files when they are needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path

from nlgauge.core.errors import InputError
from nlgauge.text.lexicon import RELATIONS, is_blocked

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
# Endings of inflected words and what stands in their place in the base form (morphy, section 7 of the manual).
_ENDINGS = {
    "noun": "s- ses-s ves-f xes-x zes-z ches-ch shes-sh men-man ies-y",
    "verb": "s- ies-y es-e es- ed-e ed- ing-e ing-",
    "adj": "er- est- er-e est-e",
    "adv": "",
}
ENDINGS = {
    part: tuple((ending, base) for ending, _, base in (rule.partition("-") for rule in rules.split()))
    for part, rules in _ENDINGS.items()
}


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


class WordNet:
    """Reads `index.*`, `data.*` and, if it exists, `cntlist.rev`.

    Args:
        folder: the folder with the files of WordNet 3.0 (or 3.1, 2.1). Debian's wordnet-base puts them into
            /usr/share/wordnet.

    Raises:
        InputError: a file is missing.

    References:
        wndb(5WN) and senseidx(5WN) of WordNet 3.0 for the formats.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        needed = [name for part in PARTS for name in (f"index.{part}", f"data.{part}")]
        lacking = [name for name in needed if not os.path.isfile(self.folder / name)]
        if lacking:
            raise InputError(
                f"{self.folder} has no {lacking[0]}; expected the dict folder of WordNet (index.noun, data.noun, ...)"
            )
        self.synset = lru_cache(1 << 17)(self._synset)

    def senses(self, lemma: str, pos: str) -> list[Synset]:
        """The synsets of a lemma as noun, verb, adj or adv, with the most frequent sense first.

        The words of a lemma may be separated by blanks or underscores.
        """
        name = _FILES[_letter(pos)]
        return [self.synset((name, offset)) for offset in self._index[name].get(lemma.lower().replace(" ", "_"), ())]

    def lemmas(self, pos: str) -> Iterator[str]:
        """All lemmas of a part of speech, with underscores."""
        return iter(self._index[_FILES[_letter(pos)]])

    def synonyms(self, word: str) -> frozenset[str]:
        """The words of all senses of all base forms of a word, without those that are written with a blank.

        They are spelt as in WordNet, with capitals. nltk's `synsets(word)` has the same senses.
        """
        found: set[str] = set()
        for pos, part in PARTS.items():
            index = self._index[_FILES[part]]
            for form in base_forms(word.lower(), pos, index.__contains__, self._exceptions[pos]):
                for offset in index[form]:
                    found.update(self.synset((_FILES[part], offset)).words)
        return frozenset(word for word in found if "_" not in word)

    @cached_property
    def digest(self) -> str:
        """The digest of the files, for a signature."""
        files = sorted(path for path in self.folder.glob("*.*") if path.stem in ("index", "data", *PARTS))
        total = sha256()
        for path in files:
            total.update(path.name.encode() + path.read_bytes())
        return "sha256:" + total.hexdigest()[:16]

    def count(self, lemma: str, pos: str, sense: int) -> int:
        """How often a sense (counted from 1) was tagged in the authors' texts; 0 if that is not known."""
        return self._counts.get((lemma.lower().replace(" ", "_"), _letter(pos), sense), 0)

    def related(self, lemma: str, pos: str, relation: str, *, senses: int = 1) -> list[str]:
        """All related words of the first senses. `lexicon.related` gives those of the extract.

        Args:
            lemma: a base form.
            pos: noun, verb, adj or adv.
            relation: synonym, antonym, hyponym, hypernym, sibling or similar.
            senses: the number of senses to use.

        Returns:
            Words, written with blanks, without slurs and crude words. Those that are most frequent in the authors'
            texts come first. [] if none is known.
        """
        if relation not in RELATIONS:
            raise InputError(f"no relation {relation!r}, expected one of {', '.join(RELATIONS)}")
        key = lemma.lower().replace(" ", "_")
        counts: dict[str, int] = {}
        for synset in self.senses(lemma, pos)[:senses]:
            for target, words in self._reached(synset, key, relation):
                for word in words:
                    if word.lower() != key and not is_blocked(word):
                        counts[word] = max(counts.get(word, 0), self._counted(word, pos, target))
        return [word.replace("_", " ") for word in sorted(counts, key=lambda w: -counts[w])]

    def _reached(self, synset: Synset, key: str, relation: str) -> Iterator[tuple[Synset, tuple[str, ...]]]:
        """The synsets that a relation leads to, and which of their words."""
        if relation == "antonym":
            words = [w.lower() for w in synset.words]
            for pointer in synset.to("!", word=1 + words.index(key) if key in words else None):
                target = self.synset(pointer.target)
                yield target, target.words[pointer.to_word - 1 : pointer.to_word]
            return
        steps = {"synonym": "", "hyponym": "~", "hypernym": "@", "sibling": "@~", "similar": "&"}[relation]
        level = [synset]
        for kind in steps:
            level = [self.synset(p.target) for s in level for p in s.to(kind)]
        yield from ((s, s.words) for s in level if not steps or s.key != synset.key)

    def _counted(self, word: str, pos: str, synset: Synset) -> int:
        keys = [s.key for s in self.senses(word, pos)]
        return self.count(word, pos, 1 + keys.index(synset.key)) if synset.key in keys else 0

    @cached_property
    def _index(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """File -> lemma -> offsets, in the order of senses."""
        index: dict[str, dict[str, tuple[int, ...]]] = {}
        for name in PARTS:
            entries = index[name] = {}
            for line in (self.folder / f"index.{name}").read_text("utf-8", "replace").splitlines():
                if line.startswith(" "):
                    continue
                fields = line.split()
                try:
                    entries[fields[0]] = tuple(map(int, fields[-int(fields[2]) :]))
                except (ValueError, IndexError):
                    raise InputError(
                        f"{self.folder / f'index.{name}'} has a line {line[:60]!r}, expected a lemma of WordNet with"
                        " the offsets of its senses"
                    ) from None
        return index

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        """Part of speech -> irregular form -> its base forms; empty without the files `noun.exc` and so on."""
        tables = {}
        for pos in PARTS:
            path = self.folder / f"{pos}.exc"
            lines = path.read_text("utf-8").splitlines() if path.is_file() else []
            tables[pos] = {fields[0]: fields[1:] for fields in map(str.split, lines) if fields}
        return tables

    @cached_property
    def _data(self) -> dict[str, bytes]:
        return {name: (self.folder / f"data.{name}").read_bytes() for name in PARTS}

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
        try:
            return self._parsed(key)
        except (ValueError, IndexError, KeyError):
            raise InputError(
                f"{self.folder / f'data.{key[0]}'} has no synset at offset {key[1]}, to which another file leads; are"
                " all files of one release of WordNet?"
            ) from None

    def _parsed(self, key: tuple[str, int]) -> Synset:
        data, start = self._data[key[0]], key[1]
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


def _letter(pos: str) -> str:
    if pos not in PARTS:
        raise InputError(f"no part of speech {pos!r}, expected one of {', '.join(PARTS)}")
    return PARTS[pos]


def base_forms(
    word: str, pos: str, knows: Callable[[str], bool], irregular: Mapping[str, Iterable[str]] | None = None
) -> list[str]:
    """The known forms that a word may be an inflection of, the word itself among them.

    Args:
        word: in small letters.
        pos: noun, verb, adj or adv.
        knows: whether a form is known.
        irregular: irregular forms -> their base forms; endings are not looked at for these.
    """
    if irregular and word in irregular:
        forms = [word, *irregular[word]]
    else:
        forms = [word, *(word.removesuffix(old) + new for old, new in ENDINGS[pos] if word.endswith(old))]
    return [form for form in dict.fromkeys(forms) if knows(form)]
