"""The loop: the schedule by hand, a known minimum found, and a run that is killed and taken up again."""

from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from nlgauge.core.errors import InputError
from nlgauge.training.loop import Checkpoint, alone, fit
from nlgauge.training.recipe import Schedule

LENGTHS = np.full(40, 7)
SCHEDULE = Schedule(epochs=3, batch_size=8, learning_rate=0.1, warmup=0.2, weight_decay=0.0, seed=5)  # 15 steps


def problem():
    """Points on a line, and dropout in the loss, so that the draws of a step matter."""
    x = torch.linspace(-1, 1, len(LENGTHS))
    weights = {"slope": torch.nn.Parameter(torch.zeros(1)), "shift": torch.nn.Parameter(torch.zeros(1))}

    def loss(where):
        kept = torch.nn.functional.dropout(x[torch.from_numpy(where)], 0.2)
        return ((weights["slope"] * kept + weights["shift"] - 2 * kept - 1) ** 2).mean()

    return weights, loss


def trained(checkpoint=None, stop=None, schedule=SCHEDULE):
    weights, loss = problem()
    done = []

    def advance(count):
        done.append(count)
        if stop is not None and sum(done) == stop:
            raise KeyboardInterrupt

    with suppress(KeyboardInterrupt):
        fit(weights, loss, LENGTHS, schedule, checkpoint, advance)
    return {name: parameter.item() for name, parameter in weights.items()}, sum(done)


def test_the_rate_rises_and_falls_in_lines():
    # ten steps, two of them warm-up: a half, the whole; then down by ninths, to reach 0 behind the last step
    rates = [Schedule(learning_rate=9.0, warmup=0.2).rate(step, 10) for step in range(10)]
    assert rates == pytest.approx([4.5, 9, 8, 7, 6, 5, 4, 3, 2, 1])


@pytest.mark.parametrize("seed", [-1, 1 << 32])
def test_a_seed_that_torch_or_numpy_refuses_is_told_at_once(seed):
    with pytest.raises(InputError, match=rf"seed is {seed}, expected 0 or more and below"):
        Schedule(seed=seed)


def test_the_minimum_is_found():
    weights, _ = trained(schedule=Schedule(epochs=60, batch_size=8, learning_rate=0.1, weight_decay=0.0))
    assert weights == pytest.approx({"slope": 2, "shift": 1}, abs=0.02)  # the rate ends at 0, what it leaves is small


@pytest.mark.parametrize("killed_at", [1, 4, 6, 14])
def test_a_run_that_was_killed_goes_on_to_the_same_weights(tmp_path, killed_at):
    whole, _ = trained()
    kept = Checkpoint(path=tmp_path / "c", run="this", every=2)
    trained(kept, stop=killed_at)
    assert kept.path.exists() == (killed_at > 2)  # a checkpoint is written behind the step that is told
    again, told = trained(kept)
    assert again == whole  # to the last bit
    assert told == 15  # what was done before is told, too
    kept.done()
    assert list(tmp_path.iterdir()) == []


def test_the_seed_makes_the_weights():
    assert trained() == trained()
    assert trained() != trained(schedule=Schedule(**{**vars(SCHEDULE), "seed": 6}))


def test_the_callers_random_numbers_are_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    first = torch.rand(1)
    trained()
    assert torch.cat([first, torch.rand(1)]).equal(expected)


def test_a_checkpoint_of_another_run_is_refused_and_says_what_differs(tmp_path):
    trained(Checkpoint(path=tmp_path / "c", run='{"rank": 8, "seed": 1}', every=2), stop=5)
    with pytest.raises(InputError, match=r"is of another run \(rank differ\); delete .*c to begin anew"):
        trained(Checkpoint(path=tmp_path / "c", run='{"rank": 4, "seed": 1}'))


def test_a_damaged_checkpoint_is_refused(tmp_path):
    (tmp_path / "c").write_bytes(b"no tensors")
    with pytest.raises(InputError, match="cannot be read"):
        trained(Checkpoint(path=tmp_path / "c", run="this"))


def test_a_loss_that_is_no_number_stops_the_run():
    weights, _ = problem()
    with pytest.raises(InputError, match="the loss is nan at step 1; try a lower learning rate"):
        fit(weights, lambda where: weights["slope"].sum() * float("nan"), LENGTHS, SCHEDULE)


@pytest.mark.parametrize("options", [{"epochs": 0}, {"batch_size": 0}, {"learning_rate": 0.0}, {"warmup": 2}], ids=str)
def test_schedules_that_cannot_be_are_refused_by_name(options):
    with pytest.raises(InputError, match=f"{next(iter(options))} is "):
        Schedule(**options)


def test_two_trainings_of_one_output_are_refused(tmp_path):
    @alone
    def train(data, output):
        if data:
            train(data - 1, output=output)
        return output

    with pytest.raises(InputError, match="another run is making"):
        train(1, tmp_path / "head.safetensors")
    assert train(0, tmp_path / "head.safetensors") == tmp_path / "head.safetensors"
    assert list(tmp_path.iterdir()) == []


def test_a_constant_rate_does_not_fall():
    schedule = Schedule(learning_rate=2.0, warmup=0.5, constant=True)
    assert [schedule.rate(step, 4) for step in range(4)] == [1.0, 2.0, 2.0, 2.0]
    assert [Schedule(learning_rate=2.0, warmup=0.5).rate(step, 4) for step in (2, 3)] == [
        pytest.approx(4 / 3),
        pytest.approx(2 / 3),
    ]
