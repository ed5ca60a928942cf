"""Golden numbers of nlpstats, its authors' released package, for `tests/golden/correlations.json`.

    python -m venv golden && golden/bin/pip install nlpstats==0.0.1
    golden/bin/python recipes/golden/correlations.py -o tests/golden/correlations.json

Scores are one decimal and judgements whole numbers, so that there are ties; some segments are missing on both sides, as
it wants them.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
from importlib import metadata
from pathlib import Path

import numpy as np
from nlpstats.correlations.bootstrap import bootstrap
from nlpstats.correlations.correlations import correlate
from nlpstats.correlations.fisher import fisher

COMMAND = "python recipes/golden/correlations.py -o tests/golden/correlations.json"
PACKAGES = ("nlpstats", "numpy", "scipy")
LEVELS = ("system", "input", "global")
COEFFICIENTS = ("pearson", "spearman", "kendall")
DRAWS = 1000


def main() -> None:
    """Write the file named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", required=True, type=Path)
    path = parser.parse_args().o
    rng = np.random.default_rng(2)
    human = rng.integers(0, 5, size=(8, 12)).astype(float)
    scores = (human + rng.normal(size=human.shape)).round(1)
    gaps = rng.random(human.shape) < 0.1
    human[gaps], scores[gaps] = np.nan, np.nan
    cases = []
    for level in LEVELS:
        for coefficient in COEFFICIENTS:
            ends = fisher(scores, human, level, coefficient)
            case = {
                "level": level,
                "coefficient": coefficient,
                "value": correlate(scores, human, level, coefficient),
                "fisher": list(ends),
            }
            if level == "system":
                np.random.seed(0)  # nlpstats draws from the global generator
                drawn = bootstrap(scores, human, level, coefficient, "both", n_resamples=DRAWS)
                case["bootstrap_both"] = [float(drawn.lower), float(drawn.upper)]
            cases.append(case)
    written = {
        "command": COMMAND,
        "versions": {
            "python": platform.python_version(),
            **{package: metadata.version(package) for package in PACKAGES},
        },
        "draws": DRAWS,
        "human": [[None if math.isnan(v) else v for v in row] for row in human.tolist()],
        "scores": [[None if math.isnan(v) else v for v in row] for row in scores.tolist()],
        "cases": cases,
    }
    lines = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in written.items())
    path.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
