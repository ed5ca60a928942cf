"""Heads between one and another whose adapters learnt more, on development sets or, once, on tests:

    python adapters.py DATA TAUGHT --rules FILE [--share NUMBER ...] [--start HEAD] [--rank 32] [--damaged] [--tests]

TAUGHT: a head trained with `--init HEAD`, which is nli-robust by default. Rows are shares of the way to it (blend.py),
the columns are those of top.py, whose help says what they are. The bias stays as it was learnt. `--rank` brings the sum
of both updates to a lower rank (truncated singular values). `--damaged` adds the columns of damaged.py: ties are lost,
once by `both-geometric` and once by `direction=both`. `--tests` prints other columns: every third pair of XPAWS-fr,
HW-TSC, every fourth pair of BUMP's first task against its article, every third segment of WMT16, and newstest2021 in
the form of damaged.py.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import blend
import numpy as np
from damaged import FLUENCY, HELD_BACK, MEANING, Case, cases, drawn
from rules import rows
from top import HEAD, SHARES, TESTED, Pairs, agreement, attacks, development, held_against, measured

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.models.entailment import load_nli
from nlgauge.models.heads import find_head
from nlgauge.training.heads import write_head

LIMIT, SEED = 600, 21  # items that are damaged
FOURTH = 4  # every fourth pair of BUMP, whose articles are long
MULTIREF, NEWSTEST = Path("mlqe-pe", "segments_multiref_et-en.jsonl.gz"), Path("wmt21-mqm-zh-en", "segments.jsonl.gz")


class Told:
    """The probabilities of a head; pairs of texts that come again are not judged again."""

    def __init__(self, path: str) -> None:
        self.judge = load_nli(path, None, None, "float32", ng.Runtime(dtype="float32", device="cpu")).judge
        self.known: dict[tuple[str, str], Array] = {}

    def __call__(self, pairs: Pairs) -> Array:
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self.known]
        if new:
            self.known |= zip(new, self.judge(new).probabilities, strict=True)
        return np.stack([self.known[pair] for pair in pairs])


def won(told: Told, tried: Sequence[Case], mean: Callable[[Array], Array]) -> Array:
    """Whether the better text has the higher value, shape (n,)."""
    asked = [pair for c in tried for t in (c.better, c.worse) for pair in ((c.reference, t), (t, c.reference))]
    values = mean(told(asked)[:, 0].reshape(-1, 2, 2))
    return np.asarray(values[:, 0] > values[:, 1])


def geometric(e: Array) -> Array:
    return np.sqrt(np.asarray(e.prod(axis=2)))


def arithmetic(e: Array) -> Array:
    return np.asarray(e.mean(axis=2))


def forward(e: Array) -> Array:
    return e[:, :, 0]


WAYS: dict[str, Callable[[Array], Array]] = {"": geometric, " (both)": arithmetic}
FORWARD: dict[str, Callable[[Array], Array]] = {" (forward)": forward}


def damaged(told: Told, tried: Sequence[Case]) -> dict[str, float]:
    kinds = np.array([c.kind for c in tried])
    groups = {
        "meaning": np.isin(kinds, MEANING),
        "fluency": np.isin(kinds, FLUENCY),
        "held back": np.isin(kinds, HELD_BACK),
    }
    return {
        f"damaged: {name}{way}": float(won(told, tried, mean)[group].mean())
        for way, mean in WAYS.items()
        for name, group in groups.items()
    }


def preferred(name: str, suite: Sequence[ng.Pair], told: Told) -> dict[str, float]:
    """The share of a suite's pairs in which the better text wins, in each way."""
    against = [(p.references[0] if p.references else str(p.source)).strip() for p in suite]
    tried = [Case(text, p.better.strip(), p.worse.strip(), "") for text, p in zip(against, suite, strict=True)]
    return {f"{name}{way}": float(won(told, tried, mean).mean()) for way, mean in (WAYS | FORWARD).items()}


@cache
def damaged_of(path: Path) -> tuple[Case, ...]:
    return tuple(cases(drawn(rows(str(path)), LIMIT, SEED), SEED))


def tested(told: Told, data: Path) -> dict[str, float]:
    found = attacks(
        "XPAWS-fr", held_against(ng.read_suite(data / "xpaws-fr-adv" / "adversarial.jsonl.gz"), TESTED), told
    )
    found |= preferred("HW-TSC", held_against(ng.read_suite(data / "hwtsc22" / "suite.jsonl.gz")), told)
    found |= preferred("BUMP", list(ng.read_suite(data / "bump" / "suite_task1.jsonl.gz"))[::FOURTH], told)
    wmt = ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz")
    found |= agreement("WMT16", ng.Dataset(wmt.segments[::TESTED], "WMT16"), told)
    return found | damaged(told, damaged_of(data / NEWSTEST))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("taught")
    parser.add_argument("--rules", type=Path, required=True)
    parser.add_argument("--share", type=float, nargs="+", default=SHARES)
    parser.add_argument("--start", default=HEAD)
    parser.add_argument("--rank", type=int, help="of the heads between; by default the sum of both ranks")
    parser.add_argument("--damaged", action="store_true")
    parser.add_argument("--tests", action="store_true")
    given = parser.parse_args()
    start, about = blend.read(str(find_head(given.start, "nli").path))
    taught, learnt = blend.read(given.taught)
    rank = given.rank or int(about["rank"]) + int(learnt["rank"])
    if not given.tests:
        dev, attacked, rated = development(given.data, given.rules)
    for number, share in enumerate(given.share):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "head.safetensors"))
            mixed = blend.between(start, taught, share) if share else start
            write_head(path, blend.of_rank(mixed, rank), about | {"rank": str(rank)})
            told = Told(path)
            if given.tests:
                found = tested(told, given.data)
            else:
                found = measured(told, dev, {"MLQE": attacked}, {"MLQE": rated})
                found |= damaged(told, damaged_of(given.data / MULTIREF)) if given.damaged else {}
        if not number:
            print(f"| share | {' | '.join(found)} |\n|---|{'---:|' * len(found)}")
        print(f"| {share:g} | {' | '.join(f'{value:.3f}' for value in found.values())} |", flush=True)


if __name__ == "__main__":
    main()
