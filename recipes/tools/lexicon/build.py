"""The lexicon: related words of English that a reader would know, drawn from WordNet 3.0. See README.md beside this
file.
"""

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
from itertools import chain
from pathlib import Path

import lemminflect
from block import is_blocked
from wordnet import PARTS, SUPERSENSES, Pointer, Synset, WordNet

RELATIONS = ("synonym", "antonym", "hyponym", "hypernym", "sibling", "similar")
KEPT = {"synonym": 6, "antonym": 4, "hyponym": 10, "hypernym": 4, "sibling": 12, "similar": 8}
PHRASES = 2  # of several words each, beside them
KNOWN = 1.5  # how often a word must occur to be offered
SECOND = 0.2  # a later sense speaks for the word only with this share of the first one's count
FIT = 0.25  # a word is offered for a sense that is its first, or has this share of its counts
DATA = Path(__file__).parents[3] / "src/nlgauge/data/language"
WORD = re.compile(r"[a-z]+(?:-[a-z]+)*")
UNKIND = re.compile(  # in a definition
    r"\b(offensive|disparag\w+|derogat\w+|slurs?|vulgar|obscene|contempt\w*|insult\w*|genital\w*|sexual\w*|coitus|prostitut\w+|promiscuous"
    r"|loose morals|archaic|obsolete|African|Negro\w*|homosexual\w*|excrement|ethnic|racial|dark[- ]skinned)\b",
    re.IGNORECASE,
)
UNFIT = frozenset(  # domains of usage
    "archaism slang disparagement ethnic_slur obscenity plural trademark trade_name combining_form dialect comparative"
    " superlative".split()
)
GENDERS = {  # where the first sense is another, or its definition does not tell
    **dict.fromkeys(
        "queen mom mommy mum mummy granny maid maiden bridesmaid duchess countess princess nanny mama".split(), "f"
    ),
    **dict.fromkeys(
        (
            "dad daddy grandpa granddad papa duke lord cowboy fireman bachelor butler groom baron count emperor monk"
            " lad"
        ).split(),
        "m",
    ),
}
GENDERED = re.compile(  # among the first three words of a definition
    r"^(?:[\w'-]+"
    r" ){0,2}?(?:(?P<f>female|woman|girl|lady|wife|daughter|mother|sister|noblewoman)"
    r"|male|man|boy|son|husband|father|brother|nobleman)"
    r"\b(?P<both> or )?"
)
TAGS = {"noun": "NOUN", "verb": "VERB", "adj": "ADJ", "adv": "ADV"}
CLOSED = frozenset(
    """a an the i he she it we you they me him her us them my his its our your their who whom whose which what that
    this these those and or but nor so yet in on at by for from of to with as than into onto over under be am is
    are was were been being have has had do does did not no if then there here will would shall should can could
    may might must""".split()
)


@dataclass(frozen=True)
class Candidate:
    word: str
    synset: Synset
    sure: bool
    weight: float


def read(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from lines


def count_forms(paths: Iterable[Path]) -> tuple[Counter[str], Counter[str]]:
    """How often each small-letter word form stands in the texts, and how often after "a", "an", "every".

    Capitals may be names and are left out.
    """
    forms: Counter[str] = Counter()
    after_one: Counter[str] = Counter()
    one = re.compile(
        r"(?<![\w'-])(?:an?|every|each|another) ([a-z]+)(?="
        r" (?:of|in|on|to|for|with|at|from|that|and|is|was)\b|[.,;:?!)]|$)"
    )
    for path in paths:
        for line in read(path):
            forms.update(re.findall(r"(?<![\w'-])[a-z]+(?:-[a-z]+)*(?![\w])", line))
            after_one.update(one.findall(line))
    return forms, after_one


MASS = frozenset(  # nouns without a plural whose counts mislead, being few or of people who learn the language
    """advice air anger baggage bread butter cash chaos cheese clothing coal cotton courage damage dirt dust
    electricity equipment evidence fog fun furniture garbage grass guilt hair happiness harm hardware health
    help homework hunger information jewelry jewellery joy junk justice knowledge laughter leather luck luggage
    lumber machinery mail meat milk money mud music news oil oxygen patience peace pollution poverty pride
    progress rain rice safety sand scenery shopping silver snow software steel sugar sunshine thunder traffic
    transport violence water weather wheat wisdom wood wool""".split()
)
# The sense that readers of today think of, where WordNet's texts of 1961 had another one more often, or none at all.
FIRST = {("like", "verb"): 2} | {
    (noun, "noun"): int(sense)
    for noun, sense in (
        pair.split(":")
        for pair in (
            "table:2 plate:4 scooter:3 microwave:2 television:3 kite:3 monitor:4 church:2 lid:2 path:2 van:5 "
            "bank:2 glass:2 minister:2 match:2 university:3 plant:2 crane:4 image:3 background:2 queen:2"
        ).split()
    )
}


class Builder:
    def __init__(self, wordnet: WordNet, forms: Counter[str], after_one: Counter[str]) -> None:
        self.wordnet, self.forms, self.after_one = wordnet, forms, after_one

    @cache  # noqa: B019 (one builder a run)
    def tagged(self, lemma: str, pos: str) -> int:
        return sum(self.wordnet.count(lemma, pos, i) for i in range(1, 1 + len(self.wordnet.senses(lemma, pos))))

    @cache  # noqa: B019 (one builder a run)
    def frequency(self, lemma: str, pos: str) -> float:
        """Occurrences in the texts as this part of speech, and in WordNet's own counts."""
        inflected = {f for fs in lemminflect.getAllInflections(lemma, upos=TAGS[pos]).values() for f in fs} | {lemma}
        by_pos = {p: self.tagged(lemma, p) + (0.5 if self.wordnet.senses(lemma, p) else 0) for p in PARTS}
        return sum(self.forms[f] for f in inflected) * by_pos[pos] / max(sum(by_pos.values()), 1) + self.tagged(
            lemma, pos
        )

    @cache  # noqa: B019 (one builder a run)
    def senses(self, lemma: str, pos: str) -> list[tuple[Synset, float]]:
        """Senses with their share, smoothed so that the first of an uncounted word has half of it."""
        found = self.wordnet.senses(lemma, pos)
        weights = {
            i: self.wordnet.count(lemma, pos, i) + 2.0**-i for i, s in enumerate(found, 1) if lemma in s.words
        }  # "china" is no country
        first = FIRST.get((lemma, pos), 0)
        order = sorted(weights, key=lambda i: (i != first, i))
        return [(found[i - 1], weights[i] / sum(weights.values())) for i in order]

    def spoken_for(self, lemma: str, pos: str) -> list[tuple[Synset, bool]]:
        """The senses that the word may stand for: the first, and those not much rarer, which are less sure."""
        found = self.senses(lemma, pos)
        return [
            (s, i == 0)
            for i, (s, share) in enumerate(found)
            if i == 0 or (i < 4 and share >= SECOND * found[0][1] and share > 0.12)
        ]

    def fit(self, word: str, pos: str, synset: Synset) -> float:
        """Share of the sense among those of the word; 0 where another comes to mind first."""
        for i, (sense, share) in enumerate(self.senses(word, pos)):
            if sense.key == synset.key:
                return share if i == 0 or (share >= FIT and self.tagged(word, pos)) else 0.0
        return 0.0

    @cache  # noqa: B019 (one builder a run)
    def decent(self, synset: Synset) -> bool:
        usage = {self.wordnet.synset(p.target).words[0] for p in synset.to(";u")}
        meaning = synset.gloss.partition(';  "')[0].partition('; "')[0]
        return not usage & UNFIT and not UNKIND.search(meaning)

    @cache  # noqa: B019 (one builder a run)
    def offered(self, word: str, pos: str, synset: Synset, least: float = 0.0) -> float:
        """Weight of a word in a sense, which is taken to fit it at least that much; 0 where it is not to be offered."""
        if not WORD.fullmatch(word) or len(word) < 2 or word in CLOSED or is_blocked(word) or not self.decent(synset):
            return 0.0
        if pos == "noun" and lemminflect.getLemma(word, "NOUN")[0] != word:
            return 0.0  # "people", "trousers": a plural where a singular is wanted
        frequency = self.frequency(word, pos)
        return math.log2(1 + frequency) * max(self.fit(word, pos, synset), least) if frequency >= KNOWN else 0.0

    def words(self, synset: Synset, pos: str, sure: bool, scale: float = 1.0) -> Iterator[Candidate]:
        for word in synset.words:
            weight = self.phrase(word, pos, synset) if "_" in word else self.offered(word, pos, synset)
            if weight:
                yield Candidate(word, synset, sure, weight * scale)

    def phrase(self, words: str, pos: str, synset: Synset) -> float:
        """Weight of several words as one; only what stands in WordNet's own texts is offered."""
        known = (
            re.fullmatch(r"[a-z]+(?:_[a-z]+)+", words)
            and self.tagged(words, pos)
            and not is_blocked(words)
            and self.decent(synset)
        )
        return math.log2(1 + self.tagged(words, pos)) * self.fit(words, pos, synset) if known else 0.0

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
                yield from chain.from_iterable(
                    self.words(t, pos, sure) for s in heads if s.satellite is False for t in self.follow(s, "&")
                )

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
                        yield from chain.from_iterable(
                            self.words(s, pos, sure) for s in self.follow(head, "&") if s.key != synset.key
                        )
            return
        for parent in self.follow(synset, "@"):
            brothers = [s for s in self.follow(parent, "~") if s.key != synset.key]
            yield from chain.from_iterable(self.words(s, pos, sure) for s in brothers)
            for above in self.follow(parent, "@"):
                uncles = [
                    s for s in self.follow(above, "~") if s.key != parent.key and s.supersense == synset.supersense
                ]
                yield from chain.from_iterable(self.words(s, pos, False, 0.5) for s in uncles)
                yield from chain.from_iterable(
                    self.words(t, pos, False, 0.4) for s in uncles for t in self.follow(s, "~")
                )
                if synset.supersense == "noun.person":  # of few kinds of people are there many of one kind
                    far = [s for t in self.follow(above, "@") for s in self.follow(t, "~")]
                    yield from chain.from_iterable(self.words(s, pos, False, 0.2) for s in far)

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
                    unfit = (
                        c.word == lemma
                        or (relation == "sibling" and c.word in family)
                        or (relation != "synonym" and c.word in close)
                    )
                    unfit |= (
                        pos == "verb"
                        and relation != "antonym"
                        and bool(synset.frames)
                        and not synset.frames & c.synset.frames
                    )
                    rank = (c.sure, c.weight)
                    if not unfit and (c.word not in best or rank > (best[c.word].sure, best[c.word].weight)):
                        best[c.word] = c
            ordered = sorted(best.values(), key=lambda c: (not c.sure, -c.weight, c.word))
            singles, phrases = ([c for c in ordered if ("_" in c.word) == several] for several in (False, True))
            found[relation] = [
                c.word if c.sure else f"?{c.word}" for c in [*singles[: KEPT[relation]], *phrases[:PHRASES]]
            ]
        return found

    def supersense(self, lemma: str, pos: str) -> str:
        """Of the first sense; the unique beginners (noun.Tops) are named as what they begin."""
        first = self.senses(lemma, pos)[0][0]
        if first.supersense == "noun.Tops":
            for word in first.words:
                if word in TOPS and word != "Tops":
                    return f"noun.{TOPS[word]}"
        return first.supersense

    def countable(self, lemma: str, pos: str) -> str:
        """c for nouns met in the plural or after "a", u for those met often without, - where too little is seen."""
        plural = next(iter(lemminflect.getInflection(lemma, "NNS")), "") if pos == "noun" else ""
        if lemma in MASS:
            return "u"
        one, many = self.forms[lemma], (self.forms[plural] if plural != lemma else 0) + 5 * self.after_one[lemma]
        if not plural or one + many < 8:
            return "-"
        return "c" if many >= 0.12 * one else "u" if many <= 0.03 * one else "-"

    def gender(self, lemma: str, pos: str) -> str:
        """f or m for people whose first sense lies below a female or male person, or is defined by one of them, else
        -.
        """
        if pos == "noun" and lemma in GENDERS:
            return GENDERS[lemma]
        if pos != "noun" or self.supersense(lemma, pos) != "noun.person":
            return "-"
        if lemma.endswith(("woman", "man")) and lemma not in ("human", "woman", "man"):
            return "f" if lemma.endswith("woman") else "m"
        level, seen = [self.senses(lemma, pos)[0][0]], set()
        told = GENDERED.search(re.sub(r"\([^)]*\) *|^(?:an?|the|your) ", "", level[0].gloss))
        if told and not told["both"]:
            return "f" if told["f"] else "m"
        while level:
            seen |= {s.words[0] for s in level}
            if {"female", "male", "woman", "man", "kinswoman", "kinsman"} & seen:
                return "f" if {"female", "woman", "kinswoman"} & seen else "m"
            level = [t for s in level for t in self.follow(s, "@")]
        return "-"


TOPS = {
    **{s.removeprefix("noun."): s.removeprefix("noun.") for s in SUPERSENSES if s.startswith("noun.")},
    **{
        "psychological_feature": "cognition",
        "causal_agent": "person",
        "organism": "animal",
        "measure": "quantity",
        "matter": "substance",
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wordnet", type=Path, help="folder with index.noun, data.noun, ..., cntlist.rev")
    parser.add_argument(
        "texts", type=Path, nargs="+", help="plain English text, a sentence a line, .gz or not: counted only"
    )
    parser.add_argument("-o", "--output", type=Path, default=DATA / "lexicon.tsv.xz")
    given = parser.parse_args()
    builder = Builder(WordNet(given.wordnet), *count_forms(given.texts))
    rows = []
    for pos in PARTS:
        for lemma in builder.wordnet.lemmas(pos):
            if (
                WORD.fullmatch(lemma)
                and lemma not in CLOSED - {"be", "have", "do"}
                and not is_blocked(lemma)
                and builder.senses(lemma, pos)
            ):
                related, frequency = builder.related(lemma, pos), builder.frequency(lemma, pos)
                if any(related.values()) or frequency >= 1:
                    letter = "r" if pos == "adv" else pos[0]
                    flags = builder.gender(lemma, pos) + builder.countable(lemma, pos)
                    fields = (lemma, letter, builder.supersense(lemma, pos).partition(".")[2], flags)
                    rows.append((-frequency, "\t".join((*fields, *(" ".join(related[r]) for r in RELATIONS)))))
    body = "\n".join(row for _, row in sorted(rows)) + "\n"
    given.output.write_bytes(lzma.compress(body.encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(rows)} lemmas, {len(body)} bytes, {given.output.stat().st_size} packed")


if __name__ == "__main__":
    main()
