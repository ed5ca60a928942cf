"""Scores as tables and a page: one line per system and one column per metric, and triangles of p-values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nlgauge.core.result import Result
from nlgauge.io.files import counted
from nlgauge.report.drawing import Axis, Figure, axis_of, strip
from nlgauge.report.labels import shorten, visible
from nlgauge.report.pages import render_result
from nlgauge.report.tables import (
    FALLS,
    LOWER_IS_BETTER,
    SIGNIFICANT,
    WIDE,
    Kind,
    Paper,
    Part,
    Row,
    Table,
    absent,
    between,
    by_keys,
    compared,
    difference,
    digits_of,
    measured,
    number,
    p_of,
    triangle,
    values_of,
    with_interval,
)
from nlgauge.report.text import Trust, doubts_of, parts_html, rises

_NO_NAME, _PARTS = "-", "parts."
_PARTS_OF_BLEU = "bp: brevity penalty; ratio: length by reference_length; precisionN: percent of the n-grams of N words"
_WORSE, _TIED = "†", "‡"


def system_name(system: str | None) -> str:
    """How a system is shown; a dash stands for segments that name none."""
    return _NO_NAME if system is None else system


def line_name(row: Row) -> str:
    """How the line of a system is called, where groups have lines of their own."""
    name = system_name(row["system"])
    return f"{row['group']}: {name}" if row.get("group") is not None else name


def score_table(
    result: Result,
    digits: int | None = None,
    only: Sequence[str] | None = None,
    *,
    best: bool = False,
    lean: bool = False,
) -> Table:
    """The table of a result of kind `score`.

    Args:
        digits: after the point; None for 2 or 4, by the scale of the metric.
        only: specifications of the metrics that get a column; None for all.
        best: mark the best system by each metric; where systems are ranked, all of the first rank.
        lean: p in brackets, no ranks and no other signs; `digits` are for a scale to 100, one to 1 has two more.
    """
    rows = measured(result.rows)
    grouped = any("group" in row for row in rows)
    compared = any(row.get("baseline") is not None for row in rows)
    specs = [m["spec"] for m in result.metrics if only is None or m["spec"] in only]
    each = _digits(digits, result, lean=lean)
    lines: dict[tuple[Any, Any], dict[str, str]] = {}
    for row in rows:
        lines.setdefault((row.get("group"), row["system"]), {})[row["metric"]] = (
            _for_paper(row, each, result) if lean else _scored(row, each, result)
        )
    bases = {row.get("baseline") for row in rows}
    flagged = any("n_flagged" in row for row in rows)
    numbers = ("n", "n_flagged") if flagged else ("n",)
    counts = {(row.get("group"), row["system"]): [str(row[number]) for number in numbers] for row in rows}
    body = []
    for (group, system), cells in lines.items():
        name = system_name(system) + (" (baseline)" if compared and system in bases else "")
        names = [*_group(group, grouped), name]
        body.append((*names, *(cells.get(spec, "") for spec in specs), *counts[group, system]))
    falling = {m["spec"] for m in result.metrics if rises(m) is False}
    judging = {m["spec"] for m in result.metrics if rises(m) is not None}
    heads = (f"{spec} {FALLS}" if spec in falling else spec for spec in specs)
    header = (*(["group"] if grouped else []), "system", *heads, "n", *(["flagged"] if flagged else []))
    starred = any(not absent(row.get("p")) for row in rows if row["metric"] in judging & {*specs})
    daggers = any(_WORSE in cell for cells in lines.values() for spec, cell in cells.items() if spec in specs)
    legend = (
        *([f"* p < {SIGNIFICANT:g} against the baseline"] if starred else []),
        *([f"{_WORSE} p < {SIGNIFICANT:g} against the baseline, and worse"] if daggers else []),
        *([LOWER_IS_BETTER] if falling & {*specs} else []),
        *(["flagged: outputs that a guard distrusts"] if flagged else []),
    )
    table = Table("", header, tuple(body), left=header.index("system") + 1, legend=legend)
    return _with_best(table, result, [*lines], specs, digits, signs=not lean) if best else table


def _with_best(
    table: Table,
    result: Result,
    lines: Sequence[tuple[Any, Any]],
    specs: Sequence[str],
    digits: int | None,
    signs: bool,
) -> Table:
    """The table with the best of its lines marked for each metric and group; what reads alike is equally good.

    Where systems were tested against the best one, `signs` say which are not significantly different from it.
    """
    ranked = any(row.get("rank") is not None for row in result.rows)
    each, places = _digits(digits, result, lean=not signs), {line: place for place, line in enumerate(lines)}
    values: dict[tuple[Any, str], dict[int, tuple[float, int | None]]] = {}
    for row in measured(result.rows):
        if row["metric"] in specs and not absent(row["value"]) and _rises(row["metric"], result) is not None:
            shown = float(number(row["value"], each[row["metric"]]))
            sign = 1 if _rises(row["metric"], result) else -1
            line = places[row.get("group"), row["system"]]
            values.setdefault((row.get("group"), row["metric"]), {})[line] = sign * shown, row.get("rank")
    marked = set()
    body = [[*line] for line in table.body]
    rows = by_keys(({"group": None, **row} for row in result.rows), "metric", "group")
    for (group, spec), own in values.items():
        column = table.left + specs.index(spec)
        most = max(value for value, _ in own.values())
        first = {i for i, (value, rank) in own.items() if (rank == 1 if rank is not None else value == most)}
        if len(first) < len(own):
            marked |= {(i, column) for i in first}
        for system in _tied(rows[spec, group], 1 if _rises(spec, result) else -1) if signs else ():
            cells = body[places[group, system]]
            cells[column] = f"{cells[column].rstrip()} {_TIED}"
    said = "the first rank: no other system is significantly better" if ranked else "the best"
    tied = any(_TIED in cell for line in body for cell in line)
    legend = (f"{_TIED} not significantly different from the best (p >= {SIGNIFICANT:g})",) if tied else ()
    lined = tuple(map(tuple, body))
    return replace(table, body=lined, marked=frozenset(marked), marked_as=said, legend=(*legend, *table.legend))


def _tied(own: Sequence[Mapping[str, Any]], sign: int) -> set[str | None]:
    """The systems that were tested against the best one, and that the test does not tell apart from it."""
    values = {row["system"]: sign * row["value"] for row in measured(own) if not absent(row["value"])}
    best = max(values, key=values.__getitem__)
    tests = (row for row in own if not absent(row.get("p")))
    p = {frozenset((row["system"], row.get("against") or row.get("baseline"))): p_of(row) for row in tests}
    return {name for name in values if name != best and p.get(frozenset((name, best)), 0.0) >= SIGNIFICANT}


def metric_rows(table: Table) -> Table:
    """A table of scores turned: one line per metric, one column per system; the last line counts segments."""
    names = (" ".join(name for name in line[: table.left] if name != _NO_NAME) or "score" for line in table.body)
    columns = zip(table.header, *table.body, strict=True)
    marked = frozenset((j - table.left, i + 1) for i, j in table.marked)
    return replace(table, header=("metric", *names), body=(*columns,)[table.left :], marked=marked, left=1)


def score_caption(result: Result) -> str:
    """The caption of a table of scores, for a paper."""
    rows = measured(result.rows)
    systems = {row["system"] for row in rows}
    what = "scores" if systems <= {None} else f"scores of {len(systems)} system{'s' if len(systems) > 1 else ''}"
    intervals = ", [low, high]: 95 % intervals" if any(not absent(row.get("low")) for row in rows) else ""
    bases = {row["baseline"] for row in rows if row.get("baseline") is not None}
    return what + intervals + (f", p: test against the baseline {'/'.join(sorted(bases))}" if bases else "")


def score_only(result: Result, digits: int | None = None) -> str:
    """The numbers alone: one line per system, its metrics side by side."""
    each = _digits(digits, result)
    lines: dict[tuple[Any, Any], list[str]] = {}
    for row in measured(result.rows):
        lines.setdefault((row.get("group"), row["system"]), []).append(number(row["value"], each[row["metric"]]))
    return "\n".join(" ".join(cells) for cells in lines.values())


def parts_title(spec: str) -> str:
    """The title of the table of the parts of a metric."""
    return f"parts of {spec}"


def parts_tables(result: Result) -> list[Table]:
    """The parts of corpus numbers, one table per metric that has any."""
    tables = []
    for metric in result.metrics:
        rows = [row for row in measured(result.rows) if row["metric"] == metric["spec"]]
        names = [name for name in (rows[0] if rows else {}) if name.startswith(_PARTS)]
        if names:
            grouped = any("group" in row for row in rows)
            counts = {name for name in names if all(row[name] == row[name] // 1 for row in rows) and rows[0][name] > 1}
            body = tuple(
                (
                    *_group(row.get("group"), grouped),
                    system_name(row["system"]),
                    *(number(row[name], 0 if name in counts else 4) for name in names),
                )
                for row in rows
            )
            header = (*(["group"] if grouped else []), "system", *(name.removeprefix(_PARTS) for name in names))
            legend = (_PARTS_OF_BLEU,) if f"{_PARTS}bp" in names else ()
            tables.append(Table(parts_title(metric["spec"]), header, body, left=2 if grouped else 1, legend=legend))
    return tables


def agreement_tables(result: Result, digits: int | None = None) -> list[Table]:
    """How often people agree with each difference of two systems; none where no thresholds were given."""
    rows = [row for row in result.rows if "agreement" in row]
    if not rows:
        return []
    grouped = any("group" in row for row in rows)
    body, each = [], _digits(digits, result)
    for row in rows:
        delta = number(row["delta"], each[row["metric"]], sign="+")
        against = row["against"] if row.get("against") is not None else row["baseline"]
        group = _group(row.get("group"), grouped)
        body.append((row["metric"], *group, row["system"], against, delta, agreement_of(row)))
    header = ("metric", *(["group"] if grouped else []), "system", "against", "difference", "people agree in")
    return [Table("how often people agree with such a difference", header, tuple(body), left=4 if grouped else 3)]


def agreement_of(row: Mapping[str, Any]) -> str:
    """How often people agree with a difference, in words."""
    if row["agreement"] is not None:
        share, low, high = (_share(row[name]) for name in ("agreement", "agreement_low", "agreement_high"))
        return f"{share} % [{low}, {high}] of such pairs"
    seen = row["agreement_seen"]
    return f"more than {seen:.3g}: no such pairs seen" if abs(row["delta"]) > seen else "so few segments: none seen"


def _share(share: float) -> str:
    """A share in percent; what is rounded to 100 is no certainty."""
    return ">99" if share > 0.995 else f"{100 * share:.0f}"


def _scored(row: Mapping[str, Any], each: Mapping[str, int], result: Result) -> str:
    digits = each[row["metric"]]
    text = with_interval(row, number(row["value"], digits), digits)
    if not absent(row.get("p")):
        text += f" p={p_of(row):.4f}" + (star_of(row, _rises(row["metric"], result)) or " ")
    return text + rank_of(row) + _undefined(row)


def _undefined(row: Mapping[str, Any]) -> str:
    return f" ({row['n_undefined']} undefined)" if 0 < row.get("n_undefined", 0) < row["n"] else ""


def _for_paper(row: Mapping[str, Any], each: Mapping[str, int], result: Result) -> str:
    """A value with p in brackets; on a scale to 1 it has two decimals more than on one to 100."""
    value = number(row["value"], each[row["metric"]]) + _undefined(row)
    if absent(row.get("p")):
        return value
    p = p_of(row)
    told = f"p = {p:.2f}" if p >= 0.1 else f"p = {p:.3f}" if p >= 0.001 else "p < 0.001"
    return f"{value}{star_of(row, _rises(row['metric'], result))} ({told})"


def star_of(row: Mapping[str, Any], higher_is_better: bool | None) -> str:
    """The mark of a difference that is significant: one for a better system, another for a worse; else empty."""
    if not p_of(row) < SIGNIFICANT or higher_is_better is None:  # also where p is undefined
        return ""
    delta = row.get("delta") or 0.0
    return _WORSE if delta and (delta > 0) != higher_is_better else "*"


def _rises(spec: str, result: Result) -> bool | None:
    return next((rises(metric) for metric in result.metrics if metric["spec"] == spec), True)


def rank_of(row: Mapping[str, Any]) -> str:
    """The rank of a system among others, after its value; empty where systems were not ranked."""
    return f" rank {row['rank']}" if row.get("rank") is not None else ""


def _digits(digits: int | None, result: Result, *, lean: bool = False) -> dict[str, int]:
    metrics = {metric["spec"]: metric for metric in result.metrics}
    usual = {spec: digits_of(metrics.get(spec, {}), rows) for (spec,), rows in by_keys(result.rows, "metric").items()}
    if digits is None:
        return usual
    return {spec: digits + own - 2 if lean else digits for spec, own in usual.items()}


def _group(group: str | None, grouped: bool) -> list[str]:
    """The cell of a group, in a table that has a column of groups."""
    return [(group or "").replace("\t", " ").replace("\n", " ") or _NO_NAME] if grouped else []


def pair_tables(result: Result) -> list[Table]:
    """One table per metric and group of a result of kind `score`; none if only a baseline was tested against.

    Cells are p-values, adjusted where the result has adjusted ones, and marked where they are below 0.05.
    """
    tables = []
    tested = [{"group": None, **row} for row in result.rows]
    lines = by_keys(measured(tested), "metric", "group")
    for (metric, group), rows in by_keys(compared(tested), "metric", "group").items():
        order = [row["system"] for row in lines.get((metric, group), ())]
        p = {(row["system"], row["against"]): p_of(row) for row in rows}
        adjusted = ", adjusted" if rows[0].get("p_adjusted") is not None else ""
        test = rows[0]["test"].replace("_", " ")
        where = "" if group is None else f", {group}"
        title = f"p of {metric}{where}: row and column differ, {test}{adjusted}"
        tables.append(triangle(title, order, p, 4))
    return tables


def score_parts(paper: Paper) -> list[Part]:
    """The table of scores as wide as the paper, tests of every two systems, agreement of people, parts, the worst."""
    result, digits, worst = paper.result, paper.digits, [*worst_parts(paper)]
    tests = pair_tables(result)
    pairs: list[Part] = [] if paper.brief else [*tests]
    pairs += [*agreement_tables(result, digits), *(parts_tables(result) if paper.full else [])]
    if tests and paper.brief and paper.is_text and paper.hints:
        pairs.append("p-values of every two systems: -v, --json FILE or --html FILE")
    if paper.lean:
        bare = replace(result, rows=[{**row, "low": None, "high": None} for row in result.rows])  # no intervals
        return [replace(score_table(bare, digits, best=True, lean=True), title=score_caption(bare)), *pairs, *worst]
    table = score_table(result, digits, best=not paper.is_text)
    page = paper if paper.is_text else replace(paper, columns=WIDE)  # a paper is as wide on every terminal
    if page.fits(table) or len(result.metrics) <= 1:
        tables = [table]
    else:
        tables = _in_blocks(page, metric_rows(table))
        if len(tables) >= len(result.metrics):
            tables = [score_table(result, digits, [metric["spec"]]) for metric in result.metrics]
    if not paper.is_text:
        table = tables[0] if len(tables) == 1 else table
        return [replace(table, title=score_caption(result)), *pairs, *worst]
    return [*tables, *pairs, *worst]


def _in_blocks(paper: Paper, table: Table) -> list[Table]:
    """A table whose first column holds names, in as few tables with some of the others as fit."""
    tables: list[Table] = []
    start = 1
    for end in range(2, len(table.header) + 1):
        longer = table.part(start, end)
        if tables and paper.fits(longer):
            tables[-1] = longer
        else:
            start = end - 1
            tables.append(table.part(start, end))
    return tables


# --- The segments with the worst scores, for people to read: in full on a page, cut to the width elsewhere

_MOST = 200  # characters of a text in a table on paper
_SIDES = {"hyp": "hypothesis", "refs": "reference", "src": "source"}


def worst_parts(paper: Paper) -> Iterator[Part]:
    """The segments with the worst scores: below each other in a terminal, else as a table; none where not asked for."""
    rows, result = paper.result.worst, paper.result
    if not rows:
        return
    first, n = rows[0], sum(row["value"] is not None for row in rows)
    left = first["n_undefined"]
    none = f"; {counted(left, 'segment')} without a score, last here" if left else ""
    title = f"the {f'{n} ' if n != 1 else ''}worst of {counted(first['n'], 'segment')} by {first['metric']}{none}"
    digits = _digits(paper.digits, result).get(first["metric"], 4)
    shown = []
    for row in rows:
        name = row["id"] if row["system"] is None else f"{row['id']} ({row['system']})"
        texts = {of: row[side] for side, of in _SIDES.items() if row.get(side) not in (None, [])}
        listed = {of: [own] if isinstance(own, str) else own for of, own in texts.items()}
        sides = {of: [" ".join(text.split()) for text in own] for of, own in listed.items()}
        shown.append((name, number(row["value"], digits), sides))
    if paper.is_text:
        lines = [title]
        for name, value, sides in shown:
            lines += [f"  {name}  {value}", *(f"    {of:10}  {text}" for of, own in sides.items() for text in own)]
        yield "\n".join(shorten(visible(line), paper.columns) for line in lines)
        return
    heads = [of for of in _SIDES.values() if any(of in sides for *_, sides in shown)]
    most = math.inf if paper.form == "html" else _MOST
    body = [
        (name, value, *(shorten(" / ".join(sides.get(of, ())), most) for of in heads)) for name, value, sides in shown
    ]
    yield Table(title, ("segment", "score", *heads), tuple(body), left=2 + len(heads))


def worst_shown(worst: Sequence[Row], form: str) -> str:
    """The rows of `Worst` as `print` shows them (`text`), or a notebook (`html`)."""
    paper = Paper(Result("score", (), worst=worst), form)
    parts = list(worst_parts(paper))
    return parts_html(parts) if form == "html" else "\n".join(map(paper.shown, parts))


# --- Scores as a page: a table per metric, with intervals drawn on a common axis


def score_html(
    result: Result, trust: Mapping[str, Trust] | None = None, figures: Sequence[Sequence[Figure]] = ()
) -> str:
    """The page of a result of kind `score`.

    Args:
        trust: metric -> what else is known of it, shown beside its scores.
        figures: what stands above the tables, in groups.
    """
    parts, doubts = {table.title: table for table in parts_tables(result)}, doubts_of(result)
    return render_result(
        "score.html",
        result,
        what=counted(len(values_of(measured(result.rows), "system")), "system"),
        sections=[
            {
                **_section(metric, [row for row in measured(result.rows) if row["metric"] == metric["spec"]], parts),
                "trust": (trust or {}).get(metric["spec"]),
                "doubt": doubts.get(metric["spec"], ""),
            }
            for metric in result.metrics
        ],
        figures=figures,
        grouped=any("group" in row for row in result.rows),
        flagged=any("n_flagged" in row for row in result.rows),
        pairs=pair_tables(result),
        tables=[*agreement_tables(result), *worst_parts(Paper(result, "html"))],
        alpha=SIGNIFICANT,
    )


def _section(metric: Mapping[str, Any], rows: Sequence[Row], parts: Mapping[str, Table]) -> dict[str, Any]:
    ends = [float(x) for row in rows for x in (row["value"], row["low"], row["high"]) if not absent(x)]
    digits = digits_of(metric, rows)
    bases = {row["value"] for row in rows if _is_baseline(row) and not absent(row["value"])}
    base = bases.pop() if len(bases) == 1 else None  # every group has a baseline of its own
    axis = axis_of(ends, base)
    return {
        "spec": metric["spec"],
        "higher_is_better": metric["higher_is_better"],
        "signature": metric["signature"],
        "intervals": any(row["low"] is not None for row in rows),
        "axis": axis if ends else None,
        "based": base is not None,
        "compared": any(row.get("baseline") is not None for row in rows),
        "parts": parts.get(parts_title(metric["spec"])),
        "judges": metric.get("judges", True),
        "rows": [_row(row, digits, axis, rises(metric)) for row in rows],
    }


def _row(row: Row, digits: int, axis: Axis, higher_is_better: bool | None) -> dict[str, Any]:
    p = None if absent(row.get("p")) else p_of(row)
    return {
        "group": row.get("group") or "-",
        "system": row["system"] if row["system"] is not None else "-",
        "is_baseline": _is_baseline(row),
        "value": ("" if row["value"] is None else number(row["value"], digits)) + rank_of(row),
        "interval": between(row["low"], row["high"], digits),
        "picture": strip(row, axis, digits),
        "delta": "" if row.get("delta") is None else difference(row, digits, sign=""),
        "p": "" if p is None else f"{p:.4f} {star_of(row, higher_is_better)}".rstrip(),
        "n": row["n"],
        "n_undefined": row["n_undefined"],
        "n_flagged": row.get("n_flagged", 0),
    }


def _is_baseline(row: Row) -> bool:
    return row.get("baseline") is not None and row.get("baseline") == row["system"]


KIND = Kind(parts=score_parts, page=score_html)
