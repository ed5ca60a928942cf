"""`nlgauge perturb`: pairs of before and after; bad input is one line and leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys

import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.spec import quote

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
        (["-p", "negation", "-p", "negation"], "perturbation 'negation' is named twice"),
        (["--task", "mtt"], "unknown task 'mtt'; did you mean 'mt'"),
        (["--task", "mt", "--criterion", "fluncy"], "did you mean 'fluency'"),
        (["-p", "negation", "--criterion", "fluency"], "--criterion needs --task"),
        (["-p", "alternative_references"], "nothing applied: alternative_references: no other reference (4)"),
        (["-p", "negation", "--field", "src"], "field is 'src'"),
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


# --- `nlgauge audit`: suites are made and read; bad input is one line and leaves nothing behind

AUDIT_TEXTS = [
    ("The old farmer sold 12 horses in the village.", "A farmer sold 12 of his horses."),
    ("Maria does not like the cold winter.", "Mary dislikes winter."),
    ("It is raining, and the road is wet.", "It rains."),
]
ROWS = [
    {"id": f"s{i}", "lp": "mt", "src": "Quelle", "refs": [ref], "hyp": hyp} for i, (ref, hyp) in enumerate(AUDIT_TEXTS)
]
PAIRS = [
    {
        "id": "a",
        "phenomenon": "negation",
        "ref": "the cat sat",
        "better": "the cat sat",
        "worse": "the cat sat not",
        "lp": "x",
    },
    {
        "id": "b",
        "phenomenon": "typos",
        "ref": "the cat sat",
        "better": "a cat was sitting",
        "worse": "the cta sat",
        "lp": "x",
    },
]
PREFERENCE = ["metric", "phenomenon", "group", "n", "wins", "ties", "losses", "accuracy", "low", "high"]
CHECKLIST = "metric task criterion template n n_not_applicable drop penalty deviation low high".split()


@pytest.fixture
def audit_data(tmp_path):
    return write(tmp_path / "data.jsonl", ROWS)


@pytest.fixture
def pairs(tmp_path):
    return write(tmp_path / "pairs.jsonl", PAIRS)


def result_of(path, *arguments):
    out = path.with_name("result.json")
    assert run("audit", *arguments, "--json", out, "-q") == 0
    return json.loads(out.read_text(encoding="utf-8"))


def test_a_checklist_is_made_from_data(audit_data):
    result = result_of(audit_data, audit_data, "-m", "chrf", "-m", "bleu")
    assert (result["schema"], result["kind"], result["version"]) == (1, "audit", ng.__version__)
    assert [entry["path"] for entry in result["inputs"]] == [str(audit_data)]
    assert [m["spec"] for m in result["metrics"]] == ["chrf", "bleu"]
    assert all(row.keys() >= set(CHECKLIST) for row in result["rows"])
    expected = ng.audit(ng.suite("checklist", ng.read(audit_data)), metrics=["chrf", "bleu"]).result().as_json()["rows"]
    assert result["rows"] == json.loads(json.dumps(expected))


def test_a_part_of_a_suite_is_audited_by_language_pair_and_number(tmp_path, capsys):
    rows = [
        {
            "id": str(i),
            "better": "a b",
            "worse": "b a",
            "ref": f"a b c {i}",
            "lp": ("de-en", "zh-en")[i % 2],
            "phenomenon": f"p{i // 20}",
        }
        for i in range(40)
    ]
    path = tmp_path / "suite.jsonl"
    write(path, rows)
    assert run("audit", "--suite", path, "-m", "chrf", "--lp", "zh-en", "--limit", 6) == 0
    out = capsys.readouterr().out
    assert "6 of 20 pairs: those of 6 of 20 origins, from all over the suite" in out
    assert {line.split()[1] for line in out.splitlines() if line.startswith(("p0", "p1"))} == {"3"}  # of both phenomena
    assert "did you mean 'zh-en'" in refused(capsys, "audit", "--suite", path, "-m", "chrf", "--lp", "zh-e")


def test_a_suite_of_preferences_is_read(pairs):
    result = result_of(pairs, "--suite", pairs, "-m", "chrf")
    assert all(
        list(row)[:4] == ["metric", "phenomenon", "group", "expect"] and row.keys() >= set(PREFERENCE)
        for row in result["rows"]
    )
    assert {row["phenomenon"]: row["accuracy"] for row in result["rows"]} == {
        "negation": 1,
        "typos": 0,
        "mean-adequacy": 1,
        "mean-fluency": 0,
        "mean-all": 0.5,
    }
    assert {row["group"] for row in result["rows"]} == {"x"}


def test_a_suite_is_read_from_standard_input(pairs, monkeypatch):
    """What `perturb -o -` writes goes to `audit --suite -` by a pipe."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pairs.read_bytes())))
    piped = result_of(pairs, "--suite", "-", "-m", "chrf")
    named = result_of(pairs, "--suite", pairs, "-m", "chrf")
    assert piped["rows"] == named["rows"]
    assert [entry["sha256"] for entry in piped["inputs"]] == [entry["sha256"] for entry in named["inputs"]]


def test_menli_is_made_from_data_with_paraphrases_of_a_file(audit_data, tmp_path):
    table = write(
        tmp_path / "para.jsonl", [{"text": AUDIT_TEXTS[2][0], "paraphrase": "Rain falls, so the street is wet."}]
    )
    result = result_of(
        audit_data, audit_data, "--suite", f"menli:paraphrases={quote(str(table))}", "-p", "negation", "-m", "chrf"
    )
    assert [(row["phenomenon"], row["n"]) for row in result["rows"]] == [
        ("negation", 1),
        ("mean-adequacy", 1),
        ("mean-all", 1),
    ]
    assert [entry["path"] for entry in result["inputs"]] == [str(audit_data), str(table)]


def test_what_perturb_writes_audit_reads(audit_data, tmp_path):
    made = tmp_path / "made.jsonl"
    assert run("perturb", audit_data, "--task", "mt", "-o", made, "-q") == 0
    read = result_of(audit_data, "--suite", made, "--design", "checklist", "-m", "chrf")["rows"]
    whole = {
        (row["criterion"], row["template"]): row for row in result_of(audit_data, audit_data, "-m", "chrf")["rows"]
    }
    assert read
    for row in read:  # what never applied is not written
        assert {**whole[row["criterion"], row["template"]], "n_not_applicable": 0} == row


def test_pairs_of_ids_are_joined_with_data(tmp_path, capsys):
    outputs = write(tmp_path / "two.jsonl", [*ROWS, {**ROWS[0], "id": "t0", "hyp": "A horse sold 12 farmers."}])
    pairs = write(tmp_path / "ids.jsonl", [{"better_id": "s0", "worse_id": "t0"}])
    assert result_of(outputs, outputs, "--suite", pairs, "-m", "chrf")["rows"][0]["n"] == 1
    capsys.readouterr()
    other = write(tmp_path / "other.jsonl", [{"better_id": "s0", "worse_id": "s1"}])
    assert "expected two outputs for one item" in refused(capsys, "audit", outputs, "--suite", other, "-m", "chrf")


def test_data_beside_a_suite_of_texts_are_noted(audit_data, pairs):
    assert (
        f"{pairs} holds texts of its own; the segments beside it are not used"
        in result_of(audit_data, audit_data, "--suite", pairs, "-m", "chrf")["notes"]
    )


def test_penalties_of_a_file_make_a_checklist_of_a_suite(audit_data, tmp_path):
    penalties = write(tmp_path / "p.tsv", ["template\tpenalty", "negation\t0.25"])
    (row,) = result_of(audit_data, audit_data, "-p", "negation", "--penalties", penalties, "-m", "chrf")["rows"]
    assert (row["penalty"], row["certainty"]) == (0.25, "user")
    assert row["deviation"] == pytest.approx(row["drop"] - 0.25, abs=1e-12)


def test_the_table_has_signatures_and_notes_unless_quiet(audit_data, capsys):
    assert run("audit", audit_data, "-m", "chrf", "-p", "negation", "-v") == 0
    out = capsys.readouterr().out
    assert "chrf = metric:chrf|" in out
    assert "note: scale of chrf: self" in out
    assert run("audit", audit_data, "-m", "chrf", "-p", "negation", "-q") == 0
    quiet = capsys.readouterr().out
    assert "metric:chrf" not in quiet
    assert "note:" not in quiet


def test_intervals_are_shown_with_the_rest(pairs, capsys):
    assert run("audit", "--suite", pairs, "-m", "chrf", "-v", "-q") == 0
    assert "1.000 [0.207, 1.000]" in capsys.readouterr().out  # Wilson's for 1 of 1: 1 / (1 + 1.96^2) = 0.207 to 1


def test_segments_are_pairs_with_scores_and_outcomes(pairs, tmp_path):
    assert run("audit", "--suite", pairs, "-m", "chrf", "--segments", tmp_path / "s.jsonl", "-q") == 0
    first, second = (json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines())
    assert (first["id"], first["phenomenon"], first["chrf.won"], second["chrf.won"]) == ("a", "negation", 1, 0)
    assert first["chrf.better"] == 100


@pytest.mark.parametrize("suite", [False, True])
def test_the_page_is_written(audit_data, pairs, tmp_path, suite):
    pytest.importorskip("jinja2")
    assert (
        run(
            "audit", *(["--suite", pairs] if suite else [audit_data]), "-m", "chrf", "--html", tmp_path / "r.html", "-q"
        )
        == 0
    )
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert ("<svg" if suite else '<table class="map">') in page
    assert "Worst cases" in page
    assert ("margin " if suite else "drop ") in page.partition("Worst cases")[2]


def test_another_process_with_other_hashes_writes_the_same_bytes(audit_data, tmp_path, capsys):
    pytest.importorskip("jinja2")
    files = [{"--json": tmp_path / f"{k}.json", "--html": tmp_path / f"{k}.html"} for k in (1, 2)]
    for one in files:
        one["--segments"] = one["--json"].with_suffix(".tsv")
    here, there = (
        ["audit", audit_data, "-m", "chrf", "--seed", 3, *(x for pair in f.items() for x in pair)] for f in files
    )
    assert main([str(word) for word in here]) == 0
    environment = {**os.environ, "PYTHONHASHSEED": "4242"}
    command = [sys.executable, "-m", "nlgauge", *map(str, there)]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, encoding="utf-8")
    assert capsys.readouterr().out == done.stdout
    for one, other in zip(files[0].values(), files[1].values(), strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_the_cache_makes_no_difference(audit_data, tmp_path):
    cold, warm = (result_of(audit_data, audit_data, "-m", "chrf", "--cache", tmp_path / "c") for _ in range(2))
    assert cold == warm == result_of(audit_data, audit_data, "-m", "chrf", "--no-cache")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ([], "no metric is named"),
        (["-m", "chrff"], "unknown metric 'chrff'; did you mean 'chrf'"),
        (["-m", "chrf", "--task", "mtt"], "unknown task 'mtt'; did you mean 'mt'"),
        (
            ["-m", "chrf", "--suite", "menly"],
            "no suite 'menly' is known, and there is no file of that name; did you mean 'menli'",
        ),
        (["-m", "chrf", "--suite", "menli", "--criterion", "fluency"], "criterion goes with suite 'checklist'"),
        (["-m", "chrf", "--suite", "no.jsonl"], "no.jsonl: no such file"),
        (["-m", "chrf", "--penalties", "no.tsv"], "no.tsv: no such file"),
        (["-m", "chrf", "--field", "src"], "field is 'src'; known: hyp, ref"),
        (["-m", "chrf", "--limit", "0"], "Invalid value for '--limit'"),
        (["-m", "chrf", "--json", "no/r.json"], "there is no folder"),
        (["-m", "chrf", "--segments", "r.doc"], "expected .tsv, .csv, .jsonl"),
    ],
)
def test_what_cannot_be_done_is_one_line(audit_data, capsys, monkeypatch, arguments, part):
    monkeypatch.chdir(audit_data.parent)
    assert part in refused(capsys, "audit", audit_data, *arguments)
    assert sorted(path.name for path in audit_data.parent.iterdir()) == ["data.jsonl"]


@pytest.mark.parametrize(
    ("lines", "arguments", "part"),
    [
        ([], ["--task", "mt"], "is empty"),
        ([{"refs": [""], "hyp": ""}], ["--task", "mt"], "nothing applied: remove_punctuation: empty (1)"),
        (
            [{"hyp": "It rains."}],
            ["--suite", "menli"],
            "no segment has a reference, and references are what is attacked",
        ),
        (
            [{"hyp": "It rains."}],
            [],
            "no task is given and the data name none; choose one of mt, as, qg, dg, ic, d2t (--task mt)",
        ),
        (['{"hyp": 1}'], ["--task", "mt"], ":1: "),
    ],
)
def test_bad_data_are_one_line(tmp_path, capsys, lines, arguments, part):
    assert part in refused(capsys, "audit", write(tmp_path / "d.jsonl", lines), "-m", "chrf", *arguments)


@pytest.mark.parametrize(
    ("lines", "part"),
    [
        ([], "is empty: no pair in it"),
        ([PAIRS[0], {"better": "a", "ref": "b"}], ":2: no field 'worse'"),
        ([{**PAIRS[0], "refs": "r"}], "field 'refs' is 'r', expected a list of strings"),
        ([PAIRS[0], PAIRS[0]], "duplicate pair 'a'"),
        ([{"x": 1}], "no layout of a suite is known with the fields 'x'"),
        ([{"better": "a", "worse": "b"}], "chrf needs references; no pair of"),
        ([{"better": "a", "worse": "b", "src": "s"}], "--references source holds them against the source"),
        ([{"better_id": "a", "worse_id": "b"}], "give the file with the segments"),
        ([{**PAIRS[0], "expect": "higher"}], "field 'expect' is 'higher'; known: lower, same"),
    ],
)
def test_a_bad_suite_is_one_line(tmp_path, capsys, lines, part):
    assert part in refused(capsys, "audit", "--suite", write(tmp_path / "s.jsonl", lines), "-m", "chrf")


@pytest.mark.parametrize(
    ("option", "value"), [("--task", "mt"), ("--criterion", "x"), ("-p", "typos"), ("--field", "hyp")]
)
def test_a_suite_of_a_file_takes_no_options_of_making_one(pairs, capsys, option, value):
    err = refused(capsys, "audit", "--suite", pairs, "-m", "chrf", option, value)
    assert f"{option} says how a suite is made from data; {pairs} is a suite already" in err


def test_options_that_do_not_go_together_are_one_line(audit_data, pairs, tmp_path, capsys):
    penalties = write(tmp_path / "p.tsv", ["template\tpenalty", "negation\t0.9"])
    assert "they go with a checklist" in refused(
        capsys, "audit", audit_data, "-m", "chrf", "--suite", "menli", "--penalties", penalties
    )
    assert "names no task; a checklist needs both" in refused(
        capsys, "audit", "--suite", pairs, "-m", "chrf", "--penalties", penalties
    )
    assert "nothing to audit on" in refused(capsys, "audit", "-m", "chrf")


def test_an_output_is_never_written_over_an_input(audit_data, pairs, capsys):
    before = audit_data.read_bytes()
    assert "would be written over the input" in refused(capsys, "audit", audit_data, "-m", "chrf", "--json", audit_data)
    assert "would be written over the input" in refused(
        capsys, "audit", "--suite", pairs, "-m", "chrf", "--segments", pairs
    )
    assert audit_data.read_bytes() == before


def test_paraphrases_come_from_two_translation_models(audit_data, tmp_path, tiny_model, monkeypatch):
    from nlgauge.models.generation import Backtranslator

    def paraphrase(
        self, texts
    ):  # real models are tried in tests/models/test_generation.py; tiny ones say nothing that makes a pair
        assert (self.forward, self.backward) == (str(model), str(model))
        told.append(self.languages)
        return [f"In short: {text}" for text in texts]

    model, told = tiny_model("bart"), []
    monkeypatch.setattr(Backtranslator, "paraphrase", paraphrase)
    asked = ("-p", "typos", "-m", "chrf", "--no-cache", "--segments", tmp_path / "pairs.tsv", "--suite")
    name = quote(str(model))
    result = result_of(tmp_path / "r.json", audit_data, *asked, f"menli:out={name},back={name}")
    assert {row["phenomenon"]: row["n"] for row in result["rows"]} == {"typos": 3, "mean-fluency": 3, "mean-all": 3}
    # One model of many languages serves both ways.
    spoken = f"menli:out={name},own=eng_Latn,other=deu_Latn"
    assert result_of(tmp_path / "r.json", audit_data, *asked, spoken)["rows"] == result["rows"]
    assert told == [None, ("eng_Latn", "deu_Latn")]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("out=one", "menli:out needs back=MODEL, or own and other"),
        ("out=/no/such/model,back=/nor/this", "does not exist"),
        ("out=a,own=de", "menli:out needs back=MODEL, or own and other"),
        ("own=en,other=de", "menli:back, own and other say how texts are translated back; add out=MODEL"),
        ("out=a,back=b,paraphrases=c.tsv", "menli:paraphrases and menli:out are both given"),
        ("paraphrase=c.tsv", "menli has no option 'paraphrase'; did you mean 'paraphrases'?"),
        ("choose=last", "choose is 'last'"),
    ],
)
def test_bad_options_of_paraphrases_are_refused(audit_data, capsys, value, told):
    assert told in refused(capsys, "audit", audit_data, "--suite", f"menli:{value}", "-m", "chrf")


def test_options_that_make_a_suite_are_refused_beside_a_suite(pairs, capsys):
    assert "--seed says how a suite is made from data" in refused(
        capsys, "audit", "--suite", pairs, "-m", "chrf", "--seed", 3
    )
    message = refused(capsys, "audit", "--suite", pairs, "-m", "chrf", "--choose", "first")
    assert "--choose is now an option of the suite, as in --suite menli:choose=first" in message
    assert "--worst is about tables" in refused(
        capsys, "audit", "--suite", pairs, "-m", "chrf", "--worst", 2, "-f", "json"
    )


def test_columns_are_those_of_the_suite_where_there_are_no_data(tmp_path, capsys):
    path = write(tmp_path / "p.jsonl", [{"ref": "the cat sat", "good": "a cat sat", "worse": "the cta"}])
    assert main(["audit", "--suite", str(path), "-m", "chrf", "--columns", "better=good", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["wins"] == 1


HWTSC = (
    "source\tgood-translation\tincorrect-translation\treference\tphenomena\tsource\n"
    "三只猫\tThree cats sat.\tFour cats sat.\t3 cats sat.\tNumber(Different Format)\tWMT\n"
    "五月\tIn May.\tIn June.\tIn the month of May.\tTime & Date\tWMT\n"
)


def test_a_published_suite_is_read_by_its_name(tmp_path, capsys):
    (tmp_path / "Challenge_Set.TSV").write_text(HWTSC, encoding="utf-8")
    result = result_of(tmp_path, tmp_path, "--suite", "hwtsc22", "-m", "chrf")
    assert [row["phenomenon"] for row in result["rows"][:2]] == ["number_error", "date_time"]
    assert [(row["statistic"], row["part"]) for row in result["statistics"]] == [
        ("kendall-like", part) for part in ("number_error", "date_time", "all")
    ]
    assert [entry["path"] for entry in result["inputs"]] == [str(tmp_path / "Challenge_Set.TSV")]
    assert result["seed"] is None
    assert run("audit", tmp_path, "--suite", "hwtsc22", "-m", "chrf", "--html", tmp_path / "page.html") == 0
    assert "As the authors of the suite report" in (tmp_path / "page.html").read_text()
    assert "as the authors of the suite report" in capsys.readouterr().out


def test_bump_is_compared_with_its_articles(tmp_path):
    entry = {"id": 0, "article_id": 1, "error_type": "Coreference Error", "article": "She left the old town."}
    texts = {"reference_summary": "She left the town.", "edited_summary": "He left the town."}
    path = write(tmp_path / "task2_dataset.json", [json.dumps([{**entry, **texts}])])
    result = result_of(tmp_path, path, "--suite", "bump", "-m", "chrf")
    assert result["rows"][0]["accuracy"] == 1
    assert result["statistics"][0]["statistic"] == "consistency"


def test_what_a_published_suite_lacks_is_one_line(tmp_path, audit_data, pairs, capsys):
    assert (
        "--suite demetr names a published suite, expected its file or folder as DATA (nlgauge audit DATA --suite demetr"
        " ...); it is at https://github.com/marzenakrp/demetr"
    ) in refused(capsys, "audit", "--suite", "demetr", "-m", "chrf")
    assert "no file of demetr in this folder" in refused(capsys, "audit", tmp_path, "--suite", "demetr", "-m", "chrf")
    assert "no field 'mt_sent', 'pert_sent'; fields found" in refused(
        capsys, "audit", audit_data, "--suite", "demetr", "-m", "chrf"
    )
    assert "--task says how a suite is made from data; aces is a suite already" in refused(
        capsys, "audit", pairs, "--suite", "aces", "--task", "mt", "-m", "chrf"
    )
    (tmp_path / "Challenge_Set.TSV").write_text(HWTSC, encoding="utf-8")
    target = tmp_path / "Challenge_Set.TSV"
    assert "would be written over the input" in refused(
        capsys, "audit", tmp_path, "--suite", "hwtsc22", "-m", "chrf", "--segments", target
    )
    assert "did you mean 'demetr'" in refused(capsys, "audit", "--suite", "demeter", "-m", "chrf")
