"""Static word vectors: what is found in the file, and what is not."""

import gzip

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding import points
from nlgauge.metrics.embedding.points import WordVectors, load_vectors
from nlgauge.metrics.embedding.sentences import EmbeddingAverage
from nlgauge.metrics.embedding.transport import Wmd
from nlgauge.runtime.runtime import Runtime

TABLE = "Rain 3 0\nrain 3 4\nSUN 0 2\n. . . 9 9\nsnow 1 0\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(TABLE)
    return str(path)


def test_a_word_is_found_as_it_is_or_by_a_form_that_folds_to_it(file):
    vectors = WordVectors(file)
    (tokens,) = vectors.tokens(["RAIN, sun hail"])
    assert vectors.names(tokens.ids) == ["rain", "sun", ""]
    assert vectors.unknown_shares([tokens.ids]) == pytest.approx([1 / 3])
    (layer,) = vectors.encode_layers([tokens], [0], lambda done: None)
    assert (layer.matrix * layer.norms).tolist() == pytest.approx(np.array([[3, 4], [0, 2], [0, 0]]))


def test_a_byte_order_mark_is_no_part_of_the_first_word(tmp_path, file):
    (tmp_path / "marked.txt").write_text("rain 3 4\nsun 0 2\n", encoding="utf-8-sig")
    (tokens,) = WordVectors(str(tmp_path / "marked.txt")).tokens(["rain sun"])
    assert tokens.ids.tolist() == [1, 2]


def test_a_table_with_tabs_is_refused(tmp_path):
    # read by blanks, every word would be unknown
    (tmp_path / "tabs.txt").write_text("rain\t3\t4\nsun\t0\t2\n")
    with pytest.raises(InputError, match=r"tabs\.txt:1: expected a word and its numbers, separated by blanks"):
        WordVectors(str(tmp_path / "tabs.txt")).tokens(["rain sun"])


@pytest.mark.parametrize("name", ["words.txt", "words.txt.gz"])
def test_a_first_line_of_sizes_and_compression_change_nothing(tmp_path, file, name):
    path = tmp_path / name
    content = f"5 2\n{TABLE}".encode()
    path.write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    texts = ["rain and snow", "sun"]
    for one, other in zip(WordVectors(str(path)).tokens(texts), WordVectors(file).tokens(texts), strict=True):
        assert one.ids.tolist() == other.ids.tolist()


def test_averages_by_hand(file):
    # ([3, 4] + [0, 2]) / 2 = [1.5, 3] against [1, 0]; hail has no vector and is left out: 1.5 / sqrt(11.25)
    scores = EmbeddingAverage(vectors=file).score([Segment("a", "rain sun hail", ("snow",))], Runtime())
    assert scores.values[0] == pytest.approx(1.5 / np.sqrt(11.25), abs=1e-6)
    assert scores.flags["unknown"][0]  # a third of the words
    assert "model" not in str(scores.signature)


def test_a_text_of_unknown_words_has_no_score(file):
    scores = Wmd(vectors=file).score([Segment("a", "hail", ("snow",)), Segment("b", "", ("snow",))], Runtime())
    assert np.isnan(scores.values[0])
    assert scores.flags["unknown"].tolist() == [True, False]
    assert scores.values[1] == 2


def test_a_runtime_reads_the_file_for_new_words_only(file, monkeypatch):
    runtime, opened = Runtime(), []
    vectors, read = load_vectors(file, runtime), points._opened
    monkeypatch.setattr(points, "_opened", lambda path: opened.append(path) or read(path))
    for text in ("rain hail", "hail rain", "rain sun"):
        load_vectors(file, runtime).tokens([text])
    assert (len(opened), load_vectors(file, runtime)) == (2, vectors)


@pytest.mark.parametrize(
    ("content", "message"),
    [("rain 1 2\nsun 1 x\n", r"txt:2: expected a word and 2 numbers"), ("rain\n", "txt:1: expected a word and its")],
)
def test_what_is_no_table_of_vectors_is_refused(tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_text(content)
    with pytest.raises(InputError, match=message):
        WordVectors(str(path)).tokens(["rain sun"])
    with pytest.raises(InputError, match="cannot read the word vectors"):
        load_vectors(str(tmp_path / "none.txt"), Runtime())


@pytest.mark.parametrize("damage", [slice(0, -9), slice(0, 40)])
def test_a_packed_file_that_is_damaged_is_told_in_one_line(tmp_path, damage):
    packed = bytearray(gzip.compress(b"".join(b"w%d %d 1 2\n" % (i, i) for i in range(200)))[damage])
    packed[35] ^= 0xFF
    (tmp_path / "v.txt.gz").write_bytes(packed)
    with pytest.raises(InputError, match=r"cannot read the word vectors .*v\.txt\.gz: "):
        WordVectors(str(tmp_path / "v.txt.gz")).tokens(["a word"])
