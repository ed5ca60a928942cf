"""The words that the lexicon never offers; as a program it adds some, one per line on standard input.

They are kept as digests, so that nobody has to read them.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path

BLOCKED = Path(__file__).with_name("blocked.txt")


@cache
def blocked() -> frozenset[str]:
    return frozenset(BLOCKED.read_text("ascii").split())


def is_blocked(word: str) -> bool:
    """Whether a word, or a part of it, is on the list: a slur, a crude word, or a term of race or sex."""
    parts = {word.lower().replace(" ", "_"), *re.split(r"[-_ ]", word.lower())}
    return any(blake2b(part.encode("utf-8", "replace"), digest_size=6).hexdigest() in blocked() for part in parts)


def main() -> None:
    known = blocked()
    new = {blake2b(line.strip().encode(), digest_size=6).hexdigest() for line in sys.stdin if line.strip()}
    BLOCKED.write_text("\n".join(sorted(known | new)) + "\n", "ascii")
    print(f"{len(new - known)} added, {len(known | new)} in all")


if __name__ == "__main__":
    main()
