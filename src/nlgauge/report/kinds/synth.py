"""A synthesis as a table, and its ladder: the text after each edit, with its operation and severity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from nlgauge.core.result import Result
from nlgauge.report.labels import clean, columns, write_behind
from nlgauge.report.pages import bare, render_template
from nlgauge.report.tables import Kind, Paper, Part, Row, Table, absent, first_rows


def synth_head(result: Result) -> str:
    """The numbers of a synthesis in one line."""
    total = result.rows[-1]
    if not total["edits"]:
        return "no triples: every text was left alone"
    return (
        f"{total['texts']} triples, {total['edits'] / total['texts']:.2f} edits each on the mean, mean score"
        f" {total['score']:.2f}"
    )


def synth_table(result: Result) -> Table | None:
    """One line per operation, and one for all; None where nothing was edited."""
    if not result.rows[-1]["edits"]:
        return None
    body = tuple(
        (row["operation"], str(row["edits"]), _share(row["share"]), f"{row['severity']:.2f}", _share(row["major"]))
        for row in result.rows
    )
    return Table("", ("operation", "edits", "share", "severity", "major"), body)


def _share(share: float) -> str:
    return "-" if absent(share) else f"{100 * share:.1f} %"


def synth_parts(paper: Paper) -> list[Part]:
    """The table below its line; in a terminal as one block that ends in the signature."""
    result = paper.result
    if not result.rows or "operation" not in result.rows[-1]:
        return [first_rows(result)]
    head, table = synth_head(result), synth_table(result)
    if table is None:
        return [head]
    return ["\n".join((head, table.text(), result.metrics[0]["signature"]))] if paper.is_text else [head, table]


KIND = Kind(parts=synth_parts, heading="Errors made in texts", signed=False)


# --- The ladder of a synthesis, in a terminal and as a page: the text after each edit, with its operation and severity

Mark = Literal["", "new", "gone", "moved"]
_SIGNS: dict[Mark, tuple[str, str]] = {"": ("", ""), "new": ("{+", "+}"), "gone": ("[-", "-]"), "moved": ("{~", "~}")}
SIGNS = "{+new+}  [-gone-]  {~moved~}; the number of an edit is its severity"
_NARROWEST = 24
MOST = 200  # ladders on a page


Pieces = tuple[tuple[Mark, str], ...]  # in order: what stayed, what is new, what is gone, what has moved


def rungs(row: Row) -> list[tuple[Pieces, str, float | None]]:
    """The strata of a row of triples, with the edit that led to each and its severity; the original, of none, first.

    References:
        Xu et al. (2022), figure 2.
    """
    text = row.get("original", row["refs"][0])
    found: list[tuple[Pieces, str, float | None]] = [((("", text),), "", None)]
    for step in row["steps"]:
        start, end, new = step["start"], step["end"], step["new"]
        old = text[start:end]
        inner = _moved(old, new) if step["operation"] == "swap" else (*_bare("gone", old), *_bare("new", new))
        pieces = _joined([("", text[:start]), *inner, ("", text[end:])])
        found.append((tuple(pieces), step["operation"], step["severity"]))
        text = step["text"]
    return found


def ladder_text(row: Row, width: int = 80) -> str:
    """A row of triples in lines of at most `width` terminal columns, without control characters.

    Marks are `{+new+}`, `[-gone-]` and `{~moved~}`.
    """
    head = f"{clean(row['id'])}  " if row.get("id") else ""
    lines = [f"{head}score {_severity(row['score'])}"]
    for i, (pieces, operation, severity) in enumerate(rungs(row)):
        stub = f"{i}  {operation:7}  {'' if severity is None else _severity(severity):>5}  "
        shown = "".join(f"{_SIGNS[mark][0]}{_clean(text)}{_SIGNS[mark][1]}" for mark, text in pieces)
        body = _wrapped(shown, max(width, _NARROWEST) - len(stub))
        lines += [stub + body[0], *(" " * len(stub) + line for line in body[1:])]
    return "\n".join(line.rstrip() for line in lines)


def ladders_html(rows: Sequence[Row], signature: str, notes: Sequence[str] = (), total: int | None = None) -> str:
    """A page with the ladders of the first rows, and what made them."""
    shown = [
        {
            "id": _clean(str(row.get("id", ""))),
            "score": _severity(row["score"]),
            "rungs": [
                (
                    [(mark, _clean(text)) for mark, text in pieces],
                    operation,
                    "" if severity is None else _severity(severity),
                )
                for pieces, operation, severity in rungs(row)
            ],
        }
        for row in rows[:MOST]
    ]
    return render_template(
        "ladder.html",
        ladders=shown,
        total=len(rows) if total is None else total,
        signature=bare(clean(signature)),
        notes=list(map(bare, notes)),
    )


def _bare(mark: Mark, text: str) -> Iterator[tuple[Mark, str]]:
    """A piece with the blanks at its ends outside the mark."""
    inner = text.strip()
    start = text.index(inner)
    yield from (("", text[:start]), (mark, inner), ("", text[start + len(inner) :]))


def _moved(old: str, new: str) -> Iterator[tuple[Mark, str]]:
    """The parts of a text that changed places, marked where they now stand.

    `new` begins with the end of `old` and ends with its beginning.
    """
    for i in range(1, len(old)):
        if not new.endswith(old[:i]):
            continue
        for k in range(1, len(old) - i + 1):
            if old[i : len(old) - k] == new[k : len(new) - i] and old.endswith(new[:k]):
                yield from (*_bare("moved", new[:k]), ("", new[k : len(new) - i]), *_bare("moved", new[len(new) - i :]))
                return
    yield from _bare("moved", new)  # marks took their blanks with them


def _joined(pieces: Sequence[tuple[Mark, str]]) -> list[tuple[Mark, str]]:
    """Without empty pieces, and with plain ones that touch made one."""
    found: list[tuple[Mark, str]] = []
    for mark, text in pieces:
        if found and not mark and not found[-1][0]:
            found[-1] = ("", found[-1][1] + text)
        elif text:
            found.append((mark, text))
    return [piece for piece in found if piece[1]]


def _severity(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def _clean(text: str) -> str:
    """As `clean`, with blanks at the ends and alone kept."""
    inner = text.strip(" ")
    if not inner:
        return text
    start = text.index(inner)
    return text[:start] + clean(inner) + text[start + len(inner) :]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if columns(joined) <= width:
            lines[-1] = joined
            continue
        if lines[-1]:
            lines.append("")
        write_behind(lines, word, width)
    return lines
