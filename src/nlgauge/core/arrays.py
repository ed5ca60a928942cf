"""Names of array types that all packages share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.floating[Any]]  # of whatever precision a model computes in
Mask = npt.NDArray[np.bool_]
