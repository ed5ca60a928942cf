"""Pictures of a report: those of the guides, or with --all each figure, light and dark, at 1280 and 400 pixels.

    make demo
    python recipes/tools/pictures.py demo/report.html docs/images
    python recipes/tools/pictures.py demo/report.html /tmp/figures --all      to look at before a release

It needs Chromium, which the tests drive in the same way, and Pillow.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

DRIVER = Path(__file__).resolve().parents[2] / "tests" / "report" / "chromium.py"
# Name -> the first and the last element of what the picture shows.
KEPT = {
    "report_verdict": ("header h1", "header .verdict"),
    "report_scores": ("#result-1 > .panels", "#result-1 .trust"),
    "report_audit": ("#result-3 table.map", "#result-3 table.map"),
    "report_segments": ("#x-form", "#x-item"),
}
EACH = "figure, .trust, table.chart, table.map, table.bars, .explorer"
ITEM = "document.querySelector('#x-table tbody button').click()"
PLACE = """(([first, last]) => {
  const [a, b] = [first, last].map(one => one.getBoundingClientRect()), edge = 8;
  return {x: Math.min(a.left, b.left) + scrollX - edge, y: a.top + scrollY - edge, scale: 1,
    width: Math.max(a.right, b.right) - Math.min(a.left, b.left) + 2 * edge, height: b.bottom - a.top + 2 * edge};
})(%s)"""


def take(browser: Any, elements: str, path: Path, colours: int = 0) -> None:
    """Write the part of the page from one element to another, with a palette of so many colours."""
    clip = browser.run(PLACE % elements)
    if clip["width"] > 16 and clip["height"] > 16:
        made = browser.call("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)
        picture = Image.open(io.BytesIO(base64.b64decode(made["data"]))).convert("RGB")
        (picture.quantize(colours) if colours else picture).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    spec = importlib.util.spec_from_file_location("chromium", DRIVER)
    assert spec is not None
    assert spec.loader is not None
    driver = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(driver)
    with tempfile.TemporaryDirectory() as user:
        browser = driver.Chromium(user)
        browser.call("Emulation.setScrollbarsHidden", hidden=True)
        for width, dark in [(w, d) for w in (1280, 400) for d in (False, True)] if args.all else [(1200, False)]:
            browser.open(args.report.resolve(), width=width, dark=dark)
            browser.run(ITEM)
            if args.all:
                for at in range(browser.run(f"document.querySelectorAll('{EACH}').length")):
                    name = f"{at:03}-{width}-{'dark' if dark else 'light'}.png"
                    one = f"document.querySelectorAll('{EACH}')[{at}]"
                    take(browser, f"[{one}, {one}]", args.folder / name)
            else:
                for name, ends in KEPT.items():
                    elements = ", ".join(f"document.querySelector('{end}')" for end in ends)
                    take(browser, f"[{elements}]", args.folder / f"{name}.png", 128)
        browser.close()


if __name__ == "__main__":
    main()
