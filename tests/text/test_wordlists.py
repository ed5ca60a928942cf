"""Word lists: sets that are read late, and files that say what they are."""

import ast
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

import nlgauge
from nlgauge.text.wordlists import WordList, data_lines

SOURCE = Path(nlgauge.__file__).parent
FILES = sorted(p.name for p in files("nlgauge").joinpath("data", "language", "wordlists").iterdir())
PARTS = ("adj", "noun", "verb", "adverb")


def used() -> list[tuple[str, str]]:
    """File and section of every word list in the source."""
    calls = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "WordList":
                file, section = (a.value if isinstance(a, ast.Constant) else None for a in node.args)
                calls += [(file, section)] if section else [(file, f"grammar {part}") for part in PARTS]
    return calls


def test_a_list_is_a_set_in_the_order_of_its_file():
    states = WordList("words", "states")
    assert list(states)[:3] == ["Texas", "California", "Florida"]
    assert len(states) == 16
    assert "Texas" in states
    assert "texas" not in states
    assert None not in states


def test_lists_join_and_part_like_frozensets():
    be = WordList("words", "passive auxiliaries")
    assert be | {"has"} == frozenset(be) | {"has"}
    assert {"has"} | be == frozenset({"has", *be})
    assert isinstance(frozenset({"has"}) | be, frozenset)
    assert be & {"is", "has"} == {"is"}
    assert be - set(be) == set()


def test_a_list_is_read_when_first_looked_into_and_not_before():
    code = (
        "from nlgauge.text import wordlists; from nlgauge.text.english import verbs, clauses;"
        "print(wordlists.data_lines.cache_info().misses, 'though' in verbs.OPENERS,"
        " wordlists.data_lines.cache_info().misses)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["0", "True", "1"]


def test_a_list_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError, match="no such list"):
        len(WordList("words", "no such list"))


def test_every_list_in_the_files_is_used_and_every_list_used_is_there():
    there = [
        (file.removesuffix(".txt"), line.strip("[]"))
        for file in FILES
        for line in data_lines(f"wordlists/{file}")
        if line.startswith("[")
    ]
    assert sorted(there) == sorted(used())


@pytest.mark.parametrize("file", FILES)
def test_a_file_says_what_it_is_and_no_list_names_a_word_twice(file):
    text = files("nlgauge").joinpath("data", "language", "wordlists", file).read_text(encoding="utf-8")
    assert text.startswith("# ")
    sections = "\n".join(data_lines(f"wordlists/{file}")).split("[")[1:]
    for words in (section.partition("]")[2].split() for section in sections):
        assert len(words) == len(set(words)) > 10
