"""Does a learnt filter of the words that the reference lacks gain more than the rule of `spans`?

    python learnt.py --data FOLDER [--model FILE]

FOLDER holds `ted-mqm-zh-en` (`shared/data`). A logistic regression reads of each run of unmatched words its length,
what kind of words it has, where it stands, how much of both texts is unmatched, and the cosines of the embedded
encoder; with --model also what a head of `nlgauge train spans` says. It learns the share of the run that experts
marked, and that of their mark which the run covers, on talks 5, 7 and 9. Its threshold is fixed there, each talk by the
others. `other talk` is learnt on one of talks 2 and 6 for the other, and has its best threshold of all: more than it
can be.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from evaluate import FIRST, SECOND, Row, ted
from scipy.optimize import minimize

from nlgauge import Runtime
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.models.matching import similarities
from nlgauge.models.spans import load_spans
from nlgauge.scoring.explaining import WordedText, carries_content, unmatched
from nlgauge.stats.spans import one_to_one_counts, span_agreement

GRID = np.arange(0, 0.4, 0.01)
RECALL = 0.4  # weight of the share of a mark that is covered: dF/dR over dF/dP where all runs are marked
RIDGE = 10.0


def cosines(rows: Sequence[Row]) -> list[dict[str, float]]:
    """Word in lower case -> the highest cosine of its pieces with a piece of the reference, for each row."""
    runtime, metric = Runtime(device="cpu"), BertScore()
    encoder = metric.encoder(runtime)
    texts = list(dict.fromkeys(text for row in rows for text in (row["hyp"], row["refs"][0])))
    place = {text: i for i, text in enumerate(texts)}
    vectors = encoder.encode(encoder.tokenizer.tokens(texts, metric.long), metric.depth(encoder))
    found = []
    for row in rows:
        best = similarities(vectors, place[row["hyp"]], place[row["refs"][0]]).max(axis=1)
        words, owners = encoder.tokenizer.words(row["hyp"])
        own: dict[str, float] = {}
        for owner, cosine in zip(owners, best, strict=True):
            if owner is not None:
                word = words[owner].lower()
                own[word] = max(own.get(word, -1.0), float(cosine))
        found.append(own)
    return found


def runs_of(rows: Sequence[Row], model: str | None) -> tuple[Any, Any, list[tuple[int, int, int]], Any]:
    """Of each run of unmatched words its features, what is to be learnt, its row and place; whether it has content."""
    features, wanted, places, content = [], [], [], []
    worded = [(WordedText.of(row["hyp"]), WordedText.of(row["refs"][0])) for row in rows]
    judged = None if model is None else load_spans(model, "float32", Runtime(device="cpu")).judge(
        [(hyp.words, ref.words) for hyp, ref in worded]
    )  # fmt: skip
    for i, (row, (hyp, ref), near) in enumerate(zip(rows, worded, cosines(rows), strict=True)):
        new, lacks = unmatched(hyp, [ref]), unmatched(ref, [hyp])
        stems = {word[:5] for word in ref.lower}
        of_text = [new.mean() if len(new) else 0, lacks.mean() if len(lacks) else 0, np.mean([*near.values(), 0])]
        of_text += [np.log((len(new) + 1) / (len(lacks) + 1)), np.log(len(new) + 1)]
        edges = np.flatnonzero(np.diff(new.astype(int), prepend=0, append=0))
        for first, after in zip(edges[::2], edges[1::2], strict=True):
            words, start, end = hyp.lower[first:after], hyp.places[first][0], hyp.places[after - 1][1]
            alike, carries = [near.get(word, 0.0) for word in words], [carries_content(word) for word in words]
            told = [np.log(len(words)), np.log(end - start), np.mean(carries), any(carries), first / len(new)]
            told += [any(map(str.isdigit, row["hyp"][start:end])), any(map(str.isupper, row["hyp"][start:end]))]
            told += [np.mean([word[:5] in stems for word in words]), min(alike), float(np.mean(alike)), *of_text]
            if judged is not None:
                faulty = (judged[i].minor + judged[i].major)[first:after]
                told += [logit(faulty.max()), logit(faulty.mean()), logit(judged[i].text)]
            shared = [(max(0, min(end, g[1]) - max(start, g[0])), g[1] - g[0]) for g in row["gold"] if g[1] > g[0]]
            precise = max((size / (end - start) for size, _ in shared), default=0)
            complete = max((size / length for size, length in shared), default=0)
            features.append(told)
            wanted.append((precise + RECALL * complete) / (1 + RECALL))
            places.append((i, start, end))
            content.append(any(carries))
    return np.array(features, dtype=float), np.array(wanted), places, np.array(content)


def logit(p: float) -> float:
    return float(np.log((p + 1e-4) / (1 - p + 1e-4)))


def learnt(x: Any, y: Any, asked: Any) -> Any:
    """Probabilities of the asked runs by a regression on the others."""
    mean, deviation = x.mean(axis=0), x.std(axis=0) + 1e-9
    known, new = (np.c_[(each - mean) / deviation, np.ones(len(each))] for each in (x, asked))

    def loss(weights: Any) -> tuple[float, Any]:
        z = known @ weights
        kept = np.append(weights[:-1], 0)
        return (np.logaddexp(0, z) - y * z).sum() + RIDGE / 2 * kept @ kept, known.T @ (
            1 / (1 + np.exp(-z)) - y
        ) + RIDGE * kept

    found = minimize(loss, np.zeros(known.shape[1]), jac=True, method="L-BFGS-B").x
    return 1 / (1 + np.exp(-new @ found))


def agreement(rows: Sequence[Row], places: Sequence[tuple[int, int, int]], kept: Any, within: Any) -> float:
    """One-to-one F of the kept runs, of some rows."""
    marks: list[list[tuple[int, int]]] = [[] for _ in rows]
    for (i, start, end), keep in zip(places, kept, strict=True):
        if keep:
            marks[i].append((start, end))
    chosen = np.flatnonzero(within)
    gold = [[mark[:2] for mark in rows[i]["gold"]] for i in chosen]
    return span_agreement(one_to_one_counts(gold, [marks[i] for i in chosen])).f1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model")
    given = parser.parse_args()
    rows = ted(given.data)
    x, y, places, content = runs_of(rows, given.model)
    talk = np.array([row["doc"] for row in rows])
    of_run = talk[[i for i, _, _ in places]]
    first, second = np.isin(talk, FIRST), np.isin(talk, SECOND)
    print("| of the runs | rule | learnt | its threshold | `other talk` |\n|---|---:|---:|---:|---:|")
    for name, among in (("all", np.ones(len(x), dtype=bool)), ("with a word of content", content)):
        p, other = np.zeros(len(x)), np.zeros(len(x))
        for own in FIRST:
            others = among & np.isin(of_run, FIRST) & (of_run != own)
            p[of_run == own] = learnt(x[others], y[others], x[of_run == own])
        for own in SECOND:
            all_first, twin = among & np.isin(of_run, FIRST), among & np.isin(of_run, SECOND) & (of_run != own)
            p[of_run == own] = learnt(x[all_first], y[all_first], x[of_run == own])
            other[of_run == own] = learnt(x[twin], y[twin], x[of_run == own])
        best = max(GRID, key=lambda t: agreement(rows, places, (p > t) & among, first))
        rule, filtered = (agreement(rows, places, kept & among, second) for kept in (among, p > best))
        highest = max(agreement(rows, places, (other > t) & among, second) for t in GRID)
        print(f"| {name} | {rule:.3f} | {filtered:.3f} | {best:.2f} | {highest:.3f} |")


if __name__ == "__main__":
    main()
