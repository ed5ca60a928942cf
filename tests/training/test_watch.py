"""The best weights are kept, the curve is written, and both survive a checkpoint."""

import math

import pytest

pytest.importorskip("torch")

import torch

from nlgauge.training.watch import BestWeights


def watched(values, every=2, steps=5):
    weights = {"w": torch.nn.Parameter(torch.zeros(1))}
    told = iter(values)
    return weights, BestWeights(weights, lambda: next(told), every, steps)


def go(weights, best, first, last):
    for step in range(first, last + 1):
        weights["w"].data.fill_(step)
        best.after(step, step / 8)


@pytest.mark.parametrize(
    ("values", "best", "kept"),
    [
        ([0.1, 0.3, 0.2], (4, 0.3), 4),
        ([0.3, 0.3, 0.1], (2, 0.3), 2),  # the first of equals
        ([math.nan, -0.2, math.nan], (4, -0.2), 4),
        ([math.nan, math.nan, math.nan], None, 5),  # nothing was defined: the last weights stay
    ],
)
def test_the_best_weights_are_put_in_place(values, best, kept):
    weights, watch = watched(values)
    go(weights, watch, 1, 5)
    assert list(watch.evaluated) == [2, 4, 5]  # every second, and the last
    assert watch.best == best
    watch.settle()
    assert weights["w"].item() == kept


def test_without_an_evaluation_the_last_weights_stay(tmp_path):
    weights = {"w": torch.nn.Parameter(torch.zeros(1))}
    watch = BestWeights(weights, None, 2, 3)
    go(weights, watch, 1, 3)
    watch.settle()
    assert (weights["w"].item(), watch.best) == (3, None)
    watch.write(str(tmp_path / "c.tsv"))
    assert (tmp_path / "c.tsv").read_text() == "step\tloss\tdev\n1\t0.125\t\n2\t0.25\t\n3\t0.375\t\n"


def test_what_is_remembered_goes_through_a_checkpoint(tmp_path):
    weights, whole = watched([0.3, math.nan, 0.1])
    go(weights, whole, 1, 5)
    weights, before = watched([0.3])
    go(weights, before, 1, 3)
    weights, after = watched([math.nan, 0.1])
    after.restore(before.state())
    go(weights, after, 4, 5)
    assert (after.losses, str(after.evaluated), after.best) == (whole.losses, str(whole.evaluated), whole.best)
    after.settle()
    assert weights["w"].item() == 2
    after.write(str(tmp_path / "c.tsv"))
    assert (tmp_path / "c.tsv").read_text().splitlines()[1:] == [
        "1\t0.125\t",
        "2\t0.25\t0.3",
        "3\t0.375\t",
        "4\t0.5\t",
        "5\t0.625\t0.1",
    ]
