from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.perturbations.perturb import make_cases
from nlgauge.runtime.cache import ScoreCache
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS, check_metric, check_options
from nlgauge.testing.metric import (
    CONTEXT,
    FOREIGN,
    ODD,
    ORDINARY,
    POOL,
    REFERENCES,
    SHORT,
    TEXTS,
    Examined,
    other_values,
    refused,
    unrelated,
)
from nlgauge.text.english.verbs import is_english


@pytest.fixture
def subject(overlap):
    return Examined(overlap(), list(SEGMENTS), Runtime(), tolerance=1e-3)


def scores(values, **options):
    return Scores(
        Signature("toy", ()), tuple(f"s{i}" for i in range(len(values))), np.array(values, dtype=float), **options
    )


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        (0.5, 0.5009, True),
        (0.5, 0.5011, False),
        (100.0, 100.09, True),  # relative above 1
        (100.0, 100.11, False),
        (0.0, 0.0009, True),  # absolute below 1
        (math.nan, math.nan, True),
        (math.nan, 0.0, False),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (math.inf, 1.0, False),
    ],
)
def test_near(subject, one, other, near):
    assert bool(subject.near(one, other)) is near
    assert bool(subject.near(one, other, slack=1e-9)) is near  # a slack never narrows the tolerance


def test_a_slack_widens(subject):
    assert subject.near(0.5, 0.6, slack=0.2)


def test_what_is_the_same_passes(subject):
    subject.same(
        scores([1, math.nan], parts={"p": np.ones(2)}), scores([1.0005, math.nan], parts={"p": np.ones(2)}), "nothing"
    )


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (
            scores([1, 3]),
            r"^overlap: a change changes the value of segment 's1' from 2\.0 to 3\.0 \(tolerance 0\.001\)$",
        ),
        (scores([1, math.nan]), r"changes the value of segment 's1' from 2\.0 to nan"),
        (scores([1, 2], parts={"p": np.ones(2)}), r"changes which parts there are, from \[\] to \['p'\]"),
        (scores([1, 2], flags={"f": np.ones(2, dtype=bool)}), r"changes which flags there are, from \[\] to \['f'\]"),
        (scores([1, 2], stats=np.ones((2, 3))), r"changes the number of statistics"),
        (
            scores([1, 2], stats=np.array([[1.0, 1.0], [7.0, 1.0]])),
            r"changes the statistic 0 of segment 's1' from 2\.0 to 7\.0",
        ),
    ],
)
def test_what_is_not_the_same_is_told_with_its_segment(subject, found, sentence):
    with pytest.raises(AssertionError, match=sentence):
        subject.same(scores([1, 2]), found, "a change")


def test_parts_and_flags_are_compared_too(subject):
    for kind, column in (("parts", np.array([0.0, 1.0])), ("flags", np.array([False, True]))):
        one, other = scores([1, 2], **{kind: {"x": column}}), scores([1, 2], **{kind: {"x": column[::-1]}})
        with pytest.raises(AssertionError, match=rf"the change changes the {kind[:-1]} 'x' of segment 's0'"):
            subject.same(one, other, "the change")


def test_ends_of_the_range_are_inside_also_after_rounding(subject):
    subject.tolerance = 0.0
    subject.within_range(np.array([0.0, 1.0, 1 + 1e-12, math.nan]), list("abcd"))
    with pytest.raises(AssertionError, match=r"^overlap: b scores 1\.000001, outside info\.range \(0\.0, 1\.0\)$"):
        subject.within_range(np.array([0.0, 1 + 1e-6]), list("ab"))


def test_every_text_is_there_once():
    assert len(set(TEXTS)) == len(TEXTS) == len(ORDINARY) + len(SHORT) + len(ODD) + len(FOREIGN)


def test_what_perturbations_tend_to_fail_on_is_there():
    assert "" in TEXTS
    assert any(text and not text.strip() for text in TEXTS)
    assert {len(text.split()) for text in SHORT} >= {0, 1, 2}
    assert any("\x00" in text for text in TEXTS)
    assert any("\ud800" <= c <= "\udfff" for text in TEXTS for c in text)
    assert any(ord(c) > 0xFFFF for text in TEXTS for c in text)  # beyond what UTF-16 holds in one unit
    assert any(" " not in text and len(text) > 500 for text in TEXTS)
    assert max(len(text.split()) for text in TEXTS) > 1000
    assert any("’" in text for text in ORDINARY)
    assert any("'" in text for text in ORDINARY)
    assert any(text.isupper() for text in ORDINARY)
    assert any(text.islower() and not text.endswith(".") for text in ORDINARY)
    assert any(text.endswith("?") for text in ORDINARY)
    assert any(blank in text for text in ODD for blank in ("\u00a0", "\t", "\n"))


def test_english_is_told_from_other_languages():
    assert all(is_english(case.doc) for case in make_cases(ORDINARY))
    assert not any(is_english(case.doc) for case in make_cases(FOREIGN))


def test_what_else_a_template_may_need_is_there():
    assert len({turn["speaker"] for turn in CONTEXT}) == 2
    assert len(CONTEXT) > 2
    assert not set(POOL) & set(TEXTS)
    assert not set(REFERENCES) & set(TEXTS)


SEGMENTS_TEXTS = [text for s in SEGMENTS for text in (s.hypothesis, *s.references)]


def test_ids_are_unique_and_every_segment_has_all_that_a_metric_may_need():
    assert len(Dataset(SEGMENTS)) == len(SEGMENTS)
    for segment in SEGMENTS:
        assert segment.references
        assert segment.source
        assert segment.context
        assert segment.table
        assert segment.system
        assert segment.item


def test_what_metrics_tend_to_fail_on_is_there():
    assert "" in SEGMENTS_TEXTS
    assert any(text and not text.strip() for text in SEGMENTS_TEXTS)
    assert any(s.hypothesis == s.references[0] != "" for s in SEGMENTS)
    assert any(len(s.references) > 2 for s in SEGMENTS)
    assert any(not re.search(r"\w", text) for text in SEGMENTS_TEXTS if text.strip())
    assert any(ord(c) > 0xFFFF for text in SEGMENTS_TEXTS for c in text)  # beyond what UTF-16 holds in one unit
    assert any("\u0301" in text for text in SEGMENTS_TEXTS)
    assert any("\u2028" in text for text in SEGMENTS_TEXTS)
    assert max(len(text.split()) for text in SEGMENTS_TEXTS) > 300
    assert any(" " not in text and len(text) > 10 for text in SEGMENTS_TEXTS)


def test_one_text_occurs_twice():
    keys = [(s.hypothesis, s.references) for s in SEGMENTS]
    assert len(set(keys)) < len(keys)


def test_unrelated_text_can_be_made_for_every_one():
    for text in SEGMENTS_TEXTS:
        assert not set(text.lower()) & set(unrelated(text)) - {" "}


def variant(overlap, name, options=None, **members):
    """The sound metric with other members."""
    members = {"info": MetricInfo(name, **(options or {})), "__annotations__": {}, **members}
    return dataclass(frozen=True, kw_only=True)(type(name.title(), (overlap,), members))


def returning(overlap, change, **options):
    """The sound metric whose scores are changed by a function."""
    return variant(overlap, "broken", options, score=lambda self, *given: change(overlap.score(self, *given)))()


def test_a_metric_that_can_be_changed_or_is_a_class_is_caught(overlap):
    @dataclass
    class Thawed:
        lowercase: bool = True
        info: ClassVar = MetricInfo("thawed")
        score = overlap.score
        value = overlap.value

    class Plain:
        info = MetricInfo("plain")
        score = overlap.score

    for metric in (Thawed(), Plain(), overlap):
        with pytest.raises(
            AssertionError,
            match=r"^(Thawed|Plain|type): a metric is an object of a frozen dataclass, whose fields are its options$",
        ):
            check_metric(metric, registered=False)


def test_a_range_upside_down_is_caught(overlap, caught):
    caught(
        returning(overlap, lambda s: s, range=(1.0, 0.0)),
        r"info\.range is \(1\.0, 0\.0\), expected the lower end first",
    )


def test_a_pool_that_the_signature_hides_is_caught(overlap, caught):
    hidden = variant(overlap, "hidden", pooled=True, facts=lambda self, runtime: {"pool": None})
    caught(hidden(), "the metric is pooled, but no entry 'pool' of its signature says over what")


BROKEN = [
    (
        "direction",
        lambda s: replace(s, higher_is_better=False),
        r"Scores\.higher_is_better is not what info\.higher_is_better says",
    ),
    (
        "signature",
        lambda s: replace(s, signature=Signature("broken", (("metric", "broken"),))),
        r"Scores\.signature is metric:broken, signature_of\(metric, runtime\) is metric:broken\|lowercase:true",
    ),
    (
        "order of ids",
        lambda s: replace(s, ids=s.ids[::-1]),
        "the ids of the scores are not those of the segments, in their order",
    ),
    (
        "part of float32",
        lambda s: replace(s, parts={"p": s.values.astype(np.float32)}),
        "part 'p' is float32, expected float64",
    ),
    (
        "flag of numbers",
        lambda s: replace(s, flags={"empty": s.flags["empty"] * 1}),
        "flag 'empty' is int64, expected bool",
    ),
    (
        "silent NaN",
        lambda s: replace(s, values=np.where((s.values > 0) & (s.values < 1), np.nan, s.values)),
        "segment '.*' scores NaN and no flag says why",
    ),
    (
        "above the range",
        lambda s: replace(s, values=s.values * 1.01),
        r"segment 'copy' scores 1\.01, outside info\.range \(0\.0, 1\.0\)",
    ),
    (
        "below the range",
        lambda s: replace(s, values=s.values - 0.01),
        r"segment '.*' scores -0\.01, outside info\.range",
    ),
    (
        "infinity",
        lambda s: replace(s, values=np.where(s.values == 1, np.inf, s.values)),
        "outside info.range|is not finite",
    ),
    (
        "statistics with NaN",
        lambda s: replace(s, stats=np.stack([np.where(s.values == 0, np.nan, s.values), np.ones(len(s))], axis=1)),
        "a segment statistic is not finite, so that no sum of them is a corpus number",
    ),
    (
        "a finish that forgets axes",
        lambda s: replace(
            s, stats=np.ones((len(s), 2)), finish=lambda t: np.asarray(t[..., 0] / t[..., 1]).ravel()[:1].squeeze()
        ),
        r"finish takes totals of shape \(1, 3, k\) to \(\), expected \(1, 3\)",
    ),
    (
        "a finish that mixes systems",
        lambda s: replace(
            s,
            stats=np.stack([s.values, np.ones(len(s))], axis=1),
            finish=lambda t: np.asarray(t[..., 0] / t[..., 1].max()),
        ),
        "finish gives other numbers over leading axes than one by one",
    ),
    (
        "a finish without statistics",
        lambda s: replace(s, finish=lambda t: np.asarray(t[..., 0] / t[..., 1])),
        "finish is given without the statistics it is for",
    ),
    (
        "a corpus number beyond the range",
        lambda s: replace(s, stats=np.ones((len(s), 1)), finish=lambda t: np.asarray(t[..., 0] + 1)),
        r"the corpus scores \d+\.0, outside info\.range",
    ),
]


@pytest.mark.parametrize(("change", "sentence"), [pytest.param(*row[1:], id=row[0]) for row in BROKEN])
def test_scores_that_are_not_what_they_should_be_are_caught(overlap, caught, change, sentence):
    caught(returning(overlap, change), sentence)


def test_something_else_than_scores_is_caught(overlap, caught):
    caught(returning(overlap, lambda s: s.values), "score returns ndarray, expected Scores")


def test_an_info_that_is_none_is_caught(overlap):
    uninformed = variant(overlap, "uninformed", info={"name": "uninformed"})
    with pytest.raises(AssertionError, match=r"^Uninformed: info is dict, expected MetricInfo$"):
        check_metric(uninformed(), registered=False)


def test_a_signature_that_does_not_know_the_runtime_is_caught(overlap, caught):
    def score(self, *given):
        return replace(overlap.score(self, *given), signature=signature(self))

    unaware = variant(overlap, "unaware", score=score, facts=lambda self, runtime: {"dtype": runtime.dtype})
    caught(unaware(), r"Scores\.signature is .*, signature_of\(metric, runtime\) is .*dtype:float32")


def test_an_option_missing_from_the_signature_is_caught(overlap, caught):
    caught(
        variant(overlap, "hidden", facts=lambda self, runtime: {"lowercase": None})(),
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
    forgetful = variant(overlap, "forgetful", spec="forgetful")
    for metric in (forgetful(lowercase=False), forgetful()):  # the second is found with the other value
        caught(metric, r"signature\.spec 'forgetful' rebuilds .*lowercase=True\), expected .*lowercase=False\)")


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


def valued(overlap, value, **options):
    """The sound metric with another value of a pair of texts."""
    return variant(overlap, "broken", options, value=lambda self, *texts: value(*texts, overlap.value(self, *texts)))()


def counting(overlap, value):
    """A metric of the words of the hypothesis alone."""

    def score(self, segments, runtime):
        words = np.array([len(s.hypothesis.split()) for s in segments], dtype=float)
        return Scores(signature_of(self, runtime), ids(segments), value(words), flags={"empty": words == 0})

    return variant(overlap, "counting", {"needs": ()}, score=score)()


class TestCopies:
    def test_a_copy_that_is_not_best_is_caught_unless_declared(self, overlap, caught):
        def odd(hypothesis, reference, value):
            return 0.25 * value if hypothesis == reference else value

        caught(
            valued(overlap, odd),
            r"a copy of '.*' scores 0\.25, and '.*' does better with .*; if that is meant, say copy_is_best=False",
        )
        check_metric(valued(overlap, odd, copy_is_best=False), registered=False)

    def test_an_error_rate_with_its_direction_undeclared_is_caught(self, overlap, caught):
        caught(valued(overlap, lambda h, r, value: 1 - value), "scores .*, .*(does better|the worst|in common with it)")

    def test_a_copy_that_is_undefined_is_caught(self, overlap, caught):
        def undefined(found):
            whole = found.values == 1
            return replace(found, values=np.where(whole, np.nan, found.values), flags={**found.flags, "whole": whole})

        caught(returning(overlap, undefined), "a copy of '.*' scores NaN")

    def test_a_constant_is_caught(self, overlap, caught):
        constant = valued(overlap, lambda h, r, value: 0.0)
        caught(constant, "a copy of a reference never scores better than text that has nothing in common with it")

    def test_only_the_length_is_caught(self, overlap, caught):
        def length(hypothesis, reference, value):
            one, other = len(hypothesis.strip()), len(reference.strip())
            return min(one, other) / max(one, other) if one and other else 0.0

        check_metric(
            valued(overlap, length, copy_is_best=False), registered=False
        )  # that it looks at nothing else is no promise broken
        caught(
            valued(overlap, lambda h, r, v: 1 - length(h, r, v) if h.strip() and r.strip() else 0.0),
            "if that is meant, say copy_is_best=False",
        )

    def test_without_references_there_is_no_copy(self, overlap):
        check_metric(counting(overlap, lambda words: words / (words + 1)), registered=False)


class TestBlanks:
    def test_a_blank_text_without_a_flag_is_caught(self, overlap, caught):
        def flagging(is_empty):
            def change(found, segments, runtime):
                return replace(found, flags={"empty": np.array([is_empty(s) for s in segments], dtype=bool)})

            return broken(overlap, change)

        flagless = returning(overlap, lambda found: replace(found, flags={}))
        caught(flagless, "no flag 'empty' marks blank hypotheses and references")
        one_sided, exact = (lambda s: not s.hypothesis.strip()), (lambda s: s.hypothesis == "" or "" in s.references)
        caught(flagging(one_sided), r"segment '.*' with a blank reference does not raise the flag 'empty'")
        caught(flagging(exact), r"segment '.*' with a blank hypothesis does not raise the flag 'empty'")

    @pytest.mark.parametrize("side", ["hypothesis", "reference"])
    def test_a_blank_text_that_beats_unrelated_text_is_caught(self, overlap, caught, side):
        def lucky(hypothesis, reference, value):
            blank = hypothesis if side == "hypothesis" else reference
            return 0.5 if not blank.strip() else value

        caught(
            valued(overlap, lucky),
            rf"segment '.*' with a blank {side} scores 0\.5, text that has nothing in common with it 0\.0",
        )

    def test_without_references_a_blank_text_that_beats_any_other_is_caught(self, overlap, caught):
        terse = counting(overlap, lambda words: 1 / (words + 1))
        caught(terse, r"with a blank hypothesis scores 1\.0, the worst of the other hypotheses")

    def test_a_metric_that_fails_on_a_blank_text_is_not_let_pass(self, overlap):
        with pytest.raises(ZeroDivisionError):
            check_metric(valued(overlap, lambda h, r, value: value if h.split() else 1 / 0), registered=False)

    def test_a_blank_text_outside_the_range_is_caught(self, overlap, caught):
        caught(
            valued(overlap, lambda h, r, value: value if h.strip() else -1.0),
            r"scores -1\.0, outside info\.range \(0\.0, 1\.0\)",
        )


class TestNeeds:
    @pytest.mark.parametrize("need", ["references", "source", "context", "table"])
    def test_a_metric_that_scores_what_it_cannot_is_caught(self, overlap, caught, need):
        def score(self, segments, runtime):
            filled = {"references": ("nothing",), "source": "", "context": ({},), "table": (1,)}[need]
            whole = [s if getattr(s, need) else replace(s, **{need: filled}) for s in segments]
            return overlap.score(self, whole, runtime)

        caught(
            variant(overlap, "lenient", {"needs": {"references", need}}, score=score)(),
            rf"info\.needs names {need}, but a segment without any is scored; see nlgauge\.metrics\.check_needs",
        )

    def test_a_refusal_that_does_not_say_which_segment_is_caught(self, overlap, caught):
        def score(self, segments, runtime):
            if not all(s.references for s in segments):
                raise InputError("references are missing")
            return overlap.score(self, segments, runtime)

        caught(
            variant(overlap, "curt", score=score)(),
            "a segment without references is refused, but 'references are missing' does not name 'without references'",
        )

    def test_a_refusal_that_is_not_ours_is_not_let_pass(self, overlap):
        def score(self, segments, runtime):
            _ = [s.references[0] for s in segments]
            return overlap.score(self, segments, runtime)

        with pytest.raises(IndexError):
            check_metric(variant(overlap, "rough", score=score)(), registered=False)


def test_segments_without_any_reference_that_is_not_blank_are_no_material(overlap, caught):
    blank = [Segment("a", "b", (" ",)), Segment("c", "d", ("",))]
    caught(overlap(), "the segments hold no reference that is not blank, so a copy cannot be tried", segments=blank)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30))
def test_unrelated_text_shares_no_letter_and_has_as_many_words(text):
    try:
        found = unrelated(text)
    except InputError:
        return
    assert not set(text.lower()) & set(found) - {" "}
    assert len(found.split()) == max(1, len(text.split()))


def test_unrelated_text_is_in_a_script_that_the_text_does_not_use():
    assert unrelated("снег и λόγος") == "მთა წყალი ხიდი"
    with pytest.raises(InputError, match="mixes Greek, Cyrillic and Georgian"):
        unrelated("снег λόγος მთა")


def broken(overlap, change, pooled=False, **options):
    """The sound metric whose scores of a call are changed by a function of scores, segments and runtime."""

    def score(self, segments, runtime):
        return change(overlap.score(self, segments, runtime), segments, runtime)

    return variant(overlap, "broken", options, score=score, pooled=pooled)()


def times(scores, factors):
    return replace(scores, values=scores.values * np.asarray(factors, dtype=float))


def test_chance_is_caught(overlap, caught):
    rng = np.random.default_rng(0)
    caught(
        broken(overlap, lambda s, _, __: times(s, rng.uniform(0.9, 1.0, len(s)))),
        "scoring again changes the value of segment 'plain'",
    )


def test_memory_is_caught(overlap, caught):
    calls = []
    caught(
        broken(overlap, lambda s, _, __: times(s, [0.5 ** len(calls)] * len(s)) if not calls.append(1) else s),
        "scoring again changes the value",
    )


def test_a_value_that_depends_on_the_place_is_caught(overlap, caught):
    metric = broken(overlap, lambda s, _, __: times(s, 1 - np.arange(len(s)) / 100))
    caught(metric, "the order of the segments changes the value of segment 'plain'")


def test_a_value_that_depends_on_the_distance_from_the_middle_is_caught(overlap, caught):
    # backwards this metric would look sound
    metric = broken(overlap, lambda s, _, __: times(s, 1 - np.abs(np.arange(len(s)) - (len(s) - 1) / 2) / 100))
    caught(metric, "the order of the segments changes the value of segment 'plain'")


def test_a_value_that_depends_on_the_batch_is_caught(overlap, caught):
    metric = broken(overlap, lambda s, _, runtime: times(s, [0.9 if runtime.token_budget == 1 else 1] * len(s)))
    caught(metric, "a token budget of 1 changes the value of segment 'plain'")


def test_a_value_that_depends_on_the_company_is_caught_unless_declared(overlap, caught):
    def centred(scores, segments, runtime):
        return replace(scores, values=scores.values - scores.values.mean())

    sentence = "the company of the other segments changes the value .*by definition says so by pooled = True"
    caught(broken(overlap, centred, range=(-1.0, 1.0)), sentence)
    check_metric(broken(overlap, centred, pooled=True, range=(-1.0, 1.0)), registered=False)


def test_a_pool_that_depends_on_the_order_is_caught(overlap, caught):
    def from_the_first(scores, segments, runtime):
        return replace(scores, values=scores.values - scores.values[0])

    metric = broken(overlap, from_the_first, pooled=True, range=(-1.0, 1.0))
    caught(metric, "the order of the segments changes the value")


def test_a_second_occurrence_that_scores_otherwise_is_caught(overlap, caught):
    def deduplicated(scores, segments, runtime):
        texts = [(s.hypothesis, s.references) for s in segments]
        return times(scores, [text not in texts[:i] for i, text in enumerate(texts)])

    caught(broken(overlap, deduplicated), "changes the value of segment 'plain( again)?' from")


@pytest.mark.parametrize("kind", ["parts", "flags"])
def test_columns_that_come_and_go_are_caught(overlap, caught, kind):
    def change(scores, segments, runtime):
        column = np.ones(len(scores)) if kind == "parts" else np.ones(len(scores), dtype=bool)
        return replace(scores, **{kind: {**getattr(scores, kind), "extra": column}}) if len(scores) == 1 else scores

    # with one segment alone there is a column that its neighbours lack; to join them is already an error
    with pytest.raises((AssertionError, KeyError), match=f"changes which {kind} there are|extra"):
        check_metric(broken(overlap, change), registered=False)


def test_an_empty_list_without_the_parts_of_a_full_one_is_caught(overlap, caught):
    caught(
        broken(overlap, lambda s, _, __: s if len(s) else replace(s, parts={})),
        "an empty list of segments gives other parts than a full one",
    )


def test_an_empty_list_that_fails_is_not_let_pass(overlap):
    with pytest.raises(ZeroDivisionError):
        check_metric(broken(overlap, lambda s, segments, _: s if segments else 1 / 0), registered=False)


@pytest.mark.parametrize(
    ("field", "empty"),
    [("source", None), ("system", None), ("item", None), ("id", "bare"), ("context", ()), ("table", ())],
)
def test_reading_what_is_not_declared_is_caught(overlap, caught, field, empty):
    def change(scores, segments, runtime):
        there = [not str(s.id).startswith("bare") if field == "id" else getattr(s, field) != empty for s in segments]
        return times(scores, np.where(there, 1.0, 0.5))

    caught(
        broken(overlap, change),
        r"leaving out what info\.needs \(references\) does not name changes the value of segment 'plain'",
    )
    if field in ("source", "context", "table"):
        check_metric(broken(overlap, lambda s, segments, _: s, needs={"references", field}), registered=False)


@pytest.mark.parametrize(
    "change",
    [
        lambda segments: segments.reverse(),
        lambda segments: segments.pop(),
        lambda segments: segments.__setitem__(0, replace(segments[0], hypothesis="")),
        lambda segments: segments[0].context[0].__setitem__("text", ""),
    ],
)
def test_a_metric_that_changes_what_it_is_given_is_caught(overlap, caught, change):
    def careless(scores, segments, runtime):
        if segments:
            change(segments)
        return scores

    own = [replace(s, context=tuple(map(dict, s.context))) for s in SEGMENTS]  # ours are left as they are
    caught(broken(overlap, careless), "score changes the segments it is given", segments=own)


class TestCache:
    def test_a_corpus_number_that_is_no_mean_is_lost_in_the_cache_and_caught(self, overlap, caught):
        def summed(scores, segments, runtime):
            lengths = np.array([len(s.hypothesis) + 1.0 for s in segments])
            return replace(
                scores,
                stats=np.stack([scores.values * lengths, lengths], axis=1),
                finish=lambda t: np.asarray(t[..., 0] / t[..., 1]),
            )

        caught(broken(overlap, summed, cached=True), "going through the score cache changes")

    def test_a_metric_that_forgets_its_flags_behind_the_cache_is_caught(self, overlap, caught, monkeypatch):
        get = ScoreCache.get
        monkeypatch.setattr(
            ScoreCache, "get", lambda self, *asked: {k: row * 0.99 for k, row in get(self, *asked).items()}
        )
        caught(
            broken(overlap, lambda s, _, __: s, cached=True),
            "coming back from the score cache changes the value of segment",
        )

    def test_without_a_model_the_cache_is_left_alone(self, overlap, monkeypatch):
        monkeypatch.setattr(ScoreCache, "put", lambda *_: pytest.fail("stored"))
        check_metric(overlap(), registered=False)
