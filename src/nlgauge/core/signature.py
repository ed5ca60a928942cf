"""One string that says everything that could change a number, and nothing that could not."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from typing import Any

from nlgauge.core.spec import quote


@dataclass(frozen=True, slots=True)
class Signature:
    """What made a score: the metric, its options, what they resolved to, and versions.

    Attributes:
        spec: the specification that rebuilds the metric: `ng.metric(signature.spec)`.
        entries: (name, value) in order; `str(signature)` joins them as `name:value|name:value`.

    References:
        Post (2018), "A Call for Clarity in Reporting BLEU Scores", for the idea and the form.
    """

    spec: str
    entries: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join(f"{key}:{value}" for key, value in self.entries)


def signature(metric: Any, facts: Mapping[str, Any] | None = None) -> Signature:
    """The signature of a metric: its options, then facts, such as a layer chosen by rule or a digest of weights.

    A fact replaces the option of its name.

    What is None (an option not used) is left out.
    """
    known: dict[str, Any] = {field.name: getattr(metric, field.name) for field in options_of(metric)}
    if getattr(metric, "pooled", False):
        known["pool"] = "call"
    known.update(facts or {})
    entries = [(key, show(value)) for key, value in known.items() if value is not None]
    return Signature(spec_of(metric), (("metric", metric.info.name), *entries, ("nlgauge", version("nlgauge"))))


def signature_of(metric: Any, runtime: Any = None) -> Signature:
    """The signature under a runtime: what `metric.facts(runtime)` resolves, without loading a model, stands in it."""
    facts = getattr(metric, "facts", None)
    return signature(metric, facts(runtime) if facts is not None and runtime is not None else None)


def spec_of(metric: Any) -> str:
    """The shortest specification that rebuilds the metric: its name and the options that differ from the defaults."""
    own = getattr(metric, "spec", None)
    if isinstance(own, str):
        return own
    changed = []
    for field in options_of(metric):
        value = getattr(metric, field.name)
        if value != field.default:
            changed.append(f"{field.name}={quote(show(value))}")
    name: str = metric.info.name
    return name + (":" + ",".join(changed) if changed else "")


def options_of(metric: Any) -> list[dataclasses.Field[Any]]:
    """The fields that are options."""
    return [field for field in dataclasses.fields(metric) if field.init]


def show(value: Any) -> str:
    """An option value as the grammar reads it back."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)


@cache
def version(package: str) -> str:
    """The installed version of a distribution, read without importing it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "absent"
