"""Convert texts to piece ids, with special tokens and length limits. Long texts are cut, or read in windows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.segment import stripped
from nlgauge.models.locate import ModelFiles, refusing_broken
from nlgauge.text.tokenize import unit_spans

Ids = npt.NDArray[np.int64]
Long = Literal["truncate", "windows"]
_RAW = {"bert", "roberta", "xlm-roberta"}  # their tokenizer.json is complete; other families go through AutoTokenizer
# A word at the start is another piece than the same word after a space (as bert_score).
_NEEDS_SPACE = {"roberta", "gpt2"}
_NO_LIMIT = 10**6  # tokenizers without a limit say 1e30
# Families beside RoBERTa's that count positions from the padding index on, and those that name them as GPT-2 does (T5
# has the same entry, but its positions are relative).
_FROM_PADDING = {"camembert", "data2vec-text", "esm", "ibert", "longformer", "luke", "mpnet", "xmod"}
_AS_GPT2 = ("codegen", "ctrl", "gpt", "openai-gpt")
_UNKNOWN = ("<unk>", "[UNK]")  # names of the piece for text that is not in the vocabulary
_BOUNDARY = "\u2581"  # SentencePiece's mark of a word's beginning, which alone holds no text
_CONTROL = re.compile("[\x0b\x0c\x1c-\x1f\x85]")  # white space that BERT's tokenizers drop, which joins two words
_CHUNK = 8192
_HELD_CHARACTERS = 1 << 21  # of the texts of one request whose pieces are held
_ASCII_WORD = re.compile("[0-9A-Za-z]+|[!-/:-@\\[-`{-~]")  # BERT's words: letters and digits, or one other character
_KEPT_WORDS = 1 << 16  # words whose pieces are remembered


@dataclass(frozen=True, slots=True)
class Tokens:
    """The pieces of one text.

    Attributes:
        ids: ids of the pieces with special tokens, shape (T,).
        n_content: the number of pieces without the special tokens at both ends; 0 for an empty text.
        truncated: whether content was cut off at the model's limit.
    """

    ids: Ids
    n_content: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A text that a model is asked to write after another.

    Attributes:
        given: pieces that the model reads first. A causal model is given at least one.
        text: pieces that it is asked to write.
        own: where in `text` the text itself with its end begins and ends. Outside stand BART's <s>, or the tag of a
            language, which mBART writes behind the end.
        truncated: whether one of the two texts was cut.
        unknown: the higher share of unknown pieces in one of the two texts.
        blank: whether one of them has no piece.
    """

    given: Ids
    text: Ids
    own: slice
    truncated: bool
    unknown: float
    blank: bool


# What tells apart how a tokenizer cuts and joins -> text -> its pieces.
HeldTokens = dict[tuple[int | None, str, Long], dict[str, Tokens]]


class TextTokenizer:
    """The tokenizer of a model.

    Args:
        files: the files of the model.
        max_tokens: a lower limit than the model's own.
        space: begin every text with a space if the tokenizer would otherwise give the first word another piece than
            the same word later in the text (as bert_score does).
        language: the code of the texts' language, for models whose tokenizers put a tag for it beside a text.

    Attributes:
        max_tokens: the largest number of pieces that the model accepts, including special tokens; None if there is no
            limit.
        weightless: ids of the classifier and separator tokens, which have weight 0 in BERTScore.
        unknown: the id of the piece that stands for text that is not in the vocabulary; None if there is none.
        prefix: special tokens before the content, shape (p,); likewise `suffix` after it.
    """

    @refusing_broken
    def __init__(
        self, files: ModelFiles, max_tokens: int | None = None, space: bool = True, language: str | None = None
    ) -> None:
        self.name = files.name
        config = files.config
        size = config.get("vocab_size")
        self._n_pieces = size if isinstance(size, int) else None
        self._space = " " if space and config.get("model_type") in _NEEDS_SPACE else ""
        self._backend, named = _load(files, language)
        self._ascii = _AsciiPieces.of(self._backend)
        frame = self._frame()
        content = frame.index(0)
        n_suffix = len(frame) - 1 - max(i for i, special in enumerate(frame) if not special)
        example = np.asarray(self._encode_framed(["a"])[0], dtype=np.int64)
        self.prefix: Ids = example[:content]
        self.suffix: Ids = example[len(example) - n_suffix :]
        # BERT's and RoBERTa's frame is the classifier and separator token; their configuration need not name them.
        self.weightless: frozenset[int] = (
            frozenset([*self.prefix.tolist(), *self.suffix.tolist()]) if named is None else named
        )
        self.max_tokens = self._limit(files, max_tokens)
        self.unknown = _id(
            self._backend, (getattr(getattr(self._backend, "model", self._backend), "unk_token", None), *_UNKNOWN)
        )
        self._boundary = _id(self._backend, (_BOUNDARY,))
        self._names: dict[int, str] = {}
        self._held: HeldTokens | None = None
        self._tested: dict[Callable[[Sequence[str]], Mask], Mask] = {}

    def tokens(self, texts: Sequence[str], long: Long = "truncate") -> list[Tokens]:
        """Pieces of each text, stripped of outer blanks.

        With `windows` nothing is cut, since the encoder reads long texts in parts.
        """
        if self._held is None:
            return self._tokens(texts, long)
        held = self._held.setdefault((self.max_tokens, self._space, long), {})
        new = [text for text in dict.fromkeys(texts) if text not in held]
        read = dict(zip(new, self._tokens(new, long), strict=True))
        found = [read[text] if text in read else held[text] for text in texts]
        if sum(map(len, new)) <= _HELD_CHARACTERS:
            held |= read
        return found

    def holding(self, held: HeldTokens) -> TextTokenizer:
        """The same tokenizer, which keeps the pieces of each text here and looks there first; the owner clears it."""
        other = copy(self)
        other._held = held
        return other

    def _tokens(self, texts: Sequence[str], long: Long) -> list[Tokens]:
        """Pieces of each text."""
        room = None if self.max_tokens is None else self.max_tokens - len(self.prefix) - len(self.suffix)
        first, last = len(self.prefix), len(self.suffix)
        found: list[Tokens] = []
        for start in range(0, len(texts), _CHUNK):
            for ids in self._encode([self._prepare(t) for t in texts[start : start + _CHUNK]]):
                whole = self._whole(ids)
                n = len(whole) - first - last
                if room is not None and n > room and long == "truncate":
                    found.append(Tokens(np.concatenate([whole[: first + room], self.suffix]), room, True))
                else:
                    found.append(Tokens(whole, n, False))
        return found

    def _whole(self, ids: Sequence[int]) -> Ids:
        whole = np.asarray(ids, dtype=np.int64)
        if self._n_pieces is not None and whole.size and whole.max() >= self._n_pieces:
            raise InputError(
                f"model {self.name!r}: its tokenizer gives a piece the id {whole.max()}, but vocab_size in"
                f" config.json is {self._n_pieces}; where pieces were added, enlarge the model's embeddings"
                " (resize_token_embeddings) and save it again"
            )
        return whole

    def unknown_shares(self, contents: Iterable[Ids]) -> Array:
        """The share of unknown pieces in each text, shape (n,), from 0 to 1; 0 for a text without pieces.

        Args:
            contents: the pieces of n texts, without special tokens at both ends.
        """
        return np.array([self._unknown_share(ids) for ids in contents], dtype=np.float64)

    def _unknown_share(self, ids: Ids) -> float:
        n_unknown = np.count_nonzero(ids == self.unknown) if self.unknown is not None else 0
        if not n_unknown:
            return 0.0
        return float(n_unknown / (len(ids) - np.count_nonzero(ids == self._boundary)))

    def content(self, tokens: Tokens) -> Ids:
        """The pieces of a text without the special tokens at both ends, shape (n_content,)."""
        start = len(self.prefix)
        return tokens.ids[start : start + tokens.n_content]

    def names(self, pieces: Ids) -> list[str]:
        """The pieces as they stand in the vocabulary, such as `rain` and `##ing`; "" for an id that has none."""
        wanted = dict.fromkeys(pieces.tolist())
        if new := [piece for piece in wanted if piece not in self._names]:
            name = getattr(self._backend, "id_to_token", None) or self._backend.convert_ids_to_tokens
            self._names |= {piece: name(piece) or "" for piece in new}
        return [self._names[piece] for piece in pieces.tolist()]

    def which(self, holds: Callable[[Sequence[str]], Mask]) -> Mask:
        """For which pieces of the vocabulary a test of their names holds, shape (V,); each test is made once."""
        if holds not in self._tested:
            size = self._backend.get_vocab_size() if hasattr(self._backend, "get_vocab_size") else len(self._backend)
            self._tested[holds] = holds(self.names(np.arange(size)))
        return self._tested[holds]

    def pair_frame(self) -> tuple[Ids, Ids]:
        """The frame of special tokens around a pair of texts, found with two texts of one piece each.

        Returns:
            Ids, in which -1 and -2 stand for the pieces of the two texts, shape (T,), and the type of each, (T,).
        """
        if hasattr(self._backend, "encode_batch_fast"):
            pair = self._backend.encode("a", "b")
            known: dict[int | None, list[tuple[int, int]]] = {}
            for place, (side, kind) in enumerate(zip(pair.sequence_ids, pair.type_ids, strict=True)):
                known.setdefault(side, []).append((place, kind))
            # Several pieces of one text ("▁", "a") count once.
            extra = {place for side in (0, 1) for place, _ in known[side][1:]}
            rows = [
                (i if side is None else -1 - side, kind)
                for place, (i, side, kind) in enumerate(zip(pair.ids, pair.sequence_ids, pair.type_ids, strict=True))
                if place not in extra
            ]
            return np.array([i for i, _ in rows], dtype=np.int64), np.array([kind for _, kind in rows], dtype=np.int64)
        ids = self._backend.build_inputs_with_special_tokens([-1], [-2])
        return np.array(ids, dtype=np.int64), np.array(
            self._backend.create_token_type_ids_from_sequences([-1], [-2]), dtype=np.int64
        )

    def words(self, text: str) -> tuple[list[str], list[int | None]]:
        """The words of a text, and for each piece the number of its word (None for special tokens).

        Models of pieces part words at blanks alone. There a word ends at a mark, too, and in scripts without blanks
        with each piece, unless the next begins amid a character and its signs.
        """
        text = self._prepare(text)
        if not hasattr(self._backend, "encode_batch_fast"):
            raise InputError(
                f"model {self.name!r} has a tokenizer that does not say which piece is of which word, as align and"
                " discoscore need; choose another model"
            )
        encoding = self._backend.encode(text)
        edges = {start for start, _ in unit_spans(text)}
        labels: list[str] = []
        numbers: list[int | None] = []
        last: int | None = None
        until = 0  # what stands in labels: pieces overlap where a mark or a byte of a character is one of its own
        for word, (start, end), special in zip(
            encoding.word_ids, encoding.offsets, encoding.special_tokens_mask, strict=True
        ):
            if special or word is None:
                numbers.append(None)
                last = None
                continue
            if word != last or (until <= start < end and start in edges and labels[-1].strip()):
                labels.append("")
                last = word
            labels[-1] += text[max(start, until) : end]
            until = max(until, end)
            numbers.append(len(labels) - 1)
        return [label.strip() or "\u2423" for label in labels], numbers

    def _prepare(self, text: str) -> str:
        text = _CONTROL.sub(" ", well_formed(stripped(text)))
        return self._space + text if text else text

    def _encode(self, texts: list[str]) -> list[list[int]]:
        if self._ascii is None:
            return self._encode_framed(texts)
        cut = list(map(self._ascii.cut, texts))
        others = iter(self._encode_framed([text for text, ids in zip(texts, cut, strict=True) if ids is None]))
        first, last = self.prefix.tolist(), self.suffix.tolist()
        return [next(others) if ids is None else [*first, *ids, *last] for ids in cut]

    def _encode_framed(self, texts: list[str]) -> list[list[int]]:
        if hasattr(self._backend, "encode_batch_fast"):
            with self._reading():
                return [e.ids for e in self._backend.encode_batch_fast(texts)]
        return [
            list(ids)
            for ids in self._backend(texts, add_special_tokens=True, truncation=False, verbose=False)["input_ids"]
        ]

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Say in one line what tokenizer.json lacks; the library raises plain Exception."""
        try:
            yield
        except Exception as error:
            reason = " ".join(str(error).split())
            raise InputError(f"model {self.name!r}: its tokenizer cannot cut a text ({reason:.99})") from None

    def _frame(self) -> list[int]:
        if hasattr(self._backend, "encode_batch_fast"):
            with self._reading():
                return list(self._backend.encode("a").special_tokens_mask)
        return list(self._backend("a", return_special_tokens_mask=True)["special_tokens_mask"])

    def _limit(self, files: ModelFiles, asked: int | None) -> int | None:
        least = len(self.prefix) + len(self.suffix) + 1
        if asked is not None and asked < least:
            raise InputError(f"max_tokens is {asked}, expected at least {least}: the special tokens and one piece")
        most = token_limit(files, asked)
        if most is not None and most < least:
            raise InputError(
                f"model {files.name!r} reads at most {most} pieces by its configuration, expected at least {least}: the"
                " special tokens and one piece; mend max_position_embeddings or model_max_length"
            )
        return most


class _AsciiPieces(dict[str, tuple[int, ...]]):
    """Word -> its pieces, of a tokenizer as BERT's, with which ASCII texts are cut faster than by the library."""

    def __init__(self, backend: Any) -> None:
        super().__init__()
        self._model, self._lowercase = backend.model, backend.normalizer.lowercase

    @classmethod
    def of(cls, backend: Any) -> _AsciiPieces | None:
        """None for a tokenizer of another kind, or with special tokens that a text may hold without a bracket."""
        kinds = [type(getattr(backend, part, None)).__name__ for part in ("normalizer", "pre_tokenizer", "model")]
        if kinds != ["BertNormalizer", "BertPreTokenizer", "WordPiece"]:
            return None
        bracketed = all("[" in token.content for token in backend.get_added_tokens_decoder().values())
        return cls(backend) if bracketed else None

    def cut(self, text: str) -> list[int] | None:
        """The pieces of a text without special tokens; None for a text that is left to the library."""
        if not (text.isascii() and text.isprintable()) or "[" in text:
            return None
        words = _ASCII_WORD.findall(text.lower() if self._lowercase else text)
        return list(chain.from_iterable(map(self.__getitem__, words)))

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= _KEPT_WORDS:
            self.clear()
        pieces = self[word] = tuple(token.id for token in self._model.tokenize(word))
        return pieces


def token_limit(files: ModelFiles, asked: int | None = None) -> int | None:
    """The largest number of tokens that a model accepts, special tokens included; None if there is no limit.

    Args:
        files: the files of the model.
        asked: a lower limit than the model's own.
    """
    limits = [asked, files.tokenizer_config.get("model_max_length"), positions_of(files.config)]
    return min((int(x) for x in limits if x is not None and x < _NO_LIMIT), default=None)


def positions_of(config: dict[str, Any]) -> int | None:
    """The number of tokens for which a model has positions; None where they are relative, or not said."""
    family = str(config.get("model_type"))
    named = "n_positions" if family.startswith(_AS_GPT2) and "n_positions" in config else "max_position_embeddings"
    positions = config.get(named)
    if not isinstance(positions, int) or positions <= 0 or config.get("position_biased_input") is False:
        return None
    # RoBERTa counts positions from the padding index on, so two of its 514 rows are never a token's.
    from_padding = "roberta" in family or family in _FROM_PADDING
    return positions - config.get("pad_token_id", 1) - 1 if from_padding else positions


def _load(files: ModelFiles, language: str | None) -> tuple[Any, frozenset[int] | None]:
    """Load a model's tokenizer, and the ids that have weight 0 if the tokenizer names them.

    It is a fast tokenizer of the tokenizers library if there is one, or else one of transformers.
    """
    path = files.folder / "tokenizer.json"
    if path.exists() and files.config.get("model_type") in _RAW and language is None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtra(f"model {files.name!r}", "neural") from None
        try:
            raw = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises plain Exception
            reason = " ".join(str(error).split())
            raise InputError(
                f"model {files.name!r}: {path} is not a tokenizer that can be read: {reason:.200}"
            ) from None
        raw.no_truncation()
        raw.no_padding()
        return raw, None
    tokenizer = pretrained_tokenizer(files)
    # Where a folder holds no tokenizer, transformers makes one up that knows its special tokens (and at most "▁"), and
    # no word.
    if len(tokenizer.get_vocab()) <= len(tokenizer.all_special_tokens) + 1:
        raise InputError(
            f"model {files.name!r}: no vocabulary in {files.folder}; expected tokenizer.json, or the files it is made"
            " from"
        )
    if language is not None:
        set_language(tokenizer, language, files.name)
    weightless = frozenset(i for i in (tokenizer.cls_token_id, tokenizer.sep_token_id) if i is not None)
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is not None:
        backend.no_truncation()
        backend.no_padding()
    return (backend if backend is not None else tokenizer), weightless


@contextmanager
def silent() -> Iterator[None]:
    """Let transformers say nothing meanwhile: what is wrong with a model, we ask and say ourselves, in one line."""
    from transformers.utils import logging

    level = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)


def pretrained_tokenizer(files: ModelFiles) -> Any:
    """A tokenizer of transformers, from files of the model's folder and without code that comes with it.

    Raises:
        InputError: it cannot be loaded.
        MissingExtra: transformers is not installed.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise MissingExtra(f"model {files.name!r}", "neural") from None
    try:
        with silent():
            return AutoTokenizer.from_pretrained(str(files.folder), trust_remote_code=False, local_files_only=True)
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"model {files.name!r}: the tokenizer in {files.folder} cannot be loaded: {reason[:200]}"
        ) from None


def set_language(tokenizer: Any, language: str, name: str) -> str:
    """Let a tokenizer of transformers mark texts as texts of a language; the piece of that language.

    Raises:
        InputError: it marks no languages, or not this one.
    """
    if not hasattr(tokenizer, "src_lang"):
        raise InputError(f"model {name!r} marks no languages; leave language out")
    token = getattr(tokenizer, "get_lang_token", lambda code: code)
    try:
        piece = str(token(language))
    except KeyError:
        piece = ""
    if piece not in tokenizer.get_vocab():
        raise InputError(f"model {name!r} knows no language {language!r}; see its card for the codes")
    tokenizer.src_lang = language
    return piece


def _id(tokenizer: Any, names: Iterable[str | None]) -> int | None:
    """The id of the first of these pieces that the vocabulary holds."""
    vocabulary = tokenizer.token_to_id if hasattr(tokenizer, "token_to_id") else tokenizer.get_vocab().get
    return next((found for name in names if name and (found := vocabulary(name)) is not None), None)


def well_formed(text: str) -> str:
    """Replace lone surrogates, which no tokenizer accepts, with U+FFFD, as every decoder does."""
    if text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
