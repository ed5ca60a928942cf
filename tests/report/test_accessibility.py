"""axe-core finds nothing serious on any page, on a desk and on a telephone, in light and in dark.

`make browser` installs axe-core; `NLGAUGE_AXE` may name another `axe.min.js`. Without one there is nothing to run.
"""

import os
from pathlib import Path

import pytest

AXE = Path(os.environ.get("NLGAUGE_AXE") or "node_modules/axe-core/axe.min.js")
FOUND = """axe.run({resultTypes: ["violations"]}).then(found => found.violations
  .filter(one => ["serious", "critical"].includes(one.impact))
  .map(one => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 200), one.nodes[0].failureSummary]))"""
# Over the shadows of a frame that scrolls axe-core measures no contrast; without them the background is paper.
PLAIN = """const plain = document.createElement("style");
plain.textContent = ".wide { background: none !important }";
document.head.append(plain);
document.querySelectorAll("details").forEach(one => { one.open = true });
document.querySelector("#x-table tbody button")?.click();"""


@pytest.fixture(scope="module")
def axe(chromium):
    if not AXE.exists():
        pytest.skip(f"needs axe-core, which `make browser` installs: there is no {AXE}")
    return AXE.read_text(encoding="utf-8")


def test_no_page_has_a_serious_fault(chromium, axe, pages, tmp_path):
    faults = {}
    for name, text in pages().items():
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        for width, dark in ((1280, False), (400, True)):
            chromium.open(path, width=width, dark=dark)
            chromium.run(f"{PLAIN}\n{axe}; 0")
            faults[name, width] = chromium.run(FOUND)
    assert not {where: found for where, found in faults.items() if found}
