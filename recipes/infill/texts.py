"""Sentences for the infill head:

    python texts.py OUT HELD --lines FILE ... --texts FILE ... --premises FILE ... --held-out FILE ... [--hold 1500]
    [--seed 13]

Lines: raw text, a sentence a line. Texts: JSON lines with `text`. Premises: JSON lines with `premise`. Every sentence
that occurs in a held-out file, in whatever field, is left out (case, punctuation and blanks aside), as are doublets and
what is shorter than four words or longer than 400 characters. What is left is put in random order; the last HOLD of it
go into HELD, the rest into OUT.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nlgauge.core.result import replacing

LONGEST, FEWEST = 400, 4  # characters; words
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)]*\s+")


def lines(path: str) -> list[str]:
    data = Path(path).read_bytes()
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8").split("\n")


def rows(path: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines(path) if line.strip()]


def folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def strings(value: Any) -> Iterator[str]:
    """Every text in a row, whole and by sentences: hypotheses, references, sources."""
    if isinstance(value, str):
        yield value
        yield from SENTENCE_END.split(value)
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        yield from strings(list(value.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("held")
    parser.add_argument("--hold", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=13)
    for option in ("--lines", "--texts", "--premises", "--held-out"):
        parser.add_argument(option, nargs="*", default=[])
    given = parser.parse_args()
    closed = {folded(text) for path in given.held_out for row in rows(path) for text in strings(row)}
    found: dict[str, str] = {}
    n_closed = 0
    sources = [*((path, lines(path)) for path in given.lines)]
    sources += [(path, [row["text"] for row in rows(path)]) for path in given.texts]
    sources += [(path, [row["premise"] for row in rows(path)]) for path in given.premises]
    for path, texts in sources:
        before = len(found)
        for text in texts:
            text, key = " ".join(text.split()), folded(text)
            if key in closed:
                n_closed += 1
            elif len(text) <= LONGEST and len(key.split()) >= FEWEST:
                found.setdefault(key, text)
        print(f"{len(found) - before:6d}  {Path(path).name}")
    kept = [found[key] for key in sorted(found)]
    random.Random(given.seed).shuffle(kept)
    for path, part in ((given.out, kept[: -given.hold]), (given.held, kept[-given.hold :])):
        with replacing(path, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
            packed.write("".join(f"{text}\n" for text in part).encode())
    print(f"{len(kept) - given.hold} to learn from, {given.hold} held out; {n_closed} occur in held-out files")


if __name__ == "__main__":
    main()
