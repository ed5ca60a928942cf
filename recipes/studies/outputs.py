"""Outputs of perturbations on texts that nobody chose, for somebody to read, and how many texts are changed.

    python recipes/studies/outputs.py DATA -o quality --seed 7
    python recipes/studies/outputs.py DATA synonyms negation -o quality --seed 7 -n 60

The tables hold `original<TAB>changed`. DATA holds sets as `NAME/segments.jsonl.gz`. The texts of all sets are drawn in
turn, so that each kind has an equal share. Most rules were made by looking at `DEVELOPED_ON`, of the sets that stand in
both at the other half; draws with the seeds 11 to 14, 555, 2611, 4077 and 9173 were looked at, too.
"""

import argparse
import csv
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path

import nlgauge as ng

# Set -> the side that is read: `refs` are by people, `hyp` and `better` by systems.
SETS = {
    "wmt15-da-seg": "refs",
    "wmt21-mqm-zh-en": "refs",
    "wmt22-gemba-zh-en": "refs",
    "ted-mqm-zh-en": "refs",
    "bump": "better",
    "qags-cnn": "hyp",
    "webnlg2020-humaneval": "refs",
    "coco-val-refs": "refs",
}
DEVELOPED_ON = {
    "wmt16-da-seg": "refs",
    "mlqe-pe": "refs",
    "summeval": "hyp",
    "sfhot": "refs",
    "bagel": "refs",
    "webnlg2020-humaneval": "refs",
    "coco-val-refs": "refs",
}
COUNTED = (
    "mask_and_predict",
    "hyponyms",
    "synonyms",
    "drop_named_entities",
    "numbers_to_words",
    "negation",
)


def texts(folder: Path, side: str, half: int | None) -> list[str]:
    """The different texts of one side of a set, in the order of the files; of one half of its inputs, or of all."""
    found: dict[str, None] = {}
    for path in sorted([*folder.glob("segments*.jsonl.gz"), *folder.glob("suite*.jsonl.gz")]):
        for line in gzip.decompress(path.read_bytes()).splitlines():
            row = json.loads(line)
            text = (row["refs"] or [None])[0] if side == "refs" else row[side]
            if text and text.strip() and half in (None, sum(row.get("seg", "").encode()) % 2):
                found[text.strip()] = None
    return list(found)


def drawn(data: Path, sets: dict[str, str], half: int, seed: int) -> Iterator[str]:
    """Texts of all sets in turn, each set in an order of its own."""
    queues = []
    for name, side in sets.items():
        if (data / name).is_dir():
            queue = texts(data / name, side, half if name in DEVELOPED_ON and name in SETS else None)
            random.Random(f"{seed} {name}").shuffle(queue)
            queues.append(queue)
    while any(queues):
        yield from (queue.pop() for queue in queues if queue)


def main() -> None:
    """Write a table per perturbation and print its applicability."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("names", nargs="*", default=COUNTED)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("-n", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--developed-on", action="store_true", help="the sets that were looked at while rules were made"
    )
    parser.add_argument("--texts", type=int, default=800, help="applicability is counted on so many")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    stream = drawn(args.data, DEVELOPED_ON if args.developed_on else SETS, int(args.developed_on), args.seed)
    originals = [text for text, _ in zip(stream, range(args.texts), strict=False)]
    for name in args.names:
        outcomes = ng.perturb(name, originals, seed=args.seed)
        rows = [(o.original, o.text) for o in outcomes if o is not None]
        with (args.output / f"{name}.tsv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter="\t", lineterminator="\n").writerows(rows[: args.n])
        print(f"{name}\t{len(rows)} of {len(originals)} texts changed ({len(rows) / len(originals):.2f})")


if __name__ == "__main__":
    main()
