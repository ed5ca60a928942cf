"""`nlgauge gate`: may this change ship?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from nlgauge.cli import options
from nlgauge.cli.main import as_typed, echo
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Argument, Typed
from nlgauge.gating.aa import aa_test
from nlgauge.gating.gate import judged, named_with, opened
from nlgauge.gating.outputs import GateBaseline, Outputs, check_cards, check_name, score_side, write_baseline
from nlgauge.gating.verdicts import Rules, m_of_n
from nlgauge.io.parallel import system_names
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.gates import FAIL, INCONCLUSIVE, PASS

CODES = {PASS: 0, FAIL: 3, INCONCLUSIVE: 4}


@dataclass(frozen=True)
class AllowedLosses:
    """What may be lost."""

    allow: Annotated[
        list[str] | None,
        Typed(
            "The drop of the mean that is allowed, in the metric's units; repeat it.  [default: .01 of its scale]",
            metavar="DROP|SPEC=DROP",
        ),
    ] = None
    allow_item: Annotated[list[str] | None, Typed("FAIL if any single item loses more.", metavar="DROP|SPEC=DROP")] = (
        None
    )
    min_pass: Annotated[str | None, Typed("FAIL if an item clearly passes fewer than M of N runs.", metavar="M/N")] = (
        None
    )
    report_only: Annotated[list[str] | None, options.specs("Metrics that are shown and do not decide.")] = None
    scale: Annotated[
        list[str] | None,
        Typed("The scale of ratings and others without limits; repeat it.", metavar="LOW:HIGH|SPEC=LOW:HIGH"),
    ] = None
    inconclusive: Annotated[
        str | None, Typed("Exit with 0 or 3 where it is INCONCLUSIVE.  [default: 4]", words="pass fail")
    ] = None
    judge_card: Annotated[
        list[str] | None, Typed("Let a judge decide only with a card of its model and prompt; repeat.", metavar="FILE")
    ] = None

    def rules(self, plain: Rules, metrics: Sequence[str], only: frozenset[str], seed: int) -> Rules:
        """The rules that were typed, checked; `plain` has those that need not be read here."""
        drop = metrics, float, "a drop of 0 or more, or SPEC=DROP, as in chrf=1"
        drops = _by_metric("--allow", self.allow, *drop)
        scale = "the lowest and the highest score, or SPEC=LOW:HIGH, as in human.quality=1:5"
        rules = replace(
            plain,
            allow=plain.allow if drops is None else drops,
            allow_item=_by_metric("--allow-item", self.allow_item, *drop),
            scale=_by_metric("--scale", self.scale, metrics, _ends, scale),
            min_pass=None if self.min_pass is None else m_of_n(self.min_pass),
            report_only=only,
            seed=seed,
        )
        rules.check(metrics)
        if self.inconclusive not in (None, "pass", "fail"):
            raise InputError(f"--inconclusive is {self.inconclusive!r}, expected pass or fail")
        return rules

    def code(self, verdict: str) -> int:
        """The exit code of a verdict."""
        if verdict == INCONCLUSIVE and self.inconclusive is not None:
            return CODES[PASS if self.inconclusive == "pass" else FAIL]
        return CODES[verdict]


@dataclass(frozen=True)
class SideNames:
    """How the two sides are read and kept."""

    base_system: Annotated[str | None, Typed("The system in BASE, where it holds several.", metavar="NAME")] = None
    new_system: Annotated[str | None, Typed("The system in NEW, where it holds several.", metavar="NAME")] = None
    columns: options.Columns = None
    judgements: options.Judgements = None
    common: Annotated[bool, Typed("Only the items that both sides have.")] = False
    aa: Annotated[bool, Typed("All files are runs of one system: what is said though nothing changed?")] = False
    save: Annotated[
        str | None,
        Typed(
            "Keep the scores of NEW as a baseline (.json), over another if it passes; without NEW, of BASE.",
            metavar="FILE",
        ),
    ] = None
    rescore: Annotated[bool, Typed("Score the texts of a baseline again where its signatures are others.")] = False

    def open(self, path: str, system: str | None) -> Outputs | GateBaseline:
        """One of the sides."""
        columns = options.columns_of(self.columns)
        return opened(path, path, columns=columns, system=system, judgements=self.judgements)

    def check_rated(self, *sides: Outputs | GateBaseline) -> None:
        """Refuse ratings that do not say which side they are of."""
        texts = [side for side in sides if isinstance(side, Outputs)] if self.judgements is not None else []
        unnamed = Counter(run_id for side in texts for run_id in {r.id for r in side.segments if r.system is None})
        if any(n > 1 for n in unnamed.values()):
            raise InputError(
                f"{self.judgements} does not say which side a rating is of; expected rows with a 'system', which is"
                f" the name of a file without its ending, such as {system_names([texts[-1].name])[0]!r}"
            )


@options.verb(without={"segments", "width"})
def gate(
    *,
    base: Annotated[str, Argument("The old outputs: a data file, or a baseline that --save wrote.", metavar="BASE")],
    new: Annotated[
        list[str] | None,
        Argument("The new outputs: a data file with the same items; with --aa all further runs.", metavar="[NEW]"),
    ] = None,
    metric: Annotated[
        list[str],
        options.specs("Metrics that have to pass: chrf, bertscore, human.NAME, scores:file=...", "--metric", "-m"),
    ],
    limits: AllowedLosses,
    plain: Rules,
    sides: SideNames,
    shown: options.Shown,
    junit: Annotated[str | None, Typed("Write the verdict as JUnit XML, a test per metric.", metavar="FILE")] = None,
    markdown: Annotated[str | None, Typed("Write it as Markdown, for a pull request.", metavar="FILE")] = None,
    files: options.Files,
    run: options.Common,
) -> int:
    """Judge whether new outputs may replace old ones: PASS, FAIL or INCONCLUSIVE.

    The mean of segment scores of NEW is compared with that of BASE, for the same items. PASS (exit code 0) says that it
    did not fall by more than `--allow`, FAIL (3) that it did, INCONCLUSIVE (4, unless `--inconclusive` says 0 or 3)
    that so few items cannot tell; the reason says how many would do. Each bound is one-sided at `--alpha`. `seen from`
    is the smallest drop that so many items tell from none with probability .8.

    Bounds depend on the scores:

    - 0 and 1, independent items: Tango's interval (`tango`), beside Student's bound for FAIL.
    - Others, groups or several runs: `bootstrap-t`, or Student's bound where that is wider. `unseen`: on a scale with
      limits, up to 3/n of the items may lose (or gain) all they can, unseen, so a PASS (or FAIL) takes some items
      however small the noise is. `--scale` names the limits of ratings and others without; for ratings and scores of
      other programs the least usual scale that holds them is taken else, with a note.
    - Fewer than ten items that differ from the rest: PASS only in the `worst-case`. Fewer than thirty groups: FAIL at
      most (`t`).
    - `--sequential`: `betting`. `--items fixed`: these items alone (`fixed`). Texts that are all the same pass without
      a test (`same texts`), whatever the last bits of their scores are.

    With several metrics each must pass; p-values of FAIL are adjusted after Holm. Items pair by `seg`, else `id`. An
    item, reference or source that one side lacks or has otherwise is refused. A score that NEW alone lacks fails the
    gate. Several runs of an item count by their mean. Rows of `--judgements` name the side by its file, as `system`.
    With `--judge-card` a judge decides only if a card names its model and prompt, and its kappa is printed.

    With `--aa` all files are runs of one system (of a judge: the same texts with its scores), and the code is 0. By the
    rules that are typed, each run is judged against each other one, and so are a thousand simulated pairs, whose items
    have the scores of two of their runs each: how often comes FAIL, and how often PASS, though nothing changed? It
    names the `--allow` from which on FAIL comes in fewer than one of twenty, and PASS in nineteen. Scores of 0 and 1
    have pass^k, too. `--base-system` is the system of all runs.

    `--save` with both sides replaces a file on PASS alone. A baseline is refused where signature, items, references or
    its seal do not fit, or a score is off the scale; the seal finds accidents and is no signature. Scores of models
    stay in the cache.
    """
    shown.check()
    metrics, only = named_with(metric, limits.report_only or [], run.runtime(quiet=True, cached=False), base)
    rules = limits.rules(plain, [*metrics], only, run.seed)
    if sides.save is not None:
        check_name(sides.save)
    cards = limits.judge_card or []
    told = check_cards(metrics, only, cards) if cards else []
    files.check(base, new, sides.judgements, cards, junit=junit, markdown=markdown, save=sides.save)
    runtime = run.runtime()
    if sides.aa:
        idle = {"save": sides.save, "junit": junit, "rescore": sides.rescore, "new-system": sides.new_system}
        options.refuse_idle(idle | {"inconclusive": limits.inconclusive}, "goes with a verdict, and --aa gives none")
        runs = [sides.open(path, sides.base_system) for path in (base, *(new or []))]
        sides.check_rated(*runs)
        result, verdict = aa_test(runs, metrics, rules, runtime, sides.common), PASS
    elif not new:
        return _save_alone(base, sides, metrics, runtime, run.quiet)
    else:
        if len(new) > 1:
            raise InputError(f"expected BASE and NEW, got {len(new) + 1} files; runs of one system go with --aa")
        old, fresh = sides.open(base, sides.base_system), sides.open(new[0], sides.new_system)
        if isinstance(fresh, GateBaseline):
            raise InputError(f"{new[0]} is a baseline, expected it as BASE; give the new texts as NEW")
        sides.check_rated(old, fresh)
        found = judged(old, fresh, metrics, rules, runtime, rescore=sides.rescore, common=sides.common)
        result, verdict = found.result(), found.verdict
    is_kept = sides.save is not None and verdict != PASS and os.path.exists(sides.save)
    if is_kept:
        told.append(f"{sides.save} stays as it was, since the verdict is {verdict}; to keep NEW, remove it first")
    result = as_typed(replace(result, notes=[*result.notes, *told]))
    files.write(result)
    if junit is not None:
        from nlgauge.report.kinds.gate import junit as as_junit
        from nlgauge.report.pages import write_page

        write_page(as_junit(result, limits.inconclusive), junit)
    if markdown is not None:
        result.write(markdown, "markdown")
    if sides.save is not None and not is_kept:
        found.save(sides.save)
    if not (files.printed or "-" in (junit, markdown)):
        shown.show(result, run.quiet)
    return limits.code(verdict)


def _save_alone(base: str, sides: SideNames, metrics: dict[str, BaseMetric], runtime: Runtime, quiet: bool) -> int:
    if sides.save is None:
        raise InputError("NEW is missing: name the new outputs after BASE, or --save FILE to keep a baseline of BASE")
    side = sides.open(base, sides.base_system)
    if isinstance(side, GateBaseline):
        raise InputError(f"{base} is a baseline already; name the data that it should be made of")
    write_baseline(score_side(side, metrics, runtime), metrics, sides.save)
    if not quiet:
        echo(f"{sides.save}: {len(side.items)} items by {', '.join(metrics)}")
    return 0


def _by_metric(
    flag: str, typed: Sequence[str] | None, metrics: Sequence[str], read: Callable[[str], Any], expected: str
) -> dict[str, Any] | None:
    """`1` for all metrics, and `chrf=1` for one of them, as `read` takes the number; None where nothing was typed."""
    found: dict[str, Any] = {}
    for one in typed or ():
        spec, _, value = one.rpartition("=")
        try:
            made = read(value)
        except ValueError:
            raise InputError(f"{flag} {one!r}: expected {expected}") from None
        if spec and spec not in metrics:
            raise InputError(f"{flag} {one!r}: {spec!r} is not among the metrics{nearest(spec, metrics)}")
        if spec in found:
            raise InputError(f"{flag} is given twice for {spec or 'all metrics'}, expected once")
        found[spec] = made
    return found or None


def _ends(typed: str) -> tuple[float, ...]:
    return tuple(map(float, typed.split(":")))
