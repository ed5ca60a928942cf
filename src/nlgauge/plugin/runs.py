"""Outputs of a system in a test: at least so good, or no worse than a baseline that lies beside the test."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, MetricLike
from nlgauge.core.result import replacing
from nlgauge.gating.gate import judged, named_with, opened
from nlgauge.gating.outputs import Outputs, ScoredSide, as_json, check_saved, read_baseline, score_side
from nlgauge.gating.verdicts import Drops, Items, Rules, Scales, Undefined, level
from nlgauge.metrics.registry import named
from nlgauge.report.text import render
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks
from nlgauge.stats.gates import FAIL, INCONCLUSIVE, PASS

FOLDER = "__nlgauge__"
UPDATED = "UPDATED"
_AGAIN = "; if this is meant, write the baseline again with --nlgauge-update"
_KINDS = "LMN"  # letters of any script with their marks, and digits


def baseline_path(test: Path, name: str) -> Path:
    """The file of a baseline: `__nlgauge__/NAME.json` beside the test file.

    Raises:
        InputError: the name could lead elsewhere.
    """
    name = unicodedata.normalize("NFC", name)  # as some file systems would otherwise do it for one machine alone
    is_good = [unicodedata.category(one)[0] in _KINDS or one in "_-.[]" for one in name]
    if not name or not all(is_good) or name[0] in "-.[]":
        raise InputError(
            f"{name!r} is no name of a baseline, expected letters, digits, _, -, brackets and dots, as 'summaries'"
        )
    return test.parent / FOLDER / f"{name}.json"


def write_all(texts: Mapping[str, str]) -> None:
    """Write baselines, each completely or not at all; path -> content."""
    for path, text in texts.items():
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with replacing(path) as file:
            file.write(text)


class InconclusiveWarning(UserWarning):
    """A verdict INCONCLUSIVE that passes, because `--nlgauge-inconclusive=pass` says so."""


@dataclass(frozen=True, repr=False)
class Check:
    """A verdict in a test: true if it passes, and its `repr` is what a failure says.

    Attributes:
        verdict: PASS, FAIL, INCONCLUSIVE, or UPDATED where a baseline was written.
        text: why, with the drop and its bounds, what is allowed, and the worst items.
        is_passing: whether the test goes on.
    """

    verdict: str
    text: str
    is_passing: bool

    def __bool__(self) -> bool:
        return self.is_passing

    def __repr__(self) -> str:
        return self.text


@dataclass(repr=False)
class Door:
    """What the fixture `nlgauge` gives to one test.

    Attributes:
        node: the test.
        left: what all tests of the session share: baselines to write, verdicts, and models.
        made: verdicts of this test so far.
    """

    node: Any
    left: dict[str, Any]
    made: int = 0

    def __repr__(self) -> str:
        return "nlgauge"  # what pytest shows beside a failure

    def run(
        self,
        hyps: Any,
        refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
        srcs: Sequence[str] | None = None,
        *,
        ids: Sequence[str] | None = None,
        groups: Sequence[str] | None = None,
    ) -> Run:
        """The outputs of a system.

        Args:
            hyps: one text per item, or a list of the texts of its runs; or a data set, a frame or a file.
            refs: `[item][reference]`, or one per item.
            srcs: one source per item.
            ids: the id of each item, by which it is found in a baseline; by default they count from 1.
            groups: the group of each item; several groups are clusters.

        Raises:
            InputError: lengths differ, or an id occurs twice.
        """
        outputs = opened(hyps, "run", refs, srcs, ids, groups)
        if not isinstance(outputs, Outputs):
            raise InputError(f"{outputs.outputs.name} is a baseline, expected outputs of a system")
        return Run(outputs, self)

    @property
    def runtime(self) -> Runtime:
        """The models of the session, each loaded once."""
        if self.left["runtime"] is None:
            self.left["runtime"] = Runtime()
        made: Runtime = self.left["runtime"]
        return made

    @property
    def updates(self) -> bool:
        """Whether baselines are written."""
        return bool(self.node.config.getoption("nlgauge_update"))

    def settled(self) -> tuple[tuple[str, int], Check | None]:
        """The key of the next verdict, and the verdict that it had before this test was rerun.

        Trying until a verdict passes would make it pass by chance; so reruns do not count.
        """
        key = self.node.nodeid, self.made
        self.made += 1
        before: Check | None = self.left["judged"].get(key)
        return key, before

    def told(self, key: tuple[str, int], verdict: str, text: str) -> Check:
        """A verdict, noted for the report of the test."""
        passes = verdict == INCONCLUSIVE and self.node.config.getoption("nlgauge_inconclusive") == "pass"
        if passes:
            self.node.warn(InconclusiveWarning(f"nlgauge: {text.strip()}"))
        check = Check(verdict, text, passes or verdict in (PASS, UPDATED))
        if not check:
            self.node.add_report_section("call", "nlgauge", text)
        if verdict != UPDATED:
            self.left["judged"][key] = check
        return check

    def again(self, check: Check) -> Check:
        """The verdict of a test that is rerun."""
        if not check:
            self.node.add_report_section(
                "call", "nlgauge", f"{check.text}\nThe test was judged before; reruns do not count."
            )
        return check


@dataclass(repr=False)
class Run:
    """Outputs that are judged.

    Attributes:
        known: specification -> metric and scores, made so far.
    """

    outputs: Outputs
    door: Door
    known: dict[str, ScoredSide] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"run of {len(self.outputs.items)} items"

    def at_least(self, metric: MetricLike, value: float, *, alpha: float = 0.05) -> Check:
        """Whether the mean of a metric is surely at least `value`, or at most where lower is better.

        The lower bound of the mean decides, not the mean. An item without a score fails.
        """
        key, before = self.door.settled()
        if before is not None:
            return self.door.again(before)
        ((spec, built),) = named(metric, self.door.runtime.encoder).items()
        return self.door.told(key, *level(spec, built, self._scored({spec: built}), value, alpha=alpha))

    def no_worse_than(
        self,
        name: str,
        *,
        metrics: MetricLike | Sequence[MetricLike],
        allow: Drops | None = None,
        alpha: float = 0.05,
        allow_item: Drops | None = None,
        min_pass: tuple[int, int] | None = None,
        undefined: Undefined = "fail",
        report_only: MetricLike | Sequence[MetricLike] = (),
        scale: Scales | None = None,
        sequential: bool = False,
        items: Items = "sample",
    ) -> Check:
        """Whether the outputs are no worse than those of the baseline `__nlgauge__/NAME.json` beside the test.

        With `--nlgauge-update` the baseline is written instead. Arguments are those of `nlgauge.gate`.
        """
        path = baseline_path(Path(self.door.node.path), name)
        named, only = named_with(metrics, report_only, self.door.runtime)
        rules = Rules(
            allow=allow,
            alpha=alpha,
            allow_item=allow_item,
            min_pass=min_pass,
            undefined=undefined,
            report_only=only,
            scale=scale,
            sequential=sequential,
            items=items,
        )
        rules.check(named)
        key, before = self.door.settled()
        if self.door.updates:
            return self._update(path, named, key)
        if before is not None:
            return self.door.again(before)
        if not path.exists():
            command = f"pytest {self.door.node.nodeid!r} --nlgauge-update"
            return self.door.told(key, FAIL, f"FAIL: there is no baseline {path} yet; write it with: {command}")
        known = self._scored(named)
        baseline = read_baseline(path)
        try:
            found = judged(baseline, self.outputs, named, rules, self.door.runtime, Looks(), known=known)
        except InputError as error:
            raise InputError(str(error).partition("; score its texts again")[0] + _AGAIN) from None
        first = f"{found.verdict}: {'; '.join(found.reasons)}"  # which pytest shows in its summary
        return self.door.told(key, found.verdict, f"{first}\n\n{render(found.result(), quiet=True)}")

    def _update(self, path: Path, metrics: Mapping[str, BaseMetric], key: tuple[str, int]) -> Check:
        check_saved(metrics, self.outputs.segments)
        test, updates = self.door.node.nodeid, self.door.left["updates"]
        if str(path) in updates and updates[str(path)][0] != test:
            raise InputError(f"{path} is the baseline of {updates[str(path)][0]}, too; give each test its own name")
        made = as_json(self._scored(metrics), metrics)
        updates[str(path)] = test, json.dumps(made, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        return self.door.told(key, UPDATED, f"UPDATED: {path}")

    def _scored(self, metrics: Mapping[str, BaseMetric]) -> ScoredSide:
        """The scores of these metrics, each made once."""
        fresh = {spec: built for spec, built in metrics.items() if spec not in self.known}
        if fresh:
            scored = score_side(self.outputs, fresh, self.door.runtime)
            self.known |= dict.fromkeys(fresh, scored)
        of_each = [self.known[spec] for spec in metrics]
        return ScoredSide(
            self.outputs,
            {spec: one.runs[spec] for spec, one in zip(metrics, of_each, strict=True)},
            {spec: one.signatures[spec] for spec, one in zip(metrics, of_each, strict=True)},
            tuple(dict.fromkeys(note for one in of_each for note in one.notes)),
        )
