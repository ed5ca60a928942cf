"""Phrases for gaps from encoder-decoders that were trained to restore masked spans.

BART and mBART write the whole text again. T5 writes only the span.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.models.infill.files import InfillFiles
from nlgauge.models.infill.gaps import Filler, Gap
from nlgauge.models.tokens import well_formed
from nlgauge.runtime.runtime import Runtime, by_length

_SENTINELS = ("<extra_id_0>", "<extra_id_1>")
_SPAN = 16  # most pieces of a span
_BATCH_TOKENS = 2048  # of the source side; a beam multiplies what a decoder holds


class Denoiser:
    """An encoder-decoder that fills a gap with a phrase of one word or more.

    Args:
        found: the files of the model.
        load: function that returns the model with its tokenizer.
        dtype: the model's precision.
        runtime: token budget and seed.
        sampled: draw the phrases at random instead of searching for the likeliest ones. The draw depends on the seed,
            the text and the gap.
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
        sampled: bool = False,
        language: str | None = None,
    ) -> None:
        self.found, self.name, self.dtype, self.sampled, self.language = found, found.name, dtype, sampled, language
        self._load, self._budget, self._seed = load, runtime.token_budget, runtime.seed

    def facts(self) -> dict[str, Any]:
        """See `InfillModel`."""
        spoken = {} if self.language is None else {"language": self.language}
        return {"dtype": self.dtype, **self.found.facts(), "drawn": self.sampled, **spoken}

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
            # What is drawn depends on all that is drawn with it, so that each gap is alone.
            batches = (
                [[i] for i in range(len(distinct))]
                if self.sampled
                else by_length(lengths, self._budget or _BATCH_TOKENS)
            )
            for batch in batches:
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
        how: dict[str, Any] = (
            {"do_sample": True, "num_beams": 1} if self.sampled else {"do_sample": False, "num_beams": max(k, 2)}
        )
        room = most if loaded.limit is None or not self.restores else min(most, loaded.limit - 1)
        devices = [loaded.device] if loaded.device.type == "cuda" else []
        with torch.inference_mode(), torch.random.fork_rng(devices):
            torch.manual_seed(_seed(self._seed, asked[0][0]))
            how |= {"num_return_sequences": k, "return_dict_in_generate": True, "output_scores": True}
            generated = loaded.generate([ids for _, ids, _ in asked], room, **how, **language)
            if self.sampled:
                steps = loaded.model.compute_transition_scores(
                    generated.sequences, generated.scores, normalize_logits=True
                )
                steps = steps.masked_fill(~steps.isfinite(), 0.0)
                scores = (steps.sum(1) / (steps != 0).sum(1).clamp(min=1)).tolist()
            else:
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


def _seed(seed: int, gap: Gap) -> int:
    return int.from_bytes(sha256(repr((seed, *gap)).encode("utf-8", "surrogatepass")).digest()[:7], "big")
