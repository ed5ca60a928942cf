"""How likely a text is under a model that writes text, perhaps given another text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.segment import is_blank, stripped
from nlgauge.models.encoder import dtype_and_device
from nlgauge.models.generation.files import GeneratorFiles
from nlgauge.models.generation.rows import CausalRows, PairedRows, Row
from nlgauge.runtime.runtime import Runtime

if TYPE_CHECKING:
    from nlgauge.models.generation.network import CausalNetwork, PairedNetwork

WHOLE = "{}"  # the template that changes nothing


@dataclass(frozen=True)
class Likelihoods:
    """A model's scores of n texts.

    Attributes:
        sums: the sum of the log-probabilities of the pieces that count, shape (n,), float64; 0 for a blank row.
        counts: how many pieces count, shape (n,).
        truncated: whether a text was cut, shape (n,).
        unknown: the higher share of unknown pieces in one of the two texts, shape (n,).
        blank: whether one of the two texts has no piece, shape (n,).
    """

    sums: Array
    counts: Array
    truncated: Mask
    unknown: Array
    blank: Mask


@dataclass(frozen=True)
class Generator:
    """A model that writes text, with what is told to it.

    Attributes:
        found: the files of the model.
        runtime: device, token budget, loaded models.
        dtype: the precision of weights and activations.
        max_tokens: a lower limit than the model's own.
        template: a text in which `{}` stands for the given text.
        counts_frame: whether pieces count that stand around the text itself and its end, such as BART's <s> or the tag
            of a language.
        language, given_language: codes of the languages of the text and of the given text, for tokenizers that mark
            them.
    """

    found: GeneratorFiles
    runtime: Runtime
    dtype: str = "float32"
    max_tokens: int | None = None
    template: str = WHOLE
    counts_frame: bool = True
    language: str | None = None
    given_language: str | None = None

    def likelihoods(
        self, pairs: Sequence[tuple[str | None, str]], advance: Callable[[int], None] = lambda count: None
    ) -> Likelihoods:
        """The likelihood of the second text of each pair, given the first.

        Equal pairs are asked once. What an encoder-decoder is given, it reads once.

        Args:
            pairs: n pairs of a given text and a text; None in place of a given text for a causal model alone.
            advance: called with the number of different pairs that are done.
        """
        number = {pair: n for n, pair in enumerate(dict.fromkeys(pairs))}
        rows = self._rows([(self._told(given), text) for given, text in number])
        asked = np.flatnonzero([not row.blank for row in rows])
        advance(len(rows) - len(asked))
        sums = np.zeros(len(rows))
        counts = np.array([len(row.text[self._counted(row)]) for row in rows], dtype=np.float64)
        if len(asked):
            from nlgauge.models.workers import side_by_side

            network = self._network()
            budget = self.runtime.token_budget or network.batch_tokens
            jobs = network.jobs([rows[i] for i in asked], budget)

            def work(job: np.ndarray) -> list[Array]:
                return network.log_probabilities([rows[i] for i in asked[job]], budget)

            for job, found in zip(jobs, side_by_side(work, jobs, network.device), strict=True):
                for i, values in zip(asked[job], found, strict=True):
                    sums[i] = values[self._counted(rows[i])].sum()
                advance(len(job))
        places = np.array([number[pair] for pair in pairs], dtype=np.int64)
        cut, blank = (
            np.array([getattr(row, name) for row in rows], dtype=np.bool_)[places] for name in ("truncated", "blank")
        )
        shares = np.array([row.unknown for row in rows], dtype=np.float64)
        return Likelihoods(sums[places], counts[places], cut, shares[places], blank)

    def _told(self, given: str | None) -> str | None:
        return given if given is None or is_blank(given) else self.template.replace(WHOLE, stripped(given))

    def _counted(self, row: Row) -> slice:
        return slice(None) if self.counts_frame else row.own

    def _rows(self, pairs: Sequence[tuple[str | None, str]]) -> list[Row]:
        if not self.found.paired:
            return self._causal().rows(pairs)
        whole = [(given or "", text) for given, text in pairs]
        return self._paired(self.language).rows(whole, self._paired(self.given_language or self.language))

    def _causal(self) -> CausalRows:
        key = ("causal rows", self.found.files, self.max_tokens)
        return self.runtime.once(key, lambda: CausalRows(self.found, self.max_tokens))

    def _paired(self, language: str | None) -> PairedRows:
        key = ("paired rows", self.found.files, self.max_tokens, language)
        return self.runtime.once(key, lambda: PairedRows(self.found, self.max_tokens, language))

    def _network(self) -> PairedNetwork | CausalNetwork:
        key = ("generator", self.found.files, self.dtype, self.runtime.device)
        return self.runtime.once(key, self._loaded)

    def _loaded(self) -> PairedNetwork | CausalNetwork:
        kind, where = dtype_and_device(self.dtype, self.runtime.device, f"model {self.found.files.name!r}")
        from nlgauge.models.generation.network import CausalNetwork, PairedNetwork

        return (PairedNetwork if self.found.paired else CausalNetwork)(self.found.files, kind, where)
