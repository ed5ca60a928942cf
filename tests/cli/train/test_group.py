"""`nlgauge train`: which kinds of training there are."""

from nlgauge.cli.main import main
from nlgauge.cli.verbs import TRAIN


def test_every_kind_is_listed(capsys):
    assert main(["train", "--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in TRAIN)


def test_an_unknown_kind_is_one_line_with_the_nearest(capsys):
    assert main(["train", "basline"]) == 2
    assert "'baseline'" in capsys.readouterr().err
