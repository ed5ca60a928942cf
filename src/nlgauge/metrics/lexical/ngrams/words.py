"""The common part of metrics over words: how texts become words, and each distinct pair of texts measured once."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, cast

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import checked
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import version
from nlgauge.metrics.lexical import sacre
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import TOKENIZERS, TokenizerName

WordTokenizer = Literal["13a", "intl", "zh", "char", "blanks", "unicode", "rouge"]
Words = tuple[str, ...]
Gram = tuple[str, ...]
P = TypeVar("P")

_OF_SACREBLEU = ("13a", "intl", "zh", "char")


@dataclass(frozen=True, kw_only=True)
class WordMetric(BaseMetric):
    """A metric over words, with the options that say what a word is.

    Args:
        tokenizer: `13a`, `intl`, `zh` and `char` are sacrebleu's; `blanks` splits texts that are tokenised already;
            `unicode` and `rouge` drop punctuation (see `text.tokenize`).
        lowercase: compare in lower case.
    """

    tokenizer: WordTokenizer = "13a"
    lowercase: bool = False

    def __post_init__(self) -> None:
        checked(self)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The version of what splits the texts."""
        return {
            "sacrebleu": version("sacrebleu") if self.tokenizer in _OF_SACREBLEU else None,
            "unicode": unicodedata.unidata_version if self.tokenizer == "unicode" else None,
        }

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and the tokenizer that splits them."""
        if self.tokenizer == "rouge" and not writing.may_be_english:
            return "the tokenizer rouge keeps only a-z and 0-9; take tokenizer=unicode"
        if writing.spaced or self.tokenizer in ("unicode", "char"):
            return None
        if self.tokenizer == "zh" and writing.script in ("Han", "Kana"):  # it cuts both into characters
            return None
        return f"the tokenizer {self.tokenizer} splits words at blanks, of which they have few; take tokenizer=unicode"

    def splitter(self) -> Callable[[str], Words]:
        """The function that splits a text into words; one without a visible character has none."""
        if self.tokenizer in _OF_SACREBLEU:
            split = sacre.splitter(self.tokenizer)
        else:
            split = TOKENIZERS[cast(TokenizerName, self.tokenizer)]
        if self.lowercase:
            # Other scripts word by word: how a sigma is lowered depends on what stands around it.
            return lambda text: (
                ()
                if is_blank(text)
                else tuple(split(text.lower()) if text.isascii() else [w.lower() for w in split(text)])
            )
        return lambda text: () if is_blank(text) else tuple(split(text))


def measured(
    segments: Sequence[Segment],
    k: int,
    runtime: Runtime,
    label: str,
    split: Callable[[str], Words],
    prepare: Callable[[Sequence[Words]], P],
    measure: Callable[[Words, P], Sequence[float] | float],
) -> tuple[Array, dict[str, Mask]]:
    """Numbers of each segment against its own references, and flags of sides without words.

    Each distinct tuple of references is split and prepared once and dropped again before the next; each distinct
    hypothesis is measured once against it.

    Args:
        segments: segments with references.
        k: how many numbers `measure` gives.
        runtime: for progress.
        label: what progress calls the metric.
        split: splits a text into words.
        prepare: what is needed of the references, from the words of each.
        measure: the numbers of a hypothesis, from its words and what was prepared.

    Returns:
        The numbers, shape (n, k); and, each of shape (n,), where a side is blank (`empty`), and where it is not but
        has no word (`untokenized`).
    """
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for place, segment in enumerate(segments):
        groups.setdefault(segment.references, {}).setdefault(segment.hypothesis, []).append(place)
    found: list[Sequence[float] | float] = []
    wordless: list[bool] = []
    numbers = [0] * len(segments)  # of each segment: its distinct pair of texts
    with runtime.progress(len(segments), label) as advance:
        for references, hypotheses in groups.items():
            listed = [split(reference) for reference in references]
            prepared = prepare(listed)
            for hypothesis, places in hypotheses.items():
                words = split(hypothesis)
                for place in places:
                    numbers[place] = len(found)
                found.append(measure(words, prepared))
                wordless.append(not words or not any(listed))
                advance(len(places))
    rows = np.array(found, dtype=np.float64).reshape(-1, k)[numbers]  # (n, k)
    empty = sacre.is_empty(segments)
    return rows, {"empty": empty, "untokenized": np.array(wordless, dtype=np.bool_)[numbers] & ~empty}


def grams(words: Words, order: int) -> Counter[Gram]:
    """How often each n-gram of one order occurs."""
    return Counter(zip(*(words[i:] for i in range(order)), strict=False))
