"""How often do the default tests between metrics reject a true null hypothesis on real data?

    python recipes/studies/coverage/null_reruns.py DATA/wmt23-he-en-mtme              all tests, about five minutes
    python recipes/studies/coverage/null_reruns.py DATA/wmt23-he-en-mtme --sets 50    a quick look

Two official metrics are drawn and brought to one scale. For every item the systems are split into two halves at random:
one made metric has the scores of the first on one half and of the second on the other half; the other made metric has
the rest. So neither is better, while judgements, systems and items are real. `--whole items` (`systems`) gives all
scores of an item (of a system) to one of them instead. A test keeps its level of 5 % if it rejects in 2 to 8 % of the
sets. The table stands in docs/studies/intervals_tests.tsv.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.io.wmt.mtme import read_official
from nlgauge.stats import permutation_test
from nlgauge.stats.correlate import correlations
from nlgauge.stats.preferences import calibrate, pairwise, within_items
from nlgauge.stats.resampling import acc_eq_test, item_swap_test, soft_accuracy_test

DRAWS = 199


def grids(folder: str) -> tuple[Array, dict[str, Array]]:
    """Judgements (S, N) of the items that were rated for every system, and official metrics of these cells, scaled."""
    run = read_official(folder)
    segments = [segment for segment in run.dataset if segment.human]
    systems, items = (list(dict.fromkeys(getattr(s, name) for s in segments)) for name in ("system", "item"))
    rows, columns = ({name: i for i, name in enumerate(names)} for names in (systems, items))
    at = np.array([(rows[s.system], columns[s.item]) for s in segments]).T
    human = np.full((len(systems), len(items)), np.nan)
    human[at[0], at[1]] = [next(iter(s.human.values())) for s in segments]
    whole = ~np.isnan(human).any(axis=0)
    found = {}
    for name, tables in run.scores.items():
        scores = np.full(human.shape, np.nan)
        scores[at[0], at[1]] = tables[0].column(name)[tables[0].places(segments)]
        scores = scores[:, whole]
        found[name] = (scores - scores.mean()) / scores.std()
    return human[:, whole], found


def null_pair(a: Array, b: Array, whole: str, rng: np.random.Generator) -> Array:
    """Two metrics of which neither is better, shape (2, S, N)."""
    n_systems, n_items = a.shape
    if whole == "items":
        swapped = np.broadcast_to(rng.random((1, n_items)) < 0.5, a.shape)
    elif whole == "systems":
        swapped = np.broadcast_to(rng.random((n_systems, 1)) < 0.5, a.shape)
    else:
        swapped = rng.permuted(np.tile(np.arange(n_systems)[:, None], n_items), axis=0) < n_systems // 2
    return np.stack([np.where(swapped, b, a), np.where(swapped, a, b)])


def _acc_eq(human: Array, metrics: Array) -> float:
    groups = [np.arange(human.size).reshape(human.shape).T]  # the cells of each item
    near = np.array([calibrate(row.ravel(), human.ravel(), groups).epsilon for row in metrics])
    return float(acc_eq_test(human, metrics, near, draws=DRAWS).p[0, 1])


def _by_item(human: Array, metrics: Array) -> float:
    values = np.array([list(one.groups.values()) for one in correlations("pearson", metrics, human, averaging="item")])
    return float(item_swap_test(values, draws=DRAWS).p[0, 1])


def _pdp(human: Array, metrics: Array) -> float:
    items = np.broadcast_to(np.arange(human.shape[1]), human.shape).ravel()
    x, z, _ = within_items(metrics.reshape(2, -1), human.ravel(), items)
    made = permutation_test(
        z.reshape(human.shape), x.reshape(metrics.shape), averaging="none", generalise_to="inputs", draws=DRAWS
    )
    return float(made.p[0, 1])


def _accuracy(x: Array, z: Array) -> Array:
    return pairwise(x, z).value


TESTS: dict[str, Callable[[Array, Array], float]] = {
    "pearson, segments, perm_both": lambda h, m: permutation_test(h, m, averaging="none", draws=DRAWS).p[0, 1],
    "pearson, segments, perm_inputs": lambda h, m: permutation_test(
        h, m, averaging="none", generalise_to="inputs", draws=DRAWS
    ).p[0, 1],
    "pearson by item, item_swap": _by_item,
    "pearson by item, perm_both": lambda h, m: permutation_test(h, m, draws=DRAWS).p[0, 1],
    "kendall_b by item, perm_both": lambda h, m: permutation_test(h, m, statistic="kendall_b", draws=DRAWS).p[0, 1],
    "acc_eq_calibrated by item, item_swap": _acc_eq,
    "pdp, perm_inputs": _pdp,
    "pearson of systems, perm_systems": lambda h, m: permutation_test(
        h.mean(axis=1), m.mean(axis=2), level="system", draws=DRAWS
    ).p[0, 1],
    "pairwise_accuracy, perm_systems": lambda h, m: permutation_test(
        h.mean(axis=1), m.mean(axis=2), level="system", statistic=_accuracy, draws=DRAWS
    ).p[0, 1],
    "soft_pairwise_accuracy, perm_systems": lambda h, m: soft_accuracy_test(
        h, m, generalise_to="systems", draws=DRAWS
    ).p[0, 1],
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="a test set in mt-metrics-eval's layout, of one language pair")
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--items", type=int, default=200, help="items drawn for each set")
    parser.add_argument("--whole", choices=("halves", "items", "systems"), default="halves")
    parser.add_argument("--tests", default="", metavar="TEXT", help="only tests whose name holds this")
    arguments = parser.parse_args()
    human, metrics = grids(arguments.folder)
    rng = np.random.default_rng(5)
    tests = {name: test for name, test in TESTS.items() if arguments.tests in name}
    rejected = dict.fromkeys(tests, 0)
    for _ in range(arguments.sets):
        one, other = rng.choice(list(metrics), size=2, replace=False)
        items = rng.choice(human.shape[1], size=min(arguments.items, human.shape[1]), replace=False)
        made = null_pair(metrics[one][:, items], metrics[other][:, items], arguments.whole, rng)
        for name, test in tests.items():
            rejected[name] += test(human[:, items], made) < 0.05
    error = np.sqrt(0.05 * 0.95 / arguments.sets)
    print(
        f"{arguments.sets} sets, {human.shape[0]} systems, {min(arguments.items, human.shape[1])} items,"
        f" {len(metrics)} metrics, {DRAWS} draws; standard error at 5 %: {100 * error:.1f} points"
    )
    for name, count in rejected.items():
        print(f"{name:40}{100 * count / arguments.sets:6.1f} %")


if __name__ == "__main__":
    main()
