"""What checks cost: the script of every text is looked at, and what was cut, empty or undefined is counted.

    python benchmarks/checks.py                      BLEU and chrF, 3,000 segments in each of four languages
    python benchmarks/checks.py --repeats 41         closer, on a machine with other work

One run is all of `nlgauge.score`: segments are made, checked, scored and counted. Runs alternate with and without
checks, so that other work on the machine falls on both; their processor seconds are compared, and `ratio` is the
median of the ratios of neighbours. Without checks means `language="off"`, and functions that count replaced by ones
that do nothing. On a busy machine the ratio wavers by some percent, more than checks cost; so `alone` is what both
checks take by themselves, as a share of a run without them. Guards are left out of these runs (`guards="off"`) and
timed by themselves. Exits with 1 if a share is more than `MOST`, or guards look at fewer segments than `LEAST`.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from unittest import mock

import numpy as np

import nlgauge as ng
from nlgauge.core.scores import count, count_notes, first_of
from nlgauge.metrics import guards
from nlgauge.metrics.guards import GuardCounts
from nlgauge.metrics.registry import named
from nlgauge.scoring import compare, job
from nlgauge.scoring.looks import Looks

MOST = 0.03
LEAST = 20_000  # segments a second for all guards together, on a machine without other work
WORDS = {  # common words: their lengths and scripts matter here, not their sense
    "English": "the a of and to in rain house river because morning people yesterday between children never window"
    " small always letter quickly mountain station question winter under government",
    "German": "der die und in über Häuser Fluss weil Morgen Menschen gestern zwischen Kinder niemals Fenster"
    " größer immer Brief schnell Gebirge Bahnhof Prüfung Winter unter Regierung können",
    "Russian": "и в не на дом река потому утро люди вчера между дети никогда окно маленький всегда письмо быстро"
    " гора вокзал вопрос зима под правительство дождь чтобы",
    "Chinese": "的 和 在 雨 房子 河流 因为 早晨 人们 昨天 之间 孩子 从不 窗户 小 总是 信 很快 山 车站 问题 冬天 下面"
    " 政府 城市 今天",
}
SPECS = {"bleu": {"Chinese": "bleu:tokenize=zh"}, "chrf": {}}


def corpus(language: str, n: int, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """Hypotheses and references: about 20 words each, a fifth of them changed."""
    words = WORDS[language].split()
    gap, end = ("", "。") if language == "Chinese" else (" ", ".")
    hypotheses, references = [], []
    for size in rng.integers(12, 29, size=n):
        drawn = [words[i] for i in (rng.zipf(1.3, size=size) - 1) % len(words)]
        changed = [words[rng.integers(len(words))] if rng.random() < 0.2 else word for word in drawn]
        hypotheses.append(gap.join(changed) + end)
        references.append(gap.join(drawn) + end)
    return hypotheses, references


def seconds(run: Callable[[], object]) -> float:
    """Processor seconds of one run."""
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def without_checks(hypotheses: list[str], references: list[str], spec: str) -> object:
    """Score, and neither look at scripts nor count."""
    with ExitStack() as stack:
        for module, name, result in ((compare, "count", {}), (compare, "first_of", {}), (job, "count_notes", ())):
            stack.enter_context(mock.patch.object(module, name, lambda *a, _result=result, **k: _result))
        return ng.score(hypotheses, references, metrics=spec, language="off", guards="off")


def checks_alone(hypotheses: list[str], references: list[str], spec: str) -> Callable[[], object]:
    """The two checks of one run."""
    segments = ng.Dataset.from_texts(hypotheses, references).segments
    scores = ng.score(hypotheses, references, metrics=spec, language="off", guards="off")[spec]
    built = named(spec)

    def run() -> object:
        counts = count(scores.flags, scores.values)
        first = first_of(scores.flags, scores.ids)
        return Looks(guards="off").seen(built, segments).notes(), [*count_notes(spec, counts, len(scores), first=first)]

    return run


def guards_per_second(language: str, n: int) -> float:
    """Segments that all guards look at in a second, but for those whose language must be told; the best of five."""
    segments = ng.Dataset.from_texts(*corpus(language, n, np.random.default_rng(0))).segments

    def run() -> object:
        counted = GuardCounts()
        counted.add(segments)
        return counted.notes()

    with mock.patch.object(guards, "_are_other", return_value=False):
        rate = n / min(seconds(run) for _ in range(5))
    whole = n / min(seconds(run) for _ in range(2))
    print(f"{language:9} guards: {rate:,.0f} segments a second, {whole:,.0f} with languages told")
    return rate


def main() -> int:
    """Measure, show a table, and say whether every ratio is small enough."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--segments", type=int, default=3000)
    options.add_argument("--repeats", type=int, default=21)
    chosen = options.parse_args()
    warnings.simplefilter("ignore", ng.ScoreWarning)
    gc.disable()
    print(f"{'language':9} {'metric':16} {'seconds':>8} {'ratio':>7} {'alone':>7}")
    worst = 0.0
    for language in WORDS:
        texts = corpus(language, chosen.segments, np.random.default_rng(0))
        for name, others in SPECS.items():
            spec = others.get(language, name)

            def checked(texts: tuple[list[str], list[str]] = texts, spec: str = spec) -> object:
                return ng.score(*texts, metrics=spec, guards="off")

            def bare(texts: tuple[list[str], list[str]] = texts, spec: str = spec) -> object:
                return without_checks(*texts, spec)

            checked(), bare()  # tables are read, and functions warm
            pairs = []
            for i in range(chosen.repeats):
                first, second = (checked, bare) if i % 2 else (bare, checked)
                took = {first: seconds(first), second: seconds(second)}
                pairs.append((took[checked], took[bare]))
            ratio = statistics.median(with_checks / without for with_checks, without in pairs)
            base = statistics.median(without for _, without in pairs)
            alone = checks_alone(*texts, spec)
            share = statistics.median(seconds(alone) for _ in range(chosen.repeats)) / base
            worst = max(worst, share)
            print(f"{language:9} {spec:16} {base:8.3f} {ratio:7.3f} {100 * share:5.1f} %")
    print(f"checks take {100 * worst:.1f} % at most, asked are {100 * MOST:g} %; {os.cpu_count()} cores")
    slowest = min(guards_per_second(language, chosen.segments) for language in WORDS)
    return int(worst > MOST or slowest < LEAST)


if __name__ == "__main__":
    sys.exit(main())
