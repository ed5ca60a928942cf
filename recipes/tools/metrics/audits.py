"""What each embedded metric sees least, measured: a table on its page.

    python recipes/tools/metrics/audits.py DATA/ud/pud.test.jsonl.gz [--cache FILE]

Audits every metric that runs as it is on 50 sentences of news and encyclopedia (UD English PUD), by the checklist of
machine translation, and writes what came out between two marks on the page of the metric. A sentence is its own
reference and source. Metrics that read something that sentences do not have are in `ASIDE`.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rows import ROOT, pages

import nlgauge as ng
from nlgauge.core.metric import whole
from nlgauge.metrics.registry import embedded_metrics
from nlgauge.text.scripts import known_writings, writings

TEXTS = 50
LEAST = 10  # pairs of a row that is shown
SHOWN = 3  # errors
BEGIN, END = "<!-- audit: written by recipes/tools/metrics/audits.py -->", "<!-- end of audit -->"
ASIDE = {"parent": "It has no audit here: it reads tables, which plain sentences do not have."}
OPTIONS = {"bert-nli": "bert-nli:anchor=source"}  # plain sentences have no turns before them
ABOUT = """\
## Audit

The table shows how much of its score the metric takes off for an error, and in brackets what people are estimated to
take off. It names the three errors that the metric underrates most, with 95 % intervals, and the harmless change that
costs most; for that one nothing should come off ([audit](../audit.md)). {n} sentences of news and encyclopedia (UD
English PUD) were damaged. Each is its own reference{source}.

```sh
# needs a checkout: and the public test sets
python recipes/tools/metrics/audits.py DATA/ud/pud.test.jsonl.gz
```

| metric | underrated most | second | third | harmless, costs most | reads |
|---|---|---|---|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("--metrics", help="some of the metrics, with blanks; others keep their rows")
    parser.add_argument("--cache", help="file that keeps the scores of models")
    given = parser.parse_args()
    metrics = given.metrics.split() if given.metrics else [name for name in embedded_metrics() if name not in ASIDE]
    specs = {name: OPTIONS.get(name, name) for name in metrics}
    suite = ng.suite("checklist", sentences(given.texts), task="mt")
    rows = ng.audit(suite, list(specs.values()), runtime=ng.Runtime(cache=given.cache)).rows
    lines = {name: line(name, [row for row in rows if row["metric"] == spec]) for name, spec in specs.items()}
    for page, names in pages(ROOT).items():
        family = page.removesuffix(".md")
        known = [family, *names] if family in ng.list_metrics() else names  # rouge.md begins with rouge1
        write(ROOT / "docs" / "metrics" / page, [*dict.fromkeys(known)], lines)


def sentences(path: Path) -> ng.Dataset:
    """Every so manieth sentence."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        texts = [json.loads(row)["text"] for row in file]
    texts = texts[:: len(texts) // TEXTS][:TEXTS]
    return ng.Dataset(tuple(ng.Segment(str(i), text, (text,), source=text) for i, text in enumerate(texts)))


def line(name: str, rows: Iterable[Mapping[str, Any]]) -> str:
    """The line of a metric."""
    rows = [row for row in rows if row["n"] >= LEAST]
    errors = sorted((row for row in rows if row["expect"] == "lower"), key=lambda row: row["deviation"])
    same = sorted((row for row in rows if row["expect"] == "same"), key=lambda row: -row["drop"])
    cells = [*(f"{cell(row)} ({row['penalty']:.2f})" for row in errors[:SHOWN]), *map(cell, same[:1])]
    return f"| `{name}` | {' | '.join([*cells, reads(ng.metric(OPTIONS.get(name, name)))])} |\n"


def cell(row: Mapping[str, Any]) -> str:
    low, high = (row[end] + row["penalty"] for end in ("low", "high"))
    return f"{row['template'].replace('_', ' ')} {row['drop']:.2f} [{low:.2f}, {high:.2f}]"


def reads(metric: Any) -> str:
    """What a metric reads, by its own account of Russian and Chinese text."""
    russian, chinese = (known_writings()[code] for code in writings(["Поезд опоздал", "火车晚点了"]).tolist())
    unread = whole(metric).unread
    if unread(russian) is not None:
        return "English" if "English" in str(unread(russian)) else "Latin letters"
    return "every script" if unread(chinese) is None else "languages with blanks between words"


def write(page: Path, names: Sequence[str], lines: Mapping[str, str]) -> None:
    """Put the block on a page: before its references if it has none yet. Lines of metrics not measured now are kept."""
    text = page.read_text(encoding="utf-8")
    before, found, rest = text.partition(f"{BEGIN}\n")
    block, _, after = rest.partition(f"{END}\n") if found else ("", "", "")
    old = {row.split("`")[1]: f"{row}\n" for row in block.split("\n") if row.startswith("| `")}
    shown = {name: new for name in names if (new := lines.get(name) or old.get(name))}
    aside = [ASIDE[name] for name in names if name in ASIDE]
    if not shown and not aside:
        return
    if not found:
        place = text.find("\n## References")
        before, after = (text[: place + 1], text[place + 1 :]) if place >= 0 else (f"{text.rstrip()}\n\n", "")
    source = " and source" if any("source" in ng.metric(OPTIONS.get(n, n)).info.needs for n in shown) else ""
    body = f"{ABOUT.format(n=TEXTS, source=source)}{''.join(shown.values())}" if shown else f"## Audit\n\n{aside[0]}\n"
    gap = "\n" if after and not after.startswith("\n") else ""
    page.write_text(f"{before}{BEGIN}\n{body}{END}\n{gap}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
