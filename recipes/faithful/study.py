"""How well do metrics see what a source does not support? Beside each other, with paired bootstraps by article:

    python recipes/faithful/study.py DATA [--specs SPEC ...] [--sets SET ...] [--half 0|1] [--cache FILE]

QAGS-CNN: Pearson with the share of sentences that people found supported. BUMP, tasks 1 and 2, and Rank19: the share
of pairs in which the text without the error scores higher; ties are losses. SummEval: Kendall's tau-b with the
consistency, by article, mean over articles. `--half` takes every second article; the head and its options were chosen
on half 0 of QAGS-CNN and of BUMP's first task. `lacking` is the number of names and numbers that the source lacks.
"""

from __future__ import annotations

import argparse
import gzip
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng

SPECS = ("rouge1", "lacking", "nli:anchor=source", "summac", "faithful")
SETS = ("qags", "bump1", "bump2", "rank19", "summeval")
AGAINST = ("summac", "nli:anchor=source")
DRAWS = 5000


def rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read(data: Path, name: str, half: int | None) -> tuple[list[str], list[tuple[str, str]], list[Any]]:
    """Articles, (hypothesis, source) and people's judgement; for pairs better and worse stand one after the other."""
    if name in ("bump1", "bump2"):
        found = rows(data / "bump" / f"suite_task{name[-1]}.jsonl.gz")
        places = {key: str(i) for i, key in enumerate(sorted({row["origin_id"] for row in found}))}
        triples = [
            (places[row["origin_id"]], (row[side], row["src"]), None) for row in found for side in ("better", "worse")
        ]
    else:
        folder = {"qags": "qags-cnn"}.get(name, name)
        found = rows(data / folder / "segments.jsonl.gz")
        places = {key: str(i) for i, key in enumerate(dict.fromkeys(row["seg"] for row in found))}
        if name == "rank19":
            found.sort(key=lambda row: (int(places[row["seg"]]), row["system"]))  # correct, incorrect
        criterion = "consistency" if name == "summeval" else "fact"
        triples = [(places[row["seg"]], (row["hyp"], row["src"]), row["human"][criterion]) for row in found]
    kept = [triple for triple in triples if half is None or int(triple[0]) % 2 == half]
    articles, pairs, human = zip(*kept, strict=True)
    return list(articles), list(pairs), list(human)


def scored(spec: str, pairs: Sequence[tuple[str, str]], runtime: ng.Runtime) -> np.ndarray:
    distinct = list(dict.fromkeys(pairs))
    segments = tuple(ng.Segment(str(i), hyp, references=(src,), source=src) for i, (hyp, src) in enumerate(distinct))
    name = "faithful" if spec == "lacking" else spec
    scores = ng.score(ng.Dataset(segments, "faithful"), metrics=[name], runtime=runtime)[name]
    values = -scores.parts["lacking"] if spec == "lacking" else scores.values
    by = dict(zip(distinct, values, strict=True))
    return np.array([by[pair] for pair in pairs])


def number(name: str, human: Sequence[Any]) -> Callable[[np.ndarray, np.ndarray], float]:
    """What a set is summed up by, from scores and places of rows."""
    if name == "qags":
        rated = np.array(human)
        return lambda scores, at: float(np.nan_to_num(np.corrcoef(scores[at], rated[at])[0, 1]))
    return lambda scores, at: float(np.nanmean(scores[at]))


def units(name: str, scores: np.ndarray, articles: Sequence[str], human: Sequence[Any]) -> tuple[np.ndarray, list[str]]:
    """The numbers that are averaged, and their articles."""
    if name == "qags":
        return scores, list(articles)
    if name == "summeval":
        by: dict[str, list[int]] = defaultdict(list)
        for i, article in enumerate(articles):
            by[article].append(i)
        rated = np.array(human)
        found = [ng.correlation("kendall_b", scores[at], rated[at]).value for at in map(np.array, by.values())]
        return np.array(found, dtype=float), list(by)
    return np.asarray(scores[0::2] > scores[1::2] + 1e-6, dtype=float), list(articles[0::2])


def draws(articles: Sequence[str]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    by: dict[str, list[int]] = defaultdict(list)
    for i, article in enumerate(articles):
        by[article].append(i)
    groups = [np.array(at) for at in by.values()]
    return [np.concatenate([groups[g] for g in rng.integers(0, len(groups), len(groups))]) for _ in range(DRAWS)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--specs", nargs="*", default=SPECS)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--half", type=int)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--cache")
    given = parser.parse_args()
    warnings.simplefilter("ignore", ng.ScoreWarning)
    np.seterr(invalid="ignore")  # scores that are all equal correlate with nothing: 0
    runtime = ng.Runtime(dtype=given.dtype, cache=given.cache)
    for name in given.sets:
        articles, pairs, human = read(given.data, name, given.half)
        found = {}
        for spec in given.specs:
            found[spec], owners = units(name, scored(spec, pairs, runtime), articles, human)
        sums, everything = number(name, human), np.arange(len(owners))
        taken = draws(owners)
        samples = {spec: np.array([sums(values, at) for at in taken]) for spec, values in found.items()}
        print(f"{name}: {len(owners)} of {len(set(owners))} articles")
        for spec, values in found.items():
            low, high = np.quantile(samples[spec], [0.025, 0.975])
            line = f"  {sums(values, everything):.3f} [{low:.3f}, {high:.3f}]  {spec}"
            for other in AGAINST:
                if other in found and spec not in AGAINST:
                    more = samples[spec] - samples[other]
                    p = min(1.0, 2 * (min((more <= 0).sum(), (more >= 0).sum()) + 1) / (DRAWS + 1))
                    gain = sums(values, everything) - sums(found[other], everything)
                    line += f"  over {other.partition(':')[0]} {gain:+.3f} p {p:.4f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
