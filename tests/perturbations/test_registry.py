"""Which perturbations there are, and how specifications become templates."""

import dataclasses
import inspect

import pytest

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.base import NEEDS, Perturbation, PerturbationInfo
from nlgauge.perturbations.registry import PERTURBATIONS, info, perturbation
from nlgauge.perturbations.surface.order import RemovePunctuation

NAMES = list(PERTURBATIONS.entries)


def test_every_entry_leads_to_a_frozen_template_of_that_name():
    for name in NAMES:
        built = perturbation(name)
        assert isinstance(built, Perturbation), name
        assert isinstance(info(name), PerturbationInfo), name
        assert built.info is info(name)
        assert info(name).name == name
        assert dataclasses.is_dataclass(built), name
        assert type(built).__dataclass_params__.frozen, name
        assert built == perturbation(name)
        assert all(p.kind is p.KEYWORD_ONLY for p in inspect.signature(type(built)).parameters.values()), name


def test_every_template_says_what_it_does_needs_and_makes():
    for name in NAMES:
        told = info(name)
        assert told.summary == told.summary.strip() != "", name
        assert told.summary[0].islower(), name
        assert not told.summary.endswith("."), name
        assert told.needs <= NEEDS.keys(), name
        assert told.expect in ("lower", "same"), name
        assert told.example[0] != told.example[1], name


def test_there_are_no_two_templates_of_one_class_and_options():
    assert len({(e.target, *e.preset.items()) for e in PERTURBATIONS.entries.values()}) == len(NAMES)


def test_options_stand_in_the_specification():
    assert perturbation("remove_punctuation:mode=misplace") == RemovePunctuation(mode="misplace")


def test_a_template_is_returned_as_it_is():
    mine = RemovePunctuation()
    assert perturbation(mine) is mine


@pytest.mark.parametrize(
    ("spec", "match"),
    [
        ("jumble_word", "unknown perturbation 'jumble_word'.*jumble_words"),
        ("remove_punctuation:mod=misplace", "mod"),
        ("remove_punctuation:mode=misplaced", "misplace"),
        ("0.5*typos + 0.5*negation", "is a sum, expected one perturbation"),
        (RemovePunctuation, "got the class RemovePunctuation"),
        (7, "got int"),
    ],
)
def test_what_names_no_template_is_refused(spec, match):
    with pytest.raises(SpecError, match=match):
        perturbation(spec)
