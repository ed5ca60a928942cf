"""How well do metrics see what a source does not support? Beside each other, with paired bootstraps by article:

    python recipes/faithful/study.py DATA [--specs SPEC ...] [--sets SET ...] [--half 0|1] [--threshold SET]

QAGS-CNN: Pearson with the share of sentences that people found supported. BUMP, tasks 1 and 2, and Rank19: the share
of pairs in which the text without the error scores higher; ties are losses. SummEval: Kendall's tau-b with the
consistency, by article, mean over articles. `written` is written.txt beside this file: the share of pairs of a claim
that follows from a document and one that does not, in which the first scores higher. `--half` takes every second
article; the head and its options were chosen on half 0 of QAGS-CNN and of BUMP's first task. `lacking` is the number of
names and numbers that the source lacks.

With `--threshold` every set is summed up by balanced accuracy instead: what is fully supported scores at least, and
everything else less than, the threshold that is best on half 0 of that set.
"""

from __future__ import annotations

import argparse
import gzip
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng

SPECS = ("rouge1", "lacking", "nli:anchor=source", "summac", "faithful")
SETS = ("qags", "bump1", "bump2", "rank19", "summeval", "written")
WRITTEN = Path(__file__).parent / "written.txt"
BEST = {"qags": 1.0, "summeval": 5.0}  # what people say of a text that is fully supported
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
    elif name == "written":
        triples = written()
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


def written() -> list[tuple[str, tuple[str, str], None]]:
    """The claims of a document that follow, each beside each one that does not, one after the other."""
    found = []
    for place, block in enumerate(WRITTEN.read_text(encoding="utf-8").split("\n\nD ")[1:]):
        document, *lines = block.strip().splitlines()
        claims = [[(str(place), (line[2:], document), None) for line in lines if line[0] in k] for k in ("sjl", "fran")]
        found += [triple for pair in product(*claims) for triple in pair]
    return found


def scored(spec: str, pairs: Sequence[tuple[str, str]], runtime: ng.Runtime) -> np.ndarray:
    distinct = list(dict.fromkeys(pairs))
    segments = tuple(ng.Segment(str(i), hyp, references=(src,), source=src) for i, (hyp, src) in enumerate(distinct))
    name = "faithful" if spec == "lacking" else spec
    scores = ng.score(ng.Dataset(segments, "faithful"), metrics=[name], runtime=runtime)[name]
    values = -scores.parts["lacking"] if spec == "lacking" else scores.values
    by = dict(zip(distinct, values, strict=True))
    return np.array([by[pair] for pair in pairs])


def number(name: str, human: Sequence[Any], accurate: bool) -> Callable[[np.ndarray, np.ndarray], float]:
    """What a set is summed up by, from scores (or what is right by a threshold) and places of rows."""
    if accurate:
        sound = supported(name, human)
        return lambda right, at: accuracy(right[at], sound[at])
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


def supported(name: str, human: Sequence[Any]) -> np.ndarray:
    """Whether each text is supported as a whole: by people's judgement, and of a pair the first."""
    return np.array(human) == BEST[name] if name in BEST else np.arange(len(human)) % 2 == 0


def accuracy(right: np.ndarray, sound: np.ndarray) -> float:
    """Balanced: the mean of the shares of right answers among texts that are supported, and among the others."""
    return float((right[sound].mean() + right[~sound].mean()) / 2)


def threshold(scores: np.ndarray, sound: np.ndarray) -> float:
    """From which score on a text counts as supported, so that the balanced accuracy is highest."""
    return max(np.unique(scores), key=lambda bar: accuracy((scores >= bar) == sound, sound))


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
    parser.add_argument("--threshold", choices=SETS, help="the set whose half 0 gives it")
    parser.add_argument("--against", nargs="*", default=AGAINST)
    given = parser.parse_args()
    warnings.simplefilter("ignore", ng.ScoreWarning)
    np.seterr(invalid="ignore")  # scores that are all equal correlate with nothing: 0
    runtime = ng.Runtime(dtype=given.dtype, cache=given.cache)
    bars = {}
    if given.threshold:
        _, pairs, human = read(given.data, given.threshold, 0)
        sound = supported(given.threshold, human)
        bars = {spec: threshold(scored(spec, pairs, runtime), sound) for spec in given.specs}
    for name in given.sets:
        articles, pairs, human = read(given.data, name, given.half)
        found = {}
        for spec in given.specs:
            scores = scored(spec, pairs, runtime)
            if bars:
                found[spec], owners = (scores >= bars[spec]) == supported(name, human), list(articles)
            else:
                found[spec], owners = units(name, scores, articles, human)
        sums, everything = number(name, human, bool(bars)), np.arange(len(owners))
        taken = draws(owners)
        samples = {spec: np.array([sums(values, at) for at in taken]) for spec, values in found.items()}
        print(f"{name}: {len(owners)} of {len(set(owners))} articles")
        for spec, values in found.items():
            low, high = np.quantile(samples[spec], [0.025, 0.975])
            line = f"  {sums(values, everything):.3f} [{low:.3f}, {high:.3f}]  {spec}"
            line += f", threshold {bars[spec]:.2f}" if bars else ""
            for other in given.against:
                if other in found and spec not in given.against:
                    more = samples[spec] - samples[other]
                    p = min(1.0, 2 * (min((more <= 0).sum(), (more >= 0).sum()) + 1) / (DRAWS + 1))
                    gain = sums(values, everything) - sums(found[other], everything)
                    line += f"  over {other.partition(':')[0]} {gain:+.3f} p {p:.4f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
