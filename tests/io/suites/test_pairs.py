"""Pairs written are the pairs read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Suite
from nlgauge.io.suites.pairs import write_pairs
from nlgauge.io.suites.suites import read_suite

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


def test_equal_pairs_are_equal_bytes(tmp_path):
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_pairs(Suite((PAIR,)), tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_a_tab_in_tsv_is_refused_and_nothing_is_left(tmp_path):
    with pytest.raises(InputError, match=r"pair '1' holds a tab.*write \.jsonl"):
        write_pairs(Suite((Pair(id="1", phenomenon="p", better="a\tb", worse="c"),)), tmp_path / "p.tsv")
    assert list(tmp_path.iterdir()) == []


def test_another_extension_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"\.jsonl or \.tsv"):
        write_pairs(Suite((PAIR,)), tmp_path / "p.txt")


@given(st.text(), st.text())
def test_any_text_comes_back_or_is_escaped(tmp_path_factory, better, worse):
    path = tmp_path_factory.mktemp("pairs") / "p.jsonl"
    write_pairs(Suite((Pair(id="1", phenomenon="p", better=better, worse=worse),)), path)
    (back,) = read_suite(path).pairs

    def shown(text):
        return text.encode("utf-8", "backslashreplace").decode()

    assert (back.better, back.worse) == (shown(better), shown(worse))
