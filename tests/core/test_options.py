"""Every kind of declared type takes what it says, and refuses the rest with a way out."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from importlib import metadata
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core import options
from nlgauge.core import options as module
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.options import (
    Checked,
    Entry,
    Field,
    GoesWith,
    OneOf,
    Range,
    Registry,
    Typed,
    broken_plugin,
    check_option,
    checked,
    construct,
    convert,
    fields_of,
    find_plugin,
    load_plugin,
    plugin_names,
    refuse_idle,
)
from nlgauge.core.scores import MetricInfo
from nlgauge.core.spec import Spec

COLOURS = {"red": 1, "green": 2}


@dataclass(frozen=True, kw_only=True)
class Paint(Checked):
    """Options of every kind."""

    policy: Literal["mean", "best"] = "mean"
    level: Literal[1, 2] | None = None
    layer: Annotated[int, Range(least=0, meaning="embeddings and above")] | None = None
    share: Annotated[float, Range(above=0, most=1)] = 0.5
    colour: Annotated[str, OneOf(COLOURS)] = "red"
    lowercase: bool = False
    name: str | None = None
    span: tuple[float, float] | float = 0.5
    operations: tuple[Literal["insert", "delete"], ...] = ("insert",)
    table: Mapping[str, int] = field(default_factory=dict)
    anything: Any = None
    kept: int = field(init=False, default="not looked at")  # type: ignore[assignment]
    info: ClassVar = MetricInfo("paint")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("policy", "best"),
        ("level", 2),
        ("level", None),
        ("layer", 0),
        ("layer", None),
        ("share", 1),
        ("share", 0.01),
        ("colour", "green"),
        ("lowercase", True),
        ("name", "x"),
        ("span", (0.1, 2)),
        ("span", 3),
        ("operations", ()),
        ("operations", ("delete", "insert")),
        ("table", {"a": 1}),
        ("anything", object),
    ],
)
def test_what_a_type_allows_is_taken_as_it_is(option, value):
    assert getattr(Paint(**{option: value}), option) == value


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("policy", "bset", "paint:policy is 'bset'; did you mean 'best'?"),
        ("policy", None, "paint:policy is None; known: best, mean"),
        ("level", 3, "paint:level is 3; known: 1, 2"),
        ("level", True, "paint:level is True; known: 1, 2"),  # True == 1 in Python
        ("layer", -1, "paint:layer is -1, expected 0 or more (embeddings and above)"),
        ("layer", 1.0, "paint:layer is 1.0, expected a whole number"),
        ("layer", True, "paint:layer is True, expected a whole number"),
        ("share", 0, "paint:share is 0, expected above 0 and at most 1"),
        ("share", float("nan"), "paint:share is nan, expected a number"),
        ("share", "0.5", "paint:share is '0.5', expected a number"),
        ("colour", "gren", "paint:colour is 'gren'; did you mean 'green' or 'red'?"),
        ("lowercase", 1, "paint:lowercase is 1, expected true or false"),
        ("lowercase", "false", "paint:lowercase is 'false', expected true or false"),
        ("name", 3, "paint:name is 3, expected a text"),
        ("span", (0.1, 0.2, 0.3), "paint:span is (0.1, 0.2, 0.3), expected a tuple of 2 or a number"),
        ("operations", ("insert", "remove"), "paint:operations is ('insert', 'remove'); known: delete, insert"),
        ("operations", "insert", "paint:operations is 'insert', expected a tuple"),
        ("table", 3, "paint:table is 3, expected Mapping"),
    ],
)
def test_what_a_type_does_not_allow_is_refused_by_name(option, value, message):
    with pytest.raises(SpecError) as error:
        Paint(**{option: value})
    assert str(error.value) == message


def test_a_field_holds_what_its_declaration_says():
    fields = fields_of(Paint)
    assert "kept" not in fields  # nobody sets it
    assert {name: field.choices for name, field in fields.items() if field.choices} == {
        "policy": ["mean", "best"],
        "level": ["1", "2"],
        "colour": ["red", "green"],
        "operations": ["insert", "delete"],
    }
    assert fields["share"].about(Range) == Range(above=0, most=1)
    assert fields["share"].about(GoesWith) is None
    assert (fields["layer"].flag, fields["layer"].default, fields["layer"].required) == ("--layer", None, False)
    assert {name: field.required for name, field in fields_of(Needy).items()} == {"path": True, "column": False}


def test_words_of_the_command_line_stand_in_place_of_choices():
    kind = Annotated[Literal["a", "b", "ab"], Typed("Which.", ("--which-one", "-w"), words="a b")]
    field = Field("which", kind, "a")
    assert (field.flag, field.words, field.choices) == ("--which-one", ["a", "b"], ["a", "b", "ab"])


def test_numbers_of_numpy_become_pythons_own():
    paint = Paint(layer=np.int64(3), lowercase=np.bool_(True), share=np.float32(0.5))
    assert [type(v) for v in (paint.layer, paint.lowercase, paint.share)] == [int, bool, float]


def test_another_name_and_another_error():
    @dataclass(frozen=True)
    class Steps:
        count: Annotated[int, Range(least=1)]

        def __post_init__(self):
            checked(self, error=InputError)

    with pytest.raises(InputError, match=r"^count is 0, expected 1 or more$"):
        Steps(0)


@given(
    number=st.floats() | st.integers(),
    least=st.none() | st.integers(-3, 3),
    most=st.none() | st.integers(-3, 3),
    above=st.none() | st.integers(-3, 3),
    below=st.none() | st.integers(-3, 3),
)
def test_a_range_is_the_meeting_of_its_bounds(number, least, most, above, below):
    inside = Range(least, most, above, below)
    expected = (
        not (least is not None and not number >= least)
        and not (most is not None and not number <= most)
        and not (above is not None and not number > above)
        and not (below is not None and not number < below)
        and number == number
    )
    assert (number in inside) is expected


def test_the_range_of_a_single_value_is_checked_without_a_dataclass():
    check_option("confidence", 0.95, Annotated[float, Range(above=0, below=1)])
    with pytest.raises(SpecError, match="confidence is 1, expected above 0 and below 1"):
        check_option("confidence", 1, Annotated[float, Range(above=0, below=1)])


@dataclass(frozen=True)
class Trial:
    test: str | None = None
    intervals: bool = False
    draws: Annotated[int | None, GoesWith(("test", "intervals"), "is about resampling")] = None
    names: Annotated[tuple[str, ...], GoesWith(("test",), "names what is tested")] = ("all",)


@pytest.mark.parametrize(
    "options", [Trial(), Trial("t", draws=1), Trial(intervals=True, draws=1), Trial("t", names=())]
)
def test_an_option_beside_one_that_it_goes_with_is_taken(options):
    refuse_idle(options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Trial(draws=1), "^--draws is about resampling; it goes with --test or --intervals$"),
        (Trial(intervals=True, names=("a",)), "^--names names what is tested; it goes with --test$"),
    ],
)
def test_an_option_that_changes_nothing_is_refused_as_it_is_spelt(options, message):
    with pytest.raises(InputError, match=message):
        refuse_idle(options, spelt=lambda name: f"--{name}")


# --- Entry points of third parties: found by group and name; one that is broken is an error of one line


def point(name, value, group="nlgauge.toys"):
    return metadata.EntryPoint(name=name, value=value, group=group)


@pytest.fixture
def installed(monkeypatch):
    points = [point("fine", "decimal:Decimal"), point("gone", "no_such_module:Thing")]
    monkeypatch.setattr(options.metadata, "entry_points", lambda group: points if group == "nlgauge.toys" else [])


def test_names_are_those_of_the_group(installed):
    assert plugin_names("nlgauge.toys") == ["fine", "gone"]
    assert plugin_names("nlgauge.others") == []
    assert load_plugin(find_plugin("nlgauge.toys", "fine"), "toy") is Decimal
    assert find_plugin("nlgauge.toys", "other") is None


def test_what_cannot_be_imported_is_one_line_with_the_reason(installed):
    with pytest.raises(SpecError) as caught:
        load_plugin(find_plugin("nlgauge.toys", "gone"), "toy")
    assert str(caught.value) == (
        "toy 'gone' of an installed package cannot be loaded (ModuleNotFoundError: No module named 'no_such_module');"
        " repair or uninstall that package"
    )

    class Point:
        name = "x"

        class dist:  # noqa: N801 - as importlib.metadata has it
            name, version = "their-package", "1.2"

    assert "toy 'x' of their-package 1.2 is odd" in str(broken_plugin(Point(), "toy", "is odd"))


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


def test_our_own_names_win_over_those_of_plug_ins_which_are_built_alike(toys):
    assert toys.names() == ["toy", "far", "plugged"]
    assert toys.lookup("toy") == (Decimal, {})
    assert toys.lookup("far") == (Fraction, {"numerator": 3})
    assert toys.build(Spec("plugged", (("path", "x.tsv"),))) == Needy("x.tsv")


def test_an_unknown_name_is_refused_with_what_is_known(toys):
    with pytest.raises(SpecError, match=r"^unknown toy 'pluged'; did you mean 'plugged'\?$"):
        toys.build(Spec("pluged"))
    with pytest.raises(SpecError, match=r"^unknown toy 'zzz'; known: far, plugged, toy$"):
        toys.build(Spec("zzz"))
    registry = Registry(
        "toy", "none", {"toy": Entry("decimal:Decimal")}, elsewhere=lambda name: f"; {name} is sold out"
    )
    with pytest.raises(SpecError, match=r"^unknown toy 'car'; car is sold out$"):
        registry.lookup("car")


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
    assert construct(Toy, {"whole": "3"}, {"whole": 2, "real": 2.0}, "toy") == Toy(whole=3, real=2.0)
    assert convert("3", int | str, "x") == 3
    assert convert("three", int | str, "x") == "three"


@pytest.mark.parametrize("option", ["maybe", "either"])
def test_none_is_a_value_where_the_type_allows_it(option):
    assert construct(Toy, {option: "None"}, {option: 1}, "toy") == Toy()


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


def test_capitals_do_not_matter_where_one_name_is_meant():
    toys = Registry(
        "toy", "none.of.that.name", {"toy": Entry("a:A"), "toyL": Entry(f"{__name__}:Toy"), "TOY": Entry("b:B")}
    )
    assert toys.lookup("TOYL") == (Toy, {})
    with pytest.raises(SpecError, match="unknown toy 'Toy'"):  # toy or TOY?
        toys.lookup("Toy")
