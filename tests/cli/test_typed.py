"""The command in a result: as a shell takes it again."""

import shlex

from nlgauge.cli.typed import as_typed, typed
from nlgauge.core.result import Result


def test_a_result_names_the_command_that_made_it():
    with typed(["score", "a b.txt", "-m", "0.5*bleu + 0.5*chrf"]):
        made = as_typed(Result("score", []))
    assert shlex.split(made.command) == ["nlgauge", "score", "a b.txt", "-m", "0.5*bleu + 0.5*chrf"]
    assert as_typed(made).command == "nlgauge"  # outside nothing is kept


def test_where_a_result_is_kept_is_no_part_of_its_command():
    with typed(["meta", "d", "--json", "a.json", "-q", "--html=b.html", "--no-cache", "--cache", "c", "--seed", "1"]):
        assert as_typed(Result("meta", [])).command == "nlgauge meta d --seed 1"
