"""Tables of MLflow's evaluations: `eval_results_table.json`, columns and rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from nlgauge.core.errors import InputError
from nlgauge.core.segment import repeated
from nlgauge.io.files.files import InputFile
from nlgauge.io.logs.samples import Log, Sample
from nlgauge.io.logs.values import asked, document, inner, score, text, texts
from nlgauge.io.source import HeldSource

_USUAL = {
    "hyp": ("outputs", "output", "prediction", "predictions"),
    "ref": ("targets", "target", "ground_truth", "expected_response", "answer"),
    "src": ("inputs", "input", "question", "query"),
}
_SCORE = re.compile(r"(.+?)(?:/v[0-9]+)?/score")


def open_mlflow(file: InputFile, columns: Mapping[str, str] | None = None) -> HeldSource:
    """Read a table of results. The item is the number of the row; `NAME/v1/score` is the column NAME.

    Args:
        file: the file.
        columns: which column is `hyp`, `ref`, `src` and `system`, where the names are not the usual ones.

    Raises:
        InputError: a column is missing, or a row has another number of cells.
    """
    want = asked(columns, ("hyp", "ref", "src", "system"), file.name)
    whole = document(file)
    header, rows = inner(whole, "columns"), inner(whole, "data")
    if type(header) is not list or type(rows) is not list or not all(type(one) is str for one in header):
        raise InputError(f"{file.name}: expected lists 'columns' and 'data', as MLflow writes a table")
    twice = repeated(one for one in header if not _SCORE.fullmatch(one))
    if twice is not None:
        raise InputError(f"{file.name}: two columns are called {twice!r}, expected one")
    places = {field: _place(header, field, want.get(field), file.name) for field in ("hyp", "ref", "src", "system")}
    named = {place: match[1] for place, one in enumerate(header) if (match := _SCORE.fullmatch(one))}
    log = Log(file)
    for number, row in enumerate(rows, start=1):
        if type(row) is not list or len(row) != len(header):
            raise InputError(f"{file.name}, row {number}: expected {len(header)} cells, as there are columns")
        cells = {field: None if place is None else row[place] for field, place in places.items()}
        log.add(
            Sample(
                item=str(number),
                hypothesis=text(cells["hyp"]),
                references=texts(cells["ref"]),
                source=text(cells["src"]),
                system=text(cells["system"]),
                scores=log.scores((metric, score(row[place])) for place, metric in named.items()),
            )
        )
    return log.source()


def _place(header: Sequence[str], field: str, want: str | None, file: str) -> int | None:
    found = next((one for one in ((want,) if want else _USUAL.get(field, ())) if one in header), None)
    if found is None and (want or field == "hyp"):
        raise InputError(
            f"{file}: no column {want or 'outputs'!r}; columns found: {', '.join(map(repr, header))}; name it:"
            f" --columns {field}=NAME"
        )
    return None if found is None else header.index(found)
