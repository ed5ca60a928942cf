"""Masked language models asked: for words that fill a gap, for masked pieces, and how well a text fits itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.generation import Likelihoods
from nlgauge.models.infill import DEFAULT, Denoiser, Filler, Gap, InfillFiles, PieceTokenizer, Placed, locate_infill
from nlgauge.models.locate import LazyModel
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime, by_length, dtype_and_device, margin

if TYPE_CHECKING:
    import torch

    from nlgauge.models.networks import MaskedNetwork


_CLOSING = "\"'”’»)]}*_ "
_ENDS = ".!?…:。！？"
_APOSTROPHES = "'’"
_MORE = 2  # times k: as many are looked at, since two pieces may be one word (with and without the blank before it)


def stands(gap: Gap) -> tuple[str, bool]:
    """Where a gap is, judged from the text before it, and whether it replaces a word or lies between words.

    Returns:
        The place: `first` at the beginning of the text, `word` after a blank, `inside` after an opening mark such as a
        quotation mark, `behind` after a letter; and whether a sentence begins at the gap.
    """
    before = gap.text[: gap.start]
    left = before.rstrip()
    sentence = (
        not left.strip(_CLOSING + "([{“‘«„-–—¿¡")
        or left.rstrip(_CLOSING)[-1:] in tuple(_ENDS)
        or "\n" in before[len(left) :]
    )
    if not left:
        return "first", True
    if before[-1].isspace() or (
        gap.start == gap.end and (before[-1].isalnum() or gap.text[gap.end : gap.end + 1].isspace())
    ):
        return "word", sentence
    return "behind" if before[-1].isalnum() else "inside", sentence


@dataclass(frozen=True, eq=False)
class Spelling:
    """How the pieces of one vocabulary are written.

    Attributes:
        bare: the text of each piece; empty for a piece that is never a word.
        fit: for each place that `stands` tells, whether a piece can be a word there, shape (V,).
        uncased: whether the model writes only small letters.
        capital: whether a piece is always written with a first capital, and whether always in capitals, shape (2, V);
            None if that is not known.
    """

    bare: list[str]
    fit: Mapping[str, npt.NDArray[np.bool_]]
    uncased: bool
    capital: npt.NDArray[np.bool_] | None

    @classmethod
    def of(cls, tokenizer: PieceTokenizer, bits: npt.NDArray[np.uint8] | None = None) -> Spelling:
        """The spelling of a tokenizer's pieces. `bits` are the packed capitals of a head, shape (2, V / 8)."""
        bare, goes_on = tokenizer.bare, tokenizer.continues
        is_text = np.array([bool(word) for word in bare])
        capital = None if bits is None else np.unpackbits(bits, axis=1, count=len(bare)).astype(bool)
        if not tokenizer.is_marked:
            return cls(
                bare,
                dict.fromkeys(("first", "word", "inside", "behind"), is_text & ~goes_on),
                tokenizer.uncased,
                capital,
            )
        sign = np.array([bool(word) and not any(c.isalnum() for c in word) for word in bare])
        clitic = np.array([word[:1] in tuple(_APOSTROPHES) for word in bare])
        begins_marked = not goes_on[tokenizer.place(["a"])[0].ids[0]]
        word, rest = is_text & (~goes_on | sign), is_text & goes_on
        fit = {
            "first": word if begins_marked else is_text,
            "word": word,
            "inside": rest,
            "behind": rest & (sign | clitic),
        }
        return cls(bare, fit, tokenizer.uncased, capital)

    def best(self, said: torch.Tensor, place: str, k: int) -> tuple[list[tuple[int, float]], float]:
        """The k best pieces that fit, each word once, with their scores, and the smallest difference between scores.

        That difference is taken over all scores that decide which pieces are chosen, and in which order.

        Args:
            said: a score for each piece, shape (V,).
            place: where the gap is, as `stands` tells.
            k: the number of pieces.
        """
        import torch

        places = torch.from_numpy(np.flatnonzero(self.fit[place][: len(said)])).to(said.device)
        top, order = said[places].topk(min(_MORE * k + 1, len(places)))
        scores, pieces = top.tolist(), places[order].tolist()
        found: dict[str, tuple[int, float]] = {}
        seen = 0
        while len(found) < k and seen < min(_MORE * k, len(pieces)):
            found.setdefault(self.bare[pieces[seen]], (pieces[seen], scores[seen]))
            seen += 1
        # The order of those that were looked at, and that the next one is none of them.
        least = min((high - low for high, low in pairwise(scores[: seen + 1])), default=float("inf"))
        return list(found.values()), least

    def written(self, piece: int, gap: Gap, sentence: bool) -> str:
        """A piece written as a word of the text, which may begin a sentence.

        A model that knows capitals has written them itself.
        """
        word, old = self.bare[piece], gap.text[gap.start : gap.end]
        if not self.uncased:
            return word
        if gap.text.isupper() and len(gap.text) > len(word):  # a headline
            return word.upper()
        if self.capital is not None and self.capital[1][piece]:
            return word.upper()
        if self.capital is not None and self.capital[0][piece]:
            return word[:1].upper() + word[1:]
        # Which words are names is known from a head's training, or else from what stood there.
        was_capital = (old or gap.text[gap.end :].lstrip())[:1].isupper() and (
            sentence or (bool(old) and self.capital is None)
        )
        return word[:1].upper() + word[1:] if was_capital else word


# --- Words for gaps from a model: masked language models and denoising encoder-decoders, behind one `fill`

Answer = TypeVar("Answer")
HALF = ("bfloat16", "float16")  # logits have two or three digits there, and many of the best words the same


def load_infill(
    model: str = DEFAULT,
    revision: str | None = None,
    dtype: str = "float32",
    runtime: Runtime | None = None,
    *,
    language: str | None = None,
) -> MaskedModel | Denoiser:
    """Load a model for gaps. A runtime holds one copy per precision, whose weights are read when it first fills a gap.

    Args:
        model: see `locate_infill`.
        revision: see `locate_infill`.
        dtype: precision of weights and activations.
        runtime: device, token budget, loaded models. If None, a new runtime is made.
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

        def read() -> Any:
            from nlgauge.models.generation import Seq2Seq

            return Seq2Seq(infill_files.files, dtype, runtime.device)

        key = _key(infill_files, dtype, runtime)
        load = partial(runtime.once, key, read)
        return Denoiser(infill_files, load, dtype, runtime, language=language)
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
        """The facts that identify the model, for a signature."""
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
            found = self._filled(distinct, [self._framed(gap, placed[gap.text]) for gap in distinct], k)
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

    def _filled(self, gaps: Sequence[Gap], framed: Sequence[tuple[Ids, int]], k: int) -> list[list[Filler]]:
        network, spelling = self.network, self.spelling
        where = [stands(gap) for gap in gaps]

        def work(batch: Ids) -> list[tuple[list[tuple[int, float]], float]]:
            said = network.at([framed[i][0] for i in batch], [framed[i][1] for i in batch])
            return [spelling.best(row, where[i][0], k) for i, row in zip(batch, said, strict=True)]

        found = self.decided(work, [len(ids) for ids, _ in framed], self.budget)
        return [
            [Filler(spelling.written(piece, gap, sentence), score) for piece, score in fillers]
            for gap, (_, sentence), fillers in zip(gaps, where, found, strict=True)
        ]

    def decided(
        self,
        work: Callable[[Ids], Sequence[tuple[Answer, float]]],
        lengths: Sequence[int],
        budget: int | None,
        advance: Callable[[int], None] = lambda count: None,
    ) -> list[Answer]:
        """The answer to each sequence, which does not hang on the other sequences.

        A close call is run once more, alone and on one core; in half precision, where most calls are close, each
        sequence is run alone from the start.

        Args:
            work: answers to a batch, each with how clear it is: the smallest difference that decided it.
            lengths: the number of pieces of each sequence.
            budget: the largest number of tokens in a batch; None is left to the model.
            advance: called with the number of sequences done.
        """
        from nlgauge.models.hub import side_by_side

        found: dict[int, Answer] = {}
        device = self.network.device

        def run(batches: Sequence[Ids], one_core: bool) -> list[int]:
            """Run these batches, and return which of their sequences were close calls."""
            close = []
            done = side_by_side(work, batches, device, one_core=one_core)
            for batch, answers in zip(batches, done, strict=True):
                for i, (answer, least) in zip(batch.tolist(), answers, strict=True):
                    found[i] = answer
                    if least < margin(self.dtype):
                        close.append(i)
                advance(0 if one_core else len(batch))
            return close

        left = list(range(len(lengths)))
        if self.dtype in HALF:
            advance(len(left))
        else:
            left = run(list(by_length(lengths, budget or self.network.batch_tokens)), False)
        run([np.array([i]) for i in left], True)
        return [found[i] for i in range(len(lengths))]


def _last(placed: Placed, start: int, blank: np.ndarray) -> int:
    """The number of pieces before a gap. A blank directly before the gap belongs to the mask."""
    n = int(np.searchsorted(placed.ends, start, side="right"))
    while n and blank[n - 1]:
        n -= 1
    return n


def _network(found: InfillFiles, dtype: str, device: str) -> MaskedNetwork:
    kind, where = dtype_and_device(dtype, device, f"model {found.name!r}")
    from nlgauge.models.networks import headed_mask, masked_network

    found.files.check()
    return masked_network(found.files, kind, where) if found.head is None else headed_mask(found.head, kind, where)


# --- Cloze questions: is the piece that was masked the one that a masked language model finds likeliest?


class Cloze(NamedTuple):
    """A sequence in which pieces are asked for.

    Attributes:
        ids: the pieces with special tokens and masks, shape (T,).
        places: the positions that are asked for, ascending, shape (k,).
        answers: the pieces that belong there, shape (k,).
    """

    ids: Ids
    places: Ids
    answers: Ids


def leads(
    model: MaskedModel,
    clozes: Sequence[Cloze],
    budget: int | None = None,
    advance: Callable[[int], None] = lambda n: None,
) -> list[Array]:
    """How much likelier each answer is than any other piece: the difference of their logits, each of shape (k,).

    An answer with a lead above 0 is the model's first choice. Whether it is above 0 does not depend on the other
    sequences, although the last digits do; see `MaskedModel.decided`.

    Args:
        model: a masked language model.
        clozes: any number of sequences, each with at least one position. Equal ones are run once.
        budget: the largest number of tokens in a batch; None is left to the model.
        advance: called with the number of sequences done.
    """
    number: dict[tuple[bytes, bytes], int] = {}
    distinct: list[Cloze] = []
    places = []
    for cloze in clozes:
        place = number.setdefault((cloze.ids.tobytes(), cloze.answers.tobytes()), len(number))
        places.append(place)
        if place == len(distinct):
            distinct.append(cloze)
    advance(len(clozes) - len(distinct))
    found = _run(model, distinct, budget, advance) if distinct else []
    return [found[place] for place in places]


def _run(
    model: MaskedModel, clozes: Sequence[Cloze], budget: int | None, advance: Callable[[int], None]
) -> list[Array]:
    network = model.network  # says that torch is missing, if it is
    import torch

    def work(batch: Ids) -> list[tuple[Array, float]]:
        asked = [clozes[i] for i in batch]
        counts = [len(cloze.places) for cloze in asked]
        rows = np.repeat(np.arange(len(asked)), counts)
        logits = network.logits([cloze.ids for cloze in asked], rows, np.concatenate([c.places for c in asked]))
        answers = torch.from_numpy(np.concatenate([c.answers for c in asked])).to(logits.device)[:, None]
        own = logits.gather(1, answers)[:, 0]
        others = logits.scatter(1, answers, -torch.inf).amax(dim=1)
        values = (own - others).cpu().double().numpy()
        found = np.split(values, np.cumsum(counts)[:-1])
        return [(lead, float(np.fmin.reduce(np.abs(lead)))) for lead in found]

    return model.decided(work, [len(cloze.ids) for cloze in clozes], budget, advance)


# --- How well the pieces of a text fit each other: each is masked in turn, and a masked language model asked for it
# References:
#     Salazar et al. (2020), "Masked Language Model Scoring", section 2 (pseudo-log-likelihood).


def pseudo_likelihoods(
    model: MaskedModel, texts: Sequence[str], advance: Callable[[float], None] = lambda count: None
) -> Likelihoods:
    """The pseudo-log-likelihood of each text, of each piece given all others: as many passes as it has pieces.

    Args:
        model: the model.
        texts: n texts. A text beyond the model's limit is cut.
        advance: called with the number of texts done, in parts of texts.
    """
    tokenizer = model.tokenizer
    tokens = tokenizer.tokens(texts)
    counts = np.array([text.n_content for text in tokens], dtype=np.int64)
    owners = np.repeat(np.arange(len(tokens)), counts)
    places = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts) + len(tokenizer.prefix)
    found = np.zeros(len(owners))
    if len(owners):
        from nlgauge.models.hub import side_by_side

        network, mask = model.network, tokenizer.mask
        assert mask is not None
        lengths = np.array([len(tokens[i].ids) for i in owners], dtype=np.int64)
        batches = list(by_length(lengths, model.budget or network.batch_tokens))

        def work(batch: Ids) -> Array:
            rows = [tokens[i].ids.copy() for i in owners[batch]]
            wanted = np.array([row[place] for row, place in zip(rows, places[batch], strict=True)], dtype=np.int64)
            for row, place in zip(rows, places[batch], strict=True):
                row[place] = mask
            said = network.at(rows, places[batch].tolist())
            values: Array = said[np.arange(len(batch)), wanted].double().cpu().numpy()
            return values

        for batch, values in zip(batches, side_by_side(work, batches, network.device), strict=True):
            found[batch] = values
            advance(float((1 / counts[owners[batch]]).sum()))
    sums = np.zeros(len(tokens))
    np.add.at(sums, owners, found)
    truncated = np.array([text.truncated for text in tokens], dtype=np.bool_)
    shares = tokenizer.unknown_shares(tokenizer.content(text) for text in tokens)
    return Likelihoods(sums, counts.astype(np.float64), truncated, shares, counts == 0)
