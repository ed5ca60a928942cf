"""Does an object of JSON from outside hold each of its keys once?"""

from __future__ import annotations

import json
from typing import Any


class RepeatedKey(ValueError):
    """An object holds a key twice; the message says which."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its keys and values, as `object_pairs_hook` of the standard library's parser.

    That parser alone takes the last value of a key that stands twice, and other readers take the first.

    Raises:
        RepeatedKey: a key stands twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        again = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKey(f"field {again!r} stands twice in one object, expected once")
    return found


def check_keys(text: str, value: Any) -> None:
    """Refuse a text of JSON in which an object holds a key twice.

    Args:
        text: the text, which is valid JSON.
        value: what a parser made of it. Most texts need no second parser: they have as many keys as the value.

    Raises:
        RepeatedKey: a key stands twice.
    """
    if type(value) is dict:
        # White space behind a quote may stand between a key and its colon. Without it there are at least as many
        # quotes before colons as keys, and more where a text holds one.
        if not ('" ' in text or '"\t' in text or '"\n' in text or '"\r' in text):
            n = len(value)
            for inner in value.values():
                if type(inner) is dict:
                    n += len(inner)
            if text.count('":') == n:
                return
    elif type(value) not in (dict, list):
        return
    try:
        json.loads(text, object_pairs_hook=unique)
    except RepeatedKey:
        raise
    except (ValueError, RecursionError):  # a number or a depth that only the first parser takes
        pass
