"""Bad inputs of every format and verb: one line that names the file, the place and a way out; exit 2, nothing touched.

A new case is a line in `CASES`: the command, files that it needs beside those of `FILES`, and what the line says.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
from pathlib import Path

import pytest

from nlgauge.cli.main import main

ROW = {"id": "1", "system": "A", "hyp": "a cat", "ref": "the cat", "human": {"x": 1}}
ROWS = [{**ROW, "id": f"{system}{i}", "system": system, "seg": str(i + 1)} for system in "ABC" for i in range(3)]
PAIR = {"id": "p", "better": "it is no cat", "worse": "it is a cat", "phenomenon": "negation", "refs": ["not a cat"]}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


FILES = {
    "d.jsonl": lines(*ROWS),
    "suite.jsonl": lines(PAIR),
    "h.txt": b"a cat\na dog\n",
    "r.txt": b"the cat\nthe dog\n",
}
MANY = b"hyp\tref\n" + b"a\tb\na\n" * 7
SUM = 'score d.jsonl -m "0.5*chrf + 0.5*bleu[norm=file(\\"b.json\\")]"'
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"

CASES = [  # command, content of files, what the line says
    # several bad names
    (
        "score d.jsonl -m nope -m bleu -m chrf:orders=2",
        {},
        "; and chrf has no option 'orders'; did you mean 'word_order'",
    ),
    ("meta d.jsonl -m bleu --stat pearsn --stat kendal_b", {}, "; and unknown statistic 'kendal_b'; did"),
    # pairs
    ("audit --suite s.jsonl -m chrf", {"s.jsonl": lines({**PAIR, "better": 3})}, "s.jsonl:1: field 'better' is 3, exp"),
    (
        "audit --suite s.jsonl -m chrf",
        {"s.jsonl": lines(PAIR, PAIR)},
        "s.jsonl:2: duplicate pair 'p', first at s.jsonl",
    ),
    # options out of range, with what was typed
    ("select d.jsonl -m chrf --draws -5", {}, "-5"),
    ("score d.jsonl --significance bootstrap --draws=-7", {}, "-7"),
    ("perturb d.jsonl -p negation -o o.jsonl --limit -3", {}, "-3"),
    ("synth h.txt -o o.jsonl --seed 1.5", {}, "1.5"),
    # no such thing, or no file
    ("score d.jsnl", {}, "d.jsnl: no such file; did you mean 'd.jsonl'?"),
    ("score no/d.jsonl", {}, "no/d.jsonl: no such file; there is no folder no"),
    ("score folder", {"folder/x": b""}, "folder is a folder, expected a file"),
    ("meta d.jsonl -m chrf --scores s.tsv", {}, "s.tsv: no such file"),
    ("audit --suite suit.jsonl -m chrf", {}, "suit.jsonl: no such file; did you mean 'suite.jsonl'?"),
    ("synth t.txt -o o.jsonl", {}, "t.txt: no such file"),
    ("train nli p.jsonl -o m.safetensors", {}, "p.jsonl: no such file"),
    # packed, or of another kind
    ("score d.jsonl.gz", {"d.jsonl.gz": gzip.compress(lines(*ROWS))[:-9]}, "d.jsonl.gz: damaged gzip data"),
    ("score e.jsonl.gz", {"e.jsonl.gz": lines(*ROWS)}, "e.jsonl.gz is named .gz but holds no gzip data"),
    ("score -i h.txt -r z.txt", {"z.txt": b"PK\x03\x04\x14\0"}, "z.txt is a zip archive, as .xlsx is; unpack it"),
    ("score x.xlsx", {"x.xlsx": b"PK\x03\x04"}, "x.xlsx: the format cannot be told from the name"),
    ("score p.parquet", {"p.parquet": b"PAR1 no"}, "p.parquet: cannot be read as Parquet"),
    # encodings
    ("score -i l.txt -r r.txt", {"l.txt": "é\nb\n".encode("latin-1")}, "iconv -f WINDOWS-1252 -t UTF-8 l.txt > utf8-"),
    ("score -i h.txt -r u.txt", {"u.txt": "a cat\nb\n".encode("utf-16")}, "u.txt:1: not UTF-8"),
    ("score u.tsv", {"u.tsv": "hyp\tref\na\tb\n".encode("utf-16-le")}, "it begins as UTF-16 does: convert it"),
    ("score u.json", {"u.json": '[{"hyp": "é"}]'.encode("latin-1")}, "u.json:1: not UTF-8 (byte 0xe9 at offset 10)"),
    ("synth l.txt -o o.jsonl", {"l.txt": b"caf\xe9\n"}, "l.txt:1: not UTF-8 (byte 0xe9 at offset 3)"),
    # empty, header only, one column
    ("score e.jsonl", {"e.jsonl": b""}, "e.jsonl is empty: no row in it"),
    ("score e.tsv", {"e.tsv": b"hyp\tref\n"}, "e.tsv is empty: no row in it"),
    ("score e.tsv", {"e.tsv": b"hyp\na\n"}, "chrf needs references; segment '1' has none (e.tsv)"),
    ("audit --suite e.tsv -m chrf", {"e.tsv": b"better\tworse\n"}, "e.tsv is empty: no pair in it"),
    ("train baseline e.txt -o b.csv", {"e.txt": b""}, "e.txt is empty, expected one sentence per line"),
    # columns
    ("score c.tsv", {"c.tsv": b"hyp\thyp\na\tb\n"}, "c.tsv:1: the header names column 'hyp' twice"),
    ("score c.csv", {"c.csv": b"foo,bar\n1,2\n"}, "c.csv:1: no layout has these columns: 'foo', 'bar'"),
    ("score c.csv", {"c.csv": b'hyp,ref\n"a,b\n'}, "c.csv:2: a double quote that begins a cell in this row is never"),
    ("score d.jsonl --columns hyp=text", {}, "d.jsonl:1: there is no 'text', which columns name as 'hyp'"),
    # bad rows are counted, and the first five named
    ("score m.tsv", {"m.tsv": MANY}, "m.tsv:3: 1 cell, expected 2 as in the header; a text must hold no tab"),
    ("score m.tsv", {"m.tsv": MANY}, "; 7 rows are bad: 3, 5, 7, 9, 11, ..."),
    ("score m.jsonl", {"m.jsonl": lines(ROW, 3, [], "x")}, "m.jsonl:2: the row is a number (3), expected an object"),
    ("score m.jsonl", {"m.jsonl": lines(ROW, 3, [], "x") + b"{\n"}, "; 4 rows are bad: 2, 3, 4, 5"),
    (
        "score m.json",
        {"m.json": b'[{"hyp": 1}, {"hyp": "a", "hyp": "b"}]'},
        "m.json, entry 1: field 'hyp' is a number (1)",
    ),
    (
        "score m.jsonl",
        {"m.jsonl": lines(ROW, ROW, ROW)},
        "m.jsonl:2: duplicate id '1', first at m.jsonl:1; ids must be",
    ),
    ("score m.jsonl", {"m.jsonl": lines(ROW, ROW, ROW)}, "; 2 rows are bad: 2, 3"),
    (
        "meta d.jsonl --scores s.tsv",
        {"s.tsv": b"id\tm\nA0\t1\nA0\t2\nA1\tx\n"},
        "s.tsv:3: a second row about segment 'A0'",
    ),
    ("meta d.jsonl --scores s.tsv", {"s.tsv": b"id\tm\nA0\t1\nA0\t2\nA1\tx\n"}, "; 2 rows are bad: 3, 4"),
    ("meta d.jsonl --scores s.jsonl", {"s.jsonl": lines(3, 4)}, "s.jsonl:1: not an object, expected one with 'id'"),
    (
        "audit --suite s.jsonl -m chrf",
        {"s.jsonl": lines(PAIR, {"better": 1}, {**PAIR, "expect": "up"})},
        "2 rows are bad: 2, 3",
    ),
    ("meta d.jsonl --scores s.seg.score", {"s.seg.score": b"A\t1\nB\tx\nC\n"}, "; 2 rows are bad: 2, 3"),
    (
        "meta d.jsonl -m chrf --pairs p.jsonl",
        {"p.jsonl": lines({"better": "A0"}, 3) + b"{\n"},
        "3 rows are bad: 1, 2, 3",
    ),
    (
        "meta d.jsonl -m chrf --pairs p.csv",
        {"p.csv": b"LP DATA SID BETTER WORSE\na b 1 c\na b 1 c c\na b 1 c d x\n"},
        "p.csv:2: 4 words, expected LP DATA SID BETTER WORSE and perhaps the difference; 3 rows are bad: 2, 3, 4",
    ),
    (
        "audit --suite suite.jsonl -m chrf --penalties p.tsv",
        {"p.tsv": b"template\tpenalty\nnegation\t3\nx\tnan\ny\nz\t1\nz\t0\n"},
        "p.tsv:2: penalty is 3, expected 0 to 1 (how much lower people rate the text; divide ratings of 0 to 10 by 10);"
        " 4 rows are bad: 2, 3, 4, 6",
    ),
    (
        "train sescore t.jsonl -o m.safetensors",
        {"t.jsonl": lines({"hyp": "a", "refs": ["b"], "score": -1}, {"hyp": "a"}, 3) + b"{\n"},
        "t.jsonl:2: refs is missing, expected an object with the text hyp, refs (one text or a list) and the number"
        " score; 3 rows are bad: 2, 3, 4",
    ),
    ("train nli t.jsonl -o m.safetensors", {"t.jsonl": lines({"premise": "a"}, 3)}, "; 2 rows are bad: 1, 2"),
    ("score q.tsv", {"q.tsv": (MQM + "A\td\t1\t1\tr\ts\tt\tc\tHuge\n" * 7).encode()}, "; 7 rows are bad: 2, 3, 4, 5"),
    # values of the wrong kind
    ("score v.jsonl", {"v.jsonl": lines({**ROW, "human": {"x": "good"}})}, "v.jsonl:1: field 'human.x' is a string"),
    ("score v.jsonl", {"v.jsonl": b'{"hyp": "a", "ref": "b", "human": {"x": NaN}}\n'}, "NaN and Infinity do not exist"),
    ("score v.jsonl", {"v.jsonl": b"{" * 9 + b"\n"}, "v.jsonl:1: not valid JSON"),
    # parallel files
    ("score -i h.txt -r s.txt", {"s.txt": b"the cat\nthe dog\n\n"}, "line 3 of s.txt is blank, at its end"),
    ("score -i h.txt -r s.txt", {"s.txt": b"the cat\nsnow fell there\nthe dog\n"}, "line 2 of s.txt has no partner"),
    ("score -i h.txt -i h.txt -r r.txt", {}, "hypothesis file h.txt is given twice"),
    # bounds, baselines, draws, penalties, suites
    (SUM, {"b.json": b"{}"}, 'b.json: expected {"bounds": {"chrf": [low, high]}}'),
    (SUM, {"b.json": b'{"bounds": {"chrf": [0, Infinity], "bleu": [0, 1]}}'}, "b.json: bounds of chrf are 0 and inf"),
    ("score d.jsonl -m bertscore:rescale=true,baseline=folder", {"folder/x": b""}, "cannot read baseline folder: Is a"),
    (
        "score d.jsonl -m bertscore:rescale=true,baseline=b.csv",
        {"b.csv": b"LAYER,P,R,F\n6,a,b,c\n"},
        "b.csv:2: expected",
    ),
    ("score d.jsonl -m bertscore:model=folder", {"folder/x": b""}, "model folder folder has no config.json"),
    ("audit --suite suite.jsonl -m chrf --penalties p.tsv", {"p.tsv": b"a\tb\n"}, "p.tsv:1: no column 'template'"),
    ("meta d.jsonl -m chrf --pairs p.jsonl", {"p.jsonl": b"better worse\n"}, "p.jsonl:1: not valid JSON"),
    (
        "meta d.jsonl --scores s.seg.score",
        {"s.seg.score": b"A\t1\nB\t1\nB\t2\n"},
        "s.seg.score: system 'B' has 2 scores",
    ),
    # values of options
    ("score d.jsonl -m chrf:char_order=-1", {}, "chrf:char_order is -1, expected 0 or more"),
    ("score d.jsonl -m nan*chrf", {}, "metric specification 'nan*chrf'"),
    ("sweep d.jsonl --suite suite.jsonl -m chrf --with bleu --weights nan", {}, "weights are 'nan'"),
    (
        "synth h.txt -o o.jsonl --set edits=inf",
        {},
        "edits is inf, expected 0.01 to 100 (the mean of a Poisson distribution)",
    ),
    ("perturb d.jsonl -p negatoin -o o.jsonl", {}, "unknown perturbation 'negatoin'; did you mean 'negation'"),
    ("perturb h.txt -p negation -o o.jsonl", {}, "no pair in h.txt, expected at least one; nothing applied: negation"),
    ("train infill h.txt -o m.safetensors --mask nan", {}, "Input should be less than or equal to 1, not 'nan'"),
    ("train regressor d.jsonl -o m.safetensors --learning-rate nan", {}, "learning_rate is nan"),
    # names longer than a file's may be
    *((f"train {made} d.jsonl -o {'o' * 300}", {}, "File name too long") for made in ("regressor", "infill", "beer")),
    (f"train regressor d.jsonl -o o.safetensors --dev {'o' * 300}", {}, "File name too long"),
    ("list metrics blue", {}, "unknown metric 'blue'; did you mean 'bleu'"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("nlgauge.metrics.run._score", lambda *_: pytest.fail("scored"))
    for name, content in FILES.items():
        Path(name).write_bytes(content)


def content():
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "files", "says"), CASES, ids=[f"{c[0]} {i}" for i, c in enumerate(CASES)])
def test_one_line(capsys, command, files, says):
    if ".parquet" in command:
        pytest.importorskip("pyarrow")
    for name, given in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(given)
    words = shlex.split(command)
    if words[0] == "score" and "-m" not in words:
        words += ["-m", "chrf"]
    if words[0] in ("score", "meta", "select", "audit", "sweep"):
        Path("r.json").write_text("an earlier result")
        words += ["--json", "r.json"]
    before = content()
    code = main(words)
    out, err = capsys.readouterr()
    assert says in err
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("nlgauge: ")
    assert content() == before


@pytest.mark.skipif(os.name != "posix", reason="links and pipes are of POSIX")
def test_a_link_to_nothing(capsys):
    os.symlink("gone.jsonl", "link.jsonl")
    assert main(["score", "link.jsonl", "-m", "chrf"]) == 2
    assert capsys.readouterr().err == (
        "nlgauge: link.jsonl: no such file; it is a link to gone.jsonl, which is not there\n"
    )


def test_a_blank_in_the_name_of_a_system_is_part_of_it_between_tabs(capsys):
    rows = [{**row, "system": f"Online {row['system']}"} for row in ROWS]
    Path("o.jsonl").write_bytes(lines(*({**row, "human": {"x": i % 4}} for i, row in enumerate(rows))))
    scores = "".join(f"{row['system']}\t{i % 5}\n" for i, row in enumerate(rows))
    Path("m.seg.score").write_text(scores)
    assert main(["meta", "o.jsonl", "--scores", "m.seg.score", "-q"]) == 0
    assert "m" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["score", "a\0b"], ["report", "a\0b", "-o", "o.html"], ["train", "ruber", "a\0b"]])
def test_a_name_with_nul_is_refused_in_one_line(capsys, command):
    more = {"score": ["-m", "chrf", "--json", "r.json"], "report": [], "train": ["-o", "o.safetensors"]}[command[0]]
    assert main([*command, *more]) == 2
    assert capsys.readouterr().err == "nlgauge: 'a\\x00b': cannot be read (embedded null byte)\n"
