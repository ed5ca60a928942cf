"""Sentences of a few words, some without k of them: a score of -k that a tiny model can learn."""

import json
import random

WORDS = ("the", "cat", "dog", "sat", "lay", "mat", "rug", "rain", "snow", "fell", "heavy", "today", "good", "morning")


def triples(n=60, seed=0):
    rng = random.Random(seed)
    for i in range(n):
        words = rng.sample(WORDS, 8)
        for k in (0, 2, 4, 6):
            gone = set(rng.sample(range(8), k))
            yield {
                "id": f"{i}.{k}",
                "hyp": " ".join(w for j, w in enumerate(words) if j not in gone),
                "refs": [" ".join(words)],
                "score": -float(k),
            }


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
