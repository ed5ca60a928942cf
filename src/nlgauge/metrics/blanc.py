"""BLANC-help: how much a summary helps a masked language model to guess the words of the document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.metric import check_needs, known, signature_of, unknown
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, stripped
from nlgauge.metrics.nli import HeadedMetric
from nlgauge.models.filler import Cloze, MaskedModel, leads, masked_model
from nlgauge.models.infill import DEFAULT, InfillFiles, PieceTokenizer, locate_infill
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Advance, DType, Runtime
from nlgauge.text.tokenize import split_sentences

_KEPT = 100  # pieces of a sentence that are kept before its summary is cut, if they take no more than half of the room
_AT_ONCE = 1 << 20  # pieces that are held at once
_LEAST_TOKENS = 8  # special tokens, and a few pieces of the sentence and of its summary
Pair = tuple[str, str]  # source, summary


@dataclass(frozen=True, kw_only=True)
class Blanc(HeadedMetric):
    """The share of masked words of the source that a model guesses because of the summary, less those lost by it.

    Every sentence of the source is read behind the summary, and behind a filler of full stops of the same length. The
    parts `helped` and `filled` are the accuracies behind the two.

    `infill` is far smaller than BERT: values of single summaries are coarse. For results that you report, name
    `model=bert-base-uncased`.

    An empty side gets 0 (flag `empty`). A source without a word long enough to be masked has no score (flag
    `unmasked`). If summary and sentence do not fit together, the sentence loses its end, but keeps 100 pieces or half
    of the room; then the summary loses its last sentences (flag `truncated`). A document of 25 sentences is read in 50
    masked copies per summary, and 50 behind the filler.

    Args:
        model: `infill` (the shipped head), the file of a head, a folder with a masked language model such as BERT, or
            its id on the Hugging Face hub.
        revision: branch, tag or commit of a hub model.
        gap: every so many pieces one is masked, in as many passes, so that each piece is masked once.
        normal: the fewest characters of a word that is one piece, to be masked.
        lead: the fewest characters of the first piece of a longer word, to be masked.
        followup: the fewest characters of a piece that continues a word, to be masked; 100 masks none of them.
        measure: `relative` is words gained less words lost, over all masked words; `improve` is words gained, over all
            but those lost, from 0 to 1.
        max_tokens: the largest number of pieces of summary and sentence together; None takes what the head was trained
            with (128), else the limit of the model.
        dtype: the precision of the model; None takes the runtime's.

    References:
        Vasilyev et al. (2020), "Fill in the BLANC: Human-free quality estimation of document summaries", section 3. The
        defaults are those of the authors' package blanc 0.3.4 with another model; the paper has gap 6. With the same
        weights and sentences its numbers and ours are equal. BLANC-tune, which trains the model on the summary, is not
        included.

        Where this differs from the package: sentences come from our splitter, not from nltk's; characters are not
        normalised (theirs: NFKD) beyond what the tokenizer does; a piece that stands for unknown text is not masked; a
        model of fewer than 512 pieces keeps half of its room for the sentence; where nothing can be masked there is no
        score (theirs is 0).
    """

    model: str = DEFAULT
    revision: str | None = None
    gap: Annotated[int, Range(least=1)] = 2
    normal: Annotated[int, Range(least=1)] = 4
    lead: Annotated[int, Range(least=1)] = 2
    followup: Annotated[int, Range(least=1)] = 100
    measure: Literal["relative", "improve"] = "relative"
    max_tokens: Annotated[int, Range(least=_LEAST_TOKENS)] | None = None
    dtype: DType | None = None
    info: ClassVar = MetricInfo(
        "blanc",
        needs={"source"},
        range=(-1.0, 1.0),
        copy_is_best=False,
        blank=0.0,
        cached=True,
        flags={"unknown", "nonfinite", "unmasked"},
        parts={"helped": True, "filled": None},
        summary="cloze accuracy on the source that a summary adds (BLANC-help)",
        tasks={"as"},
        paper='Vasilyev et al. (2020), "Fill in the BLANC: Human-free quality estimation of document summaries"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.measure == "improve":  # what was lost is left out, so that nothing falls below 0
            object.__setattr__(self, "info", replace(self.info, range=(0.0, 1.0)))

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = self._found()
        model = {} if files.head is None else files.head.facts("file")
        limit = files.max_tokens(self.max_tokens)
        return {"dtype": runtime.precision(self.dtype), "max_tokens": limit, **model, **files.facts()}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from -1 to 1; parts `helped` and `filled`, the accuracies behind the summary and behind the filler.

        The flags are `empty`, `truncated`, `unknown`, `nonfinite` and `unmasked`. A side that is blank, or of which the
        tokenizer keeps nothing, gets 0, since nothing is gained, and sets the flag `empty`. A source without a word
        that is long enough to be masked gives NaN and sets the flag `unmasked`. So does a text of which no piece is
        known (`unknown`), and a number that is not finite.

        Raises:
            InputError: a segment has no source, or the model is not a masked language model.
        """
        check_needs(self, segments)
        pairs = [(stripped(s.source or ""), stripped(s.hypothesis)) for s in segments]
        # Those of one source together: the filler of equal length is run once for all its summaries.
        asked = sorted({pair for pair in pairs if all(pair)})
        counts = _Counts() if asked else None
        if counts is not None:
            model = masked_model(self._found(), runtime.precision(self.dtype), runtime, self.max_tokens)
            Exam(self, model.tokenizer).ask(model, asked, runtime, counts)
        number = {pair: i for i, pair in enumerate(asked)}
        empty = np.array([not all(pair) for pair in pairs], dtype=np.bool_)
        where = np.array([number.get(pair, 0) for pair in pairs], dtype=np.int64)
        columns = {name: np.zeros(len(pairs)) for name in ("value", "helped", "filled")}
        flags = {name: np.zeros(len(pairs), dtype=np.bool_) for name in ("truncated", *sorted(self.info.flags))}
        if counts is not None:
            empty |= np.array(counts.pieceless)[where]
            for name, column in counts.columns(self.measure).items():
                columns[name] = np.where(empty, 0.0, column[where])
            for name, flag in counts.flags().items():
                flags[name] = np.where(empty, False, flag[where])
        values = columns.pop("value")
        return Scores(signature_of(self, runtime), ids(segments), values, columns, flags={"empty": empty, **flags})

    def _found(self) -> InfillFiles:
        files = locate_infill(self.model, self.revision)
        if files.phrases:
            raise InputError(f"blanc: model {self.model!r} writes phrases, expected a masked language model like BERT")
        return files


@dataclass
class _Counts:
    """The counts of n pairs of a source and a summary, pair by pair.

    Attributes:
        hits: masked words that were missed by both, found behind the summary alone, behind the filler alone, by both.
        shares: the highest share of unknown pieces in a text of the pair.
        truncated, broken: whether pieces were cut off, and whether a number was not finite.
        pieceless: whether the tokenizer keeps nothing of a text of the pair.
    """

    hits: list[Array] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    truncated: list[bool] = field(default_factory=list)
    broken: list[bool] = field(default_factory=list)
    pieceless: list[bool] = field(default_factory=list)

    def columns(self, measure: str) -> dict[str, Array]:
        """The value and the parts, each of shape (n,); NaN where they are undefined."""
        missed, gained, lost, both = np.array(self.hits, dtype=np.float64).T
        total = missed + gained + lost + both
        usable = np.where(np.array(self.broken) | (total == 0), np.nan, total)
        relative, kept = (gained - lost) / usable, missed + gained + both
        value = relative if measure == "relative" else np.where(kept > 0, gained / np.maximum(kept, 1), 0.0)
        columns = {"value": value + 0 * usable, "helped": (gained + both) / usable, "filled": (lost + both) / usable}
        return {name: known(column, np.array(self.shares)) for name, column in columns.items()}

    def flags(self) -> dict[str, Mask]:
        """Every flag but `empty`, each of shape (n,)."""
        return {
            "truncated": np.array(self.truncated, dtype=np.bool_),
            "unknown": unknown(np.array(self.shares)),
            "nonfinite": np.array(self.broken, dtype=np.bool_),
            "unmasked": np.array([not hits.any() for hits in self.hits], dtype=np.bool_),
        }


class Exam:
    """The cloze questions of sources and summaries.

    Args:
        metric: which pieces are masked.
        tokenizer: of the model that is asked.
    """

    def __init__(self, metric: Blanc, tokenizer: PieceTokenizer) -> None:
        self.metric, self.tokenizer = metric, tokenizer
        assert tokenizer.mask is not None
        self.mask: int = tokenizer.mask
        self.filler = int(self._pieces(["."])["."][-1])
        most = tokenizer.max_tokens
        self.room = None if most is None else most - len(tokenizer.prefix) - len(tokenizer.suffix)
        self._sizes = np.array([len(word) for word in tokenizer.bare], dtype=np.int64)
        self._joins = tokenizer.continues & np.array([word[:1].isalnum() for word in tokenizer.bare], dtype=np.bool_)

    def ask(self, model: MaskedModel, pairs: Sequence[Pair], runtime: Runtime, counts: _Counts) -> None:
        """Count what the model finds, for every pair."""
        sentences = {text: split_sentences(text) for pair in pairs for text in pair}
        pieces = self._pieces(list(dict.fromkeys(s for found in sentences.values() for s in found)))
        split = {text: [pieces[s] for s in found] for text, found in sentences.items()}
        shares = dict(zip(split, self.tokenizer.unknown_shares(map(np.concatenate, split.values())), strict=True))
        with runtime.progress(len(pairs), "blanc") as advance:
            for portion in self._portions(pairs, split):
                self._ask(model, portion, split, runtime, counts, advance)
                counts.shares += [float(max(shares[source], shares[summary])) for source, summary in portion]

    def _ask(
        self,
        model: MaskedModel,
        pairs: Sequence[Pair],
        split: Mapping[str, Sequence[Ids]],
        runtime: Runtime,
        counts: _Counts,
        advance: Advance,
    ) -> None:
        questions: list[tuple[Cloze, Cloze]] = []
        owners: list[int] = []
        for i, (source, summary) in enumerate(pairs):
            own, cut = self.questions(split[source], split[summary])
            questions += own
            owners += [i] * len(own)
            counts.truncated.append(cut)
            counts.pieceless.append(not all(any(map(len, split[text])) for text in (source, summary)))
        share = len(pairs) / max(1, 2 * len(questions))
        asked = [cloze for both in questions for cloze in both]
        found = leads(model, asked, runtime.token_budget, lambda done: advance(share * done))
        hits, broken = np.zeros((len(pairs), 4)), np.zeros(len(pairs), dtype=np.bool_)
        for owner, helped, filled in zip(owners, found[::2], found[1::2], strict=True):
            hits[owner] += np.bincount((helped > 0) + 2 * (filled > 0), minlength=4)
            broken[owner] |= not (np.isfinite(helped).all() and np.isfinite(filled).all())
        counts.hits += list(hits)
        counts.broken += broken.tolist()

    def questions(self, source: Sequence[Ids], summary: Sequence[Ids]) -> tuple[list[tuple[Cloze, Cloze]], bool]:
        """Every masking of every sentence, behind the summary and behind the filler; and whether pieces were cut off.

        Args:
            source: the pieces of its sentences.
            summary: likewise.
        """
        made, was_cut = [], False
        for whole in source:
            sentence, before = self._cut(whole, summary)
            was_cut |= len(sentence) < len(whole) or len(before) < sum(map(len, summary))
            filler = np.full(len(before), self.filler, dtype=np.int64)
            large = self._large(sentence)
            gap = min(self.metric.gap, len(sentence))
            for first in range(gap):
                places = np.flatnonzero(large & (np.arange(len(sentence)) % gap == first))
                if len(places):
                    made.append((self._cloze(before, sentence, places), self._cloze(filler, sentence, places)))
        return made, was_cut

    def _cut(self, sentence: Ids, summary: Sequence[Ids]) -> tuple[Ids, Ids]:
        """A sentence and its summary, cut to the room: first the sentence's end, then whole sentences of the summary.

        Of a summary whose first sentence is too long, the end of this sentence is kept.
        """
        before = np.concatenate(summary)
        if self.room is None or len(sentence) + len(before) <= self.room:
            return sentence, before
        sentence = sentence[: max(self.room - len(before), min(_KEPT, self.room // 2))]
        left = self.room - len(sentence)
        ends = np.cumsum([len(part) for part in summary])
        n = int(np.searchsorted(ends, left, side="right"))
        return sentence, before[: ends[n - 1]] if n else summary[0][len(summary[0]) - left :]

    def _large(self, sentence: Ids) -> Mask:
        """Which pieces of a sentence are long enough to be masked, shape (T,)."""
        joins = self._joins[sentence]
        joins[:1] = False  # nothing stands before it
        leads_on = np.append(joins[1:], False)
        of = self.metric
        return np.asarray(self._sizes[sentence] >= np.where(joins, of.followup, np.where(leads_on, of.lead, of.normal)))

    def _cloze(self, before: Ids, sentence: Ids, places: Ids) -> Cloze:
        masked = sentence.copy()
        masked[places] = self.mask
        prefix, suffix = self.tokenizer.prefix, self.tokenizer.suffix
        whole = np.concatenate([prefix, before, masked, suffix]).astype(np.int64)
        return Cloze(whole, places + len(prefix) + len(before), sentence[places])

    def _pieces(self, texts: Sequence[str]) -> dict[str, Ids]:
        """The pieces of each text without special tokens."""
        tokens = self.tokenizer.tokens(texts, "windows")
        return {text: self.tokenizer.content(t) for text, t in zip(texts, tokens, strict=True)}

    def _portions(self, pairs: Sequence[Pair], split: Mapping[str, Sequence[Ids]]) -> Iterator[Sequence[Pair]]:
        """The pairs in order, so many that their sequences fit the memory set aside."""
        start = used = 0
        for place, (source, summary) in enumerate(pairs):
            length = sum(map(len, split[summary]))
            size = 2 * self.metric.gap * sum(min(length + len(s), self.room or length + len(s)) for s in split[source])
            if place > start and used + size > _AT_ONCE:
                yield pairs[start:place]
                start, used = place, 0
            used += size
        yield pairs[start:]
