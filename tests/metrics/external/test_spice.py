"""SPICE by a stand-in for its program, which speaks its form of files."""

import math
import shlex
import sys

import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.meteor15 import digest_of_jar
from nlgauge.metrics.external.spice import Spice
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

# Scenes are sets of words; what it is told to do by a word of a caption, it does.
FAKE = """import json, sys
texts, answers = sys.argv[4], sys.argv[6]
rows = []
for one in json.load(open(texts, encoding="utf-8")):
    if "broken" in one["test"]:
        sys.exit("cannot parse this")
    said, told = set(one["test"].split()), set(" ".join(one["refs"]).split())
    both = len(said & told)
    pr, re = both / len(said), both / len(told)
    f = float("nan") if "odd" in said else 2 * pr * re / (pr + re) if both else 0.0
    rows.append({"image_id": one["image_id"], "scores": {"All": {"f": f, "pr": pr, "re": re}}})
json.dump(rows[:-1] if "short" in one["test"] else rows, open(answers, "w"))
"""


@pytest.fixture
def jar(tmp_path, monkeypatch):
    java = tmp_path / "java"
    (tmp_path / "fake.py").write_text(FAKE, encoding="utf-8")
    words = shlex.join([sys.executable, str(tmp_path / "fake.py")])  # both may stand in folders with a blank
    java.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "spice-1.0.jar"
    path.write_bytes(b"a jar")
    digest_of_jar.cache_clear()
    return str(path)


def scored(jar, *rows):
    segments = [Segment(str(i), hyp, tuple(refs)) for i, (hyp, refs) in enumerate(rows)]
    return Spice(jar=jar).score(segments, Runtime())


def test_it_keeps_the_contract(jar):
    check_metric(Spice(jar=jar))


def test_all_references_are_one_scene_and_blank_sides_are_not_asked(jar):
    found = scored(
        jar, ("a dog", ["a cat", "a dog runs"]), ("", ["a"]), ("a", [" "]), ("a dog", ["a cat", "a dog runs"])
    )
    # two of two words, of the four that the references have: 2 * 1 * .5 / 1.5
    assert found.values == pytest.approx([2 / 3, 0, 0, 2 / 3])
    assert found.parts["precision"].tolist() == [1, 0, 0, 1]
    assert found.parts["recall"].tolist() == [0.5, 0, 0, 0.5]
    assert found.flags["empty"].tolist() == [False, True, True, False]
    assert "jar:sha256:" in str(found.signature)


def test_a_number_that_is_none_is_counted(jar):
    found = scored(jar, ("odd", ["odd"]), ("b\nc", ["b c"]))
    assert math.isnan(found.values[0])
    assert found.values[1] == 1  # a line break is a blank
    assert found.flags["nonfinite"].tolist() == [True, False]


@pytest.mark.parametrize(("text", "said"), [("broken", "cannot parse this"), ("short", "nothing")])
def test_a_program_that_fails_is_one_line(jar, text, said):
    with pytest.raises(ng.InputError, match=rf"gave no scores of 1 captions; is the jar SPICE 1\.0.* said: {said}"):
        scored(jar, (text, ["a"]))


def test_without_java_or_the_jar_it_says_so(jar, monkeypatch):
    with pytest.raises(ng.InputError, match=r"^spice:jar=nowhere\.jar cannot be read: .*give the path of its jar"):
        scored("nowhere.jar", ("a", ["a"]))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ng.InputError, match="spice needs Java, and there is no program java"):
        scored(jar, ("a", ["a"]))
