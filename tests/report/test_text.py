"""Results in every form: what stands before and behind the tables, and what a narrow terminal changes."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from nlgauge.core.counts import count_notes
from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.paper import FORMS
from nlgauge.report.text import check_form, render

NAN = float("nan")


def scores(*names, **more):
    row = {"system": "s", "value": 1.0, "low": None, "high": None, "n": 1, "n_undefined": 0, **more}
    metrics = [{"spec": name, "signature": f"metric:{name}", "higher_is_better": True} for name in names]
    return Result("score", [{**row, "metric": name} for name in names], metrics=metrics, notes=["be careful"])


def audited(*metrics):
    rows = [
        {"metric": m, "phenomenon": "typos", "group": None, "n": 4, "ties": 0, "accuracy": 0.5, "low": 0.1, "high": 0.9}
        for m in metrics
    ]
    about = [{"spec": m, "signature": f"metric:{m}", "higher_is_better": True} for m in metrics]
    return Result("audit", rows, metrics=about)


def test_text_ends_in_signatures_and_notes_unless_it_is_quiet():
    table = "system  bleu    n\n------  ------  -\ns       1.0000  1".replace("bleu  ", "  bleu")
    assert render(scores("bleu"), quiet=True) == table
    assert render(scores("bleu")) == f"{table}\n\nbleu = metric:bleu\n\nnote: be careful"


def test_brief_text_leaves_p_values_of_pairs_and_names_of_texts_to_an_option():
    (note,) = count_notes("bleu", {"empty": 2}, 3, first={"empty": ["x", "y"]})
    pair = {"against": "t", "p": 0.01, "p_adjusted": 0.02, "test": "paired_bootstrap"}
    plain = of_systems(["s", "t"], "bleu")
    result = replace(plain, rows=[*plain.rows, {**plain.rows[0], **pair}], notes=[note])
    whole, brief = render(result), render(result, brief=True)
    assert "p of bleu" in whole
    assert "(x, y)" in whole
    assert "p of bleu" not in brief
    assert "p-values of every two systems: -v, --json FILE or --html FILE" in brief
    assert brief.endswith(
        "note: bleu: 2 of 3 segments have an empty side; they get the worst value\nnote: -v names these texts"
    )
    assert "-v" not in render(result, brief=True, hints=False)
    assert "p of bleu" in render(result, "markdown", brief=True)  # a page for a paper is whole


@pytest.mark.parametrize("result", [scores("bleu"), audited("bleu")], ids=["score", "audit"])
def test_print_shows_a_result_as_the_command_does(result):
    assert str(result) == render(result, brief=True, hints=False)


def test_a_star_is_explained_where_there_is_a_test():
    result = scores("bleu", p=0.01, baseline="z", low=0.5, high=1.5)
    assert "\n* p < 0.05 against the baseline\n\n" in render(result)
    assert render(result, quiet=True).endswith("\n* p < 0.05 against the baseline")


def test_a_table_wider_than_the_terminal_is_turned():
    # many metrics and few systems: one table of lines can be read, and a table for each metric cannot
    text = render(scores("first-long-name", "second-long-name", "x"), quiet=True, columns=40)
    assert text.split("\n") == [
        "metric                 s",
        "----------------  ------",
        "first-long-name   1.0000",
        "second-long-name  1.0000",
        "x                 1.0000",
        "n                      1",
    ]


def of_systems(systems, *names):
    """Scores of several systems."""
    result = scores(*names)
    return replace(result, rows=[{**row, "system": system} for row in result.rows for system in systems])


def test_a_turned_table_that_is_too_wide_is_split_by_systems_or_by_metrics_into_as_few_tables_as_fit():
    by_system = render(of_systems(("first", "second", "third"), *"abcdefgh"), quiet=True, columns=24)
    assert [part.split("\n")[0] for part in by_system.split("\n\n")] == ["metric   first  second", "metric   third"]
    by_metric = render(of_systems("stuvwxyz", "name-1", "name-2"), quiet=True, columns=24)
    assert [part.split("\n")[0] for part in by_metric.split("\n\n")] == ["system  name-1  n", "system  name-2  n"]
    assert max(map(len, f"{by_system}\n{by_metric}".split("\n"))) <= 24


def test_a_paper_is_as_wide_on_every_terminal():
    names = [f"a-long-name-{i}" for i in range(20)]
    assert render(scores(*names[:5]), "markdown", columns=40).split("\n")[2].count("|") == 8
    wide = render(scores(*names), "markdown", columns=40)
    assert wide.split("\n")[2:5] == ["| metric | s |", "| --- | ---: |", "| a-long-name-0 | 1.0000 |"]
    assert wide == render(scores(*names), "markdown", columns=400)


def test_papers_get_signatures_and_notes_and_quiet_latex_keeps_its_signature():
    result = replace(scores("bleu", p=0.01, baseline="z", low=0.5, high=1.5), command="nlgauge score x_y")
    lines = render(result, "markdown").split("\n")
    assert lines[-5:] == [
        "\\* p < 0.05 against the baseline",
        "",
        "- bleu: `metric:bleu`",
        "- be careful",
        "- `nlgauge score x_y`",
    ]
    lines = render(result, "latex").split("\n")
    assert [line for line in lines if line.startswith("%")] == [
        "% scores of 1 system, [low, high]: 95 % intervals, p: test against the baseline z",
        "% bleu = metric:bleu",
        "% note: be careful",
        "% nlgauge score x_y",
    ]
    quiet = [line for line in render(result, "latex", quiet=True).split("\n") if line.startswith("%")]
    assert quiet[1:] == ["% bleu = metric:bleu", "% nlgauge score x_y"]
    assert render(result, "markdown", quiet=True).endswith("against the baseline")


def test_programs_get_rows_and_json_everything():
    assert render(scores("bleu"), "tsv").split("\n")[0].startswith("system\tvalue")
    assert render(scores("bleu"), "csv").split("\n")[0].startswith("system,value")
    assert json.loads(render(scores("bleu"), "json"))["notes"] == ["be careful"]


def test_an_error_rate_says_that_lower_is_better():
    result = scores("ter")
    result.metrics[0]["higher_is_better"] = False
    assert "ter (lower is better) = metric:ter" in render(result)


def test_an_unknown_form_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown format 'markdwn' of what is printed; did you mean"):
        check_form("markdwn")
    with pytest.raises(InputError, match="unknown format"):
        render(scores("bleu"), "html")
    assert FORMS == ("text", "json", "tsv", "csv", "markdown", "latex")


def test_an_audit_shows_its_worst_cases_with_the_edit_marked():
    case = {"id": "7", "phenomenon": "typos", "margin": -0.25, "reference": None, "better": "a b", "worse": "a c"}
    text = render(audited("chrf"), worst={"chrf": [case]}, quiet=True)
    assert text.split("\n\n")[1].split("\n") == [
        "worst cases of chrf",
        "  7 (typos), margin -0.25",
        "    compared with  a b",
        "    better  a b",
        "    worse   a [c]",
    ]


def test_intervals_of_an_audit_are_shown_where_they_are_asked_for():
    assert "[0.10, 0.90]" in render(audited("chrf"), digits=2, intervals=True)
    assert "[" not in render(audited("chrf"), digits=2)


def test_values_lose_their_intervals_where_the_terminal_is_narrow_and_stars_are_explained():
    row = {
        "metric": "a-metric",
        "criterion": "q",
        "level": "segment",
        "averaging": "none",
        "stat": "pearson",
        "group": "g",
        "value": 0.5,
        "low": 0.4,
        "high": 0.6,
        "n_used": 9,
        "ties": None,
        "chance": 0.0,
        "rank": 1,
        "not_outperformed": True,
    }
    result = Result("meta", [row])
    assert "0.500 [0.400, 0.600]" in render(result)
    narrow = render(result, columns=20)
    assert "[0.400" not in narrow
    assert narrow.endswith("* no other metric is significantly better (p < 0.05)")


def test_a_synthesis_ends_in_its_signature():
    about = {"spec": "synthesize", "signature": "synthesis:stratified", "higher_is_better": True}
    row = {"operation": "all", "texts": 1, "edits": 2, "share": 1.0, "severity": -3.0, "major": 0.5, "score": -6.0}
    lines = render(Result("synth", [row], metrics=[about], notes=["left alone"])).split("\n")
    assert (len(lines), lines[-1]) == (5, "synthesis:stratified")
    none = render(Result("synth", [{**row, "edits": 0}], metrics=[about]))
    assert none == "no triples: every text was left alone"
