"""MoverScore: both published variants by their definitions in plain numpy, and the contract."""

import math
import string

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.points import are_stopped, stopwords
from nlgauge.metrics.embedding.transport import BaryScore, MoverScore, Sms, Wmd, Wmdo, barycenter, fragmentation
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.metric import SEGMENTS

pytest.importorskip("torch")


CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
NEAR = 1e-5  # the root of a squared distance doubles the share of rounding where two points nearly meet

SETTINGS = [  # of the ten of the published code: each switch alone, and all of them
    {},
    {"ngram": 2},
    {"idf": True},
    {"drop_subwords": False},
    {"variant": "last"},
    {"ngram": 2, "idf": True, "drop_subwords": False},
]


def idf(documents, plain):
    """Piece -> log((N + 1) / (df + 1)) over documents, as the published code counts."""
    counts = {}
    for text in documents:
        for piece in set(plain(text)[0]):
            counts[piece] = counts.get(piece, 0) + 1
    return lambda piece: math.log((len(documents) + 1) / (counts.get(piece, 0) + 1))


def unit(vectors):
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def slow(hyp, ref, weigh, plain, cheapest, variant="pmeans", ngram=1, drop_subwords=True, **_):
    """The definition, one pair at a time: nothing of nlgauge."""
    sides = []
    for text, weight in zip((hyp, ref), weigh, strict=True):
        names, layers = plain(text)
        kept = [
            i for i, n in enumerate(names) if n not in set(string.punctuation) and not (drop_subwords and "##" in n)
        ]
        if variant == "pmeans":
            last = unit(layers[1:][-5:])
            points = np.concatenate([last.min(0), last.mean(0), last.max(0)], axis=-1)
        else:
            points = unit(layers[-1])
        size = min(ngram, len(kept))
        windows = [kept[i : i + size] for i in range(len(kept) - size + 1)]
        sums = [sum(weight(names[i]) for i in window) for window in windows]
        means = [sum(weight(names[i]) * points[i] for i in w) / (s + 1e-5) for w, s in zip(windows, sums, strict=True)]
        sides.append((np.array([m / (np.linalg.norm(m) or 1) for m in means]), np.array(sums)))
    (a, first), (b, second) = sides
    if not first.any() or not second.any():
        return np.nan
    squares = ((a[:, None] - b[None]) ** 2).sum(-1)
    moved = cheapest(squares if variant == "pmeans" else np.sqrt(squares), first, second)
    return 1 - moved if variant == "pmeans" else 1 / (1 + moved)


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_the_settings_are_what_their_definition_gives(pairs, plain, cheapest, options):
    found = MoverScore(model=plain.folder, **options).score(pairs, CPU)
    weigh = [lambda piece: 1.0] * 2
    if options.get("idf"):
        weigh = [idf([s.hypothesis for s in pairs], plain), idf([s.references[0] for s in pairs], plain)]
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    expected = [slow(pairs[i].hypothesis, pairs[i].references[0], weigh, plain, cheapest, **options) for i in asked]
    assert found.values[asked] == pytest.approx(np.array(expected), abs=PARITY, nan_ok=True)


@pytest.mark.parametrize("options", [{"variant": "last", "ngram": 2, "references": "best"}, {"idf": True}], ids=str)
def test_moverscore_keeps_the_contract_of_a_metric(tiny_model, options):
    check_metric(MoverScore(model=str(tiny_model("bert")), **options), runtime=CPU, tolerance=NEAR)


def test_every_option_is_signed(tiny_model, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("the a\n")
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9}
    of_moverscore, of_wmd = others | {"stopwords": str(words)}, others | {"layer": 1}
    mover, wmd = (kind(model=str(tiny_model("bert"))) for kind in (MoverScore, Wmd))
    assert check_options(mover, runtime=CPU, alternatives=of_moverscore) == ["revision"]
    assert check_options(wmd, runtime=CPU, alternatives=of_wmd) == ["revision", "vectors"]


def test_an_empty_text_is_the_worst_and_never_perfect():
    pairs = [Segment("a", "", ("Rain.",)), Segment("b", "", ("",)), Segment("c", "Rain.", ("",))]
    for variant, worst in (("pmeans", -3), ("last", 0)):
        for weighted in (False, True):
            metric = MoverScore(variant=variant, idf=weighted)
            scores = metric.score([*pairs, Segment("d", "Sun.", ("Sun.",))], CPU)
            assert scores.values[:3].tolist() == [worst] * 3
            assert scores.flags["empty"].tolist() == [True, True, True, False]


def test_a_text_that_weighs_nothing_has_no_score():
    """Where every text has the same pieces, their idf is 0; the published code scores 1."""
    same = [Segment(str(i), "rain rain", ("rain",)) for i in range(3)]
    scores = MoverScore(idf=True).score(same, CPU)
    assert np.isnan(scores.values).all()
    assert scores.flags["unweighted"].all()


def test_stop_words_are_left_out(tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("rain")
    mixed = [Segment("a", "rain sun", ("sun",))]
    plain_score = MoverScore().score(mixed, CPU).values[0]
    assert MoverScore(stopwords=str(words)).score(mixed, CPU).values[0] > plain_score
    english = MoverScore(stopwords="english").score([Segment("a", "the sun", ("sun",))], CPU)
    assert "stopwords:english" in str(english.signature)
    with pytest.raises(InputError, match="cannot read the stop words nowhere"):
        MoverScore(stopwords="nowhere.txt").score(mixed, CPU)


def test_what_cannot_be_is_refused():
    with pytest.raises(SpecError, match=r"moverscore:ngram is '3'; known: 1, 2"):
        ng.metric("moverscore:ngram=3")
    with pytest.raises(InputError, match="idf needs at least two documents"):
        MoverScore(idf=True).score([Segment("a", "x", ("y",))], CPU)


def test_pieces_that_do_not_say_what_they_continue_are_all_kept(tiny_model):
    # 今 and 天 stand behind no blank, as the t of "catt" does: if they were taken for parts of a word, little was left.
    pairs = [Segment("zh", "今天雨", ("雨今天",)), Segment("en", "the catt sat", ("a cat sat",))]
    unigrams, pieces = (
        [MoverScore(model=str(tiny_model(kind)), drop_subwords=drop).score(pairs, CPU).values for drop in (True, False)]
        for kind in ("xlm-roberta", "bert")
    )
    assert unigrams[0].tolist() == unigrams[1].tolist()
    assert pieces[0][1] != pieces[1][1]  # WordPiece says it: cat, ##t


@pytest.mark.parametrize("kind", ["bert", "roberta", "xlm-roberta", "bart"])
def test_a_stop_word_is_a_piece_of_its_own_in_every_vocabulary(tiny_model, tmp_path, kind):
    # Ġthe and ▁the are the word; in "bathe" the piece "the" or "he" continues one. BART marks no first word.
    words = tmp_path / "words.txt"
    words.write_text("the he a cat")
    tokenizer = TextTokenizer(locate(str(tiny_model(kind))))
    (tokens,) = tokenizer.tokens(["cat the cat bathe lathe"])
    content = slice(len(tokenizer.prefix), len(tokenizer.prefix) + tokens.n_content)
    out = are_stopped(tokens.ids, content, stopwords(str(words)), tokenizer)
    assert out[:4].tolist() == [False, True, True, True]
    assert not out[4:].any()


# --- Word mover's distance: by its definition in plain numpy, and the contract


@pytest.mark.parametrize(("cost", "layer"), [("euclidean", None), ("cosine", 1)])
def test_the_distance_is_what_its_definition_gives(pairs, plain, cheapest, cost, layer):
    found = Wmd(model=plain.folder, cost=cost, layer=layer).score(pairs, CPU)
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    for i in asked:
        a, b = (plain(t)[1][-1 if layer is None else layer][1:-1] for t in (pairs[i].hypothesis, *pairs[i].references))
        a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
        costs = 1 - a @ b.T if cost == "cosine" else np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
        assert found.values[i] == pytest.approx(cheapest(costs, np.ones(len(a)), np.ones(len(b))), abs=PARITY)


def test_wmd_keeps_the_contract_of_a_metric(tiny_model):
    metric = Wmd(model=str(tiny_model("bert")), cost="cosine", layer=1, references="mean")
    check_metric(metric, runtime=CPU, tolerance=NEAR)


def test_lower_is_better_and_an_empty_text_is_as_far_as_can_be():
    scores = Wmd().score([Segment("a", "", ("Rain.",)), Segment("b", "Rain.", ("Sun.", "Rain."))], CPU)
    assert scores.values == pytest.approx([2, 0], abs=1e-6)
    assert not scores.higher_is_better


# --- WMDo: its penalties by hand, its distance by linear programming, and the contract


def test_wmdo_the_distance_is_what_its_definition_gives(pairs, plain, cheapest):
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


# --- Sentence mover's similarity: by its definition in plain numpy, and the contract

TEXTS = [
    ["The cat sat on the mat.", "A dog lay on the rug.", "Rain!"],
    ["A dog lay on the rug."],
    ["Rain fell in the night.", "The cat sat on the mat?"],
]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (2, 0), (1, 1)])
def test_the_similarity_is_what_its_definition_gives(plain, cheapest, words, first, second):
    sides = []
    for sentences in (TEXTS[first], TEXTS[second]):
        vectors = plain(" ".join(sentences))[1][-1][1:-1]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        sizes = [len(plain(sentence)[0]) - 2 for sentence in sentences]
        ends = np.cumsum(sizes)
        means = np.array([vectors[end - size : end].mean(0) for end, size in zip(ends, sizes, strict=True)])
        points = np.concatenate([vectors, means]) if words else means
        sides.append((points, np.array([1.0] * len(vectors) * words + sizes)))
    (a, weigh_a), (b, weigh_b) = sides
    costs = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    segment = Segment("s", " ".join(TEXTS[first]), (" ".join(TEXTS[second]),))
    found = Sms(model=plain.folder, words=words).score([segment], CPU).values[0]
    assert found == pytest.approx(np.exp(-cheapest(costs, weigh_a, weigh_b)), abs=PARITY)


def test_word_vectors_of_sentences_by_hand(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("rain 1 0\nsun 0 1\n")
    # sentences at (1, 0) with weight 1 and at (0, 1) with weight 1, to (1, 0): half goes sqrt(2); hail is left out
    segment = Segment("s", "Rain. Sun hail! Hail?", ("Rain.",))
    found = Sms(vectors=str(file)).score([segment], CPU)
    assert found.values[0] == pytest.approx(np.exp(-np.sqrt(2) / 2), abs=1e-6)
    # with words: (1, 0) weighs 2 of 4, (0, 1) the rest
    assert Sms(vectors=str(file), words=True).score([segment], CPU).values == pytest.approx(found.values)


def test_sms_keeps_the_contract_of_a_metric(tiny_model):
    check_metric(Sms(model=str(tiny_model("bert")), words=True), SEGMENTS[:10], runtime=CPU, tolerance=PARITY)


# --- BaryScore: barycenters by hand, its distance by linear programming, and the contract


def test_the_barycenter_of_shifted_sets_lies_between_them():
    layer = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 9.0]])
    way = np.array([1.0, 0.0])
    assert barycenter([layer, layer + 2 * way], np.ones(3)) == pytest.approx(layer + way)
    assert barycenter([layer], np.ones(3)) == pytest.approx(layer)


def test_points_move_to_where_the_weight_is():
    # weights 3 to 1 at 0 and 8, two points of weight one half: one at 0, one at (1/4 * 0 + 1/4 * 8) / (1/2) = 4
    layer = np.array([[0.0], [8.0]])
    assert sorted(barycenter([layer, layer], np.array([3.0, 1.0])).ravel()) == pytest.approx([0, 4])


def test_the_mean_transport_cost_of_a_barycenter_is_low(cheapest):
    """No worse than that of the pieces' means, which is where it starts."""
    rng = np.random.default_rng(5)
    layers, weights = [rng.normal(size=(6, 3)) for _ in range(3)], rng.random(6)

    def cost(points):
        squares = [((points[:, None] - layer[None]) ** 2).sum(-1) for layer in layers]
        return sum(cheapest(table, np.ones(6), weights) for table in squares)

    assert cost(barycenter(layers, weights)) < cost(np.mean(layers, axis=0))


def test_with_equal_weights_pieces_keep_their_places_and_the_distance_is_exact(plain, cheapest):
    texts = ["the cat sat on the mat", "a dog lay on the rug"]
    sides = []
    for text in texts:
        layers = plain(text)[1][1:]
        layers = layers / np.linalg.norm(layers, axis=-1, keepdims=True)
        sides.append(barycenter(list(layers), np.ones(layers.shape[1])))
    squares = ((sides[0][:, None] - sides[1][None]) ** 2).sum(-1)
    found = BaryScore(model=plain.folder).score([Segment("s", texts[0], (texts[1],))], CPU)
    expected = cheapest(squares, np.ones(len(squares)), np.ones(squares.shape[1]))
    assert found.values[0] == pytest.approx(expected, abs=PARITY)
    assert not found.higher_is_better


def test_baryscore_keeps_the_contract_of_a_metric(tiny_model):
    # Under idf the first plan of a text with equal pieces is one of several; rounding chooses.
    metric = BaryScore(model=str(tiny_model("bert")), idf=True)
    check_metric(metric, SEGMENTS[:10], runtime=CPU, tolerance=PARITY)
