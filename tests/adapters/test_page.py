"""What `docs/adapters.md` shows of other packages runs as pasted, where the package is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="the pages are not beside the tests")


@pytest.mark.parametrize("package", ["mlflow", "inspect_ai"])
def test_a_block_runs_with_its_package(package, monkeypatch, tmp_path):
    pattern = rf"^```python\n# needs a package: {package}\n(.*?)^```$"
    (block,) = re.findall(pattern, PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip(package)
    if package == "mlflow":
        pytest.importorskip("sqlalchemy")  # which mlflow-skinny does not bring
    names: dict = {}
    exec(block, names)
    if package == "mlflow":
        assert set(names["found"].metrics) == {"chrf/mean", "bertscore/mean"}
