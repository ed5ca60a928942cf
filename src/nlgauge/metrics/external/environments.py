"""Environments for packages that cannot live beside ours: which there are, and how one is made, checked and removed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from nlgauge.core.errors import InputError, nearest
from nlgauge.metrics.external.client import Client
from nlgauge.runtime.cache import default_path

FOLDER_BY = "NLGAUGE_ENVIRONMENTS"
_MARK, _LOG = "nlgauge.json", "install.log"
_PIP = "-I -m pip install --no-compile --no-input --disable-pip-version-check --retries 1 --timeout 30".split()
_FAULT = re.compile(r"^ERROR: (.+)$", re.MULTILINE)

Say = Callable[[str], None]


@dataclass(frozen=True)
class EnvironmentRecipe:
    """The description of an environment: its packages and their versions.

    Attributes:
        name: its name.
        metric: the metric that it is for.
        about: what is in it.
        packages: requirements for pip.
        imports: the module that must be importable.
        signed: packages whose versions stand in signatures.
        python: the oldest and the newest Python that have all packages.
        licence: of the packages.
        troubles: what is known to be hard about them.
        program: a program that must be installed besides.
    """

    name: str
    metric: str
    about: str
    packages: tuple[str, ...]
    imports: str
    signed: tuple[str, ...]
    python: tuple[str, str]
    licence: str
    troubles: tuple[str, ...]
    program: str | None = None


@cache
def recipes() -> Mapping[str, EnvironmentRecipe]:
    """Name -> what the environment holds."""
    table: dict[str, dict[str, Any]] = tomllib.loads(
        files("nlgauge.data").joinpath("environments.toml").read_text(encoding="utf-8")
    )
    found = {}
    for name, row in table.items():
        about: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
        found[name] = EnvironmentRecipe(name, **about)
    return found


def recipe_of(name: str) -> EnvironmentRecipe:
    """The description of the environment of a name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in recipes():
        raise InputError(f"unknown environment {name!r}{nearest(name, recipes())}")
    return recipes()[name]


def default_folder() -> Path:
    """Where environments lie: `$NLGAUGE_ENVIRONMENTS`, else `environments` in the user's cache folder."""
    own = os.environ.get(FOLDER_BY)
    return Path(os.path.expanduser(own)) if own else default_path().parent / "environments"


class Environment:
    """One environment on disk.

    A file in it says how far it came, so that one that was never finished is not taken for whole.

    Args:
        name: one of `recipes()`.
        folder: the folder of all environments; None takes `default_folder()`.
    """

    def __init__(self, name: str, folder: str | Path | None = None) -> None:
        self.recipe = recipe_of(name)
        self.folder = (default_folder() if folder is None else Path(folder)).absolute() / name

    @property
    def python(self) -> Path:
        """Its Python."""
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def state(self) -> str:
        """`absent`, `being made`, `half made`, `old` (of other requirements) or `whole`."""
        if not os.path.exists(self.folder):
            return "absent"
        mark = self._mark
        if mark.get("state") != "whole" or not os.path.exists(self.python):
            return "being made" if mark.get("state") == "making" and _is_running(mark.get("process")) else "half made"
        return "whole" if mark.get("requirements") == list(self.recipe.packages) else "old"

    @property
    def versions(self) -> Mapping[str, str]:
        """Package -> version, as they were when it was made; empty unless it was made whole."""
        versions = self._mark.get("versions")
        return {str(name): str(version) for name, version in versions.items()} if isinstance(versions, dict) else {}

    def ready(self) -> Path:
        """Its Python, if it was made whole.

        Raises:
            InputError: it was not; the error says what to run.
        """
        if self.state not in ("whole", "old"):
            name = self.recipe.name
            where = "there is none" if self.state == "absent" else f"it is {self.state}"
            raise InputError(
                f"{self.recipe.metric} needs the environment {name!r}, and {where} in {self.folder.parent}; run:"
                f" nlgauge env {name}"
            )
        return self.python

    def make(self, say: Say, *, python: str | None = None, more: Sequence[str] = ()) -> bool:
        """Make it, unless it is whole; what was left half made, or is old, is made anew.

        Args:
            say: called with a line before each step.
            python: the Python to make it from; None takes the one that runs.
            more: further requirements, such as a build of torch.

        Returns:
            Whether something was made.

        Raises:
            InputError: another process makes it, or a step fails.
        """
        name, state = self.recipe.name, self.state
        if state == "whole" and not more and python is None:
            return False
        if state == "being made":
            raise InputError(f"environment {name}: process {self._mark['process']} makes it; wait until it is done")
        base = python or sys.executable
        self._check_base(base)
        if state != "absent":
            say(f"{name}: {self.folder} is {state}; it is made anew")
            self.remove()
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise InputError(f"environment {name} cannot be made in {self.folder}: {error.strerror}") from None
        self._write({"state": "making", "process": os.getpid()})
        try:
            wanted = [*self.recipe.packages, *more]
            say(f"{name}: virtual environment in {self.folder}")
            self._run(
                [base, "-I", "-m", "venv", str(self.folder)], "venv failed; is the package python3-venv installed?"
            )
            say(f"{name}: pip installs {', '.join(wanted)}")
            self._run([str(self.python), *_PIP, *wanted], "pip failed; is the package index within reach?")
            self._write({"state": "whole", "requirements": list(self.recipe.packages), "more": [*more], **self.check()})
        except BaseException:  # also when somebody interrupts
            self._write({"state": "failed"})
            raise
        return True

    def check(self) -> dict[str, Any]:
        """Import what it is for; its `python` and `versions`.

        Raises:
            InputError: the packages cannot be imported, or a program is missing.
        """
        name, program = self.recipe.name, self.recipe.program
        if program is not None and shutil.which(program) is None:
            raise InputError(f"environment {name} needs the program {program}, and there is none; install it")
        client = Client(f"environment {name}", self.python, self.recipe.signed)
        try:
            found = client.hello()
            client.ask({"op": "import", "module": self.recipe.imports})
        finally:
            client.close()
        return {"python": found["python"], "versions": found["versions"]}

    def remove(self) -> None:
        """Delete it.

        Raises:
            InputError: there is none, or the folder is no environment of ours.
        """
        name = self.recipe.name
        if self.state == "absent":
            raise InputError(f"there is no environment {name!r} in {self.folder.parent}")
        if self.state == "being made":
            raise InputError(f"environment {name}: process {self._mark['process']} makes it; wait until it is done")
        if not (self.folder / _MARK).exists() and any(self.folder.iterdir()):
            raise InputError(f"{self.folder} is no environment that nlgauge made; move it away, or name another folder")
        try:
            self._write({"state": "being removed"})  # so that it is not whole if this is interrupted
            shutil.rmtree(self.folder)
        except OSError as error:
            raise InputError(f"environment {name}: {error.filename} cannot be deleted: {error.strerror}") from None

    @property
    def _mark(self) -> dict[str, Any]:
        """How far it came; empty where nothing says."""
        with suppress(OSError, ValueError, RecursionError):
            found = json.loads((self.folder / _MARK).read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else {}
        return {}

    def _write(self, mark: Mapping[str, Any]) -> None:
        beside = self.folder / f"{_MARK}.part"
        beside.write_text(json.dumps(mark, indent=2) + "\n", encoding="utf-8")
        os.replace(beside, self.folder / _MARK)

    def _check_base(self, python: str) -> None:
        """Refuse a Python for which the packages are not made."""
        asked = [python, "-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        try:
            version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
            number = _number(version)
        except (OSError, ValueError, subprocess.CalledProcessError):
            raise InputError(f"{python} cannot be run, expected a Python") from None
        oldest, newest = self.recipe.python
        if not _number(oldest) <= number <= _number(newest):
            raise InputError(
                f"environment {self.recipe.name} needs Python {oldest} to {newest}, {python} is {version}; name another"
                " with --python"
            )

    def _run(self, command: Sequence[str], fault: str) -> None:
        """Run a step, whose output goes to a file in the folder."""
        log = self.folder / _LOG
        with log.open("ab") as file:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        if done.returncode:
            told = _FAULT.findall(log.read_text(encoding="utf-8", errors="replace"))
            said = f"; it said: {told[-1]}" if told else ""
            raise InputError(f"environment {self.recipe.name}: {fault}{said}; all of it is in {log}")


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _is_running(process: object) -> bool:
    """Whether a process runs on this machine."""
    if not isinstance(process, int) or process < 1 or os.name == "nt":  # where asking would end it
        return False
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):  # of a number that no process has
        return False
    return True
