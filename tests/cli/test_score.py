"""`nlgauge score`: the numbers are the library's, the forms hold them all, and bad input leaves nothing behind."""

from __future__ import annotations

import gzip
import io
import json
import shlex

import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.metric import signature_of
from nlgauge.io.results import read_result
from nlgauge.metrics.registry import METRICS
from nlgauge.models import heads

HYPOTHESES = {
    "one": ["the cat sat on the mat", "it rains", "a red house"],
    "two": ["a cat sat there", "it is raining", "a red house"],
}
REFERENCES = [["the cat sat on a mat", "a cat is on the mat"], ["it is raining"], ["the red house"]]


@pytest.fixture
def data(tmp_path):
    rows = [
        {
            "id": f"{system}-{i}",
            "system": system,
            "seg": str(i),
            "lp": "x-en" if i < 2 else "y-en",
            "refs": REFERENCES[i],
            "hyp": text,
        }
        for system, texts in HYPOTHESES.items()
        for i, text in enumerate(texts)
    ]
    return write(tmp_path / "data.jsonl", rows)


def test_all_embedded_metrics_go_by_one_name_and_a_gate_keeps_its_metric(data, capsys, monkeypatch):
    monkeypatch.setattr("nlgauge.metrics.registry.embedded_metrics", lambda: ["bleu", "ter", "supert"])
    assert run("score", data, "-m", "embedded", "-f", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [metric["spec"] for metric in found["metrics"]] == ["bleu", "ter"]
    assert found["notes"][0] == "embedded metrics left out: supert needs source"
    error = refused(capsys, "score", data, "-m", "embedded", "--fail-under", "supert=0.5")
    assert "supert needs source; segment 'one-0' has none" in error


@pytest.mark.parametrize("given", ["file", "-"])
def test_the_encoder_auto_is_that_of_the_texts_for_every_use_of_a_metric(
    data, given, tiny_model, tmp_path, capsys, monkeypatch
):
    monkeypatch.setitem(heads._IN_PLACE, "multilingual", {"embedded": str(tiny_model("bert"))})
    row = {"id": "1", "lp": "en-de", "hyp": "anna k", "refs": ["anna b"], "system": "a"}
    data.write_text(json.dumps(row), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    place = data if given == "file" else given
    options = ["-m", "cosine", "--encoder", "auto", "--fail-under", "cosine=-2"]
    assert run("score", place, *options, "-f", "json", "--cache", tmp_path) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"][0]["spec"] == "cosine"
    weights = signature_of(ng.metric("cosine", model=str(tiny_model("bert"))), ng.Runtime())
    assert found["metrics"][0]["signature"] == str(weights)
    assert found["notes"][0] == "encoder auto took multilingual: 1 of 1 segments of en-de look German"
    error = refused(capsys, "score", data, *options[:4], "--engine", "pool", "-o", tmp_path / "parts")
    assert "cosine: the encoder auto is chosen by texts that are looked at first, and here none are" in error


def test_text_that_a_metric_cannot_split_is_noted_or_refused_before_anything_is_scored(data, tmp_path, capsys):
    row = {"id": "c", "hyp": "火车晚点了两个小时", "refs": ["昨天他没有去学校"]}
    data.write_text(json.dumps(row), encoding="utf-8")
    assert run("score", data) == 0
    assert "bleu: 1 of 1 segments look Chinese (Han): the tokenizer 13a splits" in capsys.readouterr().out
    assert run("score", data, "-v") == 0
    assert "bleu: 1 of 1 segments (c) look Chinese (Han): the tokenizer 13a splits" in capsys.readouterr().out
    target = tmp_path / "rows.jsonl"
    error = refused(capsys, "score", data, "--language", "strict", "--segments", target)
    assert "take tokenize=zh or tokenize=char" in error
    assert not target.exists()
    assert "language is 'loud'" in refused(capsys, "score", data, "--language", "loud")


def test_rows_are_the_corpus_numbers_of_each_system(data, tmp_path, capsys):
    assert run("score", data, "-m", "bleu", "-m", "chrf", "-v", "--json", tmp_path / "r.json") == 0
    result = json.loads((tmp_path / "r.json").read_text())
    assert (result["schema"], result["kind"], result["version"]) == (1, "score", ng.__version__)
    for row in result["rows"]:
        expected = ng.score(HYPOTHESES[row["system"]], REFERENCES, metrics=[row["metric"]])[row["metric"]].system
        assert row["value"] == pytest.approx(expected, abs=1e-9)  # the same sums, added in another order
        assert (row["n"], row["n_undefined"]) == (3, 0)
    signatures = {m["spec"]: m["signature"] for m in result["metrics"]}
    out = capsys.readouterr().out
    assert all(signature in out for signature in signatures.values())
    assert result["inputs"][0]["path"] == str(data)


def test_segment_rows_hold_every_metric_and_part(data, tmp_path):
    assert run("score", data, "-m", "rougeL", "-m", "chrf", "--segments", tmp_path / "s.jsonl.gz", "-q") == 0
    with gzip.open(tmp_path / "s.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    assert [row["id"] for row in rows] == [f"{s}-{i}" for s in HYPOTHESES for i in range(3)]
    assert list(rows[0])[:4] == ["id", "seg", "system", "rougeL"]
    expected = ng.score(HYPOTHESES["one"], REFERENCES, metrics=["rougeL"])["rougeL"]
    assert [row["rougeL.recall"] for row in rows[:3]] == pytest.approx(list(expected.parts["recall"]), abs=1e-12)


def test_text_files_and_short_flags_as_sacrebleu_takes_them(tmp_path, capsys):
    for system, texts in HYPOTHESES.items():
        (tmp_path / f"{system}.txt").write_text("\n".join(texts) + "\n")
    (tmp_path / "ref.txt").write_text("\n".join(refs[0] for refs in REFERENCES) + "\n")
    files = ["-i", tmp_path / "one.txt", "-i", tmp_path / "two.txt", "-r", tmp_path / "ref.txt"]
    assert run("score", *files, "-m", "bleu", "chrf", "-b", "-w", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    expected = ng.score(HYPOTHESES["two"], [refs[0] for refs in REFERENCES], metrics=["bleu", "chrf"])
    assert lines[1] == f"{expected['bleu'].system:.3f} {expected['chrf'].system:.3f}"


@pytest.fixture
def texts(tmp_path, monkeypatch):
    """one.txt, two.txt, r0 and r1 in the current folder."""
    monkeypatch.chdir(tmp_path)
    for system, lines in HYPOTHESES.items():
        (tmp_path / f"{system}.txt").write_text("\n".join(lines) + "\n")
    for place in (0, 1):
        (tmp_path / f"r{place}").write_text("\n".join(refs[place % len(refs)] for refs in REFERENCES) + "\n")


@pytest.mark.parametrize(
    "line", ["-i one.txt two.txt -r r0 r1 -m bleu chrf", "-t one.txt two.txt -r r0 r1 -s r0 -m BLEU,chrf"]
)
def test_several_files_behind_one_option(texts, capsys, line):
    assert run("score", "-b", *"-i one.txt -i two.txt -r r0 -r r1 -m bleu -m chrf".split()) == 0
    expected = capsys.readouterr().out
    assert run("score", "-b", *line.split()) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("-lc", "-lc is now an option of bleu, as in -m bleu:lowercase=true"),
        ("-tok zh", "-tok is now an option of bleu, as in -m bleu:tokenize=zh"),
        ("--tokenize=zh", "--tokenize is now an option of bleu"),
        ("--sort chrf", "--sort is now --pairs of --significance"),
    ],
)
def test_an_option_that_is_gone_says_what_to_type(texts, capsys, typed, said):
    assert said in refused(capsys, "score", *f"-i one.txt -r r0 {typed}".split())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("-i one.txt -m bleu lost.txt", "'lost.txt' is given beside --hyp, and there is no such file"),
        ("r0 -i one.txt", "'r0' is given beside --hyp; name references with --ref"),
        ("-r r0 r1", "--ref is given without hypotheses, expected --hyp FILE beside it"),
    ],
)
def test_files_that_nobody_asked_for_are_refused(texts, capsys, line, said):
    assert said in refused(capsys, "score", *line.split())


def test_standard_input(data, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    assert run("score", "-", "-m", "chrf", "-f", "json") == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["system"] for row in result["rows"]] == ["one", "two"]
    assert result["inputs"][0]["path"] == "-"


def test_groups_get_their_own_rows_only_on_request(data, tmp_path, capsys):
    run("score", data, "-m", "chrf", "--json", tmp_path / "r.json")
    together = json.loads((tmp_path / "r.json").read_text())
    assert any("2 groups" in note for note in together["notes"])
    run("score", data, "-m", "chrf", "--by-group", "--json", tmp_path / "r.json")
    apart = json.loads((tmp_path / "r.json").read_text())["rows"]
    counts = {(row["group"], row["system"]): row["n"] for row in apart}
    assert list(counts.items()) == [
        (("x-en", "one"), 2),
        (("y-en", "one"), 1),
        (("x-en", "two"), 2),
        (("y-en", "two"), 1),
    ]


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_a_copy_of_the_baseline_is_never_different(tmp_path, test, capsys):
    rows = [
        {"system": system, "seg": str(i), "ref": refs[0], "hyp": HYPOTHESES["one"][i]}
        for system in ("a", "copy")
        for i, refs in enumerate(REFERENCES)
    ]
    path = tmp_path / "copy.jsonl"
    write(path, rows)
    run("score", path, "-m", "chrf", "--significance", test, "--draws", "200", "--json", tmp_path / "r.json")
    first, second = json.loads((tmp_path / "r.json").read_text())["rows"]
    assert (first["baseline"], first["delta"], first["p"]) == ("a", None, None)
    assert (second["baseline"], second["delta"], second["p"]) == ("a", 0.0, 1.0)
    assert second["low"] <= second["value"] <= second["high"]


def test_the_gate(data, capsys):
    assert run("score", data, "-m", "chrf", "--fail-under", "chrf=1", "-q") == 0
    assert run("score", data, "-m", "chrf", "--fail-under", "chrf=99", "-q") == 3
    assert "worse than 99" in capsys.readouterr().err
    # an error rate fails above its gate, not below
    assert run("score", data, "-m", "ter", "--fail-under", "ter=1000", "-q") == 0
    assert run("score", data, "-m", "ter", "--fail-under", "ter=0.1", "-q") == 3


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            (["-m", "chrf", "-m", "chrf"], "named twice"),
            (["-m", "chrf", "--significance", "t-test"], "test is 't-test', expected bootstrap or randomization"),
            (["-m", "chrf", "--compat", "sacrebleu"], "--compat is now an option of the test"),
            (["-m", "chrf", "--significance", "bootstrap", "--baseline", "tow"], "did you mean 'two'"),
            (["-m", "chrf", "-f", "xml"], "unknown format"),
            (["-m", "chrf", "--hyp", "x.txt"], "beside --hyp"),
            (["-m", "chrf", "--src", "x.txt"], "leave --ref and --src out"),
            (["-m", "chrf", "--dtype", "float8"], "expected one of auto, float32"),
            (["-m", "chrf", "--cache", "x", "--no-cache"], "choose one"),
            (["-m", "chrf", "misspelt-metric"], "2 data files are given"),
            (["-m", "chrf", "--widht", "2"], "--width"),
        ],
    )
    def test_options(self, data, capsys, arguments, expected):
        code = run("score", data, *arguments)
        err = capsys.readouterr().err
        assert code == 2
        assert expected in err
        assert err.count("\n") == 1

    def test_nothing_to_score(self, capsys):
        assert "give a data file" in refused(capsys, "score")

    def test_a_damaged_cache(self, data, tmp_path, capsys):
        pytest.importorskip("torch")
        (tmp_path / "c").mkdir()
        (tmp_path / "c" / "scores.sqlite").write_bytes(b"not a database, but long enough to be taken for one" * 20)
        assert "--no-cache" in refused(capsys, "score", data, "-m", "bertscore", "--cache", tmp_path / "c")

    def test_a_hub_model_without_a_network(self, data, capsys, monkeypatch):
        pytest.importorskip("huggingface_hub")
        monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
        line = refused(capsys, "score", data, "-m", "bertscore:model=nobody/nothing-like-this")
        assert "nlgauge fetch nobody/nothing-like-this" in line


@pytest.mark.parametrize("name", ["data.jsonl", "data.tsv"])
def test_marks_of_other_systems_change_no_number(tmp_path, capsys, name):
    # A byte order mark and CR before LF are dropped; a line separator inside a text stays a part of it.
    text = "a\u2028cat"
    lines = (
        [json.dumps({"hyp": text, "ref": "a cat"}, ensure_ascii=False)]
        if name.endswith("jsonl")
        else ["hyp\tref", f"{text}\ta cat"]
    )
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, ""]).encode())
    assert run("score", tmp_path / name, "-m", "chrf", "-f", "json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["rows"][0]["value"] == pytest.approx(
        ng.score([text], ["a cat"], metrics=["chrf"])["chrf"].system, abs=1e-9
    )
    assert not any("mark" in note or "CR" in note for note in result["notes"])


def test_a_kept_scale_scores_one_system_as_it_was_beside_the_other(data, tmp_path):
    bounds = tmp_path / "bounds.json"
    spec = "0.3*chrf + 0.7*ter"
    assert (
        run("score", data, "-m", spec, "-m", "bleu", "--save-norm", bounds, "--segments", tmp_path / "all.jsonl") == 0
    )
    assert set(json.loads(bounds.read_text())["bounds"]) == {"chrf", "ter"}
    both = {row["id"]: row[spec] for row in map(json.loads, (tmp_path / "all.jsonl").read_text().splitlines())}
    alone = tmp_path / "alone.jsonl"
    alone.write_text(data.read_text().splitlines()[4] + "\n", encoding="utf-8")
    kept = f'{spec}[norm=file("{bounds}")]'
    assert run("score", alone, "-m", kept, "--segments", tmp_path / "one.jsonl") == 0
    row = json.loads((tmp_path / "one.jsonl").read_text())
    assert row[kept] == pytest.approx(both[row["id"]], abs=1e-9)  # chrf and TER are some tens


def test_weights_that_do_not_add_up_to_1_are_noted(data, capsys):
    assert run("score", data, "-m", "0.3*chrf + 0.6*bleu") == 0
    assert "note: 0.3*chrf + 0.6*bleu: the weights add up to 0.9, not to 1" in capsys.readouterr().out
    assert run("score", data, "-m", "0.4*chrf + 0.6*bleu") == 0
    assert "add up" not in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--json", "--html", "--segments"])
def test_a_dash_is_standard_output_and_stands_there_alone(data, tmp_path, capsys, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    name = {"--json": "r.json", "--html": "r.html", "--segments": "r.tsv"}[option]
    assert run("score", data, "-m", "chrf", option, name, "-q") == 0
    capsys.readouterr()
    assert run("score", data, "-m", "chrf", option, "-") == 0
    assert capsys.readouterr().out == (tmp_path / name).read_text()
    assert not (tmp_path / "-").exists()


def test_standard_input_and_standard_output_are_not_one_file(data, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data.read_bytes())))
    assert run("score", "-", "-m", "chrf", "--json", "-") == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "score"


def written(path, systems, lacking=()):
    """Rows of systems over three items, without those that are lacking."""
    rows = [
        {"system": system, "seg": str(i), "hyp": text, "refs": REFERENCES[i % 3]}
        for system, texts in systems.items()
        for i, text in enumerate(texts)
        if (system, i) not in lacking
    ]
    return write(path, rows)


THREE = {"far": ["nothing of it", "no", "none"], **HYPOTHESES}


def result_of(capsys, *arguments):
    assert run("score", *arguments, "-f", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_every_pair_of_systems_is_tested_and_ranked(tmp_path, capsys):
    path = written(tmp_path / "d.jsonl", THREE)
    result = result_of(capsys, path, "-m", "chrf", "--significance", "randomization", "--pairs", "-n", "99")
    systems = [row for row in result["rows"] if "against" not in row]
    assert [row["system"] for row in systems] == ["two", "one", "far"]  # the best first
    pairs = [("two", "one"), ("two", "far"), ("one", "far")]
    assert [(row["system"], row["against"]) for row in result["rows"] if "against" in row] == pairs
    assert all(row["rank"] >= 1 for row in systems)
    theirs = ng.compare(THREE, REFERENCES, metrics="chrf", test="randomization", draws=99)
    assert [row["p_adjusted"] for row in result["rows"] if "against" in row] == [
        pytest.approx(theirs.p("chrf", *pair)) for pair in pairs
    ]


def test_pairs_are_tested_and_ranked_in_each_group(tmp_path, capsys):
    path = written(tmp_path / "d.jsonl", {name: [*texts, *reversed(texts)] for name, texts in HYPOTHESES.items()})
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lines = [json.dumps({**row, "lp": "x-en" if int(row["seg"]) < 3 else "y-en"}) + "\n" for row in rows]
    path.write_text("".join(lines))
    how = ["-m", "bleu", "--significance", "randomization", "--pairs", "-n", "99"]
    rows = result_of(capsys, path, *how, "--by-group")["rows"]
    assert [row["group"] for row in rows if "against" not in row] == ["x-en", "x-en", "y-en", "y-en"]
    assert run("score", path, *how, "--by-group", "--html", path.with_suffix(".html")) == 0
    assert "p-values of every two systems: -v, --json FILE or --html FILE" in capsys.readouterr().out
    assert run("score", path, *how, "--by-group", "--verbose") == 0
    assert "p of bleu, x-en: row and column differ" in capsys.readouterr().out
    assert "p of bleu, y-en: row and column differ" in path.with_suffix(".html").read_text()
    path.write_text("".join(line for line in lines if "x-en" in line))
    alone = result_of(capsys, path, *how)["rows"]
    assert [{**row, "group": "x-en"} for row in alone] == [row for row in rows if row["group"] == "x-en"]
    path.write_text("".join(line for line in lines if "x-en" in line or '"one"' in line))
    assert "group 'y-en' has one system, 'one'" in refused(capsys, "score", path, *how, "--by-group")


def test_a_result_holds_the_draws_that_were_made(tmp_path, capsys):
    # Holm's smallest p of 21 pairs is 21 / (draws + 1): draws are raised until it can be a tenth of 0.05
    many = {name: [f"{name} {text}" for text in HYPOTHESES["one"]] for name in "abcdefg"}
    path = written(tmp_path / "d.jsonl", many)
    result = result_of(capsys, path, "-m", "chrf", "--significance", "bootstrap", "--pairs")
    assert result["draws"] == 21 * 10 / 0.05
    assert any(f"{result['draws']} draws" in note for note in result["notes"])


def test_tests_against_a_baseline_are_adjusted_on_request(tmp_path, capsys):
    path = written(tmp_path / "d.jsonl", THREE)
    test = ["-m", "chrf", "--significance", "randomization", "-n", "99"]
    plain, adjusted = (result_of(capsys, path, *test, *more)["rows"] for more in ([], ["--adjust", "holm"]))
    assert [row["p"] for row in adjusted] == [row["p"] for row in plain]
    _, one, two = sorted(adjusted, key=lambda row: row["p"] or 0)
    # Holm: the smaller of two p-values is doubled, the larger is at least that
    assert one["p_adjusted"] == pytest.approx(min(1, 2 * one["p"]))
    assert two["p_adjusted"] == pytest.approx(max(two["p"], one["p_adjusted"]))


def test_systems_are_left_out_or_held_to_common_items(tmp_path, capsys):
    path = written(tmp_path / "d.jsonl", THREE, lacking={("two", 1)})
    whole = result_of(capsys, path, "-m", "chrf")
    assert {row["system"]: row["n"] for row in whole["rows"]} == {"far": 3, "one": 3, "two": 2}
    assert any("different numbers of segments (far 3, one 3, two 2)" in note for note in whole["notes"])
    common = result_of(capsys, path, "-m", "chrf", "--common", "--significance", "bootstrap", "-n", "20")
    assert {row["n"] for row in common["rows"]} == {2}
    assert any("2 of 3 items are those of all 3 systems" in note for note in common["notes"])
    left = result_of(capsys, path, "-m", "chrf", "--exclude", "two")
    assert [row["system"] for row in left["rows"]] == ["far", "one"]
    assert not any("different numbers" in note for note in left["notes"])


def test_parts_of_bleu_are_in_the_result_and_shown_on_request(data, capsys):
    row = result_of(capsys, data, "-m", "bleu")["rows"][0]
    expected = ng.score(HYPOTHESES["one"], REFERENCES, metrics="bleu")["bleu"].system_parts
    assert {name: row[f"parts.{name}"] for name in expected} == pytest.approx(expected)
    assert run("score", data, "-m", "bleu", "chrf", "-v") == 0
    out = capsys.readouterr().out
    assert "parts of bleu" in out
    assert "parts of chrf" not in out
    assert f"{expected['bp']:.4f}" in out
    assert "bp: brevity penalty" in out
    page = data.with_suffix(".html")
    assert run("score", data, "-m", "bleu", "--html", page) == 0
    assert f"{expected['precision2']:.4f}" in page.read_text()  # a page holds them always


def test_directions_of_parts_come_back(data, capsys, tmp_path):
    rows = tmp_path / "rows.tsv"
    assert run("score", data, "-m", "rougeL", "--segments", rows) == 0
    (metric,) = json.loads((tmp_path / "rows.tsv.meta.json").read_text())["metrics"]
    assert metric["parts"] == {"precision": True, "recall": True, "f1": True, "reference": None}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--pairs", "--pairs says how systems are tested; it goes with --significance"),
        ("--adjust holm", "--adjust says how systems are tested"),
        ("--significance bootstrap --pairs --baseline one", "leave baseline out"),
        ("--significance bootstrap:compat=sacrebleu --pairs", "leave compat out"),
        ("--exclude three", "exclude names 'three'"),
    ],
)
def test_options_of_a_comparison_that_do_not_go_together(data, capsys, options, said):
    assert said in refused(capsys, "score", data, "-m", "chrf", *options.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "one"], "--baseline is what others are tested against; it goes with --significance"),
        (["-n", "50"], "--draws is about resampling; it goes with --significance or --confidence"),
        (["--seed", "0"], "--seed is about resampling"),
        (["-b", "-f", "json"], "--score-only prints bare numbers, and -f json names a form; choose one"),
        (["-w", "2", "-f", "csv"], "--width is about tables, and -f csv holds every row and digit"),
    ],
)
def test_options_without_effect_are_refused(data, capsys, arguments, message):
    assert run("score", data, "-m", "chrf", *arguments) == 2
    assert capsys.readouterr().err.startswith(f"nlgauge: {message}")


def test_a_result_names_command_test_draws_and_seed(data, tmp_path, capsys):
    test = ["--significance", "randomization", "-n", "99", "--seed", "3"]
    assert run("score", data, "-m", "chrf", *test, "--json", tmp_path / "r.json", "-q") == 0
    result = json.loads((tmp_path / "r.json").read_text())
    assert (
        result["command"]
        == f"nlgauge score {shlex.quote(str(data))} -m chrf --significance randomization -n 99 --seed 3"
    )
    names = ("test", "draws", "seed", "adjust", "confidence")
    assert [result[name] for name in names] == ["randomization", 99, 3, "none", 0.95]


def test_formulas_are_defused_where_a_spreadsheet_opens_them(tmp_path, capsys, monkeypatch):
    data = tmp_path / "d.jsonl"
    data.write_text('{"id": "=1", "system": "@s", "hyp": "a b", "refs": ["a b"]}\n')
    monkeypatch.setenv("NLGAUGE_SPREADSHEET", "1")
    assert main(["score", str(data), "-f", "csv", "--segments", str(tmp_path / "s.tsv")]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("'@s,bleu,")
    assert (tmp_path / "s.tsv").read_text().splitlines()[1].startswith("'=1\t\t'@s\t")


def test_limits_are_raised_and_lowered(data, capsys, monkeypatch):
    run = ["score", str(data), "-m", "bleu"]
    monkeypatch.setenv("NLGAUGE_LIMITS", "segment=20,depth=2")
    assert main(run) == 2
    said = capsys.readouterr().err
    assert "data.jsonl:1: a text of 22 characters, expected at most 20" in said
    assert "NLGAUGE_LIMITS=segment=44" in said
    monkeypatch.setenv("NLGAUGE_LIMITS", "segment=44,depth=2")
    assert main(run) == 0
    monkeypatch.setenv("NLGAUGE_LIMITS", "segment")
    assert main(run) == 2
    capsys.readouterr()
    assert main([*run, "--limits", "segment=44"]) == 2
    assert capsys.readouterr().err.startswith("nlgauge: --limits is now the variable NLGAUGE_LIMITS")


@pytest.fixture
def odd(tmp_path):
    """Three outputs of one system; the second is its source."""
    rows = [
        {"hyp": "The ferry leaves at noon.", "ref": "The ferry departs at noon.", "src": "Die Fähre fährt."},
        {"hyp": "Es regnet im Norden.", "ref": "It rains in the north.", "src": "Es regnet im Norden."},
        {"hyp": "A storm is near.", "ref": "A storm is close.", "src": "Ein Sturm ist nah."},
    ]
    path = tmp_path / "odd.jsonl"
    write(path, rows)
    return str(path)


def test_distrusted_outputs_are_counted_beside_the_mean_in_every_form(odd, tmp_path, capsys):
    assert main(["score", odd, "-m", "chrf,ter", "--no-cache", "--html", str(tmp_path / "page.html")]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].split() == ["system", "chrf", "ter", "↓", "n", "flagged"]
    assert printed.out.splitlines()[2].split()[-2:] == ["3", "1"]
    assert "flagged: outputs that a guard distrusts" in printed.out
    assert "note: input: 1 of 3 segments have a hypothesis that is its source, or nearly" in printed.out
    assert main(["score", odd, "-m", "chrf,ter", "--no-cache", "-v"]) == 0
    named = capsys.readouterr().out
    assert "note: input: 1 of 3 segments (2) have a hypothesis that is its source, or nearly" in named
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert ">flagged</th>" in page
    assert '<td class="number">1</td></tr>' in page
    assert main(["score", odd, "-m", "chrf", "--no-cache", "-f", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["n_flagged"], row["guards.copied"]) == (1, 1)


def test_distrusted_outputs_are_refused_or_not_looked_for(odd, capsys):
    assert main(["score", odd, "-m", "chrf", "--no-cache", "--guards", "refuse"]) == 2
    refused = capsys.readouterr()
    assert refused.out == ""
    assert refused.err.startswith("nlgauge: segment '2' (number 2 of 3) has a hypothesis that is its source, or nearly")
    assert refused.err.count("\n") == 1
    assert main(["score", odd, "-m", "chrf", "--no-cache", "--guards", "off"]) == 0
    unseen = capsys.readouterr()
    assert "flagged" not in unseen.out
    assert "input" not in unseen.out
    assert main(["score", odd, "-m", "chrf", "--guards", "of"]) == 2
    assert "guards is 'of'; did you mean 'off'" in capsys.readouterr().err


def test_ratings_of_a_table_of_their_own_are_a_metric(tmp_path, monkeypatch, capsys):
    """Means over raters, then over items: A (2, 4), 5 and B 1, 3, so 4 and 2."""
    monkeypatch.chdir(tmp_path)
    for system in "AB":
        (tmp_path / f"{system}.csv").write_text(f"id,output,gold\n1,{system} one,a one\n2,{system} two,a two\n")
    rows = ["item,system,annotator,q", "1,A,ann,2", "1,A,bob,4", "2,A,ann,5", "1,B,ann,1", "2,B,bob,3"]
    (tmp_path / "ratings.csv").write_text("\n".join(rows))
    typed = ["score", "A.csv", "B.csv", "--judgements", "ratings.csv", "-m", "human.q", "-m", "chrf"]
    assert run(*typed, "--significance", "randomization", "--json", "r.json") == 0
    result = json.loads((tmp_path / "r.json").read_text())
    means = {row["system"]: row["value"] for row in result["rows"] if row["metric"] == "human.q"}
    assert means == {"A": 4.0, "B": 2.0}
    assert [entry["path"] for entry in result["inputs"]] == ["A.csv", "B.csv", "ratings.csv"]
    capsys.readouterr()
    assert "--judgements joins ratings to a data file" in refused(capsys, "score", "-i", "A.csv", *typed[3:])
    parts = ["--engine", "pool:dry_run=true"]
    assert "--judgements is not known in parts" in refused(capsys, *typed, *parts)


def test_a_metric_with_its_options_has_a_name_of_the_users(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))  # names are known in one process
    (tmp_path / "comet.one").write_text("0.5\n0.25\n0.75\n")
    (tmp_path / "comet.two").write_text("1\n1\n0.25\n")
    rows = [json.loads(line) for line in (tmp_path / "data.jsonl").read_text().splitlines()]
    write(tmp_path / "data.jsonl", [{**row, "seg": str(int(row["seg"]) + 1)} for row in rows])  # lines count from 1
    typed = ["score", data, "-m", 'COMET=scores:file="comet.{system}"', "-m", "Words=chrf:word_order=2", "-f", "json"]
    assert run(*typed) == 0
    result = json.loads(capsys.readouterr().out)
    assert [metric["spec"] for metric in result["metrics"]] == ["COMET", "Words"]
    assert "|word_order:2|" in result["metrics"][1]["signature"]
    assert {row["system"]: row["value"] for row in result["rows"] if row["metric"] == "COMET"} == {
        "one": 0.5,
        "two": 0.75,
    }
    typed = ["-m", "Words=chrf:word_order=2", "Mean=rougeL:references=mean", "chrf:beta=1", "--fail-under", "Words=99"]
    assert run("score", data, *typed, "-f", "json") == 3
    result = json.loads(capsys.readouterr().out)
    assert [metric["spec"] for metric in result["metrics"]] == ["Words", "Mean", "chrf:beta=1"]
    assert "references:mean" in result["metrics"][1]["signature"]
    capsys.readouterr()
    for spec, said in (
        ("bleu=chrf", "'bleu' is another metric; give a name that none has"),
        ("Sum=0.5*chrf + 0.5*bleu", "only a metric that is no sum takes a name"),
        ("Mine=nosuch", "unknown metric 'nosuch'"),
    ):
        assert said in refused(capsys, "score", data, "-m", spec)


def test_the_texts_with_the_worst_scores_are_shown_in_the_direction_of_the_metric(data, tmp_path, capsys):
    target, page = tmp_path / "out.json", tmp_path / "out.html"
    arguments = ["-m", "chrf", "-m", "ter", "--worst", "2", "ter", "--json", target, "--html", page]
    assert run("score", data, *arguments) == 0
    found = json.loads(target.read_text(encoding="utf-8"))
    values = ng.score(ng.read(data), metrics=["ter"])["ter"]
    order = sorted(range(6), key=lambda i: -values.values[i])[:2]
    assert [(row["id"], row["value"]) for row in found["worst"]] == [(values.ids[i], values.values[i]) for i in order]
    assert {(row["metric"], row["n"], row["n_undefined"]) for row in found["worst"]} == {("ter", 6, 0)}
    first = found["worst"][0]
    said = capsys.readouterr().out
    assert "the 2 worst of 6 segments by ter" in said
    assert f"  {first['id']} ({first['system']})  {first['value']:.2f}\n    hypothesis  {first['hyp']}\n" in said
    assert all(text in page.read_text(encoding="utf-8") for text in (first["hyp"], *first["refs"]))
    assert [*read_result(target).worst] == found["worst"]
    assert run("score", data, *arguments[:-4], "-f", "markdown") == 0
    assert f"| {first['id']} ({first['system']}) | {first['value']:.2f} | {first['hyp']} |" in capsys.readouterr().out


def test_blocks_of_a_stream_keep_no_more_than_the_worst(tmp_path, capsys):
    rows = [{"id": str(i), "hyp": "a b c" if i % 700 else "z", "refs": ["a b c"]} for i in range(2500)]
    assert run("score", write(tmp_path / "many.jsonl", rows), "-m", "chrf", "--worst", "3", "chrf", "-f", "json") == 0
    found = json.loads(capsys.readouterr().out)["worst"]
    assert [(row["id"], row["n"]) for row in found] == [("0", 2500), ("700", 2500), ("1400", 2500)]


def test_a_text_without_a_score_is_named_apart_and_ratings_have_a_worst_too(tmp_path, capsys):
    rows = [{"id": str(i), "hyp": "a", "refs": ["a"], "human.good": rating} for i, rating in enumerate([3, None, 1])]
    rated = write(tmp_path / "rated.jsonl", rows)
    assert run("score", rated, "-m", "human.good", "--worst", "1", "human.good") == 0
    said = capsys.readouterr().out
    assert "the worst of 2 segments by human.good; 1 segment without a score, last here\n  2  1.00\n" in said
    assert "\n  1  undefined\n" in said


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--worst", "2", "chr"], "--worst: 'chr' is not among the metrics scored; did you mean 'chrf'?"),
        (["--worst", "0", "chrf"], "the number of the worst segments is 0, expected a whole number, 1 or more"),
        (["--worst", "chrf", "2"], "Invalid value for '--worst'"),
        (["--worst", "2", "length_ratio"], "--worst: length_ratio judges nothing"),
        (["--worst", "2", "chrf", "-f", "csv"], "--worst shows texts, for which numbers alone have no place"),
        (["--worst", "2", "chrf", "-b"], "--worst shows texts, for which numbers alone have no place"),
        (["--worst", "2", "chrf", "--engine", "pool", "-o", "parts"], "--worst is not known in parts"),
    ],
)
def test_a_worst_that_cannot_be_is_refused(data, capsys, more, said):
    assert said in refused(capsys, "score", data, "-m", "chrf", "-m", "length_ratio", *more)
