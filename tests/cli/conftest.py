"""No test of the command reads or fills the user's cache."""

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path_factory.mktemp("cache")))
