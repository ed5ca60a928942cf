"""Forms are made by functions that exist, and by none that is loaded before it is needed."""

from __future__ import annotations

from importlib import import_module

import pytest

from nlgauge.core.forms import _MAKERS, made
from nlgauge.core.result import Result


@pytest.mark.parametrize("target", _MAKERS.values(), ids=_MAKERS)
def test_every_form_has_a_maker(target):
    module, _, name = target.partition(":")
    assert callable(getattr(import_module(module), name))


def test_the_maker_gets_what_is_to_be_shown():
    assert made("result", Result("align", [{"part": "f1"}])).count("f1") == 1
