import random
from functools import cache

import numpy as np
import pytest

from nlgauge.stats import draws as resample
from nlgauge.stats.systems.significance import paired_bootstrap, paired_randomisation

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
WORDS = (
    "the",
    "a",
    "cat",
    "dog",
    "bird",
    "sat",
    "ran",
    "flew",
    "on",
    "over",
    "under",
    "mat",
    "roof",
    "hill",
    "red",
    "blue",
    "old",
    "quick",
    "slow",
)


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
@pytest.mark.parametrize("seed", [12345, 1, pytest.param(77, marks=pytest.mark.slow)])
def test_bootstrap_is_sacrebleus(monkeypatch, name, seed):
    systems, references = corpus(1)
    found = paired_bootstrap(
        statistics(name, systems, references), METRICS[name][1], draws=200, seed=seed, compat="sacrebleu"
    )
    check(found, theirs(monkeypatch, name, systems, references, seed, test_type="bs", n_samples=200), intervals=True)


@numpy2
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("seed", [12345, 1, pytest.param(77, marks=pytest.mark.slow)])
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
    found = ours(statistics("TER", systems, references), ter, draws=150, seed=5, compat="sacrebleu")
    check(
        found, theirs(monkeypatch, "TER", systems, references, 5, test_type=test, n_samples=150), intervals=test == "bs"
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
