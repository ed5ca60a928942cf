"""The assertion of `examples/promptfoo`, called as promptfoo calls it: arguments and results are files of JSON.

promptfoo runs a program of its own in a new Python: it loads the file by its path, calls `get_assert` with the decoded
arguments and writes what it returns as JSON (its `src/python/wrapper.py`); booleans, numbers and objects with `pass`,
`score` and `reason` are taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

import nlgauge as ng

EXAMPLE = Path(__file__).parents[2] / "examples" / "promptfoo"
pytestmark = pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the examples are not beside the tests")

CALLS = """
import importlib.util, json, sys
script, given, written = sys.argv[1:]
spec = importlib.util.spec_from_file_location("nlgauge_assert", script)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
with open(given, encoding="utf-8") as file:
    calls = json.load(file)
with open(written, "w", encoding="utf-8") as file:
    json.dump([module.get_assert(*arguments) for arguments in calls], file, allow_nan=False)
"""
EXPECTED = "Heavy rain is expected in the north tonight."


def context(variables, **config):
    """The parts of promptfoo's context that an assertion may count on."""
    return {"prompt": "{{written}}", "vars": variables, "test": {"vars": variables}, "config": config}


def in_a_process(tmp_path, *calls):
    """The results of assertions, each of (output, context), in one process; promptfoo starts one for each."""
    given, written = tmp_path / "given.json", tmp_path / "written.json"
    given.write_text(json.dumps(calls), encoding="utf-8")
    command = [sys.executable, "-c", CALLS, str(EXAMPLE / "nlgauge_assert.py"), str(given), str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr  # promptfoo logs it as an error
    return json.loads(written.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def graded():
    """The same in this process."""
    spec = spec_from_file_location("nlgauge_assert", EXAMPLE / "nlgauge_assert.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda *calls: json.loads(json.dumps([module.get_assert(*one) for one in calls], allow_nan=False))


def test_the_configuration_passes_the_good_answer_and_fails_the_other(tmp_path):
    yaml = pytest.importorskip("yaml")
    whole = yaml.safe_load((EXAMPLE / "promptfooconfig.yaml").read_text(encoding="utf-8"))
    assert (whole["prompts"], whole["providers"]) == (["{{written}}"], ["echo"])
    (assertion,) = whole["defaultTest"]["assert"]
    assert assertion["value"] == "file://nlgauge_assert.py"
    tests = [test["vars"] for test in whole["tests"]]
    found = in_a_process(tmp_path, *((one["written"], context(one, **assertion["config"])) for one in tests))
    assert [one["pass"] for one in found] == [True, False]
    scores = ng.score([one["written"] for one in tests], [one["expected"] for one in tests], metrics=["chrf", "ter"])
    for i, one in enumerate(found):
        named = {spec: own.values[i] for spec, own in scores.items()}
        assert one["namedScores"] == pytest.approx(named, rel=1e-12)  # the same sums of small integers
        # chrF lies from 0 to 100; TER has no upper limit, so that it counts by its bound alone
        assert one["score"] == pytest.approx((named["chrf"] / 100 + (named["ter"] <= 80)) / 2)
        assert str(scores["chrf"].signature) in one["reason"]


def test_what_gives_no_score_is_marked_as_the_fault_of_the_grader(graded):
    variables = {"reference": EXPECTED, "several": [EXPECTED, "It rains."]}
    found = graded(
        ("It rains.", context(variables)),
        ({"answer": "It rains."}, context(variables, bounds={"chrf": 40})),
        ("It rains.", context({}, bounds={"chrf": 40})),
        ("It rains.", context(variables, bounds={"chrff": 40})),
        ("It rains.", context(variables, bounds={"chrf": 99}, reference="several")),
    )
    assert [one["metadata"] for one in found[:4]] == [{"graderError": True}] * 4
    assert all(one["pass"] is False and one["score"] == 0 for one in found[:4])
    said = ("config names no bounds", "the output is dict", "chrf needs references", "unknown metric 'chrff'")
    assert [one["reason"].startswith(words) for one, words in zip(found, said, strict=False)] == [True] * 4
    assert found[4]["pass"] is True  # the second of several references is the output


def test_nlgauge_reads_such_a_result_as_undefined(graded, tmp_path):
    (none, some) = graded(
        ("It rains.", context({}, bounds={"chrf": 40})),
        ("It rains.", context({"reference": EXPECTED}, bounds={"chrf": 40})),
    )
    rows = [
        {
            **{"vars": {"q": name}, "response": {"output": "It rains."}, "provider": {"id": "echo"}},
            **{"score": one["score"], "success": one["pass"], "failureReason": 1},
            "gradingResult": {**one, "componentResults": [one]},
            "namedScores": one.get("namedScores", {}),
        }
        for name, one in (("none", none), ("some", some))
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"version": 3, "results": rows}}), encoding="utf-8")
    first, second = ng.read(path, format="promptfoo").segments
    assert first.human == {}
    assert second.human["chrf"] == pytest.approx(some["namedScores"]["chrf"])
