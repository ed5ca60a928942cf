"""Suites: every layout read into pairs, told apart by its fields; what is wrong is named with its line."""

import csv
import json
import os
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.suites.suites import LAYOUTS, paraphrases_in, read_suite


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def table(path, rows, delimiter="\t"):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerows(rows)
    return path


def test_our_own_pairs(tmp_path):
    texts = {"src": "s", "ref": "r", "better": "b", "worse": "w"}
    row = {"id": "p1", "phenomenon": "name", "criterion": "adequacy", **texts, "expect": "same", "lp": "x-y"}
    (pair,) = read_suite(lines(tmp_path / "p.jsonl", [row])).pairs
    assert (pair.id, pair.phenomenon, pair.error, pair.criterion) == ("p1", "name_error", "name", "adequacy")
    assert (pair.source, pair.references, pair.better, pair.worse) == ("s", ("r",), "b", "w")
    assert (pair.expect, pair.group, pair.setup) == ("same", "x-y", "any")


def test_pairs_of_ids_keep_what_their_rows_say(tmp_path):
    data = Dataset((Segment("a", "good", ("r",)), Segment("b", "fine", ("r",)), Segment("c", "else", ("q",))))
    row = {"better_id": "a", "worse_id": "b", "expect": "same", "task": "mt", "setup": "ref", "error": "own"}
    (pair,) = read_suite(lines(tmp_path / "p.jsonl", [row]), data).pairs
    assert (pair.better, pair.worse, pair.references) == ("good", "fine", ("r",))
    assert (pair.expect, pair.task, pair.setup, pair.error) == ("same", "mt", "ref", "own")
    other = lines(tmp_path / "q.jsonl", [{"better_id": "a", "worse_id": "c"}])
    with pytest.raises(InputError, match=r"q\.jsonl:1: better 'a' and worse 'c' have other references"):
        read_suite(other, data)


def test_pairs_of_ids_are_joined_with_segments(tmp_path):
    data = Dataset((Segment("a", "good", ("r",), "s", group="x"), Segment("b", "bad", ("r",), "s")), "data.jsonl")
    path = lines(tmp_path / "p.jsonl", [{"better_id": "a", "worse_id": "b"}])
    (pair,) = read_suite(path, data).pairs
    assert (pair.better, pair.worse, pair.references, pair.source, pair.group) == ("good", "bad", ("r",), "s", "x")
    named_like_texts = lines(tmp_path / "n.jsonl", [{"better": "a", "worse": "b"}])
    assert read_suite(named_like_texts, data).pairs[0].better == "good"
    numbers = Dataset((Segment("1", "good", ("r",)), Segment("2", "bad", ("r",))), "data.jsonl")
    by_number = read_suite(lines(tmp_path / "i.jsonl", [{"better": 1, "worse": 2}]), numbers)
    assert (by_number.pairs[0].better, by_number.notes) == ("good", ())
    with pytest.raises(InputError, match=r"l\.jsonl:1: field 'better' is \['a'\], expected a text"):
        read_suite(lines(tmp_path / "l.jsonl", [{"better": ["a"], "worse": "b"}]), data)
    with pytest.raises(InputError, match="give the file with the segments"):
        read_suite(path)
    wrong = lines(tmp_path / "q.jsonl", [{"better_id": "a", "worse_id": "bb"}])
    with pytest.raises(InputError, match=r"q\.jsonl:1: worse is segment 'bb', which is not in data\.jsonl"):
        read_suite(wrong, data)


def test_adversarial_rows_make_a_pair_for_each_kind_of_metric(tmp_path):
    texts = {"src": "s", "ref": "r", "r": "m", "cand_para": "p", "cand_adv_ref": "a", "cand_adv_src": "b"}
    row = {"id": "1", "phenomenon": "typo", "error": "typo", "lp": "fr-en", **texts}
    by_reference, by_source = read_suite(lines(tmp_path / "a.jsonl", [row])).pairs
    assert (by_reference.better, by_reference.worse, by_reference.references, by_reference.setup) == (
        "p",
        "a",
        ("r",),
        "ref",
    )
    assert (by_source.better, by_source.worse, by_source.references, by_source.setup) == ("r", "b", (), "src")
    assert by_reference.phenomenon == "typos"
    assert by_reference.error == "typo"


def test_menli_csv_with_quotes_and_repaired_columns(tmp_path):
    header = ["error", "id", "source", "ref", "r", "hyp_para", "hyp_adv_based", "hyp_adv_free"]
    rows = [header, ["word_NN", "7", "s", 'a "b", c', "m", "p", "a", "f"], ["add", "7", "s", "r", "m", "p", "a", "f"]]
    suite = read_suite(table(tmp_path / "data.csv", rows, ","))
    assert [(p.phenomenon, p.setup) for p in suite] == [
        ("mismatch_noun", "ref"),
        ("mismatch_noun", "src"),
        ("addition", "ref"),
        ("addition", "src"),
    ]
    assert suite.pairs[0].references == ('a "b", c',)
    fixed = [
        ["error", "id", "ref", "hyp_para", "hyp_para_fixed", "hyp_adv_based_fixed"],
        ["drop", "1", "r", "p", "pf", "af"],
    ]
    suite = read_suite(table(tmp_path / "fixed.csv", fixed, ","))
    assert [(p.better, p.worse) for p in suite] == [("pf", "af")]
    assert "repaired columns" in suite.notes[0]


def test_aces(tmp_path):
    texts = {"source": "s", "good-translation": "g", "incorrect-translation": "i", "reference": "r"}
    row = {**texts, "phenomena": "antonym-replacement", "langpair": "de-en"}
    (pair,) = read_suite(lines(tmp_path / "aces.jsonl", [row])).pairs
    assert (pair.better, pair.worse, pair.references, pair.source) == ("g", "i", ("r",), "s")
    assert (pair.phenomenon, pair.group) == ("antonym-replacement", "de-en")


def test_demetr_leaves_failed_rows_and_the_baseline_out(tmp_path):
    texts = {"src_sent": "s", "eng_sent": "e", "mt_sent": "m", "pert_sent": "p"}
    row = {"id": 1, **texts, "lang_tag": "german", "pert_check": True, "pert_name": "critical_id8_negation"}
    rows = [row, {**row, "pert_check": False}, {**row, "pert_name": "base_id35_reference"}]
    path = tmp_path / "demetr.json"
    path.write_text(json.dumps(rows))
    suite = read_suite(path)
    (pair,) = suite.pairs
    assert (pair.phenomenon, pair.error, pair.better, pair.worse, pair.references) == (
        "negation",
        "critical_id8_negation",
        "m",
        "p",
        ("e",),
    )
    assert len(suite.notes) == 2


def test_paws_pairs_share_their_first_sentence(tmp_path):
    rows = [
        ["id", "sentence1", "sentence2", "label"],
        ["1", "a", "a'", "1"],
        ["2", "a", "not a", "0"],
        ["3", "b", "b'", "1"],
    ]
    path = table(tmp_path / "paws.tsv", rows)
    suite = read_suite(path)
    assert [(p.better, p.worse, p.references) for p in suite] == [("a'", "not a", ("a",))]
    assert "1 sentences have only paraphrases" in suite.notes[0]
    assert paraphrases_in(path) == {"a": ["a'"], "a'": ["a"], "b": ["b'"], "b'": ["b"]}


def test_rank19_as_a_list_and_as_segments(tmp_path):
    path = tmp_path / "val.json"
    path.write_text(json.dumps([{"article_sent": "s", "correct_sent": "c", "incorrect_sent": "i"}]))
    (pair,) = read_suite(path).pairs
    assert (pair.better, pair.worse, pair.source) == ("c", "i", "s")
    rows = [
        {"id": f"{i}|{s}", "seg": str(i), "system": s, "src": "s", "refs": [], "hyp": s}
        for i in range(2)
        for s in ("correct", "incorrect")
    ][:3]
    suite = read_suite(lines(tmp_path / "segments.jsonl", rows))
    assert [(p.id, p.better, p.worse) for p in suite] == [("0", "correct", "incorrect")]
    assert "1 has no incorrect sentence" in suite.notes[0]
    with pytest.raises(InputError, match=r"t\.jsonl:4: a second correct sentence for seg '0'; .*t\.jsonl:1$"):
        read_suite(lines(tmp_path / "t.jsonl", [*rows, {**rows[0], "id": "again"}]))


def test_paraphrase_tables(tmp_path):
    rows = [{"text": "a", "paraphrase": "b"}, {"text": "a", "paraphrases": ["c", "d"]}]
    assert paraphrases_in(lines(tmp_path / "p.jsonl", rows)) == {"a": ["b", "c", "d"]}
    with pytest.raises(InputError, match="expected 'text' and 'paraphrase'"):
        paraphrases_in(lines(tmp_path / "q.jsonl", [{"texts": "a"}]))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"better": "b"}, "no layout of a suite is known"),
        ({"better": "b", "worse": ["w"]}, "'worse' is"),
        ({"better": "b", "worse": None}, "no field 'worse'"),
        ({"better": "b", "worse": "w", "expect": "higher"}, "known: lower, same"),
        ({"better": "b", "worse": "w", "refs": "r"}, "expected a list"),
        ({"better": "b", "worse": "w", "setup": "x"}, "known: any, ref, src"),
        ({"better": "b", "worse": "w", "context": ["hi"]}, "turns"),
        ({"sentence1": "a", "sentence2": "b", "label": 3}, "expected 0 or 1"),
        ({"hyp": "h", "seg": "1", "system": "best"}, "expected correct or incorrect"),
    ],
)
def test_bad_rows_are_named(tmp_path, row, told):
    with pytest.raises(InputError, match=told) as raised:
        read_suite(lines(tmp_path / "bad.jsonl", [row]))
    assert "bad.jsonl" in str(raised.value)


@pytest.mark.parametrize(("name", "content"), [("e.jsonl", b""), ("e.tsv", b"better\tworse\n"), ("e.json", b"[]")])
def test_nothing_in_the_file(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="no pair in it"):
        read_suite(tmp_path / name)


def test_an_unknown_layout_names_the_nearest(tmp_path):
    with pytest.raises(InputError, match="did you mean 'paws'"):
        read_suite(lines(tmp_path / "p.jsonl", [{"better": "b", "worse": "w"}]), layout="pawz")
    assert "pairs" in LAYOUTS


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="evaluation data are not at hand")
@pytest.mark.parametrize(
    ("name", "pairs"), [("xpaws-fr-adv/adversarial.jsonl.gz", 3000), ("rank19/segments.jsonl.gz", 373)]
)
def test_published_suites_are_read_as_they_are(name, pairs):
    suite = read_suite(Path(os.environ["NLGAUGE_DATA"]) / name)
    assert len(suite) == pairs


def test_fields_of_other_names_are_named(tmp_path):
    path = lines(tmp_path / "p.jsonl", [{"good": "b", "bad": "w", "ref": "r", "better": "not this"}])
    (pair,) = read_suite(path, columns={"better": "good", "worse": "bad"}).pairs
    assert (pair.better, pair.worse, pair.references) == ("b", "w", ("r",))
    with pytest.raises(InputError, match=r"p.jsonl:1: no field 'nice', which columns names; fields found: 'good', "):
        read_suite(path, columns={"better": "nice"})


def test_adversarial_rows_of_one_origin_are_told(tmp_path):
    row = {"phenomenon": "negation", "lp": "de-en", "src": "s", "ref": "r", "cand_para": "p", "cand_adv_ref": "a"}
    rows = [{**row, "id": str(i), "ref": f"r{i}", "origin_id": f"o{i // 2}"} for i in range(4)]
    path = tmp_path / "adversarial.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    assert [pair.origin for pair in read_suite(path)] == [("cluster", f"o{i // 2}") for i in range(4)]
    path.write_text("".join(json.dumps({k: v for k, v in one.items() if k != "origin_id"}) + "\n" for one in rows))
    assert [pair.origin for pair in read_suite(path)] == [("text", f"r{i}") for i in range(4)]
