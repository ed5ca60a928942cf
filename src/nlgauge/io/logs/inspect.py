"""Logs of inspect_ai: `.eval`, a zip archive with a member per sample, and the same as one object of JSON."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.archive import Archive
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import (
    document,
    entries,
    identity,
    inner,
    message,
    parsed,
    score,
    text,
    text_of_bytes,
    texts,
)
from nlgauge.io.source import HeldSource

_VERSIONS = (2, 3)  # 3 is that of logs in which samples may lie in pieces
_GRADES = {"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?(?:[eE][+-]?[0-9]{1,3})?")
_NATURAL = re.compile(r"0|[1-9][0-9]{0,11}")
_SHELL = "/sample.json"
_TEXTS = "/attachments"
_ATTACHMENT = "attachment://"
_Sample = tuple[dict[str, Any], Callable[[str], Any]]  # and what finds a long text by the name that stands for it


def open_inspect(file: InputFile) -> HeldSource:
    """Read a log of inspect_ai.

    The item is the id of the sample, a run is an epoch, the system is the model and the group is the task. Grades are
    numbers (C 1, P 0.5, I and N 0); a score of several values has a column for each. What inspect_ai cannot read as a
    number it takes for 0; here it is undefined.

    Raises:
        InputError: the log is damaged, or holds no sample.
    """
    if not file.head(4).startswith(b"PK"):
        whole = document(file)
        if type(whole) is not dict:
            raise InputError(f"{file.name}: not an object, expected a log of inspect_ai")
        listed = entries(whole.get("samples"), file.name, "samples")
        return _read(file, whole, (_with_texts(sample) for _, sample in listed))
    archive = Archive(file)
    try:
        names = archive.names
        head = next((one for one in ("header.json", "_journal/start.json") if one in names), None)
        if head is None:
            raise InputError(f"{file.name}: a zip archive without header.json, expected a log of inspect_ai")
        return _read(file, _member(archive, head), _members(archive))
    finally:
        archive.close()


def _member(archive: Archive, member: str) -> dict[str, Any]:
    where = archive.at(member)
    value = parsed(text_of_bytes(archive.read(member), where), archive.file, where)
    if type(value) is not dict:
        raise InputError(f"{where}: not an object, expected one")
    return value


def _with_texts(sample: dict[str, Any]) -> _Sample:
    return sample, lambda name: inner(sample, "attachments", name)


def _members(archive: Archive) -> Iterator[_Sample]:
    """The samples of an archive: whole ones, and the shells of those that lie there in pieces."""
    shells = {name.removesuffix(_SHELL) for name in archive.names if name.endswith(_SHELL)}
    starts: dict[str, list[int]] = {}  # folder of long texts -> the numbers that begin its members
    for member in archive.names:
        folder, _, name = member.removesuffix(".json").rpartition("/")
        if folder.endswith(_TEXTS) and _NATURAL.fullmatch(name):
            starts.setdefault(folder, []).append(int(name))
    for member in archive.names:
        if not member.startswith("samples/") or not member.endswith(".json"):
            continue
        if member.endswith(_SHELL):
            folder = member.removesuffix(_SHELL) + _TEXTS
            yield _member(archive, member), _Pieces(archive, folder, sorted(starts.get(folder, ()))).find
        elif shells.isdisjoint(_folders(member)):  # an id may hold a slash
            yield _with_texts(_member(archive, member))


def _folders(member: str) -> Iterator[str]:
    """The folders of a member, the innermost first."""
    while folder := member.rpartition("/")[0]:
        yield folder
        member = folder


class _Pieces:
    """The long texts of a sample in pieces: lists of strings, each named by the number of its first string.

    Args:
        archive: where they lie.
        folder: their folder.
        starts: the numbers that begin them, in order.
    """

    def __init__(self, archive: Archive, folder: str, starts: Sequence[int]) -> None:
        self._archive, self._folder, self._starts = archive, folder, starts
        self._read: dict[int, Any] = {}  # the list that was read last

    def find(self, name: str) -> Any:
        """The string of this number; None if there is none."""
        if not _NATURAL.fullmatch(name):
            return None
        before = bisect_right(self._starts, int(name))
        if not before:
            return None
        start = self._starts[before - 1]
        if start not in self._read:
            member = f"{self._folder}/{start}.json"
            where = self._archive.at(member)
            self._read = {start: parsed(text_of_bytes(self._archive.read(member), where), self._archive.file, where)}
        listed, place = self._read[start], int(name) - start
        return listed[place] if type(listed) is list and place < len(listed) else None


def _read(file: InputFile, head: Mapping[str, Any], samples: Iterator[_Sample]) -> HeldSource:
    log = Log(file)
    about = head.get("eval")
    model, task = text(inner(about, "model")), text(inner(about, "task"))
    n = 0
    for sample, find in samples:
        n += 1
        log.add(_sample(sample, find, model, task, log, f"{file.name}, sample {n}"))
    status, version = head.get("status"), head.get("version")
    if version not in _VERSIONS:
        log.note(f"version {version!r} of the log, read as version {_VERSIONS[0]}")
    if status != "success":
        all_of = inner(about, "dataset", "samples")
        epochs = inner(about, "config", "epochs")
        known = type(all_of) is int and type(epochs) in (int, type(None))
        told = f" of {all_of * (epochs or 1)}" if known else ""
        log.note(f"the status is {str(status or 'unknown')!r}, {n}{told} samples are in the log")
    if head.get("invalidated") is True:
        log.note("the log was declared invalid")
    return log.source()


def _sample(
    sample: Mapping[str, Any],
    find: Callable[[str], Any],
    model: str | None,
    task: str | None,
    log: Log,
    where: str,
) -> Sample:
    item, epoch = identity(sample.get("id")), sample.get("epoch", 1)
    if item is None:
        raise InputError(f"{where}: field 'id' is missing, expected a string or a number")
    if type(epoch) is not int:
        raise InputError(f"{where}: field 'epoch' is {epoch!r:.40}, expected a whole number")

    def whole(value: str | None) -> str | None:
        """A text, or the long text that it stands for."""
        if value is None or not value.startswith(_ATTACHMENT):
            return value
        found = text(find(value.removeprefix(_ATTACHMENT)))
        if found is None:
            log.count("texts stand in attachments that the log does not hold")
        return found

    failed = sample.get("error") is not None
    found = whole(_completion(sample.get("output")))
    scores = log.scores(_scores(sample))
    if sample.get("invalidation") is not None:
        log.count("samples declared invalid, their scores undefined")
        scores = dict.fromkeys(scores, math.nan)
    return Sample(
        item=item,
        hypothesis=None if failed and not found else found,
        references=tuple(ref for one in texts(sample.get("target")) if (ref := whole(one)) is not None),
        source=whole(_asked(sample.get("input"))),
        system=model,
        group=task,
        repeat=epoch,
        scores=dict.fromkeys(scores, math.nan) if failed else scores,
    )


def _completion(output: Any) -> str | None:
    found = text(inner(output, "completion"))
    if found is not None:
        return found
    choices = inner(output, "choices")
    first = choices[0] if type(choices) is list and choices else None
    return message(inner(first, "message", "content"))


def _asked(value: Any) -> str | None:
    """The input: a text, or what the user said in a list of messages."""
    if type(value) is not list:
        return text(value)
    said = [message(inner(one, "content")) for one in value if inner(one, "role") in ("user", None)]
    return "\n".join(one for one in said if one is not None) or None


def _scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    scorers = sample.get("scores")
    if type(scorers) is not dict:
        scorers = {"score": sample["score"]} if sample.get("score") is not None else {}
    for scorer, found in scorers.items():
        value = found.get("value") if type(found) is dict else found
        if type(value) is dict:
            yield from ((f"{scorer}.{key}", _graded(one)) for key, one in value.items())
        elif type(value) is list:
            yield from ((f"{scorer}.{place}", _graded(one)) for place, one in enumerate(value, start=1))
        else:
            yield scorer, _graded(value)


def _graded(value: Any) -> float:
    """The number of a score; NaN for what is none."""
    if type(value) is not str:
        return score(value)
    told = value.strip().lower()
    return score(float(told)) if _NUMBER.fullmatch(told) else _GRADES.get(told, math.nan)
