from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.metrics.judging.kept import Kept, prompt_key


def test_answers_are_found_again_also_after_half_a_line(tmp_path):
    path = tmp_path / "a.jsonl"
    Kept(str(path)).add("k", "one\ntwo")
    with path.open("a") as file:
        file.write('{"prompt_sha')
    kept = Kept(str(path))
    kept.add("l", "three")
    assert [Kept(str(path)).get(key) for key in "klm"] == ["one\ntwo", "three", None]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "a").write_text("x\ny\nz\n")
    with pytest.raises(ng.InputError, match=r"a: no line of it is an answer of a judge"):
        Kept(str(tmp_path / "a"))


def test_the_key_is_of_all_that_is_asked():
    assert (
        len({prompt_key(*asked) for asked in (("u", "m", "p"), ("u", "m", "q"), ("u", "n", "p"), ("v", "m", "p"))}) == 4
    )
