"""Pages that stand alone: one file, nothing fetched, every text escaped."""

from __future__ import annotations

import os
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from nlgauge.core.result import Result, replacing
from nlgauge.core.spec import version
from nlgauge.report.labels import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_LAID_OUT = "\n\t"  # white space that a page may hold
_JOINTS = re.compile(r"(?<=[_=,:/|])(?=\w)")


def render(template: str, **values: Any) -> str:
    """A page from a template of this package; templates extend `page.html`, which holds the style.

    Values are escaped wherever they stand, except those wrapped in `markupsafe.Markup`, which must be pictures of our
    own making.
    """
    return _environment().get_template(template).render(version=version("nlgauge"), **values)


def render_result(template: str, result: Result, **values: Any) -> str:
    """A page from a template that extends `result.html`, which shows files, signatures, notes and command."""
    about = {name: getattr(result, name) for name in ("inputs", "metrics", "notes", "command")}
    return render(template, **about, **values)


def breakable(name: object) -> Markup:
    """A long name that a narrow column may break after its signs, never inside a word."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(map(escape, _JOINTS.split(visible(str(name), _LAID_OUT))))


def write_page(html: str, path: str | os.PathLike[str]) -> None:
    """Write a page, whole or not at all.

    Raises:
        InputError: the file cannot be written.
    """
    with replacing(path) as file:
        file.write(html)


def _seen(value: Any) -> Any:
    """A value of a template: pictures and what is escaped already as they are, texts without hidden characters."""
    return visible(value, _LAID_OUT) if type(value) is str else value


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("nlgauge.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_seen,
    )
    environment.filters["breakable"] = breakable
    return environment
