"""`nlgauge meta`: its numbers, and its comparisons of marks."""

import json
import subprocess
import sys
from importlib import resources
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.cli.meta import ScoreOptions
from nlgauge.io import read_result

# --- `nlgauge meta spans`: marked errors against those of people, from files and made on the spot

SPANNED_TEXTS = {
    "A": ["The hat sat down.", "It rains.", "A red house."],
    "B": ["The cat sat.", "It pours now.", "A house."],
}
SPANNED_REFERENCES = ["The cat sat down.", "It rains.", "A red house."]
ERRORS = {("A", 0): [(4, 7)], ("B", 1): [(3, 8)], ("B", 2): []}


def spanned_rows():
    return [
        {
            "id": f"{system}-{i}",
            "system": system,
            "seg": str(i),
            "refs": [SPANNED_REFERENCES[i], SPANNED_TEXTS["A"][i]],
            "hyp": text,
            "errors": [
                {"start": a, "end": b, "severity": "Major", "category": "Accuracy"}
                for a, b in ERRORS.get((system, i), [])
            ],
        }
        for system, texts in SPANNED_TEXTS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def spanned_data(tmp_path):
    return write(tmp_path / "data.jsonl", spanned_rows())


def agreement(path, stat="one_to_one_f1"):
    found = json.loads(path.read_text())
    assert found["kind"] == "spans"
    return {row["metric"]: row for row in found["rows"] if row["stat"] == stat and row["against"] is None}


def test_methods_and_files_side_by_side_in_every_form(spanned_data, tmp_path, capsys):
    marks = tmp_path / "marks.jsonl"
    assert run("explain", spanned_data, "--method", "words", "-q", "-o", marks) == 0
    capsys.readouterr()
    paths = {form: tmp_path / f"out.{form}" for form in ("json", "html")}
    typed = [x for form, path in paths.items() for x in (f"--{form}", path)]
    methods = ["words", f"theirs={marks}", "everything"]
    table = tmp_path / "segments.tsv"
    assert run("meta", "spans", spanned_data, *methods, *typed, "--segments", table) == 0
    told = capsys.readouterr().out
    assert "errors against those that people marked: 6 texts, 4 of them without an error" in told
    assert "note: 6 texts of 3 items; people marked 2 errors, and none in 4 texts" in told
    found = agreement(paths["json"])
    assert list(found) == ["words", "theirs", "everything"]
    assert found["words"]["value"] == found["theirs"]["value"]  # the same marks, by a file and at once
    inputs = [entry["path"] for entry in json.loads(paths["json"].read_text())["inputs"]]
    assert inputs == [str(spanned_data), str(marks)]
    assert "Marked errors against people" in paths["html"].read_text()
    header, *lines = table.read_text().splitlines()
    assert header.split("\t") == ["id", "system", "seg", "rater", *(f"{m}.segment_f1" for m in found)]
    assert len(lines) == 6
    assert run("report", paths["json"], "-o", tmp_path / "report.html") == 0
    assert "Marked errors against people" in (tmp_path / "report.html").read_text()


def test_marks_of_people_beside_texts_and_systems_left_out(spanned_data, tmp_path, capsys):
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "errors"} for row in spanned_rows()])
    ratings = tmp_path / "xx.seg.rating"
    cells = [
        (r["system"], json.dumps({"errors": [dict(e, severity="major") for e in r["errors"]]})) for r in spanned_rows()
    ]
    ratings.write_text("".join(f"{system}\t{cell}\n" for system, cell in cells))
    numbered = [
        {**row, "seg": str(int(row["seg"]) + 1)} for row in spanned_rows()
    ]  # a rating stands at its place, from 1
    write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "errors"} for row in numbered])
    out = tmp_path / "out.json"
    words = ["words", "everything", "--judgements", ratings, "--exclude", "B", "--json", out]
    assert run("meta", "spans", bare, *words) == 0
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
    assert run("meta", "spans", path, "words", "--reference-system", "ref", "--json", out, "-q") == 0
    assert (agreement(out)["words"]["value"], agreement(out)["words"]["n"]) == (1, 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["spans", "data.jsonl", "wrods"],
            "'wrods'; did you mean 'words'?; expected spans, words, everything, or",
        ),
        (["spans", "data.jsonl", "mine="], "'mine='"),
        (["spans", "data.jsonl", "words", "words"], "'words' is named twice"),
        (["spans", "data.jsonl", "mine=absent.jsonl"], "absent.jsonl"),
        (["spans", "data.jsonl", "words", "-m", "chrf"], "No such option: -m"),
        (["spans", "data.jsonl"], "Missing argument 'METHOD|NAME=FILE...'"),
        (
            ["data.jsonl", "--spans", "words"],
            "--spans is now a command of its own, as in nlgauge meta spans DATA words",
        ),
        (["spans", "data.jsonl", "words", "--missing", "worst"], "missing is 'worst'; known: drop, refuse"),
        (["spans", "data.jsonl", "words", "--lp", "de-en"], "no segment is of language pair or task 'de-en'"),
        (["spans", "data.jsonl", "words", "--json", "data.jsonl"], "would be written over the input"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(spanned_data, tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert run("meta", *words) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1


def test_a_folder_has_no_marks_of_people(tmp_path, capsys):
    assert run("meta", "spans", tmp_path, "words") == 2
    assert "name the file with the marks of people: --judgements FILE" in capsys.readouterr().err


def test_marks_of_other_texts_are_refused(spanned_data, tmp_path, capsys):
    other = write(tmp_path / "other.jsonl", [{**row, "hyp": row["hyp"] + "!", "spans": []} for row in spanned_rows()])
    assert run("meta", "spans", spanned_data, f"m={other}") == 2
    assert "m marks another text than people at segment 'A-0'" in capsys.readouterr().err


# --- `nlgauge meta`: the numbers are the library's; bad input is one line and leaves nothing behind

META_TEXTS = {
    "one": ["the cat sat on the mat", "it rains", "a red house", "dogs bark"],
    "two": ["a cat sat there", "it is raining", "a red house", "the dogs bark"],
    "three": ["a dog", "it rains a lot now", "red", "bark"],
    "four": ["cat mat", "rain", "the house is red", "dogs are barking"],
}
META_REFERENCES = [["the cat sat on a mat", "a cat is on the mat"], ["it is raining"], ["the red house"], ["dogs bark"]]
META_RATINGS = {"one": [5, 4, 4, 5], "two": [4, 5, 4, 4], "three": [1, 2, 2, 1], "four": [2, 1, 3, 4]}


def meta_rows():
    return [
        {
            "id": f"{system}-{i}",
            "system": system,
            "seg": str(i),
            "lp": "x-en",
            "refs": META_REFERENCES[i],
            "hyp": text,
            "human": {"adequacy": META_RATINGS[system][i], "fluency": (i * 7 + len(text)) % 5},
        }
        for system, texts in META_TEXTS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def meta_data(tmp_path):
    return write(tmp_path / "data.jsonl", meta_rows())


def result_of(path, *arguments):
    out = Path(path).with_name("result.json")
    assert run("meta", path, *arguments, "--json", out, "-q") == 0
    return json.loads(out.read_text())


def test_rows_are_the_numbers_of_the_library(meta_data):
    result = result_of(
        meta_data, "-m", "chrf", "-m", "rouge1", "--criterion", "adequacy", "--level", "segment", "--stat", "pearson"
    )
    assert (result["schema"], result["kind"], result["version"]) == (1, "meta", ng.__version__)
    expected = ng.meta_evaluate(ng.read(meta_data), ["chrf", "rouge1"], "adequacy")
    assert [row["value"] for row in result["rows"]] == [row["value"] for row in expected.rows]
    assert result["inputs"][0]["path"] == str(meta_data)
    assert [m["spec"] for m in result["metrics"]] == ["chrf", "rouge1"]


def test_scores_of_others_need_no_metric(meta_data, tmp_path):
    lines = [f"{r['id']}\t{r['human']['adequacy']}\t{-r['human']['adequacy']}" for r in meta_rows()]
    scores = write(tmp_path / "theirs.tsv", ["id\tcomet\terrors", *lines])
    result = result_of(meta_data, "--scores", scores, "-c", "adequacy", "--lower-is-better", "errors")
    assert [(row["metric"], row["value"], row["raw"]) for row in result["rows"] if row["group"] == "mean"] == [
        ("comet", 1, 1),
        ("errors", 1, -1),
    ]
    assert [entry["path"] for entry in result["inputs"]] == [str(meta_data), str(scores)]


def test_scores_of_a_file_are_a_metric(meta_data, tmp_path):
    scores = write(
        tmp_path / "theirs.tsv", ["id\tcomet", *(f"{r['id']}\t{r['human']['adequacy']}" for r in meta_rows())]
    )
    result = result_of(meta_data, "-m", f'scores:file="{scores}",column=comet', "-c", "adequacy")
    assert result["rows"][0]["value"] == 1
    assert "sha256:" in result["metrics"][0]["signature"]


def test_from_saved_scores_no_model_is_loaded(meta_data, tmp_path):
    scores = write(tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t{i}" for i, r in enumerate(meta_rows()))])
    words = ["meta", str(meta_data), "--scores", str(scores), "-c", "adequacy", "-q"]
    code = (
        f"import sys; from nlgauge.cli.main import main\nassert main({words!r}) == 0\n"
        "assert 'scipy.stats' not in sys.modules\n"  # a plain correlation needs no distributions
        f"assert main({[*words, '--level', 'item', '--test', 'auto']!r}) == 0\n"
        "assert not {'torch', 'transformers', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_ratings_of_a_table_are_joined(meta_data, tmp_path):
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "human"} for row in meta_rows()])
    table = write(
        tmp_path / "ratings.tsv", ["id\tadequacy", *(f"{r['id']}\t{r['human']['adequacy']}" for r in meta_rows())]
    )
    joined = result_of(bare, "--judgements", table, "-m", "chrf")
    assert joined["rows"] == result_of(meta_data, "-m", "chrf", "-c", "adequacy")["rows"]


def test_pairs_take_the_place_of_ratings(meta_data, tmp_path):
    pairs = write(
        tmp_path / "pairs.jsonl",
        [{"better_id": "one-0", "worse_id": "three-0"}, {"better_id": "four-0", "worse_id": "one-0"}],
    )
    result = result_of(meta_data, "--pairs", pairs, "-m", "chrf", "--stat", "preference_accuracy")
    assert result["rows"][0]["value"] == 0.5
    assert result["rows"][0]["criterion"] == "preference"


def test_the_table_says_what_it_shows(meta_data, capsys):
    assert run("meta", meta_data, "-m", "chrf", "-c", "adequacy", "--level", "item", "--stat", "kendall_b", "-v") == 0
    out = capsys.readouterr().out
    assert out.startswith("kendall_b with adequacy: level item, averaging item, x-en\n")
    assert "chrf = metric:chrf|" in out
    assert "note: [low, high] of kendall_b" in out


def test_tests_print_ranks_and_a_triangle(meta_data, capsys):
    assert (
        run(
            "meta",
            meta_data,
            "-m",
            "chrf",
            "-m",
            "bleu",
            "-m",
            "rouge1",
            "-c",
            "adequacy",
            "--level",
            "item",
            "--test",
            "auto",
            "-n",
            50,
        )
        == 0
    )
    out = capsys.readouterr().out
    assert "rank" in out
    assert "p of row better than column: pearson with adequacy, level item, perm_both" in out


def test_criteria_are_held_against_each_other(meta_data, tmp_path, capsys):
    assert run("meta", meta_data, "-m", "chrf", "-c", "all", "--criteria", "--json", tmp_path / "r.json") == 0
    assert "pearson of criteria with each other: level segment" in capsys.readouterr().out
    found = [row for row in json.loads((tmp_path / "r.json").read_text())["rows"] if row["metric"] == "human.adequacy"]
    assert [row["criterion"] for row in found] == ["fluency"]


def test_segments_bear_scores_and_ratings(meta_data, tmp_path):
    assert run("meta", meta_data, "-m", "rouge1", "-c", "adequacy", "--segments", tmp_path / "s.tsv", "-q") == 0
    header, first, *_ = (line.split("\t") for line in (tmp_path / "s.tsv").read_text().splitlines())
    assert header[:4] == ["id", "seg", "system", "rouge1"]
    assert header[-1] == "human.adequacy"
    assert "rouge1.precision" in header
    assert first[0] == "one-0"
    assert float(first[-1]) == 5


def test_a_protocol_is_one_word(meta_data):
    result = result_of(meta_data, "-m", "chrf", "--preset", "summeval-sys")
    assert {(row["stat"], row["level"]) for row in result["rows"]} == {("kendall_b", "system")}
    assert {row["criterion"] for row in result["rows"]} == {"adequacy", "fluency", "mean"}
    assert "references_folded:mean" in result["metrics"][0]["signature"]


def test_the_seed_decides_what_is_drawn(meta_data):
    one, same, other = (
        [
            row["low"]
            for row in result_of(meta_data, "-m", "chrf", "-c", "adequacy", "--level", "item", "--seed", seed)["rows"]
        ]
        for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["-m", "chrf"], ["2 criteria (adequacy, fluency)", "'all'"]),
        (["-m", "chrf", "-c", "adequcy"], ["'adequcy'; did you mean 'adequacy'?"]),
        (["-m", "chrff", "-c", "adequacy"], ["unknown metric 'chrff'", "did you mean 'chrf'"]),
        (
            ["-m", "chrf", "-c", "adequacy", "--stat", "perason"],
            ["unknown statistic 'perason'; did you mean 'pearson'"],
        ),
        (["-m", "chrf", "-c", "adequacy", "--level", "sytem"], ["did you mean 'system'"]),
        (["-m", "chrf", "-c", "adequacy", "--test", "wiliams"], ["did you mean 'williams'?"]),
        (["-m", "chrf", "-c", "adequacy", "-f", "mardown"], ["did you mean 'markdown'?"]),
        (["-c", "adequacy"], ["no metric and no scores are given"]),
        (["--epsilon", "1"], ["--epsilon is now an option of a statistic: --stat NAME:epsilon=NUMBER"]),
        (["--higher-is-better", "m"], ["is now higher_is_better=true of -m scores:file=FILE,column=NAME"]),
        (["-m", "chrf", "--stat", "acc_eq:epsilom=1"], ["acc_eq has no option 'epsilom'; did you mean 'epsilon' or"]),
        (["-m", "chrf", "--stat", "pearson:ties=half"], ["pearson has no option 'ties'; known: common, undefined"]),
        (["-m", "chrf", "--stat", "acc_eq:epsilon=-1"], ["acc_eq:epsilon is -1.0, expected 0 or more"]),
        (["-m", "chrf", "--stat", "acc_eq", "--stat", "acc_eq:epsilon=1"], ["is named twice, with other options"]),
        (["-m", "chrf", "--stat", "0.5*bleu:tokenize=zh"], ["is a sum of metrics, expected a statistic"]),
        (
            ["-m", "chrf", "-c", "adequacy", "--exclude", "two", "--exclude", "one", "--level", "system"],
            ["needs 3 rated systems or more"],
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_with_the_nearest(meta_data, capsys, arguments, parts):
    err = refused(capsys, "meta", meta_data, *arguments)
    for part in parts:
        assert part in err


def test_ids_that_disagree_are_counted_and_named(meta_data, tmp_path, capsys):
    scores = write(tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t1.5" for r in meta_rows()[:10]), "other\t3"])
    err = refused(capsys, "meta", meta_data, "--scores", scores, "-c", "adequacy")
    assert "m has no score for 6 of 16 segments (three-2, three-3, four-0 and 3 more)" in err
    assert "missing='drop'" in err


def test_segments_without_a_score_are_dropped_when_that_is_said(meta_data, tmp_path, capsys):
    scores = write(
        tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t{i}" for i, r in enumerate(meta_rows()[:14])), "other\t3"]
    )
    assert run("meta", meta_data, "--scores", scores, "-c", "adequacy", "--missing", "drop") == 0
    out = capsys.readouterr().out
    assert "2 of 16 segments are dropped for all metrics" in out
    assert "1 of 15 rows are about no judged segment: other" in out


def test_data_without_ratings_are_refused(tmp_path, capsys):
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "human"} for row in meta_rows()])
    assert "has a human rating" in refused(capsys, "meta", bare, "-m", "chrf")


def values(tmp_path, *arguments):
    """Metric -> its value, and the notes."""
    path = tmp_path / "values.json"
    assert run("meta", tmp_path / "data.jsonl", "-c", "adequacy", "--json", path, "-q", *arguments) == 0
    result = json.loads(path.read_text())
    return {row["metric"]: row["value"] for row in result["rows"] if row["group"] == "mean"}, result


@pytest.mark.parametrize("name", ["rows.tsv", "rows.jsonl", "rows.tsv.gz", "rows.parquet"])
def test_segments_come_back_with_their_sign_and_signature(meta_data, tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    theirs = tmp_path / name
    assert run("score", meta_data, "-m", "ter", "-m", "chrf", "--segments", theirs, "-q") == 0
    scored, fresh = values(tmp_path, "-m", "ter", "-m", "chrf")
    read, result = values(tmp_path, "--scores", theirs)
    assert read == scored
    assert scored["ter"] > 0  # in the direction of the metric, as people
    assert not any("taken to" in note for note in result["notes"])
    signatures = {metric["spec"]: metric["signature"] for metric in result["metrics"]}
    assert signatures == {m["spec"]: f"{m['signature']}|from:{theirs}" for m in fresh["metrics"]}
    column = f'scores:file="{theirs}",column=ter'
    assert values(tmp_path, "-m", column)[0][column] == scored["ter"]


def test_a_file_that_says_nothing_is_read_by_the_names_of_its_columns(meta_data, tmp_path):
    theirs = tmp_path / "theirs.tsv"
    assert run("score", meta_data, "-m", "ter", "-m", "chrf:word_order=1", "--segments", theirs, "-q") == 0
    (tmp_path / "theirs.tsv.meta.json").unlink()
    text = theirs.read_text().replace("chrf:word_order=1", "mine")
    theirs.write_text(text)
    read, result = values(tmp_path, "--scores", theirs)
    assert read["ter"] == values(tmp_path, "-m", "ter")[0]["ter"]
    assert any(
        note.startswith("ter: taken to fall with quality, as the name says; -m scores:") for note in result["notes"]
    )
    assert "-m scores:file=FILE,column=NAME,higher_is_better=true changes that" in str(result["notes"])
    assert any(note.startswith("mine: taken to rise with quality; --lower-is-better") for note in result["notes"])
    turned, result = values(tmp_path, "--scores", theirs, "--lower-is-better", "mine")
    assert turned == {"ter": read["ter"], "mine": -read["mine"]}
    assert not any(note.startswith("mine: taken to") for note in result["notes"])
    rising = f'scores:file="{theirs}",column=ter,higher_is_better=true'
    assert values(tmp_path, "-m", rising)[0] == {rising: -read["ter"]}
    column = f'scores:file="{theirs}",column=mine'
    notes = values(tmp_path, "-m", column)[1]["notes"]
    assert f"{column}: taken to rise with quality; higher_is_better=false if it falls" in notes


def test_the_folder_of_a_task_is_read_as_its_organisers_ran_it(tmp_path, capsys):
    """Official scores stand beside ours, and the reference that is scored like a system takes part."""
    rng, systems, n = np.random.default_rng(0), ["A", "B", "C", "refB"], 12
    quality = rng.integers(-9, 0, size=(4, n)) + np.arange(4)[:, None]
    files = {
        "sources/de-en.txt": [f"Satz {i}" for i in range(n)],
        "references/de-en.refA.txt": [f"sentence number {i}" for i in range(n)],
        "references/de-en.refB.txt": [f"the sentence number {i}" for i in range(n)],
        "system-outputs/de-en/refA.txt": [f"sentence number {i}" for i in range(n)],
        "human-scores/de-en.mqm.seg.score": [f"{s}\t{v}" for s, row in zip(systems, quality, strict=True) for v in row],
        "metric-scores/de-en/Good-refA.seg.score": [
            f"{s}\t{v + rng.normal()}" for s, row in zip(systems, quality, strict=True) for v in row
        ],
        "metric-scores/de-en/Good-refA.sys.score": [f"{s}\t{i}" for i, s in enumerate(systems)],
    }
    for system in systems:
        files[f"system-outputs/de-en/{system}.txt"] = [f"sentence {system} {i}" for i in range(n)]
    for name, lines in files.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (tmp_path / "set" / "meta.json").write_text(
        '{"de-en": {"std_ref": "refA", "std_gold": {"seg": "mqm", "sys": "mqm"}}}', encoding="utf-8"
    )
    out = tmp_path / "r.json"
    asked = ["meta", str(tmp_path / "set"), "--preset", "wmt23", "-m", "chrf", "-n", "19", "--json", str(out)]
    assert main(asked) == 0
    result = json.loads(out.read_text(encoding="utf-8"))
    means = [r for r in result["rows"] if r["group"] == "mean" and not r.get("against")]
    found = {(r["stat"], r["level"], r["metric"]): r for r in means}
    assert {metric for (_, _, metric), row in found.items() if not row.get("control")} == {"chrf", "Good"}
    controls = {metric for (_, _, metric), row in found.items() if row.get("control")}
    assert controls == {"sentinel:side=source", "sentinel:side=hypothesis", "sentinel:item-mean"}
    assert found["weighted_mean", "tasks", "Good"]["value"] > found["weighted_mean", "tasks", "chrf"]["value"]
    assert {"pdp", "soft_pairwise_accuracy", "acc_eq_calibrated"} <= {stat for stat, _, _ in found}
    assert any("4 of 5 systems (left out refA" in note for note in result["notes"])
    assert any("neighbours in the ranking" in note for note in result["notes"])
    assert main([*asked[:-2], "-q", "--lp", "de-en"]) == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.split("\n\n")[0].splitlines()]
    assert printed.startswith("official table: metrics against mqm, de-en\n")
    assert lines[3][:2] == ["Good", "official"]
    assert (lines[4][0], lines[4][1]) == ("chrf", "ours")
    assert "p of row better than column" not in printed
    assert main([*asked, "--lp", "de-fr"]) == 2
    assert "no language pair 'de-fr'; did you mean 'de-en'?" in capsys.readouterr().err


def test_a_baseline_gets_a_table_of_its_own(meta_data, capsys):
    assert run("meta", meta_data, "-m", "chrf", "-m", "bleu", "-m", "wer", "-c", "adequacy", "--baseline", "chrf") == 0
    printed = capsys.readouterr().out
    assert "better than chrf, adjusted: pearson with adequacy" in printed
    assert "delta" in printed
    assert "rank" not in printed


def test_options_of_a_statistic_stand_behind_its_name(meta_data):
    """They are the arguments of the library, and of this statistic alone."""
    shared = ("-m", "chrf", "-c", "adequacy", "--level", "item", "--draws", "20")
    behind = result_of(meta_data, *shared, "--stat", "acc_eq:epsilon=20", "--stat", "tau_eq")
    data = ng.read(meta_data)
    for stat, own in (("acc_eq", {"epsilon": 20}), ("tau_eq", {})):
        given = ng.meta_evaluate(data, "chrf", "adequacy", level="item", stats=stat, draws=20, **own)
        assert value_of(behind, stat) == given.value("chrf")
    assert value_of(behind, "acc_eq") != ng.meta_evaluate(data, "chrf", "adequacy", "item", "acc_eq").value("chrf")


def value_of(result, stat):
    (row,) = [row for row in result["rows"] if (row["stat"], row["group"]) == (stat, "mean")]
    return row["value"]


def test_the_protocol_of_wmt_tests_kendall_by_source(meta_data):
    options = ("--preset", "wmt-da-rr", "--stat", "rr_kendall:threshold=1", "--draws", "20")
    result = result_of(meta_data, "-m", "chrf", "-m", "bleu", "-c", "adequacy", *options)
    tests = [row for row in result["rows"] if row.get("against")]
    assert {row["test"] for row in tests} == {"bootstrap"}
    assert all(row["delta_low"] <= row["delta"] <= row["delta_high"] for row in tests)


MQM = ("system", "doc", "doc_id", "seg_id", "rater", "source", "target", "category", "severity")


def test_raw_mqm_is_compared_with_a_person_among_its_systems(tmp_path):
    outputs = {
        "ref-A": ("the cat sat on the mat", "it rains a lot", "No-error"),
        "good": ("the cat sat on a mat", "it rains a lot", "Minor"),
        "bad": ("dog", "rain", "Major"),
        "fair": ("the cat is on a mat", "it rains", "Minor"),
    }
    lines = [MQM] + [
        (
            system,
            "d",
            str(i),
            str(i),
            "rater1",
            "x",
            text,
            "Accuracy",
            severity if i < 2 or system == "bad" else "No-error",
        )
        for system, (*texts, severity) in outputs.items()
        for i, text in enumerate(texts, 1)
    ]
    path = tmp_path / "mqm.tsv"
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8")
    result = result_of(path, "-m", "chrf", "--reference-system", "ref-A", "--level", "system")
    (row,) = [row for row in result["rows"] if row["group"] == "mean"]
    assert (row["criterion"], row["n_used"]) == ("mqm", 1)
    assert row["value"] > 0.8
    assert any("ref-A is the reference of 6 of 6 segments" in note for note in result["notes"])


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("newstest-humaneval.csv", ["LP DATA SYSTEM SID HUMAN", "x-en t {s} {i} {v}"]),
        ("averages.avg.seg", ["system mqm_avg_score seg_id", "{s} {v} {i}"]),
    ],
)
def test_published_ratings_are_joined_as_they_are(tmp_path, name, lines):
    bare = [{key: value for key, value in row.items() if key != "human"} for row in meta_rows()]
    texts = write(tmp_path / "texts.jsonl", bare)
    head, line = lines
    rated = [line.format(s=s, i=i, v=v) for s, values in META_RATINGS.items() for i, v in enumerate(values)]
    if name.startswith("newstest"):
        rated = [line.format(s=s, i=i + 1, v=v) for s, values in META_RATINGS.items() for i, v in enumerate(values)]
        texts = write(tmp_path / "texts.jsonl", [{**row, "seg": str(int(row["seg"]) + 1)} for row in bare])
    path = write(tmp_path / name, [head, *rated])
    result = result_of(texts, "-m", "chrf", "--judgements", path)
    assert {row["n_used"] for row in result["rows"] if row["group"] == "x-en"} == {16}


def test_ratings_of_systems_are_joined_for_the_level_of_systems(tmp_path):
    bare = [{key: value for key, value in row.items() if key != "human"} for row in meta_rows()]
    texts = write(tmp_path / "texts.jsonl", bare)
    table = tmp_path / "rated.tsv"
    table.write_text("system\tscore\n" + "".join(f"{s}\t{sum(v)}\n" for s, v in META_RATINGS.items()), encoding="utf-8")
    result = result_of(texts, "-m", "chrf", "--judgements", table, "--level", "system")
    assert {row["n_used"] for row in result["rows"] if row["group"] == "x-en"} == {4}
    assert any("bears the rating of its system" in note for note in result["notes"])


def test_segments_on_which_a_metric_and_people_disagree_are_shown(meta_data, tmp_path, capsys):
    asked = ("meta", meta_data, "-m", "chrf", "-m", "bleu", "-c", "adequacy")
    assert run(*asked, "--disagree", "2", "--json", tmp_path / "r.json") == 0
    found = json.loads((tmp_path / "r.json").read_text())["disagreements"]
    assert [row["metric"] for row in found] == ["chrf", "chrf", "bleu", "bleu"]
    assert read_result(tmp_path / "r.json").disagreements == found
    assert set(found[0]) == {"id", "criterion", "metric", "rank", "human_rank", "n", "hyp", "ref"}
    assert run(*asked, "--json", tmp_path / "plain.json", "-q") == 0
    assert "disagreements" not in json.loads((tmp_path / "plain.json").read_text())
    capsys.readouterr()
    assert run(*asked, "--disagree", "2", "-f", "tsv") == 0
    assert "disagree most" not in capsys.readouterr().out  # rows alone, for programs
    assert run("meta", meta_data, "-m", "chrf", "-m", "bleu", "-c", "adequacy", "--disagree", "2") == 0
    printed = capsys.readouterr().out
    table = printed[printed.index("where metrics and people disagree most, ranks among 16 segments") :]
    assert table.count("chrf") == table.count("bleu") == 2
    assert run(*asked, "--disagree", "1", "-f", "markdown", "--html", tmp_path / "page.html") == 0
    assert "| metric | criterion | id | rank by people |" in capsys.readouterr().out
    assert f"<bdi>{found[0]['hyp']}</bdi>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_submission_is_checked_by_the_folder_of_its_set(tmp_path, capsys):
    for name, text in {"sources/x-y.txt": "s\nt\n", "references/x-y.refA.txt": "r\nq\n"}.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(text)
    (tmp_path / "set/system-outputs/x-y").mkdir(parents=True)
    (tmp_path / "set/system-outputs/x-y/A.txt").write_text("a\nb\n")
    file = tmp_path / "M.seg.score"
    file.write_text("M\tx-y\tset\trefA\tA\t1\t0.5\nM\tx-y\tset\trefA\tA\t2\t0.5\n")
    assert run("meta", "check", tmp_path / "set", file) == 0
    assert capsys.readouterr().out == (
        f"{file}: as the organisers ask: segment scores of test set 'set': x-y 1 output of 2 segments\n"
    )
    file.write_text("M\tx-y\tset\trefA\tA\t1\t0.5\n")
    assert run("meta", "check", tmp_path / "set", file) == 3
    assert capsys.readouterr().out == (
        f"{file}: x-y: system 'A' lacks 1 of 2 segments: 2\n"
        f"{file}: 1 fault, expected segment scores of test set 'set': x-y 1 output of 2 segments\n"
    )
    assert "--check is now a command" in refused(capsys, "meta", tmp_path / "set", "--check", file)


def test_answers_are_checked_by_the_items(tmp_path, capsys):
    item = "official_###_eng_Latn_###_deu_Latn_###_edu_###_d_###_0"
    items = write(tmp_path / "items.jsonl", [{"item_id": item, "src": "s", "hyps": {"A": "a", "B": "b"}}])
    file = write(tmp_path / "answers.jsonl", [{"item_id": item, "task2_pred": {"A": 1, "B": 99.5}}])
    assert run("meta", "check", items, file) == 0
    told = "task2_pred for 2 outputs of 1 item"
    assert capsys.readouterr().out == f"{file}: as the organisers ask: {told}\n"
    write(file, [{"item_id": item, "task2_pred": {"A": 101}}])
    assert run("meta", "check", items, file) == 3
    assert capsys.readouterr().out.splitlines() == [
        f"{file}: line 1: task2_pred, 'A': 101, expected a number from 0 to 100",
        f"{file}: task2_pred lacks 1 of 2 outputs, first {item!r} of 'B'",
        f"{file}: 2 faults, expected {told}",
    ]
    assert "known: eng_Latn-deu_Latn" in refused(capsys, "meta", "check", items, file, "--lp", "xx-yy")


def test_columns_of_score_files_are_metrics(tmp_path):
    mine = str(tmp_path / "mine.tsv")
    Path(mine).write_text("id\tmine\n1\t0.5\n2\t0.25\n")
    tables, inputs = ScoreOptions(scores=[mine]).read()
    assert list(tables) == ["mine"]
    assert len(inputs) == 1
    assert ScoreOptions().read() == ({}, [])
    with pytest.raises(ng.InputError, match=r"column 'mine' is in .* as well; rename one"):
        ScoreOptions(scores=[mine, mine]).read()


# --- Raters: how far they agree, and the ceiling


def of_raters(tmp_path):
    """Three raters of three systems on six items; the last rater left some out."""
    rows = []
    for place, (item, system) in enumerate(product(range(6), "abc")):
        hypothesis = "the cat sat on the mat"[: 6 + place]
        for name, grade in (("Zoë", place % 5), ("<b>|", (place + place % 2) % 5), ("דנה", place % 4)):
            if name == "דנה" and place % 5 == 0:
                continue
            row = {"id": f"{system}{item}", "system": system, "seg": str(item), "hyp": hypothesis}
            row |= {"ref": "the cat sat on the mat", "rater": name, "human": {"adequacy": grade}}
            rows.append(row)
    return write(tmp_path / "raters.jsonl", rows)


def test_raters_are_those_of_the_library(tmp_path):
    data = of_raters(tmp_path)
    result = result_of(data, "-m", "chrf", "--level", "item", "--stat", "kendall_b", "--raters")
    expected = ng.meta_evaluate(ng.read(data), "chrf", level="item", stats="kendall_b", raters=True)
    theirs = expected.result().as_json()
    assert result["raters"] == theirs["raters"]
    assert result["ceiling"] == theirs["ceiling"]
    assert result["people"] == theirs["people"]
    assert [row["rater"] for row in result["raters"]][:4] == [None, "Zoë", "<b>|", "דנה"]
    for part in ("people", "raters", "ceiling"):
        assert {f"{part}.{name}" for row in result[part] for name in row} <= fields_of("meta")
    again = result_of(data, "-m", "chrf", "--level", "item", "--stat", "kendall_b", "--raters")
    assert {**again, "command": None} == {**result, "command": None}


def fields_of(kind):
    """The fields of a kind of result, as the table names them."""
    table = resources.files("nlgauge.data").joinpath("result_fields.tsv").read_text(encoding="utf-8")
    return {line.split("\t")[1] for line in table.splitlines() if line.startswith(f"{kind}\t")}


def test_people_alone_need_no_metric(tmp_path, capsys):
    data = of_raters(tmp_path)
    result = result_of(data, "--raters")
    assert (result["rows"], result["metrics"]) == ([], [])
    assert {row["metric"] for row in result["ceiling"]} >= {"people", "sentinel:side=hypothesis"}
    assert run("meta", data) == 2
    assert "no metric and no scores are given" in capsys.readouterr().err
    assert run("meta", data, "--raters", "--test", "auto") == 2  # which compares metrics
    for form in ("text", "markdown", "latex", "csv", "tsv", "json"):
        assert run("meta", data, "--raters", "-f", form, "--html", tmp_path / "page.html") == 0
    assert "<b>|" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_raters_are_not_those_of_pairs(tmp_path, capsys):
    pairs = write(tmp_path / "pairs.jsonl", [{"better": "a0", "worse": "b0"}])
    assert run("meta", of_raters(tmp_path), "-m", "chrf", "--pairs", pairs, "--stat", "rr_kendall", "--raters") == 2
    assert "raters are those of ratings, and pairs have none; leave one of them out" in capsys.readouterr().err
