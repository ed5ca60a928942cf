"""Every pattern of swaps on small grids, worked by the definition over scipy: what the fast ways must equal."""

import itertools
import warnings
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.differences.swaps.definition import swapped_differences
from nlgauge.stats.grids import standardise

PLAIN = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}
POPULATIONS = {"both": (3, 3), "inputs": (1, 3), "systems": (3, 1)}


def plain(statistic, z, x):
    """One coefficient, NaN where a side is constant or alone."""
    if len(x) < 2 or np.ptp(x) < 1e-9 or np.ptp(z) < 1e-9:
        return np.nan
    return _coefficient(statistic, z.tobytes(), x.tobytes())


@cache
def _coefficient(statistic, z, x):
    """What scipy says of the same few numbers is asked once: most swaps leave most groups as they were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.NearConstantInputWarning)
        return float(PLAIN[statistic](np.frombuffer(z), np.frombuffer(x))[0])


def averaged(statistic, human, metric, averaging):
    judged = ~np.isnan(human)
    if averaging == "none":
        return plain(statistic, human[judged], metric[judged])
    if averaging == "item":
        human, metric, judged = human.T, metric.T, judged.T
    found = [plain(statistic, h[j], m[j]) for h, m, j in zip(human, metric, judged, strict=True)]
    defined = [value for value in found if not np.isnan(value)]
    return np.mean(defined) if defined else np.nan


def of_systems(statistic, human, metric, _):
    judged = ~np.isnan(human)
    averages = np.array([(h[j].mean(), m[j].mean()) for h, m, j in zip(human, metric, judged, strict=True)])
    return plain(statistic, *(averages if statistic == "pearson" else averages.round(10)).T)  # what ties on paper ties


def looped(value, statistic, human, z, patterns, averaging):
    """Differences of all pairs of metrics on all patterns, shape (P, B)."""
    return swapped_differences(lambda metric: value(statistic, human, metric, averaging), z, patterns)


def all_patterns(shape):
    return np.array(list(itertools.product([False, True], repeat=shape[0] * shape[1]))).reshape(-1, *shape)


@cache
def data(kind):
    """Judgements and three metrics of 3 systems on 3 items.

    `coarse` ties within and across metrics and leaves groups constant.
    """
    rng = np.random.default_rng({"smooth": 5, "missing": 6, "coarse": 7, "coarse people": 8}[kind])
    human = rng.integers(0, 3, size=(3, 3)).astype(float) if "people" in kind else rng.normal(size=(3, 3))
    metrics = rng.integers(0, 3, size=(3, 3, 3)).astype(float) if kind == "coarse" else rng.normal(size=(3, 3, 3))
    if kind == "missing":
        human[0, 1] = human[2, 2] = np.nan
    if kind == "coarse":
        metrics[1, :, 0] = 1.0  # one item that metric 1 does not tell apart
    z, _ = standardise(metrics, ~np.isnan(human))
    return human, z


def few(patterns):
    """All of up to 64, every 29th of more: 29 divides no power of 2, so that all coins fall both ways."""
    return patterns if len(patterns) <= 64 else patterns[::29]


@pytest.fixture(params=["smooth", "missing", "coarse", "coarse people"])
def kind(request):
    """One of the data sets of `by_definition.data`."""
    return request.param


@pytest.fixture(params=list(POPULATIONS))
def patterns(request):
    """Swaps of every score, of items or of systems on a grid of 3 by 3."""
    return few(all_patterns(POPULATIONS[request.param]))


@pytest.fixture(scope="session")
def by_definition():
    """The plain functions, which the test files of this folder share."""
    return SimpleNamespace(
        plain=plain, averaged=averaged, of_systems=of_systems, looped=looped, all_patterns=all_patterns, data=data
    )
