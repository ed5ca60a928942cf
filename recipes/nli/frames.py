"""Pairs whose label a quantifier or a negation decides (monotonicity), and pairs about named people."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence

from nlgauge import perturb
from nlgauge.text.lexicon import article_before
from nlgauge.text.names import first_names

E, N, C = "entailment", "neutral", "contradiction"
Row = tuple[str, str, str, str]
UP, DOWN, FLAT = (
    "up",
    "down",
    "flat",
)  # what a place does to "less is said": it follows; it is what follows from; neither

# Quantifier, number of the noun, what becomes of less said of the noun, and of the verb.
QUANTIFIERS = [
    ("some {}", 2, UP, UP),
    ("a {}", 1, UP, UP),
    ("two {}", 2, UP, UP),
    ("at least three {}", 2, UP, UP),
    ("several {}", 2, UP, UP),
    ("more than five {}", 2, UP, UP),
    ("many {}", 2, FLAT, UP),
    ("every {}", 1, DOWN, UP),
    ("all {}", 2, DOWN, UP),
    ("each {}", 1, DOWN, UP),
    ("all the {}", 2, DOWN, UP),
    ("no {}", 1, DOWN, DOWN),
    ("no {}", 2, DOWN, DOWN),
    ("few {}", 2, FLAT, DOWN),
    ("at most three {}", 2, DOWN, DOWN),
    ("less than five {}", 2, DOWN, DOWN),
    ("fewer than ten {}", 2, DOWN, DOWN),
    ("none of the {}", 2, DOWN, DOWN),
    ("not every {}", 1, UP, DOWN),
    ("hardly any {}", 2, FLAT, DOWN),
    ("most {}", 2, FLAT, UP),
    ("exactly two {}", 2, FLAT, FLAT),
    ("neither {}", 1, FLAT, DOWN),
]
NOUNS = [  # from the general to the special; singular and plural
    [("animal", "animals"), ("dog", "dogs"), ("poodle", "poodles")],
    [("animal", "animals"), ("bird", "birds"), ("parrot", "parrots")],
    [("person", "people"), ("musician", "musicians"), ("guitarist", "guitarists")],
    [("person", "people"), ("doctor", "doctors"), ("surgeon", "surgeons")],
    [("person", "people"), ("scientist", "scientists"), ("physicist", "physicists")],
    [("worker", "workers"), ("carpenter", "carpenters")],
    [("child", "children"), ("girl", "girls")],
    [("person", "people"), ("athlete", "athletes"), ("swimmer", "swimmers")],
    [("adult", "adults"), ("woman", "women")],
    [("student", "students"), ("law student", "law students")],
    [("person", "people"), ("teacher", "teachers"), ("chemistry teacher", "chemistry teachers")],
    [("politician", "politicians"), ("senator", "senators")],
    [("adult", "adults"), ("man", "men")],
    [("relative", "relatives"), ("cousin", "cousins")],
]
NARROWER = [
    "{} from Norway",
    "young {}",
    "{} who could drive",
    "tall {}",
    "{} in the building",
    "old {}",
    "{} with red hair",
    "{} who came late",
    "friendly {}",
]
VERBS = [  # past, base, objects from the general to the special
    ("bought", "buy", ["a vehicle", "a car", "a red car"]),
    ("saw", "see", ["an animal", "a horse", "a brown horse"]),
    ("ate", "eat", ["fruit", "apples", "green apples"]),
    ("played", "play", ["an instrument", "a violin"]),
    ("wore", "wear", ["a garment", "a coat", "a woollen coat"]),
    ("drank", "drink", ["alcohol", "wine", "French wine"]),
    ("painted", "paint", ["a piece of furniture", "a chair", "a wooden chair"]),
    ("read", "read", ["a book", "a novel", "a long novel"]),
    ("visited", "visit", ["a country", "a country in Africa"]),
    ("carried", "carry", ["a weapon", "a gun"]),
    ("knew", "know", ["a doctor", "a doctor who speaks Danish"]),
    ("moved", "move", []),
    ("danced", "dance", []),
    ("sang", "sing", ["a song", "an old song"]),
    ("bought", "buy", ["a dress", "a dress with long sleeves"]),
    ("grew", "grow", ["flowers", "roses", "white roses"]),
    ("had", "have", ["a pet", "a cat", "a black cat"]),
    ("won", "win", ["a prize", "a prize for chess"]),
    ("cooked", "cook", ["vegetables", "carrots"]),
    ("laughed", "laugh", []),
    ("studied", "study", ["a language", "a Slavic language"]),
    ("slept", "sleep", []),
]
ADJUNCTS = [
    "in the garden",
    "yesterday",
    "at school",
    "before noon",
    "with a friend",
    "quickly",
    "last summer",
    "on the train",
    "without help",
    "three times",
]
COUNTS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"]


def label(place: str, less_to_more: bool) -> str:
    """Of a pair that goes from less said to more, or from more to less."""
    return E if (place == DOWN) == less_to_more and place != FLAT else N


def sentence(text: str) -> str:
    text = re.sub(r"\ban? (?=\w)", lambda m: f"{article_before(text[m.end() :])} ", text)
    return f"{text[0].upper()}{text[1:]}."


def noun_steps(rng: random.Random) -> list[tuple[str, str]]:
    """Two nouns, the second more special, each in singular and plural."""
    chain = rng.choice(NOUNS)
    at = rng.randrange(len(chain))
    if at + 1 < len(chain) and rng.random() < 0.5:
        return [chain[at], chain[at + 1]]
    more = rng.choice(NARROWER)
    return [chain[at], (more.format(chain[at][0]), more.format(chain[at][1]))]


def verb_steps(rng: random.Random) -> list[tuple[str, str]]:
    """Two ways to say what was done, the second more special, each as past and base."""
    past, base, objects = rng.choice(VERBS)
    at = rng.randrange(len(objects)) if objects else 0
    tail = f" {objects[at]}" if objects else ""
    draw = rng.random()
    if objects and at + 1 < len(objects) and draw < 0.45:
        narrow = f" {objects[at + 1]}"
    elif draw < 0.7:
        narrow = f"{tail} {rng.choice(ADJUNCTS)}"
    else:  # less, more: "or" says less than either side, "and" more
        other, kept = rng.choice(VERBS), (past + tail, base + tail)
        end = f" {other[2][0]}" if other[2] else ""
        if other[1] == base:
            return verb_steps(rng)
        wide = tuple(f"{a} or {b}{end}" for a, b in zip(kept, other[:2], strict=True))
        tight = tuple(f"{a} and {b}{end}" for a, b in zip(kept, other[:2], strict=True))
        return rng.choice([[wide, kept], [kept, tight]])
    return [(past + tail, base + tail), (past + narrow, base + narrow)]


def quantified(rng: random.Random) -> Row:
    """One pair about quantified nouns or a named person."""
    flip = rng.random() < 0.5  # from more to less
    if rng.random() < 0.35:
        name, steps = rng.choice(first_names()[:400]), verb_steps(rng)
        shape, form, place = rng.choice(
            [
                ("{} {}", 0, UP),
                ("{} did not {}", 1, DOWN),
                ("{} didn't {}", 1, DOWN),
                ("{} never {}", 0, DOWN),
                ("it is not true that {} {}", 0, DOWN),
                ("I doubt that {} {}", 0, DOWN),
                ("if {} {}, we will be told", 0, DOWN),
                ("{} refused to {}", 1, DOWN),
                ("{} wanted to {}", 1, UP),
            ]
        )
        pair = [sentence(shape.format(name, step[form])) for step in steps]
    else:
        quantifier, number, on_noun, on_verb = rng.choice(QUANTIFIERS)
        nouns, verbs = noun_steps(rng), verb_steps(rng)
        if rng.random() < 0.5:
            place, pair = on_noun, [sentence(f"{quantifier.format(noun[number - 1])} {verbs[0][0]}") for noun in nouns]
        else:
            place, pair = on_verb, [sentence(f"{quantifier.format(nouns[0][number - 1])} {verb[0]}") for verb in verbs]
    if flip:
        pair.reverse()
    return pair[0], pair[1], label(place, not flip), "monotonicity"


def opposed(rng: random.Random) -> Row:
    """Quantifiers and negations that exclude each other, and counts that do or do not follow."""
    (one, many), verb = noun_steps(rng)[0], verb_steps(rng)[0][0]
    base = next(b for p, b, _ in VERBS if verb.startswith(p))
    draw = rng.random()
    if draw < 0.35:
        left, right = rng.choice(
            [
                ("no {m} {v}", "some {m} {v}"),
                ("every {o} {v}", "not every {o} {v}"),
                ("none of the {m} {v}", "two of the {m} {v}"),
                ("the {o} {v}", "the {o} did not {b}"),
                ("all the {m} {v}", "some of the {m} did not {b}"),
            ]
        )
        rest = verb[len(next(p for p, b, _ in VERBS if verb.startswith(p) and b == base)) :]
        pair = [sentence(t.format(m=many, o=one, v=verb, b=base + rest)) for t in (left, right)]
        rng.shuffle(pair)
        return pair[0], pair[1], C, "opposed"
    low, high = sorted(rng.sample(range(len(COUNTS)), 2))
    shape, first_follows = rng.choice(
        [
            ("more than {} {}", True),
            ("at least {} {}", True),
            ("at most {} {}", False),
            ("fewer than {} {}", False),
            ("exactly {} {}", None),
        ]
    )
    pair = [sentence(f"{shape.format(COUNTS[i], many)} {verb}") for i in (high, low)]
    flip = rng.random() < 0.5
    if flip:
        pair.reverse()
    return pair[0], pair[1], C if first_follows is None else E if first_follows != flip else N, "counts"


def in_texts(texts: Sequence[str], rng: random.Random, wanted: int) -> Iterator[Row]:
    """Sentences found, made to say less, and both then negated: what follows from what is turned round."""
    made = 0
    for start in range(0, len(texts), 400):
        block = [
            t for t in texts[start : start + 400] if not re.search(r"\b(no|not|never|every|all|if|than)\b|n['’]t\b", t)
        ]
        for template in ("drop_adjectives", "hyponyms:relation=hypernym", "omission"):
            pairs = [(t, p.text) for t, p in zip(block, perturb(template, block), strict=True) if p is not None]
            for (more, less), (no_more, no_less) in zip(pairs, _negated(pairs), strict=True):
                if no_more is None or no_less is None:
                    continue
                shared = next((i for i, (a, b) in enumerate(zip(no_more, no_less, strict=False)) if a != b), 0)
                if re.search(r"\bnot\b|n['’]t\b", no_more[:shared]) and re.sub(r"\W", "", more) != re.sub(
                    r"\W", "", less
                ):
                    made += 1
                    yield rng.choice([(no_less, no_more, E, "negated"), (no_more, no_less, N, "negated")])
                    if made >= wanted:
                        return


def _negated(pairs: Sequence[tuple[str, str]]) -> list[tuple[str | None, str | None]]:
    sides = [
        [p.text if p is not None else None for p in perturb("negation", [pair[side] for pair in pairs])]
        for side in (0, 1)
    ]
    return list(zip(*sides, strict=True))


def no_one(texts: Sequence[str], rng: random.Random, wanted: int) -> Iterator[Row]:
    """Captions about "a ..." beside "no ...": what is said of somebody is denied of everybody; of less follows more."""
    made = 0
    for start in range(0, len(texts), 400):
        block = [t for t in texts[start : start + 400] if re.match(r"An? \w+ (is|was) ", t)]
        for template in ("drop_adjectives", "omission", "hyponyms:relation=hypernym"):
            for text, found in zip(block, perturb(template, block), strict=True):
                head = re.match(r"An? (\w+ (?:is|was)) ", text)
                if found is None or head is None or not re.match(rf"An? {head[1]} ", found.text):
                    continue
                more, less = (re.sub(r"^An? ", "No ", t) for t in (text, found.text))
                draw = rng.random()
                yield (
                    (less, more, E, "no one")
                    if draw < 0.4
                    else (more, less, N, "no one")
                    if draw < 0.7
                    else (text, more, C, "no one")
                )
                made += 1
                if made >= wanted:
                    return


def frames(texts: Sequence[str], rng: random.Random, wanted: int) -> Iterator[Row]:
    """Half of them from frames of our own, half from sentences found."""
    for _ in range(wanted * 4 // 10):
        yield quantified(rng)
    for _ in range(wanted // 10):
        yield opposed(rng)
    yield from in_texts(texts, rng, wanted * 3 // 10)
    yield from no_one(texts, rng, wanted * 2 // 10)


ACTIONS = [
    ("called", "called"),
    ("thanked", "thanked"),
    ("hired", "hired"),
    ("saw", "seen"),
    ("helped", "helped"),
    ("followed", "followed"),
    ("hit", "hit"),
    ("invited", "invited"),
    ("taught", "taught"),
    ("pushed", "pushed"),
    ("praised", "praised"),
    ("sued", "sued"),
    ("defeated", "defeated"),
    ("paid", "paid"),
    ("warned", "warned"),
    ("visited", "visited"),
    ("interviewed", "interviewed"),
    ("trusted", "trusted"),
    ("photographed", "photographed"),
    ("left", "left"),
]
RANKS = [
    ("taller", "shorter"),
    ("older", "younger"),
    ("richer", "poorer"),
    ("faster", "slower"),
    ("stronger", "weaker"),
    ("louder", "quieter"),
]
ENDS = ["", " yesterday", " in Rome", " at work", " after the meeting", " last week", " again", " on Monday"]


def named(rng: random.Random, wanted: int) -> Iterator[Row]:
    """Who did what to whom, actively and passively; who is more than whom."""
    for _ in range(wanted):
        a, b, c = rng.sample(first_names()[:600], 3)
        (past, participle), end = rng.choice(ACTIONS), rng.choice(ENDS)
        active, passive = f"{a} {past} {b}{end}.", f"{b} was {participle} by {a}{end}."
        wrong, wrong_passive = f"{b} {past} {a}{end}.", f"{a} was {participle} by {b}{end}."
        up, down = rng.choice(RANKS)
        draw = rng.random()
        if draw < 0.3:
            yield (*rng.choice([(active, passive), (passive, active)]), E, "named")
        elif draw < 0.65:
            yield (
                *rng.choice([(active, wrong), (active, wrong_passive), (passive, wrong), (passive, wrong_passive)]),
                N,
                "named",
            )
        elif draw < 0.75:
            yield active, rng.choice([f"{a} {past} {c}{end}.", f"{c} {past} {b}{end}."]), C, "named"
        elif draw < 0.85:
            yield f"{a} is {up} than {b}.", f"{b} is {down} than {a}.", E, "named"
        else:
            yield (
                f"{a} is {up} than {b}.",
                rng.choice([f"{b} is {up} than {a}.", f"{a} is {down} than {b}."]),
                C,
                "named",
            )
