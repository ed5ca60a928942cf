"""Does a metric prefer the better text of a pair? Scores of both texts, and accuracy by phenomenon."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, said, signature_of
from nlgauge.core.options import check_option
from nlgauge.core.scores import MetricInfo, Scores, count, first_of
from nlgauge.core.segment import Dataset, Segment, is_blank
from nlgauge.core.spec import together
from nlgauge.core.suite import Expect, Pair, Suite
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.run import score_segments
from nlgauge.perturbations.paraphrase import edit_distance
from nlgauge.perturbations.perturb import Case, make_cases, stream
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks
from nlgauge.stats.draws import SHARES, dependent_trials, mean_of_shares, mean_trials
from nlgauge.stats.preferences import accuracy_of
from nlgauge.text.languages import Language
from nlgauge.text.scripts import LATIN, Writing


@by_value
@dataclass(frozen=True)
class Sides:
    """Scores of those n pairs of a suite that are made for a metric.

    Attributes:
        places: positions of the pairs in the suite, length n.
        better, worse: scores of the two texts on the metric's own scale, shape (n,); NaN if undefined.
        flags: as in `Scores`, shape (n,): whether either of the two texts has the flag.
        unread: notes on pairs in scripts that the metric does not read.
        ids: the ids of the pairs, length n; empty where nobody needs them.
        references: `own`, or `source` if the texts were compared with their source.
    """

    spec: str
    metric: BaseMetric
    signature: str
    places: tuple[int, ...]
    better: Array
    worse: Array
    flags: Mapping[str, Mask] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    references: str = "own"

    def held(self, pair: Pair) -> str | None:
        """The anchor of a pair: a reference or the source; None if the pair has neither."""
        needs = self.metric.info.needs
        if self.references == "source" or ("source" in needs and "references" not in needs):
            return pair.source
        return pair.references[0] if pair.references and pair.setup != "src" else pair.source

    @property
    def first(self) -> dict[str, list[str]]:
        """Flag -> ids of the first pairs that have it."""
        return first_of(self.flags, self.ids, self.margin) if self.ids else {}

    @property
    def counts(self) -> dict[str, int]:
        """Flag -> number of pairs that have it; `undefined` counts pairs one of whose scores is NaN."""
        return count(self.flags, self.margin)

    @property
    def higher_is_better(self) -> bool:
        """Whether a higher score of the metric is better."""
        return self.metric.info.higher_is_better

    @property
    def margin(self) -> Array:
        """How much better the metric scores the better text, shape (n,). It is positive if the metric agrees."""
        return (self.better - self.worse) * (1 if self.higher_is_better else -1)


def score_sides(
    suite: Suite,
    metrics: Mapping[str, BaseMetric],
    runtime: Runtime,
    *,
    references: str = "own",
    scripts: LanguageCheck = "note",
) -> dict[str, Sides]:
    """Score both texts of every pair.

    A metric that needs references scores the pairs whose `setup` is `ref` or `any`. A metric that needs only a source
    scores those whose `setup` is `src` or `any`. A metric that pools statistics over texts (idf, min-max) scores one
    phenomenon of one group at a time, since MENLI computes idf in this way.

    Args:
        references: `own`, or `source` to compare the texts with their source, as is done for factuality sets without
            references.
        scripts: pairs in scripts that a metric does not read are noted (`note`), refused before anything is scored
            (`strict`), or not looked for (`off`).

    Raises:
        InputError: no pair of the suite has what a metric needs; or, under `strict`, a metric does not read a pair.
    """
    if references not in ("own", "source"):
        raise InputError(f"references is {references!r}, expected own or source")
    looks = Looks(language=scripts, guards="off")  # what is odd about a text may be what the suite is about
    places: dict[str, list[int]] = {}
    for spec, built in metrics.items():  # what one metric lacks is refused before another is scored
        places[spec] = pairs_for(spec, built, suite, references)
        signature_of(built, runtime)
    unread: dict[str, tuple[str, ...]] = {}
    for spec, built in metrics.items():
        pairs = [whole_pair(suite.pairs[place], references) for place in places[spec]]
        unread[spec] = tuple(looks.seen({spec: built}, pairs, "pairs").notes())
    # Metrics of the same pairs score at once, so that those over one encoder share its vectors. A metric that pools
    # statistics over texts stands alone, since it takes the pairs part by part.
    groups: dict[Hashable, list[str]] = {}
    for spec, built in metrics.items():
        groups.setdefault(spec if built.pooled else tuple(places[spec]), []).append(spec)
    found: dict[str, Sides] = {}
    for group in groups.values():
        found |= _score({spec: metrics[spec] for spec in group}, suite, places[group[0]], runtime, references)
    return {spec: replace(found[spec], unread=unread[spec]) for spec in metrics}


def _score(
    metrics: Mapping[str, BaseMetric], suite: Suite, places: Sequence[int], runtime: Runtime, references: str
) -> dict[str, Sides]:
    parts: dict[str, list[tuple[npt.NDArray[np.int64], Scores]]] = {spec: [] for spec in metrics}
    for part in _parts(next(iter(metrics.values())), suite, places):
        pairs = [suite.pairs[places[i]] for i in part]
        for spec, scores in _scores(metrics, pairs, runtime, references).items():
            parts[spec].append((part, scores))
    return {spec: _joined(spec, metrics[spec], suite, places, own, references) for spec, own in parts.items()}


def _joined(
    spec: str,
    metric: BaseMetric,
    suite: Suite,
    places: Sequence[int],
    parts: Sequence[tuple[npt.NDArray[np.int64], Scores]],
    references: str,
) -> Sides:
    """The sides of one metric from its scores of parts of the pairs: all better texts, then all worse ones."""
    better, worse = np.full(len(places), np.nan), np.full(len(places), np.nan)
    flags: dict[str, Mask] = {}
    for part, scores in parts:
        n = len(part)
        better[part], worse[part] = scores.values[:n], scores.values[n:]
        for name, flag in scores.flags.items():
            flags.setdefault(name, np.zeros(len(places), dtype=np.bool_))[part] = flag[:n] | flag[n:]
    names = tuple(suite.pairs[place].id for place in places)
    signed = str(together([scores.signature for _, scores in parts]))
    return Sides(spec, metric, signed, tuple(places), better, worse, flags, ids=names, references=references)


def pairs_for(spec: str, metric: BaseMetric, suite: Suite, references: str) -> list[int]:
    """The positions of the pairs that a metric scores; see `score_sides`."""
    if any(said(metric, "compares_outputs")):  # a text and its changed copy are no two outputs
        raise InputError(
            f"{spec} compares the outputs of several systems for one input, and a pair is a text and its changed copy;"
            " leave it out"
        )
    needs = metric.info.needs
    wanted = "src" if "source" in needs and "references" not in needs else "ref"
    if references == "source":
        places = [i for i, p in enumerate(suite.pairs) if p.source is not None]
        if places:
            return places
        raise InputError(f"{suite.name or 'the suite'}: no pair has a source to stand for the reference of {spec}")
    places = [i for i, p in enumerate(suite.pairs) if p.setup in (wanted, "any")]
    if not needs & {"references", "source"}:  # what reads neither can answer both
        places = places or list(range(len(suite)))
    if "references" in needs:
        places = [i for i in places if suite.pairs[i].references]
    if "source" in needs:
        places = [i for i in places if suite.pairs[i].source is not None]
    if "context" in needs:
        places = [i for i in places if suite.pairs[i].context]
    if not places:
        lacking = " and ".join(sorted(needs)) or "text"
        sourced = "references" in needs and any(p.source for p in suite.pairs)
        hint = "; --references source holds them against the source" if sourced else ""
        raise InputError(f"{spec} needs {lacking}; no pair of {suite.name or 'the suite'} has that{hint}")
    return places


def _parts(metric: BaseMetric, suite: Suite, places: Sequence[int]) -> Iterator[npt.NDArray[np.int64]]:
    if not metric.pooled:
        yield np.arange(len(places))
        return
    parts: dict[tuple[str, str | None, str | None], list[int]] = {}
    for i, place in enumerate(places):
        pair = suite.pairs[place]
        parts.setdefault((pair.phenomenon, pair.criterion, pair.group), []).append(i)
    yield from (np.array(part, dtype=np.int64) for part in parts.values())


def _scores(
    metrics: Mapping[str, BaseMetric], pairs: Sequence[Pair], runtime: Runtime, references: str
) -> dict[str, Scores]:
    """Scores of all better texts, then of all worse ones, 2n of them, by each metric; none of several pools."""
    segments = [_segment(p, side, references) for side in ("better", "worse") for p in pairs]
    if next(iter(metrics.values())).pooled:  # its scores depend on how often a text occurs
        return score_segments(metrics, segments, runtime)
    keys = [
        (s.hypothesis, s.references, s.source, tuple((t["speaker"], t["text"]) for t in s.context)) for s in segments
    ]
    first = {key: i for i, key in reversed(list(enumerate(keys)))}
    distinct = sorted(first.values())
    found = score_segments(metrics, [segments[i] for i in distinct], runtime)
    where = {keys[i]: j for j, i in enumerate(distinct)}
    return {spec: scores.take([where[key] for key in keys]) for spec, scores in found.items()}


def whole_pair(pair: Pair, references: str) -> Segment:
    """Both texts of a pair as one segment, to be looked at."""
    return _segment(pair, "both", references)


def _segment(pair: Pair, side: str, references: str) -> Segment:
    refs = (pair.source,) if references == "source" and pair.source is not None else pair.references
    text = {"better": pair.better, "worse": pair.worse, "both": f"{pair.better}\n{pair.worse}"}[side]
    name = pair.id if side == "both" else f"{pair.id}/{side}"
    return Segment(name, text, refs, pair.source, None, pair.id, pair.group, context=pair.context)


# --- Which texts of a data set are perturbed: the references of its items, or the hypotheses

Field = Literal["ref", "hyp"]


@dataclass(frozen=True)
class Anchor:
    """A text to perturb, with the segment it comes from.

    Attributes:
        others: the other references of the item that are not blank.
    """

    segment: Segment
    text: str
    others: tuple[str, ...]


def anchors(dataset: Dataset, field: Field | None = None, limit: int | None = None, seed: int = 0) -> list[Anchor]:
    """The texts to perturb: the first reference of each item once, or every hypothesis.

    Args:
        field: `ref` or `hyp`. If None, `ref` if the data have references, else `hyp`.
        limit: take at most this many texts, drawn at random with the seed. Each text draws its lot by what it says and
            by its id, so that neither the name of the data set nor the order of its rows changes the choice.

    Raises:
        InputError: references are requested and there are none, or there is no text at all.
    """
    check_option("field", field, Field | None, error=InputError)
    wanted = field or ("ref" if any(s.references for s in dataset) else "hyp")
    by_key: dict[tuple[str, str], Anchor] = {}
    for s in dataset:
        texts = s.references if wanted == "ref" else (s.hypothesis,)
        if texts:
            others = tuple(r for r in s.references[wanted == "ref" :] if not is_blank(r))
            key = (s.item or s.id, texts[0]) if wanted == "ref" else (s.id, "")
            by_key.setdefault(key, Anchor(s, texts[0], others))
    if not by_key:
        raise InputError(
            f"{dataset.name or 'the data'}: no segment has a reference; perturb the hypotheses (field hyp)"
        )
    if limit is None or limit >= len(by_key):
        return list(by_key.values())
    lots = sorted((stream(seed, "limit", f"{key[0]}\0{a.text}").random(), key) for key, a in by_key.items())
    chosen = {key for _, key in lots[:limit]}
    return [anchor for key, anchor in by_key.items() if key in chosen]


class _English(BaseMetric):
    """The need of most perturbations, as a metric would say it."""

    info = MetricInfo("perturbations", needs=frozenset())

    def unread(self, writing: Writing) -> str | None:
        """The same for every script but Latin, and for every language but English."""
        if writing.script == LATIN:
            takes = "those that need English take them for English, and edit what looks like it"
            return None if writing.may_be_english else takes
        reason = "with the reason 'language' (page 'guides/translation' of the documentation)"
        return f"those that need English leave them alone, {reason}"


def script_notes(found: Sequence[Anchor], scripts: LanguageCheck) -> list[str]:
    """A note on texts in scripts that perturbations of English words do not read.

    Raises:
        InputError: there are such texts, and `scripts` is `strict`.
    """
    texts = [Segment(a.segment.id, a.text) for a in found]
    return Looks(language=scripts, guards="off").seen({"perturbations": _English()}, texts, "texts").notes()


def cases_of(found: Sequence[Anchor], language: str | Language) -> list[Case]:
    """One case per text, with the other texts to draw from and with the dialogue and references of its segment."""
    return make_cases(
        [a.text for a in found],
        ids=[a.segment.id for a in found],
        context=[a.segment.context for a in found],
        pool=list(dict.fromkeys(a.text for a in found)),
        references=[a.others for a in found],
        backend=language,
    )


def distinct(perturbations: Sequence[str]) -> Sequence[str]:
    """The names, unchanged, if none of them occurs twice."""
    twice = next((spec for i, spec in enumerate(perturbations) if spec in perturbations[:i]), None)
    if twice is not None:
        raise SpecError(f"perturbation {twice!r} is named twice; name it once")
    return perturbations


# --- Does the metric prefer the better text? Accuracy by phenomenon, and pairs in which no metric can fail

CONFIDENCE = 0.95  # of all intervals
ADEQUACY = (
    "addition", "omission", "name_error", "negation", "number_error", "pronoun_error", "mismatch_adj",
    "mismatch_noun", "mismatch_verb",
)  # fmt: skip
FLUENCY = ("typos", "jumble_words", "subject_verb_disagreement")
MEANS: Mapping[str, Sequence[str] | None] = {"mean-adequacy": ADEQUACY, "mean-fluency": FLUENCY, "mean-all": None}
ALL_GROUPS = "all"


@dataclass(frozen=True, kw_only=True)
class PreferenceRow:
    """How often a metric prefers the better text, for one phenomenon or as a mean over phenomena.

    Attributes:
        phenomenon: how the texts of the pairs differ; `mean-adequacy`, `mean-fluency` or `mean-all` for a mean.
        group: the part of the suite; `all` for the whole suite.
        expect: `lower` if the metric should score the worse text lower, `same` if it should score both the same.
        n, wins, ties, losses: numbers of pairs.
        accuracy: the share of pairs won, in [0, 1], with ties counted by the chosen rule; NaN if no pair counts.
        won, counted: numerator and denominator of the accuracy.
        distances: how far texts are from the reference, in words per word of the longer text, as means: the better text
            where the metric preferred it (`passed`) and where it did not (`failed`), and the worse text (`worse`). NaN
            where there is no such pair; None for a mean, or if it was not measured.
        n_phenomena: how many phenomena a mean is taken over; None for a single phenomenon.
        trained_on: whether the metric's model was trained on this phenomenon.
    """

    metric: str
    phenomenon: str
    group: str | None
    expect: Expect
    n: int
    wins: int
    ties: int
    losses: int
    accuracy: float
    low: float
    high: float
    n_undefined: int
    won: float
    counted: float
    distances: Mapping[str, float] | None = None
    n_phenomena: int | None = None
    trained_on: bool = False

    @property
    def attack(self) -> str:
        """The subject of the row, as training names it."""
        return self.phenomenon

    def as_row(self) -> dict[str, Any]:
        """The flat object of the result file."""
        names = [field.name for field in fields(self)]
        row = {name: getattr(self, name) for name in names[: names.index("won")]}
        if self.distances is not None:
            row |= {f"distance_{name}": value for name, value in self.distances.items()}
        if self.n_phenomena is not None:
            row["n_phenomena"] = self.n_phenomena
        return {**row, "trained_on": True} if self.trained_on else row


def preference_rows(
    suite: Suite,
    sides: Sides,
    *,
    ties: str = "loss",
    tolerance: float = 0.05,
    interval: str = "wilson",
    distances: bool = True,
) -> list[PreferenceRow]:
    """One row per phenomenon and group, and rows for the means over phenomena.

    If there are several groups, the rows of group `all` count the pairs of all groups. A published suite has only
    these. A pair whose texts should score
    the same is won if their scores differ by at most `tolerance` times the better text's score. Phenomena of such pairs
    are not part of the means.

    Args:
        ties: `loss`, `half`, `exclude` or `zero`.
        tolerance: the relative difference up to which two scores count as the same.
        interval: `wilson`, or `clopper-pearson`, which is exact and wider. Pairs of one origin (`Pair.origin`) count as
            fewer trials, by how much their outcomes depend on each other.
        distances: also measure how far the texts are from their references. This does not depend on the metric, and it
            takes time.

    References:
        Chen and Eger (2023), "MENLI", section 3, equation 1.
    """
    pairs = [suite.pairs[place] for place in sides.places]
    outcome = won(sides, pairs, tolerance)
    groups = list(dict.fromkeys(p.group for p in pairs))
    rows: list[PreferenceRow] = []
    if len(groups) > 1:
        groups = [ALL_GROUPS] if suite.published is not None else [*groups, ALL_GROUPS]
    for group in groups:
        places_by_phenomenon: dict[str, list[int]] = {}
        for i, pair in enumerate(pairs):
            if group in (ALL_GROUPS, pair.group):
                places_by_phenomenon.setdefault(pair.phenomenon, []).append(i)
        of_group = [
            _row(sides, pairs, places, outcome[places], group, ties, interval, distances)
            for places in places_by_phenomenon.values()
        ]
        counted = [*of_group, *_means(of_group, sides.spec, group, interval)]
        rows += dependent(counted, pairs, outcome, places_by_phenomenon, ties, interval)
    return rows


def check_names(suite: Suite) -> None:
    """Refuse names under which different pairs would be counted as one.

    Raises:
        InputError: one group of several is called `all`, or a phenomenon has pairs of both expectations.
    """
    groups = suite.groups
    if len(groups) > 1 and ALL_GROUPS in groups:
        first = next(pair.id for pair in suite if pair.group == ALL_GROUPS)
        raise InputError(f"pair {first!r} is of group 'all', which is the name for all groups together; rename it")
    expects: dict[str, Pair] = {}
    for pair in suite:
        first_pair = expects.setdefault(pair.phenomenon, pair)
        if first_pair.expect != pair.expect:
            raise InputError(
                f"pairs {first_pair.id!r} and {pair.id!r} are both of {pair.phenomenon!r}, but the first expects"
                f" {first_pair.expect!r} and the second {pair.expect!r}; give them two names"
            )


def won(sides: Sides, pairs: Sequence[Pair], tolerance: float) -> Array:
    """1 for a pair that is won, 0.5 for a tie, 0 for a pair that is lost or undefined; shape (n,)."""
    margin = sides.margin
    outcome = np.where(margin > 0, 1.0, np.where(margin == 0, 0.5, 0.0))
    same = np.array([p.expect == "same" for p in pairs], dtype=bool)
    room = tolerance * np.maximum(np.abs(sides.better), 1e-12)
    return np.where(same, (np.abs(margin) <= room).astype(np.float64), outcome)


def _row(
    sides: Sides,
    pairs: Sequence[Pair],
    places: list[int],
    outcome: Array,
    group: str | None,
    ties: str,
    interval: str,
    distances: bool,
) -> PreferenceRow:
    wins, tied = int((outcome == 1).sum()), int((outcome == 0.5).sum())
    losses = len(places) - wins - tied
    share = accuracy_of(np.asarray(wins), np.asarray(losses), np.asarray(tied), ties)
    counted = float(share.denominator)
    low, high = SHARES[interval](float(share.numerator), counted, CONFIDENCE)
    first = pairs[places[0]]
    return PreferenceRow(
        metric=sides.spec,
        phenomenon=first.phenomenon,
        group=group,
        expect=first.expect,
        n=len(places),
        wins=wins,
        ties=tied,
        losses=losses,
        accuracy=float(share.numerator) / counted if counted else math.nan,
        low=low,
        high=high,
        n_undefined=int(np.isnan(sides.margin[places]).sum()),
        won=float(share.numerator),
        counted=counted,
        distances=_distances([pairs[i] for i in places], outcome == 1) if distances else None,
    )


def _distances(pairs: Sequence[Pair], passed: Mask) -> dict[str, float] | None:
    """Distances of pairs from their references; None if no pair has a reference to compare with."""
    held = np.array([bool(pair.references) and pair.setup != "src" for pair in pairs], dtype=np.bool_)
    if not held.any():
        return None
    compared = [pairs[i] for i in np.flatnonzero(held).tolist()]
    better = np.array([edit_distance(p.references[0], p.better, level="word") for p in compared])
    worse = np.array([edit_distance(p.references[0], p.worse, level="word") for p in compared])
    parts = {"passed": better[passed[held]], "failed": better[~passed[held]], "worse": worse}
    return {name: float(part.mean()) if len(part) else math.nan for name, part in parts.items()}


def _means(rows: Sequence[PreferenceRow], spec: str, group: str | None, interval: str) -> Iterator[PreferenceRow]:
    told_apart = [row for row in rows if row.expect == "lower"]
    for name in MEANS:
        part = [row for row in told_apart if _counts_in(name, row.phenomenon)]
        if part:
            won, counted = [row.won for row in part], [row.counted for row in part]
            value, low, high = mean_of_shares(won, counted, interval=interval)
            yield PreferenceRow(
                metric=spec,
                phenomenon=name,
                group=group,
                expect="lower",
                n=sum(row.n for row in part),
                wins=sum(row.wins for row in part),
                ties=sum(row.ties for row in part),
                losses=sum(row.losses for row in part),
                accuracy=value,
                low=low,
                high=high,
                n_undefined=sum(row.n_undefined for row in part),
                won=sum(won),
                counted=sum(counted),
                n_phenomena=len(part),
            )


def _counts_in(mean: str, phenomenon: str) -> bool:
    """Whether a phenomenon is one of a mean; one with options counts under its name."""
    wanted = MEANS[mean]
    return wanted is None or phenomenon.partition(":")[0] in wanted


def dependent(
    rows: Sequence[PreferenceRow],
    pairs: Sequence[Pair],
    outcome: Array,
    places: Mapping[str, Sequence[int]],
    ties: str,
    interval: str = "wilson",
) -> list[PreferenceRow]:
    """The rows with intervals that take pairs of one origin together; as they are if each pair has its own."""
    if len({pair.origin for pair in pairs}) == len(pairs):
        return list(rows)
    by_name = {row.phenomenon: row for row in rows}
    parts = {name: _preference_parts(outcome[places[name]], ties) for name in places}
    found = []
    for row in rows:
        names, trials = [row.phenomenon], row.counted
        if row.n_phenomena is not None:
            of_mean = (name for name in places if _counts_in(row.phenomenon, name))
            names = [n for n in of_mean if by_name[n].expect == "lower" and by_name[n].counted]
            trials = mean_trials([by_name[n].won for n in names], [by_name[n].counted for n in names])
        if not math.isnan(row.accuracy):
            moved = np.concatenate([parts[name] for name in names]) / len(names)
            origins = [pairs[i].origin for name in names for i in places[name]]
            trials = dependent_trials(trials, moved, origins)
            low, high = SHARES[interval](row.accuracy * trials, trials, CONFIDENCE)
            row = replace(row, low=low, high=high)
        found.append(row)
    return found


def _preference_parts(outcome: Array, ties: str) -> Array:
    """By how much each pair moves the accuracy from its value, shape (n,)."""
    tied = outcome == 0.5
    won_ = np.where(tied, 0.5 if ties == "half" else 0.0, outcome)
    counted = np.where(tied & (ties == "exclude"), 0.0, 1.0)
    n = max(float(counted.sum()), 1.0)
    return np.asarray((won_ - float((won_ * counted).sum()) / n) * counted / n)


def check_copies(
    suite: Suite, metrics: Mapping[str, BaseMetric], references: str = "own", refuse: bool = True
) -> list[str]:
    """Refuse a suite of preferences that no metric with references can fail, and count such pairs elsewhere.

    A copy of the reference gets the best score of nearly every metric, so such a pair tells no metric from another.

    Args:
        references: `own`, or `source` if the texts are compared with their source.
        refuse: whether a suite of nothing but such pairs is refused. It is counted where preferences were asked for.

    Returns:
        A note if the better text is a reference in some of the pairs that a metric scores; else nothing.

    Raises:
        InputError: it is one in all pairs that a metric scores, or no pair has what a metric reads.
    """
    noted: dict[str, None] = {}
    for spec, metric in metrics.items():
        places = pairs_for(spec, metric, suite, references)  # which refuses a suite without what the metric reads
        if "references" not in metric.info.needs:
            continue
        pairs = [suite.pairs[place] for place in places if suite.pairs[place].expect == "lower"]
        n = sum(_is_copy(pair, references) for pair in pairs)
        if refuse and n and n == len(pairs):
            raise InputError(f"{suite.name or 'the suite'}: {_refusal(spec, pairs)}")
        if n:
            about = "the better text is a reference, which nearly every metric prefers: accuracies are higher for it"
            noted[f"in {n} of {len(pairs)} pairs {about}"] = None
    return list(noted)


def _is_copy(pair: Pair, references: str) -> bool:
    held = (pair.source or "",) if references == "source" else pair.references
    return pair.better.strip() in {text.strip() for text in held}


def _refusal(spec: str, pairs: list[Pair]) -> str:
    is_checklist = all(pair.task and pair.criterion for pair in pairs)
    return (
        f"in all {len(pairs)} pairs for {spec} the better text is the reference, so that no metric could fail;"
        f"{' use them as a checklist (--design checklist), or' if is_checklist else ''} make pairs that can be failed:"
        " 'nlgauge perturb --field hyp', or 'nlgauge audit DATA --suite menli', which takes paraphrases"
    )
