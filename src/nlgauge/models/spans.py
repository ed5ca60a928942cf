"""Which words of a text are at fault beside another text: probabilities of a head that reads both in one sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.models.encoder import Words, word_features
from nlgauge.models.entailment import Pairs, PairTokenizer, pair_tokenizer, softmax
from nlgauge.models.heads import Head, find_head
from nlgauge.models.locate import LazyModel
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime, by_length, dtype_and_device

if TYPE_CHECKING:
    from nlgauge.models.networks import PackedTagger

KIND = "spans"
OUTPUTS = ("none", "minor", "major", "missing")  # the logits of a place; the first three exclude each other


@dataclass(frozen=True)
class Judged:
    """What a head says of the words of one text.

    Attributes:
        minor: the probability that a word is part of a minor error, shape (words,).
        major: the probability that it is part of a major one, shape (words,).
        missing: the probability that something is missing before a word, and after the last one, shape (words + 1,).
        n_read: how many words were read; those after them did not fit and have probability 0.
        text: the probability that the text has an error at all; 1 of a head that does not judge whole texts.
    """

    minor: Array
    major: Array
    missing: Array
    n_read: int
    text: float = 1.0


@dataclass(frozen=True)
class WordPairs:
    """Pairs of texts as pieces, the other text first, with the places of the words to be judged.

    Attributes:
        pairs: the pieces.
        places: for each pair the place of each read word's first piece, and of the piece after the last of the text.
        features: for each pair the features of the same places, shape (places, FEATURES).
        words: the numbers of each read word, and the number of all words for the last place.
        starts: the number of pieces before the text whose words are judged, which are those of the other text.
    """

    pairs: Pairs
    places: Sequence[Ids]
    features: Sequence[npt.NDArray[np.float32]]
    words: Sequence[Ids]
    starts: Ids


def read_words(tokenizer: PairTokenizer, pairs: Sequence[tuple[Words, Words]]) -> WordPairs:
    """Pairs of texts, given as their words, in the pieces of a tokenizer. Each word is cut into pieces alone.

    The other text stands first, as the premise does where heads learn entailment.

    Args:
        tokenizer: of the encoder.
        pairs: n pairs; the words of the first text of each are to be judged.
    """
    pieces = tokenizer.read(word for pair in pairs for words in pair for word in words)
    none = np.zeros(0, dtype=np.int64)
    contents = {words: np.concatenate([none, *(pieces[word] for word in words)]) for pair in pairs for words in pair}
    sides = [(contents[others], contents[words]) for words, others in pairs]
    joined = tokenizer.joined(sides)
    places, features, numbers = [], [], []
    starts_of = np.array([tokenizer.second(int(before)) for before in joined.sizes[:, 0]], dtype=np.int64)
    for (words, others), first, (_, kept) in zip(pairs, starts_of, joined.sizes, strict=True):
        sizes = np.array([len(pieces[word]) for word in words], dtype=np.int64)
        starts = np.cumsum(sizes) - sizes
        read = np.flatnonzero((sizes > 0) & (starts < kept))
        places.append(np.append(starts[read], kept) + first)
        numbers.append(np.append(read, len(words)))
        features.append(word_features(words, others)[numbers[-1]])
    return WordPairs(joined, places, features, numbers, starts_of)


class SpanModel(LazyModel[Head, PairTokenizer, "PackedTagger"]):
    """A head that marks words, with its tokenizer and its network."""

    def judge(
        self, pairs: Sequence[tuple[Words, Words]], advance: Callable[[int], None] = lambda count: None
    ) -> list[Judged]:
        """Judge the words of n first texts beside the second ones; equal pairs are judged once."""
        times = Counter(pairs)
        distinct = list(times)
        found: dict[tuple[Words, Words], Judged] = {}
        if distinct:
            read = read_words(self.tokenizer, distinct)
            for place, logits, text in self._logits(read):
                found[distinct[place]] = _judged(logits, text, read.words[place], len(distinct[place][0]))
                advance(times[distinct[place]])
        return [found[pair] for pair in pairs]

    def _logits(self, read: WordPairs) -> list[tuple[int, Array, float]]:
        network = self.network  # says that torch is missing, if it is
        from nlgauge.models.hub import side_by_side

        batches = list(by_length(read.pairs.lengths, self.budget or network.batch_tokens))

        def work(batch: npt.NDArray[np.int64]) -> list[tuple[Array, float]]:
            ids, types = zip(*(read.pairs.ids(int(i)) for i in batch), strict=True)
            own = [read.places[i] for i in batch], [read.features[i] for i in batch], read.starts[batch]
            return network.logits(ids, types, *own)

        done = side_by_side(work, batches, network.device)
        return [
            (int(place), logits, text)
            for batch, found in zip(batches, done, strict=True)
            for place, (logits, text) in zip(batch, found, strict=True)
        ]


def _judged(logits: Array, text: float, numbers: Ids, n: int) -> Judged:
    """Probabilities of all words from the logits of those that were read, and of the text from its logit."""
    kinds = softmax(logits[:, :3])
    minor, major, missing = np.zeros(n), np.zeros(n), np.zeros(n + 1)
    words = numbers[:-1]
    minor[words], major[words] = kinds[:-1, 1], kinds[:-1, 2]
    missing[numbers] = 1 / (1 + np.exp(-logits[:, 3]))
    return Judged(minor, major, missing, int(words[-1]) + 1 if len(words) else 0, float(1 / (1 + np.exp(-text))))


def load_spans(model: str, dtype: str, runtime: Runtime) -> SpanModel:
    """Load a head that marks words. A runtime holds one copy per precision.

    Raises:
        InputError: there is no such head; see `find_head`.
        MissingExtra: torch is not installed.
    """
    head = find_head(model, KIND)
    tokenizer = pair_tokenizer(head.encoder, head.whole("max_tokens"), runtime)
    key = (KIND, head.encoder, head.identity, dtype, runtime.device)
    return SpanModel(
        head, tokenizer, lambda: runtime.once(key, lambda: _network(head, dtype, runtime.device)), runtime.token_budget
    )


def _network(head: Head, dtype: str, device: str) -> PackedTagger:
    kind, where = dtype_and_device(dtype, device, f"head {head.name!r}")
    from nlgauge.models.networks import PackedTagger

    head.encoder.check()
    return PackedTagger(head, kind, where)
