"""Every option is checked, in Python and in specifications."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.lexical.rouge import Rouge
from nlgauge.metrics.lexical.sacrebleu import Bleu, ChrF, Ter
from nlgauge.metrics.registry import METRICS

NAMED = {"regressor": {"model": "sescore"}}  # whose options must name what is there


def required(name, cls):
    """Values of the options that have no default: texts, of which nothing is read before a metric scores."""
    lacking = [f.name for f in dataclasses.fields(cls) if f.init and f.default is dataclasses.MISSING]
    return NAMED.get(name, dict.fromkeys(lacking, "x"))


def choices():
    """Name of the metric, its class and its options with a closed list of values."""
    for name, entry in METRICS.entries.items():
        module, _, attribute = entry.target.partition(":")
        cls = getattr(import_module(module), attribute)
        if name == cls.info.name:
            hints = get_type_hints(cls)
            parts = {field.name: [hints[field.name], *get_args(hints[field.name])] for field in dataclasses.fields(cls)}
            closed = [option for option, kinds in parts.items() if any(get_origin(kind) is Literal for kind in kinds)]
            if closed:
                yield pytest.param(name, cls, closed, id=name)


@pytest.mark.parametrize(("name", "cls", "options"), list(choices()))
def test_a_value_off_the_list_is_refused_by_every_metric_in_python_too(name, cls, options):
    for option in options:
        with pytest.raises(SpecError, match=rf"^{name}:{option} is 'no such value'"):
            cls(**{**required(name, cls), option: "no such value"})
        with pytest.raises(SpecError, match=rf"^{name}:{option} is 3"):
            cls(**{**required(name, cls), option: 3})


def test_a_slip_is_answered_with_the_nearest():
    with pytest.raises(SpecError, match=r"^bertscore:references is 'bset'; did you mean 'best'"):
        BertScore(references="bset")
    with pytest.raises(SpecError, match=r"^bertscore:dtype is 'float23'; did you mean .*'float32'"):
        BertScore(dtype="float23")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bleu(max_ngram_order=0),
        lambda: Bleu(lowercase=1),
        lambda: Bleu(effective_order="yes"),
        lambda: Bleu(trg_lang=1),
        lambda: ChrF(char_order=-1),
        lambda: ChrF(word_order=2.0),
        lambda: ChrF(beta=-1),
        lambda: ChrF(whitespace=None),
        lambda: ChrF(char_order=0),
        lambda: Ter(normalized="true"),
        lambda: Ter(case_sensitive=0),
        lambda: Rouge(use_stemmer="yes"),
    ],
)
def test_every_option_is_checked_when_the_metric_is_made(make):
    with pytest.raises(SpecError, match=r"^(bleu|chrf|ter|rouge):\w+"):
        make()


@pytest.mark.parametrize(
    "spec",
    [
        "bleu:tokenise=13a",
        "bleu:smooth_method=florr",
        "chrf:beta=1.5",
        "ter:normalized=2",
        "rouge:variant=10",
        "rougeM",
        "chrf+",
    ],
)
def test_every_option_is_checked_where_it_is_typed(spec):
    with pytest.raises(SpecError):
        ng.metric(spec)
