"""What people say: who stands first, which systems a metric exchanges, how near to people it comes, who agrees."""

from __future__ import annotations

import csv
import io
import re
from base64 import b64decode
from dataclasses import replace

import pytest

from nlgauge.core.result import Result
from nlgauge.report.pages import page
from nlgauge.report.people import agreement, ceiling, in_short, ranking
from nlgauge.report.text import render

pytest.importorskip("jinja2")


def test_systems_stand_as_people_rank_them_with_a_rule_between_ranks_and_the_place_by_each_metric(people):
    (panel,) = ranking(people())
    assert panel.table.text().split("\n") == [
        "how people rank the systems: adequacy",
        "system  rank               mean  items  raters  items needed  chrf",
        "------  ----  -----------------  -----  ------  ------------  ----",
        "one        1  4.50 [4.00, 5.00]     12       2             -   2 †",
        "------  ----  -----------------  -----  ------  ------------  ----",
        "two        2  3.50 [3.00, 4.00]     12       2           700   1",
        "three      2  3.25 [2.75, 3.75]     12       2             -   3",
        "rank: a new one begins where every system above is significantly better than every system below"
        " (p < 0.05, Holm)",
        "items needed: to tell it from the next one below with probability .8",
        "under a metric: the place that it gives",
        "† it puts a system above this one that people put significantly below",
    ]
    assert panel.said == ("chrf exchanges 1 pair of systems that people tell apart: it puts two above one.",)


def test_places_that_tests_leave_open_have_a_column(people):
    places = {"one": (1, 2), "two": (1, 3), "three": (2, 3)}
    rows = [
        {**row, **dict(zip(("best", "worst"), places[row["system"]], strict=True)), "rank": 1}
        for row in people().people
        if row["metric"] == "human.adequacy"
    ]
    (panel,) = ranking(Result("meta", (), people=rows))
    assert panel.table.header[:4] == ("system", "rank", "place", "mean")
    assert [line[2] for line in panel.table.body] == ["1-2", "1-3", "2-3"]
    assert "place: after those that are significantly better, before those that are worse" in panel.table.legend
    assert {at for _, at in panel.pictures} == {3}  # behind the mean
    told = [{**row, "best": i, "worst": i, "rank": i} for i, row in enumerate(rows, start=1)]
    (panel,) = ranking(Result("meta", (), people=told))
    assert panel.table.header[:3] == ("system", "rank", "mean")  # the rank says it


def test_what_nobody_knows_has_no_column(people):
    """Without raters' names, a test, or metrics: systems and their means alone."""
    bare = [
        {**row, "n_raters": None, "rank": None, "items_needed": None, "low": None, "high": None}
        for row in people().people
        if row["metric"] == "human.adequacy"
    ]
    (panel,) = ranking(Result("meta", (), people=bare))
    assert panel.table.header == ("system", "rank", "mean", "items")
    assert panel.table.body[0] == ("one", "-", "4.50", "12")
    assert panel.table.legend == ()
    assert panel.table.ruled == frozenset()
    assert panel.said == ()
    assert list(in_short(Result("meta", (), people=bare))) == []  # nobody is first without a test


def test_metrics_that_exchange_no_systems_are_named_once_and_of_many_pairs_the_first(people):
    made = people()
    names = [f"s{i}" for i in range(8)]
    own = {"criterion": "q", "group": None}
    rows = [
        {**own, "system": name, "metric": "human.q", "value": 8.0 - i, "n": 9, "n_raters": None, "rank": i + 1}
        | {"low": None, "high": None, "items_needed": None}
        for i, name in enumerate(names)
    ]
    for metric, exchanged in (("a", []), ("b", []), ("upside", names)):
        rows += [
            {**own, "system": name, "metric": metric, "value": 1.0, "rank": 1, "exchanged": exchanged[i + 1 :]}
            for i, name in enumerate(names)
        ]
    (panel,) = ranking(replace(made, people=rows))
    assert panel.said == (
        "upside exchanges 28 pairs of systems that people tell apart: it puts s1 above s0, s2 above s0, s3 above s0,"
        " s4 above s0, s5 above s0 and 23 more.",
        "a and b exchange no systems that people tell apart.",
    )


def test_each_group_has_a_ranking_of_its_own(people):
    rows = [{**row, "group": group} for group in ("zh-en", "en-de") for row in people().people]
    titles = [panel.table.title for panel in ranking(Result("meta", (), people=rows))]
    assert titles == [f"how people rank the systems: adequacy, {group}" for group in ("zh-en", "en-de")]


def test_one_system_is_a_line_without_words(people):
    one = [row for row in people().people if row["system"] == "one"]
    (panel,) = ranking(Result("meta", (), people=[{**row, "exchanged": []} for row in one]))
    assert len(panel.table.body) == 1
    assert panel.said == ()
    assert list(in_short(Result("meta", (), people=one))) == []


# --- The ceiling


def test_people_stand_above_metrics_and_controls_below_and_what_passed_is_marked(people):
    (panel,) = ceiling(people())
    table = panel.table
    assert table.title == "the ceiling: adequacy, one rater left out, mean of 2 splits"
    assert table.body == (
        ("people", "0.500 [0.400, 0.600]"),  # the lowest and the highest split; of a metric the mean alone
        ("chrf", "0.625"),
        ("sentinel (control)", "0.000"),
    )
    assert table.marked == {(1, 1)}
    assert "0.625*" in table.text()
    assert "* passed the ceiling: these ratings cannot tell it from people" in table.text()


def test_the_dashed_line_of_each_statistic_is_what_people_reach(people):
    rows = [row for row in people().ceiling if row["group"] is None]
    more = [{**row, "stat": "pearson", "value": row["value"] / 2, "low": None} for row in rows]
    (panel,) = ceiling(Result("meta", (), ceiling=[*rows, *more]))
    assert panel.table.header == ("", "kendall_b (item)", "pearson (item)")
    assert [axis.base for axis in panel.axes.values()] == [0.5, 0.25]
    # ticks of pearson are 0 to 0.35 or wider: people's dot lies on the dashed line
    dashed = re.search('class="base" x1="([0-9.]+%)"', panel.pictures[1, 2])[1]
    assert f'<circle cx="{dashed}"' in panel.pictures[0, 2]


def test_of_groups_the_mean_is_shown_and_in_brief_one_rater_alone(people):
    rows = [{**row, "group": "zh-en"} if row["group"] is None else row for row in people().ceiling]
    two = [*rows, *[{**row, "group": "en-de"} for row in rows if row["group"] != "mean"]]
    titles = [panel.table.title for panel in ceiling(Result("meta", (), ceiling=[*two, *half(two)]))]
    assert titles == [
        "the ceiling: adequacy, mean of 2 groups, one rater left out, mean of 2 splits",
        "the ceiling: adequacy, mean of 2 groups, half of the raters left out, mean of 2 splits",
    ]
    assert [panel.table.title for panel in ceiling(Result("meta", (), ceiling=rows))] == [
        "the ceiling: adequacy, zh-en, one rater left out, mean of 2 splits"
    ]
    made = Result("meta", (), ceiling=[*two, *half(two)])
    assert "half of the raters" not in render(made, brief=True)
    assert "half of the raters" in render(made)


def half(rows):
    return [{**row, "left_out": "half"} for row in rows]


def test_an_undefined_value_is_said_and_drawn_nowhere(people):
    rows = [{**row, "value": None, "low": None, "high": None, "n_splits": 0} for row in people().ceiling]
    (panel,) = ceiling(Result("meta", (), ceiling=rows))
    assert {line[1] for line in panel.table.body} == {"undefined"}
    assert set(panel.pictures.values()) == {""}
    assert list(in_short(Result("meta", (), ceiling=rows))) == []


# --- Agreement


def test_alpha_is_said_as_the_share_of_chance_that_is_left(people):
    whole, pairs = agreement(people())
    # alpha is 1 - observed / expected differences: 1 - 0.412 = 0.588
    assert whole.said == (
        "Krippendorff's alpha 0.412 [0.300, 0.500] of 2 raters on 30 segments, ordinal: ratings of one segment differ"
        " 59 % as much as by chance (1: all are equal; 0: chance).",
    )
    assert whole.table.header == ("rater", "with", "mean", "segments", "alpha", "r")  # nobody has a deviation here
    assert whole.table.body[1] == ("bob", "all others", "4.000", "30", "0.400", "0.250")
    assert pairs.table.header == ("rater", "with", "segments", "alpha", "same", "kappa")
    assert pairs.table.body == (("ann", "bob", "30", "0.400", "0.750", "0.125"),)


def test_ratings_without_names_and_without_a_second_rater_are_said_in_one_sentence(people):
    whole = {**people().raters[0], "n_raters": None}
    (panel,) = agreement(Result("meta", (), raters=[whole]))
    assert panel.said[0].startswith("Krippendorff's alpha 0.412 [0.300, 0.500] on 30 segments, ordinal")
    assert panel.table.body == ()
    lonely = {**whole, "alpha": None, "low": None, "high": None, "n": 0}
    (panel,) = agreement(Result("meta", (), raters=[lonely]))
    assert panel.said == ("How far people agree cannot be seen: no segment has two ratings, or all ratings are equal.",)
    shown = page(Result("meta", (), raters=[lonely])).partition("<main>")[2]
    assert panel.said[0] in shown
    assert "<table" not in shown


# --- On a page, in a terminal, and in papers


def test_people_stand_first_and_texts_last(people):
    made = people()
    order = [
        "ow people rank",
        "kendall_b with adequacy",
        "he ceiling: adequacy",
        "ow far people agree",
        "disagree most",
    ]
    for text in (render(made), render(made, brief=True), render(made, "markdown"), page(made).partition("<main>")[2]):
        places = [text.index(words) for words in order]
        assert places == sorted(places)


def test_a_terminal_says_agreement_in_words_and_shows_long_tables_only_when_asked(people):
    made = people()
    made = replace(made, raters=[*made.raters, *({**made.raters[-1], "against": f"r{i}"} for i in range(10))])
    brief, whole = render(made, brief=True), render(made)
    assert brief.index("Krippendorff's alpha") - brief.index("how far people agree: adequacy") == len(
        "how far people agree: adequacy\n"
    )
    assert "all others" in brief
    assert "every two raters" not in brief  # 11 pairs
    assert "every two raters: adequacy" in whole
    assert "every two raters: adequacy" in render(people(), brief=True)


def test_a_narrow_terminal_has_no_column_for_metrics(people):
    assert "  chrf" in render(people(), columns=80).split("\n")[1]
    narrow = render(people(), columns=64).split("\n\n")
    assert "chrf" not in narrow[0]
    assert narrow[1].startswith("chrf exchanges 1 pair")


def test_a_paper_in_brief_has_no_intervals_and_rules_between_ranks(people):
    made = render(people(), "latex", brief=True)
    table = made[: made.index(r"\end{table}")]
    assert "one & 1 & 4.50 & 12 & 2 & - & 2 \\dag{} \\\\\n\\midrule\ntwo & 2 & 3.50 &" in table
    assert "[" not in table.replace(r"\\[", "")
    assert "exchanges" not in made
    assert "[4.00, 5.00]" in render(people(), "latex")


def test_a_result_of_people_alone_is_a_page_and_a_text(people):
    alone = replace(people(), rows=[], metrics=[], disagreements=[])
    assert render(alone).startswith("how people rank the systems: adequacy\n")
    shown = page(alone)
    assert "How people rank the systems: adequacy" in shown
    assert "How well each metric agrees" not in shown


def test_names_and_texts_are_escaped_and_whole(people):
    evil = "<b>|שלום</b>" + "x" * 200
    shown = page(people({**people().metrics[0], "spec": evil}, evil, evil)).partition("<main>")[2]
    assert "<b>" not in shown
    assert f"&lt;b&gt;|שלום&lt;/b&gt;{'x' * 200}</bdi></td><td>" in shown.replace("<wbr>", "")


def test_many_lines_of_raters_are_folded_and_pictures_are_not(people):
    pairs = [{**people().raters[-1], "against": f"r{i}"} for i in range(11)]
    systems = [{**people().people[0], "system": f"s{i}"} for i in range(40)]
    shown = page(replace(people(), raters=pairs, people=systems))
    assert shown.count("<details>") == 1
    assert '<summary class="quiet">11 lines</summary>' in shown


def test_a_page_shows_a_rule_between_ranks_a_star_and_gives_the_rows_away(people):
    shown = page(people()).partition("<main>")[2]
    first, second, third = re.findall(r'<tr( class="ruled")?><th scope="row"><bdi>(?:one|two|three)</bdi>', shown)
    assert (first, second, third) == ("", ' class="ruled"', "")
    assert "<strong>0.625 *</strong>" in shown
    file = re.search(r'download="how-people-rank-the-systems-adequacy.csv" href="data:text/csv;base64,([^"]+)"', shown)
    rows = list(csv.DictReader(io.StringIO(b64decode(file[1]).decode())))
    assert [row["system"] for row in rows] == ["one", "two", "three"] * 2
    assert rows[0]["value"] == "4.5"
    assert rows[3]["exchanged"] == "two"


def test_a_page_names_files_of_metrics_without_their_folders(people):
    spec = 'scores:file="/home/ann/comet.tsv"'
    shown = page(people({**people().metrics[0], "spec": spec}))
    assert "/home/ann" not in shown
    assert "comet.tsv" in shown


# --- In short, for a report


def test_a_sentence_says_who_leads_and_one_how_near_a_metric_comes(people):
    made = people()
    assert list(in_short(made)) == [
        "By people's adequacy one is first, before 2 others.",
        "By kendall_b with adequacy (level item) chrf reaches 0.62, the most of the metrics; people reach 0.50"
        " (one rater left out).",
    ]
    grouped = [{**row, "group": "zh-en"} for row in made.people]
    assert list(in_short(Result("meta", (), people=grouped))) == [
        "By people's adequacy (zh-en) one is first, before 2 others."
    ]
    alike = [{**row, "rank": 1} for row in made.people if row["metric"] == "human.adequacy"]
    assert list(in_short(Result("meta", (), people=alike))) == [
        "By people's adequacy one, two and three share the first rank."
    ]
    assert list(in_short(Result("meta", (), people=[*alike[:2], {**alike[2], "rank": 2}]))) == [
        "By people's adequacy one and two share the first rank, before 1 other."
    ]
