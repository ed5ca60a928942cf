from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.summac_conv import SummacConv
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric


@pytest.fixture
def weights(tmp_path):
    path = tmp_path / "conv.bin"
    path.write_bytes(b"weights")
    return str(path)


def test_the_contract_holds(other_python, weights):
    check_metric(SummacConv(model=weights, python=str(other_python)))


def test_an_nli_model_on_disk_is_taken_with_its_labels(other_python, weights, nli_folder):
    metric = SummacConv(model=weights, nli=nli_folder, python=str(other_python))
    assert metric.score([Segment("1", "a b", source="a b")], Runtime()).values.tolist() == [1]
    signature = str(signature_of(metric, Runtime()))
    assert "|nli:nli|" in signature
    assert "|nli_weights:sha256:" in signature


def test_an_nli_model_that_the_package_does_not_know_is_told(other_python, weights):
    with pytest.raises(ng.InputError, match=r"the worker failed: AssertionError: Unrecognized model name$"):
        SummacConv(model=weights, nli="mine", python=str(other_python)).score(
            [Segment("1", "a", source="a")], Runtime()
        )
