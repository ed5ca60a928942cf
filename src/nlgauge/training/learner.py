"""A regressor at work on its examples: the loss of a batch, and the scores of a set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.core.errors import InputError
from nlgauge.core.options import Range, check_option, checked
from nlgauge.models.tokens import Ids
from nlgauge.training.classifier import arithmetic, padded
from nlgauge.training.examples import Encoded, Texts
from nlgauge.training.network import RegressorNetwork
from nlgauge.training.parallel import Cores

LossName = Literal["mse", "pairwise", "mse+pairwise"]
_PARTS = 4  # of a batch; fixed, so that sums do not depend on how many cores there are
_TEXTS = 256  # encoded together in evaluation
_ROWS = 1024


@dataclass(frozen=True, kw_only=True)
class Loss:
    """The loss that is minimised.

    Attributes:
        name: `mse` is the squared error. `pairwise` asks that of two hypotheses for one reference the one with the
            better score comes out better. The third is the sum of both.
        margin: the difference that `pairwise` asks for, in units of the scores (a hinge); None asks for as much as
            possible (a logistic loss).
        weight: the weight of the pairwise part in the sum.
    """

    name: LossName = "mse"
    margin: Annotated[float, Range(above=0)] | None = None
    weight: Annotated[float, Range(above=0)] = 1.0

    def __post_init__(self) -> None:
        # Under the names that a user of recipes and commands knows.
        check_option("loss", self.name, LossName, error=InputError)
        check_option("the weight of the pairwise loss", self.weight, Annotated[float, Range(above=0)], error=InputError)
        checked(self, name="", error=InputError)

    def of(self, scores: torch.Tensor, targets: torch.Tensor, groups: torch.Tensor, unit: float = 1.0) -> torch.Tensor:
        """The mean loss of n scores, all in units of the targets.

        Args:
            scores: shape (n,).
            targets: shape (n,).
            groups: the number of the text that each is compared with, shape (n,).
            unit: the size of one unit of the scores in units of the targets.
        """
        squared = torch.nn.functional.mse_loss(scores, targets) if "mse" in self.name else scores.new_zeros(())
        if self.name == "mse":
            return squared
        better, worse = torch.nonzero((groups[:, None] == groups) & (targets[:, None] > targets), as_tuple=True)
        lead = scores[better] - scores[worse]
        lost = torch.nn.functional.softplus(-lead) if self.margin is None else torch.relu(self.margin * unit - lead)
        # If no two examples of a batch share a reference, there is nothing to compare, and the gradient is 0.
        pairwise = lost.mean() if len(lost) else 0 * scores.sum()
        return squared + pairwise * (self.weight if self.name == "mse+pairwise" else 1.0)


class Learner:
    """A network and its examples.

    Args:
        network: the network, on its device.
        texts: all texts of all sets.
        means: the mean vectors of all texts where the encoder is frozen, shape (texts, layers, d); None where it
            learns.
        loss: the loss to minimise.
        mean: the mean of the scores; the network learns target = (score - mean) / sd.
        sd: the standard deviation of the scores.
        pad: the id that pads a batch.
        dtype: bfloat16 or float32.
        cores: the threads that compute the parts of a batch. None is the calling thread; an encoder with dropout needs
            it, since only there are random numbers drawn in order.
    """

    def __init__(
        self,
        network: RegressorNetwork,
        texts: Texts,
        means: torch.Tensor | None,
        loss: Loss,
        mean: float,
        sd: float,
        pad: int,
        dtype: str,
        cores: Cores | None = None,
    ) -> None:
        self.network, self.texts, self.known = network, texts, means
        self.loss_of, self.mean, self.sd, self.pad, self.dtype = loss, mean, sd, pad, dtype
        self.device = network.out.weight.device
        self._cores = cores or Cores(None)
        self._learnt = [] if network.encoder is None else [p for p in network.encoder.parameters() if p.requires_grad]
        self._lengths = np.array([len(ids) for ids in texts.ids], dtype=np.int64)

    def loss(self, batch: Encoded) -> torch.Tensor:
        """The mean loss of a batch, whose distinct texts are encoded once."""
        wanted, rows = self._rows(batch.places)
        scores = self.network(self._means(wanted), rows)
        targets = torch.from_numpy((batch.scores - self.mean) / self.sd).to(scores)
        return self.loss_of.of(scores, targets, torch.from_numpy(batch.groups).to(self.device), 1 / self.sd)

    def predict(self, examples: Encoded) -> npt.NDArray[np.float64]:
        """Scores of examples in their own units, shape (n,), without dropout."""
        wanted, rows = self._rows(examples.places)
        training = self.network.training
        self.network.eval()
        with torch.inference_mode():
            means = torch.cat([self._means(wanted[i : i + _TEXTS]) for i in range(0, len(wanted), _TEXTS)])
            parts = [
                self.network(means, {name: row[i : i + _ROWS] for name, row in rows.items()})
                for i in range(0, len(examples), _ROWS)
            ]
        self.network.train(training)
        scores: npt.NDArray[np.float64] = torch.cat(parts).double().cpu().numpy()
        return scores * self.sd + self.mean

    def _rows(self, places: Mapping[str, Ids]) -> tuple[Ids, dict[str, torch.Tensor]]:
        """The distinct texts of some examples, and the row of each text among these."""
        wanted, rows = np.unique(np.concatenate(list(places.values())), return_inverse=True)
        each = np.split(rows.reshape(-1), len(places))
        return wanted, {name: torch.from_numpy(row).to(self.device) for name, row in zip(places, each, strict=True)}

    def _means(self, wanted: Ids) -> torch.Tensor:
        if self.known is not None:
            return self.known[torch.from_numpy(wanted).to(self.known.device)]
        # Shortest first, in a few parts of as many tokens: little padding, and work for several cores.
        order = np.argsort(self._lengths[wanted], kind="stable")
        tokens = np.cumsum(self._lengths[wanted[order]])
        parts = (
            np.split(order, np.searchsorted(tokens, tokens[-1] * np.arange(1, _PARTS) / _PARTS))
            if self.device.type == "cpu"
            else [order]
        )
        jobs = [partial(self._encode, wanted[part]) for part in parts if len(part)]
        means = self._cores.together(jobs, self._learnt)
        return means[torch.from_numpy(np.argsort(order, kind="stable")).to(self.device)]

    def _encode(self, wanted: Ids) -> torch.Tensor:
        with arithmetic(self.device, self.dtype):
            means: torch.Tensor = self.network.means(
                **padded([self.texts.ids[i] for i in wanted], None, self.pad, self.device)
            )
        return means
