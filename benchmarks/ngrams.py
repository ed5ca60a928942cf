"""METEOR and CIDEr beside nltk and pycocoevalcap: seconds of the processor and the largest difference.

    python benchmarks/ngrams.py segments.jsonl.gz --wordnet /usr/share/wordnet

METEOR is compared if nltk finds its WordNet, CIDEr if pycocoevalcap is installed. The words are the same for both, so
that theirs are split beforehand and ours while the clock runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import numpy as np

import nlgauge as ng

ROUNDS = 3


def best(call: Callable[[], Any]) -> tuple[float, Any]:
    """The shortest of some rounds, and what the last one gave."""
    seconds, found = [], None
    for _ in range(ROUNDS):
        began = process_time()
        found = call()
        seconds.append(process_time() - began)
    return min(seconds), found


def meteor(words: Sequence[tuple[list[str], list[list[str]]]]) -> Callable[[], list[float]]:
    from nltk.corpus import wordnet
    from nltk.translate.meteor_score import meteor_score

    wordnet.ensure_loaded()
    return lambda: [meteor_score(references, hypothesis) for hypothesis, references in words]


def cider(words: Sequence[tuple[list[str], list[list[str]]]]) -> Callable[[], list[float]]:
    from pycocoevalcap.cider.cider import Cider

    hypotheses = {i: [" ".join(hypothesis)] for i, (hypothesis, _) in enumerate(words)}
    references = {i: [" ".join(r) for r in listed] for i, (_, listed) in enumerate(words)}
    return lambda: Cider().compute_score(references, hypotheses)[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("--wordnet", help="the folder of the WordNet that nltk has")
    parser.add_argument("-n", type=int, default=2000, help="segments")
    given = parser.parse_args()
    segments = [
        ng.Segment(s.id, s.hypothesis, s.references) for s in ng.read(given.data).segments[: given.n] if s.references
    ]
    words = [(s.hypothesis.split(), [r.split() for r in s.references]) for s in segments]
    runs = {"cider": (ng.metric("cider", tokenizer="blanks"), cider)}
    if given.wordnet:
        runs["meteor"] = (ng.metric("meteor", tokenizer="blanks", wordnet=given.wordnet), meteor)
    ours = {
        name: best(lambda metric=metric: metric.score(segments, ng.Runtime())) for name, (metric, _) in runs.items()
    }
    print(f"{'metric':8}  segments   theirs s   nlgauge s  times  largest difference")
    for name, (_, peer) in runs.items():
        try:
            theirs, values = best(peer(words))
        except (ImportError, LookupError) as error:
            print(f"{name:8}  not compared: {str(error).split(chr(10))[0] or 'its WordNet is not there'}")
            continue
        seconds, found = ours[name]
        gap = np.abs(found.values - np.array(values)).max()
        print(f"{name:8}  {len(segments):8}  {theirs:9.3f}  {seconds:10.3f}  {theirs / seconds:5.1f}  {gap:.0e}")


if __name__ == "__main__":
    main()
