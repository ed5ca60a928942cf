"""The scales of `gauge`: what each of its terms gives for unrelated sentences and for copies, and how widely it lies.

    python recipes/tools/gauge.py DATA [--encoder base] [--dtype bfloat16] [--limit N]

DATA: the folder with wmt15-da-seg. Printed is, term by term, the mean for references beside another reference, the mean
for references beside themselves, and the standard deviation over the translations; `src/nlgauge/metrics/learned/
gauge.py` holds these numbers. No rating is read.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

import nlgauge as ng
from nlgauge.metrics.learned.gauge import SCALES
from nlgauge.metrics.registry import on_encoder

TERMS = tuple(SCALES["embedded"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="embedded")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--limit", type=int, help="only so many references and translations")
    given = parser.parse_args()
    every = ng.read(given.data / "wmt15-da-seg" / "segments.jsonl.gz").segments
    shuffled = [every[i] for i in np.random.default_rng(1).permutation(len(every))]
    translations = shuffled[: given.limit]
    distinct = list({s.references[0]: s for s in shuffled}.values())[: given.limit]
    order = np.random.default_rng(0).permutation(len(distinct))
    others = [distinct[i].references[0] for i in np.roll(order, 1)]
    unrelated = [replace(distinct[i], hypothesis=other) for i, other in zip(order, others, strict=True)]
    copies = [replace(s, hypothesis=s.references[0]) for s in distinct]
    runtime = ng.Runtime(dtype=given.dtype)
    print(f"{len(distinct)} references, {len(translations)} translations, {given.encoder}")
    for term in TERMS:
        spec = on_encoder(term, given.encoder)
        values = [
            ng.score(ng.Dataset(tuple(part), "part"), metrics=spec, runtime=runtime, guards="off")[spec].values
            for part in (unrelated, copies, translations)
        ]
        print(f"{term}: ({values[0].mean():.4g}, {values[1].mean():.4g}, {values[2].std():.4g})", flush=True)


if __name__ == "__main__":
    main()
