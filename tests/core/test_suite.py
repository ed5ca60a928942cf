"""Pairs and suites: unique ids, never empty."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Skipped, Suite


def pair(key, phenomenon="negation", group=None):
    return Pair(
        id=key,
        phenomenon=phenomenon,
        better="It rains.",
        worse="It does not rain.",
        references=("Rain falls.",),
        group=group,
    )


def test_phenomena_and_groups_come_in_order_of_appearance():
    suite = Suite((pair("a", "typos", "x"), pair("b", "negation", "y"), pair("c", "typos", "x")))
    assert suite.phenomena == ("typos", "negation")
    assert suite.groups == ("x", "y")
    assert [p.id for p in suite] == ["a", "b", "c"]
    assert len(suite) == 3


def test_a_suite_is_shown_in_one_line_and_as_a_table():
    suite = Suite((pair("a", "typos"), pair("b", "<negation>"), pair("c", "typos")), "file.jsonl")
    assert repr(suite) == "Suite('file.jsonl', preference: 3 pairs of 2 phenomena)"
    assert "&lt;negation&gt;" in suite._repr_html_()


def test_two_pairs_of_one_id_are_refused():
    with pytest.raises(InputError, match=r"duplicate pair 'a' in file\.jsonl"):
        Suite((pair("a"), pair("a")), "file.jsonl")


def test_a_suite_without_pairs_says_what_did_not_apply():
    with pytest.raises(InputError, match=r"negation: no finite verb \(3\)"):
        Suite((), skipped=[Skipped(perturbation="negation", reason="no finite verb", n=3)])
