"""Options that every verb takes, and the runtime they describe."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from nlgauge.runtime.runtime import Advance, Runtime

Json = Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write the result as one self-contained HTML page.")
]
Segments = Annotated[
    str | None,
    typer.Option(
        "--segments", metavar="FILE", help="Write a row for every segment: .tsv, .jsonl (also .gz) or .parquet."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything drawn at random.")]
Device = Annotated[str, typer.Option("--device", help="auto, cpu, cuda, cuda:1, mps.")]
DType = Annotated[
    str,
    typer.Option("--dtype", help="Precision of models: float32, bfloat16, float16, float64. Stands in the signature."),
]
CacheFolder = Annotated[
    str | None,
    typer.Option("--cache", metavar="DIR", help="Folder of the score cache.  [default: the user's cache folder]"),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep scores.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Only numbers and errors: no notes, signatures or progress.")
]


def make_runtime(device: str, dtype: str, seed: int, cache: str | None, no_cache: bool, quiet: bool) -> Runtime:
    """The runtime that the common options describe; progress shows on stderr where it is a terminal."""
    from nlgauge.core.errors import InputError
    from nlgauge.runtime.cache import ScoreCache, default_path
    from nlgauge.runtime.runtime import Runtime, silent

    if cache is not None and no_cache:
        raise InputError("--cache and --no-cache are both given; choose one")
    path = None if no_cache else (Path(cache) / "scores.sqlite" if cache is not None else default_path())
    return Runtime(
        device=device,
        dtype=dtype,
        seed=seed,
        cache=None if path is None else ScoreCache(path),
        progress=silent if quiet or not sys.stderr.isatty() else bar,
    )


def columns() -> int:
    """Width of the terminal."""
    return shutil.get_terminal_size((160, 24)).columns


@contextmanager
def bar(total: int, label: str) -> Iterator[Advance]:
    """A progress bar on stderr that leaves nothing behind."""
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda count: progress.advance(task, count)


def check_outputs(outputs: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Refuse before anything is scored what could not be written, or would be written over."""
    from nlgauge.core.errors import InputError
    from nlgauge.core.result import check_target

    taken = {os.path.realpath(path): f"the input {path}" for path in inputs}
    for option, path in outputs.items():
        if path is None:
            continue
        check_target(path)
        place = os.path.realpath(path)
        if place in taken and not (
            os.path.exists(place) and not os.path.isfile(place)
        ):  # a pipe or a terminal takes several
            raise InputError(f"{option} {path} would be written over {taken[place]}; name another file")
        taken[place] = f"{option} {path}"
