"""Whether the signature says everything: it rebuilds the metric, and no option is missing from it."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from nlgauge.core.errors import NlgaugeError, SpecError
from nlgauge.core.metric import options_of, signature_of
from nlgauge.core.options import construct
from nlgauge.core.spec import Spec, parse
from nlgauge.metrics.base import Metric
from nlgauge.metrics.registry import metric as build
from nlgauge.testing.subject import Subject

_NO_CHOICE = "no such value"


def rebuilds(subject: Subject, metric: Metric, registered: bool) -> None:
    """`ng.metric(signature.spec)` is the metric, with its signature."""
    signature = signature_of(metric, subject.runtime)
    spec, parsed = signature.spec, parse(signature.spec)
    if not registered and isinstance(parsed, Spec):
        rebuilt = construct(type(metric), dict(parsed.options), {}, parsed.name)
    else:
        rebuilt = build(spec)
    subject.require(rebuilt == metric, f"signature.spec {spec!r} rebuilds {rebuilt!r}, expected {metric!r}")
    subject.require(
        str(signature_of(rebuilt, subject.runtime)) == str(signature),
        f"the metric rebuilt from {spec!r} has another signature",
    )


def signed(subject: Subject, alternatives: Mapping[str, Any], registered: bool) -> list[str]:
    """Every option stands in the signature; what leaves the signature as it is leaves the scores as they are.

    Returns:
        The options for which no other valid value was found.
    """
    options = [field.name for field in options_of(subject.metric)]
    strange = sorted(set(alternatives) - set(options))
    subject.require(not strange, f"alternatives names {', '.join(strange)}, expected options: {', '.join(options)}")
    hints, own = typing.get_type_hints(type(subject.metric)), str(signature_of(subject.metric, subject.runtime))
    untried = []
    for name in options:
        others = (
            [alternatives[name]] if name in alternatives else other_values(hints[name], getattr(subject.metric, name))
        )
        changed = list(_changed(subject, name, others))
        if not changed:
            subject.require(
                name not in alternatives,
                f"the alternative {name}={alternatives.get(name)!r} is refused, or is the value already",
            )
            untried.append(name)
        silent = []
        for metric in changed:
            rebuilds(subject, metric, registered)
            if str(signature_of(metric, subject.runtime)) == own:
                silent.append(metric)
                found = metric.score(list(subject.segments), subject.runtime)
                subject.same(
                    subject.base, found, f"{name}={getattr(metric, name)!r} leaves the signature as it is, yet"
                )
        subject.require(
            not changed or len(silent) < len(changed),
            f"the option {name} is not in the signature: no other value changes it",
        )
    return untried


def _changed(subject: Subject, name: str, others: Sequence[Any]) -> Iterator[Metric]:
    """The metric with other values of one option, as far as it takes them and what they name is installed."""
    for other in others:
        try:
            changed = replace(subject.metric, **{name: other})  # type: ignore[type-var]
            signature_of(changed, subject.runtime)
        except NlgaugeError:
            continue
        if changed != subject.metric:
            yield changed


def refused(options: Any, require: Callable[[bool, str], None]) -> None:
    """Every option with a closed list of values refuses a value outside it, as a specification does.

    Args:
        options: a metric, a perturbation, or another dataclass of options.
        require: called with whether a promise is kept, and the sentence that says which.
    """
    hints = typing.get_type_hints(type(options))
    for field in options_of(options):
        if _is_choice(hints[field.name]):
            wrong = f"{field.name}={_NO_CHOICE!r}"
            try:
                replace(options, **{field.name: _NO_CHOICE})
            except SpecError:
                pass
            except Exception as error:
                require(False, f"refuses {wrong} with {type(error).__name__}, expected nlgauge.SpecError")
            else:
                call = "call nlgauge.core.checked(self) in __post_init__"
                require(False, f"takes {wrong}, which its type does not allow; {call}")


def _is_choice(hint: Any) -> bool:
    """Whether a type is a `Literal`, or one of several with nothing beside it but None."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _is_choice(args[0])
    if origin in (typing.Union, types.UnionType):
        return all(arg is type(None) or _is_choice(arg) for arg in args)
    return origin is Literal


def other_values(hint: Any, value: Any) -> list[Any]:
    """Other values of an option's type, the likeliest first."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        found = [other for arg in args if arg is not type(None) for other in other_values(arg, value)]
        return [*found, None] if type(None) in args and value is not None else found
    if origin is Literal:
        return [arg for arg in args if arg != value]
    if hint is bool:
        return [not value] if isinstance(value, bool) else [True, False]
    start = 0 if value is None else value
    if hint not in (int, float) or not isinstance(start, int | float):
        return []
    return [start + 1, start - 1] if hint is int else [start + 1.0, start - 1.0, start / 2, 0.5]
