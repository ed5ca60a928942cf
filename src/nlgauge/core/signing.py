"""How a metric is signed: its options, and what they resolve to."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from nlgauge.core.metric import whole
from nlgauge.core.signature import Signature, version
from nlgauge.core.spec import quote


def signature(metric: Any, facts: Mapping[str, Any] | None = None) -> Signature:
    """The signature of a metric: its options, then facts such as a layer chosen by rule or a digest of weights.

    A fact replaces the option of the same name. An entry that is None, such as an option that is not used, is left out.
    """
    known: dict[str, Any] = {field.name: getattr(metric, field.name) for field in options_of(metric)}
    if whole(metric).pooled:
        known["pool"] = "call"
    known.update(facts or {})
    entries = [(key, show(value)) for key, value in known.items() if value is not None]
    return Signature(spec_of(metric), (("metric", metric.info.name), *entries, ("nlgauge", version("nlgauge"))))


def signature_of(metric: Any, runtime: Any = None) -> Signature:
    """The signature of a metric under a runtime, with the facts of `metric.facts(runtime)`. No model is loaded."""
    return signature(metric, None if runtime is None else whole(metric).facts(runtime))


def spec_of(metric: Any) -> str:
    """The shortest specification of the metric: its name and those options that differ from their defaults."""
    own = whole(metric).spec
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
    """An option's value as a text: what `quote` puts into a specification, and a signature holds as it is."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)
