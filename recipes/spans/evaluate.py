"""How well marked spans agree with those of people, and how many texts without errors get a mark:

    python evaluate.py --data FOLDER [--model spans] [--talks talk.2 talk.6] [--mark-from NUMBER]
        [--mark-texts-from NUMBER] [--curve]
    python evaluate.py --data FOLDER --model FILE --talks talk.5 --fix
    python evaluate.py --data FOLDER --joined
    python evaluate.py --data FOLDER --wrong-facts

FOLDER holds `ted-mqm-zh-en`, `mlqe-pe` and `raw` (`shared/data`). Talks 2 and 6 are the test, and nothing was chosen
on them. Hypotheses are compared with the reference that was judged better (ref-B). Paraphrases: both references of the
last 100 items of MLQE-PE's file with two, in both directions; no head saw them. With --fix thresholds are fixed on
these talks and on the 100 items before those, and written into the head. With --joined 100 texts of so many sentences
of news each stand beside themselves, but for the case of the first letter: marks on other words are false. With
--wrong-facts the pairs of HW-TSC (`hwtsc22`): how many translations with a wrong fact, and how many right ones, get a
mark.
"""

from __future__ import annotations

import argparse
import gzip
import json
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge import Runtime, read_suite
from nlgauge.models.spans import Judged, load_spans
from nlgauge.scoring.explaining import MarkThresholds, WordedText, marked_spans, spans_of, thresholds, unmatched
from nlgauge.stats.spans import character_counts, left_clean, one_to_one_counts, span_agreement, span_f1
from nlgauge.training.spans import threshold_of_texts, write_thresholds

Row = dict[str, Any]
MOST_MARKED = 0.1  # of paraphrases: the upper end of a one-sided 95 % interval, from those that fix the threshold
MOST = 0.01  # of paraphrases in which something is missing, where thresholds are fixed
FIX, TEST = slice(800, 900), slice(900, 1000)
GRID = np.round(np.arange(0.09, 0.6, 0.03), 2)
GAPS = np.round(np.arange(0.3, 0.96, 0.1), 1)


def rows_of(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def talks(data: Path, wanted: list[str]) -> list[Row]:
    """Outputs of systems for some talks."""
    rows = rows_of(data / "ted-mqm-zh-en" / "segments.jsonl.gz")
    return [row for row in rows if not row["system"].startswith("ref") and row["doc"] in wanted]


def paraphrases(data: Path, items: slice) -> list[tuple[str, str]]:
    rows = rows_of(data / "mlqe-pe" / "segments_multiref_et-en.jsonl.gz")[items]
    both = [pair for row in rows for pair in (tuple(row["refs"]), tuple(row["refs"][::-1]))]
    return [(a, b) for a, b in both if a != b]


def gold_of(row: Row) -> list[tuple[int, int, str]]:
    return [(e["start"], e["end"], e["severity"].lower()) for e in row["errors"] if e.get("side") == "hyp"]


class Set:
    """Pairs of texts with what a head says of their words."""

    def __init__(self, pairs: list[tuple[str, str]], model: Any) -> None:
        self.worded = [(WordedText.of(a), WordedText.of(b)) for a, b in pairs]
        self.judged: list[Judged] = model.judge([(a.words, b.words) for a, b in self.worded])

    def spans(self, limits: MarkThresholds, by_rule: bool = True) -> list[list[tuple[int, int, str, bool]]]:
        return [
            [(s.start, s.end, s.severity, s.missing) for s in marked_spans(a, [b], judged, limits, by_rule=by_rule)]
            for (a, b), judged in zip(self.worded, self.judged, strict=True)
        ]

    def words(self) -> list[list[tuple[int, int, str, bool]]]:
        return [
            [(s.start, s.end, s.severity, False) for s in spans_of(a, [b], *[unmatched(a, [b])] * 2)]
            for a, b in self.worded
        ]


def present(spans: Any) -> list[list[tuple[int, int]]]:
    return [[span[:2] for span in own if len(span) < 4 or not span[3]] for own in spans]


def severe(spans: Any) -> list[list[tuple[int, int, str]]]:
    return [[span[:3] for span in own if len(span) < 4 or not span[3]] for own in spans]


def fix(found: Set, gold: list[Any], clean: Set, path: str) -> None:
    """Write thresholds into a head.

    That of whole texts is the lowest at which so few paraphrases pass for faulty that, with 95 % confidence, at most
    10 % of all do. That of words is then the best on these talks, by the mean of its F and those of its neighbours in
    the grid. That of what is missing is the lowest that finds such a place in at most 1 % of the paraphrases.
    """
    right = present(gold)
    text = threshold_of_texts([one.text for one in clean.judged], MOST_MARKED)
    scores = [
        span_agreement(one_to_one_counts(right, present(found.spans(MarkThresholds(t, 0.999999, text))))).f1
        for t in GRID
    ]
    place = max(range(1, len(GRID) - 1), key=lambda i: sum(scores[i - 1 : i + 2]))
    words = float(GRID[place])
    marked = [np.mean([one.missing.max() > t for one in clean.judged]) for t in GAPS]
    missing = float(next(t for t, share in zip(GAPS, marked, strict=True) if share <= MOST))
    print(f"F {scores[place]:.3f} threshold {words:g} threshold_text {text:g} threshold_missing {missing:g}")
    write_thresholds(path, MarkThresholds(words, missing, text))


def joined(data: Path, model: Any, limits: MarkThresholds) -> None:
    """Print how often texts of several sentences have a false mark."""
    with gzip.open(data / "raw" / "news.en.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.strip() for line in islice(file, 2000)]
    lines = [line for line in lines if 8 <= len(line.split()) <= 30 and line[0].isupper()]
    print("| sentences | texts with a false mark | false marks of a text |\n|---:|---:|---:|")
    for size in (1, 2, 3, 4, 8):
        texts = [" ".join(lines[start : start + size]) for start in range(0, 100 * size, size)]
        found = Set([(text, text[0].lower() + text[1:]) for text in texts], model).spans(limits)
        false = [sum(start > 0 and not missing for start, _, _, missing in own) for own in found]
        print(f"| {size} | {np.mean([n > 0 for n in false]):.2f} | {np.mean(false):.2f} |")


def wrong_facts(data: Path, model: Any, limits: MarkThresholds) -> None:
    """Print how many translations with and without a wrong fact have a mark, by kind; also without the rule."""
    pairs = read_suite(data / "hwtsc22" / "suite.jsonl.gz").pairs
    sides = [Set([(getattr(p, side), p.references[0]) for p in pairs], model) for side in ("worse", "better")]
    marked = np.array(
        [[bool(own) for own in side.spans(limits, by_rule)] for by_rule in (True, False) for side in sides]
    )
    print("| fact | pairs | wrong | right | no rule: wrong | no rule: right |\n|---|---:|---:|---:|---:|---:|")
    kinds = np.array([p.phenomenon for p in pairs])
    for kind in dict.fromkeys(kinds.tolist()):
        shares = " | ".join(f"{share:.2f}" for share in marked[:, kinds == kind].mean(axis=1))
        print(f"| {kind} | {(kinds == kind).sum()} | {shares} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="spans")
    parser.add_argument("--talks", nargs="+", default=["talk.2", "talk.6"])
    parser.add_argument("--mark-from", type=float)
    parser.add_argument("--mark-texts-from", type=float)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("--joined", action="store_true")
    parser.add_argument("--wrong-facts", action="store_true")
    given = parser.parse_args()
    model = load_spans(given.model, "float32", Runtime(device="cpu"))
    if given.joined:
        joined(given.data, model, thresholds(model, given.mark_from, given.mark_texts_from))
        return
    if given.wrong_facts:
        wrong_facts(given.data, model, thresholds(model, given.mark_from, given.mark_texts_from))
        return
    rows = talks(given.data, given.talks)
    gold = [gold_of(row) for row in rows]
    found = Set([(row["hyp"], row["refs"][0]) for row in rows], model)
    clean = Set(paraphrases(given.data, FIX if given.fix else TEST), model)
    if given.fix:
        fix(found, gold, clean, given.model)
        return
    limits = thresholds(model, given.mark_from, given.mark_texts_from)
    said = {
        "one span over everything": [[(0, len(row["hyp"]), "major", False)] for row in rows],
        "`words`": found.words(),
        "`spans`": found.spans(limits),
    }
    of_clean = {"`words`": clean.words(), "`spans`": clean.spans(limits)}
    print(f"{len(rows)} outputs, {sum(map(len, gold))} spans; {limits}\n")
    print("| method | one to one F (P, R) | characters F | QE 2023 F | left clean | paraphrases with a mark |")
    print("|---|---|---:|---:|---:|---:|")
    counts = {}
    for name, spans in said.items():
        counts[name] = one_to_one_counts(present(gold), present(spans))
        pair, chars = span_agreement(counts[name]), span_agreement(character_counts(gold, severe(spans)))
        quality = span_f1(gold, severe(spans)).mean()
        kept = left_clean(gold, spans)
        marked = f"{np.mean([len(own) > 0 for own in of_clean[name]]):.3f}" if name in of_clean else "1"
        shown = f"{pair.f1:.3f} ({pair.precision:.3f}, {pair.recall:.3f})"
        print(f"| {name} | {shown} | {chars.f1:.3f} | {quality:.3f} | {kept:.3f} | {marked} |")
    compare(counts["`spans`"], counts["`words`"], [row["seg"] for row in rows], given.draws)
    if given.curve:
        print("\n| threshold | precision | recall | F | left clean |\n|---:|---:|---:|---:|---:|")
        for threshold in np.round(np.arange(0.1, 1.0, 0.1), 1):
            spans = found.spans(MarkThresholds(threshold, 0.999999, limits.text))
            pair = span_agreement(one_to_one_counts(present(gold), present(spans)))
            kept = left_clean(gold, spans)
            print(f"| {threshold:.1f} | {pair.precision:.3f} | {pair.recall:.3f} | {pair.f1:.3f} | {kept:.3f} |")


def compare(one: Any, other: Any, clusters: list[str], draws: int) -> None:
    """A paired bootstrap of whole clusters; p is that of no difference, from both sides."""
    names, where = np.unique(clusters, return_inverse=True)
    sums = [np.zeros((len(names), 4)) for _ in range(2)]
    for total, counts in zip(sums, (one, other), strict=True):
        np.add.at(total, where, counts)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)  # (draws, clusters)
    scores = []
    for total in sums:
        credit, said, found, right = (drawn @ total).T
        precision, recall = credit / np.maximum(said, 1), found / np.maximum(right, 1)
        scores.append(2 * precision * recall / np.maximum(precision + recall, 1e-12))
    gain = scores[0] - scores[1]
    low, high = np.quantile(gain, [0.025, 0.975])
    p = min(1.0, 2 * (min((gain <= 0).sum(), (gain >= 0).sum()) + 1) / (draws + 1))
    whole = span_agreement(one).f1 - span_agreement(other).f1
    print(f"\n`spans` over `words`, F: {whole:+.3f} [{low:+.3f}, {high:+.3f}], p = {p:.4f}, {len(names)} sentences")


if __name__ == "__main__":
    main()
