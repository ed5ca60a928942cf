"""Golden numbers of jiwer, of CharacTER and of EED, for `tests/golden/edits.json`.

    python -m venv golden
    golden/bin/pip install jiwer==4.0.0 cer==1.2.0 torchmetrics==1.9.0 torch==2.13.0
    golden/bin/python recipes/golden/edits.py -o tests/golden/edits.json

cer is the authors' program of CharacTER as a package, and torchmetrics has their program of EED. Its function for one
pair is called, since the public one rounds to float32. Nothing here is blank: there we differ.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path

import cer
import jiwer
from torchmetrics.functional.text import eed

TEXTS = [
    ("The ferry leaves at 7.30, doesn't it?", "The ferry departs at 7.30, doesn't it?"),
    ("The U.S. prices (about $1,000.50) rose!", "Prices in the U.S. rose to about $1,000.50."),
    ("on the mat sat the old cat", "the old cat sat on the mat"),
    ("Yes", "No"),
    ("Yes", "Yes"),
    ("?!?!", "!"),
    ("Great trip 🚢☀️👍🏽", "Great trip! 🚢"),
    ("👩‍👩‍👧 family 🏳️‍🌈", "family 👩‍👩‍👧"),
    ("船は毎朝七時に港を出ます。", "フェリーは毎朝七時に出港する。"),
    ("배는 매일 아침 7시에 떠난다", "배는 매일 아침 일곱 시에 떠난다"),
    ("مرحبا بالعالم كيف الحال", "كيف الحال يا عالم مرحبا"),
    ("STRASSE Über İstanbul", "straße über istanbul"),
    ("cafe\u0301 naïve", "café nai\u0308ve"),
    ("soft\u00adhyphen zero\u200bwidth no\u00a0break", "softhyphen zero width no break"),
    ("line one\u2028line two\rline three\x1fend", "line one line two line three end"),
    ("a\tb c", "a b c"),
    ("a\t b\n\nc", "a b c"),
    ("  padded  text \n", "padded text"),
    (
        "e . g . Mr . Smith, Dr who? 3 . 5 of the U.S. , i.e. 1,000",
        "e.g. Mr. Smith, Dr. Who? 3.5 of the U . S . i . e . 1,000",
    ),
    ("the the the the", "the cat the"),
    ("one two three four five six seven", "five six seven one two three four"),
    ("g f e d c b a", "a b c d e f g"),
    ("x", "abcdefghij klmno"),
    ("abcdefghij klmno", "x"),
    # One shift more than integers would make: the program subtracts fractions, and a rest of 1e-17 is left.
    (
        "to national Corbyn's decision has attracted sing the not attention Mr anthem",
        "Mr Corbyn's decision not to sing the national anthem has attracted attention",
    ),
    (" ".join(f"w{i % 37}" for i in range(90)), " ".join(f"w{i % 31}" for i in range(80))),
]
WORDS = ("a", "b", "cc", "dd", "eee.", "f", "Mr", "1 . 2", "!")
RATES = ("wer", "mer", "wil", "wip", "cer")


def pairs() -> list[tuple[str, str]]:
    draw = random.Random(14)
    made = [" ".join(draw.choice(WORDS) for _ in range(draw.randint(1, 12))) for _ in range(50)]
    return [*TEXTS, *zip(made[::2], made[1::2], strict=True)]


def numbers(hypothesis: str, reference: str) -> dict[str, float]:
    return {
        **{rate: float(getattr(jiwer, rate)(reference, hypothesis)) for rate in RATES},
        "character": cer.calculate_cer(hypothesis.split(), reference.split()),
        "eed": eed._eed_function(eed._preprocess_en(hypothesis), eed._preprocess_en(reference)),
        "eed:language=ja": eed._eed_function(eed._preprocess_ja(hypothesis), eed._preprocess_ja(reference)),
        "eed:alpha=1,rho=0.5,deletion=0.3,insertion=0.7": eed._eed_function(
            eed._preprocess_en(hypothesis), eed._preprocess_en(reference), 1.0, 0.5, 0.3, 0.7
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", type=Path, required=True)
    listed = pairs()
    hypotheses, references = (list(side) for side in zip(*listed, strict=True))
    golden = {
        "command": "python recipes/golden/edits.py -o tests/golden/edits.json",
        "versions": {"jiwer": "4.0.0", "cer": "1.2.0", "torchmetrics": "1.9.0"},
        "corpus": {rate: float(getattr(jiwer, rate)(references, hypotheses)) for rate in RATES},
        "pairs": [[hypothesis, reference, numbers(hypothesis, reference)] for hypothesis, reference in listed],
    }
    parser.parse_args().o.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
