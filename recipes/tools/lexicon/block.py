"""Adds words, one per line on standard input, to those that the lexicon never offers.

They are kept as digests, so that nobody has to read them.
"""

from __future__ import annotations

import sys
from hashlib import blake2b
from pathlib import Path

BLOCKED = Path(__file__).parents[3] / "src/nlgauge/data/language/blocked.txt"


def main() -> None:
    known = set(BLOCKED.read_text("ascii").split())
    new = {blake2b(line.strip().encode(), digest_size=6).hexdigest() for line in sys.stdin if line.strip()}
    BLOCKED.write_text("\n".join(sorted(known | new)) + "\n", "ascii")
    print(f"{len(new - known)} added, {len(known | new)} in all")


if __name__ == "__main__":
    main()
