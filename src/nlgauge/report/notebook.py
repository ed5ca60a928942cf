"""Scores, results and suites as a notebook shows them: small tables in HTML, every text escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape

from nlgauge.core.result import Result
from nlgauge.core.scores import Scores
from nlgauge.core.suite import Suite
from nlgauge.report.marks import number
from nlgauge.report.tables.table import Table

_ROWS = 20  # of rows without a table of their own


def scores_html(scores: Scores) -> str:
    """The corpus-level scores, one line per system where systems are known, and the signature."""
    numbers = scores.by_system() if any(name is not None for name in scores.systems) else {None: scores.system}
    counts = {name: sum(system == name for system in scores.systems) for name in numbers}
    digits = 2 if max(map(abs, numbers.values()), default=0.0) > 1.5 else 4
    body = [
        ("-" if name is None else name, number(value, digits), str(counts[name] or len(scores)))
        for name, value in numbers.items()
    ]
    notes = [str(scores.signature)]
    for flag, mask in scores.flags.items():
        notes += [f"{int(mask.sum())} of {len(scores)} segments: {flag}"] if mask.any() else []
    notes += [f"{scores.n_undefined} of {len(scores)} segments: undefined"] if scores.n_undefined else []
    return _table(Table("", ("system", scores.signature.spec, "n"), tuple(body))) + _lines(notes)


def result_html(result: Result) -> str:
    """The tables of a result, its signatures and its notes."""
    tables = _TABLES.get(result.kind, _rows)(result)
    signatures = [f"{metric['spec']} = {metric['signature']}" for metric in result.metrics]
    return "".join(map(_table, tables)) + _lines([*signatures, *(f"note: {note}" for note in result.notes)])


def suite_html(suite: Suite) -> str:
    """How many pairs there are of each phenomenon, and the first pair of each."""
    first = {pair.phenomenon: pair for pair in reversed(suite.pairs)}
    counts = dict.fromkeys(suite.phenomena, 0)
    for pair in suite:
        counts[pair.phenomenon] += 1
    body = [(name, first[name].better, first[name].worse, str(n)) for name, n in counts.items()]
    header = ("phenomenon", "better, of the first pair", "worse", "pairs")
    return _table(Table(f"{suite.name} ({suite.design})", header, tuple(body), left=3)) + _lines(suite.notes)


def _score(result: Result) -> list[Table]:
    from nlgauge.report.tables.pairs import pair_tables
    from nlgauge.report.tables.score import score_table

    return [score_table(result), *pair_tables(result)]


def _audit(result: Result) -> list[Table]:
    from nlgauge.report.tables.audit import audit_tables

    return list(audit_tables(result, 3, False))


def _meta(result: Result) -> list[Table]:
    from nlgauge.report.tables.meta import triangles, value_tables

    return [*value_tables(result), *triangles(result)]


def _select(result: Result) -> list[Table]:
    from nlgauge.report.tables.meta import selection_tables

    return selection_tables(result)


def _sweep(result: Result) -> list[Table]:
    from nlgauge.report.tables.sweep import sweep_tables

    return list(sweep_tables(result, 3))


def _rows(result: Result) -> list[Table]:
    """The first rows as they are, of a kind that has no tables of its own."""
    columns = result.as_columns()
    body = zip(*(map(_plain, cells[:_ROWS]) for cells in columns.values()), strict=True)
    title = f"the first {_ROWS} of {len(result.rows)} rows" if len(result.rows) > _ROWS else ""
    return [Table(title, tuple(columns), tuple(body), left=len(columns))]


_TABLES: Mapping[str, Callable[[Result], list[Table]]] = {
    "score": _score,
    "audit": _audit,
    "meta": _meta,
    "select": _select,
    "sweep": _sweep,
}


def _plain(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(table: Table) -> str:
    """A table in HTML; marked cells in bold."""

    def line(cells: Sequence[str], tag: str, i: int | None = None) -> str:
        shown = (
            f'<{tag} style="text-align:{"left" if j < table.left else "right"}">'
            + (f"<b>{escape(cell)}</b>" if (i, j) in table.marked else escape(cell))
            + f"</{tag}>"
            for j, cell in enumerate(cells)
        )
        return f"<tr>{''.join(shown)}</tr>"

    title = f"<p><b>{escape(table.title)}</b></p>" if table.title else ""
    body = "".join(line(cells, "td", i) for i, cells in enumerate(table.body))
    return f"{title}<table><thead>{line(table.header, 'th')}</thead><tbody>{body}</tbody></table>"


def _lines(lines: Sequence[str]) -> str:
    return f"<p><small>{'<br>'.join(map(escape, lines))}</small></p>" if lines else ""
