"""Results of every kind on one page: each with its own page's content, one order of headings, nobody's markup."""

import base64
import html
import json
import re
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.io.results import read_result
from nlgauge.report.bundle.page import bundle_html
from nlgauge.report.pages import page

EVIL = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\"'\u202e\0 javascript:alert(1)"


def tags(page):
    return re.findall(r"<(/?)(h[1-6])[ >]", page)


def test_every_kind_has_a_section_with_all_that_its_own_page_holds(made):
    whole = bundle_html({f"{kind}.json": result for kind, result in made().items()}, "My report")
    assert "<title>My report</title>" in whole
    assert whole.count("<article ") == whole.count('<li><a href="#result-') == len(made()) == 7
    assert whole.count("<style>") == whole.count("<h1>") == whole.count("<footer") == 1
    for result in made().values():
        words = re.findall(r"<td[^>]*>(?:<[^>]+>)*([^<]+)", page(result))
        assert words
        assert [word for word in words if word not in whole] == []


def test_headings_go_down_one_by_one(made):
    levels = [int(tag[1]) for end, tag in tags(bundle_html({"a.json": made()["score"]})) if not end]
    assert levels[:2] == [1, 2]
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_a_result_from_a_file_has_the_page_that_it_had(made, tmp_path):
    for kind, result in made().items():
        result.write(tmp_path / f"{kind}.json")
        assert page(read_result(tmp_path / f"{kind}.json")) == page(result)


def test_what_links_lead_to_is_there_once(made):
    whole = bundle_html({f"{kind}.json": result for kind, result in made().items()})
    ids = re.findall(r' id="([^"]+)"', whole)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', whole)) <= set(ids)


def test_names_are_text_wherever_they_stand(made):
    metric = {"spec": EVIL, "signature": f"metric:{EVIL}", "higher_is_better": True, "flags": {EVIL: 1}}
    results = made(metric, EVIL)
    whole = bundle_html({f"{EVIL}{i}.json": result for i, result in enumerate(results.values())}, EVIL)
    plain = bundle_html({f"{i}.json": result for i, result in enumerate(made().values())})
    kinds = [set(re.findall(r"<(/?[a-z0-9]+)", page)) for page in (whole, plain)]
    assert kinds[0] == kinds[1]  # no tag that an honest name does not give
    assert not {"\0", "\u202e"} & set(whole)
    assert not re.search(r"<[^>]* on[a-z]+=", re.sub(r'"[^"]*"', '""', whole))
    assert html.escape("<script>") in whole


def test_files_are_named_without_folders(made):
    whole = bundle_html({"/home/ann/private/score.json": made()["score"], "b/meta.json": made()["meta"]})
    assert "ann" not in whole.replace("meaning", "")
    assert "score.json" in whole


def test_rows_of_another_kind_are_refused_with_the_file(made):
    result = made()["meta"]
    odd = Result("score", result.rows, result.inputs, result.metrics)
    with pytest.raises(InputError, match=r"^odd\.json: its rows are not those of a result of kind 'score' \(KeyError"):
        bundle_html({"odd.json": odd})


def test_a_sweep_that_never_takes_its_metric_alone_is_refused_with_the_file(swept):
    odd = replace(swept, rows=[{**row, "weight": row["weight"] or 0.25} for row in swept.rows])
    with pytest.raises(InputError, match=r"^odd\.json: its rows are not those of a result of kind 'sweep' \(StopIter"):
        bundle_html({"odd.json": odd})


@pytest.mark.parametrize("kind", ["score", "meta", "preference", "checklist", "select", "align", "synth"])
def test_a_row_with_a_field_missing_or_of_another_type_is_shown_or_refused(made, kind):
    result = made()[kind]
    *others, last = result.rows
    odd = [{**last, field: value} for field in last for value in ("x", None, [], {}, 1e300, False)]
    odd += [{name: value for name, value in last.items() if name != field} for field in last]
    for row in odd:
        with suppress(InputError):  # and no other error
            bundle_html({"odd.json": Result(result.kind, [*others, row], result.inputs, result.metrics)})


def test_the_same_results_give_the_same_bytes(made):
    assert bundle_html({"a.json": made()["score"]}) == bundle_html({"a.json": made()["score"]})


def charts(page):
    """Title -> the Vega-Lite of each figure of a page."""
    found = re.findall(r'\.vl\.json" href="data:application/json;base64,([^"]+)"', page)
    made = [json.loads(base64.b64decode(one)) for one in found]
    return {one["title"]: one for one in made}


def test_figures_of_every_kind_can_be_drawn_anew(made):
    found = charts("".join(page(result) for result in made().values()))
    assert list(found) == [
        "kendall_b with adequacy, item",
        "Accuracy by phenomenon",
        "Deviation from people, task mt",
    ]
    assert found["Accuracy by phenomenon"]["data"]["values"].split("\n")[:2] == [
        "metric,phenomenon,accuracy,low,high,n",
        "chrf,negation,0.25,0.1,0.6,8",
    ]
    head, first, *_ = found["Deviation from people, task mt"]["data"]["values"].split("\n")
    assert dict(zip(head.split(","), first.split(","), strict=True)) == {
        "perturbation": "fluency: jumble", "metric": "chrf", "deviation": "-0.8", "n": "9",
    }  # fmt: skip
