"""A verdict as JUnit XML, which continuous integration shows as tests: one for each metric of a gate."""

from __future__ import annotations

import os
from xml.sax.saxutils import escape, quoteattr

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.labels import visible
from nlgauge.report.pages import write_page
from nlgauge.report.tables import Row


def junit(result: Result) -> str:
    """The XML of a result of kind `gate`.

    A metric that fails is a failure, one that is INCONCLUSIVE an error of its own type; metrics that are only reported
    are skipped tests.

    Raises:
        InputError: the result is of another kind.
    """
    if result.kind != "gate":
        raise InputError(f"a result of kind {result.kind!r} has no verdict for JUnit XML, expected one of gate")
    deciding = [row for row in result.rows if row["decides"]]
    counts = {
        "tests": len(result.rows),
        "failures": sum(row["verdict"] == "FAIL" for row in deciding),
        "errors": sum(row["verdict"] == "INCONCLUSIVE" for row in deciding),
        "skipped": len(result.rows) - len(deciding),
    }
    told = " ".join(f'{name}="{count}"' for name, count in counts.items())
    cases = "".join(_case(row) for row in result.rows)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return f'{head}<testsuites {told}>\n<testsuite name="nlgauge gate" {told}>\n{cases}</testsuite>\n</testsuites>\n'


def _case(row: Row) -> str:
    opening = f'<testcase classname="nlgauge.gate" name={_attribute(row["metric"])} time="0">'
    text, reason = escape(_clean(row["reason"])), _attribute(row["reason"])
    if not row["decides"]:
        inside = f"<skipped message={_attribute('only reported: ' + row['reason'])}/>"
    elif row["verdict"] == "FAIL":
        inside = f'<failure type="FAIL" message={reason}>{text}</failure>'
    elif row["verdict"] == "INCONCLUSIVE":
        inside = f'<error type="INCONCLUSIVE" message={reason}>{text}</error>'
    else:
        inside = f"<system-out>{text}</system-out>"
    return f"{opening}{inside}</testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Text without what XML cannot hold."""
    return visible(str(text))


def write_junit(result: Result, path: str | os.PathLike[str]) -> None:
    """Write the XML, whole or not at all.

    Raises:
        InputError: the result is of another kind, or the file cannot be written.
    """
    write_page(junit(result), path)
