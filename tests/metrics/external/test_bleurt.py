from __future__ import annotations

import pytest

from nlgauge.metrics.external.bleurt import Bleurt
from nlgauge.testing import check_metric, check_options


@pytest.fixture
def bleurt(other_python, nli_folder):
    return Bleurt(model=nli_folder, python=str(other_python))


def test_the_contract_holds(bleurt):
    check_metric(bleurt)


def test_every_option_is_signed(bleurt, tmp_path):
    (tmp_path / "other").mkdir()
    assert check_options(bleurt, alternatives={"model": str(tmp_path / "other")}) == ["python"]
