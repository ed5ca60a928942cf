"""Linear models of ratings: ridge regression by its definition, a ranker, pairs, and what cannot be learnt from."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.linear import read_linear
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.linear import rank, rated_pairs, ridge, train_beer, train_blend

CPU = Runtime(device="cpu")
WORDS = "the cat sat on the mat while rain fell".split()


def rated(n=24, per_item=4):
    """Hypotheses that lack words of their reference, the worse the more."""
    rng = np.random.default_rng(0)
    for i in range(n):
        gone = i % per_item
        words = [word for j, word in enumerate(WORDS) if j not in rng.choice(len(WORDS), 2 * gone, replace=False)]
        yield Segment(f"{i}", " ".join(words), (" ".join(WORDS),), item=f"{i // per_item}"), -float(gone)


SEGMENTS, RATINGS = (list(column) for column in zip(*rated(), strict=True))


def test_ridge_regression_of_one_feature_by_hand():
    # x = (-1, 0, 1), y = (0, 1, 5): slope x.y / (x.x + n * strength) = 5 / (2 + 3 * 1)
    weights, strength, _ = ridge(np.array([[-1.0], [0.0], [1.0]]), np.array([0.0, 1.0, 5.0]), 1.0)
    assert (weights.tolist(), strength) == (pytest.approx([1.0]), 1.0)


def test_each_prediction_is_from_a_fit_to_all_others():
    rng = np.random.default_rng(1)
    features = rng.normal(size=(9, 2))
    features -= features.mean(axis=0)
    ratings, penalty = rng.normal(size=9), 9 * 0.1 * np.eye(2)
    _, _, predicted = ridge(features, ratings, 0.1)
    for i in range(9):
        others, mean = np.delete(features, i, axis=0), np.delete(ratings, i).mean()
        centre = others.mean(axis=0)
        slope = np.linalg.solve(
            (others - centre).T @ (others - centre) + penalty, (others - centre).T @ np.delete(ratings, i)
        )
        assert predicted[i] == pytest.approx(mean + slope @ (features[i] - centre))


def test_the_strength_is_what_predicts_left_out_ratings_best():
    rng = np.random.default_rng(2)
    features = rng.normal(size=(40, 3))
    features -= features.mean(axis=0)
    clear, noise = features @ [1.0, 2.0, 0.0], rng.normal(size=40)
    assert ridge(features, clear)[1] < ridge(features, noise)[1]


def test_pairs_are_of_one_key_and_differ():
    keys, ratings = ["a", "b", "a", "b", "a"], np.array([1.0, 5.0, 3.0, 5.0, 2.0])
    better, worse = rated_pairs(keys, ratings, 100, 0)
    assert sorted(zip(better.tolist(), worse.tolist(), strict=True)) == [(2, 0), (2, 4), (4, 0)]  # 5 equals 5
    ratings = np.arange(60.0)
    found = [np.stack(rated_pairs([None] * 60, ratings, 300, seed)) for seed in (0, 0, 1)]
    assert found[0].tolist() == found[1].tolist() != found[2].tolist()
    assert 200 < found[0].shape[1] <= 300
    assert (found[0][0] > found[0][1]).all()


def test_the_ranker_has_the_one_minimum_of_its_loss():
    rng = np.random.default_rng(3)
    differences = rng.normal(loc=(0.5, 0.0), size=(50, 2))

    def loss(weights):
        return np.log1p(np.exp(-(differences @ weights))).mean() + 0.05 * (weights @ weights)

    weights = rank(differences, 0.1)
    assert weights[0] > 0.3
    for step in ([1e-3, 0], [-1e-3, 0], [0, 1e-3], [0, -1e-3]):
        assert loss(weights + step) > loss(weights)


def test_a_blend_is_nearer_to_ratings_than_its_terms_and_the_same_each_time(tmp_path):
    metrics = ng.metric("chrf"), ng.metric("ter")
    fits = [
        train_blend(
            SEGMENTS, [*RATINGS[:-1], np.nan], dict(zip(("chrf", "ter"), metrics, strict=True)), str(path), CPU,
            about={"criterion": "da"},
        )
        for path in (tmp_path / "a.json", tmp_path / "b.json")
    ]  # fmt: skip
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert (fits[0].n, fits[0].n_left_out) == (23, 0)
    assert fits[0].agreement > 0.8
    stored = read_linear(str(tmp_path / "a.json"), "blend")
    assert stored.terms == fits[0].model.terms
    assert stored.about["low"] == -3
    values = ng.metric(f'blend:model="{tmp_path / "a.json"}"').score(SEGMENTS, CPU).values
    chrf = metrics[0].score(SEGMENTS, CPU).values
    assert np.corrcoef(values, RATINGS)[0, 1] >= np.corrcoef(chrf, RATINGS)[0, 1]
    assert np.abs(values - RATINGS).mean() < 0.6  # on the scale of the ratings


def test_segments_without_a_score_are_left_out_and_counted(tmp_path):
    table = tmp_path / "theirs.tsv"
    rows = [f"{s.id}\t{rating if i else ''}" for i, (s, rating) in enumerate(zip(SEGMENTS, RATINGS, strict=True))]
    table.write_text("\n".join(["id\tx", *rows]) + "\n")
    spec = f'scores:file="{table}",column=x'
    fitted = train_blend(SEGMENTS, RATINGS, {spec: ng.metric(spec)}, str(tmp_path / "x.json"), CPU)
    assert (fitted.n, fitted.n_left_out) == (23, 1)


def test_a_ranker_learns_what_is_better_and_is_the_same_each_time(tmp_path, monkeypatch):
    fits = [train_beer(SEGMENTS, RATINGS, str(path), CPU) for path in (tmp_path / "a.json", tmp_path / "b.json")]
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert fits[0].n == 6 * 6  # four hypotheses for each of six inputs
    assert fits[0].agreement == 1.0
    values = ng.metric(f'beer:model="{tmp_path / "a.json"}"').score(SEGMENTS, CPU).values
    assert np.corrcoef(values, RATINGS)[0, 1] > 0.9
    monkeypatch.setattr("nlgauge.training.linear._MOST_PAIRS", 50)
    wide = train_beer(SEGMENTS, RATINGS, str(tmp_path / "c.json"), CPU, within="group")
    assert 30 <= wide.n <= 50


@pytest.mark.parametrize(
    ("segments", "ratings", "message"),
    [
        (SEGMENTS[:2], RATINGS[:2], "2 segments with 2 different ratings are too few for 1 metrics"),
        (SEGMENTS[:8], [1.0] * 8, "8 segments with 1 different ratings are too few"),
        (
            [SEGMENTS[0]] * 8,
            RATINGS[:8],
            "chrf is the same for all 8 rated segments and predicts nothing; leave it out",
        ),
    ],
)
def test_a_blend_that_cannot_be_fitted_is_told(segments, ratings, message, tmp_path):
    with pytest.raises(InputError, match=message):
        train_blend(segments, ratings, {"chrf": ng.metric("chrf")}, str(tmp_path / "x.json"), CPU)
    assert not list(tmp_path.iterdir())


def test_without_pairs_there_is_nothing_to_rank(tmp_path):
    alone = [Segment(f"{i}", "a cat", ("the cat",)) for i in range(3)]
    with pytest.raises(
        InputError, match=r"no two hypotheses of one item have different ratings, .*; give --within group"
    ):
        train_beer(alone, [1.0, 2.0, 3.0], str(tmp_path / "x.json"), CPU)
    with pytest.raises(
        InputError, match="no two hypotheses of one group have different ratings, expected pairs to learn"
    ):
        train_beer(alone, [1.0] * 3, str(tmp_path / "x.json"), CPU, within="group")
    assert not list(tmp_path.iterdir())


def test_a_metric_that_is_constant_is_refused_though_its_mean_is_rounded(tmp_path):
    # 24 times 0.1: the mean is not 0.1, so that the standard deviation is above 0
    table = tmp_path / "x.tsv"
    table.write_text("id\tm\n" + "".join(f"{s.id}\t0.1\n" for s in SEGMENTS), encoding="utf-8")
    spec = f'scores:file="{table}",column=m'
    metrics = {name: ng.metric(name) for name in ("chrf", spec)}
    with pytest.raises(InputError, match="is the same for all 24 rated segments"):
        train_blend(SEGMENTS, RATINGS, metrics, str(tmp_path / "m.json"), CPU)
