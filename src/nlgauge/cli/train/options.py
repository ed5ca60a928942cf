"""Options that all kinds of training share beside their recipes: the output, the metadata of a head, the runtime."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.result import STDOUT
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.training.recipe import Recipe

_WITHOUT_ADAPTERS = ("frozen", "full", "ridge")  # methods
Side = Literal["source", "hypothesis", "reference"]
NO_METRICS = frozenset({"cache", "no_cache", "encoder"})  # training names its encoder itself
Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="PATH", help="FILE.safetensors: a head; else a folder with the encoder in it."
    ),
]


def check_adapters(recipe: Recipe, method: str) -> None:
    """Refuse options of adapters where there are none."""
    if method in _WITHOUT_ADAPTERS:
        idle = options.changed(recipe, "rank", "alpha")
        options.refuse_idle(idle, f"is about adapters, and --method {method} trains none")


@dataclass(frozen=True)
class Named:
    """The metadata of a head."""

    name: Annotated[str, typer.Option("--name", help="Name of the head, for its metadata.")] = ""
    recipe: Annotated[str, typer.Option("--recipe", help="Where its recipe is, for its metadata.")] = ""
    data: Annotated[str, typer.Option("--data", help="What it learns from, for its metadata.")] = ""
    phenomena: Annotated[
        str,
        typer.Option(
            "--phenomena", metavar="IDS", help="Perturbations that it is shown, for its metadata: ids with commas."
        ),
    ] = ""

    def about(self) -> dict[str, str]:
        """As metadata; an unknown perturbation is refused with the nearest known."""
        return {
            "name": self.name,
            "recipe": self.recipe,
            "data": self.data,
            "trained_on_phenomena": self.checked_phenomena(),
        }

    def checked_phenomena(self) -> str:
        """Ids of perturbations as metadata have them; an unknown one is refused."""
        names = listed(self.phenomena)
        for name in names:
            PERTURBATIONS.lookup(name)
        return ",".join(names)


@dataclass(frozen=True)
class Run(options.Common):
    """As for other verbs, with a precision that suits training on this device."""

    # bfloat16 takes ten times as long as float32 on a processor that does not multiply it.
    dtype: Annotated[
        str,
        options.choice(
            "--dtype", among="auto bfloat16 float32", help="Precision of training; auto: as nlgauge doctor says."
        ),
    ] = "auto"


def listed(names: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in names.split(",") if name.strip()]


@contextmanager
def training_installed() -> Iterator[None]:
    """Imports of what only training needs.

    Raises:
        MissingExtra: something that the extra `train` installs is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(f"training (no {error.name})", "train") from None


def file_of(output: str) -> str | None:
    """The output where it is a file; None for a folder that is there, which takes files of its own.

    Raises:
        InputError: it is standard output, which takes no model.
    """
    if output == STDOUT:
        raise InputError("--output - is standard output, expected a file or a folder for the model")
    return None if os.path.isdir(output) else output


def teller(quiet: bool, err: bool = True) -> Callable[[str], None]:
    """A function that reports the progress of training on stderr, or on standard output."""
    return (lambda line: None) if quiet else (lambda line: echo(line, err=err))


@dataclass(frozen=True)
class Sides:
    """The fields that are read beside the hypothesis."""

    source: Annotated[bool, typer.Option("--source", help="Read the source, too.")] = False
    no_reference: Annotated[bool, typer.Option("--no-reference", help="Do not read references.")] = False
    side: Annotated[
        Side | None,
        options.choice(
            "--side", among="source hypothesis reference", help="Read this side alone, for sentinel:model=."
        ),
    ] = None

    def arguments(self) -> dict[str, Any]:
        """Which texts are read, as a recipe names them."""
        if self.side is None:
            return {"reference": not self.no_reference, "source": self.source}
        options.refuse_idle(
            options.changed(self, "source", "no_reference"), "is about comparisons, and --side has none"
        )
        return {"reference": self.side == "reference", "source": self.side == "source", "side": self.side}
