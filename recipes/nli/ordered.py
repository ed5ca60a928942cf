"""Translations in order: an output before the same output with one error, for a head that keeps to that order:

    python ordered.py OUT SEED --segments FILE ... [--share 1]

Segments: as for translations.py; only the training split is used. Two kinds of rows:

    {"anchor", "better", "worse", "first", "margin", "rule"}
        The better text shall have the higher entailment with the anchor, by `margin` in log-odds; `first` says whether
        the anchor is the premise.
    {"premise", "hypothesis", "entailment", "rule"}
        An output and its post-edit, with the mean rating (0 to 1) as the probability of entailment.

The anchor is mostly the post-edit. In the rows "itself" it is the text before the error; in "copy" the worse text is a
damaged copy of the anchor, and the better one another translation.
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
from typing import Any

from rules import Texts, is_upward, rows

from nlgauge.core.result import replacing

SHORTEST, LONGEST = 20, 140  # characters of each text
LEAST_RATING, LEAST_EDITS, MOST_EDITS = 50, 0.05, 0.7  # of outputs that get an error
GOOD, REWORDED = 75, 0.1  # of outputs that go before a damaged copy of their post-edit: rating, edits
MEANING, FLUENCY, SLIP = 1.5, 0.7, 0.4  # margins: a slip shall cost little, an error of meaning more
GRADED = 2000
# Template -> rows wanted of an output, of a text beside itself, and of a copy of the post-edit.
WRONG = {
    "number_error": (130, 20, 30),
    "change_numbers": (60, 10, 20),
    "negation": (160, 20, 60),
    "name_error": (130, 20, 40),
    "antonyms:pos=any": (160, 20, 50),
    "mismatch_noun": (160, 20, 40),
    "mismatch_verb": (160, 20, 50),
    "mismatch_adj": (130, 20, 30),
    "pronoun_error": (100, 20, 30),
    "hyponyms:relation=sibling": (130, 20, 40),
    "swap_objects": (130, 30, 30),
}
LESS = {"omission": (160, 40, 0), "drop_phrases": (120, 20, 0)}  # the text with less in it does not entail the anchor
MORE = {"addition": (160, 40, 40)}  # the anchor does not entail the text with more in it
UNFLUENT = {
    "jumble_words": (250, 60, 40),
    "subject_verb_disagreement": (300, 80, 40),
    "typos": (200, 60, 0),
    "repeat_phrases": (150, 40, 0),
}
SLIPS = {"neighbours exchanged": (200, 60), "a word twice": (150, 40), "a short word left out": (150, 40)}


def translations(paths: list[str]) -> list[tuple[str, str, float, float]]:
    """(post-edit, output, rating, edits) of the segments of fitting length."""
    found = set()
    for row in chain.from_iterable(rows(path) for path in paths):
        edited, output, human = row["refs"][0], row["hyp"], row["human"]
        if row["split"] == "train" and all(SHORTEST <= len(text) <= LONGEST for text in (edited, output)):
            found.add((edited, output, human["da"], human["hter"]))
    return sorted(found)


def slipped(name: str, text: str, rng: random.Random) -> str | None:
    """The text with a small slip in it; None if it holds no place for one."""
    words = text.split(" ")
    inside = range(1, len(words) - 2)
    if name == "neighbours exchanged":
        at = [i for i in inside if words[i].isalpha() and words[i + 1].isalpha() and words[i] != words[i + 1]]
    else:
        longest = 3 if name == "a short word left out" else 20
        at = [i for i in inside if words[i].isalpha() and len(words[i]) <= longest]
    if not at:
        return None
    i = rng.choice(at)
    if name == "neighbours exchanged":
        words[i], words[i + 1] = words[i + 1], words[i]
    else:
        words[i : i + 1] = [words[i]] * 2 if name == "a word twice" else []
    return " ".join(words)


def generate(pairs: list[tuple[str, str, float, float]], seed: int, share: float) -> Iterator[dict[str, Any]]:
    rng = random.Random(seed)
    fit = [p for p in pairs if p[2] >= LEAST_RATING and LEAST_EDITS <= p[3] <= MOST_EDITS]
    edited_of = {output: edited for edited, output, _, _ in fit}
    output_of = {edited: output for edited, output, rating, edits in fit if rating >= GOOD and edits >= REWORDED}
    outputs, edits = Texts(sorted(edited_of), rng), Texts(sorted(output_of), rng)
    tables = ((WRONG, MEANING, None), (LESS, MEANING, False), (MORE, MEANING, True), (UNFLUENT, FLUENCY, None))
    for table, margin, first in tables:
        for template, wanted in table.items():
            n = [int(count * share) for count in wanted]
            fits = is_upward if first is not None else bool
            for at, (text, made) in enumerate(outputs.changed(template, n[0] + n[1], fits)):
                anchor, rule = (edited_of[text], template) if at < n[0] else (text, f"{template}, itself")
                yield ordered(anchor, text, made, first, margin, rule, rng)
            for text, made in edits.changed(template, n[2], fits):
                yield ordered(text, output_of[text], made, first, margin / 2, f"{template}, copy", rng)
    for name, wanted in SLIPS.items():
        n = [int(count * share) for count in wanted]
        for at, text in enumerate(rng.sample(outputs.texts, sum(n))):
            made = slipped(name, text, rng)
            if made is not None:
                anchor, rule = (edited_of[text], name) if at < n[0] else (text, f"{name}, itself")
                yield ordered(anchor, text, made, None, SLIP, rule, rng)
    for edited, output, rating, _ in rng.sample([p for p in pairs if p[3] > 0], int(GRADED * share)):
        one, other = rng.choice([(edited, output), (output, edited)])
        yield {"premise": one, "hypothesis": other, "entailment": rating / 100, "rule": "rated"}


def ordered(
    anchor: str, better: str, worse: str, first: bool | None, margin: float, rule: str, rng: random.Random
) -> dict[str, Any]:
    first = rng.random() < 0.5 if first is None else first
    return {"anchor": anchor, "better": better, "worse": worse, "first": first, "margin": margin, "rule": rule}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("seed", type=int)
    parser.add_argument("--segments", nargs="+", required=True)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows wanted of each kind")
    given = parser.parse_args()
    pairs = translations(given.segments)
    counts: Counter[str] = Counter()
    with replacing(given.out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        for row in generate(pairs, given.seed, given.share):
            counts[row["rule"]] += 1
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    for rule, n in sorted(counts.items()):
        print(f"{n:6d}  {rule}")
    print(f"{counts.total():6d}  rows of {len(pairs)} translations -> {Path(given.out).name}")


if __name__ == "__main__":
    main()
