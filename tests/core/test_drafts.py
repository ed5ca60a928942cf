"""What killed runs leave is removed, what living runs write is not, and one output has one run."""

import os
import subprocess
import sys

import pytest

from nlgauge.core.drafts import Draft, claimed, clear
from nlgauge.core.errors import InputError
from nlgauge.core.result import check_target, replacing

pytest.importorskip("fcntl")

KILLED = """
import os, sys
from nlgauge.core.drafts import Draft, claimed
from nlgauge.core.result import replacing
with claimed(sys.argv[1]), replacing(sys.argv[1]) as file:
    file.write("half")
    file.flush()
    Draft(os.path.realpath(sys.argv[1]), is_folder=True)
    os._exit(9)
"""


def test_what_a_killed_run_leaves_is_removed_by_the_next_and_its_claim_is_void(tmp_path):
    output = tmp_path / "out.json"
    output.write_text("old")
    assert subprocess.run([sys.executable, "-c", KILLED, str(output)], check=False).returncode == 9
    assert len(list(tmp_path.glob(".out.json.*.part"))) == 2
    assert output.read_text() == "old"
    with claimed(output), replacing(output) as file:
        file.write("new")
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert output.read_text() == "new"


@pytest.mark.parametrize("is_folder", [False, True])
def test_what_a_living_run_writes_is_left_alone(tmp_path, is_folder):
    final = os.path.realpath(tmp_path / "out")
    draft = Draft(final, is_folder)
    clear(final)
    assert os.path.exists(draft.path)
    check_target(final)  # as another run does at its start
    assert os.path.exists(draft.path)
    draft.discard()
    assert list(tmp_path.iterdir()) == []


def test_files_of_other_names_are_left_alone(tmp_path):
    names = {".out.abcdefgh.part2", ".out.abc.part", "out.abcdefgh.part", ".other.abcdefgh.part", "out.part"}
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / ".out.abcdefgh.part").write_text("")
    clear(str(tmp_path / "out"))
    assert {path.name for path in tmp_path.iterdir()} == names


def test_two_runs_do_not_make_one_output(tmp_path):
    with claimed(tmp_path / "head"):
        with pytest.raises(InputError, match=r"^another run is making .*head; wait for it, or name another output$"):
            claimed(tmp_path / "head").__enter__()
        with claimed(tmp_path / "other"):
            pass
    with claimed(tmp_path / "head"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_claim_where_nothing_can_be_written_leaves_the_refusal_to_whoever_writes(tmp_path):
    with claimed(tmp_path / "no" / "folder"):
        pass
