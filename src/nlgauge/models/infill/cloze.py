"""Cloze questions: is the piece that was masked the one that a masked language model finds likeliest?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.models.infill.filler import HALF, MaskedModel
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import by_length, margin


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
    sequences, although the last digits do: a sequence with a close call is run once more, alone and on one core, and in
    half precision, where most calls are close, each sequence is run alone from the start.

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

    from nlgauge.models.workers import side_by_side

    def work(batch: Ids) -> Array:
        asked = [clozes[i] for i in batch]
        rows = np.repeat(np.arange(len(asked)), [len(cloze.places) for cloze in asked])
        logits = network.logits([cloze.ids for cloze in asked], rows, np.concatenate([c.places for c in asked]))
        answers = torch.from_numpy(np.concatenate([c.answers for c in asked])).to(logits.device)[:, None]
        own = logits.gather(1, answers)[:, 0]
        others = logits.scatter(1, answers, -torch.inf).amax(dim=1)
        return np.asarray((own - others).cpu().double().numpy())

    found: list[Array] = [np.zeros(0)] * len(clozes)

    def run(batches: Sequence[Ids], one_core: bool) -> list[int]:
        """Run these batches, and return which of their sequences were close calls."""
        close = []
        done = side_by_side(work, batches, network.device, one_core=one_core)
        for batch, values in zip(batches, done, strict=True):
            ends = np.cumsum([len(clozes[i].places) for i in batch])
            for i, lead in zip(batch.tolist(), np.split(values, ends[:-1]), strict=True):
                found[i] = lead
                if (np.abs(lead) < margin(model.dtype)).any():
                    close.append(i)
            advance(0 if one_core else len(batch))
        return close

    if model.dtype in HALF:
        left = list(range(len(clozes)))
        advance(len(clozes))
    else:
        lengths = [len(cloze.ids) for cloze in clozes]
        left = run(list(by_length(lengths, budget or network.batch_tokens)), False)
    run([np.array([i]) for i in left], True)
    return found
