"""How often do guards distrust good outputs, and which faults do they find? The tables of docs/studies/guards.md.

    python recipes/studies/guards/measure.py DATA         all tables, about three minutes
    python recipes/studies/guards/measure.py DATA good    one of them: good, planted, untrained or worth

DATA is a folder with the sets by name (README.md beside this file says which). Good outputs are the best quarter of a
set by mean human rating; ties with the last of them are good, too. References and captions are all good. Bad ones are
made here from good ones, or are those of the first checkpoints of MSLC23.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean

import numpy as np

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.guards import OUTPUTS, GuardCounts, GuardRules

RATED = {
    "WMT15": "wmt15-da-seg/segments.jsonl.gz",
    "WMT16": "wmt16-da-seg/segments.jsonl.gz",
    "WMT16 en-ru": "wmt16-da-seg/segments_from_en.jsonl.gz",
    "newstest2021 zh-en": "wmt21-mqm-zh-en/segments.jsonl.gz",
    "WMT22 zh-en": "wmt22-gemba-zh-en/segments.jsonl.gz",
    "WMT23 he-en": "wmt23-he-en-mtme",
    "TED zh-en": "ted-mqm-zh-en/segments.jsonl.gz",
    "TED en-de": "ted-mqm-en-de/segments.jsonl.gz",
    **{f"MLQE-PE {lang}-en": f"mlqe-pe/segments_{lang}-en.jsonl.gz" for lang in ("et", "ne", "ro", "ru", "si")},
    "SummEval": "summeval/segments.jsonl.gz",
    "QAGS": "qags-cnn/segments.jsonl.gz",
    "WebNLG 2020": "webnlg2020-humaneval/segments.jsonl.gz",
    "BAGEL": "bagel/segments.jsonl.gz",
    "SFHOT": "sfhot/segments.jsonl.gz",
}
CAPTIONS = "coco-val-refs/segments.jsonl.gz"
PLANTED = ("WMT15", "WMT16", "WMT16 en-ru", "WMT22 zh-en", "WMT23 he-en")
MSLC, BAD = "mslc23/segments.jsonl.gz", {"00058": "A", "00087": "B", "00102": "C", "00117": "D"}
MOST, FEW = 1000, 20  # outputs of a set that bad ones are made of, at most; and of how many there is a percentage
COLUMNS = ("copied", "foreign", "looping", "repeated", "unfinished", "untranslated", "any")
AWAY = {"hter"}  # the only rating of which less is better
Change = Callable[[Segment, Segment, random.Random], str | None]


@cache
def read(path: Path) -> tuple[Segment, ...]:
    """All segments of a set."""
    return tuple(ng.read(path))


def rating(segment: Segment) -> float | None:
    """The mean of a segment's ratings, if it has any."""
    found = [np.mean(v) for name, v in segment.human.items() if v is not None and name not in AWAY]
    return float(mean(found)) if found else None


def are_good(segments: Sequence[Segment]) -> np.ndarray:
    """Whether the rating of each segment is that of the best quarter, shape (n,)."""
    ratings = [rating(s) for s in segments]
    known = sorted((r for r in ratings if r is not None), reverse=True)
    return np.array([r is not None and r >= known[len(known) // 4] for r in ratings])


def best_quarter(segments: Sequence[Segment]) -> list[Segment]:
    """The segments whose rating is that of the best quarter."""
    return [s for s, good in zip(segments, are_good(segments), strict=True) if good]


def shares(segments: Sequence[Segment], of: np.ndarray | None = None) -> dict[str, float]:
    """Guard -> percent of the segments (or of some of them) that it distrusts among all; `any` of them."""
    counts, rules = GuardCounts(), GuardRules()
    counts.add(segments)
    found = [{*rules.flags(s)} for s in segments]
    masks = {name: np.array([name in names for names in found]) for name in OUTPUTS} | counts.over_all()
    masks = {name: mask for name, mask in masks.items() if name != "repeated_reference"}
    masks["any"] = np.logical_or.reduce([*masks.values()])
    return {name: 100 * float(mask[slice(None) if of is None else of].mean()) for name, mask in masks.items()}


def good_texts(data: Path) -> Iterator[tuple[str, int, dict[str, float]]]:
    """Set, number of good texts, and the percent of them that each guard distrusts."""
    for name, path in RATED.items():
        segments = read(data / path)
        good = are_good(segments)
        yield name, int(good.sum()), shares(segments, good)
    single = [replace(s, references=s.references[:1]) for s in read(data / RATED["SummEval"])]
    good = are_good(single)
    yield "SummEval, one reference", int(good.sum()), shares(single, good)
    for name, path in (("references of SummEval", RATED["SummEval"]), ("captions of COCO", CAPTIONS)):
        people = [*by_people(read(data / path))]
        yield name, len(people), shares(people)


def by_people(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Each reference as an output beside one other."""
    for s in {s.item: s for s in segments}.values():
        for i, text in enumerate(s.references):
            other = s.references[i - 1]
            yield replace(s, id=f"{s.id}.{i}", system=f"person {i}", hypothesis=text, references=(other,), human={})


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


def third(s: Segment, other: Segment, rng: random.Random) -> str | None:
    words, theirs = s.hypothesis.split(), (other.source or "").split()
    if s.group == other.group or min(len(words), len(theirs)) < 6:
        return None
    to, start = rng.randint(0, len(words) - 3), rng.randint(0, len(theirs) - 3)
    return " ".join([*words[:to], *theirs[start : start + 3], *words[to + 3 :]])


def apart(s: Segment, other: Segment, rng: random.Random) -> str | None:
    words, source = s.hypothesis.split(), (s.source or "").split()
    if min(len(words), len(source)) < 6:
        return None
    for to, start in zip(rng.sample(range(len(words)), 3), rng.sample(range(len(source)), 3), strict=True):
        words[to] = source[start]
    return " ".join(words)


MADE: dict[str, tuple[str, Change]] = {  # what is made -> the guard for it, and how
    "empty": ("empty", lambda s, other, rng: ""),
    "the source": ("copied", lambda s, other, rng: s.source),
    "the source, one word translated": ("copied", nearly),
    "another source: other language": ("foreign", lambda s, other, rng: other.source),
    "four words three times more": ("looping", loop),
    "cut off inside a sentence": ("unfinished", cut),
    "three words of the source, in a row": ("untranslated", untranslated),
    "three words of the source, apart": ("untranslated", apart),
    "three words of a third language": ("foreign", third),
    "another output of the set": ("foreign", lambda s, other, rng: other.hypothesis),
}


def made(change: Change, good: Sequence[Segment], rng: random.Random) -> list[Segment]:
    """Bad outputs made of good ones, as far as they can be. Each comes from a system that has no other fault."""
    chosen = rng.sample(good, min(MOST, len(good)))
    texts = [(s, change(s, rng.choice(chosen), rng)) for s in chosen]
    return [replace(s, hypothesis=text) for s, text in texts if text is not None and text != s.hypothesis]


def shortened(good: Sequence[Segment], rng: random.Random) -> list[Segment]:
    """Three texts as one, with one of the outputs left out."""
    found = []
    for three in zip(good[::3], good[1::3], good[2::3], strict=False):
        kept = [s.hypothesis for s in three]
        kept.pop(rng.randrange(3))
        whole = " ".join(s.references[0] for s in three)
        source = " ".join(s.source or "" for s in three)
        found.append(replace(three[0], hypothesis=" ".join(kept), references=(whole,), source=source))
    return found


def unasked(good: Sequence[Segment]) -> list[Segment]:
    """Outputs where nothing was to be said."""
    return [replace(s, references=("",), source="") for s in good]


def planted(data: Path) -> Iterator[tuple[str, ...]]:
    """A fault, the guard for it, and for each set the percent of the texts that this guard and any guard distrusts."""
    texts = {name: best_quarter(read(data / RATED[name])) for name in PLANTED}
    whole = [s for s in read(data / RATED["WMT16"]) if s.references]
    texts = {"references of WMT16": [replace(s, hypothesis=s.references[0]) for s in whole], **texts}
    rng = random.Random(0)
    kinds: dict[str, tuple[str, Callable[[Sequence[Segment]], list[Segment]]]] = {
        what: (guard, lambda good, change=change: made(change, good, rng)) for what, (guard, change) in MADE.items()
    }
    kinds["a text where nothing was to be said"] = "unasked", unasked
    kinds["one of three sentences left out"] = "any", lambda good: shortened(good, rng)
    for what, (guard, make) in kinds.items():
        each = [one_by_one(texts_of) if len(texts_of := make(good)) >= FEW else None for good in texts.values()]
        cells = ["" if one is None else f"{one[guard]:.0f} ({one['any']:.0f})" for one in each]
        yield what, "" if guard == "any" else f"`{guard}`", *cells
    yield "", "", *texts


def one_by_one(segments: Sequence[Segment]) -> dict[str, float]:
    """As `shares`, but each text is held to be the only one of its system."""
    rules = GuardRules()
    found = [{*rules.flags(s)}.intersection(OUTPUTS) for s in segments]
    counts = Counter(name for names in found for name in (*names, *(["any"] if names else [])))
    return {name: 100 * counts[name] / len(segments) for name in (*OUTPUTS, "any")}


def untrained(data: Path) -> Iterator[tuple[str, dict[str, float]]]:
    """Checkpoint of MSLC23, and the percent of its outputs that each guard distrusts."""
    segments = read(data / MSLC)
    for system, letter in BAD.items():
        yield letter, shares([s for s in segments if s.system == system])


def worth(segments: Sequence[Segment]) -> Iterable[tuple[str, int, float, float]]:
    """Guard, outputs that it distrusts, their mean rating in standard deviations, and tau of chrF that gives them 0."""
    ratings = np.array([rating(s) for s in segments])
    chrf = ng.score(ng.Dataset(tuple(segments)), metrics="chrf", guards="off")["chrf"].values
    rules = GuardRules()
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
    options.add_argument("table", nargs="?", choices=("good", "planted", "untrained", "worth"))
    given = options.parse_args()
    data, asked = given.data, lambda name: given.table in (None, name)
    warnings.simplefilter("ignore")
    if asked("good"):
        print("Percent of good texts that a guard distrusts:\n")
        table(["set", "n", *COLUMNS], ((name, n, *(one[g] for g in COLUMNS)) for name, n, one in good_texts(data)))
    if asked("planted"):
        print("\nTexts made bad: percent that the guard for this fault distrusts, and in brackets any guard:\n")
        *rows, head = planted(data)
        table(["made", "guard", *head[2:]], rows)
    if asked("untrained"):
        print("\nPercent of the outputs of MSLC23 that a guard distrusts:\n")
        table(["checkpoint", *COLUMNS], ((letter, *(one[g] for g in COLUMNS)) for letter, one in untrained(data)))
    if asked("worth"):
        print("\nRatings of outputs that a guard distrusts, and tau of chrF that gives them 0:\n")
        each = ((name, *row) for name in ("WMT15", "WMT16") for row in worth(read(data / RATED[name])))
        table(["set", "guard", "n", "mean rating", "tau"], ((*r[:3], f"{r[3]:.2f}", f"{r[4]:.4f}") for r in each))


if __name__ == "__main__":
    main()
