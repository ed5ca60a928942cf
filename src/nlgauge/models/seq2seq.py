"""Texts rewritten by encoder-decoder models: back-translation through a second language, for paraphrases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.segment import is_blank
from nlgauge.models.encoder import torch_device
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import pretrained_tokenizer, set_language, well_formed
from nlgauge.runtime.runtime import Runtime, by_length

_BATCH_TOKENS = 2048  # of the source side; a beam multiplies what a decoder holds
_NO_LIMIT = 10**6  # tokenizers without a limit say 1e30


@dataclass(frozen=True)
class Backtranslator:
    """Paraphrases by translation into a second language and back.

    Any two encoder-decoder models of transformers with safetensors weights serve (Marian, T5, BART, mBART, M2M100,
    NLLB), from a folder or the hub; Marian's own tokenizer needs the package sentencepiece. Nothing is drawn at random.
    Tests run tiny models with random weights; how good the paraphrases of a real pair are has not been measured here.

    Attributes:
        forward: the model into the second language: a folder or an id of the hub.
        backward: the model out of it; the same name as `forward` for a model of many languages.
        forward_revision, backward_revision: branch, tag or commit of a hub model.
        languages: codes of the first and the second language as the tokenizers spell them (`("en_XX", "de_DE")`), for
            models of many languages.
        prefixes: texts that are put before the inputs of the two translations, for models that need the name of their
            task (T5).
        beams: the width of the beam search.
        max_tokens: the largest number of pieces of a translation.
        runtime: device, precision and loaded models.
    """

    forward: str
    backward: str
    forward_revision: str | None = None
    backward_revision: str | None = None
    languages: tuple[str, str] | None = None
    prefixes: tuple[str, str] = ("", "")
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
        pivot = self._model(self.forward, self.forward_revision).rewrite(
            distinct, self.prefixes[0], (there, back), self.beams, self.max_tokens, self.runtime
        )
        returned = self._model(self.backward, self.backward_revision).rewrite(
            pivot, self.prefixes[1], (back, there), self.beams, self.max_tokens, self.runtime
        )
        found = dict(zip(distinct, returned, strict=True))
        return [None if found[t] is None or str(found[t]).split() == t.split() else found[t] for t in texts]

    def identities(self) -> tuple[str, str]:
        """The identities of the weights of both models."""
        return (
            locate(self.forward, self.forward_revision).identity,
            locate(self.backward, self.backward_revision).identity,
        )

    def _model(self, name: str, revision: str | None) -> Seq2Seq:
        files, runtime = locate(name, revision), self.runtime
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
        prefix: str,
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
            self.tokenizer(prefix + well_formed(str(texts[i]).strip()), truncation=False, verbose=False)["input_ids"]
            for i in places
        ]
        kept = [j for j, ids in enumerate(pieces) if self.limit is None or len(ids) <= self.limit]
        room = (
            max_tokens if self.limit is None else min(max_tokens, self.limit - 1)
        )  # the decoder starts with a token of its own
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
