"""Segments and datasets: one text with everything it may be compared with, and many of them."""

from __future__ import annotations

import ast
import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np

from nlgauge.core.doors import made
from nlgauge.core.errors import InputError, nearest

_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))  # control, format and space characters
_FILLERS = frozenset("\u034f\u115f\u1160\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")  # letters and marks without ink
_VARIANTS = (("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))  # selectors of a form of the character before


def is_blank(text: str) -> bool:
    """Whether a text has no visible character: the one definition of an empty text, for every metric.

    Blanks of any kind, U+200B, U+FEFF and other characters without ink are not visible.
    """
    if text[:1].isalnum() and text[0] not in _FILLERS:  # nearly every text
        return False
    return not any(map(_is_seen, text))


# One text as Python writes it, and a list, tuple or array of such texts; NumPy sets them apart by blanks alone.
_ESCAPE = r"""\\(?:[\\'"nrtbf]|x[0-9a-f]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_TEXT = rf"""(?:'[^'\\\n]*(?:{_ESCAPE}[^'\\\n]*)*'|"[^"\\\n]*(?:{_ESCAPE}[^"\\\n]*)*")"""
_PRINTED = re.compile(rf"\[(?:{_TEXT}(?:(?:,\s*|\s+){_TEXT})*)?\]|\({_TEXT}(?:,\s*{_TEXT})*,?\)")


def printed_list(text: str) -> tuple[str, ...] | None:
    """The texts of a list that was written as one text, as `str(["a", "b"])` does; None where it is no such list."""
    text = text.strip()
    if text[:1] not in ("[", "(") or _PRINTED.fullmatch(text) is None or (text[0] == "(" and "," not in text):
        return None
    try:
        return tuple(str(ast.literal_eval(one)) for one in re.findall(_TEXT, text))
    except (SyntaxError, ValueError):  # a character that no such text holds
        return None


def stripped(text: str) -> str:
    """A text without the blanks around it; empty if it has no visible character."""
    text = text.strip()
    return "" if is_blank(text) else text


def _is_seen(char: str) -> bool:
    if char in _FILLERS or any(first <= char <= last for first, last in _VARIANTS):
        return False
    return char.isalnum() or unicodedata.category(char) not in _UNSEEN


@dataclass(frozen=True, slots=True)
class Segment:
    """One hypothesis with its references and source.

    Attributes:
        id: the key of the segment, unique within a dataset.
        hypothesis: the text to be scored.
        references: any number of texts that the hypothesis is compared with; empty if there are none. A blank text
            beside others is no reference and is left out, as files of references are filled up with blank lines; of
            nothing but blank texts the first is kept.
        source: the text from which the hypothesis was made.
        system: the system (or person) that wrote the hypothesis; None if the data do not say.
        item: the input that the hypothesis was written for. Segments of one item share source and references.
        group: language pair, task or topic.
        human: criterion -> rating, or a list of ratings.
        raters: criterion -> who gave these ratings, in their order; a criterion of which nobody says who is absent.
        context: dialogue turns, each a mapping with `speaker` and `text`.
        table: the input records of data-to-text generation.
        n_blank: how many blank texts were left out of the references.
    """

    id: str
    hypothesis: str
    references: tuple[str, ...] = ()
    source: str | None = None
    system: str | None = None
    item: str | None = None
    group: str | None = None
    human: Mapping[str, Any] = field(default_factory=dict)
    context: tuple[Mapping[str, str], ...] = ()
    table: tuple[Any, ...] = ()
    n_blank: int = field(default=0, repr=False, compare=False)
    raters: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.references, str):
            raise InputError(
                f"segment {self.id!r}: references is one string, expected a tuple of strings; write (text,) for a"
                " single one"
            )
        if not isinstance(self.references, tuple):
            object.__setattr__(self, "references", tuple(self.references))
        if len(self.references) > 1 and any(map(is_blank, self.references)):
            kept = tuple(text for text in self.references if not is_blank(text)) or self.references[:1]
            object.__setattr__(self, "n_blank", self.n_blank + len(self.references) - len(kept))
            object.__setattr__(self, "references", kept)


@dataclass(frozen=True, slots=True)
class Dataset:
    """Segments in the order of their file, with unique ids.

    Raises:
        InputError: two segments have the same id.
    """

    segments: tuple[Segment, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "segments", tuple(self.segments))
        twice = repeated(segment.id for segment in self.segments)
        if twice is not None:
            where = f" in {self.name}" if self.name else ""
            raise InputError(f"duplicate id {twice!r}{where}; ids must be unique, one per segment")

    def __len__(self) -> int:
        return len(self.segments)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        named = [system for system in self.systems if system is not None]
        return f"Dataset({name}{len(self)} segments{f' of {len(named)} systems' if named else ''})"

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    @property
    def systems(self) -> tuple[str | None, ...]:
        """The systems in order of first appearance. None stands for segments that do not name a system."""
        return tuple(dict.fromkeys(s.system for s in self.segments))

    @property
    def groups(self) -> tuple[str | None, ...]:
        """The groups (language pairs, tasks) in order of first appearance."""
        return tuple(dict.fromkeys(s.group for s in self.segments))

    @property
    def items(self) -> tuple[str | None, ...]:
        """The inputs in order of first appearance."""
        return tuple(dict.fromkeys(s.item for s in self.segments))

    def as_columns(self) -> dict[str, list[Any]]:
        """One column per field, each of length n, under the names that `nlgauge.read` knows.

        They are `id`, `hyp` and, where a segment has them, `system`, `seg`, `lp`, `src`, `refs`, `human.CRITERION`,
        `context` and `table`. None is a missing value.
        """
        found: dict[str, list[Any]] = {name: [get(s) for s in self.segments] for name, get in COLUMNS.items()}
        for criterion in dict.fromkeys(name for s in self.segments for name in s.human):
            ratings = [s.human.get(criterion) for s in self.segments]
            if any(isinstance(one, list | tuple) for one in ratings):  # a column holds one type
                ratings = [one if one is None or isinstance(one, list | tuple) else [one] for one in ratings]
            found[f"human.{criterion}"] = ratings
        kept = {name: column for name, column in found.items() if any(cell is not None for cell in column)}
        return {"id": found["id"], **kept, "hyp": found["hyp"]}

    def to_frame(self, library: str | None = None) -> Any:
        """One row per segment, with the columns of `as_columns`, as a frame; see `Scores.to_frame`.

        `nlgauge.read` makes the same segments of it; but records of a `table` with other keys than their neighbours
        get these with None, except in pandas.
        """
        return made("frame", self.as_columns(), library)

    def to_arrow(self) -> Any:
        """The same as a `pyarrow.Table`."""
        return made("arrow", self.as_columns())

    @classmethod
    def from_texts(
        cls,
        hypotheses: Sequence[str] | Mapping[str, Sequence[str]],
        references: Sequence[str] | Sequence[Sequence[str]] | None = None,
        sources: Sequence[str] | None = None,
    ) -> Dataset:
        """Make a dataset from parallel lists.

        Args:
            hypotheses: one text per item, length N. For several systems over the same items, a mapping from each system
                to such a list.
            references: one text per item, or one list of texts per item (the lists may differ in length). Length N.
            sources: one text per item, length N.

        Ids and items count from 1, as the lines of parallel files do.

        Raises:
            InputError: a bare string or a frame stands where a list is expected, lengths differ, or an entry is not
                text.
        """
        systems: Mapping[str | None, Sequence[str]]
        if isinstance(hypotheses, Mapping):
            systems = {name: frame_texts(texts, f"hypotheses of system {name!r}") for name, texts in hypotheses.items()}
            if not systems:
                raise InputError("hypotheses is an empty mapping, expected at least one system")
        else:
            systems = {None: frame_texts(hypotheses, "hypotheses")}
        n_items = len(next(iter(systems.values())))
        for name, texts in systems.items():
            if len(texts) != n_items:
                raise InputError(
                    f"system {name!r} has {len(texts)} hypotheses, the first system has {n_items}; every system needs"
                    " one an item"
                )
        refs = _references(references, n_items)
        srcs: Sequence[str | None] = [None] * n_items
        if sources is not None:
            srcs = frame_texts(sources, "sources")
            if len(srcs) != n_items:
                raise InputError(f"{n_items} hypotheses but {len(srcs)} sources; give one source an item")
        return cls(
            tuple(
                Segment(
                    id=str(i) if name is None else f"{name}:{i}",
                    hypothesis=text,
                    references=refs[i - 1],
                    source=srcs[i - 1],
                    system=name,
                    item=str(i),
                )
                for name, texts in systems.items()
                for i, text in enumerate(texts, start=1)
            )
        )


def said(context: Iterable[Mapping[str, str]], last: int | None = None) -> list[str]:
    """The texts of the last turns of a dialogue (None: of all turns) in which something was said."""
    texts = [text for turn in context if (text := stripped(turn["text"]))]
    return texts if last is None else texts[-last:]


COLUMNS: Mapping[str, Callable[[Segment], Any]] = {  # name in files -> the field
    "id": lambda s: s.id,
    "system": lambda s: s.system,
    "seg": lambda s: s.item,
    "lp": lambda s: s.group,
    "src": lambda s: s.source,
    "refs": lambda s: list(s.references) or None,
    "hyp": lambda s: s.hypothesis,
    "context": lambda s: [dict(turn) for turn in s.context] or None,
    "table": lambda s: list(s.table) or None,
}


def repeated(ids: Iterable[str]) -> str | None:
    """The first id that occurs a second time; None if all are unique."""
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            return one
        seen.add(one)
    return None


def _references(values: Sequence[str] | Sequence[Sequence[str]] | None, n_items: int) -> list[tuple[str, ...]]:
    if values is None:
        return [()] * n_items
    check_no_frame(values, "references")
    if isinstance(values, str):
        raise InputError("references is one string, expected a list with one entry per item")
    if not isinstance(values, Iterable):
        raise InputError(f"references is {type(values).__name__}, expected a list with one entry per item")
    values = cells(values)
    if len(values) == n_items and set(map(type, values)) == {str}:  # one each, the usual case
        return [(text,) for text in values]
    for i, value in enumerate(values):
        if not isinstance(value, Iterable):
            raise InputError(f"references[{i}] is {kind_of(value)}, expected a string or a list of strings")
    if len(values) != n_items:
        streams = [v for v in values if not isinstance(v, str)]
        turned = len(streams) == len(values) and all(len(list(v)) == n_items for v in streams)
        hint = "; these look like [reference][item]: pass list(zip(*references))" if turned and streams else ""
        raise InputError(
            f"{n_items} hypotheses but {len(values)} entries of references, expected [item][reference]{hint}"
        )
    folded = []
    for i, value in enumerate(values):
        refs = (value,) if isinstance(value, str) else tuple(value)
        for ref in refs:
            if not isinstance(ref, str):
                raise InputError(f"references[{i}] holds an entry that is {kind_of(ref)}, expected strings")
        folded.append(refs)
    return folded


# --- Which systems take part in a comparison of metrics, which do not, and for what reason


@dataclass(frozen=True)
class Selection:
    """The systems that are kept, and the reasons why others are left out.

    Attributes:
        kept: the systems that take part, in their original order.
        left_out: system -> the reason.
    """

    kept: tuple[str, ...]
    left_out: Mapping[str, str]

    @property
    def note(self) -> str:
        """One line that says how many systems there were, how many are kept, and why each other one is left out."""
        before = len(self.kept) + len(self.left_out)
        why = "; ".join(f"{system}: {reason}" for system, reason in self.left_out.items())
        return f"{len(self.kept)} of {before} systems" + (f" (left out {why})" if why else "")


def select_systems(
    systems: Sequence[str],
    *,
    references: Collection[str] = (),
    humans: Collection[str] = (),
    outliers: Collection[str] = (),
    rated: Collection[str] | None = None,
    include_humans: bool = False,
) -> Selection:
    """Select the systems on which metrics are compared.

    Args:
        systems: all systems.
        references: the references that the metrics use. An output that is itself one of them is always left out.
        humans: outputs written by people. They are left out unless `include_humans` is set.
        outliers: systems that are left out; one that is none of the systems is refused, as it may be misspelt.
        rated: systems with human scores. If it is given, all others are left out.
    """
    for name in outliers:
        if name not in systems:
            raise InputError(f"outlier {name!r} is not among the systems{nearest(name, systems)}")
    left_out: dict[str, str] = {}
    for system in systems:
        if system in references:
            left_out[system] = "is a reference the metrics use"
        elif system in humans and not include_humans:
            left_out[system] = "written by people"
        elif system in outliers:
            left_out[system] = "an outlier"
        elif rated is not None and system not in rated:
            left_out[system] = "has no human score"
    return Selection(tuple(s for s in systems if s not in left_out), left_out)


def of_groups(dataset: Dataset, groups: Sequence[str]) -> Dataset:
    """The segments of some groups (language pairs or tasks) alone; a group without a segment is refused."""
    known = dict.fromkeys(segment.group for segment in dataset if segment.group is not None)
    for group in groups:
        if group not in known:
            raise InputError(f"no segment is of language pair or task {group!r}{nearest(group, known)}")
    return replace(dataset, segments=tuple(segment for segment in dataset if segment.group in groups))


def take_as_reference(dataset: Dataset, system: str) -> Dataset:
    """The dataset without one system, whose texts are the first reference of what others wrote for the same item.

    So a file of raw MQM annotations, which holds no references, is compared with the translation of a person in it.

    Raises:
        InputError: no segment of this system names its item; the error gives the nearest known system.
    """
    own = [s for s in dataset if s.system == system and s.item is not None]
    texts: dict[tuple[str | None, str | None], str] = {(s.group, s.item): s.hypothesis for s in own}
    if not texts:
        known = [name for name in dataset.systems if name is not None]
        raise InputError(f"reference system {system!r} has no segment with an item{nearest(system, known)}")
    kept = []
    without = 0
    for segment in dataset:
        if segment.system == system:
            continue
        text = texts.get((segment.group, segment.item))
        without += text is None
        others = tuple(other for other in segment.references if other != text)
        kept.append(segment if text is None else replace(segment, references=(text, *others)))
    note = f"{system} is the reference of {len(kept) - without} of {len(kept)} segments, and no system"
    return Dataset(tuple(kept), dataset.name, (*dataset.notes, note))


# --- Tables of other libraries (pandas, polars, Arrow, datasets): told apart from texts, and read column by column
# None of these libraries is imported. A table is known by its named columns, and a column turns itself into a list.

Frame = Any  # a table with named columns: pandas.DataFrame, polars.DataFrame, pyarrow.Table, datasets.Dataset ...
_TO_LIST = ("to_pylist", "to_list", "tolist")  # Arrow; polars and pandas; numpy
_MISSING = ("NAType", "NaTType")  # pandas.NA and pandas.NaT
_SHOWN = 8  # names of columns in an error


def is_frame(value: object) -> bool:
    """Whether a value is a table with named columns, and not a list or a column of texts."""
    return hasattr(type(value), "columns") or hasattr(type(value), "column_names")


def column_names(frame: Frame) -> list[str]:
    """The names of the columns of a frame, in order.

    Refused are a frame that holds several tables, does not know its columns yet, or has two columns of one name.
    """
    kind = type(frame).__name__
    if isinstance(frame, Mapping):  # the splits of a data set of the hub
        raise InputError(f"{kind} holds several tables ({_listed(frame)}), expected one; take one of them")
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None:
        raise InputError(f"{kind} does not know its columns; load it whole first")
    names = list(map(str, names))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"{kind} has two columns {twice[0]!r}, expected one; rename or drop the other")
    return names


def column(frame: Frame, name: str) -> list[Any]:
    """The cells of one column as plain Python values; None where a value is missing. A frame must be in memory."""
    try:
        values = cells(frame[name])
    except TypeError:
        kind = type(frame).__name__
        raise InputError(f"{kind} gives no cells of column {name!r}; collect it into a table in memory first") from None
    return [plain(value) for value in values]


def cells(values: Iterable[Any]) -> list[Any]:
    """A list, an array or a column of another library as a list; its values as they come."""
    for name in _TO_LIST:
        convert = getattr(values, name, None)
        if callable(convert):
            listed = convert()
            return listed if isinstance(listed, list) else [listed]
    return list(values)


def frame_texts(values: Any, what: str) -> list[str]:
    """A list, an array or a column of texts as a list; a frame, one string and an entry that is no text are refused."""
    check_no_frame(values, what)
    if isinstance(values, str):
        raise InputError(
            f"{what} is one string, expected a list of strings; write [{what.split()[0]}] for a single text"
        )
    if not isinstance(values, Iterable):
        raise InputError(f"{what} is {type(values).__name__}, expected a list of strings")
    listed = cells(values)
    for i, value in enumerate(listed):
        if not isinstance(value, str):
            raise InputError(f"{what}[{i}] is {kind_of(value)}, expected a string")
    return listed


def check_no_frame(values: object, what: str) -> None:
    """Refuse a frame where a list is expected: as a list, it would be the names of its columns."""
    if is_frame(values):
        names = column_names(values)
        example = names[0] if names else "..."
        raise InputError(
            f"{what} is a {type(values).__name__} with columns {_listed(names)}, expected a list of texts; take one"
            f" column, such as frame[{example!r}] (nlgauge.read takes a whole frame)"
        )


def plain(value: Any) -> Any:
    """A cell as JSON would hold it: numbers and lists of Python, and None for a missing value (NaN, NaT, NA)."""
    if type(value) is str:  # most cells
        return value
    if isinstance(value, Decimal) and value.is_finite():
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(cell) for key, cell in value.items()}
    if isinstance(value, list | tuple):
        return [plain(cell) for cell in value]
    return None if _is_missing(value) else value


def kind_of(value: object) -> str:
    """The kind of a value, for an error."""
    return "missing (None or NaN)" if _is_missing(value) else type(value).__name__


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ in _MISSING or (isinstance(value, float) and value != value)


def _listed(names: Iterable[object]) -> str:
    shown = [repr(str(name)) for name in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else "") or "none"


# --- Objects of JSON from outside, each of whose keys may stand there once


class RepeatedKey(ValueError):
    """An object holds a key twice; the message says which."""


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object from its keys and values, as `object_pairs_hook` of the standard library's parser.

    That parser alone takes the last value of a key that stands twice, and other readers take the first: `RepeatedKey`.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        again = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise RepeatedKey(f"field {again!r} stands twice in one object, expected once")
    return found


def check_keys(text: str, value: Any) -> None:
    """Refuse a text of JSON in which an object holds a key twice; `value` is what a parser made of it.

    Most texts need no second parser: they have as many keys as the value.
    """
    if type(value) is dict:
        # White space behind a quote may stand between a key and its colon. Without it there are at least as many
        # quotes before colons as keys, and more where a text holds one.
        if not ('" ' in text or '"\t' in text or '"\n' in text or '"\r' in text):
            n = len(value)
            for inner in value.values():
                if type(inner) is dict:
                    n += len(inner)
            if text.count('":') == n:
                return
    elif type(value) not in (dict, list):
        return
    try:
        json.loads(text, object_pairs_hook=unique)
    except RepeatedKey:
        raise
    except (ValueError, RecursionError):  # a number or a depth that only the first parser takes
        pass
