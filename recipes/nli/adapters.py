"""Heads between nli-robust and one whose adapters learnt more, on development sets:

    python adapters.py DATA TAUGHT --rules FILE [--share NUMBER ...]

TAUGHT: a head trained with `--init nli-robust.safetensors`. Rows are shares of the way to it (blend.py), the columns
are those of top.py, whose help says what they are. The bias stays as it was learnt.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import blend
from top import HEAD, SHARES, Pairs, development, measured

import nlgauge as ng
from nlgauge.core import Array
from nlgauge.models import Entailment, find_head, load_nli
from nlgauge.training import write_head


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("taught")
    parser.add_argument("--rules", type=Path, required=True)
    parser.add_argument("--share", type=float, nargs="+", default=SHARES)
    given = parser.parse_args()
    start, about = blend.read(str(find_head(HEAD, "nli").path))
    taught, learnt = blend.read(given.taught)
    rank = int(about["rank"]) + int(learnt["rank"])
    dev, attacked, rated = development(given.data, given.rules)
    for number, share in enumerate(given.share):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "head.safetensors"))
            write_head(path, blend.between(start, taught, share), about | {"rank": str(rank)})
            judge = load_nli(path, None, None, "float32", ng.Runtime(dtype="float32", device="cpu")).judge

            def told(pairs: Pairs, judge: Callable[..., Entailment] = judge) -> Array:
                return judge(pairs).probabilities

            found = measured(told, dev, {"MLQE": attacked}, {"MLQE": rated})
        if not number:
            print(f"| share | {' | '.join(found)} |\n|---|{'---:|' * len(found)}")
        print(f"| {share:g} | {' | '.join(f'{value:.3f}' for value in found.values())} |", flush=True)


if __name__ == "__main__":
    main()
