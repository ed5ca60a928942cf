"""Size of a report with many segments, and how soon Chromium shows and searches it.

    python benchmarks/report.py                       100,000 segments of 20 made-up words, their references, 3 scores
    python benchmarks/report.py --segments 10000      a first look
    python benchmarks/report.py --keep report.html    and the page stays

The browser is the one of the tests, so this needs a checkout. Each time is the best of `--repeats`: of the first paint
after the page was asked for, of the table with all its rows, and of a search for letters that some texts hold.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.report.bundle import bundle_html, segments_of

DRIVER = Path(__file__).parent.parent / "tests" / "report" / "bundle" / "chromium.py"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
SEARCH = """(() => {
  const form = document.getElementById("x-form"), input = document.getElementById("x-text");
  const ask = text => { input.value = text; form.dispatchEvent(new Event("input")); };
  ask("");
  const start = performance.now();
  ask("zebr");
  return performance.now() - start;
})()"""


def report(n: int) -> str:
    """A report of `n` segments of two systems; the same number gives the same page."""
    rng, letters = random.Random(0), "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(20_000)]
    texts = [" ".join(rng.choices(words, k=20)) for _ in range(n)]
    keys = tuple(Key(f"{i % 2}-{i // 2}", ("one", "two")[i % 2], str(i // 2)) for i in range(n))
    columns = {name: np.random.default_rng(0).random(n) for name in ("m", "n", "o")}
    segments = [
        Segment(str(key.id), text, (texts[i // 2],), None, key.system, key.item)
        for i, (key, text) in enumerate(zip(keys, texts, strict=True))
    ]
    rows = ScoreTable(keys, columns, "segment", "rows.tsv", (), {})
    return bundle_html({}, segments=segments_of([rows], [Dataset(tuple(segments), "made up")]))


def driver() -> ModuleType:
    """The module that drives Chromium in the tests."""
    spec = importlib.util.spec_from_file_location("chromium", DRIVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scripts(browser: Any) -> float:
    """Milliseconds of processor that scripts of the page took; what else runs on the machine does not count."""
    metrics = {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}
    return 1000 * float(metrics["ScriptDuration"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--segments", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = (args.keep or Path(folder) / "report.html").resolve()
        start = time.process_time()
        path.write_text(report(args.segments), encoding="utf-8")
        print(f"{time.process_time() - start:7.1f} s   of processor to make it")
        print(f"{path.stat().st_size / 1e6:7.1f} MB")
        browser = driver().Chromium(Path(folder) / "user")
        browser.call("Performance.enable", timeDomain="threadTicks")
        times = []
        for _ in range(args.repeats):
            browser.open(path)
            shown, before = browser.run("performance.now()"), scripts(browser)
            times.append((browser.run(PAINT), shown, browser.run(SEARCH), scripts(browser) - before))
        names = ("paint", "table", "search", "search, its script alone on a processor")
        for name, taken in zip(names, zip(*times, strict=True), strict=True):
            print(f"{min(taken):7.0f} ms  {name}")
        browser.close()


if __name__ == "__main__":
    main()
