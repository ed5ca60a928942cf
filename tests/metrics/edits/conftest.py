import json
from pathlib import Path

import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "edits.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def golden():
    """A function from a name of the peer, and our specification, to our scores of the golden pairs and its values."""

    def scored(peer, spec=None):
        segments = [Segment(str(i), h, (r,)) for i, (h, r, _) in enumerate(GOLDEN["pairs"])]
        expected = [values[peer] for _, _, values in GOLDEN["pairs"]]
        return metric(spec or peer).score(segments, Runtime()), expected, GOLDEN["corpus"].get(peer)

    return scored


@pytest.fixture(scope="session")
def one():
    """A function from a specification, a hypothesis and references to one value."""

    def value(spec, hypothesis, *references):
        return float(metric(spec).score([Segment("a", hypothesis, references)], Runtime()).values[0])

    return value


@pytest.fixture(scope="session")
def short_segments():
    """The segments of the contract but the long one, which takes seconds where time grows with the product."""
    return [s for s in SEGMENTS if s.id != "long"]
