"""A regressor at work on its examples: the loss of a batch, and the scores of a set."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.models.tokens import Ids
from nlgauge.training.classifier import arithmetic, padded
from nlgauge.training.examples import Encoded, Texts
from nlgauge.training.network import RegressorNetwork
from nlgauge.training.parallel import Cores
from nlgauge.training.recipe import Loss

_TEXTS = 256  # encoded together in evaluation
_ROWS = 1024


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
        return self._cores.of_sequences(
            lambda where: self._encode(wanted[where]), self._lengths[wanted], self._learnt, self.device
        )

    def _encode(self, wanted: Ids) -> torch.Tensor:
        with arithmetic(self.device, self.dtype):
            means: torch.Tensor = self.network.means(
                **padded([self.texts.ids[i] for i in wanted], None, self.pad, self.device)
            )
        return means
