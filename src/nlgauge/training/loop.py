"""The training loop: AdamW, warm-up and linear decay. A killed run resumes from its checkpoint to the same weights."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.result import claimed, clear, replacing
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.correlate import Options, correlation, statistic
from nlgauge.training.examples import WINDOW, Example
from nlgauge.training.recipe import Schedule

P = ParamSpec("P")
R = TypeVar("R")
_CLIP = 1.0  # largest norm of a step's gradient
_STATES = ("exp_avg", "exp_avg_sq")
_STEPS_KEPT = 200  # between two checkpoints


@dataclass(frozen=True, kw_only=True)
class Checkpoint:
    """Where the state of a run is kept: in `OUTPUT.checkpoint`, with the curve and the best weights so far.

    The same command, or call, goes on from it to the same weights as a run that was never stopped, on the same machine
    and number of threads. A checkpoint of other data or settings is refused.

    Attributes:
        path: the file; a new version is written beside it and renamed. `done` deletes it.
        run: a text that identifies the run.
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
    watch: BestWeights | None = None,
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
    watch: BestWeights | None = None,
    batches: Callable[[int], list[Ids]] | None = None,
) -> int:
    """Train parameters in place.

    Every step has its own stream of random numbers, made from the seed and its number, so that a resumed run ends with
    the same weights as one that was never stopped.

    Args:
        parameters: the parameters to train, by name.
        loss: returns the mean loss of a batch, given the positions of its pairs.
        lengths: the number of pieces of each pair, shape (n,).
        schedule: how long and how fast.
        checkpoint: where the state is kept; if it is there, the run resumes from it.
        advance: called for each step done.
        after_epoch: called after each pass with its number from 1.
        watch: sees each step; its state is in the checkpoint too.
        batches: number of a pass from 0 -> its batches; None groups by length (`shuffled_batches`).

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
    watch: BestWeights | None,
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
    watch: BestWeights | None,
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


def shuffled_batches(lengths: Ids, size: int, seed: int, epoch: int) -> list[Ids]:
    """Batches of one pass, numbered from 0, in random order; each holds pairs of about equal length.

    The pairs are shuffled, sorted by length inside windows of some batches, and cut into batches, which are shuffled
    again. So hardly any time goes into padding, and the pairs that share a batch differ from pass to pass.
    """
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    window = size * WINDOW
    batches = []
    for start in range(0, len(order), window):
        part = order[start : start + window]
        part = part[np.argsort(lengths[part], kind="stable")]
        batches += [part[i : i + size] for i in range(0, len(part), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


# --- The best weights of a run, and the curve that led to them


class BestWeights:
    """Keeps every loss, evaluates at intervals, and remembers the weights with the best evaluation.

    Args:
        parameters: the trained parameters, by name.
        evaluate: returns a number, higher is better, NaN where it is undefined; None keeps the last weights.
        every: the number of steps between two evaluations; the last of all `steps` is always evaluated.
        steps: the number of steps of the whole run.
        on_evaluation: called with the step and the number of each evaluation.
    """

    def __init__(
        self,
        parameters: Mapping[str, torch.nn.Parameter],
        evaluate: Callable[[], float] | None,
        every: int,
        steps: int,
        on_evaluation: Callable[[int, float], None] = lambda step, value: None,
    ) -> None:
        self._parameters, self._evaluate = parameters, evaluate
        self._every, self._steps, self._on_evaluation = every, steps, on_evaluation
        self.losses: list[float] = []
        self.evaluated: dict[int, float] = {}
        self._weights: dict[str, torch.Tensor] = {}

    @property
    def best(self) -> tuple[int, float] | None:
        """Step and number of the best evaluation, the first of equals; None where none was defined."""
        defined = {step: value for step, value in self.evaluated.items() if not math.isnan(value)}
        if not defined:
            return None
        step = max(defined, key=lambda s: (defined[s], -s))
        return step, defined[step]

    def after(self, step: int, loss: float) -> None:
        """Called after each step, counted from 1, with its loss."""
        self.losses.append(loss)
        if self._evaluate is None or (step % self._every and step != self._steps):
            return
        self.evaluated[step] = value = self._evaluate()
        self._on_evaluation(step, value)
        if self.best is not None and self.best[0] == step:
            self._weights = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    def state(self) -> dict[str, torch.Tensor]:
        """What a checkpoint holds of it."""
        kept = {f"best/{name}": weight for name, weight in self._weights.items()}
        steps, values = list(self.evaluated), list(self.evaluated.values())
        numbers = {"losses": self.losses, "steps": steps, "values": values}
        return kept | {name: torch.tensor(column, dtype=torch.float64) for name, column in numbers.items()}

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take up what a checkpoint holds."""
        self.losses = state["losses"].tolist()
        self.evaluated = dict(zip(map(int, state["steps"].tolist()), state["values"].tolist(), strict=True))
        self._weights = {
            name: state[f"best/{name}"].to(parameter.device)
            for name, parameter in self._parameters.items()
            if f"best/{name}" in state
        }

    def settle(self) -> None:
        """Put the best weights in place, if any evaluation was defined."""
        with torch.no_grad():
            for name, weight in self._weights.items():
                self._parameters[name].copy_(weight)

    def write(self, path: str) -> None:
        """The curve as TSV: step, loss, and the evaluation where there was one."""
        with replacing(path) as file:
            file.write("step\tloss\tdev\n")
            for step, loss in enumerate(self.losses, 1):
                value = self.evaluated.get(step, math.nan)
                file.write(f"{step}\t{loss!r}\t{'' if math.isnan(value) else repr(value)}\n")


# --- Choosing the best weights: by people's ratings, or by a held-out share of the training data


STAT = "kendall_b"


@dataclass(frozen=True)
class Dev:
    """A development set, by which the best weights are chosen.

    Attributes:
        name: what is measured, for people to read.
        examples: examples with owners. One segment may own several, one per reference; their mean is its score.
        stat: the name of a statistic of `nlgauge.stats`.
        groups: owner -> language pair or task; agreement is the mean over groups.
        items: owner -> the input that the segment answers; `wmt_kendall_like` compares outputs for one input.
        threshold: the smallest difference of two ratings that makes a pair of `wmt_kendall_like`; None is WMT's 25. A
            set in which no two outputs for one source are so far apart is refused.
    """

    name: str
    examples: Sequence[Example]
    stat: str = STAT
    groups: Callable[[int], Hashable] = lambda owner: None
    items: Callable[[int], Hashable] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        chosen = statistic(self.stat)
        if chosen.kind not in ("correlation", "pairs") or chosen.level != "segment":
            raise InputError(
                f"{self.stat} is no agreement of segments with their ratings, expected kendall_b, pearson, spearman or"
                " the like"
            )
        if len({example.score for example in self.examples}) < 2:
            raise InputError(
                f"{self.name}: a development set of {len(self.examples)} examples of one score tells no weights from"
                " others; take a larger one, or none: --held-out 0 (in Python held_out=0) keeps the last weights"
            )
        self._check_pairs()

    def _check_pairs(self) -> None:
        """Refuse what would leave every evaluation undefined: no input is known, or no two ratings are far enough."""
        takes = "threshold" in statistic(self.stat).options
        if self.threshold is not None and not takes:
            raise InputError(f"{self.stat} has no threshold; leave it out, or choose wmt_kendall_like")
        if not takes:
            return
        if self.items is None:
            raise InputError(
                f"{self.stat} compares outputs for one input, and {self.name} does not say which these are"
            )
        targets = np.array([example.score for example in self.examples])
        if np.isnan(self.measure(targets, np.array([example.owner for example in self.examples]))):
            far = 25.0 if self.threshold is None else self.threshold
            apart, advice = (
                (f"{far:g} apart", "choose a smaller --threshold, such as 0 for MQM")
                if far
                else ("differently", "give several rated outputs for an input, or choose another --stat")
            )
            which = f"no two outputs for one input are rated {apart}"
            raise InputError(f"{self.name}: {which}, so that {self.stat} is undefined; {advice}")

    @property
    def chooses_by(self) -> tuple[object, ...]:
        """The settings that decide beside the examples and the name; empty for tau-b over all of them."""
        owners = list(dict.fromkeys(example.owner for example in self.examples))
        within = self.items if "threshold" in statistic(self.stat).options else None
        labels = [(self.groups(owner), within and within(owner)) for owner in owners]
        plain = self.stat == STAT and len(set(labels)) == 1
        return () if plain else (self.stat, self.threshold, *(str(label) for label in labels))

    @property
    def n(self) -> int:
        """The number of segments that the examples are of."""
        return len({example.owner for example in self.examples})

    def measure(self, scores: Array, owners: Ids) -> float:
        """Agreement of the examples' scores, shape (n,), with their targets; NaN where no group has a defined value."""
        segments, places = np.unique(owners, return_inverse=True)
        places = places.reshape(-1)
        means = np.bincount(places, scores) / np.bincount(places)
        wanted = np.zeros(len(segments))
        wanted[places] = [example.score for example in self.examples]
        labels = [self.groups(int(owner)) for owner in segments]
        within = self.items if "threshold" in statistic(self.stat).options else None
        values = []
        for label in dict.fromkeys(labels):
            where = [i for i, other in enumerate(labels) if other == label]
            items = [within(int(segments[i])) for i in where] if within is not None else None
            options: Options = {} if self.threshold is None else {"threshold": self.threshold}
            values.append(correlation(self.stat, means[where], wanted[where], items, **options).value)
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else float("nan")


def held_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], Dev]:
    """Examples to learn from, and examples to choose by; those with the same reference or source are on the same side.

    Of hypotheses alone, those with the same one are. Too few to hold some out are refused.
    """
    beside = {name for example in examples for name in example.texts if name != "hyp"}
    keys = [tuple(example.texts.get(name) for name in sorted(beside or {"hyp"})) for example in examples]
    against = list(dict.fromkeys(keys))
    if len(against) < 2:
        what = "reference" if "ref" in beside else "source" if beside else "hypothesis"
        raise InputError(
            f"the examples have one {what}, so that none can be held back; give --dev, or --held-out 0 to keep the"
            " last weights"
        )
    n = min(len(against) - 1, max(1, round(share * len(against))))
    kept = {against[i] for i in np.random.default_rng((seed, len(against))).permutation(len(against))[:n]}
    learnt = [example for example, key in zip(examples, keys, strict=True) if key not in kept]
    back = [example for example, key in zip(examples, keys, strict=True) if key in kept]
    return learnt, Dev(f"{STAT} on {len(back)} held back", back)


# --- Forward and backward passes side by side: each core takes a part of a batch and runs it from end to end


Part = Callable[[], torch.Tensor]
_PARTS = 4  # of a batch; fixed, so that sums do not depend on how many cores there are


class Cores:
    """Threads of one core each, for graphs of autograd (`nlgauge.models.hub` says why); None is the calling thread."""

    def __init__(self, pool: ThreadPoolExecutor | None) -> None:
        self._pool = pool

    def together(self, parts: Sequence[Part], parameters: Sequence[torch.Tensor]) -> torch.Tensor:
        """The results of the parts, which draw nothing at random, one after the other along the first axis.

        Gradients flow to the parameters that learn, and are the same whichever thread computes them.
        """
        if self._pool is None or len(parts) == 1:
            return torch.cat([part() for part in parts])
        run: Callable[..., torch.Tensor] = _Together.apply
        return run(self._pool, parts, *parameters)

    def of_sequences(
        self,
        work: Callable[[Ids], torch.Tensor],
        lengths: Ids,
        parameters: Sequence[torch.Tensor],
        device: torch.device,
    ) -> torch.Tensor:
        """What `work` gives for the positions of n sequences, a row each, in their order, along the first axis.

        On a processor it is called for a few parts of as many tokens, shortest first: little padding, and work for
        several cores. `lengths` are the numbers of pieces, shape (n,), `parameters` what `work` uses and learns.
        """
        order = np.argsort(lengths, kind="stable")
        tokens = np.cumsum(lengths[order])
        parts = (
            np.split(order, np.searchsorted(tokens, tokens[-1] * np.arange(1, _PARTS) / _PARTS))
            if device.type == "cpu"
            else [order]
        )
        found = self.together([partial(work, part) for part in parts if len(part)], parameters)
        return found[torch.from_numpy(np.argsort(order, kind="stable")).to(device)]


@contextmanager
def cores(device: torch.device) -> Iterator[Cores]:
    """As many threads as torch may use, on a processor; while the context lasts, torch itself uses one core in each."""
    threads = torch.get_num_threads()
    if device.type != "cpu" or threads == 1:
        yield Cores(None)
        return
    pool = ThreadPoolExecutor(threads, "nlgauge", lambda: torch.set_num_threads(1))
    torch.set_num_threads(1)
    try:
        yield Cores(pool)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


class _Together(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, pool: ThreadPoolExecutor, parts: Sequence[Part], *parameters: torch.Tensor) -> torch.Tensor:
        def run(part: Part) -> torch.Tensor:
            with torch.set_grad_enabled(any(p.requires_grad for p in parameters)):
                return part()

        ctx.pool, ctx.parameters = pool, parameters
        ctx.outcomes = list(pool.map(run, parts))
        return torch.cat([outcome.detach() for outcome in ctx.outcomes])

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        parts = gradient.split([len(outcome) for outcome in ctx.outcomes])

        def run(pair: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor | None, ...]:
            gradients: tuple[torch.Tensor | None, ...] = torch.autograd.grad(
                pair[0], ctx.parameters, pair[1], allow_unused=True
            )
            return gradients

        sums: list[torch.Tensor | None] = [None] * len(ctx.parameters)
        # In the order of the parts, whichever ends first, since a sum in another order may differ in its last digits.
        for found in ctx.pool.map(run, zip(ctx.outcomes, parts, strict=True)):
            sums = [
                total if one is None else one if total is None else total.add_(one)
                for total, one in zip(sums, found, strict=True)
            ]
        ctx.outcomes = None
        return None, None, *sums
