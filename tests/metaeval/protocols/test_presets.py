"""Protocols by name: they exist, say what they are, and name only what exists."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.metaeval.compare import TESTS
from nlgauge.metaeval.frames import check_level
from nlgauge.metaeval.measure import averaging_of, takes
from nlgauge.metaeval.protocols.presets import PRESETS, preset
from nlgauge.metaeval.scoring import references_policy

PROMISED = (
    "wmt16-seg",
    "wmt-da-rr",
    "wmt-mqm-seg",
    "summeval-sys",
    "realsumm",
    "webnlg",
    "coco-m1",
    "paws-auc",
    "bagel",
)


@pytest.mark.parametrize("name", PROMISED)
def test_protocols_that_are_promised_exist(name):
    assert preset(name) is PRESETS[name]


@pytest.mark.parametrize("name", PRESETS)
def test_a_protocol_names_what_exists_and_says_what_it_is(name):
    chosen = PRESETS[name]
    references_policy(chosen.references)
    assert chosen.test is None or chosen.test in TESTS
    for task in chosen.tasks:
        averaging_of(task.stat, check_level(task.level), task.averaging)
    assert set(chosen.options) <= set().union(*(takes(task.stat) for task in chosen.tasks))
    assert chosen.about.endswith(".")
    assert chosen.origin


def test_bagel_is_menlis_protocol_and_segments_of_wmt16_are_of_the_appendix():
    # MENLI's preprint averages over references (its table 18 comes out so); BARTScore takes the best
    assert preset("bagel").references == "mean"
    assert "references=best BARTScore" in preset("bagel").origin
    assert preset("wmt16-seg").origin.endswith("BERTScore's appendix")  # table 1 is of systems


def test_an_unknown_protocol_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown preset 'wmt16'; did you mean "):
        preset("wmt16")
