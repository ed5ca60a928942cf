"""Which metrics may a file name? Those that run in this process on what ships: no program, module, path or hub name."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.options import Entry
from nlgauge.core.spec import Spec, Sum, parse
from nlgauge.metrics.base import Metric
from nlgauge.metrics.guards.guarded import GUARDED
from nlgauge.metrics.registry import METRIC_OPTIONS, METRICS, SUMS, metric, own_names
from nlgauge.models.heads import SHIPPED

_MODELS = {"embedded": "encoder", **SHIPPED}  # a model that ships -> what it is for
_OWN = "nlgauge.metrics."
_OUTSIDE = (
    "nlgauge.metrics.external.",
    "nlgauge.metrics.judging.",
    "nlgauge.metrics.stored:",
    "nlgauge.metrics.function:",
)
_FETCHED = frozenset({"flores101", "flores200", "spm"})  # tokenizers that sacrebleu fetches when they are first used
_PLAIN = (bool, int, float, type(None))


def metric_of_file(spec: str) -> Metric:
    """The metric of a specification that came out of a file: a model, a plan, a result.

    Nothing that came with data may start a program, load a module, or open a model other than one that ships; only what
    the user types may.

    Raises:
        SpecError: the specification is wrong, or names something else.
    """
    check_shipped(spec)
    return metric(spec)


def check_shipped(spec: str) -> None:
    """Refuse a specification out of a file that leads to anything but code and models that ship. Nothing is opened.

    Raises:
        SpecError: it does, or it is wrong.
    """
    parsed = parse(spec)
    if isinstance(parsed, Sum):
        if parsed.norm not in ("none", "minmax", "zscore"):
            raise _refused(spec, "it reads a file of bounds")
        for _, part in parsed.terms:
            check_shipped(str(part))
        return
    if parsed.name in SUMS:
        return check_shipped(SUMS[parsed.name])
    if parsed.inside is not None:
        check_shipped(str(parsed.inside))
    if parsed.name != GUARDED:
        _check_named(spec, parsed)


def _check_named(spec: str, parsed: Spec) -> None:
    """Refuse one metric by its name or its options."""
    known = {name.lower(): name for name in METRICS.entries}
    name = parsed.name if parsed.name in METRICS.entries else known.get(parsed.name.lower(), parsed.name)
    entry: Entry | None = METRICS.entries.get(name)
    if entry is None and name not in METRICS.names():
        raise SpecError(f"unknown metric {name!r}{nearest(name, METRICS.entries)}")
    if entry is None or name in own_names():
        raise _refused(spec, f"{parsed.name!r} is no metric of this package")
    if not entry.target.startswith(_OWN) or entry.target.startswith(_OUTSIDE):
        raise _refused(spec, f"{name} runs a program or reads a file")
    cls, preset = METRICS.lookup(name)
    defaults = {field.name: field.default for field in dataclasses.fields(cls) if field.init}
    values: Mapping[str, Any] = {**preset, **dict(parsed.options)}
    hints = typing.get_type_hints(cls)
    for option, default in defaults.items():
        value = values.get(option, default)
        if value is dataclasses.MISSING:
            raise _refused(spec, f"{name} needs {option}, which is no part of this package")
        if isinstance(value, _PLAIN) or (value == default and option not in values):
            continue
        if option in METRIC_OPTIONS:
            check_shipped(str(value))
        elif str(value) in _FETCHED:
            raise _refused(spec, f"{option}={value} is fetched")
        elif not (_is_choice(hints[option]) or value == default or (option == "model" and _alike(value, default))):
            raise _refused(spec, f"{option} is {str(value)!r:.80}, which does not ship")


def _is_choice(hint: Any) -> bool:
    """Whether a field takes one of a few words, numbers or nothing; anything else could name a file or a model."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return all(map(_is_choice, typing.get_args(hint)))
    return typing.get_origin(hint) is typing.Literal or hint in _PLAIN


def _alike(model: Any, default: Any) -> bool:
    """Whether two models ship and are for the same: the metric looks for the first where it looks for the second."""
    return default in _MODELS and _MODELS.get(model) == _MODELS[default]


def _refused(spec: str, why: str) -> SpecError:
    return SpecError(f"{spec!r:.200} stands in a file, and {why}; a file may name only metrics that run on what ships")
