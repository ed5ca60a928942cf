"""The fields of a row: their names, their types, and the segment they make; the rows of several raters make one."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment, printed_list, repeated

NAMES = frozenset("id system seg lp task src ref refs hyp human context table rater criterion".split())
_NUMBERED = re.compile(r"ref([0-9]{1,9})")
CRITERION = "human."
RATER, RATED = "rater", "criterion"  # the fields that say who rated, and what was rated
_LIKE_CRITERION = re.compile(
    r"(?i)(.*[_ -])?(criteri(on|a)|aspect|dimension|quality|facet|attribute|measure)(_?name)?|(rating_?)?type"
)
_WIDE = 40  # characters of a value in an error
_SHOWN = 8  # names of ignored fields in a note


OF_ITEMS = "{}: {!r} repeats over systems, and is taken for the item (seg)"
# The way out where two rows are about one thing.
WHOSE = f"where several people rate, name them: --columns {RATER}=NAME; several criteria: --columns {RATED}=NAME"


class FieldError(InputError):
    """A required field is missing or has the wrong type. The reader adds file and line."""


class NoHypothesis(FieldError):
    """No field of a row is the text to judge. Who has the rows adds which of them may be."""


def is_known(name: str) -> bool:
    """Whether a field or column of this name is read."""
    return name in NAMES or name.startswith(CRITERION) or _NUMBERED.fullmatch(name) is not None


def like_criteria(names: Iterable[str]) -> list[str]:
    """The fields that are not read and may say what was rated, by their names."""
    return [name for name in names if not is_known(name) and _LIKE_CRITERION.fullmatch(name)]


def check_rated(rated: dict[int, list[Any]], own: object, row: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse a second rating of one output of which a field that is not read says another word than of the first.

    Args:
        rated: an output -> what these fields say of its first rating; filled here.
        own: what names the output.
    """
    here = [row.get(name) for name in names]
    for name, one, other in zip(names, rated.setdefault(hash(own), here), here, strict=True):
        if one != other and all(type(word) is str and any(map(str.isalpha, word)) for word in (one, other)):
            raise FieldError(
                f"a second rating of one output; {name!r} was {one!r:.40} for the first and is {other!r:.40} here; if"
                f" it says what was rated, give --columns {RATED}={name}"
            )


def reference_columns(names: Iterable[str]) -> list[str]:
    """The names of the columns that hold one reference each: first `ref`, then `ref1`, `ref2`, ... by number."""
    found = [
        (0, -1, name) if name == "ref" else (1, int(name[3:]), name)
        for name in names
        if name == "ref" or _NUMBERED.fullmatch(name)
    ]
    return [name for _, _, name in sorted(found)]


# What other tools call the fields: Hugging Face's evaluate and its data sets, lm-eval, deepeval, COMET.
HYPOTHESES = tuple(
    "prediction predictions pred hypothesis hypotheses output generated generated_text response mt candidate".split()
)
GOLD = (
    *("reference", "references", "target", "targets", "gold", "highlights", "expected", "expected_output"),
    *("expected_answer", "expected_response", "ground_truth", "reference_answer", "reference_text", "gold_answer"),
)
SOURCES = ("source", "input", "inputs", "document", "article", "prompt", "question")
_EITHER = "summary"  # of a system where there is another reference, else a reference


def guessed(names: Iterable[str]) -> dict[str, str]:
    """Field -> column, where the names of columns leave no doubt; empty where they do, or where `hyp` is there."""
    there = list(names)
    found = [name for name in HYPOTHESES if name in there]
    gold = next((name for name in GOLD if name in there), None)
    if not found and gold is not None and _EITHER in there:
        found = [_EITHER]
    elif gold is None and _EITHER in there:
        gold = _EITHER
    if "hyp" in there or len(found) != 1:
        return {}
    told = {"hyp": found[0]}
    if gold is not None and not {"ref", "refs", *reference_columns(there)} & {*there}:
        told["ref"] = gold
    source = next((name for name in SOURCES if name in there), None)
    if source is not None and "src" not in there:
        told["src"] = source
    return told


def fields_by_column(columns: Mapping[str, str], header: Iterable[str]) -> dict[str, str]:
    """Which field each column is, by a mapping either way: `{"prediction": "hyp"}` or `{"hyp": "prediction"}`.

    `--columns FIELD=NAME,...` in every verb that takes DATA, and `columns=` in Python, read data of other tools as they
    are: `--columns hyp=prediction,ref=references,human.fluency=rating`. A name that is taken over is not read as
    itself. `ref` may then be a list, and `refs` a single text. `src=translation.de` is the field `de` of an object
    `translation`. In a wide table each system has a column: `hyp=bart,hyp=t5,ref=highlights` makes a segment of each.
    Where each rater has one, it is `human.fluency=ann,human.fluency=ben`. A name that is nowhere in the data is
    refused.

    Without a `hyp`, names that leave no doubt are taken, with a note: `prediction`, `response`, `output` and the like,
    or `summary` beside `highlights`; `reference`, `target` and the like; `source`, `article`, `document` and the like.

    Where both can be meant, as in `{"src": "hyp"}`, the first name is a column if the table has all columns of that
    name.

    Raises:
        InputError: two fields are to come from one column, two columns are one field, or there is no such field.
    """
    from_fields = all(map(is_known, columns))
    if not from_fields or (all(map(is_known, columns.values())) and set(columns) <= set(header)):
        named = dict(columns)
    else:
        named = {name: field for field, name in columns.items()}
        for name in columns.values():
            if list(columns.values()).count(name) > 1:
                both = " and ".join(repr(field) for field in columns if columns[field] == name)
                raise InputError(f"column {name!r} is named for {both}, expected one field for each column")
    unknown = next((field for field in named.values() if not is_known(field)), None)
    if unknown is not None:
        raise InputError(f"columns name a field {unknown!r}, expected hyp, ref, refs, src, id, system, seg, ...")
    twice = repeated(field for field in named.values() if not may_repeat(field))
    if twice is not None:
        several = "; several references are ref1, ref2, ..." if twice.startswith("ref") else ""
        raise InputError(f"columns name {twice!r} twice, expected one column for each field{several}")
    return named


def may_repeat(field: str) -> bool:
    """Whether several columns may be one field: the texts of systems, the ratings of raters."""
    return field == "hyp" or field.startswith(CRITERION)


def columns_of_table(columns: Mapping[str, str] | None, header: Sequence[str], what: str) -> dict[str, str]:
    """Column -> field, of a table that says its columns before its rows; where none is `hyp`, what lacks is guessed.

    Raises:
        InputError: as `fields_by_column`; or the table, which `what` names, has no such column.
    """
    named = fields_by_column(columns or {}, header)
    for name in named:
        if name not in header and name.partition(".")[0] not in header:
            raise InputError(f"{what} has no column {name!r}; columns found: {shown(header)}")
    if "hyp" not in named.values():
        named |= {name: field for field, name in guessed(header).items() if field not in named.values()}
    return named


def columns_read(columns: Mapping[str, str] | None, header: Sequence[str], what: str) -> list[str]:
    """The columns of a table that hold fields, under their names; raises as `columns_of_table`, or `NoHypothesis`."""
    named = columns_of_table(columns, header, what)
    if "hyp" not in [*header, *named.values()]:
        raise NoHypothesis(f"{what} has no column 'hyp'; columns found: {shown(header)}")
    whole = {name if name in header else name.partition(".")[0] for name in named}
    aside = like_criteria(header)
    return [name for name in header if name in whole or is_known(name) or name in aside]


def note_of_guess(name: str, guess: Mapping[str, str]) -> Iterator[str]:
    """The note on fields that were guessed, field -> column; nothing where none was."""
    if guess:
        told = ", ".join(f"{column!r} for {field}" for field, column in guess.items())
        yield f"{name}: taken by their names: {told}; where this is wrong, --columns FIELD=NAME says what is what"


def shown(names: Iterable[str]) -> str:
    """Names in an error."""
    return ", ".join(map(repr, names)) or "none"


class Several(dict[str, Any]):
    """What a row has of one field by column, where each system has one for its text, or each rater for a rating."""


class Fractions:
    """Tells whether all names of a field are like 1.0 and 2.0: numbers of a tool that has no whole ones."""

    def __init__(self, field: str) -> None:
        self._field = field
        self._first, self._is_open = "", True

    def add(self, name: str | None) -> None:
        """Look at one more name."""
        if self._is_open and name is not None:
            self._is_open = name.endswith(".0") and name[:-2].isdecimal()
            self._first = self._first or name

    def check(self, file: str) -> None:
        """Refuse a file all of whose names are such numbers, so that none is that of the same item in other files."""
        if self._is_open and self._first:
            raise InputError(
                f"{file}: field {self._field!r} is {self._first} and the like in every row, expected names or whole"
                f" numbers; write {self._first[:-2]} (pandas: astype('Int64'))"
            )


class Fields:
    """Makes segments from the rows of one file.

    One row is one text to judge, and only `hyp` is always needed:

    - `hyp`: the hypothesis; `""` is an empty one, null is refused.
    - `refs`, a list, or `ref`, or `ref1`, `ref2` and so on: the references.
    - `src`: the source.
    - `id`: the key, unique in the file; if absent it is made from `system` and `seg`, or from the number of the row.
    - `system`: who wrote the hypothesis. `seg`: the item, which input it is; systems are compared on the same items.
    - `lp` or `task`: the group, a language pair, task or topic.
    - `human`, criterion -> number or list of numbers, or `human.NAME`: ratings of people.
    - `rater`: who gave the ratings of this row. `criterion`: what they are of, where each criterion has a row.
    - `context`: turns of a dialogue, a list of `{"speaker": ..., "text": ...}`. `table`: records of data-to-text.

    Whole numbers are accepted as strings in `id`, `system`, `seg`, `lp` and `task`; a file that has them all as 1.0,
    2.0 is refused. Other fields are ignored, with a note. References stand in one of `refs`, `ref`, or `ref1`, `ref2`
    and so on; two of these are refused. Blank references beside others are left out and counted (guard
    `blank_reference`); if all are blank, one is kept. Rows with a `rater` or a `criterion` that are about one output
    become one segment with all of their ratings, and their texts must be equal.

    Args:
        columns: which field of a row holds which of ours, in either direction; see `fields_by_column`. A field of an
            object in a row is named `OBJECT.FIELD`. Without a column for `hyp`, the first row is guessed at.

    Attributes:
        ignored: field that is not read -> number of rows that have it, in order of appearance.
        guess: field -> the name in the rows that was taken for it, unasked.
        made: the number of rows without an `id`.
        rater: who gave the ratings of the last row; None if it does not say.
        criterion: what these ratings are of; None if it does not say.
    """

    def __init__(self, columns: Mapping[str, str] | None = None) -> None:
        self.ignored: dict[str, int] = {}
        self.guess: dict[str, str] = {}
        self.made = 0
        self.rater: str | None = None
        self.criterion: str | None = None
        self._columns = columns or {}
        self._ids, self._items = Fractions("id"), Fractions("seg")
        self._named: dict[str, str] | None = None
        self._first: list[str] = []  # the fields of the first row
        self._like_criteria: list[str] = []  # those of them that are not read and may say what was rated
        self._rated: dict[int, list[Any]] = {}  # an output -> what they say of its first rating
        self._unseen: set[str] = set()  # fields that `columns` names and no row had so far

    def segments(self, row: Any, number: int) -> list[Segment]:
        """The segments of a row: one, or one for each system where several columns are hypotheses.

        The number of the row, from 1, is the id of one that has neither `id` nor `system` and `seg`. A `FieldError`
        names the field that is missing or wrong, what was expected and what came.
        """
        if type(row) is not dict:
            raise FieldError(f"the row is {_kind(row)}{_repeated(row)}, expected an object with the field 'hyp'")
        named = self.settle(row) if self._named is None else self._named
        whole = row
        if named:
            row = self._renamed(row, named)
        if row.keys() - NAMES:
            row = self._gather(row)
        texts = row.get("hyp")
        if type(texts) is not Several:
            made = self._segment(row, number)
            if self._like_criteria and made.human and made.item is not None and self.criterion is None:
                own = (made.group, made.system, made.item, made.hypothesis)
                check_rated(self._rated, own, whole, self._like_criteria)
            return [made]
        for name in ("system", "human"):
            if row.get(name):
                raise FieldError(f"field {name!r} beside columns of several systems, expected a row for each")
        item = _key(row, "seg") or _key(row, "id") or str(number)
        return [
            self._segment({**row, "hyp": text, "id": None, "system": system, "seg": item}, number)
            for system, text in texts.items()
        ]

    def _segment(self, row: dict[str, Any], number: int) -> Segment:
        hypothesis = row.get("hyp")
        if type(hypothesis) is not str:
            raise _no_hypothesis(row)
        system, item = _key(row, "system"), _key(row, "seg")
        name = _key(row, "id")
        self.rater = " ".join((_key(row, RATER) or "").split()) or None
        self.criterion = _key(row, RATED)
        self._items.add(item)
        self._ids.add(name)
        if name is None:
            self.made += 1
            name = f"{system}:{item}" if system is not None and item is not None else str(number)
        source = row.get("src")
        if source is not None and type(source) is not str:
            raise _wrong("src", source, "a string or null")
        group = _key(row, "lp")
        human, raters = _human(row.get("human"))
        return Segment(
            name,
            hypothesis,
            _references(row),
            source,
            system,
            item,
            _key(row, "task") if group is None else group,
            human,
            _context(row.get("context")),
            _table(row.get("table")),
            raters=raters,
        )

    def settle(self, row: Mapping[str, Any]) -> Mapping[str, str]:
        """Name -> field, which the first row of a file settles."""
        self._first = list(row)
        named = fields_by_column(self._columns, row)
        self._like_criteria = [name for name in like_criteria(row) if name not in named]
        self._unseen = set(named)
        if "hyp" not in row and "hyp" not in named.values():
            texts = [name for name, value in row.items() if value is None or isinstance(value, str | list)]
            self.guess = {field: name for field, name in guessed(texts).items() if field not in named.values()}
            named |= {name: field for field, name in self.guess.items()}
        self._named = named
        return named

    def check(self, name: str) -> None:
        """Look at all rows together, after the last one.

        Refused are a field that `columns` names and no row has, and names of all segments or items that became
        fractions.
        """
        self._ids.check(name)
        self._items.check(name)
        for absent in self._unseen:
            field = (self._named or {})[absent]
            raise InputError(
                f"{name}: no row has {absent!r}, which columns name as {field!r}; fields of the first row:"
                f" {shown(self._first)}"
            )

    def notes(self, name: str, ignored: Iterable[str] = ()) -> Iterator[str]:
        """What was guessed, and what was not read; `ignored` are columns that no row shows."""
        yield from note_of_guess(name, self.guess)
        left = [one for one in dict.fromkeys([*ignored, *self.ignored]) if one.strip()]
        if left:
            more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
            yield f"{name}: fields ignored: {', '.join(map(repr, left[:_SHOWN]))}{more}"

    def _renamed(self, row: dict[str, Any], named: Mapping[str, str]) -> dict[str, Any]:
        """A row under our names. A field whose name a column takes over is left out."""
        taken = {*named, *named.values(), *(name.partition(".")[0] for name in named)}
        made = {name: value for name, value in row.items() if name not in taken}
        several: dict[str, Several] = {}
        for name, ours in named.items():
            value = _inner(row, name)
            if value is _ABSENT:
                if ours in ("hyp", "ref", "refs", "src"):
                    raise FieldError(
                        f"there is no {name!r}, which columns name as {ours!r}; fields found: {shown(row)}"
                    )
                continue
            self._unseen.discard(name)
            made[ours] = value
            if may_repeat(ours):
                several.setdefault(ours, Several())[name] = value
        made |= {field: given for field, given in several.items() if len(given) > 1}
        return with_references(made)

    def _gather(self, row: dict[str, Any]) -> dict[str, Any]:
        """Move `human.NAME` into `human` and `ref1`, `ref2`, ... into `refs`. Unknown fields are counted."""
        numbered = False
        ratings: dict[str, Any] = {}
        for name in row:
            if name in NAMES:
                continue
            if name.startswith(CRITERION):
                ratings[name.removeprefix(CRITERION)] = row[name]
            elif is_known(name):
                numbered = True
            else:
                self.ignored[name] = self.ignored.get(name, 0) + 1
        if not numbered and not ratings:
            return row
        row = dict(row)
        if numbered:
            texts = {name: row[name] for name in reference_columns(row) if row[name] is not None}
            for name, text in texts.items():
                if type(text) is not str:
                    raise _wrong(name, text, "a string")
            if texts and row.get("refs") is not None:
                raise FieldError(f"fields 'refs' and {next(iter(texts))!r} are both given, expected one of them")
            if texts:
                row["refs"], row["ref"] = list(texts.values()), None
        if ratings:
            whole = row.get("human")
            if whole is not None and type(whole) is not dict:
                raise _wrong("human", whole, "an object, criterion -> number")
            row["human"] = {**(whole or {}), **ratings}
        return row


_ABSENT = object()


def _inner(row: Mapping[str, Any], name: str) -> Any:
    """The value of a field, or of a field `OBJECT.FIELD` of an object in the row."""
    if name in row:
        return row[name]
    head, dot, rest = name.partition(".")
    inside = row.get(head) if dot else None
    return _inner(inside, rest) if isinstance(inside, dict) else _ABSENT


def with_references(row: dict[str, Any]) -> dict[str, Any]:
    """A row whose `ref` may be a list, and whose `refs` may be a single text."""
    one, several = row.get("ref"), row.get("refs")
    if type(one) is list and several is None:
        return {**row, "ref": None, "refs": one}
    if type(several) is str and one is None:
        if printed_list(several) is not None:
            raise FieldError(
                f"field 'refs' is a list that was written as a text{_repeated(several)}, expected a list of strings;"
                " undo it with ast.literal_eval, or write columns 'ref1', 'ref2'"
            )
        return {**row, "refs": [several]}
    return row


def _key(row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is None or type(value) is str:
        return value
    if type(value) is int:  # numbered items are common, and the number says the same as its digits
        return str(value)
    raise _wrong(name, value, "a string")


def _references(row: Mapping[str, Any]) -> tuple[str, ...]:
    several, one = row.get("refs"), row.get("ref")
    if one is not None:
        if several is not None:
            raise FieldError("fields 'refs' and 'ref' are both given, expected one of them")
        if type(one) is not str:
            raise _wrong("ref", one, "a string", ("write 'refs' for a list", list))
        return (one,)
    if several is None:
        return ()
    if type(several) is not list:
        raise _wrong("refs", several, "a list of strings", ("write 'ref' for a single one", str))
    for place, text in enumerate(several):
        if type(text) is not str:
            raise _wrong(f"refs[{place}]", text, "a string")
    return tuple(several)


def _human(value: Any) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Criterion -> rating or ratings, and criterion -> raters where each has a column."""
    if not value and (value is None or type(value) is dict):
        return {}, {}
    if type(value) is not dict:
        raise _wrong("human", value, "an object, criterion -> number")
    ratings, raters = dict[str, Any](), dict[str, tuple[str, ...]]()
    for criterion, rating in value.items():
        if type(rating) is Several:
            known = {name: number for name, r in rating.items() if not math.isnan(number := _rating(r, name))}
            if known:
                ratings[criterion], raters[criterion] = [*known.values()], tuple(known)
        elif type(rating) is list:
            ratings[criterion] = [_rating(r, f"human.{criterion}[{i}]") for i, r in enumerate(rating)]
        else:
            number = _rating(rating, f"human.{criterion}")
            if not math.isnan(number):
                ratings[criterion] = number
    return ratings, raters


def truth(value: Any) -> float | None:
    """1 or 0 for a truth value, also as a text of one; None for anything else."""
    word = str(value).lower() if type(value) in (bool, str) else ""
    return {"true": 1.0, "false": 0.0}.get(word)


def _rating(value: Any, name: str) -> float:
    """The rating as a number, 1 and 0 for true and false; NaN if it is absent."""
    if value is None:
        return math.nan
    if type(value) is bool:
        return float(value)
    if type(value) is not float and type(value) is not int:
        raise _wrong(name, value, "a number" if name.endswith("]") else "a number or a list of numbers")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if math.isinf(number):
        raise FieldError(
            f"field {name!r} is {value if type(value) is float else 'too large'}, expected a finite number"
        )
    return number


def _context(value: Any) -> tuple[Mapping[str, str], ...]:
    if value is None:
        return ()
    if type(value) is not list:
        raise _wrong("context", value, "a list of turns")
    turns = []
    for place, turn in enumerate(value):
        if type(turn) is not dict:
            raise _wrong(f"context[{place}]", turn, 'a turn, {"speaker": ..., "text": ...}')
        for part in ("speaker", "text"):
            if type(turn.get(part)) is not str:
                raise _wrong(f"context[{place}].{part}", turn.get(part), "a string")
        turns.append({"speaker": turn["speaker"], "text": turn["text"]})
    return tuple(turns)


def _table(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if type(value) is not list:
        raise _wrong("table", value, "a list of records")
    return tuple(value)


def _no_hypothesis(row: Mapping[str, Any]) -> FieldError:
    if "hyp" not in row:
        return NoHypothesis(f"field 'hyp' is missing, expected a string; fields found: {shown(row)}")
    if row["hyp"] is None:
        return FieldError("field 'hyp' is null, expected a string; write \"\" for an empty hypothesis")
    return _wrong("hyp", row["hyp"], "a string")


def _wrong(name: str, value: Any, expected: str, hint: tuple[str, type] | None = None) -> FieldError:
    advice = f"; {hint[0]}" if hint and type(value) is hint[1] else ""
    return FieldError(f"field {name!r} is {_kind(value)}{_repeated(value)}, expected {expected}{advice}")


def _repeated(value: Any) -> str:
    """The value as it stands in an error, cut to one short line; none where its kind says it all."""
    if value is None or isinstance(value, bool):
        return ""
    try:
        shown = repr(value)
    except ValueError:  # a number of more digits than Python writes
        return ""
    return f" ({shown if len(shown) <= _WIDE else shown[: _WIDE - 3] + '...'})"


def _kind(value: Any) -> str:
    """The type of a value, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, name in (((int, float), "a number"), (str, "a string"), (list, "a list"), (dict, "an object")):
        if isinstance(value, kind):
            return name
    return f"of type {type(value).__name__}"


# --- A row per rating: the rows that several raters gave to one output become one segment, with all their ratings

_SAME = {"hypothesis": "hyp", "references": "refs", "source": "src", "context": "context", "table": "table"}
_By = tuple[str | None, str | None]  # rater, criterion


@dataclass
class _Output:
    place: str
    segment: Segment
    ids: set[str] = field(default_factory=set)
    by: list[_By] = field(default_factory=list)
    # criterion of the row, and name -> who rated, and the rating
    ratings: dict[tuple[str | None, str], list[tuple[str | None, float]]] = field(default_factory=dict)


class Raters:
    """Joins the rows about one output: those of one group and system, and of one item, or id where no item is named.

    Where an output has several criteria, or few of them come again and again, a rating is of the criterion of its row:
    `CRITERION`, or `CRITERION.NAME` where a row has several ratings.

    Args:
        is_named: whether rows say who rated. Else there is one rating of an output for each criterion.
    """

    def __init__(self, is_named: bool = True) -> None:
        self._outputs: dict[tuple[str | None, ...], _Output] = {}
        self._is_named = is_named

    def add(self, place: str, segment: Segment, rater: str | None, criterion: str | None = None) -> None:
        """Add a row, with what it says of who rated what.

        Raises:
            InputError: its texts are others than those of an earlier row about the same output; or no row says who
                rated, and the output has a rating of this criterion.
        """
        own = (segment.group, segment.system, segment.id if segment.item is None else segment.item)
        output = self._outputs.setdefault(own, _Output(place, segment))
        other = next((name for ours, name in _SAME.items() if _differs(output.segment, segment, ours)), None)
        if other is not None:
            raise InputError(
                f"field {other!r} is another than at {output.place}, a rating of the same output; expected one text"
                " for each system and item"
            )
        by = rater, criterion
        if not self._is_named and by in output.by:
            raise InputError(f"a second row about the same output and criterion, the first is {output.place}; {WHOSE}")
        output.ids.add(segment.id)
        output.by.append(by)
        for name, given in segment.human.items():
            ratings = output.ratings.setdefault((criterion, name), [])
            ratings.extend((rater, one) for one in (given if isinstance(given, list | tuple) else [given]))

    def segments(self) -> Iterator[Segment]:
        """One segment for each output, in the order of their first rows."""
        names = self._criteria()
        for own, output in self._outputs.items():
            one = output.segment
            name = one.id if len(output.ids) == 1 else ":".join(part for part in own if part is not None)
            given: dict[str, list[tuple[str | None, float]]] = {}
            for key, ratings in output.ratings.items():
                given.setdefault(names[key], []).extend(ratings)
            raters = {name: tuple(rater for rater, _ in own) for name, own in given.items()}
            known = {name: who for name, who in raters.items() if any(who)}
            if len(output.by) == 1 and given.keys() == one.human.keys():
                yield replace(one, raters=known) if known else one
            else:
                human = {name: [rating for _, rating in own] for name, own in given.items()}
                yield replace(one, id=name, human=human, raters=known)

    def _criteria(self) -> dict[tuple[str | None, str], str]:
        """Criterion of a row and name of its rating -> the criterion of the segment."""
        keys = list(dict.fromkeys(key for output in self._outputs.values() for key in output.ratings))
        rated = {criterion for criterion, _ in keys} - {None}
        several = any(len({criterion for criterion, _ in o.ratings} - {None}) > 1 for o in self._outputs.values())
        if not (several or 1 < len(rated) <= len(self._outputs) / 2):
            return {key: key[1] for key in keys}
        alone = len({name for criterion, name in keys if criterion is not None}) == 1
        return {(of, name): name if of is None else of if alone else f"{of}.{name}" for of, name in keys}

    def notes(self, name: str) -> Iterator[str]:
        """What was joined, for a file or frame of this name."""
        n, every = len(self._outputs), [by for output in self._outputs.values() for by in output.by]
        known, unnamed = {rater for rater, _ in every if rater}, sum(rater is None for rater, _ in every)
        if self._is_named:
            who = f"{len(known)} raters{f', {unnamed} of them by nobody named' if unnamed else ''}"
            yield f"{name}: {len(every)} ratings of {n} outputs by {who}; a human score is their mean"
        again = sum(n - 1 for output in self._outputs.values() for by, n in Counter(output.by).items() if by[0])
        if again:
            yield f"{name}: {again} rows are by a rater who rated the same output before, all kept"
        names = self._criteria()
        if any(ours != name for (_, name), ours in names.items()):
            yield f"{name}: a criterion a row: {', '.join(dict.fromkeys(names.values()))}"
        alone = [o.segment for o in self._outputs.values() if o.segment.item is None and len(o.by) == 1]
        texts = {(one.group, one.system, one.hypothesis, one.references, one.source) for one in alone}
        if self._is_named and len(texts) < len(alone):
            yield (
                f"{name}: {len(alone) - len(texts)} rows have the text of another row and no item, and count as outputs"
                " of their own; name the item (--columns seg=COLUMN) if they are ratings of one output"
            )


def with_items(segments: Sequence[Segment], name: str, column: str = "id") -> tuple[Sequence[Segment], list[str]]:
    """Segments with their items, where ids repeat over systems and so name the input, and a note; else as they are.

    Args:
        segments: all segments of a file or frame.
        name: what the note calls it.
        column: what it calls the id.
    """
    is_each = all(s.system is not None and s.item is None for s in segments)
    if not is_each or not len({s.id for s in segments}) < len(segments) == len({(s.system, s.id) for s in segments}):
        return segments, []
    return [*map(item_of_id, segments)], [OF_ITEMS.format(name, column)]


def item_of_id(segment: Segment) -> Segment:
    """A segment whose id names the input that each system had: it is the item, and the system stands before the id."""
    return replace(segment, id=f"{segment.system}:{segment.id}", item=segment.id)


def _differs(one: Segment, other: Segment, name: str) -> bool:
    return bool(getattr(one, name) != getattr(other, name))


def is_rating(names: Iterable[str], columns: Mapping[str, str] | None) -> tuple[bool, bool]:
    """Whether a row is a rating among others of its output, by the fields of rows; and whether rows say who rated."""
    there = {*names, *(columns or {}), *(columns or {}).values()}
    return bool({RATER, RATED} & there), RATER in there
