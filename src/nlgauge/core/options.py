"""Check options against the types that their fields declare, by the same rules in Python and in specifications."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata
from typing import Any, Literal

import numpy as np

from nlgauge.core.errors import InputError, NlgaugeError, SpecError, nearest
from nlgauge.core.spec import NOWHERE, Spec


@dataclass(frozen=True)
class Range:
    """The numbers that an option accepts, written into its type: `layer: Annotated[int, Range(least=0)]`.

    Attributes:
        least: the smallest number allowed.
        most: the largest number allowed.
        above: numbers must be greater than this.
        below: numbers must be smaller than this.
        meaning: what the number is, for the end of an error.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    meaning: str = ""

    def __contains__(self, number: float) -> bool:
        """Whether a number is allowed; NaN never is."""
        return (
            number == number
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        """The range in words, for an error message: `0 or more`, `above 0 and at most 1`."""
        if self.least is not None and self.most is not None:
            text = f"{self.least:g} to {self.most:g}"
        else:
            lower = [f"{self.least:g} or more"] if self.least is not None else []
            lower += [f"above {self.above:g}"] if self.above is not None else []
            upper = [f"at most {self.most:g}"] if self.most is not None else []
            upper += [f"below {self.below:g}"] if self.below is not None else []
            text = " and ".join(lower + upper)
        return f"{text} ({self.meaning})" if self.meaning else text


@dataclass(frozen=True)
class OneOf:
    """The option accepts only the keys of a table: `tokenizer: Annotated[str, OneOf(TOKENIZERS)]`."""

    choices: Iterable[str]


@dataclass(frozen=True)
class Typed:
    """How an option is typed on the command line, beside its type: `top_k: Annotated[int, Typed("So many words.")]`.

    Attributes:
        help: what it does, in a sentence.
        flags: its names; by default that of the field, as in `--top-k`.
        metavar: what stands for its value in the help.
        words: the words that the help shows, where it takes further ones.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class GoesWith:
    """Another option without which this one changes nothing; see `refuse_idle`.

    Attributes:
        options: fields of the same dataclass, of which one must differ from its default.
        about: what the option does, which follows its name in the error.
    """

    options: tuple[str, ...]
    about: str


def checked(options: Any, *, name: str | None = None, error: type[NlgaugeError] = SpecError) -> None:
    """Refuse a dataclass if the value of a field does not fit the field's type. Call it in `__post_init__`.

    The types that are checked in full are Literal, bool, int, float, str, Optional, unions, tuples of fixed or open
    length, and Annotated with `Range` or `OneOf`. For any other type only the class of the value is checked. A numpy
    number is replaced by a plain Python number, because options are written into signatures.

    Args:
        options: an instance of a dataclass. Fields with `init=False` are not checked.
        name: what an error calls the object. By default this is its `info.name`, if it has one. "" names nothing.
        error: the class of error to raise.

    Raises:
        NlgaugeError: of the class `error`. It names the option, the value and what is allowed.
    """
    label = getattr(getattr(options, "info", None), "name", "") if name is None else name
    cls: Any = type(options)
    for option, hint in _hints(cls).items():
        value = getattr(options, option)
        if isinstance(value, np.generic):
            value = value.item()
            object.__setattr__(options, option, value)
        check_option(f"{label}:{option}" if label else option, value, hint, error=error)


def refuse_idle(options: Any, *, spelt: Callable[[str], str] = str, error: type[NlgaugeError] = InputError) -> None:
    """Refuse an option that differs from its default and changes nothing, because what it `GoesWith` is not given.

    Args:
        options: an instance of a dataclass.
        spelt: how an error calls a field, such as by its flag.
        error: the class of error to raise.
    """
    given = {f.name for f in dataclasses.fields(options) if f.init and getattr(options, f.name) != f.default}
    cls: Any = type(options)
    for option, hint in _hints(cls).items():
        rules = (rule for rule in getattr(hint, "__metadata__", ()) if isinstance(rule, GoesWith))
        for rule in rules if option in given else ():
            if given.isdisjoint(rule.options):
                others = " or ".join(map(spelt, rule.options))
                raise error(f"{spelt(option)} {rule.about}; it goes with {others}")


class Checked:
    """Base of a dataclass whose options are checked when an object is made."""

    def __post_init__(self) -> None:
        checked(self)


def check_option(where: str, value: Any, hint: Any, *, error: type[NlgaugeError] = SpecError) -> None:
    """Refuse one value that does not fit its type.

    Args:
        where: the name of the option, with its owner before a colon, as in "bertscore:layer".
        value: the value to check.
        hint: the type, such as `Literal["mean", "best"]` or `Annotated[float, Range(0, 1)]`.
        error: the class of error to raise.
    """
    expected = _expected(value, hint)
    if expected is not None:
        raise error(f"{where} is {value!r}{expected}")


@cache
def _hints(cls: Any) -> dict[str, Any]:
    """The declared types of the fields that a caller sets."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {f.name: hints[f.name] for f in dataclasses.fields(cls) if f.init}


def _expected(value: Any, hint: Any) -> str | None:
    """None if the value fits. Otherwise the end of an error message, which says what would fit."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return _expected(value, args[0]) or next((e for a in args[1:] if (e := _outside(value, a)) is not None), None)
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        ends = [_expected(value, arg) for arg in args if arg is not type(None)]
        told = dict.fromkeys(end for end in ends if end is not None)
        return None if None in ends else " or".join(told).replace(" or, expected", " or")
    if origin is Literal:
        # True == 1 in Python: a choice must be of the type that is declared, too.
        if any(value == choice and type(value) is type(choice) for choice in args):
            return None
        return nearest(str(value), map(str, args))
    if origin is tuple:
        return _expected_tuple(value, args)
    return _expected_class(value, origin or hint)


def _expected_tuple(value: Any, args: tuple[Any, ...]) -> str | None:
    if not isinstance(value, tuple):
        return ", expected a tuple"
    if len(args) == 2 and args[1] is Ellipsis:
        args = (args[0],) * len(value)
    if len(value) != len(args):
        return f", expected a tuple of {len(args)}"
    return next((end for part, arg in zip(value, args, strict=True) if (end := _expected(part, arg)) is not None), None)


def _expected_class(value: Any, cls: Any) -> str | None:
    if cls is bool:
        return None if isinstance(value, bool) else ", expected true or false"
    if cls is int:
        return None if isinstance(value, int) and not isinstance(value, bool) else ", expected a whole number"
    if cls is float:
        number = isinstance(value, int | float) and not isinstance(value, bool) and value == value
        return None if number else ", expected a number"
    if cls is str:
        return None if isinstance(value, str) else ", expected a text"
    if cls is None or cls is type(None):
        return None if value is None else ", expected None"
    if cls is Any or not isinstance(cls, type) or _cannot_be_asked(cls):
        return None
    return None if isinstance(value, cls) else f", expected {cls.__name__}"


def _cannot_be_asked(cls: type) -> bool:
    """Whether a class is a protocol that `isinstance` refuses."""
    return getattr(cls, "_is_protocol", False) and not getattr(cls, "_is_runtime_protocol", False)


def _outside(value: Any, rule: Any) -> str | None:
    """The expectation of a Range or a OneOf that a value of the right class fails; None if it fits."""
    if value is None:
        return None
    if isinstance(rule, Range) and value not in rule:
        return f", expected {rule}"
    if isinstance(rule, OneOf) and value not in tuple(rule.choices):
        return nearest(str(value), rule.choices)
    return None


# --- Plug-ins: entry points by group, whose failure to load is an error of one line

_SHOWN = 160  # characters of a reason


def plugin_names(group: str) -> list[str]:
    """The names that installed distributions add to a group of entry points."""
    return [point.name for point in metadata.entry_points(group=group)]


def find_plugin(group: str, name: str) -> metadata.EntryPoint | None:
    """The entry point with a name; None if no distribution adds it."""
    return next((point for point in metadata.entry_points(group=group) if point.name == name), None)


def load_plugin(point: metadata.EntryPoint, kind: str) -> Any:
    """Load the object of an entry point; `kind` is its name in errors, such as "metric".

    Raises:
        SpecError: it cannot be imported, whatever the reason.
    """
    try:
        return point.load()
    except Exception as error:  # their module may do anything when it is imported
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        raise broken_plugin(point, kind, f"cannot be loaded ({type(error).__name__}: {reason[:_SHOWN]})") from None


def broken_plugin(point: metadata.EntryPoint, kind: str, fault: str) -> SpecError:
    """The error about an entry point; it names the distribution that adds it."""
    dist = getattr(point, "dist", None)
    package = "an installed package" if dist is None else f"{dist.name} {dist.version}"
    return SpecError(f"{kind} {point.name!r} of {package} {fault}; repair or uninstall that package")


# --- Objects from specifications: names, presets, typed options, and entry points by which third parties add names


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
