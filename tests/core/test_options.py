"""Every kind of declared type takes what it says, and refuses the rest with a way out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.options import Checked, GoesWith, OneOf, Range, check_option, checked, refuse_idle
from nlgauge.core.scores import MetricInfo

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
