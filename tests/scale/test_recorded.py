"""Stand-ins for metrics that only a folder names: what they say, how they add up, and that they score nothing."""

from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.scores import mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.metrics.generation.perplexity import Perplexity
from nlgauge.metrics.lexical.chrf import ChrF
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.plan import About
from nlgauge.scale.recorded import Recorded, _finish_of, read_signature

SIGNED = "metric:external|module:x.py|a:b:c|nlgauge:0.1.0"


def recorded(**about):
    return Recorded(read_signature("external:module=x", SIGNED), About(0.0, None, False, **about), mean_of_defined)


def test_a_signature_is_read_back_to_the_letter():
    assert str(read_signature("external:module=x", SIGNED)) == SIGNED
    assert dict(read_signature("s", SIGNED).entries)["a"] == "b:c"


def test_it_says_what_the_plan_says():
    one = recorded(parts={"p": True}, notes=("n",))
    assert (one.info.range, one.info.higher_is_better, one.info.parts) == ((0.0, np.inf), False, {"p": True})
    assert one.notes == ("n",)
    assert About.of(metric("ter")).higher_is_better is False
    assert About.of(metric("perplexity:model=x")).high is None


def test_it_scores_no_segment():
    assert len(recorded().score([], Runtime())) == 0
    with pytest.raises(InputError, match="external:module=x stands in the folder of a run; type the metric"):
        recorded().score([Segment("1", "a", ("b",))], Runtime())


def test_totals_become_a_number_by_the_rule_of_the_class_where_it_needs_no_object():
    # exp(total surprise / pieces): exp(2 / 4)
    finish = _finish_of("perplexity:model=somewhere")
    assert finish is Perplexity.corpus
    assert finish(np.array([2.0, 4.0])) == pytest.approx(np.exp(0.5))
    assert _finish_of("bertscore:model=somewhere") is mean_of_defined
    assert _finish_of("chrf") is mean_of_defined  # its rule has options: such a metric is made, for it ships
    assert isinstance(metric("chrf"), ChrF)
    assert _finish_of("my.module:Class") is mean_of_defined
