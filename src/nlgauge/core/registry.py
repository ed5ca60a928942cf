"""Objects from specifications: names, presets, typed options, and entry points by which third parties add names."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any, Literal

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.spec import Spec


@dataclass(frozen=True)
class Entry:
    """The class that a name stands for, as `module:Class`, and preset options. The user's options come after these."""

    target: str
    preset: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""


@dataclass
class Registry:
    """The names of one kind of object. Each class is loaded only when it is first used.

    Attributes:
        kind: what an error calls such an object: "metric", "perturbation".
        group: the entry-point group to which third parties add their own.
        entries: the names that this package defines.
    """

    kind: str
    group: str
    entries: dict[str, Entry]

    def names(self) -> list[str]:
        """Every known name: first those of this package, then those of installed plug-ins."""
        return list(dict.fromkeys([*self.entries, *(point.name for point in self._plugins())]))

    def build(self, spec: Spec, options: Mapping[str, Any] | None = None) -> Any:
        """The object that a specification describes, with further options in Python values.

        Raises:
            SpecError: a name or an option is unknown (the error suggests the nearest), or a value has the wrong type.
        """
        cls, preset = self.lookup(spec.name)
        return construct(cls, dict(spec.options), preset, spec.name, options)

    def lookup(self, name: str) -> tuple[type, Mapping[str, Any]]:
        """The class behind a name, and the options its preset sets. BLEU is bleu where no other name is so spelt."""
        entry = self.entries.get(name)
        if entry is not None:
            module, _, attribute = entry.target.partition(":")
            return getattr(import_module(module), attribute), entry.preset
        for point in self._plugins():
            if point.name == name:
                return point.load(), {}
        alike = [known for known in self.names() if known.lower() == name.lower() and known != name]
        if len(alike) == 1:
            return self.lookup(alike[0])
        raise SpecError(f"unknown {self.kind} {name!r}{nearest(name, self.names())}")

    def _plugins(self) -> Iterator[metadata.EntryPoint]:
        return iter(metadata.entry_points(group=self.group))


def named_kind(given: object) -> str:
    """What was given in place of a specification, for an error message: "int", or "the class Bleu"."""
    return f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__


def construct(
    cls: type,
    options: Mapping[str, str],
    preset: Mapping[str, Any],
    name: str,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """Make an instance of a frozen dataclass.

    Args:
        cls: the dataclass.
        options: options as typed; each is converted to its field's type.
        preset: options that the name sets; others win.
        name: what errors call the object.
        given: options in Python values; they win. A text is read as if it were typed.
    """
    hints = typing.get_type_hints(cls)
    known = [f.name for f in dataclasses.fields(cls) if f.init]
    values = dict(preset)
    required = [
        f.name
        for f in dataclasses.fields(cls)
        if f.init and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    for key, raw in {**options, **(given or {})}.items():
        if key not in known:
            raise SpecError(f"{name} has no option {key!r}{nearest(key, known)}")
        values[key] = convert(raw, hints[key], f"{name}:{key}") if isinstance(raw, str) else raw
    absent = [option for option in required if option not in values]
    if absent:
        raise SpecError(f"{name} needs the option {absent[0]!r}; write {name}:{absent[0]}=...")
    return cls(**values)


def convert(raw: str, hint: Any, where: str) -> Any:
    """Convert the text of an option to the type that its field declares.

    Raises:
        SpecError: the text does not fit. The error names the option, what it takes and what came.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        if raw.lower() == "none" and type(None) in args:
            return None
        failures = []
        for arg in (a for a in args if a is not type(None)):
            try:
                return convert(raw, arg, where)
            except SpecError as error:
                failures.append(error)
        raise failures[0]
    if origin is Literal:
        for allowed in args:
            if str(allowed) == raw:
                return allowed
        raise SpecError(f"{where} is {raw!r}{nearest(raw, map(str, args))}")
    if hint is bool:
        if raw.lower() in ("true", "yes", "1", "on"):
            return True
        if raw.lower() in ("false", "no", "0", "off"):
            return False
        raise SpecError(f"{where} is {raw!r}, expected true or false")
    if hint in (int, float):
        try:
            number = hint(raw)
            if number != number:  # NaN equals nothing, so a metric with it could never be rebuilt
                raise ValueError
            return number
        except ValueError:
            raise SpecError(f"{where} is {raw!r}, expected {'a whole number' if hint is int else 'a number'}") from None
    return raw
