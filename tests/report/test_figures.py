"""Figures of scores: bars begin at 0, intervals stand where they belong, buckets hold as many, and names are text."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from nlgauge.core.result import Result
from nlgauge.core.segment import Segment
from nlgauge.report.drawing import Axes
from nlgauge.report.figures import (
    Buckets,
    FigureBar,
    bar_figures,
    bars,
    bucket_figures,
    buckets_of,
    correlation_figure,
    density,
    legend,
    marks,
    quarter_figures,
    rank_figure,
    scatter_figures,
    system_figures,
)

METRICS = [{"spec": s, "signature": s, "higher_is_better": s != "ter", "range": [0.0, 100.0]} for s in ("m", "ter")]


def result(*rows):
    return Result("score", [{"metric": "m", "low": None, "high": None, "n": 3, **row} for row in rows], (), METRICS)


def test_bars_begin_at_zero_and_end_at_their_value():
    # the axis goes from 0 to 40 over 220 pixels: 10 is 55 wide and 40 is 220
    (figure,) = bar_figures(
        result({"system": "a", "value": 10.0, "low": 5.0, "high": 20.0}, {"system": "b", "value": 40.0})
    )
    assert re.findall(r'<rect [^>]*width="([\d.]+)"', figure.picture) == ["55.0", "220.0"]
    (start, low, high) = re.search(r'<rect x="([\d.]+)".*?<path d="M([\d.]+) [\d.]+H([\d.]+)', figure.picture).groups()
    assert (float(low) - float(start), float(high) - float(start)) == (27.5, 110.0)
    assert figure.title == "m"
    assert [row["value"] for row in figure.numbers] == [10.0, 40.0]


def test_negative_scores_go_the_other_way():
    (figure,) = bar_figures(result({"system": "a", "value": -10.0}, {"system": "b", "value": 30.0}))
    assert re.findall(r'<rect [^>]*width="([\d.]+)"', figure.picture) == ["55.0", "165.0"]


def test_what_is_undefined_or_alone_has_no_bar():
    assert bar_figures(result({"system": "a", "value": float("nan")}, {"system": "b", "value": 1.0})) == []


def test_groups_and_odd_names_are_text():
    rows = [{"system": s, "group": "<g>", "value": 1.0} for s in ("</svg><script>", None)]
    (figure,) = bar_figures(result(*rows))
    shown = ["".join(part.itertext()) for part in ET.fromstring(figure.picture).iter() if part.tag.endswith("}text")]
    assert "<g>: </svg><script>" in shown
    assert "<g>: -" in shown


def test_no_line_of_the_grid_goes_through_a_heading():
    found = [
        FigureBar("a", 1.0, heading="up to 8 words"),
        FigureBar("b", 2.0),
        FigureBar("a", 1.0, heading="9 words or more"),
    ]
    picture = bars("m", found, 2)
    (first, second) = (float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>(?:up to|9 words)', picture))
    spans = {
        (float(a), float(b)) for a, b in re.findall(r'<line [^>]*y1="([\d.]+)" x2="[\d.]+" y2="([\d.]+)"', picture)
    }
    (upper, lower) = sorted(spans)
    assert first < upper[0] < upper[1] < second < lower[0] < lower[1]


# --- Points in shapes that differ, and counts in squares where there are many

AXES = Axes("x", "y", [0.0, 1.0], [0.0, 1.0])


def test_points_of_a_kind_are_one_path_and_kinds_differ_in_shape():
    drawn = [marks(kind, [(1, 2), (3, 4)]) for kind in range(4)]
    assert [one.count("M") for one in drawn] == [2] * 4
    assert len({one.partition("M1.0 2.0")[2].partition("M")[0] for one in drawn}) == 4
    assert marks(0, []) == ""


def test_a_legend_names_every_kind():
    parts = legend(AXES, ["a<b", None])
    assert len(parts) == 4
    assert "a&lt;b" in parts[1]


def test_squares_count_all_points():
    x = np.linspace(0, 1, 900)
    numbers, drawn = density(AXES, x, x, "one", "other")
    assert len(numbers) == len(drawn) == 30
    assert [row["n"] for row in numbers] == [30] * 30
    assert set(numbers[0]) == {"one", "other", "n"}


# --- Ranks by every metric: the best system first, one shade per cluster

RANKS_METRICS = [{"spec": s, "signature": s, "higher_is_better": True, "range": [0.0, 100.0]} for s in ("m", "n")]


def ranks_result(**ranks):
    rows = [
        {"metric": metric, "system": system, "value": 10.0, "n": 3, "rank": rank}
        for system, own in ranks.items()
        for metric, rank in zip("mn", own, strict=True)
    ]
    return Result("score", rows, (), RANKS_METRICS)


def test_systems_stand_by_their_mean_rank():
    # mean ranks: a 2, b 1.5, c 1
    figure = rank_figure(ranks_result(a=(2, 2), b=(1, 2), c=(1, 1)))
    ((_, lines),) = figure.map["blocks"]
    assert [name for name, _, _ in lines] == ["c", "b", "a"]
    assert [cell.text for cell in lines[1][2]] == ["1  (10.00)", "2  (10.00)"]
    first, second = (cell.colour for cell in lines[1][2])
    assert first == lines[0][2][0].colour != second == lines[2][2][0].colour
    assert {(row["system"], row["metric"]): row["rank"] for row in figure.numbers}["b", "n"] == 2


def test_without_ranks_there_is_no_figure():
    assert rank_figure(Result("score", [{"metric": "m", "system": "a", "value": 1.0}], (), RANKS_METRICS)) is None
    assert rank_figure(ranks_result(a=(1, 1))) is None


# --- Means by bucket and systems in quarters, worked by hand

SHORT = Buckets("length", ["short", "long"], np.array([0, 0, 0, 1, 1, -1]))


def test_every_bucket_has_the_mean_of_each_system_with_its_interval():
    columns = {"m": np.array([1.0, 3.0, 8.0, 4.0, np.nan, 99.0])}
    (figure,) = bucket_figures(columns, ["a", "a", "b", "a", "b", "a"], SHORT)
    rows = [(row["bucket"], row["system"], row["value"], row["n"]) for row in figure.numbers]
    assert rows == [("short", "a", 2.0, 2), ("short", "b", 8.0, 1), ("long", "a", 4.0, 1)]
    # mean 2, deviation sqrt(2), Student's 12.706 at one degree of freedom: 2 - 12.706 * sqrt(2) / sqrt(2)
    assert figure.numbers[0]["low"] == pytest.approx(2 - 12.706, abs=1e-3)
    assert np.isnan(figure.numbers[1]["low"])
    assert figure.title == "m by length"
    shown = [e.text for e in ET.fromstring(figure.picture).iter() if e.tag.endswith("}text")]
    assert [text for text in shown if text.startswith(("short", "long"))] == ["short (n 3)", "long (n 1)"]


def test_many_systems_are_taken_together_and_one_bucket_is_no_figure():
    columns = {"m": np.arange(6.0)}
    (figure,) = bucket_figures(columns, list("abcdef"), SHORT)
    assert [(row["system"], row["value"]) for row in figure.numbers] == [("all systems", 1.0), ("all systems", 3.5)]
    assert bucket_figures(columns, ["a"] * 6, Buckets("length", ["one", "two"], np.zeros(6, dtype=np.int64))) == []


def test_quarters_count_the_segments_of_each_system():
    columns = {"ter": np.array([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0])}
    systems = ["a", "a", "b", "a", "b", "b", "b", None]
    (figure,) = quarter_figures(columns, systems, frozenset({"ter"}))
    counts = {}
    for row in figure.numbers:
        counts.setdefault(row["system"], []).append(row["n"])
    assert counts == {"a": [2, 1, 0, 0], "b": [0, 1, 2, 1], "-": [0, 0, 0, 1]}  # lower is better: 8 is the worst
    assert figure.numbers[0]["quarter"] == "worst quarter"
    assert quarter_figures(columns, ["a"] * 8, frozenset()) == []
    assert quarter_figures({"m": np.array([1.0, 2, 1, 2])}, ["a", "a", "b", "b"], frozenset()) == []  # no quarters


# --- Metrics over ratings, and correlations worked by hand

COLUMNS = {
    "m": np.array([1.0, 2.0, 3.0, np.nan]),
    "n": np.array([3.0, 2.0, 1.0, 9.0]),
    "human.q": np.array([1.0, 2.0, 4.0, 5.0]),
}


def test_every_metric_has_a_plot_for_every_criterion():
    figures = scatter_figures(COLUMNS, ["a", "b", "a", "b"])
    assert [figure.title for figure in figures] == ["m and q", "n and q"]
    assert figures[0].numbers[0] == {"system": "a", "q": 1.0, "m": 1.0}
    assert len(figures[0].numbers) == 3  # the fourth has no score
    assert figures[0].picture.count("M") == 3 + 2  # and the legend
    # x - mean: -4/3, -1/3, 5/3; y - mean: -1, 0, 1; r = 3 / sqrt(14/3 * 2) = 0.98
    assert figures[0].note == "Pearson 0.98, n 3"


def test_without_ratings_there_is_no_plot():
    assert scatter_figures({"m": COLUMNS["m"]}, ["a"] * 4) == []


def test_many_points_are_counted_in_squares():
    x = np.linspace(0, 1, 5000)
    (figure,) = scatter_figures({"m": x, "human.q": x}, [None] * 5000)
    assert figure.picture.count("<rect") == len(figure.numbers) == 30
    assert sum(row["n"] for row in figure.numbers) == 5000
    assert len(figure.picture) < 10_000


def test_correlations_take_what_both_have():
    figure = correlation_figure(COLUMNS)
    values = {(row["score"], row["with"]): row["pearson"] for row in figure.numbers}
    assert values["m", "n"] == pytest.approx(-1)
    assert values["m", "m"] == pytest.approx(1)
    assert figure.map["columns"] == ["m", "n", "q (people)"]
    ((_, lines),) = figure.map["blocks"]
    assert [cell.text for cell in lines[0][2]] == ["1.00", "-1.00", "0.98"]


def test_what_is_constant_has_no_correlation_and_one_column_no_matrix():
    figure = correlation_figure({"m": np.ones(3), "n": np.arange(3.0)})
    assert figure.map["blocks"][0][1][0][2][1].text == "undefined"
    assert correlation_figure({"m": np.ones(3)}) is None


def test_a_criterion_named_as_a_metric_keeps_numbers_of_its_own():
    columns = {"fluency": np.array([0.1, 0.2, 0.3]), "human.fluency": np.array([1.0, 5.0, 2.0])}
    (figure,) = scatter_figures(columns, ["a"] * 3)
    assert figure.numbers[1] == {"system": "a", "fluency (people)": 5.0, "fluency": 0.2}
    (figure,) = scatter_figures({"m": np.array([0.1, 0.2]), "human.system": np.array([1.0, 2.0])}, ["a", "b"])
    assert figure.numbers[0] == {"system": "a", "system (people)": 1.0, "m": 0.1}


def test_scores_that_never_change_correlate_with_nothing():
    # the mean of three times 0.1 is a little above 0.1
    same, rising = np.full(3, 0.1), np.arange(3.0)
    figure = correlation_figure({"m": same, "n": same.copy(), "o": rising})
    values = {(row["score"], row["with"]): row["pearson"] for row in figure.numbers}
    assert {pair for pair, value in values.items() if not np.isnan(value)} == {("o", "o")}


# --- System against system on the items that both have, worked by hand

SYSTEMS = ["a", "a", "a", "b", "b", "b", "c"]
ITEMS = ["1", "2", "3", "1", "2", "4", "1"]
M = np.array([5.0, 1.0, 9.0, 6.0, 1.0, 8.0, 2.0])


def test_two_systems_are_compared_on_the_items_that_both_have():
    # a and b share items 1 (5 and 6) and 2 (1 and 1); c shares one item with either, which is too few
    (figure,) = system_figures({"m": M, "human.q": M}, SYSTEMS, ITEMS, frozenset())
    assert figure.title == "m: a and b"
    assert [tuple(row.values()) for row in figure.numbers] == [("1", 5.0, 6.0, "b"), ("2", 1.0, 1.0, "equal")]
    assert figure.note == "a better on 0; b better on 1; equal on 1 of 2 items"
    assert list(figure.numbers[0]) == ["item", "m of a", "m of b", "better"]


def test_where_lower_is_better_the_lower_wins():
    (figure,) = system_figures({"ter": M}, SYSTEMS, ITEMS, frozenset({"ter"}))
    assert figure.numbers[0]["better"] == "a"


def test_the_best_two_by_each_metric_come_first():
    rows = ["a", "b", "c"] * 2
    columns = {"m": np.array([1.0, 2, 3] * 2), "n": np.array([3.0, 2, 1] * 2)}
    figures = system_figures(columns, rows, ["1"] * 3 + ["2"] * 3, frozenset())
    assert [figure.title for figure in figures] == [
        "m: c and b", "n: a and b", "m: c and a", "n: a and c", "m: b and a", "n: b and c",
    ]  # fmt: skip


def test_many_items_are_counted_in_squares():
    x = np.linspace(0, 1, 500)
    systems, items = ["a"] * 500 + ["b"] * 500, [str(i) for i in range(500)] * 2
    (figure,) = system_figures({"m": np.tile(x, 2)}, systems, items, frozenset())
    assert sum(row["n"] for row in figure.numbers) == 500
    assert len(figure.picture) < 10_000


# --- Buckets of segments: as many texts in each, named by what they hold


def segments(lengths, word="w{}", **fields):
    texts = [" ".join(word.format(f"{i}-{k}") for k in range(n)) for i, n in enumerate(lengths)]
    return [Segment(str(i), "text", (text,), **fields) for i, text in enumerate(texts)]


def test_each_bucket_holds_about_as_many_texts():
    # twelve different texts make two buckets; half of them have at most 6 words
    (found,) = buckets_of(segments(range(1, 13)), [None] * 12)
    assert found.name == "length of the reference"
    assert found.labels == ["up to 6 words", "7 words or more"]
    assert found.places.tolist() == [0] * 6 + [1] * 6


def test_there_are_at_most_five_and_equal_lengths_stay_together():
    (found,) = buckets_of(segments([*range(1, 41)]), [None] * 40)
    assert len(found.labels) == 5
    assert found.labels[1] == "9 to 16 words"
    assert buckets_of(segments([7] * 40), [None] * 40) == []
    assert buckets_of(segments(range(1, 11)), [None] * 10) == []  # too few to compare


def test_what_has_no_reference_is_measured_by_its_source_or_not_at_all():
    texts = [Segment(str(i), "text", (), "w " * i + str(i)) for i in range(12)]
    (found,) = buckets_of([*texts, None], [None] * 13)
    assert found.name == "length of the source"
    assert found.places.tolist()[-1] == -1
    assert buckets_of([None] * 20, [None] * 20) == []


def test_texts_without_blanks_are_counted_in_characters():
    texts = [Segment(str(i), "text", ("雨" * (20 + i),)) for i in range(12)]
    (found,) = buckets_of(texts, [None] * 12)
    assert found.labels == ["up to 25 characters", "26 characters or more"]


def test_groups_are_buckets():
    (found,) = buckets_of([None] * 3, ["en-de", "de-en", None])
    assert (found.name, found.labels, found.places.tolist()) == ("group", ["de-en", "en-de"], [1, 0, -1])
