"""The direction of scores made elsewhere: recorded, known by the name, or guessed aloud."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.metrics.external.direction import BY_NAME, GUESSED, NEGATED, Direction, by_name, direction_of

RISING, FALLING = np.array([0.1, 0.9]), np.array([20.0, np.nan])


def test_what_is_recorded_counts_and_needs_no_word():
    assert direction_of("ter", FALLING, recorded=True) == Direction(True)
    assert direction_of("anything", FALLING, recorded=False) == Direction(False)


@pytest.mark.parametrize("name", ["ter", "TER", "ter:normalized=true", "WER", "perplexity", "MetricX-24", "TER-refA"])
def test_an_error_rate_falls_by_its_name(name):
    assert direction_of(name, FALLING) == Direction(False, BY_NAME)


def test_an_error_rate_that_was_negated_rises():
    assert direction_of("ter", -FALLING) == Direction(True, NEGATED)
    assert direction_of("ter", np.array([0.0, np.nan])) == Direction(False, BY_NAME)  # no errors, not negated ones


@pytest.mark.parametrize(
    "name",
    ["bleu", "chrF++", "bertscore:layer=5", "COMET", "BLEU-refA.refB", "xcomet-src", "0.5*ter + 0.5*bleu", "BLEURT"],
)
def test_a_known_metric_that_rises_needs_no_word(name):
    assert direction_of(name, RISING) == Direction(True)


@pytest.mark.parametrize(
    "name",
    [
        "mine",
        "InfoLM",
        "bertscore.precision",
        "human.adequacy",
        "scores",
        "a column, oddly named",
        "glossy",
        "people",
        "error",
    ],
)
def test_an_unknown_name_is_guessed_aloud(name):
    assert by_name(name) is None
    assert direction_of(name, RISING) == Direction(True, GUESSED)


@pytest.mark.parametrize(
    "name",
    [
        *("WER", "word error rate", "Character Error Rate", "extended edit distance", "characTER"),
        *("ppl", "PPL", "gpt2_ppl", "nll", "loss", "val_loss", "HTER", "hter-refA", "toxicity", "detoxify.toxicity"),
        *("error_rate", "phone error rate", "edit-distance", "log perplexity"),
    ],
)
def test_error_rates_are_known_by_other_names_too(name):
    assert by_name(name) is False
