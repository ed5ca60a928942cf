"""Tables of thresholds: for each metric how often people agree with a difference of two systems; read and checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.result import Result, Row
from nlgauge.core.scores import first_few
from nlgauge.core.segment import Segment, unique
from nlgauge.metrics.languages import beyond_english
from nlgauge.runtime.runtime import Runtime

SHIPPED = "shipped"
_KIND, _SCHEMA = "thresholds", 1
_LEVEL = 0.95
# Entries of a signature that differ between installations or sets of texts, not between metrics.
_PASSING = re.compile(r"\|?\b(nlgauge|sacrebleu|torch|tokenizers|transformers|unicode|documents):[^|()]*")
Form = Literal["logistic", "logistic_n", "isotonic"]
FORMS: tuple[Form, ...] = get_args(Form)
UNIT = 500  # segments at which the power of `logistic_n` is 1


@by_value
@dataclass(frozen=True)
class AgreementCurve:
    """The share of pairs of systems that people order as the metric does.

    The share is 0.5 for no difference, never falls as the difference grows, and the shares of a difference and of its
    negative sum to 1.

    Attributes:
        form: `logistic`, 1 / (1 + exp(-slope difference)); `logistic_n`, whose slope is multiplied by
            (n / 500) ** power, power from 0 to 1; or `isotonic`, straight lines between values at knots.
        parameters: slope and power, or the values at the knots; shape (k,), or (B, k) for B curves at once.
        knots: differences, rising from 0; empty but for `isotonic`.
    """

    form: Form
    parameters: Array
    knots: Array

    def share(self, difference: float | Array, n: float | Array = UNIT) -> Array:
        """The share for differences of systems over n segments; shape of the arguments, after (B,) for B curves."""
        size, sign = np.abs(difference), np.sign(difference)
        rows = np.atleast_2d(self.parameters)
        upper = np.stack([self._upper(row, size, np.asarray(n, dtype=np.float64)) for row in rows])
        share = 0.5 + sign * (upper - 0.5)
        return np.asarray(share if np.ndim(self.parameters) > 1 else share[0])

    def _upper(self, row: Array, size: Array, n: Array) -> Array:
        if self.form == "isotonic":
            return np.asarray(np.interp(size, self.knots, row))
        return logistic(slope_at(row, n) * size)


def slope_at(parameters: Array, n: float | Array) -> Array:
    """The slope of a logistic curve over n segments."""
    power = parameters[1] if len(parameters) > 1 else 0.0
    return np.asarray(parameters[0] * (np.asarray(n, dtype=np.float64) / UNIT) ** power)


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)) of numbers, 0 or more."""
    return np.asarray(1 / (1 + np.exp(-np.minimum(x, 700.0))))


@dataclass(frozen=True)
class MetricThresholds:
    """How often people agree with differences of one metric.

    Attributes:
        spec: the metric as it was named.
        signature: the signature under which the curve was fitted.
        references: the least and the greatest number of references per segment; None for a metric that reads none.
        curve: the share of pairs in which people agree, by difference and number of segments.
        resampled: the same curve of each resample, from which intervals come.
        largest: the largest difference among the pairs.
        n: the least and the greatest number of segments.
    """

    spec: str
    signature: str
    references: tuple[int, int] | None
    curve: AgreementCurve
    resampled: AgreementCurve
    largest: float
    n: tuple[int, int]

    def agreement(self, delta: float, n: int) -> tuple[float, float, float] | None:
        """The share of pairs with such a difference that people order as the metric does, and its 95 % interval.

        Args:
            delta: the difference of two systems, whatever its sign.
            n: the number of segments. More than were seen count as the greatest number seen.

        Returns:
            Share, lower and upper end, each from 0.5; None where no pair was so far apart or had so few segments.
        """
        if abs(delta) > self.largest or n < self.n[0]:
            return None
        at = abs(delta), float(min(n, self.n[1]))
        ends = np.quantile(self.resampled.share(*at), [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        return float(self.curve.share(*at)), float(ends[0]), float(ends[1])


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of several metrics, fitted on the same systems.

    They hold for metrics of the same signature (options, model, weights, layer; versions of packages may differ) and
    for texts with as many references per segment; another gets no share but a note. No signature sees the task: the
    shipped table is of translation into English with one reference, and is never used unless it is named. Nothing is
    extrapolated beyond the largest difference and below the fewest segments that were seen.

    Attributes:
        metrics: one entry per metric.
        sets: what was rated: group, criterion, systems and number of items of each set.
        name: the file that it was read from, or `shipped`.
        sha256: the digest of that file; empty if it was not read from one.
        about: what the sets are, in a few words; empty if nobody says.
        foreign: why it says nothing of the texts at hand, see `over`; mostly empty.
    """

    metrics: tuple[MetricThresholds, ...]
    sets: tuple[Mapping[str, Any], ...] = ()
    name: str = ""
    sha256: str = ""
    about: str = ""
    foreign: str = ""

    def over(self, blocks: Iterable[Sequence[Segment]]) -> Thresholds:
        """The thresholds for these texts: the shipped ones, of translation into English, say nothing of others."""
        if self.name != SHIPPED:
            return self
        seen, _ = beyond_english(frozenset({"references"}), blocks)
        return replace(self, foreign=f"it is of {self.about}, and {first_few(seen)}") if seen else self

    def of(self, signature: str, references: Collection[int] = ()) -> MetricThresholds | str:
        """The thresholds of a metric, or the reason why there are none.

        Args:
            references: the numbers of references that their segments have; empty if they are not known yet.
        """
        if self.foreign:
            return self.foreign
        wanted = identity(signature)
        same = [one for one in self.metrics if identity(one.signature) == wanted]
        if not same:
            return self._reason(wanted)
        found = same[0]
        seen = found.references
        if seen is not None and any(not seen[0] <= count <= seen[1] for count in references):
            return f"fitted with {_span(*seen)} per segment, here {_span(min(references), max(references))}"
        return found

    def check(self, signatures: Mapping[str, str]) -> None:
        """Refuse metrics none of which has thresholds.

        Raises:
            InputError: there are none; the error says why for the first metric.
        """
        reasons = {spec: found for spec, own in signatures.items() if isinstance(found := self.of(own), str)}
        if signatures and len(reasons) == len(signatures):
            spec, reason = next(iter(reasons.items()))
            raise InputError(f"{self.name or 'thresholds'}: nothing is known of {spec}: {reason}")

    def note(self) -> str:
        """One line: what the shares are about."""
        systems = sum(len(one["systems"]) for one in self.sets)
        criteria = ", ".join(dict.fromkeys(str(one["criterion"]) for one in self.sets))
        what = self.about or ", ".join(dict.fromkeys(str(one["group"] or "one set") for one in self.sets))
        return (
            f"people agree: share of pairs of systems so far apart that ratings ({criteria}, means over segments) order"
            f" as the metric does, with 95 % interval; {self.name}: {systems} systems, {what}"
        )

    def _reason(self, wanted: str) -> str:
        """How the signature differs from that of a metric of the same name."""
        name = wanted.partition("|")[0]
        for one in self.metrics:
            known = identity(one.signature)
            if known.partition("|")[0] == name:
                there, here = (dict(e.partition(":")[::2] for e in s.split("|")) for s in (known, wanted))
                option = next((key for key in {**there, **here} if there.get(key) != here.get(key)), "")
                return f"fitted with {option} {there.get(option, 'absent')}, here {here.get(option, 'absent')}"
        return f"it was fitted for {', '.join(one.spec for one in self.metrics)}"


def identity(signature: str) -> str:
    """A signature without versions of packages and digests of documents, which the meaning of a score survives."""
    return _PASSING.sub("", signature)


def read_thresholds(path: str) -> Thresholds:
    """Read a table that recipes/tools/thresholds made; `shipped` names the one that comes with the package.

    A metric of another signature (versions of packages may differ) or texts with another number of references get no
    share but a note. No share is given for a difference larger than all that were seen, or for fewer segments. The task
    must fit, too, which no signature tells.

    Raises:
        InputError: the file cannot be read, or is none of thresholds; the error says what is wrong in it.
    """
    if path == SHIPPED:
        content = files("nlgauge.data").joinpath("thresholds", "translation.json").read_bytes()
    else:
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"cannot read thresholds {path}: {error.strerror}; 'shipped' names our own") from None
    try:
        loaded = json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise InputError(f"{path}: expected a table of thresholds in JSON; 'shipped' names our own") from None
    if not isinstance(loaded, dict) or loaded.get("kind") != _KIND:
        kind = loaded.get("kind") if isinstance(loaded, dict) else type(loaded).__name__
        raise InputError(f"{path}: expected a table of thresholds ('shipped' names our own), got kind {kind!r}")
    if loaded.get("schema") != _SCHEMA:
        raise InputError(f"{path}: schema is {loaded.get('schema')!r}, expected {_SCHEMA}; fit it again")
    try:
        sets = tuple(
            {**one, "systems": [*one["systems"]], "criterion": one["criterion"], "group": one["group"]}
            for one in loaded["sets"]
        )
        own = tuple(_metric(entry) for entry in loaded["metrics"])
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, AttributeError) as error:
        said = f"no {error.args[0]!r}" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise InputError(f"{path}: damaged table of thresholds ({said}); fit it again") from None
    return Thresholds(own, sets, path, sha256(content).hexdigest(), str(loaded.get("about") or ""))


def _metric(entry: Mapping[str, Any]) -> MetricThresholds:
    """One metric of the file; raises ValueError and the like where something is missing or impossible."""
    spec, form = str(entry["spec"]), entry["form"]
    if form not in FORMS:
        raise ValueError(f"{spec}: form is {form!r}")
    knots, row, draws = (np.asarray(entry[name], dtype=np.float64) for name in ("knots", "parameters", "draws"))
    length = {"logistic": 1, "logistic_n": 2}.get(form, len(knots))
    if row.shape != (length,) or draws.shape != (len(draws), length) or not len(draws) or not length:
        raise ValueError(f"{spec}: {form} has parameters of shape {row.shape} and draws of shape {draws.shape}")
    if form == "isotonic" and not ((np.diff(knots) > 0).all() and knots[0] == 0):
        raise ValueError(f"{spec}: knots do not rise from 0")
    largest, (least, most) = float(entry["largest"]), map(int, entry["n"])
    if (
        not np.isfinite(np.concatenate([knots, row, draws.ravel(), [largest]])).all()
        or largest < 0
        or not 0 < least <= most
    ):
        raise ValueError(f"{spec}: a number is not finite or out of its range")
    references = entry["references"]
    return MetricThresholds(
        spec=spec,
        signature=str(entry["signature"]),
        references=None if references is None else (int(references[0]), int(references[1])),
        curve=AgreementCurve(form, row, knots),
        resampled=AgreementCurve(form, draws, knots),
        largest=largest,
        n=(least, most),
    )


def _span(low: int, high: int) -> str:
    count = f"{low}" if low == high else f"{low} to {high}"
    return f"{count} reference{'' if count == '1' else 's'}"


# --- The verdict of people to expect, beside the comparisons of systems in a result


def thresholds_for(
    given: str | Thresholds | None, metrics: Mapping[str, BaseMetric], runtime: Runtime
) -> Thresholds | None:
    """The thresholds that were asked for, read if a file was named."""
    table = read_thresholds(given) if isinstance(given, str) else given
    if table is not None:
        table.check({spec: str(signature_of(metric, runtime)) for spec, metric in metrics.items()})
    return table


def with_agreement(
    result: Result, thresholds: Thresholds | None, references: Mapping[str, Collection[int]] | None = None
) -> Result:
    """A result of kind `score` in which every difference says how often people agree with one like it.

    Rows with a `delta` get `agreement`, `agreement_low` and `agreement_high` (shares from 0.5 to 1; None where no pair
    was so far apart), and `agreement_seen`, the largest difference that was seen.

    Args:
        thresholds: the table; None leaves the result as it is.
        references: specification -> numbers of references that its segments have.
    """
    if thresholds is None:
        return result
    found = {m["spec"]: thresholds.of(m["signature"], (references or {}).get(m["spec"], ())) for m in result.metrics}
    known = {spec: one for spec, one in found.items() if not isinstance(one, str)}
    counts = {(row["metric"], row.get("group"), row["system"]): row["n"] for row in result.rows if "n" in row}
    rows, ns = [], dict[str, set[int]]()
    for row in result.rows:
        delta, spec = row.get("delta"), row["metric"]
        if spec not in known or delta is None or math.isnan(delta):
            rows.append(row)
            continue
        n = counts[spec, row.get("group"), row["system"]]
        ns.setdefault(spec, set()).add(n)
        rows.append({**row, **_fields(known[spec], delta, n)})
    file = [{"path": thresholds.name, "sha256": thresholds.sha256}] if thresholds.name not in ("", SHIPPED) else []
    notes = [*result.notes, *_notes(thresholds, found, ns)]
    return replace(result, rows=rows, inputs=[*result.inputs, *file], notes=notes)


def _fields(metric: MetricThresholds, delta: float, n: int) -> Row:
    share, low, high = metric.agreement(delta, n) or (None, None, None)
    return {"agreement": share, "agreement_low": low, "agreement_high": high, "agreement_seen": metric.largest}


def _notes(
    thresholds: Thresholds, found: Mapping[str, MetricThresholds | str], ns: Mapping[str, set[int]]
) -> Iterator[str]:
    if any(not isinstance(one, str) for one in found.values()):
        yield thresholds.note()
    if thresholds.foreign:
        found = {}
        yield f"{thresholds.name} does not say how often people agree: {thresholds.foreign}"
    for spec, one in found.items():
        if isinstance(one, str):
            yield f"{spec}: {thresholds.name} does not say how often people agree: {one}"
            continue
        few = sorted(n for n in ns.get(spec, ()) if n < one.n[0])
        many = sorted(n for n in ns.get(spec, ()) if n > one.n[1])
        if few:
            yield f"{spec}: how often people agree is not known for {few[0]} segments, {one.n[0]} are the fewest seen"
        if many:
            yield (
                f"{spec}: pairs were seen over at most {one.n[1]} segments; over {many[-1]} people may agree more often"
            )
