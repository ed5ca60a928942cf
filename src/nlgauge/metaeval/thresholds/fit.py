"""Thresholds of metrics from sets of rated systems: a curve per metric, its intervals, and how well it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nlgauge.core.errors import InputError, SpecError
from nlgauge.metaeval.align import JoinedScores
from nlgauge.metaeval.thresholds.pairs import RatedSet, rated_sets, system_pairs
from nlgauge.metrics.registry import metric as metric_of
from nlgauge.scoring.thresholds import MetricThresholds, Thresholds
from nlgauge.stats.draws import check_draws
from nlgauge.stats.selection import FORMS, Form, best_form, fit_curve, held_out, resampled_curves

_WIDE = 4  # times as many segments in the largest sample as in the smallest


def fit_thresholds(
    held: JoinedScores | Sequence[JoinedScores],
    *,
    forms: Sequence[Form] = FORMS,
    draws: int = 200,
    samples: int = 10,
    seed: int = 0,
    about: str = "",
    inputs: Sequence[Mapping[str, str]] = (),
) -> Thresholds:
    """Fit how often people agree with a difference of two systems, for every metric that all sets have.

    Args:
        held: scores and ratings, as `meta_evaluate(...).held`; one or several data sets, each with one criterion.
        forms: forms of the curve to choose from, by log loss on systems left out; see `AgreementCurve`.
        draws: resamples of sets and systems, for intervals.
        samples: samples of the items of each size, so that pairs over few segments count, too.
        seed: the seed of samples and resamples.
        about: what the sets are, in a few words.
        inputs: the files that were read.

    Raises:
        InputError: systems, items or ratings are missing, or the sets have no metric in common.
    """
    held = [held] if isinstance(held, JoinedScores) else list(held)
    if not held:
        raise InputError("no data set is given, expected the scores and ratings of one or more")
    if not forms:
        raise InputError(f"forms is empty, expected one or more of {', '.join(FORMS)}")
    check_draws(draws)
    check_draws(samples)
    found = [rated_sets(one, draws=samples, seed=seed) for one in held]
    sets, notes = [own for own, _ in found], [note for _, told in found for note in told]
    names = [name for name in held[0].scores if all(name in one.scores for one in held)]
    if not names:
        raise InputError("no metric has scores of segments in every set; thresholds need one")
    metrics = tuple(_fitted(held, sets, name, forms, draws, seed) for name in names)
    entries = tuple(rated.as_json() for own in sets for rated in own)
    return Thresholds(metrics, entries, tuple(inputs), about=about, notes=tuple(notes))


def _fitted(
    held: Sequence[JoinedScores],
    sets: Sequence[Sequence[RatedSet]],
    name: str,
    forms: Sequence[Form],
    draws: int,
    seed: int,
) -> MetricThresholds:
    pairs = system_pairs(held, sets, name)
    wide = pairs.n.max() >= _WIDE * pairs.n.min()  # else the data cannot say what n does
    fitting: Sequence[Form] = [form for form in forms if wide or form != "logistic_n"]
    if not fitting:
        raise InputError(
            f"forms names 'logistic_n' alone, and the samples of {name} have {pairs.n.min():.0f} to"
            f" {pairs.n.max():.0f} segments, expected {_WIDE} times as many in the largest; name 'logistic', too"
        )
    form, left_out = best_form(pairs, fitting)
    several = len({int(group) for group in pairs.group}) > 1
    scores = held[0].scores[name]
    return MetricThresholds(
        spec=name,
        signature=str(scores.signature),
        higher_is_better=scores.higher_is_better,
        references=_references(held, sets, name),
        curve=fit_curve(pairs, form),
        resampled=resampled_curves(pairs, form, draws=draws, seed=seed),
        largest=float(pairs.difference.max()),
        n=(int(pairs.n.min()), int(pairs.n.max())),
        systems=sum(len(rated.systems) for own in sets for rated in own),
        pairs=pairs.n_pairs,
        calibration_error=left_out.calibration_error(),
        error_by_chance=left_out.error_by_chance(seed=seed),
        error_over_sets=held_out(pairs, form, "sets").calibration_error() if several else None,
    )


def _references(held: Sequence[JoinedScores], sets: Sequence[Sequence[RatedSet]], name: str) -> tuple[int, int] | None:
    """The least and the greatest number of references per segment; None where the metric reads none."""
    try:
        if "references" not in metric_of(name).info.needs:
            return None
    except SpecError:  # a column of scores made elsewhere
        return None
    read = [
        len(one.segments[place].references)
        for one, own in zip(held, sets, strict=True)
        for rated in own
        for place in rated.places.ravel()
    ]
    return min(read), max(read)
