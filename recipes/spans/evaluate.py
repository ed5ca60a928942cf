"""How well marked spans agree with those of people, and how many texts without errors get a mark:

    python evaluate.py --data FOLDER [--planted FILE]
    python evaluate.py --data FOLDER --trials

FOLDER holds `ted-mqm-zh-en`, `ted-mqm-en-de`, `wmt24-esa`, `wmt23-he-en-mtme` and `mlqe-pe` (`shared/data`).
Talks 5, 7 and 9 of TED zh-en are the first half, where one choice was made: which runs of words `spans` leaves out. The
others were read once. Hypotheses are compared with the reference that was judged better (ref-B of zh-en). Paraphrases:
both references of the last 100 items of MLQE-PE's file with two, in both directions. The data of he-en have no places,
so there the number of marks is held against the MQM score. With --planted come texts of `examples.py` with errors by
rules or synthesis, beside another text that says the same.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng
from nlgauge.metaeval.spans import (
    character_counts,
    clean_counts,
    f1_of_totals,
    one_to_one_counts,
    precision_and_recall,
    share_of_totals,
)
from nlgauge.scoring.explaining import unmatched
from nlgauge.text.worded import WordedText, carries_content, is_function

Row = dict[str, Any]
Marks = list[list[tuple[int, int, str]]]
PREPOSITIONS = frozenset(
    "in on at to of for from by with about into over under after before between against during through above below up"
    " down off out upon within without".split()
)
FIRST, SECOND = ("talk.5", "talk.7", "talk.9"), ("talk.2", "talk.6")


def rows_of(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ted(data: Path, pair: str = "zh-en") -> list[Row]:
    """Outputs of systems, each with the first reference and the marks of experts."""
    rows = rows_of(data / f"ted-mqm-{pair}" / "segments.jsonl.gz")
    kept = [row for row in rows if not row["system"].startswith("ref")]
    for row in kept:
        row["gold"] = [(e["start"], e["end"], e["severity"].lower()) for e in row["errors"] if e.get("side") == "hyp"]
    return kept


def esa(data: Path, pair: str) -> list[Row]:
    rows = rows_of(data / "wmt24-esa" / f"segments_{pair}.jsonl.gz")
    return [{**row, "gold": [(s["start"], s["end"], s["severity"]) for s in row["spans"]]} for row in rows]


def sets(data: Path) -> dict[str, list[Row]]:
    talks = ted(data)
    return {
        "TED zh-en, first half": [row for row in talks if row["doc"] in FIRST],
        "TED zh-en, second half": [row for row in talks if row["doc"] in SECOND],
        "TED en-de": ted(data, "en-de"),
        "WMT24 en-cs": esa(data, "en-cs"),
    }


def planted(path: Path) -> list[Row]:
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        {
            "hyp": row["hyp"],
            "refs": [row["ref"]],
            "seg": str(i),
            "gold": [(s["start"], s["end"], s["severity"]) for s in row["spans"] if not s["missing"]],
        }
        for i, row in enumerate(rows)
        if row["origin"].startswith("two translations,") and row["spans"]
    ]


def paraphrases(data: Path) -> list[Row]:
    rows = rows_of(data / "mlqe-pe" / "segments_multiref_et-en.jsonl.gz")[900:]
    both = [pair for row in rows for pair in (row["refs"], row["refs"][::-1])]
    return [{"hyp": a, "refs": [b]} for a, b in both if a != b]


def marked(rows: Sequence[Row], **how: Any) -> Marks:
    """Places and severities by `nlgauge.explain`; without what is missing, which people marked elsewhere."""
    found = ng.explain([row["hyp"] for row in rows], [row["refs"][0] for row in rows], **how)
    return [[(s.start, s.end, s.severity) for s in one.spans if not s.missing] for one in found]


def whole(rows: Sequence[Row]) -> Marks:
    return [[(0, len(row["hyp"]), "major")] if row["hyp"] else [] for row in rows]


def counts_of(rows: Sequence[Row], marks: Marks) -> Any:
    return one_to_one_counts([[g[:2] for g in row["gold"]] for row in rows], [[m[:2] for m in own] for own in marks])


def line(name: str, rows: Sequence[Row], marks: Marks, base: Any, draws: int) -> str:
    counts, gold = counts_of(rows, marks), [row["gold"] for row in rows]
    pair, chars = (f1_of_totals(one.sum(axis=0)) for one in (counts, character_counts(gold, marks)))
    precision, recall = precision_and_recall(counts)
    clean = share_of_totals(clean_counts(gold, marks).sum(axis=0))
    shown = f"{pair:.3f} ({precision:.3f}, {recall:.3f}) | {chars:.3f} | {clean:.3f}"
    return f"| {name} | {shown} | {compared(counts, base, [row['seg'] for row in rows], draws)} |"


def compared(one: Any, other: Any, clusters: Sequence[str], draws: int) -> str:
    """A paired bootstrap of whole items; p is that of no difference, from both sides."""
    drawn, totals = resampled(clusters, draws), [by_item(clusters, counts) for counts in (one, other)]
    gain = f1_of_totals(drawn @ totals[0]) - f1_of_totals(drawn @ totals[1])
    whole = f1_of_totals(one.sum(axis=0)) - f1_of_totals(other.sum(axis=0))
    low, high = np.quantile(gain, [0.025, 0.975])
    return f"{whole:+.3f} [{low:+.3f}, {high:+.3f}], p = {p_of(gain):.4f}"


def by_item(clusters: Sequence[str], counts: Any) -> Any:
    names, where = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(names), counts.shape[1]))
    np.add.at(sums, where, counts)
    return sums


def resampled(clusters: Sequence[str], draws: int) -> Any:
    """How often each item is drawn, shape (draws, items)."""
    n = len(set(clusters))
    return np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=draws)


def p_of(gain: Any) -> float:
    return float(min(1.0, 2 * (min((gain <= 0).sum(), (gain >= 0).sum()) + 1) / (len(gain) + 1)))


def he_en(data: Path) -> list[Row]:
    """Rated outputs of WMT23 he-en, with their MQM score."""
    folder = data / "wmt23-he-en-mtme"

    def lines(path: str) -> list[str]:
        with gzip.open(folder / path, "rt", encoding="utf-8") as file:
            return file.read().split("\n")

    refs, rated = lines("references/he-en.refB.txt.gz"), {}
    for row in filter(None, lines("human-scores/he-en.mqm.seg.score.gz")):
        system, score = row.split("\t")
        rated.setdefault(system, []).append(score)
    return [
        {"hyp": hyp, "refs": [ref], "seg": str(i), "mqm": float(score)}
        for system, scores in rated.items()
        if not system.startswith("ref")
        for i, (hyp, ref, score) in enumerate(
            zip(lines(f"system-outputs/he-en/{system}.txt.gz"), refs, scores, strict=False)
        )
        if score != "None"
    ]


def scores(data: Path, draws: int) -> None:
    """How well minus the number of marks goes with MQM on he-en, over all outputs and within items."""
    rows = he_en(data)
    mqm, clusters = np.array([row["mqm"] for row in rows]), [row["seg"] for row in rows]
    drawn = resampled(clusters, draws)
    print(f"\nWMT23 he-en, {len(rows)} outputs: minus the number of marks against MQM\n")
    print("| method | Pearson | over `words` | pairs of an item in the right order, ties half | over `words` |")
    print("|---|---:|---|---:|---|")
    before: list[Any] = []
    for method in ("words", "spans"):
        own = -np.array([len(marks) for marks in marked(rows, method=method)], dtype=np.float64)
        sums = np.stack([np.ones(len(own)), own, mqm, own * own, mqm * mqm, own * mqm], axis=1)
        totals = [(pearson, by_item(clusters, sums)), (share, by_item(clusters, orders(own, mqm, clusters)))]
        cells, sampled = [], [of(drawn @ each) for of, each in totals]
        for k, (of, each) in enumerate(totals):
            cells += [f"{of(each.sum(axis=0)):.3f}", f"p = {p_of(sampled[k] - before[k]):.4f}" if before else ""]
        before = sampled
        print(f"| `{method}` | {' | '.join(cells)} |")


def pearson(totals: Any) -> Any:
    """The correlation of what was summed: 1, x, y, x squared, y squared and x y, shape (..., 6)."""
    n, x, y, xx, yy, xy = np.moveaxis(totals, -1, 0)
    return (n * xy - x * y) / np.sqrt((n * xx - x * x) * (n * yy - y * y))


def share(totals: Any) -> Any:
    return totals[..., 0] / totals[..., 1]


def orders(own: Any, mqm: Any, clusters: Sequence[str]) -> Any:
    """Credit and number of pairs that each output forms with later ones of its item, shape (n, 2)."""
    _, where = np.unique(clusters, return_inverse=True)
    found = np.zeros((len(own), 2))
    for item in range(int(where.max()) + 1):
        places = np.flatnonzero(where == item)
        for k, i in enumerate(places):
            rest = places[k + 1 :]
            people, ours = np.sign(mqm[i] - mqm[rest]), np.sign(own[i] - own[rest])
            told = people != 0
            found[i] = ((people == ours) & told).sum() + ((ours == 0) & told).sum() / 2, told.sum()
    return found


# --- What was tried in the place of the rule


def runs(row: Row, keep: Callable[[str], bool], gap: int = 0, trim: bool = False) -> list[tuple[int, int, str]]:
    """Runs of unmatched words of which one is kept, joined across a gap of so many words."""
    hyp, ref = WordedText.of(row["hyp"]), WordedText.of(row["refs"][0])
    marks = unmatched(hyp, [ref])
    if trim:
        marks &= [keep(word) for word in hyp.lower]
    found: list[list[int]] = []
    for place in np.flatnonzero(marks):
        if found and place == found[-1][1] + 1:
            found[-1][1] = place
        else:
            found.append([place, place])
    found = [[a, b] for a, b in found if any(map(keep, hyp.lower[a : b + 1]))]
    joined: list[list[int]] = []
    for a, b in found:
        if joined and a - joined[-1][1] - 1 <= gap:
            joined[-1][1] = b
        else:
            joined.append([a, b])
    return [(hyp.places[a][0], hyp.places[b][1], "major") for a, b in joined]


def longer(n: int) -> Callable[[str], bool]:
    return lambda word: len(word) > n or any(char.isdigit() for char in word)


TRIALS: dict[str, dict[str, Any]] = {
    "runs with a word of content": {"keep": carries_content},
    "the same, without pronouns and negations": {"keep": lambda word: not is_function(word)},
    "the same, with prepositions": {"keep": lambda word: carries_content(word) or word in PREPOSITIONS},
    "words of content alone": {"keep": carries_content, "trim": True},
    "runs with a letter or digit": {"keep": lambda word: any(char.isalnum() for char in word)},
    "runs with a word of over 3 letters": {"keep": longer(3)},
    "runs with a word of over 4 letters": {"keep": longer(4)},
    "content, joined across 1 word": {"keep": carries_content, "gap": 1},
    "content, joined across 2 words": {"keep": carries_content, "gap": 2},
    "content, joined across 3 words": {"keep": carries_content, "gap": 3},
}


def trials(data: Path) -> None:
    """The F of each variant on each set, and the correlation of minus the number of its marks with MQM on he-en."""
    known, rated = sets(data), he_en(data)
    mqm = [row["mqm"] for row in rated]
    print(f"| marks | {' | '.join(known)} | WMT23 he-en |\n|---|{'---:|' * (len(known) + 1)}")
    for name, how in TRIALS.items():
        found = [
            f1_of_totals(counts_of(rows, [runs(row, **how) for row in rows]).sum(axis=0)) for rows in known.values()
        ]
        found.append(np.corrcoef([-len(runs(row, **how)) for row in rated], mqm)[0, 1])
        print(f"| {name} | {' | '.join(f'{one:.3f}' for one in found)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--planted", type=Path)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--trials", action="store_true")
    given = parser.parse_args()
    if given.trials:
        trials(given.data)
        return
    known = sets(given.data) | ({} if given.planted is None else {"planted errors": planted(given.planted)})
    for name, rows in known.items():
        words = marked(rows, method="words")
        said = {"one span over everything": whole(rows), "`words`": words, "`spans`": marked(rows)}
        print(f"\n{name}: {len(rows)} outputs, {sum(len(row['gold']) for row in rows)} spans\n")
        print("| method | one to one F (P, R) | characters F | left clean | over `words` |\n|---|---|---:|---:|---|")
        base = counts_of(rows, words)
        for method, marks in said.items():
            print(line(method, rows, marks, base, given.draws))
    free = paraphrases(given.data)
    said = {"`words`": marked(free, method="words"), "`spans`": marked(free)}
    shares = ", ".join(f"{name} {np.mean([len(own) > 0 for own in marks]):.3f}" for name, marks in said.items())
    print(f"\nParaphrases with a mark, of {len(free)}: {shares}")
    scores(given.data, given.draws)


if __name__ == "__main__":
    main()
