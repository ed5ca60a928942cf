import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
from nlgauge.models import matching  # noqa: E402  needs torch
from nlgauge.models.encoder import Vectors  # noqa: E402


def vectors_of(texts):
    """Texts as lists of plain vectors, made one long."""
    matrix = torch.tensor([v for text in texts for v in text], dtype=torch.float32)
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    return Vectors(matrix / matrix.norm(dim=1, keepdim=True), np.cumsum(lengths) - lengths, lengths)


def greedy(texts, pairs, weights=None):
    vectors = vectors_of(texts)
    weights = (
        np.ones(len(vectors.matrix), dtype=np.float32)
        if weights is None
        else np.array([w for text in weights for w in text], dtype=np.float32)
    )
    return matching.greedy(vectors, weights, np.array([h for h, _ in pairs]), np.array([r for _, r in pairs]))


def slow(texts, pairs, weights):
    """The definition, one pair and one piece at a time, in float64."""
    unit = [[np.array(v) / np.linalg.norm(v) for v in text] for text in texts]
    out = []
    for h, r in pairs:
        best_h = [max(a @ b for b in unit[r]) for a in unit[h]]
        best_r = [max(a @ b for a in unit[h]) for b in unit[r]]
        out.append((np.average(best_h, weights=weights[h]), np.average(best_r, weights=weights[r])))
    return np.array(out).T


EAST, NORTH, WEST, NORTH_EAST = (1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (3.0, 4.0)


def test_by_hand():
    # hypothesis east, north; reference (3, 4) / 5: similarities 0.6 and 0.8
    precision, recall = greedy([[EAST, NORTH], [NORTH_EAST]], [(0, 1), (1, 0), (0, 0)])
    assert precision == pytest.approx([(0.6 + 0.8) / 2, 0.8, 1], abs=1e-6)  # float32
    assert recall == pytest.approx([0.8, 0.7, 1], abs=1e-6)


def test_weights_by_hand():
    # precision (3 * 0.6 + 1 * 0.8) / 4
    precision, recall = greedy([[EAST, NORTH], [NORTH_EAST]], [(0, 1)], [[3, 1], [7]])
    assert precision == pytest.approx([0.65], abs=1e-6)
    assert recall == pytest.approx([0.8], abs=1e-6)


def test_a_piece_without_weight_can_still_be_matched():
    # the reference's east weighs nothing in recall, but is the best match of the hypothesis
    precision, recall = greedy([[EAST], [EAST, NORTH]], [(0, 1)], [[1], [0, 1]])
    assert precision == pytest.approx([1], abs=1e-6)
    assert recall == pytest.approx([0], abs=1e-6)


def test_a_side_without_any_weight_is_undefined():
    precision, recall = greedy([[EAST], [NORTH_EAST]], [(0, 1), (1, 0)], [[0], [1]])
    assert np.isnan(precision).tolist() == [True, False]
    assert np.isnan(recall).tolist() == [False, True]


def test_a_negative_best_match_stays_negative_beside_padding():
    # bert_score fills padding with 0, which beats -1 as soon as a longer text shares the batch
    texts = [[EAST], [WEST], [NORTH, NORTH, NORTH], [WEST, WEST]]
    alone = greedy(texts, [(0, 1)])
    beside = greedy(texts, [(0, 1), (2, 3), (3, 2), (2, 2)])
    assert alone[0][0] == alone[1][0] == pytest.approx(-1, abs=1e-6)
    assert (beside[0][0], beside[1][0]) == (alone[0][0], alone[1][0])


def test_padding_weighs_nothing():
    # padding repeats a text's first row; were it weighted, the mean of the short text would lean to its first piece
    texts = [[EAST, NORTH], [NORTH_EAST], [EAST] * 9]
    precision, recall = greedy(texts, [(0, 1), (2, 2), (1, 0)])
    assert precision[0] == recall[2] == pytest.approx(0.7, abs=1e-6)


vector = st.tuples(*[st.integers(-4, 4).map(float)] * 3).filter(any)
text = st.lists(vector, min_size=1, max_size=5)


@st.composite
def problems(draw):
    texts = draw(st.lists(text, min_size=1, max_size=6))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, len(texts) - 1)] * 2), min_size=1, max_size=12))
    weights = [draw(st.lists(st.sampled_from([0.25, 1.0, 3.0]), min_size=len(t), max_size=len(t))) for t in texts]
    return texts, pairs, weights


@given(problem=problems())
def test_the_definition_is_followed(problem):
    # float32 similarities of unit vectors, a weighted mean of at most five
    np.testing.assert_allclose(greedy(*problem), slow(*problem), atol=1e-6)


@given(problem=problems())
def test_a_pairs_score_does_not_depend_on_its_company(problem):
    texts, pairs, weights = problem
    together = greedy(texts, pairs, weights)
    alone = [greedy(texts, [pair], weights) for pair in pairs]
    np.testing.assert_allclose(together, np.array(alone)[:, :, 0].T, atol=1e-6)


@given(problem=problems())
def test_exchanging_the_sides_exchanges_precision_and_recall(problem):
    texts, pairs, weights = problem
    precision, recall = greedy(texts, pairs, weights)
    np.testing.assert_allclose(greedy(texts, [(r, h) for h, r in pairs], weights), [recall, precision], atol=1e-6)


@given(problem=problems(), cells=st.sampled_from([1, 20, 100]))
def test_small_batches_give_what_one_large_gives(problem, cells):
    whole = greedy(*problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_CELLS", cells)
        np.testing.assert_allclose(greedy(*problem), whole, atol=1e-6)


@given(
    lengths=st.lists(st.tuples(*[st.integers(1, 40)] * 2), max_size=30),
    width=st.integers(1, 64),
    cells=st.integers(1, 20_000),
)
def test_batches_hold_every_pair_once_within_the_budget(lengths, width, cells):
    sides = np.array(lengths, dtype=np.int64).reshape(-1, 2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_CELLS", cells)
        batches = list(matching.pair_batches(sides[:, 0], sides[:, 1], width))
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = sides[batch].max()
        assert len(batch) == 1 or len(batch) * longest * max(width, longest) <= cells


def test_similarities_by_hand():
    found = matching.similarities(vectors_of([[EAST, NORTH], [NORTH_EAST, WEST]]), 0, 1)
    np.testing.assert_allclose(found, [[0.6, -1], [0.8, 0]], atol=1e-7)
    assert found.dtype == np.float64
