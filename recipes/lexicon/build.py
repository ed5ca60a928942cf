"""The lexicon: related words of English that a reader would know, drawn from WordNet 3.0. See README.md beside this file."""

from __future__ import annotations

import argparse
import gzip
import lzma
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import lemminflect
from nlgauge.text.wordnet import PARTS, Pointer, Synset, WordNet

RELATIONS = ("synonym", "antonym", "hyponym", "hypernym", "sibling", "similar")
KEPT = {"synonym": 6, "antonym": 4, "hyponym": 10, "hypernym": 4, "sibling": 12, "similar": 8}
KNOWN = 1  # how often a word must occur to be offered
SECOND = 0.2  # a later sense speaks for the word only with this share of the first one's count
FIT = 0.25  # a word is offered for a sense that is its first, or has this share of its counts
DATA = Path(__file__).parents[2] / "src/nlgauge/data/language"
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
UNKIND = re.compile(r"\b(offensive|disparag\w+|derogat\w+|slurs?|vulgar|obscene|contempt\w*|insult\w*|genital\w*|sexual\w*|coitus|prostitut\w+|promiscuous|loose morals|"
                    r"archaic|obsolete|African|Negro\w*|homosexual\w*|excrement|ethnic|racial|dark[- ]skinned)\b", re.I)  # fmt: skip
UNFIT = {"archaism", "slang", "disparagement", "ethnic_slur", "obscenity", "plural", "trademark", "trade_name", "combining_form", "dialect", "comparative", "superlative"}
TAGS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
CLOSED = set(
    "a an the i he she it we you they me him her us them my his its our your their who whom whose which what that this these those and or but nor so yet "
    "in on at by for from of to with as than into onto over under be am is are was were been being have has had do does did not no if then there here "
    "will would shall should can could may might must".split()
)


@dataclass(frozen=True)
class Candidate:
    word: str
    synset: Synset
    sure: bool
    weight: float


@cache
def digests() -> frozenset[str]:
    return frozenset((DATA / "blocked.txt").read_text("ascii").split())


@cache
def blocked(word: str) -> bool:
    return any(blake2b(part.encode(), digest_size=6).hexdigest() in digests() for part in {word, *re.split(r"[-_ ]", word)})


def read(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from lines


def count_forms(paths: Iterable[Path]) -> Counter[str]:
    """How often each small-letter word form stands in the texts; capitals may be names and are left out."""
    return Counter(w for path in paths for line in read(path) for w in re.findall(r"(?<![\w'-])[a-z]+(?:-[a-z]+)*(?![\w])", line))


FIRST = {  # the sense that readers think of, where WordNet's texts had another one more often
    ("like", "verb"): 2,
}


class Builder:
    def __init__(self, wordnet: WordNet, forms: Counter[str]) -> None:
        self.wordnet, self.forms = wordnet, forms

    @cache  # noqa: B019 (one builder a run)
    def tagged(self, lemma: str, pos: str) -> int:
        return sum(self.wordnet.count(lemma, pos, i) for i in range(1, 1 + len(self.wordnet.senses(lemma, pos))))

    @cache  # noqa: B019
    def frequency(self, lemma: str, pos: str) -> float:
        """Occurrences in the texts as this part of speech, and in WordNet's own counts."""
        inflected = {f for fs in lemminflect.getAllInflections(lemma, upos=TAGS[pos]).values() for f in fs} | {lemma}
        by_pos = {p: self.tagged(lemma, p) + (0.5 if self.wordnet.senses(lemma, p) else 0) for p in PARTS}
        return sum(self.forms[f] for f in inflected) * by_pos[pos] / max(sum(by_pos.values()), 1) + self.tagged(lemma, pos)

    @cache  # noqa: B019
    def senses(self, lemma: str, pos: str) -> list[tuple[Synset, float]]:
        """Senses with their share, smoothed so that the first of an uncounted word has half of it."""
        found = self.wordnet.senses(lemma, pos)
        weights = {i: self.wordnet.count(lemma, pos, i) + 2.0**-i for i, s in enumerate(found, 1) if lemma in s.words}  # "china" is no country
        first = FIRST.get((lemma, pos), 0)
        order = sorted(weights, key=lambda i: (i != first, i))
        return [(found[i - 1], weights[i] / sum(weights.values())) for i in order]

    def spoken_for(self, lemma: str, pos: str) -> list[tuple[Synset, bool]]:
        """The senses that the word may stand for: the first, and those not much rarer, which are less sure."""
        found = self.senses(lemma, pos)
        return [(s, i == 0) for i, (s, share) in enumerate(found) if i == 0 or (i < 4 and share >= SECOND * found[0][1] and share > 0.12)]

    def fit(self, word: str, pos: str, synset: Synset) -> float:
        """Share of the sense among those of the word; 0 where another comes to mind first."""
        for i, (sense, share) in enumerate(self.senses(word, pos)):
            if sense.key == synset.key:
                return share if i == 0 or (share >= FIT and self.tagged(word, pos)) else 0.0
        return 0.0

    @cache  # noqa: B019
    def decent(self, synset: Synset) -> bool:
        usage = {self.wordnet.synset(p.target).words[0] for p in synset.to(";u")}
        meaning = synset.gloss.partition(';  "')[0].partition('; "')[0]
        return not usage & UNFIT and not UNKIND.search(meaning)

    def offered(self, word: str, pos: str, synset: Synset, least: float = 0.0) -> float:
        """Weight of a word in a sense, which is taken to fit it at least that much; 0 where it is not to be offered."""
        if not WORD.fullmatch(word) or len(word) < 2 or word in CLOSED or blocked(word) or not self.decent(synset):
            return 0.0
        if pos == "noun" and lemminflect.getLemma(word, "NOUN")[0] != word:
            return 0.0  # "people", "trousers": a plural where a singular is wanted
        frequency = self.frequency(word, pos)
        return math.log2(1 + frequency) * max(self.fit(word, pos, synset), least) if frequency >= KNOWN else 0.0

    def words(self, synset: Synset, pos: str, sure: bool, scale: float = 1.0) -> Iterator[Candidate]:
        for word in synset.words:
            weight = self.offered(word, pos, synset)
            if weight:
                yield Candidate(word, synset, sure, weight * scale)

    def follow(self, synset: Synset, *kinds: str) -> list[Synset]:
        return [self.wordnet.synset(p.target) for p in synset.to(*kinds)]

    def candidates(self, relation: str, lemma: str, pos: str, synset: Synset, sure: bool) -> Iterator[Candidate]:
        if relation == "synonym":
            yield from self.words(synset, pos, sure)
        elif relation == "antonym":
            yield from self.antonyms(lemma, pos, synset, sure)
        elif relation == "hyponym":
            below = self.follow(synset, "~")
            yield from chain.from_iterable(self.words(s, pos, sure) for s in below)
            yield from chain.from_iterable(self.words(t, pos, sure, 0.7) for s in below for t in self.follow(s, "~"))
        elif relation == "hypernym":
            above = self.follow(synset, "@")
            yield from chain.from_iterable(self.words(s, pos, sure, 100) for s in above)
            yield from chain.from_iterable(self.words(t, pos, sure) for s in above for t in self.follow(s, "@"))
        elif relation == "sibling":
            yield from self.siblings(pos, synset, sure)
        elif relation == "similar" and pos == "adj":
            heads = self.follow(synset, "&")
            yield from chain.from_iterable(self.words(s, pos, sure, 2) for s in heads)
            if synset.satellite:
                yield from chain.from_iterable(self.words(t, pos, sure) for s in heads if s.satellite is False for t in self.follow(s, "&"))

    def antonyms(self, lemma: str, pos: str, synset: Synset, sure: bool) -> Iterator[Candidate]:
        def ends(pointers: Iterable[Pointer], sure: bool, scale: float) -> Iterator[Candidate]:
            for p in pointers:
                target = self.wordnet.synset(p.target)
                word = target.words[p.to_word - 1]
                weight = self.offered(word, pos, target, least=0.1 if sure else 0.0)
                if weight:
                    yield Candidate(word, target, sure, weight * scale)

        own = 1 + synset.words.index(lemma)
        yield from ends(synset.to("!", word=own), sure, 100)
        if pos == "adj" and synset.satellite:
            for head in self.follow(synset, "&"):
                yield from ends(head.to("!"), False, 1)
        elif pos in ("adj", "adv"):
            yield from ends((p for p in synset.to("!") if p.from_word != own), False, 10)

    def siblings(self, pos: str, synset: Synset, sure: bool) -> Iterator[Candidate]:
        if pos == "adj":
            if synset.satellite:
                for head in self.follow(synset, "&"):
                    if not head.satellite:
                        yield from chain.from_iterable(self.words(s, pos, sure) for s in self.follow(head, "&") if s.key != synset.key)
            return
        for parent in self.follow(synset, "@"):
            brothers = [s for s in self.follow(parent, "~") if s.key != synset.key]
            yield from chain.from_iterable(self.words(s, pos, sure) for s in brothers)
            for uncle in chain.from_iterable(self.follow(g, "~") for g in self.follow(parent, "@")):
                if uncle.key != parent.key and uncle.supersense == synset.supersense:
                    yield from chain.from_iterable(self.words(s, pos, False, 0.4) for s in self.follow(uncle, "~") if s.key != synset.key)

    def related(self, lemma: str, pos: str) -> dict[str, list[str]]:
        """Relation -> words, best first, the less sure ones with a question mark before them."""
        senses = self.spoken_for(lemma, pos)
        close = {w for s, _ in self.senses(lemma, pos)[:3] for w in s.words}
        family = close | {w for s, _ in senses for t in self.follow(s, "~", "@") for w in t.words}
        found: dict[str, list[str]] = {}
        for relation in RELATIONS:
            best: dict[str, Candidate] = {}
            for synset, first in senses:
                if relation not in ("antonym", "synonym") and best:
                    break  # one sense is enough
                for c in self.candidates(relation, lemma, pos, synset, first):
                    unfit = c.word == lemma or (relation == "sibling" and c.word in family) or (relation != "synonym" and c.word in close)
                    unfit |= pos == "verb" and relation != "antonym" and bool(synset.frames) and not synset.frames & c.synset.frames
                    rank = (c.sure, c.weight)
                    if not unfit and (c.word not in best or rank > (best[c.word].sure, best[c.word].weight)):
                        best[c.word] = c
            ordered = sorted(best.values(), key=lambda c: (not c.sure, -c.weight, c.word))[: KEPT[relation]]
            found[relation] = [c.word if c.sure else f"?{c.word}" for c in ordered]
        return found

    def supersense(self, lemma: str, pos: str) -> str:
        """Of the first sense; the unique beginners (noun.Tops) are named as what they begin."""
        first = self.senses(lemma, pos)[0][0]
        if first.supersense == "noun.Tops":
            for word in first.words:
                if word in TOPS:
                    return f"noun.{TOPS[word]}"
        return first.supersense

    def gender(self, lemma: str, pos: str) -> str:
        """f or m where the first sense is below "female person" or "male person", else -."""
        if pos == "noun":
            level, seen = [self.senses(lemma, pos)[0][0]], set()
            while level:
                seen |= {s.words[0] for s in level}
                if {"female", "male"} & seen:
                    return "f" if "female" in seen else "m"
                level = [t for s in level for t in self.follow(s, "@")]
        return "-"


TOPS = {w: w for w in "act animal artifact attribute body cognition communication event feeling food group location motive person phenomenon plant possession "
        "process quantity relation shape state substance time".split()} | {"psychological_feature": "cognition", "causal_agent": "person", "organism": "animal", "measure": "quantity", "matter": "substance"}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wordnet", type=Path, help="folder with index.noun, data.noun, ..., cntlist.rev")
    parser.add_argument("texts", type=Path, nargs="+", help="plain English text, a sentence a line, .gz or not: counted only")
    parser.add_argument("-o", "--output", type=Path, default=DATA / "lexicon.tsv.xz")
    given = parser.parse_args()
    builder = Builder(WordNet(given.wordnet), count_forms(given.texts))
    rows = []
    for pos in PARTS:
        for lemma in builder.wordnet.lemmas(pos):
            if WORD.fullmatch(lemma) and lemma not in CLOSED - {"be", "have", "do"} and not blocked(lemma) and builder.senses(lemma, pos):
                related, frequency = builder.related(lemma, pos), builder.frequency(lemma, pos)
                if any(related.values()) or frequency >= 1:
                    fields = (lemma, pos[0] if pos != "adv" else "r", builder.supersense(lemma, pos).partition(".")[2], builder.gender(lemma, pos))
                    rows.append((-frequency, "\t".join((*fields, *(" ".join(related[r]) for r in RELATIONS)))))
    body = "\n".join(row for _, row in sorted(rows)) + "\n"
    given.output.write_bytes(lzma.compress(body.encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(rows)} lemmas, {len(body)} bytes, {given.output.stat().st_size} packed")


if __name__ == "__main__":
    main()
