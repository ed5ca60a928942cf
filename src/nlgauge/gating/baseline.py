"""A baseline that lasts: texts with their digests, scores and signatures in one JSON file, read again and checked."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.result import null_if_nan, replacing
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.gating.outputs import Outputs, text_digest
from nlgauge.gating.scored import Scored, score_side
from nlgauge.io.files import InputFile
from nlgauge.io.results import strict_json
from nlgauge.metrics.base import Metric, documents_of, is_pooled
from nlgauge.runtime.runtime import Runtime

KIND, SCHEMA = "baseline", 1
_SHOWN = 3  # entries of signatures in an error
_ROUNDING = 1e-6  # of a range: by so much a score may lie outside


@dataclass(frozen=True)
class Baseline:
    """What a file of `nlgauge gate --save` holds.

    Attributes:
        outputs: the texts; what they were written for is known by its digest alone.
        scored: the same with the scores of the metrics.
    """

    outputs: Outputs
    scored: Scored

    def scores_for(
        self, metrics: Mapping[str, Metric], new: Scored, outputs: Outputs, runtime: Runtime, rescore: bool = False
    ) -> Scored:
        """The scores of the baseline by the metrics of a gate.

        Args:
            metrics: specification as typed -> metric; nothing that the file names is made or opened.
            new: the other side, whose signatures must be those of the file.
            outputs: the texts of the baseline, with references and sources of the other side.
            runtime: for scoring again.
            rescore: score the texts of the file again where it has no such scores.

        Raises:
            InputError: the file lacks a metric, has it under another signature, or has a score outside its range.
        """
        for spec in metrics:
            stored = self.scored.signatures.get(spec)
            if not rescore and stored is None:
                known = " ".join(", ".join(self.scored.signatures).split()) or "none"
                raise InputError(
                    f"{self.outputs.name} has no scores of {spec}, its metrics are {known}; score its texts again with"
                    " --rescore (rescore=True)"
                )
            if not rescore and stored != new.signatures[spec]:
                raise InputError(
                    f"{self.outputs.name}: {spec} was scored otherwise than now:"
                    f" {difference(str(stored), new.signatures[spec])}; score its texts again with --rescore"
                    " (rescore=True)"
                )
        again = {s: m for s, m in metrics.items() if self.scored.signatures.get(s) != new.signatures[s]}
        for spec in metrics.keys() - again.keys():
            self._check_range(spec, metrics[spec])
        stored_runs = self.scored.over(outputs).runs
        fresh = score_side(outputs, again, runtime) if again else Scored(outputs, {}, {})
        return Scored(
            outputs,
            {spec: fresh.runs[spec] if spec in again else stored_runs[spec] for spec in metrics},
            {spec: new.signatures[spec] for spec in metrics},
            fresh.notes,
        )

    def _check_range(self, spec: str, metric: Metric) -> None:
        low, high = metric.info.range
        room = _ROUNDING * (high - low if math.isfinite(high - low) else 1.0)
        for item, scores in zip(self.outputs.items, self.scored.runs[spec], strict=True):
            if (scores < low - room).any() or (scores > high + room).any():
                raise InputError(
                    f"{self.outputs.name}: {spec} of item {item!r} is {scores.tolist()}, expected {low:g} to {high:g};"
                    " save the baseline again with --save"
                )


def difference(before: str, after: str) -> str:
    """What differs between two signatures, in words."""
    old, new = (dict(entry.partition(":")[::2] for entry in one.split("|")) for one in (before, after))
    keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    changed = [f"{key} was {old.get(key, 'absent')}, is {new.get(key, 'absent')}" for key in keys]
    return " ".join(", ".join(changed[:_SHOWN]).split())  # of a file, whatever stands there


def check_saved(metrics: Mapping[str, Metric], segments: Sequence[Segment]) -> None:
    """Refuse metrics whose scores depend on all texts of a call, so that those of a file are of no use in another.

    Raises:
        InputError: there is such a metric.
    """
    for spec, built in metrics.items():
        if is_pooled(built) and not documents_of(built, segments):
            raise InputError(
                f"{spec}: its scores depend on all texts of a call and cannot be kept in a baseline; give BASE as data"
            )


def check_name(path: str | os.PathLike[str]) -> None:
    """Refuse a name by which the file would not be known for a baseline.

    Raises:
        InputError: it does not end in `.json`.
    """
    if not os.fspath(path).endswith(".json"):
        raise InputError(
            f"{os.fspath(path)}: expected a name that ends in .json, by which a baseline is told from data"
        )


def write_baseline(side: Scored, metrics: Mapping[str, Metric], path: str | os.PathLike[str]) -> None:
    """Write the file, completely or not at all.

    Raises:
        InputError: a metric's scores cannot be kept, or the file cannot be written.
    """
    check_name(path)
    check_saved(metrics, side.outputs.segments)
    with replacing(path) as file:
        json.dump(as_json(side, metrics), file, ensure_ascii=False, indent=1, allow_nan=False)
        file.write("\n")


def as_json(side: Scored, metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """The object of the file."""
    items = []
    for i, (item, runs) in enumerate(side.outputs.items.items()):
        texts = [run.hypothesis for run in runs]
        scores = {spec: [null_if_nan(float(x)) for x in side.runs[spec][i]] for spec in metrics}
        items.append(
            {
                "seg": item,
                "group": runs[0].group,
                "inputs": side.outputs.digest(item),
                "texts": texts,
                "digests": [*map(text_digest, texts)],
                "scores": scores,
            }
        )
    described = [
        {"spec": spec, "signature": side.signatures[spec], "higher_is_better": built.info.higher_is_better}
        for spec, built in metrics.items()
    ]
    made = {
        "schema": SCHEMA,
        "kind": KIND,
        "version": version("nlgauge"),
        "inputs": [dict(one) for one in side.outputs.files],
        "metrics": described,
        "items": items,
    }
    return {**made, "seal": seal(made)}


def seal(made: Mapping[str, Any]) -> str:
    """A digest of all that a baseline says, in any order of keys and with any spaces.

    It finds what was damaged or changed by hand; whoever means to deceive can seal a file anew.
    """

    def plain(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: plain(one) for key, one in value.items()}
        if isinstance(value, list):
            return [*map(plain, value)]
        return int(value) if isinstance(value, float) and value.is_integer() else value  # 100.0 is 100 in JSON

    told = json.dumps(plain({key: one for key, one in made.items() if key != "seal"}), sort_keys=True)
    return sha256(told.encode()).hexdigest()


def is_baseline(path: str) -> bool:
    """Whether a file is one of `--save`, or was one before it was damaged."""
    if not path.endswith(".json") or not os.path.isfile(path):
        return False
    content = b"".join(InputFile(path).chunks())
    if re.search(rb'"kind"\s*:\s*"baseline"', content) is None:
        return False
    try:
        made = json.loads(content)
    except (ValueError, RecursionError):
        return content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    return isinstance(made, dict) and made.get("kind") == KIND


def read_baseline(path: str | os.PathLike[str]) -> Baseline:
    """Read a file of `nlgauge gate --save`.

    Raises:
        InputError: the file cannot be read, is no baseline, has another schema, or was changed since it was written.
    """
    file = InputFile(path)
    made = strict_json(file, _no_baseline)
    if type(made) is not dict or made.get("kind") != KIND:
        raise _no_baseline(file.name, "its kind is another")
    if made.get("schema") != SCHEMA:
        raise InputError(
            f"{file.name}: a baseline of schema {made.get('schema')!r}, this version of nlgauge reads schema {SCHEMA};"
            " save it again with --save"
        )
    try:
        known = _made(made, file)
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        what = f"there is no {error.args[0]!r}" if isinstance(error, KeyError) else "a field has another type"
        raise _no_baseline(file.name, what) from None
    if made.get("seal") != seal(made):
        why = "the seal differs" if "seal" in made else "there is no seal"
        raise InputError(
            f"{file.name}: a score or another entry may not be the one that was saved ({why}); save the baseline again"
            " with --save"
        )
    return known


def _made(made: Mapping[str, Any], file: InputFile) -> Baseline:
    signatures = {_text(one["spec"]): _text(one["signature"]) for one in made["metrics"]}
    items: dict[str, tuple[Segment, ...]] = {}
    runs: dict[str, list[Any]] = {spec: [] for spec in signatures}
    inputs: dict[str, str] = {}
    for entry in made["items"]:
        item, group, texts = _text(entry["seg"]), entry["group"], [*map(_text, entry["texts"])]
        if item in items or not texts or not (group is None or isinstance(group, str)):
            raise _no_baseline(file.name, f"item {item!r} occurs twice, or has no text")
        changed = next((t for t, d in zip(texts, entry["digests"], strict=False) if text_digest(t) != d), None)
        if changed is not None or len(texts) != len(entry["digests"]):
            raise InputError(
                f"{file.name}: a text of item {item!r} is not the one that was scored (its digest differs); save the"
                " baseline again with --save"
            )
        items[item] = tuple(
            Segment(f"{item}#{k}" if k else item, text, item=item, group=group) for k, text in enumerate(texts)
        )
        inputs[item] = _text(entry["inputs"])
        for spec in signatures:
            scores = np.array([_score(x) for x in entry["scores"][spec]])
            if len(scores) != len(texts):
                raise _no_baseline(file.name, f"item {item!r} has {len(scores)} scores and {len(texts)} texts")
            runs[spec].append(scores)
    if not items:
        raise _no_baseline(file.name, "it holds no item")
    outputs = Outputs(file.name, items, inputs, (dict(file.entry),))
    return Baseline(outputs, Scored(outputs, runs, signatures))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _score(value: Any) -> float:
    if value is None:
        return math.nan
    if type(value) not in (int, float) or not math.isfinite(value):
        raise TypeError
    return float(value)


def _no_baseline(name: str, why: str) -> InputError:
    return InputError(f"{name} is no baseline, expected what nlgauge gate --save writes ({why})")
