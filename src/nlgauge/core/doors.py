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
from functools import cache
from importlib import import_module
from typing import Any


def door(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Make `__getattr__` and `__dir__` of a package from the type-checking block in its `__init__`."""

    def get(name: str) -> object:
        public: list[str] = sys.modules[package].__all__
        if name not in public:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes(package)[name]), name)

    def names() -> list[str]:
        return list(sys.modules[package].__all__)

    return get, names


@cache
def homes(package: str) -> dict[str, str]:
    """Name -> the module that defines it, as the `__init__` of the package imports it for type checkers.

    Raises:
        ImportError: the package was installed without its source.
    """
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
}


def made(form: str, *what: Any) -> Any:
    """The result of a form's maker on its arguments."""
    module, _, name = _MAKERS[form].partition(":")
    return getattr(import_module(module), name)(*what)
