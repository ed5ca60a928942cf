"""`env` makes, lists, checks and removes environments."""

from __future__ import annotations

import pytest

from nlgauge.cli.main import main
from nlgauge.metrics.external.environments import Environment, recipes


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_ENVIRONMENTS", str(tmp_path))
    return tmp_path


@pytest.fixture
def made(folder, monkeypatch):
    """What the real steps would do, without them."""

    def make(self, say, *, python=None, more=()):
        say(f"making with {python} and {[*more]}")
        self.folder.mkdir()
        self._write({"state": "whole", "requirements": list(self.recipe.packages), "versions": {"x": "1"}})
        (self.folder / "bin").mkdir()
        self.python.touch()
        return True

    monkeypatch.setattr(Environment, "make", make)
    monkeypatch.setattr(Environment, "check", lambda self: {"python": "3", "versions": {"x": "2"}})


def test_all_are_listed_with_state_and_troubles(folder, capsys):
    assert main(["env", "--list"]) == 0
    out = capsys.readouterr().out
    for name, recipe in recipes().items():
        assert f"\n{name} " in out
        assert f"\n{name}: {', '.join(recipe.packages)}\n" in out
        assert all(f"\n    {trouble}\n" in out for trouble in recipe.troubles)
    assert out.endswith(f"They lie in {folder}.\n")
    assert max(map(len, out.splitlines())) <= 120


def test_one_is_made_checked_and_removed(folder, made, capsys):
    assert main(["env", "comet", "--with", "torch==9", "--python", "python3.9"]) == 0
    assert capsys.readouterr().out == (
        "making with python3.9 and ['torch==9']\ncomet: whole, with x 1; for -m unbabel-comet\n"
    )
    assert main(["env", "--check", "comet"]) == 0
    assert capsys.readouterr().out == "comet: whole, with x 2; for -m unbabel-comet\n"
    assert main(["env", "--remove", "comet"]) == 0
    assert capsys.readouterr().out == f"comet: removed from {folder}\n"
    assert main(["env", "--check", "comet"]) == 2
    assert "there is none in" in capsys.readouterr().err


def test_a_folder_where_metrics_do_not_look_is_told(folder, made, tmp_path, capsys):
    other = tmp_path / "other"
    other.mkdir()
    assert main(["env", "comet", "-q", "--folder", str(other)]) == 0
    out, err = capsys.readouterr()
    assert out == "comet: whole, with x 1; for -m unbabel-comet\n"
    assert err == f"note: metrics look for it in {folder}; set NLGAUGE_ENVIRONMENTS={other}\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "name an environment: comet, bleurt, summac, spice; 'nlgauge env --list' says what they hold"),
        (["commet"], "unknown environment 'commet'; did you mean 'comet'?"),
        (["--check"], "name an environment: "),
        (["--remove", "comet"], "there is no environment 'comet' in "),
        (["--list", "comet"], "--list lists all environments; leave the name out"),
        (["--list", "--check"], "--list and --check are both given; choose one"),
        (["--check", "comet", "--with", "x"], "--with is about making one, and --check makes none"),
    ],
)
def test_what_cannot_be_done_is_one_line(folder, capsys, arguments, told):
    assert main(["env", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"nlgauge: {told}")
    assert err.count("\n") == 1
