"""Results of promptfoo: `-o results.json`, and a result per line from `-o results.jsonl`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.heads import first_fields
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import LogLines, asked, document, entries, inner, item_of, score, text
from nlgauge.io.source import HeldSource

_ERROR = 2  # of `failureReason`
_STRIPPED = "[output stripped]"
_VERSIONS = (2, 3)
_WITH_REFERENCE = frozenset({"equals", "similar", "rouge-n", "bleu"})
_VARIABLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_OWN = ("score", "pass")
_UNNAMED = "{}"  # the item of a test whose variables are empty, or were stripped


def open_promptfoo(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the results of an evaluation.

    The item is made of the variables and the description of a test, the system of the label of the provider and that
    of the prompt where there are several prompts. Columns are `score`, `pass` (0 or 1) and the named scores. promptfoo
    stores 0 where grading failed; that is undefined here.

    Args:
        file: the file.
        columns: `ref` and `src` are variables (`vars.answer`); `hyp` is `json` if outputs that are objects shall be
            read as their JSON. Without `ref` the references are what `equals`, `similar`, `rouge-n` and `bleu` expect;
            without `src` the source is the variable of a test that has only one.

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
    prompts = {_prompt(row) for _, row in found}
    for where, row in found:
        sample = _sample(row, where, want, len(prompts) > 1)
        if sample.item == _UNNAMED:  # the tests of a log without variables would all be runs of one item
            number = row.get("testIdx", 0)
            sample = replace(sample, item=f"test {number if type(number) is int else 0}")
            log.note("tests without variables and description: their number tells the item")
        log.add(sample)
    return log.source(notes)


def _results(whole: Any, log: Log) -> Iterator[tuple[str, dict[str, Any]]]:
    results = inner(whole, "results")
    version = inner(results, "version")
    if type(results) is dict and version not in _VERSIONS:
        log.note(f"version {version!r} of the results, read as version {_VERSIONS[-1]}")
    yield from entries(results.get("results") if type(results) is dict else results, log.file.name, "results")


def _prompt(row: Mapping[str, Any]) -> str | None:
    return text(inner(row, "prompt", "label")) or text(row.get("promptId"))


def _sample(row: Mapping[str, Any], where: str, want: Mapping[str, str], several: bool) -> Sample:
    variables = row.get("vars")
    if type(variables) is not dict:
        variables = inner(row, "testCase", "vars")
    variables = variables if type(variables) is dict else {}
    told = json.dumps(variables, sort_keys=True, ensure_ascii=False) if len(variables) != 1 else _shown(variables)
    provider = text(inner(row, "provider", "label")) or text(inner(row, "provider", "id")) or text(row.get("provider"))
    names = (provider, _prompt(row)) if several else (provider,)
    references = (
        (text(inner({"vars": variables}, *want["ref"].split("."))),) if "ref" in want else _expected(row, variables)
    )
    return Sample(
        item=item_of(*filter(None, (text(inner(row, "testCase", "description")), told))),
        hypothesis=_output(row, where, want.get("hyp")),
        references=tuple(one for one in references if one is not None),
        source=_source(variables, want.get("src")),
        system=" ".join(one for one in names if one) or None,
        scores=dict(_scores(row)),
    )


def _shown(variables: Mapping[str, Any]) -> str:
    value = next(iter(variables.values()))
    return value if type(value) is str else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _source(variables: Mapping[str, Any], want: str | None) -> str | None:
    if want is not None:
        return text(inner({"vars": variables}, *want.split(".")))
    return text(next(iter(variables.values()))) if len(variables) == 1 else None


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


def _expected(row: Mapping[str, Any], variables: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts that assertions expect, with variables put in."""
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
