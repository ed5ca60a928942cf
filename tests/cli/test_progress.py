"""Bars on a terminal."""

from __future__ import annotations

import io

from nlgauge.cli.progress import Bars


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_two_bars_stand_at_one_time_and_leave_nothing_on_standard_output(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    bars = Bars()
    with bars(2000, "0.5*bleu + 0.5*chrf[norm=none]") as one, bars(10, "chrf") as other:
        one(1234.4)
        other(10)
        bars._display.refresh()
    assert capsys.readouterr().out == ""
    shown = stderr.getvalue()
    assert "0.5*bleu + 0.5*chrf[norm=none]" in shown  # no markup of rich
    assert "1,234 of 2,000" in shown
    assert "10 of 10" in shown
    with bars(1, "again"):
        pass


def test_a_display_is_there_while_a_bar_is_open():
    bars = Bars()
    with bars(1, "one"), bars(1, "two"):
        display = bars._display
        assert len(display.tasks) == 2
    assert display.tasks == []
    assert not display.live.is_started
