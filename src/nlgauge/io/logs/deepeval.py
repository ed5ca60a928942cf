"""Test runs of deepeval: `test_run_DATE.json`, and what `.deepeval/` keeps of the latest run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import asked, document, entries, inner, item_of, score, text, texts
from nlgauge.io.source import HeldSource

_SOURCES = ("input", "context", "retrievalContext")


def open_deepeval(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read the cases of a test run.

    The item is made of the input and the expected output: names such as `test_case_0` change from run to run. Columns
    are the metrics, `NAME.pass` for the verdict of each, and `pass` for that of the case. Of some metrics, such as
    Bias, the lower score is the better one.

    Args:
        file: the file.
        columns: `src` is `input`, `context` or `retrievalContext`; the first if it is not named.

    Raises:
        InputError: there is no list of cases, or columns name another field.
    """
    want = asked(columns, ("src",), file.name).get("src", "input")
    if want not in _SOURCES:
        raise InputError(f"{file.name}: columns name {want!r} as src, expected {' or '.join(_SOURCES)}")
    whole = document(file)
    run = inner(whole, "testRunData") or whole
    log = Log(file)
    talks = inner(run, "conversationalTestCases")
    if type(talks) is list and talks:
        log.count("conversational cases are left out", len(talks))
    for _, case in entries(inner(run, "testCases"), file.name, "testCases"):
        log.add(
            Sample(
                item=item_of(*filter(None, (text(case.get("input")), text(case.get("expectedOutput"))))),
                hypothesis=text(case.get("actualOutput")),
                references=texts(case.get("expectedOutput")),
                source="\n".join(texts(case.get(want))) or None,
                scores=log.scores(_scores(case, log)),
            )
        )
    return log.source()


def _scores(case: Mapping[str, Any], log: Log) -> Iterator[tuple[str, float]]:
    metrics = case.get("metricsData")
    for one in metrics if type(metrics) is list else []:
        metric = text(inner(one, "name"))
        if metric is None:
            continue
        if inner(one, "flaky") is True:
            log.note(f"{metric!r} is marked flaky: deepeval does not let it decide")
        failed = inner(one, "error") is not None
        yield metric, math.nan if failed else score(inner(one, "score"))
        passed = inner(one, "success")
        yield f"{metric}.pass", math.nan if failed or type(passed) is not bool else float(passed)
    success = case.get("success")
    if type(success) is bool:
        yield "pass", float(success)
