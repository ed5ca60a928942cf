"""Recipes, benchmarks and examples use names that the package has: nothing else runs most of them."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
TOOLS = sorted(path for folder in ("recipes", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py"))


def member(module: str, name: str) -> object:
    """What `from module import name` binds; None if there is no such name."""
    try:
        found = import_module(module)
        return getattr(found, name) if hasattr(found, name) else import_module(f"{module}.{name}")
    except ImportError:
        return None


def lost_names(tree: ast.Module) -> list[str]:
    """Names of nlgauge that a program imports, or reads off a module that it imports, and that are not there."""
    lost, modules = [], dict[str, ModuleType]()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "nlgauge":
            for alias in node.names:
                found = member(str(node.module), alias.name)
                if found is None:
                    lost.append(f"{node.module}.{alias.name}")
                elif isinstance(found, ModuleType):
                    modules[alias.asname or alias.name] = found
        elif isinstance(node, ast.Import):
            modules |= {a.asname: import_module(a.name) for a in node.names if a.asname and a.name == "nlgauge"}
    read = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)]
    used = {(n.value.id, n.attr) for n in read if isinstance(n.value, ast.Name) and n.value.id in modules}
    return lost + [f"{name}.{attr}" for name, attr in sorted(used) if not hasattr(modules[name], attr)]


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_program_beside_the_package_uses_names_that_are_there(path):
    assert lost_names(ast.parse(path.read_text(encoding="utf-8"))) == []


def test_a_lost_name_is_found():
    imports = "import nlgauge as ng\nfrom nlgauge.core import scores, nothing\n"
    program = imports + "ng.score, ng.skore\nscores.count, scores.gone"
    assert lost_names(ast.parse(program)) == ["nlgauge.core.nothing", "ng.skore", "scores.gone"]
