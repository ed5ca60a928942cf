"""Logs of tools for tests: deepeval, promptfoo and inspect_ai."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.io.logs.rows import (
    Archive,
    Log,
    LogLines,
    Sample,
    asked,
    check_named,
    document,
    entries,
    fields,
    identity,
    inner,
    item_in,
    item_of,
    listed,
    message,
    parsed,
    score,
    text,
    text_of_bytes,
    texts,
    verdict,
)
from nlgauge.io.rows import first_fields
from nlgauge.io.segments import HeldSource

_SOURCES = ("input", "context", "retrievalContext")


def open_deepeval(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the cases of a test run of deepeval, `test_run_DATE.json` or `.latest_test_run.json`.

    The item is made of the input and the expected output: names such as `test_case_0` change from run to run. Columns
    are the metrics, `NAME.pass` for the verdict of each, and `pass` for that of the case. Of Bias, Toxicity and
    Hallucination the lower score is the better one. No system is named.

    Args:
        file: the file.
        columns: `src` is `input`, `context` or `retrievalContext`; the first if it is not named.

    Raises:
        InputError: there is no list of cases, or columns name another field.
    """
    want = asked(columns, ("src",), file.name).get("src", "input")
    if want not in _SOURCES:
        raise InputError(f"{file.name}: columns name {want!r} as src, expected {' or '.join(_SOURCES)}")
    whole = document(file)
    run = inner(whole, "testRunData") or whole
    log = Log(file)
    talks = listed(run, "conversationalTestCases")
    if talks:
        log.count("conversational cases are left out", len(talks))
    for _, case in entries(inner(run, "testCases"), file.name, "testCases"):
        log.add(
            Sample(
                item=item_of(*filter(None, (text(case.get("input")), text(case.get("expectedOutput"))))),
                hypothesis=text(case.get("actualOutput")),
                references=texts(case.get("expectedOutput")),
                source="\n".join(texts(case.get(want))) or None,
                scores=log.scores(_deepeval_scores(case, log)),
            )
        )
    return log.source()


def _deepeval_scores(case: Mapping[str, Any], log: Log) -> Iterator[tuple[str, float]]:
    for one in listed(case, "metricsData"):
        metric = text(inner(one, "name"))
        if metric is None:
            continue
        if inner(one, "flaky") is True:
            log.note(f"{metric!r} is marked flaky: deepeval does not let it decide")
        failed = inner(one, "error") is not None
        yield metric, math.nan if failed else score(inner(one, "score"))
        yield f"{metric}.pass", math.nan if failed else verdict(inner(one, "success"))
    success = case.get("success")
    if type(success) is bool:
        yield "pass", float(success)


# --- Results of promptfoo: `-o results.json`, and a result per line from `-o results.jsonl`

_ERROR = 2  # of `failureReason`
_STRIPPED = "[output stripped]"
_VERSIONS = (2, 3)
_WITH_REFERENCE = frozenset({"equals", "similar", "rouge-n", "bleu"})
_VARIABLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_GRADED = ("gradingResult", "componentResults")
_OWN = ("score", "pass")
# variables that hold a reference, where no assertion does
_EXPECTED = ("expected", "expected_output", "reference", "ground_truth", "target", "gold")


def open_promptfoo(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the results of an evaluation of promptfoo, `-o results.json` or `-o results.jsonl`.

    The item is the description of a test, or its variables; the system is made of the label of the provider and that of
    the prompt where there are several prompts. Columns are `score`, `pass` (0 or 1) and the named scores. Where a
    provider or a grader failed the score is undefined.

    Args:
        file: the file.
        columns: `ref` and `src` are variables (`--columns ref=vars.answer`); `hyp` is `json` if outputs that are
            objects shall be read as their JSON. Without `ref` the references are what `equals`, `similar`, `rouge-n`
            and `bleu` expect, else a variable such as `expected`; without `src` the source is the only other variable.

    Raises:
        InputError: outputs were stripped, or are objects and that was not asked for.
    """
    want = asked(columns, ("hyp", "ref", "src"), file.name)
    log, notes = Log(file), list[str]()
    head = file.head(1 << 20).decode("utf-8", "replace")
    if "promptIdx" in first_fields(head.removeprefix("\ufeff")):
        lines = LogLines(file)
        found = list(lines)
        notes = lines.notes()
    else:
        found = list(_results(document(file), log))
    rows = [row for _, row in found]
    asserted = [_asserted(row) for row in rows]
    ref = want.get("ref") or (None if any(asserted) else _expected(rows, log))
    for field in ("ref", "src"):
        is_there = any(_variable(row, want.get(field, "")) is not None for row in rows)
        check_named(want, field, is_there, (name for row in rows for name in _variables(row)), file.name)
    for (where, row), system, item, texts_of in zip(
        found, _systems(rows, log), _items(rows, log), asserted, strict=True
    ):
        log.add(
            Sample(
                item=item,
                hypothesis=_output(row, where, want.get("hyp")),
                references=texts_of if ref is None else texts(_variable(row, ref)),
                source=_source(row, want.get("src"), ref),
                system=system or None,
                scores=dict(_promptfoo_scores(row)),
            )
        )
    return log.source(notes)


def _results(whole: Any, log: Log) -> Iterator[tuple[str, dict[str, Any]]]:
    results = inner(whole, "results")
    version = inner(results, "version")
    if type(results) is dict and version not in _VERSIONS:
        log.note(f"version {version!r} of the results, read as version {_VERSIONS[-1]}")
    yield from entries(results.get("results") if type(results) is dict else results, log.file.name, "results")


def _prompt(row: Mapping[str, Any]) -> str | None:
    return text(inner(row, "prompt", "label")) or text(row.get("promptId"))


def _variables(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields(row, "vars") if type(row.get("vars")) is dict else fields(row, "testCase", "vars")


def _variable(row: Mapping[str, Any], name: str) -> Any:
    """The variable `vars.NAME` or NAME, or a field of one that is an object."""
    variables, bare = _variables(row), name.removeprefix("vars.")
    return variables[bare] if bare in variables else inner(variables, *bare.split("."))


def _systems(rows: Sequence[Mapping[str, Any]], log: Log) -> list[str]:
    """The system of each row: the provider, and the prompt if there are several; of columns alike also the number."""
    several = len({_prompt(row) for row in rows}) > 1
    names, columns = list[str](), dict[str, dict[Any, None]]()
    for row in rows:
        provider = text(inner(row, "provider", "label")) or text(inner(row, "provider", "id"))
        parts = (provider or text(row.get("provider")), _prompt(row) if several else None)
        names.append(" ".join(part for part in parts if part))
        columns.setdefault(names[-1], {})[_column(row)] = None
    for name in (name for name, own in columns.items() if len(own) > 1):
        log.note(f"{len(columns[name])} columns are called {name!r}, which are told apart by their order")
    return [
        name if len(columns[name]) == 1 else f"{name} (column {list(columns[name]).index(_column(row)) + 1})".lstrip()
        for name, row in zip(names, rows, strict=True)
    ]


def _column(row: Mapping[str, Any]) -> str | int | None:
    """What tells the columns of promptfoo's table apart, each a provider with a prompt."""
    return identity(row.get("promptIdx"))


def _items(rows: Sequence[Mapping[str, Any]], log: Log) -> list[str]:
    """The item of each row: the description of its test, else its variables; both where other tests have that name."""
    tests = list[tuple[str | None, str]]()
    names = dict[tuple[str | None, str], str]()
    for row in rows:
        variables, description = _variables(row), text(inner(row, "testCase", "description"))
        told = json.dumps(variables, sort_keys=True, ensure_ascii=False)
        shown = " ".join(_shown(value) for value in variables.values())
        if not variables and description is None:  # the tests of a log without variables would be runs of one item
            number = row.get("testIdx", 0)
            told = f"test {number if type(number) is int else 0}"
            log.note("tests without variables and description: their number tells the item")
        tests.append((description, told))
        by_texts = item_of(shown) if len(variables) == 1 else item_of(told, shown=shown)
        names[tests[-1]] = item_of(description) if description else by_texts
    times = Counter(names.values())
    return [names[test] if times[names[test]] == 1 else item_of(*filter(None, test)) for test in tests]


def _shown(value: Any) -> str:
    return value if type(value) is str else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _expected(rows: Sequence[Mapping[str, Any]], log: Log) -> str | None:
    """The variable that holds references by its name, beside one that holds the input."""
    there = {name for row in rows for name in _variables(row)}
    found = next((name for name in _EXPECTED if name in there), None) if len(there) > 1 else None
    if found is not None:
        log.note(f"references are the variable {found!r}; another one is named with --columns ref=vars.NAME")
    return found


def _source(row: Mapping[str, Any], want: str | None, ref: str | None) -> str | None:
    if want is not None:
        return text(_variable(row, want))
    others = [value for name, value in _variables(row).items() if name != (ref or "").removeprefix("vars.")]
    return text(others[0]) if len(others) == 1 else None


def _output(row: Mapping[str, Any], where: str, want: str | None) -> str | None:
    output = inner(row, "response", "output")
    if output == _STRIPPED:
        raise InputError(
            f"{where}: the output was stripped when the log was written; run promptfoo without"
            " PROMPTFOO_STRIP_RESPONSE_OUTPUT and export again"
        )
    if output is None or type(output) is str:
        return output
    if want != "json":
        raise InputError(
            f"{where}: the output is {'an object' if type(output) is dict else 'no text'}, expected a string; to score"
            " its JSON name it: --columns hyp=json"
        )
    return json.dumps(output, sort_keys=True, ensure_ascii=False)


def _assertions(row: Mapping[str, Any]) -> Iterator[Any]:
    yield from listed(row, "testCase", "assert")
    yield from (inner(one, "assertion") for one in listed(row, *_GRADED))


def _asserted(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that assertions expect, with variables put in."""
    variables = _variables(row)
    found = dict[str, None]()
    for one in _assertions(row):
        value = inner(one, "value")
        if text(inner(one, "type")) in _WITH_REFERENCE:
            for expected in value if type(value) is list else [value]:
                if type(expected) is str:
                    found[_VARIABLE.sub(lambda m: text(inner(variables, m[1])) or m[0], expected)] = None
    return tuple(found)


def _failed(row: Mapping[str, Any]) -> bool:
    """Whether there was an error, of the model or of what grades it, so that a score says nothing."""
    graders = [inner(one, "metadata", "graderError") for one in listed(row, *_GRADED)]
    # promptfoo puts the reason of a failed assertion into `error` too; then `failureReason` is 1
    errored = bool(row.get("error")) and row.get("failureReason") != 1
    return row.get("failureReason") == _ERROR or errored or any(graders)


def _promptfoo_scores(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    failed = _failed(row)
    yield "score", math.nan if failed else score(row.get("score"))
    yield "pass", math.nan if failed else verdict(row.get("success"))
    for name, value in fields(row, "namedScores").items():
        yield (f"named.{name}" if name in _OWN else name), math.nan if failed else score(value)


# --- Logs of inspect_ai: `.eval`, a zip archive with a member per sample, and the same as one object of JSON

_GRADES = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?")
_NATURAL = re.compile(r"0|[1-9][0-9]{0,11}")
_SHELL = "/sample.json"
_TEXTS = "/attachments"
_ATTACHMENT = "attachment://"
_Sample = tuple[dict[str, Any], Callable[[str], Any]]  # and what finds a long text by the name that stands for it


def open_inspect(file: InputFile) -> HeldSource:
    """Read a log of inspect_ai: `.eval`, or its JSON.

    The item is the id of the sample, a run is an epoch, the system is the model and the group is the task. Grades are
    numbers (C 1, P 0.5, I and N 0); a score of several values has a column for each. Yes is 1 and no is 0; what is no
    number is undefined.

    Of a sample that was stored twice after a retry the last counts. A run that was cancelled is read, and a note says
    how many samples it has.

    Raises:
        InputError: the log is damaged, or holds no sample.
    """
    if not file.head(4).startswith(b"PK"):
        whole = document(file)
        if type(whole) is not dict:
            raise InputError(f"{file.name}: not an object, expected a log of inspect_ai")
        samples = entries(whole.get("samples"), file.name, "samples")
        return _read(file, whole, (_with_texts(sample) for _, sample in samples))
    archive = Archive(file)
    try:
        names = archive.names
        head = next((one for one in ("header.json", "_journal/start.json") if one in names), None)
        if head is None:
            raise InputError(f"{file.name}: a zip archive without header.json, expected a log of inspect_ai")
        return _read(file, _member(archive, head), _members(archive))
    finally:
        archive.close()


def _value(archive: Archive, member: str) -> Any:
    where = archive.at(member)
    return parsed(text_of_bytes(archive.read(member), where), archive.file, where)


def _member(archive: Archive, member: str) -> dict[str, Any]:
    value = _value(archive, member)
    if type(value) is not dict:
        raise InputError(f"{archive.at(member)}: not an object, expected one")
    return value


def _with_texts(sample: dict[str, Any]) -> _Sample:
    return sample, lambda name: inner(sample, "attachments", name)


def _members(archive: Archive) -> Iterator[_Sample]:
    """The samples of an archive: whole ones, and the shells of those that lie there in pieces."""
    shells = {name.removesuffix(_SHELL) for name in archive.names if name.endswith(_SHELL)}
    starts: dict[str, list[int]] = {}  # folder of long texts -> the numbers that begin its members
    for member in archive.names:
        folder, _, name = member.removesuffix(".json").rpartition("/")
        if folder.endswith(_TEXTS) and _NATURAL.fullmatch(name):
            starts.setdefault(folder, []).append(int(name))
    for member in archive.names:
        if not member.startswith("samples/") or not member.endswith(".json"):
            continue
        if member.endswith(_SHELL):
            folder = member.removesuffix(_SHELL) + _TEXTS
            yield _member(archive, member), _in_pieces(archive, folder, sorted(starts.get(folder, ())))
        elif shells.isdisjoint(_folders(member)):  # an id may hold a slash
            yield _with_texts(_member(archive, member))


def _folders(member: str) -> Iterator[str]:
    """The folders of a member, the innermost first."""
    while folder := member.rpartition("/")[0]:
        yield folder
        member = folder


def _in_pieces(archive: Archive, folder: str, starts: Sequence[int]) -> Callable[[str], Any]:
    """What finds the long texts of a sample in pieces: lists of strings, each named by its first number."""
    read: dict[int, list[Any]] = {}  # the list that was read last

    def find(name: str) -> Any:
        """The string of this number; None if there is none."""
        before = bisect_right(starts, int(name)) if _NATURAL.fullmatch(name) else 0
        if not before:
            return None
        start = starts[before - 1]
        if start not in read:
            read.clear()
            read[start] = listed(_value(archive, f"{folder}/{start}.json"))
        place = int(name) - start
        return read[start][place] if place < len(read[start]) else None

    return find


def _read(file: InputFile, head: Mapping[str, Any], samples: Iterator[_Sample]) -> HeldSource:
    log = Log(file)
    about = head.get("eval")
    model, task = text(inner(about, "model")), text(inner(about, "task"))
    n = 0
    for sample, find in samples:
        n += 1
        log.add(_sample(sample, find, model, task, log, f"{file.name}, sample {n}"))
    status, version = head.get("status"), head.get("version")
    if version not in _VERSIONS:
        log.note(f"version {version!r} of the log, read as version {_VERSIONS[0]}")
    if status != "success":
        all_of = inner(about, "dataset", "samples")
        epochs = inner(about, "config", "epochs")
        known = type(all_of) is int and type(epochs) in (int, type(None))
        told = f" of {all_of * (epochs or 1)}" if known else ""
        log.note(f"the status is {str(status or 'unknown')!r}, {n}{told} samples are in the log")
    if head.get("invalidated") is True:
        log.note("the log was declared invalid")
    return log.source()


def _sample(
    sample: Mapping[str, Any],
    find: Callable[[str], Any],
    model: str | None,
    task: str | None,
    log: Log,
    where: str,
) -> Sample:
    item, epoch = item_in(sample, "id", where, "a string or a number"), sample.get("epoch", 1)
    if type(epoch) is not int:
        raise InputError(f"{where}: field 'epoch' is {epoch!r:.40}, expected a whole number")

    def whole(value: str | None) -> str | None:
        """A text, or the long text that it stands for."""
        if value is None or not value.startswith(_ATTACHMENT):
            return value
        found = text(find(value.removeprefix(_ATTACHMENT)))
        if found is None:
            log.count("texts stand in attachments that the log does not hold")
        return found

    failed = sample.get("error") is not None
    found = whole(_completion(sample.get("output")))
    scores = log.scores(_inspect_scores(sample))
    if sample.get("invalidation") is not None:
        log.count("samples declared invalid, their scores undefined")
        scores = dict.fromkeys(scores, math.nan)
    return Sample(
        item=item,
        hypothesis=None if failed and not found else found,
        references=tuple(ref for one in texts(sample.get("target")) if (ref := whole(one)) is not None),
        source=whole(_asked(sample.get("input"))),
        system=model,
        group=task,
        repeat=epoch,
        scores=dict.fromkeys(scores, math.nan) if failed else scores,
    )


def _completion(output: Any) -> str | None:
    found = text(inner(output, "completion"))
    if found is not None:
        return found
    first = next(iter(listed(output, "choices")), None)
    return message(inner(first, "message", "content"))


def _asked(value: Any) -> str | None:
    """The input: a text, or what the user said in a list of messages."""
    if type(value) is not list:
        return text(value)
    said = [message(inner(one, "content")) for one in value if inner(one, "role") in ("user", None)]
    return "\n".join(one for one in said if one is not None) or None


def _inspect_scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    scorers = sample.get("scores")
    if type(scorers) is not dict:
        scorers = {"score": sample["score"]} if sample.get("score") is not None else {}
    for scorer, found in scorers.items():
        value = found.get("value") if type(found) is dict else found
        if type(value) is dict:
            yield from ((f"{scorer}.{key}", _graded(one)) for key, one in value.items())
        elif type(value) is list:
            yield from ((f"{scorer}.{place}", _graded(one)) for place, one in enumerate(value, start=1))
        else:
            yield scorer, _graded(value)


def _graded(value: Any) -> float:
    """The number of a score; NaN for what is none."""
    if type(value) is not str:
        return score(value)
    told = value.strip().lower()
    return score(float(told)) if _NUMBER.fullmatch(told) else _GRADES.get(told, math.nan)
