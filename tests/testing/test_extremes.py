from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.testing import check_metric
from nlgauge.testing.extremes import unrelated


def valued(overlap, value, **options):
    """The sound metric with another value of a pair of texts."""

    @dataclass(frozen=True, kw_only=True)
    class Broken(overlap):
        info: ClassVar = MetricInfo("broken", **options)

        def value(self, hypothesis, reference):
            return value(hypothesis, reference, super().value(hypothesis, reference))

    return Broken()


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
        @dataclass(frozen=True, kw_only=True)
        class Undefined(overlap):
            info: ClassVar = MetricInfo("undefined")

            def score(self, segments, runtime):
                found = super().score(segments, runtime)
                whole = found.values == 1
                return replace(
                    found, values=np.where(whole, np.nan, found.values), flags={**found.flags, "whole": whole}
                )

        caught(Undefined(), "a copy of '.*' scores NaN")

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
        @dataclass(frozen=True, kw_only=True)
        class Fluent(overlap):
            info: ClassVar = MetricInfo("fluent", needs=(), range=(0.0, 1.0))

            def score(self, segments, runtime):
                words = np.array([len(s.hypothesis.split()) for s in segments], dtype=float)
                return Scores(
                    signature_of(self, runtime), ids(segments), words / (words + 1), flags={"empty": words == 0}
                )

        check_metric(Fluent(), registered=False)


class TestBlanks:
    def test_a_blank_text_without_a_flag_is_caught(self, overlap, caught):
        @dataclass(frozen=True, kw_only=True)
        class Flagless(overlap):
            info: ClassVar = MetricInfo("flagless")
            flag: ClassVar = None

            def score(self, segments, runtime):
                found = super().score(segments, runtime)
                return replace(found, flags={} if self.flag is None else {"empty": self.flag(segments)})

        @dataclass(frozen=True, kw_only=True)
        class OneSided(Flagless):
            flag: ClassVar = staticmethod(
                lambda segments: np.array([not s.hypothesis.strip() for s in segments], dtype=bool)
            )

        @dataclass(frozen=True, kw_only=True)
        class Exact(Flagless):
            flag: ClassVar = staticmethod(
                lambda segments: np.array([s.hypothesis == "" or "" in s.references for s in segments], dtype=bool)
            )

        caught(Flagless(), "no flag 'empty' marks blank hypotheses and references")
        caught(OneSided(), r"segment '.*' with a blank reference does not raise the flag 'empty'")
        caught(Exact(), r"segment '.*' with a blank hypothesis does not raise the flag 'empty'")

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
        @dataclass(frozen=True, kw_only=True)
        class Terse(overlap):
            info: ClassVar = MetricInfo("terse", needs=())

            def score(self, segments, runtime):
                words = np.array([len(s.hypothesis.split()) for s in segments], dtype=float)
                return Scores(signature_of(self, runtime), ids(segments), 1 / (words + 1), flags={"empty": words == 0})

        caught(Terse(), r"with a blank hypothesis scores 1\.0, the worst of the other hypotheses")

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
        @dataclass(frozen=True, kw_only=True)
        class Lenient(overlap):
            info: ClassVar = MetricInfo("lenient", needs={"references", need})

            def score(self, segments, runtime):
                filled = {"references": ("nothing",), "source": "", "context": ({},), "table": (1,)}[need]
                return super().score(
                    [s if getattr(s, need) else replace(s, **{need: filled}) for s in segments], runtime
                )

        caught(
            Lenient(),
            rf"info\.needs names {need}, but a segment without any is scored; see nlgauge\.metrics\.check_needs",
        )

    def test_a_refusal_that_does_not_say_which_segment_is_caught(self, overlap, caught):
        @dataclass(frozen=True, kw_only=True)
        class Curt(overlap):
            info: ClassVar = MetricInfo("curt")

            def score(self, segments, runtime):
                if not all(s.references for s in segments):
                    raise InputError("references are missing")
                return super().score(segments, runtime)

        caught(
            Curt(),
            "a segment without references is refused, but 'references are missing' does not name 'without references'",
        )

    def test_a_refusal_that_is_not_ours_is_not_let_pass(self, overlap):
        @dataclass(frozen=True, kw_only=True)
        class Rough(overlap):
            info: ClassVar = MetricInfo("rough")

            def score(self, segments, runtime):
                _ = [s.references[0] for s in segments]
                return super().score(segments, runtime)

        with pytest.raises(IndexError):
            check_metric(Rough(), registered=False)


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
