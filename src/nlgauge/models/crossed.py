"""A regressor that reads hypothesis and reference in one sequence, so that each sees the other in every layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.encoder import dtype_and_device
from nlgauge.models.lazy import LazyModel
from nlgauge.models.pairs import PairTokenizer
from nlgauge.models.regressor_files import Ratings, RegressorFiles
from nlgauge.runtime.runtime import Advance, Runtime, by_length

if TYPE_CHECKING:
    from nlgauge.models.classifiers import Classifier


class CrossedRegressor(LazyModel[RegressorFiles, PairTokenizer, "Classifier"]):
    """A head with one output on an encoder that reads two texts. The reference stands first, as a premise does."""

    def score(self, texts: Mapping[str, Sequence[str]], advance: Advance = lambda count: None) -> Ratings:
        """Scores of n segments; see `nlgauge.models.regressor.Regressor.score`."""
        pairs = [(ref.strip(), hyp.strip()) for hyp, ref in zip(texts["hyp"], texts["ref"], strict=True)]
        distinct = list(dict.fromkeys(pairs))
        if not distinct:
            return Ratings(np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0), np.zeros(0, dtype=np.bool_))
        contents = self.tokenizer.read(text for pair in distinct for text in pair)
        prepared = self.tokenizer.pairs(distinct, contents)
        shares = dict(zip(contents, self.tokenizer.unknown_shares(contents.values()), strict=True))
        values, network = np.zeros(len(distinct)), self.network
        done, n_texts = 0.0, len(contents)

        def work(batch: npt.NDArray[np.int64]) -> Array:
            ids, types = zip(*(prepared.ids(int(i)) for i in batch), strict=True)
            logits = network.logits(ids, types)
            if logits.shape[1] != 1:
                raise InputError(
                    f"regressor {self.found.head.path}: its last layer gives {logits.shape[1]} numbers, expected one"
                )
            return np.asarray(logits[:, 0].double().numpy())

        from nlgauge.models.workers import side_by_side

        batches = list(by_length(prepared.lengths, self.budget or network.batch_tokens))
        for batch, found in zip(batches, side_by_side(work, batches, network.device), strict=True):
            values[batch] = found
            before, done = done, done + len(batch) * n_texts / len(distinct)
            advance(int(done) - int(before))
        advance(n_texts - int(done))
        values = values * self.found.number("target_sd", 1.0) + self.found.number("target_mean", 0.0)
        number = {pair: i for i, pair in enumerate(distinct)}
        places = np.array([number[pair] for pair in pairs], dtype=np.int64)
        return Ratings(
            values[places],
            prepared.truncated[places],
            np.array([max(shares[ref], shares[hyp]) for ref, hyp in pairs]),
            np.array([not (len(contents[ref]) and len(contents[hyp])) for ref, hyp in pairs], dtype=np.bool_),
        )


def load_crossed(found: RegressorFiles, dtype: str, runtime: Runtime, max_tokens: int | None) -> CrossedRegressor:
    """Load a regressor that reads both texts in one sequence. A runtime holds one copy per precision.

    Raises:
        InputError: see `locate_regressor`; or the encoder is not of BERT's family.
        MissingExtra: torch is not installed.
    """
    head, limit = found.head, found.max_tokens(max_tokens)
    tokenizer = runtime.once(("pair tokenizer", head.encoder, limit), lambda: PairTokenizer(head.encoder, limit))
    key = ("crossed", head.identity, head.encoder, dtype, runtime.device)
    return CrossedRegressor(
        found, tokenizer, lambda: runtime.once(key, lambda: _network(found, dtype, runtime)), runtime.token_budget
    )


def _network(found: RegressorFiles, dtype: str, runtime: Runtime) -> Classifier:
    kind, where = dtype_and_device(dtype, runtime.device, f"regressor {found.head.name!r}")
    from nlgauge.models.classifiers import headed

    found.head.encoder.check()
    return headed(found.head, kind, where)
