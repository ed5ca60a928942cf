"""What is drawn follows the distributions it is named after: chi-square of 20,000 proposals."""

import math
import random
from collections import Counter

import pytest
from scipy.stats import chisquare

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.synthesis.draws import OPERATIONS, Draws

N = 20_000
SURE = 0.001  # one fixed seed in a thousand would fail by chance


def poisson(k, mean):
    return math.exp(-mean) * mean**k / math.factorial(k)


def agrees(drawn, shares):
    """Whether counts follow the shares; what is drawn and has no share goes to the last."""
    found = Counter(drawn)
    last = len(shares) - 1
    observed = [found[k] for k in list(shares)[:-1]]
    observed.append(len(drawn) - sum(observed))
    expected = [len(drawn) * share for share in shares.values()]
    assert len(expected) == last + 1
    return chisquare(observed, expected).pvalue > SURE


def test_edits_are_poisson_5_cut_to_1_to_5():
    rng, draws = random.Random(1), Draws()
    drawn = [draws.count(rng) for _ in range(N)]
    total = sum(poisson(k, 5) for k in range(1, 6))
    assert set(drawn) == {1, 2, 3, 4, 5}
    assert agrees(drawn, {k: poisson(k, 5) / total for k in range(1, 6)})
    # sum of k p(k) over sum of p(k), k = 1..5: 3.62; 4 standard errors of a mean of 20,000 draws with deviation 1.2
    assert sum(drawn) / N == pytest.approx(3.62, abs=0.035)


def test_lengths_are_poisson_of_which_0_is_drawn_again():
    rng, draws = random.Random(2), Draws()
    drawn = [draws.length(rng) for _ in range(N)]
    shares = {k: poisson(k, 1.5) / (1 - poisson(0, 1.5)) for k in range(1, 7)}
    assert min(drawn) == 1
    assert agrees(drawn, {**shares, 7: 1 - sum(shares.values())})


def test_distances_of_swaps_are_all_alike():
    rng, draws = random.Random(3), Draws()
    assert agrees([draws.distance(rng) for _ in range(N)], dict.fromkeys(range(1, 5), 0.25))


def test_a_draw_of_another_distribution_is_told_apart():
    rng = random.Random(4)
    drawn = [Draws(edits=4.5).count(rng) for _ in range(N)]
    total = sum(poisson(k, 5) for k in range(1, 6))
    assert not agrees(drawn, {k: poisson(k, 5) / total for k in range(1, 6)})


def test_every_operation_is_known_by_its_name():
    assert OPERATIONS == ("insert", "delete", "replace", "swap")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"operations": ("insert", "move")}, "operations has 'move'"),
        ({"operations": ()}, "operations is empty"),
        ({"operations": ("swap", "swap")}, "each once"),
        ({"edits": 0.0}, "edits is 0.0"),
        ({"edits": float("nan")}, "edits is nan"),
        ({"edits": 90.0}, "raise max_edits"),
        ({"span": -1.0}, "span is -1.0"),
        ({"max_edits": 0}, "max_edits is 0"),
        ({"swap_window": 0}, "swap_window is 0"),
        ({"top_k": 0}, "top_k is 0"),
        ({"max_edits": 1.5}, "max_edits is 1.5, expected a whole number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, told):
    with pytest.raises(SpecError, match=told):
        Draws(**options)
