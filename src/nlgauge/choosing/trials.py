"""What metrics are tried on: the user's ratings, outputs with errors, systems side by side, and public sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from zlib import crc32

import numpy as np

from nlgauge.audits.preference import Field
from nlgauge.audits.suites import menli_suite, perturbed_suite, task_in
from nlgauge.choosing.evidence import (
    APART,
    CHANCE,
    DRAWS,
    LEVEL,
    PUBLIC,
    Care,
    CriterionShare,
    interval_of,
    seconds_each,
    tried,
    unreadable,
)
from nlgauge.core.arrays import Array, Counts, Floats
from nlgauge.core.errors import InputError, NlgaugeError, SpecError
from nlgauge.core.inputs import SameInputs
from nlgauge.core.metric import BaseMetric, MetricLike
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment, is_blank
from nlgauge.core.suite import Pair, Suite
from nlgauge.metaeval.joined import criteria_of, ratings
from nlgauge.metrics.registry import named, on_encoder
from nlgauge.metrics.run import score_segments
from nlgauge.perturbations.checklist import ChecklistRow, select_rows, task_of
from nlgauge.perturbations.perturb import stream
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import by_texts
from nlgauge.stats.coefficients import spearman
from nlgauge.stats.draws import FEWEST, Share, generator, numbered, observed, pairs_of, resample_counts
from nlgauge.stats.power import mean_power
from nlgauge.stats.selection import stable_on_halves
from nlgauge.text.scripts import languages, leaning

_FEW = 20  # pairs of outputs for one input; fewer, and outputs for different inputs are compared
MEAN = "mean"  # of all criteria
_SOME = 0.05  # in deviations of the ratings: a smaller difference between two inputs is none


@dataclass(frozen=True)
class Compared:
    """Which outputs are compared, and how people order them.

    Attributes:
        first, second: places of the two outputs of each pair, shape (P,); people prefer the first.
        clusters: number of the item of each output, shape (n,).
        within: whether both outputs of a pair are for one input.
    """

    first: Counts
    second: Counts
    clusters: Counts
    within: bool

    def __len__(self) -> int:
        return len(self.first)


def rated_pairs(segments: Sequence[Segment], human: Array) -> Compared:
    """The pairs of outputs that people do not rate the same.

    Outputs for one input are compared, of one group only. Where there are fewer than 20 such pairs, as with one
    system, all outputs of a group are.

    Args:
        segments: the outputs.
        human: their ratings, higher is better, shape (n,); NaN where there is none.
    """
    items = numbered(item_of(s) for s in segments)
    groups = numbered(s.group for s in segments)
    left, right = np.triu_indices(len(segments), 1)
    differ = np.abs(human[left] - human[right]) > 0
    within = differ & (items[left] == items[right])
    is_within = int(within.sum()) >= _FEW
    spread = float(np.nanstd(human)) if not np.isnan(human).all() else 0.0
    across = differ & (groups[left] == groups[right]) & (np.abs(human[left] - human[right]) > _SOME * spread)
    kept = within if is_within else across
    left, right = left[kept], right[kept]
    up = human[left] > human[right]
    return Compared(np.where(up, left, right), np.where(up, right, left), items, is_within)


def agreement(values: Array, pairs: Compared, seed: int = 0) -> Share | None:
    """The share of the pairs that scores order as people do; a tie of scores is half a win.

    Items are resampled; a pair of outputs for two inputs counts as often as both were drawn.

    Args:
        values: scores of the outputs, higher is better, shape (n,); a pair with NaN does not count.
        pairs: the pairs.
        seed: of the resamples.

    Returns:
        The share, where n is the number of outputs in all pairs; None if no pair counts.
    """
    gap = values[pairs.first] - values[pairs.second]
    counted = ~np.isnan(gap)
    if not counted.any():
        return None
    won = np.where(gap > 0, 1.0, np.where(gap == 0, CHANCE, 0.0))[counted]
    one, other = pairs.clusters[pairs.first[counted]], pairs.clusters[pairs.second[counted]]
    n_items = int(pairs.clusters.max()) + 1
    times = resample_counts(generator(seed), DRAWS, n_items)
    if pairs.within:
        wins, sizes = (np.bincount(one, weights=w, minlength=n_items) for w in (won, np.ones(len(won))))
        top, bottom = times @ wins, times @ sizes
    else:
        top, bottom = (_summed(times, one, other, w, n_items) for w in (won, np.ones(len(won))))
    value = float(won.mean())
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = np.where(bottom > 0, top / bottom, value)
    n_outputs = len(np.unique(np.concatenate([pairs.first[counted], pairs.second[counted]])))
    return Share(value, *interval_of(drawn), n_outputs, drawn)


def _summed(times: Floats, one: Counts, other: Counts, weights: Array, n: int) -> Array:
    """Over pairs of items, the weight times how often both items were drawn, shape (B,)."""
    table = np.zeros((n, n))
    np.add.at(table, (one, other), weights)
    return np.asarray(np.einsum("bi,bi->b", times @ table, times))


def rating_of(dataset: Dataset, criterion: str) -> Array:
    """The ratings of a criterion, shape (n,); `mean` is the mean of all criteria, each in deviations from its mean."""
    if criterion != MEAN:
        return ratings(dataset.segments, criterion)
    columns = np.stack([ratings(dataset.segments, name) for name in criteria_of(dataset)])
    spread = np.nanstd(columns, axis=1, keepdims=True)
    scaled = (columns - np.nanmean(columns, axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    known = ~np.isnan(scaled)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, scaled, 0.0).sum(axis=0) / known.sum(axis=0))


# --- Which of the user's outputs are looked at: whole items, drawn at random, so that a run takes seconds

OUTPUTS, RATED = 240, 480  # outputs that are scored; those of ratings, which tell more
_SYSTEMS = 8  # systems that are compared, at most
_ITEMS = 30  # items that are kept even if that makes more outputs
_WORDS = 60.0  # of an output and its references; of longer ones fewer are looked at, since they take longer
_LEAST = 0.25  # of the outputs, however long
_READ = 450.0  # words with the source: of longer ones fewer than that, so that a run does not take for ever


@dataclass(frozen=True)
class OutputSample:
    """Outputs to look at.

    Attributes:
        dataset: the outputs.
        whole: all outputs.
        notes: what was left out.
    """

    dataset: Dataset
    whole: Dataset
    notes: tuple[str, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The outputs to look at."""
        return self.dataset.segments

    @property
    def part(self) -> float:
        """The part of the usual number of texts that is looked at, since they are long; 1 for sentences."""
        return part_of(self.segments)

    @property
    def n_items(self) -> int:
        """The number of items in all of the data."""
        return len({item_of(s) for s in self.whole})

    @property
    def has_outputs(self) -> bool:
        """Whether some output says something that no reference says."""
        return any(not is_blank(s.hypothesis) and s.hypothesis not in s.references for s in self.segments)

    @property
    def are_copies(self) -> bool:
        """Whether every output is one of its references."""
        return all(s.hypothesis in s.references for s in self.segments)


def part_of(segments: Sequence[Segment]) -> float:
    """The part of the usual number of texts that is looked at: 1 up to 60 words, then less.

    It is 0.25 at least while no more than 1,800 words are read of each, counted with its source.
    """
    some = segments[:: max(1, len(segments) // 200)]
    words = [len(" ".join((s.hypothesis, *s.references)).split()) for s in some]
    sources = [len((s.source or "").split()) for s in some]
    mean = sum(words) / max(len(words), 1)
    read = mean + sum(sources) / max(len(sources), 1)
    return min(1.0, max(_LEAST, _WORDS / max(mean, 1.0)), _READ / max(read, 1.0))


def item_of(segment: Segment) -> tuple[str | None, str]:
    """The key of the item of a segment."""
    return segment.group, segment.item or segment.id


def sampled(dataset: Dataset, limit: int = OUTPUTS, seed: int = 0, criterion: str | None = None) -> OutputSample:
    """Whole items drawn at random, up to about `limit` outputs; of more than 8 systems the 8 with most outputs.

    Args:
        dataset: all outputs.
        limit: how many are taken; of long texts fewer.
        seed: of the draw.
        criterion: take outputs that are rated by it alone; `mean` for any criterion. None for all.

    Raises:
        InputError: outputs for one item were written for different inputs.
    """
    rated = [s for s in dataset if criterion is None or (s.human if criterion == MEAN else criterion in s.human)]
    SameInputs().check(rated)
    segments, notes = tuple(rated), []
    counts: dict[str | None, int] = {}
    for s in segments:
        counts[s.system] = counts.get(s.system, 0) + 1
    if len(counts) > _SYSTEMS:
        kept = set(sorted(counts, key=lambda name: -counts[name])[:_SYSTEMS])
        segments = tuple(s for s in segments if s.system in kept)
        notes.append(f"{_SYSTEMS} of {len(counts)} systems are looked at, those with most outputs")
    items: dict[tuple[str | None, str], list[Segment]] = {}
    for s in segments:
        items.setdefault(item_of(s), []).append(s)
    each = len(segments) / max(len(items), 1)
    n = max(int(limit * part_of(segments) / max(each, 1.0)), int(_ITEMS * part_of(segments)), 1)
    if n < len(items):
        order = generator(seed).permutation(len(items))
        chosen = {list(items)[i] for i in np.sort(order[:n])}
        segments = tuple(s for s in segments if item_of(s) in chosen)
        notes.append(f"{len(segments)} of {len(dataset)} outputs are looked at: those of {n} of {len(items)} items")
    return OutputSample(Dataset(segments, dataset.name, dataset.notes), dataset, tuple(notes))


# --- Texts with a known order, made from the user's own: outputs with an error, harmless changes, near-copies

_TEXTS = 80  # outputs that errors are put into
_EACH = 60  # pairs of each aspect, and of each other kind
_MOST_WORDS = 100_000  # of a suite and its sources, for a metric that reads sources: over 100 pairs of news
_FALLBACK = "mt"
# What a change of a text harms, where its criterion does not say so already.
_ASPECT: Mapping[str, Care] = {
    **dict.fromkeys(
        "change_numbers change_names change_attributes change_gender swap_objects perturb_entities number_error"
        " name_error pronoun_error".split(),
        "facts",
    ),
    **dict.fromkeys(
        "negation antonyms hyponyms random_text generic_response negate_previous_utterance mismatch_noun mismatch_verb"
        " mismatch_adj sorry_repeat".split(),
        "meaning",
    ),
    **dict.fromkeys(
        "drop_phrases drop_adjectives drop_named_entities drop_objects keep_only_stopwords add_extra_text add_nonsense"
        " repeat_phrases repeat_object addition omission".split(),
        "coverage",
    ),
    **dict.fromkeys("typos jumble_words subject_verb_disagreement".split(), "fluency"),
}
_CRITERION: Mapping[str, Care] = {
    **dict.fromkeys("fluency coherence non_redundancy referential_clarity avoiding_repetition".split(), "fluency"),
    **dict.fromkeys("data_coverage thoroughness".split(), "coverage"),
}


@dataclass(frozen=True)
class Trials:
    """Pairs of texts for all metrics.

    Attributes:
        errors: texts and the same texts with an error, or with a harmless change (`expect` says which); None if nothing
            applied. The criterion of a pair with an error is the aspect that it harms.
        copies: a paraphrase of a reference, and the reference with an error; None without references.
        source: the texts that errors were put into, in words.
        task: the task whose checklist was taken.
        notes: what a reader must know.
    """

    errors: Suite | None
    copies: Suite | None
    source: str
    task: str
    notes: tuple[str, ...]

    @property
    def suites(self) -> tuple[Suite, ...]:
        """Those that there are."""
        return tuple(suite for suite in (self.errors, self.copies) if suite is not None)


def make_trials(sample: OutputSample, task: str | None, seed: int = 0) -> Trials:
    """Trials of a sample.

    Errors are those of the checklist of the task. They are put into outputs; into references where there are no
    outputs, or where all of them are copies of references.

    Raises:
        SpecError: the task is unknown.
    """
    settled, notes = settled_task(sample.dataset, task)
    from_outputs = sample.has_outputs
    field: Field = "hyp" if from_outputs else "ref"
    # of references the first one is perturbed, and the others stand beside it
    data = sample.dataset if from_outputs else _some(sample.dataset, lambda s: bool(s.references))
    filled = _some(data, lambda s: bool(s.references) or not is_blank(s.hypothesis))
    rows = [*_rows(settled)]
    errors = copies = None
    each, texts = max(FEWEST, round(_EACH * sample.part)), round(_TEXTS * sample.part)
    try:
        made = perturbed_suite(filled, rows, seed=seed, field=field, limit=texts, scripts="off")
        errors = _spread(_sound(made, data), each, seed)
    except InputError as error:
        notes.append(f"no errors could be made: {error}")
    if any(s.references for s in data):
        try:
            attacked = menli_suite(data, seed=seed, task=settled, limit=texts, scripts="off")
            copies = _spread(attacked, each, seed)
        except InputError as error:
            notes.append(f"no near-copies could be made: {error}")
    source = "your outputs" if from_outputs else "your references"
    return Trials(errors, copies, source, settled, tuple(notes))


def looked_at(suite: Suite, metric: BaseMetric) -> list[int]:
    """Places of the pairs that a metric looks at: all, or of one that reads sources as many as hold 100,000 words.

    Such a metric takes a second for 1,000 words. The pairs are drawn by their ids, the same for every metric.
    """
    if "source" not in metric.info.needs:
        return [*range(len(suite))]
    kept: list[int] = []
    read: set[tuple[str | None, str]] = set()
    words = 0
    for i in sorted(range(len(suite)), key=lambda i: stream(0, "choose", suite.pairs[i].id).random()):
        pair = suite.pairs[i]
        new = {(pair.source, text) for text in (pair.better, pair.worse)} - read
        words += sum(len((source or "").split()) + len(text.split()) for source, text in new)
        if kept and words > _MOST_WORDS:
            break
        kept.append(i)
        read |= new
    return sorted(kept)


def settled_task(dataset: Dataset, task: str | None) -> tuple[str, list[str]]:
    """The task whose checklist is taken: as given, as the data say, or translation, and a note if it is a guess.

    Raises:
        SpecError: the given task is unknown.
    """
    if task is not None:
        return task_of(task), []
    try:
        return task_in(dataset), []
    except SpecError:
        groups = [group for group in dataset.groups if group]
    if groups and all(_is_pair(group) for group in groups):
        return "mt", []
    of = f"there is no checklist of {groups[0]!r}" if groups else "the data name no task"
    return _FALLBACK, [f"{of}: the errors are those of the checklist of translation (--task mt|as|qg|dg|ic|d2t)"]


def _is_pair(group: str) -> bool:
    """Whether it is the name of a language pair, as `cs-en`."""
    one, dash, other = group.partition("-")
    return bool(dash) and all(2 <= len(code) <= 3 and code.isalpha() for code in (one, other))


def _rows(task: str) -> Iterator[ChecklistRow]:
    """The rows of a checklist as rows of no task, so that texts are compared with their references; each change once.

    The criterion becomes the aspect.
    """
    seen: set[str] = set()
    for row in select_rows(task):
        if row.template in seen or row.template == "alternative_references":
            continue
        seen.add(row.template)
        aspect = "same" if row.criterion == "invariance" else aspect_of(row.template, row.criterion)
        yield replace(row, task="", criterion=aspect)


def aspect_of(template: str, criterion: str = "") -> Care:
    """What a change of a text harms."""
    return _CRITERION.get(criterion) or _ASPECT.get(template, "meaning")


def _sound(suite: Suite, dataset: Dataset) -> Suite:
    """The pairs without those whose changed text is blank, or what another system or a reference says of the item.

    Raises:
        InputError: no pair is left.
    """
    items: dict[str, set[object]] = {}
    for s in dataset:
        for text in (s.hypothesis, *s.references):
            items.setdefault(text.strip(), set()).add(item_of(s))
    none: set[object] = set()
    kept = [
        pair
        for pair in suite
        if not is_blank(pair.worse)
        and (pair.expect == "same" or not items.get(pair.worse.strip(), none) & items.get(pair.better.strip(), none))
    ]
    return replace(suite, pairs=tuple(kept))


def _some(dataset: Dataset, wanted: Callable[[Segment], bool]) -> Dataset:
    return Dataset(tuple(s for s in dataset if wanted(s)), dataset.name)


def _spread(suite: Suite, each: int, seed: int) -> Suite | None:
    """At most so many pairs of each aspect, of the harmless ones and of each setup, over as many texts as possible."""
    kinds: dict[tuple[str, str], list[Pair]] = {}
    for pair in suite:
        kinds.setdefault((pair.setup, pair.criterion or pair.expect), []).append(pair)
    kept: set[str] = set()
    for pairs in kinds.values():
        drawn = sorted(pairs, key=lambda pair: stream(seed, "choose", pair.id).random())
        kept |= {pair.id for pair in drawn[:each]}
    pairs_kept: Sequence[Pair] = [pair for pair in suite if pair.id in kept]
    return replace(suite, pairs=tuple(pairs_kept)) if pairs_kept else None


# --- Does a metric tell the user's systems apart? And which metrics say the same of these texts?

ALIKE = 0.95  # rank correlation from which on two metrics are one group
_POWER = 0.8
_FEWEST = 4  # items that can be halved
_LEAST_SYSTEMS = 3  # from which on their order is compared
_LEAST_OUTPUTS = 10  # likewise; few are ordered alike by chance


@dataclass(frozen=True)
class Grid:
    """The items that every system answers once.

    Attributes:
        systems: their names, S of them.
        places: place of the output of each system for each item, shape (S, N).
        n_all: the number of items in all of the data.
    """

    systems: tuple[str | None, ...]
    places: Counts
    n_all: int


def grid_of(segments: Sequence[Segment], n_all: int) -> Grid | None:
    """The systems side by side; None for one system, or fewer than 4 items that all of them answer."""
    answers: dict[tuple[str | None, str], dict[str | None, int]] = {}
    for place, s in enumerate(segments):
        answers.setdefault(item_of(s), {}).setdefault(s.system, place)
    systems = tuple(dict.fromkeys(s.system for s in segments))
    whole = [row for row in answers.values() if len(row) == len(systems)]
    if len(systems) < 2 or len(whole) < _FEWEST:
        return None
    places = np.array([[row[name] for row in whole] for name in systems], dtype=np.int64)
    return Grid(systems, places, n_all)


def apart_evidence(spec: str, scores: Scores, grid: Grid, seed: int = 0) -> CriterionShare:
    """The share of differences between systems that have one sign on both random halves of the items.

    A tie is half a win. The interval is that of resamples of the items, moved to the share. Its detail has, in units of
    the metric: `detectable`, the smallest difference of means that all items would show with a power of 80 %;
    `widest`, the greatest difference between two systems; `item_sd`, how much the difference varies from item to item.
    """
    rows = scores.segment_stats[grid.places]  # (S, N, k)
    found = stable_on_halves(rows, scores.finish, draws=DRAWS, seed=seed)
    return CriterionShare.of(spec, APART, found, f"{rows.shape[1]} of your items", **_in_units(scores, grid))


def _in_units(scores: Scores, grid: Grid) -> dict[str, float]:
    one, other = pairs_of(len(grid.systems))
    values = scores.values[grid.places]
    gaps = values[one] - values[other]  # (pairs, N)
    with np.errstate(invalid="ignore"):
        spread = float(np.sqrt(np.nanmean(np.nanvar(gaps, axis=1, ddof=1))))
    whole = system_scores(scores, grid)
    try:
        detectable = mean_power(sd=spread, n=grid.n_all, power=_POWER).effect
    except InputError:  # no spread
        detectable = math.nan
    return {"detectable": detectable, "widest": float(np.nanmax(whole) - np.nanmin(whole)), "item_sd": spread}


def alike(scores: Mapping[str, Scores], grid: Grid | None) -> dict[str, tuple[str, float]]:
    """Metric -> the first metric that orders these texts as it does, and their rank correlation; itself and 1 if none.

    Two metrics are alike if Spearman's rho of their scores of outputs, 10 or more, is above 0.95, and, with 3 systems
    or more, also that of their scores of systems.
    """
    found: dict[str, tuple[str, float]] = {}
    for spec, own in scores.items():
        for other in [name for name, (head, _) in found.items() if head == name]:
            same_way = own.higher_is_better == scores[other].higher_is_better
            rho = _rho(own.values, scores[other].values, same_way, _LEAST_OUTPUTS)
            if rho > ALIKE and (
                grid is None or len(grid.systems) < _LEAST_SYSTEMS or _ordered(own, scores[other], grid)
            ):
                found[spec] = other, rho
                break
        else:
            found[spec] = spec, 1.0
    return found


def _rho(one: Array, other: Array, same_way: bool, least: int) -> float:
    known = ~np.isnan(one) & ~np.isnan(other)
    if known.sum() < least:
        return math.nan
    rho = float(spearman(one[known], other[known]))
    return rho if same_way else -rho


def system_scores(scores: Scores, grid: Grid) -> Array:
    """Corpus scores of the systems, shape (S,)."""
    return observed(scores.segment_stats[grid.places], scores.finish)


def _ordered(one: Scores, other: Scores, grid: Grid) -> bool:
    """Whether two metrics order the systems alike."""
    same_way = one.higher_is_better == other.higher_is_better
    return _rho(system_scores(one, grid), system_scores(other, grid), same_way, _LEAST_SYSTEMS) > ALIKE


# --- How did metrics agree with people elsewhere? The shipped table of public sets, and those nearest to these texts

_NEAREST = 3  # sets
_TABLE = "agreement.tsv"
TOGETHER = 0.58  # correlation of two metrics on resamples of a set, on the mean; recipes/choose/table.py prints it
# Deviations of what metrics have more than the mean of all, on English sets: from metric to metric, and of one metric
# from family to family of sets; recipes/choose/study.py prints both.
_SPREAD, _BETWEEN = 0.014, 0.005
_Z = 1.959964  # of the normal distribution, for the ends of an interval of LEVEL
_DOUBLE = math.log(2)  # a text twice as long is one unit away
_CLOSE = 20.0  # points of chrF between outputs and references that are one unit
_TOLD = 0.5  # share of the texts that must be in a language for it to be theirs


@dataclass(frozen=True)
class PublicSet:
    """A public set with ratings.

    Attributes:
        name: of the set.
        task: `mt`, `as` or `d2t`.
        language: code of the language of its outputs.
        words: mean number of words of an output.
        chrf: mean chrF of an output against its references; NaN without references.
    """

    name: str
    task: str
    language: str
    words: float
    chrf: float


@cache
def public_sets() -> dict[PublicSet, dict[str, Share]]:
    """Every set of the shipped table -> metric -> how often it orders two of its outputs as people do.

    A metric on another encoder than that for English stands under the specification that names it.
    `python recipes/choose/table.py DATA` made the table.
    """
    text = resources.files("nlgauge.data").joinpath(_TABLE).read_text(encoding="utf-8")
    found: dict[PublicSet, dict[str, Share]] = {}
    for line in text.splitlines()[1:]:
        name, task, language, words, chrf, spec, value, low, high, n = line.split("\t")
        nearness = float(chrf) if chrf else math.nan  # one object, so that the lines of a set have one key
        key = PublicSet(name, task, language, float(words), nearness)
        found.setdefault(key, {})[spec] = Share(float(value), float(low), float(high), int(n))
    return found


def profile_of(sample: OutputSample, task: str, runtime: Runtime, scores: Scores | None = None) -> PublicSet:
    """The user's texts as a set: how long they are, in which language, and how near to their references."""
    segments = sample.segments
    words = float(np.mean([len(s.hypothesis.split()) for s in segments])) if segments else 0.0
    language = language_of([s.hypothesis for s in segments])
    with_references = [s for s in segments if s.references]
    chrf = math.nan
    if with_references:
        found = score_segments(named("chrf"), with_references, runtime)["chrf"] if scores is None else scores
        chrf = float(np.nanmean(found.values))
    return PublicSet("", task, language, words, chrf)


def language_of(texts: Sequence[str]) -> str:
    """The language of half of some texts or more, told by function words and else by n-grams; "" where none is."""
    told: dict[str, float] = {}
    for text in filter(str.strip, texts):
        code = leaning(text)
        for name, share in languages(text).items() if code is None else ((code, 1.0),):
            told[name] = told.get(name, 0.0) + share
    code = max(told, key=lambda name: told[name], default="")
    return code if code and told[code] >= _TOLD * len(texts) else ""


def distance(one: PublicSet, other: PublicSet) -> float:
    """How far two sets are from each other: in length and closeness to references.

    Infinite where tasks or languages differ: how a metric agrees with people in one says nothing of another. So it is
    where one set has references and the other has none: other metrics can score it.
    """
    if (one.task, one.language) != (other.task, other.language) or math.isnan(one.chrf) != math.isnan(other.chrf):
        return math.inf
    apart = abs(math.log((one.words + 1) / (other.words + 1))) / _DOUBLE
    if not math.isnan(one.chrf):
        apart += abs(one.chrf - other.chrf) / _CLOSE
    return apart


def nearest(own: PublicSet, leave_out: Sequence[str] = ()) -> list[PublicSet]:
    """The three sets of the same task and language that are nearest, or fewer, the nearest first; none without such."""
    known = [one for one in public_sets() if one.name not in leave_out and math.isfinite(distance(own, one))]
    return sorted(known, key=lambda one: (distance(own, one), one.name))[:_NEAREST]


def public_evidence(
    spec: str, sets: Sequence[PublicSet], seed: int = 0, encoder: str | None = None
) -> CriterionShare | None:
    """The mean figure of a metric over some sets, those with narrow intervals weighing more; None where one has none.

    The figures are those of the metric on its own encoder, or on that of the run. The interval also reckons with other
    texts than those of the sets. The draws are normal, with the width of the interval, and correlated as those of two
    metrics on one set are.
    """
    made = spec
    with suppress(SpecError):  # a metric of the user's has no specification, and no figure
        made = on_encoder(spec, encoder)
    figures = [public_sets()[one].get(made) for one in sets]
    known = [figure for figure in figures if figure is not None]
    if not known or len(known) < len(figures):
        return None
    shares = _shares(sets)
    value = float(shares @ [f.value for f in known])
    error = math.sqrt(shares**2 @ [_error(f) ** 2 + _BETWEEN**2 for f in known])
    low, high = max(0.0, value - _Z * error), min(1.0, value + _Z * error)
    shared, own = (generator(seed + key).normal(size=DRAWS) for key in (0, crc32(spec.encode())))
    draws = value + error * (math.sqrt(TOGETHER) * shared + math.sqrt(1 - TOGETHER) * own)
    names = ", ".join(one.name for one in sets)
    assert LEVEL == 0.95
    return CriterionShare(spec, PUBLIC, value, low, high, sum(f.n for f in known), f"public sets {names}", draws)


def trust_in(sets: Sequence[PublicSet]) -> float:
    """How far the figures of some sets count: of what metrics differ by there, the part that is not chance, in [0, 1].

    It is that of shrinkage: the variance from metric to metric, over itself and the variance of an error. What two
    metrics err by together does not count.
    """
    if not sets:
        return 0.0
    noise = _shares(sets) ** 2 @ [(1 - TOGETHER) * _noise(one) + _BETWEEN**2 for one in sets]
    return float(_SPREAD**2 / (_SPREAD**2 + noise))


def _shares(sets: Sequence[PublicSet]) -> Floats:
    """What each set counts for all metrics alike, summing to 1: by the inverse of the variance of its figures."""
    each = np.array([1 / (_noise(one) + _BETWEEN**2) for one in sets])
    return np.asarray(each / each.sum())


def _noise(one: PublicSet) -> float:
    """The variance of a figure of a set, on the mean of its metrics."""
    return float(np.mean([_error(figure) ** 2 for figure in public_sets()[one].values()]))


def _error(figure: Share) -> float:
    return (figure.high - figure.low) / (2 * _Z)


# --- How long will a choice take? Every metric is timed on a few outputs


def expected_seconds(
    dataset: Dataset,
    metrics: MetricLike | Sequence[MetricLike] | None = None,
    *,
    task: str | None = None,
    seed: int = 0,
    limit: int | None = None,
    runtime: Runtime | None = None,
) -> Mapping[str, float]:
    """Metric -> the seconds that `choose` would take with it; the arguments are as there. A metric that fails has none.

    What is in the cache already takes no time, and metrics over one model take less together than alone.
    """
    sample = sampled(dataset, seed=seed) if limit is None else sampled(dataset, limit, seed)
    trials = make_trials(sample, task, seed)
    names = tried(trials.task, sample.segments) if metrics is None else metrics
    runtime, _ = by_texts(runtime or Runtime(), names, [sample.segments])
    built = named(names, runtime.encoder)
    out, _ = unreadable(built, sample.segments)
    found: dict[str, float] = {}
    for spec, scorer in built.items():
        if spec in out:
            continue
        try:
            each = seconds_each(scorer, sample.segments, runtime)
        except NlgaugeError:
            continue
        pairs = [suite.pairs[i] for suite in trials.suites for i in looked_at(suite, scorer)]
        texts = {(pair.references, pair.source, text) for pair in pairs for text in (pair.better, pair.worse)}
        found[spec] = each * (len(sample.segments) + len(texts))
    return found
