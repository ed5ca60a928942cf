"""What the heads that read both texts in one sequence learn from (`both.sh` calls it):

    python both.py synthesis OUT --examples FILE [FILE ...] --triples FILE [FILE ...]
    python both.py texts OUT --examples FILE [FILE ...] --triples FILE [FILE ...] --data DATA
    python both.py told OUT --texts TEXTS --heads HEAD [HEAD ...]

`synthesis`: texts with errors of known severity, as lines that `nlgauge train sescore` reads. EXAMPLES are those of
recipes/spans/examples.py, without what people rated or marked; TRIPLES those of recipes/sescore/run.sh. The score is
minus the logarithm of one more than the sum of severities (1 and 5), so that a text with six errors is little worse
than one with five.

`texts`: all of them, with outputs of MLQE-PE beside their post-edits and the outputs of WMT15, for heads to score.

`told`: the same with the mean of what several heads say of them, in the deviations of each, as ratings `told`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge import Runtime, read, score
from nlgauge.core.result import replacing

SEVERITIES = {"minor": 1.0, "major": 5.0}
OF_PEOPLE = ("marked by experts", "output, rated")  # origins of which people's judgements are known
# Origins that people's ratings chose: not in what is learnt as synthesis.
CHOSEN = ("translation and its post-edit", "machine translation and its post-edit", "good translation")
PAIRS = ("et-en", "ro-en", "ru-en", "ne-en", "si-en")

Row = tuple[str, str, float]  # hypothesis, reference, score


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSON lines file, plain or packed."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def synthesis(examples: Sequence[Path], triples: Sequence[Path], without: Sequence[str]) -> list[Row]:
    """Pairs with minus the sum of severities, each once."""
    found: dict[tuple[str, str], float] = {}
    for path in examples:
        for row in lines(path):
            if row["spans"] is not None and row["origin"] not in (*OF_PEOPLE, *without):
                severity = sum(SEVERITIES[span["severity"]] for span in row["spans"])
                found.setdefault((str(row["hyp"]), str(row["ref"])), -severity)
    for path in triples:
        for row in lines(path):
            for reference in row["refs"]:
                found.setdefault((str(row["hyp"]), str(reference)), float(row["score"]))
    return [(hyp, ref, score) for (hyp, ref), score in found.items()]


def translations(data: Path) -> Iterator[tuple[str, str]]:
    """Outputs of MLQE-PE beside their post-edits, and of WMT15 beside their references."""
    for pair in PAIRS:
        for segment in read(data / "mlqe-pe" / f"segments_{pair}.jsonl.gz"):
            yield segment.hypothesis, segment.references[0]
    for segment in read(data / "wmt15-da-seg" / "segments.jsonl.gz"):
        yield segment.hypothesis, segment.references[0]


def main() -> None:
    """Write one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["synthesis", "texts", "told"])
    parser.add_argument("out", type=Path)
    for option in ("examples", "triples", "heads"):
        parser.add_argument(f"--{option}", type=Path, nargs="+", default=[])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--texts", type=Path)
    given = parser.parse_args()
    if given.what == "told":
        specs = [f"regressor:model={head}" for head in given.heads]
        scores = score(read(given.texts), metrics=specs, runtime=Runtime(dtype="float32"))
        said = [scores[spec].values for spec in specs]
        told = np.mean([(own - np.nanmean(own)) / np.nanstd(own) for own in said], axis=0)
        rows: list[dict[str, Any]] = [
            {"hyp": segment.hypothesis, "refs": list(segment.references), "human": {"told": float(value)}}
            for segment, value in zip(read(given.texts), told, strict=True)
            if np.isfinite(value)
        ]
    else:
        found = synthesis(given.examples, given.triples, CHOSEN if given.what == "synthesis" else ())
        rows = [{"hyp": hyp, "refs": [ref], "score": float(-np.log1p(-score))} for hyp, ref, score in found]
        if given.what == "texts":
            rows = [{"hyp": row["hyp"], "refs": row["refs"]} for row in rows]
            rows += [{"hyp": hyp, "refs": [ref]} for hyp, ref in dict.fromkeys(translations(given.data))]
    with replacing(given.out, "w") as file:
        for number, row in enumerate(rows):
            file.write(json.dumps({"id": str(number), **row}, ensure_ascii=False) + "\n")
    print(f"{len(rows)} pairs")


if __name__ == "__main__":
    main()
