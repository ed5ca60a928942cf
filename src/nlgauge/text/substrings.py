"""How much of a word stands in some other word, for many words at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def best_shares(words: Sequence[str], others: Iterable[str]) -> list[float]:
    """For each word the greatest share of characters that it has in common with one of the others.

    The share of two words of a and b characters, whose longest common substring has c, is 2 c / (a + b).

    Args:
        words: none is empty.
        others: the same; without one all shares are 0.

    Returns:
        A share from 0 to 1 per word. Time grows with the characters of both sides together, even of hostile words.
    """
    known = set(others)
    automaton = None if known.issuperset(words) else _Automaton(sorted(known))
    found: dict[str, float] = {}
    for word in words:
        if word not in found:
            found[word] = 1.0 if automaton is None or word in known else automaton.best_share(word)
    return [found[word] for word in words]


class _Automaton:
    """All substrings of some words. A state stands for substrings with the same continuations, the longest of a length.

    References:
        Blumer et al. (1985), "The smallest automaton recognizing the subwords of a text".
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._length, self._link = [0], [-1]  # the link leads to the longest end that another state stands for
        for word in words:
            state = 0
            for char in word:
                state = self._add(state, char)
        self._shortest = [max(map(len, words), default=0)] * len(self._next)  # word that a state's substrings are in
        for word in words:
            state = 0
            for char in word:
                state = self._next[state][char]
                self._shortest[state] = min(self._shortest[state], len(word))
        by_length = sorted(range(1, len(self._next)), key=self._length.__getitem__)
        for state in reversed(by_length):
            link = self._link[state]
            self._shortest[link] = min(self._shortest[link], self._shortest[state])
        self._shorter = [0] * len(self._next)  # the longest end of which a shorter word has more than of the state
        for state in by_length:
            link = self._link[state]
            is_shorter = self._shortest[link] < self._shortest[state]
            self._shorter[state] = link if is_shorter else self._shorter[link]

    def best_share(self, word: str) -> float:
        """The greatest share of a word with one of those added."""
        state = length = 0
        best = 0.0
        for char in word:
            while state and char not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            state = self._next[state].get(char, 0)
            length = length + 1 if state else 0
            end, common = state, length
            while common and 2 * common / (len(word) + common) > best:  # as of a word that is all common
                best = max(best, 2 * common / (len(word) + self._shortest[end]))
                end = self._shorter[end]
                common = self._length[end]
        return best

    def _add(self, last: int, char: str) -> int:
        """The state of what `last` stands for and a character behind it."""
        if char in self._next[last]:
            return self._split(last, char)
        state = self._new({}, self._length[last] + 1, 0)
        while last >= 0 and char not in self._next[last]:
            self._next[last][char] = state
            last = self._link[last]
        if last >= 0:
            self._link[state] = self._split(last, char)
        return state

    def _split(self, before: int, char: str) -> int:
        """The state behind another, which may stand for longer substrings: then one of its own for the shorter."""
        behind = self._next[before][char]
        if self._length[behind] == self._length[before] + 1:
            return behind
        copy = self._new(self._next[behind].copy(), self._length[before] + 1, self._link[behind])
        self._link[behind] = copy
        while before >= 0 and self._next[before].get(char) == behind:
            self._next[before][char] = copy
            before = self._link[before]
        return copy

    def _new(self, following: dict[str, int], length: int, link: int) -> int:
        self._next.append(following)
        self._length.append(length)
        self._link.append(link)
        return len(self._next) - 1
