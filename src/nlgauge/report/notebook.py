"""Scores, results and suites as a notebook shows them: small tables in HTML, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from nlgauge.core.result import Result
from nlgauge.core.scores import Scores
from nlgauge.core.suite import Suite
from nlgauge.report.rows import number
from nlgauge.report.table import Table
from nlgauge.report.text import directed, parts_of


def scores_html(scores: Scores) -> str:
    """The corpus-level scores, one line per system where systems are known, and the signature."""
    numbers = scores.by_system() if any(name is not None for name in scores.systems) else {None: scores.system}
    counts = {name: sum(system == name for system in scores.systems) for name in numbers}
    digits = 2 if max(map(abs, numbers.values()), default=0.0) > 1.5 else 4
    body = [
        ("-" if name is None else name, number(value, digits), str(counts[name] or len(scores)))
        for name, value in numbers.items()
    ]
    notes = [str(scores.signature), *(scores.notes or scores.flag_notes())]
    return _table(Table("", ("system", scores.name or scores.signature.spec, "n"), tuple(body))) + _lines(notes)


def result_html(result: Result) -> str:
    """The tables of a result, its signatures and its notes."""
    parts = (part for part in parts_of(result) if part)
    shown = "".join(_table(part) if isinstance(part, Table) else _lines(part.split("\n")) for part in parts)
    signatures = [f"{directed(metric)} = {metric['signature']}" for metric in result.metrics]
    return shown + _lines([*signatures, *(f"note: {note}" for note in result.notes)])


def suite_html(suite: Suite) -> str:
    """How many pairs there are of each phenomenon, and the first pair of each."""
    first = {pair.phenomenon: pair for pair in reversed(suite.pairs)}
    counts = dict.fromkeys(suite.phenomena, 0)
    for pair in suite:
        counts[pair.phenomenon] += 1
    body = [(name, first[name].better, first[name].worse, str(n)) for name, n in counts.items()]
    header = ("phenomenon", "better, of the first pair", "worse", "pairs")
    return _table(Table(f"{suite.name} ({suite.design})", header, tuple(body), left=3)) + _lines(suite.notes)


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
    whole = f"{title}<table><thead>{line(table.header, 'th')}</thead><tbody>{body}</tbody></table>"
    return whole + _lines(table.signs("bold:"))


def _lines(lines: Sequence[str]) -> str:
    return f"<p><small>{'<br>'.join(map(escape, lines))}</small></p>" if lines else ""
