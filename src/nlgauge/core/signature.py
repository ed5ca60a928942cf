"""Signatures: one string that names everything that could change a score, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Signature:
    """The settings behind a score: the metric, its options, the values these resolved to, and versions.

    Attributes:
        spec: the specification from which `ng.metric(signature.spec)` makes the metric again.
        entries: pairs (name, value) in order. `str(signature)` joins them as `name:value|name:value`.

    References:
        Post (2018), "A Call for Clarity in Reporting BLEU Scores", for the idea and the form.
    """

    spec: str
    entries: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.entries)


def with_documents(signature: Signature, texts: Iterable[str]) -> Signature:
    """The signature with a digest of the texts that frequencies were taken from; their order does not matter."""
    return with_digest(signature, documents_digest(sorted(texts)))


def with_digest(signature: Signature, digest: str) -> Signature:
    """The same of a digest that is known."""
    *entries, version_of = signature.entries
    return Signature(signature.spec, (*entries, ("documents", f"sha256:{digest}"), version_of))


def documents_digest(texts: Iterable[str]) -> str:
    """The digest of texts in the order of their code points."""
    digest = sha256()
    for place, text in enumerate(texts):
        digest.update(("\0" * bool(place) + text).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def together(signatures: Sequence[Signature]) -> Signature:
    """The signature of scores of one metric that were made in parts, each with frequencies of its own.

    Its digest of documents is that of the digests of all parts; a single digest stays as it is.
    """
    first, parts = signatures[0], [dict(one.entries).get("documents") for one in signatures]
    if None in parts or len(set(parts)) == 1:
        return first
    digest = sha256("\0".join(sorted(str(part) for part in parts)).encode()).hexdigest()[:16]
    entries = ((key, f"sha256:{digest}" if key == "documents" else value) for key, value in first.entries)
    return Signature(first.spec, tuple(entries))


@cache
def version(package: str) -> str:
    """The installed version of a distribution, read without importing it."""
    from importlib import metadata  # a tenth of the start of `nlgauge --help`

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
