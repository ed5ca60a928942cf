"""Claims about documents, for the head `faithful`:

    PYTHONPATH=recipes/nli python recipes/faithful/claims.py OUT SEED --news FILE --tagged FILE --pairs FILE ... \
        --translations FILE ... --held-out FILE ... [--share S] [--dev FILE]

News and tagged text give documents: runs of sentences that stand one after the other. NLI pairs and translations with
their post-edits give pairs of sentences; their document is made of sentences of other pairs, of which some share most
words with the claim. A claim is a sentence, shortened, reworded or joined with another one: it follows from a document
that holds the sentence, and does not from the same document without it. An error put into it makes it a
contradiction. Documents whose number is divisible by 25 go to --dev and are not trained on.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rules import folded, is_upward, lines, rows
from structures import fronted, passive, swapped

from nlgauge import perturb
from nlgauge.core.result import replacing
from nlgauge.text import Token
from nlgauge.text.languages import language
from nlgauge.text.names import entities
from nlgauge.text.numbers.find import find_numbers

E, N, C = "entailment", "neutral", "contradiction"
EVERY_DEV = 25
WORDS = (30, 55, 80, 110, 140)  # lengths of documents
SAME = ("synonyms", "synonyms_objects", "numbers_to_words", "contractions", "expansions")
LESS = ("omission", "drop_adjectives", "hyponyms:relation=hypernym")
WRONG = {
    "number_error": 0.7, "change_numbers": 0.3, "negation": 0.25, "name_error": 0.7, "antonyms:pos=any": 0.3,
    "mismatch_noun": 0.2, "mismatch_verb": 0.3, "mismatch_adj": 0.2, "change_gender": 0.4, "pronoun_error": 0.4,
    "hyponyms:relation=sibling": 0.35, "change_attributes": 0.2,
}  # fmt: skip
MORE = {"addition": 0.25}
CLAUSE = re.compile(r"^(.{25,}?)(?:, (?:and|but|while|which|where|who|after|because|although)\b|; | - | – ).*$")
PHRASE = re.compile(
    r"\b(in|on|at|from|after|before|during|by|for|to|with|of) "
    r"((?:the |a |an |his |her |their )?[A-Za-z][\w'-]*(?: [A-Z][\w'-]*)*)(?=[ ,.])"
)


@dataclass(frozen=True)
class Told:
    """A claim that follows from some sentences of a document.

    Attributes:
        document: the sentences.
        support: the places of those that it follows from.
        claim: the text.
        rule: how it was made.
    """

    document: tuple[str, ...]
    support: tuple[int, ...]
    claim: str
    rule: str
    owner: int


def runs(texts: Sequence[str], rng: random.Random) -> list[tuple[str, ...]]:
    """Documents of sentences that stand one after the other."""
    found, at = [], 0
    while at < len(texts):
        wanted, run = rng.choice(WORDS), []
        while at < len(texts) and sum(len(t.split()) for t in run) < wanted:
            run.append(texts[at])
            at += 1
        if len(run) >= 3:
            found.append(tuple(run))
    return found


def is_claim(text: str) -> bool:
    return 30 <= len(text) <= 220 and text[0].isupper() and text.rstrip("\"'”’")[-1:] in ".!" and '"' not in text


def decapitalised(text: str) -> str:
    tokens = language().analyse(text).tokens
    name = not tokens or tokens[0].tag in ("NNP", "NNPS") or tokens[0].text == "I"
    return text if name else text[0].lower() + text[1:]


def joined(one: str, other: str, rng: random.Random) -> str:
    return f"{one.rstrip('.!')}{rng.choice([' and ', ', and ', ', while ', '; '])}{decapitalised(other)}"


def resolved(document: Sequence[str], place: int) -> tuple[str, str | None] | None:
    """A sentence that begins with a pronoun, with the person that the sentence before names alone; and another one."""
    text = document[place]
    match = re.match(r"(He|She) (?=[a-z])", text)
    if match is None or place == 0:
        return None
    gender = "m" if match[1] == "He" else "f"
    before = language().analyse(document[place - 1])
    people = {document[place - 1][p.start : p.end] for p in language().persons(before) if p.gender in (gender, None)}
    if len(people) != 1:
        return None
    (name,) = people
    others = {
        t[p.start : p.end]
        for t in document
        for p in language().persons(language().analyse(t))
        if not set(t[p.start : p.end].split()) & set(name.split())
    }
    rest = text[match.end() :]
    return f"{name} {rest}", (f"{sorted(others)[0]} {rest}" if others else None)


def told(documents: Sequence[tuple[str, ...]], rng: random.Random) -> tuple[list[Told], list[tuple[Told, str, str]]]:
    """Claims that follow, and claims with the wrong person."""
    found: list[Told] = []
    wrong: list[tuple[Told, str, str]] = []
    for owner, document in enumerate(documents):
        places = [i for i, text in enumerate(document) if is_claim(text)]
        rng.shuffle(places)
        for place in places[:3]:
            found.append(Told(document, (place,), document[place], "itself", owner))
            person = resolved(document, place)
            if person is not None:
                right = Told(document, (place,), person[0], "person", owner)
                found.append(right)
                if person[1]:
                    wrong.append((right, person[1], "other person"))
        if len(places) > 1 and rng.random() < 0.5:
            one, other = sorted(places[:2])
            found.append(Told(document, (one, other), joined(document[one], document[other], rng), "joined", owner))
        # A headline says what its article says.
        if not document[0].rstrip().endswith((".", "!", "?", '"', ":")) and len(document[0].split()) > 4:
            found.append(Told(document[1:], tuple(range(min(4, len(document) - 1))), document[0], "headline", owner))
    return found, wrong


def reworded(claims: Sequence[Told], rng: random.Random) -> list[Told]:
    """The claims, most of them said otherwise or with less."""
    found = [t if rng.random() < 0.3 else None for t in claims]
    for template in (*SAME, *LESS):
        open_ = [i for i, t in enumerate(found) if t is None and (template not in LESS or is_upward(claims[i].claim))]
        chosen = rng.sample(open_, round(len(open_) * 0.22))
        for i, made in zip(chosen, perturb(template, [claims[i].claim for i in chosen]), strict=True):
            if made is not None:
                t = claims[i]
                found[i] = Told(t.document, t.support, made.text, f"{t.rule}, {template}", t.owner)
    for i, t in enumerate(claims):
        if found[i] is None:
            other = passive(t.claim) or fronted(t.claim)
            cut = CLAUSE.match(t.claim)
            if other is None and cut is not None and is_upward(t.claim) and t.rule != "joined":
                other = cut[1].rstrip(",") + "."
            found[i] = t if other is None else Told(t.document, t.support, other, f"{t.rule}, structure", t.owner)
    return [t for t in found if t is not None]


def exchanged(t: Told, rng: random.Random) -> list[tuple[str, str]]:
    """The claim with a name, a number or a phrase of another sentence of its document in the place of its own."""
    claim, others = t.claim, [s for i, s in enumerate(t.document) if i not in t.support]
    found = []
    names = [claim[e.start : e.end] for e in entities(language().analyse(claim).tokens)]
    inside = {s[e.start : e.end] for s in t.document for e in entities(language().analyse(s).tokens)}
    free = sorted(n for n in inside if not any(set(n.split()) & set(m.split()) for m in names))
    if names and free:
        name = rng.choice(names)
        found.append((claim.replace(name, rng.choice(free), 1), "name of the document"))
    if len(names) > 1:
        a, b = rng.sample(names, 2)
        if not set(a.split()) & set(b.split()):
            found.append((claim.replace(a, "\0", 1).replace(b, a, 1).replace("\0", b, 1), "names exchanged"))
    numbers = [n for n in find_numbers(claim) if n.value is not None]
    values = {n.value for n in find_numbers(" ".join(s for i, s in enumerate(t.document) if i in t.support))}
    free = sorted(
        {s[n.start : n.end] for s in others for n in find_numbers(s) if n.value is not None and n.value not in values}
    )
    if numbers and free:
        n = rng.choice(numbers)
        found.append((claim[: n.start] + rng.choice(free) + claim[n.end :], "number of the document"))
    phrases = [m for m in PHRASE.finditer(claim) if m.start() > 0]
    if phrases:
        m = rng.choice(phrases)
        free = [
            o[2]
            for s in others
            for o in PHRASE.finditer(s)
            if o[1] == m[1] and o[2] not in " ".join(t.document[i] for i in t.support)
        ]
        if free:
            found.append((claim[: m.start(2)] + rng.choice(free) + claim[m.end(2) :], "phrase of the document"))
    other = swapped(claim)
    if other:
        found.append((other, "swapped"))
    return found


def fused(document: Sequence[str], rng: random.Random) -> str | None:
    """The beginning of one sentence and the end of another one, put together at their first verbs or at a preposition.

    Summaries that a network writes go wrong like this.
    """
    whole = [s for s in document if is_claim(s) and len(s.split()) >= 8]
    if len(whole) < 2:
        return None
    one, other = rng.sample(whole, 2)
    for at in rng.sample([_is_verb, _is_preposition], 2):
        before = [t for t in language().analyse(one).tokens[2:-2] if at(t)]
        after = [t for t in language().analyse(other).tokens[2:-2] if at(t)]
        if before and after:
            head, tail = one[: before[0].start], other[after[0].start :]
            if len(tail.split()) >= 2 and folded(head + tail) not in folded(_text(document)):
                return head + tail
    return None


def _is_verb(token: Token) -> bool:
    return token.tag in ("VBD", "VBZ", "VBP", "MD")


def _is_preposition(token: Token) -> bool:
    return token.tag == "IN" and token.lower in ("in", "at", "on", "for", "from", "after", "by", "with", "to")


def errors(claims: Sequence[Told], rng: random.Random) -> list[tuple[Told, str, str]]:
    found: list[tuple[Told, str, str]] = []
    for template, share in {**WRONG, **MORE}.items():
        chosen = rng.sample(range(len(claims)), round(len(claims) * share * 0.5))
        for i, made in zip(chosen, perturb(template, [claims[i].claim for i in chosen]), strict=True):
            if made is not None:
                found.append((claims[i], made.text, template))
    for t in claims:
        if t.rule.startswith("headline"):
            continue
        for made, rule in exchanged(t, rng):
            if rng.random() < 0.6 and folded(made) != folded(t.claim):
                found.append((t, made, rule))
    return found


def at_most(found: Sequence[tuple[Told, str, str]], most: int, rng: random.Random) -> list[tuple[Told, str, str]]:
    """A few errors of each claim, rare rules first."""
    counts = Counter(rule for _, _, rule in found)
    by: dict[int, list[tuple[Told, str, str]]] = defaultdict(list)
    for entry in found:
        by[id(entry[0])].append(entry)
    kept = []
    for entries in by.values():
        rng.shuffle(entries)
        kept += sorted(entries, key=lambda entry: counts[entry[2]])[: rng.choice([1, most])]
    return kept


def among(pairs: Sequence[dict[str, str]], rng: random.Random, first: int) -> list[tuple[str, str, str, str, int]]:
    """NLI pairs whose premise stands in a document of other premises, of which one shares most words with the claim."""
    by_word: dict[str, list[int]] = defaultdict(list)
    premises = sorted({p["premise"] for p in pairs})
    for i, text in enumerate(premises):
        for word in set(folded(text).split()):
            by_word[word].append(i)
    found = []
    for number, p in enumerate(pairs):
        words = sorted({w for w in folded(p["hypothesis"]).split() if len(by_word[w]) < len(premises) / 50})
        near = Counter(i for w in words for i in by_word[w])
        near_ones = [premises[i] for i, _ in near.most_common(4) if premises[i] != p["premise"]]
        wanted, document = rng.choice(WORDS[:3]), near_ones[: rng.choice([0, 1, 2])]
        while sum(len(t.split()) for t in document) < wanted:
            document.append(rng.choice(premises))
        document = [t for t in dict.fromkeys(document) if t != p["premise"]]
        rng.shuffle(document)
        whole = list(document)
        whole.insert(rng.randint(0, len(whole)), p["premise"])
        owner = first + number
        found.append((_text(whole), p["hypothesis"], p["label"], f"{p['source']} in a document", owner))
        if p["label"] == E and rng.random() < 0.4:
            found.append((_text(document), p["hypothesis"], N, f"{p['source']} without its premise", owner))
    return found


def _text(sentences: Sequence[str]) -> str:
    return " ".join(sentences)


def from_documents(
    documents: Sequence[tuple[str, ...]], tries: int, rng: random.Random
) -> list[tuple[str, str, str, str, int]]:
    plain, others = told(documents, rng)
    claims = reworded(plain, rng)
    found = []
    for t in claims:
        whole = _text(t.document)
        found.append((whole, t.claim, E, t.rule, t.owner))
        rest = [s for i, s in enumerate(t.document) if i not in t.support]
        if t.rule.startswith("joined") and rng.random() < 0.7:  # one half alone does not do
            gone = rng.choice(t.support)
            rest = [s for i, s in enumerate(t.document) if i != gone]
        if rest and rng.random() < 0.45 and not t.rule.startswith("headline"):
            found.append((_text(rest), t.claim, N, f"{t.rule}, taken out", t.owner))
    for owner, document in enumerate(documents):
        for _ in range(tries):
            made = fused(document, rng)
            if made is not None:
                found.append((_text(document), made, N, "fused", owner))
    for t, made, rule in at_most([*errors(claims, rng), *others], 2, rng):
        found.append((_text(t.document), made, N if rule in MORE or rule == "swapped" else C, rule, t.owner))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("seed", type=int)
    parser.add_argument("--news")
    parser.add_argument("--tagged")
    parser.add_argument("--dev")
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--fused", type=int, default=0, help="tries of each document")
    parser.add_argument("--keep", type=int, default=0, help="pairs of --kept that are taken as they are")
    for option in ("--pairs", "--translations", "--held-out", "--kept"):
        parser.add_argument(option, nargs="*", default=[])
    given = parser.parse_args()
    rng = random.Random(given.seed)
    held = {folded(row[side]) for path in given.held_out for row in rows(path) for side in ("premise", "hypothesis")}

    def few(found: list, share: float) -> list:
        return rng.sample(found, round(len(found) * min(1.0, share * given.share)))

    news = [t for t in lines(given.news) if t and folded(t) not in held]
    tagged = [t for t in (row["text"] for row in rows(given.tagged)) if 20 <= len(t) <= 400 and folded(t) not in held]
    documents = few(runs(news, rng), 1.0) + few(runs(tagged, rng), 0.35)
    found = from_documents(documents, given.fused, rng)
    # A translation and its post-edit say the same, where people rated it well; documents are made of post-edits.
    good = [
        {"premise": row["refs"][0], "hypothesis": row["hyp"], "label": E, "source": "translation"}
        for path in given.translations
        for row in rows(path)
        if row["split"] == "train"
        and row["human"]["da"] >= 75
        and 0 < row["human"]["hter"] <= 0.5
        and len(row["refs"][0]) >= 40
    ]
    good = few(good, 0.15)
    for pair in [p for p in good if rng.random() < 0.6]:
        template = rng.choice(sorted(WRONG))
        made = perturb(template, [pair["hypothesis"]])[0]
        if made is not None:
            good.append({**pair, "hypothesis": made.text, "label": C, "source": "translation with an error"})
    first = len(documents)
    found += among(good, rng, first)
    for path, share in zip(given.pairs, (0.3, 0.3, 0.3, 0.22), strict=False):
        pairs = few(
            [
                p
                for p in rows(path)
                if len(p["premise"]) <= 300 and not {folded(p["premise"]), folded(p["hypothesis"])} & held
            ],
            share,
        )
        found += among(pairs, rng, first)
    for path in (given.out, given.dev):
        if path is None:
            continue
        part = [row for row in found if (row[4] % EVERY_DEV == 0) == (path == given.dev) or given.dev is None]
        if path == given.out and given.keep:
            short = [row for kept in given.kept for row in rows(kept)]
            part += [
                (row["premise"], row["hypothesis"], row["label"], "kept", 0)
                for row in random.Random(1).sample(short, given.keep)
            ]
        write(path, part)


def write(path: str, found: Sequence[tuple[str, str, str, str, int]]) -> None:
    counts = Counter((rule.split(",")[0], label) for _, _, label, rule, _ in found)
    with replacing(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        for premise, hypothesis, label, rule, _ in found:
            row = {"premise": premise, "hypothesis": hypothesis, "label": label, "rule": rule}
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    for (rule, label), n in sorted(counts.items()):
        print(f"{n:6d}  {label:13s}  {rule}")
    words = sum(len(p.split()) + len(h.split()) for p, h, *_ in found)
    print(f"{len(found):6d}  claims, {words / len(found):.0f} words each with their documents -> {Path(path).name}")


if __name__ == "__main__":
    main()
