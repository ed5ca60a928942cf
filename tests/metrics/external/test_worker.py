"""What the worker answers, asked in this process; how it lives and dies is in test_client.py."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

from nlgauge.metrics.external import worker
from nlgauge.metrics.external.worker import PROTOCOL, Worker


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text("PACKAGES = ['numpy']\ndef score(rows): return [None if r['hyp'] == '?' else 2 for r in rows]\n")
    return str(path)


def test_it_imports_the_standard_library_alone():
    tree = ast.parse(Path(worker.__file__).read_text(encoding="utf-8"))
    imported = {
        alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    }
    imported |= {node.module.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names
    ast.parse(Path(worker.__file__).read_text(encoding="utf-8"), feature_version=(3, 9))


def test_it_says_versions_without_an_import():
    found = Worker().answer({"op": "hello", "packages": ["numpy", "no-such-package"]})
    assert found["protocol"] == PROTOCOL
    assert found["python"].startswith("3.")
    assert found["versions"]["no-such-package"] == "absent"


def test_a_module_scores_rows(module):
    worker = Worker()
    told = worker.answer({"op": "import", "module": module})
    assert told["identity"].startswith("sha256:")
    assert told["versions"].keys() == {"numpy"}
    assert worker.answer({"op": "load", "kind": "module", "options": {"module": module}}) == {}
    assert worker.answer({"op": "score", "rows": [{"hyp": "a"}, {"hyp": "?"}]})["values"] == [2, None]
    with pytest.raises(AttributeError):
        worker.answer({"op": "jump"})


def test_one_package_may_be_named_without_a_list(module):
    Path(module).write_text("PACKAGES = 'numpy'\ndef score(rows): return []\n")
    assert Worker().answer({"op": "import", "module": module})["versions"].keys() == {"numpy"}  # not its letters


def test_a_module_without_the_function_is_named(module):
    Path(module).write_text("scores = 1\n")
    with pytest.raises(TypeError, match=r"toy\.py has no function score$"):
        Worker().answer({"op": "load", "kind": "module", "options": {"module": module}})


def test_a_model_on_disk_is_identified_by_every_file(tmp_path):
    def identity(path):
        return Worker().answer({"op": "locate", "model": str(path)})["identity"]

    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.bin").write_bytes(b"1")
    first = identity(tmp_path)
    assert first == identity(tmp_path)
    assert identity(tmp_path / "inner" / "a.bin") != first
    (tmp_path / "inner" / "a.bin").rename(tmp_path / "inner" / "b.bin")
    assert identity(tmp_path) != first


def test_a_model_of_the_hub_is_identified_by_its_commit(monkeypatch):
    class Hub:
        @staticmethod
        def snapshot_download(repo_id, local_files_only=False):
            if local_files_only:
                raise OSError("not in the cache")
            return f"/cache/models--{repo_id}/snapshots/0123456789abcdef0123"

    monkeypatch.setitem(sys.modules, "huggingface_hub", Hub)
    assert Worker().answer({"op": "locate", "model": "me/model"}) == {"identity": "revision:0123456789abcdef"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("'12'", "score gave a str, expected a list of 2 numbers"),
        ("{1: 2, 3: 4}", "score gave a dict, expected a list of 2 numbers"),
        ("[1, '2']", "score gave '2' for a row, expected a number"),
        ("[1, True]", "score gave True for a row, expected a number"),
        ("[1, [2]]", "score gave a list for a row, expected a number"),
        ("numpy.ones((2, 1))", "score gave array([1.]) for a row, expected a number"),
        ("numpy.array([True, False])", "for a row, expected a number"),
        ("[1, 10 ** 400]", "score gave a number beyond the range of a float"),
        ("itertools.count()", "2 rows got 3 values"),
        ("[rows.pop()['x']]", "2 rows got 1 values"),
    ],
)
def test_what_is_no_list_of_numbers_is_refused(module, given, told):
    Path(module).write_text(f"import itertools, numpy\ndef score(rows): return {given}\n")
    worker = Worker()
    worker.answer({"op": "load", "kind": "module", "options": {"module": module}})
    with pytest.raises((TypeError, ValueError), match=re.escape(told)):
        worker.answer({"op": "score", "rows": [{"x": 1}, {"x": 2}]})


def test_numbers_of_any_package_are_taken(module):
    Path(module).write_text("import numpy\ndef score(rows): return numpy.array([1, numpy.inf], dtype='float32')\n")
    worker = Worker()
    worker.answer({"op": "load", "kind": "module", "options": {"module": module}})
    assert worker.answer({"op": "score", "rows": [{}, {}]}) == {"values": [1, None], "parts": {}}
