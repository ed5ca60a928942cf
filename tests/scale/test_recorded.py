"""Stand-ins for metrics that only a folder names: what they say, how they add up, and that they score nothing."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nlgauge.core import options
from nlgauge.core.errors import InputError
from nlgauge.core.scores import mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.metrics.generation.perplexity import Perplexity
from nlgauge.metrics.lexical.chrf import ChrF
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.plan import About
from nlgauge.scale.recorded import Recorded, _finish_of, metrics_of, read_signature

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


@pytest.mark.parametrize("spec", ["planted", "0.5*chrf + 0.5*planted", "guarded(planted)", "qmetric:base=planted"])
@pytest.mark.parametrize("encoder", ["embedded", "base"])
def test_a_plan_loads_no_plug_in_whatever_its_encoder(monkeypatch, spec, encoder):
    class Point:
        name, dist = "planted", None

        def load(self):
            raise SystemExit("it ran")

    monkeypatch.setattr(options.metadata, "entry_points", lambda group: [Point()] if group == "nlgauge.metrics" else [])
    about = About(0.0, 1.0, True)
    plan = SimpleNamespace(signatures={spec: f"metric:{spec}|nlgauge:0.1.0"}, about={spec: about}, encoder=encoder)
    found = metrics_of(plan)[spec]
    assert (type(found), found.about) == (Recorded, about)


def test_what_ships_is_made_on_the_encoder_of_the_plan():
    specs = ["chrf", "bertscore", "qmetric:base=bertscore"]
    plan = SimpleNamespace(
        signatures={spec: f"metric:{spec}|model:base|nlgauge:0.1.0" for spec in specs},
        about=dict.fromkeys(specs, About(None, 1.0, True)),
        encoder="embedded",
    )
    assert metrics_of(plan) == {spec: metric(spec) for spec in specs}
    plan.encoder = "base"  # which does not ship: its numbers are read, and no model is opened
    on_base = metrics_of(plan)
    assert on_base["chrf"] == metric("chrf")
    assert {type(on_base[spec]) for spec in specs[1:]} == {Recorded}
    assert str(on_base["bertscore"].signature) == plan.signatures["bertscore"]
