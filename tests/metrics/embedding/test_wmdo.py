"""WMDo: its penalties by hand, its distance by linear programming, and the contract."""

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.wmdo import Wmdo, fragmentation
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here


def test_the_distance_is_what_its_definition_gives(pairs, plain, cheapest):
    found = Wmdo(model=plain.folder, delta=0.5).score(pairs[:40], CPU)
    for i in np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"])):
        a, b = (plain(t)[1][-1][1:-1] for t in (pairs[i].hypothesis, *pairs[i].references))
        a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
        distance = cheapest(1 - a @ b.T, np.ones(len(a)), np.ones(len(b)))
        assert found.parts["distance"][i] == pytest.approx(distance, abs=PARITY)
        assert found.values[i] == pytest.approx(distance + 0.5 * found.parts["fragments"][i], abs=PARITY)


@pytest.mark.parametrize(
    ("matched", "fragments"),
    [
        ([0, 1, 2, 3], 1 / 4),  # one fragment of four words
        ([2, 3, 0, 1], 3 / 4),  # the first match is not the first word: a second fragment; then back: a third
        ([3, 2, 1, 0], 1.0),  # five for four words, cut at 1
        ([0], 1.0),
    ],
)
def test_fragments_by_hand(matched, fragments):
    flow = np.zeros((4, len(matched)))
    flow[matched, np.arange(len(matched))] = 1
    assert fragmentation(flow, range(len(matched)), [[0], [1], [2], [3]]) == fragments


def test_of_equal_flows_the_nearest_continues_the_fragment():
    flow = np.array([[1, 0.5, 0], [0, 0.5, 0], [0, 0, 1]])  # the second word goes to places 0 and 1 alike
    assert fragmentation(flow, [0, 1, 2], [[0], [1], [2]]) == 1.0  # 0 again (nearest), then 2: three fragments
    flow = np.array([[1, 0, 0], [0, 1, 1]])
    assert fragmentation(flow, [0, 1, 2], [[0], [1, 2]]) == pytest.approx(2 / 3)  # 0, 1, and 1 again


def test_words_in_another_order_and_words_without_vectors_cost_more(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("rain 1 0\nsun 0 1\nsnow 1 1\n")
    segments = [Segment(str(i), hyp, ("rain sun snow",)) for i, hyp in enumerate(("rain sun snow", "snow sun rain"))]
    copy, other = Wmdo(vectors=str(file)).score(segments, CPU).values
    assert (copy, other) == pytest.approx((0.18 / 3, 0.18), abs=1e-6)
    missing = Wmdo(vectors=str(file), delta=0.0).score([Segment("a", "rain hail", ("rain",))], CPU)
    assert missing.values[0] == pytest.approx(0.1 / 2, abs=1e-6)


def test_wmdo_keeps_the_contract_of_a_metric(tiny_model):
    check_metric(Wmdo(model=str(tiny_model("bert"))), SEGMENTS[:10], runtime=CPU, tolerance=PARITY)
