"""The verdict of people to expect, beside the comparisons of systems in a result."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from nlgauge.core.metric import signature_of
from nlgauge.core.result import Result, Row
from nlgauge.metrics.base import Metric
from nlgauge.metrics.comparing.thresholds import SHIPPED, MetricThresholds, Thresholds, read_thresholds
from nlgauge.runtime.runtime import Runtime


def thresholds_for(
    given: str | Thresholds | None, metrics: Mapping[str, Metric], runtime: Runtime
) -> Thresholds | None:
    """The thresholds that were asked for, read if a file was named.

    Raises:
        InputError: the file is none of thresholds, or nothing is known of any of the metrics.
    """
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
        result: systems that were compared.
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
    return {
        "agreement": share,
        "agreement_low": low,
        "agreement_high": high,
        "agreement_seen": metric.largest,
    }


def _notes(
    thresholds: Thresholds, found: Mapping[str, MetricThresholds | str], ns: Mapping[str, set[int]]
) -> Iterator[str]:
    if any(not isinstance(one, str) for one in found.values()):
        yield thresholds.note()
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
