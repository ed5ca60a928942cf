"""`nlgauge synth`: triples from raw lines, the same however often the run was stopped."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path

import pytest
from tests.cli.command import refused, run, write

import nlgauge as ng
from nlgauge.cli import synth as module
from nlgauge.perturbations import synthesis as run_module

TEXTS = [
    "The old ferry leaves the harbour at seven, and nobody waits for it.",
    "Two engineers repaired the long bridge before the market opened.",
    "",
    "Her brother never said that he would sell the house.",
    "Rain.",
    "12 345 6",
    "word " * 90,
]
PLAIN = ("--infill", "lexicon", "--severity", "none")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    return path


def triples(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_triples_are_what_python_makes(texts):
    out = texts.with_name("triples.jsonl")
    assert run("synth", texts, "-o", out, *PLAIN, "--seed", 3, "--operations", "swap,delete", "-q") == 0
    rows = triples(out)
    assert [row["id"] for row in rows] == ["1", "2", "4"]
    found = ng.synthesize(TEXTS, infill="lexicon", judge=None, severity="none", seed=3, operations=["swap", "delete"])
    assert rows == [
        one.as_row(row["id"]) for one, row in zip([one for one in found if one is not None], rows, strict=True)
    ]
    assert sorted(os.listdir(texts.parent)) == ["texts.txt", "triples.jsonl"]


def test_lines_that_cannot_be_edited_are_counted_by_reason(texts, capsys):
    assert run("synth", texts, "-o", texts.with_name("t.jsonl"), *PLAIN) == 0
    out, err = capsys.readouterr()
    assert err == "left alone: 4 texts (empty 1, one word 1, no letters 1, too long 1)\n"
    assert out.startswith("3 triples, ")
    shares = [float(x) for x in re.findall(r"([\d.]+) %", out)]
    assert sum(shares[:-2:2]) == pytest.approx(100, abs=0.3)  # four shares rounded to a tenth


def test_variants_bear_their_number(texts):
    out = texts.with_name("t.jsonl.gz")
    assert run("synth", texts, "-o", out, *PLAIN, "--variants", 2, "--limit", 2, "-q") == 0
    assert [row["id"] for row in triples(out)] == ["1/0", "1/1", "2/0", "2/1"]


def test_a_run_that_was_stopped_goes_on_to_the_same_triples(texts, monkeypatch, capsys):
    whole, out = texts.with_name("whole.jsonl"), texts.with_name("t.jsonl")
    assert run("synth", texts, "-o", whole, *PLAIN, "--variants", 2, "-q") == 0
    monkeypatch.setattr(run_module, "PORTION", 2)
    calls = []

    class Stopped(module.Synthesizer):
        def __call__(self, portion, ids=None):
            calls.append(list(portion))
            if len(calls) == 3:
                raise KeyboardInterrupt
            return super().__call__(portion, ids)

    monkeypatch.setattr(module, "Synthesizer", Stopped)
    assert run("synth", texts, "-o", out, *PLAIN, "--variants", 2) == 130
    assert not out.exists()
    capsys.readouterr()
    assert run("synth", texts, "-o", out, *PLAIN, "--variants", 2) == 0
    assert "note: 4 texts were done before" in capsys.readouterr().err
    assert calls[3:] == [TEXTS[4:6], TEXTS[6:]]
    assert out.read_bytes() == whole.read_bytes()
    assert not os.path.exists(f"{out}.part")


def test_a_part_of_other_columns_is_told_and_replaced(tmp_path, capsys):
    data, out = tmp_path / "d.tsv", tmp_path / "t.jsonl"
    data.write_text("a\tb\n" + "".join(f"{x} one two three\t{x} four five six\n" for x in "xyz"), encoding="utf-8")
    how = (data, "-o", out, *PLAIN)
    journal = {}

    class Kept(module.Journal):
        def finish(self):
            journal["part"] = Path(self._part).read_bytes()
            super().finish()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Journal", Kept)
        assert run("synth", *how, "--columns", "hyp=a") == 0
    capsys.readouterr()
    Path(f"{out}.part").write_bytes(journal["part"])
    assert run("synth", *how, "--columns", "hyp=b") == 0
    assert "t.jsonl.part was of a run with other settings" in capsys.readouterr().err
    assert all("four" in row["refs"][0] for row in triples(out))


def test_a_part_of_other_settings_is_told_and_replaced(texts, capsys):
    out = texts.with_name("t.jsonl")
    texts.with_name("t.jsonl.part").write_text('{"signature":"another"}\n{"taken":3,"state":{},"rows":[]}\n')
    assert run("synth", texts, "-o", out, *PLAIN) == 0
    assert "t.jsonl.part was of a run with other settings" in capsys.readouterr().err
    assert len(triples(out)) == 3


def test_the_ladder_is_shown_in_the_terminal_and_on_a_page(texts, capsys):
    page = texts.with_name("page.html")
    assert run("synth", texts, *PLAIN, "--operations", "delete", "--show", "--html", page, "--limit", 1) == 0
    out = capsys.readouterr().out
    (one,) = ng.synthesize(TEXTS[0], infill="lexicon", judge=None, severity="none", operations=["delete"])
    shown = re.findall(r"^(\d)  (delete|insert|replace|swap)", out, flags=re.M)
    assert shown == [(str(i + 1), "delete") for i in range(len(one.steps))]
    assert "{+new+}  [-gone-]  {~moved~}" in out
    assert page.read_text(encoding="utf-8").count("<del>") == len(one.steps) + 1  # and the legend


def test_the_result_holds_settings_and_shares(texts):
    result = texts.with_name("r.json")
    assert run("synth", texts, "--json", result, *PLAIN, "--seed", 2, "-q") == 0
    found = json.loads(result.read_text())
    assert found["kind"] == "synth"
    assert "|seed:2|" in found["metrics"][0]["signature"]
    assert found["inputs"][0]["path"] == str(texts)
    *rows, total = found["rows"]
    assert total["operation"] == "all"
    assert total["edits"] == sum(row["edits"] for row in rows)
    assert total["score"] == pytest.approx(-total["edits"] / total["texts"])  # each edit counts one
    assert found["notes"] == ["left alone: 4 texts (empty 1, one word 1, no letters 1, too long 1)"]


def test_texts_that_are_all_left_alone_make_an_empty_file(tmp_path, capsys):
    (tmp_path / "t.txt").write_text("Rain.\n\n")
    assert run("synth", tmp_path / "t.txt", "-o", tmp_path / "t.jsonl", *PLAIN) == 0
    assert capsys.readouterr().out == "no triples: every text was left alone\n"
    assert (tmp_path / "t.jsonl").read_bytes() == b""


def test_the_references_of_a_data_set_are_texts(tmp_path):
    rows = [{"id": f"s{i}", "hyp": "a hypothesis", "refs": [text]} for i, text in enumerate(TEXTS[:2])]
    write(tmp_path / "data.jsonl", rows)
    assert run("synth", tmp_path / "data.jsonl", "-o", tmp_path / "t.jsonl", *PLAIN, "-q") == 0
    assert [(row["id"], row["refs"]) for row in triples(tmp_path / "t.jsonl")] == [
        ("s0", TEXTS[:1]),
        ("s1", TEXTS[1:2]),
    ]


def pairs(path):
    """What changes nothing, and what says something else."""
    rows = [{"text": t, "changed": t, "minor": True} for t in TEXTS[:2]]
    rows += [{"text": t, "changed": "The moon is made of cheese.", "minor": False} for t in TEXTS[:2]]
    return write(path, rows)


@pytest.mark.parametrize(
    ("options", "unread"),
    [
        (PLAIN, ["--infill lexicon: 2 of 3 texts (2, 3) look Cyrillic: the filler reads English"]),
        ((*PLAIN, "--limit", 2), ["--infill lexicon: 1 of 2 texts (2) look Cyrillic: the filler reads English"]),
        ((*PLAIN, "--operations", "swap,delete"), []),  # needs no filler
        (
            ("--infill", "lexicon", "--operations", "swap"),
            ["--judge nli-robust: 2 of 3 texts (2, 3) look Cyrillic: the judge reads English"],
        ),
    ],
)
def test_texts_that_the_models_do_not_read_are_noted_before_they_are_edited(options, unread, tmp_path, capsys):
    texts, found = tmp_path / "texts.txt", tmp_path / "result.json"
    texts.write_text(f"{TEXTS[0]}\nСтарый паром уходит из гавани в семь.\nДождь.\n", encoding="utf-8")
    assert run("synth", texts, "-o", tmp_path / "t.jsonl", "--json", found, *options) == 0
    advice = "; name a model of that language (page 'guides/translation' of the documentation)"
    assert json.loads(found.read_text("utf-8"))["notes"][: len(unread)] == [line + advice for line in unread]
    told = capsys.readouterr().err
    assert [line + advice in told for line in unread] == [True] * len(unread)
    assert ("Cyrillic" in told) is bool(unread)


def test_a_judge_is_calibrated_and_its_threshold_used(texts, capsys):
    labelled, out = pairs(texts.with_name("pairs.jsonl")), texts.with_name("r.json")
    assert run("synth", "--calibrate", labelled) == 0
    told = capsys.readouterr().out
    threshold = float(re.search(r"threshold of nli-robust: ([\d.]+); balanced accuracy 1.000", told)[1])
    assert 0 < threshold < 1
    assert run("synth", texts, "--calibrate", labelled, "--infill", "lexicon", "--limit", 1, "--json", out, "-q") == 0
    signature = json.loads(out.read_text())["metrics"][0]["signature"]
    assert float(re.search(r"\|threshold:([\d.]+)\|", signature)[1]) == pytest.approx(
        threshold, rel=1e-3
    )  # four digits are shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "no texts are given"),
        (("texts.txt",), "nothing would be kept"),
        (("texts.txt", "-o", "texts.txt"), "would be written over the input"),
        (("texts.txt", "-o", "t.jsonl", "--operations", "insert,move"), "operations has 'move'"),
        (("texts.txt", "-o", "t.jsonl", "--operations", ","), "operations is empty"),
        (
            ("texts.txt", "-o", "t.jsonl", "--json", "t.jsonl.part"),
            "the unfinished --output t.jsonl.part would be written over --json",
        ),
        (("texts.txt", "-o", "t.jsonl", "--severity", "hard"), "severity is 'hard'"),
        (
            ("texts.txt", "-o", "t.jsonl", "--operations", "swap", "--set", "span=3"),
            "--set span is about delete and replace, which --operations leaves out",
        ),
        (
            ("texts.txt", "-o", "t.jsonl", "--operations", "insert", "--set", "swap_window=2"),
            "--set swap_window is about swap",
        ),
        (("texts.txt", "-o", "t.jsonl", "--set", "operations=insert"), "which operations are drawn is --operations"),
        (("texts.txt", "-o", "t.jsonl", "--set", "edits=0"), "edits is 0.0, expected 0.01 to 100"),
        (("texts.txt", "-o", "t.jsonl", "--set", "edit=2"), "--set has no option 'edit'; did you mean 'edits' or"),
        (("texts.txt", "-o", "t.jsonl", "--edits", "2"), "--edits is now a part of --set, as in --set edits=8"),
        (("texts.txt", "-o", "t.jsonl", "--judge", "no/such/folder"), "no/such/folder"),
        (("missing.txt", "-o", "t.jsonl"), "missing.txt: no such file"),
        (("texts.txt", "-o", "no/t.jsonl"), "there is no folder"),
        (("texts.txt", "-o", "t.jsonl", "--calibrate", "texts.txt", "--threshold", "0.5"), "--threshold names one"),
        (("--calibrate", "texts.txt"), "texts.txt:1: no JSON"),
    ],
)
def test_what_cannot_be_done_is_one_line(texts, capsys, monkeypatch, arguments, told):
    monkeypatch.chdir(texts.parent)
    given = [a if a != "texts.txt" else str(texts.name) for a in arguments]
    if "--infill" not in given and any("t.jsonl" in a for a in given):
        given += ["--infill", "lexicon"]
    assert told in refused(capsys, "synth", *given)
    assert os.listdir(texts.parent) == ["texts.txt"]


def test_the_output_may_be_a_stream(texts, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert run("synth", texts, "-o", tmp_path / "pipe", *PLAIN, "--limit", 1, "-q") == 0
    assert json.loads(os.read(reader, 1 << 16))["refs"] == TEXTS[:1]
    os.close(reader)


def test_the_papers_synthesis_stands_where_nothing_else_is_typed(texts, monkeypatch):
    class Asked(Exception):
        pass

    def maker(draws, **how):
        raise Asked(draws, how)

    monkeypatch.setattr(module, "Synthesizer", maker)

    def asked(*typed):
        with pytest.raises(Asked) as told:
            run("synth", texts, "-o", texts.with_name("t.jsonl"), "--preset", "paper", *typed)
        return told.value.args

    draws, how = asked("--set", "span=2")
    assert (draws.edits, draws.max_edits, draws.span, draws.swap_window, draws.top_k) == (5, 5, 2, 4, 4)
    assert how["infill"] == ["facebook/mbart-large-50", "FacebookAI/xlm-roberta-large"]
    assert (how["infill_language"], how["judge"], how["threshold"]) == ("en_XX", "FacebookAI/roberta-large-mnli", 0.9)
    _, how = asked("--judge", "nli-robust", "--infill", "lexicon")  # the default, but typed
    assert (how["infill"], how["infill_language"]) == (["lexicon"], None)
    assert (how["judge"], how["threshold"]) == ("nli-robust", 0.9)
    _, how = asked("--severity", "none")
    assert (how["judge"], how["threshold"], how["severity"]) == (None, None, "none")


def test_the_language_of_a_filler_can_be_named(texts, many_languages, capsys):
    own = ("--severity", "none", "--operations", "swap", "--limit", 1)  # what random weights write rarely fits
    out = texts.with_name("t.jsonl")
    assert run("synth", texts, "-o", out, *own, "--infill", many_languages, "--set", "infill_language=de_DE") == 0
    assert "infill_language:de_DE" in capsys.readouterr().out
    err = refused(capsys, "synth", texts, "-o", out, *own, "--infill", "lexicon", "--set", "infill_language=de_DE")
    assert "infill_language is 'de_DE', but lexicon marks no languages" in err


def test_errors_in_a_paraphrase_are_scored_against_the_other(tmp_path, capsys):
    data, out = tmp_path / "pairs.tsv", tmp_path / "t.jsonl"
    write(data, ["hyp\tref", f"{TEXTS[0]}\t{TEXTS[1]}"])
    assert run("synth", data, "-o", out, *PLAIN, "--paraphrase", "pairs", "--variants", 2, "--show") == 0
    rows = {row["id"]: row for row in triples(out)}
    assert list(rows) == ["1/0", "1/1", "1/untouched", "1.2/0", "1.2/1", "1.2/untouched"]
    for name, row in rows.items():
        own, other = TEXTS[:2] if name.startswith("1/") else (TEXTS[1], TEXTS[0])
        assert (row["original"], row["refs"]) == (own, [other])
        assert (row["hyp"] == own and row["score"] == 0.0) == name.endswith("untouched")
    alone = ng.synthesize(TEXTS[:1], infill="lexicon", judge=None, severity="none")[0]
    assert rows["1/0"]["hyp"] == alone.text  # the errors are those that the text gets without its paraphrase
    shown = capsys.readouterr().out
    assert f"0                  {TEXTS[0][:40]}" in shown  # the ladder begins with the original
    assert "4 triples, " in shown


def test_a_word_that_names_no_kind_of_paraphrase_is_refused(texts, capsys):
    out = texts.with_name("t.jsonl")
    assert "'both', expected references or pairs" in refused(capsys, "synth", texts, "-o", out, "--paraphrase", "both")
    assert "--paraphrase is about TEXTS" in refused(
        capsys, "synth", "--calibrate", texts, "--paraphrase", "pairs", "--json", out
    )
