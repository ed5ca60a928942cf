"""Where baselines lie, and how they are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.plugin.runs import baseline_path, write_all


def test_they_lie_beside_the_test():
    assert baseline_path(Path("tests/test_a.py"), "summaries") == Path("tests/__nlgauge__/summaries.json")


@pytest.mark.parametrize("name", ["test_a[x-1]", "Zusammenfassung_ä", "сводки", "हिन्दी"])
def test_tests_with_parameters_and_letters_of_any_script_have_names(name):
    assert baseline_path(Path("tests/test_a.py"), name) == Path(f"tests/__nlgauge__/{name}.json")


def test_one_name_has_one_file_however_its_letters_are_stored():
    assert baseline_path(Path("a.py"), "a\u0308") == baseline_path(Path("a.py"), "ä")


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a b"])
def test_names_lead_nowhere_else(name):
    with pytest.raises(InputError, match="is no name of a baseline"):
        baseline_path(Path("tests/test_a.py"), name)


def test_folders_are_made(tmp_path):
    write_all({str(tmp_path / "__nlgauge__" / "a.json"): "{}\n"})
    assert (tmp_path / "__nlgauge__" / "a.json").read_text() == "{}\n"


# --- Runs: levels and comparisons, words of failures, and reruns that do not count

pytest_plugins = ["pytester"]

PASSING = """
def test_it(nlgauge):
    run = nlgauge.run(BASE, refs=REFS, ids=[f"i{i}" for i in range(60)])
    assert run.at_least("chrf", 50)
    assert run.at_least("cer", 0.3)
    still = run.at_least("ter", 20)
    assert not still
    assert "has no worst score to reckon with" in repr(still)
    found = run.at_least("chrf", 99)
    assert not found
    assert found.verdict == "FAIL"
    assert repr(found).startswith("FAIL: mean chrf 8")
    assert "expected at least 99" in repr(found)
    assert "Items with the worst chrf:" in repr(found)
"""


@pytest.mark.usefixtures("reruns")
def test_levels_are_bounds_of_the_mean(inside):
    inside(PASSING).assert_outcomes(passed=1)


@pytest.mark.usefixtures("reruns")
def test_a_mean_above_the_number_is_not_enough(inside):
    found = inside("""
def test_it(nlgauge):
    new = worse(.5)[:20]
    assert nlgauge.run(new, refs=REFS[:20]).at_least("chrf", 82)
""")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        ["*INCONCLUSIVE: mean chrf 83*expected at least 82; you have 20 items; a mean like this one needs about*"]
    )


@pytest.mark.usefixtures("reruns")
def test_runs_groups_and_options_reach_the_gate(inside, pytester):
    body = """
def test_it(nlgauge):
    run = nlgauge.run([[one, one] for one in TEXTS], refs=REFS, groups=[i // 2 for i in range(60)])
    found = run.no_worse_than("it", metrics=["chrf"], allow=90, allow_item=LIMIT)
    print(found)
    assert found
"""
    inside(f"TEXTS = BASE; LIMIT = None\n{body}", "--nlgauge-update").assert_outcomes(passed=1)
    made = json.loads((pytester.path / "__nlgauge__" / "it.json").read_text())
    assert (len(made["items"]), len(made["items"][0]["scores"]["chrf"])) == (60, 2)
    found = inside(f"TEXTS = worse(.5); LIMIT = None\n{body}", "-s")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["*60 in 30 groups*"])
    found = inside(f"TEXTS = worse(.5); LIMIT = 2\n{body}")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*lost more than 2 (*"])


@pytest.mark.usefixtures("reruns")
def test_a_rerun_does_not_try_its_luck(inside):
    """A plugin that reruns failures asks for the fixture again; outputs that change by chance pass some day."""
    found = inside('''
from _pytest.runner import runtestprotocol
import sys
tries = []

def test_it(nlgauge):
    tries.append(1)
    assert nlgauge.run(REFS if len(tries) > 1 else worse(.9), refs=REFS).at_least("chrf", 95)

def test_tries():
    assert len(tries) == 2
''', "-p", "reruns")  # fmt: skip
    found.assert_outcomes(failed=2, passed=1)
    found.stdout.fnmatch_lines(["*The test was judged before; reruns do not count.*"])


@pytest.fixture
def reruns(pytester):
    """A plugin that runs every failing test once more."""
    pytester.makepyfile(reruns='''
from _pytest.runner import runtestprotocol

def pytest_runtest_protocol(item, nextitem):
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for _ in range(2):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        if all(report.passed for report in reports):
            break
        item._initrequest()
    return True
''')  # fmt: skip
    pytester.syspathinsert()


@pytest.mark.usefixtures("reruns")
def test_other_metrics_name_the_option(inside):
    body = """
def test_it(nlgauge):
    assert nlgauge.run(BASE, refs=REFS).no_worse_than("it", metrics=["METRIC"])
"""
    inside(body.replace("METRIC", "chrf"), "--nlgauge-update").assert_outcomes(passed=1)
    found = inside(body.replace("METRIC", "ter"))
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        ["*has no scores of ter*; if this is meant, write the baseline again with --nlgauge-up*"]
    )
