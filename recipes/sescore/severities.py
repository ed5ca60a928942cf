"""Labelled pairs for the threshold of a judge, and the threshold.

    python severities.py TEXTS -o PAIRS.jsonl [--judge nli --judge nli-robust]

TEXTS holds sentences, one per line, plain or .gz; best are sentences that the judge has not learnt from. Minor are
changes that keep what is said, and slips of the pen. Major are changes that say something else, more or less. Each
perturbation gives the same number of pairs, from sentences drawn by the seed, and both kinds weigh the same.
`nlgauge synth --calibrate PAIRS.jsonl --judge MODEL` finds the same threshold for any other judge.
"""

from __future__ import annotations

import argparse
import json
import random

import numpy as np

from nlgauge import Runtime, perturb
from nlgauge.io.parallel import read_raw
from nlgauge.io.suites.published import Labelled
from nlgauge.perturbations.severity import THRESHOLD, fit, mutual, severity
from nlgauge.perturbations.synthesis import unfit

MINOR = (
    "synonyms",
    "contractions:which=one",
    "expansions:which=one",
    "numbers_to_words:which=one",
    "typos",
    "remove_punctuation",
    "subject_verb_disagreement",
)
MAJOR = (
    "negation",
    "antonyms",
    "number_error",
    "name_error",
    "mismatch_noun",
    "mismatch_verb",
    "drop_objects",
    "drop_phrases",
    "addition",
)


def pairs(texts: list[str], each: int, seed: int) -> tuple[list[Labelled], list[str]]:
    """Labelled pairs and the perturbation that made each."""
    found: list[Labelled] = []
    kinds: list[str] = []
    for names, minor in ((MINOR, True), (MAJOR, False)):
        for name in names:
            order = random.Random(f"{seed}/{name}").sample(texts, len(texts))
            made = (one for text in order for one in perturb(name, text, seed=seed) if one is not None)
            for one, _ in zip(made, range(each), strict=False):
                found.append((one.original, one.text, minor))
                kinds.append(name)
    return found, kinds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--judge", action="append", default=[])
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    texts = [
        text
        for text in dict.fromkeys(read_raw(given.texts).texts)
        if unfit(text) is None and 8 <= len(text.split()) <= 40
    ]
    found, kinds = pairs(texts, given.each, given.seed)
    with open(given.output, "w", encoding="utf-8") as file:
        for (before, after, minor), kind in zip(found, kinds, strict=True):
            file.write(
                json.dumps({"text": before, "changed": after, "minor": minor, "kind": kind}, ensure_ascii=False) + "\n"
            )
    print(f"{len(found)} pairs of {len(texts)} sentences\n")
    minor, runtime = np.array([pair[2] for pair in found]), Runtime(dtype=given.dtype)
    for judge in given.judge:
        asked = severity(judge, "graded", None, runtime).judge
        assert asked is not None
        sure = mutual(asked, [(before, after) for before, after, _ in found])
        best = fit(sure, minor)
        print(
            f"{judge}: threshold {best.threshold:.4f}, balanced accuracy {best.balanced_accuracy:.3f}, "
            f"minor found {best.minor:.3f} of {best.n_minor}, major found {best.major:.3f} of {best.n_major}"
        )
        for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, THRESHOLD):
            share = ((sure[minor] >= threshold).mean() + (sure[~minor] < threshold).mean()) / 2
            print(
                f"  at {threshold}: {share:.3f} ({(sure[minor] >= threshold).mean():.3f} minor,"
                f" {(sure[~minor] < threshold).mean():.3f} major)"
            )
        print("\n| perturbation | pairs | called minor | mean probability |\n|---|---|---|---|")
        for name in (*MINOR, *MAJOR):
            own = sure[[kind == name for kind in kinds]]
            print(f"| {name} | {len(own)} | {(own >= best.threshold).mean():.2f} | {own.mean():.2f} |")
        print()


if __name__ == "__main__":
    main()
