"""Sweeps for the terminal: one column per weight, the best marked, and what to mix in words."""

import base64
import csv
import io
import math
import re
import xml.etree.ElementTree as ET

import pytest

from nlgauge.core.result import Result
from nlgauge.io.results import read_result
from nlgauge.metaeval.pooling import left_out, rank, winning
from nlgauge.metaeval.sweep import curves, mark_best, with_gains
from nlgauge.report.kinds.sweep import best_lines, gains, sweep_html, sweep_tables, trade_offs
from nlgauge.report.pages import page

NAN = float("nan")


def point(weight, correlation, accuracy, **about):
    pair = {"metric": "chrf", "with": "nli", "partner": "nli", "weight": weight, "dataset": "d", "suite": "s"}
    study = {"stat": "pearson", "criterion": "q", "level": "segment", "averaging": "none", "group": "mean"}
    ends = {"low": correlation - 0.1, "high": correlation + 0.1}
    ends |= {"accuracy_low": accuracy - 0.1, "accuracy_high": accuracy + 0.1}
    spec = {0.0: "chrf", 1.0: "nli"}.get(weight, "0.5*chrf + 0.5*nli")
    numbers = {"correlation": correlation, "accuracy": accuracy, **ends}
    return {**pair, "spec": spec, **study, "phenomenon": "mean-all", **numbers, **about}


def strategy(kind, where, formula, direction, value):
    """A row of a study of pooling strategies."""
    contest = {"table": "values", "metric": "nli", "setup": "ref", "kind": kind, "set": where, "stat": "pearson"}
    way = {"criterion": "q", "level": "segment", "formula": formula, "direction": direction}
    return {**contest, **way, "spec": "nli", "value": value, "n": 3}


def result_of(*numbers, **about):
    rows = [point(w, c, a, **about) for w, c, a in numbers]
    with_gains(rows)
    mark_best(rows)
    return Result("sweep", [*rows, *curves(rows)])


def test_a_column_a_weight_and_a_star_at_the_best():
    [table] = sweep_tables(result_of((0.0, 0.5, 0.4), (0.5, 0.6, 0.5), (1.0, 0.3, 0.6)))
    assert table.text().split("\n") == [
        "pearson with q (level segment) and accuracy under attack: d and s",
        "metric  with  weight        0     0.5      1",
        "------  ----  --------  -----  ------  -----",
        "chrf    nli   pearson   0.500  0.600*  0.300",
        "              accuracy  0.400  0.500*  0.600",
        "* the best weight",
    ]


def test_what_to_mix_is_said_as_it_is_typed():
    [line] = best_lines(result_of((0.0, 0.5, 0.4), (0.5, 0.6, 0.5), (1.0, 0.3, 0.6)))
    said = "best weight 0.5: pearson +0.100 (+20.0 %), accuracy +0.100 (+25.0 %); -m '0.5*chrf + 0.5*nli'"
    assert line == f"chrf with nli: {said}"


@pytest.mark.parametrize(
    ("alone", "ends", "said"),
    [
        (0.003, (-0.1, 0.1), "pearson +0.273, "),  # 9,100 % of what may be nothing
        (0.003, (NAN, NAN), "pearson +0.273, "),
        (0.1, (NAN, NAN), "pearson +0.176 (+176.0 %), "),
        (-0.2, (-0.3, -0.1), "pearson +0.476 (+238.0 %), "),
    ],
)
def test_a_gain_is_a_share_only_of_what_is_told_from_0(alone, ends, said):
    rows = [point(0.0, alone, 0.4, low=ends[0], high=ends[1]), point(0.5, 0.276, 0.5), point(1.0, 0.2, 0.3)]
    with_gains(rows)
    mark_best(rows)
    assert said in best_lines(Result("sweep", rows))[0]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([(0.0, 0.5, 0.4), (1.0, 0.3, 0.6)], "neither lower; best alone"),
        ([(0.0, 0.5, 0.4), (1.0, 0.6, 0.6)], "best weight 1, the other alone"),
        ([(0.0, 0.5, 0.0), (1.0, 0.6, 0.6)], "no gain can be told"),
    ],
)
def test_what_cannot_be_mixed_better_is_said(numbers, said):
    [line] = best_lines(result_of(*numbers))
    assert said in line


def test_several_pairs_end_in_their_mean():
    rows = [point(w, c, a, metric=m) for m in ("chrf", "bleu") for w, c, a in ((0.0, 0.5, 0.4), (0.5, 0.6, 0.5))]
    with_gains(rows)
    mark_best(rows)
    lines = best_lines(Result("sweep", [*rows, *curves(rows)]))
    assert len(lines) == 3
    gains = "pearson +20.0 % (median +20.0 %), accuracy +25.0 % (median +25.0 %)"
    assert lines[-1] == f"mean of all with NLI metrics: best weight 0.5: {gains}"


def test_statistics_have_a_table_each():
    rows = [point(w, 0.5, 0.5, stat=stat) for stat in ("pearson", "spearman") for w in (0.0, 1.0)]
    with_gains(rows)
    mark_best(rows)
    result = Result("sweep", [*rows, *curves(rows)])
    assert len(sweep_tables(result)) == 2
    assert "chrf with nli (spearman with q): " in "\n".join(best_lines(result))


def test_a_study_has_a_grid_a_set_winners_and_choices():
    rows = [
        strategy("correlation", where, formula, "both", value)
        for where in "de"
        for formula, value in (("e", 0.5), ("-c", 0.25))
    ]
    rank(rows)
    result = Result("sweep", [*rows, *winning(rows), *left_out(rows)])
    assert [table.title for table in sweep_tables(result)] == [
        "nli: pearson with q, d",
        "nli: pearson with q, e",
        "how often each is the best of 2: agreement with people, references",
        "chosen without the set",
    ]
    assert best_lines(result) == []
    assert "0.500*" in sweep_tables(result)[0].text()


# --- The page of a sweep: every picture, every number, nobody's markup

METRIC = {"spec": "a", "signature": "metric:a|nlgauge:0", "higher_is_better": True}


def page_result(*points):
    rows = list(points)
    with_gains(rows)
    mark_best(rows)
    return Result("sweep", [*rows, *curves(rows)], [{"path": "f", "sha256": "0" * 64}], [METRIC], ["a note"])


def sweep_of(**about):
    pair = {"metric": "a", "with": "b", **about}
    return [point(w, c, a, spec=f"{w}", **pair) for w, c, a in ((0.0, 0.5, 0.4), (0.5, 0.6, 0.5), (1.0, 0.3, 0.6))]


def pictures(page):
    return [ET.fromstring(found) for found in re.findall(r"<svg xmlns.*?</svg>", page, re.DOTALL)]


def test_a_page_shows_the_trade_off_the_gains_and_the_numbers():
    page = sweep_html(page_result(*sweep_of()))
    assert len(pictures(page)) == 2
    assert "0.5 (best)" in page
    assert "+20.0 %" in page  # of .5 to .6
    assert "0.600" in page
    assert "a note" in page
    assert "://" not in re.sub(r'xmlns="[^"]*"', "", page)  # nothing is fetched


def test_several_sets_have_a_picture_each_beside_that_of_their_means():
    points = [*sweep_of(), *sweep_of(dataset="e"), *sweep_of(dataset="mean", suite="mean")]
    page = sweep_html(page_result(*points))
    assert len(pictures(page)) == 4  # the means, two sets, the gains
    assert "e and s" in page


def test_each_pair_has_a_panel_of_its_own_with_the_others_behind_it():
    rows = [*pair_rows(), *pair_rows(**{"with": "c"})]
    first, second = trade_offs(rows, {("a", "b"): 0.5}, "pearson")
    assert first["caption"] == "a with b; best weight 0.5"
    assert second["caption"] == "a with c"
    for panel in (first, second):
        assert panel["picture"].count("<polyline") == 2  # its own curve and the other
        assert panel["picture"].count('stroke="currentColor" stroke-width="1.5" stroke-opacity') == 1


def test_the_best_weight_of_all_phenomena_is_ringed_in_every_panel():
    points = [*sweep_of(), *sweep_of(phenomenon="mean-adequacy")]
    page = sweep_html(page_result(*points))
    assert page.count("<h2>Robustness against agreement") == 2
    assert page.count('r="9"') == 2


def test_axes_end_where_the_scale_ends():
    flat = [point(weight, 0.9, 1.0) for weight in (0.0, 0.5, 1.0)]
    (panel,) = trade_offs(flat, {}, "pearson")
    shown = [float(t.text) for t in ET.fromstring(panel["picture"]).iter() if re.fullmatch(r"[\d.]+", t.text or "")]
    assert max(shown) <= 1.0


def pair_rows(**about):
    return [row for row in page_result(*sweep_of(**about)).rows if row["metric"] != "mean"]


def test_gains_are_drawn_with_their_bands_where_there_is_an_interval():
    many = page_result(*sweep_of(), *sweep_of(dataset="e", suite="t"))
    mean = [row for row in many.rows if row["metric"] == "mean"]
    panel = gains(mean, "pearson")
    assert "pearson (mean of 2)" in [name for _, name in panel["legend"]]
    assert "<polygon" in panel["picture"]
    one = [row for row in page_result(*sweep_of()).rows if row["metric"] == "mean"]
    assert all("no interval" in name for _, name in gains(one, "pearson")["legend"])


@pytest.fixture
def study():
    rows = [
        strategy(kind, where, formula, direction, value + (direction == "both"))
        for kind, where in (("correlation", "d"), ("correlation", "f"), ("accuracy", "s"))
        for formula, value in (("e", 0.5), ("-c", 0.25))
        for direction in ("forward", "both")
    ]
    rank(rows)
    return Result("sweep", [*rows, *winning(rows), *left_out(rows)], [], [METRIC], [])


def test_a_study_shows_winners_choices_and_every_set(study):
    page = sweep_html(study)
    assert page.count('class="map"') == 2 + 3
    assert "Chosen without the set" in page
    assert "1.500" in page


def test_a_sweep_from_its_file_has_the_page_that_it_had(study, tmp_path):
    lone = sweep_of(dataset="e")
    lone[1] |= {"correlation": math.nan, "low": math.nan, "high": math.nan}
    for result in (study, page_result(*sweep_of()), page_result(*sweep_of(), *lone)):
        result.write(tmp_path / "sweep.json")
        assert page(read_result(tmp_path / "sweep.json")) == page(result)


def test_the_figures_of_a_sweep_and_of_a_study_can_be_drawn_anew(study):
    def files(html):
        found = re.findall(r'\.csv" href="data:text/csv;base64,([^"]+)"', html)
        return [list(csv.DictReader(io.StringIO(base64.b64decode(one).decode()))) for one in found]

    trade, gain = files(sweep_html(page_result(*sweep_of())))
    assert {"pair", "weight", "accuracy", "correlation"} <= set(trade[0])
    gains_of = [(row["measure"], float(row["weight"]), float(row["gain"])) for row in gain]
    assert gains_of[1] == ("correlation", 0.5, pytest.approx(0.2))  # of .5 to .6
    assert gains_of[4] == ("accuracy, all phenomena", 0.5, pytest.approx(0.25))  # of .4 to .5
    wins, *_, values = files(sweep_html(study))
    assert {"direction", "formula", "wins"} == set(wins[0])
    assert "contest" in values[0]
