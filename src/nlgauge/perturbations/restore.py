"""Repairing perturbed texts of old data sets, which came out of a tokeniser: capitals and blanks as in the text they were made from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz.distance import Indel

from nlgauge.text.sentences import sentence_spans
from nlgauge.text.words import word_spans

_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|m|d|ll|re|ve)|['’])", re.IGNORECASE)
_CLOSING = re.compile(r"[,.;:!?%)\]}”»…]+")
_QUOTES = frozenset(["``", "''", '"', "“", "”", "'", "‘", "’"])


def clean(adv: str, ref: str) -> str:
    """A perturbed text with the capitals of the reference, and without the blanks that a tokeniser left.

    Words that stand in the same order in both texts are written, and parted, as the reference writes and parts them.
    Other words take their capitals from the same word elsewhere in the reference, if it has one. Other blanks go where
    they stand before short forms ('s, n't) and closing punctuation, unless the reference itself parts such marks. No
    letter changes but in case.

    Only for loading data that were made with joined tokens; our own perturbations never need it.

    Args:
        adv: the perturbed text.
        ref: the text it was made from.

    References:
        Chen and Eger (2023) publish cleaned data beside the first (`fixed_strict`), but not the code that cleaned; this
        is our own.
    """
    ours, theirs = word_spans(adv), word_spans(ref)
    words, models = [adv[a:b] for a, b in ours], [ref[a:b] for a, b in theirs]
    partner = _aligned([_key(w) for w in words], [_key(m) for m in models])
    casings = _casings(models, theirs, ref)
    written = [models[partner[i]] if i in partner else _cased(word, casings) for i, word in enumerate(words)]
    parted = _parts_marks(ref, theirs)
    out = [adv[: ours[0][0]] if ours else adv]
    for i, ((_, end), (start, _)) in enumerate(pairwise(ours)):
        left, right = partner.get(i), partner.get(i + 1)
        out.append(written[i])
        if left is not None and right == left + 1:
            gap = ref[theirs[left][1] : theirs[left + 1][0]]
        else:
            gap = adv[end:start]
            attached = _CLITIC.fullmatch(words[i + 1]) if words[i + 1] not in _QUOTES else None
            if gap and not parted and (attached or _CLOSING.fullmatch(words[i + 1])):
                gap = ""
        out.append(gap)
    if ours:
        out += [written[-1], adv[ours[-1][1] :]]
    return "".join(out)


def _aligned(ours: Sequence[str], theirs: Sequence[str]) -> dict[int, int]:
    """Place in the one -> place in the other of tokens on the longest common subsequence."""
    pairs: dict[int, int] = {}
    for part in Indel.opcodes(ours, theirs):
        if part.tag == "equal":
            pairs.update(zip(range(part.src_start, part.src_end), range(part.dest_start, part.dest_end), strict=True))
    return pairs


def _key(word: str) -> str:
    return '"' if word in ("``", "''", "“", "”") else word.casefold().replace("’", "'")


def _casings(models: Sequence[str], spans: Sequence[tuple[int, int]], ref: str) -> dict[str, set[str]]:
    """How the words of the reference are written away from the heads of its sentences."""
    heads = {start for start, _ in sentence_spans(ref)}
    found: dict[str, set[str]] = {}
    for model, (start, _) in zip(models, spans, strict=True):
        if start not in heads:
            found.setdefault(model.casefold(), set()).add(model)
    return found


def _cased(word: str, casings: dict[str, set[str]]) -> str:
    """A word that moved or is new, as the reference writes it, if it does so in one way."""
    found = casings.get(word.casefold(), set())
    return next(iter(found)) if len(found) == 1 else word


def _parts_marks(ref: str, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether the reference itself stands in tokens: more closing marks with a blank before them than without."""
    apart = together = 0
    for (_, end), (start, last) in pairwise(spans):
        if _CLOSING.fullmatch(ref[start:last]) or (
            _CLITIC.fullmatch(ref[start:last]) and ref[start:last] not in _QUOTES
        ):
            apart += start > end
            together += start == end
    return apart > together
