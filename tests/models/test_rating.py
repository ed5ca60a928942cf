"""What MetricX reads; its numbers and BLEURT's are in tests/metrics/learned/test_published.py."""

from nlgauge.models.locate import ModelFiles
from nlgauge.models.rating import input_of, metricx_tokenizer, version_of


def test_the_texts_are_those_of_the_released_code():
    assert input_of("24", "h", "r", "s") == "source: s candidate: h reference: r"
    assert input_of("24", "h", None, "s") == "source: s candidate: h"
    assert input_of("23", "h", "r", None) == "candidate: h reference: r"
    assert input_of("23", "h", None, "s") == "candidate: h source: s"
    named = {"google/metricx-23-xl-v2p0": "23", "google/metricx-24-hybrid-large-v2p6": "24", "mine/other": "24"}
    assert {name: version_of(name) for name in named} == named


def test_a_model_without_a_tokenizer_takes_that_of_mt5(tmp_path, monkeypatch):
    files = ModelFiles("google/metricx-24", tmp_path / "model", "revision:abc")
    files.folder.mkdir()
    monkeypatch.setattr("nlgauge.models.repository.setup", lambda name: tmp_path / name)
    assert metricx_tokenizer(files).folder == tmp_path / "google/mt5-small"
    (files.folder / "spiece.model").touch()
    assert metricx_tokenizer(files) is files
