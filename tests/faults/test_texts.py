"""Names and texts that would control where they are shown, through every outlet: they are shown, and do nothing."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser

import pytest

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.report.text import render

HOSTILE = {
    "control": "a\x00\x01\x1b]0;owned\x07\x9b2J\x7f\x85b",
    "direction": "a\u202eb\u2066c\u2069\u2028d",
    "tags": "<script>alert(1)</script><img src=x onerror='alert(1)'>\" onload=\"x",
    "template": "{{ 7*7 }}{% include 'page.html' %}${7*7}#{7}",
    "latex": "[1cm] \\input{x} % & # $ ^ _ { } ~ \\\\",
    "star": "*x* & y",
    "markdown": "a | b \\| c ` d ` [e](javascript:f) <b>",
    "lines": "two\nlines\r\nand\rmore",
    "formula": "=1+1",
    "ink": "\u200ba\ufeff\u200b",
}
PLAIN = "name"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
VERBS = {
    "score": "score d.jsonl -m chrf --by-group --significance bootstrap --draws 20",
    "meta": "meta d.jsonl -m chrf --stat pearson --no-cache",
    "audit": "audit d.jsonl --task mt -m chrf --no-cache",
    "gate": "gate base.jsonl new.jsonl -m chrf --report-only ter --no-cache --allow 90 --inconclusive pass",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name):
    """Data in which everything that can have the name has it."""
    rows = [
        {
            "id": f"{name}{i}",
            "system": f"{name}{i % 3}",
            "seg": f"{name}{i // 3}",
            "lp": name,
            "hyp": f"The cat {name} sat on mat {i}.",
            "refs": [f"A cat {name} sat on a mat {i // 3}."],
            "human": {name: i % 5},
        }
        for i in range(12)
    ]
    for side, cut in (("base", None), ("new", -6)):  # of a gate: every item loses its end
        own = [{**row, "seg": row["id"], "hyp": row["hyp"][:cut], "system": name} for row in rows]
        with open(f"{side}.jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in own)
    with open("d.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    pair = {"id": name, "better": f"no {name}", "worse": f"a {name}", "phenomenon": name, "refs": [f"not a {name}"]}
    with open("s.jsonl", "w", encoding="utf-8") as file:
        file.write(json.dumps(pair) + "\n")
    with open("t.txt", "w", encoding="utf-8") as file:
        file.write(f"the cat {' '.join(name.splitlines())} sat on the mat\n")


class Tags(HTMLParser):
    """The tags of a page, each with the names of its attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found |= {(tag, name) for name, _ in attrs} | {(tag, "")}


def unescaped(mark, line):
    """How often a mark stands in a line without a backslash before it; two backslashes are one of them."""
    return len(re.findall(rf"(?<!\\)(?:\\\\)*{re.escape(mark)}", line))


def check_markdown(text):
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) > 2
    blocks = re.findall(r"(?:^\|.*\n?)+", text, flags=re.M)
    for block in blocks:
        assert len({unescaped("|", line) for line in block.splitlines()}) == 1, block


def check_latex(text):
    for inside in re.findall(r"\\begin\{tabular\}.*?\\end\{tabular\}", text, flags=re.S):
        rows = [line for line in inside.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert len({unescaped("&", line) for line in rows}) == 1, inside
        assert not [line for line in rows if line.startswith(("[", "*"))]
        assert all(line.startswith("\\") or line.endswith(r"\\") for line in inside.splitlines()), inside
    printed = [line for line in text.splitlines() if not line.startswith("%")]  # a comment ends with its line
    assert r"\input" not in "".join(printed)


def check_cells(text, delimiter):
    rows = list(csv.reader(io.StringIO(text), delimiter=delimiter, quoting=csv.QUOTE_NONE if delimiter == "\t" else 0))
    assert len({len(row) for row in rows}) == 1


@pytest.fixture(scope="module")
def harmless(tmp_path_factory):
    """Verb -> the tags of its page where every name is plain."""
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("plain"))
    found = {}
    try:
        write(PLAIN)
        for verb, command in VERBS.items():
            worst = ["--worst", "2"] if verb == "audit" else []
            assert main([*command.split(), *worst, "--html", "o.html", "-q"]) == 0
            with open("o.html", encoding="utf-8") as file:
                found[verb] = Tags(file.read()).found
    finally:
        os.chdir(before)
    return found


# By day every name through one verb, and through a second those that each form has its own escapes for.
BY_DAY = {("score", kind) for kind in HOSTILE} | {("gate", kind) for kind in ("control", "tags", "latex", "markdown")}


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        pytest.param(verb, kind, marks=[] if (verb, kind) in BY_DAY else pytest.mark.slow)
        for verb in VERBS
        for kind in HOSTILE
    ],
)
def test_no_name_gets_out_of_its_cell_on_any_page_or_table(folder, verb, kind, harmless, capsys):
    write(HOSTILE[kind])
    words, worst = VERBS[verb].split(), ["--worst", "2"] if verb == "audit" else []
    assert main([*words, *worst, "--html", "o.html", "-q", "-f", "markdown"]) == 0
    shown = {"markdown": capsys.readouterr().out}
    for form in ("latex", "tsv", "csv"):
        assert main([*words, "-q", "-f", form]) == 0
        shown[form] = capsys.readouterr().out
    page = (folder / "o.html").read_text(encoding="utf-8")
    assert not CONTROL.search(page)
    assert Tags(page).found <= harmless[verb]
    assert not CONTROL.search(shown["markdown"] + shown["latex"])
    check_markdown(shown["markdown"])
    check_latex(shown["latex"])
    check_cells(shown["tsv"], "\t")
    check_cells(shown["csv"], ",")


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "tsv", "csv", "html", "json"])
def test_half_a_surrogate_pair_breaks_no_outlet(folder, form):
    # no file of data can hold one, but a program can pass one on
    segments = [
        ng.Segment(f"\ud800{i}", f"cat {i}\udc00", (f"a cat {i % 4}",), system=f"s\ud800{i % 3}", group="g\ud800",
                   human={"q\ud800": i % 5})
        for i in range(6)
    ]  # fmt: skip
    result = ng.meta_evaluate(ng.Dataset(tuple(segments)), metrics=["chrf"]).result()
    result.write("out", form)
    written = (folder / "out").read_text(encoding="utf-8")
    assert "g" in written
    if form in ("text", "markdown", "latex"):
        assert "\ufffd" in written
        assert render(result, form).encode()


SHOWN = {
    **VERBS,
    "align": "align --hyp {name} --ref {name}",
    "select": "select d.jsonl -m chrf --pool 2 --no-cache",
    "sweep": "sweep d.jsonl --suite s.jsonl -m chrf --with bleu --no-cache --level segment",
    "synth": "synth t.txt -o {name}.jsonl --operations delete --severity none",
    "perturb": "perturb d.jsonl -p jumble_words -o o.jsonl",
    "list": "list metrics {name}",
    "refused": "score {name}.jsonl -m chrf",
    "option": "score d.jsonl -m {name}",
}


@pytest.mark.parametrize("kind", ["control", "direction", "lines"])
@pytest.mark.parametrize(
    "verb", ["refused", *(pytest.param(v, marks=pytest.mark.slow) for v in SHOWN if v != "refused")]
)
def test_nothing_reaches_a_terminal_that_it_would_obey(folder, verb, kind):
    pty = pytest.importorskip("pty")  # not on Windows
    write(HOSTILE[kind])
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    typed = HOSTILE[kind].replace("\0", "")  # no system passes a NUL to a command
    words = [word.format(name=typed) for word in SHOWN[verb].split()]
    with open(theirs, "w", encoding="utf-8") as shown, redirect_stdout(shown), redirect_stderr(shown):
        main(words)
        shown.flush()
        said = os.read(ours, 1 << 20).decode()
    os.close(ours)
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said).replace("\r", "")  # colours and bars of our own
    assert drawn.strip()
    assert not CONTROL.search(drawn), CONTROL.search(drawn)
