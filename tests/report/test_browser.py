"""Pages as Chromium lays them out on a telephone; without Chromium there is nothing to see."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest

pytest.importorskip("jinja2")


from nlgauge.core.result import Result
from nlgauge.report.kinds.synth import ladders_html
from nlgauge.report.pages import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
METRIC = 'scores:file="a_file_with_a_long_name.tsv",column=comet'
MEASURE = """
const found = [...document.querySelectorAll("iframe")].map(frame => {
  const page = frame.contentDocument, wrong = [];
  if (page.documentElement.scrollWidth > 400) wrong.push("the page scrolls sideways");
  for (const box of page.querySelectorAll("body *")) {
    if (box.getBoundingClientRect().right > 400.5 && !box.closest(".wide, svg")) wrong.push(box.tagName);
  }
  for (const cell of page.querySelectorAll("td.number")) {
    const range = page.createRange();
    range.selectNodeContents(cell);
    const lines = new Set([...range.getClientRects()].map(line => Math.round(line.top)));
    if (lines.size > 1 && !cell.querySelector("br, svg")) wrong.push("broken: " + cell.textContent);
  }
  return wrong;
});
document.body.innerHTML = "<pre>" + JSON.stringify(found) + "</pre>";
"""


def pages():
    metrics = [{"spec": METRIC, "signature": f"metric:{METRIC}|nlgauge:1", "higher_is_better": True}]
    between = {"low": 0.25, "high": 0.75, "n": 1200, "n_undefined": 0, "metric": METRIC}
    names = ("template", "UEdin_NMT_ensemble_right_to_left", "a name of a system in many words", "系统二号")
    scores = [{**between, "system": s, "value": 0.5, "baseline": names[0], "delta": -0.125, "p": 0.02} for s in names]
    audit = [
        {**between, "task": "mt", "criterion": "fluency", "template": t, "n_not_applicable": 0, "drop": 0.5}
        | {"penalty": 0.5, "deviation": 0.0, "certainty": "high", "trained_on": True}
        for t in ("subject_verb_disagreement", "typos")
    ]
    wins = [
        {**between, "phenomenon": p, "group": "de-en", "accuracy": 0.5, "wins": 600, "ties": 0, "losses": 600}
        for p in ("subject_verb_disagreement", "mean-all")
    ]
    step = {"operation": "insert", "start": 0, "end": 0, "new": "Very ", "text": "Very many words " * 9, "severity": -1}
    yield page(Result("score", scores, (), metrics, ["a note"]))
    yield page(Result("audit", audit, (), metrics))
    yield page(Result("audit", wins, (), metrics))
    yield ladders_html([{"refs": ["many words " * 9], "steps": [step], "score": -1.0}], "synthesis")


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_on_a_telephone_only_marked_tables_scroll_and_no_number_is_broken(tmp_path):
    made = list(pages())
    frames = "".join(f'<iframe width="400" height="900" srcdoc="{html.escape(one)}"></iframe>' for one in made)
    whole = f'<meta charset="utf-8"><body>{frames}<script>onload = () => {{{MEASURE}}}</script>'
    (tmp_path / "frames.html").write_text(whole, encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'user'}"]
    seen = subprocess.run(
        [*command, "--dump-dom", (tmp_path / "frames.html").as_uri()],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert json.loads(html.unescape(re.search("<pre>(.*)</pre>", seen.stdout).group(1))) == [[]] * len(made)
