"""A yardstick: through how many files a command goes, and of how many the package is made; ceilings that only fall.

python tests/test_walks.py      # the files of each command
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from statistics import median
from types import FrameType
from typing import Any

import pytest

import nlgauge

EXAMPLES = Path(__file__).parent.parent / "examples"
SOURCE = Path(nlgauge.__file__).parent
DATA = "weather.jsonl"
WALKS = {  # command -> files whose functions it enters, at most
    f"score {DATA} -m bleu": 32,
    f"audit {DATA} --suite menli -m chrf --no-cache": 54,
    f"meta {DATA} --judgements weather_ratings.tsv -m chrf -m bleu -c adequacy": 43,
    f"gate {DATA} {DATA} --base-system template --new-system template -m chrf": 35,
    "synth {folder}/few.txt -o {folder}/changed.jsonl": 41,  # models/fetch finds the encoder
}
# Of the package, at most. The longest is metaeval/measure.py, with the statistics of labels: one subject. One file of
# each walk that reads data is io/formats.py, which describes each format, and one io/evalset.py, which reads texts,
# ratings and scores for every verb; METEOR's reader of WordNet stands in the lexicon, which synth enters. In
# metaeval, people and raters have a file each, whose subjects are a ranking and an agreement; what people say is shown
# by report/people.py, for the page of meta and for the first screen of a report.
ALARM = "this is an alarm: if the code is honest, raise the number here and say why; do not squeeze code to fit it"
SIZES = {"files": 259, "classes": 706, "median lines": 381, "most lines": 961}


def entered(command: str) -> list[str]:
    """The files of the package whose functions a command enters; what runs while a module is imported is not asked."""
    from nlgauge.cli.main import main

    found: set[str] = set()
    others: set[str] = set()  # files of others, which most calls are to

    def look(frame: FrameType | None, event: str, _: Any) -> None:
        assert frame is not None
        file = frame.f_code.co_filename
        if file in others or file in found:
            return
        if not is_function(frame):
            if not file.startswith(str(SOURCE)):
                others.add(file)
            return
        frame = frame.f_back
        while frame is not None and not (is_function(frame) or is_module(frame)):
            frame = frame.f_back
        if frame is None or is_function(frame):
            found.add(file)

    with tempfile.TemporaryDirectory() as folder:
        few = (EXAMPLES / "sentences.txt").read_text(encoding="utf-8").splitlines(keepends=True)[:3]
        Path(folder, "few.txt").write_text("".join(few), encoding="utf-8")
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            sys.settrace(look)
            main(command.format(folder=folder).split())
            sys.settrace(None)
    return sorted(Path(file).relative_to(SOURCE).as_posix() for file in found)


def is_module(frame: FrameType) -> bool:
    return frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(str(SOURCE))


def is_function(frame: FrameType) -> bool:
    return bool(frame.f_code.co_flags & 1) and frame.f_code.co_filename.startswith(str(SOURCE))


@pytest.mark.skipif(not hasattr(os, "fork") or not EXAMPLES.is_dir(), reason="no fork, or no examples beside the tests")
def test_a_command_enters_no_more_files_than_it_did(tmp_path):
    pytest.importorskip("torch")
    run = [sys.executable, __file__]
    env = {**os.environ, "NLGAUGE_CACHE": str(tmp_path)}
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=True)
    files = dict(map(json.loads, done.stdout.splitlines()))
    longer = {command: len(files[command]) for command in WALKS if len(files[command]) > WALKS[command]}
    assert longer == {}, ALARM


def test_the_package_is_no_larger_than_it_was():
    texts = [path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")]
    lines = [text.count("\n") for text in texts]
    classes = sum(len(re.findall(r"^ *class \w", text, flags=re.M)) for text in texts)
    sizes = {"files": len(texts), "classes": classes, "median lines": median(lines), "most lines": max(lines)}
    assert {name: size for name, size in sizes.items() if size > SIZES[name]} == {}, ALARM


if __name__ == "__main__":  # each in a fork of its own: what one keeps would spare the others a walk
    import scipy.stats  # noqa: F401
    import torch  # noqa: F401  once for all, and untraced: what is not ours takes seconds to load

    os.chdir(EXAMPLES)
    for command in WALKS:
        if os.fork() == 0:
            print(json.dumps([command, entered(command)]), flush=True)
            os._exit(0)
        os.wait()
