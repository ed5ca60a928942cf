"""BERTScore, YiSi, and all ways to match tokens between BERTScore and MoverScore as options of one metric."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import (
    BaseMetric,
    Documents,
    Policy,
    check_needs,
    known,
    nonfinite,
    over_references,
    signature_of,
    unknown,
)
from nlgauge.core.options import Checked, Range, check_option, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, is_blank
from nlgauge.metrics.embedding import kernel
from nlgauge.metrics.embedding import vectors as baselines
from nlgauge.metrics.embedding.kernel import Side
from nlgauge.metrics.embedding.points import MatchedPoints, Read, last_layers, points_info
from nlgauge.metrics.embedding.vectors import (
    ByEncoder,
    IdfTable,
    best_layer,
    file_identity,
    first_references,
    from_call,
    from_file,
    hypothesis_documents,
    layers_table,
    measured,
    numbered,
    reference_documents,
    with_sources,
)
from nlgauge.metrics.registry import LANGUAGES, encoder_for, is_encoder_for, is_english
from nlgauge.models import repository
from nlgauge.models.encoder import Encoder, Vectors, load_encoder
from nlgauge.models.fetch import EMBEDDED, ENCODERS, MULTILINGUAL
from nlgauge.models.locate import HINT, locate
from nlgauge.models.tokens import Ids, Long, Tokens
from nlgauge.runtime.pool import Counts, Incidence
from nlgauge.runtime.runtime import Advance, DType, Runtime, windows
from nlgauge.text.scripts import ENGLISH
from nlgauge.text.tokenize import best_shares, unicode_words

_NGRAMS = {"wmd1": 1, "wmd2": 2}
_PEER = "version=0.3.12(hug_trans=4.57.6)"  # 0.3.13 calls itself so; these are the versions whose numbers are met
# Options that its hash says, or that change none of its three numbers.
_UNSAID: Mapping[str, Any] = {
    **dict.fromkeys(("revision", "layer", "baseline", "dtype", "like")),
    **{"model": EMBEDDED, "language": ENGLISH, "idf": False, "rescale": False, "value": "f1"},
}
_CODE = re.compile(r"[a-z]{2,3}(?:[-_]\w+)*", re.IGNORECASE)  # of a language


@dataclass(frozen=True, kw_only=True)
class Matching(MatchedPoints):
    """Tokens matched greedily (F as in BERTScore) or by transport (1 - cost as in MoverScore), with all switches.

    Take it to find out which switch makes a difference. Two corners of the grid are `bertscore` and `moverscore`:
    `matching:idf=references` is `bertscore:idf=true`, and `matching:match=wmd1,pmeans=true,idf=both,drop_marks=true` is
    `moverscore:idf=true`.

    The range is -1 to 1 with `greedy` and -3 to 1 with the others. An empty side gets 0 with `greedy` and -3 with the
    others (flag `empty`); if no piece of a side weighs anything, the score is undefined (flag `unweighted`). With idf
    from the call a score depends on the other texts of the call.

    Args:
        match: `greedy` for F of the best cosines; `wmd1` and `wmd2` for 1 minus the exact least cost, in squared
            distances, of moving single pieces or pairs of neighbours.
        layer: the number of blocks to run, 0 for the embeddings; None is the best known layer of the model, as in
            `bertscore`.
        pmeans: take minimum, mean and maximum over the last five layers in place of one layer.
        idf: weight pieces by inverse document frequency in the references of the call, for both sides (`references`),
            or hypotheses by their own frequencies (`both`); `none` weighs all alike.
        idf_file: take the frequencies of references from a text file instead, one document per line.
        drop_marks: leave out ASCII punctuation, and pieces that continue a word.
        special_tokens: `match` lets pieces match the special tokens, which weigh nothing; `drop` leaves them out.
        references: with several references, the `best` value, the `mean`, or that of the `first`; `best_each` is the
            same as `best` here.

    References:
        Zhang et al. (2020), "BERTScore", appendix C, table 9: +MNLI is `model`, PMEANS `pmeans`, IDF-S
        `idf=references`, IDF-L `idf_file`, SEP `idf=both`, RM `drop_marks`.
    """

    match: Literal["greedy", "wmd1", "wmd2"] = "greedy"
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    pmeans: bool = False
    idf: Literal["none", "references", "both"] = "none"
    idf_file: str | None = None
    drop_marks: bool = False
    special_tokens: Literal["match", "drop"] = "match"
    references: Policy = "best"
    info: ClassVar = points_info(
        "matching",
        range=(-1.0, 1.0),
        tasks=TASKS,
        paper='Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT"',
        summary="all ways to match tokens between BERTScore and MoverScore, as options",
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.pmeans and self.layer is not None:
            raise SpecError("matching:layer changes nothing beside pmeans=true, which takes the last five layers")
        if self.idf_file and self.idf == "none":
            raise SpecError("matching:idf_file is where idf=references or idf=both takes its frequencies; name one")
        of_match: dict[str, Any] = {"blank": 0.0} if self.match == "greedy" else {"range": (-3.0, 1.0)}
        info = replace(type(self).info, **of_match)
        object.__setattr__(self, "info", replace(info, copy_is_best=self.idf != "both"))

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.idf == "both" or (self.idf == "references" and self.idf_file is None)

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        hypotheses = [hypothesis_documents(segments)] if self.idf == "both" else []
        return hypotheses + ([] if self.idf_file else [reference_documents(segments)])

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        facts = dict(super().facts(runtime))
        return facts | {"idf_file": file_identity(self.idf_file)} if self.idf_file else facts

    def _layers(self, depth: int) -> tuple[int, ...]:
        if self.pmeans:
            return last_layers(depth)
        return (self._one_layer(self.layer, best_layer(self.known_as, depth), depth),)

    def _tables(
        self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime
    ) -> tuple[IdfTable | None, IdfTable | None]:
        if self.idf == "none":
            return None, None
        tables = [from_file(self.idf_file, encoder.tokenizer, self.long)] if self.idf_file else []
        if self.pooled:
            tables = self._idf(self.documents(pool), encoder, runtime) + tables
        return tables[0], tables[-1]

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: Any) -> Side:
        weights = piece_weights(encoder, read.ids, tables[0 if is_hypothesis else 1]).astype(np.float64)
        kept = np.ones(len(read.ids), dtype=np.bool_)
        if self.special_tokens == "drop":
            kept[: read.content.start] = kept[read.content.stop :] = False
        if self.drop_marks:
            kept &= ~(encoder.tokenizer.which(kernel.is_mark) | encoder.tokenizer.which(kernel.is_subword))[read.ids]
        points = kernel.as_points(read.layers, self.pmeans, kept)
        side = Side(points, weights[kept], read.ids[kept])
        if self.match == "greedy" or not kept.any():
            return replace(side, vectors=kernel.unit_vectors(points))
        return kernel.ngrams(side, _NGRAMS[self.match])

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        if self.match == "greedy":
            precision, recall = (np.array([mean]) for mean in kernel.greedy(hypothesis, reference))
            return (float(f1(precision, recall)[0]),)
        costs = kernel.unit_distances(hypothesis.vectors, reference.vectors, "squared")
        return (1 - kernel.transport(costs, hypothesis.weights, reference.weights)[0],)


# --- BERTScore: greedy matching of contextual token vectors

_HELD_BYTES = 400 << 20  # vectors held at once; a window of pairs is cut where it would need more


@dataclass(frozen=True, kw_only=True)
class BertScore(ByEncoder):
    """Precision, recall and F of greedy cosine matches between the pieces of hypothesis and reference.

    Every piece takes its highest cosine on the other side. Precision is the mean over the hypothesis, recall that over
    the reference, and F their harmonic mean; all three are parts. For summaries take `value=recall`, which agrees
    better with people there. Negations, antonyms and wrong numbers cost little.

    `embedded` (all-MiniLM-L6-v2) and `base` (all-mpnet-base-v2) read English; `base` agrees much better with people and
    takes several times as long. `multilingual` (multilingual-e5-small in four bits) reads about a hundred languages.
    Others are bert_score's, as in `paper/bertscore-de`.

    Unrelated sentences score high, too: 0.41 with `embedded`, 0.83 with roberta-large. `rescale` maps this baseline b
    to 0 and identity to 1, by (x - b) / (1 - b), for P, R and F each; the order stays. Baselines of bert_score, one for
    `embedded` and one a language for `multilingual` (cs, de, en, et, fi, fr, he, ne, ro, ru, si, tr, zh; 0.44 to 0.54)
    come with the package; without one, as for `base` and the presets for Turkish and Russian, it is refused. `nlgauge
    train baseline` makes one.

    An empty side gets 0 before rescaling (flag `empty`), and so does a side without any weight (flag `unweighted`).
    With idf of the call nothing is cached, and one reference alone is refused. `nlgauge align` shows what was matched.

    Args:
        model: `embedded`, `base`, `multilingual`, a folder, or an id of the Hugging Face hub. The first three are
            fetched once, by `nlgauge fetch NAME`.
        revision: branch, tag or commit of a hub model, also as `model=NAME@REVISION`.
        layer: the number of blocks to run, 0 for the embeddings; those above never run. None takes the best known layer
            of the model (17 of roberta-large, 4 of `embedded`, 7 of `base` and `multilingual`), else floor(0.75 x
            depth); `nlgauge train layers` finds the best one on your ratings.
        idf: weight a piece by log((N + 1) / (df + 1)), where df of the N references of the call contain it. The score
            of a segment then depends on the other segments of the call. References of one item count once.
        idf_file: weight pieces by the frequencies of a text file instead, plain or `.gz`, one document per line, so
            that a score does not depend on the call.
        rescale: spread the values by the baseline of unrelated sentences.
        baseline: a file of baselines (rows LAYER,P,R,F); None takes the one that comes with the package.
        language: the language of the texts, also written `lang`, as bert_score has it. Any but English takes the
            encoder `multilingual`, which the signature names. Beside another `model`, which must read the language, it
            chooses the bundled baseline alone, and is refused where it changes nothing, unless `model` is bert_score's
            encoder for it.
        references: with several references, `best_each` takes the best P, R and F each on its own, as bert_score does,
            so that F need not be the harmonic mean of the P and R beside it; `best` takes all three from the reference
            with the best value, whose place is in `parts["reference"]`; `mean` the means; `first` the first reference.
        special_tokens: `match` lets pieces match the special tokens (which have no weight), as bert_score does; `drop`
            leaves them out.
        long: a text beyond the model's limit is cut and flagged (`truncate`), or read in half-overlapping windows
            (`windows`), where each piece takes its vector from the window in which it is farthest from an edge.
        max_tokens: a lower limit than the model's own, special tokens included.
        dtype: the precision of the encoder; None takes the runtime's.
        value: which of the three is the metric's value.
        against: `source` matches the hypothesis with its source, and reads no reference; the model must read both
            languages (`multilingual`). It tells poor translations from good ones, and hardly good ones from better.
        like: the name of the model that a folder or another name holds, as in `model=FOLDER,like=roberta-large`: its
            best layer and its baseline are taken. A folder of the same name needs none, nor does one that says itself
            what it is, which a note repeats.

    References:
        Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT", section 3, appendix B.

        Numbers equal those of bert_score 0.3.13 to 1e-5 at every layer, with and without idf, several references and
        rescaling. Where this differs: a negative best similarity stays negative when texts are batched (theirs becomes
        0 beside padding, so that a score depends on the batch). Empty texts never fail, and a text of one token is
        scored in models without a separator, too (T5). A text whose every piece has idf 0 gets 0 on its side (theirs
        gets NaN in P or R), and idf of one reference is refused (theirs is 0/0). F is 0 where P and R have opposite
        signs (theirs may be any number). A text of unknown pieces alone has no score. A model without a baseline is
        refused (theirs warns). A text beyond the limit is flagged. RoBERTa keeps the space before the first word under
        transformers 5, ALBERT cut at a layer its own blocks, and layer 0 of DeBERTa v2 and v3 is scored.
    """

    model: str = "embedded"
    revision: str | None = None
    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    idf: bool = False
    idf_file: str | None = None
    rescale: bool = False
    baseline: str | None = None
    language: str = "en"
    references: Policy = "best_each"
    special_tokens: Literal["match", "drop"] = "match"
    long: Long = "truncate"
    max_tokens: int | None = None
    dtype: DType | None = None
    value: Literal["f1", "precision", "recall"] = "f1"
    against: Literal["source"] | None = None
    like: str | None = None
    # There is no lower end: the lowest cosine is -1, but rescaling moves 0 to -b / (1 - b), for any baseline b < 1.
    info: ClassVar = MetricInfo(
        "bertscore",
        range=(-math.inf, 1.0),
        cached=True,
        flags={"unknown", "nonfinite"},
        summary="greedy matching of contextual token vectors",
        tasks=TASKS,
        paper='Zhang et al. (2020), "BERTScore: Evaluating Text Generation with BERT"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.idf and self.idf_file:
            raise SpecError(
                "bertscore: idf=true takes frequencies from the references, idf_file from a file; choose one"
            )
        if self.baseline and not self.rescale:
            raise SpecError("bertscore: a baseline without rescale=true would change nothing; add rescale=true")
        if not _CODE.fullmatch(self.language):
            raise SpecError(f"bertscore:language is {self.language!r}, expected a code, such as de or pt-BR")
        code = self.language.lower()  # EN and en-GB are read as en
        object.__setattr__(self, "language", ENGLISH if is_english(code) and code not in LANGUAGES else code)
        if self.model == EMBEDDED and not is_english(self.language):
            object.__setattr__(self, "model", MULTILINGUAL)
            if not self.rescale or self.baseline:  # it has done its work
                object.__setattr__(self, "language", ENGLISH)
        self._check_language()
        if self.against == "source":
            idle = {"references": self.references != "best_each", "idf": self.idf, "rescale": self.rescale}
            if wrong := [option for option, given in idle.items() if given]:
                raise SpecError(f"bertscore:{wrong[0]} is about references; against=source reads none, leave it out")
            object.__setattr__(self, "info", replace(type(self).info, needs={"source"}, copy_is_best=False))

    def _check_language(self) -> None:
        """Refuse a language that the encoder does not read, or that changes nothing and does not name its encoder."""
        given = f"bertscore:language={self.language}"
        if self.language == ENGLISH or is_encoder_for(self.like or self.model, self.language):
            return
        if self.model in ENCODERS and ENCODERS[self.model].languages:
            raise SpecError(f"{given}: the model {self.model} reads English; name one that reads {self.language}")
        if not self.rescale or self.baseline:
            why = "baseline=FILE is given" if self.baseline else "rescale=true is not given"
            raise SpecError(
                f"{given} chooses the bundled baseline and changes nothing here, since {why}; leave language out"
            )

    rounds: ClassVar = 1
    other_names: ClassVar = {  # the second to fourth are bert_score's
        "lang": "language",
        "model_type": "model",
        "num_layers": "layer",
        "rescale_with_baseline": "rescale",
    }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the model says of itself, that the paper's is at hand, and that the layer is a guess if it is one."""
        told, files = super().notes, locate(self.model, self.revision)
        (name, why), layer = files.taken_as, self._layer(files.depth)
        if self._is_taken:
            baseline = " and its baseline" if self.rescale else ""
            told = (*told, f"{self.model} is taken as {name}, {why}: layer {layer}{baseline}; like=NAME takes another")
        ours = ENCODERS.get(self.known_as)
        if ours is not None and ours.languages and repository.is_held(encoder_for(ENGLISH)[0]):
            told = (*told, "paper/bertscore, the model of bert-score, is in the cache")
        if self.layer is not None or measured(self.known_as) is not None:
            return told
        return (
            *told,
            f"layer {layer} of {self.model} is a guess, three quarters of its depth: name the model that it is with"
            " like=NAME, or a layer with layer=N",
        )

    @property
    def known_as(self) -> str:
        """The name by which the best layer and the baseline of the model are known."""
        return self.like or super().known_as

    @property
    def _is_taken(self) -> bool:
        """Whether the layer or the baseline is that of what a folder is taken as, and nobody names it."""
        name, why = locate(self.model, self.revision).taken_as
        counts = (self.layer is None and measured(name) is not None) or (self.rescale and not self.baseline)
        return bool(why) and not self.like and counts

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the references of the other segments."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [reference_documents(segments)]

    def peer_signature(self, references: Collection[int]) -> str | None:
        """The hash of bert-score, where all that it does not say is as there, for a model that its table names.

        Under transformers 5 its numbers of RoBERTa are others (the first space is lost): the hash is that of the
        versions whose numbers are met here.
        """
        same = replace(self, **_UNSAID) == BertScore()
        files = locate(self.model, self.revision)
        name = next((name for name in repository.names(self.known_as) if name in layers_table()), None)
        if not same or name is None or name in ENCODERS or (self.like is None and files.taken_as[1] == HINT):
            return None
        rescaled = ("-custom-rescaled" if self.baseline else "-rescaled") * self.rescale
        return f"{name}_L{self._layer(files.depth)}_{'' if self.idf else 'no-'}idf_{_PEER}{rescaled}"

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, found without loading the model."""
        files = locate(self.model, self.revision)
        facts: dict[str, Any] = {
            "layer": self._layer(files.depth),
            "dtype": runtime.precision(self.dtype),
            **files.facts(),
        }
        if not self.rescale or self.baseline:
            facts["language"] = None  # it names the bundled baseline and nothing else
        if self.idf:
            facts["pool"] = "references"
        if self.idf_file:
            facts["idf_file"] = file_identity(self.idf_file)
        if self.rescale:
            facts["baseline"] = baselines.find(self.baseline, self.known_as, self.language).identity
        if self._is_taken:  # as if it were typed
            facts["like"] = self.known_as
        return facts

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in cosine units, at most 1; parts `precision`, `recall`, `f1`.

        The flags are `empty`, `truncated`, `unweighted`, `unknown` and `nonfinite`.

        An empty side gives 0 in all three (before rescaling) and sets the flag `empty`. A text whose every piece has
        weight 0 gives 0 on its own side and sets the flag `unweighted`. A segment with a text of which no piece is
        known is NaN in all three, and one for which the model computes no finite vector.

        Raises:
            InputError: a segment has no reference, idf is taken from fewer than two documents, or the model does not
                have the layer.
        """
        check_needs(self, segments)
        return self.scorer(segments, runtime)(segments)

    def scorer(self, pool: Sequence[Segment], runtime: Runtime) -> Callable[[Sequence[Segment]], Scores]:
        """A function that scores parts of the pool one by one; idf is taken from the whole pool."""
        encoder = self.encoder(runtime)
        table, bounds = self.table(encoder, pool, runtime), self._bounds(encoder)

        def single(segments: Sequence[Segment]) -> Scores:
            return self._score_single(segments, encoder, table, bounds, runtime)

        def compared(segments: Sequence[Segment]) -> Sequence[Segment]:
            return with_sources(segments) if self.against == "source" else segments

        return lambda segments: over_references(compared(segments), self.references, single)

    def depth(self, encoder: Encoder) -> int:
        """The layer that is matched."""
        return self._layer(encoder.depth)

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._layer(depth),)

    def _layer(self, depth: int) -> int:
        layer = best_layer(self.known_as, depth) if self.layer is None else self.layer
        if layer > depth:
            raise SpecError(f"bertscore:layer is {layer}, but model {self.model!r} has layers 0 to {depth}")
        return layer

    def encoder(self, runtime: Runtime) -> Encoder:
        """The loaded encoder; a runtime holds one copy."""
        return load_encoder(self.model, self.revision, runtime.precision(self.dtype), runtime, self.max_tokens)

    def table(self, encoder: Encoder, segments: Sequence[Segment], runtime: Runtime) -> IdfTable | None:
        """The idf of the pieces, from the file or from the segments' references; None where all weigh the same."""
        if self.idf_file:
            return from_file(self.idf_file, encoder.tokenizer, self.long)
        if self.idf:
            reading = self.model, self.revision, self.max_tokens
            return from_call(self.documents(segments), encoder, runtime, reading, self.long)[0]
        return None

    def _bounds(self, encoder: Encoder) -> Array | None:
        """Baseline P, R, F of the layer, shape (3,)."""
        if not self.rescale:
            return None
        return baselines.find(self.baseline, self.known_as, self.language).at(self._layer(encoder.depth))

    def _score_single(
        self,
        segments: Sequence[Segment],
        encoder: Encoder,
        table: IdfTable | None,
        bounds: Array | None,
        runtime: Runtime,
    ) -> Scores:
        texts, hypotheses, references = numbered(segments)
        tokens = encoder.tokenizer.tokens(texts, self.long)
        pairs, place = np.unique(np.stack([references, hypotheses], axis=1), axis=0, return_inverse=True)
        run = _WindowRun(encoder, self._layer(encoder.depth), tokens, table, self.special_tokens == "drop", runtime)
        precision, recall, unweighted = run.score(pairs[:, 1], pairs[:, 0])
        precision, recall = precision[place.reshape(-1)], recall[place.reshape(-1)]
        broken = nonfinite(np.stack([precision, recall], axis=1))
        unread = run.unknown()
        shares = np.maximum(unread[hypotheses], unread[references])
        columns = {"precision": precision, "recall": recall, "f1": f1(precision, recall)}
        parts = {name: known(column, shares) for name, column in columns.items()}
        if bounds is not None:
            parts = {
                name: baselines.rescale(column, bound)
                for (name, column), bound in zip(parts.items(), bounds, strict=True)
            }
        flags = {name: run.flag(name)[hypotheses] | run.flag(name)[references] for name in ("empty", "truncated")}
        flags["unweighted"] = unweighted[place.reshape(-1)]
        flags |= {"unknown": unknown(shares), "nonfinite": broken}
        return Scores(signature_of(self, runtime), ids(segments), parts[self.value], parts, flags=flags)


def f1(precision: Array, recall: Array) -> Array:
    """The harmonic mean of each P and R, shape (n,), between the two; NaN where one of them is.

    Where they have opposite signs it is 0. There the formula 2PR / (P + R) would run to infinity as P + R nears 0,
    while it approaches 0 from either side as P or R nears 0.
    """
    agree = precision * recall > 0
    total = np.where(agree, precision + recall, 1.0)
    harmonic = np.where(agree, 2 * precision * recall / total, 0.0)
    return np.asarray(np.where(np.isnan(precision + recall), np.nan, harmonic))


@dataclass
class _WindowRun:
    """Texts numbered once; pairs of them in windows, so that vectors are dropped as soon as no pair needs them."""

    encoder: Encoder
    layer: int
    tokens: Sequence[Tokens]
    table: IdfTable | None
    drop_special: bool
    runtime: Runtime

    def flag(self, name: str) -> npt.NDArray[np.bool_]:
        """Per text: `empty` or `truncated`."""
        return np.array([t.n_content == 0 if name == "empty" else t.truncated for t in self.tokens], dtype=np.bool_)

    def unknown(self) -> Array:
        """Per text: the share of pieces that are not in the vocabulary."""
        tokenizer = self.encoder.tokenizer
        return tokenizer.unknown_shares(tokenizer.content(t) for t in self.tokens)

    def score(self, hypotheses: Ids, references: Ids) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
        """Precision, recall, and whether a side weighed nothing; each (n,). Pairs come sorted by reference."""
        from nlgauge.models.matching import greedy

        n = len(hypotheses)
        precision, recall, unweighted = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_)
        empty = self.flag("empty")
        real = np.flatnonzero(~(empty[hypotheses] | empty[references]))
        sizes = np.array([len(t.ids) for t in self.tokens], dtype=np.int64)
        with self.runtime.progress(len(real), "bertscore") as advance:
            both = np.stack([hypotheses, references], axis=1)[real]
            for window in windows(both, sizes, max(1, _HELD_BYTES // (4 * self.encoder.width))):
                chosen = real[window]
                wanted, numbers = np.unique(
                    np.concatenate([hypotheses[chosen], references[chosen]]), return_inverse=True
                )
                vectors = self._encoded(wanted, len(chosen), advance)
                weights = self._weights(vectors, wanted)
                hyp, ref = numbers[: len(chosen)], numbers[len(chosen) :]
                p, r = greedy(vectors, weights, hyp, ref)
                weightless = _weightless(vectors, weights)
                unweighted[chosen] = weightless[hyp] | weightless[ref]
                precision[chosen], recall[chosen] = np.where(weightless[hyp], 0, p), np.where(weightless[ref], 0, r)
        return precision, recall, unweighted

    def _encoded(self, wanted: Ids, n_pairs: int, advance: Advance) -> Vectors:
        """The vectors of distinct texts; each batch advances by its share of the pairs."""
        tokens = [self.tokens[t] for t in wanted]
        share = n_pairs / max(1, sum(len(t.ids) for t in tokens))
        return self._trim(self.encoder.encode(tokens, self.layer, lambda done: advance(share * done)), wanted)

    def _trim(self, vectors: Vectors, wanted: Ids) -> Vectors:
        """Without the tokenizer's frame of special tokens, where the option says so."""
        if not self.drop_special:
            return vectors
        prefix = len(self.encoder.tokenizer.prefix)
        content = np.array([self.tokens[t].n_content for t in wanted], dtype=np.int64)
        return Vectors(vectors.matrix, vectors.starts + prefix, content)

    def _weights(self, vectors: Vectors, wanted: Ids) -> npt.NDArray[np.float32]:
        """Weight of every row of the matrix, shape (rows,)."""
        weights = np.zeros(vectors.matrix.shape[0], dtype=np.float32)
        prefix = len(self.encoder.tokenizer.prefix) if self.drop_special else 0
        rows = np.concatenate([np.arange(s, s + n) for s, n in zip(vectors.starts, vectors.lengths, strict=True)])
        pieces = np.concatenate(
            [self.tokens[t].ids[prefix : prefix + n] for t, n in zip(wanted, vectors.lengths, strict=True)]
        )
        weights[rows] = piece_weights(self.encoder, pieces, self.table)
        return weights


def _weightless(vectors: Vectors, weights: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Per text: whether no piece weighs anything."""
    heavy = np.concatenate([[0], np.cumsum(weights != 0)])  # rows with a weight before each row
    return np.asarray(heavy[vectors.starts + vectors.lengths] == heavy[vectors.starts])


def piece_weights(encoder: Encoder, pieces: Ids, table: IdfTable | None) -> npt.NDArray[np.float32]:
    """Weight of each piece: its idf, or 1 for every piece and 0 for the classifier and separator tokens."""
    if table is not None:
        return table.weights(pieces)
    return np.where(np.isin(pieces, list(encoder.tokenizer.weightless)), 0.0, 1.0).astype(np.float32)


# --- YiSi without semantic roles: over tokens (YiSi-1), or over characters of words (YiSi-0)

_YISI = (
    'Lo (2019), "YiSi - a Unified Semantic MT Quality Evaluation and Estimation Metric for Languages with Different'
    ' Levels of Available Resources"'
)
Share = Annotated[float, Range(least=0, most=1)]


@dataclass(frozen=True, kw_only=True)
class YiSi1(MatchedPoints):
    """Weighted means of the best cosines of tokens, and their weighted harmonic mean; no semantic roles.

    Rare tokens count more, and recall more than precision. Each token takes its best cosine on the other side, but no
    special token takes part. The parts are `f`, `precision` and `recall`. With idf, the default, a score depends on the
    other references of the call; `idf=false` makes it stand alone. A copy scores 1; an empty side gets 0 in all three
    (flag `empty`). Lo (2019) used layer 9 of BERT base.

    Args:
        layer: the number of blocks to run, 0 for the embeddings; None is the last layer.
        alpha: the share of precision in the denominator of F = PR / (alpha P + (1 - alpha) R); the higher, the more
            recall counts.
        idf: weight a piece by log(1 + (N + 1) / (df + 1)), where df of the N first references of the call contain it;
            an item's counts once.
        references: with several references, `best` takes value and parts of that with the best value, `best_each` the
            best of each on its own, `mean` the means, `first` those of the first.

    References:
        Lo (2019), "YiSi", sections 2 and 3.1.
    """

    layer: Annotated[int, Range(least=0, meaning="0 is the embeddings")] | None = None
    alpha: Share = 0.8
    idf: bool = True
    references: Policy = "best"
    info: ClassVar = points_info(
        "yisi1",
        range=(-1.0, 1.0),
        blank=0.0,
        tasks={"mt"},
        paper=_YISI,
        summary="weighted precision and recall of token vectors, mostly recall (Lo 2019)",
    )
    columns: ClassVar = ("f", "precision", "recall")

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the references of the other segments."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [first_references(segments)]

    def _layers(self, depth: int) -> tuple[int, ...]:
        return (self._one_layer(self.layer, depth, depth),)

    def _tables(self, pool: Sequence[Segment], encoder: Encoder, runtime: Runtime) -> IdfTable | None:
        return self._idf(self.documents(pool), encoder, runtime, least=1)[0] if self.idf else None

    def _side(self, read: Read, is_hypothesis: bool, encoder: Encoder, tables: IdfTable | None) -> Side:
        pieces = read.ids[read.content]
        weights = np.ones(len(pieces))
        if tables is not None:
            weights = np.log1p(np.exp(tables.weights(pieces).astype(np.float64)))
        return Side(kernel.as_points([read.layers[0][read.content]], False), weights, pieces)

    def _pair(self, hypothesis: Side, reference: Side) -> tuple[float, ...]:
        precision, recall = kernel.greedy(hypothesis, reference)
        return weighted_f(precision, recall, self.alpha), precision, recall


@dataclass(frozen=True, kw_only=True)
class YiSi0(Checked, BaseMetric):
    """YiSi over words, whose similarity is the share of their characters in the longest common substring.

    It needs no model and reads every script. Words are runs of letters and digits in small letters; the best match of
    each is weighted and joined as in `yisi1`, with the same parts and the same dependence on the call by idf. The order
    of words does not count, and a negation costs next to nothing. An empty side gets 0 (flag `empty`), and so does one
    without a word (flag `untokenized`).

    Args:
        alpha: the share of precision in the denominator of F = PR / (alpha P + (1 - alpha) R); the higher, the more
            recall counts.
        idf: weight a word by log(1 + (N + 1) / (df + 1)), where df of the N first references of the call contain it;
            an item's counts once.
        references: with several references, `best` takes value and parts of that with the best value, `best_each` the
            best of each on its own, `mean` the means, `first` those of the first.

    References:
        Lo (2019), "YiSi", section 3.2. The similarity of words of a and b characters with a longest common substring of
        c is 2 c / (a + b).
    """

    alpha: Share = 0.8
    idf: bool = True
    references: Policy = "best"
    info: ClassVar = MetricInfo(
        "yisi0",
        tasks={"mt"},
        paper=_YISI,
        summary="weighted precision and recall of words by common characters (Lo 2019)",
    )
    rounds: ClassVar = 1

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the references of the other segments."""
        return self.idf

    def documents(self, segments: Sequence[Segment]) -> list[Documents]:
        """The texts that idf is taken from."""
        return [first_references(segments)]

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The version of Unicode that says what a word is."""
        return {"unicode": unicodedata.unidata_version}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values from 0 to 1; parts `f`, `precision`, `recall`; flags `empty` and `untokenized`.

        A side without a word gets 0.

        Raises:
            InputError: a segment has no reference.
        """
        check_needs(self, segments)
        counts = self._counts(segments, runtime) if self.idf else None

        def weight(word: str) -> float:
            return 1.0 if counts is None else math.log1p((counts.n + 1) / (counts.of.get(word, 0) + 1))

        return over_references(segments, self.references, lambda single: self._score_single(single, weight, runtime))

    def _counts(self, segments: Sequence[Segment], runtime: Runtime) -> Counts:
        """In how many first references each word is: those of the call, or of the pool that it is a part of."""
        (first,) = self.documents(segments)

        def gather() -> Incidence:
            keys = [] if runtime.pool is None else first.keys()
            return Incidence.of(first.kind, keys, [dict.fromkeys(unicode_words(text)) for text in first.texts])

        if runtime.pool is None:
            return gather().counts([True] * len(first.texts))
        return runtime.pool.counts({f"words of {first.kind}": gather})[0]

    def _score_single(self, segments: Sequence[Segment], weight: Callable[[str], float], runtime: Runtime) -> Scores:
        found = np.zeros((len(segments), 3))
        untokenized = np.zeros(len(segments), dtype=np.bool_)
        empty = np.array([is_blank(s.hypothesis) or is_blank(s.references[0]) for s in segments], dtype=np.bool_)
        for i, segment in enumerate(segments):
            sides = [unicode_words(text) for text in (segment.hypothesis, segment.references[0])]
            untokenized[i] = empty[i] or not all(sides)
            if untokenized[i]:
                continue
            precision, recall = (
                float(np.average(best_shares(words, others), weights=[weight(word) for word in words]))
                for words, others in (sides, sides[::-1])
            )
            found[i] = weighted_f(precision, recall, self.alpha), precision, recall
        flags = {"empty": empty, "untokenized": untokenized}
        parts = dict(zip(("f", "precision", "recall"), found.T, strict=True))
        return Scores(signature_of(self, runtime), ids(segments), parts["f"], parts, flags=flags)


def weighted_f(precision: float, recall: float, alpha: float) -> float:
    """PR / (alpha P + (1 - alpha) R); 0 where P and R have opposite signs or one is 0."""
    return precision * recall / (alpha * precision + (1 - alpha) * recall) if precision * recall > 0 else 0.0


# --- Measure a baseline: what unrelated sentences score at every layer of a model


def measure_unrelated(
    texts: Sequence[str], model: str, runtime: Runtime, *, pairs: int, seed: int, revision: str | None = None
) -> dict[int, tuple[float, float, float]]:
    """P, R and F of random pairs of unrelated sentences, at every layer; pairs that the model cannot read do not count.

    Args:
        texts: raw sentences; those of 32 words or more are left out, as in the paper.
        model: the model, named as in specifications.
        pairs: the number of pairs to draw.
        seed: the seed of the draw.

    Returns:
        layer -> (P, R, F), for layers 0 to the model's depth.

    Raises:
        InputError: there are fewer than two usable sentences, or no pair has a score.

    References:
        Zhang et al. (2020), section 3: one million sentences of under 32 words from Common Crawl. More pairs give a
        more precise baseline and take longer.
    """
    check_option("seed", seed, Annotated[int, Range(least=0)], error=InputError)
    usable = [t for t in dict.fromkeys(t.strip() for t in texts) if 0 < len(t.split()) < 32]
    if len(usable) < 2:
        raise InputError(f"a baseline needs at least two different sentences of under 32 words, found {len(usable)}")
    rng = np.random.default_rng(seed)
    first = rng.integers(len(usable), size=pairs)
    second = (first + rng.integers(1, len(usable), size=pairs)) % len(usable)  # never the sentence itself
    segments = [Segment(str(i), usable[a], (usable[b],)) for i, (a, b) in enumerate(zip(first, second, strict=True))]
    rows = {}
    for layer in range(locate(model, revision).depth + 1):
        scores = BertScore(model=model, revision=revision, layer=layer).score(segments, runtime)
        if scores.n_undefined == len(scores):
            raise InputError(f"model {model!r} scores none of {pairs} pairs of these sentences; does it read them?")
        rows[layer] = tuple(float(np.nanmean(scores.parts[part])) for part in ("precision", "recall", "f1"))
    return rows  # type: ignore[return-value]
