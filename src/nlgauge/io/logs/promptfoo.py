"""Results of promptfoo: `-o results.json`, and a result per line from `-o results.jsonl`."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.heads import first_fields
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import (
    LogLines,
    asked,
    check_named,
    document,
    entries,
    identity,
    inner,
    item_of,
    score,
    text,
    texts,
)
from nlgauge.io.source import HeldSource

_ERROR = 2  # of `failureReason`
_STRIPPED = "[output stripped]"
_VERSIONS = (2, 3)
_WITH_REFERENCE = frozenset({"equals", "similar", "rouge-n", "bleu"})
_VARIABLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_OWN = ("score", "pass")
# variables that hold a reference, where no assertion does
_EXPECTED = ("expected", "expected_output", "reference", "ground_truth", "target", "gold")


def open_promptfoo(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the results of an evaluation.

    The item is the description of a test, or its variables; the system is made of the label of the provider and that
    of the prompt where there are several prompts. Columns are `score`, `pass` (0 or 1) and the named scores. promptfoo
    stores 0 where grading failed; that is undefined here.

    Args:
        file: the file.
        columns: `ref` and `src` are variables (`vars.answer`); `hyp` is `json` if outputs that are objects shall be
            read as their JSON. Without `ref` the references are what `equals`, `similar`, `rouge-n` and `bleu` expect,
            else a variable such as `expected`; without `src` the source is the only other variable.

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
                scores=dict(_scores(row)),
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
    found = row.get("vars")
    if type(found) is not dict:
        found = inner(row, "testCase", "vars")
    return found if type(found) is dict else {}


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
    components = inner(row, "gradingResult", "componentResults")
    listed = inner(row, "testCase", "assert")
    yield from listed if type(listed) is list else []
    yield from (inner(one, "assertion") for one in (components if type(components) is list else []))


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
    components = inner(row, "gradingResult", "componentResults")
    graders = [inner(one, "metadata", "graderError") for one in (components if type(components) is list else [])]
    # promptfoo puts the reason of a failed assertion into `error` too; then `failureReason` is 1
    errored = bool(row.get("error")) and row.get("failureReason") != 1
    return row.get("failureReason") == _ERROR or errored or any(graders)


def _scores(row: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    failed = _failed(row)
    yield "score", math.nan if failed else score(row.get("score"))
    success = row.get("success")
    yield "pass", math.nan if failed or type(success) is not bool else float(success)
    named = row.get("namedScores")
    for name, value in (named if type(named) is dict else {}).items():
        yield (f"named.{name}" if name in _OWN else name), math.nan if failed else score(value)
