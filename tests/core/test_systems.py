from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.systems import mad_outliers, select_systems

ALL = ("A", "B", "refA", "refB", "post", "bad")


def chosen(**options):
    return select_systems(ALL, references=["refA"], humans=["refA", "refB"], outliers=["bad"], **options)


def test_each_system_left_out_has_its_reason():
    selection = chosen(close_references=["post"], rated=["B", "bad"])
    assert selection.kept == ("B",)
    assert selection.left_out == {
        "A": "has no human score",
        "refA": "is a reference the metrics use",
        "refB": "written by people",
        "post": "is close to a reference the metrics use",
        "bad": "an outlier",
    }
    assert selection.note.startswith("1 of 6 systems (left out A: has no human score; refA: is a reference")


def test_people_and_outliers_stay_on_request_but_never_the_reference_itself():
    assert chosen(include_humans=True, include_outliers=True).kept == ("A", "B", "refB", "post", "bad")
    assert select_systems(["A"]).note == "1 of 1 systems"


def test_a_misspelt_outlier_is_refused():
    with pytest.raises(InputError, match=r"^outlier 'Bad2' is not among the systems; did you mean 'bad'\?$"):
        select_systems(ALL, outliers=["Bad2"])


def test_outliers_worked_by_hand():
    # median 3; distances 2 1 0 1 17, their median 1; 17 / 1.4826 = 11.47, 2 / 1.4826 = 1.35
    found = mad_outliers({"a": 1, "b": 2, "c": 3, "d": 4, "e": 20})
    assert found.names == ("e",)
    assert found.distances["e"] == pytest.approx(17 / 1.4826)
    assert mad_outliers({"a": 1, "b": 2, "c": 3, "d": 4, "e": 20}, cutoff=1.0).names == ("a", "e")


def test_where_half_of_the_systems_agree_the_rule_says_nothing():
    found = mad_outliers({"a": 1, "b": 1, "c": 1, "d": 2})
    assert found.names == ()
    assert all(math.isnan(distance) for distance in found.distances.values())


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ({}, "no system has a human score, expected at least one"),
        ({"a": math.nan}, "the human score of system 'a' is nan, expected a finite number"),
    ],
)
def test_what_is_no_score_is_refused(scores, says):
    with pytest.raises(InputError) as error:
        mad_outliers(scores)
    assert str(error.value) == says


@given(
    values=st.lists(st.integers(-50, 50), min_size=3, max_size=12),
    scale=st.sampled_from([0.25, 2.0, 8.0]),
    shift=st.integers(-9, 9),
)
def test_outliers_do_not_depend_on_scale_or_origin(values, scale, shift):
    # powers of two and small whole numbers: no rounding anywhere
    first = mad_outliers({str(i): v for i, v in enumerate(values)})
    assert mad_outliers({str(i): v * scale + shift for i, v in enumerate(values)}).names == first.names
