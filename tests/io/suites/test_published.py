"""A row of each published suite, as its authors publish it, makes the pair that it stands for."""

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.suites.published import (
    PUBLISHED,
    bump,
    faithbench_pairs,
    fbi,
    files_of,
    hwtsc22,
    llmbar,
    name_of,
    read_minor,
    read_published,
    summedits,
)
from nlgauge.io.suites.rows import Cells
from nlgauge.io.suites.suites import read_suite

HWTSC = {
    "source": "他有三只猫。",
    "good-translation": "He has three cats.",
    "incorrect-translation": "He has four cats.",
    "reference": "He owns 3 cats.",
    "phenomena": "Number(Different Format)",
    "source.2": "Flores",
}
BUMP = {
    "id": 4,
    "article_id": 628,
    "article": "The bridge opened in May. It is long.",
    "reference_summary": "The bridge opened in May .",
    "edited_summary": "The bridge opened in June .",
    "error_type": "Extrinsic Entity Error",
    "corrected_error_type": "Extrinsic Circumstance Error",
}
SUMMEDITS = {
    "id": "news_1_3",
    "doc": "The shop sold ten lamps.",
    "summary": "The shop sold nine lamps.",
    "original_summary": "The shop sold ten lamps.",
    "label": 0,
    "edit_types": ["entity_modification"],
}
FBI = {"cdx": "f-7", "question": "How many moons?", "og": "Two moons.", "perturbed_gpt4": "Three moons."}
LLMBAR = {"input": "Say hello.", "output_1": "Goodbye.", "output_2": "Hello.", "label": 2}


def made(make, row, name="file.json", number=1, **changes):
    return make(Cells({**row, **changes}, f"{name}:2"), number, name)


@pytest.mark.parametrize(
    ("label", "phenomenon"),
    [
        ("Number(Thousand Separator)", "number_error"),
        ("Time & Date", "date_time"),
        ("Named Entity & Terminology", "name_error"),
        ("Unit Format", "unit"),
        ("Affirmation/Negation", "negation"),
    ],
)
def test_hwtsc22(label, phenomenon):
    pair = made(hwtsc22, HWTSC, phenomena=label)
    assert (pair.phenomenon, pair.error, pair.id, pair.group) == (phenomenon, label, "hwtsc22.000", "zh-en")
    assert (pair.source, pair.references, pair.meta["origin"]) == ("他有三只猫。", ("He owns 3 cats.",), "Flores")
    assert (pair.better, pair.worse) == ("He has three cats.", "He has four cats.")


def test_bump_takes_the_corrected_type_and_the_article():
    pair = made(bump, BUMP, "data/task1_dataset.json")
    assert (pair.id, pair.phenomenon, pair.cluster) == ("task1_dataset.4", "extrinsic_circumstance", "628")
    fields = ("article", "reference_summary", "edited_summary")
    assert (pair.source, pair.better, pair.worse) == tuple(BUMP[field] for field in fields)
    free = made(bump, BUMP, error_type="Intrinsic Predicate", corrected_error_type=None)  # as in task 2
    assert free.phenomenon == "intrinsic_predicate"


def test_summedits():
    pair = made(summedits, SUMMEDITS, "data/summedits_news.json")
    assert (pair.phenomenon, pair.expect, pair.meta["domain"]) == ("entity_modification", "lower", "news")
    assert (pair.better, pair.worse, pair.source) == (SUMMEDITS["original_summary"], SUMMEDITS["summary"], pair.better)
    kept = made(summedits, SUMMEDITS, label=1, summary="Ten lamps were sold by the shop.", edit_types=[])
    assert (kept.phenomenon, kept.expect) == ("consistent_edit", "same")
    assert made(summedits, SUMMEDITS, edit_types=["antonym_swap", "negation_insertion"]).phenomenon == "several_edits"
    assert made(summedits, SUMMEDITS, edit_types=[]).phenomenon == "other_edit"
    assert "seed summary itself" in made(summedits, SUMMEDITS, summary=SUMMEDITS["original_summary"], label=1)
    of_the_hub = {**SUMMEDITS, "seed_summary": "The shop sold ten lamps.", "domain": "podcast"}
    assert made(summedits, {k: v for k, v in of_the_hub.items() if k != "original_summary"}).meta["domain"] == "podcast"


def test_fbi_is_named_by_its_file_and_folder():
    pair = made(fbi, FBI, "fbi/factual/number-errors.tsv")
    assert (pair.id, pair.phenomenon, pair.meta["ability"]) == ("number-errors.f-7", "number_errors", "factual")
    assert (pair.better, pair.worse, pair.source) == ("Two moons.", "Three moons.", "How many moons?")
    assert made(fbi, FBI, "score-invariant/score_invariant.tsv").expect == "same"


def test_llmbar_takes_the_subset_from_the_folder():
    pair = made(llmbar, LLMBAR, "LLMBar/Adversarial/Manual/dataset.json", 3)
    assert (pair.id, pair.phenomenon, pair.better, pair.worse) == ("llmbar.Manual.002", "Manual", "Hello.", "Goodbye.")
    assert made(llmbar, LLMBAR, label=1).better == "Goodbye."


@pytest.mark.parametrize(
    ("make", "row", "changes", "told"),
    [
        (hwtsc22, HWTSC, {"phenomena": "Colour"}, "phenomena is 'Colour', expected one that begins Number"),
        (hwtsc22, HWTSC, {"reference": None}, "no field 'reference'"),
        (bump, BUMP, {"article": None}, "no field 'article'"),
        (summedits, SUMMEDITS, {"label": "yes"}, "'label' is 'yes', expected 1"),
        (summedits, SUMMEDITS, {"edit_types": "antonym_swap"}, "'edit_types' is 'antonym_swap', expected a list"),
        (fbi, FBI, {"og": None}, "no field 'og'"),
        (llmbar, LLMBAR, {"label": 0}, "'label' is 0, expected 1 or 2"),
    ],
)
def test_bad_rows_are_named_with_their_place(make, row, changes, told):
    with pytest.raises(InputError, match=told) as raised:
        made(make, row, **changes)
    assert str(raised.value).startswith("file.json:2: ")


# --- FaithBench: faithful beside unfaithful summaries of one source, by the worst label of a summary


def sample(i, source, *labels):
    return {"sample_id": i, "source": source, "summary": f"s{i}", "annotations": [{"label": [*own]} for own in labels]}


SAMPLES = [
    sample(0, "A", ("Unwanted", "Unwanted.Intrinsic"), ("Benign",)),
    sample(1, "A"),
    sample(2, "A", ("Benign",)),  # the authors do not count it
    sample(3, "A", ("Questionable",)),
    sample(4, "A", ("Unwanted.Extrinsic",), ("Unwanted", "Unwanted.Intrinsic")),  # both kinds
    sample(5, "B"),
    sample(6, "C", ("Unwanted",)),
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "batch_1.json").write_text(json.dumps({"samples": SAMPLES}, indent=1))
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "__MACOSX" / "batch_1.json").write_bytes(b"\0\5\26\7")
    (tmp_path / "._batch_1.json").write_bytes(b"\0\5\26\7")
    return tmp_path


def test_each_faithful_summary_stands_beside_each_unfaithful_one_of_its_source(folder):
    # of source A 1 and 2 are faithful, and 0, 3 and 4 are not: six pairs; B and C have one kind alone
    suite = ng.read_suite(folder, layout="faithbench")
    assert [(p.better, p.worse, p.phenomenon) for p in suite] == [
        ("s1", "s0", "unwanted_intrinsic"),
        ("s1", "s3", "questionable"),
        ("s1", "s4", "unwanted"),
        ("s2", "s0", "unwanted_intrinsic"),
        ("s2", "s3", "questionable"),
        ("s2", "s4", "unwanted"),
    ]
    assert {(p.source, p.cluster, p.task, p.references) for p in suite} == {("A", "A", "as", ())}
    assert suite.pairs[0].id == "batch_1.1>0"
    assert "2 sources have only faithful or only unfaithful summaries, and make no pair" in suite.notes
    found = ng.audit(ng.read_suite(folder, layout="faithbench"), metrics=["rouge1"])
    assert found.result().rows  # `source` stands for the references that the pairs do not have


def test_a_list_of_samples_is_read_as_well(tmp_path):
    (tmp_path / "batch_2.json").write_text(json.dumps(SAMPLES))
    placed, _, files = faithbench_pairs(tmp_path / "batch_2.json")
    assert len(placed) == 6
    assert placed[0][0].endswith("batch_2.json, sample 1")
    assert files == [str(tmp_path / "batch_2.json")]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no file of faithbench in this folder, expected batch_\*\.json"):
        faithbench_pairs(tmp_path / "empty")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "Input data was truncated"),
        (b'{"samples": 3}', "Expected `array`, got `int`"),
        (b'{"samples": [{"source": "a"}]}', "missing required field `summary`"),
        (
            b'{"samples": [{"source": "a", "summary": 3}]}',
            r"Expected `str`, got `int` - at `\$\[0\]\.summary`",
        ),
        (b'{"samples": [], "samples": []}', "samples"),
        (
            b'{"samples": [{"source": "a", "summary": "b", "annotations": [{"label": ["Bad"]}]}]}',
            "label 'Bad', expected",
        ),
        (b'{"samples": []}', "no pair in it, read as faithbench"),
        (b"\xff", "batch_1.json"),
        (b"[" * 100_000, "batch_1.json"),
    ],
)
def test_what_is_no_batch_is_refused_in_one_line(tmp_path, content, said):
    (tmp_path / "batch_1.json").write_bytes(content)
    with pytest.raises(InputError, match=said) as refused:
        ng.read_suite(tmp_path, layout="faithbench")
    assert "\n" not in str(refused.value)
    assert "batch_1.json" in str(refused.value) or str(tmp_path) in str(refused.value)


# --- Labelled pairs in three forms; a row of none of them is named with its line


def written(tmp_path, *rows):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def test_three_kinds_of_rows_say_what_is_minor(tmp_path):
    path = written(
        tmp_path,
        {"text": "a", "changed": "b", "minor": True, "kind": "typo"},
        {"text": "c", "changed": "d", "minor": False},
        "",
        {"id": "1", "better": "e", "worse": "f", "expect": "same", "phenomenon": "contractions"},
        {"id": "2", "better": "g", "worse": "h", "expect": "lower"},
        {"premise": "i", "hypothesis": "j", "label": "entailment"},  # the other direction is not known
        {"premise": "k", "hypothesis": "l", "label": "neutral"},
        {"premise": "m", "hypothesis": "n", "label": "contradiction"},
    )
    found, entries = read_minor(path)
    assert found == [
        ("a", "b", True),
        ("c", "d", False),
        ("e", "f", True),
        ("g", "h", False),
        ("k", "l", False),
        ("m", "n", False),
    ]
    assert entries[0]["path"] == str(path)
    assert len(entries[0]["sha256"]) == 64


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{", "pairs.jsonl:2: no JSON"),
        ([1], "pairs.jsonl:2: list, expected an object"),
        ({"text": "a", "minor": True}, "pairs.jsonl:2: 'text', 'minor', expected"),
        ({}, "pairs.jsonl:2: nothing, expected"),
        ({"text": "a", "changed": None, "minor": True}, "'changed' is NoneType, expected a text"),
        ({"text": "a", "changed": "b", "minor": 1}, "'minor' is 1, expected one of true, false"),
        (
            {"better": "a", "worse": "b", "expect": "higher"},
            "'expect' is 'higher', expected one of \"same\", \"lower\"",
        ),
        ({"premise": "a", "hypothesis": "b", "label": "-"}, "'label' is '-'"),
    ],
)
def test_a_row_of_no_kind_is_named(tmp_path, row, told):
    path = written(tmp_path, {"text": "a", "changed": "b", "minor": True}, row)
    with pytest.raises(InputError) as refused:
        read_minor(path)
    assert told in str(refused.value)


# --- Published suites by name, from the files of their authors or from our own layout; doubtful rows are named

HEADER = "source\tgood-translation\tincorrect-translation\treference\tphenomena\tsource"
ROWS = [
    '他说“好”。\t"He said yes.\t"He said no."\tHe agreed.\tAffirmation/Negation\tFlores',
    "五月三日。\tMay 3.\tMay 4.\tThe third of May.\tTime & Date\tWMT",
]


def hwtsc(path, rows=ROWS, header=HEADER):
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def bump_entry(i, **changes):
    texts = {"article": f"Article {i}.", "reference_summary": f"Summary {i}.", "edited_summary": f"Sumary {i}."}
    return {"id": i, "article_id": i // 2, **texts, "error_type": "Coreference Error", **changes}


def test_the_tsv_of_hwtsc_is_not_quoted_and_has_two_sources(tmp_path):
    suite, files = read_published("hwtsc22", hwtsc(tmp_path / "Challenge_Set_for_WMT22.TSV"))
    first, second = suite
    assert (first.better, first.worse) == ('"He said yes.', '"He said no."')  # a quotation mark may stand alone
    assert (first.source, first.meta["origin"], first.cluster) == ("他说“好”。", "Flores", "他说“好”。")
    assert second.phenomenon == "date_time"
    assert suite.published == "hwtsc22"
    assert files == [str(tmp_path / "Challenge_Set_for_WMT22.TSV")]
    assert any("2 rows; hwtsc22 as published has 721" in note for note in suite.notes)


def test_a_folder_is_searched_for_the_files(tmp_path):
    (tmp_path / "data").mkdir()
    for task, n in (("task1", 3), ("task2", 2)):
        (tmp_path / "data" / f"{task}_dataset.json").write_text(json.dumps([bump_entry(i) for i in range(n)]))
    (tmp_path / "data" / "other.json").write_text("[]")
    suite = ng.read_suite(tmp_path, layout="bump")
    ids = [f"task1_dataset.{i}" for i in range(3)] + [f"task2_dataset.{i}" for i in range(2)]
    assert [pair.id for pair in suite] == ids
    assert [pair.cluster for pair in suite] == ["0", "0", "1", "0", "0"]
    with pytest.raises(InputError, match=r"no file of llmbar in this folder, expected Natural/dataset\.json or"):
        files_of("llmbar", tmp_path)


def test_what_an_archive_of_a_mac_holds_beside_each_file_is_no_data(tmp_path):
    (tmp_path / "__MACOSX" / "data").mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "spelling.tsv").write_text("cdx\tquestion\tog\tperturbed_gpt4\n1\tq\tgood\tgoood\n")
    for name in ("__MACOSX/data/._spelling.tsv", "data/._spelling.tsv", "data/.hidden.tsv"):
        (tmp_path / name).write_bytes(b"\x00\x05\x16\x07")
    suite = ng.read_suite(tmp_path, layout="fbi")
    assert [(pair.better, pair.worse) for pair in suite] == [("good", "goood")]


def test_llmbar_reads_the_sets_and_not_the_verdicts_beside_them(tmp_path):
    row = [{"input": "Say hello.", "output_1": "Goodbye.", "output_2": "Hello.", "label": 2}]
    for name in ("Natural", "Adversarial/Manual", "Adversarial/Manual/evaluators/GPT-4", "Processed/FairEval"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "dataset.json").write_text(json.dumps(row))
    assert [pair.id for pair in read_published("llmbar", tmp_path)[0]] == ["llmbar.Manual.000", "llmbar.Natural.000"]


def test_fbi_is_quoted_as_data_frames_are(tmp_path):
    (tmp_path / "factual").mkdir()
    (tmp_path / "factual" / "number-errors.tsv").write_text(
        'cdx\tquestion\tog\tperturbed_gpt4\nq1\tHow many?\t"Two.\n\nThat is ""all"".\t"\t"Three.\n\nThat is ""all""."\n'
    )
    (pair,) = read_published("fbi", tmp_path)[0]
    assert (pair.better, pair.worse) == ('Two.\n\nThat is "all".\t', 'Three.\n\nThat is "all".')
    assert pair.phenomenon == "number_errors"


def test_fields_of_other_names_are_given_with_columns(tmp_path):
    (tmp_path / "f.tsv").write_text("id\tprompt\tgold\tperturbed\n1\tHow many?\tTwo.\tThree.\n")
    with pytest.raises(InputError, match=r"f\.tsv:2: no field 'og', 'perturbed_gpt4', 'question'; fields found: 'id'"):
        read_published("fbi", tmp_path / "f.tsv")
    columns = {"question": "prompt", "og": "gold", "perturbed_gpt4": "perturbed"}
    assert read_published("fbi", tmp_path / "f.tsv", columns)[0].pairs[0].worse == "Three."


def test_pairs_in_our_own_layout_are_taken_under_a_name(tmp_path):
    row = {"id": "p", "phenomenon": "coreference", "better": "b", "worse": "w", "src": "s", "origin_id": "a7"}
    (tmp_path / "p.jsonl").write_text(json.dumps(row) + "\n")
    (pair,) = read_published("bump", tmp_path / "p.jsonl")[0]
    assert (pair.id, pair.phenomenon, pair.cluster) == ("p", "coreference", "a7")


def test_rows_that_repeat_and_rows_of_equal_sides_are_kept_and_named(tmp_path):
    same = "问。\tAsk.\tAsk.\tQuestion.\tUnit Format\tWMT"
    suite, _ = read_published("hwtsc22", hwtsc(tmp_path / "c.tsv", [*ROWS, ROWS[0], same]))
    assert len(suite) == 4
    assert f"1 pair repeats an earlier pair, and each counts: {tmp_path / 'c.tsv'}:4 (as 2)" in suite.notes
    assert f"1 pair has two equal texts, which every metric ties: {tmp_path / 'c.tsv'}:5" in suite.notes


@pytest.mark.parametrize(
    ("rows", "header", "told"),
    [
        (ROWS, HEADER.replace("reference", "ref"), r"c\.tsv:2: no field 'reference'.*; 2 rows are bad: 2, 3"),
        (ROWS, HEADER.replace("incorrect-", "bad-"), r"c\.tsv:2: no field 'incorrect-translation'; fields"),
        ([ROWS[0], "one\tcell"], HEADER, r"c\.tsv:3: 2 cells, expected 6 as in the header"),
        ([ROWS[0], ROWS[1].replace("Time & Date", "Weather")], HEADER, r"c\.tsv:3: phenomena is 'Weather'"),
        ([], HEADER, r"c\.tsv is empty"),
    ],
)
def test_broken_files_are_named(tmp_path, rows, header, told):
    with pytest.raises(InputError, match=told):
        read_published("hwtsc22", hwtsc(tmp_path / "c.tsv", rows, header))


def test_names_and_their_aliases():
    assert (name_of("mslc23"), name_of("demetr"), name_of("menli"), name_of(None)) == ("mslc", "demetr", None, None)
    with pytest.raises(InputError, match="with its own names of fields"):
        read_published("mslc", "anything", {"hyp": "text"})


def test_a_layout_that_is_recognised_is_not_read_by_its_name(tmp_path):
    """Without the name an audit stays as it was: no statistic, no origins."""
    path = tmp_path / "task1_dataset.json"
    path.write_text(json.dumps([bump_entry(0)]))
    suite = ng.read_suite(path)
    assert (suite.published, suite.pairs[0].phenomenon) == (None, "coreference")


texts = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)


@given(pairs=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=6))
def test_every_row_comes_back_once(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("rows")
    rows = [f"{s}\t{g}\t{b}\tr\tUnit Format\tWMT" for s, g, b in pairs]
    suite, _ = read_published("hwtsc22", hwtsc(folder / "c.tsv", rows))
    assert [(pair.source, pair.better, pair.worse) for pair in suite] == pairs
    entries = [bump_entry(i, article=s, reference_summary=g, edited_summary=b) for i, (s, g, b) in enumerate(pairs)]
    (folder / "b.json.gz").write_bytes(gzip.compress(json.dumps(entries).encode()))
    suite, _ = read_published("bump", folder / "b.json.gz")
    assert [(pair.source, pair.better, pair.worse) for pair in suite] == pairs


DATA = Path(os.environ.get("NLGAUGE_DATA", ""))
at_hand = pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="evaluation data are not at hand")


@at_hand
@pytest.mark.parametrize(
    ("name", "path", "counts"),
    [
        (
            "hwtsc22",
            "hwtsc22/suite.jsonl.gz",
            {"negation": 58, "name_error": 110, "number_error": 355, "date_time": 140, "unit": 58},
        ),
        (
            "bump",
            "bump/suite_task2.jsonl.gz",
            {
                "coreference": 1,
                "extrinsic_circumstance": 33,
                "extrinsic_entity": 62,
                "extrinsic_predicate": 28,
                "intrinsic_circumstance": 22,
                "intrinsic_entity": 28,
                "intrinsic_predicate": 17,
                "other": 5,
            },
        ),
        (
            "llmbar",
            "llmbar/suite.jsonl.gz",
            {"GPTInst": 92, "GPTOut": 47, "Manual": 46, "Natural": 100, "Neighbor": 134},
        ),
    ],
)
def test_the_counts_of_the_authors(name, path, counts):
    suite, _ = read_published(name, DATA / path)
    assert Counter(pair.phenomenon for pair in suite) == counts
    published = PUBLISHED[name].n
    assert any("as published has" in note for note in suite.notes) == (len(suite) != published)


@pytest.mark.slow
@at_hand
def test_the_checkpoints_of_mslc():
    suite, _ = read_published("mslc", DATA / "mslc23" / "segments.jsonl.gz")
    assert len(suite) == 1558 * 15
    assert Counter(pair.phenomenon for pair in suite)["1_step"] == 1558 * 5


def test_pairs_of_one_source_belong_together_with_and_without_the_name(tmp_path):
    rows = [
        {"article": f"text {i // 2}", "reference_summary": "a b", "edited_summary": f"a {i}", "error_type": "Predicate"}
        for i in range(4)
    ]
    path = tmp_path / "task1_dataset.json"
    path.write_text(json.dumps(rows))
    for layout in (None, "bump"):
        assert [pair.cluster for pair in read_suite(path, layout=layout)] == ["text 0", "text 0", "text 1", "text 1"]
