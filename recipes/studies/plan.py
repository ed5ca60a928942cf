"""How soon do a quarter of the ratings give the ranking of all, and how often do the intervals hold?

    python recipes/studies/plan.py summeval/segments.jsonl.gz wmt23-he-en-mtme            about ten minutes
    python recipes/studies/plan.py summeval/segments.jsonl.gz wmt23-he-en-mtme --draws 20 a quick look

Both sets are rated in full, so that the ranking by all ratings is known. Each draw chooses a quarter of the items, and
the ranking by these alone is compared with that by all. The table stands in docs/studies/plan.tsv.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.io.wmt.mtme import read_official
from nlgauge.metaeval.evaluate import joined_scores
from nlgauge.metaeval.joined import segment_frame
from nlgauge.runtime.cache import ScoreCache
from nlgauge.stats.draws import fair_coins
from nlgauge.stats.preferences import sign_flip_p
from nlgauge.stats.sampling import (
    inclusion_probabilities,
    item_sizes,
    powered_means,
    rating_features,
    systematic_sample,
)

SHARE = 0.25
OURS = ("chrf", "bertscore")
LEFT_OUT = "Random-sysname"  # the control of the task, which knows nothing
CHOICES = ("random", "most variance", "variance", "informative", "oracle")  # the last knows all ratings


@dataclass(frozen=True)
class Ratings:
    """A set that is rated in full: ratings (S, N) and scores (M, S, N)."""

    name: str
    human: Array
    metrics: Array

    def p(self) -> Array:
        """The probability of a lead as large as the one seen if two systems were equal, by all ratings."""
        signs = 2 * fair_coins(np.random.default_rng(0), 2000, self.human.shape[1]) - 1
        everywhere = np.ones(self.human.shape, dtype=np.bool_)
        return np.asarray(sign_flip_p(self.human[None], everywhere, np.asarray(signs, dtype=np.float64))[0])


def sets(summeval: str, he_en: str, runtime: ng.Runtime) -> Iterator[Ratings]:
    official = read_official(he_en)
    held = joined_scores(
        official.dataset, OURS, None, scores=official.scores, higher_is_better=list(official.scores), runtime=runtime
    )
    for name, wanted in (
        ("he-en, official metrics", [metric for metric in official.scores if metric != LEFT_OUT]),
        ("he-en, MetricX-23", ["MetricX-23"]),
        ("he-en, chrf and bertscore", list(OURS)),
    ):
        yield Ratings(name, *grids(held, "mqm", wanted))
    held = joined_scores(ng.read(summeval), (*OURS, "rougeL"), "all", runtime=runtime)
    for criterion in held.human:
        yield Ratings(f"SummEval, {criterion}", *grids(held, criterion, list(held.scores)))


def grids(held, criterion: str, wanted: list[str]) -> tuple[Array, Array]:
    scores, human = segment_frame(held, criterion, held.groups[0]).grid()
    places = [list(held.scores).index(metric) for metric in wanted]
    up = [1 if held.is_higher_better(metric) else -1 for metric in wanted]
    return human, scores[places] * np.array(up)[:, None, None]


def measured(known: Ratings, choice: str, estimate: str, draws: int, share: float = SHARE) -> list[float]:
    """Soft pairwise accuracy; share of intervals of means and of differences that hold; mean width of the latter."""
    human, n = known.human, round(share * known.human.shape[1])
    truth, pairs, p = human.mean(axis=1), np.triu_indices(len(human), 1), known.p()
    gaps = truth[:, None] - truth
    features = rating_features(known.metrics) if estimate == "ppi" else None
    oracle = choice == "oracle"
    sizes = human.std(axis=0) if oracle else item_sizes(known.metrics, choice.removeprefix("most "))
    chances = None if choice == "most variance" else inclusion_probabilities(sizes, n)
    rng, found = np.random.default_rng(1), []
    for _ in range(1 if chances is None else draws):  # those of most variance are always the same
        items = np.argsort(-sizes, kind="stable")[:n] if chances is None else systematic_sample(chances, rng)
        few = np.full(human.shape, np.nan)
        few[:, items] = human[:, items]
        made = powered_means(few, features, chances if estimate == "ppi" else None)
        means = (made.low <= truth) & (truth <= made.high)
        differences = (made.delta_low <= gaps) & (gaps <= made.delta_high)
        found.append(
            [
                1 - np.abs(1 - made.lead - p)[pairs].mean(),
                means.mean(),
                differences[pairs].mean(),
                (made.delta_high - made.delta_low)[pairs].mean(),
            ]
        )
    return [float(value) for value in np.mean(found, axis=0)]


def each_metric(known: Ratings) -> str:
    """Most variance, plain, by each metric alone: one choice each."""
    values = [
        measured(Ratings(known.name, known.human, known.metrics[i : i + 1]), "most variance", "plain", 1)[0]
        for i in range(len(known.metrics))
    ]
    return (
        f"{known.name}, most variance by one metric: {min(values):.3f} to {max(values):.3f}, mean {np.mean(values):.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("summeval")
    parser.add_argument("he_en")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--cache", help="folder of the score cache")
    typed = parser.parse_args()
    cache = ScoreCache(Path(typed.cache) / "scores.sqlite") if typed.cache else None
    print("| data | choice | SPA, plain | SPA, PPI | inside, plain | inside, PPI | means inside, PPI | width, PPI |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    alone = []
    for known in sets(typed.summeval, typed.he_en, ng.Runtime(cache=cache)):
        alone.append(each_metric(known))
        widest = measured(known, "random", "plain", typed.draws)[3]
        for choice in CHOICES:
            plain, ppi = (measured(known, choice, estimate, typed.draws) for estimate in ("plain", "ppi"))
            cells = [f"{x:.3f}" for x in (plain[0], ppi[0], plain[2], ppi[2], ppi[1], ppi[3] / widest)]
            print("|", known.name, "|", choice, "|", " | ".join(cells), "|", flush=True)
    print("", *alone, sep="\n")


if __name__ == "__main__":
    main()
