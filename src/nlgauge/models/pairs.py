"""Convert pairs of texts to piece ids. Each text is tokenized once, and the longer text of a pair is cut first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids, TextTokenizer


@dataclass(frozen=True)
class Pairs:
    """Pairs of texts as pieces, which are joined only when they are needed.

    Attributes:
        sizes: the numbers of pieces kept of the first and the second text, shape (n, 2).
        lengths: the number of pieces of each pair, with its special tokens, shape (n,).
        truncated: whether pieces were cut off, shape (n,).
    """

    sides: Sequence[tuple[Ids, Ids]]
    sizes: Ids
    lengths: Ids
    truncated: npt.NDArray[np.bool_]
    tokenizer: PairTokenizer

    def ids(self, place: int) -> tuple[Ids, Ids]:
        """Ids and types of one pair, each of shape (T,)."""
        (first, second), (n, m) = self.sides[place], self.sizes[place]
        return self.tokenizer.join(first[:n], second[:m])


class PairTokenizer:
    """The tokenizer of a model that reads two texts at once.

    Attributes:
        max_tokens: the largest number of pieces of a pair, including special tokens; None if there is no limit.
        frame: the number of special tokens among them.
    """

    def __init__(self, files: ModelFiles, max_tokens: int | None = None) -> None:
        # A text begins without a space, as the models were trained (bert_score's space is its own).
        self._texts = TextTokenizer(files, space=False)
        ids, types = self._texts.pair_frame()
        # What the model was trained with is in the tokenizer's own frame, unless its configuration leaves types out by
        # name.
        if "token_type_ids" not in files.tokenizer_config.get("model_input_names", ["token_type_ids"]):
            types = np.zeros_like(types)
        first, second = ids.tolist().index(-1), ids.tolist().index(-2)
        self._parts = [ids[:first], ids[first + 1 : second], ids[second + 1 :]]
        self._types = [types[:first], types[first], types[first + 1 : second], types[second], types[second + 1 :]]
        self.frame = len(ids) - 2
        limits = [n for n in (max_tokens, self._texts.max_tokens) if n is not None]
        self.max_tokens = min(limits, default=None)
        if self.max_tokens is not None and self.max_tokens < self.frame + 2:
            raise InputError(
                f"max_tokens is {self.max_tokens}, expected at least {self.frame + 2}: the special tokens and a piece"
                " of each text"
            )

    def second(self, first: int) -> int:
        """The place of the second text in a pair whose first one has so many pieces."""
        return len(self._parts[0]) + first + len(self._parts[1])

    @property
    def room(self) -> int | None:
        """The largest number of pieces that two texts may have together."""
        return None if self.max_tokens is None else self.max_tokens - self.frame

    def read(self, texts: Iterable[str]) -> dict[str, Ids]:
        """The pieces of each distinct text, without special tokens."""
        distinct = list(dict.fromkeys(texts))
        start = len(self._texts.prefix)
        # Nothing is cut before it is known what the other text leaves.
        encoded = self._texts.tokens(distinct, "windows")
        return {text: t.ids[start : start + t.n_content] for text, t in zip(distinct, encoded, strict=True)}

    def unknown_shares(self, contents: Iterable[Ids]) -> Array:
        """The share of unknown pieces in each text, shape (n,), from its pieces; see `TextTokenizer`."""
        return self._texts.unknown_shares(contents)

    def pairs(self, pairs: Sequence[tuple[str, str]], contents: Mapping[str, Ids]) -> Pairs:
        """Pairs of texts that have been read before.

        If two texts are too long together, the longer one is cut first, then both alike (`longest_first`).
        """
        return self.joined([(contents[first], contents[second]) for first, second in pairs])

    def joined(self, sides: Sequence[tuple[Ids, Ids]]) -> Pairs:
        """Pairs of texts that are given as their pieces; what is too long is cut as in `pairs`."""
        full = np.array([(len(first), len(second)) for first, second in sides], dtype=np.int64).reshape(-1, 2)
        sizes = full if self.room is None else _cut(full, self.room)
        cut = np.asarray((sizes < full).any(axis=1), dtype=np.bool_)
        return Pairs(sides, sizes, sizes.sum(axis=1) + self.frame, cut, self)

    def join(self, first: Ids, second: Ids) -> tuple[Ids, Ids]:
        """Ids and types of a pair, including special tokens, each of shape (T,)."""
        before, between, after = self._parts
        ids = np.concatenate([before, first, between, second, after])
        types = self._types
        kinds = [types[0], np.full(len(first), types[1]), types[2], np.full(len(second), types[3]), types[4]]
        return ids, np.concatenate(kinds)


def _cut(sizes: Ids, room: int) -> Ids:
    """Sizes of both texts, shape (n, 2), that fit the available room.

    If the room is odd the longer text gets one piece more; if both are equally long, the second one does.
    """
    short, long = sizes.min(axis=1), sizes.max(axis=1)
    long = np.minimum(long, np.where(short > room, short, np.maximum(short, room - short)))
    both = short + long > room
    short, long = np.where(both, room // 2, short), np.where(both, room - room // 2, long)
    first_longer = sizes[:, 0] > sizes[:, 1]
    return np.stack([np.where(first_longer, long, short), np.where(first_longer, short, long)], axis=1)
