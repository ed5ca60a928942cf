"""Verdicts as JUnit XML: well-formed, whatever the texts are, with one test per metric."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from tests.report.kinds.test_gate import RESULT, ROW

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.junit import junit, write_junit


def cases(*rows):
    root = ElementTree.fromstring(junit(replace(RESULT, rows=rows)))
    return root, {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}


def test_each_verdict_has_its_element():
    rows = [{**ROW, "metric": v, "verdict": v} for v in ("PASS", "FAIL", "INCONCLUSIVE")]
    root, found = cases(*rows, {**ROW, "metric": "told", "decides": False})
    assert found == {"PASS": ["system-out"], "FAIL": ["failure"], "INCONCLUSIVE": ["error"], "told": ["skipped"]}
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }


def test_signs_and_control_characters_do_no_harm():
    root, found = cases({**ROW, "metric": 'a<"b">&\x00', "verdict": "FAIL", "reason": "]]> <x> & \x1b[0m"})
    assert [*found] == ['a<"b">&\ufffd']
    assert "<x> &" in root.find(".//failure").text


def test_it_is_written_whole(tmp_path):
    write_junit(RESULT, tmp_path / "a.xml")
    assert (tmp_path / "a.xml").read_text(encoding="utf-8") == junit(RESULT)
    with pytest.raises(InputError, match="kind 'score' has no verdict"):
        write_junit(Result("score", []), tmp_path / "b.xml")
    assert not (tmp_path / "b.xml").exists()
