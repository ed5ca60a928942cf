"""The features of a regressor: the vectors of its texts, and element-wise comparisons of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING

from nlgauge.core.errors import InputError

if TYPE_CHECKING:
    import torch

MATCH = "match"  # see `nlgauge.models.matched`
BOTH = "both"  # both texts in one sequence, see `nlgauge.models.crossed`
_SIDE = ("mean", "min", "10 %", "25 %", "50 %", "below .5", "below .7")
# What the block `match` is made of, in the order of its columns. `hyp` looks from the hypothesis to the reference,
# `ref` the other way.
MATCHED = (
    *(f"{side} {name}" for side, name in product(("hyp", "ref"), _SIDE)),
    *("F", "displacement", "log ratio of lengths", "size of that", "log length of the reference"),
)
KINDS = ("4h", "2h", MATCH, f"4h+{MATCH}", f"2h+{MATCH}", BOTH)
TEXTS = ("hyp", "ref", "src")


def feature_names(kind: str = "4h", reference: bool = True, source: bool = False) -> tuple[str, ...]:
    """The names of the blocks of features, in order. Each but `match` is as wide as a text's vector.

    Args:
        kind: `4h` for the vectors themselves, their product and their absolute difference; `2h` for the product and the
            difference only; `match` for how hypothesis and reference match, alone or with `4h+` or `2h+` before it;
            `both` for what an encoder makes of hypothesis and reference in one sequence.
        reference: whether there is a reference.
        source: whether there is a source.

    Raises:
        InputError: the kind is unknown, there is neither a reference nor a source, or nothing to match.

    References:
        Xu et al. (2022), "Not All Errors are Equal", section 3.4, names 2h; their released code computes 4h. For source
        and reference together: Rei et al. (2020), "COMET", section 2.3.
    """
    if kind not in KINDS:
        raise InputError(f"features is {kind!r}, expected {', '.join(KINDS[:-1])} or {KINDS[-1]}")
    if not (reference or source):
        raise InputError("a regressor without reference and without source has nothing to hold a text against")
    if kind == BOTH:
        if source or not reference:
            raise InputError(
                f"features is {kind!r}, which reads hypothesis and reference in one sequence and no source"
            )
        return (BOTH,)
    of_vectors, _, matched = kind.rpartition("+") if kind.endswith(MATCH) else (kind, "", "")
    if matched and not reference:
        raise InputError(f"features is {kind!r}, which matches a text with its reference, and no reference is read")
    if not of_vectors:
        return (MATCH,)
    against = [name for name, wanted in (("src", source), ("ref", reference)) if wanted]
    compared = [f"hyp*{name}" for name in against] + [f"|hyp-{name}|" for name in against]
    alone = ["hyp", "ref" if reference else "src"] if of_vectors == "4h" else []
    return (*alone, *compared, *([MATCH] if matched else ()))


def texts_of(names: Sequence[str]) -> tuple[str, ...]:
    """The texts that the features are made of, in the order of `TEXTS`.

    Raises:
        InputError: a feature is neither a text, nor a product or an absolute difference of two.
    """
    found = {text for name in names for text in _operands(name)[1]}
    return tuple(text for text in TEXTS if text in found)


def n_features(names: Sequence[str], width: int) -> int:
    """How many numbers blocks of features are, for text vectors of a width."""
    return sum(len(MATCHED) if name == MATCH else width for name in names)


def combined(
    names: Sequence[str], vectors: Mapping[str, torch.Tensor], matched: torch.Tensor | None = None
) -> torch.Tensor:
    """The features of n segments, block beside block, from the vectors of their texts, each (n, d).

    Args:
        names: the blocks, as `feature_names` gives them.
        vectors: text -> its vectors.
        matched: the features of the block `match`, shape (n, 19).
    """
    import torch

    blocks = []
    for name in names:
        if name == MATCH:
            assert matched is not None  # who names the block computes it
            blocks.append(matched)
            continue
        kind, texts = _operands(name)
        first, last = vectors[texts[0]], vectors[texts[-1]]
        blocks.append(first if kind == "own" else first * last if kind == "product" else (first - last).abs())
    return torch.cat(blocks, dim=1)


def _operands(name: str) -> tuple[str, list[str]]:
    """The kind of a feature, and its texts. One is written as `hyp`, `hyp*ref`, `|hyp-ref|`, `match` or `both`."""
    if name in (MATCH, BOTH):
        return name, ["hyp", "ref"]
    if name.startswith("|") and name.endswith("|"):
        kind, texts = "difference", name[1:-1].split("-")
    else:
        texts = name.split("*")
        kind = "own" if len(texts) == 1 else "product"
    if any(text not in TEXTS for text in texts) or len(texts) != (1 if kind == "own" else 2):
        raise InputError(
            f"feature {name!r} is unknown, expected one like hyp, hyp*ref or |hyp-ref|, of {', '.join(TEXTS)}"
        )
    return kind, texts
