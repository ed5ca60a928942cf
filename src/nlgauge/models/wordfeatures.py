"""What the words of two texts alone tell of each place of the first one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt

Words = tuple[str, ...]
FEATURES = 12  # of a place
_STEM = 5  # characters of a word that stand for its stem
_MOST_REPEATED = 2


def word_features(words: Words, others: Words) -> npt.NDArray[np.float32]:
    """What the words alone tell of each place, shape (words + 1, FEATURES); the last place is the end of the text.

    Of a word: whether the other text has it (in any case), has its first five letters, has it as often, has it after
    the same word, and before the same word; whether it has no letter or digit, has a digit, begins with a capital, and
    repeats one of the two words before it. Of every place: the share of words that the other text has, the share of
    the other text's words that this text has, and 1 for the end.
    """
    lower, other = [word.lower() for word in words], [word.lower() for word in others]
    known, stems = set(other), {word[:_STEM] for word in other}
    left = Counter(other)
    followed = set(zip(["", *other], [*other, ""], strict=True))
    rows = np.zeros((len(words) + 1, FEATURES), dtype=np.float32)
    for place, word in enumerate(lower):
        left[word] -= 1
        after = lower[place + 1] if place + 1 < len(lower) else ""
        rows[place, :9] = (
            word in known,
            word[:_STEM] in stems,
            left[word] >= 0,
            ((lower[place - 1] if place else ""), word) in followed,
            (word, after) in followed,
            not any(c.isalnum() for c in word),
            any(c.isdigit() for c in word),
            words[place][:1].isupper(),
            word in lower[max(0, place - _MOST_REPEATED) : place],
        )
    rows[-1, 11] = 1
    here = set(lower)
    rows[:, 9] = np.mean([word in known for word in lower]) if lower else 1
    rows[:, 10] = np.mean([word in here for word in other]) if other else 1
    return rows
