"""The rows of a suite in any file format, the pair that such a row holds, and pairs written as rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.core.result import STDOUT
from nlgauge.core.segment import Frame, column_names
from nlgauge.core.suite import Expect, Pair, Setup, Suite
from nlgauge.io.files import BOM, Faults, InputFile, refuse, unpacked_name, writing_bytes
from nlgauge.io.frames import rows_of
from nlgauge.io.rows import JsonRows, Records

PHENOMENA: Mapping[str, str] = {  # names that published suites use -> ids of our perturbations
    "add": "addition", "drop": "omission", "name": "name_error", "neg": "negation", "num": "number_error",
    "number": "number_error", "pron": "pronoun_error", "pronoun": "pronoun_error", "word_NN": "mismatch_noun",
    "word_VB": "mismatch_verb", "word_JJ": "mismatch_adj",
    "typo": "typos", "jumble": "jumble_words", "subject_verb_dis": "subject_verb_disagreement",
    "antonym": "antonyms", "numbers_replaced": "number_error", "misspelled": "typos", "shuffled": "jumble_words",
}  # fmt: skip


class Cells(dict[str, Any]):
    """The fields of one row, and its place in the file."""

    def __init__(self, fields: dict[str, Any], place: str) -> None:
        super().__init__(fields)
        self.place = place

    def text(self, name: str) -> str | None:
        """A field as text, which a list or an object is not; None if it is absent or empty."""
        value = self.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, (list, dict)):
            raise InputError(f"{self.place}: field {name!r} is {value!r:.40}, expected a text")
        return str(value)

    def needed(self, name: str) -> str:
        """A field as text. It may be empty, but it must be present."""
        if self.get(name) is None:
            raise InputError(f"{self.place}: no field {name!r}; fields found: {', '.join(map(repr, self))}")
        return self.text(name) or ""

    def words(self, name: str) -> str:
        """The same of a field that is judged, where a number is a slip and not an id."""
        found = self.needed(name)
        if not isinstance(self[name], str):
            raise InputError(f"{self.place}: field {name!r} is {self[name]!r:.40}, expected a text")
        return found

    def references(self) -> tuple[str, ...]:
        """The references, from the field `refs`, or from `ref` or `reference` if there is one."""
        several = self.get("refs")
        if several is not None:
            if not isinstance(several, list) or not all(isinstance(r, str) for r in several):
                raise InputError(f"{self.place}: field 'refs' is {several!r:.40}, expected a list of strings")
            return tuple(several)
        one = self.text("ref") or self.text("reference")
        return () if one is None else (one,)

    def turns(self) -> tuple[dict[str, str], ...]:
        """The dialogue turns in the field `context`, each with `speaker` and `text`."""
        given = self.get("context") or []
        if not isinstance(given, list) or not all(
            isinstance(t, dict) and {"speaker", "text"} <= t.keys() for t in given
        ):
            raise InputError(
                f"{self.place}: field 'context' is {given!r:.40}, expected a list of turns with speaker and text"
            )
        return tuple({"speaker": str(t["speaker"]), "text": str(t["text"])} for t in given)


class SuiteRows:
    """The rows of a file or frame as (place in words, `Cells`). Each iteration reads them again.

    Cells between tabs may be `quoted`, as data frames write them.

    Attributes:
        name: the name of the file, or the kind of frame.
        refuse: what is done with a row that is none: its place, and the reason.
        faults: the bad rows that readers of pairs count.
        told: what readers of pairs have to say of the rows.
    """

    def __init__(self, given: InputFile | Frame, *, quoted: bool = False) -> None:
        self._given, self._quoted = given, quoted
        self._is_file = isinstance(given, InputFile)
        self.name: str = given.name if self._is_file else type(given).__name__
        self._names: list[str] | None = None if self._is_file else column_names(given)
        self._fields: dict[str, str] = {}  # name in the rows -> field of a pair
        self.refuse: Callable[[str, str], object] = refuse
        self.faults, self.told = Faults(self.name), list[str]()
        self._skipped: list[str] = []

    def rename(self, columns: Mapping[str, str]) -> None:
        """Read fields of a pair under other names from now on: field -> its name in the rows."""
        self._fields = {name: field for field, name in columns.items()}
        if len(self._fields) < len(columns):
            raise InputError(f"columns names one field of {self.name} twice: {dict(columns)}")

    @property
    def columns(self) -> list[str] | None:
        """The header of a table, or the fields of the first row of JSON, by our names; of a file once it is read.

        A name that stands twice in a header is numbered the second time: `source`, `source.2`.
        """
        return None if self._names is None else [self._fields.get(name, name) for name in self._names]

    def __iter__(self) -> Iterator[tuple[str, Cells]]:
        if not self._fields:
            yield from self._rows()
            return
        taken = set(self._fields.values())
        for i, (place, row) in enumerate(self._rows()):
            absent = [name for name in self._fields if name not in row]
            if absent and not i:
                found = ", ".join(map(repr, row))
                raise InputError(f"{place}: no field {absent[0]!r}, which columns names; fields found: {found}")
            kept = {name: cell for name, cell in row.items() if name in self._fields or name not in taken}
            yield place, Cells({self._fields.get(name, name): cell for name, cell in kept.items()}, place)

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass, and what was told of the rows."""
        return [*self._skipped, *self.told]

    def _rows(self) -> Iterator[tuple[str, Cells]]:
        if not self._is_file:
            return ((place, Cells(row, place)) for place, row in rows_of(self._given))
        plain = unpacked_name(self._given.path).lower()
        head = self._given.head(64).removeprefix(BOM).lstrip()
        if head[:1] in (b"[", b"{") or plain.endswith((".jsonl", ".ndjson", ".json")):
            return self._objects()
        return self._table("," if plain.endswith(".csv") else "\t")

    def _objects(self) -> Iterator[tuple[str, Cells]]:
        rows = JsonRows(self._given)
        rows.refuse = self.refuse
        for number, row in rows:
            place = rows.at(number)
            if type(row) is not dict:
                self.refuse(place, "not an object, expected one with the fields of a pair")
                continue
            if self._names is None:
                self._names = list(row)
            yield place, Cells(row, place)
        self._skipped = rows.notes()

    def _table(self, delimiter: str) -> Iterator[tuple[str, Cells]]:
        records = Records(self._given, delimiter, quoted=self._quoted)
        header: list[str] | None = None
        for number, cells in records:
            place = records.lines.at(number)
            if header is None:
                header = self._names = _distinct([cell.strip() for cell in cells])
                continue
            if len(cells) != len(header):
                self.refuse(place, f"{len(cells)} cells, expected {len(header)} as in the header")
                continue
            yield place, Cells({k: v for k, v in zip(header, cells, strict=True) if k}, place)
        self._skipped = records.notes()


def _distinct(names: list[str]) -> list[str]:
    """The names of a header, each later one of a kind with its number."""
    return [f"{name}.{n}" if (n := names[: i + 1].count(name)) > 1 and name else name for i, name in enumerate(names)]


def phenomenon_of(name: str) -> str:
    """Our id for a phenomenon of a published suite, or the suite's own name if we have none."""
    return PHENOMENA.get(name, name)


def pair_of(row: Cells, number: str) -> Pair:
    """The pair of a row in our own layout; `number` is its id if the row has none.

    Only `better` and `worse` are needed, and what the metrics read: a reference, a source or turns. What `nlgauge
    perturb` and `nlgauge.io.write_pairs` write is of this layout:

    - `better`, `worse`: the text that should score higher, and the other; or before and after a change.
    - `id`: the key, unique in the file; if absent the number of the row.
    - `ref`, `reference` or `refs`, a list: references of both texts. `src`: their source.
    - `phenomenon`: how the texts differ: a perturbation, or a name of yours. `error`: the suite's own name of it.
    - `expect`: what the worse text should score, `lower` (the default) or `same`.
    - `setup`: for which metrics the pair is: with references (`ref`), without (`src`), or both (`any`, the default).
    - `task`, `criterion`: what a checklist asks for; `--design checklist` needs both.
    - `lp` or `group`: language pair, or part of the suite.
    - `context`: turns of a dialogue, a list of `{"speaker": ..., "text": ...}`.
    - `cluster`: where the texts come from; intervals take it into account.
    - `meta`: how the pair was made; written, never read.

    An empty cell is an absent value, but `better` and `worse` may be empty texts; an id that occurs twice is refused.
    Other names are said by `--columns better=good,worse=bad`.

    Raises:
        InputError: a field is absent, or of another kind.
    """
    expect: Any = row.text("expect") or "lower"
    setup: Any = row.text("setup") or "any"
    check_option(f"{row.place}: field 'expect'", expect, Expect, error=InputError)
    check_option(f"{row.place}: field 'setup'", setup, Setup, error=InputError)
    return Pair(
        id=row.text("id") or number,
        phenomenon=phenomenon_of(row.text("phenomenon") or "pair"),
        better=row.words("better"),
        worse=row.words("worse"),
        references=row.references(),
        source=row.text("src"),
        setup=setup,
        expect=expect,
        task=row.text("task"),
        criterion=row.text("criterion"),
        group=row.text("lp") or row.text("group"),
        context=row.turns(),
        error=row.text("error") or row.text("phenomenon"),
        cluster=row.text("cluster"),
    )


def layout_of(row: Mapping[str, Any], name: str) -> str:
    """The layout of a suite that has the fields of this row of a file; a row that fits none is refused."""
    known = (
        ("adversarial", {"cand_para", "cand_adv_ref"}),
        ("menli", {"ref", "hyp_para"}),
        ("hwtsc22", {"good-translation", "incorrect-translation", "source.2"}),
        ("aces", {"good-translation", "incorrect-translation"}),
        ("demetr", {"mt_sent", "pert_sent"}),
        ("bump", {"reference_summary", "edited_summary"}),
        ("summedits", {"original_summary", "summary", "label"}),
        ("summedits", {"seed_summary", "summary", "label"}),
        ("llmbar", {"input", "output_1", "output_2", "label"}),
        ("paws", {"sentence1", "sentence2", "label"}),
        ("rank19", {"correct_sent", "incorrect_sent"}),
        ("id-pairs", {"better_id", "worse_id"}),
        ("pairs", {"better", "worse"}),
        ("rank19", {"hyp", "seg", "system"}),
    )
    for layout, fields in known:
        if fields <= row.keys():
            return layout
    shown = ", ".join(map(repr, list(row)[:12]))
    raise InputError(
        f"{name}: no layout of a suite is known with the fields {shown}; expected 'better' and 'worse', see 'nlgauge"
        " list suites'"
    )


# --- Write pairs in the form in which they are read: JSON lines or TSV. A file is written completely or not at all

_COLUMNS = ("id", "phenomenon", "task", "criterion", "expect", "setup", "lp", "src", "ref", "better", "worse", "error")


def write_pairs(suite: Suite, path: str | os.PathLike[str]) -> None:
    """Write a suite so that `read_suite` reads it again.

    JSON lines have every field (`meta` is not read again). TSV has only the first reference, and neither context nor
    `meta` nor `cluster`.

    Args:
        suite: the pairs.
        path: `.jsonl` or `.tsv`, also with `.gz`. `-` is JSON lines on standard output.

    Raises:
        InputError: the extension is another one, a text for TSV has a tab or a line break, or the file cannot be
            written.
    """
    name = os.fspath(path)
    plain = name.removesuffix(".gz")
    if name != STDOUT and not plain.endswith((".jsonl", ".tsv")):
        raise InputError(f"{name}: pairs are written as .jsonl or .tsv (also .gz)")
    lines = _tsv(suite, name) if plain.endswith(".tsv") else (msgspec.json.encode(_row(pair)) for pair in suite)
    with writing_bytes(path) as file:
        file.writelines(line + b"\n" for line in lines)


def _row(pair: Pair) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": pair.id,
        "phenomenon": pair.phenomenon,
        "task": pair.task,
        "criterion": pair.criterion,
        "expect": pair.expect,
        "setup": pair.setup,
        "lp": pair.group,
        "src": pair.source,
        "refs": list(pair.references),
        "better": pair.better,
        "worse": pair.worse,
        "error": pair.error,
        "context": [dict(turn) for turn in pair.context],
        "meta": dict(pair.meta),
        "cluster": pair.cluster,
    }
    return {key: _clean(value) for key, value in row.items() if value is not None and value != [] and value != {}}


def _clean(value: Any) -> Any:
    """Escape lone surrogates, which JSON cannot hold, as is done elsewhere."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [_clean(v) for v in value]
    if isinstance(value, dict):
        return {k: _clean(v) for k, v in value.items()}
    return value


def _tsv(suite: Suite, name: str) -> Iterator[bytes]:
    yield "\t".join(_COLUMNS).encode()
    for pair in suite:
        row = {**_row(pair), "ref": pair.references[0] if pair.references else ""}
        cells = [str(row.get(column) or "") for column in _COLUMNS]
        if any(c in cell for cell in cells for c in "\t\n\r"):
            raise InputError(f"{name}: pair {pair.id!r} holds a tab or a line break, which TSV cannot; write .jsonl")
        yield "\t".join(cells).encode("utf-8", "backslashreplace")
