"""`nlgauge env`: environments for packages that cannot be installed beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from nlgauge.cli.options import Quiet, refuse_idle
from nlgauge.cli.terminal import echo
from nlgauge.core.errors import InputError
from nlgauge.metrics.external.environments import FOLDER_BY, Environment, default_folder, recipes
from nlgauge.report.tables import Table

Name = Annotated[
    str | None, typer.Argument(metavar="[NAME]", autocompletion=lambda: list(recipes()), help="Which environment.")
]
List = Annotated[bool, typer.Option("--list", help="List all, with their state, packages and known troubles.")]
Check = Annotated[bool, typer.Option("--check", help="Import the packages of one that was made.")]
Remove = Annotated[bool, typer.Option("--remove", help="Delete one.")]
Folder = Annotated[
    str | None,
    typer.Option(
        "--folder", metavar="DIR", help=f"Folder of all environments.  [default: ${FOLDER_BY}, or the cache folder]"
    ),
]
Python = Annotated[
    str | None, typer.Option("--python", metavar="PATH", help="Python to make it from.  [default: the one that runs]")
]
With = Annotated[
    list[str] | None,
    typer.Option("--with", metavar="REQUIREMENT", help="Further requirement for pip: torch==2.13.0."),
]


def env(
    name: Name = None,
    show: List = False,
    check: Check = False,
    remove: Remove = False,
    folder: Folder = None,
    python: Python = None,
    more: With = None,
    quiet: Quiet = False,
) -> None:
    """Make an environment for a metric whose packages cannot be installed beside nlgauge's."""
    asked = [option for option, given in (("--list", show), ("--check", check), ("--remove", remove)) if given]
    if len(asked) > 1:
        raise InputError(f"{asked[0]} and {asked[1]} are both given; choose one")
    if asked:
        refuse_idle({"python": python, "with": more}, f"is about making one, and {asked[0]} makes none")
    if show or name is None:
        if name is not None or not show:
            raise InputError(
                "--list lists all environments; leave the name out"
                if name is not None
                else f"name an environment: {', '.join(recipes())}; 'nlgauge env --list' says what they hold"
            )
        echo("\n".join(_listed(folder)))
        return
    environment = Environment(name, folder)
    if remove:
        environment.remove()
        echo(f"{name}: removed from {environment.folder.parent}")
        return
    if check:
        environment.ready()
        _tell(environment, environment.check()["versions"])
        return
    if not environment.make(lambda line: None if quiet else echo(line), python=python, more=more or ()):
        echo(f"{name}: already made in {environment.folder}")
    _tell(environment, environment.versions)
    if folder is not None and environment.folder.parent != default_folder().absolute():
        echo(f"note: metrics look for it in {default_folder()}; set {FOLDER_BY}={folder}", err=True)


def _tell(environment: Environment, versions: Mapping[str, str]) -> None:
    held = ", ".join(f"{package} {version}" for package, version in versions.items())
    echo(f"{environment.recipe.name}: whole, with {held}; for -m {environment.recipe.metric}")


def _listed(folder: str | None) -> list[str]:
    """One line per environment, then what is known of each."""
    rows = [(name, Environment(name, folder).state, row.metric, row.about) for name, row in recipes().items()]
    table = Table("", ("environment", "state", "for", "what it holds"), tuple(rows), left=4)
    lines = [*table.text().split("\n"), ""]
    for name, row in recipes().items():
        oldest, newest = row.python
        lines += [f"{name}: {', '.join(row.packages)}", f"    Python {oldest} to {newest}; licence: {row.licence}"]
        lines += [f"    {trouble}" for trouble in row.troubles]
    return [*lines, "", f"They lie in {default_folder() if folder is None else folder}."]
