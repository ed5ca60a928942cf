import gzip
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding import idf
from nlgauge.models.locate import locate
from nlgauge.models.tokens import TextTokenizer

pytest.importorskip("tokenizers")
CAT, DOG, THE = 4937, 3899, 1996  # pieces of the embedded model, whose ends are 101 and 102


@pytest.fixture(scope="module")
def tokenizer():
    return TextTokenizer(locate("embedded"))


def test_by_hand(tokenizer):
    # three documents: "the" in all, "cat" twice (once doubled inside a document), "dog" in one
    table = idf.from_documents(["the cat cat", "the cat", "the dog"], tokenizer)
    found = table.weights(np.array([THE, CAT, DOG, 101, 102, 7, 30_000, 10**9]))
    expected = [math.log(4 / 4), math.log(4 / 3), math.log(4 / 2), 0, 0, math.log(4), math.log(4), math.log(4)]
    assert table.n_documents == 3
    assert found == pytest.approx(expected, abs=1e-6)  # float32


def test_a_document_that_occurs_twice_counts_twice(tokenizer):
    table = idf.from_documents(["the cat", "the cat", "a dog"], tokenizer)
    assert table.weights(np.array([CAT, DOG])) == pytest.approx([math.log(4 / 3), math.log(4 / 2)], abs=1e-6)


@pytest.mark.parametrize("documents", [[], ["the only document"]])
def test_fewer_than_two_documents_are_refused(tokenizer, documents):
    # from one document every piece of it gets log(2/2) = 0, and every weighted mean 0/0
    with pytest.raises(InputError, match=f"at least two documents, found {len(documents)}.*idf_file=PATH"):
        idf.from_documents(documents, tokenizer)


@given(documents=st.lists(st.text(alphabet="abc xyz!", max_size=12), min_size=2, max_size=8))
def test_weights_are_never_negative_and_those_of_special_tokens_zero(tokenizer, documents):
    table = idf.from_documents(documents, tokenizer)
    assert (table.values >= 0).all()
    assert table.weights(np.array([101, 102])).tolist() == [0, 0]
    assert table.weights(np.arange(30_522)).max() <= np.float32(math.log(len(documents) + 1))


def test_the_table_is_that_of_bert_score(tokenizer):
    utils = pytest.importorskip("bert_score.utils")
    transformers = pytest.importorskip("transformers")
    documents = [
        "The cat sat on the mat.",
        "The cat sat.",
        "A dog, a cat!",
        "The cat sat on the mat.",
        "今天有雨。",
        "so " * 600,
    ]
    theirs = utils.get_idf_dict(
        documents, transformers.AutoTokenizer.from_pretrained(str(locate("embedded").folder)), nthreads=0
    )
    ours = idf.from_documents(documents, tokenizer)
    pieces = np.arange(30_522)
    # float32 of numbers below 2: half a unit in the last place is 6e-8
    np.testing.assert_allclose(ours.weights(pieces), [theirs[int(p)] for p in pieces], atol=2e-7)


@pytest.mark.parametrize("name", ["documents.txt", "documents.txt.gz"])
def test_a_file_is_read_a_document_a_line(tokenizer, tmp_path, name):
    content = "the cat\n\n  \nthe dog\u2028still the same line\r\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    table = idf.from_file(str(tmp_path / name), tokenizer)
    expected = idf.from_documents(["the cat", "the dog still the same line"], tokenizer)
    assert table.n_documents == 2  # blank lines are no documents
    assert np.array_equal(table.values, expected.values)


def test_a_file_is_pinned_by_its_content_not_by_its_compression(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\ntwo\n")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"one\ntwo\n"))
    (tmp_path / "c.txt").write_bytes(b"one\nthree\n")
    a, b, c = (idf.file_identity(str(tmp_path / name)) for name in ("a.txt", "b.txt.gz", "c.txt"))
    assert a == b != c
    assert a == "sha256:c3f9c8c283a2b1f2"  # printf 'one\ntwo\n' | sha256sum | cut -c1-16


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("missing.txt", None, "cannot read the idf documents"),
        ("latin.txt", b"caf\xe9\n", r"latin\.txt:1: not UTF-8 \(byte 3\)"),
        ("latin.txt", b"one\ntwo\ncaf\xe9", r"latin\.txt:3: not UTF-8"),
        ("broken.txt.gz", b"no gzip", "cannot read the idf documents"),
        ("cut.txt.gz", gzip.compress(b"one\ntwo\n" * 1000)[:-9], "cannot read the idf documents"),
        ("damaged.txt.gz", gzip.compress(b"one\ntwo\n" * 1000)[:12] + b"\xff" * 20, "cannot read the idf documents"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_in_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message) as refused:
        idf.file_identity(str(tmp_path / name))
    assert "\n" not in str(refused.value)


def test_a_file_that_has_changed_is_read_again(tokenizer, tmp_path):
    path = tmp_path / "documents.txt"
    path.write_bytes(b"the cat\nthe dog\n")
    before = idf.from_file(str(path), tokenizer).n_documents, idf.file_identity(str(path))
    path.write_bytes(b"\xef\xbb\xbfthe cat\nthe dog\na mat\n")  # with a byte order mark, which is not part of the text
    assert idf.from_file(str(path), tokenizer).n_documents == before[0] + 1
    assert idf.file_identity(str(path)) != before[1]


def test_a_file_of_one_document_is_refused(tokenizer, tmp_path):
    (tmp_path / "one.txt").write_bytes(b"\nthe cat\n\n")
    with pytest.raises(InputError, match="at least two documents, found 1"):
        idf.from_file(str(tmp_path / "one.txt"), tokenizer)
