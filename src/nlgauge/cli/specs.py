"""Metrics from `-m`: specifications, lists of them with commas, and the user's own functions and classes."""

from __future__ import annotations

import dataclasses
import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import typer

from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.options import Entry
from nlgauge.core.scores import MetricInfo
from nlgauge.core.spec import Spec, parse, split
from nlgauge.metrics.function import predicts
from nlgauge.metrics.registry import EMBEDDED, METRICS, OWN, SUMS, not_included, own_function
from nlgauge.metrics.wrapped import GUARDED

_ALIKE = 0.75  # of difflib; as alike as a name and the same with a letter missing


def option(*flags: str, **about: Any) -> Any:
    """An option that takes specifications of metrics: their names are completed, and lists are taken apart."""
    return typer.Option(*flags, metavar="SPEC", callback=typed, autocompletion=complete, **about)


def typed(context: typer.Context, values: list[str] | None) -> list[str] | None:
    """Specifications as they are typed: `bleu,chrf` are two; `module:name` is imported and gets its own name."""
    if not values or context.resilient_parsing:  # completion must not run anybody's code
        return values
    return [_known(spec) for value in values for spec in split(value)]


def complete(incomplete: str) -> list[str]:
    """Names of metrics that begin so."""
    return [name for name in (*METRICS.names(), *SUMS, EMBEDDED) if name.startswith(incomplete)]


def names_metric(word: str) -> bool:
    """Whether a word that follows `-m SPEC` is meant as a further one: its name is known, or a slip away from it.

    A metric that lacks an option is one, and so is a sum, and a function of the user's with its module.
    """
    try:
        parsed = [None if OWN.fullmatch(spec) else parse(spec) for spec in split(word)]
    except SpecError:
        return False
    known = [name.lower() for name in (*METRICS.names(), *SUMS, EMBEDDED, GUARDED)]
    for spec in parsed:
        name = spec.name.lower() if isinstance(spec, Spec) else ""
        slip = "." not in name and difflib.get_close_matches(name, known, 1, _ALIKE)
        if isinstance(spec, Spec) and not (name in known or slip or not_included(name)):
            return False
    return True


def with_options(specs: Sequence[str], name: str, options: dict[str, tuple[str, str]]) -> list[str]:
    """Specifications in which each metric of a name has further options.

    Args:
        specs: specifications.
        name: the name of the metric, such as "bleu".
        options: option -> the flag that was typed for it, and its value.

    Raises:
        InputError: no metric has the name, or it has another value for the option already.
    """
    made, found = [], False
    for spec in specs:
        parsed = parse(spec)
        if not isinstance(parsed, Spec) or parsed.name.lower() != name:
            made.append(spec)
            continue
        found, own = True, dict(parsed.options)
        for key, (flag, value) in options.items():
            if own.setdefault(key, value) != value:
                raise InputError(f"{spec} and {flag} give two values for {key}; leave one of them out")
        made.append(str(Spec(parsed.name, tuple(own.items()))))
    if not found:
        flag, value = next(iter(options.values()))
        key = next(iter(options))
        raise InputError(f"{flag} is an option of {name}, which is not among the metrics; write METRIC:{key}={value}")
    return made


def _known(spec: str) -> str:
    """A specification whose name is known: that in the `info` of a class, or that of a function."""
    match = OWN.fullmatch(spec.strip())
    if match is None or match[1].lower() in map(str.lower, METRICS.names()):
        return spec
    module, name, options = match.groups()
    cls: Any = _imported(module, name)
    if predicts(cls) or not isinstance(cls, type):
        called = own_function(cls, f"{module}:{name}")
        return f"{called}:{options}" if options else called
    about = getattr(cls, "info", None) if isinstance(getattr(cls, "info", None), MetricInfo) else None
    called, target = about.name if about is not None else name, f"{module}:{name}"
    entry = METRICS.entries.get(called)
    if called in METRICS.names() and (entry is None or entry.target != target):
        raise InputError(f"{target} calls itself {called!r}, as another metric does; give its info another name")
    METRICS.entries[called] = Entry(target)
    return f"{called}:{options}" if options else called


def _imported(module: str, name: str) -> Any:
    """The class or function, from an installed module or from one in the current folder.

    Raises:
        SpecError: there is no such module.
        InputError: the module fails, it has no such name, or that is no metric.
    """
    target = f"{module}:{name}"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # behind all others, so that no file of the folder hides a library
    try:
        cls = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is not None and module != error.name and not module.startswith(f"{error.name}."):
            raise InputError(f"{target} cannot be imported: it needs the module {error.name!r}") from None
        slip = difflib.get_close_matches(module, METRICS.names(), 1, _ALIKE)
        advice = f"; did you mean {slip[0]!r}?" if slip else f"; put {module}.py there, or install it"
        raise SpecError(
            f"unknown metric {target!r}: no module {module!r} is installed or in the current folder{advice}"
        ) from None
    except (Exception, SystemExit) as error:  # whatever somebody's module does
        raise InputError(f"{target} cannot be imported: {type(error).__name__}: {error}") from None
    if cls is None:
        held = vars(sys.modules[module])
        public = [other for other in held if not other.startswith("_") and callable(held[other])]
        raise InputError(f"{target}: the module has no {name!r}{nearest(name, public)}")
    is_metric = isinstance(cls, type) and dataclasses.is_dataclass(cls) and {"info", "score"} <= {*dir(cls)}
    if not is_metric and not predicts(cls) and (isinstance(cls, type) or not callable(cls)):
        raise InputError(
            f"{target} is no metric, expected def {name}(hypothesis, references), or a class with predict(samples),"
            " or a frozen dataclass with 'info' and 'score'"
        )
    return cls
