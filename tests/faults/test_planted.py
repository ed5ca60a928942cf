"""No reader starts, imports, opens or connects to what a file names: a walk through all of them under an audit hook."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

SCRIPT = Path(__file__).with_name("planted.py")
SLOW = "NLGAUGE_SLOW" in os.environ
# The encoder of a head is a model that the head was trained on; its weights must have the digest that the head names.
ENCODERS = ("head", "head file")


@pytest.fixture
def told(monkeypatch):
    """What the walk says. In memory: runs are added up and kept 400 times."""
    monkeypatch.syspath_prepend(str(SCRIPT.parent))  # the script imports its neighbour
    planted = importlib.import_module("planted")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(".")  # the walk leaves for a folder of its own
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        monkeypatch.setenv("NLGAUGE_CACHE", os.path.join(folder, "cache"))
        with warnings.catch_warnings():
            return planted.walk(Path(folder).resolve(), SLOW)


def test_nothing_that_a_file_names_is_started_imported_opened_or_asked(told):
    """An audit hook stays to the end of the process, and looks away after the walk."""
    looked = ("open", "os.scandir")
    assert [event for event in told["found"] if event[2] not in ENCODERS or event[0] not in looked] == []
    assert (told["ran"], told["modules"]) == (False, [])
    # each reader got something, and texts stand where a reader takes them: else it was refused before it could do harm
    assert min(told["reads"].values()) > 0
    assert sum(told["reads"].values()) > 1000
    assert {"result", "run", "blend", "model", "rows", "suite", "jsonl"} <= told["values"].keys()


@pytest.mark.parametrize(
    ("code", "event"),
    [
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        ("import os; os.system('true')", "os.system"),
        ("import sys; sys.path.insert(0, '.'); import evil", "import"),
        ("open('evil.tsv').read()", "open"),
        ("import os; os.listdir('m')", "os.listdir"),
        ("compile('evil()', 'x', 'eval')", "compile"),
        ("import socket; socket.socket()", "socket.__new__"),
    ],
)
def test_each_kind_of_event_would_be_seen(tmp_path, code, event):
    program = f"""
import os, sys
sys.path.insert(0, {str(SCRIPT.parent)!r})
from pathlib import Path
sys.modules["fuzz"] = type(sys)("fuzz")  # readers are not needed
sys.modules["fuzz"].Example = bytes
import planted
trap = Path({str(tmp_path)!r}, "trap")
planted.set_trap(trap)
watch = planted.Watch(str(trap))
os.chdir(trap)
sys.addaudithook(watch)
watch.now = "x"
exec({code!r})
watch.now = ""
print(sorted(event for event, _, _ in watch.found))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert event in done.stdout
