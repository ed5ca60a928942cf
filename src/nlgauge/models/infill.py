"""Gaps in texts and what fills them: the interface, the files and pieces of models, and denoisers that give phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.models.fetch import ENCODERS
from nlgauge.models.heads import Head, Headed, find_head, is_head
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.repository import INSTEAD
from nlgauge.models.tokens import Ids, TextTokenizer, well_formed
from nlgauge.runtime.runtime import Runtime, by_length


class Gap(NamedTuple):
    """A gap in a text. The part of `text` from `start` to `end` is to be predicted without looking at it.

    If `start` and `end` are equal, new words are to be inserted there.
    """

    text: str
    start: int
    end: int


class Filler(NamedTuple):
    """A word for a gap, or with some models a phrase.

    Of two fillers of the same gap, the one with the higher score fits better. Scores of different gaps cannot be
    compared.
    """

    word: str
    score: float


@runtime_checkable
class Infill(Protocol):
    """Fills gaps, as masked language models do."""

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """Words for each gap, best first.

        Args:
            gaps: any number of gaps. Several may be in the same text; each is filled as if the others did not exist.
            k: the largest number of words for a gap.

        Returns:
            One list per gap, in order, with at most `k` fillers. The list is empty if nothing fits.
        """
        ...


# --- Find the files of a model for gaps, and whether it fills them with words or phrases. Nothing is loaded

DEFAULT = "infill"


@dataclass(frozen=True)
class InfillFiles(Headed):
    """The files of a model for gaps. The model is not loaded.

    Attributes:
        name: the name that the user gave.
        files: the files of the checkpoint, or of the encoder under the head.
        head: the head; None for a checkpoint that has its own.
        phrases: whether the model is a denoiser, which fills a gap with any number of words. A masked language model
            fills it with one word.
    """

    name: str
    files: ModelFiles
    head: Head | None
    phrases: bool

    def facts(self) -> dict[str, Any]:
        """The facts that identify the model, for a signature."""
        return self.files.facts(head=None if self.head is None else self.head.identity)


def locate_infill(model: str = DEFAULT, revision: str | None = None) -> InfillFiles:
    """Find the files of a model for gaps.

    Args:
        model: `infill` (the shipped head), the file of a head, a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.

    Raises:
        InputError: there is no such model, or it is neither a masked language model nor a denoiser.
    """
    if is_head(model):
        if revision is not None:
            raise InputError(f"the head {model!r} has no revisions; leave revision out")
        head = find_head(model, "infill")
        return InfillFiles(model, head.encoder, head, False)
    try:
        files = locate(model, revision)
    except InputError as error:  # what to take instead is another model than for an encoder
        raise InputError(str(error).replace(INSTEAD, f", or use {DEFAULT}")) from None
    if files.name in ENCODERS:
        raise InputError(f"the {files.name} encoder alone fills no gaps; {DEFAULT!r} is the head that stands on it")
    if files.is_paired:
        return InfillFiles(model, files, None, True)
    config = files.config
    kinds = config.get("architectures") or []
    # Some checkpoints name no class, or the one of pre-training, whose masked language model is the same.
    if (
        kinds and not any(kind.endswith(("ForMaskedLM", "ForPreTraining", "WithLMHeadModel")) for kind in kinds)
    ) or config.get("is_decoder"):
        raise InputError(
            f"model {model!r} is {kinds[0] if kinds else 'a decoder'}, expected a masked language model (BERT, RoBERTa,"
            " ...) or a denoising encoder-decoder (BART, T5, ...)"
        )
    return InfillFiles(model, files, None, False)


# --- The pieces of a vocabulary: which are whole words, and at which offsets of a text they lie

_CHUNK = 8192
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNUSED = re.compile(r"\[unused\d+\]|<unused_?\d+>|<extra_id_\d+>|madeupword\d+")


@dataclass(frozen=True, slots=True)
class Placed:
    """The pieces of a text and their offsets, without special tokens.

    Blanks at the edge of a piece lie outside its offsets.

    Attributes:
        ids: ids of the pieces, shape (T,).
        starts, ends: offsets in the text, shape (T,). They are equal for a piece that is a blank.
    """

    ids: Ids
    starts: Ids
    ends: Ids


class PieceTokenizer(TextTokenizer):
    """The tokenizer of a model, which gives offsets of pieces and words.

    Raises:
        InputError: the tokenizer gives no offsets of pieces.
    """

    def __init__(self, files: ModelFiles, max_tokens: int | None = None) -> None:
        super().__init__(files, max_tokens, space=False)
        self._mask_token = _token(files.tokenizer_config.get("mask_token"))
        if not hasattr(self._backend, "encode_batch_fast"):
            raise InputError(
                f"model {self.name!r} has a tokenizer without offsets, which gaps need; choose another model"
            )

    def place(self, texts: Sequence[str]) -> list[Placed]:
        """The pieces of each text with their offsets. No text is cut off."""
        found = []
        for start in range(0, len(texts), _CHUNK):
            block = [_SURROGATE.sub("\ufffd", text) for text in texts[start : start + _CHUNK]]
            for text, encoding in zip(block, self._backend.encode_batch(block, add_special_tokens=False), strict=True):
                places = [_trimmed(text, low, high) for low, high in encoding.offsets]
                ids, at = np.array(encoding.ids, dtype=np.int64), np.array(places, dtype=np.int64).reshape(-1, 2)
                found.append(Placed(ids, at[:, 0], at[:, 1]))
        return found

    @cached_property
    def vocabulary(self) -> list[str]:
        """The pieces by id, as the tokenizer writes them; empty for an id that is not used."""
        known = self._backend.get_vocab()
        pieces = [""] * (max(known.values()) + 1)
        for piece, i in known.items():
            pieces[i] = piece
        return pieces

    @cached_property
    def mask(self) -> int | None:
        """The id of the mask token; None if the model has none."""
        for token in (self._mask_token, "[MASK]", "<mask>"):
            found = self._backend.token_to_id(token) if token else None
            if found is not None:
                return int(found)
        return None

    @cached_property
    def bare(self) -> list[str]:
        """The text of each piece without blanks; empty for special tokens and for pieces that are not text."""
        special = {i for i, token in self._backend.get_added_tokens_decoder().items() if token.special}
        words = []
        for i, piece in enumerate(self.vocabulary):
            word = "" if i in special or _UNUSED.fullmatch(piece) else self._text(piece)
            words.append(
                word if word.isprintable() and "\ufffd" not in word and not any(c.isspace() for c in word) else ""
            )
        return words

    @cached_property
    def continues(self) -> npt.NDArray[np.bool_]:
        """Whether each piece continues the word before it, or might do so, shape (V,).

        Such pieces lack the sign that a tokenizer puts at the beginning of a word.
        """
        pieces = self.vocabulary
        if self._style == "##":
            return np.array([piece.startswith("##") for piece in pieces])
        return np.array([not piece.startswith(self._style) for piece in pieces])

    @cached_property
    def uncased(self) -> bool:
        """Whether the tokenizer treats capitals and small letters alike."""
        upper, lower = self._encode(["An Ox"])[0], self._encode(["an ox"])[0]
        return list(upper) == list(lower)

    @cached_property
    def is_marked(self) -> bool:
        """Whether the blank before a word marks its beginning (Ġword, ▁word). If not, ## marks continuations."""
        return self._style != "##"

    @cached_property
    def _style(self) -> str:
        pieces = self.vocabulary
        counts = {
            sign: sum(piece.startswith(sign) and len(piece) > len(sign) for piece in pieces)
            for sign in ("##", "Ġ", "▁")
        }
        return max(counts, key=lambda sign: counts[sign])

    def _text(self, piece: str) -> str:
        if self._style == "##":
            return piece.removeprefix("##")
        if self._style == "▁":
            return piece.removeprefix("▁")
        decoder = self._backend.decoder
        return (decoder.decode([piece]) if decoder is not None else piece.replace("Ġ", " ")).strip(" ")


def _trimmed(text: str, low: int, high: int) -> tuple[int, int]:
    while low < high and text[low].isspace():
        low += 1
    while high > low and text[high - 1].isspace():
        high -= 1
    return low, high


def _token(written: object) -> str | None:
    """A special token from a tokenizer's configuration, which writes it as text or as an object with `content`."""
    if isinstance(written, dict):
        written = written.get("content")
    return written if isinstance(written, str) else None


# --- Phrases for gaps from encoder-decoders that were trained to restore masked spans
# BART and mBART write the whole text again. T5 writes only the span.

_SENTINELS = ("<extra_id_0>", "<extra_id_1>")
_SPAN = 16  # most pieces of a span
_BATCH_TOKENS = 2048  # of the source side; a beam multiplies what a decoder holds


class Denoiser:
    """An encoder-decoder that fills a gap with a phrase of one word or more.

    Args:
        found: the files of the model.
        load: function that returns the model with its tokenizer.
        dtype: the model's precision.
        runtime: token budget.
        language: the code of the language of the texts, for a model of many languages (mBART).
    """

    phrases = True

    def __init__(
        self,
        found: InfillFiles,
        load: Callable[[], Any],
        dtype: str,
        runtime: Runtime,
        *,
        language: str | None = None,
    ) -> None:
        self.found, self.name, self.dtype, self.language = found, found.name, dtype, language
        self._load, self._budget = load, runtime.token_budget

    def facts(self) -> dict[str, Any]:
        """The facts that identify the model, for a signature."""
        spoken = {} if self.language is None else {"language": self.language}
        return {"dtype": self.dtype, **self.found.facts(), **spoken}

    @cached_property
    def loaded(self) -> Any:
        """Model and tokenizer, loaded when they are first needed."""
        return self._load()

    @cached_property
    def restores(self) -> bool:
        """Whether the model writes the whole text again (BART) and not only the span (T5).

        Raises:
            InputError: the model has neither sentinels nor a mask token.
        """
        tokenizer = self.loaded.tokenizer
        if _SENTINELS[0] in tokenizer.get_vocab():
            return False
        if tokenizer.mask_token is None:
            raise InputError(
                f"model {self.name!r} has neither a mask token nor {_SENTINELS[0]}, which denoisers are asked with;"
                " choose another"
            )
        return True

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """Phrases for each gap, best first; none if the model changed the text around the gap.

        The score is the log-probability of what was written, divided by its length. Gaps are searched together. So if
        two phrases are equally likely up to rounding, another batch may prefer the other one.
        """
        number = {gap: i for i, gap in enumerate(dict.fromkeys(Gap(*gap) for gap in gaps))}
        distinct = list(number)
        fillers: list[list[Filler]] = [[]] * len(distinct)
        if distinct and k > 0:
            written = self.loaded.speak(self.language, self.language) if self.language else {}
            sources = [self._source(gap) for gap in distinct]
            pieces = [self._pieces(around, mask) for *around, mask in sources]
            lengths = [len(ids) for ids, _ in pieces]
            for batch in by_length(lengths, self._budget or _BATCH_TOKENS):
                asked = [(distinct[j], *pieces[j]) for j in batch]
                for i, phrases in zip(batch, self._written(asked, k, written), strict=True):
                    fillers[i] = _fillers(phrases, k)
        return [list(fillers[number[gap]]) for gap in gaps]

    def _source(self, gap: Gap) -> tuple[str, str, str]:
        """The text left and right of a gap, and the token that marks the gap."""
        left, right = well_formed(gap.text[: gap.start]), well_formed(gap.text[gap.end :])
        mask = self.loaded.tokenizer.mask_token if self.restores else _SENTINELS[0]
        if gap.start == gap.end:  # between two words the text has one blank, the mask needs two
            left, right = (left + " " if left[-1:].isalnum() else left), (" " + right if right[:1].isalnum() else right)
        return left, right, mask

    def _pieces(self, around: Sequence[str], mask: str) -> tuple[list[int], tuple[str, str]]:
        """The pieces of a text with its mask, and the text around it. Of a long text only the nearest part is kept."""
        left, right = around
        room = self.loaded.limit
        while True:
            ids = self.loaded.tokenizer(left + mask + right, truncation=False, verbose=False)["input_ids"]
            if room is None or len(ids) + (_SPAN if self.restores else 0) <= room or len(left) + len(right) < 2:
                return ids, (left, right)
            keep = max(1, (len(left) + len(right)) * 7 // 16)
            left, right = _shortened(left, right, keep)

    def _written(
        self, asked: Sequence[tuple[Gap, list[int], tuple[str, str]]], k: int, language: Mapping[str, int]
    ) -> list[list[tuple[str, float]]]:
        """The model's words for each gap, with scores, best first; `language` is what `speak` returned."""
        import torch

        loaded = self.loaded
        most = _SPAN + (max(len(ids) for _, ids, _ in asked) if self.restores else 0)
        room = most if loaded.limit is None or not self.restores else min(most, loaded.limit - 1)
        how: dict[str, Any] = {"do_sample": False, "num_beams": max(k, 2), "num_return_sequences": k}
        how |= {"return_dict_in_generate": True, "output_scores": True}
        with torch.inference_mode():
            generated = loaded.generate([ids for _, ids, _ in asked], room, **how, **language)
        scores = generated.sequences_scores.tolist()
        texts = self._texts(generated.sequences)
        phrases = []
        for row, (_, _, around) in enumerate(asked):
            each = range(row * k, (row + 1) * k)
            spans = [(between(texts[i], *around) if self.restores else texts[i], scores[i]) for i in each]
            phrases.append(sorted(((span, score) for span, score in spans if span), key=lambda pair: -pair[1]))
        return phrases

    def _texts(self, sequences: Any) -> list[str]:
        """The texts that were written. For models like T5 this is only the part between the first two sentinels."""
        tokenizer = self.loaded.tokenizer
        if self.restores:
            written: list[str] = tokenizer.batch_decode(
                sequences, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            return written
        first, second = (tokenizer.convert_tokens_to_ids(sentinel) for sentinel in _SENTINELS)
        texts = []
        for ids in sequences.tolist():
            after = ids[ids.index(first) + 1 :] if first in ids else []
            span = after[: after.index(second)] if second in after else after
            texts.append(
                str(tokenizer.decode(span, skip_special_tokens=True, clean_up_tokenization_spaces=False)).strip()
            )
        return texts


def between(written: str, left: str, right: str) -> str | None:
    """The part of a text between two contexts; None if the text does not begin and end with them.

    Blanks and capitals may differ.
    """
    kept = [(i, c.casefold()) for i, c in enumerate(written) if not c.isspace()]
    text = [c for _, c in kept]
    before, after = ([c.casefold() for c in side if not c.isspace()] for side in (left, right))
    last = len(text) - len(after)
    if len(before) >= last or text[: len(before)] != before or text[last:] != after:
        return None
    return written[kept[len(before)][0] : kept[last - 1][0] + 1]


def _fillers(written: Sequence[tuple[str, float]], k: int) -> list[Filler]:
    """Each phrase once, bare, best first."""
    phrases: dict[str, Filler] = {}
    for span, score in written:
        phrase = " ".join(span.split())
        if phrase and phrase.isprintable() and "\ufffd" not in phrase:
            phrases.setdefault(phrase, Filler(phrase, score))
    return list(phrases.values())[:k]


def _shortened(left: str, right: str, keep: int) -> tuple[str, str]:
    """The nearest part of each context, at most `keep` characters, cut at a blank if there is one."""
    near_left, near_right = left[max(0, len(left) - keep) :], right[:keep]
    if len(near_left) < len(left) and " " in near_left.rstrip():
        near_left = near_left[near_left.index(" ") + 1 :]
    if len(near_right) < len(right) and " " in near_right.lstrip():
        near_right = near_right[: near_right.rindex(" ")]
    return near_left, near_right
