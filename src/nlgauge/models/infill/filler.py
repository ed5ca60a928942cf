"""Words for gaps from a model: masked language models and denoising encoder-decoders, behind one `fill`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.models.encoder import dtype_and_device
from nlgauge.models.infill.files import DEFAULT, InfillFiles, locate_infill
from nlgauge.models.infill.gaps import Filler, Gap
from nlgauge.models.infill.pieces import PieceTokenizer, Placed
from nlgauge.models.infill.spelling import Spelling, stands
from nlgauge.models.lazy import LazyModel
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime, by_length, margin

if TYPE_CHECKING:
    from nlgauge.models.infill.masked import MaskedNetwork

HALF = ("bfloat16", "float16")  # logits have two or three digits there, and many of the best words the same


class InfillModel(Protocol):
    """A model that fills gaps: an `Infill` with a name and with facts for signatures.

    Attributes:
        name: the name that the user gave.
        phrases: whether the model fills a gap with any number of words. If not, it fills it with one word.
    """

    name: str
    phrases: bool

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """See `Infill.fill`."""
        ...

    def facts(self) -> dict[str, Any]:
        """The facts that identify the model, for a signature."""
        ...


def load_infill(
    model: str = DEFAULT,
    revision: str | None = None,
    dtype: str = "float32",
    runtime: Runtime | None = None,
    *,
    sampled: bool = False,
    language: str | None = None,
) -> InfillModel:
    """Load a model for gaps. A runtime holds one copy per precision, whose weights are read when it first fills a gap.

    Args:
        model: see `locate_infill`.
        revision: see `locate_infill`.
        dtype: precision of weights and activations.
        runtime: device, token budget, loaded models. If None, a new runtime is made.
        sampled: let a denoiser draw its phrases with the runtime's seed, instead of searching for the likeliest ones.
        language: the code of the language of the texts as the tokenizer of a denoiser of many languages spells it
            (`de_DE` for mBART). A masked language model takes none.

    Raises:
        InputError: see `locate_infill`. Also if the tokenizer of a masked language model has no mask token.
        MissingExtra: torch is not installed.
    """
    runtime = runtime or Runtime()
    dtype = runtime.precision(dtype)
    infill_files = locate_infill(model, revision)
    if infill_files.phrases:
        from nlgauge.models.infill.denoise import Denoiser

        return Denoiser(
            infill_files,
            lambda: runtime.once(
                _key(infill_files, dtype, runtime), lambda: _seq2seq(infill_files.files, dtype, runtime.device)
            ),
            dtype,
            runtime,
            sampled=sampled,
            language=language,
        )
    if language is not None:
        raise InputError(f"model {model!r} marks no languages; leave language out")
    return masked_model(infill_files, dtype, runtime)


def masked_model(found: InfillFiles, dtype: str, runtime: Runtime, max_tokens: int | None = None) -> MaskedModel:
    """Load a masked language model; see `load_infill`.

    Args:
        found: its files, which are of no denoiser.
        dtype: precision of weights and activations.
        runtime: device, token budget, loaded models.
        max_tokens: the largest number of pieces of a text; None takes the limit of the model.
    """
    limit = found.max_tokens(max_tokens)
    tokenizer = runtime.once(("piece tokenizer", found.files, limit), lambda: PieceTokenizer(found.files, limit))
    if tokenizer.mask is None:
        raise InputError(
            f"model {found.name!r} has no mask token, which a masked language model is asked with; choose another"
        )
    key = _key(found, dtype, runtime)

    def load() -> MaskedNetwork:
        return runtime.once(key, lambda: _network(found, dtype, runtime.device))

    return MaskedModel(found, tokenizer, load, dtype, runtime)


def _key(found: InfillFiles, dtype: str, runtime: Runtime) -> tuple[object, ...]:
    """The key of a network in a runtime."""
    return "infill", found.files, None if found.head is None else found.head.identity, dtype, runtime.device


class MaskedModel(LazyModel[InfillFiles, PieceTokenizer, "MaskedNetwork"]):
    """A masked language model. It fills each gap with one word, which is a single piece of its vocabulary."""

    phrases = False

    def __init__(
        self,
        found: InfillFiles,
        tokenizer: PieceTokenizer,
        load: Callable[[], MaskedNetwork],
        dtype: str,
        runtime: Runtime,
    ) -> None:
        super().__init__(found, tokenizer, load, runtime.token_budget)
        self.name, self.dtype = found.name, dtype

    def facts(self) -> dict[str, Any]:
        """See `InfillModel`."""
        return {"dtype": self.dtype, **self.found.facts()}

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """Words for each gap, best first. The score is the log-probability among all pieces.

        A text longer than the model's limit is read in a window around the gap. If a model knows no capitals, its words
        get one at the beginning of a sentence, and if they are mostly written with one.

        The words and their order do not depend on the other gaps, but the last digits of the scores do: batches of
        other shapes may add numbers in another order. So if two words fit almost equally well, the gap is run once
        more, alone and on one core. In half precision this would happen for nearly every gap, so each gap is run alone
        from the start.
        """
        number = {gap: i for i, gap in enumerate(dict.fromkeys(Gap(*gap) for gap in gaps))}
        distinct = list(number)
        texts = list(dict.fromkeys(gap.text for gap in distinct))
        placed = dict(zip(texts, self.tokenizer.place(texts), strict=True))
        found: list[list[Filler]] = [[]] * len(distinct)
        if distinct and k > 0:
            self._run(distinct, [self._framed(gap, placed[gap.text]) for gap in distinct], k, found)
        return [list(found[number[gap]]) for gap in gaps]

    @cached_property
    def spelling(self) -> Spelling:
        """Which pieces fit in which place, and how they are written there."""
        capital = None
        if self.found.head is not None:
            capital = self.found.head.tensors()[0].get("capital")
        return Spelling.of(self.tokenizer, None if capital is None else capital.numpy().astype(np.uint8))

    def _framed(self, gap: Gap, placed: Placed) -> tuple[Ids, int]:
        """The pieces of a text with a mask in the gap, and the position of the mask."""
        tokenizer = self.tokenizer
        blank = placed.starts == placed.ends
        left = placed.ids[: _last(placed, gap.start, blank)]
        right = placed.ids[np.flatnonzero((placed.starts >= gap.end) & ~(blank & (placed.ends <= gap.end)))]
        if tokenizer.max_tokens is not None:
            room = tokenizer.max_tokens - len(tokenizer.prefix) - len(tokenizer.suffix) - 1
            n_right = min(len(right), max(room - len(left), room // 2))
            left, right = left[max(0, len(left) - (room - n_right)) :], right[:n_right]
        assert tokenizer.mask is not None
        ids = np.concatenate([tokenizer.prefix, left, [tokenizer.mask], right, tokenizer.suffix]).astype(np.int64)
        return ids, len(tokenizer.prefix) + len(left)

    def _run(self, gaps: Sequence[Gap], framed: Sequence[tuple[Ids, int]], k: int, found: list[list[Filler]]) -> None:
        from nlgauge.models.workers import side_by_side

        network, spelling = self.network, self.spelling
        where = [stands(gap) for gap in gaps]

        def work(batch: Ids) -> list[tuple[list[tuple[int, float]], float]]:
            said = network.at([framed[i][0] for i in batch], [framed[i][1] for i in batch])
            return [spelling.best(row, where[i], k) for i, row in zip(batch, said, strict=True)]

        def run(batches: Sequence[Ids], one_core: bool) -> list[int]:
            """Fill the gaps of these batches, and return which of them were close calls."""
            close = []
            done = side_by_side(work, batches, network.device, one_core=one_core)
            for batch, best in zip(batches, done, strict=True):
                for i, (fillers, least) in zip(batch, best, strict=True):
                    found[i] = [Filler(spelling.written(piece, gaps[i], where[i]), score) for piece, score in fillers]
                    if least < margin(self.dtype):
                        close.append(int(i))
            return close

        left = list(range(len(gaps)))
        if self.dtype not in HALF:
            left = run(list(by_length([len(ids) for ids, _ in framed], self.budget or network.batch_tokens)), False)
        run([np.array([i]) for i in left], True)


def _last(placed: Placed, start: int, blank: np.ndarray) -> int:
    """The number of pieces before a gap. A blank directly before the gap belongs to the mask."""
    n = int(np.searchsorted(placed.ends, start, side="right"))
    while n and blank[n - 1]:
        n -= 1
    return n


def _network(found: InfillFiles, dtype: str, device: str) -> MaskedNetwork:
    kind, where = dtype_and_device(dtype, device, f"model {found.name!r}")
    from nlgauge.models.infill.masked import headed_mask, masked_network

    found.files.check()
    return masked_network(found.files, kind, where) if found.head is None else headed_mask(found.head, kind, where)


def _seq2seq(files: ModelFiles, dtype: str, device: str) -> Any:
    from nlgauge.models.seq2seq import Seq2Seq

    return Seq2Seq(files, dtype, device)
