"""Published suites by name, from the files of their authors or from our own layout; doubtful rows are named."""

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
from nlgauge.io.suites.published import PUBLISHED, files_of, name_of, read_published
from nlgauge.io.suites.suites import read_suite

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
