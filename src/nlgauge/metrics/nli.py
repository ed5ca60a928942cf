"""NLI as a metric: of whole texts, of sentences (SummaC-ZS), and of a response after its dialogue (BERT-NLI)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, ClassVar, Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, check_needs, known, nonfinite, over_references, signature_of, unknown
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank, said, stripped
from nlgauge.metrics.languages import unread_by_model
from nlgauge.models.entailment import NliFiles, NliModel, PairTokenizer, load_nli, locate_nli
from nlgauge.models.heads import HEADS, Headed
from nlgauge.models.tokens import Ids, token_limit
from nlgauge.runtime.runtime import DType, Runtime
from nlgauge.text.scripts import Writing
from nlgauge.text.tokenize import sentence_spans, split_sentences

_LEAST_TOKENS = 8  # a frame of special tokens, and a piece or two of each text


class HeadedMetric(BaseMetric):
    """Base of a metric over a checkpoint or a head, whose files it finds by `_found`."""

    max_tokens: int | None = None

    def _found(self) -> Headed:
        """The files of its model."""
        raise NotImplementedError

    @property
    def limit(self) -> int | None:
        """The limit that was asked for, else that of training, else the model's own."""
        files = self._found()
        return token_limit(files.files, files.max_tokens(self.max_tokens))

    def unread(self, writing: Writing) -> str | None:
        """Whether the model reads another language, and what to do; None if its languages are not known."""
        return unread_by_model(self._found().languages, writing)


@dataclass(frozen=True, kw_only=True)
class NliMetric(Checked, HeadedMetric):
    """Options of a metric that asks an NLI model.

    Args:
        model: `nli` or `nli-robust` (heads over the embedded encoder, which come with the package), `nli-base` or
            `nli-robust-base` (over the encoder `base`), `nli-multi` (over `multilingual`), the file of a head, a folder
            with a sequence classifier, or its id on the Hugging Face hub. Labels are read from the configuration:
            entailment, neutral and contradiction; or two, as fact checkers have them: supported and unsupported,
            entailment and not_entailment, consistent and hallucination. The probability of supported then is e. Any
            other model is refused.
        revision: branch, tag or commit of a hub model.
        labels: the labels of the model's outputs, in order ("contradiction,neutral,entailment", or of two
            "unsupported,supported"), where the model does not name them itself (`LABEL_0`) and is refused without this.
        max_tokens: the largest number of pieces of a pair, special tokens included; None takes the limit that the model
            was trained with, else the limit of what it can read.
        dtype: the precision of the model; None takes the runtime's.
    """

    model: str = "nli"
    revision: str | None = None
    labels: str | None = None
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None
    as_one: ClassVar[bool] = False  # both texts are read as one, see `PairTokenizer`

    def _check_references(self) -> None:
        """Refuse a way to use several references where none is read."""
        anchor, references = (getattr(self, name) for name in ("anchor", "references"))
        if anchor == "source" and references != "mean":
            name = type(self).info.name  # type: ignore[attr-defined]
            raise SpecError(f"{name}:references={references} changes nothing under anchor=source; leave it out")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = self._found()
        limit = files.max_tokens(self.max_tokens)
        return {"dtype": runtime.precision(self.dtype), "max_tokens": limit, **files.facts()}

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the model saw in training, as far as its file says."""
        return self._found().trained_on

    def _found(self) -> NliFiles:
        found = locate_nli(*self._place, self.labels)
        for option in ("formula", "variant"):
            value = getattr(self, option, "e")
            if value != "e" and not found.is_split:  # e-n-c would hold, as 2e - 1; it is none of the formulas
                raise InputError(
                    f"model {self.model!r} has two labels, and {option}={value} needs neutral or contradiction alone;"
                    f" use {option}=e, the probability of supported"
                )
        return found

    def loaded(self, runtime: Runtime) -> NliModel:
        """The loaded model; a runtime holds one copy."""
        self._found()  # refuses what the model's labels do not give, before weights are read
        precision = runtime.precision(self.dtype)
        return load_nli(*self._place, self.labels, precision, runtime, self.max_tokens, as_one=self.as_one)

    @property
    def _place(self) -> tuple[str, str | None]:
        """The model and its revision."""
        return self.model, self.revision


def anchors(segments: Sequence[Segment], anchor: str) -> list[str]:
    """The anchor of each hypothesis: its only reference, or its source."""
    return [s.references[0] if anchor == "reference" else s.source or "" for s in segments]


def unknown_in(pairs: Sequence[tuple[str, str]], contents: Mapping[str, Ids], model: NliModel) -> Array:
    """The highest share of unknown pieces in a text of each pair, shape (n,)."""
    shares = dict(zip(contents, model.tokenizer.unknown_shares(contents.values()), strict=True))
    return np.array([max(shares[text] for text in pair) for pair in pairs], dtype=np.float64)


def empty_in(pairs: Sequence[tuple[str, str]], contents: Mapping[str, Ids]) -> Mask:
    """Whether the tokenizer keeps nothing of a text of each pair, as BERT's of U+FFFD alone, shape (n,)."""
    return np.array([not all(len(contents[text]) for text in pair) for pair in pairs], dtype=np.bool_)


@dataclass
class Questions:
    """Pairs collected from many segments and judged in one batch.

    Attributes:
        pairs: (premise, hypothesis).
        owners: the question that each pair belongs to.
    """

    pairs: list[tuple[str, str]] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)

    def ask(self, owner: int, pairs: Sequence[tuple[str, str]]) -> None:
        """Add pairs of one question."""
        self.pairs += pairs
        self.owners += [owner] * len(pairs)

    def judged(
        self, model: NliModel, contents: Mapping[str, Ids], runtime: Runtime, name: str
    ) -> tuple[Array, npt.NDArray[np.bool_]]:
        """The model's answers to each pair.

        Returns:
            Probabilities of entailment, neutrality and contradiction, shape (n, 3), of which a model with two labels
            leaves the last two NaN; whether the pair was cut, (n,).
        """
        with runtime.progress(len(self.pairs), name) as advance:
            entailment = model.judge(self.pairs, contents, advance)
        return entailment.probabilities, entailment.truncated


# --- Long premises in parts: runs of whole sentences, each short enough to be read beside the hypothesis


def premise_windows(
    pairs: Sequence[tuple[str, str]], tokenizer: PairTokenizer
) -> tuple[list[list[str]], Mapping[str, Ids]]:
    """The parts in which each premise is read.

    A premise that fits beside its hypothesis is one part. The parts of a longer one begin at sentences, do not overlap,
    and hold as many sentences as fit; a sentence that is too long alone is a part and will be cut. A hypothesis takes
    at most half of the room.

    Args:
        pairs: n pairs of premise and hypothesis.
        tokenizer: of the model that will read them.

    Returns:
        The parts of each premise, length n; and the pieces of every text, parts included.
    """
    contents = tokenizer.read(text for pair in pairs for text in pair)
    room = tokenizer.room
    parts = [[premise] for premise, _ in pairs]
    if room is None:
        return parts, contents
    long = [
        i
        for i, (premise, hyp) in enumerate(pairs)
        if len(contents[premise]) + len(contents[hyp]) > room and len(contents[premise]) > room // 2
    ]
    spans = {premise: sentence_spans(premise) for premise in {pairs[i][0] for i in long}}
    sizes = tokenizer.read(premise[start:end] for premise, found in spans.items() for start, end in found)
    for i in long:
        premise, hyp = pairs[i]
        left = max(room - len(contents[hyp]), room // 2)
        lengths = [len(sizes[premise[start:end]]) for start, end in spans[premise]]
        parts[i] = [premise[spans[premise][a][0] : spans[premise][b - 1][1]] for a, b in packed(lengths, left)] or [
            premise
        ]
    return parts, {**contents, **tokenizer.read(part for i in long for part in parts[i])}


def packed(lengths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """First sentence and the one after the last of each part."""
    parts: list[tuple[int, int]] = []
    start = used = 0
    for i, length in enumerate(lengths):
        if i > start and used + length > room:
            parts.append((start, i))
            start, used = i, 0
        used += length
    return [*parts, (start, len(lengths))] if start < len(lengths) else parts


# --- NLI as a metric: how far the hypothesis and the reference (or source) entail each other

# formula -> weights of e, n and c, and the lowest and highest value of probabilities that sum to 1.
FORMULAS: dict[str, tuple[tuple[float, float, float], tuple[float, float]]] = {
    "e": ((1.0, 0.0, 0.0), (0.0, 1.0)),
    "-c": ((0.0, 0.0, -1.0), (-1.0, 0.0)),
    "e-n": ((1.0, -1.0, 0.0), (-1.0, 1.0)),
    "e-c": ((1.0, 0.0, -1.0), (-1.0, 1.0)),
    "e-n-2c": ((1.0, -1.0, -2.0), (-2.0, 1.0)),
}
Direction = Literal["forward", "backward", "both", "both-geometric", "both-smaller"]
_OF_THE_PAPER = {"rh": "forward", "hr": "backward", "avg": "both"}
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
_WHY = "a copy need not be best: a model may be surer of another sentence"


def pool(formula: str, *probabilities: Array) -> Array:
    """A formula of e, n and c, each of shape (n,), in this order; of e alone where the others have no weight."""
    weights, _ = FORMULAS[formula]
    terms = [weight * column for weight, column in zip(weights, probabilities, strict=False)]
    return np.asarray(sum(terms) + 0.0)  # + 0.0: no minus zero


def joined(direction: Direction, ways: Array, low: float) -> Array:
    """One value from the values of the directions.

    Args:
        direction: `both-geometric` takes the geometric mean of the distances from the formula's worst value, so that a
            text that fails in one direction cannot be saved by the other; `both-smaller` takes the smaller value; any
            other takes the mean.
        ways: values of a formula, shape (directions, n).
        low: the formula's worst value.
    """
    if direction == "both-geometric":  # rounding may leave a value a hair below the worst
        return np.asarray(low + np.sqrt(np.prod(np.maximum(ways - low, 0.0), axis=0)))
    return np.asarray(ways.min(axis=0) if direction == "both-smaller" else ways.mean(axis=0))


@dataclass(frozen=True, kw_only=True)
class Nli(NliMetric):
    """A formula of three probabilities: entailment (e), neutrality (n) and contradiction (c).

    A model reads the anchor, which is a reference or the source, and the hypothesis, and says whether one follows from
    the other. So wrong numbers, names and negations cost much where the rest is a near-copy.

    `nli` and `nli-robust` are small heads. They find such near-copies best in sentences of Wikipedia, of which their
    training sets are made; in news `nli` misses half of them. Which of two ordinary translations is better they tell no
    better than chrF, and jumbled words cost next to nothing: join them to a metric of similarity, as in `0.3*nli +
    0.7*bertscore` (the paper advises 0.2 to 0.3). Both were taught errors like those of the audits, and audits mark
    such rows (`trained_on`). For documents as sources take `faithful` or `summac`, which read sentences.

    The paper takes `direction=both` for translation and data-to-text, `formula=e-c,direction=backward` for summaries
    against references, and `formula=-c,direction=forward,anchor=source` against the source, with large models: presets
    `paper/nli-...` name them. `paper/xnli-...` read the source in another language; `paper/xnli-r` must be fine-tuned
    first and given as `model=PATH`. `paper/menli-r` and `paper/menli-d` are MENLI, 0.2 of NLI and 0.8 of BERTScore;
    options of their terms begin with the term's name: `paper/menli-r:nli_model=FOLDER,bertscore_model=FOLDER`.

    The parts `e`, `n` and `c` are the means of both directions. A model with two labels does not split what is not
    supported: it gives `formula=e` and the part `e` alone. The range follows the formula: 0 to 1 for `e`, -1 to 0 for
    `-c`, -1 to 1 for `e-n` and `e-c`, -2 to 1 for `e-n-2c` (from -3 with `references=parts`). An empty side gets the
    worst value (flag `empty`), without asking the model. A copy need not be best.

    Args:
        formula: `e`, `-c`, `e-n`, `e-c` or `e-n-2c`.
        direction: `forward` takes the anchor as the premise, `backward` the hypothesis; `both` first averages the
            probabilities of the two directions, so that a text that says too much or too little keeps half of its
            score; `both-geometric` and `both-smaller` take the formula of each direction, and then the geometric mean
            of the distances from the worst value, or the smaller value, and find more additions and omissions. `rh`,
            `hr` and `avg` are the paper's words for the first three. None takes `both-geometric` for the heads that
            come with the package and `both` for any other model.
        anchor: what the hypothesis is compared with: `reference` or `source`.
        references: with several references, the `mean`; the `best` (the one with the best value); the `first`; or
            `parts`, the highest e, n and c over the references, each on its own and in each direction, and then the
            mean of the directions and the formula, as in the released code, so that e of one reference may meet c of
            another. Refused with `anchor=source`, where none is read.
        long: a pair beyond the limit is cut, the longer side first, and flagged (`truncate`), or its premise is read in
            windows of whole sentences (`windows`). The window with the lowest n then counts; with two labels, the one
            with the highest e. What is still too long is cut.

    References:
        Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference", section 4.3.

        Where this differs from the released code (MENLI 1.0.1): labels are read from the model, never assumed by its
        name; e-n-2c exists; an empty side gets the formula's worst value (theirs asks the model); outer blanks of a
        text do not count (in theirs they are tokens of RoBERTa). A sum of metrics scales each by this call alone, and
        refuses one segment or equal scores (theirs keeps scores of earlier calls, and divides 0 by 0). The geometric
        mean and the smaller value are ours.
    """

    formula: Literal["e", "-c", "e-n", "e-c", "e-n-2c"] = "e"
    direction: Direction | Literal["rh", "hr", "avg"] | None = None
    anchor: Literal["reference", "source"] = "reference"
    references: Literal["mean", "best", "first", "parts"] = "mean"
    long: Literal["truncate", "windows"] = "truncate"
    info: ClassVar = MetricInfo(
        "nli",
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"e": True, "n": None, "c": False},
        summary=f"entailment as a metric; {_WHY}",
        tasks={"mt", "as", "d2t"},
        paper='Chen and Eger (2023), "MENLI: Robust Evaluation Metrics from Natural Language Inference"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "direction", _OF_THE_PAPER.get(str(self.direction), self.direction))
        self._check_references()
        low, high = FORMULAS[self.formula][1]
        if self.references == "parts" and self.formula == "e-n-2c":
            low = -3.0  # the highest n and the highest c may come from two references
        needs = {"references"} if self.anchor == "reference" else {"source"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, range=(low, high)))

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the formula; parts `e`, `n`, `c`; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        An empty side gives the formula's worst value (with e 0 and c 1; n 1 for e-n) and sets the flag `empty`. A
        segment with a text of which no piece is known is NaN, and one for which the model computes no finite number.

        Raises:
            InputError: a segment lacks the anchor; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        if self.anchor == "source":
            return self._score_single(segments, runtime)
        if self.references != "parts":
            return over_references(segments, self.references, lambda single: self._score_single(single, runtime))
        found = [self.highest_means(segments, replace(self, direction=way), runtime) for way in self._ways]
        each = {name: np.stack([one.parts[name] for one in found]) for name in found[0].parts}
        flags = {name: np.any([one.flags[name] for one in found], axis=0) for name in found[0].flags}
        values, parts = self._value(each)
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        each = {"highest_in": "each direction"} if self.references == "parts" and len(self._ways) > 1 else {}
        return {**super().facts(runtime), "direction": self.joining, **each}

    @property
    def joining(self) -> Direction:
        """The direction, or how two are joined: as the option says, else what suits the model."""
        return cast(Direction | None, self.direction) or ("both-geometric" if self.model in HEADS else "both")

    @property
    def _ways(self) -> tuple[Direction, ...]:
        """The directions in which the model is asked."""
        one = self.joining
        return (one,) if one in ("forward", "backward") else ("forward", "backward")

    def _value(self, each: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
        """The values and the mean probabilities, from those of each direction, of shape (directions, n)."""
        parts = {name: np.asarray(column.mean(axis=0)) for name, column in each.items()}
        if self.joining not in ("both-geometric", "both-smaller"):
            return pool(self.formula, *parts.values()), parts
        return joined(self.joining, pool(self.formula, *each.values()), self.info.range[0]), parts

    def highest_means(self, segments: Sequence[Segment], one_way: Nli, runtime: Runtime) -> Scores:
        """The highest probabilities over the references in one direction, each on its own, as parts."""
        # An empty reference beside others must not be the one with the highest c: undefined for now.
        scores = over_references(
            segments, "best_each", lambda single: one_way._score_single(single, runtime, (np.nan, np.nan, np.nan))
        )
        parts = {
            name: np.where(np.isnan(column) & scores.flags["empty"], w, column)
            for (name, column), w in zip(scores.parts.items(), self._worst, strict=False)
        }
        return replace(scores, parts=parts)

    @property
    def _worst(self) -> tuple[float, float, float]:
        """The probabilities e, n and c that an empty side gets."""
        return (0.0, 1.0, 0.0) if self.formula == "e-n" else (0.0, 0.0, 1.0)

    def _score_single(
        self, segments: Sequence[Segment], runtime: Runtime, unread: tuple[float, float, float] | None = None
    ) -> Scores:
        against = anchors(segments, self.anchor)
        texts = [(stripped(anchor), stripped(s.hypothesis)) for anchor, s in zip(against, segments, strict=True)]
        empty = np.array([not (anchor and hyp) for anchor, hyp in texts], dtype=np.bool_)
        probabilities = np.tile(unread or self._worst, (len(self._ways), len(segments), 1))  # (directions, n, 3)
        truncated, broken = np.zeros((2, len(segments)), dtype=np.bool_)
        shares = np.zeros(len(segments))
        asked = np.flatnonzero(~empty)
        if len(asked):
            forward = [texts[i] for i in asked]
            ways = [[(b, a) for a, b in forward] if way == "backward" else forward for way in self._ways]
            found = self._ask([pair for way in ways for pair in way], runtime)
            read = ~found.empty[: len(asked)]  # the same texts in every direction
            empty[asked], asked = ~read, asked[read]
            told = found.probabilities.reshape(len(ways), -1, 3)[:, read]
            probabilities[:, asked] = told
            broken[asked] = nonfinite(told[..., 0].T)  # if one is not finite, all are not
            truncated[asked] = found.truncated.reshape(len(ways), -1)[:, read].any(axis=0)
            shares[asked] = found.unknown[: len(read)][read]
        names = "enc" if self._found().is_split else "e"
        values, parts = self._value(
            {name: np.stack([known(way, shares) for way in probabilities[..., i]]) for i, name in enumerate(names)}
        )
        flags = {"empty": empty, "truncated": truncated, "unknown": unknown(shares), "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), values, parts, flags=flags)

    def _ask(self, pairs: list[tuple[str, str]], runtime: Runtime) -> Answers:
        model = self.loaded(runtime)
        questions = Questions()
        if self.long == "truncate":
            whole = model.tokenizer.read(text for pair in pairs for text in pair)
            questions.ask(0, pairs)
            found, cut = questions.judged(model, whole, runtime, "nli")
            return Answers(found, cut, unknown_in(pairs, whole, model), empty_in(pairs, whole))
        windows, contents = premise_windows(pairs, model.tokenizer)
        for i, (parts, (_, hypothesis)) in enumerate(zip(windows, pairs, strict=True)):
            questions.ask(i, [(part, hypothesis) for part in parts])
        found, cut = questions.judged(model, contents, runtime, "nli")
        owners = np.array(questions.owners)
        # A model with two labels knows no n. Whatever one window supports is supported.
        doubt = found[:, 1] if self._found().is_split else -found[:, 0]
        order = np.lexsort((doubt, owners))  # by question, the surest window first
        surest = order[np.searchsorted(owners[order], np.arange(len(pairs)))]
        is_cut = np.bincount(owners, cut, len(pairs)) > 0
        return Answers(found[surest], is_cut, unknown_in(pairs, contents, model), empty_in(pairs, contents))


@dataclass(frozen=True)
class Answers:
    """A model's answers to n pairs.

    Attributes:
        probabilities: of entailment, neutrality and contradiction, shape (n, 3).
        truncated: whether text was cut, shape (n,).
        unknown: the highest share of unknown pieces in a text of the pair, shape (n,).
        empty: whether a text of the pair has no piece, shape (n,).
    """

    probabilities: Array
    truncated: Mask
    unknown: Array
    empty: Mask

    def of(self, label: int) -> Array:
        """The probabilities of a label, shape (n,); NaN where no piece of a text is known."""
        return known(self.probabilities[:, label], self.unknown)

    @property
    def flags(self) -> dict[str, Mask]:
        """The flags `empty`, `truncated`, `unknown` and `nonfinite`."""
        broken = nonfinite(self.probabilities[:, 0])  # if one is not finite, all are not
        return {"empty": self.empty, "truncated": self.truncated, "unknown": unknown(self.unknown), "nonfinite": broken}


# --- SummaC-ZS: is every sentence of the summary entailed by some sentence of the source?

_RANGES = {"e": (0.0, 1.0), "c": (0.0, 1.0), "e-c": (-1.0, 1.0)}


@dataclass(frozen=True, kw_only=True)
class SummaC(NliMetric):
    """For each sentence of the summary, the highest probability over the source's sentences; then the mean over these.

    It asks whether each sentence of a summary follows from some one sentence of its source, so it doubts what rests on
    two of them. On facts of summaries of news `faithful` agrees better with people. The parts `e` and `c` are the means
    of the highest; the range is 0 to 1, and -1 to 1 for `e-c`. An empty side gets the worst value (flag `empty`).

    Time grows with the product of both numbers of sentences. Sentences are found by rules; where these fail, write one
    sentence per line.

    Args:
        variant: `e` is the highest entailment, `c` is 1 minus the highest contradiction, and `e-c` is the highest
            entailment minus the highest contradiction. A model with two labels gives `e` and the part `e` alone.
        anchor: what the summary is compared with: `source` or `reference`.
        references: with several references, the `mean` or the `best`. Refused with `anchor=source`, where none is read.

    References:
        Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in Summarization",
        section 3.2.1.

        Where this differs from the released code (summac 0.0.4): sentences of ten characters or fewer count too, and so
        do sentences of the source beyond the hundredth; sentences come from our splitter, not from nltk's; any model
        can be named.
    """

    variant: Literal["e", "c", "e-c"] = "e"
    anchor: Literal["source", "reference"] = "source"
    references: Literal["mean", "best"] = "mean"
    info: ClassVar = MetricInfo(
        "summac",
        needs={"source"},
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"e": True, "c": False},
        summary="entailment sentence by sentence; a copy need not be best: a model may be surer of another sentence",
        tasks={"as"},
        paper='Laban et al. (2022), "SummaC: Re-Visiting NLI-based Models for Inconsistency Detection in'
        ' Summarization"',
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_references()
        needs = {"references"} if self.anchor == "reference" else {"source"}
        object.__setattr__(self, "info", replace(type(self).info, needs=needs, range=_RANGES[self.variant]))

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the variant; parts `e` and `c`, the means of the highest.

        The flags are `empty`, `truncated`, `unknown` and `nonfinite`. An empty side gives the worst value (e 0, c 1)
        and sets the flag `empty`. A segment with a text of which no piece is known is NaN, and one for which the model
        computes no finite number.

        Raises:
            InputError: a segment lacks the anchor; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        if self.anchor == "source":
            return self._score_single(segments, runtime)
        return over_references(segments, self.references, lambda single: self._score_single(single, runtime))

    def _score_single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        texts = [*zip(anchors(segments, self.anchor), (s.hypothesis for s in segments), strict=True)]
        split = parts_of_each(split_sentences, (text for pair in texts for text in pair))
        found = highest_means(self.loaded(runtime), self.info.name, texts, split, split, runtime)
        e, c = found.of(0), found.of(2)
        value = {"e": e, "c": 1 - c, "e-c": e - c}[self.variant]
        parts = {"e": e, "c": c} if self._found().is_split else {"e": e}
        return Scores(signature_of(self, runtime), ids(segments), value, parts, flags=found.flags)


def parts_of_each(split: Callable[[str], list[str]], texts: Iterable[str]) -> dict[str, list[str]]:
    """The parts of each distinct text; none of a blank one."""
    return {text: [] if is_blank(text) else split(text) for text in set(texts)}


def highest_means(
    model: NliModel,
    name: str,
    texts: Sequence[tuple[str, str]],
    premises: Mapping[str, list[str]],
    claims: Mapping[str, list[str]],
    runtime: Runtime,
) -> Answers:
    """Of each part of a text the highest probability over the parts of what it is compared with; then the mean.

    The texts are n pairs of what is compared with and the text; `premises` and `claims` are the parts of each. Where
    one of the two is blank, e is 0 and c is 1.
    """
    # What the tokenizer keeps nothing of, as BERT's of U+FFFD, is no part.
    contents = model.tokenizer.read(part for parts in (*premises.values(), *claims.values()) for part in parts)
    premises, claims = (
        {text: [part for part in parts if len(contents[part])] for text, parts in side.items()}
        for side in (premises, claims)
    )
    shapes, questions = [], Questions()
    for i, (first, second) in enumerate(texts):
        rows, columns = premises[first], claims[second]
        shapes.append((len(rows), len(columns)))
        questions.ask(i, [(premise, hypothesis) for premise in rows for hypothesis in columns])
    means = np.tile([0.0, 0.0, 1.0], (len(texts), 1))
    truncated, shares = np.zeros(len(texts), dtype=np.bool_), np.zeros(len(texts))
    empty = np.array([0 in shape for shape in shapes], dtype=np.bool_)
    if questions.pairs:
        probabilities, cut = questions.judged(model, contents, runtime, name)
        parts_of = {text: parts for text, parts in {**premises, **claims}.items() if parts}
        whole = {text: np.concatenate([contents[part] for part in parts]) for text, parts in parts_of.items()}
        asked = np.flatnonzero(~empty)
        shares[asked] = unknown_in([texts[i] for i in asked.tolist()], whole, model)
        ends = np.cumsum([rows * columns for rows, columns in shapes])
        for i in asked.tolist():
            n_rows, n_columns = shapes[i]
            part = slice(ends[i] - n_rows * n_columns, ends[i])
            highest = probabilities[part].reshape(n_rows, n_columns, 3).max(axis=0)  # (columns, 3)
            means[i] = highest.mean(axis=0)
            truncated[i] = cut[part].any()
    return Answers(means, truncated, shares, empty)


# --- BERT-NLI for dialogue: does a response follow from what was said before?


@dataclass(frozen=True, kw_only=True)
class BertNli(NliMetric):
    """A formula of how far a response (the hypothesis) is entailed by its dialogue context (the premise).

    A response that contradicts what was said gets a low value. The models here learnt from general NLI data, in which a
    question entails nothing, so most good responses are neutral to them: `formula=-c`, which only punishes
    contradictions, may suit better. It was not tested on rated dialogues. It is no help where sources are dialogue acts
    such as `confirm(area=dont_care)`.

    Parts and range are those of `nli`. If context and response do not fit together, the oldest turns are left out,
    whole (flag `truncated`). If nothing was said before, or the response is empty, the segment gets the worst value
    (flag `empty`).

    Args:
        formula: `e`, `-c`, `e-n`, `e-c` or `e-n-2c`, as in `nli`.
        anchor: the premise: the turns of `context`, in order, with a blank between them and without the names of
            speakers; or the `source`, where it holds what was said before.
        turns: how many of the last turns are read; None reads all of them. Refused with `anchor=source`.

    References:
        Dziri et al. (2019), "Evaluating Coherence in Dialogue Systems using Entailment", section 3.2. The authors
        train their models on dialogues; the models here were trained on general NLI data.
    """

    formula: Literal["e", "-c", "e-n", "e-c", "e-n-2c"] = "e"
    anchor: Literal["context", "source"] = "context"
    turns: Annotated[int, Range(least=1)] | None = None
    info: ClassVar = MetricInfo(
        "bert-nli",
        needs={"context"},
        copy_is_best=False,
        cached=True,
        flags={"unknown", "nonfinite"},
        parts={"e": True, "n": None, "c": False},
        summary="entailment of a response by its dialogue context (Dziri et al. 2019)",
        tasks={"dg"},
        paper='Dziri et al. (2019), "Evaluating Coherence in Dialogue Systems using Entailment"',
    )
    lacking: ClassVar = {"context": "; with what was said before as the source, use bert-nli:anchor=source"}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.anchor == "source" and self.turns is not None:
            raise SpecError(f"bert-nli:turns={self.turns} changes nothing under anchor=source; leave it out")
        about = replace(type(self).info, needs={self.anchor}, range=FORMULAS[self.formula][1])
        object.__setattr__(self, "info", about)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the formula; parts `e`, `n`, `c`; flags `empty`, `truncated`, `unknown` and `nonfinite`.

        A context that does not fit beside its response loses its oldest turns, and the flag `truncated` is set. A blank
        response, or a context in which nothing was said, gives the formula's worst value and sets the flag `empty`.

        Raises:
            InputError: a segment lacks its context or source; the model cannot be read or is not an NLI model.
        """
        check_needs(self, segments)
        premises, cut = self._premises(segments, runtime)
        shared = {field.name: getattr(self, field.name) for field in fields(NliMetric)}
        forward = Nli(**shared, formula=self.formula, direction="forward", anchor="source")
        scores = forward.score([replace(s, source=p) for s, p in zip(segments, premises, strict=True)], runtime)
        flags = {**scores.flags, "truncated": scores.flags["truncated"] | cut}
        return replace(scores, signature=signature_of(self, runtime), flags=flags)

    def _premises(self, segments: Sequence[Segment], runtime: Runtime) -> tuple[list[str], Mask]:
        """The premise of each segment, and whether turns that should be read were left out, shape (n,)."""
        cut = np.zeros(len(segments), dtype=np.bool_)
        if self.anchor == "source":
            return [s.source or "" for s in segments], cut
        kept = [said(s.context, self.turns) for s in segments]
        tokenizer = self.loaded(runtime).tokenizer if any(len(turns) > 1 for turns in kept) else None
        if tokenizer is not None and tokenizer.room is not None:
            texts = {text for turns in kept for text in turns} | {s.hypothesis.strip() for s in segments}
            sizes = {text: len(pieces) for text, pieces in tokenizer.read(texts).items()}
            for i, s in enumerate(segments):
                room = max(tokenizer.room - sizes[s.hypothesis.strip()], tokenizer.room // 2)
                # Counted from the end: how many turns fit together; the last one is read in any case.
                ends = np.cumsum([sizes[text] for text in kept[i][::-1]])
                n = max(1, int(np.searchsorted(ends, room, side="right")))
                cut[i], kept[i] = n < len(kept[i]), kept[i][-n:]
        return [" ".join(turns) for turns in kept], cut
