"""Logs of harnesses: lm-evaluation-harness, lighteval, HELM, and Every Eval Ever, into which others are converted."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.segment import printed_list
from nlgauge.io.files import InputFile
from nlgauge.io.frames import nested_rows
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
    identity,
    inner,
    item_in,
    listed,
    message,
    score,
    text,
    texts,
    verdict,
)
from nlgauge.io.segments import HeldSource

_KNOWN = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)
_QUESTIONS = ("question", "query", "input", "source", "src", "document", "article", "text")
_FILTER = "filter:"
_NO_MATCH = "[invalid]"  # stands where a filter by pattern found nothing
_TOGETHER = "scores are of all responses to an item together, and stand beside each of them"
_CORPUS = "{!r} is a number of the whole corpus, of which rows hold only a part: left out"
_LMEVAL_NAME = re.compile(r"samples_(.+)_[0-9T:.-]+\.jsonl?(?:\.gz)?")


def open_lmeval(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read lm-evaluation-harness's samples of one task, `samples_TASK_DATE.jsonl`.

    The item is `doc_id`, the hypothesis the filtered response, the reference `target`, the group the task in the name
    of the file. The source is the first field of the document that is named as a question or a text. No system is
    named.

    There is a row for each document and filter. Several answers that the harness stored as one text, `['Paris', 'City
    of Paris']`, are several references. Where a filter found nothing (`[invalid]`), the answer is empty. Tasks of
    multiple choice hold likelihoods and no texts, and are refused.

    Args:
        file: the file.
        columns: `hyp` is `filter:NAME` where rows have several filters (`--columns hyp=filter:strict-match`), or
            `resps` for what the model said before any filter; `src` is `prompt` for all of the prompt, or a field of
            the document.

    Raises:
        InputError: there are several filters and none is named, or responses are likelihoods of choices.
    """
    want = asked(columns, ("hyp", "src"), file.name)
    rows = LogLines(file)
    log = Log(file)
    found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    seen: Counter[Item] = Counter()
    for where, row in rows:
        item = item_in(row, "doc_id", where, "a number")
        seen[item] += 1
        found.setdefault(text(row.get("filter")) or f"{seen[item]}", []).append((where, row))
    chosen = _filter(found, want.get("hyp"), file.name)
    named = _LMEVAL_NAME.fullmatch(PurePath(file.path).name)
    of_filter = found.get(chosen, [])
    is_there = any(_source(row, want.get("src")) is not None for _, row in of_filter)
    there = chain(("prompt",), (name for _, row in of_filter for name in fields(row, "doc")))
    check_named(want, "src", is_there, there, file.name)
    for where, row in of_filter:
        scores = log.scores(_lmeval_scores(row, log))
        said = _said(row, want.get("hyp") == "resps", where)
        if _NO_MATCH in said and _NO_MATCH not in _said(row, True, where):
            said = ["" if one == _NO_MATCH else one for one in said]
            log.count(f"documents have answers in which the filter found nothing ({_NO_MATCH}); these are empty")
        references = _references(row, log)
        sample = Sample(
            item=row["doc_id"],
            references=references,
            source=_source(row, want.get("src")),
            group=named[1] if named else None,
            scores=scores,
        )
        log.add_all(sample, said)
        if len(said) > 1:
            log.note(_TOGETHER)
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
    flat = listed(value)
    if flat and type(flat[0]) is list:
        flat = flat[0]
    arguments = row.get("arguments")
    several = isinstance(arguments, list | dict) and len(arguments) > 1
    if several or (len(flat) == 2 and flat[1] in ("True", "False", True, False)):
        raise InputError(f"{where}: responses are likelihoods of choices, expected texts; this task has no hypothesis")
    return [one for one in flat if type(one) is str]


def _references(row: Mapping[str, Any], log: Log) -> tuple[str, ...]:
    """The target; where it has several answers, the harness stores the list of them as one text."""
    target = row.get("target")
    if type(target) is list and target and all(type(one) is str for one in target):
        return tuple(dict.fromkeys(target))
    if target is None or type(target) is not str:
        return () if target is None else (str(target),)
    answers = printed_list(target)
    if answers is None or target in fields(row, "doc").values():  # a text that looks like a list
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
    doc = fields(row, "doc")
    if want is not None:
        return text(inner(doc, *want.removeprefix("doc.").split(".")))
    return next((found for field in _QUESTIONS if (found := text(inner(doc, field))) is not None), None)


def _lmeval_scores(row: Mapping[str, Any], log: Log) -> list[tuple[str, float]]:
    named = row.get("metrics")
    names = texts(named) if type(named) is list else [name for name in row if name not in _KNOWN]
    found = []
    for metric in dict.fromkeys(names):
        value = row.get(metric)
        if type(value) is list:
            log.note(_CORPUS.format(metric))
        elif named is not None or not math.isnan(score(value)):
            found.append((metric, score(value)))
    return found


# --- Details of lighteval: `details_TASK_DATE.parquet`, a row for each document of a task

_FIELDS = (
    "doc.id", "doc.query", "doc.choices", "doc.gold_index", "doc.task_name",
    "model_response.text", "model_response.text_post_processed", "model_response.logprobs", "metric",
    "predictions",  # of versions before 0.11, which are refused
)  # fmt: skip
_LIGHTEVAL_NAME = re.compile(r"details_(.+)_[0-9T:.-]+\.parquet")
_HOW = ("processed", "text")


def open_lighteval(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read lighteval's details of one task, `details_TASK_DATE.parquet`; needs the extra `parquet`.

    The item is the id of the document, the group the task. References are the choices that are correct, and several
    answers to a document are runs. The system is what the path says, `details/MODEL/DATE/`; the file does not name it.

    Where lighteval cut the reasoning off an answer and scored the rest, the rest is read. The score of all runs of a
    document stands beside each. The layout is that of lighteval from 0.11 on, with `doc`, `model_response` and
    `metric`. Metrics of a whole corpus are left out with a note.

    Args:
        file: the file.
        columns: `hyp` is `text` for what the model said, in place of the answer without its reasoning, which lighteval
            scores where there is one.

    Raises:
        InputError: responses are likelihoods of choices, or columns are those of other versions.
        MissingExtra: pyarrow is not installed.
    """
    how = asked(columns, ("hyp",), file.name).get("hyp", _HOW[0])
    if how not in _HOW:
        raise InputError(f"{file.name}: columns name {how!r} as hyp, expected {' or '.join(_HOW)}")
    log = Log(file)
    named, system = _LIGHTEVAL_NAME.fullmatch(Path(file.path).name), _model_in(Path(file.path))
    for where, row in nested_rows(file, _FIELDS):
        doc, response = row.get("doc"), row.get("model_response")
        if type(doc) is not dict or type(response) is not dict:
            raise InputError(
                f"{where}: expected objects 'doc', 'model_response' and 'metric', as lighteval writes from 0.11 on"
            )
        said = texts(response.get("text_post_processed")) if how == _HOW[0] else ()
        said = said or texts(response.get("text"))
        if not said and response.get("logprobs"):
            raise InputError(
                f"{where}: responses are likelihoods of choices, expected texts; this task has no hypothesis"
            )
        sample = Sample(
            item=identity(doc.get("id")) or where.rpartition(" ")[2],
            references=tuple(_golds(doc)),
            source=text(doc.get("query")),
            system=system,
            group=text(doc.get("task_name")) or (named[1] if named else None),
            scores=log.scores(_lighteval_scores(row.get("metric"), log)),
        )
        log.add_all(sample, said)
        if len(said) > 1:
            log.note(_TOGETHER)
    return log.source()


def _golds(doc: Mapping[str, Any]) -> Iterator[str]:
    """The choices that are correct; an index outside of them, such as the -1 of documents without labels, is none."""
    choices, index = listed(doc, "choices"), doc.get("gold_index")
    for place in index if type(index) is list else [index]:
        if type(place) is int and 0 <= place < len(choices):
            yield from texts(choices[place])


def _lighteval_scores(metrics: Any, log: Log) -> Iterator[tuple[str, float]]:
    for metric, value in fields(metrics).items():
        if type(value) in (dict, list):
            log.note(_CORPUS.format(metric))
        else:
            yield metric, score(value)


def _model_in(path: Path) -> str | None:
    """The model in `details/MODEL/DATE/`, in which MODEL may be `OWNER/NAME`."""
    folders = path.parent.parts[:-1]
    start = len(folders) - folders[::-1].index("details") if "details" in folders else len(folders)
    return "/".join(folders[start:]) or None


# --- Runs of HELM: a folder with what was asked and answered, and the statistics of each instance

STATE, SPEC, STATS = "scenario_state.json", "run_spec.json", "per_instance_stats.json"
# counts and times, which judge no answer
_BOOKS = ("num_", "inference_", "batch_size", "prompt_truncated", "finish_reason_", "training_", "estimated_")
_MODEL = ("model=", "model_deployment=")
_Key = tuple[Item, str | None, int]  # instance, perturbation, and which draw of examples stood before it


def is_helm(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is a run of HELM."""
    return Path(folder, STATE).is_file()


def open_helm(folder: str | os.PathLike[str]) -> HeldSource:
    """Read the folder of a run of HELM, with `scenario_state.json` and `per_instance_stats.json`.

    The item is the id of the instance, followed by the perturbation if it was perturbed; a run is a draw of the
    examples before it. The system is the model, the group the name of the run without its model. Columns are the mean
    of each statistic, without counts and times.

    Raises:
        InputError: a file is missing or wrong, or no instance has an answer in words.
    """
    state = InputFile(Path(folder, STATE))
    spec, stats = (InputFile(path) if (path := Path(folder, part)).is_file() else None for part in (SPEC, STATS))
    about = None if spec is None else document(spec)
    scores = {} if stats is None else _helm_scores(stats)
    log = Log(state)
    if stats is None:
        log.note(f"{STATS} is missing, so there are no scores")
    for where, row in entries(inner(document(state), "request_states"), state.name, "request_states"):
        if row.get("reference_index") is not None:
            log.count("requests ask for the likelihood of a choice, which is no answer in words")
            continue
        key = _key(inner(row, "instance", "id"), inner(row, "instance", "perturbation"), row, where)
        item, perturbation, draw = key
        log.add(
            Sample(
                item=item if perturbation is None else f"{item} {perturbation}",
                hypothesis=_answer(row),
                references=tuple(_helm_references(inner(row, "instance", "references"))),
                source=_text(inner(row, "instance", "input")),
                system=text(inner(about, "adapter_spec", "model")) or text(inner(row, "request", "model")),
                group=_task(text(inner(about, "name"))),
                repeat=draw + 1,
                scores=log.scores(scores.get(key, ())),
            )
        )
    source = log.source()
    return HeldSource(source.data, [one for one in (state, spec, stats) if one is not None])


def _key(instance: Any, perturbation: Any, row: Mapping[str, Any], where: str) -> _Key:
    found, draw = identity(instance), row.get("train_trial_index", 0)
    if found is None:
        raise InputError(f"{where}: the id of the instance is missing, expected a string")
    if type(draw) is not int or draw < 0:
        raise InputError(f"{where}: field 'train_trial_index' is {draw!r:.40}, expected a whole number from 0")
    return found, text(inner(perturbation, "name")), draw


def _text(value: Any) -> str | None:
    """A text, which older runs store as a string and newer ones in an object."""
    return text(value) if type(value) is str else text(inner(value, "text"))


def _answer(row: Mapping[str, Any]) -> str | None:
    """The first completion; None where the request failed."""
    if inner(row, "result", "success") is False:
        return None
    completions = listed(row, "result", "completions")
    return text(inner(completions[0], "text")) if completions else None


def _helm_references(value: Any) -> Iterator[str]:
    """The texts that are marked as correct."""
    for one in listed(value):
        said = _text(inner(one, "output"))
        if "correct" in listed(one, "tags") and said is not None:
            yield said


def _task(run: str | None) -> str | None:
    """The name of a run without the model, so that runs of two models have the same."""
    if run is None:
        return None
    scenario, _, options = run.partition(":")
    kept = [one for one in options.split(",") if one and not one.startswith(_MODEL)]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _helm_scores(file: InputFile) -> dict[_Key, list[tuple[str, float]]]:
    found: dict[_Key, list[tuple[str, float]]] = {}
    for where, row in entries(document(file), file.name, ""):
        key = _key(row.get("instance_id"), row.get("perturbation"), row, where)
        own = found.setdefault(key, [])
        for one in listed(row, "stats"):
            metric = text(inner(one, "name", "name"))
            other = text(inner(one, "name", "perturbation", "name"))  # a worst case over perturbations has its own
            if metric is not None and not metric.startswith(_BOOKS) and other in (None, key[1]):
                own.append((metric, score(inner(one, "mean"))))
    return found


# --- Instance lines of Every Eval Ever, a schema into which logs of many tools are converted

_MAJOR = "0."


def open_every(file: InputFile) -> HeldSource:
    """Read Every Eval Ever's instance lines, `UUID_samples.jsonl`.

    `sample_id` is the item, `model_id` the system and `evaluation_name` the group.

    Columns are `score`, and `pass` where the line says whether the answer is correct.

    Raises:
        InputError: a line has no `sample_id`.
    """
    rows, log = LogLines(file), Log(file)
    for where, row in rows:
        item = item_in(row, "sample_id", where, "a string")
        version = text(row.get("schema_version"))
        if version is None or not version.startswith(_MAJOR):
            log.note(f"schema version {version!r}, read as {_MAJOR}3")
        failed = row.get("error") is not None
        passed = inner(row, "evaluation", "is_correct")
        scores = {"score": math.nan if failed else score(inner(row, "evaluation", "score"))}
        if passed is not None:
            scores["pass"] = math.nan if failed else verdict(passed)
        sample = Sample(
            item=item,
            references=texts(inner(row, "input", "reference")),
            source=text(inner(row, "input", "raw")),
            system=text(row.get("model_id")),
            group=text(row.get("evaluation_name")),
            scores=scores,
        )
        log.add_all(sample, _answers_of_model(row))
    return log.source(rows.notes())


def _answers_of_model(row: Mapping[str, Any]) -> tuple[str, ...]:
    """The answers of a line, or the last message of the model where it holds a conversation."""
    answers = texts(inner(row, "output", "raw"))
    said = [message(inner(one, "content")) for one in listed(row, "messages") if inner(one, "role") == "assistant"]
    return answers or tuple(one for one in said[-1:] if one is not None)
