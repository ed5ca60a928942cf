"""Options: what fields declare, held to by the same rules in Python, in specifications and on the command line."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass
from functools import cache
from importlib import import_module, metadata
from types import NoneType
from typing import Any, Literal, TypeVar

import numpy as np

from nlgauge.core.errors import InputError, NlgaugeError, SpecError, nearest
from nlgauge.core.spec import NOWHERE, Spec

T = TypeVar("T")

_CALLED = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", tuple: "a tuple"}
_SWITCHES = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


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
        words: what the help shows and the shell completes where it takes further words; with blanks between.
        complete: gives the words that the shell alone completes.
        hidden: whether the help leaves it out: another tool's spelling, of which its page tells.
        each: what a word that was typed stands for, where that is several, or another.
    """

    help: str
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    words: str | Iterable[str] = ()
    complete: Callable[[], Iterable[str]] | None = None
    hidden: bool = False
    each: Callable[[str], list[str]] | None = None


class Argument(Typed):
    """How an option is typed that goes by its place, and has no flag."""


@dataclass(frozen=True)
class GoesWith:
    """Another option, of the same dataclass, without which this one changes nothing; see `refuse_idle`.

    `about` is what the option does, which follows its name in the error.
    """

    options: tuple[str, ...]
    about: str


# --- Fields: what the declaration of an option says, read once for checks, specifications and the command line


@dataclass(frozen=True)
class Field:
    """An option as it is declared.

    Attributes:
        name: its name in Python and in specifications.
        kind: its type, with what stands beside it in `Annotated`.
        default: its value where it is not given; MISSING where it has none, or makes it.
        required: whether it must be given.
    """

    name: str
    kind: Any
    default: Any
    required: bool = False

    def about(self, sort: type[T]) -> T | None:
        """What stands beside its type: a `Range`, a `Typed`, a `GoesWith`; None where there is none of the sort."""
        return next((rule for rule in getattr(self.kind, "__metadata__", ()) if isinstance(rule, sort)), None)

    @property
    def flag(self) -> str:
        """Its first name on the command line."""
        as_typed = self.about(Typed)
        return as_typed.flags[0] if as_typed is not None and as_typed.flags else f"--{self.name.replace('_', '-')}"

    @property
    def choices(self) -> list[str]:
        """The words between which its type is a choice, alone or several at a time; none where it takes others."""
        return list(_choices(self.kind))

    @property
    def words(self) -> list[str]:
        """The words that the help shows and the shell completes: those of `Typed`, or its choices."""
        as_typed = self.about(Typed)
        words = as_typed.words if as_typed is not None else ()
        return (words.split() if isinstance(words, str) else list(words)) or self.choices


@cache
def fields_of(cls: Any) -> dict[str, Field]:
    """The fields of a dataclass that a caller sets, by their names."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {
        f.name: Field(f.name, hints[f.name], f.default, f.default is MISSING and f.default_factory is MISSING)
        for f in dataclasses.fields(cls)
        if f.init
    }


def sorts(kind: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The plain types that a value may have, None's among them, each with what stands beside it in `Annotated`."""
    if isinstance(kind, type):  # as most are; to look into them takes time
        yield kind, ()
        return
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        yield from ((sort, (*rules, *args[1:])) for sort, rules in sorts(args[0]))
    elif origin in (typing.Union, types.UnionType):
        for arg in args:
            yield from sorts(arg)
    else:
        yield kind, ()


def _choices(kind: Any) -> Iterator[str]:
    for sort, rules in sorts(kind):
        if typing.get_origin(sort) is Literal:
            yield from map(str, typing.get_args(sort))
        elif typing.get_origin(sort) in (list, tuple):
            yield from _choices(typing.get_args(sort)[0])
        yield from (word for rule in rules if isinstance(rule, OneOf) for word in rule.choices)


# --- Values: whether they fit


def checked(options: Any, *, name: str | None = None, error: type[NlgaugeError] = SpecError) -> None:
    """Refuse a dataclass if the value of a field does not fit the field's type. Call it in `__post_init__`.

    Checked in full are Literal, bool, int, float, str, Optional, unions, tuples, and Annotated with `Range` or `OneOf`;
    of any other type the class of the value. A numpy number becomes a plain one.

    Args:
        options: an instance of a dataclass. Fields with `init=False` are not checked.
        name: what an error calls the object. By default this is its `info.name`, if it has one. "" names nothing.
        error: the class of error to raise.

    Raises:
        NlgaugeError: of the class `error`. It names the option, the value and what is allowed.
    """
    label = getattr(getattr(options, "info", None), "name", "") if name is None else name
    cls: Any = type(options)
    for option, field in fields_of(cls).items():
        value = getattr(options, option)
        if isinstance(value, np.generic):
            value = value.item()
            object.__setattr__(options, option, value)
        check_option(f"{label}:{option}" if label else option, value, field.kind, error=error)


def refuse_idle(options: Any, *, spelt: Callable[[str], str] = str, error: type[NlgaugeError] = InputError) -> None:
    """Refuse an option that differs from its default and changes nothing, because what it `GoesWith` is not given.

    `spelt` is how an error calls a field, such as by its flag.
    """
    cls: Any = type(options)
    fields = fields_of(cls)
    given = {name for name, field in fields.items() if getattr(options, name) != field.default}
    for name in (name for name in fields if name in given):
        rule = fields[name].about(GoesWith)
        if rule is not None and given.isdisjoint(rule.options):
            raise error(f"{spelt(name)} {rule.about}; it goes with {' or '.join(map(spelt, rule.options))}")


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
    expected = expectation(value, hint)
    if expected is not None:
        raise error(f"{where} is {value!r}{expected}")


def expectation(value: Any, kind: Any) -> str | None:
    """None if the value fits. Otherwise the end of an error message, which says what would fit."""
    if value is None and any(sort is NoneType for sort, _ in sorts(kind)):
        return None
    ends: dict[str, None] = {}
    for sort, rules in sorts(kind):
        if sort is not NoneType:
            end = _unlike(value, sort) or next(filter(None, (_outside(value, rule) for rule in rules)), None)
            if end is None:
                return None
            ends[end] = None
    return " or".join(ends).replace(" or, expected", " or") or ", expected None"


def _unlike(value: Any, sort: Any) -> str | None:
    """The expectation of a plain type that a value fails; None if it fits."""
    origin, args = typing.get_origin(sort), typing.get_args(sort)
    if origin is Literal:
        # True == 1 in Python: a choice must be of the type that is declared, too.
        fits = any(value == choice and type(value) is type(choice) for choice in args)
        return None if fits else nearest(str(value), map(str, args))
    cls = origin or sort
    if not _is_of(value, cls):
        return f", expected {_CALLED.get(cls) or cls.__name__}"
    if origin is not tuple:
        return None
    parts = (args[0],) * len(value) if args[1:] == (Ellipsis,) else args
    if len(value) != len(parts):
        return f", expected a tuple of {len(parts)}"
    return next(
        (end for part, arg in zip(value, parts, strict=True) if (end := expectation(part, arg)) is not None), None
    )


def _is_of(value: Any, cls: Any) -> bool:
    if cls in (int, float):
        return isinstance(value, (int, cls)) and not isinstance(value, bool) and value == value
    # a protocol that `isinstance` refuses cannot be asked
    is_shape = getattr(cls, "_is_protocol", False) and not getattr(cls, "_is_runtime_protocol", False)
    return cls is Any or not isinstance(cls, type) or is_shape or isinstance(value, cls)


def _outside(value: Any, rule: Any) -> str | None:
    """The expectation of a Range or a OneOf that a value of the right class fails; None if it fits."""
    if isinstance(rule, Range) and value not in rule:
        return f", expected {rule}"
    if isinstance(rule, OneOf) and value not in tuple(rule.choices):
        return nearest(str(value), rule.choices)
    return None


# --- Texts: the values that they stand for


def convert(raw: str, hint: Any, where: str) -> Any:
    """Convert the text of an option to the type that its field declares; one that does not fit is refused."""
    kinds = [sort for sort, _ in sorts(hint)]
    if raw.lower() == "none" and NoneType in kinds:
        return None
    failures = []
    for sort in (sort for sort in kinds if sort is not NoneType):
        try:
            return _read(raw, sort)
        except ValueError as error:
            failures.append(f"{where} is {raw!r}{error}")
    raise SpecError(failures[0])


def may_be(raw: str, hint: Any) -> bool:
    """Whether a text stands for a value of the type that a field declares."""
    try:
        convert(raw, hint, "")
    except SpecError:
        return False
    return True


def _read(raw: str, sort: Any) -> Any:
    """The value of a plain type; a `ValueError` ends as an error message does where the text stands for none."""
    if typing.get_origin(sort) is Literal:
        choices = {str(choice): choice for choice in reversed(typing.get_args(sort))}
        if raw in choices:
            return choices[raw]
        raise ValueError(nearest(raw, map(str, typing.get_args(sort))))
    if sort is bool and raw.lower() in _SWITCHES:
        return _SWITCHES[raw.lower()]
    if sort in (int, float):
        with suppress(ValueError):
            number = sort(raw)
            if number == number:  # NaN equals nothing, so a metric with it could never be rebuilt
                return number
    if sort in (bool, int, float):
        raise ValueError(f", expected {_CALLED[sort]}")
    if NOWHERE.search(raw):  # no specification could say it, so a metric with it could never be rebuilt
        raise ValueError(", expected a text without the character NUL or halves of characters")
    return raw


# --- Plug-ins: entry points by group, whose failure to load is an error of one line

_SHOWN = 160  # characters of a reason


def plugin_names(group: str) -> list[str]:
    """The names that installed distributions add to a group of entry points."""
    return [point.name for point in metadata.entry_points(group=group)]


def find_plugin(group: str, name: str) -> metadata.EntryPoint | None:
    """The entry point with a name; None if no distribution adds it."""
    return next((point for point in metadata.entry_points(group=group) if point.name == name), None)


def load_plugin(point: metadata.EntryPoint, kind: str) -> Any:
    """Load the object of an entry point; `kind` is its name in errors, such as "metric"."""
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
    preset: Mapping[str, Any] = dataclasses.field(default_factory=dict)
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

        An unknown name or option is refused with the nearest, and so is a value of the wrong type.
        """
        cls, preset = self.lookup(spec.name)
        return construct(cls, dict(spec.options), preset, spec.name, options)

    def lookup(self, name: str) -> tuple[type, Mapping[str, Any]]:
        """The class behind a name, and the options its preset sets. BLEU is bleu where no other name is so spelt."""
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

        It must have the members of such an object (`fits`), which a class has, too; that is refused. `expected` is what
        an error calls the specification: "a metric specification".
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
        cls: the dataclass. Its optional `without` says, for an option that has no default, how to come by a value, and
            its optional `other_names` which other names options have.
        options: options as typed; each is converted to its field's type.
        preset: options that the name sets; others win.
        name: what errors call the object.
        given: options in Python values; they win. A text is read as if it were typed.
    """
    fields, values = fields_of(cls), dict(preset)
    other_names: Mapping[str, str] = getattr(cls, "other_names", {})
    for typed, raw in {**options, **(given or {})}.items():
        key = other_names.get(typed, typed)
        if key != typed and key in options:
            raise SpecError(f"{name}: {typed} and {key} are one option, and both are given; leave one out")
        if key not in fields:
            raise SpecError(f"{name} has no option {key!r}{nearest(key, fields)}")
        values[key] = convert(raw, fields[key].kind, f"{name}:{key}") if isinstance(raw, str) else raw
    absent = [option for option, field in fields.items() if field.required and option not in values]
    if absent:
        advice = getattr(cls, "without", {}).get(absent[0], "")
        raise SpecError(f"{name} needs the option {absent[0]!r}; write {name}:{absent[0]}=...{advice}")
    return cls(**values)
