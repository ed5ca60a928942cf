"""Runs of HELM: a folder with what was asked and answered, and the statistics of each instance."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Item, Log, Sample
from nlgauge.io.logs.values import document, entries, identity, inner, score, text
from nlgauge.io.source import HeldSource

STATE, SPEC, STATS = "scenario_state.json", "run_spec.json", "per_instance_stats.json"
# counts and times, which judge no answer
_BOOKS = ("num_", "inference_", "batch_size", "prompt_truncated", "finish_reason_", "training_", "estimated_")
_MODEL = ("model=", "model_deployment=")
_Key = tuple[Item, str | None, int]  # instance, perturbation, and which draw of examples stood before it


def is_helm(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is a run of HELM."""
    return Path(folder, STATE).is_file()


def open_helm(folder: str | os.PathLike[str]) -> HeldSource:
    """Read a run.

    The item is the id of the instance, followed by the perturbation if it was perturbed; a run is a draw of the
    examples before it. The system is the model, the group the name of the run without its model. HELM leaves out
    statistics that are missing or NaN; they are undefined here.

    Raises:
        InputError: a file is missing or wrong, or no instance has an answer in words.
    """
    state = InputFile(Path(folder, STATE))
    spec, stats = (InputFile(path) if (path := Path(folder, part)).is_file() else None for part in (SPEC, STATS))
    about = None if spec is None else document(spec)
    scores = {} if stats is None else _scores(stats)
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
                references=tuple(_references(inner(row, "instance", "references"))),
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
    completions = inner(row, "result", "completions")
    return text(inner(completions[0], "text")) if type(completions) is list and completions else None


def _references(value: Any) -> Iterator[str]:
    """The texts that are marked as correct."""
    for one in value if type(value) is list else []:
        tags, said = inner(one, "tags"), _text(inner(one, "output"))
        if type(tags) is list and "correct" in tags and said is not None:
            yield said


def _task(run: str | None) -> str | None:
    """The name of a run without the model, so that runs of two models have the same."""
    if run is None:
        return None
    scenario, _, options = run.partition(":")
    kept = [one for one in options.split(",") if one and not one.startswith(_MODEL)]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _scores(file: InputFile) -> dict[_Key, list[tuple[str, float]]]:
    found: dict[_Key, list[tuple[str, float]]] = {}
    for where, row in entries(document(file), file.name, ""):
        key = _key(row.get("instance_id"), row.get("perturbation"), row, where)
        own = found.setdefault(key, [])
        stats = row.get("stats")
        for one in stats if type(stats) is list else []:
            metric = text(inner(one, "name", "name"))
            other = text(inner(one, "name", "perturbation", "name"))  # a worst case over perturbations has its own
            if metric is not None and not metric.startswith(_BOOKS) and other in (None, key[1]):
                own.append((metric, score(inner(one, "mean"))))
    return found
