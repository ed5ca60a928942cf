"""Which passages of a source may support a sentence? Windows of whole sentences, and those nearest in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from nlgauge.text.porter import stem
from nlgauge.text.tokenize import unicode_words

Span = tuple[int, int]  # first character, and the one after the last


def windows(sizes: Sequence[int], room: int) -> list[Span]:
    """First sentence, and the one after the last, of the windows in which a text is read.

    A window holds as many whole sentences as fit, and at least one. The next one begins with the last sentence of the
    one before, if more than this fits into it.

    Args:
        sizes: the number of pieces of each sentence.
        room: the largest number of pieces of a window.
    """
    found: list[Span] = []
    start = 0
    while start < len(sizes):
        end, used = start + 1, sizes[start]
        while end < len(sizes) and used + sizes[end] <= room:
            used += sizes[end]
            end += 1
        found.append((start, end))
        if end == len(sizes):
            break
        again = end - 1 > start and sizes[end - 1] + sizes[end] <= room
        start = end - 1 if again else end
    return found


class Nearness:
    """How many words, and how rare ones, each passage of a source shares with a sentence.

    Args:
        passages: their texts.
    """

    def __init__(self, passages: Sequence[str]) -> None:
        self._words = [_stems(passage) for passage in passages]
        counts = Counter(word for words in self._words for word in words)
        self._weights = {word: math.log(1 + len(passages) / count) for word, count in counts.items()}

    def nearest(self, sentence: str, top: int) -> list[int]:
        """Places of the passages nearest to a sentence, in the order of the source; all if none shares a word with it.

        The weight of a word is log(1 + passages / passages with the word). Of passages that share as much the earlier
        ones are taken.
        """
        words = _stems(sentence) & self._weights.keys()
        if len(self._words) <= top or not words:
            return list(range(len(self._words)))
        # Rounded, so that the order does not hang on the last bits of a logarithm.
        shared = [round(math.fsum(self._weights[word] for word in words & own), 9) for own in self._words]
        return sorted(sorted(range(len(shared)), key=lambda place: -shared[place])[:top])


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in unicode_words(text))
