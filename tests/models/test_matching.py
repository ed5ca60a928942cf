"""Mean vectors: one text at a time by hand, many at once the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.models import matching
from nlgauge.models import matching as matched
from nlgauge.models.encoder import MATCHED, SharedVectors, Vectors, load_encoder
from nlgauge.models.matching import cosines, encoder_means, match_features, mean_vectors, read_pairs
from nlgauge.runtime.runtime import Runtime, wide_dtype

torch = pytest.importorskip("torch")


TEXTS = [
    "the cat sat on the mat", "rain", "a dog", "snow fell today", "a cat", "the cat sat on the mat and lay on the rug",
]  # fmt: skip
ROUNDING = 1e-5  # float32 through three layers; batches of other shapes add in another order


def encoder(folder, **options):
    return load_encoder(str(folder), None, "float32", Runtime(device="cpu", **options))


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_a_mean_is_that_of_all_tokens_at_each_layer(tiny_model, kind):
    one = encoder(tiny_model(kind))
    sequences = [tokens.ids for tokens in one.tokenizer.tokens(TEXTS)]
    found = mean_vectors(one.network, sequences, (2, 0, 3), budget=16)
    assert found.shape == (len(TEXTS), 3, 32)
    for column, layer in enumerate((2, 0, 3)):
        for row, ids in enumerate(sequences):
            with one.network.cut(layer) as forward, torch.inference_mode():
                expected = forward([ids]).mean(dim=0)
            assert torch.allclose(found[row, column], expected, atol=ROUNDING)


def test_outer_tokens_stay_out_of_the_mean_where_asked(tiny_model):
    one = encoder(tiny_model("bert"))
    ids = one.tokenizer.tokens(["the cat sat"])[0].ids  # [CLS] the cat sat [SEP]
    with one.network.cut(3) as forward, torch.inference_mode():
        states = forward([ids])
    assert torch.allclose(
        mean_vectors(one.network, [ids], [3], outer=(1, 1))[0, 0], states[1:4].mean(dim=0), atol=ROUNDING
    )


def test_progress_counts_texts(tiny_model):
    one, done = encoder(tiny_model("bert")), []
    mean_vectors(one.network, [np.array([2, 5, 3])] * 5, [3], budget=6, advance=done.append)
    assert sum(done) == 5


def test_cosines_by_hand():
    vectors = torch.tensor([[3.0, 4.0], [4.0, 3.0], [-3.0, -4.0], [0.0, 0.0]])
    found = cosines(vectors, np.array([[0, 0], [0, 1], [0, 2], [0, 3]]))
    assert found == pytest.approx([1, 24 / 25, -1, 0], abs=1e-12)  # float64


def test_cosines_of_vectors_less_the_mean_of_their_side_by_hand():
    # Group 0: first texts (1, 0) and (3, 0), second ones (0, 1) twice and (0, 3), of which the mean is (0, 2): left are
    # (-1, 0), (1, 0) and (0, -1), (0, 1), so that all are at right angles. Group 1: (3, 0), (5, 2) and (0, 1), (2, 3)
    # leave (-1, -1), (1, 1) on both sides.
    vectors = torch.tensor([[1.0, 0.0], [3.0, 0.0], [0.0, 1.0], [0.0, 3.0], [5.0, 2.0], [2.0, 3.0]])
    pairs = np.array([[0, 2], [1, 3], [0, 2], [1, 2], [4, 5], [1, 5]])
    found = cosines(vectors, pairs, np.array([0, 0, 0, 1, 1, 1]))
    assert found == pytest.approx([0, 0, 0, 1, 1, -1], abs=1e-12)


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


# --- How texts match as numbers: by hand, and that no number moves in jumps or with the company of a pair


def features(texts, pairs, weights=None):
    vectors = vectors_of(texts)
    flat = np.ones(len(vectors.matrix)) if weights is None else np.array([w for text in weights for w in text])
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
MATCHED_TEXTS = st.lists(st.lists(VECTORS, min_size=1, max_size=7), min_size=2, max_size=4)


@given(texts=MATCHED_TEXTS, cells=st.sampled_from([1, 30, 1000]))
def test_company_changes_nothing(texts, cells):
    pairs = [(i, j) for i in range(len(texts)) for j in range(len(texts))]
    alone = np.concatenate([features(texts, [pair]) for pair in pairs])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "_CELLS", cells)
        np.testing.assert_allclose(features(texts, pairs), alone, atol=2e-5)  # float32, times the slope of a place


@given(texts=MATCHED_TEXTS, at=st.integers(0, 2), step=st.sampled_from([1e-4, -1e-4]))
def test_no_number_jumps(texts, at, step):
    moved = [[tuple(x + step * (i == at) for i, x in enumerate(v)) for v in text] for text in texts]
    if not all(any(v) for text in moved for v in text):
        return
    sizes = [np.linalg.norm(v) for text in (*texts, *moved) for v in text]
    if min(sizes) < 0.2:  # of a short vector the direction moves more
        return
    first, then = features(texts, [(0, 1)]), features(moved, [(0, 1)])
    # Two vectors turn by 1e-4 / 0.2 each at most; similarities move by no more, features by 25 times that; 1e-4 is for
    # rounding in float32.
    np.testing.assert_allclose(then, first, atol=25 * 2 * 1e-4 / 0.2 + 1e-4)


def test_f_of_means_with_opposite_signs_is_0_and_of_two_negative_ones_is_theirs():
    south, west = (0.0, -1.0), (-1.0, 0.0)
    # best are -.89 and .45 of one text, .45 and -.32 of the other: P = -.22 and R = .07; the formula would say .18
    found = named(features([[EAST, south], [(-1.0, -0.5), (-3.0, 1.0)]], [(0, 1)])[0])
    assert found["hyp mean"] * found["ref mean"] < 0
    assert found["F"] == 0
    near = named(features([[EAST], [(-3.0, 4.0)]], [(0, 1)])[0])  # P = R = -0.6
    assert (near["hyp mean"], near["F"]) == pytest.approx((-0.6, -0.6), abs=1e-6)
    assert named(features([[EAST], [west]], [(0, 1)])[0])["F"] == pytest.approx(-1, abs=1e-6)


def test_sums_are_wide_where_the_device_can():
    assert (wide_dtype(torch.device("cpu")), wide_dtype(torch.device("cuda"))) == (torch.float64, torch.float64)
    assert wide_dtype(torch.device("mps")) == torch.float32


SENTENCES = [
    "the cat sat on the mat", "rain", "a dog lay on the rug", "snow fell today", "", "a cat sat on a mat", "no",
]  # fmt: skip
PAIRS = np.array([(0, 5), (1, 5), (2, 5), (3, 1), (1, 3), (0, 5), (5, 0), (4, 0), (2, 0), (3, 2)]).T  # never 6


@pytest.fixture
def tiny(tiny_model):
    encoder = load_encoder(str(tiny_model("bert")), None, "float32", Runtime(device="cpu"))
    tokens = encoder.tokenizer.tokens(SENTENCES)
    return encoder, [t.ids for t in tokens], np.array([not t.n_content for t in tokens])


def read(tiny, layers=(1, 3), pairs=PAIRS, told=lambda count: None):
    encoder, sequences, bare = tiny
    means, found = read_pairs(encoder, sequences, layers, 2, (pairs[0], pairs[1]), bare, told)
    return means.numpy(), found.numpy()


@pytest.mark.parametrize("layers", [(1, 3), (2,), ()])
@pytest.mark.parametrize("pieces", [1, 20, 30])
def test_windows_change_nothing(tiny, monkeypatch, layers, pieces):
    whole, done, sizes = read(tiny, layers), [], []
    encode = tiny[0].encode_sequences

    def watched(sequences, *rest):
        sizes.append((len(sequences), sum(map(len, sequences))))
        return encode(sequences, *rest)

    tiny[0].encode_sequences = watched
    monkeypatch.setattr(matched, "_HELD_BYTES", 4 * 32 * len({*layers, 2}) * pieces)
    parts = read(tiny, layers, told=done.append)
    assert len(sizes) > 1
    assert all(n <= 2 or size <= pieces for n, size in sizes)
    for one, other in zip(parts, whole, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)  # float32, times the slope of a place
    assert sum(done) == pytest.approx(len(SENTENCES))


def test_pairs_come_back_in_the_order_of_the_caller(tiny):
    whole = read(tiny)[1]
    for i in range(PAIRS.shape[1]):
        np.testing.assert_allclose(read(tiny, pairs=PAIRS[:, [i]])[1], whole[[i]], atol=1e-5)  # as above
    assert not whole[7].any()  # an empty hypothesis
    assert whole[:7].any(axis=1).all()


def test_texts_without_a_pair_have_means(tiny):
    encoder, sequences, _ = tiny
    expected = encoder_means(encoder, sequences, (1, 3)).numpy()
    for pairs in (PAIRS, PAIRS[:, 7:8], PAIRS[:, :0]):  # with and without a pair that can be matched
        done = []
        np.testing.assert_allclose(read(tiny, pairs=pairs, told=done.append)[0], expected, atol=1e-5)
        assert sum(done) == pytest.approx(len(SENTENCES))


def test_what_metrics_share_is_read_at_once(tiny, monkeypatch):
    whole = read(tiny)
    monkeypatch.setattr(matched, "_HELD_BYTES", 1)
    tiny[0].shared = SharedVectors((1, 2, 3))
    for _ in range(2):  # the second time nothing is left to encode
        done = []
        for one, other in zip(read(tiny, told=done.append), whole, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        assert sum(done) == pytest.approx(len(SENTENCES))
    assert len(tiny[0].shared._chunks) == 2  # the texts without a pair, and the others
