from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import pytest

from nlgauge.core.errors import SpecError
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.options import other_values, refused


def test_an_option_missing_from_the_signature_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Hidden(overlap):
        info: ClassVar = MetricInfo("hidden")

        def facts(self, runtime):
            return {"lowercase": None}

    caught(
        Hidden(),
        "the option lowercase is not in the signature: no other value changes it|leaves the signature as it is, yet"
        " changes the value",
    )


def test_two_values_that_share_a_signature_and_not_their_scores_are_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Rounded(overlap):
        digits: int = 1
        info: ClassVar = MetricInfo("rounded", range=(0.0, 2.0))

        def facts(self, runtime):
            return {"digits": min(self.digits, 1)}  # 2 stands as 1

        def value(self, hypothesis, reference):
            return super().value(hypothesis, reference) * self.digits

    caught(Rounded(), r"digits=2 leaves the signature as it is, yet changes the value of segment")


def test_two_names_of_the_same_thing_may_share_a_signature(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Synonymous(overlap):
        fold: Literal["lower", "lowercase", "none"] = "lower"
        lowercase: ClassVar[bool] = True
        info: ClassVar = MetricInfo("synonymous")

        def __post_init__(self):
            checked(self)

        def facts(self, runtime):
            return {"fold": "lower" if self.fold == "lowercase" else self.fold}

        def value(self, hypothesis, reference):
            texts = (hypothesis, reference) if self.fold == "none" else (hypothesis.lower(), reference.lower())
            one, other = (set(text.split()) for text in texts)
            return len(one & other) / len(one | other) if one and other else 0.0

    check_metric(Synonymous(), registered=False)


def test_a_specification_that_loses_an_option_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Forgetful(overlap):
        info: ClassVar = MetricInfo("forgetful")
        spec: ClassVar = "forgetful"

    caught(
        Forgetful(lowercase=False),
        r"signature\.spec 'forgetful' rebuilds .*lowercase=True\), expected .*lowercase=False\)",
    )
    caught(
        Forgetful(), r"signature\.spec 'forgetful' rebuilds .*lowercase=True\), expected .*lowercase=False\)"
    )  # found with the other value


def test_a_metric_that_is_never_equal_to_another_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True, eq=False)
    class Unequal(overlap):
        info: ClassVar = MetricInfo("unequal")
        __eq__ = object.__eq__
        __hash__ = object.__hash__

    caught(Unequal(), r"signature\.spec 'unequal' rebuilds")


def test_options_whose_type_tells_no_other_value_are_named(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Worded(overlap):
        joiner: str = "-"
        info: ClassVar = MetricInfo("worded")

    assert check_options(Worded(), registered=False) == ["joiner"]
    assert check_options(Worded(), registered=False, alternatives={"joiner": "_"}) == []


def test_an_alternative_that_is_refused_or_the_value_already_is_told(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Choosy(overlap):
        joiner: str = "-"
        info: ClassVar = MetricInfo("choosy")

        def __post_init__(self):
            if self.joiner not in "-_":
                raise SpecError(f"joiner is {self.joiner!r}, expected - or _")

    for other in ("-", "+"):
        with pytest.raises(
            AssertionError, match=rf"^choosy: the alternative joiner='\{other}' is refused, or is the value already$"
        ):
            check_options(Choosy(), registered=False, alternatives={"joiner": other})
    with pytest.raises(
        AssertionError, match=r"^choosy: alternatives names joyner, expected options: lowercase, joiner$"
    ):
        check_options(Choosy(), registered=False, alternatives={"joyner": "_"})


def test_a_value_that_the_metric_refuses_is_passed_over(overlap):
    @dataclass(frozen=True, kw_only=True)
    class Positive(overlap):
        power: int = 1
        info: ClassVar = MetricInfo("positive")

        def __post_init__(self):
            if self.power < 1:
                raise SpecError("power must be 1 or more")

        def value(self, hypothesis, reference):
            return super().value(hypothesis, reference) ** self.power

    assert check_options(Positive(), registered=False) == []


@pytest.mark.parametrize(
    ("hint", "value", "others"),
    [
        (bool, True, [False]),
        (bool | None, None, [True, False]),
        (bool | None, True, [False, None]),
        (Literal["a", "b", "c"], "b", ["a", "c"]),
        (int, 3, [4, 2]),
        (int | None, None, [1, -1]),
        (int | None, 3, [4, 2, None]),
        (float, 2.0, [3.0, 1.0, 1.0, 0.5]),
        (str, "x", []),
        (str | None, "x", [None]),
    ],
)
def test_other_values_come_from_the_type(hint, value, others):
    assert other_values(hint, value) == others


def test_a_signature_that_does_not_survive_rebuilding_is_caught(overlap, caught):
    made = []

    @dataclass(frozen=True, kw_only=True)
    class Numbered(overlap):
        info: ClassVar = MetricInfo("numbered")

        def __post_init__(self):
            made.append(self)

        def facts(self, runtime):
            return {"object": next(i for i, other in enumerate(made) if other is self)}

    caught(Numbered(), "the metric rebuilt from 'numbered' has another signature")


def test_replacing_an_option_gives_a_metric_of_its_own(overlap):
    assert replace(overlap(), lowercase=False) != overlap()


@dataclass(frozen=True, kw_only=True)
class Choosy:
    kind: Literal["one", "all"] = "one"
    rule: Annotated[Literal["first", "last"] | None, "a comment"] = None
    name: str | Literal["any"] = "any"

    def __post_init__(self):
        checked(self)


@dataclass(frozen=True, kw_only=True)
class Careless(Choosy):
    def __post_init__(self):
        pass


@dataclass(frozen=True, kw_only=True)
class Blunt(Choosy):
    def __post_init__(self):
        {"one": 1, "all": 2}[self.kind]


def complaints(options):
    said = []
    refused(options, lambda kept, sentence: None if kept else said.append(sentence))
    return said


def test_a_choice_must_be_refused_in_python_too():
    assert complaints(Choosy()) == []
    assert [sentence.partition(",")[0] for sentence in complaints(Careless())] == [
        "takes kind='no such value'",
        "takes rule='no such value'",
    ]


def test_a_metric_that_takes_any_value_for_a_choice_is_caught(overlap, caught):
    @dataclass(frozen=True, kw_only=True)
    class Careless(overlap):
        fold: Literal["lower", "none"] = "lower"
        info: ClassVar = MetricInfo("careless")

    caught(
        Careless(), r"takes fold='no such value', which its type does not allow; call nlgauge\.core\.checked\(self\)"
    )


def test_a_choice_must_be_refused_by_the_error_of_specifications():
    assert complaints(Blunt())[0] == "refuses kind='no such value' with KeyError, expected nlgauge.SpecError"
