"""How texts match as numbers: by hand, and that no number moves in jumps or with the company of a pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
from nlgauge.models import matching  # noqa: E402  needs torch
from nlgauge.models.matched import MATCHED, match_features  # noqa: E402
from nlgauge.models.vectors import Vectors  # noqa: E402

EAST, NORTH, NORTH_EAST = (1.0, 0.0), (0.0, 1.0), (3.0, 4.0)


def features(texts, pairs, weights=None):
    matrix = torch.tensor([v for text in texts for v in text], dtype=torch.float32)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    vectors = Vectors(matrix / matrix.norm(dim=1, keepdim=True), np.cumsum(lengths) - lengths, lengths)
    flat = np.ones(len(matrix)) if weights is None else np.array([w for text in weights for w in text])
    hyps, refs = np.array(pairs, dtype=np.int64).T
    return match_features(vectors, flat.astype(np.float32), hyps, refs)


def named(row):
    return dict(zip(MATCHED, row.tolist(), strict=True))


def test_two_texts_by_hand():
    # hypothesis east, north; reference (3, 4) / 5: similarities 0.6 and 0.8
    found = named(features([[EAST, NORTH], [NORTH_EAST]], [(0, 1)])[0])
    assert found == pytest.approx(
        {
            **{"hyp mean": 0.7, "hyp min": 0.6, "hyp 10 %": 0.62, "hyp 25 %": 0.65, "hyp 50 %": 0.7},
            **{"hyp below .5": 0, "hyp below .7": 0.5},  # one of two
            **{"ref mean": 0.8, "ref min": 0.8, "ref 10 %": 0.8, "ref 25 %": 0.8, "ref 50 %": 0.8},
            **{"ref below .5": 0, "ref below .7": 0},
            "F": 2 * 0.7 * 0.8 / 1.5,
            "displacement": 0.25,  # places 1/4 and 3/4, and the only match stands in the middle
            **{"log ratio of lengths": np.log(2), "size of that": np.log(2), "log length of the reference": 0},
        },
        abs=1e-6,  # similarities in float32
    )


def test_a_copy_matches_in_its_place():
    found = named(features([[EAST, NORTH]], [(0, 0)])[0])
    assert [found[name] for name in ("hyp mean", "ref min", "F")] == pytest.approx([1, 1, 1], abs=1e-6)
    assert found["displacement"] == pytest.approx(0, abs=1e-6)
    turned = named(features([[EAST, NORTH], [NORTH, EAST]], [(0, 1)])[0])
    assert (turned["F"], turned["displacement"]) == pytest.approx((1, 0.5), abs=1e-6)


def test_a_token_that_does_not_count_is_matched_and_has_no_part():
    weighed = named(features([[EAST, NORTH], [NORTH_EAST, NORTH]], [(0, 1)], [[1, 0], [1, 0]])[0])
    assert (weighed["hyp mean"], weighed["ref mean"]) == pytest.approx((0.6, 0.8), abs=1e-6)
    assert (weighed["log ratio of lengths"], weighed["log length of the reference"]) == (0, 0)


VECTORS = st.tuples(*[st.floats(-1, 1).map(lambda x: round(x, 3))] * 3).filter(any)
TEXTS = st.lists(st.lists(VECTORS, min_size=1, max_size=7), min_size=2, max_size=6)


@given(texts=TEXTS)
def test_the_other_way_round_the_sides_change_places(texts):
    there, back = (named(row) for row in features(texts, [(0, 1), (1, 0)]))
    for name in MATCHED:
        if name.startswith("hyp "):
            assert there[name] == pytest.approx(back[name.replace("hyp", "ref")], abs=1e-6)
    assert there["F"] == pytest.approx(back["F"], abs=1e-4)  # a sum of means near 0 divides
    assert there["log ratio of lengths"] == pytest.approx(-back["log ratio of lengths"])


@given(texts=TEXTS, cells=st.sampled_from([1, 30, 1000]))
def test_company_changes_nothing(texts, cells):
    pairs = [(i, j) for i in range(len(texts)) for j in range(len(texts))]
    alone = np.concatenate([features(texts, [pair]) for pair in pairs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_CELLS", cells)
        np.testing.assert_allclose(features(texts, pairs), alone, atol=2e-5)  # float32, times the slope of a place


@given(texts=TEXTS, at=st.integers(0, 2), step=st.sampled_from([1e-4, -1e-4]))
def test_no_number_jumps(texts, at, step):
    moved = [[tuple(x + step * (i == at) for i, x in enumerate(v)) for v in text] for text in texts]
    if not all(any(v) for text in moved for v in text):
        return
    sizes = [np.linalg.norm(v) for text in (*texts, *moved) for v in text]
    if min(sizes) < 0.2:  # of a short vector the direction moves more
        return
    first, then = features(texts, [(0, 1)]), features(moved, [(0, 1)])
    ratio = MATCHED.index("F")  # whose denominator may be near 0
    keep = [i for i in range(len(MATCHED)) if i != ratio]
    np.testing.assert_allclose(then[:, keep], first[:, keep], atol=1e-4 / 0.2 * 2 * 60)
