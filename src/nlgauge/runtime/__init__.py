"""Devices, batches, caches and progress: what a run needs besides its metrics."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.runtime.cache import ScoreCache, default_path
    from nlgauge.runtime.runtime import DTYPES
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "DTYPES", "ScoreCache", "default_path",
]  # fmt: skip
