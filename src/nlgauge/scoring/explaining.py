"""Explanations of scores: spans of errors, and two texts aligned word by word."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.marks import Alignment, ErrorSpan, Explanation, Explanations
from nlgauge.core.metric import MetricLike, signature_of
from nlgauge.core.options import check_option
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import Dataset, Frame, Segment, is_blank
from nlgauge.core.spec import Signature, version
from nlgauge.metrics.embedding.bertscore import BertScore, piece_weights
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import texts_as_dataset
from nlgauge.scoring.looks import by_texts
from nlgauge.text.scripts import known_writings, languages, leaning, names, writings
from nlgauge.text.worded import NEGATIONS, WordedText, carries_content, is_function

# --- Which words are at fault by rule; runs of neighbours, severities, categories

_SLIP = 2  # edits that a misspelt word may be away from one of the other text
_LEAST_SPELLED, _MOST_SPELLED = 4, 40  # letters of a word that may be misspelt


def unmatched(hypothesis: WordedText, others: Sequence[WordedText]) -> Mask:
    """Which words of a text stand in none of the other texts, in any case, shape (words,)."""
    known = {word for other in others for word in other.lower}
    return np.array([word not in known for word in hypothesis.lower], dtype=np.bool_)


def differing(hypothesis: WordedText, others: Sequence[WordedText]) -> Mask:
    """Which words say what none of the other texts says, shape (words,): runs of unmatched words, one with content.

    A run of function words and marks alone is mostly another way to say the same. A number, a date, a time, a day, a
    month or a unit is compared by what it says: 1500 is 1,500, 5 pm is 17:00, Tue is Tuesday, 12K is twelve thousand,
    and "a hundred thousand" beside "ten thousand" is marked whole.
    """
    marked = unmatched(hypothesis, others)
    for saying in hypothesis.sayings:
        places = list(hypothesis.inside([(saying.start, saying.end)]))
        is_new = not any(saying.is_among(other.values) for other in others)
        marked[places] = is_new if saying.kind == "number" else marked[places] & is_new
    for first, last in _runs(marked):
        run = hypothesis.dated.intersection(range(first, last + 1))  # May is no verb beside a number
        dated = any(not hypothesis.numbered.isdisjoint((place - 1, place + 1)) for place in run)
        marked[first : last + 1] = dated or any(map(carries_content, hypothesis.lower[first : last + 1]))
    return marked


def spans_of(hypothesis: WordedText, others: Sequence[WordedText], marked: Mask) -> tuple[ErrorSpan, ...]:
    """Runs of marked words as spans; all are major.

    Args:
        hypothesis: the text.
        others: the texts it was compared with, from which categories are told.
        marked: which words are at fault, shape (words,).
    """
    found = []
    known = frozenset(word for other in others for word in other.lower)
    lacking = known.difference(hypothesis.lower)
    for first, last in _runs(marked):
        category = _category(hypothesis, known, lacking, first, last)
        start, end = hypothesis.places[first][0], hypothesis.places[last][1]
        found.append(ErrorSpan(start, end, "major", category=category))
    return tuple(found)


def _category(hypothesis: WordedText, known: Set[str], lacking: frozenset[str], first: int, last: int) -> str | None:
    """What kind of error a run of words is, as far as the words tell, by those that others have or alone have.

    `punctuation`: it has no letter or digit. `repetition`: all its words stand right before it, too. `negation`,
    `number`, `date`: one of its words is one that no other text has; a date is a day of the week or a month.
    `spelling`: its one word is in no other text, but is one or two letters away from a word that only others have.
    `name`: a word that is not the first begins with a capital, and no other text has it. None otherwise.
    """
    own, words = hypothesis.lower[first : last + 1], hypothesis.words[first : last + 1]
    new = [place for place, word in enumerate(own) if word not in known]
    if not any(char.isalnum() for word in own for char in word):
        return "punctuation"
    if own == hypothesis.lower[max(0, first - len(own)) : first]:
        return "repetition"
    if any(own[place] in NEGATIONS for place in new):
        return "negation"
    if any(char.isdigit() for place in new for char in own[place]) or any(
        first + place in hypothesis.numbered for place in new
    ):
        return "number"
    if any(first + place in hypothesis.dated for place in new):
        return "date"
    if len(own) == 1 and new and _is_misspelt(own[0], lacking):
        return "spelling"
    if any(words[place][:1].isupper() and first + place for place in new):
        return "name"
    return None


def _is_misspelt(word: str, meant: frozenset[str]) -> bool:
    most = _SLIP if len(word) > _LEAST_SPELLED + 2 else 1
    near = (other for cut in _cuts(word) for other in _by_cuts(meant).get(cut, ()))
    return any(Levenshtein.distance(word, other, score_cutoff=most) <= most for other in near)


@lru_cache(maxsize=1)
def _by_cuts(words: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        for cut in _cuts(word):
            found.setdefault(cut, []).append(word)
    return found


def _cuts(word: str) -> set[str]:
    """What is left of a word without up to two letters: two words that are two slips apart share one of these."""
    found = {word} if _LEAST_SPELLED <= len(word) <= _MOST_SPELLED else set()
    for _ in range(_SLIP):
        found |= {cut[:place] + cut[place + 1 :] for cut in found for place in range(len(cut))}
    return found


def _runs(marked: Mask) -> list[tuple[int, int]]:
    """First and last of each run of marked words."""
    edges = np.diff(marked.astype(np.int8), prepend=0, append=0)
    return list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))


# --- Errors of hypotheses by their place, against references or against sources in the same language

Method = Literal["spans", "words", "evidence"]
Against = Literal["ref", "src", "both"]
METHODS: tuple[str, ...] = get_args(Method)
AGAINST: tuple[str, ...] = get_args(Against)
_NAMED = 3  # segments in a note
# Below them texts are in two languages. So are 3 of 3,200 pairs in one language, each with foreign words.
_ALIKE, _COMMON = 0.2, 0.5
_TELLING = 3  # words that tell a language
_CROWD, _CROWDED = 10, 0.8  # texts, and the share of them that is marked, from which a line tells nothing
_OTHER_WORDS = (  # talks 2 and 6 of TED zh-en, recipes/spans/evaluate.py
    "a mark is where the texts differ, and other words look as wrong ones do: of the marks in good translations experts"
    " called about one in six an error"
)


@warning
def explain(
    hyps: str | Dataset | Frame | Sequence[str] | Mapping[str, Sequence[str]],
    refs: str | Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: str | Sequence[str] | None = None,
    *,
    method: Method = "spans",
    against: Against | None = None,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Explanations:
    """Mark the words at fault in each of n hypotheses, with severities.

    Of several texts to compare a hypothesis with, that one counts for each word which faults it least.

    Args:
        hyps: hypotheses as for `nlgauge.score`; a single string is one of them.
        refs: references as for `nlgauge.score`; of a single hypothesis one string, or a list of them.
        srcs: sources as for `nlgauge.score`, in the language of the hypotheses; of a single hypothesis one string.
        method: `spans`, which marks the words that no other text has, in runs with a word of content, and calls them
            major; `words`, which marks all words that no other text has; `evidence`, which marks the sentences that
            `faithful` finds unsupported by the source, and says for each sentence why, with the sentence of the source
            that tells most.
        against: compare hypotheses with references (`ref`), sources (`src`) or both; None is the references of a
            segment, or its source where it has none.
        columns: which column of a frame holds which field, as in `nlgauge.read`.
        runtime: device, precision and encoder, and the cache of what `evidence` finds; None is the default runtime.

    Returns:
        One `Explanation` per hypothesis. Its score is at most 0: minus 5 for each major error, minus 1 for each minor;
        minus 25 for a hypothesis that says nothing.

    Warns:
        ScoreWarning: texts are compared with their source; they say nothing, or are written without blanks between
            words; or `evidence` marks nearly all of them.

    Raises:
        InputError: a segment has nothing to be compared with, a source is in another language, lengths are unequal, or
            an option is out of range.
        MissingExtra: torch is not installed, and the method is `evidence`.
    """
    check_option("method", method, Method, error=InputError)
    check_option("against", against, Against | None, error=InputError)
    data = _dataset(hyps, refs, srcs, columns)
    if method == "evidence" and against not in (None, "src"):
        raise InputError(f"against is {against!r}, expected src: method evidence looks for support in the source")
    chosen = [_others(segment, "src" if method == "evidence" else against) for segment in data.segments]
    notes = _of_sources(data.segments, chosen, must_agree=method != "evidence")
    hypotheses = [WordedText.of(segment.hypothesis) for segment in data.segments]
    known: dict[str, WordedText] = {}
    claims: list[list[dict[str, Any]]] = []
    others = [tuple(known.setdefault(text, WordedText.of(text)) for text in texts) for texts in chosen]
    if method == "evidence":
        claims, signature, more = _evidence(data.segments, runtime or Runtime())
        found = [tuple(map(_unsupported, filter(itemgetter("reason"), own))) for own in claims]
        notes += [*more, *_crowded(sum(map(bool, found)), len(found))]
    else:
        marks = unmatched if method == "words" else differing
        found = [spans_of(hyp, other, marks(hyp, other)) for hyp, other in zip(hypotheses, others, strict=True)]
        signature = _signature(method, {})
        notes += _unspaced(data.segments)
    found, nothing, more = _with_nothing(data.segments, hypotheses, others, found)
    notes += more
    say(*notes)
    if method != "evidence" and any(found):
        notes.append(_OTHER_WORDS)
    claims = claims or [[] for _ in data.segments]
    rows = tuple(
        Explanation(
            segment.id, segment.hypothesis, texts, spans, segment.system, segment.item, tuple(own), place in nothing
        )
        for place, (segment, texts, spans, own) in enumerate(zip(data.segments, chosen, found, claims, strict=True))
    )
    about = {"spec": signature.spec, "signature": str(signature), "higher_is_better": True}
    return Explanations(rows, about, tuple(notes))


def _evidence(segments: Sequence[Segment], runtime: Runtime) -> tuple[list[list[dict[str, Any]]], Signature, list[str]]:
    """A row for each sentence of each hypothesis, what they were made with, and a note on the encoder."""
    from nlgauge.metrics.faithful import Faithful, evidence

    runtime, notes = by_texts(runtime, "faithful", [segments])
    (metric,) = named("faithful", runtime.encoder).values()
    assert isinstance(metric, Faithful)
    claims = [evidence(segment.hypothesis, str(segment.source), runtime, metric).rows() for segment in segments]
    return claims, _signature("evidence", {"metric": f"({signature_of(metric, runtime)})"}), notes


def _unsupported(claim: Mapping[str, Any]) -> ErrorSpan:
    """The mark of a sentence of `evidence`."""
    return ErrorSpan(claim["start"], claim["end"], "major", category="unsupported")


def _crowded(marked: int, n: int) -> list[str]:
    """A note where nearly all texts are marked, of which the line then tells nothing."""
    from nlgauge.metrics.faithful import LINE

    if n < _CROWD or marked < _CROWDED * n:
        return []
    told = f"{marked} of {n} texts are below the line: the line of {LINE} does not fit these texts; the least supported"
    return [f"{told} stand first, so take as many of them as you can read"]


def _unspaced(segments: Sequence[Segment]) -> list[str]:
    """A note on hypotheses whose words no blanks set apart."""
    codes = writings([segment.hypothesis for segment in segments]).tolist()
    ids = [segment.id for segment, code in zip(segments, codes, strict=True) if not known_writings()[code].spaced]
    return _counted(ids, "written without blanks between words, so a mark covers a whole clause", len(segments))


def _with_nothing(
    segments: Sequence[Segment],
    hypotheses: Sequence[WordedText],
    others: Sequence[tuple[WordedText, ...]],
    found: Sequence[tuple[ErrorSpan, ...]],
) -> tuple[list[tuple[ErrorSpan, ...]], set[int], list[str]]:
    """The spans, with everything missing in hypotheses that say nothing; their places; notes on blank texts, too."""
    spans, blank, hollow, beside = list(found), [], [], []
    for place, (segment, hyp, own) in enumerate(zip(segments, hypotheses, others, strict=True)):
        if any(is_blank(other.text) for other in own):
            beside.append(segment.id)
        elif is_blank(hyp.text):
            blank.append(place)
        elif not any(map(carries_content, hyp.lower)) and not any(all(map(is_function, other.lower)) for other in own):
            hollow.append(place)
    for place in (*blank, *hollow):
        spans[place] = (ErrorSpan(0, 0, "major", category="omission", missing=True),)
    n = len(segments)
    notes = _counted([segments[place].id for place in blank], "blank: everything is missing", n)
    notes += _counted([segments[place].id for place in hollow], "without a word of content: everything is missing", n)
    notes += _counted(beside, "compared with a blank text, which bears out nothing", n)
    return spans, {*blank, *hollow}, notes


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
    undecided = []
    for segment in used:
        source = str(segment.source)
        ours, theirs = (leaning(text) for text in (segment.hypothesis, source))
        scripts = writings([segment.hypothesis, source])
        if scripts[0] != scripts[1]:
            raise InputError(_another(segment.id, None, must_agree))
        if ours is None or theirs is None:
            undecided.append(segment)
        elif ours != theirs and _are_foreign(segment.hypothesis, source, 1):
            raise InputError(_another(segment.id, theirs, must_agree))
    hyps, sources = (" ".join(str(getattr(one, name)) for one in undecided) for name in ("hypothesis", "source"))
    if undecided and _are_foreign(hyps, sources):
        theirs = next(iter(languages(sources)))
        raise InputError(_another(undecided[0].id, theirs, must_agree))
    told = f"{len(used)} of {len(segments)} hypotheses are compared with their source, which must say the same"
    return [told] if must_agree else []


def _another(name: str, theirs: str | None, must_agree: bool) -> str:
    what = "is in another script" if theirs is None else f"looks like {names().get(theirs, theirs)}, another language"
    advice = "give references, or choose against=ref (--against ref)" if must_agree else "leave the segment out"
    return f"segment {name!r}: its source {what} than its hypothesis, expected the same language; {advice}"


def _are_foreign(text: str, other: str, common: float = _COMMON) -> bool:
    """Whether two texts are in two languages: these have hardly a language in common, nor many of their words."""
    ours, theirs = languages(text), languages(other)
    alike = sum(math.sqrt(share * theirs.get(code, 0.0)) for code, share in ours.items())
    words, known = (set(re.findall(r"\w+", one.lower())) for one in (text, other))
    return alike < _ALIKE and _TELLING <= min(len(words), len(known)) > len(words & known) / common


def _signature(method: str, facts: Mapping[str, Any]) -> Signature:
    entries = {"method": method, **facts, "nlgauge": version("nlgauge")}
    return Signature(f"explain:method={method}", tuple((key, str(value)) for key, value in entries.items()))


# --- BERTScore of one pair of texts, word by word: similarities, matches and weights


def align(hyp: str, ref: str, metric: MetricLike = "bertscore", runtime: Runtime | None = None) -> Alignment:
    """Align a hypothesis with a reference.

    The pieces of a word are joined: two words are as similar as the best pair of their pieces. Precision, recall and F
    are the metric's own, computed from pieces, so they may differ from what the words in the picture add up to.

    Args:
        hyp: the hypothesis.
        ref: one reference.
        metric: a `bertscore` specification or metric.
        runtime: device and precision; None is the default runtime.

    Returns:
        An `Alignment` of n hypothesis words and m reference words.

    Raises:
        InputError: a text is not a string, or is longer than the model reads at once, or the model computes no
            finite vectors for it.
        SpecError: the metric does not match tokens, or takes idf from the call (one reference is not a corpus).
    """
    for name, text in (("hyp", hyp), ("ref", ref)):
        if not isinstance(text, str):
            raise InputError(f"{name} is {type(text).__name__}, expected a string")
    pair = [Segment("align", hyp, (ref,))]
    runtime, _ = by_texts(runtime or Runtime(), metric, [pair])  # the signature says what it took
    built = _matching(metric, runtime.encoder)
    scores = built.score(pair, runtime)
    encoder = built.encoder(runtime)
    if scores.flags["truncated"][0]:
        most = f"{encoder.tokenizer.max_tokens} pieces that model {built.model!r} reads at once"
        raise InputError(f"a text is longer than the {most}; align shorter texts, or use long=windows")
    if scores.flags["nonfinite"][0]:
        raise InputError(f"model {built.model!r} computes NaN or infinity for these texts; try dtype=float32")
    tokens = encoder.tokenizer.tokens([hyp, ref], built.long)
    table = built.table(encoder, (), runtime)
    (hyp_words, hyp_of), (ref_words, ref_of) = map(encoder.tokenizer.words, (hyp, ref))  # words; the word of each piece
    weights = [piece_weights(encoder, t.ids, table) for t in tokens]
    if hyp_words and ref_words:
        from nlgauge.models.matching import similarities

        pieces = similarities(encoder.encode(tokens, built.depth(encoder)), 0, 1)
    else:
        pieces = np.zeros((len(tokens[0].ids), len(tokens[1].ids)))
    parts = {name: float(column[0]) for name, column in scores.parts.items()}
    return Alignment(
        tuple(hyp_words),
        tuple(ref_words),
        _best_pieces(pieces, hyp_of, ref_of, (len(hyp_words), len(ref_words))),
        _shares(hyp_of, weights[0], len(hyp_words)),
        _shares(ref_of, weights[1], len(ref_words)),
        parts["precision"],
        parts["recall"],
        parts["f1"],
        scores.signature,
    )


def _matching(metric: MetricLike, encoder: str | None) -> BertScore:
    """The metric, if it matches tokens and needs no references but the one given."""
    (built,) = named(metric, encoder).values()
    if not isinstance(built, BertScore):
        raise SpecError(
            f"align shows what a token matching metric saw; {built.info.name!r} matches no tokens, use bertscore"
        )
    if built.idf:
        raise SpecError(
            "idf=true needs many references and align has one; take frequencies from a file: bertscore:idf_file=PATH"
        )
    if built.against == "source":
        raise SpecError("align compares with what --ref holds; give the source there, without against=source")
    return built


def _shares(words: Sequence[int | None], weights: npt.NDArray[np.float32], n: int) -> Array:
    """The share of each of n words in the mean, shape (n,); all 0 where nothing has any weight.

    Args:
        words: the word of each piece.
        weights: the weight of each piece.
        n: the number of words.
    """
    shares = np.zeros(n)
    for word, weight in zip(words, weights, strict=True):
        if word is not None:
            shares[word] += weight
    total = float(weights.sum())
    return shares / total if total > 0 else shares


def _best_pieces(
    pieces: Array, rows: Sequence[int | None], columns: Sequence[int | None], shape: tuple[int, int]
) -> Array:
    """The best similarity among the pieces of each pair of words, shape (n, m)."""
    best = np.full(shape, -np.inf)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            if row is not None and column is not None:
                best[row, column] = max(best[row, column], pieces[i, j])
    return best
