"""The golden scores of a release: every metric that needs no network, on twelve segments of the examples.

    HF_HUB_OFFLINE=1 python recipes/golden/scores.py            # adds what tests/golden/scores.json lacks
    HF_HUB_OFFLINE=1 python recipes/golden/scores.py --again    # makes all anew; what moves belongs in CHANGELOG.md

The segments are the first four items of each system in examples/weather.jsonl. The first reference is also the source
and the only turn of the dialogue, for metrics that read one. tests/metrics/test_golden.py holds these scores against
the installed versions.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import nlgauge as ng

ROOT = Path(__file__).parents[2]
FILE = ROOT / "tests" / "golden" / "scores.json"
ITEMS = ("1", "2", "3", "4")


def segments() -> list[ng.Segment]:
    """What is scored."""
    data = ng.read(ROOT / "examples" / "weather.jsonl")
    return [_with_everything(segment) for segment in data.segments if segment.item in ITEMS]


def _with_everything(segment: ng.Segment) -> ng.Segment:
    text = segment.references[0]
    return replace(segment, source=text, context=({"speaker": "A", "text": text},))


def scored(name: str, runtime: ng.Runtime) -> dict[str, object]:
    """The signature and the scores of a metric, in the order of the segments."""
    scores = ng.score(ng.Dataset(tuple(segments()), "weather"), metrics=[name], runtime=runtime)[name]
    values = [float(f"{value:.10g}") for value in scores.values]
    return {"signature": str(scores.signature), "system": float(f"{scores.system:.10g}"), "values": values}


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="also those that are there")
    again = parser.parse_args().again
    found = {} if again or not FILE.exists() else json.loads(FILE.read_text(encoding="utf-8"))
    runtime = ng.Runtime(device="cpu", dtype="float32")
    for name in ng.list_metrics():
        if name in found:
            continue
        try:
            found[name] = scored(name, runtime)
        except ng.NlgaugeError as error:
            print(f"left out: {name}: {error}")
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
    FILE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    print(f"{len(found)} metrics in {FILE}")


if __name__ == "__main__":
    main()
