"""Systems side by side, halves of items, and metrics that say the same."""

import numpy as np
import pytest

from nlgauge.choosing.systems import alike, apart_evidence, grid_of
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature


def segments(n, systems=("a", "b")):
    return [Segment(f"{s}{i}", "x", (), None, s, str(i)) for s in systems for i in range(n)]


def scores(spec, values, rows, **more):
    return Scores(Signature("m", {}), ids(rows), np.asarray(values, dtype=float), **more)


def test_only_items_that_all_systems_answer_are_compared():
    rows = segments(5)
    grid = grid_of([*rows, Segment("extra", "x", (), None, "a", "extra")], 6)
    assert grid.systems == ("a", "b")
    assert grid.places.tolist() == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert grid_of(segments(3), 3) is None  # too few to halve
    assert grid_of(segments(9, ("a",)), 9) is None


def test_a_clear_difference_stays_on_every_half_and_noise_does_not():
    rng, rows = np.random.default_rng(0), segments(40)
    grid = grid_of(rows, 40)
    clear = apart_evidence("m", scores("m", [*rng.normal(5, 1, 40), *rng.normal(0, 1, 40)], rows), grid)
    assert clear.value == 1
    assert clear.detail["widest"] == pytest.approx(5, abs=0.6)
    # 2.8 deviations of the mean: 2.8 * sqrt(2) / sqrt(40) = 0.63
    assert clear.detail["detectable"] == pytest.approx(0.63, abs=0.12)
    noise = rng.normal(0, 1, 40)
    level = apart_evidence("m", scores("m", [*noise, *rng.permutation(noise)], rows), grid)  # means are the same
    assert level.value < 0.5  # what one half has more, the other has less


def test_systems_with_the_same_outputs_are_at_chance():
    rows = segments(10)
    found = apart_evidence("m", scores("m", [*range(10)] * 2, rows), grid_of(rows, 10))
    assert found.value == 0.5
    assert np.isnan(found.detail["detectable"])


def test_metrics_are_alike_where_texts_and_systems_are_ordered_alike():
    rng, rows = np.random.default_rng(0), segments(20, ("a", "b", "c"))
    values = rng.normal(size=60)
    found = alike(
        {
            "one": scores("one", values, rows),
            "scaled": scores("scaled", 3 * values + 1, rows),
            "turned": scores("turned", -values, rows, higher_is_better=False),
            "another": scores("another", rng.normal(size=60), rows),
            "opposed": scores("opposed", -values, rows),
        },
        grid_of(rows, 20),
    )
    assert {name: head for name, (head, _) in found.items()} == {
        "one": "one", "scaled": "one", "turned": "one", "another": "another", "opposed": "opposed",
    }  # fmt: skip
    assert found["scaled"][1] == pytest.approx(1)
