"""Plug-ins: entry points by group, whose failure to load is an error of one line."""

from __future__ import annotations

from importlib import metadata
from typing import Any

from nlgauge.core.errors import SpecError

_SHOWN = 160  # characters of a reason


def plugin_names(group: str) -> list[str]:
    """The names that installed distributions add to a group of entry points."""
    return [point.name for point in metadata.entry_points(group=group)]


def find_plugin(group: str, name: str) -> metadata.EntryPoint | None:
    """The entry point with a name; None if no distribution adds it."""
    return next((point for point in metadata.entry_points(group=group) if point.name == name), None)


def load_plugin(point: metadata.EntryPoint, kind: str) -> Any:
    """Load the object of an entry point; `kind` is its name in errors, such as "metric".

    Raises:
        SpecError: it cannot be imported, whatever the reason.
    """
    try:
        return point.load()
    except Exception as error:  # their module may do anything when it is imported
        reason = (str(error).strip() or "no reason given").splitlines()[0]
        raise broken_plugin(point, kind, f"cannot be loaded ({type(error).__name__}: {reason[:_SHOWN]})") from None


def broken_plugin(point: metadata.EntryPoint, kind: str, fault: str) -> SpecError:
    """The error about an entry point; it names the distribution that adds it."""
    dist = getattr(point, "dist", None)
    package = "an installed package" if dist is None else f"{dist.name} {dist.version}"
    return SpecError(f"{kind} {point.name!r} of {package} {fault}; repair or uninstall that package")
