"""Pairs of translations, and of translations with errors, for the trial of a head that knows both:

    python translations.py OUT SEED --segments FILE ... [--across] [--share 1] [--keep N --kept FILE ...]

Segments: JSON lines with an output (`hyp`), its post-edit (`refs`), `human.da`, `human.hter` and `split`, as MLQE-PE
has them. Taken are outputs of the training split that people rated 80 or more of 100 and that were still edited:
two translations of one source that say the same. Kept: JSON lines of which N are taken as they are.

`--across`, for `nli-multi`: the source beside a text that translates it, which is the post-edit of an output rated 50
or more, or, in files without `split`, the reference. Errors are put into the English side alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from rules import C, E, N, Row, Texts, is_upward, kept, rows

from nlgauge.core.result import replacing

LEAST_RATING, MOST_EDITS, SHORTEST, LONGEST = 80, 0.6, 20, 140  # da, hter, characters of each text
TRANSLATIONS, ITSELF = 2400, 400
# Template -> pairs wanted of a translation with the error and the same translation, and of it with the other one.
UNFLUENT = {"jumble_words": (700, 300), "subject_verb_disagreement": (1100, 600), "typos": (300, 200)}
WRONG = {
    "number_error": 200,
    "negation": 250,
    "name_error": 200,
    "mismatch_noun": 200,
    "mismatch_verb": 250,
    "mismatch_adj": 200,
    "pronoun_error": 200,
}
LESS, MORE = {"omission": 400}, {"addition": 400}
# Across languages: pairs wanted of each kind, and of each template.
LEAST_ACROSS = 50  # da
ACROSS = {"translations": 6500, "two sentences": 1200, "another sentence": 700, "source itself": 300}
WRONG_ACROSS = {
    "number_error": 600,
    "change_numbers": 300,
    "negation": 900,
    "antonyms:pos=any": 600,
    "name_error": 700,
    "mismatch_noun": 600,
    "mismatch_verb": 600,
    "mismatch_adj": 500,
    "pronoun_error": 500,
    "hyponyms:relation=sibling": 700,
}
LESS_ACROSS, MORE_ACROSS = {"omission": 900}, {"addition": 900}


def translations(paths: list[str]) -> list[tuple[str, str]]:
    """(post-edit, output) of every segment that is good enough."""
    found = set()
    for row in chain.from_iterable(rows(path) for path in paths):
        edited, output = row["refs"][0], row["hyp"]
        good = row["human"]["da"] >= LEAST_RATING and 0 < row["human"]["hter"] <= MOST_EDITS
        fits = all(SHORTEST <= len(text) <= LONGEST for text in (edited, output))
        if row["split"] == "train" and good and fits:
            found.add((edited, output))
    return sorted(found)


def generate(pairs: list[tuple[str, str]], seed: int, share: float) -> Iterator[Row]:
    """The pairs: both translations, one with a slip in it, and one that says something else, more or less."""
    rng = random.Random(seed)
    other = {text: partner for pair in pairs for text, partner in (pair, pair[::-1])}
    pool = Texts(sorted(other), rng)
    for pair in rng.sample(pairs, int(TRANSLATIONS * share)):
        yield (*rng.choice([pair, pair[::-1]]), E, "translations")
    for text in rng.sample(sorted(other), int(ITSELF * share)):
        yield text, text, E, "itself"
    for template, counts in UNFLUENT.items():
        for wanted, against in zip(counts, (None, other), strict=True):
            for text, made in pool.changed(template, int(wanted * share)):
                whole = against[text] if against else text
                yield (*rng.choice([(whole, made), (made, whole)]), N, name(template, against))
    for template, wanted in WRONG.items():
        for text, made in pool.changed(template, int(wanted * share)):
            yield (*rng.choice([(other[text], made), (made, other[text])]), C, name(template, other))
    for less, table in ((True, LESS), (False, MORE)):
        for template, wanted in table.items():
            for text, made in pool.changed(template, int(wanted * share), is_upward):
                whole, part = (other[text], made) if less else (made, other[text])
                yield rng.choice([(whole, part, E, name(template, other)), (part, whole, N, name(template, other))])


def sources(paths: list[str]) -> list[tuple[str, str]]:
    """(English text, source that it translates), each text once."""
    found = {}
    for row in chain.from_iterable(rows(path) for path in paths):
        english, source = row["refs"][0], row["src"]
        good = row["split"] == "train" and row["human"]["da"] >= LEAST_ACROSS if "split" in row else True
        if good and SHORTEST <= len(english) <= LONGEST and len(source) <= LONGEST:
            found[english] = source
    return sorted(found.items())


def across(pairs: list[tuple[str, str]], seed: int, share: float) -> Iterator[Row]:
    """The pairs in two languages; either side is the premise."""
    rng = random.Random(seed)
    source_of = dict(pairs)
    pool = Texts(sorted(source_of), rng)
    wanted = {kind: int(n * share) for kind, n in ACROSS.items()}
    for pair in rng.sample(pairs, wanted["translations"]):
        yield (*rng.choice([pair, pair[::-1]]), E, "translations")
    for _ in range(wanted["two sentences"]):
        first, second = rng.sample(pairs, 2)
        side = rng.randrange(2)
        whole, part = f"{first[side]} {second[side]}", rng.choice([first, second])[1 - side]
        yield rng.choice([(whole, part, E, "two sentences"), (part, whole, N, "two sentences")])
    for _ in range(wanted["another sentence"]):
        first, second = rng.sample(pairs, 2)
        yield (*rng.choice([(first[0], second[1]), (first[1], second[0])]), N, "another sentence")
    for _, source in rng.sample(pairs, wanted["source itself"]):
        yield source, source, E, "source itself"
    for template, n in WRONG_ACROSS.items():
        for text, made in pool.changed(template, int(n * share)):
            yield (*rng.choice([(source_of[text], made), (made, source_of[text])]), C, template)
    for less, table in ((True, LESS_ACROSS), (False, MORE_ACROSS)):
        for template, n in table.items():
            for text, made in pool.changed(template, int(n * share), is_upward):
                whole, part = (source_of[text], made) if less else (made, source_of[text])
                yield rng.choice([(whole, part, E, template), (part, whole, N, template)])


def name(template: str, other: object) -> str:
    return f"{template} on the other translation" if other else template


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("seed", type=int)
    parser.add_argument("--segments", nargs="+", required=True)
    parser.add_argument("--across", action="store_true", help="sources beside texts that translate them")
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs wanted of each kind")
    parser.add_argument("--keep", type=int, default=0)
    parser.add_argument("--kept", nargs="*", default=[])
    given = parser.parse_args()
    pairs = (sources if given.across else translations)(given.segments)
    counts: Counter[tuple[str, str]] = Counter()
    with replacing(given.out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        made = (across if given.across else generate)(pairs, given.seed, given.share)
        for premise, hypothesis, label, rule in chain(made, kept(given.kept, given.keep, given.seed)):
            counts[rule, label] += 1
            row = {"premise": premise, "hypothesis": hypothesis, "label": label, "rule": rule}
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    for (rule, label), n in sorted(counts.items()):
        print(f"{n:6d}  {label:13s}  {rule}")
    print(f"{counts.total():6d}  pairs of {len(pairs)} translations -> {Path(given.out).name}")


if __name__ == "__main__":
    main()
