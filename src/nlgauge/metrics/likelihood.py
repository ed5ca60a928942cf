"""How likely a model finds a text: BARTScore and PRISM given another one, perplexity and fluency of it alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, known, nonfinite, over_references, signature_of, unknown
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.languages import unread_by_model
from nlgauge.metrics.nli import HeadedMetric
from nlgauge.models.filler import MaskedModel, load_infill, pseudo_likelihoods
from nlgauge.models.generation import WHOLE, Generator, Likelihoods, locate_generator, n_pieces, positions, worst_of
from nlgauge.models.infill import DEFAULT, InfillFiles, locate_infill
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import token_limit
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing

_LEAST_TOKENS = 4  # special tokens, and a piece of each text
FLAGS = frozenset({"unknown", "nonfinite"})


@dataclass(frozen=True, kw_only=True)
class GeneratorMetric(Checked, BaseMetric):
    """Options of a metric that asks a model that writes text.

    Args:
        model: a folder, or an id of the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        max_tokens: a lower limit than the model's own; longer texts are cut.
        dtype: the precision of the model; None takes the runtime's.
    """

    model: str
    revision: str | None = None
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {"dtype": runtime.precision(self.dtype), **self.found().facts()}

    @property
    def limit(self) -> int | None:
        """The model's own limit, or the lower one that was asked for."""
        files = self.found()
        limits = (positions(files), token_limit(files, self.max_tokens))
        return min((limit for limit in limits if limit is not None), default=None)

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(self.found().languages, writing)

    def found(self) -> ModelFiles:
        """The files of the model."""
        return locate_generator(self.model, self.revision)

    def generator(self, runtime: Runtime, **told: Any) -> Generator:
        """The model, which a runtime holds once; `told` are further fields of a `Generator`."""
        return Generator(self.found(), runtime, runtime.precision(self.dtype), self.max_tokens, **told)


def judged(found: Likelihoods, worst: float) -> tuple[Array, dict[str, Mask]]:
    """The mean log-probability of a piece of n texts, and their flags.

    Args:
        found: what the model says.
        worst: the value of an empty text.

    Returns:
        Shape (n,), NaN where no piece of a text is known and where the model computed no finite number; and the flags
        `empty`, `truncated`, `unknown` and `nonfinite`.
    """
    told = ~found.blank
    means = np.divide(found.sums, found.counts, out=np.zeros(len(told)), where=told)
    flags = {
        "empty": found.blank,
        "truncated": found.truncated & told,
        "unknown": unknown(found.unknown) & told,
        "nonfinite": nonfinite(found.sums) & told,
    }
    return np.where(told, known(means, np.where(told, found.unknown, 0.0)), worst), flags


# --- BARTScore and PRISM: how likely a model finds the hypothesis given the reference or the source, and back

_TO_HYPOTHESIS, _TO_REFERENCE = "hypothesis-given-reference", "reference-given-hypothesis"
_FROM_SOURCE = "hypothesis-given-source"


@dataclass(frozen=True, kw_only=True)
class BartScore(GeneratorMetric):
    """Mean log-probability of the pieces of one text, given another.

    A model that writes text is asked how likely one text is once it has read the other: the value is the mean of the
    natural logarithms of its pieces' probabilities. Values of different models cannot be compared, so name the model. A
    copy does not get 0, and the model may find another text likelier.

    No model comes with the package: `model` is an encoder-decoder (BART, mBART, T5, Marian, M2M100) or a causal model.
    `prism` is the same with `frame=skip`, as in `prism:model=facebook/m2m100_418M,language=en`; any translation model
    will do that has the language on both sides.

    `paper/bartscore-p`, `-r` and `-fn` have the model facebook/bart-large-cnn. `paper/bartscore-f` has none: its
    weights were trained further on ParaBank2 and are on no hub. Put the file `bart.pth` of the authors' repository
    (neulab/BARTScore), as `pytorch_model.bin`, beside the configuration and the tokenizer's files of
    facebook/bart-large-cnn, and name the folder: `paper/bartscore-f:model=FOLDER`.

    If a side is blank no model is asked: the segment gets -2 ln V for a vocabulary of V pieces, which is twice what a
    guess among all pieces costs. A text beyond the model's limit is cut at its end and flagged `truncated`. A causal
    model reads both texts as one, of which the second keeps at least half of the room. Under `both` the parts are the
    two directions.

    Args:
        direction: `hypothesis-given-reference` (the paper's precision), `reference-given-hypothesis` (recall), `both`
            (their mean, the paper's F score), or `hypothesis-given-source` (faithfulness).
        references: with several references, any number per segment, the `mean` of the scores, the `best`, or the
            `first` alone; refused with `hypothesis-given-source`, which reads none.
        prompt: a text in which one `{}` stands for what is given, such as `{} In other words,` of the paper, or
            `summarize: {}` for T5, which wants the name of its task.
        frame: whether pieces around the text itself and its end, such as BART's <s> or the tag of a language, `count`
            (as in BARTScore) or not (`skip`, as in PRISM).
        language: the code of the language of hypothesis and references, for models of many languages.
        source_language: the code of the language of the source, likewise.

    References:
        Yuan et al. (2021), "BARTScore: Evaluating Generated Text as Text Generation", section 3, with its released
        code: the pieces of a text's end, and before its beginning, are of the text. Thompson and Post (2020),
        "Automatic Machine Translation Evaluation in Many Languages via Zero-Shot Paraphrasing", section 3.

        Which pieces count: of BART, mBART, Marian and M2M100 those of the other text with its frame; of T5 with its
        end, since T5 has nothing before a text; of a causal model those of the other text without an end, after the
        begin piece, the given text and a line break. The begin piece is what the tokenizer puts before a text, else
        `bos_token_id` of the configuration, else `eos_token_id`.

        The released code of BARTScore lets the model score empty texts, sometimes as the best, and cuts long ones
        without a word. PRISM's identifier says logarithms to base 2; its code takes natural ones, as here. PRISM's own
        model of 39 languages is none of transformers, so the numbers of another model are not PRISM's.
    """

    direction: Literal[
        "both", "hypothesis-given-reference", "reference-given-hypothesis", "hypothesis-given-source"
    ] = "both"
    references: Literal["mean", "best", "first"] = "mean"
    prompt: str = WHOLE
    frame: Literal["count", "skip"] = "count"
    language: str | None = None
    source_language: str | None = None
    without: ClassVar = {
        "model": "; the paper's: facebook/bart-large-cnn, and for F bart.pth, "
        "converted as the page 'reference/metrics/likelihood' of the documentation says"
    }
    info: ClassVar[MetricInfo] = MetricInfo(
        "bartscore",
        range=(-math.inf, 0.0),
        copy_is_best=False,
        cached=True,
        flags=FLAGS,
        parts={"hypothesis_given_reference": True, "reference_given_hypothesis": True},
        summary="log-likelihood of one text given the other; a copy need not be best: no bound holds what a model says",
        tasks=TASKS,
        paper='Yuan et al. (2021), "BARTScore: Evaluating Generated Text as Text Generation"; Thompson and Post (2020),'
        ' "Automatic Machine Translation Evaluation in Many Languages via Zero-Shot Paraphrasing"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.prompt.count(WHOLE) != 1:
            raise SpecError(f"bartscore:prompt is {self.prompt!r}, expected a text with one {WHOLE}")
        if self.direction == _FROM_SOURCE:
            if self.references != "mean":
                raise SpecError(
                    f"bartscore:references={self.references} changes nothing under direction={_FROM_SOURCE}; leave it"
                    " out"
                )
            object.__setattr__(self, "info", replace(type(self).info, needs={"source"}))
        elif self.source_language is not None:
            raise SpecError(f"bartscore:source_language goes with direction={_FROM_SOURCE}; no source is read")

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of at most 0, without a lower bound; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        Under `both` the parts are the two directions. An empty side gives -2 ln V for a vocabulary of V pieces, which
        is twice what a guess among all pieces costs, and sets the flag `empty`. A segment with a text of which no piece
        is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks what is read, or the model cannot be read or writes no text.
        """
        check_needs(self, segments)
        if self.direction == _FROM_SOURCE:
            return self._score_single(segments, runtime)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        against = [(s.source or "") if self.direction == _FROM_SOURCE else s.references[0] for s in segments]
        sides = [(other, s.hypothesis) for other, s in zip(against, segments, strict=True)]
        ways = [_TO_HYPOTHESIS, _TO_REFERENCE] if self.direction == "both" else [self.direction]
        pairs = [pair[::-1] if way == _TO_REFERENCE else pair for way in ways for pair in sides]
        generator = self.generator(
            runtime,
            template=self.prompt,
            counts_frame=self.frame == "count",
            language=self.language,
            given_language=self.source_language,
        )
        with runtime.progress(len(set(pairs)), "bartscore") as advance:
            found = generator.likelihoods(pairs, advance)
        means, flags = judged(found, worst_of(n_pieces(generator.files)))
        shape = len(ways), len(segments)
        rows = means.reshape(shape)
        parts = {way.replace("-", "_"): row for way, row in zip(ways, rows, strict=True)} if len(ways) > 1 else {}
        every: dict[str, Mask] = {name: np.any(column.reshape(shape), axis=0) for name, column in flags.items()}
        return Scores(signature_of(self, runtime), ids(segments), rows.mean(axis=0), parts, flags=every)


# --- Perplexity: how surprising a causal language model finds the hypothesis, without looking at anything else


@dataclass(frozen=True, kw_only=True)
class Perplexity(GeneratorMetric):
    """The exponential of minus the mean log-probability of a text's pieces, each given those to its left.

    The model reads the hypothesis alone, so it cannot know whether it is true, or what it was made from. The model must
    be causal (GPT-2, Llama, ...) and does not come with the package: `perplexity:model=gpt2`.

    The number of a corpus is taken over all its pieces, and is not the mean over the texts: long texts weigh more. A
    blank hypothesis gets V² for a vocabulary of V pieces, and counts as one piece there. The part `pieces` is the
    number of pieces of a text.

    References:
        Jelinek et al. (1977), "Perplexity: A Measure of the Difficulty of Speech Recognition Tasks". As in the package
        evaluate, the first piece is predicted from the model's begin token, and the end of the text is not.
    """

    info: ClassVar[MetricInfo] = MetricInfo(
        "perplexity",
        needs=frozenset(),
        range=(1.0, math.inf),
        higher_is_better=False,
        copy_is_best=False,
        cached=True,
        flags=FLAGS,
        parts={"pieces": None},
        summary="surprise of a causal language model at the hypothesis; it reads nothing else",
        tasks=TASKS,
        paper='Jelinek et al. (1977), "Perplexity: A Measure of the Difficulty of Speech Recognition Tasks"',
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of at least 1, lower is better; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        The part `pieces` is the number of pieces of the text. An empty hypothesis gives V² for a vocabulary of V
        pieces, counts as one piece in the number of the corpus, and sets the flag `empty`. A hypothesis of which no
        piece is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: the model cannot be read or is no causal language model.
        """
        generator = self.generator(runtime)
        if generator.files.is_paired:
            raise InputError(
                f"perplexity: model {self.model!r} is an encoder-decoder, expected a causal language model (GPT-2,"
                " Llama, ...); bartscore takes encoder-decoders"
            )
        texts = [s.hypothesis for s in segments]
        with runtime.progress(len(set(texts)), "perplexity") as advance:
            found = generator.likelihoods([(None, text) for text in texts], advance)
        means, flags = judged(found, worst_of(n_pieces(generator.files)))
        with np.errstate(over="ignore"):
            values = known(np.exp(-means), np.zeros(len(means)))
        pieces = {"pieces": np.where(found.blank, 1.0, found.counts)}
        named = signature_of(self, runtime)
        return self.counted(Scores(named, ids(segments), values, pieces, flags=flags, higher_is_better=False))

    def counted(self, scores: Scores) -> Scores:
        """The scores with (surprise, pieces) of each text, shape (n, 2), over which a corpus is taken."""
        defined = ~np.isnan(scores.values)
        counts = np.where(defined, scores.parts["pieces"], 0.0)
        surprise = np.log(np.where(defined, scores.values, 1.0)) * counts
        return replace(scores, stats=np.stack([surprise, counts], axis=1), finish=self.corpus)

    @staticmethod
    def corpus(totals: Array) -> Array:
        """The perplexity from summed (surprise, pieces): (..., 2) to (...); NaN without a piece."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            return np.asarray(np.where(totals[..., 1] > 0, np.exp(totals[..., 0] / totals[..., 1]), np.nan))


# --- Fluency without a reference: how well a masked language model can guess each piece of a text from the others


@dataclass(frozen=True, kw_only=True)
class Fluency(Checked, HeadedMetric):
    """Mean log-probability of the pieces of a text, each masked in turn: its pseudo-log-likelihood per piece.

    The default model comes with the package: a small head on the embedded encoder, for English, which stands in for a
    larger one (`fluency:model=roberta-large`) where none can be fetched. Use it to find broken texts within one system
    or topic; where most texts are fluent, it agrees less with people than metrics that read a reference.

    It does not notice wrong agreement ("Heavy rain fall"), what is not true, repetition and register. Rare words and
    names make a text look less fluent.

    A text needs one pass of the model for each of its pieces: one of 100 takes about 25 times as long as one of 20. A
    blank text gets -2 ln V for a vocabulary of V pieces, without asking the model.

    Args:
        model: `infill` (comes with the package), the file of a head, a folder with a masked language model, or its id
            on the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        dtype: the precision of the model; None takes the runtime's.

    References:
        Salazar et al. (2020), "Masked Language Model Scoring", section 2. Here the sum is divided by the number of
        pieces, so that long texts are not worse for their length.
    """

    model: str = DEFAULT
    revision: str | None = None
    dtype: DType | None = None
    info: ClassVar[MetricInfo] = MetricInfo(
        "fluency",
        needs=frozenset(),
        range=(-math.inf, 0.0),
        copy_is_best=False,
        cached=True,
        flags=FLAGS,
        summary="pseudo-log-likelihood of the hypothesis under a small masked language model; it reads nothing else",
        tasks=TASKS,
        paper='Salazar et al. (2020), "Masked Language Model Scoring"',
    )

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        return {"dtype": runtime.precision(self.dtype), **self._found().facts()}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of at most 0, without a lower bound; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty hypothesis gives -2 ln V for a vocabulary of V pieces, which is twice what a guess among all pieces
        costs, and sets the flag `empty`. A hypothesis of which no piece is known is NaN, and one for which the model
        computes no finite number.

        Raises:
            InputError: the model cannot be read, or is no masked language model.
        """
        check_needs(self, segments)
        self._found()
        model = load_infill(self.model, self.revision, runtime.precision(self.dtype), runtime)
        assert isinstance(model, MaskedModel)
        texts = {s.hypothesis: None for s in segments}
        number = {text: n for n, text in enumerate(texts)}
        with runtime.progress(len(texts), "fluency") as advance:
            found = pseudo_likelihoods(model, list(texts), advance)
        means, flags = judged(found, worst_of(len(model.tokenizer.vocabulary)))
        places = [number[s.hypothesis] for s in segments]
        each = {name: column[places] for name, column in flags.items()}
        return Scores(signature_of(self, runtime), ids(segments), means[places], flags=each)

    def _found(self) -> InfillFiles:
        found = locate_infill(self.model, self.revision)
        if found.phrases:
            raise InputError(
                f"fluency: model {self.model!r} is an encoder-decoder, expected a masked language model (BERT, RoBERTa,"
                " ...)"
            )
        return found
