"""Items of WMT25 and WMT26: one JSON object with the outputs of all systems, or of one; and answers about them."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.marks import SEVERITIES, ErrorSpan
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.fields import Fields
from nlgauge.io.files import Faults, InputFile, counted, entries, unpacked_name, write_bytes
from nlgauge.io.rows import JsonRows
from nlgauge.io.segments import HeldSource

CRITERION = "esa"
MADE = ("postedit", "pseudo")  # types of references that were made from outputs
_REFERENCE = re.compile(r"ref[A-Z]\w*")  # of the names in `tgt_text`
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:_[A-Za-z]{2,4})*")
_RATINGS = ("human", "human1", "human2", "score")
_FAILED = "FAILED"  # what WMT26's files have for a text that a system did not make
_KNOWN = "item_id doc_id src src_text source ref refs hyps tgt_text hypothesis system scores src_lang tgt_lang".split()


class ItemRows(JsonRows):
    """The rows of JSON lines of WMT25 and WMT26: an item with the outputs of all systems, or a document of one system.

    - WMT26, evaluation task: `item_id`, `src`, `ref` (`{"text": ..., "type": "postedit"}`), `hyps` (system -> text).
    - WMT25, general task with ratings: `doc_id`, `src_text`, `tgt_text` (system -> text, where `refA` is the reference)
      and `scores` (system -> `human1`, `human2`, or a list of ratings), which are criterion `esa`. One system scored
      in two rounds has two ratings; WMT's own tables take the first.
    - The outputs of one system: `doc_id`, `hypothesis`, perhaps `system`, `source`; with other fields of WMT's, such as
      `paragraphs_match` or `direction`. A folder of them beside their sources is format `wmt-general`.

    The item is `item_id` or `doc_id` as it stands. It holds the languages, which are the group (`eng_Latn-deu_Latn`,
    `cs-de_DE`): `SET_###_SRC_###_TGT_###_DOMAIN_###_DOCUMENT_###_N`, `SET_###_DOMAIN_###_SRC_###_TGT_###_DOCUMENT`, or
    `SRC-TGT_#_DOMAIN_#_DOCUMENT`. An output of null was not supplied and has no segment. References that are
    post-edited or chosen outputs (`postedit`, `pseudo`, `refPE`) are noted: they favour the systems that they came
    from.

    Args:
        file: the file.
        columns: with names of fields given, rows are read as they stand.

    Raises:
        InputError: a row has no id or no outputs, or a field is not as expected.

    References:
        wmt-conference/wmt25-general-mt and wmt26-general-mt on GitHub (their README and data/systems); of the
        evaluation task, whose data are not there, Ammonsh/WMT26-QE-baselines (README, qe_utils.py).
    """

    def __init__(self, file: InputFile, columns: Mapping[str, str] | None = None) -> None:
        super().__init__(file)
        self._is_plain = columns is not None
        self._types, self._counts = Counter[str](), Counter[str]()

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        rows = super().__iter__()
        return rows if self._is_plain else self._outputs(rows)

    def _outputs(self, rows: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
        self._types.clear()
        self._counts.clear()
        self.ignored = []
        for place, row in rows:
            try:
                yield from ((place, output) for output in self._of_item(row))
            except InputError as error:
                self.refuse(self.at(place), str(error))

    def _of_item(self, row: Any) -> Iterator[dict[str, Any]]:
        shared = self.shared(row)
        if "hypothesis" in row:
            yield {**shared, "system": row.get("system"), "hyp": self.text(row["hypothesis"])}
            return
        name = "hyps" if "hyps" in row else "tgt_text"
        texts, scores = row.get(name), row.get("scores") or {}
        for field, value in ((name, texts), ("scores", scores)):
            if type(value) is not dict or (field == name and not value):
                raise InputError(f"field {field!r} is {value!r:.40}, expected an object with a value for each system")
        for system, text in texts.items():
            if name == "tgt_text" and _REFERENCE.fullmatch(system):
                continue
            if text is None:
                self._counts["outputs were not supplied and have no segment"] += 1
                continue
            human = _ratings(scores.get(system), system)
            yield {**shared, "system": system, "hyp": self.text(text), "human": human}
        self._counts["ratings are of outputs without a text, or of the reference, and are left out"] += len(
            [system for system in scores if texts.get(system) is None or _REFERENCE.fullmatch(system)]
        )

    def shared(self, row: Any) -> dict[str, Any]:
        """What all outputs of an item have: its name, languages, source and references."""
        if type(row) is not dict:
            raise InputError("not an object, expected an item with its outputs")
        field = "item_id" if "item_id" in row else "doc_id"
        item = row.get(field)
        if type(item) is not str or not item:
            raise InputError(f"field {field!r} is {item!r:.40}, expected the name of the item")
        self.ignored += [name for name in row if name not in _KNOWN and name not in self.ignored]
        pair = [one for one in (row.get("src_lang"), row.get("tgt_lang")) if type(one) is str]
        group = "-".join(pair) if len(pair) == 2 else language_pair(item, field == "item_id")
        if group is None and "_#" in item:
            self._counts["items have a name without languages, and no group"] += 1
        source = row.get("src", row.get("src_text", row.get("source")))
        return {"seg": item, "lp": group, "src": source, "refs": [*self._references(row)]}

    def text(self, text: Any) -> Any:
        """The text of an output, counted where the system failed."""
        if text == _FAILED:
            self._counts[f"outputs say {_FAILED!r}, as where a system failed, and are scored as that text"] += 1
        return text

    def _references(self, row: Mapping[str, Any]) -> Iterator[str]:
        one, several, outputs = row.get("ref"), row.get("refs"), row.get("tgt_text")
        found: list[tuple[str, Any]] = []
        if type(one) is dict:
            found.append((str(one.get("type") or "unknown"), one.get("text")))
        elif one is not None:
            found.append(("unknown", one))
        for given in (several, outputs):
            for name, held in given.items() if type(given) is dict else ():
                if given is several or _REFERENCE.fullmatch(name):
                    kind = MADE[0] if name == "refPE" or name.startswith(MADE[0]) else "human"
                    found.append((kind, held.get("ref") if type(held) is dict else held))
        for kind, text in found:
            if type(text) not in (str, type(None)):
                raise InputError(f"a reference is {text!r:.40}, expected a text")
            if text:
                self._types[kind] += 1
                yield text

    def notes(self) -> list[str]:
        """Notes on dropped or skipped input, known after a complete pass."""
        told = [f"{n} {words}" for words, n in self._counts.items() if n]
        made = {kind: self._types[kind] for kind in MADE if self._types[kind]}
        if made:
            kinds = " and ".join(f"{n} {kind!r}" for kind, n in made.items())
            told.append(
                f"of {self._types.total()} references {kinds} were made from outputs, and favour the systems that they"
                " came from; compare with a metric that reads the source alone"
            )
        return [*super().notes(), *(f"{self.file.name}: {note}" for note in told)]


def _ratings(value: Any, system: str) -> dict[str, list[Any]]:
    """The ratings of an output, by one person or several."""
    given = value if type(value) is list else [] if value is None else [value]
    if not all(type(one) is dict for one in given):
        raise InputError(f"scores of system {system!r} are {value!r:.40}, expected an object or a list of them")
    found = [one[name] for one in given for name in _RATINGS if one.get(name) is not None]
    return {CRITERION: found} if found else {}


def language_pair(name: str, is_item: bool) -> str | None:
    """The languages that the name of an item or a document holds, as `SRC-TGT`; None where it holds none.

    Its parts stand between `_###_` (WMT26) or `_#_` (WMT25); in an `item_id` the languages come before the domain.
    """
    parts = name.split("_###_")
    if len(parts) == 1:
        first, *rest = name.split("_#_")
        pair = first.split("-") if rest else []
    else:
        start = int(len(parts) > 5) if is_item else 2  # with the set or without
        pair = parts[start : start + 2]
    return "-".join(pair) if len(pair) == 2 and all(map(_LANGUAGE.fullmatch, pair)) else None


# --- The general task's folder: sources in NAME-genmt.jsonl, and the outputs of each system in systems/SYSTEM.jsonl

_SOURCES = "*genmt.jsonl*"


def is_general(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has sources of a general task beside `systems`."""
    return os.path.isdir(Path(folder) / "systems") and bool(entries(folder, _SOURCES))


def open_general(folder: str | os.PathLike[str]) -> HeldSource:
    """Read the folder `data` of wmt25-general-mt or wmt26-general-mt: documents with the outputs of each system.

    `NAME-genmt.jsonl` has `doc_id`, `src_text` and `refs`, and `systems/SYSTEM.jsonl` has `doc_id` and `hypothesis`. A
    segment is a whole document. Documents of a system that are not among the sources are left out and counted.

    Raises:
        InputError: there are several files of sources, a row is damaged, or a document stands twice.
    """
    found = entries(folder, _SOURCES)
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InputError(f"{folder}: {names}, expected one file of sources beside systems/")
    sources = ItemRows(InputFile(found[0]), {})
    shared: dict[str, dict[str, Any]] = {}
    with _counting(sources) as faults:
        for place, row in sources:
            with faults.row(sources.at(place)):
                own = sources.shared(row)
                if shared.setdefault(own["seg"], own) is not own:
                    raise InputError(f"document {own['seg']!r} stands twice, expected once")
    files, notes, segments = [sources.file], sources.notes(), list[Segment]()
    for path in entries(Path(folder) / "systems", "*.jsonl*"):
        rows, fields, others = ItemRows(InputFile(path)), Fields(), 0
        system = Path(unpacked_name(str(path))).stem
        seen: set[str] = set()
        with _counting(rows) as faults:
            for number, (place, row) in enumerate(rows, start=1):
                with faults.row(rows.at(place)):
                    if row["seg"] in seen:
                        raise InputError(f"document {row['seg']!r} stands twice, expected once")
                    seen.add(row["seg"])
                    if row["seg"] in shared:
                        segments += fields.segments({**shared[row["seg"]], "system": system, "hyp": row["hyp"]}, number)
                    else:
                        others += 1
        files.append(rows.file)
        notes += rows.notes()
        for n, words in ((others, "without a source, left out"), (len(shared.keys() - seen), "lacking")):
            notes += [f"{rows.file.name}: {counted(n, 'document')} {words}"] if n else []
    return HeldSource(Dataset(tuple(segments), str(folder), tuple(notes)), files)


@contextmanager
def _counting(rows: ItemRows) -> Iterator[Faults]:
    """Counts the bad rows of a file inside the block, and refuses them at its end."""
    faults = Faults(rows.file.name)
    rows.refuse = faults.add
    yield faults
    faults.check()


# --- Answers to the three evaluation tasks of WMT26: one line an item, as they are sent, and what is wrong with them

TASKS = ("task1_pred", "task2_pred", "task3_pred")
_SOME = 100  # faults that are told one by one
_WHOLE = ("omission", "instruction_fault")  # errors that have no place in the text


def write_answers(
    path: str | os.PathLike[str],
    segments: Sequence[Segment],
    *,
    spans: Sequence[Iterable[ErrorSpan]] | None = None,
    scores: Scores | None = None,
    error_free: Sequence[bool] | None = None,
) -> None:
    """Write answers to WMT26's evaluation tasks for the items of a file, and refuse what the tasks do not allow.

    The layout of tasks 1 and 2 is that of the released baselines; that of a direct answer to task 3, `task3_pred` with
    0 or 1, was not published when this was written.

    Args:
        path: where to, `.jsonl`, perhaps with `.gz`.
        segments: n outputs, as `nlgauge.read` reads the task's file.
        spans: of each output the errors, for task 1. One that is missing is the omission, or the instruction fault if
            its category says so; the worst counts. Errors of other texts than the hypothesis are left out.
        scores: of these segments, from 0 to 100, for task 2. Rescale others first.
        error_free: whether each output has no error, for task 3, which forbids references: decide by a metric that
            reads the source alone. People call a text error-free that has 85 of 100 or more and no span.

    Raises:
        InputError: no task is answered, an answer is not one of each segment's, an output has two, or a value is not
            allowed.

    References:
        www2.statmt.org/wmt26/mteval-subtask1.html to -subtask3.html; Ammonsh/WMT26-QE-baselines (README, qe_utils.py).
    """
    given: dict[str, Sequence[Any]] = {}
    if spans is not None:
        given[TASKS[0]] = [_marked(one) for one in spans]
    if scores is not None:
        if scores.ids != tuple(segment.id for segment in segments):
            raise InputError(f"the scores are not those of the {len(segments)} segments beside them")
        given[TASKS[1]] = scores.values.tolist()
    if error_free is not None:
        given[TASKS[2]] = [int(one) if isinstance(one, (bool, np.bool_, np.integer)) else one for one in error_free]
    if not given:
        raise InputError("no answers, expected spans, scores or error_free")
    rows: dict[str, dict[str, Any]] = {}
    texts = _texts(segments)
    for task, values in given.items():
        if len(values) != len(segments):
            raise InputError(f"{task}: {len(values)} answers, expected {len(segments)}, one for each segment")
        for segment, value in zip(segments, values, strict=True):
            answers = rows.setdefault(str(segment.item), {"item_id": segment.item}).setdefault(task, {})
            if segment.system in answers:
                raise InputError(
                    f"{task}: item {segment.item!r} of system {segment.system!r} has two answers, expected one"
                )
            answers[segment.system] = value
    for row in rows.values():
        for fault in _faults_of(row, texts):
            raise InputError(f"{os.fspath(path)}: item {row['item_id']!r}, {fault}")
    write_bytes(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values()).encode())


def _marked(spans: Iterable[ErrorSpan]) -> dict[str, Any]:
    """The errors of one output as task 1 has them."""
    own = [span for span in spans if span.side == "hyp"]
    whole: dict[str, list[str]] = {name: [] for name in _WHOLE}
    for span in own:
        if span.missing:
            whole[_WHOLE["instruction" in (span.category or "").lower()]].append(span.severity)
    errors = [
        {"start": span.start, "end": span.end, "severity": span.severity, "category": span.category}
        for span in sorted(own)
        if not span.missing
    ]
    return {"errors": errors, **{name: max(found, key=SEVERITIES.index, default=None) for name, found in whole.items()}}


def _texts(segments: Iterable[Segment]) -> dict[str, dict[str, str]]:
    """Item -> system -> its text."""
    texts: dict[str, dict[str, str]] = {}
    for segment in segments:
        if segment.item is None or segment.system is None:
            what = "item" if segment.item is None else "system"
            raise InputError(f"segment {segment.id!r} names no {what}, which answers name")
        if texts.setdefault(segment.item, {}).setdefault(segment.system, segment.hypothesis) != segment.hypothesis:
            raise InputError(f"item {segment.item!r} of system {segment.system!r} has two texts; name one --lp")
    return texts


def check_answers(path: str | os.PathLike[str], segments: Sequence[Segment]) -> tuple[str, list[str]]:
    """Whether answers to WMT26's evaluation tasks fit the items: `nlgauge meta check ITEMS ANSWERS`.

    Every line is an object with `item_id` and at least one of `task1_pred`, `task2_pred` and `task3_pred`, which have
    an answer for each system of the item. A task that one line answers has an answer for every output. Of task 1 the
    spans lie in the text, their end is not included, and severities are minor or major; scores of task 2 are 0 to 100;
    task 3 has 0 or 1.

    Args:
        path: the answers.
        segments: the outputs, as `nlgauge.read` reads the task's file.

    Returns:
        What was expected, in words, and a line for each fault, of which the first 100 are told.

    Raises:
        InputError: the file cannot be read at all.
    """
    texts, rows, faults = _texts(segments), JsonRows(InputFile(path)), list[str]()
    rows.refuse = lambda place, reason: faults.append(f"line {place.removeprefix(f'{rows.file.name}:')}: {reason}")
    first: dict[str, str] = {}
    answered: dict[str, set[tuple[str, str]]] = {}
    for number, row in rows:
        where = f"line {number}"
        faults += [f"{where}: {fault}" for fault in _faults_of(row, texts)]
        item = row.get("item_id") if type(row) is dict else None
        if type(item) is not str or item not in texts:
            continue
        if first.setdefault(item, where) != where:
            faults.append(f"{where}: item {item!r} for the second time, first in {first[item]}")
        for task in TASKS:
            given = row.get(task)
            if type(given) is dict:
                answered.setdefault(task, set()).update((item, system) for system in given)
    every = {(item, system): None for item, systems in texts.items() for system in systems}
    for task, there in answered.items():
        lacking = [key for key in every if key not in there]
        if lacking:
            item, system = lacking[0]
            faults.append(
                f"{task} lacks {len(lacking)} of {counted(len(every), 'output')}, first {item!r} of {system!r}"
            )
    if not answered and not faults:
        faults.append("no answers, expected a line for each item")
    if len(faults) > _SOME:
        faults = [*faults[:_SOME], f"and {counted(len(faults) - _SOME, 'fault')} more"]
    told = ", ".join(answered) or "answers"
    return f"{told} for {counted(len(every), 'output')} of {counted(len(texts), 'item')}", faults


def _faults_of(row: Any, texts: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """What is wrong with the answers about one item."""
    if type(row) is not dict or type(row.get("item_id")) is not str:
        yield "expected an object with 'item_id' and answers"
        return
    if row["item_id"] not in texts:
        yield f"item {row['item_id']!r:.80} is not among the items"
        return
    if not any(task in row for task in TASKS):
        yield f"no answer, expected one of {', '.join(TASKS)}"
    for task, fault_of in zip(TASKS, (_fault_of_spans, _fault_of_score, _fault_of_label), strict=True):
        given, outputs = row.get(task, {}), texts[row["item_id"]]
        if type(given) is not dict:
            yield f"{task} is {given!r:.40}, expected an object, system -> answer"
            continue
        for system, value in given.items():
            fault = fault_of(value, outputs[system]) if system in outputs else "is no system of the item"
            if fault:
                yield f"{task}, {system!r}: {fault}"


def _fault_of_spans(value: Any, text: str) -> str | None:
    if type(value) is not dict or type(value.get("errors")) is not list:
        return f"{value!r:.40}, expected an object with the list 'errors', and {' and '.join(_WHOLE)}"
    for name in _WHOLE:
        if name not in value or value[name] not in (None, *SEVERITIES):
            return f"{name} is {value.get(name, 'missing')!r:.40}, expected null, minor or major"
    for place, one in enumerate(value["errors"]):
        if type(one) is not dict:
            return f"errors[{place}] is {one!r:.40}, expected an object"
        start, end = one.get("start"), one.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            return (
                f"errors[{place}] goes from {start!r:.20} to {end!r:.20} in a text of {len(text)} characters, expected"
                " whole numbers in order, the end not included"
            )
        if one.get("severity") not in SEVERITIES:
            return f"errors[{place}]: severity {one.get('severity')!r:.40}, expected minor or major"
        if type(one.get("category")) not in (str, type(None)):
            return f"errors[{place}]: category {one['category']!r:.40}, expected text or null"
    return None


def _fault_of_score(value: Any, _: str) -> str | None:
    sound = type(value) in (int, float) and 0 <= value <= 100
    return None if sound else f"{value!r:.40}, expected a number from 0 to 100"


def _fault_of_label(value: Any, _: str) -> str | None:
    return None if type(value) is int and value in (0, 1) else f"{value!r:.40}, expected 1 (error-free) or 0"
