"""The pages of the site: those of docs/, and a reference of all public names of Python, made from their docstrings.

    python recipes/tools/site_pages.py .site        `make site` does it, and builds the site from the folder

It reads the source and imports nothing of it. Links to files beside docs/ become names of these files, since the site
does not hold them.
"""

from __future__ import annotations

import ast
import re
import shutil
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
Definition = ast.FunctionDef | ast.ClassDef | ast.AnnAssign | ast.Assign
_SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "References")
_LONG = 72  # columns of a signature in one line


def packages() -> list[str]:
    """The packages with a front door."""
    rooms = [f"nlgauge.{path.parent.name}" for path in sorted(SOURCE.glob("nlgauge/*/__init__.py"))]
    return [package for package in ("nlgauge", *rooms) if _homes(package)]


def reference(package: str) -> str:
    """The page of a package, with every name in its `__all__`."""
    tree, homes = _tree(package), _homes(package)
    parts = [f"# {package}", *prose(ast.get_docstring(tree) or "")]
    for name in sorted(homes, key=str.lower):
        definition = _definition(homes[name], name)
        parts += [f"## `{name}`", *_shown(definition, name), *_methods(definition, name)]
    return "\n\n".join(parts) + "\n"


def _shown(definition: Definition, name: str) -> Iterator[str]:
    """The signature and the docstring of a name."""
    yield f"```python\n{_head(definition, name)}\n```"
    if isinstance(definition, ast.FunctionDef | ast.ClassDef):
        yield from prose(ast.get_docstring(definition) or "")


def _methods(definition: Definition, name: str) -> Iterator[str]:
    """What a class offers beside its fields, as far as it says what it does."""
    if isinstance(definition, ast.ClassDef):
        for inner in definition.body:
            if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_") and ast.get_docstring(inner):
                yield f"### `{name}.{inner.name}`"
                yield from _shown(inner, inner.name)


def _head(definition: Definition, name: str) -> str:
    match definition:
        case ast.FunctionDef():
            kept = definition.args.args[1:] if _is_method(definition) else definition.args.args
            arguments = ast.arguments(**{**dict(ast.iter_fields(definition.args)), "args": kept})
            if any(ast.unparse(mark) in ("property", "cached_property") for mark in definition.decorator_list):
                return f"{name}: {ast.unparse(definition.returns) if definition.returns else 'Any'}"
            back = f" -> {ast.unparse(definition.returns)}" if definition.returns else ""
            return signature(name, ast.unparse(arguments)) + back
        case ast.ClassDef():
            made = next((d for d in definition.body if isinstance(d, ast.FunctionDef) and d.name == "__init__"), None)
            if made:
                return f"class {_head(made, name)}".removesuffix(" -> None")
            fields = [d for d in definition.body if isinstance(d, ast.AnnAssign) and _is_field(d)]
            return f"class {signature(name, ', '.join(map(ast.unparse, fields)))}"
        case ast.AnnAssign():
            return f"{name}: {ast.unparse(definition.annotation)}"
    return ast.unparse(definition).partition("\n")[0][:_LONG]


def _is_method(function: ast.FunctionDef) -> bool:
    return bool(function.args.args) and function.args.args[0].arg in ("self", "cls")


def _is_field(line: ast.AnnAssign) -> bool:
    return not ast.unparse(line.annotation).startswith("ClassVar") and not ast.unparse(line.target).startswith("_")


def signature(name: str, arguments: str) -> str:
    """A call with its arguments, one per line where they are long."""
    if len(name) + len(arguments) < _LONG:
        return f"{name}({arguments})"
    lines, depth, line = [], 0, ""
    for char in arguments:
        depth += (char in "([{") - (char in ")]}")
        line += char
        if char == "," and not depth:
            lines.append(line.strip())
            line = ""
    return f"{name}(\n" + "".join(f"    {one}\n" for one in [*lines, f"{line.strip()},"]) + ")"


def prose(docstring: str) -> Iterator[str]:
    """A docstring as blocks of Markdown: sections with names become lists."""
    for block in re.split(r"\n(?=(?:" + "|".join(_SECTIONS) + r"):\n)", docstring):
        head, _, rest = block.partition(":\n")
        if head not in _SECTIONS:
            yield from (part if part.startswith("    ") else _plain(part) for part in block.strip("\n").split("\n\n"))
            continue
        yield f"**{head}**"
        items = [re.sub(r"\s+", " ", item) for item in re.split(r"\n    (?=\S)", "\n" + rest.rstrip())[1:]]
        if head in ("Args", "Attributes", "Raises"):
            yield "\n".join("- " + re.sub(r"^([\w*, ]+):", r"`\1`:", _plain(item)) for item in items)
        else:
            yield _plain(" ".join(items))


def _plain(text: str) -> str:
    """Text in which Markdown finds no markup but code between backticks."""
    parts = text.split("`")
    parts[::2] = [part.replace("*", r"\*").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


@cache
def _tree(module: str) -> ast.Module:
    path = SOURCE / module.replace(".", "/")
    return ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))


def _homes(package: str) -> dict[str, str]:
    """Public name -> the module that defines it, as the package imports it for type checkers."""
    imported: dict[str, str] = {}
    public: list[str] = []
    for node in ast.walk(_tree(package)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("nlgauge."):
            imported |= {alias.name: node.module for alias in node.names}
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            public = ast.literal_eval(node.value)
    return {name: imported[name] for name in public if name in imported}


def _definition(module: str, name: str) -> Definition:
    """Where a module defines a name.

    Raises:
        LookupError: it does not.
    """
    for node in _tree(module).body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() if node.name == name:
                return node
            case ast.AnnAssign() if ast.unparse(node.target) == name:
                return node
            case ast.Assign() if name in map(ast.unparse, node.targets):
                return node
    raise LookupError(f"{module} does not define {name}")


def within(page: Path, text: str) -> str:
    """A page whose links all stay in docs/: others become the names of what they led to."""

    def kept(found: re.Match[str]) -> str:
        target = (page.parent / found[2].partition("#")[0]).resolve()
        if "://" in found[2] or not found[2].partition("#")[0] or target.is_relative_to(ROOT / "docs"):
            return found[0]
        return f"{found[1]} (`{target.relative_to(ROOT).as_posix()}`)"

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", kept, text)


def home(readme: str, index: str) -> str:
    """The first page of the site: the README, then the table of first commands from docs/index.md.

    Links of the README lead to pages beside it, and its links to the index to the page of all pages.
    """
    table = re.search(r"^## Start here\n.*?(?=^## )", index, flags=re.M | re.S)
    if table is None:
        raise LookupError("docs/index.md has no section 'Start here'")
    text = within(ROOT / "README.md", readme).replace("](docs/index.md#start-here)", "](#start-here)")
    text = text.replace("](docs/index.md)", "](pages.md)").replace("](docs/", "](")
    return f"{text.rstrip()}\n\n{table[0].rstrip()}\n"


def write(folder: Path) -> None:
    """Make the folder anew, with `docs/` and `mkdocs.yml`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder / "docs")
    for copy in (folder / "docs").rglob("*.md"):
        page = ROOT / "docs" / copy.relative_to(folder / "docs")
        text = within(page, page.read_text(encoding="utf-8"))
        copy.write_text(re.sub(r"\]\(((?:\.\./)*)index\.md", r"](\1pages.md", text), encoding="utf-8")
    start, index = ROOT / "README.md", (folder / "docs" / "index.md").read_text(encoding="utf-8")
    (folder / "docs" / "pages.md").write_text(index, encoding="utf-8")
    (folder / "docs" / "index.md").write_text(home(start.read_text(encoding="utf-8"), index), encoding="utf-8")
    (folder / "docs" / "reference").mkdir()
    names = packages()
    for package in names:
        (folder / "docs" / "reference" / f"{package}.md").write_text(reference(package), encoding="utf-8")
    lines = "".join(f"      - reference/{package}.md\n" for package in names)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    settings = settings.rstrip("\n").replace("  - index.md\n", "  - Home: index.md\n  - All pages: pages.md\n")
    settings += f"\n  - Python reference:\n{lines}"
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
