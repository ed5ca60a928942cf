"""NLI pairs that look like an attack: premise and hypothesis differ in one place: python edits.py FILE ...

Counted are pairs with three or more words in common before and after that place, which holds up to four words on either
side. Case and commas do not count. Prints, for each file, how many pairs of each label differ in a negation, a pronoun,
one other word, more words, or words that only one side has.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from itertools import takewhile

from nlgauge.io import InputFile
from nlgauge.training.nli import read_pairs

LABELS = ("entailment", "neutral", "contradiction")
KINDS = ("negation", "pronoun", "one word", "several words", "put in or taken out")
PRONOUNS = set("he she it they him her them his its their i we you me us my our your".split())
NEGATIONS = set(
    "not no never cannot nobody none nothing without isn't aren't wasn't weren't don't doesn't didn't".split()
)
AROUND = set("do does did a any is".split())  # words that come or go with a negation
COMMON, LONGEST = 3, 4


def words(text: str) -> list[str]:
    return re.findall(r"\w+(?:'\w+)?", text.lower())


def in_common(one: list[str], other: list[str]) -> int:
    """How many words two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def kind(premise: str, hypothesis: str) -> str | None:
    """How the texts differ; None if they are equal or differ in more than one place."""
    first, second = words(premise), words(hypothesis)
    start = in_common(first, second)
    one, other = first[start:], second[start:]
    end = in_common(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    if one == other or max(len(one), len(other)) > LONGEST or start + end < COMMON:
        return None
    if (set(one) ^ set(other)) & NEGATIONS and set(one) - NEGATIONS - AROUND == set(other) - NEGATIONS - AROUND:
        return "negation"
    if not one or not other:
        return "put in or taken out"
    if len(one) > 1 or len(other) > 1:
        return "several words"
    return "pronoun" if {*one, *other} <= PRONOUNS else "one word"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    print(f"| set | label | pairs | {' | '.join(KINDS)} |\n|---|---|{'---:|' * (len(KINDS) + 1)}")
    for path in given.files:
        file = InputFile(path)
        pairs = read_pairs(file)
        counts = Counter((pair.label, kind(*pair[:2])) for pair in pairs)
        for number, label in enumerate(LABELS):
            total = sum(pair.label == number for pair in pairs)
            shown = " | ".join(f"{counts[number, name]:,}" for name in KINDS)
            print(f"| {file.name.partition('.')[0]} | {label} | {total:,} | {shown} |")


if __name__ == "__main__":
    main()
