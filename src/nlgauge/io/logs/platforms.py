"""Logs of platforms: OpenAI's batches and evals, MLflow's tables and traces."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import repeated
from nlgauge.io.files import InputFile
from nlgauge.io.logs.rows import (
    Item,
    Log,
    LogLines,
    Sample,
    asked,
    check_named,
    document,
    entries,
    fields,
    inner,
    item_in,
    item_of,
    listed,
    message,
    name_of,
    parsed,
    score,
    text,
    texts,
)
from nlgauge.io.rows import first_fields
from nlgauge.io.segments import HeldSource

_DONE = 200


def open_batch(file: InputFile) -> HeldSource:
    """Read the output of a batch of OpenAI.

    `custom_id` is the item, and the system is the model that answered. There are neither scores nor references.

    Raises:
        InputError: a line has no `custom_id`.
    """
    rows, log = LogLines(file), Log(file)
    for where, row in rows:
        item = item_in(row, "custom_id", where, "the id of a request")
        body = inner(row, "response", "body")
        failed = row.get("error") is not None or inner(row, "response", "status_code") != _DONE
        answer = None if failed else answer_of(body)
        if not failed and not answer:
            log.count("requests were done and have no text")
        log.add(Sample(item=item, hypothesis=answer, system=text(inner(body, "model"))))
    return log.source(rows.notes())


def answer_of(body: Any) -> str | None:
    """The text of a chat completion, or of a response."""
    choices = listed(body, "choices")
    if choices:
        return message(inner(choices[0], "message", "content"))
    messages = [message(inner(one, "content")) for one in listed(body, "output") if inner(one, "type") == "message"]
    found = [said for said in messages if said is not None]
    return "\n".join(found) if found else None


# --- Event logs of openai/evals: JSON lines with what was sampled, matched and measured for each sample, in any order

_UNREAD = "__invalid__"  # the choice of a judge whose answer evals could not read
_WHICH = ("first", "last")
_Event = tuple[int, str, Any]  # its number, its type and its data


def open_evals(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the events of a run of openai/evals, or of several in one file.

    The item is `sample_id`, the system the first completion function of the run, the group the name of the evaluation.
    The hypothesis is what a match compared, else what was sampled first: a judge is sampled after the model that it
    judges. Columns are `match` (0 or 1) and the numbers of `metrics`. Where the answer of a judge could not be read the
    score is undefined, as are those of a sample with an error. References are what the match expected, and the source
    is what the user said last.

    Args:
        file: the file.
        columns: `hyp` is `first` or `last`, the sampling that holds the answer; `src` is `prompt` for all of the
            prompt, in place of what the user said last in it.

    Raises:
        InputError: an event names no sample, or columns name something else.
    """
    want = asked(columns, ("hyp", "src"), file.name)
    for field, known in (("hyp", _WHICH), ("src", ("prompt",))):
        if want.get(field, known[0]) not in known:
            raise InputError(f"{file.name}: columns name {want[field]!r} as {field}, expected {' or '.join(known)}")
    rows, log = LogLines(file), Log(file)
    specs, samples, ends = dict[str | None, Any](), dict[tuple[str | None, Item], list[_Event]](), 0
    for where, row in rows:
        if "spec" in row:
            specs[name_of(inner(row, "spec", "run_id"))] = row["spec"]
        elif "final_report" in row:
            ends += 1
        elif (kind := text(row.get("type"))) is None:
            log.count("lines are no events and are left out")
        else:
            item, number = item_in(row, "sample_id", where, "the name of a sample"), row.get("event_id")
            own = samples.setdefault((name_of(row.get("run_id")), item), [])
            own.append((number if type(number) is int else len(own), kind, row.get("data")))
    if ends < max(1, len(specs)):
        log.note("a run has no final report, so it did not come to its end")
    for (run, item), events in samples.items():
        spec = specs.get(run, next(iter(specs.values()), None))
        log.add(_sample(item, sorted(events, key=lambda event: event[0]), spec, want, log))
    return log.source(rows.notes())


def _sample(item: Item, events: Sequence[_Event], spec: Any, want: Mapping[str, str], log: Log) -> Sample:
    sampled, matched, measured = (
        [data for _, kind, data in events if kind == which] for which in ("sampling", "match", "metrics")
    )
    answers = [said for data in sampled if (said := _said(inner(data, "sampled"), log)) is not None]
    compared = [said for data in matched if (said := text(inner(data, "sampled"))) is not None]
    if "hyp" not in want and not compared and len(answers) > 1:
        log.count("samples were sampled several times, of which the first is read; for the last --columns hyp=last")
    found = answers if "hyp" in want or not compared else compared
    scores = log.scores(_evals_scores(matched, measured, log))
    if any(kind == "error" for _, kind, _ in events):
        scores = dict.fromkeys(scores, math.nan)
        log.count("samples had an error, their scores undefined")
    completions, prompts = listed(spec, "completion_fns"), (inner(data, "prompt") for data in (*sampled, *matched))
    return Sample(
        item=item,
        hypothesis=(found[-1] if want.get("hyp") == "last" else found[0]) if found else None,
        references=next((golds for data in matched if (golds := _names(inner(data, "expected")))), ()),
        source=next((told for prompt in prompts if (told := _asked(prompt, want)) is not None), None),
        system=text(completions[0]) if completions else None,
        group=text(inner(spec, "eval_name")),
        scores=scores,
    )


def _said(value: Any, log: Log) -> str | None:
    """What was sampled: a text, or the first of several completions."""
    if type(value) is list:
        if len(value) > 1:
            log.count("samplings have several completions, of which the first is read")
        return text(value[0]) if value else None
    return text(value)


def _names(value: Any) -> tuple[str, ...]:
    """What was expected: a text or a number, or a list of them, of which any will do."""
    return tuple(found for one in (value if type(value) is list else [value]) if (found := name_of(one)) is not None)


def _asked(prompt: Any, want: Mapping[str, str]) -> str | None:
    """A prompt, or what the user said last in it: examples stand before that."""
    if type(prompt) is not list:
        return text(prompt)
    roles = (None, "system", "user", "assistant") if "src" in want else (None, "user")
    said = [message(inner(one, "content")) for one in prompt if inner(one, "role") in roles]
    told = [one for one in said if one is not None]
    return "\n".join(told if "src" in want else told[-1:]) if told else None


def _evals_scores(matched: Sequence[Any], measured: Sequence[Any], log: Log) -> Iterator[tuple[str, float]]:
    """The scores of a sample; the mean of those that were given several times and are defined."""
    found: dict[str, list[float]] = {"match": [score(inner(data, "correct")) for data in matched]} if matched else {}
    for data in measured:
        unread = inner(data, "choice") == _UNREAD
        if unread:
            log.count("answers of a judge could not be read, for which evals stores the lowest score")
        for metric, value in fields(data).items():
            if value is None or type(value) in (bool, int, float):
                found.setdefault(metric, []).append(math.nan if unread else score(value))
    for metric, values in found.items():
        yield metric, _mean(values)


def _mean(values: Sequence[float]) -> float:
    """The mean of the scores that are defined; NaN if none is."""
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


# --- Tables of MLflow's evaluations: `eval_results_table.json`, columns and rows

_USUAL = {
    "hyp": ("outputs", "output", "prediction", "predictions"),
    "ref": ("targets", "target", "ground_truth", "expected_response", "answer"),
    "src": ("inputs", "input", "question", "query"),
}
_SCORE = re.compile(r"(.+?)(?:/v[0-9]+)?/score")


def open_mlflow(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read MLflow's table of results, `eval_results_table.json`.

    The item is the number of the row; `toxicity/v1/score` is the column `toxicity`. The usual names of columns are
    known (`outputs`, `targets`, `inputs` and others); name other ones with `--columns hyp=answer,ref=expected`.

    Args:
        file: the file.
        columns: which column is `hyp`, `ref`, `src` and `system`, where the names are not the usual ones.

    Raises:
        InputError: a column is missing, or a row has another number of cells.
    """
    want = asked(columns, ("hyp", "ref", "src", "system"), file.name)
    whole = document(file)
    header, rows = inner(whole, "columns"), inner(whole, "data")
    if type(header) is not list or type(rows) is not list or not all(type(one) is str for one in header):
        raise InputError(f"{file.name}: expected lists 'columns' and 'data', as MLflow writes a table")
    twice = repeated(one for one in header if not _SCORE.fullmatch(one))
    if twice is not None:
        raise InputError(f"{file.name}: two columns are called {twice!r}, expected one")
    places = {field: _place(header, field, want.get(field), file.name) for field in ("hyp", "ref", "src", "system")}
    named = {place: match[1] for place, one in enumerate(header) if (match := _SCORE.fullmatch(one))}
    log = Log(file)
    for number, row in enumerate(rows, start=1):
        if type(row) is not list or len(row) != len(header):
            raise InputError(f"{file.name}, row {number}: expected {len(header)} cells, as there are columns")
        cells = {field: None if place is None else row[place] for field, place in places.items()}
        log.add(
            Sample(
                item=str(number),
                hypothesis=text(cells["hyp"]),
                references=texts(cells["ref"]),
                source=text(cells["src"]),
                system=text(cells["system"]),
                scores=log.scores((metric, score(row[place])) for place, metric in named.items()),
            )
        )
    return log.source()


def _place(header: Sequence[str], field: str, want: str | None, file: str) -> int | None:
    found = next((one for one in ((want,) if want else _USUAL.get(field, ())) if one in header), None)
    if found is None and (want or field == "hyp"):
        raise InputError(
            f"{file}: no column {want or 'outputs'!r}; columns found: {', '.join(map(repr, header))}; name it:"
            f" --columns {field}=NAME"
        )
    return None if found is None else header.index(found)


# --- Traces of MLflow: what was asked and answered, with the feedback of judges, people and code on it

_ANSWERS = ("response", "answer", "output", "outputs", "prediction", "result", "content", "text")
_QUESTIONS = ("question", "query", "request", "input", "inputs", "prompt")
_REFERENCE = "expected_response"  # the usual name of an expectation that is an answer
_SYSTEM = ("mlflow.modelId", "mlflow.sourceRun")
_RATINGS = {"yes": 1.0, "no": 0.0}
_Feedback = tuple[str, str, float]  # its name, who gave it, and its value


def open_traces(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read MLflow's traces, one a line, in a list, or as `mlflow traces search --output json` prints them.

    The item is made of the inputs; traces with the same inputs are runs. The system is the logged model, else the run.
    Columns are the names of the feedback, `NAME.human`, `NAME.llm_judge` and `NAME.code` where several kinds of source
    gave it; yes and no are 1 and 0. Feedback with an error is undefined; what was overridden, or is on a part of a
    trace, is left out.

    Inputs and outputs are those of the root span: a text, a chat, or an object with one text or a field such as
    `response`. References are the expectation `expected_response`. Traces that were fetched without spans have previews
    alone, which MLflow cuts; a note counts them.

    Args:
        file: the file.
        columns: `hyp` is a field of the outputs (`--columns hyp=outputs.draft`), `src` one of the inputs, `ref` the
            name of an expectation; in place of the usual ones.

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
    sourced, there = False, dict[str, None]()
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
                scores=_traces_scores(feedback, kinds, log),
            )
        )
        there |= dict.fromkeys(fields(given))
    check_named(want, "src", sourced, there, file.name)
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
    info = inner(row, "info")
    if type(info) is not dict:
        raise InputError(f"{where}: field 'info' is missing, expected a trace of MLflow")
    whole = [one for one in listed(row, "data", "spans") if type(one) is dict]
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
    every = [one for one in listed(info, "assessments") if type(one) is dict]
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


def _traces_scores(feedback: Sequence[_Feedback], kinds: Mapping[str, set[str]], log: Log) -> dict[str, float]:
    """Feedback as columns; the mean of what was given several times and is defined."""
    found: dict[str, list[float]] = {}
    for name, kind, value in feedback:
        found.setdefault(f"{name}.{kind}" if len(kinds[name]) > 1 else name, []).append(value)
    if any(len(values) > 1 for values in found.values()):
        log.count("traces have the same feedback several times; its mean is taken")
    return {name: _mean(values) for name, values in found.items()}


def _item(given: Any, info: Mapping[str, Any]) -> str:
    """The name of an input: its text, or that of all of its fields."""
    if given is None:
        return text(info.get("client_request_id")) or text(info.get("trace_id")) or "-"
    only = next(iter(given.values())) if type(given) is dict and len(given) == 1 else given
    if type(only) is str:
        return item_of(only)
    told = json.dumps(given, ensure_ascii=False, sort_keys=True)
    return item_of(told, shown=" ".join(_texts(given).values()))


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
    said = [message(inner(one, "content")) for one in listed(value, "messages") if inner(one, "role") in (role, None)]
    return next((one for one in reversed(said) if one is not None), None)


def _only(value: Any, usual: Sequence[str]) -> str | None:
    """The field of an object with a usual name, or its only one that is a text."""
    found = _texts(value)
    only = next(iter(found.values())) if len(found) == 1 else None
    return next((found[name] for name in usual if name in found), only)


def _texts(value: Any) -> dict[str, str]:
    """The fields of an object that are texts."""
    return {name: one for name, one in fields(value).items() if type(one) is str}


def _shape(value: Any) -> str:
    """What there is in place of a text, for an error in one line."""
    names = ", ".join(repr(key) for key in value) if type(value) is dict else type(value).__name__
    return f"{names:.200}"
