"""The page of an audit: every number stands on it, and no text of the user's is taken for markup."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.kinds.audit_page import audit_html
from nlgauge.report.pages import write_html

NAN = math.nan
HOSTILE = '"><script>alert("x")</script>'


def share(metric, phenomenon, accuracy, group=None, **more):
    row = {
        "metric": metric,
        "phenomenon": phenomenon,
        "group": group,
        "n": 40,
        "wins": 31,
        "ties": 2,
        "losses": 7,
        "accuracy": accuracy,
        "low": accuracy - 0.125,
        "high": accuracy + 0.125,
    }
    return {**row, **more}


def drop(metric, template, deviation, criterion="fluency", **more):
    row = {
        "metric": metric,
        "task": "mt",
        "criterion": criterion,
        "template": template,
        "n": 33,
        "n_not_applicable": 17,
        "drop": 0.5,
        "penalty": 0.5 - deviation,
        "deviation": deviation,
        "low": deviation - 0.1,
        "high": deviation + 0.1,
        "certainty": "medium",
    }
    return {**row, **more}


def result(*rows, notes=("something is odd",)):
    metrics = [
        {"spec": m, "signature": f"metric:{m}|beta:2", "higher_is_better": m != "ter"}
        for m in dict.fromkeys(r["metric"] for r in rows)
    ]
    return Result("audit", list(rows), [{"path": "a.jsonl", "sha256": "ab" * 32}], metrics, list(notes))


def case(**more):
    row = {
        "id": "s1/negation",
        "phenomenon": "negation",
        "reference": "the cat sat",
        "better": "a cat was sitting",
        "worse": "the cat sat not",
        "score_better": 20.25,
        "score_worse": 80.5,
        "margin": -60.25,
    }
    return {**row, **more}


def pictures(page):
    return [ElementTree.fromstring("<svg" + part.partition("</svg>")[0] + "</svg>") for part in page.split("<svg")[1:]]


def test_every_number_of_a_preference_is_on_the_page():
    rows = [
        share("chrf", "negation", 0.775, "de-en"),
        share("ter", "negation", 0.25, "de-en"),
        share("chrf", "mean-all", 0.5, "fr-en"),
    ]
    page = audit_html(result(*rows))
    for part in ("0.775", "0.650 to 0.900", "0.250", ">40<", ">31<", ">2<", ">7<", "de-en", "fr-en", "mean-all"):
        assert part in page
    assert all(part in page for part in ("beta:2", "a.jsonl", "something is odd"))
    assert len(pictures(page)) == 3  # a bar each
    assert "lower is better" in page


def test_every_number_of_a_checklist_is_on_the_page():
    page = audit_html(result(drop("chrf", "typos", -0.25), drop("bleu", "typos", 0.125)))
    for part in (
        "-0.250",
        "+0.125",
        "-0.350 to -0.150",
        "0.500",
        "0.75",
        ">33<",
        ">17<",
        "medium",
        "task mt",
        "-0.25",
        "+0.12",
    ):
        assert part in page
    assert 'title="drop 0.50, people 0.75, n 33"' in page
    assert 'title="drop 0.50, people 0.38, n 33"' in page


def test_worst_cases_show_both_texts_with_the_edit_marked():
    page = audit_html(result(share("chrf", "negation", 0.5)), {"chrf": [case()], "bleu": []})
    assert "Worst cases of <bdi>chrf</bdi>" in page
    assert "Worst cases of <bdi>bleu</bdi>" not in page
    assert "the cat sat<mark> not</mark>" in page
    assert "a cat was sitting" in page
    assert "20.25" in page
    assert "80.5" in page


def test_a_pair_without_reference_or_scores_is_shown_too():
    page = audit_html(result(share("chrf", "x", 0.5)), {"chrf": [case(reference=None, score_better=NAN, worse="")]})
    assert "∅" in page
    assert "undefined" in page


def test_nothing_of_the_users_is_taken_for_markup():
    hostile = case(id=HOSTILE, phenomenon=HOSTILE, reference=HOSTILE, better=HOSTILE, worse=f"{HOSTILE} <b>")
    notes = [HOSTILE]
    for rows in (
        [share(HOSTILE, HOSTILE, 0.5, HOSTILE)],
        [drop(HOSTILE, HOSTILE, 0.5, HOSTILE, task=HOSTILE, certainty=HOSTILE)],
    ):
        page = audit_html(result(*rows, notes=notes), {HOSTILE: [hostile]})
        assert "<script" not in page
        assert "&lt;script&gt;" in page
        assert "<b>" not in page
        pictures(page)  # valid XML


def test_the_page_stands_alone():
    page = audit_html(result(share("chrf", "negation", 0.5)), {"chrf": [case()]})
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
    assert "url(" not in page


@pytest.mark.parametrize("absent", [NAN, None])
def test_what_is_undefined_is_told(absent):
    gone = {"low": absent, "high": absent}
    page = audit_html(result({**share("chrf", "typos", 0.5), "accuracy": absent, **gone}))
    assert "undefined" in page
    assert "nan" not in page
    rows = [
        {**drop("chrf", "add_nonsense", 0.0), "penalty": absent, "deviation": absent, **gone},
        {**drop("chrf", "never", 0.0), "n": 0, "drop": absent, "deviation": absent, **gone},
        {**drop("chrf", "flat", 0.0), "drop": absent, "deviation": absent, **gone},
    ]
    page = audit_html(result(*rows))
    shown = re.findall(r'<td class="number">([^<]*)</td>', page.partition("<details>")[0])
    assert [cell for cell in shown if cell in ("drop 0.50", "–", "undefined")][:3] == ["drop 0.50", "–", "undefined"]
    assert "– It applies to none of the texts." in page
    assert "nan" not in page
    assert "None" not in page


def test_an_audit_without_rows_is_a_page_too():
    assert audit_html(result()).endswith("</html>\n")


def test_bars_are_as_long_as_accuracies_with_a_line_for_each_interval():
    first, second = pictures(audit_html(result(share("a", "typos", 0.25), share("b", "typos", 0.75))))
    assert [bar.find("rect").get("width") for bar in (first, second)] == ["25.0%", "75.0%"]
    assert sum(line.get("class") is None for line in first.iter("line")) == 1
    assert [line.get("x1") for line in first.iter("line") if line.get("class") == "base"] == ["50.0%"]


def test_a_metric_without_a_phenomenon_leaves_its_place_free():
    assert len(pictures(audit_html(result(share("a", "typos", 0.5), share("b", "negation", 0.5))))) == 2
    page = audit_html(result(drop("a", "typos", 0.1), drop("b", "negation", 0.1)))
    assert page.partition("<details>")[0].count('<td class="number"></td>') == 2


def test_the_number_of_texts_stands_in_every_line():
    page = audit_html(result(drop("a", "typos", 0.1, n=2), drop("b", "typos", 0.1, n=40)))
    assert '<td class="number quiet">2/40</td>' in page


def test_a_metric_is_summed_up_by_its_mean_deviation_and_its_mean_distance():
    # deviations -0.3 and +0.5: the mean is (-0.3 + 0.5) / 2 = 0.1, the mean distance (0.3 + 0.5) / 2 = 0.4
    page = audit_html(result(drop("a", "typos", -0.3), drop("a", "negation", 0.5)))
    assert ">mean deviation<" in page
    assert ">+0.10</td>" in page
    assert ">0.40</td>" in page


def test_what_the_model_was_trained_on_is_marked_and_so_are_means_over_it():
    page = audit_html(result(drop("a", "typos", -0.3, trained_on=True), drop("b", "typos", 0.2)))
    assert "no blind test" in page
    assert page.count("-0.30†") == 2  # the cell and the mean
    assert "+0.20†" not in page
    page = audit_html(result(share("a", "typos", 0.5, trained_on=True), share("a", "mean-all", 0.5)))
    assert page.count("0.50†") == 2
    assert page.count('class="seen"') == 1
    assert "no blind test" not in audit_html(result(drop("b", "typos", 0.2)))


def test_colours_are_explained():
    assert 'class="ramp"' in audit_html(result(drop("a", "typos", -0.3)))


def test_the_page_is_written_whole_or_not_at_all(tmp_path):
    write_html(result(share("chrf", "x", 0.5)), tmp_path / "r.html", {"chrf": [case(better="a lone \ud800")]})
    assert "a lone \ufffd" in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="there is no folder"):
        write_html(result(), tmp_path / "no" / "r.html")
