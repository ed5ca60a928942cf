"""Log-probabilities of the pieces of texts, from encoder-decoders and causal language models of transformers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers.modeling_outputs import BaseModelOutput

from nlgauge.core.arrays import Array
from nlgauge.models.generation.rows import Row
from nlgauge.models.hub import HubModel, know_start
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import by_length, runs

Index = npt.NDArray[np.int64]
# A batch holds a number for each piece of the vocabulary at each of its positions: on a CPU what stays near the core is
# fastest, on a GPU what fits beside the model.
_CPU_TOKENS, _GPU_TOKENS = 256, 8192
_ROWS = 32  # positions at a time over the whole vocabulary
_LIGHTER = 4  # how many given pieces weigh as much as one that is written
_IGNORED = -100  # the label of a position that transformers does not look at


class PairedNetwork(HubModel):
    """An encoder-decoder. Given texts are read in groups of equal length, each once, whatever is written after them."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForSeq2SeqLM", "is it a model that writes text?")
        self.batch_tokens = _CPU_TOKENS if device.type == "cpu" else _GPU_TOKENS
        know_start(self.model)

    def jobs(self, rows: Sequence[Row], budget: int) -> list[Index]:
        """Places of rows that are run together: given texts of equal length, at most `budget` pieces of them."""
        numbers: dict[bytes, int] = {}
        of = np.array([numbers.setdefault(row.given.tobytes(), len(numbers)) for row in rows], dtype=np.int64)
        lengths = np.zeros(len(numbers), dtype=np.int64)
        lengths[of] = [len(row.given) for row in rows]
        order = np.argsort(lengths, kind="stable")
        members = np.split(np.argsort(of, kind="stable"), np.cumsum(np.bincount(of, minlength=len(numbers)))[:-1])
        found = []
        for low, high in runs(lengths[order]):
            n = max(1, budget // int(lengths[order[low]]))
            found += [np.concatenate([members[g] for g in order[at : min(at + n, high)]]) for at in range(low, high, n)]
        return found

    def log_probabilities(self, rows: Sequence[Row], budget: int) -> list[Array]:
        """The log-probability of each piece of each text, for rows of one job."""
        givens = {row.given.tobytes(): row.given for row in rows}
        number = {key: n for n, key in enumerate(givens)}
        ids = torch.from_numpy(np.stack(list(givens.values()))).to(self.device)
        states = self.model.get_encoder()(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        found: list[Array] = [np.zeros(0)] * len(rows)
        width = ids.shape[1] // _LIGHTER  # each text looks at what it is given in every layer
        for batch in by_length([len(row.text) + width for row in rows], budget):
            texts = [rows[i].text for i in batch]
            # What stands behind a piece is not seen by it: texts of other lengths need no mask.
            labels = _padded(texts, _IGNORED).to(self.device)
            read = states[[number[rows[i].given.tobytes()] for i in batch]]
            out = self.model(
                encoder_outputs=BaseModelOutput(last_hidden_state=read),
                attention_mask=torch.ones(read.shape[:2], dtype=torch.int64, device=self.device),
                use_cache=False,
                **self._asked(labels),
            )
            for i, values in zip(batch, _chosen(out.logits, labels, texts), strict=True):
                found[i] = values
        return found

    def _asked(self, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The labels moved right, as each family does it; where only a loss does so, the labels themselves."""
        moved = getattr(self.model, "prepare_decoder_input_ids_from_labels", None)
        return {"labels": labels} if moved is None else {"decoder_input_ids": moved(labels=labels)}


class CausalNetwork(HubModel):
    """A causal language model. It reads the given text and the text as one."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForCausalLM", "is it a model that writes text?")
        self.batch_tokens = _CPU_TOKENS if device.type == "cpu" else _GPU_TOKENS

    def jobs(self, rows: Sequence[Row], budget: int) -> list[Index]:
        """Places of rows that are run together: of about equal length, at most `budget` pieces."""
        return list(by_length([len(row.given) + len(row.text) for row in rows], budget))

    def log_probabilities(self, rows: Sequence[Row], budget: int) -> list[Array]:
        """The log-probability of each piece of each text, for rows of one job."""
        whole = [np.concatenate([row.given, row.text]) for row in rows]
        ids = _padded(whole, 0).to(self.device)
        logits = self.model(input_ids=ids, attention_mask=torch.ones_like(ids), use_cache=False).logits
        found = _chosen(logits[:, :-1], ids[:, 1:], [row[1:] for row in whole])
        return [values[len(row.given) - 1 :] for row, values in zip(rows, found, strict=True)]


def _padded(sequences: Sequence[Ids], filler: int) -> torch.Tensor:
    """Sequences as one matrix, filled up on the right."""
    matrix = np.full((len(sequences), max(map(len, sequences))), filler, dtype=np.int64)
    for row, ids in zip(matrix, sequences, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(matrix)


def _chosen(logits: torch.Tensor, labels: torch.Tensor, sequences: Sequence[Ids]) -> list[Array]:
    """The log-probabilities of the labels, one array per sequence, in float64."""
    wide: Any = torch.promote_types(logits.dtype, torch.float32)
    at = labels.clamp_min(0)[..., None]
    chosen = logits.gather(2, at)[..., 0].to(wide).reshape(-1)
    rows = logits.reshape(-1, logits.shape[2])
    totals = torch.cat([rows[i : i + _ROWS].to(wide).logsumexp(1) for i in range(0, len(rows), _ROWS)])
    values = (chosen - totals).double().cpu().numpy().reshape(labels.shape)
    return [row[: len(ids)] for row, ids in zip(values, sequences, strict=True)]
