"""The rows of a new metric: in the table of the README, and for a new page in docs/index.md.

    python recipes/metrics/rows.py      # adds what lacks, made of what the metric and its page say

Rows that stand there are left alone, so that their words may be bettered by hand. tests/test_docs.py names what lacks.
"""

from __future__ import annotations

import re
from pathlib import Path

import nlgauge as ng

ROOT = Path(__file__).parents[2]
BEFORE_ROW, BEFORE_LINE = "| [`scores`]", "- [scores]"  # where a new row and a new line go


def pages(root: Path) -> dict[str, list[str]]:
    """File of a page -> the metrics in its first heading, in their order; presets of papers have no page."""
    known = {name for name in ng.list_metrics() if not name.startswith("paper/")}
    found = {}
    for path in sorted((root / "docs" / "metrics").glob("*.md")):
        heading = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        found[path.name] = [name for name in re.split(r",\s+", heading) if name in known]
    return {page: names for page, names in found.items() if names}


def add_rows(root: Path = ROOT) -> list[str]:
    """Add the rows that lack.

    Returns:
        The rows.
    """
    about, added = ng.list_metrics(), []
    for file, before in ((root / "README.md", BEFORE_ROW), (root / "docs" / "index.md", BEFORE_LINE)):
        text = file.read_text(encoding="utf-8")
        rows = []
        for page, names in pages(root).items():
            lacking = [name for name in names if not re.search(rf"^\| .*`{re.escape(name)}`.*\]\(", text, re.MULTILINE)]
            what, needs = about[names[0]].summary.partition(";")[0], ", ".join(sorted(about[names[0]].needs))
            if file.name == "README.md" and lacking:
                shown = ", ".join(f"`{name}`" for name in lacking)
                rows.append(f"| [{shown}](docs/metrics/{page}) | {what} | {needs or 'nothing'} |")
            elif file.name == "index.md" and f"](metrics/{page})" not in text:
                rows.append(f"- [{', '.join(names)}](metrics/{page}): {what}.")
        place = text.index(f"\n{before}") + 1
        file.write_text(text[:place] + "".join(f"{row}\n" for row in rows) + text[place:], encoding="utf-8")
        added += rows
    return added


if __name__ == "__main__":
    print("\n".join(add_rows()) or "no row lacks")
