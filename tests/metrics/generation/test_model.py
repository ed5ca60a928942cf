"""From sums of log-probabilities to values and flags."""

import numpy as np
import pytest

from nlgauge.metrics.generation.model import judged


def test_a_value_is_a_mean_and_what_has_none_is_flagged():
    sums = np.array([-6.0, 0.0, -2.0, -np.inf, -3.0])
    counts = np.array([3.0, 0.0, 2.0, 2.0, 2.0])
    empty = np.array([False, True, False, False, False])
    cut = np.array([True, True, False, False, False])
    shares = np.array([0.0, 1.0, 1.0, 0.0, 0.5])
    means, flags = judged(sums, counts, empty, cut, shares, -9.0)
    assert means == pytest.approx([-2, -9, np.nan, np.nan, -1.5], nan_ok=True)
    assert {name: np.flatnonzero(column).tolist() for name, column in flags.items()} == {
        "empty": [1],
        "truncated": [0],
        "unknown": [2, 4],
        "nonfinite": [3],
    }
