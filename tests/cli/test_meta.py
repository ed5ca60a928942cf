"""`nlgauge meta`: the numbers are the library's; bad input is one line and leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.io import read_result

TEXTS = {
    "one": ["the cat sat on the mat", "it rains", "a red house", "dogs bark"],
    "two": ["a cat sat there", "it is raining", "a red house", "the dogs bark"],
    "three": ["a dog", "it rains a lot now", "red", "bark"],
    "four": ["cat mat", "rain", "the house is red", "dogs are barking"],
}
REFERENCES = [["the cat sat on a mat", "a cat is on the mat"], ["it is raining"], ["the red house"], ["dogs bark"]]
RATINGS = {"one": [5, 4, 4, 5], "two": [4, 5, 4, 4], "three": [1, 2, 2, 1], "four": [2, 1, 3, 4]}


def rows():
    return [
        {
            "id": f"{system}-{i}",
            "system": system,
            "seg": str(i),
            "lp": "x-en",
            "refs": REFERENCES[i],
            "hyp": text,
            "human": {"adequacy": RATINGS[system][i], "fluency": (i * 7 + len(text)) % 5},
        }
        for system, texts in TEXTS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def data(tmp_path):
    return write(tmp_path / "data.jsonl", rows())


def result_of(path, *arguments):
    out = Path(path).with_name("result.json")
    assert run("meta", path, *arguments, "--json", out, "-q") == 0
    return json.loads(out.read_text())


def test_rows_are_the_numbers_of_the_library(data):
    result = result_of(
        data, "-m", "chrf", "-m", "rouge1", "--criterion", "adequacy", "--level", "segment", "--stat", "pearson"
    )
    assert (result["schema"], result["kind"], result["version"]) == (1, "meta", ng.__version__)
    expected = ng.meta_evaluate(ng.read(data), ["chrf", "rouge1"], "adequacy")
    assert [row["value"] for row in result["rows"]] == [row["value"] for row in expected.rows]
    assert result["inputs"][0]["path"] == str(data)
    assert [m["spec"] for m in result["metrics"]] == ["chrf", "rouge1"]


def test_a_row_has_the_fields_of_the_result_file(data):
    result = result_of(data, "-m", "chrf", "-m", "bleu", "-c", "adequacy", "--test", "auto", "--draws", 50)
    value = next(row for row in result["rows"] if "against" not in row)
    assert {
        "metric",
        "criterion",
        "level",
        "averaging",
        "stat",
        "group",
        "value",
        "low",
        "high",
        "n_used",
        "n_undefined",
        "ties",
    } <= value.keys()
    tested = next(row for row in result["rows"] if "against" in row)
    assert {"metric", "criterion", "level", "stat", "group", "against", "test", "delta", "p"} <= tested.keys()


@pytest.mark.parametrize("level", ["segment", "item", "summary", "system"])
def test_every_level_is_computed(data, level):
    result = result_of(data, "-m", "chrf", "-c", "adequacy", "--level", level)
    assert {row["level"] for row in result["rows"]} == {level}
    assert all(row["value"] is not None for row in result["rows"])


def test_scores_of_others_need_no_metric(data, tmp_path):
    lines = [f"{r['id']}\t{r['human']['adequacy']}\t{-r['human']['adequacy']}" for r in rows()]
    scores = write(tmp_path / "theirs.tsv", ["id\tcomet\terrors", *lines])
    result = result_of(data, "--scores", scores, "-c", "adequacy", "--lower-is-better", "errors")
    assert [(row["metric"], row["value"], row["raw"]) for row in result["rows"] if row["group"] == "mean"] == [
        ("comet", 1, 1),
        ("errors", 1, -1),
    ]
    assert [entry["path"] for entry in result["inputs"]] == [str(data), str(scores)]


def test_scores_of_a_file_are_a_metric(data, tmp_path):
    scores = write(tmp_path / "theirs.tsv", ["id\tcomet", *(f"{r['id']}\t{r['human']['adequacy']}" for r in rows())])
    result = result_of(data, "-m", f'scores:file="{scores}",column=comet', "-c", "adequacy")
    assert result["rows"][0]["value"] == 1
    assert "sha256:" in result["metrics"][0]["signature"]


def test_from_saved_scores_no_model_is_loaded(data, tmp_path):
    scores = write(tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t{i}" for i, r in enumerate(rows()))])
    code = (
        f"import sys; from nlgauge.cli.main import main\nassert main(['meta', {str(data)!r}, '--scores',"
        f" {str(scores)!r}, '-c', 'adequacy', '--level', 'item', '--test', 'auto', '-q']) == 0\nassert not {{'torch',"
        " 'transformers', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_ratings_of_a_table_are_joined(data, tmp_path):
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "human"} for row in rows()])
    table = write(tmp_path / "ratings.tsv", ["id\tadequacy", *(f"{r['id']}\t{r['human']['adequacy']}" for r in rows())])
    joined = result_of(bare, "--judgements", table, "-m", "chrf")
    assert joined["rows"] == result_of(data, "-m", "chrf", "-c", "adequacy")["rows"]


def test_pairs_take_the_place_of_ratings(data, tmp_path):
    pairs = write(
        tmp_path / "pairs.jsonl",
        [{"better_id": "one-0", "worse_id": "three-0"}, {"better_id": "four-0", "worse_id": "one-0"}],
    )
    result = result_of(data, "--pairs", pairs, "-m", "chrf", "--stat", "preference_accuracy")
    assert result["rows"][0]["value"] == 0.5
    assert result["rows"][0]["criterion"] == "preference"


def test_the_table_says_what_it_shows(data, capsys):
    assert run("meta", data, "-m", "chrf", "-c", "adequacy", "--level", "item", "--stat", "kendall_b", "-v") == 0
    out = capsys.readouterr().out
    assert out.startswith("kendall_b with adequacy: level item, averaging item, x-en\n")
    assert "chrf = metric:chrf|" in out
    assert "note: [low, high] of kendall_b" in out


def test_quiet_leaves_the_table_alone(data, capsys):
    assert run("meta", data, "-m", "chrf", "-c", "adequacy", "-q") == 0
    out = capsys.readouterr().out
    assert "note:" not in out
    assert "metric:chrf" not in out


@pytest.mark.parametrize(
    ("form", "part"),
    [
        ("markdown", "| metric |"),
        ("latex", r"\begin{tabular}"),
        ("tsv", "metric\tcriterion\t"),
        ("json", '"kind": "meta"'),
    ],
)
def test_forms(data, capsys, form, part):
    assert run("meta", data, "-m", "chrf", "-c", "adequacy", "-f", form) == 0
    assert part in capsys.readouterr().out


def test_tests_print_ranks_and_a_triangle(data, capsys):
    assert (
        run(
            "meta",
            data,
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


def test_criteria_are_held_against_each_other(data, tmp_path, capsys):
    assert run("meta", data, "-m", "chrf", "-c", "all", "--criteria", "--json", tmp_path / "r.json") == 0
    assert "pearson of criteria with each other: level segment" in capsys.readouterr().out
    found = [row for row in json.loads((tmp_path / "r.json").read_text())["rows"] if row["metric"] == "human.adequacy"]
    assert [row["criterion"] for row in found] == ["fluency"]


def test_segments_bear_scores_and_ratings(data, tmp_path):
    assert run("meta", data, "-m", "rouge1", "-c", "adequacy", "--segments", tmp_path / "s.tsv", "-q") == 0
    header, first, *_ = (line.split("\t") for line in (tmp_path / "s.tsv").read_text().splitlines())
    assert header[:4] == ["id", "seg", "system", "rouge1"]
    assert header[-1] == "human.adequacy"
    assert "rouge1.precision" in header
    assert first[0] == "one-0"
    assert float(first[-1]) == 5


def test_the_page_holds_the_numbers(data, tmp_path):
    pytest.importorskip("jinja2")
    assert (
        run(
            "meta",
            data,
            "-m",
            "chrf",
            "-m",
            "bleu",
            "-c",
            "adequacy",
            "--test",
            "auto",
            "-n",
            50,
            "--html",
            tmp_path / "r.html",
            "-q",
        )
        == 0
    )
    assert "pearson with adequacy" in (tmp_path / "r.html").read_text()


def test_a_protocol_is_one_word(data):
    result = result_of(data, "-m", "chrf", "--preset", "summeval-sys")
    assert {(row["stat"], row["level"]) for row in result["rows"]} == {("kendall_b", "system")}
    assert {row["criterion"] for row in result["rows"]} == {"adequacy", "fluency", "mean"}
    assert "references_folded:mean" in result["metrics"][0]["signature"]


def test_the_seed_decides_what_is_drawn(data):
    one, same, other = (
        [
            row["low"]
            for row in result_of(data, "-m", "chrf", "-c", "adequacy", "--level", "item", "--seed", seed)["rows"]
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
        (
            ["-m", "chrf", "-c", "adequacy", "--exclude", "two", "--exclude", "one", "--level", "system"],
            ["needs 3 rated systems or more"],
        ),
        (["-m", "chrf", "-c", "adequacy", "--epsilon", "1"], ["pearson take no epsilon"]),
    ],
)
def test_what_cannot_be_done_is_one_line_with_the_nearest(data, capsys, arguments, parts):
    err = refused(capsys, "meta", data, *arguments)
    for part in parts:
        assert part in err


def test_ids_that_disagree_are_counted_and_named(data, tmp_path, capsys):
    scores = write(tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t1.5" for r in rows()[:10]), "other\t3"])
    err = refused(capsys, "meta", data, "--scores", scores, "-c", "adequacy")
    assert "m has no score for 6 of 16 segments (three-2, three-3, four-0 and 3 more)" in err
    assert "missing='drop'" in err


def test_segments_without_a_score_are_dropped_when_that_is_said(data, tmp_path, capsys):
    scores = write(tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t{i}" for i, r in enumerate(rows()[:14])), "other\t3"])
    assert run("meta", data, "--scores", scores, "-c", "adequacy", "--missing", "drop") == 0
    out = capsys.readouterr().out
    assert "2 of 16 segments are dropped for all metrics" in out
    assert "1 of 15 rows are about no judged segment: other" in out


def test_a_score_that_is_nan_is_refused_by_id(data, tmp_path, capsys):
    scores = write(
        tmp_path / "s.tsv", ["id\tm", *(f"{r['id']}\t{'nan' if i == 3 else i}" for i, r in enumerate(rows()))]
    )
    assert "m has no score for 1 of 16 segments (one-3)" in refused(
        capsys, "meta", data, "--scores", scores, "-c", "adequacy"
    )


def test_one_rated_system_an_item_is_refused(tmp_path, capsys):
    alone = write(tmp_path / "one.jsonl", rows()[:4])
    assert "every item of group 'x-en' has one rated output" in refused(
        capsys, "meta", alone, "-m", "chrf", "-c", "adequacy", "--level", "item"
    )


def test_ratings_that_all_tie_are_refused(tmp_path, capsys):
    tied = write(tmp_path / "tied.jsonl", [{**row, "human": {"adequacy": 3}} for row in rows()])
    assert "'adequacy' is 3 for all that is compared" in refused(capsys, "meta", tied, "-m", "chrf")


def test_data_without_ratings_are_refused(tmp_path, capsys):
    bare = write(tmp_path / "bare.jsonl", [{k: v for k, v in row.items() if k != "human"} for row in rows()])
    assert "has a human rating" in refused(capsys, "meta", bare, "-m", "chrf")


def test_outputs_are_tried_before_anything_is_scored_and_nothing_is_left_on_an_error(data, tmp_path, capsys):
    assert "there is no folder" in refused(
        capsys, "meta", data, "-m", "chrf", "-c", "adequacy", "--json", tmp_path / "no" / "r.json"
    )
    assert "would be written over" in refused(capsys, "meta", data, "-m", "chrf", "-c", "adequacy", "--json", data)
    refused(
        capsys,
        "meta",
        data,
        "-m",
        "chrf",
        "-c",
        "fluncy",
        "--json",
        tmp_path / "r.json",
        "--segments",
        tmp_path / "s.tsv",
    )
    assert not list(tmp_path.glob("r.json*"))
    assert not list(tmp_path.glob("s.tsv*"))


def test_two_files_with_one_column_are_refused(data, tmp_path, capsys):
    one, two = (write(tmp_path / name, ["id\tm", *(f"{r['id']}\t1" for r in rows())]) for name in ("a.tsv", "b.tsv"))
    assert "column 'm' is in" in refused(capsys, "meta", data, "--scores", one, "--scores", two, "-c", "adequacy")


def test_numbers_in_the_table_have_the_digits_asked_for(data, capsys):
    assert run("meta", data, "-m", "chrf", "-c", "adequacy", "-w", 5, "--intervals", "none", "-q") == 0
    value = ng.meta_evaluate(ng.read(data), "chrf", "adequacy").value("chrf")
    assert f"{value:.5f}" in capsys.readouterr().out
    assert np.isfinite(value)


def values(tmp_path, *arguments):
    """Metric -> its value, and the notes."""
    path = tmp_path / "values.json"
    assert run("meta", tmp_path / "data.jsonl", "-c", "adequacy", "--json", path, "-q", *arguments) == 0
    result = json.loads(path.read_text())
    return {row["metric"]: row["value"] for row in result["rows"] if row["group"] == "mean"}, result


@pytest.mark.parametrize("name", ["rows.tsv", "rows.jsonl", "rows.tsv.gz", "rows.parquet"])
def test_segments_come_back_with_their_sign_and_signature(data, tmp_path, name):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    theirs = tmp_path / name
    assert run("score", data, "-m", "ter", "-m", "chrf", "--segments", theirs, "-q") == 0
    scored, fresh = values(tmp_path, "-m", "ter", "-m", "chrf")
    read, result = values(tmp_path, "--scores", theirs)
    assert read == scored
    assert scored["ter"] > 0  # in the direction of the metric, as people
    assert not any("taken to" in note for note in result["notes"])
    signatures = {metric["spec"]: metric["signature"] for metric in result["metrics"]}
    assert signatures == {m["spec"]: f"{m['signature']}|from:{theirs}" for m in fresh["metrics"]}
    column = f'scores:file="{theirs}",column=ter'
    assert values(tmp_path, "-m", column)[0][column] == scored["ter"]


def test_a_file_that_says_nothing_is_read_by_the_names_of_its_columns(data, tmp_path):
    theirs = tmp_path / "theirs.tsv"
    assert run("score", data, "-m", "ter", "-m", "chrf:word_order=1", "--segments", theirs, "-q") == 0
    (tmp_path / "theirs.tsv.meta.json").unlink()
    text = theirs.read_text().replace("chrf:word_order=1", "mine")
    theirs.write_text(text)
    read, result = values(tmp_path, "--scores", theirs)
    assert read["ter"] == values(tmp_path, "-m", "ter")[0]["ter"]
    assert any(
        note.startswith("ter: taken to fall with quality, as the name says; --higher") for note in result["notes"]
    )
    assert any(note.startswith("mine: taken to rise with quality; --lower-is-better") for note in result["notes"])
    turned, result = values(tmp_path, "--scores", theirs, "--higher-is-better", "ter", "--lower-is-better", "mine")
    assert turned == {"ter": -read["ter"], "mine": -read["mine"]}
    assert not any("taken to" in note for note in result["notes"])
    column = f'scores:file="{theirs}",column=mine'
    notes = values(tmp_path, "-m", column)[1]["notes"]
    assert f"{column}: taken to rise with quality; higher_is_better=false if it falls" in notes


def test_a_column_cannot_rise_and_fall(data, tmp_path, capsys):
    theirs = tmp_path / "theirs.tsv"
    assert run("score", data, "-m", "ter", "--segments", theirs, "-q") == 0
    both = ("--higher-is-better", "ter", "--lower-is-better", "ter")
    assert run("meta", data, "-c", "adequacy", "--scores", theirs, *both) == 2
    assert "'ter' is named in lower_is_better and in higher_is_better" in capsys.readouterr().err


def test_an_unknown_protocol_is_refused_with_the_nearest(data, capsys):
    assert "unknown preset 'wmt32'; did you mean " in refused(capsys, "meta", data, "-m", "chrf", "--preset", "wmt32")


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


def test_a_baseline_gets_a_table_of_its_own(data, capsys):
    assert run("meta", data, "-m", "chrf", "-m", "bleu", "-m", "wer", "-c", "adequacy", "--baseline", "chrf") == 0
    printed = capsys.readouterr().out
    assert "better than chrf, adjusted: pearson with adequacy" in printed
    assert "delta" in printed
    assert "rank" not in printed


def test_the_protocol_of_wmt_tests_kendall_by_source(data):
    options = ("--preset", "wmt-da-rr", "--threshold", "1", "--draws", "20")
    result = result_of(data, "-m", "chrf", "-m", "bleu", "-c", "adequacy", *options)
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
    bare = [{key: value for key, value in row.items() if key != "human"} for row in rows()]
    texts = write(tmp_path / "texts.jsonl", bare)
    head, line = lines
    rated = [line.format(s=s, i=i, v=v) for s, values in RATINGS.items() for i, v in enumerate(values)]
    if name.startswith("newstest"):
        rated = [line.format(s=s, i=i + 1, v=v) for s, values in RATINGS.items() for i, v in enumerate(values)]
        texts = write(tmp_path / "texts.jsonl", [{**row, "seg": str(int(row["seg"]) + 1)} for row in bare])
    path = write(tmp_path / name, [head, *rated])
    result = result_of(texts, "-m", "chrf", "--judgements", path)
    assert {row["n_used"] for row in result["rows"] if row["group"] == "x-en"} == {16}


def test_ratings_of_systems_are_joined_for_the_level_of_systems(tmp_path):
    bare = [{key: value for key, value in row.items() if key != "human"} for row in rows()]
    texts = write(tmp_path / "texts.jsonl", bare)
    table = tmp_path / "rated.tsv"
    table.write_text("system\tscore\n" + "".join(f"{s}\t{sum(v)}\n" for s, v in RATINGS.items()), encoding="utf-8")
    result = result_of(texts, "-m", "chrf", "--judgements", table, "--level", "system")
    assert {row["n_used"] for row in result["rows"] if row["group"] == "x-en"} == {4}
    assert any("bears the rating of its system" in note for note in result["notes"])


def test_segments_on_which_a_metric_and_people_disagree_are_shown(data, tmp_path, capsys):
    asked = ("meta", data, "-m", "chrf", "-m", "bleu", "-c", "adequacy")
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
    assert run("meta", data, "-m", "chrf", "-m", "bleu", "-c", "adequacy", "--disagree", "2") == 0
    printed = capsys.readouterr().out
    table = printed[printed.index("where metrics and people disagree most, ranks among 16 segments") :]
    assert table.count("chrf") == table.count("bleu") == 2


def test_a_submission_is_checked_by_the_folder_of_its_set(tmp_path, capsys):
    for name, text in {"sources/x-y.txt": "s\nt\n", "references/x-y.refA.txt": "r\nq\n"}.items():
        (tmp_path / "set" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "set" / name).write_text(text)
    (tmp_path / "set/system-outputs/x-y").mkdir(parents=True)
    (tmp_path / "set/system-outputs/x-y/A.txt").write_text("a\nb\n")
    file = tmp_path / "M.seg.score"
    file.write_text("M\tx-y\tset\trefA\tA\t1\t0.5\nM\tx-y\tset\trefA\tA\t2\t0.5\n")
    assert run("meta", tmp_path / "set", "--check", file) == 0
    assert capsys.readouterr().out == (
        f"{file}: as the organisers ask: segment scores of test set 'set': x-y 1 output of 2 segments\n"
    )
    file.write_text("M\tx-y\tset\trefA\tA\t1\t0.5\n")
    assert run("meta", tmp_path / "set", "--check", file) == 3
    assert capsys.readouterr().out == (
        f"{file}: x-y: system 'A' lacks 1 of 2 segments: 2\n"
        f"{file}: 1 fault, expected segment scores of test set 'set': x-y 1 output of 2 segments\n"
    )
    assert "--metric has no part in --check" in refused(capsys, "meta", tmp_path / "set", "--check", file, "-m", "chrf")
