"""Which texts of a suite stand in what a shipped head was trained on? Found by digests; the texts are not kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nlgauge.core.suite import Suite
from nlgauge.text.tokenize import split_sentences

Digests = npt.NDArray[np.uint64]

FEWEST = 4  # words of a text or sentence that counts; shorter ones stand everywhere
_SAME_TEXTS = {
    "nli-base": "nli",
    "nli-robust-base": "nli-robust",
    "faithful-base": "faithful",
    "rated-base": "rated",
    "rated-both-base": "rated-both",
    "sescore-base": "sescore",
}  # head -> the one that learnt from the same texts
_MODEL = re.compile(r"\b(?:model|wide|second)(?::|=')([\w-]+)")  # in a signature, and in that of a term of a sum


def digests_of(texts: Iterable[str]) -> Digests:
    """The digests of texts and of their sentences, sorted and distinct: 5 bytes of BLAKE2b each.

    Case, punctuation and blanks make no difference. What has fewer than four words is left out.
    """
    found = {digest for text in texts for digest in _digests(text)}
    return np.array(sorted(found), dtype=np.uint64)


def _digests(text: str) -> Iterator[int]:
    pieces = {text, *split_sentences(text)}
    for piece in pieces:
        words = re.findall(r"\w+", unicodedata.normalize("NFKC", piece).casefold())
        if len(words) >= FEWEST:
            yield int.from_bytes(blake2b(" ".join(words).encode("utf-8", "replace"), digest_size=5).digest(), "little")


def write_digests(path: Path, trained: Mapping[str, Digests]) -> None:
    """Write the digests of the training texts of each head: one list, and a bit per head beside each entry."""
    names = list(trained)
    every = np.unique(np.concatenate(list(trained.values())))
    bits = np.zeros(len(every), dtype=np.uint8)
    for i, own in enumerate(trained.values()):
        bits |= np.isin(every, own).astype(np.uint8) << np.uint8(i)
    steps = np.diff(every, prepend=np.uint64(0)).astype(np.uint64)  # which pack better than the digests themselves
    np.savez_compressed(path, steps=steps, bits=bits, names=np.array(names))


@cache
def _shipped() -> dict[str, Digests]:
    """Name of a shipped head -> digests of its training texts."""
    with np.load(str(files("nlgauge.data").joinpath("heads", "digests.npz")), allow_pickle=False) as held:
        every = np.cumsum(held["steps"], dtype=np.uint64)
        return {str(name): every[held["bits"] >> i & 1 == 1] for i, name in enumerate(held["names"])}


def overlap_notes(suite: Suite, signatures: Iterable[str]) -> list[str]:
    """A note for each shipped head that a metric uses: how many texts of the suite it was trained on.

    A text counts if it, or a sentence of it, stands in the training texts. About once in 7 million
    texts a digest is found by chance.

    Args:
        suite: the pairs.
        signatures: the signatures of the metrics, which name their models.
    """
    models = (name for signature in signatures for name in _MODEL.findall(signature))
    used = {name: _SAME_TEXTS.get(name, name) for name in models if _SAME_TEXTS.get(name, name) in _shipped()}
    if not used:
        return []
    kinds = {
        "references": dict.fromkeys(text for pair in suite for text in pair.references),
        "better texts": dict.fromkeys(pair.better for pair in suite),
        "worse texts": dict.fromkeys(pair.worse for pair in suite),
        "sources": dict.fromkeys(pair.source for pair in suite if pair.source is not None),
    }
    digests = {kind: [set(_digests(text)) for text in texts] for kind, texts in kinds.items() if texts}
    told = []
    for name, texts in used.items():
        trained = set(_shipped()[texts].tolist())
        known = {kind: sum(bool(own & trained) for own in found) for kind, found in digests.items()}
        if any(known.values()):
            counts = ", ".join(f"{n} of {len(digests[kind])} {kind}" for kind, n in known.items())
            told.append(f"the training texts of {name} hold {counts}, whole or a sentence of them")
        else:
            told.append(f"no text of the suite, and no sentence of one, stands in the training texts of {name}")
    return told
