"""Thresholds of a head: fixed where they help most, written into its file, and used by whoever reads it."""

from importlib.util import find_spec

import numpy as np
import pytest

if find_spec("peft") is None:  # to import it takes seconds, in every worker
    pytest.skip("peft is not installed", allow_module_level=True)

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.models.spans import Judged, load_spans
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.explaining import Thresholds, thresholds
from nlgauge.training import span_thresholds
from nlgauge.training.recipe import Recipe, Schedule
from nlgauge.training.span_examples import SpanExample
from nlgauge.training.span_thresholds import fix_thresholds, score_spans, threshold_of_texts, write_thresholds
from nlgauge.training.spans import train_spans

RIGHT = "the cat sat on the mat"
EXAMPLES = [
    SpanExample("the dog sat on the mat", RIGHT, (ErrorSpan(4, 7, "major"),)),
    SpanExample("the cat lay on the mat", RIGHT, (ErrorSpan(8, 11, "major"),)),
    SpanExample("the cat sat on that mat", RIGHT, ()),  # no copy, which has no mark whatever a head says
]
# What a head says: it is sure of the errors at .62, and of right words at .4; a gap at .52 in the text without errors.
FAULTY = {0: {1: 0.62, 3: 0.4}, 1: {2: 0.62}, 2: {5: 0.4}}
GAPS = {2: 0.52}


@pytest.fixture
def head(tiny_model, tmp_path):
    path = tmp_path / "head.safetensors"
    recipe = Recipe(model=str(tiny_model("bert")), rank=2, max_tokens=40, schedule=Schedule(batch_size=4))
    train_spans([one.labelled() for one in EXAMPLES], path, recipe, Runtime())
    return path


@pytest.fixture
def says(monkeypatch):
    def judged(i):
        major, missing = np.zeros(6), np.zeros(7)
        for place, value in FAULTY[i].items():
            major[place] = value
        missing[3] = GAPS.get(i, 0)
        return Judged(np.zeros(6), major, missing, 6)

    monkeypatch.setattr(
        "nlgauge.models.spans.SpanModel.judge", lambda self, pairs, *rest: [judged(i) for i in range(3)]
    )


def test_the_threshold_lies_between_errors_and_right_words(head, says):
    assert thresholds(load_spans(str(head), "float32", Runtime())) == Thresholds(0.5, 0.5)  # without any
    before = score_spans(head, EXAMPLES, Runtime(), "dev")
    limits = fix_thresholds(head, EXAMPLES, Runtime())
    # Right words have .4 and errors .62: each threshold between them marks the errors alone.
    assert 0.4 < limits.words < 0.62
    assert limits.missing == 0.55  # the lowest of the grid above .52
    assert thresholds(load_spans(str(head), "float32", Runtime())) == limits
    after = score_spans(head, EXAMPLES, Runtime(), "dev")
    assert (after.name, after.n, after.f1, after.left_clean) == ("dev", 3, 1.0, 1.0)
    assert before.left_clean == 0  # of a gap at .52, above .5


def test_without_clean_texts_nothing_tells_when_something_is_missing(head, says, monkeypatch):
    monkeypatch.setitem(FAULTY, 2, {5: 0.62})
    marked = [*EXAMPLES[:2], SpanExample(RIGHT, RIGHT, (ErrorSpan(19, 22, "major"),))]
    assert fix_thresholds(head, marked, Runtime()).missing == 0.5
    assert np.isnan(score_spans(head, marked, Runtime()).left_clean)


def test_a_head_that_sees_gaps_everywhere_names_none(head, says, monkeypatch):
    monkeypatch.setitem(GAPS, 2, 0.99)
    assert fix_thresholds(head, EXAMPLES, Runtime()).missing == span_thresholds._NEVER


def test_the_weights_stay_and_no_examples_are_refused(head, says):
    from safetensors.numpy import load_file

    before = load_file(head)
    fix_thresholds(head, EXAMPLES, Runtime())
    after = load_file(head)
    assert before.keys() == after.keys()
    assert all((before[name] == after[name]).all() for name in before)
    with pytest.raises(InputError, match="no examples to fix thresholds on"):
        fix_thresholds(head, [], Runtime())


def test_few_enough_right_texts_pass_for_faulty():
    # Of 200 right texts 13 may pass: Wilson's one-sided 95 % limit of 13/200 is .0999, of 14/200 .106.
    right = [i / 1000 for i in range(200)]
    text = threshold_of_texts(right, 0.1)
    assert sum(one >= text for one in right) == 13
    assert threshold_of_texts(right[::-1], 0.1) == text
    assert threshold_of_texts([0.9999] * 200, 0.1) == 0.999  # no threshold above what a probability can be


@pytest.mark.parametrize(
    ("n", "share", "message"), [(200, 0, "expected a share"), (10, 0.1, "10 texts without errors")]
)
def test_a_share_that_so_few_texts_cannot_show_is_refused(n, share, message):
    with pytest.raises(InputError, match=message):
        threshold_of_texts([0.5] * n, share)


def test_thresholds_take_the_place_of_earlier_ones(head):
    write_thresholds(head, Thresholds(0.2, 0.7, 0.6))
    assert thresholds(load_spans(str(head), "float32", Runtime())) == Thresholds(0.2, 0.7, 0.6)
    write_thresholds(head, Thresholds(0.3, 0.7))
    assert thresholds(load_spans(str(head), "float32", Runtime())) == Thresholds(0.3, 0.7, 0.0)


def test_examples_without_places_fix_nothing(head):
    with pytest.raises(InputError, match="no example has known places"):
        fix_thresholds(head, [SpanExample("a b", "a c", None, faulty=True)], Runtime())
