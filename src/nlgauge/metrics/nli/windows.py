"""Long premises in parts: runs of whole sentences, each short enough to be read beside the hypothesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.tokens import Ids
from nlgauge.text.tokenize import sentence_spans


def premise_windows(
    pairs: Sequence[tuple[str, str]], tokenizer: PairTokenizer
) -> tuple[list[list[str]], Mapping[str, Ids]]:
    """The parts in which each premise is read.

    A premise that fits beside its hypothesis is one part. The parts of a longer one begin at sentences, do not overlap,
    and hold as many sentences as fit; a sentence that is too long alone is a part and will be cut. A hypothesis takes
    at most half of the room.

    Args:
        pairs: n pairs of premise and hypothesis.
        tokenizer: of the model that will read them.

    Returns:
        The parts of each premise, length n; and the pieces of every text, parts included.
    """
    contents = tokenizer.read(text for pair in pairs for text in pair)
    room = tokenizer.room
    parts = [[premise] for premise, _ in pairs]
    if room is None:
        return parts, contents
    long = [
        i
        for i, (premise, hyp) in enumerate(pairs)
        if len(contents[premise]) + len(contents[hyp]) > room and len(contents[premise]) > room // 2
    ]
    spans = {premise: sentence_spans(premise) for premise in {pairs[i][0] for i in long}}
    sizes = tokenizer.read(premise[start:end] for premise, found in spans.items() for start, end in found)
    for i in long:
        premise, hyp = pairs[i]
        left = max(room - len(contents[hyp]), room // 2)
        lengths = [len(sizes[premise[start:end]]) for start, end in spans[premise]]
        parts[i] = [premise[spans[premise][a][0] : spans[premise][b - 1][1]] for a, b in _packed(lengths, left)] or [
            premise
        ]
    return parts, {**contents, **tokenizer.read(part for i in long for part in parts[i])}


def _packed(lengths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """First sentence and the one after the last of each part."""
    parts: list[tuple[int, int]] = []
    start = used = 0
    for i, length in enumerate(lengths):
        if i > start and used + length > room:
            parts.append((start, i))
            start, used = i, 0
        used += length
    return [*parts, (start, len(lengths))] if start < len(lengths) else parts
