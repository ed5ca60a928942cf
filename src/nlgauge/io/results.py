"""A result that nlgauge wrote: the object in the file of `--json`, its schema, and as a `Result` again."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from nlgauge.core.errors import InputError, nearest
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
    "people": {"criterion": str, "system": str, "metric": str},
    "raters": {"criterion": str},
    "ceiling": {"criterion": str, "level": str, "stat": str, "left_out": str, "metric": str},
    "worst": {"metric": str, "id": str, "hyp": str, "refs": list},
}
_OPTIONAL = ("statistics", "disagreements", "items", "people", "raters", "ceiling", "worst")


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
        made.get("people", ()),
        made.get("raters", ()),
        made.get("ceiling", ()),
        made.get("worst", ()),
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

    `fault` makes of the name of the file and a reason the error that says what was expected.
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


# --- The schema of results, made of the table that the reference shows

_EVERY = "*"  # in the table: fields of every result
_OF_OBJECT = ("metrics", "rows", "verdict", "reasons", *_OPTIONAL)  # other fields of a kind are those of its rows
_NAME = "NAME"  # stands for the end of any name
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def result_fields() -> list[dict[str, str]]:
    """The fields of result files: `kind` (`*` for every result), `field`, `type` and `meaning` of each."""
    lines = files("nlgauge.data").joinpath("result_fields.tsv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def result_schema(kind: str | None = None) -> dict[str, Any]:
    """The JSON Schema (2020-12) of results of one kind, or of all.

    It lets other fields pass, since new versions may add some.

    Args:
        kind: one of `KINDS`, or `list` for that of `nlgauge list metrics --json`; None for all, under `$defs`.

    Raises:
        InputError: there is no such kind.
    """
    table = result_fields()
    kinds = [*dict.fromkeys(field["kind"] for field in table if field["kind"] != _EVERY)]
    if kind is None:
        one_of = [{"$ref": f"#/$defs/{name}"} for name in kinds]
        return {"$schema": _DIALECT, "oneOf": one_of, "$defs": {name: _schema(name, table) for name in kinds}}
    if kind not in kinds:
        raise InputError(f"there is no result of kind {kind!r}{nearest(kind, kinds)}")
    return {"$schema": _DIALECT, **_schema(kind, table)}


def _schema(kind: str, table: list[dict[str, str]]) -> dict[str, Any]:
    always = [field["field"] for field in table if field["kind"] == _EVERY and "." not in field["field"]]
    made: dict[str, Any] = {"title": f"{kind} result of nlgauge", "type": "object", "required": always}
    for field in table:
        if field["kind"] not in (_EVERY, kind):
            continue
        of_row = field["kind"] == kind and field["field"].partition(".")[0] not in _OF_OBJECT
        held, name = made, f"rows.{field['field']}" if of_row else field["field"]
        while (parts := name.split(".", 1))[0] in held.get("properties", ()) and len(parts) > 1:
            held, name = held["properties"][parts[0]]["items"], parts[1]
        if name.endswith(_NAME):
            held.setdefault("patternProperties", {})[f"^{re.escape(name.removesuffix(_NAME))}"] = _typed(field)
        else:
            held.setdefault("properties", {})[name] = _typed(field)
    for name, types in _ENTRIES.items():
        if types and name in made["properties"]:
            made["properties"][name]["items"]["required"] = [*types]
    made["properties"]["schema"]["const"], made["properties"]["kind"]["const"] = SCHEMA, kind
    return made


def _typed(field: Mapping[str, str]) -> dict[str, Any]:
    """The schema of a field; its type reads `number or null`, or `array of string`."""
    outer, _, inner = field["type"].partition(" of ")
    made: dict[str, Any] = {"description": field["meaning"], "type": _types(outer)}
    return made | {"items" if outer == "array" else "additionalProperties": {"type": _types(inner)}} if inner else made


def _types(words: str) -> str | list[str]:
    return words.split(" or ") if " or " in words else words
