"""Commands that are killed and starved of room, with what they read and write."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

SLOW = bool(os.environ.get("NLGAUGE_SLOW"))
OLD = b"an earlier output\n"


@dataclass(frozen=True)
class Command:
    """A command to disturb.

    Attributes:
        words: as typed in a folder with the files of `inputs`; {model} is the folder of a tiny encoder.
        outputs: the files that it writes there.
        exact: the outputs of two runs are equal byte for byte; else their numbers are, within a tolerance.
    """

    words: str
    outputs: tuple[str, ...]
    exact: bool = False


METRICS = "-m chrf -m bertscore:model={model} --cache kept"
COMMANDS = {
    "lexical": Command("score data.jsonl -m chrf bleu --json out.json --segments rows.tsv", ("out.json", "rows.tsv")),
    "score": Command(f"score data.jsonl {METRICS} --json out.json --segments rows.tsv", ("out.json", "rows.tsv")),
    "audit": Command(f"audit data.jsonl --task mt {METRICS} --json out.json --html out.html", ("out.json", "out.html")),
    "meta": Command(
        f"meta data.jsonl {METRICS} --stat pearson --stat kendall_b --json out.json --html out.html",
        ("out.json", "out.html"),
    ),
    "synth": Command(
        "synth texts.txt --operations delete,swap --severity none --variants 3 -o out.jsonl -q",
        ("out.jsonl",),
        exact=True,
    ),
    "train": Command(  # 450 steps, and a checkpoint every 200
        "train sescore triples.jsonl -o head.safetensors --model {model} --method frozen --epochs 12 --batch-size 4"
        " --dtype float32 --curve curve.tsv -q",
        ("head.safetensors", "curve.tsv"),
        exact=True,
    ),
}
WORDS = ("the", "a", "cat", "dog", "sat", "lay", "on", "mat", "rug", "rain", "snow", "fell", "heavy", "today", "good")


def inputs() -> dict[str, str]:
    """Name -> content of the files that the commands read."""
    rng = random.Random(5)

    def sentence() -> str:
        return f"{' '.join(rng.choices(WORDS, k=rng.randint(5, 14)))}.".capitalize()

    rows, triples = [], []
    for i in range(150):
        hyp, ref = sentence(), sentence()
        quality = {"quality": rng.randint(1, 5)}
        rows.append(
            {"id": str(i), "system": f"s{i % 3}", "seg": str(i // 3), "hyp": hyp, "refs": [ref], "human": quality}
        )
        triples.append({"id": str(i), "hyp": hyp, "refs": [ref], "score": -float(rng.randint(0, 6))})
    lines = {"data.jsonl": rows, "triples.jsonl": triples}
    made = {name: "".join(json.dumps(row) + "\n" for row in of) for name, of in lines.items()}
    return {**made, "texts.txt": "".join(sentence() + "\n" for _ in range(400))}


@dataclass(frozen=True)
class Run:
    """How a command ended, and what is in its folder then."""

    code: int
    stderr: str
    seconds: float
    files: dict[str, bytes]
    outputs: tuple[str, ...]
    exact: bool
    old: bytes = OLD


@pytest.fixture(scope="session")
def amount() -> Callable[[str, int, int], int]:
    """A function that says how many faults of a kind are made: by a variable, usually, and in the short form."""
    return lambda name, usual, short: int(os.environ.get(name, usual)) if SLOW else short


@pytest.fixture(scope="session")
def seed() -> int:
    """The seed of all that is drawn."""
    return int(os.environ.get("FAULT_SEED", "0"))


@pytest.fixture(scope="session")
def folder_of(tmp_path_factory) -> Callable[[str], Path]:
    """A function that makes a folder with the inputs, and an earlier output of every name that a command writes."""

    def make(verb: str) -> Path:
        folder = tmp_path_factory.mktemp(verb)
        for name, content in inputs().items():
            (folder / name).write_text(content)
        for name in COMMANDS[verb].outputs:
            (folder / name).write_bytes(OLD)
        return folder

    return make


def listing(folder: Path) -> dict[str, bytes]:
    """Path -> content of all files in a folder, hidden ones, too; without the inputs."""
    read = set(inputs())
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name not in read}


@pytest.fixture(scope="session")
def listed() -> Callable[[Path], dict[str, bytes]]:
    """The function `listing`, for tests."""
    return listing


@pytest.fixture(scope="session")
def words_of(request) -> Callable[[str], list[str]]:
    """A function from the name of a command to its words."""

    def make(verb: str) -> list[str]:
        words = COMMANDS[verb].words
        model = str(request.getfixturevalue("tiny_model")("bert")) if "{model}" in words else ""
        return words.format(model=model).split()

    return make


@pytest.fixture(scope="session")
def start(words_of) -> Callable[[str, Path], subprocess.Popen[str]]:
    """A function that starts a command in a folder, with a cache and a temporary folder of its own."""

    def begin(verb: str, folder: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "nlgauge", *words_of(verb)]
        source = str(Path(__file__).parents[2] / "src")
        path = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH", "")]))
        environment = {**os.environ, "NLGAUGE_CACHE": str(folder / "kept"), "PYTHONPATH": path}
        return subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    return begin


@pytest.fixture(scope="session")
def finished(start) -> Callable[[str, Path], Run]:
    """A function that runs a command in a folder to its end."""

    def run(verb: str, folder: Path) -> Run:
        begun = time.perf_counter()
        with start(verb, folder) as process:
            _, stderr = process.communicate(timeout=300)
        seconds, about = time.perf_counter() - begun, COMMANDS[verb]
        return Run(process.returncode, stderr, seconds, listing(folder), about.outputs, about.exact)

    return run


@pytest.fixture(scope="session")
def undisturbed(folder_of, finished) -> Callable[[str], Run]:
    """A function from the name of a command to a run of it that nothing disturbs, made once a session."""
    made: dict[str, Run] = {}

    def make(verb: str) -> Run:
        if verb not in made:
            made[verb] = finished(verb, folder_of(verb))
            assert made[verb].code == 0, made[verb].stderr
        return made[verb]

    return make
