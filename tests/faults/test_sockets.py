"""Offline nothing opens a socket: neither what runs on embedded models, nor what refuses a model that is not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# In a process of its own: an audit hook stays to the end. It sees sockets of every library that opens them from Python.
BLOCKED = """
import sys
def refuse(event, arguments):
    if event.startswith("socket.") and event != "socket.gethostname":
        print("SOCKET", event, arguments[1:], file=sys.stderr)
        raise RuntimeError("a socket was opened")
sys.addaudithook(refuse)
from nlgauge.cli.main import main
code = 0
for line in sys.argv[1:]:
    code = main(line.split())
    print(line, code, file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture
def offline(tmp_path):
    """A function that runs commands one after another in a process without sockets, and returns what it said."""
    rows = [
        {
            "id": str(i),
            "system": "ab"[i % 2],
            "seg": str(i // 2),
            "hyp": f"The cat sat on mat {i}.",
            "refs": ["A cat sat."],
        }
        for i in range(6)
    ]
    rows = [{**row, "human": {"quality": i}} for i, row in enumerate(rows)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(*commands):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "NLGAUGE_CACHE": str(tmp_path)}
        environment.pop("TRANSFORMERS_OFFLINE", None)
        done = subprocess.run(
            [sys.executable, "-c", BLOCKED, *commands], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert "SOCKET" not in done.stderr, done.stderr
        return done

    return run


def test_what_needs_no_model_opens_no_socket(offline):
    done = offline("list metrics", "score d.jsonl -m chrf bleu ter rougeL")
    assert done.returncode == 0, done.stderr


def test_a_socket_would_be_seen(tmp_path):
    code = BLOCKED.replace("from nlgauge.cli.main import main", "import socket; socket.socket()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "SOCKET socket.__new__" in done.stderr


@pytest.mark.slow  # every embedded model in a new process
def test_embedded_models_open_no_socket(offline):
    pytest.importorskip("torch")
    done = offline(
        "doctor",
        "score d.jsonl -m bertscore cosine nli sescore",
        "audit d.jsonl --task mt -m bertscore",
        "meta d.jsonl -m bertscore --stat pearson",
        "align --hyp a --ref b",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow  # imports torch in a new process
def test_a_model_that_is_not_here_is_refused_without_a_socket(offline):
    pytest.importorskip("torch")
    done = offline("score d.jsonl -m bertscore:model=no-such/model")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
