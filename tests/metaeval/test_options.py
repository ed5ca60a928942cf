"""The options that the command offers are those of the library, each declared once."""

from __future__ import annotations

from dataclasses import fields
from inspect import signature

import pytest

from nlgauge.core.errors import InputError
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.measure import check_options
from nlgauge.metaeval.options import MetaOptions

KEYWORDS = signature(meta_evaluate).parameters
OF_STATISTICS = [field for field in fields(MetaOptions) if field.name not in KEYWORDS]


def test_a_keyword_has_the_same_default_typed_and_in_python():
    ours = {field.name: field.default for field in fields(MetaOptions) if field.name in KEYWORDS}
    theirs = {name: KEYWORDS[name].default for name in ours}
    assert ours == {**theirs, "exclude": None}  # what is repeated is a list when it is typed, and no list otherwise
    assert len(ours) > 15


def test_any_other_option_is_one_that_statistics_or_tests_take():
    assert [field.default for field in OF_STATISTICS if field.default] == []
    check_options(["pearson"], {field.name: None for field in OF_STATISTICS})  # None leaves it to the statistic
    with pytest.raises(InputError, match="no option 'epsilom'; did you mean 'epsilon'"):
        check_options(["pearson"], {"epsilom": None})


def test_what_is_left_out_is_left_to_preset_and_statistic():
    assert MetaOptions().given() == {}
    assert MetaOptions(stats=[], exclude=[]).given() == {}  # typed nowhere
    options = MetaOptions(level="item", threshold=0.0, power=True, draws=7)  # 0 is a threshold
    assert options.given() == {"level": "item", "threshold": 0.0, "power": True, "draws": 7}
