"""Details of lighteval: `details_TASK_DATE.parquet`, a row for each document of a task."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import asked, identity, score, text, texts
from nlgauge.io.parquet import nested_rows
from nlgauge.io.source import HeldSource

_FIELDS = (
    "doc.id", "doc.query", "doc.choices", "doc.gold_index", "doc.task_name",
    "model_response.text", "model_response.text_post_processed", "model_response.logprobs", "metric",
    "example", "gold", "predictions", "metrics",
)  # fmt: skip
_NAME = re.compile(r"details_(.+)_[0-9T:.-]+\.parquet")
_HOW = ("processed", "text")


def open_lighteval(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the details of one task.

    The item is the id of the document, the group the task. References are the choices that are correct, and several
    answers to a document are runs. The system is what the path says, `details/MODEL/DATE/`; the file does not name it.

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
    named, system = _NAME.fullmatch(Path(file.path).name), _system(Path(file.path))
    for where, row in nested_rows(file, _FIELDS):
        doc, response, metrics = _parts(row, where)
        said = texts(response.get("text_post_processed")) if how == _HOW[0] else ()
        said = said or texts(response.get("text"))
        if not said and response.get("logprobs"):
            raise InputError(
                f"{where}: responses are likelihoods of choices, expected texts; this task has no hypothesis"
            )
        scores = log.scores(_scores(metrics, log))
        for one in said or (None,):
            log.add(
                Sample(
                    item=identity(doc.get("id")) or where.rpartition(" ")[2],
                    hypothesis=one,
                    references=tuple(_golds(doc)),
                    source=text(doc.get("query")),
                    system=system,
                    group=text(doc.get("task_name")) or (named[1] if named else None),
                    scores=scores,
                )
            )
        if len(said) > 1:
            log.note("scores are of all responses to an item together, and stand beside each of them")
    return log.source()


def _parts(row: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], Mapping[str, Any], Any]:
    """The document, the response and the metrics of a row; versions before 0.11 have them side by side."""
    doc, response = row.get("doc"), row.get("model_response")
    if type(doc) is dict and type(response) is dict:
        return doc, response, row.get("metric")
    gold, said = row.get("gold"), row.get("predictions")
    if type(gold) is not list or type(said) is not list:
        raise InputError(
            f"{where}: expected objects 'doc', 'model_response' and 'metric', as lighteval writes from 0.11 on, or"
            " lists 'gold' and 'predictions', as versions before it do"
        )
    flat = {"query": row.get("example"), "choices": gold, "gold_index": list(range(len(gold)))}
    return flat, {"text": said, "logprobs": said}, row.get("metrics")


def _golds(doc: Mapping[str, Any]) -> Iterator[str]:
    """The choices that are correct; an index outside of them, such as the -1 of documents without labels, is none."""
    choices, index = doc.get("choices"), doc.get("gold_index")
    for place in index if type(index) is list else [index]:
        if type(place) is int and type(choices) is list and 0 <= place < len(choices):
            yield from texts(choices[place])


def _scores(metrics: Any, log: Log) -> Iterator[tuple[str, float]]:
    for metric, value in metrics.items() if type(metrics) is dict else ():
        if type(value) in (dict, list):
            log.note(f"{metric!r} is a number of the whole corpus, of which rows hold only a part: left out")
        else:
            yield metric, score(value)


def _system(path: Path) -> str | None:
    """The model in `details/MODEL/DATE/`, in which MODEL may be `OWNER/NAME`."""
    folders = path.parent.parts[:-1]
    start = len(folders) - folders[::-1].index("details") if "details" in folders else len(folders)
    return "/".join(folders[start:]) or None
