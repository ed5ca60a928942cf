"""How often do guards distrust good outputs, and how many bad ones do they find? The tables of docs/notes.md.

    python recipes/guards/measure.py DATA         all tables, about a minute

DATA is a folder with the sets by name (README.md beside this file says which). Good outputs are the best quarter of a
set by human rating; ties with the last of them are good, too. Bad ones are those of the first two checkpoints of
MSLC23, and outputs that are made here from good ones.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.rules import OUTPUTS, Rules
from nlgauge.text.words import word_spans

GOOD = {
    "WMT15": "wmt15-da-seg/segments.jsonl.gz",
    "WMT16": "wmt16-da-seg/segments.jsonl.gz",
    "WMT16 en-ru": "wmt16-da-seg/segments_from_en.jsonl.gz",
    "WMT22 zh-en": "wmt22-gemba-zh-en/segments.jsonl.gz",
    "WMT23 he-en": "wmt23-he-en-mtme",
    "SummEval": "summeval/segments.jsonl.gz",
    "WebNLG 2020": "webnlg2020-humaneval/segments.jsonl.gz",
}
TRANSLATED = [name for name in GOOD if name.startswith("WMT")]
MSLC, BAD = "mslc23/segments.jsonl.gz", {"00058": "A", "00087": "B", "00102": "C", "00117": "D"}
MOST = 1000  # outputs of a set that bad ones are made of
Change = Callable[[Segment, Segment, random.Random], str | None]


def best_quarter(segments: Iterable[Segment]) -> list[Segment]:
    """The segments whose mean rating is that of the best quarter."""
    rated = [(mean(numbers), s) for s in segments if (numbers := [v for v in s.human.values() if v is not None])]
    last = sorted((rating for rating, _ in rated), reverse=True)[len(rated) // 4]
    return [s for rating, s in rated if rating >= last]


def shares(segments: Sequence[Segment]) -> dict[str, float]:
    """Guard -> percent of the segments that it distrusts; `any` of them."""
    rules, found = Rules(), Counter[str]()
    for segment in segments:
        names = [name for name in rules.flags(segment) if name in OUTPUTS]
        found.update([*names, *(["any"] if names else [])])
    return {name: 100 * found[name] / len(segments) for name in (*OUTPUTS, "any")}


def loop(s: Segment, other: Segment, rng: random.Random) -> str | None:
    words = s.hypothesis.split()
    end = rng.randint(4, len(words)) if len(words) >= 4 else 0
    return " ".join([*words[:end], *words[end - 4 : end] * 3]) if end else None


def cut(s: Segment, other: Segment, rng: random.Random) -> str | None:
    words = s.hypothesis.split()
    return " ".join(words[: rng.randint(len(words) // 3, len(words) - 1)]) if len(words) >= 6 else None


def untranslated(s: Segment, other: Segment, rng: random.Random) -> str | None:
    words, source = s.hypothesis.split(), (s.source or "").split()
    if min(len(words), len(source)) < 6:
        return None
    to, start = rng.randint(0, len(words) - 3), rng.randint(0, len(source) - 3)
    return " ".join([*words[:to], *source[start : start + 3], *words[to + 3 :]])


def nearly(s: Segment, other: Segment, rng: random.Random) -> str | None:
    words, ours = (s.source or "").split(), s.hypothesis.split()
    if len(words) < 8:
        return None
    words[rng.randrange(len(words))] = rng.choice(ours)
    return " ".join(words)


MADE: dict[str, tuple[str, Change]] = {  # what is made -> the guard for it, and how
    "empty": ("empty", lambda s, other, rng: ""),
    "the source": ("copied", lambda s, other, rng: s.source),
    "the source, one word translated": ("copied", nearly),
    "another source: other language": ("foreign", lambda s, other, rng: other.source),
    "four words three times more": ("looping", loop),
    "cut off inside": ("unfinished", cut),
    "three words of the source": ("untranslated", untranslated),
    "tokenised": ("spaced", lambda s, other, rng: " ".join(s.hypothesis[a:b] for a, b in word_spans(s.hypothesis))),
}


def made(change: Change, good: Sequence[Segment], rng: random.Random) -> list[Segment]:
    """Bad outputs made of good ones, as far as they can be."""
    chosen = rng.sample(good, min(MOST, len(good)))
    texts = [(s, change(s, rng.choice(chosen), rng)) for s in chosen]
    return [replace(s, hypothesis=text) for s, text in texts if text is not None and text != s.hypothesis]


def worth(segments: Sequence[Segment]) -> Iterable[tuple[str, int, float, float]]:
    """Guard, outputs that it distrusts, their mean rating in standard deviations, and tau of chrF with it guarded."""
    ratings = np.array([mean(s.human.values()) for s in segments])
    chrf = ng.score(ng.Dataset(tuple(segments)), metrics="chrf", guards="off")["chrf"].values
    rules = Rules()
    found = [set(rules.flags(s)) for s in segments]
    standing = (ratings - ratings.mean()) / ratings.std()
    yield "none", 0, 0.0, ng.correlation("kendall_b", chrf, ratings).value
    for guard in OUTPUTS:
        flagged = np.array([guard in names for names in found])
        if flagged.any():
            tau = ng.correlation("kendall_b", np.where(flagged, 0, chrf), ratings).value
            yield guard, int(flagged.sum()), float(standing[flagged].mean()), tau


def table(head: Sequence[str], rows: Iterable[Sequence[str | float]]) -> None:
    """A table in Markdown."""
    print("|", " | ".join(head), "|")
    print("|" + "---|" * len(head))
    for row in rows:
        print("|", " | ".join(f"{cell:.1f}" if isinstance(cell, float) else str(cell) for cell in row), "|")


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("data", type=Path)
    data = options.parse_args().data
    warnings.simplefilter("ignore")
    good = {name: best_quarter(ng.read(data / path)) for name, path in GOOD.items()}
    print("Percent of good outputs that a guard distrusts:\n")
    found = {name: shares(segments) for name, segments in good.items()}
    names = [name for name in (*OUTPUTS, "any") if name != "empty"]
    table(["set", "n", *names], [(name, len(good[name]), *(one[g] for g in names)) for name, one in found.items()])
    print("\nPercent of the outputs of MSLC23 that a guard distrusts:\n")
    mslc = list(ng.read(data / MSLC))
    rows = {letter: shares([s for s in mslc if s.system == name]) for name, letter in BAD.items()}
    table(["checkpoint", *names], [(letter, *(one[g] for g in names)) for letter, one in rows.items()])
    print("\nOutputs made bad: percent that the guard for this fault distrusts, and in brackets any guard:\n")
    rng, lines = random.Random(0), []
    for what, (guard, change) in MADE.items():
        each = {name: shares(made(change, good[name], rng)) for name in TRANSLATED}
        lines.append((what, f"`{guard}`", *(f"{one[guard]:.0f} ({one['any']:.0f})" for one in each.values())))
    table(["made", "guard", *TRANSLATED], lines)
    print("\nRatings of outputs that a guard distrusts, and agreement of guarded chrF with people (tau):\n")
    rows = [(name, *row) for name in ("WMT15", "WMT16") for row in worth(list(ng.read(data / GOOD[name])))]
    table(["set", "guard", "n", "mean rating", "tau"], [(*row[:3], f"{row[3]:.2f}", f"{row[4]:.4f}") for row in rows])


if __name__ == "__main__":
    main()
