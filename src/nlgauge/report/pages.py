"""Pages that stand alone: one file, nothing fetched, every text escaped."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result, replacing
from nlgauge.core.spec import model_line, version
from nlgauge.report.labels import visible
from nlgauge.report.tables import Worst, kind_of
from nlgauge.report.text import parts_of, render

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


_LAID_OUT = "\n\t"  # white space that a page may hold
_JOINTS = re.compile(r"(?<=[_=,:/|])(?=\w)")


def render_template(template: str, **values: Any) -> str:
    """A page from a template of this package; templates extend `page.html`, which holds the style.

    Values are escaped wherever they stand, except those wrapped in `markupsafe.Markup`, which must be pictures of our
    own making.
    """
    return _environment().get_template(template).render(version=version("nlgauge"), **values)


def render_result(template: str, result: Result, **values: Any) -> str:
    """A page from a template that extends `result.html`, which shows files, signatures, notes and command."""
    about = {name: getattr(result, name) for name in ("inputs", "metrics", "notes", "command")}
    return render_template(template, models=model_line(result.metrics), **about, **values)


def breakable(name: object) -> Markup:
    """A long name that a narrow column may break after its signs, never inside a word."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(map(escape, _JOINTS.split(visible(str(name), _LAID_OUT))))


def write_page(html: str, path: str | os.PathLike[str]) -> None:
    """Write a page, whole or not at all."""
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


# --- How a page names files: without their folders, for a page is passed on to others

_IN, _END = r"""[^\s"',;:|\[\]()]""", r"""[^\s"',;:|\[\]().]"""
# An absolute path, or one from the home folder, where a text begins or after a blank, a quote, a bracket or a sign.
_PATH = re.compile(rf"""(?<![^\s"'(\[=,:|])(?:~?/|[A-Za-z]:\\){_IN}*[/\\]{_IN}*{_END}""")

_CALLED = ("system", "baseline", "group", "item", "criterion", "phenomenon")  # of rows: what data call something


def without_folders(result: Result) -> Result:
    """The result with every absolute path cut to the name of its file; names that look like paths stay whole.

    Files with equal names keep the folders that tell them apart. Inputs show no folder at all where that is possible.
    """
    inputs = [entry["path"] for entry in result.inputs]
    texts = [*_texts(result.rows), *_texts(result.metrics), *result.notes, result.command or ""]
    names = names_of([*inputs, *(path for text in texts for path in _PATH.findall(text))])

    called = {str(row[key]) for row in result.rows for key in _CALLED if row.get(key) is not None} - {*inputs}
    called = {name for name in called if "/" in name or "\\" in name}

    def cut(found: re.Match[str]) -> str:
        path = found.group()
        return path if path not in inputs and any(path in name for name in called) else names[path]

    def shown(value: Any) -> Any:
        return _PATH.sub(cut, value) if isinstance(value, str) else value

    def each(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{key: shown(value) for key, value in row.items()} for row in rows]

    specs = {metric["spec"]: shown(metric["spec"]) for metric in result.metrics}

    def named(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "metric": specs.get(row["metric"], row["metric"])} for row in rows]

    return replace(
        result,
        inputs=[{**entry, "path": names[entry["path"]]} for entry in result.inputs],
        rows=each(result.rows),
        people=named(result.people),
        ceiling=named(result.ceiling),
        disagreements=named(result.disagreements),
        worst=named(result.worst),
        metrics=each(result.metrics),
        notes=[shown(note) for note in result.notes],
        command=shown(result.command),
    )


def bare(text: str) -> str:
    """A text with every absolute path in it cut to the name of its file, or more where names are equal."""
    names = names_of(_PATH.findall(text))
    return _PATH.sub(lambda found: names[found.group()], text)


def _texts(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(value for row in rows for value in row.values() if isinstance(value, str)))


def names_of(paths: Sequence[str]) -> dict[str, str]:
    """path -> its shortest end that no other path has."""
    parts = {path: (PureWindowsPath if "\\" in path else PurePosixPath)(path).parts for path in paths}
    names = {}
    for path, own in parts.items():
        for n in range(1, len(own) + 1):
            ends = Counter(other[-n:] for other in parts.values())
            if ends[own[-n:]] == 1 or n == len(own):
                names[path] = "/".join(own[-n:]) if n < len(own) else path
                break
        else:
            names[path] = path
    return names


# --- Results as pages and files: one self-contained HTML file for each kind of result


def page(result: Result, worst: Worst | None = None, **known: Any) -> str:
    """The page of a result; it names files without folders.

    Args:
        worst: for each metric of an audit, the cases with its worst errors, as `Audit.worst` returns them.
        known: further arguments of the page of this kind, such as `trust` of scores.

    Raises:
        InputError: a result of another kind has no page.
    """
    kind, shown = kind_of(result.kind), without_folders(result)
    if kind.page:
        return kind.page(shown, **({"worst": worst} if worst else {}), **known)
    if kind.parts is None:
        raise InputError(f"a result of kind {result.kind!r} has no page; write it as .json or .tsv")
    return render_result("tables.html", shown, heading=kind.heading, shown=parts_of(shown))


class Framed(str):
    """A page that a notebook shows in a frame, so that its style is not that of the notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        style = "width: 100%; height: 40rem; border: 0; background: Canvas"
        return f'<iframe srcdoc="{escape(str(self))}" sandbox="allow-scripts allow-downloads" style="{style}"></iframe>'


def framed(result: Result) -> Framed:
    """The page of a result for a notebook.

    Raises:
        InputError: a result of this kind has no page.
    """
    return Framed(page(result))


def write_result(result: Result, path: str | os.PathLike[str], form: str) -> None:
    """Write a result, completely or not at all.

    Args:
        form: `html`, or one of the forms of `render`.

    Raises:
        InputError: the form is unknown, this kind of result does not have it, or the file cannot be written.
    """
    write_page(page(result) if form == "html" else render(result, form) + "\n", path)
