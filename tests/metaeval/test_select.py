"""Model selection on data: hybrids, pools, and what a metric's choice is worth."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metaeval.select import STATS, select_models


def dataset(human, group=None):
    """Ratings of systems (rows) on items (columns); None where nobody rated."""
    return Dataset(
        tuple(
            Segment(
                f"{group}{s}.{i}", "x", system=f"s{s}", item=str(i), group=group, human={} if v is None else {"q": v}
            )
            for s, line in enumerate(human)
            for i, v in enumerate(line)
        )
    )


def random_data(seed=0, systems=5, items=20, noise=1.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(systems, items)) + 0.3 * rng.normal(size=(systems, 1))
    return dataset(z.tolist()), {
        "m": (z + noise * rng.normal(size=z.shape)).ravel().tolist(),
        "people": z.ravel().tolist(),
    }


def test_people_themselves_always_pick_the_right_model():
    data, scores = random_data()
    found = select_models(data, scores=scores, hybrids=500, pool=20)
    assert [found.value("people", stat) for stat in STATS] == pytest.approx([1, 1, 0], abs=1e-12)


def test_a_pool_of_two_out_of_three_by_hand():
    # system means of people 1, 2, 3; the metric says 2, 1, 3. Pools: {1,2} it takes the first, wrong by 1, rank 2;
    # {1,3} and {2,3} it takes the third, right
    data = dataset([[1.0], [2.0], [3.0]])
    found = select_models(data, scores={"m": [2, 1, 3]}, hybrids=0, pool=2)
    assert found.value("m", "hits_at_1") == pytest.approx(2 / 3)
    assert found.value("m", "mrr") == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert found.value("m", "diff") == pytest.approx(1 / 3)


def test_chance_is_what_a_blind_metric_gets():
    data = dataset([[1.0], [2.0], [3.0]])
    found = select_models(data, scores={"m": [2, 1, 3], "blind": [5, 5, 5]}, hybrids=0, pool=2)
    rows = {(row["metric"], row["stat"]): row for row in found.rows if row["group"] is None}
    for stat in STATS:
        assert rows["m", stat]["chance"] == pytest.approx(rows["blind", stat]["value"])
    assert rows["m", "hits_at_1"]["chance"] == pytest.approx(1 / 2)


def test_an_error_rate_picks_the_lowest():
    data = dataset([[1.0], [2.0], [3.0]])
    found = select_models(data, scores={"error": [3, 2, 1]}, lower_is_better=["error"], hybrids=0, pool=3)
    assert found.value("error", "hits_at_1") == 1


def test_simulation_comes_close_to_the_exact_numbers():
    data, scores = random_data(noise=2.0)
    found = select_models(data, scores=scores, hybrids=300, pool=10, draws=4000)
    for row in found.rows:
        if row["metric"] == "m" and row["stat"] != "diff":
            assert row["simulated"] == pytest.approx(row["value"], abs=4 * 0.5 / 4000**0.5)  # four standard errors
    assert any("simulated: 4000 draws" in note for note in found.notes)


def test_the_same_seed_makes_the_same_hybrids():
    data, scores = random_data()
    one, other, another = (
        select_models(data, scores=scores, hybrids=100, pool=5, seed=s).value("m", "mrr") for s in (3, 3, 4)
    )
    assert one == other != another


def test_models_are_chosen_by_one_criterion():
    data = Dataset(tuple(Segment(f"{s}", "x", system=s, item="1", human={"q": 1.0, "r": 2.0}) for s in "ab"))
    for both in ("all", ["q", "r"]):
        with pytest.raises(InputError, match=r"2 criteria \(q, r\), expected one"):
            select_models(data, criterion=both, scores={"m": [1, 2]}, hybrids=0, pool=1)


def test_outputs_nobody_rated_are_not_drawn():
    data = dataset([[1.0, None], [2.0, 1.0], [3.0, 2.0]])
    found = select_models(
        data, scores={"m": {"None0.0": 1, "None1.0": 2, "None1.1": 1, "None2.0": 3, "None2.1": 2}}, hybrids=50, pool=5
    )
    assert any("2 judgements each on average" in note for note in found.notes)


def test_groups_have_their_own_hybrids_and_a_plain_mean():
    one, _ = random_data(1)
    z = np.random.default_rng(2).normal(size=(4, 6))
    other = dataset(z.tolist(), "h")
    both = Dataset(
        (
            *[Segment(f"g{s.id}", "x", system=s.system, item=s.item, group="g", human=s.human) for s in one],
            *other.segments,
        )
    )
    rng = np.random.default_rng(5)
    found = select_models(both, scores={"m": rng.normal(size=len(both)).tolist()}, hybrids=100, pool=10)
    values = [found.value("m", "mrr", group=g) for g in ("g", "h")]
    assert found.value("m", "mrr") == pytest.approx(np.mean(values))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hybrids": 0, "pool": 10}, "the pool is 10 models, and there are 5 systems"),
        ({"hybrids": 3, "pool": 10}, "the pool is 10 models, and there are 3 hybrids"),
        ({"hybrids": -1}, "expected 0 or more"),
    ],
)
def test_what_cannot_be_done_is_refused(options, message):
    data, scores = random_data()
    with pytest.raises(InputError, match=message):
        select_models(data, scores=scores, **options)


def test_a_number_that_is_not_there_is_refused():
    data, scores = random_data()
    found = select_models(data, scores=scores, hybrids=50, pool=5)
    with pytest.raises(InputError, match="0 numbers fit"):
        found.value("m", "hits")
    assert found.result().kind == "select"


def test_empty_texts_are_counted():
    data = dataset([[3, 1], [2, 2]])
    first = Segment("x", "", ("a b",), system="z", item="0", human={"q": 1.0})
    rows = [Segment(f"{s.id}", "a b", ("a b",), system=s.system, item=s.item, human={"q": 1.0}) for s in data]
    found = select_models(Dataset((first, *rows)), ["chrf"], "q", hybrids=0, pool=1)
    assert found.result().metrics[0]["flags"] == {"empty": 1}
    assert "chrf: 1 of 5 judged segments (x) have an empty side; they get the worst value" in found.notes


def test_coefficients_over_the_models_stand_beside_the_choices():
    data = dataset([[1.0], [2.0], [3.0]])
    found = select_models(data, scores={"m": [2, 1, 3]}, hybrids=0, pool=2, stats=["pearson", "kendall_b", "mrr"])
    assert found.value("m", "pearson") == pytest.approx(0.5)  # ranks 2 1 3 against 1 2 3: 1 - 6 * 2 / 24
    assert found.value("m", "kendall_b") == pytest.approx(1 / 3)  # two pairs of three in order
    assert found.value("m", "mrr") == pytest.approx((1 / 2 + 1 + 1) / 3)
    with pytest.raises(InputError, match="no statistic 'pearsn'; did you mean 'pearson'"):
        select_models(data, scores={"m": [2, 1, 3]}, hybrids=0, pool=2, stats=["pearsn"])
