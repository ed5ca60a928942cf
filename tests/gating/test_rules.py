"""Rules: what each metric may lose, and what is refused before anything is scored."""

from __future__ import annotations

import math
from dataclasses import fields
from inspect import signature

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.gating.rules import Rules, m_of_n
from nlgauge.plugin.runs import Run


def test_drops_are_for_all_or_by_metric():
    assert Rules(allow=2).allowed("chrf") == 2
    mixed = Rules(allow={"chrf": 1, "": 0.5}, allow_item={"chrf": 9})
    assert (mixed.allowed("chrf"), mixed.allowed("ter")) == (1, 0.5)
    assert (mixed.allowed_item("chrf"), mixed.allowed_item("ter")) == (9, None)
    with pytest.raises(InputError, match="no drop is allowed or forbidden for ter"):
        Rules(allow={"chrf": 1}).allowed("ter")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"allow": -1}, "allow is -1"),
        ({"allow": math.nan}, "allow is nan"),
        ({"allow": {"chfr": 1}}, "did you mean 'chrf'"),
        ({"allow_item": -0.1}, "allow_item is -0.1"),
        ({"alpha": 0.7}, "alpha is 0.7"),
        ({"alpha": "0.05"}, "alpha is '0.05'"),
        ({"allow": "1"}, "allow is '1'"),
        ({"min_pass": "8/10"}, "min_pass is '8/10'"),
        ({"undefined": "skip"}, "undefined"),
        ({"clusters": "yes"}, "clusters"),
        ({"min_pass": (9, 8)}, "min_pass is"),
        ({"report_only": frozenset({"chrf"})}, "every metric is only reported"),
    ],
)
def test_rules_out_of_range_are_refused(rules, message):
    with pytest.raises(InputError, match=message):
        Rules(**rules).check(["chrf"])


@pytest.mark.parametrize("door", [ng.gate, Run.no_worse_than])
def test_every_door_has_the_defaults_of_the_rules(door):
    # The command line takes Rules itself; functions spell their keywords out, so that editors show them.
    usual = {one.name: one.default for one in fields(Rules) if one.name != "report_only"}
    spelt = {name: one.default for name, one in signature(door).parameters.items() if name in usual}
    assert spelt == {name: usual[name] for name in spelt}
    assert set(usual) - set(spelt) <= {"draws", "seed"}  # a test in pytest draws as usual


def test_m_of_n():
    assert m_of_n("8/10") == (8, 10)
    for typed in ("8", "0/10", "11/10", "a/b"):
        with pytest.raises(InputError, match="expected M/N"):
            m_of_n(typed)
