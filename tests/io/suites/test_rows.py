"""Rows of a suite: one shape whatever the file; where a row stands is told with what is wrong in it."""

import gzip
import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Suite
from nlgauge.io.files import InputFile
from nlgauge.io.suites.published import checkpoint_pairs
from nlgauge.io.suites.rows import Cells, SuiteRows, write_pairs
from nlgauge.io.suites.suites import read_suite

ROWS = [{"better": "a b", "worse": "b a"}, {"better": "c", "worse": ""}]


def rows(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return SuiteRows(InputFile(path))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("s.jsonl", '{"better": "a b", "worse": "b a"}\n{"better": "c", "worse": ""}\n'),
        ("s.json", '[{"better": "a b", "worse": "b a"}, {"better": "c", "worse": ""}]'),
        ("s.json", '\ufeff [{"better": "a b", "worse": "b a"}, {"better": "c", "worse": ""}]'),
        ("s.tsv", "better\tworse\na b\tb a\nc\t\n"),
        ("s.csv", '"better","worse"\n"a b","b a"\nc,\n'),
        ("s.csv.gz", gzip.compress(b"better,worse\na b,b a\nc,\n")),
        ("s.jsonl.gz", gzip.compress(b'{"better": "a b", "worse": "b a"}\n{"better": "c", "worse": ""}\n')),
        ("s", '{"better": "a b", "worse": "b a"}\n{"better": "c", "worse": ""}\n'),
    ],
)
def test_the_same_rows_from_every_kind_of_file(tmp_path, name, content):
    found = rows(tmp_path / name, content)
    assert [dict(row) for _, row in found] == ROWS
    assert found.columns == ["better", "worse"]
    assert [dict(row) for _, row in found] == ROWS  # read again


def test_a_row_knows_its_place(tmp_path):
    assert [place for place, _ in rows(tmp_path / "s.jsonl", '{"a": 1}\n\n{"a": 2}\n')] == [
        f"{tmp_path / 's.jsonl'}:1",
        f"{tmp_path / 's.jsonl'}:3",
    ]
    assert [place for place, _ in rows(tmp_path / "s.tsv", "a\n1\n")] == [f"{tmp_path / 's.tsv'}:2"]
    assert [place for place, _ in rows(tmp_path / "s.json", '[{"a": 1}]')] == [f"{tmp_path / 's.json'}, entry 1"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("s.json", "[1]", r"entry 1: not an object"),
        ("s.json", "[{]", r"not valid JSON"),
        ("s.jsonl", "1\n", r":1: not an object"),
        ("s.tsv", "a\tb\n1\n", r":2: 1 cells, expected 2"),
        ("s.tsv", b"a\tb\n\xff\tx\n", r":2: not UTF-8"),
    ],
)
def test_what_is_no_row_is_refused_with_its_place(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        list(rows(tmp_path / name, content))


def test_a_list_nested_without_end_is_refused(tmp_path):
    with pytest.raises(InputError, match="nested too deeply, expected an array of objects"):
        list(rows(tmp_path / "s.json", "[" * 100_000))


def cells(**fields):
    return Cells(fields, "p.jsonl:3")


def test_text_is_none_where_it_is_absent_or_empty():
    row = cells(a="x", b="", c=None, d=7)
    assert [row.text(name) for name in ("a", "b", "c", "d", "e")] == ["x", None, None, "7", None]
    assert cells(a="").needed("a") == ""
    for row in (cells(), cells(a=None)):
        with pytest.raises(InputError, match=r"^p\.jsonl:3: no field 'a'"):
            row.needed("a")


@pytest.mark.parametrize("value", [["x"], {"x": 1}])
def test_a_list_is_no_text(value):
    with pytest.raises(InputError, match=r"^p\.jsonl:3: field 'a' is .*, expected a text$"):
        cells(a=value).text("a")


def test_references_are_a_list_or_one():
    assert cells(refs=["a", "b"]).references() == ("a", "b")
    assert cells(ref="a").references() == cells(reference="a").references() == ("a",)
    assert cells().references() == cells(ref="").references() == ()
    for wrong in ("a", [1]):
        with pytest.raises(InputError, match=r"field 'refs' is .*, expected a list of strings"):
            cells(refs=wrong).references()


def test_turns_have_a_speaker_and_a_text():
    turn = {"speaker": "a", "text": "Hello."}
    assert cells(context=[{**turn, "time": 3}]).turns() == (turn,)
    assert cells().turns() == ()
    for wrong in ("Hello.", [{"text": "Hello."}], ["Hello."]):
        with pytest.raises(InputError, match="expected a list of turns with speaker and text"):
            cells(context=wrong).turns()


# --- Pairs written are the pairs read

PAIR = Pair(
    id="1/negation",
    phenomenon="negation",
    better="It rains.",
    worse="It does not rain.",
    references=("It rains.",),
    source="Es regnet.",
    expect="lower",
    task="mt",
    criterion="adequacy",
    group="de-en",
    error="negation",
    context=({"speaker": "A", "text": "Hi."},),
    meta={"edits": [[2, 2, " does not"]]},
    cluster="article 7",
)


@pytest.mark.parametrize("name", ["p.jsonl", "p.jsonl.gz"])
def test_json_lines_keep_everything_but_how_it_was_made(tmp_path, name):
    write_pairs(Suite((PAIR,)), tmp_path / name)
    (back,) = read_suite(tmp_path / name).pairs
    assert (back.id, back.better, back.worse, back.references, back.source) == (
        PAIR.id,
        PAIR.better,
        PAIR.worse,
        PAIR.references,
        PAIR.source,
    )
    assert (back.task, back.criterion, back.group, back.context, back.expect) == (
        "mt",
        "adequacy",
        "de-en",
        PAIR.context,
        "lower",
    )
    assert back.cluster == "article 7"  # without it intervals would come out narrower


def test_tsv_keeps_the_texts(tmp_path):
    write_pairs(Suite((PAIR,)), tmp_path / "p.tsv")
    (back,) = read_suite(tmp_path / "p.tsv").pairs
    assert (back.better, back.worse, back.references, back.task) == (PAIR.better, PAIR.worse, PAIR.references, "mt")
    with pytest.raises(InputError, match=r"\.jsonl or \.tsv"):
        write_pairs(Suite((PAIR,)), tmp_path / "p.txt")


def test_a_tab_in_tsv_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(InputError, match=r"pair '1' holds a tab.*write \.jsonl"):
        write_pairs(Suite((Pair(id="1", phenomenon="p", better="a\tb", worse="c"),)), tmp_path / "p.tsv")
    assert list(tmp_path.iterdir()) == []


@given(st.text(), st.text())
def test_any_text_comes_back_or_is_escaped(tmp_path_factory, better, worse):
    path = tmp_path_factory.mktemp("pairs") / "p.jsonl"
    write_pairs(Suite((Pair(id="1", phenomenon="p", better=better, worse=worse),)), path)
    (back,) = read_suite(path).pairs

    def shown(text):
        return text.encode("utf-8", "backslashreplace").decode()

    assert (back.better, back.worse) == (shown(better), shown(worse))


# --- MSLC: the later checkpoint of an item is the better one; a folder with missing or uneven parts is refused

OUTPUTS = {
    "00300": ["It rains.", "A dog runs."],
    "00100": ["Rain rain.", "Dog dog."],
    "00200": ["It rain.", "Dog runs."],
}
LETTERS = "00100\tA\n00200\tB\n00300\tC\n"


@pytest.fixture
def folder(tmp_path):
    """A folder as MSLC has it, with the sources and references of WMT beside the outputs."""
    for name, text in {
        "mapping/he-en.tsv": LETTERS,
        "sources/he-en.txt": "gs\nkl\n",
        "references/he-en.refB.txt": "It is raining.\nA dog is running.\n",
        **{f"system-outputs/he-en/{name}.txt": "\n".join(lines) + "\n" for name, lines in OUTPUTS.items()},
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_two_checkpoints_of_an_item_make_a_pair(folder):
    placed, notes, files = checkpoint_pairs(folder)
    assert len(placed) == 2 * 3
    assert notes == []
    assert len(files) == 6
    texts = {(pair.worse, pair.better, pair.phenomenon) for _, pair in placed if pair.cluster == "he-en.0002"}
    assert texts == {
        ("Dog dog.", "Dog runs.", "1_step"),
        ("Dog runs.", "A dog runs.", "1_step"),
        ("Dog dog.", "A dog runs.", "2_steps"),
    }
    first = placed[0][1]
    assert (first.source, first.references, first.group) == ("gs", ("It is raining.",), "he-en")
    assert (first.meta["worse"], first.meta["better"]) == ("A", "B")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("sources/he-en.txt", "gs\n", r"he-en\.txt: 1 lines, and .*00100\.txt has 2; keep the lines of the documents"),
        ("references/he-en.refB.txt", "a\nb\nc\n", r"refB\.txt: 3 lines"),
        ("mapping/he-en.tsv", "00100\tA\n00200\tB\n", "no line of mapping/he-en.tsv names '00300'"),
        (
            "mapping/he-en.tsv",
            "00100\tA\n00200\tA\n",
            r"he-en\.tsv:2: .* expected a system, a tab and its letter, each once",
        ),
        ("mapping/he-en.tsv", "00100 A\n", r"he-en\.tsv:1: '00100 A', expected"),
        ("system-outputs/he-en/00200.txt", "one line\n", r"00200\.txt has 1"),
    ],
)
def test_uneven_parts_are_named(folder, name, content, told):
    (folder / name).write_text(content)
    with pytest.raises(InputError, match=told):
        checkpoint_pairs(folder)


@pytest.mark.parametrize("part", ["system-outputs", "mapping", "sources", "references"])
def test_a_missing_part_is_named(folder, part):
    (folder / part).rename(folder / "elsewhere")
    with pytest.raises(InputError, match=f"no folder '{part}' in it"):
        checkpoint_pairs(folder)


def test_a_language_pair_without_references_is_named(folder):
    (folder / "references/he-en.refB.txt").unlink()
    with pytest.raises(InputError, match=r"nothing at references/he-en\.NAME\.txt"):
        checkpoint_pairs(folder)


def rows_of_checkpoints():
    return [
        {"seg": item, "letter": letter, "lp": "x-en", "hyp": f"{item}{letter}", "refs": ["r"], "src": "s"}
        for item, letter in product("12", "AB")
    ]


def test_segments_with_letters(tmp_path):
    path = tmp_path / "segments.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows_of_checkpoints()))
    assert [(p.worse, p.better) for _, p in checkpoint_pairs(path)[0]] == [("1A", "1B"), ("2A", "2B")]
    rows = [{"seg": "1", "letter": n, "lp": "x-en", "hyp": n, "refs": ["r"], "src": "s"} for n in ("10", "2")]
    path = tmp_path / "m.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    ((_, pair),), _, _ = checkpoint_pairs(path)
    assert (pair.worse, pair.better) == ("2", "10")


@pytest.mark.parametrize(
    ("kept", "told"),
    [
        ([0, 1, 2], r"segments\.jsonl:3: item '2' has no output of checkpoint B"),
        ([0, 1, 1, 2, 3], r"segments\.jsonl:3: item '1' has a second output of checkpoint 'B'; the first is .*:2"),
        ([0, 2], "one checkpoint of x-en, expected at least two"),
    ],
)
def test_items_with_other_checkpoints_are_named(tmp_path, kept, told):
    path = tmp_path / "segments.jsonl"
    path.write_text("".join(json.dumps(rows_of_checkpoints()[i]) + "\n" for i in kept))
    with pytest.raises(InputError, match=told):
        checkpoint_pairs(path)
