"""`nlgauge perturb`: pairs of before and after; bad input is one line and leaves nothing behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli.main import main

TEXTS = [
    "The old farmer sold 12 horses in the village.",
    "Maria does not like the cold winter.",
    "It is raining, and the road is wet.",
    "今天下雨。",
]


@pytest.fixture
def data(tmp_path):
    rows = [
        {"id": f"s{i}", "src": "Quelle", "refs": [text], "hyp": "a hypothesis stands here"}
        for i, text in enumerate(TEXTS)
    ]
    return write(tmp_path / "data.jsonl", rows)


def made(data, *arguments, name="pairs.jsonl"):
    path = data.with_name(name)
    assert run("perturb", data, "-o", path, "-q", *arguments) == 0
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_pair_for_each_text_that_was_changed(data):
    rows = made(data, "-p", "change_numbers", "-p", "negation")
    assert [row["id"] for row in rows] == ["s0/change_numbers", "s0/negation", "s1/negation", "s2/negation"]
    first = rows[0]
    assert (first["better"], first["refs"], first["src"], first["expect"]) == (TEXTS[0], [TEXTS[0]], "Quelle", "lower")
    assert "task" not in first
    (theirs,) = ng.perturb("change_numbers", TEXTS[:1], ids=["s0"])
    assert first["worse"] == theirs.text
    assert first["meta"]["edits"] == [list(edit) for edit in theirs.edits]


def test_a_task_makes_all_rows_of_its_checklist(data):
    rows = made(data, "--task", "mt")
    assert {row["task"] for row in rows} == {"mt"}
    assert {row["criterion"] for row in rows} == {"fluency", "adequacy", "invariance"}
    assert {row["criterion"] for row in made(data, "--task", "mt", "--criterion", "fluency")} == {"fluency"}


def test_a_perturbation_under_two_criteria_is_made_for_both(data):
    data.write_text('{"id": "q", "hyp": "Where did the old ship leave the harbour?"}\n', encoding="utf-8")
    rows = made(data, "--task", "qg", "-p", "drop_stopwords")
    worse = {row["criterion"]: row["worse"] for row in rows}
    assert worse == {"fluency": "Old ship leave harbour?", "answerability": "Where old ship leave harbour?"}


def test_a_perturbation_beyond_the_checklist_is_made_all_the_same(data):
    row, *_ = made(data, "--task", "mt", "-p", "swap_objects")
    assert (row["task"], row["criterion"]) == ("mt", "other")


def test_options_of_a_perturbation(data):
    assert [row["id"] for row in made(data, "-p", "negation:mode=remove")] == ["s1/negation:mode=remove"]


def test_hypotheses_are_perturbed_when_asked(data):
    assert {row["better"] for row in made(data, "-p", "typos", "--field", "hyp")} == {"a hypothesis stands here"}


def test_a_limit_leaves_so_many_texts(data):
    # one of the four texts is no English; two are drawn, so that a text is left whichever they are
    assert 1 <= len({row["better"] for row in made(data, "-p", "typos", "-p", "jumble_words", "--limit", 2)}) <= 2


def test_what_was_changed_and_what_left_alone_is_told(data, capsys):
    assert run("perturb", data, "-o", data.with_name("p.jsonl"), "-p", "negation", "-p", "change_numbers") == 0
    lines = [line.split("  ") for line in capsys.readouterr().out.splitlines()]
    shown = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert ["negation", "-", "3", "1", "language 1"] in shown
    assert ["change_numbers", "-", "1", "3", "no number 2, language 1"] in shown
    assert run("perturb", data, "-o", data.with_name("p.jsonl"), "-p", "negation", "-q") == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["p.tsv", "p.jsonl.gz", "p.tsv.gz"])
def test_other_forms_hold_the_same_pairs(data, name):
    path = data.with_name(name)
    assert run("perturb", data, "-p", "negation", "-o", path, "-q") == 0
    texts = [(pair.id, pair.better, pair.worse) for pair in ng.read_suite(path)]
    assert texts == [(row["id"], row["better"], row["worse"]) for row in made(data, "-p", "negation")]
    assert path.read_bytes()[:2] == gzip.compress(b"")[:2] if name.endswith("gz") else True


@pytest.mark.slow
def test_a_second_run_writes_the_same_bytes(data):
    written = []
    for k in (1, 2):
        path = data.with_name(f"{k}.jsonl.gz")
        command = [sys.executable, "-m", "nlgauge", "perturb", str(data), "--task", "mt", "-o", str(path)]
        out = subprocess.run(
            command, env={**os.environ, "PYTHONHASHSEED": str(k)}, capture_output=True, check=True
        ).stdout
        written.append((out, path.read_bytes()))
    assert written[0] == written[1]


def test_the_seed_decides_what_is_drawn(data):
    one, same, other = (
        [row["worse"] for row in made(data, "-p", "jumble_words", "--seed", seed)] for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "nothing to do: name perturbations (-p negation) or a task (--task mt)"),
        (["-p", "negatoin"], "unknown perturbation 'negatoin'; did you mean 'negation'"),
        (["-p", "negation:mod=add"], "negation has no option 'mod'; did you mean 'mode'"),
        (["-p", "negation", "-p", "negation"], "perturbation 'negation' is named twice"),
        (["-p", "negation", "--task", "mt", "-p", "negation"], "perturbation 'negation' is named twice"),
        (["--task", "mtt"], "unknown task 'mtt'; did you mean 'mt'"),
        (["--task", "mt", "--criterion", "fluncy"], "did you mean 'fluency'"),
        (["-p", "negation", "--criterion", "fluency"], "--criterion needs --task"),
        (["-p", "alternative_references"], "nothing applied: alternative_references: no other reference (4)"),
        (["-p", "negation", "--field", "src"], "field is 'src'"),
        (["-p", "negation", "--language", "klingon"], "unknown language backend"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_leaves_nothing(data, capsys, arguments, part):
    assert part in refused(capsys, "perturb", data, "-o", data.with_name("p.jsonl"), *arguments)
    assert sorted(path.name for path in data.parent.iterdir()) == ["data.jsonl"]


def test_an_output_that_cannot_be_is_refused(data, capsys):
    assert "pairs are written as .jsonl or .tsv" in refused(
        capsys, "perturb", data, "-p", "negation", "-o", data.with_name("p.txt")
    )
    assert "there is no folder" in refused(
        capsys, "perturb", data, "-p", "negation", "-o", data.parent / "no" / "p.jsonl"
    )
    assert "would be written over" in refused(capsys, "perturb", data, "-p", "negation", "-o", data)
    assert "Missing option '--output'" in refused(capsys, "perturb", data, "-p", "negation")


def test_a_text_that_tsv_cannot_hold_leaves_nothing(tmp_path, capsys):
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"hyp": "It is raining.\nThe road is wet."}) + "\n", encoding="utf-8")
    assert "holds a tab or a line break, which TSV cannot; write .jsonl" in refused(
        capsys, "perturb", path, "-p", "jumble_words", "-o", tmp_path / "p.tsv"
    )
    assert [p.name for p in tmp_path.iterdir()] == ["data.jsonl"]


def test_bad_files_are_one_line(tmp_path, capsys):
    empty, latin = tmp_path / "empty.jsonl", tmp_path / "latin.jsonl"
    empty.write_bytes(b"")
    latin.write_bytes('{"hyp": "caf\xe9"}\n'.encode("latin-1"))
    assert "no such file" in refused(
        capsys, "perturb", tmp_path / "no.jsonl", "-p", "negation", "-o", tmp_path / "p.jsonl"
    )
    assert "is empty" in refused(capsys, "perturb", empty, "-p", "negation", "-o", tmp_path / "p.jsonl")
    assert "latin.jsonl:1: not UTF-8" in refused(capsys, "perturb", latin, "-p", "negation", "-o", tmp_path / "p.jsonl")
    assert not (tmp_path / "p.jsonl").exists()


def test_pairs_of_hypotheses_are_a_suite_that_a_metric_can_fail(tmp_path, capsys):
    rows = [
        {"id": "a", "refs": ["The ferry leaves at seven."], "hyp": "The boat goes at seven."},
        {"id": "b", "refs": ["The road was closed."], "hyp": "They shut the road."},
    ]
    data = tmp_path / "data.jsonl"
    write(data, rows)
    made(data, "-p", "negation", "-p", "typos", "--field", "hyp")
    pairs = tmp_path / "pairs.jsonl"
    assert main(["audit", "--suite", str(pairs), "-m", "rouge1", "--json", str(tmp_path / "a.json"), "-q"]) == 0
    rows = json.loads((tmp_path / "a.json").read_text())["rows"]
    assert any(row["accuracy"] < 1 for row in rows)
    capsys.readouterr()
    made(data, "-p", "negation")  # of the only reference
    assert main(["audit", "--suite", str(pairs), "-m", "rouge1"]) == 2
    assert "perturb --field hyp" in capsys.readouterr().err


def test_pairs_on_standard_output_stand_there_alone(tmp_path, capsys):
    path = tmp_path / "data.jsonl"
    path.write_text('{"id": "1", "hyp": "It is cold.", "ref": "It is very cold today."}\n')
    assert main(["perturb", str(path), "-p", "negation", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert [json.loads(line)["better"] for line in out.splitlines()] == ["It is very cold today."]
    assert "negation" in err
