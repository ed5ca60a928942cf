"""`nlgauge select`: would a metric pick the right model?"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import typer

from nlgauge.cli import judged, options
from nlgauge.cli.terminal import as_typed
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile, Lines
from nlgauge.metaeval.evaluate import Exclude, Missing, References, without_systems
from nlgauge.metaeval.select import AGREEMENT, STATS, select_models

_WHOLE = re.compile(r"-?[0-9]{1,18}")  # what 64 bits hold

Matrix = Annotated[
    str | None,
    typer.Option(
        "--draw-matrix",
        metavar="FILE",
        help="Hybrids made elsewhere: one line each, in it one system per item; .npy or text.",
    ),
]


@dataclass(frozen=True)
class Simulated:
    """Options: the candidates of a choice, and the number of choices."""

    hybrids: Annotated[
        int, typer.Option("--hybrids", min=0, help="Hybrid systems in each group; 0 takes the systems as they are.")
    ] = 10_000
    pool: Annotated[int, typer.Option("--pool", min=1, help="Models that a metric chooses from.")] = 100
    stats: Annotated[
        list[str] | None,
        options.choice(
            "--stat",
            among=(*STATS, *AGREEMENT),
            metavar="STAT",
            help="hits_at_1, mrr, diff; or pearson, spearman, kendall_b over all models.  [default: the first three]",
        ),
    ] = None
    draws: Annotated[
        int | None, typer.Option("--draws", min=1, help="Simulate so many choices beside the exact numbers.")
    ] = None


@dataclass(frozen=True)
class Policies:
    """Which outputs hybrids are made of, and what counts as their scores."""

    among: Annotated[str, options.choice("--among", among="rated all", help="Which outputs hybrids are made of.")] = (
        "rated"
    )
    exclude: Exclude = None
    references: References = None
    missing: Missing = "refuse"


@options.common()
def select(
    *,
    data: judged.Data,
    columns: options.Columns = None,
    scored: judged.Scored,
    criterion: judged.Criterion = None,
    judgements: judged.Judgements = None,
    simulated: Simulated,
    draw_matrix: Matrix = None,
    policies: Policies,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Hits@1, MRR and Diff: how good is the best model by a metric, in the eyes of people?"""
    shown.check(files)
    if draw_matrix is not None:
        options.refuse_idle({"hybrids": simulated.hybrids != 10_000}, "makes hybrids, and --draw-matrix brings them")
    if (simulated.hybrids == 0 or draw_matrix is not None) and simulated.draws is None:
        options.refuse_idle({"seed": run.typed_seed is not None}, "is about draws: name --hybrids or --draws as well")
    more = [path for path in (judgements, draw_matrix) if path is not None]
    files.check([data, *(scored.scores or []), *more])
    dataset, inputs = judged.read_data(data, judgements, columns)
    tables, entries = scored.read()
    matrix, entry = read_draws(draw_matrix) if draw_matrix is not None else (None, None)
    how: dict[str, Any] = {**asdict(simulated), **asdict(policies)}  # checked there
    how["stats"] = how["stats"] or STATS
    outcome = select_models(
        without_systems(dataset, how.pop("exclude") or []),
        scored.metric or [],
        criterion,
        draw_matrix=matrix,
        scores=tables,
        lower_is_better=scored.lower or [],
        higher_is_better=scored.higher or [],
        seed=run.seed,
        runtime=run.runtime(),
        **how,
    )
    result = as_typed(outcome.result([*inputs, *entries, *([entry] if entry else [])]))
    files.write_segments(lambda: judged.joined_columns(outcome.held), shown.spreadsheet)
    files.write(result)
    if not files.printed:
        shown.show(result, run.quiet)
    return 0


def read_draws(path: str) -> tuple[Any, dict[str, str]]:
    """A draw matrix, and the file it is from.

    The file is `.npy`, or text (also `.gz`) with one hybrid per line, systems by number or name between blanks.

    Raises:
        InputError: lines of different lengths, or a file that is no matrix.
    """
    file = InputFile(path)
    if path.endswith(".npy"):
        try:
            loaded = np.load(path, allow_pickle=False)
        except Exception as error:  # numpy parses the header as Python, with all the errors of that
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(f"{path}: no matrix of numpy ({reason})") from None
        if not isinstance(loaded, np.ndarray):
            raise InputError(f"{path}: an archive of several arrays, expected one matrix as numpy.save writes it")
        return loaded, dict(file.entry)
    lines = Lines(file)
    rows: list[list[str]] = []
    for place, line in lines.filled():
        cells = line.split()
        if rows and len(cells) != len(rows[0]):
            raise InputError(
                f"{lines.at(place)}: {len(cells)} systems, expected {len(rows[0])} as in the first line, one per item"
            )
        rows.append(cells)
    if not rows:
        raise InputError(f"{path} is empty: no line in it, expected one hybrid per line")
    matrix: Any = np.array(rows)
    if all(_WHOLE.fullmatch(cell) for row in rows for cell in row):
        matrix = matrix.astype(np.int64)
    return matrix, dict(file.entry)
