"""Which language do the texts of each set look like, and which sets are noted? The figures of docs/studies/guards.md.

    python recipes/studies/guards/languages.py DATA         about a minute

DATA is a folder with the sets by name (README.md beside this file). Of each set: how many outputs, and sources in Latin
script, function words tell to be English and to be in another language; and what is noted of outputs and references in
the whole set, in each system, in the texts rated for each criterion, and in runs of 40 and of 10 texts.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.languages import LanguageCounts
from nlgauge.text.scripts import ENGLISH, leaning, writings

RUNS = (40, 10)


def noted(segments: Sequence[Segment]) -> set[str]:
    """Languages but English that outputs and references are noted to be in, with the names of groups and without."""
    found: set[str] = set()
    for named in (True, False):
        counts = LanguageCounts()
        for s in segments:
            counts.add(s.id, s.group if named else None, (s.hypothesis, *s.references[:1]))
        found |= counts.found().keys() - {ENGLISH}
    return found


def parts(segments: Sequence[Segment]) -> Iterator[Sequence[Segment]]:
    """The segments of each system, of each criterion, and in runs."""
    held: dict[tuple[str, str | None], list[Segment]] = defaultdict(list)
    for s in segments:
        held["system", s.system].append(s)
        for criterion in s.human:
            held["criterion", criterion].append(s)
    yield from held.values()
    for size in RUNS:
        for start in range(0, len(segments) - size + 1, size):
            yield segments[start : start + size]


def latin(texts: Sequence[str]) -> list[str]:
    """Those that are in Latin script."""
    return [text for text, code in zip(texts, writings(texts).tolist(), strict=True) if not code]


def shares(texts: Sequence[str]) -> str:
    """Percent told to be English, and in another language, with its most frequent code."""
    told = Counter(map(leaning, texts))
    n, english = len(texts), told[ENGLISH]
    other = Counter({code: count for code, count in told.items() if code not in (None, ENGLISH)})
    most = f" {other.most_common(1)[0][0]}" if other else ""
    return f"{english / n:6.1%} {other.total() / n:6.1%}{most}"


def main() -> None:
    """Print a line for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    print(f"{'set':40} {'n':>6} {'outputs: en, other':>20} {'sources: en, other':>20}   parts noted: languages")
    for path in sorted(parser.parse_args().data.glob("*/segments*.jsonl.gz")):
        segments = [replace(s, hypothesis=s.hypothesis or "") for s in ng.read(path).segments]
        each = list(parts(segments))
        found = [one for one in map(noted, each) if one]
        sources = latin([s.source for s in segments if s.source])
        print(
            f"{path.parent.name + '/' + path.name.split('.')[0]:40} {len(segments):6}"
            f" {shares(latin([s.hypothesis for s in segments])):>20} {shares(sources) if sources else '':>20}"
            f"   {len(found)} of {len(each)} {sorted(set().union(*found))}; whole set: {sorted(noted(segments))}",
            flush=True,
        )


if __name__ == "__main__":
    main()
