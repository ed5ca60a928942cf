from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest

from nlgauge.core import plugins as module
from nlgauge.core.errors import SpecError
from nlgauge.core.registry import Entry, Registry, construct, convert
from nlgauge.core.spec import Spec


@dataclass(frozen=True, kw_only=True)
class Toy:
    whole: int = 1
    real: float = 0.5
    switch: bool = False
    maybe: int | None = None
    either: bool | None = None
    choice: Literal["13a", "char"] = "13a"
    text: str = ""
    derived: int = field(init=False, default=7)


@dataclass(frozen=True)
class Needy:
    path: str
    column: str = "score"


class FakePoint:
    """An installed entry point, as `importlib.metadata` gives it."""

    def __init__(self, name: str, target: Any) -> None:
        self.name, self._target = name, target

    def load(self) -> Any:
        return self._target


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> Registry:
    installed = {"nlgauge.toys": [FakePoint("plugged", Needy), FakePoint("toy", Needy)]}
    monkeypatch.setattr(module.metadata, "entry_points", lambda group: installed.get(group, []))
    # decimal:Decimal stands for a class that lives in a module not yet loaded
    return Registry(
        "toy", "nlgauge.toys", {"toy": Entry("decimal:Decimal"), "far": Entry("fractions:Fraction", {"numerator": 3})}
    )


def test_names_are_ours_first_then_those_of_plug_ins_and_each_once(toys):
    assert toys.names() == ["toy", "far", "plugged"]


def test_our_own_name_wins_over_a_plug_in_of_that_name(toys):
    from decimal import Decimal

    assert toys.lookup("toy") == (Decimal, {})


def test_a_preset_comes_with_its_name(toys):
    from fractions import Fraction

    assert toys.lookup("far") == (Fraction, {"numerator": 3})


def test_a_plug_in_is_built_like_our_own(toys):
    assert toys.build(Spec("plugged", (("path", "x.tsv"),))) == Needy("x.tsv")


def test_an_unknown_name_is_refused_with_the_nearest(toys):
    with pytest.raises(SpecError, match=r"^unknown toy 'pluged'; did you mean 'plugged'\?$"):
        toys.build(Spec("pluged"))


def test_a_name_near_to_nothing_is_refused_with_all(toys):
    with pytest.raises(SpecError, match=r"^unknown toy 'zzz'; known: far, plugged, toy$"):
        toys.build(Spec("zzz"))


@pytest.mark.parametrize(
    ("target", "fault"),
    [
        (len, "toy 'odd' of an installed package is builtin_function_or_method <built-in function len>, expected a"),
        (Needy, "toy 'odd' of an installed package is the class Needy without info and score; repair or uninstall"),
    ],
)
def test_a_plug_in_that_is_something_else_is_refused_by_name(monkeypatch, target, fault):
    monkeypatch.setattr(module.metadata, "entry_points", lambda group: [FakePoint("odd", target)])
    with pytest.raises(SpecError, match=re.escape(fault)):
        Registry("toy", "nlgauge.toys", {}, members=("info", "score")).lookup("odd")


def test_an_unknown_name_of_which_more_is_known_gets_that_answer():
    registry = Registry(
        "toy", "none", {"toy": Entry("decimal:Decimal")}, elsewhere=lambda name: f"; {name} is sold out"
    )
    with pytest.raises(SpecError, match=r"^unknown toy 'car'; car is sold out$"):
        registry.lookup("car")


def test_options_are_read_by_the_type_of_their_field():
    typed = {
        "whole": "3",
        "real": "1e-2",
        "switch": "Yes",
        "maybe": "4",
        "either": "off",
        "choice": "char",
        "text": "none",
    }
    assert construct(Toy, typed, {}, "toy") == Toy(
        whole=3, real=0.01, switch=True, maybe=4, either=False, choice="char", text="none"
    )


@pytest.mark.parametrize("option", ["maybe", "either"])
def test_none_is_a_value_where_the_type_allows_it(option):
    assert construct(Toy, {option: "None"}, {option: 1}, "toy") == Toy()


def test_the_users_option_wins_over_the_preset():
    assert construct(Toy, {"whole": "3"}, {"whole": 2, "real": 2.0}, "toy") == Toy(whole=3, real=2.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hole": "3"}, r"^toy has no option 'hole'; did you mean 'whole' or 'choice'\?$"),
        ({"derived": "3"}, "^toy has no option 'derived'"),  # a field that the metric fills in itself is no option
        ({"whole": "3.5"}, "^toy:whole is '3.5', expected a whole number$"),
        ({"whole": "none"}, "^toy:whole is 'none', expected a whole number$"),
        ({"real": "much"}, "^toy:real is 'much', expected a number$"),
        ({"real": "nan"}, "^toy:real is 'nan', expected a number$"),
        ({"switch": "maybe"}, "^toy:switch is 'maybe', expected true or false$"),
        ({"maybe": "few"}, "^toy:maybe is 'few', expected a whole number$"),
        ({"choice": "13b"}, r"^toy:choice is '13b'; did you mean '13a'\?$"),
        ({"text": "a\0b"}, r"^toy:text is 'a\\x00b', expected a text without the character NUL"),
    ],
)
def test_a_wrong_option_is_refused_with_what_it_takes(options, message):
    with pytest.raises(SpecError, match=message):
        construct(Toy, options, {}, "toy")


def test_a_missing_option_is_named():
    with pytest.raises(SpecError, match=r"^scores needs the option 'path'; write scores:path=\.\.\.$"):
        construct(Needy, {"column": "x"}, {}, "scores")


def test_of_several_types_the_first_that_reads_the_value_counts():
    assert convert("3", int | str, "x") == 3
    assert convert("three", int | str, "x") == "three"


def test_capitals_do_not_matter_where_one_name_is_meant():
    toys = Registry(
        "toy", "none.of.that.name", {"toy": Entry("a:A"), "toyL": Entry(f"{__name__}:Toy"), "TOY": Entry("b:B")}
    )
    assert toys.lookup("TOYL") == (Toy, {})
    with pytest.raises(SpecError, match="unknown toy 'Toy'"):  # toy or TOY?
        toys.lookup("Toy")
