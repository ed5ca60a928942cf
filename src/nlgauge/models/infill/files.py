"""Find the files of a model for gaps, and whether it fills them with words or phrases. Nothing is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.models.heads import Head, find_head, is_head
from nlgauge.models.locate import NAMED, ModelFiles, locate

DEFAULT = "infill"


@dataclass(frozen=True)
class InfillFiles:
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

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages that the model reads; empty if this is not known."""
        return self.files.languages if self.head is None else self.head.languages

    def max_tokens(self, asked: int | None = None) -> int | None:
        """The requested limit, else the one from training. The limit of a checkpoint is known to its tokenizer."""
        return self.head.whole("max_tokens") if asked is None and self.head is not None else asked

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
        raise InputError(str(error).replace("use model=embedded", f"use {DEFAULT}")) from None
    if files.name in NAMED:
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
