"""Regressors of one's own as metrics: they need what their head reads."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.learned.regressor import Regressor
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

torch = pytest.importorskip("torch")
CPU = Runtime(device="cpu")
BOTH, SOURCE = "hyp,ref,hyp*src,hyp*ref,|hyp-src|,|hyp-ref|", "hyp,src,hyp*src,|hyp-src|"


@pytest.mark.parametrize(
    ("features", "needs"),
    [("hyp,ref,hyp*ref,|hyp-ref|", {"references"}), (BOTH, {"references", "source"}), (SOURCE, {"source"})],
)
def test_it_needs_what_its_head_reads_and_keeps_the_contract(tiny_regressor, features, needs):
    metric = Regressor(model=str(tiny_regressor(features=features)))
    assert metric.info.needs == needs
    check_metric(metric, runtime=CPU, tolerance=1e-5)  # float32 through three layers


def test_the_source_takes_part(tiny_regressor):
    metric = Regressor(model=str(tiny_regressor(features=BOTH)))
    rows = [Segment("1", "a cat", ("the cat",), source="rain"), Segment("2", "a cat", ("the cat",), source="snow fell")]
    first, second = metric.score(rows, CPU).values
    assert first != pytest.approx(second, abs=1e-3)


def test_against_the_source_no_reference_is_read(tiny_regressor):
    metric = Regressor(model=str(tiny_regressor(features=SOURCE)))
    with_one = metric.score([Segment("1", "a cat", ("the cat",), source="rain")], CPU).values
    without = metric.score([Segment("1", "a cat", source="rain")], CPU).values
    assert without == pytest.approx(with_one, abs=1e-6)  # float32
    with pytest.raises(InputError, match="regressor needs source; segment '1' has none"):
        metric.score([Segment("1", "a cat", ("the cat",))], CPU)


def test_a_model_must_be_named_and_there():
    with pytest.raises(SpecError, match="regressor needs the option 'model'; write regressor:model="):
        ng.metric("regressor")
    with pytest.raises(InputError, match="does not exist"):
        ng.metric("regressor:model=absent.safetensors")
