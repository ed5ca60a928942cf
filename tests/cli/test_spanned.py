"""`nlgauge meta --spans`: marked errors against those of people, from files and made on the spot."""

import json

import pytest
from tests.cli.command import run, write

TEXTS = {"A": ["The hat sat down.", "It rains.", "A red house."], "B": ["The cat sat.", "It pours now.", "A house."]}
REFERENCES = ["The cat sat down.", "It rains.", "A red house."]
ERRORS = {("A", 0): [(4, 7)], ("B", 1): [(3, 8)], ("B", 2): []}


def rows():
    return [
        {
            "id": f"{system}-{i}",
            "system": system,
            "seg": str(i),
            "refs": [REFERENCES[i], TEXTS["A"][i]],
            "hyp": text,
            "errors": [
                {"start": a, "end": b, "severity": "Major", "category": "Accuracy"}
                for a, b in ERRORS.get((system, i), [])
            ],
        }
        for system, texts in TEXTS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data.jsonl", rows())


def agreement(path, stat="one_to_one_f1"):
    found = json.loads(path.read_text())
    assert found["kind"] == "spans"
    return {row["metric"]: row for row in found["rows"] if row["stat"] == stat and row["against"] is None}


def test_methods_and_files_side_by_side_in_every_form(data, tmp_path, capsys):
    marks = tmp_path / "marks.jsonl"
    assert run("explain", data, "--method", "words", "-q", "-o", marks) == 0
    capsys.readouterr()
    paths = {form: tmp_path / f"out.{form}" for form in ("json", "html")}
    typed = [x for form, path in paths.items() for x in (f"--{form}", path)]
    methods = ["--spans", "words", "--spans", f"theirs={marks}", "--spans", "everything"]
    table = tmp_path / "segments.tsv"
    assert run("meta", data, *methods, *typed, "--segments", table, "-n", "50") == 0
    told = capsys.readouterr().out
    assert "errors against those that people marked: 6 texts, 4 of them without an error" in told
    assert "note: 6 texts of 3 items; people marked 2 errors, and none in 4 texts" in told
    found = agreement(paths["json"])
    assert list(found) == ["words", "theirs", "everything"]
    assert found["words"]["value"] == found["theirs"]["value"]  # the same marks, by a file and at once
    inputs = [entry["path"] for entry in json.loads(paths["json"].read_text())["inputs"]]
    assert inputs == [str(data), str(marks)]
    assert "Marked errors against people" in paths["html"].read_text()
    header, *lines = table.read_text().splitlines()
    assert header.split("\t") == ["id", "system", "seg", "rater", *(f"{m}.segment_f1" for m in found)]
    assert len(lines) == 6
    assert run("report", paths["json"], "-o", tmp_path / "report.html") == 0
    assert "Marked errors against people" in (tmp_path / "report.html").read_text()


def test_the_first_reference_alone(data, tmp_path):
    own, first = (tmp_path / f"{name}.json" for name in ("own", "first"))
    assert run("meta", data, "--spans", "words", "--json", own, "-q") == 0
    assert run("meta", data, "--spans", "words", "--json", first, "-q", "--references", "first") == 0
    assert agreement(own)["words"]["recall"] == 0.5  # "hat" stands in the second reference
    assert agreement(first)["words"]["recall"] == 1


def test_marks_of_people_beside_texts_and_systems_left_out(data, tmp_path, capsys):
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "errors"} for row in rows()])
    ratings = tmp_path / "xx.seg.rating"
    cells = [(r["system"], json.dumps({"errors": [dict(e, severity="major") for e in r["errors"]]})) for r in rows()]
    ratings.write_text("".join(f"{system}\t{cell}\n" for system, cell in cells))
    numbered = [{**row, "seg": str(int(row["seg"]) + 1)} for row in rows()]  # a rating stands at its place, from 1
    write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "errors"} for row in numbered])
    out = tmp_path / "out.json"
    words = ["--judgements", ratings, "--spans", "words", "--spans", "everything", "--exclude", "B", "--json", out]
    assert run("meta", bare, *words) == 0
    assert "1 of 2 systems (left out: B)" in capsys.readouterr().out
    assert {name: row["n"] for name, row in agreement(out).items()} == {"words": 3, "everything": 3}


def test_a_reference_among_the_systems_of_mqm(tmp_path, capsys):
    names = "system doc doc_id seg_id rater source target category severity".split()
    path = tmp_path / "mqm.tsv"
    lines = [
        ("A", "d", "1", "1", "r", "Die Katze", "The <v>hat</v>", "Accuracy", "Major"),
        ("ref", "d", "1", "1", "r", "Die Katze", "The cat", "No-error", "No-error"),
        ("A", "d", "2", "2", "r", "Regen", "Rain", "No-error", "No-error"),
        ("ref", "d", "2", "2", "r", "Regen", "Rain", "No-error", "No-error"),
    ]
    path.write_text("".join("\t".join(cells) + "\n" for cells in (names, *lines)))
    out = tmp_path / "out.json"
    assert run("meta", path, "--spans", "words", "--reference-system", "ref", "--json", out, "-q") == 0
    assert (agreement(out)["words"]["value"], agreement(out)["words"]["n"]) == (1, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--spans", "wrods"], "--spans 'wrods'; did you mean 'words'?; expected spans, words, everything, or NAME=FI"),
        (["--spans", "mine="], "--spans 'mine='"),
        (["--spans", "words", "--spans", "words"], "--spans names 'words' twice"),
        (["--spans", "mine=absent.jsonl"], "absent.jsonl"),
        (["--spans", "words", "-m", "chrf"], "--metric is about scores of metrics, and --spans compares marked errors"),
        (["--spans", "words", "--stat", "pearson"], "--stat is about scores of metrics"),
        (["--spans", "words", "-c", "mqm"], "--criterion is about scores of metrics"),
        (["--spans", "everything", "--references", "first"], "--references is about texts that methods read"),
        (["--spans", "words", "--missing", "worst"], "missing is 'worst'; known: drop, refuse"),
        (["--spans", "words", "--lp", "de-en"], "no segment is of language pair or task 'de-en'"),
        (["--spans", "words", "--json", "data.jsonl"], "would be written over the input"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(data, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert run("meta", "data.jsonl", *words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_a_folder_has_no_marks_of_people(tmp_path, capsys):
    assert run("meta", tmp_path, "--spans", "words") == 2
    assert "name the file with the marks of people: --judgements FILE" in capsys.readouterr().err


def test_marks_of_other_texts_are_refused(data, tmp_path, capsys):
    other = write(tmp_path / "other.jsonl", [{**row, "hyp": row["hyp"] + "!", "spans": []} for row in rows()])
    assert run("meta", data, "--spans", f"m={other}") == 2
    assert "m marks another text than people at segment 'A-0'" in capsys.readouterr().err
