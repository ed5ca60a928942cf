"""Is every sentence of a text supported by its source? And if not, which one, and why?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.base import check_needs
from nlgauge.metrics.nli.evidence import SUPPORTED, Claim, Evidence, Quote
from nlgauge.metrics.nli.grounds import Grounds, Mention
from nlgauge.metrics.nli.model import NliMetric, Questions, unknown_in
from nlgauge.metrics.nli.passages import Nearness, Span, windows
from nlgauge.metrics.unknown import known, nonfinite, unknown
from nlgauge.models import base, locate
from nlgauge.models.entailment import NliModel
from nlgauge.models.heads import HEADS, ON_BASE, on_encoder
from nlgauge.models.locate import SHORT
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import sentence_spans

WIDE = "faithful"  # the head that reads windows; on another encoder the one that stands in its place
_SHARE = 2 / 3  # of the model's room that a window may take: the rest is the claim's
_ALIKE = 1e-5  # supports that differ by less are equal: the last digits hang on the processor


@dataclass(frozen=True, kw_only=True)
class Faithful(NliMetric):
    """The support of each sentence of a text by its source, and the mean over the sentences.

    The source is read twice: by single sentences, and in windows of several sentences, which `wide` reads. Of both the
    highest probability of entailment is taken, and of the two a weighted mean. What the sentence copies from the source
    counts besides. If a name or a number of it stands nowhere in the source, all this is multiplied by `cap`.

    Args:
        wide: the model that reads windows, any that `model` could be. None takes `faithful` or `faithful-base`, that
            which is on the encoder of `model`, where `model` is a head that ships, and `model` otherwise.
        context: the weight of the windows; 0 reads none.
        window: the largest number of pieces of a window, which holds whole sentences, and at least one.
        top: how many sentences and how many windows of the source are read for each sentence: those that share most
            words with it, of which rare ones count more; 0 reads all.
        copied: the weight of the share of the sentence's runs of three words that stand in the source, by their stems;
            the models have the rest.
        cap: the factor for a sentence with a name or a number that the source lacks; 1 leaves it as it is.
        least: the weight of the least supported sentence in the value; the mean of all sentences has the rest.

    References:
        Laban et al. (2022), "SummaC", section 3.2.1, takes the maximum over the source and the mean over the summary,
        both by sentences. Tang et al. (2024), "MiniCheck", sections 3 and 5, read long sources in parts of whole
        sentences and train on documents without a supporting sentence. The rest is ours: the two readings, the choice
        of passages, what is copied, names and numbers, and the weight of the least supported sentence.
    """

    model: str = "nli-robust"
    wide: str | None = None
    context: Annotated[float, Range(least=0, most=1, meaning="a weight")] = 0.3
    window: Annotated[int, Range(least=1)] = 100
    top: Annotated[int, Range(least=0)] = 3
    copied: Annotated[float, Range(least=0, most=1, meaning="a weight")] = 0.3
    cap: Annotated[float, Range(least=0, most=1, meaning="a factor")] = 0.1
    least: Annotated[float, Range(least=0, most=1, meaning="a weight")] = 0.0
    info: ClassVar = MetricInfo(
        "faithful",
        needs={"source"},
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"mean": True, "least": True, "lacking": None},
        summary="support of each sentence by the source; a copy need not be best: a model may be surer of another one",
        tasks={"as"},
        paper='Tang et al. (2024), "MiniCheck: Efficient Fact-Checking of LLMs on Grounding Documents"; Laban et al.'
        ' (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization"',
    )
    lacking: ClassVar = {"source": "; the text that it was made from stands in the field src, or in the file of --src"}

    def __post_init__(self) -> None:
        checked(self)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in [0, 1]; parts `mean` and `least` of the sentences' supports, and `lacking`.

        `lacking` is the number of names and numbers that the source lacks. The flags are `empty`, `truncated`,
        `unknown` and `nonfinite`. An empty side gives 0 and sets the flag `empty`. A segment with a text of which no
        piece is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks its source; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        model = self.loaded(runtime)
        texts = [(segment.hypothesis, segment.source or "") for segment in segments]
        read = _read(dict.fromkeys(text for pair in texts for text in pair), model)
        mean, least, lacking, shares = np.zeros((4, len(segments)))
        empty = np.array([not all(read[text].spans for text in pair) for pair in texts], dtype=np.bool_)
        truncated = np.zeros(len(segments), dtype=np.bool_)
        asked = np.flatnonzero(~empty).tolist()
        found = self._judged([texts[i] for i in asked], read, model, runtime)
        for i, claims in zip(asked, found, strict=True):
            supports = np.array([claim.support for claim in claims])
            mean[i], least[i] = supports.mean(), supports.min()
            lacking[i] = sum(len(claim.lacking) for claim in claims)
            truncated[i] = any(claim.truncated for claim in claims)
        if asked:
            whole = {text: np.concatenate(one.pieces) for text, one in read.items() if one.spans}
            shares[asked] = unknown_in([texts[i] for i in asked], whole, model)
        value = (1 - self.least) * mean + self.least * least
        broken = nonfinite(value)
        value, mean, least = (known(column, shares) for column in (value, mean, least))
        parts = {"mean": mean, "least": least, "lacking": lacking}
        flags = {"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), value, parts, flags=flags)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading a model."""
        wide = self._wide
        if wide is None:
            return {**super().facts(runtime), "window": None}
        head = wide._found().head
        more = {"wide": wide.model, "wide_head": None if head is None else head.identity[:SHORT]}
        return {**super().facts(runtime), **more}

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the models saw in training, as far as their files say."""
        wide = self._wide
        more = () if wide is None else wide._found().trained_on
        return tuple(dict.fromkeys((*super().trained_on, *more)))

    @property
    def _wide(self) -> NliMetric | None:
        """What names the model of the windows; None if there are none."""
        if self.context == 0:
            return None
        shipped = on_encoder(WIDE, base.NAME if self.model in ON_BASE else locate.NAME)
        name = self.wide or (shipped if self.model in HEADS else self.model)
        if name == self.model:
            return self
        return NliMetric(model=name, dtype=self.dtype)

    def _judged(
        self, pairs: Sequence[tuple[str, str]], read: Mapping[str, _Sentences], model: NliModel, runtime: Runtime
    ) -> list[list[_Judged]]:
        """The sentences of each hypothesis, judged against its source. Neither of the two is empty."""
        sources = dict.fromkeys(source for _, source in pairs)
        claims = list(dict.fromkeys((claim, source) for hyp, source in pairs for claim in read[hyp].texts))
        single = {source: _Passages(source, read[source].spans) for source in sources}
        near = _asked(claims, single, self.top, model, runtime)
        wide = self._wide
        around: Sequence[_Answer | None] = [None] * len(claims)
        if wide is not None:
            reader = wide.loaded(runtime)
            around = _asked(claims, self._windows(sources, read, reader), self.top, reader, runtime)
        grounds = {source: Grounds(source) for source in sources}
        judged: dict[tuple[str, str], _Judged] = {}
        for (claim, source), one, more in zip(claims, near, around, strict=True):
            lacking = grounds[source].lacks(claim)
            entailed = one.entailed if more is None else _between(one.entailed, more.entailed, self.context)
            support = _between(entailed, grounds[source].copied(claim), self.copied)
            cut = one.truncated or (more is not None and more.truncated)
            judged[claim, source] = _Judged(support * (self.cap if lacking else 1.0), lacking, cut, one, more)
        return [[judged[claim, source] for claim in read[hyp].texts] for hyp, source in pairs]

    def _windows(
        self, sources: Iterable[str], read: Mapping[str, _Sentences], reader: NliModel
    ) -> dict[str, _Passages]:
        """The windows of each source."""
        room = reader.tokenizer.room
        limit = self.window if room is None else min(self.window, int(room * _SHARE))
        sizes = reader.tokenizer.read(sentence for source in sources for sentence in read[source].texts)
        found = {}
        for source in sources:
            spans = read[source].spans
            runs = windows([len(sizes[sentence]) for sentence in read[source].texts], limit)
            found[source] = _Passages(source, [(spans[first][0], spans[after - 1][1]) for first, after in runs])
        return found


def _between(one: float, other: float, share: float) -> float:
    return (1 - share) * one + share * other


def evidence(hypothesis: str, source: str, runtime: Runtime | None = None, metric: Faithful | None = None) -> Evidence:
    """The support of each sentence of a text, with the sentence of the source that supports it best.

    Args:
        hypothesis: the text.
        source: what it was made from.
        runtime: None is the default runtime.
        metric: None is `Faithful()`.

    Raises:
        InputError: the model cannot be read or is not an NLI model.
    """
    metric, runtime = metric or Faithful(), runtime or Runtime()
    score = metric.score([Segment("", hypothesis, source=source)], runtime)
    model = metric.loaded(runtime)
    read = _read([hypothesis, source], model)
    claims: list[Claim] = []
    if read[hypothesis].spans and read[source].spans:
        (judged,) = metric._judged([(hypothesis, source)], read, model, runtime)
        for (start, end), one in zip(read[hypothesis].spans, judged, strict=True):
            best = _telling(one.near.probabilities)
            first, after = one.near.passages[best]
            lacking = tuple(Mention(start + m.start, start + m.end, m.text, m.kind) for m in one.lacking)
            sentence, quote = Quote(start, end, hypothesis[start:end]), Quote(first, after, source[first:after])
            denied = float(one.near.probabilities[best, 2])
            if one.around is not None:  # a window shows what a pronoun stands for
                wide = one.around.probabilities
                denied = _between(denied, float(wide[_telling(wide), 2]), metric.context)
            claims.append(Claim(sentence, one.support, denied, quote, lacking))
    return Evidence(float(score.values[0]), tuple(claims), score.signature)


def _telling(probabilities: Array) -> int:
    """The sentence that supports a claim; if none does, the one that says most of it, be it the contrary.

    Args:
        probabilities: of entailment, neutrality and contradiction by each sentence, shape (sentences, 3).
    """
    entailed, neutral = probabilities[:, 0], probabilities[:, 1]
    telling = entailed if entailed.max() >= SUPPORTED else -neutral
    return int(np.argmax(telling >= telling.max() - _ALIKE))  # the first of those that are alike


class _Passages:
    """Parts of a source, and how near they are to a sentence."""

    def __init__(self, source: str, spans: Sequence[Span]) -> None:
        self.spans, self.texts = spans, [source[start:end] for start, end in spans]
        self._nearness = Nearness(self.texts)

    def near(self, claim: str, top: int) -> Sequence[int]:
        """Places of the passages to read for a claim."""
        return self._nearness.nearest(claim, top or len(self.spans))


@dataclass(frozen=True)
class _Answer:
    """What a model says of a claim beside some passages.

    Attributes:
        probabilities: of entailment, neutrality and contradiction by each passage, shape (passages, 3).
        passages: where they stand in the source.
        truncated: whether a pair was cut.
    """

    probabilities: Array
    passages: tuple[Span, ...]
    truncated: bool

    @property
    def entailed(self) -> float:
        """The highest probability of entailment."""
        return float(self.probabilities[:, 0].max())


@dataclass(frozen=True)
class _Judged:
    """A sentence of a hypothesis beside its source.

    Attributes:
        support: how far the models and the copied words support it, less what names and numbers take off.
        lacking: names and numbers that the source lacks.
        truncated: whether a pair was cut.
        near: what single sentences of the source say.
        around: what windows say; None where none were read.
    """

    support: float
    lacking: tuple[Mention, ...]
    truncated: bool
    near: _Answer
    around: _Answer | None


def _asked(
    claims: Sequence[tuple[str, str]], passages: Mapping[str, _Passages], top: int, model: NliModel, runtime: Runtime
) -> list[_Answer]:
    """What a model says of each claim (a sentence and its source) beside the nearest passages of the source."""
    questions, asked = Questions(), []
    for owner, (claim, source) in enumerate(claims):
        own = passages[source]
        near = own.near(claim, top)
        asked.append(tuple(own.spans[place] for place in near))
        questions.ask(owner, [(own.texts[place], claim) for place in near])
    contents = model.tokenizer.read(text for pair in questions.pairs for text in pair)
    probabilities, cut = questions.judged(model, contents, runtime, "faithful")
    ends = np.cumsum([len(spans) for spans in asked])
    rows = [slice(end - len(spans), end) for spans, end in zip(asked, ends.tolist(), strict=True)]
    return [_Answer(probabilities[row], spans, bool(cut[row].any())) for row, spans in zip(rows, asked, strict=True)]


@dataclass(frozen=True)
class _Sentences:
    """The sentences of a text of which the tokenizer keeps something.

    Attributes:
        texts: the sentences.
        spans: where they stand.
        pieces: what the model reads of each.
    """

    texts: tuple[str, ...]
    spans: tuple[Span, ...]
    pieces: tuple[Ids, ...]


def _read(texts: Iterable[str], model: NliModel) -> dict[str, _Sentences]:
    """The sentences of each text. A blank text has none."""
    spans = {text: [] if is_blank(text) else sentence_spans(text) for text in texts}
    pieces = model.tokenizer.read(text[start:end] for text, found in spans.items() for start, end in found)
    read = {}
    for text, found in spans.items():
        # What the tokenizer keeps nothing of, as BERT's of U+FFFD, is no sentence.
        kept = [(start, end) for start, end in found if len(pieces[text[start:end]])]
        sentences = tuple(text[start:end] for start, end in kept)
        read[text] = _Sentences(sentences, tuple(kept), tuple(pieces[sentence] for sentence in sentences))
    return read
