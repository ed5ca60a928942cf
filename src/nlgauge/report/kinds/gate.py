"""Verdicts on changes: why, the numbers, the items that lost most with what is new in them; and as JUnit XML."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.labels import ELLIPSIS, visible
from nlgauge.report.pages import render_result
from nlgauge.report.tables import FALLS, LOWER_IS_BETTER, Kind, Paper, Part, Row, Table, absent, by_keys, number
from nlgauge.report.text import marked, pieces, rises, shared

HEADS = {
    "PASS": "the change may ship",
    "FAIL": "the change loses more than is allowed",
    "INCONCLUSIVE": "too few items to tell",
}
LOST = "[...] is new, and [] marks a place where something is gone; old → new where less than half is shared."
_SHARED = 0.5  # of two texts: where less is shared, marks around words say nothing
_SELDOM = 0.05  # of A/A pairs, and the p-value of what moves whole runs
_MOST = 400  # characters of a text in a terminal or in Markdown
_BY_RULE = ("tango", "bootstrap-t", "unseen", "worst-case", "t")  # methods whose power is known
_HEADER = ("metric", "verdict", "base", "new", "change", "allowed", "items", "changed", "seen from", "method")
_LEGEND = (
    "change: below 0 is worse, whatever the direction of the metric; its bounds are one-sided",
    "seen from: the smallest drop of the mean that so many items tell from none with probability .8",
)
AA = "What the gate says though nothing changed"
_AA = (
    ("Verdicts", "metric fail pass inconclusive fail_otherwise pairs pairs_fail pairs_pass"),
    ("Allowances", "metric allow allow_few_fail allow_most_pass allow_item_few_fail"),
    ("Noise", "metric differs item_sd mean_sd mean_sd_items q_p"),
)
_AA_LEGENDS = (
    "fail, pass, inconclusive: shares of pairs whose items have the scores of two of their runs; fail otherwise: by"
    " another rule than that of the mean; pairs: each run against each other one",
    "few fail, most pass: from here on fewer than one of twenty pairs FAIL, and nineteen PASS, by this metric alone",
    "differs: share of items whose runs have other scores; sd: between runs, of an item and of the mean; mean sd items:"
    " what the noise of items alone makes of the mean's; q p: of Cochran's Q, small where something moves whole runs",
)


def head(result: Result) -> str:
    """The verdict, in a line."""
    return f"{result.verdict}: {_said(result)}" if result.verdict else ""


def _said(result: Result) -> str:
    decides = any(row["decides"] for row in result.rows) or not result.rows
    return HEADS.get(str(result.verdict), "") if decides else "no metric here judges the outputs"


def gate_parts(paper: Paper) -> list[Part]:
    """The verdict and its reasons, the table of metrics, and the items that lost most."""
    result = paper.result
    if result.verdict is None:
        return aa_parts(result, paper.places) if result.rows else []
    reasons = "\n".join(f"- {reason}" for reason in result.reasons)
    return [head(result), reasons, power(result), gate_table(result, paper.places), *_items(result, paper)]


def aa_parts(result: Result, digits: int = 3) -> list[Part]:
    """What the gate says of runs of one system: what to allow, verdicts, noise, and pass^k of scores of 0 and 1."""
    passing = ("pass^k: share of items that pass all of k runs", "metric statistic value low high")
    tables = [
        replace(_fields(title, result.rows, fields.split(), digits), legend=(legend,))
        for (title, fields), legend in zip(_AA, _AA_LEGENDS, strict=True)
    ]
    tables += [_fields(passing[0], result.statistics, passing[1].split(), digits)] if result.statistics else []
    return [f"{AA} ({result.rows[0]['runs']} runs)", "\n".join(f"- {one}" for one in allowances(result)), *tables]


def _fields(title: str, rows: Sequence[Row], names: Sequence[str], digits: int) -> Table:
    """A table of some fields; a row that has none of them is left out."""

    def cell(name: str, value: Any) -> str:
        if not isinstance(value, float) or "allow" in name or "sd" in name:  # in units of the metric
            return value if isinstance(value, str) else "" if absent(value) else f"{value:.4g}"
        return number(value, digits, missing="")

    body = tuple((row["metric"], *(cell(name, row[name]) for name in names[1:])) for row in rows)
    return Table(title, tuple(n.replace("_", " ") for n in names), tuple(line for line in body if any(line[1:])))


def allowances(result: Result) -> Iterator[str]:
    """From which allowances on FAIL comes seldom and PASS mostly, as they are typed; else what no allowance changes."""
    deciding, plain = [row for row in result.rows if row["decides"] and not absent(row["fail_otherwise"])], list[Row]()
    for row in deciding:
        if row["fail_otherwise"] > _SELDOM:
            yield (
                f"{row['metric']}: {row['fail_otherwise']:.0%} of pairs FAIL by another rule than that of the mean (a"
                " missing score, --allow-item, --min-pass), which no --allow changes"
            )
        elif not absent(row["q_p"]) and row["q_p"] <= _SELDOM:
            yield (
                f"{row['metric']}: something moves whole runs, for which allowances from the noise of items are too"
                f" small; of {row['pairs']} pairs of runs {row['pairs_fail']} FAIL and {row['pairs_pass']} PASS"
            )
        else:
            plain.append(row)
    alone = " (each by itself; of all together fewer pass)" if len(deciding) > 1 else ""
    for said, key in (
        ()
        if not plain
        else (
            ("FAIL comes in fewer than one of twenty pairs", "few_fail"),
            ("PASS in nineteen of twenty", "most_pass"),
        )
    ):
        known = {row["metric"]: row[f"allow_{key}"] for row in plain if not absent(row[f"allow_{key}"])}
        typed = " ".join(f"--allow {shlex.quote(f'{spec}={allow:g}')}" for spec, allow in known.items())
        yield f"{said} from {typed} on{alone}" if typed else f"{said} with no allowance"


def power(result: Result) -> str:
    """What so many items can show."""
    drops = {row["metric"]: row["smallest_drop"] for row in result.rows if not absent(row["smallest_drop"])}
    seen = [f"{drop:.2g} by {spec}" for spec, drop in drops.items() if drop]
    n = max(row["n"] for row in result.rows)
    told = [f"{n} items can show drops of the mean from {', '.join(seen)} on, with probability .8."] if seen else []
    unseen = {row["metric"]: row for row in result.rows if row["metric"] not in drops and row["method"] in _BY_RULE}
    is_grouped = any(row["method"] == "t" and row["n_clusters"] for row in unseen.values())
    few = "there are too few groups" if is_grouped else "too few items differ from the rest"
    told += [f"No drop is seen with probability .8 by {', '.join(unseen)}: {few}."] if unseen else []
    return " ".join(told)


def gate_table(result: Result, digits: int = 3) -> Table:
    """One line per metric."""
    falls = {metric["spec"] for metric in result.metrics if rises(metric) is False}
    shown = {metric["spec"] for metric in result.metrics if rises(metric) is None}
    body = tuple(_line(row, row["metric"] in falls, row["metric"] in shown, digits) for row in result.rows)
    legend = (*([LOWER_IS_BETTER] if falls else []), *_LEGEND)
    return Table("", _HEADER, body, left=2, legend=legend)


def _line(row: Row, falls: bool, shown: bool, digits: int) -> tuple[str, ...]:
    name = f"{row['metric']}{FALLS if falls else ''}"
    return (
        name,
        row["verdict"] if row["decides"] else "(judges none)" if shown else f"({row['verdict']}, only reported)",
        number(row["base"], digits),
        number(row["new"], digits),
        change(row, digits),
        f"{-row['allow']:g}" if row["allow"] else "0",
        str(row["n"]) + (f" in {row['n_clusters']} groups" if row["n_clusters"] else ""),
        str(row["n_changed"]),
        "" if absent(row["smallest_drop"]) else number(-row["smallest_drop"], digits),
        row["method"],
    )


def change(row: Row, digits: int = 3) -> str:
    """The change of the mean with its bounds, "-0.23 [-0.34, -0.12]"; an end that nothing bounds is left out."""
    shown = number(row["delta"], digits, sign="+")
    if absent(row["low"]) and absent(row["high"]):
        return shown
    low, high = (number(row[end], digits, sign="+", missing="") for end in ("low", "high"))
    return f"{shown} [{low}, {high}]"


def _items(result: Result, paper: Paper) -> Iterator[Part]:
    for (spec,), rows in by_keys(result.items, "metric").items():
        title = f"Items that lost most by {spec}. {LOST}"
        body = tuple((str(row["seg"]), number(row["delta"], paper.places, sign="+"), _marked(row)) for row in rows)
        if paper.is_text:
            lines = [title, *(f"  {seg}  {delta}  {text}" for seg, delta, text in body)]
            yield "\n".join(" ".join(line.splitlines()) for line in lines)
        else:
            yield Table(title, ("item", "text", "change"), tuple((s, t, d) for s, d, t in body), left=2)


def _marked(row: Mapping[str, Any]) -> str:
    before, after = row["base_hyp"], row["new_hyp"]
    if shared(before, after) >= _SHARED:
        return _cut(marked(before, after))
    return f"{_cut(before)} → {_cut(after)}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else text[:_MOST] + ELLIPSIS


def gate_html(result: Result) -> str:
    """The page of a result of kind `gate`."""
    if result.verdict is None and result.rows:
        runs, _, *tables = aa_parts(result)
        return render_result("tables.html", result, heading=AA, shown=[runs, *allowances(result), *tables])
    items = [
        {
            "metric": spec,
            "rows": [
                {
                    **row,
                    "change": number(row["delta"], sign="+"),
                    "scores": f"{number(row['base'])} → {number(row['new'])}",
                    "pieces": pieces(row["base_hyp"], row["new_hyp"]),
                }
                for row in rows
            ],
        }
        for (spec,), rows in by_keys(result.items, "metric").items()
    ]
    return render_result(
        "gate.html",
        result,
        verdict=result.verdict or "",
        head=_said(result),
        reasons=result.reasons,
        power=power(result) if result.rows else "",
        table=gate_table(result) if result.rows else None,
        items=items,
    )


KIND = Kind(parts=gate_parts, page=gate_html)


# --- A verdict as JUnit XML, which continuous integration shows as tests: one for each metric of a gate


def junit(result: Result, inconclusive: str | None = None) -> str:
    """The XML of a result of kind `gate`.

    A metric that fails is a failure, one that is INCONCLUSIVE an error of its own type; metrics that are only reported
    are skipped tests.

    Args:
        inconclusive: `pass` makes INCONCLUSIVE a skipped test, and `fail` a failure, as the exit code has it then.

    Raises:
        InputError: the result is of another kind.
    """
    if result.kind != "gate":
        raise InputError(f"a result of kind {result.kind!r} has no verdict for JUnit XML, expected one of gate")
    deciding = [row for row in result.rows if row["decides"]] or [*result.rows]  # none decides: all are open
    open_ones = sum(row["verdict"] == "INCONCLUSIVE" for row in deciding)
    kind = {"pass": "skipped", "fail": "failure"}.get(inconclusive or "", "error")
    counts = {
        "tests": len(result.rows),
        "failures": sum(row["verdict"] == "FAIL" for row in deciding) + open_ones * (kind == "failure"),
        "errors": open_ones * (kind == "error"),
        "skipped": len(result.rows) - len(deciding) + open_ones * (kind == "skipped"),
    }
    told = " ".join(f'{name}="{count}"' for name, count in counts.items())
    cases = "".join(_case(row, row in deciding, kind) for row in result.rows)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<testsuites {told}>\n<testsuite name="nlgauge gate" {told}>\n{cases}</testsuite>\n</testsuites>\n'


def _case(row: Row, decides: bool, inconclusive: str) -> str:
    opening = f'<testcase classname="nlgauge.gate" name={_attribute(row["metric"])} time="0">'
    text, reason = escape(_clean(row["reason"])), _attribute(row["reason"])
    if not decides:
        inside = f"<skipped message={_attribute('only reported: ' + row['reason'])}/>"
    elif row["verdict"] == "FAIL":
        inside = f'<failure type="FAIL" message={reason}>{text}</failure>'
    elif row["verdict"] == "INCONCLUSIVE":
        told = "" if inconclusive == "skipped" else 'type="INCONCLUSIVE" '
        inside = f"<{inconclusive} {told}message={reason}>{text}</{inconclusive}>"
    else:
        inside = f"<system-out>{text}</system-out>"
    return f"{opening}{inside}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return visible(str(text))
