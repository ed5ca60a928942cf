"""The front door of a package: the public names that it offers, each loaded when it is first used.

The `__init__` of a package lists its public names in `__all__` and imports them only for type checkers:

    if TYPE_CHECKING:
        from nlgauge.io.scores import read_scores
    else:
        __getattr__, __dir__ = door(__name__)

`door` reads from that block in which module each name is defined. So each name and its module are written only once,
type checkers and editors see them as usual, and importing the package loads none of its modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from types import FunctionType
from typing import Any


def door(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package from the type-checking block in its `__init__`."""

    def get(name: str) -> object:
        public: list[str] = sys.modules[package].__all__
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(homes(package)[name]), name)
        return _refusing_types(found, package) if isinstance(found, FunctionType) else found

    def names() -> list[str]:
        return list(sys.modules[package].__all__)

    return get, names


@cache
def _refusing_types(function: Callable[..., Any], package: str) -> Callable[..., Any]:
    """The function, which says which argument is of another type than it declares, where that made it fail.

    Nothing is asked of a call that works: what behaves as the type is taken.
    """
    if hasattr(function, "is_public"):  # it says so itself
        return function

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (AttributeError, TypeError) as error:
            refuse_types(error, function, args, kwargs)
            raise

    called.__module__ = package  # where a pickle finds it
    return called


def refuse_types(error: Exception, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Name the argument of another type than a function declares, for which it failed; do nothing if there is none."""
    import inspect
    import typing

    from nlgauge.core.errors import InputError
    from nlgauge.core.options import expectation

    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError):  # a type that is imported for type checkers alone; arguments that are no such
        return
    for name, value in given.items():
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        for one in value if several else (value,):
            if name in hints and (end := expectation(one, hints[name])) is not None:
                raise InputError(f"{function.__name__}: {name} is {one!r:.80}{end}") from error
    if "os.PathLike" in str(error):  # a frame may be anything, what is opened may not
        raise InputError(f"{function.__name__}: {error}") from error


@cache
def homes(package: str) -> dict[str, str]:
    """Name -> the module that defines it, as the `__init__` of the package imports it for type checkers."""
    import ast
    import inspect

    try:
        tree = ast.parse(inspect.getsource(sys.modules[package]))
    except OSError:
        raise ImportError(f"the names of {package} are read from its source, which is not installed") from None
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {
        alias.name: node.module
        for block in blocks
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


# --- Forms of scores, results and alignments. Each is made by another package, which is loaded when it is asked for
# The types of this package offer them as methods, such as `Scores.to_frame()`, and know only where each form is made.

_MAKERS = {
    "frame": "nlgauge.io.frames:to_frame",
    "arrow": "nlgauge.io.frames:to_arrow",
    "file": "nlgauge.report.pages:write_result",
    "text": "nlgauge.report.text:printed",
    "svg": "nlgauge.report.kinds.align:alignment_svg",
    "page": "nlgauge.report.kinds.align:alignment_html",
    "result": "nlgauge.report.text:result_html",
    "scores": "nlgauge.report.text:scores_html",
    "suite": "nlgauge.report.text:suite_html",
    "plot": "nlgauge.report.pages:framed",
    "worst": "nlgauge.report.kinds.score:worst_shown",
}


def made(form: str, *what: Any) -> Any:
    """The result of a form's maker on its arguments."""
    module, _, name = _MAKERS[form].partition(":")
    return getattr(import_module(module), name)(*what)
