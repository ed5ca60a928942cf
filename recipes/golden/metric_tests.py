"""Golden numbers of nlpstats 0.0.1 for `tests/golden/nlpstats.json`.

Permutation and Williams tests of the difference of two correlations.

    python -m venv golden && golden/bin/pip install nlpstats==0.0.1
    golden/bin/python recipes/golden/metric_tests.py -o tests/golden/nlpstats.json

The scores are rounded to two decimals so that the file holds all there is to know; every test runs after
`numpy.random.seed(SEED)`. `p` is what it returns, `p_with_ties` what its draws give when ties with the data are told
from rounding.
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from nlpstats.correlations import correlate, permutation_test, williams_test

COMMAND = "python recipes/golden/metric_tests.py -o tests/golden/nlpstats.json"
PACKAGES = ("nlpstats", "numpy", "scipy")
SEED, DRAWS = 7, 200


def data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(20)
    human = rng.normal(size=(5, 1)) + rng.normal(size=(1, 8)) + rng.normal(size=(5, 8))
    return {
        "human": human.round(2),
        "first": (human + rng.normal(size=(5, 8))).round(2),
        "second": (human + 2 * rng.normal(size=(5, 8))).round(2),
    }


def cases(human: np.ndarray, first: np.ndarray, second: np.ndarray) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for level in ("system", "input", "global"):
        for coefficient in ("pearson", "spearman", "kendall"):
            for alternative in ("two-sided", "greater"):
                row = {"level": level, "coefficient": coefficient, "alternative": alternative}
                observed = correlate(first, human, level, coefficient) - correlate(second, human, level, coefficient)
                rows.append(
                    row
                    | {
                        "method": "williams",
                        "p": williams_test(first, second, human, level, coefficient, alternative).pvalue,
                    }
                )
                for method in ("systems", "inputs", "both"):
                    np.random.seed(SEED)
                    found = permutation_test(
                        first, second, human, level, coefficient, method, alternative=alternative, n_resamples=DRAWS
                    )
                    rows.append(
                        row
                        | {
                            "method": method,
                            "p": found.pvalue,
                            "p_with_ties": with_ties(found.samples, observed, alternative),
                        }
                    )
    return rows


def with_ties(samples: list[float], observed: float, alternative: str) -> float:
    """Its p with every draw that ties with the data up to rounding.

    There the last digits decide which of them count.
    """
    drawn, seen = (np.abs(samples), abs(observed)) if alternative == "two-sided" else (np.array(samples), observed)
    return float(np.mean(drawn >= seen - 1e-10))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    arrays = data()
    versions = {"python": platform.python_version()} | {name: metadata.version(name) for name in PACKAGES}
    head: dict[str, Any] = {"command": COMMAND, "versions": versions, "seed": SEED, "draws": DRAWS}
    body = {name: array.tolist() for name, array in arrays.items()}
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in (head | body).items()]
    rows = ",\n".join("  " + json.dumps(row) for row in cases(**arrays))
    arguments.output.write_text("{\n" + ",\n".join(lines) + ',\n "cases": [\n' + rows + "\n ]\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
