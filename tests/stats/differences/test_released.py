"""The permutation tests of two other packages, from their own streams of random numbers."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.permutation import permutation_test
from nlgauge.stats.differences.williams import williams

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "nlpstats.json").read_text(encoding="utf-8"))
HUMAN, FIRST, SECOND = (np.array(GOLDEN[name]) for name in ("human", "first", "second"))
WHERE = {"system": {"level": "system"}, "input": {"averaging": "item"}, "global": {"averaging": "none"}}
NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}


def name(case):
    return "-".join((case["method"], case["level"], case["coefficient"], case["alternative"]))


@pytest.mark.parametrize("case", [c for c in GOLDEN["cases"] if c["method"] != "williams"], ids=name)
def test_agrees_with_nlpstats(case):
    found = permutation_test(
        HUMAN,
        np.stack([FIRST, SECOND]),
        generalise_to=case["method"],
        statistic=NAMES[case["coefficient"]],
        alternative=case["alternative"],
        draws=GOLDEN["draws"],
        seed=GOLDEN["seed"],
        compat="nlpstats",
        **WHERE[case["level"]],
    )
    assert found.p[0, 1] == pytest.approx(case["p_with_ties"], abs=1e-12)  # whole numbers of hits, divided by 200


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN["cases"] if c["method"] == "williams" and c["level"] != "input"], ids=name
)
def test_williams_agrees_with_nlpstats(case):
    vectors = [m.mean(axis=1) if case["level"] == "system" else m.ravel() for m in (HUMAN, FIRST, SECOND)]
    coefficient = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}[
        case["coefficient"]
    ]
    r12, r13, r23 = (coefficient(vectors[a], vectors[b])[0] for a, b in ((0, 1), (0, 2), (1, 2)))
    found = williams(r12, r13, r23, len(vectors[0]), alternative=case["alternative"], compat="nlpstats")
    assert found == pytest.approx(case["p"], abs=1e-12)  # the same formula


def as_mt_metrics_eval(human, first, second, averaging, statistic, draws, seed):
    """Its procedure: p of the second metric against the first, coins of numpy's old generator, stopping after blocks
    of 1000.

    A tie with the data counts, where there the last digits decide.
    """
    groups = {"none": human.reshape(1, -1), "item": human.T, "sys": human}[averaging]
    sizes = (~np.isnan(groups)).sum(axis=1)
    order = (lambda m: m.T.ravel()) if averaging == "item" else np.ravel
    gold, one, two = order(human), order(first), order(second)
    judged = ~np.isnan(gold)
    gold, one, two = gold[judged], stats.zscore(one[judged]), stats.zscore(two[judged])
    ends = np.cumsum(sizes[sizes > 0])

    def corr(scores):
        parts = zip(np.split(gold, ends[:-1]), np.split(scores, ends[:-1]), strict=True)
        return np.average([coefficient(statistic, g.tobytes(), s.tobytes()) for g, s in parts])

    np.random.seed(seed)
    delta, hits = corr(two) - corr(one), 0
    for draw in range(1, draws + 1):
        keep = np.random.binomial(1, 0.5, len(one))
        hits += corr((1 - keep) * one + keep * two) - corr(keep * one + (1 - keep) * two) >= delta - 1e-10
        if draw % 1000 == 0 and not 0.02 <= hits / draw <= 0.5:
            break
    return hits / draw


@cache
def coefficient(statistic, gold, scores):
    """What scipy says of the same few numbers is asked once: coins often fall alike within a group."""
    correlate = {"pearson": stats.pearsonr, "kendall_b": stats.kendalltau, "spearman": stats.spearmanr}[statistic]
    return correlate(np.frombuffer(gold), np.frombuffer(scores))[0]


@pytest.mark.parametrize(
    ("statistic", "averaging"),
    [
        ("pearson", "none"),
        ("pearson", "item"),
        ("kendall_b", "sys"),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("pearson", "sys"), ("kendall_b", "item"))),
        pytest.param("kendall_b", "none", marks=pytest.mark.slow),
    ],
)
def test_agrees_with_the_procedure_of_mt_metrics_eval(averaging, statistic):
    human = HUMAN.copy()
    human[0, 3] = human[2, 5] = np.nan
    scores = np.stack([FIRST, SECOND])
    found = permutation_test(
        human, scores, averaging=averaging, statistic=statistic, draws=80, seed=3, compat="mt-metrics-eval"
    )
    assert found.p[0, 1] == pytest.approx(
        as_mt_metrics_eval(human, SECOND, FIRST, averaging, statistic, 80, 3), abs=1e-12
    )
    assert found.p[1, 0] == pytest.approx(
        as_mt_metrics_eval(human, FIRST, SECOND, averaging, statistic, 80, 3), abs=1e-12
    )


def test_golden_numbers_mostly_have_no_ties():
    golden = [c for c in GOLDEN["cases"] if c["method"] != "williams"]
    assert sum(c["p"] == c["p_with_ties"] for c in golden) > len(golden) / 2


def test_mt_metrics_eval_swaps_averaged_scores_of_systems():
    people, first, second = (m.mean(axis=1, keepdims=True) for m in (HUMAN, FIRST, SECOND))
    found = permutation_test(
        HUMAN, np.stack([FIRST, SECOND]), level="system", draws=400, seed=5, compat="mt-metrics-eval"
    )
    assert found.p[0, 1] == pytest.approx(
        as_mt_metrics_eval(people, second, first, "none", "pearson", 400, 5), abs=1e-12
    )


@pytest.mark.slow  # 3,000 draws in a loop
def test_mt_metrics_eval_stops_early():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 5))
    close, far = human + 0.3 * rng.normal(size=(2, 4, 5))[0], rng.normal(size=(4, 5))
    found = permutation_test(
        human, np.stack([close, far]), averaging="none", draws=1500, seed=1, compat="mt-metrics-eval"
    )
    assert found.p[0, 1] == pytest.approx(as_mt_metrics_eval(human, far, close, "none", "pearson", 1500, 1), abs=1e-12)
    assert found.p[1, 0] == pytest.approx(as_mt_metrics_eval(human, close, far, "none", "pearson", 1500, 1), abs=1e-12)


def test_their_fault_is_kept_a_constant_metric_gets_p_zero():
    scores = np.stack([FIRST, np.full(FIRST.shape, 2.0)])
    assert permutation_test(HUMAN, scores, draws=50, compat="mt-metrics-eval").p[0, 1] == 0
    assert np.isnan(permutation_test(HUMAN, scores, draws=50).p[0, 1])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"compat": "nlpstats", "seed": np.random.default_rng(0)}, "a whole number"),
        ({"compat": "mt-metrics-eval", "generalise_to": "inputs"}, "has no generalise_to='inputs'"),
        ({"compat": "sacrerouge"}, "compat is 'sacrerouge'"),
    ],
)
def test_what_they_cannot_do_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        permutation_test(HUMAN, np.stack([FIRST, SECOND]), **options)
