import random

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.subsamples import subsample_verdicts


def as_released(first, second):
    """Its loop: one stream from seed 666, the list shuffled again and again."""
    documents = list(range(len(first)))
    stream = random.Random(666)
    better = 0
    for _ in range(1000):
        stream.shuffle(documents)
        part = [d for d in documents[: int(0.8 * len(documents))] if not np.isnan(first[d]) and not np.isnan(second[d])]
        better += np.mean([first[d] for d in part]) > np.mean([second[d] for d in part])
    return 1 if better > 950 else -1 if better < 50 else 0


def test_verdicts_are_those_of_its_loop():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(5, 40)) + 0.15 * np.arange(5)[:, None]
    values[1, 3] = values[2, 7] = np.nan
    found = subsample_verdicts(values)
    for i in range(5):
        for j in range(i + 1, 5):
            assert found[i, j] == as_released(values[i], values[j])
    assert (found == -found.T).all()
    assert set(np.unique(found)) == {-1, 0, 1}


def test_a_lead_that_is_chance_is_called_a_win():
    # no difference, 100 documents, 16 data sets: 5 % are meant each way, some 22 to 27 % come out, twice that together
    # (sd .12)
    rng = np.random.default_rng(1)
    called = np.mean([subsample_verdicts(rng.normal(size=(2, 100)))[0, 1] != 0 for _ in range(16)])
    assert called > 0.25


def test_their_fault_is_kept_of_identical_metrics_the_second_is_called_better():
    row = np.random.default_rng(2).normal(size=20)
    assert subsample_verdicts(np.stack([row, row])).tolist() == [[0, -1], [1, 0]]


def test_one_document_is_refused():
    with pytest.raises(InputError, match="two documents or more"):
        subsample_verdicts(np.zeros((2, 1)))
