"""A result that nlgauge wrote: the object in the file of `--json`, checked and as a `Result` again."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import KINDS, SETTINGS, Result
from nlgauge.core.segment import RepeatedKey, unique
from nlgauge.io.files import InputFile

SCHEMA = 1
_WORDS = {str: "a text", bool: "true or false", list: "a list", dict: "an object"}
_ENTRIES: Mapping[str, Mapping[str, type]] = {  # list of objects -> the fields that each of them has
    "inputs": {"path": str, "sha256": str},
    "metrics": {"spec": str, "signature": str, "higher_is_better": bool},
    "rows": {},
    "statistics": {"metric": str, "statistic": str, "part": str},
    "disagreements": {"id": str, "metric": str, "criterion": str},
    "items": {"metric": str, "seg": str, "base_hyp": str, "new_hyp": str},
}
_OPTIONAL = ("statistics", "disagreements", "items")


def read_result(path: str | os.PathLike[str] | InputFile) -> Result:
    """Read what `Result.write` wrote as JSON, and so what `--json` writes.

    Args:
        path: the file, plain or gzip; `-` is standard input, which can be read once.

    Returns:
        The result; an undefined number, which JSON writes as null, is None.

    Raises:
        InputError: the file cannot be read, is no result of nlgauge, or has another schema than this version reads.
    """
    file = path if isinstance(path, InputFile) else InputFile(path)
    made = strict_json(file, _no_result)
    fault = next(_faults(made), None)
    if fault is not None:
        raise _no_result(file.name, fault)
    if made["schema"] != SCHEMA:
        raise InputError(
            f"{file.name}: a result of schema {made['schema']!r}, and this version of nlgauge reads schema {SCHEMA};"
            f" read it with the version that wrote it ({made.get('version')}) or a later one"
        )
    if made["kind"] not in KINDS:
        raise InputError(f"{file.name}: a result of kind {made['kind']!r}, expected one of {', '.join(KINDS)}")
    return Result(
        made["kind"],
        made["rows"],
        made["inputs"],
        made["metrics"],
        made["notes"],
        {name: made[name] for name in SETTINGS if made.get(name) is not None},
        made.get("command"),
        made.get("statistics", ()),
        made.get("disagreements", ()),
        made.get("verdict"),
        made.get("reasons", ()),
        made.get("items", ()),
    )


def _faults(made: Any) -> Iterator[str]:
    """Why an object is no result; nothing for one that is."""
    if type(made) is not dict or not {"schema", "kind"} <= made.keys():
        yield "it has no fields 'schema' and 'kind'"
        return
    if made["schema"] != SCHEMA:
        return  # which is another fault
    for name, fields in _ENTRIES.items():
        if name in _OPTIONAL and name not in made:
            continue
        if type(made.get(name)) is not list:
            yield f"field {name!r} is no list"
            return
        for i, entry in enumerate(made[name]):
            if type(entry) is not dict:
                yield f"entry {i + 1} of {name!r} is no object"
                return
            for field, kind in fields.items():
                if type(entry.get(field)) is not kind:
                    yield f"{field!r} in entry {i + 1} of {name!r} is not {_WORDS[kind]}"
    if not isinstance(made["kind"], str):
        yield "field 'kind' is no text"
    for name in ("notes", *(["reasons"] if "reasons" in made else [])):
        if type(made.get(name)) is not list or not all(isinstance(one, str) for one in made[name]):
            yield f"field {name!r} is no list of texts"
    for name in ("command", "verdict"):
        if not isinstance(made.get(name), str | None):
            yield f"field {name!r} is no text"


def strict_json(file: InputFile, fault: Callable[[str, str], InputError]) -> Any:
    """The JSON of a file that nlgauge wrote: no key twice, and no NaN or Infinity.

    Args:
        file: the file.
        fault: from the name of the file and a reason, the error that says what was expected.

    Raises:
        InputError: the file cannot be read, is beyond the limits, or is not such JSON.
    """
    try:
        text = b"".join(file.chunks()).decode("utf-8-sig")
        made = json.loads(text, object_pairs_hook=unique, parse_constant=_refused)
    except (RepeatedKey, RecursionError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise fault(file.name, f"it is not valid JSON: {str(error).splitlines()[0]}") from None
    file.limits.check_json(text, made, file.name)
    return made


def _no_result(name: str, why: str) -> InputError:
    return InputError(f"{name} is no result of nlgauge, expected what --json writes ({why})")


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no number of JSON")
