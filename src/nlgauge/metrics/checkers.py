"""Published checkers of facts by their names: MiniCheck and AlignScore, which read a source in parts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from nlgauge.core.metric import check_needs, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.nli import NliMetric, highest_means, packed, parts_of_each
from nlgauge.models.checkpoints import ALIGNSCORE, alignscore_folder
from nlgauge.models.entailment import NliModel, PairTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import sentence_spans, split_sentences

_CHECKED: dict[str, Any] = {
    "needs": frozenset({"source"}),
    "copy_is_best": False,
    "cached": True,
    "flags": frozenset({"unknown", "nonfinite"}),
    "tasks": frozenset({"as", "d2t", "dg"}),
}
_PIECES, _WORDS, _ALIGNED = 400, 500, 350  # of a part: pieces of a classifier, and words of T5 and of AlignScore


class Checker(NliMetric):
    """Base of checkers: each claim of a text is compared with each part of its source, and the highest counts."""

    def parts(self, source: str, model: NliModel) -> list[str]:
        """The parts of a source."""
        raise NotImplementedError

    def asked(self, text: str) -> list[str]:
        """The claims of a text."""
        return split_sentences(text)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Probabilities, in 0 to 1; the flags are `empty`, `truncated`, `unknown` and `nonfinite`.

        Raises:
            InputError: a segment has no source; the model cannot be read or is another kind of model.
        """
        check_needs(self, segments)
        model = self.loaded(runtime)
        texts = [(s.source or "", s.hypothesis) for s in segments]
        premises = parts_of_each(lambda source: self.parts(source, model), (first for first, _ in texts))
        claims = parts_of_each(self.asked, (second for _, second in texts))
        found = highest_means(model, self.info.name, texts, premises, claims, runtime)
        return Scores(signature_of(self, runtime), ids(segments), found.of(0), flags=found.flags)


@dataclass(frozen=True, kw_only=True)
class MiniCheck(Checker):
    """The probability that a source supports a text, by MiniCheck: the highest over parts of the source.

    A source is read in parts of whole sentences, of up to 400 pieces or, for T5, 500 words. The text is one claim, as
    in the authors' package; they find it better to ask for each sentence by itself (`claims=sentences`). The models
    read English. An empty side gets 0 (flag `empty`). The authors call 0.5 and less unsupported.

    Published are `lytang/MiniCheck-Flan-T5-Large` (3.1 GB as float32), by its authors the best of the three, and
    `lytang/MiniCheck-RoBERTa-Large` and `lytang/MiniCheck-DeBERTa-v3-Large` (1.4 and 1.7 GB). The licence is MIT.

    Args:
        model: an id of the Hugging Face hub, or a folder: a classifier with two labels, or a T5 that answers 0 or 1.
        labels: the labels of a classifier's outputs, in order; `none` reads them from the model.
        claims: the text as a `whole`, or the mean over its `sentences`.
        max_tokens: the largest number of pieces of a part and the claim; None takes 2048, or what the model reads.

    References:
        Tang et al. (2024), "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents", sections 3 and 5.

        Where this differs from the released code: sentences come from our splitter, not from nltk's, and the ends of
        lines between them do not count as pieces; of what is too long the longer side is cut, not the end of the claim.
    """

    model: str = "lytang/MiniCheck-Flan-T5-Large"
    labels: str | None = "unsupported,supported"
    claims: Literal["whole", "sentences"] = "whole"
    as_one: ClassVar = True
    info: ClassVar = MetricInfo(
        "minicheck",
        summary="whether the source supports the text, by MiniCheck; a copy need not be best: it is a model",
        paper='Tang et al. (2024), "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents"',
        **_CHECKED,
    )

    @property
    def limit(self) -> int | None:
        """The limit that was asked for, else what the model reads."""
        return PairTokenizer(self._found().files, self.max_tokens, as_one=True).max_tokens

    def parts(self, source: str, model: NliModel) -> list[str]:
        """Runs of sentences, as long as they may be."""
        spans, asks = sentence_spans(source), model.found.files.is_paired
        found = [source[start:end] for start, end in spans]
        pieces = {} if asks else model.tokenizer.read(found)
        sizes = [len(one.split() if asks else pieces[one]) for one in found]
        runs = packed(sizes, _WORDS if asks else _PIECES)
        return [("predict: " if asks else "") + source[spans[a][0] : spans[b - 1][1]] for a, b in runs]

    def asked(self, text: str) -> list[str]:
        """The text, or its sentences."""
        return [text] if self.claims == "whole" else split_sentences(text)


@dataclass(frozen=True, kw_only=True)
class AlignScore(Checker):
    """How far the sentences of a text are aligned with its source, by AlignScore: the mean of the highest over parts.

    The source is read in parts of whole sentences, of about 350 words, with each sentence of the text. The number of a
    pair is the probability of the first label of the three (`nli_sp`, the authors' default); their layers for two
    labels and for one number are not read. The model reads English. An empty side gets 0 (flag `empty`).

    Published are files of the repository `yzha/AlignScore`: `AlignScore-large.ckpt`, which is meant where no file is
    named, and `AlignScore-base.ckpt`; the licence is MIT. They are pickles, of which tensors alone are read, once, and
    written again as a classifier of RoBERTa, whose configuration and tokenizer are fetched beside them.

    Args:
        model: `yzha/AlignScore`, or OWNER/NAME/FILE.ckpt on the Hugging Face hub, or a file `*.ckpt`; or any NLI model,
            as `nli` takes it.

    References:
        Zha et al. (2023), "AlignScore: Evaluating Factual Consistency with a Unified Alignment Function", section 3.3.

        Where this differs from the released code: sentences come from our splitter, not from nltk's; a text without
        one gets 0.
    """

    model: str = ALIGNSCORE
    info: ClassVar = MetricInfo(
        "alignscore",
        summary="how far the source says what the text says, by AlignScore; a copy need not be best: it is a model",
        paper='Zha et al. (2023), "AlignScore: Evaluating Factual Consistency with a Unified Alignment Function"',
        **_CHECKED,
    )

    @property
    def _place(self) -> tuple[str, str | None]:
        """The model and its revision; for a checkpoint the folder that is made of it."""
        folder = alignscore_folder(self.model if self.revision is None else f"{self.model}@{self.revision}")
        return (self.model, self.revision) if folder is None else (str(folder), None)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, with the name of a checkpoint of the hub."""
        own = super().facts(runtime)
        return own if os.path.exists(os.path.expanduser(self.model)) else {**own, "model": self.model}

    def parts(self, source: str, model: NliModel) -> list[str]:
        """Runs of as many sentences each as give about 350 words."""
        sentences = split_sentences(source)
        step = max(len(sentences) // (len(source.split()) // _ALIGNED + 1), 1)
        return [" ".join(sentences[i : i + step]) for i in range(0, len(sentences), step)]
