"""Judge cards: what is known of a judge, in one JSON file."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import null_if_nan, replacing
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.values import document

KIND, SCHEMA = "judge-card", 1
_DIGEST, _DATE = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, kw_only=True)
class Errors:
    """The errors of a judge on one system, as counts.

    Attributes:
        hits: items that people call positive and the judge, too.
        positives: items that people call positive.
        rejected: items that people call negative and the judge, too.
        negatives: items that people call negative.
    """

    hits: int
    positives: int
    rejected: int
    negatives: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or value < 0:
                raise InputError(f"{name} is {value!r:.40}, expected a count")
        if self.hits > self.positives or self.rejected > self.negatives:
            raise InputError("a judge cannot be right on more items than there are")


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """How far the labels of a judge moved under other prompts; `nlgauge.stats.prompt_sensitivity` finds it.

    Attributes:
        tried: prompts, with that of the card.
        n: items with labels under two of them or more.
        dependent: items of which the label depends on the prompt; more do, the more prompts are tried.
        kappa: agreement of two prompts beyond chance; NaN if it is undefined.
    """

    tried: int
    n: int
    dependent: int
    kappa: float

    def __post_init__(self) -> None:
        for name, least in (("tried", 2), ("n", 1), ("dependent", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise InputError(f"prompts: {name} is {value!r:.40}, expected a count from {least}")
        if self.dependent > self.n:
            raise InputError(f"prompts: {self.dependent} items depend on the prompt, and there are {self.n}")
        _check_share("prompts: kappa", self.kappa, -1.0)


@dataclass(frozen=True, kw_only=True)
class JudgeCard:
    """What is known of a judge.

    Attributes:
        model: the model, with its version.
        prompt_sha256: the digest of the prompt.
        n: items on which it was held against people.
        label_policy: how labels of people were made: who, how many, and what decided where they differ.
        kappa: Cohen's kappa with these labels; NaN if it is undefined.
        base_rate: the share of the commonest label of people.
        date: of the comparison, as YYYY-MM-DD.
        systems: system -> the errors of the judge on it.
        prompts: how far its labels moved under other prompts; None if no others were tried.

    Raises:
        InputError: a value is of the wrong kind.
    """

    model: str
    prompt_sha256: str
    n: int
    label_policy: str
    kappa: float
    base_rate: float
    date: str
    systems: Mapping[str, Errors] = field(default_factory=dict)
    prompts: Prompts | None = None

    def __post_init__(self) -> None:
        for name in ("model", "label_policy"):
            if type(getattr(self, name)) is not str or not getattr(self, name).strip():
                raise InputError(f"{name} is {getattr(self, name)!r:.40}, expected words")
        for name, pattern, what in (("prompt_sha256", _DIGEST, "64 hexadecimal digits"), ("date", _DATE, "YYYY-MM-DD")):
            if type(getattr(self, name)) is not str or not pattern.fullmatch(getattr(self, name)):
                raise InputError(f"{name} is {getattr(self, name)!r:.40}, expected {what}")
        if type(self.n) is not int or self.n < 1:
            raise InputError(f"n is {self.n!r:.40}, expected a count from 1")
        _check_share("kappa", self.kappa, -1.0)
        _check_share("base_rate", self.base_rate, 0.0)


def _check_share(name: str, value: Any, low: float) -> None:
    if type(value) not in (int, float) or not (value != value or low <= value <= 1):
        raise InputError(f"{name} is {value!r:.40}, expected a number from {low:g} to 1")


def write_card(path: str | os.PathLike[str], card: JudgeCard) -> None:
    """Write a card, beside its place first, so that no half file is left.

    Raises:
        InputError: the file cannot be written.
    """
    known = {name: null_if_nan(value) for name, value in asdict(card).items()}
    if card.prompts is None:
        del known["prompts"]  # cards from before prompts were kept look like that
    else:
        known["prompts"] = {name: null_if_nan(value) for name, value in known["prompts"].items()}
    with replacing(path) as file:
        json.dump({"schema": SCHEMA, "kind": KIND, **known}, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_card(path: str | os.PathLike[str]) -> JudgeCard:
    """Read a card.

    Raises:
        InputError: the file is no card, or a field is missing or wrong; the error names it.
    """
    file = InputFile(path)
    found = document(file)
    if type(found) is not dict or found.get("kind") != KIND:
        raise InputError(f"{file.name}: no judge card, expected an object with kind {KIND!r}")
    if found.get("schema") != SCHEMA:
        raise InputError(f"{file.name}: schema {found.get('schema')!r:.40}, expected {SCHEMA}")
    names = [one.name for one in fields(JudgeCard) if one.name != "prompts"]
    lacking = next((name for name in names if name not in found), None)
    if lacking is not None:
        raise InputError(f"{file.name}: field {lacking!r} is missing, expected {', '.join(names)}")
    try:
        known: dict[str, Any] = {name: found[name] for name in names}
        known["kappa"] = math.nan if known["kappa"] is None else known["kappa"]
        return JudgeCard(**{**known, "systems": _systems(known["systems"])}, prompts=_prompts(found.get("prompts")))
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from None


def _systems(value: Any) -> dict[str, Errors]:
    if type(value) is not dict:
        raise InputError("systems is no object, expected system -> counts")
    names = {one.name for one in fields(Errors)}
    for system, counts in value.items():
        if type(counts) is not dict or counts.keys() != names:
            raise InputError(f"systems: {system!r:.40} has other fields than {', '.join(sorted(names))}")
    return {system: Errors(**counts) for system, counts in value.items()}


def _prompts(value: Any) -> Prompts | None:
    if value is None:
        return None
    names = [one.name for one in fields(Prompts)]
    if type(value) is not dict or value.keys() != set(names):
        raise InputError(f"prompts has other fields than {', '.join(names)}")
    return Prompts(**{**value, "kappa": math.nan if value["kappa"] is None else value["kappa"]})
