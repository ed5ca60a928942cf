"""METEOR 1.5 and SPICE by stand-ins for their programs, which speak their protocol; and programs of the user's."""

from __future__ import annotations

import math
import re
import shlex
import sys

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.external import Command, Meteor15, Spice, _peer, digest_of_jar
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

# A program that speaks the protocol: words are content words, and match as they are, in one fragment per word.
METEOR = """import sys
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


# Scenes are sets of words; what it is told to do by a word of a caption, it does.
SPICE = """import json, sys
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
def program(tmp_path, monkeypatch):
    """A function from the source of a program to a jar; Java runs the program."""

    def make(source):
        java = tmp_path / "java"
        (tmp_path / "fake.py").write_text(source, encoding="utf-8")
        words = shlex.join([sys.executable, str(tmp_path / "fake.py")])  # both may stand in folders with a blank
        java.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        java.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))
        path = tmp_path / "one.jar"
        path.write_bytes(b"a jar")
        return str(path)

    _peer.cache_clear()
    digest_of_jar.cache_clear()
    yield make
    _peer.cache_clear()


@pytest.fixture
def meteor(program):
    return program(METEOR)


@pytest.fixture
def spice(program):
    return program(SPICE)


@pytest.mark.parametrize(("kind", "source"), [(Meteor15, METEOR), (Spice, SPICE)])
def test_what_is_not_there_is_named(program, monkeypatch, kind, source):
    jar, name = program(source), kind.info.name
    with pytest.raises(ng.InputError, match=rf"^{name}:jar=none\.jar cannot be read: .*give the path of its jar"):
        ng.score(["a"], ["b"], metrics=f"{name}:jar=none.jar")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ng.InputError, match=rf"^{name} needs Java, and there is no program java"):
        kind(jar=jar).score([Segment("1", "a", ("a",))], Runtime())


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


def test_texts_go_out_in_one_line_and_counts_come_back(meteor):
    texts = [("a\nb", ("a b",)), ("a ||| c", ("x", "a d")), ("", ("a",)), ("a \u2028 b", ("b", ""))]
    found = Meteor15(jar=meteor).score([Segment(str(i), *text) for i, text in enumerate(texts)], Runtime())
    assert found.stats[:, :6].astype(int).tolist() == [
        [2, 2, 0, 0, 2, 2],
        [2, 2, 0, 0, 1, 1],
        [0, 1, 0, 0, 0, 0],
        [2, 1, 0, 0, 1, 1],
    ]
    assert found.values[0] == 1
    assert found.flags["empty"].tolist() == [False, False, True, False]


def test_a_text_that_cannot_be_seen_is_empty_as_for_every_metric(meteor):
    found = Meteor15(jar=meteor).score(
        [Segment("1", "\u200b", ("\u200b",)), Segment("2", "a", ("a", "\ufeff"))], Runtime()
    )
    assert found.flags["empty"].tolist() == [True, False]
    assert found.values.tolist() == [0, 1]  # the first was a copy of one word


def test_the_contract_holds_and_every_option_is_signed(meteor, tmp_path):
    check_metric(Meteor15(jar=meteor))
    other = tmp_path / "other.jar"
    other.write_bytes(b"another jar")
    assert check_options(Meteor15(jar=meteor), alternatives={"jar": str(other)}) == []


def test_a_program_that_fails_is_told_with_what_it_said(meteor):
    with pytest.raises(ng.InputError, match=r"answered 0 counts, expected 23; .* It said: cannot read this$"):
        Meteor15(jar=meteor).score([Segment("1", "broken", ("a",))], Runtime())
    assert Meteor15(jar=meteor).score([Segment("1", "a", ("a",))], Runtime()).values[0] == 1  # it is started again


def scored(spice, *rows):
    segments = [Segment(str(i), hyp, tuple(refs)) for i, (hyp, refs) in enumerate(rows)]
    return Spice(jar=spice).score(segments, Runtime())


def test_it_keeps_the_contract(spice):
    check_metric(Spice(jar=spice))


def test_all_references_are_one_scene_and_blank_sides_are_not_asked(spice):
    found = scored(
        spice, ("a dog", ["a cat", "a dog runs"]), ("", ["a"]), ("a", [" "]), ("a dog", ["a cat", "a dog runs"])
    )
    # two of two words, of the four that the references have: 2 * 1 * .5 / 1.5
    assert found.values == pytest.approx([2 / 3, 0, 0, 2 / 3])
    assert found.parts["precision"].tolist() == [1, 0, 0, 1]
    assert found.parts["recall"].tolist() == [0.5, 0, 0, 0.5]
    assert found.flags["empty"].tolist() == [False, True, True, False]
    assert "jar:sha256:" in str(found.signature)


def test_a_number_that_is_none_is_counted(spice):
    found = scored(spice, ("odd", ["odd"]), ("b\nc", ["b c"]))
    assert math.isnan(found.values[0])
    assert found.values[1] == 1  # a line break is a blank
    assert found.flags["nonfinite"].tolist() == [True, False]


@pytest.mark.parametrize(("text", "said"), [("broken", "cannot parse this"), ("short", "nothing")])
def test_a_program_that_fails_is_one_line(spice, text, said):
    with pytest.raises(ng.InputError, match=rf"gave no scores of 1 captions; is the jar SPICE 1\.0.* said: {said}"):
        scored(spice, (text, ["a"]))


# --- A program of the user's

PROGRAM = """#!/usr/bin/env python3
import json, sys
rows = [json.loads(line) for line in sys.stdin]
print("read", len(rows), file=sys.stderr)
if "--show" in sys.argv:
    print(*map(sorted, rows), file=open("shown", "w"), sep="\\n")
for row in rows:
    words = {*row.get("refs", [""])[0].split()}
    print("nan" if row["hyp"] == "what?" else len({*row["hyp"].split()} & words) / max(1, len(words)))
"""
SEVERAL = [
    Segment("1", "a cat sat", ("a dog sat",), "src", "one", "1", "x-en", human={"good": 3}),
    Segment("β\udc80", "what?", ("what",)),
    Segment("3", "\u2028a\n b", ("a b",), context=({"speaker": "x", "text": "y"},), table=(("a", "b"),)),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "score.py").write_text(PROGRAM.replace("/usr/bin/env python3", sys.executable))
    (tmp_path / "score.py").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_program_reads_the_fields_of_segments_and_prints_their_numbers(folder):
    found = ng.metric('command:"./score.py --show"').score(SEVERAL, Runtime())
    assert found.values.tolist() == pytest.approx([2 / 3, math.nan, 1.0], nan_ok=True)  # shared words by hand
    fields = ["['hyp', 'id', 'lp', 'refs', 'seg', 'src', 'system']", "['hyp', 'id', 'refs']"]
    assert (folder / "shown").read_text().splitlines() == [*fields, "['context', 'hyp', 'id', 'refs', 'table']"]
    assert found.higher_is_better
    assert ng.metric("command:./score.py").score([], Runtime()).values.tolist() == []


def test_every_option_of_a_program_is_signed(folder):
    assert check_options(Command(program="./score.py"), alternatives={"program": "./score.py --b"}) == []


def test_the_signature_has_the_words_the_direction_and_the_digest_of_files(folder):
    rises, falls = Command(program="./score.py"), Command(program="./score.py", higher_is_better=False)
    words = Command(program=f"{shlex.quote(sys.executable)} score.py --a 'b c'")
    assert (rises.info.higher_is_better, falls.info.higher_is_better, len(falls.notes)) == (True, False, 0)
    assert rises.notes == ("a higher value is taken as better; higher_is_better=false if not",)
    first = str(rises.score(SEVERAL, Runtime()).signature)
    assert "|program:./score.py|higher_is_better:true|sha256:" in first
    assert first != str(falls.score(SEVERAL, Runtime()).signature)
    signature = words.score(SEVERAL, Runtime()).signature
    assert ng.metric(signature.spec) == words
    (folder / "score.py").write_text((folder / "score.py").read_text() + "# changed\n")
    assert first != str(rises.score(SEVERAL, Runtime()).signature)
    assert str(signature) != str(words.score(SEVERAL, Runtime()).signature)


def test_no_shell_runs(folder):
    with pytest.raises(InputError, match=r"printed 1 lines for 3 segments"):
        Command(program="echo 1 ; touch made | $HOME *").score(SEVERAL, Runtime())
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("./nowhere", r"'./nowhere' cannot be started \(No such file or directory\); expected a program on the PATH"),
        ("./plain", r"'./plain' cannot be started \(Permission denied\)"),
        ("a\0b", "cannot be started"),
        ("sh -c 'cat >&2; echo; exit 7'", r"ended with 7 for 3 segments.*on stderr: .*\"table\""),
        ("sh -c 'exit 7'", "ended with 7 for 3 segments, .*the last that it said on stderr: nothing"),
        ("sh -c 'kill -9 $$'", "ended with -9"),
        ("seq 2", "printed 2 lines for 3 segments, expected code 0 and a number on each line"),
        ("seq 4", "printed more than 3 lines for 3 segments"),
        ("yes 1", "printed more than 3 lines for 3 segments"),
        ("true", "printed 0 lines for 3 segments"),
        ("printf '1\\n\\n3\\n'", "printed for segment 'β.*': a blank line, expected a number or nan"),
        ("printf '1\\n2\\nx y\\n'", "printed for segment '3': 'x y', expected a number"),
        ("printf '1\\n2\\ninf\\n'", "printed for segment '3': inf, expected a finite number"),
        ("printf '1\\n2\\n\\377\\n'", "printed for segment '3': '\ufffd', expected a number"),
    ],
)
def test_a_program_that_gives_no_numbers_is_an_error(folder, program, said):
    (folder / "plain").write_text("")
    with pytest.raises(InputError, match=said) as error:
        Command(program=program).score(SEVERAL, Runtime())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("command", "command needs the option 'program'; write command:program=..."),
        ('command:""', "command:program is empty, expected a program, as in command:./score.sh"),
        ('command:"a \\"b"', "No closing quotation"),
        ("command:./a.sh,program=b", "model and program are one option"),
    ],
)
def test_what_names_no_program_is_refused(spec, said):
    with pytest.raises(SpecError, match=re.escape(said)):
        ng.metric(spec)
