"""Hostile texts through everything that is registered: none may take time like the square of its length."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "long_texts.py"
CHARACTERS = os.environ.get("FAULT_CHARACTERS", "10000")


@pytest.mark.slow
def test_nothing_takes_time_like_the_square_of_a_text():
    # 3 seconds of a core for 10,000 characters are 30 for 100,000 if linear, and 300 if not; most take 0.1
    command = [sys.executable, str(SCRIPT), "--characters", CHARACTERS, "--limit", "3"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, "\n".join(line for line in ended.stdout.splitlines() if "stopped" in line)
