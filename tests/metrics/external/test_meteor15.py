from __future__ import annotations

import shlex
import sys

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.external.meteor15 import Meteor15, _peer
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

# A program that speaks the protocol: words are content words, and match as they are, in one fragment per word.
FAKE = """import sys
from collections import Counter
for line in open(0, encoding="utf-8"):
    if line.split("|||")[0].strip() != "SCORE" or "broken" in line:
        sys.exit("cannot read this")
    *references, hypothesis = [text.split() for text in line.rstrip("\\n").split("|||")[1:]]
    rows = []
    for reference in references:
        n = sum((Counter(hypothesis) & Counter(reference)).values())
        runs = 1 if hypothesis == reference else n
        rows.append([len(hypothesis), len(reference), 0, 0, n, n] + [0] * 14 + [runs, n, n])
    print(*max(rows, key=lambda row: row[4] / (row[0] + row[1] or 1)), flush=True)
"""


@pytest.fixture
def jar(tmp_path, monkeypatch):
    java = tmp_path / "java"
    (tmp_path / "fake.py").write_text(FAKE, encoding="utf-8")
    words = shlex.join([sys.executable, str(tmp_path / "fake.py")])  # both may stand in folders with a blank
    java.write_text(f"#!/bin/sh\nexec {words}\n", encoding="utf-8")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    path = tmp_path / "meteor-1.5.jar"
    path.write_bytes(b"a jar")
    _peer.cache_clear()
    yield str(path)
    _peer.cache_clear()


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        # what METEOR 1.5 answers (-l en -norm), less the one fragment of a copy, and the scores it makes of it
        ("9 8 5 4 2 2 4 4 0 0 0 0 2 2 0 0 0 0 0 0 2 8 8", 0.4997039284640144),
        ("4 7 1 3 1 1 1 1 0 0 0 0 0 0 0 0 1 1 0 1 2 3 4", 0.205940348775888),
        ("0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", 0.0),
        ("1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", 0.0),
        ("3 3 1 1 2 2 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0 3 3", 1.0),
        ("17 19 7 8 5 5 6 6 0 0 0 0 2 2 0 0 1 1 0 1 4 14 15", 0.37319432870185265),  # the sum of these five
    ],
)
def test_the_score_is_the_programs_own(counts, expected):
    totals = np.array([float(count) for count in counts.split()])
    assert float(Meteor15(jar="x").corpus(totals)) == pytest.approx(expected, abs=1e-12)  # the same quotients


def test_texts_go_out_in_one_line_and_counts_come_back(jar):
    texts = [("a\nb", ("a b",)), ("a ||| c", ("x", "a d")), ("", ("a",)), ("a \u2028 b", ("b", ""))]
    found = Meteor15(jar=jar).score([Segment(str(i), *text) for i, text in enumerate(texts)], Runtime())
    assert found.stats[:, :6].astype(int).tolist() == [
        [2, 2, 0, 0, 2, 2],
        [2, 2, 0, 0, 1, 1],
        [0, 1, 0, 0, 0, 0],
        [2, 1, 0, 0, 1, 1],
    ]
    assert found.values[0] == 1
    assert found.flags["empty"].tolist() == [False, False, True, False]


def test_a_text_that_cannot_be_seen_is_empty_as_for_every_metric(jar):
    found = Meteor15(jar=jar).score(
        [Segment("1", "\u200b", ("\u200b",)), Segment("2", "a", ("a", "\ufeff"))], Runtime()
    )
    assert found.flags["empty"].tolist() == [True, False]
    assert found.values.tolist() == [0, 1]  # the first was a copy of one word


def test_the_contract_holds_and_every_option_is_signed(jar, tmp_path):
    check_metric(Meteor15(jar=jar))
    other = tmp_path / "other.jar"
    other.write_bytes(b"another jar")
    assert check_options(Meteor15(jar=jar), alternatives={"jar": str(other)}) == []


def test_a_program_that_fails_is_told_with_what_it_said(jar):
    with pytest.raises(ng.InputError, match=r"answered 0 counts, expected 23; .* It said: cannot read this$"):
        Meteor15(jar=jar).score([Segment("1", "broken", ("a",))], Runtime())
    assert Meteor15(jar=jar).score([Segment("1", "a", ("a",))], Runtime()).values[0] == 1  # it is started again


def test_what_is_not_there_is_named(jar, tmp_path, monkeypatch):
    with pytest.raises(ng.InputError, match=r"^meteor15:jar=none\.jar cannot be read: No such file"):
        ng.score(["a"], ["b"], metrics="meteor15:jar=none.jar")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ng.InputError, match=r"^meteor15 needs Java"):
        Meteor15(jar=jar).score([Segment("1", "a", ("a",))], Runtime())
