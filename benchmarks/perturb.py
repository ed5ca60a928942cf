"""How long perturbing takes: MENLI's twelve attacks, and a whole checklist, over the same sentences.

    NLGAUGE_DATA=... python benchmarks/perturb.py [--sentences 3000] [--task mt]

Reads news.en.txt.gz of the folder raw; any file with a sentence a line does with --texts. Seconds are of the clock; the
analysis (tokens, tags, sentences) is done once for all and shown apart. The released code of the checklists does not
run today (its base package does not build), so there is no peer beside it: the audit of the texts with chrF shows what
perturbing costs beside scoring.
"""

import argparse
import gzip
import os
import time
from pathlib import Path

import nlgauge as ng
from nlgauge.audits.suites import ATTACKS
from nlgauge.perturbations.checklist import select_rows
from nlgauge.perturbations.perturb import apply, make_cases, perturbation


def sentences(path: str | None, n: int) -> list[str]:
    file = Path(path) if path else Path(os.environ["NLGAUGE_DATA"]) / "raw" / "news.en.txt.gz"
    opened = gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else open(file, encoding="utf-8")  # noqa: SIM115
    with opened as lines:
        return [line.strip() for line, _ in zip(lines, range(n), strict=False)]


def timed(names, cases) -> float:
    built = [perturbation(name) for name in names]
    began = time.perf_counter()
    for one in built:
        for case in cases:
            apply(one, case, 0)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--task", default="mt")
    args = parser.parse_args()
    texts = sentences(args.texts, args.sentences)
    began = time.perf_counter()
    pool = [f"{text}" for text in texts]
    cases = make_cases(texts, pool=pool)
    analysed = time.perf_counter() - began
    rows = list(dict.fromkeys(row.template for row in select_rows(args.task)))
    attacks, checklist = timed(ATTACKS, cases), timed(rows, cases)
    print(f"{len(texts)} sentences: analysis {analysed:.1f} s")
    print(f"{len(ATTACKS)} attacks: {attacks:.1f} s, with analysis {analysed + attacks:.1f} s")
    print(
        f"checklist of {args.task}, {len(rows)} perturbations: {checklist:.1f} s, with analysis"
        f" {analysed + checklist:.1f} s"
    )
    for name in sorted(rows, key=lambda name: -timed([name], cases[:300]))[:5]:
        print(f"  {name}: {timed([name], cases):.2f} s")

    data = ng.Dataset.from_texts(texts, [[text] for text in texts])
    suite = ng.suite("checklist", data, task=args.task, seed=0)
    began = time.perf_counter()
    ng.audit(suite, metrics=["chrf"])
    audited = time.perf_counter() - began
    distinct = sorted({(text, pair.references[0]) for pair in suite for text in (pair.better, pair.worse)})
    began = time.perf_counter()
    ng.score([text for text, _ in distinct], [[ref] for _, ref in distinct], metrics="chrf")
    scored = time.perf_counter() - began
    print(
        f"audit with chrF: {audited:.1f} s; scoring its {len(distinct)} distinct texts once: {scored:.1f} s (ratio"
        f" {audited / scored:.2f})"
    )


if __name__ == "__main__":
    main()
