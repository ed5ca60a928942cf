import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.metaeval.design import extended_design, first_design, random_design, read_design
from nlgauge.stats.sampling import inclusion_probabilities

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
