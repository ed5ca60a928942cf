"""The switches between BERTScore and MoverScore, one by one, as in table 9 of Zhang et al. (2020).

    python recipes/studies/switches.py DATA NEWS.gz [--every N] > tables.md

DATA: a folder with wmt16-da-seg. NEWS.gz: plain English sentences, one a line, from which IDF-L takes frequencies.
Pearson's r by language pair, mean of six; Williams' test against `matching` without switches in each pair. The model is
the embedded encoder or that of NLGAUGE_ENCODER, so the switch +MNLI (another model) is not turned. `--every 10` takes
every tenth segment.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

import nlgauge as ng
from nlgauge.metrics.registry import on_encoder

MATCHES = {"greedy": "F", "wmd1": "WMD1", "wmd2": "WMD2"}
SWITCHES = {
    "none": "",
    "PMEANS": "pmeans=true",
    "IDF-S": "idf=references",
    "IDF-L": "idf=references,idf_file={news}",
    "IDF-L, SEP": "idf=both,idf_file={news}",
    "RM": "drop_marks=true",
    "IDF-L, SEP, RM": "idf=both,idf_file={news},drop_marks=true",
    "PMEANS, IDF-L, SEP, RM": "pmeans=true,idf=both,idf_file={news},drop_marks=true",
}
PLAIN = "F, none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("news", type=Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    dataset = ng.read(given.data / "wmt16-da-seg" / "segments.jsonl.gz")
    dataset = replace(dataset, segments=dataset.segments[:: given.every])
    of_group: dict[str, list[int]] = {}
    for i, segment in enumerate(dataset.segments):
        of_group.setdefault(str(segment.group), []).append(i)
    runtime = ng.Runtime(dtype=given.dtype)
    scores = {}
    for (match, short), (name, options) in product(MATCHES.items(), SWITCHES.items()):
        spec = f"matching:match={match}," + options.format(news=given.news)
        metric = ng.metric(on_encoder(spec.rstrip(","), runtime.encoder))
        values = np.full(len(dataset.segments), np.nan)
        for at in of_group.values():  # idf is taken from one language pair, as WMT scored them
            values[at] = metric.score([dataset.segments[i] for i in at], runtime).values
        scores[f"{short}, {name}"] = values
    found = ng.meta_evaluate(dataset, scores=scores, criterion="da_z", test="williams", intervals="none")
    values = {(row["metric"], row["group"]): row["value"] for row in found.rows if row.get("against") is None}
    p = {(r["metric"], r["against"], r["group"]): r["p"] for r in found.rows if r.get("against") is not None}
    print(f"WMT16, {len(dataset.segments)} segments, {len(of_group)} pairs:\n")
    print(f"| switches | {' | '.join(MATCHES.values())} |\n|---|{'---:|' * len(MATCHES)}")
    for name in SWITCHES:
        cells = []
        for short in MATCHES.values():
            own = f"{short}, {name}"
            cells.append(f"{np.mean([values[own, group] for group in of_group]):.3f}")
            if own != PLAIN:
                won, lost = (sum(p[*pair, group] < 0.05 for group in of_group) for pair in ((own, PLAIN), (PLAIN, own)))
                cells[-1] += f" ({won}, {lost})"
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
