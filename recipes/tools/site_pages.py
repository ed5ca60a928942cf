"""The pages of the site: the README, those of docs/, and a forwarding page for every address of old.

    python recipes/tools/site_pages.py .site        `make site` does it, and builds the site from the folder

Links to files beside docs/ become names of these files, since the site does not hold them. `redirects.tsv` beside this
program has the addresses that pages once had.
"""

from __future__ import annotations

import csv
import os.path
import re
import shutil
import sys
from html import escape
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parents[1]
DOCS = ROOT / "docs"
HOME = "README.md"  # stands in links to the first page, until they are moved
# Wide tables scroll on a screen and are whole on paper; a name in a first column is not broken.
STYLE = """\
.md-typeset td:first-child code { white-space: nowrap; }
.md-typeset td code { word-break: normal; }
@media print {
  .md-typeset__scrollwrap, .md-typeset pre > code { overflow: visible; white-space: pre-wrap; }
  .md-typeset table:not([class]) { display: table; font-size: 0.5rem; }
  .md-typeset td, .md-typeset th { min-width: 0 !important; padding: 0.3em !important; }
}
"""
FORWARD = (
    '<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>Moved</title>'
    '<meta http-equiv="refresh" content="0; url={0}"><link rel="canonical" href="{0}">'
    '<p>This page has moved: <a href="{0}">{0}</a></p></html>\n'
)


def within(page: Path, text: str) -> str:
    """A page whose links all stay in docs/: others become the names of what they led to."""

    def kept(found: re.Match[str]) -> str:
        target = (page.parent / found[2].partition("#")[0]).resolve()
        if "://" in found[2] or not found[2].partition("#")[0] or target.is_relative_to(DOCS):
            return found[0]
        here = page.parent if page.is_relative_to(DOCS) else DOCS
        if target == ROOT / "README.md":
            return f"[{found[1]}]({os.path.relpath(DOCS / HOME, here)})"
        if target.is_relative_to(ROOT / "examples") and target.is_file():
            there = os.path.relpath(DOCS / target.relative_to(ROOT), here)
            return f"[{found[1]}]({there}{'.txt' if target.suffix == '.md' else ''})"
        return f"{found[1]} (`{target.relative_to(ROOT).as_posix()}`)"

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", kept, text)


def moved(text: str) -> str:
    """A page whose links to the page of first commands lead to where the site has it: the README is its first page."""
    text = re.sub(r"\]\(((?:\.\./)*)index\.md", r"](\1start.md", text)
    return re.sub(rf"\]\(((?:\.\./)*){HOME}", r"](\1index.md", text)


def home(readme: str) -> str:
    """The first page of the site: the README, its links as seen from docs/."""
    return moved(within(ROOT / "README.md", readme).replace("](docs/", "]("))


def redirects() -> dict[str, str]:
    """Address of old, without its ending -> the page that has its subject now, perhaps with a heading."""
    with (TOOLS / "redirects.tsv").open(encoding="utf-8", newline="") as file:
        return {row["old"]: row["new"] for row in csv.DictReader(file, delimiter="\t")}


def nav(settings: str) -> str:
    """The settings, with the pages of the reference in the navigation."""
    reference = DOCS / "reference"
    lines = ["  - Reference:\n"]
    for path in sorted(reference.glob("*.md"), key=lambda path: (path.stem not in ("verbs", "metrics"), path.stem)):
        lines.append(f"      - reference/{path.name}\n")
        below = sorted((reference / path.stem).glob("*.md"))
        if below:
            lines[-1] = f"      - {path.stem.capitalize()}:\n          - All: reference/{path.name}\n"
            lines += [f"          - reference/{path.stem}/{one.name}\n" for one in below]
    before, mark, after = settings.partition("  - Studies:\n")
    return before + "".join(lines) + mark + after


def write(folder: Path) -> None:
    """Make the folder anew, with `docs/` and `mkdocs.yml`."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DOCS, folder / "docs")
    for copy in (folder / "docs").rglob("*.md"):
        page = DOCS / copy.relative_to(folder / "docs")
        text = moved(within(page, page.read_text(encoding="utf-8")))
        is_python = page.parent == DOCS / "reference" / "python"  # found last: names of Python are seldom what is meant
        copy.write_text(f"---\nsearch:\n  boost: 0.2\n---\n\n{text}" if is_python else text, encoding="utf-8")
    shutil.copytree(ROOT / "examples", folder / "docs" / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    for text_file in (folder / "docs" / "examples").rglob("*.md"):  # read as they are, without a place in navigation
        text_file.rename(text_file.with_suffix(".md.txt"))
    (folder / "docs" / "site.css").write_text(STYLE, encoding="utf-8")
    (folder / "docs" / "index.md").rename(folder / "docs" / "start.md")
    (folder / "docs" / "index.md").write_text(home((ROOT / "README.md").read_text(encoding="utf-8")), encoding="utf-8")
    for old, new in redirects().items():
        target = folder / "docs" / f"{old}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        new_page, mark, heading = new.partition("#")
        there = os.path.relpath(folder / "docs" / new_page, target.parent).removesuffix(".md")
        target.write_text(FORWARD.format(escape(f"{there}.html{mark}{heading}", quote=True)), encoding="utf-8")
    settings = nav((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    (folder / "mkdocs.yml").write_text(
        settings.replace("      - index.md\n", "      - index.md\n      - start.md\n"), encoding="utf-8"
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
