"""Models that write text: what they rewrite, and how likely they find a text, perhaps given another one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.segment import is_blank, stripped
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.repository import INSTEAD
from nlgauge.models.tokens import Ids, Row, TextTokenizer, pretrained_tokenizer, set_language, well_formed
from nlgauge.runtime.runtime import Runtime, by_length, dtype_and_device, torch_device

if TYPE_CHECKING:
    from nlgauge.models.networks import CausalNetwork, PairedNetwork


_BATCH_TOKENS = 2048  # of the source side; a beam multiplies what a decoder holds
_NO_LIMIT = 10**6  # tokenizers without a limit say 1e30


@dataclass(frozen=True)
class Backtranslator:
    """Paraphrases by translation into a second language and back.

    Any two encoder-decoder models of transformers serve (Marian, mBART, M2M100, NLLB), from a folder or the
    hub. Nothing is drawn at random. Tests run tiny models with random weights; how good the paraphrases of a real pair
    are has not been measured here.

    Attributes:
        forward: the model into the second language: a folder or an id of the hub, with or without @REVISION.
        backward: the model out of it; the same name as `forward` for a model of many languages.
        languages: codes of the first and the second language as the tokenizers spell them (`("en_XX", "de_DE")`), for
            models of many languages.
        beams: the width of the beam search.
        max_tokens: the largest number of pieces of a translation.
        runtime: device, precision and loaded models.
    """

    forward: str
    backward: str
    languages: tuple[str, str] | None = None
    beams: int = 4
    max_tokens: int = 256
    runtime: Runtime = field(default_factory=Runtime, compare=False, repr=False)

    def paraphrase(self, texts: Sequence[str]) -> list[str | None]:
        """A paraphrase of each text, length n.

        None if the text is blank, is longer than a model's limit, or comes back unchanged.

        Raises:
            InputError: a model is missing, has no safetensors weights, or is not an encoder-decoder.
            MissingExtra: the packages of the `neural` extra are not installed.
        """
        there, back = self.languages or (None, None)
        distinct = list(dict.fromkeys(texts))
        how = self.beams, self.max_tokens, self.runtime
        pivot = self._model(self.forward).rewrite(distinct, (there, back), *how)
        returned = self._model(self.backward).rewrite(pivot, (back, there), *how)
        found = dict(zip(distinct, returned, strict=True))
        return [None if found[t] is None or str(found[t]).split() == t.split() else found[t] for t in texts]

    def _model(self, name: str) -> Seq2Seq:
        files, runtime = locate(name), self.runtime
        return runtime.once(
            ("seq2seq", files, runtime.dtype, runtime.device), lambda: Seq2Seq(files, runtime.dtype, runtime.device)
        )


class Seq2Seq:
    """A loaded encoder-decoder with its tokenizer.

    Raises:
        InputError: there are no safetensors, the model is not an encoder-decoder, or the weights do not fill it.
        MissingExtra: the packages of the `neural` extra are not installed.
    """

    def __init__(self, files: ModelFiles, dtype: str, device: str) -> None:
        try:
            import torch

            from nlgauge.models.hub import check_filled, load_pretrained
        except ImportError:
            raise MissingExtra(f"model {files.name!r}", "neural") from None
        self.name = files.name
        self.device = torch_device(torch, device)
        if not files.is_paired:
            raise InputError(
                f"model {files.name!r} is no encoder-decoder (config.json has model_type"
                f" {files.config.get('model_type')!r})"
            )
        self.tokenizer: Any = pretrained_tokenizer(files)
        self.model, info = load_pretrained(files, getattr(torch, dtype), "AutoModelForSeq2SeqLM")
        check_filled(files, self.model, info, "is it a model that generates text?")
        self.model.eval().to(self.device)
        limits = (self.tokenizer.model_max_length, self.model.config.to_dict().get("max_position_embeddings"))
        self.limit = min((int(n) for n in limits if n is not None and n < _NO_LIMIT), default=None)

    def rewrite(
        self,
        texts: Sequence[str | None],
        languages: tuple[str | None, str | None],
        beams: int,
        max_tokens: int,
        runtime: Runtime,
    ) -> list[str | None]:
        """The model's output for each text.

        None for None, for a blank text, for a text longer than the model's limit, and for an empty output.
        """
        import torch

        options = self.speak(*languages)
        places = [i for i, text in enumerate(texts) if text is not None and not is_blank(text)]
        pieces = [
            self.tokenizer(well_formed(str(texts[i]).strip()), truncation=False, verbose=False)["input_ids"]
            for i in places
        ]
        kept = [j for j, ids in enumerate(pieces) if self.limit is None or len(ids) <= self.limit]
        # The decoder starts with a token of its own.
        room = max_tokens if self.limit is None else min(max_tokens, self.limit - 1)
        out: list[str | None] = [None] * len(texts)
        with torch.inference_mode(), runtime.progress(len(kept), self.name) as advance:
            for batch in by_length([len(pieces[j]) for j in kept], runtime.token_budget or _BATCH_TOKENS):
                rows = [kept[b] for b in batch]
                made = self.generate([pieces[j] for j in rows], room, do_sample=False, num_beams=beams, **options)
                for j, text in zip(rows, self.tokenizer.batch_decode(made, skip_special_tokens=True), strict=True):
                    out[places[j]] = text.strip() or None
                advance(len(rows))
        return out

    def generate(self, pieces: Sequence[Sequence[int]], most: int, **search: Any) -> Any:
        """At most so many pieces for each input, given as pieces too; `search` are further options of the search."""
        inputs = self.tokenizer.pad({"input_ids": pieces}, return_tensors="pt").to(self.device)
        masked = {"input_ids": inputs["input_ids"], "attention_mask": inputs["attention_mask"]}
        return self.model.generate(**masked, max_new_tokens=most, max_length=None, **search)

    def speak(self, source: str | None, target: str | None) -> dict[str, int]:
        """Read texts of one language from now on; what makes `generate` write another, empty where none is named.

        Raises:
            InputError: the model marks no languages, or does not know one of these.
        """
        if source is None or target is None:
            return {}
        written = set_language(self.tokenizer, target, self.name)
        set_language(self.tokenizer, source, self.name)
        return {"forced_bos_token_id": int(self.tokenizer.convert_tokens_to_ids(written))}


# --- Find the files of a model that writes text, and whether it is an encoder-decoder. Nothing is loaded


def n_pieces(files: ModelFiles) -> int:
    """The size V of a model's vocabulary."""
    size = files.config.get("vocab_size", (files.config.get("text_config") or {}).get("vocab_size"))
    if not isinstance(size, int) or size < 1:
        raise InputError(f"model {files.name!r}: vocab_size is {size!r} in config.json, expected a number of pieces")
    return size


def positions(files: ModelFiles) -> int | None:
    """The largest number of pieces that a causal model reads, where its configuration says it the way GPT-2's does.

    T5's configuration has the same entry, but its positions are relative.
    """
    found = None if files.is_paired else files.config.get("n_positions")
    return found if isinstance(found, int) and found > 0 else None


def start_piece(files: ModelFiles) -> int | None:
    """The piece that stands before a text if the tokenizer puts none there: the begin token, else the end token."""
    for name in ("bos_token_id", "eos_token_id"):
        found: Any = files.config.get(name)
        found = found[0] if isinstance(found, list) and found else found
        if isinstance(found, int):
            return found
    return None


def worst_of(size: int) -> float:
    """The mean log-probability that stands for an empty text: -2 ln V, as if every piece were chosen with 1 / V².

    Args:
        size: V, the number of pieces in the vocabulary.
    """
    return -2 * math.log(size)


def locate_generator(model: str, revision: str | None = None) -> ModelFiles:
    """Find the files of a model that writes text.

    Args:
        model: a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.

    Raises:
        InputError: there is no such model, or it is neither an encoder-decoder nor a causal language model.
    """
    try:
        files = locate(model, revision)
    except InputError as error:  # no model that comes with the package writes text
        raise InputError(str(error).replace(INSTEAD, "")) from None
    if not files.is_paired and not files.reads_left_to_right:
        kinds = files.config.get("architectures") or [files.config.get("model_type")]
        raise InputError(
            f"model {model!r} is {kinds[0]}, expected a model that writes text: an encoder-decoder (BART, T5, ...) or a"
            " causal language model (GPT-2, Llama, ...)"
        )
    return files


# --- Pairs of texts as pieces: what a model that writes text is given, and what it is asked to write

BREAK = "\n"  # between a given text and the text that a causal model is asked to write


def paired_rows(pairs: Sequence[tuple[str, str]], givens: TextTokenizer, texts: TextTokenizer) -> list[Row]:
    """The pieces for an encoder-decoder: each text in the frame that its tokenizer writes around any text.

    transformers puts the piece with which the decoder starts before them, and so does the model.

    Args:
        pairs: n pairs of a given text and a text.
        givens: the tokenizer of the given texts.
        texts: the tokenizer of the texts, of another language perhaps.
    """
    given_side, text_side = givens.tokens([given for given, _ in pairs]), texts.tokens([text for _, text in pairs])
    shares = np.maximum(
        givens.unknown_shares(map(givens.content, given_side)), texts.unknown_shares(map(texts.content, text_side))
    )
    return [
        Row(
            given.ids,
            text.ids,
            slice(len(texts.prefix), len(text.ids) - max(0, len(texts.suffix) - 1)),
            given.truncated or text.truncated,
            share,
            0 in (given.n_content, text.n_content),
        )
        for given, text, share in zip(given_side, text_side, shares.tolist(), strict=True)
    ]


class CausalRows(TextTokenizer):
    """The pieces for a causal language model: a piece to start with, the given text, a line break, the text.

    The model is asked for the pieces of the text itself, without a piece for its end.
    """

    def __init__(self, files: ModelFiles, max_tokens: int | None) -> None:
        limits = [limit for limit in (max_tokens, positions(files)) if limit is not None]
        super().__init__(files, min(limits, default=None), space=False)
        start = start_piece(files)
        if len(self.prefix) == 0 and start is None:
            raise InputError(
                f"model {self.name!r} has no piece to start a text with: config.json has neither bos_token_id nor"
                " eos_token_id"
            )
        self.start: Ids = self.prefix if len(self.prefix) else np.array([start], dtype=np.int64)
        if self.max_tokens is not None and self.max_tokens < len(self.start) + 2:
            raise InputError(
                f"model {self.name!r} reads {self.max_tokens} pieces, expected at least {len(self.start) + 2}"
            )

    def rows(self, pairs: Sequence[tuple[str | None, str]]) -> list[Row]:
        """One row per pair of a given text and a text; None in place of a given text where there is none."""
        return [self._row(given, text) for given, text in pairs]

    def _row(self, given: str | None, text: str) -> Row:
        told, text = self._prepare(given or ""), self._prepare(text)
        beginning = told + BREAK if told else ""
        is_blank = not text or (given is not None and not told)
        before, whole = self._pieces(beginning), self._pieces(beginning + text)
        least = min(len(before), len(whole))
        differ = np.flatnonzero(before[:least] != whole[:least])
        n_given = int(differ[0]) if len(differ) else least
        sides = whole[:n_given], whole[n_given:]
        share = float(self.unknown_shares(sides).max())
        first, second = self._cut(*sides)
        is_cut = len(first) + len(second) < len(whole)
        own = slice(0, len(second))
        return Row(np.concatenate([self.start, first]), second, own, is_cut, share, is_blank or len(second) == 0)

    def _cut(self, first: Ids, second: Ids) -> tuple[Ids, Ids]:
        """Cut both sides at their ends, so that they fit into the model. The break behind the given text stays."""
        if self.max_tokens is None:
            return first, second
        room = self.max_tokens - len(self.start)
        second = second[: max(room - len(first), room - room // 2)]
        left = room - len(second)
        if len(first) > left:
            first = np.concatenate([first[: left - 1], first[-1:]]) if left else first[:0]
        return first, second

    def _pieces(self, text: str) -> Ids:
        """The pieces of a text as it is, without special tokens around it."""
        whole = self._whole(self._encode([text])[0] if text else [])
        return whole[len(self.prefix) : len(whole) - len(self.suffix)] if text else whole


# --- How likely a text is under a model that writes text, perhaps given another text

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
        files: the files of the model.
        runtime: device, token budget, loaded models.
        dtype: the precision of weights and activations.
        max_tokens: a lower limit than the model's own.
        template: a text in which `{}` stands for the given text.
        counts_frame: whether pieces count that stand around the text itself and its end, such as BART's <s> or the tag
            of a language.
        language, given_language: codes of the languages of the text and of the given text, for tokenizers that mark
            them.
    """

    files: ModelFiles
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
            from nlgauge.models.hub import side_by_side

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
        if not self.files.is_paired:
            key = ("causal rows", self.files, self.max_tokens)
            return self.runtime.once(key, lambda: CausalRows(self.files, self.max_tokens)).rows(pairs)
        whole = [(given or "", text) for given, text in pairs]
        return paired_rows(whole, self._tokenizer(self.given_language or self.language), self._tokenizer(self.language))

    def _tokenizer(self, language: str | None) -> TextTokenizer:
        key = ("paired rows", self.files, self.max_tokens, language)
        return self.runtime.once(
            key, lambda: TextTokenizer(self.files, self.max_tokens, space=False, language=language)
        )

    def _network(self) -> PairedNetwork | CausalNetwork:
        key = ("generator", self.files, self.dtype, self.runtime.device)
        return self.runtime.once(key, self._loaded)

    def _loaded(self) -> PairedNetwork | CausalNetwork:
        kind, where = dtype_and_device(self.dtype, self.runtime.device, f"model {self.files.name!r}")
        from nlgauge.models.networks import CausalNetwork, PairedNetwork

        return (PairedNetwork if self.files.is_paired else CausalNetwork)(self.files, kind, where)
