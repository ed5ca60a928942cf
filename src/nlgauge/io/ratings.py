"""Preferences of people, verdicts of judges, and judge cards."""

from __future__ import annotations

import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.result import null_if_nan, replacing
from nlgauge.core.tables import Key, Preference, Preferences, ScoreTable
from nlgauge.io.files import Faults, InputFile, Lines, counted, number_in, words_of
from nlgauge.io.logs.rows import LogLines, document, name_of, score
from nlgauge.io.rows import JsonRows


def read_relative_ranks(path: str | os.PathLike[str]) -> Preferences:
    """Read the pairs of `RR-seglevel.csv` or `DArr-seglevel.csv`: a header, then `LP DATA SID BETTER WORSE`.

    These are the pairs of WMT17 to WMT21. Words are separated by blanks. Repeated and contradicting pairs are kept and
    counted.

    Args:
        path: the file, plain or `.gz`. A sixth word is the difference between the two ratings.

    Raises:
        InputError: the header does not end as expected, a line has another number of words, or a system is compared
            with itself.
    """
    file = InputFile(path)
    lines = Lines(file)
    pairs: list[Preference] = []
    faults = Faults(file.name)
    rows = words_of(lines, "LP DATA SID BETTER WORSE", _ends_in_pairs)
    next(rows, None)
    for place, cells in rows:
        with faults.row(lines.at(place)):
            pairs.append(_compared(cells))
    faults.check()
    if not pairs:
        raise InputError(f"{file.name} is empty: no pair in it, expected LP DATA SID BETTER WORSE")
    notes = list(lines.notes())
    repeated = {(pair.better, pair.worse) for pair in pairs}
    again = len(pairs) - len(repeated)
    both = sum((worse, better) in repeated for better, worse in repeated) // 2
    if again:
        notes.append(f"{file.name}: {counted(again, 'pair')} judged again, all kept")
    if both:
        notes.append(f"{file.name}: {counted(both, 'pair')} judged both ways, all kept")
    return Preferences(tuple(pairs), file.name, tuple(notes))


def _ends_in_pairs(header: Sequence[str]) -> bool:
    names = [name.upper() for name in header]
    return ["SID", "BETTER", "WORSE"] in (names[-3:], names[-4:-1])


def _compared(cells: Sequence[str]) -> Preference:
    """The pair in the words of a line."""
    if len(cells) not in (5, 6):
        raise InputError(f"{counted(len(cells), 'word')}, expected LP DATA SID BETTER WORSE and perhaps the difference")
    lp, _, item, better, worse = cells[:5]
    if better == worse:
        raise InputError(f"system {better!r} is better than itself")
    try:
        margin = number_in(cells[5]) if len(cells) == 6 else float("nan")
    except ValueError as error:
        raise InputError(f"difference {error}") from None
    return Preference(Key(None, better, item, lp), Key(None, worse, item, lp), margin)


def read_pairs(path: str | os.PathLike[str]) -> Preferences:
    """Read pairs of segment ids from JSON lines: `better_id` and `worse_id`, or `better` and `worse`.

    A line may also have a `margin`.

    Raises:
        InputError: a line lacks one of the two ids, or both are the same.
    """
    rows = JsonRows(InputFile(path))
    pairs: list[Preference] = []
    faults = Faults(rows.file.name)
    rows.refuse = faults.add
    for place, row in rows:
        with faults.row(rows.at(place)):
            pairs.append(_pair(row))
    faults.check()
    if not pairs:
        raise InputError(f"{rows.file.name} is empty: no pair in it, expected better_id and worse_id")
    return Preferences(tuple(pairs), rows.file.name, tuple(rows.notes()))


def _pair(row: Any) -> Preference:
    """The pair in an object."""
    if type(row) is not dict:
        raise InputError("not an object, expected one with 'better_id' and 'worse_id'")
    better, worse = (row.get(f"{side}_id", row.get(side)) for side in ("better", "worse"))
    if type(better) is not str or type(worse) is not str:
        raise InputError(f"'better_id' and 'worse_id' must be the ids of two segments; fields found: {', '.join(row)}")
    if better == worse:
        raise InputError(f"segment {better!r} is better than itself")
    margin = row.get("margin")
    if margin is not None and type(margin) not in (int, float):
        raise InputError(f"field 'margin' is {margin!r}, expected a number")
    try:
        return Preference(Key(better), Key(worse), float("nan") if margin is None else float(margin))
    except OverflowError:
        raise InputError("field 'margin' is too large for a number of 64 bits") from None


# --- Verdicts of judges, a JSON object a line: scores of answers, and choices between two of them

Choice = Literal["first", "second", "tie"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a judge said once.

    Attributes:
        item: the input.
        judge: who judged: a person, or a model with its prompt.
        criterion: what was asked; None if the file does not say.
        repeat: which time it was asked, from 1.
        system: whose answer was scored; None for a choice.
        score: the score; NaN where none could be read.
        first: whose answer was shown first; None for a score.
        second: whose answer was shown second.
        verdict: which of the two is better; None where nothing could be read.
    """

    item: str
    judge: str
    criterion: str | None = None
    repeat: int = 1
    system: str | None = None
    score: float = math.nan
    first: str | None = None
    second: str | None = None
    verdict: Choice | None = None

    @property
    def winner(self) -> str | None:
        """The system that won; None for a tie, and where nothing could be read."""
        return {"first": self.first, "second": self.second}.get(self.verdict or "")


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a file.

    Attributes:
        rows: all of them, in order.
        name: the name of the file.
        notes: what a reader must know, with how many could not be read.
    """

    rows: tuple[Verdict, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

    def scores(self) -> ScoreTable:
        """Scores as a table: a column for each judge, or JUDGE.CRITERION where criteria are named.

        Repeats of a verdict are averaged, without those that could not be read; NaN where none could.

        Raises:
            InputError: there are choices alone.
        """
        found: dict[tuple[str | None, str], dict[str, list[float]]] = {}
        for row in self.rows:
            if row.first is None:
                column = row.judge if row.criterion is None else f"{row.judge}.{row.criterion}"
                found.setdefault((row.system, row.item), {}).setdefault(column, []).append(row.score)
        if not found:
            raise InputError(f"{self.name}: no verdict with a score, expected 'system' and 'score'")
        columns = dict.fromkeys(column for cells in found.values() for column in cells)
        values = {
            column: np.array([_mean(cells.get(column, ())) for cells in found.values()])
            for column in columns  # each (n,)
        }
        keys = tuple(Key(None, system, item) for system, item in found)
        return ScoreTable(keys, values, "segment", self.name, self.notes)

    def preferences(self, judge: str | None = None) -> Preferences:
        """Choices as preferences, one for each verdict with a winner; ties and unread ones are counted in the notes.

        Args:
            judge: whose; None for all.

        Raises:
            InputError: nobody won.
        """
        rows = [row for row in self.rows if row.first is not None and judge in (None, row.judge)]
        pairs = []
        for row in rows:
            if row.winner is not None:
                other = row.second if row.winner == row.first else row.first
                pairs.append(Preference(Key(None, row.winner, row.item), Key(None, other, row.item)))
        if not pairs:
            raise InputError(f"{self.name}: no verdict with a winner, expected 'first', 'second' and 'verdict'")
        ties = sum(row.verdict == "tie" for row in rows)
        notes = [f"{self.name}: {counted(ties, 'tie')} left out of the preferences"] if ties else []
        return Preferences(tuple(pairs), self.name, (*self.notes, *notes))


def read_verdicts(path: str | os.PathLike[str]) -> Verdicts:
    """Read verdict lines: what a judge, a person or a language model, said of an answer or chose between two.

    Each line has `item` and `judge`, perhaps `criterion` and `repeat`; then `system` and `score`, or `first`, `second`
    and `verdict` (`first`, `second` or `tie`). A `score` or `verdict` of null could not be read: it is undefined and
    counted. `raw`, what the judge said, and other fields are ignored.

    `scores()` is a table as `read_scores` reads it, so judges stand beside metrics; `preferences()` are pairs.

    Raises:
        InputError: a line lacks a field or has a wrong one; the error names the line.
    """
    file = InputFile(path)
    lines, faults = LogLines(file), Faults(file.name)
    rows: list[Verdict] = []
    for where, row in lines:
        with faults.row(where):
            rows.append(_verdict(row))
    faults.check()
    if not rows:
        raise InputError(f"{file.name} is empty: no verdict in it, expected item, judge and score or verdict")
    return Verdicts(tuple(rows), file.name, tuple(_notes(file.name, lines, rows)))


def _notes(file: str, lines: LogLines, rows: list[Verdict]) -> Iterator[str]:
    yield from lines.notes()
    unread = Counter(row.judge for row in rows if (row.verdict is None if row.first else math.isnan(row.score)))
    asked = Counter(row.judge for row in rows)
    for judge, n in unread.items():
        yield f"{file}: {n} of {counted(asked[judge], 'verdict')} of {judge!r} could not be read"


def _verdict(fields: Mapping[str, Any]) -> Verdict:
    item, judge, repeat = name_of(fields.get("item")), name_of(fields.get("judge")), fields.get("repeat", 1)
    for missing, value in (("item", item), ("judge", judge)):
        if value is None:
            raise InputError(f"field {missing!r} is missing, expected a string; fields found: {', '.join(fields)}")
    if type(repeat) is not int:
        raise InputError(f"field 'repeat' is {repeat!r:.40}, expected a whole number")
    criterion, first, second = (name_of(fields.get(field)) for field in ("criterion", "first", "second"))
    assert item is not None  # both were checked
    assert judge is not None
    if "verdict" not in fields and "score" in fields:
        value = fields["score"]
        if value is not None and type(value) not in (bool, int, float):
            raise InputError(f"field 'score' is {value!r:.40}, expected a number or null")
        return Verdict(
            item=item,
            judge=judge,
            criterion=criterion,
            repeat=repeat,
            system=name_of(fields.get("system")),
            score=score(value),
        )
    if "verdict" not in fields or first is None or second is None:
        raise InputError("expected 'system' and 'score', or 'first', 'second' and 'verdict'")
    if first == second:
        raise InputError(f"'first' and 'second' are both {first!r}, expected two systems")
    verdict = fields["verdict"]
    if verdict is not None and verdict not in get_args(Choice):
        raise InputError(f"field 'verdict' is {verdict!r:.40}, expected first, second, tie or null")
    return Verdict(
        item=item, judge=judge, criterion=criterion, repeat=repeat, first=first, second=second, verdict=verdict
    )


def _mean(values: Any) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


# --- Judge cards: what is known of a judge, in one JSON file

KIND, SCHEMA = "judge-card", 1
_DIGEST, _DATE = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, kw_only=True)
class Errors:
    """The errors of a judge on one system, as counts.

    Attributes:
        hits: items that people call positive and the judge, too.
        positives: items that people call positive.
        rejected: items that people call negative and the judge, too.
        negatives: items that people call negative.
    """

    hits: int
    positives: int
    rejected: int
    negatives: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or value < 0:
                raise InputError(f"{name} is {value!r:.40}, expected a count")
        if self.hits > self.positives or self.rejected > self.negatives:
            raise InputError("a judge cannot be right on more items than there are")


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """How far the labels of a judge moved under other prompts; `nlgauge.stats.prompt_sensitivity` finds it.

    Attributes:
        tried: prompts, with that of the card.
        n: items with labels under two of them or more.
        dependent: items of which the label depends on the prompt; more do, the more prompts are tried.
        kappa: agreement of two prompts beyond chance; NaN if it is undefined.
    """

    tried: int
    n: int
    dependent: int
    kappa: float

    def __post_init__(self) -> None:
        for name, least in (("tried", 2), ("n", 1), ("dependent", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"prompts: {name} is {value!r:.40}, expected a count from {least}")
        if self.dependent > self.n:
            raise InputError(f"prompts: {self.dependent} items depend on the prompt, and there are {self.n}")
        _check_share("prompts: kappa", self.kappa, -1.0)


@dataclass(frozen=True, kw_only=True)
class JudgeCard:
    """What is known of a judge, such as how well it agrees with people.

    `write_card` writes it as JSON, and `nlgauge gate --judge-card` prints kappa and how far labels hang on the prompt.

    Attributes:
        model: the model, with its version.
        prompt_sha256: the digest of the prompt.
        n: items on which it was compared with people.
        label_policy: how labels of people were made: who, how many, and what decided where they differ.
        kappa: Cohen's kappa with these labels; NaN if it is undefined.
        base_rate: the share of the commonest label of people.
        date: of the comparison, as YYYY-MM-DD.
        systems: system -> the errors of the judge on it.
        prompts: how far its labels moved under other prompts; None if no others were tried.

    Raises:
        InputError: a value is of the wrong kind.
    """

    model: str
    prompt_sha256: str
    n: int
    label_policy: str
    kappa: float
    base_rate: float
    date: str
    systems: Mapping[str, Errors] = field(default_factory=dict)
    prompts: Prompts | None = None

    def __post_init__(self) -> None:
        for name in ("model", "label_policy"):
            if type(getattr(self, name)) is not str or not getattr(self, name).strip():
                raise InputError(f"{name} is {getattr(self, name)!r:.40}, expected words")
        for name, pattern, what in (("prompt_sha256", _DIGEST, "64 hexadecimal digits"), ("date", _DATE, "YYYY-MM-DD")):
            if type(getattr(self, name)) is not str or not pattern.fullmatch(getattr(self, name)):
                raise InputError(f"{name} is {getattr(self, name)!r:.40}, expected {what}")
        if type(self.n) is not int or self.n < 1:
            raise InputError(f"n is {self.n!r:.40}, expected a count from 1")
        _check_share("kappa", self.kappa, -1.0)
        _check_share("base_rate", self.base_rate, 0.0)


def _check_share(name: str, value: Any, low: float) -> None:
    if type(value) not in (int, float) or not (value != value or low <= value <= 1):
        raise InputError(f"{name} is {value!r:.40}, expected a number from {low:g} to 1")


def write_card(path: str | os.PathLike[str], card: JudgeCard) -> None:
    """Write a card, beside its place first, so that no half file is left.

    Raises:
        InputError: the file cannot be written.
    """
    known = {name: null_if_nan(value) for name, value in asdict(card).items()}
    if card.prompts is None:
        del known["prompts"]  # cards from before prompts were kept look like that
    else:
        known["prompts"] = {name: null_if_nan(value) for name, value in known["prompts"].items()}
    with replacing(path) as file:
        json.dump({"schema": SCHEMA, "kind": KIND, **known}, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_card(path: str | os.PathLike[str]) -> JudgeCard:
    """Read a card.

    Raises:
        InputError: the file is no card, or a field is missing or wrong; the error names it.
    """
    file = InputFile(path)
    found = document(file)
    if type(found) is not dict or found.get("kind") != KIND:
        raise InputError(f"{file.name}: no judge card, expected an object with kind {KIND!r}")
    if found.get("schema") != SCHEMA:
        raise InputError(f"{file.name}: schema {found.get('schema')!r:.40}, expected {SCHEMA}")
    names = [one.name for one in fields(JudgeCard) if one.name != "prompts"]
    lacking = next((name for name in names if name not in found), None)
    if lacking is not None:
        raise InputError(f"{file.name}: field {lacking!r} is missing, expected {', '.join(names)}")
    try:
        known: dict[str, Any] = {name: found[name] for name in names}
        known["kappa"] = math.nan if known["kappa"] is None else known["kappa"]
        return JudgeCard(**{**known, "systems": _systems(known["systems"])}, prompts=_prompts(found.get("prompts")))
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None


def _systems(value: Any) -> dict[str, Errors]:
    if type(value) is not dict:
        raise InputError("systems is no object, expected system -> counts")
    names = {one.name for one in fields(Errors)}
    for system, counts in value.items():
        if type(counts) is not dict or counts.keys() != names:
            raise InputError(f"systems: {system!r:.40} has other fields than {', '.join(sorted(names))}")
    return {system: Errors(**counts) for system, counts in value.items()}


def _prompts(value: Any) -> Prompts | None:
    if value is None:
        return None
    names = [one.name for one in fields(Prompts)]
    if type(value) is not dict or value.keys() != set(names):
        raise InputError(f"prompts has other fields than {', '.join(names)}")
    return Prompts(**{**value, "kappa": math.nan if value["kappa"] is None else value["kappa"]})
