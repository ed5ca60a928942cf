import random
from functools import cache

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats import draws as resample
from nlgauge.stats.significance import paired_bootstrap, paired_families, paired_randomisation

sacrebleu = pytest.importorskip("sacrebleu")
significance = pytest.importorskip("sacrebleu.significance")


# sacrebleu sums in float32 and, under NumPy 2, divides in it too; these keep the precision they are given, as it does
numpy2 = pytest.mark.skipif(
    int(np.__version__.split(".")[0]) < 2, reason="NumPy 1 widens what sacrebleu computes in float32"
)


def bleu(totals):
    correct, total = totals[..., 2:6], totals[..., 6:10]
    smooth = 2.0 ** np.cumsum(correct == 0, axis=-1)
    precisions = np.where(correct > 0, 100 * correct / total, (100 / (smooth * total)).astype(totals.dtype))
    length, reference = totals[..., 0].astype(float), totals[..., 1].astype(float)
    brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
    logs = np.log(precisions.astype(float))
    return brevity * np.exp((logs[..., 0] + logs[..., 1] + logs[..., 2] + logs[..., 3]) / 4)


def chrf(totals):
    precision = recall = totals[..., 0] * 0
    for i in range(6):
        n_hypothesis, n_reference, n_match = (totals[..., 3 * i + j] for j in range(3))
        precision = precision + n_match / n_hypothesis
        recall = recall + n_match / n_reference
    precision, recall = precision / 6, recall / 6
    return 100 * ((1 + 4) * precision * recall / (4 * precision + recall))


def ter(totals):
    return 100 * (totals[..., 0] / totals[..., 1])


METRICS = {"BLEU": (sacrebleu.BLEU, bleu), "chrF2": (sacrebleu.CHRF, chrf), "TER": (sacrebleu.TER, ter)}
WORDS = "the a cat dog bird sat ran flew on over under mat roof hill red blue old quick slow".split()


def garble(rng, words, share):
    """A copy in which words are replaced, dropped or moved."""
    out = []
    for word in words:
        dice = rng.random()
        if dice < share / 3:
            continue
        if dice < share * 2 / 3:
            word = rng.choice(WORDS)
        out.insert(rng.randrange(len(out) + 1) if dice > 1 - share / 3 else len(out), word)
    return " ".join(out or words[:1])


@cache
def corpus(n_references):
    rng = random.Random(11)
    texts = [[rng.choice(WORDS) for _ in range(rng.randrange(5, 16))] for _ in range(90)]
    references = [[" ".join(t) for t in texts]] + [
        [garble(rng, t, 0.2) for t in texts] for _ in range(n_references - 1)
    ]
    systems = [(f"system{i}", [garble(rng, t, share) for t in texts]) for i, share in enumerate((0.3, 0.3, 0.33, 0.4))]
    return [*systems, ("copy", systems[0][1])], references


def statistics(name, systems, references):
    metric = METRICS[name][0]()
    return np.array([metric._extract_corpus_statistics(texts, references) for _, texts in systems], dtype=float)


def theirs(monkeypatch, name, systems, references, seed, **options):
    monkeypatch.setenv("SACREBLEU_SEED", str(seed))
    _, scores = significance.PairedTest(systems, {name: METRICS[name][0]()}, references, **options)()
    return scores[name]


def check(found, results, intervals):
    # corpus numbers: libm and NumPy may round a logarithm's last digit differently
    np.testing.assert_allclose(found.values, [r.score for r in results], rtol=1e-13)
    assert found.p.tolist() == [r.p_value for r in results[1:]]
    if intervals:
        means, half_widths = (found.high + found.low) / 2, (found.high - found.low) / 2
        # 1e-12: the interval is kept as its ends, which costs a digit or two of 16
        np.testing.assert_allclose(means, [r.mean for r in results], rtol=1e-12)
        np.testing.assert_allclose(half_widths, [r.ci for r in results], rtol=1e-11)


@numpy2
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", [12345, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 77))])
def test_bootstrap_is_sacrebleus(monkeypatch, name, seed):
    systems, references = corpus(1)
    found = paired_bootstrap(
        statistics(name, systems, references), METRICS[name][1], draws=200, seed=seed, compat="sacrebleu"
    )
    check(found, theirs(monkeypatch, name, systems, references, seed, test_type="bs", n_samples=200), intervals=True)


@numpy2
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", [12345, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 77))])
def test_randomisation_is_sacrebleus(monkeypatch, name, seed):
    systems, references = corpus(1)
    stats = statistics(name, systems, references)
    found = paired_randomisation(stats, METRICS[name][1], draws=300, interval_draws=60, seed=seed, compat="sacrebleu")
    check(
        found,
        theirs(monkeypatch, name, systems, references, seed, test_type="ar", n_samples=300, n_ar_confidence=60),
        intervals=True,
    )
    bare = paired_randomisation(stats, METRICS[name][1], draws=300, interval_draws=0, seed=seed, compat="sacrebleu")
    assert bare.p.tolist() == found.p.tolist()
    assert np.isnan(bare.low).all()


@numpy2
@pytest.mark.parametrize("cells", [1000, pytest.param(1 << 22, marks=pytest.mark.slow)])
@pytest.mark.parametrize("test", [pytest.param("bs", marks=pytest.mark.slow), "ar"])
def test_references_of_unequal_length_make_fractions(monkeypatch, test, cells):
    # TER divides by the mean length of three references: thirds, whose float sums depend on the order of additions
    monkeypatch.setattr(resample, "_CELLS", cells)
    systems, references = corpus(3)
    ours = paired_bootstrap if test == "bs" else paired_randomisation
    found = ours(statistics("TER", systems, references), ter, draws=60, seed=5, compat="sacrebleu")
    check(
        found, theirs(monkeypatch, "TER", systems, references, 5, test_type=test, n_samples=60), intervals=test == "bs"
    )


@pytest.mark.parametrize("cells", [32 * 90, 50 * 90])
def test_blocks_keep_its_stream(monkeypatch, cells):
    systems, references = corpus(1)
    stats = statistics("TER", systems, references)
    found = [paired_randomisation(stats, ter, draws=150, seed=5, compat="sacrebleu").p.tolist()]
    monkeypatch.setattr(resample, "_CELLS", cells)
    found.append(paired_randomisation(stats, ter, draws=150, seed=5, compat="sacrebleu").p.tolist())
    assert found[0] == found[1]


def test_its_faults_are_there_and_not_in_the_default():
    systems, references = corpus(1)
    stats = statistics("BLEU", systems, references)[[0, 4]]  # a system and its copy
    for test in (paired_bootstrap, paired_randomisation):
        assert test(stats, bleu, draws=99, compat="sacrebleu").p[0] == 0.01  # (0 + 1) / (99 + 1)
        assert test(stats, bleu, draws=99).p[0] == 1.0


BOTH = pytest.mark.parametrize("test", [paired_bootstrap, paired_randomisation])


def mean(totals):
    with np.errstate(invalid="ignore", divide="ignore"):
        return totals[..., 0] / totals[..., 1]


def overlap(totals):
    """BLEU's shape: the geometric mean of two ratios of sums (matched and produced) times a penalty for brevity."""
    precision = np.sqrt(totals[..., 0] * totals[..., 1] / (totals[..., 2] * totals[..., 3]))
    return 100 * np.minimum(1.0, np.exp(1 - totals[..., 4] / totals[..., 2])) * precision


def mean_stats(values):
    values = np.asarray(values, dtype=float)
    defined = ~np.isnan(values)
    return np.stack([np.where(defined, values, 0.0), defined], axis=-1)


def null_means(rng, n):
    """Two systems of equal quality over n items: item difficulty shared, so that their values correlate at 0.5."""
    return mean_stats(rng.normal(size=n) + rng.normal(size=(2, n)))


def null_overlaps(rng, n):
    """Two systems of equal quality.

    Lengths of 5 to 40 words, matches binomial with a chance that the item sets for both.
    """
    reference = rng.integers(5, 41, size=n)
    length = np.maximum(2, reference + rng.integers(-3, 4, size=(2, n)))
    chance = rng.beta(4, 3, size=n)
    return np.stack(
        [
            rng.binomial(length, chance),
            rng.binomial(length - 1, chance**2),
            length,
            length - 1,
            np.broadcast_to(reference, (2, n)),
        ],
        axis=-1,
    ).astype(float)


@pytest.mark.parametrize(
    ("test", "make", "finish"),
    [
        (paired_bootstrap, null_overlaps, overlap),
        (paired_randomisation, null_means, mean),
        pytest.param(paired_bootstrap, null_means, mean, marks=pytest.mark.slow),
        pytest.param(paired_randomisation, null_overlaps, overlap, marks=pytest.mark.slow),
    ],
)
def test_a_true_null_is_rejected_about_one_time_in_twenty(test, make, finish):
    # 400 null data sets at 5 %: the count has sd 0.011, so [0.02, 0.09] is about three of them either way
    rng = np.random.default_rng(20)
    rejected = np.mean([test(make(rng, 150), finish, draws=199, seed=rng).p[0] <= 0.05 for _ in range(400)])
    assert 0.02 <= rejected <= 0.09


@BOTH
@pytest.mark.parametrize(("make", "finish"), [(null_means, mean), (null_overlaps, overlap)])
def test_identical_outputs_get_p_one(test, make, finish):
    stats = make(np.random.default_rng(0), 97)
    found = test(np.stack([stats[0]] * 3), finish, draws=200)
    assert found.p.tolist() == [1.0, 1.0]
    assert found.deltas.tolist() == [0.0, 0.0]


@BOTH
def test_a_clear_difference_is_found(test):
    # 0.5 apart, differences of sd sqrt(2), n = 200: the mean is 0.5 / (1.414 / 14.1) = 5 standard errors out
    rng = np.random.default_rng(1)
    found = [
        test(null_means(rng, 200) + np.array([[[0.0, 0]], [[0.5, 0]]]), mean, draws=300, seed=rng).p[0]
        for _ in range(40)
    ]
    assert np.mean(np.array(found) <= 0.05) >= 0.95


def test_three_items_by_full_enumeration():
    # Differences 1, 2, 3: the eight sign patterns give |sums| 6 4 2 0 0 2 4 6, of which two reach 6: p = 2/8.
    # 20,000 shuffles: sd sqrt(.25 x .75 / 20000) = 0.003, five of them allowed. Sums tie here: a strict > would say 0.
    stats = mean_stats([[0.1, 0.2, 0.3], [1.1, 2.2, 3.3]])
    assert paired_randomisation(stats, mean, draws=20000).p[0] == pytest.approx(0.25, abs=0.016)


def test_four_items_by_full_enumeration_of_a_ratio():
    # all 16 ways to swap, each scored from its own sums
    stats = np.array([[[3, 9], [4, 7], [1, 5], [2, 8]], [[5, 8], [4, 9], [4, 6], [1, 7]]], dtype=float)
    observed = abs(mean(stats[1].sum(0)) - mean(stats[0].sum(0)))
    hits = 0
    for pattern in range(16):
        swapped = stats.copy()
        for item in range(4):
            if pattern >> item & 1:
                swapped[:, item] = stats[::-1, item]
        hits += abs(mean(swapped[1].sum(0)) - mean(swapped[0].sum(0))) >= observed - 1e-12
    found = paired_randomisation(stats, mean, draws=20000)
    assert found.p[0] == pytest.approx(hits / 16, abs=0.018)  # sd at most 0.0035, five of them


def test_two_items_by_full_enumeration_of_resamples():
    # Differences 0 and 2, d = 1: the four resamples give 0, 1, 1, 2; |d* - 1| >= 1 holds for 0 and 2: p = 2/4.
    # 20,000 draws: sd 0.0035, five of them allowed
    found = paired_bootstrap(mean_stats([[0.3, 0.1], [0.3, 2.1]]), mean, draws=20000)
    assert found.deltas[0] == pytest.approx(1)
    assert found.p[0] == pytest.approx(0.5, abs=0.018)
    assert (found.delta_low[0], found.delta_high[0]) == (pytest.approx(0), pytest.approx(2))


@BOTH
def test_order_of_items_and_swap_of_roles_change_only_the_draws(test):
    rng = np.random.default_rng(3)
    stats = null_overlaps(rng, 60)
    plain = test(stats, overlap, draws=8000)
    shuffled = test(stats[:, rng.permutation(60)], overlap, draws=8000, seed=1)
    turned = test(stats[::-1], overlap, draws=8000, seed=2)
    # two p-values of 8000 draws differ with sd below sqrt(2 x .25 / 8000) = 0.008, five of them allowed
    assert shuffled.p[0] == pytest.approx(plain.p[0], abs=0.04)
    assert turned.p[0] == pytest.approx(plain.p[0], abs=0.04)
    assert turned.deltas[0] == -plain.deltas[0]


@BOTH
def test_company_changes_nothing(test):
    # every system against the baseline meets the same draws, whoever else is there
    rng = np.random.default_rng(4)
    stats = np.concatenate([null_overlaps(rng, 50), null_overlaps(rng, 50)])
    together = test(stats, overlap, draws=500)
    alone = [test(stats[[0, s]], overlap, draws=500) for s in (1, 2, 3)]
    assert together.p.tolist() == [found.p[0] for found in alone]
    np.testing.assert_allclose(together.delta_low, [found.delta_low[0] for found in alone], rtol=1e-12)


@BOTH
def test_direction_and_scale_of_the_metric_do_not_matter(test):
    stats = null_means(np.random.default_rng(8), 40)
    plain = test(stats, mean, draws=500)
    turned = test(stats, lambda totals: -1000 * mean(totals) + 7, draws=500)
    assert turned.p.tolist() == plain.p.tolist()


@BOTH
def test_p_never_is_zero_and_the_interval_holds_the_difference(test):
    found = test(mean_stats([np.zeros(50), np.full(50, 3.0)]), mean, draws=99)
    # swaps: only all or none reach |d|, chance 2 ** -49; resamples: all give d* = 3, and |3 - 3| < 3
    assert found.p[0] == pytest.approx(1 / 100)
    assert (found.low.tolist(), found.high.tolist()) == ([0.0, 3.0], [0.0, 3.0])
    assert found.delta_low[0] == found.delta_high[0] == 3.0


@BOTH
def test_undefined_segments_drop_out(test):
    rng = np.random.default_rng(5)
    values = rng.normal(size=(2, 40))
    values[:, 10:] = np.nan
    ten = test(mean_stats(values[:, :10]), mean, draws=3000)
    forty = test(mean_stats(values), mean, draws=3000)
    assert forty.values.tolist() == ten.values.tolist()
    assert forty.p[0] == pytest.approx(
        ten.p[0], abs=0.1
    )  # draws of 40 hold 10 defined only on average, so the spread is a little wider


def test_draws_without_a_number_are_counted():
    # the baseline is defined on one item of two: a resample misses it with chance 1/4
    stats = mean_stats([[1.0, np.nan], [2.0, 3.0]])
    found = paired_bootstrap(stats, mean, draws=2000)
    assert found.n_undefined_draws[0] / 2000 == pytest.approx(0.25, abs=0.05)  # sd 0.0097
    assert 0 < found.p[0] <= 1
    swapped = paired_randomisation(stats, mean, draws=2000)
    # both are defined on the first item, and a swap gives each the other's: no side is ever empty
    assert swapped.n_undefined_draws[0] == 0
    empty = paired_randomisation(mean_stats([[np.nan, np.nan], [2.0, 3.0]]), mean, draws=50)
    assert np.isnan(empty.deltas[0])
    assert np.isnan(empty.p[0])


def test_half_the_swaps_of_half_defined_systems_leave_one_side_empty():
    # each is defined on its own item: swapping one of the two items gives both to one side, chance 1/2 (sd 0.011)
    found = paired_randomisation(mean_stats([[1.0, np.nan], [np.nan, 3.0]]), mean, draws=2000)
    assert found.n_undefined_draws[0] / 2000 == pytest.approx(0.5, abs=0.055)
    assert found.p[0] == 1.0  # the other half gives |d*| = 2 = |d| every time


@BOTH
@pytest.mark.parametrize(
    ("stats", "options", "says"),
    [
        (np.zeros((1, 5, 2)), {}, "statistics of 1 systems, expected 2"),
        (np.zeros((2, 1, 2)), {}, "2 items or more, got 1"),
        (np.zeros((2, 0, 2)), {}, "2 items or more, got 0"),
        (np.zeros((2, 5, 2)), {"compat": "moses"}, "compat is 'moses'"),
        (np.zeros((2, 5, 2)), {"draws": 0}, "draws is 0"),
        (np.zeros((2, 5, 2)), {"level": 1.0}, "level is 1.0"),
        (np.zeros((2, 5, 2)), {"compat": "sacrebleu", "seed": np.random.default_rng(0)}, "a whole number"),
    ],
)
def test_what_cannot_be_tested_is_refused(test, stats, options, says):
    with pytest.raises(InputError, match=says):
        test(stats, mean, **options)


@BOTH
def test_families_on_the_same_draws_are_the_tests_alone(test):
    stats = np.concatenate([null_overlaps(np.random.default_rng(i), 12) for i in range(2)])  # four systems
    families = [[2, 0, 1, 3], [1, 3]]
    together = paired_families(test.__name__, stats, overlap, families, draws=50, seed=3)
    for rows, found in zip(families, together, strict=True):
        alone = test(stats[rows], overlap, draws=50, seed=3)
        for name in ("values", "deltas", "p", "low", "high", "delta_low", "delta_high"):
            assert getattr(found, name) == pytest.approx(getattr(alone, name)), name
        assert (found.test, found.draws) == (alone.test, 50)
