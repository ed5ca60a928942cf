from __future__ import annotations

import io
from pathlib import Path

import pytest

from nlgauge.cli import options
from nlgauge.core.errors import InputError
from nlgauge.runtime.cache import default_path
from nlgauge.runtime.runtime import silent


class Terminal(io.StringIO):
    def isatty(self):
        return True


def made(cache=None, no_cache=False, quiet=True, **others):
    return options.make_runtime(
        **{"device": "cpu", "dtype": "float32", "seed": 3, **others}, cache=cache, no_cache=no_cache, quiet=quiet
    )


def test_the_runtime_is_what_the_options_say():
    runtime = made(dtype="bfloat16")
    assert (runtime.device, runtime.dtype, runtime.seed) == ("cpu", "bfloat16", 3)


def test_scores_are_kept_in_the_users_folder_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path))
    assert made().cache.path == default_path() == tmp_path / "scores.sqlite"
    assert made(cache="folder").cache.path == Path("folder/scores.sqlite")
    assert made(no_cache=True).cache is None
    assert list(tmp_path.iterdir()) == []


def test_a_cache_and_none_are_not_both():
    with pytest.raises(InputError, match=r"^--cache and --no-cache are both given; choose one$"):
        made(cache="folder", no_cache=True)


@pytest.mark.parametrize(
    ("stream", "quiet", "shown"), [(Terminal, False, True), (Terminal, True, False), (io.StringIO, False, False)]
)
def test_progress_shows_on_a_terminal_and_nowhere_else(monkeypatch, stream, quiet, shown):
    monkeypatch.setattr("sys.stderr", stream())
    assert made(no_cache=True, quiet=quiet).progress is (options.bar if shown else silent)


def test_a_bar_counts_on_stderr_and_leaves_stdout_alone(capsys):
    with options.bar(10, "scoring") as advance:
        advance(4)
        advance(6)
    assert capsys.readouterr().out == ""
