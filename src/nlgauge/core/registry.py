"""Objects from specifications: names, presets, typed options, and entry points by which third parties add names."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any, Literal

from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.plugins import broken_plugin, find_plugin, load_plugin, plugin_names
from nlgauge.core.spec import NOWHERE, Spec


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
        members: what the class of a third party must have beside its fields.
        elsewhere: the end of the error about an unknown name, where something better than the nearest names is known.
    """

    kind: str
    group: str
    entries: dict[str, Entry]
    members: tuple[str, ...] = ()
    elsewhere: Callable[[str], str] = lambda name: ""

    def names(self) -> list[str]:
        """Every known name: first those of this package, then those of installed plug-ins."""
        return list(dict.fromkeys([*self.entries, *plugin_names(self.group)]))

    def build(self, spec: Spec, options: Mapping[str, Any] | None = None) -> Any:
        """The object that a specification describes, with further options in Python values.

        Raises:
            SpecError: a name or an option is unknown (the error suggests the nearest), or a value has the wrong type.
        """
        cls, preset = self.lookup(spec.name)
        return construct(cls, dict(spec.options), preset, spec.name, options)

    def lookup(self, name: str) -> tuple[type, Mapping[str, Any]]:
        """The class behind a name, and the options its preset sets. BLEU is bleu where no other name is so spelt.

        Raises:
            SpecError: the name is unknown, or the package that adds it is broken.
        """
        entry = self.entries.get(name)
        if entry is not None:
            module, _, attribute = entry.target.partition(":")
            return getattr(import_module(module), attribute), entry.preset
        point = find_plugin(self.group, name)
        if point is not None:
            return self._of_plugin(point), {}
        alike = [known for known in self.names() if known.lower() == name.lower() and known != name]
        if len(alike) == 1:
            return self.lookup(alike[0])
        raise SpecError(f"unknown {self.kind} {name!r}{self.elsewhere(name) or nearest(name, self.names())}")

    def _of_plugin(self, point: metadata.EntryPoint) -> type:
        """The class that an installed package adds."""
        cls: type = load_plugin(point, self.kind)
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise broken_plugin(point, self.kind, f"is {type(cls).__name__} {cls!r:.60}, expected a dataclass")
        lacking = [member for member in self.members if not hasattr(cls, member)]
        if lacking:
            raise broken_plugin(point, self.kind, f"is the class {cls.__name__} without {' and '.join(lacking)}")
        return cls

    def check_object(self, given: object, fits: bool, expected: str, options: Mapping[str, Any]) -> None:
        """Refuse what is given in place of a specification, unless it is an object of this kind without more options.

        Args:
            given: what is given.
            fits: whether it has the members of such an object; a class has them, too, and is refused.
            expected: what an error calls the specification: "a metric specification".
            options: options that are given beside it.
        """
        if options:
            raise SpecError(f"options are given beside a {self.kind} object; make the object with them")
        if isinstance(given, type) or not fits:
            what = f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
            raise SpecError(f"expected {expected} or a {self.kind} object, got {what}")


def construct(
    cls: type,
    options: Mapping[str, str],
    preset: Mapping[str, Any],
    name: str,
    given: Mapping[str, Any] | None = None,
) -> Any:
    """Make an instance of a frozen dataclass.

    Args:
        cls: the dataclass. Its optional `without` says, for an option that has no default, how to come by a value.
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
        advice = getattr(cls, "without", {}).get(absent[0], "")
        raise SpecError(f"{name} needs the option {absent[0]!r}; write {name}:{absent[0]}=...{advice}")
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
    if NOWHERE.search(raw):  # no specification could say it, so a metric with it could never be rebuilt
        raise SpecError(f"{where} is {raw!r}, expected a text without the character NUL or halves of characters")
    return raw
