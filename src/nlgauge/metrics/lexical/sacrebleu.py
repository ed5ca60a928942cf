"""BLEU, chrF and TER by sacrebleu: its tokenizers and the statistics of a segment, as it computes them itself.

Names of sacrebleu that begin with an underscore are used here and nowhere else.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import BaseMetric, check_needs, scores_of_stats, signature_of
from nlgauge.core.options import Range, checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment, is_blank
from nlgauge.core.spec import version
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing, known_writings, writings

_PACKAGES = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}
_SIGNS = (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", r" \1 ")  # the first rule of `13a` and `zh`


def bleu_scorer(tokenize: str | None, trg_lang: str | None, **options: Any) -> Any:
    """A `sacrebleu.BLEU`; without `tokenize` the language chooses the tokenizer.

    Raises:
        SpecError: the installed sacrebleu does not have the tokenizer.
        InputError: the tokenizer needs a package or a file that is not installed; nothing is ever downloaded.
    """
    from sacrebleu.metrics.bleu import BLEU

    if tokenize is not None and tokenize not in BLEU.TOKENIZERS:
        raise SpecError(
            f"bleu:tokenize is {tokenize!r}, which the installed sacrebleu does not"
            f" have{nearest(tokenize, BLEU.TOKENIZERS)}"
        )
    code = re.split("[-_]", (trg_lang or "").lower())[0]  # ZH and zh-CN are read as zh
    name = tokenize or BLEU._TOKENIZER_MAP.get(code, BLEU.TOKENIZER_DEFAULT)
    _check_available(name)
    try:
        # The language has done its work; with an explicit tokenizer sacrebleu would only log advice about it.
        scorer = BLEU(tokenize=name, force=True, **options)
    except (
        ImportError,
        RuntimeError,
        OSError,
        AssertionError,
    ) as error:  # a package, a readable model file, the right dictionary
        if name in _PACKAGES:
            raise InputError(
                f"bleu:tokenize={name} needs packages that are not installed; run: pip install '{_PACKAGES[name]}'"
            ) from None
        raise InputError(f"bleu:tokenize={name} cannot be used: {' '.join(str(error).split())}") from None
    return _uncached(scorer)


def ter_scorer(**options: Any) -> Any:
    """A `sacrebleu.TER` that counts edits as `edits_with_shifts` does; NaN where a pair is too long for that."""
    from sacrebleu.metrics.ter import TER

    from nlgauge.metrics.lexical.shifts import TooLong, edits_with_shifts  # loads rapidfuzz, which TER alone needs here

    def counted(hypothesis: str, prepared: Mapping[str, list[list[str]]]) -> list[float]:
        words, references = hypothesis.split(), prepared["ref_words"]
        try:
            fewest: float = min(edits_with_shifts(words, reference) for reference in references)
        except TooLong:
            fewest = math.nan
        return [fewest, sum(map(len, references)) / len(references)]

    scorer = _uncached(TER(**options))
    scorer._compute_segment_statistics = counted
    return scorer


def splitter(name: str) -> Callable[[str], list[str]]:
    """The tokenizer of a name, as a function that splits a text into words."""
    from sacrebleu.metrics.bleu import _get_tokenizer

    tokenizer = _uncached_tokenizer(_get_tokenizer(name)())
    return lambda text: tokenizer(text.rstrip()).split()


def signature(scorer: Any, references: Collection[int]) -> str:
    """The signature that sacrebleu prints beside the number of such a scorer, such as `nrefs:1|case:mixed|...`.

    Args:
        scorer: as the functions above make it.
        references: the numbers of references that segments have.
    """
    scorer.num_refs = min(references) if len(references) == 1 else -1  # it prints "var"
    return str(scorer.get_signature())


def statistics(scorer: Any, segments: Sequence[Segment], k: int, runtime: Runtime, label: str) -> Array:
    """Statistics of each segment against exactly its own references, shape (n, k).

    Each distinct tuple of references is prepared once for all systems and dropped again before the next; each distinct
    hypothesis is counted once against it. A blank text is an empty one, even where blanks would be counted.
    """

    def prepared_text(text: str) -> str:
        prepared: str = scorer._preprocess_segment("" if is_blank(text) else text)
        return prepared

    rows = np.zeros((len(segments), k))  # (n, k)
    groups: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for place, segment in enumerate(segments):
        groups.setdefault(segment.references, {}).setdefault(segment.hypothesis, []).append(place)
    with runtime.progress(len(segments), label) as advance:
        for references, hypotheses in groups.items():
            prepared = scorer._extract_reference_info([prepared_text(r) for r in references])
            for hypothesis, places in hypotheses.items():
                rows[places] = scorer._compute_segment_statistics(prepared_text(hypothesis), prepared)
                advance(len(places))
    return rows


def floats(totals: Any) -> Any:
    """The totals as floating point; float32 is kept, so that p-values of sacrebleu can be repeated digit by digit."""
    totals = np.asarray(totals)
    return totals if totals.dtype.kind == "f" else totals.astype(np.float64)


def is_empty(segments: Sequence[Segment]) -> Mask:
    """Where the hypothesis is blank or every reference is, shape (n,)."""
    return np.array([is_blank(s.hypothesis) or all(map(is_blank, s.references)) for s in segments], dtype=np.bool_)


def _check_available(name: str) -> None:
    """Refuse a sentencepiece tokenizer whose package or model file is not here: sacrebleu would fetch the file."""
    from sacrebleu.tokenizers.tokenizer_spm import SPM_MODELS
    from sacrebleu.utils import SACREBLEU_DIR

    if name not in SPM_MODELS:
        return
    try:
        import sentencepiece  # noqa: F401
    except ImportError:
        raise InputError(
            f"bleu:tokenize={name} needs a package that is not installed; run: pip install sentencepiece"
        ) from None
    url = SPM_MODELS[SPM_MODELS[name]["signature"]]["url"]
    path = os.path.join(SACREBLEU_DIR, "models", os.path.basename(SPM_MODELS[name]["url"]))
    if not os.path.exists(path):
        raise InputError(
            f"bleu:tokenize={name} needs the file {path}, which is not there; fetch it once from {url} (nothing is"
            " downloaded here)"
        )


def _uncached(scorer: Any) -> Any:
    """The scorer with its tokenizer freed of sacrebleu's caches, which keep up to 65,536 texts alive.

    Each text is tokenized only once anyway.
    """
    scorer.tokenizer = _uncached_tokenizer(scorer.tokenizer)
    return scorer


def _uncached_tokenizer(tokenizer: Any) -> Callable[[str], str]:
    inner = getattr(tokenizer, "_post_tokenizer", None)
    if inner is not None:
        tokenizer._post_tokenizer = _by_table(inner)
    return _bare(tokenizer)


def _bare(tokenizer: Any) -> Callable[[str], str]:
    call = getattr(type(tokenizer).__call__, "__wrapped__", None)
    return tokenizer if call is None else lambda text: call(tokenizer, text)


def _by_table(tokenizer: Any) -> Callable[[str], str]:
    """The rules of `13a` and `zh`, of which the first puts blanks around signs: a table does it in half the time.

    The rule takes blanks for signs, too, and makes three of one; in the end one is left.
    """
    rules = getattr(tokenizer, "_re", None)
    if not rules or (rules[0][0].pattern, rules[0][1]) != _SIGNS:  # another sacrebleu
        return _bare(tokenizer)
    apart = {code: f" {chr(code)} " for code in range(ord(" ") + 1, 128) if rules[0][0].match(chr(code))}

    def split(line: str) -> str:
        line = line.translate(apart)
        for pattern, into in rules[1:]:
            line = pattern.sub(into, line)
        return " ".join(line.split())

    return split


# --- BLEU: clipped n-gram precision with a brevity penalty, of a corpus and of its segments

_SMOOTH_DEFAULTS = {"none": None, "floor": 0.1, "add-k": 1.0, "exp": None}
_LOG_OF_ZERO = -9999999999.0  # what sacrebleu takes for it: exp of any mean with it in is 0
_MOST_ADDED = 1e9  # of add-k: precisions are 1 long before
_SPLITS = {"Han": "zh", "Kana": "ja-mecab"}  # script without blanks -> the tokenizer that knows it
_AT_BLANKS = ("13a", "intl", "none")
_OF_EAST_ASIA = ("zh", "ja-mecab")  # they split these two scripts, and no other
_TOKENIZED_END = " ."


@dataclass(frozen=True, kw_only=True)
class Bleu(BaseMetric):
    """BLEU as sacrebleu computes it; its options under its names.

    The share of the hypothesis' n-grams, up to four words long, that occur in a reference: the geometric mean over the
    four lengths, times a penalty where the hypothesis is shorter. The corpus number is not the mean of the segments:
    n-grams and lengths are summed first. `bleu1` to `bleu3` stop at shorter n-grams; `bleu3` is the mean of three
    precisions, not the third. `-v` shows the brevity penalty (`bp`), the ratio of lengths and the smoothed precisions.

    An n-gram counts as often as the reference that has it most often; the closest reference length counts, of two the
    shorter. A blank hypothesis scores 0 and is flagged `empty`. A hypothesis that ends in " ." is flagged `tokenized`:
    its score cannot be compared with that of plain text. Text without blanks between words (Chinese, Japanese, Thai)
    needs a tokenizer of its own, and a note says so. If no text is as long as the longest n-gram, the corpus number is
    0 even for copies, and a note says so.

    Other packages give other numbers: nltk's `corpus_bleu` goes to 1 and does not smooth (`bleu:smooth_method=none`
    over 100), its `sentence_bleu` is `bleu:smooth_method=none,effective_order=false` over 100. pycocoevalcap does not
    smooth either, and splits words as the Stanford tokenizer does.

    Args:
        lowercase: compare in lower case.
        tokenize: `none`, `zh`, `13a`, `intl`, `char`, or one that needs packages or files of its own: `ja-mecab`,
            `ko-mecab`, `spm`, `flores101`, `flores200`, `spBLEU-1K`. `auto` (or None) is `13a`, or what `trg_lang` asks
            for.
        smooth_method: what becomes of an order without a match: `exp`, `floor`, `add-k` or `none`.
        smooth_value: of `floor` (None: 0.1; at most 1, or a miss would count for more than a match) and `add-k` (None:
            1).
        max_ngram_order: longest n-gram counted.
        effective_order: leave out orders longer than the text. None does so for segments and not for the corpus, as
            sacrebleu's sentence_bleu and corpus_bleu do; true and false hold for both.
        trg_lang: language code; `zh`, `ja` and `ko` choose their own tokenizer where `tokenize` is `auto`.
        average: the corpus number is BLEU of the summed counts (`corpus`), or the mean of the segments' BLEU
            (`sentence`).

    References:
        Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"; Post (2018), "A Call
        for Clarity in Reporting BLEU Scores"; smoothing: Chen and Cherry (2014), methods 1 to 3.
    """

    lowercase: bool = False
    tokenize: Literal[
        "auto",
        "none",
        "zh",
        "13a",
        "intl",
        "char",
        "ja-mecab",
        "ko-mecab",
        "spm",
        "flores101",
        "flores200",
        "spBLEU-1K",
    ] = "auto"
    smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp"
    smooth_value: Annotated[float, Range(least=0)] | None = None
    max_ngram_order: Annotated[int, Range(least=1)] = 4
    effective_order: bool | None = None
    trg_lang: str | None = None
    average: Literal["corpus", "sentence"] = "corpus"
    info: ClassVar = MetricInfo(
        "bleu",
        range=(0.0, 100.0),
        summary="clipped n-gram precision with a brevity penalty",
        tasks=TASKS,
        paper='Papineni et al. (2002), "BLEU: a Method for Automatic Evaluation of Machine Translation"',
    )

    def __post_init__(self) -> None:
        if self.tokenize is None:
            object.__setattr__(self, "tokenize", "auto")
        checked(self)
        object.__setattr__(self, "trg_lang", self.trg_lang or None)  # sacrebleu's default is an empty one
        if self.smooth_value is not None:
            if _SMOOTH_DEFAULTS[self.smooth_method] is None:
                raise SpecError(
                    f"bleu:smooth_value changes nothing under smooth_method={self.smooth_method}; choose floor or add-k"
                )
            most = 1.0 if self.smooth_method == "floor" else _MOST_ADDED
            if self.smooth_value > most:
                raise SpecError(
                    f"bleu:smooth_value is {self.smooth_value!r}, expected a number from 0 to {most:g} under"
                    f" {self.smooth_method}"
                )
            object.__setattr__(self, "smooth_value", float(self.smooth_value))  # 1 and 1.0 are one option

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The values that the options resolve to, and sacrebleu's version.

        These are the tokenizer that the language chose, the smoothing value, and where the effective order holds.
        """
        return {
            "tokenize": self._scorer().tokenizer_signature,
            "trg_lang": None,  # it has done its work
            "smooth_value": self._smooth_value(),
            "effective_order": "segments" if self.effective_order is None else self.effective_order,
            "sacrebleu": version("sacrebleu"),
        }

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and the option that splits them."""
        if writing.spaced:
            return None
        tokenizer = self._scorer().tokenizer_signature
        if tokenizer not in _AT_BLANKS and not (writing.script not in _SPLITS and tokenizer.startswith(_OF_EAST_ASIA)):
            return None
        option = (
            f"tokenize={_SPLITS[writing.script]} or tokenize=char" if writing.script in _SPLITS else "tokenize=char"
        )
        return f"the tokenizer {tokenizer} splits words at blanks, of which they have few; take {option}"

    def unfit(self, segments: Sequence[Segment]) -> str | None:
        """Whether no text has as many words as the longest n-gram, so that the corpus number is 0 even for copies."""
        if self.effective_order or self.average == "sentence":
            return None
        words, order = self._scorer().tokenizer, self.max_ngram_order
        if any(len(words(s.hypothesis).split()) >= order for s in segments) or is_empty(segments).all():
            return None
        scripts = {*writings([s.hypothesis for s in segments]).tolist()}
        if any(self.unread(known_writings()[script]) for script in scripts):  # which has a note of its own
            return None
        return (
            f"no text has {order} words, so that the corpus number is 0 whatever the texts say; take"
            " effective_order=true, or chrf"
        )

    def peer_signature(self, references: Collection[int]) -> str | None:
        """sacrebleu's signature, where it names every option that was changed."""
        return signature(self._scorer(), references) if self.average == "corpus" and self.max_ngram_order == 4 else None

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 100; `stats` are (length, closest reference length, matched per order, produced per order).

        A blank side scores 0 and raises the flag `empty`; a hypothesis that ends in " ." raises `tokenized`, unless
        `tokenize=none`.
        """
        check_needs(self, segments)
        stats = statistics(self._scorer(), segments, 2 + 2 * self.max_ngram_order, runtime, "bleu")
        flags = {"empty": is_empty(segments)}
        if self.tokenize != "none":
            flags["tokenized"] = np.array([s.hypothesis.endswith(_TOKENIZED_END) for s in segments], dtype=np.bool_)
        values = self._bleu(stats, self.effective_order is not False)  # (n,)
        if self.average == "sentence":
            return Scores(signature_of(self, runtime), ids(segments), values, finish=mean_of_defined, flags=flags)
        return scores_of_stats(self, segments, runtime, stats, flags, values, self.corpus_parts)

    def corpus(self, totals: Array) -> Array:
        """BLEU of summed statistics: shape (..., 2 + 2 * max_ngram_order) to (...), in 0 to 100."""
        return self._bleu(totals, self.effective_order is True)

    def corpus_parts(self, totals: Array) -> dict[str, float]:
        """The parts of the corpus number, from summed statistics of shape (2 + 2 * max_ngram_order,).

        `bp` is the brevity penalty, `ratio` the length of the hypotheses over that of the closest references, and
        `precision1`, `precision2`, ... are the smoothed precisions of the orders, in percent.
        """
        precision, _, penalty = self._precisions(floats(totals))
        length, reference_length = float(totals[0]), float(totals[1])
        parts = {
            "bp": float(penalty) if length else 0.0,
            "ratio": length / reference_length if reference_length else math.nan,
            "length": length,
            "reference_length": reference_length,
        }
        matched = np.any(totals[2 : 2 + self.max_ngram_order])
        return parts | {f"precision{n}": float(p) if matched else 0.0 for n, p in enumerate(precision, start=1)}

    def _bleu(self, totals: Array, effective: bool) -> Array:
        totals = floats(totals)
        any_match = totals[..., 2 : 2 + self.max_ngram_order].any(axis=-1)
        precision, reached, penalty = self._precisions(totals)
        with np.errstate(divide="ignore"):
            logs = np.log(precision.astype(np.float64))
        logs = np.where(np.isneginf(logs), _LOG_OF_ZERO, logs)
        if effective:
            logs = np.where(reached, logs, 0.0)
            orders = np.maximum(reached.sum(axis=-1), 1)
        else:
            orders = self.max_ngram_order
        score = penalty * np.exp(logs.sum(axis=-1) / orders)
        return np.asarray(np.where(any_match, np.minimum(score, 100.0), 0.0))  # exp(log(100)) is a little more than 100

    def _precisions(self, totals: Array) -> tuple[Array, Mask, Array]:
        """Smoothed precisions in percent and the orders that any text reaches, each (..., order); the penalty (...)."""
        order = self.max_ngram_order
        length, reference_length = totals[..., 0].astype(np.float64), totals[..., 1].astype(np.float64)
        matched, produced = totals[..., 2 : 2 + order], totals[..., 2 + order : 2 + 2 * order]  # (..., order)
        value = self._smooth_value()
        if self.smooth_method == "add-k":
            added = np.concatenate([[0.0], np.full(order - 1, value)]).astype(totals.dtype)
            matched, produced = matched + added, produced + added
        reached = np.logical_and.accumulate(produced > 0, axis=-1)  # orders beyond the longest text stay at precision 0
        none = matched == 0
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            precision = 100.0 * matched / produced
            if self.smooth_method == "exp":
                halvings = np.exp2(np.cumsum(none & reached, axis=-1)).astype(totals.dtype)
                precision = np.where(none, 100.0 / (halvings * produced), precision)
            elif self.smooth_method == "floor":
                precision = np.where(none, 100.0 * float(value or 0) / produced, precision)
            penalty = np.where(length < reference_length, np.exp(1 - reference_length / length), 1.0)
        return np.where(reached, precision, 0.0), reached, penalty

    def _smooth_value(self) -> float | None:
        return _SMOOTH_DEFAULTS[self.smooth_method] if self.smooth_value is None else self.smooth_value

    def _scorer(self) -> Any:
        # The scorer only counts, and signs; smoothing and effective order are ours, in `_bleu`.
        tokenize = None if self.tokenize == "auto" else self.tokenize
        return bleu_scorer(
            tokenize,
            self.trg_lang,
            lowercase=self.lowercase,
            max_ngram_order=self.max_ngram_order,
            smooth_method=self.smooth_method,
            smooth_value=self.smooth_value,
            effective_order=bool(self.effective_order),
        )


# --- chrF: F score of character n-grams; with word n-grams chrF+ and chrF++

_EPSILON = 1e-16  # sacrebleu's, for an order that one side is too short for


@dataclass(frozen=True, kw_only=True)
class ChrF(BaseMetric):
    """chrF as sacrebleu computes it; its options under its names. `word_order=2` is chrF++.

    The share of character n-grams, up to six characters long, that the two texts have in common; recall counts twice as
    much as precision. `chrf++` also counts words and pairs of words; `wordf1` to `wordf3` count words alone, up to
    four, by the names of WMT 2016 (Popović's own program averages as `eps_smoothing=true` does). The corpus number is
    not the mean of the segments: n-grams are summed first. A blank side scores 0 and is flagged `empty`.

    Args:
        char_order: longest character n-gram; 0 leaves characters out.
        word_order: longest word n-gram.
        beta: how many times recall counts as much as precision.
        lowercase: compare in lower case.
        whitespace: count blanks as characters (in a text of nothing else they are no characters: it scores 0).
        eps_smoothing: average the F of all orders, missing ones near 0, as chrF++.py, NLTK and Moses do; otherwise
            precision and recall are averaged over the orders that both sides reach.

    References:
        Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"; Popović (2017), "chrF++: words
        helping character n-grams". Of several references the one with the best F counts, segment by segment.
    """

    char_order: Annotated[int, Range(least=0)] = 6
    word_order: Annotated[int, Range(least=0)] = 0
    beta: Annotated[int, Range(least=0)] = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False
    info: ClassVar = MetricInfo(
        "chrf",
        range=(0.0, 100.0),
        summary="F score of character n-grams",
        tasks=TASKS,
        paper='Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.char_order + self.word_order == 0:
            raise SpecError("chrf:char_order and word_order are both 0, expected at least one n-gram to count")
        if not self.char_order:
            paper = 'Popović (2016), "chrF deconstructed: β parameters and n-gram weights"'
            about = replace(self.info, summary="F score of word n-grams", tasks={"mt"}, paper=paper)
            object.__setattr__(self, "info", about)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """sacrebleu's version."""
        return {"sacrebleu": version("sacrebleu")}

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, where nothing but words is counted."""
        if writing.spaced or self.char_order:
            return None
        return "wordf splits words at blanks, of which they have few; take chrf, which counts characters"

    def peer_signature(self, references: Collection[int]) -> str | None:
        """sacrebleu's signature, where it names every option that was changed."""
        return signature(self._scorer(), references) if self.beta == 2 else None

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 100; `stats` are (produced, in the reference, matched) for each order.

        A blank side scores 0 and raises the flag `empty`.
        """
        check_needs(self, segments)
        stats = statistics(self._scorer(), segments, 3 * self._orders, runtime, "chrf")
        flags = {"empty": is_empty(segments)}
        return scores_of_stats(self, segments, runtime, stats, flags)

    def corpus(self, totals: Array) -> Array:
        """chrF of summed statistics: shape (..., 3 * (char_order + word_order)) to (...), in 0 to 100."""
        totals = floats(totals)
        factor = self.beta**2
        zero = np.zeros(totals.shape[:-1], dtype=totals.dtype)
        score, precision_sum, recall_sum, shared = zero, zero, zero, zero
        with np.errstate(divide="ignore", invalid="ignore"):
            for order in range(
                self._orders
            ):  # in sacrebleu's order of additions, to repeat its last digits in float32 too
                produced, wanted, matched = (totals[..., 3 * order + i] for i in range(3))
                precision = np.where(produced > 0, matched / produced, _EPSILON).astype(totals.dtype)
                recall = np.where(wanted > 0, matched / wanted, _EPSILON).astype(totals.dtype)
                if self.eps_smoothing:
                    denominator = factor * precision + recall
                    score = score + np.where(
                        denominator > 0, (1 + factor) * precision * recall / denominator, _EPSILON
                    ).astype(totals.dtype)
                    continue
                both = (produced > 0) & (wanted > 0)
                precision_sum = precision_sum + np.where(both, precision, 0)
                recall_sum = recall_sum + np.where(both, recall, 0)
                shared = shared + both
            if self.eps_smoothing:
                return np.asarray(100 * score / self._orders)
            precision, recall = precision_sum / np.maximum(shared, 1), recall_sum / np.maximum(shared, 1)
            score = (1 + factor) * precision * recall / (factor * precision + recall)
        return np.asarray(np.where(precision + recall > 0, 100 * score, 0).astype(totals.dtype))

    @property
    def _orders(self) -> int:
        return self.char_order + self.word_order

    def _scorer(self) -> Any:
        from sacrebleu.metrics.chrf import CHRF

        return CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
        )


# --- TER: edits with shifts of word blocks, per word of the reference. An error rate: lower is better


@dataclass(frozen=True, kw_only=True)
class Ter(BaseMetric):
    """Translation edit rate as sacrebleu computes it after Tercom; its options under its names.

    The edits that turn the hypothesis into the reference, per reference word, in percent: a word is inserted,
    deleted or replaced, or a block of words moves. It can be above 100. The corpus number is the sum of edits over
    the sum of words, so long segments weigh more. A blank hypothesis, or a text with a blank reference, gets 100
    (flag `empty`); two blank texts get 0 (flag `both_empty`).

    A pair that would take minutes (hundreds of thousands of words, or tens of thousands with many moves) is undefined,
    flagged `too_long`, and left out of the corpus number.

    Args:
        normalized: split off punctuation and undo XML entities first.
        no_punct: drop punctuation.
        asian_support: with `normalized`, split CJK text into characters; with `no_punct`, drop its punctuation too.
            Alone it would do nothing, and is refused.
        case_sensitive: keep case; otherwise both sides are lower-cased.

    References:
        Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation". Of several references
        the fewest edits count, over the references' mean length.
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False
    info: ClassVar = MetricInfo(
        "ter",
        range=(0.0, float("inf")),
        higher_is_better=False,
        summary="edits with shifts per reference word",
        tasks={"mt", "d2t"},
        paper='Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation"',
    )

    def __post_init__(self) -> None:
        checked(self)
        if self.asian_support and not (self.normalized or self.no_punct):
            raise SpecError("ter:asian_support changes nothing without normalized=true or no_punct=true; leave it out")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """sacrebleu's version."""
        return {"sacrebleu": version("sacrebleu")}

    def unread(self, writing: Writing) -> str | None:
        """Whether texts without blanks would count as single words, and the options that split them."""
        asian = writing.script in ("Han", "Kana")
        if writing.spaced or (asian and self.normalized and self.asian_support):
            return None
        advice = "take normalized=true,asian_support=true" if asian else "take chrf, which counts characters"
        return f"ter splits words at blanks, of which they have few; {advice}"

    def peer_signature(self, references: Collection[int]) -> str | None:
        """sacrebleu's signature."""
        return signature(self._scorer(), references)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in percent, 0 or more; `stats` are (edits, mean reference length).

        The flag `empty` marks one blank side, and `too_long` a pair whose edits cannot be counted in bounded time: its
        value is NaN, and the corpus number leaves it out. As in sacrebleu, an empty hypothesis costs one edit per word
        (100), a text against an empty reference scores 100, and two empty texts (`both_empty`) score 0.
        """
        check_needs(self, segments)
        stats = statistics(self._scorer(), segments, 2, runtime, "ter")
        too_long = np.isnan(stats[:, 0])
        empty = is_empty(segments)
        both_empty = empty & ~stats.any(axis=1)
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            np.where(too_long, np.nan, self.corpus(stats)),
            stats=np.where(too_long[:, None], 0.0, stats),
            finish=self.corpus,
            flags={"empty": empty & ~both_empty, "both_empty": both_empty, "too_long": too_long},
            higher_is_better=False,
        )

    def corpus(self, totals: Array) -> Array:
        """TER of summed statistics: shape (..., 2) to (...), in percent."""
        totals = floats(totals)
        edits, words = totals[..., 0], totals[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = np.where(words > 0, edits / words, np.where(edits > 0, 1.0, 0.0))
        return np.asarray(100 * rate.astype(totals.dtype))

    def _scorer(self) -> Any:
        return ter_scorer(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )
