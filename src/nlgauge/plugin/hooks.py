"""What pytest calls: options, the fixture, and baselines that are written when all tests are done.

pytest imports this module in every run, also in those that never ask for the fixture; so it imports nothing of nlgauge.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from nlgauge.plugin.runs import Door

_KEY = "nlgauge"
_LEFT = pytest.StashKey[dict[str, Any]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup(_KEY)
    group.addoption(
        "--nlgauge-update",
        action="store_true",
        default=False,
        help="write the baselines of run.no_worse_than(...) instead of comparing with them",
    )
    group.addoption(
        "--nlgauge-inconclusive",
        choices=("fail", "pass"),
        default="fail",
        help="what a verdict INCONCLUSIVE does: fail, or pass with a warning",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare what tests leave behind."""
    left = config.stash[_LEFT] = {"updates": {}, "judged": {}, "runtime": None, "faults": []}
    config.pluginmanager.register(_Gathered(left))


class _Gathered:
    """Baselines come with the report of each test, from workers of xdist too, so that none is lost with a worker."""

    def __init__(self, left: dict[str, Any]) -> None:
        self.left = left

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        report = yield
        own = {path: one for path, one in self.left["updates"].items() if one[0] == item.nodeid}
        if own and report.when == "teardown":
            setattr(report, _KEY, own)
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        for path, (test, text) in getattr(report, _KEY, {}).items():
            first, _ = self.left["updates"].setdefault(path, (test, text))
            if first != test:
                fault = f"{path} is the baseline of {first} and of {test}; give each its own name"
                self.left["faults"].append(fault)


@pytest.fixture(name="nlgauge")
def _nlgauge(request: pytest.FixtureRequest) -> Door:
    """Outputs of a system, as runs that are judged: `nlgauge.run(hyps, refs=...)`.

    `hyps` has a text per item, or a list of the texts of its runs, with `refs`, `srcs`, `ids` and `groups`; or it is a
    data set, a frame or a data file. `run.at_least(metric, value)` and `run.no_worse_than(name, metrics=...,
    allow=...)` are true or false and have a `verdict`; the table and the worst items stand below a failure. With
    pytest-xdist the workers send baselines, and the controller writes them.
    """
    from nlgauge.plugin.runs import Door

    return Door(request.node, request.config.stash[_LEFT])


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write baselines; never in a worker of xdist."""
    left = session.config.stash[_LEFT]
    if hasattr(session.config, "workeroutput"):
        return
    if left["updates"] and not left["faults"]:
        from nlgauge.plugin.runs import write_all

        write_all({path: text for path, (_, text) in left["updates"].items()})
    if left["faults"]:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which baselines were written."""
    left = config.stash[_LEFT]
    for fault in left["faults"]:
        terminalreporter.write_line(f"nlgauge: {fault}; no baseline was written", red=True)
    for path in sorted(left["updates"]) if not left["faults"] else ():
        terminalreporter.write_line(f"nlgauge: wrote baseline {os.path.relpath(path, config.rootpath)}")
