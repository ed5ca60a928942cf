"""Pairs and suites: unique ids, never empty."""

from dataclasses import replace

import pytest

import nlgauge as ng
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
    with pytest.raises(InputError, match=r"duplicate pair 'a' in file\.jsonl"):
        Suite((pair("a"), pair("a")), "file.jsonl")
    with pytest.raises(InputError, match=r"negation: no finite verb \(3\)"):
        Suite((), skipped=[Skipped(perturbation="negation", reason="no finite verb", n=3)])


def test_a_suite_is_shown_in_one_line_and_as_a_table():
    suite = Suite((pair("a", "typos"), pair("b", "<negation>"), pair("c", "typos")), "file.jsonl")
    assert repr(suite) == "Suite('file.jsonl', preference: 3 pairs of 2 phenomena)"
    assert "&lt;negation&gt;" in suite._repr_html_()


def of_two_pairs(i, group="x"):
    """Two pairs of one origin, of different phenomena."""
    return [ng.Pair(id=f"{i}{p}", phenomenon=p, better="a", worse="b", group=group, cluster=f"c{i}") for p in "pq"]


def test_a_suite_is_spread_by_whole_origins_from_all_over_it():
    # 20 pairs of 10 origins; 6 pairs are those of 3 origins, at steps of a third of ten: 0, 3 and 6
    suite = ng.Suite(tuple(pair for i in range(10) for pair in of_two_pairs(i)))
    part = suite.spread(6)
    assert [pair.id for pair in part] == ["0p", "0q", "3p", "3q", "6p", "6q"]
    assert part.notes == ("6 of 20 pairs: those of 3 of 10 origins, from all over the suite",)
    assert suite.spread(20) is suite
    assert len(suite.spread(1)) == 2  # an origin is never cut
    alone = ng.Suite(tuple(replace(pair, cluster=None) for pair in suite))
    assert [pair.id for pair in alone.spread(4)] == ["0p", "2q", "5p", "7q"]


def test_groups_of_a_suite_are_chosen_by_name():
    suite = ng.Suite((*of_two_pairs(1, "zh-en"), *of_two_pairs(2, "de-en"), *of_two_pairs(3, None)), "s")
    assert [pair.id for pair in suite.of_groups(["de-en"])] == ["2p", "2q"]
    assert len(suite.of_groups(["de-en", "zh-en"])) == 4
    with pytest.raises(ng.InputError, match=r"^no pair of s is of 'zh-em'; did you mean 'zh-en'"):
        suite.of_groups(["zh-em"])
