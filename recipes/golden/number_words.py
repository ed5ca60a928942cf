"""Golden numbers in words of num2words, for `tests/golden/number_words.json`.

python -m venv golden && golden/bin/pip install num2words==0.5.14
golden/bin/python recipes/golden/number_words.py -o tests/golden/number_words.json
"""

from __future__ import annotations

import argparse
import json
import platform
import random
from importlib.metadata import version
from pathlib import Path

from num2words import num2words

COMMAND = "python recipes/golden/number_words.py -o tests/golden/number_words.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    rng = random.Random(0)
    values = [
        *range(0, 121, 3),
        *(rng.randrange(10**digits) for digits in range(3, 19) for _ in range(8)),
        10**6 + 1,
        10**15,
        10**18 - 1,
    ]
    table = {
        "command": COMMAND,
        "versions": {"python": platform.python_version(), "num2words": version("num2words")},
        "cardinals": [[value, num2words(value)] for value in values],
        "ordinals": [[value, num2words(value, to="ordinal")] for value in values],
        "years": [[year, num2words(year, to="year")] for year in [*range(1100, 2100, 37), *range(1995, 2021)]],
    }
    arguments.output.write_text(json.dumps(table, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
