"""A regressor that reads hypothesis and reference in one sequence, while it learns; see `nlgauge.models.regressor`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.core.errors import InputError
from nlgauge.models.encoder import BOTH, torch_device
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import HEADS, Head, find_head
from nlgauge.models.locate import ModelFiles
from nlgauge.models.regressor import KIND, RegressorFiles
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.adapters import begin_adapters
from nlgauge.training.classifier import HeadNetwork, arithmetic, head_network, padded
from nlgauge.training.examples import Encoded, Example
from nlgauge.training.parallel import Cores
from nlgauge.training.recipe import Loss, RegressorRecipe, beginning

_PAIRS = 256  # encoded together in evaluation


class PairTexts:
    """Distinct pairs (reference, hypothesis) of many examples, each with its pieces and their types.

    `nlgauge.training.examples.Texts` is the same for texts that are read alone.
    """

    def __init__(self, tokenizer: PairTokenizer) -> None:
        self.tokenizer = tokenizer
        self._numbers: dict[tuple[str, str], int] = {}
        self.ids: list[Ids] = []
        self.types: list[Ids] = []
        self.n_cut = 0

    @property
    def summary(self) -> str:
        """How many pairs there are, how long they are, and how many were cut."""
        tokens = np.mean([len(ids) for ids in self.ids])
        return f"{len(self.ids)} distinct pairs, {tokens:.1f} tokens each, {self.n_cut} cut"

    def encode(self, examples: Sequence[Example]) -> Encoded:
        """The examples with their pairs as numbers; `places` has one entry, `both`. Groups share a reference."""
        pairs = [(example.texts["ref"].strip(), example.texts["hyp"].strip()) for example in examples]
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._numbers]
        read = self.tokenizer.pairs(new, self.tokenizer.read(text for pair in new for text in pair))
        for place, pair in enumerate(new):
            ids, types = read.ids(place)
            self._numbers[pair] = len(self.ids)
            self.ids.append(ids)
            self.types.append(types)
        self.n_cut += int(read.truncated.sum())
        place_of = np.array([self._numbers[pair] for pair in pairs], dtype=np.int64)
        _, groups = np.unique([ref for ref, _ in pairs], return_inverse=True)
        return Encoded(
            {BOTH: place_of},
            np.array([example.score for example in examples]),
            np.array([example.owner for example in examples], dtype=np.int64),
            groups.reshape(-1),
            np.array([len(self.ids[place]) for place in place_of], dtype=np.int64),
        )


class CrossedLearner:
    """A network and its examples; `nlgauge.training.learner.Learner` is the same for texts that are read alone.

    Args:
        network: with one output, on its device.
        texts: all pairs of all sets.
        loss: the loss to minimise.
        mean: the mean of the scores; the network learns target = (score - mean) / sd.
        sd: the standard deviation of the scores.
        pad: the id that pads a batch.
        dtype: bfloat16 or float32.
        cores: the threads that compute the parts of a batch; None is the calling thread, see `Learner`.
    """

    def __init__(
        self,
        network: HeadNetwork,
        texts: PairTexts,
        loss: Loss,
        mean: float,
        sd: float,
        pad: int,
        dtype: str,
        cores: Cores | None = None,
    ) -> None:
        self.network, self.texts = network, texts
        self.loss_of, self.mean, self.sd, self.pad, self.dtype = loss, mean, sd, pad, dtype
        self.device = network.classifier.weight.device
        self._cores = cores or Cores(None)
        self._learnt = [p for p in network.parameters() if p.requires_grad]

    def loss(self, batch: Encoded) -> torch.Tensor:
        """The mean loss of a batch, whose distinct pairs are read once."""
        wanted, rows = np.unique(batch.places[BOTH], return_inverse=True)
        scores = self._outputs(wanted)[torch.from_numpy(rows.reshape(-1)).to(self.device)]
        targets = torch.from_numpy((batch.scores - self.mean) / self.sd).to(scores)
        return self.loss_of.of(scores, targets, torch.from_numpy(batch.groups).to(self.device), 1 / self.sd)

    def predict(self, examples: Encoded) -> npt.NDArray[np.float64]:
        """Scores of examples in their own units, shape (n,), without dropout."""
        wanted, rows = np.unique(examples.places[BOTH], return_inverse=True)
        training = self.network.training
        self.network.eval()
        with torch.inference_mode():
            parts = [self._outputs(wanted[i : i + _PAIRS]) for i in range(0, len(wanted), _PAIRS)]
        self.network.train(training)
        outputs: npt.NDArray[np.float64] = torch.cat(parts).double().cpu().numpy()
        return outputs[rows.reshape(-1)] * self.sd + self.mean

    def _outputs(self, wanted: Ids) -> torch.Tensor:
        """In units of the targets, float32, shape (n,)."""
        lengths = np.array([len(self.texts.ids[i]) for i in wanted], dtype=np.int64)
        learnt = self._learnt if torch.is_grad_enabled() else []  # threads of their own keep no graph for a prediction
        return self._cores.of_sequences(lambda where: self._read(wanted[where]), lengths, learnt, self.device)

    def _read(self, wanted: Ids) -> torch.Tensor:
        ids, types = [self.texts.ids[i] for i in wanted], [self.texts.types[i] for i in wanted]
        with arithmetic(self.device, self.dtype):
            outputs: torch.Tensor = self.network(**padded(ids, types, self.pad, self.device))
        return outputs[:, 0]


def crossed_network(recipe: RegressorRecipe, files: ModelFiles, first: float, runtime: Runtime) -> HeadNetwork:
    """The network on its device, ready to learn.

    Args:
        recipe: how it is trained, and which head it begins from.
        files: of the encoder.
        first: what the last bias begins at, unless an earlier regressor brings one.
        runtime: device and precision.

    Raises:
        InputError: the encoder is neither BERT nor MPNet; or the head to begin from is of another kind, on another
            encoder, or learnt scores in other units.
    """
    network = head_network(
        files,
        recipe.rank,
        recipe.alpha,
        recipe.encoder_dropout,
        recipe.schedule.seed,
        runtime.dtype == "bfloat16",
        outputs=1,
    )
    with torch.no_grad():
        network.classifier.bias.fill_(first)
    if recipe.init is not None:
        _begin(network, recipe.init, files, recipe.standardise)
    return network.to(torch_device(torch, runtime.device)).train()


def inherited(init: str, about: Mapping[str, str]) -> dict[str, str]:
    """The metadata of a head that began from another: what that one was shown, the new one has been shown, too.

    Args:
        init: the head that it began from.
        about: what its maker says.
    """
    head = _head(init)
    keys = {"trained_on_phenomena": ","}
    if head.get("criterion") is not None:  # ratings that people gave, of which every result has a note
        keys |= {"criterion": ", ", "data": "; "}
    found = {}
    for key, separator in keys.items():
        parts = [part for text in (about.get(key), head.get(key)) for part in (text or "").split(separator)]
        found[key] = separator.join(dict.fromkeys(part.strip() for part in parts if part.strip()))
    return {**about, **found, "init": str(beginning(init))}


def _begin(network: HeadNetwork, init: str, files: ModelFiles, standardise: bool) -> None:
    head = _head(init)
    if head.get("kind") == KIND:
        _begin_layer(network, head, standardise)
    begin_adapters(network.encoder, head, files)


def _head(init: str) -> Head:
    try:
        return find_head(init, "nli")
    except InputError:
        if HEADS.get(init) == "nli":
            raise
        return find_head(init, KIND)


def _begin_layer(network: HeadNetwork, head: Head, standardise: bool) -> None:
    """Take the last layer of an earlier regressor, which goes on in the units of its outputs."""
    found = RegressorFiles(head)
    if found.features != (BOTH,):
        raise InputError(
            f"head {head.path} has features {','.join(found.features)}, expected {BOTH}; begin from a head with these,"
            " or from an NLI head"
        )
    was = (found.number("target_mean", 0.0), found.number("target_sd", 1.0)) != (0.0, 1.0)
    if was != standardise:
        raise InputError(
            f"head {head.path} learnt {'standardised scores' if was else 'scores as they are'}; begin from it with"
            f" standardise {'on' if was else 'off'}"
        )
    own, _ = head.tensors()
    with torch.no_grad():
        for name, parameter in network.classifier.named_parameters():
            tensor = own.get(f"classifier.{name}")
            if tensor is None or tensor.shape != parameter.shape:
                what = "nothing" if tensor is None else f"shape {tuple(tensor.shape)}"
                raise InputError(
                    f"head {head.path} has {what} for classifier.{name}, expected shape {tuple(parameter.shape)}"
                )
            parameter.copy_(tensor)
