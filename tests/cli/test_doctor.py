"""`doctor` tells what is installed."""

import numpy as np

from nlgauge.cli.main import main
from nlgauge.runtime.cache import ScoreCache


def test_doctor_names_versions_device_and_cache(tmp_path, capsys):
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for word in ("nlgauge", "sacrebleu", "embedded", "device", "cache"):
        assert word in out
    assert "nothing kept yet" in out


def test_a_cache_that_holds_something_is_counted(tmp_path, capsys):
    ScoreCache(tmp_path / "scores.sqlite").put("signature", ["value"], [b"key"], np.array([[1.0]]))
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    assert "1 scores, " in capsys.readouterr().out
