"""Find the files of a model that writes text, and whether it is an encoder-decoder. Nothing is loaded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.models.locate import ModelFiles, locate


@dataclass(frozen=True)
class GeneratorFiles:
    """The files of a model that writes text. The model is not loaded.

    Attributes:
        files: the files of the model.
        paired: whether it is an encoder-decoder. If not, it is a causal language model.
    """

    files: ModelFiles
    paired: bool

    @property
    def n_pieces(self) -> int:
        """The size V of the vocabulary."""
        config = self.files.config
        size = config.get("vocab_size", (config.get("text_config") or {}).get("vocab_size"))
        if not isinstance(size, int) or size < 1:
            raise InputError(
                f"model {self.files.name!r}: vocab_size is {size!r} in config.json, expected a number of pieces"
            )
        return size

    @property
    def worst(self) -> float:
        """The cost of a piece that cannot be scored: -2 ln V, twice that of a guess among all pieces."""
        return worst_of(self.n_pieces)

    @property
    def max_tokens(self) -> int | None:
        """The largest number of pieces that a causal model reads, where its configuration says it the way GPT-2's does.

        T5's configuration has the same entry, but its positions are relative.
        """
        positions = None if self.paired else self.files.config.get("n_positions")
        return positions if isinstance(positions, int) and positions > 0 else None

    @property
    def start(self) -> int | None:
        """The piece that stands before a text if the tokenizer puts none there: the begin token, else the end token."""
        for name in ("bos_token_id", "eos_token_id"):
            found: Any = self.files.config.get(name)
            found = found[0] if isinstance(found, list) and found else found
            if isinstance(found, int):
                return found
        return None


def worst_of(n_pieces: int) -> float:
    """The mean log-probability that stands for an empty text: -2 ln V, as if every piece were chosen with 1 / V²."""
    return -2 * math.log(n_pieces)


def locate_generator(model: str, revision: str | None = None) -> GeneratorFiles:
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
        raise InputError(str(error).replace(", or for English use model=embedded", "")) from None
    if not files.is_paired and not files.reads_left_to_right:
        kinds = files.config.get("architectures") or [files.config.get("model_type")]
        raise InputError(
            f"model {model!r} is {kinds[0]}, expected a model that writes text: an encoder-decoder (BART, T5, ...) or a"
            " causal language model (GPT-2, Llama, ...)"
        )
    return GeneratorFiles(files, files.is_paired)
