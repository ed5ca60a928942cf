"""The digests of what the shipped heads were trained on, from the folder with their training files.

    python recipes/tools/digests.py DATA src/nlgauge/data/heads/digests.npz

DATA holds `nli/`, `raw/`, `ud/`, `wmt15-da-seg/`, `xpaws-fr-adv/`, `xpaws-zh-adv/` and `mlqe-pe/`, whose files the
cards of the heads name, with origin and digest. Five bytes of BLAKE2b are kept of each text and sentence, and no text.
For `nli-robust`, `nli-multi`, `faithful`, `infill`, `sescore` and `rated-both` these are the sentences that the
training drew from: the pairs and errors that were made of them by rule are not among them, and the few sentences that
were left out of the training because a test set holds them are.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from nlgauge.audits.run import digests_of, write_digests

TWICE = "segments_multiref_et-en.jsonl.gz"
NLI = ("snli", "cfnli", "base_wiki", "sim_wiki", "translate_wiki", "conjnli", "help_and")


def lines(path: Path) -> Iterator[str]:
    """The lines of a packed file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        yield from file


def fields(path: Path, *names: str) -> Iterator[str]:
    """The texts of some fields of JSON lines; a field may hold a list."""
    for line in lines(path):
        row = json.loads(line)
        for name in names:
            yield from [row[name]] if isinstance(row[name], str) else row[name]


def trained_rows(path: Path, side: str = "hyp") -> Iterator[str]:
    """The outputs, or the sources, and the post-edits of the training split."""
    for line in lines(path):
        row = json.loads(line)
        if row["split"] == "train":
            yield from (row[side], *row["refs"])


def main() -> None:
    """Write the file, and say how many digests each head has."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    data: Path = options.data
    nli = [data / "nli" / f"{name}.train.jsonl.gz" for name in NLI]
    pairs = {text for path in nli for text in fields(path, "premise", "hypothesis")}
    premises = {text for path in nli for text in fields(path, "premise")}
    news, europarl = (set(lines(data / "raw" / f"{name}.en.txt.gz")) for name in ("news", "europarl"))
    web = set(fields(data / "ud" / "ewt.train.jsonl.gz", "text"))
    rated = set(fields(data / "wmt15-da-seg" / "segments.jsonl.gz", "hyp", "refs"))
    mlqe = data / "mlqe-pe"
    across = {text for path in mlqe.glob("segments_??-en.jsonl.gz") for text in trained_rows(path, "src")}
    across.update(fields(data / "wmt15-da-seg" / "segments.jsonl.gz", "src", "refs"))
    both = {text for path in mlqe.glob("segments_*.jsonl.gz") for text in fields(path, "hyp", "refs")}
    attacked = {
        text
        for name in ("fr", "zh")
        for text in fields(data / f"xpaws-{name}-adv" / "adversarial.jsonl.gz", "ref", "r", "cand_para", "cand_adv_ref")
    }
    trained = {
        "nli": pairs,
        "nli-robust": pairs | news | europarl,
        "nli-multi": pairs | news | europarl | across,
        "infill": premises | news | europarl | web,
        "sescore": set(fields(data / "mlqe-pe" / TWICE, "refs")),
        "rated": rated,
        "rated-both": pairs | news | europarl | both | attacked | rated,
    }
    digests = {name: digests_of(texts) for name, texts in trained.items()}
    write_digests(options.out, digests)
    for name, own in digests.items():
        print(f"{name}: {len(own):,} digests of {len(trained[name]):,} texts")
    print(f"{options.out.stat().st_size / 1000:,.0f} kB")


if __name__ == "__main__":
    main()
