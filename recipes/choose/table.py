"""Make src/nlgauge/data/agreement.tsv: how often each metric orders two outputs of a public set as people do.

    python recipes/choose/table.py DATA [--cache FILE] [--sets NAME ...] [--metrics SPEC ...]

DATA is the folder of the public sets, and the encoders `base` and `multilingual` must be there (`nlgauge fetch all`).
It takes some 60 minutes of one core, and seconds where scores are in the cache. Metrics on `base` are scored in
bfloat16, as the guide advises.

A metric that compares vectors has a row for each encoder, under the specification that names it: what one encoder is
found to be says nothing of another. A metric that does not read the language of a set has no row there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from pairs import agreement, rated_pairs
from sets import Rated, few, rated_sets

import nlgauge as ng
from nlgauge.choosing.known import TRIED, UNREFERENCED, unreadable
from nlgauge.core.errors import NlgaugeError
from nlgauge.metrics.registry import metric, named, on_encoder
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.cache import ScoreCache

TARGET = Path(__file__).parents[2] / "src/nlgauge/data/agreement.tsv"
LEARNT = "wmt15"  # rated has learnt from its ratings
ABROAD = ("bertscore:value=recall", "0.3*bertscore:value=recall + 0.7*cosine [norm=none]")  # beside those tried
BASE = ("bertscore", "bertscore:value=recall", "rated", "gauge-rated")  # on the larger encoder: what is recommended
HEADER = "set task language words chrf metric value low high n".split()


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cache", type=Path, default=Path("choose.sqlite"))
    parser.add_argument("--sets", nargs="*", help="only these sets; others keep their rows")
    parser.add_argument("--metrics", nargs="*", help="only these metrics; others keep their rows")
    typed = parser.parse_args()
    cache = ScoreCache(typed.cache)
    runtimes = {True: ng.Runtime(cache=cache, dtype="bfloat16"), False: ng.Runtime(cache=cache)}
    known = TARGET.read_text(encoding="utf-8").splitlines()
    kept = {(line.split("\t")[0], line.split("\t")[5]): line for line in known}
    lines = ["\t".join(HEADER)]
    together = []
    for one in rated_sets(typed.data):
        if one.name.startswith(LEARNT):
            continue
        if typed.sets and one.name not in typed.sets:
            lines += [line for line in known if line.startswith(f"{one.name}\t")]
            continue
        segments = one.dataset.segments
        words = np.mean([len(s.hypothesis.split()) for s in segments])
        has_references = all(s.references for s in segments)
        chrf = np.nan
        draws = []
        for spec in specs_of(one, has_references):
            if typed.metrics and spec not in typed.metrics:
                own = kept.get((one.name, spec))
                lines += [] if own is None else [own]
                chrf = float(own.split("\t")[4] or "nan") if own is not None and spec == "chrf" else chrf
                continue
            built = metric(spec)
            if not all(bool(getattr(s, need)) for need in built.info.needs for s in segments):
                continue
            looked = few(one) if has_references and "source" in built.info.needs else one
            pairs = rated_pairs(looked.dataset.segments, looked.ratings)
            try:
                runtime = runtimes[spec.endswith(("=base", "-base"))]
                scores = score_segments({spec: built}, looked.dataset.segments, runtime)[spec]
            except NlgaugeError as error:
                print(one.name, spec, error)
                continue
            if spec == "chrf":
                chrf = float(np.nanmean(scores.values))
            found = agreement(scores.values * (1 if scores.higher_is_better else -1), pairs)
            if found is None:
                continue
            if looked is one:
                draws.append(found.draws)
            numbers = [f"{x:.4f}" for x in (found.value, found.low, found.high)]
            about = [one.name, one.task, one.language, f"{words:.1f}", "CHRF", spec, *numbers, str(found.n)]
            lines.append("\t".join(about))
            print("\t".join(about), pairs.within, len(looked.dataset), flush=True)
        lines = [line.replace("\tCHRF\t", f"\t{'' if np.isnan(chrf) else f'{chrf:.1f}'}\t") for line in lines]
        if typed.metrics:  # the correlation is that of all metrics
            continue
        table = np.corrcoef(np.stack(draws))
        together.append(float(table[np.triu_indices(len(table), 1)].mean()))
    if together:
        print(f"mean correlation of two metrics' draws: {np.mean(together):.3f}")
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


def specs_of(one: Rated, has_references: bool) -> list[str]:
    """The metrics that are tried on a set: on the encoders for English and on `multilingual`, if they read it."""
    names = TRIED[one.task] if has_references else (*UNREFERENCED, "summac")
    names = (*names, *ABROAD) if one.language != "en" else names
    on_base = [on_encoder(name, "base") for name in names if name in BASE and one.language == "en"]
    specs = dict.fromkeys([*names, *on_base, *(on_encoder(name, "multilingual") for name in names)])
    out, _ = unreadable(named(list(specs)), one.dataset.segments)
    return [spec for spec in specs if spec not in out]


if __name__ == "__main__":
    main()
