import dataclasses

import numpy as np
import pytest

from nlgauge import Dataset, Segment
from nlgauge.core.errors import InputError
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.metaeval.plan import _system_rows, extended_design, first_design, plan_ratings, random_design, read_design
from nlgauge.stats.sampling import PoweredMeans, inclusion_probabilities

SIZES = np.linspace(0, 2, 40)
ITEMS = tuple(f"item {i}" for i in range(40))


def rng(seed=0):
    return np.random.default_rng(seed)


def as_read(design):
    columns = design.columns(ITEMS)
    return read_design(ScoreTable(tuple(Key(item=item) for item in columns.pop("seg")), columns, name="p.tsv"), ITEMS)


def marked(places):
    rated = np.zeros(40, dtype=bool)
    rated[list(places)] = True
    return rated


def test_a_plan_outlives_its_file():
    made = first_design(SIZES, 10, rng())
    read = as_read(made)
    assert read.places.tolist() == made.places.tolist()
    assert read.chances[made.places].tolist() == made.chances[made.places].tolist()
    assert np.isnan(read.chances).sum() == 30  # a file says nothing of the others, and an extension works them out
    longer = extended_design(read, SIZES, 20, rng(1))
    assert longer.chances == pytest.approx(inclusion_probabilities(SIZES, 20))
    assert longer.before == pytest.approx(made.chances)
    assert longer.places[:10].tolist() == made.places.tolist()
    assert longer.rounds.tolist() == [1] * 10 + [2] * 10


def test_rows_of_a_plan_stand_in_any_order():
    made = first_design(SIZES, 10, rng())
    columns = {name: np.array(values)[::-1] for name, values in made.columns(ITEMS).items()}
    keys = tuple(Key(item=str(item)) for item in columns.pop("seg"))
    read = read_design(ScoreTable(keys, columns, name="p.tsv"), ITEMS)
    assert read.places.tolist() == made.places.tolist()
    assert read.chances[made.places].tolist() == made.chances[made.places].tolist()


def test_a_plan_of_one_item_says_how_likely_the_others_were():
    made = first_design(SIZES, 1, rng())
    longer = extended_design(as_read(made), SIZES, 4, rng(1))
    assert longer.before == pytest.approx(made.chances)
    assert longer.chances == pytest.approx(inclusion_probabilities(SIZES, 4))


def test_chances_of_what_is_rated_so_far():
    longer = extended_design(first_design(SIZES, 10, rng()), SIZES, 20, rng(1))
    first, second = longer.places[:10], longer.places[10:]
    # all of the first round, none of the second: what the first plan said
    assert longer.rated_chances(marked(first)) == pytest.approx(longer.before)
    # half of the first round alone
    assert longer.rated_chances(marked(first[:5])) == pytest.approx(longer.before / 2)
    # all of the first and two in ten of the second
    some = longer.before + 0.2 * (longer.chances - longer.before)
    assert longer.rated_chances(marked([*first, *second[:2]])) == pytest.approx(some)


def test_what_was_rated_before_there_was_a_plan_is_a_random_choice():
    design = random_design(marked(range(0, 40, 5)))
    assert design.rated_chances(marked(range(0, 40, 5))).tolist() == [0.2] * 40
    longer = extended_design(design, SIZES, 12, rng())
    assert longer.rounds.tolist() == [0] * 8 + [1] * 4
    assert longer.chances.sum() == pytest.approx(12)
    assert (longer.chances >= 0.2).all()  # none becomes less likely than it was
    assert as_read(longer).rated_chances(marked(longer.places))[longer.places].min() > 0


def test_a_plan_of_other_metrics_is_not_extended():
    made = as_read(first_design(SIZES, 10, rng()))
    with pytest.raises(InputError, match="not those that these metrics give"):
        extended_design(made, SIZES**2, 20, rng())


def test_files_that_are_no_plan():
    key = (Key(item="item 1"),)
    whole = {"probability": np.array([0.5]), "order": np.ones(1), "round": np.ones(1), "before": np.zeros(1)}
    assert read_design(ScoreTable(key, whole), ITEMS).places.tolist() == [1]
    with pytest.raises(InputError, match=r"p\.tsv: no column 'order'"):
        read_design(ScoreTable(key, {"probability": np.ones(1)}, name="p.tsv"), ITEMS)
    with pytest.raises(InputError, match="1 of 1 items are not among the 40"):
        read_design(ScoreTable((Key(item="other"),), whole), ITEMS)
    for column, value in (
        ("probability", 0.0),
        ("probability", 1.5),
        ("before", 0.6),
        ("round", -1.0),
        ("order", np.nan),
    ):
        with pytest.raises(InputError, match="not within 0 and 1"):
            read_design(ScoreTable(key, {**whole, column: np.array([value])}), ITEMS)


N, SYSTEMS = 40, ("good", "fair", "bad")
QUALITY = np.random.default_rng(0).normal(size=(3, N)) + np.array([[1.5], [0.3], [-1.5]])


def data(rated=(), systems=SYSTEMS, **more):
    """Outputs of all systems; ratings are there for some items."""
    return Dataset(
        tuple(
            Segment(
                f"{system}-{i}", "text", system=system, item=str(i),
                human={"adequacy": float(QUALITY[s, i])} if str(i) in rated else {}, **more,
            )
            for s, system in enumerate(systems) for i in range(N)
        ),
        "data.jsonl",
    )  # fmt: skip


SCORES = {
    "seen": {
        f"{s}-{i}": float(QUALITY[k, i] + 0.3 * ((7 * i + k) % 5)) for k, s in enumerate(SYSTEMS) for i in range(N)
    }
}


def chosen(**options):
    return plan_ratings(data(), scores=SCORES, higher_is_better=["seen"], **options)


def test_a_plan_is_rated_and_extended():
    first = chosen(budget=0.25)
    order = first.columns()["seg"]
    assert len(order) == 10 == len(set(order))
    assert [row["rated"] for row in first.rows] == [False] * 10
    assert "nothing" not in " ".join(first.notes)

    second = plan_ratings(data(order[:6]), scores=SCORES, plan=first, budget=20)
    assert second.columns()["seg"][:10] == order
    assert second.columns()["round"].tolist() == [1] * 10 + [2] * 10
    systems = [row for row in second.rows if "system" in row and row["against"] is None]
    assert [row["system"] for row in systems] == ["good", "fair", "bad"]
    assert {row["n"] for row in systems} == {6}
    assert systems[2]["rank_best"] == systems[2]["rank_worst"] == 3
    assert second.value("good") - second.value("bad") == pytest.approx(second.value("good", "bad"))
    (lead,) = [row["lead"] for row in second.rows if row.get("against") == "bad" and row["system"] == "good"]
    assert 0.95 < lead <= 1
    assert sum(row.get("rated", False) for row in second.rows) == 6


def test_a_seed_below_zero_is_refused():
    with pytest.raises(InputError, match="seed is -1, expected 0 or more"):
        chosen(budget=10, seed=-1)


def test_the_same_call_gives_the_same_plan_and_another_seed_another():
    assert chosen(budget=10).columns()["seg"] == chosen(budget=10).columns()["seg"]
    assert chosen(budget=10).columns()["seg"] != chosen(budget=10, seed=1).columns()["seg"]


def test_ratings_outside_the_plan_are_left_out_and_named():
    first = chosen(budget=10)
    order = first.columns()["seg"]
    within = plan_ratings(data(order), scores=SCORES, plan=first)
    beyond = plan_ratings(data([str(i) for i in range(N)]), scores=SCORES, plan=first)
    assert beyond.value("fair") == within.value("fair")
    assert any("30 rated items are not in the plan" in note for note in beyond.notes)
    assert any("all 10 items of the plan are rated" in note for note in within.notes)


def test_without_a_plan_ratings_are_those_of_a_random_choice():
    found = plan_ratings(data([str(i) for i in range(0, N, 4)]), scores=SCORES)
    assert found.value("good") == pytest.approx(QUALITY[0].mean(), abs=0.3)
    assert not any("seg" in row for row in found.rows)
    whole = plan_ratings(data([str(i) for i in range(N)]), scores=SCORES)
    assert whole.value("good") == pytest.approx(QUALITY[0].mean())
    assert whole.rows[0]["low"] == pytest.approx(whole.rows[0]["high"])


def test_items_and_ratings_that_lack_a_system():
    every = data([str(i) for i in range(20)])
    gone = tuple(s for s in every if s.id != "bad-3")
    half = tuple(dataclasses.replace(s, human={}) if s.id == "good-5" else s for s in gone)
    found = plan_ratings(Dataset(half, "data.jsonl"), scores=SCORES)
    assert any("1 of 40 items lack a system and are left out: 3" in note for note in found.notes)
    assert any("1 items are rated for some systems only" in note for note in found.notes)
    assert found.rows[0]["n"] == 18


def test_missing_scores_follow_the_policy():
    gaps = {"seen": {**SCORES["seen"], "bad-3": float("nan")}}
    with pytest.raises(InputError, match="no score for 1 of 120"):
        plan_ratings(data(), scores=gaps, budget=10)
    assert len(plan_ratings(data(), scores=gaps, budget=10, missing="drop").items) == 39


def test_two_systems_make_one_difference():
    found = plan_ratings(data([str(i) for i in range(10)], SYSTEMS[:2]), scores=SCORES)
    assert any("one difference" in note for note in found.notes)
    assert len(found.rows) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing is rated and there is no plan, expected a budget"),
        ({"budget": 41}, "the budget is 41, expected 1 to 40, the number of items"),
        ({"budget": 0}, "the budget is 0"),
        ({"budget": 2.5}, "the budget is 2.5"),
        ({"budget": "101%"}, "the budget is 101%"),
        ({"budget": "many"}, "the budget is many"),
        ({"budget": float("inf")}, "the budget is inf"),
        ({"budget": 10, "criterion": "all"}, "expected the name of one"),
        ({"budget": 10, "method": "irt"}, "method"),
    ],
)
def test_refusals(options, message):
    with pytest.raises(InputError, match=message):
        chosen(**options)


def test_refusals_of_data():
    with pytest.raises(InputError, match="1 systems and 40 items"):
        plan_ratings(data(systems=SYSTEMS[:1]), scores=SCORES, budget=10)
    groups = Dataset(tuple(dataclasses.replace(s, group="ab"[int(s.item) % 2]) for s in data()))
    with pytest.raises(InputError, match=r"2 groups \(a, b\), expected one"):
        plan_ratings(groups, scores=SCORES, budget=10)
    with pytest.raises(InputError, match="as 25%, and more than the 10 that are planned"):
        chosen(plan=chosen(budget=10), budget=5)
    with pytest.raises(InputError, match="no estimate of system 'other'"):
        chosen(budget=10).value("other")


def test_the_order_of_the_rows_changes_nothing():
    rated = [str(i) for i in range(0, N, 3)]
    whole = data(rated)
    mixed = Dataset(tuple(whole.segments[i] for i in np.random.default_rng(1).permutation(len(whole))), whole.name)
    found = [plan_ratings(one, scores=SCORES, budget=20) for one in (whole, mixed)]
    assert found[0].columns()["seg"] == found[1].columns()["seg"]
    for system in SYSTEMS:  # sums over systems may round otherwise
        assert found[0].value(system) == pytest.approx(found[1].value(system), abs=1e-12)


def test_error_rates_are_turned_round():
    """The sign of a number is exact: a rate that falls says what its negation says, beside a metric that rises."""
    rated, other = [str(i) for i in range(0, N, 4)], {k: v**2 for k, v in SCORES["seen"].items()}
    up = plan_ratings(
        data(rated), scores={**SCORES, "other": other}, budget=20, higher_is_better=["seen", "other"]
    )  # fmt: skip
    down = plan_ratings(
        data(rated), scores={**SCORES, "other": {k: -v for k, v in other.items()}}, budget=20,
        higher_is_better=["seen"], lower_is_better=["other"],
    )  # fmt: skip
    assert down.columns()["seg"] == up.columns()["seg"]
    assert down.columns()["probability"].tolist() == up.columns()["probability"].tolist()
    assert [down.value(system) for system in SYSTEMS] == [up.value(system) for system in SYSTEMS]


def test_ranks_within_the_intervals_of_differences_by_hand():
    """Of d, a, c, b by value: d leads all, a leads b; between c and its neighbours nothing is told apart."""
    values = np.array([3.0, 1.0, 2.0, 9.0])  # a, b, c, d
    deltas = values[:, None] - values
    width = np.where(np.abs(deltas) > 1, 0.5, 1.5)  # c is 1 from a and from b, others are 2 or more apart
    nothing = np.full(4, np.nan)
    found = PoweredMeans(
        values, nothing, nothing, deltas, deltas - width, deltas + width, deltas, 1.0, nothing, 0.0, 5, 0.95
    )
    rows = [row for row in _system_rows(found, "abcd", "adequacy") if row["against"] is None]
    assert [(row["system"], row["rank"], row["rank_best"], row["rank_worst"]) for row in rows] == [
        ("d", 1, 1, 1),
        ("a", 2, 2, 3),  # d is above, b below
        ("c", 3, 2, 4),  # d is above, none below
        ("b", 4, 3, 4),  # d and a are above
    ]
