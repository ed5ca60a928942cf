"""Traces of MLflow: what was asked and answered, with the feedback of judges, people and code on it."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.heads import first_fields
from nlgauge.io.logs.openai import answer_of
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import (
    LogLines,
    asked,
    check_named,
    document,
    entries,
    inner,
    item_of,
    message,
    parsed,
    score,
    text,
    texts,
)
from nlgauge.io.source import HeldSource

_ANSWERS = ("response", "answer", "output", "outputs", "prediction", "result", "content", "text")
_QUESTIONS = ("question", "query", "request", "input", "inputs", "prompt")
_REFERENCE = "expected_response"  # the usual name of an expectation that is an answer
_SYSTEM = ("mlflow.modelId", "mlflow.sourceRun")
_RATINGS = {"yes": 1.0, "no": 0.0}
_Feedback = tuple[str, str, float]  # its name, who gave it, and its value


def open_traces(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read traces, one a line, in a list, or as `mlflow traces search --output json` prints them.

    The item is made of the inputs, since ids of traces are new in each run; traces with the same inputs are runs. The
    system is the logged model, else the run. Columns are the names of the feedback, `NAME.human`, `NAME.llm_judge` and
    `NAME.code` where several kinds of source gave it; yes and no are 1 and 0. Feedback that was overridden is left out,
    and so is that on a part of a trace.

    Args:
        file: the file.
        columns: `hyp` is a field of the outputs, `src` one of the inputs, `ref` the name of an expectation; in place of
            the usual ones.

    Raises:
        InputError: outputs are no text and no field of them is named, or a trace is none.
    """
    want = asked(columns, ("hyp", "ref", "src"), file.name)
    log = Log(file)
    rows, notes = _rows(file)
    found = [(where, *_judged(info, root, log)) for where, info, root in (_parts(file, *row) for row in rows)]
    kinds: dict[str, set[str]] = {}
    for *_, feedback in found:
        for name, kind, _ in feedback:
            kinds.setdefault(name, set()).add(kind)
    names = [name for *_, expected, _ in found for name in expected]
    check_named(want, "ref", want.get("ref") in names, names, file.name)
    sourced, fields = False, dict[str, None]()
    for where, info, root, expected, feedback in found:
        given, said = (
            _stored(file, inner(root, "attributes", key)) for key in ("mlflow.spanInputs", "mlflow.spanOutputs")
        )
        if root is None:
            given, said = (_stored(file, info.get(key)) for key in ("request_preview", "response_preview"))
            log.count("traces have no spans; their previews, which may be cut, are read")
        source = _source(given, want.get("src"))
        sourced |= source is not None
        failed = (info.get("state") or info.get("status")) not in (None, "OK")
        log.add(
            Sample(
                item=_item(given, info),
                hypothesis=None if failed or said is None else _hypothesis(said, want.get("hyp"), where),
                references=tuple(expected.get(want.get("ref", _REFERENCE), ())),
                source=source,
                system=next((one for key in _SYSTEM if (one := text(inner(info, "trace_metadata", key)))), None),
                scores=_scores(feedback, kinds, log),
            )
        )
        fields.update(dict.fromkeys(given if type(given) is dict else ()))
    check_named(want, "src", sourced, fields, file.name)
    return log.source(notes)


def _rows(file: InputFile) -> tuple[list[tuple[str, dict[str, Any]]], list[str]]:
    """The traces with their places, and notes on the file."""
    head = file.head(1 << 20).decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if "traces" in first_fields(head):
        return list(entries(inner(document(file), "traces"), file.name, "traces")), []
    if head.partition("\n")[0].strip() == "{":  # one trace on many lines
        return list(entries([document(file)], file.name, "")), []
    lines = LogLines(file)
    return list(lines), lines.notes()


def _parts(file: InputFile, where: str, row: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
    """What is known of a trace, and its root span if it has any. A row of `mlflow.search_traces` holds it as a text."""
    if type(row.get("trace")) is str:
        row = parsed(row["trace"], file, where)
    info, spans = inner(row, "info"), inner(row, "data", "spans")
    if type(info) is not dict:
        raise InputError(f"{where}: field 'info' is missing, expected a trace of MLflow")
    whole = [one for one in spans if type(one) is dict] if type(spans) is list else []
    return where, info, next((one for one in whole if not one.get("parent_span_id", one.get("parent_id"))), None)


def _stored(file: InputFile, value: Any) -> Any:
    """What is stored as the text of its JSON; a text that is none stands for itself."""
    if type(value) is not str:
        return value
    try:
        return parsed(value, file, file.name)
    except InputError:
        return value


def _judged(info: dict[str, Any], root: dict[str, Any] | None, log: Log) -> tuple[Any, ...]:
    """What is known, the root span, expectations by name, and the feedback that counts."""
    listed = info.get("assessments")
    every = [one for one in listed if type(one) is dict] if type(listed) is list else []
    replaced = {text(one.get("overrides")) for one in every} - {None}
    expected, feedback = dict[str, list[str]](), list[_Feedback]()
    for one in every:
        name = text(one.get("assessment_name")) or text(one.get("name"))
        if name is None:
            log.count("assessments have no name and are left out")
        elif one.get("valid") is False or text(one.get("assessment_id")) in replaced:
            log.count("assessments were overridden by later ones and are left out")
        elif type(one.get("expectation")) is dict:
            expected.setdefault(name, []).extend(texts(_expected(one["expectation"], log.file)))
        elif not _is_of_whole(one.get("span_id"), root):
            log.count("assessments are of a part of a trace and are left out")
        elif type(one.get("feedback")) is dict:
            failed = inner(one, "feedback", "error") or one.get("error")
            kind = (text(inner(one, "source", "source_type")) or "code").lower()
            given = inner(one, "feedback", "value")
            parts = given.items() if type(given) is dict else [("", given)]
            feedback += [(f"{name}.{k}" if k else name, kind, math.nan if failed else _rated(v)) for k, v in parts]
    return info, root, expected, feedback


def _expected(expectation: Mapping[str, Any], file: InputFile) -> Any:
    """The value of an expectation; lists and objects are stored as the text of their JSON."""
    stored = text(inner(expectation, "serialized_value", "value"))
    return expectation.get("value") if stored is None else _stored(file, stored)


def _is_of_whole(span: Any, root: Mapping[str, Any] | None) -> bool:
    """Whether an assessment is of the whole trace: of no span, or of the root, which has its id in base64, not hex."""
    if not span or root is None:
        return True
    own = text(root.get("span_id")) or text(inner(root, "context", "span_id")) or ""
    try:
        decoded = base64.b64decode(own, validate=True).hex()
    except (binascii.Error, ValueError):
        decoded = ""
    return str(span).removeprefix("0x") in (own.removeprefix("0x"), decoded)


def _rated(value: Any) -> float:
    return _RATINGS.get(value.strip().lower(), math.nan) if type(value) is str else score(value)


def _scores(feedback: Sequence[_Feedback], kinds: Mapping[str, set[str]], log: Log) -> dict[str, float]:
    """Feedback as columns; the mean of what was given several times and is defined."""
    found: dict[str, list[float]] = {}
    for name, kind, value in feedback:
        found.setdefault(f"{name}.{kind}" if len(kinds[name]) > 1 else name, []).append(value)
    if any(len(values) > 1 for values in found.values()):
        log.count("traces have the same feedback several times; its mean is taken")
    known = {name: [one for one in values if not math.isnan(one)] for name, values in found.items()}
    return {name: math.fsum(values) / len(values) if values else math.nan for name, values in known.items()}


def _item(given: Any, info: Mapping[str, Any]) -> str:
    """The name of an input: its text, or that of all of its fields."""
    if given is None:
        return text(info.get("client_request_id")) or text(info.get("trace_id")) or "-"
    only = next(iter(given.values())) if type(given) is dict and len(given) == 1 else given
    if type(only) is str:
        return item_of(only)
    told = json.dumps(given, ensure_ascii=False, sort_keys=True)
    return item_of(told, shown=" ".join(value for _, value in _texts(given)))


def _hypothesis(said: Any, want: str | None, where: str) -> str:
    """The answer in the outputs of a trace."""
    if want is not None:
        found = text(inner(said, *want.removeprefix("outputs.").split(".")))
        if found is None:
            raise InputError(f"{where}: the outputs have no text {want!r}; found: {_shape(said)}")
        return found
    first = said[0] if type(said) is list and said else said
    found = text(first) or answer_of(first) or _last(first, "assistant") or _only(first, _ANSWERS)
    if found is None and type(first) is not str:
        raise InputError(f"{where}: the outputs are no text; found: {_shape(said)}; name one: --columns hyp=FIELD")
    return found or ""


def _source(given: Any, want: str | None) -> str | None:
    if want is not None:
        return text(inner(given, *want.removeprefix("inputs.").split(".")))
    return text(given) or _last(given, "user") or _only(given, _QUESTIONS)


def _last(value: Any, role: str) -> str | None:
    """What somebody said last in the `messages` of an object."""
    messages = inner(value, "messages")
    said = [
        message(inner(one, "content"))
        for one in (messages if type(messages) is list else ())
        if inner(one, "role") in (role, None)
    ]
    return next((one for one in reversed(said) if one is not None), None)


def _only(value: Any, usual: Sequence[str]) -> str | None:
    """The field of an object with a usual name, or its only one that is a text."""
    found = dict(_texts(value))
    return next(
        (found[name] for name in usual if name in found), next(iter(found.values())) if len(found) == 1 else None
    )


def _texts(value: Any) -> Iterator[tuple[str, str]]:
    for key, one in value.items() if type(value) is dict else ():
        if type(one) is str:
            yield key, one


def _shape(value: Any) -> str:
    """What there is in place of a text, for an error in one line."""
    names = ", ".join(repr(key) for key in value) if type(value) is dict else type(value).__name__
    return f"{names:.200}"
