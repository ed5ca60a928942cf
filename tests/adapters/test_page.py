"""The programs of `examples/adapters` run as they are, where the package that each needs is installed."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "adapters"
pytestmark = pytest.mark.skipif(not EXAMPLES.is_dir(), reason="the examples are not beside the tests")


@pytest.mark.parametrize(("program", "package"), [("mlflow_scores", "mlflow"), ("inspect_ai_task", "inspect_ai")])
def test_a_program_runs_with_its_package(program, package, monkeypatch, tmp_path):
    for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path / 'runs.db'}")
    monkeypatch.chdir(tmp_path)
    pytest.importorskip(package)
    if package == "mlflow":
        pytest.importorskip("sqlalchemy")  # which mlflow-skinny does not bring
    names = runpy.run_path(str(EXAMPLES / f"{program}.py"))
    if package == "mlflow":
        assert set(names["found"].metrics) == {"chrf/mean", "bertscore/mean"}
