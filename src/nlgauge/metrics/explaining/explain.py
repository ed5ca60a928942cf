"""Errors of hypotheses by their place, against references or against sources in the same language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Explanation, Explanations, merged
from nlgauge.core.metric import signature_of
from nlgauge.core.options import Range, check_option
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import Dataset, Frame, Segment, is_blank
from nlgauge.core.spec import Signature, version
from nlgauge.metrics.explaining.contradictions import contradicted
from nlgauge.metrics.explaining.marks import Worded, gaps_of, grown, spans_of, unmatched
from nlgauge.metrics.nli.faithful import Faithful, evidence
from nlgauge.metrics.scoring.texts import texts_as_dataset
from nlgauge.models.spans import Judged, SpanModel, load_spans
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import ENGLISH, leaning, names, writings

Method = Literal["spans", "words", "evidence"]
Against = Literal["ref", "src", "both"]
METHODS: tuple[str, ...] = get_args(Method)
AGAINST: tuple[str, ...] = get_args(Against)
HEAD = "spans"
THRESHOLD = 0.5  # where a head's file names none
_NAMED = 3  # segments in a note
_SHARE = Range(above=0, below=1, meaning="a probability")


@dataclass(frozen=True)
class Thresholds:
    """From which probability on a word is marked, something is missing, and a text is marked at all."""

    words: float
    missing: float
    text: float = 0.0


@warning
def explain(
    hyps: str | Dataset | Frame | Sequence[str] | Mapping[str, Sequence[str]],
    refs: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: str | Sequence[str] | None = None,
    *,
    method: Method = "spans",
    against: Against | None = None,
    threshold: float | None = None,
    threshold_text: float | None = None,
    model: str = HEAD,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Explanations:
    """Mark the words at fault in each of n hypotheses, with severities.

    Of several texts to compare a hypothesis with, that one counts for each word which faults it least.

    Args:
        hyps: hypotheses as for `nlgauge.score`; a single string is one of them.
        refs: references as for `nlgauge.score`; of a single hypothesis one string, or a list of them.
        srcs: sources as for `nlgauge.score`, in the language of the hypotheses; of a single hypothesis one string.
        method: `spans`, a head that reads both texts in one sequence; `words`, which marks the words that no other text
            has and calls all of them major; `evidence`, which marks the sentences that `faithful` finds unsupported by
            the source, and says for each sentence why, with the sentence of the source that tells most.
        against: compare hypotheses with references (`ref`), sources (`src`) or both; None is the references of a
            segment, or its source where it has none.
        threshold: the least probability of a marked word in (0, 1), of method `spans`; None is what the head's file
            names.
        threshold_text: the least probability that a text has an error at all for any of its words to be marked, in
            [0, 1), of method `spans`; 0 asks of no text, None is what the head's file names.
        model: the head: `spans` or a file.
        columns: which column of a frame holds which field, as in `nlgauge.read`.
        runtime: device and precision; None is the default runtime.

    Returns:
        One `Explanation` per hypothesis. Its score is at most 0: minus 5 for each major error, minus 1 for each minor.

    Warns:
        ScoreWarning: texts are not English, are too long to be read whole, or are compared with their source.

    Raises:
        InputError: a segment has nothing to be compared with, a source is in another language, lengths are unequal, or
            an option is out of range.
        MissingExtra: torch is not installed, and the method is `spans`.
    """
    check_option("method", method, Method, error=InputError)
    check_option("against", against, Against | None, error=InputError)
    for name, value in (("threshold", threshold), ("threshold_text", threshold_text)):
        if value is None:
            continue
        if method != "spans":
            raise InputError(f"{name} is about probabilities of words, and method {method} has none; leave it out")
        asks_nothing = name == "threshold_text" and value == 0
        if not isinstance(value, int | float) or not (0 < value < 1 or asks_nothing):
            raise InputError(f"{name} is {value!r}, expected a probability between 0 and 1")
    data = _dataset(hyps, refs, srcs, columns)
    if method == "evidence" and against not in (None, "src"):
        raise InputError(f"against is {against!r}, expected src: method evidence looks for support in the source")
    chosen = [_others(segment, "src" if method == "evidence" else against) for segment in data.segments]
    notes = _of_sources(data.segments, chosen, must_agree=method != "evidence")
    hypotheses = [Worded.of(segment.hypothesis) for segment in data.segments]
    known: dict[str, Worded] = {}
    claims: list[list[dict[str, Any]]] = []
    others = [tuple(known.setdefault(text, Worded.of(text)) for text in texts) for texts in chosen]
    if method == "words":
        found = [
            merged(spans_of(hyp, other, marked := unmatched(hyp, other), marked))
            for hyp, other in zip(hypotheses, others, strict=True)
        ]
        signature = _signature(method, {})
    elif method == "evidence":
        claims, signature = _evidence(data.segments, runtime or Runtime())
        found = [tuple(map(_unsupported, filter(itemgetter("reason"), own))) for own in claims]
    else:
        runtime = runtime or Runtime()
        loaded = load_spans(model, runtime.dtype, runtime)
        limits = thresholds(loaded, threshold, threshold_text)
        found, more = _by_head(loaded, limits, data.segments, hypotheses, others, runtime)
        notes += more
        facts = {**loaded.found.facts("file"), **loaded.found.encoder.facts(head=loaded.found.identity)}
        signature = _signature(
            method,
            {
                **facts,
                "threshold": limits.words,
                "missing": limits.missing,
                "text": limits.text,
                "dtype": runtime.dtype,
            },
        )
    found, more = _with_blank(data.segments, chosen, found)
    notes += more
    say(*notes)
    claims = claims or [[] for _ in data.segments]
    rows = tuple(
        Explanation(segment.id, segment.hypothesis, texts, spans, segment.system, segment.item, tuple(own))
        for segment, texts, spans, own in zip(data.segments, chosen, found, claims, strict=True)
    )
    about = {"spec": signature.spec, "signature": str(signature), "higher_is_better": True}
    return Explanations(rows, about, tuple(notes))


def _evidence(segments: Sequence[Segment], runtime: Runtime) -> tuple[list[list[dict[str, Any]]], Signature]:
    """A row for each sentence of each hypothesis, and what they were made with."""
    claims = [evidence(segment.hypothesis, str(segment.source), runtime).rows() for segment in segments]
    return claims, _signature("evidence", {"metric": f"({signature_of(Faithful(), runtime)})"})


def _unsupported(claim: Mapping[str, Any]) -> ErrorSpan:
    """The mark of a sentence of `evidence`."""
    return ErrorSpan(claim["start"], claim["end"], "major", category="unsupported")


def thresholds(model: SpanModel, words: float | None = None, text: float | None = None) -> Thresholds:
    """The thresholds of a head: those that its file names, or what is given for words and for whole texts."""
    own = [_number(model, name) for name in ("threshold", "threshold_missing")]
    of_text = 0.0 if model.found.get("threshold_text") is None else _number(model, "threshold_text")
    return Thresholds(own[0] if words is None else float(words), own[1], of_text if text is None else float(text))


def _number(model: SpanModel, name: str) -> float:
    text = model.found.get(name)
    try:
        value = THRESHOLD if text is None else float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise InputError(f"head {model.found.path}: {name} is {text!r:.40}, expected a probability between 0 and 1")
    return value


def least(judged: Sequence[Judged]) -> Judged:
    """What is at fault whichever text a hypothesis is compared with: of each word, the judgement that faults it least.

    Args:
        judged: judgements of one hypothesis beside one text each.
    """
    if len(judged) == 1:
        return judged[0]
    minor, major = (np.stack([getattr(one, name) for one in judged]) for name in ("minor", "major"))  # (texts, words)
    best = np.argmin(minor + major, axis=0)[None]
    missing: Array = np.min([one.missing for one in judged], axis=0)
    return Judged(
        np.take_along_axis(minor, best, 0)[0],
        np.take_along_axis(major, best, 0)[0],
        missing,
        max(one.n_read for one in judged),
        min(one.text for one in judged),
    )


def marked_spans(
    hypothesis: Worded, others: Sequence[Worded], judged: Judged, limits: Thresholds, *, by_rule: bool = True
) -> tuple[ErrorSpan, ...]:
    """The spans of a hypothesis from the probabilities of its words; none from them where the text has no error.

    By rule numbers, days and months that contradict the other texts are major errors, whatever the head makes of them.
    A text that says one of the others word for word has no error.
    """
    if _is_copy(hypothesis, others):
        return ()
    faulty, known = judged.minor + judged.major, contradicted(hypothesis, others) & by_rule
    by_head = judged.text >= limits.text
    marked = grown(faulty, limits.words) | known if by_head else known
    words = spans_of(hypothesis, others, marked, (judged.major > judged.minor) | known, faulty)
    if not by_head:
        return merged(words)
    inside = [(span.start, span.end) for span in words]
    gaps = [
        gap
        for gap in gaps_of(hypothesis, others, judged.missing, limits.missing)
        if not any(start <= gap.start <= end for start, end in inside)
    ]
    return merged([*words, *gaps])


def _is_copy(hypothesis: Worded, others: Sequence[Worded]) -> bool:
    """Whether all words of a text, in their case and order, are those of another one."""
    return any(hypothesis.words == other.words for other in others)


def _by_head(
    model: SpanModel,
    limits: Thresholds,
    segments: Sequence[Segment],
    hypotheses: Sequence[Worded],
    others: Sequence[tuple[Worded, ...]],
    runtime: Runtime,
) -> tuple[list[tuple[ErrorSpan, ...]], list[str]]:
    pairs = [(hyp.words, other.words) for hyp, own in zip(hypotheses, others, strict=True) for other in own]
    with runtime.progress(len(pairs), "pairs") as advance:
        judged = iter(model.judge(pairs, advance))
    found, cut = [], []
    for segment, hyp, own in zip(segments, hypotheses, others, strict=True):
        one = least([next(judged) for _ in own])
        found.append(marked_spans(hyp, own, one, limits))
        if one.n_read < len(hyp.words) and not _is_copy(hyp, own):
            cut.append(segment.id)
    notes = _counted(cut, "longer than the head reads; words beyond its limit are not marked", len(segments))
    codes = writings([segment.hypothesis for segment in segments])
    foreign = [
        segment.id
        for segment, code in zip(segments, codes, strict=True)
        if code or leaning(segment.hypothesis) not in (None, ENGLISH)
    ]
    advice = "not English, the language that the head reads; method words reads every language with blanks"
    return found, [*notes, *_counted(foreign, advice, len(segments))]


def _with_blank(
    segments: Sequence[Segment], chosen: Sequence[tuple[str, ...]], found: Sequence[tuple[ErrorSpan, ...]]
) -> tuple[list[tuple[ErrorSpan, ...]], list[str]]:
    """The spans, with everything missing in blank hypotheses; and notes on blank texts of either side."""
    spans, blank, beside = list(found), [], []
    for place, (segment, others) in enumerate(zip(segments, chosen, strict=True)):
        said = [not is_blank(other) for other in others]
        if not all(said):
            beside.append(segment.id)
        if is_blank(segment.hypothesis) and all(said):
            spans[place] = (ErrorSpan(0, 0, "major", category="omission", missing=True),)
            blank.append(segment.id)
    n = len(segments)
    notes = _counted(blank, "blank: everything is missing", n)
    return spans, [*notes, *_counted(beside, "compared with a blank text, which bears out nothing", n)]


def _counted(ids: Sequence[str], what: str, n: int) -> list[str]:
    if not ids:
        return []
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return [f"{len(ids)} of {n} hypotheses ({', '.join(ids[:_NAMED])}{more}) are {what}"]


def _dataset(hyps: Any, refs: Any, srcs: Any, columns: Mapping[str, str] | None) -> Dataset:
    """The texts as a data set; a single hypothesis may come as a string, with its references and source."""
    if not isinstance(hyps, str):
        return texts_as_dataset(hyps, refs, srcs, columns)
    references = None if refs is None else [[refs] if isinstance(refs, str) else list(refs)]
    sources = None if srcs is None else [srcs] if isinstance(srcs, str) else list(srcs)
    return texts_as_dataset([hyps], references, sources, columns)


def _others(segment: Segment, against: Against | None) -> tuple[str, ...]:
    """The texts that a segment is compared with."""
    source = () if segment.source is None else (segment.source,)
    asked = {"ref": segment.references, "src": source, "both": (*segment.references, *source)}
    texts = (segment.references or source) if against is None else asked[against]
    if not texts or (against == "both" and not (source and segment.references)):
        wanted = {"ref": "a reference", "src": "a source", "both": "a reference and a source"}
        needs = wanted.get(against or "", "a reference, or a source in the same language")
        raise InputError(f"segment {segment.id!r} has nothing to be compared with, expected {needs}")
    return tuple(dict.fromkeys(texts))


def _of_sources(segments: Sequence[Segment], chosen: Sequence[tuple[str, ...]], must_agree: bool) -> list[str]:
    """A note that texts must say what their sources say; sources in another language are refused."""
    used = [
        segment
        for segment, texts in zip(segments, chosen, strict=True)
        if segment.source in texts and segment.source not in segment.references
    ]
    if not used:
        return []
    for segment in used:
        source = str(segment.source)
        ours, theirs = (leaning(text) for text in (segment.hypothesis, source))
        scripts = writings([segment.hypothesis, source])
        if scripts[0] != scripts[1] or (ours is not None and theirs is not None and ours != theirs):
            what = (
                "is in another script"
                if scripts[0] != scripts[1]
                else f"looks like {names().get(str(theirs), theirs)}, another language"
            )
            raise InputError(
                f"segment {segment.id!r}: its source {what} than its hypothesis, expected the same language; give"
                " references, or choose against=ref (--against ref)"
            )
    told = f"{len(used)} of {len(segments)} hypotheses are compared with their source, which must say the same"
    return [told] if must_agree else []


def _signature(method: str, facts: Mapping[str, Any]) -> Signature:
    entries = {"method": method, **facts, "nlgauge": version("nlgauge")}
    return Signature(f"explain:method={method}", tuple((key, str(value)) for key, value in entries.items()))
