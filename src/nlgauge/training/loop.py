"""The training loop: AdamW, warm-up and linear decay. A killed run resumes from its checkpoint to the same weights."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import ParamSpec, Protocol, TypeVar

import torch
from safetensors import safe_open
from safetensors.torch import save

from nlgauge.core.errors import InputError
from nlgauge.core.result import claimed, clear, replacing
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.data import shuffled_batches
from nlgauge.training.recipe import Schedule

P = ParamSpec("P")
R = TypeVar("R")

_CLIP = 1.0  # largest norm of a step's gradient
_STATES = ("exp_avg", "exp_avg_sq")
_STEPS_KEPT = 200  # between two checkpoints


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Where the state of a run is kept.

    Attributes:
        path: the file; a new version is written beside it and renamed. `done` deletes it.
        run: a text that identifies the run; a checkpoint of another run is refused.
        every: the number of steps between two checkpoints.
    """

    path: Path
    run: str
    every: int = _STEPS_KEPT

    @staticmethod
    def beside(output: str, run: str) -> Checkpoint:
        """The checkpoint of a run that will write `output`."""
        return Checkpoint(path=Path(f"{output}.checkpoint"), run=run, every=_STEPS_KEPT)

    def done(self) -> None:
        """Delete the file once the weights are stored."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
        clear(os.path.realpath(self.path))


class Watch(Protocol):
    """An observer of a run, whose own state is part of the state of the run."""

    def after(self, step: int, loss: float) -> None:
        """Called after each step, counted from 1, with its loss."""
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """The observer's state, for a checkpoint."""
        ...

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Restore the observer's state."""
        ...


def alone(train: Callable[P, R]) -> Callable[P, R]:
    """Refuse to train while another run trains the same `output`."""
    parameters = signature(train)

    @wraps(train)
    def trained(*args: P.args, **kwargs: P.kwargs) -> R:
        with claimed(parameters.bind(*args, **kwargs).arguments["output"]):
            return train(*args, **kwargs)

    return trained


def learning(network: torch.nn.Module) -> dict[str, torch.nn.Parameter]:
    """The parameters of a network that are not frozen, by name."""
    return {name: parameter for name, parameter in network.named_parameters() if parameter.requires_grad}


def fit_network(
    network: torch.nn.Module,
    loss: Callable[[Ids], torch.Tensor],
    lengths: Ids,
    schedule: Schedule,
    checkpoint: Checkpoint,
    runtime: Runtime,
    after_epoch: Callable[[int], None] = lambda epoch: None,
    *,
    watch: Watch | None = None,
    batches: Callable[[int], list[Ids]] | None = None,
) -> None:
    """Train the parameters of a network that are not frozen, with a progress display; arguments as for `fit`."""
    with runtime.progress(schedule.steps(len(lengths)), "steps") as advance:
        fit(learning(network), loss, lengths, schedule, checkpoint, advance, after_epoch, watch=watch, batches=batches)


def fit(
    parameters: Mapping[str, torch.nn.Parameter],
    loss: Callable[[Ids], torch.Tensor],
    lengths: Ids,
    schedule: Schedule,
    checkpoint: Checkpoint | None = None,
    advance: Callable[[int], None] = lambda count: None,
    after_epoch: Callable[[int], None] = lambda epoch: None,
    *,
    watch: Watch | None = None,
    batches: Callable[[int], list[Ids]] | None = None,
) -> int:
    """Train parameters in place.

    Every step has its own stream of random numbers, made from the seed and the number of the step. So a run that is
    resumed ends with the same weights as one that was never stopped.

    Args:
        parameters: the parameters to train, by name.
        loss: returns the mean loss of a batch, given the positions of its pairs.
        lengths: the number of pieces of each pair, shape (n,).
        schedule: how long and how fast.
        checkpoint: where the state is kept; if it is there, the run resumes from it.
        advance: called for each step done.
        after_epoch: called after each pass with its number from 1.
        watch: an observer; its state is in the checkpoint too.
        batches: returns the batches of a pass, given its number from 0, the same number in each pass; None groups by
            length (`shuffled_batches`).

    Returns:
        The number of steps, including those before the run was resumed.

    Raises:
        InputError: the checkpoint is damaged or belongs to another run, or the loss is not a number any more.
    """
    if batches is None:
        batches = partial(shuffled_batches, lengths, schedule.batch_size, schedule.seed)
    learnt = list(parameters.values())
    device = learnt[0].device
    optimiser = torch.optim.AdamW(learnt, lr=schedule.learning_rate, weight_decay=schedule.weight_decay)
    per_epoch, steps = schedule.steps_per_pass(len(lengths)), schedule.steps(len(lengths))
    begun = _take_up(parameters, optimiser, checkpoint, watch) if checkpoint is not None else 0
    advance(begun)
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        for step in range(begun, steps):
            epoch, place = divmod(step, per_epoch)
            if place == 0 or step == begun:
                order = batches(epoch)
            torch.manual_seed((schedule.seed << 32) + step)
            for group in optimiser.param_groups:
                group["lr"] = schedule.rate(step, steps)
            value = _step(loss(order[place]), learnt, optimiser, step)
            advance(1)
            if watch is not None:
                watch.after(step + 1, value)
            if checkpoint is not None and (step + 1) % checkpoint.every == 0:
                _keep(parameters, optimiser, checkpoint, step + 1, watch)
            if place == per_epoch - 1:
                after_epoch(epoch + 1)
    return steps


def _step(
    value: torch.Tensor, parameters: Sequence[torch.Tensor], optimiser: torch.optim.Optimizer, step: int
) -> float:
    """Move the parameters down the gradient of a loss; the loss as a number."""
    if not torch.isfinite(value):
        raise InputError(f"the loss is {value.item()} at step {step + 1}; try a lower learning rate")
    value.backward()
    torch.nn.utils.clip_grad_norm_(parameters, _CLIP)
    optimiser.step()
    optimiser.zero_grad()
    return float(value.item())


def _keep(
    parameters: Mapping[str, torch.nn.Parameter],
    optimiser: torch.optim.Optimizer,
    checkpoint: Checkpoint,
    step: int,
    watch: Watch | None,
) -> None:
    tensors = (
        {} if watch is None else {f"watch/{name}": tensor.cpu().contiguous() for name, tensor in watch.state().items()}
    )
    for name, parameter in parameters.items():
        tensors[f"weight/{name}"] = parameter.detach().cpu().contiguous()
        for state in _STATES:
            tensors[f"{state}/{name}"] = optimiser.state[parameter][state].cpu().contiguous()
    with replacing(checkpoint.path, "wb") as file:
        file.write(save(tensors, {"format": "nlgauge-checkpoint", "step": str(step), "run": checkpoint.run}))


def _take_up(
    parameters: Mapping[str, torch.nn.Parameter],
    optimiser: torch.optim.Optimizer,
    checkpoint: Checkpoint,
    watch: Watch | None,
) -> int:
    """The number of steps that a checkpoint holds, its state put in place; 0 where there is none."""
    if not checkpoint.path.exists():
        return 0
    advice = f"delete {checkpoint.path} to begin anew"
    try:
        with safe_open(str(checkpoint.path), framework="pt") as file:
            about: dict[str, str] = file.metadata() or {}
            names = file.keys()
            tensors: dict[str, torch.Tensor] = {name: file.get_tensor(name) for name in names}
    except Exception as error:
        raise InputError(
            f"checkpoint {checkpoint.path} cannot be read ({str(error).splitlines()[0]}); {advice}"
        ) from None
    if about.get("run") != checkpoint.run:
        differing = _differing(about.get("run"), checkpoint.run)
        raise InputError(f"checkpoint {checkpoint.path} is of another run{differing}; {advice}, or name another output")
    step = int(about["step"])
    if watch is not None:
        watch.restore(
            {name.removeprefix("watch/"): tensor for name, tensor in tensors.items() if name.startswith("watch/")}
        )
    with torch.no_grad():
        for name, parameter in parameters.items():
            parameter.copy_(tensors[f"weight/{name}"])
            optimiser.state[parameter] = {
                "step": torch.tensor(float(step)),
                **{state: tensors[f"{state}/{name}"].to(parameter.device) for state in _STATES},
            }
    return step


def _differing(theirs: str | None, ours: str) -> str:
    """Which settings of two runs differ, where both are known."""
    try:
        before, now = json.loads(theirs or ""), json.loads(ours)
        keys = [key for key in now if before.get(key) != now[key]]
    except (ValueError, AttributeError, TypeError):
        return ""
    return f" ({', '.join(keys)} differ)" if keys else ""
