"""Every reader gets its own files with a specification planted in each of their texts; an audit hook looks on.

    python tests/faults/planted.py [--all] FOLDER

Python tells an audit hook of every process that is started, every library, socket and file that is opened, and every
module that is imported or compiled. For each reader of `fuzz.py`, and each value of a file that it reads, a text is put
in place of the value which names a program, a module, a model or a file in FOLDER/trap. The readers stand in that
folder, so that names without a path lead there, too. What comes out is a JSON object: how many reads there were, how
many of them gave a value, and each event that must not be.
"""

from __future__ import annotations

import io
import json
import os
import re
import stat
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import fuzz

STARTS = ("subprocess.", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.system", "os.startfile", "pty.")
OPENS = ("open", "os.listdir", "os.scandir", "glob.glob", "ctypes.dlopen", "shutil.", "compile", "exec", "import")


_MOST = 20  # places of a file, or of the files of a folder, unless all are asked for


class Watch:
    """An audit hook that writes down what must not be, while it is told to.

    Attributes:
        trap: the folder of what is planted.
        now: what is being read; empty while nothing is looked for.
        found: event, what it was about, and what was read.
    """

    def __init__(self, trap: str) -> None:
        self.trap, self.now, self.busy = trap, "", False
        self.found: set[tuple[str, str, str]] = set()

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Called by Python."""
        if not self.now or self.busy:
            return
        self.busy = True  # what is looked up here is no event of the reader
        try:
            if self._is_bad(event, arguments):
                self.found.add((event, repr(arguments)[:200], self.now))
        finally:
            self.busy = False

    def _is_bad(self, event: str, arguments: tuple[Any, ...]) -> bool:
        if event.startswith(STARTS):
            return True
        if event.startswith("socket."):
            return event != "socket.gethostname"
        if not event.startswith(OPENS) or not arguments:
            return False
        if event == "import":
            return "evil" in str(arguments[:2])
        if event == "exec":
            return str(getattr(arguments[0], "co_filename", "")).startswith(self.trap)
        if event == "compile":  # a source, and the name of its file
            return "evil" in str(arguments[0])[:2000] or str(arguments[1]).startswith(self.trap)
        return any(map(self._leads, arguments[:1]))

    def _leads(self, name: Any) -> bool:
        """Whether a name is that of the trap, or of something in it."""
        if not isinstance(name, str | bytes | os.PathLike):
            return False
        path = os.path.normpath(os.path.join(self.trap, os.fsdecode(name)))
        return path.startswith(self.trap + os.sep)


def set_trap(trap: Path) -> list[str]:
    """Put a module, a program, a model and tables there, all of which would leave a mark; the texts that name them."""
    (trap / "m").mkdir(parents=True)
    mark = f"open({str(trap.parent / 'ran')!r}, 'w')\n"
    for name in ("evil.py", "m/evil.py", "chrf.py"):
        (trap / name).write_text(mark)
    program = trap / "evil"
    program.write_text(f"#!/bin/sh\ntouch {trap.parent}/ran\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (trap / "m" / "config.json").write_text('{"model_type": "bert", "auto_map": {"AutoModel": "evil.Model"}}')
    (trap / "m" / "model.safetensors").write_bytes(b"\2\0\0\0\0\0\0\0{}")
    for name in ("evil.tsv", "evil.json", "nli", "rated"):
        (trap / name).write_text("id\tevil\n1\t2\n")
    return [
        f'spice:jar="{trap}/evil"',
        f'meteor15:jar="{trap}/evil"',
        f"command:{trap}/evil",
        f'comet:model="{trap}/m"',
        f'blend:model="{trap}/evil.json",trust=true',
        f'0.5*chrf + 0.5*scores:file="{trap}/evil.tsv",column=evil',
        f'bertscore:model="{trap}/m"',
        "bertscore:model=evil/evil",
        "bertscore:idf_file=nli",
        "evil:Metric",
        "evil.Metric",
        f"{trap}/m",
        "m",
        f"{trap}/evil.json",
        "../trap/evil.tsv",
        "hf://datasets/evil/evil/evil.jsonl",
    ]


def planted(
    example: fuzz.Example, number: int, texts: list[str], is_whole: bool, most: int = _MOST
) -> Iterator[fuzz.Example]:
    """An example with a text in each of its places; every text in each, or the next one in some places of each file."""
    if not isinstance(example, bytes):
        for count, (name, content) in enumerate(example.items(), start=number):
            for changed in planted(content, count, texts, is_whole, max(4, most // len(example))):
                assert isinstance(changed, bytes)
                yield {**example, name: sealed(changed) if name.startswith("sums/") else changed}
        return
    found = list(places(example))
    for count, place in enumerate(found if is_whole else found[:: 1 + len(found) // most], start=number):
        for text in texts if is_whole else [texts[count % len(texts)]]:
            yield place(text)


def sealed(content: bytes) -> bytes:
    """Sums of a part of a run with the seal that fits, without which nobody reads them."""
    sums = json.dumps(json.loads(content).get("sums")).encode()
    return b'{"seal":"%s","sums":%s}' % (sha256(sums).hexdigest().encode(), sums)


def places(content: bytes) -> Iterator[Callable[[str], bytes]]:
    """For each value or name in a file, a function from a text to the file with that text in its place."""
    for read, write in ((_document, _encoded), (_lines, _as_lines)):
        try:
            tree = read(content)
        except (ValueError, RecursionError):
            continue
        for path in _paths(tree):
            yield partial(_with_value, tree, path, write)
            if isinstance(path[-1], str):
                yield partial(_with_name, tree, path, write)
        return
    if content[:4] not in (b"PAR1", b"PK\3\4", b"\x93NUM"):
        for found in re.finditer(rb"[^\t\n,|]+", content):
            yield partial(_with_cell, content, found.span())


def _with_value(tree: Any, path: tuple[Any, ...], write: Callable[[Any], bytes], text: str) -> bytes:
    return write(fuzz.changed(tree, path, text))


def _with_name(tree: Any, path: tuple[Any, ...], write: Callable[[Any], bytes], text: str) -> bytes:
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    renamed = {text if key == path[-1] else key: value for key, value in inner.items()}
    return write(fuzz.changed(tree, path[:-1], renamed))


def _with_cell(content: bytes, span: tuple[int, int], text: str) -> bytes:
    return content[: span[0]] + text.encode() + content[span[1] :]


def _document(content: bytes) -> Any:
    tree = json.loads(content)
    if not isinstance(tree, dict | list):
        raise ValueError
    return tree


def _lines(content: bytes) -> list[Any]:
    return [_document(line) for line in content.splitlines()]


def _encoded(tree: Any) -> bytes:
    return json.dumps(tree).encode()


def _as_lines(rows: list[Any]) -> bytes:
    return fuzz.lines(*rows)


def _paths(tree: Any) -> Iterator[tuple[Any, ...]]:
    """Where values are; of several numbers in a row, where the first is."""
    if isinstance(tree, dict | list):
        last: Any = None
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            if not (isinstance(tree, list) and type(value) is type(last) and isinstance(value, int | float)):
                yield (key,)
                yield from ((key, *path) for path in _paths(value))
            last = value


def walk(folder: Path, is_whole: bool) -> dict[str, Any]:
    """Read everything, and say what happened."""
    trap = folder / "trap"
    texts = set_trap(trap)
    watch = Watch(str(trap))
    # a specification is what a user types, and may name anything
    readers = {name: reader for name, reader in fuzz.READERS.items() if name != "specification"}
    examples = {name: fuzz.examples_of(reader) for name, reader in readers.items()}
    warnings.simplefilter("ignore")
    loaded = set(sys.modules)
    os.chdir(trap)
    sys.addaudithook(watch)
    reads: dict[str, int] = {}
    seconds: dict[str, float] = {}
    values: dict[str, int] = {}
    for name, reader in readers.items():
        began = time.perf_counter()
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            for example in examples[name]:
                fuzz.fault_of(reader, example, str(folder))  # what it imports when it is first used is no event
            for number, example in enumerate(examples[name]):
                for changed in planted(example, number, texts, is_whole):
                    path = fuzz.written(reader, changed, str(folder))
                    watch.now = name
                    try:
                        reader.read(path)
                        values[name] = values.get(name, 0) + 1
                    except fuzz.NlgaugeError:
                        pass
                    except Exception as error:
                        watch.found.add(("traceback", repr(error)[:200], name))
                    finally:
                        watch.now = ""
                    reads[name] = reads.get(name, 0) + 1
        seconds[name] = round(time.perf_counter() - began, 2)
    ran, modules = (folder / "ran").exists(), sorted(name for name in sys.modules.keys() - loaded if "evil" in name)
    told = {"reads": reads, "values": values, "seconds": seconds}
    return {**told, "found": sorted(watch.found), "ran": ran, "modules": modules}


if __name__ == "__main__":
    print(json.dumps(walk(Path(sys.argv[-1]).resolve(), "--all" in sys.argv)))
