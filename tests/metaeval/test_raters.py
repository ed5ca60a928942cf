"""Agreement of raters beside peers and by hand; the ceiling beside loops written out here, and beside theory."""

from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, Preference, Preferences
from nlgauge.io.evalset import read_set
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.stats.ratings import alpha_interval, krippendorff

N = None
# The reliability data of Krippendorff (2011), section C: four observers, twelve units, gaps
PAPER = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]


def rated(table, *, systems=1, group=None, names=None, criterion="adequacy"):
    """A data set of ratings, shape (raters, segments): the first item of every system, then the second, and so on."""
    names = [f"r{i}" for i in range(len(table))] if names is None else names
    segments = []
    for i, column in enumerate(zip(*table, strict=True)):
        given_by = {name: value for name, value in zip(names, column, strict=True) if value is not None}
        segments.append(
            Segment(
                f"{group or ''}{i}",
                "text",
                system=f"s{i % systems}",
                item=str(i // systems),
                group=group,
                human={criterion: list(given_by.values())} if given_by else {},
                raters={criterion: tuple(given_by)} if given_by and all(names) else {},
            )
        )
    return Dataset(tuple(segments))


def evaluated(data, scores=None, **options):
    options = {"intervals": "none", **options}
    return meta_evaluate(data, scores=scores, raters=True, **options)


def of(rows, **where):
    """The one row that fits."""
    (row,) = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return row


# --- Agreement

# krippendorff 0.9.0, scikit-learn 1.9.1 and numpy.corrcoef on PAPER:
#   python -m venv peers && peers/bin/pip install krippendorff==0.9.0 scikit-learn==1.9.1
#   alpha: krippendorff.alpha(PAPER, level_of_measurement="ordinal"); of a rater and the rest "interval"
#   kappa: sklearn.metrics.cohen_kappa_score(one, other) where both rated; rest: np.nanmean of the others
#   rater, against: segments, alpha, Pearson, same, kappa
PEERS = {
    ("r0", "r1"): (9, 0.922902, 0.949071, 0.888889, 0.844828),
    ("r0", "r2"): (8, 0.531250, 0.683130, 0.625000, 0.478261),
    ("r0", "r3"): (9, 0.588642, 0.582816, 0.888889, 0.850000),
    ("r1", "r2"): (9, 0.783295, 0.918559, 0.666667, 0.542373),
    ("r1", "r3"): (10, 0.876781, 0.883562, 0.900000, 0.870130),
    ("r2", "r3"): (10, 0.883813, 0.907360, 0.700000, 0.615385),
    ("r0", "rest"): (9, 0.756042, 0.790030, None, None),
    ("r1", "rest"): (10, 0.977035, 0.983702, None, None),
    ("r2", "rest"): (10, 0.911441, 0.937988, None, None),
    ("r3", "rest"): (11, 0.882785, 0.885370, None, None),
}


def test_agreement_is_that_of_krippendorff_and_sklearn():
    rows = evaluated(rated(PAPER)).raters
    near = {"abs": 5e-7}  # the peers' numbers are written with six digits
    whole = rows[0]
    assert whole["alpha"] == pytest.approx(0.815388, **near)
    assert (whole["rater"], whole["against"], whole["scale"]) == (None, None, "ordinal")
    assert (whole["n"], whole["n_ratings"], whole["n_raters"]) == (11, 40, 4)  # one unit has one rating
    found = {tuple(sorted((row["rater"], row["against"]))): row for row in rows[1:]}
    assert set(found) == set(PEERS)
    for pair, numbers in PEERS.items():
        ours = [found[pair][name] for name in ("n", "alpha", "pearson", "same", "kappa")]
        assert ours == pytest.approx(numbers, **near)
    first = found["r0", "rest"]
    assert first["mean"] == pytest.approx(19 / 9)  # 1 2 3 3 2 1 4 1 2
    assert first["deviation"] == pytest.approx(np.std([1, 2, 3, 3, 2, 1, 4, 1, 2], ddof=1))
    assert (first["scale"], found["r0", "r1"]["scale"]) == ("interval", "ordinal")  # the rest is a mean


@pytest.mark.parametrize(
    ("change", "scale", "alpha"),
    [
        (lambda r: r * 0.37, "interval", 0.849107),  # krippendorff.alpha(..., level_of_measurement="interval")
        (lambda r: float(r > 2), "nominal", 0.770202),  # likewise, "nominal"
        (lambda r: 20 * r, "ordinal", 0.815388),  # grades in steps of twenty are grades
    ],
)
def test_the_scale_is_that_of_the_ratings(change, scale, alpha):
    row = evaluated(rated([[r if r is None else change(r) for r in one] for one in PAPER])).raters[0]
    assert row["scale"] == scale
    assert row["alpha"] == pytest.approx(alpha, abs=5e-7)


def test_twelve_grades_are_amounts_and_eleven_are_grades():
    for n, scale in ((11, "ordinal"), (12, "interval")):
        table = [list(range(n)), list(range(n))[::-1]]
        assert evaluated(rated(table)).raters[0]["scale"] == scale


def test_grades_stay_grades_where_a_rater_rated_twice():
    # the rater's own mean is 1.5, which is no grade; what was given are grades
    data = rated([[1, 2, 3], [1, 3, 3]])
    again = Segment("0", "text", item="0", human={"adequacy": [1, 2, 1]}, raters={"adequacy": ("r0", "r0", "r1")})
    rows = evaluated(Dataset((again, *data.segments[1:]))).raters
    assert rows[0]["scale"] == "ordinal"
    assert rows[0]["n_ratings"] == 6


def test_the_interval_of_alpha_draws_whole_items():
    # Five outputs for each item agree alike, so that twice as many units from the same items say no more: the interval
    # of 3 x 40 units in 40 items is that of the items' own sums, not the narrower one of 120 independent units.
    rng = np.random.default_rng(0)
    truth = np.repeat(rng.normal(size=40), 3)
    shared = np.repeat(rng.normal(size=(2, 40)), 3, axis=1)  # what a rater makes of an item
    table = truth + shared
    items = [str(i // 3) for i in range(120)]
    low, high = alpha_interval(table, "interval", items)
    alone = alpha_interval(table, "interval", range(120))
    assert low < krippendorff(table).value < high
    assert high - low > 1.4 * (alone[1] - alone[0])  # sqrt(3) = 1.73 where outputs of an item are copies
    once = alpha_interval(table[:, ::3], "interval", range(40))
    assert (low, high) == pytest.approx(once, abs=0.01)  # alpha of copies differs a little: (n - 1) / n of 240 and 80


def test_the_interval_covers_alpha():
    # Two raters, truth and noise of one size: alpha is 1/2. Of 200 sets of 50 items, 95 % would be 190; the percentile
    # bootstrap reaches 90 % at least, 180, less three standard deviations of the count, 3 * sqrt(200 * .9 * .1) = 13.
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(200):
        table = rng.normal(size=50) + rng.normal(size=(2, 50))
        low, high = alpha_interval(table, "interval", range(50), draws=200, seed=rng)
        hits += low <= 0.5 <= high
    assert hits >= 167


def test_one_item_says_nothing_of_others():
    assert all(map(np.isnan, alpha_interval([[1, 2], [1, 3]], "ordinal", ["a", "a"])))
    assert all(map(np.isnan, alpha_interval([[1, N], [N, 3]], "ordinal", ["a", "b"])))


@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=5, max_size=5), min_size=2, max_size=4),
    st.permutations(range(4)),
)
def test_the_order_of_raters_changes_nothing(table, order):
    names = [f"r{i}" for i in range(len(table))]
    order = [i for i in order if i < len(table)]
    given_ratings = [value for row in table for value in row if value is not None]
    if len(set(given_ratings)) < 2:
        return
    one, other = outcome(table, names), outcome([table[i] for i in order], [names[i] for i in order])
    assert one == pytest.approx(other, abs=1e-9, nan_ok=True)  # sums of another order


def outcome(table, names):
    """Alpha, and the ceiling of one rater by metric; nothing where there is no number at all."""
    data = rated(table, names=names)
    try:
        found = evaluated(data, {"m": dict(zip([s.id for s in data], [3, 1, 4, 1, 5], strict=True))})
    except InputError:
        return {}
    alpha = found.raters[0]["alpha"]
    values = {row["metric"]: row["value"] for row in found.ceiling if row["left_out"] == "one"}
    return {"alpha": np.nan if alpha is None else alpha, **values}


def test_where_every_segment_has_one_rating_agreement_is_not_seen():
    found = evaluated(rated([[1, 2, N, N], [N, N, 3, 4]]))
    whole, *others = found.raters
    assert (whole["n"], whole["n_ratings"], whole["n_raters"], whole["alpha"]) == (0, 0, 2, None)
    assert [(row["n"], row["mean"]) for row in others] == [(0, 1.5), (0, 3.5)]  # how severe each is can be seen
    assert all(np.isnan(row["alpha"]) for row in others)
    assert found.ceiling == ()
    said = "adequacy: every segment has one rating, or a mean alone: agreement cannot be seen, nor a ceiling; give"
    assert any(n.startswith(said) for n in found.notes)


def test_ratings_without_names_have_alpha_and_no_raters():
    found = evaluated(rated(PAPER))
    bare = Dataset(tuple(Segment(s.id, "text", item=s.item, human=s.human) for s in rated(PAPER)))
    nameless = evaluated(bare)
    assert len(nameless.raters) == 1
    assert nameless.raters[0] == {**found.raters[0], "n_raters": None}
    assert any("nobody says who rated, so that alpha rests on ratings without names" in n for n in nameless.notes)


def test_a_number_of_nobody_has_no_alpha_to_rest_on():
    data = Dataset(tuple(Segment(str(i), "text", item=str(i), human={"adequacy": float(i)}) for i in range(3)))
    found = evaluated(data)
    assert [(row["n"], row["n_raters"], row["alpha"]) for row in found.raters] == [(0, None, None)]
    assert not any("alpha rests on" in n for n in found.notes)


def test_ratings_of_nobody_among_those_of_raters_are_counted():
    data = rated([[1, 2, 3, 4], [1, 2, 4, 4]])
    more = Segment("x", "text", item="x", human={"adequacy": [1, 5]})
    found = evaluated(Dataset((*data.segments, more)))
    assert found.raters[0]["n"] == 4
    assert any("2 ratings name no rater and are left out" in n for n in found.notes)


def test_of_many_pairs_those_with_most_segments_in_common_are_shown():
    # Eleven raters make 55 pairs. The last rated one segment, so that its ten pairs are those left out.
    rng = np.random.default_rng(0)
    table = rng.integers(1, 6, (11, 20)).tolist()
    table[10] = [table[10][0], *[None] * 19]
    found = evaluated(rated(table))
    pairs = [row for row in found.raters if row["against"] not in (None, "rest")]
    assert {(row["rater"], row["against"]) for row in pairs} == set(combinations([f"r{i}" for i in range(10)], 2))
    assert any("the 45 pairs of raters with most segments in common, of 55" in n for n in found.notes)


def test_groups_have_raters_of_their_own():
    parts = [rated(PAPER, group=group, names=[f"{group}{i}" for i in range(4)]) for group in ("he-en", "ru-en")]
    found = evaluated(Dataset(tuple(s for part in parts for s in part)))
    whole = [row for row in found.raters if row["rater"] is None]
    assert [(row["group"], row["n_raters"]) for row in whole] == [("he-en", 4), ("ru-en", 4)]
    assert whole[0]["alpha"] == whole[1]["alpha"]
    names = {(row["group"], row["rater"][:5]) for row in found.raters if row["rater"] is not None}
    assert names == {("he-en", "he-en"), ("ru-en", "ru-en")}


def test_a_mean_of_criteria_has_no_raters():
    both = [Segment(str(i), "t", item=str(i), human={"a": [i, 3], "b": [3, i % 2]}) for i in range(4)]
    found = evaluated(Dataset(tuple(both)), criterion="mean")
    assert (found.raters, found.ceiling) == ((), ())
    assert any("mean: no ratings of people stand behind it" in n for n in found.notes)


def test_agreement_of_raters_without_their_severity():
    # r1 gives one grade more than r0 on each segment: as they stand they differ, and in standard deviations they agree.
    data = rated([[1, 2, 3, 4, 1], [2, 3, 4, 5, 2]])
    plain, z = (evaluated(data, criterion=name) for name in ("adequacy", "adequacy.z"))
    assert plain.raters[0]["alpha"] < 0.9
    assert z.raters[0]["alpha"] == pytest.approx(1)
    assert z.raters[0]["scale"] == "interval"
    assert of(z.ceiling, metric="people")["value"] == pytest.approx(1)


# --- The ceiling


def grid(seed=0, raters=3, systems=5, items=8, gaps=0.2):
    """Grades by raters, with gaps, and two metrics; the first systems are worse."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=items * systems) + np.arange(items * systems) % systems * 0.5
    table = np.clip(np.rint(truth + rng.normal(size=(raters, len(truth))) + 3), 1, 5)
    table[rng.random(table.shape) < gaps] = np.nan
    metrics = {f"m{i}": truth + rng.normal(size=len(truth)) * (1 + i) for i in range(2)}
    return [[None if np.isnan(v) else float(v) for v in row] for row in table], metrics


def by_hand(table, column, systems, statistic):
    """The statistic of a column (None for the rater left out) with the mean of the others, by rater left out."""
    table = np.array(table, dtype=float)
    values = []
    for out in range(len(table)):
        gold = np.full(table.shape[1], np.nan)
        for i in range(table.shape[1]):
            stay = [table[r, i] for r in range(len(table)) if r != out and not np.isnan(table[r, i])]
            if stay and not np.isnan(table[out, i]):
                gold[i] = sum(sorted(stay)) / len(stay)
        x = table[out] if column is None else column
        values.append(statistic(x, gold, systems))
    return values


def segment_pearson(x, gold, systems):
    both = ~np.isnan(gold)
    return np.corrcoef(x[both], gold[both])[0, 1]


def item_kendall(x, gold, systems):
    taus = []
    for start in range(0, len(gold), systems):
        at = [i for i in range(start, start + systems) if not np.isnan(gold[i])]
        taus.append(scipy.stats.kendalltau(x[at], gold[at])[0] if len(at) > 1 else np.nan)
    return np.nanmean(taus)


def system_accuracy(x, gold, systems):
    right, pairs = 0, 0
    own = [[i for i in range(s, len(gold), systems) if not np.isnan(gold[i])] for s in range(systems)]
    for one, other in combinations([at for at in own if at], 2):
        by_metric, by_people = (v[one].mean() - v[other].mean() for v in (x, gold))
        if by_people:
            pairs += 1
            right += by_metric * by_people > 0
    return right / pairs


@pytest.mark.parametrize(
    ("stat", "level", "statistic"),
    [
        ("pearson", "segment", segment_pearson),
        ("kendall_b", "item", item_kendall),
        ("pairwise_accuracy", "system", system_accuracy),
    ],
)
def test_the_ceiling_is_that_of_a_loop_written_out(stat, level, statistic):
    table, metrics = grid()
    found = evaluated(rated(table, systems=5), metrics, stats=stat, level=level)
    for name, column in {"people": None, **metrics}.items():
        values = by_hand(table, column, 5, statistic)
        row = of(found.ceiling, metric=name, left_out="one")
        numbers = [row["value"], row["low"], row["high"]]
        assert numbers == pytest.approx([np.mean(values), min(values), max(values)], abs=1e-12)  # the same sums
        assert row["n_splits"] == 3
        people = of(found.ceiling, metric="people", left_out="one")["value"]
        assert row.get("passed") == (None if name == "people" else row["value"] >= people)
    assert {row["left_out"] for row in found.ceiling} == {"one"}  # halves of three are one and two


def test_halves_of_four_raters_are_three_splits_both_ways():
    table, metrics = grid(raters=4)
    found = evaluated(rated(table, systems=5), metrics)
    values = np.array(table, dtype=float)
    expected = []
    for pair in ((0, 1), (0, 2), (0, 3)):
        rest = [i for i in range(4) if i not in pair]
        a, b = (np.ma.masked_invalid(values[some]).mean(axis=0).filled(np.nan) for some in (list(pair), rest))
        both = ~np.isnan(a) & ~np.isnan(b)
        expected.append(np.corrcoef(a[both], b[both])[0, 1])
    row = of(found.ceiling, metric="people", left_out="half")
    assert row["value"] == pytest.approx(np.mean(expected), abs=1e-12)  # the same sums
    assert row["n_splits"] == 6


def test_a_rater_who_rated_few_segments_is_not_left_out():
    table, metrics = grid(gaps=0)
    table[2] = [v if i < 10 else None for i, v in enumerate(table[2])]  # 10 of 40
    found = evaluated(rated(table, systems=5), metrics)
    assert of(found.ceiling, metric="people")["n_splits"] == 2
    assert any("each of 2 raters in turn is left out" in n for n in found.notes)


def simulated(n, raters, noise, seed=0):
    """Truth of variance 1; each rater adds noise of variance 1, a metric as much as it is said."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=n)
    return (truth + rng.normal(size=(raters, n))).tolist(), {"m": truth + rng.normal(size=n) * noise}


def test_the_ceiling_lies_where_theory_says():
    # One rater has variance 2, the mean of three others 1 + 1/3, and they share the truth: r = 1 / sqrt(2 * 4/3).
    # Halves of two: 1 / (1 + 1/2). A metric with noise of variance v: 1 / sqrt((1 + v) * 4/3). With 4000 segments r
    # has a standard error of at most (1 - r^2) / sqrt(4000) = .011.
    table, metrics = simulated(4000, 4, 0.5)
    found = evaluated(rated(table), metrics)
    expected = {("people", "one"): (2 * 4 / 3) ** -0.5, ("people", "half"): 2 / 3, ("m", "one"): (1.25 * 4 / 3) ** -0.5}
    for (metric, left_out), r in expected.items():
        assert of(found.ceiling, metric=metric, left_out=left_out)["value"] == pytest.approx(r, abs=0.03)
    assert of(found.ceiling, metric="m", left_out="one")["passed"] is True  # .775 beside .612
    note = "pearson at level segment, adequacy: m passed the ceiling of one rater left out (0.6"
    assert any(n.startswith(note) and "these ratings cannot tell it from people" in n for n in found.notes)


def test_a_metric_with_more_noise_than_a_rater_stays_below():
    table, metrics = simulated(4000, 4, 1.5)
    found = evaluated(rated(table), metrics)
    assert of(found.ceiling, metric="m", left_out="one")["passed"] is False  # 1 / sqrt(3.25 * 4/3) = .480
    assert not any("passed" in n for n in found.notes)


@pytest.mark.parametrize("named", [True, False])
def test_of_a_crowd_one_rating_of_each_segment_is_drawn(named):
    # Two of forty people rated each segment, or nobody says who: of two ratings the one is held against the other, and
    # r = 1/2 as theory has it. Which is drawn moves it a little.
    table, metrics = simulated(4000, 2, 0.5)
    segments = [
        Segment(
            str(i),
            "text",
            item=str(i),
            human={"adequacy": list(pair)},
            raters={"adequacy": (f"w{i % 40}", f"w{(i + 1) % 40}")} if named else {},
        )
        for i, pair in enumerate(zip(*table, strict=True))
    ]
    found = evaluated(Dataset(tuple(segments)), metrics)
    row = of(found.ceiling, metric="people")
    assert row["value"] == pytest.approx(0.5, abs=0.04)  # a standard error of .012
    assert (row["n_splits"], row["n"], row["left_out"]) == (20, 4000, "one")
    assert any("one rating of each segment, drawn 20 times (seed 0), is left out" in n for n in found.notes)
    again = evaluated(Dataset(tuple(segments)), metrics)
    assert again.ceiling == found.ceiling
    other = evaluated(Dataset(tuple(segments)), metrics, seed=1)
    assert of(other.ceiling, metric="people")["value"] != row["value"]


def test_of_a_crowd_half_of_four_ratings_are_two():
    table, metrics = simulated(4000, 4, 0.5)
    segments = [
        Segment(str(i), "text", human={"adequacy": list(four)}) for i, four in enumerate(zip(*table, strict=True))
    ]
    found = evaluated(Dataset(tuple(segments)), metrics)
    assert of(found.ceiling, metric="people", left_out="half")["value"] == pytest.approx(2 / 3, abs=0.04)
    assert of(found.ceiling, metric="people", left_out="one")["value"] == pytest.approx((2 * 4 / 3) ** -0.5, abs=0.04)


def test_controls_stand_beside_and_pass_nothing():
    table, metrics = grid()
    found = evaluated(rated(table, systems=5), metrics, level="item", stats="acc_eq")
    controls = [row for row in found.ceiling if row.get("control")]
    assert {row["metric"] for row in controls} == {"sentinel:side=hypothesis", "sentinel:item-mean"}
    assert not any("passed" in row for row in controls)


def test_a_control_that_people_do_not_beat_is_named():
    # Ratings follow the item alone, and so does the mean of all metrics over an item; raters are noise within.
    rng = np.random.default_rng(0)
    items = np.repeat(rng.normal(size=200), 3)
    table = items + rng.normal(size=(2, 600)) * 2
    metrics = {"m": items + rng.normal(size=600) * 0.1}
    found = evaluated(rated(table.tolist(), systems=3), metrics)
    assert any(
        "without comparing texts, sentinel:item-mean passed the ceiling of one rater left" in n for n in found.notes
    )


def test_several_groups_have_their_mean():
    parts, scores = [], {}
    for group, seed in (("he-en", 0), ("ru-en", 1)):
        table, metrics = grid(seed)
        part = rated(table, systems=5, group=group, names=[f"{group} {i}" for i in range(3)])
        scores |= dict(zip([s.id for s in part], metrics["m0"], strict=True))
        parts += part.segments
    found = evaluated(Dataset(tuple(parts)), {"m0": scores})
    for metric in ("people", "m0"):
        own = [of(found.ceiling, metric=metric, group=group) for group in ("he-en", "ru-en", "mean")]
        assert own[2]["value"] == pytest.approx((own[0]["value"] + own[1]["value"]) / 2, abs=1e-12)  # one sum
        assert own[2]["n_splits"] == 6
        assert own[2]["n"] == pytest.approx(own[0]["n"] + own[1]["n"])
        assert np.isnan(own[2]["low"])


def test_what_has_no_ceiling_is_said_with_its_reason():
    # At level system two systems are too few where both sides rated: the third has one rating a segment.
    table, metrics = grid(systems=3, gaps=0)
    table = [[v if r == 0 or i % 3 else None for i, v in enumerate(row)] for r, row in enumerate(table)]
    found = evaluated(rated(table, systems=3), metrics, stats="pearson", level="system")
    assert all(np.isnan(row["value"]) and row["n_splits"] == 0 for row in found.ceiling)
    (note,) = [n for n in found.notes if "no ceiling for pearson at level system" in n]
    assert "one rater left out: pearson at level 'system' needs 3 rated systems or more" in note


def test_people_alone_need_no_metric():
    table, _ = grid()
    found = evaluated(rated(table, systems=5), level="item", stats="kendall_b")
    assert found.rows == ()
    assert of(found.ceiling, metric="people")["value"] == pytest.approx(np.mean(by_hand(table, None, 5, item_kendall)))
    with pytest.raises(InputError, match="no metric and no scores are given"):
        evaluated(rated(table, systems=5), baseline="m0")
    with pytest.raises(InputError, match="no metric and no scores are given"):
        meta_evaluate(rated(table, systems=5))


def test_one_rater_has_no_ceiling_and_the_other_fields_stay():
    found = evaluated(rated([[1, 2, 3]]), {"m": [1, 2, 4]})
    assert found.row("m")["value"] > 0.9
    assert found.ceiling == ()
    assert [(row["rater"], row["n"]) for row in found.raters] == [(None, 0), ("r0", 0)]


def test_pairs_have_no_raters():
    data = Dataset((Segment("a", "t", item="1"), Segment("b", "u", item="1")))
    pairs = Preferences((Preference(Key("a"), Key("b")),))
    with pytest.raises(InputError, match="raters are those of ratings, and pairs have none"):
        meta_evaluate(data, "chrf", stats="rr_kendall", pairs=pairs, raters=True)


def test_without_raters_nothing_is_looked_at():
    table, metrics = grid()
    found = meta_evaluate(rated(table, systems=5), scores=metrics)
    assert (found.raters, found.ceiling) == ((), ())
    assert "raters" not in found.result().as_json()


def test_draws_and_seed_are_those_of_alpha_where_nothing_else_draws():
    table, _ = grid()
    rows = [evaluated(rated(table, systems=5), draws=50, seed=seed).raters[0] for seed in (0, 0, 1)]
    assert rows[0] == rows[1]
    assert rows[0]["low"] != rows[2]["low"]
    assert evaluated(rated(table), draws=50).result().settings["draws"] == 50


def test_two_raters_of_answerability(data_folder):
    # The two people of Nema and Khapra (2018) are columns of their data; as raters they have the agreement of columns.
    dataset, _ = read_set([str(data_folder / "answerability-qg/segments.jsonl.gz")])
    columns = np.array([[s.human["rater1"], s.human["rater2"]] for s in dataset]).T
    segments = tuple(
        Segment(s.id, s.hypothesis, s.references, item=s.item, group=s.group, human={"answerability": list(two)},
                raters={"answerability": ("rater1", "rater2")})
        for s, two in zip(dataset, columns.T.tolist(), strict=True)
    )  # fmt: skip
    found = evaluated(Dataset(segments))
    groups = np.array([s.group for s in dataset])
    for group in np.unique(groups):
        own = columns[:, groups == group]
        row = of(found.raters, group=group, rater="rater1", against="rater2")
        assert row["pearson"] == pytest.approx(np.corrcoef(own)[0, 1], abs=1e-12)  # the same sums
        assert row["same"] == (own[0] == own[1]).mean()
        people = of(found.ceiling, group=group, metric="people")
        assert people["value"] == pytest.approx(np.corrcoef(own)[0, 1], abs=1e-12)
        assert people["n_splits"] == 2


def test_severity_is_taken_out_in_each_group_alone():
    tables = {
        "de": [[1, 2, 3, 5], [2, 2, 4, 5]],
        "fr": [[60, 70, 65, 90], [80, 75, 95, 99]],
    }  # r0 and r1 in other moods
    alone = {group: rated(table, group=group) for group, table in tables.items()}
    together = Dataset(tuple(segment for data in alone.values() for segment in data))
    found = evaluated(together, criterion="adequacy.z")
    for group, data in alone.items():
        own = of(evaluated(data, criterion="adequacy.z").raters, rater="r0", against="r1")
        assert of(found.raters, group=group, rater="r0", against="r1")["alpha"] == pytest.approx(
            own["alpha"], abs=1e-12
        )
