"""Does a metric prefer a machine translation to the same translation with one error put in?

    python damaged.py SEGMENTS [--limit 600] [--seed 21] [--head FILE_OR_NAME ...] [--metric SPEC ...] [--kinds]

The form is DEMETR's (Karpinska et al. 2022): both texts are held against one reference, which neither was made from.
Nothing is judged by people. SEGMENTS are rows of `hyp` and `refs`; one output is drawn of each item, and it is damaged
twice, in meaning and in fluency, each time by the kind that fits it and was used least. A row of the table is a metric,
a value the share of outputs that it prefers to their damaged copy; ties count half, and in the second of each two
columns they are lost. HELD BACK are kinds that `ordered.py` does not teach. Heads are read by `both-geometric`, their
default, and by `direction=both`.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rules import rows

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.models.entailment import load_nli

MEANING = (
    "number_error",
    "name_error",
    "negation",
    "antonyms:pos=any",
    "omission",
    "addition",
    "pronoun_error",
    "mismatch_noun",
    "mismatch_verb",
    "mismatch_adj",
    "swap_objects",
    "hyponyms:relation=sibling",
    "hyponyms:relation=hypernym",
    "drop_phrases",
    "drop_named_entities",
    "repeat_object",
)
FLUENCY = (
    "jumble_words",
    "subject_verb_disagreement",
    "typos",
    "repeat_phrases",
    "remove_punctuation",
    "drop_stopwords",
)
HELD_BACK = (
    "hyponyms:relation=hypernym",
    "drop_named_entities",
    "repeat_object",
    "remove_punctuation",
    "drop_stopwords",
)


class Case(NamedTuple):
    """A reference, an output, the output with an error, and the kind of the error."""

    reference: str
    better: str
    worse: str
    kind: str


def drawn(segments: Sequence[Mapping[str, object]], limit: int, seed: int) -> list[tuple[str, str]]:
    """(reference, output) of one output for each of `limit` items."""
    rng = random.Random(seed)
    of: dict[str, list[tuple[str, str]]] = {}
    for row in segments:
        reference, output = str(row["refs"][0]).strip(), str(row["hyp"]).strip()  # type: ignore[index]
        if reference.lower() != output.lower():
            of.setdefault(str(row["seg"]), []).append((reference, output))
    items = sorted(of)
    rng.shuffle(items)
    return [rng.choice(of[item]) for item in items[:limit]]


def cases(pairs: Sequence[tuple[str, str]], seed: int) -> Iterator[Case]:
    """Each output with one error of meaning and one of fluency, where one fits."""
    for kinds in (MEANING, FLUENCY):
        made = {kind: ng.perturb(kind, [output for _, output in pairs], seed=seed) for kind in kinds}
        used: Counter[str] = Counter()
        for at, (reference, output) in enumerate(pairs):
            fitting = [kind for kind in kinds if made[kind][at] is not None]
            if fitting:
                kind = min(fitting, key=lambda kind: (used[kind], kinds.index(kind)))
                used[kind] += 1
                yield Case(reference, output, made[kind][at].text.strip(), kind)  # type: ignore[union-attr]


def by_head(head: str, tried: Sequence[Case]) -> dict[str, Array]:
    """What a head gives the better and the worse text of each case, shape (n, 2), in both ways."""
    judge = load_nli(head, None, None, "float32", ng.Runtime(dtype="float32", device="cpu")).judge
    asked = [pair for c in tried for t in (c.better, c.worse) for pair in ((c.reference, t), (t, c.reference))]
    e = judge(asked).probabilities[:, 0].reshape(-1, 2, 2)
    return {"both-geometric": np.sqrt(e.prod(axis=2)), "both": np.asarray(e.mean(axis=2))}


def by_metric(spec: str, tried: Sequence[Case]) -> Array:
    texts = [(c.reference, t) for c in tried for t in (c.better, c.worse)]
    (found,) = ng.score([text for _, text in texts], [[reference] for reference, _ in texts], metrics=spec).values()
    return np.asarray(found.values, dtype=float).reshape(-1, 2)


def shares(values: Array, tried: Sequence[Case], by_kind: bool) -> list[float]:
    """Of all cases, of meaning, of fluency, of kinds held back: ties half, and lost."""
    half = (values[:, 0] > values[:, 1]) + 0.5 * (values[:, 0] == values[:, 1])
    won = values[:, 0] > values[:, 1]
    kinds = np.array([c.kind for c in tried])
    groups = [kinds != "", np.isin(kinds, MEANING), np.isin(kinds, FLUENCY), np.isin(kinds, HELD_BACK)]
    if by_kind:
        groups += [kinds == kind for kind in (*MEANING, *FLUENCY)]
    return [float(x[group].mean()) for group in groups for x in (half, won)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("segments", type=Path)
    parser.add_argument("--limit", type=int, default=600, help="items")
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--head", nargs="*", default=[])
    parser.add_argument("--metric", nargs="*", default=[])
    parser.add_argument("--kinds", action="store_true", help="a column for each kind of error, too")
    given = parser.parse_args()
    tried = list(cases(drawn(rows(str(given.segments)), given.limit, given.seed), given.seed))
    counts = Counter(c.kind for c in tried)
    print(f"{len(tried)} cases: {', '.join(f'{kind} {n}' for kind, n in counts.items())}\n")
    names = ["all", "meaning", "fluency", "held back", *((*MEANING, *FLUENCY) if given.kinds else ())]
    print(f"| metric | {' | '.join(f'{name} | ties lost' for name in names)} |\n|---|{'---:|' * (2 * len(names))}")
    for name in given.metric:
        show(name, shares(by_metric(name, tried), tried, given.kinds))
    for head in given.head:
        for way, values in by_head(head, tried).items():
            show(f"{Path(head).stem}, {way}", shares(values, tried, given.kinds))


def show(name: str, found: Sequence[float]) -> None:
    print(f"| {name} | {' | '.join(f'{value:.3f}' for value in found)} |", flush=True)


if __name__ == "__main__":
    main()
