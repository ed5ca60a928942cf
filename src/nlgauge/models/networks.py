"""Networks: classifiers of sequences, masked language models, encoder-decoders and causal ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.attention import to_device
from nlgauge.models.heads import Head
from nlgauge.models.hub import HubModel, know_start
from nlgauge.models.locate import ModelFiles, is_read
from nlgauge.models.packing import PackedBert, below
from nlgauge.models.tokens import Ids, Row
from nlgauge.runtime.runtime import by_length, runs

# The model classes whose head is written here -> dense layer behind the first token, classifier.
_OWN = {
    "BertForSequenceClassification": ("pooler.dense", "classifier"),
    "RobertaForSequenceClassification": ("classifier.dense", "classifier.out_proj"),
    "XLMRobertaForSequenceClassification": ("classifier.dense", "classifier.out_proj"),
    "DebertaForSequenceClassification": ("pooler.dense", "classifier"),
    "DebertaV2ForSequenceClassification": ("pooler.dense", "classifier"),
}
# What follows the dense layer; the key is what DeBERTa's configuration calls it.
_AFTER: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {"gelu": functional.gelu, "tanh": torch.tanh}


def classifier(files: ModelFiles, dtype: torch.dtype, device: torch.device) -> Classifier:
    """The classifier of a checkpoint.

    Raises:
        InputError: the weights do not fill the model, or transformers cannot load them.
    """
    config = files.config
    kind = str((config.get("architectures") or [None])[0])
    after = str(config.get("pooler_hidden_act", "gelu")) if kind.startswith("Deberta") else "tanh"
    if kind in _OWN and after in _AFTER and is_read(config):
        network = PackedBert(files, dtype, device)
        dense, out = ((network.tensor(f"{name}.weight"), network.tensor(f"{name}.bias")) for name in _OWN[kind])
        return PackedClassifier(network, files.depth, (dense,), out, mean=False, after=_AFTER[after])
    return HubClassifier(files, dtype, device)


def headed(head: Head, dtype: torch.dtype, device: torch.device) -> Classifier:
    """The classifier of a head over its encoder.

    Raises:
        InputError: the encoder is not of BERT's family, or the tensors do not fit it.
    """
    network, own = below(head, dtype, device)
    hidden = (_layer(head, own, "hidden"),) if "hidden.weight" in own else ()
    return PackedClassifier(network, head.encoder.depth, hidden, _layer(head, own, "classifier"), mean=True)


def _layer(head: Head, tensors: Mapping[str, torch.Tensor], name: str) -> tuple[torch.Tensor, torch.Tensor]:
    for part in ("weight", "bias"):
        if f"{name}.{part}" not in tensors:
            raise InputError(f"head {head.path} holds no {name}.{part}")
    return tensors[f"{name}.weight"], tensors[f"{name}.bias"]


class PackedClassifier:
    """Layers on top of the encoder's last layer. Their input is the first vector, perhaps with the mean of all vectors.

    Args:
        network: the encoder.
        depth: the encoder's number of layers.
        hidden: weight and bias of each hidden layer.
        out: weight and bias of the last layer.
        mean: whether the mean is part of the input.
        after: what follows a hidden layer.
    """

    def __init__(
        self,
        network: PackedBert,
        depth: int,
        hidden: Sequence[tuple[torch.Tensor, torch.Tensor]],
        out: tuple[torch.Tensor, torch.Tensor],
        *,
        mean: bool,
        after: Callable[[torch.Tensor], torch.Tensor] = torch.tanh,
    ) -> None:
        self.network, self.depth, self.mean, self._after = network, depth, mean, after
        self.device, self.batch_tokens = network.device, network.batch_tokens
        # What is small is computed precisely, in half precision too.
        self._wide = torch.promote_types(network.dtype, torch.float32)
        self._hidden = [self._placed(layer) for layer in hidden]
        self._out = self._placed(out)
        width = network.width * (2 if mean else 1)
        for weight, _ in (*self._hidden, self._out):
            if weight.shape[1] != width:
                raise InputError(
                    f"model {network.files.name!r}: a layer of its head takes {weight.shape[1]} numbers, expected"
                    f" {width}"
                )
            width = weight.shape[0]

    def logits(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """Logits of sequences sorted by length, shape (n, labels), in CPU memory. Several threads may call it."""
        return self.classify(self.pooled(ids, types)).cpu()

    def classify(self, features: torch.Tensor) -> torch.Tensor:
        """Logits of what `pooled` gives, shape (n, labels)."""
        for weight, bias in self._hidden:
            features = self._after(functional.linear(features, weight, bias))
        return functional.linear(features, *self._out)

    def pooled(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """What the layers on top read of sequences sorted by length, shape (n, d), or (n, 2 d) with the mean."""
        with self.network.cut(self.depth) as forward:
            states = forward(ids, types)
        found, row = [], 0
        for low, high in runs([len(i) for i in ids]):
            n, length = high - low, len(ids[low])
            block = states[row : row + n * length].view(n, length, -1).to(self._wide)
            row += n * length
            found.append(torch.cat([block[:, 0], block.mean(dim=1)], dim=1) if self.mean else block[:, 0])
        return torch.cat(found)

    def _placed(self, layer: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
        weight, bias = (part.to(device=self.device, dtype=self._wide) for part in layer)
        return weight, bias


class HubClassifier(HubModel):
    """Any sequence classifier of transformers, in batches of equal length."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForSequenceClassification", "is it a classifier of text?")
        config = self.model.config
        self._end = config.eos_token_id if config.is_encoder_decoder else None
        if config.is_encoder_decoder:
            know_start(self.model)
        # Without a piece for padding transformers lets a left-to-right model read one sequence at a time.
        self._alone = getattr(config, "pad_token_id", None) is None and files.reads_left_to_right
        kinds = getattr(config, "type_vocab_size", None)
        # GPT-2 takes types for words of its own, and its tokenizer makes none.
        self._typed = self._typed and (kinds is None or kinds > 1) and not files.reads_left_to_right

    def logits(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """As of `PackedClassifier`."""
        wide = torch.promote_types(self.model.dtype, torch.float32)
        logits = torch.empty(len(ids), int(self.model.config.num_labels), dtype=wide)
        for places in self._alike(ids):
            batch = torch.from_numpy(np.stack([ids[i] for i in places])).to(self.device)
            inputs = {"input_ids": batch, "attention_mask": torch.ones_like(batch)}
            if self._typed:
                inputs["token_type_ids"] = torch.from_numpy(np.stack([types[i] for i in places])).to(self.device)
            logits[places] = self.model(**inputs).logits.to(logits)
        return logits

    def _alike(self, ids: Sequence[Ids]) -> Iterator[list[int]]:
        """Positions of sequences with equal lengths.

        Encoder-decoders read the vector of the last end token, so for them all sequences of a group also have the same
        number of end tokens.
        """
        if self._alone:
            yield from ([place] for place in range(len(ids)))
            return
        for low, high in runs([len(i) for i in ids]):
            groups: dict[int, list[int]] = {}
            for place in range(low, high):
                groups.setdefault(int((ids[place] == self._end).sum()) if self._end is not None else 0, []).append(
                    place
                )
            yield from groups.values()


Classifier: TypeAlias = PackedClassifier | HubClassifier


# --- Networks of language models: masked ones (heads, BERT's, RoBERTa's, others), encoder-decoders, causal ones

# The model classes whose head is written here -> dense layer, norm, bias; the last layer is the word vectors again.
_MASKED = {
    "BertForMaskedLM": ("predictions.transform.dense", "predictions.transform.LayerNorm", "predictions.bias"),
    "RobertaForMaskedLM": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    "XLMRobertaForMaskedLM": ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
}
_ROWS = 32  # masks that are held against the vocabulary at a time: always as many, so that one kernel does them all


def masked_network(files: ModelFiles, dtype: torch.dtype, device: torch.device) -> MaskedNetwork:
    """The masked language model of a checkpoint.

    Raises:
        InputError: the weights do not fill the model, or transformers cannot load them.
    """
    config = files.config
    kinds = config.get("architectures") or [None]
    if kinds[0] in _MASKED and is_read(config) and config.get("tie_word_embeddings", True):
        network = PackedBert(files, dtype, device)
        dense, norm, bias = _MASKED[kinds[0]]
        pairs = [(network.tensor(f"{name}.weight"), network.tensor(f"{name}.bias")) for name in (dense, norm)]
        return PackedMasked(network, files.depth, pairs[0], pairs[1], network.tensor(bias))
    return HubMasked(files, dtype, device)


def headed_mask(head: Head, dtype: torch.dtype, device: torch.device) -> MaskedNetwork:
    """The masked language model of a head over its encoder.

    Raises:
        InputError: the encoder is not of BERT's family, or tensors are missing.
    """
    names = ("dense.weight", "dense.bias", "norm.weight", "norm.bias", "bias")
    network, own = below(head, dtype, device, names)
    dense, shift, norm, more, bias = (own[name] for name in names)
    return PackedMasked(network, head.encoder.depth, (dense, shift), (norm, more), bias)


class MaskedNetwork:
    """What every loaded masked language model can be asked. Several threads may ask it at once."""

    device: Any
    batch_tokens: int

    def logits(self, ids: Sequence[Ids], rows: Ids, places: Ids) -> torch.Tensor:
        """Logits of all pieces at any positions, at least float32, shape (k, V).

        Args:
            ids: sequences, sorted by length.
            rows: the sequence of each position, ascending, shape (k,).
            places: the position in its sequence, shape (k,).
        """
        raise NotImplementedError

    def at(self, ids: Sequence[Ids], places: Sequence[int]) -> torch.Tensor:
        """Log-probabilities of all pieces at one position of each sequence, at least float32, shape (n, V)."""
        return torch.log_softmax(self.logits(ids, np.arange(len(ids)), np.asarray(places, dtype=np.int64)), dim=1)


class PackedMasked(MaskedNetwork):
    """A transform of the last layer, compared with the vector of every piece; computed only at masked positions."""

    def __init__(
        self,
        network: PackedBert,
        depth: int,
        dense: tuple[torch.Tensor, torch.Tensor],
        norm: tuple[torch.Tensor, torch.Tensor],
        bias: torch.Tensor,
    ) -> None:
        self.network, self.depth = network, depth
        self.device, self.batch_tokens = network.device, network.batch_tokens
        # What is small is computed precisely, in half precision too.
        self._wide = torch.promote_types(network.dtype, torch.float32)
        self._dense, self._norm = (
            (weight.to(device=self.device, dtype=self._wide), shift.to(device=self.device, dtype=self._wide))
            for weight, shift in (dense, norm)
        )
        self._bias = bias.to(device=self.device, dtype=self._wide)
        self._words = network.words if isinstance(network.words, torch.Tensor) else network.words.rows(slice(None))
        if self._dense[0].shape != (network.width, network.width) or len(self._bias) != len(self._words):
            raise InputError(
                f"model {network.files.name!r}: its masked language model is of another size than its encoder"
            )

    def logits(self, ids: Sequence[Ids], rows: Ids, places: Ids) -> torch.Tensor:
        """See `MaskedNetwork`."""
        starts = np.cumsum([0, *(len(row) for row in ids[:-1])])
        with self.network.cut(self.depth) as forward:
            states = forward(ids)[torch.from_numpy(starts[rows] + places).to(self.device)]
        n = len(rows)
        states = functional.pad(states.to(self._wide), (0, 0, 0, -n % _ROWS))
        states = functional.layer_norm(
            functional.gelu(functional.linear(states, *self._dense)),
            (self.network.width,),
            *self._norm,
            self.network.epsilon,
        )
        states = states.to(self._words.dtype)
        found = torch.cat([functional.linear(states[i : i + _ROWS], self._words) for i in range(0, n, _ROWS)])[:n]
        return found.to(self._wide).add_(self._bias)


class HubMasked(MaskedNetwork, HubModel):
    """Any masked language model of transformers, in batches of equal length."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForMaskedLM", "is it a masked language model?")
        self._asked = threading.local()
        below = getattr(self.model, self.model.base_model_prefix, None)
        self._narrows = below is not None and below is not self.model
        if below is not None and self._narrows:
            below.register_forward_hook(self._narrow)

    def logits(self, ids: Sequence[Ids], rows: Ids, places: Ids) -> torch.Tensor:
        """See `MaskedNetwork`."""
        found = []
        for low, high in runs([len(row) for row in ids]):
            here = slice(*np.searchsorted(rows, [low, high]))
            where = [torch.from_numpy(index).to(self.device) for index in (rows[here] - low, places[here])]
            batch = torch.from_numpy(np.stack(ids[low:high])).to(self.device)
            inputs = {"input_ids": batch, "attention_mask": torch.ones_like(batch)}
            if self._typed:
                inputs["token_type_ids"] = torch.zeros_like(batch)
            self._asked.where = where
            logits = self.model(**inputs).logits
            found.append((logits[:, 0] if self._narrows else logits[where[0], where[1]]).float())
        return torch.cat(found)

    def _narrow(self, module: Any, given: Any, out: Any) -> Any:
        """Pass only the asked positions to the head: comparing all others with the vocabulary would take most time."""
        rows, places = self._asked.where
        out.last_hidden_state = out.last_hidden_state[rows, places][:, None]
        return out


# --- Log-probabilities of the pieces of texts, from encoder-decoders and causal language models of transformers

Index = npt.NDArray[np.int64]
# A batch holds a number for each piece of the vocabulary at each of its positions: on a CPU what stays near the core is
# fastest, on a GPU what fits beside the model.
_CPU_TOKENS, _GPU_TOKENS = 256, 8192
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
        from transformers.modeling_outputs import BaseModelOutput  # none that is packed needs it

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


_RATING = 250089  # <extra_id_10> of mT5, whose logit at the first step MetricX was trained to be the rating


class RatingNetwork(HubModel):
    """An mT5 that is asked for one logit of its first step, as MetricX is; the other rows of the last layer go."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForSeq2SeqLM", "is it a MetricX model?")
        config = self.model.config
        row = min(_RATING, config.vocab_size - 1)  # models of tests have a small vocabulary
        self._row = self.model.lm_head.weight[row].detach().clone()
        self._encoder, self._decoder = self.model.encoder, self.model.decoder
        self._start = int(config.decoder_start_token_id or config.pad_token_id or 0)
        del self.model

    def first(self, ids: Sequence[Ids]) -> Array:
        """The logit for each sequence, shape (n,)."""
        found = np.zeros(len(ids))
        for low, high in runs([len(i) for i in ids]):
            batch = to_device(np.stack(ids[low:high]), self.device)
            seen = torch.ones_like(batch)
            states = self._encoder(input_ids=batch, attention_mask=seen)[0]
            start = torch.full((len(batch), 1), self._start, device=self.device)
            vectors = self._decoder(
                input_ids=start, encoder_hidden_states=states, encoder_attention_mask=seen, use_cache=False
            )[0][:, 0]
            found[low:high] = (vectors @ self._row).double().cpu().numpy()
        return found


_ANSWERS = (3, 209)  # of T5's vocabulary: the first pieces of 0 and of 1


class AnswerNetwork(HubModel):
    """A T5 that answers 0 or 1, as MiniCheck does, of which the logits of both at its first step are asked."""

    def __init__(self, files: ModelFiles, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__(files, dtype, device, "AutoModelForSeq2SeqLM", "is it a MiniCheck model?")
        know_start(self.model)
        size = int(self.model.config.vocab_size)
        if size <= max(_ANSWERS):
            raise InputError(f"model {files.name!r} has {size} pieces, expected T5's vocabulary, as MiniCheck has it")

    def logits(self, ids: Sequence[Ids], types: Sequence[Ids]) -> torch.Tensor:
        """As of `PackedClassifier`: of 0 (not supported) and of 1 (supported), shape (n, 2)."""
        found, wide = [], torch.promote_types(self.model.dtype, torch.float32)
        for low, high in runs([len(i) for i in ids]):
            batch = to_device(np.stack(ids[low:high]), self.device)
            start = torch.full((len(batch), 1), int(self.model.config.decoder_start_token_id), device=self.device)
            out = self.model(
                input_ids=batch, attention_mask=torch.ones_like(batch), decoder_input_ids=start, use_cache=False
            )
            found.append(out.logits[:, 0, list(_ANSWERS)].to(wide).cpu())
        return torch.cat(found)


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
