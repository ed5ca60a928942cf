"""Samples of lm-evaluation-harness: `samples_TASK_DATE.jsonl`, a row for each document and filter."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain
from pathlib import PurePath
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import printed_list
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Item, Log, Sample
from nlgauge.io.logs.values import LogLines, asked, check_named, identity, inner, score, text
from nlgauge.io.source import HeldSource

_KNOWN = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
_QUESTIONS = ("question", "query", "input", "source", "src", "document", "article", "text")
_FILTER = "filter:"
_NO_MATCH = "[invalid]"  # stands where a filter by pattern found nothing
_NAME = re.compile(r"samples_(.+)_[0-9T:.-]+\.jsonl?(?:\.gz)?")


def open_lmeval(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the samples of one task.

    The item is `doc_id`, the hypothesis the filtered response, the reference `target`, the group the task in the name
    of the file. The source is the first field of the document that is named as a question or a text.

    Args:
        file: the file.
        columns: `hyp` is `filter:NAME` where rows have several filters, or `resps` for what the model said before any
            filter; `src` is `prompt`, or a field of the document.

    Raises:
        InputError: there are several filters and none is named, or responses are likelihoods of choices.
    """
    want = asked(columns, ("hyp", "src"), file.name)
    rows = LogLines(file)
    log = Log(file)
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    seen: Counter[Item] = Counter()
    for where, row in rows:
        item = identity(row.get("doc_id"))
        if item is None:
            raise InputError(f"{where}: field 'doc_id' is missing, expected a number")
        seen[item] += 1
        found.setdefault(text(row.get("filter")) or f"{seen[item]}", []).append((where, row))
    chosen = _filter(found, want.get("hyp"), file.name)
    named = _NAME.fullmatch(PurePath(file.path).name)
    of_filter = found.get(chosen, [])
    is_there = any(_source(row, want.get("src")) is not None for _, row in of_filter)
    fields = chain(("prompt",), (name for _, row in of_filter for name in _doc(row)))
    check_named(want, "src", is_there, fields, file.name)
    for where, row in of_filter:
        scores = log.scores(_scores(row, log))
        said = _said(row, want.get("hyp") == "resps", where)
        if _NO_MATCH in said and _NO_MATCH not in _said(row, True, where):
            said = ["" if one == _NO_MATCH else one for one in said]
            log.count(f"documents have answers in which the filter found nothing ({_NO_MATCH}); these are empty")
        references = _references(row, log)
        answers: list[str | None] = [*said] or [None]
        for one in answers:
            log.add(
                Sample(
                    item=row["doc_id"],
                    hypothesis=one,
                    references=references,
                    source=_source(row, want.get("src")),
                    group=named[1] if named else None,
                    scores=scores,
                )
            )
        if len(said) > 1:
            log.note("scores are of all responses to an item together, and stand beside each of them")
    return log.source(rows.notes())


def _filter(found: Mapping[str, Any], hyp: str | None, file: str) -> str:
    """The filter whose rows are read."""
    if not found:
        return ""
    if hyp is not None and hyp != "resps" and not hyp.startswith(_FILTER):
        raise InputError(f"{file}: columns name {hyp!r} as hyp, expected resps or {_FILTER}NAME")
    if hyp is not None and hyp.startswith(_FILTER):
        chosen = hyp.removeprefix(_FILTER)
        if chosen not in found:
            raise InputError(f"{file}: no filter {chosen!r}; filters found: {', '.join(map(_shown, found))}")
        return chosen
    if len(found) > 1 and hyp is None:
        first = _shown(next(iter(found)))
        raise InputError(
            f"{file}: {len(found)} filters ({', '.join(map(_shown, found))}), each with rows of its own; name one:"
            f" --columns hyp={_FILTER}{first}"
        )
    return next(iter(found))


def _shown(filter_name: str) -> str:
    """The name of a filter in an error, which is one line whatever the name holds."""
    return filter_name if filter_name.isprintable() else repr(filter_name)


def _said(row: Mapping[str, Any], raw: bool, where: str) -> list[str]:
    """The texts of a row, one per repeat; none if there is no response."""
    value = row.get("resps") if raw else row.get("filtered_resps", row.get("resps"))
    if type(value) is str:  # lmms-eval
        return [value]
    flat = value if type(value) is list else []
    if flat and type(flat[0]) is list:
        flat = flat[0]
    arguments = row.get("arguments")
    several = isinstance(arguments, list | dict) and len(arguments) > 1
    if several or (len(flat) == 2 and flat[1] in ("True", "False", True, False)):
        raise InputError(f"{where}: responses are likelihoods of choices, expected texts; this task has no hypothesis")
    return [one for one in flat if type(one) is str]


def _doc(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the data set."""
    doc = row.get("doc")
    return doc if type(doc) is dict else {}


def _references(row: Mapping[str, Any], log: Log) -> tuple[str, ...]:
    """The target; where it has several answers, the harness stores the list of them as one text."""
    target = row.get("target")
    if type(target) is list and target and all(type(one) is str for one in target):
        return tuple(dict.fromkeys(target))
    if target is None or type(target) is not str:
        return () if target is None else (str(target),)
    answers = printed_list(target)
    if answers is None or target in _doc(row).values():  # a text that looks like a list
        return (target,)
    log.count("targets are lists of answers stored as texts, of which each answer is a reference")
    return tuple(dict.fromkeys(answers))


def _source(row: Mapping[str, Any], want: str | None) -> str | None:
    if want == "prompt":
        arguments = row.get("arguments")
        if type(arguments) is list:
            first = arguments[0] if arguments else None
            return text(first[0]) if type(first) is list and first else None
        return text(inner(arguments, "gen_args_0", "arg_0"))
    doc = _doc(row)
    if want is not None:
        return text(inner(doc, *want.removeprefix("doc.").split(".")))
    return next((found for field in _QUESTIONS if (found := text(inner(doc, field))) is not None), None)


def _scores(row: Mapping[str, Any], log: Log) -> list[tuple[str, float]]:
    listed = row.get("metrics")
    names = [one for one in listed if type(one) is str] if type(listed) is list else [n for n in row if n not in _KNOWN]
    names = list(dict.fromkeys(names))
    found = []
    for metric in names:
        value = row.get(metric)
        if type(value) is list:
            log.note(f"{metric!r} is a number of the whole corpus, of which rows hold only a part: left out")
        elif listed is not None or not math.isnan(score(value)):
            found.append((metric, score(value)))
    return found
