"""The best weights of a run, and the curve that led to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import torch

from nlgauge.core.result import replacing


class BestWeights:
    """Keeps every loss, evaluates at intervals, and remembers the weights with the best evaluation.

    Args:
        parameters: the trained parameters, by name.
        evaluate: returns a number for which higher is better, NaN where it is undefined; None keeps the last weights.
        every: the number of steps between two evaluations.
        steps: the number of steps of the whole run; the last step is always evaluated.
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
        """See `nlgauge.training.loop.Watch`."""
        self.losses.append(loss)
        if self._evaluate is None or (step % self._every and step != self._steps):
            return
        self.evaluated[step] = value = self._evaluate()
        self._on_evaluation(step, value)
        if self.best is not None and self.best[0] == step:
            self._weights = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}

    def state(self) -> dict[str, torch.Tensor]:
        """See `nlgauge.training.loop.Watch`."""
        kept = {f"best/{name}": weight for name, weight in self._weights.items()}
        steps, values = list(self.evaluated), list(self.evaluated.values())
        numbers = {"losses": self.losses, "steps": steps, "values": values}
        return kept | {name: torch.tensor(column, dtype=torch.float64) for name, column in numbers.items()}

    def restore(self, state: Mapping[str, torch.Tensor]) -> None:
        """See `nlgauge.training.loop.Watch`."""
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
