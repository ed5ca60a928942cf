"""How often a model guesses a word of a text, one word masked at a time: python evaluate.py MODEL ... --on FILE ...

MODEL: what infill=... takes. FILE: text, a sentence a line, or JSON lines with `text`. One word of each text is masked,
drawn with the seed among those that are a single piece of the vocabulary and have a letter or digit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import time
from pathlib import Path

from nlgauge import Runtime
from nlgauge.models.filler import load_infill
from nlgauge.models.infill import Gap

TOPS = (1, 4, 5, 10)


def texts(path: str) -> list[str]:
    data = Path(path).read_bytes()
    lines = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8").split("\n")
    return [json.loads(line)["text"] if ".jsonl" in path else line for line in lines if line.strip()]


def gaps(lines: list[str], tokenizer: object, seed: int) -> list[Gap]:
    rng, found = random.Random(seed), []
    for text, placed in zip(lines, tokenizer.place(lines), strict=True):
        pieces = {(int(a), int(b)) for a, b in zip(placed.starts, placed.ends, strict=True)}
        words = [m.span() for m in re.finditer(r"\w+", text) if m.span() in pieces]
        if words:
            found.append(Gap(text, *rng.choice(words)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--on", nargs="+", required=True)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--seed", type=int, default=13)
    given = parser.parse_args()
    print(f"| model | texts | words | {' | '.join(f'top-{k}' for k in TOPS)} | case right | gaps a CPU second |")
    print("|---" * (5 + len(TOPS)) + "|")
    for name in given.models:
        model = load_infill(name, dtype=given.dtype, runtime=Runtime(dtype=given.dtype))
        for path in given.on:
            asked = gaps(texts(path), model.tokenizer, given.seed)
            model.fill(asked[:100], 1)  # weights are prepared when they are first used
            before = time.process_time()
            said = [[f.word for f in row] for row in model.fill(asked, max(TOPS))]
            rate = len(asked) / (time.process_time() - before)
            own = [gap.text[gap.start : gap.end] for gap in asked]
            shares = [
                sum(w.lower() in [g.lower() for g in row[:k]] for w, row in zip(own, said, strict=True)) / len(own)
                for k in TOPS
            ]
            guessed = [(w, g) for w, row in zip(own, said, strict=True) for g in row if g.lower() == w.lower()]
            case = sum(w == g for w, g in guessed) / max(1, len(guessed))
            cells = " | ".join(f"{x:.3f}" for x in (*shares, case))
            print(
                f"| {Path(name).stem} | {Path(path).name.split('.')[0]} | {len(own):,} | {cells} | {rate:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
