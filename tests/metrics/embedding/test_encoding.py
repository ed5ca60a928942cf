"""What a metric over one encoder says of itself comes from the options it was given, before any model is loaded."""

import pytest

import nlgauge as ng
from nlgauge.metrics.embedding.encoding import ByEncoder
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import known_writings

SPECS = ("bertscore", "cosine", "wmd")


@pytest.mark.parametrize("name", SPECS)
def test_the_layer_asked_for_is_the_one_that_is_read_from_one_source(name):
    runtime = Runtime()
    sources = [ng.metric(f"{name}:layer={layer}").vectors_of(runtime) for layer in (1, 2)]
    assert [list(source.values()) for source in sources] == [[(1,)], [(2,)]]
    assert sources[0].keys() == sources[1].keys()
    assert ng.metric(f"{name}:dtype=bfloat16").vectors_of(runtime).keys() != sources[0].keys()


@pytest.mark.parametrize("name", SPECS)
def test_a_text_that_the_model_does_not_read_is_named_with_the_model(name):
    metric = ng.metric(name)
    assert isinstance(metric, ByEncoder)
    assert metric.notes == locate("embedded", None).notes
    writings = {writing.script: writing for writing in known_writings()}
    assert metric.unread(writings["Latin"]) is None
    assert "the model reads English" in metric.unread(writings["Cyrillic"])
