"""Event logs of openai/evals: JSON lines with what was sampled, matched and measured for each sample, in any order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Item, Log, Sample
from nlgauge.io.logs.values import LogLines, asked, identity, inner, message, name, score, text
from nlgauge.io.source import HeldSource

_UNREAD = "__invalid__"  # the choice of a judge whose answer evals could not read
_WHICH = ("first", "last")
_Event = tuple[int, str, Any]  # its number, its type and its data


def open_evals(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the events of a run, or of several in one file.

    The item is `sample_id`, the system the first completion function of the run, the group the name of the evaluation.
    The hypothesis is what a match compared, else what was sampled first: a judge is sampled after the model that it
    judges. Columns are `match` (0 or 1) and the numbers of `metrics`. Where the answer of a judge could not be read,
    evals stores the lowest score; it is undefined here, as are the scores of a sample with an error.

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
            specs[name(inner(row, "spec", "run_id"))] = row["spec"]
        elif "final_report" in row:
            ends += 1
        elif (kind := text(row.get("type"))) is None:
            log.count("lines are no events and are left out")
        else:
            item, number = identity(row.get("sample_id")), row.get("event_id")
            if item is None:
                raise InputError(f"{where}: field 'sample_id' is missing, expected the name of a sample")
            own = samples.setdefault((name(row.get("run_id")), item), [])
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
    scores = log.scores(_scores(matched, measured, log))
    if any(kind == "error" for _, kind, _ in events):
        scores = dict.fromkeys(scores, math.nan)
        log.count("samples had an error, their scores undefined")
    completions, prompts = inner(spec, "completion_fns"), (inner(data, "prompt") for data in (*sampled, *matched))
    return Sample(
        item=item,
        hypothesis=(found[-1] if want.get("hyp") == "last" else found[0]) if found else None,
        references=next((golds for data in matched if (golds := _names(inner(data, "expected")))), ()),
        source=next((told for prompt in prompts if (told := _asked(prompt, want)) is not None), None),
        system=text(completions[0]) if type(completions) is list and completions else None,
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
    return tuple(found for one in (value if type(value) is list else [value]) if (found := name(one)) is not None)


def _asked(prompt: Any, want: Mapping[str, str]) -> str | None:
    """A prompt, or what the user said last in it: examples stand before that."""
    if type(prompt) is not list:
        return text(prompt)
    roles = (None, "system", "user", "assistant") if "src" in want else (None, "user")
    said = [message(inner(one, "content")) for one in prompt if inner(one, "role") in roles]
    told = [one for one in said if one is not None]
    return "\n".join(told if "src" in want else told[-1:]) if told else None


def _scores(matched: Sequence[Any], measured: Sequence[Any], log: Log) -> Iterator[tuple[str, float]]:
    """The scores of a sample; the mean of those that were given several times and are defined."""
    found: dict[str, list[float]] = {"match": [score(inner(data, "correct")) for data in matched]} if matched else {}
    for data in measured:
        unread = inner(data, "choice") == _UNREAD
        if unread:
            log.count("answers of a judge could not be read, for which evals stores the lowest score")
        for metric, value in data.items() if type(data) is dict else ():
            if value is None or type(value) in (bool, int, float):
                found.setdefault(metric, []).append(math.nan if unread else score(value))
    for metric, values in found.items():
        known = [value for value in values if not math.isnan(value)]
        yield metric, math.fsum(known) / len(known) if known else math.nan
