"""Metrics over ratings, and correlations worked by hand."""

import re

import numpy as np
import pytest

from nlgauge.report.figures.segments import correlation_figure, scatter_figures

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


def test_names_are_text():
    (figure,) = scatter_figures({"</svg><script>": COLUMNS["n"], "human.<b>": COLUMNS["human.q"]}, ["<i>", "b"] * 2)
    assert set(re.findall(r"<([a-z]+)", figure.picture)) <= {"svg", "g", "line", "text", "path", "title"}


def test_a_criterion_named_as_a_metric_keeps_numbers_of_its_own():
    columns = {"fluency": np.array([0.1, 0.2, 0.3]), "human.fluency": np.array([1.0, 5.0, 2.0])}
    (figure,) = scatter_figures(columns, ["a"] * 3)
    assert figure.numbers[1] == {"system": "a", "fluency (people)": 5.0, "fluency": 0.2}
    assert [figure.chart["encoding"][axis]["field"] for axis in "xy"] == ["fluency (people)", "fluency"]
    (figure,) = scatter_figures({"m": np.array([0.1, 0.2]), "human.system": np.array([1.0, 2.0])}, ["a", "b"])
    assert figure.numbers[0] == {"system": "a", "system (people)": 1.0, "m": 0.1}


def test_scores_that_never_change_correlate_with_nothing():
    # the mean of three times 0.1 is a little above 0.1
    same, rising = np.full(3, 0.1), np.arange(3.0)
    figure = correlation_figure({"m": same, "n": same.copy(), "o": rising})
    values = {(row["score"], row["with"]): row["pearson"] for row in figure.numbers}
    assert {pair for pair, value in values.items() if not np.isnan(value)} == {("o", "o")}
