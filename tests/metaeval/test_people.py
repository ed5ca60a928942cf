"""People rank the systems: worked by hand, against loops written out, and beside the tables of WMT."""

import gzip
import json
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.wmt.mtme import read_official
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.joined import JoinedScores, judged, stored_signature
from nlgauge.metaeval.people import people_rows
from nlgauge.stats.power import mean_power
from nlgauge.stats.ratings import RatedItems, rated_interval
from nlgauge.stats.tests import adjusted, rank_clusters


def held(table, scores=None, raters="ab", group=None, **more):
    """Joined scores from ratings [system][item][rater] and scores metric -> [system][item]."""
    segments, values = [], []
    for s, rows in enumerate(table):
        for i, row in enumerate(rows):
            who = tuple(raters[r] for r, x in enumerate(row) if x is not None) if raters else ()
            given = [float(x) for x in row if x is not None]
            about = {"system": f"s{s}", "item": str(i), "group": group}
            named = {"q": who} if who else {}
            segments.append(Segment(f"{group}.{s}.{i}", "x", human={"q": given}, raters=named, **about))
            values.append(np.mean(given) if given else np.nan)
    ids = tuple(segment.id for segment in segments)
    made = {name: Scores(stored_signature(name, ""), ids, np.ravel(x)) for name, x in (scores or {}).items()}
    return JoinedScores(tuple(segments), {"q": np.array(values)}, made, **more)


def of_people(rows):
    return {row["system"]: row for row in rows if row["metric"] == "human.q"}


# Ratings of six items by two people; s1 is 3 below s0 on each item, give or take one, s2 as good as s0 on average
BEST = [[7, 8], [6, 8], [9, 9], [5, 6], [8, 8], [7, 7]]
TABLE = [BEST, [[x - 3, y - 4] for x, y in BEST], [[8, 8], [7, 6], [8, 9], [6, 7], [8, 7], [6, 7]]]


def test_a_ranking_by_hand():
    # means 44/6, 23/6 and 43.5/6. Six items of one sign have p = 2 / 2^6 = .03 by all 64 swaps; Holm's step takes three
    # times that for the first pair, so that no rank begins
    rows, notes = people_rows(held(TABLE), draws=20000)
    assert [(row["system"], row["rank"], row["n"], row["n_raters"]) for row in rows] == [
        ("s0", 1, 6, 2),
        ("s2", 1, 6, 2),
        ("s1", 1, 6, 2),
    ]
    assert [row["value"] for row in rows] == pytest.approx([44 / 6, 43.5 / 6, 23 / 6])
    assert all(row["criterion"] == "q" and row["group"] is None and row["metric"] == "human.q" for row in rows)
    own = rated_interval(RatedItems(np.repeat(np.arange(6), 2), np.tile([0, 1], 6), np.ravel(BEST).astype(float)))
    assert (rows[0]["low"], rows[0]["high"]) == pytest.approx((own.low, own.high))
    apart = np.mean(TABLE[0], axis=1) - np.mean(TABLE[2], axis=1)
    needed = mean_power(sd=float(np.std(apart, ddof=1)), effect=float(apart.mean()), power=0.8, alpha=0.05 / 3).n
    assert [rows[0]["items_needed"], rows[2]["items_needed"]] == [needed, None]  # nobody is below the last
    assert any("items and raters (2 for a system)" in note for note in notes)
    assert any(note.startswith("items_needed: power .8") for note in notes)


def twice(table):
    return [rows + rows for rows in table]


def test_twelve_items_tell_the_last_apart_and_a_metric_exchanges_it():
    # 2 / 2^12 * 3 = .0015; by the metric, of which lower is better, s1 is ahead of both, and s0 and s2 are equal
    scores = Scores(stored_signature("ter", ""), (), np.empty(0), higher_is_better=False)
    found = held(twice(TABLE), {"ter": [[2.0] * 12, [1.0] * 12, [2.0] * 12]})
    made = {
        "ter": Scores(scores.signature, found.scores["ter"].ids, found.scores["ter"].values, higher_is_better=False)
    }
    rows, _ = people_rows(JoinedScores(found.segments, found.human, made))
    assert {name: row["rank"] for name, row in of_people(rows).items()} == {"s0": 1, "s2": 1, "s1": 2}
    assert of_people(rows)["s2"]["items_needed"] is None  # told apart from the next
    assert [(r["system"], r["value"], r["rank"], r["exchanged"]) for r in rows if r["metric"] == "ter"] == [
        ("s0", 2, 2, ["s1"]),
        ("s2", 2, 2, ["s1"]),
        ("s1", 1, 1, []),
    ]


def test_a_metric_that_judges_nothing_has_no_place_and_one_undefined_none_either():
    scores = {"length": [[1.0] * 6] * 3, "m": [[1.0] * 6, [np.nan] * 6, [2.0] * 6]}
    rows, _ = people_rows(held(TABLE, scores, describing=frozenset({"length"})))
    assert {row["metric"] for row in rows} == {"human.q", "m"}
    assert {row["system"]: (row["value"], row["rank"]) for row in rows if row["metric"] == "m"} == {
        "s0": (1, 2),
        "s1": (None, None),
        "s2": (2, 1),
    }


cells = st.lists(st.none() | st.integers(0, 4), min_size=2, max_size=2)


@settings(max_examples=25)
@given(st.lists(st.lists(cells, min_size=4, max_size=4), min_size=2, max_size=4), st.data())
def test_ranks_and_exchanges_are_those_of_loops(table, data):
    rated = [rows for rows in table if any(x is not None for row in rows for x in row)]
    metric = data.draw(st.lists(st.integers(0, 3), min_size=len(rated), max_size=len(rated)))
    rows, _ = people_rows(held(rated, {"m": [[float(x)] * 4 for x in metric]}), draws=40)
    items = [
        [np.mean([x for x in row if x is not None]) if row != [None, None] else np.nan for row in r] for r in rated
    ]
    means = [np.nanmean(own) for own in items]
    people = of_people(rows)
    assert [people[f"s{s}"]["value"] for s in range(len(rated))] == pytest.approx(means)
    assert [people[f"s{s}"]["n"] for s in range(len(rated))] == [int((~np.isnan(own)).sum()) for own in items]
    pairs = [*combinations(range(len(rated)), 2)]
    for row in rows:
        if row["metric"] == "m":
            s = int(row["system"][1:])
            assert row["rank"] == 1 + sum(other > metric[s] for other in metric)
            assert all(metric[int(name[1:])] > metric[s] for name in row["exchanged"])
            # of four items no p is below 2 / 2^4
            assert row["exchanged"] == []
    common = [sum(not np.isnan(a + b) for a, b in zip(items[i], items[j], strict=True)) for i, j in pairs]
    assert all((row["rank"] is None) == (max(common, default=0) < 2) for row in people.values())


def test_with_many_items_exchanges_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    effects = [0.0, 0.1, 0.8, 1.5, 1.6]
    table = [(effect + rng.normal(size=(40, 2))).tolist() for effect in effects]
    metric = [3.0, 1.0, 2.0, 0.5, 4.0]
    rows, _ = people_rows(held(table, {"m": [[x] * 40 for x in metric]}), draws=4000)
    means = np.mean(table, axis=2)  # (S, N)
    p = np.full((5, 5), np.nan)
    left, right = np.triu_indices(5, 1)
    swaps = np.random.default_rng(1).choice([-1, 1], size=(4000, 40))
    for i, j in zip(left, right, strict=True):
        apart = means[i] - means[j]
        p[i, j] = (1 + (np.abs(swaps @ apart) >= abs(apart.sum()) - 1e-9).sum()) / 4001
    p[left, right] = p[right, left] = adjusted(p[left, right], "holm")
    better = means.mean(axis=1)[:, None] > means.mean(axis=1)
    # the nearest p to .05 is not so near that other draws decide otherwise
    assert np.nanmin(np.abs(p - 0.05)) > 0.01
    ranks = rank_clusters(means.mean(axis=1), np.where(better & ~np.isnan(p), p, 1.0))
    assert [of_people(rows)[f"s{s}"]["rank"] for s in range(5)] == ranks.tolist()
    exchanged = {row["system"]: {*row["exchanged"]} for row in rows if row["metric"] == "m"}
    assert exchanged == {
        f"s{i}": {f"s{j}" for j in range(5) if p[i, j] < 0.05 and better[i, j] and metric[j] > metric[i]}
        for i in range(5)
    }
    assert any(exchanged.values())


def test_one_system_has_a_row_alone_and_systems_without_names_have_none():
    (row,), notes = people_rows(held(TABLE[:1], {"m": [[1.0] * 6]}))
    assert (row["system"], row["rank"], row["items_needed"]) == ("s0", None, None)
    assert row["low"] < row["value"] < row["high"]
    assert not any("people rank no systems" in note for note in notes)
    nameless = held(TABLE)
    nameless = JoinedScores(tuple(Segment(s.id, "x", human=s.human) for s in nameless.segments), nameless.human, {})
    rows, notes = people_rows(nameless)
    assert rows == []
    assert notes == ["people rank no systems, since segments name none (--columns system=NAME)"]


def test_systems_that_share_no_items_are_listed_and_not_ranked():
    apart = [BEST + [[None, None]] * 6, [[None, None]] * 6 + [[1, 2]] * 6]
    rows, notes = people_rows(held(apart, {"m": [[1.0] * 12, [2.0] * 12]}))
    assert [(row["system"], row["rank"]) for row in rows] == [("s0", None), ("s1", None), ("s0", 2), ("s1", 1)]
    assert notes[-1] == "people rank no systems, since no two have ratings of the same two items or more"
    assert all(row["exchanged"] == [] for row in rows[2:])


def test_without_names_of_raters_intervals_are_over_items_and_no_raters_are_counted():
    rows, notes = people_rows(held(TABLE, raters=None))
    assert {row["n_raters"] for row in rows} == {None}
    assert any(note.startswith("nobody says who rated") for note in notes)


def test_groups_are_ranked_alone_and_one_without_ratings_has_no_rows():
    parts = [held(TABLE, group="xx"), held(TABLE[:2], group="yy"), held([[[None, None]] * 2] * 2, group="zz")]
    joined = JoinedScores(
        tuple(s for part in parts for s in part.segments), {"q": np.concatenate([p.human["q"] for p in parts])}, {}
    )
    rows, _ = people_rows(joined)
    assert [(row["group"], row["system"]) for row in rows] == [
        ("xx", "s0"),
        ("xx", "s2"),
        ("xx", "s1"),
        ("yy", "s0"),
        ("yy", "s1"),
    ]


def test_runs_of_one_item_are_one():
    twin = Dataset(
        tuple(
            Segment(f"{s}{i}{run}", "x", system=s, item=str(i), human={"q": [v + run]}, raters={"q": ("a",)})
            for s, v in (("A", 1.0), ("B", 5.0))
            for i in range(3)
            for run in (0, 1)
        )
    )
    segments, human, _ = judged(twin, ["q"])
    rows, _ = people_rows(JoinedScores(segments, human, {}))
    assert [(row["system"], row["value"], row["n"]) for row in rows] == [("B", 5.5, 3), ("A", 1.5, 3)]


@pytest.mark.parametrize("criterion", ["mean", "q.z"])
def test_the_mean_of_criteria_and_z_are_ranked_like_others(criterion):
    segments = [
        Segment(s.id, "x", system=s.system, item=s.item, human={**s.human, "p": s.human["q"][0]}, raters=s.raters)
        for s in held(TABLE).segments
    ]
    kept, human, _ = judged(Dataset(tuple(segments)), [criterion])
    rows, _ = people_rows(JoinedScores(kept, human, {}))
    assert {row["metric"] for row in rows} == {f"human.{criterion}"}
    assert {row["n_raters"] for row in rows} == {None if criterion == "mean" else 2}
    if criterion == "q.z":  # each rater's mean is 0
        assert sum(row["value"] for row in rows) == pytest.approx(0, abs=1e-12)


# --- Beside the tables of WMT

# wmt-conference/wmt24-news-systems, humeval/generated_human_ranking.tex, English-Czech: means over domains of all four
# waves of ratings, 906 a system, of which waves 2 and 3 are here (297 items)
WMT24 = {
    "refA": 92.8,
    "Unbabel-Tower70B": 91.6,
    "Claude-3.5": 91.2,
    "ONLINE-W": 88.9,
    "CUNI-MH": 88.7,
    "Gemini-1.5-Pro": 88.2,
    "GPT-4": 87.7,
    "CommandR-plus": 86.9,
    "IOL-Research": 86.5,
    "SCIR-MT": 85.5,
    "CUNI-DocTransformer": 84.3,
    "Aya23": 84.2,
    "CUNI-GA": 82.1,
    "IKUN": 81.8,
    "Llama3-70B": 77.4,
    "IKUN-C": 75.2,
}


@pytest.fixture(scope="module")
def english_czech(data_folder):
    rows = []
    for name in ("segments_en-cs", "segments_en-cs_refA"):
        with gzip.open(data_folder / "wmt24-esa" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            rows += [json.loads(line) for line in file]
    return rows


def wmt_p(one, other, domains):
    """Their test of two systems: Wilcoxon's signed ranks in each domain, two-sided p joined by Stouffer's method.

    Two-sided p are joined whichever side is ahead, so a system that is better in one domain and worse in another is
    told apart all the same.
    """
    z = []
    for own in domains.values():
        apart = [own[one][item] - own[other][item] for item in own[one] if item in own[other]]
        z.append(scipy.stats.norm.ppf(1 - scipy.stats.wilcoxon(apart).pvalue))
    return 1 - scipy.stats.norm.cdf(np.sum(z) / np.sqrt(len(z)))


def wmt_clusters(order, p):
    """`get_clusters` of humeval/tools.py: a cluster ends where no pair across is above .05."""
    clusters, until, current = {}, -1, 1
    for i, system in enumerate(order):
        until = -1 if until <= i else until
        for j in range(i + 1, len(order)):
            until = max(j, until) if p[i, j] > 0.05 else until
        clusters[system] = current
        current += until == -1
    return clusters


def test_wmt24_english_czech(english_czech):
    domains = {}
    for row in english_czech:
        own = domains.setdefault(row["domain"], {}).setdefault(row["system"], {})
        own[row["seg"]] = row["human"]["esa"]
    theirs = {s: np.mean([np.mean([*own[s].values()]) for own in domains.values()]) for s in WMT24}
    # a third of their ratings: 1.2 points higher on average, up to 3.9, in nearly their order
    gaps = np.array([theirs[s] - WMT24[s] for s in WMT24])
    assert gaps.mean() == pytest.approx(1.2, abs=0.05)
    assert np.abs(gaps).max() == pytest.approx(3.9, abs=0.05)
    assert scipy.stats.kendalltau([*theirs.values()], [*WMT24.values()])[0] == pytest.approx(0.867, abs=0.001)
    # from equal p our ranks are their clusters
    order = sorted(WMT24, key=lambda s: -theirs[s])
    p = np.array([[1.0 if a == b else wmt_p(a, b, domains) for b in order] for a in order])
    clusters = wmt_clusters(order, p)
    assert rank_clusters(np.array([theirs[s] for s in order]), p).tolist() == [clusters[s] for s in order]
    assert max(clusters.values()) == 2
    # ours, on purpose: items count alike, and p is adjusted for 120 pairs. No cluster is left of two
    texts = [
        Segment(r["id"], r["hyp"], system=r["system"], item=r["seg"], human=r["human"], group=r["lp"])
        for r in english_czech
    ]
    rows, _ = people_rows(
        meta_evaluate(Dataset(tuple(texts)), [], scores={"m": [1.0] * len(texts)}, level="system").held
    )
    people = {row["system"]: row for row in rows if row["metric"] == "human.esa"}
    assert {row["rank"] for row in people.values()} == {1}
    assert {row["n"] for row in people.values()} == {297}
    plain = [r["human"]["esa"] for r in english_czech if r["system"] == "refA"]
    assert people["refA"]["value"] == pytest.approx(np.mean(plain))
    assert scipy.stats.kendalltau([people[s]["value"] for s in WMT24], [*WMT24.values()])[0] == pytest.approx(0.9)


def test_wmt23_hebrew_english_has_the_official_numbers(data_folder):
    run = read_official(data_folder / "wmt23-he-en-mtme", lps=["he-en"])
    official = {}
    with open(data_folder / "wmt23-he-en-mtme" / "human-scores" / "he-en.mqm.sys.score", encoding="utf-8") as file:
        for line in file:
            name, number = line.split("\t")
            official[name] = float(number)
    segments, human, _ = judged(run.dataset, ["mqm"])
    rows, _ = people_rows(JoinedScores(segments, human, {}), draws=1000)
    found = {row["system"]: row["value"] for row in rows}
    assert found == pytest.approx({name: official[name] for name in found})  # sums in another order
    assert len(found) == len(official) == 13
