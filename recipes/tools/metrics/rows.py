"""The row of a new metric in the table of all metrics, docs/metrics.md.

    python recipes/tools/metrics/rows.py      # adds what lacks, made of what the metric and its page say

Rows that stand there are left alone, so that their words may be bettered by hand. tests/test_docs.py names what lacks.
"""

from __future__ import annotations

import re
from pathlib import Path

import nlgauge as ng

ROOT = Path(__file__).parents[3]
BEFORE = "| [`scores`]"  # where a new row goes; move it to the family of the metric


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
    about, rows = ng.list_metrics(), []
    table = root / "docs" / "metrics.md"
    text = table.read_text(encoding="utf-8")
    for page, names in pages(root).items():
        lacking = [name for name in names if not re.search(rf"^\| .*`{re.escape(name)}`.*\]\(", text, re.MULTILINE)]
        if lacking:
            what, needs = about[names[0]].summary.partition(";")[0], ", ".join(sorted(about[names[0]].needs))
            shown = ", ".join(f"`{name}`" for name in lacking)
            rows.append(f"| [{shown}](metrics/{page}) | {what} | {needs or 'nothing'} |")
    place = text.index(f"\n{BEFORE}") + 1
    table.write_text(text[:place] + "".join(f"{row}\n" for row in rows) + text[place:], encoding="utf-8")
    return rows


if __name__ == "__main__":
    print("\n".join(add_rows()) or "no row lacks")
