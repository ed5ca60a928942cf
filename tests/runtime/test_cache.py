from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version
from nlgauge.runtime.cache import CacheState, ScoreCache, default_path, text_key

NEEDS = ("references", "source", "context", "table")
FULL = Segment("a", "hyp", ("r1", "r2"), "src", context=({"speaker": "A", "text": "hi"},), table=(("x", 1),))
texts = st.text(max_size=3) | st.sampled_from(["1:a", "r", "s", "0:"])  # what the key itself is made of
segments = st.builds(
    Segment,
    st.just("i"),
    texts,
    st.lists(texts, max_size=3).map(tuple),
    st.none() | texts,
    table=st.lists(texts, max_size=2).map(tuple),
)


@pytest.fixture
def cache(tmp_path):
    opened = ScoreCache(tmp_path / "folder" / "scores.sqlite")
    yield opened
    opened.close()


def keys(n, first=0):
    return [i.to_bytes(16, "big") for i in range(first, first + n)]


def test_what_was_put_is_got_bit_by_bit(cache):
    rows = np.array([[0.1, np.nan], [-0.0, np.inf], [1e-320, 2.0]])
    cache.put("s", ["value", "part.p"], keys(3), rows)
    found = cache.get("s", keys(3))
    assert b"".join(found[key].tobytes() for key in keys(3)) == rows.tobytes()
    assert cache.columns("s") == ["value", "part.p"]
    assert cache.count() == 3


def test_only_what_was_asked_and_is_there_comes_back(cache):
    cache.put("s", ["value"], keys(3), np.zeros((3, 1)))
    assert set(cache.get("s", keys(4, first=2))) == {keys(3)[2]}
    assert cache.get("s", []) == {}
    assert cache.get("other", keys(3)) == {}
    assert cache.columns("other") is None


def test_signatures_keep_their_own_rows(cache):
    cache.put("s", ["value"], keys(1), np.array([[1.0]]))
    cache.put("t", ["value"], keys(1), np.array([[2.0]]))
    assert [cache.get(s, keys(1))[keys(1)[0]][0] for s in ("s", "t")] == [1.0, 2.0]


def test_a_row_put_again_replaces_the_old_one(cache):
    for value in (1.0, 2.0):
        cache.put("s", ["value"], keys(1), np.array([[value]]))
    assert cache.get("s", keys(1))[keys(1)[0]][0] == 2.0
    assert cache.count() == 1


def test_more_keys_than_sqlite_takes_in_one_question(cache):
    n = 2345  # more than twice the oldest limit of 999
    cache.put("s", ["value"], keys(n), np.arange(n, dtype=float)[:, None])
    found = cache.get("s", keys(n))
    assert [found[key][0] for key in keys(n)] == list(range(n))


def test_another_process_sees_what_is_stored_and_adds_to_it(cache):
    cache.put("s", ["value"], keys(1), np.array([[1.0]]))
    process = multiprocessing.get_context("spawn").Process(target=_other_process, args=(cache.path,))
    process.start()
    process.join(60)
    assert process.exitcode == 0
    assert {key: row[0] for key, row in cache.get("s", keys(2)).items()} == dict(zip(keys(2), [1.0, 2.0], strict=True))


def _other_process(path):
    other = ScoreCache(path)
    assert len(other.get("s", keys(1))) == 1
    other.put("s", ["value"], keys(1, first=1), np.array([[2.0]]))
    os._exit(0)  # killed without closing: what was put stays


def test_closing_loses_nothing(cache):
    cache.put("s", ["value"], keys(1), np.array([[1.0]]))
    cache.close()
    cache.close()
    assert cache.count() == 1


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to be taken for one" * 40, b"SQLite format 3\0" + b"\xff" * 4096]
)
def test_a_file_that_is_not_ours_is_told_in_one_line_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "scores.sqlite"
    path.write_bytes(content)
    for use in (
        lambda c: c.count(),
        lambda c: c.get("s", keys(1)),
        lambda c: c.put("s", ["value"], keys(1), np.zeros((1, 1))),
    ):
        with pytest.raises(
            InputError, match=r"^score cache .*scores.sqlite cannot be used \(.*\); delete it, name another"
        ) as error:
            use(ScoreCache(path))
        assert "\n" not in str(error.value)
    assert path.read_bytes() == content


def test_a_folder_in_the_way_is_told_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"^score cache .* cannot be used"):
        ScoreCache(tmp_path / "file" / "scores.sqlite").count()


def test_another_database_is_not_filled_with_scores_of_another_shape(tmp_path):
    with sqlite3.connect(tmp_path / "scores.sqlite") as connection:
        connection.execute("CREATE TABLE scores (name TEXT)")
    with pytest.raises(InputError, match=r"^score cache .* cannot be used"):
        ScoreCache(tmp_path / "scores.sqlite").put("s", ["value"], keys(1), np.zeros((1, 1)))


def test_the_key_is_of_the_texts_a_metric_reads_and_of_nothing_else():
    base = text_key(FULL, NEEDS)
    others = {"id": "b", "system": "s", "item": "i", "group": "g", "human": {"x": 1}}
    assert all(text_key(replace(FULL, **{name: value}), NEEDS) == base for name, value in others.items())
    read = {"hypothesis": "x", "references": ("r1",), "source": "x", "context": (), "table": ()}
    assert all(text_key(replace(FULL, **{name: value}), NEEDS) != base for name, value in read.items())
    for need in NEEDS:  # what is not needed is not read
        rest = [n for n in NEEDS if n != need]
        assert text_key(replace(FULL, **{need: read[need]}), rest) == text_key(FULL, rest)
    assert text_key(replace(FULL, references=("r2", "r1")), NEEDS) != text_key(FULL, NEEDS)
    assert text_key(Segment("a", "\ud800"), ()) != text_key(Segment("a", "\ud801"), ())


@given(segments, segments)
def test_segments_with_one_key_hold_the_same_texts(one, other):
    def same(a, b):
        return (a.hypothesis, a.references, a.source or "", a.table) == (
            b.hypothesis,
            b.references,
            b.source or "",
            b.table,
        )

    assert (text_key(one, NEEDS) == text_key(other, NEEDS)) == same(one, other)


@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX")
def test_the_file_lies_where_the_user_says_or_where_the_platform_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.setenv("NLGAUGE_CACHE", "/own")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_path() == Path("/own/scores.sqlite")
    monkeypatch.delenv("NLGAUGE_CACHE")
    assert default_path() == Path("/xdg/nlgauge/scores.sqlite")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".cache" / "nlgauge" / "scores.sqlite"
    for variable, inside in {"XDG_CACHE_HOME": "own/nlgauge", "NLGAUGE_CACHE": "own"}.items():
        monkeypatch.setenv(variable, "~/own")  # as a file of settings has it, which no shell reads
        assert default_path() == tmp_path / inside / "scores.sqlite"
    assert ScoreCache("~/own/scores.sqlite").path == tmp_path / "own" / "scores.sqlite"


def change(cache, statement, *values):
    cache.close()
    with sqlite3.connect(cache.path) as connection:
        connection.execute(statement, values)
    connection.close()


@pytest.mark.parametrize("columns", ["", "[", "3", '{"value": 1}', "[1]", "[" * 5000])
def test_a_broken_list_of_columns_is_as_if_nothing_were_stored(cache, columns):
    cache.put("s", ["value"], keys(2), np.ones((2, 1)))
    change(cache, "UPDATE signatures SET columns = ?", columns)
    assert cache.columns("s") is None
    assert cache.get("s", keys(2)) == {}
    cache.put("s", ["value"], keys(1), np.ones((1, 1)))  # and is put right by the next rows
    assert cache.columns("s") == ["value"]
    assert list(cache.get("s", keys(2))) == keys(1)


@pytest.mark.parametrize("row", [b"", b"1234", b"12345678" * 2, "text", 3, 2.5])
def test_a_malformed_row_is_as_if_it_were_not_stored(cache, row):
    cache.put("s", ["value"], keys(2), np.ones((2, 1)))
    change(cache, "UPDATE scores SET row = ? WHERE key = ?", row, keys(1)[0])
    assert set(cache.get("s", keys(2))) == {keys(2)[1]}


def test_a_checksum_is_of_signature_columns_key_and_row(cache):
    cache.put("s", ["value", "part.p"], keys(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
    for statement in (
        'UPDATE signatures SET columns = \'["value", "part.q"]\'',
        "UPDATE signatures SET signature = 't'",
        "UPDATE scores SET key = zeroblob(15) || x'09' WHERE key = zeroblob(16)",
        "UPDATE scores SET checksum = NULL",
    ):
        cache.put("s", ["value", "part.p"], keys(2), np.array([[1.0, 2.0], [3.0, 4.0]]))
        change(cache, statement)
        asked = [*keys(2), keys(1, first=9)[0]]
        assert all(found in (keys(1, first=1)[0],) for found in cache.get("t", asked))
        assert keys(1)[0] not in cache.get("s", asked)
        cache.put("s", ["value"], keys(1), np.zeros((1, 1)))
        change(cache, "DELETE FROM signatures")
        change(cache, "DELETE FROM scores")


def test_no_flipped_bit_goes_on_in_silence(tmp_path):
    """300 flipped bits in 120 files: a row comes back as it was stored, or not at all, or the file is refused."""
    rows = np.arange(200, dtype=float)[:, None] ** 3 / 7
    whole = ScoreCache(tmp_path / "whole")
    whole.put("s", ["value"], keys(200), rows)
    whole.close()
    stored, rng, seen, refusals = (tmp_path / "whole").read_bytes(), random.Random(7), 0, []
    for trial in range(120):
        data = bytearray(stored)
        for _ in range(1 + trial % 4):
            place = rng.randrange(8 * len(data))
            data[place // 8] ^= 1 << place % 8
        path = tmp_path / "flipped"
        for left in tmp_path.glob("flipped*"):
            left.unlink()
        path.write_bytes(data)
        cache = ScoreCache(path, tell=lambda note: None)
        try:
            found = cache.get("s", keys(200)) if cache.columns("s") == ["value"] else {}
            assert all(found[key].tobytes() == rows[i].tobytes() for i, key in enumerate(keys(200)) if key in found)
            seen += len(found) < 200
            if trial % 20 == 0:
                cache.put("s", ["value"], keys(200), rows)
        except InputError as error:
            seen += 1
            refusals.append(str(error))
        finally:
            cache.close()
    assert not any("\n" in refusal for refusal in refusals)
    assert seen > 20  # or the flips missed the rows


def test_an_optional_cache_that_cannot_be_written_steps_aside_with_one_note(tmp_path):
    (tmp_path / "file").write_text("")
    notes = []
    cache = ScoreCache(tmp_path / "file" / "scores.sqlite", optional=True, tell=notes.append)
    assert (cache.columns("s"), cache.get("s", keys(1)), cache.count()) == (None, {}, 0)
    cache.put("s", ["value"], keys(1), np.ones((1, 1)))
    assert len(notes) == 1
    assert notes[0].startswith(f"score cache {cache.path} cannot be written (")
    assert "\n" not in notes[0]


def test_an_optional_cache_that_is_damaged_is_refused_all_the_same(tmp_path):
    (tmp_path / "c").write_bytes(b"no database, whatever its name says" * 100)
    with pytest.raises(InputError, match="cannot be used"):
        ScoreCache(tmp_path / "c", optional=True).count()


@pytest.mark.parametrize("optional", [False, True])
def test_a_disk_that_fills_costs_the_cache_and_not_the_scores(tmp_path, optional):
    notes = []
    cache = ScoreCache(tmp_path / "c", optional=optional, tell=notes.append)
    cache.put("s", ["value"], keys(1), np.ones((1, 1)))
    cache._connection.execute("PRAGMA max_page_count=1")  # SQLite then fails as on a full disk
    cache.put("s", ["value"], keys(2000), np.ones((2000, 1)))
    assert (len(notes), "disk is full" in notes[0]) == (1, True)
    assert cache.get("s", keys(1)) == {}
    again = ScoreCache(tmp_path / "c")
    assert list(again.get("s", keys(2000))) == keys(1)  # what was stored before is whole
    again.close()


def test_a_note_is_a_warning_in_python(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="cannot be written"):
        ScoreCache(tmp_path / "file" / "c", optional=True).count()


def test_check_and_prune_find_what_is_damaged_or_old(cache):
    now = f"metric:m|nlgauge:{version('nlgauge')}"
    cache.put(now, ["value"], keys(4), np.ones((4, 1)))
    cache.put("metric:m|nlgauge:0.0.1", ["value"], keys(3), np.ones((3, 1)))
    change(cache, "UPDATE scores SET row = zeroblob(8) WHERE key = ? AND signature = 1", keys(1)[0])
    assert cache.check() == CacheState(rows=7, damaged=1, old=3)
    assert cache.prune() == CacheState(rows=7, damaged=1, old=3)
    assert cache.check() == CacheState(rows=3)
    assert set(cache.get(now, keys(4))) == set(keys(4)[1:])
    assert cache.columns("metric:m|nlgauge:0.0.1") is None


def test_a_cache_whose_pages_are_damaged_is_pruned_whole(cache):
    cache.put("s", ["value"], keys(2000), np.ones((2000, 1)))
    change(cache, "PRAGMA journal_mode=DELETE")
    data = bytearray(cache.path.read_bytes())
    data[3 * 4096 : 5 * 4096] = b"\xff" * 8192
    cache.path.write_bytes(data)
    assert cache.check().fault
    assert cache.prune().fault
    assert not cache.path.exists()
    assert cache.check() == CacheState()


def test_a_cache_that_nobody_holds_is_closed_at_once(tmp_path):
    cache = ScoreCache(tmp_path / "scores.sqlite")
    assert cache.columns("s") is None
    assert (tmp_path / "scores.sqlite-wal").exists()
    del cache
    assert [file.name for file in tmp_path.iterdir()] == ["scores.sqlite"]
