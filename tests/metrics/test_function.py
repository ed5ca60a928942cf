"""Plain functions as metrics: what they are given, how they are signed, and what is refused in one line."""

from __future__ import annotations

import math
from hashlib import sha256

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.metrics.function import Function, Plain

SEGMENTS = ng.Dataset(
    (
        ng.Segment("a", "x y", ("x", "x y z"), source="s", table=(("k", "v"),)),
        ng.Segment("b", "", ("u v",), source="t"),
    )
)


def longest(hypothesis: str, references: list[str], source: str = "none") -> float:
    """Words of the longest reference."""
    assert isinstance(references, list)
    assert source in ("s", "t")
    return max(len(reference.split()) for reference in references)


def of_table(hypothesis, table, *, weight=2.0):
    return weight * len(table)


def errors(hypothesis):
    return math.nan if not hypothesis else 1


def test_a_function_is_given_what_its_arguments_name():
    scores = ng.score(SEGMENTS, metrics=[longest, "chrf"])["longest"]
    assert scores.values.tolist() == [3.0, 2.0]
    assert scores.system == 2.5
    assert scores.flags["empty"].tolist() == [False, True]
    assert ng.metric(longest).info.needs == {"references"}  # an argument with a default is no need
    assert ng.metric(longest).info.summary == "Words of the longest reference."


def test_what_a_segment_lacks_is_refused_by_name():
    whole = ng.Dataset(SEGMENTS.segments[:1])
    assert ng.score(whole, metrics=of_table)["of_table"].values.tolist() == [2.0]
    with pytest.raises(InputError, match=r"^of_table needs table; segment 'b' has none$"):
        ng.score(SEGMENTS, metrics=[of_table])


def test_a_function_is_signed_by_module_name_and_digest_of_its_file():
    with open(__file__, "rb") as file:
        digest = sha256(file.read()).hexdigest()[:16]
    scores = ng.score(SEGMENTS, metrics=ng.metric(errors, higher_is_better=False))
    (spec,) = scores
    assert spec == "errors:higher_is_better=false"
    entries = dict(scores[spec].signature.entries)
    assert entries["function"] == f"{__name__}:errors"
    assert entries["file"] == f"sha256:{digest}"
    assert entries["higher_is_better"] == "false"
    assert not scores[spec].higher_is_better
    assert np.isnan(scores[spec].values[1])  # NaN is undefined, and counted
    assert scores[spec].n_undefined == 1


def test_a_function_without_a_file_says_that_its_version_is_not_known():
    made: dict[str, object] = {}
    exec("def f(hypothesis): return 1", made)
    assert dict(ng.metric(made["f"]).facts(ng.Runtime()))["file"] == "unknown"


def test_an_unknown_direction_is_told():
    assert ng.metric(longest).notes == ("a higher value is taken as better; higher_is_better=false if not",)
    assert Function(function=Plain(longest), higher_is_better=True).notes == ()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda hypothesis: 1, "a function is called '<lambda>', expected a name"),
        (lambda: None, "a function is called '<lambda>'"),
    ],
)
def test_a_function_without_a_name_is_refused(function, message):
    with pytest.raises(SpecError, match=message):
        ng.metric(function)


def test_an_unknown_argument_is_refused_with_the_nearest():
    def odd(hypothesis, referencs):
        return 0

    with pytest.raises(SpecError, match="odd: the argument 'referencs' has no default; did you mean 'references'"):
        ng.metric(odd)

    def nothing(references):
        return 0

    with pytest.raises(SpecError, match="nothing has no argument 'hypothesis'"):
        ng.metric(nothing)


@pytest.mark.parametrize("value", ["1", None, [1.0], math.inf, {}, 10**400, b"1"])
def test_what_is_no_number_is_refused_with_the_segment(value):
    def given(hypothesis):
        return value

    with pytest.raises(InputError, match=r"given gives .* for segment 'a', expected a number, or NaN"):
        ng.score(SEGMENTS, metrics=given)


def test_a_function_that_fails_names_the_segment_in_one_line():
    def failing(hypothesis):
        return 1 / len(hypothesis.split())

    with pytest.raises(InputError, match=r"failing fails on segment 'b': ZeroDivisionError: division by zero$"):
        ng.score(SEGMENTS, metrics=failing)


@pytest.mark.parametrize("value", [True, np.float32(0.5), np.int64(1), np.array(0.25)])
def test_numbers_of_numpy_are_numbers(value):
    def given(hypothesis):
        return value

    assert ng.score(SEGMENTS, metrics=given)["given"].values.tolist() == [float(value)] * 2


def ratio(hypotheses, references, sources=None):
    """Letters against those of the first reference."""
    return np.array([len(h) / len(r[0]) for h, r in zip(hypotheses, references, strict=True)])


class Model:
    """As models of COMET's kind are called."""

    made = 0

    def __init__(self):
        type(self).made += 1

    def predict(self, samples, batch_size=8):
        scores = [len(sample["mt"]) / len(sample["ref"]) + ("src" in sample) for sample in samples]
        return {"scores": scores, "system_score": 0.0}


def test_a_function_of_all_hypotheses_gives_a_number_for_each():
    scores = ng.score(SEGMENTS, metrics=[ratio])["ratio"]
    assert scores.values.tolist() == [3.0, 0.0]  # 3 / 1 and 0 / 3 letters
    assert scores.flags["empty"].tolist() == [False, True]
    assert ng.metric(ratio).info.needs == {"references"}

    def short(hypotheses):
        return [1.0]

    with pytest.raises(InputError, match=r"short gives 1 numbers for 2 segments, expected a number for each$"):
        ng.score(SEGMENTS, metrics=[short])

    def odd(hypotheses, hypothesis):
        return [1.0]

    with pytest.raises(SpecError, match="the argument 'hypothesis' has no default"):
        ng.metric(odd)


def test_a_model_that_predicts_samples_is_made_once_and_late():
    Model.made = 0
    metric = ng.metric(Model)
    assert Model.made == 0
    assert [ng.score(SEGMENTS, metrics=metric)["Model"].values.tolist() for _ in range(2)] == [[4.0, 1.0]] * 2
    assert Model.made == 1
    given = ng.score(["abc"], ["ab"], metrics=[Model()])["Model"]  # an object, and no sources
    assert given.values.tolist() == [1.5]
    assert dict(given.signature.entries)["file"] == dict(ng.metric(ratio).facts(ng.Runtime()))["file"]
    with pytest.raises(InputError, match="Model fails on segment '1': KeyError: 'ref'"):
        ng.score(["abc"], metrics=[Model()])


@pytest.mark.parametrize("made", [[0.5], ([0.5], 0.5), np.array([0.5])])
def test_a_model_may_give_scores_as_older_ones_do(made):
    class Old:
        def predict(self, samples):
            return made

    assert ng.score(["a"], metrics=[Old()])["Old"].values.tolist() == [0.5]
