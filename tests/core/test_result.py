"""Results and their files: written whole or not at all; what killed runs leave is removed; one output has one run."""

import errno
import json
import math
import os
import stat
import subprocess
import sys
import threading
from importlib import metadata

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.result import FileDraft, Outcome, Result, check_target, claimed, clear, null_if_nan, replacing

pytest.importorskip("fcntl")


KILLED = """
import os, sys
from nlgauge.core.result import FileDraft, claimed
from nlgauge.core.result import replacing
with claimed(sys.argv[1]), replacing(sys.argv[1]) as file:
    file.write("half")
    file.flush()
    FileDraft(os.path.realpath(sys.argv[1]), is_folder=True)
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
    draft = FileDraft(final, is_folder)
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


full_disk = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="this system has no /dev/full, a disk without room"
)


def test_the_result_file_has_every_field_and_null_for_nan(tmp_path):
    row = {"system": None, "metric": "bleu", "value": math.nan, "low": None, "n": 3}
    Result("score", [row], [{"path": "é.tsv", "sha256": "0"}], [{"spec": "bleu"}], ["a note"]).write(
        tmp_path / "r.json"
    )
    text = (tmp_path / "r.json").read_text(encoding="utf-8")
    assert json.loads(text) == {
        "schema": 1,
        "kind": "score",
        "version": metadata.version("nlgauge"),
        "command": None,
        **dict.fromkeys(("test", "draws", "seed", "adjust", "confidence")),
        "inputs": [{"path": "é.tsv", "sha256": "0"}],
        "metrics": [{"spec": "bleu"}],
        "rows": [{"system": None, "metric": "bleu", "value": None, "low": None, "n": 3}],
        "notes": ["a note"],
    }
    assert "é" in text
    assert text.endswith("}\n")


RESULT = Result(
    "score",
    [{"system": "a", "metric": "bleu", "value": 1.5, "low": None, "high": None, "n": 2}],
    (),
    [{"spec": "bleu"}],
)


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("r.json", "{"),
        ("r.html", "<!DOCTYPE html>"),
        ("r.HTM", "<!DOCTYPE html>"),
        ("r.tsv", "system\tmetric"),
        ("r.csv", "system,metric"),
        ("r.md", "scores of 1 system\n\n| system"),
        ("r.tex", "\\begin{table}\n\\centering\n\\caption{scores of 1 system}"),
        ("r.txt", "system"),
    ],
)
def test_the_ending_of_the_name_chooses_the_form(tmp_path, name, start):
    signed = {"spec": "bleu", "signature": "metric:bleu", "higher_is_better": True}
    rows = [{**RESULT.rows[0], "n_undefined": 0}]
    Result("score", rows, (), [signed]).write(tmp_path / name)
    assert (tmp_path / name).read_text(encoding="utf-8").lower().startswith(start.lower())


def test_an_ending_that_says_nothing_is_refused_unless_the_form_is_named(tmp_path):
    for name in ("r.xlsx", "r"):
        with pytest.raises(InputError, match=r"cannot tell from the name in which form to write, expected \.json"):
            RESULT.write(tmp_path / name)
    assert os.listdir(tmp_path) == []
    RESULT.write(tmp_path / "r", "json")
    assert json.loads((tmp_path / "r").read_text(encoding="utf-8"))["kind"] == "score"


def test_a_result_is_shown_in_one_line():
    assert repr(RESULT) == "Result(score: 1 rows; bleu)"


def test_rows_become_columns_with_none_where_a_row_lacks_a_field():
    result = Result("score", [{"a": 1.0}, {"a": math.nan, "b": "x"}])
    assert list(result.as_columns()) == ["a", "b"]
    assert result.as_columns()["b"] == [None, "x"]
    pytest.importorskip("pandas")
    assert result.to_frame().shape == (2, 2)


def test_an_outcome_is_written_and_shown_as_its_result(tmp_path):
    class Study(Outcome):
        rows = RESULT.rows

        def result(self):
            return RESULT

    Study().write(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == RESULT.as_json()
    assert repr(Study()) == "Study(1 rows)"


def test_only_a_nan_becomes_null(tmp_path):
    assert [null_if_nan(v) for v in (math.nan, 0.0, math.inf, "nan", None, False)] == [
        None,
        0.0,
        math.inf,
        "nan",
        None,
        False,
    ]
    with pytest.raises(ValueError, match="JSON"):
        Result("score", [{"value": math.inf}]).write(tmp_path / "r.json")
    assert os.listdir(tmp_path) == []


def test_a_file_is_not_there_until_it_is_whole(tmp_path):
    path = tmp_path / "out.txt"
    with replacing(path) as file:
        file.write("whole")
        file.flush()
        assert not path.exists()
    assert path.read_text() == "whole"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("error", [InputError, ZeroDivisionError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "out.txt"
    path.write_text("old")

    with pytest.raises(error), replacing(path) as file:  # noqa: PT012 - the block is what is left by the error
        file.write("new")
        raise error
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_lines_end_in_lf_and_text_is_utf_8(tmp_path):
    with replacing(tmp_path / "out.txt") as file:
        file.write("é\n")
    assert (tmp_path / "out.txt").read_bytes() == b"\xc3\xa9\n"
    path = os.fsdecode(b"\xff.txt")
    Result("score", [], [{"path": path, "sha256": "0"}]).write(tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["inputs"][0]["path"] == path


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_are_those_of_the_file_replaced_or_of_any_new_file(tmp_path):
    (tmp_path / "old").write_text("")
    os.chmod(tmp_path / "old", 0o640)
    (tmp_path / "plain").write_text("")
    for name in ("old", "new"):
        with replacing(tmp_path / name) as file:
            file.write("x")
    assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == 0o640
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "real")
    with replacing(tmp_path / "link") as file:
        file.write("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_a_pipe_is_written_through(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    with replacing(path) as file:
        file.write("x")
    reader.join(timeout=10)
    assert read == ["x"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_name_as_long_as_a_name_may_be_is_written(tmp_path):
    path = tmp_path / ("n" * 250)  # 255 bytes are the limit; the file beside must not have a longer name
    with replacing(path) as file:
        file.write("x")
    assert path.read_text() == "x"
    with (
        pytest.raises(InputError, match=r"^cannot write .*: File name too long$"),
        replacing(tmp_path / ("n" * 300)) as file,
    ):
        file.write("x")
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", r"^'' is no name of a file, expected a file to write$"),
        (".", r"is a folder, expected a file to write$"),
        ("absent/r.json", r"^cannot write .*absent/r.json: there is no folder .*absent; make it first$"),
        ("a\0b", r"^cannot write 'a\\x00b': no name of a file holds the character NUL; name another file$"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_there_is_anything_to_write(
    tmp_path, monkeypatch, name, message
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        check_target(name)
    with pytest.raises(InputError, match=message), replacing(name):
        raise AssertionError("the block must not begin")
    assert os.listdir(tmp_path) == []


def test_a_read_only_file_is_refused_and_left_as_it_is(tmp_path):
    output = tmp_path / "out"
    output.write_text("old")
    output.chmod(0o444)
    for write in (check_target, lambda path: replacing(path).__enter__()):
        with pytest.raises(InputError, match=r"^cannot write .*out: the file is read-only \(mode 444\); make it"):
            write(output)
    assert (output.read_text(), len(list(tmp_path.iterdir()))) == ("old", 1)


def test_a_full_disk_is_known_before_there_is_anything_to_write(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match=r"^cannot write .*out: No space left on device$"):
        check_target(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@full_disk
@pytest.mark.parametrize("mode", ["w", "wb"])
@pytest.mark.parametrize("length", [1, 1 << 20])  # a text that fails when the file is closed, and one that fails before
def test_a_full_disk_is_told_in_one_line(mode, length):
    with (
        pytest.raises(InputError, match=r"^cannot write /dev/full: No space left on device$"),
        replacing("/dev/full", mode) as file,
    ):
        file.write("x" * length if mode == "w" else b"x" * length)


@full_disk
def test_a_full_disk_leaves_nothing_under_the_final_name(tmp_path, monkeypatch):
    # the file beside cannot be made to lie on /dev/full, so its descriptor is turned there
    monkeypatch.setattr(
        "nlgauge.core.result.tempfile.mkstemp",
        lambda **_: (os.open("/dev/full", os.O_WRONLY), str(tmp_path / "beside")),
    )
    (tmp_path / "beside").write_text("")
    with pytest.raises(InputError, match=r"^cannot write .*r.json: No space left on device$"):
        Result("score", []).write(tmp_path / "r.json")
    assert os.listdir(tmp_path) == []


def test_segments_that_disagree_are_written_without_nan():
    told = Result("meta", [], disagreements=[{"id": "a", "score": float("nan")}]).as_json()
    assert told["disagreements"] == [{"id": "a", "score": None}]
