"""Whether weights are numbers: a model with NaN among them answers, and every answer is NaN or wrong."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from nlgauge.core.errors import InputError

if TYPE_CHECKING:
    import torch


def check_finite(what: str, tensors: Iterable[tuple[str, torch.Tensor]]) -> None:
    """Refuse weights that are not finite.

    Args:
        what: what errors call the file or the model.
        tensors: names and weights.

    Raises:
        InputError: a tensor holds NaN or infinity.
    """
    for name, tensor in tensors:
        if not tensor.isfinite().all():
            raise InputError(
                f"{what}: the weights {name} hold NaN or infinity, expected finite numbers; load or train it again"
            )
