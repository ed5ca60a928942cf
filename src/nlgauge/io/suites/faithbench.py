"""FaithBench: summaries of one source by several models, with spans that people found unfaithful."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from nlgauge.core.errors import InputError
from nlgauge.core.segment import RepeatedKey, check_keys
from nlgauge.core.suite import Pair
from nlgauge.io.files.files import InputFile, found_in
from nlgauge.io.jsonl import joined

FILES = ("batch_*.json",)
_SEVERITY = {"Benign": 1, "Questionable": 2, "Unwanted": 3}  # of the part of a label before the dot
_HALLUCINATED = 2  # from here on: the authors count questionable spans, and not benign ones


class _Annotation(msgspec.Struct):
    label: list[str]


class _Sample(msgspec.Struct):
    source: str
    summary: str
    sample_id: int | str | None = None
    annotations: list[_Annotation] = []


class _Batch(msgspec.Struct):
    samples: list[_Sample]


def faithbench_pairs(path: str | os.PathLike[str]) -> tuple[list[tuple[str, Pair]], list[str], list[str]]:
    """Every faithful summary of a source beside every unfaithful one.

    A summary is unfaithful if one of its annotations says so, by the labels that the authors count: questionable and
    unwanted, not benign.

    Args:
        path: a file `batch_N.json`, or a folder with such files.

    Returns:
        (place, pair) of each pair; notes; and the files that were read.

    Raises:
        InputError: there is no such file, it is no JSON of such batches, or a label is unknown.

    References:
        Bao et al. (2025), "FaithBench", section 3; `scripts/binarize.py` of vectara/FaithBench takes the worst label.
    """
    files = [os.fspath(path)]
    if os.path.isdir(path):
        files = found_in(path, FILES)
        if not files:
            raise InputError(f"{os.fspath(path)}: no file of faithbench in this folder, expected {FILES[0]}")
    placed: list[tuple[str, Pair]] = []
    alone = 0
    for name in files:
        samples: dict[str, list[tuple[int, _Sample, int, str]]] = {}
        for number, sample in enumerate(_samples(name)):
            severity, kind = _worst(sample, f"{name}, sample {number + 1}")
            samples.setdefault(sample.source, []).append((number, sample, severity, kind))
        for source, own in samples.items():
            good = [one for one in own if one[2] < _HALLUCINATED]
            bad = [one for one in own if one[2] >= _HALLUCINATED]
            alone += not (good and bad)
            placed += [
                (
                    f"{name}, sample {number + 1}",
                    Pair(
                        id=f"{Path(name).name.partition('.')[0]}.{first}>{number}",
                        phenomenon=kind,
                        better=better.summary,
                        worse=worse.summary,
                        source=source,
                        task="as",
                        error=kind,
                        cluster=source,
                    ),
                )
                for first, better, _, _ in good
                for number, worse, _, kind in bad
            ]
    notes = [f"{alone} sources have only faithful or only unfaithful summaries, and make no pair"] if alone else []
    return placed, notes, files


def _samples(name: str) -> list[_Sample]:
    try:
        data = joined(InputFile(name))
        value = msgspec.json.decode(data)
        check_keys(data.decode("utf-8"), value)
        if isinstance(value, list):  # as in the first release
            return msgspec.convert(value, list[_Sample])
        return msgspec.convert(value, _Batch).samples
    except (msgspec.MsgspecError, RepeatedKey, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f'{name}: {error}; expected {{"samples": [...]}} with source, summary, annotations') from None


def _worst(sample: _Sample, place: str) -> tuple[int, str]:
    """How severe the worst annotation is, from 0 for none, and its kind."""
    labels = {label for annotation in sample.annotations for label in annotation.label}
    unknown = [label for label in labels if label.partition(".")[0] not in _SEVERITY]
    if unknown:
        raise InputError(f"{place}: label {min(unknown)!r}, expected one that begins {', '.join(_SEVERITY)}")
    severity = max((_SEVERITY[label.partition(".")[0]] for label in labels), default=0)
    finest = sorted(label for label in labels if _SEVERITY[label.partition(".")[0]] == severity and "." in label)
    kinds = finest if len(finest) == 1 else [name for name, own in _SEVERITY.items() if own == severity]
    return severity, (kinds[0].lower().replace(".", "_") if kinds else "consistent")
