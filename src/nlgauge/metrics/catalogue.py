"""The catalogue: one flat row per metric with its summary, needs, environment and downloads."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from nlgauge.core.errors import SpecError
from nlgauge.core.metric import show
from nlgauge.core.spec import Spec, Sum, parse, quote
from nlgauge.metrics.base import Metric, MetricLike
from nlgauge.metrics.registry import EMBEDDED, METRICS, SUMS, metric, metric_info
from nlgauge.models import heads, locate

_CONTROLS = ("sentinel",)
_NO_MODEL, _EMBEDDED_MODELS = "no model", "the embedded models"


def catalogue_row(name: str) -> dict[str, Any]:
    """The row of a metric, a preset or a named sum, as `nlgauge list metrics --json` writes it.

    `preset_of` is the specification that a name stands for; None for a metric of its own. `downloads` are the models
    of the hub that it fetches, once, unless it is told otherwise. `lacks` are the options that must be given.

    Raises:
        SpecError: the name is unknown, or its package is broken.
    """
    about, options = metric_info(name), defaults(name)
    low, high = about.range
    return {
        "metric": name,
        "preset_of": _preset_of(name),
        "what": about.summary,
        "tasks": sorted(about.tasks),
        "needs": sorted(about.needs),
        "low": low if math.isfinite(low) else None,
        "high": high if math.isfinite(high) else None,
        "higher_is_better": about.higher_is_better,
        "runs_embedded": not _models(name),
        "uses_model": any(_uses_model(term) for term in _names(name)),
        "environment": _environment(name),
        "downloads": [model for model in _models(name) if model is not None],
        "lacks": [option for option, value in options.items() if value is dataclasses.MISSING],
        "options": {option: _written(value) for option, value in options.items()},
        "paper": about.paper,
    }


def embedded_metrics() -> list[str]:
    """The metrics that run as they are, without a download, a program of others or an option of the user's.

    Of two names for the same metric the first is listed: `bleu`, and not `bleu4`. A control is no metric and is left
    out.
    """
    found: dict[str, Metric] = {}
    for name in METRICS.names():
        if name in _CONTROLS:
            continue
        try:
            if runs_with(name) in (_NO_MODEL, _EMBEDDED_MODELS) and metric(name) not in found.values():
                found[name] = metric(name)
        except SpecError:  # its package is broken, as `nlgauge list metrics` says
            continue
    return list(found)


@overload
def expanded(metrics: Sequence[str]) -> tuple[list[str], frozenset[str]]: ...
@overload
def expanded(metrics: MetricLike | Sequence[MetricLike]) -> tuple[list[MetricLike], frozenset[str]]: ...
def expanded(metrics: MetricLike | Sequence[MetricLike]) -> tuple[list[Any], frozenset[str]]:
    """Metrics with all embedded ones in the place of `embedded`.

    Returns:
        The metrics, and those of them that `embedded` alone stands for: they may be left out.
    """
    listed = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
    if EMBEDDED not in listed:
        return listed, frozenset()
    group = [name for name in embedded_metrics() if name not in listed]
    place = listed.index(EMBEDDED)
    return [*listed[:place], *group, *listed[place + 1 :]], frozenset(group)


def defaults(name: str) -> Mapping[str, Any]:
    """Option -> its value unless it is given, MISSING where it must be; empty for a named sum."""
    if name in SUMS:
        return {}
    cls, preset = METRICS.lookup(name)
    return {f.name: preset.get(f.name, f.default) for f in dataclasses.fields(cls) if f.init}


def runs_with(name: str) -> str:
    """Whose model a metric runs, unless it is told otherwise."""
    row = catalogue_row(name)
    told = [f"{model} of the hub" for model in row["downloads"]]
    if row["environment"]:
        told.append(f"the environment {row['environment']}")
    told += [f"a {option} of yours" for option in row["lacks"]]
    return ", ".join(told) or (_EMBEDDED_MODELS if row["uses_model"] else _NO_MODEL)


def _preset_of(name: str) -> str | None:
    if name in SUMS:
        return SUMS[name]
    cls, preset = METRICS.lookup(name)
    if not preset:
        return None
    base: str = cls.info.name  # type: ignore[attr-defined]
    return f"{base}:{','.join(f'{option}={quote(show(value))}' for option, value in preset.items())}"


def _names(name: str) -> list[str]:
    """The name, or those of the terms of a named sum."""
    if name not in SUMS:
        return [name]
    parsed = parse(SUMS[name])
    assert isinstance(parsed, Sum)  # so it is written
    return [term.name for _, term in parsed.terms if isinstance(term, Spec)]


def _models(name: str) -> list[str | None]:
    """Models that do not come with the package; None for one that must be named, or that a program of others has."""
    return list(dict.fromkeys(model for term in _names(name) for model in _models_of(term)))


def _models_of(name: str) -> Iterator[str | None]:
    options = defaults(name)
    if dataclasses.MISSING in options.values() or _environment(name):
        yield None
    model = options.get("model")
    if isinstance(model, str) and model != locate.NAME and model not in heads.SHIPPED:
        yield model


def _uses_model(name: str) -> bool:
    return defaults(name).get("model") is not None


def _environment(name: str) -> str | None:
    """The environment of `nlgauge env` that a metric runs in."""
    if name in SUMS:
        return None
    return getattr(METRICS.lookup(name)[0], "environment", "") or None


def _written(value: Any) -> Any:
    """A default as JSON has it; None also where a value must be given, as `lacks` says."""
    return value if isinstance(value, bool | int | float | str) else None
